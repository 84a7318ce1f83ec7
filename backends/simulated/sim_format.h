/*
 * Formats: how many bytes a block of texels takes, and what an image of it may be.
 */
#ifndef MAAR_SIM_FORMAT_H
#define MAAR_SIM_FORMAT_H

#include "backends/simulated/sim.h"

/* One plane of a format; a format that is not multi-planar has one. */
struct sim_format_plane {
    uint8_t block_bytes;
    uint8_t block_width, block_height; /* texels in a block */
    uint8_t divide_x, divide_y;        /* how much smaller than the image the plane is */
};

struct sim_format {
    uint32_t plane_count; /* 0: the format is unknown */
    bool depth, stencil;
    struct sim_format_plane planes[SIM_MAX_PLANES];
};

struct sim_format sim_format_of(VkFormat format);

/* Whether the device knows the format at all. */
bool sim_format_is_supported(const struct sim_gpu* gpu, VkFormat format);
/* What an image with these parameters may be; false when it may not be at all. */
bool sim_image_limits(const struct sim_gpu* gpu, VkFormat format, VkImageType type,
                      VkImageTiling tiling, VkImageUsageFlags usage, VkImageCreateFlags flags,
                      VkImageFormatProperties* properties);
/* Whether the device can make this image. */
bool sim_image_is_possible(const struct sim_gpu* gpu, const VkImageCreateInfo* info);
/* Texels of a level in one dimension. */
uint32_t sim_level_extent(uint32_t extent, uint32_t level);
/* Bytes of one plane of one level of an image, one layer and sample. */
VkDeviceSize sim_level_bytes(const struct sim_format_plane* plane, VkExtent3D extent,
                             uint32_t level);
/* Bytes from row to row of level 0 of a linear image. */
VkDeviceSize sim_row_pitch(const struct sim_format_plane* plane, uint32_t width);

/* The plane that an aspect names; SIM_MAX_PLANES for one that names none. */
uint32_t sim_plane_of_aspect(VkFlags aspect);

/* sim_modifier.c */
/* Laid out row by row: linear by Vulkan's word, or by a modifier's. */
bool sim_tiling_is_linear(VkImageTiling tiling);
/* Whether images of the format may be made with a modifier. */
bool sim_modifier_is_offered(const struct sim_gpu* gpu, VkFormat format, VkImageType type);
/* Whether a query's chain names the modifier that there is. */
bool sim_modifier_is_known(const void* chain);
/* Bytes from row to row of a linear image: the program's, if it says, or the driver's. */
VkDeviceSize sim_modifier_row_pitch(const VkImageCreateInfo* info,
                                    const struct sim_format_plane* plane);
/* The rules of a new image with a modifier. Lock held. */
VkResult sim_modifier_check(struct sim_device* device, const VkImageCreateInfo* info);
/* Fills the modifiers of a format. */
void sim_modifier_list(const struct sim_gpu* gpu, VkFormat format, VkFormatFeatureFlags features,
                       VkDrmFormatModifierPropertiesListEXT* list);

#endif
