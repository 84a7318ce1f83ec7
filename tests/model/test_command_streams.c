/*
 * The simulated driver against a real one: random streams of commands leave the same bytes on both.
 * MAAR_STREAMS is the number of streams. Without a driver that executes, there is nothing to
 * compare with.
 */
#include "tests/model/command_stream.h"

#include <stdio.h>

enum { DEFAULT_STREAMS = 400, VALIDATED_STREAMS = 24 };

static struct stream_result* results;
static uint32_t formats;

static uint32_t stream_count(void)
{
    const char* text = getenv("MAAR_STREAMS");
    return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : DEFAULT_STREAMS;
}

/* Plays the streams on the driver that the loader finds. Returns false when there is none. */
static bool play_real(uint64_t seed, uint32_t count, bool validated)
{
    static struct rig rig;
    const struct rig_setup setup = {.paging = true, .without_layer = !validated};
    if (!rig_open_vulkan(&rig, &setup, validated)) {
        return false;
    }
    if (!rig_executes()) {
        print_message("skipped: the driver executes nothing\n");
        rig_close(&rig);
        return false;
    }
    formats = stream_formats_of(&rig);
    for (uint32_t i = 0; i < count; ++i) {
        stream_play(&rig, seed + i, formats, &results[i]);
    }
    rig_close(&rig);
    return true;
}

/* The discrete card, with images of pages and a second family of queues. */
static const MaarSimulatedProfile* profile(void)
{
    static MaarSimulatedProfile made;
    const VkQueueFlags compute =
        VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT;
    made = *rig_profile_sparse();
    made.sparse.residencyImage2D = VK_TRUE;
    made.sparse.properties.residencyStandard2DBlockShape = VK_TRUE;
    made.queueFamilyCount = 2;
    made.queueFamilies[0] = (MaarSimulatedQueueFamily){1, VK_QUEUE_GRAPHICS_BIT | compute};
    made.queueFamilies[1] = (MaarSimulatedQueueFamily){1, compute};
    return &made;
}

static void play_simulated(uint64_t seed, uint32_t count)
{
    static struct rig rig;
    const MaarSimulatedFlags flags =
        MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_CONTENTS_BIT |
        MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT | MAAR_SIMULATED_ALLOW_ALIASING_BIT;
    const struct rig_setup setup = {
        .profile = profile(), .paging = true, .two_families = true, .flags = flags};
    uint32_t different = 0;
    rig_open(&rig, &setup);
    assert_int_equal(formats & ~stream_formats_of(&rig), 0);
    for (uint32_t i = 0; i < count; ++i) {
        struct stream_result found;
        const uint64_t orders[] = {MAAR_SIMULATED_ORDER_OLDEST_FIRST,
                                   MAAR_SIMULATED_ORDER_NEWEST_FIRST, seed + i, seed - i};
        maarSimulatedSetOrder(rig.physical, orders[i % 4]);
        maarSimulatedSetFlags(rig.physical,
                              i % 8 < 6 ? flags | MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT : flags);
        stream_play(&rig, seed + i, formats, &found);
        assert_int_equal(found.object_count, results[i].object_count);
        for (uint32_t o = 0; o < found.object_count; ++o) {
            if (found.hashes[o] != results[i].hashes[o]) {
                different++;
                print_message("seed %llu: %s differs\n", (unsigned long long)(seed + i),
                              found.names[o]);
            }
        }
    }
    assert_int_equal(different, 0);
    assert_true(rig_counters(&rig).executedCommandCount > count);
    assert_int_equal(rig_counters(&rig).earlyWaitCount, 0);
    rig_close(&rig);
}

static void streams_leave_the_same_bytes(void** state)
{
    const uint32_t count = stream_count();
    const uint64_t seed = rig_seed(1);
    (void)state;
    results = calloc(count, sizeof *results);
    assert_non_null(results);
    const bool real = play_real(seed, count, false);
    if (real) {
        play_simulated(seed, count);
    }
    free(results);
    if (!real) {
        skip();
    }
}

static void streams_are_valid(void** state)
{
    (void)state;
    results = calloc(VALIDATED_STREAMS, sizeof *results);
    assert_non_null(results);
    const bool real = play_real(rig_seed(1), VALIDATED_STREAMS, true);
    free(results);
    if (!real) {
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_leave_the_same_bytes),
        cmocka_unit_test(streams_are_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
