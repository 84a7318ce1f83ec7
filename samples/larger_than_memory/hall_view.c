/*
 * Draws the hall; see hall_view.h.
 */
#include "hall_view.h"

#include <stdlib.h>
#include <string.h>

#define FIELD 0.62f /* half the height of the view at a distance of 1 */
#define NEAREST 0.1f
#define FARTHEST 40.0f

/* ---- objects ---- */

static bool create_target(struct hall_view* view, uint32_t number)
{
    static const VkFormat formats[HALL_TARGETS] = {HALL_COLOUR_FORMAT, HALL_SURFACE_FORMAT,
                                                   HALL_DEPTH_FORMAT, HALL_COLOUR_FORMAT};
    struct hall_target* const target = &view->targets[number];
    const bool is_depth = number == HALL_DEPTH;
    const VkImageUsageFlags also =
        number == HALL_LIT ? VK_IMAGE_USAGE_TRANSFER_SRC_BIT : VK_IMAGE_USAGE_SAMPLED_BIT;
    const VkImageCreateInfo image = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                     .imageType = VK_IMAGE_TYPE_2D,
                                     .format = formats[number],
                                     .extent = {view->width, view->height, 1},
                                     .mipLevels = 1,
                                     .arrayLayers = 1,
                                     .samples = VK_SAMPLE_COUNT_1_BIT,
                                     .usage = is_depth
                                                  ? VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT
                                                  : VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | also};
    if (!sample_succeeded(
            maarCreateImage(view->device->allocator, &image, NULL, &target->image, &target->memory),
            "maarCreateImage")) {
        return false;
    }
    const VkImageViewCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = target->image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = formats[number],
        .subresourceRange = {is_depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT, 0, 1,
                             0, 1}};
    return sample_succeeded(vkCreateImageView(view->device->device, &info, NULL, &target->view),
                            "vkCreateImageView");
}

static bool create_sets(struct hall_view* view)
{
    const uint32_t set_count = SAMPLE_WORK_SLOTS * view->texture_count + 1;
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, set_count + 1};
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = set_count,
                                             .poolSizeCount = 1,
                                             .pPoolSizes = &size};
    const VkSamplerCreateInfo sampler = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                                         .magFilter = VK_FILTER_LINEAR,
                                         .minFilter = VK_FILTER_LINEAR,
                                         .mipmapMode = VK_SAMPLER_MIPMAP_MODE_LINEAR,
                                         .maxLod = VK_LOD_CLAMP_NONE};
    return sample_succeeded(vkCreateDescriptorPool(view->device->device, &pool, NULL, &view->pool),
                            "vkCreateDescriptorPool") &&
           sample_succeeded(vkCreateSampler(view->device->device, &sampler, NULL, &view->sampler),
                            "vkCreateSampler");
}

static bool allocate_set(const struct hall_view* view, VkDescriptorSetLayout layout,
                         VkDescriptorSet* set)
{
    const VkDescriptorSetAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                              .descriptorPool = view->pool,
                                              .descriptorSetCount = 1,
                                              .pSetLayouts = &layout};
    return sample_succeeded(vkAllocateDescriptorSets(view->device->device, &info, set),
                            "vkAllocateDescriptorSets");
}

static void write_set(const struct hall_view* view, VkDescriptorSet set, uint32_t binding,
                      VkImageView image)
{
    const VkDescriptorImageInfo info = {view->sampler, image,
                                        VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                        .dstSet = set,
                                        .dstBinding = binding,
                                        .descriptorCount = 1,
                                        .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                                        .pImageInfo = &info};
    vkUpdateDescriptorSets(view->device->device, 1, &write, 0, NULL);
}

static bool create_slot(struct hall_view* view, uint32_t slot)
{
    const VkBufferCreateInfo pixels = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                       .size = (VkDeviceSize)4 * view->width * view->height,
                                       .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    const MaarAllocationCreateInfo read_back = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                                .flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT,
                                                .usage = MAAR_MEMORY_USAGE_READBACK};
    view->bindings[slot] = calloc(view->texture_count, sizeof(struct hall_binding));
    bool done = sample_has_memory(view->bindings[slot]) &&
                sample_succeeded(maarCreateBuffer(view->device->allocator, &pixels, &read_back,
                                                  &view->pixels[slot], &view->pixels_memory[slot]),
                                 "maarCreateBuffer");
    for (uint32_t i = 0; done && i < view->texture_count; ++i) {
        done = allocate_set(view, view->surface.sets, &view->bindings[slot][i].set);
    }
    return done;
}

bool hall_view_create(struct hall_view* view, const struct sample_device* device,
                      uint32_t texture_count, uint32_t width, uint32_t height)
{
    *view = (struct hall_view){
        .device = device, .texture_count = texture_count, .width = width, .height = height};
    bool done = hall_pipelines_surface(&view->surface, device->device) &&
                hall_pipelines_light(&view->light, device->device) && create_sets(view);
    for (uint32_t i = 0; done && i < HALL_TARGETS; ++i) {
        done = create_target(view, i);
    }
    for (uint32_t slot = 0; done && slot < SAMPLE_WORK_SLOTS; ++slot) {
        done = create_slot(view, slot);
    }
    if (!done || !allocate_set(view, view->light.sets, &view->lit)) {
        return false;
    }
    write_set(view, view->lit, 0, view->targets[HALL_COLOUR].view);
    write_set(view, view->lit, 1, view->targets[HALL_SURFACE].view);
    return true;
}

