/*
 * Describes images to CUDA. CUDA has no normalised or sRGB formats of the kinds below: to CUDA,
 * such texels are integers with the same bits, and a texture object decides how to read them.
 * Rejects all formats that the table does not list: three channels, compressed formats, depth, and
 * packed formats except A8B8G8R8, whose channels are whole bytes.
 */
#include "interop/cuda/cuda_internal.h"

struct cuda_format {
    VkFormat vulkan;
    uint8_t cuda; /* enum maar_cuda_format */
    uint8_t channels;
};

#define FORMAT(vulkan, cuda, channels)                                                             \
    {                                                                                              \
        VK_FORMAT_##vulkan, MAAR_CUDA_FORMAT_##cuda, channels                                      \
    }

static const struct cuda_format formats[] = {
    FORMAT(R8_UNORM, UINT8, 1),
    FORMAT(R8_UINT, UINT8, 1),
    FORMAT(R8_SRGB, UINT8, 1),
    FORMAT(R8_SNORM, SINT8, 1),
    FORMAT(R8_SINT, SINT8, 1),
    FORMAT(R8G8_UNORM, UINT8, 2),
    FORMAT(R8G8_UINT, UINT8, 2),
    FORMAT(R8G8_SRGB, UINT8, 2),
    FORMAT(R8G8_SNORM, SINT8, 2),
    FORMAT(R8G8_SINT, SINT8, 2),
    FORMAT(R8G8B8A8_UNORM, UINT8, 4),
    FORMAT(R8G8B8A8_UINT, UINT8, 4),
    FORMAT(R8G8B8A8_SRGB, UINT8, 4),
    FORMAT(R8G8B8A8_SNORM, SINT8, 4),
    FORMAT(R8G8B8A8_SINT, SINT8, 4),
    FORMAT(A8B8G8R8_UNORM_PACK32, UINT8, 4),
    FORMAT(A8B8G8R8_UINT_PACK32, UINT8, 4),
    FORMAT(A8B8G8R8_SRGB_PACK32, UINT8, 4),
    FORMAT(A8B8G8R8_SNORM_PACK32, SINT8, 4),
    FORMAT(A8B8G8R8_SINT_PACK32, SINT8, 4),
    /* CUDA's first channel is blue in these formats. */
    FORMAT(B8G8R8A8_UNORM, UINT8, 4),
    FORMAT(B8G8R8A8_UINT, UINT8, 4),
    FORMAT(B8G8R8A8_SRGB, UINT8, 4),
    FORMAT(B8G8R8A8_SNORM, SINT8, 4),
    FORMAT(B8G8R8A8_SINT, SINT8, 4),
    FORMAT(R16_UNORM, UINT16, 1),
    FORMAT(R16_UINT, UINT16, 1),
    FORMAT(R16_SNORM, SINT16, 1),
    FORMAT(R16_SINT, SINT16, 1),
    FORMAT(R16_SFLOAT, HALF, 1),
    FORMAT(R16G16_UNORM, UINT16, 2),
    FORMAT(R16G16_UINT, UINT16, 2),
    FORMAT(R16G16_SNORM, SINT16, 2),
    FORMAT(R16G16_SINT, SINT16, 2),
    FORMAT(R16G16_SFLOAT, HALF, 2),
    FORMAT(R16G16B16A16_UNORM, UINT16, 4),
    FORMAT(R16G16B16A16_UINT, UINT16, 4),
    FORMAT(R16G16B16A16_SNORM, SINT16, 4),
    FORMAT(R16G16B16A16_SINT, SINT16, 4),
    FORMAT(R16G16B16A16_SFLOAT, HALF, 4),
    FORMAT(R32_UINT, UINT32, 1),
    FORMAT(R32_SINT, SINT32, 1),
    FORMAT(R32_SFLOAT, FLOAT, 1),
    FORMAT(R32G32_UINT, UINT32, 2),
    FORMAT(R32G32_SINT, SINT32, 2),
    FORMAT(R32G32_SFLOAT, FLOAT, 2),
    FORMAT(R32G32B32A32_UINT, UINT32, 4),
    FORMAT(R32G32B32A32_SINT, SINT32, 4),
    FORMAT(R32G32B32A32_SFLOAT, FLOAT, 4),
};

#undef FORMAT

static const struct cuda_format* find_cuda_format(VkFormat vulkan)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; ++i) {
        if (formats[i].vulkan == vulkan) {
            return &formats[i];
        }
    }
    return NULL;
}

static const char* find_shape_fault(const VkImageCreateInfo* info)
{
    const VkImageCreateFlags sparse = VK_IMAGE_CREATE_SPARSE_BINDING_BIT;
    const VkImageCreateFlags disjoint = VK_IMAGE_CREATE_DISJOINT_BIT;
    if (info->tiling != VK_IMAGE_TILING_OPTIMAL) {
        return "pImageInfo->tiling is not optimal; use the address of a linear image instead";
    }
    if (info->samples != VK_SAMPLE_COUNT_1_BIT) {
        return "pImageInfo->samples is more than one, which CUDA does not support";
    }
    if ((info->flags & (sparse | disjoint)) != 0) {
        return "pImageInfo->flags requests a sparse or disjoint image, which CUDA does not support";
    }
    if (info->imageType == VK_IMAGE_TYPE_3D && info->arrayLayers > 1) {
        return "pImageInfo describes a 3D image with layers";
    }
    return NULL;
}

static void describe_layers(const VkImageCreateInfo* info, struct maar_cuda_array_shape* shape)
{
    const bool is_cube = (info->flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT) != 0 &&
                         info->imageType == VK_IMAGE_TYPE_2D && info->arrayLayers % 6 == 0;
    if (info->arrayLayers <= 1) {
        return;
    }
    shape->depth = info->arrayLayers;
    if (is_cube) {
        shape->flags |= (unsigned int)MAAR_CUDA_ARRAY_CUBE;
    }
    if (!is_cube || info->arrayLayers > 6) {
        shape->flags |= (unsigned int)MAAR_CUDA_ARRAY_LAYERED;
    }
}

VkResult maar_cuda_image_shape(const VkImageCreateInfo* info, struct maar_cuda_array_shape* shape,
                               const char** fault)
{
    const struct cuda_format* format = find_cuda_format(info->format);
    *shape = (struct maar_cuda_array_shape){.width = info->extent.width};
    *fault = format == NULL ? "pImageInfo->format has no equivalent in CUDA; formats with one, two "
                              "or four channels of 8, 16 or 32 bits have one"
                            : find_shape_fault(info);
    if (*fault != NULL) {
        return VK_ERROR_FORMAT_NOT_SUPPORTED;
    }
    shape->height = info->imageType != VK_IMAGE_TYPE_1D ? info->extent.height : 0;
    shape->depth = info->imageType == VK_IMAGE_TYPE_3D ? info->extent.depth : 0;
    shape->format = (enum maar_cuda_format)format->cuda;
    shape->channels = format->channels;
    describe_layers(info, shape);
    if ((info->usage & VK_IMAGE_USAGE_STORAGE_BIT) != 0) {
        shape->flags |= (unsigned int)MAAR_CUDA_ARRAY_SURFACE;
    }
    if ((info->usage & VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT) != 0) {
        shape->flags |= (unsigned int)MAAR_CUDA_ARRAY_COLOR_ATTACHMENT;
    }
    return VK_SUCCESS;
}
