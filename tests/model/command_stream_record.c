/*
 * The commands of a stream. Each command declares what it reads and writes before it is recorded,
 * so that the barriers before it are those that it needs.
 */
#include "tests/model/command_stream.h"

#include <stdio.h>

#define PAGE ((VkDeviceSize)65536)

static uint32_t level_of(uint32_t extent, uint32_t level)
{
    return extent >> level != 0 ? extent >> level : 1;
}

static uint32_t in_blocks(uint32_t texels, uint32_t block)
{
    return (texels + block - 1) / block;
}

static VkDeviceSize round_up(VkDeviceSize value, VkDeviceSize to)
{
    return (value + to - 1) / to * to;
}

uint32_t stream_block_bytes(const struct stream_object* object, VkImageAspectFlags aspect)
{
    const bool second = aspect == VK_IMAGE_ASPECT_STENCIL_BIT && object->format->bytes > 1;
    return second ? 1 : object->format->bytes;
}

VkDeviceSize stream_level_region(const struct stream_object* object, VkImageAspectFlags aspect,
                                 uint32_t level, VkBufferImageCopy* region)
{
    const VkImageCreateInfo* info = &object->info;
    *region = (VkBufferImageCopy){
        .imageSubresource = {aspect, level, 0, info->arrayLayers},
        .imageExtent = {level_of(info->extent.width, level), level_of(info->extent.height, level),
                        level_of(info->extent.depth, level)},
    };
    const uint32_t block = object->format->block;
    return (VkDeviceSize)in_blocks(region->imageExtent.width, block) *
           in_blocks(region->imageExtent.height, block) * region->imageExtent.depth *
           info->arrayLayers * stream_block_bytes(object, aspect);
}

/* ---- barriers ---- */

static const VkAccessFlags writes_bit = VK_ACCESS_TRANSFER_WRITE_BIT;
static const VkAccessFlags both_bits = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;

static void image_barrier(struct stream* s, struct stream_object* o, VkImageLayout layout)
{
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = writes_bit,
        .dstAccessMask = both_bits,
        .oldLayout = o->layout,
        .newLayout = layout,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = o->image,
        .subresourceRange = {o->format->aspects, 0, VK_REMAINING_MIP_LEVELS, 0,
                             VK_REMAINING_ARRAY_LAYERS},
    };
    vkCmdPipelineBarrier(s->commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
    o->layout = layout;
}

static void buffer_barrier(struct stream* s, const struct stream_object* o)
{
    const VkBufferMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
        .srcAccessMask = writes_bit,
        .dstAccessMask = both_bits,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .buffer = o->buffer,
        .size = VK_WHOLE_SIZE,
    };
    vkCmdPipelineBarrier(s->commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 1, &barrier, 0, NULL);
}

static void global_barrier(struct stream* s)
{
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = writes_bit,
                                     .dstAccessMask = both_bits};
    vkCmdPipelineBarrier(s->commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
    for (uint32_t i = 0; i < s->object_count; ++i) {
        s->objects[i].read = false;
        s->objects[i].written = false;
    }
}

void stream_use(struct stream* s, uint32_t object, bool writes, VkImageLayout layout)
{
    struct stream_object* o = &s->objects[object];
    struct stream_object* root = &s->objects[o->root];
    const bool conflicts = root->written || (writes && root->read);
    const bool moves = o->kind == STREAM_IMAGE && o->layout != layout;
    s->waits |= 1u << root->writer;
    if (writes || moves) {
        s->waits |= root->readers;
        s->touched_written |= 1u << o->root;
    } else {
        s->touched_read |= 1u << o->root;
    }
    if (moves) {
        image_barrier(s, o, layout);
        root->read = false;
        root->written = false;
    } else if (conflicts && rig_below(&s->random, 2) == 0) {
        global_barrier(s);
    } else if (conflicts) {
        if (o->kind == STREAM_IMAGE) {
            image_barrier(s, o, layout);
        } else if (o->root != object || o->kind == STREAM_ALIAS || object == 0) {
            global_barrier(s); /* the other buffer may have been the one that was written */
        } else {
            buffer_barrier(s, o);
        }
        root->read = false;
        root->written = false;
    }
    root->read = root->read || !writes;
    root->written = root->written || writes;
}

