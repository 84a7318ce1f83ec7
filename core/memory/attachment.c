/*
 * Attachments of blocks. Each attachment is in two lists, which one lock guards. The thread that
 * takes an attachment off its lists ends the attachment.
 */
#include "core/memory/attachment.h"

#include "core/memory/allocator_state.h"
#include "core/memory/pool.h"

/* Returns the pointer, in the block's list, to an owner's attachment. *link is NULL if there is
 * none. Called under the share lock. */
static struct maar_attachment** attachment_link(struct maar_block* block, const void* owner)
{
    struct maar_attachment** link = &block->attachments;
    while (*link != NULL && (*link)->owner != owner) {
        link = &(*link)->next_of_block;
    }
    return link;
}

struct maar_attachment* maar_attachment_find(struct maar_block* block, const void* owner)
{
    MaarAllocator allocator = block->pool->allocator;
    maar_mutex_lock(&allocator->share_lock);
    struct maar_attachment* found = *attachment_link(block, owner);
    maar_mutex_unlock(&allocator->share_lock);
    return found;
}

struct maar_attachment* maar_attachment_add(struct maar_block* block,
                                            struct maar_attachment* attachment)
{
    MaarAllocator allocator = block->pool->allocator;
    maar_mutex_lock(&allocator->share_lock);
    struct maar_attachment* found = *attachment_link(block, attachment->owner);
    if (found == NULL) {
        attachment->block = block;
        attachment->next_of_block = block->attachments;
        block->attachments = attachment;
        attachment->previous_of_owner = NULL;
        attachment->next_of_owner = NULL;
        if (attachment->owner_list != NULL) {
            attachment->next_of_owner = *attachment->owner_list;
            if (attachment->next_of_owner != NULL) {
                attachment->next_of_owner->previous_of_owner = attachment;
            }
            *attachment->owner_list = attachment;
        }
    }
    maar_mutex_unlock(&allocator->share_lock);
    return found;
}

/* Takes an attachment off both lists. Called under the share lock. */
static void take_off(struct maar_attachment* attachment)
{
    struct maar_attachment** link = attachment_link(attachment->block, attachment->owner);
    *link = attachment->next_of_block;
    if (attachment->previous_of_owner != NULL) {
        attachment->previous_of_owner->next_of_owner = attachment->next_of_owner;
    } else if (attachment->owner_list != NULL) {
        *attachment->owner_list = attachment->next_of_owner;
    }
    if (attachment->next_of_owner != NULL) {
        attachment->next_of_owner->previous_of_owner = attachment->previous_of_owner;
    }
}

/* Takes off and returns the first attachment in the list of a block or of an owner. Returns NULL
 * when the list is empty. */
static struct maar_attachment* take_first(MaarAllocator allocator, struct maar_attachment** list)
{
    maar_mutex_lock(&allocator->share_lock);
    struct maar_attachment* first = *list;
    if (first != NULL) {
        take_off(first);
    }
    maar_mutex_unlock(&allocator->share_lock);
    return first;
}

void maar_attachments_end_owner(MaarAllocator allocator, struct maar_attachment** list)
{
    struct maar_attachment* attachment = NULL;
    while ((attachment = take_first(allocator, list)) != NULL) {
        maar_lock_rank_expect_none();
        attachment->end(allocator, attachment);
    }
}

void maar_attachments_end_block(struct maar_block* block)
{
    maar_attachments_end_owner(block->pool->allocator, &block->attachments);
}
