/*
 * Frame numbers over updates: they rise, or start again at 0 where an update has changed something.
 * The contents, layouts and waits of a history image are right in both cases.
 */
#include "tests/transient/frame_player.h"

enum { TARGET, HISTORY };

static struct rig rig;
static struct graph_maker graphs[3];

static int open_rig(void** state)
{
    const struct rig_setup setup = {.flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT, .count_host = true};
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

/* One queue draws the target, and another queue mixes it with the history. A frame leaves the
 * history in another layout than the one it begins with. */
static void make_graph(struct graph_maker* g, uint32_t width, VkPipelineStageFlags2 more_stages)
{
    const uint32_t families[] = {0, 0};
    graph_init(g, 2, families);
    (void)graph_pass(g, 0);
    (void)graph_pass(g, 1);
    (void)graph_pass(g, 1);
    graph_depend(g, 0, 1);
    (void)graph_image(g, width, 64);
    (void)graph_image(g, 256, 64); /* the largest, so that it stays at offset 0 */
    graph_use(g, TARGET, 0, GRAPH_COMPUTE_WRITE);
    graph_use(g, TARGET, 1, GRAPH_COMPUTE_READ);
    graph_use(g, HISTORY, 1, GRAPH_COMPUTE_UPDATE);
    graph_use(g, HISTORY, 2, GRAPH_COPY_FROM);
    g->uses[TARGET][1].stages |= more_stages;
    g->resources[HISTORY].flags = MAAR_TRANSIENT_RESOURCE_KEEP_CONTENTS_BIT;
}

static MaarTransientHeap create_heap(uint32_t copies)
{
    const MaarTransientHeapCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO,
        .copyCount = copies,
        .pGraph = &graphs[0].graph,
    };
    MaarTransientHeap heap = VK_NULL_HANDLE;
    assert_int_equal(maarCreateTransientHeap(rig.allocator, &info, &heap), VK_SUCCESS);
    return heap;
}

static void update(MaarTransientHeap heap, const struct graph_maker* g)
{
    assert_int_equal(maarUpdateTransientHeap(rig.allocator, heap, &g->graph, 0, NULL), VK_SUCCESS);
}

static MaarTransientPassBarriers barriers_of(MaarTransientHeap heap, uint64_t frame, uint32_t pass)
{
    MaarTransientPassBarriers barriers = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS};
    assert_int_equal(maarGetTransientPassBarriers(rig.allocator, heap, frame, pass, &barriers),
                     VK_SUCCESS);
    return barriers;
}

/* Returns the layout in which a frame finds the history, and checks whether its first pass waits
 * for a frame before. */
static VkImageLayout old_layout(MaarTransientHeap heap, uint64_t frame)
{
    const MaarTransientPassBarriers barriers = barriers_of(heap, frame, 1);
    for (uint32_t i = 0; i < barriers.before.imageMemoryBarrierCount; ++i) {
        if (barriers.pImageResources[i] == HISTORY) {
            return barriers.before.pImageMemoryBarriers[i].oldLayout;
        }
    }
    fail_msg("frame %u: no barrier", (unsigned)frame);
    return VK_IMAGE_LAYOUT_UNDEFINED;
}

static bool waits_back(MaarTransientHeap heap, uint64_t frame)
{
    const MaarTransientPassBarriers barriers = barriers_of(heap, frame, 0);
    return barriers.waitCount == 1 && barriers.pWaits[0].framesBack > 0;
}

static VkImage history(MaarTransientHeap heap)
{
    MaarTransientResourceInfo info = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_RESOURCE_INFO};
    assert_int_equal(maarGetTransientResource(rig.allocator, heap, 0, HISTORY, &info), VK_SUCCESS);
    return info.image;
}

static void expect_clean(const struct player* player)
{
    if (hazards_finding_count(player->hazards) > 0) {
        fail_msg("%s", hazards_finding(player->hazards, 0));
    }
}

