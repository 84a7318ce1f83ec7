/*
 * What the headers say that functions never do: wait for the device, or call it at all; and what is
 * left of an object whose destruction was refused.
 */
#include "tests/promise/one_of_each.h"

/* ---- calls of the driver ---- */

static const char* const waiting[] = {"vkWaitSemaphores", "vkQueueWaitIdle", "vkDeviceWaitIdle",
                                      "vkWaitForFences"};

static uint64_t count_waits(struct rig* rig)
{
    uint64_t count = 0;
    for (size_t i = 0; i < sizeof waiting / sizeof waiting[0]; ++i) {
        count += rig_calls(rig, waiting[i]);
    }
    return count;
}

static void refuse_call(void* data, const char* function)
{
    (void)data;
    fail_msg("%s was called", function);
}

/* ---- destruction after points ---- */

/* Ends one object, which is null then, and says whether it is still there. */
struct ending {
    VkResult (*end)(struct one_of_each* it, uint32_t point_count, const MaarPoint* points);
    VkResult (*look)(struct one_of_each* it);
};

static VkResult end_memory(struct one_of_each* it, uint32_t count, const MaarPoint* points)
{
    VkResult result = maarFreeMemoryAfter(it->rig->allocator, it->memory, count, points);
    if (result == VK_SUCCESS) {
        it->memory = VK_NULL_HANDLE;
    }
    return result;
}

static VkResult end_buffer(struct one_of_each* it, uint32_t count, const MaarPoint* points)
{
    VkResult result =
        maarDestroyBufferAfter(it->rig->allocator, it->buffer, it->buffer_memory, count, points);
    if (result == VK_SUCCESS) {
        it->buffer = VK_NULL_HANDLE;
        it->buffer_memory = VK_NULL_HANDLE;
    }
    return result;
}

static VkResult end_image(struct one_of_each* it, uint32_t count, const MaarPoint* points)
{
    VkResult result =
        maarDestroyImageAfter(it->rig->allocator, it->image, it->image_memory, count, points);
    if (result == VK_SUCCESS) {
        it->image = VK_NULL_HANDLE;
        it->image_memory = VK_NULL_HANDLE;
    }
    return result;
}

static VkResult end_slice(struct one_of_each* it, uint32_t count, const MaarPoint* points)
{
    VkResult result = maarDestroySliceAfter(it->rig->allocator, it->slice, count, points);
    if (result == VK_SUCCESS) {
        it->slice = VK_NULL_HANDLE;
    }
    return result;
}

static VkResult end_heap(struct one_of_each* it, uint32_t count, const MaarPoint* points)
{
    VkResult result = maarDestroyTransientHeapAfter(it->rig->allocator, it->heap, count, points);
    if (result == VK_SUCCESS) {
        it->heap = VK_NULL_HANDLE;
    }
    return result;
}

static VkResult end_reservation(struct one_of_each* it, uint32_t count, const MaarPoint* points)
{
    VkResult result =
        maarDestroyReservationAfter(it->rig->allocator, it->reservation, count, points);
    if (result == VK_SUCCESS) {
        it->reservation = VK_NULL_HANDLE;
    }
    return result;
}

static VkResult end_array(struct one_of_each* it, uint32_t count, const MaarPoint* points)
{
    VkResult result = maarDestroyArrayAfter(it->rig->allocator, it->array, count, points);
    if (result == VK_SUCCESS) {
        it->array = VK_NULL_HANDLE;
    }
    return result;
}

static VkResult end_sparse_image(struct one_of_each* it, uint32_t count, const MaarPoint* points)
{
    VkResult result =
        maarDestroySparseImageAfter(it->rig->allocator, it->sparse_image, count, points);
    if (result == VK_SUCCESS) {
        it->sparse_image = VK_NULL_HANDLE;
    }
    return result;
}

static VkResult look_at(struct one_of_each* it, MaarAllocation allocation)
{
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    return maarGetAllocationInfo(it->rig->allocator, allocation, &info);
}

static VkResult look_at_memory(struct one_of_each* it)
{
    return look_at(it, it->memory);
}

static VkResult look_at_buffer(struct one_of_each* it)
{
    return look_at(it, it->buffer_memory);
}

static VkResult look_at_image(struct one_of_each* it)
{
    return look_at(it, it->image_memory);
}

static VkResult look_at_slice(struct one_of_each* it)
{
    MaarSliceInfo info = {.sType = MAAR_STRUCTURE_TYPE_SLICE_INFO};
    return maarGetSliceInfo(it->rig->allocator, it->slice, &info);
}

static VkResult look_at_heap(struct one_of_each* it)
{
    MaarTransientHeapInfo info = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_INFO};
    return maarGetTransientHeapInfo(it->rig->allocator, it->heap, &info);
}

