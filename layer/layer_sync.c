/*
 * Semaphores, and what the host sees reached or reaches itself.
 *
 * Programs ask again and again for the value of a semaphore. A question whose answer is known from
 * before is not recorded: layer_device::seen keeps sums of objects and of what was seen of them, in
 * sets of slots. Objects that share a set only cost records.
 */
#include "layer/layer_sync.h"

#include "core/chain.h"
#include "core/port_time.h"
#include "layer/layer_capture.h"

enum { SEEN_WAYS = 4 }; /* slots of a set */

static maar_atomic64* seen_set(struct layer_device* device, uint64_t object)
{
    const uint64_t mixed = (object ^ (object >> 17)) * UINT64_C(0x9E3779B97F4A7C15);
    return &device->seen[(mixed >> 32) % (LAYER_SEEN_SLOTS / SEEN_WAYS) * SEEN_WAYS];
}

void maar_layer_forget_seen(struct layer_device* device, uint64_t object)
{
    maar_atomic64* const set = seen_set(device, object);
    for (size_t i = 0; i < SEEN_WAYS && object != 0; ++i) {
        maar_atomic64_store(&set[i], 0);
    }
}

/* Whether this is new, which it is not any more then. */
static bool is_news(struct layer_device* device, uint64_t object, uint64_t value)
{
    const uint64_t sum = (object + value * UINT64_C(0xD6E8FEB86659FD93)) | 1;
    maar_atomic64* const set = seen_set(device, object);
    for (size_t i = 0; i < SEEN_WAYS; ++i) {
        if (maar_atomic64_load(&set[i]) == sum) {
            return false;
        }
    }
    maar_atomic64_store(&set[(sum >> 32) % SEEN_WAYS], sum);
    return true;
}

