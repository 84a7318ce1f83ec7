/*
 * Commands that use resources. Prints each object that a batch uses: "use BATCH KIND HANDLE FLAGS",
 * with the letters r, w and d (discard), before the next batch. The test compares with the capture.
 */
#include "probe.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define HANDLE(object) ((uint64_t)(uintptr_t)(object))
enum { SIZE = 4096, SIDE = 64, THREAD_ROUNDS = 200, SUBMITS = 300 };

struct scene {
    const struct probe* probe;
    VkCommandPool pool;
    VkBuffer buffers[6];
    VkDeviceMemory memories[16];
    uint32_t memory_count;
    uint32_t batch; /* number of the batch that is submitted next, from 1 on */
};

static void check(VkResult result, const char* what)
{
    probe_check(result == VK_SUCCESS, what);
}

static void expect(const struct scene* scene, const char* kind, uint64_t handle, const char* flags)
{
    printf("use %u %s %" PRIu64 " %s\n", scene->batch, kind, handle, flags);
}

static void expect_buffer(const struct scene* scene, uint32_t index, const char* flags)
{
    expect(scene, "buffer", HANDLE(scene->buffers[index]), flags);
}

static void expect_image(const struct scene* scene, VkImage image, const char* flags)
{
    expect(scene, "image", HANDLE(image), flags);
}

static VkBuffer make_buffer(struct scene* scene)
{
    const struct VolkDeviceTable* const call = &scene->probe->call;
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = SIZE,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                 VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT |
                 VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                 VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT,
    };
    VkBuffer buffer = VK_NULL_HANDLE;
    VkMemoryRequirements needs;
    check(call->vkCreateBuffer(scene->probe->device, &info, NULL, &buffer), "no buffer");
    call->vkGetBufferMemoryRequirements(scene->probe->device, buffer, &needs);
    const VkDeviceMemory memory = probe_allocate(scene->probe, &needs, NULL);
    check(call->vkBindBufferMemory(scene->probe->device, buffer, memory, 0), "bind");
    scene->memories[scene->memory_count++] = memory;
    return buffer;
}

static VkImage make_image(struct scene* scene, uint32_t levels, VkFormat format,
                          VkImageUsageFlags usage)
{
    const struct VolkDeviceTable* const call = &scene->probe->call;
    const VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = format,
        .extent = {SIDE, SIDE, 1},
        .mipLevels = levels,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = usage | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
    };
    VkImage image = VK_NULL_HANDLE;
    VkMemoryRequirements needs;
    check(call->vkCreateImage(scene->probe->device, &info, NULL, &image), "no image");
    call->vkGetImageMemoryRequirements(scene->probe->device, image, &needs);
    const VkDeviceMemory memory = probe_allocate(scene->probe, &needs, NULL);
    check(call->vkBindImageMemory(scene->probe->device, image, memory, 0), "bind");
    scene->memories[scene->memory_count++] = memory;
    return image;
}

static VkImageView make_view(const struct scene* scene, VkImage image, VkFormat format,
                             VkImageAspectFlags aspect)
{
    const VkImageViewCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = format,
        .subresourceRange = {aspect, 0, 1, 0, VK_REMAINING_ARRAY_LAYERS},
    };
    VkImageView view = VK_NULL_HANDLE;
    check(scene->probe->call.vkCreateImageView(scene->probe->device, &info, NULL, &view),
          "no view");
    return view;
}

static VkCommandPool make_pool(const struct probe* probe)
{
    const VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
    };
    VkCommandPool pool = VK_NULL_HANDLE;
    check(probe->call.vkCreateCommandPool(probe->device, &info, NULL, &pool), "no pool");
    return pool;
}

static VkCommandBuffer make_commands(const struct probe* probe, VkCommandPool pool,
                                     VkCommandBufferLevel level)
{
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .level = level,
        .commandBufferCount = 1,
    };
    VkCommandBuffer commands = NULL;
    check(probe->call.vkAllocateCommandBuffers(probe->device, &info, &commands), "no commands");
    return commands;
}

static void begin(const struct probe* probe, VkCommandBuffer commands)
{
    const VkCommandBufferInheritanceInfo inherits = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
    const VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
        .pInheritanceInfo = &inherits,
    };
    check(probe->call.vkBeginCommandBuffer(commands, &info), "begin");
}

