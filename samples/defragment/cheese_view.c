/*
 * Renders planets; see cheese_view.h.
 */
#include "cheese_view.h"

#include "cheese_look.h"
#include "sample_pipeline.h"
#include "shaders/defragment_planet_frag.h"
#include "shaders/defragment_planet_vert.h"

#include <math.h>
#include <string.h>

#define CANVAS_FORMAT VK_FORMAT_R8G8B8A8_UNORM
#define PUSH_STAGES (VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT)
#define GOLDEN_ANGLE 2.39996323

/* The push constants of a planet, as the shaders declare them. */
struct planet_constants {
    float place[4];
    float air[4];
    uint32_t grid;
};

static bool create_canvas(struct cheese_view* view, struct cheese_canvas* canvas)
{
    MaarAllocator const allocator = view->device->allocator;
    const VkImageCreateInfo image = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                     .imageType = VK_IMAGE_TYPE_2D,
                                     .format = CANVAS_FORMAT,
                                     .extent = {view->width, view->height, 1},
                                     .mipLevels = 1,
                                     .arrayLayers = 1,
                                     .samples = VK_SAMPLE_COUNT_1_BIT,
                                     .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                              VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
    const VkBufferCreateInfo pixels = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                       .size = (VkDeviceSize)4 * view->width * view->height,
                                       .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    const MaarAllocationCreateInfo on_device = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                                .pName = "canvas"};
    const MaarAllocationCreateInfo read_back = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                                .flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT,
                                                .usage = MAAR_MEMORY_USAGE_READBACK,
                                                .pName = "pixels"};
    if (!sample_succeeded(
            maarCreateImage(allocator, &image, &on_device, &canvas->image, &canvas->image_memory),
            "maarCreateImage") ||
        !sample_succeeded(maarCreateBuffer(allocator, &pixels, &read_back, &canvas->pixels,
                                           &canvas->pixels_memory),
                          "maarCreateBuffer")) {
        return false;
    }
    /* What memory held before must not pass for a picture. */
    memset(maarGetMappedData(allocator, canvas->pixels_memory), 0, (size_t)pixels.size);
    if (!sample_succeeded(maarFlushAllocation(allocator, canvas->pixels_memory, 0, VK_WHOLE_SIZE),
                          "maarFlushAllocation")) {
        return false;
    }
    const VkImageViewCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = canvas->image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = CANVAS_FORMAT,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    return sample_succeeded(vkCreateImageView(view->device->device, &info, NULL, &canvas->view),
                            "vkCreateImageView");
}

static VkResult create_drawing(struct cheese_view* view)
{
    static const struct support_shader shaders[2] = {SUPPORT_SHADER(defragment_planet_vert),
                                                     SUPPORT_SHADER(defragment_planet_frag)};
    static const VkFormat format = CANVAS_FORMAT;
    static const VkPipelineColorBlendAttachmentState over = {
        .blendEnable = VK_TRUE,
        .srcColorBlendFactor = VK_BLEND_FACTOR_ONE,
        .dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
        .srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
        .dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
        .colorWriteMask = 0xF};
    const struct sample_pipeline_info info = {
        .layout = view->layout,
        .vertex = &shaders[0],
        .fragment = &shaders[1],
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
        .color_count = 1,
        .colors = &format,
        .blend = &over,
    };
    return sample_pipeline_create(view->device->device, &info, &view->pipeline);
}

static bool create_pipeline(struct cheese_view* view, const struct cheese_sets* sets)
{
    const VkDevice device = view->device->device;
    const VkPushConstantRange range = {PUSH_STAGES, 0, sizeof(struct planet_constants)};
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &sets->layout,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &range};
    return sample_succeeded(vkCreatePipelineLayout(device, &layout, NULL, &view->layout),
                            "vkCreatePipelineLayout") &&
           sample_succeeded(create_drawing(view), "vkCreateGraphicsPipelines");
}

bool cheese_view_create(struct cheese_view* view, const struct sample_device* device,
                        const struct cheese_sets* sets, uint32_t width, uint32_t height)
{
    *view = (struct cheese_view){.device = device, .width = width, .height = height};
    bool done = create_pipeline(view, sets);
    for (uint32_t i = 0; done && i < SAMPLE_WORK_SLOTS; ++i) {
        done = create_canvas(view, &view->canvases[i]);
    }
    return done;
}

void cheese_view_destroy(struct cheese_view* view)
{
    if (view->device == NULL) {
        return;
    }
    const VkDevice device = view->device->device;
    for (uint32_t i = 0; i < SAMPLE_WORK_SLOTS; ++i) {
        const struct cheese_canvas* const canvas = &view->canvases[i];
        vkDestroyImageView(device, canvas->view, NULL);
        maarDestroyImage(view->device->allocator, canvas->image, canvas->image_memory);
        maarDestroyBuffer(view->device->allocator, canvas->pixels, canvas->pixels_memory);
    }
    vkDestroyPipeline(device, view->pipeline, NULL);
    vkDestroyPipelineLayout(device, view->layout, NULL);
    memset(view, 0, sizeof(*view));
}

/* ---- a frame ---- */

