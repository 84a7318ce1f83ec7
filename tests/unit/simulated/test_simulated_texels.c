/*
 * Images that the simulated driver executes commands on: every format, tiling, level and layer
 * there and back, clears, layouts that differ from linear, and mip tails.
 */
#include "tests/unit/simulated/simulated_commands.h"

static const VkImageUsageFlags transfers =
    VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
static const VkImageLayout general = VK_IMAGE_LAYOUT_GENERAL;

static void expect_good(const struct executed* x)
{
    char text[MAAR_SIMULATED_MAX_TEXT];
    if (maarSimulatedGetViolation(x->f.physical, 0, NULL, sizeof(text), text) == VK_TRUE) {
        fail_msg("%s", text);
    }
}

/* A format, the bytes of one block in a buffer by aspect, and the bytes of them that count. */
struct texel_format {
    VkFormat format;
    uint32_t block, bytes;
    VkImageAspectFlags aspect;
    uint32_t kept;
    uint32_t divide_x, divide_y;
};

static const struct texel_format formats[] = {
    {VK_FORMAT_R4G4_UNORM_PACK8, 1, 1, VK_IMAGE_ASPECT_COLOR_BIT, 1, 1, 1},
    {VK_FORMAT_R5G6B5_UNORM_PACK16, 1, 2, VK_IMAGE_ASPECT_COLOR_BIT, 2, 1, 1},
    {VK_FORMAT_R8G8B8_UNORM, 1, 3, VK_IMAGE_ASPECT_COLOR_BIT, 3, 1, 1},
    {VK_FORMAT_R8G8B8A8_UNORM, 1, 4, VK_IMAGE_ASPECT_COLOR_BIT, 4, 1, 1},
    {VK_FORMAT_R16G16B16_SFLOAT, 1, 6, VK_IMAGE_ASPECT_COLOR_BIT, 6, 1, 1},
    {VK_FORMAT_R16G16B16A16_SFLOAT, 1, 8, VK_IMAGE_ASPECT_COLOR_BIT, 8, 1, 1},
    {VK_FORMAT_R32G32B32_SFLOAT, 1, 12, VK_IMAGE_ASPECT_COLOR_BIT, 12, 1, 1},
    {VK_FORMAT_R32G32B32A32_SFLOAT, 1, 16, VK_IMAGE_ASPECT_COLOR_BIT, 16, 1, 1},
    {VK_FORMAT_R64G64B64A64_SFLOAT, 1, 32, VK_IMAGE_ASPECT_COLOR_BIT, 32, 1, 1},
    {VK_FORMAT_BC1_RGB_UNORM_BLOCK, 4, 8, VK_IMAGE_ASPECT_COLOR_BIT, 8, 1, 1},
    {VK_FORMAT_BC7_UNORM_BLOCK, 4, 16, VK_IMAGE_ASPECT_COLOR_BIT, 16, 1, 1},
    {VK_FORMAT_ETC2_R8G8B8_UNORM_BLOCK, 4, 8, VK_IMAGE_ASPECT_COLOR_BIT, 8, 1, 1},
    {VK_FORMAT_EAC_R11G11_UNORM_BLOCK, 4, 16, VK_IMAGE_ASPECT_COLOR_BIT, 16, 1, 1},
    {VK_FORMAT_D16_UNORM, 1, 2, VK_IMAGE_ASPECT_DEPTH_BIT, 2, 1, 1},
    {VK_FORMAT_X8_D24_UNORM_PACK32, 1, 4, VK_IMAGE_ASPECT_DEPTH_BIT, 3, 1, 1},
    {VK_FORMAT_D32_SFLOAT, 1, 4, VK_IMAGE_ASPECT_DEPTH_BIT, 4, 1, 1},
    {VK_FORMAT_S8_UINT, 1, 1, VK_IMAGE_ASPECT_STENCIL_BIT, 1, 1, 1},
    {VK_FORMAT_D16_UNORM_S8_UINT, 1, 2, VK_IMAGE_ASPECT_DEPTH_BIT, 2, 1, 1},
    {VK_FORMAT_D16_UNORM_S8_UINT, 1, 1, VK_IMAGE_ASPECT_STENCIL_BIT, 1, 1, 1},
    {VK_FORMAT_D24_UNORM_S8_UINT, 1, 4, VK_IMAGE_ASPECT_DEPTH_BIT, 3, 1, 1},
    {VK_FORMAT_D24_UNORM_S8_UINT, 1, 1, VK_IMAGE_ASPECT_STENCIL_BIT, 1, 1, 1},
    {VK_FORMAT_D32_SFLOAT_S8_UINT, 1, 4, VK_IMAGE_ASPECT_DEPTH_BIT, 4, 1, 1},
    {VK_FORMAT_D32_SFLOAT_S8_UINT, 1, 1, VK_IMAGE_ASPECT_STENCIL_BIT, 1, 1, 1},
    {VK_FORMAT_G8_B8R8_2PLANE_420_UNORM, 1, 1, VK_IMAGE_ASPECT_PLANE_0_BIT, 1, 1, 1},
    {VK_FORMAT_G8_B8R8_2PLANE_420_UNORM, 1, 2, VK_IMAGE_ASPECT_PLANE_1_BIT, 2, 2, 2},
    {VK_FORMAT_G16_B16_R16_3PLANE_420_UNORM, 1, 2, VK_IMAGE_ASPECT_PLANE_2_BIT, 2, 2, 2},
    {VK_FORMAT_G8_B8_R8_3PLANE_422_UNORM, 1, 1, VK_IMAGE_ASPECT_PLANE_1_BIT, 1, 2, 1},
};

