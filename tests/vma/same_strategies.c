/*
 * The strategies of placement, of allocations and of virtual blocks.
 */
#include "tests/vma/same_program.h"

#include <inttypes.h>
#include <stdio.h>

#define FLAG(name) ((VmaAllocationCreateFlags)VMA_ALLOCATION_CREATE_STRATEGY_##name##_BIT)

enum { RANGES = 9 };

/* Takes one more allocation in a pool, and says where it is. */
static VmaAllocation say_next(const char* key, VmaAllocator allocator, VmaPool pool,
                              VmaAllocationCreateFlags flags, VkDeviceSize size)
{
    const VkMemoryRequirements needs = {.size = size, .alignment = 256, .memoryTypeBits = 1};
    const VmaAllocationCreateInfo how = {.flags = flags, .pool = pool};
    VmaAllocation made = VK_NULL_HANDLE;
    VmaAllocationInfo info;
    (void)vmaAllocateMemory(allocator, &needs, &how, &made, &info);
    if (key != NULL) {
        same_say_bytes(key, info.offset);
    }
    return made;
}

/* A block with a large hole, then a small one, and the rest. */
static void say_allocations(VmaAllocator allocator)
{
    const VmaPoolCreateInfo info = {.memoryTypeIndex = 0, .blockSize = MIB, .maxBlockCount = 1};
    VmaPool pool = VK_NULL_HANDLE;
    VmaAllocation made[RANGES];
    (void)vmaCreatePool(allocator, &info, &pool);
    for (uint32_t i = 0; i < 5; ++i) {
        made[i] = say_next(NULL, allocator, pool, 0, i == 3 ? 16 * KIB : 64 * KIB);
    }
    vmaFreeMemory(allocator, made[1]);
    vmaFreeMemory(allocator, made[3]);
    made[1] = say_next("offset.first", allocator, pool, FLAG(MIN_OFFSET), 16 * KIB);
    made[3] = say_next("offset.second", allocator, pool, FLAG(MIN_OFFSET), 16 * KIB);
    vmaFreeMemory(allocator, made[3]);
    made[3] = say_next("memory", allocator, pool, FLAG(MIN_MEMORY), 16 * KIB);
    made[5] = say_next("best-fit", allocator, pool, FLAG(BEST_FIT), 48 * KIB);
    made[6] = say_next("time.large", allocator, pool, FLAG(MIN_TIME), 128 * KIB);
    made[7] = say_next("first-fit", allocator, pool, FLAG(FIRST_FIT), 128 * KIB);
    made[8] = say_next("offset.large", allocator, pool, FLAG(MIN_OFFSET), 128 * KIB);
    for (uint32_t i = 0; i < RANGES; ++i) {
        vmaFreeMemory(allocator, made[i]);
    }
    vmaDestroyPool(allocator, pool);
}

static VmaVirtualAllocation say_range(const char* key, VmaVirtualBlock block,
                                      VmaVirtualAllocationCreateFlags flags, VkDeviceSize size)
{
    const VmaVirtualAllocationCreateInfo how = {.flags = flags, .size = size, .alignment = 16};
    VmaVirtualAllocation made = VK_NULL_HANDLE;
    VkDeviceSize offset = 0;
    (void)vmaVirtualAllocate(block, &how, &made, &offset);
    if (key != NULL) {
        same_say_bytes(key, offset);
    }
    return made;
}

static void say_ranges(void)
{
    const VmaVirtualBlockCreateInfo info = {.size = 65536};
    VmaVirtualBlock block = VK_NULL_HANDLE;
    VmaVirtualAllocation made[5];
    (void)vmaCreateVirtualBlock(&info, &block);
    for (uint32_t i = 0; i < 5; ++i) {
        made[i] = say_range(NULL, block, 0, i == 3 ? 1024 : 4096);
    }
    vmaVirtualFree(block, made[1]);
    vmaVirtualFree(block, made[3]);
    (void)say_range("virtual.offset", block, VMA_VIRTUAL_ALLOCATION_CREATE_STRATEGY_MIN_OFFSET_BIT,
                    1024);
    (void)say_range("virtual.memory", block, VMA_VIRTUAL_ALLOCATION_CREATE_STRATEGY_MIN_MEMORY_BIT,
                    1024);
    (void)say_range("virtual.time", block, VMA_VIRTUAL_ALLOCATION_CREATE_STRATEGY_MIN_TIME_BIT,
                    8192);
    vmaClearVirtualBlock(block);
    vmaDestroyVirtualBlock(block);
}

void same_strategies(void)
{
    static struct same_world world;
    same_section("strategy");
    same_open(&world, NULL, NULL);
    say_allocations(world.allocator);
    say_ranges();
    same_close(&world);
}
