/*
 * Imports memory. The driver gets a duplicate of the handle for each memory type that is tried. The
 * caller's own handle is taken only after everything has succeeded. It then becomes an attachment
 * of the block, for later exports.
 */
#include "core/memory/allocation_free.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/export_types.h"
#include "core/memory/foreign_memory.h"
#include "core/memory/slot_home.h"
#include "core/objects/captured_object.h"
#include "core/objects/object.h"
#include "core/objects/shared_object.h"
#include "interop/share/import_types.h"
#include "interop/share/share_internal.h"

/* The object that is bound to the imported memory, if any. */
struct import_object {
    VkBuffer buffer;
    VkImage image;
    MaarResourceKind kind;
    bool must_be_dedicated;
    VkMemoryRequirements requirements; /* size 0: there is no object */
};

static VkResult check_import(MaarAllocator allocator, const char* call, const MaarImportInfo* info)
{
    VkResult result =
        maar_check_structure(allocator, call, "pImportInfo", info, MAAR_STRUCTURE_TYPE_IMPORT_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (info->handle == VK_NULL_HANDLE) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_HANDLE, call,
                           "pImportInfo->handle is VK_NULL_HANDLE");
    }
    if (!maar_is_power_of_two(info->handleType)) {
        return maar_refuse_bits(allocator, call, "pImportInfo->handleType",
                                (uint32_t)info->handleType);
    }
    result = maar_shared_types_require(allocator, call,
                                       (VkExternalMemoryHandleTypeFlags)info->handleType);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (info->blockSize == 0 &&
        info->handleType != VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_ZERO_SIZE, call,
                           "pImportInfo->blockSize is 0; it must be that of the exporter");
    }
    if (maar_is_opaque_handle(info->handleType) && info->memoryTypeIndex == MAAR_MEMORY_TYPE_NONE) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NOT_IMPORTABLE, call,
                           "pImportInfo->memoryTypeIndex is MAAR_MEMORY_TYPE_NONE; for an opaque "
                           "handle it must be the exporter's memory type");
    }
    const uint32_t type_count = allocator->device.facts.memory.memoryTypeCount;
    if (info->memoryTypeIndex != MAAR_MEMORY_TYPE_NONE && info->memoryTypeIndex >= type_count) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                         call,
                         "pImportInfo->memoryTypeIndex is %u, and the device has %u memory types",
                         info->memoryTypeIndex, type_count);
    }
    if ((uint32_t)info->usage > MAAR_MEMORY_USAGE_FLAGS_ONLY) {
        return maar_refuse_enum(allocator, call, "pImportInfo->usage", "MaarMemoryUsage",
                                (int)info->usage);
    }
    return maar_external_handle_check(allocator, call, "pImportInfo->handle", info->handle);
}

/* Tries to import the memory as one memory type, from a duplicate of the handle. */
static VkResult import_as(MaarAllocator allocator, const char* call, const MaarImportInfo* info,
                          const struct import_object* object, VkDeviceSize size, uint32_t type,
                          MaarAllocation* allocation)
{
    const bool is_win32 = info->handleType == VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT;
    const maar_port_handle own = maar_external_handle_peek(info->handle);
    struct maar_lent_handle lent;
    VkResult result = maar_handle_lend(allocator, call, own, &lent);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkImportMemoryFdInfoKHR fd = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
        .handleType = info->handleType,
        .fd = is_win32 ? -1 : (int)lent.number,
    };
    const struct maar_win32_import_memory win32 = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_WIN32_HANDLE_INFO_KHR,
        .handleType = info->handleType,
        .handle = maar_port_win32_handle(lent.number),
    };
    const bool dedicated = info->dedicated == VK_TRUE || object->must_be_dedicated;
    const struct maar_foreign_memory memory = {
        .call = call,
        .next = is_win32 ? (const void*)&win32 : (const void*)&fd,
        .types = (VkExternalMemoryHandleTypeFlags)info->handleType,
        .size = size,
        .type_index = type,
        .kind = object->kind,
        .dedicated_buffer = dedicated ? object->buffer : VK_NULL_HANDLE,
        .dedicated_image = dedicated ? object->image : VK_NULL_HANDLE,
        .user_data = info->pUserData,
        .name = info->pName,
    };
    result = maar_allocate_foreign(allocator, &memory, allocation);
    maar_handle_end_loan(allocator, &lent, own, !is_win32, result == VK_SUCCESS);
    return result;
}

