/*
 * Freeing a range of a block, and which empty blocks go.
 */
#ifndef MAAR_CORE_MEMORY_RANGE_FREE_H
#define MAAR_CORE_MEMORY_RANGE_FREE_H

#include "core/memory/pool.h"

enum maar_slot_end {
    MAAR_SLOT_END_LIVE,    /* freed by its owner */
    MAAR_SLOT_END_PENDING, /* its points have passed */
    MAAR_SLOT_END_UNDONE   /* a later step failed: a block made for it alone goes with it */
};
/* Ends a slot: its bytes become free. The slot must have been claimed. Returns its name, which the
 * caller frees. No lock may be held. */
char* maar_pool_free_slot(struct maar_slot* slot, uint32_t index, enum maar_slot_end end);
/* Does so with MAAR_SLOT_END_LIVE, which is the usual end. */
char* maar_pool_free_live(struct maar_slot* slot, uint32_t index);
/* Does so with MAAR_SLOT_END_PENDING, in two steps. The first makes the bytes free and calls no
 * foreign code. The second does the rest, which the first one leaves in the item. */
void maar_pool_return_pending(struct maar_slot* slot, uint32_t index,
                              struct maar_retire_item* item);
void maar_pool_finish_pending(MaarAllocator allocator, const struct maar_retire_item* item);
/* Live bytes of a claimed slot become pending ones. */
void maar_pool_make_pending(struct maar_slot* slot);
/* Does so, and makes the slot the range of an item that is not queued yet and has its action. */
void maar_slot_retire(struct maar_slot* slot, uint32_t index, struct maar_retire_item* item);
/* Releases empty blocks; returns their bytes. */
VkDeviceSize maar_pool_trim(struct maar_pool* pool);

#endif