/* Submits one batch, by the call of each version in turn, and waits. */
static void submit(struct scene* scene, uint32_t count, const VkCommandBuffer* commands)
{
    const struct VolkDeviceTable* const call = &scene->probe->call;
    if (scene->batch % 2 == 0) {
        VkCommandBufferSubmitInfo infos[4];
        for (uint32_t i = 0; i < count; ++i) {
            infos[i] =
                (VkCommandBufferSubmitInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                            .commandBuffer = commands[i]};
        }
        const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                    .commandBufferInfoCount = count,
                                    .pCommandBufferInfos = infos};
        check(call->vkQueueSubmit2(scene->probe->queue, 1, &info, VK_NULL_HANDLE), "submit");
    } else {
        const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                   .commandBufferCount = count,
                                   .pCommandBuffers = commands};
        check(call->vkQueueSubmit(scene->probe->queue, 1, &info, VK_NULL_HANDLE), "submit");
    }
    check(call->vkQueueWaitIdle(scene->probe->queue), "wait");
    scene->batch += 1;
}

/* ---- buffers ---- */

static void use_buffers(struct scene* scene, VkCommandBuffer commands)
{
    const struct VolkDeviceTable* const call = &scene->probe->call;
    const VkBuffer* const b = scene->buffers;
    const VkBufferCopy whole = {0, 0, SIZE};
    const VkBufferCopy2 part = {.sType = VK_STRUCTURE_TYPE_BUFFER_COPY_2, .size = SIZE / 2};
    const VkCopyBufferInfo2 copy = {.sType = VK_STRUCTURE_TYPE_COPY_BUFFER_INFO_2,
                                    .srcBuffer = b[0],
                                    .dstBuffer = b[3],
                                    .regionCount = 1,
                                    .pRegions = &part};
    const VkDeviceSize zero = 0;
    begin(scene->probe, commands);
    call->vkCmdFillBuffer(commands, b[0], 0, VK_WHOLE_SIZE, 7);
    call->vkCmdCopyBuffer(commands, b[0], b[1], 1, &whole);
    call->vkCmdCopyBuffer(commands, b[2], b[3], 1, &whole); /* all of b[3] */
    call->vkCmdCopyBuffer2(commands, &copy);
    call->vkCmdBindVertexBuffers(commands, 0, 1, &b[4], &zero);
    call->vkCmdBindIndexBuffer(commands, b[4], 0, VK_INDEX_TYPE_UINT16);
    call->vkCmdFillBuffer(commands, b[4], 0, SIZE, 0); /* read before, so the contents count */
    call->vkCmdFillBuffer(commands, b[5], 4, 8, 0);
    call->vkCmdFillBuffer(commands, b[5], 0, SIZE, 0); /* part of it was written before */
    check(call->vkEndCommandBuffer(commands), "end");
    expect_buffer(scene, 0, "rwd");
    expect_buffer(scene, 1, "wd");
    expect_buffer(scene, 2, "r");
    expect_buffer(scene, 3, "wd");
    expect_buffer(scene, 4, "rw");
    expect_buffer(scene, 5, "w");
    submit(scene, 1, &commands);
}

/* The same commands again, other commands in the same buffer, and two buffers in one batch. */
static void use_again(struct scene* scene, VkCommandBuffer commands, VkCommandBuffer more)
{
    const struct VolkDeviceTable* const call = &scene->probe->call;
    const VkBuffer* const b = scene->buffers;
    const VkBufferCopy whole = {0, 0, SIZE};
    begin(scene->probe, commands);
    call->vkCmdUpdateBuffer(commands, b[1], 0, 4, "abc");
    check(call->vkEndCommandBuffer(commands), "end");
    begin(scene->probe, more);
    call->vkCmdCopyBuffer(more, b[1], b[2], 1, &whole);
    check(call->vkEndCommandBuffer(more), "end");
    const VkCommandBuffer both[] = {commands, more};
    for (int i = 0; i < 3; ++i) {
        expect_buffer(scene, 1, "rw");
        expect_buffer(scene, 2, "wd");
        submit(scene, 2, both);
    }
    check(call->vkResetCommandBuffer(commands, 0), "reset");
    check(call->vkResetCommandPool(scene->probe->device, scene->pool, 0), "reset");
    begin(scene->probe, commands);
    check(call->vkEndCommandBuffer(commands), "end");
    submit(scene, 1, &commands); /* an empty one uses nothing */
}

