/*
 * Random updates: frames of one graph, frames of the next graph in the same memory behind them, and
 * so on. There is no hazard where one ends and the other begins, and nothing leaks.
 */
#include "tests/transient/frame_player.h"

enum { UPDATES = 4 };

static struct rig rig;
static struct graph_maker makers[UPDATES + 1];

static int open_rig(void** state)
{
    const struct rig_setup setup = {.profile = graph_profile(rig_profile_discrete()),
                                    .flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT,
                                    .count_host = true};
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

/* Varies a graph: another stage of one use, so that all objects and contents stay; or other sizes,
 * and a resource less or more. */
static void vary(struct graph_maker* g, struct rig_random* random)
{
    if (rig_below(random, 2) == 0) {
        const uint32_t changed = rig_below(random, g->graph.resourceCount);
        g->uses[changed][rig_below(random, g->resources[changed].useCount)].stages ^=
            VK_PIPELINE_STAGE_2_TESSELLATION_CONTROL_SHADER_BIT;
        return;
    }
    for (uint32_t i = 0; i < g->graph.resourceCount; ++i) {
        if (rig_below(random, 3) == 0 && g->resources[i].pImageInfo != NULL) {
            g->images[i].extent.width = 16 + rig_below(random, 300);
        } else if (rig_below(random, 3) == 0) {
            g->buffers[i].size = 1000 + rig_below(random, 150000);
        }
    }
    if (rig_below(random, 2) == 0 && g->graph.resourceCount > 1) {
        --g->graph.resourceCount;
    } else {
        graph_use(g, graph_image(g, 100, 64), rig_below(random, g->graph.passCount),
                  GRAPH_COMPUTE_WRITE);
    }
}

/* Makes the graph of a seed after this many changes. */
static void make_graph(struct graph_maker* g, uint64_t seed, uint32_t changes, uint32_t queues,
                       uint32_t families)
{
    struct rig_random random = {seed};
    graph_randomize(g, &random, queues, families, 8, 12);
    for (uint32_t i = 0; i < g->graph.resourceCount; i += 3) {
        g->resources[i].flags = MAAR_TRANSIENT_RESOURCE_KEEP_CONTENTS_BIT;
    }
    for (uint32_t i = 0; i < changes; ++i) {
        vary(g, &random);
    }
}

static void expect_clean(const struct player* player, uint32_t graph)
{
    if (hazards_finding_count(player->hazards) > 0) {
        fail_msg("graph %u: %s", graph, hazards_finding(player->hazards, 0));
    }
}

/* In every other graph, frame numbers rise over updates; in the others they start again at 0. An
 * update to the same graph in between changes nothing. */
static void run(uint32_t graph, uint64_t seed, uint32_t queues, uint32_t families, uint32_t copies)
{
    static struct player player;
    MaarTransientHeap heap = VK_NULL_HANDLE;
    make_graph(&makers[0], seed, 0, queues, families);
    const MaarTransientHeapCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO,
        .copyCount = copies,
        .pGraph = &makers[0].graph,
        .planNodeLimit = 500,
    };
    assert_int_equal(maarCreateTransientHeap(rig.allocator, &info, &heap), VK_SUCCESS);
    player_open(&player, &rig, heap, &makers[0]);
    uint64_t frames = 0;
    for (uint32_t i = 1; i <= UPDATES; ++i) {
        const MaarPoint point = {.value = i};
        frames = copies + graph % 3;
        player_run(&player, 0, (uint32_t)frames, 1);
        assert_int_equal(
            maarUpdateTransientHeap(rig.allocator, heap, &makers[i - 1].graph, 0, NULL),
            VK_SUCCESS);
        player_run(&player, frames, i % 2, 1);
        frames += i % 2;
        expect_clean(&player, graph);
        make_graph(&makers[i], seed, i, queues, families);
        VkResult result =
            maarUpdateTransientHeap(rig.allocator, heap, &makers[i].graph, i % 2, &point);
        if (result != VK_SUCCESS) {
            fail_msg("graph %u: no update: %d, \"%s\"", graph, (int)result, rig.messages.last);
        }
        player_change(&player, &makers[i], frames);
        player.base += graph % 2 == 0 ? frames : 0;
    }
    player_run(&player, 0, copies + 2, 1);
    expect_clean(&player, graph);
    player_close(&player);
    maarDestroyTransientHeap(rig.allocator, heap);
}

