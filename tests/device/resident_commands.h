/*
 * Commands of random programs with residents: a ring of command buffers, and submissions to the
 * program's queue that signal one timeline.
 */
#ifndef MAAR_TESTS_DEVICE_RESIDENT_COMMANDS_H
#define MAAR_TESTS_DEVICE_RESIDENT_COMMANDS_H

#include "maar/residency.h"
#include "tests/rig/rig.h"

enum { COMMANDS = 16 };

static struct rig rig;
static VkCommandPool pool;
static VkCommandBuffer commands[COMMANDS];
static uint64_t command_ends[COMMANDS];
static VkSemaphore timeline;
static uint64_t submitted;
static uint32_t queue_index; /* of the program's queue */

static inline void wait_for(uint64_t value)
{
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &timeline,
        .pValues = &value,
    };
    assert_int_equal(vkWaitSemaphores(rig.device, &info, 20000000000), VK_SUCCESS);
}

static inline void open_commands(void)
{
    for (uint32_t i = 0; i < rig.create_info.queueCount; ++i) {
        queue_index = rig.paging_queues[i].queue == rig.queue ? i : queue_index;
    }
    const VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = rig.paging_queues[queue_index].familyIndex,
    };
    assert_int_equal(vkCreateCommandPool(rig.device, &info, NULL, &pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo how = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .commandBufferCount = COMMANDS,
    };
    assert_int_equal(vkAllocateCommandBuffers(rig.device, &how, commands), VK_SUCCESS);
    memset(command_ends, 0, sizeof command_ends);
    timeline = rig_create_timeline(&rig, 0);
    submitted = 0;
}

static inline VkCommandBuffer begin_commands(void)
{
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    const uint32_t at = (uint32_t)((submitted + 1) % COMMANDS);
    if (command_ends[at] > 0) {
        wait_for(command_ends[at]);
    }
    assert_int_equal(vkBeginCommandBuffer(commands[at], &begin), VK_SUCCESS);
    return commands[at];
}

static inline void barrier(VkCommandBuffer into, VkPipelineStageFlags after)
{
    const VkMemoryBarrier all = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
    };
    vkCmdPipelineBarrier(into, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, after, 0, 1, &all, 0, NULL, 0,
                         NULL);
}

/* Submits the commands that were begun last, after a point, and returns the point of their end. */
static inline MaarPoint submit_commands(const MaarUseInfo* use)
{
    const uint32_t at = (uint32_t)((submitted + 1) % COMMANDS);
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkSemaphore waits[2] = {timeline, use->wait.semaphore};
    const uint64_t values[2] = {submitted, use->wait.value};
    const VkPipelineStageFlags stages[2] = {stage, stage};
    barrier(commands[at], VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT);
    assert_int_equal(vkEndCommandBuffer(commands[at]), VK_SUCCESS);
    command_ends[at] = ++submitted;
    const uint32_t wait_count = use->mustWait == VK_TRUE ? 2 : 1;
    const VkTimelineSemaphoreSubmitInfo timelines = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = wait_count,
        .pWaitSemaphoreValues = values,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &submitted,
    };
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timelines,
        .waitSemaphoreCount = wait_count,
        .pWaitSemaphores = waits,
        .pWaitDstStageMask = stages,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands[at],
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &timeline,
    };
    assert_int_equal(vkQueueSubmit(rig.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    return (MaarPoint){timeline, submitted};
}

static inline void close_commands(void)
{
    vkDestroyCommandPool(rig.device, pool, NULL);
    vkDestroySemaphore(rig.device, timeline, NULL);
}

#endif
