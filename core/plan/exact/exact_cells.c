/*
 * Bounds where alignments differ. For an alignment a, the space is divided into cells of a bytes.
 * Each item whose alignment is a multiple of a begins at a cell's border. So no two such items that
 * live at the same time touch the same cell. In a clique they need at least the sum of their sizes,
 * each rounded up to a, less the rounding of the topmost item. Each of the alignments with the most
 * rounding makes a level with durations of its own. The bounds without cells, in plan_class.c and
 * exact_bound.c, count the items of all alignments.
 */
#include "core/plan/exact/exact.h"

/* Returns the sum of the bytes by which items are rounded up at an alignment. */
static uint64_t slack_at(const struct maar_plan_problem* problem, int64_t align)
{
    const uint64_t cell = (uint64_t)align * problem->unit;
    uint64_t slack = 0;
    for (uint32_t i = 0; i < problem->count; ++i) {
        const uint64_t rest = problem->align[i] % align == 0 ? problem->bytes[i] % cell : 0;
        slack += rest != 0 ? cell - rest : 0;
    }
    return slack;
}

/* The largest number of different alignments that are compared. Further alignments make no
 * level. */
enum { MAX_ALIGNMENTS = 32 };

/* Chooses the alignments with the most rounding, at most MAAR_PLAN_MAX_LEVELS. */
static void choose_levels(struct maar_plan_problem* problem)
{
    int64_t aligns[MAX_ALIGNMENTS];
    uint64_t slacks[MAX_ALIGNMENTS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < problem->count && count < MAX_ALIGNMENTS; ++i) {
        bool known = problem->align[i] == 1;
        for (uint32_t k = 0; k < count && !known; ++k) {
            known = aligns[k] == problem->align[i];
        }
        if (!known) {
            aligns[count] = problem->align[i];
            slacks[count++] = slack_at(problem, problem->align[i]);
        }
    }
    problem->level_count = 0;
    while (problem->level_count < MAAR_PLAN_MAX_LEVELS) {
        uint32_t best = 0;
        for (uint32_t k = 1; k < count; ++k) {
            best = slacks[k] > slacks[best] ? k : best;
        }
        if (count == 0 || slacks[best] == 0) {
            break;
        }
        problem->levels[problem->level_count++] = (struct maar_plan_level){.align = aligns[best]};
        slacks[best] = 0;
    }
}

static void add_to_cliques(const struct maar_plan_problem* problem, uint32_t item, int64_t duration,
                           int64_t* sums)
{
    if (problem->conflict == NULL) {
        sums[problem->first[item]] += duration;
        sums[problem->last[item] + 1] -= duration;
        return;
    }
    for (uint32_t m = problem->member_begin[item]; m < problem->member_begin[item + 1]; ++m) {
        sums[problem->member[m]] += duration;
    }
}

/* Fills in the durations of a level, and raises the proved bound to that of the heaviest clique. */
static VkResult fill_level(struct maar_plan_problem* problem, struct maar_plan_level* level,
                           struct maar_host_stack* stack)
{
    const uint64_t cell = (uint64_t)level->align * problem->unit;
    level->duration = maar_stack_grab(stack, problem->count, sizeof *level->duration);
    int64_t* sums = maar_stack_grab_zeroed(stack, (size_t)problem->clique_count + 1, sizeof *sums);
    if (level->duration == NULL || sums == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < problem->count; ++i) {
        level->duration[i] = 0;
        if (problem->align[i] % level->align != 0) {
            continue;
        }
        const uint64_t rounded = maar_align_up(problem->bytes[i], cell);
        const uint64_t slack = rounded - problem->bytes[i];
        level->duration[i] = (int64_t)(rounded / problem->unit);
        level->most_slack = slack > level->most_slack ? slack : level->most_slack;
        add_to_cliques(problem, i, level->duration[i], sums);
    }
    int64_t live = 0;
    for (uint32_t s = 0; s < problem->clique_count; ++s) {
        live = problem->conflict == NULL ? live + sums[s] : sums[s];
        const uint64_t bytes = (uint64_t)live * problem->unit;
        if (bytes > level->most_slack && bytes - level->most_slack > problem->proved_bound) {
            problem->proved_bound = bytes - level->most_slack;
        }
    }
    return VK_SUCCESS;
}

VkResult maar_exact_bound_cells(struct maar_plan_problem* problem, struct maar_host_stack* stack)
{
    choose_levels(problem);
    VkResult result = VK_SUCCESS;
    for (uint32_t k = 0; k < problem->level_count && result == VK_SUCCESS; ++k) {
        result = fill_level(problem, &problem->levels[k], stack);
    }
    return result;
}