static VkResult look_at_reservation(struct one_of_each* it)
{
    MaarReservationInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    return maarGetReservationInfo(it->rig->allocator, it->reservation, &info);
}

static VkResult look_at_array(struct one_of_each* it)
{
    MaarArrayInfo info = {.sType = MAAR_STRUCTURE_TYPE_ARRAY_INFO};
    return maarGetArrayInfo(it->rig->allocator, it->array, &info);
}

static VkResult look_at_sparse_image(struct one_of_each* it)
{
    MaarSparseImageInfo info = {.sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_INFO};
    return maarGetSparseImageInfo(it->rig->allocator, it->sparse_image, &info);
}

enum { ENDINGS = 8, PLAIN_ENDINGS = 5 };
static const struct ending endings[ENDINGS] = {
    {end_memory, look_at_memory}, {end_buffer, look_at_buffer},
    {end_image, look_at_image},   {end_slice, look_at_slice},
    {end_heap, look_at_heap},     {end_reservation, look_at_reservation},
    {end_array, look_at_array},   {end_sparse_image, look_at_sparse_image},
};

static void destruction_after_points_never_blocks(void** state)
{
    struct one_of_each it;
    (void)state;
    one_of_each_make(&it, 0, 0);
    VkSemaphore timeline = rig_create_timeline(it.rig, 0);
    const MaarPoint point = {timeline, 1};
    const uint64_t waits = count_waits(it.rig);
    for (uint32_t i = 0; i < ENDINGS; ++i) {
        assert_int_equal(endings[i].end(&it, 1, &point), VK_SUCCESS);
    }
    assert_int_equal(count_waits(it.rig), waits);
    assert_true(rig_statistics(it.rig, VK_NULL_HANDLE).pendingCount > 0);
    rig_signal(it.rig, timeline, 1);
    assert_int_equal(maarCollect(it.rig->allocator, NULL), VK_SUCCESS);
    vkDestroySemaphore(it.rig->device, timeline, NULL);
    one_of_each_end(&it);
}

