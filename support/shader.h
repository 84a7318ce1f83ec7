/*
 * Creates pipelines of the programs' own shaders by volk's global functions. Safe from any thread.
 */
#ifndef MAAR_SUPPORT_SHADER_H
#define MAAR_SUPPORT_SHADER_H

#include "volk.h"

#include <stddef.h>
#include <stdint.h>

struct support_shader {
    const uint32_t* words;
    size_t size; /* bytes */
};

/* Initialises a support_shader with the array of a generated header: SUPPORT_SHADER(fill_comp). */
#define SUPPORT_SHADER(name)                                                                       \
    {                                                                                              \
        maar_shader_##name, sizeof(maar_shader_##name)                                             \
    }

VkResult support_create_module(VkDevice device, const struct support_shader* shader,
                               VkShaderModule* module);

/* Returns a stage whose entry point is main. */
VkPipelineShaderStageCreateInfo support_shader_stage(VkShaderStageFlagBits stage,
                                                     VkShaderModule module);

VkResult support_create_compute_pipeline(VkDevice device, const struct support_shader* shader,
                                         VkPipelineLayout layout, VkPipeline* pipeline);

#endif