static uint32_t in_blocks(uint32_t texels, uint32_t block)
{
    return (texels + block - 1) / block;
}

static uint32_t level_of(uint32_t extent, uint32_t level)
{
    return extent >> level != 0 ? extent >> level : 1;
}

static VkImageAspectFlags whole_aspects(const struct texel_format* format)
{
    if (format->format >= VK_FORMAT_D16_UNORM_S8_UINT &&
        format->format <= VK_FORMAT_D32_SFLOAT_S8_UINT) {
        return VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
    }
    return format->format >= VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM ? VK_IMAGE_ASPECT_COLOR_BIT
                                                                 : format->aspect;
}

/* The regions of all levels of an image, one behind the other in a buffer. Returns the bytes. */
static VkDeviceSize regions_of(const struct texel_format* format, const VkImageCreateInfo* info,
                               VkBufferImageCopy* regions)
{
    VkDeviceSize at = 0;
    for (uint32_t level = 0; level < info->mipLevels; level++) {
        const VkExtent3D extent = {level_of(info->extent.width, level) / format->divide_x,
                                   level_of(info->extent.height, level) / format->divide_y,
                                   level_of(info->extent.depth, level)};
        regions[level] = (VkBufferImageCopy){
            .bufferOffset = at,
            .imageSubresource = {format->aspect, level, 0, info->arrayLayers},
            .imageExtent = extent,
        };
        at += (VkDeviceSize)in_blocks(extent.width, format->block) *
              in_blocks(extent.height, format->block) * extent.depth * info->arrayLayers *
              format->bytes;
        at = (at + 15) / 16 * 16;
    }
    return at;
}

/* Sets to zero what an image does not keep of its blocks, and what lies between regions. */
static void keep_only(const struct texel_format* format, const VkBufferImageCopy* regions,
                      uint32_t count, uint32_t layers, uint8_t* bytes, VkDeviceSize size)
{
    for (uint32_t i = 0; i < count; i++) {
        const VkBufferImageCopy* r = &regions[i];
        const VkDeviceSize next = i + 1 < count ? regions[i + 1].bufferOffset : size;
        const VkDeviceSize end =
            r->bufferOffset + (VkDeviceSize)in_blocks(r->imageExtent.width, format->block) *
                                  in_blocks(r->imageExtent.height, format->block) *
                                  r->imageExtent.depth * layers * format->bytes;
        for (VkDeviceSize at = r->bufferOffset; at < end; at += format->bytes) {
            memset(bytes + at + format->kept, 0, format->bytes - format->kept);
        }
        memset(bytes + end, 0, (size_t)(next - end));
    }
}

/* Uploads every level and layer, copies to a second image, and reads back. */
static void round_trip(const struct executed* x, const struct texel_format* format,
                       const VkImageCreateInfo* info)
{
    VkBufferImageCopy regions[8];
    VkImageCopy copies[8];
    assert_in_range(info->mipLevels, 1, 8);
    const VkDeviceSize size = regions_of(format, info, regions);
    const struct executed_buffer in = executed_buffer(x, 1, size);
    const struct executed_buffer out = executed_buffer(x, 1, size);
    const struct executed_image one = executed_image(x, info);
    const struct executed_image two = executed_image(x, info);
    const VkImageAspectFlags aspects = whole_aspects(format);
    for (uint32_t i = 0; i < info->mipLevels; i++) {
        copies[i] = (VkImageCopy){.srcSubresource = regions[i].imageSubresource,
                                  .dstSubresource = regions[i].imageSubresource,
                                  .extent = regions[i].imageExtent};
    }
    executed_fill_bytes(in.bytes, size, (uint32_t)format->format);
    executed_begin(x, x->commands);
    executed_transition(x, x->commands, one.image, aspects, VK_IMAGE_LAYOUT_UNDEFINED, general);
    executed_transition(x, x->commands, two.image, aspects, VK_IMAGE_LAYOUT_UNDEFINED, general);
    x->f.vkCmdCopyBufferToImage(x->commands, in.buffer, one.image, general, info->mipLevels,
                                regions);
    executed_barrier(x, x->commands);
    x->f.vkCmdCopyImage(x->commands, one.image, general, two.image, general, info->mipLevels,
                        copies);
    executed_barrier(x, x->commands);
    x->f.vkCmdCopyImageToBuffer(x->commands, two.image, general, out.buffer, info->mipLevels,
                                regions);
    executed_submit(x, x->commands);
    keep_only(format, regions, info->mipLevels, info->arrayLayers, in.bytes, size);
    assert_memory_equal(in.bytes, out.bytes, (size_t)size);
    assert_int_equal(fixture_counters(&x->f).unwrittenReadBytes, 0);
    executed_free_image(x, &one);
    executed_free_image(x, &two);
    executed_free_buffer(x, &in);
    executed_free_buffer(x, &out);
}

