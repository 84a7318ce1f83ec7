/*
 * Tables of steps, of which every point fails in turn.
 */
#include "tests/fault/fault_tables.h"

#include "tests/fault/fault_codes.h"

#include <stdio.h>

enum { MOST_FUNCTIONS = 256, MOST_FDS = 32 };

/* One row of the table: all steps of one function. */
struct tally {
    const char* function;
    const char* never;
    uint32_t steps;
    uint64_t driver_points; /* calls of the driver that can fail, over all steps */
    uint64_t host_points;   /* host allocations, over all steps */
    uint64_t peer_points;   /* calls of another library that can fail */
    uint64_t fd_points;     /* shortages of descriptors that were noticed */
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
    fault_note_answer(step->function, outcome.result, NULL);
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
            struct fault_outcome outcome = inject(step, tally, point);
            assert_int_equal(outcome.struck, 1);
            if (outcome.result == point.code) {
                fault_note_answer(step->function, outcome.result, course->functions[i]);
            }
            point.kind = FAULT_DRIVER_EVER;
            assert_true(inject(step, tally, point).struck >= 1);
            point.kind = FAULT_DRIVER_PAIR;
            outcome.struck = 2;
            for (point.second = 1; outcome.struck == 2; ++point.second) {
                outcome = inject(step, tally, point);
            }
        }
    }
}

/* As few descriptors to be had as there may be, then one more, until it works. */
static void fail_fds(const struct fault_step* step, struct tally* tally)
{
    struct fault_outcome outcome = {.result = VK_ERROR_TOO_MANY_OBJECTS};
    for (uint64_t more = 0; outcome.result != VK_SUCCESS; ++more) {
        assert_true(more < MOST_FDS);
        outcome = inject(step, tally, (struct fault_point){.kind = FAULT_FDS, .nth = more});
        tally->fd_points += outcome.result != VK_SUCCESS ? 1 : 0;
    }
}

static void fail_peer(const struct fault_step* step, const struct fault_course* course,
                      struct tally* tally)
{
    const struct fault_peer* peer = step->peer;
    for (uint32_t f = 0; peer->functions[f] != NULL; ++f) {
        tally->peer_points += course->peer_calls[f];
        for (uint64_t nth = 1; nth <= course->peer_calls[f]; ++nth) {
            for (uint32_t i = 0; peer->codes[i] != 0; ++i) {
                struct fault_point point = {.kind = FAULT_PEER_ONCE,
                                            .nth = nth,
                                            .function = peer->functions[f],
                                            .peer_code = peer->codes[i]};
                (void)inject(step, tally, point);
                point.kind = FAULT_PEER_EVER;
                if (strcmp(point.function, peer->entry) != 0) {
                    (void)inject(step, tally, point);
                }
            }
        }
    }
}

static void run_step(const struct fault_step* step)
{
    at_step = step;
    const struct fault_course course = fault_follow(step);
    struct tally* tally = tally_of(step->function);
    ++tally->steps;
    tally->never = step->never;
    tally->driver_points += course.driver_calls;
    tally->host_points += course.host_calls;
    fail_host(step, &course, tally);
    fail_driver(step, &course, tally);
    if (step->shares) {
        fail_fds(step, tally);
    }
    if (step->peer != NULL && step->never == NULL) {
        fail_peer(step, &course, tally);
    }
}

void fault_run_tables(const struct fault_table* const* tables, size_t count)
{
    for (size_t t = 0; t < count; ++t) {
        for (uint32_t i = 0; i < tables[t]->count; ++i) {
            run_step(&tables[t]->steps[i]);
        }
    }
    at_step = NULL;
}

int fault_report_where(void** state)
{
    (void)state;
    if (at_step != NULL) {
        print_error("at %s (%s), kind %d, call %u and %u, code %d, %s %d\n", at_step->function,
                    at_step->variant != NULL ? at_step->variant : "plain", (int)at_point.kind,
                    (unsigned)at_point.nth, (unsigned)at_point.second, (int)at_point.code,
                    at_point.function != NULL ? at_point.function : "", at_point.peer_code);
    }
    return 0;
}

void fault_expect_listed(const struct fault_answer* list, size_t count)
{
    if (most_codes() < FAULT_MOST_CODES) {
        skip();
    }
    fault_expect_answers(list, count);
}

/* ---- the table ---- */

static void write_table(const char* path)
{
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    (void)fprintf(file, "function,steps,driver_points,host_points,fd_points,peer_points,injections,"
                        "failures,reason\n");
    for (uint32_t i = 0; i < tally_count; ++i) {
        const struct tally* t = &tallies[i];
        (void)fprintf(file, "%s,%u,%llu,%llu,%llu,%llu,%llu,%llu,\"%s\"\n", t->function, t->steps,
                      (unsigned long long)t->driver_points, (unsigned long long)t->host_points,
                      (unsigned long long)t->fd_points, (unsigned long long)t->peer_points,
                      (unsigned long long)t->injections, (unsigned long long)t->failures,
                      t->never != NULL ? t->never : "");
    }
    assert_int_equal(fclose(file), 0);
}

void fault_expect_points(uint64_t least_failures)
{
    struct tally sum = {.function = "all"};
    print_message("%-32s %6s %6s %6s %6s %10s %8s\n", "function", "driver", "host", "fds", "peer",
                  "injections", "failures");
    for (uint32_t i = 0; i < tally_count; ++i) {
        const struct tally* t = &tallies[i];
        print_message("%-32s %6u %6u %6u %6u %10u %8u  %s\n", t->function,
                      (unsigned)t->driver_points, (unsigned)t->host_points, (unsigned)t->fd_points,
                      (unsigned)t->peer_points, (unsigned)t->injections, (unsigned)t->failures,
                      t->never != NULL ? t->never : "");
        if ((t->driver_points + t->host_points + t->fd_points + t->peer_points == 0) !=
            (t->never != NULL)) {
            fail_msg("%s %s", t->function,
                     t->never != NULL ? "calls what can fail, though a reason is given"
                                      : "calls nothing that can fail; give the reason");
        }
        sum.driver_points += t->driver_points;
        sum.host_points += t->host_points;
        sum.fd_points += t->fd_points;
        sum.peer_points += t->peer_points;
        sum.injections += t->injections;
        sum.failures += t->failures;
    }
    print_message("%-32s %6u %6u %6u %6u %10u %8u\n", sum.function, (unsigned)sum.driver_points,
                  (unsigned)sum.host_points, (unsigned)sum.fd_points, (unsigned)sum.peer_points,
                  (unsigned)sum.injections, (unsigned)sum.failures);
    assert_true(sum.failures >= least_failures);
    const char* path = getenv("MAAR_FAULT_TABLE");
    if (path != NULL && path[0] != '\0') {
        write_table(path);
    }
}

bool fault_is_tallied(const char* function)
{
    for (uint32_t i = 0; i < tally_count; ++i) {
        if (strcmp(tallies[i].function, function) == 0) {
            return true;
        }
    }
    return false;
}

uint32_t fault_tallied(void)
{
    return tally_count;
}
