/*
 * Executes commands on images, block by block: a block of an image lies where sim_texel.c says, and
 * a row of a buffer's blocks lies together.
 */
#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_clear.h"
#include "backends/simulated/sim_execute.h"
#include "backends/simulated/sim_texel.h"

#include <string.h>

/* Blocks of a grid: where they begin, and how many there are along x, y and z. */
struct sim_blocks {
    VkExtent3D at, count;
};

static uint32_t sim_in_blocks(uint32_t texels, uint32_t block)
{
    return (texels + block - 1) / block;
}

/* Finds the blocks that hold a region of texels. Returns false if some lie outside. */
static bool sim_blocks_of(const struct sim_grid* grid, const VkOffset3D* offset,
                          const VkExtent3D* extent, struct sim_blocks* blocks)
{
    blocks->at = (VkExtent3D){(uint32_t)offset->x / grid->block_width,
                              (uint32_t)offset->y / grid->block_height, (uint32_t)offset->z};
    blocks->count = (VkExtent3D){sim_in_blocks(extent->width, grid->block_width),
                                 sim_in_blocks(extent->height, grid->block_height), extent->depth};
    const VkExtent3D* at = &blocks->at;
    const VkExtent3D* count = &blocks->count;
    return offset->x >= 0 && offset->y >= 0 && offset->z >= 0 && count->width != 0 &&
           count->height != 0 && count->depth != 0 &&
           (uint32_t)offset->x % grid->block_width == 0 &&
           (uint32_t)offset->y % grid->block_height == 0 && at->width < grid->columns &&
           count->width <= grid->columns - at->width && at->height < grid->rows &&
           count->height <= grid->rows - at->height && at->depth < grid->slices &&
           count->depth <= grid->slices - at->depth;
}

/* ---- what is read and written ---- */

static void sim_note_range(struct sim_execution* e, const struct sim_resource* image, uint32_t part,
                           VkDeviceSize at, VkDeviceSize size, bool writes)
{
    struct sim_place place = {image, part, at};
    for (VkDeviceSize left = size; left != 0;) {
        const struct sim_span span = sim_span_at(&place, left);
        if (span.memory != NULL) {
            sim_hazard_access(e->findings.hazard, span.memory, span.offset, span.size, writes);
        }
        place.at += span.size;
        left -= span.size;
    }
}

/* Has the accesses to one slice of some blocks checked, in the order in which they lie. */
static void sim_note_slice(struct sim_execution* e, const struct sim_resource* image,
                           const struct sim_grid* grid, const struct sim_blocks* blocks,
                           uint32_t slice, uint32_t sample, bool writes)
{
    const uint32_t end = blocks->at.height + blocks->count.height;
    uint32_t rows = 0;
    for (uint32_t y = blocks->at.height; y < end; y += rows) {
        rows = sim_grid_column(grid, y, end - y);
        for (uint32_t x = 0; x < blocks->count.width; x++) {
            /* The last block of a column lies first. */
            const VkExtent3D last = {blocks->at.width + x, y + rows - 1, slice};
            sim_note_range(e, image, grid->part, sim_grid_place(grid, last, sample),
                           (VkDeviceSize)(rows - 1) * grid->stride + grid->stored, writes);
        }
    }
}

static void sim_note_blocks(struct sim_execution* e, const struct sim_resource* image,
                            const struct sim_grid* grid, const struct sim_blocks* blocks,
                            bool writes)
{
    const uint32_t slices = e->findings.hazard != NULL ? blocks->count.depth : 0;
    for (uint32_t z = 0; z < slices; z++) {
        for (uint32_t s = 0; s < grid->samples; s++) {
            sim_note_slice(e, image, grid, blocks, blocks->at.depth + z, s, writes);
        }
    }
}

/* ---- between a buffer and an image ---- */

/* Copies one block. What the image does not keep is zero in the buffer. */
static void sim_copy_block(struct sim_execution* e, const struct sim_grid* grid,
                           const struct sim_place* image, const struct sim_place* buffer,
                           bool to_image)
{
    static const uint8_t zeros[SIM_LARGEST_BLOCK];
    if (to_image) {
        sim_copy_bytes(image, buffer, grid->stored, &e->findings);
        return;
    }
    sim_copy_bytes(buffer, image, grid->stored, &e->findings);
    if (grid->stored < grid->bytes) {
        struct sim_place rest = *buffer;
        rest.at += grid->stored;
        sim_write_bytes(&rest, zeros, grid->bytes - grid->stored, &e->findings);
    }
}