/* Declares two uses of one command. A barrier for the second lies before both. */
static void use_two(struct stream* s, uint32_t read, VkImageLayout read_layout, uint32_t written,
                    VkImageLayout written_layout)
{
    stream_use(s, read, false, read_layout);
    stream_use(s, written, true, written_layout);
    s->objects[s->objects[read].root].read = true;
}

/* ---- the first contents ---- */

/* A value that every driver converts alike. */
static VkClearColorValue color_for(struct stream* s, VkFormat format)
{
    VkClearColorValue value;
    for (uint32_t c = 0; c < 4; ++c) {
        value.uint32[c] = rig_below(&s->random, 100);
    }
    const bool integers = format == VK_FORMAT_R8G8_UINT || format == VK_FORMAT_R8G8B8A8_SINT ||
                          format == VK_FORMAT_R32_UINT || format == VK_FORMAT_R32G32_UINT ||
                          format == VK_FORMAT_R32G32B32A32_UINT;
    for (uint32_t c = 0; c < 4 && !integers; ++c) {
        value.float32[c] = value.uint32[c] % 2 == 0 ? 1.0F : 0.0F;
    }
    return value;
}

static void clear_image(struct stream* s, struct stream_object* o,
                        const VkImageSubresourceRange* range)
{
    if (o->format->aspects == VK_IMAGE_ASPECT_COLOR_BIT) {
        const VkClearColorValue value = color_for(s, o->format->format);
        vkCmdClearColorImage(s->commands, o->image, o->layout, &value, 1, range);
    } else {
        const VkClearDepthStencilValue value = {rig_below(&s->random, 2) == 0 ? 0.5F : 1.0F,
                                                rig_below(&s->random, 256)};
        vkCmdClearDepthStencilImage(s->commands, o->image, o->layout, &value, 1, range);
    }
}

