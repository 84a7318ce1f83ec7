/*
 * Devices of Vulkan 1.0, and allocators on a table of functions: what works with fewer functions,
 * and what is said where one is missing.
 */
#include "core/memory/allocator_state.h"
#include "tests/rig/rig.h"

static const struct rig_setup first_version = {.api_version = VK_API_VERSION_1_0};

/* Memory, a buffer and an image, as any program makes them. */
static void use_memory_and_objects(struct rig* rig)
{
    const VkBufferCreateInfo buffer_info = rig_buffer_info(4096);
    const VkImageCreateInfo image_info = rig_image_info(64, 64);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    MaarAllocation memories[3];
    VkBuffer buffer = VK_NULL_HANDLE;
    VkImage image = VK_NULL_HANDLE;
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    memories[0] = rig_allocate(rig, 1000, &how);
    assert_non_null(maarGetMappedData(rig->allocator, memories[0]));
    assert_int_equal(maarCreateBuffer(rig->allocator, &buffer_info, &how, &buffer, &memories[1]),
                     VK_SUCCESS);
    how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    assert_int_equal(maarCreateImage(rig->allocator, &image_info, &how, &image, &memories[2]),
                     VK_SUCCESS);
    assert_true(rig_info(rig, memories[2]).dedicated == VK_TRUE);
    rig_check(rig);
    maarDestroyImage(rig->allocator, image, memories[2]);
    maarDestroyBuffer(rig->allocator, buffer, memories[1]);
    maarFreeMemory(rig->allocator, memories[0]);
}

static void first_version_has_memory_and_objects(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(&first_version);
    assert_int_equal(rig_allocator_info(rig).apiVersion, VK_API_VERSION_1_0);
    assert_false(rig->allocator->device.facts.dedicated_allocation);
    use_memory_and_objects(rig);
    assert_int_equal(rig_calls(rig, "vkBindBufferMemory"), 1);
    assert_int_equal(rig_calls(rig, "vkBindImageMemory"), 1);
    assert_int_equal(maarSimulatedGetCallCount(rig->physical, "vkBindBufferMemory2"), 0);
    rig_expect_silence(rig);
}

static void first_version_counts_its_own_bytes(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(&first_version);
    const MaarAllocation memory = rig_allocate(rig, MIB, NULL);
    const uint32_t type = rig_info(rig, memory).memoryTypeIndex;
    const MaarAllocatorInfo info = rig_allocator_info(rig);
    const MaarHeapBudget budget =
        rig_budget(rig, info.memoryProperties.memoryTypes[type].heapIndex);
    assert_true(budget.fromDriver == VK_FALSE);
    assert_true(budget.usage == budget.blockBytes && budget.usage >= MIB);
    maarFreeMemory(rig->allocator, memory);
}

static void device_of_the_first_version_serves_a_newer_program(void** state)
{
    (void)state;
    MaarSimulatedProfile profile = *rig_profile_discrete();
    profile.apiVersion = VK_API_VERSION_1_0;
    const struct rig_setup setup = {.profile = &profile, .api_version = VK_API_VERSION_1_0};
    struct rig* const rig = rig_new();
    rig_open(rig, &setup);
    rig->create_info.apiVersion = VK_API_VERSION_1_3;
    rig_make_allocator(rig);
    assert_int_equal(rig_allocator_info(rig).apiVersion, VK_API_VERSION_1_0);
    use_memory_and_objects(rig);
}

static void first_version_with_extensions_uses_them(void** state)
{
    (void)state;
    static const char* const of_device[] = {
        VK_KHR_GET_MEMORY_REQUIREMENTS_2_EXTENSION_NAME,
        VK_KHR_BIND_MEMORY_2_EXTENSION_NAME,
        VK_KHR_DEDICATED_ALLOCATION_EXTENSION_NAME,
        VK_EXT_MEMORY_BUDGET_EXTENSION_NAME,
    };
    static const char* const of_instance[] = {
        VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME,
    };
    struct rig* const rig = rig_new();
    /* The device is of a later version, so its functions have both names. */
    rig_open(rig, NULL);
    rig->create_info.apiVersion = VK_API_VERSION_1_0;
    rig->create_info.enabledExtensionCount = 4;
    rig->create_info.ppEnabledExtensionNames = of_device;
#define GIVE(name)                                                                                 \
    {                                                                                              \
#name "KHR", (PFN_vkVoidFunction)name                                                      \
    }
    const MaarNamedFunction functions[] = {
        GIVE(vkGetBufferMemoryRequirements2),
        GIVE(vkGetImageMemoryRequirements2),
        GIVE(vkBindBufferMemory2),
        GIVE(vkBindImageMemory2),
        GIVE(vkGetPhysicalDeviceProperties2),
        GIVE(vkGetPhysicalDeviceMemoryProperties2),
        GIVE(vkGetPhysicalDeviceQueueFamilyProperties2),
        GIVE(vkGetPhysicalDeviceImageFormatProperties2),
        GIVE(vkGetPhysicalDeviceSparseImageFormatProperties2),
    };
#undef GIVE
    const MaarEntryPointsInfo entry_points = {
        .sType = MAAR_STRUCTURE_TYPE_ENTRY_POINTS_INFO,
        .functionCount = sizeof functions / sizeof functions[0],
        .pFunctions = functions,
        .instanceExtensionCount = 1,
        .ppInstanceExtensionNames = of_instance,
    };
    rig->create_info.pNext = &entry_points;
    rig_make_allocator(rig);
    use_memory_and_objects(rig);
    assert_true(rig_allocator_info(rig).memoryBudget == VK_TRUE);
    assert_true(rig->allocator->device.facts.dedicated_allocation);
    assert_int_equal(rig_calls(rig, "vkBindBufferMemory"), 0);
    assert_int_equal(maarSimulatedGetCallCount(rig->physical, "vkBindBufferMemory2"), 1);
}