static void every_format_goes_there_and_back(void** state)
{
    const struct executed* x = *state;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        const struct texel_format* format = &formats[i];
        const bool planar = format->format >= VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM;
        VkImageCreateInfo info = fixture_image_info(format->format, planar ? 36 : 37, 22);
        info.usage = transfers;
        info.arrayLayers = 3;
        info.mipLevels = planar ? 1 : 5;
        round_trip(x, format, &info);
        info.arrayLayers = 1;
        info.mipLevels = 1;
        if (format->aspect == VK_IMAGE_ASPECT_COLOR_BIT || planar) {
            info.tiling = VK_IMAGE_TILING_LINEAR;
            round_trip(x, format, &info);
            info.tiling = VK_IMAGE_TILING_OPTIMAL;
        }
        if (format->aspect == VK_IMAGE_ASPECT_COLOR_BIT) {
            info.imageType = VK_IMAGE_TYPE_3D;
            info.extent = (VkExtent3D){20, 12, 9};
            info.mipLevels = 4;
            round_trip(x, format, &info);
        }
        expect_good(x);
    }
}

static void planes_may_lie_apart(void** state)
{
    const struct executed* x = *state;
    const struct simulated_fixture* f = &x->f;
    VkImageCreateInfo info = fixture_image_info(VK_FORMAT_G8_B8R8_2PLANE_420_UNORM, 32, 16);
    info.usage = transfers;
    info.flags = VK_IMAGE_CREATE_DISJOINT_BIT;
    const VkImage image = fixture_image(f, &info);
    const VkDeviceMemory memory = fixture_memory(f, 0, 65536);
    VkBindImagePlaneMemoryInfo planes[2];
    VkBindImageMemoryInfo binds[2];
    for (uint32_t i = 0; i < 2; i++) {
        planes[i] = (VkBindImagePlaneMemoryInfo){
            .sType = VK_STRUCTURE_TYPE_BIND_IMAGE_PLANE_MEMORY_INFO,
            .planeAspect = i == 0 ? VK_IMAGE_ASPECT_PLANE_0_BIT : VK_IMAGE_ASPECT_PLANE_1_BIT};
        binds[i] = (VkBindImageMemoryInfo){.sType = VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_INFO,
                                           .pNext = &planes[i],
                                           .image = image,
                                           .memory = memory,
                                           .memoryOffset = i == 0 ? 32768 : 0};
    }
    assert_int_equal(f->vkBindImageMemory2(f->device, 2, binds), VK_SUCCESS);
    const struct executed_buffer b = executed_buffer(x, 1, 4096);
    executed_fill_bytes(b.bytes, 768, 3);
    const VkBufferImageCopy in[] = {
        {.imageSubresource = {VK_IMAGE_ASPECT_PLANE_0_BIT, 0, 0, 1}, .imageExtent = {32, 16, 1}},
        {.bufferOffset = 512,
         .imageSubresource = {VK_IMAGE_ASPECT_PLANE_1_BIT, 0, 0, 1},
         .imageExtent = {16, 8, 1}}};
    VkBufferImageCopy out[] = {in[0], in[1]};
    out[0].bufferOffset = 1024;
    out[1].bufferOffset = 1536;
    executed_begin(x, x->commands);
    executed_transition(x, x->commands, image, 1, VK_IMAGE_LAYOUT_UNDEFINED, general);
    x->f.vkCmdCopyBufferToImage(x->commands, b.buffer, image, general, 2, in);
    executed_barrier(x, x->commands);
    x->f.vkCmdCopyImageToBuffer(x->commands, image, general, b.buffer, 2, out);
    executed_submit(x, x->commands);
    assert_memory_equal(b.bytes, b.bytes + 1024, 768);
    expect_good(x);
    f->vkDestroyImage(f->device, image, NULL);
    f->vkFreeMemory(f->device, memory, NULL);
    executed_free_buffer(x, &b);
}

/* ---- what the host sees ---- */

