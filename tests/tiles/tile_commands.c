/*
 * One staging buffer, one command buffer at a time.
 */
#include "tests/tiles/tile_commands.h"

void tile_commands_open(struct tile_commands* commands, struct rig* rig, VkDeviceSize size)
{
    memset(commands, 0, sizeof *commands);
    commands->rig = rig;
    commands->size = size;
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
        .queueFamilyIndex = rig->recommendation.mainQueueFamily,
    };
    assert_int_equal(vkCreateCommandPool(rig->device, &pool, NULL, &commands->pool), VK_SUCCESS);
    VkBufferCreateInfo info = rig_buffer_info(size);
    info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    assert_int_equal(
        maarCreateBuffer(rig->allocator, &info, &how, &commands->buffer, &commands->memory),
        VK_SUCCESS);
    commands->data = maarGetMappedData(rig->allocator, commands->memory);
    assert_non_null(commands->data);
}

void tile_commands_close(struct tile_commands* commands)
{
    maarDestroyBuffer(commands->rig->allocator, commands->buffer, commands->memory);
    vkDestroyCommandPool(commands->rig->device, commands->pool, NULL);
}

void tile_commands_wait(struct tile_commands* commands)
{
    assert_int_equal(vkDeviceWaitIdle(commands->rig->device), VK_SUCCESS);
}

VkCommandBuffer tile_commands_begin(struct tile_commands* commands)
{
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = commands->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    VkCommandBuffer buffer = NULL;
    assert_int_equal(vkAllocateCommandBuffers(commands->rig->device, &allocate, &buffer),
                     VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(buffer, &begin), VK_SUCCESS);
    return buffer;
}

void tile_commands_submit(struct tile_commands* commands, VkCommandBuffer buffer,
                          const MaarPoint* point, const MaarPoint* signal)
{
    const uint64_t wait_value = point != NULL ? point->value : 0;
    const uint64_t signal_value = signal != NULL ? signal->value : 0;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = point != NULL ? 1 : 0,
        .pWaitSemaphoreValues = &wait_value,
        .signalSemaphoreValueCount = signal != NULL ? 1 : 0,
        .pSignalSemaphoreValues = &signal_value,
    };
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .waitSemaphoreCount = point != NULL ? 1 : 0,
        .pWaitSemaphores = point != NULL ? &point->semaphore : NULL,
        .pWaitDstStageMask = &stage,
        .commandBufferCount = 1,
        .pCommandBuffers = &buffer,
        .signalSemaphoreCount = signal != NULL ? 1 : 0,
        .pSignalSemaphores = signal != NULL ? &signal->semaphore : NULL,
    };
    assert_int_equal(vkEndCommandBuffer(buffer), VK_SUCCESS);
    assert_int_equal(vkQueueSubmit(commands->rig->queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
}

void tile_commands_end(struct tile_commands* commands, VkCommandBuffer buffer,
                       const MaarPoint* point)
{
    tile_commands_submit(commands, buffer, point, NULL);
    tile_commands_wait(commands);
    vkFreeCommandBuffers(commands->rig->device, commands->pool, 1, &buffer);
}

void tile_commands_prepare(struct tile_commands* commands, VkImage image)
{
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .newLayout = VK_IMAGE_LAYOUT_GENERAL,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
                             .levelCount = VK_REMAINING_MIP_LEVELS,
                             .layerCount = VK_REMAINING_ARRAY_LAYERS},
    };
    VkCommandBuffer buffer = tile_commands_begin(commands);
    vkCmdPipelineBarrier(buffer, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         0, 0, NULL, 0, NULL, 1, &barrier);
    tile_commands_end(commands, buffer, NULL);
}

uint8_t tile_pattern(uint32_t seed, size_t i)
{
    const uint32_t mixed = (seed * 2654435761u) ^ ((uint32_t)i * 40503u);
    return (uint8_t)(mixed >> 11 ^ mixed >> 3);
}

static VkBufferImageCopy box_copy(const struct tile_box* box)
{
    return (VkBufferImageCopy){
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, box->level, box->layer, 1},
        .imageOffset = box->offset,
        .imageExtent = box->extent,
    };
}

static size_t box_size(const struct tile_commands* commands, uint32_t block,
                       const struct tile_box* box)
{
    const size_t size = (size_t)box->extent.width * box->extent.height * box->extent.depth * block;
    assert_true(size <= commands->size);
    return size;
}

void tile_commands_write(struct tile_commands* commands, VkImage image, uint32_t block,
                         const struct tile_box* box, uint32_t seed, const MaarPoint* point)
{
    const size_t size = box_size(commands, block, box);
    const VkBufferImageCopy copy = box_copy(box);
    for (size_t i = 0; i < size; ++i) {
        commands->data[i] = tile_pattern(seed, i);
    }
    assert_int_equal(
        maarFlushAllocation(commands->rig->allocator, commands->memory, 0, VK_WHOLE_SIZE),
        VK_SUCCESS);
    VkCommandBuffer buffer = tile_commands_begin(commands);
    vkCmdCopyBufferToImage(buffer, commands->buffer, image, VK_IMAGE_LAYOUT_GENERAL, 1, &copy);
    tile_commands_end(commands, buffer, point);
}

bool tile_commands_shows(struct tile_commands* commands, VkImage image, uint32_t block,
                         const struct tile_box* box, uint32_t seed)
{
    const size_t size = box_size(commands, block, box);
    const VkBufferImageCopy copy = box_copy(box);
    if (!rig_executes()) {
        return true;
    }
    memset(commands->data, 0xA5, size);
    VkCommandBuffer buffer = tile_commands_begin(commands);
    vkCmdCopyImageToBuffer(buffer, image, VK_IMAGE_LAYOUT_GENERAL, commands->buffer, 1, &copy);
    tile_commands_end(commands, buffer, NULL);
    assert_int_equal(
        maarInvalidateAllocation(commands->rig->allocator, commands->memory, 0, VK_WHOLE_SIZE),
        VK_SUCCESS);
    for (size_t i = 0; i < size; ++i) {
        if (commands->data[i] != tile_pattern(seed, i)) {
            print_message("level %u, layer %u, texel %d,%d,%d: byte %u is %u, not %u\n", box->level,
                          box->layer, box->offset.x, box->offset.y, box->offset.z, (uint32_t)i,
                          commands->data[i], tile_pattern(seed, i));
            return false;
        }
    }
    return true;
}
