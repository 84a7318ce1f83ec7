/*
 * A program for VulkanMemoryAllocator's interface, of which every host allocation and every call of
 * the driver fails in turn. A failing call returns nothing, and nothing is left in the end: the rig
 * counts objects and host memory when it closes.
 */
#include "tests/rig/rig.h"

#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>

enum { PAGES = 4, MOVERS = 24, MOST_FAULTS = 4000 };

#define BLOCK_SIZE (256 * KIB)

/* What the program holds. All zero: nothing. */
struct holdings {
    VmaAllocator allocator;
    VmaPool pool;
    VmaAllocation memory, dedicated, buffer_memory, image_memory, unbound_memory;
    VmaAllocation pages[PAGES];
    VmaAllocation movers[MOVERS];
    VkBuffer buffer, unbound, alias;
    VkImage image;
    VmaVirtualBlock block;
};

static VkResult open_allocator(struct rig* rig, struct holdings* own)
{
    const VmaVulkanFunctions functions = {.vkGetInstanceProcAddr = vkGetInstanceProcAddr,
                                          .vkGetDeviceProcAddr = vkGetDeviceProcAddr};
    const VmaAllocatorCreateInfo info = {.instance = rig->instance,
                                         .physicalDevice = rig->physical,
                                         .device = rig->device,
                                         .pAllocationCallbacks = &rig->host_callbacks,
                                         .pVulkanFunctions = &functions,
                                         .vulkanApiVersion = VK_API_VERSION_1_1};
    const VkResult result = vmaCreateAllocator(&info, &own->allocator);
    assert_true((result == VK_SUCCESS) == (own->allocator != VK_NULL_HANDLE));
    return result;
}

static VkResult open_pool(struct holdings* own)
{
    const VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_CPU_TO_GPU};
    VmaPoolCreateInfo info = {.blockSize = BLOCK_SIZE, .minBlockCount = 1};
    VkResult result =
        vmaFindMemoryTypeIndex(own->allocator, UINT32_MAX, &how, &info.memoryTypeIndex);
    if (result == VK_SUCCESS) {
        result = vmaCreatePool(own->allocator, &info, &own->pool);
        assert_true((result == VK_SUCCESS) == (own->pool != VK_NULL_HANDLE));
    }
    return result;
}

static VkResult take_memory(struct holdings* own)
{
    const VkMemoryRequirements needs = {
        .size = 10000, .alignment = 256, .memoryTypeBits = UINT32_MAX};
    const VmaAllocationCreateInfo mapped = {.flags = VMA_ALLOCATION_CREATE_MAPPED_BIT,
                                            .usage = VMA_MEMORY_USAGE_CPU_TO_GPU};
    const VmaAllocationCreateInfo alone = {.flags = VMA_ALLOCATION_CREATE_DEDICATED_MEMORY_BIT,
                                           .usage = VMA_MEMORY_USAGE_CPU_TO_GPU};
    const VmaAllocationCreateInfo named = {.flags = VMA_ALLOCATION_CREATE_USER_DATA_COPY_STRING_BIT,
                                           .pool = own->pool,
                                           .pUserData = (void*)(uintptr_t) "a name that is copied"};
    VmaAllocationInfo infos[PAGES];
    VkResult result = vmaAllocateMemory(own->allocator, &needs, &mapped, &own->memory, &infos[0]);
    assert_true((result == VK_SUCCESS) == (own->memory != VK_NULL_HANDLE));
    if (result == VK_SUCCESS) {
        result = vmaAllocateMemory(own->allocator, &needs, &alone, &own->dedicated, NULL);
        assert_true((result == VK_SUCCESS) == (own->dedicated != VK_NULL_HANDLE));
    }
    if (result == VK_SUCCESS) {
        result = vmaAllocateMemoryPages(own->allocator, &needs, &named, PAGES, own->pages, infos);
        for (uint32_t i = 0; i < PAGES; ++i) {
            assert_true((result == VK_SUCCESS) == (own->pages[i] != VK_NULL_HANDLE));
        }
    }
    return result;
}

