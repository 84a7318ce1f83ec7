/*
 * Free after points in time: timelines and the host's own, pending bytes, collecting, waiting,
 * trimming, a lost device, destruction.
 */
#include "tests/rig/rig.h"

#include <stdio.h>

#include "core/memory/allocator_state.h"
#include "core/port_time.h"

static MaarPoint host_point(uint64_t value)
{
    return (MaarPoint){.value = value};
}

static void free_after(struct rig* rig, MaarAllocation allocation, MaarPoint point)
{
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, allocation, 1, &point), VK_SUCCESS);
}

static uint32_t collect(struct rig* rig)
{
    uint32_t freed = UINT32_MAX;
    assert_int_equal(maarCollect(rig->allocator, &freed), VK_SUCCESS);
    return freed;
}

static void pending_bytes_wait_for_the_host_timeline(void** state)
{
    (void)state;
    const struct rig_setup setup = {.off = RIG_OFF_TIMELINE};
    struct rig* const rig = rig_begin(&setup);
    MaarAllocation a = rig_allocate(rig, 1000, NULL);
    free_after(rig, a, host_point(3));
    MaarStatistics statistics = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.allocationCount, 0);
    assert_int_equal(statistics.allocationBytes, 0);
    assert_int_equal(statistics.pendingCount, 1);
    assert_int_equal(statistics.pendingBytes, 1000);
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    assert_int_equal(maarGetAllocationInfo(rig->allocator, a, &info),
                     VK_ERROR_VALIDATION_FAILED_EXT); /* the handle is dead at once */
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    rig_check(rig);
    assert_int_equal(collect(rig), 0);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 2), VK_SUCCESS);
    assert_int_equal(collect(rig), 0);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 3), VK_SUCCESS);
    assert_int_equal(collect(rig), 1);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingBytes, 0);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 2), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_HOST_TIMELINE_DECREASED);
    rig_check(rig);
}

static void stale_handles_are_refused_without_points_too(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const VkBufferCreateInfo buffer_info = rig_buffer_info(1000);
    const VkImageCreateInfo image_info = rig_image_info(16, 16);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    VkBuffer buffer = VK_NULL_HANDLE;
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation memories[3] = {rig_allocate(rig, 1000, NULL)};
    assert_int_equal(maarCreateBuffer(rig->allocator, &buffer_info, &how, &buffer, &memories[1]),
                     VK_SUCCESS);
    assert_int_equal(maarCreateImage(rig->allocator, &image_info, &how, &image, &memories[2]),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < 2; ++i) {
        const VkResult expected = i == 0 ? VK_SUCCESS : VK_ERROR_VALIDATION_FAILED_EXT;
        assert_int_equal(maarFreeMemoryAfter(rig->allocator, memories[0], 0, NULL), expected);
        if (i > 0) {
            rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, "maarFreeMemoryAfter");
        }
        assert_int_equal(maarDestroyBufferAfter(rig->allocator, buffer, memories[1], 0, NULL),
                         expected);
        if (i > 0) {
            rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, "maarDestroyBufferAfter");
        }
        assert_int_equal(maarDestroyImageAfter(rig->allocator, image, memories[2], 0, NULL),
                         expected);
        if (i > 0) {
            rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, "maarDestroyImageAfter");
        }
    }
    rig_expect_silence(rig);
}

static void pending_bytes_wait_for_every_semaphore(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    VkSemaphore first = rig_create_timeline(rig, 0);
    VkSemaphore second = rig_create_timeline(rig, 10);
    const MaarPoint points[3] = {{first, 1}, {second, 11}, {VK_NULL_HANDLE, 1}};
    MaarAllocation a = rig_allocate(rig, 1000, NULL);
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, a, 3, points), VK_SUCCESS);
    assert_int_equal(collect(rig), 0);
    rig_signal(rig, first, 1);
    assert_int_equal(collect(rig), 0);
    rig_signal(rig, second, 11);
    assert_int_equal(collect(rig), 0);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(collect(rig), 1);
    vkDestroySemaphore(rig->device, first, NULL);
    vkDestroySemaphore(rig->device, second, NULL);
}

static void pending_bytes_are_not_reused_before_their_point(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {.blockSize = MIB, .maxBlockCount = 1};
    MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = pool;
    MaarAllocation a = rig_allocate(rig, MIB, &how);
    free_after(rig, a, host_point(1));
    MaarMemoryRequest request = rig_request(MIB, 1, 1, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation b;
    assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &b),
                     VK_ERROR_OUT_OF_POOL_MEMORY);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    /* The allocation collects by itself. */
    assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &b), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, pool).pendingCount, 0);
    maarFreeMemory(rig->allocator, b);
    maarDestroyPool(rig->allocator, pool);
}

