/*
 * What the tests of partially resident images share, on whichever device.
 */
#ifndef MAAR_TESTS_TILES_TILE_IMAGES_H
#define MAAR_TESTS_TILES_TILE_IMAGES_H

#include "tests/rig/rig.h"

static inline VkImageCreateInfo tile_image_info(VkFormat format, VkExtent3D extent, uint32_t layers)
{
    VkImageCreateInfo info = rig_image_info(extent.width, extent.height);
    uint32_t most = extent.width > extent.height ? extent.width : extent.height;
    most = extent.depth > most ? extent.depth : most;
    info.format = format;
    info.imageType = extent.depth > 1 ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D;
    info.extent = extent;
    info.arrayLayers = layers;
    info.mipLevels = 0;
    for (; most != 0; most /= 2) {
        ++info.mipLevels;
    }
    info.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                 VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    return info;
}

static inline VkResult tile_try_image(struct rig* rig, const VkImageCreateInfo* made,
                                      MaarSparseImage* image)
{
    const MaarSparseImageCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_CREATE_INFO,
        .pImageInfo = made,
    };
    return maarCreateSparseImage(rig->allocator, &info, image);
}

static inline MaarSparseImage tile_create_image(struct rig* rig, VkFormat format, VkExtent3D extent,
                                                uint32_t layers)
{
    const VkImageCreateInfo made = tile_image_info(format, extent, layers);
    MaarSparseImage image = VK_NULL_HANDLE;
    const VkResult result = tile_try_image(rig, &made, &image);
    if (result != VK_SUCCESS) {
        fail_msg("no image: %d, \"%s\"", (int)result, rig->messages.last);
    }
    return image;
}

static inline MaarSparseImageInfo tile_image(struct rig* rig, MaarSparseImage image)
{
    MaarSparseImageInfo info = {.sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_INFO};
    assert_int_equal(maarGetSparseImageInfo(rig->allocator, image, &info), VK_SUCCESS);
    return info;
}

static inline MaarTileCacheInfo tile_cache(struct rig* rig, MaarTileCache cache)
{
    MaarTileCacheInfo info = {.sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_INFO};
    assert_int_equal(maarGetTileCacheInfo(rig->allocator, cache, &info), VK_SUCCESS);
    return info;
}

#endif
