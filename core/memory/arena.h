/*
 * Arenas of a pool: blocks, their placements and free slots under one lock. Placing and freeing
 * lock an arena for each operation. arena_set.h chooses the arena of a thread.
 */
#ifndef MAAR_CORE_MEMORY_ARENA_H
#define MAAR_CORE_MEMORY_ARENA_H

#include "core/memory/block.h"
#include "core/memory/block_index.h"
#include "core/memory/slot_table.h"

struct maar_arena {
    struct maar_mutex lock;        /* guards the members below and the insides of the blocks */
    struct maar_arena* next_spare; /* see recycled.h; under the allocator's list lock */
    struct maar_pool* pool;
    uint32_t number;
    struct maar_slot_list slots; /* free ones */
    struct maar_block** blocks;  /* in order of their ids */
    uint32_t block_count;
    uint32_t block_capacity;
    uint32_t creating_count; /* blocks that are being made */
    uint32_t dedicated_count;
    uint32_t pending_count;
    struct maar_block* dedicated;
    struct maar_block* stitched;
    uint32_t stitched_count; /* live or pending */
    uint32_t stitched_pending_count;
    VkDeviceSize stitched_pending_bytes; /* in whole pages */
    VkDeviceSize block_bytes;            /* without dedicated ones */
    VkDeviceSize dedicated_bytes;
    uint64_t made_count;      /* allocations ever made in the arena */
    maar_atomic64 live_bytes; /* written under the lock, read without the lock */
    /* the most live bytes that were compared with the peak; see peak.h */
    VkDeviceSize live_high;
    VkDeviceSize live_floor;   /* the arena's share of the allocator's live_floors; see peak.h */
    VkDeviceSize live_ceiling; /* the floor is raised when live_bytes exceeds this */
    struct maar_block_index block_index;
    uint64_t apart[16]; /* padding: other threads' data never shares a cache line with the arena */
};

/* Called when the first arena cannot be used at once. Locks and returns this thread's arena. */
struct maar_arena* maar_arena_enter_own(struct maar_pool* pool);

/* The functions that follow are called under the arena's lock. */

/* Ensures that the list has room for one more block. It may leave the lock and take it again.
 * Returns VK_ERROR_OUT_OF_HOST_MEMORY or VK_SUCCESS. */
VkResult maar_arena_reserve_list(struct maar_arena* arena);
/* Adds a block to the list, in the order of ids, even when another thread added a later id
 * first. */
void maar_arena_list(struct maar_arena* arena, struct maar_block* block);
/* Removes an empty block from the list, unless the pool would then have fewer blocks than its
 * minimum. Returns whether it did. counted: the caller has already reduced the pool's empty_count
 * for this block. */
bool maar_arena_try_unlist(struct maar_arena* arena, struct maar_block* block, bool counted);
/* Updates block_index after the largest free range of the block may have changed. */
void maar_arena_note_room(struct maar_arena* arena, struct maar_block* block);
/* Counts a block that has become empty, or that is no longer empty. */
void maar_arena_count_empty(struct maar_block* block, bool empty);
/* Puts a dedicated block, or the stand-in of a stitched allocation, at the head of its list. A
 * stand-in is a block that represents a stitched allocation; see block.h. */
void maar_arena_link_dedicated(struct maar_arena* arena, struct maar_block* block);
/* Removes such a block from its list, and subtracts its only allocation from the counts. */
void maar_arena_unlink_dedicated(struct maar_arena* arena, struct maar_block* block);

/* Returns whether a block has no allocation, live or pending, and is not pinned. The arena's lock
 * is held. */
static inline bool maar_block_is_idle(const struct maar_block* block)
{
    return block->range_count == 0 && block->pin_count == 0;
}

#endif
