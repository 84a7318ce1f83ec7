/*
 * One command buffer, recorded, submitted and waited for.
 */
#include "tests/device/device_commands.h"

static void barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkPipelineStageFlags to,
                    VkAccessFlags written, VkAccessFlags read)
{
    const VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = written,
        .dstAccessMask = read,
    };
    vkCmdPipelineBarrier(commands, from, to, 0, 1, &memory, 0, NULL, 0, NULL);
}

static void record(VkCommandBuffer commands, uint32_t count, const VkBuffer* buffers,
                   const VkDeviceSize* sizes, const uint32_t* words, VkBuffer readback)
{
    for (uint32_t i = 0; i < count; ++i) {
        vkCmdFillBuffer(commands, buffers[i], 0, sizes[i], words[i]);
    }
    barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
            VK_ACCESS_TRANSFER_WRITE_BIT, VK_ACCESS_TRANSFER_READ_BIT);
    VkDeviceSize at = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const VkBufferCopy copy = {.dstOffset = at, .size = sizes[i]};
        vkCmdCopyBuffer(commands, buffers[i], readback, 1, &copy);
        at += sizes[i];
    }
    barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT,
            VK_ACCESS_TRANSFER_WRITE_BIT, VK_ACCESS_HOST_READ_BIT);
}

static void submit(struct rig* rig, VkCommandBuffer commands, VkSemaphore timeline, uint64_t value)
{
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = timeline != VK_NULL_HANDLE ? &values : NULL,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = timeline != VK_NULL_HANDLE ? 1 : 0,
        .pSignalSemaphores = &timeline,
    };
    assert_int_equal(vkQueueSubmit(rig->queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(vkQueueWaitIdle(rig->queue), VK_SUCCESS);
}

void device_fill_and_read(struct rig* rig, uint32_t count, const VkBuffer* buffers,
                          const VkDeviceSize* sizes, const uint32_t* words, VkBuffer readback,
                          VkSemaphore timeline, uint64_t value)
{
    const VkCommandPoolCreateInfo pool_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = rig->recommendation.mainQueueFamily,
    };
    VkCommandPool pool = VK_NULL_HANDLE;
    assert_int_equal(vkCreateCommandPool(rig->device, &pool_info, NULL, &pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    VkCommandBuffer commands = NULL;
    assert_int_equal(vkAllocateCommandBuffers(rig->device, &allocate, &commands), VK_SUCCESS);
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    assert_int_equal(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    record(commands, count, buffers, sizes, words, readback);
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    submit(rig, commands, timeline, value);
    vkDestroyCommandPool(rig->device, pool, NULL);
}
