/*
 * Creates graphics pipelines; see sample_pipeline.h.
 */
#include "sample_pipeline.h"

#include <stdbool.h>

static VkResult create_from_stages(VkDevice device, const struct sample_pipeline_info* pipeline,
                                   const VkPipelineShaderStageCreateInfo stages[2],
                                   VkPipeline* created)
{
    static const VkDynamicState dynamic[2] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    static const VkPipelineColorBlendAttachmentState no_blend = {.colorWriteMask = 0xF};
    static const VkPipelineVertexInputStateCreateInfo no_vertices = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    VkPipelineColorBlendAttachmentState attachments[SAMPLE_MOST_COLORS];
    for (uint32_t i = 0; i < SAMPLE_MOST_COLORS; ++i) {
        attachments[i] = pipeline->blend != NULL ? *pipeline->blend : no_blend;
    }
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = pipeline->topology};
    const VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .scissorCount = 1};
    const bool is_biased = pipeline->depth_bias != 0.0f || pipeline->depth_bias_slope != 0.0f;
    const VkPipelineRasterizationStateCreateInfo rasterization = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .depthBiasEnable = is_biased,
        .depthBiasConstantFactor = pipeline->depth_bias,
        .depthBiasSlopeFactor = pipeline->depth_bias_slope,
        .lineWidth = 1.0f};
    const VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    const bool has_depth = pipeline->depth != VK_FORMAT_UNDEFINED;
    const VkPipelineDepthStencilStateCreateInfo depth = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = has_depth,
        .depthWriteEnable = has_depth,
        .depthCompareOp = pipeline->depth_compare};
    const float constant = pipeline->blend_constant;
    const VkPipelineColorBlendStateCreateInfo blending = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = pipeline->color_count,
        .pAttachments = attachments,
        .blendConstants = {constant, constant, constant, constant}};
    const VkPipelineDynamicStateCreateInfo states = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = 2,
        .pDynamicStates = dynamic};
    const VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = pipeline->color_count,
        .pColorAttachmentFormats = pipeline->colors,
        .depthAttachmentFormat = pipeline->depth};
    const VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = &rendering,
        .stageCount = pipeline->fragment != NULL ? 2 : 1,
        .pStages = stages,
        .pVertexInputState = pipeline->vertices != NULL ? pipeline->vertices : &no_vertices,
        .pInputAssemblyState = &assembly,
        .pViewportState = &viewport,
        .pRasterizationState = &rasterization,
        .pMultisampleState = &samples,
        .pDepthStencilState = &depth,
        .pColorBlendState = &blending,
        .pDynamicState = &states,
        .layout = pipeline->layout};
    return vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &info, NULL, created);
}

VkResult sample_pipeline_create(VkDevice device, const struct sample_pipeline_info* info,
                                VkPipeline* pipeline)
{
    VkShaderModule modules[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    VkResult result = support_create_module(device, info->vertex, &modules[0]);
    if (result == VK_SUCCESS && info->fragment != NULL) {
        result = support_create_module(device, info->fragment, &modules[1]);
    }
    if (result == VK_SUCCESS) {
        const VkPipelineShaderStageCreateInfo stages[2] = {
            support_shader_stage(VK_SHADER_STAGE_VERTEX_BIT, modules[0]),
            support_shader_stage(VK_SHADER_STAGE_FRAGMENT_BIT, modules[1])};
        result = create_from_stages(device, info, stages, pipeline);
    }
    vkDestroyShaderModule(device, modules[0], NULL);
    vkDestroyShaderModule(device, modules[1], NULL);
    return result;
}
