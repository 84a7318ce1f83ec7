/*
 * The buffers and the texture that live as long as the program; see frame_assets.h.
 */
#include "frame_assets.h"

#include "frame_noise.h"

#include <stdlib.h>
#include <string.h>

static bool create_buffer(struct sample_device* device, VkDeviceSize size, VkBufferUsageFlags usage,
                          MaarMemoryUsage memory, struct frame_buffer* buffer)
{
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage};
    info.sharingMode =
        sample_device_sharing(device, &info.queueFamilyIndexCount, &info.pQueueFamilyIndices);
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .usage = memory};
    return sample_succeeded(
        maarCreateBuffer(device->allocator, &info, &how, &buffer->buffer, &buffer->allocation),
        "maarCreateBuffer");
}

/* Creates a buffer that the device reads, and fills it. The buffer is small enough for memory that
 * both host and device can access. */
static bool create_filled(struct sample_device* device, const void* data, VkDeviceSize size,
                          VkBufferUsageFlags usage, struct frame_buffer* buffer)
{
    return create_buffer(device, size, usage, MAAR_MEMORY_USAGE_DEVICE_UPLOAD, buffer) &&
           sample_succeeded(
               maarCopyToAllocation(device->allocator, buffer->allocation, 0, size, data),
               "maarCopyToAllocation");
}

static bool create_noise_image(struct frame_assets* assets, struct sample_device* device)
{
    VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {FRAME_NOISE_SIZE, FRAME_NOISE_SIZE, 1},
        .mipLevels = FRAME_NOISE_LEVELS,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
    };
    info.sharingMode =
        sample_device_sharing(device, &info.queueFamilyIndexCount, &info.pQueueFamilyIndices);
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .usage = MAAR_MEMORY_USAGE_DEVICE_LOCAL};
    if (!sample_succeeded(maarCreateImage(device->allocator, &info, &how, &assets->noise,
                                          &assets->noise_allocation),
                          "maarCreateImage")) {
        return false;
    }
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = assets->noise,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = info.format,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, FRAME_NOISE_LEVELS, 0, 1},
    };
    return sample_succeeded(vkCreateImageView(device->device, &view, NULL, &assets->noise_view),
                            "vkCreateImageView");
}

static void record_noise(VkCommandBuffer commands, VkBuffer source, VkImage image)
{
    VkBufferImageCopy regions[FRAME_NOISE_LEVELS];
    VkDeviceSize offset = 0;
    for (uint32_t level = 0; level < FRAME_NOISE_LEVELS; ++level) {
        const uint32_t size = FRAME_NOISE_SIZE >> level;
        regions[level] =
            (VkBufferImageCopy){.bufferOffset = offset,
                                .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, 1},
                                .imageExtent = {size, size, 1}};
        offset += (VkDeviceSize)4 * size * size;
    }
    VkImageMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .dstStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
        .dstAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
        .newLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, FRAME_NOISE_LEVELS, 0, 1},
    };
    const VkDependencyInfo dependency = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                         .imageMemoryBarrierCount = 1,
                                         .pImageMemoryBarriers = &barrier};
    vkCmdPipelineBarrier2(commands, &dependency);
    vkCmdCopyBufferToImage(commands, source, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                           FRAME_NOISE_LEVELS, regions);
    barrier.srcStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
    barrier.srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT;
    barrier.dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    barrier.dstAccessMask = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT;
    barrier.oldLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    barrier.newLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    vkCmdPipelineBarrier2(commands, &dependency);
}

