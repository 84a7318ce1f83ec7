/*
 * The two pipelines of the deferred frame.
 */
#ifndef MAAR_SAMPLE_HALL_PIPELINES_H
#define MAAR_SAMPLE_HALL_PIPELINES_H

#include "sample_device.h"

#define HALL_COLOUR_FORMAT VK_FORMAT_R8G8B8A8_UNORM
#define HALL_SURFACE_FORMAT VK_FORMAT_R16G16B16A16_SFLOAT
#define HALL_DEPTH_FORMAT VK_FORMAT_D16_UNORM
#define HALL_PUSH_STAGES (VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT)
#define HALL_PUSH_SIZE 112u /* of either pipeline */

/* A pipeline whose shaders read some images. */
struct hall_pipeline {
    VkDescriptorSetLayout sets;
    VkPipelineLayout layout;
    VkPipeline pipeline;
};

/* Draws parallelograms with a texture: what is visible, and where. */
bool hall_pipelines_surface(struct hall_pipeline* pipeline, VkDevice device);
/* Lights what the other has drawn. */
bool hall_pipelines_light(struct hall_pipeline* pipeline, VkDevice device);
void hall_pipelines_destroy(struct hall_pipeline* pipeline, VkDevice device);

#endif
