/*
 * VulkanMemoryAllocator in the benchmark of defragmentation, with each of its general algorithms.
 */
#include "bench/bench_common.h"
#include "bench/defragmentation_peer.h"

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

static void run(VmaAllocator allocator, VmaDefragmentationFlags flags,
                const struct allocator_tally* tally, uint64_t pass_bytes,
                struct defragmentation_curve* curve)
{
    const VmaDefragmentationInfo info = {
        .flags = flags, .pool = pool, .maxBytesPerPass = pass_bytes};
    VmaDefragmentationContext context = VK_NULL_HANDLE;
    const uint64_t blocks = atomic_load(&tally->blocks);
    const uint64_t bytes = atomic_load(&tally->bytes);
    struct defragmentation_point point = {0};
    double start = bench_thread_ns();
    bench_expect(vmaBeginDefragmentation(allocator, &info, &context), "vmaBeginDefragmentation");
    VkResult result = VK_INCOMPLETE;
    while (result == VK_INCOMPLETE) {
        VmaDefragmentationPassMoveInfo pass = {0};
        result = vmaBeginDefragmentationPass(allocator, context, &pass);
        if (result != VK_INCOMPLETE) {
            break;
        }
        curve->cpu_ns += bench_thread_ns() - start;
        const uint64_t moved = sum_bytes(allocator, &pass);
        point.moves += pass.moveCount;
        point.moved_bytes += moved;
        curve->extra_bytes = moved > curve->extra_bytes ? moved : curve->extra_bytes;
        start = bench_thread_ns();
        result = vmaEndDefragmentationPass(allocator, context, &pass);
        point.released = (uint32_t)(blocks - atomic_load(&tally->blocks));
        point.released_bytes = bytes - atomic_load(&tally->bytes);
        curve->cpu_ns += bench_thread_ns() - start;
        defragmentation_note(curve, point);
        start = bench_thread_ns();
    }
    vmaEndDefragmentation(allocator, context, NULL);
    curve->cpu_ns += bench_thread_ns() - start;
}

static void run_fast(void* allocator, const struct allocator_tally* tally, uint64_t pass_bytes,
                     struct defragmentation_curve* curve)
{
    run(allocator, VMA_DEFRAGMENTATION_FLAG_ALGORITHM_FAST_BIT, tally, pass_bytes, curve);
}

static void run_balanced(void* allocator, const struct allocator_tally* tally, uint64_t pass_bytes,
                         struct defragmentation_curve* curve)
{
    run(allocator, VMA_DEFRAGMENTATION_FLAG_ALGORITHM_BALANCED_BIT, tally, pass_bytes, curve);
}

static void run_full(void* allocator, const struct allocator_tally* tally, uint64_t pass_bytes,
                     struct defragmentation_curve* curve)
{
    run(allocator, VMA_DEFRAGMENTATION_FLAG_ALGORITHM_FULL_BIT, tally, pass_bytes, curve);
}

const struct defragmentation_peer defragmentation_peer_vma_fast = {
    .name = "vma fast",
    .allocator = &allocator_peer_vma,
    .create_pool = create_pool,
    .destroy_pool = destroy_pool,
    .allocate = allocate,
    .run = run_fast,
};
const struct defragmentation_peer defragmentation_peer_vma_balanced = {
    .name = "vma balanced",
    .allocator = &allocator_peer_vma,
    .create_pool = create_pool,
    .destroy_pool = destroy_pool,
    .allocate = allocate,
    .run = run_balanced,
};
const struct defragmentation_peer defragmentation_peer_vma_full = {
    .name = "vma full",
    .allocator = &allocator_peer_vma,
    .create_pool = create_pool,
    .destroy_pool = destroy_pool,
    .allocate = allocate,
    .run = run_full,
};
