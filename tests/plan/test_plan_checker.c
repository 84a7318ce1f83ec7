/*
 * The checker of plans finds every kind of mistake: a right answer, made by hand, is changed in one
 * place at a time. The exhaustive search finds peaks that are known.
 */
#include "tests/plan/plan_brute.h"
#include "tests/plan/plan_checker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { RESOURCES = 7, CLASSES = 2, EDGES = 3 };

/* An input with all that constrains a plan, and its answer; members point into each other. */
struct fixture {
    MaarPlanResource resources[RESOURCES];
    MaarPlanCreateInfo info;
    MaarPlanClass classes[CLASSES];
    MaarPlanPlacement placements[RESOURCES];
    MaarPlanEdge edges[EDGES + 1], wrap_edges[EDGES + 1];
    struct plan_answer answer;
};

static MaarPlanResource lives(uint32_t first, uint32_t last, VkDeviceSize size,
                              VkDeviceSize alignment, uint32_t types)
{
    return (MaarPlanResource){.size = size,
                              .alignment = alignment,
                              .memoryTypeBits = types,
                              .kind = MAAR_RESOURCE_KIND_LINEAR,
                              .firstPass = first,
                              .lastPass = last};
}

/*
 * Class 0, granules of 8, mixes kinds: 0 then 1 in the first granule, 2 then 3 in the second. Class
 * 1 has 4, which shares nothing, and behind it 5 and then 6, of which 5 is fixed there.
 */
static void fill_input(struct fixture* fixture)
{
    MaarPlanResource* const resources = fixture->resources;
    resources[0] = lives(0, 1, 8, 0, 1);
    resources[1] = lives(2, 3, 8, 1, 1);
    resources[2] = lives(1, 2, 4, 4, 1);
    resources[3] = lives(3, 3, 8, 8, 3);
    resources[3].kind = MAAR_RESOURCE_KIND_OPTIMAL;
    resources[4] = lives(0, 3, 16, 1, 2);
    resources[4].flags = MAAR_PLAN_RESOURCE_NO_ALIASING_BIT;
    resources[5] = lives(0, 0, 8, 2, 2);
    resources[5].flags = MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT;
    resources[5].fixedOffset = 16;
    resources[6] = lives(2, 2, 8, 1, 6);
    fixture->info = (MaarPlanCreateInfo){.sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
                                         .resourceCount = RESOURCES,
                                         .pResources = resources,
                                         .granularity = 8,
                                         .capacity = 40};
}

static void fill(struct fixture* fixture)
{
    static const MaarPlanPlacement placements[RESOURCES] = {
        {0, VK_FALSE, 0}, {0, VK_FALSE, 0},  {0, VK_FALSE, 8}, {0, VK_FALSE, 8},
        {1, VK_FALSE, 0}, {1, VK_FALSE, 16}, {1, VK_FALSE, 16}};
    static const MaarPlanClass classes[CLASSES] = {
        {1, 4, 16, 8, 16, VK_TRUE, MAAR_RESOURCE_KIND_UNKNOWN},
        {2, 3, 24, 2, 24, VK_TRUE, MAAR_RESOURCE_KIND_LINEAR}};
    static const MaarPlanEdge edges[] = {{0, 1, VK_FALSE}, {2, 3, VK_FALSE}, {5, 6, VK_FALSE}};
    static const MaarPlanEdge wraps[] = {{1, 0, VK_FALSE}, {3, 2, VK_FALSE}, {6, 5, VK_FALSE}};
    *fixture = (struct fixture){.info = {.resourceCount = 0}};
    fill_input(fixture);
    memcpy(fixture->placements, placements, sizeof(placements));
    memcpy(fixture->classes, classes, sizeof(classes));
    memcpy(fixture->edges, edges, sizeof(edges));
    memcpy(fixture->wrap_edges, wraps, sizeof(wraps));
    fixture->answer = (struct plan_answer){
        .info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO,
                 .resourceCount = RESOURCES,
                 .classCount = CLASSES,
                 .peakSize = 40,
                 .lowerBound = 40,
                 .provedBound = 40,
                 .greedySize = 40,
                 .totalSize = 60,
                 .provedOptimal = VK_TRUE,
                 .fit = MAAR_PLAN_FIT_YES,
                 .edgeCount = EDGES,
                 .firstStageEdgeCount = EDGES,
                 .wrapEdgeCount = EDGES},
        .classes = fixture->classes,
        .placements = fixture->placements,
        .edges = fixture->edges,
        .wrap_edges = fixture->wrap_edges,
        .class_count = CLASSES,
        .placement_count = RESOURCES,
        .edge_count = EDGES,
        .wrap_edge_count = EDGES,
    };
}

