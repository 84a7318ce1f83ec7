/*
 * What is shared, point by point: as in test_allocator_faults, every host allocation and every call
 * of the driver fails, one after another, and file descriptors run out. After each failure nothing
 * has changed, no descriptor was lost, and a handle that was to be imported is its owner's still,
 * also under a driver that closes what it refuses. Every function that fault_elsewhere.h names has
 * a step.
 */
#include "tests/fault/fault_elsewhere.h"
#include "tests/fault/fault_tables.h"

static const struct fault_table* const tables[] = {
    &fault_handle_steps,        &fault_export_steps,       &fault_import_steps,
    &fault_semaphore_steps,     &fault_handoff_steps,      &fault_process_steps,
    &fault_host_steps,          &fault_cuda_object_steps,  &fault_cuda_memory_steps,
    &fault_cuda_timeline_steps, &fault_cuda_handoff_steps, &fault_hip_steps,
    &fault_page_steps,
};

static void every_point_of_sharing_may_fail(void** state)
{
    (void)state;
    fault_run_tables(tables, sizeof tables / sizeof tables[0]);
}

static void drivers_may_close_what_they_refuse(void** state)
{
    (void)state;
    fault_set_flags(MAAR_SIMULATED_CLOSE_FD_ON_FAILED_IMPORT_BIT);
    fault_run_tables(tables, sizeof tables / sizeof tables[0]);
    fault_set_flags(0);
}

/* A descriptor that is closed twice is somebody else's the second time. */
static void closed_numbers_may_be_taken_at_once(void** state)
{
    (void)state;
    fault_set_flags(MAAR_SIMULATED_CLOSE_FD_ON_FAILED_IMPORT_BIT |
                    MAAR_SIMULATED_REUSE_CLOSED_FD_BIT);
    fault_run_tables(tables, sizeof tables / sizeof tables[0]);
    fault_set_flags(0);
}

static void points_are_where_they_are_said_to_be(void** state)
{
    (void)state;
    fault_expect_points(500);
}

static void every_function_that_shares_has_a_step(void** state)
{
    (void)state;
    uint32_t missing = 0;
    for (size_t i = 0; i < sizeof fault_elsewhere / sizeof fault_elsewhere[0]; ++i) {
        if (!fault_is_tallied(fault_elsewhere[i])) {
            ++missing;
            print_error("%s has no step\n", fault_elsewhere[i]);
        }
    }
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_point_of_sharing_may_fail, fault_report_where),
        cmocka_unit_test_teardown(drivers_may_close_what_they_refuse, fault_report_where),
        cmocka_unit_test_teardown(closed_numbers_may_be_taken_at_once, fault_report_where),
        cmocka_unit_test(points_are_where_they_are_said_to_be),
        cmocka_unit_test(every_function_that_shares_has_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
