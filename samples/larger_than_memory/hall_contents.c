/*
 * Writes textures; see hall_contents.h. Afterwards they have the layout for shaders.
 */
#include "hall_contents.h"

#include "hall_texels.h"

#include <string.h>

#define SHOWN VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL
#define WRITTEN VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL
#define MOST_LEVELS 16u
#define PAINTED_LEVELS 4u /* the farther ones are too coarse for it */

static const uint8_t paint_colour[4] = {0xF4, 0xB8, 0x2A, 0xFF};

/* Returns the texels of the square in x and in y: a multiple of 8, as its place. */
static uint32_t square_of(const struct hall_contents* contents)
{
    return (contents->side / 10 + 7) & ~7u;
}

static bool create_upload(const struct sample_device* device, VkDeviceSize size, VkBuffer* buffer,
                          MaarAllocation* memory)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    const MaarAllocationCreateInfo upload = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                             .flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT,
                                             .usage = MAAR_MEMORY_USAGE_UPLOAD};
    return sample_succeeded(maarCreateBuffer(device->allocator, &info, &upload, buffer, memory),
                            "maarCreateBuffer");
}

bool hall_contents_create(struct hall_contents* contents, const struct sample_device* device,
                          uint32_t side)
{
    *contents = (struct hall_contents){.device = device, .side = side};
    const VkDeviceSize square = square_of(contents);
    bool done =
        create_upload(device, 4 * square * square, &contents->paint, &contents->paint_memory);
    for (uint32_t slot = 0; done && slot < SAMPLE_WORK_SLOTS; ++slot) {
        done = create_upload(device, hall_texels_size(side), &contents->staging[slot],
                             &contents->staging_memory[slot]);
    }
    for (VkDeviceSize i = 0; done && i < square * square; ++i) {
        done = sample_succeeded(
            maarCopyToAllocation(device->allocator, contents->paint_memory, 4 * i, 4, paint_colour),
            "maarCopyToAllocation");
    }
    return done;
}

void hall_contents_destroy(struct hall_contents* contents)
{
    if (contents->device == NULL) {
        return;
    }
    MaarAllocator const allocator = contents->device->allocator;
    maarDestroyBuffer(allocator, contents->paint, contents->paint_memory);
    for (uint32_t slot = 0; slot < SAMPLE_WORK_SLOTS; ++slot) {
        maarDestroyBuffer(allocator, contents->staging[slot], contents->staging_memory[slot]);
    }
    memset(contents, 0, sizeof(*contents));
}

static void change_layout(VkImage image, VkImageLayout from, VkImageLayout to,
                          VkCommandBuffer commands)
{
    const VkImageMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        .srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        .dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0, 1}};
    const VkDependencyInfo dependency = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                         .imageMemoryBarrierCount = 1,
                                         .pImageMemoryBarriers = &barrier};
    vkCmdPipelineBarrier2(commands, &dependency);
}

void hall_contents_show(const MaarResidentObject* object, VkCommandBuffer commands)
{
    if (object->layout != SHOWN) {
        change_layout(object->image, object->layout, SHOWN, commands);
    }
}

static void copy(const MaarResidentObject* object, VkBuffer from, uint32_t count,
                 const VkBufferImageCopy* regions, VkCommandBuffer commands)
{
    change_layout(object->image, object->layout, WRITTEN, commands);
    vkCmdCopyBufferToImage(commands, from, object->image, WRITTEN, count, regions);
    change_layout(object->image, WRITTEN, SHOWN, commands);
}

bool hall_contents_load(const struct hall_contents* contents, uint32_t slot, uint32_t texture,
                        const MaarResidentObject* object, VkCommandBuffer commands)
{
    MaarAllocator const allocator = contents->device->allocator;
    MaarAllocation const memory = contents->staging_memory[slot];
    const uint32_t level_count = hall_texels_levels(contents->side);
    VkBufferImageCopy regions[MOST_LEVELS];
    VkDeviceSize offset = 0;
    for (uint32_t level = 0; level < level_count; ++level) {
        const uint32_t side = contents->side >> level;
        regions[level] =
            (VkBufferImageCopy){.bufferOffset = offset,
                                .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, 1},
                                .imageExtent = {side, side, 1}};
        offset += (VkDeviceSize)4 * side * side;
    }
    hall_texels_fill(texture, contents->side, maarGetMappedData(allocator, memory));
    if (!sample_succeeded(maarFlushAllocation(allocator, memory, 0, VK_WHOLE_SIZE),
                          "maarFlushAllocation")) {
        return false;
    }
    copy(object, contents->staging[slot], level_count, regions, commands);
    return true;
}

void hall_contents_paint(const struct hall_contents* contents, const struct hall_eye* eye,
                         const MaarResidentObject* object, VkCommandBuffer commands)
{
    const uint32_t square = square_of(contents);
    const float free = (float)(contents->side - square);
    VkBufferImageCopy regions[PAINTED_LEVELS];
    float place[2];
    hall_scene_below(eye, place);
    for (uint32_t level = 0; level < PAINTED_LEVELS; ++level) {
        regions[level] = (VkBufferImageCopy){
            .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, 1},
            .imageOffset = {(int32_t)(((uint32_t)(place[0] * free) & ~7u) >> level),
                            (int32_t)(((uint32_t)(place[1] * free) & ~7u) >> level), 0},
            .imageExtent = {square >> level, square >> level, 1}};
    }
    copy(object, contents->paint, PAINTED_LEVELS, regions, commands);
}
