/*
 * Paging while the device is behind: submissions are held by the simulated driver, which executes
 * binds as early as their semaphores allow and sees what is unbound, freed or destroyed too early.
 */
#include "tests/unit/reservation/reservation_fixture.h"

#define PAGE (64 * KIB)

struct late {
    struct rig rig;
    VkSemaphore work; /* a timeline of commands */
    VkCommandPool pool;
    MaarReservation reservation;
    MaarReservation other;
};

static MaarReservation make(struct late* late, MaarReservationCreateFlags flags)
{
    MaarReservation reservation = VK_NULL_HANDLE;
    assert_int_equal(fixture_try(&late->rig, 64 * MIB, flags, &reservation), VK_SUCCESS);
    return reservation;
}

static int setup(void** state)
{
    struct late* late = calloc(1, sizeof *late);
    assert_non_null(late);
    fixture_open(&late->rig, FIXTURE_SPARSE, PAGE, NULL);
    late->work = rig_create_timeline(&late->rig, 0);
    const VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = late->rig.families[0],
    };
    assert_int_equal(vkCreateCommandPool(late->rig.device, &info, NULL, &late->pool), VK_SUCCESS);
    late->reservation = make(late, MAAR_RESERVATION_CREATE_ALIASED_BIT);
    late->other = make(late, MAAR_RESERVATION_CREATE_ALIASED_BIT);
    *state = late;
    return 0;
}

static void hold(struct late* late, bool held)
{
    maarSimulatedSetFlags(late->rig.physical, held ? MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT : 0);
}

static int teardown(void** state)
{
    struct late* late = *state;
    hold(late, false);
    maarDestroyReservation(late->rig.allocator, late->reservation);
    maarDestroyReservation(late->rig.allocator, late->other);
    vkDestroyCommandPool(late->rig.device, late->pool, NULL);
    maarDestroyAllocator(late->rig.allocator);
    late->rig.allocator = VK_NULL_HANDLE;
    vkDestroySemaphore(late->rig.device, late->work, NULL);
    rig_close(&late->rig);
    free(late);
    return 0;
}

static void commit(struct late* late, MaarReservation reservation, VkDeviceSize offset,
                   VkDeviceSize size)
{
    const MaarPageRange range = {offset, size};
    assert_int_equal(maarCommitPages(late->rig.allocator, reservation, 1, &range), VK_SUCCESS);
}

static void decommit(struct late* late, MaarReservation reservation, VkDeviceSize offset,
                     VkDeviceSize size)
{
    const MaarPageRange range = {offset, size};
    assert_int_equal(maarDecommitPages(late->rig.allocator, reservation, 1, &range), VK_SUCCESS);
}

static MaarPoint submit(struct late* late, const MaarPoint* after)
{
    MaarPoint point;
    assert_int_equal(maarSubmitBinds(late->rig.allocator, after != NULL ? 1 : 0, after, &point),
                     VK_SUCCESS);
    return point;
}

/* Commands that write [offset, offset + size) after a point, and signal value of `work`. */
static MaarPoint use(struct late* late, MaarReservation reservation, VkDeviceSize offset,
                     VkDeviceSize size, MaarPoint after, uint64_t value)
{
    MaarReservationInfo known = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    assert_int_equal(maarGetReservationInfo(late->rig.allocator, reservation, &known), VK_SUCCESS);
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = late->pool,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &after.value,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    VkCommandBuffer commands = VK_NULL_HANDLE;
    const VkSubmitInfo submission = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timeline,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &after.semaphore,
        .pWaitDstStageMask = &stage,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &late->work,
    };
    assert_int_equal(vkAllocateCommandBuffers(late->rig.device, &info, &commands), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    vkCmdFillBuffer(commands, known.buffer, offset, size, 0);
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    assert_int_equal(vkQueueSubmit(late->rig.queue, 1, &submission, VK_NULL_HANDLE), VK_SUCCESS);
    return (MaarPoint){late->work, value};
}

static MaarPageRun only_run(struct late* late, MaarReservation reservation)
{
    MaarPageRun run;
    uint32_t count = 1;
    assert_int_equal(maarEnumerateReservationPages(late->rig.allocator, reservation, &count, &run),
                     VK_SUCCESS);
    assert_int_equal(count, 1);
    return run;
}

static MaarPagingStatistics statistics(struct late* late)
{
    MaarPagingStatistics s = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    assert_int_equal(maarGetPagingStatistics(late->rig.allocator, &s), VK_SUCCESS);
    assert_true(s.committedBytes + s.freeBytes + s.heldBytes == s.blockBytes);
    return s;
}