static void use_secondary(struct scene* scene, VkCommandBuffer commands)
{
    const struct VolkDeviceTable* const call = &scene->probe->call;
    const VkCommandBuffer secondary =
        make_commands(scene->probe, scene->pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    begin(scene->probe, secondary);
    call->vkCmdFillBuffer(secondary, scene->buffers[3], 0, VK_WHOLE_SIZE, 0);
    call->vkCmdFillBuffer(secondary, scene->buffers[2], 0, VK_WHOLE_SIZE, 0);
    check(call->vkEndCommandBuffer(secondary), "end");
    begin(scene->probe, commands);
    call->vkCmdFillBuffer(commands, scene->buffers[3], 0, 4, 0);
    call->vkCmdExecuteCommands(commands, 1, &secondary);
    check(call->vkEndCommandBuffer(commands), "end");
    expect_buffer(scene, 3, "w");
    expect_buffer(scene, 2, "wd");
    submit(scene, 1, &commands);
    call->vkFreeCommandBuffers(scene->probe->device, scene->pool, 1, &secondary);
}

/* Many batches of the same command buffers, some of them twice in one. */
static void use_many_times(struct scene* scene, VkCommandBuffer commands, VkCommandBuffer more)
{
    const struct VolkDeviceTable* const call = &scene->probe->call;
    begin(scene->probe, commands);
    call->vkCmdFillBuffer(commands, scene->buffers[0], 0, VK_WHOLE_SIZE, 0);
    check(call->vkEndCommandBuffer(commands), "end");
    begin(scene->probe, more);
    call->vkCmdFillBuffer(more, scene->buffers[1], 0, 4, 0);
    check(call->vkEndCommandBuffer(more), "end");
    for (int i = 0; i < SUBMITS; ++i) {
        const VkCommandBuffer list[] = {commands, more, commands};
        expect_buffer(scene, 0, "wd");
        if (i % 3 != 0) {
            expect_buffer(scene, 1, "w");
        }
        submit(scene, 1 + (uint32_t)(i % 3), list);
    }
}

/* ---- images ---- */

static void change_layout(const struct scene* scene, VkCommandBuffer commands, VkImage image,
                          VkImageLayout before, VkImageLayout after, uint32_t first, uint32_t count)
{
    const VkImageMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        .srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        .dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT,
        .oldLayout = before,
        .newLayout = after,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, first, count, 0, 1},
    };
    const VkDependencyInfo info = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                   .imageMemoryBarrierCount = 1,
                                   .pImageMemoryBarriers = &barrier};
    scene->probe->call.vkCmdPipelineBarrier2(commands, &info);
}

/* Makes a chain of mip levels: each level is written whole and then read. */
static void use_mips(struct scene* scene, VkCommandBuffer commands, VkImage image)
{
    const struct VolkDeviceTable* const call = &scene->probe->call;
    const VkImageLayout general = VK_IMAGE_LAYOUT_GENERAL;
    const VkClearColorValue black = {{0}};
    const VkImageSubresourceRange first = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    const VkImageBlit blit = {
        .srcSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .srcOffsets = {{0, 0, 0}, {SIDE, SIDE, 1}},
        .dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 1, 0, 1},
        .dstOffsets = {{0, 0, 0}, {SIDE / 2, SIDE / 2, 1}},
    };
    begin(scene->probe, commands);
    call->vkCmdClearColorImage(commands, image, general, &black, 1, &first);
    call->vkCmdBlitImage(commands, image, general, image, general, 1, &blit, VK_FILTER_LINEAR);
    check(call->vkEndCommandBuffer(commands), "end");
    expect_image(scene, image, "rwd");
    submit(scene, 1, &commands);
    begin(scene->probe, commands);
    call->vkCmdClearColorImage(commands, image, general, &black, 1, &first);
    check(call->vkEndCommandBuffer(commands), "end");
    expect_image(scene, image, "w"); /* one level keeps its contents */
    submit(scene, 1, &commands);
}