static void destroy_slot(struct hall_view* view, uint32_t slot)
{
    for (uint32_t i = 0; view->bindings[slot] != NULL && i < view->texture_count; ++i) {
        vkDestroyImageView(view->device->device, view->bindings[slot][i].view, NULL);
    }
    free(view->bindings[slot]);
    maarDestroyBuffer(view->device->allocator, view->pixels[slot], view->pixels_memory[slot]);
}

void hall_view_destroy(struct hall_view* view)
{
    if (view->device == NULL) {
        return;
    }
    const VkDevice device = view->device->device;
    for (uint32_t slot = 0; slot < SAMPLE_WORK_SLOTS; ++slot) {
        destroy_slot(view, slot);
    }
    for (uint32_t i = 0; i < HALL_TARGETS; ++i) {
        vkDestroyImageView(device, view->targets[i].view, NULL);
        maarDestroyImage(view->device->allocator, view->targets[i].image, view->targets[i].memory);
    }
    vkDestroySampler(device, view->sampler, NULL);
    vkDestroyDescriptorPool(device, view->pool, NULL);
    hall_pipelines_destroy(&view->surface, device);
    hall_pipelines_destroy(&view->light, device);
    memset(view, 0, sizeof(*view));
}

/* ---- a frame ---- */

/* Makes the view and the descriptor anew if the texture has another object than in the last frame
 * of this slot. That frame is done, so nothing uses the old view any more. */
static bool bind_texture(struct hall_view* view, struct hall_binding* binding,
                         const MaarResidentObject* object)
{
    if (binding->view != VK_NULL_HANDLE &&
        (binding->epoch == object->epoch || view->forgets_epochs)) {
        return true;
    }
    const VkImageViewCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = object->image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = HALL_COLOUR_FORMAT,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0, 1}};
    vkDestroyImageView(view->device->device, binding->view, NULL);
    binding->view = VK_NULL_HANDLE;
    if (!sample_succeeded(vkCreateImageView(view->device->device, &info, NULL, &binding->view),
                          "vkCreateImageView")) {
        return false;
    }
    binding->epoch = object->epoch;
    write_set(view, binding->set, 0, binding->view);
    return true;
}

/* Writes the matrix from places in the hall to clip space, column by column. */
static void project(const struct hall_view* view, const struct hall_eye* eye, float matrix[16])
{
    const float wide = FIELD * (float)view->width / (float)view->height;
    const float* const rows[4] = {eye->right, eye->up, eye->forward, eye->forward};
    const float depth = FARTHEST / (FARTHEST - NEAREST);
    const float scales[4] = {1.0f / wide, -1.0f / FIELD, depth, 1.0f};
    for (uint32_t row = 0; row < 4; ++row) {
        float moved = 0.0f;
        for (uint32_t column = 0; column < 3; ++column) {
            matrix[4 * column + row] = rows[row][column] * scales[row];
            moved -= rows[row][column] * scales[row] * eye->place[column];
        }
        matrix[12 + row] = moved;
    }
    matrix[14] -= depth * NEAREST;
}

/* Orders all commands before after all commands behind, and gives two images new layouts. */
static void pass(const struct hall_view* view, uint32_t first, uint32_t count, VkImageLayout from,
                 VkImageLayout to, VkCommandBuffer commands)
{
    VkImageMemoryBarrier2 barriers[HALL_TARGETS];
    for (uint32_t i = 0; i < count; ++i) {
        const bool is_depth = first + i == HALL_DEPTH;
        barriers[i] = (VkImageMemoryBarrier2){
            .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
            .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
            .srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
            .dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
            .dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT,
            .oldLayout = from,
            .newLayout = is_depth ? VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL : to,
            .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
            .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
            .image = view->targets[first + i].image,
            .subresourceRange = {is_depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT,
                                 0, 1, 0, 1}};
    }
    const VkDependencyInfo dependency = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                         .imageMemoryBarrierCount = count,
                                         .pImageMemoryBarriers = barriers};
    vkCmdPipelineBarrier2(commands, &dependency);
}

static VkRenderingAttachmentInfo attachment(const struct hall_view* view, uint32_t target)
{
    return (VkRenderingAttachmentInfo){
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = view->targets[target].view,
        .imageLayout = target == HALL_DEPTH ? VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL
                                            : VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .clearValue = {.depthStencil = {target == HALL_DEPTH ? 1.0f : 0.0f, 0}}};
}

