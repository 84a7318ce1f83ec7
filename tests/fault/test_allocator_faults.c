/*
 * Promise 3, point by point: every host allocation and every call of the driver that a public
 * function makes fails, one after another, each in every way it may. After each failure outputs are
 * null, totals are as they were, the driver holds the same objects, the heavy check finds nothing,
 * a second failure costs no further host memory, and the call succeeds once nothing fails. Every
 * exported function has a step; one that is said to call nothing that can fail is proven to.
 *
 * MAAR_FAULT_TABLE=FILE writes the table of points as CSV. MAAR_FAULT_CODES=N tries the first N
 * codes of each driver call alone, for builds that are slow.
 */
#include "tests/fault/fault_codes.h"
#include "tests/fault/fault_elsewhere.h"
#include "tests/fault/fault_inject.h"

#include <stdio.h>

enum { MOST_FUNCTIONS = 128 };

static const struct fault_table* const tables[] = {
    &fault_memory_steps, &fault_object_steps, &fault_later_steps,
    &fault_watch_steps,  &fault_range_steps,  &fault_transient_steps,
    &fault_plan_steps,   &fault_paging_steps, &fault_tile_steps,
};

/* One row of the table: all steps of one function. */
struct tally {
    const char* function;
    const char* never;
    uint32_t steps;
    uint64_t driver_points; /* calls of the driver that can fail, over all steps */
    uint64_t host_points;   /* host allocations, over all steps */
    uint64_t injections;
    uint64_t failures; /* the others found another way */
};

static struct tally tallies[MOST_FUNCTIONS];
static uint32_t tally_count;

/* Where a failing assertion was met. */
static const struct fault_step* at_step;
static struct fault_point at_point;

static struct tally* tally_of(const char* function)
{
    for (uint32_t i = 0; i < tally_count; ++i) {
        if (strcmp(tallies[i].function, function) == 0) {
            return &tallies[i];
        }
    }
    assert_true(tally_count < MOST_FUNCTIONS);
    tallies[tally_count] = (struct tally){.function = function};
    return &tallies[tally_count++];
}

/* ---- injecting ---- */

static struct fault_outcome inject(const struct fault_step* step, struct tally* tally,
                                   struct fault_point point)
{
    at_point = point;
    struct fault_outcome outcome = fault_inject(step, &point);
    ++tally->injections;
    tally->failures += outcome.result != VK_SUCCESS ? 1 : 0;
    return outcome;
}

static void fail_host(const struct fault_step* step, const struct fault_course* course,
                      struct tally* tally)
{
    for (uint64_t nth = 1; nth <= course->host_calls; ++nth) {
        for (int ever = 0; ever < 2; ++ever) {
            const struct fault_point point = {
                .kind = ever != 0 ? FAULT_HOST_EVER : FAULT_HOST_ONCE,
                .nth = nth,
            };
            assert_true(inject(step, tally, point).struck > 0);
        }
    }
}

static uint32_t most_codes(void)
{
    const char* text = getenv("MAAR_FAULT_CODES");
    uint32_t codes = text != NULL ? (uint32_t)strtoul(text, NULL, 0) : 0;
    return codes != 0 ? codes : FAULT_MOST_CODES;
}

static void fail_driver(const struct fault_step* step, const struct fault_course* course,
                        struct tally* tally)
{
    for (uint32_t i = 0; i < course->driver_calls; ++i) {
        VkResult codes[FAULT_MOST_CODES];
        uint32_t count = fault_codes_of(course->functions[i], codes);
        for (uint32_t j = 0; j < count && j < most_codes(); ++j) {
            struct fault_point point = {.kind = FAULT_DRIVER_ONCE, .nth = i + 1, .code = codes[j]};
            assert_int_equal(inject(step, tally, point).struck, 1);
            point.kind = FAULT_DRIVER_EVER;
            assert_true(inject(step, tally, point).struck >= 1);
            point.kind = FAULT_DRIVER_PAIR;
            struct fault_outcome outcome = {.struck = 2};
            for (point.second = 1; outcome.struck == 2; ++point.second) {
                outcome = inject(step, tally, point);
            }
        }
    }
}

