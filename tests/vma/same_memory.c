/*
 * Allocators, allocations and what is mapped.
 */
#include "tests/vma/same_program.h"

#include <inttypes.h>
#include <stdio.h>

#define FLAG(name) ((VmaAllocationCreateFlags)VMA_ALLOCATION_CREATE_##name##_BIT)

/* What a callback has seen of device memory. */
struct seen_memory {
    uint32_t made, freed;
    uint64_t bytes;
    bool knows_allocator;
};

static void VKAPI_PTR note_made(VmaAllocator allocator, uint32_t type, VkDeviceMemory memory,
                                VkDeviceSize size, void* user)
{
    struct seen_memory* seen = user;
    ++seen->made;
    seen->bytes += size;
    seen->knows_allocator = allocator != VK_NULL_HANDLE && memory != VK_NULL_HANDLE && type < 32;
}

static void VKAPI_PTR note_freed(VmaAllocator allocator, uint32_t type, VkDeviceMemory memory,
                                 VkDeviceSize size, void* user)
{
    struct seen_memory* seen = user;
    (void)allocator;
    (void)type;
    (void)memory;
    (void)size;
    ++seen->freed;
}

void same_allocators(void)
{
    static struct same_world world;
    struct seen_memory seen = {0};
    const VmaDeviceMemoryCallbacks callbacks = {note_made, note_freed, &seen};
    const VkDeviceSize limits[3] = {64 * MIB, VK_WHOLE_SIZE, VK_WHOLE_SIZE};
    const VmaAllocatorCreateInfo extra = {.pDeviceMemoryCallbacks = &callbacks,
                                          .pHeapSizeLimit = limits,
                                          .preferredLargeHeapBlockSize = 8 * MIB};
    const VkPhysicalDeviceProperties* properties = NULL;
    const VkPhysicalDeviceMemoryProperties* memory = NULL;
    VmaAllocatorInfo info;
    VkMemoryPropertyFlags flags = 0;
    same_section("allocator");
    same_open(&world, NULL, &extra);
    vmaGetAllocatorInfo(world.allocator, &info);
    same_say("info", "%d",
             info.instance == world.rig.instance && info.device == world.rig.device &&
                 info.physicalDevice == world.rig.physical);
    vmaGetPhysicalDeviceProperties(world.allocator, &properties);
    same_say("device", "%s", properties->deviceName);
    vmaGetMemoryProperties(world.allocator, &memory);
    same_say("heap", "%u %" PRIu64 " %" PRIu64, memory->memoryHeapCount,
             (uint64_t)memory->memoryHeaps[0].size, (uint64_t)memory->memoryHeaps[1].size);
    vmaGetMemoryTypeProperties(world.allocator, 1, &flags);
    same_say_bytes("flags", flags);
    vmaSetCurrentFrameIndex(world.allocator, 7);
    same_say_result("corruption", vmaCheckCorruption(world.allocator, UINT32_MAX));

    /* A limit is exact to one block. */
    const VkMemoryRequirements needs = {.size = 8 * MIB, .alignment = 1, .memoryTypeBits = 1};
    const VmaAllocationCreateInfo how = {.flags = FLAG(DEDICATED_MEMORY)};
    VmaAllocation all[10];
    uint32_t count = 0;
    while (count < 10 &&
           vmaAllocateMemory(world.allocator, &needs, &how, &all[count], NULL) == VK_SUCCESS) {
        ++count;
    }
    same_say_bytes("limited", count);
    same_say("callbacks", "%u %" PRIu64 " %d", seen.made, seen.bytes, (int)seen.knows_allocator);
    vmaFreeMemoryPages(world.allocator, count, all);
    same_say_bytes("freed", seen.freed);
    same_close(&world);
}

/* ---- allocations ---- */

static void say_info(const char* key, VmaAllocator allocator, VmaAllocation allocation)
{
    VmaAllocationInfo2 info;
    char name[64];
    vmaGetAllocationInfo2(allocator, allocation, &info);
    (void)snprintf(name, sizeof name, "%s.place", key);
    same_say(name, "%u %" PRIu64 " %" PRIu64 " %u", info.allocationInfo.memoryType,
             (uint64_t)info.allocationInfo.offset, (uint64_t)info.allocationInfo.size,
             info.dedicatedMemory);
    (void)snprintf(name, sizeof name, "%s.data", key);
    same_say(name, "%d %d %s", info.allocationInfo.pMappedData != NULL,
             info.allocationInfo.pUserData != NULL,
             info.allocationInfo.pName != NULL ? info.allocationInfo.pName : "-");
}