/* Copies one row of blocks. */
static void sim_copy_row(struct sim_execution* e, const struct sim_grid* grid,
                         const struct sim_resource* image, VkExtent3D at, uint32_t count,
                         const struct sim_place* row, bool to_image)
{
    struct sim_place buffer = *row;
    struct sim_place block = {image, grid->part, 0};
    if (grid->linear && grid->stride == grid->stored) {
        const VkDeviceSize size = (VkDeviceSize)count * grid->stored;
        block.at = sim_grid_place(grid, at, 0);
        sim_copy_bytes(to_image ? &block : &buffer, to_image ? &buffer : &block, size,
                       &e->findings);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        block.at = sim_grid_place(grid, at, 0);
        sim_copy_block(e, grid, &block, &buffer, to_image);
        buffer.at += grid->bytes;
        at.width++;
    }
}

/* The layout of a region in a buffer, in blocks. */
struct sim_buffer_rows {
    VkDeviceSize at;
    VkDeviceSize row, slice; /* bytes */
};

static struct sim_buffer_rows sim_rows_of(const struct sim_grid* grid, const VkBufferImageCopy* r)
{
    const uint32_t width = r->bufferRowLength != 0 ? r->bufferRowLength : r->imageExtent.width;
    const uint32_t height =
        r->bufferImageHeight != 0 ? r->bufferImageHeight : r->imageExtent.height;
    struct sim_buffer_rows rows = {.at = r->bufferOffset};
    rows.row = (VkDeviceSize)sim_in_blocks(width, grid->block_width) * grid->bytes;
    rows.slice = rows.row * sim_in_blocks(height, grid->block_height);
    return rows;
}

static void sim_execute_region(struct sim_execution* e, const struct sim_resource* buffer,
                               const struct sim_resource* image, const VkBufferImageCopy* r,
                               bool to_image)
{
    const VkImageSubresourceLayers* layers = &r->imageSubresource;
    for (uint32_t layer = 0; layer < layers->layerCount; layer++) {
        struct sim_grid grid;
        struct sim_blocks blocks;
        if (!sim_grid_of(image, layers->aspectMask, layers->mipLevel,
                         layers->baseArrayLayer + layer, &grid) ||
            !sim_blocks_of(&grid, &r->imageOffset, &r->imageExtent, &blocks)) {
            sim_execution_outside(e, "image, or not at whole blocks");
            return;
        }
        sim_note_blocks(e, image, &grid, &blocks, to_image);
        const struct sim_buffer_rows rows = sim_rows_of(&grid, r);
        const VkDeviceSize row_bytes = (VkDeviceSize)blocks.count.width * grid.bytes;
        for (uint32_t z = 0; z < blocks.count.depth; z++) {
            for (uint32_t y = 0; y < blocks.count.height; y++) {
                const VkDeviceSize slice = (VkDeviceSize)layer * blocks.count.depth + z;
                const struct sim_place row = {buffer, 0,
                                              rows.at + slice * rows.slice + y * rows.row};
                if (!sim_buffer_has(buffer, row.at, row_bytes)) {
                    sim_execution_outside(e, "buffer");
                    return;
                }
                const VkExtent3D at = {blocks.at.width, blocks.at.height + y, blocks.at.depth + z};
                sim_copy_row(e, &grid, image, at, blocks.count.width, &row, to_image);
            }
        }
    }
}

/* Returns the range of one level. */
static VkImageSubresourceRange sim_layers_range(const VkImageSubresourceLayers* layers)
{
    return (VkImageSubresourceRange){layers->aspectMask, layers->mipLevel, 1,
                                     layers->baseArrayLayer, layers->layerCount};
}

void sim_execute_buffer_image(struct sim_execution* e, const struct sim_op_copy_buffer_image* op)
{
    struct sim_hazard* hazard = e->findings.hazard;
    struct sim_resource* buffer = sim_execution_resource(e, op->buffer, SIM_KIND_BUFFER);
    struct sim_resource* image = sim_execution_resource(e, op->image, SIM_KIND_IMAGE);
    if (buffer != NULL && image != NULL) {
        sim_owner_use(hazard, op->to_image ? buffer : image, true);
        sim_owner_use(hazard, op->to_image ? image : buffer, false);
    }
    for (uint32_t i = 0; buffer != NULL && image != NULL && i < op->count; i++) {
        const VkImageSubresourceRange range = sim_layers_range(&op->regions[i].imageSubresource);
        sim_layout_check(hazard, image, &range, op->layout, op->to_image);
        sim_execute_region(e, buffer, image, &op->regions[i], op->to_image);
    }
}

