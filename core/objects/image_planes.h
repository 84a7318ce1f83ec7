/*
 * The planes of an image: what a copy of the whole image must name. A plane is a set of aspects
 * that one region of a copy covers: all aspects of a format with one plane, or one plane of a
 * multi-planar format, which may be smaller than the image.
 */
#ifndef MAAR_CORE_OBJECTS_IMAGE_PLANES_H
#define MAAR_CORE_OBJECTS_IMAGE_PLANES_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

/* The largest number of planes of a format. */
enum { MAAR_MOST_PLANES = 3 };

struct maar_image_plane {
    VkImageAspectFlags aspects;
    uint32_t width_divisor;
    uint32_t height_divisor;
};

/* Writes the planes of a format, and returns their number. */
uint32_t maar_image_planes(VkFormat format, struct maar_image_plane planes[MAAR_MOST_PLANES]);
/* Whether only queues that do graphics copy a format: it has a depth or stencil aspect. */
bool maar_image_is_graphical(VkFormat format);
/* Returns the aspects that a barrier for the whole image names. */
VkImageAspectFlags maar_image_aspects(VkFormat format);
/* Returns the transition of a whole image between layouts, after all writes and before any access,
 * in one queue family. */
VkImageMemoryBarrier maar_image_transition(VkImage image, VkFormat format, VkImageLayout from,
                                           VkImageLayout to);

#endif
