/*
 * Texel blocks: their extent and size in Vulkan's colour formats.
 */
#ifndef MAAR_CORE_TILE_CACHE_TEXEL_BLOCK_H
#define MAAR_CORE_TILE_CACHE_TEXEL_BLOCK_H

#include <stdint.h>
#include <vulkan/vulkan_core.h>

/* A block of texels. */
struct maar_texel_block {
    uint32_t width; /* texels */
    uint32_t height;
    uint32_t size; /* bytes; 0: an unknown format, or not a single colour plane */
};

/* Returns the texel block of a format. */
struct maar_texel_block maar_texel_block_of(VkFormat format);

#endif