static void use_images(struct scene* scene, VkCommandBuffer commands)
{
    const struct VolkDeviceTable* const call = &scene->probe->call;
    const VkImage image = make_image(scene, 2, VK_FORMAT_R8G8B8A8_UNORM, 0);
    const VkBufferImageCopy copy = {
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 1, 0, 1},
        .imageExtent = {SIDE / 2, SIDE / 2, 1},
    };
    begin(scene->probe, commands);
    change_layout(scene, commands, image, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL, 0, 2);
    check(call->vkEndCommandBuffer(commands), "end");
    expect_image(scene, image, "wd");
    submit(scene, 1, &commands);
    use_mips(scene, commands, image);
    begin(scene->probe, commands);
    call->vkCmdCopyImageToBuffer(commands, image, VK_IMAGE_LAYOUT_GENERAL, scene->buffers[0], 1,
                                 &(VkBufferImageCopy){
                                     .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 1, 0, 1},
                                     .imageExtent = {8, 8, 1},
                                 });
    call->vkCmdCopyBufferToImage(commands, scene->buffers[1], image, VK_IMAGE_LAYOUT_GENERAL, 1,
                                 &copy);
    check(call->vkEndCommandBuffer(commands), "end");
    expect_image(scene, image, "rw");
    expect_buffer(scene, 0, "w");
    expect_buffer(scene, 1, "r");
    submit(scene, 1, &commands);
    begin(scene->probe, commands); /* a change of layout keeps the contents */
    change_layout(scene, commands, image, VK_IMAGE_LAYOUT_GENERAL,
                  VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, 0, 2);
    check(call->vkEndCommandBuffer(commands), "end");
    expect_image(scene, image, "rw");
    submit(scene, 1, &commands);
    call->vkDestroyImage(scene->probe->device, image, NULL);
}

/* ---- passes ---- */

static VkRenderPass make_pass(const struct scene* scene, VkAttachmentLoadOp load,
                              VkImageLayout before)
{
    const VkAttachmentDescription color = {
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .loadOp = load,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .initialLayout = before,
        .finalLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
    };
    const VkAttachmentReference reference = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkSubpassDescription subpass = {.colorAttachmentCount = 1,
                                          .pColorAttachments = &reference};
    const VkRenderPassCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &color,
        .subpassCount = 1,
        .pSubpasses = &subpass,
    };
    VkRenderPass pass = VK_NULL_HANDLE;
    check(scene->probe->call.vkCreateRenderPass(scene->probe->device, &info, NULL, &pass),
          "no pass");
    return pass;
}

struct pass_test {
    VkImage image;
    VkImageView view;
    VkAttachmentLoadOp load;
    VkImageLayout before;
    uint32_t side;     /* of the render area */
    bool is_imageless; /* the view comes with the render pass */
    const char* flags;
};

static VkFramebuffer make_framebuffer(const struct probe* probe, const struct pass_test* test,
                                      VkRenderPass pass)
{
    const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    const VkFramebufferAttachmentImageInfo image = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_ATTACHMENT_IMAGE_INFO,
        .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                 VK_IMAGE_USAGE_TRANSFER_DST_BIT,
        .width = SIDE,
        .height = SIDE,
        .layerCount = 1,
        .viewFormatCount = 1,
        .pViewFormats = &format,
    };
    const VkFramebufferAttachmentsCreateInfo images = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_ATTACHMENTS_CREATE_INFO,
        .attachmentImageInfoCount = 1,
        .pAttachmentImageInfos = &image,
    };
    const VkFramebufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
        .pNext = test->is_imageless ? &images : NULL,
        .flags = test->is_imageless ? VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT : 0,
        .renderPass = pass,
        .attachmentCount = 1,
        .pAttachments = test->is_imageless ? NULL : &test->view,
        .width = SIDE,
        .height = SIDE,
        .layers = 1,
    };
    VkFramebuffer framebuffer = VK_NULL_HANDLE;
    check(probe->call.vkCreateFramebuffer(probe->device, &info, NULL, &framebuffer), "no frame");
    return framebuffer;
}

