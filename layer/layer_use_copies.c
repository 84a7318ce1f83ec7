/*
 * Copies, blits, resolves and clears. A subresource loses its contents where one region covers it.
 */
#include "layer/layer_use_internal.h"

static VkImageSubresourceRange range_of(const VkImageSubresourceLayers* layers)
{
    return (VkImageSubresourceRange){.aspectMask = layers->aspectMask,
                                     .baseMipLevel = layers->mipLevel,
                                     .levelCount = 1,
                                     .baseArrayLayer = layers->baseArrayLayer,
                                     .layerCount = layers->layerCount};
}

static void read_layers(const struct layer_use_call* call, const struct layer_use_image* image,
                        const VkImageSubresourceLayers* layers)
{
    const VkImageSubresourceRange range = range_of(layers);
    maar_layer_use_image(call, image, &range, USE_READ, false);
}

/* Writes a box of a mip level. */
static void write_layers(const struct layer_use_call* call, const struct layer_use_image* image,
                         const VkImageSubresourceLayers* layers, VkOffset3D offset,
                         VkExtent3D extent)
{
    const VkImageSubresourceRange range = range_of(layers);
    maar_layer_use_image(call, image, &range, USE_WRITE,
                         maar_layer_use_covers(image, layers->mipLevel, offset, extent));
}

static VkExtent3D extent_of_corners(const VkOffset3D corners[2])
{
    const int64_t width = (int64_t)corners[1].x - corners[0].x;
    const int64_t height = (int64_t)corners[1].y - corners[0].y;
    return (VkExtent3D){width > 0 ? (uint32_t)width : 0, height > 0 ? (uint32_t)height : 0, 1};
}

/* ---- buffers ---- */

static VKAPI_ATTR void VKAPI_CALL copy_buffer(VkCommandBuffer commands, VkBuffer source,
                                              VkBuffer target, uint32_t count,
                                              const VkBufferCopy* regions)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    maar_layer_use_buffer(&call, source, USE_READ);
    for (uint32_t i = 0; i < count; ++i) {
        maar_layer_use_overwrite(&call, target, regions[i].dstOffset, regions[i].size);
    }
    call.next->CmdCopyBuffer(commands, source, target, count, regions);
}

/* The functions whose names end in 2 or in 2KHR: one for each name, since each calls the next
 * layer's function of its name. */
#define COMMAND_WITH_INFO(function, name, type, note)                                              \
    static VKAPI_ATTR void VKAPI_CALL function(VkCommandBuffer commands, const type* info)         \
    {                                                                                              \
        const struct layer_use_call call = maar_layer_use_call(commands);                          \
        note(&call, info);                                                                         \
        call.next->name(commands, info);                                                           \
    }

static void note_copy_buffer(const struct layer_use_call* call, const VkCopyBufferInfo2* info)
{
    maar_layer_use_buffer(call, info->srcBuffer, USE_READ);
    for (uint32_t i = 0; i < info->regionCount; ++i) {
        maar_layer_use_overwrite(call, info->dstBuffer, info->pRegions[i].dstOffset,
                                 info->pRegions[i].size);
    }
}

COMMAND_WITH_INFO(copy_buffer2, CmdCopyBuffer2, VkCopyBufferInfo2, note_copy_buffer)
COMMAND_WITH_INFO(copy_buffer2_khr, CmdCopyBuffer2KHR, VkCopyBufferInfo2, note_copy_buffer)

/* ---- images ---- */

/* The extent of a copy counts texels of the source. So what it covers of the target is known only
 * if the formats are equal. */
static VkExtent3D extent_of_copy(const struct layer_use_image* source,
                                 const struct layer_use_image* target, VkExtent3D extent)
{
    return source->format == target->format ? extent : (VkExtent3D){0, 0, 0};
}

