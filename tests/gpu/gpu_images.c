/*
 * Images of Vulkan's as CUDA's mipmapped arrays: which formats and kinds are taken, and whether
 * CUDA sees what Vulkan cleared them to.
 */
#include "gpu_rows.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { EDGE = 256 };

/* CUDA_MEMCPY2D: the parts of it that a copy from an array to the host needs. */
struct array_copy {
    size_t source_x, source_y;
    int source_type; /* 3: an array */
    const void* source_host;
    maar_cuda_pointer source_device;
    struct maar_cuda_array* source_array;
    size_t source_pitch;
    size_t target_x, target_y;
    int target_type; /* 1: the host's memory */
    void* target_host;
    maar_cuda_pointer target_device;
    struct maar_cuda_array* target_array;
    size_t target_pitch;
    size_t width_bytes, height;
};

typedef int (*copy_2d_fn)(const struct array_copy* copy);

struct image_row {
    const char* name;
    VkFormat format;
    uint32_t texel_size;
    uint32_t clear_words; /* of a texel that are compared */
    VkClearColorValue clear;
    uint32_t expected[4]; /* words of a texel */
};

static const struct image_row rows[] = {
    {"R8G8B8A8_UNORM", VK_FORMAT_R8G8B8A8_UNORM, 4, 1, {.float32 = {1, 0, 1, 0}}, {0x00FF00FF}},
    {"R32_SFLOAT", VK_FORMAT_R32_SFLOAT, 4, 1, {.float32 = {1.5f}}, {0x3FC00000}},
    {"R32G32B32A32_SFLOAT",
     VK_FORMAT_R32G32B32A32_SFLOAT,
     16,
     4,
     {.float32 = {1.5f, 0.0f, -1.0f, 2.0f}},
     {0x3FC00000, 0, 0xBF800000, 0x40000000}},
    {"R16G16B16A16_SFLOAT",
     VK_FORMAT_R16G16B16A16_SFLOAT,
     8,
     2,
     {.float32 = {1.0f, 0.0f, 0.0f, 1.0f}},
     {0x00003C00, 0x3C000000}},
    {"R32_UINT", VK_FORMAT_R32_UINT, 4, 1, {.uint32 = {0xC0FFEE}}, {0x00C0FFEE}},
};

static VkImageCreateInfo describe_image(const struct image_row* row, uint32_t levels)
{
    return (VkImageCreateInfo){.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                               .imageType = VK_IMAGE_TYPE_2D,
                               .format = row->format,
                               .extent = {EDGE, EDGE, 1},
                               .mipLevels = levels,
                               .arrayLayers = 1,
                               .samples = VK_SAMPLE_COUNT_1_BIT,
                               .tiling = VK_IMAGE_TILING_OPTIMAL,
                               .usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT |
                                        VK_IMAGE_USAGE_TRANSFER_DST_BIT};
}

static bool clear_image(struct gpu_case* gpu, VkImage image, const struct image_row* row)
{
    const VkImageSubresourceRange range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0,
                                           1};
    const VkImageMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                          .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                          .newLayout = VK_IMAGE_LAYOUT_GENERAL,
                                          .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                          .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                          .image = image,
                                          .subresourceRange = range};
    const VkCommandBuffer commands = gpu_begin(gpu);
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                         VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
    vkCmdClearColorImage(commands, image, VK_IMAGE_LAYOUT_GENERAL, &row->clear, 1, &range);
    gpu_barrier(commands);
    return gpu_run(gpu);
}

static bool give_image(struct gpu_case* gpu, MaarCudaTimeline timeline, uint64_t value,
                       VkImage image)
{
    const MaarHandoffResource resource = {
        .image = image, .oldLayout = VK_IMAGE_LAYOUT_GENERAL, .newLayout = VK_IMAGE_LAYOUT_GENERAL};
    const MaarCudaHandoffInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO,
                                      .value = value,
                                      .stream = gpu->stream,
                                      .resourceCount = 1,
                                      .pResources = &resource};
    return gpu_vk(gpu, maarReleaseToCuda(gpu->cuda, timeline, &info), "maarReleaseToCuda") &&
           gpu_synchronize(gpu);
}

