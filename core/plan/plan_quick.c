/*
 * Quick placements: see plan_quick.h.
 */
#include "core/plan/plan_quick.h"

#include "core/plan/problem/plan_rank.h"

#include <string.h>

static uint32_t kind_count(const struct maar_plan_problem* problem)
{
    return problem->mixed ? MAAR_PLAN_KINDS : 1;
}

/* Sorts items by when they begin, or by when they end. Of items at the same section the largest
 * comes first. */
static void sort_by_time(const struct maar_plan_problem* problem, const uint32_t* sections,
                         struct maar_plan_key* keys, struct maar_plan_key* other, uint32_t* order)
{
    for (uint32_t i = 0; i < problem->count; ++i) {
        keys[i] = (struct maar_plan_key){
            .first = UINT32_MAX - sections[i], .second = (uint64_t)problem->size[i], .item = i};
    }
    maar_plan_sort_keys(keys, other, problem->count);
    for (uint32_t k = 0; k < problem->count; ++k) {
        order[k] = keys[k].item;
    }
}

VkResult maar_plan_quick_init(struct maar_plan_quick* quick,
                              const struct maar_plan_problem* problem,
                              struct maar_host_stack* stack)
{
    const uint32_t count = problem->count;
    *quick = (struct maar_plan_quick){
        .problem = *problem,
        .by_first = maar_stack_grab(stack, count, sizeof(uint32_t)),
        .by_last = maar_stack_grab(stack, count, sizeof(uint32_t)),
    };
    if (problem->conflict != NULL) {
        quick->problem.conflict = NULL;
        quick->problem.first = problem->chain_first;
        quick->problem.last = problem->chain_last;
        quick->problem.clique_count = problem->chain_sections;
    }
    bool complete = quick->by_first != NULL && quick->by_last != NULL &&
                    maar_plan_gaps_init(&quick->gaps, count, stack);
    for (uint32_t k = 0; k < kind_count(problem) && complete; ++k) {
        complete = maar_plan_floors_init(&quick->floors[k], quick->problem.clique_count, stack);
    }
    const struct maar_stack_mark mark = maar_stack_place(stack);
    struct maar_plan_key* keys = maar_stack_grab(stack, count, sizeof *keys);
    struct maar_plan_key* other = maar_stack_grab(stack, count, sizeof *other);
    complete = complete && keys != NULL && other != NULL;
    if (complete) {
        sort_by_time(&quick->problem, quick->problem.first, keys, other, quick->by_first);
        sort_by_time(&quick->problem, quick->problem.last, keys, other, quick->by_last);
    }
    maar_stack_return(stack, mark);
    return complete ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

/* Where kinds are mixed, each item gets whole granules. *align receives 0 if that is too much. */
static int64_t room_of_item(const struct maar_plan_problem* problem, uint32_t item, int64_t* align)
{
    *align = problem->align[item];
    if (!problem->mixed) {
        return problem->size[item];
    }
    const uint64_t granule = problem->granularity / problem->unit;
    *align = (int64_t)maar_common_multiple((uint64_t)*align, granule, MAAR_PLAN_MAX_SIZE);
    return maar_plan_align_up(problem->size[item], (int64_t)granule);
}

/* One way through time: of all items, or of those of one kind. */
struct quick_pass {
    struct maar_plan_quick* quick;
    int64_t* offsets;
    bool backward;
    bool apart; /* one kind has the space for itself: nothing is rounded up to granules */
    uint8_t kind;
};

static bool is_left_out(const struct quick_pass* pass, uint32_t item)
{
    return pass->apart && pass->quick->problem.kind_index[item] != pass->kind;
}

static int64_t room_in_pass(const struct quick_pass* pass, uint32_t item, int64_t* align)
{
    const struct maar_plan_problem* problem = &pass->quick->problem;
    if (pass->apart) {
        *align = problem->align[item];
        return problem->size[item];
    }
    return room_of_item(problem, item, align);
}

/* Gives back the room of the items that are over before an item lives. `ended` counts them. */
static bool give_ended(const struct quick_pass* pass, uint32_t item, uint32_t* ended)
{
    struct maar_plan_quick* quick = pass->quick;
    const struct maar_plan_problem* problem = &quick->problem;
    for (; *ended < problem->count; ++*ended) {
        const uint32_t other =
            pass->backward ? quick->by_first[problem->count - 1 - *ended] : quick->by_last[*ended];
        const bool is_over = pass->backward ? problem->first[other] > problem->last[item]
                                            : problem->last[other] < problem->first[item];
        if (!is_over) {
            break;
        }
        if (is_left_out(pass, other)) {
            continue;
        }
        int64_t align = 0;
        const int64_t begin = pass->offsets[other];
        const int64_t size = room_in_pass(pass, other, &align);
        if (!maar_plan_gaps_give(&quick->gaps, begin, begin + size)) {
            return false;
        }
    }
    return true;
}

static bool go_through_time(const struct quick_pass* pass)
{
    struct maar_plan_quick* quick = pass->quick;
    const uint32_t count = quick->problem.count;
    uint32_t ended = 0;
    maar_plan_gaps_reset(&quick->gaps);
    for (uint32_t k = 0; k < count; ++k) {
        const uint32_t item = pass->backward ? quick->by_last[count - 1 - k] : quick->by_first[k];
        if (is_left_out(pass, item)) {
            continue;
        }
        if (!give_ended(pass, item, &ended)) {
            return false;
        }
        int64_t align = 0;
        const int64_t size = room_in_pass(pass, item, &align);
        const int64_t at = align > 0 ? maar_plan_gaps_take(&quick->gaps, size, align) : -1;
        if (at < 0) {
            return false;
        }
        pass->offsets[item] = at;
    }
    return true;
}

bool maar_plan_quick_pass(struct maar_plan_quick* quick, bool backward, int64_t* offsets)
{
    const struct quick_pass pass = {.quick = quick, .offsets = offsets, .backward = backward};
    return go_through_time(&pass);
}

bool maar_plan_quick_apart(struct maar_plan_quick* quick, bool backward, int64_t* offsets)
{
    struct quick_pass pass = {
        .quick = quick, .offsets = offsets, .backward = backward, .apart = true};
    for (; pass.kind < MAAR_PLAN_KINDS; ++pass.kind) {
        if (!go_through_time(&pass)) {
            return false;
        }
    }
    return maar_plan_stack_kinds(&quick->problem, offsets);
}

bool maar_plan_stack_kinds(const struct maar_plan_problem* problem, int64_t* offsets)
{
    int64_t begin[MAAR_PLAN_KINDS + 1] = {0};
    if (problem->alignment >= MAAR_PLAN_MAX_SIZE) {
        return false;
    }
    for (uint32_t i = 0; i < problem->count; ++i) {
        int64_t* end = &begin[problem->kind_index[i] + 1];
        const int64_t top = offsets[i] + problem->size[i];
        *end = top > *end ? top : *end;
    }
    for (uint32_t k = 1; k < MAAR_PLAN_KINDS; ++k) {
        begin[k] = begin[k - 1] +
                   maar_plan_align_up(begin[k], (int64_t)(problem->alignment / problem->unit));
    }
    for (uint32_t i = 0; i < problem->count; ++i) {
        offsets[i] += begin[problem->kind_index[i]];
    }
    return true;
}

int64_t maar_plan_quick_top(const struct maar_plan_quick* quick, uint32_t item)
{
    const struct maar_plan_problem* problem = &quick->problem;
    int64_t top = 0;
    for (uint32_t k = 0; k < kind_count(problem); ++k) {
        if (maar_plan_floors_are_flat(&quick->floors[k])) {
            continue;
        }
        int64_t floor =
            maar_plan_floors_highest(&quick->floors[k], problem->first[item], problem->last[item]);
        if (problem->mixed && floor > 0 && k != problem->kind_index[item]) {
            floor = maar_plan_granule_top(problem, (uint64_t)floor * problem->unit);
        }
        top = floor > top ? floor : top;
    }
    return maar_plan_align_up(top, problem->align[item]);
}

void maar_plan_quick_raise(struct maar_plan_quick* quick, uint32_t item, int64_t offset)
{
    const struct maar_plan_problem* problem = &quick->problem;
    maar_plan_floors_raise(&quick->floors[problem->kind_index[item]], problem->first[item],
                           problem->last[item], offset + problem->size[item]);
}

void maar_plan_quick_stack(struct maar_plan_quick* quick, const uint32_t* order, int64_t* offsets)
{
    const struct maar_plan_problem* problem = &quick->problem;
    for (uint32_t k = 0; k < kind_count(problem); ++k) {
        maar_plan_floors_reset(&quick->floors[k]);
    }
    for (uint32_t i = 0; i < problem->count; ++i) {
        if (problem->fixed[i] >= 0) {
            offsets[i] = problem->fixed[i];
            maar_plan_quick_raise(quick, i, offsets[i]);
        }
    }
    for (uint32_t k = 0; k < problem->count; ++k) {
        const uint32_t item = order[k];
        if (problem->fixed[item] < 0) {
            offsets[item] = maar_plan_quick_top(quick, item);
            maar_plan_quick_raise(quick, item, offsets[item]);
        }
    }
}
