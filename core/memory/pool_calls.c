/*
 * The public functions on pools: create, trim, set the priority, destroy.
 */
#include "core/memory/allocator_state.h"
#include "core/memory/leaks.h"
#include "core/memory/object_handle.h"
#include "core/memory/pool_create.h"
#include "core/memory/pool_list.h"
#include "core/memory/range_free.h"
#include "core/memory/stitched_block.h"
#include "core/port_time.h"
#include "core/time/retire_collect.h"
#include "maar/paging.h"

static VkDeviceSize release_blocks(struct maar_pool* pool, uint64_t emptied_by)
{
    return emptied_by == MAAR_ANY_AGE ? maar_pool_trim(pool)
                                      : maar_pool_trim_aged(pool, emptied_by);
}

/* Releases what became empty by a time, in one pool or in all. */
static VkDeviceSize release_aged(MaarAllocator allocator, struct maar_pool* own,
                                 uint64_t emptied_by)
{
    if (own != NULL) {
        return maar_trim_paging(allocator, own, UINT32_MAX, emptied_by) +
               release_blocks(own, emptied_by);
    }
    (void)maar_trim_slices(allocator, UINT32_MAX, emptied_by);
    VkDeviceSize released = maar_trim_paging(allocator, NULL, UINT32_MAX, emptied_by);
    for (own = maar_pool_next(allocator, NULL); own != NULL; own = maar_pool_next(allocator, own)) {
        released += release_blocks(own, emptied_by);
    }
    return released;
}

/* Prepares a call that releases empty blocks. */
static VkResult enter_trim(MaarAllocator allocator, const char* call, MaarPool pool,
                           VkDeviceSize* released)
{
    if (released != NULL) {
        *released = 0;
    }
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = maar_pool_require_own(allocator, call, "pool", pool);
    }
    if (result == VK_SUCCESS) {
        (void)maar_retire_collect(&allocator->retire, NULL);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarTrim(MaarAllocator allocator, MaarPool pool,
                                        VkDeviceSize* pReleasedSize)
{
    const VkResult result = enter_trim(allocator, __func__, pool, pReleasedSize);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkDeviceSize released =
        release_aged(allocator, maar_pool_of(allocator, pool), MAAR_ANY_AGE);
    if (pReleasedSize != NULL) {
        *pReleasedSize = released;
    }
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarTrimAged(MaarAllocator allocator, MaarPool pool, uint64_t time,
                                            uint64_t age, VkDeviceSize* pReleasedSize)
{
    const VkResult result = enter_trim(allocator, __func__, pool, pReleasedSize);
    if (result != VK_SUCCESS) {
        return result;
    }
    uint64_t emptied_by = 0;
    VkDeviceSize released = 0;
    if (maar_trim_clock_advance(&allocator->trim_clock, time, age, &emptied_by)) {
        released = release_aged(allocator, maar_pool_of(allocator, pool), emptied_by);
    }
    if (pReleasedSize != NULL) {
        *pReleasedSize = released;
    }
    return VK_SUCCESS;
}

/* Sets the priority of one block after another. Each block is pinned while the driver is called
 * without the lock, so the walk goes on from its place in the list. */
static void set_arena_priority(const struct maar_device* device, struct maar_arena* arena,
                               float priority)
{
    maar_mutex_lock(&arena->lock);
    struct maar_block* block = maar_arena_next_block(arena, 0);
    while (block != NULL) {
        maar_arena_pin(arena, block);
        maar_mutex_unlock(&arena->lock);
        device->vkSetDeviceMemoryPriorityEXT(device->handle, block->memory, priority);
        maar_mutex_lock(&arena->lock);
        maar_arena_unpin(arena, block);
        block = maar_arena_next_block(arena, block->at + 1);
    }
    maar_mutex_unlock(&arena->lock);
}

VKAPI_ATTR VkResult VKAPI_CALL maarSetPoolPriority(MaarAllocator allocator, MaarPool pool,
                                                   float priority)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_pool_require_own(allocator, __func__, "pool", pool);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_pool* own = maar_pool_of(allocator, pool);
    if (own == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_HANDLE, __func__,
                           "pool is VK_NULL_HANDLE");
    }
    if (!(priority >= 0.0F && priority <= 1.0F)) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                         __func__, "priority is %g, not within 0 and 1", (double)priority);
    }
    const struct maar_device* device = &allocator->device;
    if (!device->facts.memory_priority) {
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    maar_mutex_lock(&own->arenas.lock);
    own->priority = priority;
    maar_mutex_unlock(&own->arenas.lock);
    if (!device->facts.pageable_memory) {
        return VK_INCOMPLETE;
    }
    maar_pool_begin_walk(own);
    for (struct maar_arena* arena = maar_pool_next_arena(own, 0); arena != NULL;
         arena = maar_pool_next_arena(own, arena->number + 1)) {
        set_arena_priority(device, arena, priority);
    }
    maar_pool_end_walk(own);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarSetPoolName(MaarAllocator allocator, MaarPool pool,
                                               const char* pName)
{
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = maar_pool_require_own(allocator, __func__, "pool", pool);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_pool* own = maar_pool_of(allocator, pool);
    if (own == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_HANDLE, __func__,
                           "pool is VK_NULL_HANDLE");
    }
    char* name = pName != NULL ? maar_copy_string(allocator->callbacks, pName) : NULL;
    if (pName != NULL && name == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    maar_host_free(allocator->callbacks, own->name);
    own->name = name;
    return VK_SUCCESS;
}

/* Ends what is pending in a pool before the pool is destroyed, and waits for frees that other
 * threads have begun. */
static void end_pool_pending(struct maar_pool* pool)
{
    MaarAllocator allocator = pool->allocator;
    if (pool->stitches) {
        allocator->paging.end_pool(allocator, pool, MAAR_END_RECORDED);
    }
    if (maar_retire_is_empty(&allocator->retire)) {
        return;
    }
    (void)maar_retire_wait(&allocator->retire, &pool->pending, MAAR_DESTROY_TIMEOUT_NS);
    const struct maar_retire_blocker blocker = maar_find_blocker(allocator, &pool->pending);
    const uint32_t flushed = maar_retire_flush(&allocator->retire, &pool->pending);
    maar_retire_wait_for_bytes(&allocator->retire);
    maar_retire_wait_for_pool(&allocator->retire, &pool->pending);
    if (flushed > 0) {
        maar_retire_report_flushed(&allocator->retire, "maarDestroyPool", flushed, &blocker);
    }
}

VKAPI_ATTR void VKAPI_CALL maarDestroyPool(MaarAllocator allocator, MaarPool pool)
{
    if (allocator == NULL || pool == VK_NULL_HANDLE ||
        maar_pool_require_own(allocator, __func__, "pool", pool) != VK_SUCCESS) {
        return;
    }
    struct maar_pool* own = maar_pool_of(allocator, pool);
    if (maar_object_claim(allocator, __func__, "pool", MAAR_TO_BITS(pool)) != VK_SUCCESS) {
        return;
    }
    if (maar_atomic_pointer_load(&allocator->moving.state) != NULL) {
        allocator->moving.end_pool(allocator, own, MAAR_END_RECORDED);
    }
    end_pool_pending(own);
    maar_pool_release_stitched(own);
    if (own->stitches) {
        allocator->paging.end_pool(allocator, own, MAAR_END_PAGES);
    }
    maar_pool_empty(own);
    maar_pool_retire(own);
}
