/*
 * Whole programs with a failure at every point: made-up traffic, and one that was captured. The
 * program skips what fails and goes on; at its end nothing is left, and nothing was broken.
 *
 * MAAR_FAULT_POINTS: most points of a kind; where a program has more, they are spread evenly.
 * MAAR_FAULT_EVENTS: how long the made-up program is, at most 20000 events.
 */
#include "tests/fault/fault_codes.h"
#include "tests/fault/fault_replay.h"

#include "support/trace.h"

enum { EVENTS = 500, MOST_EVENTS = 20000, SLOTS = 40, CAPTURED = 300, MOST_CALLS = 1 << 16 };

/* ---- what is injected ---- */

struct course {
    const char* functions[MOST_CALLS];
    uint32_t count;
};

static void note_call(void* data, const char* function)
{
    struct course* course = data;
    VkResult codes[FAULT_MOST_CODES];
    if (fault_codes_of(function, codes) > 0 || strcmp(function, "vkSignalSemaphore") == 0) {
        assert_true(course->count < MOST_CALLS);
        course->functions[course->count++] = function;
    }
}

/* Each code gets its turn. */
static VkResult code_at(const struct course* course, uint64_t nth)
{
    VkResult codes[FAULT_MOST_CODES];
    uint32_t count = fault_codes_of(course->functions[nth - 1], codes);
    return count > 0 ? codes[nth % count] : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static uint64_t setting(const char* name, uint64_t preset)
{
    const char* text = getenv(name);
    uint64_t value = text != NULL ? strtoull(text, NULL, 0) : 0;
    return value != 0 ? value : preset;
}

struct kind {
    const char* name;
    enum replay_kind kind;
    uint64_t count;
};

static const struct kind kinds[] = {
    {"one host allocation", REPLAY_HOST, 1},
    {"ten host allocations in a row", REPLAY_HOST, 10},
    {"all host allocations from there on", REPLAY_HOST, UINT64_MAX},
    {"one driver call", REPLAY_DRIVER, 1},
    {"five driver calls in a row", REPLAY_DRIVER, 5},
    {"all driver calls from there on", REPLAY_DRIVER, UINT64_MAX},
};

static const struct replay_setting usual = {.name = "discrete device"};

static void fail_everywhere(const struct replay_program* program, uint64_t most)
{
    static struct course course;
    const struct replay_fault none = {.kind = REPLAY_DRIVER};
    course.count = 0;
    struct replay_result whole = replay_run(program, &none, note_call, &course);
    assert_int_equal(whole.struck, 0);
    assert_true(whole.skipped == 0 || program->setting->scarce);
    print_message("%s: %u calls work without a failure\n", program->setting->name, whole.made);
    assert_int_equal(whole.driver_calls, course.count); /* else one is missing in fault_codes.c */
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
        uint64_t all = kinds[k].kind == REPLAY_HOST ? whole.host_calls : whole.driver_calls;
        uint64_t points = all < most ? all : most;
        if (kinds[k].count == UINT64_MAX) {
            points = (points + 3) / 4; /* these take long, and each fails what later ones do */
        }
        uint64_t skipped = 0;
        for (uint64_t i = 0; i < points; ++i) {
            const uint64_t nth = 1 + i * all / points;
            const struct replay_fault fault = {
                .kind = kinds[k].kind,
                .first = nth,
                .count = kinds[k].count,
                .code = kinds[k].kind == REPLAY_DRIVER ? code_at(&course, nth) : VK_SUCCESS,
            };
            struct replay_result result = replay_run(program, &fault, NULL, NULL);
            assert_true(result.struck >= 1);
            assert_true(result.struck <= kinds[k].count);
            skipped += result.skipped;
        }
        print_message("%-36s %6u of %6u points, %8u calls failed\n", kinds[k].name,
                      (unsigned)points, (unsigned)all, (unsigned)skipped);
        assert_true(skipped > points / 20); /* the others found another way */
    }
}

/* ---- made-up traffic ---- */