/* The answer is refused for this reason. */
static void refused(const struct fixture* fixture, const char* reason)
{
    char text[256];
    assert_false(plan_check(&fixture->info, &fixture->answer, text, sizeof(text)));
    assert_string_equal(text, reason);
}

static void checker_right_answer_is_taken(void** state)
{
    (void)state;
    struct fixture fixture;
    char text[256];
    fill(&fixture);
    const bool good = plan_check(&fixture.info, &fixture.answer, text, sizeof(text));
    assert_string_equal(text, "");
    assert_true(good);
}

/* Fills the fixture anew, changes it and expects a reason. */
#define REFUSED(change, reason)                                                                    \
    do {                                                                                           \
        fill(&fixture);                                                                            \
        change;                                                                                    \
        refused(&fixture, reason);                                                                 \
    } while (0)

static void checker_wrong_places_are_found(void** state)
{
    (void)state;
    struct fixture fixture;
    MaarPlanPlacement* const at = fixture.placements;
    MaarPlanResource* const resources = fixture.resources;
    REFUSED(fixture.answer.placement_count = 6, "6 placements");
    REFUSED(at[3].classIndex = 2, "resource 3 is in no class");
    REFUSED(at[2].offset = 10, "resource 2 is misaligned");
    REFUSED(at[5].offset = 0, "resource 5 is not at its fixed offset");
    REFUSED(at[2].offset = 4, "resources 0 and 2 share bytes and may not");
    REFUSED(at[6].offset = 12, "resources 4 and 6 share bytes and may not");
    /* 1 and 3 live together and differ in kind. */
    REFUSED(at[1].offset = 4, "resources 1 and 2 share bytes and may not");
    REFUSED((at[1].offset = 4, at[2].offset = 12), "resources 1 and 3 share a granule and may not");
    REFUSED((resources[1].size = 9, at[2].offset = 12),
            "resources 1 and 3 share a granule and may not");
    REFUSED(resources[0].lastPass = 2, "resources 0 and 1 share bytes and may not");
}

static void checker_wrong_classes_are_found(void** state)
{
    (void)state;
    struct fixture fixture;
    MaarPlanClass* const classes = fixture.classes;
    REFUSED(classes[0].resourceCount = 5, "class 0 miscounts its resources");
    REFUSED(fixture.resources[3].memoryTypeBits = 2, "class 0 fits no memory type");
    REFUSED(classes[1].memoryTypeBits = 6, "class 1 has other memory types");
    REFUSED(classes[1].size = 25, "class 1 is not as large as it says");
    REFUSED(classes[0].alignment = 4, "class 0 has another alignment");
    REFUSED(classes[0].kind = MAAR_RESOURCE_KIND_LINEAR, "class 0 has another kind");
    REFUSED(classes[1].kind = MAAR_RESOURCE_KIND_UNKNOWN, "class 1 has another kind");
    REFUSED(classes[0].lowerBound = 12, "class 0 has the lower bound 16, not 12");
    REFUSED(fixture.answer.info.classCount = 1, "the classes are miscounted");
    REFUSED(fixture.answer.info.peakSize = 39, "the peak is not the sum of the classes");
    REFUSED(fixture.answer.info.lowerBound = 39, "the lower bound is not the sum of the classes'");
    REFUSED(classes[1].provedOptimal = VK_FALSE,
            "the plan and its classes differ in what is proved");
}

