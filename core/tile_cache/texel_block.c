/*
 * The number of bytes in a texel block. Formats of one size are adjacent in Vulkan's enumeration.
 */
#include "core/tile_cache/texel_block.h"

#include <stddef.h>

static const struct {
    VkFormat last;
    struct maar_texel_block block;
} texel_block_runs[] = {
    {VK_FORMAT_UNDEFINED, {1, 1, 0}},
    {VK_FORMAT_R4G4_UNORM_PACK8, {1, 1, 1}},
    {VK_FORMAT_A1R5G5B5_UNORM_PACK16, {1, 1, 2}},
    {VK_FORMAT_R8_SRGB, {1, 1, 1}},
    {VK_FORMAT_R8G8_SRGB, {1, 1, 2}},
    {VK_FORMAT_B8G8R8_SRGB, {1, 1, 3}},
    {VK_FORMAT_A2B10G10R10_SINT_PACK32, {1, 1, 4}},
    {VK_FORMAT_R16_SFLOAT, {1, 1, 2}},
    {VK_FORMAT_R16G16_SFLOAT, {1, 1, 4}},
    {VK_FORMAT_R16G16B16_SFLOAT, {1, 1, 6}},
    {VK_FORMAT_R16G16B16A16_SFLOAT, {1, 1, 8}},
    {VK_FORMAT_R32_SFLOAT, {1, 1, 4}},
    {VK_FORMAT_R32G32_SFLOAT, {1, 1, 8}},
    {VK_FORMAT_R32G32B32_SFLOAT, {1, 1, 12}},
    {VK_FORMAT_R32G32B32A32_SFLOAT, {1, 1, 16}},
    {VK_FORMAT_R64_SFLOAT, {1, 1, 8}},
    {VK_FORMAT_R64G64_SFLOAT, {1, 1, 16}},
    {VK_FORMAT_R64G64B64_SFLOAT, {1, 1, 24}},
    {VK_FORMAT_R64G64B64A64_SFLOAT, {1, 1, 32}},
    {VK_FORMAT_E5B9G9R9_UFLOAT_PACK32, {1, 1, 4}},
    {VK_FORMAT_D32_SFLOAT_S8_UINT, {1, 1, 0}},
    {VK_FORMAT_BC1_RGBA_SRGB_BLOCK, {4, 4, 8}},
    {VK_FORMAT_BC3_SRGB_BLOCK, {4, 4, 16}},
    {VK_FORMAT_BC4_SNORM_BLOCK, {4, 4, 8}},
    {VK_FORMAT_BC7_SRGB_BLOCK, {4, 4, 16}},
    {VK_FORMAT_ETC2_R8G8B8A1_SRGB_BLOCK, {4, 4, 8}},
    {VK_FORMAT_ETC2_R8G8B8A8_SRGB_BLOCK, {4, 4, 16}},
    {VK_FORMAT_EAC_R11_SNORM_BLOCK, {4, 4, 8}},
    {VK_FORMAT_EAC_R11G11_SNORM_BLOCK, {4, 4, 16}},
    {VK_FORMAT_ASTC_4x4_SRGB_BLOCK, {4, 4, 16}},
    {VK_FORMAT_ASTC_5x4_SRGB_BLOCK, {5, 4, 16}},
    {VK_FORMAT_ASTC_5x5_SRGB_BLOCK, {5, 5, 16}},
    {VK_FORMAT_ASTC_6x5_SRGB_BLOCK, {6, 5, 16}},
    {VK_FORMAT_ASTC_6x6_SRGB_BLOCK, {6, 6, 16}},
    {VK_FORMAT_ASTC_8x5_SRGB_BLOCK, {8, 5, 16}},
    {VK_FORMAT_ASTC_8x6_SRGB_BLOCK, {8, 6, 16}},
    {VK_FORMAT_ASTC_8x8_SRGB_BLOCK, {8, 8, 16}},
    {VK_FORMAT_ASTC_10x5_SRGB_BLOCK, {10, 5, 16}},
    {VK_FORMAT_ASTC_10x6_SRGB_BLOCK, {10, 6, 16}},
    {VK_FORMAT_ASTC_10x8_SRGB_BLOCK, {10, 8, 16}},
    {VK_FORMAT_ASTC_10x10_SRGB_BLOCK, {10, 10, 16}},
    {VK_FORMAT_ASTC_12x10_SRGB_BLOCK, {12, 10, 16}},
    {VK_FORMAT_ASTC_12x12_SRGB_BLOCK, {12, 12, 16}},
};

struct maar_texel_block maar_texel_block_of(VkFormat format)
{
    if ((int)format >= 0) {
        for (size_t i = 0; i < sizeof texel_block_runs / sizeof texel_block_runs[0]; ++i) {
            if (format <= texel_block_runs[i].last) {
                return texel_block_runs[i].block;
            }
        }
    }
    return (struct maar_texel_block){1, 1, 0};
}
