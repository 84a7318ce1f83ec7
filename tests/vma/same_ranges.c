/*
 * Virtual blocks, and passes of defragmentation.
 */
#include "tests/vma/same_program.h"

#include <inttypes.h>
#include <stdio.h>

static void say_block(const char* key, VmaVirtualBlock block)
{
    VmaStatistics totals;
    VmaDetailedStatistics details;
    char name[64];
    vmaGetVirtualBlockStatistics(block, &totals);
    (void)snprintf(name, sizeof name, "%s.totals", key);
    same_say(name, "%u %u %" PRIu64 " %" PRIu64, totals.blockCount, totals.allocationCount,
             (uint64_t)totals.blockBytes, (uint64_t)totals.allocationBytes);
    vmaCalculateVirtualBlockStatistics(block, &details);
    same_say_statistics(key, &details);
}

static void say_strategy(const char* key, VmaVirtualBlockCreateFlags flags)
{
    const VmaVirtualBlockCreateInfo info = {.size = 4096, .flags = flags};
    int first = 0;
    /* Without user data, VulkanMemoryAllocator takes the ranges of a linear block for free ones. */
    const VmaVirtualAllocationCreateInfo how = {.size = 1000, .alignment = 16, .pUserData = &first};
    VmaVirtualBlock block = VK_NULL_HANDLE;
    VmaVirtualAllocation ranges[5];
    VmaVirtualAllocationInfo range_info;
    VkDeviceSize offset = 0;
    char name[64];
    int mark = 0;
    (void)snprintf(name, sizeof name, "%s.create", key);
    same_say_result(name, vmaCreateVirtualBlock(&info, &block));
    (void)snprintf(name, sizeof name, "%s.empty", key);
    same_say(name, "%u", vmaIsVirtualBlockEmpty(block));
    for (uint32_t i = 0; i < 5; ++i) {
        const VkResult result = vmaVirtualAllocate(block, &how, &ranges[i], &offset);
        (void)snprintf(name, sizeof name, "%s.take.%u", key, i);
        same_say(name, "%d %d %" PRIu64, (int)result, ranges[i] != VK_NULL_HANDLE,
                 (uint64_t)offset);
    }
    vmaSetVirtualAllocationUserData(block, ranges[1], &mark);
    vmaGetVirtualAllocationInfo(block, ranges[1], &range_info);
    (void)snprintf(name, sizeof name, "%s.info", key);
    same_say(name, "%" PRIu64 " %" PRIu64 " %d", (uint64_t)range_info.offset,
             (uint64_t)range_info.size, range_info.pUserData == &mark);
    vmaVirtualFree(block, ranges[1]);
    vmaVirtualFree(block, VK_NULL_HANDLE);
    say_block(key, block);
    vmaClearVirtualBlock(block);
    (void)snprintf(name, sizeof name, "%s.cleared", key);
    same_say(name, "%u", vmaIsVirtualBlockEmpty(block));
    vmaDestroyVirtualBlock(block);
}

void same_virtual_blocks(void)
{
    same_section("virtual");
    say_strategy("tlsf", 0);
    say_strategy("linear", VMA_VIRTUAL_BLOCK_CREATE_LINEAR_ALGORITHM_BIT);
    vmaDestroyVirtualBlock(VK_NULL_HANDLE);
    const VmaVirtualBlockCreateInfo info = {.size = 4096,
                                            .flags = VMA_VIRTUAL_BLOCK_CREATE_LINEAR_ALGORITHM_BIT};
    const VmaVirtualAllocationCreateInfo how = {
        .size = 1000, .alignment = 16, .flags = VMA_VIRTUAL_ALLOCATION_CREATE_UPPER_ADDRESS_BIT};
    VmaVirtualBlock block = VK_NULL_HANDLE;
    VmaVirtualAllocation range = VK_NULL_HANDLE;
    VkDeviceSize offset = 0;
    (void)vmaCreateVirtualBlock(&info, &block);
    same_say_result("upper", vmaVirtualAllocate(block, &how, &range, &offset));
    same_say_bytes("upper.offset", offset);
    vmaVirtualFree(block, range);
    vmaDestroyVirtualBlock(block);
}

/* ---- defragmentation ---- */

enum { BUFFERS = 64 };

struct moving {
    struct same_world world;
    VmaPool pool;
    VkBuffer buffers[BUFFERS];
    VmaAllocation allocations[BUFFERS];
};

/* Four blocks of 16 buffers each, of which every fourth buffer stays. */
static void open_moving(struct moving* m)
{
    const VmaPoolCreateInfo info = {.memoryTypeIndex = 0, .blockSize = MIB};
    const VkBufferCreateInfo buffer = same_buffer(64 * KIB, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_AUTO};
    same_open(&m->world, NULL, NULL);
    (void)vmaCreatePool(m->world.allocator, &info, &m->pool);
    how.pool = m->pool;
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        (void)vmaCreateBuffer(m->world.allocator, &buffer, &how, &m->buffers[i], &m->allocations[i],
                              NULL);
        vmaSetAllocationUserData(m->world.allocator, m->allocations[i], &m->buffers[i]);
    }
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        if (i % 4 != 0) {
            vmaDestroyBuffer(m->world.allocator, m->buffers[i], m->allocations[i]);
            m->buffers[i] = VK_NULL_HANDLE;
            m->allocations[i] = VK_NULL_HANDLE;
        }
    }
}

