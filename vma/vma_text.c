/*
 * Texts: the JSON of everything, and of a virtual block.
 */
#include "vma/vma_layer.h"
#include "vma/vma_usages.h"
#include "vma/vma_virtual.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Asks for the text until its size does not grow in between. */
VKAPI_ATTR void VKAPI_CALL maarVmaBuildStatsString(VmaAllocator allocator, char** ppText,
                                                   VkBool32 detailed)
{
    const MaarDumpUsageInfo usages = {.sType = MAAR_STRUCTURE_TYPE_DUMP_USAGE_INFO,
                                      .pfnUsage = maar_vma_usage_of,
                                      .pUserData = allocator};
    const MaarDumpInfo info = {.sType = MAAR_STRUCTURE_TYPE_DUMP_INFO,
                               .pNext = allocator->usages != NULL ? &usages : NULL,
                               .format = MAAR_DUMP_FORMAT_VMA,
                               .detailed = detailed};
    VkResult result = VK_INCOMPLETE;
    char* text = NULL;
    while (result == VK_INCOMPLETE) {
        size_t size = 0;
        maar_vma_host_free(allocator->callbacks, text);
        text = NULL;
        result = maarWriteDump(allocator->maar, &info, &size, NULL);
        if (result == VK_SUCCESS) {
            text = maar_vma_host_allocate(allocator->callbacks, size);
            result = text != NULL ? maarWriteDump(allocator->maar, &info, &size, text)
                                  : VK_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    if (result != VK_SUCCESS) {
        maar_vma_host_free(allocator->callbacks, text);
        text = NULL;
    }
    *ppText = text;
}

VKAPI_ATTR void VKAPI_CALL maarVmaFreeStatsString(VmaAllocator allocator, char* pText)
{
    maar_vma_host_free(allocator->callbacks, pText);
}

/* ---- virtual blocks ---- */

/* A text that is being written, or only counted where text is NULL. */
struct writing {
    char* text;
    size_t room;
    size_t length;
    bool first;
};

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
put(struct writing* to, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const size_t left = to->text != NULL ? to->room - to->length : 0;
    const int written =
        vsnprintf(to->text != NULL ? to->text + to->length : NULL, left, format, arguments);
    va_end(arguments);
    to->length += written > 0 ? (size_t)written : 0;
}

static void put_stretch(void* context, const struct maar_vma_stretch* stretch)
{
    struct writing* to = context;
    put(to, "%s\n      {\"Offset\": %" PRIu64 "%s, \"Size\": %" PRIu64, to->first ? "" : ",",
        (uint64_t)stretch->offset, stretch->live ? "" : ", \"Type\": \"FREE\"",
        (uint64_t)stretch->size);
    if (stretch->live && stretch->user_data != 0) {
        put(to, ", \"CustomData\": \"0x%" PRIx64 "\"", stretch->user_data);
    }
    put(to, "}");
    to->first = false;
}

static void put_block(VmaVirtualBlock block, bool detailed, struct writing* to)
{
    VmaDetailedStatistics details;
    maarVmaCalculateVirtualBlockStatistics(block, &details);
    put(to,
        "{\n  \"Stats\": {\n    \"BlockCount\": %u,\n    \"BlockBytes\": %" PRIu64
        ",\n    \"AllocationCount\": %u,\n    \"AllocationBytes\": %" PRIu64
        ",\n    \"UnusedRangeCount\": %u",
        details.statistics.blockCount, (uint64_t)details.statistics.blockBytes,
        details.statistics.allocationCount, (uint64_t)details.statistics.allocationBytes,
        details.unusedRangeCount);
    if (details.statistics.allocationCount > 1) {
        put(to, ",\n    \"AllocationSizeMin\": %" PRIu64 ",\n    \"AllocationSizeMax\": %" PRIu64,
            (uint64_t)details.allocationSizeMin, (uint64_t)details.allocationSizeMax);
    }
    if (details.unusedRangeCount > 1) {
        put(to, ",\n    \"UnusedRangeSizeMin\": %" PRIu64 ",\n    \"UnusedRangeSizeMax\": %" PRIu64,
            (uint64_t)details.unusedRangeSizeMin, (uint64_t)details.unusedRangeSizeMax);
    }
    put(to, "\n  }");
    if (detailed) {
        const VkDeviceSize unused =
            details.statistics.blockBytes - details.statistics.allocationBytes;
        put(to,
            ",\n  \"Details\": {\n    \"TotalBytes\": %" PRIu64 ",\n    \"UnusedBytes\": %" PRIu64
            ",\n    \"Allocations\": %u,\n    \"UnusedRanges\": %u,\n    \"Suballocations\": [",
            (uint64_t)details.statistics.blockBytes, (uint64_t)unused,
            details.statistics.allocationCount, details.unusedRangeCount);
        to->first = true;
        maar_vma_walk(block, put_stretch, to);
        put(to, "\n    ]\n  }");
    }
    put(to, "\n}\n");
}

VKAPI_ATTR void VKAPI_CALL maarVmaBuildVirtualBlockStatsString(VmaVirtualBlock block, char** ppText,
                                                               VkBool32 detailed)
{
    struct writing to = {.text = NULL};
    put_block(block, detailed == VK_TRUE, &to);
    to.room = to.length + 1;
    to.text = maar_vma_host_allocate(block->callbacks, to.room);
    to.length = 0;
    if (to.text != NULL) {
        put_block(block, detailed == VK_TRUE, &to);
    }
    *ppText = to.text;
}

VKAPI_ATTR void VKAPI_CALL maarVmaFreeVirtualBlockStatsString(VmaVirtualBlock block, char* pText)
{
    maar_vma_host_free(block->callbacks, pText);
}