/* ---- between images ---- */

/* A slice of a region: one slice of a 3D image, or one layer of another. */
static bool sim_slice_of(const struct sim_resource* image, const VkImageSubresourceLayers* layers,
                         VkImageAspectFlags aspect, const VkOffset3D* offset, uint32_t slice,
                         struct sim_grid* grid, VkOffset3D* at)
{
    const bool volume = image->type == VK_IMAGE_TYPE_3D;
    *at = *offset;
    at->z += volume ? (int32_t)slice : 0;
    return sim_grid_of(image, aspect, layers->mipLevel,
                       layers->baseArrayLayer + (volume ? 0 : slice), grid);
}

/* The two images of a copy, for one aspect of each. */
struct sim_image_pair {
    const struct sim_resource *from, *to;
    VkImageAspectFlags from_aspect, to_aspect;
};

static bool sim_copy_slice(struct sim_execution* e, const struct sim_image_pair* pair,
                           const VkImageCopy* r, uint32_t slice)
{
    struct sim_grid from;
    struct sim_grid to;
    struct sim_blocks in;
    struct sim_blocks out;
    VkOffset3D from_at;
    VkOffset3D to_at;
    const VkExtent3D flat = {r->extent.width, r->extent.height, 1};
    if (!sim_slice_of(pair->from, &r->srcSubresource, pair->from_aspect, &r->srcOffset, slice,
                      &from, &from_at) ||
        !sim_slice_of(pair->to, &r->dstSubresource, pair->to_aspect, &r->dstOffset, slice, &to,
                      &to_at) ||
        !sim_blocks_of(&from, &from_at, &flat, &in)) {
        return false;
    }
    /* The extent counts texels of the source. Blocks of the other image may have another size. */
    const VkExtent3D other = {in.count.width * to.block_width, in.count.height * to.block_height,
                              1};
    if (!sim_blocks_of(&to, &to_at, &other, &out) || from.stored != to.stored ||
        from.samples != to.samples) {
        return false;
    }
    sim_note_blocks(e, pair->from, &from, &in, false);
    sim_note_blocks(e, pair->to, &to, &out, true);
    for (uint32_t y = 0; y < in.count.height; y++) {
        for (uint32_t x = 0; x < in.count.width; x++) {
            for (uint32_t s = 0; s < from.samples; s++) {
                const VkExtent3D a = {in.at.width + x, in.at.height + y, in.at.depth};
                const VkExtent3D b = {out.at.width + x, out.at.height + y, out.at.depth};
                sim_copy_bytes(
                    &(struct sim_place){pair->to, to.part, sim_grid_place(&to, b, s)},
                    &(struct sim_place){pair->from, from.part, sim_grid_place(&from, a, s)},
                    from.stored, &e->findings);
            }
        }
    }
    return true;
}

static void sim_copy_region(struct sim_execution* e, const struct sim_image_pair* pair,
                            const VkImageCopy* r)
{
    const uint32_t layers = r->srcSubresource.layerCount > r->dstSubresource.layerCount
                                ? r->srcSubresource.layerCount
                                : r->dstSubresource.layerCount;
    const uint32_t slices = layers > r->extent.depth ? layers : r->extent.depth;
    for (uint32_t slice = 0; slice < slices; slice++) {
        if (!sim_copy_slice(e, pair, r, slice)) {
            sim_execution_outside(e, "image, or not at whole blocks of one size");
            return;
        }
    }
}

static bool sim_is_one_bit(VkFlags flags)
{
    return flags != 0 && (flags & (flags - 1)) == 0;
}

void sim_execute_copy_image(struct sim_execution* e, const struct sim_op_copy_image* op)
{
    struct sim_hazard* hazard = e->findings.hazard;
    struct sim_resource* in = sim_execution_resource(e, op->from, SIM_KIND_IMAGE);
    struct sim_resource* out = sim_execution_resource(e, op->to, SIM_KIND_IMAGE);
    struct sim_image_pair pair = {.from = in, .to = out};
    if (in != NULL && out != NULL) {
        sim_owner_use(hazard, in, true);
        sim_owner_use(hazard, out, false);
    }
    for (uint32_t i = 0; in != NULL && out != NULL && i < op->count; i++) {
        const VkImageCopy* r = &op->regions[i];
        const VkImageSubresourceRange read = sim_layers_range(&r->srcSubresource);
        const VkImageSubresourceRange written = sim_layers_range(&r->dstSubresource);
        sim_layout_check(hazard, in, &read, op->from_layout, false);
        sim_layout_check(hazard, out, &written, op->to_layout, true);
        const VkImageAspectFlags from = r->srcSubresource.aspectMask;
        const VkImageAspectFlags to = r->dstSubresource.aspectMask;
        if (sim_is_one_bit(from) && sim_is_one_bit(to)) {
            pair.from_aspect = from;
            pair.to_aspect = to;
            sim_copy_region(e, &pair, r);
            continue;
        }
        for (VkFlags left = from & to; left != 0; left &= left - 1) {
            pair.from_aspect = left & (~left + 1);
            pair.to_aspect = pair.from_aspect;
            sim_copy_region(e, &pair, r);
        }
    }
}

