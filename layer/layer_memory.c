/*
 * Device memory: its allocation, its mapping, its priority.
 */
#include <string.h>

#include "core/chain.h"
#include "core/port_time.h"
#include "layer/layer_budget.h"
#include "layer/layer_capture.h"
#include "layer/layer_modules.h"

/* Structures that import memory. Each begins with sType, pNext and the type of the handle. */
static const VkStructureType import_types[] = {
    VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
    VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
    VK_STRUCTURE_TYPE_IMPORT_MEMORY_WIN32_HANDLE_INFO_KHR,
    VK_STRUCTURE_TYPE_IMPORT_MEMORY_ZIRCON_HANDLE_INFO_FUCHSIA,
    (VkStructureType)LAYER_TYPE_IMPORT_METAL_HANDLE,
};

static void describe_import(MaarCaptureMemory* record, const void* chain)
{
    for (size_t i = 0; i < sizeof import_types / sizeof import_types[0]; ++i) {
        const VkImportMemoryFdInfoKHR* const found = maar_chain_find(chain, (int)import_types[i]);
        /* A descriptor's handle type of 0 means that nothing is imported. */
        if (found != NULL && found->handleType != 0) {
            record->flags |= MAAR_CAPTURE_MEMORY_IMPORT_BIT;
            record->handleTypes |= (uint32_t)found->handleType;
        }
    }
}

static void describe_dedication(MaarCaptureMemory* record, const void* chain)
{
    const VkMemoryDedicatedAllocateInfo* dedicated =
        maar_chain_find(chain, VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO);
    if (dedicated == NULL) {
        /* The older structure has the same layout. */
        dedicated =
            maar_chain_find(chain, VK_STRUCTURE_TYPE_DEDICATED_ALLOCATION_MEMORY_ALLOCATE_INFO_NV);
    }
    if (dedicated != NULL && dedicated->image != VK_NULL_HANDLE) {
        record->flags |= MAAR_CAPTURE_MEMORY_DEDICATED_IMAGE_BIT;
        record->object = MAAR_TO_BITS(dedicated->image);
    } else if (dedicated != NULL && dedicated->buffer != VK_NULL_HANDLE) {
        record->flags |= MAAR_CAPTURE_MEMORY_DEDICATED_BUFFER_BIT;
        record->object = MAAR_TO_BITS(dedicated->buffer);
    }
}

