/*
 * A plan read whole, through the public functions; see plan_checker.h.
 */
#include "tests/plan/plan_checker.h"

#include <stdlib.h>

void plan_answer_release(struct plan_answer* answer)
{
    free(answer->classes);
    free(answer->placements);
    free(answer->edges);
    free(answer->wrap_edges);
    *answer = (struct plan_answer){.class_count = 0};
}

/* Reads edges by the idiom of two calls, and finds out that a list with one entry too few is
 * reported. */
static bool read_edges(MaarPlan plan, VkResult(VKAPI_PTR* get)(MaarPlan, uint32_t*, MaarPlanEdge*),
                       MaarPlanEdge** edges, uint32_t* count)
{
    bool good = get(plan, count, NULL) == VK_SUCCESS;
    *edges = good ? calloc((size_t)*count + 1, sizeof(**edges)) : NULL;
    uint32_t room = *count;
    good = *edges != NULL && get(plan, &room, *edges) == VK_SUCCESS && room == *count;
    if (good && *count != 0) {
        room = *count - 1;
        good = get(plan, &room, *edges) == VK_INCOMPLETE && room == *count - 1;
    }
    return good;
}

static bool read_rest(MaarPlan plan, struct plan_answer* answer)
{
    if (maarGetPlanClasses(plan, &answer->class_count, NULL) != VK_SUCCESS ||
        maarGetPlanPlacements(plan, &answer->placement_count, NULL) != VK_SUCCESS) {
        return false;
    }
    answer->classes = calloc((size_t)answer->class_count + 1, sizeof(*answer->classes));
    answer->placements = calloc((size_t)answer->placement_count + 1, sizeof(*answer->placements));
    return answer->classes != NULL && answer->placements != NULL &&
           maarGetPlanClasses(plan, &answer->class_count, answer->classes) == VK_SUCCESS &&
           maarGetPlanPlacements(plan, &answer->placement_count, answer->placements) ==
               VK_SUCCESS &&
           read_edges(plan, maarGetPlanEdges, &answer->edges, &answer->edge_count) &&
           read_edges(plan, maarGetPlanWrapEdges, &answer->wrap_edges, &answer->wrap_edge_count);
}

bool plan_answer_read(MaarPlan plan, struct plan_answer* answer)
{
    *answer = (struct plan_answer){.info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO}};
    const bool good = maarGetPlanInfo(plan, &answer->info) == VK_SUCCESS && read_rest(plan, answer);
    if (!good) {
        plan_answer_release(answer);
    }
    return good;
}
