/*
 * Programs of Vulkan 1.1 on newer devices: what is recommended serves them too, and features that
 * are enabled in vain are reported.
 */
#include "core/memory/allocator_state.h"
#include "tests/rig/rig.h"

static bool recommends(const struct rig* rig, const char* name)
{
    for (uint32_t i = 0; i < rig->recommendation.extensionCount; ++i) {
        if (strcmp(rig->recommendation.ppExtensionNames[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void recommendation_serves_a_program_of_1_1(void** state)
{
    (void)state;
    const struct rig_setup setup = {.api_version = VK_API_VERSION_1_1};
    struct rig* const rig = rig_begin(&setup);
    assert_true(recommends(rig, VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME));
    assert_true(recommends(rig, VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME));
    assert_true(recommends(rig, VK_KHR_MAINTENANCE_4_EXTENSION_NAME));
    MaarAllocatorInfo info = rig_allocator_info(rig);
    assert_int_equal(info.apiVersion, VK_API_VERSION_1_1);
    assert_int_equal(info.timelineSemaphore, VK_TRUE);
    assert_int_equal(info.bufferDeviceAddress, VK_TRUE);
    assert_int_equal(info.maintenance4, VK_TRUE);
    assert_int_equal(info.memoryBudget, VK_TRUE);
    assert_int_equal(info.memoryPriority, VK_TRUE);
    rig_expect_silence(rig);
}

/* Each capability is used, through the names that 1.1 with extensions knows. */
static void capabilities_work_for_a_program_of_1_1(void** state)
{
    (void)state;
    const struct rig_setup setup = {.api_version = VK_API_VERSION_1_1};
    struct rig* const rig = rig_begin(&setup);
    VkBufferCreateInfo info = rig_buffer_info(4096);
    info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, NULL, &buffer, &memory), VK_SUCCESS);
    VkDeviceAddress address = 0;
    assert_int_equal(maarGetBufferAddress(rig->allocator, buffer, &address), VK_SUCCESS);
    assert_true(address != 0);
    const MaarPoint point = {rig_create_timeline(rig, 1), 1};
    assert_int_equal(maarDestroyBufferAfter(rig->allocator, buffer, memory, 1, &point), VK_SUCCESS);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 0);
    vkDestroySemaphore(rig->device, point.semaphore, NULL);
    rig_expect_silence(rig);
}

static void features_in_vain_are_reported(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    /* The features are there, but the version was forgotten and so were the extensions. */
    rig->create_info.apiVersion = VK_API_VERSION_1_1;
    rig->create_info.enabledExtensionCount = 0;
    rig_make_allocator(rig);
    assert_int_equal(rig->messages.total, 5);
    assert_int_equal(rig->messages.counts[MAAR_MESSAGE_SEVERITY_INFO], 5);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FEATURE_UNUSED, "pageableDeviceLocalMemory");
    MaarAllocatorInfo info = rig_allocator_info(rig);
    assert_int_equal(info.timelineSemaphore, VK_FALSE);
    assert_int_equal(info.bufferDeviceAddress, VK_FALSE);
    assert_int_equal(info.maintenance4, VK_FALSE);
    assert_int_equal(info.memoryPriority, VK_FALSE);
    assert_int_equal(info.pageableDeviceLocalMemory, VK_FALSE);
    maarDestroyAllocator(rig->allocator);

    /* One at a time, by what is missing. */
    rig->create_info.apiVersion = VK_API_VERSION_1_3;
    rig->create_info.pEnabledFeatures = &(const VkPhysicalDeviceMemoryPriorityFeaturesEXT){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PRIORITY_FEATURES_EXT,
        .memoryPriority = VK_TRUE,
    };
    rig_make_allocator(rig);
    assert_int_equal(rig->messages.total, 1);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FEATURE_UNUSED, "memoryPriority");
    maarDestroyAllocator(rig->allocator);
    rig->create_info.apiVersion = VK_API_VERSION_1_2;
    rig->create_info.pEnabledFeatures = &(const VkPhysicalDeviceMaintenance4Features){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES,
        .maintenance4 = VK_TRUE,
    };
    rig_make_allocator(rig);
    assert_int_equal(rig->messages.total, 1);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FEATURE_UNUSED, "apiVersion");
}

