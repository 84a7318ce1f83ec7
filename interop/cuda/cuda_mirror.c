/*
 * Mirrors: a sparse buffer and a range of CUDA addresses that grow together. Each growth makes one
 * block of its own. The block is bound to the buffer and mapped into the range at the same offset,
 * as a whole, since CUDA maps a handle only from its first byte on.
 *
 * The bind comes first and is waited for: a bind can be undone, while a range only grows.
 * Externally synchronized by its owner.
 */
#include "core/memory/slot_home.h"
#include "core/objects/object.h"
#include "core/objects/shared_object.h"
#include "core/paging/address_space.h"
#include "core/paging/paging_open.h"
#include "core/queue_lock.h"
#include "core/time/timeline.h"
#include "interop/cuda/cuda_internal.h"
#include "interop/share/share_internal.h"

/* The longest wait for a bind. A bind that takes longer is taken for a lost device. */
#define BIND_TIMEOUT_NS ((uint64_t)10000000000)

struct MaarCudaMirror_T {
    MaarCuda cuda;
    MaarCudaRange range;
    VkBuffer buffer;
    VkSemaphore timeline; /* of binds */
    uint64_t bind_count;
    uint32_t queue;
    uint32_t type_bits;
    VkDeviceSize reserved;
    VkDeviceSize
        space; /* part of the device's sparse address space, which all sparse objects share */
    VkDeviceSize size;
    VkDeviceSize granularity;
    MaarAllocation* blocks;
    uint32_t block_count;
    uint32_t block_capacity;
};

/* Returns whether the driver is known to bind something else than exportable memory. */
static bool binds_something_else(const struct maar_device* device)
{
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &driver,
    };
    device->vkGetPhysicalDeviceProperties2(device->physical, &properties);
    return driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
}

static VkResult check_mirror(MaarCuda cuda, const char* call, const MaarCudaMirrorCreateInfo* info)
{
    MaarAllocator allocator = cuda->peer.allocator;
    const struct maar_device_facts* facts = &allocator->device.facts;
    VkResult result = maar_check_structure(allocator, call, "pCreateInfo", info,
                                           MAAR_STRUCTURE_TYPE_CUDA_MIRROR_CREATE_INFO);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, call, "pCreateInfo->pBufferInfo",
                                      info->pBufferInfo, VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    if (info->pBufferInfo->size == 0 || info->pBufferInfo->size > MAAR_RANGE_MAX_SIZE) {
        return maar_misuse(allocator,
                           info->pBufferInfo->size == 0 ? MAAR_MESSAGE_ID_ZERO_SIZE
                                                        : MAAR_MESSAGE_ID_OUT_OF_RANGE,
                           call, "pCreateInfo->pBufferInfo->size is 0 or beyond bounds");
    }
    if ((info->pBufferInfo->usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0 &&
        !facts->buffer_device_address) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, call,
                           "pCreateInfo->pBufferInfo->usage has SHADER_DEVICE_ADDRESS, but the "
                           "bufferDeviceAddress feature was not among pEnabledFeatures");
    }
    if (info->queue >= allocator->queue_count) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_OUT_OF_RANGE, call,
                           "pCreateInfo->queue is none of the allocator's pQueues");
    }
    const uint32_t family = allocator->queues[info->queue].familyIndex;
    if (family < facts->queue_family_count &&
        (facts->queue_flags[family] & VK_QUEUE_SPARSE_BINDING_BIT) == 0) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NO_QUEUE, call,
                           "pCreateInfo->queue is of a family without sparse binding");
    }
    const char* missing = !facts->sparse_buffers       ? "sparseResidencyBuffer was not enabled"
                          : !facts->timeline_semaphore ? "timelineSemaphore was not enabled"
                          : binds_something_else(&allocator->device)
                              ? "this driver binds something else than exportable memory"
                              : NULL;
    if (missing != NULL) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_PEER_NOT_SUPPORTED,
                    call, "%s", missing);
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    return VK_SUCCESS;
}

/* Makes the range with CUDA's granularity, which the buffer's pages must divide. Both then have a
 * size that fits both. */
static VkResult make_range(struct MaarCudaMirror_T* mirror, VkDeviceSize size)
{
    VkResult result = maarCreateCudaRange(mirror->cuda, size, &mirror->range);
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarCudaRangeInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_RANGE_INFO};
    result = maarGetCudaRangeInfo(mirror->range, &info);
    mirror->granularity = info.granularity;
    mirror->reserved = info.reservedSize;
    return result;
}

/* Counts this many bytes of sparse address space as the mirror's. */
static VkResult take_mirror_space(struct MaarCudaMirror_T* mirror, const char* call,
                                  VkDeviceSize size)
{
    MaarAllocator allocator = mirror->cuda->peer.allocator;
    if (size <= mirror->space) {
        return VK_SUCCESS;
    }
    VkResult result = maar_paging_take_space(allocator, call, size - mirror->space, NULL);
    mirror->space = result == VK_SUCCESS ? size : mirror->space;
    return result;
}

