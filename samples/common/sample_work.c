/*
 * Records and submits work; see sample_work.h.
 */
#include "sample_work.h"

#include <string.h>

#define LONGEST_WAIT_NS UINT64_C(60000000000)

static bool create_work_timeline(struct sample_work* work)
{
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    return sample_succeeded(vkCreateSemaphore(work->device->device, &info, NULL, &work->timeline),
                            "vkCreateSemaphore");
}

bool sample_work_create(struct sample_work* work, const struct sample_device* device)
{
    memset(work, 0, sizeof(*work));
    work->device = device;
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = device->queue_families[0]};
    if (!create_work_timeline(work) ||
        !sample_succeeded(vkCreateCommandPool(device->device, &pool, NULL, &work->pool),
                          "vkCreateCommandPool")) {
        return false;
    }
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = work->pool,
                                              .commandBufferCount = SAMPLE_WORK_SLOTS};
    VkCommandBuffer commands[SAMPLE_WORK_SLOTS];
    if (!sample_succeeded(vkAllocateCommandBuffers(device->device, &info, commands),
                          "vkAllocateCommandBuffers")) {
        return false;
    }
    for (uint32_t i = 0; i < SAMPLE_WORK_SLOTS; ++i) {
        work->slots[i].commands = commands[i];
    }
    return true;
}

void sample_work_destroy(struct sample_work* work)
{
    if (work->device == NULL) {
        return;
    }
    if (work->timeline != VK_NULL_HANDLE) {
        (void)sample_work_wait(work);
    }
    vkDestroyCommandPool(work->device->device, work->pool, NULL);
    vkDestroySemaphore(work->device->device, work->timeline, NULL);
    memset(work, 0, sizeof(*work));
}

bool sample_await(const struct sample_device* device, const MaarPoint* point)
{
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &point->semaphore,
                                      .pValues = &point->value};
    return sample_succeeded(vkWaitSemaphores(device->device, &info, LONGEST_WAIT_NS),
                            "vkWaitSemaphores");
}

bool sample_work_wait(struct sample_work* work)
{
    const MaarPoint last = {work->timeline, work->value};
    return sample_await(work->device, &last);
}

VkCommandBuffer sample_work_begin(struct sample_work* work)
{
    work->slot = (work->slot + 1) % SAMPLE_WORK_SLOTS;
    const MaarPoint done = {work->timeline, work->slots[work->slot].value};
    const VkCommandBuffer commands = work->slots[work->slot].commands;
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    const bool begun =
        sample_await(work->device, &done) &&
        sample_succeeded(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    return begun ? commands : NULL;
}

bool sample_work_submit(struct sample_work* work, const MaarPoint* wait, const MaarPoint* signal)
{
    static const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkSemaphore signals[2] = {work->timeline,
                                    signal != NULL ? signal->semaphore : VK_NULL_HANDLE};
    const uint64_t values[2] = {work->value + 1, signal != NULL ? signal->value : 0};
    const uint32_t wait_count = wait != NULL ? 1 : 0;
    const uint32_t signal_count = signal != NULL ? 2 : 1;
    const VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = wait_count,
        .pWaitSemaphoreValues = wait != NULL ? &wait->value : NULL,
        .signalSemaphoreValueCount = signal_count,
        .pSignalSemaphoreValues = values};
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = &timeline,
                               .waitSemaphoreCount = wait_count,
                               .pWaitSemaphores = wait != NULL ? &wait->semaphore : NULL,
                               .pWaitDstStageMask = &stage,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &work->slots[work->slot].commands,
                               .signalSemaphoreCount = signal_count,
                               .pSignalSemaphores = signals};
    if (!sample_succeeded(vkEndCommandBuffer(work->slots[work->slot].commands),
                          "vkEndCommandBuffer") ||
        !sample_succeeded(vkQueueSubmit(work->device->queues[0], 1, &info, VK_NULL_HANDLE),
                          "vkQueueSubmit")) {
        return false;
    }
    work->slots[work->slot].value = ++work->value;
    return true;
}