static void the_first_frame_asked_about_has_none_before_it(void** state)
{
    (void)state;
    make_graph(&graphs[0], 64, 0);
    MaarTransientHeap heap = create_heap(1);
    assert_int_equal(old_layout(heap, 41), VK_IMAGE_LAYOUT_UNDEFINED);
    assert_false(waits_back(heap, 41));
    assert_int_equal(old_layout(heap, 42), VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    assert_true(waits_back(heap, 42));
    /* The same number again, and a number that is lower than the first. */
    assert_int_equal(old_layout(heap, 41), VK_IMAGE_LAYOUT_UNDEFINED);
    assert_int_equal(old_layout(heap, 40), VK_IMAGE_LAYOUT_UNDEFINED);
    assert_false(waits_back(heap, 40));
    assert_true(waits_back(heap, UINT64_MAX));
    maarDestroyTransientHeap(rig.allocator, heap);
}

static void copies_are_counted_from_zero(void** state)
{
    (void)state;
    make_graph(&graphs[0], 64, 0);
    MaarTransientHeap heap = create_heap(2);
    MaarTransientResourceInfo odd = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_RESOURCE_INFO};
    assert_int_equal(maarGetTransientResource(rig.allocator, heap, 1, TARGET, &odd), VK_SUCCESS);
    const MaarTransientPassBarriers barriers = barriers_of(heap, 7, 0);
    assert_true(barriers.before.pImageMemoryBarriers[0].image == odd.image);
    assert_int_equal(old_layout(heap, 8), VK_IMAGE_LAYOUT_UNDEFINED);
    assert_int_equal(old_layout(heap, 9), VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    maarDestroyTransientHeap(rig.allocator, heap);
}

/* Plays three frames, an update to graphs[1], three more frames, an update to graphs[2], and three
 * more. */
static void play_updates(uint32_t copies, bool restart)
{
    struct player player;
    MaarTransientHeap heap = create_heap(copies);
    player_open(&player, &rig, heap, &graphs[0]);
    player_run(&player, 0, 3, 1);
    for (uint32_t i = 1; i < 3; ++i) {
        const VkImage before = history(heap);
        update(heap, &graphs[i]);
        player_change(&player, &graphs[i], 3);
        player.base = restart ? 0 : player.base + 3;
        const bool stays = history(heap) == before;
        assert_true(stays || i > 1);
        assert_int_equal(old_layout(heap, player.base),
                         stays ? VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL : VK_IMAGE_LAYOUT_UNDEFINED);
        assert_false(waits_back(heap, player.base));
        player_run(&player, 0, 3, 1);
        expect_clean(&player);
    }
    player_close(&player);
    maarDestroyTransientHeap(rig.allocator, heap);
}

static void an_unchanged_update_goes_on_counting(void** state)
{
    struct player player;
    (void)state;
    for (uint32_t copies = 1; copies <= 2; ++copies) {
        make_graph(&graphs[0], 64, 0);
        make_graph(&graphs[1], 64, 0);
        MaarTransientHeap heap = create_heap(copies);
        player_open(&player, &rig, heap, &graphs[0]);
        player_run(&player, 0, 3, 1);
        update(heap, &graphs[1]);
        assert_int_equal(old_layout(heap, 3), VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
        assert_true(waits_back(heap, 3));
        player_run(&player, 3, 3, 1);
        expect_clean(&player);
        player_close(&player);
        maarDestroyTransientHeap(rig.allocator, heap);
    }
}

/* Nothing is created, so that the program cannot see that anything changed. */
static void other_stages_begin_a_new_count(void** state)
{
    (void)state;
    for (uint32_t copies = 1; copies <= 2; ++copies) {
        make_graph(&graphs[0], 64, 0);
        make_graph(&graphs[1], 64, VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT);
        make_graph(&graphs[2], 64, VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT);
        play_updates(copies, false);
        play_updates(copies, true);
    }
}

static void another_size_begins_a_new_count(void** state)
{
    (void)state;
    for (uint32_t copies = 1; copies <= 2; ++copies) {
        make_graph(&graphs[0], 64, 0);
        make_graph(&graphs[1], 60, 0);
        make_graph(&graphs[2], 4096, 0);
        play_updates(copies, false);
        play_updates(copies, true);
    }
}

#define ON_RIG(name) cmocka_unit_test_setup_teardown(name, open_rig, close_rig)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_RIG(the_first_frame_asked_about_has_none_before_it),
        ON_RIG(copies_are_counted_from_zero),
        ON_RIG(an_unchanged_update_goes_on_counting),
        ON_RIG(other_stages_begin_a_new_count),
        ON_RIG(another_size_begins_a_new_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