static void features_in_use_are_not_reported(void** state)
{
    (void)state;
    static const uint32_t versions[] = {VK_API_VERSION_1_1, VK_API_VERSION_1_2, VK_API_VERSION_1_3};
    for (uint32_t i = 0; i < 3; ++i) {
        for (uint32_t off = 0; off < 2; ++off) {
            const struct rig_setup setup = {.api_version = versions[i],
                                            .off = off != 0 ? RIG_OFF_ALL : 0};
            struct rig* const rig = rig_begin(&setup);
            rig_expect_silence(rig);
            rig_close(rig);
        }
    }
}

static PFN_vkGetPhysicalDeviceQueueFamilyProperties real_families;

/* As SwiftShader does it: whatever room is offered is filled. */
static VKAPI_ATTR void VKAPI_CALL fill_families(VkPhysicalDevice physical, uint32_t* count,
                                                VkQueueFamilyProperties* families)
{
    if (families == NULL) {
        real_families(physical, count, NULL);
        return;
    }
    for (uint32_t i = 0; i < *count; ++i) {
        uint32_t one = 1;
        real_families(physical, &one, &families[i]);
    }
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_filling(VkInstance instance, const char* name)
{
    PFN_vkVoidFunction found = maarSimulatedGetInstanceProcAddr(instance, name);
    if (strcmp(name, "vkGetPhysicalDeviceQueueFamilyProperties") == 0) {
        real_families = (PFN_vkGetPhysicalDeviceQueueFamilyProperties)found;
        return (PFN_vkVoidFunction)fill_families;
    }
    return found;
}

static void families_are_no_more_than_the_driver_has(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(rig->physical, &count, NULL);
    rig->create_info.pfnGetInstanceProcAddr = find_filling;
    rig_make_allocator(rig);
    assert_non_null(real_families);
    assert_int_equal(rig->allocator->device.facts.queue_family_count, count);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_without_signal(VkDevice device,
                                                                    const char* name)
{
    return strncmp(name, "vkSignalSemaphore", 17) == 0 ? NULL : vkGetDeviceProcAddr(device, name);
}

static void timelines_need_each_of_their_functions(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.pfnGetDeviceProcAddr = find_without_signal;
    rig_make_allocator(rig);
    assert_int_equal(rig_allocator_info(rig).timelineSemaphore, VK_FALSE);
}

static PFN_vkGetPhysicalDeviceProperties real_properties;

static VKAPI_ATTR void VKAPI_CALL read_huge_limits(VkPhysicalDevice physical,
                                                   VkPhysicalDeviceProperties* properties)
{
    real_properties(physical, properties);
    properties->limits.bufferImageGranularity = ((VkDeviceSize)1 << 63) + 1;
    properties->limits.nonCoherentAtomSize = UINT64_MAX;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_huge(VkInstance instance, const char* name)
{
    PFN_vkVoidFunction found = maarSimulatedGetInstanceProcAddr(instance, name);
    if (strcmp(name, "vkGetPhysicalDeviceProperties") == 0) {
        real_properties = (PFN_vkGetPhysicalDeviceProperties)found;
        return (PFN_vkVoidFunction)read_huge_limits;
    }
    return found;
}

static void limits_beyond_all_bounds_are_survived(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.pfnGetInstanceProcAddr = find_huge;
    rig_make_allocator(rig);
    const MaarAllocatorInfo info = rig_allocator_info(rig);
    assert_true(info.bufferImageGranularity == (VkDeviceSize)1 << 63);
    assert_true(info.nonCoherentAtomSize == (VkDeviceSize)1 << 63);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(recommendation_serves_a_program_of_1_1),
        rig_unit_test(capabilities_work_for_a_program_of_1_1),
        rig_unit_test(features_in_vain_are_reported),
        rig_unit_test(features_in_use_are_not_reported),
        rig_unit_test(families_are_no_more_than_the_driver_has),
        rig_unit_test(timelines_need_each_of_their_functions),
        rig_unit_test(limits_beyond_all_bounds_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