static void free_after_no_points_is_now(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation a = rig_allocate(rig, 1000, NULL);
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, a, 0, NULL), VK_SUCCESS);
    MaarStatistics statistics = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.allocationCount, 0);
    assert_int_equal(statistics.pendingCount, 0);
    const MaarPoint point = host_point(1);
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, VK_NULL_HANDLE, 1, &point), VK_SUCCESS);
    rig_expect_silence(rig);
}

static void free_after_misuse_leaves_it_alive(void** state)
{
    (void)state;
    const struct rig_setup setup = {.off = RIG_OFF_TIMELINE};
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    struct rig* const rig = rig_begin(&setup);
    MaarAllocation a = rig_allocate(rig, 1000, NULL);
    MaarPoint points[MAAR_MAX_POINTS + 1] = {{.value = 1}};
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, a, MAAR_MAX_POINTS + 1, points), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "MAAR_MAX_POINTS");
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, a, 1, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pPoints");
    points[2].semaphore = (VkSemaphore)(uintptr_t)0x1234;
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, a, 3, points),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, "pPoints[2]");
    assert_int_equal(rig_info(rig, a).size, 1000);
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, a, MAAR_MAX_POINTS - 14, points),
                     VK_SUCCESS);
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, a, 1, points), invalid);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
}

static void wait_ends_when_the_device_is_done(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    VkSemaphore timeline = rig_create_timeline(rig, 0);
    free_after(rig, rig_allocate(rig, 1000, NULL), (MaarPoint){timeline, 1});
    uint64_t deadline = maar_deadline_ns(15000000);
    assert_int_equal(maarWaitPending(rig->allocator, 20000000), VK_TIMEOUT);
    assert_int_equal(maar_time_left_ns(deadline), 0);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 1);
    rig_signal(rig, timeline, 1);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 0);
    free_after(rig, rig_allocate(rig, 1000, NULL), host_point(1));
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_NOT_READY);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(maarWaitPending(rig->allocator, 0), VK_SUCCESS);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

/* A free after work that is not submitted yet holds up a wait for all, and not a wait for what was
 * submitted. */
static void wait_for_points_ignores_what_is_still_to_be_submitted(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    VkSemaphore timeline = rig_create_timeline(rig, 0);
    const MaarPoint submitted = {timeline, 1};
    free_after(rig, rig_allocate(rig, 1000, NULL), submitted);
    free_after(rig, rig_allocate(rig, 1000, NULL), (MaarPoint){timeline, 2});
    rig_signal(rig, timeline, 1);
    assert_int_equal(maarWaitPending(rig->allocator, 20000000), VK_TIMEOUT);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 1);
    free_after(rig, rig_allocate(rig, 1000, NULL), submitted);
    assert_int_equal(maarWaitPoints(rig->allocator, 1, &submitted, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 1);
    const MaarPoint later = {timeline, 2};
    const uint64_t deadline = maar_deadline_ns(15000000);
    assert_int_equal(maarWaitPoints(rig->allocator, 1, &later, 20000000), VK_TIMEOUT);
    assert_int_equal(maar_time_left_ns(deadline), 0);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 1);
    rig_signal(rig, timeline, 2);
    assert_int_equal(maarWaitPoints(rig->allocator, 0, NULL, 0), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 0);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

/* After a timeout, what has passed is freed as well. */
static void wait_for_points_frees_what_has_passed_in_any_case(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    VkSemaphore timeline = rig_create_timeline(rig, 0);
    const MaarPoint points[2] = {{timeline, 9}, {VK_NULL_HANDLE, 3}};
    free_after(rig, rig_allocate(rig, 1000, NULL), (MaarPoint){timeline, 1});
    rig_signal(rig, timeline, 1);
    assert_int_equal(maarWaitPoints(rig->allocator, 1, points, 0), VK_TIMEOUT);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 0);
    /* Nobody waits for the device where the program has to do something first. */
    free_after(rig, rig_allocate(rig, 1000, NULL), (MaarPoint){timeline, 1});
    const uint64_t calls = rig_calls(rig, "vkWaitSemaphores");
    assert_int_equal(maarWaitPoints(rig->allocator, 2, points, UINT64_MAX), VK_NOT_READY);
    assert_int_equal(rig_calls(rig, "vkWaitSemaphores"), calls);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 0);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 3), VK_SUCCESS);
    assert_int_equal(maarWaitPoints(rig->allocator, 2, points, 0), VK_TIMEOUT);
    rig_signal(rig, timeline, 9);
    assert_int_equal(maarWaitPoints(rig->allocator, 2, points, UINT64_MAX), VK_SUCCESS);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

