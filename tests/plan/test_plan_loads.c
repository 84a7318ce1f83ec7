/*
 * The incremental bound of the exact search: after any number of nodes, what the search keeps of
 * the cliques that are not out of date is what comes out from nothing.
 */
#include "core/plan/exact/exact_bound.h"
#include "core/plan/exact/exact_restart.h"
#include "core/plan/plan_class.h"
#include "core/plan/plan_graph.h"
#include "tests/rig/rig.h"

enum { ITEMS = 24, PASSES = 16, NODES = 250, PROBLEMS = 24 };

/* Fills in resources of one queue. Alignments differ in every other problem. */
static void draw_resources(struct rig_random* random, bool aligned, MaarPlanResource* resources)
{
    for (uint32_t i = 0; i < ITEMS; ++i) {
        const uint32_t first = rig_below(random, PASSES);
        const uint32_t most = rig_below(random, 3) == 0 ? PASSES : 4;
        const uint32_t left = PASSES - first;
        resources[i] = (MaarPlanResource){
            .size = 1 + rig_below(random, 40),
            .alignment = aligned ? (uint64_t)1 << rig_below(random, 4) : 1,
            .memoryTypeBits = 1,
            .firstPass = first,
            .lastPass = first + rig_below(random, most < left ? most : left),
        };
    }
}

/* Searches at a capacity for some nodes and checks what the search keeps. Returns whether the
 * search ended before. */
static bool look_after(const struct maar_plan_problem* problem, struct maar_host_stack* stack,
                       uint64_t capacity, uint64_t nodes)
{
    int64_t offsets[ITEMS];
    struct maar_plan_budget budget = {.nodes_left = UINT64_MAX, .deadline_ns = UINT64_MAX};
    const struct maar_stack_mark mark = maar_stack_place(stack);
    struct maar_exact_search* const search = maar_exact_search_create(problem, stack);
    assert_non_null(search);
    const bool ended =
        maar_exact_search_run(search, capacity, nodes, &budget, offsets) != MAAR_EXACT_UNKNOWN;
    if (!ended) {
        assert_true(maar_exact_is_current(search, &search->nodes[search->depth]));
    }
    maar_stack_return(stack, mark);
    return ended;
}

static void kept_loads_are_those_from_nothing(void** state)
{
    (void)state;
    struct rig_random random = {rig_seed(5)};
    uint32_t looks = 0;
    for (uint32_t i = 0; i < PROBLEMS; ++i) {
        MaarPlanResource resources[ITEMS];
        uint32_t numbers[ITEMS];
        draw_resources(&random, i % 2 != 0, resources);
        for (uint32_t k = 0; k < ITEMS; ++k) {
            numbers[k] = k;
        }
        const MaarPlanCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
                                         .resourceCount = ITEMS,
                                         .pResources = resources};
        struct maar_plan_budget budget = {.nodes_left = UINT64_MAX, .deadline_ns = UINT64_MAX};
        struct maar_host_stack stack = {.limit = SIZE_MAX};
        struct maar_plan_graph graph;
        struct maar_plan_problem problem;
        assert_int_equal(maar_plan_build_graph(&info, &budget, &stack, &graph), VK_SUCCESS);
        assert_int_equal(maar_plan_build_problem(&graph, &stack, numbers, ITEMS, 1, &problem),
                         VK_SUCCESS);
        for (uint64_t nodes = 1; nodes <= NODES; ++nodes) {
            if (look_after(&problem, &stack, problem.proved_bound, nodes)) {
                break;
            }
            ++looks;
        }
        maar_stack_reset(&stack);
    }
    assert_true(looks > NODES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_loads_are_those_from_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
