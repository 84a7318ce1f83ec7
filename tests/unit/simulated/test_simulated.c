/*
 * The simulated driver as a driver: what it hands out, what it answers, and that it does as it is
 * described by maar/simulated.h.
 */
#include "simulated_fixture.h"

static void door_unknown_names_are_null(void** state)
{
    const struct simulated_fixture* f = *state;
    assert_null(maarSimulatedGetInstanceProcAddr(NULL, "vkAllocateMemory"));
    assert_null(maarSimulatedGetInstanceProcAddr(f->instance, "vkNoSuchFunction"));
    assert_null(maarSimulatedGetInstanceProcAddr(f->instance, ""));
    assert_non_null(maarSimulatedGetInstanceProcAddr(NULL, "vkEnumerateInstanceVersion"));
    const PFN_vkGetDeviceProcAddr get = (PFN_vkGetDeviceProcAddr)maarSimulatedGetInstanceProcAddr(
        f->instance, "vkGetDeviceProcAddr");
    assert_null(get(f->device, "vkCreateInstance"));
    assert_null(get(f->device, "vkSetDeviceMemoryPriorityEXT"));
    assert_null(get(f->device, "vkGetBufferDeviceAddressKHR"));
    assert_non_null(get(f->device, "vkGetBufferDeviceAddress"));
}

static void door_follows_the_version_asked_for(void** state)
{
    (void)state;
    MaarSimulatedProfile* profile = malloc(sizeof(*profile));
    assert_non_null(profile);
    fixture_profile(profile);
    VkInstance instance = NULL;
    assert_int_equal(fixture_make_instance(profile, 1, VK_API_VERSION_1_1, &instance), VK_SUCCESS);
    assert_non_null(maarSimulatedGetInstanceProcAddr(instance, "vkBindBufferMemory2"));
    assert_null(maarSimulatedGetInstanceProcAddr(instance, "vkWaitSemaphores"));
    assert_non_null(maarSimulatedGetInstanceProcAddr(instance, "vkWaitSemaphoresKHR"));
    ((PFN_vkDestroyInstance)maarSimulatedGetInstanceProcAddr(instance, "vkDestroyInstance"))(
        instance, NULL);
    free(profile);
}

static void instance_without_a_sound_profile_fails(void** state)
{
    (void)state;
    MaarSimulatedProfile* profile = malloc(sizeof(*profile));
    assert_non_null(profile);
    VkInstance instance = NULL;
    fixture_profile(profile);
    assert_int_equal(fixture_make_instance(profile, 0, VK_API_VERSION_1_3, &instance),
                     VK_ERROR_INITIALIZATION_FAILED);
    profile->types[0].heap = 2;
    assert_int_equal(fixture_make_instance(profile, 1, VK_API_VERSION_1_3, &instance),
                     VK_ERROR_INITIALIZATION_FAILED);
    fixture_profile(profile);
    profile->heapCount = 17;
    assert_int_equal(fixture_make_instance(profile, 1, VK_API_VERSION_1_3, &instance),
                     VK_ERROR_INITIALIZATION_FAILED);
    fixture_profile(profile);
    memset(profile->deviceName, 'x', sizeof(profile->deviceName));
    assert_int_equal(fixture_make_instance(profile, 1, VK_API_VERSION_1_3, &instance),
                     VK_ERROR_INITIALIZATION_FAILED);
    assert_null(instance);
    free(profile);
}

static void properties_are_the_profiles(void** state)
{
    const struct simulated_fixture* f = *state;
    VkPhysicalDeviceMaintenance3Properties m3 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &m3};
    ((PFN_vkGetPhysicalDeviceProperties2)maarSimulatedGetInstanceProcAddr(
        f->instance, "vkGetPhysicalDeviceProperties2"))(f->physical, &properties);
    assert_string_equal(properties.properties.deviceName, "Unit device");
    assert_int_equal(properties.properties.limits.bufferImageGranularity, 1024);
    assert_int_equal(properties.properties.limits.maxMemoryAllocationCount, 8);
    assert_int_equal(m3.maxMemoryAllocationSize, 128 * FIXTURE_MIB);
    assert_int_equal(m3.sType, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES);
}

static void features_are_those_of_the_extensions(void** state)
{
    const struct simulated_fixture* f = *state;
    VkPhysicalDeviceMemoryPriorityFeaturesEXT priority = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PRIORITY_FEATURES_EXT,
        .memoryPriority = VK_TRUE};
    VkPhysicalDeviceCoherentMemoryFeaturesAMD coherent = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COHERENT_MEMORY_FEATURES_AMD,
        .pNext = &priority};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &coherent};
    ((PFN_vkGetPhysicalDeviceFeatures2)maarSimulatedGetInstanceProcAddr(
        f->instance, "vkGetPhysicalDeviceFeatures2"))(f->physical, &features);
    assert_int_equal(priority.memoryPriority, VK_FALSE);
    assert_int_equal(coherent.deviceCoherentMemory, VK_TRUE);
    assert_int_equal(features.features.sparseBinding, VK_TRUE);
    assert_int_equal(features.features.sparseResidencyImage2D, VK_FALSE);
}

