/*
 * Reservations that grow by copies: on devices without sparse binding, on devices that bind whole
 * resources only, and where the program requests it.
 */
#include "tests/unit/reservation/reservation_fixture.h"

static struct rig* rig;

static const struct {
    enum fixture_way way;
    MaarReservationCreateFlags flags;
} ways[] = {
    {FIXTURE_NO_SPARSE, 0},
    {FIXTURE_NO_RESIDENCY, 0},
    {FIXTURE_SPARSE, MAAR_RESERVATION_CREATE_COPYING_BIT},
};
enum { WAYS = 3 };

static uint32_t live_buffers(void)
{
    return (uint32_t)rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER];
}

static VkDeviceSize copied_bytes(void)
{
    return fixture_statistics(rig).copiedBytes;
}

/* A copying reservation of 64 MiB on the last of the ways. */
static MaarReservation open_copying(const struct rig_setup* setup)
{
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, setup);
    return fixture_reserve(rig, 64 * MIB, MAAR_RESERVATION_CREATE_COPYING_BIT);
}

static void grow(MaarReservation reservation, VkDeviceSize size)
{
    assert_int_equal(fixture_commit(rig, reservation, 0, size), VK_SUCCESS);
}

static void growth_is_geometric_and_ends_at_the_size(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < WAYS; ++i) {
        rig = fixture_begin(ways[i].way, 64 * KIB, NULL);
        MaarReservation it = fixture_reserve(rig, 64 * MIB, ways[i].flags);
        MaarReservationInfo info = fixture_info(rig, it);
        assert_int_equal(info.sparse, VK_FALSE);
        assert_true(info.buffer == VK_NULL_HANDLE);
        assert_int_equal(info.committedSize, 0);
        assert_true(info.pageSize >= 64 * KIB);
        uint32_t moves = 0;
        for (VkDeviceSize size = 100000; size <= 64 * MIB; size += 100000) {
            const VkDeviceSize before = info.committedSize;
            const VkBuffer old = info.buffer;
            grow(it, size);
            info = fixture_info(rig, it);
            assert_true(info.committedSize >= size);
            assert_true(info.address != 0);
            if (info.committedSize != before) {
                assert_true(info.committedSize >= before + before / 2 ||
                            info.committedSize == 64 * MIB);
                assert_true(info.buffer != old);
                ++moves;
                (void)fixture_submit(rig);
            }
            assert_int_equal(info.moveCount, moves);
        }
        grow(it, 64 * MIB);
        (void)fixture_submit(rig);
        assert_int_equal(fixture_info(rig, it).committedSize, 64 * MIB);
        assert_in_range(moves, 10, 20);
        assert_true(copied_bytes() > 64 * MIB && copied_bytes() < 192 * MIB);
        assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
        assert_int_equal(live_buffers(), 1);
        MaarPageRun runs[64];
        assert_int_equal(fixture_runs(rig, it, runs), 1);
        assert_int_equal(runs[0].size, 64 * MIB);
        assert_true(runs[0].memory != VK_NULL_HANDLE);
        /* Giving pages back is no error and changes nothing. */
        assert_int_equal(fixture_decommit(rig, it, 0, VK_WHOLE_SIZE), VK_SUCCESS);
        assert_int_equal(fixture_info(rig, it).committedSize, 64 * MIB);
        assert_int_equal(fixture_statistics(rig).reservedBytes, 0);
        rig_check(rig);
        maarDestroyReservation(rig->allocator, it);
        assert_int_equal(live_buffers(), 0);
        rig_expect_silence(rig);
        rig_close(rig);
    }
}

static void furthest_end_decides(void** state)
{
    (void)state;
    MaarReservation it = open_copying(NULL);
    const MaarPageRange ranges[] = {{5 * MIB, 10}, {MIB, MIB}, {63 * MIB, 0}};
    assert_int_equal(maarCommitPages(rig->allocator, it, 3, ranges), VK_SUCCESS);
    assert_int_equal(fixture_info(rig, it).committedSize, 5 * MIB + 64 * KIB);
    assert_int_equal(fixture_commit(rig, it, 64 * MIB, 1), VK_ERROR_VALIDATION_FAILED_EXT);
    maarDestroyReservation(rig->allocator, it);
    rig_close(rig);
}

