/*
 * Arenas of a pool: blocks, their placements and free slots under one lock. Which arena a thread
 * uses: arena_set.h.
 */
#ifndef MAAR_CORE_MEMORY_ARENA_H
#define MAAR_CORE_MEMORY_ARENA_H

#include "core/memory/block.h"
#include "core/memory/free_index.h"
#include "core/memory/slot_table.h"

struct maar_arena {
    struct maar_mutex lock;        /* guards what follows and the insides of the blocks */
    struct maar_arena* next_spare; /* see recycled.h; under the allocator's list lock */
    struct maar_pool* pool;
    uint32_t number;
    struct maar_slot_list slots; /* free ones */
    struct maar_block** blocks;  /* in order of their ids */
    uint32_t block_count;
    uint32_t block_capacity;
    uint32_t creating_count; /* blocks on their way */
    uint32_t dedicated_count;
    uint32_t pending_count;
    struct maar_block* dedicated;
    struct maar_block* stitched;
    uint32_t stitched_count; /* live or pending */
    uint32_t stitched_pending_count;
    VkDeviceSize stitched_pending_bytes; /* in whole pages */
    VkDeviceSize block_bytes;            /* without dedicated ones */
    VkDeviceSize dedicated_bytes;
    uint64_t made_count;      /* allocations ever made in it */
    maar_atomic64 live_bytes; /* written under the lock, read without it */
    VkDeviceSize live_high;   /* most since the peaks were reset */
    VkDeviceSize looked_at;   /* when the sum of all arenas was last looked at */
    struct maar_free_index free_index;
    uint64_t apart[16]; /* keeps away what another thread writes behind the arena */
};

/* The arena that this thread allocates from, locked; where threads have met, or meet now. */
struct maar_arena* maar_arena_enter_own(struct maar_pool* pool);

/* The functions that follow are called under the arena's lock. */

/* Ensures that the list has room for one more block. It may leave the lock and take it again.
 * VK_ERROR_OUT_OF_HOST_MEMORY or VK_SUCCESS. */
VkResult maar_arena_reserve_list(struct maar_arena* arena);
/* Keeps the list in order of ids, whichever thread was faster. */
void maar_arena_list(struct maar_arena* arena, struct maar_block* block);
/* Takes an empty block off the list, unless the pool would have too few then. counted: the pool's
 * number of empty blocks is less by it already. */
bool maar_arena_try_unlist(struct maar_arena* arena, struct maar_block* block, bool counted);
/* After a change of the block's placement. */
void maar_arena_note_room(struct maar_arena* arena, struct maar_block* block);
/* A block has become empty, or is so no more. */
void maar_arena_count_empty(struct maar_block* block, bool empty);
/* Puts a dedicated block, or what stands for a stitched allocation, at the head of its list. */
void maar_arena_link_dedicated(struct maar_arena* arena, struct maar_block* block);
/* Takes it off with its only allocation. */
void maar_arena_unlink_dedicated(struct maar_arena* arena, struct maar_block* block);

static inline bool maar_block_is_idle(const struct maar_block* block)
{
    return block->range_count == 0 && block->pin_count == 0;
}

#endif
