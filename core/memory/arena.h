/*
 * Arenas of a pool: blocks, their placements and free slots under one lock. Placing and freeing
 * lock an arena for each operation. arena_set.h chooses the arena of a thread.
 */
#ifndef MAAR_CORE_MEMORY_ARENA_H
#define MAAR_CORE_MEMORY_ARENA_H

#include "core/memory/block.h"
#include "core/memory/block_index.h"
#include "core/memory/empty_blocks.h"
#include "core/memory/idle_blocks.h"
#include "core/memory/shape_index.h"
#include "core/memory/slot_table.h"

struct maar_capture_log;

struct maar_arena {
    struct maar_mutex lock; /* guards the members below and the insides of the blocks */
    /* These stay valid from one use of the arena to the next; see recycled.h. Any thread writes
     * them. */
    maar_atomic_pointer far_first; /* blocks with far frees; see far_list.h */
    maar_atomic32 far_due;         /* whether some list of far frees has become long */
    maar_atomic_pointer far_block; /* the block of another arena that this arena would adopt */
    struct maar_arena* next_spare; /* see recycled.h; under the allocator's list lock */
    struct maar_pool* pool;
    uint32_t number;
    struct maar_slot_list slots; /* free ones */
    struct maar_block** blocks;  /* see maar_block_is_behind; NULL where a block has left */
    uint32_t block_count;
    uint32_t block_end; /* entries of the list, with those that are NULL */
    uint32_t block_capacity;
    uint32_t creating_count; /* blocks that are being made */
    bool has_moved;          /* whether a block has moved to the arena, or from it */
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
    uint64_t seen_made_count; /* when another arena last wanted to adopt a block of this one */
    uint32_t seen_idle_count; /* how often it has not changed since then */
    maar_atomic64 live_bytes; /* written under the lock, read without the lock */
    /* the most live bytes that were compared with the peak; see peak.h */
    VkDeviceSize live_high;
    VkDeviceSize live_floor;   /* the arena's share of the allocator's live_floors; see peak.h */
    VkDeviceSize live_ceiling; /* the floor is raised when live_bytes exceeds this */
    struct maar_block_index block_index;
    struct maar_idle_blocks idle;
    struct maar_empty_blocks empty;
    struct maar_capture_log* capture; /* NULL: the arena is not captured; see captured_arena.h */
    struct maar_shape_index* shapes;  /* NULL before a request has failed in one of many blocks */
    uint64_t apart[16]; /* padding: other threads' data never shares a cache line with the arena */
};

/* Called when the first arena cannot be used at once. Locks and returns this thread's arena. */
struct maar_arena* maar_arena_enter_own(struct maar_pool* pool);

/* The functions that follow are called under the arena's lock. */

/* Ensures that the list has room for the blocks that are being made, and for some more. It may
 * leave the lock and take it again. Returns VK_ERROR_OUT_OF_HOST_MEMORY or VK_SUCCESS. */
VkResult maar_arena_reserve_list(struct maar_arena* arena, uint32_t more);
/* Adds an empty block to the list, in its order, even when another thread added a later id first.
 */
void maar_arena_list(struct maar_arena* arena, struct maar_block* block);
/* Whether a block belongs behind another one in the list. Large blocks come first, in order of
 * their ids. So the small blocks, which a frugal pool made while it was small, become empty when it
 * has large ones. They follow, also in order of their ids. */
bool maar_block_is_behind(const struct maar_block* block, const struct maar_block* other);
/* Removes an empty block from the list, unless the pool would then have fewer blocks than its
 * minimum. Returns whether it did. counted: the caller has already reduced the pool's empty_count
 * for this block. */
bool maar_arena_try_unlist(struct maar_arena* arena, struct maar_block* block, bool counted);
/* Moves a block, which is neither empty nor pinned, to the list of another arena of its pool, which
 * has room. Both locks are held. */
void maar_arena_move_block(struct maar_arena* from, struct maar_arena* to,
                           struct maar_block* block);
/* Updates block_index after the largest free range of the block may have changed. */
void maar_arena_note_room(struct maar_arena* arena, struct maar_block* block);
/* Counts a block that has become empty, or that is no longer empty. */
void maar_arena_count_empty(struct maar_arena* arena, struct maar_block* block, bool empty);
/* Keeps a block in the list while this thread unlocks the arena for a time. */
void maar_arena_pin(struct maar_arena* arena, struct maar_block* block);
void maar_arena_unpin(struct maar_arena* arena, struct maar_block* block);
/* Notes in the shape index, if there is one, that a block now has a free range of `room` bytes. */
void maar_arena_raise_bounds(struct maar_arena* arena, struct maar_block* block, VkDeviceSize room);
/* Notes there that no request of a shape and of more than `bound` bytes fits into a block. */
void maar_arena_lower_bound(struct maar_arena* arena, struct maar_block* block, uint32_t column,
                            uint32_t bound);
/* Returns the column of a shape in the shape index. Adds the column if the index has room for it,
 * else returns 0. */
uint32_t maar_arena_shape_column(struct maar_arena* arena, uint32_t shape);
/* Makes the shape index, or one with more columns. Leaves the lock for a time and takes it again.
 * Returns false if there is no host memory, or if the index has as many columns as it can have. */
bool maar_arena_grow_shapes(struct maar_arena* arena);
/* Puts a dedicated block, or the stand-in of a stitched allocation, at the head of its list. A
 * stand-in is a block that represents a stitched allocation; see block.h. */
void maar_arena_link_dedicated(struct maar_arena* arena, struct maar_block* block);
/* Removes such a block from its list, and subtracts its only allocation from the counts. */
void maar_arena_unlink_dedicated(struct maar_arena* arena, struct maar_block* block);

/* Returns the first block of the list at or after number `at`, or NULL at the end. Start with 0,
 * then pass the number of the last block (maar_block::at) plus one. */
static inline struct maar_block* maar_arena_next_block(const struct maar_arena* arena, uint32_t at)
{
    while (at < arena->block_end && arena->blocks[at] == NULL) {
        ++at;
    }
    return at < arena->block_end ? arena->blocks[at] : NULL;
}

/* Returns whether a block has no allocation, live or pending, and is not pinned. The arena's lock
 * is held. */
static inline bool maar_block_is_idle(const struct maar_block* block)
{
    return block->range_count == 0 && block->pin_count == 0;
}

#endif
