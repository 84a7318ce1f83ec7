/*
 * The frame of the program: see same_program.h. Without an argument it says everything; with one,
 * the JSON of a small state, or the memory types of every device profile.
 */
#include "tests/vma/same_program.h"

#include <inttypes.h>
#include <stdio.h>

static const char* section = "";

void same_section(const char* name)
{
    section = name;
}

void same_say(const char* key, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)printf("%s.%s ", section, key);
    (void)vprintf(format, arguments);
    (void)printf("\n");
    va_end(arguments);
}

void same_say_bytes(const char* key, uint64_t bytes)
{
    same_say(key, "%" PRIu64, bytes);
}

void same_say_result(const char* key, VkResult result)
{
    same_say(key, "%d", (int)result);
}

void same_say_statistics(const char* key, const VmaDetailedStatistics* s)
{
    char name[80];
    (void)snprintf(name, sizeof name, "%s.blocks", key);
    same_say(name, "%u %" PRIu64, s->statistics.blockCount, (uint64_t)s->statistics.blockBytes);
    (void)snprintf(name, sizeof name, "%s.allocations", key);
    same_say(name, "%u %" PRIu64 " %" PRIu64 " %" PRIu64, s->statistics.allocationCount,
             (uint64_t)s->statistics.allocationBytes, (uint64_t)s->allocationSizeMin,
             (uint64_t)s->allocationSizeMax);
    (void)snprintf(name, sizeof name, "%s.unused", key);
    same_say(name, "%u %" PRIu64 " %" PRIu64, s->unusedRangeCount, (uint64_t)s->unusedRangeSizeMin,
             (uint64_t)s->unusedRangeSizeMax);
}

void same_open(struct same_world* world, const MaarSimulatedProfile* profile,
               const VmaAllocatorCreateInfo* extra)
{
    const struct rig_setup setup = {.profile = profile};
    same_open_as(world, &setup, extra);
}

void same_open_as(struct same_world* world, const struct rig_setup* setup,
                  const VmaAllocatorCreateInfo* extra)
{
    VmaAllocatorCreateInfo info = {0};
    rig_open(&world->rig, setup); /* loads the functions of volk */
    const VmaVulkanFunctions functions = {.vkGetInstanceProcAddr = vkGetInstanceProcAddr,
                                          .vkGetDeviceProcAddr = vkGetDeviceProcAddr};
    if (extra != NULL) {
        info = *extra;
    }
    info.physicalDevice = world->rig.physical;
    info.device = world->rig.device;
    info.instance = world->rig.instance;
    info.pVulkanFunctions = &functions;
    info.vulkanApiVersion = VK_API_VERSION_1_3;
    const VkResult result = vmaCreateAllocator(&info, &world->allocator);
    if (result != VK_SUCCESS) {
        (void)fprintf(stderr, "no allocator: %d\n", (int)result);
        exit(1);
    }
}

void same_close(struct same_world* world)
{
    vmaDestroyAllocator(world->allocator);
    vkDestroyDevice(world->rig.device, NULL);
    const MaarSimulatedCounters counters = rig_counters(&world->rig);
    same_say_bytes("violations", counters.violationCount);
    same_say_bytes("live", counters.liveCount[MAAR_SIMULATED_OBJECT_MEMORY]);
    same_say_bytes("freed-mapped", counters.freedWhileMappedCount);
    vkDestroyInstance(world->rig.instance, NULL);
}

VkBufferCreateInfo same_buffer(VkDeviceSize size, VkBufferUsageFlags usage)
{
    VkBufferCreateInfo info = rig_buffer_info(size);
    info.usage = usage;
    return info;
}

VkImageCreateInfo same_image(uint32_t side, VkImageUsageFlags usage)
{
    VkImageCreateInfo info = rig_image_info(side, side);
    info.usage = usage;
    return info;
}

/* A pool with a named allocation, and a default buffer. */
static void write_json(bool detailed)
{
    static struct same_world world;
    same_open(&world, NULL, NULL);
    const VmaPoolCreateInfo pool_info = {.memoryTypeIndex = 1, .blockSize = MIB};
    VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_AUTO};
    const VkBufferCreateInfo buffer_info = same_buffer(65536, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    const VkMemoryRequirements needs = {
        .size = 1000, .alignment = 16, .memoryTypeBits = UINT32_MAX};
    VmaPool pool = VK_NULL_HANDLE;
    VmaAllocation allocations[2];
    VkBuffer buffer = VK_NULL_HANDLE;
    char* text = NULL;
    (void)vmaCreatePool(world.allocator, &pool_info, &pool);
    vmaSetPoolName(world.allocator, pool, "staging");
    (void)vmaCreateBuffer(world.allocator, &buffer_info, &how, &buffer, &allocations[0], NULL);
    const VkImageCreateInfo image_info = same_image(64, VK_IMAGE_USAGE_SAMPLED_BIT);
    VkImage image = VK_NULL_HANDLE;
    VmaAllocation of_image = VK_NULL_HANDLE;
    (void)vmaCreateImage(world.allocator, &image_info, &how, &image, &of_image, NULL);
    how.pool = pool;
    (void)vmaAllocateMemory(world.allocator, &needs, &how, &allocations[1], NULL);
    vmaSetAllocationName(world.allocator, allocations[1], "vertices");
    vmaBuildStatsString(world.allocator, &text, detailed ? VK_TRUE : VK_FALSE);
    (void)fputs(text, stdout);
    vmaFreeStatsString(world.allocator, text);
    vmaFreeMemory(world.allocator, allocations[1]);
    vmaDestroyImage(world.allocator, image, of_image);
    vmaDestroyBuffer(world.allocator, buffer, allocations[0]);
    vmaDestroyPool(world.allocator, pool);
    vmaDestroyAllocator(world.allocator);
    vkDestroyDevice(world.rig.device, NULL);
    vkDestroyInstance(world.rig.instance, NULL);
}

static void write_virtual_json(void)
{
    const VmaVirtualBlockCreateInfo info = {.size = 65536};
    const VmaVirtualAllocationCreateInfo how = {
        .size = 1000, .alignment = 16, .pUserData = (void*)(uintptr_t)17};
    VmaVirtualBlock block = VK_NULL_HANDLE;
    VmaVirtualAllocation ranges[3];
    char* text = NULL;
    (void)vmaCreateVirtualBlock(&info, &block);
    for (uint32_t i = 0; i < 3; ++i) {
        (void)vmaVirtualAllocate(block, &how, &ranges[i], NULL);
    }
    vmaVirtualFree(block, ranges[1]);
    vmaBuildVirtualBlockStatsString(block, &text, VK_TRUE);
    (void)fputs(text, stdout);
    vmaFreeVirtualBlockStatsString(block, text);
    vmaClearVirtualBlock(block);
    vmaDestroyVirtualBlock(block);
}

int main(int argc, char** argv)
{
    (void)setvbuf(stdout, NULL, _IOLBF, 0); /* what was said before an assertion failed */
    if (argc > 1) {
        if (strcmp(argv[1], "virtual") == 0) {
            write_virtual_json();
        } else if (strcmp(argv[1], "profiles") == 0) {
            same_profiles();
        } else if (strcmp(argv[1], "margins") == 0) {
            same_margins();
        } else {
            write_json(strcmp(argv[1], "detailed") == 0);
        }
        return 0;
    }
    same_layouts();
    same_allocators();
    same_types();
    same_memory();
    same_pools();
    same_objects();
    same_statistics();
    same_virtual_blocks();
    same_defragmentation();
    same_strategies();
    same_exports();
    same_flags();
    same_places();
    return 0;
}
