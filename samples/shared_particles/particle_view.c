/*
 * Draws the particles; see particle_view.h. The pipelines are in particle_pipelines.c.
 */
#include "particle_view.h"

#include "particle_pipelines.h"

#include <math.h>
#include <string.h>

#define EYE_DISTANCE 3.4
#define TILT 0.98 /* of the eye from the axis, radians */
#define ROLL -0.30
#define SLOWEST 0.52f /* speed of the first colour */
#define FASTEST 1.18f /* speed of the last colour */
#define GROUP 8u

static bool create_light(struct particle_view* view)
{
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = PARTICLE_LIGHT_FORMAT,
                                    .extent = {view->width, view->height, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                             VK_IMAGE_USAGE_STORAGE_BIT};
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .pName = "light"};
    if (!sample_succeeded(maarCreateImage(view->device->allocator, &info, &how, &view->light,
                                          &view->light_memory),
                          "maarCreateImage")) {
        return false;
    }
    const VkImageViewCreateInfo view_info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = view->light,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = PARTICLE_LIGHT_FORMAT,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    return sample_succeeded(
        vkCreateImageView(view->device->device, &view_info, NULL, &view->light_view),
        "vkCreateImageView");
}

static bool create_pixels(struct particle_view* view)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = (VkDeviceSize)4 * view->width * view->height,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT,
                                          .usage = MAAR_MEMORY_USAGE_READBACK,
                                          .pName = "pixels"};
    return sample_succeeded(
        maarCreateBuffer(view->device->allocator, &info, &how, &view->pixels, &view->pixels_memory),
        "maarCreateBuffer");
}

bool particle_view_create(struct particle_view* view, const struct sample_device* device,
                          uint32_t width, uint32_t height)
{
    memset(view, 0, sizeof(*view));
    view->device = device;
    view->width = width;
    view->height = height;
    return create_light(view) && create_pixels(view) && particle_pipelines_create(view);
}

void particle_view_destroy(struct particle_view* view)
{
    if (view->device == NULL) {
        return;
    }
    const MaarAllocator allocator = view->device->allocator;
    particle_pipelines_destroy(view);
    vkDestroyImageView(view->device->device, view->light_view, NULL);
    maarDestroyImage(allocator, view->light, view->light_memory);
    maarDestroyBuffer(allocator, view->pixels, view->pixels_memory);
    memset(view, 0, sizeof(*view));
}

/* ---- the eye ---- */

static void set_axis(float* axis, double x, double y, double z, double w)
{
    axis[0] = (float)x;
    axis[1] = (float)y;
    axis[2] = (float)z;
    axis[3] = (float)w;
}

/* The eye looks from above and slightly from the side, with a tilted head. */
static struct particle_camera look(const struct particle_view* view, uint32_t count, bool first)
{
    struct particle_camera camera;
    const double cos_roll = cos(ROLL);
    const double sin_roll = sin(ROLL);
    const double cos_tilt = cos(TILT);
    const double sin_tilt = sin(TILT);
    /* All particles share the same total light, so that the brightness of a picture does not depend
     * on their number. */
    const double share = 0.032 * 1.0e5 / (double)count;
    /* The first frame has the light that motionless particles would have gathered over infinite
     * time. */
    const double light = first ? share / (1.0 - (double)PARTICLE_FADE) : share;
    set_axis(camera.right, cos_roll, sin_roll * cos_tilt, sin_roll * sin_tilt, EYE_DISTANCE);
    set_axis(camera.up, -sin_roll, cos_roll * cos_tilt, cos_roll * sin_tilt, 2.42);
    set_axis(camera.forward, 0.0, sin_tilt, -cos_tilt, light);
    camera.picture[0] = (float)view->width;
    camera.picture[1] = (float)view->height;
    camera.picture[2] = SLOWEST;
    camera.picture[3] = FASTEST;
    return camera;
}

/* ---- commands ---- */

struct step_in_time {
    VkPipelineStageFlags2 stages;
    VkAccessFlags2 access;
    VkImageLayout layout;
};

