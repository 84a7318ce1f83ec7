/*
 * Records steps; see frame_record.h.
 */
#include "frame_record.h"

#include "frame_walk.h"

#include <math.h>
#include <string.h>

#define MAX_ATTACHMENTS 5

static VkExtent2D extent_of(const struct frame_recording* recording, enum frame_resource resource)
{
    return frame_resource_extent(resource, recording->options->width, recording->options->height);
}

static void bind(const struct frame_recording* recording, uint32_t pass)
{
    const struct frame_pass_info* const info = &frame_passes[pass];
    const VkPipelineBindPoint point = info->kind == FRAME_PASS_COMPUTE
                                          ? VK_PIPELINE_BIND_POINT_COMPUTE
                                          : VK_PIPELINE_BIND_POINT_GRAPHICS;
    const VkDescriptorSet sets[2] = {recording->target->frame_set, recording->target->sets[pass]};
    const uint32_t offset = (uint32_t)(recording->assets->constants_stride * recording->frame);
    const VkExtent2D extent = extent_of(recording, info->sized_as);
    const struct frame_push push = {{(float)extent.width, (float)extent.height,
                                     1.0f / (float)extent.width, 1.0f / (float)extent.height},
                                    {info->parameters[0], info->parameters[1], 0.0f, 0.0f}};
    const VkPipelineLayout layout = recording->pipelines->layouts[pass];
    vkCmdBindPipeline(recording->commands, point, recording->pipelines->pipelines[pass]);
    vkCmdBindDescriptorSets(recording->commands, point, layout, 0, 2, sets, 1, &offset);
    vkCmdPushConstants(recording->commands, layout,
                       VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT |
                           VK_SHADER_STAGE_COMPUTE_BIT,
                       0, sizeof(push), &push);
}

static void dispatch(const struct frame_recording* recording, uint32_t pass)
{
    const struct frame_pass_info* const info = &frame_passes[pass];
    const VkExtent2D extent = extent_of(recording, info->sized_as);
    bind(recording, pass);
    vkCmdDispatch(recording->commands, (extent.width + info->group - 1) / info->group,
                  (extent.height + info->group - 1) / info->group, 1);
}

static void begin_rendering(const struct frame_recording* recording, uint32_t pass)
{
    const struct frame_pass_info* const info = &frame_passes[pass];
    VkRenderingAttachmentInfo colors[MAX_ATTACHMENTS];
    VkRenderingAttachmentInfo depth = {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO};
    uint32_t color_count = 0;
    for (uint32_t i = 0; i < FRAME_MAX_USES && info->uses[i].kind != FRAME_USE_NONE; ++i) {
        const struct frame_use* const use = &info->uses[i];
        const VkRenderingAttachmentInfo attachment = {
            .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
            .imageView = recording->target->resources[use->resource].viewCount != 0
                             ? recording->target->resources[use->resource].pViews[0]
                             : VK_NULL_HANDLE,
            .imageLayout = frame_uses[use->kind].layout,
            .loadOp = use->kind == FRAME_USE_COLOR_ADD ? VK_ATTACHMENT_LOAD_OP_LOAD
                      : info->kind == FRAME_PASS_SCENE ? VK_ATTACHMENT_LOAD_OP_CLEAR
                                                       : VK_ATTACHMENT_LOAD_OP_DONT_CARE,
            .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        };
        if (use->kind == FRAME_USE_COLOR || use->kind == FRAME_USE_COLOR_ADD) {
            colors[color_count++] = attachment;
        } else if (use->kind == FRAME_USE_DEPTH) {
            depth = attachment;
        }
    }
    /* The far end of depth: 0 with reversed depth, 1 in shadow maps. */
    depth.clearValue.depthStencil.depth = color_count == 0 ? 1.0f : 0.0f;
    const VkRenderingInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = {{0, 0}, extent_of(recording, info->sized_as)},
        .layerCount = 1,
        .colorAttachmentCount = color_count,
        .pColorAttachments = colors,
        .pDepthAttachment = depth.imageView != VK_NULL_HANDLE ? &depth : NULL,
    };
    vkCmdBeginRendering(recording->commands, &rendering);
}

