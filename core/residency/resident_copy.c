/*
 * Copies of residents: see resident_copy.h.
 */
#include "core/residency/resident_copy.h"

#include "core/objects/image_planes.h"
#include "core/tile_cache/texel_block.h"

/* Regions of one command, so that their array stays small on the stack. */
enum { COPIED_REGIONS = 16 };

/* ---- regions ---- */

/* Bytes of a texel of the depth and the stencil aspect in a buffer. */
static uint32_t depth_bytes(VkFormat format)
{
    switch (format) {
    case VK_FORMAT_D16_UNORM:
    case VK_FORMAT_D16_UNORM_S8_UINT:
        return 2;
    case VK_FORMAT_X8_D24_UNORM_PACK32:
    case VK_FORMAT_D24_UNORM_S8_UINT:
    case VK_FORMAT_D32_SFLOAT:
    case VK_FORMAT_D32_SFLOAT_S8_UINT:
        return 4;
    default:
        return 0;
    }
}

/* Returns the texel block of one aspect of a format with one plane. */
static struct maar_texel_block texels_of_aspect(VkFormat format, VkImageAspectFlagBits aspect)
{
    switch (aspect) {
    case VK_IMAGE_ASPECT_COLOR_BIT:
        return maar_texel_block_of(format);
    case VK_IMAGE_ASPECT_DEPTH_BIT:
        return (struct maar_texel_block){1, 1, depth_bytes(format)};
    default:
        return (struct maar_texel_block){1, 1, 1};
    }
}

static uint32_t extent_of_level(uint32_t extent, uint32_t level)
{
    return extent >> level != 0 ? extent >> level : 1;
}

/* Offsets of copies are multiples of the texel block, and of four bytes. */
static VkDeviceSize align_region(VkDeviceSize offset, uint32_t block)
{
    const VkDeviceSize unit = block % 4 == 0 ? block : (VkDeviceSize)block * 4;
    return (offset + unit - 1) / unit * unit;
}

static const VkImageAspectFlagBits single_aspects[] = {
    VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_ASPECT_DEPTH_BIT, VK_IMAGE_ASPECT_STENCIL_BIT};
enum { SINGLE_ASPECTS = sizeof single_aspects / sizeof single_aspects[0] };

bool maar_is_copied_image(const VkImageCreateInfo* info)
{
    struct maar_image_plane planes[MAAR_MOST_PLANES];
    const VkImageAspectFlags aspects = maar_image_aspects(info->format);
    bool is_known =
        info->samples == VK_SAMPLE_COUNT_1_BIT && maar_image_planes(info->format, planes) == 1;
    for (uint32_t i = 0; i < SINGLE_ASPECTS; ++i) {
        const bool has_aspect = (aspects & (VkImageAspectFlags)single_aspects[i]) != 0;
        is_known = is_known &&
                   (!has_aspect || texels_of_aspect(info->format, single_aspects[i]).size != 0);
    }
    return is_known;
}

bool maar_region_next(struct maar_region_walk* walk, VkBufferImageCopy* region)
{
    const VkImageCreateInfo* info = walk->info;
    const VkImageAspectFlags aspects = maar_image_aspects(info->format);
    while (walk->aspect < SINGLE_ASPECTS &&
           (aspects & (VkImageAspectFlags)single_aspects[walk->aspect]) == 0) {
        ++walk->aspect;
    }
    if (walk->level >= info->mipLevels || walk->aspect == SINGLE_ASPECTS) {
        return false;
    }
    const VkImageAspectFlagBits aspect = single_aspects[walk->aspect];
    const struct maar_texel_block block = texels_of_aspect(info->format, aspect);
    const VkExtent3D extent = {extent_of_level(info->extent.width, walk->level),
                               extent_of_level(info->extent.height, walk->level),
                               extent_of_level(info->extent.depth, walk->level)};
    const VkDeviceSize columns = (extent.width + block.width - 1) / block.width;
    const VkDeviceSize rows = (extent.height + block.height - 1) / block.height;
    const VkDeviceSize offset = align_region(walk->end, block.size);
    *region = (VkBufferImageCopy){
        .bufferOffset = offset,
        .imageSubresource = {.aspectMask = (VkImageAspectFlags)aspect,
                             .mipLevel = walk->level,
                             .layerCount = info->arrayLayers},
        .imageExtent = extent,
    };
    walk->end = offset + columns * rows * extent.depth * block.size * info->arrayLayers;
    do {
        ++walk->aspect;
    } while (walk->aspect < SINGLE_ASPECTS &&
             (aspects & (VkImageAspectFlags)single_aspects[walk->aspect]) == 0);
    if (walk->aspect == SINGLE_ASPECTS) {
        walk->aspect = 0;
        ++walk->level;
    }
    return true;
}

