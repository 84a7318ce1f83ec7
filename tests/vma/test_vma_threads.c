/*
 * Passes of defragmentation beside threads that use the same allocations: they read what moves and
 * where it moves to, map it, and free a part of it, before the pass ends. Most useful under
 * MAAR_SANITIZE=thread.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/rig/rig.h"

#include <pthread.h>

/* Nothing here is worth a message. */
static _Atomic uint32_t message_count;
#define VMA_DEBUG_LOG_FORMAT(format, ...) (void)atomic_fetch_add(&message_count, 1)
#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>

enum { LIVE = 256, THREADS = 3, ROUNDS = 24, MOST_MOVES = 64 };

#define BLOCK_SIZE (256 * KIB)

/* A pass that all threads look at. The passes' thread starts it, and ends it when all are ready. */
struct stage {
    VmaAllocator allocator;
    pthread_barrier_t barrier;
    bool over;
    uint32_t moved; /* of all runs */
    uint32_t move_count;
    const VmaDefragmentationMove* moves;
    _Atomic uint32_t freed; /* of the moves of the run: by a thread, inside a pass */
    _Atomic uint32_t looked;
    uint32_t taken[MOST_MOVES]; /* whether a thread has freed the source, by move */
};

/* The part of a pass that a thread has. */
struct worker {
    struct stage* stage;
    uint32_t index;
};

static void must(bool condition, const char* what)
{
    if (!condition) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

/* Each thread maps the new place, and writes where no other one does. */
static void write_to(struct stage* stage, VmaAllocation place, uint32_t index)
{
    VmaAllocationInfo info;
    void* data = NULL;
    must(vmaMapMemory(stage->allocator, place, &data) == VK_SUCCESS, "a new place has no mapping");
    vmaGetAllocationInfo(stage->allocator, place, &info);
    must(info.pMappedData == data, "a new place is mapped twice");
    memset((char*)data + (size_t)index * 64, (int)index, 64);
    must(vmaFlushAllocation(stage->allocator, place, 0, VK_WHOLE_SIZE) == VK_SUCCESS, "no flush");
    vmaSetAllocationUserData(stage->allocator, place, stage);
    vmaUnmapMemory(stage->allocator, place);
}

static void look_at(struct stage* stage, const VmaDefragmentationMove* move, uint32_t index)
{
    VmaAllocationInfo info;
    VmaAllocationInfo2 details;
    VkMemoryPropertyFlags flags = 0;
    vmaGetAllocationInfo(stage->allocator, move->dstTmpAllocation, &info);
    must(info.deviceMemory != VK_NULL_HANDLE && info.size != 0, "a new place has no memory");
    vmaGetAllocationInfo2(stage->allocator, move->dstTmpAllocation, &details);
    must(details.allocationInfo.offset == info.offset, "a new place has two offsets");
    vmaGetAllocationMemoryProperties(stage->allocator, move->dstTmpAllocation, &flags);
    must(flags != 0, "a new place has no memory type");
    write_to(stage, move->dstTmpAllocation, index);
    vmaFreeMemory(stage->allocator, move->dstTmpAllocation); /* the pass frees it */
    atomic_fetch_add(&stage->looked, 1);
}

/* Uses the source of a move that belongs to this thread. */
static void use(struct stage* stage, const VmaDefragmentationMove* move, uint32_t at)
{
    VmaAllocationInfo info;
    void* data = NULL;
    vmaGetAllocationInfo(stage->allocator, move->srcAllocation, &info);
    must(info.deviceMemory != VK_NULL_HANDLE, "what moves has no memory");
    vmaSetAllocationUserData(stage->allocator, move->srcAllocation, &stage->taken[at]);
    vmaSetAllocationName(stage->allocator, move->srcAllocation, "moves");
    must(vmaMapMemory(stage->allocator, move->srcAllocation, &data) == VK_SUCCESS, "no mapping");
    memset(data, (int)at, 64);
    vmaUnmapMemory(stage->allocator, move->srcAllocation);
    if (at % 4 == 1) {
        stage->taken[at] = 1;
        vmaFreeMemory(stage->allocator, move->srcAllocation);
        atomic_fetch_add(&stage->freed, 1);
    }
}

/* Allocates and frees in the pool's memory type, beside the pass. */
static void churn(struct stage* stage)
{
    const VkMemoryRequirements needs = {
        .size = 4096, .alignment = 256, .memoryTypeBits = UINT32_MAX};
    const VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_CPU_TO_GPU};
    VmaAllocation allocation = VK_NULL_HANDLE;
    VmaAllocationInfo info;
    must(vmaAllocateMemory(stage->allocator, &needs, &how, &allocation, &info) == VK_SUCCESS,
         "no memory");
    vmaFreeMemory(stage->allocator, allocation);
}

static void* work(void* argument)
{
    struct worker* const worker = argument;
    struct stage* const stage = worker->stage;
    for (;;) {
        (void)pthread_barrier_wait(&stage->barrier);
        if (stage->over) {
            return NULL;
        }
        for (uint32_t i = 0; i < stage->move_count; ++i) {
            look_at(stage, &stage->moves[i], worker->index);
            if (i % THREADS == worker->index) {
                use(stage, &stage->moves[i], i);
            }
            churn(stage);
        }
        (void)pthread_barrier_wait(&stage->barrier);
    }
}

