/*
 * Maar in the benchmark of defragmentation.
 */
#include "bench/bench_common.h"
#include "bench/defragmentation_peer.h"

#include "maar/move.h"

static MaarPool pool;

static void create_pool(void* allocator, VkDeviceSize block_size)
{
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .requiredFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
    };
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    bench_expect(maarChooseMemoryType(allocator, UINT32_MAX, &how, &choice),
                 "maarChooseMemoryType");
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = choice.memoryTypeIndex,
        .blockSize = block_size,
        .retainedEmptySize = 1, /* as VulkanMemoryAllocator with minBlockCount 0 */
    };
    bench_expect(maarCreatePool(allocator, &info, &pool), "maarCreatePool");
}

static void destroy_pool(void* allocator)
{
    maarDestroyPool(allocator, pool);
}

static bool allocate(void* allocator, VkDeviceSize size, VkDeviceSize alignment,
                     struct allocator_item* item)
{
    const MaarMemoryRequest request = {
        .sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST,
        .requirements = {.size = size, .alignment = alignment, .memoryTypeBits = UINT32_MAX},
    };
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pool = pool,
    };
    return maarAllocateMemory(allocator, &request, &how, &item->allocation.maar) == VK_SUCCESS;
}

static void commit(MaarAllocator allocator, MaarMoveBatch batch,
                   struct defragmentation_point* point)
{
    uint32_t moved = 0;
    bench_expect(maarCommitMoves(allocator, batch, 0, NULL, &moved), "maarCommitMoves");
    point->moves += moved;
}

static void run(void* handle, const struct allocator_tally* tally, uint64_t pass_bytes,
                struct defragmentation_curve* curve)
{
    MaarAllocator const allocator = handle;
    const MaarDefragmentationBeginInfo begin = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO, .pool = pool};
    const MaarDefragmentationStepInfo limits = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO, .maxBytes = pass_bytes};
    MaarDefragmentation run = VK_NULL_HANDLE;
    const uint64_t blocks = atomic_load(&tally->blocks);
    const uint64_t bytes = atomic_load(&tally->bytes);
    struct defragmentation_point point = {0};
    double start = bench_thread_ns();
    bench_expect(maarBeginDefragmentation(allocator, &begin, &run), "maarBeginDefragmentation");
    for (;;) {
        MaarMoveBatch batch = VK_NULL_HANDLE;
        MaarDefragmentationInfo info = {.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO};
        bench_expect(maarStepDefragmentation(allocator, run, &limits, &batch),
                     "maarStepDefragmentation");
        if (batch == VK_NULL_HANDLE) {
            break;
        }
        bench_expect(maarGetDefragmentationInfo(allocator, run, &info),
                     "maarGetDefragmentationInfo");
        const uint64_t extra = info.batchedBytes - point.moved_bytes;
        curve->extra_bytes = extra > curve->extra_bytes ? extra : curve->extra_bytes;
        commit(allocator, batch, &point);
        point.moved_bytes = info.batchedBytes;
        point.released = (uint32_t)(blocks - atomic_load(&tally->blocks));
        point.released_bytes = bytes - atomic_load(&tally->bytes);
        curve->cpu_ns += bench_thread_ns() - start;
        defragmentation_note(curve, point);
        start = bench_thread_ns();
    }
    maarEndDefragmentation(allocator, run);
    curve->cpu_ns += bench_thread_ns() - start;
}

const struct defragmentation_peer defragmentation_peer_maar = {
    .name = "maar",
    .allocator = &allocator_peer_maar,
    .create_pool = create_pool,
    .destroy_pool = destroy_pool,
    .allocate = allocate,
    .run = run,
};