static enum replay_op draw_op(struct rig_random* random)
{
    static const uint32_t weights[REPLAY_OP_COUNT] = {
        [REPLAY_MEMORY] = 14, [REPLAY_BUFFER] = 20, [REPLAY_IMAGE] = 12,  [REPLAY_PLANES] = 3,
        [REPLAY_SLICE] = 14,  [REPLAY_POOL] = 3,    [REPLAY_IN_POOL] = 8, [REPLAY_END] = 8,
        [REPLAY_TOUCH] = 10,  [REPLAY_FRAME] = 5,   [REPLAY_TRIM] = 2,    [REPLAY_DUMP] = 1,
    };
    uint32_t dice = rig_below(random, 100);
    uint32_t op = 0;
    while (dice >= weights[op]) {
        dice -= weights[op++];
    }
    return (enum replay_op)op;
}

static uint32_t make_up(struct replay_event* events)
{
    struct rig_random random = {.state = rig_seed(7)};
    const uint32_t count = (uint32_t)setting("MAAR_FAULT_EVENTS", EVENTS);
    assert_true(count <= MOST_EVENTS);
    for (uint32_t i = 0; i < count; ++i) {
        events[i] = (struct replay_event){
            .op = draw_op(&random),
            .slot = rig_below(&random, SLOTS),
            .size = 1 + (rig_next(&random) & 0xFFFFF) / (1 + rig_below(&random, 64)),
            .style = rig_next(&random) >> 8,
        };
    }
    return count;
}

static void made_up_program_survives_every_failure(void** state)
{
    (void)state;
    static struct replay_event events[MOST_EVENTS];
    const uint32_t count = make_up(events);
    const struct replay_program program = {&usual, events, count, SLOTS};
    fail_everywhere(&program, setting("MAAR_FAULT_POINTS", 2000));
}

/* Fewer points each, since most of what happens is the same. */
static void made_up_program_survives_elsewhere(void** state)
{
    (void)state;
    static struct replay_event events[MOST_EVENTS];
    static const struct replay_setting settings[] = {
        {.name = "incoherent caches", .profile = rig_profile_noncoherent},
        {.name = "16 objects of 16 MiB", .profile = rig_profile_tiny, .scarce = true},
        {.name = "Vulkan 1.1 alone", .off = RIG_OFF_ALL},
        {.name = "buddy pools", .strategy = MAAR_PLACEMENT_STRATEGY_BUDDY},
        {.name = "linear pools", .strategy = MAAR_PLACEMENT_STRATEGY_LINEAR},
        {.name = "no locks", .flags = MAAR_ALLOCATOR_CREATE_EXTERNALLY_SYNCHRONIZED_BIT},
        {.name = "an observer", .observed = true},
        {.name = "heavy checks", .flags = MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT},
    };
    const uint32_t count = make_up(events);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; ++i) {
        const struct replay_program program = {&settings[i], events, count, SLOTS};
        fail_everywhere(&program, (setting("MAAR_FAULT_POINTS", 2000) + 19) / 20);
    }
}

/* ---- captured traffic: as much as there is time for ---- */

static enum replay_op op_of(const struct support_trace_resource* resource)
{
    return resource->kind == SUPPORT_TRACE_IMAGE_OPTIMAL ? REPLAY_IMAGE : REPLAY_BUFFER;
}

static void captured_program_survives_every_failure(void** state)
{
    (void)state;
    static struct replay_event events[CAPTURED];
    struct support_trace trace;
    struct support_error error = {""};
    const char* path = MAAR_SOURCE_DIR "/data/traces/captured-supertuxkart.csv";
    if (!support_trace_load(path, &trace, &error)) {
        fail_msg("%s", error.text);
    }
    uint32_t count = 0;
    for (size_t i = 0; i < trace.event_count && count < CAPTURED; ++i) {
        const struct support_trace_event* event = &trace.events[i];
        if (event->op == SUPPORT_TRACE_FRAME) {
            events[count++] = (struct replay_event){.op = REPLAY_FRAME};
            continue;
        }
        const struct support_trace_resource* resource = &trace.resources[event->resource];
        events[count++] = (struct replay_event){
            .op = event->op == SUPPORT_TRACE_ALLOC ? op_of(resource) : REPLAY_END,
            .slot = event->resource,
            .size = resource->size < 1 << 24 ? (uint32_t)resource->size : 1 << 24,
            .style = event->resource * 5,
        };
    }
    const struct replay_program program = {&usual, events, count, (uint32_t)trace.resource_count};
    fail_everywhere(&program, setting("MAAR_FAULT_POINTS", 2000));
    support_trace_release(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_up_program_survives_every_failure),
        cmocka_unit_test(made_up_program_survives_elsewhere),
        cmocka_unit_test(captured_program_survives_every_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
