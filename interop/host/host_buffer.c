/*
 * Buffers on memory of the host. The pages of the memory are imported if the driver accepts them;
 * otherwise the bytes are copied. The buffer begins at the first imported byte (see host_pages.c)
 * and ends with the caller's last byte.
 */
#include <stdio.h>
#include <string.h>

#include "core/bound_check.h"
#include "core/memory/allocation_free.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/mapping.h"
#include "core/memory/object_handle.h"
#include "core/objects/buffer.h"
#include "core/objects/captured_object.h"
#include "core/objects/shared_object.h"
#include "interop/host/host_pages.h"
#include "maar/share.h"

struct maar_host_buffer {
    uint64_t handle;
    unsigned char* memory;
    VkDeviceSize size;
    VkBuffer buffer;
    VkDeviceSize offset; /* of the host's first byte, in the buffer and in the allocation */
    MaarAllocation allocation;
    bool copied;
    bool read_only;
    bool mapped;      /* imported as a type that is not coherent */
    char reason[128]; /* as in MaarHostBufferInfo */
};

/* ---- importing ---- */

static VkResult refuse(struct maar_host_buffer* made, VkResult result, const char* reason)
{
    (void)snprintf(made->reason, sizeof made->reason, "%s", reason);
    return result;
}

/* Imports the pages as one memory type. On success, the buffer is bound, and memory that is not
 * coherent is mapped. */
static VkResult import_pages(MaarAllocator allocator, const char* call,
                             struct maar_host_buffer* made, const struct maar_host_pages* pages,
                             bool dedicated, uint32_t type, const char* name)
{
    const struct maar_object object = {.buffer = made->buffer};
    VkResult result = maar_host_pages_import(
        allocator, call, pages, dedicated ? object : (struct maar_object){.buffer = VK_NULL_HANDLE},
        type, NULL, name, &made->allocation);
    if (result != VK_SUCCESS) {
        return result;
    }
    maar_allocation_own(allocator, made->allocation);
    struct maar_slot* slot = maar_slot_of_own(allocator, made->allocation);
    void* mapped = NULL;
    result =
        maar_bind_object(allocator, slot, maar_slot_span(allocator, slot).offset, object, NULL);
    if (result == VK_SUCCESS) {
        maar_capture_held(allocator, object, made->allocation, 0);
    }
    if (result == VK_SUCCESS && maar_type_is_noncoherent(allocator, type)) {
        result = maar_slot_map_for_life(allocator, call, slot, &mapped);
    }
    made->mapped = mapped != NULL;
    return result;
}

/* Makes the buffer and imports its memory. On failure the caller undoes what was made. */
static VkResult make_imported(MaarAllocator allocator, const char* call,
                              const MaarHostBufferCreateInfo* info, struct maar_host_buffer* made)
{
    const struct maar_device* device = &allocator->device;
    struct maar_host_pages pages;
    if (!maar_host_import_is_enabled(allocator)) {
        return refuse(made, VK_ERROR_FEATURE_NOT_PRESENT,
                      "VK_EXT_external_memory_host is not enabled");
    }
    const char* reason = maar_host_pages_find(allocator, made->memory, made->size, &pages);
    if (reason != NULL) {
        return refuse(made, VK_ERROR_INVALID_EXTERNAL_HANDLE, reason);
    }
    uint32_t families[32];
    const uint32_t family_count = maar_list_bits(info->queueFamilyBits, families);
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = MAAR_HOST_ALLOCATION,
    };
    const VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .pNext = &external,
        .size = pages.offset + made->size,
        .usage = info->usage,
        .sharingMode = maar_sharing_mode(family_count),
        .queueFamilyIndexCount = family_count > 1 ? family_count : 0,
        .pQueueFamilyIndices = families,
    };
    const VkExternalMemoryFeatureFlags features =
        maar_buffer_sharing(allocator, &buffer, MAAR_HOST_ALLOCATION).externalMemoryFeatures;
    if ((features & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) == 0) {
        return refuse(made, VK_ERROR_INVALID_EXTERNAL_HANDLE,
                      "the driver imports no host memory for a buffer of this usage");
    }
    VkResult result =
        device->vkCreateBuffer(device->handle, &buffer, device->callbacks, &made->buffer);
    if (result != VK_SUCCESS) {
        made->buffer = VK_NULL_HANDLE;
        return refuse(made, result, "the driver refuses a buffer on imported memory");
    }
    MaarMemoryRequest request;
    maar_buffer_request(allocator, made->buffer, &request);
    maar_capture_buffer(allocator, made->buffer, &buffer, &request);
    if (request.requirements.size > pages.size) {
        return refuse(made, VK_ERROR_INVALID_EXTERNAL_HANDLE,
                      "the buffer needs more bytes than the pages have");
    }
    uint32_t type = 0;
    reason = maar_host_type_choose(allocator, &pages, request.requirements.memoryTypeBits, true,
                                   &type, &result);
    if (reason != NULL) {
        return refuse(made, result, reason);
    }
    made->offset = pages.offset;
    const bool dedicated = request.requiresDedicated == VK_TRUE ||
                           (features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT) != 0;
    result = import_pages(allocator, call, made, &pages, dedicated, type, info->pName);
    return result == VK_SUCCESS ? VK_SUCCESS : refuse(made, result, maar_host_import_error(result));
}

