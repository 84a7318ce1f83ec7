/*
 * Barriers and waits of transient heaps, against the checker of support/hazards.h: none is missing,
 * and none can be left out.
 */
#include <stdio.h>

#include "tests/transient/frame_player.h"

static struct rig rig;
static struct graph_maker maker;

/* With a bufferImageGranularity of 1. Otherwise a plan counts neighbours of one kind that share a
 * page among those that share bytes, and waits for them although nothing requires it. */
static int open_rig(void** state)
{
    static MaarSimulatedProfile profile;
    const struct rig_setup setup = {.profile = &profile,
                                    .flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT};
    (void)state;
    profile = *graph_profile(rig_profile_discrete());
    profile.limits.bufferImageGranularity = 1;
    rig_start(&rig, &setup);
    return 0;
}

static int open_coarse_rig(void** state)
{
    const struct rig_setup setup = {.profile = graph_profile(rig_profile_discrete()),
                                    .flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT};
    (void)state;
    rig_start(&rig, &setup);
    return 0;
}

static int close_rig(void** state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static MaarTransientHeap make_heap(uint32_t copies, MaarTransientHeapCreateFlags flags)
{
    const MaarTransientHeapCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO,
        .flags = flags,
        .copyCount = copies,
        .pGraph = &maker.graph,
        .planNodeLimit = 500, /* the quality of the plan does not matter here */
    };
    MaarTransientHeap heap = VK_NULL_HANDLE;
    VkResult result = maarCreateTransientHeap(rig.allocator, &info, &heap);
    if (result != VK_SUCCESS) {
        fail_msg("no heap: %d, \"%s\"", (int)result, rig.messages.last);
    }
    return heap;
}

/* Returns what the checker finds in enough frames for everything to repeat. Where a part is left
 * out, only frames of one copy are played: nothing may count on the barriers of other frames. */
static uint32_t play(MaarTransientHeap heap, const struct player_gap* gap, char* text, size_t size)
{
    struct player player;
    player_open(&player, &rig, heap, &maker);
    player.gap = gap;
    player_run(&player, 0, 2 * player.copies + 2, gap != NULL ? player.copies : 1);
    const uint32_t count = hazards_finding_count(player.hazards);
    assert_true(hazards_pair_count(player.hazards) > 0);
    if (text != NULL) {
        (void)snprintf(text, size, "%s", count > 0 ? hazards_finding(player.hazards, 0) : "");
    }
    player_close(&player);
    return count;
}

static uint32_t count_parts(MaarTransientHeap heap, bool first, uint32_t pass,
                            enum player_part part)
{
    struct player player;
    player_open(&player, &rig, heap, &maker);
    const uint32_t count = player_count(&player, first, pass, part);
    player_close(&player);
    return count;
}

static void expect_clean(MaarTransientHeap heap, uint32_t seed)
{
    char text[400];
    if (play(heap, NULL, text, sizeof text) != 0) {
        fail_msg("graph %u: %s", seed, text);
    }
}

enum { USUAL_SEED = 1 };

struct tally {
    uint32_t parts;
    uint32_t superfluous;
};

/* Leaves out each part in turn. */
static void leave_out_each(MaarTransientHeap heap, uint32_t seed, struct tally* tally)
{
    for (uint32_t i = 0; i < maker.graph.passCount * 2 * PLAYER_PARTS; ++i) {
        struct player_gap gap = {
            .first = i % 2 == 0,
            .pass = i / 2 % maker.graph.passCount,
            .part = (enum player_part)(i / 2 / maker.graph.passCount),
        };
        const uint32_t count = count_parts(heap, gap.first, gap.pass, gap.part);
        for (gap.index = 0; gap.index < count; ++gap.index) {
            ++tally->parts;
            if (play(heap, &gap, NULL, 0) == 0) {
                ++tally->superfluous;
                print_message("graph %u: %s %u of pass %u can be left out of the %s frames\n", seed,
                              player_part_name(gap.part), gap.index, gap.pass,
                              gap.first ? "first" : "later");
            }
        }
    }
}

/* Four barriers in a thousand may be superfluous, since barriers of other resources happen to order
 * the same accesses. With the usual seed there may be no more of them than are known. */
static void check_random(uint32_t queues, uint32_t families, uint32_t graphs, uint32_t known)
{
    const uint64_t seed = rig_seed(USUAL_SEED);
    struct tally tally = {0};
    for (uint32_t i = 0; i < graphs; ++i) {
        struct rig_random random = {seed * 1000003 + i};
        graph_randomize(&maker, &random, queues, families, 4 + i % 12, 4 + i % 14);
        MaarTransientHeap heap = make_heap(1 + i % 3, 0);
        expect_clean(heap, i);
        leave_out_each(heap, i, &tally);
        maarDestroyTransientHeap(rig.allocator, heap);
    }
    print_message("%u graphs, %u barriers and waits left out in turn, %u in vain\n", graphs,
                  tally.parts, tally.superfluous);
    assert_true(tally.parts > graphs && tally.superfluous * 250 <= tally.parts);
    assert_true(seed != USUAL_SEED || tally.superfluous <= known);
}