static void record_reached(const struct layer_device* device, MaarCaptureObject kind,
                           uint64_t object, uint64_t value, uint64_t duration_ns)
{
    const MaarCaptureReached record = {
        .device = device->number,
        .objectKind = (uint32_t)kind,
        .object = object,
        .value = value,
        .duration_ns = duration_ns,
    };
    maar_layer_write(device, MAAR_CAPTURE_KIND_REACHED, &record, sizeof record);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_semaphore(VkDevice device,
                                                       const VkSemaphoreCreateInfo* info,
                                                       const VkAllocationCallbacks* callbacks,
                                                       VkSemaphore* semaphore)
{
    struct layer_device* const state = maar_layer_device_of(device);
    const VkResult result = state->next.CreateSemaphore(device, info, callbacks, semaphore);
    if (result == VK_SUCCESS) {
        const VkSemaphoreTypeCreateInfo* const type =
            maar_chain_find(info->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
        const bool is_timeline = type != NULL && type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE;
        const MaarCaptureSemaphore record = {
            .device = state->number,
            .isTimeline = is_timeline ? 1 : 0,
            .semaphore = MAAR_TO_BITS(*semaphore),
            .value = is_timeline ? type->initialValue : 0,
        };
        maar_layer_forget_seen(state, record.semaphore);
        maar_layer_write(state, MAAR_CAPTURE_KIND_SEMAPHORE, &record, sizeof record);
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_semaphore(VkDevice device, VkSemaphore semaphore,
                                                    const VkAllocationCallbacks* callbacks)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    if (semaphore != VK_NULL_HANDLE) {
        maar_layer_write_end(state, MAAR_CAPTURE_KIND_SEMAPHORE_END, MAAR_TO_BITS(semaphore));
    }
    state->next.DestroySemaphore(device, semaphore, callbacks);
}

/* Of a wait for any of several semaphores, only the driver knows which were reached. */
static bool is_reached(const struct layer_device* device, PFN_vkGetSemaphoreCounterValue ask,
                       VkSemaphore semaphore, uint64_t value)
{
    uint64_t present = 0;
    return ask != NULL && ask(device->handle, semaphore, &present) == VK_SUCCESS &&
           present >= value;
}

static VkResult wait_by(struct layer_device* device, PFN_vkWaitSemaphores next,
                        PFN_vkGetSemaphoreCounterValue ask, const VkSemaphoreWaitInfo* info,
                        uint64_t timeout)
{
    const uint64_t begin = maar_now_ns();
    const VkResult result = next(device->handle, info, timeout);
    if (result != VK_SUCCESS || device->number == 0) {
        return result;
    }
    const uint64_t duration_ns = maar_now_ns() - begin;
    const bool is_any = info->semaphoreCount > 1 && (info->flags & VK_SEMAPHORE_WAIT_ANY_BIT) != 0;
    for (uint32_t i = 0; i < info->semaphoreCount; ++i) {
        const uint64_t object = MAAR_TO_BITS(info->pSemaphores[i]);
        if ((!is_any || is_reached(device, ask, info->pSemaphores[i], info->pValues[i])) &&
            is_news(device, object, info->pValues[i])) {
            record_reached(device, MAAR_CAPTURE_OBJECT_SEMAPHORE, object, info->pValues[i],
                           duration_ns);
        }
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_semaphores(VkDevice device,
                                                      const VkSemaphoreWaitInfo* info,
                                                      uint64_t timeout)
{
    struct layer_device* const state = maar_layer_device_of(device);
    return wait_by(state, state->next.WaitSemaphores, state->next.GetSemaphoreCounterValue, info,
                   timeout);
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_semaphores_khr(VkDevice device,
                                                          const VkSemaphoreWaitInfo* info,
                                                          uint64_t timeout)
{
    struct layer_device* const state = maar_layer_device_of(device);
    return wait_by(state, state->next.WaitSemaphoresKHR, state->next.GetSemaphoreCounterValueKHR,
                   info, timeout);
}

static VkResult read_counter_by(struct layer_device* device, PFN_vkGetSemaphoreCounterValue next,
                                VkSemaphore semaphore, uint64_t* value)
{
    const VkResult result = next(device->handle, semaphore, value);
    const uint64_t object = MAAR_TO_BITS(semaphore);
    if (result == VK_SUCCESS && device->number != 0 && is_news(device, object, *value)) {
        record_reached(device, MAAR_CAPTURE_OBJECT_SEMAPHORE, object, *value, 0);
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL read_counter(VkDevice device, VkSemaphore semaphore,
                                                   uint64_t* value)
{
    struct layer_device* const state = maar_layer_device_of(device);
    return read_counter_by(state, state->next.GetSemaphoreCounterValue, semaphore, value);
}

static VKAPI_ATTR VkResult VKAPI_CALL read_counter_khr(VkDevice device, VkSemaphore semaphore,
                                                       uint64_t* value)
{
    struct layer_device* const state = maar_layer_device_of(device);
    return read_counter_by(state, state->next.GetSemaphoreCounterValueKHR, semaphore, value);
}

/* The host's signal is an end of what the device was doing with the bytes: it is recorded before
 * the call, since others may see the value at once. */
static VkResult signal_by(struct layer_device* device, PFN_vkSignalSemaphore next,
                          const VkSemaphoreSignalInfo* info)
{
    const MaarCaptureReached record = {
        .device = device->number,
        .objectKind = MAAR_CAPTURE_OBJECT_SEMAPHORE,
        .object = MAAR_TO_BITS(info->semaphore),
        .value = info->value,
        .isSignal = 1,
    };
    maar_layer_write(device, MAAR_CAPTURE_KIND_REACHED, &record, sizeof record);
    return next(device->handle, info);
}

static VKAPI_ATTR VkResult VKAPI_CALL signal_semaphore(VkDevice device,
                                                       const VkSemaphoreSignalInfo* info)
{
    struct layer_device* const state = maar_layer_device_of(device);
    return signal_by(state, state->next.SignalSemaphore, info);
}

static VKAPI_ATTR VkResult VKAPI_CALL signal_semaphore_khr(VkDevice device,
                                                           const VkSemaphoreSignalInfo* info)
{
    struct layer_device* const state = maar_layer_device_of(device);
    return signal_by(state, state->next.SignalSemaphoreKHR, info);
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_fences(VkDevice device, uint32_t count,
                                                  const VkFence* fences, VkBool32 wait_all,
                                                  uint64_t timeout)
{
    struct layer_device* const state = maar_layer_device_of(device);
    const uint64_t begin = maar_now_ns();
    const VkResult result = state->next.WaitForFences(device, count, fences, wait_all, timeout);
    if (result != VK_SUCCESS || state->number == 0) {
        return result;
    }
    const uint64_t duration_ns = maar_now_ns() - begin;
    for (uint32_t i = 0; i < count; ++i) {
        const bool reached =
            wait_all || count == 1 || state->next.GetFenceStatus(device, fences[i]) == VK_SUCCESS;
        if (reached && is_news(state, MAAR_TO_BITS(fences[i]), 1)) {
            record_reached(state, MAAR_CAPTURE_OBJECT_FENCE, MAAR_TO_BITS(fences[i]), 0,
                           duration_ns);
        }
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL fence_status(VkDevice device, VkFence fence)
{
    struct layer_device* const state = maar_layer_device_of(device);
    const VkResult result = state->next.GetFenceStatus(device, fence);
    if (result == VK_SUCCESS && state->number != 0 && is_news(state, MAAR_TO_BITS(fence), 1)) {
        record_reached(state, MAAR_CAPTURE_OBJECT_FENCE, MAAR_TO_BITS(fence), 0, 0);
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_wait_idle(VkQueue queue)
{
    const struct layer_device* const state = maar_layer_device_of(queue);
    const uint64_t begin = maar_now_ns();
    const VkResult result = state->next.QueueWaitIdle(queue);
    if (result == VK_SUCCESS) {
        record_reached(state, MAAR_CAPTURE_OBJECT_QUEUE, (uint64_t)(uintptr_t)queue, 0,
                       maar_now_ns() - begin);
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL device_wait_idle(VkDevice device)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    const uint64_t begin = maar_now_ns();
    const VkResult result = state->next.DeviceWaitIdle(device);
    if (result == VK_SUCCESS) {
        record_reached(state, MAAR_CAPTURE_OBJECT_DEVICE, state->number, 0, maar_now_ns() - begin);
    }
    return result;
}

const struct layer_hook maar_layer_sync_hooks[] = {
    LAYER_HOOK(CreateSemaphore, create_semaphore),
    LAYER_HOOK(DestroySemaphore, destroy_semaphore),
    LAYER_HOOK(WaitSemaphores, wait_semaphores),
    LAYER_HOOK(WaitSemaphoresKHR, wait_semaphores_khr),
    LAYER_HOOK(GetSemaphoreCounterValue, read_counter),
    LAYER_HOOK(GetSemaphoreCounterValueKHR, read_counter_khr),
    LAYER_HOOK(SignalSemaphore, signal_semaphore),
    LAYER_HOOK(SignalSemaphoreKHR, signal_semaphore_khr),
    LAYER_HOOK(WaitForFences, wait_fences),
    LAYER_HOOK(GetFenceStatus, fence_status),
    LAYER_HOOK(QueueWaitIdle, queue_wait_idle),
    LAYER_HOOK(DeviceWaitIdle, device_wait_idle),
    {NULL, NULL},
};
