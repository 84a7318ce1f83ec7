/*
 * The allocator itself: creation and its faults, what it knows of its device, destruction.
 */
#include "tests/rig/rig.h"

#include <stdio.h>

#include "core/memory/allocator_state.h"

static void create_defaults_allocates_no_memory(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarStatistics statistics = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.blockCount, 0);
    assert_int_equal(statistics.deviceAllocationCalls, 0);
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), 0);
    rig_check(rig);
    rig_expect_silence(rig);
}

static void create_null_arguments_fail(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    MaarAllocator allocator = (MaarAllocator)(void*)rig;
    assert_int_equal(maarCreateAllocator(NULL, &allocator), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_null(allocator);
    assert_int_equal(maarCreateAllocator(&rig->create_info, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    MaarAllocatorCreateInfo wrong = rig->create_info;
    wrong.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO;
    allocator = (MaarAllocator)(void*)rig;
    assert_int_equal(maarCreateAllocator(&wrong, &allocator), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_null(allocator);
    maarDestroyAllocator(VK_NULL_HANDLE);
}

static void expect_refused(struct rig* rig, const MaarAllocatorCreateInfo* info, VkResult wanted,
                           MaarMessageId id, const char* culprit)
{
    MaarAllocator allocator = (MaarAllocator)(void*)rig;
    assert_int_equal(maarCreateAllocator(info, &allocator), wanted);
    assert_null(allocator);
    rig_expect_message_naming(rig, id, culprit);
}

static void create_faulty_info_names_the_field(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    MaarAllocatorCreateInfo info = rig->create_info;
    info.instance = VK_NULL_HANDLE;
    expect_refused(rig, &info, invalid, MAAR_MESSAGE_ID_NULL_HANDLE, "instance");
    info = rig->create_info;
    info.flags = 0x8;
    expect_refused(rig, &info, invalid, MAAR_MESSAGE_ID_UNKNOWN_FLAGS, "flags");
    info = rig->create_info;
    info.physicalDevice = VK_NULL_HANDLE;
    expect_refused(rig, &info, invalid, MAAR_MESSAGE_ID_NULL_HANDLE, "physicalDevice");
    info = rig->create_info;
    info.device = VK_NULL_HANDLE;
    expect_refused(rig, &info, invalid, MAAR_MESSAGE_ID_NULL_HANDLE, "device");
    info = rig->create_info;
    info.pfnGetInstanceProcAddr = NULL;
    expect_refused(rig, &info, invalid, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pfnGetInstanceProcAddr");
    info = rig->create_info;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = NULL;
    expect_refused(rig, &info, invalid, MAAR_MESSAGE_ID_NULL_ARGUMENT, "ppEnabledExtensionNames");
    info = rig->create_info;
    info.queueCount = 1;
    expect_refused(rig, &info, invalid, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pQueues");
    info = rig->create_info;
    info.heapSizeLimitCount = 3;
    expect_refused(rig, &info, invalid, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pHeapSizeLimits");
    const VkDeviceSize limits[2] = {0, 0};
    info.heapSizeLimitCount = 2;
    info.pHeapSizeLimits = limits;
    expect_refused(rig, &info, invalid, MAAR_MESSAGE_ID_OUT_OF_RANGE, "heapSizeLimitCount");
    info = rig->create_info;
    info.strategy = (MaarPlacementStrategy)3;
    expect_refused(rig, &info, invalid, MAAR_MESSAGE_ID_INVALID_ENUM, "strategy");
    info = rig->create_info;
    const VkAllocationCallbacks empty = {.pUserData = NULL};
    info.pAllocationCallbacks = &empty;
    expect_refused(rig, &info, invalid, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pAllocationCallbacks");
    info = rig->create_info;
    info.apiVersion = 1;
    expect_refused(rig, &info, VK_ERROR_INCOMPATIBLE_DRIVER, MAAR_MESSAGE_ID_VERSION_TOO_LOW,
                   "pCreateInfo->apiVersion");
}

static void VKAPI_PTR ignore_queue(void* user, VkQueue queue)
{
    (void)user;
    (void)queue;
}

static void create_queues_are_checked_and_copied(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    MaarQueue queue = {.queue = VK_NULL_HANDLE};
    MaarAllocatorCreateInfo info = rig->create_info;
    info.queueCount = 1;
    info.pQueues = &queue;
    expect_refused(rig, &info, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_NULL_HANDLE,
                   "pQueues[0]");
    queue.queue = rig->queue;
    queue.familyIndex = 9;
    expect_refused(rig, &info, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                   "pQueues[0].familyIndex");
    queue.familyIndex = 0;
    queue.pfnLock = ignore_queue;
    expect_refused(rig, &info, VK_ERROR_VALIDATION_FAILED_EXT,
                   MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "pQueues[0]");
    queue.pfnUnlock = ignore_queue;
    rig->create_info = info;
    rig_make_allocator(rig);
    queue = (MaarQueue){.queue = VK_NULL_HANDLE};
    assert_int_equal(rig->allocator->queue_count, 1);
    assert_ptr_equal(rig->allocator->queues[0].queue, rig->queue);
    assert_true(rig->allocator->queues[0].pfnLock == ignore_queue);
}

static const char* hidden_function;

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL hide_device_function(VkDevice device,
                                                                     const char* name)
{
    return strcmp(name, hidden_function) == 0 ? NULL : vkGetDeviceProcAddr(device, name);
}

static void create_missing_function_is_named(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    MaarAllocatorCreateInfo info = rig->create_info;
    info.pfnGetDeviceProcAddr = hide_device_function;
    hidden_function = "vkBindImageMemory2";
    expect_refused(rig, &info, VK_ERROR_INITIALIZATION_FAILED, MAAR_MESSAGE_ID_MISSING_ENTRY_POINT,
                   "vkBindImageMemory2");
    hidden_function = "vkAllocateMemory";
    expect_refused(rig, &info, VK_ERROR_INITIALIZATION_FAILED, MAAR_MESSAGE_ID_MISSING_ENTRY_POINT,
                   "vkAllocateMemory");
}

static void create_without_device_proc_addr_asks_the_instance(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.pfnGetDeviceProcAddr = NULL;
    rig_make_allocator(rig);
    maarFreeMemory(rig->allocator, rig_allocate(rig, 1, NULL));
}

static void info_capabilities_on_when_enabled(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocatorInfo info = rig_allocator_info(rig);
    assert_int_equal(info.memoryBudget, VK_TRUE);
    assert_int_equal(info.memoryPriority, VK_TRUE);
    assert_int_equal(info.pageableDeviceLocalMemory, VK_TRUE);
    assert_int_equal(info.bufferDeviceAddress, VK_TRUE);
    assert_int_equal(info.maintenance4, VK_TRUE);
    assert_int_equal(info.timelineSemaphore, VK_TRUE);
    assert_int_equal(info.memoryProperties.memoryTypeCount, 4);
    assert_int_equal(info.bufferImageGranularity, 1024);
    assert_int_equal(info.nonCoherentAtomSize, 64);
    assert_int_equal(info.maxMemoryAllocationCount, 4096);
    assert_true(info.maxMemoryAllocationSize == 4 * GIB);
    assert_int_equal(info.avoidedTypeBits, 0);
    assert_string_equal(info.deviceName, "Simulated discrete device");
}

static void info_capabilities_off_when_not_enabled(void** state)
{
    (void)state;
    const struct rig_setup setup = {.off = RIG_OFF_ALL};
    struct rig* const rig = rig_begin(&setup);
    MaarAllocatorInfo info = rig_allocator_info(rig);
    assert_int_equal(info.memoryBudget, VK_FALSE);
    assert_int_equal(info.memoryPriority, VK_FALSE);
    assert_int_equal(info.pageableDeviceLocalMemory, VK_FALSE);
    assert_int_equal(info.bufferDeviceAddress, VK_FALSE);
    assert_int_equal(info.maintenance4, VK_FALSE);
    assert_int_equal(info.timelineSemaphore, VK_FALSE);
}

/* The same features said through the structures of Vulkan 1.2 and 1.3, among unknown ones. */
static void info_reads_features_of_versions(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    VkPhysicalDeviceVulkan13Features v13 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        .maintenance4 = VK_TRUE,
    };
    VkPhysicalDeviceVulkan11Features v11 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
        .pNext = &v13,
    };
    VkPhysicalDeviceVulkan12Features v12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = &v11,
        .bufferDeviceAddress = VK_TRUE,
        .timelineSemaphore = VK_TRUE,
    };
    rig->create_info.pEnabledFeatures = &v12;
    rig_make_allocator(rig);
    MaarAllocatorInfo info = rig_allocator_info(rig);
    assert_int_equal(info.bufferDeviceAddress, VK_TRUE);
    assert_int_equal(info.timelineSemaphore, VK_TRUE);
    assert_int_equal(info.maintenance4, VK_TRUE);
    assert_int_equal(info.memoryPriority, VK_FALSE);
    maarDestroyAllocator(rig->allocator);

    v12.bufferDeviceAddress = VK_FALSE;
    v12.timelineSemaphore = VK_FALSE;
    v13.maintenance4 = VK_FALSE;
    rig_make_allocator(rig);
    info = rig_allocator_info(rig);
    assert_int_equal(info.bufferDeviceAddress, VK_FALSE);
    assert_int_equal(info.timelineSemaphore, VK_FALSE);
    assert_int_equal(info.maintenance4, VK_FALSE);
    maarDestroyAllocator(rig->allocator);

    rig->create_info.pEnabledFeatures = NULL;
    rig_make_allocator(rig);
    assert_int_equal(rig_allocator_info(rig).bufferDeviceAddress, VK_FALSE);
}

static void info_api_version_is_the_lower_one(void** state)
{
    (void)state;
    const struct rig_setup old = {.api_version = VK_API_VERSION_1_1};
    struct rig* const rig = rig_begin(&old);
    assert_int_equal(rig_allocator_info(rig).apiVersion, VK_API_VERSION_1_1);
    rig_close(rig);

    rig_open(rig, NULL);
    rig->create_info.apiVersion = 0;
    rig_make_allocator(rig);
    assert_int_equal(rig_allocator_info(rig).apiVersion, VK_API_VERSION_1_1);
}

static void info_unknown_limits_fall_back(void** state)
{
    (void)state;
    MaarSimulatedProfile profile = *rig_profile_discrete();
    profile.limits.maxMemoryAllocationCount = 0;
    profile.limits.maxMemoryAllocationSize = 0;
    profile.limits.bufferImageGranularity = 0;
    profile.limits.nonCoherentAtomSize = 0;
    const struct rig_setup setup = {.profile = &profile};
    struct rig* const rig = rig_begin(&setup);
    MaarAllocatorInfo info = rig_allocator_info(rig);
    assert_int_equal(info.maxMemoryAllocationCount, 4096);
    assert_true(info.maxMemoryAllocationSize == 16 * GIB);
    assert_int_equal(info.bufferImageGranularity, 1);
    assert_int_equal(info.nonCoherentAtomSize, 1);
    maarFreeMemory(rig->allocator, rig_allocate(rig, 100, NULL));
}

static void info_misuse_is_reported(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocatorInfo info = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    assert_int_equal(maarGetAllocatorInfo(NULL, &info), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(maarGetAllocatorInfo(rig->allocator, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pInfo");
    assert_int_equal(maarGetAllocatorInfo(rig->allocator, &info), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pInfo");
}

static void create_host_memory_is_the_callers(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    struct rig* const rig = rig_begin(&setup);
    assert_true(atomic_load(&rig->host.live) > 0);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pName = "named";
    maarFreeMemory(rig->allocator, rig_allocate(rig, 100, &how));
}

static void create_host_memory_short_leaves_nothing(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    struct rig* const rig = rig_new();
    rig_open(rig, &setup);
    const MaarQueue queue = {.queue = rig->queue};
    rig->create_info.queueCount = 1;
    rig->create_info.pQueues = &queue;
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    uint64_t nth = 1;
    for (; nth < 20 && result != VK_SUCCESS; ++nth) {
        atomic_store(&rig->host.calls, 0);
        atomic_store(&rig->host.fail_at, nth);
        result = maarCreateAllocator(&rig->create_info, &rig->allocator);
        if (result != VK_SUCCESS) {
            assert_int_equal(result, VK_ERROR_OUT_OF_HOST_MEMORY);
            assert_null(rig->allocator);
            assert_int_equal(atomic_load(&rig->host.live), 0);
        }
    }
    assert_int_equal(result, VK_SUCCESS);
    assert_true(nth > 2);
}

static void destroy_leaks_are_reported_by_name(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    struct rig* const rig = rig_begin(&setup);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pName = "forgotten texture";
    (void)rig_allocate(rig, 4096, &how);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    how.pName = "forgotten target";
    (void)rig_allocate(rig, 4096, &how);
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    assert_int_equal(rig->messages.total, 2);
    assert_int_equal(rig->messages.counts[MAAR_MESSAGE_SEVERITY_WARNING], 2);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_LEAK, "forgotten");
}

static void destroy_leaked_pool_is_reported_by_name(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    struct rig* const rig = rig_begin(&setup);
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 0, .pName = "forgotten pool"};
    (void)rig_create_pool(rig, &info);
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    assert_int_equal(rig->messages.total, 1);
    rig_expect_message(rig, MAAR_MESSAGE_ID_LEAK);
}

static void version_is_that_of_the_headers(void** state)
{
    (void)state;
    assert_int_equal(maarGetVersion(), MAAR_VERSION);
}

static void recommend_names_what_the_device_has(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    const MaarDeviceRecommendation* recommendation = &rig->recommendation;
    assert_int_equal(recommendation->extensionCount, 7);
    assert_int_equal(recommendation->mainQueueFamily, 0);
    assert_int_equal(recommendation->bufferDeviceAddress.bufferDeviceAddress, VK_TRUE);
    assert_int_equal(recommendation->timelineSemaphore.timelineSemaphore, VK_TRUE);
    assert_int_equal(recommendation->maintenance4.maintenance4, VK_TRUE);
    assert_int_equal(recommendation->memoryPriority.memoryPriority, VK_TRUE);
}

static void recommend_misuse_and_failures_leave_nothing(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    static MaarDeviceRecommendation out;
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    out.sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION;
    assert_int_equal(maarRecommendDevice(NULL, rig->instance, rig->physical, NULL, &out), invalid);
    assert_int_equal(maarRecommendDevice(vkGetInstanceProcAddr, NULL, rig->physical, NULL, &out),
                     invalid);
    assert_int_equal(maarRecommendDevice(vkGetInstanceProcAddr, rig->instance, NULL, NULL, &out),
                     invalid);
    assert_int_equal(
        maarRecommendDevice(vkGetInstanceProcAddr, rig->instance, rig->physical, NULL, NULL),
        invalid);
    out.sType = MAAR_STRUCTURE_TYPE_STATISTICS;
    assert_int_equal(
        maarRecommendDevice(vkGetInstanceProcAddr, rig->instance, rig->physical, NULL, &out),
        invalid);
    out.sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION;
    VkAllocationCallbacks half = rig->host_callbacks;
    half.pfnFree = NULL;
    assert_int_equal(
        maarRecommendDevice(vkGetInstanceProcAddr, rig->instance, rig->physical, &half, &out),
        invalid);
    for (uint64_t nth = 1; nth <= 2; ++nth) {
        atomic_store(&rig->host.calls, 0);
        atomic_store(&rig->host.fail_at, nth);
        assert_int_equal(maarRecommendDevice(vkGetInstanceProcAddr, rig->instance, rig->physical,
                                             &rig->host_callbacks, &out),
                         VK_ERROR_OUT_OF_HOST_MEMORY);
        assert_int_equal(atomic_load(&rig->host.live), 0);
    }
    atomic_store(&rig->host.fail_at, 0);
    for (uint64_t nth = 1; nth <= 2; ++nth) {
        rig_set_fault(rig, "vkEnumerateDeviceExtensionProperties", nth, 1,
                      VK_ERROR_OUT_OF_DEVICE_MEMORY);
        assert_int_equal(maarRecommendDevice(vkGetInstanceProcAddr, rig->instance, rig->physical,
                                             &rig->host_callbacks, &out),
                         VK_ERROR_OUT_OF_DEVICE_MEMORY);
        assert_int_equal(atomic_load(&rig->host.live), 0);
    }
}

static void user_data_and_name_are_kept(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    char name[32] = "first name";
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pUserData = rig;
    how.pName = name;
    MaarAllocation allocation = rig_allocate(rig, 100, &how);
    (void)snprintf(name, sizeof name, "overwritten");
    assert_string_equal(rig_info(rig, allocation).pName, "first name");
    assert_ptr_equal(rig_info(rig, allocation).pUserData, rig);
    assert_int_equal(maarSetAllocationName(rig->allocator, allocation, "second"), VK_SUCCESS);
    assert_string_equal(rig_info(rig, allocation).pName, "second");
    assert_int_equal(maarSetAllocationName(rig->allocator, allocation, NULL), VK_SUCCESS);
    assert_null(rig_info(rig, allocation).pName);
    assert_int_equal(maarSetAllocationUserData(rig->allocator, allocation, NULL), VK_SUCCESS);
    assert_null(rig_info(rig, allocation).pUserData);
    maarFreeMemory(rig->allocator, allocation);

    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    assert_int_equal(maarSetAllocationName(rig->allocator, allocation, "x"), invalid);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    assert_int_equal(maarSetAllocationUserData(rig->allocator, allocation, NULL), invalid);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    assert_int_equal(maarGetAllocationInfo(rig->allocator, allocation, &info), invalid);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    assert_int_equal(maarGetAllocationInfo(rig->allocator, allocation, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pInfo");
}

static void null_allocator_is_refused_everywhere(void** state)
{
    (void)state;
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    uint32_t count = 0;
    assert_int_equal(maarCollect(NULL, &count), invalid);
    assert_int_equal(maarWaitPending(NULL, 0), invalid);
    assert_int_equal(maarAdvanceHostTimeline(NULL, 1), invalid);
    assert_int_equal(maarGetStatistics(NULL, VK_NULL_HANDLE, &statistics), invalid);
    assert_int_equal(maarTrim(NULL, VK_NULL_HANDLE, NULL), invalid);
    assert_int_equal(maarTrimAged(NULL, VK_NULL_HANDLE, 0, 0, NULL), invalid);
    assert_int_equal(maarCheckAllocator(NULL, NULL), invalid);
    assert_int_equal(maarEnumerateBlocks(NULL, VK_NULL_HANDLE, &count, NULL), invalid);
    assert_int_equal(maarGetHeapBudgets(NULL, &count, NULL), invalid);
    assert_int_equal(maarSetPoolPriority(NULL, VK_NULL_HANDLE, 0.5F), invalid);
    maarFreeMemory(NULL, VK_NULL_HANDLE);
    maarDestroyPool(NULL, VK_NULL_HANDLE);
    maarResetPeaks(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(create_defaults_allocates_no_memory),
        rig_unit_test(create_null_arguments_fail),
        rig_unit_test(create_faulty_info_names_the_field),
        rig_unit_test(create_queues_are_checked_and_copied),
        rig_unit_test(create_missing_function_is_named),
        rig_unit_test(create_without_device_proc_addr_asks_the_instance),
        rig_unit_test(info_capabilities_on_when_enabled),
        rig_unit_test(info_capabilities_off_when_not_enabled),
        rig_unit_test(info_reads_features_of_versions),
        rig_unit_test(info_api_version_is_the_lower_one),
        rig_unit_test(info_unknown_limits_fall_back),
        rig_unit_test(info_misuse_is_reported),
        rig_unit_test(create_host_memory_is_the_callers),
        rig_unit_test(create_host_memory_short_leaves_nothing),
        rig_unit_test(destroy_leaks_are_reported_by_name),
        rig_unit_test(destroy_leaked_pool_is_reported_by_name),
        cmocka_unit_test(version_is_that_of_the_headers),
        rig_unit_test(recommend_names_what_the_device_has),
        rig_unit_test(recommend_misuse_and_failures_leave_nothing),
        rig_unit_test(user_data_and_name_are_kept),
        cmocka_unit_test(null_allocator_is_refused_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
