/*
 * The device and the commands; see draw_vulkan.h. The pipeline is in draw_pipeline.c.
 */
#include "draw_vulkan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/png_file.h"

void draw_require(VkResult result, const char* what)
{
    if (result != VK_SUCCESS) {
        fprintf(stderr, "%s failed: %d\n", what, (int)result);
        exit(EXIT_FAILURE);
    }
}

bool draw_parse_options(int argc, char** argv, struct draw_options* options, int* exit_code)
{
    *options = (struct draw_options){0};
    *exit_code = 2;
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--stage") == 0) {
            options->stage = true;
        } else if (strcmp(argv[i], "--picture") == 0 && i + 1 < argc) {
            options->picture = argv[++i];
        } else if (strcmp(argv[i], "--dump") == 0 && i + 1 < argc) {
            options->dump = argv[++i];
        } else {
            fprintf(stderr, "usage: %s [--stage] [--picture FILE.png] [--dump FILE.json]\n",
                    argv[0]);
            *exit_code = strcmp(argv[i], "--help") == 0 ? 0 : 2;
            return false;
        }
    }
    return true;
}

/* ---- the device ---- */

static void create_instance(struct draw_device* device)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = DRAW_API_VERSION};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    draw_require(volkInitialize(), "volkInitialize");
    draw_require(vkCreateInstance(&info, NULL, &device->instance), "vkCreateInstance");
    volkLoadInstance(device->instance);
}

static void choose_device(struct draw_device* device)
{
    uint32_t count = 1;
    const VkResult result = vkEnumeratePhysicalDevices(device->instance, &count, &device->physical);
    draw_require(count == 1 && result >= 0 ? VK_SUCCESS : VK_ERROR_INITIALIZATION_FAILED,
                 "vkEnumeratePhysicalDevices");
    VkQueueFamilyProperties families[16];
    uint32_t family_count = 16;
    vkGetPhysicalDeviceQueueFamilyProperties(device->physical, &family_count, families);
    while (device->family < family_count &&
           (families[device->family].queueFlags & VK_QUEUE_GRAPHICS_BIT) == 0) {
        ++device->family;
    }
    draw_require(device->family < family_count ? VK_SUCCESS : VK_ERROR_FEATURE_NOT_PRESENT,
                 "the search for a graphics queue");
}

static void find_budget_extension(struct draw_device* device)
{
    uint32_t count = 0;
    draw_require(vkEnumerateDeviceExtensionProperties(device->physical, NULL, &count, NULL),
                 "vkEnumerateDeviceExtensionProperties");
    VkExtensionProperties* found = calloc(count + 1, sizeof *found);
    draw_require(found != NULL ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY, "calloc");
    draw_require(vkEnumerateDeviceExtensionProperties(device->physical, NULL, &count, found),
                 "vkEnumerateDeviceExtensionProperties");
    for (uint32_t i = 0; i < count; ++i) {
        if (strcmp(found[i].extensionName, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME) == 0) {
            device->extensions[device->extension_count++] = VK_EXT_MEMORY_BUDGET_EXTENSION_NAME;
        }
    }
    free(found);
}

static void create_device(struct draw_device* device)
{
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = device->family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    device->features = (VkPhysicalDeviceVulkan13Features){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        .dynamicRendering = VK_TRUE,
        .maintenance4 = VK_TRUE};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &device->features,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = device->extension_count,
                                     .ppEnabledExtensionNames = device->extensions};
    draw_require(vkCreateDevice(device->physical, &info, NULL, &device->device), "vkCreateDevice");
    volkLoadDevice(device->device);
    vkGetDeviceQueue(device->device, device->family, 0, &device->queue);
}

static void create_slots(struct draw_device* device)
{
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                               .flags =
                                                   VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                               .queueFamilyIndex = device->family};
    draw_require(vkCreateCommandPool(device->device, &pool_info, NULL, &device->pool),
                 "vkCreateCommandPool");
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = device->pool,
                                              .commandBufferCount = DRAW_SLOTS};
    draw_require(vkAllocateCommandBuffers(device->device, &info, device->commands),
                 "vkAllocateCommandBuffers");
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
                                          .flags = VK_FENCE_CREATE_SIGNALED_BIT};
    for (uint32_t i = 0; i < DRAW_SLOTS; ++i) {
        draw_require(vkCreateFence(device->device, &fence_info, NULL, &device->fences[i]),
                     "vkCreateFence");
    }
}

void draw_open_device(struct draw_device* device)
{
    *device = (struct draw_device){0};
    create_instance(device);
    choose_device(device);
    find_budget_extension(device);
    create_device(device);
    create_slots(device);
}

