/*
 * Companions of blocks: two lists under one lock, and whoever takes one off ends it.
 */
#include "core/memory/companion.h"

/* Under the share lock. */
static struct maar_companion** companion_link(struct maar_block* block, const void* owner)
{
    struct maar_companion** link = &block->companions;
    while (*link != NULL && (*link)->owner != owner) {
        link = &(*link)->next_of_block;
    }
    return link;
}

struct maar_companion* maar_companion_find(struct maar_block* block, const void* owner)
{
    MaarAllocator allocator = block->pool->allocator;
    maar_mutex_lock(&allocator->share_lock);
    struct maar_companion* found = *companion_link(block, owner);
    maar_mutex_unlock(&allocator->share_lock);
    return found;
}

struct maar_companion* maar_companion_add(struct maar_block* block,
                                          struct maar_companion* companion)
{
    MaarAllocator allocator = block->pool->allocator;
    maar_mutex_lock(&allocator->share_lock);
    struct maar_companion* found = *companion_link(block, companion->owner);
    if (found == NULL) {
        companion->block = block;
        companion->next_of_block = block->companions;
        block->companions = companion;
        companion->previous_of_owner = NULL;
        companion->next_of_owner = NULL;
        if (companion->owner_list != NULL) {
            companion->next_of_owner = *companion->owner_list;
            if (companion->next_of_owner != NULL) {
                companion->next_of_owner->previous_of_owner = companion;
            }
            *companion->owner_list = companion;
        }
    }
    maar_mutex_unlock(&allocator->share_lock);
    return found;
}

/* Under the share lock: off both lists. */
static void take_off(struct maar_companion* companion)
{
    struct maar_companion** link = companion_link(companion->block, companion->owner);
    *link = companion->next_of_block;
    if (companion->previous_of_owner != NULL) {
        companion->previous_of_owner->next_of_owner = companion->next_of_owner;
    } else if (companion->owner_list != NULL) {
        *companion->owner_list = companion->next_of_owner;
    }
    if (companion->next_of_owner != NULL) {
        companion->next_of_owner->previous_of_owner = companion->previous_of_owner;
    }
}

/* Takes the first of a list off, whichever list it is; NULL when there is none left. */
static struct maar_companion* take_first(MaarAllocator allocator, struct maar_companion** list)
{
    maar_mutex_lock(&allocator->share_lock);
    struct maar_companion* first = *list;
    if (first != NULL) {
        take_off(first);
    }
    maar_mutex_unlock(&allocator->share_lock);
    return first;
}

void maar_companions_end_owner(MaarAllocator allocator, struct maar_companion** list)
{
    struct maar_companion* companion = NULL;
    while ((companion = take_first(allocator, list)) != NULL) {
        maar_lock_rank_expect_none();
        companion->end(allocator, companion);
    }
}

void maar_companions_end_block(struct maar_block* block)
{
    maar_companions_end_owner(block->pool->allocator, &block->companions);
}