static void expect_no_violation(struct late* late)
{
    if (rig_counters(&late->rig).violationCount != 0) {
        fail_msg("%s", late->rig.violation);
    }
}

/* A page goes from one to the other while the first one's commands wait. */
static void page_given_back_is_bound_elsewhere_after_its_point(void** state)
{
    struct late* late = *state;
    hold(late, true);
    commit(late, late->reservation, 0, PAGE);
    const MaarPoint bound = submit(late, NULL);
    const MaarPageRun before = only_run(late, late->reservation);
    const MaarPoint used = use(late, late->reservation, 0, PAGE, bound, 1);
    decommit(late, late->reservation, 0, PAGE);
    assert_true(statistics(late).heldBytes == PAGE);
    const MaarPoint freed = submit(late, &used);
    assert_true(statistics(late).heldBytes == 0);
    commit(late, late->other, 0, PAGE);
    const MaarPageRun after = only_run(late, late->other);
    assert_true(after.memory == before.memory && after.memoryOffset == before.memoryOffset);
    const MaarPoint again = submit(late, NULL);
    assert_true(again.value > freed.value);
    hold(late, false);
    expect_no_violation(late);
    assert_int_equal(rig_counters(&late->rig).sparseBoundBytes, PAGE);
}

/* Without the point of the commands the driver notices the error: so the test above proves
 * something. */
static void page_given_back_too_early_is_seen(void** state)
{
    struct late* late = *state;
    hold(late, true);
    commit(late, late->reservation, 0, PAGE);
    const MaarPoint bound = submit(late, NULL);
    (void)use(late, late->reservation, 0, PAGE, bound, 1);
    decommit(late, late->reservation, 0, PAGE);
    (void)submit(late, NULL);
    hold(late, false);
    const MaarSimulatedCounters counters = rig_counters(&late->rig);
    assert_int_equal(counters.violations[MAAR_SIMULATED_VIOLATION_IN_USE], 1);
    late->rig.expected_violations = 1;
}

/* The thread that gives a page back names the points of its users. Another thread, which does not
 * know them, submits; its first submission fails. */