static void wait_for_points_refuses_misuse(void** state)
{
    (void)state;
    const struct rig_setup setup = {.off = RIG_OFF_TIMELINE};
    struct rig* const rig = rig_begin(&setup);
    const MaarPoint points[1] = {{MAAR_FROM_BITS(VkSemaphore, 1), 1}};
    assert_int_equal(maarWaitPoints(rig->allocator, 1, points, 0), VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, "pPoints[0]");
    assert_int_equal(maarWaitPoints(rig->allocator, 1, NULL, 0), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pPoints");
    assert_int_equal(maarWaitPoints(rig->allocator, MAAR_MAX_POINTS + 1, points, 0),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pointCount");
    assert_int_equal(maarWaitPoints(VK_NULL_HANDLE, 0, NULL, 0), VK_ERROR_VALIDATION_FAILED_EXT);
}

/* No call of the driver could wait for the host: a wait ends at once, whatever else is missing. */
static void wait_ends_where_the_host_is_behind(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    VkSemaphore timeline = rig_create_timeline(rig, 0);
    const MaarPoint points[2] = {{timeline, 1}, {VK_NULL_HANDLE, 1}};
    MaarAllocation a = rig_allocate(rig, 1000, NULL);
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, a, 2, points), VK_SUCCESS);
    assert_int_equal(maarWaitPending(rig->allocator, 30000000), VK_NOT_READY);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(maarWaitPending(rig->allocator, 20000000), VK_TIMEOUT);
    rig_signal(rig, timeline, 1);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

static void as_many_points_as_there_may_be(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarPoint points[MAAR_MAX_POINTS];
    for (uint32_t i = 0; i < MAAR_MAX_POINTS; ++i) {
        points[i] = host_point(i + 1);
    }
    MaarAllocation a = rig_allocate(rig, 1000, NULL);
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, a, MAAR_MAX_POINTS, points), VK_SUCCESS);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, MAAR_MAX_POINTS - 1), VK_SUCCESS);
    assert_int_equal(collect(rig), 0);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, MAAR_MAX_POINTS), VK_SUCCESS);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, MAAR_MAX_POINTS), VK_SUCCESS);
    assert_int_equal(collect(rig), 1);
}

/* ---- the queue itself ---- */

static struct rig queue_rig;
static uint32_t finished;

static void count_item(MaarAllocator allocator, const struct maar_retire_item* item)
{
    (void)allocator;
    (void)item;
    ++finished;
}

static void queue_item(maar_retire_action action, MaarPoint point)
{
    struct maar_retire_item* item = maar_retire_prepare(&queue_rig.allocator->retire, 1, &point);
    assert_non_null(item);
    item->action = action;
    maar_retire_queue(&queue_rig.allocator->retire, item);
}

static void queue_another(MaarAllocator allocator, const struct maar_retire_item* item)
{
    count_item(allocator, item);
    queue_item(count_item, host_point(2));
}

/* What comes while items are in hand stands behind those that are put back. */
static void items_that_come_meanwhile_are_kept(void** state)
{
    (void)state;
    rig_start(&queue_rig, NULL);
    finished = 0;
    queue_item(queue_another, host_point(1));
    queue_item(count_item, host_point(2));
    assert_int_equal(maarAdvanceHostTimeline(queue_rig.allocator, 1), VK_SUCCESS);
    assert_int_equal(collect(&queue_rig), 1);
    queue_item(count_item, host_point(2));
    assert_int_equal(maarAdvanceHostTimeline(queue_rig.allocator, 2), VK_SUCCESS);
    assert_int_equal(collect(&queue_rig), 3);
    assert_int_equal(finished, 4);
    assert_true(maar_retire_is_empty(&queue_rig.allocator->retire));
    rig_close(&queue_rig);
}

static void wait_within(MaarAllocator allocator, const struct maar_retire_item* item)
{
    count_item(allocator, item);
    assert_int_equal(maarWaitPending(allocator, 0), VK_TIMEOUT);
}

/* As another thread would see it: what somebody has in hand is not done yet. */
static void items_in_hand_are_waited_for(void** state)
{
    (void)state;
    rig_start(&queue_rig, NULL);
    finished = 0;
    queue_item(wait_within, host_point(0));
    assert_int_equal(maarWaitPending(queue_rig.allocator, 0), VK_SUCCESS);
    assert_int_equal(finished, 1);
    rig_close(&queue_rig);
}

