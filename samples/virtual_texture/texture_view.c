/*
 * Draws the map; see texture_view.h.
 */
#include "texture_view.h"

#include "shaders/virtual_texture_view_comp.h"
#include "support/shader.h"

#include <string.h>

#define GROUP 8u /* width and height of the shader's groups */
#define BINDINGS 5u

/* The shader's push constants. */
struct push {
    struct texture_camera camera;
    uint32_t picture[4];
    uint32_t map[4];
};

enum { FLAG_TINT = 1, FLAG_PLAN = 2 };

static bool create_pipeline(struct texture_view* view)
{
    const VkDevice device = view->device->device;
    VkDescriptorSetLayoutBinding bindings[BINDINGS];
    for (uint32_t i = 0; i < BINDINGS; ++i) {
        bindings[i] = (VkDescriptorSetLayoutBinding){
            i, i == 0 ? VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
            VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    }
    const VkDescriptorSetLayoutCreateInfo set_layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = BINDINGS,
        .pBindings = bindings};
    if (!sample_succeeded(vkCreateDescriptorSetLayout(device, &set_layout, NULL, &view->set_layout),
                          "vkCreateDescriptorSetLayout")) {
        return false;
    }
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(struct push)};
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &view->set_layout,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &range};
    if (!sample_succeeded(vkCreatePipelineLayout(device, &layout, NULL, &view->layout),
                          "vkCreatePipelineLayout")) {
        return false;
    }
    static const struct support_shader shader = SUPPORT_SHADER(virtual_texture_view_comp);
    return sample_succeeded(
        support_create_compute_pipeline(device, &shader, view->layout, &view->pipeline),
        "vkCreateComputePipelines");
}

static bool create_pools(struct texture_view* view, uint32_t frame_count)
{
    const VkDevice device = view->device->device;
    const VkDescriptorPoolSize sizes[2] = {
        {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, TEXTURE_FRAMES_IN_FLIGHT},
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, TEXTURE_FRAMES_IN_FLIGHT * (BINDINGS - 1)}};
    const VkDescriptorPoolCreateInfo sets = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = TEXTURE_FRAMES_IN_FLIGHT,
                                             .poolSizeCount = 2,
                                             .pPoolSizes = sizes};
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = view->device->queue_families[0]};
    const VkQueryPoolCreateInfo queries = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                           .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                           .queryCount = 2 * frame_count};
    return sample_succeeded(vkCreateDescriptorPool(device, &sets, NULL, &view->sets),
                            "vkCreateDescriptorPool") &&
           sample_succeeded(vkCreateCommandPool(device, &pool, NULL, &view->pool),
                            "vkCreateCommandPool") &&
           (view->device->properties.limits.timestampComputeAndGraphics == VK_FALSE ||
            sample_succeeded(vkCreateQueryPool(device, &queries, NULL, &view->queries),
                             "vkCreateQueryPool"));
}

static bool create_buffer(struct texture_view* view, VkDeviceSize size, MaarMemoryUsage usage,
                          const char* name, struct texture_buffer* buffer)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT,
                                          .usage = usage,
                                          .pName = name};
    buffer->size = size;
    return sample_succeeded(maarCreateBuffer(view->device->allocator, &info, &how, &buffer->buffer,
                                             &buffer->allocation),
                            "maarCreateBuffer");
}

static bool create_slot(struct texture_view* view, const struct texture_stream* stream,
                        struct texture_slot* slot)
{
    const VkDevice device = view->device->device;
    const VkDeviceSize pixels = (VkDeviceSize)view->width * view->height;
    /* A word holds four levels. */
    const VkDeviceSize levels = (stream->level_count + 3u) / 4u * 4u;
    if (!create_buffer(view, levels, MAAR_MEMORY_USAGE_UPLOAD, "levels", &slot->levels) ||
        !create_buffer(view, (VkDeviceSize)4 * view->request_count, MAAR_MEMORY_USAGE_READBACK,
                       "requests", &slot->requests) ||
        !create_buffer(view, 4 * pixels, MAAR_MEMORY_USAGE_READBACK, "pixels", &slot->pixels) ||
        !create_buffer(view, sizeof(struct texture_pixel_plan) * pixels, MAAR_MEMORY_USAGE_READBACK,
                       "plans", &slot->plans)) {
        return false;
    }
    const VkDescriptorSetAllocateInfo set = {.sType =
                                                 VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                             .descriptorPool = view->sets,
                                             .descriptorSetCount = 1,
                                             .pSetLayouts = &view->set_layout};
    const VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = view->pool,
        .commandBufferCount = 1};
    if (!sample_succeeded(vkAllocateDescriptorSets(device, &set, &slot->set),
                          "vkAllocateDescriptorSets") ||
        !sample_succeeded(vkAllocateCommandBuffers(device, &commands, &slot->commands),
                          "vkAllocateCommandBuffers")) {
        return false;
    }
    const VkDescriptorImageInfo image = {.imageView = stream->view,
                                         .imageLayout = VK_IMAGE_LAYOUT_GENERAL};
    const VkDescriptorBufferInfo buffers[BINDINGS - 1] = {{slot->levels.buffer, 0, VK_WHOLE_SIZE},
                                                          {slot->requests.buffer, 0, VK_WHOLE_SIZE},
                                                          {slot->pixels.buffer, 0, VK_WHOLE_SIZE},
                                                          {slot->plans.buffer, 0, VK_WHOLE_SIZE}};
    VkWriteDescriptorSet writes[BINDINGS];
    for (uint32_t i = 0; i < BINDINGS; ++i) {
        writes[i] =
            (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                   .dstSet = slot->set,
                                   .dstBinding = i,
                                   .descriptorCount = 1,
                                   .descriptorType = i == 0 ? VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE
                                                            : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                   .pImageInfo = i == 0 ? &image : NULL,
                                   .pBufferInfo = i == 0 ? NULL : &buffers[i - 1]};
    }
    vkUpdateDescriptorSets(device, BINDINGS, writes, 0, NULL);
    return true;
}