static void use_pass(struct scene* scene, VkCommandBuffer commands, const struct pass_test* test)
{
    const struct probe* const probe = scene->probe;
    const VkRenderPass pass = make_pass(scene, test->load, test->before);
    const VkFramebuffer framebuffer = make_framebuffer(probe, test, pass);
    const VkClearValue black = {{{0}}};
    const VkRenderPassAttachmentBeginInfo views = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO,
        .attachmentCount = 1,
        .pAttachments = &test->view,
    };
    const VkRenderPassBeginInfo start = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
        .pNext = test->is_imageless ? &views : NULL,
        .renderPass = pass,
        .framebuffer = framebuffer,
        .renderArea = {{0, 0}, {test->side, test->side}},
        .clearValueCount = 1,
        .pClearValues = &black,
    };
    begin(probe, commands);
    probe->call.vkCmdBeginRenderPass(commands, &start, VK_SUBPASS_CONTENTS_INLINE);
    probe->call.vkCmdEndRenderPass(commands);
    check(probe->call.vkEndCommandBuffer(commands), "end");
    expect_image(scene, test->image, test->flags);
    submit(scene, 1, &commands);
    probe->call.vkDestroyFramebuffer(probe->device, framebuffer, NULL);
    probe->call.vkDestroyRenderPass(probe->device, pass, NULL);
}

/* Dynamic rendering: a colour that is loaded, a depth that is cleared, of an image with stencil. */
static void use_rendering(struct scene* scene, VkCommandBuffer commands, VkImage image,
                          VkImageView view)
{
    const struct probe* const probe = scene->probe;
    const VkFormat format = VK_FORMAT_D32_SFLOAT_S8_UINT;
    const VkImageAspectFlags both = VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
    const VkImage depth = make_image(scene, 1, format, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT);
    const VkImageView depth_view = make_view(scene, depth, format, both);
    VkRenderingAttachmentInfo color = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = view,
        .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_LOAD,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
    };
    VkRenderingAttachmentInfo deep = color;
    deep.imageView = depth_view;
    deep.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = {{0, 0}, {SIDE, SIDE}},
        .layerCount = 1,
        .colorAttachmentCount = 1,
        .pColorAttachments = &color,
        .pDepthAttachment = &deep,
    };
    for (int with_stencil = 0; with_stencil < 2; ++with_stencil) {
        info.pStencilAttachment = with_stencil != 0 ? &deep : NULL;
        begin(probe, commands);
        probe->call.vkCmdBeginRendering(commands, &info);
        probe->call.vkCmdEndRendering(commands);
        check(probe->call.vkEndCommandBuffer(commands), "end");
        expect_image(scene, image, "rw");
        expect_image(scene, depth, with_stencil != 0 ? "wd" : "w");
        submit(scene, 1, &commands);
    }
    probe->call.vkDestroyImageView(probe->device, depth_view, NULL);
    probe->call.vkDestroyImage(probe->device, depth, NULL);
}

static void use_passes(struct scene* scene, VkCommandBuffer commands)
{
    const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    const VkImageLayout old = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
    const VkImage image = make_image(scene, 1, format, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT);
    const VkImageView view = make_view(scene, image, format, VK_IMAGE_ASPECT_COLOR_BIT);
    const struct pass_test tests[] = {
        {image, view, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_IMAGE_LAYOUT_UNDEFINED, 8, false, "wd"},
        {image, view, VK_ATTACHMENT_LOAD_OP_CLEAR, old, SIDE, false, "wd"},
        {image, view, VK_ATTACHMENT_LOAD_OP_CLEAR, old, SIDE / 2, false, "w"},
        {image, view, VK_ATTACHMENT_LOAD_OP_DONT_CARE, old, SIDE, false, "wd"},
        {image, view, VK_ATTACHMENT_LOAD_OP_LOAD, old, SIDE, false, "rw"},
        {image, view, VK_ATTACHMENT_LOAD_OP_LOAD, old, SIDE, true, "rw"},
    };
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); ++i) {
        use_pass(scene, commands, &tests[i]);
    }
    use_rendering(scene, commands, image, view);
    scene->probe->call.vkDestroyImageView(scene->probe->device, view, NULL);
    scene->probe->call.vkDestroyImage(scene->probe->device, image, NULL);
}