static void checker_wrong_figures_are_found(void** state)
{
    (void)state;
    struct fixture fixture;
    MaarPlanInfo* const info = &fixture.answer.info;
    REFUSED(info->totalSize = 61, "the resources are miscounted");
    REFUSED(info->keptCount = 1, "the kept resources are miscounted");
    REFUSED(info->provedBound = 39, "the proved bound is not between lower bound and peak");
    REFUSED(info->provedBound = 41, "the proved bound is not between lower bound and peak");
    REFUSED(info->greedySize = 39, "a greedy order is better than the plan");
    REFUSED(info->fit = MAAR_PLAN_FIT_UNDECIDED, "the answer to the capacity is 1, not 3");
    REFUSED(fixture.info.capacity = 39, "the answer to the capacity is 2, not 1");
    REFUSED(fixture.info.capacity = 0, "the answer to the capacity is 0, not 1");
    REFUSED((info->provedOptimal = VK_FALSE, fixture.classes[0].provedOptimal = VK_FALSE),
            "the proof of optimality is not the bound's");
}

static void checker_wrong_edges_are_found(void** state)
{
    (void)state;
    struct fixture fixture;
    MaarPlanEdge* const edges = fixture.edges;
    MaarPlanEdge* const wraps = fixture.wrap_edges;
    struct plan_answer* const answer = &fixture.answer;
    REFUSED(answer->info.edgeCount = 2, "the edges are miscounted");
    REFUSED(answer->info.crossQueueEdgeCount = 1, "the edges are miscounted");
    REFUSED(answer->info.firstStageEdgeCount = 2, "the second stage made more edges");
    REFUSED((answer->edge_count = 2, answer->info.edgeCount = 2),
            "the edge from 5 to 6 is missing, or the edges are not in order");
    REFUSED((edges[3] = (MaarPlanEdge){6, 5, VK_FALSE}, answer->edge_count = 4,
             answer->info.edgeCount = 4, answer->info.firstStageEdgeCount = 4),
            "there are more of the edge");
    REFUSED(edges[1].before = 0, "the edge from 0 to 3 joins what shares nothing");
    REFUSED(edges[0] = ((MaarPlanEdge){1, 0, VK_FALSE}),
            "the edge from 1 to 0 is against the order");
    REFUSED((edges[1] = edges[0], wraps[1] = (MaarPlanEdge){2, 2, VK_FALSE}),
            "the edge from 2 to 3 has no path within the frame");
    REFUSED(wraps[0] = wraps[1], "the edge from 0 to 0 has no path to the next frame");
    REFUSED((edges[0] = edges[1], edges[1] = (MaarPlanEdge){0, 1, VK_FALSE}),
            "the edge from 0 to 1 is missing, or the edges are not in order");
    REFUSED(wraps[2].before = 5,
            "the wrap edge from 5 to 5 is superfluous, or the edges are not in order");
    REFUSED((answer->wrap_edge_count = 2, answer->info.wrapEdgeCount = 2),
            "the wrap edge from 6 to 5 is missing, or the edges are not in order");
    REFUSED((edges[0].crossQueue = VK_TRUE, answer->info.crossQueueEdgeCount = 1),
            "the edge from 0 to 1 is wrong about its queues");
}

