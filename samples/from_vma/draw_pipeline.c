/*
 * Creates the pipeline and its descriptor sets; see draw_vulkan.h.
 */
#include "draw_vulkan.h"

#include <stddef.h>

#include "shaders/from_vma_solid_frag.h"
#include "shaders/from_vma_solid_vert.h"

static void create_layouts(const struct draw_device* device, struct draw_pipeline* pipeline)
{
    const VkDescriptorSetLayoutBinding bindings[2] = {
        {.binding = 0,
         .descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
         .descriptorCount = 1,
         .stageFlags = VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT},
        {.binding = 1,
         .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
         .descriptorCount = 1,
         .stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT}};
    const VkDescriptorSetLayoutCreateInfo set_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 2,
        .pBindings = bindings};
    draw_require(
        vkCreateDescriptorSetLayout(device->device, &set_info, NULL, &pipeline->set_layout),
        "vkCreateDescriptorSetLayout");
    const VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .setLayoutCount = 1,
                                             .pSetLayouts = &pipeline->set_layout};
    draw_require(vkCreatePipelineLayout(device->device, &info, NULL, &pipeline->layout),
                 "vkCreatePipelineLayout");
    const VkSamplerCreateInfo sampler_info = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                                              .magFilter = VK_FILTER_LINEAR,
                                              .minFilter = VK_FILTER_LINEAR};
    draw_require(vkCreateSampler(device->device, &sampler_info, NULL, &pipeline->sampler),
                 "vkCreateSampler");
}

static void create_sets(const struct draw_device* device, struct draw_pipeline* pipeline)
{
    const VkDescriptorPoolSize sizes[2] = {{VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, DRAW_SLOTS},
                                           {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, DRAW_SLOTS}};
    const VkDescriptorPoolCreateInfo pool_info = {.sType =
                                                      VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                                  .maxSets = DRAW_SLOTS,
                                                  .poolSizeCount = 2,
                                                  .pPoolSizes = sizes};
    draw_require(vkCreateDescriptorPool(device->device, &pool_info, NULL, &pipeline->pool),
                 "vkCreateDescriptorPool");
    VkDescriptorSetLayout layouts[DRAW_SLOTS];
    for (uint32_t i = 0; i < DRAW_SLOTS; ++i) {
        layouts[i] = pipeline->set_layout;
    }
    const VkDescriptorSetAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                              .descriptorPool = pipeline->pool,
                                              .descriptorSetCount = DRAW_SLOTS,
                                              .pSetLayouts = layouts};
    draw_require(vkAllocateDescriptorSets(device->device, &info, pipeline->sets),
                 "vkAllocateDescriptorSets");
}

static VkShaderModule create_module(const struct draw_device* device, const uint32_t* words,
                                    size_t size)
{
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = words};
    VkShaderModule module = VK_NULL_HANDLE;
    draw_require(vkCreateShaderModule(device->device, &info, NULL, &module),
                 "vkCreateShaderModule");
    return module;
}

static const VkVertexInputBindingDescription bindings[2] = {
    {0, sizeof(struct draw_vertex), VK_VERTEX_INPUT_RATE_VERTEX},
    {1, sizeof(struct draw_instance), VK_VERTEX_INPUT_RATE_INSTANCE}};
static const VkVertexInputAttributeDescription attributes[5] = {
    {0, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(struct draw_vertex, position)},
    {1, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(struct draw_vertex, normal)},
    {2, 0, VK_FORMAT_R32G32_SFLOAT, offsetof(struct draw_vertex, place)},
    {3, 1, VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(struct draw_instance, place)},
    {4, 1, VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(struct draw_instance, look)}};