static void draw_scene(const struct frame_recording* recording, bool shadow)
{
    const struct frame_scene* const scene = recording->scene;
    const VkDeviceSize zero = 0;
    vkCmdBindVertexBuffers(recording->commands, 0, 1, &recording->assets->vertices.buffer, &zero);
    vkCmdBindIndexBuffer(recording->commands, recording->assets->indices.buffer, 0,
                         VK_INDEX_TYPE_UINT32);
    for (uint32_t i = 0; i < scene->draw_count; ++i) {
        const struct frame_draw* const draw = &scene->draws[i];
        if (!shadow || draw->casts_shadow) {
            vkCmdDrawIndexed(recording->commands, draw->mesh.index_count, draw->instance_count,
                             draw->mesh.first_index, draw->mesh.first_vertex, draw->first_instance);
        }
    }
}

static void render(const struct frame_recording* recording, uint32_t pass)
{
    const struct frame_pass_info* const info = &frame_passes[pass];
    const VkExtent2D extent = extent_of(recording, info->sized_as);
    const VkViewport viewport = {0.0f, 0.0f, (float)extent.width, (float)extent.height, 0.0f, 1.0f};
    const VkRect2D scissor = {{0, 0}, extent};
    begin_rendering(recording, pass);
    bind(recording, pass);
    vkCmdSetViewport(recording->commands, 0, 1, &viewport);
    vkCmdSetScissor(recording->commands, 0, 1, &scissor);
    switch (info->kind) {
    case FRAME_PASS_SCENE:
        draw_scene(recording, info->shader == FRAME_SHADER_NONE);
        break;
    case FRAME_PASS_EMBERS:
        vkCmdDraw(recording->commands, 4, FRAME_EMBERS, 0, 0);
        break;
    default:
        vkCmdDraw(recording->commands, 3, 1, 0, 0);
        break;
    }
    vkCmdEndRendering(recording->commands);
}

static void copy_image(const struct frame_recording* recording, uint32_t pass)
{
    const struct frame_use* const uses = frame_passes[pass].uses;
    const VkExtent2D extent = extent_of(recording, uses[0].resource);
    const VkImageSubresourceLayers layers = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    const VkImageCopy region = {.srcSubresource = layers,
                                .dstSubresource = layers,
                                .extent = {extent.width, extent.height, 1}};
    vkCmdCopyImage(recording->commands, recording->target->resources[uses[0].resource].image,
                   VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                   recording->target->resources[uses[1].resource].image,
                   VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
}

/* The picture does not belong to Maar, so the program records its barriers. */
static void order_picture(const struct frame_recording* recording, VkPipelineStageFlags2 stage,
                          VkAccessFlags2 access)
{
    const VkBufferMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
        .srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
        .dstStageMask = stage,
        .dstAccessMask = access,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .buffer = recording->assets->picture.buffer,
        .size = VK_WHOLE_SIZE,
    };
    const VkDependencyInfo dependency = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                         .bufferMemoryBarrierCount = 1,
                                         .pBufferMemoryBarriers = &barrier};
    vkCmdPipelineBarrier2(recording->commands, &dependency);
}

static void read_back(const struct frame_recording* recording, uint32_t pass)
{
    const enum frame_resource source = frame_passes[pass].uses[0].resource;
    const VkExtent2D extent = extent_of(recording, source);
    const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {extent.width, extent.height, 1}};
    if (recording->frame > 0) {
        order_picture(recording, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
                      VK_ACCESS_2_TRANSFER_WRITE_BIT);
    }
    frame_walk_picture(recording->walk, recording->commands, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
                       VK_ACCESS_2_TRANSFER_WRITE_BIT);
    vkCmdCopyImageToBuffer(recording->commands, recording->target->resources[source].image,
                           VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, recording->assets->picture.buffer,
                           1, &region);
    if (recording->frame + 1 == recording->options->frames) {
        order_picture(recording, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
        frame_walk_picture(recording->walk, recording->commands, VK_PIPELINE_STAGE_2_HOST_BIT,
                           VK_ACCESS_2_HOST_READ_BIT);
    }
}