/* Reports what the driver was asked for, so that the argument at fault can be seen. */
static void report_refused(MaarAllocator allocator, const char* call, const MaarImportInfo* info,
                           const struct maar_type_choice* choice, VkDeviceSize size,
                           VkResult result)
{
    const bool is_given = info->memoryTypeIndex != MAAR_MEMORY_TYPE_NONE;
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_NOT_IMPORTABLE, call,
                "the driver refuses to import the handle (%s) as handleType 0x%X, blockSize %s, "
                "dedicated %s, memory types 0x%X%s: each must be that of the exporter",
                maarGetResultName(result), (unsigned)info->handleType, maar_show_bytes(size).text,
                info->dedicated == VK_TRUE ? "VK_TRUE" : "VK_FALSE",
                (unsigned)maar_candidate_bits(choice), is_given ? " (memoryTypeIndex)" : "");
}

/* Returns the most bytes that the memory behind an opaque handle can have. A driver made it on a
 * device like this one, so it fits one of the heaps. */
static VkDeviceSize most_of_types(MaarAllocator allocator, const struct maar_type_choice* choice)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    VkDeviceSize most = 0;
    for (uint32_t i = 0; i < choice->count; ++i) {
        if ((choice->bits & (1u << choice->types[i])) != 0) {
            const uint32_t heap = maar_type_heap(allocator, choice->types[i]);
            const VkDeviceSize size = facts->memory.memoryHeaps[heap].size;
            most = size > most ? size : most;
        }
    }
    return most < facts->max_allocation_size ? most : facts->max_allocation_size;
}

/* Rejects a size that the memory behind a handle cannot have, since drivers believe it. Some
 * systems know the size of a handle. */
static VkResult check_block_size(MaarAllocator allocator, const char* call,
                                 const MaarImportInfo* info, const struct maar_type_choice* choice)
{
    const uint64_t known = maar_port_handle_size(maar_external_handle_peek(info->handle));
    const VkDeviceSize most =
        maar_is_opaque_handle(info->handleType) ? most_of_types(allocator, choice) : UINT64_MAX;
    if (known != 0 && info->blockSize > known) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_NOT_IMPORTABLE,
                         call, "blockSize is %s, and the memory behind the handle has %s",
                         maar_show_bytes(info->blockSize).text, maar_show_bytes(known).text);
    }
    if (info->blockSize > most) {
        return maar_fail(
            allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_NOT_IMPORTABLE, call,
            "blockSize is %s, and no block of this device and memory type has more than %s",
            maar_show_bytes(info->blockSize).text, maar_show_bytes(most).text);
    }
    return VK_SUCCESS;
}

/* Tries the memory types that the handle and the object allow, in order of preference. Does not
 * change the handle. */
static VkResult import_memory(MaarAllocator allocator, const char* call, const MaarImportInfo* info,
                              const struct import_object* object, MaarAllocation* allocation)
{
    struct maar_type_choice choice;
    VkResult result = maar_choose_import_types(
        allocator, call, info,
        object->requirements.size != 0 ? object->requirements.memoryTypeBits : UINT32_MAX, &choice);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = check_block_size(allocator, call, info, &choice);
    if (result != VK_SUCCESS) {
        return result;
    }
    VkDeviceSize size = info->blockSize;
    if (size == 0) {
        size = maar_port_handle_size(maar_external_handle_peek(info->handle));
    }
    if (size == 0 || info->offset > size || object->requirements.size > size - info->offset) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT,
                    call, "the object needs %s from offset %llu of a block of %s",
                    maar_show_bytes(object->requirements.size).text,
                    (unsigned long long)info->offset, maar_show_bytes(size).text);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    result = VK_ERROR_FEATURE_NOT_PRESENT;
    for (uint32_t i = 0; i < choice.count; ++i) {
        if ((choice.bits & (1u << choice.types[i])) == 0) {
            continue;
        }
        result = import_as(allocator, call, info, object, size, choice.types[i], allocation);
        if (result != VK_ERROR_INVALID_EXTERNAL_HANDLE && result != VK_ERROR_OUT_OF_DEVICE_MEMORY) {
            break;
        }
    }
    if (result == VK_ERROR_INVALID_EXTERNAL_HANDLE || result == VK_ERROR_OUT_OF_DEVICE_MEMORY) {
        report_refused(allocator, call, info, &choice, size, result);
    }
    return result;
}

