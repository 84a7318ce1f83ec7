/*
 * Mirrors: a sparse buffer and a range of CUDA addresses that grow together, so that both sides see
 * the same bytes at the same offsets. Each growth makes one block. The block is bound to the buffer
 * and mapped into the range at the same offset, as a whole, because CUDA maps the memory of a
 * handle only from its first byte on.
 *
 * A growth first binds the block, then waits for the bind, and then maps the block: a bind can be
 * undone, while a range only grows. The caller synchronizes the calls on a mirror.
 */
#include "core/memory/allocate.h"
#include "core/memory/allocation_free.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/queue_index.h"
#include "core/memory/slot_home.h"
#include "core/objects/object.h"
#include "core/objects/shared_object.h"
#include "core/paging/address_space.h"
#include "core/paging/paging_open.h"
#include "core/queue_lock.h"
#include "core/time/timeline.h"
#include "interop/cuda/cuda_internal.h"

/* The longest wait for a bind. If a bind takes longer, the device counts as lost. */
#define BIND_TIMEOUT_NS ((uint64_t)10000000000)

/* The memory of one growth. The list begins with the newest block. */
struct mirror_block {
    struct mirror_block* previous;
    MaarAllocation allocation;
};

struct maar_cuda_mirror {
    struct maar_peer_object object; /* first */
    struct maar_cuda_range* range;
    VkBuffer buffer;
    uint32_t queue;       /* submits the binds */
    VkSemaphore timeline; /* counts the binds that the device has done */
    uint64_t bind_count;
    uint32_t type_bits;       /* the memory types that the buffer may live in */
    VkDeviceSize space;       /* bytes that the buffer takes of the device's sparse address space */
    VkDeviceSize reserved;    /* bytes that the mirror can grow to */
    VkDeviceSize size;        /* bytes that have blocks behind them */
    VkDeviceSize granularity; /* the size of a block is a multiple of this */
    struct mirror_block* blocks;
    uint32_t block_count;
};

/* ---- the create info ---- */

/* Returns whether the driver is known to bind the wrong memory when exportable memory is bound to a
 * sparse buffer. */
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

static VkResult check_mirror_buffer(MaarAllocator allocator, const char* call,
                                    const VkBufferCreateInfo* info)
{
    VkResult result = maar_check_structure(allocator, call, "pCreateInfo->pBufferInfo", info,
                                           VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (info->size == 0) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_ZERO_SIZE, call,
                           "pCreateInfo->pBufferInfo->size is 0");
    }
    if (!maar_buffer_has_usage(info)) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_EMPTY_FLAGS, call,
                           "pCreateInfo->pBufferInfo->usage is 0");
    }
    const struct maar_bound bounds[] = {
        {info->size > MAAR_RANGE_MAX_SIZE, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "pCreateInfo->pBufferInfo->size is above MAAR_RANGE_MAX_SIZE",
         MAAR_SHOW_BYTES(info->size, MAAR_RANGE_MAX_SIZE)},
        {0},
    };
    result = maar_check_bounds(allocator, call, bounds);
    if (result != VK_SUCCESS) {
        return result;
    }
    if ((info->usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0 &&
        !allocator->device.facts.buffer_device_address) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, call,
                           "pCreateInfo->pBufferInfo->usage has SHADER_DEVICE_ADDRESS, but the "
                           "bufferDeviceAddress feature was not among pEnabledFeatures");
    }
    return VK_SUCCESS;
}

static VkResult check_mirror_queue(MaarAllocator allocator, const char* call, uint32_t queue)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    if (queue >= allocator->queue_count) {
        return maar_refuse_queue_index(allocator, call, "pCreateInfo->queue", queue);
    }
    const uint32_t family = allocator->queues[queue].familyIndex;
    if (family < facts->queue_family_count &&
        (facts->queue_flags[family] & VK_QUEUE_SPARSE_BINDING_BIT) == 0) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NO_QUEUE, call,
                           "pCreateInfo->queue belongs to a family without sparse binding");
    }
    return VK_SUCCESS;
}

/* Reports what the device lacks. */
static VkResult check_mirror_device(MaarAllocator allocator, const char* call)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    const char* missing = NULL;
    if (!facts->sparse_buffers) {
        missing = "sparseResidencyBuffer is not among MaarAllocatorCreateInfo::pEnabledFeatures";
    } else if (!facts->timeline_semaphore) {
        missing = "timelineSemaphore is not among MaarAllocatorCreateInfo::pEnabledFeatures";
    } else if (binds_something_else(&allocator->device)) {
        missing = "this driver binds the wrong memory when exportable memory is bound";
    }
    if (missing == NULL) {
        return VK_SUCCESS;
    }
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_PEER_NOT_SUPPORTED, call,
                "%s", missing);
    return VK_ERROR_FEATURE_NOT_PRESENT;
}

