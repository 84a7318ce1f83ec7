/*
 * The peak of live bytes of all arenas, without a look at the other arenas.
 *
 * Each arena has a floor at or below its live bytes, and the allocator has the sum of all floors. A
 * peak is noticed where an arena is about to lose live bytes, because only then can there be one:
 * it is the sum of the floors, with the live bytes of this arena in the place of its floor. The
 * peak is exact where one arena is in use. It falls short by a sixteenth of what lives in each
 * other arena, and by 8 MiB, at most. It is never above the bytes of the blocks. It contains far
 * frees (far_list.h) that are still listed.
 */
#ifndef MAAR_CORE_MEMORY_PEAK_H
#define MAAR_CORE_MEMORY_PEAK_H

#include "core/memory/arena.h"

/* The functions of this header are called under the arena's lock. */

/* Compares the bytes that live with the peak, and sets the floor for those that will live next. */
void maar_arena_look_at_peak(struct maar_arena* arena, VkDeviceSize live, VkDeviceSize next);

/* Sets the floor for the bytes that live now. */
void maar_arena_raise_floor(struct maar_arena* arena, VkDeviceSize live);

/* Adds live bytes. */
static inline void maar_arena_gain_live(struct maar_arena* arena, VkDeviceSize size)
{
    const VkDeviceSize live = maar_atomic64_load(&arena->live_bytes) + size;
    maar_atomic64_store(&arena->live_bytes, live);
    if (live > arena->live_ceiling) {
        maar_arena_raise_floor(arena, live);
    }
}

/* Subtracts live bytes. */
static inline void maar_arena_lose_live(struct maar_arena* arena, VkDeviceSize size)
{
    const VkDeviceSize live = maar_atomic64_load(&arena->live_bytes);
    maar_atomic64_store(&arena->live_bytes, live - size);
    if (live > arena->live_high || live - size < arena->live_floor) {
        maar_arena_look_at_peak(arena, live, live - size);
    }
}

/* Subtracts live bytes without a look at the peak, because they were never in use: those of a call
 * that fails, or of a block that is counted by its pages. */
void maar_arena_drop_live(struct maar_arena* arena, VkDeviceSize size);

#endif
