/*
 * What a capture records of arenas: their blocks, and all they have when the capture begins.
 *
 * Order: the lock of an arena decides. An arena is captured from the moment on at which the begin
 * of the capture has written, under the arena's lock, what the arena has. From then on each change
 * of the arena is recorded under its lock, and none before. So nothing is recorded twice, and a
 * range ends in the file before another one gets its bytes.
 */
#ifndef MAAR_CORE_MEMORY_CAPTURED_ARENA_H
#define MAAR_CORE_MEMORY_CAPTURED_ARENA_H

#include "core/memory/capture_entry.h"
#include "core/memory/pool.h"

/* ---- under the arena's lock ---- */

/* Record that a block has entered its arena, or leaves it. The arena is captured. */
void maar_captured_block(struct maar_arena* arena, struct maar_block* block);
void maar_captured_block_end(struct maar_arena* arena, struct maar_block* block);
/* Records that an arena loses all it has. The arena is captured, and no longer afterwards. */
void maar_captured_arena_end(struct maar_arena* arena);

/* ---- with no lock held ---- */

/* Captures what is new, if a capture goes on. */
void maar_capture_new_pool(struct maar_pool* pool);
void maar_capture_new_arena(struct maar_arena* arena);
/* Captures the arenas of a pool, unless they are captured already. */
void maar_capture_pool(struct maar_pool* pool, struct maar_capture_log* log);
/* Ends that. Nothing is recorded of the pool's arenas any more. */
void maar_uncapture_pool(struct maar_pool* pool);

#endif
