/*
 * Measures of items, and sorting by them.
 */
#include "core/plan/problem/plan_rank.h"

#include "core/plan/problem/plan_floors.h"

#include <string.h>

/* Returns the size of the heaviest clique of an item. floors: NULL, or the totals as a tree. */
static uint64_t clique_total(const struct maar_plan_problem* problem, const uint64_t* totals,
                             const struct maar_plan_floors* floors, uint32_t item, uint64_t* width)
{
    uint64_t most = 0;
    if (problem->conflict == NULL) {
        *width = problem->last[item] - problem->first[item] + 1;
        if (floors != NULL) {
            return (uint64_t)maar_plan_floors_highest(floors, problem->first[item],
                                                      problem->last[item]);
        }
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

/* Returns the number of bits that are set (Warren, Hacker's Delight, 5-1). */
static uint64_t count_set_bits(uint64_t word)
{
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return word * 0x0101010101010101u >> 56;
}

static uint64_t count_conflicts(const struct maar_plan_problem* problem, uint32_t item)
{
    const uint64_t* row = problem->conflict + item * problem->conflict_words;
    uint64_t count = 1;
    for (size_t w = 0; w < problem->conflict_words; ++w) {
        count += count_set_bits(row[w]);
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
    const bool many = problem->conflict == NULL && problem->clique_count > MAAR_PLAN_FEW_CLIQUES;
    struct maar_plan_floors floors;
    if (many && !maar_plan_floors_init(&floors, problem->clique_count, stack)) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t s = 0; s < problem->clique_count && many; ++s) {
        maar_plan_floors_raise(&floors, s, s, (int64_t)totals[s]);
    }
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
        measure->total = clique_total(problem, totals, many ? &floors : NULL, i, &measure->width);
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

static void merge_keys(struct maar_plan_key* keys, struct maar_plan_key* other, uint32_t count)
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

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

static uint32_t digit_of(const struct maar_plan_key* key, bool second, uint32_t shift)
{
    const uint64_t value = second ? key->second : key->first;
    return DIGITS - 1 - (uint32_t)(value >> shift & (DIGITS - 1));
}

/* Moves the keys from one array to the other, sorted by one digit, the largest first. Keeps the
 * order of equal digits. */
static void move_by_digit(const struct maar_plan_key* from, struct maar_plan_key* to,
                          uint32_t count, bool second, uint32_t shift)
{
    uint32_t at[DIGITS] = {0};
    for (uint32_t k = 0; k < count; ++k) {
        ++at[digit_of(&from[k], second, shift)];
    }
    for (uint32_t digit = 0, sum = 0; digit < DIGITS; ++digit) {
        const uint32_t here = at[digit];
        at[digit] = sum;
        sum += here;
    }
    for (uint32_t k = 0; k < count; ++k) {
        to[at[digit_of(&from[k], second, shift)]++] = from[k];
    }
}

/* The number of keys from which on sorting by digits is quicker than merging. */
enum { DIGITS_FROM = 512 };

void maar_plan_sort_keys(struct maar_plan_key* keys, struct maar_plan_key* other, uint32_t count)
{
    if (count < DIGITS_FROM) {
        merge_keys(keys, other, count);
        return;
    }
    uint64_t differ[2] = {0, 0}; /* the bits in which keys differ */
    for (uint32_t k = 1; k < count; ++k) {
        differ[0] |= keys[k].first ^ keys[0].first;
        differ[1] |= keys[k].second ^ keys[0].second;
    }
    struct maar_plan_key* from = keys;
    struct maar_plan_key* to = other;
    for (uint32_t second = 2; second-- > 0;) {
        for (uint32_t shift = 0; shift < 64; shift += DIGIT_BITS) {
            if ((differ[second] >> shift & (DIGITS - 1)) != 0) {
                move_by_digit(from, to, count, second != 0, shift);
                struct maar_plan_key* swapped = from;
                from = to;
                to = swapped;
            }
        }
    }
    if (from != keys) {
        memcpy(keys, from, count * sizeof *keys);
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