/* Binds a new buffer to the new place of a move, as a program does that copies. */
static bool carry_out(struct moving* m, VmaDefragmentationMove* move)
{
    const VkBufferCreateInfo info = same_buffer(64 * KIB, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    VmaAllocationInfo from;
    VmaAllocationInfo to;
    VkBuffer made = VK_NULL_HANDLE;
    vmaGetAllocationInfo(m->world.allocator, move->srcAllocation, &from);
    vmaGetAllocationInfo(m->world.allocator, move->dstTmpAllocation, &to);
    VkBuffer* own = from.pUserData;
    const bool fits = to.size == from.size && to.memoryType == from.memoryType &&
                      (to.deviceMemory != from.deviceMemory || to.offset != from.offset);
    (void)vkCreateBuffer(m->world.rig.device, &info, NULL, &made);
    const VkResult result = vmaBindBufferMemory(m->world.allocator, move->dstTmpAllocation, made);
    vkDestroyBuffer(m->world.rig.device, *own, NULL);
    *own = made;
    return fits && result == VK_SUCCESS;
}

static void run_passes(struct moving* m, VmaDefragmentationContext context, uint32_t bytes)
{
    uint32_t moves = 0;
    uint32_t passes = 0;
    bool good = true;
    bool bounded = true;
    for (; passes < 100; ++passes) {
        VmaDefragmentationPassMoveInfo pass;
        const VkResult begun = vmaBeginDefragmentationPass(m->world.allocator, context, &pass);
        if (begun == VK_SUCCESS) {
            break;
        }
        good = good && begun == VK_INCOMPLETE && pass.moveCount > 0;
        bounded = bounded && (bytes == 0 || pass.moveCount * 64 * KIB <= bytes);
        for (uint32_t i = 0; i < pass.moveCount; ++i) {
            good = carry_out(m, &pass.pMoves[i]) && good;
        }
        moves += pass.moveCount;
        if (vmaEndDefragmentationPass(m->world.allocator, context, &pass) == VK_SUCCESS) {
            break;
        }
    }
    same_say("good", "%d", (int)good);
    same_say("bounded", "%d", (int)bounded);
    same_say("some", "%d", moves > 0 && passes < 100);
}

static VkBool32 VKAPI_PTR say_stop(void* user_data)
{
    uint32_t* asked = user_data;
    ++*asked;
    return VK_TRUE;
}

/* A pass that the program stops before its first move, by each of the algorithms. */
static void say_stopped(struct moving* m)
{
    static const VmaDefragmentationFlags algorithms[] = {
        VMA_DEFRAGMENTATION_FLAG_ALGORITHM_FAST_BIT,
        VMA_DEFRAGMENTATION_FLAG_ALGORITHM_BALANCED_BIT,
        VMA_DEFRAGMENTATION_FLAG_ALGORITHM_FULL_BIT,
        VMA_DEFRAGMENTATION_FLAG_ALGORITHM_EXTENSIVE_BIT,
    };
    for (uint32_t i = 0; i < 4; ++i) {
        uint32_t asked = 0;
        VmaDefragmentationContext context = VK_NULL_HANDLE;
        VmaDefragmentationPassMoveInfo pass;
        const VmaDefragmentationInfo info = {.flags = algorithms[i],
                                             .pool = m->pool,
                                             .pfnBreakCallback = say_stop,
                                             .pBreakCallbackUserData = &asked};
        same_say_result("stopped.begin",
                        vmaBeginDefragmentation(m->world.allocator, &info, &context));
        same_say_result("stopped", vmaBeginDefragmentationPass(m->world.allocator, context, &pass));
        same_say("stopped.moves", "%u %d", pass.moveCount, asked > 0);
        vmaEndDefragmentation(m->world.allocator, context, NULL);
    }
}

void same_defragmentation(void)
{
    static struct moving m;
    VmaDefragmentationStats stats;
    VmaStatistics totals;
    VmaDefragmentationContext context = VK_NULL_HANDLE;
    same_section("defragmentation");
    open_moving(&m);
    vmaGetPoolStatistics(m.world.allocator, m.pool, &totals);
    same_say("before", "%u %u", totals.blockCount, totals.allocationCount);
    say_stopped(&m);
    const VmaDefragmentationInfo info = {.pool = m.pool, .maxBytesPerPass = 256 * KIB};
    same_say_result("begin", vmaBeginDefragmentation(m.world.allocator, &info, &context));
    run_passes(&m, context, 256 * KIB);
    vmaEndDefragmentation(m.world.allocator, context, &stats);
    same_say("moved", "%u %" PRIu64, stats.allocationsMoved, (uint64_t)stats.bytesMoved);
    same_say("freed", "%u %" PRIu64, stats.deviceMemoryBlocksFreed, (uint64_t)stats.bytesFreed);
    vmaGetPoolStatistics(m.world.allocator, m.pool, &totals);
    same_say("after", "%u %u", totals.blockCount, totals.allocationCount);
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        vmaDestroyBuffer(m.world.allocator, m.buffers[i], m.allocations[i]);
    }
    vmaDestroyPool(m.world.allocator, m.pool);
    const VmaPoolCreateInfo linear = {.flags = VMA_POOL_CREATE_LINEAR_ALGORITHM_BIT,
                                      .blockSize = MIB};
    (void)vmaCreatePool(m.world.allocator, &linear, &m.pool);
    const VmaDefragmentationInfo of_linear = {.pool = m.pool};
    same_say_result("linear", vmaBeginDefragmentation(m.world.allocator, &of_linear, &context));
    vmaDestroyPool(m.world.allocator, m.pool);
    same_close(&m.world);
}
