/*
 * Pipelines; see frame_pipelines.h.
 */
#include "frame_pipelines.h"

#include "frame_mesh.h"

#include <stddef.h>
#include <string.h>

#define PUSH_STAGES                                                                                \
    (VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT | VK_SHADER_STAGE_COMPUTE_BIT)
#define MAX_COLORS 5

bool frame_pass_has_pipeline(const struct frame_pass_info* pass)
{
    return pass->vertex != FRAME_SHADER_NONE || pass->shader != FRAME_SHADER_NONE;
}

VkSampler frame_pipelines_sampler(const struct frame_pipelines* pipelines, enum frame_use_kind kind)
{
    switch (kind) {
    case FRAME_USE_FETCH:
        return pipelines->fetch;
    case FRAME_USE_SAMPLE:
        return pipelines->filter;
    case FRAME_USE_COMPARE:
        return pipelines->compare;
    default:
        return VK_NULL_HANDLE;
    }
}

static bool create_sampler(VkDevice device, VkFilter filter, VkSamplerAddressMode mode,
                           bool compares, VkSampler* sampler)
{
    const VkSamplerCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
        .magFilter = filter,
        .minFilter = filter,
        .mipmapMode = filter == VK_FILTER_LINEAR ? VK_SAMPLER_MIPMAP_MODE_LINEAR
                                                 : VK_SAMPLER_MIPMAP_MODE_NEAREST,
        .addressModeU = mode,
        .addressModeV = mode,
        .addressModeW = mode,
        .compareEnable = compares,
        .compareOp = VK_COMPARE_OP_LESS_OR_EQUAL,
        .maxLod = VK_LOD_CLAMP_NONE,
    };
    return sample_succeeded(vkCreateSampler(device, &info, NULL, sampler), "vkCreateSampler");
}

static bool create_frame_layout(struct frame_pipelines* pipelines, VkDevice device)
{
    const VkDescriptorSetLayoutBinding bindings[] = {
        {0, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, 1, PUSH_STAGES, NULL},
        {1, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, PUSH_STAGES, NULL},
        {2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
         VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, NULL},
    };
    const VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 3,
        .pBindings = bindings,
    };
    return sample_succeeded(
        vkCreateDescriptorSetLayout(device, &info, NULL, &pipelines->frame_layout),
        "vkCreateDescriptorSetLayout");
}

/* The numbers of bindings follow the order of the uses that have a binding. */
static bool create_layouts(struct frame_pipelines* pipelines, VkDevice device, uint32_t pass)
{
    const struct frame_pass_info* const info = &frame_passes[pass];
    VkDescriptorSetLayoutBinding bindings[FRAME_MAX_USES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < FRAME_MAX_USES && info->uses[i].kind != FRAME_USE_NONE; ++i) {
        const VkDescriptorType type = frame_uses[info->uses[i].kind].descriptor;
        if (type != VK_DESCRIPTOR_TYPE_MAX_ENUM) {
            bindings[count] = (VkDescriptorSetLayoutBinding){count, type, 1,
                                                             info->kind == FRAME_PASS_COMPUTE
                                                                 ? VK_SHADER_STAGE_COMPUTE_BIT
                                                                 : VK_SHADER_STAGE_FRAGMENT_BIT,
                                                             NULL};
            ++count;
        }
    }
    const VkDescriptorSetLayoutCreateInfo set_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = count,
        .pBindings = bindings,
    };
    if (!sample_succeeded(
            vkCreateDescriptorSetLayout(device, &set_info, NULL, &pipelines->set_layouts[pass]),
            "vkCreateDescriptorSetLayout")) {
        return false;
    }
    const VkDescriptorSetLayout sets[2] = {pipelines->frame_layout, pipelines->set_layouts[pass]};
    const VkPushConstantRange push = {PUSH_STAGES, 0, sizeof(struct frame_push)};
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 2,
        .pSetLayouts = sets,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &push,
    };
    return sample_succeeded(
        vkCreatePipelineLayout(device, &layout, NULL, &pipelines->layouts[pass]),
        "vkCreatePipelineLayout");
}

/* The fixed functions of a graphics pass, which follow from its uses. The structure points into
 * itself. */
struct graphics_state {
    VkFormat colors[MAX_COLORS];
    uint32_t color_count;
    VkFormat depth_format;
    bool adds;   /* to the previous contents */
    bool shadow; /* depth only */
    VkVertexInputBindingDescription binding;
    VkVertexInputAttributeDescription attributes[2];
    VkPipelineVertexInputStateCreateInfo vertices;
    VkPipelineInputAssemblyStateCreateInfo assembly;
    VkPipelineRasterizationStateCreateInfo raster;
    VkPipelineDepthStencilStateCreateInfo depth;
    VkPipelineColorBlendAttachmentState blends[MAX_COLORS];
    VkPipelineColorBlendStateCreateInfo blend;
    VkPipelineRenderingCreateInfo rendering;
};

