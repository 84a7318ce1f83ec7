/*
 * Recycled headers of blocks and arenas. Headers are never freed before the allocator ends. So a
 * thread may lock the arena, or the mapping, of a block that an allocation has just left: see
 * slot_home.h.
 */
#ifndef MAAR_CORE_MEMORY_RECYCLED_H
#define MAAR_CORE_MEMORY_RECYCLED_H

#include "core/memory/arena.h"

/* Each function of this header takes the allocator's list lock. */

/* Returns an empty header for a block of an arena, or NULL when there is no host memory. */
struct maar_block* maar_block_header_take(struct maar_arena* arena);
/* Takes back the header of a block that is in no list any more. */
void maar_block_header_keep(struct maar_block* block);
/* Returns an empty arena for a pool, or NULL when there is no host memory. */
struct maar_arena* maar_arena_take(struct maar_pool* pool, uint32_t number);
/* Takes back an arena without blocks. */
void maar_arena_keep(struct maar_arena* arena);
/* Frees all headers that were taken back. The allocator ends. */
void maar_recycled_free(MaarAllocator allocator);

#endif