/* Returns garbage, which differs for each frame and resource: NaN, huge or negative values, where
 * the format has them. */
static VkClearColorValue garbage_color(VkFormat format, unsigned seed)
{
    VkClearColorValue value;
    const bool is_float = format != VK_FORMAT_R8_UNORM && format != VK_FORMAT_R8G8B8A8_UNORM &&
                          format != VK_FORMAT_R8G8B8A8_SRGB;
    for (unsigned i = 0; i < 4; ++i) {
        const float random = frame_hash(4 * seed + i);
        value.float32[i] = !is_float             ? random
                           : (seed + i) % 3 == 0 ? NAN
                           : (seed + i) % 3 == 1 ? 60000.0f * random
                                                 : -60000.0f * random;
    }
    return value;
}

static void poison_resource(const struct frame_recording* recording, enum frame_resource resource)
{
    const MaarTransientResourceInfo* const info = &recording->target->resources[resource];
    const unsigned seed = recording->frame * 977u + (unsigned)resource * 31u;
    const VkFormat format = frame_resources[resource].format;
    const VkImageSubresourceRange range = {frame_resource_aspect(resource), 0, 1, 0, 1};
    if (!frame_resource_is_image(resource)) {
        vkCmdFillBuffer(recording->commands, info->buffer, 0, VK_WHOLE_SIZE,
                        seed * 0x9E3779B9u ^ 0xA5A5A5A5u);
    } else if (format == VK_FORMAT_D32_SFLOAT) {
        const VkClearDepthStencilValue value = {frame_hash(seed), 0};
        vkCmdClearDepthStencilImage(recording->commands, info->image,
                                    VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &value, 1, &range);
    } else {
        const VkClearColorValue value = garbage_color(format, seed);
        vkCmdClearColorImage(recording->commands, info->image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                             &value, 1, &range);
    }
}

static void record_poison(const struct frame_recording* recording, const struct frame_step* step)
{
    for (uint32_t i = 0; i < FRAME_RESOURCE_COUNT; ++i) {
        if (frame_step_poisons(&recording->target->graph, step, (enum frame_resource)i)) {
            poison_resource(recording, (enum frame_resource)i);
        }
    }
}

static void record_pass(const struct frame_recording* recording, uint32_t pass)
{
    switch (frame_passes[pass].kind) {
    case FRAME_PASS_SCENE:
    case FRAME_PASS_SCREEN:
    case FRAME_PASS_EMBERS:
        render(recording, pass);
        break;
    case FRAME_PASS_COMPUTE:
        dispatch(recording, pass);
        break;
    case FRAME_PASS_ZERO:
        vkCmdFillBuffer(recording->commands,
                        recording->target->resources[frame_passes[pass].uses[0].resource].buffer, 0,
                        VK_WHOLE_SIZE, 0);
        break;
    case FRAME_PASS_COPY:
        copy_image(recording, pass);
        break;
    case FRAME_PASS_READ_BACK:
        read_back(recording, pass);
        break;
    }
}

static void record_dependency(VkCommandBuffer commands, const VkDependencyInfo* dependency)
{
    if (dependency->memoryBarrierCount != 0 || dependency->bufferMemoryBarrierCount != 0 ||
        dependency->imageMemoryBarrierCount != 0) {
        vkCmdPipelineBarrier2(commands, dependency);
    }
}

void frame_record_step(const struct frame_recording* recording, uint32_t step,
                       const MaarTransientPassBarriers* barriers)
{
    const struct frame_graph* const graph = &recording->target->graph;
    frame_walk_begin_step(recording->walk, recording->frame, step);
    record_dependency(recording->commands, &barriers->aliasing);
    record_dependency(recording->commands, &barriers->before);
    frame_walk_use(recording->walk, recording->commands);
    if (graph->steps[step].poisons) {
        record_poison(recording, &graph->steps[step]);
    } else {
        record_pass(recording, graph->steps[step].pass);
    }
    record_dependency(recording->commands, &barriers->after);
}
