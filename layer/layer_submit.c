/*
 * Submissions and presents. layer/layer_submit.h describes what other files use.
 */
#include "layer/layer_submit.h"

#include "core/chain.h"
#include "layer/layer_budget.h"
#include "layer/layer_capture.h"
#include "layer/layer_sync.h"
#include "layer/layer_uses.h"

uint64_t maar_layer_record_batch(const struct layer_device* device, MaarCaptureSubmit* record,
                                 VkQueue queue, VkResult result)
{
    record->device = device->number;
    record->submission = maar_layer_next_submission();
    record->queue = (uint64_t)(uintptr_t)queue;
    record->result = result;
    maar_layer_write(device, MAAR_CAPTURE_KIND_SUBMIT, record, sizeof *record);
    return record->submission;
}

static void record_point(const struct layer_device* device, MaarCaptureKind kind,
                         uint64_t submission, VkSemaphore semaphore, uint64_t value)
{
    const MaarCapturePoint record = {.device = device->number,
                                     .submission = submission,
                                     .semaphore = MAAR_TO_BITS(semaphore),
                                     .value = value};
    maar_layer_write(device, kind, &record, sizeof record);
}

void maar_layer_record_points(const struct layer_device* device, MaarCaptureKind kind,
                              uint64_t submission, uint32_t count, const VkSemaphore* semaphores,
                              uint32_t value_count, const uint64_t* values)
{
    for (uint32_t i = 0; i < count; ++i) {
        const bool has_value = values != NULL && i < value_count;
        record_point(device, kind, submission, semaphores[i], has_value ? values[i] : 0);
    }
}

/* A call without batches only signals its fence. */
static void record_fence(struct layer_device* device, VkQueue queue, VkFence fence, VkResult result)
{
    MaarCaptureSubmit record = {.kind = MAAR_CAPTURE_SUBMIT_COMMANDS, .fence = MAAR_TO_BITS(fence)};
    if (fence != VK_NULL_HANDLE) {
        (void)maar_layer_record_batch(device, &record, queue, result);
    }
}