static void refused_destruction_leaves_all_alive(void** state)
{
    struct one_of_each it;
    (void)state;
    one_of_each_make(&it, 0, 0);
    for (uint32_t i = 0; i < ENDINGS; ++i) {
        assert_int_equal(endings[i].end(&it, 1, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(it.rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pPoints");
        assert_int_equal(endings[i].look(&it), VK_SUCCESS);
    }
    rig_expect_silence(it.rig);
    one_of_each_end(&it);
}

static void semaphores_without_their_feature_are_refused(void** state)
{
    struct one_of_each it;
    const MaarPoint point = {(VkSemaphore)(uintptr_t)1, 1};
    (void)state;
    one_of_each_make(&it, RIG_OFF_TIMELINE, 0);
    for (uint32_t i = 0; i < ENDINGS; ++i) {
        assert_int_equal(endings[i].end(&it, 1, &point), VK_ERROR_FEATURE_NOT_PRESENT);
        rig_expect_message_naming(it.rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, "pEnabledFeatures");
        assert_true(i >= PLAIN_ENDINGS || endings[i].look(&it) == VK_SUCCESS);
    }
    assert_int_equal(one_of_each_update(&it, it.heap, 9000, 1, &point),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(it.rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, "pEnabledFeatures");
    one_of_each_end(&it);
}

static void refused_update_leaves_the_heap(void** state)
{
    struct one_of_each it;
    MaarTransientHeapInfo before = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_INFO};
    MaarTransientHeapInfo after = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_INFO};
    (void)state;
    one_of_each_make(&it, 0, 0);
    assert_int_equal(maarGetTransientHeapInfo(it.rig->allocator, it.heap, &before), VK_SUCCESS);
    assert_int_equal(one_of_each_update(&it, it.heap, 9000, 1, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(it.rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pPoints");
    rig_set_fault(it.rig, "vkCreateBuffer", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(one_of_each_update(&it, it.heap, 9000, 0, NULL), VK_ERROR_OUT_OF_HOST_MEMORY);
    rig_clear_faults(it.rig);
    rig_forget_messages(it.rig);
    assert_int_equal(maarGetTransientHeapInfo(it.rig->allocator, it.heap, &after), VK_SUCCESS);
    assert_memory_equal(&before, &after, sizeof before);
    one_of_each_end(&it);
}

/* ---- binds ---- */

static void binds_never_wait_for_the_device(void** state)
{
    struct one_of_each it;
    (void)state;
    one_of_each_make(&it, 0, MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT);
    VkSemaphore timeline = rig_create_timeline(it.rig, 0);
    const MaarPoint point = {timeline, 1};
    const MaarPageRange range = {0, 65536};
    const uint64_t waits = count_waits(it.rig);
    assert_int_equal(maarDelayBinds(it.rig->allocator, 1, &point), VK_SUCCESS);
    assert_int_equal(maarDecommitPages(it.rig->allocator, it.reservation, 1, &range), VK_SUCCESS);
    assert_int_equal(maarSubmitBinds(it.rig->allocator, 1, &point, NULL), VK_SUCCESS);
    maarDestroyReservation(it.rig->allocator, it.reservation);
    it.reservation = VK_NULL_HANDLE;
    assert_int_equal(count_waits(it.rig), waits);
    rig_signal(it.rig, timeline, 1);
    (void)maarSimulatedExecuteSubmissions(it.rig->physical, UINT32_MAX);
    assert_int_equal(maarWaitPending(it.rig->allocator, UINT64_MAX), VK_SUCCESS);
    vkDestroySemaphore(it.rig->device, timeline, NULL);
    one_of_each_end(&it);
}

/* ---- reading ---- */

static void reading_calls_no_driver(void** state)
{
    struct one_of_each it;
    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    MaarTransientHeapInfo heap = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_INFO};
    MaarTransientResourceInfo resource = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_RESOURCE_INFO};
    MaarTransientPassBarriers barriers = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS};
    (void)state;
    one_of_each_make(&it, 0, 0);
    const MaarAllocator allocator = it.rig->allocator;
    it.rig->call = refuse_call;
    assert_int_equal(maarGetStatistics(allocator, VK_NULL_HANDLE, &statistics), VK_SUCCESS);
    assert_int_equal(maarGetTransientHeapInfo(allocator, it.heap, &heap), VK_SUCCESS);
    assert_int_equal(maarGetTransientResource(allocator, it.heap, 0, 0, &resource), VK_SUCCESS);
    assert_int_equal(maarGetTransientPassBarriers(allocator, it.heap, 0, 0, &barriers), VK_SUCCESS);
    it.rig->call = NULL;
    one_of_each_end(&it);
}

static void plans_and_versions_call_no_driver(void** state)
{
    struct rig* const rig = rig_begin(NULL);
    const MaarPlanResource resources[] = {
        {.size = 100, .alignment = 4, .firstPass = 0, .lastPass = 1},
        {.size = 200, .alignment = 4, .firstPass = 1, .lastPass = 2},
    };
    const MaarPlanCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
        .resourceCount = 2,
        .pResources = resources,
    };
    MaarPlan plan = VK_NULL_HANDLE;
    MaarPlanInfo made = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
    uint32_t count = 0;
    (void)state;
    rig->call = refuse_call;
    assert_int_equal(maarGetVersion(), MAAR_VERSION);
    assert_int_equal(maarCreatePlan(&info, &plan), VK_SUCCESS);
    assert_int_equal(maarGetPlanInfo(plan, &made), VK_SUCCESS);
    assert_int_equal(maarGetPlanClasses(plan, &count, NULL), VK_SUCCESS);
    assert_int_equal(maarGetPlanPlacements(plan, &count, NULL), VK_SUCCESS);
    assert_int_equal(maarGetPlanEdges(plan, &count, NULL), VK_SUCCESS);
    assert_int_equal(maarGetPlanWrapEdges(plan, &count, NULL), VK_SUCCESS);
    maarDestroyPlan(plan);
    rig->call = NULL;
    rig_close(rig);
}

/* ---- the simulated driver ---- */

/* In the middle of a call of the driver, on its thread. */
static void ask_driver(void* data, const char* function)
{
    struct rig* const rig = data;
    (void)function;
    assert_ptr_equal(maarSimulatedGetPhysicalDevice(rig->device), rig->physical);
    assert_non_null(maarSimulatedGetInstanceProcAddr(rig->instance, "vkAllocateMemory"));
}

static void questions_to_the_driver_need_no_lock(void** state)
{
    struct rig* const rig = rig_begin(NULL);
    (void)state;
    rig->call_data = rig;
    rig->call = ask_driver;
    maarFreeMemory(rig->allocator, rig_allocate(rig, MIB, NULL));
    rig->call = NULL;
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(destruction_after_points_never_blocks),
        rig_unit_test(refused_destruction_leaves_all_alive),
        rig_unit_test(semaphores_without_their_feature_are_refused),
        rig_unit_test(refused_update_leaves_the_heap),
        rig_unit_test(binds_never_wait_for_the_device),
        rig_unit_test(reading_calls_no_driver),
        rig_unit_test(plans_and_versions_call_no_driver),
        rig_unit_test(questions_to_the_driver_need_no_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