static void old_buffer_goes_after_the_copy_and_the_points(void** state)
{
    (void)state;
    MaarReservation it =
        open_copying(&(struct rig_setup){.flags = MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT});
    VkSemaphore timeline = rig_create_timeline(rig, 0);
    grow(it, MIB);
    (void)fixture_submit(rig);
    assert_int_equal(live_buffers(), 1);
    grow(it, 4 * MIB);
    assert_int_equal(live_buffers(), 2);
    const MaarPoint used = {timeline, 3};
    MaarPoint copied = {.value = 0};
    assert_int_equal(maarSubmitBinds(rig->allocator, 1, &used, &copied), VK_SUCCESS);
    assert_true(copied.semaphore != VK_NULL_HANDLE);
    assert_int_equal(copied_bytes(), MIB);
    assert_int_equal(maarSimulatedExecuteSubmissions(rig->physical, 1),
                     0); /* waits for the point */
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(live_buffers(), 2);
    rig_signal(rig, timeline, 3);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(live_buffers(), 2); /* may be executed, but was not */
    assert_int_equal(maarSimulatedExecuteSubmissions(rig->physical, 1), 1);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(live_buffers(), 1);
    maarDestroyReservation(rig->allocator, it);
    assert_int_equal(live_buffers(), 0);
    vkDestroySemaphore(rig->device, timeline, NULL);
    rig_close(rig);
}

/* The points of maarDelayBinds, those of maarSubmitBinds, and Maar's own belong to one timeline
 * each. */
static void copies_wait_for_as_many_points_as_can_be_named(void** state)
{
    (void)state;
    enum { POINTS = 2 * MAAR_MAX_POINTS };
    MaarReservation it =
        open_copying(&(struct rig_setup){.flags = MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT});
    MaarPoint points[POINTS];
    for (uint32_t i = 0; i < POINTS; ++i) {
        points[i] = (MaarPoint){rig_create_timeline(rig, 0), i + 1};
    }
    grow(it, MIB);
    grow(it, 4 * MIB);
    (void)fixture_submit(rig);
    assert_int_equal(maarSimulatedExecuteSubmissions(rig->physical, 1), 1);
    grow(it, 16 * MIB);
    assert_int_equal(maarDelayBinds(rig->allocator, MAAR_MAX_POINTS, points), VK_SUCCESS);
    assert_int_equal(
        maarSubmitBinds(rig->allocator, MAAR_MAX_POINTS, points + MAAR_MAX_POINTS, NULL),
        VK_SUCCESS);
    for (uint32_t i = 0; i < POINTS; ++i) {
        assert_int_equal(maarSimulatedExecuteSubmissions(rig->physical, 1), 0);
        rig_signal(rig, points[i].semaphore, points[i].value);
    }
    assert_int_equal(maarSimulatedExecuteSubmissions(rig->physical, 1), 1);
    assert_int_equal(copied_bytes(), 5 * MIB);
    maarDestroyReservation(rig->allocator, it);
    for (uint32_t i = 0; i < POINTS; ++i) {
        vkDestroySemaphore(rig->device, points[i].semaphore, NULL);
    }
    rig_close(rig);
}

static void end_waits_for_a_copy_that_is_held(void** state)
{
    (void)state;
    MaarReservation it =
        open_copying(&(struct rig_setup){.flags = MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT});
    grow(it, MIB);
    (void)fixture_submit(rig);
    grow(it, 4 * MIB);
    (void)fixture_submit(rig);
    grow(it, 8 * MIB);
    (void)fixture_submit(rig);
    grow(it, 16 * MIB); /* recorded alone */
    maarDestroyReservation(rig->allocator, it);
    assert_int_equal(live_buffers(), 4);
    assert_int_equal(maarSimulatedExecuteSubmissions(rig->physical, 1), 1);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(live_buffers(), 3);
    assert_int_equal(maarSimulatedExecuteSubmissions(rig->physical, 1), 1);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(live_buffers(), 0);
    rig_close(rig);
}

static void growing_twice_before_a_submission_copies_once(void** state)
{
    (void)state;
    MaarReservation it = open_copying(NULL);
    grow(it, MIB);
    (void)fixture_submit(rig);
    for (VkDeviceSize size = 2 * MIB; size <= 32 * MIB; size *= 2) {
        grow(it, size);
        assert_int_equal(live_buffers(), 2); /* what lay between is gone */
    }
    const uint64_t submits = rig_calls(rig, "vkQueueSubmit");
    (void)fixture_submit(rig);
    assert_int_equal(rig_calls(rig, "vkQueueSubmit"), submits + 1);
    assert_int_equal(copied_bytes(), MIB);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(live_buffers(), 1);
    maarDestroyReservation(rig->allocator, it);
    rig_close(rig);
}