VkDeviceSize maar_content_size(const VkImageCreateInfo* info)
{
    struct maar_region_walk walk = {.info = info};
    VkBufferImageCopy region;
    while (maar_region_next(&walk, &region)) {
        continue;
    }
    return walk.end;
}

/* ---- commands ---- */

static void record_layout_change(const struct maar_residency* it,
                                 const struct maar_resident* resident, VkCommandBuffer commands,
                                 VkImageLayout from, VkImageLayout to)
{
    const struct maar_device* device = &it->allocator->device;
    const VkImageMemoryBarrier barrier =
        maar_image_transition(resident->object.image, resident->record->image.format, from, to);
    if (from != to) {
        device->vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1,
                                     &barrier);
    }
}

/* Copies all levels to the host object, or from it. */
static void record_regions(const struct maar_residency* it, const struct maar_resident* resident,
                           VkCommandBuffer commands, bool saves, VkImageLayout layout)
{
    const struct maar_device* device = &it->allocator->device;
    struct maar_region_walk walk = {.info = &resident->record->image};
    VkBufferImageCopy regions[COPIED_REGIONS];
    for (bool more = true; more;) {
        uint32_t count = 0;
        while (count < COPIED_REGIONS && more) {
            more = maar_region_next(&walk, &regions[count]);
            count += more ? 1 : 0;
        }
        if (count > 0 && saves) {
            device->vkCmdCopyImageToBuffer(commands, resident->object.image, layout,
                                           resident->host_buffer, count, regions);
        } else if (count > 0) {
            device->vkCmdCopyBufferToImage(commands, resident->host_buffer, resident->object.image,
                                           layout, count, regions);
        }
    }
}

/* Copies a buffer to the host object, or from it. */
static void record_buffer(const struct maar_residency* it, const struct maar_resident* resident,
                          VkCommandBuffer commands, bool saves)
{
    const struct maar_device* device = &it->allocator->device;
    const VkDeviceSize offset = resident->offset;
    const VkBufferCopy region = {.srcOffset = saves ? offset : 0,
                                 .dstOffset = saves ? 0 : offset,
                                 .size = maar_resident_copied_size(resident)};
    if (region.size > 0) {
        device->vkCmdCopyBuffer(commands, saves ? resident->object.buffer : resident->host_buffer,
                                saves ? resident->host_buffer : resident->object.buffer, 1,
                                &region);
    }
}

void maar_resident_record_save(const struct maar_residency* it,
                               const struct maar_resident* resident, bool keeps,
                               VkCommandBuffer commands)
{
    const VkImageLayout layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    if (resident->object.buffer != VK_NULL_HANDLE) {
        record_buffer(it, resident, commands, true);
        return;
    }
    record_layout_change(it, resident, commands, resident->layout, layout);
    record_regions(it, resident, commands, true, layout);
    if (keeps) {
        record_layout_change(it, resident, commands, layout, resident->layout);
    }
}

void maar_resident_record_restore(const struct maar_residency* it,
                                  const struct maar_resident* resident, VkCommandBuffer commands)
{
    const VkImageLayout layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    if (resident->object.buffer != VK_NULL_HANDLE) {
        record_buffer(it, resident, commands, false);
        return;
    }
    record_layout_change(it, resident, commands, VK_IMAGE_LAYOUT_UNDEFINED, layout);
    record_regions(it, resident, commands, false, layout);
    record_layout_change(it, resident, commands, layout, resident->layout);
}
