/*
 * Creates shader stages and pipelines; see shader.h.
 */
#include "support/shader.h"

VkResult support_create_module(VkDevice device, const struct support_shader* shader,
                               VkShaderModule* module)
{
    const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = shader->size,
                                           .pCode = shader->words};
    return vkCreateShaderModule(device, &info, NULL, module);
}

VkPipelineShaderStageCreateInfo support_shader_stage(VkShaderStageFlagBits stage,
                                                     VkShaderModule module)
{
    return (VkPipelineShaderStageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = stage,
        .module = module,
        .pName = "main"};
}

VkResult support_create_compute_pipeline(VkDevice device, const struct support_shader* shader,
                                         VkPipelineLayout layout, VkPipeline* pipeline)
{
    VkShaderModule module = VK_NULL_HANDLE;
    VkResult result = support_create_module(device, shader, &module);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = support_shader_stage(VK_SHADER_STAGE_COMPUTE_BIT, module),
        .layout = layout,
    };
    result = vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, pipeline);
    vkDestroyShaderModule(device, module, NULL);
    return result;
}