static void copies_and_binds_share_a_call(void** state)
{
    (void)state;
    MaarReservation copying = open_copying(NULL);
    MaarReservation sparse = fixture_reserve(rig, MIB, 0);
    grow(copying, MIB);
    (void)fixture_submit(rig);
    grow(copying, 2 * MIB);
    grow(sparse, MIB);
    (void)fixture_submit(rig);
    assert_int_equal(rig_calls(rig, "vkQueueBindSparse"), 1);
    assert_int_equal(rig_calls(rig, "vkQueueSubmit"), 1);
    assert_int_equal(copied_bytes(), MIB);
    maarDestroyReservation(rig->allocator, copying);
    maarDestroyReservation(rig->allocator, sparse);
    rig_close(rig);
}

static void command_buffers_are_used_again(void** state)
{
    (void)state;
    MaarReservation it = open_copying(NULL);
    grow(it, 64 * KIB);
    for (uint32_t i = 0; i < 12; ++i) {
        grow(it, fixture_info(rig, it).committedSize + 1);
        (void)fixture_submit(rig);
    }
    assert_int_equal(rig_calls(rig, "vkQueueSubmit"), 12);
    assert_int_equal(rig_calls(rig, "vkCreateCommandPool"), 1);
    assert_int_equal(rig_calls(rig, "vkAllocateCommandBuffers"), 1);
    maarDestroyReservation(rig->allocator, it);
    rig_close(rig);
}

/* ---- failures ---- */

static void failed_submission_keeps_the_copy(void** state)
{
    (void)state;
    static const char* const calls[] = {"vkCreateCommandPool", "vkAllocateCommandBuffers",
                                        "vkBeginCommandBuffer", "vkEndCommandBuffer",
                                        "vkQueueSubmit"};
    for (uint32_t i = 0; i < 5; ++i) {
        MaarReservation it = open_copying(NULL);
        grow(it, MIB);
        (void)fixture_submit(rig);
        grow(it, 2 * MIB);
        rig_set_fault(rig, calls[i], 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
        MaarPoint point = {.value = 0};
        assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, &point),
                         VK_ERROR_OUT_OF_DEVICE_MEMORY);
        rig_clear_faults(rig);
        assert_int_equal(copied_bytes(), 0);
        assert_int_equal(live_buffers(), 2);
        (void)fixture_submit(rig);
        assert_int_equal(copied_bytes(), MIB);
        assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
        assert_int_equal(live_buffers(), 1);
        maarDestroyReservation(rig->allocator, it);
        rig_close(rig);
    }
}

static void failed_growth_changes_nothing(void** state)
{
    (void)state;
    MaarReservation it =
        open_copying(&(struct rig_setup){.count_host = true, .preferred_block = 256 * MIB});
    grow(it, MIB);
    (void)fixture_submit(rig);
    const MaarReservationInfo before = fixture_info(rig, it);
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    uint32_t failures = 0;
    for (uint64_t nth = 1; result != VK_SUCCESS; ++nth) {
        const uint64_t live = rig->host.live;
        rig->host.fail_at = rig->host.calls + nth;
        result = fixture_commit(rig, it, 0, 4 * MIB);
        rig->host.fail_at = 0;
        if (result != VK_SUCCESS) {
            ++failures;
            assert_int_equal(result, VK_ERROR_OUT_OF_HOST_MEMORY);
            assert_int_equal(rig->host.live, live);
            const MaarReservationInfo after = fixture_info(rig, it);
            assert_true(after.buffer == before.buffer);
            assert_int_equal(after.committedSize, before.committedSize);
            assert_int_equal(after.moveCount, before.moveCount);
        }
    }
    assert_in_range(failures, 2, 20);
    for (uint32_t nth = 1; nth < 3; ++nth) {
        rig_set_fault(rig, nth == 1 ? "vkCreateBuffer" : "vkBindBufferMemory2", 1, 1,
                      VK_ERROR_OUT_OF_HOST_MEMORY);
        assert_int_equal(fixture_commit(rig, it, 0, 16 * MIB), VK_ERROR_OUT_OF_HOST_MEMORY);
        rig_clear_faults(rig);
    }
    assert_int_equal(live_buffers(), 2);
    (void)fixture_submit(rig);
    maarDestroyReservation(rig->allocator, it);
    rig_close(rig);
}

