/*
 * Where an image's texels lie: sim_texel.c.
 *
 * A grid is one aspect of one level of one layer, as blocks along x, y and z. A block of a format
 * without compression is a texel. The place of a block is an offset in a part of the image, in the
 * order that sim_sparse.h describes for sparse images.
 */
#ifndef MAAR_SIM_TEXEL_H
#define MAAR_SIM_TEXEL_H

#include "backends/simulated/sim_format.h"
#include "backends/simulated/sim_resource.h"

struct sim_grid {
    uint32_t part;                      /* part of the image, for resources bound in parts */
    uint32_t columns, rows, slices;     /* blocks */
    uint32_t samples;                   /* of each block */
    uint32_t block_width, block_height; /* texels */
    uint32_t bytes;                     /* of a block in a buffer */
    uint32_t stored;                    /* bytes of them that the image keeps, the first ones */
    uint32_t stride;                    /* bytes from a block to the next one of its row or strip */
    bool linear;                        /* row by row; the two pitches matter */
    VkDeviceSize row_pitch, slice_pitch; /* bytes */
    uint32_t strip;                      /* rows in a strip of an optimal image */
    VkDeviceSize page;                   /* bytes of a tile; 0: the blocks are not in tiles */
    VkExtent3D tile, tiles;              /* blocks in a tile; tiles in the level */
    VkDeviceSize at;                     /* place of the first byte */
};

/* Finds the grid of one aspect of a level of a layer. Returns false if the image has none. */
bool sim_grid_of(const struct sim_resource* image, VkImageAspectFlags aspect, uint32_t level,
                 uint32_t layer, struct sim_grid* grid);
/* Returns the place of one sample of a block that lies inside the grid. */
VkDeviceSize sim_grid_place(const struct sim_grid* grid, VkExtent3D block, uint32_t sample);
/* Returns how many rows from a block on lie together in its column, at most `most`. */
uint32_t sim_grid_column(const struct sim_grid* grid, uint32_t row, uint32_t most);
/* Returns the aspects that all of an image's texels have. */
VkImageAspectFlags sim_image_aspects(const struct sim_resource* image);

#endif
