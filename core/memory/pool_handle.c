/*
 * Handles of pools: see pool_handle.h.
 */
#include "core/memory/pool_handle.h"

VkResult maar_pool_open_handle(struct maar_pool* pool)
{
    MaarAllocator allocator = pool->allocator;
    struct maar_slot_list* list = &allocator->free_pool_slots;
    maar_mutex_lock(&allocator->list_lock);
    const VkResult result = maar_slots_refill(&allocator->pool_slots, &allocator->list_lock, list);
    if (result == VK_SUCCESS) {
        const uint32_t index = maar_slots_pop(&allocator->pool_slots, list);
        struct maar_slot* slot = maar_slot_at(&allocator->pool_slots, index);
        const uint32_t key = maar_atomic32_load(&slot->key) + 1u;
        slot->home = pool;
        maar_atomic32_store_release(&slot->key, key);
#if defined(VK_USE_64_BIT_PTR_DEFINES) && VK_USE_64_BIT_PTR_DEFINES == 1
        pool->handle = (MaarPool)(void*)maar_handle_make(index, key);
#else
        pool->handle = (MaarPool)maar_handle_make(index, key);
#endif
    }
    maar_mutex_unlock(&allocator->list_lock);
    return result;
}

void maar_pool_close_handle(struct maar_pool* pool)
{
    MaarAllocator allocator = pool->allocator;
    uint32_t index = 0;
    const MaarAllocation handle = maar_pool_slot_handle(pool->handle);
    maar_mutex_lock(&allocator->list_lock);
    struct maar_slot* slot = maar_slot_resolve(&allocator->pool_slots, handle, &index);
    if (slot != NULL && maar_slot_claim(slot, handle)) {
        maar_slots_push(&allocator->free_pool_slots, slot, index);
    }
    maar_mutex_unlock(&allocator->list_lock);
}

VkResult maar_pool_require_own(MaarAllocator allocator, const char* call, const char* argument,
                               MaarPool pool)
{
    if (pool == VK_NULL_HANDLE || maar_pool_of(allocator, pool) != NULL) {
        return VK_SUCCESS;
    }
    const bool was_used = maar_slot_was_used(&allocator->pool_slots, maar_pool_slot_handle(pool));
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR,
                was_used ? MAAR_MESSAGE_ID_STALE_HANDLE : MAAR_MESSAGE_ID_FOREIGN_HANDLE, call,
                was_used ? "%s was destroyed already" : "%s is not a pool of this allocator",
                argument);
    return VK_ERROR_VALIDATION_FAILED_EXT;
}