static void device_with_unknown_extension_or_feature_fails(void** state)
{
    const struct simulated_fixture* f = *state;
    const PFN_vkCreateDevice create =
        (PFN_vkCreateDevice)maarSimulatedGetInstanceProcAddr(f->instance, "vkCreateDevice");
    const char* const name = VK_EXT_MEMORY_PRIORITY_EXTENSION_NAME;
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .enabledExtensionCount = 1,
                               .ppEnabledExtensionNames = &name};
    VkDevice device = NULL;
    assert_int_equal(create(f->physical, &info, NULL, &device), VK_ERROR_EXTENSION_NOT_PRESENT);
    VkPhysicalDeviceMemoryPriorityFeaturesEXT priority = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PRIORITY_FEATURES_EXT,
        .memoryPriority = VK_TRUE};
    info.enabledExtensionCount = 0;
    info.pNext = &priority;
    assert_int_equal(create(f->physical, &info, NULL, &device), VK_ERROR_FEATURE_NOT_PRESENT);
    const VkPhysicalDeviceFeatures sparse = {.sparseResidencyImage2D = VK_TRUE};
    info.pNext = NULL;
    info.pEnabledFeatures = &sparse;
    assert_int_equal(create(f->physical, &info, NULL, &device), VK_ERROR_FEATURE_NOT_PRESENT);
    assert_null(device);
}

static void budget_follows_allocations_and_orders(void** state)
{
    const struct simulated_fixture* f = *state;
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 memory = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, .pNext = &budget};
    f->vkGetPhysicalDeviceMemoryProperties2(f->physical, &memory);
    assert_int_equal(budget.heapBudget[0], 256 * FIXTURE_MIB);
    assert_int_equal(budget.heapUsage[0], 0);
    const VkDeviceMemory block = fixture_memory(f, 0, 100 * FIXTURE_MIB);
    assert_int_equal(maarSimulatedSetHeapBudget(f->physical, 0, UINT64_MAX - 5, 200 * FIXTURE_MIB),
                     VK_SUCCESS);
    f->vkGetPhysicalDeviceMemoryProperties2(f->physical, &memory);
    assert_int_equal(budget.heapBudget[0], UINT64_MAX - 5);
    assert_int_equal(budget.heapUsage[0], 100 * FIXTURE_MIB);
    VkDeviceMemory more = VK_NULL_HANDLE;
    assert_int_equal(fixture_allocate(f, 0, 1, NULL, &more), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarSimulatedSetHeapBudget(f->physical, 2, 0, 0),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    f->vkFreeMemory(f->device, block, NULL);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_ARGUMENT, 0);
}

/* A profile that states a budget needs neither a flag nor the extension's name besides. */
static void budget_that_is_stated_is_reported(void** state)
{
    static MaarSimulatedProfile profile;
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        fixture_profile(&profile);
        profile.extensionCount = 0;
        profile.heaps[0].budget = i == 0 ? 100 * FIXTURE_MIB : 0;
        profile.heaps[0].budgetKnown = i == 1 ? VK_TRUE : VK_FALSE;
        VkInstance instance = NULL;
        VkPhysicalDevice physical = NULL;
        uint32_t count = 1;
        assert_int_equal(fixture_make_instance(&profile, 1, VK_API_VERSION_1_1, &instance),
                         VK_SUCCESS);
        const PFN_vkEnumeratePhysicalDevices enumerate =
            (PFN_vkEnumeratePhysicalDevices)maarSimulatedGetInstanceProcAddr(
                instance, "vkEnumeratePhysicalDevices");
        const PFN_vkEnumerateDeviceExtensionProperties list =
            (PFN_vkEnumerateDeviceExtensionProperties)maarSimulatedGetInstanceProcAddr(
                instance, "vkEnumerateDeviceExtensionProperties");
        const PFN_vkGetPhysicalDeviceMemoryProperties2 get =
            (PFN_vkGetPhysicalDeviceMemoryProperties2)maarSimulatedGetInstanceProcAddr(
                instance, "vkGetPhysicalDeviceMemoryProperties2");
        const PFN_vkDestroyInstance destroy =
            (PFN_vkDestroyInstance)maarSimulatedGetInstanceProcAddr(instance, "vkDestroyInstance");
        assert_int_equal(enumerate(instance, &count, &physical), VK_SUCCESS);
        VkExtensionProperties extensions[MAAR_SIMULATED_MAX_EXTENSIONS];
        bool offered = false;
        count = MAAR_SIMULATED_MAX_EXTENSIONS;
        assert_int_equal(list(physical, NULL, &count, extensions), VK_SUCCESS);
        for (uint32_t k = 0; k < count; ++k) {
            offered |=
                strcmp(extensions[k].extensionName, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME) == 0;
        }
        assert_int_equal(offered, i < 2);
        if (offered) {
            VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
                .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
            VkPhysicalDeviceMemoryProperties2 memory = {
                .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, .pNext = &budget};
            get(physical, &memory);
            assert_int_equal(budget.heapBudget[0], profile.heaps[0].budget);
            assert_int_equal(budget.heapBudget[1], profile.heaps[1].size);
        }
        destroy(instance, NULL);
    }
}