static uint32_t log2_of(uint32_t value)
{
    uint32_t log = 0;
    while (value >> (log + 1) != 0) {
        ++log;
    }
    return log;
}

bool texture_view_create(struct texture_view* view, struct sample_device* device,
                         const struct texture_stream* stream, uint32_t width, uint32_t height,
                         uint32_t frame_count)
{
    memset(view, 0, sizeof(*view));
    view->device = device;
    view->width = width;
    view->height = height;
    view->request_count = ((width + GROUP - 1) / GROUP) * ((height + GROUP - 1) / GROUP);
    view->map[0] = stream->texture;
    view->map[1] = stream->info.mipLevels;
    view->map[2] = log2_of(stream->info.tileExtent.width);
    view->map[3] = log2_of(stream->info.tileExtent.height);
    if (1u << view->map[2] != stream->info.tileExtent.width ||
        1u << view->map[3] != stream->info.tileExtent.height) {
        sample_complain("tiles of %u x %u texels: the shader supports only powers of two",
                        stream->info.tileExtent.width, stream->info.tileExtent.height);
        return false;
    }
    bool done = create_pipeline(view) && create_pools(view, frame_count);
    for (uint32_t i = 0; done && i < TEXTURE_FRAMES_IN_FLIGHT; ++i) {
        done = create_slot(view, stream, &view->slots[i]);
    }
    return done;
}

void texture_view_destroy(struct texture_view* view)
{
    if (view->device == NULL) {
        return;
    }
    const VkDevice device = view->device->device;
    for (uint32_t i = 0; i < TEXTURE_FRAMES_IN_FLIGHT; ++i) {
        struct texture_slot* const slot = &view->slots[i];
        struct texture_buffer* const buffers[4] = {&slot->levels, &slot->requests, &slot->pixels,
                                                   &slot->plans};
        for (uint32_t j = 0; j < 4; ++j) {
            maarDestroyBuffer(view->device->allocator, buffers[j]->buffer, buffers[j]->allocation);
        }
    }
    vkDestroyQueryPool(device, view->queries, NULL);
    vkDestroyCommandPool(device, view->pool, NULL);
    vkDestroyDescriptorPool(device, view->sets, NULL);
    vkDestroyPipeline(device, view->pipeline, NULL);
    vkDestroyPipelineLayout(device, view->layout, NULL);
    vkDestroyDescriptorSetLayout(device, view->set_layout, NULL);
    memset(view, 0, sizeof(*view));
}

/* The host reads the shader's output. */
static void record_drawing(const struct texture_view* view, const struct texture_slot* slot,
                           const struct push* push)
{
    static const VkMemoryBarrier2 to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                             .srcStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                                             .srcAccessMask = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                                             .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT,
                                             .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT};
    const VkDependencyInfo dependency = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                         .memoryBarrierCount = 1,
                                         .pMemoryBarriers = &to_host};
    vkCmdBindPipeline(slot->commands, VK_PIPELINE_BIND_POINT_COMPUTE, view->pipeline);
    vkCmdBindDescriptorSets(slot->commands, VK_PIPELINE_BIND_POINT_COMPUTE, view->layout, 0, 1,
                            &slot->set, 0, NULL);
    vkCmdPushConstants(slot->commands, view->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(*push),
                       push);
    vkCmdDispatch(slot->commands, (view->width + GROUP - 1) / GROUP,
                  (view->height + GROUP - 1) / GROUP, 1);
    vkCmdPipelineBarrier2(slot->commands, &dependency);
}

bool texture_view_record(struct texture_view* view, uint32_t slot_index,
                         const struct texture_drawing* drawing, const uint8_t* levels,
                         uint32_t level_count)
{
    const struct texture_slot* const slot = &view->slots[slot_index];
    struct push push = {
        .camera = drawing->camera,
        .picture = {view->width, view->height, drawing->asking,
                    (drawing->tint ? FLAG_TINT : 0u) | (drawing->plan ? FLAG_PLAN : 0u)}};
    memcpy(push.map, view->map, sizeof(push.map));
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    if (!sample_succeeded(maarCopyToAllocation(view->device->allocator, slot->levels.allocation, 0,
                                               level_count, levels),
                          "maarCopyToAllocation") ||
        !sample_succeeded(vkBeginCommandBuffer(slot->commands, &begin), "vkBeginCommandBuffer")) {
        return false;
    }
    if (view->queries != VK_NULL_HANDLE) {
        vkCmdResetQueryPool(slot->commands, view->queries, 2 * drawing->frame, 2);
        vkCmdWriteTimestamp(slot->commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, view->queries,
                            2 * drawing->frame);
    }
    record_drawing(view, slot, &push);
    if (view->queries != VK_NULL_HANDLE) {
        vkCmdWriteTimestamp(slot->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, view->queries,
                            2 * drawing->frame + 1);
    }
    return sample_succeeded(vkEndCommandBuffer(slot->commands), "vkEndCommandBuffer");
}

bool texture_view_read(const struct texture_view* view, const struct texture_buffer* buffer,
                       void* data)
{
    return sample_succeeded(
        maarCopyFromAllocation(view->device->allocator, buffer->allocation, 0, buffer->size, data),
        "maarCopyFromAllocation");
}
