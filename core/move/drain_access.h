/*
 * How a run comes to a block again, and makes it drain. The caller synchronizes the calls on one
 * run. No lock may be held where nothing else is said.
 */
#ifndef MAAR_CORE_MOVE_DRAIN_ACCESS_H
#define MAAR_CORE_MOVE_DRAIN_ACCESS_H

#include "core/memory/arena_place.h"
#include "core/move/drain_state.h"

/* Returns a block under the lock of its arena, or NULL if it has left. The caller calls
 * maar_drain_leave. */
struct maar_block* maar_drain_enter(MaarAllocator allocator, uint64_t id,
                                    struct maar_arena** arena);
void maar_drain_leave(MaarAllocator allocator, struct maar_arena* arena);
/* Whether a block can drain. Called under the arena's lock. */
bool maar_drain_can(const struct maar_block* block);
/* Makes a block drain. Returns false if it has left or cannot. */
bool maar_drain_close(MaarAllocator allocator, uint64_t id);
/* Lets a block that drains take allocations again. */
void maar_drain_revive(MaarAllocator allocator, uint64_t id);
/* Whether the range that was seen last is still there. Called under the arena's lock. */
bool maar_drain_is_cursor_valid(const struct maar_drain_cursor* cursor,
                                const struct maar_block* block);

#endif
