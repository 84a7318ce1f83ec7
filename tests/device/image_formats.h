/*
 * Formats and shapes of images whose contents go through buffers: those that tests of copies try.
 */
#ifndef MAAR_TESTS_DEVICE_IMAGE_FORMATS_H
#define MAAR_TESTS_DEVICE_IMAGE_FORMATS_H

#include "tests/rig/rig.h"

enum { MOST_LEVELS = 9, MOST_PLANES = 3 };

/* ---- formats ---- */

/* What a copy between a buffer and an image sees as one plane: the bytes of one block in a buffer,
 * how many of these the image keeps, and the size of the plane. */
struct plane {
    VkImageAspectFlags aspect;
    uint32_t bytes, kept;
    uint32_t divide_x, divide_y;
};

struct format {
    VkFormat format;
    uint32_t block; /* width and height */
    VkImageUsageFlags usage;
    VkImageAspectFlags aspects;
    uint32_t plane_count;
    struct plane planes[MOST_PLANES];
};

#define SAMPLED VK_IMAGE_USAGE_SAMPLED_BIT
#define ATTACHED VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT
#define COLOR VK_IMAGE_ASPECT_COLOR_BIT
#define DEPTH VK_IMAGE_ASPECT_DEPTH_BIT
#define STENCIL VK_IMAGE_ASPECT_STENCIL_BIT
#define PLANE_0 VK_IMAGE_ASPECT_PLANE_0_BIT
#define PLANE_1 VK_IMAGE_ASPECT_PLANE_1_BIT
#define PLANE_2 VK_IMAGE_ASPECT_PLANE_2_BIT
#define COLORS(name, block, bytes)                                                                 \
    {                                                                                              \
        VK_FORMAT_##name, block, SAMPLED, COLOR, 1,                                                \
        {                                                                                          \
            {                                                                                      \
                COLOR, bytes, bytes, 1, 1                                                          \
            }                                                                                      \
        }                                                                                          \
    }

static const struct format formats[] = {
    COLORS(R8_UNORM, 1, 1),
    COLORS(R5G6B5_UNORM_PACK16, 1, 2),
    COLORS(R8G8B8A8_UNORM, 1, 4),
    COLORS(R8G8B8A8_SRGB, 1, 4),
    COLORS(B10G11R11_UFLOAT_PACK32, 1, 4),
    COLORS(R16G16B16A16_SFLOAT, 1, 8),
    COLORS(R32G32B32_SFLOAT, 1, 12),
    COLORS(R32G32B32A32_UINT, 1, 16),
    COLORS(BC1_RGB_UNORM_BLOCK, 4, 8),
    COLORS(BC7_UNORM_BLOCK, 4, 16),
    COLORS(ETC2_R8G8B8_UNORM_BLOCK, 4, 8),
    COLORS(ASTC_4x4_UNORM_BLOCK, 4, 16),
    {VK_FORMAT_D16_UNORM, 1, ATTACHED, DEPTH, 1, {{DEPTH, 2, 2, 1, 1}}},
    {VK_FORMAT_D32_SFLOAT, 1, ATTACHED, DEPTH, 1, {{DEPTH, 4, 4, 1, 1}}},
    {VK_FORMAT_S8_UINT, 1, ATTACHED, STENCIL, 1, {{STENCIL, 1, 1, 1, 1}}},
    {VK_FORMAT_D24_UNORM_S8_UINT,
     1,
     ATTACHED,
     DEPTH | STENCIL,
     2,
     {{DEPTH, 4, 3, 1, 1}, {STENCIL, 1, 1, 1, 1}}},
    {VK_FORMAT_D32_SFLOAT_S8_UINT,
     1,
     ATTACHED,
     DEPTH | STENCIL,
     2,
     {{DEPTH, 4, 4, 1, 1}, {STENCIL, 1, 1, 1, 1}}},
    {VK_FORMAT_G8_B8R8_2PLANE_420_UNORM,
     1,
     0,
     COLOR,
     2,
     {{PLANE_0, 1, 1, 1, 1}, {PLANE_1, 2, 2, 2, 2}}},
    {VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM,
     1,
     0,
     COLOR,
     3,
     {{PLANE_0, 1, 1, 1, 1}, {PLANE_1, 1, 1, 2, 2}, {PLANE_2, 1, 1, 2, 2}}},
    {VK_FORMAT_G16_B16_R16_3PLANE_422_UNORM,
     1,
     0,
     COLOR,
     3,
     {{PLANE_0, 2, 2, 1, 1}, {PLANE_1, 2, 2, 2, 1}, {PLANE_2, 2, 2, 2, 1}}},
    {VK_FORMAT_G8_B8_R8_3PLANE_444_UNORM,
     1,
     0,
     COLOR,
     3,
     {{PLANE_0, 1, 1, 1, 1}, {PLANE_1, 1, 1, 1, 1}, {PLANE_2, 1, 1, 1, 1}}},
};

/* ---- shapes ---- */

struct shape {
    VkImageType type;
    VkExtent3D extent;
    uint32_t levels, layers;
};

/* Small, since simulated devices keep the accesses of each block. */
static const struct shape shapes[] = {
    {VK_IMAGE_TYPE_1D, {19, 1, 1}, 3, 2},  {VK_IMAGE_TYPE_2D, {16, 16, 1}, 1, 1},
    {VK_IMAGE_TYPE_2D, {14, 10, 1}, 4, 1}, {VK_IMAGE_TYPE_2D, {8, 12, 1}, 3, 3},
    {VK_IMAGE_TYPE_2D, {260, 4, 1}, 9, 1}, {VK_IMAGE_TYPE_3D, {4, 6, 3}, 1, 1},
    {VK_IMAGE_TYPE_3D, {6, 8, 5}, 3, 1},
};

enum { FORMATS = sizeof formats / sizeof formats[0], SHAPES = sizeof shapes / sizeof shapes[0] };

static inline uint32_t level_of(uint32_t extent, uint32_t level)
{
    return extent >> level != 0 ? extent >> level : 1;
}

static inline uint32_t in_blocks(uint32_t texels, uint32_t block)
{
    return (texels + block - 1) / block;
}

/* Whether a device supports an image that is copied to and from. */
static inline bool is_supported(VkPhysicalDevice physical, const VkImageCreateInfo* info)
{
    VkImageFormatProperties limits;
    VkFormatProperties properties;
    vkGetPhysicalDeviceFormatProperties(physical, info->format, &properties);
    const VkFormatFeatureFlags needed =
        VK_FORMAT_FEATURE_TRANSFER_SRC_BIT | VK_FORMAT_FEATURE_TRANSFER_DST_BIT;
    const VkFormatFeatureFlags has = info->tiling == VK_IMAGE_TILING_LINEAR
                                         ? properties.linearTilingFeatures
                                         : properties.optimalTilingFeatures;
    return (has & needed) == needed &&
           vkGetPhysicalDeviceImageFormatProperties(physical, info->format, info->imageType,
                                                    info->tiling, info->usage, info->flags,
                                                    &limits) == VK_SUCCESS &&
           info->extent.width <= limits.maxExtent.width &&
           info->extent.height <= limits.maxExtent.height &&
           info->extent.depth <= limits.maxExtent.depth && info->mipLevels <= limits.maxMipLevels &&
           info->arrayLayers <= limits.maxArrayLayers &&
           (limits.sampleCounts & (VkSampleCountFlags)info->samples) != 0;
}

#endif