static VkResult check_mirror(MaarAllocator allocator, const char* call,
                             const MaarCudaMirrorCreateInfo* info)
{
    VkResult result = maar_check_structure(allocator, call, "pCreateInfo", info,
                                           MAAR_STRUCTURE_TYPE_CUDA_MIRROR_CREATE_INFO);
    if (result == VK_SUCCESS) {
        result = check_mirror_buffer(allocator, call, info->pBufferInfo);
    }
    if (result == VK_SUCCESS) {
        result = check_mirror_queue(allocator, call, info->queue);
    }
    return result == VK_SUCCESS ? check_mirror_device(allocator, call) : result;
}

/* ---- making and ending ---- */

/* Makes the range before the buffer: the range rounds the size up to CUDA's granularity, and the
 * buffer gets the rounded size. */
static VkResult make_range(struct maar_cuda_mirror* mirror, const char* call, VkDeviceSize size)
{
    VkResult result =
        maar_cuda_range_create(maar_cuda_of(mirror->object.peer), call, size, &mirror->range);
    if (result == VK_SUCCESS) {
        MaarCudaRangeInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_RANGE_INFO};
        maar_cuda_range_read(mirror->range, &info);
        mirror->granularity = info.granularity;
        mirror->reserved = info.reservedSize;
    }
    return result;
}

/* Takes sparse address space until the mirror has `size` bytes of it. All sparse objects share this
 * address space. */
static VkResult take_mirror_space(struct maar_cuda_mirror* mirror, const char* call,
                                  VkDeviceSize size)
{
    MaarAllocator allocator = mirror->object.peer->allocator;
    if (size <= mirror->space) {
        return VK_SUCCESS;
    }
    VkResult result = maar_paging_take_space(allocator, call, size - mirror->space, NULL);
    mirror->space = result == VK_SUCCESS ? size : mirror->space;
    return result;
}

/* Fills in the create info of a buffer whose memory can be exported to CUDA block by block. */
static VkResult share_mirror_buffer(struct maar_cuda_mirror* mirror, const char* call,
                                    const VkBufferCreateInfo* info,
                                    struct maar_shared_buffer* shared)
{
    MaarAllocator allocator = mirror->object.peer->allocator;
    VkResult result = maar_share_buffer(
        allocator, call, info, (VkExternalMemoryHandleTypeFlags)mirror->object.peer->memory_type,
        VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT, shared);
    if (result == VK_SUCCESS && shared->dedicated) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_NOT_EXPORTABLE, call,
                    "the driver exports the memory of such buffers only when it is dedicated");
        result = VK_ERROR_FEATURE_NOT_PRESENT;
    }
    return result;
}

/* Reads what the buffer requires of its blocks. Takes more address space if the driver rounded the
 * size up. */
static VkResult measure_mirror_buffer(struct maar_cuda_mirror* mirror, const char* call)
{
    MaarAllocator allocator = mirror->object.peer->allocator;
    MaarMemoryRequest request;
    maar_buffer_request(allocator, mirror->buffer, &request);
    const VkDeviceSize page = request.requirements.alignment;
    if (mirror->granularity % page != 0) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_PEER_NOT_SUPPORTED,
                    call, "pages of %s do not divide CUDA's granularity of %s",
                    maar_show_bytes(page).text, maar_show_bytes(mirror->granularity).text);
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    mirror->type_bits = request.requirements.memoryTypeBits;
    return take_mirror_space(mirror, call, request.requirements.size);
}

static VkResult make_mirror_buffer(struct maar_cuda_mirror* mirror, const char* call,
                                   const VkBufferCreateInfo* given)
{
    MaarAllocator allocator = mirror->object.peer->allocator;
    const struct maar_device* device = &allocator->device;
    VkBufferCreateInfo info = *given;
    info.size = mirror->reserved;
    info.flags |= (VkBufferCreateFlags)VK_BUFFER_CREATE_SPARSE_BINDING_BIT |
                  (VkBufferCreateFlags)VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT;
    if (info.size > device->facts.max_buffer_size) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_OUT_OF_RANGE, call,
                    "a buffer of %s is above the device's maxBufferSize of %s",
                    maar_show_bytes(info.size).text,
                    maar_show_bytes(device->facts.max_buffer_size).text);
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    struct maar_shared_buffer shared;
    VkResult result = share_mirror_buffer(mirror, call, &info, &shared);
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
    return measure_mirror_buffer(mirror, call);
}

