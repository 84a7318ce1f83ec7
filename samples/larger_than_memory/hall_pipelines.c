/*
 * Creates the pipelines; see hall_pipelines.h.
 */
#include "hall_pipelines.h"

#include "sample_pipeline.h"
#include "shaders/larger_than_memory_light_frag.h"
#include "shaders/larger_than_memory_light_vert.h"
#include "shaders/larger_than_memory_surface_frag.h"
#include "shaders/larger_than_memory_surface_vert.h"

#include <string.h>

#define MOST_IMAGES 2u

/* How the pipelines differ. */
struct recipe {
    struct support_shader shaders[2];
    uint32_t image_count; /* that the fragment shader reads, and as many attachments at most */
    uint32_t format_count;
    VkFormat formats[MOST_IMAGES];
    VkFormat depth; /* or VK_FORMAT_UNDEFINED */
};

static VkResult create_layouts(struct hall_pipeline* pipeline, VkDevice device,
                               const struct recipe* recipe)
{
    VkDescriptorSetLayoutBinding bindings[MOST_IMAGES];
    for (uint32_t i = 0; i < recipe->image_count; ++i) {
        bindings[i] = (VkDescriptorSetLayoutBinding){i, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                                                     1, VK_SHADER_STAGE_FRAGMENT_BIT, NULL};
    }
    const VkDescriptorSetLayoutCreateInfo sets = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = recipe->image_count,
        .pBindings = bindings};
    const VkResult result = vkCreateDescriptorSetLayout(device, &sets, NULL, &pipeline->sets);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkPushConstantRange range = {HALL_PUSH_STAGES, 0, HALL_PUSH_SIZE};
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &pipeline->sets,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &range};
    return vkCreatePipelineLayout(device, &layout, NULL, &pipeline->layout);
}

static bool create_pipeline_of(struct hall_pipeline* pipeline, VkDevice device,
                               const struct recipe* recipe)
{
    VkResult result = create_layouts(pipeline, device, recipe);
    if (result == VK_SUCCESS) {
        const struct sample_pipeline_info info = {
            .layout = pipeline->layout,
            .vertex = &recipe->shaders[0],
            .fragment = &recipe->shaders[1],
            .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
            .color_count = recipe->format_count,
            .colors = recipe->formats,
            .depth = recipe->depth,
            .depth_compare = VK_COMPARE_OP_LESS,
        };
        result = sample_pipeline_create(device, &info, &pipeline->pipeline);
    }
    return sample_succeeded(result, "the creation of a pipeline");
}

bool hall_pipelines_surface(struct hall_pipeline* pipeline, VkDevice device)
{
    static const struct recipe recipe = {
        .shaders = {SUPPORT_SHADER(larger_than_memory_surface_vert),
                    SUPPORT_SHADER(larger_than_memory_surface_frag)},
        .image_count = 1,
        .format_count = 2,
        .formats = {HALL_COLOUR_FORMAT, HALL_SURFACE_FORMAT},
        .depth = HALL_DEPTH_FORMAT,
    };
    return create_pipeline_of(pipeline, device, &recipe);
}

bool hall_pipelines_light(struct hall_pipeline* pipeline, VkDevice device)
{
    static const struct recipe recipe = {
        .shaders = {SUPPORT_SHADER(larger_than_memory_light_vert),
                    SUPPORT_SHADER(larger_than_memory_light_frag)},
        .image_count = 2,
        .format_count = 1,
        .formats = {HALL_COLOUR_FORMAT},
    };
    return create_pipeline_of(pipeline, device, &recipe);
}

void hall_pipelines_destroy(struct hall_pipeline* pipeline, VkDevice device)
{
    vkDestroyPipeline(device, pipeline->pipeline, NULL);
    vkDestroyPipelineLayout(device, pipeline->layout, NULL);
    vkDestroyDescriptorSetLayout(device, pipeline->sets, NULL);
    memset(pipeline, 0, sizeof(*pipeline));
}
