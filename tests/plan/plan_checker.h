/*
 * Checks a plan against its input, from the definitions in maar/plan.h alone: what the planner says
 * of itself is worked out anew, slowly. Single-threaded.
 */
#ifndef MAAR_TESTS_PLAN_PLAN_CHECKER_H
#define MAAR_TESTS_PLAN_PLAN_CHECKER_H

#include "plan_world.h"

/* All that a plan says. */
struct plan_answer {
    MaarPlanInfo info;
    MaarPlanClass* classes;
    MaarPlanPlacement* placements;
    MaarPlanEdge* edges;
    MaarPlanEdge* wrap_edges;
    uint32_t class_count, placement_count, edge_count, wrap_edge_count;
};

/* Reads everything; false when a function does not do what it should. */
bool plan_answer_read(MaarPlan plan, struct plan_answer* answer);
void plan_answer_release(struct plan_answer* answer);

/* Whether the answer is right; if not, says in a sentence what is not. */
bool plan_check(const MaarPlanCreateInfo* info, const struct plan_answer* answer, char* reason,
                size_t size);

#endif