void draw_close_device(struct draw_device* device)
{
    for (uint32_t i = 0; i < DRAW_SLOTS; ++i) {
        vkDestroyFence(device->device, device->fences[i], NULL);
    }
    vkDestroyCommandPool(device->device, device->pool, NULL);
    vkDestroyDevice(device->device, NULL);
    vkDestroyInstance(device->instance, NULL);
}

/* ---- resources ---- */

VkBufferCreateInfo draw_buffer_info(VkDeviceSize size, VkBufferUsageFlags usage)
{
    return (VkBufferCreateInfo){
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage};
}

VkImageCreateInfo draw_image_info(uint32_t width, uint32_t height, VkFormat format,
                                  VkImageUsageFlags usage)
{
    return (VkImageCreateInfo){.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                               .imageType = VK_IMAGE_TYPE_2D,
                               .format = format,
                               .extent = {width, height, 1},
                               .mipLevels = 1,
                               .arrayLayers = 1,
                               .samples = VK_SAMPLE_COUNT_1_BIT,
                               .usage = usage};
}

static VkImageSubresourceRange whole_image(bool depth)
{
    return (VkImageSubresourceRange){.aspectMask = depth ? VK_IMAGE_ASPECT_DEPTH_BIT
                                                         : VK_IMAGE_ASPECT_COLOR_BIT,
                                     .levelCount = 1,
                                     .layerCount = 1};
}

VkImageView draw_create_view(const struct draw_device* device, VkImage image, VkFormat format)
{
    const VkImageViewCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                        .image = image,
                                        .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                        .format = format,
                                        .subresourceRange =
                                            whole_image(format == DRAW_DEPTH_FORMAT)};
    VkImageView view = VK_NULL_HANDLE;
    draw_require(vkCreateImageView(device->device, &info, NULL, &view), "vkCreateImageView");
    return view;
}

/* ---- commands ---- */

VkCommandBuffer draw_begin(const struct draw_device* device, uint32_t slot)
{
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    draw_wait(device, slot);
    draw_require(vkBeginCommandBuffer(device->commands[slot], &info), "vkBeginCommandBuffer");
    return device->commands[slot];
}

void draw_submit(const struct draw_device* device, uint32_t slot)
{
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &device->commands[slot]};
    draw_require(vkEndCommandBuffer(device->commands[slot]), "vkEndCommandBuffer");
    draw_require(vkResetFences(device->device, 1, &device->fences[slot]), "vkResetFences");
    draw_require(vkQueueSubmit(device->queue, 1, &submit, device->fences[slot]), "vkQueueSubmit");
}

void draw_wait(const struct draw_device* device, uint32_t slot)
{
    draw_require(vkWaitForFences(device->device, 1, &device->fences[slot], VK_TRUE, UINT64_MAX),
                 "vkWaitForFences");
}

static void record_barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags wrote,
                           VkPipelineStageFlags to, VkAccessFlags reads)
{
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = wrote, .dstAccessMask = reads};
    vkCmdPipelineBarrier(commands, from, to, 0, 1, &barrier, 0, NULL, 0, NULL);
}

struct turn {
    VkImage image;
    bool depth;
    VkImageLayout old_layout, new_layout;
    VkPipelineStageFlags from, to;
    VkAccessFlags wrote, reads;
};

static void record_turn(VkCommandBuffer commands, const struct turn* turn)
{
    const VkImageMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                          .srcAccessMask = turn->wrote,
                                          .dstAccessMask = turn->reads,
                                          .oldLayout = turn->old_layout,
                                          .newLayout = turn->new_layout,
                                          .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                          .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                          .image = turn->image,
                                          .subresourceRange = whole_image(turn->depth)};
    vkCmdPipelineBarrier(commands, turn->from, turn->to, 0, 0, NULL, 0, NULL, 1, &barrier);
}

void draw_record_copy(VkCommandBuffer commands, VkBuffer from, VkBuffer to, VkDeviceSize offset,
                      VkDeviceSize size)
{
    const VkBufferCopy region = {0, offset, size};
    vkCmdCopyBuffer(commands, from, to, 1, &region);
    record_barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                   VK_PIPELINE_STAGE_VERTEX_INPUT_BIT,
                   VK_ACCESS_VERTEX_ATTRIBUTE_READ_BIT | VK_ACCESS_INDEX_READ_BIT);
}

void draw_record_texture(VkCommandBuffer commands, VkBuffer from, VkImage texture)
{
    const struct turn before = {.image = texture,
                                .new_layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                                .from = VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                                .to = VK_PIPELINE_STAGE_TRANSFER_BIT,
                                .reads = VK_ACCESS_TRANSFER_WRITE_BIT};
    const struct turn after = {.image = texture,
                               .old_layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                               .new_layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                               .from = VK_PIPELINE_STAGE_TRANSFER_BIT,
                               .wrote = VK_ACCESS_TRANSFER_WRITE_BIT,
                               .to = VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
                               .reads = VK_ACCESS_SHADER_READ_BIT};
    const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {DRAW_TEXTURE_SIZE, DRAW_TEXTURE_SIZE, 1}};
    record_turn(commands, &before);
    vkCmdCopyBufferToImage(commands, from, texture, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1,
                           &region);
    record_turn(commands, &after);
}

