/*
 * Memory that others have too: what it may be exported as, and memory that was made elsewhere, as
 * an allocation like any other.
 */
#include "core/memory/foreign_memory.h"

#include "core/memory/allocator_state.h"
#include "core/memory/block_growth.h"
#include "core/memory/default_pool.h"

const MaarExportInfo* maar_export_find(const void* chain)
{
    const VkBaseInStructure* link = chain;
    while (link != NULL && (int)link->sType != (int)MAAR_STRUCTURE_TYPE_EXPORT_INFO) {
        link = link->pNext;
    }
    return (const MaarExportInfo*)(const void*)link;
}

VkExternalMemoryHandleTypeFlags maar_export_types(const MaarAllocationCreateInfo* info)
{
    if (info == NULL || info->sType != MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO) {
        return 0;
    }
    const MaarExportInfo* export = maar_export_find(info->pNext);
    if (export != NULL) {
        return export->handleTypes;
    }
    return info->pool != VK_NULL_HANDLE ? maar_pool_of(info->pool)->export_types : 0;
}

VkResult maar_shared_types_require(MaarAllocator allocator, const char* call,
                                   VkExternalMemoryHandleTypeFlags types)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    const struct {
        VkExternalMemoryHandleTypeFlags type;
        bool enabled;
        const char* extension;
    } known[] = {
        {VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, facts->memory_fd,
         "VK_KHR_external_memory_fd"},
        {VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT, facts->memory_dma_buf,
         "VK_EXT_external_memory_dma_buf"},
        {VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT, facts->memory_win32,
         "VK_KHR_external_memory_win32"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
        if ((types & known[i].type) != 0 && !known[i].enabled) {
            maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED,
                        call,
                        "handle type 0x%x needs %s, which was not among the allocator's "
                        "ppEnabledExtensionNames",
                        (unsigned)known[i].type, known[i].extension);
            return VK_ERROR_FEATURE_NOT_PRESENT;
        }
        types &= ~known[i].type;
    }
    if (types != 0) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_UNSORTED, call,
                    "Maar shares no memory as handle type 0x%x", (unsigned)types);
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    return VK_SUCCESS;
}

static VkResult place_foreign(MaarAllocator allocator, const struct maar_foreign_memory* memory,
                              char* name, struct maar_made* made)
{
    struct maar_pool* pool = NULL;
    VkResult result = maar_pool_of_type(allocator, memory->type_index, memory->kind, &pool);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_place_request place = {
        .size = memory->size,
        .alignment = 1,
        .kind = memory->kind,
        .shown_kind = memory->kind,
        .can_alias = true,
        .user_data = memory->user_data,
        .name = name,
    };
    const struct maar_device_memory_info info = {
        .type_index = memory->type_index,
        .size = memory->size,
        .cap = UINT64_MAX,
        .priority = 0.5F,
        .dedicated_buffer = memory->dedicated_buffer,
        .dedicated_image = memory->dedicated_image,
        .next = memory->next,
        .import_types = memory->types,
    };
    return maar_pool_place_dedicated(pool, &place, &info, made);
}

VkResult maar_allocate_foreign(MaarAllocator allocator, const struct maar_foreign_memory* memory,
                               MaarAllocation* allocation)
{
    struct maar_made made;
    char* name = NULL;
    VkResult result =
        memory->size < MAAR_RANGE_MAX_SIZE ? VK_SUCCESS : VK_ERROR_OUT_OF_DEVICE_MEMORY;
    *allocation = VK_NULL_HANDLE;
    if (result == VK_SUCCESS && memory->name != NULL) {
        name = maar_copy_string(allocator->callbacks, memory->name);
        result = name != NULL ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (result == VK_SUCCESS) {
        result = place_foreign(allocator, memory, name, &made);
    }
    if (result != VK_SUCCESS) {
        maar_host_free(allocator->callbacks, name);
        (void)maar_atomic64_add(&allocator->failures, 1);
        return result;
    }
    *allocation = maar_made_publish(&made);
    return VK_SUCCESS;
}
