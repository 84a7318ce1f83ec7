/*
 * Ends a search when its time is up or the caller cancels.
 */
#include "core/plan/problem/plan_budget.h"

#include "core/port_time.h"

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