static void every_point_of_every_function_may_fail(void** state)
{
    (void)state;
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; ++t) {
        for (uint32_t i = 0; i < tables[t]->count; ++i) {
            const struct fault_step* step = &tables[t]->steps[i];
            at_step = step;
            struct fault_course course = fault_follow(step);
            struct tally* tally = tally_of(step->function);
            ++tally->steps;
            tally->never = step->never;
            tally->driver_points += course.driver_calls;
            tally->host_points += course.host_calls;
            fail_host(step, &course, tally);
            fail_driver(step, &course, tally);
        }
    }
    at_step = NULL;
}

static int tell_where(void** state)
{
    (void)state;
    if (at_step != NULL) {
        print_error("at %s (%s), kind %d, call %u and %u, code %d\n", at_step->function,
                    at_step->variant != NULL ? at_step->variant : "plain", (int)at_point.kind,
                    (unsigned)at_point.nth, (unsigned)at_point.second, (int)at_point.code);
    }
    return 0;
}

/* ---- the table ---- */

static void write_table(const char* path)
{
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    (void)fprintf(file, "function,steps,driver_points,host_points,injections,failures,reason\n");
    for (uint32_t i = 0; i < tally_count; ++i) {
        const struct tally* t = &tallies[i];
        (void)fprintf(file, "%s,%u,%llu,%llu,%llu,%llu,\"%s\"\n", t->function, t->steps,
                      (unsigned long long)t->driver_points, (unsigned long long)t->host_points,
                      (unsigned long long)t->injections, (unsigned long long)t->failures,
                      t->never != NULL ? t->never : "");
    }
    assert_int_equal(fclose(file), 0);
}

static void points_are_where_they_are_said_to_be(void** state)
{
    (void)state;
    struct tally sum = {.function = "all"};
    print_message("%-32s %6s %6s %10s %8s\n", "function", "driver", "host", "injections",
                  "failures");
    for (uint32_t i = 0; i < tally_count; ++i) {
        const struct tally* t = &tallies[i];
        print_message("%-32s %6u %6u %10u %8u  %s\n", t->function, (unsigned)t->driver_points,
                      (unsigned)t->host_points, (unsigned)t->injections, (unsigned)t->failures,
                      t->never != NULL ? t->never : "");
        if ((t->driver_points + t->host_points == 0) != (t->never != NULL)) {
            fail_msg("%s %s", t->function,
                     t->never != NULL ? "calls what can fail, though a reason is given"
                                      : "calls nothing that can fail; give the reason");
        }
        sum.driver_points += t->driver_points;
        sum.host_points += t->host_points;
        sum.injections += t->injections;
        sum.failures += t->failures;
    }
    print_message("%-32s %6u %6u %10u %8u\n", sum.function, (unsigned)sum.driver_points,
                  (unsigned)sum.host_points, (unsigned)sum.injections, (unsigned)sum.failures);
    assert_true(sum.failures >= 500);
    const char* path = getenv("MAAR_FAULT_TABLE");
    if (path != NULL && path[0] != '\0') {
        write_table(path);
    }
}

static bool is_tallied(const char* function)
{
    for (uint32_t i = 0; i < tally_count; ++i) {
        if (strcmp(tallies[i].function, function) == 0) {
            return true;
        }
    }
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
        if (!is_tallied(line)) {
            ++missing;
            print_error("%s is in no table of steps\n", line);
        }
    }
    (void)fclose(file);
    assert_int_equal(missing, 0);
    assert_int_equal(exported, tally_count + sizeof fault_elsewhere / sizeof fault_elsewhere[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_point_of_every_function_may_fail, tell_where),
        cmocka_unit_test(points_are_where_they_are_said_to_be),
        cmocka_unit_test(every_exported_function_has_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