static void fill_image(struct stream* s, uint32_t index)
{
    struct stream_object* o = &s->objects[index];
    const VkImageSubresourceRange all = {o->format->aspects, 0, VK_REMAINING_MIP_LEVELS, 0,
                                         VK_REMAINING_ARRAY_LAYERS};
    stream_use(s, index, true, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    if (!o->format->uploaded) {
        clear_image(s, o, &all);
        return;
    }
    for (uint32_t level = 0; level < o->info.mipLevels; ++level) {
        VkBufferImageCopy region;
        stream_level_region(o, o->format->aspects, level, &region);
        region.bufferOffset = 16 * rig_below(&s->random, 512);
        vkCmdCopyBufferToImage(s->commands, s->source, o->image, o->layout, 1, &region);
    }
}

void stream_record_first(struct stream* s)
{
    for (uint32_t i = 0; i < s->object_count; ++i) {
        struct stream_object* o = &s->objects[i];
        if (o->kind == STREAM_IMAGE) {
            fill_image(s, i);
        } else if (o->kind != STREAM_ALIAS) {
            const VkBufferCopy copy = {4 * rig_below(&s->random, 512), 0, o->size};
            stream_use(s, i, true, VK_IMAGE_LAYOUT_UNDEFINED);
            vkCmdCopyBuffer(s->commands, s->source, o->buffer, 1, &copy);
        }
    }
    s->waits = 0;
}

/* ---- random commands ---- */

static bool pick(struct stream* s, bool image, uint32_t* index)
{
    for (uint32_t tries = 0; tries < 16; ++tries) {
        *index = rig_below(&s->random, s->object_count);
        if ((s->objects[*index].kind == STREAM_IMAGE) == image) {
            return true;
        }
    }
    return false;
}

static void record_fill(struct stream* s)
{
    uint32_t index = 0;
    if (!pick(s, false, &index)) {
        return;
    }
    const struct stream_object* o = &s->objects[index];
    const VkDeviceSize at = 4 * (VkDeviceSize)rig_below(&s->random, (uint32_t)(o->size / 4));
    const VkDeviceSize most = o->size - at < 8192 ? o->size - at : 8192;
    const VkDeviceSize size = 4 * (1 + (VkDeviceSize)rig_below(&s->random, (uint32_t)(most / 4)));
    stream_use(s, index, true, VK_IMAGE_LAYOUT_UNDEFINED);
    if (rig_below(&s->random, 2) == 0) {
        vkCmdFillBuffer(s->commands, o->buffer, at, size, rig_next(&s->random));
    } else {
        const VkDeviceSize bytes = size < 256 ? size : 256;
        vkCmdUpdateBuffer(s->commands, o->buffer, at, bytes, s->host + 4 * (size % 64));
    }
}

static void record_copy_buffer(struct stream* s)
{
    uint32_t from = 0;
    uint32_t to = 0;
    VkBufferCopy regions[3];
    if (!pick(s, false, &from) || !pick(s, false, &to) ||
        s->objects[from].root == s->objects[to].root) {
        return;
    }
    const VkDeviceSize in = s->objects[from].size;
    const VkDeviceSize out = s->objects[to].size;
    const uint32_t count = 1 + rig_below(&s->random, 3);
    const VkDeviceSize part = (in < out ? in : out) / 4;
    for (uint32_t i = 0; i < count; ++i) {
        const VkDeviceSize size = 1 + rig_below(&s->random, (uint32_t)(part < 9000 ? part : 9000));
        regions[i] = (VkBufferCopy){
            .srcOffset = rig_below(&s->random, (uint32_t)(in - size + 1)),
            .dstOffset = i * part + rig_below(&s->random, (uint32_t)(part - size + 1)),
            .size = size,
        };
    }
    use_two(s, from, VK_IMAGE_LAYOUT_UNDEFINED, to, VK_IMAGE_LAYOUT_UNDEFINED);
    vkCmdCopyBuffer(s->commands, s->objects[from].buffer, s->objects[to].buffer, count, regions);
}

/* A random part of one level along one dimension, at whole blocks or up to the end. */
static void choose_span(struct stream* s, uint32_t extent, uint32_t block, uint32_t most,
                        int32_t* offset, uint32_t* length)
{
    const uint32_t blocks = in_blocks(extent, block);
    const uint32_t first = rig_below(&s->random, blocks);
    const uint32_t left = blocks - first < most ? blocks - first : most;
    const uint32_t count = 1 + rig_below(&s->random, left);
    *offset = (int32_t)(first * block);
    *length = (first + count) * block > extent ? extent - first * block : count * block;
}

static VkImageAspectFlags choose_aspect(struct stream* s, const struct stream_object* o)
{
    const VkImageAspectFlags aspects = o->format->aspects;
    const VkImageAspectFlags stencil = VK_IMAGE_ASPECT_STENCIL_BIT;
    if ((aspects & stencil) != 0 && aspects != stencil) {
        return rig_below(&s->random, 2) == 0 ? stencil : VK_IMAGE_ASPECT_DEPTH_BIT;
    }
    return aspects;
}

static VkDeviceSize choose_region(struct stream* s, const struct stream_object* o,
                                  VkImageAspectFlags aspect, VkBufferImageCopy* r)
{
    const uint32_t most = 48;
    const uint32_t block = o->format->block;
    const uint32_t level = rig_below(&s->random, o->info.mipLevels);
    const uint32_t layer = rig_below(&s->random, o->info.arrayLayers);
    const uint32_t layers = 1 + rig_below(&s->random, o->info.arrayLayers - layer);
    *r = (VkBufferImageCopy){.imageSubresource = {aspect, level, layer, layers}};
    choose_span(s, level_of(o->info.extent.width, level), block, most, &r->imageOffset.x,
                &r->imageExtent.width);
    choose_span(s, level_of(o->info.extent.height, level), block, most, &r->imageOffset.y,
                &r->imageExtent.height);
    choose_span(s, level_of(o->info.extent.depth, level), 1, most, &r->imageOffset.z,
                &r->imageExtent.depth);
    uint32_t row = in_blocks(r->imageExtent.width, block);
    uint32_t rows = in_blocks(r->imageExtent.height, block);
    if (rig_below(&s->random, 2) == 0) {
        row += rig_below(&s->random, 4);
        rows += rig_below(&s->random, 3);
        r->bufferRowLength = row * block;
        r->bufferImageHeight = rows * block;
    }
    return (VkDeviceSize)row * rows * r->imageExtent.depth * layers * stream_block_bytes(o, aspect);
}

static void record_buffer_image(struct stream* s)
{
    uint32_t buffer = 0;
    uint32_t image = 0;
    VkBufferImageCopy region;
    if (!pick(s, false, &buffer) || !pick(s, true, &image)) {
        return;
    }
    const struct stream_object* b = &s->objects[buffer];
    const struct stream_object* o = &s->objects[image];
    const VkImageAspectFlags aspect = choose_aspect(s, o);
    const VkDeviceSize size = choose_region(s, o, aspect, &region);
    if (size > b->size) {
        return;
    }
    const VkDeviceSize steps = (b->size - size) / 16 + 1;
    region.bufferOffset = 16 * (VkDeviceSize)rig_below(&s->random, (uint32_t)steps);
    const bool valid = o->format->uploaded || aspect == VK_IMAGE_ASPECT_STENCIL_BIT;
    const bool uploads = valid && rig_below(&s->random, 2) == 0;
    const VkImageLayout general = VK_IMAGE_LAYOUT_GENERAL;
    const VkImageLayout layout = rig_below(&s->random, 2) == 0 ? general
                                 : uploads ? VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL
                                           : VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    if (uploads) {
        use_two(s, buffer, VK_IMAGE_LAYOUT_UNDEFINED, image, layout);
        vkCmdCopyBufferToImage(s->commands, b->buffer, o->image, layout, 1, &region);
    } else {
        use_two(s, image, layout, buffer, VK_IMAGE_LAYOUT_UNDEFINED);
        vkCmdCopyImageToBuffer(s->commands, o->image, layout, b->buffer, 1, &region);
    }
}

/* Copies the same number of blocks between two images whose blocks have one size. Depth and stencil
 * are copied together: lavapipe 25.0.7 copies the depth of small regions along with their stencil.
 */
static void record_copy_image(struct stream* s)
{
    uint32_t from = 0;
    uint32_t to = 0;
    VkBufferImageCopy in;
    VkBufferImageCopy out;
    if (!pick(s, true, &from) || !pick(s, true, &to) || from == to) {
        return;
    }
    const struct stream_object* a = &s->objects[from];
    const struct stream_object* b = &s->objects[to];
    const VkImageAspectFlags color = VK_IMAGE_ASPECT_COLOR_BIT;
    const bool same = a->format == b->format;
    if (!same && (a->format->aspects != color || b->format->aspects != color ||
                  a->format->bytes != b->format->bytes)) {
        return;
    }
    choose_region(s, a, a->format->aspects, &in);
    choose_region(s, b, b->format->aspects, &out);
    /* Whole blocks of both: a part that ends with its image may hold a broken block. */
    const uint32_t columns =
        in.imageExtent.width / a->format->block < out.imageExtent.width / b->format->block
            ? in.imageExtent.width / a->format->block
            : out.imageExtent.width / b->format->block;
    const uint32_t rows =
        in.imageExtent.height / a->format->block < out.imageExtent.height / b->format->block
            ? in.imageExtent.height / a->format->block
            : out.imageExtent.height / b->format->block;
    if (columns == 0 || rows == 0 || a->info.imageType != b->info.imageType) {
        return;
    }
    const uint32_t layers = in.imageSubresource.layerCount < out.imageSubresource.layerCount
                                ? in.imageSubresource.layerCount
                                : out.imageSubresource.layerCount;
    const uint32_t depth =
        in.imageExtent.depth < out.imageExtent.depth ? in.imageExtent.depth : out.imageExtent.depth;
    VkImageCopy region = {.srcSubresource = in.imageSubresource,
                          .srcOffset = in.imageOffset,
                          .dstSubresource = out.imageSubresource,
                          .dstOffset = out.imageOffset,
                          .extent = {columns * a->format->block, rows * a->format->block, depth}};
    region.srcSubresource.layerCount = layers;
    region.dstSubresource.layerCount = layers;
    use_two(s, from, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, to,
            VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    vkCmdCopyImage(s->commands, a->image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, b->image,
                   VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
}

static void record_clear(struct stream* s)
{
    uint32_t index = 0;
    if (!pick(s, true, &index) || !s->objects[index].format->cleared) {
        return;
    }
    struct stream_object* o = &s->objects[index];
    const uint32_t level = rig_below(&s->random, o->info.mipLevels);
    const uint32_t layer = rig_below(&s->random, o->info.arrayLayers);
    const bool rest = rig_below(&s->random, 2) == 0;
    const VkImageSubresourceRange range = {choose_aspect(s, o), level,
                                           rest ? VK_REMAINING_MIP_LEVELS : 1, layer,
                                           rest ? VK_REMAINING_ARRAY_LAYERS : 1};
    stream_use(s, index, true,
               rig_below(&s->random, 2) == 0 ? VK_IMAGE_LAYOUT_GENERAL
                                             : VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    clear_image(s, o, &range);
}

void stream_record_random(struct stream* s)
{
    const uint32_t count = 1 + rig_below(&s->random, 7);
    for (uint32_t i = 0; i < count; ++i) {
        switch (rig_below(&s->random, 8)) {
        case 0:
            record_fill(s);
            break;
        case 1:
        case 2:
            record_copy_buffer(s);
            break;
        case 3:
        case 4:
        case 5:
            record_buffer_image(s);
            break;
        case 6:
            record_copy_image(s);
            break;
        default:
            record_clear(s);
            break;
        }
    }
}

/* ---- reading back ---- */

/* Reads one object back. Leaves its bytes in the result, in place of the hash. */
static void read_back(struct stream* s, uint32_t index, VkDeviceSize* at,
                      struct stream_result* result)
{
    struct stream_object* o = &s->objects[index];
    VkDeviceSize size = 0;
    if (o->kind != STREAM_IMAGE) {
        const VkBufferCopy copy = {0, *at, o->size};
        stream_use(s, index, false, VK_IMAGE_LAYOUT_UNDEFINED);
        vkCmdCopyBuffer(s->commands, o->buffer, s->readback, 1, &copy);
        size = o->size;
        (void)snprintf(result->names[index], sizeof result->names[index], "buffer %u", index);
    } else {
        stream_use(s, index, false, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
        for (VkFlags left = o->format->aspects; left != 0; left &= left - 1) {
            const VkImageAspectFlags aspect = left & (~left + 1);
            for (uint32_t level = 0; level < o->info.mipLevels; ++level) {
                VkBufferImageCopy region;
                const VkDeviceSize bytes = stream_level_region(o, aspect, level, &region);
                region.bufferOffset = *at + size;
                vkCmdCopyImageToBuffer(s->commands, o->image, o->layout, s->readback, 1, &region);
                size += round_up(bytes, 16);
            }
        }
        (void)snprintf(result->names[index], sizeof result->names[index],
                       "image %u, format %d, %ux%ux%u", index, (int)o->format->format,
                       o->info.extent.width, o->info.extent.height, o->info.extent.depth);
    }
    result->hashes[index] = size;
    *at += round_up(size, 64);
}

void stream_record_last(struct stream* s, struct stream_result* result)
{
    VkDeviceSize at = 0;
    result->object_count = s->object_count;
    for (uint32_t i = 0; i < s->object_count; ++i) {
        read_back(s, i, &at, result);
    }
    assert_true(at <= (VkDeviceSize)2 << 20);
}