static void describe_memory(MaarCaptureMemory* record, const VkMemoryAllocateInfo* info)
{
    const void* const chain = info->pNext;
    record->type = info->memoryTypeIndex;
    record->size = info->allocationSize;
    if (chain == NULL) {
        return;
    }
    const VkExportMemoryAllocateInfo* const exported =
        maar_chain_find(chain, VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO);
    const VkMemoryAllocateFlagsInfo* const flags =
        maar_chain_find(chain, VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
    const VkMemoryPriorityAllocateInfoEXT* const priority =
        maar_chain_find(chain, VK_STRUCTURE_TYPE_MEMORY_PRIORITY_ALLOCATE_INFO_EXT);
    describe_import(record, chain);
    describe_dedication(record, chain);
    if (exported != NULL && exported->handleTypes != 0) {
        record->flags |= MAAR_CAPTURE_MEMORY_EXPORT_BIT;
        record->handleTypes |= exported->handleTypes;
    }
    if (flags != NULL && (flags->flags & VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT) != 0) {
        record->flags |= MAAR_CAPTURE_MEMORY_ADDRESS_BIT;
    }
    if (priority != NULL) {
        record->flags |= MAAR_CAPTURE_MEMORY_PRIORITY_BIT;
        record->priority = priority->priority;
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate_memory(VkDevice device,
                                                      const VkMemoryAllocateInfo* info,
                                                      const VkAllocationCallbacks* callbacks,
                                                      VkDeviceMemory* memory)
{
    struct layer_device* const state = maar_layer_device_of(device);
    MaarCaptureMemory record = {.device = state->number, .caller = LAYER_CALLER()};
    describe_memory(&record, info);
    const uint64_t begin = maar_now_ns();
    const VkResult result = state->next.AllocateMemory(device, info, callbacks, memory);
    record.duration_ns = maar_now_ns() - begin;
    record.result = result;
    if (state->number != 0) {
        maar_layer_record_module(record.caller);
    }
    if (result == VK_SUCCESS) {
        record.memory = MAAR_TO_BITS(*memory);
        maar_layer_write(state, MAAR_CAPTURE_KIND_MEMORY, &record, sizeof record);
        maar_layer_record_budget(state);
    } else {
        maar_layer_write(state, MAAR_CAPTURE_KIND_MEMORY_FAILED, &record, sizeof record);
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                              const VkAllocationCallbacks* callbacks)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    if (memory != VK_NULL_HANDLE) {
        maar_layer_write_end(state, MAAR_CAPTURE_KIND_MEMORY_END, MAAR_TO_BITS(memory));
    }
    state->next.FreeMemory(device, memory, callbacks);
}

static void record_map(const struct layer_device* device, VkResult result, VkDeviceMemory memory,
                       VkDeviceSize offset, VkDeviceSize size)
{
    const MaarCaptureMap record = {
        .device = device->number, .memory = MAAR_TO_BITS(memory), .offset = offset, .size = size};
    if (result == VK_SUCCESS) {
        maar_layer_write(device, MAAR_CAPTURE_KIND_MAP, &record, sizeof record);
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL map_memory(VkDevice device, VkDeviceMemory memory,
                                                 VkDeviceSize offset, VkDeviceSize size,
                                                 VkMemoryMapFlags flags, void** data)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    const VkResult result = state->next.MapMemory(device, memory, offset, size, flags, data);
    record_map(state, result, memory, offset, size);
    return result;
}

static VkResult map_memory_by(const struct layer_device* state, layer_pfn_map_memory2 next,
                              const struct layer_map_info* info, void** data)
{
    const VkResult result = next(state->handle, info, data);
    record_map(state, result, info->memory, info->offset, info->size);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL map_memory2(VkDevice device,
                                                  const struct layer_map_info* info, void** data)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    return map_memory_by(state, state->next.MapMemory2, info, data);
}

static VKAPI_ATTR VkResult VKAPI_CALL map_memory2_khr(VkDevice device,
                                                      const struct layer_map_info* info,
                                                      void** data)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    return map_memory_by(state, state->next.MapMemory2KHR, info, data);
}

static VKAPI_ATTR void VKAPI_CALL unmap_memory(VkDevice device, VkDeviceMemory memory)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    maar_layer_write_end(state, MAAR_CAPTURE_KIND_UNMAP, MAAR_TO_BITS(memory));
    state->next.UnmapMemory(device, memory);
}

static VKAPI_ATTR VkResult VKAPI_CALL unmap_memory2(VkDevice device,
                                                    const struct layer_unmap_info* info)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    maar_layer_write_end(state, MAAR_CAPTURE_KIND_UNMAP, MAAR_TO_BITS(info->memory));
    return state->next.UnmapMemory2(device, info);
}

static VKAPI_ATTR VkResult VKAPI_CALL unmap_memory2_khr(VkDevice device,
                                                        const struct layer_unmap_info* info)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    maar_layer_write_end(state, MAAR_CAPTURE_KIND_UNMAP, MAAR_TO_BITS(info->memory));
    return state->next.UnmapMemory2KHR(device, info);
}

static VKAPI_ATTR void VKAPI_CALL set_priority(VkDevice device, VkDeviceMemory memory,
                                               float priority)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    const MaarCapturePriority record = {
        .device = state->number, .priority = priority, .memory = MAAR_TO_BITS(memory)};
    state->next.SetDeviceMemoryPriorityEXT(device, memory, priority);
    maar_layer_write(state, MAAR_CAPTURE_KIND_PRIORITY, &record, sizeof record);
}

const struct layer_hook maar_layer_memory_hooks[] = {
    LAYER_HOOK(AllocateMemory, allocate_memory),
    LAYER_HOOK(FreeMemory, free_memory),
    LAYER_HOOK(MapMemory, map_memory),
    LAYER_HOOK(MapMemory2, map_memory2),
    LAYER_HOOK(MapMemory2KHR, map_memory2_khr),
    LAYER_HOOK(UnmapMemory, unmap_memory),
    LAYER_HOOK(UnmapMemory2, unmap_memory2),
    LAYER_HOOK(UnmapMemory2KHR, unmap_memory2_khr),
    LAYER_HOOK(SetDeviceMemoryPriorityEXT, set_priority),
    {NULL, NULL},
};
