/*
 * Margins behind allocations that something has written to. The unit with the implementation has
 * tests/vma/margin_assertions.h.
 */
#include "tests/vma/same_program.h"

#include <stdio.h>

enum { RANGE = 256 };

static uint32_t assertions;

void same_failed_assertion(void);

void same_failed_assertion(void)
{
    ++assertions;
}

static void say_assertions(const char* key)
{
    same_say(key, "%d", assertions != 0);
    assertions = 0;
}

/* Changes a byte at an offset from the first one of an allocation, where the host sees it. */
static void poke(VmaAllocator allocator, VmaAllocation allocation, VkDeviceSize offset)
{
    void* data = NULL;
    VkMemoryPropertyFlags flags = 0;
    vmaGetAllocationMemoryProperties(allocator, allocation, &flags);
    if ((flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0 &&
        vmaMapMemory(allocator, allocation, &data) == VK_SUCCESS) {
        ((unsigned char*)data)[offset] ^= 0x55;
        vmaUnmapMemory(allocator, allocation);
    }
}

static VmaAllocation take(VmaAllocator allocator, VmaPool pool, uint32_t type,
                          VmaAllocationInfo* info)
{
    const VkMemoryRequirements needs = {
        .size = RANGE, .alignment = 16, .memoryTypeBits = 1u << type};
    const VmaAllocationCreateInfo how = {.pool = pool};
    VmaAllocation made = VK_NULL_HANDLE;
    (void)vmaAllocateMemory(allocator, &needs, &how, &made, info);
    return made;
}

/* What a check of a pool and of its memory type answers, before and after a byte was written. */
static void say_pool(VmaAllocator allocator, const char* name, const VmaPoolCreateInfo* info)
{
    VmaPool pool = VK_NULL_HANDLE;
    VmaAllocationInfo places[2];
    VmaAllocation made[2];
    VmaDetailedStatistics totals;
    char key[64];
    (void)vmaCreatePool(allocator, info, &pool);
    for (uint32_t i = 0; i < 2; ++i) {
        made[i] = take(allocator, pool, info->memoryTypeIndex, &places[i]);
    }
    (void)snprintf(key, sizeof key, "%s.apart", name);
    same_say(key, "%d", places[1].offset - places[0].offset >= RANGE + 16);
    (void)snprintf(key, sizeof key, "%s.size", name);
    same_say_bytes(key, places[0].size);
    vmaCalculatePoolStatistics(allocator, pool, &totals);
    (void)snprintf(key, sizeof key, "%s.bytes", name);
    same_say(key, "%u %d", totals.statistics.allocationCount,
             (int)totals.statistics.allocationBytes);
    for (uint32_t i = 0; i < 3; ++i) {
        static const VkDeviceSize offsets[] = {RANGE - 1, RANGE, RANGE + 15};
        (void)snprintf(key, sizeof key, "%s.check", name);
        same_say_result(key, vmaCheckPoolCorruption(allocator, pool));
        poke(allocator, made[0], offsets[i]);
        (void)snprintf(key, sizeof key, "%s.poked", name);
        same_say_result(key, vmaCheckPoolCorruption(allocator, pool));
        if (i == 1) {
            (void)snprintf(key, sizeof key, "%s.poked-type", name);
            same_say_result(key, vmaCheckCorruption(allocator, 1u << info->memoryTypeIndex));
        }
        (void)snprintf(key, sizeof key, "%s.poked-asserts", name);
        say_assertions(key);
        poke(allocator, made[0], offsets[i]);
    }
    poke(allocator, made[1], RANGE + 1);
    vmaFreeMemory(allocator, made[0]);
    (void)snprintf(key, sizeof key, "%s.free-asserts", name);
    say_assertions(key);
    vmaFreeMemory(allocator, made[1]);
    (void)snprintf(key, sizeof key, "%s.free-poked-asserts", name);
    say_assertions(key);
    vmaDestroyPool(allocator, pool);
}

/* Default memory, and memory of its own, which has no margin. */
static void say_default(VmaAllocator allocator)
{
    const VkMemoryRequirements needs = {.size = RANGE, .alignment = 16, .memoryTypeBits = 2};
    const VmaAllocationCreateInfo how = {.flags = VMA_ALLOCATION_CREATE_DEDICATED_MEMORY_BIT};
    VmaAllocationInfo2 info;
    VmaAllocation alone = VK_NULL_HANDLE;
    VmaAllocation made = take(allocator, VK_NULL_HANDLE, 1, NULL);
    same_say_result("default.check", vmaCheckCorruption(allocator, 2));
    same_say_result("default.all", vmaCheckCorruption(allocator, UINT32_MAX));
    same_say_result("default.device-local", vmaCheckCorruption(allocator, 1));
    poke(allocator, made, RANGE);
    same_say_result("default.poked", vmaCheckCorruption(allocator, 2));
    say_assertions("default.poked-asserts");
    vmaFreeMemory(allocator, made);
    say_assertions("default.free-asserts");
    (void)vmaAllocateMemory(allocator, &needs, &how, &alone, NULL);
    vmaGetAllocationInfo2(allocator, alone, &info);
    same_say("dedicated.size", "%d", info.blockSize == RANGE);
    same_say_result("dedicated.check", vmaCheckCorruption(allocator, 2));
    vmaFreeMemory(allocator, alone);
    say_assertions("dedicated.free-asserts");
}

/* Whole blocks have no room for a margin. */
static void say_full_block(VmaAllocator allocator)
{
    const VmaPoolCreateInfo info = {
        .memoryTypeIndex = 1, .blockSize = MIB, .minBlockCount = 1, .maxBlockCount = 1};
    const VmaAllocationCreateInfo plain = {0};
    VkMemoryRequirements needs = {.size = MIB, .alignment = 16, .memoryTypeBits = 2};
    VmaAllocationCreateInfo how = plain;
    VmaAllocation made = VK_NULL_HANDLE;
    (void)vmaCreatePool(allocator, &info, &how.pool);
    same_say_result("full.whole", vmaAllocateMemory(allocator, &needs, &how, &made, NULL));
    needs.size -= 16;
    same_say_result("full.less", vmaAllocateMemory(allocator, &needs, &how, &made, NULL));
    vmaFreeMemory(allocator, made);
    vmaDestroyPool(allocator, how.pool);
}

void same_margins(void)
{
    static struct same_world world;
    const VmaPoolCreateInfo visible = {.memoryTypeIndex = 1, .blockSize = MIB};
    const VmaPoolCreateInfo local = {.memoryTypeIndex = 0, .blockSize = MIB};
    const VmaPoolCreateInfo linear = {
        .memoryTypeIndex = 1, .flags = VMA_POOL_CREATE_LINEAR_ALGORITHM_BIT, .blockSize = MIB};
    same_section("margin");
    same_open(&world, NULL, NULL);
    say_pool(world.allocator, "visible", &visible);
    say_pool(world.allocator, "local", &local);
    say_pool(world.allocator, "linear", &linear);
    say_default(world.allocator);
    say_full_block(world.allocator);
    same_close(&world);
}