static void linear_images_lie_as_their_layout_says(void** state)
{
    const struct executed* x = *state;
    const struct simulated_fixture* f = &x->f;
    VkImageCreateInfo info = fixture_image_info(VK_FORMAT_R8G8B8A8_UNORM, 9, 5);
    info.usage = transfers;
    info.tiling = VK_IMAGE_TILING_LINEAR;
    info.arrayLayers = 2;
    const VkImage image = fixture_image(f, &info);
    const VkDeviceMemory memory = fixture_memory(f, 1, 65536);
    assert_int_equal(f->vkBindImageMemory(f->device, image, memory, 4096), VK_SUCCESS);
    void* mapped = NULL;
    assert_int_equal(f->vkMapMemory(f->device, memory, 0, VK_WHOLE_SIZE, 0, &mapped), VK_SUCCESS);
    const struct executed_buffer b = executed_buffer(x, 1, 4096);
    const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 2},
                                      .imageExtent = {9, 5, 1}};
    executed_fill_bytes(b.bytes, 4096, 4);
    executed_begin(x, x->commands);
    executed_transition(x, x->commands, image, 1, VK_IMAGE_LAYOUT_UNDEFINED, general);
    x->f.vkCmdCopyBufferToImage(x->commands, b.buffer, image, general, 1, &region);
    executed_submit(x, x->commands);
    for (uint32_t layer = 0; layer < 2; layer++) {
        const VkImageSubresource which = {VK_IMAGE_ASPECT_COLOR_BIT, 0, layer};
        VkSubresourceLayout layout;
        f->vkGetImageSubresourceLayout(f->device, image, &which, &layout);
        for (uint32_t y = 0; y < 5; y++) {
            const uint8_t* row = (uint8_t*)mapped + 4096 + layout.offset + y * layout.rowPitch;
            assert_memory_equal(row, b.bytes + (layer * 5 + y) * 36, 36);
        }
    }
    f->vkDestroyImage(f->device, image, NULL);
    f->vkUnmapMemory(f->device, memory);
    f->vkFreeMemory(f->device, memory, NULL);
    executed_free_buffer(x, &b);
    expect_good(x);
}

static void optimal_images_do_not_lie_row_by_row(void** state)
{
    const struct executed* x = *state;
    const struct simulated_fixture* f = &x->f;
    VkImageCreateInfo info = fixture_image_info(VK_FORMAT_R32_UINT, 16, 16);
    info.usage = transfers;
    const VkImage image = fixture_image(f, &info);
    const VkDeviceMemory memory = fixture_memory(f, 1, 65536);
    assert_int_equal(f->vkBindImageMemory(f->device, image, memory, 0), VK_SUCCESS);
    void* mapped = NULL;
    assert_int_equal(f->vkMapMemory(f->device, memory, 0, VK_WHOLE_SIZE, 0, &mapped), VK_SUCCESS);
    const struct executed_buffer b = executed_buffer(x, 1, 1024);
    for (uint32_t i = 0; i < 256; i++) {
        memcpy(b.bytes + 4 * i, &i, sizeof(i));
    }
    const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {16, 16, 1}};
    executed_begin(x, x->commands);
    executed_transition(x, x->commands, image, 1, VK_IMAGE_LAYOUT_UNDEFINED, general);
    x->f.vkCmdCopyBufferToImage(x->commands, b.buffer, image, general, 1, &region);
    executed_submit(x, x->commands);
    uint32_t in_place = 0;
    bool seen[256] = {false};
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t value = 0;
        memcpy(&value, (uint8_t*)mapped + 4 * i, sizeof(value));
        assert_in_range(value, 0, 255);
        assert_false(seen[value]);
        seen[value] = true;
        in_place += value == i ? 1 : 0;
    }
    assert_in_range(in_place, 0, 16);
    f->vkDestroyImage(f->device, image, NULL);
    f->vkUnmapMemory(f->device, memory);
    f->vkFreeMemory(f->device, memory, NULL);
    executed_free_buffer(x, &b);
    expect_good(x);
}

/* ---- regions ---- */

