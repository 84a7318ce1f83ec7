/*
 * Allocates and frees one VkDeviceMemory. Only this file calls vkAllocateMemory and vkFreeMemory.
 * The bytes and the object are counted and checked against the limits before the call, so that two
 * threads together never exceed a limit.
 */
#include "core/memory/device_memory.h"

#include "core/chain.h"
#include "core/memory/allocator_state.h"
#include "core/memory/captured_driver.h"
#include "core/port_time.h"

/* Counts the new bytes and the new object in every account. Counts nothing and returns an error if
 * a limit would be exceeded. The limits of bytes do not apply to imported memory, because its bytes
 * exist already. */
static VkResult reserve(MaarAllocator allocator, const struct maar_device_memory_info* info,
                        uint32_t heap)
{
    const VkDeviceSize size = info->size;
    const VkDeviceSize cap = info->cap;
    const bool imported = info->import_types != 0;
    const struct maar_device_facts* facts = &allocator->device.facts;
    struct maar_heap_account* account = &allocator->heaps[heap];
    MAAR_DEBUG_ASSERT(cap == UINT64_MAX || info->over_cap != NULL);
    if (!imported &&
        (size > facts->max_allocation_size || size > facts->memory.memoryHeaps[heap].size)) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    if (!maar_object_count_add(allocator)) {
        return VK_ERROR_TOO_MANY_OBJECTS;
    }
    VkDeviceSize limit = account->limit != 0 && !imported ? account->limit : UINT64_MAX;
    if (!maar_atomic64_add_below(&account->block_bytes, size, cap < limit ? cap : limit)) {
        maar_object_count_subtract(allocator);
        if (cap < limit) {
            *info->over_cap = true;
        }
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    return VK_SUCCESS;
}

bool maar_device_memory_has_room(MaarAllocator allocator, uint32_t type_index, VkDeviceSize size,
                                 VkDeviceSize cap, bool* over_cap)
{
    const struct maar_heap_account* account =
        &allocator->heaps[maar_type_heap(allocator, type_index)];
    const VkDeviceSize limit = account->limit != 0 ? account->limit : UINT64_MAX;
    const VkDeviceSize most = cap < limit ? cap : limit;
    const bool admits = size <= most && maar_atomic64_load(&account->block_bytes) <= most - size;
    *over_cap |= !admits && cap < limit;
    return admits;
}

static void unreserve(MaarAllocator allocator, uint32_t heap, VkDeviceSize size)
{
    (void)maar_atomic64_sub(&allocator->heaps[heap].block_bytes, size);
    maar_object_count_subtract(allocator);
}

static VkResult call_driver(MaarAllocator allocator, const struct maar_device_memory_info* info,
                            VkDeviceMemory* memory)
{
    const struct maar_device* device = &allocator->device;
    const void* chain = info->next;
    VkMemoryAllocateFlagsInfo address = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
    };
    VkMemoryPriorityAllocateInfoEXT priority = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_PRIORITY_ALLOCATE_INFO_EXT,
        .priority = info->priority,
    };
    VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
        .buffer = info->dedicated_buffer,
        .image = info->dedicated_image,
    };
    VkExportMemoryAllocateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
        .handleTypes = info->export_types,
    };
    /* A chain may contain each structure only once. If the chain of the pool or of the import
     * (info->next) has one of these structures, Maar does not add its own. */
    if (info->export_types != 0 && maar_chain_find(info->next, (int)export.sType) == NULL) {
        export.pNext = chain;
        chain = &export;
    }
    if (device->facts.buffer_device_address && info->dedicated_image == VK_NULL_HANDLE &&
        maar_chain_find(info->next, (int)address.sType) == NULL) {
        address.pNext = chain;
        chain = &address;
    }
    if (device->facts.memory_priority && maar_chain_find(info->next, (int)priority.sType) == NULL) {
        priority.pNext = chain;
        chain = &priority;
    }
    if (device->facts.dedicated_allocation &&
        (info->dedicated_buffer != VK_NULL_HANDLE || info->dedicated_image != VK_NULL_HANDLE) &&
        maar_chain_find(info->next, (int)dedicated.sType) == NULL) {
        dedicated.pNext = chain;
        chain = &dedicated;
    }
    const VkMemoryAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = chain,
        .allocationSize = info->size,
        .memoryTypeIndex = info->type_index,
    };
    maar_lock_rank_expect_none();
    (void)maar_atomic64_add(&allocator->allocate_calls, 1);
    return device->vkAllocateMemory(device->handle, &allocate, device->callbacks, memory);
}

/* Calls the driver. During a capture, measures the call and records a failure. */
static VkResult call_timed(MaarAllocator allocator, const struct maar_device_memory_info* info,
                           VkDeviceMemory* memory, uint64_t* duration_ns)
{
    if (!maar_may_capture(allocator)) {
        return call_driver(allocator, info, memory);
    }
    const uint64_t start_ns = maar_now_ns();
    const VkResult result = call_driver(allocator, info, memory);
    *duration_ns = maar_now_ns() - start_ns;
    if (result != VK_SUCCESS) {
        maar_capture_failure(allocator, info, result, *duration_ns);
    }
    maar_capture_budgets(allocator);
    return result;
}

VkResult maar_device_memory_allocate(MaarAllocator allocator,
                                     const struct maar_device_memory_info* info,
                                     VkDeviceMemory* memory, uint64_t* duration_ns)
{
    uint32_t heap = maar_type_heap(allocator, info->type_index);
    *memory = VK_NULL_HANDLE;
    *duration_ns = 0;
    VkResult result = reserve(allocator, info, heap);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = call_timed(allocator, info, memory, duration_ns);
    if (result != VK_SUCCESS) {
        *memory = VK_NULL_HANDLE;
        unreserve(allocator, heap, info->size);
        maar_object_count_note(allocator, result);
        maar_note_loss(allocator, result);
        return result;
    }
    maar_object_count_note(allocator, VK_SUCCESS);
    (void)maar_atomic64_add(&allocator->heaps[heap].block_count, 1);
    maar_forget_allocation_failures(&allocator->heaps[heap].failures);
    maar_atomic64_max(&allocator->peak_block_bytes,
                      maar_atomic64_add(&allocator->block_bytes, info->size));
    maar_atomic64_max(&allocator->peak_block_count, maar_atomic64_add(&allocator->block_count, 1));
    if (allocator->device_allocate != NULL) {
        maar_lock_rank_expect_none();
        allocator->device_allocate(allocator->device_memory_user_data, info->type_index, *memory,
                                   info->size);
    }
    return VK_SUCCESS;
}

void maar_device_memory_free(MaarAllocator allocator, uint32_t type_index, VkDeviceSize size,
                             VkDeviceMemory memory)
{
    const struct maar_device* device = &allocator->device;
    uint32_t heap = maar_type_heap(allocator, type_index);
    maar_lock_rank_expect_none();
    if (allocator->device_free != NULL) {
        allocator->device_free(allocator->device_memory_user_data, type_index, memory, size);
    }
    device->vkFreeMemory(device->handle, memory, device->callbacks);
    (void)maar_atomic64_add(&allocator->free_calls, 1);
    (void)maar_atomic64_sub(&allocator->block_bytes, size);
    (void)maar_atomic64_sub(&allocator->block_count, 1);
    (void)maar_atomic64_sub(&allocator->heaps[heap].block_count, 1);
    maar_budget_note_release(allocator, heap, size);
    unreserve(allocator, heap, size);
}
