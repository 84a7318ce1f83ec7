/*
 * Runs the compute shader; see particle_compute.h.
 */
#include "particle_compute.h"

#include "shaders/shared_particles_move_comp.h"
#include "support/shader.h"

#include <string.h>

#define GROUP 64u
#define WIDEST 1024u /* groups in x */

static bool create_move_layouts(struct particle_compute* compute)
{
    const VkDevice device = compute->device->device;
    const VkDescriptorSetLayoutBinding binding = {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                                                  VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    const VkDescriptorSetLayoutCreateInfo set_layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding};
    if (!sample_succeeded(
            vkCreateDescriptorSetLayout(device, &set_layout, NULL, &compute->set_layout),
            "vkCreateDescriptorSetLayout")) {
        return false;
    }
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                       sizeof(struct particle_rules)};
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &compute->set_layout,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &range};
    return sample_succeeded(vkCreatePipelineLayout(device, &layout, NULL, &compute->layout),
                            "vkCreatePipelineLayout");
}

static bool create_move_pipeline(struct particle_compute* compute)
{
    static const struct support_shader move = SUPPORT_SHADER(shared_particles_move_comp);
    return sample_succeeded(support_create_compute_pipeline(compute->device->device, &move,
                                                            compute->layout, &compute->pipeline),
                            "vkCreateComputePipelines");
}

static bool create_move_set(struct particle_compute* compute, VkBuffer particles)
{
    const VkDevice device = compute->device->device;
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = 1,
                                             .poolSizeCount = 1,
                                             .pPoolSizes = &size};
    if (!sample_succeeded(vkCreateDescriptorPool(device, &pool, NULL, &compute->sets),
                          "vkCreateDescriptorPool")) {
        return false;
    }
    const VkDescriptorSetAllocateInfo set = {.sType =
                                                 VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                             .descriptorPool = compute->sets,
                                             .descriptorSetCount = 1,
                                             .pSetLayouts = &compute->set_layout};
    if (!sample_succeeded(vkAllocateDescriptorSets(device, &set, &compute->set),
                          "vkAllocateDescriptorSets")) {
        return false;
    }
    const VkDescriptorBufferInfo buffer = {particles, 0, VK_WHOLE_SIZE};
    const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                        .dstSet = compute->set,
                                        .descriptorCount = 1,
                                        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                        .pBufferInfo = &buffer};
    vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
    return true;
}

bool particle_compute_create(struct particle_compute* compute, const struct sample_device* device,
                             VkBuffer particles)
{
    memset(compute, 0, sizeof(*compute));
    compute->device = device;
    return create_move_layouts(compute) && create_move_pipeline(compute) &&
           create_move_set(compute, particles);
}

void particle_compute_destroy(struct particle_compute* compute)
{
    if (compute->device == NULL) {
        return;
    }
    const VkDevice device = compute->device->device;
    vkDestroyDescriptorPool(device, compute->sets, NULL);
    vkDestroyPipeline(device, compute->pipeline, NULL);
    vkDestroyPipelineLayout(device, compute->layout, NULL);
    vkDestroyDescriptorSetLayout(device, compute->set_layout, NULL);
    memset(compute, 0, sizeof(*compute));
}

void particle_compute_record(const struct particle_compute* compute, VkCommandBuffer commands,
                             const struct particle_rules* rules)
{
    const uint32_t groups = (rules->count + GROUP - 1) / GROUP;
    const uint32_t columns = groups < WIDEST ? groups : WIDEST;
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, compute->pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, compute->layout, 0, 1,
                            &compute->set, 0, NULL);
    vkCmdPushConstants(commands, compute->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(*rules),
                       rules);
    vkCmdDispatch(commands, columns, (groups + columns - 1) / columns, 1);
}
