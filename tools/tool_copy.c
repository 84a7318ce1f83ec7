/*
 * Verification by copies, for memory to which no storage buffer may be bound. The pattern is copied
 * from a staging buffer into the resource. Before the resource is destroyed, the pattern is copied
 * back and verified in the staging buffer. In the meantime an image stays in TRANSFER_SRC_OPTIMAL.
 * See tool_gpu.h.
 */
#include "tool_gpu_internal.h"

#include <stdlib.h>

/* The most mip levels of an image that is verified by copies. */
#define MAX_COPY_LEVELS 16u

/* Formats whose texels a copy preserves bit by bit. */
struct texel_block {
    VkFormat first, last; /* a run of formats of one size */
    uint32_t bytes;
    uint32_t width, height;
    VkImageAspectFlags aspect; /* 0: colour */
};

static const struct texel_block texel_blocks[] = {
    {VK_FORMAT_R4G4_UNORM_PACK8, VK_FORMAT_R4G4_UNORM_PACK8, 1, 1, 1, 0},
    {VK_FORMAT_R4G4B4A4_UNORM_PACK16, VK_FORMAT_A1R5G5B5_UNORM_PACK16, 2, 1, 1, 0},
    {VK_FORMAT_R8_UNORM, VK_FORMAT_R8_SRGB, 1, 1, 1, 0},
    {VK_FORMAT_R8G8_UNORM, VK_FORMAT_R8G8_SRGB, 2, 1, 1, 0},
    {VK_FORMAT_R8G8B8_UNORM, VK_FORMAT_B8G8R8_SRGB, 3, 1, 1, 0},
    {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_A2B10G10R10_SINT_PACK32, 4, 1, 1, 0},
    {VK_FORMAT_R16_UNORM, VK_FORMAT_R16_SFLOAT, 2, 1, 1, 0},
    {VK_FORMAT_R16G16_UNORM, VK_FORMAT_R16G16_SFLOAT, 4, 1, 1, 0},
    {VK_FORMAT_R16G16B16_UNORM, VK_FORMAT_R16G16B16_SFLOAT, 6, 1, 1, 0},
    {VK_FORMAT_R16G16B16A16_UNORM, VK_FORMAT_R16G16B16A16_SFLOAT, 8, 1, 1, 0},
    {VK_FORMAT_R32_UINT, VK_FORMAT_R32_SFLOAT, 4, 1, 1, 0},
    {VK_FORMAT_R32G32_UINT, VK_FORMAT_R32G32_SFLOAT, 8, 1, 1, 0},
    {VK_FORMAT_R32G32B32_UINT, VK_FORMAT_R32G32B32_SFLOAT, 12, 1, 1, 0},
    {VK_FORMAT_R32G32B32A32_UINT, VK_FORMAT_R32G32B32A32_SFLOAT, 16, 1, 1, 0},
    {VK_FORMAT_B10G11R11_UFLOAT_PACK32, VK_FORMAT_E5B9G9R9_UFLOAT_PACK32, 4, 1, 1, 0},
    {VK_FORMAT_D16_UNORM, VK_FORMAT_D16_UNORM, 2, 1, 1, VK_IMAGE_ASPECT_DEPTH_BIT},
    {VK_FORMAT_S8_UINT, VK_FORMAT_S8_UINT, 1, 1, 1, VK_IMAGE_ASPECT_STENCIL_BIT},
    {VK_FORMAT_BC1_RGB_UNORM_BLOCK, VK_FORMAT_BC1_RGBA_SRGB_BLOCK, 8, 4, 4, 0},
    {VK_FORMAT_BC2_UNORM_BLOCK, VK_FORMAT_BC3_SRGB_BLOCK, 16, 4, 4, 0},
    {VK_FORMAT_BC4_UNORM_BLOCK, VK_FORMAT_BC4_SNORM_BLOCK, 8, 4, 4, 0},
    {VK_FORMAT_BC5_UNORM_BLOCK, VK_FORMAT_BC7_SRGB_BLOCK, 16, 4, 4, 0},
};

static VkImageAspectFlags aspect_of(const struct texel_block* block)
{
    return block->aspect != 0 ? block->aspect : VK_IMAGE_ASPECT_COLOR_BIT;
}

static const struct texel_block* find_texel_block(VkFormat format)
{
    for (size_t i = 0; i < sizeof(texel_blocks) / sizeof(texel_blocks[0]); ++i) {
        if (format >= texel_blocks[i].first && format <= texel_blocks[i].last) {
            return &texel_blocks[i];
        }
    }
    return NULL;
}