static void fill_attachments(struct graphics_state* state, const struct frame_pass_info* pass)
{
    for (uint32_t i = 0; i < FRAME_MAX_USES && pass->uses[i].kind != FRAME_USE_NONE; ++i) {
        const enum frame_use_kind kind = pass->uses[i].kind;
        const VkFormat format = frame_resources[pass->uses[i].resource].format;
        if (kind == FRAME_USE_COLOR || kind == FRAME_USE_COLOR_ADD) {
            state->colors[state->color_count++] = format;
            state->adds = state->adds || kind == FRAME_USE_COLOR_ADD;
        } else if (kind == FRAME_USE_DEPTH) {
            state->depth_format = format;
        }
    }
    state->shadow = state->depth_format != VK_FORMAT_UNDEFINED && state->color_count == 0;
    state->rendering =
        (VkPipelineRenderingCreateInfo){.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
                                        .colorAttachmentCount = state->color_count,
                                        .pColorAttachmentFormats = state->colors,
                                        .depthAttachmentFormat = state->depth_format};
}

static void fill_vertices(struct graphics_state* state, const struct frame_pass_info* pass)
{
    const bool has_vertices = pass->kind == FRAME_PASS_SCENE;
    state->binding = (VkVertexInputBindingDescription){0, sizeof(struct frame_vertex),
                                                       VK_VERTEX_INPUT_RATE_VERTEX};
    state->attributes[0] = (VkVertexInputAttributeDescription){
        0, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(struct frame_vertex, position)};
    state->attributes[1] = (VkVertexInputAttributeDescription){
        1, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(struct frame_vertex, normal)};
    state->vertices = (VkPipelineVertexInputStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = has_vertices ? 1 : 0,
        .pVertexBindingDescriptions = &state->binding,
        .vertexAttributeDescriptionCount = !has_vertices   ? 0
                                           : state->shadow ? 1
                                                           : 2,
        .pVertexAttributeDescriptions = state->attributes};
    state->assembly = (VkPipelineInputAssemblyStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = pass->kind == FRAME_PASS_EMBERS ? VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP
                                                    : VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
}

/* The view has reversed depth, the sun's view does not. */
static void fill_depth(struct graphics_state* state)
{
    const bool has_depth = state->depth_format != VK_FORMAT_UNDEFINED;
    state->raster = (VkPipelineRasterizationStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .cullMode = VK_CULL_MODE_NONE,
        .depthBiasEnable = state->shadow,
        .depthBiasConstantFactor = 1.5f,
        .depthBiasSlopeFactor = 2.2f,
        .lineWidth = 1.0f};
    state->depth = (VkPipelineDepthStencilStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = has_depth,
        .depthWriteEnable = has_depth,
        .depthCompareOp = state->shadow ? VK_COMPARE_OP_LESS : VK_COMPARE_OP_GREATER};
}

static void fill_blends(struct graphics_state* state)
{
    for (uint32_t i = 0; i < MAX_COLORS; ++i) {
        state->blends[i] = (VkPipelineColorBlendAttachmentState){
            .blendEnable = state->adds,
            .srcColorBlendFactor = VK_BLEND_FACTOR_ONE,
            .dstColorBlendFactor = VK_BLEND_FACTOR_ONE,
            .srcAlphaBlendFactor = VK_BLEND_FACTOR_ZERO,
            .dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
            .colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT |
                              VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT};
    }
    state->blend = (VkPipelineColorBlendStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = state->color_count,
        .pAttachments = state->blends};
}

static VkResult create_from_stages(struct frame_pipelines* pipelines, VkDevice device,
                                   uint32_t pass, uint32_t stage_count,
                                   const VkPipelineShaderStageCreateInfo* stages)
{
    static const VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .scissorCount = 1};
    static const VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    static const VkDynamicState states[2] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    static const VkPipelineDynamicStateCreateInfo dynamic = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = 2,
        .pDynamicStates = states};
    struct graphics_state state;
    memset(&state, 0, sizeof(state));
    fill_attachments(&state, &frame_passes[pass]);
    fill_vertices(&state, &frame_passes[pass]);
    fill_depth(&state);
    fill_blends(&state);
    const VkGraphicsPipelineCreateInfo info = {.sType =
                                                   VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                               .pNext = &state.rendering,
                                               .stageCount = stage_count,
                                               .pStages = stages,
                                               .pVertexInputState = &state.vertices,
                                               .pInputAssemblyState = &state.assembly,
                                               .pViewportState = &viewport,
                                               .pRasterizationState = &state.raster,
                                               .pMultisampleState = &samples,
                                               .pDepthStencilState = &state.depth,
                                               .pColorBlendState = &state.blend,
                                               .pDynamicState = &dynamic,
                                               .layout = pipelines->layouts[pass]};
    return vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &info, NULL,
                                     &pipelines->pipelines[pass]);
}

