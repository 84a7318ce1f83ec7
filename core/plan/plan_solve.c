/*
 * From a problem to its placement: the best greedy order first, and where that does not meet the
 * bound, searches for the smallest capacity that has a solution. The bound itself is asked first,
 * since tight capacities are often easier; then the interval between what is proved to be needed
 * and what is known to be enough is halved, in rounds with more nodes each.
 */
#include "core/plan/plan_internal.h"

#include "core/port_time.h"

/* Nodes of one question in the first round; doubled in each further round. Some 5 ms: of 2,000 to
 * 60,000 the best on instances D and J of google/minimalloc, in 3 and in 10 seconds. */
enum { FIRST_ROUND_NODES = 5000 };

bool maar_plan_interrupted(struct maar_plan_budget* budget)
{
    if (budget->stop == MAAR_PLAN_STOP_TIME_LIMIT || budget->stop == MAAR_PLAN_STOP_CANCELLED) {
        return true;
    }
    if (budget->deadline_ns != UINT64_MAX && maar_now_ns() >= budget->deadline_ns) {
        budget->stop = MAAR_PLAN_STOP_TIME_LIMIT;
        return true;
    }
    if (budget->cancel != NULL && budget->cancel(budget->cancel_user_data) != VK_FALSE) {
        budget->stop = MAAR_PLAN_STOP_CANCELLED;
        return true;
    }
    return false;
}

struct solver {
    struct maar_plan_problem* problem;
    struct maar_plan_search* search;
    struct maar_plan_budget* budget;
    int64_t* offsets;
    uint64_t peak;
};

/* The least peak that is at least so many bytes: where nothing was rounded, a multiple of the unit.
 */
static uint64_t next_peak(const struct maar_plan_problem* problem, uint64_t bytes)
{
    for (uint32_t i = 0; i < problem->count; ++i) {
        if ((uint64_t)problem->size[i] * problem->unit != problem->bytes[i]) {
            return bytes;
        }
    }
    return maar_align_up(bytes, problem->unit);
}

/* Asks for one capacity and learns from the answer. */
static enum maar_plan_answer ask(struct solver* solver, uint64_t capacity, uint64_t node_limit)
{
    struct maar_plan_budget* budget = solver->budget;
    if (budget->nodes_left == 0) {
        budget->stop = MAAR_PLAN_STOP_NODE_LIMIT;
        return MAAR_PLAN_ANSWER_UNKNOWN;
    }
    const uint64_t limit = node_limit < budget->nodes_left ? node_limit : budget->nodes_left;
    const enum maar_plan_answer answer =
        maar_plan_search_run(solver->search, capacity, limit, budget, solver->offsets);
    if (answer == MAAR_PLAN_ANSWER_YES) {
        solver->peak = maar_plan_peak(solver->problem, solver->offsets);
    } else if (answer == MAAR_PLAN_ANSWER_NO && capacity + 1 > solver->problem->proved_bound) {
        solver->problem->proved_bound = next_peak(solver->problem, capacity + 1);
    } else if (answer == MAAR_PLAN_ANSWER_UNKNOWN && budget->nodes_left == 0 &&
               budget->stop == MAAR_PLAN_STOP_DONE) {
        budget->stop = MAAR_PLAN_STOP_NODE_LIMIT;
    }
    return answer;
}

/* One round: the bound, then halves. */
static void search_round(struct solver* solver, uint64_t node_limit)
{
    struct maar_plan_problem* problem = solver->problem;
    uint64_t low = problem->proved_bound;
    uint64_t capacity = low;
    while (low < solver->peak && solver->budget->stop == MAAR_PLAN_STOP_DONE) {
        const enum maar_plan_answer answer = ask(solver, capacity, node_limit);
        if (answer != MAAR_PLAN_ANSWER_YES) {
            low = next_peak(problem, capacity + 1);
        }
        low = low > problem->proved_bound ? low : problem->proved_bound;
        if (low < solver->peak) {
            capacity = low + (solver->peak - 1 - low) / 4 * 3;
        }
    }
}

static void minimise(struct solver* solver)
{
    uint64_t node_limit = FIRST_ROUND_NODES;
    while (solver->problem->proved_bound < solver->peak &&
           solver->budget->stop == MAAR_PLAN_STOP_DONE) {
        search_round(solver, node_limit);
        node_limit = node_limit > UINT64_MAX / 2 ? UINT64_MAX : node_limit * 2;
    }
}

VkResult maar_plan_begin(struct maar_plan_problem* problem, struct maar_host_stack* stack,
                         uint64_t enough, int64_t* offsets)
{
    enough = enough > problem->proved_bound ? enough : problem->proved_bound;
    const VkResult result =
        maar_plan_greedy(problem, stack, enough, problem->graph->budget, offsets, &problem->peak);
    problem->greedy_peak = problem->peak;
    return result;
}

void maar_plan_improve(struct maar_plan_problem* problem, struct maar_host_stack* stack,
                       uint64_t capacity, struct maar_plan_budget* budget, int64_t* offsets)
{
    struct solver solver = {
        .problem = problem, .budget = budget, .offsets = offsets, .peak = problem->peak};
    const struct maar_stack_mark mark = maar_stack_place(stack);
    if (maar_plan_search_create(problem, stack, &solver.search) != VK_SUCCESS) {
        budget->stop = MAAR_PLAN_STOP_HOST_MEMORY;
    } else if (capacity != UINT64_MAX) {
        (void)ask(&solver, capacity, UINT64_MAX);
    } else {
        minimise(&solver);
    }
    problem->peak = solver.peak;
    maar_stack_return(stack, mark);
}