/* ---- a frame ---- */

static void begin_rendering(VkCommandBuffer commands, const struct draw_frame* frame)
{
    const struct turn colour = {.image = frame->colour,
                                .new_layout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                                .from = VK_PIPELINE_STAGE_TRANSFER_BIT |
                                        VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                                .wrote = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                                .to = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                                .reads = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT};
    const struct turn depth = {.image = frame->depth,
                               .depth = true,
                               .new_layout = VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL,
                               .from = VK_PIPELINE_STAGE_EARLY_FRAGMENT_TESTS_BIT |
                                       VK_PIPELINE_STAGE_LATE_FRAGMENT_TESTS_BIT,
                               .wrote = VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT,
                               .to = VK_PIPELINE_STAGE_EARLY_FRAGMENT_TESTS_BIT |
                                     VK_PIPELINE_STAGE_LATE_FRAGMENT_TESTS_BIT,
                               .reads = VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                                        VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT};
    record_turn(commands, &colour);
    record_turn(commands, &depth);
    const VkRenderingAttachmentInfo colour_target = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = frame->colour_view,
        .imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .clearValue.color.float32 = {0.42f, 0.52f, 0.60f, 1.0f}};
    const VkRenderingAttachmentInfo depth_target = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = frame->depth_view,
        .imageLayout = VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .clearValue.depthStencil.depth = 1.0f};
    const VkRenderingInfo info = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                  .renderArea.extent = {DRAW_WIDTH, DRAW_HEIGHT},
                                  .layerCount = 1,
                                  .colorAttachmentCount = 1,
                                  .pColorAttachments = &colour_target,
                                  .pDepthAttachment = &depth_target};
    vkCmdBeginRendering(commands, &info);
}

static void record_picture(VkCommandBuffer commands, const struct draw_frame* frame)
{
    const struct turn turn = {.image = frame->colour,
                              .old_layout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                              .new_layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                              .from = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                              .wrote = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                              .to = VK_PIPELINE_STAGE_TRANSFER_BIT,
                              .reads = VK_ACCESS_TRANSFER_READ_BIT};
    const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {DRAW_WIDTH, DRAW_HEIGHT, 1}};
    record_turn(commands, &turn);
    vkCmdCopyImageToBuffer(commands, frame->colour, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                           frame->picture, 1, &region);
    record_barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                   VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

void draw_record_frame(VkCommandBuffer commands, const struct draw_pipeline* pipeline,
                       const struct draw_frame* frame)
{
    const VkBuffer buffers[2] = {frame->solids, frame->instances};
    const VkDeviceSize offsets[2] = {0, 0};
    if (frame->staged_instances != VK_NULL_HANDLE) {
        draw_record_copy(commands, frame->staged_instances, frame->instances, 0,
                         sizeof(struct draw_instance) * DRAW_INSTANCES);
    }
    begin_rendering(commands, frame);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline->pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline->layout, 0, 1,
                            &pipeline->sets[frame->slot], 0, NULL);
    vkCmdBindVertexBuffers(commands, 0, 2, buffers, offsets);
    vkCmdBindIndexBuffer(commands, frame->solids, 0, VK_INDEX_TYPE_UINT32);
    for (uint32_t i = 0; i < DRAW_SOLIDS; ++i) {
        const struct draw_place* place = &frame->places[i];
        vkCmdDrawIndexed(commands, place->index_count, DRAW_INSTANCES_OF_SOLID, place->first_index,
                         place->first_vertex, i * DRAW_INSTANCES_OF_SOLID);
    }
    vkCmdEndRendering(commands);
    if (frame->picture != VK_NULL_HANDLE) {
        record_picture(commands, frame);
    }
}

/* ---- the picture ---- */

void draw_finish_picture(const struct draw_options* options, const uint8_t* pixels)
{
    uint32_t sum = 2166136261u; /* FNV-1a */
    struct support_error error;
    for (uint32_t i = 0; i < DRAW_WIDTH * DRAW_HEIGHT * 4u; ++i) {
        sum = (sum ^ pixels[i]) * 16777619u;
    }
    printf("picture: %d x %d, checksum %08x\n", DRAW_WIDTH, DRAW_HEIGHT, sum);
    if (options->picture != NULL &&
        !support_png_write(options->picture, DRAW_WIDTH, DRAW_HEIGHT, pixels, &error)) {
        fprintf(stderr, "%s\n", error.text);
        exit(EXIT_FAILURE);
    }
}
