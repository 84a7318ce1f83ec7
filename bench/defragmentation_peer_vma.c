/*
 * VulkanMemoryAllocator in the benchmark of defragmentation, with each of its general algorithms.
 */
#include "bench/bench_common.h"
#include "bench/defragmentation_peer.h"
#include "bench/vma_name.h"

#include <vk_mem_alloc.h>

static VmaPool pool;

static void create_pool(void* allocator, VkDeviceSize block_size)
{
    const VmaAllocationCreateInfo how = {.requiredFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT};
    VmaPoolCreateInfo info = {.blockSize = block_size};
    bench_expect(vmaFindMemoryTypeIndex(allocator, UINT32_MAX, &how, &info.memoryTypeIndex),
                 "vmaFindMemoryTypeIndex");
    bench_expect(vmaCreatePool(allocator, &info, &pool), "vmaCreatePool");
}

static void destroy_pool(void* allocator)
{
    vmaDestroyPool(allocator, pool);
}

static bool allocate(void* allocator, VkDeviceSize size, VkDeviceSize alignment,
                     struct allocator_item* item)
{
    const VkMemoryRequirements requirements = {
        .size = size, .alignment = alignment, .memoryTypeBits = UINT32_MAX};
    const VmaAllocationCreateInfo how = {.pool = pool};
    VmaAllocation allocation = VK_NULL_HANDLE;
    const VkResult result = vmaAllocateMemory(allocator, &requirements, &how, &allocation, NULL);
    item->allocation.pointer = allocation;
    return result == VK_SUCCESS;
}

/* Sums up the bytes of a pass. */
static uint64_t sum_bytes(VmaAllocator allocator, const VmaDefragmentationPassMoveInfo* pass)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < pass->moveCount; ++i) {
        VmaAllocationInfo info;
        vmaGetAllocationInfo(allocator, pass->pMoves[i].srcAllocation, &info);
        sum += info.size;
    }
    return sum;
}

/* Returns how many blocks of the pool are not empty. The library keeps one that is. */
static uint32_t count_used_blocks(VmaAllocator allocator, uint64_t block_size)
{
    VmaDetailedStatistics statistics;
    vmaCalculatePoolStatistics(allocator, pool, &statistics);
    return statistics.statistics.blockCount - (statistics.unusedRangeSizeMax == block_size);
}

/* What a run knows. */
struct vma_run {
    VmaAllocator allocator;
    uint64_t block_size;
    uint32_t used_blocks; /* at the begin */
    struct defragmentation_point point;
    struct defragmentation_curve* curve;
};

/* One pass. Returns whether there may be more. */
static bool pass_once(struct vma_run* run, VmaDefragmentationContext context)
{
    VmaDefragmentationPassMoveInfo pass = {0};
    double start = bench_thread_ns();
    VkResult result = vmaBeginDefragmentationPass(run->allocator, context, &pass);
    run->curve->cpu_ns += bench_thread_ns() - start;
    if (result != VK_INCOMPLETE) {
        return false;
    }
    const uint64_t moved = sum_bytes(run->allocator, &pass);
    run->point.moves += pass.moveCount;
    run->point.moved_bytes += moved;
    run->curve->extra_bytes = moved > run->curve->extra_bytes ? moved : run->curve->extra_bytes;
    run->curve->reserved_bytes = run->curve->extra_bytes;
    start = bench_thread_ns();
    result = vmaEndDefragmentationPass(run->allocator, context, &pass);
    run->curve->cpu_ns += bench_thread_ns() - start;
    const uint32_t used = count_used_blocks(run->allocator, run->block_size);
    run->point.released = used < run->used_blocks ? run->used_blocks - used : 0;
    defragmentation_note(run->curve, run->point);
    return result == VK_INCOMPLETE;
}

/* A run of the library ends when it finds nothing to move, which may differ for the next run. So
 * further runs follow as long as one of them has moved something. */
static void run_often(VmaAllocator allocator, VmaDefragmentationFlags flags,
                      const struct defragmentation_heap* heap,
                      const struct defragmentation_limits* limits,
                      struct defragmentation_curve* curve)
{
    enum { MOST_RUNS = 4 };
    const VmaDefragmentationInfo info = {
        .flags = flags,
        .pool = pool,
        .maxBytesPerPass = limits->pass_bytes,
        .maxAllocationsPerPass = limits->pass_moves,
    };
    struct vma_run run = {
        .allocator = allocator,
        .block_size = heap->block_size,
        .used_blocks = count_used_blocks(allocator, heap->block_size),
        .curve = curve,
    };
    uint32_t moves = UINT32_MAX;
    for (uint32_t i = 0; i < MOST_RUNS && moves != run.point.moves; ++i) {
        VmaDefragmentationContext context = VK_NULL_HANDLE;
        moves = run.point.moves;
        bench_expect(vmaBeginDefragmentation(allocator, &info, &context),
                     "vmaBeginDefragmentation");
        while (pass_once(&run, context)) {
        }
        vmaEndDefragmentation(allocator, context, NULL);
    }
}

static void run_fast(void* allocator, const struct defragmentation_heap* heap,
                     const struct defragmentation_limits* limits,
                     struct defragmentation_curve* curve)
{
    run_often(allocator, VMA_DEFRAGMENTATION_FLAG_ALGORITHM_FAST_BIT, heap, limits, curve);
}

static void run_balanced(void* allocator, const struct defragmentation_heap* heap,
                         const struct defragmentation_limits* limits,
                         struct defragmentation_curve* curve)
{
    run_often(allocator, VMA_DEFRAGMENTATION_FLAG_ALGORITHM_BALANCED_BIT, heap, limits, curve);
}

static void run_full(void* allocator, const struct defragmentation_heap* heap,
                     const struct defragmentation_limits* limits,
                     struct defragmentation_curve* curve)
{
    run_often(allocator, VMA_DEFRAGMENTATION_FLAG_ALGORITHM_FULL_BIT, heap, limits, curve);
}

const struct defragmentation_peer defragmentation_peer_vma_fast = {
    .name = VMA_NAME(" fast"),
    .rebuilds = VMA_ON_REQUEST,
    .allocator = &allocator_peer_vma,
    .create_pool = create_pool,
    .destroy_pool = destroy_pool,
    .allocate = allocate,
    .run = run_fast,
};
const struct defragmentation_peer defragmentation_peer_vma_balanced = {
    .name = VMA_NAME(" balanced"),
    .rebuilds = VMA_ON_REQUEST,
    .allocator = &allocator_peer_vma,
    .create_pool = create_pool,
    .destroy_pool = destroy_pool,
    .allocate = allocate,
    .run = run_balanced,
};
const struct defragmentation_peer defragmentation_peer_vma_full = {
    .name = VMA_NAME(" full"),
    .rebuilds = VMA_ON_REQUEST,
    .allocator = &allocator_peer_vma,
    .create_pool = create_pool,
    .destroy_pool = destroy_pool,
    .allocate = allocate,
    .run = run_full,
};