static VkResult use_memory(struct holdings* own)
{
    uint8_t bytes[64] = {1};
    void* data = NULL;
    char* text = NULL;
    VkResult result = vmaMapMemory(own->allocator, own->dedicated, &data);
    if (result == VK_SUCCESS) {
        result = vmaFlushAllocation(own->allocator, own->dedicated, 0, VK_WHOLE_SIZE);
        vmaUnmapMemory(own->allocator, own->dedicated);
    }
    if (result == VK_SUCCESS) {
        result = vmaCopyMemoryToAllocation(own->allocator, bytes, own->memory, 64, sizeof bytes);
    }
    if (result == VK_SUCCESS) {
        result = vmaCopyAllocationToMemory(own->allocator, own->memory, 64, bytes, sizeof bytes);
    }
    if (result == VK_SUCCESS) {
        vmaSetPoolName(own->allocator, own->pool, "pool");
        vmaSetAllocationName(own->allocator, own->memory, "memory");
        vmaBuildStatsString(own->allocator, &text, VK_TRUE);
        vmaFreeStatsString(own->allocator, text);
    }
    return result;
}

static VkResult make_objects(struct holdings* own)
{
    const VkBufferCreateInfo buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                       .size = 5000,
                                       .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    const VkImageCreateInfo image = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                     .imageType = VK_IMAGE_TYPE_2D,
                                     .format = VK_FORMAT_R8G8B8A8_UNORM,
                                     .extent = {64, 64, 1},
                                     .mipLevels = 1,
                                     .arrayLayers = 1,
                                     .samples = VK_SAMPLE_COUNT_1_BIT,
                                     .usage = VK_IMAGE_USAGE_SAMPLED_BIT};
    const VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_AUTO};
    const VmaAllocationCreateInfo unbound = {
        .flags = VMA_ALLOCATION_CREATE_CAN_ALIAS_BIT |
                 (VmaAllocationCreateFlags)VMA_ALLOCATION_CREATE_DONT_BIND_BIT,
        .usage = VMA_MEMORY_USAGE_AUTO};
    VmaAllocationInfo info;
    VkResult result =
        vmaCreateBuffer(own->allocator, &buffer, &how, &own->buffer, &own->buffer_memory, &info);
    assert_true((result == VK_SUCCESS) == (own->buffer != VK_NULL_HANDLE));
    assert_true((result == VK_SUCCESS) == (own->buffer_memory != VK_NULL_HANDLE));
    if (result == VK_SUCCESS) {
        result =
            vmaCreateImage(own->allocator, &image, &how, &own->image, &own->image_memory, NULL);
        assert_true((result == VK_SUCCESS) == (own->image != VK_NULL_HANDLE));
        assert_true((result == VK_SUCCESS) == (own->image_memory != VK_NULL_HANDLE));
    }
    if (result == VK_SUCCESS) {
        result = vmaCreateBuffer(own->allocator, &buffer, &unbound, &own->unbound,
                                 &own->unbound_memory, NULL);
        assert_true((result == VK_SUCCESS) == (own->unbound != VK_NULL_HANDLE));
    }
    if (result == VK_SUCCESS) {
        result = vmaCreateAliasingBuffer(own->allocator, own->unbound_memory, &buffer, &own->alias);
        assert_true((result == VK_SUCCESS) == (own->alias != VK_NULL_HANDLE));
    }
    return result;
}

static VkResult use_ranges(struct rig* rig, struct holdings* own)
{
    const VmaVirtualBlockCreateInfo info = {.size = MIB,
                                            .pAllocationCallbacks = &rig->host_callbacks};
    const VmaVirtualAllocationCreateInfo range = {.size = 1000};
    VmaVirtualAllocation allocation = VK_NULL_HANDLE;
    char* text = NULL;
    VkResult result = vmaCreateVirtualBlock(&info, &own->block);
    assert_true((result == VK_SUCCESS) == (own->block != VK_NULL_HANDLE));
    if (result == VK_SUCCESS) {
        result = vmaVirtualAllocate(own->block, &range, &allocation, NULL);
        assert_true((result == VK_SUCCESS) == (allocation != VK_NULL_HANDLE));
        vmaBuildVirtualBlockStatsString(own->block, &text, VK_TRUE);
        vmaFreeVirtualBlockStatsString(own->block, text);
        vmaClearVirtualBlock(own->block);
    }
    return result;
}

/* Fills the pool and makes holes. */
static VkResult make_holes(struct holdings* own)
{
    const VkMemoryRequirements needs = {
        .size = 64 * KIB, .alignment = 256, .memoryTypeBits = UINT32_MAX};
    const VmaAllocationCreateInfo how = {.pool = own->pool};
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < MOVERS && result == VK_SUCCESS; ++i) {
        result = vmaAllocateMemory(own->allocator, &needs, &how, &own->movers[i], NULL);
    }
    for (uint32_t i = 0; i < MOVERS && result == VK_SUCCESS; ++i) {
        if (i % 4 != 0) {
            vmaFreeMemory(own->allocator, own->movers[i]);
            own->movers[i] = VK_NULL_HANDLE;
        }
    }
    return result;
}

