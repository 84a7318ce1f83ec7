/*
 * Kinds of images that drivers lay out in their own ways: with layers, with depth, and one that is
 * drawn to, which may be compressed. Vulkan writes a different word into each texel, or draws; CUDA
 * reads the first level through the mipmapped array.
 */
#include "gpu_rows.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { EDGE = 64, DEPTH = 8, TEXELS = EDGE * EDGE * DEPTH, ROW_LIMIT_S = 10 };
enum { LEFT_COLOUR = 0x00FF00FF, RIGHT_COLOUR = 0x0000FF00 }; /* A, B, G, R */

/* CUDA_MEMCPY3D, for a copy from an array to the host. */
struct volume_copy {
    size_t source_x, source_y, source_z, source_level;
    int source_type; /* 3: an array */
    const void* source_host;
    maar_cuda_pointer source_device;
    struct maar_cuda_array* source_array;
    void* source_reserved;
    size_t source_pitch, source_height;
    size_t target_x, target_y, target_z, target_level;
    int target_type; /* 1: the host's memory */
    void* target_host;
    maar_cuda_pointer target_device;
    struct maar_cuda_array* target_array;
    void* target_reserved;
    size_t target_pitch, target_height;
    size_t width_bytes, height, depth;
};

typedef int (*copy_3d_fn)(const struct volume_copy* copy);

struct image_kind {
    const char* name;
    VkImageType type;
    VkFormat format;
    uint32_t depth;
    uint32_t layers;
    VkImageUsageFlags usage;
};

static const struct image_kind kinds[] = {
    {"2D, 8 layers", VK_IMAGE_TYPE_2D, VK_FORMAT_R32_UINT, 1, DEPTH, VK_IMAGE_USAGE_STORAGE_BIT},
    {"3D, 8 deep", VK_IMAGE_TYPE_3D, VK_FORMAT_R32_UINT, DEPTH, 1, VK_IMAGE_USAGE_STORAGE_BIT},
    {"2D, storage and colour attachment, copied to", VK_IMAGE_TYPE_2D, VK_FORMAT_R32_UINT, 1, 1,
     VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT},
    {"2D, colour attachment, drawn", VK_IMAGE_TYPE_2D, VK_FORMAT_R8G8B8A8_UNORM, 1, 1,
     VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT},
};
enum { KINDS = sizeof kinds / sizeof kinds[0], DRAWN = KINDS - 1 };

static uint32_t word_at(uint32_t index)
{
    return index * 2654435761u + 1;
}

static uint32_t expected_at(bool drawn, uint32_t index)
{
    const uint32_t x = index % EDGE;
    return !drawn ? word_at(index) : (uint32_t)(x < EDGE / 2 ? LEFT_COLOUR : RIGHT_COLOUR);
}

static VkImageCreateInfo describe_kind(const struct image_kind* kind)
{
    return (VkImageCreateInfo){.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                               .imageType = kind->type,
                               .format = kind->format,
                               .extent = {EDGE, EDGE, kind->depth},
                               .mipLevels = 1,
                               .arrayLayers = kind->layers,
                               .samples = VK_SAMPLE_COUNT_1_BIT,
                               .tiling = VK_IMAGE_TILING_OPTIMAL,
                               .usage = kind->usage | VK_IMAGE_USAGE_SAMPLED_BIT |
                                        VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                                        VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
}

/* ---- Vulkan's side ---- */

static void begin_layout(VkCommandBuffer commands, VkImage image)
{
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .dstAccessMask = VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_MEMORY_READ_BIT,
        .newLayout = VK_IMAGE_LAYOUT_GENERAL,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, VK_REMAINING_ARRAY_LAYERS}};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

static bool copy_words(struct gpu_case* gpu, const struct image_kind* kind, VkImage image)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = TEXELS * 4,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT,
                                          .usage = MAAR_MEMORY_USAGE_UPLOAD};
    const VkBufferImageCopy copy = {
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, kind->layers},
        .imageExtent = {EDGE, EDGE, kind->depth}};
    struct gpu_buffer words = {.size = 0};
    if (!gpu_vk(gpu,
                maarCreateBuffer(gpu->allocator, &info, &how, &words.buffer, &words.allocation),
                "maarCreateBuffer, to upload")) {
        return false;
    }
    uint32_t* const mapped = maarGetMappedData(gpu->allocator, words.allocation);
    for (uint32_t i = 0; i < TEXELS; ++i) {
        mapped[i] = word_at(i);
    }
    (void)maarFlushAllocation(gpu->allocator, words.allocation, 0, VK_WHOLE_SIZE);
    const VkCommandBuffer commands = gpu_begin(gpu);
    begin_layout(commands, image);
    vkCmdCopyBufferToImage(commands, words.buffer, image, VK_IMAGE_LAYOUT_GENERAL, 1, &copy);
    gpu_barrier(commands);
    const bool done = gpu_run(gpu);
    gpu_free(gpu, &words);
    return done;
}