/* Takes the caller's handle and makes it an attachment of the block. This is the last step, and it
 * cannot fail. */
static void keep_handle(MaarAllocator allocator, const MaarImportInfo* info,
                        MaarAllocation allocation, struct maar_kept_handle* kept)
{
    const struct maar_slot* slot = maar_slot_of_own(allocator, allocation);
    maar_kept_handle_hang(maar_slot_block(allocator, slot), kept, info->handleType,
                          maar_external_handle_take(info->handle));
}

/* Reads what the object needs that memory is imported for, if the caller has one. */
static VkResult find_given_object(MaarAllocator allocator, const char* call,
                                  const MaarImportInfo* info, struct import_object* object)
{
    MaarMemoryRequest request = {.kind = MAAR_RESOURCE_KIND_UNKNOWN};
    if (info->dedicatedBuffer != VK_NULL_HANDLE && info->dedicatedImage != VK_NULL_HANDLE) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, call,
                           "pImportInfo has both a dedicatedBuffer and a dedicatedImage");
    }
    if (info->dedicatedBuffer != VK_NULL_HANDLE) {
        maar_buffer_request(allocator, info->dedicatedBuffer, &request);
    } else if (info->dedicatedImage != VK_NULL_HANDLE) {
        maar_image_request(allocator, info->dedicatedImage, MAAR_RESOURCE_KIND_UNKNOWN, 0,
                           &request);
    } else if (info->dedicated == VK_TRUE) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NOT_IMPORTABLE, call,
                           "pImportInfo->dedicated is VK_TRUE; memory made for one object needs "
                           "the object: in dedicatedBuffer or dedicatedImage, or made by "
                           "maarImportBuffer or maarImportImage");
    }
    *object = (struct import_object){
        .buffer = info->dedicatedBuffer,
        .image = info->dedicatedImage,
        .kind = request.kind,
        .must_be_dedicated =
            info->dedicatedBuffer != VK_NULL_HANDLE || info->dedicatedImage != VK_NULL_HANDLE,
        .requirements = request.requirements,
    };
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarImportMemory(MaarAllocator allocator,
                                                const MaarImportInfo* pImportInfo,
                                                MaarAllocation* pAllocation)
{
    const struct maar_output outputs[] = {{"pAllocation", pAllocation, sizeof *pAllocation}, {0}};
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = check_import(allocator, __func__, pImportInfo);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct import_object object;
    result = find_given_object(allocator, __func__, pImportInfo, &object);
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarImportInfo info = *pImportInfo;
    info.offset = 0;
    struct maar_kept_handle* kept = maar_kept_handle_make(allocator);
    if (kept == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    result = import_memory(allocator, __func__, &info, &object, pAllocation);
    if (result == VK_SUCCESS) {
        keep_handle(allocator, &info, *pAllocation, kept);
    } else {
        maar_kept_handle_discard(allocator, kept);
    }
    return result;
}

/* Imports memory and binds an object to it. On failure, the handle is as before. The caller then
 * destroys the object first and undoes the allocation, if there is one, after it. */
static VkResult import_and_bind(MaarAllocator allocator, const char* call,
                                const MaarImportInfo* info, const struct import_object* object,
                                MaarAllocation* allocation)
{
    const VkDeviceSize alignment = object->requirements.alignment;
    if (info->dedicatedBuffer != VK_NULL_HANDLE || info->dedicatedImage != VK_NULL_HANDLE) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, call,
                           "pImportInfo has an object that exists already, but this call makes "
                           "one: call maarImportMemory");
    }
    if (alignment > 1 && info->offset % alignment != 0) {
        return maar_fail(
            allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_INVALID_ALIGNMENT, call,
            "pImportInfo->offset is %llu, not a multiple of the object's alignment, %llu",
            (unsigned long long)info->offset, (unsigned long long)object->requirements.alignment);
    }
    if (info->offset != 0 && (object->must_be_dedicated || info->dedicated == VK_TRUE)) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, call,
                           "pImportInfo->offset is not 0, but the memory is dedicated to the "
                           "object");
    }
    struct maar_kept_handle* kept = maar_kept_handle_make(allocator);
    if (kept == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    VkResult result = import_memory(allocator, call, info, object, allocation);
    if (result == VK_SUCCESS) {
        const struct maar_object bound = {.buffer = object->buffer, .image = object->image};
        struct maar_span span;
        const struct maar_slot* slot =
            maar_bind_target(allocator, call, *allocation, info->offset, &span);
        result = slot != NULL
                     ? maar_bind_object(allocator, slot, span.offset + info->offset, bound, NULL)
                     : VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (result == VK_SUCCESS) {
        keep_handle(allocator, info, *allocation, kept);
    } else {
        maar_kept_handle_discard(allocator, kept);
    }
    return result;
}

VkResult maar_import_buffer(MaarAllocator allocator, const char* call,
                            const VkBufferCreateInfo* buffer_info, const MaarImportInfo* info,
                            VkBuffer* buffer, MaarAllocation* allocation)
{
    VkResult result = maar_check_buffer_info(allocator, call, buffer_info);
    if (result == VK_SUCCESS) {
        result = check_import(allocator, call, info);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_shared_buffer shared;
    result = maar_share_buffer(allocator, call, buffer_info,
                               (VkExternalMemoryHandleTypeFlags)info->handleType,
                               VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT, &shared);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_device* device = &allocator->device;
    VkBuffer made = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    maar_lock_rank_expect_none();
    result = device->vkCreateBuffer(device->handle, shared.use, device->callbacks, &made);
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarMemoryRequest request;
    maar_buffer_request(allocator, made, &request);
    maar_capture_buffer(allocator, made, shared.use, &request);
    const struct import_object object = {
        .buffer = made,
        .kind = MAAR_RESOURCE_KIND_LINEAR,
        .must_be_dedicated = shared.dedicated || request.requiresDedicated == VK_TRUE,
        .requirements = request.requirements,
    };
    result = import_and_bind(allocator, call, info, &object, &memory);
    result = maar_finish_shared(allocator, result, (struct maar_object){.buffer = made}, memory);
    if (result == VK_SUCCESS) {
        *buffer = made;
        *allocation = memory;
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarImportBuffer(MaarAllocator allocator,
                                                const VkBufferCreateInfo* pBufferInfo,
                                                const MaarImportInfo* pImportInfo,
                                                VkBuffer* pBuffer, MaarAllocation* pAllocation)
{
    const struct maar_output outputs[] = {{"pBuffer", pBuffer, sizeof *pBuffer},
                                          {"pAllocation", pAllocation, sizeof *pAllocation},
                                          {0}};
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result != VK_SUCCESS) {
        return result;
    }
    return maar_import_buffer(allocator, __func__, pBufferInfo, pImportInfo, pBuffer, pAllocation);
}

VKAPI_ATTR VkResult VKAPI_CALL maarImportImage(MaarAllocator allocator,
                                               const VkImageCreateInfo* pImageInfo,
                                               const MaarImportInfo* pImportInfo, VkImage* pImage,
                                               MaarAllocation* pAllocation)
{
    const struct maar_output outputs[] = {
        {"pImage", pImage, sizeof *pImage}, {"pAllocation", pAllocation, sizeof *pAllocation}, {0}};
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_check_image_info(
        allocator, __func__, pImageInfo,
        "pImageInfo is disjoint; the planes of a disjoint image are not shared");
    if (result == VK_SUCCESS) {
        result = check_import(allocator, __func__, pImportInfo);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_shared_image shared;
    result = maar_share_image(allocator, __func__, pImageInfo,
                              (VkExternalMemoryHandleTypeFlags)pImportInfo->handleType,
                              VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT, &shared);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_device* device = &allocator->device;
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    maar_lock_rank_expect_none();
    result = device->vkCreateImage(device->handle, shared.use, device->callbacks, &image);
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarMemoryRequest request;
    const MaarResourceKind kind = maar_tiling_kind(pImageInfo->tiling);
    maar_image_request(allocator, image, kind, 0, &request);
    maar_capture_image(allocator, image, shared.use, &request);
    const struct import_object object = {
        .image = image,
        .kind = kind,
        .must_be_dedicated = shared.dedicated || request.requiresDedicated == VK_TRUE,
        .requirements = request.requirements,
    };
    result = import_and_bind(allocator, __func__, pImportInfo, &object, &allocation);
    result =
        maar_finish_shared(allocator, result, (struct maar_object){.image = image}, allocation);
    if (result == VK_SUCCESS) {
        *pImage = image;
        *pAllocation = allocation;
    }
    return result;
}
