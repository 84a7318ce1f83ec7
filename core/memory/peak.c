/*
 * Keeps the peak of live bytes: see peak.h.
 */
#include "core/memory/peak.h"

#include "core/memory/allocator_state.h"
#include "core/memory/pool_list.h"

void maar_raise_live_peak(MaarAllocator allocator, VkDeviceSize gone)
{
    const VkDeviceSize stitched = maar_atomic64_load(&allocator->stitched_bytes);
    const VkDeviceSize paged = maar_atomic64_load(&allocator->paged_bytes);
    /* Stitched allocations are counted in the arenas' bytes. All other pages are added here. */
    VkDeviceSize sum = gone + (paged > stitched ? paged - stitched : 0);
    for (struct maar_pool* pool = maar_pool_next(allocator, NULL); pool != NULL;
         pool = maar_pool_next(allocator, pool)) {
        for (const struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL;
             arena = maar_pool_next_arena(pool, arena->number + 1)) {
            sum += maar_atomic64_load(&arena->live_bytes);
        }
    }
    maar_atomic64_max(&allocator->peak_live_bytes, sum);
}

void maar_reset_live_peak(MaarAllocator allocator)
{
    maar_atomic64_store(&allocator->peak_live_bytes, 0);
    for (struct maar_pool* pool = maar_pool_next(allocator, NULL); pool != NULL;
         pool = maar_pool_next(allocator, pool)) {
        for (struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL;
             arena = maar_pool_next_arena(pool, arena->number + 1)) {
            maar_mutex_lock(&arena->lock);
            arena->live_high = maar_atomic64_load(&arena->live_bytes);
            arena->looked_at = arena->live_high;
            maar_mutex_unlock(&arena->lock);
        }
    }
    maar_raise_live_peak(allocator, 0);
}
