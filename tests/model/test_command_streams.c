/*
 * The simulated driver against a real one: random streams of commands leave the same bytes on both.
 * MAAR_STREAMS is the number of streams. Without a driver that executes, there is nothing to
 * compare with.
 */
#include "tests/model/command_stream.h"

#include <stdio.h>

enum { DEFAULT_STREAMS = 300, VALIDATED_STREAMS = 24, VENDOR_STREAMS = 24 };

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
    if (rig_name()[0] == 0 || rig_is("none")) {
        print_message("skipped: no driver that executes\n");
        return false;
    }
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

static const MaarSimulatedFlags flags =
    MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_CONTENTS_BIT |
    MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT | MAAR_SIMULATED_ALLOW_ALIASING_BIT;

/* Plays the streams on a simulated device, in different orders. Compares with the results, or,
 * where `fills` is set, makes them. */
static void play_simulated(const MaarSimulatedProfile* device, uint64_t seed, uint32_t count,
                           bool fills)
{
    static struct rig rig;
    const struct rig_setup setup = {
        .profile = device, .paging = true, .two_families = true, .flags = flags};
    uint32_t different = 0;
    rig_open(&rig, &setup);
    formats = fills ? stream_formats_of(&rig) : formats;
    assert_int_equal(formats & ~stream_formats_of(&rig), 0);
    for (uint32_t i = 0; i < count; ++i) {
        struct stream_result found;
        const uint64_t orders[] = {MAAR_SIMULATED_ORDER_OLDEST_FIRST,
                                   MAAR_SIMULATED_ORDER_NEWEST_FIRST, seed + i, seed - i};
        maarSimulatedSetOrder(rig.physical, orders[i % 4]);
        maarSimulatedSetFlags(rig.physical,
                              i % 8 < 6 ? flags | MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT : flags);
        stream_play(&rig, seed + i, formats, &found);
        results[i] = fills ? found : results[i];
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
        play_simulated(profile(), seed, count, false);
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

/* Pages of 4, 16 and 64 KiB, mip tails of each kind, granularities and alignments of each vendor.
 */
static void streams_leave_the_same_bytes_on_every_vendor(void** state)
{
    static const char* const names[] = {
        "amd-rx7900xtx-radv26.2",   "amd-steamdeck-vangogh-radv25.0", "intel-arc-b580-bmg-anv25.0",
        "nvidia-ada-ad102-nvk26.2", "apple-m1-honeykrisp26.2",        "cpu-lavapipe25.0",
    };
    (void)state;
    if (rig_is("lavapipe")) {
        print_message("skipped: the entry without a driver plays these\n");
        skip();
    }
    const uint64_t seed = rig_seed(1000000);
    results = calloc(VENDOR_STREAMS, sizeof *results);
    assert_non_null(results);
    play_simulated(profile(), seed, VENDOR_STREAMS, true);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        print_message("%s\n", names[i]);
        play_simulated(rig_profile_file(names[i]), seed, VENDOR_STREAMS, false);
    }
    free(results);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_leave_the_same_bytes),
        cmocka_unit_test(streams_are_valid),
        cmocka_unit_test(streams_leave_the_same_bytes_on_every_vendor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
