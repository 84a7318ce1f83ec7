/*
 * Creates the pipelines; see particle_pipelines.h.
 */
#include "particle_pipelines.h"

#include "particle_galaxy.h"
#include "sample_pipeline.h"
#include "shaders/shared_particles_fade_frag.h"
#include "shaders/shared_particles_fade_vert.h"
#include "shaders/shared_particles_star_frag.h"
#include "shaders/shared_particles_star_vert.h"
#include "shaders/shared_particles_tone_comp.h"
#include "support/shader.h"

#include <stddef.h>

static bool create_view_layouts(struct particle_view* view)
{
    const VkDevice device = view->device->device;
    const VkDescriptorSetLayoutBinding bindings[2] = {
        {0, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
        {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL}};
    const VkDescriptorSetLayoutCreateInfo set_layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 2,
        .pBindings = bindings};
    if (!sample_succeeded(vkCreateDescriptorSetLayout(device, &set_layout, NULL, &view->set_layout),
                          "vkCreateDescriptorSetLayout")) {
        return false;
    }
    const VkPushConstantRange range = {PARTICLE_PUSH_STAGES, 0, sizeof(struct particle_camera)};
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &view->set_layout,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &range};
    return sample_succeeded(vkCreatePipelineLayout(device, &layout, NULL, &view->layout),
                            "vkCreatePipelineLayout");
}

static bool create_view_set(struct particle_view* view)
{
    const VkDevice device = view->device->device;
    const VkDescriptorPoolSize sizes[2] = {{VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1},
                                           {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1}};
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = 1,
                                             .poolSizeCount = 2,
                                             .pPoolSizes = sizes};
    if (!sample_succeeded(vkCreateDescriptorPool(device, &pool, NULL, &view->sets),
                          "vkCreateDescriptorPool")) {
        return false;
    }
    const VkDescriptorSetAllocateInfo set = {.sType =
                                                 VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                             .descriptorPool = view->sets,
                                             .descriptorSetCount = 1,
                                             .pSetLayouts = &view->set_layout};
    if (!sample_succeeded(vkAllocateDescriptorSets(device, &set, &view->set),
                          "vkAllocateDescriptorSets")) {
        return false;
    }
    const VkDescriptorImageInfo image = {.imageView = view->light_view,
                                         .imageLayout = VK_IMAGE_LAYOUT_GENERAL};
    const VkDescriptorBufferInfo buffer = {view->pixels, 0, VK_WHOLE_SIZE};
    const VkWriteDescriptorSet writes[2] = {{.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                             .dstSet = view->set,
                                             .dstBinding = 0,
                                             .descriptorCount = 1,
                                             .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
                                             .pImageInfo = &image},
                                            {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                             .dstSet = view->set,
                                             .dstBinding = 1,
                                             .descriptorCount = 1,
                                             .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                             .pBufferInfo = &buffer}};
    vkUpdateDescriptorSets(device, 2, writes, 0, NULL);
    return true;
}

/* The differences between the two graphics pipelines. */
struct drawing_parts {
    VkPrimitiveTopology topology;
    uint32_t attribute_count;
    VkBlendFactor source;
    VkBlendFactor target;
};

static bool create_drawing(struct particle_view* view, const struct support_shader shaders[2],
                           const struct drawing_parts* parts, VkPipeline* pipeline)
{
    static const VkVertexInputBindingDescription binding = {0, sizeof(struct particle),
                                                            VK_VERTEX_INPUT_RATE_VERTEX};
    static const VkVertexInputAttributeDescription attributes[2] = {
        {0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(struct particle, place)},
        {1, 0, VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(struct particle, velocity)}};
    static const VkFormat format = PARTICLE_LIGHT_FORMAT;
    const VkPipelineVertexInputStateCreateInfo vertices = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = parts->attribute_count > 0 ? 1 : 0,
        .pVertexBindingDescriptions = &binding,
        .vertexAttributeDescriptionCount = parts->attribute_count,
        .pVertexAttributeDescriptions = attributes};
    const VkPipelineColorBlendAttachmentState blend = {.blendEnable = VK_TRUE,
                                                       .srcColorBlendFactor = parts->source,
                                                       .dstColorBlendFactor = parts->target,
                                                       .srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
                                                       .colorWriteMask = 0xF};
    const struct sample_pipeline_info info = {
        .layout = view->layout,
        .vertex = &shaders[0],
        .fragment = &shaders[1],
        .topology = parts->topology,
        .vertices = &vertices,
        .color_count = 1,
        .colors = &format,
        .blend = &blend,
        .blend_constant = PARTICLE_FADE,
    };
    return sample_succeeded(sample_pipeline_create(view->device->device, &info, pipeline),
                            "vkCreateGraphicsPipelines");
}

static bool create_tone(struct particle_view* view)
{
    static const struct support_shader tone = SUPPORT_SHADER(shared_particles_tone_comp);
    return sample_succeeded(
        support_create_compute_pipeline(view->device->device, &tone, view->layout,
                                        &view->pipelines[PARTICLE_PIPELINE_TONE]),
        "vkCreateComputePipelines");
}

bool particle_pipelines_create(struct particle_view* view)
{
    static const struct support_shader stars[2] = {SUPPORT_SHADER(shared_particles_star_vert),
                                                   SUPPORT_SHADER(shared_particles_star_frag)};
    static const struct support_shader fade[2] = {SUPPORT_SHADER(shared_particles_fade_vert),
                                                  SUPPORT_SHADER(shared_particles_fade_frag)};
    static const struct drawing_parts points = {VK_PRIMITIVE_TOPOLOGY_POINT_LIST, 2,
                                                VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE};
    static const struct drawing_parts darkening = {VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, 0,
                                                   VK_BLEND_FACTOR_ZERO,
                                                   VK_BLEND_FACTOR_CONSTANT_COLOR};
    return create_view_layouts(view) && create_view_set(view) &&
           create_drawing(view, stars, &points, &view->pipelines[PARTICLE_PIPELINE_STARS]) &&
           create_drawing(view, fade, &darkening, &view->pipelines[PARTICLE_PIPELINE_FADE]) &&
           create_tone(view);
}

void particle_pipelines_destroy(struct particle_view* view)
{
    const VkDevice device = view->device->device;
    for (uint32_t i = 0; i < PARTICLE_PIPELINE_COUNT; ++i) {
        vkDestroyPipeline(device, view->pipelines[i], NULL);
    }
    vkDestroyPipelineLayout(device, view->layout, NULL);
    vkDestroyDescriptorPool(device, view->sets, NULL);
    vkDestroyDescriptorSetLayout(device, view->set_layout, NULL);
}