/* ---- descriptor sets ---- */

struct set_parts {
    VkDescriptorSetLayout layout;
    VkPipelineLayout pipeline_layout;
    VkDescriptorPool pool;
    VkDescriptorSet sets[2];
    VkDescriptorUpdateTemplate template_;
};

static void make_sets(const struct probe* probe, struct set_parts* parts)
{
    const VkDescriptorSetLayoutBinding bindings[] = {
        {3, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
        {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
        {2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
        {0, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
    };
    const VkDescriptorSetLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 4,
        .pBindings = bindings,
    };
    check(probe->call.vkCreateDescriptorSetLayout(probe->device, &layout, NULL, &parts->layout),
          "no layout");
    const VkPipelineLayoutCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &parts->layout,
    };
    check(
        probe->call.vkCreatePipelineLayout(probe->device, &pipeline, NULL, &parts->pipeline_layout),
        "no layout");
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 2},
                                          {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 8}};
    const VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 2,
        .poolSizeCount = 2,
        .pPoolSizes = sizes,
    };
    check(probe->call.vkCreateDescriptorPool(probe->device, &pool, NULL, &parts->pool), "no pool");
    const VkDescriptorSetLayout layouts[] = {parts->layout, parts->layout};
    const VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = parts->pool,
        .descriptorSetCount = 2,
        .pSetLayouts = layouts,
    };
    check(probe->call.vkAllocateDescriptorSets(probe->device, &allocate, parts->sets), "no sets");
    const VkDescriptorUpdateTemplateEntry entry = {
        0, 0, 1, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 8, sizeof(VkDescriptorBufferInfo)};
    const VkDescriptorUpdateTemplateCreateInfo by_template = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO,
        .descriptorUpdateEntryCount = 1,
        .pDescriptorUpdateEntries = &entry,
        .templateType = VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_DESCRIPTOR_SET,
        .descriptorSetLayout = parts->layout,
    };
    check(probe->call.vkCreateDescriptorUpdateTemplate(probe->device, &by_template, NULL,
                                                       &parts->template_),
          "no template");
}

/* Writes b[0] and b[1] into binding 1, b[2] beyond it into binding 2; b[3] by the template; and
 * copies the first one into the other set. */
static void write_sets(const struct scene* scene, const struct set_parts* parts)
{
    const struct probe* const probe = scene->probe;
    const VkDescriptorBufferInfo infos[] = {{scene->buffers[0], 0, VK_WHOLE_SIZE},
                                            {scene->buffers[1], 0, VK_WHOLE_SIZE},
                                            {scene->buffers[2], 0, VK_WHOLE_SIZE}};
    const VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = parts->sets[0],
        .dstBinding = 1,
        .descriptorCount = 3,
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .pBufferInfo = infos,
    };
    const VkCopyDescriptorSet copy = {
        .sType = VK_STRUCTURE_TYPE_COPY_DESCRIPTOR_SET,
        .srcSet = parts->sets[0],
        .srcBinding = 1,
        .dstSet = parts->sets[1],
        .dstBinding = 3,
        .descriptorCount = 1,
    };
    probe->call.vkUpdateDescriptorSets(probe->device, 1, &write, 0, NULL);
    probe->call.vkUpdateDescriptorSets(probe->device, 0, NULL, 1, &copy);
    struct {
        uint64_t before;
        VkDescriptorBufferInfo info;
    } data = {0, {scene->buffers[3], 0, VK_WHOLE_SIZE}};
    probe->call.vkUpdateDescriptorSetWithTemplate(probe->device, parts->sets[0], parts->template_,
                                                  &data);
}

static void announce_write(const struct probe* probe, VkCommandBuffer commands, VkBuffer buffer)
{
    const VkBufferMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .buffer = buffer,
        .size = VK_WHOLE_SIZE,
    };
    probe->call.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                     VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 1, &barrier, 0,
                                     NULL);
}

