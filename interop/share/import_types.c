/*
 * The memory types of an import, and what a handle says of its memory: see import_types.h.
 */
#include "interop/share/import_types.h"

#include "core/bound_check.h"
#include "core/memory/allocation_check.h"
#include "core/memory/allocator_state.h"
#include "core/memory/export_types.h"
#include "interop/share/share_internal.h"

/* The types that the device and its enabled features have. */
static uint32_t usable_types(MaarAllocator allocator)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    uint32_t bits = 0;
    for (uint32_t type = 0; type < facts->memory.memoryTypeCount; ++type) {
        bits |= maar_type_is_usable(facts, type) ? 1u << type : 0;
    }
    return bits;
}

/* Asks as which memory types a handle may be imported. The specification forbids the question for
 * opaque handles: then all usable types are the answer. */
static VkResult ask_handle_types(MaarAllocator allocator, const char* call, const char* name,
                                 MaarExternalHandle handle, VkExternalMemoryHandleTypeFlagBits type,
                                 uint32_t* types)
{
    const struct maar_device* device = &allocator->device;
    *types = usable_types(allocator);
    if (type != VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT) {
        return VK_SUCCESS;
    }
    VkMemoryFdPropertiesKHR properties = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR,
    };
    maar_lock_rank_expect_none();
    const VkResult result = device->vkGetMemoryFdPropertiesKHR(
        device->handle, type, (int)maar_external_handle_peek(handle), &properties);
    *types = result == VK_SUCCESS ? *types & properties.memoryTypeBits : 0;
    if (result == VK_ERROR_INVALID_EXTERNAL_HANDLE) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_NOT_IMPORTABLE, call,
                    "the driver does not accept %s as a dma-buf (%s)", name,
                    maarGetResultName(result));
    }
    return result;
}

/* ---- the choice ---- */

/* What one side allows. */
struct type_bound {
    const char* source;
    uint32_t types;
};

enum { MOST_BOUNDS = 5 };

/* Returns the types that all sides but one allow. */
static uint32_t types_without(const struct type_bound* bounds, uint32_t without)
{
    uint32_t types = UINT32_MAX;
    for (uint32_t i = 0; i < MOST_BOUNDS; ++i) {
        types &= i != without ? bounds[i].types : UINT32_MAX;
    }
    return types;
}

/* Reports that no type is left. Names the argument that could be mended alone, the caller's own
 * ones first, and the types that would do. */
static VkResult report_no_import_type(MaarAllocator allocator, const char* call,
                                      const struct type_bound* bounds)
{
    for (uint32_t i = MOST_BOUNDS; i-- > 0;) {
        const uint32_t others = types_without(bounds, i);
        if (others != 0) {
            return maar_fail(allocator, VK_ERROR_FEATURE_NOT_PRESENT,
                             MAAR_MESSAGE_ID_NO_MEMORY_TYPE, call,
                             "no memory type serves: the types 0x%X are those of %s, and the types "
                             "0x%X would do",
                             (unsigned)bounds[i].types, bounds[i].source, (unsigned)others);
        }
    }
    return maar_fail(allocator, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_NO_MEMORY_TYPE, call,
                     "no memory type serves: the types 0x%X are those of %s, 0x%X of %s, 0x%X of "
                     "%s, 0x%X of %s, 0x%X of %s",
                     (unsigned)bounds[0].types, bounds[0].source, (unsigned)bounds[1].types,
                     bounds[1].source, (unsigned)bounds[2].types, bounds[2].source,
                     (unsigned)bounds[3].types, bounds[3].source, (unsigned)bounds[4].types,
                     bounds[4].source);
}

VkResult maar_choose_import_types(MaarAllocator allocator, const char* call,
                                  const MaarImportInfo* info, uint32_t object_types,
                                  struct maar_type_choice* choice)
{
    const bool is_given = info->memoryTypeIndex != MAAR_MEMORY_TYPE_NONE;
    const uint32_t usable = usable_types(allocator);
    struct type_bound bounds[MOST_BOUNDS] = {
        {"the handle", 0},
        {"the object", object_types & usable},
        {"pImportInfo->memoryTypeBits",
         info->memoryTypeBits != 0 ? info->memoryTypeBits & usable : usable},
        {"pImportInfo->usage and requiredFlags", 0},
        {"pImportInfo->memoryTypeIndex", is_given ? 1u << info->memoryTypeIndex : usable},
    };
    const VkResult result = ask_handle_types(allocator, call, "pImportInfo->handle", info->handle,
                                             info->handleType, &bounds[0].types);
    if (result != VK_SUCCESS) {
        return result;
    }
    const MaarAllocationCreateInfo preference = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .flags = MAAR_ALLOCATION_CREATE_AVOIDED_TYPES_BIT,
        .usage = is_given ? MAAR_MEMORY_USAGE_FLAGS_ONLY : info->usage,
        .requiredFlags = info->requiredFlags,
        .preferredFlags = info->preferredFlags,
    };
    (void)maar_choose_types(allocator, usable, &preference, choice);
    bounds[3].types = maar_candidate_bits(choice);
    choice->bits = types_without(bounds, MOST_BOUNDS);
    return choice->bits != 0 ? VK_SUCCESS : report_no_import_type(allocator, call, bounds);
}

/* ---- the question ---- */

VKAPI_ATTR VkResult VKAPI_CALL maarGetExternalHandleInfo(
    MaarAllocator allocator, MaarExternalHandle handle,
    VkExternalMemoryHandleTypeFlagBits handleType, MaarExternalHandleInfo* pInfo)
{
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_EXTERNAL_HANDLE_INFO);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    *pInfo = (MaarExternalHandleInfo){.sType = pInfo->sType, .pNext = pInfo->pNext};
    if (handle == VK_NULL_HANDLE) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_HANDLE, __func__,
                           "handle is VK_NULL_HANDLE");
    }
    if (!maar_is_power_of_two(handleType)) {
        return maar_refuse_bits(allocator, __func__, "handleType", (uint32_t)handleType);
    }
    result =
        maar_shared_types_require(allocator, __func__, (VkExternalMemoryHandleTypeFlags)handleType);
    if (result == VK_SUCCESS) {
        result = maar_external_handle_check(allocator, __func__, "handle", handle);
    }
    uint32_t types = 0;
    if (result == VK_SUCCESS) {
        result = ask_handle_types(allocator, __func__, "handle", handle, handleType, &types);
    }
    if (result == VK_SUCCESS) {
        pInfo->memoryTypeBits = types;
        pInfo->fromDriver = maar_is_opaque_handle(handleType) ? VK_FALSE : VK_TRUE;
        pInfo->size = maar_port_handle_size(maar_external_handle_peek(handle));
    }
    return result;
}
