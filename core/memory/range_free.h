/*
 * Freeing a range of a block, and the choice of empty blocks to release. The functions that end
 * allocations call this file. They lock the arena of the block; no lock may be held.
 */
#ifndef MAAR_CORE_MEMORY_RANGE_FREE_H
#define MAAR_CORE_MEMORY_RANGE_FREE_H

#include "core/memory/pool.h"

enum maar_slot_end {
    MAAR_SLOT_END_LIVE,    /* freed by its owner */
    MAAR_SLOT_END_PENDING, /* its points have passed */
    MAAR_SLOT_END_UNDONE   /* a later step failed: a block made for this slot is released too */
};
/* Ends a slot and frees its bytes. The slot must have been claimed. Returns its name, which the
 * caller frees. */
char* maar_pool_free_slot(MaarAllocator allocator, struct maar_slot* slot, uint32_t index,
                          enum maar_slot_end end);
/* Ends a slot with MAAR_SLOT_END_LIVE, the usual end. */
char* maar_pool_free_live(MaarAllocator allocator, struct maar_slot* slot, uint32_t index);
/* Ends a pending slot, whose name it frees. No lock may be held. */
void maar_pool_end_pending(MaarAllocator allocator, uint32_t index);
/* Ends a slot with MAAR_SLOT_END_PENDING, in two steps. The first step frees the bytes and calls no
 * foreign code. It leaves the work of the second step in the item. */
void maar_pool_return_pending(MaarAllocator allocator, struct maar_slot* slot, uint32_t index,
                              struct maar_retire_item* item);
/* Does the second step: the work that maar_pool_return_pending left in the item. No lock may be
 * held. */
void maar_pool_finish_pending(MaarAllocator allocator, const struct maar_retire_item* item);
/* Turns the live bytes of a claimed slot into pending bytes. Returns whether the slot is mapped or
 * made of pages, so that its bytes go after its object. */
bool maar_pool_make_pending(MaarAllocator allocator, struct maar_slot* slot, uint32_t index);
/* Turns them into pending bytes, and makes the slot the range of an item that has its action and is
 * not queued yet. */
void maar_slot_retire(MaarAllocator allocator, struct maar_slot* slot, uint32_t index,
                      struct maar_retire_item* item);
/* Releases empty blocks and returns their bytes. */
VkDeviceSize maar_pool_trim(struct maar_pool* pool);
/* Does the same with the blocks that became empty by a time: see empty_blocks.h. */
VkDeviceSize maar_pool_trim_aged(struct maar_pool* pool, uint64_t emptied_by);

#endif
