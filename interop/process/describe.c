/*
 * The public calls on descriptors: they write and read descriptors, describe exported memory and
 * timelines, and import described buffers.
 */
#include "interop/process/describe.h"

#include <stdio.h>
#include <string.h>

#include "core/memory/allocation_handle.h"
#include "interop/process/descriptor.h"
#include "interop/share/share_internal.h"

VkResult maar_descriptor_check(MaarAllocator allocator, const char* call,
                               const MaarDescriptor* descriptor)
{
    VkResult result = maar_check_structure(allocator, call, "pDescriptor", descriptor,
                                           MAAR_STRUCTURE_TYPE_DESCRIPTOR);
    if (result != VK_SUCCESS) {
        return result;
    }
    const char* fault = maar_descriptor_fault(descriptor);
    if (fault != NULL) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_INVALID_DESCRIPTOR,
                    call, "pDescriptor->%s", fault);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    return VK_SUCCESS;
}

VkResult maar_descriptor_read(MaarAllocator allocator, const char* call, size_t size,
                              const uint8_t* bytes, MaarDescriptor* descriptor)
{
    const char* what = NULL;
    switch (maar_descriptor_decode(size, bytes, descriptor, &what)) {
    case MAAR_DESCRIPTOR_SOUND:
        return VK_SUCCESS;
    case MAAR_DESCRIPTOR_OTHER_VERSION:
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_INVALID_DESCRIPTOR,
                    call, "the descriptor is rejected: %s", what);
        return VK_ERROR_FORMAT_NOT_SUPPORTED;
    default:
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_INVALID_DESCRIPTOR,
                    call, "the descriptor of %s is rejected: %s", maar_show_bytes(size).text, what);
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
}

/* The size of a UUID as hexadecimal text. */
enum { UUID_TEXT = 2 * VK_UUID_SIZE + 1 };

static void write_uuid(const uint8_t* uuid, char* text)
{
    for (size_t i = 0; i < VK_UUID_SIZE; ++i) {
        (void)snprintf(text + 2 * i, 3, "%02x", uuid[i]);
    }
}

VkResult maar_descriptor_require_device(MaarAllocator allocator, const char* call,
                                        const MaarDescriptor* descriptor)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    if (!maar_descriptor_is_opaque(descriptor)) {
        return VK_SUCCESS;
    }
    const bool device = memcmp(descriptor->deviceUUID, facts->device_uuid, VK_UUID_SIZE) != 0;
    const bool driver = memcmp(descriptor->driverUUID, facts->driver_uuid, VK_UUID_SIZE) != 0;
    if (!device && !driver) {
        return VK_SUCCESS;
    }
    char theirs[UUID_TEXT];
    char own[UUID_TEXT];
    write_uuid(device ? descriptor->deviceUUID : descriptor->driverUUID, theirs);
    write_uuid(device ? facts->device_uuid : facts->driver_uuid, own);
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_OTHER_DEVICE, call,
                "the handle was made on another %s: %s is %s there and %s here",
                device ? "device" : "driver", device ? "deviceUUID" : "driverUUID", theirs, own);
    return VK_ERROR_INCOMPATIBLE_DRIVER;
}

VKAPI_ATTR VkResult VKAPI_CALL maarWriteDescriptor(MaarAllocator allocator,
                                                   const MaarDescriptor* pDescriptor, void* pBytes)
{
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS && pBytes == NULL) {
        result = maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__, "pBytes is NULL");
    }
    if (result == VK_SUCCESS) {
        result = maar_descriptor_check(allocator, __func__, pDescriptor);
    }
    if (result == VK_SUCCESS) {
        maar_descriptor_encode(pDescriptor, pBytes);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarReadDescriptor(MaarAllocator allocator, size_t size,
                                                  const void* pBytes, MaarDescriptor* pDescriptor)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pBytes == NULL && size != 0) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__,
                           "pBytes is NULL, and size is not 0");
    }
    result = maar_check_structure(allocator, __func__, "pDescriptor", pDescriptor,
                                  MAAR_STRUCTURE_TYPE_DESCRIPTOR);
    if (result != VK_SUCCESS) {
        return result;
    }
    return maar_descriptor_read(allocator, __func__, size, pBytes, pDescriptor);
}