/* ---- whole subresources ---- */

/* What is done to each block of a subresource: a barrier is applied to it, or it is written, or,
 * where `block` is NULL, discarded. */
struct sim_stamp {
    struct sim_execution* e;
    const struct sim_resource* image;
    const struct sim_grid* grid;
    const uint8_t* block;
    const struct sim_barrier* barrier;
    bool moves; /* the barrier changes the layout */
};

/* Applies a barrier to bytes that lie together in an image. */
static void sim_stamp_barrier(const struct sim_stamp* stamp, VkDeviceSize at, VkDeviceSize size)
{
    struct sim_place place = {stamp->image, stamp->grid->part, at};
    for (VkDeviceSize left = size; left != 0;) {
        const struct sim_span span = sim_span_at(&place, left);
        if (span.memory != NULL) {
            sim_hazard_barrier(stamp->e->findings.hazard, stamp->barrier, span.memory, span.offset,
                               span.size, stamp->moves);
        }
        place.at += span.size;
        left -= span.size;
    }
}

/* Has a write of bytes that lie together checked. */
static void sim_stamp_note(const struct sim_stamp* stamp, VkDeviceSize at, VkDeviceSize size)
{
    const struct sim_grid* grid = stamp->grid;
    const bool whole = grid->stride == grid->stored;
    const VkDeviceSize step = whole ? size : grid->stride;
    for (VkDeviceSize done = 0; done < size; done += step) {
        sim_note_range(stamp->e, stamp->image, grid->part, at + done, whole ? size : grid->stored,
                       true);
    }
}

/* Stamps bytes that lie together. */
static void sim_stamp_range(const struct sim_stamp* stamp, VkDeviceSize at, VkDeviceSize size)
{
    const struct sim_grid* grid = stamp->grid;
    struct sim_place place = {stamp->image, grid->part, at};
    if (stamp->barrier != NULL && grid->stride == grid->stored) {
        sim_stamp_barrier(stamp, at, size);
        return;
    }
    if (stamp->block != NULL && stamp->e->findings.hazard != NULL) {
        sim_stamp_note(stamp, at, size);
    }
    if (stamp->block == NULL && grid->stride == grid->stored) {
        sim_discard_bytes(&place, size);
        return;
    }
    for (VkDeviceSize done = 0; done < size; done += grid->stride) {
        place.at = at + done;
        if (stamp->barrier != NULL) {
            sim_stamp_barrier(stamp, place.at, grid->stored);
        } else if (stamp->block == NULL) {
            sim_discard_bytes(&place, grid->stored);
        } else {
            sim_write_bytes(&place, stamp->block, grid->stored, &stamp->e->findings);
        }
    }
}

static void sim_stamp_grid(const struct sim_stamp* stamp)
{
    const struct sim_grid* grid = stamp->grid;
    if (grid->linear) {
        for (uint32_t row = 0; row < grid->rows * grid->slices; row++) {
            const VkExtent3D at = {0, row % grid->rows, row / grid->rows};
            sim_stamp_range(stamp, sim_grid_place(grid, at, 0),
                            (VkDeviceSize)grid->columns * grid->stride);
        }
    } else if (grid->page != 0) {
        const VkDeviceSize tiles =
            (VkDeviceSize)grid->tiles.width * grid->tiles.height * grid->tiles.depth;
        sim_stamp_range(stamp, grid->at, tiles * grid->page);
    } else {
        sim_stamp_range(stamp, grid->at,
                        (VkDeviceSize)grid->columns * grid->rows * grid->slices * grid->samples *
                            grid->stride);
    }
}