static VkResult create_graphics(struct frame_pipelines* pipelines, VkDevice device, uint32_t pass)
{
    const struct frame_pass_info* const info = &frame_passes[pass];
    VkShaderModule modules[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    VkResult result = support_create_module(device, &frame_shaders[info->vertex], &modules[0]);
    const bool has_fragment = info->shader != FRAME_SHADER_NONE;
    if (result == VK_SUCCESS && has_fragment) {
        result = support_create_module(device, &frame_shaders[info->shader], &modules[1]);
    }
    if (result == VK_SUCCESS) {
        const VkPipelineShaderStageCreateInfo stages[2] = {
            support_shader_stage(VK_SHADER_STAGE_VERTEX_BIT, modules[0]),
            support_shader_stage(VK_SHADER_STAGE_FRAGMENT_BIT, modules[1])};
        result = create_from_stages(pipelines, device, pass, has_fragment ? 2 : 1, stages);
    }
    vkDestroyShaderModule(device, modules[0], NULL);
    vkDestroyShaderModule(device, modules[1], NULL);
    return result;
}

static bool create_pass(struct frame_pipelines* pipelines, struct sample_device* device,
                        uint32_t pass)
{
    const struct frame_pass_info* const info = &frame_passes[pass];
    for (uint32_t other = 0; other < pass; ++other) {
        if (frame_passes[other].vertex == info->vertex &&
            frame_passes[other].shader == info->shader) {
            const uint32_t owner = pipelines->owners[other];
            pipelines->owners[pass] = owner;
            pipelines->set_layouts[pass] = pipelines->set_layouts[owner];
            pipelines->layouts[pass] = pipelines->layouts[owner];
            pipelines->pipelines[pass] = pipelines->pipelines[owner];
            return true;
        }
    }
    pipelines->owners[pass] = pass;
    if (!frame_pass_has_pipeline(info)) {
        return true;
    }
    return create_layouts(pipelines, device->device, pass) &&
           sample_succeeded(info->kind == FRAME_PASS_COMPUTE
                                ? support_create_compute_pipeline(
                                      device->device, &frame_shaders[info->shader],
                                      pipelines->layouts[pass], &pipelines->pipelines[pass])
                                : create_graphics(pipelines, device->device, pass),
                            info->name);
}

bool frame_pipelines_create(struct frame_pipelines* pipelines, struct sample_device* device)
{
    memset(pipelines, 0, sizeof(*pipelines));
    const VkSamplerAddressMode clamp = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    const VkSamplerAddressMode repeat = VK_SAMPLER_ADDRESS_MODE_REPEAT;
    bool done =
        create_sampler(device->device, VK_FILTER_NEAREST, clamp, false, &pipelines->fetch) &&
        create_sampler(device->device, VK_FILTER_LINEAR, clamp, false, &pipelines->filter) &&
        create_sampler(device->device, VK_FILTER_LINEAR, clamp, true, &pipelines->compare) &&
        create_sampler(device->device, VK_FILTER_LINEAR, repeat, false, &pipelines->repeat) &&
        create_frame_layout(pipelines, device->device);
    for (uint32_t pass = 0; done && pass < frame_pass_count; ++pass) {
        done = create_pass(pipelines, device, pass);
    }
    return done;
}

void frame_pipelines_destroy(struct frame_pipelines* pipelines, struct sample_device* device)
{
    for (uint32_t pass = 0; pass < frame_pass_count; ++pass) {
        if (pipelines->owners[pass] == pass) {
            vkDestroyPipeline(device->device, pipelines->pipelines[pass], NULL);
            vkDestroyPipelineLayout(device->device, pipelines->layouts[pass], NULL);
            vkDestroyDescriptorSetLayout(device->device, pipelines->set_layouts[pass], NULL);
        }
    }
    vkDestroyDescriptorSetLayout(device->device, pipelines->frame_layout, NULL);
    vkDestroySampler(device->device, pipelines->fetch, NULL);
    vkDestroySampler(device->device, pipelines->filter, NULL);
    vkDestroySampler(device->device, pipelines->compare, NULL);
    vkDestroySampler(device->device, pipelines->repeat, NULL);
    memset(pipelines, 0, sizeof(*pipelines));
}
