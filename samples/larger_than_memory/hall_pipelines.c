/*
 * Creates the pipelines; see hall_pipelines.h.
 */
#include "hall_pipelines.h"

#include "shaders/larger_than_memory_light_frag.h"
#include "shaders/larger_than_memory_light_vert.h"
#include "shaders/larger_than_memory_surface_frag.h"
#include "shaders/larger_than_memory_surface_vert.h"
#include "support/shader.h"

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

static VkResult create_from(struct hall_pipeline* pipeline, VkDevice device,
                            const struct recipe* recipe,
                            const VkPipelineShaderStageCreateInfo stages[2])
{
    static const VkDynamicState dynamic[2] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    static const VkPipelineColorBlendAttachmentState attachments[MOST_IMAGES] = {
        {.colorWriteMask = 0xF}, {.colorWriteMask = 0xF}};
    const VkPipelineVertexInputStateCreateInfo vertices = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP};
    const VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .scissorCount = 1};
    const VkPipelineRasterizationStateCreateInfo rasterization = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1.0f};
    const VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    const VkBool32 has_depth = recipe->depth != VK_FORMAT_UNDEFINED ? VK_TRUE : VK_FALSE;
    const VkPipelineDepthStencilStateCreateInfo depth = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = has_depth,
        .depthWriteEnable = has_depth,
        .depthCompareOp = VK_COMPARE_OP_LESS};
    const VkPipelineColorBlendStateCreateInfo blending = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = recipe->format_count,
        .pAttachments = attachments};
    const VkPipelineDynamicStateCreateInfo states = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = 2,
        .pDynamicStates = dynamic};
    const VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = recipe->format_count,
        .pColorAttachmentFormats = recipe->formats,
        .depthAttachmentFormat = recipe->depth};
    const VkGraphicsPipelineCreateInfo info = {.sType =
                                                   VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                               .pNext = &rendering,
                                               .stageCount = 2,
                                               .pStages = stages,
                                               .pVertexInputState = &vertices,
                                               .pInputAssemblyState = &assembly,
                                               .pViewportState = &viewport,
                                               .pRasterizationState = &rasterization,
                                               .pMultisampleState = &samples,
                                               .pDepthStencilState = &depth,
                                               .pColorBlendState = &blending,
                                               .pDynamicState = &states,
                                               .layout = pipeline->layout};
    return vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline->pipeline);
}

static bool create_pipeline_of(struct hall_pipeline* pipeline, VkDevice device,
                               const struct recipe* recipe)
{
    VkShaderModule modules[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    VkResult result = create_layouts(pipeline, device, recipe);
    for (uint32_t i = 0; i < 2 && result == VK_SUCCESS; ++i) {
        result = support_create_module(device, &recipe->shaders[i], &modules[i]);
    }
    if (result == VK_SUCCESS) {
        const VkPipelineShaderStageCreateInfo stages[2] = {
            support_shader_stage(VK_SHADER_STAGE_VERTEX_BIT, modules[0]),
            support_shader_stage(VK_SHADER_STAGE_FRAGMENT_BIT, modules[1])};
        result = create_from(pipeline, device, recipe, stages);
    }
    vkDestroyShaderModule(device, modules[0], NULL);
    vkDestroyShaderModule(device, modules[1], NULL);
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
