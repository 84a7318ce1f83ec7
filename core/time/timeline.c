/*
 * Creates Maar's own timeline semaphores and waits for them: see timeline.h.
 */
#include "core/time/timeline.h"

#include "core/lock_rank.h"

VkResult maar_timeline_create(const struct maar_device* device, uint64_t initial,
                              VkSemaphore* timeline)
{
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
        .initialValue = initial,
    };
    const VkSemaphoreCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = &type,
    };
    maar_lock_rank_expect_none();
    const VkResult result =
        device->vkCreateSemaphore(device->handle, &info, device->callbacks, timeline);
    if (result != VK_SUCCESS) {
        *timeline = VK_NULL_HANDLE;
    }
    return result;
}

VkResult maar_timeline_wait(const struct maar_device* device, VkSemaphore timeline, uint64_t value,
                            uint64_t timeout_ns)
{
    const VkSemaphoreWaitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &timeline,
        .pValues = &value,
    };
    maar_lock_rank_expect_none();
    return device->vkWaitSemaphores(device->handle, &wait, timeout_ns);
}
