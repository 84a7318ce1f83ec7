/*
 * The peak of live bytes. It is noticed where live bytes are about to go: only then can there be a
 * peak.
 */
#ifndef MAAR_CORE_MEMORY_PEAK_H
#define MAAR_CORE_MEMORY_PEAK_H

#include "core/memory/arena.h"

/* A change of an arena's live bytes after which the peak of all of them is looked at. Half of what
 * one arena can hide of it, and little beside the gigabytes of those who watch it. */
#define MAAR_PEAK_STEP ((VkDeviceSize)1 << 24)

/* Under the arena's lock: takes live bytes away. Returns true when the arena never had this many,
 * or its number has changed by MAAR_PEAK_STEP since the last look: then maar_raise_live_peak is to
 * be called after the lock. */
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

/* The live bytes of all arenas and those that have just gone may be a peak. No lock may be held. */
void maar_raise_live_peak(MaarAllocator allocator, VkDeviceSize gone);
void maar_reset_live_peak(MaarAllocator allocator);

#endif