/* Replaces what stands for all remaining levels or layers, and checks the range. */
static bool sim_range_of(const struct sim_resource* image, const VkImageSubresourceRange* range,
                         VkImageSubresourceRange* found)
{
    *found = *range;
    if (range->baseMipLevel >= image->mips || range->baseArrayLayer >= image->layers) {
        return false;
    }
    const uint32_t levels = image->mips - range->baseMipLevel;
    const uint32_t layers = image->layers - range->baseArrayLayer;
    found->levelCount = range->levelCount == VK_REMAINING_MIP_LEVELS ? levels : range->levelCount;
    found->layerCount = range->layerCount == VK_REMAINING_ARRAY_LAYERS ? layers : range->layerCount;
    const VkImageAspectFlags aspects = sim_image_aspects(image);
    if (range->aspectMask == VK_IMAGE_ASPECT_COLOR_BIT && (aspects & VK_IMAGE_ASPECT_PLANE_0_BIT)) {
        found->aspectMask = aspects; /* the colour of an image with planes is all of them */
    }
    return found->levelCount <= levels && found->layerCount <= layers;
}

/* Returns the bytes of a clear's block for an aspect. */
static bool sim_clear_block(const struct sim_resource* image, VkImageAspectFlags aspect,
                            const VkClearValue* value, uint8_t block[SIM_LARGEST_BLOCK])
{
    if (aspect == VK_IMAGE_ASPECT_COLOR_BIT) {
        return sim_clear_color(image->format, &value->color, block);
    }
    if (aspect == VK_IMAGE_ASPECT_STENCIL_BIT) {
        block[0] = (uint8_t)value->depthStencil.stencil;
        return true;
    }
    sim_clear_depth(image->format, value->depthStencil.depth, block);
    return aspect == VK_IMAGE_ASPECT_DEPTH_BIT;
}

/* Stamps the subresources of a range that sim_range_of() has checked, with a clear's value if there
 * is one. */
static bool sim_stamp_subresources(struct sim_stamp* stamp, const VkImageSubresourceRange* all,
                                   const VkClearValue* value)
{
    uint8_t block[SIM_LARGEST_BLOCK];
    for (VkFlags left = all->aspectMask; left != 0; left &= left - 1) {
        const VkImageAspectFlags aspect = left & (~left + 1);
        if (value != NULL && !sim_clear_block(stamp->image, aspect, value, block)) {
            return false;
        }
        for (uint32_t i = 0; i < all->levelCount * all->layerCount; i++) {
            struct sim_grid grid;
            if (!sim_grid_of(stamp->image, aspect, all->baseMipLevel + i / all->layerCount,
                             all->baseArrayLayer + i % all->layerCount, &grid)) {
                return false;
            }
            stamp->grid = &grid;
            stamp->block = value != NULL ? block : NULL;
            sim_stamp_grid(stamp);
        }
    }
    return true;
}

void sim_execute_clear(struct sim_execution* e, const struct sim_op_clear* op)
{
    struct sim_resource* image = sim_execution_resource(e, op->image, SIM_KIND_IMAGE);
    if (image != NULL) {
        sim_owner_use(e->findings.hazard, image, false);
    }
    for (uint32_t i = 0; image != NULL && i < op->count; i++) {
        struct sim_stamp stamp = {.e = e, .image = image};
        VkImageSubresourceRange all;
        const bool good = sim_range_of(image, &op->ranges[i], &all);
        if (good) {
            sim_layout_check(e->findings.hazard, image, &all, op->layout, true);
        }
        if (!good || !sim_stamp_subresources(&stamp, &all, &op->value)) {
            sim_execution_outside(e, "image, or its format cannot be cleared");
        }
    }
}

void sim_execute_image_barrier(struct sim_execution* e, const struct sim_barrier* barrier)
{
    struct sim_hazard* hazard = e->findings.hazard;
    struct sim_resource* image = sim_execution_resource(e, barrier->resource, SIM_KIND_IMAGE);
    VkImageSubresourceRange all;
    if (image == NULL) {
        return;
    }
    if (!sim_range_of(image, &barrier->range, &all)) {
        sim_execution_outside(e, "image");
        return;
    }
    const bool releases = sim_owner_barrier(hazard, image, barrier);
    const bool moves = barrier->from_layout != barrier->to_layout && !releases;
    struct sim_stamp stamp = {.e = e, .image = image, .barrier = barrier, .moves = moves};
    if (hazard != NULL) {
        sim_stamp_subresources(&stamp, &all, NULL);
    }
    if (moves) {
        sim_layout_move(hazard, image, &all, barrier->from_layout, barrier->to_layout);
    }
    if (moves && barrier->from_layout == VK_IMAGE_LAYOUT_UNDEFINED) {
        stamp.barrier = NULL;
        sim_stamp_subresources(&stamp, &all, NULL);
    }
}
