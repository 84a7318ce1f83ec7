/*
 * The peak of live bytes. Live bytes are at a peak only just before some of them are freed, so
 * freeing functions look for a peak. An arena's lock guards its own figures.
 */
#ifndef MAAR_CORE_MEMORY_PEAK_H
#define MAAR_CORE_MEMORY_PEAK_H

#include "core/memory/arena.h"

/* Bytes. After a change of this size in an arena's live bytes, the sum over all arenas is computed.
 * This is half of the error that one arena can cause, and little beside the gigabytes of programs
 * that watch the peak. */
#define MAAR_PEAK_STEP ((VkDeviceSize)1 << 24)

/* Subtracts live bytes from an arena. Returns true when the arena never had more live bytes than
 * before this call, or when they have changed by MAAR_PEAK_STEP since the sum was last computed.
 * The caller then calls maar_raise_live_peak after it has left the lock. Called under the arena's
 * lock. */
static inline bool maar_arena_lose_live(struct maar_arena* arena, VkDeviceSize size)
{
    const VkDeviceSize before = maar_atomic64_load(&arena->live_bytes);
    maar_atomic64_store(&arena->live_bytes, before - size);
    const VkDeviceSize change =
        before > arena->looked_at ? before - arena->looked_at : arena->looked_at - before;
    if (before <= arena->live_high && change < MAAR_PEAK_STEP) {
        return false;
    }
    arena->live_high = before > arena->live_high ? before : arena->live_high;
    arena->looked_at = before;
    return true;
}

/* Raises the peak if the live bytes of all arenas exceed it, together with those that were just
 * freed. No lock may be held. */
void maar_raise_live_peak(MaarAllocator allocator, VkDeviceSize gone);
/* Sets the peak to the live bytes of now. No lock may be held. */
void maar_reset_live_peak(MaarAllocator allocator);

#endif
