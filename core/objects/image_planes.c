/*
 * The planes of an image: see image_planes.h.
 */
#include "core/objects/image_planes.h"

/* The plane counts and the divisors of the chroma planes of a multi-planar format. */
struct chroma {
    uint32_t plane_count;
    uint32_t width_divisor;
    uint32_t height_divisor;
};

/* Returns the chroma planes of a format. The count is 1 for a format that is not multi-planar. */
static struct chroma chroma_of(VkFormat format)
{
    switch (format) {
    case VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM:
    case VK_FORMAT_G10X6_B10X6_R10X6_3PLANE_420_UNORM_3PACK16:
    case VK_FORMAT_G12X4_B12X4_R12X4_3PLANE_420_UNORM_3PACK16:
    case VK_FORMAT_G16_B16_R16_3PLANE_420_UNORM:
        return (struct chroma){3, 2, 2};
    case VK_FORMAT_G8_B8R8_2PLANE_420_UNORM:
    case VK_FORMAT_G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16:
    case VK_FORMAT_G12X4_B12X4R12X4_2PLANE_420_UNORM_3PACK16:
    case VK_FORMAT_G16_B16R16_2PLANE_420_UNORM:
        return (struct chroma){2, 2, 2};
    case VK_FORMAT_G8_B8_R8_3PLANE_422_UNORM:
    case VK_FORMAT_G10X6_B10X6_R10X6_3PLANE_422_UNORM_3PACK16:
    case VK_FORMAT_G12X4_B12X4_R12X4_3PLANE_422_UNORM_3PACK16:
    case VK_FORMAT_G16_B16_R16_3PLANE_422_UNORM:
        return (struct chroma){3, 2, 1};
    case VK_FORMAT_G8_B8R8_2PLANE_422_UNORM:
    case VK_FORMAT_G10X6_B10X6R10X6_2PLANE_422_UNORM_3PACK16:
    case VK_FORMAT_G12X4_B12X4R12X4_2PLANE_422_UNORM_3PACK16:
    case VK_FORMAT_G16_B16R16_2PLANE_422_UNORM:
        return (struct chroma){2, 2, 1};
    case VK_FORMAT_G8_B8_R8_3PLANE_444_UNORM:
    case VK_FORMAT_G10X6_B10X6_R10X6_3PLANE_444_UNORM_3PACK16:
    case VK_FORMAT_G12X4_B12X4_R12X4_3PLANE_444_UNORM_3PACK16:
    case VK_FORMAT_G16_B16_R16_3PLANE_444_UNORM:
        return (struct chroma){3, 1, 1};
    case VK_FORMAT_G8_B8R8_2PLANE_444_UNORM:
    case VK_FORMAT_G10X6_B10X6R10X6_2PLANE_444_UNORM_3PACK16:
    case VK_FORMAT_G12X4_B12X4R12X4_2PLANE_444_UNORM_3PACK16:
    case VK_FORMAT_G16_B16R16_2PLANE_444_UNORM:
        return (struct chroma){2, 1, 1};
    default:
        return (struct chroma){1, 1, 1};
    }
}

VkImageAspectFlags maar_image_aspects(VkFormat format)
{
    switch (format) {
    case VK_FORMAT_D16_UNORM:
    case VK_FORMAT_X8_D24_UNORM_PACK32:
    case VK_FORMAT_D32_SFLOAT:
        return VK_IMAGE_ASPECT_DEPTH_BIT;
    case VK_FORMAT_S8_UINT:
        return VK_IMAGE_ASPECT_STENCIL_BIT;
    case VK_FORMAT_D16_UNORM_S8_UINT:
    case VK_FORMAT_D24_UNORM_S8_UINT:
    case VK_FORMAT_D32_SFLOAT_S8_UINT:
        return (VkImageAspectFlags)VK_IMAGE_ASPECT_DEPTH_BIT |
               (VkImageAspectFlags)VK_IMAGE_ASPECT_STENCIL_BIT;
    default:
        return VK_IMAGE_ASPECT_COLOR_BIT;
    }
}

uint32_t maar_image_planes(VkFormat format, struct maar_image_plane planes[MAAR_MOST_PLANES])
{
    static const VkImageAspectFlags aspects[MAAR_MOST_PLANES] = {
        VK_IMAGE_ASPECT_PLANE_0_BIT, VK_IMAGE_ASPECT_PLANE_1_BIT, VK_IMAGE_ASPECT_PLANE_2_BIT};
    const struct chroma chroma = chroma_of(format);
    if (chroma.plane_count == 1) {
        planes[0] = (struct maar_image_plane){maar_image_aspects(format), 1, 1};
        return 1;
    }
    for (uint32_t i = 0; i < chroma.plane_count; ++i) {
        planes[i] = (struct maar_image_plane){
            .aspects = aspects[i],
            .width_divisor = i > 0 ? chroma.width_divisor : 1,
            .height_divisor = i > 0 ? chroma.height_divisor : 1,
        };
    }
    return chroma.plane_count;
}

bool maar_image_is_graphical(VkFormat format)
{
    const VkImageAspectFlags graphical = (VkImageAspectFlags)VK_IMAGE_ASPECT_DEPTH_BIT |
                                         (VkImageAspectFlags)VK_IMAGE_ASPECT_STENCIL_BIT;
    return (maar_image_aspects(format) & graphical) != 0;
}

VkImageMemoryBarrier maar_image_transition(VkImage image, VkFormat format, VkImageLayout from,
                                           VkImageLayout to)
{
    return (VkImageMemoryBarrier){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask =
            (VkAccessFlags)VK_ACCESS_MEMORY_READ_BIT | (VkAccessFlags)VK_ACCESS_MEMORY_WRITE_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {.aspectMask = maar_image_aspects(format),
                             .levelCount = VK_REMAINING_MIP_LEVELS,
                             .layerCount = VK_REMAINING_ARRAY_LAYERS},
    };
}
