/*
 * Keeps the peak of live bytes: see peak.h.
 */
#include "core/memory/peak.h"

#include "core/memory/allocator_state.h"
#include "core/memory/pool.h"

/* A step is this part of the live bytes, but at most LARGEST_STEP. A floor is set again when the
 * live bytes differ from it by two steps. So growth sets the floor some tens of times an octave,
 * and most frees do not set it. */
enum { STEP_SHARE = 32 };
#define LARGEST_STEP ((VkDeviceSize)1 << 22)

static VkDeviceSize peak_step(VkDeviceSize live)
{
    return live / STEP_SHARE < LARGEST_STEP ? live / STEP_SHARE : LARGEST_STEP;
}

void maar_arena_look_at_peak(struct maar_arena* arena, VkDeviceSize live, VkDeviceSize next)
{
    MaarAllocator allocator = arena->pool->allocator;
    const VkDeviceSize stitched = maar_atomic64_load(&allocator->stitched_bytes);
    const VkDeviceSize paged = maar_atomic64_load(&allocator->paged_bytes);
    const VkDeviceSize sum = maar_atomic64_add(&allocator->live_floors, live - arena->live_floor);
    /* Stitched allocations are counted in the arenas' bytes. All other pages are added here. */
    maar_atomic64_max(&allocator->peak_live_bytes, sum + (paged > stitched ? paged - stitched : 0));
    arena->live_floor = next - peak_step(next);
    arena->live_ceiling = next + peak_step(next);
    arena->live_high = live > arena->live_high ? live : arena->live_high;
    (void)maar_atomic64_sub(&allocator->live_floors, live - arena->live_floor);
}

void maar_arena_raise_floor(struct maar_arena* arena, VkDeviceSize live)
{
    (void)maar_atomic64_add(&arena->pool->allocator->live_floors, live - arena->live_floor);
    arena->live_floor = live;
    arena->live_ceiling = live + 2 * peak_step(live);
}

void maar_arena_drop_live(struct maar_arena* arena, VkDeviceSize size)
{
    const VkDeviceSize live = maar_atomic64_load(&arena->live_bytes) - size;
    maar_atomic64_store(&arena->live_bytes, live);
    if (live < arena->live_floor) {
        (void)maar_atomic64_sub(&arena->pool->allocator->live_floors, arena->live_floor - live);
        arena->live_floor = live;
        arena->live_ceiling = live;
    }
}
