/*
 * Creates a heap and its descriptors; see frame_target.h.
 */
#include "frame_target.h"

#include <string.h>

/* The most nodes that the planner visits: a twentieth of its default, 50 ms. With none of nine
 * tested sizes and drivers did a longer search find a better plan within a second. */
#define PLAN_NODES 200000u

bool frame_target_create(struct frame_target* target, struct sample_device* device,
                         const struct frame_options* options, MaarTransientHeapCreateFlags flags)
{
    memset(target, 0, sizeof(*target));
    frame_graph_build(&target->graph, options->width, options->height, device, options->poison);
    const MaarTransientHeapCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO,
        .flags = flags,
        .pGraph = &target->graph.graph,
        .planNodeLimit = PLAN_NODES,
    };
    if (!sample_succeeded(maarCreateTransientHeap(device->allocator, &info, &target->heap),
                          "maarCreateTransientHeap")) {
        return false;
    }
    target->info.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_INFO;
    if (!sample_succeeded(maarGetTransientHeapInfo(device->allocator, target->heap, &target->info),
                          "maarGetTransientHeapInfo")) {
        return false;
    }
    bool done = true;
    for (uint32_t i = 0; done && i < FRAME_RESOURCE_COUNT; ++i) {
        target->resources[i].sType = MAAR_STRUCTURE_TYPE_TRANSIENT_RESOURCE_INFO;
        done = sample_succeeded(
            maarGetTransientResource(device->allocator, target->heap, 0, i, &target->resources[i]),
            "maarGetTransientResource");
    }
    return done;
}

static bool create_pool(struct frame_target* target, VkDevice device)
{
    const uint32_t most = FRAME_MAX_PASSES * FRAME_MAX_USES;
    const VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, 1},
        {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, most},
        {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, most},
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, most},
    };
    const VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = FRAME_MAX_PASSES + 1,
        .poolSizeCount = 4,
        .pPoolSizes = sizes,
    };
    return sample_succeeded(vkCreateDescriptorPool(device, &info, NULL, &target->pool),
                            "vkCreateDescriptorPool");
}

static bool allocate_set(const struct frame_target* target, VkDevice device,
                         VkDescriptorSetLayout layout, VkDescriptorSet* set)
{
    const VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = target->pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &layout,
    };
    return sample_succeeded(vkAllocateDescriptorSets(device, &info, set),
                            "vkAllocateDescriptorSets");
}

static void write_frame_set(const struct frame_target* target, VkDevice device,
                            const struct frame_pipelines* pipelines,
                            const struct frame_assets* assets)
{
    const VkDescriptorBufferInfo constants = {assets->constants.buffer, 0,
                                              sizeof(struct frame_constants)};
    const VkDescriptorBufferInfo instances = {assets->instances.buffer, 0, VK_WHOLE_SIZE};
    const VkDescriptorImageInfo noise = {pipelines->repeat, assets->noise_view,
                                         VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    VkWriteDescriptorSet writes[3];
    for (uint32_t i = 0; i < 3; ++i) {
        writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = target->frame_set,
                                           .dstBinding = i,
                                           .descriptorCount = 1};
    }
    writes[0].descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC;
    writes[0].pBufferInfo = &constants;
    writes[1].descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    writes[1].pImageInfo = &noise;
    writes[2].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    writes[2].pBufferInfo = &instances;
    vkUpdateDescriptorSets(device, 3, writes, 0, NULL);
}

static void write_pass_set(const struct frame_target* target, VkDevice device,
                           const struct frame_pipelines* pipelines, uint32_t pass)
{
    VkWriteDescriptorSet writes[FRAME_MAX_USES];
    VkDescriptorImageInfo images[FRAME_MAX_USES];
    VkDescriptorBufferInfo buffers[FRAME_MAX_USES];
    uint32_t count = 0;
    const struct frame_use* const uses = frame_passes[pass].uses;
    for (uint32_t i = 0; i < FRAME_MAX_USES && uses[i].kind != FRAME_USE_NONE; ++i) {
        const struct frame_use_info* const info = &frame_uses[uses[i].kind];
        const MaarTransientResourceInfo* const resource = &target->resources[uses[i].resource];
        if (info->descriptor == VK_DESCRIPTOR_TYPE_MAX_ENUM) {
            continue;
        }
        images[count] = (VkDescriptorImageInfo){
            frame_pipelines_sampler(pipelines, uses[i].kind),
            resource->viewCount != 0 ? resource->pViews[0] : VK_NULL_HANDLE, info->layout};
        buffers[count] = (VkDescriptorBufferInfo){resource->buffer, 0, VK_WHOLE_SIZE};
        writes[count] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                               .dstSet = target->sets[pass],
                                               .dstBinding = count,
                                               .descriptorCount = 1,
                                               .descriptorType = info->descriptor,
                                               .pImageInfo = &images[count],
                                               .pBufferInfo = &buffers[count]};
        ++count;
    }
    vkUpdateDescriptorSets(device, count, writes, 0, NULL);
}

bool frame_target_describe(struct frame_target* target, struct sample_device* device,
                           const struct frame_pipelines* pipelines,
                           const struct frame_assets* assets)
{
    if (!create_pool(target, device->device) ||
        !allocate_set(target, device->device, pipelines->frame_layout, &target->frame_set)) {
        return false;
    }
    write_frame_set(target, device->device, pipelines, assets);
    for (uint32_t pass = 0; pass < frame_pass_count; ++pass) {
        if (!frame_pass_has_pipeline(&frame_passes[pass])) {
            continue;
        }
        if (!allocate_set(target, device->device, pipelines->set_layouts[pass],
                          &target->sets[pass])) {
            return false;
        }
        write_pass_set(target, device->device, pipelines, pass);
    }
    return true;
}

void frame_target_destroy(struct frame_target* target, struct sample_device* device)
{
    if (device->device != VK_NULL_HANDLE) {
        vkDestroyDescriptorPool(device->device, target->pool, NULL);
        maarDestroyTransientHeap(device->allocator, target->heap);
    }
    target->pool = VK_NULL_HANDLE;
    target->heap = VK_NULL_HANDLE;
}
