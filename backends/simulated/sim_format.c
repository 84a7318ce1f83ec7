/*
 * The table of formats, as ranges of VkFormat that share a block size.
 */
#include "backends/simulated/sim_format.h"

/* Rows of a linear image are padded to this many bytes; a common texel-fetch width. */
enum { SIM_ROW_ALIGNMENT = 64 };

struct sim_format_range {
    int first, last;
    uint8_t bytes;
};

static const struct sim_format_range sim_plain_formats[] = {
    {VK_FORMAT_R4G4_UNORM_PACK8, VK_FORMAT_R4G4_UNORM_PACK8, 1},
    {VK_FORMAT_R4G4B4A4_UNORM_PACK16, VK_FORMAT_A1R5G5B5_UNORM_PACK16, 2},
    {VK_FORMAT_R8_UNORM, VK_FORMAT_R8_SRGB, 1},
    {VK_FORMAT_R8G8_UNORM, VK_FORMAT_R8G8_SRGB, 2},
    {VK_FORMAT_R8G8B8_UNORM, VK_FORMAT_B8G8R8_SRGB, 3},
    {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_A2B10G10R10_SINT_PACK32, 4},
    {VK_FORMAT_R16_UNORM, VK_FORMAT_R16_SFLOAT, 2},
    {VK_FORMAT_R16G16_UNORM, VK_FORMAT_R16G16_SFLOAT, 4},
    {VK_FORMAT_R16G16B16_UNORM, VK_FORMAT_R16G16B16_SFLOAT, 6},
    {VK_FORMAT_R16G16B16A16_UNORM, VK_FORMAT_R16G16B16A16_SFLOAT, 8},
    {VK_FORMAT_R32_UINT, VK_FORMAT_R32_SFLOAT, 4},
    {VK_FORMAT_R32G32_UINT, VK_FORMAT_R32G32_SFLOAT, 8},
    {VK_FORMAT_R32G32B32_UINT, VK_FORMAT_R32G32B32_SFLOAT, 12},
    {VK_FORMAT_R32G32B32A32_UINT, VK_FORMAT_R32G32B32A32_SFLOAT, 16},
    {VK_FORMAT_R64_UINT, VK_FORMAT_R64_SFLOAT, 8},
    {VK_FORMAT_R64G64_UINT, VK_FORMAT_R64G64_SFLOAT, 16},
    {VK_FORMAT_R64G64B64_UINT, VK_FORMAT_R64G64B64_SFLOAT, 24},
    {VK_FORMAT_R64G64B64A64_UINT, VK_FORMAT_R64G64B64A64_SFLOAT, 32},
    {VK_FORMAT_B10G11R11_UFLOAT_PACK32, VK_FORMAT_E5B9G9R9_UFLOAT_PACK32, 4},
    {VK_FORMAT_D16_UNORM, VK_FORMAT_D16_UNORM, 2},
    {VK_FORMAT_X8_D24_UNORM_PACK32, VK_FORMAT_D32_SFLOAT, 4},
    {VK_FORMAT_S8_UINT, VK_FORMAT_S8_UINT, 1},
    {VK_FORMAT_D16_UNORM_S8_UINT, VK_FORMAT_D24_UNORM_S8_UINT, 4},
    {VK_FORMAT_D32_SFLOAT_S8_UINT, VK_FORMAT_D32_SFLOAT_S8_UINT, 8},
};

/* Blocks of 4x4 texels. */
static const struct sim_format_range sim_block_formats[] = {
    {VK_FORMAT_BC1_RGB_UNORM_BLOCK, VK_FORMAT_BC1_RGBA_SRGB_BLOCK, 8},
    {VK_FORMAT_BC2_UNORM_BLOCK, VK_FORMAT_BC3_SRGB_BLOCK, 16},
    {VK_FORMAT_BC4_UNORM_BLOCK, VK_FORMAT_BC4_SNORM_BLOCK, 8},
    {VK_FORMAT_BC5_UNORM_BLOCK, VK_FORMAT_BC7_SRGB_BLOCK, 16},
    {VK_FORMAT_ETC2_R8G8B8_UNORM_BLOCK, VK_FORMAT_ETC2_R8G8B8A1_SRGB_BLOCK, 8},
    {VK_FORMAT_ETC2_R8G8B8A8_UNORM_BLOCK, VK_FORMAT_ETC2_R8G8B8A8_SRGB_BLOCK, 16},
    {VK_FORMAT_EAC_R11_UNORM_BLOCK, VK_FORMAT_EAC_R11_SNORM_BLOCK, 8},
    {VK_FORMAT_EAC_R11G11_UNORM_BLOCK, VK_FORMAT_EAC_R11G11_SNORM_BLOCK, 16},
};

struct sim_planar_row {
    VkFormat format;
    uint8_t planes, bytes, divide_x, divide_y;
};

