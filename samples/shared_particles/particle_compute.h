/*
 * Moving particles with a Vulkan compute shader: what the other process does.
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

/* Complains and returns false when it cannot; destroy in any case. */
bool particle_compute_create(struct particle_compute* compute, const struct sample_device* device,
                             VkBuffer particles);
void particle_compute_destroy(struct particle_compute* compute);

/* Records one step. */
void particle_compute_record(const struct particle_compute* compute, VkCommandBuffer commands,
                             const struct particle_rules* rules);

#endif
