/*
 * The budget of a plan: nodes, time, and cancellation by the caller.
 */
#ifndef MAAR_CORE_PLAN_PROBLEM_PLAN_BUDGET_H
#define MAAR_CORE_PLAN_PROBLEM_PLAN_BUDGET_H

#include "maar/plan.h"

#include <stdbool.h>

/* A class or a graph of up to this many resources takes few milliseconds for each step of the
 * planner, so its steps end late rather than without a result. */
enum { MAAR_PLAN_SMALL = 512 };

/* The nodes and the time that are left to the whole plan. */
struct maar_plan_budget {
    uint64_t nodes_left;
    uint64_t nodes_used;
    uint64_t deadline_ns; /* UINT64_MAX: no deadline */
    PFN_maarPlanCancel cancel;
    void* cancel_user_data;
    MaarPlanStop stop; /* MAAR_PLAN_STOP_DONE while nothing has run out */
    /* Once time is up or the caller has cancelled, the reason: every step ends, and nobody asks
     * again. MAAR_PLAN_STOP_DONE until then. */
    MaarPlanStop halted;
    /* A step that only improves the plan was left out or ended early, because time or memory was
     * short or the caller cancelled. The plan is then not repeatable. */
    bool cut_short;
};

/* Returns true, and sets `stop` to the reason, when the clock or the caller ends the search. */
bool maar_plan_interrupted(struct maar_plan_budget* budget);
/* Subtracts the price of a node, or all that is left. */
void maar_plan_budget_spend(struct maar_plan_budget* budget, uint64_t price);
/* Takes over what a copy of the budget has spent, and whether everything ends. The copy's `stop` is
 * left to the caller. */
void maar_plan_budget_rejoin(struct maar_plan_budget* budget, const struct maar_plan_budget* copy);

#endif
