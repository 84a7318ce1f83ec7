/*
 * Searches for the smallest capacity that has a solution, in rounds. Each round tries the proved
 * bound first, since tight capacities are often easier. Then it tries capacities between the proved
 * bound and the peak found so far. Each round may spend twice the nodes of the round before on one
 * capacity.
 */
#include "core/plan/exact/exact.h"

#include "core/plan/exact/exact_restart.h"

/* The number of nodes for one capacity in the first round. The search visits them in about 5 ms.
 * Each further round doubles the number. Of the numbers from 2,000 to 60,000 this one was the best
 * on instances D and J of google/minimalloc, in 3 and in 10 seconds. */
enum { FIRST_ROUND_NODES = 5000 };

struct solver {
    struct maar_plan_problem* problem;
    struct maar_exact_search* search;
    struct maar_plan_budget* budget;
    int64_t* offsets;
    uint64_t peak;
};

/* Returns the least peak that is at least `bytes`. Where no size was rounded, every peak is a
 * multiple of the unit. */
static uint64_t next_peak(const struct maar_plan_problem* problem, uint64_t bytes)
{
    for (uint32_t i = 0; i < problem->count; ++i) {
        if ((uint64_t)problem->size[i] * problem->unit != problem->bytes[i]) {
            return bytes;
        }
    }
    return maar_align_up(bytes, problem->unit);
}

/* Searches at one capacity, and records what the answer proves. */
static enum maar_exact_answer ask(struct solver* solver, uint64_t capacity, uint64_t node_limit)
{
    struct maar_plan_budget* budget = solver->budget;
    if (budget->nodes_left == 0) {
        budget->stop = MAAR_PLAN_STOP_NODE_LIMIT;
        return MAAR_EXACT_UNKNOWN;
    }
    const uint64_t limit = node_limit < budget->nodes_left ? node_limit : budget->nodes_left;
    const enum maar_exact_answer answer =
        maar_exact_search_run(solver->search, capacity, limit, budget, solver->offsets);
    if (answer == MAAR_EXACT_YES) {
        solver->peak = maar_plan_peak(solver->problem, solver->offsets);
    } else if (answer == MAAR_EXACT_NO && capacity + 1 > solver->problem->proved_bound) {
        solver->problem->proved_bound = next_peak(solver->problem, capacity + 1);
    } else if (answer == MAAR_EXACT_UNKNOWN && budget->nodes_left == 0 &&
               budget->stop == MAAR_PLAN_STOP_DONE) {
        budget->stop = MAAR_PLAN_STOP_NODE_LIMIT;
    }
    return answer;
}

/* Makes one round: tries the proved bound first, then each time the capacity at three quarters of
 * the way from the lower end to the peak. Every answer except MAAR_EXACT_YES raises the lower
 * end. */
static void search_round(struct solver* solver, uint64_t node_limit)
{
    struct maar_plan_problem* problem = solver->problem;
    uint64_t low = problem->proved_bound;
    uint64_t capacity = low;
    while (low < solver->peak && solver->budget->stop == MAAR_PLAN_STOP_DONE) {
        const enum maar_exact_answer answer = ask(solver, capacity, node_limit);
        if (answer != MAAR_EXACT_YES) {
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

void maar_exact_improve(struct maar_plan_problem* problem, struct maar_host_stack* stack,
                        uint64_t capacity, struct maar_plan_budget* budget, int64_t* offsets)
{
    const struct maar_stack_mark mark = maar_stack_place(stack);
    struct solver solver = {
        .problem = problem,
        .search = maar_exact_search_create(problem, stack),
        .budget = budget,
        .offsets = offsets,
        .peak = problem->peak,
    };
    if (solver.search == NULL) {
        budget->stop = MAAR_PLAN_STOP_HOST_MEMORY;
    } else if (capacity != UINT64_MAX) {
        (void)ask(&solver, capacity, UINT64_MAX);
    } else {
        minimise(&solver);
    }
    problem->peak = solver.peak;
    maar_stack_return(stack, mark);
}

enum maar_exact_answer maar_exact_fit(const struct maar_plan_problem* problem,
                                      struct maar_host_stack* stack, uint64_t capacity,
                                      uint64_t node_limit, struct maar_plan_budget* budget,
                                      int64_t* offsets)
{
    const struct maar_stack_mark mark = maar_stack_place(stack);
    struct maar_exact_search* search = maar_exact_search_create(problem, stack);
    const enum maar_exact_answer answer =
        search != NULL ? maar_exact_search_run(search, capacity, node_limit, budget, offsets)
                       : MAAR_EXACT_NO_MEMORY;
    maar_stack_return(stack, mark);
    return answer;
}
