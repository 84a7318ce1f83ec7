/*
 * Creates pipelines and records dispatches; see model_kernels.h.
 */
#include "model_kernels.h"

#include "shaders/language_model_attend_comp.h"
#include "shaders/language_model_choose_comp.h"
#include "shaders/language_model_embed_comp.h"
#include "shaders/language_model_gate_comp.h"
#include "shaders/language_model_multiply_comp.h"
#include "shaders/language_model_norm_comp.h"
#include "shaders/language_model_remember_comp.h"
#include "support/shader.h"

#include <string.h>

#define PLAIN_BINDINGS 3u /* weights, scratch, text; after them the parts of the KV cache */

static bool create_kernel_layouts(struct model_kernels* kernels)
{
    VkDescriptorSetLayoutBinding bindings[PLAIN_BINDINGS + 1];
    for (uint32_t i = 0; i <= PLAIN_BINDINGS; ++i) {
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding = i,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .descriptorCount = i == PLAIN_BINDINGS ? MODEL_MOST_PARTS : 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    }
    const VkDescriptorSetLayoutCreateInfo sets = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = PLAIN_BINDINGS + 1,
        .pBindings = bindings};
    if (!sample_succeeded(
            vkCreateDescriptorSetLayout(kernels->device, &sets, NULL, &kernels->set_layout),
            "vkCreateDescriptorSetLayout")) {
        return false;
    }
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(struct model_job)};
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &kernels->set_layout,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &range};
    return sample_succeeded(
        vkCreatePipelineLayout(kernels->device, &layout, NULL, &kernels->layout),
        "vkCreatePipelineLayout");
}

static bool create_kernel_sets(struct model_kernels* kernels)
{
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                       SAMPLE_WORK_SLOTS * (PLAIN_BINDINGS + MODEL_MOST_PARTS)};
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = SAMPLE_WORK_SLOTS,
                                             .poolSizeCount = 1,
                                             .pPoolSizes = &size};
    if (!sample_succeeded(
            vkCreateDescriptorPool(kernels->device, &pool, NULL, &kernels->descriptors),
            "vkCreateDescriptorPool")) {
        return false;
    }
    VkDescriptorSetLayout layouts[SAMPLE_WORK_SLOTS];
    for (uint32_t i = 0; i < SAMPLE_WORK_SLOTS; ++i) {
        layouts[i] = kernels->set_layout;
    }
    const VkDescriptorSetAllocateInfo sets = {.sType =
                                                  VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                              .descriptorPool = kernels->descriptors,
                                              .descriptorSetCount = SAMPLE_WORK_SLOTS,
                                              .pSetLayouts = layouts};
    return sample_succeeded(vkAllocateDescriptorSets(kernels->device, &sets, kernels->sets),
                            "vkAllocateDescriptorSets");
}

bool model_kernels_create(struct model_kernels* kernels, VkDevice device)
{
    static const struct support_shader shaders[MODEL_KERNEL_COUNT] = {
        [MODEL_KERNEL_EMBED] = SUPPORT_SHADER(language_model_embed_comp),
        [MODEL_KERNEL_NORM] = SUPPORT_SHADER(language_model_norm_comp),
        [MODEL_KERNEL_MULTIPLY] = SUPPORT_SHADER(language_model_multiply_comp),
        [MODEL_KERNEL_REMEMBER] = SUPPORT_SHADER(language_model_remember_comp),
        [MODEL_KERNEL_ATTEND] = SUPPORT_SHADER(language_model_attend_comp),
        [MODEL_KERNEL_GATE] = SUPPORT_SHADER(language_model_gate_comp),
        [MODEL_KERNEL_CHOOSE] = SUPPORT_SHADER(language_model_choose_comp),
    };
    memset(kernels, 0, sizeof(*kernels));
    kernels->device = device;
    bool done = create_kernel_layouts(kernels) && create_kernel_sets(kernels);
    for (uint32_t i = 0; done && i < MODEL_KERNEL_COUNT; ++i) {
        done = sample_succeeded(support_create_compute_pipeline(
                                    device, &shaders[i], kernels->layout, &kernels->pipelines[i]),
                                "vkCreateComputePipelines");
    }
    return done;
}

void model_kernels_destroy(struct model_kernels* kernels)
{
    if (kernels->device == VK_NULL_HANDLE) {
        return;
    }
    for (uint32_t i = 0; i < MODEL_KERNEL_COUNT; ++i) {
        vkDestroyPipeline(kernels->device, kernels->pipelines[i], NULL);
    }
    vkDestroyDescriptorPool(kernels->device, kernels->descriptors, NULL);
    vkDestroyPipelineLayout(kernels->device, kernels->layout, NULL);
    vkDestroyDescriptorSetLayout(kernels->device, kernels->set_layout, NULL);
    memset(kernels, 0, sizeof(*kernels));
}

/* Residents may be other buffers than last time, so the descriptors are written for each stage. */
void model_kernels_bind(const struct model_kernels* kernels, uint32_t slot,
                        const struct model_buffers* buffers, VkCommandBuffer commands)
{
    VkDescriptorBufferInfo infos[PLAIN_BINDINGS + MODEL_MOST_PARTS] = {
        {buffers->weights, 0, VK_WHOLE_SIZE},
        {buffers->scratch, 0, VK_WHOLE_SIZE},
        {buffers->text, 0, VK_WHOLE_SIZE},
    };
    VkWriteDescriptorSet writes[PLAIN_BINDINGS + 1];
    for (uint32_t i = 0; i < MODEL_MOST_PARTS; ++i) {
        infos[PLAIN_BINDINGS + i] = (VkDescriptorBufferInfo){buffers->parts[i], 0, VK_WHOLE_SIZE};
    }
    for (uint32_t i = 0; i <= PLAIN_BINDINGS; ++i) {
        writes[i] =
            (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                   .dstSet = kernels->sets[slot],
                                   .dstBinding = i,
                                   .descriptorCount = i == PLAIN_BINDINGS ? MODEL_MOST_PARTS : 1,
                                   .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                   .pBufferInfo = &infos[i]};
    }
    vkUpdateDescriptorSets(kernels->device, PLAIN_BINDINGS + 1, writes, 0, NULL);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernels->layout, 0, 1,
                            &kernels->sets[slot], 0, NULL);
}

void model_kernels_run(const struct model_kernels* kernels, enum model_kernel kernel,
                       const struct model_job* job, uint32_t x, uint32_t y,
                       VkCommandBuffer commands)
{
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
    };
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernels->pipelines[kernel]);
    vkCmdPushConstants(commands, kernels->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(*job),
                       job);
    vkCmdDispatch(commands, x, y, 1);
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
}
