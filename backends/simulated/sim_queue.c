/*
 * Queues. A submission checks its command buffers and signals its semaphores and its fence before
 * it returns; what it waits for is not waited for.
 */
#include "backends/simulated/sim.h"

static void sim_signal_fence(struct sim_device* device, enum sim_function function, VkFence fence)
{
    if (SIM_HANDLE(fence) == 0) {
        return;
    }
    struct sim_signal* signal = sim_object_get(device, function, SIM_HANDLE(fence), SIM_KIND_FENCE);
    if (signal == NULL) {
        return;
    }
    if (signal->signalled) {
        sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "the fence is signalled already");
    }
    signal->signalled = true;
    sim_condition_wake_all(&device->gpu->progress);
}

/* Begins a call on a queue: takes the lock unless it fails. */
static VkResult sim_queue_begin(VkQueue queue, enum sim_function function)
{
    struct sim_queue* q = (struct sim_queue*)(void*)queue;
    const VkResult result = sim_enter(q->device->gpu, q->device, function);
    if (result == VK_SUCCESS) {
        sim_lock_gpu(q->device->gpu);
        sim_claim(q->device->gpu, function, &q->busy, "VkQueue");
    }
    return result;
}

static void sim_queue_end(VkQueue queue)
{
    struct sim_queue* q = (struct sim_queue*)(void*)queue;
    q->busy--;
    sim_unlock_gpu(q->device->gpu);
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_queue_submit(VkQueue queue, uint32_t submitCount,
                                                       const VkSubmitInfo* pSubmits, VkFence fence)
{
    struct sim_device* d = ((struct sim_queue*)(void*)queue)->device;
    const VkResult result = sim_queue_begin(queue, SIM_FN_vkQueueSubmit);
    if (result != VK_SUCCESS) {
        return result;
    }
    for (uint32_t i = 0; i < submitCount; i++) {
        const VkSubmitInfo* submit = &pSubmits[i];
        const VkTimelineSemaphoreSubmitInfo* timeline =
            sim_chain_find(submit->pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
        for (uint32_t c = 0; c < submit->commandBufferCount; c++) {
            sim_command_check_submit(d, SIM_FN_vkQueueSubmit, submit->pCommandBuffers[c]);
        }
        for (uint32_t s = 0; s < submit->signalSemaphoreCount; s++) {
            const bool has_value = timeline != NULL && s < timeline->signalSemaphoreValueCount;
            sim_signal_semaphore_to(d, SIM_FN_vkQueueSubmit, submit->pSignalSemaphores[s],
                                    has_value ? timeline->pSignalSemaphoreValues[s] : 0);
        }
    }
    sim_signal_fence(d, SIM_FN_vkQueueSubmit, fence);
    sim_queue_end(queue);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_queue_submit2(VkQueue queue, uint32_t submitCount,
                                                        const VkSubmitInfo2* pSubmits,
                                                        VkFence fence)
{
    struct sim_device* d = ((struct sim_queue*)(void*)queue)->device;
    const VkResult result = sim_queue_begin(queue, SIM_FN_vkQueueSubmit2);
    if (result != VK_SUCCESS) {
        return result;
    }
    sim_need_feature(d, SIM_FN_vkQueueSubmit2, SIM_FEATURE_SYNCHRONIZATION2, "synchronization2");
    for (uint32_t i = 0; i < submitCount; i++) {
        const VkSubmitInfo2* submit = &pSubmits[i];
        for (uint32_t c = 0; c < submit->commandBufferInfoCount; c++) {
            sim_command_check_submit(d, SIM_FN_vkQueueSubmit2,
                                     submit->pCommandBufferInfos[c].commandBuffer);
        }
        for (uint32_t s = 0; s < submit->signalSemaphoreInfoCount; s++) {
            sim_signal_semaphore_to(d, SIM_FN_vkQueueSubmit2,
                                    submit->pSignalSemaphoreInfos[s].semaphore,
                                    submit->pSignalSemaphoreInfos[s].value);
        }
    }
    sim_signal_fence(d, SIM_FN_vkQueueSubmit2, fence);
    sim_queue_end(queue);
    return VK_SUCCESS;
}

/* Pages of one sparse buffer, or of the opaque part of a sparse image. */
static void sim_check_sparse_binds(struct sim_device* device, const struct sim_resource* resource,
                                   uint32_t count, const VkSparseMemoryBind* binds)
{
    const enum sim_function function = SIM_FN_vkQueueBindSparse;
    const struct sim_requirements* r = &resource->requirements[0];
    if (!resource->sparse) {
        sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "the resource is not sparse");
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const VkSparseMemoryBind* bind = &binds[i];
        const bool whole_pages =
            bind->resourceOffset % r->alignment == 0 &&
            (bind->size % r->alignment == 0 || bind->resourceOffset + bind->size == r->size);
        if (bind->size == 0 || bind->resourceOffset > r->size ||
            bind->size > r->size - bind->resourceOffset || !whole_pages) {
            sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_BIND_RANGE,
                        "%llu bytes at %llu are not pages of the resource",
                        (unsigned long long)bind->size, (unsigned long long)bind->resourceOffset);
        }
        if (SIM_HANDLE(bind->memory) == 0) {
            continue;
        }
        const struct sim_memory* memory =
            sim_object_get(device, function, SIM_HANDLE(bind->memory), SIM_KIND_MEMORY);
        if (memory == NULL) {
            continue;
        }
        if ((r->type_bits >> memory->type & 1u) == 0) {
            sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_BIND_TYPE,
                        "memory type %u is not in memoryTypeBits 0x%x", memory->type, r->type_bits);
        }
        if (bind->memoryOffset % r->alignment != 0) {
            sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_BIND_ALIGNMENT,
                        "memoryOffset %llu is not a multiple of %llu",
                        (unsigned long long)bind->memoryOffset, (unsigned long long)r->alignment);
        }
        if (bind->memoryOffset > memory->size || bind->size > memory->size - bind->memoryOffset) {
            sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_BIND_RANGE,
                        "%llu bytes at %llu end beyond the memory", (unsigned long long)bind->size,
                        (unsigned long long)bind->memoryOffset);
        }
    }
}