struct target {
    VkImageView view;
    VkRenderPass pass;
    VkFramebuffer frame;
};

static bool make_target(struct gpu_case* gpu, VkFormat format, VkImage image, struct target* target)
{
    const VkDevice device = gpu->device;
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = format,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    const VkAttachmentDescription attachment = {.format = format,
                                                .samples = VK_SAMPLE_COUNT_1_BIT,
                                                .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                                .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                                .finalLayout = VK_IMAGE_LAYOUT_GENERAL};
    const VkAttachmentReference reference = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkSubpassDescription subpass = {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                          .colorAttachmentCount = 1,
                                          .pColorAttachments = &reference};
    const VkRenderPassCreateInfo pass = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                         .attachmentCount = 1,
                                         .pAttachments = &attachment,
                                         .subpassCount = 1,
                                         .pSubpasses = &subpass};
    if (!gpu_vk(gpu, vkCreateImageView(device, &view, NULL, &target->view), "vkCreateImageView") ||
        !gpu_vk(gpu, vkCreateRenderPass(device, &pass, NULL, &target->pass),
                "vkCreateRenderPass")) {
        return false;
    }
    const VkFramebufferCreateInfo frame = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                           .renderPass = target->pass,
                                           .attachmentCount = 1,
                                           .pAttachments = &target->view,
                                           .width = EDGE,
                                           .height = EDGE,
                                           .layers = 1};
    return gpu_vk(gpu, vkCreateFramebuffer(device, &frame, NULL, &target->frame),
                  "vkCreateFramebuffer");
}

/* The pass clears the whole, and then its right half by a draw of the driver's own. */
static bool draw(struct gpu_case* gpu, const struct image_kind* kind, VkImage image)
{
    struct target target = {VK_NULL_HANDLE, VK_NULL_HANDLE, VK_NULL_HANDLE};
    bool done = make_target(gpu, kind->format, image, &target);
    if (done) {
        const VkClearValue left = {.color = {.float32 = {1, 0, 1, 0}}};
        const VkClearAttachment right = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
                                         .clearValue = {.color = {.float32 = {0, 1, 0, 0}}}};
        const VkClearRect half = {{{EDGE / 2, 0}, {EDGE / 2, EDGE}}, 0, 1};
        const VkRenderPassBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                             .renderPass = target.pass,
                                             .framebuffer = target.frame,
                                             .renderArea = {{0, 0}, {EDGE, EDGE}},
                                             .clearValueCount = 1,
                                             .pClearValues = &left};
        const VkCommandBuffer commands = gpu_begin(gpu);
        vkCmdBeginRenderPass(commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
        vkCmdClearAttachments(commands, 1, &right, 1, &half);
        vkCmdEndRenderPass(commands);
        gpu_barrier(commands);
        done = gpu_run(gpu);
    }
    vkDestroyFramebuffer(gpu->device, target.frame, NULL);
    vkDestroyRenderPass(gpu->device, target.pass, NULL);
    vkDestroyImageView(gpu->device, target.view, NULL);
    return done;
}

static uint32_t count_right(const uint32_t* words, uint32_t count, bool drawn)
{
    uint32_t right = 0;
    for (uint32_t i = 0; i < count; ++i) {
        right += words[i] == expected_at(drawn, i) ? 1 : 0;
    }
    return right;
}

static void print_right(uint32_t right, uint32_t count)
{
    const char* const mark = right == count ? "" : "**";
    printf("%s%u of %u texels right%s |", mark, right, count, mark);
}

/* What Vulkan itself reads: if that is wrong, CUDA is not to blame. */
static bool compare_in_vulkan(struct gpu_case* gpu, const struct image_kind* kind, VkImage image,
                              bool drawn)
{
    const VkBufferImageCopy copy = {
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, kind->layers},
        .imageExtent = {EDGE, EDGE, kind->depth}};
    const uint32_t count = EDGE * EDGE * kind->depth * kind->layers;
    struct gpu_buffer readback = {.size = 0};
    if (!gpu_make_readback(gpu, TEXELS * 4, &readback)) {
        return false;
    }
    const VkCommandBuffer commands = gpu_begin(gpu);
    gpu_barrier(commands);
    vkCmdCopyImageToBuffer(commands, image, VK_IMAGE_LAYOUT_GENERAL, readback.buffer, 1, &copy);
    gpu_barrier(commands);
    const bool done = gpu_run(gpu);
    if (done) {
        (void)maarInvalidateAllocation(gpu->allocator, readback.allocation, 0, VK_WHOLE_SIZE);
        const uint32_t right =
            count_right(maarGetMappedData(gpu->allocator, readback.allocation), count, drawn);
        print_right(right, count);
        printf(" ");
        if (right != count) {
            gpu_fail(gpu, "Vulkan does not read what it wrote");
        }
    }
    gpu_free(gpu, &readback);
    return done;
}

