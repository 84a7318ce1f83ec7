/*
 * Create infos that take the fast path through their translation, beside those that differ from
 * them in one member and must not.
 */
#include "tests/rig/rig.h"

#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>

#define BLOCK_SIZE (256 * KIB)

static VmaAllocator open_allocator(struct rig* rig)
{
    const VmaVulkanFunctions functions = {.vkGetInstanceProcAddr = vkGetInstanceProcAddr,
                                          .vkGetDeviceProcAddr = vkGetDeviceProcAddr};
    const VmaAllocatorCreateInfo info = {.instance = rig->instance,
                                         .physicalDevice = rig->physical,
                                         .device = rig->device,
                                         .pVulkanFunctions = &functions,
                                         .vulkanApiVersion = VK_API_VERSION_1_1};
    VmaAllocator allocator = VK_NULL_HANDLE;
    assert_int_equal(vmaCreateAllocator(&info, &allocator), VK_SUCCESS);
    return allocator;
}

static VmaAllocationInfo2 take(VmaAllocator allocator, const VmaAllocationCreateInfo* how,
                               VmaAllocation* allocation)
{
    const VkMemoryRequirements needs = {
        .size = 1000, .alignment = 16, .memoryTypeBits = UINT32_MAX};
    VmaAllocationInfo2 info;
    assert_int_equal(vmaAllocateMemory(allocator, &needs, how, allocation, NULL), VK_SUCCESS);
    vmaGetAllocationInfo2(allocator, *allocation, &info);
    return info;
}

/* The search for a type takes the slow path, and finds the type that an allocation gets. */
static void both_paths_choose_the_same_type(void** state)
{
    (void)state;
    static const VkMemoryPropertyFlags flags[] = {0, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
                                                  VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                                  VK_MEMORY_PROPERTY_HOST_CACHED_BIT};
    enum { FLAGS = sizeof flags / sizeof flags[0], USAGES = VMA_MEMORY_USAGE_AUTO_PREFER_HOST + 1 };
    struct rig* const rig = rig_new();
    uint32_t compared = 0;
    rig_open(rig, NULL);
    const VmaAllocator allocator = open_allocator(rig);
    for (uint32_t i = 0; i < USAGES * FLAGS * FLAGS * 2; ++i) {
        const VmaAllocationCreateInfo how = {.usage = (VmaMemoryUsage)(i % USAGES),
                                             .requiredFlags = flags[i / USAGES % FLAGS],
                                             .preferredFlags = flags[i / USAGES / FLAGS % FLAGS],
                                             .memoryTypeBits =
                                                 i / USAGES / FLAGS / FLAGS == 0 ? 0 : 0x6,
                                             .pUserData = &compared};
        VmaAllocation allocation = VK_NULL_HANDLE;
        uint32_t index = 0;
        if (vmaFindMemoryTypeIndex(allocator, UINT32_MAX, &how, &index) == VK_SUCCESS) {
            const VmaAllocationInfo2 info = take(allocator, &how, &allocation);
            assert_int_equal(info.allocationInfo.memoryType, index);
            assert_ptr_equal(info.allocationInfo.pUserData, &compared);
            compared += 1;
        }
        vmaFreeMemory(allocator, allocation);
    }
    assert_true(compared > 100);
    vmaDestroyAllocator(allocator);
}

static void each_member_has_its_effect(void** state)
{
    (void)state;
    const VmaAllocationCreateInfo plain = {.usage = VMA_MEMORY_USAGE_CPU_TO_GPU};
    VmaAllocation all[6] = {VK_NULL_HANDLE};
    VmaStatistics statistics;
    VmaPoolCreateInfo pool_info = {.blockSize = BLOCK_SIZE};
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    const VmaAllocator allocator = open_allocator(rig);
    VmaAllocationInfo2 info = take(allocator, &plain, &all[0]);
    pool_info.memoryTypeIndex = info.allocationInfo.memoryType;
    assert_null(info.allocationInfo.pMappedData);
    assert_false(info.dedicatedMemory);
    VmaAllocationCreateInfo how = plain;
    how.flags = VMA_ALLOCATION_CREATE_MAPPED_BIT;
    assert_non_null(take(allocator, &how, &all[1]).allocationInfo.pMappedData);
    how.flags = VMA_ALLOCATION_CREATE_DEDICATED_MEMORY_BIT;
    assert_true(take(allocator, &how, &all[2]).dedicatedMemory);
    how = plain;
    how.minAlignment = 64 * KIB;
    assert_int_equal(take(allocator, &how, &all[3]).allocationInfo.offset % (64 * KIB), 0);
    assert_int_equal(take(allocator, &how, &all[4]).allocationInfo.offset % (64 * KIB), 0);
    how = plain;
    assert_int_equal(vmaCreatePool(allocator, &pool_info, &how.pool), VK_SUCCESS);
    assert_int_equal(take(allocator, &how, &all[5]).blockSize, BLOCK_SIZE);
    vmaGetPoolStatistics(allocator, how.pool, &statistics);
    assert_int_equal(statistics.allocationCount, 1);
    vmaFreeMemoryPages(allocator, 6, all);
    vmaDestroyPool(allocator, how.pool);
    vmaDestroyAllocator(allocator);
}

/* A buffer for which there is no memory is not left behind, bound or not. */
static void objects_without_memory_are_destroyed(void** state)
{
    (void)state;
    static const VmaAllocationCreateFlags flags[] = {
        VMA_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT,
        VMA_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT |
            (VmaAllocationCreateFlags)VMA_ALLOCATION_CREATE_DONT_BIND_BIT};
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = MIB,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    const VmaAllocator allocator = open_allocator(rig);
    for (uint32_t i = 0; i < 2; ++i) {
        const VmaAllocationCreateInfo how = {.flags = flags[i], .usage = VMA_MEMORY_USAGE_AUTO};
        VmaAllocation allocation = VK_NULL_HANDLE;
        VkBuffer buffer = VK_NULL_HANDLE;
        assert_int_equal(vmaCreateBuffer(allocator, &info, &how, &buffer, &allocation, NULL),
                         VK_ERROR_OUT_OF_DEVICE_MEMORY);
        assert_true(buffer == VK_NULL_HANDLE && allocation == VK_NULL_HANDLE);
        assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 0);
    }
    vmaDestroyAllocator(allocator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(both_paths_choose_the_same_type),
        rig_unit_test(each_member_has_its_effect),
        rig_unit_test(objects_without_memory_are_destroyed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
