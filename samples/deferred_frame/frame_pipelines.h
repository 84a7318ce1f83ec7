/*
 * Samplers, descriptor layouts and pipelines, made from the frame's tables. Set 0 is the frame's:
 * constants, noise, instances; set 1 is the pass's own.
 */
#ifndef MAAR_SAMPLE_FRAME_PIPELINES_H
#define MAAR_SAMPLE_FRAME_PIPELINES_H

#include "frame_tables.h"
#include "sample_device.h"

#define FRAME_MAX_PASSES 48

/* What every shader is pushed. */
struct frame_push {
    float size[4]; /* of what the pass writes: width, height, and their reciprocals */
    float parameters[4];
};

struct frame_pipelines {
    VkSampler fetch, filter, compare, repeat;
    VkDescriptorSetLayout frame_layout;
    uint32_t owners[FRAME_MAX_PASSES]; /* the first pass of the same shaders: it has the objects */
    VkDescriptorSetLayout set_layouts[FRAME_MAX_PASSES];
    VkPipelineLayout layouts[FRAME_MAX_PASSES];
    VkPipeline pipelines[FRAME_MAX_PASSES]; /* VK_NULL_HANDLE for passes without shaders */
};

/* Complains on failure; destroy in any case. */
bool frame_pipelines_create(struct frame_pipelines* pipelines, struct sample_device* device);

void frame_pipelines_destroy(struct frame_pipelines* pipelines, struct sample_device* device);

/* The sampler for a use, or VK_NULL_HANDLE. */
VkSampler frame_pipelines_sampler(const struct frame_pipelines* pipelines,
                                  enum frame_use_kind kind);

bool frame_pass_has_pipeline(const struct frame_pass_info* pass);

#endif
