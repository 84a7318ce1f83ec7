/*
 * Makes a picture from the allocator's lists of blocks and ranges; see tool_snapshot.h.
 */
#include "tool_snapshot.h"

#include <stdlib.h>
#include <string.h>

static void describe_type(const struct tool_device* tool, uint32_t type, char* out, size_t size)
{
    static const struct {
        VkMemoryPropertyFlags flag;
        const char* name;
    } names[] = {
        {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, "device-local"},
        {VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT, "host-visible"},
        {VK_MEMORY_PROPERTY_HOST_CACHED_BIT, "cached"},
        {VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT, "lazy"},
    };
    const VkMemoryPropertyFlags flags = tool->memory.memoryTypes[type].propertyFlags;
    int written = snprintf(out, size, "type %u", type);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        if ((flags & names[i].flag) != 0 && written > 0 && (size_t)written < size) {
            written += snprintf(out + written, size - (size_t)written, " %s", names[i].name);
        }
    }
}

static enum support_picture_kind kind_of_range(MaarBlockRangeState state)
{
    switch (state) {
    case MAAR_BLOCK_RANGE_STATE_PENDING:
        return SUPPORT_PICTURE_PENDING;
    case MAAR_BLOCK_RANGE_STATE_PADDING:
        return SUPPORT_PICTURE_PADDING;
    case MAAR_BLOCK_RANGE_STATE_LIVE:
        return SUPPORT_PICTURE_OTHER;
    default:
        return SUPPORT_PICTURE_FREE;
    }
}

static int compare_runs(const void* a, const void* b)
{
    const struct tool_snapshot_run* const x = a;
    const struct tool_snapshot_run* const y = b;
    if (x->block_id != y->block_id) {
        return x->block_id < y->block_id ? -1 : 1;
    }
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Returns the index of a block's first run. */
static size_t find_runs(const struct tool_snapshot_runs* runs, uint64_t block_id)
{
    size_t low = 0;
    size_t high = runs->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (runs->runs[middle].block_id < block_id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Divides a range of used pages by owner. Returns the number of resulting ranges. */
static uint32_t divide_pages(const struct tool_snapshot_runs* runs, uint64_t block_id,
                             const MaarBlockRange* range, tool_snapshot_describe describe,
                             void* context, struct support_picture_range* out)
{
    uint32_t count = 0;
    const VkDeviceSize end = range->offset + range->size;
    for (size_t i = find_runs(runs, block_id); i < runs->count; ++i) {
        const struct tool_snapshot_run* const run = &runs->runs[i];
        if (run->block_id != block_id || run->offset >= end) {
            break;
        }
        if (run->offset >= range->offset) {
            struct support_picture_range* const part = &out[count++];
            part->offset = run->offset;
            part->size = run->size;
            part->kind = describe(context, run->user_data, part->label, sizeof(part->label));
        }
    }
    return count;
}

/* Returns the number of page runs in a block. */
static size_t count_runs(const struct tool_snapshot_runs* runs, uint64_t block_id)
{
    size_t at = runs != NULL ? find_runs(runs, block_id) : 0;
    const size_t first = at;
    while (runs != NULL && at < runs->count && runs->runs[at].block_id == block_id) {
        ++at;
    }
    return at - first;
}

static bool take_block(MaarAllocator allocator, const MaarBlockInfo* info,
                       tool_snapshot_describe describe, void* context,
                       const struct tool_snapshot_runs* runs, struct support_picture_block* block)
{
    const size_t run_count = count_runs(runs, info->blockId);
    uint32_t count = 0;
    maarEnumerateBlockRanges(allocator, info->blockId, &count, NULL);
    MaarBlockRange* const ranges = calloc((size_t)count + 1, sizeof(*ranges));
    block->ranges = calloc((size_t)count + run_count + 1, sizeof(*block->ranges));
    if (ranges == NULL || block->ranges == NULL ||
        maarEnumerateBlockRanges(allocator, info->blockId, &count, ranges) != VK_SUCCESS) {
        free(ranges);
        return false;
    }
    for (uint32_t i = 0; i < count; ++i) {
        struct support_picture_range* const range = &block->ranges[block->range_count];
        const uint32_t parts =
            run_count != 0 && ranges[i].state == MAAR_BLOCK_RANGE_STATE_LIVE
                ? divide_pages(runs, info->blockId, &ranges[i], describe, context, range)
                : 0;
        if (parts != 0) {
            block->range_count += parts;
            block->live += ranges[i].size;
            continue;
        }
        ++block->range_count;
        range->offset = ranges[i].offset;
        range->size = ranges[i].size;
        range->kind = kind_of_range(ranges[i].state);
        if (ranges[i].state == MAAR_BLOCK_RANGE_STATE_LIVE) {
            range->kind =
                describe(context, ranges[i].pUserData, range->label, sizeof(range->label));
            block->live += range->size;
        } else if (range->kind == SUPPORT_PICTURE_PADDING) {
            block->padding += range->size;
        } else if (range->kind == SUPPORT_PICTURE_PENDING) {
            block->pending += range->size;
        }
    }
    free(ranges);
    return true;
}

bool tool_snapshot_take(const struct tool_device* tool, MaarAllocator allocator,
                        tool_snapshot_describe describe, void* context,
                        struct tool_snapshot_runs* runs, struct support_picture* picture)
{
    if (runs != NULL && runs->count != 0) {
        qsort(runs->runs, runs->count, sizeof(*runs->runs), compare_runs);
    }
    uint32_t count = 0;
    if (maarEnumerateBlocks(allocator, VK_NULL_HANDLE, &count, NULL) != VK_SUCCESS) {
        return false;
    }
    MaarBlockInfo* const infos = calloc((size_t)count + 1, sizeof(*infos));
    picture->blocks = calloc((size_t)count + 1, sizeof(*picture->blocks));
    if (infos == NULL || picture->blocks == NULL) {
        free(infos);
        return false;
    }
    for (uint32_t i = 0; i < count; ++i) {
        infos[i].sType = MAAR_STRUCTURE_TYPE_BLOCK_INFO;
    }
    bool good = maarEnumerateBlocks(allocator, VK_NULL_HANDLE, &count, infos) == VK_SUCCESS;
    for (uint32_t i = 0; i < count && good; ++i) {
        struct support_picture_block* const block = &picture->blocks[picture->block_count++];
        block->id = infos[i].blockId;
        block->size = infos[i].size;
        block->dedicated = infos[i].dedicated == VK_TRUE;
        describe_type(tool, infos[i].memoryTypeIndex, block->label, sizeof(block->label));
        good = take_block(allocator, &infos[i], describe, context, runs, block);
    }
    free(infos);
    return good;
}
