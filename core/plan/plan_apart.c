/*
 * Skylines of many items of mixed kinds: see plan_apart.h.
 */
#include "core/plan/plan_apart.h"

#include "core/plan/plan_quick.h"
#include "core/plan/plan_skyline.h"

/* The items of one kind, as a problem of their own. */
struct part {
    struct maar_plan_problem problem;
    struct maar_plan_skyline* skyline; /* NULL where there are no items */
    uint32_t* item;                    /* of the whole problem, per item of the part */
    uint32_t* order;
    uint32_t* rank;
    int64_t* offsets;
};

struct maar_plan_apart {
    const struct maar_plan_problem* problem;
    uint32_t* place; /* per item: its number in the part of its kind */
    struct part parts[MAAR_PLAN_KINDS];
};

static bool reserve_part(struct part* part, uint32_t count, struct maar_host_stack* stack)
{
    struct maar_plan_problem* problem = &part->problem;
    problem->first = maar_stack_grab(stack, count, sizeof *problem->first);
    problem->last = maar_stack_grab(stack, count, sizeof *problem->last);
    problem->size = maar_stack_grab(stack, count, sizeof *problem->size);
    problem->align = maar_stack_grab(stack, count, sizeof *problem->align);
    part->item = maar_stack_grab(stack, count, sizeof *part->item);
    part->order = maar_stack_grab(stack, count, sizeof *part->order);
    part->rank = maar_stack_grab(stack, count, sizeof *part->rank);
    part->offsets = maar_stack_grab(stack, count, sizeof *part->offsets);
    return problem->first != NULL && problem->last != NULL && problem->size != NULL &&
           problem->align != NULL && part->item != NULL && part->order != NULL &&
           part->rank != NULL && part->offsets != NULL;
}

static void fill_parts(struct maar_plan_apart* apart)
{
    const struct maar_plan_problem* whole = apart->problem;
    for (uint32_t i = 0; i < whole->count; ++i) {
        struct part* part = &apart->parts[whole->kind_index[i]];
        const uint32_t at = part->problem.count++;
        part->problem.first[at] = whole->first[i];
        part->problem.last[at] = whole->last[i];
        part->problem.size[at] = whole->size[i];
        part->problem.align[at] = whole->align[i];
        part->item[at] = i;
        apart->place[i] = at;
    }
}

struct maar_plan_apart* maar_plan_open_apart(const struct maar_plan_problem* problem,
                                             struct maar_host_stack* stack)
{
    struct maar_plan_apart* apart = maar_stack_grab_zeroed(stack, 1, sizeof *apart);
    uint32_t* place = maar_stack_grab(stack, problem->count, sizeof *place);
    uint32_t counts[MAAR_PLAN_KINDS] = {0};
    bool complete = apart != NULL && place != NULL;
    for (uint32_t i = 0; i < problem->count; ++i) {
        counts[problem->kind_index[i]] += 1;
    }
    for (uint32_t k = 0; k < MAAR_PLAN_KINDS && complete; ++k) {
        apart->parts[k].problem.clique_count = problem->clique_count;
        complete = reserve_part(&apart->parts[k], counts[k], stack);
    }
    if (!complete) {
        return NULL;
    }
    apart->problem = problem;
    apart->place = place;
    fill_parts(apart);
    for (uint32_t k = 0; k < MAAR_PLAN_KINDS; ++k) {
        struct part* part = &apart->parts[k];
        if (counts[k] > 0) {
            part->skyline = maar_plan_open_skyline(&part->problem, stack);
            complete = complete && part->skyline != NULL;
        }
    }
    return complete ? apart : NULL;
}

bool maar_plan_place_apart(struct maar_plan_apart* apart, const uint32_t* order,
                           struct maar_plan_budget* budget, int64_t* offsets)
{
    const struct maar_plan_problem* whole = apart->problem;
    uint32_t ranks[MAAR_PLAN_KINDS] = {0};
    for (uint32_t k = 0; k < whole->count; ++k) {
        const uint8_t kind = whole->kind_index[order[k]];
        const uint32_t at = apart->place[order[k]];
        apart->parts[kind].rank[at] = ranks[kind];
        apart->parts[kind].order[ranks[kind]++] = at;
    }
    for (uint32_t k = 0; k < MAAR_PLAN_KINDS; ++k) {
        const struct part* part = &apart->parts[k];
        if (part->skyline != NULL && !maar_plan_place_skyline(part->skyline, part->order,
                                                              part->rank, budget, part->offsets)) {
            return false;
        }
        for (uint32_t i = 0; i < part->problem.count; ++i) {
            offsets[part->item[i]] = part->offsets[i];
        }
    }
    return maar_plan_stack_kinds(whole, offsets);
}