/* ---- copying ---- */

static VkResult make_copied(MaarAllocator allocator, const char* call,
                            const MaarHostBufferCreateInfo* info, struct maar_host_buffer* made)
{
    uint32_t families[32];
    const uint32_t family_count = maar_list_bits(info->queueFamilyBits, families);
    const VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = made->size,
        .usage = info->usage,
        .sharingMode = maar_sharing_mode(family_count),
        .queueFamilyIndexCount = family_count > 1 ? family_count : 0,
        .pQueueFamilyIndices = families,
    };
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT,
        .usage = made->read_only ? MAAR_MEMORY_USAGE_UPLOAD : MAAR_MEMORY_USAGE_READBACK,
        .pName = info->pName,
    };
    made->copied = true;
    made->offset = 0;
    VkResult result =
        maar_create_buffer(allocator, call, &buffer, &how, NULL, &made->buffer, &made->allocation);
    if (result == VK_SUCCESS) {
        maar_allocation_own(allocator, made->allocation);
        struct maar_slot* slot = maar_slot_of_own(allocator, made->allocation);
        result = maar_slot_copy_to(allocator, call, slot, 0, made->size, made->memory);
    }
    return result;
}

/* Releases the buffer and its allocation. `undo` is true in a call that fails. */
static void unmake(MaarAllocator allocator, const char* call, struct maar_host_buffer* made,
                   bool undo)
{
    /* Freeing an allocation also ends its mappings. */
    if (undo) {
        (void)maar_destroy_buffer(allocator, call, made->buffer, VK_NULL_HANDLE);
        maar_undo_allocation(allocator, made->allocation);
    } else {
        (void)maar_destroy_buffer(allocator, call, made->buffer, made->allocation);
    }
    made->mapped = false;
    made->buffer = VK_NULL_HANDLE;
    made->allocation = VK_NULL_HANDLE;
}

/* ---- the calls ---- */

/* Returns whether a failure has nothing to do with the memory itself, so that a copy would not
 * help. */
static bool is_beyond_help(VkResult result)
{
    return result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_DEVICE_LOST ||
           result == VK_ERROR_VALIDATION_FAILED_EXT || result == VK_ERROR_UNKNOWN;
}

