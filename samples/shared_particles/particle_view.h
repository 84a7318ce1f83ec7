/*
 * Renders particles as points of light with fading trails, and makes a picture of the result.
 */
#ifndef MAAR_SAMPLE_PARTICLE_VIEW_H
#define MAAR_SAMPLE_PARTICLE_VIEW_H

#include "sample_device.h"

enum particle_pipeline {
    PARTICLE_PIPELINE_STARS,
    PARTICLE_PIPELINE_FADE,
    PARTICLE_PIPELINE_TONE,
    PARTICLE_PIPELINE_COUNT
};

struct particle_view {
    const struct sample_device* device;
    uint32_t width, height;
    VkImage light; /* the gathered light */
    MaarAllocation light_memory;
    VkImageView light_view;
    VkBuffer pixels;
    MaarAllocation pixels_memory;
    VkDescriptorSetLayout set_layout;
    VkDescriptorPool sets;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline pipelines[PARTICLE_PIPELINE_COUNT];
    uint32_t drawn; /* number of drawn frames */
};

/* Creates the objects. Prints an error and returns false on failure. The caller destroys the
 * objects in every case. */
bool particle_view_create(struct particle_view* view, const struct sample_device* device,
                          uint32_t width, uint32_t height);
void particle_view_destroy(struct particle_view* view);

/* Records a frame: darkens the gathered light and adds the particles of a buffer, which are read as
 * vertices. */
void particle_view_draw(struct particle_view* view, VkCommandBuffer commands, VkBuffer particles,
                        uint32_t count);

/* Records a picture of the gathered light. */
void particle_view_shoot(const struct particle_view* view, VkCommandBuffer commands);

/* Returns the last recorded picture, whose commands must have been executed: four bytes for each
 * pixel. */
bool particle_view_read(const struct particle_view* view, uint8_t* pixels);

#endif
