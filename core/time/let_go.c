/*
 * Waits until nothing in the driver uses a timeline any more: see timeline.h.
 */
#include "core/port_time.h"
#include "core/queue_submit.h"
#include "core/time/timeline.h"

/* Submits a signal after all earlier submissions to a queue, and waits for it. No submission waits
 * for this signal's own semaphore. */
VkResult maar_timeline_let_go(const struct maar_device* device, const MaarQueue* queue,
                              uint64_t deadline_ns)
{
    VkSemaphore last = VK_NULL_HANDLE;
    VkResult result = maar_timeline_create(device, 0, &last);
    if (result == VK_SUCCESS) {
        const struct maar_submission submission = {
            .queue = queue,
            .signal = last,
            .signal_value = 1,
        };
        maar_queue_lock(queue);
        result = maar_submit(device, &submission, VK_NULL_HANDLE);
        maar_queue_unlock(queue);
    }
    if (result == VK_SUCCESS) {
        result = maar_timeline_wait(device, last, 1, maar_time_left_ns(deadline_ns));
    }
    device->vkDestroySemaphore(device->handle, last, device->callbacks);
    return result;
}
