/*
 * Moves blocks between the arenas of a pool. A thread that works on what another one has allocated
 * adopts the blocks where it frees, as long as the other arena has more blocks, or is not in use.
 * Afterwards both threads have locks of their own. Only a request that finds no room in the arena
 * of its thread adopts a block, so no arena takes blocks that it does not need.
 *
 * A block moves under the locks of both arenas, unless it is pinned or empty, or a thread walks
 * over the pool. A thread that locks the arena of a block therefore reads the block's arena again
 * (slot_home.h).
 */
#ifndef MAAR_CORE_MEMORY_ARENA_ADOPT_H
#define MAAR_CORE_MEMORY_ARENA_ADOPT_H

#include "core/memory/arena.h"

/* Adopts the block of another arena where the threads of this arena have freed something last, if
 * it has room for a size. Returns whether it did. Never waits for the other arena. Called under the
 * lock of this arena, which the function may release for a time. */
bool maar_arena_adopt(struct maar_arena* own, VkDeviceSize size);

/* Notes that a thread of another arena has placed a request into this one, whose lock is held. */
void maar_arena_note_visit(struct maar_arena* arena);

#endif