/* Copies the noise to its image and waits. */
static bool upload_noise(struct frame_assets* assets, struct sample_device* device, VkBuffer source)
{
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                               .queueFamilyIndex = device->queue_families[0]};
    VkResult result = vkCreateCommandPool(device->device, &pool_info, NULL, &pool);
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = pool,
                                              .commandBufferCount = 1};
    if (result == VK_SUCCESS) {
        result = vkAllocateCommandBuffers(device->device, &info, &commands);
    }
    if (result == VK_SUCCESS) {
        const VkCommandBufferBeginInfo begin = {.sType =
                                                    VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
        result = vkBeginCommandBuffer(commands, &begin);
    }
    if (result == VK_SUCCESS) {
        record_noise(commands, source, assets->noise);
        result = vkEndCommandBuffer(commands);
    }
    if (result == VK_SUCCESS) {
        const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                     .commandBufferCount = 1,
                                     .pCommandBuffers = &commands};
        result = vkQueueSubmit(device->queues[0], 1, &submit, VK_NULL_HANDLE);
    }
    if (result == VK_SUCCESS) {
        result = vkQueueWaitIdle(device->queues[0]);
    }
    vkDestroyCommandPool(device->device, pool, NULL);
    return sample_succeeded(result, "copying the noise");
}

static bool create_noise(struct frame_assets* assets, struct sample_device* device)
{
    const uint32_t size = frame_noise_bytes();
    uint8_t* const texels = malloc(size);
    struct frame_buffer staging = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    bool done =
        sample_has_memory(texels) && create_buffer(device, size, VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
                                                   MAAR_MEMORY_USAGE_UPLOAD, &staging);
    if (done) {
        frame_noise_fill(texels);
        done = sample_succeeded(
                   maarCopyToAllocation(device->allocator, staging.allocation, 0, size, texels),
                   "maarCopyToAllocation") &&
               create_noise_image(assets, device) && upload_noise(assets, device, staging.buffer);
    }
    maarDestroyBuffer(device->allocator, staging.buffer, staging.allocation);
    free(texels);
    return done;
}

static bool create_constants(struct frame_assets* assets, struct sample_device* device,
                             const struct frame_scene* scene, const struct frame_options* options)
{
    const VkDeviceSize alignment = device->properties.limits.minUniformBufferOffsetAlignment;
    assets->constants_stride = sizeof(struct frame_constants) + alignment - 1;
    assets->constants_stride -= assets->constants_stride % alignment;
    const VkDeviceSize size = assets->constants_stride * options->frames;
    char* const all = calloc(1, size);
    bool done = sample_has_memory(all);
    for (uint32_t i = 0; done && i < options->frames; ++i) {
        struct frame_constants constants;
        frame_scene_constants(scene, i, options->width, options->height, &constants);
        memcpy(all + assets->constants_stride * i, &constants, sizeof(constants));
    }
    done = done &&
           create_filled(device, all, size, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, &assets->constants);
    free(all);
    return done;
}

bool frame_assets_create(struct frame_assets* assets, struct sample_device* device,
                         const struct frame_scene* scene, const struct frame_options* options)
{
    memset(assets, 0, sizeof(*assets));
    const struct frame_geometry* const geometry = &scene->geometry;
    assets->picture_size = (VkDeviceSize)4 * options->width * options->height;
    return create_filled(device, geometry->vertices,
                         sizeof(struct frame_vertex) * geometry->vertex_count,
                         VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, &assets->vertices) &&
           create_filled(device, geometry->indices, sizeof(uint32_t) * geometry->index_count,
                         VK_BUFFER_USAGE_INDEX_BUFFER_BIT, &assets->indices) &&
           create_filled(device, scene->instances,
                         sizeof(struct frame_instance) * scene->instance_count,
                         VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, &assets->instances) &&
           create_constants(assets, device, scene, options) &&
           create_buffer(device, assets->picture_size, VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                         MAAR_MEMORY_USAGE_READBACK, &assets->picture) &&
           create_noise(assets, device);
}

void frame_assets_destroy(struct frame_assets* assets, struct sample_device* device)
{
    struct frame_buffer* const buffers[] = {&assets->vertices, &assets->indices, &assets->instances,
                                            &assets->constants, &assets->picture};
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); ++i) {
        maarDestroyBuffer(device->allocator, buffers[i]->buffer, buffers[i]->allocation);
    }
    vkDestroyImageView(device->device, assets->noise_view, NULL);
    maarDestroyImage(device->allocator, assets->noise, assets->noise_allocation);
    memset(assets, 0, sizeof(*assets));
}
