/*
 * Graphics pipelines of the samples: two shaders, dynamic viewport and scissor, dynamic rendering,
 * one sample per pixel, and no culling.
 */
#ifndef MAAR_SAMPLE_PIPELINE_H
#define MAAR_SAMPLE_PIPELINE_H

#include "support/shader.h"

#define SAMPLE_MOST_COLORS 5u

struct sample_pipeline_info {
    VkPipelineLayout layout;
    const struct support_shader* vertex;
    const struct support_shader* fragment; /* NULL: none */
    VkPrimitiveTopology topology;
    const VkPipelineVertexInputStateCreateInfo* vertices; /* NULL: none */
    uint32_t color_count;                                 /* up to SAMPLE_MOST_COLORS */
    const VkFormat* colors;
    const VkPipelineColorBlendAttachmentState* blend; /* of every colour; NULL: none */
    float blend_constant;                             /* of every component */
    VkFormat depth;                                   /* VK_FORMAT_UNDEFINED: none */
    VkCompareOp depth_compare;
    float depth_bias; /* in units of the depth format */
    float depth_bias_slope;
};

VkResult sample_pipeline_create(VkDevice device, const struct sample_pipeline_info* info,
                                VkPipeline* pipeline);

#endif
