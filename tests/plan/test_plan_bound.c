/*
 * The lower bound by fronts of passes against the heaviest antichain, which no bound of this kind
 * may exceed, and against all fronts of tiny inputs.
 */
#include "core/plan/plan_bound.h"
#include "core/plan/plan_class.h"
#include "core/plan/plan_graph.h"
#include "tests/rig/rig.h"

enum { MOST_RESOURCES = 60, MOST_PASSES = 40, MOST_USES = 4, MOST_QUEUES = 4, INPUTS = 3000 };

struct input {
    MaarPlanCreateInfo info;
    MaarPlanResource resources[MOST_RESOURCES];
    uint32_t uses[MOST_RESOURCES][MOST_USES];
    uint32_t numbers[MOST_RESOURCES];
    uint32_t queues[MOST_PASSES];
    MaarPlanDependency dependencies[MOST_PASSES];
};

static void fill_input(struct input* input, struct rig_random* random)
{
    *input = (struct input){.info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
                                     .resourceCount = 1 + rig_below(random, MOST_RESOURCES),
                                     .pResources = input->resources,
                                     .passCount = 2 + rig_below(random, MOST_PASSES - 1),
                                     .pPassQueues = input->queues,
                                     .pDependencies = input->dependencies}};
    const uint32_t queues = 2 + rig_below(random, MOST_QUEUES - 1);
    const uint32_t life = 1 + rig_below(random, input->info.passCount);
    for (uint32_t p = 0; p < input->info.passCount; ++p) {
        input->queues[p] = p < 2 ? p : rig_below(random, queues);
        if (p > 0 && rig_below(random, 3) == 0) {
            input->dependencies[input->info.dependencyCount++] =
                (MaarPlanDependency){rig_below(random, p), p};
        }
    }
    for (uint32_t i = 0; i < input->info.resourceCount; ++i) {
        const uint32_t first = rig_below(random, input->info.passCount);
        input->numbers[i] = i;
        input->resources[i] = (MaarPlanResource){
            .size = 1 + rig_below(random, 100),
            .alignment = 1,
            .useCount = 1 + rig_below(random, MOST_USES),
            .pUses = input->uses[i],
            .flags = rig_below(random, 16) == 0 ? MAAR_PLAN_RESOURCE_NO_ALIASING_BIT : 0,
        };
        for (uint32_t k = 0; k < MOST_USES; ++k) {
            input->uses[i][k] = (first + rig_below(random, life)) % input->info.passCount;
        }
    }
}

/* The bytes that live when of each queue as many passes have begun as `begun` says, by the
 * definition. */
static uint64_t weigh(const struct input* input, const struct maar_plan_graph* graph,
                      const uint32_t* begun)
{
    uint64_t weight = 0;
    for (uint32_t i = 0; i < input->info.resourceCount; ++i) {
        const MaarPlanResource* resource = &input->resources[i];
        bool started = false;
        bool over = false;
        for (uint32_t p = 0; p < graph->pass_count; ++p) {
            bool after_all = true;
            bool used = false;
            for (uint32_t k = 0; k < resource->useCount; ++k) {
                used = used || resource->pUses[k] == p;
                after_all = after_all && maar_plan_pass_follows(graph, resource->pUses[k], p);
            }
            const bool has_begun = graph->place[p] < begun[graph->queue[p]];
            started = started || (has_begun && used);
            over = over || (has_begun && after_all);
        }
        const bool always = (resource->flags & MAAR_PLAN_RESOURCE_NO_ALIASING_BIT) != 0;
        weight += always || (started && !over) ? resource->size : 0;
    }
    return weight;
}

/* The weight of the heaviest of all fronts. */
static uint64_t weigh_all(const struct input* input, const struct maar_plan_graph* graph)
{
    uint32_t length[MOST_QUEUES] = {0};
    uint32_t begun[MOST_QUEUES] = {0};
    uint64_t most = 0;
    for (uint32_t p = 0; p < graph->pass_count; ++p) {
        ++length[graph->queue[p]];
    }
    for (uint32_t q = 0; q < graph->queue_count;) {
        const uint64_t weight = weigh(input, graph, begun);
        most = weight > most ? weight : most;
        for (q = 0; q < graph->queue_count && begun[q] == length[q]; ++q) {
            begun[q] = 0;
        }
        if (q < graph->queue_count) {
            ++begun[q];
        }
    }
    return most;
}

struct bounds {
    uint64_t antichain;
    uint64_t fronts;
};

static struct bounds bound_input(const struct input* input, struct maar_host_stack* stack,
                                 struct maar_plan_graph* graph)
{
    struct maar_plan_budget budget = {.nodes_left = 1000, .deadline_ns = UINT64_MAX};
    struct maar_plan_problem problem;
    struct bounds bounds;
    assert_int_equal(maar_plan_build_graph(&input->info, &budget, stack, graph), VK_SUCCESS);
    assert_int_equal(maar_plan_build_problem(graph, stack, input->numbers,
                                             input->info.resourceCount, UINT32_MAX, &problem),
                     VK_SUCCESS);
    bounds.antichain = problem.lower_bound;
    problem.lower_bound = 0;
    problem.proved_bound = 0;
    assert_int_equal(maar_plan_bound_fronts(&problem, stack), VK_SUCCESS);
    bounds.fronts = problem.lower_bound;
    assert_true(problem.proved_bound == problem.lower_bound);
    return bounds;
}

static void no_front_is_heavier_than_the_heaviest_antichain(void** state)
{
    (void)state;
    struct rig_random random = {rig_seed(17)};
    uint32_t equal = 0;
    for (uint32_t i = 0; i < INPUTS; ++i) {
        static struct input input;
        struct maar_host_stack stack = {0};
        struct maar_plan_graph graph;
        fill_input(&input, &random);
        const struct bounds bounds = bound_input(&input, &stack, &graph);
        assert_true(bounds.fronts <= bounds.antichain);
        equal += bounds.fronts == bounds.antichain;
        maar_stack_reset(&stack);
    }
    /* Otherwise the search for a heavy front does not work. */
    assert_true(equal > INPUTS / 2);
}

static void bound_is_the_weight_of_a_front(void** state)
{
    (void)state;
    struct rig_random random = {rig_seed(18)};
    uint32_t equal = 0;
    for (uint32_t i = 0; i < INPUTS / 10; ++i) {
        static struct input input;
        struct maar_host_stack stack = {0};
        struct maar_plan_graph graph;
        fill_input(&input, &random);
        input.info.passCount = 2 + input.info.passCount % 9;
        input.info.dependencyCount = 0;
        for (uint32_t k = 0; k < MOST_RESOURCES; ++k) {
            for (uint32_t u = 0; u < MOST_USES; ++u) {
                input.uses[k][u] %= input.info.passCount;
            }
        }
        const struct bounds bounds = bound_input(&input, &stack, &graph);
        const uint64_t most = weigh_all(&input, &graph);
        assert_true(bounds.fronts <= most);
        assert_true(most <= bounds.antichain);
        equal += bounds.fronts == most;
        maar_stack_reset(&stack);
    }
    assert_true(equal > INPUTS / 10 * 3 / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_front_is_heavier_than_the_heaviest_antichain),
        cmocka_unit_test(bound_is_the_weight_of_a_front),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
