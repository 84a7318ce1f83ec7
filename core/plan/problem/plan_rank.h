/*
 * Orders of the items of a problem. The measures of how hard an item is to place are integers, so
 * that they are the same on every machine.
 */
#ifndef MAAR_CORE_PLAN_PROBLEM_PLAN_RANK_H
#define MAAR_CORE_PLAN_PROBLEM_PLAN_RANK_H

#include "core/host_stack.h"
#include "core/plan/problem/plan_problem.h"

/* Properties of an item; larger is harder. */
struct maar_plan_measure {
    uint64_t span;  /* passes of its lifetime; with several queues: 1 plus its conflicts */
    uint64_t width; /* number of cliques that it is in */
    uint64_t size;  /* units */
    uint64_t total; /* units: size of the heaviest clique that it is in */
    uint64_t area;  /* size times span; large sizes are scaled down so that it fits */
    uint64_t begin; /* place of its first use in the order of passes */
};

/* An item and its sort keys. */
struct maar_plan_key {
    uint64_t first;
    uint64_t second;
    uint32_t item;
};

/* Measures all items. Returns VK_ERROR_OUT_OF_HOST_MEMORY or VK_SUCCESS. */
VkResult maar_plan_measure_items(const struct maar_plan_problem* problem,
                                 struct maar_host_stack* stack,
                                 struct maar_plan_measure** measures);
/* Sorts keys by `first`, then by `second`, the largest first. Keeps the order of equal keys.
 * `other` has room for the same number of keys. */
void maar_plan_sort_keys(struct maar_plan_key* keys, struct maar_plan_key* other, uint32_t count);

/* Lists all items in the order in which they begin. So an item that comes before another one in
 * time is before it in the list. */
VkResult maar_plan_order_by_begin(const struct maar_plan_problem* problem,
                                  struct maar_host_stack* stack, struct maar_plan_key** keys);

#endif
