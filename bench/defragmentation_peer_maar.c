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

/* Returns the bytes of all new ranges that are taken and not used yet. */
static uint64_t reserved_bytes(MaarAllocator allocator)
{
    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    bench_expect(maarGetStatistics(allocator, pool, &statistics), "maarGetStatistics");
    return statistics.pendingBytes;
}

/* Commits a batch, and notes in the curve what was done until then. */
static void commit(MaarAllocator allocator, MaarDefragmentation run, MaarMoveBatch batch,
                   struct defragmentation_point* point, struct defragmentation_curve* curve)
{
    uint32_t moved = 0;
    MaarDefragmentationInfo info = {.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO};
    bench_expect(maarGetDefragmentationInfo(allocator, run, &info), "maarGetDefragmentationInfo");
    const uint64_t extra = info.batchedBytes - point->moved_bytes;
    const uint64_t reserved = reserved_bytes(allocator);
    curve->extra_bytes = extra > curve->extra_bytes ? extra : curve->extra_bytes;
    curve->reserved_bytes = reserved > curve->reserved_bytes ? reserved : curve->reserved_bytes;
    const double start = bench_thread_ns();
    bench_expect(maarCommitMoves(allocator, batch, 0, NULL, &moved), "maarCommitMoves");
    curve->cpu_ns += bench_thread_ns() - start;
    point->moves += moved;
    point->moved_bytes = info.batchedBytes;
}

static void run(void* handle, const struct defragmentation_heap* heap,
                const struct defragmentation_limits* limits, struct defragmentation_curve* curve)
{
    MaarAllocator const allocator = handle;
    const MaarDefragmentationBeginInfo begin = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = pool,
        .maxBlockCount = limits->blocks,
    };
    const MaarDefragmentationStepInfo step = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO,
        .maxBytes = limits->pass_bytes,
        .maxMoves = limits->pass_moves,
    };
    MaarDefragmentation run = VK_NULL_HANDLE;
    MaarMoveBatch batch = VK_NULL_HANDLE;
    const uint64_t blocks = atomic_load(&heap->tally->blocks);
    struct defragmentation_point point = {0};
    double start = bench_thread_ns();
    bench_expect(maarBeginDefragmentation(allocator, &begin, &run), "maarBeginDefragmentation");
    for (;;) {
        bench_expect(maarStepDefragmentation(allocator, run, &step, &batch),
                     "maarStepDefragmentation");
        curve->cpu_ns += bench_thread_ns() - start;
        if (batch == VK_NULL_HANDLE) {
            break;
        }
        commit(allocator, run, batch, &point, curve);
        point.released = (uint32_t)(blocks - atomic_load(&heap->tally->blocks));
        defragmentation_note(curve, point);
        start = bench_thread_ns();
    }
    start = bench_thread_ns();
    maarEndDefragmentation(allocator, run);
    curve->cpu_ns += bench_thread_ns() - start;
}

static bool make_room(void* handle, uint64_t size, uint64_t alignment, uint64_t pass_bytes,
                      struct defragmentation_point* point)
{
    MaarAllocator const allocator = handle;
    const MaarDefragmentationBeginInfo begin = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = pool,
        .goal = MAAR_DEFRAGMENTATION_GOAL_ROOM,
        .roomSize = size,
        .roomAlignment = alignment,
    };
    const MaarDefragmentationStepInfo step = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO, .maxBytes = pass_bytes};
    struct defragmentation_curve curve = {0};
    MaarDefragmentation run = VK_NULL_HANDLE;
    MaarMoveBatch batch = VK_NULL_HANDLE;
    MaarAllocation taken = VK_NULL_HANDLE;
    *point = (struct defragmentation_point){0};
    bench_expect(maarBeginDefragmentation(allocator, &begin, &run), "maarBeginDefragmentation");
    do {
        bench_expect(maarStepDefragmentation(allocator, run, &step, &batch),
                     "maarStepDefragmentation");
        if (batch != VK_NULL_HANDLE) {
            commit(allocator, run, batch, point, &curve);
        }
    } while (batch != VK_NULL_HANDLE);
    const VkResult result = maarTakeDefragmentationRoom(allocator, run, NULL, &taken);
    maarEndDefragmentation(allocator, run);
    maarFreeMemory(allocator, taken);
    return result == VK_SUCCESS;
}

const struct defragmentation_peer defragmentation_peer_maar = {
    .name = "maar",
    .rebuilds = true,
    .allocator = &allocator_peer_maar,
    .create_pool = create_pool,
    .destroy_pool = destroy_pool,
    .allocate = allocate,
    .run = run,
    .make_room = make_room,
};