static const struct sim_planar_row sim_planar_formats[] = {
    {VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM, 3, 1, 2, 2},
    {VK_FORMAT_G8_B8R8_2PLANE_420_UNORM, 2, 1, 2, 2},
    {VK_FORMAT_G8_B8_R8_3PLANE_422_UNORM, 3, 1, 2, 1},
    {VK_FORMAT_G8_B8R8_2PLANE_422_UNORM, 2, 1, 2, 1},
    {VK_FORMAT_G8_B8_R8_3PLANE_444_UNORM, 3, 1, 1, 1},
    {VK_FORMAT_G10X6_B10X6_R10X6_3PLANE_420_UNORM_3PACK16, 3, 2, 2, 2},
    {VK_FORMAT_G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16, 2, 2, 2, 2},
    {VK_FORMAT_G16_B16_R16_3PLANE_420_UNORM, 3, 2, 2, 2},
    {VK_FORMAT_G16_B16R16_2PLANE_420_UNORM, 2, 2, 2, 2},
};

static uint8_t sim_range_bytes(const struct sim_format_range* ranges, size_t count, VkFormat format)
{
    for (size_t i = 0; i < count; i++) {
        if ((int)format >= ranges[i].first && (int)format <= ranges[i].last) {
            return ranges[i].bytes;
        }
    }
    return 0;
}

#define SIM_RANGE_COUNT(ranges) (sizeof(ranges) / sizeof((ranges)[0]))

static struct sim_format sim_planar_format(VkFormat format)
{
    struct sim_format found = {0};
    for (size_t i = 0; i < SIM_RANGE_COUNT(sim_planar_formats); i++) {
        const struct sim_planar_row* row = &sim_planar_formats[i];
        if (row->format != format) {
            continue;
        }
        found.plane_count = row->planes;
        found.planes[0] = (struct sim_format_plane){row->bytes, 1, 1, 1, 1};
        for (uint32_t plane = 1; plane < row->planes; plane++) {
            const uint8_t components = row->planes == 2 ? 2 : 1;
            found.planes[plane] = (struct sim_format_plane){(uint8_t)(row->bytes * components), 1,
                                                            1, row->divide_x, row->divide_y};
        }
    }
    return found;
}

struct sim_format sim_format_of(VkFormat format)
{
    struct sim_format found = {0};
    uint8_t bytes = sim_range_bytes(sim_plain_formats, SIM_RANGE_COUNT(sim_plain_formats), format);
    uint8_t block = 1;
    if (bytes == 0) {
        bytes = sim_range_bytes(sim_block_formats, SIM_RANGE_COUNT(sim_block_formats), format);
        block = 4;
    }
    if (bytes == 0) {
        return sim_planar_format(format);
    }
    found.plane_count = 1;
    found.depth = (format >= VK_FORMAT_D16_UNORM && format <= VK_FORMAT_D32_SFLOAT) ||
                  (format >= VK_FORMAT_D16_UNORM_S8_UINT && format <= VK_FORMAT_D32_SFLOAT_S8_UINT);
    found.stencil = format >= VK_FORMAT_S8_UINT && format <= VK_FORMAT_D32_SFLOAT_S8_UINT;
    found.planes[0] = (struct sim_format_plane){bytes, block, block, 1, 1};
    return found;
}

bool sim_format_is_supported(const struct sim_gpu* gpu, VkFormat format)
{
    if (gpu->profile.requirements.depth24Unsupported &&
        (format == VK_FORMAT_X8_D24_UNORM_PACK32 || format == VK_FORMAT_D24_UNORM_S8_UINT)) {
        return false;
    }
    return sim_format_of(format).plane_count != 0;
}

uint32_t sim_level_extent(uint32_t extent, uint32_t level)
{
    const uint32_t size = level < 32 ? extent >> level : 0;
    return size != 0 ? size : 1;
}

VkDeviceSize sim_level_bytes(const struct sim_format_plane* plane, VkExtent3D extent,
                             uint32_t level)
{
    const uint32_t width = sim_level_extent(extent.width, level);
    const uint32_t height = sim_level_extent(extent.height, level);
    const uint32_t columns = (width + plane->divide_x - 1u) / plane->divide_x;
    const uint32_t rows = (height + plane->divide_y - 1u) / plane->divide_y;
    const VkDeviceSize blocks =
        (VkDeviceSize)((columns + plane->block_width - 1u) / plane->block_width) *
        ((rows + plane->block_height - 1u) / plane->block_height);
    return blocks * sim_level_extent(extent.depth, level) * plane->block_bytes;
}

VkDeviceSize sim_row_pitch(const struct sim_format_plane* plane, uint32_t width)
{
    const uint32_t columns = (width + plane->divide_x - 1u) / plane->divide_x;
    const VkDeviceSize blocks = (columns + plane->block_width - 1u) / plane->block_width;
    return maar_align_up(blocks * plane->block_bytes, SIM_ROW_ALIGNMENT);
}
