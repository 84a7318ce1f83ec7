/*
 * Finds the handle types that memory can be exported as: see export_types.h.
 */
#include "core/memory/export_types.h"

#include "core/chain.h"
#include "core/memory/allocator_state.h"
#include "core/memory/object_handle.h"
#include "core/memory/pool.h"

const MaarExportInfo* maar_export_find(const void* chain)
{
    return maar_chain_find(chain, MAAR_STRUCTURE_TYPE_EXPORT_INFO);
}

VkExternalMemoryHandleTypeFlags maar_export_types(MaarAllocator allocator,
                                                  const MaarAllocationCreateInfo* info)
{
    if (info == NULL || info->sType != MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO) {
        return 0;
    }
    const MaarExportInfo* export = maar_export_find(info->pNext);
    if (export != NULL) {
        return export->handleTypes;
    }
    const struct maar_pool* pool = maar_pool_of(allocator, info->pool);
    return pool != NULL ? pool->export_types : 0;
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
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_NOT_EXPORTABLE, call,
                    "Maar cannot share memory as handle type 0x%x", (unsigned)types);
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    return VK_SUCCESS;
}