static VmaPool make_pool(VmaAllocator allocator)
{
    const VmaAllocationCreateInfo how = {
        .requiredFlags = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                         (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_COHERENT_BIT};
    VmaPoolCreateInfo info = {.blockSize = BLOCK_SIZE};
    VmaPool pool = VK_NULL_HANDLE;
    assert_int_equal(vmaFindMemoryTypeIndex(allocator, UINT32_MAX, &how, &info.memoryTypeIndex),
                     VK_SUCCESS);
    assert_int_equal(vmaCreatePool(allocator, &info, &pool), VK_SUCCESS);
    return pool;
}

static void fill(VmaAllocator allocator, VmaPool pool, VmaAllocation* live)
{
    const VmaAllocationCreateInfo how = {.pool = pool};
    for (uint32_t i = 0; i < LIVE; ++i) {
        const VkMemoryRequirements needs = {
            .size = 4096 * (1 + i % 3), .alignment = 256, .memoryTypeBits = UINT32_MAX};
        if (live[i] == VK_NULL_HANDLE) {
            assert_int_equal(vmaAllocateMemory(allocator, &needs, &how, &live[i], NULL),
                             VK_SUCCESS);
        }
    }
}

static void forget(VmaAllocation* live, VmaAllocation allocation)
{
    for (uint32_t i = 0; i < LIVE; ++i) {
        live[i] = live[i] == allocation ? VK_NULL_HANDLE : live[i];
    }
}

/* One pass, in which the threads do what they do. Returns whether there was one. */
static bool pass_once(struct stage* stage, VmaDefragmentationContext context, VmaAllocation* live)
{
    VmaDefragmentationPassMoveInfo pass = {0};
    if (vmaBeginDefragmentationPass(stage->allocator, context, &pass) != VK_INCOMPLETE) {
        return false;
    }
    VmaAllocation sources[MOST_MOVES];
    assert_true(pass.moveCount <= MOST_MOVES);
    stage->move_count = pass.moveCount;
    stage->moves = pass.pMoves;
    memset(stage->taken, 0, sizeof stage->taken);
    for (uint32_t i = 0; i < pass.moveCount; ++i) {
        sources[i] = pass.pMoves[i].srcAllocation;
        pass.pMoves[i].operation = i % 8 == 6   ? VMA_DEFRAGMENTATION_MOVE_OPERATION_IGNORE
                                   : i % 8 == 4 ? VMA_DEFRAGMENTATION_MOVE_OPERATION_DESTROY
                                                : VMA_DEFRAGMENTATION_MOVE_OPERATION_COPY;
    }
    (void)pthread_barrier_wait(&stage->barrier);
    (void)pthread_barrier_wait(&stage->barrier);
    const uint32_t count = pass.moveCount;
    const VkResult result = vmaEndDefragmentationPass(stage->allocator, context, &pass);
    for (uint32_t i = 0; i < count; ++i) {
        if (stage->taken[i] != 0 || i % 8 == 4) {
            forget(live, sources[i]);
        }
    }
    return result == VK_INCOMPLETE;
}

static void run_once(struct stage* stage, VmaPool pool, VmaAllocation* live, uint32_t round)
{
    const VmaDefragmentationInfo info = {.pool = pool, .maxAllocationsPerPass = MOST_MOVES};
    VmaDefragmentationContext context = VK_NULL_HANDLE;
    VmaDefragmentationStats stats = {0};
    fill(stage->allocator, pool, live);
    for (uint32_t i = 0; i < LIVE; ++i) {
        if ((i + round) % 3 != 0) {
            vmaFreeMemory(stage->allocator, live[i]);
            live[i] = VK_NULL_HANDLE;
        }
    }
    assert_int_equal(vmaBeginDefragmentation(stage->allocator, &info, &context), VK_SUCCESS);
    while (pass_once(stage, context, live)) {
    }
    vmaEndDefragmentation(stage->allocator, context, &stats);
    stage->moved += stats.allocationsMoved;
}

static void passes_beside_users_of_what_moves(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    struct stage stage = {.move_count = 0};
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    VmaAllocation live[LIVE] = {VK_NULL_HANDLE};
    rig_open(rig, NULL);
    const VmaVulkanFunctions functions = {.vkGetInstanceProcAddr = vkGetInstanceProcAddr,
                                          .vkGetDeviceProcAddr = vkGetDeviceProcAddr};
    const VmaAllocatorCreateInfo info = {.instance = rig->instance,
                                         .physicalDevice = rig->physical,
                                         .device = rig->device,
                                         .pVulkanFunctions = &functions,
                                         .vulkanApiVersion = VK_API_VERSION_1_1};
    assert_int_equal(vmaCreateAllocator(&info, &stage.allocator), VK_SUCCESS);
    const VmaPool pool = make_pool(stage.allocator);
    assert_int_equal(pthread_barrier_init(&stage.barrier, NULL, THREADS + 1), 0);
    for (uint32_t i = 0; i < THREADS; ++i) {
        workers[i] = (struct worker){.stage = &stage, .index = i};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < ROUNDS; ++i) {
        run_once(&stage, pool, live, i);
    }
    stage.over = true;
    (void)pthread_barrier_wait(&stage.barrier);
    for (uint32_t i = 0; i < THREADS; ++i) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(atomic_load(&message_count), 0);
    assert_true(stage.moved > 100);
    assert_true(atomic_load(&stage.looked) > 0);
    assert_true(atomic_load(&stage.freed) > 0);
    vmaFreeMemoryPages(stage.allocator, LIVE, live);
    vmaDestroyPool(stage.allocator, pool);
    vmaDestroyAllocator(stage.allocator);
    (void)pthread_barrier_destroy(&stage.barrier);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(passes_beside_users_of_what_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