static VkResult check_host_info(MaarAllocator allocator, const char* call,
                                const MaarHostBufferCreateInfo* info)
{
    const MaarHostBufferCreateFlags both =
        MAAR_HOST_BUFFER_CREATE_NO_COPY_BIT | (uint32_t)MAAR_HOST_BUFFER_CREATE_ALWAYS_COPY_BIT;
    const MaarHostBufferCreateFlags known = both | (uint32_t)MAAR_HOST_BUFFER_CREATE_READ_ONLY_BIT;
    VkResult result = maar_check_structure(allocator, call, "pCreateInfo", info,
                                           MAAR_STRUCTURE_TYPE_HOST_BUFFER_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    if ((info->flags & ~known) != 0) {
        return maar_refuse_flags(allocator, call, "pCreateInfo->flags",
                                 "MaarHostBufferCreateFlagBits", info->flags & ~known);
    }
    if ((info->flags & both) == both) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, call,
                           "pCreateInfo->flags has both NO_COPY and ALWAYS_COPY");
    }
    if (info->pMemory == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, call,
                           "pCreateInfo->pMemory is NULL");
    }
    if (info->size == 0 || info->usage == 0) {
        return maar_misuse(
            allocator, info->size == 0 ? MAAR_MESSAGE_ID_ZERO_SIZE : MAAR_MESSAGE_ID_EMPTY_FLAGS,
            call, info->size == 0 ? "pCreateInfo->size is 0" : "pCreateInfo->usage is 0");
    }
    const uint32_t families = allocator->device.facts.queue_family_count;
    if ((uint64_t)info->queueFamilyBits >> families != 0) {
        return maar_fail(
            allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE, call,
            "pCreateInfo->queueFamilyBits is 0x%X, and the device has %u queue families",
            info->queueFamilyBits, families);
    }
    if (!maar_host_range_fits(allocator, info->pMemory, info->size)) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                         call,
                         "pCreateInfo->pMemory, %p, and size, %s, reach beyond the address space",
                         info->pMemory, maar_show_bytes(info->size).text);
    }
    if ((info->usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0 &&
        !allocator->device.facts.buffer_device_address) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, call,
                           "pCreateInfo->usage has SHADER_DEVICE_ADDRESS, but the "
                           "bufferDeviceAddress feature was not among pEnabledFeatures");
    }
    return VK_SUCCESS;
}

/* Makes an imported buffer, or else a copied one. On failure, only the object itself remains. */
static VkResult make_host_buffer(MaarAllocator allocator, const char* call,
                                 const MaarHostBufferCreateInfo* info,
                                 struct maar_host_buffer* made)
{
    const bool always = (info->flags & MAAR_HOST_BUFFER_CREATE_ALWAYS_COPY_BIT) != 0;
    const bool never = (info->flags & MAAR_HOST_BUFFER_CREATE_NO_COPY_BIT) != 0;
    VkResult result = always ? refuse(made, VK_ERROR_FEATURE_NOT_PRESENT, "a copy was requested")
                             : make_imported(allocator, call, info, made);
    if (result == VK_SUCCESS) {
        made->reason[0] = '\0';
        return VK_SUCCESS;
    }
    unmake(allocator, call, made, true);
    if (is_beyond_help(result)) {
        return result;
    }
    if (never) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_NOT_IMPORTABLE, call,
                    "pCreateInfo->pMemory: %s (%s)", made->reason, maarGetResultName(result));
        return result;
    }
    result = make_copied(allocator, call, info, made);
    if (result != VK_SUCCESS) {
        unmake(allocator, call, made, true);
        return result;
    }
    if (!always) {
        maar_note_fallback(allocator, made->allocation);
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_HOST_MEMORY_COPIED,
                    call, "the device works on a copy of pCreateInfo->pMemory: %s", made->reason);
    }
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateHostBuffer(MaarAllocator allocator,
                                                    const MaarHostBufferCreateInfo* pCreateInfo,
                                                    MaarHostBuffer* pHostBuffer)
{
    const struct maar_output outputs[] = {{"pHostBuffer", pHostBuffer, sizeof *pHostBuffer}, {0}};
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = check_host_info(allocator, __func__, pCreateInfo);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_host_buffer* made = maar_host_calloc(allocator->callbacks, 1, sizeof *made);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->memory = pCreateInfo->pMemory;
    made->size = pCreateInfo->size;
    made->read_only = (pCreateInfo->flags & MAAR_HOST_BUFFER_CREATE_READ_ONLY_BIT) != 0;
    result = maar_object_open(allocator, MAAR_OBJECT_HOST_BUFFER, made, &made->handle);
    if (result == VK_SUCCESS) {
        result = make_host_buffer(allocator, __func__, pCreateInfo, made);
    }
    if (result != VK_SUCCESS) {
        (void)maar_object_close(allocator, made->handle);
        maar_host_free(allocator->callbacks, made);
        return result;
    }
    *pHostBuffer = MAAR_FROM_BITS(MaarHostBuffer, made->handle);
    return VK_SUCCESS;
}

static VkResult enter_host_buffer(MaarAllocator allocator, const char* call,
                                  MaarHostBuffer host_buffer, struct maar_host_buffer** found)
{
    void* object = NULL;
    const VkResult result = maar_object_enter(
        allocator, call, "hostBuffer", MAAR_OBJECT_HOST_BUFFER, MAAR_TO_BITS(host_buffer), &object);
    *found = object;
    return result;
}

