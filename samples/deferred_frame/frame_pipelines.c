/*
 * Pipelines; see frame_pipelines.h.
 */
#include "frame_pipelines.h"

#include "frame_mesh.h"
#include "sample_pipeline.h"

#include <stddef.h>
#include <string.h>

#define PUSH_STAGES                                                                                \
    (VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT | VK_SHADER_STAGE_COMPUTE_BIT)

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

/* The attachments of a graphics pass, which are its uses. */
struct pass_attachments {
    VkFormat colors[SAMPLE_MOST_COLORS];
    uint32_t color_count;
    VkFormat depth;
    bool adds;      /* to the previous contents */
    bool is_shadow; /* depth only */
};

static struct pass_attachments find_attachments(const struct frame_pass_info* pass)
{
    struct pass_attachments found = {.color_count = 0};
    for (uint32_t i = 0; i < FRAME_MAX_USES && pass->uses[i].kind != FRAME_USE_NONE; ++i) {
        const enum frame_use_kind kind = pass->uses[i].kind;
        const VkFormat format = frame_resources[pass->uses[i].resource].format;
        if (kind == FRAME_USE_COLOR || kind == FRAME_USE_COLOR_ADD) {
            found.colors[found.color_count++] = format;
            found.adds = found.adds || kind == FRAME_USE_COLOR_ADD;
        } else if (kind == FRAME_USE_DEPTH) {
            found.depth = format;
        }
    }
    found.is_shadow = found.depth != VK_FORMAT_UNDEFINED && found.color_count == 0;
    return found;
}

/* The view has reversed depth, the sun's view does not. */
static VkResult create_graphics(struct frame_pipelines* pipelines, VkDevice device, uint32_t number)
{
    static const VkVertexInputBindingDescription binding = {0, sizeof(struct frame_vertex),
                                                            VK_VERTEX_INPUT_RATE_VERTEX};
    static const VkVertexInputAttributeDescription attributes[2] = {
        {0, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(struct frame_vertex, position)},
        {1, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(struct frame_vertex, normal)}};
    static const VkPipelineColorBlendAttachmentState add = {
        .blendEnable = VK_TRUE,
        .srcColorBlendFactor = VK_BLEND_FACTOR_ONE,
        .dstColorBlendFactor = VK_BLEND_FACTOR_ONE,
        .srcAlphaBlendFactor = VK_BLEND_FACTOR_ZERO,
        .dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
        .colorWriteMask = 0xF};
    const struct frame_pass_info* const pass = &frame_passes[number];
    const struct pass_attachments attachments = find_attachments(pass);
    const VkPipelineVertexInputStateCreateInfo vertices = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = 1,
        .pVertexBindingDescriptions = &binding,
        .vertexAttributeDescriptionCount = attachments.is_shadow ? 1 : 2,
        .pVertexAttributeDescriptions = attributes};
    const struct sample_pipeline_info info = {
        .layout = pipelines->layouts[number],
        .vertex = &frame_shaders[pass->vertex],
        .fragment = pass->shader != FRAME_SHADER_NONE ? &frame_shaders[pass->shader] : NULL,
        .topology = pass->kind == FRAME_PASS_EMBERS ? VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP
                                                    : VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
        .vertices = pass->kind == FRAME_PASS_SCENE ? &vertices : NULL,
        .color_count = attachments.color_count,
        .colors = attachments.colors,
        .blend = attachments.adds ? &add : NULL,
        .depth = attachments.depth,
        .depth_compare = attachments.is_shadow ? VK_COMPARE_OP_LESS : VK_COMPARE_OP_GREATER,
        .depth_bias = attachments.is_shadow ? 1.5f : 0.0f,
        .depth_bias_slope = attachments.is_shadow ? 2.2f : 0.0f,
    };
    return sample_pipeline_create(device, &info, &pipelines->pipelines[number]);
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