/* When there is no memory for the ample size, the needed size is enough. */
static void scarce_memory_makes_growth_exact(void** state)
{
    (void)state;
    MaarReservation it = open_copying(NULL);
    grow(it, 32 * MIB);
    (void)fixture_submit(rig);
    rig_set_fault(rig, "vkCreateBuffer", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    grow(it, 33 * MIB);
    assert_int_equal(fixture_info(rig, it).committedSize, 33 * MIB);
    rig_clear_faults(rig);
    (void)fixture_submit(rig);
    maarDestroyReservation(rig->allocator, it);
    rig_close(rig);
}

/* ---- the end ---- */

static void end_with_a_recorded_copy_drops_it(void** state)
{
    (void)state;
    MaarReservation it = open_copying(NULL);
    grow(it, MIB);
    (void)fixture_submit(rig);
    grow(it, 2 * MIB);
    maarDestroyReservation(rig->allocator, it);
    assert_int_equal(live_buffers(), 0);
    (void)fixture_submit(rig);
    assert_int_equal(copied_bytes(), 0);

    VkSemaphore timeline = rig_create_timeline(rig, 0);
    it = fixture_reserve(rig, 64 * MIB, MAAR_RESERVATION_CREATE_COPYING_BIT);
    grow(it, MIB);
    (void)fixture_submit(rig);
    grow(it, 2 * MIB);
    const MaarPoint used = {timeline, 1};
    assert_int_equal(maarDestroyReservationAfter(rig->allocator, it, 1, &used), VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(live_buffers(), 2);
    rig_check(rig);
    rig_signal(rig, timeline, 1);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(live_buffers(), 0);
    vkDestroySemaphore(rig->device, timeline, NULL);
    rig_close(rig);
}

static void end_before_the_first_buffer_is_fine(void** state)
{
    (void)state;
    MaarReservation it = open_copying(NULL);
    uint32_t count = 7;
    assert_int_equal(maarEnumerateReservationPages(rig->allocator, it, &count, NULL), VK_SUCCESS);
    assert_int_equal(count, 0);
    maarDestroyReservation(rig->allocator, it);
    rig_close(rig);
}

static void leak_with_a_recorded_copy_is_undone(void** state)
{
    (void)state;
    MaarReservation it = open_copying(&(struct rig_setup){.count_host = true});
    grow(it, MIB);
    (void)fixture_submit(rig);
    grow(it, 2 * MIB);
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    rig_expect_message(rig, MAAR_MESSAGE_ID_LEAK);
    assert_int_equal(live_buffers(), 0);
    rig_close(rig);
}

static void chain_that_would_be_lost_is_refused(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_NO_SPARSE, 64 * KIB, NULL);
    VkBufferCreateInfo buffer = fixture_buffer(MIB);
    const VkBufferOpaqueCaptureAddressCreateInfo address = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_OPAQUE_CAPTURE_ADDRESS_CREATE_INFO};
    buffer.pNext = &address;
    const MaarReservationCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                            .pBufferInfo = &buffer};
    MaarReservation it = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &it),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED);
    rig_close(rig);
}

/* ---- while another thread submits: these act in the middle of its call of the driver ---- */

struct intruder {
    const char* function; /* in whose call it acts */
    MaarReservation reservation;
    VkDeviceSize grow_to; /* 0: destroys it */
    bool acted;
};

static void intrude(void* data, const char* function)
{
    struct intruder* intruder = data;
    if (intruder->acted || strcmp(function, intruder->function) != 0) {
        return;
    }
    intruder->acted = true;
    if (intruder->grow_to == 0) {
        maarDestroyReservation(rig->allocator, intruder->reservation);
    } else {
        grow(intruder->reservation, intruder->grow_to);
    }
}

static void submit_with(struct intruder* intruder, VkResult expected)
{
    rig->call = intrude;
    rig->call_data = intruder;
    if (expected != VK_SUCCESS) {
        rig_set_fault(rig, "vkQueueSubmit", 1, 1, expected);
    }
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), expected);
    rig_clear_faults(rig);
    rig->call = NULL;
    assert_true(intruder->acted);
}

