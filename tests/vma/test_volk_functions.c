/*
 * A unit that takes its functions from volk alone: none is linked, and none is looked up.
 */
#include "tests/rig/rig.h"

#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>

static void functions_from_volk_serve_alone(void** state)
{
    (void)state;
    static const uint32_t versions[] = {VK_API_VERSION_1_0, VK_API_VERSION_1_1};
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; ++i) {
        VmaVulkanFunctions functions;
        VmaAllocator allocator = VK_NULL_HANDLE;
        VmaAllocation allocation = VK_NULL_HANDLE;
        VkBuffer buffer = VK_NULL_HANDLE;
        const VmaAllocatorCreateInfo info = {.instance = rig->instance,
                                             .physicalDevice = rig->physical,
                                             .device = rig->device,
                                             .pVulkanFunctions = &functions,
                                             .vulkanApiVersion = versions[i]};
        const VkBufferCreateInfo buffer_info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                                .size = 65536,
                                                .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
        const VmaAllocationCreateInfo how = {.usage = VMA_MEMORY_USAGE_AUTO};
        assert_int_equal(vmaImportVulkanFunctionsFromVolk(&info, &functions), VK_SUCCESS);
        assert_non_null(functions.vkAllocateMemory);
        assert_non_null(functions.vkCmdCopyBuffer);
        assert_int_equal(vmaCreateAllocator(&info, &allocator), VK_SUCCESS);
        assert_int_equal(vmaCreateBuffer(allocator, &buffer_info, &how, &buffer, &allocation, NULL),
                         VK_SUCCESS);
        vmaDestroyBuffer(allocator, buffer, allocation);
        vmaDestroyAllocator(allocator);
    }
}

static void incomplete_structures_are_refused(void** state)
{
    (void)state;
    VmaVulkanFunctions functions;
    const VmaAllocatorCreateInfo info = {.vulkanApiVersion = VK_API_VERSION_1_1};
    assert_int_equal(vmaImportVulkanFunctionsFromVolk(&info, &functions),
                     VK_ERROR_INITIALIZATION_FAILED);
    assert_int_equal(vmaImportVulkanFunctionsFromVolk(NULL, &functions),
                     VK_ERROR_INITIALIZATION_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(functions_from_volk_serve_alone),
        rig_unit_test(incomplete_structures_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