static void use_sets(struct scene* scene, VkCommandBuffer commands)
{
    const struct probe* const probe = scene->probe;
    const VkPipelineBindPoint point = VK_PIPELINE_BIND_POINT_COMPUTE;
    struct set_parts parts;
    make_sets(probe, &parts);
    write_sets(scene, &parts);
    begin(probe, commands);
    announce_write(probe, commands, scene->buffers[2]);
    probe->call.vkCmdBindDescriptorSets(commands, point, parts.pipeline_layout, 0, 1,
                                        &parts.sets[0], 0, NULL);
    /* The set may have read the buffer before. */
    probe->call.vkCmdFillBuffer(commands, scene->buffers[2], 0, VK_WHOLE_SIZE, 0);
    check(probe->call.vkEndCommandBuffer(commands), "end");
    expect_buffer(scene, 0, "rw");
    expect_buffer(scene, 1, "rw");
    expect_buffer(scene, 2, "rw");
    expect_buffer(scene, 3, "r");
    submit(scene, 1, &commands);
    begin(probe, commands);
    announce_write(probe, commands, scene->buffers[0]);
    announce_write(probe, commands, scene->buffers[5]);
    probe->call.vkCmdFillBuffer(commands, scene->buffers[0], 0, VK_WHOLE_SIZE, 0);
    probe->call.vkCmdBindDescriptorSets(commands, point, parts.pipeline_layout, 0, 1,
                                        &parts.sets[1], 0, NULL);
    check(probe->call.vkEndCommandBuffer(commands), "end");
    expect_buffer(scene, 0, "rwd");
    expect_buffer(scene, 5, "w"); /* only announced */
    submit(scene, 1, &commands);
    probe->call.vkDestroyDescriptorUpdateTemplate(probe->device, parts.template_, NULL);
    probe->call.vkDestroyDescriptorPool(probe->device, parts.pool, NULL);
    probe->call.vkDestroyPipelineLayout(probe->device, parts.pipeline_layout, NULL);
    probe->call.vkDestroyDescriptorSetLayout(probe->device, parts.layout, NULL);
}

/* Pushed descriptors: a buffer that is read, and texels that are. */
static void use_pushed(struct scene* scene, VkCommandBuffer commands)
{
    const struct probe* const probe = scene->probe;
    const VkDescriptorSetLayoutBinding bindings[] = {
        {0, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
        {1, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
    };
    const VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR,
        .bindingCount = 2,
        .pBindings = bindings,
    };
    const VkBufferViewCreateInfo view_info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
        .buffer = scene->buffers[1],
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .range = VK_WHOLE_SIZE,
    };
    VkDescriptorSetLayout layout = VK_NULL_HANDLE;
    VkPipelineLayout pipeline_layout = VK_NULL_HANDLE;
    VkBufferView view = VK_NULL_HANDLE;
    check(probe->call.vkCreateDescriptorSetLayout(probe->device, &info, NULL, &layout),
          "no layout");
    check(probe->call.vkCreateBufferView(probe->device, &view_info, NULL, &view), "no view");
    const VkPipelineLayoutCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &layout,
    };
    check(probe->call.vkCreatePipelineLayout(probe->device, &pipeline, NULL, &pipeline_layout),
          "no layout");
    const VkDescriptorBufferInfo buffer = {scene->buffers[0], 0, VK_WHOLE_SIZE};
    const VkWriteDescriptorSet writes[] = {
        {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
         .dstBinding = 0,
         .descriptorCount = 1,
         .descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
         .pBufferInfo = &buffer},
        {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
         .dstBinding = 1,
         .descriptorCount = 1,
         .descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,
         .pTexelBufferView = &view},
    };
    begin(probe, commands);
    probe->call.vkCmdPushDescriptorSetKHR(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_layout,
                                          0, 2, writes);
    check(probe->call.vkEndCommandBuffer(commands), "end");
    expect_buffer(scene, 0, "r");
    expect_buffer(scene, 1, "r");
    submit(scene, 1, &commands);
    probe->call.vkDestroyBufferView(probe->device, view, NULL);
    probe->call.vkDestroyPipelineLayout(probe->device, pipeline_layout, NULL);
    probe->call.vkDestroyDescriptorSetLayout(probe->device, layout, NULL);
}

/* ---- threads ---- */

struct recorder {
    const struct probe* probe;
    VkBuffer buffer;
    VkCommandPool pool;
    VkCommandBuffer commands;
};

