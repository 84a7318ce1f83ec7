/*
 * A program's instance: of the simulated driver, whose violations are counted; what is missing is
 * distinguished; messages are counted, printed or not.
 */
#include "tests/rig/rig.h"

#include "support/instance.h"

static struct support_messages messages;

static VkResult open_simulated(struct support_instance* instance)
{
    static MaarSimulatedProfile profiles[2];
    profiles[0] = *rig_profile_tiny();
    profiles[1] = *rig_profile_tiny();
    profiles[0].deviceType = VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
    profiles[1].deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    const MaarSimulatedInstanceCreateInfo simulated = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_INSTANCE_CREATE_INFO,
        .profileCount = 2,
        .pProfiles = profiles,
        .pfnViolation = support_receive_violation,
        .pUserData = &messages,
    };
    const struct support_instance_info info = {.application = "test",
                                               .api_version = VK_API_VERSION_1_1,
                                               .simulated = &simulated,
                                               .messages = &messages};
    messages = (struct support_messages){.program = "test", .kind = "message"};
    return support_instance_open(instance, &info);
}

static void devices_are_liked_by_their_type(void** state)
{
    (void)state;
    struct support_instance instance;
    VkPhysicalDevice devices[2];
    uint32_t count = 2;
    assert_int_equal(open_simulated(&instance), VK_SUCCESS);
    assert_int_equal(vkEnumeratePhysicalDevices(instance.instance, &count, devices), VK_SUCCESS);
    assert_int_equal(support_device_rank(devices[0]), 3);
    assert_int_equal(support_device_rank(devices[1]), 4);
    support_instance_close(&instance);
    assert_int_equal(messages.count, 0);
}

static void what_the_driver_sees_is_counted(void** state)
{
    (void)state;
    struct support_instance instance;
    VkPhysicalDevice devices[2];
    uint32_t count = 2;
    assert_int_equal(open_simulated(&instance), VK_SUCCESS);
    assert_int_equal(vkEnumeratePhysicalDevices(instance.instance, &count, devices), VK_SUCCESS);
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue};
    VkDevice device = VK_NULL_HANDLE;
    assert_int_equal(vkCreateDevice(devices[0], &info, NULL, &device), VK_SUCCESS);
    volkLoadDevice(device);
    VkDeviceMemory memory = VK_NULL_HANDLE;
    const VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                           .allocationSize = 4096};
    assert_int_equal(vkAllocateMemory(device, &allocate, NULL, &memory), VK_SUCCESS);
    vkDestroyDevice(device, NULL); /* before its memory */
    assert_true(messages.count > 0);
    support_instance_close(&instance);
    assert_null(instance.instance);
    support_instance_close(&instance); /* nothing any more */
}

static void what_is_quiet_counts_too(void** state)
{
    (void)state;
    messages = (struct support_messages){.program = "test", .kind = "message"};
    for (uint32_t i = 0; i < 3 * SUPPORT_MOST_PRINTED; ++i) {
        support_messages_add(&messages, "a sentence", i >= 1);
    }
    assert_int_equal(messages.count, 3 * SUPPORT_MOST_PRINTED);
}

static void a_missing_layer_is_reported_from_a_missing_loader(void** state)
{
    (void)state;
    struct support_instance instance;
    const struct support_instance_info info = {.application = "test",
                                               .api_version = VK_API_VERSION_1_1,
                                               .validate = true,
                                               .messages = &messages};
    if (volkInitialize() != VK_SUCCESS) {
        assert_int_equal(support_instance_open(&instance, &info), VK_ERROR_INITIALIZATION_FAILED);
        return;
    }
    /* Where the loader looks for layers, there is none. */
    assert_int_equal(setenv("VK_LAYER_PATH", "/nowhere", 1), 0);
    assert_int_equal(support_instance_open(&instance, &info), VK_ERROR_LAYER_NOT_PRESENT);
    assert_null(instance.instance);
    support_instance_close(&instance);
    assert_int_equal(unsetenv("VK_LAYER_PATH"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_liked_by_their_type),
        cmocka_unit_test(what_the_driver_sees_is_counted),
        cmocka_unit_test(what_is_quiet_counts_too),
        cmocka_unit_test(a_missing_layer_is_reported_from_a_missing_loader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