static VkResult make_sparse_buffer(struct MaarCudaMirror_T* mirror, const char* call,
                                   const VkBufferCreateInfo* given)
{
    MaarAllocator allocator = mirror->cuda->peer.allocator;
    const struct maar_device* device = &allocator->device;
    VkBufferCreateInfo info = *given;
    info.size = mirror->reserved;
    if (info.size > device->facts.max_buffer_size) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_OUT_OF_RANGE, call,
                    "a buffer of %llu bytes is above the device's maxBufferSize of %llu",
                    (unsigned long long)info.size,
                    (unsigned long long)device->facts.max_buffer_size);
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    info.flags |= (VkBufferCreateFlags)VK_BUFFER_CREATE_SPARSE_BINDING_BIT |
                  (VkBufferCreateFlags)VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT;
    struct maar_shared_buffer shared;
    VkResult result = maar_share_buffer(
        allocator, call, &info, (VkExternalMemoryHandleTypeFlags)mirror->cuda->peer.memory_type,
        VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT, &shared);
    if (result == VK_SUCCESS && shared.dedicated) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_NOT_EXPORTABLE, call,
                    "the driver exports the memory of such buffers only when it is dedicated");
        result = VK_ERROR_FEATURE_NOT_PRESENT;
    }
    if (result == VK_SUCCESS) {
        result = take_mirror_space(mirror, call, info.size);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    maar_lock_rank_expect_none();
    result = device->vkCreateBuffer(device->handle, shared.use, device->callbacks, &mirror->buffer);
    if (result != VK_SUCCESS) {
        mirror->buffer = VK_NULL_HANDLE;
        return result;
    }
    MaarMemoryRequest request;
    maar_buffer_request(allocator, mirror->buffer, &request);
    mirror->type_bits = request.requirements.memoryTypeBits;
    if (mirror->granularity % request.requirements.alignment != 0) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_PEER_NOT_SUPPORTED,
                    call, "pages of %llu bytes do not divide CUDA's granularity of %llu",
                    (unsigned long long)request.requirements.alignment,
                    (unsigned long long)mirror->granularity);
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    /* The bytes that the driver adds by rounding count too. */
    return take_mirror_space(mirror, call, request.requirements.size);
}

/* Releases the parts of a mirror that exist, the buffer before its memory. */
static void discard_mirror(struct MaarCudaMirror_T* mirror)
{
    MaarAllocator allocator = mirror->cuda->peer.allocator;
    const struct maar_device* device = &allocator->device;
    maarDestroyCudaRange(mirror->range);
    maar_lock_rank_expect_none();
    if (mirror->buffer != VK_NULL_HANDLE) {
        device->vkDestroyBuffer(device->handle, mirror->buffer, device->callbacks);
    }
    if (mirror->space != 0) {
        maar_paging_return_space(allocator, mirror->space);
    }
    if (mirror->timeline != VK_NULL_HANDLE) {
        device->vkDestroySemaphore(device->handle, mirror->timeline, device->callbacks);
    }
    maarFreeMemories(allocator, mirror->block_count, mirror->blocks);
    maar_host_free(allocator->callbacks, mirror->blocks);
    maar_host_free(allocator->callbacks, mirror);
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateCudaMirror(MaarCuda cuda,
                                                    const MaarCudaMirrorCreateInfo* pCreateInfo,
                                                    MaarCudaMirror* pMirror)
{
    if (pMirror != NULL) {
        *pMirror = VK_NULL_HANDLE;
    }
    if (cuda == VK_NULL_HANDLE) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    MaarAllocator allocator = cuda->peer.allocator;
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pMirror == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__, "pMirror is NULL");
    }
    result = check_mirror(cuda, __func__, pCreateInfo);
    if (result == VK_SUCCESS) {
        result = maar_paging_require(allocator, __func__, true);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarCudaMirror mirror = maar_host_calloc(allocator->callbacks, 1, sizeof *mirror);
    if (mirror == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    mirror->cuda = cuda;
    mirror->queue = pCreateInfo->queue;
    result = make_range(mirror, pCreateInfo->pBufferInfo->size);
    if (result == VK_SUCCESS) {
        result = make_sparse_buffer(mirror, __func__, pCreateInfo->pBufferInfo);
    }
    if (result == VK_SUCCESS) {
        result = maar_timeline_create(&allocator->device, 0, &mirror->timeline);
    }
    if (result != VK_SUCCESS) {
        discard_mirror(mirror);
        return result;
    }
    *pMirror = mirror;
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL maarDestroyCudaMirror(MaarCudaMirror mirror)
{
    if (mirror != VK_NULL_HANDLE) {
        discard_mirror(mirror);
    }
}

/* Binds, or unbinds with a null memory, and waits until that is done. *submitted: the bind may
 * happen, whatever the result. */
static VkResult bind_block(struct MaarCudaMirror_T* mirror, VkDeviceMemory memory,
                           VkDeviceSize size, bool* submitted)
{
    MaarAllocator allocator = mirror->cuda->peer.allocator;
    const struct maar_device* device = &allocator->device;
    const MaarQueue* queue = &allocator->queues[mirror->queue];
    const VkSparseMemoryBind bind = {
        .resourceOffset = mirror->size,
        .size = size,
        .memory = memory,
    };
    const VkSparseBufferMemoryBindInfo buffer = {mirror->buffer, 1, &bind};
    const uint64_t value = mirror->bind_count + 1;
    const VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    const VkBindSparseInfo info = {
        .sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
        .pNext = &timeline,
        .bufferBindCount = 1,
        .pBufferBinds = &buffer,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &mirror->timeline,
    };
    maar_queue_lock(queue);
    VkResult result = device->vkQueueBindSparse(queue->queue, 1, &info, VK_NULL_HANDLE);
    maar_queue_unlock(queue);
    *submitted = result == VK_SUCCESS;
    maar_note_loss(allocator, result);
    if (result != VK_SUCCESS) {
        return result;
    }
    mirror->bind_count = value;
    const VkSemaphoreWaitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &mirror->timeline,
        .pValues = &value,
    };
    result = device->vkWaitSemaphores(device->handle, &wait, BIND_TIMEOUT_NS);
    maar_note_loss(allocator, result);
    return result == VK_TIMEOUT ? VK_ERROR_DEVICE_LOST : result;
}

static VkResult allocate_mirror_block(struct MaarCudaMirror_T* mirror, VkDeviceSize size,
                                      MaarAllocation* allocation)
{
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = (VkExternalMemoryHandleTypeFlags)mirror->cuda->peer.memory_type,
    };
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pNext = &export,
        .usage = MAAR_MEMORY_USAGE_DEVICE_LOCAL,
        .dedicated = MAAR_DEDICATED_ALWAYS,
        .pName = "CUDA mirror",
    };
    const MaarMemoryRequest request = {
        .sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST,
        .requirements = {size, mirror->granularity, mirror->type_bits},
        .kind = MAAR_RESOURCE_KIND_LINEAR,
    };
    return maarAllocateMemory(mirror->cuda->peer.allocator, &request, &how, allocation);
}