/* Records again and again; the last round counts. */
static void* record(void* context)
{
    struct recorder* const own = context;
    const struct VolkDeviceTable* const call = &own->probe->call;
    own->pool = make_pool(own->probe);
    for (int i = 0; i < THREAD_ROUNDS; ++i) {
        const VkCommandBuffer spare =
            make_commands(own->probe, own->pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        if (own->commands != NULL) {
            call->vkFreeCommandBuffers(own->probe->device, own->pool, 1, &own->commands);
        }
        own->commands = spare;
        begin(own->probe, spare);
        call->vkCmdFillBuffer(spare, own->buffer, 0, VK_WHOLE_SIZE, 1);
        check(call->vkEndCommandBuffer(spare), "end");
    }
    return NULL;
}

static void use_threads(struct scene* scene)
{
    struct recorder recorders[2] = {{scene->probe, scene->buffers[4], VK_NULL_HANDLE, NULL},
                                    {scene->probe, scene->buffers[5], VK_NULL_HANDLE, NULL}};
    pthread_t threads[2];
    for (int i = 0; i < 2; ++i) {
        probe_check(pthread_create(&threads[i], NULL, record, &recorders[i]) == 0, "no thread");
    }
    for (int i = 0; i < 2; ++i) {
        (void)pthread_join(threads[i], NULL);
    }
    const VkCommandBuffer both[] = {recorders[0].commands, recorders[1].commands};
    expect_buffer(scene, 4, "wd");
    expect_buffer(scene, 5, "wd");
    submit(scene, 2, both);
    for (int i = 0; i < 2; ++i) {
        scene->probe->call.vkDestroyCommandPool(scene->probe->device, recorders[i].pool, NULL);
    }
}

int probe_uses(const struct probe* probe)
{
    struct scene scene = {.probe = probe, .batch = 1};
    scene.pool = make_pool(probe);
    for (int i = 0; i < 6; ++i) {
        scene.buffers[i] = make_buffer(&scene);
    }
    const VkCommandBuffer commands =
        make_commands(probe, scene.pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const VkCommandBuffer more = make_commands(probe, scene.pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    use_buffers(&scene, commands);
    use_again(&scene, commands, more);
    use_secondary(&scene, commands);
    use_many_times(&scene, commands, more);
    use_images(&scene, commands);
    use_passes(&scene, commands);
    use_sets(&scene, commands);
    if (probe->has_push) {
        use_pushed(&scene, commands);
    }
    use_threads(&scene);
    printf("batches %u\n", scene.batch - 1);
    probe->call.vkDestroyCommandPool(probe->device, scene.pool, NULL);
    for (int i = 0; i < 6; ++i) {
        probe->call.vkDestroyBuffer(probe->device, scene.buffers[i], NULL);
    }
    for (uint32_t i = 0; i < scene.memory_count; ++i) {
        probe->call.vkFreeMemory(probe->device, scene.memories[i], NULL);
    }
    return 0;
}

int probe_command_cost(const struct probe* probe, long count)
{
    enum { ROUND = 1000 };
    struct scene scene = {.probe = probe, .batch = 1};
    const VkDeviceSize zero = 0;
    struct timespec from;
    struct timespec to;
    scene.pool = make_pool(probe);
    for (int i = 0; i < 6; ++i) {
        scene.buffers[i] = make_buffer(&scene);
    }
    const VkCommandBuffer commands =
        make_commands(probe, scene.pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    for (long i = 0; i < count; i += ROUND) {
        begin(probe, commands);
        for (int j = 0; j < ROUND; ++j) {
            probe->call.vkCmdBindVertexBuffers(commands, 0, 1, &scene.buffers[j % 6], &zero);
        }
        check(probe->call.vkEndCommandBuffer(commands), "end");
    }
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    const double seconds =
        (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
    printf("%.1f\n", seconds * 1e9 / (double)count);
    probe->call.vkDestroyCommandPool(probe->device, scene.pool, NULL);
    for (int i = 0; i < 6; ++i) {
        probe->call.vkDestroyBuffer(probe->device, scene.buffers[i], NULL);
        probe->call.vkFreeMemory(probe->device, scene.memories[i], NULL);
    }
    return 0;
}
