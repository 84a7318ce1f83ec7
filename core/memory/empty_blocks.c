/*
 * The list of empty blocks by age: see empty_blocks.h.
 */
#include "core/memory/empty_blocks.h"

#include "core/memory/block.h"

void maar_empty_blocks_add(struct maar_empty_blocks* list, struct maar_block* block,
                           const struct maar_trim_clock* clock)
{
    block->emptied_at = maar_atomic64_load(&clock->last);
    block->next = NULL;
    block->previous = list->youngest;
    if (list->youngest != NULL) {
        list->youngest->next = block;
    } else {
        list->oldest = block;
    }
    list->youngest = block;
}

void maar_empty_blocks_remove(struct maar_empty_blocks* list, struct maar_block* block)
{
    if (block->previous != NULL) {
        block->previous->next = block->next;
    } else {
        list->oldest = block->next;
    }
    if (block->next != NULL) {
        block->next->previous = block->previous;
    } else {
        list->youngest = block->previous;
    }
    block->next = NULL;
    block->previous = NULL;
}

const char* maar_empty_blocks_check(const struct maar_empty_blocks* list, uint32_t* count)
{
    const struct maar_block* before = NULL;
    *count = 0;
    for (const struct maar_block* block = list->oldest; block != NULL; block = block->next) {
        if (block->range_count != 0 || block->previous != before) {
            return "a block stands wrongly among the empty blocks";
        }
        if (before != NULL && before->emptied_at > block->emptied_at) {
            return "the empty blocks are not in the order of their ages";
        }
        before = block;
        ++*count;
    }
    return before != list->youngest ? "the list of empty blocks ends at a wrong block" : NULL;
}

bool maar_trim_clock_advance(struct maar_trim_clock* clock, uint64_t time, uint64_t age,
                             uint64_t* emptied_by)
{
    /* A block that becomes empty from now on was in use at this call. */
    (void)maar_atomic64_claim(&clock->begin, time + 1);
    maar_atomic64_max(&clock->last, time);
    if (age == 0) {
        *emptied_by = MAAR_ANY_AGE;
        return true;
    }
    /* What became empty before the first call counts from that call on. */
    *emptied_by = time - age;
    return time >= age && *emptied_by + 1 >= maar_atomic64_load(&clock->begin);
}
