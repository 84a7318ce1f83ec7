/*
 * Creates samplers, descriptor layouts and pipelines from the frame's tables. Set 0 belongs to the
 * frame: constants, noise, instances. Set 1 belongs to the pass.
 */
#ifndef MAAR_SAMPLE_FRAME_PIPELINES_H
#define MAAR_SAMPLE_FRAME_PIPELINES_H

#include "frame_tables.h"
#include "sample_device.h"

#define FRAME_MAX_PASSES 48

/* The push constants of every shader. */
struct frame_push {
    float size[4]; /* of the pass's output: width, height, and their reciprocals */
    float parameters[4];
};

struct frame_pipelines {
    VkSampler fetch, filter, compare, repeat;
    VkDescriptorSetLayout frame_layout;
    uint32_t
        owners[FRAME_MAX_PASSES]; /* the first pass with the same shaders, which has the objects */
    VkDescriptorSetLayout set_layouts[FRAME_MAX_PASSES];
    VkPipelineLayout layouts[FRAME_MAX_PASSES];
    VkPipeline pipelines[FRAME_MAX_PASSES]; /* VK_NULL_HANDLE for passes without shaders */
};

/* Creates all pipelines. Prints an error on failure. The caller destroys the pipelines in every
 * case. */
bool frame_pipelines_create(struct frame_pipelines* pipelines, struct sample_device* device);

void frame_pipelines_destroy(struct frame_pipelines* pipelines, struct sample_device* device);

/* Returns the sampler for a use, or VK_NULL_HANDLE. */
VkSampler frame_pipelines_sampler(const struct frame_pipelines* pipelines,
                                  enum frame_use_kind kind);

bool frame_pass_has_pipeline(const struct frame_pass_info* pass);

#endif
