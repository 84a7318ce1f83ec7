/*
 * The pools, submissions and sums of the sparse strategy; see tool_sparse.h.
 */
#include "tool_sparse.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The events between two submissions of recorded binds: as many as in a frame of a game. */
#define EVENTS_PER_SUBMISSION 64u

struct tool_sparse {
    MaarAllocator allocator;
    pthread_mutex_t mutex; /* guards the creation of pools */
    MaarPool pools[VK_MAX_MEMORY_TYPES];
    atomic_uint events; /* since the last submission */
    _Atomic uint64_t live_bytes;
    _Atomic uint64_t peak_bytes;
};

bool tool_sparse_is_possible(const struct tool_device* tool)
{
    const MaarDeviceRecommendation* const advice = tool->recommendation;
    return advice->features.features.sparseBinding == VK_TRUE &&
           advice->timelineSemaphore.timelineSemaphore == VK_TRUE &&
           advice->sparseQueueFamily != UINT32_MAX;
}

struct tool_sparse* tool_sparse_create(MaarAllocator allocator)
{
    struct tool_sparse* const sparse = calloc(1, sizeof(*sparse));
    if (sparse != NULL) {
        sparse->allocator = allocator;
        pthread_mutex_init(&sparse->mutex, NULL);
    }
    return sparse;
}

void tool_sparse_destroy(struct tool_sparse* sparse)
{
    if (sparse == NULL) {
        return;
    }
    for (uint32_t i = 0; i < VK_MAX_MEMORY_TYPES; ++i) {
        if (sparse->pools[i] != VK_NULL_HANDLE) {
            maarDestroyPool(sparse->allocator, sparse->pools[i]);
        }
    }
    pthread_mutex_destroy(&sparse->mutex);
    free(sparse);
}

VkResult tool_sparse_pool(struct tool_sparse* sparse, uint32_t type, MaarPool* pool)
{
    VkResult result = VK_SUCCESS;
    pthread_mutex_lock(&sparse->mutex);
    if (sparse->pools[type] == VK_NULL_HANDLE) {
        const MaarPoolPagingInfo paging = {
            .sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
            .stitch = VK_TRUE,
        };
        const MaarPoolCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
            .pNext = &paging,
            .memoryTypeIndex = type,
            .pName = "sparse",
        };
        result = maarCreatePool(sparse->allocator, &info, &sparse->pools[type]);
    }
    *pool = sparse->pools[type];
    pthread_mutex_unlock(&sparse->mutex);
    return result;
}

VkResult tool_sparse_submit(struct tool_sparse* sparse, MaarPoint* point)
{
    atomic_store(&sparse->events, 0);
    return maarSubmitBinds(sparse->allocator, 0, NULL, point);
}

VkResult tool_sparse_note_event(struct tool_sparse* sparse, bool is_frame)
{
    const unsigned events = atomic_fetch_add(&sparse->events, 1) + 1;
    return is_frame || events >= EVENTS_PER_SUBMISSION ? tool_sparse_submit(sparse, NULL)
                                                       : VK_SUCCESS;
}

static bool read_runs(struct tool_sparse* sparse, MaarAllocation allocation,
                      struct tool_page_runs* out)
{
    *out = (struct tool_page_runs){.count = 0};
    uint32_t count = 0;
    if (maarEnumerateAllocationPages(sparse->allocator, allocation, &count, NULL) != VK_SUCCESS) {
        return false;
    }
    if (count == 0) {
        return true;
    }
    out->runs = calloc(count, sizeof(*out->runs));
    if (out->runs == NULL || maarEnumerateAllocationPages(sparse->allocator, allocation, &count,
                                                          out->runs) != VK_SUCCESS) {
        free(out->runs);
        out->runs = NULL;
        return false;
    }
    out->count = count;
    return true;
}

bool tool_sparse_enter(struct tool_sparse* sparse, MaarAllocation allocation,
                       struct tool_page_runs* out)
{
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    if (!read_runs(sparse, allocation, out) ||
        maarGetAllocationInfo(sparse->allocator, allocation, &info) != VK_SUCCESS) {
        return false;
    }
    out->counted = out->count == 0 ? info.size : 0;
    for (uint32_t i = 0; i < out->count; ++i) {
        out->counted += out->runs[i].size;
    }
    const uint64_t live = atomic_fetch_add(&sparse->live_bytes, out->counted) + out->counted;
    uint64_t peak = atomic_load(&sparse->peak_bytes);
    while (peak < live && !atomic_compare_exchange_weak(&sparse->peak_bytes, &peak, live)) {
    }
    return true;
}

bool tool_sparse_is_unmoved(struct tool_sparse* sparse, MaarAllocation allocation,
                            const struct tool_page_runs* runs)
{
    struct tool_page_runs now;
    bool same = read_runs(sparse, allocation, &now) && now.count == runs->count;
    for (uint32_t i = 0; i < runs->count && same; ++i) {
        same = now.runs[i].offset == runs->runs[i].offset &&
               now.runs[i].size == runs->runs[i].size &&
               now.runs[i].memory == runs->runs[i].memory &&
               now.runs[i].memoryOffset == runs->runs[i].memoryOffset;
    }
    free(now.runs);
    return same;
}

void tool_sparse_leave(struct tool_sparse* sparse, struct tool_page_runs* runs)
{
    atomic_fetch_sub(&sparse->live_bytes, runs->counted);
    free(runs->runs);
    free(runs->nodes);
    *runs = (struct tool_page_runs){.count = 0};
}

VkDeviceSize tool_sparse_block_size(struct tool_sparse* sparse, uint64_t block_id)
{
    uint32_t count = 0;
    VkDeviceSize size = 0;
    maarEnumerateBlocks(sparse->allocator, VK_NULL_HANDLE, &count, NULL);
    MaarBlockInfo* const blocks = calloc((size_t)count + 1, sizeof(*blocks));
    for (uint32_t i = 0; blocks != NULL && i < count; ++i) {
        blocks[i].sType = MAAR_STRUCTURE_TYPE_BLOCK_INFO;
    }
    if (blocks != NULL &&
        maarEnumerateBlocks(sparse->allocator, VK_NULL_HANDLE, &count, blocks) >= VK_SUCCESS) {
        for (uint32_t i = 0; i < count; ++i) {
            size = blocks[i].blockId == block_id ? blocks[i].size : size;
        }
    }
    free(blocks);
    return size;
}

void tool_sparse_report(struct tool_sparse* sparse, struct tool_outcome* outcome)
{
    MaarPagingStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    maarGetPagingStatistics(sparse->allocator, &statistics);
    outcome->sparse = true;
    outcome->peak_page_rounded_live_bytes = atomic_load(&sparse->peak_bytes);
    outcome->stitched_allocations = statistics.stitchedMade;
    outcome->pages_bound = statistics.pagesBound;
    outcome->binds = statistics.bindCount;
    outcome->bind_submissions = statistics.submissionCount;
}
