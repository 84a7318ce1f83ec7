/*
 * Copies between old and new objects: see moved_object.h.
 *
 * Each copy covers whole levels, which every queue family allows, and all aspects at once.
 */
#include "core/move/moved_object.h"
#include "core/objects/image_planes.h"

/* The sizes of one command, so that its array stays small on the stack. */
enum { REGIONS = 8, BARRIERS = 8 };

bool maar_moved_object_is_copied(const struct maar_move* move)
{
    return move->object != NULL && !move->is_dropped &&
           (move->object->new_object.image == VK_NULL_HANDLE ||
            move->object->layout != VK_IMAGE_LAYOUT_UNDEFINED);
}

bool maar_moved_object_loses(const struct maar_move* move)
{
    const struct maar_moved_object* object = move->object;
    return object->new_object.image == VK_NULL_HANDLE || !object->has_layout ||
           object->layout != VK_IMAGE_LAYOUT_UNDEFINED;
}

static bool is_copied_image(const struct maar_move* move)
{
    return move->object != NULL && move->object->new_object.image != VK_NULL_HANDLE &&
           maar_moved_object_is_copied(move);
}

VkResult maar_moved_objects_check_copies(const struct maar_move_batch* batch, const char* call,
                                         VkQueueFlags family_flags)
{
    MaarAllocator allocator = batch->allocator;
    const VkResult result = maar_moved_objects_require(batch, call);
    for (uint32_t i = 0; result == VK_SUCCESS && i < batch->count; ++i) {
        const struct maar_move* move = &batch->moves[i];
        const struct maar_moved_object* object = move->object;
        if (object == NULL || move->is_dropped || object->new_object.image == VK_NULL_HANDLE) {
            continue;
        }
        if (!object->has_layout && maar_move_is_under_way(allocator, move)) {
            return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                             MAAR_MESSAGE_ID_INVALID_LAYOUT, call,
                             "batch moves an image whose layout is not known (move %u); call "
                             "maarSetMovedImageLayouts first, or drop its move",
                             i);
        }
        if (family_flags != 0 && (family_flags & VK_QUEUE_GRAPHICS_BIT) == 0 &&
            maar_image_is_graphical(object->movable->image.format)) {
            return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_CANNOT_MOVE,
                             call,
                             "batch moves an image with a depth or stencil aspect (move %u), which "
                             "only queues that do graphics copy",
                             i);
        }
    }
    return result;
}

/* ---- transitions ---- */

/* Barriers that are recorded together. */
struct barrier_run {
    VkPipelineStageFlags before;
    VkPipelineStageFlags after;
    uint32_t count;
    VkImageMemoryBarrier barriers[BARRIERS];
};

static void flush_barriers(const struct maar_device* device, VkCommandBuffer commands,
                           struct barrier_run* run)
{
    if (run->count > 0) {
        device->vkCmdPipelineBarrier(commands, run->before, run->after, 0, 0, NULL, 0, NULL,
                                     run->count, run->barriers);
    }
    run->count = 0;
}

/* Adds the transition of a whole image, unless it is none. */
static void add_transition(const struct maar_device* device, VkCommandBuffer commands,
                           struct barrier_run* run, VkImage image, VkFormat format,
                           VkImageLayout from, VkImageLayout to)
{
    if (from == to) {
        return;
    }
    if (run->count == BARRIERS) {
        flush_barriers(device, commands, run);
    }
    run->barriers[run->count++] = maar_image_transition(image, format, from, to);
}

/* The layouts during the copies. An image that can be copied in its own layout keeps it. */
static VkImageLayout source_layout(VkImageLayout layout)
{
    return layout == VK_IMAGE_LAYOUT_GENERAL ? layout : VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
}

void maar_moved_objects_record_begin(const struct maar_move_batch* batch, VkCommandBuffer commands)
{
    const struct maar_device* device = &batch->allocator->device;
    struct barrier_run run = {
        .before = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
        .after = VK_PIPELINE_STAGE_TRANSFER_BIT,
    };
    for (uint32_t i = 0; i < batch->count; ++i) {
        if (is_copied_image(&batch->moves[i])) {
            const struct maar_moved_object* object = batch->moves[i].object;
            const VkFormat format = object->movable->image.format;
            add_transition(device, commands, &run, object->old_object.image, format, object->layout,
                           source_layout(object->layout));
            add_transition(device, commands, &run, object->new_object.image, format,
                           VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
        }
    }
    flush_barriers(device, commands, &run);
}

void maar_moved_objects_record_end(const struct maar_move_batch* batch, VkCommandBuffer commands)
{
    const struct maar_device* device = &batch->allocator->device;
    struct barrier_run run = {
        .before = VK_PIPELINE_STAGE_TRANSFER_BIT,
        .after = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
    };
    for (uint32_t i = 0; i < batch->count; ++i) {
        if (is_copied_image(&batch->moves[i])) {
            const struct maar_moved_object* object = batch->moves[i].object;
            const VkFormat format = object->movable->image.format;
            add_transition(device, commands, &run, object->old_object.image, format,
                           source_layout(object->layout), object->layout);
            add_transition(device, commands, &run, object->new_object.image, format,
                           VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, object->layout);
        }
    }
    flush_barriers(device, commands, &run);
}

/* ---- copies ---- */

static uint32_t level_extent(uint32_t extent, uint32_t level)
{
    return extent >> level != 0 ? extent >> level : 1;
}

/* Returns the copy of one level of a plane, with all its layers. */
static VkImageCopy copy_of_level(const VkImageCreateInfo* info,
                                 const struct maar_image_plane* plane, uint32_t level)
{
    const VkImageSubresourceLayers layers = {
        .aspectMask = plane->aspects,
        .mipLevel = level,
        .layerCount = info->arrayLayers,
    };
    return (VkImageCopy){
        .srcSubresource = layers,
        .dstSubresource = layers,
        .extent = {level_extent(info->extent.width, level) / plane->width_divisor,
                   level_extent(info->extent.height, level) / plane->height_divisor,
                   level_extent(info->extent.depth, level)},
    };
}

static void copy_image(const struct maar_device* device, VkCommandBuffer commands,
                       const struct maar_moved_object* object)
{
    const VkImageCreateInfo* info = &object->movable->image;
    struct maar_image_plane planes[MAAR_MOST_PLANES];
    VkImageCopy regions[REGIONS];
    const uint32_t plane_count = maar_image_planes(info->format, planes);
    const uint32_t total = plane_count * info->mipLevels;
    uint32_t count = 0;
    for (uint32_t i = 0; i < total; ++i) {
        regions[count++] = copy_of_level(info, &planes[i % plane_count], i / plane_count);
        if (count == REGIONS || i + 1 == total) {
            device->vkCmdCopyImage(commands, object->old_object.image,
                                   source_layout(object->layout), object->new_object.image,
                                   VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, count, regions);
            count = 0;
        }
    }
}

void maar_moved_objects_record_copies(const struct maar_move_batch* batch, VkCommandBuffer commands)
{
    const struct maar_device* device = &batch->allocator->device;
    for (uint32_t i = 0; i < batch->count; ++i) {
        const struct maar_moved_object* object = batch->moves[i].object;
        if (!maar_moved_object_is_copied(&batch->moves[i])) {
            continue;
        }
        if (object->new_object.image != VK_NULL_HANDLE) {
            copy_image(device, commands, object);
        } else {
            const VkBufferCopy region = {.size = object->movable->buffer.size};
            device->vkCmdCopyBuffer(commands, object->old_object.buffer, object->new_object.buffer,
                                    1, &region);
        }
    }
}
