/*
 * How many bytes texels take: the sizes of Vulkan's colour formats.
 */
#ifndef MAAR_CORE_TILE_CACHE_TEXEL_BLOCK_H
#define MAAR_CORE_TILE_CACHE_TEXEL_BLOCK_H

#include <stdint.h>
#include <vulkan/vulkan_core.h>

struct maar_texel_block {
    uint32_t width; /* texels */
    uint32_t height;
    uint32_t size; /* bytes; 0: not known, or no format of one colour plane */
};

struct maar_texel_block maar_texel_block_of(VkFormat format);

#endif