/* Two resources at the same bytes, used on one queue each, or on both. */
static void checker_orders_of_queues_are_kept(void** state)
{
    (void)state;
    static const uint32_t queues[] = {5, 9, 5};
    static const uint32_t uses[] = {0, 1};
    const MaarPlanDependency order = {0, 1};
    MaarPlanResource resources[] = {{.size = 4, .useCount = 1, .pUses = &uses[0]},
                                    {.size = 4, .useCount = 1, .pUses = &uses[1]}};
    MaarPlanCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
                               .resourceCount = 2,
                               .pResources = resources,
                               .passCount = 3,
                               .pPassQueues = queues,
                               .dependencyCount = 1,
                               .pDependencies = &order};
    MaarPlanEdge edge = {0, 1, VK_TRUE};
    MaarPlanEdge wrap = {1, 0, VK_TRUE};
    MaarPlanPlacement placements[2] = {{.offset = 0}, {.offset = 0}};
    MaarPlanClass class = {UINT32_MAX, 2, 4, 1, 4, VK_TRUE, MAAR_RESOURCE_KIND_UNKNOWN};
    struct plan_answer answer = {.info = {.resourceCount = 2,
                                          .classCount = 1,
                                          .peakSize = 4,
                                          .lowerBound = 4,
                                          .provedBound = 4,
                                          .greedySize = 4,
                                          .totalSize = 8,
                                          .provedOptimal = VK_TRUE,
                                          .edgeCount = 1,
                                          .crossQueueEdgeCount = 1,
                                          .firstStageEdgeCount = 1,
                                          .wrapEdgeCount = 1},
                                 .classes = &class,
                                 .placements = placements,
                                 .edges = &edge,
                                 .wrap_edges = &wrap,
                                 .class_count = 1,
                                 .placement_count = 2,
                                 .edge_count = 1,
                                 .wrap_edge_count = 1};
    char text[256];
    assert_true(plan_check(&info, &answer, text, sizeof(text)));
    wrap.crossQueue = VK_FALSE;
    assert_false(plan_check(&info, &answer, text, sizeof(text)));
    assert_string_equal(text, "the wrap edge from 1 to 0 is wrong about its queues");
    info.dependencyCount = 0;
    assert_false(plan_check(&info, &answer, text, sizeof(text)));
    assert_string_equal(text, "resources 0 and 1 share bytes and may not");
    /* The order may be that of the queue, too: 0 and 2 are on one. */
    static const uint32_t later = 2;
    resources[1].pUses = &later;
    edge.crossQueue = VK_FALSE;
    answer.info.crossQueueEdgeCount = 0;
    assert_true(plan_check(&info, &answer, text, sizeof(text)));
}

/* The least peak of resources on one queue. */
static uint64_t brute_of(MaarPlanResource* resources, uint32_t count, uint64_t granularity)
{
    static const uint32_t members[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const MaarPlanCreateInfo info = {
        .resourceCount = count, .pResources = resources, .granularity = granularity};
    struct plan_world world;
    plan_world_open(&world, &info);
    const uint64_t size = plan_brute_size(&world, members, count, 1000000);
    plan_world_close(&world);
    return size;
}

static void brute_force_finds_known_peaks(void** state)
{
    (void)state;
    /* Two pairs that fit beside each other only when the long one lies at the rim. */
    MaarPlanResource chain[] = {lives(0, 1, 4, 1, 0), lives(2, 3, 4, 1, 0), lives(1, 2, 2, 1, 0)};
    assert_int_equal(brute_of(chain, 3, 0), 6);
    /* Alignment leaves a hole that nothing fits into. */
    MaarPlanResource aligned[] = {lives(0, 0, 3, 1, 0), lives(0, 0, 4, 4, 0), lives(0, 0, 2, 1, 0)};
    assert_int_equal(brute_of(aligned, 3, 0), 9);
    aligned[2].size = 1;
    assert_int_equal(brute_of(aligned, 3, 0), 8);
    /* A granule between kinds; none between times. */
    aligned[1].kind = MAAR_RESOURCE_KIND_OPTIMAL;
    aligned[1].alignment = 1;
    assert_int_equal(brute_of(aligned, 3, 16), 20);
    aligned[1].firstPass = 1;
    aligned[1].lastPass = 1;
    assert_int_equal(brute_of(aligned, 3, 16), 4);
    /* A fixed one in the way, and one that shares nothing. */
    chain[2].flags = MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT;
    chain[2].fixedOffset = 3;
    assert_int_equal(brute_of(chain, 3, 0), 9);
    chain[2].fixedOffset = 4;
    chain[0].flags = MAAR_PLAN_RESOURCE_NO_ALIASING_BIT;
    assert_int_equal(brute_of(chain, 3, 0), 10);
    MaarPlanResource many[8];
    for (uint32_t i = 0; i < 8; ++i) {
        many[i] = lives(i, i + 1, 1 + i, 1, 0);
    }
    assert_int_equal(brute_of(many, 8, 0), 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checker_right_answer_is_taken),
        cmocka_unit_test(checker_wrong_places_are_found),
        cmocka_unit_test(checker_wrong_classes_are_found),
        cmocka_unit_test(checker_wrong_figures_are_found),
        cmocka_unit_test(checker_wrong_edges_are_found),
        cmocka_unit_test(checker_orders_of_queues_are_kept),
        cmocka_unit_test(brute_force_finds_known_peaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
