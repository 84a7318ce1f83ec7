/*
 * Command buffers and readbacks of the tests of sharing.
 */
#include "tests/interop/gpu_work.h"

void gpu_begin(struct rig* rig, struct gpu_work* work)
{
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = rig->recommendation.mainQueueFamily,
    };
    assert_int_equal(vkCreateCommandPool(rig->device, &pool, NULL, &work->pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = work->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    assert_int_equal(vkAllocateCommandBuffers(rig->device, &allocate, &work->commands), VK_SUCCESS);
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    assert_int_equal(vkBeginCommandBuffer(work->commands, &begin), VK_SUCCESS);
}

void gpu_barrier(struct gpu_work* work)
{
    const VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                         VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT,
    };
    vkCmdPipelineBarrier(work->commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &memory,
                         0, NULL, 0, NULL);
}

void gpu_finish(struct rig* rig, struct gpu_work* work)
{
    gpu_barrier(work);
    assert_int_equal(vkEndCommandBuffer(work->commands), VK_SUCCESS);
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &work->commands,
    };
    assert_int_equal(vkQueueSubmit(rig->queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(vkQueueWaitIdle(rig->queue), VK_SUCCESS);
    vkDestroyCommandPool(rig->device, work->pool, NULL);
}

void gpu_readback_make(struct rig* rig, VkDeviceSize size, struct gpu_readback* readback)
{
    VkBufferCreateInfo info = rig_buffer_info(size);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    info.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    readback->size = size;
    assert_int_equal(
        maarCreateBuffer(rig->allocator, &info, &how, &readback->buffer, &readback->memory),
        VK_SUCCESS);
}

void gpu_readback_record(struct gpu_work* work, VkBuffer from, VkDeviceSize offset,
                         const struct gpu_readback* readback)
{
    const VkBufferCopy region = {.srcOffset = offset, .size = readback->size};
    vkCmdCopyBuffer(work->commands, from, readback->buffer, 1, &region);
}

void gpu_readback_copy(struct rig* rig, const struct gpu_readback* readback, void* bytes)
{
    assert_int_equal(
        maarCopyFromAllocation(rig->allocator, readback->memory, 0, readback->size, bytes),
        VK_SUCCESS);
}

void gpu_readback_destroy(struct rig* rig, struct gpu_readback* readback)
{
    maarDestroyBuffer(rig->allocator, readback->buffer, readback->memory);
}
