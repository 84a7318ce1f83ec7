/*
 * The private layout of images.
 *
 * A linear image lies row by row, as vkGetImageSubresourceLayout says. Any other is cut into strips
 * of a few rows; a strip lies column by column, and the whole lies backwards. So no texel but the
 * middle one of an optimal image lies where it would in a linear one, and not one byte is lost. The
 * height of a strip differs between devices. An image with residency has this layout in each tile
 * and in each level of a mip tail.
 */
#include "backends/simulated/sim_texel.h"

enum { SIM_SHORTEST_STRIP = 2, SIM_STRIP_HEIGHTS = 3, SIM_TEXEL_LEVEL_ALIGNMENT = 256 };

/* Returns the height of a strip on a device: 2, 4 or 8 rows. */
static uint32_t sim_strip_of(const struct sim_gpu* gpu)
{
    uint32_t sum = 0;
    for (const char* name = gpu->profile.name; *name != 0; name++) {
        sum += (unsigned char)*name;
    }
    return (uint32_t)SIM_SHORTEST_STRIP << sum % SIM_STRIP_HEIGHTS;
}

/* One aspect of a format: a plane, or a component of a block that holds depth and stencil. */
struct sim_component {
    uint32_t plane;
    uint32_t inner; /* offset in the block */
    uint32_t bytes, stored;
};

static bool sim_component_of(VkFormat format, const struct sim_format* f, VkImageAspectFlags aspect,
                             struct sim_component* component)
{
    const bool both = f->depth && f->stencil;
    const uint32_t block = f->planes[0].block_bytes;
    *component = (struct sim_component){0, 0, block, block};
    if (f->plane_count > 1) {
        component->plane = sim_plane_of_aspect(aspect);
        if (component->plane >= f->plane_count) {
            return false;
        }
        component->bytes = f->planes[component->plane].block_bytes;
        component->stored = component->bytes;
        return true;
    }
    if (!f->depth && !f->stencil) {
        return aspect == VK_IMAGE_ASPECT_COLOR_BIT;
    }
    const bool d24 =
        format == VK_FORMAT_D24_UNORM_S8_UINT || format == VK_FORMAT_X8_D24_UNORM_PACK32;
    const uint32_t depth = format == VK_FORMAT_D16_UNORM || format == VK_FORMAT_D16_UNORM_S8_UINT
                               ? 2
                           : d24 ? 3
                                 : 4;
    if (aspect == VK_IMAGE_ASPECT_DEPTH_BIT && f->depth) {
        component->bytes = depth == 2 ? 2 : 4;
        component->stored = depth;
        return true;
    }
    component->inner = both ? depth : 0;
    component->bytes = 1;
    component->stored = 1;
    return aspect == VK_IMAGE_ASPECT_STENCIL_BIT && f->stencil;
}

VkImageAspectFlags sim_image_aspects(const struct sim_resource* image)
{
    const struct sim_format f = sim_format_of(image->format);
    const VkImageAspectFlags planes[] = {
        VK_IMAGE_ASPECT_COLOR_BIT,
        VK_IMAGE_ASPECT_COLOR_BIT,
        VK_IMAGE_ASPECT_PLANE_0_BIT | VK_IMAGE_ASPECT_PLANE_1_BIT,
        VK_IMAGE_ASPECT_PLANE_0_BIT | VK_IMAGE_ASPECT_PLANE_1_BIT | VK_IMAGE_ASPECT_PLANE_2_BIT,
    };
    const VkImageAspectFlags depth = f.depth ? VK_IMAGE_ASPECT_DEPTH_BIT : 0;
    const VkImageAspectFlags stencil = f.stencil ? VK_IMAGE_ASPECT_STENCIL_BIT : 0;
    return (depth | stencil) != 0 ? depth | stencil : planes[f.plane_count];
}

static void sim_grid_size(const struct sim_resource* image, const struct sim_format_plane* plane,
                          uint32_t level, struct sim_grid* grid)
{
    const uint32_t width = sim_level_extent(image->extent.width, level);
    const uint32_t height = sim_level_extent(image->extent.height, level);
    const uint32_t texels = (width + plane->divide_x - 1u) / plane->divide_x;
    const uint32_t lines = (height + plane->divide_y - 1u) / plane->divide_y;
    grid->block_width = plane->block_width;
    grid->block_height = plane->block_height;
    grid->columns = (texels + plane->block_width - 1u) / plane->block_width;
    grid->rows = (lines + plane->block_height - 1u) / plane->block_height;
    grid->slices = sim_level_extent(image->extent.depth, level);
    grid->samples = image->samples;
}

/* Finds the place of a level of a layer in an image without residency: the planes follow one
 * another, in each its levels, in each its layers. */
static VkDeviceSize sim_packed_at(const struct sim_resource* image, const struct sim_format* f,
                                  uint32_t plane, uint32_t level, uint32_t layer)
{
    VkDeviceSize at = 0;
    const uint32_t first = image->plane_count > 1 ? plane : 0;
    for (uint32_t p = first; p <= plane; p++) {
        const uint32_t end = p < plane ? image->mips : level;
        for (uint32_t l = 0; l < end; l++) {
            at += maar_align_up(sim_level_bytes(&f->planes[p], image->extent, l) * image->layers *
                                    image->samples,
                                SIM_TEXEL_LEVEL_ALIGNMENT);
        }
    }
    return at + sim_level_bytes(&f->planes[plane], image->extent, level) * image->samples * layer;
}