static VkResult defragment(struct holdings* own)
{
    const VmaDefragmentationInfo info = {.pool = own->pool, .maxAllocationsPerPass = 2};
    VmaDefragmentationPassMoveInfo pass = {0};
    VmaDefragmentationContext context = VK_NULL_HANDLE;
    VkResult result = make_holes(own);
    if (result == VK_SUCCESS) {
        result = vmaBeginDefragmentation(own->allocator, &info, &context);
        assert_true((result == VK_SUCCESS) == (context != VK_NULL_HANDLE));
    }
    while (result == VK_SUCCESS) {
        result = vmaBeginDefragmentationPass(own->allocator, context, &pass);
        if (result != VK_INCOMPLETE) {
            assert_int_equal(pass.moveCount, 0);
            break;
        }
        result = vmaEndDefragmentationPass(own->allocator, context, &pass);
        result = result == VK_INCOMPLETE ? VK_SUCCESS : result;
    }
    if (context != VK_NULL_HANDLE) {
        vmaEndDefragmentation(own->allocator, context, NULL);
    }
    return result;
}

static void close_all(struct rig* rig, struct holdings* own)
{
    vmaDestroyVirtualBlock(own->block);
    if (own->allocator == VK_NULL_HANDLE) {
        return;
    }
    vkDestroyBuffer(rig->device, own->alias, &rig->host_callbacks);
    vmaDestroyBuffer(own->allocator, own->buffer, own->buffer_memory);
    vmaDestroyBuffer(own->allocator, own->unbound, own->unbound_memory);
    vmaDestroyImage(own->allocator, own->image, own->image_memory);
    vmaFreeMemoryPages(own->allocator, PAGES, own->pages);
    vmaFreeMemoryPages(own->allocator, MOVERS, own->movers);
    vmaFreeMemory(own->allocator, own->memory);
    vmaFreeMemory(own->allocator, own->dedicated);
    vmaDestroyPool(own->allocator, own->pool);
    vmaDestroyAllocator(own->allocator);
}

/* The whole program, up to the first failure. */
static VkResult run(struct rig* rig)
{
    struct holdings own = {0};
    VkResult result = open_allocator(rig, &own);
    result = result == VK_SUCCESS ? open_pool(&own) : result;
    result = result == VK_SUCCESS ? take_memory(&own) : result;
    result = result == VK_SUCCESS ? use_memory(&own) : result;
    result = result == VK_SUCCESS ? make_objects(&own) : result;
    result = result == VK_SUCCESS ? use_ranges(rig, &own) : result;
    result = result == VK_SUCCESS ? defragment(&own) : result;
    close_all(rig, &own);
    return result;
}

static const struct rig_setup setup = {.count_host = true};

static uint64_t fallible_calls(struct rig* rig)
{
    return rig_counters(rig).fallibleCallCount;
}

static void every_host_allocation_may_fail(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    uint32_t failures = 0;
    bool done = false;
    rig_open(rig, &setup);
    assert_int_equal(run(rig), VK_SUCCESS);
    const uint64_t live = atomic_load(&rig->host.live);
    for (uint32_t i = 1; i < MOST_FAULTS && !done; ++i) {
        const uint64_t before = atomic_load(&rig->host.calls);
        atomic_store(&rig->host.fail_at, before + i);
        failures += run(rig) != VK_SUCCESS;
        done = atomic_load(&rig->host.calls) < before + i;
        assert_int_equal(atomic_load(&rig->host.live), live);
    }
    atomic_store(&rig->host.fail_at, 0);
    assert_true(done);
    assert_true(failures > 20);
}

static void every_call_of_the_driver_may_fail(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    uint32_t failures = 0;
    bool done = false;
    rig_open(rig, &setup);
    assert_int_equal(run(rig), VK_SUCCESS);
    const uint64_t live = atomic_load(&rig->host.live);
    for (uint32_t i = 1; i < MOST_FAULTS && !done; ++i) {
        const MaarSimulatedFault fault = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_FAULT, .nth = i};
        const uint64_t before = fallible_calls(rig);
        assert_int_equal(maarSimulatedSetFault(rig->physical, &fault), VK_SUCCESS);
        failures += run(rig) != VK_SUCCESS;
        assert_int_equal(maarSimulatedSetFault(rig->physical, NULL), VK_SUCCESS);
        done = fallible_calls(rig) < before + i;
        assert_int_equal(atomic_load(&rig->host.live), live);
    }
    assert_true(done);
    assert_true(failures > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(every_host_allocation_may_fail),
        rig_unit_test(every_call_of_the_driver_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
