/*
 * Measures of items, and sorting by them.
 */
#include "core/plan/problem/plan_rank.h"

#include <string.h>

static uint64_t clique_total(const struct maar_plan_problem* problem, const uint64_t* totals,
                             uint32_t item, uint64_t* width)
{
    uint64_t most = 0;
    if (problem->conflict == NULL) {
        *width = problem->last[item] - problem->first[item] + 1;
        for (uint32_t s = problem->first[item]; s <= problem->last[item]; ++s) {
            most = totals[s] > most ? totals[s] : most;
        }
        return most;
    }
    *width = problem->member_begin[item + 1] - problem->member_begin[item];
    for (uint32_t m = problem->member_begin[item]; m < problem->member_begin[item + 1]; ++m) {
        most = totals[problem->member[m]] > most ? totals[problem->member[m]] : most;
    }
    return most;
}

static uint64_t count_conflicts(const struct maar_plan_problem* problem, uint32_t item)
{
    uint64_t count = 1;
    for (uint32_t k = 0; k < problem->count; ++k) {
        count += maar_plan_has(problem->conflict + item * problem->conflict_words, k);
    }
    return count;
}

static void sum_cliques(const struct maar_plan_problem* problem, uint64_t* totals)
{
    for (uint32_t i = 0; i < problem->count; ++i) {
        const uint64_t size = (uint64_t)problem->size[i];
        if (problem->conflict == NULL) {
            totals[problem->first[i]] += size;
            totals[problem->last[i] + 1] -= size;
            continue;
        }
        for (uint32_t m = problem->member_begin[i]; m < problem->member_begin[i + 1]; ++m) {
            totals[problem->member[m]] += size;
        }
    }
    for (uint32_t s = 1; problem->conflict == NULL && s < problem->clique_count; ++s) {
        totals[s] += totals[s - 1];
    }
}

VkResult maar_plan_measure_items(const struct maar_plan_problem* problem,
                                 struct maar_host_stack* stack, struct maar_plan_measure** measures)
{
    const struct maar_plan_graph* graph = problem->graph;
    struct maar_plan_measure* list = maar_stack_grab(stack, problem->count, sizeof *list);
    uint64_t* totals = maar_stack_grab_zeroed(stack, (size_t)problem->clique_count + 1, 8);
    *measures = list;
    if (list == NULL || totals == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    sum_cliques(problem, totals);
    uint64_t largest = 0;
    for (uint32_t i = 0; i < problem->count; ++i) {
        const uint64_t size = (uint64_t)problem->size[i];
        largest = size > largest ? size : largest;
    }
    uint32_t shift = 0;
    while (largest >> shift >= (uint64_t)1 << 31) {
        ++shift;
    }
    for (uint32_t i = 0; i < problem->count; ++i) {
        const uint32_t resource = problem->resource[i];
        struct maar_plan_measure* measure = &list[i];
        measure->size = (uint64_t)problem->size[i];
        measure->total = clique_total(problem, totals, i, &measure->width);
        measure->span = problem->conflict == NULL
                            ? (uint64_t)graph->last[resource] - graph->first[resource] + 1
                            : count_conflicts(problem, i);
        measure->area = (measure->size >> shift) * measure->span;
        measure->begin = graph->begin_rank[resource];
    }
    return VK_SUCCESS;
}

static bool goes_first(const struct maar_plan_key* a, const struct maar_plan_key* b)
{
    return a->first > b->first || (a->first == b->first && a->second >= b->second);
}

void maar_plan_sort_keys(struct maar_plan_key* keys, struct maar_plan_key* other, uint32_t count)
{
    for (uint32_t width = 1; width < count; width *= 2) {
        for (uint32_t begin = 0; begin < count; begin += 2 * width) {
            const uint32_t middle = begin + width < count ? begin + width : count;
            const uint32_t end = middle + width < count ? middle + width : count;
            uint32_t a = begin;
            uint32_t b = middle;
            for (uint32_t k = begin; k < end; ++k) {
                const bool left = b == end || (a < middle && goes_first(&keys[a], &keys[b]));
                other[k] = left ? keys[a++] : keys[b++];
            }
        }
        memcpy(keys, other, count * sizeof *keys);
    }
}

VkResult maar_plan_order_by_begin(const struct maar_plan_problem* problem,
                                  struct maar_host_stack* stack, struct maar_plan_key** keys)
{
    *keys = maar_stack_grab(stack, problem->count, sizeof **keys);
    struct maar_plan_key* other = maar_stack_grab(stack, problem->count, sizeof *other);
    if (*keys == NULL || other == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < problem->count; ++i) {
        (*keys)[i] = (struct maar_plan_key){
            .first = UINT32_MAX - problem->graph->begin_rank[problem->resource[i]],
            .item = i,
        };
    }
    maar_plan_sort_keys(*keys, other, problem->count);
    return VK_SUCCESS;
}