/* Releases the parts of a mirror that exist: the buffer before its memory. */
static void discard_mirror(struct maar_cuda_mirror* mirror, const char* call)
{
    MaarAllocator allocator = mirror->object.peer->allocator;
    const struct maar_device* device = &allocator->device;
    maar_peer_object_close(&mirror->object);
    maar_cuda_range_destroy(mirror->range, call);
    maar_discard_object(allocator, (struct maar_object){.buffer = mirror->buffer});
    if (mirror->space != 0) {
        maar_paging_return_space(allocator, mirror->space);
    }
    if (mirror->timeline != VK_NULL_HANDLE) {
        device->vkDestroySemaphore(device->handle, mirror->timeline, device->callbacks);
    }
    while (mirror->blocks != NULL) {
        struct mirror_block* block = mirror->blocks;
        mirror->blocks = block->previous;
        (void)maar_free_allocation(allocator, call, block->allocation);
        maar_host_free(allocator->callbacks, block);
    }
    maar_host_free(allocator->callbacks, mirror);
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateCudaMirror(MaarCuda cuda,
                                                    const MaarCudaMirrorCreateInfo* pCreateInfo,
                                                    MaarCudaMirror* pMirror)
{
    const struct maar_output outputs[] = {{"pMirror", pMirror, sizeof *pMirror}, {0}};
    VkResult result = maar_peer_enter_outputs(maar_peer_of_cuda(cuda), __func__, outputs);
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarAllocator allocator = cuda->peer.allocator;
    result = check_mirror(allocator, __func__, pCreateInfo);
    if (result == VK_SUCCESS) {
        result = maar_paging_require(allocator, __func__, true);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_cuda_mirror* mirror = maar_host_calloc(allocator->callbacks, 1, sizeof *mirror);
    if (mirror == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    mirror->object.peer = &cuda->peer;
    mirror->queue = pCreateInfo->queue;
    result = make_range(mirror, __func__, pCreateInfo->pBufferInfo->size);
    if (result == VK_SUCCESS) {
        result = make_mirror_buffer(mirror, __func__, pCreateInfo->pBufferInfo);
    }
    if (result == VK_SUCCESS) {
        result = maar_timeline_create(&allocator->device, 0, &mirror->timeline);
    }
    if (result == VK_SUCCESS) {
        result = maar_peer_object_open(&mirror->object, MAAR_OBJECT_CUDA_MIRROR);
    }
    if (result != VK_SUCCESS) {
        discard_mirror(mirror, __func__);
        return result;
    }
    *pMirror = MAAR_FROM_BITS(MaarCudaMirror, mirror->object.handle);
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL maarDestroyCudaMirror(MaarCuda cuda, MaarCudaMirror mirror)
{
    if (cuda == VK_NULL_HANDLE || mirror == VK_NULL_HANDLE) {
        return;
    }
    struct maar_cuda_mirror* own = maar_peer_object_claim(
        &cuda->peer, __func__, "mirror", MAAR_OBJECT_CUDA_MIRROR, MAAR_TO_BITS(mirror));
    if (own != NULL) {
        discard_mirror(own, __func__);
    }
}

/* ---- growth ---- */

/* Submits a bind of the bytes after the last block. The mirror's timeline counts the bind. */
static VkResult submit_bind(struct maar_cuda_mirror* mirror, VkDeviceMemory memory,
                            VkDeviceSize size)
{
    MaarAllocator allocator = mirror->object.peer->allocator;
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
    const VkResult result =
        allocator->device.vkQueueBindSparse(queue->queue, 1, &info, VK_NULL_HANDLE);
    maar_queue_unlock(queue);
    maar_note_loss(allocator, result);
    mirror->bind_count = result == VK_SUCCESS ? value : mirror->bind_count;
    return result;
}

/* Waits until the device has executed all binds that were submitted. */
static VkResult wait_for_binds(const struct maar_cuda_mirror* mirror)
{
    MaarAllocator allocator = mirror->object.peer->allocator;
    const VkResult result = maar_timeline_wait(&allocator->device, mirror->timeline,
                                               mirror->bind_count, BIND_TIMEOUT_NS);
    maar_note_loss(allocator, result);
    return result == VK_TIMEOUT ? VK_ERROR_DEVICE_LOST : result;
}

/* Places a block after the others, in the buffer and in the range. If a step after the bind fails,
 * the block is unbound again. If that fails too, the block is released nevertheless: nobody may use
 * the bytes beyond the mirror's size. */
static VkResult place_block(struct maar_cuda_mirror* mirror, const char* call,
                            const struct maar_slot* slot, VkDeviceSize size)
{
    MaarAllocator allocator = mirror->object.peer->allocator;
    VkResult result = submit_bind(mirror, maar_slot_block(allocator, slot)->memory, size);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = wait_for_binds(mirror);
    if (result == VK_SUCCESS) {
        result = maar_cuda_range_append(mirror->range, call, slot);
    }
    if (result != VK_SUCCESS && submit_bind(mirror, VK_NULL_HANDLE, size) == VK_SUCCESS) {
        (void)wait_for_binds(mirror);
    }
    return result;
}

static VkResult allocate_mirror_block(struct maar_cuda_mirror* mirror, const char* call,
                                      VkDeviceSize size, MaarAllocation* allocation)
{
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = (VkExternalMemoryHandleTypeFlags)mirror->object.peer->memory_type,
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
    MaarAllocator allocator = mirror->object.peer->allocator;
    const VkResult result = maar_allocate(allocator, call, &request, &how, allocation);
    if (result == VK_SUCCESS) {
        maar_allocation_own(allocator, *allocation);
    }
    return result;
}

/* Adds one block of this size. On failure nothing has changed. */
static VkResult add_mirror_block(struct maar_cuda_mirror* mirror, const char* call,
                                 VkDeviceSize size)
{
    MaarAllocator allocator = mirror->object.peer->allocator;
    struct mirror_block* block = maar_host_calloc(allocator->callbacks, 1, sizeof *block);
    if (block == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    VkResult result = allocate_mirror_block(mirror, call, size, &block->allocation);
    if (result == VK_SUCCESS) {
        const struct maar_slot* slot = maar_slot_of_own(allocator, block->allocation);
        result = place_block(mirror, call, slot, size);
        if (result != VK_SUCCESS) {
            (void)maar_free_allocation(allocator, call, block->allocation);
        }
    }
    if (result != VK_SUCCESS) {
        maar_host_free(allocator->callbacks, block);
        return result;
    }
    block->previous = mirror->blocks;
    mirror->blocks = block;
    ++mirror->block_count;
    mirror->size += size;
    return VK_SUCCESS;
}

/* Begins a public call that uses a mirror. */
static VkResult enter_mirror(MaarCuda cuda, const char* call, MaarCudaMirror mirror,
                             struct maar_cuda_mirror** own)
{
    void* object = NULL;
    const VkResult result =
        maar_peer_object_enter(maar_peer_of_cuda(cuda), call, "mirror", MAAR_OBJECT_CUDA_MIRROR,
                               MAAR_TO_BITS(mirror), &object);
    *own = object;
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGrowCudaMirror(MaarCuda cuda, MaarCudaMirror mirror,
                                                  VkDeviceSize size)
{
    struct maar_cuda_mirror* own = NULL;
    VkResult result = enter_mirror(cuda, __func__, mirror, &own);
    if (result != VK_SUCCESS || size <= own->size) {
        return result;
    }
    if (size > own->reserved) {
        maar_report(cuda->peer.allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                    __func__, "size %s is above the %s that the mirror can grow to",
                    maar_show_bytes(size).text, maar_show_bytes(own->reserved).text);
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    }
    return add_mirror_block(own, __func__, maar_align_up(size - own->size, own->granularity));
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetCudaMirrorInfo(MaarCuda cuda, MaarCudaMirror mirror,
                                                     MaarCudaMirrorInfo* pInfo)
{
    struct maar_cuda_mirror* own = NULL;
    VkResult result = enter_mirror(cuda, __func__, mirror, &own);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(cuda->peer.allocator, __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_CUDA_MIRROR_INFO);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarCudaRangeInfo range = {.sType = MAAR_STRUCTURE_TYPE_CUDA_RANGE_INFO};
    maar_cuda_range_read(own->range, &range);
    pInfo->buffer = own->buffer;
    pInfo->devicePointer = range.devicePointer;
    pInfo->reservedSize = own->reserved;
    pInfo->size = own->size;
    pInfo->granularity = own->granularity;
    pInfo->blockCount = own->block_count;
    return VK_SUCCESS;
}
