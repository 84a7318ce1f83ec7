/*
 * Searches for the smallest capacity that has a solution, in rounds. Each round tries the proved
 * bound first, since tight capacities are often easier. Then it tries capacities between the proved
 * bound and the peak found so far. Deep walks at the bound follow, and then ejection, which lowers
 * the peak step by step (exact_eject.h). Each round may spend twice the nodes of the round before
 * on one capacity.
 */
#include "core/plan/exact/exact.h"

#include "core/plan/exact/exact_eject.h"
#include "core/plan/exact/exact_restart.h"

/* The number of nodes for one capacity in the first round. The search visits them in about 5 ms.
 * Each further round doubles the number. Of the numbers from 2,000 to 60,000 this one was the best
 * on instances D and J of google/minimalloc, in 3 and in 10 seconds. */
enum { FIRST_ROUND_NODES = 5000 };
/* The most nodes of a deep walk. Those that place D of google/minimalloc at its bound take 19,400
 * to 19,700. */
enum { DEEP_WALK_NODES = 25000 };
/* A step by ejection may take the nodes of the round times EJECT_MOST where ejection found the best
 * placement so far, and in the first round; else times EJECT_LEAST. */
enum { EJECT_MOST = 16, EJECT_LEAST = 4 };

struct solver {
    struct maar_plan_problem* problem;
    struct maar_host_stack* stack;
    struct maar_exact_search* search;
    struct maar_plan_budget* budget;
    int64_t* offsets;
    uint64_t peak;
    struct maar_exact_eject* eject; /* NULL at first, and where it does not take the problem */
    bool knows_eject;               /* it was tried to create it */
    uint64_t eject_peak;            /* bytes: the least peak that it was loaded with or has found */
    uint32_t halvings;              /* of the step of ejection, since its last success */
    bool ejection_leads;            /* it found the best placement so far */
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

static bool out_of_nodes(struct maar_plan_budget* budget)
{
    if (budget->nodes_left == 0 && budget->stop == MAAR_PLAN_STOP_DONE) {
        budget->stop = MAAR_PLAN_STOP_NODE_LIMIT;
    }
    return budget->nodes_left == 0;
}

/* Records what the answer of the exact search at a capacity proves. */
static void record(struct solver* solver, uint64_t capacity, enum maar_exact_answer answer)
{
    if (answer == MAAR_EXACT_YES) {
        solver->ejection_leads = false;
        solver->peak = maar_plan_peak(solver->problem, solver->offsets);
    } else if (answer == MAAR_EXACT_NO && capacity + 1 > solver->problem->proved_bound) {
        solver->problem->proved_bound = next_peak(solver->problem, capacity + 1);
    } else if (answer == MAAR_EXACT_UNKNOWN) {
        (void)out_of_nodes(solver->budget);
    }
}

/* Searches at one capacity. */
static enum maar_exact_answer ask(struct solver* solver, uint64_t capacity, uint64_t node_limit)
{
    struct maar_plan_budget* budget = solver->budget;
    if (out_of_nodes(budget)) {
        return MAAR_EXACT_UNKNOWN;
    }
    const uint64_t limit = node_limit < budget->nodes_left ? node_limit : budget->nodes_left;
    const enum maar_exact_answer answer =
        maar_exact_search_run(solver->search, capacity, limit, budget, solver->offsets);
    record(solver, capacity, answer);
    return answer;
}

/* Searches at the proved bound by deep walks, in about four times the nodes of the round. */
static void ask_deep(struct solver* solver, uint64_t node_limit)
{
    const uint64_t capacity = solver->problem->proved_bound;
    record(solver, capacity,
           maar_exact_search_deep(solver->search, capacity, DEEP_WALK_NODES,
                                  1 + node_limit * 4 / DEEP_WALK_NODES, solver->budget,
                                  solver->offsets));
}

/* Returns whether the search by ejection takes the problem. Creates it at first. */
static bool has_ejection(struct solver* solver)
{
    if (solver->eject == NULL && !solver->knows_eject && maar_exact_eject_takes(solver->problem)) {
        solver->eject = maar_exact_eject_create(solver->problem, solver->stack);
        solver->budget->cut_short |= solver->eject == NULL;
    }
    solver->knows_eject = true;
    return solver->eject != NULL;
}

/* Searches at one capacity by ejection, which proves nothing. */
static enum maar_exact_answer ask_ejection(struct solver* solver, uint64_t capacity,
                                           uint64_t node_limit)
{
    struct maar_plan_budget* budget = solver->budget;
    if (out_of_nodes(budget)) {
        return MAAR_EXACT_UNKNOWN;
    }
    if (solver->peak < solver->eject_peak) {
        maar_exact_eject_load(solver->eject, solver->offsets);
        solver->eject_peak = solver->peak;
    }
    if (!maar_exact_eject_run(solver->eject, capacity, node_limit, budget, solver->offsets)) {
        (void)out_of_nodes(budget);
        return MAAR_EXACT_UNKNOWN;
    }
    solver->peak = maar_plan_peak(solver->problem, solver->offsets);
    solver->eject_peak = solver->peak;
    solver->ejection_leads = true;
    return MAAR_EXACT_YES;
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

/* Lowers the peak step by step by ejection, until a step takes too many nodes. A step is an eighth
 * of the way to the proved bound; after each failure half as much. */
static void eject_round(struct solver* solver, uint64_t node_limit)
{
    const uint64_t bound = solver->problem->proved_bound;
    const bool gets_most = solver->ejection_leads || node_limit == FIRST_ROUND_NODES;
    const uint64_t limit = node_limit * (gets_most ? EJECT_MOST : EJECT_LEAST);
    enum maar_exact_answer answer = MAAR_EXACT_YES;
    while (answer == MAAR_EXACT_YES && bound < solver->peak) {
        const uint64_t step = (solver->peak - bound) / 8 >> solver->halvings;
        answer = ask_ejection(solver, solver->peak - (step > 0 ? step : 1), limit);
        solver->halvings = answer == MAAR_EXACT_YES ? 0 : solver->halvings + (step > 0);
    }
}

/* Returns whether a better placement may exist, and nothing has run out. */
static bool goes_on(const struct solver* solver)
{
    return solver->problem->proved_bound < solver->peak &&
           solver->budget->stop == MAAR_PLAN_STOP_DONE;
}

/* The exact search and ejection take turns. While ejection leads, the exact search gets fewer
 * nodes. */
static void minimise(struct solver* solver)
{
    uint64_t node_limit = FIRST_ROUND_NODES;
    while (goes_on(solver)) {
        search_round(solver, solver->ejection_leads ? node_limit / 4 : node_limit);
        if (goes_on(solver)) {
            ask_deep(solver, node_limit);
        }
        if (goes_on(solver) && has_ejection(solver)) {
            eject_round(solver, node_limit);
        }
        node_limit = node_limit > UINT64_MAX / 64 ? node_limit : node_limit * 2;
    }
}

void maar_exact_improve(struct maar_plan_problem* problem, struct maar_host_stack* stack,
                        uint64_t capacity, struct maar_plan_budget* budget, int64_t* offsets)
{
    const struct maar_stack_mark mark = maar_stack_place(stack);
    struct solver solver = {
        .problem = problem,
        .stack = stack,
        .search = maar_exact_search_create(problem, stack),
        .budget = budget,
        .offsets = offsets,
        .peak = problem->peak,
        .eject_peak = UINT64_MAX,
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
