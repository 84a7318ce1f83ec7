/*
 * The C of docs/vma.md does what the page says, on a simulated device: one allocator serves both
 * interfaces.
 */
#include "tests/rig/rig.h"

#define VMA_STATIC_VULKAN_FUNCTIONS 0
#define VMA_DYNAMIC_VULKAN_FUNCTIONS 1
#define VMA_ASSERT(expression) assert_true(expression)
#define VMA_IMPLEMENTATION
#include <maar/vma.h>

#include "vma.inc"

static void docs_one_allocator_serves_both(void** state)
{
    const struct rig_setup setup = {.profile = rig_profile_sparse(), .paging = true};
    const MaarMovableInfo movable = {.sType = MAAR_STRUCTURE_TYPE_MOVABLE_INFO};
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .pNext = &movable};
    const VmaAllocationCreateInfo plain = {.usage = VMA_MEMORY_USAGE_AUTO};
    const VkBufferCreateInfo buffer_info = rig_buffer_info(MIB);
    VmaAllocator allocator = VK_NULL_HANDLE;
    VmaAllocation of_vma = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    MaarReservation reservation = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    VkBuffer other = VK_NULL_HANDLE;
    MaarPoint moved = {VK_NULL_HANDLE, 0};
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, &setup);
    const VmaVulkanFunctions functions = {.vkGetInstanceProcAddr = vkGetInstanceProcAddr,
                                          .vkGetDeviceProcAddr = vkGetDeviceProcAddr};
    const VmaAllocatorCreateInfo info = {.instance = rig->instance,
                                         .physicalDevice = rig->physical,
                                         .device = rig->device,
                                         .pVulkanFunctions = &functions,
                                         .vulkanApiVersion = VK_API_VERSION_1_3};
    assert_int_equal(
        create_allocator(&info, rig->recommendation.pFeatures, &rig->paging_queues[0], &allocator),
        VK_SUCCESS);
    const MaarAllocator maar = maarVmaGetMaarAllocator(allocator);
    assert_int_equal(vmaCreateBuffer(allocator, &buffer_info, &plain, &other, &of_vma, NULL),
                     VK_SUCCESS);
    assert_int_equal(reserve_buffer(allocator, &buffer_info, &reservation), VK_SUCCESS);
    assert_int_equal(maarCreateBuffer(maar, &buffer_info, &how, &buffer, &memory), VK_SUCCESS);
    const VkBuffer before = buffer;
    const MaarPoint last_use = {rig_create_timeline(rig, 1), 1};
    assert_int_equal(move_buffer(allocator, memory, &last_use, &buffer, &moved), VK_SUCCESS);
    assert_true(buffer != before && moved.semaphore != VK_NULL_HANDLE);
    maarDestroyReservation(maar, reservation);
    assert_int_equal(maarDestroyBufferAfter(maar, buffer, memory, 1, &moved), VK_SUCCESS);
    assert_int_equal(maarWaitPending(maar, UINT64_MAX), VK_SUCCESS);
    vmaDestroyBuffer(allocator, other, of_vma);
    vmaDestroyAllocator(allocator);
    vkDestroySemaphore(rig->device, last_use.semaphore, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(docs_one_allocator_serves_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