static void copies_between_blocks_and_texels_count_in_blocks(void** state)
{
    const struct executed* x = *state;
    VkImageCreateInfo info = fixture_image_info(VK_FORMAT_BC7_UNORM_BLOCK, 30, 18);
    info.usage = transfers;
    const struct executed_image blocks = executed_image(x, &info);
    info = fixture_image_info(VK_FORMAT_R32G32B32A32_UINT, 8, 5);
    info.usage = transfers;
    const struct executed_image texels = executed_image(x, &info);
    const struct executed_buffer b = executed_buffer(x, 1, 4096);
    executed_fill_bytes(b.bytes, 4096, 5);
    const VkImageSubresourceLayers color = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    const VkBufferImageCopy in = {.imageSubresource = color, .imageExtent = {30, 18, 1}};
    const VkImageCopy to_texels = {color, {0, 0, 0}, color, {0, 0, 0}, {30, 18, 1}};
    const VkImageCopy back = {color, {2, 1, 0}, color, {4, 8, 0}, {3, 2, 1}};
    const VkBufferImageCopy out = {.bufferOffset = 2048,
                                   .bufferRowLength = 16,
                                   .imageSubresource = color,
                                   .imageOffset = {4, 8, 0},
                                   .imageExtent = {12, 8, 1}};
    executed_begin(x, x->commands);
    executed_transition(x, x->commands, blocks.image, 1, VK_IMAGE_LAYOUT_UNDEFINED, general);
    executed_transition(x, x->commands, texels.image, 1, VK_IMAGE_LAYOUT_UNDEFINED, general);
    x->f.vkCmdCopyBufferToImage(x->commands, b.buffer, blocks.image, general, 1, &in);
    executed_barrier(x, x->commands);
    x->f.vkCmdCopyImage(x->commands, blocks.image, general, texels.image, general, 1, &to_texels);
    executed_barrier(x, x->commands);
    x->f.vkCmdCopyImage(x->commands, texels.image, general, blocks.image, general, 1, &back);
    executed_barrier(x, x->commands);
    x->f.vkCmdCopyImageToBuffer(x->commands, blocks.image, general, b.buffer, 1, &out);
    executed_submit(x, x->commands);
    for (uint32_t y = 0; y < 2; y++) {
        /* Rows of 8 blocks; the copy moved blocks (2, 1) to (1, 2). */
        assert_memory_equal(b.bytes + 2048 + y * 64, b.bytes + ((1 + y) * 8 + 2) * 16, 48);
    }
    executed_free_image(x, &blocks);
    executed_free_image(x, &texels);
    executed_free_buffer(x, &b);
    expect_good(x);
}

static void slices_of_volumes_are_layers_elsewhere(void** state)
{
    const struct executed* x = *state;
    VkImageCreateInfo info = fixture_image_info(VK_FORMAT_R8_UINT, 4, 4);
    info.usage = transfers;
    info.arrayLayers = 4;
    const struct executed_image layers = executed_image(x, &info);
    info.arrayLayers = 1;
    info.imageType = VK_IMAGE_TYPE_3D;
    info.extent.depth = 6;
    const struct executed_image volume = executed_image(x, &info);
    const struct executed_buffer b = executed_buffer(x, 1, 256);
    executed_fill_bytes(b.bytes, 128, 6);
    const VkBufferImageCopy in = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                  .imageExtent = {4, 4, 6}};
    const VkImageCopy across = {{VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                {0, 0, 2},
                                {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 3},
                                {0, 0, 0},
                                {4, 4, 3}};
    const VkBufferImageCopy out = {.bufferOffset = 128,
                                   .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 3},
                                   .imageExtent = {4, 4, 1}};
    executed_begin(x, x->commands);
    executed_transition(x, x->commands, layers.image, 1, VK_IMAGE_LAYOUT_UNDEFINED, general);
    executed_transition(x, x->commands, volume.image, 1, VK_IMAGE_LAYOUT_UNDEFINED, general);
    x->f.vkCmdCopyBufferToImage(x->commands, b.buffer, volume.image, general, 1, &in);
    executed_barrier(x, x->commands);
    x->f.vkCmdCopyImage(x->commands, volume.image, general, layers.image, general, 1, &across);
    executed_barrier(x, x->commands);
    x->f.vkCmdCopyImageToBuffer(x->commands, layers.image, general, b.buffer, 1, &out);
    executed_submit(x, x->commands);
    assert_memory_equal(b.bytes + 128, b.bytes + 32, 48);
    executed_free_image(x, &layers);
    executed_free_image(x, &volume);
    executed_free_buffer(x, &b);
    expect_good(x);
}

/* ---- clears ---- */

static void expect_clear(const struct executed* x, VkFormat format, VkClearColorValue value,
                         uint32_t size, const void* expected)
{
    VkImageCreateInfo info = fixture_image_info(format, 5, 3);
    info.usage = transfers;
    info.mipLevels = 2;
    const struct executed_image image = executed_image(x, &info);
    const struct executed_buffer b = executed_buffer(x, 1, 4096);
    const VkImageSubresourceRange range = {VK_IMAGE_ASPECT_COLOR_BIT, 1, VK_REMAINING_MIP_LEVELS, 0,
                                           VK_REMAINING_ARRAY_LAYERS};
    const VkBufferImageCopy out = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 1, 0, 1},
                                   .imageExtent = {2, 1, 1}};
    executed_begin(x, x->commands);
    executed_transition(x, x->commands, image.image, 1, VK_IMAGE_LAYOUT_UNDEFINED, general);
    x->f.vkCmdClearColorImage(x->commands, image.image, general, &value, 1, &range);
    executed_barrier(x, x->commands);
    x->f.vkCmdCopyImageToBuffer(x->commands, image.image, general, b.buffer, 1, &out);
    executed_submit(x, x->commands);
    assert_memory_equal(b.bytes, expected, size);
    assert_memory_equal(b.bytes + size, expected, size);
    executed_free_image(x, &image);
    executed_free_buffer(x, &b);
    expect_good(x);
}

