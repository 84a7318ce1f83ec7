/*
 * What a failing call leaves in the totals, and sparse objects, which are bound by other calls.
 */
#include "tests/rig/rig.h"

/* Fails the bind of an object that would have counted as a fallback and as over budget. */
static void fail_a_bind(bool image, bool over_budget, bool fallback)
{
    const VkBufferCreateInfo buffer_info = rig_buffer_info(3 * MIB);
    const VkImageCreateInfo image_info = rig_image_info(1024, 1024);
    struct rig* rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.flags = fallback ? 0 : (VkFlags)MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    maarFreeMemory(rig->allocator, rig_allocate(rig, 1000, &how));
    assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    if (over_budget) {
        assert_int_equal(maarSimulatedSetHeapBudget(rig->physical, 0, MIB, 0), VK_SUCCESS);
    }
    if (fallback) {
        assert_int_equal(maarSimulatedSetHeapBudget(rig->physical, 0, MIB, 8 * GIB), VK_SUCCESS);
        assert_int_equal(maarSimulatedSetHeapBudget(rig->physical, 2, MIB, 256 * MIB), VK_SUCCESS);
    }
    MaarStatistics before = rig_statistics(rig, VK_NULL_HANDLE);
    VkResult result = VK_SUCCESS;
    VkBuffer buffer = VK_NULL_HANDLE;
    VkImage picture = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    rig_set_fault(rig, image ? "vkBindImageMemory2" : "vkBindBufferMemory2", 1, 1,
                  VK_ERROR_OUT_OF_DEVICE_MEMORY);
    result = image ? maarCreateImage(rig->allocator, &image_info, &how, &picture, &memory)
                   : maarCreateBuffer(rig->allocator, &buffer_info, &how, &buffer, &memory);
    assert_int_equal(result, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_true(buffer == VK_NULL_HANDLE && picture == VK_NULL_HANDLE && memory == VK_NULL_HANDLE);
    assert_int_equal(rig->messages.counts[MAAR_MESSAGE_SEVERITY_WARNING],
                     over_budget || fallback ? 1 : 0); /* for a moment the budget was exceeded */
    MaarStatistics after = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(after.allocationsMade, before.allocationsMade);
    assert_int_equal(after.fallbackCount, 0);
    assert_int_equal(after.overBudgetCount, 0);
    assert_int_equal(after.failureCount, before.failureCount + 1);
    assert_int_equal(after.allocationCount, 0);
    assert_int_equal(after.blockCount, 0);
    assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_MEMORY], 0);
    rig_check(rig);
    /* Without the fault, the same call counts what the failing one did not count. */
    result = image ? maarCreateImage(rig->allocator, &image_info, &how, &picture, &memory)
                   : maarCreateBuffer(rig->allocator, &buffer_info, &how, &buffer, &memory);
    assert_int_equal(result, VK_SUCCESS);
    after = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(after.allocationsMade, before.allocationsMade + 1);
    assert_int_equal(after.fallbackCount, fallback ? 1 : 0);
    assert_int_equal(after.overBudgetCount, over_budget ? 1 : 0);
    maarDestroyBuffer(rig->allocator, buffer, image ? VK_NULL_HANDLE : memory);
    maarDestroyImage(rig->allocator, picture, image ? memory : VK_NULL_HANDLE);
    rig_close(rig);
}

static void failed_binds_are_not_counted(void** state)
{
    (void)state;
    rig_need_all_functions();
    for (int image = 0; image < 2; ++image) {
        fail_a_bind(image != 0, false, false);
        fail_a_bind(image != 0, true, false);
        fail_a_bind(image != 0, false, true);
    }
}

/* The order in which objects and memory are destroyed. */
static const char* gone[4];
static uint32_t gone_count;

static void note_gone(void* data, const char* function)
{
    (void)data;
    if (strncmp(function, "vkDestroy", 9) == 0 || strcmp(function, "vkFreeMemory") == 0) {
        assert_true(gone_count < 4);
        gone[gone_count++] = function;
    }
}

/* A bind that fails may still have bound the object. */
static void failed_bind_ends_the_object_before_its_memory(void** state)
{
    (void)state;
    const VkBufferCreateInfo buffer_info = rig_buffer_info(64 * KIB);
    const VkImageCreateInfo image_info = rig_image_info(64, 64);
    for (int is_image = 0; is_image < 2; ++is_image) {
        struct rig* rig = rig_begin(NULL);
        VkBuffer buffer = VK_NULL_HANDLE;
        VkImage image = VK_NULL_HANDLE;
        MaarAllocation memory = VK_NULL_HANDLE;
        rig_set_fault(rig, is_image != 0 ? "vkBindImageMemory2" : "vkBindBufferMemory2", 1, 1,
                      VK_ERROR_OUT_OF_HOST_MEMORY);
        rig->call = note_gone;
        gone_count = 0;
        assert_int_equal(
            is_image != 0 ? maarCreateImage(rig->allocator, &image_info, NULL, &image, &memory)
                          : maarCreateBuffer(rig->allocator, &buffer_info, NULL, &buffer, &memory),
            VK_ERROR_OUT_OF_HOST_MEMORY);
        rig->call = NULL;
        assert_int_equal(gone_count, 2);
        assert_string_equal(gone[0], is_image != 0 ? "vkDestroyImage" : "vkDestroyBuffer");
        assert_string_equal(gone[1], "vkFreeMemory");
        rig_close(rig);
    }
}

