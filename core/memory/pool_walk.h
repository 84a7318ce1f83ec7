/*
 * Walks over the arenas of a pool. During a walk no block moves to another arena, so the walk meets
 * each block once, and a search that finds nothing has looked into each block.
 */
#ifndef MAAR_CORE_MEMORY_POOL_WALK_H
#define MAAR_CORE_MEMORY_POOL_WALK_H

struct maar_arena;
struct maar_pool;

/* Begins a walk. Frees all that is listed as far frees (far_list.h). No lock may be held. Other
 * threads may allocate and free, and may walk too. */
void maar_pool_begin_walk(struct maar_pool* pool);
void maar_pool_end_walk(struct maar_pool* pool);

/* Locks and returns this thread's arena of a pool where threads have met, or meet at this moment.
 * Takes in what other threads have freed there, if that is much. */
struct maar_arena* maar_arena_enter_shared(struct maar_pool* pool);

#endif