static void say_mapping(struct same_world* world, VmaAllocation allocation)
{
    void* first = NULL;
    void* second = NULL;
    char text[16] = "";
    same_say_result("map", vmaMapMemory(world->allocator, allocation, &first));
    same_say_result("map.again", vmaMapMemory(world->allocator, allocation, &second));
    same_say("map.same", "%d", first == second && first != NULL);
    memcpy(first, "written", 8);
    same_say_result("flush", vmaFlushAllocation(world->allocator, allocation, 0, VK_WHOLE_SIZE));
    vmaUnmapMemory(world->allocator, allocation);
    vmaUnmapMemory(world->allocator, allocation);
    same_say_result("flush.unmapped",
                    vmaFlushAllocation(world->allocator, allocation, 0, VK_WHOLE_SIZE));
    same_say_result("copy.out",
                    vmaCopyAllocationToMemory(world->allocator, allocation, 0, text, 8));
    same_say("copy.text", "%s", text);
    same_say_result("copy.in",
                    vmaCopyMemoryToAllocation(world->allocator, "other", allocation, 8, 6));
    same_say_result("copy.out.again",
                    vmaCopyAllocationToMemory(world->allocator, allocation, 8, text, 6));
    same_say("copy.text.again", "%s", text);
    same_say_result("copy.nothing",
                    vmaCopyMemoryToAllocation(world->allocator, text, allocation, 0, 0));
    const VkDeviceSize offsets[2] = {0, 16};
    const VkDeviceSize sizes[2] = {16, VK_WHOLE_SIZE};
    const VmaAllocation both[2] = {allocation, allocation};
    same_say_result("flush.several",
                    vmaFlushAllocations(world->allocator, 2, both, offsets, sizes));
    same_say_result("invalidate.several",
                    vmaInvalidateAllocations(world->allocator, 2, both, NULL, NULL));
}

static void say_refused(struct same_world* world)
{
    VmaAllocation none = VK_NULL_HANDLE;
    VkMemoryRequirements needs = {.size = 0, .alignment = 1, .memoryTypeBits = UINT32_MAX};
    VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_GPU_ONLY};
    same_say_result("empty", vmaAllocateMemory(world->allocator, &needs, &how, &none, NULL));
    needs.size = 4096;
    needs.memoryTypeBits = 0;
    same_say_result("no-type", vmaAllocateMemory(world->allocator, &needs, &how, &none, NULL));
    needs.memoryTypeBits = UINT32_MAX;
    how.flags = FLAG(NEVER_ALLOCATE) | FLAG(DEDICATED_MEMORY);
    same_say_result("never-own", vmaAllocateMemory(world->allocator, &needs, &how, &none, NULL));
    how.flags = FLAG(NEVER_ALLOCATE);
    how.usage = VMA_MEMORY_USAGE_CPU_COPY;
    same_say_result("never", vmaAllocateMemory(world->allocator, &needs, &how, &none, NULL));
    vmaFreeMemory(world->allocator, none);
    how.flags = 0;
    how.usage = VMA_MEMORY_USAGE_GPU_ONLY;
    needs.size = 1024 * GIB;
    same_say_result("huge", vmaAllocateMemory(world->allocator, &needs, &how, &none, NULL));
    same_say("none", "%d", none == VK_NULL_HANDLE);
    vmaFreeMemory(world->allocator, VK_NULL_HANDLE);
}