static void points_added_by_one_thread_hold_for_another(void** state)
{
    struct late* late = *state;
    hold(late, true);
    commit(late, late->reservation, 0, PAGE);
    const MaarPoint bound = submit(late, NULL);
    const MaarPoint used = use(late, late->reservation, 0, PAGE, bound, 1);
    assert_int_equal(maarDelayBinds(late->rig.allocator, 1, &used), VK_SUCCESS);
    const MaarPoint nothing = submit(late, NULL); /* nothing is recorded: the point is kept */
    assert_true(nothing.value == bound.value);
    decommit(late, late->reservation, 0, PAGE);
    rig_set_fault(&late->rig, "vkQueueBindSparse", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarSubmitBinds(late->rig.allocator, 0, NULL, NULL),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    (void)submit(late, NULL);
    commit(late, late->other, 0, PAGE);
    (void)submit(late, NULL);
    hold(late, false);
    expect_no_violation(late);
    assert_int_equal(rig_counters(&late->rig).sparseBoundBytes, PAGE);
}

static void points_of_too_many_timelines_are_refused_together(void** state)
{
    struct late* late = *state;
    VkSemaphore timelines[MAAR_MAX_POINTS + 1];
    MaarPoint points[MAAR_MAX_POINTS + 1];
    for (uint32_t i = 0; i <= MAAR_MAX_POINTS; ++i) {
        timelines[i] = rig_create_timeline(&late->rig, 0);
        points[i] = (MaarPoint){timelines[i], i == MAAR_MAX_POINTS ? 99 : 0};
    }
    MaarAllocator allocator = late->rig.allocator;
    assert_int_equal(maarDelayBinds(allocator, MAAR_MAX_POINTS, points), VK_SUCCESS);
    assert_int_equal(maarDelayBinds(allocator, MAAR_MAX_POINTS, points), VK_SUCCESS);
    assert_int_equal(maarDelayBinds(allocator, 1, &points[MAAR_MAX_POINTS]),
                     VK_ERROR_TOO_MANY_OBJECTS);
    assert_int_equal(maarDelayBinds(allocator, 1, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(&late->rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pPoints");
    const MaarPoint host = {.value = 5};
    assert_int_equal(maarDelayBinds(allocator, 1, &host), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(&late->rig, MAAR_MESSAGE_ID_POINT_NOT_USABLE);
    commit(late, late->reservation, 0, PAGE);
    (void)submit(
        late, NULL); /* does not wait for the point of the failed submission, which never passes */
    assert_int_equal(maarDelayBinds(allocator, 1, &points[MAAR_MAX_POINTS]), VK_SUCCESS);
    rig_signal(&late->rig, timelines[MAAR_MAX_POINTS], 99);
    commit(late, late->reservation, PAGE, PAGE);
    (void)submit(late, NULL);
    assert_int_equal(rig_counters(&late->rig).sparseBoundBytes, 2 * PAGE);
    for (uint32_t i = 0; i <= MAAR_MAX_POINTS; ++i) {
        vkDestroySemaphore(late->rig.device, timelines[i], NULL);
    }
}

static void block_is_freed_when_its_last_submission_is_executed(void** state)
{
    struct late* late = *state;
    commit(late, late->reservation, 0, 16 * MIB);
    const MaarPoint bound = submit(late, NULL);
    hold(late, true);
    const MaarPoint used = use(late, late->reservation, 0, MIB, bound, 1);
    decommit(late, late->reservation, 0, 16 * MIB);
    (void)submit(late, &used);
    const uint32_t blocks = statistics(late).blockCount;
    assert_true(blocks > 0 && statistics(late).committedBytes == 0);
    assert_int_equal(maarTrim(late->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(statistics(late).blockCount, blocks);
    hold(late, false);
    assert_int_equal(maarTrim(late->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(statistics(late).blockCount, 0);
    expect_no_violation(late);
}

static void destroyed_reservation_outlives_its_commands(void** state)
{
    struct late* late = *state;
    hold(late, true);
    commit(late, late->reservation, 0, 4 * PAGE);
    const MaarPoint bound = submit(late, NULL);
    const MaarPoint used = use(late, late->reservation, 0, 4 * PAGE, bound, 1);
    assert_int_equal(maarDestroyReservationAfter(late->rig.allocator, late->reservation, 1, &used),
                     VK_SUCCESS);
    late->reservation = VK_NULL_HANDLE;
    assert_int_equal(maarCollect(late->rig.allocator, NULL), VK_SUCCESS);
    expect_no_violation(late);
    assert_true(statistics(late).freeBytes < statistics(late).blockBytes);
    hold(late, false);
    assert_int_equal(maarCollect(late->rig.allocator, NULL), VK_SUCCESS);
    assert_true(statistics(late).freeBytes == statistics(late).blockBytes);
    expect_no_violation(late);
}

/* A new commit does not get a page that another range shows. The page is not freed before it is
 * unbound, since the other range may end first. */
static void page_that_is_shown_elsewhere_is_not_committed_anew(void** state)
{
    struct late* late = *state;
    commit(late, late->reservation, 0, PAGE);
    assert_int_equal(
        maarAliasPages(late->rig.allocator, late->other, 0, PAGE, late->reservation, 0),
        VK_SUCCESS);
    (void)submit(late, NULL);
    decommit(late, late->other, 0, PAGE);
    const MaarPageRange range = {0, 2 * PAGE};
    assert_int_equal(maarCommitPages(late->rig.allocator, late->other, 1, &range),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(&late->rig, MAAR_MESSAGE_ID_PAGES_NOT_SUBMITTED);
    assert_true(statistics(late).committedBytes == PAGE);
    assert_int_equal(statistics(late).recordedPages, 1);
    (void)submit(late, NULL);
    commit(late, late->other, 0, PAGE);
    const MaarPageRun mine = only_run(late, late->reservation);
    const MaarPageRun anew = only_run(late, late->other);
    assert_true(mine.memory != anew.memory || mine.memoryOffset != anew.memoryOffset);
    (void)submit(late, NULL);
    rig_check(&late->rig);
    expect_no_violation(late);
    assert_int_equal(rig_counters(&late->rig).sparseBoundBytes, 2 * PAGE);
}

/* Once no range shows the page, the range that still has it bound may commit it again. */
static void page_that_all_gave_back_is_committed_anew(void** state)
{
    struct late* late = *state;
    commit(late, late->reservation, 0, PAGE);
    assert_int_equal(
        maarAliasPages(late->rig.allocator, late->other, 0, PAGE, late->reservation, 0),
        VK_SUCCESS);
    (void)submit(late, NULL);
    const MaarPageRun before = only_run(late, late->other);
    decommit(late, late->other, 0, PAGE);
    decommit(late, late->reservation, 0, PAGE);
    commit(late, late->other, 0, PAGE);
    const MaarPageRun after = only_run(late, late->other);
    assert_true(before.memory == after.memory && before.memoryOffset == after.memoryOffset);
    assert_true(statistics(late).committedBytes == PAGE);
    const MaarPageRange range = {0, PAGE};
    assert_int_equal(maarCommitPages(late->rig.allocator, late->reservation, 1, &range),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(&late->rig, MAAR_MESSAGE_ID_PAGES_NOT_SUBMITTED);
    (void)submit(late, NULL);
    rig_check(&late->rig);
    expect_no_violation(late);
    assert_int_equal(rig_counters(&late->rig).sparseBoundBytes, PAGE);
}

/* The device is lost while binds are recorded, held and under way. Everything can end. */
static void device_lost_in_the_middle_lets_everything_end(void** state)
{
    struct late* late = *state;
    commit(late, late->reservation, 0, 8 * PAGE);
    const MaarPoint bound = submit(late, NULL);
    hold(late, true);
    const MaarPoint used = use(late, late->reservation, 0, PAGE, bound, 1);
    decommit(late, late->reservation, 0, 4 * PAGE);
    (void)submit(late, &used);
    commit(late, late->other, 0, 20 * MIB);
    rig_set_fault(&late->rig, "vkQueueBindSparse", 1, 1, VK_ERROR_DEVICE_LOST);
    MaarPoint point = {.value = 1};
    assert_int_equal(maarSubmitBinds(late->rig.allocator, 0, NULL, &point), VK_ERROR_DEVICE_LOST);
    assert_true(point.semaphore == VK_NULL_HANDLE);
    rig_check(&late->rig);
    decommit(late, late->other, 0, 10 * MIB);
    assert_int_equal(maarSubmitBinds(late->rig.allocator, 0, NULL, NULL), VK_ERROR_DEVICE_LOST);
    rig_check(&late->rig);
    maarDestroyReservation(late->rig.allocator, late->reservation);
    assert_int_equal(maarDestroyReservationAfter(late->rig.allocator, late->other, 1, &used),
                     VK_SUCCESS);
    late->reservation = VK_NULL_HANDLE;
    late->other = VK_NULL_HANDLE;
    (void)maarCollect(late->rig.allocator, NULL);
    assert_int_equal(maarTrim(late->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(statistics(late).blockBytes, 0);
    assert_int_equal(statistics(late).reservedBytes, 0);
    expect_no_violation(late);
}

/* The device counts whole pages: small objects that would fit by their bytes do not fit. */
static void address_space_is_counted_in_whole_pages(void** state)
{
    enum { FIT = 16 };
    (void)state;
    MaarReservation made[FIT + 1];
    MaarSimulatedProfile profile = *rig_profile_discrete();
    profile.sparse.sparseBinding = VK_TRUE;
    profile.sparse.residencyBuffer = VK_TRUE;
    profile.limits.sparseAddressSpaceSize = FIT * PAGE;
    struct rig* const rig = rig_begin(&(struct rig_setup){.profile = &profile, .paging = true});
    for (uint32_t i = 0; i <= FIT; ++i) {
        assert_int_equal(
            fixture_try(rig, PAGE - 5000, MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT, &made[i]),
            i < FIT ? VK_SUCCESS : VK_ERROR_OUT_OF_DEVICE_MEMORY);
    }
    rig_expect_message(rig, MAAR_MESSAGE_ID_ADDRESS_SPACE_EXHAUSTED);
    for (uint32_t i = 0; i < FIT; ++i) {
        maarDestroyReservation(rig->allocator, made[i]);
    }
}

#define LATE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LATE_TEST(page_given_back_is_bound_elsewhere_after_its_point),
        LATE_TEST(page_given_back_too_early_is_seen),
        LATE_TEST(points_added_by_one_thread_hold_for_another),
        LATE_TEST(points_of_too_many_timelines_are_refused_together),
        LATE_TEST(block_is_freed_when_its_last_submission_is_executed),
        LATE_TEST(destroyed_reservation_outlives_its_commands),
        LATE_TEST(page_that_is_shown_elsewhere_is_not_committed_anew),
        LATE_TEST(page_that_all_gave_back_is_committed_anew),
        LATE_TEST(device_lost_in_the_middle_lets_everything_end),
        rig_unit_test(address_space_is_counted_in_whole_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