static void table_alone_has_memory_and_objects(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig_use_table(rig);
    rig_make_allocator(rig);
    use_memory_and_objects(rig);
    assert_true(rig_allocator_info(rig).memoryBudget == VK_TRUE);
    assert_true(rig_allocator_info(rig).timelineSemaphore == VK_FALSE);
    rig_expect_silence(rig);
}

static VkResult VKAPI_PTR refuse_memory(VkDevice device, const VkMemoryAllocateInfo* info,
                                        const VkAllocationCallbacks* callbacks,
                                        VkDeviceMemory* memory)
{
    (void)device;
    (void)info;
    (void)callbacks;
    (void)memory;
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static void table_wins_over_entry_points(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    const MaarNamedFunction functions[] = {
        {"vkFreeMemory", NULL},
        {NULL, (PFN_vkVoidFunction)refuse_memory},
        {"vkAllocateMemory", (PFN_vkVoidFunction)refuse_memory},
    };
    const MaarEntryPointsInfo entry_points = {.sType = MAAR_STRUCTURE_TYPE_ENTRY_POINTS_INFO,
                                              .functionCount = 3,
                                              .pFunctions = functions};
    rig->create_info.pNext = &entry_points;
    rig_make_allocator(rig);
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(rig_try(rig, MIB, NULL, &memory), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), 0);
}

static void table_without_a_needed_function_is_refused_by_name(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig_use_table(rig);
    for (uint32_t i = 0; i < rig->entry_points.functionCount; ++i) {
        if (strcmp(rig->table[i].pName, "vkCreateImage") == 0) {
            rig->table[i].pfnFunction = NULL;
        }
    }
    MaarAllocator made = VK_NULL_HANDLE;
    assert_int_equal(maarCreateAllocator(&rig->create_info, &made), VK_ERROR_INITIALIZATION_FAILED);
    assert_null(made);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_MISSING_ENTRY_POINT, "vkCreateImage");
}

static void queues_need_functions_for_submissions(void** state)
{
    (void)state;
    const struct rig_setup setup = {.paging = true};
    struct rig* const rig = rig_new();
    rig_open(rig, &setup);
    rig_use_table(rig);
    MaarAllocator made = VK_NULL_HANDLE;
    assert_int_equal(maarCreateAllocator(&rig->create_info, &made), VK_ERROR_INITIALIZATION_FAILED);
    assert_null(made);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_MISSING_ENTRY_POINT, "vkCreateSemaphore");
}

static void recording_moves_needs_commands(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig_use_table(rig);
    rig_make_allocator(rig);
    const MaarAllocation memory = rig_allocate(rig, MIB, NULL);
    const MaarMoveRequest request = {.allocation = memory};
    const MaarMoveBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO, .requestCount = 1, .pRequests = &request};
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(maarBeginMoves(rig->allocator, &info, &batch), VK_SUCCESS);
    assert_int_equal(maarRecordMoves(rig->allocator, batch, (VkCommandBuffer)(void*)rig),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_MISSING_ENTRY_POINT, "vkCmdCopyBuffer");
    assert_int_equal(maarCancelMoves(rig->allocator, batch, 0, NULL), VK_SUCCESS);
    maarFreeMemory(rig->allocator, memory);
}

static void disjoint_images_need_a_later_version(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(&first_version);
    VkImageCreateInfo info = rig_image_info(64, 64);
    info.flags = VK_IMAGE_CREATE_DISJOINT_BIT;
    info.format = VK_FORMAT_G8_B8R8_2PLANE_420_UNORM;
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation memories[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    assert_int_equal(maarCreateDisjointImage(rig->allocator, &info, NULL, 2, &image, memories),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_MISSING_ENTRY_POINT, "vkBindImageMemory2");
}

static void entry_points_are_checked(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    MaarAllocator made = VK_NULL_HANDLE;
    MaarEntryPointsInfo info = {.sType = MAAR_STRUCTURE_TYPE_ENTRY_POINTS_INFO, .functionCount = 1};
    rig->create_info.pNext = &info;
    assert_int_equal(maarCreateAllocator(&rig->create_info, &made), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pFunctions");
    info.functionCount = 0;
    info.instanceExtensionCount = 1;
    assert_int_equal(maarCreateAllocator(&rig->create_info, &made), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "ppInstanceExtensionNames");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(first_version_has_memory_and_objects),
        rig_unit_test(first_version_counts_its_own_bytes),
        rig_unit_test(device_of_the_first_version_serves_a_newer_program),
        rig_unit_test(first_version_with_extensions_uses_them),
        rig_unit_test(table_alone_has_memory_and_objects),
        rig_unit_test(table_wins_over_entry_points),
        rig_unit_test(table_without_a_needed_function_is_refused_by_name),
        rig_unit_test(queues_need_functions_for_submissions),
        rig_unit_test(recording_moves_needs_commands),
        rig_unit_test(disjoint_images_need_a_later_version),
        rig_unit_test(entry_points_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
