/*
 * A thread checks the allocator while a call of another thread commits pages and waits for the
 * driver. The call has taken pages then that it gives back if it fails.
 */
#include "tests/unit/reservation/reservation_fixture.h"

#include <pthread.h>

#define PAGE (64 * KIB)

static struct {
    struct rig* rig;
    VkResult result; /* of the checks: the first that is no success */
    uint32_t checks;
    const char* broken;
} scene;

static void* check(void* unused)
{
    const char* broken = NULL;
    (void)unused;
    const VkResult result = maarCheckAllocator(scene.rig->allocator, &broken);
    if (scene.result == VK_SUCCESS) {
        scene.result = result;
        scene.broken = broken;
    }
    return NULL;
}

/* The driver makes a block: meanwhile the other thread checks, from the begin to the end. */
static void check_in_driver(void* data, const char* function)
{
    pthread_t thread;
    (void)data;
    if (strcmp(function, "vkAllocateMemory") == 0) {
        assert_int_equal(pthread_create(&thread, NULL, check, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        ++scene.checks;
    }
}

/* Commits two ranges. The first one takes the free pages, and the second one needs a block. */
static VkResult commit_beside_checks(MaarReservation reservation)
{
    const MaarPageRange ranges[2] = {{0, 4 * MIB}, {64 * MIB, 64 * MIB}};
    scene.rig->call = check_in_driver;
    const VkResult result = maarCommitPages(scene.rig->allocator, reservation, 2, ranges);
    scene.rig->call = NULL;
    assert_true(scene.checks > 0);
    if (scene.result != VK_SUCCESS) {
        fail_msg("a check beside a commit said \"%s\"", scene.broken);
    }
    return result;
}

static MaarReservation begin(void)
{
    memset(&scene, 0, sizeof scene);
    scene.rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation reservation = fixture_reserve(scene.rig, GIB, 0);
    assert_int_equal(fixture_commit(scene.rig, reservation, 32 * MIB, PAGE), VK_SUCCESS);
    return reservation;
}

static void pages_of_a_call_under_way_are_no_broken_invariant(void** state)
{
    (void)state;
    MaarReservation reservation = begin();
    assert_int_equal(commit_beside_checks(reservation), VK_SUCCESS);
    assert_int_equal(fixture_info(scene.rig, reservation).committedSize, 68 * MIB + PAGE);
    rig_check(scene.rig);
    maarDestroyReservation(scene.rig->allocator, reservation);
}

static void pages_of_a_call_that_fails_are_no_broken_invariant(void** state)
{
    (void)state;
    MaarReservation reservation = begin();
    rig_set_fault(scene.rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(commit_beside_checks(reservation), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_clear_faults(scene.rig);
    rig_forget_messages(scene.rig);
    assert_int_equal(fixture_info(scene.rig, reservation).committedSize, PAGE);
    rig_check(scene.rig);
    maarDestroyReservation(scene.rig->allocator, reservation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(pages_of_a_call_under_way_are_no_broken_invariant),
        rig_unit_test(pages_of_a_call_that_fails_are_no_broken_invariant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
