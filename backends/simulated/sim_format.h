/*
 * Formats: the bytes of a block of texels, and the images that a format allows.
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

/* Returns whether the device knows the format. */
bool sim_format_is_supported(const struct sim_gpu* gpu, VkFormat format);
/* Fills in the limits of images with these parameters. Returns false when no such image is
 * possible. */
bool sim_image_limits(const struct sim_gpu* gpu, VkFormat format, VkImageType type,
                      VkImageTiling tiling, VkImageUsageFlags usage, VkImageCreateFlags flags,
                      VkImageFormatProperties* properties);
/* Returns whether the device can create this image. */
bool sim_image_is_possible(const struct sim_gpu* gpu, const VkImageCreateInfo* info);
/* Returns the texels of a level in one dimension. */
uint32_t sim_level_extent(uint32_t extent, uint32_t level);
/* Returns the bytes of one plane of one level of an image, for one layer and one sample. */
VkDeviceSize sim_level_bytes(const struct sim_format_plane* plane, VkExtent3D extent,
                             uint32_t level);
/* Returns the distance in bytes between rows of level 0 of a linear image. */
VkDeviceSize sim_row_pitch(const struct sim_format_plane* plane, uint32_t width);

/* Returns the plane that an aspect names; SIM_MAX_PLANES if it names none. */
uint32_t sim_plane_of_aspect(VkFlags aspect);

/* sim_modifier.c */
/* Returns whether an image is laid out row by row, either by linear tiling or by its modifier. */
bool sim_tiling_is_linear(VkImageTiling tiling);
/* Returns whether images of the format may be created with a modifier. */
bool sim_modifier_is_offered(const struct sim_gpu* gpu, VkFormat format, VkImageType type);
/* Returns whether a query's chain names the offered modifier. */
bool sim_modifier_is_known(const void* chain);
/* Returns the distance in bytes between rows of a linear image: the program's value if it gives
 * one, else the driver's. */
VkDeviceSize sim_modifier_row_pitch(const VkImageCreateInfo* info,
                                    const struct sim_format_plane* plane);
/* Checks the rules of a new image with a modifier. Lock held. */
VkResult sim_modifier_check(struct sim_device* device, const VkImageCreateInfo* info);
/* Fills in the modifiers of a format. */
void sim_modifier_list(const struct sim_gpu* gpu, VkFormat format, VkFormatFeatureFlags features,
                       VkDrmFormatModifierPropertiesListEXT* list);

#endif