static void record_submit(struct layer_device* device, VkQueue queue, const VkSubmitInfo* info,
                          VkFence fence, VkResult result)
{
    const VkTimelineSemaphoreSubmitInfo none = {0};
    const VkTimelineSemaphoreSubmitInfo* values =
        maar_chain_find(info->pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    values = values != NULL ? values : &none;
    MaarCaptureSubmit record = {
        .kind = MAAR_CAPTURE_SUBMIT_COMMANDS,
        .fence = MAAR_TO_BITS(fence),
        .commandBufferCount = info->commandBufferCount,
        .waitCount = info->waitSemaphoreCount,
        .signalCount = info->signalSemaphoreCount,
    };
    const uint64_t number = maar_layer_record_batch(device, &record, queue, result);
    maar_layer_record_points(device, MAAR_CAPTURE_KIND_SUBMIT_WAIT, number,
                             info->waitSemaphoreCount, info->pWaitSemaphores,
                             values->waitSemaphoreValueCount, values->pWaitSemaphoreValues);
    maar_layer_record_points(device, MAAR_CAPTURE_KIND_SUBMIT_SIGNAL, number,
                             info->signalSemaphoreCount, info->pSignalSemaphores,
                             values->signalSemaphoreValueCount, values->pSignalSemaphoreValues);
    if (result == VK_SUCCESS) {
        maar_layer_record_uses(device, number, info->commandBufferCount, info->pCommandBuffers);
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_submit(VkQueue queue, uint32_t count,
                                                   const VkSubmitInfo* infos, VkFence fence)
{
    struct layer_device* const state = maar_layer_device_of(queue);
    maar_layer_forget_seen(state, MAAR_TO_BITS(fence));
    const VkResult result = state->next.QueueSubmit(queue, count, infos, fence);
    if (state->number == 0) {
        return result;
    }
    for (uint32_t i = 0; i < count; ++i) {
        record_submit(state, queue, &infos[i], i + 1 == count ? fence : VK_NULL_HANDLE, result);
    }
    if (count == 0) {
        record_fence(state, queue, fence, result);
    }
    maar_layer_record_budget(state);
    return result;
}

static void record_submit2(struct layer_device* device, VkQueue queue, const VkSubmitInfo2* info,
                           VkFence fence, VkResult result)
{
    MaarCaptureSubmit record = {
        .kind = MAAR_CAPTURE_SUBMIT_COMMANDS,
        .fence = MAAR_TO_BITS(fence),
        .commandBufferCount = info->commandBufferInfoCount,
        .waitCount = info->waitSemaphoreInfoCount,
        .signalCount = info->signalSemaphoreInfoCount,
    };
    const uint64_t number = maar_layer_record_batch(device, &record, queue, result);
    for (uint32_t i = 0; i < info->waitSemaphoreInfoCount; ++i) {
        const VkSemaphoreSubmitInfo* const point = &info->pWaitSemaphoreInfos[i];
        record_point(device, MAAR_CAPTURE_KIND_SUBMIT_WAIT, number, point->semaphore, point->value);
    }
    for (uint32_t i = 0; i < info->signalSemaphoreInfoCount; ++i) {
        const VkSemaphoreSubmitInfo* const point = &info->pSignalSemaphoreInfos[i];
        record_point(device, MAAR_CAPTURE_KIND_SUBMIT_SIGNAL, number, point->semaphore,
                     point->value);
    }
    if (result == VK_SUCCESS) {
        maar_layer_record_uses2(device, number, info->commandBufferInfoCount,
                                info->pCommandBufferInfos);
    }
}

static VkResult submit2_by(struct layer_device* device, PFN_vkQueueSubmit2 next, VkQueue queue,
                           uint32_t count, const VkSubmitInfo2* infos, VkFence fence)
{
    maar_layer_forget_seen(device, MAAR_TO_BITS(fence));
    const VkResult result = next(queue, count, infos, fence);
    if (device->number == 0) {
        return result;
    }
    for (uint32_t i = 0; i < count; ++i) {
        record_submit2(device, queue, &infos[i], i + 1 == count ? fence : VK_NULL_HANDLE, result);
    }
    if (count == 0) {
        record_fence(device, queue, fence, result);
    }
    maar_layer_record_budget(device);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_submit2(VkQueue queue, uint32_t count,
                                                    const VkSubmitInfo2* infos, VkFence fence)
{
    struct layer_device* const state = maar_layer_device_of(queue);
    return submit2_by(state, state->next.QueueSubmit2, queue, count, infos, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_submit2_khr(VkQueue queue, uint32_t count,
                                                        const VkSubmitInfo2* infos, VkFence fence)
{
    struct layer_device* const state = maar_layer_device_of(queue);
    return submit2_by(state, state->next.QueueSubmit2KHR, queue, count, infos, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_present(VkQueue queue, const VkPresentInfoKHR* info)
{
    struct layer_device* const state = maar_layer_device_of(queue);
    const VkResult result = state->next.QueuePresentKHR(queue, info);
    if (state->number == 0) {
        return result;
    }
    MaarCaptureSubmit batch = {.kind = MAAR_CAPTURE_SUBMIT_PRESENT,
                               .waitCount = info->waitSemaphoreCount};
    const uint64_t number = maar_layer_record_batch(state, &batch, queue, result);
    maar_layer_record_points(state, MAAR_CAPTURE_KIND_SUBMIT_WAIT, number, info->waitSemaphoreCount,
                             info->pWaitSemaphores, 0, NULL);
    const MaarCaptureFrame frame = {
        .device = state->number,
        .swapchainCount = info->swapchainCount,
        .queue = (uint64_t)(uintptr_t)queue,
        .swapchain = info->swapchainCount > 0 ? MAAR_TO_BITS(info->pSwapchains[0]) : 0,
        .frame = maar_atomic64_add(&state->frame_count, 1) - 1,
    };
    maar_layer_write(state, MAAR_CAPTURE_KIND_FRAME, &frame, sizeof frame);
    maar_layer_record_budget(state);
    return result;
}

const struct layer_hook maar_layer_submit_hooks[] = {
    LAYER_HOOK(QueueSubmit, queue_submit),
    LAYER_HOOK(QueueSubmit2, queue_submit2),
    LAYER_HOOK(QueueSubmit2KHR, queue_submit2_khr),
    LAYER_HOOK(QueuePresentKHR, queue_present),
    {NULL, NULL},
};