/* How many texels of the first level hold what they were cleared to. */
static uint32_t count_texels(struct gpu_case* gpu, copy_2d_fn copy_2d, MaarCudaImage array,
                             const struct image_row* row)
{
    static uint32_t texels[EDGE * EDGE * 4];
    MaarCudaImageInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_IMAGE_INFO};
    if (!gpu_vk(gpu, maarGetCudaImageInfo(gpu->cuda, array, &info), "maarGetCudaImageInfo")) {
        return 0;
    }
    memset(texels, 0, sizeof texels);
    const struct array_copy copy = {.source_type = 3,
                                    .source_array = info.ppLevels[0],
                                    .target_type = 1,
                                    .target_host = texels,
                                    .target_pitch = (size_t)EDGE * row->texel_size,
                                    .width_bytes = (size_t)EDGE * row->texel_size,
                                    .height = EDGE};
    if (!gpu_cu(gpu, copy_2d(&copy), "cuMemcpy2D")) {
        return 0;
    }
    uint32_t right = 0;
    for (uint32_t i = 0; i < EDGE * EDGE; ++i) {
        right += memcmp(&texels[i * (row->texel_size / 4)], row->expected,
                        row->clear_words * sizeof(uint32_t)) == 0
                     ? 1
                     : 0;
    }
    return right;
}

static void say_contents(struct gpu_case* gpu, copy_2d_fn copy_2d, MaarCudaImage array,
                         const struct image_row* row)
{
    if (copy_2d == NULL) {
        printf("not looked at: this driver has no cuMemcpy2D |\n");
        return;
    }
    const uint32_t right = count_texels(gpu, copy_2d, array, row);
    printf("%u of %u texels right", right, (uint32_t)(EDGE * EDGE));
    if (right != EDGE * EDGE) {
        gpu_fail(gpu, "%s: CUDA does not see what Vulkan cleared it to", row->name);
    }
    printf(" |\n");
}

static void try_image(struct gpu_case* gpu, MaarCudaTimeline timeline, uint64_t value,
                      const struct image_row* row, uint32_t levels)
{
    const VkImageCreateInfo info = describe_image(row, levels);
    const MaarExportInfo export_info = {.sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
                                        .handleTypes = GPU_HANDLE_TYPE};
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .pNext = &export_info,
                                          .usage = MAAR_MEMORY_USAGE_DEVICE_LOCAL};
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    MaarCudaImage array = VK_NULL_HANDLE;
    copy_2d_fn copy_2d = NULL;
    void* const found = dlsym(gpu->library, "cuMemcpy2D_v2");
    memcpy(&copy_2d, &found, sizeof found);
    gpu->message[0] = '\0';
    printf("| %s | %u | ", row->name, levels);
    VkResult result = maarCreateImage(gpu->allocator, &info, &how, &image, &allocation);
    if (result != VK_SUCCESS) {
        printf("%s | | %s |\n", maarGetResultName(result), gpu->message);
        return;
    }
    MaarExportedMemory memory = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    if (maarExportMemory(gpu->allocator, allocation, GPU_HANDLE_TYPE, &memory) == VK_SUCCESS) {
        maarDestroyExternalHandle(gpu->allocator, memory.handle);
    }
    result = maarCreateCudaImage(gpu->cuda, allocation, &info, &array);
    printf("%s | %s | ", maarGetResultName(result), memory.dedicated ? "yes" : "no");
    if (result != VK_SUCCESS) {
        printf("%s", gpu->message);
        gpu_fail(gpu, "%s: no mipmapped array", row->name);
        printf(" |\n");
    } else if (clear_image(gpu, image, row) && give_image(gpu, timeline, value, image)) {
        say_contents(gpu, copy_2d, array, row);
    }
    maarDestroyCudaImage(gpu->cuda, array);
    maarDestroyImage(gpu->allocator, image, allocation);
}

/* A row a format and number of levels. */
static int try_row(struct gpu_case* gpu, uint32_t index)
{
    MaarCudaTimeline timeline = VK_NULL_HANDLE;
    if (gpu_vk(gpu, maarCreateCudaTimeline(gpu->cuda, NULL, &timeline), "maarCreateCudaTimeline")) {
        try_image(gpu, timeline, 1, &rows[index / 2], index % 2 == 0 ? 1 : 5);
        (void)vkDeviceWaitIdle(gpu->device);
        maarDestroyCudaTimeline(gpu->cuda, timeline);
    }
    return GPU_EXIT_OK;
}

int main(int argc, char** argv)
{
    static const struct gpu_row_group groups[] = {
        {.head = "256 x 256, optimal tiling\n"
                 "\n| format | levels | mipmapped array | memory of its own | contents |\n"
                 "| --- | --- | --- | --- | --- |\n",
         .row_count = 2 * sizeof rows / sizeof rows[0],
         .limit_s = 10,
         .run = try_row},
    };
    return gpu_run_groups(argc, argv, GPU_NEEDS_CUDA, "Images", groups, 1);
}