static void fault_strikes_the_call_it_was_set_for(void** state)
{
    const struct simulated_fixture* f = *state;
    MaarSimulatedFault fault = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_FAULT,
                                .pFunctionName = "vkAllocateMemory",
                                .nth = 2,
                                .count = 2,
                                .result = VK_ERROR_OUT_OF_HOST_MEMORY};
    assert_int_equal(maarSimulatedSetFault(f->physical, &fault), VK_SUCCESS);
    VkDeviceMemory memory[4];
    const VkResult expected[4] = {VK_SUCCESS, VK_ERROR_OUT_OF_HOST_MEMORY,
                                  VK_ERROR_OUT_OF_HOST_MEMORY, VK_SUCCESS};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(fixture_allocate(f, 0, 4096, NULL, &memory[i]), expected[i]);
        assert_true((expected[i] == VK_SUCCESS) == (memory[i] != VK_NULL_HANDLE));
    }
    assert_int_equal(fixture_counters(f).faultCount, 2);
    assert_int_equal(maarSimulatedGetCallCount(f->physical, "vkAllocateMemory"), 4);
    f->vkFreeMemory(f->device, memory[0], NULL);
    f->vkFreeMemory(f->device, memory[3], NULL);
}

static void fault_of_any_function_strikes_the_nth_that_can_fail(void** state)
{
    const struct simulated_fixture* f = *state;
    const MaarSimulatedFault fault = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_FAULT, .nth = 3};
    const uint64_t before = fixture_counters(f).fallibleCallCount;
    assert_int_equal(maarSimulatedSetFault(f->physical, &fault), VK_SUCCESS);
    const VkBuffer buffer = fixture_buffer(f, 64, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
    const VkDeviceMemory memory = fixture_memory(f, 1, 4096);
    VkMemoryRequirements requirements;
    f->vkGetBufferMemoryRequirements(f->device, buffer, &requirements);
    void* data = NULL;
    assert_int_equal(f->vkMapMemory(f->device, memory, 0, VK_WHOLE_SIZE, 0, &data),
                     VK_ERROR_MEMORY_MAP_FAILED);
    assert_null(data);
    assert_int_equal(fixture_counters(f).fallibleCallCount, before + 3);
    f->vkFreeMemory(f->device, memory, NULL);
    f->vkDestroyBuffer(f->device, buffer, NULL);
}

static void fault_of_a_function_that_cannot_fail_is_refused(void** state)
{
    const struct simulated_fixture* f = *state;
    MaarSimulatedFault fault = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_FAULT,
                                .pFunctionName = "vkFreeMemory"};
    assert_int_equal(maarSimulatedSetFault(f->physical, &fault), VK_ERROR_VALIDATION_FAILED_EXT);
    fault.pFunctionName = "vkNothing";
    assert_int_equal(maarSimulatedSetFault(f->physical, &fault), VK_ERROR_VALIDATION_FAILED_EXT);
    fault.pFunctionName = NULL;
    fault.sType = MAAR_STRUCTURE_TYPE_SIMULATED_COUNTERS;
    assert_int_equal(maarSimulatedSetFault(f->physical, &fault), VK_ERROR_VALIDATION_FAILED_EXT);
    fault.sType = MAAR_STRUCTURE_TYPE_SIMULATED_FAULT;
    for (int i = 0; i < 16; i++) {
        assert_int_equal(maarSimulatedSetFault(f->physical, &fault), VK_SUCCESS);
    }
    assert_int_equal(maarSimulatedSetFault(f->physical, &fault), VK_ERROR_TOO_MANY_OBJECTS);
    assert_int_equal(maarSimulatedSetFault(f->physical, NULL), VK_SUCCESS);
    f->vkDestroyBuffer(f->device, fixture_buffer(f, 64, VK_BUFFER_USAGE_TRANSFER_SRC_BIT), NULL);
}