/* Ensures room for one more block in the list. */
static VkResult reserve_block_list(struct MaarCudaMirror_T* mirror)
{
    const VkAllocationCallbacks* callbacks = mirror->cuda->peer.allocator->callbacks;
    if (mirror->block_count < mirror->block_capacity) {
        return VK_SUCCESS;
    }
    const uint32_t capacity = mirror->block_capacity * 2 + 8;
    MaarAllocation* blocks = maar_host_calloc(callbacks, capacity, sizeof *blocks);
    if (blocks == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < mirror->block_count; ++i) {
        blocks[i] = mirror->blocks[i];
    }
    maar_host_free(callbacks, mirror->blocks);
    mirror->blocks = blocks;
    mirror->block_capacity = capacity;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGrowCudaMirror(MaarCudaMirror mirror, VkDeviceSize size)
{
    if (mirror == VK_NULL_HANDLE) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    MaarAllocator allocator = mirror->cuda->peer.allocator;
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS || size <= mirror->size) {
        return result;
    }
    if (size > mirror->reserved) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_OUT_OF_RANGE, __func__,
                    "size %llu is above the %llu bytes that the mirror can grow to",
                    (unsigned long long)size, (unsigned long long)mirror->reserved);
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    }
    const VkDeviceSize more = maar_align_up(size - mirror->size, mirror->granularity);
    MaarAllocation allocation = VK_NULL_HANDLE;
    result = reserve_block_list(mirror);
    if (result == VK_SUCCESS) {
        result = allocate_mirror_block(mirror, more, &allocation);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_slot* slot = maar_slot_resolve(&allocator->slots, allocation, &(uint32_t){0});
    bool is_bound = false;
    result = bind_block(mirror, maar_slot_block(slot)->memory, more, &is_bound);
    if (result == VK_SUCCESS) {
        result = maarAppendToCudaRange(mirror->range, allocation);
    }
    /* A block that cannot be unbound is released all the same: nobody may use the bytes beyond the
     * size. */
    if (result != VK_SUCCESS && is_bound) {
        (void)bind_block(mirror, VK_NULL_HANDLE, more, &is_bound);
    }
    if (result != VK_SUCCESS) {
        maarFreeMemory(allocator, allocation);
        return result;
    }
    mirror->blocks[mirror->block_count++] = allocation;
    mirror->size += more;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetCudaMirrorInfo(MaarCudaMirror mirror,
                                                     MaarCudaMirrorInfo* pInfo)
{
    VkResult result =
        maar_peer_enter(mirror != VK_NULL_HANDLE ? &mirror->cuda->peer : NULL, __func__, "pInfo",
                        pInfo, MAAR_STRUCTURE_TYPE_CUDA_MIRROR_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarCudaRangeInfo range = {.sType = MAAR_STRUCTURE_TYPE_CUDA_RANGE_INFO};
    result = maarGetCudaRangeInfo(mirror->range, &range);
    if (result != VK_SUCCESS) {
        return result;
    }
    pInfo->buffer = mirror->buffer;
    pInfo->devicePointer = range.devicePointer;
    pInfo->reservedSize = mirror->reserved;
    pInfo->size = mirror->size;
    pInfo->granularity = mirror->granularity;
    pInfo->blockCount = mirror->block_count;
    return VK_SUCCESS;
}
