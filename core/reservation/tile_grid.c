/*
 * The tiles of an image's levels: grids, boxes and covers.
 */
#include "core/reservation/tile_grid.h"

#include <string.h>

static uint32_t tiles_up(uint64_t value, uint32_t by)
{
    return (uint32_t)((value + by - 1) / by);
}

bool maar_tile_grid_init(struct maar_tile_grid* grid, VkExtent3D extent, VkExtent3D tile,
                         uint32_t mip_levels, uint32_t level_count)
{
    const uint32_t whole[3] = {extent.width, extent.height, extent.depth};
    const uint32_t size[3] = {tile.width, tile.height, tile.depth};
    uint64_t total = 0;
    memset(grid, 0, sizeof *grid);
    memcpy(grid->tile, size, sizeof size);
    grid->mip_levels = mip_levels;
    grid->level_count = level_count;
    for (uint32_t i = 0; i < mip_levels; ++i) {
        struct maar_tile_level* level = &grid->levels[i];
        uint64_t count = 1;
        level->first = (uint32_t)total;
        for (uint32_t axis = 0; axis < 3; ++axis) {
            level->extent[axis] = whole[axis] >> i > 1 ? whole[axis] >> i : 1;
            level->tiles[axis] = tiles_up(level->extent[axis], size[axis]);
            count *= level->tiles[axis];
            if (count > UINT32_MAX) {
                return false;
            }
        }
        level->count = (uint32_t)count;
        total += count;
        if (total > UINT32_MAX) {
            return false;
        }
        grid->total = i < level_count ? (uint32_t)total : grid->total;
    }
    return true;
}

/* Returns the tiles that the texels touch or, with `whole`, the tiles that lie in them. */
static struct maar_tile_box texel_box(const struct maar_tile_grid* grid, uint32_t level,
                                      VkOffset3D offset, VkExtent3D extent, bool whole)
{
    const struct maar_tile_level* of = &grid->levels[level];
    const uint32_t from[3] = {(uint32_t)offset.x, (uint32_t)offset.y, (uint32_t)offset.z};
    const uint32_t size[3] = {extent.width, extent.height, extent.depth};
    struct maar_tile_box box;
    for (uint32_t axis = 0; axis < 3; ++axis) {
        const uint32_t tile = grid->tile[axis];
        const uint64_t end = (uint64_t)from[axis] + size[axis];
        box.first[axis] = whole ? tiles_up(from[axis], tile) : from[axis] / tile;
        if (size[axis] == 0) {
            box.end[axis] = box.first[axis];
        } else if (end >= of->extent[axis]) {
            box.end[axis] = of->tiles[axis];
        } else {
            box.end[axis] = whole ? (uint32_t)(end / tile) : tiles_up(end, tile);
        }
    }
    return box;
}

struct maar_tile_box maar_tile_box_touched(const struct maar_tile_grid* grid, uint32_t level,
                                           VkOffset3D offset, VkExtent3D extent)
{
    return texel_box(grid, level, offset, extent, false);
}

struct maar_tile_box maar_tile_box_within(const struct maar_tile_grid* grid, uint32_t level,
                                          VkOffset3D offset, VkExtent3D extent)
{
    return texel_box(grid, level, offset, extent, true);
}

/* Finds the tiles [*first, *end) of the coarser level on one axis. */
static void cover_axis(uint32_t tile, uint32_t fine, uint32_t coarse, uint32_t at, uint32_t* first,
                       uint32_t* end)
{
    if (fine == 2 * coarse && tile % 2 == 0) {
        *first = at / 2;
        *end = *first + 1;
        return;
    }
    const uint64_t begin = (uint64_t)at * tile;
    const uint64_t next = begin + tile < fine ? begin + tile : fine;
    /* The texels of the coarser level that show the same part of the image. */
    *first = (uint32_t)(begin * coarse / fine / tile);
    *end = tiles_up((next * coarse + fine - 1) / fine, tile);
}

struct maar_tile_box maar_tile_cover(const struct maar_tile_grid* grid, uint32_t level,
                                     uint32_t number)
{
    const struct maar_tile_level* fine = &grid->levels[level];
    const struct maar_tile_level* coarse = &grid->levels[level + 1];
    uint32_t at[3];
    struct maar_tile_box box;
    maar_tile_place(fine, number, at);
    for (uint32_t axis = 0; axis < 3; ++axis) {
        if (coarse->tiles[axis] == 1) {
            box.first[axis] = 0;
            box.end[axis] = 1;
        } else {
            cover_axis(grid->tile[axis], fine->extent[axis], coarse->extent[axis], at[axis],
                       &box.first[axis], &box.end[axis]);
        }
    }
    return box;
}

static uint8_t worst_of(const struct maar_tile_level* level, const struct maar_tile_box* box,
                        const uint8_t* usable)
{
    uint8_t worst = 0;
    uint32_t at[3];
    for (bool more = maar_tile_box_begin(box, at); more; more = maar_tile_box_next(box, at)) {
        const uint8_t value = usable[maar_tile_number(level, at)];
        worst = value > worst ? value : worst;
    }
    return worst;
}

void maar_tile_usable_levels(const struct maar_tile_grid* grid, bool has_tail, uint8_t* tiles)
{
    const uint32_t last = grid->level_count;
    const uint8_t tail = (uint8_t)(has_tail ? last : grid->mip_levels);
    if (last == 0) {
        tiles[0] = tail;
    }
    for (uint32_t l = last; l-- > 0;) {
        const struct maar_tile_level* level = &grid->levels[l];
        for (uint32_t i = 0; i < level->count; ++i) {
            uint8_t above = tail;
            if (l + 1 < last) {
                const struct maar_tile_box cover = maar_tile_cover(grid, l, i);
                above = worst_of(&grid->levels[l + 1], &cover, tiles + grid->levels[l + 1].first);
            }
            uint8_t* tile = &tiles[level->first + i];
            *tile = (uint8_t)(above == l + 1 && *tile != 0 ? l : above);
        }
    }
}