static void create_graphics(const struct draw_device* device, struct draw_pipeline* pipeline,
                            const VkPipelineShaderStageCreateInfo* stages)
{
    const VkPipelineVertexInputStateCreateInfo input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = 2,
        .pVertexBindingDescriptions = bindings,
        .vertexAttributeDescriptionCount = 5,
        .pVertexAttributeDescriptions = attributes};
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    const VkViewport viewport = {0, 0, DRAW_WIDTH, DRAW_HEIGHT, 0, 1};
    const VkRect2D scissor = {{0, 0}, {DRAW_WIDTH, DRAW_HEIGHT}};
    const VkPipelineViewportStateCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &viewport,
        .scissorCount = 1,
        .pScissors = &scissor};
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1.0f};
    const VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    const VkPipelineDepthStencilStateCreateInfo depth = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = VK_TRUE,
        .depthWriteEnable = VK_TRUE,
        .depthCompareOp = VK_COMPARE_OP_LESS};
    const VkPipelineColorBlendAttachmentState channels = {.colorWriteMask = 0xF};
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &channels};
    static const VkFormat colour_format = DRAW_COLOUR_FORMAT;
    const VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &colour_format,
        .depthAttachmentFormat = DRAW_DEPTH_FORMAT};
    const VkGraphicsPipelineCreateInfo info = {.sType =
                                                   VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                               .pNext = &rendering,
                                               .stageCount = 2,
                                               .pStages = stages,
                                               .pVertexInputState = &input,
                                               .pInputAssemblyState = &assembly,
                                               .pViewportState = &view,
                                               .pRasterizationState = &raster,
                                               .pMultisampleState = &samples,
                                               .pDepthStencilState = &depth,
                                               .pColorBlendState = &blend,
                                               .layout = pipeline->layout};
    draw_require(vkCreateGraphicsPipelines(device->device, VK_NULL_HANDLE, 1, &info, NULL,
                                           &pipeline->pipeline),
                 "vkCreateGraphicsPipelines");
}

void draw_create_pipeline(const struct draw_device* device, struct draw_pipeline* pipeline)
{
    *pipeline = (struct draw_pipeline){0};
    create_layouts(device, pipeline);
    create_sets(device, pipeline);
    const VkShaderModule modules[2] = {create_module(device, maar_shader_from_vma_solid_vert,
                                                     sizeof maar_shader_from_vma_solid_vert),
                                       create_module(device, maar_shader_from_vma_solid_frag,
                                                     sizeof maar_shader_from_vma_solid_frag)};
    VkPipelineShaderStageCreateInfo stages[2];
    for (uint32_t i = 0; i < 2; ++i) {
        stages[i] = (VkPipelineShaderStageCreateInfo){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = i == 0 ? VK_SHADER_STAGE_VERTEX_BIT : VK_SHADER_STAGE_FRAGMENT_BIT,
            .module = modules[i],
            .pName = "main"};
    }
    create_graphics(device, pipeline, stages);
    for (uint32_t i = 0; i < 2; ++i) {
        vkDestroyShaderModule(device->device, modules[i], NULL);
    }
}

void draw_destroy_pipeline(const struct draw_device* device, struct draw_pipeline* pipeline)
{
    vkDestroyDescriptorPool(device->device, pipeline->pool, NULL);
    vkDestroyPipeline(device->device, pipeline->pipeline, NULL);
    vkDestroyPipelineLayout(device->device, pipeline->layout, NULL);
    vkDestroyDescriptorSetLayout(device->device, pipeline->set_layout, NULL);
    vkDestroySampler(device->device, pipeline->sampler, NULL);
}

void draw_use_resources(const struct draw_device* device, const struct draw_pipeline* pipeline,
                        uint32_t slot, VkBuffer uniforms, VkImageView texture)
{
    const VkDescriptorBufferInfo buffer = {uniforms, 0, VK_WHOLE_SIZE};
    const VkDescriptorImageInfo image = {pipeline->sampler, texture,
                                         VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    const VkWriteDescriptorSet writes[2] = {
        {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
         .dstSet = pipeline->sets[slot],
         .dstBinding = 0,
         .descriptorCount = 1,
         .descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
         .pBufferInfo = &buffer},
        {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
         .dstSet = pipeline->sets[slot],
         .dstBinding = 1,
         .descriptorCount = 1,
         .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
         .pImageInfo = &image}};
    vkUpdateDescriptorSets(device->device, 2, writes, 0, NULL);
}