static void trim_frees_what_has_passed(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    free_after(rig, rig_allocate(rig, 1000, NULL), host_point(1));
    VkDeviceSize released = 1;
    assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, &released), VK_SUCCESS);
    assert_int_equal(released, 0);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, &released), VK_SUCCESS);
    assert_true(released > 0);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, 0);
}

static void lost_device_frees_all(void** state)
{
    (void)state;
    static const char* const functions[3] = {"vkGetSemaphoreCounterValue", "vkWaitSemaphores",
                                             "vkWaitSemaphores"};
    for (uint32_t i = 0; i < 3; ++i) {
        struct rig* const rig = rig_begin(NULL);
        VkSemaphore timeline = rig_create_timeline(rig, 0);
        free_after(rig, rig_allocate(rig, 1000, NULL), host_point(9));
        free_after(rig, rig_allocate(rig, 1000, NULL), (MaarPoint){timeline, 1});
        rig_set_fault(rig, functions[i], 1, 1, VK_ERROR_DEVICE_LOST);
        const MaarPoint point = {timeline, 1};
        VkResult result = i == 0   ? maarCollect(rig->allocator, NULL)
                          : i == 1 ? maarWaitPending(rig->allocator, UINT64_MAX)
                                   : maarWaitPoints(rig->allocator, 1, &point, UINT64_MAX);
        assert_int_equal(result, VK_ERROR_DEVICE_LOST);
        (void)maarCollect(rig->allocator, NULL);
        assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 0);
        rig_check(rig);
        vkDestroySemaphore(rig->device, timeline, NULL);
        rig_close(rig);
    }
}

static void lost_device_frees_all_in_one_call(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    VkSemaphore timeline = rig_create_timeline(rig, 0);
    free_after(rig, rig_allocate(rig, 1000, NULL), host_point(9));
    free_after(rig, rig_allocate(rig, 1000, NULL), (MaarPoint){timeline, 1});
    rig_set_fault(rig, "vkGetSemaphoreCounterValue", 1, 1, VK_ERROR_DEVICE_LOST);
    uint32_t freed = 0;
    assert_int_equal(maarCollect(rig->allocator, &freed), VK_ERROR_DEVICE_LOST);
    assert_int_equal(freed, 2);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 0);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