static void begin_rendering(const struct hall_view* view, const struct hall_pipeline* pipeline,
                            const VkRenderingInfo* rendering, VkCommandBuffer commands)
{
    const VkViewport viewport = {0.0f, 0.0f, (float)view->width, (float)view->height, 0.0f, 1.0f};
    vkCmdBeginRendering(commands, rendering);
    vkCmdSetViewport(commands, 0, 1, &viewport);
    vkCmdSetScissor(commands, 0, 1, &rendering->renderArea);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline->pipeline);
}

static bool draw_surfaces(struct hall_view* view, uint32_t slot, const struct hall_eye* eye,
                          uint32_t count, const struct hall_seen* seen, VkCommandBuffer commands)
{
    const VkRenderingAttachmentInfo colours[2] = {attachment(view, HALL_COLOUR),
                                                  attachment(view, HALL_SURFACE)};
    const VkRenderingAttachmentInfo depth = attachment(view, HALL_DEPTH);
    const VkRenderingInfo rendering = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                       .renderArea = {{0, 0}, {view->width, view->height}},
                                       .layerCount = 1,
                                       .colorAttachmentCount = 2,
                                       .pColorAttachments = colours,
                                       .pDepthAttachment = &depth};
    const VkPipelineLayout layout = view->surface.layout;
    float matrix[16];
    bool done = true;
    begin_rendering(view, &view->surface, &rendering, commands);
    project(view, eye, matrix);
    vkCmdPushConstants(commands, layout, HALL_PUSH_STAGES, 0, sizeof(matrix), matrix);
    for (uint32_t i = 0; done && i < count; ++i) {
        struct hall_binding* const binding = &view->bindings[slot][seen[i].texture];
        struct hall_surface surfaces[HALL_MOST_SURFACES];
        const uint32_t surface_count = hall_scene_surfaces(
            seen[i].texture / HALL_TEXTURES, seen[i].texture % HALL_TEXTURES, surfaces);
        done = bind_texture(view, binding, &seen[i].object);
        vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, 1,
                                &binding->set, 0, NULL);
        for (uint32_t k = 0; k < surface_count; ++k) {
            vkCmdPushConstants(commands, layout, HALL_PUSH_STAGES, sizeof(matrix),
                               sizeof(surfaces[k]), &surfaces[k]);
            vkCmdDraw(commands, 4, 1, 0, 0);
        }
    }
    vkCmdEndRendering(commands);
    return done;
}

static void draw_light(const struct hall_view* view, const struct hall_eye* eye,
                       VkCommandBuffer commands)
{
    const VkRenderingAttachmentInfo colour = attachment(view, HALL_LIT);
    const VkRenderingInfo rendering = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                       .renderArea = {{0, 0}, {view->width, view->height}},
                                       .layerCount = 1,
                                       .colorAttachmentCount = 1,
                                       .pColorAttachments = &colour};
    const float wide = FIELD * (float)view->width / (float)view->height;
    float vectors[4][4] = {{0}};
    for (uint32_t i = 0; i < 3; ++i) {
        vectors[0][i] = eye->place[i];
        vectors[1][i] = eye->right[i] * wide;
        vectors[2][i] = eye->up[i] * FIELD;
        vectors[3][i] = eye->forward[i];
    }
    begin_rendering(view, &view->light, &rendering, commands);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, view->light.layout, 0, 1,
                            &view->lit, 0, NULL);
    vkCmdPushConstants(commands, view->light.layout, HALL_PUSH_STAGES, 0, sizeof(vectors), vectors);
    vkCmdDraw(commands, 3, 1, 0, 0);
    vkCmdEndRendering(commands);
}

bool hall_view_record(struct hall_view* view, uint32_t slot, const struct hall_eye* eye,
                      uint32_t count, const struct hall_seen* seen, VkCommandBuffer commands)
{
    const VkImageLayout drawn = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
    const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {view->width, view->height, 1}};
    pass(view, 0, HALL_TARGETS, VK_IMAGE_LAYOUT_UNDEFINED, drawn, commands);
    if (!draw_surfaces(view, slot, eye, count, seen, commands)) {
        return false;
    }
    pass(view, HALL_COLOUR, 2, drawn, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, commands);
    draw_light(view, eye, commands);
    pass(view, HALL_LIT, 1, drawn, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, commands);
    vkCmdCopyImageToBuffer(commands, view->targets[HALL_LIT].image,
                           VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, view->pixels[slot], 1, &region);
    const VkMemoryBarrier2 to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                      .srcStageMask = VK_PIPELINE_STAGE_2_COPY_BIT,
                                      .srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
                                      .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT,
                                      .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT};
    const VkDependencyInfo dependency = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                         .memoryBarrierCount = 1,
                                         .pMemoryBarriers = &to_host};
    vkCmdPipelineBarrier2(commands, &dependency);
    return true;
}

const uint8_t* hall_view_read(const struct hall_view* view, uint32_t slot)
{
    MaarAllocator const allocator = view->device->allocator;
    const VkResult result =
        maarInvalidateAllocation(allocator, view->pixels_memory[slot], 0, VK_WHOLE_SIZE);
    return sample_succeeded(result, "maarInvalidateAllocation")
               ? maarGetMappedData(allocator, view->pixels_memory[slot])
               : NULL;
}
