/*
 * Asks for memory requirements. layer/layer_needs.h describes the module.
 *
 * The specification forbids the question for some objects; their needs stay unknown.
 */
#include "layer/layer_needs.h"

#include "maar/capture_file.h"

static uint32_t flags_of(const VkMemoryDedicatedRequirements* dedicated)
{
    uint32_t flags = MAAR_CAPTURE_NEEDS_KNOWN_BIT;
    if (dedicated->prefersDedicatedAllocation) {
        flags |= MAAR_CAPTURE_NEEDS_PREFERS_DEDICATED_BIT;
    }
    if (dedicated->requiresDedicatedAllocation) {
        flags |= MAAR_CAPTURE_NEEDS_REQUIRES_DEDICATED_BIT;
    }
    return flags;
}

static void take_needs(struct layer_needs* needs, const VkMemoryRequirements* requirements,
                       uint32_t flags)
{
    needs->size = requirements->size;
    needs->alignment = requirements->alignment;
    needs->type_bits = requirements->memoryTypeBits;
    needs->flags |= flags;
}

void maar_layer_buffer_needs(const struct layer_device* device, VkBuffer buffer,
                             struct layer_needs* needs)
{
    VkMemoryDedicatedRequirements dedicated = {.sType =
                                                   VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS};
    VkMemoryRequirements2 wanted = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2,
                                    .pNext = device->has_dedicated_facts ? &dedicated : NULL};
    const VkBufferMemoryRequirementsInfo2 question = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2, .buffer = buffer};
    if (device->next.GetBufferMemoryRequirements2 != NULL) {
        device->next.GetBufferMemoryRequirements2(device->handle, &question, &wanted);
    } else {
        device->next.GetBufferMemoryRequirements(device->handle, buffer,
                                                 &wanted.memoryRequirements);
    }
    take_needs(needs, &wanted.memoryRequirements, flags_of(&dedicated));
}

static void ask_image(const struct layer_device* device, const void* chain, VkImage image,
                      struct layer_needs* needs)
{
    VkMemoryDedicatedRequirements dedicated = {.sType =
                                                   VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS};
    VkMemoryRequirements2 wanted = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2,
                                    .pNext = device->has_dedicated_facts ? &dedicated : NULL};
    const VkImageMemoryRequirementsInfo2 question = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_REQUIREMENTS_INFO_2,
        .pNext = chain,
        .image = image};
    if (device->next.GetImageMemoryRequirements2 != NULL) {
        device->next.GetImageMemoryRequirements2(device->handle, &question, &wanted);
    } else {
        device->next.GetImageMemoryRequirements(device->handle, image, &wanted.memoryRequirements);
    }
    take_needs(needs, &wanted.memoryRequirements, flags_of(&dedicated));
}

/* Returns the number of planes of a format, or 0 if the layer does not know the format. */
static uint32_t plane_count(VkFormat format)
{
    switch (format) {
    case VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM:
    case VK_FORMAT_G8_B8_R8_3PLANE_422_UNORM:
    case VK_FORMAT_G8_B8_R8_3PLANE_444_UNORM:
    case VK_FORMAT_G10X6_B10X6_R10X6_3PLANE_420_UNORM_3PACK16:
    case VK_FORMAT_G10X6_B10X6_R10X6_3PLANE_422_UNORM_3PACK16:
    case VK_FORMAT_G10X6_B10X6_R10X6_3PLANE_444_UNORM_3PACK16:
    case VK_FORMAT_G12X4_B12X4_R12X4_3PLANE_420_UNORM_3PACK16:
    case VK_FORMAT_G12X4_B12X4_R12X4_3PLANE_422_UNORM_3PACK16:
    case VK_FORMAT_G12X4_B12X4_R12X4_3PLANE_444_UNORM_3PACK16:
    case VK_FORMAT_G16_B16_R16_3PLANE_420_UNORM:
    case VK_FORMAT_G16_B16_R16_3PLANE_422_UNORM:
    case VK_FORMAT_G16_B16_R16_3PLANE_444_UNORM:
        return 3;
    case VK_FORMAT_G8_B8R8_2PLANE_420_UNORM:
    case VK_FORMAT_G8_B8R8_2PLANE_422_UNORM:
    case VK_FORMAT_G8_B8R8_2PLANE_444_UNORM:
    case VK_FORMAT_G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16:
    case VK_FORMAT_G10X6_B10X6R10X6_2PLANE_422_UNORM_3PACK16:
    case VK_FORMAT_G10X6_B10X6R10X6_2PLANE_444_UNORM_3PACK16:
    case VK_FORMAT_G12X4_B12X4R12X4_2PLANE_420_UNORM_3PACK16:
    case VK_FORMAT_G12X4_B12X4R12X4_2PLANE_422_UNORM_3PACK16:
    case VK_FORMAT_G12X4_B12X4R12X4_2PLANE_444_UNORM_3PACK16:
    case VK_FORMAT_G16_B16R16_2PLANE_420_UNORM:
    case VK_FORMAT_G16_B16R16_2PLANE_422_UNORM:
    case VK_FORMAT_G16_B16R16_2PLANE_444_UNORM:
        return 2;
    default:
        return 0;
    }
}

/* The planes of a disjoint image are bound apart. Their sizes are added up; an alignment and types
 * that serve all of them are kept. */
static void ask_planes(const struct layer_device* device, const VkImageCreateInfo* info,
                       VkImage image, struct layer_needs* needs)
{
    const uint32_t count =
        info->tiling != VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT ? plane_count(info->format) : 0;
    needs->flags |= MAAR_CAPTURE_NEEDS_DISJOINT_BIT;
    if (count == 0 || device->next.GetImageMemoryRequirements2 == NULL) {
        return;
    }
    struct layer_needs all = {.alignment = 1, .type_bits = UINT32_MAX, .flags = needs->flags};
    for (uint32_t i = 0; i < count; ++i) {
        const VkImagePlaneMemoryRequirementsInfo plane = {
            .sType = VK_STRUCTURE_TYPE_IMAGE_PLANE_MEMORY_REQUIREMENTS_INFO,
            .planeAspect = (VkImageAspectFlagBits)(VK_IMAGE_ASPECT_PLANE_0_BIT << i)};
        struct layer_needs one = {0};
        ask_image(device, &plane, image, &one);
        all.size += one.size;
        all.alignment = one.alignment > all.alignment ? one.alignment : all.alignment;
        all.type_bits &= one.type_bits;
        all.flags |= one.flags;
    }
    *needs = all;
}

void maar_layer_image_needs(const struct layer_device* device, const VkImageCreateInfo* info,
                            VkImage image, struct layer_needs* needs)
{
    if ((info->flags & VK_IMAGE_CREATE_DISJOINT_BIT) != 0) {
        ask_planes(device, info, image, needs);
    } else {
        ask_image(device, NULL, image, needs);
    }
}