static void clears_convert_their_value(void** state)
{
    const struct executed* x = *state;
    const VkClearColorValue unit = {.float32 = {1.0F, 0.5F, 0.0F, 0.25F}};
    const VkClearColorValue integers = {.uint32 = {0x12345678, 2, 3, 4}};
    expect_clear(x, VK_FORMAT_R8G8B8A8_UNORM, unit, 4, "\xFF\x80\x00\x40");
    expect_clear(x, VK_FORMAT_B8G8R8A8_UNORM, unit, 4, "\x00\x80\xFF\x40");
    expect_clear(x, VK_FORMAT_R8G8B8A8_SRGB, unit, 4, "\xFF\xBC\x00\x40");
    expect_clear(x, VK_FORMAT_R8G8_SNORM, unit, 2, "\x7F\x40");
    expect_clear(x, VK_FORMAT_R5G6B5_UNORM_PACK16, unit, 2, "\x00\xFC");
    expect_clear(x, VK_FORMAT_R16G16_SFLOAT, unit, 4, "\x00\x3C\x00\x38");
    expect_clear(x, VK_FORMAT_R32_SFLOAT, unit, 4, "\x00\x00\x80\x3F");
    expect_clear(x, VK_FORMAT_R32G32_UINT, integers, 8, "\x78\x56\x34\x12\x02\x00\x00\x00");
    expect_clear(x, VK_FORMAT_A2B10G10R10_UNORM_PACK32, unit, 4, "\xFF\x03\x08\x40");
    expect_clear(x, VK_FORMAT_B10G11R11_UFLOAT_PACK32, unit, 4, "\xC0\x03\x1C\x00");
    expect_clear(x, VK_FORMAT_E5B9G9R9_UFLOAT_PACK32, unit, 4, "\x00\x01\x01\x80");
}

static void clears_of_depth_and_stencil_stay_apart(void** state)
{
    const struct executed* x = *state;
    VkImageCreateInfo info = fixture_image_info(VK_FORMAT_D24_UNORM_S8_UINT, 3, 2);
    info.usage = transfers;
    const struct executed_image image = executed_image(x, &info);
    const struct executed_buffer b = executed_buffer(x, 1, 64);
    const VkImageAspectFlags both = VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
    VkImageSubresourceRange range = {both, 0, 1, 0, 1};
    const VkClearDepthStencilValue first = {1.0F, 7};
    const VkClearDepthStencilValue second = {0.0F, 9};
    VkBufferImageCopy out[] = {
        {.imageSubresource = {VK_IMAGE_ASPECT_DEPTH_BIT, 0, 0, 1}, .imageExtent = {3, 2, 1}},
        {.bufferOffset = 24,
         .imageSubresource = {VK_IMAGE_ASPECT_STENCIL_BIT, 0, 0, 1},
         .imageExtent = {3, 2, 1}}};
    executed_begin(x, x->commands);
    executed_transition(x, x->commands, image.image, both, VK_IMAGE_LAYOUT_UNDEFINED, general);
    x->f.vkCmdClearDepthStencilImage(x->commands, image.image, general, &first, 1, &range);
    range.aspectMask = VK_IMAGE_ASPECT_STENCIL_BIT;
    executed_barrier(x, x->commands);
    x->f.vkCmdClearDepthStencilImage(x->commands, image.image, general, &second, 1, &range);
    executed_barrier(x, x->commands);
    x->f.vkCmdCopyImageToBuffer(x->commands, image.image, general, b.buffer, 2, out);
    executed_submit(x, x->commands);
    for (uint32_t i = 0; i < 6; i++) {
        assert_memory_equal(b.bytes + 4 * i, "\xFF\xFF\xFF\x00", 4);
        assert_int_equal(b.bytes[24 + i], 9);
    }
    executed_free_image(x, &image);
    executed_free_buffer(x, &b);
    expect_good(x);
}

