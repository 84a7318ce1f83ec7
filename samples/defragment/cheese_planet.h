/*
 * A planet: an image, a buffer, and what refers to them. The create infos are kept, because an
 * object that moves is created anew.
 */
#ifndef MAAR_SAMPLE_CHEESE_PLANET_H
#define MAAR_SAMPLE_CHEESE_PLANET_H

#include "sample_device.h"

/* How planets are described to the shaders. */
struct cheese_sets {
    VkDevice device;
    VkDescriptorSetLayout layout;
    VkDescriptorPool pool;
    VkSampler sampler;
};

/* The objects that refer to memory. They are replaced together when the memory moves. */
struct cheese_objects {
    VkImage image;
    VkBuffer buffer;
    VkImageView view;
    VkDescriptorSet set;
};

struct cheese_planet {
    uint32_t number;
    uint32_t size; /* of the image, texels */
    uint32_t grid; /* heights in a row of the buffer */
    VkImageCreateInfo image_info;
    VkBufferCreateInfo buffer_info;
    MaarAllocation image_memory;
    MaarAllocation buffer_memory;
    struct cheese_objects objects;
    struct cheese_objects moved; /* the new image and the new buffer, while they move */
};

/* Creates the layout, the sampler and a pool for so many sets. Prints an error and returns false
 * on failure. The caller destroys them in every case. */
bool cheese_sets_create(struct cheese_sets* sets, VkDevice device, uint32_t count);
void cheese_sets_destroy(struct cheese_sets* sets);

/* Creates the image and the buffer of a planet in a pool. */
bool cheese_planet_create(struct cheese_planet* planet, const struct sample_device* device,
                          MaarPool pool, uint32_t number);
/* Destroys everything. The device must be done with it. */
void cheese_planet_destroy(struct cheese_planet* planet, const struct sample_device* device,
                           const struct cheese_sets* sets);

/* Returns whether a planet was not destroyed. */
bool cheese_planet_is_kept(const struct cheese_planet* planet);

/* Gives objects their view and their set. The image and the buffer must be bound to memory. */
bool cheese_objects_describe(struct cheese_objects* objects, const VkImageCreateInfo* image_info,
                             const struct cheese_sets* sets);

/* The create infos of an image and of a buffer. */
VkImageCreateInfo cheese_image_info(uint32_t size);
VkBufferCreateInfo cheese_buffer_info(uint32_t grid);

#endif