bool gpu_can_copy(const struct tool_gpu* gpu, const struct tool_gpu_subject* subject)
{
    if (subject->buffer != VK_NULL_HANDLE) {
        return true;
    }
    /* A family with only transfer may require coarse copies. Depth needs a family with graphics. */
    if (subject->image == VK_NULL_HANDLE || subject->plan == NULL ||
        subject->plan->image.mipLevels > MAX_COPY_LEVELS) {
        return false;
    }
    const struct texel_block* const block = find_texel_block(subject->plan->image.format);
    const VkQueueFlags graphics = VK_QUEUE_GRAPHICS_BIT;
    const VkQueueFlags wanted =
        block != NULL && block->aspect != 0 ? graphics : graphics | VK_QUEUE_COMPUTE_BIT;
    return block != NULL && (gpu->tool->queue_flags & wanted) != 0;
}

/* Lays out the mip levels of an image in the staging buffer. Returns the sum of their bytes. */
static VkDeviceSize lay_out_levels(const VkImageCreateInfo* image, VkBufferImageCopy* regions,
                                   VkDeviceSize* sizes)
{
    const struct texel_block* const block = find_texel_block(image->format);
    const VkDeviceSize alignment = (VkDeviceSize)block->bytes * 4;
    VkDeviceSize at = 0;
    for (uint32_t level = 0; level < image->mipLevels; ++level) {
        const uint32_t width = image->extent.width >> level > 1 ? image->extent.width >> level : 1;
        const uint32_t height =
            image->extent.height >> level > 1 ? image->extent.height >> level : 1;
        const uint32_t depth = image->extent.depth >> level > 1 ? image->extent.depth >> level : 1;
        const VkDeviceSize columns = (width + block->width - 1) / block->width;
        const VkDeviceSize rows = (height + block->height - 1) / block->height;
        at = (at + alignment - 1) / alignment * alignment;
        regions[level] = (VkBufferImageCopy){
            .bufferOffset = at,
            .imageSubresource = {aspect_of(block), level, 0, image->arrayLayers},
            .imageExtent = {width, height, depth},
        };
        sizes[level] = columns * rows * depth * block->bytes * image->arrayLayers;
        at += sizes[level];
    }
    return at;
}

static VkResult reserve_staging(struct tool_gpu* gpu, VkDeviceSize size)
{
    const VkDeviceSize rounded = (size + 65535) / 65536 * 65536;
    if (gpu->staging.size >= rounded) {
        return VK_SUCCESS;
    }
    VkResult result = gpu_run(gpu);
    if (result != VK_SUCCESS) {
        return result;
    }
    gpu_destroy_block(gpu, gpu->staging_block);
    gpu->staging_block = NULL;
    gpu_destroy_own_buffer(gpu, &gpu->staging);
    result =
        gpu_create_own_buffer(gpu, rounded,
                              VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                  VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                              false, &gpu->staging);
    if (result == VK_SUCCESS) {
        result = gpu_make_block(gpu, gpu->staging.memory, rounded, &gpu->staging_block);
    }
    return result;
}