static void say_several(struct same_world* world)
{
    const VkMemoryRequirements needs[3] = {
        {.size = 100, .alignment = 64, .memoryTypeBits = UINT32_MAX},
        {.size = 200, .alignment = 64, .memoryTypeBits = UINT32_MAX},
        {.size = 300, .alignment = 64, .memoryTypeBits = UINT32_MAX}};
    const VmaAllocationCreateInfo how[3] = {{.usage = VMA_MEMORY_USAGE_GPU_ONLY},
                                            {.usage = VMA_MEMORY_USAGE_GPU_ONLY},
                                            {.usage = VMA_MEMORY_USAGE_GPU_ONLY}};
    VmaAllocation made[3];
    VmaAllocationInfo infos[3];
    /* The first element counts for all. */
    same_say_result("pages", vmaAllocateMemoryPages(world->allocator, needs, how, 3, made, infos));
    same_say("pages.sizes", "%" PRIu64 " %" PRIu64 " %" PRIu64, (uint64_t)infos[0].size,
             (uint64_t)infos[1].size, (uint64_t)infos[2].size);
    same_say("pages.together", "%d",
             infos[0].deviceMemory == infos[1].deviceMemory &&
                 infos[1].deviceMemory == infos[2].deviceMemory);
    vmaFreeMemoryPages(world->allocator, 3, made);
}

void same_memory(void)
{
    static struct same_world world;
    int mark = 0;
    same_section("memory");
    same_open(&world, NULL, NULL);
    const VkMemoryRequirements needs = {
        .size = 1000, .alignment = 256, .memoryTypeBits = UINT32_MAX};
    VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_CPU_ONLY, .pUserData = &mark};
    VmaAllocation allocation = VK_NULL_HANDLE;
    VmaAllocationInfo info;
    VkMemoryPropertyFlags flags = 0;
    same_say_result("allocate",
                    vmaAllocateMemory(world.allocator, &needs, &how, &allocation, &info));
    same_say("allocate.info", "%d %" PRIu64, info.pUserData == &mark, (uint64_t)info.size);
    say_info("allocate", world.allocator, allocation);
    vmaGetAllocationMemoryProperties(world.allocator, allocation, &flags);
    same_say_bytes("allocate.flags", flags);
    vmaSetAllocationUserData(world.allocator, allocation, NULL);
    vmaSetAllocationName(world.allocator, allocation, "name");
    say_info("renamed", world.allocator, allocation);
    say_mapping(&world, allocation);
    vmaFreeMemory(world.allocator, allocation);

    how.flags = FLAG(MAPPED);
    (void)vmaAllocateMemory(world.allocator, &needs, &how, &allocation, NULL);
    say_info("mapped", world.allocator, allocation);
    vmaFreeMemory(world.allocator, allocation);
    how.usage = VMA_MEMORY_USAGE_GPU_ONLY;
    (void)vmaAllocateMemory(world.allocator, &needs, &how, &allocation, NULL);
    say_info("mapped-hidden", world.allocator, allocation);
    same_say_result("flush.hidden",
                    vmaFlushAllocation(world.allocator, allocation, 0, VK_WHOLE_SIZE));
    vmaFreeMemory(world.allocator, allocation);
    how.flags = FLAG(USER_DATA_COPY_STRING);
    how.pUserData = (void*)(uintptr_t) "copied";
    (void)vmaAllocateMemory(world.allocator, &needs, &how, &allocation, NULL);
    say_info("string", world.allocator, allocation);
    vmaFreeMemory(world.allocator, allocation);
    how.flags = FLAG(DEDICATED_MEMORY);
    how.pUserData = NULL;
    (void)vmaAllocateMemory(world.allocator, &needs, &how, &allocation, NULL);
    say_info("dedicated", world.allocator, allocation);
    vmaFreeMemory(world.allocator, allocation);
    how.flags = 0;
    how.minAlignment = 4096;
    VmaAllocation second = VK_NULL_HANDLE;
    (void)vmaAllocateMemory(world.allocator, &needs, &how, &allocation, NULL);
    (void)vmaAllocateMemory(world.allocator, &needs, &how, &second, &info);
    same_say("aligned", "%" PRIu64, (uint64_t)(info.offset % 4096));
    vmaFreeMemory(world.allocator, second);
    vmaFreeMemory(world.allocator, allocation);
    how.minAlignment = 0;
    VkMemoryPriorityAllocateInfoEXT chain = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_PRIORITY_ALLOCATE_INFO_EXT, .priority = 0.25F};
    same_say_result("own-chain", vmaAllocateDedicatedMemory(world.allocator, &needs, &how, &chain,
                                                            &allocation, NULL));
    say_info("own-chain", world.allocator, allocation);
    vmaFreeMemory(world.allocator, allocation);
    say_refused(&world);
    say_several(&world);
    same_close(&world);
}