/* Of a copy from a volume to layers, or back, the counts of layers differ. */
static VkExtent3D extent_of_layers(uint32_t source_count, uint32_t target_count, VkExtent3D extent)
{
    return source_count == target_count ? extent : (VkExtent3D){0, 0, 0};
}

static VKAPI_ATTR void VKAPI_CALL copy_image(VkCommandBuffer commands, VkImage source,
                                             VkImageLayout source_layout, VkImage target,
                                             VkImageLayout target_layout, uint32_t count,
                                             const VkImageCopy* regions)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    struct layer_use_image from;
    struct layer_use_image to;
    (void)maar_layer_use_find_image(&call, source, &from);
    (void)maar_layer_use_find_image(&call, target, &to);
    for (uint32_t i = 0; i < count; ++i) {
        const VkExtent3D extent = extent_of_layers(regions[i].srcSubresource.layerCount,
                                                   regions[i].dstSubresource.layerCount,
                                                   extent_of_copy(&from, &to, regions[i].extent));
        read_layers(&call, &from, &regions[i].srcSubresource);
        write_layers(&call, &to, &regions[i].dstSubresource, regions[i].dstOffset, extent);
    }
    call.next->CmdCopyImage(commands, source, source_layout, target, target_layout, count, regions);
}

static void note_copy_image(const struct layer_use_call* call, const VkCopyImageInfo2* info)
{
    struct layer_use_image from;
    struct layer_use_image to;
    (void)maar_layer_use_find_image(call, info->srcImage, &from);
    (void)maar_layer_use_find_image(call, info->dstImage, &to);
    for (uint32_t i = 0; i < info->regionCount; ++i) {
        const VkImageCopy2* const region = &info->pRegions[i];
        const VkExtent3D extent =
            extent_of_layers(region->srcSubresource.layerCount, region->dstSubresource.layerCount,
                             extent_of_copy(&from, &to, region->extent));
        read_layers(call, &from, &region->srcSubresource);
        write_layers(call, &to, &region->dstSubresource, region->dstOffset, extent);
    }
}

COMMAND_WITH_INFO(copy_image2, CmdCopyImage2, VkCopyImageInfo2, note_copy_image)
COMMAND_WITH_INFO(copy_image2_khr, CmdCopyImage2KHR, VkCopyImageInfo2, note_copy_image)

static VKAPI_ATTR void VKAPI_CALL copy_buffer_to_image(VkCommandBuffer commands, VkBuffer source,
                                                       VkImage target, VkImageLayout layout,
                                                       uint32_t count,
                                                       const VkBufferImageCopy* regions)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    struct layer_use_image to;
    maar_layer_use_buffer(&call, source, USE_READ);
    (void)maar_layer_use_find_image(&call, target, &to);
    for (uint32_t i = 0; i < count; ++i) {
        write_layers(&call, &to, &regions[i].imageSubresource, regions[i].imageOffset,
                     regions[i].imageExtent);
    }
    call.next->CmdCopyBufferToImage(commands, source, target, layout, count, regions);
}

static void note_copy_buffer_to_image(const struct layer_use_call* call,
                                      const VkCopyBufferToImageInfo2* info)
{
    struct layer_use_image to;
    maar_layer_use_buffer(call, info->srcBuffer, USE_READ);
    (void)maar_layer_use_find_image(call, info->dstImage, &to);
    for (uint32_t i = 0; i < info->regionCount; ++i) {
        write_layers(call, &to, &info->pRegions[i].imageSubresource, info->pRegions[i].imageOffset,
                     info->pRegions[i].imageExtent);
    }
}

COMMAND_WITH_INFO(copy_buffer_to_image2, CmdCopyBufferToImage2, VkCopyBufferToImageInfo2,
                  note_copy_buffer_to_image)
COMMAND_WITH_INFO(copy_buffer_to_image2_khr, CmdCopyBufferToImage2KHR, VkCopyBufferToImageInfo2,
                  note_copy_buffer_to_image)

