/*
 * Semaphores and fences. A wait ends when the value is reached, at the deadline, or when the device
 * is lost. Waiting threads sleep on the condition of their gpu.
 */
#include "backends/simulated/sim_sync.h"

#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_entries.h"
#include "backends/simulated/sim_known.h"
#include "backends/simulated/sim_submission.h"

/* The interval at which a waiting thread polls values that another process may change. It is short
 * enough for tests and long enough to cost almost nothing. */
static const uint64_t sim_look_every_ns = 1000000;

static VKAPI_ATTR VkResult VKAPI_CALL sim_create_semaphore(VkDevice device,
                                                           const VkSemaphoreCreateInfo* pCreateInfo,
                                                           const VkAllocationCallbacks* pAllocator,
                                                           VkSemaphore* pSemaphore)
{
    struct sim_device* d = SIM_DEVICE(device);
    *pSemaphore = VK_NULL_HANDLE;
    VkResult result = sim_enter(d->gpu, d, SIM_FN_vkCreateSemaphore);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct sim_signal* semaphore =
        sim_object_create(d, SIM_KIND_SEMAPHORE, sizeof(struct sim_signal), pAllocator);
    if (semaphore == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    const VkSemaphoreTypeCreateInfo* type =
        sim_chain_find(pCreateInfo->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    sim_lock_gpu(d->gpu);
    if (type != NULL && type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE) {
        sim_need_feature(d, SIM_FN_vkCreateSemaphore, SIM_FEATURE_TIMELINE, "timelineSemaphore");
        semaphore->timeline = true;
        semaphore->value = type->initialValue;
    }
    result = sim_payload_read(d, pCreateInfo, semaphore);
    if (result == VK_SUCCESS) {
        *pSemaphore = (VkSemaphore)semaphore->object.handle;
    } else {
        sim_object_remove(&semaphore->object);
    }
    sim_unlock_gpu(d->gpu);
    if (result != VK_SUCCESS) {
        sim_object_release(&semaphore->object);
    }
    return result;
}

static void sim_destroy_signal(VkDevice device, enum sim_function function, uint64_t handle,
                               enum sim_kind kind, const VkAllocationCallbacks* callbacks)
{
    struct sim_device* d = SIM_DEVICE(device);
    sim_enter(d->gpu, d, function);
    sim_lock_gpu(d->gpu);
    struct sim_signal* signal = sim_object_retire(d, function, handle, kind, callbacks);
    if (signal != NULL) {
        sim_known_release(signal);
        sim_payload_forget(signal, function);
    }
    sim_unlock_gpu(d->gpu);
    if (signal != NULL) {
        sim_object_release(&signal->object);
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_destroy_semaphore(VkDevice device, VkSemaphore semaphore,
                                                        const VkAllocationCallbacks* pAllocator)
{
    sim_destroy_signal(device, SIM_FN_vkDestroySemaphore, SIM_HANDLE(semaphore), SIM_KIND_SEMAPHORE,
                       pAllocator);
}

/* Returns a timeline semaphore. Records a violation and returns NULL for any other. Lock held. */
static struct sim_signal* sim_timeline_get(struct sim_device* device, enum sim_function function,
                                           VkSemaphore semaphore)
{
    struct sim_signal* signal =
        sim_object_get(device, function, SIM_HANDLE(semaphore), SIM_KIND_SEMAPHORE);
    if (signal != NULL && !signal->timeline) {
        sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_SEMAPHORE,
                    "the semaphore is binary");
        return NULL;
    }
    return signal;
}

void sim_signal_semaphore_to(struct sim_device* device, enum sim_function function,
                             VkSemaphore semaphore, uint64_t value)
{
    struct sim_signal* signal =
        sim_object_get(device, function, SIM_HANDLE(semaphore), SIM_KIND_SEMAPHORE);
    if (signal == NULL || !signal->timeline) {
        if (signal != NULL) {
            if ((device->gpu->flags & MAAR_SIMULATED_EXECUTE_BIT) != 0 &&
                sim_signal_value(signal) != 0) {
                sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_SEMAPHORE,
                            "a binary semaphore is signalled twice without a wait between");
            }
            sim_signal_set(signal, 1);
        }
        return;
    }
    const uint64_t now = sim_signal_value(signal);
    if (value <= now) {
        sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_SEMAPHORE,
                    "value %llu is not above the semaphore's %llu", (unsigned long long)value,
                    (unsigned long long)now);
        return;
    }
    sim_signal_set(signal, value);
    sim_condition_wake_all(&device->gpu->progress);
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_get_semaphore_value(VkDevice device,
                                                              VkSemaphore semaphore,
                                                              uint64_t* pValue)
{
    struct sim_device* d = SIM_DEVICE(device);
    VkResult result = sim_enter(d->gpu, d, SIM_FN_vkGetSemaphoreCounterValue);
    if (result != VK_SUCCESS) {
        return result;
    }
    sim_lock_gpu(d->gpu);
    sim_submissions_poll(d);
    const struct sim_signal* signal =
        sim_timeline_get(d, SIM_FN_vkGetSemaphoreCounterValue, semaphore);
    if (signal != NULL) {
        *pValue = sim_known_host_looks(signal);
    } else {
        result = VK_ERROR_VALIDATION_FAILED_EXT;
    }
    sim_unlock_gpu(d->gpu);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_signal_semaphore(VkDevice device,
                                                           const VkSemaphoreSignalInfo* pInfo)
{
    struct sim_device* d = SIM_DEVICE(device);
    const VkResult result = sim_enter(d->gpu, d, SIM_FN_vkSignalSemaphore);
    if (result != VK_SUCCESS) {
        return result;
    }
    sim_lock_gpu(d->gpu);
    struct sim_signal* signal = sim_timeline_get(d, SIM_FN_vkSignalSemaphore, pInfo->semaphore);
    if (signal != NULL) {
        sim_known_host_signals(signal, pInfo->value);
        sim_signal_semaphore_to(d, SIM_FN_vkSignalSemaphore, pInfo->semaphore, pInfo->value);
        if ((d->gpu->flags & MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT) == 0) {
            sim_submissions_run(d, UINT32_MAX);
        }
    }
    sim_unlock_gpu(d->gpu);
    return VK_SUCCESS;
}

static uint64_t sim_deadline(uint64_t timeout_ns)
{
    const uint64_t now = sim_time_ns();
    return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

/* Returns whether a wait may end according to its list. A violation also ends a wait. */
struct sim_wait {
    struct sim_device* device;
    uint32_t count;
    bool any;
    const VkSemaphore* semaphores; /* with values, or */
    const uint64_t* values;
    const VkFence* fences;
};

/* `looks`: the wait has no time to pass. `shared`: a signal from outside this gpu may end it. */
static bool sim_wait_is_over(const struct sim_wait* wait, bool looks, bool* broken, bool* shared)
{
    uint32_t reached = 0;
    *shared = false;
    for (uint32_t i = 0; i < wait->count; i++) {
        const struct sim_signal* signal =
            wait->semaphores != NULL
                ? sim_timeline_get(wait->device, SIM_FN_vkWaitSemaphores, wait->semaphores[i])
                : sim_object_get(wait->device, SIM_FN_vkWaitForFences, SIM_HANDLE(wait->fences[i]),
                                 SIM_KIND_FENCE);
        if (signal == NULL) {
            *broken = true;
            return true;
        }
        const uint64_t wanted = wait->semaphores != NULL ? wait->values[i] : 1;
        if ((looks ? sim_known_host_looks(signal) : sim_signal_value(signal)) >= wanted) {
            reached++;
            if (!looks) {
                sim_known_host_saw(signal, wanted);
            }
        }
        *shared = *shared || signal->pages != NULL;
    }
    return wait->any ? reached != 0 : reached == wait->count;
}

static VkResult sim_wait_for(const struct sim_wait* wait, uint64_t timeout_ns)
{
    struct sim_gpu* gpu = wait->device->gpu;
    const uint64_t deadline = sim_deadline(timeout_ns);
    bool broken = false;
    bool shared = false;
    VkResult result = VK_SUCCESS;
    sim_lock_gpu(gpu);
    if (timeout_ns != 0) {
        sim_submissions_run(wait->device, UINT32_MAX);
    }
    while (!sim_wait_is_over(wait, timeout_ns == 0, &broken, &shared)) {
        if (wait->device->lost) {
            result = VK_ERROR_DEVICE_LOST;
            break;
        }
        if (timeout_ns == 0 || sim_time_ns() >= deadline) {
            result = VK_TIMEOUT;
            break;
        }
        const uint64_t soon = sim_time_ns() + sim_look_every_ns;
        const bool looks = (shared || wait->device->pending != NULL) && soon < deadline;
        sim_condition_wait(&gpu->progress, &gpu->lock, looks ? soon : deadline);
        sim_submissions_run(wait->device, UINT32_MAX);
    }
    sim_unlock_gpu(gpu);
    return broken ? VK_ERROR_VALIDATION_FAILED_EXT : result;
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_wait_semaphores(VkDevice device,
                                                          const VkSemaphoreWaitInfo* pWaitInfo,
                                                          uint64_t timeout)
{
    struct sim_device* d = SIM_DEVICE(device);
    const VkResult result = sim_enter(d->gpu, d, SIM_FN_vkWaitSemaphores);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct sim_wait wait = {
        .device = d,
        .count = pWaitInfo->semaphoreCount,
        .any = (pWaitInfo->flags & VK_SEMAPHORE_WAIT_ANY_BIT) != 0,
        .semaphores = pWaitInfo->pSemaphores,
        .values = pWaitInfo->pValues,
    };
    return sim_wait_for(&wait, timeout);
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_create_fence(VkDevice device,
                                                       const VkFenceCreateInfo* pCreateInfo,
                                                       const VkAllocationCallbacks* pAllocator,
                                                       VkFence* pFence)
{
    struct sim_device* d = SIM_DEVICE(device);
    *pFence = VK_NULL_HANDLE;
    const VkResult result = sim_enter(d->gpu, d, SIM_FN_vkCreateFence);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct sim_signal* fence =
        sim_object_create(d, SIM_KIND_FENCE, sizeof(struct sim_signal), pAllocator);
    if (fence == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    fence->value = (pCreateInfo->flags & VK_FENCE_CREATE_SIGNALED_BIT) != 0 ? 1 : 0;
    *pFence = (VkFence)fence->object.handle;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL sim_destroy_fence(VkDevice device, VkFence fence,
                                                    const VkAllocationCallbacks* pAllocator)
{
    sim_destroy_signal(device, SIM_FN_vkDestroyFence, SIM_HANDLE(fence), SIM_KIND_FENCE,
                       pAllocator);
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_reset_fences(VkDevice device, uint32_t fenceCount,
                                                       const VkFence* pFences)
{
    struct sim_device* d = SIM_DEVICE(device);
    const VkResult result = sim_enter(d->gpu, d, SIM_FN_vkResetFences);
    if (result != VK_SUCCESS) {
        return result;
    }
    sim_lock_gpu(d->gpu);
    for (uint32_t i = 0; i < fenceCount; i++) {
        struct sim_signal* fence =
            sim_object_get(d, SIM_FN_vkResetFences, SIM_HANDLE(pFences[i]), SIM_KIND_FENCE);
        if (fence != NULL) {
            sim_known_forget(fence);
            fence->value = 0;
        }
    }
    sim_unlock_gpu(d->gpu);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_get_fence_status(VkDevice device, VkFence fence)
{
    struct sim_device* d = SIM_DEVICE(device);
    const VkResult result = sim_enter(d->gpu, d, SIM_FN_vkGetFenceStatus);
    if (result != VK_SUCCESS) {
        return result;
    }
    sim_lock_gpu(d->gpu);
    sim_submissions_poll(d);
    const struct sim_signal* signal =
        sim_object_get(d, SIM_FN_vkGetFenceStatus, SIM_HANDLE(fence), SIM_KIND_FENCE);
    const bool signalled = signal != NULL && sim_known_host_looks(signal) != 0;
    sim_unlock_gpu(d->gpu);
    return signalled ? VK_SUCCESS : VK_NOT_READY;
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_wait_for_fences(VkDevice device, uint32_t fenceCount,
                                                          const VkFence* pFences, VkBool32 waitAll,
                                                          uint64_t timeout)
{
    struct sim_device* d = SIM_DEVICE(device);
    const VkResult result = sim_enter(d->gpu, d, SIM_FN_vkWaitForFences);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct sim_wait wait = {
        .device = d, .count = fenceCount, .any = waitAll == VK_FALSE, .fences = pFences};
    return sim_wait_for(&wait, timeout);
}

const struct sim_entry sim_sync_entries[] = {
    SIM_ENTRY(vkCreateSemaphore, sim_create_semaphore),
    SIM_ENTRY(vkDestroySemaphore, sim_destroy_semaphore),
    SIM_ENTRY(vkGetSemaphoreCounterValue, sim_get_semaphore_value),
    SIM_ENTRY(vkSignalSemaphore, sim_signal_semaphore),
    SIM_ENTRY(vkWaitSemaphores, sim_wait_semaphores),
    SIM_ENTRY(vkCreateFence, sim_create_fence),
    SIM_ENTRY(vkDestroyFence, sim_destroy_fence),
    SIM_ENTRY(vkResetFences, sim_reset_fences),
    SIM_ENTRY(vkGetFenceStatus, sim_get_fence_status),
    SIM_ENTRY(vkWaitForFences, sim_wait_for_fences),
    {SIM_FN_COUNT, NULL},
};