static const struct step_in_time nothing = {.layout = VK_IMAGE_LAYOUT_UNDEFINED};
static const struct step_in_time drawing = {VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
                                            VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT |
                                                VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
                                            VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
static const struct step_in_time shooting = {VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                                             VK_ACCESS_2_SHADER_STORAGE_READ_BIT,
                                             VK_IMAGE_LAYOUT_GENERAL};

static void pass_light(const struct particle_view* view, VkCommandBuffer commands,
                       const struct step_in_time* before, const struct step_in_time* after)
{
    const VkImageMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = before->stages,
        .srcAccessMask = before->access,
        .dstStageMask = after->stages,
        .dstAccessMask = after->access,
        .oldLayout = before->layout,
        .newLayout = after->layout,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = view->light,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    const VkDependencyInfo dependency = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                         .imageMemoryBarrierCount = 1,
                                         .pImageMemoryBarriers = &barrier};
    vkCmdPipelineBarrier2(commands, &dependency);
}

void particle_view_draw(struct particle_view* view, VkCommandBuffer commands, VkBuffer particles,
                        uint32_t count)
{
    const bool first = view->drawn++ == 0;
    const struct particle_camera camera = look(view, count, first);
    const VkDeviceSize offset = 0;
    const VkRenderingAttachmentInfo color = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = view->light_view,
        .imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        .loadOp = first ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_LOAD,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE};
    const VkRenderingInfo rendering = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                       .renderArea = {{0, 0}, {view->width, view->height}},
                                       .layerCount = 1,
                                       .colorAttachmentCount = 1,
                                       .pColorAttachments = &color};
    const VkViewport viewport = {0.0f, 0.0f, (float)view->width, (float)view->height, 0.0f, 1.0f};
    pass_light(view, commands, first ? &nothing : &drawing, &drawing);
    vkCmdBeginRendering(commands, &rendering);
    vkCmdSetViewport(commands, 0, 1, &viewport);
    vkCmdSetScissor(commands, 0, 1, &rendering.renderArea);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS,
                      view->pipelines[PARTICLE_PIPELINE_FADE]);
    vkCmdDraw(commands, 3, 1, 0, 0);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS,
                      view->pipelines[PARTICLE_PIPELINE_STARS]);
    vkCmdPushConstants(commands, view->layout, PARTICLE_PUSH_STAGES, 0, sizeof(camera), &camera);
    vkCmdBindVertexBuffers(commands, 0, 1, &particles, &offset);
    vkCmdDraw(commands, count, 1, 0, 0);
    vkCmdEndRendering(commands);
}

void particle_view_shoot(const struct particle_view* view, VkCommandBuffer commands)
{
    const struct particle_tone tone = {view->width, view->height, 1.0f, 0.0f};
    const VkMemoryBarrier2 to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                      .srcStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                                      .srcAccessMask = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                                      .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT,
                                      .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT};
    const VkDependencyInfo dependency = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                         .memoryBarrierCount = 1,
                                         .pMemoryBarriers = &to_host};
    pass_light(view, commands, &drawing, &shooting);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                      view->pipelines[PARTICLE_PIPELINE_TONE]);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, view->layout, 0, 1,
                            &view->set, 0, NULL);
    vkCmdPushConstants(commands, view->layout, PARTICLE_PUSH_STAGES, 0, sizeof(tone), &tone);
    vkCmdDispatch(commands, (view->width + GROUP - 1) / GROUP, (view->height + GROUP - 1) / GROUP,
                  1);
    vkCmdPipelineBarrier2(commands, &dependency);
    pass_light(view, commands, &shooting, &drawing);
}

bool particle_view_read(const struct particle_view* view, uint8_t* pixels)
{
    return sample_succeeded(maarCopyFromAllocation(view->device->allocator, view->pixels_memory, 0,
                                                   (VkDeviceSize)4 * view->width * view->height,
                                                   pixels),
                            "maarCopyFromAllocation");
}
