/*
 * The public functions that allocate, describe and name allocations, and those that advance the
 * host timeline, run pending frees and wait for them. allocation_free.c frees allocations.
 */
#include "core/memory/allocate.h"
#include "core/memory/allocation_free.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/captured_slot.h"
#include "core/memory/mapping.h"
#include "core/memory/margin_size.h"
#include "core/memory/ordered_use.h"
#include "core/time/retire_collect.h"

VKAPI_ATTR VkResult VKAPI_CALL maarAllocateMemory(MaarAllocator allocator,
                                                  const MaarMemoryRequest* pRequest,
                                                  const MaarAllocationCreateInfo* pCreateInfo,
                                                  MaarAllocation* pAllocation)
{
    if (pAllocation != NULL) {
        *pAllocation = VK_NULL_HANDLE;
    }
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pAllocation == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__,
                           "pAllocation is NULL");
    }
    return maar_allocate(allocator, __func__, pRequest, pCreateInfo, pAllocation);
}

VKAPI_ATTR VkResult VKAPI_CALL maarAllocateMemories(MaarAllocator allocator,
                                                    uint32_t allocationCount,
                                                    const MaarMemoryRequest* pRequests,
                                                    const MaarAllocationCreateInfo* pCreateInfo,
                                                    MaarAllocation* pAllocations)
{
    for (uint32_t i = 0; pAllocations != NULL && i < allocationCount; ++i) {
        pAllocations[i] = VK_NULL_HANDLE;
    }
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS || allocationCount == 0) {
        return result;
    }
    if (pAllocations == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__,
                           "pAllocations is NULL");
    }
    if (pRequests == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__, "pRequests is NULL");
    }
    uint32_t made = 0;
    const uint32_t wait_count = maar_ordered_count_waits(pCreateInfo);
    while (made < allocationCount && result == VK_SUCCESS) {
        result =
            maar_allocate(allocator, __func__, &pRequests[made], pCreateInfo, &pAllocations[made]);
        made += result == VK_SUCCESS ? 1u : 0u;
    }
    if (result != VK_SUCCESS) {
        while (made > 0) {
            --made;
            maar_undo_allocation(allocator, pAllocations[made]);
            pAllocations[made] = VK_NULL_HANDLE;
        }
        maar_ordered_restore_waits(pCreateInfo, wait_count);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarAdvanceHostTimeline(MaarAllocator allocator, uint64_t value)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    const uint64_t present = maar_atomic64_load(&allocator->retire.host_value);
    if (value < present) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                         MAAR_MESSAGE_ID_HOST_TIMELINE_DECREASED, __func__,
                         "value is %llu, and the host timeline is at %llu",
                         (unsigned long long)value, (unsigned long long)present);
    }
    maar_atomic64_max(&allocator->retire.host_value, value);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCollect(MaarAllocator allocator, uint32_t* pFreedCount)
{
    if (pFreedCount != NULL) {
        *pFreedCount = 0;
    }
    VkResult result = maar_enter(allocator);
    return result == VK_SUCCESS ? maar_retire_collect(&allocator->retire, pFreedCount) : result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarWaitPending(MaarAllocator allocator, uint64_t timeout_ns)
{
    VkResult result = maar_enter(allocator);
    return result == VK_SUCCESS ? maar_retire_wait(&allocator->retire, NULL, timeout_ns) : result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarWaitPoints(MaarAllocator allocator, uint32_t pointCount,
                                              const MaarPoint* pPoints, uint64_t timeout_ns)
{
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = maar_retire_check_points(&allocator->retire, __func__, pointCount, pPoints);
    }
    return result == VK_SUCCESS
               ? maar_retire_wait_points(&allocator->retire, pointCount, pPoints, timeout_ns)
               : result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetAllocationInfo(MaarAllocator allocator,
                                                     MaarAllocation allocation,
                                                     MaarAllocationInfo* pInfo)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_check_structure(allocator, __func__, "pInfo", pInfo,
                                  MAAR_STRUCTURE_TYPE_ALLOCATION_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_block* block = NULL;
    struct maar_slot* slot = maar_allocation_enter(allocator, __func__, allocation, &block);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const uint32_t index = maar_slot_index(allocation);
    const struct maar_span span = maar_slot_bytes(allocator, slot);
    pInfo->memory = block->memory;
    pInfo->offset = span.offset;
    pInfo->size = span.size;
    pInfo->blockSize = slot->stitched ? 0 : block->size;
    pInfo->blockId = block->id;
    pInfo->memoryTypeIndex = block->pool->type_index;
    pInfo->propertyFlags = maar_type_flags(allocator, block->pool->type_index);
    pInfo->dedicated = block->placement == NULL && !slot->stitched ? VK_TRUE : VK_FALSE;
    pInfo->fallback = slot->fallback ? VK_TRUE : VK_FALSE;
    pInfo->pUserData = maar_slot_user_data(slot, index);
    pInfo->pName = maar_slot_name(slot, index);
    pInfo->pool = block->pool->handle;
    pInfo->kind = (MaarResourceKind)maar_slot_kind(slot);
    pInfo->locationEpoch = maar_epoch_of(&allocator->epochs, MAAR_TO_BITS(allocation));
    maar_mutex_unlock(&maar_block_arena(block)->lock);
    /* The address is read after the arena's lock is released, because maar_slot_address takes the
     * map lock. Another thread may hold the map lock while it calls the driver. */
    pInfo->pMappedData = maar_slot_address(allocator, slot);
    return VK_SUCCESS;
}

VKAPI_ATTR void* VKAPI_CALL maarGetMappedData(MaarAllocator allocator, MaarAllocation allocation)
{
    if (maar_enter(allocator) != VK_SUCCESS) {
        return NULL;
    }
    struct maar_slot* slot = maar_resolve(allocator, __func__, allocation, NULL);
    return slot != NULL ? maar_slot_address(allocator, slot) : NULL;
}

VKAPI_ATTR MaarAllocation VKAPI_CALL maarFindAllocation(MaarAllocator allocator, uint32_t number)
{
    uint32_t index = 0;
    if (maar_enter(allocator) != VK_SUCCESS) {
        return VK_NULL_HANDLE;
    }
    const struct maar_slot* slot = maar_slot_find(&allocator->slots, number, &index);
    const uint32_t key = slot != NULL ? maar_key_read(&slot->key) : 0;
    return (key & 1u) != 0 ? MAAR_FROM_BITS(MaarAllocation, maar_handle_make(index, key))
                           : VK_NULL_HANDLE;
}

VKAPI_ATTR VkResult VKAPI_CALL maarSetAllocationUserData(MaarAllocator allocator,
                                                         MaarAllocation allocation, void* pUserData)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_block* block = NULL;
    struct maar_slot* slot = maar_allocation_enter(allocator, __func__, allocation, &block);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    maar_slot_set_user_data(slot, maar_slot_index(allocation), pUserData);
    maar_mutex_unlock(&maar_block_arena(block)->lock);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarSetAllocationName(MaarAllocator allocator,
                                                     MaarAllocation allocation, const char* pName)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    char* copy = NULL;
    if (pName != NULL) {
        copy = maar_copy_string(allocator->callbacks, pName);
        if (copy == NULL) { /* a stale handle is reported all the same */
            return maar_resolve(allocator, __func__, allocation, NULL) != NULL
                       ? VK_ERROR_OUT_OF_HOST_MEMORY
                       : VK_ERROR_VALIDATION_FAILED_EXT;
        }
    }
    /* The names are exchanged under the arena's lock, so that no dump on another thread reads the
     * old one while it is freed. */
    struct maar_block* block = NULL;
    struct maar_slot* slot = maar_allocation_enter(allocator, __func__, allocation, &block);
    char* old = copy;
    if (slot != NULL) {
        old = maar_slot_set_name(slot, maar_slot_index(allocation), copy);
        maar_mutex_unlock(&maar_block_arena(block)->lock);
    }
    maar_host_free(allocator->callbacks, old);
    if (slot != NULL && maar_may_capture(allocator)) {
        maar_capture_name(allocator, allocation, pName);
    }
    return slot != NULL ? VK_SUCCESS : VK_ERROR_VALIDATION_FAILED_EXT;
}

VKAPI_ATTR VkResult VKAPI_CALL maarSetAllocationPriority(MaarAllocator allocator,
                                                         MaarAllocation allocation, float priority)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (!(priority >= 0.0F && priority <= 1.0F)) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                         __func__, "priority is %g, not within 0 and 1", (double)priority);
    }
    struct maar_slot* slot = maar_resolve(allocator, __func__, allocation, NULL);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const struct maar_block* block = maar_slot_block(allocator, slot);
    if (block->placement != NULL || slot->stitched) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NOT_DEDICATED, __func__,
                           "allocation is not a dedicated one");
    }
    const struct maar_device* device = &allocator->device;
    if (!device->facts.pageable_memory) {
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    device->vkSetDeviceMemoryPriorityEXT(device->handle, block->memory, priority);
    return VK_SUCCESS;
}