/* Begins every call that describes an object. */
static VkResult enter_describe(MaarAllocator allocator, const char* call,
                               const MaarDescriptor* descriptor, MaarExternalHandle* handle)
{
    if (handle != NULL) {
        *handle = VK_NULL_HANDLE;
    }
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, call, "pDescriptor", descriptor,
                                      MAAR_STRUCTURE_TYPE_DESCRIPTOR);
    }
    if (result == VK_SUCCESS && handle == NULL) {
        result = maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, call, "pHandle is NULL");
    }
    return result;
}

/* Returns a descriptor of this device that describes nothing yet. */
static MaarDescriptor own_descriptor(MaarAllocator allocator, const MaarDescriptor* chained)
{
    MaarDescriptor descriptor = {.sType = chained->sType, .pNext = chained->pNext};
    memcpy(descriptor.deviceUUID, allocator->device.facts.device_uuid, VK_UUID_SIZE);
    memcpy(descriptor.driverUUID, allocator->device.facts.driver_uuid, VK_UUID_SIZE);
    return descriptor;
}

VKAPI_ATTR VkResult VKAPI_CALL maarDescribeMemory(MaarAllocator allocator,
                                                  MaarAllocation allocation,
                                                  VkExternalMemoryHandleTypeFlagBits handleType,
                                                  const VkBufferCreateInfo* pBufferInfo,
                                                  MaarDescriptor* pDescriptor,
                                                  MaarExternalHandle* pHandle)
{
    VkResult result = enter_describe(allocator, __func__, pDescriptor, pHandle);
    if (result == VK_SUCCESS && pBufferInfo != NULL) {
        result = maar_check_structure(allocator, __func__, "pBufferInfo", pBufferInfo,
                                      VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_slot* slot = maar_resolve(allocator, __func__, allocation, NULL);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    MaarExportedMemory memory = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    result = maar_export_memory(allocator, __func__, slot, handleType, &memory);
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarDescriptor made = own_descriptor(allocator, pDescriptor);
    made.kind = MAAR_DESCRIPTOR_KIND_MEMORY;
    made.handleType = (uint32_t)handleType;
    made.blockSize = memory.blockSize;
    made.offset = memory.offset;
    made.size = memory.size;
    made.memoryTypeIndex = memory.memoryTypeIndex;
    made.dedicated = memory.dedicated;
    maar_descriptor_set_name(&made, maar_slot_name(slot, maar_slot_index(allocation)));
    if (pBufferInfo != NULL) {
        made.kind = MAAR_DESCRIPTOR_KIND_BUFFER;
        made.size = pBufferInfo->size;
        made.bufferUsage = pBufferInfo->usage;
        made.bufferFlags = pBufferInfo->flags;
    }
    const char* fault = maar_descriptor_fault(&made);
    if (fault == NULL && made.size > memory.size) {
        fault = "size is larger than the allocation";
    }
    if (fault != NULL) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_INVALID_DESCRIPTOR,
                    __func__, "pBufferInfo does not describe what is in the allocation: %s", fault);
        maar_external_handle_destroy(memory.handle);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    *pDescriptor = made;
    *pHandle = memory.handle;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL
maarDescribeTimeline(MaarAllocator allocator, VkSemaphore semaphore,
                     VkExternalSemaphoreHandleTypeFlagBits handleType, MaarDescriptor* pDescriptor,
                     MaarExternalHandle* pHandle)
{
    VkResult result = enter_describe(allocator, __func__, pDescriptor, pHandle);
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarDescriptor made = own_descriptor(allocator, pDescriptor);
    made.kind = MAAR_DESCRIPTOR_KIND_TIMELINE;
    made.handleType = (uint32_t)handleType;
    const char* fault = maar_descriptor_fault(&made);
    if (fault != NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_INVALID_DESCRIPTOR, __func__, fault);
    }
    result = maar_export_semaphore(allocator, __func__, semaphore, handleType, pHandle);
    if (result == VK_SUCCESS) {
        *pDescriptor = made;
    }
    return result;
}

/* Rejects flags of features that may be disabled, so that a sender cannot make this process break
 * Vulkan's rules. The protected flag is the only one whose feature is known here. */
static VkResult require_flags(MaarAllocator allocator, const char* call,
                              const MaarDescriptor* descriptor)
{
    const VkBufferCreateFlags allowed = allocator->device.facts.protected_memory
                                            ? (VkBufferCreateFlags)VK_BUFFER_CREATE_PROTECTED_BIT
                                            : 0;
    if ((descriptor->bufferFlags & ~allowed) == 0) {
        return VK_SUCCESS;
    }
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, call,
                "pDescriptor->bufferFlags 0x%x need features that are not known to be enabled "
                "here",
                (unsigned)descriptor->bufferFlags);
    return VK_ERROR_FEATURE_NOT_PRESENT;
}

