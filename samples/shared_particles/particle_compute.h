/*
 * Moves particles with a Vulkan compute shader, in the second process.
 */
#ifndef MAAR_SAMPLE_PARTICLE_COMPUTE_H
#define MAAR_SAMPLE_PARTICLE_COMPUTE_H

#include "particle_galaxy.h"
#include "sample_device.h"

struct particle_compute {
    const struct sample_device* device;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkDescriptorPool sets;
    VkDescriptorSet set;
};

/* Creates the objects. Prints an error and returns false on failure. The caller destroys the
 * objects in every case. */
bool particle_compute_create(struct particle_compute* compute, const struct sample_device* device,
                             VkBuffer particles);
void particle_compute_destroy(struct particle_compute* compute);

/* Records one step. */
void particle_compute_record(const struct particle_compute* compute, VkCommandBuffer commands,
                             const struct particle_rules* rules);

#endif