static void check_updates(uint32_t queues, uint32_t families)
{
    const uint64_t seed = rig_seed(1);
    for (uint32_t i = 0; i < 200; ++i) {
        run(i, seed * 7777 + i, queues, families, 1 + i % 3);
    }
    assert_int_equal(maarAdvanceHostTimeline(rig.allocator, UPDATES), VK_SUCCESS);
    assert_int_equal(maarCollect(rig.allocator, NULL), VK_SUCCESS);
    assert_int_equal(rig_statistics(&rig, VK_NULL_HANDLE).allocationCount, 0);
    assert_int_equal(rig_statistics(&rig, VK_NULL_HANDLE).pendingCount, 0);
    rig_check(&rig);
}

static void one_queue_stays_in_order(void** state)
{
    (void)state;
    check_updates(1, 1);
}

static void several_queues_stay_in_order(void** state)
{
    (void)state;
    check_updates(3, 1);
}

static void families_stay_in_order(void** state)
{
    (void)state;
    check_updates(2, 2);
}

/* A pass that continues a kept image also updates a buffer that the pass before has read, at the
 * same stage. The barrier of the image orders the two uses, so the buffer has no barrier of its
 * own. */
static void history_graph(struct graph_maker* g, VkPipelineStageFlags2 more_stages)
{
    const uint32_t family = 0;
    graph_init(g, 1, &family);
    for (uint32_t i = 0; i < 3; ++i) {
        (void)graph_pass(g, 0);
    }
    const uint32_t read = graph_buffer(g, 1000);
    const uint32_t updated = graph_buffer(g, 2000);
    const uint32_t history = graph_image(g, 256, 64);
    graph_use(g, read, 0, GRAPH_COMPUTE_WRITE);
    graph_use(g, updated, 0, GRAPH_COMPUTE_WRITE);
    graph_use(g, read, 1, GRAPH_COMPUTE_READ);
    graph_use(g, updated, 1, GRAPH_COMPUTE_UPDATE);
    graph_use(g, read, 2, GRAPH_COMPUTE_UPDATE);
    graph_use(g, history, 2, GRAPH_COMPUTE_UPDATE);
    g->uses[updated][0].stages |= more_stages;
    g->resources[history].flags = MAAR_TRANSIENT_RESOURCE_KEEP_CONTENTS_BIT;
}

static void kept_image_in_its_layout_still_has_its_barrier(void** state)
{
    static struct player player;
    MaarTransientHeap heap = VK_NULL_HANDLE;
    (void)state;
    history_graph(&makers[0], 0);
    history_graph(&makers[1], VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT);
    const MaarTransientHeapCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO,
        .pGraph = &makers[0].graph,
    };
    assert_int_equal(maarCreateTransientHeap(rig.allocator, &info, &heap), VK_SUCCESS);
    player_open(&player, &rig, heap, &makers[0]);
    player_run(&player, 0, 2, 1);
    expect_clean(&player, 0);
    assert_int_equal(maarUpdateTransientHeap(rig.allocator, heap, &makers[1].graph, 0, NULL),
                     VK_SUCCESS);
    player_change(&player, &makers[1], 2);
    assert_true(player.has_contents[0][2]);
    player_run(&player, 0, 2, 1);
    expect_clean(&player, 1);
    player_close(&player);
    maarDestroyTransientHeap(rig.allocator, heap);
}

#define ON_RIG(name) cmocka_unit_test_setup_teardown(name, open_rig, close_rig)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_RIG(one_queue_stays_in_order),
        ON_RIG(several_queues_stay_in_order),
        ON_RIG(families_stay_in_order),
        ON_RIG(kept_image_in_its_layout_still_has_its_barrier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