static bool give(struct gpu_case* gpu, MaarCudaTimeline timeline, VkImage image)
{
    const MaarHandoffResource resource = {
        .image = image, .oldLayout = VK_IMAGE_LAYOUT_GENERAL, .newLayout = VK_IMAGE_LAYOUT_GENERAL};
    const MaarCudaHandoffInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO,
                                      .value = 1,
                                      .stream = gpu->stream,
                                      .resourceCount = 1,
                                      .pResources = &resource};
    return gpu_vk(gpu, maarReleaseToCuda(gpu->cuda, timeline, &info), "maarReleaseToCuda") &&
           gpu_synchronize(gpu);
}

/* ---- CUDA's side ---- */

static void compare_texels(struct gpu_case* gpu, MaarCudaImage array, uint32_t depth, bool drawn)
{
    static uint32_t words[TEXELS];
    MaarCudaImageInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_IMAGE_INFO};
    copy_3d_fn copy_3d = NULL;
    void* const found = dlsym(gpu->library, "cuMemcpy3D_v2");
    memcpy(&copy_3d, &found, sizeof found);
    if (copy_3d == NULL) {
        printf("not looked at: this driver has no cuMemcpy3D |\n");
        return;
    }
    if (!gpu_vk(gpu, maarGetCudaImageInfo(gpu->cuda, array, &info), "maarGetCudaImageInfo")) {
        return;
    }
    const struct volume_copy copy = {.source_type = 3,
                                     .source_array = info.ppLevels[0],
                                     .target_type = 1,
                                     .target_host = words,
                                     .target_pitch = (size_t)EDGE * 4,
                                     .target_height = EDGE,
                                     .width_bytes = (size_t)EDGE * 4,
                                     .height = EDGE,
                                     .depth = depth};
    const int result = copy_3d(&copy);
    if (result != 0) {
        printf("**%s** |\n", gpu_cuda_name(gpu, result));
    } else {
        print_right(count_right(words, EDGE * EDGE * depth, drawn), EDGE * EDGE * depth);
        printf("\n");
    }
}

static void try_kind(struct gpu_case* gpu, const struct image_kind* kind, MaarCudaTimeline timeline)
{
    const VkImageCreateInfo info = describe_kind(kind);
    const MaarExportInfo export_info = {.sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
                                        .handleTypes = GPU_HANDLE_TYPE};
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .pNext = &export_info,
                                          .usage = MAAR_MEMORY_USAGE_DEVICE_LOCAL};
    const bool drawn = kind == &kinds[DRAWN];
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    MaarCudaImage array = VK_NULL_HANDLE;
    gpu->message[0] = '\0';
    VkResult result = maarCreateImage(gpu->allocator, &info, &how, &image, &allocation);
    if (result == VK_SUCCESS) {
        result = maarCreateCudaImage(gpu->cuda, allocation, &info, &array);
    }
    printf("%s %s | ", maarGetResultName(result), gpu->message);
    if (result != VK_SUCCESS) {
        printf("| |\n");
    } else if ((drawn ? draw(gpu, kind, image) : copy_words(gpu, kind, image)) &&
               compare_in_vulkan(gpu, kind, image, drawn) && give(gpu, timeline, image)) {
        compare_texels(gpu, array, kind->depth * kind->layers, drawn);
    } else {
        printf("| |\n");
    }
    (void)vkDeviceWaitIdle(gpu->device);
    maarDestroyCudaImage(gpu->cuda, array);
    maarDestroyImage(gpu->allocator, image, allocation);
}

static int try_row(struct gpu_case* gpu, uint32_t index)
{
    MaarCudaTimeline timeline = VK_NULL_HANDLE;
    printf("| %s | ", kinds[index].name);
    if (gpu_vk(gpu, maarCreateCudaTimeline(gpu->cuda, NULL, &timeline), "maarCreateCudaTimeline")) {
        try_kind(gpu, &kinds[index], timeline);
        maarDestroyCudaTimeline(gpu->cuda, timeline);
    }
    return GPU_EXIT_OK;
}

int main(int argc, char** argv)
{
    static const struct gpu_row_group groups[] = {
        {.head =
             "| image | mipmapped array | Vulkan reads | CUDA reads |\n| --- | --- | --- | --- |\n",
         .row_count = KINDS,
         .limit_s = ROW_LIMIT_S,
         .run = try_row},
    };
    return gpu_run_groups(argc, argv, GPU_NEEDS_CUDA, "Images with layers, depth, drawn", groups,
                          1);
}