static void loss_stays_and_is_seen_by_waits(void** state)
{
    const struct simulated_fixture* f = *state;
    const MaarSimulatedFault fault = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_FAULT,
                                      .pFunctionName = "vkQueueSubmit"};
    const VkDeviceMemory memory = fixture_memory(f, 0, 4096);
    assert_int_equal(maarSimulatedSetFault(f->physical, &fault), VK_SUCCESS);
    assert_int_equal(f->vkQueueSubmit(f->queue, 0, NULL, VK_NULL_HANDLE), VK_ERROR_DEVICE_LOST);
    assert_int_equal(f->vkQueueSubmit(f->queue, 0, NULL, VK_NULL_HANDLE), VK_ERROR_DEVICE_LOST);
    assert_int_equal(f->vkDeviceWaitIdle(f->device), VK_ERROR_DEVICE_LOST);
    f->vkFreeMemory(f->device, memory, NULL);
    assert_int_equal(fixture_counters(f).callsAfterLossCount, 1);
    assert_int_equal(fixture_counters(f).liveCount[MAAR_SIMULATED_OBJECT_MEMORY], 0);
}

struct call_log {
    int calls;
    char last[64];
};

static void VKAPI_PTR keep_call(void* data, const char* name)
{
    struct call_log* log = data;
    log->calls++;
    strncpy(log->last, name, sizeof(log->last) - 1);
}

static void observer_sees_each_call(void** state)
{
    const struct simulated_fixture* f = *state;
    struct call_log log = {0};
    maarSimulatedSetCallbacks(f->physical, keep_call, NULL, &log);
    const VkBuffer buffer = fixture_buffer(f, 64, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
    assert_int_equal(log.calls, 1);
    assert_string_equal(log.last, "vkCreateBuffer");
    f->vkDestroyBuffer(f->device, buffer, NULL);
    assert_int_equal(log.calls, 2);
    assert_string_equal(log.last, "vkDestroyBuffer");
    maarSimulatedSetCallbacks(f->physical, NULL, NULL, NULL);
}

static void violation_texts_name_the_function(void** state)
{
    const struct simulated_fixture* f = *state;
    char text[MAAR_SIMULATED_MAX_TEXT] = "unset";
    MaarSimulatedViolation violation = MAAR_SIMULATED_VIOLATION_COUNT;
    assert_false(maarSimulatedGetViolation(f->physical, 0, NULL, sizeof(text), text));
    assert_string_equal(text, "");
    f->vkDestroyBuffer(f->device, (VkBuffer)(uint64_t)77, NULL);
    assert_true(maarSimulatedGetViolation(f->physical, 0, &violation, sizeof(text), text));
    assert_int_equal(violation, MAAR_SIMULATED_VIOLATION_HANDLE);
    assert_memory_equal(text, "vkDestroyBuffer: ", 17);
    char small[8];
    assert_true(maarSimulatedGetViolation(f->physical, 0, NULL, sizeof(small), small));
    assert_string_equal(small, "vkDestr");
}

static void alias_counts_as_the_function(void** state)
{
    const struct simulated_fixture* f = *state;
    VkBuffer buffer = fixture_buffer(f, 64, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
    assert_int_equal(maarSimulatedGetCallCount(f->physical, "vkGetBufferMemoryRequirements2KHR"),
                     0);
    const VkBufferMemoryRequirementsInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2, .buffer = buffer};
    VkMemoryRequirements2 out = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
    f->vkGetBufferMemoryRequirements2(f->device, &info, &out);
    assert_int_equal(maarSimulatedGetCallCount(f->physical, "vkGetBufferMemoryRequirements2KHR"),
                     1);
    assert_int_equal(maarSimulatedGetCallCount(f->physical, "vkNoSuchFunction"), 0);
    f->vkDestroyBuffer(f->device, buffer, NULL);
    assert_ptr_equal(maarSimulatedGetPhysicalDevice(f->device), f->physical);
}

#define SIMULATED_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SIMULATED_TEST(door_unknown_names_are_null),
        cmocka_unit_test(door_follows_the_version_asked_for),
        cmocka_unit_test(instance_without_a_sound_profile_fails),
        SIMULATED_TEST(properties_are_the_profiles),
        SIMULATED_TEST(features_are_those_of_the_extensions),
        SIMULATED_TEST(device_with_unknown_extension_or_feature_fails),
        SIMULATED_TEST(budget_follows_allocations_and_orders),
        cmocka_unit_test(budget_that_is_stated_is_reported),
        SIMULATED_TEST(fault_strikes_the_call_it_was_set_for),
        SIMULATED_TEST(fault_of_any_function_strikes_the_nth_that_can_fail),
        SIMULATED_TEST(fault_of_a_function_that_cannot_fail_is_refused),
        SIMULATED_TEST(loss_stays_and_is_seen_by_waits),
        SIMULATED_TEST(observer_sees_each_call),
        SIMULATED_TEST(violation_texts_name_the_function),
        SIMULATED_TEST(alias_counts_as_the_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
