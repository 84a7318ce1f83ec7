/*
 * Ranges of a block that are kept for one allocation. Who wants one large range in a block empties
 * that part of the block, and nobody else may take its bytes meanwhile. A kept range belongs to a
 * pending slot, which names the owner as its user data. A block has one owner of kept ranges at a
 * time (maar_block::has_kept).
 *
 * The bytes of some kept ranges are still needed by others: by a batch of moves, or by the device
 * after a free. Such a slot has two parties (moving_slot.h), of which the owner is one. The range
 * has passed when the other party has let go.
 */
#ifndef MAAR_CORE_MEMORY_KEPT_RANGE_H
#define MAAR_CORE_MEMORY_KEPT_RANGE_H

#include "core/memory/arena_place.h"

/* What a slot is to an owner. */
enum maar_kept {
    MAAR_KEPT_NOT,
    MAAR_KEPT_WAITS, /* another party needs the bytes still */
    MAAR_KEPT_PASSED
};

/* ---- under the arena's lock ---- */

/* Returns what a slot is to an owner. */
enum maar_kept maar_slot_kept(const struct maar_slot* slot, uint32_t index, const void* owner);
/* Keeps a part of the free range directly behind a live node, or at the beginning of a block. The
 * part begins and ends at multiples of MAAR_PLACEMENT_MOST_UNIT, or where the free range does. May
 * leave the lock for a time: MAAR_POOL_CHANGED. */
enum maar_pool_outcome maar_keep_free(struct maar_arena* arena, struct maar_block* block,
                                      uint32_t before, struct maar_span part, void* owner,
                                      struct maar_made* made);
/* Keeps the range of a slot that was freed and that waits for points. Returns false if somebody
 * else needs it too, or if it is not pending. The caller frees *name when the lock is released. */
bool maar_keep_pending(MaarAllocator allocator, struct maar_slot* slot, uint32_t index, void* owner,
                       char** name);
/* Keeps the range of a slot whose move belongs to the owner: a twin, or an allocation that was
 * freed while it moved. */
void maar_keep_moving(struct maar_slot* slot, uint32_t index, void* owner, char** name);
/* Makes one kept range of those of two neighbours, which have both passed. Returns false when the
 * new one cannot be taken; both are then free. */
bool maar_keep_joined(struct maar_arena* arena, struct maar_block* block, uint32_t node,
                      uint32_t next, void* owner, struct maar_made* made);
/* Frees the range of a kept node that has passed, and places a request at an offset there. kind:
 * for the placement. */
enum maar_pool_outcome maar_place_kept(struct maar_arena* arena, struct maar_block* block,
                                       uint32_t node, const struct maar_place_request* request,
                                       uint32_t kind, VkDeviceSize offset, struct maar_made* made);

/* ---- no lock may be held ---- */

/* Lets go of a kept range. */
void maar_kept_release(MaarAllocator allocator, uint32_t index);

#endif