static void transitions_from_undefined_discard(void** state)
{
    const struct executed* x = *state;
    VkImageCreateInfo info = fixture_image_info(VK_FORMAT_R8G8B8A8_UNORM, 8, 8);
    info.usage = transfers;
    const struct executed_image image = executed_image(x, &info);
    const struct executed_buffer b = executed_buffer(x, 1, 256);
    const VkImageSubresourceRange range = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    const VkClearColorValue value = {.float32 = {1.0F, 1.0F, 1.0F, 1.0F}};
    const VkBufferImageCopy out = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                   .imageExtent = {8, 8, 1}};
    for (uint32_t discards = 0; discards < 2; discards++) {
        executed_begin(x, x->commands);
        executed_transition(x, x->commands, image.image, 1, VK_IMAGE_LAYOUT_UNDEFINED, general);
        x->f.vkCmdClearColorImage(x->commands, image.image, general, &value, 1, &range);
        executed_transition(x, x->commands, image.image, 1,
                            discards != 0 ? VK_IMAGE_LAYOUT_UNDEFINED : general,
                            VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
        x->f.vkCmdCopyImageToBuffer(x->commands, image.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                    b.buffer, 1, &out);
        executed_submit(x, x->commands);
        assert_int_equal(fixture_counters(&x->f).unwrittenReadBytes, discards != 0 ? 256 : 0);
        if (discards == 0) {
            assert_int_equal(b.bytes[255], 0xFF);
        }
    }
    executed_free_image(x, &image);
    executed_free_buffer(x, &b);
    expect_good(x);
}

/* ---- images with residency ---- */

/* Binds all that an image has, tail by tail and tile by tile, to memory in reverse. */
static VkDeviceMemory bind_whole(const struct executed* x, VkImage image,
                                 const VkImageCreateInfo* info)
{
    const struct simulated_fixture* f = &x->f;
    VkSparseImageMemoryRequirements requirements[3];
    VkMemoryRequirements whole;
    uint32_t count = 3;
    f->vkGetImageSparseMemoryRequirements(f->device, image, &count, requirements);
    f->vkGetImageMemoryRequirements(f->device, image, &whole);
    const VkDeviceMemory memory = fixture_memory(f, 0, whole.size);
    VkDeviceSize left = whole.size;
    for (uint32_t r = 0; r < count; r++) {
        const VkSparseImageMemoryRequirements* q = &requirements[r];
        const bool single =
            (q->formatProperties.flags & VK_SPARSE_IMAGE_FORMAT_SINGLE_MIPTAIL_BIT) != 0;
        for (uint32_t layer = 0; layer < info->arrayLayers; layer++) {
            for (uint32_t level = 0; level < q->imageMipTailFirstLod; level++) {
                const VkExtent3D tile = q->formatProperties.imageGranularity;
                const VkExtent3D extent = {level_of(info->extent.width, level),
                                           level_of(info->extent.height, level),
                                           level_of(info->extent.depth, level)};
                const VkDeviceSize bytes =
                    (VkDeviceSize)whole.alignment * in_blocks(extent.width, tile.width) *
                    in_blocks(extent.height, tile.height) * in_blocks(extent.depth, tile.depth);
                left -= bytes;
                const VkSparseImageMemoryBind bind = {
                    .subresource = {q->formatProperties.aspectMask, level, layer},
                    .extent = extent,
                    .memory = memory,
                    .memoryOffset = left};
                const VkSparseImageMemoryBindInfo binds = {image, 1, &bind};
                const VkBindSparseInfo submit = {.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
                                                 .imageBindCount = 1,
                                                 .pImageBinds = &binds};
                assert_int_equal(f->vkQueueBindSparse(f->queue, 1, &submit, VK_NULL_HANDLE),
                                 VK_SUCCESS);
            }
            if (q->imageMipTailSize == 0 || (single && layer != 0)) {
                continue;
            }
            left -= q->imageMipTailSize;
            const VkSparseMemoryBind bind = {.resourceOffset = q->imageMipTailOffset +
                                                               q->imageMipTailStride * layer,
                                             .size = q->imageMipTailSize,
                                             .memory = memory,
                                             .memoryOffset = left};
            const VkSparseImageOpaqueMemoryBindInfo binds = {image, 1, &bind};
            const VkBindSparseInfo submit = {.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
                                             .imageOpaqueBindCount = 1,
                                             .pImageOpaqueBinds = &binds};
            assert_int_equal(f->vkQueueBindSparse(f->queue, 1, &submit, VK_NULL_HANDLE),
                             VK_SUCCESS);
        }
    }
    return memory;
}

