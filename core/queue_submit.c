/*
 * Submissions of Maar's own: see queue_submit.h.
 */
#include "core/queue_submit.h"

#include "core/check.h"

VkResult maar_submit(const struct maar_device* device, const struct maar_submission* submission,
                     VkCommandBuffer commands)
{
    VkPipelineStageFlags stages[MAAR_MOST_SUBMISSION_WAITS];
    MAAR_DEBUG_ASSERT(submission->wait_count <= MAAR_MOST_SUBMISSION_WAITS);
    for (uint32_t i = 0; i < submission->wait_count; ++i) {
        stages[i] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    }
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = submission->wait_count,
        .pWaitSemaphoreValues = submission->wait_values,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &submission->signal_value,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .waitSemaphoreCount = submission->wait_count,
        .pWaitSemaphores = submission->waits,
        .pWaitDstStageMask = stages,
        .commandBufferCount = commands != VK_NULL_HANDLE ? 1 : 0,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &submission->signal,
    };
    return device->vkQueueSubmit(submission->queue->queue, 1, &info, VK_NULL_HANDLE);
}