/* Finds where a planet is in a frame: the planets form a spiral that turns. */
static struct planet_constants look_at(const struct cheese_view* view,
                                       const struct cheese_planet* planet, uint32_t rank,
                                       uint32_t count, uint32_t frame)
{
    const double far = sqrt(((double)rank + 0.5) / (double)count);
    const double angle = rank * GOLDEN_ANGLE + frame * 0.006 / (0.3 + far);
    const double half = (double)view->height / 2.0;
    /* The area of all planets together does not depend on their number. */
    const double radius =
        half * 0.62 / sqrt((double)count) * (0.75 + sqrt((double)planet->size / 256.0) * 0.75);
    struct planet_constants constants = {.grid = planet->grid};
    constants.place[0] = (float)(cos(angle) * far * 0.95);
    constants.place[1] = (float)(sin(angle) * far * 0.92);
    constants.place[2] = (float)(radius * 2.0 / (double)view->width);
    constants.place[3] = (float)(radius * 2.0 / (double)view->height);
    cheese_look_air(planet->number, constants.air);
    constants.air[3] = (float)(planet->number % 16) / 16.0f + (float)frame / 120.0f;
    return constants;
}

static void draw_planets(const struct cheese_view* view, const struct cheese_heap* heap,
                         uint32_t frame, VkCommandBuffer commands)
{
    uint32_t rank = 0;
    for (uint32_t i = 0; i < heap->count; ++i) {
        const struct cheese_planet* const planet = &heap->planets[i];
        if (!cheese_planet_is_kept(planet)) {
            continue;
        }
        const struct planet_constants constants = look_at(view, planet, rank++, heap->kept, frame);
        vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, view->layout, 0, 1,
                                &planet->objects.set, 0, NULL);
        vkCmdPushConstants(commands, view->layout, PUSH_STAGES, 0, sizeof(constants), &constants);
        vkCmdDraw(commands, 4, 1, 0, 0);
    }
}

/* Makes the image an attachment, or, after drawing, the source of a copy. */
static void pass_canvas(const struct cheese_canvas* canvas, bool drawn, VkCommandBuffer commands)
{
    const VkPipelineStageFlags2 drawing = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT;
    const VkImageMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = drawn ? drawing : VK_PIPELINE_STAGE_2_COPY_BIT,
        .srcAccessMask = drawn ? VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT : VK_ACCESS_2_NONE,
        .dstStageMask = drawn ? VK_PIPELINE_STAGE_2_COPY_BIT : drawing,
        .dstAccessMask =
            drawn ? VK_ACCESS_2_TRANSFER_READ_BIT
                  : VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT,
        .oldLayout = drawn ? VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL : VK_IMAGE_LAYOUT_UNDEFINED,
        .newLayout =
            drawn ? VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL : VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = canvas->image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    const VkDependencyInfo dependency = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                         .imageMemoryBarrierCount = 1,
                                         .pImageMemoryBarriers = &barrier};
    vkCmdPipelineBarrier2(commands, &dependency);
}

static void copy_canvas(const struct cheese_view* view, const struct cheese_canvas* canvas,
                        VkCommandBuffer commands)
{
    const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {view->width, view->height, 1}};
    const VkMemoryBarrier2 to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                      .srcStageMask = VK_PIPELINE_STAGE_2_COPY_BIT,
                                      .srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
                                      .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT,
                                      .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT};
    const VkDependencyInfo dependency = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                         .memoryBarrierCount = 1,
                                         .pMemoryBarriers = &to_host};
    vkCmdCopyImageToBuffer(commands, canvas->image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                           canvas->pixels, 1, &region);
    vkCmdPipelineBarrier2(commands, &dependency);
}

void cheese_view_record(struct cheese_view* view, uint32_t slot, const struct cheese_heap* heap,
                        uint32_t frame, VkCommandBuffer commands)
{
    struct cheese_canvas* const canvas = &view->canvases[slot];
    const VkRenderingAttachmentInfo colour = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = canvas->view,
        .imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .clearValue = {.color = {.float32 = {0.035f, 0.04f, 0.06f, 1.0f}}}};
    const VkRenderingInfo rendering = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                       .renderArea = {{0, 0}, {view->width, view->height}},
                                       .layerCount = 1,
                                       .colorAttachmentCount = 1,
                                       .pColorAttachments = &colour};
    const VkViewport viewport = {0.0f, 0.0f, (float)view->width, (float)view->height, 0.0f, 1.0f};
    pass_canvas(canvas, false, commands);
    vkCmdBeginRendering(commands, &rendering);
    vkCmdSetViewport(commands, 0, 1, &viewport);
    vkCmdSetScissor(commands, 0, 1, &rendering.renderArea);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, view->pipeline);
    draw_planets(view, heap, frame, commands);
    vkCmdEndRendering(commands);
    pass_canvas(canvas, true, commands);
    copy_canvas(view, canvas, commands);
    canvas->frame = frame;
    canvas->is_used = true;
}

const uint8_t* cheese_view_read(const struct cheese_view* view, uint32_t slot)
{
    const struct cheese_canvas* const canvas = &view->canvases[slot];
    MaarAllocator const allocator = view->device->allocator;
    return sample_succeeded(
               maarInvalidateAllocation(allocator, canvas->pixels_memory, 0, VK_WHOLE_SIZE),
               "maarInvalidateAllocation")
               ? maarGetMappedData(allocator, canvas->pixels_memory)
               : NULL;
}