static void record_layout(struct tool_gpu* gpu, const struct tool_gpu_subject* subject,
                          VkImageLayout from, VkImageLayout to)
{
    const struct texel_block* const block = find_texel_block(subject->plan->image.format);
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = subject->image,
        .subresourceRange = {aspect_of(block), 0, VK_REMAINING_MIP_LEVELS, 0,
                             VK_REMAINING_ARRAY_LAYERS},
    };
    vkCmdPipelineBarrier(gpu->commands,
                         VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

static VkResult fill_image(struct tool_gpu* gpu, const struct tool_gpu_subject* subject)
{
    VkBufferImageCopy regions[MAX_COPY_LEVELS];
    VkDeviceSize sizes[MAX_COPY_LEVELS];
    const VkImageCreateInfo* const image = &subject->plan->image;
    const VkDeviceSize size = lay_out_levels(image, regions, sizes);
    VkResult result = reserve_staging(gpu, size);
    for (uint32_t i = 0; i < image->mipLevels && result == VK_SUCCESS; ++i) {
        const struct gpu_stretch stretch = {gpu->staging_block, regions[i].bufferOffset, sizes[i],
                                            subject->label + ((uint64_t)i << 48)};
        result = gpu_record_fill(gpu, &stretch);
    }
    if (result == VK_SUCCESS) {
        result = gpu_begin_job(gpu);
    }
    if (result == VK_SUCCESS) {
        record_layout(gpu, subject, VK_IMAGE_LAYOUT_UNDEFINED,
                      VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
        vkCmdCopyBufferToImage(gpu->commands, gpu->staging.buffer, subject->image,
                               VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, image->mipLevels, regions);
        record_layout(gpu, subject, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                      VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    }
    return result;
}

/* Clears the staging buffer, so that a copy without effect leaves no pattern there. */
static VkResult clear_staging(struct tool_gpu* gpu, VkDeviceSize size)
{
    VkResult result = reserve_staging(gpu, size);
    if (result == VK_SUCCESS) {
        result = gpu_begin_job(gpu);
    }
    if (result == VK_SUCCESS) {
        vkCmdFillBuffer(gpu->commands, gpu->staging.buffer, 0, (size + 3) / 4 * 4, 0);
        result = gpu_begin_job(gpu);
    }
    return result;
}

static VkResult verify_image(struct tool_gpu* gpu, const struct tool_gpu_subject* subject)
{
    VkBufferImageCopy regions[MAX_COPY_LEVELS];
    VkDeviceSize sizes[MAX_COPY_LEVELS];
    const VkImageCreateInfo* const image = &subject->plan->image;
    VkResult result = clear_staging(gpu, lay_out_levels(image, regions, sizes));
    if (result != VK_SUCCESS) {
        return result;
    }
    vkCmdCopyImageToBuffer(gpu->commands, subject->image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                           gpu->staging.buffer, image->mipLevels, regions);
    const struct gpu_slot meaning = {
        .label = subject->label, .credit = subject->place.size, .copied = true};
    for (uint32_t i = 0; i < image->mipLevels && result == VK_SUCCESS; ++i) {
        const struct gpu_stretch stretch = {gpu->staging_block, regions[i].bufferOffset, sizes[i],
                                            subject->label + ((uint64_t)i << 48)};
        result = gpu_record_verify(gpu, &stretch, &meaning, i + 1 == image->mipLevels);
    }
    return result;
}

static VkResult fill_buffer(struct tool_gpu* gpu, const struct tool_gpu_subject* subject)
{
    const VkDeviceSize size = subject->plan->buffer.size;
    VkResult result = reserve_staging(gpu, size);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct gpu_stretch stretch = {gpu->staging_block, 0, size, subject->label};
    result = gpu_record_fill(gpu, &stretch);
    if (result == VK_SUCCESS) {
        result = gpu_begin_job(gpu);
    }
    if (result == VK_SUCCESS) {
        const VkBufferCopy region = {0, 0, size};
        vkCmdCopyBuffer(gpu->commands, gpu->staging.buffer, subject->buffer, 1, &region);
    }
    return result;
}

static VkResult verify_buffer(struct tool_gpu* gpu, const struct tool_gpu_subject* subject)
{
    const VkDeviceSize size = subject->plan->buffer.size;
    const VkResult result = clear_staging(gpu, size);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkBufferCopy region = {0, 0, size};
    vkCmdCopyBuffer(gpu->commands, subject->buffer, gpu->staging.buffer, 1, &region);
    const struct gpu_stretch stretch = {gpu->staging_block, 0, size, subject->label};
    const struct gpu_slot meaning = {
        .label = subject->label, .credit = subject->place.size, .copied = true};
    return gpu_record_verify(gpu, &stretch, &meaning, true);
}

VkResult gpu_copy_fill(struct tool_gpu* gpu, const struct tool_gpu_subject* subject)
{
    return subject->image != VK_NULL_HANDLE ? fill_image(gpu, subject) : fill_buffer(gpu, subject);
}

VkResult gpu_copy_verify(struct tool_gpu* gpu, const struct tool_gpu_subject* subject)
{
    VkResult result =
        subject->image != VK_NULL_HANDLE ? verify_image(gpu, subject) : verify_buffer(gpu, subject);
    if (result == VK_SUCCESS) {
        result = gpu_run(gpu); /* the caller destroys the resource next */
    }
    return result;
}

VkResult gpu_tail_fill(struct tool_gpu* gpu, const struct gpu_tail* tail)
{
    VkResult result = reserve_staging(gpu, tail->size);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct gpu_stretch stretch = {gpu->staging_block, 0, tail->size, tail->seed};
    result = gpu_record_fill(gpu, &stretch);
    if (result == VK_SUCCESS) {
        result = gpu_begin_job(gpu);
    }
    if (result == VK_SUCCESS) {
        const VkBufferCopy region = {0, tail->offset, tail->size};
        vkCmdCopyBuffer(gpu->commands, gpu->staging.buffer, tail->buffer, 1, &region);
    }
    return result;
}

VkResult gpu_tail_verify(struct tool_gpu* gpu, const struct gpu_tail* tail,
                         const struct gpu_slot* meaning, bool last)
{
    const VkResult result = clear_staging(gpu, tail->size);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkBufferCopy region = {tail->offset, 0, tail->size};
    vkCmdCopyBuffer(gpu->commands, tail->buffer, gpu->staging.buffer, 1, &region);
    const struct gpu_stretch stretch = {gpu->staging_block, 0, tail->size, tail->seed};
    return gpu_record_verify(gpu, &stretch, meaning, last);
}
