/*
 * Far frees: those by a thread that allocates from another arena than the block's. To take that
 * arena's lock for each of them would bring its data from one processor to the other and back. So a
 * far free of a block with many allocations is only listed, at the block. The listed ranges stay
 * allocated until a thread that holds the arena's lock takes the list in, all at once.
 *
 * The handle of a listed free is invalid at once. A list is shorter than the allocations of its
 * block are many, so a block never becomes empty by a list. A block with fewer allocations has its
 * list closed, and is freed under the lock. Lists are taken in before a request fails or makes a
 * block, before a walk over a pool (pool_walk.h), and when they become long.
 *
 * Only threads that have met list frees, and no thread does so during a capture.
 */
#ifndef MAAR_CORE_MEMORY_FAR_LIST_H
#define MAAR_CORE_MEMORY_FAR_LIST_H

#include "core/port_atomic.h"
#include "maar/allocator.h"

struct maar_arena;
struct maar_block;
struct maar_slot;

/* The greatest length of a list. With the other members it makes two cache lines. */
enum { MAAR_FAR_ENTRIES = 26 };

/* The list of a block. A block header that is recycled keeps it, empty. Any thread writes all
 * members, and without a lock. */
struct maar_far_list {
    maar_atomic32 entries[MAAR_FAR_ENTRIES]; /* numbers of slots, plus one; 0: no entry */
    maar_atomic32 next;                      /* where an entry may be free */
    maar_atomic32 noted;                     /* the block is in the list of an arena, far_first */
    maar_atomic_pointer next_noted;
};

/* Lists the end of a claimed slot if its thread and its block allow that. Returns false if the
 * caller must free the slot itself. No lock may be held. */
bool maar_far_free(MaarAllocator allocator, struct maar_slot* slot, uint32_t index);

/* The functions that follow are called under the arena's lock. */

/* Frees what is listed at the blocks of an arena. */
void maar_arena_take_in(struct maar_arena* arena);
/* Does so if there may be any. Returns whether there was. */
bool maar_arena_take_in_if_any(struct maar_arena* arena);
/* Closes the list of a block, and frees what is listed. */
void maar_far_close(struct maar_arena* arena, struct maar_block* block);

#endif