static void tiles_and_tails_go_there_and_back(const struct executed* x,
                                              const struct texel_format* format, VkImageType type)
{
    VkBufferImageCopy regions[8];
    VkImageCreateInfo info = fixture_image_info(format->format, 300, 280);
    info.usage = transfers;
    info.flags = VK_IMAGE_CREATE_SPARSE_BINDING_BIT | VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT;
    info.imageType = type;
    info.mipLevels = 6;
    info.arrayLayers = 2;
    if (type == VK_IMAGE_TYPE_3D) {
        info.extent = (VkExtent3D){70, 60, 40};
        info.arrayLayers = 1;
    }
    const VkDeviceSize size = regions_of(format, &info, regions);
    const struct executed_buffer in = executed_buffer(x, 1, size);
    const struct executed_buffer out = executed_buffer(x, 1, size);
    const VkImage image = fixture_image(&x->f, &info);
    const VkDeviceMemory memory = bind_whole(x, image, &info);
    executed_fill_bytes(in.bytes, size, (uint32_t)format->format);
    executed_begin(x, x->commands);
    executed_transition(x, x->commands, image, whole_aspects(format), VK_IMAGE_LAYOUT_UNDEFINED,
                        general);
    x->f.vkCmdCopyBufferToImage(x->commands, in.buffer, image, general, info.mipLevels, regions);
    executed_barrier(x, x->commands);
    x->f.vkCmdCopyImageToBuffer(x->commands, image, general, out.buffer, info.mipLevels, regions);
    executed_submit(x, x->commands);
    keep_only(format, regions, info.mipLevels, info.arrayLayers, in.bytes, size);
    assert_memory_equal(in.bytes, out.bytes, (size_t)size);
    assert_int_equal(fixture_counters(&x->f).unboundReadBytes, 0);
    assert_int_equal(fixture_counters(&x->f).unwrittenReadBytes, 0);
    expect_good(x);
    x->f.vkDestroyImage(x->f.device, image, NULL);
    x->f.vkFreeMemory(x->f.device, memory, NULL);
    executed_free_buffer(x, &in);
    executed_free_buffer(x, &out);
}

static void images_with_residency_go_through_their_tiles(void** state)
{
    (void)state;
    static MaarSimulatedProfile profile;
    static struct executed x;
    for (int tail = 0; tail < 3; tail++) {
        executed_profile(&profile);
        profile.requirements.mipTail = (MaarSimulatedMipTail)tail;
        executed_open(&x, &profile, 0);
        for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
            const struct texel_format* format = &formats[i];
            const bool odd = format->bytes == 3 || format->bytes == 6 || format->bytes == 12 ||
                             format->format >= VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM;
            if (!odd) {
                tiles_and_tails_go_there_and_back(&x, format, VK_IMAGE_TYPE_2D);
            }
            if (!odd && format->block == 1 && format->aspect == VK_IMAGE_ASPECT_COLOR_BIT) {
                tiles_and_tails_go_there_and_back(&x, format, VK_IMAGE_TYPE_3D);
            }
        }
        x.f.vkDestroyCommandPool(x.f.device, x.pool, NULL);
        x.f.vkDestroyDevice(x.f.device, NULL);
        x.f.vkDestroyInstance(x.f.instance, NULL);
    }
}

static void regions_outside_an_image_are_seen(void** state)
{
    const struct executed* x = *state;
    VkImageCreateInfo info = fixture_image_info(VK_FORMAT_BC7_UNORM_BLOCK, 16, 16);
    info.usage = transfers;
    const struct executed_image image = executed_image(x, &info);
    const struct executed_buffer b = executed_buffer(x, 1, 256);
    VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                .imageOffset = {2, 0, 0},
                                .imageExtent = {4, 4, 1}};
    executed_begin(x, x->commands);
    executed_transition(x, x->commands, image.image, 1, VK_IMAGE_LAYOUT_UNDEFINED, general);
    x->f.vkCmdCopyBufferToImage(x->commands, b.buffer, image.image, general, 1, &region);
    region.imageOffset.x = 16;
    x->f.vkCmdCopyBufferToImage(x->commands, b.buffer, image.image, general, 1, &region);
    region.imageOffset.x = 0;
    region.bufferOffset = 256;
    x->f.vkCmdCopyBufferToImage(x->commands, b.buffer, image.image, general, 1, &region);
    region.bufferOffset = 0;
    region.imageSubresource.mipLevel = 1;
    x->f.vkCmdCopyBufferToImage(x->commands, b.buffer, image.image, general, 1, &region);
    executed_submit(x, x->commands);
    fixture_expect(&x->f, MAAR_SIMULATED_VIOLATION_ARGUMENT, 4);
    executed_free_image(x, &image);
    executed_free_buffer(x, &b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, executed_setup, executed_teardown)
        CASE(every_format_goes_there_and_back),
        CASE(planes_may_lie_apart),
        CASE(linear_images_lie_as_their_layout_says),
        CASE(optimal_images_do_not_lie_row_by_row),
        CASE(copies_between_blocks_and_texels_count_in_blocks),
        CASE(slices_of_volumes_are_layers_elsewhere),
        CASE(clears_convert_their_value),
        CASE(clears_of_depth_and_stencil_stay_apart),
        CASE(transitions_from_undefined_discard),
        CASE(regions_outside_an_image_are_seen),
#undef CASE
        cmocka_unit_test(images_with_residency_go_through_their_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
