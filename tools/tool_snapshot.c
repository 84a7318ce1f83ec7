/*
 * From the allocator's lists of blocks and ranges to a picture; see tool_snapshot.h.
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

static bool take_block(MaarAllocator allocator, const MaarBlockInfo* info,
                       tool_snapshot_describe describe, void* context,
                       struct support_picture_block* block)
{
    uint32_t count = 0;
    maarEnumerateBlockRanges(allocator, info->blockId, &count, NULL);
    MaarBlockRange* const ranges = calloc((size_t)count + 1, sizeof(*ranges));
    block->ranges = calloc((size_t)count + 1, sizeof(*block->ranges));
    if (ranges == NULL || block->ranges == NULL ||
        maarEnumerateBlockRanges(allocator, info->blockId, &count, ranges) != VK_SUCCESS) {
        free(ranges);
        return false;
    }
    block->range_count = count;
    for (uint32_t i = 0; i < count; ++i) {
        struct support_picture_range* const range = &block->ranges[i];
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
                        struct support_picture* picture)
{
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
        good = take_block(allocator, &infos[i], describe, context, block);
    }
    free(infos);
    return good;
}