/* Finds the place of a level of a layer in a mip tail. */
static VkDeviceSize sim_tail_level_at(const struct sim_resource* image, const struct sim_cut* cut,
                                      const struct sim_format_plane* plane, uint32_t level,
                                      uint32_t layer)
{
    const bool single = cut->tail.count < image->layers || image->layers == 1;
    const uint32_t together = single ? image->layers : 1;
    VkDeviceSize at = cut->tail.at + cut->tail.at_stride * layer;
    for (uint32_t l = cut->tail_first; l < level; l++) {
        at += sim_level_bytes(plane, image->extent, l) * image->samples * together;
    }
    return at +
           (single ? sim_level_bytes(plane, image->extent, level) * image->samples * layer : 0);
}

/* Lays out one aspect of an image with residency. */
static bool sim_grid_cut(const struct sim_resource* image, VkImageAspectFlags aspect,
                         uint32_t level, uint32_t layer, struct sim_grid* grid)
{
    const struct sim_cut* cut = sim_sparse_cut(image, aspect);
    if (cut == NULL) {
        return false;
    }
    grid->stride = grid->bytes;
    if (level >= cut->tail_first) {
        const struct sim_format_plane plane = {(uint8_t)grid->bytes, (uint8_t)grid->block_width,
                                               (uint8_t)grid->block_height, 1, 1};
        grid->at = sim_tail_level_at(image, cut, &plane, level, layer);
        return true;
    }
    const VkExtent3D texels = cut->format.imageGranularity;
    grid->page = image->pages.page;
    grid->tile = (VkExtent3D){texels.width / grid->block_width, texels.height / grid->block_height,
                              texels.depth};
    grid->tiles = sim_sparse_tiles(image, cut, level);
    grid->at = sim_sparse_level_at(image, cut, layer, level);
    return true;
}

bool sim_grid_of(const struct sim_resource* image, VkImageAspectFlags aspect, uint32_t level,
                 uint32_t layer, struct sim_grid* grid)
{
    const struct sim_format f = sim_format_of(image->format);
    struct sim_component component;
    *grid = (struct sim_grid){0};
    if (level >= image->mips || layer >= image->layers ||
        !sim_component_of(image->format, &f, aspect, &component)) {
        return false;
    }
    sim_grid_size(image, &f.planes[component.plane], level, grid);
    grid->part = image->plane_count > 1 ? component.plane : 0;
    grid->bytes = component.bytes;
    grid->stored = component.stored;
    grid->stride = f.planes[component.plane].block_bytes;
    grid->strip = sim_strip_of(image->object.device->gpu);
    if (image->linear) {
        const VkSubresourceLayout layout = sim_linear_layout(image, &f, component.plane);
        grid->linear = true;
        grid->row_pitch = layout.rowPitch;
        grid->slice_pitch = layout.depthPitch;
        grid->at = layout.offset + layout.arrayPitch * layer;
        return true;
    }
    if (image->pages.residency) {
        return sim_grid_cut(image, aspect, level, layer, grid);
    }
    grid->at = sim_packed_at(image, &f, component.plane, level, layer) + component.inner;
    return true;
}

/* Returns the number of a block among width x height blocks: strip by strip, and in each column by
 * column. The last strip may be lower. */
static VkDeviceSize sim_strip_index(uint32_t strip, uint32_t width, uint32_t height, uint32_t x,
                                    uint32_t y)
{
    const uint32_t above = y / strip * strip;
    const uint32_t rows = height - above < strip ? height - above : strip;
    return (VkDeviceSize)above * width + (VkDeviceSize)x * rows + (y - above);
}

VkDeviceSize sim_grid_place(const struct sim_grid* grid, VkExtent3D block, uint32_t sample)
{
    if (grid->linear) {
        return grid->at + grid->slice_pitch * block.depth + grid->row_pitch * block.height +
               (VkDeviceSize)grid->stride * block.width;
    }
    VkExtent3D room = {grid->columns, grid->rows, grid->slices};
    VkExtent3D in = block;
    VkDeviceSize at = grid->at;
    if (grid->page != 0) {
        room = grid->tile;
        in = (VkExtent3D){block.width % room.width, block.height % room.height,
                          block.depth % room.depth};
        const VkDeviceSize row = (VkDeviceSize)block.depth / room.depth * grid->tiles.height +
                                 block.height / room.height;
        at += (row * grid->tiles.width + block.width / room.width) * grid->page;
    }
    const VkDeviceSize flat = (VkDeviceSize)room.width * room.height;
    const VkDeviceSize count = flat * room.depth * grid->samples;
    const VkDeviceSize index =
        flat * (in.depth + (VkDeviceSize)room.depth * sample) +
        sim_strip_index(grid->strip, room.width, room.height, in.width, in.height);
    return at + (count - 1 - index) * grid->stride;
}

uint32_t sim_grid_column(const struct sim_grid* grid, uint32_t row, uint32_t most)
{
    const uint32_t height = grid->page != 0 ? grid->tile.height : grid->rows;
    const uint32_t in = row % height;
    const uint32_t strip_left = grid->strip - in % grid->strip;
    const uint32_t room_left = height - in;
    const uint32_t left = strip_left < room_left ? strip_left : room_left;
    if (grid->linear || grid->stride != grid->stored) {
        return 1;
    }
    return left < most ? left : most;
}