static void one_queue_has_what_it_needs_and_no_more(void** state)
{
    (void)state;
    check_random(1, 1, 300, 6);
}

static void two_queues_of_one_family_have_what_they_need(void** state)
{
    (void)state;
    check_random(2, 1, 300, 0);
}

static void two_families_have_what_they_need(void** state)
{
    (void)state;
    check_random(2, 2, 300, 0);
}

static void three_queues_have_what_they_need(void** state)
{
    (void)state;
    check_random(3, 2, 300, 0);
}

static void coarse_pages_are_kept_apart(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 300; ++i) {
        struct rig_random random = {i};
        graph_randomize(&maker, &random, 1 + i % 3, 1 + i % 2, 10, 14);
        MaarTransientHeap heap = make_heap(1 + i % 2, 0);
        expect_clean(heap, i);
        maarDestroyTransientHeap(rig.allocator, heap);
    }
}

/* The barrier for what a pass used before orders everything that the barriers for aliased bytes do.
 * But it lies in the same call that changes a layout: writes of the bytes' last owner could land in
 * the new image. */
static void writes_land_ahead_of_a_change_of_layout(void** state)
{
    (void)state;
    const uint32_t family = 0;
    graph_init(&maker, 1, &family);
    const uint32_t first = graph_pass(&maker, 0);
    const uint32_t second = graph_pass(&maker, 0);
    const uint32_t used_again = graph_buffer(&maker, 65536);
    graph_use(&maker, used_again, first, GRAPH_COMPUTE_WRITE);
    graph_use(&maker, used_again, second, GRAPH_COMPUTE_UPDATE);
    for (uint32_t i = 0; i < 2; ++i) {
        graph_use(&maker, graph_buffer(&maker, 65536), first, GRAPH_COMPUTE_WRITE);
    }
    graph_use(&maker, graph_buffer(&maker, 65536), second, GRAPH_COMPUTE_WRITE);
    graph_use(&maker, graph_image(&maker, 128, 128), second, GRAPH_COMPUTE_WRITE);
    MaarTransientHeap heap = make_heap(1, 0);
    assert_int_equal(count_parts(heap, false, second, PLAYER_ALIASING), 1);
    assert_int_equal(count_parts(heap, false, second, PLAYER_BEFORE), 1);
    expect_clean(heap, 0);
    struct tally tally = {0};
    leave_out_each(heap, 0, &tally);
    assert_int_equal(tally.superfluous, 0);
    maarDestroyTransientHeap(rig.allocator, heap);
}

/* A program that tracks its resources itself needs only the barriers and waits for aliased bytes,
 * and it needs all of these. */
static void own_barriers_and_those_of_aliasing_suffice(void** state)
{
    (void)state;
    uint32_t needed = 0;
    for (uint32_t i = 0; i < 300; ++i) {
        struct rig_random random = {i};
        struct player player;
        graph_randomize(&maker, &random, 1, 1, 10, 14);
        for (uint32_t k = 0; k < maker.graph.resourceCount; ++k) {
            maker.resources[k].flags = 0;
        }
        MaarTransientHeap heap =
            make_heap(1, MAAR_TRANSIENT_HEAP_CREATE_ALIASING_BARRIERS_ONLY_BIT);
        for (uint32_t pass = 0; pass < maker.graph.passCount; ++pass) {
            const struct player_gap gap = {.pass = pass, .part = PLAYER_ALIASING};
            player_open(&player, &rig, heap, &maker);
            player.own_barriers = true;
            player.gap = player_count(&player, false, pass, PLAYER_ALIASING) > 0 ? &gap : NULL;
            assert_int_equal(player_count(&player, false, pass, PLAYER_BEFORE), 0);
            assert_int_equal(player_count(&player, false, pass, PLAYER_BEFORE_IMAGE), 0);
            player_run(&player, 0, 3, 1);
            const bool clean = hazards_finding_count(player.hazards) == 0;
            if (!clean && player.gap == NULL) {
                fail_msg("graph %u: %s", i, hazards_finding(player.hazards, 0));
            }
            needed += clean ? 0 : 1;
            player_close(&player);
        }
        maarDestroyTransientHeap(rig.allocator, heap);
    }
    assert_true(needed > 100);
}

#define ON(open, name) cmocka_unit_test_setup_teardown(name, open, close_rig)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(open_rig, one_queue_has_what_it_needs_and_no_more),
        ON(open_rig, two_queues_of_one_family_have_what_they_need),
        ON(open_rig, two_families_have_what_they_need),
        ON(open_rig, three_queues_have_what_they_need),
        ON(open_rig, writes_land_ahead_of_a_change_of_layout),
        ON(open_coarse_rig, coarse_pages_are_kept_apart),
        ON(open_coarse_rig, own_barriers_and_those_of_aliasing_suffice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
