/*
 * What the tests of partially resident images on simulated devices share.
 */
#ifndef MAAR_TESTS_TILES_SIMULATED_TILES_H
#define MAAR_TESTS_TILES_SIMULATED_TILES_H

#include "tests/rig/rig.h"

/* What sets one simulated device apart from another. */
struct tile_device {
    VkDeviceSize page_size; /* 0: 64 KiB */
    MaarSimulatedMipTail tail;
    VkDeviceSize tail_offset;
    VkDeviceSize metadata_size;
    VkDeviceSize device_heap;   /* 0: 8 GiB */
    VkDeviceSize address_space; /* 0: 1 TiB */
};

/* The discrete device with partially resident images; setup's profile does not matter. */
static inline void tile_device_start(struct rig* rig, const struct tile_device* device,
                                     const struct rig_setup* setup, VkFlags allocator_flags)
{
    MaarSimulatedProfile profile = *rig_profile_discrete();
    struct rig_setup mine = {.profile = NULL};
    if (setup != NULL) {
        mine = *setup;
    }
    profile.limits.sparseAddressSpaceSize =
        device->address_space != 0 ? device->address_space : (VkDeviceSize)1 << 40;
    profile.requirements.sparseAlignment = device->page_size;
    profile.requirements.sparseImageAlignment = device->page_size;
    profile.requirements.mipTail = device->tail;
    profile.requirements.mipTailOffset = device->tail_offset;
    profile.requirements.metadataSize = device->metadata_size;
    profile.sparse.sparseBinding = VK_TRUE;
    profile.sparse.residencyBuffer = VK_TRUE;
    profile.sparse.residencyImage2D = VK_TRUE;
    profile.sparse.residencyImage3D = VK_TRUE;
    if (device->device_heap != 0) {
        profile.heaps[0].size = device->device_heap;
    }
    mine.profile = &profile;
    mine.paging = true;
    rig_open(rig, &mine);
    rig->create_info.flags |= allocator_flags;
    rig_make_allocator(rig);
}

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