/* Returns the exporter's memory type if the exporter has the same device and driver. Otherwise
 * returns MAAR_MEMORY_TYPE_NONE, because the number means nothing on another device. For a dma-buf,
 * the driver of this device then says which of its types are possible. */
static uint32_t own_memory_type(MaarAllocator allocator, const MaarDescriptor* descriptor)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    const bool is_own = memcmp(descriptor->deviceUUID, facts->device_uuid, VK_UUID_SIZE) == 0 &&
                        memcmp(descriptor->driverUUID, facts->driver_uuid, VK_UUID_SIZE) == 0;
    return is_own ? descriptor->memoryTypeIndex : MAAR_MEMORY_TYPE_NONE;
}

VKAPI_ATTR VkResult VKAPI_CALL maarImportDescribedBuffer(MaarAllocator allocator,
                                                         const MaarDescriptor* pDescriptor,
                                                         MaarExternalHandle handle,
                                                         VkBuffer* pBuffer,
                                                         MaarAllocation* pAllocation)
{
    if (pBuffer != NULL) {
        *pBuffer = VK_NULL_HANDLE;
    }
    if (pAllocation != NULL) {
        *pAllocation = VK_NULL_HANDLE;
    }
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS && (pBuffer == NULL || pAllocation == NULL)) {
        result = maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__,
                             pBuffer == NULL ? "pBuffer is NULL" : "pAllocation is NULL");
    }
    if (result == VK_SUCCESS && handle == VK_NULL_HANDLE) {
        result = maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_HANDLE, __func__,
                             "handle is VK_NULL_HANDLE");
    }
    if (result == VK_SUCCESS) {
        result = maar_descriptor_check(allocator, __func__, pDescriptor);
    }
    if (result == VK_SUCCESS && pDescriptor->kind != MAAR_DESCRIPTOR_KIND_BUFFER) {
        result = maar_misuse(allocator, MAAR_MESSAGE_ID_INVALID_DESCRIPTOR, __func__,
                             "pDescriptor->kind is not that of a buffer");
    }
    if (result == VK_SUCCESS) {
        result = maar_descriptor_require_device(allocator, __func__, pDescriptor);
    }
    if (result == VK_SUCCESS) {
        result = require_flags(allocator, __func__, pDescriptor);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .flags = pDescriptor->bufferFlags,
        .size = pDescriptor->size,
        .usage = pDescriptor->bufferUsage,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    const MaarImportInfo import = {
        .sType = MAAR_STRUCTURE_TYPE_IMPORT_INFO,
        .handle = handle,
        .handleType = (VkExternalMemoryHandleTypeFlagBits)pDescriptor->handleType,
        .blockSize = pDescriptor->blockSize,
        .offset = pDescriptor->offset,
        .memoryTypeIndex = own_memory_type(allocator, pDescriptor),
        .dedicated = pDescriptor->dedicated,
        .pName = pDescriptor->name[0] != '\0' ? pDescriptor->name : NULL,
    };
    return maar_import_buffer(allocator, __func__, &buffer, &import, pBuffer, pAllocation);
}
