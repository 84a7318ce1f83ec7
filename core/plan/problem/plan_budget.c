/*
 * Ends a search when its time is up or the caller cancels.
 */
#include "core/plan/problem/plan_budget.h"

#include "core/port_time.h"

bool maar_plan_interrupted(struct maar_plan_budget* budget)
{
    if (budget->halted == MAAR_PLAN_STOP_DONE) {
        if (budget->deadline_ns != UINT64_MAX && maar_now_ns() >= budget->deadline_ns) {
            budget->halted = MAAR_PLAN_STOP_TIME_LIMIT;
        } else if (budget->cancel != NULL && budget->cancel(budget->cancel_user_data) != VK_FALSE) {
            budget->halted = MAAR_PLAN_STOP_CANCELLED;
        }
    }
    if (budget->halted == MAAR_PLAN_STOP_DONE) {
        return false;
    }
    budget->stop = budget->halted;
    return true;
}

void maar_plan_budget_spend(struct maar_plan_budget* budget, uint64_t price)
{
    const uint64_t paid = price < budget->nodes_left ? price : budget->nodes_left;
    budget->nodes_left -= paid;
    budget->nodes_used += paid;
}

void maar_plan_budget_rejoin(struct maar_plan_budget* budget, const struct maar_plan_budget* copy)
{
    budget->nodes_left -= copy->nodes_used - budget->nodes_used;
    budget->nodes_used = copy->nodes_used;
    budget->halted = copy->halted;
}
