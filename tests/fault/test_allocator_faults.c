/*
 * Promise 3, point by point: every host allocation and every call of the driver that a public
 * function makes fails, one after another, each in every way it may. After each failure outputs are
 * null, totals are as they were, the driver holds the same objects, the heavy check finds nothing,
 * a second failure costs no further host memory, and the call succeeds once nothing fails. Every
 * exported function has a step; one that is said to call nothing that can fail is proven to.
 */
#include "tests/fault/fault_elsewhere.h"
#include "tests/fault/fault_tables.h"

#include <stdio.h>

static const struct fault_table* const tables[] = {
    &fault_memory_steps, &fault_object_steps, &fault_later_steps,
    &fault_watch_steps,  &fault_range_steps,  &fault_transient_steps,
    &fault_plan_steps,   &fault_paging_steps, &fault_tile_steps,
};

static void every_point_of_every_function_may_fail(void** state)
{
    (void)state;
    fault_run_tables(tables, sizeof tables / sizeof tables[0]);
}

static void points_are_where_they_are_said_to_be(void** state)
{
    (void)state;
    fault_expect_points(500);
}

static bool is_elsewhere(const char* function)
{
    for (size_t i = 0; i < sizeof fault_elsewhere / sizeof fault_elsewhere[0]; ++i) {
        if (strcmp(fault_elsewhere[i], function) == 0) {
            return true;
        }
    }
    return false;
}

static void every_exported_function_has_a_step(void** state)
{
    (void)state;
    FILE* file = fopen(MAAR_SOURCE_DIR "/tests/abi/symbols.txt", "r");
    assert_non_null(file);
    char line[128];
    uint32_t exported = 0;
    uint32_t missing = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        if (strncmp(line, "maar", 4) != 0) {
            continue;
        }
        ++exported;
        if (!fault_is_tallied(line) && !is_elsewhere(line)) {
            ++missing;
            print_error("%s is in no table of steps\n", line);
        }
    }
    (void)fclose(file);
    assert_int_equal(missing, 0);
    assert_int_equal(exported,
                     fault_tallied() + sizeof fault_elsewhere / sizeof fault_elsewhere[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_point_of_every_function_may_fail, fault_report_where),
        cmocka_unit_test(points_are_where_they_are_said_to_be),
        cmocka_unit_test(every_exported_function_has_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