static VKAPI_ATTR void VKAPI_CALL copy_image_to_buffer(VkCommandBuffer commands, VkImage source,
                                                       VkImageLayout layout, VkBuffer target,
                                                       uint32_t count,
                                                       const VkBufferImageCopy* regions)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    struct layer_use_image from;
    (void)maar_layer_use_find_image(&call, source, &from);
    for (uint32_t i = 0; i < count; ++i) {
        read_layers(&call, &from, &regions[i].imageSubresource);
    }
    maar_layer_use_buffer(&call, target, USE_WRITE);
    call.next->CmdCopyImageToBuffer(commands, source, layout, target, count, regions);
}

static void note_copy_image_to_buffer(const struct layer_use_call* call,
                                      const VkCopyImageToBufferInfo2* info)
{
    struct layer_use_image from;
    (void)maar_layer_use_find_image(call, info->srcImage, &from);
    for (uint32_t i = 0; i < info->regionCount; ++i) {
        read_layers(call, &from, &info->pRegions[i].imageSubresource);
    }
    maar_layer_use_buffer(call, info->dstBuffer, USE_WRITE);
}

COMMAND_WITH_INFO(copy_image_to_buffer2, CmdCopyImageToBuffer2, VkCopyImageToBufferInfo2,
                  note_copy_image_to_buffer)
COMMAND_WITH_INFO(copy_image_to_buffer2_khr, CmdCopyImageToBuffer2KHR, VkCopyImageToBufferInfo2,
                  note_copy_image_to_buffer)

static VKAPI_ATTR void VKAPI_CALL blit(VkCommandBuffer commands, VkImage source,
                                       VkImageLayout source_layout, VkImage target,
                                       VkImageLayout target_layout, uint32_t count,
                                       const VkImageBlit* regions, VkFilter filter)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    struct layer_use_image from;
    struct layer_use_image to;
    (void)maar_layer_use_find_image(&call, source, &from);
    (void)maar_layer_use_find_image(&call, target, &to);
    for (uint32_t i = 0; i < count; ++i) {
        read_layers(&call, &from, &regions[i].srcSubresource);
        write_layers(&call, &to, &regions[i].dstSubresource, regions[i].dstOffsets[0],
                     extent_of_corners(regions[i].dstOffsets));
    }
    call.next->CmdBlitImage(commands, source, source_layout, target, target_layout, count, regions,
                            filter);
}

static void note_blit(const struct layer_use_call* call, const VkBlitImageInfo2* info)
{
    struct layer_use_image from;
    struct layer_use_image to;
    (void)maar_layer_use_find_image(call, info->srcImage, &from);
    (void)maar_layer_use_find_image(call, info->dstImage, &to);
    for (uint32_t i = 0; i < info->regionCount; ++i) {
        const VkImageBlit2* const region = &info->pRegions[i];
        read_layers(call, &from, &region->srcSubresource);
        write_layers(call, &to, &region->dstSubresource, region->dstOffsets[0],
                     extent_of_corners(region->dstOffsets));
    }
}

COMMAND_WITH_INFO(blit2, CmdBlitImage2, VkBlitImageInfo2, note_blit)
COMMAND_WITH_INFO(blit2_khr, CmdBlitImage2KHR, VkBlitImageInfo2, note_blit)

static VKAPI_ATTR void VKAPI_CALL resolve(VkCommandBuffer commands, VkImage source,
                                          VkImageLayout source_layout, VkImage target,
                                          VkImageLayout target_layout, uint32_t count,
                                          const VkImageResolve* regions)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    struct layer_use_image from;
    struct layer_use_image to;
    (void)maar_layer_use_find_image(&call, source, &from);
    (void)maar_layer_use_find_image(&call, target, &to);
    for (uint32_t i = 0; i < count; ++i) {
        read_layers(&call, &from, &regions[i].srcSubresource);
        write_layers(&call, &to, &regions[i].dstSubresource, regions[i].dstOffset,
                     regions[i].extent);
    }
    call.next->CmdResolveImage(commands, source, source_layout, target, target_layout, count,
                               regions);
}