static void semaphore_error_keeps_it_pending(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    VkSemaphore timeline = rig_create_timeline(rig, 1);
    free_after(rig, rig_allocate(rig, 1000, NULL), (MaarPoint){timeline, 1});
    rig_set_fault(rig, "vkGetSemaphoreCounterValue", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    uint32_t freed = 7;
    assert_int_equal(maarCollect(rig->allocator, &freed), VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(freed, 0);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 1);
    assert_int_equal(collect(rig), 1);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

static void collect_reads_each_semaphore_once(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    VkSemaphore timeline = rig_create_timeline(rig, 50);
    for (uint64_t i = 1; i <= 100; ++i) {
        free_after(rig, rig_allocate(rig, 100, NULL), (MaarPoint){timeline, i});
    }
    uint64_t calls = rig_calls(rig, "vkGetSemaphoreCounterValue");
    assert_int_equal(collect(rig), 50);
    assert_int_equal(rig_calls(rig, "vkGetSemaphoreCounterValue") - calls, 1);
    rig_signal(rig, timeline, 100);
    assert_int_equal(collect(rig), 50);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

static void destroy_ends_what_is_pending(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    struct rig* const rig = rig_begin(&setup);
    VkSemaphore timeline = rig_create_timeline(rig, 1);
    free_after(rig, rig_allocate(rig, 1000, NULL), (MaarPoint){timeline, 1});
    maarDestroyAllocator(rig->allocator);
    rig_expect_silence(rig);
    rig_make_allocator(rig);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    how.pName = "pending to the end";
    free_after(rig, rig_allocate(rig, 1000, &how), host_point(1));
    maarDestroyAllocator(rig->allocator);
    assert_true(rig_message_names(rig, how.pName));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_PENDING_AT_DESTROY, "maarAdvanceHostTimeline");
    /* What waits for a semaphore is not explained by the host timeline. */
    rig_make_allocator(rig);
    free_after(rig, rig_allocate(rig, 1000, NULL), host_point(1));
    how.pName = "never signalled";
    free_after(rig, rig_allocate(rig, 1000, &how), (MaarPoint){timeline, 4711});
    rig_signal(rig, timeline, 815);
    char name[32];
    (void)snprintf(name, sizeof name, "0x%llX", (unsigned long long)MAAR_TO_BITS(timeline));
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    assert_true(rig_message_names_number(rig, 4711));
    assert_true(rig_message_names_number(rig, 815)); /* reached */
    assert_true(rig_message_names(rig, how.pName));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_PENDING_AT_DESTROY, name);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

static void objects_die_with_their_memory(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const VkBufferCreateInfo buffer_info = rig_buffer_info(1000);
    const VkImageCreateInfo image_info = rig_image_info(64, 64);
    VkBuffer buffer;
    VkImage image;
    MaarAllocation a;
    MaarAllocation b;
    assert_int_equal(maarCreateBuffer(rig->allocator, &buffer_info, NULL, &buffer, &a), VK_SUCCESS);
    assert_int_equal(maarCreateImage(rig->allocator, &image_info, NULL, &image, &b), VK_SUCCESS);
    const MaarPoint point = host_point(1);
    assert_int_equal(maarDestroyBufferAfter(rig->allocator, buffer, a, 1, &point), VK_SUCCESS);
    assert_int_equal(maarDestroyImageAfter(rig->allocator, image, b, 1, &point), VK_SUCCESS);
    MaarSimulatedCounters counters = rig_counters(rig);
    assert_int_equal(counters.liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 1);
    assert_int_equal(counters.liveCount[MAAR_SIMULATED_OBJECT_IMAGE], 1);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 2);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(collect(rig), 2);
    counters = rig_counters(rig);
    assert_int_equal(counters.liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 0);
    assert_int_equal(counters.liveCount[MAAR_SIMULATED_OBJECT_IMAGE], 0);

    /* No points: now. No memory: the object alone. */
    assert_int_equal(maarCreateBuffer(rig->allocator, &buffer_info, NULL, &buffer, &a), VK_SUCCESS);
    assert_int_equal(maarCreateImage(rig->allocator, &image_info, NULL, &image, &b), VK_SUCCESS);
    assert_int_equal(maarDestroyBufferAfter(rig->allocator, buffer, a, 0, NULL), VK_SUCCESS);
    assert_int_equal(maarDestroyImageAfter(rig->allocator, image, VK_NULL_HANDLE, 1, &point),
                     VK_SUCCESS);
    assert_int_equal(maarDestroyImageAfter(rig->allocator, VK_NULL_HANDLE, b, 1, &point),
                     VK_SUCCESS);
    assert_int_equal(collect(rig), 2);
    assert_int_equal(maarDestroyBufferAfter(rig->allocator, buffer, a, 1, &point),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
}

struct late_signal {
    struct rig* rig;
    VkSemaphore semaphore;
};

static void signal_when_waited_for(void* data, const char* function)
{
    const struct late_signal* late = data;
    if (strcmp(function, "vkWaitSemaphores") == 0) {
        rig_signal(late->rig, late->semaphore, 1);
    }
}

/* What was read before a wait does not count behind it. */
static void one_wait_is_enough(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    struct late_signal late = {rig, rig_create_timeline(rig, 0)};
    const MaarPoint point = {.semaphore = late.semaphore, .value = 1};
    MaarAllocation memory = rig_allocate(rig, 1000, NULL);
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, memory, 1, &point), VK_SUCCESS);
    rig->call = signal_when_waited_for;
    rig->call_data = &late;
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    rig->call = NULL;
    assert_int_equal(rig_calls(rig, "vkWaitSemaphores"), 1);
    vkDestroySemaphore(rig->device, late.semaphore, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(pending_bytes_wait_for_the_host_timeline),
        rig_unit_test(stale_handles_are_refused_without_points_too),
        rig_unit_test(pending_bytes_wait_for_every_semaphore),
        rig_unit_test(pending_bytes_are_not_reused_before_their_point),
        rig_unit_test(free_after_no_points_is_now),
        rig_unit_test(free_after_misuse_leaves_it_alive),
        rig_unit_test(wait_ends_when_the_device_is_done),
        rig_unit_test(trim_frees_what_has_passed),
        rig_unit_test(lost_device_frees_all),
        rig_unit_test(lost_device_frees_all_in_one_call),
        rig_unit_test(semaphore_error_keeps_it_pending),
        rig_unit_test(collect_reads_each_semaphore_once),
        rig_unit_test(destroy_ends_what_is_pending),
        rig_unit_test(objects_die_with_their_memory),
        rig_unit_test(wait_for_points_ignores_what_is_still_to_be_submitted),
        rig_unit_test(wait_for_points_frees_what_has_passed_in_any_case),
        rig_unit_test(wait_for_points_refuses_misuse),
        rig_unit_test(wait_ends_where_the_host_is_behind),
        rig_unit_test(as_many_points_as_there_may_be),
        rig_unit_test(items_that_come_meanwhile_are_kept),
        rig_unit_test(items_in_hand_are_waited_for),
        rig_unit_test(one_wait_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
