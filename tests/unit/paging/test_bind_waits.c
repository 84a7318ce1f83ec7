/*
 * What a submission of binds waits for: the submission before it, the caller's points, and the
 * delays. A function of the test stands in front of the simulated driver's.
 */
#include "tests/unit/reservation/reservation_fixture.h"

enum { WAITS = 2 * MAAR_MAX_POINTS + 1 };

/* Of the last submission. */
static struct {
    uint32_t calls;
    uint32_t count;
    VkSemaphore semaphores[WAITS];
    uint64_t values[WAITS];
} seen;

static VKAPI_ATTR VkResult VKAPI_CALL bind_sparse(VkQueue queue, uint32_t count,
                                                  const VkBindSparseInfo* infos, VkFence fence)
{
    assert_int_equal(count, 1);
    const VkTimelineSemaphoreSubmitInfo* timeline = infos->pNext;
    assert_int_equal(timeline->sType, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    assert_int_equal(timeline->waitSemaphoreValueCount, infos->waitSemaphoreCount);
    ++seen.calls;
    seen.count = infos->waitSemaphoreCount;
    for (uint32_t i = 0; i < seen.count; ++i) {
        seen.semaphores[i] = infos->pWaitSemaphores[i];
        seen.values[i] = timeline->pWaitSemaphoreValues[i];
    }
    return vkQueueBindSparse(queue, count, infos, fence);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_address(VkDevice device, const char* name)
{
    return strcmp(name, "vkQueueBindSparse") == 0 ? (PFN_vkVoidFunction)bind_sparse
                                                  : vkGetDeviceProcAddr(device, name);
}

/* Returns the value of a timeline that the last submission waits for, or 0. */
static uint64_t waited_for(VkSemaphore semaphore)
{
    uint64_t value = 0;
    uint32_t found = 0;
    for (uint32_t i = 0; i < seen.count; ++i) {
        if (seen.semaphores[i] == semaphore) {
            value = seen.values[i];
            ++found;
        }
    }
    assert_true(found <= 1); /* once a timeline */
    return value;
}

static struct rig rig;
static MaarReservation reservation;
static VkDeviceSize next_page;

static int open_rig(void** state)
{
    (void)state;
    memset(&seen, 0, sizeof seen);
    next_page = 0;
    fixture_open_with(&rig, FIXTURE_SPARSE, 64 * KIB, NULL, device_address);
    reservation = fixture_reserve(&rig, 64 * MIB, 0);
    return 0;
}

static int close_rig(void** state)
{
    (void)state;
    maarDestroyReservation(rig.allocator, reservation);
    rig_close(&rig);
    return 0;
}

static MaarPoint submit_a_page(uint32_t count, const MaarPoint* points)
{
    MaarPoint point = {.value = 0};
    assert_int_equal(fixture_commit(&rig, reservation, next_page, 1), VK_SUCCESS);
    next_page += 64 * KIB;
    assert_int_equal(maarSubmitBinds(rig.allocator, count, points, &point), VK_SUCCESS);
    return point;
}

static void each_submission_waits_for_the_one_before(void** state)
{
    (void)state;
    const MaarPoint first = submit_a_page(0, NULL);
    assert_int_equal(seen.count, 0);
    const MaarPoint second = submit_a_page(0, NULL);
    assert_int_equal(seen.count, 1);
    assert_true(first.semaphore == second.semaphore);
    assert_int_equal(waited_for(first.semaphore), first.value);
}

static void of_one_timeline_the_latest_value_counts(void** state)
{
    (void)state;
    VkSemaphore timeline = rig_create_timeline(&rig, 9);
    const MaarPoint points[3] = {{timeline, 3}, {timeline, 8}, {timeline, 5}};
    (void)submit_a_page(3, points);
    assert_int_equal(seen.count, 1);
    assert_int_equal(waited_for(timeline), 8);
    /* This holds together with the delays too. */
    const MaarPoint sooner = {timeline, 4};
    const MaarPoint later = {timeline, 7};
    assert_int_equal(maarDelayBinds(rig.allocator, 1, &sooner), VK_SUCCESS);
    (void)submit_a_page(1, &later);
    assert_int_equal(waited_for(timeline), 7);
    assert_int_equal(maarDelayBinds(rig.allocator, 1, &later), VK_SUCCESS);
    assert_int_equal(maarDelayBinds(rig.allocator, 1, &sooner), VK_SUCCESS);
    (void)submit_a_page(1, &sooner);
    assert_int_equal(waited_for(timeline), 7);
    assert_int_equal(maarWaitPending(rig.allocator, UINT64_MAX), VK_SUCCESS);
    vkDestroySemaphore(rig.device, timeline, NULL);
}

static void what_was_waited_for_is_not_waited_for_again(void** state)
{
    (void)state;
    VkSemaphore timeline = rig_create_timeline(&rig, 9);
    const MaarPoint point = {timeline, 6};
    assert_int_equal(maarDelayBinds(rig.allocator, 1, &point), VK_SUCCESS);
    /* A submission that fails forgets no delay. */
    rig_set_fault(&rig, "vkQueueBindSparse", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(fixture_commit(&rig, reservation, 32 * MIB, 1), VK_SUCCESS);
    assert_int_equal(maarSubmitBinds(rig.allocator, 0, NULL, NULL), VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(waited_for(timeline), 6);
    (void)submit_a_page(0, NULL);
    assert_int_equal(waited_for(timeline), 6);
    (void)submit_a_page(0, NULL);
    assert_int_equal(seen.calls, 3);
    assert_int_equal(waited_for(timeline), 0);
    assert_int_equal(maarWaitPending(rig.allocator, UINT64_MAX), VK_SUCCESS);
    vkDestroySemaphore(rig.device, timeline, NULL);
}

#define ON_RIG(name) cmocka_unit_test_setup_teardown(name, open_rig, close_rig)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_RIG(each_submission_waits_for_the_one_before),
        ON_RIG(of_one_timeline_the_latest_value_counts),
        ON_RIG(what_was_waited_for_is_not_waited_for_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