VKAPI_ATTR void VKAPI_CALL maarDestroyHostBuffer(MaarAllocator allocator, MaarHostBuffer hostBuffer)
{
    struct maar_host_buffer* it = NULL;
    if (hostBuffer != VK_NULL_HANDLE &&
        enter_host_buffer(allocator, __func__, hostBuffer, &it) == VK_SUCCESS &&
        maar_object_claim(allocator, __func__, "hostBuffer", MAAR_TO_BITS(hostBuffer)) ==
            VK_SUCCESS) {
        unmake(allocator, __func__, it, false);
        maar_host_free(allocator->callbacks, it);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetHostBufferInfo(MaarAllocator allocator,
                                                     MaarHostBuffer hostBuffer,
                                                     MaarHostBufferInfo* pInfo)
{
    struct maar_host_buffer* it = NULL;
    VkResult result = enter_host_buffer(allocator, __func__, hostBuffer, &it);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_HOST_BUFFER_INFO);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    *pInfo = (MaarHostBufferInfo){
        .sType = pInfo->sType,
        .pNext = pInfo->pNext,
        .buffer = it->buffer,
        .offset = it->offset,
        .size = it->size,
        .allocation = it->allocation,
        .copied = it->copied ? VK_TRUE : VK_FALSE,
    };
    memcpy(pInfo->reason, it->reason, sizeof pInfo->reason);
    return VK_SUCCESS;
}

typedef VkResult (*move_fn)(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                            VkDeviceSize offset, VkDeviceSize size, unsigned char* memory);

static VkResult copy_to_device(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                               VkDeviceSize offset, VkDeviceSize size, unsigned char* memory)
{
    return maar_slot_copy_to(allocator, call, slot, offset, size, memory);
}

static VkResult copy_from_device(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                                 VkDeviceSize offset, VkDeviceSize size, unsigned char* memory)
{
    return maar_slot_copy_from(allocator, call, slot, offset, size, memory);
}

typedef VkResult (*sync_fn)(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                            VkDeviceSize offset, VkDeviceSize size);

/* Makes a part of the memory visible to the other side: copies the part, or flushes or invalidates
 * the caches. */
static VkResult sync_part(MaarAllocator allocator, const char* call, MaarHostBuffer host_buffer,
                          VkDeviceSize offset, VkDeviceSize size, move_fn copy, sync_fn sync)
{
    struct maar_host_buffer* it = NULL;
    VkResult result = enter_host_buffer(allocator, call, host_buffer, &it);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (offset > it->size || (size != VK_WHOLE_SIZE && size > it->size - offset)) {
        return maar_refuse_range(allocator, call, "offset and size", offset, size,
                                 "the host's memory", it->size);
    }
    if (it->read_only && copy == copy_from_device) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, call,
                           "hostBuffer was created with MAAR_HOST_BUFFER_CREATE_READ_ONLY_BIT, so "
                           "nothing may be written to its memory");
    }
    const VkDeviceSize bytes = size == VK_WHOLE_SIZE ? it->size - offset : size;
    if (bytes == 0 || (!it->copied && !it->mapped)) {
        return VK_SUCCESS;
    }
    struct maar_slot* slot = maar_resolve(allocator, call, it->allocation, NULL);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    return it->copied ? copy(allocator, call, slot, offset, bytes, it->memory + offset)
                      : sync(allocator, call, slot, it->offset + offset, bytes);
}

VKAPI_ATTR VkResult VKAPI_CALL maarPushHostBuffer(MaarAllocator allocator,
                                                  MaarHostBuffer hostBuffer, VkDeviceSize offset,
                                                  VkDeviceSize size)
{
    return sync_part(allocator, __func__, hostBuffer, offset, size, copy_to_device,
                     maar_slot_flush);
}

VKAPI_ATTR VkResult VKAPI_CALL maarPullHostBuffer(MaarAllocator allocator,
                                                  MaarHostBuffer hostBuffer, VkDeviceSize offset,
                                                  VkDeviceSize size)
{
    return sync_part(allocator, __func__, hostBuffer, offset, size, copy_from_device,
                     maar_slot_invalidate);
}