static void end_during_a_submission_waits_for_it(void** state)
{
    (void)state;
    static const VkResult results[] = {VK_SUCCESS, VK_ERROR_OUT_OF_DEVICE_MEMORY};
    for (uint32_t i = 0; i < 2; ++i) {
        MaarReservation it = open_copying(&(struct rig_setup){.count_host = true});
        grow(it, MIB);
        (void)fixture_submit(rig);
        grow(it, 2 * MIB);
        struct intruder intruder = {.function = "vkCmdCopyBuffer", .reservation = it};
        submit_with(&intruder, results[i]);
        assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
        assert_int_equal(live_buffers(), 0);
        assert_int_equal(copied_bytes(), i == 0 ? MIB : 0);
        (void)fixture_submit(rig);
        assert_int_equal(copied_bytes(), i == 0 ? MIB : 0);
        rig_close(rig);
    }
}

static void growth_during_a_submission_follows_it(void** state)
{
    (void)state;
    static const VkResult results[] = {VK_SUCCESS, VK_ERROR_OUT_OF_DEVICE_MEMORY};
    for (uint32_t i = 0; i < 2; ++i) {
        MaarReservation it = open_copying(&(struct rig_setup){.count_host = true});
        grow(it, MIB);
        (void)fixture_submit(rig);
        grow(it, 2 * MIB);
        struct intruder intruder = {
            .function = "vkCmdCopyBuffer", .reservation = it, .grow_to = 8 * MIB};
        submit_with(&intruder, results[i]);
        assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
        assert_int_equal(live_buffers(), i == 0 ? 2 : 3);
        assert_int_equal(copied_bytes(), i == 0 ? MIB : 0);
        if (i == 0) {
            (void)fixture_submit(rig);
            assert_int_equal(copied_bytes(), 3 * MIB);
            assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
            assert_int_equal(live_buffers(), 1);
            maarDestroyReservation(rig->allocator, it);
        } else {
            /* Two copies are recorded, one behind the other; both go with the reservation. */
            maarDestroyReservation(rig->allocator, it);
            assert_int_equal(live_buffers(), 0);
        }
        rig_close(rig);
    }
}

static void chain_of_copies_is_carried_out_in_order(void** state)
{
    (void)state;
    MaarReservation it = open_copying(NULL);
    grow(it, MIB);
    (void)fixture_submit(rig);
    grow(it, 2 * MIB);
    struct intruder intruder = {
        .function = "vkCmdCopyBuffer", .reservation = it, .grow_to = 8 * MIB};
    submit_with(&intruder, VK_ERROR_OUT_OF_HOST_MEMORY);
    grow(it, 16 * MIB);
    assert_int_equal(live_buffers(), 3); /* the buffer of 8 MiB is gone again */
    (void)fixture_submit(rig);
    assert_int_equal(copied_bytes(), 3 * MIB);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(live_buffers(), 1);
    maarDestroyReservation(rig->allocator, it);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(growth_is_geometric_and_ends_at_the_size),
        rig_unit_test(furthest_end_decides),
        rig_unit_test(old_buffer_goes_after_the_copy_and_the_points),
        rig_unit_test(copies_wait_for_as_many_points_as_can_be_named),
        rig_unit_test(end_waits_for_a_copy_that_is_held),
        rig_unit_test(growing_twice_before_a_submission_copies_once),
        rig_unit_test(copies_and_binds_share_a_call),
        rig_unit_test(command_buffers_are_used_again),
        rig_unit_test(failed_submission_keeps_the_copy),
        rig_unit_test(failed_growth_changes_nothing),
        rig_unit_test(scarce_memory_makes_growth_exact),
        rig_unit_test(end_with_a_recorded_copy_drops_it),
        rig_unit_test(end_before_the_first_buffer_is_fine),
        rig_unit_test(leak_with_a_recorded_copy_is_undone),
        rig_unit_test(chain_that_would_be_lost_is_refused),
        rig_unit_test(end_during_a_submission_waits_for_it),
        rig_unit_test(growth_during_a_submission_follows_it),
        rig_unit_test(chain_of_copies_is_carried_out_in_order),
    };
    return cmocka_run_group_tests_name("reservations_copying", tests, NULL, NULL);
}