/* A failing bind gives back the block that was made for it, and no other. */
static void failed_bind_keeps_the_empty_block(void** state)
{
    (void)state;
    const VkBufferCreateInfo info = rig_buffer_info(64 * KIB);
    struct rig* const rig = rig_begin(NULL);
    maarFreeMemory(rig->allocator, rig_allocate(rig, 1000, NULL));
    MaarStatistics before = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(before.blockCount, 1);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    rig_set_fault(rig, "vkBindBufferMemory2", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, NULL, &buffer, &memory),
                     VK_ERROR_OUT_OF_HOST_MEMORY);
    MaarStatistics after = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(after.blockCount, 1);
    assert_int_equal(after.freeBytes, before.freeBytes);
    assert_int_equal(after.deviceAllocationCalls, before.deviceAllocationCalls);
    rig_check(rig);
}

/* Over budget, a free releases empty blocks too; undoing a failed call does not. */
static void failed_bind_over_budget_keeps_the_empty_blocks(void** state)
{
    (void)state;
    rig_need_all_functions();
    const VkBufferCreateInfo info = rig_buffer_info(64 * KIB);
    struct rig* const rig = rig_begin(NULL);
    maarFreeMemory(rig->allocator, rig_allocate(rig, 1000, NULL));
    assert_int_equal(maarSimulatedSetHeapBudget(rig->physical, 0, MIB, 0), VK_SUCCESS);
    (void)rig_budget(rig, 0); /* now the allocator knows the budget */
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    rig_set_fault(rig, "vkBindBufferMemory2", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, NULL, &buffer, &memory),
                     VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, 1);
    maarFreeMemory(rig->allocator, rig_allocate(rig, 1000, NULL));
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, 0);
}

static void sparse_objects_are_refused(void** state)
{
    (void)state;
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    MaarSimulatedProfile profile = *rig_profile_discrete();
    profile.sparse.sparseBinding = VK_TRUE;
    const struct rig_setup setup = {.profile = &profile};
    struct rig* const rig = rig_begin(&setup);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.flags = MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT;
    MaarAllocation memory = rig_allocate(rig, MIB, &how);
    VkBufferCreateInfo buffer_info = rig_buffer_info(64 * KIB);
    VkImageCreateInfo image_info = rig_image_info(64, 64);
    buffer_info.flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT;
    image_info.flags = VK_IMAGE_CREATE_SPARSE_BINDING_BIT;
    VkBuffer buffer = (VkBuffer)(uintptr_t)1;
    VkImage image = (VkImage)(uintptr_t)1;
    MaarAllocation none = (MaarAllocation)(uintptr_t)1;
    assert_int_equal(maarCreateBuffer(rig->allocator, &buffer_info, NULL, &buffer, &none), invalid);
    rig_expect_message(rig, MAAR_MESSAGE_ID_SPARSE_NOT_SUPPORTED);
    assert_true(buffer == VK_NULL_HANDLE && none == VK_NULL_HANDLE);
    none = (MaarAllocation)(uintptr_t)1;
    assert_int_equal(maarCreateImage(rig->allocator, &image_info, NULL, &image, &none), invalid);
    rig_expect_message(rig, MAAR_MESSAGE_ID_SPARSE_NOT_SUPPORTED);
    assert_true(image == VK_NULL_HANDLE && none == VK_NULL_HANDLE);
    assert_int_equal(maarCreateAliasingBuffer(rig->allocator, memory, 0, &buffer_info, &buffer),
                     invalid);
    rig_expect_message(rig, MAAR_MESSAGE_ID_SPARSE_NOT_SUPPORTED);
    assert_int_equal(maarCreateAliasingImage(rig->allocator, memory, 0, &image_info, &image),
                     invalid);
    rig_expect_message(rig, MAAR_MESSAGE_ID_SPARSE_NOT_SUPPORTED);
    image_info.flags |= VK_IMAGE_CREATE_DISJOINT_BIT;
    image_info.format = VK_FORMAT_G8_B8R8_2PLANE_420_UNORM;
    MaarAllocation planes[2];
    assert_int_equal(maarCreateDisjointImage(rig->allocator, &image_info, NULL, 2, &image, planes),
                     invalid);
    rig_expect_message(rig, MAAR_MESSAGE_ID_SPARSE_NOT_SUPPORTED);
    assert_int_equal(rig_calls(rig, "vkCreateBuffer"), 0);
    assert_int_equal(rig_calls(rig, "vkCreateImage"), 0);
    maarFreeMemory(rig->allocator, memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(failed_binds_are_not_counted),
        rig_unit_test(failed_bind_keeps_the_empty_block),
        rig_unit_test(sparse_objects_are_refused),
        rig_unit_test(failed_bind_over_budget_keeps_the_empty_blocks),
        rig_unit_test(failed_bind_ends_the_object_before_its_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
