/*
 * Rendering: particles as points of light that fade behind them, and the picture of it.
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
    VkImage light; /* what was gathered */
    MaarAllocation light_memory;
    VkImageView light_view;
    VkBuffer pixels;
    MaarAllocation pixels_memory;
    VkDescriptorSetLayout set_layout;
    VkDescriptorPool sets;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline pipelines[PARTICLE_PIPELINE_COUNT];
    uint32_t drawn; /* frames */
};

/* Complains and returns false when it cannot; destroy in any case. */
bool particle_view_create(struct particle_view* view, const struct sample_device* device,
                          uint32_t width, uint32_t height);
void particle_view_destroy(struct particle_view* view);

/* Records a frame: darkens what was gathered, and adds the particles of a buffer, which it reads as
 * vertices. */
void particle_view_draw(struct particle_view* view, VkCommandBuffer commands, VkBuffer particles,
                        uint32_t count);

/* Records a picture of what was gathered. */
void particle_view_shoot(const struct particle_view* view, VkCommandBuffer commands);

/* The picture that was recorded last, once it has been executed: four bytes a pixel. */
bool particle_view_read(const struct particle_view* view, uint8_t* pixels);

#endif
