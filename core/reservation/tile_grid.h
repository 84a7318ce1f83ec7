/*
 * The tiles of an image's levels: how many there are, and which tiles of a coarser level cover one.
 * All of this is arithmetic on integers. The number of a tile in its level runs along x, then y,
 * then z, as in a page table.
 *
 * A tile is covered by the tiles of the next level that show the same part of the image. Each level
 * has half the extent of the level before, rounded down. So with sizes that are no powers of two,
 * up to two tiles on each axis cover one tile.
 */
#ifndef MAAR_CORE_RESERVATION_TILE_GRID_H
#define MAAR_CORE_RESERVATION_TILE_GRID_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

/* The largest number of levels of an image, since its extents are 32-bit numbers. */
enum { MAAR_TILE_MAX_LEVELS = 32 };

/* The tiles of one level. */
struct maar_tile_level {
    uint32_t extent[3]; /* texels */
    uint32_t tiles[3];
    uint32_t count;
    uint32_t first; /* number of tiles in all finer levels */
};

/* The tiles of all levels. */
struct maar_tile_grid {
    uint32_t tile[3];     /* texels */
    uint32_t mip_levels;  /* of the image */
    uint32_t level_count; /* levels with tiles of their own: those above the tail */
    uint32_t total;       /* number of tiles */
    struct maar_tile_level levels[MAAR_TILE_MAX_LEVELS];
};

/* Tiles [first, end) of a level, on each axis. */
struct maar_tile_box {
    uint32_t first[3];
    uint32_t end[3];
};

/* Fills in a grid. Returns false when it has 2^32 tiles or more. Levels from level_count on are
 * filled in too, as if they had tiles, but `total` does not count these. */
bool maar_tile_grid_init(struct maar_tile_grid* grid, VkExtent3D extent, VkExtent3D tile,
                         uint32_t mip_levels, uint32_t level_count);

/* Returns the number of the tile at a place in its level. */
static inline uint32_t maar_tile_number(const struct maar_tile_level* level, const uint32_t at[3])
{
    return (at[2] * level->tiles[1] + at[1]) * level->tiles[0] + at[0];
}

/* Writes the place of a tile by its number. */
static inline void maar_tile_place(const struct maar_tile_level* level, uint32_t number,
                                   uint32_t at[3])
{
    at[0] = number % level->tiles[0];
    at[1] = number / level->tiles[0] % level->tiles[1];
    at[2] = number / level->tiles[0] / level->tiles[1];
}

/* Whether a box contains no tile. */
static inline bool maar_tile_box_is_empty(const struct maar_tile_box* box)
{
    return box->first[0] >= box->end[0] || box->first[1] >= box->end[1] ||
           box->first[2] >= box->end[2];
}

/* Walk a box's tiles in the order of their numbers. Both return false when there is no tile, or
 * none left. */
static inline bool maar_tile_box_begin(const struct maar_tile_box* box, uint32_t at[3])
{
    at[0] = box->first[0];
    at[1] = box->first[1];
    at[2] = box->first[2];
    return !maar_tile_box_is_empty(box);
}

static inline bool maar_tile_box_next(const struct maar_tile_box* box, uint32_t at[3])
{
    for (uint32_t axis = 0; axis < 3; ++axis) {
        if (++at[axis] < box->end[axis]) {
            return true;
        }
        at[axis] = box->first[axis];
    }
    return false;
}

/* Return the tiles that a box of texels touches, or those that lie wholly in it. A tile that the
 * edge of the level cuts counts as whole. The box begins within the level. */
struct maar_tile_box maar_tile_box_touched(const struct maar_tile_grid* grid, uint32_t level,
                                           VkOffset3D offset, VkExtent3D extent);
struct maar_tile_box maar_tile_box_within(const struct maar_tile_grid* grid, uint32_t level,
                                          VkOffset3D offset, VkExtent3D extent);

/* Returns the tiles of the next coarser level that cover a tile of `level`, which is not the
 * last. */
struct maar_tile_box maar_tile_cover(const struct maar_tile_grid* grid, uint32_t level,
                                     uint32_t number);

/* Finds for each tile the lowest level from which on all tiles that cover it are present, or
 * mip_levels if even the tail is missing. tiles: grid->total bytes, at least 1. On input a byte is
 * not 0 for a tile that is present. On output the bytes are the levels, those of level 0 first. */
void maar_tile_usable_levels(const struct maar_tile_grid* grid, bool has_tail, uint8_t* tiles);

#endif