static void sim_check_bind_sparse(struct sim_device* d, const VkBindSparseInfo* info)
{
    for (uint32_t i = 0; i < info->bufferBindCount; i++) {
        const VkSparseBufferMemoryBindInfo* bind = &info->pBufferBinds[i];
        const struct sim_resource* resource =
            sim_object_get(d, SIM_FN_vkQueueBindSparse, SIM_HANDLE(bind->buffer), SIM_KIND_BUFFER);
        if (resource != NULL) {
            sim_check_sparse_binds(d, resource, bind->bindCount, bind->pBinds);
        }
    }
    for (uint32_t i = 0; i < info->imageOpaqueBindCount; i++) {
        const VkSparseImageOpaqueMemoryBindInfo* bind = &info->pImageOpaqueBinds[i];
        const struct sim_resource* resource =
            sim_object_get(d, SIM_FN_vkQueueBindSparse, SIM_HANDLE(bind->image), SIM_KIND_IMAGE);
        if (resource != NULL) {
            sim_check_sparse_binds(d, resource, bind->bindCount, bind->pBinds);
        }
    }
    if (info->imageBindCount != 0) {
        sim_violate(d->gpu, SIM_FN_vkQueueBindSparse, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "no image has sparse residency here");
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_queue_bind_sparse(VkQueue queue, uint32_t bindInfoCount,
                                                            const VkBindSparseInfo* pBindInfo,
                                                            VkFence fence)
{
    struct sim_queue* q = (struct sim_queue*)(void*)queue;
    struct sim_device* d = q->device;
    const VkResult result = sim_queue_begin(queue, SIM_FN_vkQueueBindSparse);
    if (result != VK_SUCCESS) {
        return result;
    }
    sim_need_feature(d, SIM_FN_vkQueueBindSparse, SIM_FEATURE_SPARSE_BINDING, "sparseBinding");
    if ((d->gpu->profile.queueFamilies[q->family].flags & VK_QUEUE_SPARSE_BINDING_BIT) == 0) {
        sim_violate(d->gpu, SIM_FN_vkQueueBindSparse, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "queue family %u cannot bind sparse resources", q->family);
    }
    for (uint32_t i = 0; i < bindInfoCount; i++) {
        const VkBindSparseInfo* info = &pBindInfo[i];
        const VkTimelineSemaphoreSubmitInfo* timeline =
            sim_chain_find(info->pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
        sim_check_bind_sparse(d, info);
        for (uint32_t s = 0; s < info->signalSemaphoreCount; s++) {
            const bool has_value = timeline != NULL && s < timeline->signalSemaphoreValueCount;
            sim_signal_semaphore_to(d, SIM_FN_vkQueueBindSparse, info->pSignalSemaphores[s],
                                    has_value ? timeline->pSignalSemaphoreValues[s] : 0);
        }
    }
    sim_signal_fence(d, SIM_FN_vkQueueBindSparse, fence);
    sim_queue_end(queue);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_queue_wait_idle(VkQueue queue)
{
    const VkResult result = sim_queue_begin(queue, SIM_FN_vkQueueWaitIdle);
    if (result == VK_SUCCESS) {
        sim_queue_end(queue);
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_device_wait_idle(VkDevice device)
{
    struct sim_device* d = SIM_DEVICE(device);
    return sim_enter(d->gpu, d, SIM_FN_vkDeviceWaitIdle);
}

const struct sim_entry sim_queue_entries[] = {
    SIM_ENTRY(vkQueueSubmit, sim_queue_submit),
    SIM_ENTRY(vkQueueSubmit2, sim_queue_submit2),
    SIM_ENTRY(vkQueueBindSparse, sim_queue_bind_sparse),
    SIM_ENTRY(vkQueueWaitIdle, sim_queue_wait_idle),
    SIM_ENTRY(vkDeviceWaitIdle, sim_device_wait_idle),
    {SIM_FN_COUNT, NULL},
};