static void note_resolve(const struct layer_use_call* call, const VkResolveImageInfo2* info)
{
    struct layer_use_image from;
    struct layer_use_image to;
    (void)maar_layer_use_find_image(call, info->srcImage, &from);
    (void)maar_layer_use_find_image(call, info->dstImage, &to);
    for (uint32_t i = 0; i < info->regionCount; ++i) {
        const VkImageResolve2* const region = &info->pRegions[i];
        read_layers(call, &from, &region->srcSubresource);
        write_layers(call, &to, &region->dstSubresource, region->dstOffset, region->extent);
    }
}

COMMAND_WITH_INFO(resolve2, CmdResolveImage2, VkResolveImageInfo2, note_resolve)
COMMAND_WITH_INFO(resolve2_khr, CmdResolveImage2KHR, VkResolveImageInfo2, note_resolve)

/* ---- clears ---- */

static void clear_ranges(const struct layer_use_call* call, VkImage image, uint32_t count,
                         const VkImageSubresourceRange* ranges)
{
    struct layer_use_image found;
    (void)maar_layer_use_find_image(call, image, &found);
    for (uint32_t i = 0; i < count; ++i) {
        maar_layer_use_image(call, &found, &ranges[i], USE_WRITE, true);
    }
}

static VKAPI_ATTR void VKAPI_CALL clear_color(VkCommandBuffer commands, VkImage image,
                                              VkImageLayout layout, const VkClearColorValue* value,
                                              uint32_t count, const VkImageSubresourceRange* ranges)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    clear_ranges(&call, image, count, ranges);
    call.next->CmdClearColorImage(commands, image, layout, value, count, ranges);
}

static VKAPI_ATTR void VKAPI_CALL clear_depth(VkCommandBuffer commands, VkImage image,
                                              VkImageLayout layout,
                                              const VkClearDepthStencilValue* value, uint32_t count,
                                              const VkImageSubresourceRange* ranges)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    clear_ranges(&call, image, count, ranges);
    call.next->CmdClearDepthStencilImage(commands, image, layout, value, count, ranges);
}

const struct layer_hook maar_layer_use_copy_hooks[] = {
    LAYER_HOOK(CmdCopyBuffer, copy_buffer),
    LAYER_HOOK(CmdCopyBuffer2, copy_buffer2),
    LAYER_HOOK(CmdCopyBuffer2KHR, copy_buffer2_khr),
    LAYER_HOOK(CmdCopyImage, copy_image),
    LAYER_HOOK(CmdCopyImage2, copy_image2),
    LAYER_HOOK(CmdCopyImage2KHR, copy_image2_khr),
    LAYER_HOOK(CmdCopyBufferToImage, copy_buffer_to_image),
    LAYER_HOOK(CmdCopyBufferToImage2, copy_buffer_to_image2),
    LAYER_HOOK(CmdCopyBufferToImage2KHR, copy_buffer_to_image2_khr),
    LAYER_HOOK(CmdCopyImageToBuffer, copy_image_to_buffer),
    LAYER_HOOK(CmdCopyImageToBuffer2, copy_image_to_buffer2),
    LAYER_HOOK(CmdCopyImageToBuffer2KHR, copy_image_to_buffer2_khr),
    LAYER_HOOK(CmdBlitImage, blit),
    LAYER_HOOK(CmdBlitImage2, blit2),
    LAYER_HOOK(CmdBlitImage2KHR, blit2_khr),
    LAYER_HOOK(CmdResolveImage, resolve),
    LAYER_HOOK(CmdResolveImage2, resolve2),
    LAYER_HOOK(CmdResolveImage2KHR, resolve2_khr),
    LAYER_HOOK(CmdClearColorImage, clear_color),
    LAYER_HOOK(CmdClearDepthStencilImage, clear_depth),
    {NULL, NULL},
};
