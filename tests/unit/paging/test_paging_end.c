/*
 * The end of paging on a driver that still uses a semaphore after a submission that waited for it
 * has signalled.
 */
#include "tests/rig/held_semaphores.h"
#include "tests/unit/reservation/reservation_fixture.h"

static struct rig* rig;

static void open_noting(enum fixture_way way)
{
    memset(&seen, 0, sizeof seen);
    rig = rig_new();
    fixture_open_with(rig, way, 64 * KIB, NULL, noting_address);
}

static void timeline_outlives_who_waited_for_it_in_the_program(void** state)
{
    (void)state;
    open_noting(FIXTURE_NO_SPARSE);
    MaarReservation reservation = fixture_reserve(rig, 64 * MIB, 0);
    assert_int_equal(fixture_commit(rig, reservation, 0, MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(fixture_commit(rig, reservation, 0, 8 * MIB), VK_SUCCESS);
    const MaarPoint point = fixture_submit(rig);
    assert_int_equal(seen.waiting_count,
                     0); /* no submission of Maar's: the first growth copies nothing */
    wait_on_the_queue(rig, &point);
    maarDestroyReservation(rig->allocator, reservation);
    rig_close(rig);
    assert_true(seen.destroyed_count > 0);
    assert_int_equal(seen.destroyed_held, 0);
}

static void end_after_growth(enum fixture_way way)
{
    open_noting(way);
    MaarReservation reservation = fixture_reserve(rig, 64 * MIB, 0);
    for (uint32_t i = 0; i < 4; ++i) {
        assert_int_equal(fixture_commit(rig, reservation, 0, MIB << i), VK_SUCCESS);
        (void)fixture_submit(rig);
    }
    assert_true(seen.waiting_count > 0);
    maarDestroyReservation(rig->allocator, reservation);
    rig_close(rig);
    assert_true(seen.destroyed_count > 0);
    assert_int_equal(seen.destroyed_held, 0);
}

static void timeline_of_binds_outlives_who_waited_for_it(void** state)
{
    (void)state;
    end_after_growth(FIXTURE_SPARSE);
}

static void timeline_of_copies_outlives_who_waited_for_it(void** state)
{
    (void)state;
    end_after_growth(FIXTURE_NO_SPARSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(timeline_of_binds_outlives_who_waited_for_it),
        rig_unit_test(timeline_of_copies_outlives_who_waited_for_it),
        rig_unit_test(timeline_outlives_who_waited_for_it_in_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
