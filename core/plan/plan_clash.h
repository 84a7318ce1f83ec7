/*
 * Finds items that live at the same time and overlap, among items whose offsets are given.
 */
#ifndef MAAR_CORE_PLAN_PLAN_CLASH_H
#define MAAR_CORE_PLAN_PLAN_CLASH_H

#include "core/host_stack.h"
#include "core/plan/problem/plan_problem.h"

/* A clash of two items; one below the other in their numbers. */
struct maar_plan_clash {
    bool found;
    uint32_t one;
    uint32_t other;
};

/* Walks over the addresses. offsets: units, or -1 for an item that is not placed. If `drop` is
 * false, stops at the first clash and fills in *clash. If it is true, drops the smaller item of
 * each clash that has no fixed offset, by setting its offset to -1. Costs O(n log n); where kinds
 * are mixed, each pair of items that share a granule is looked at. Returns
 * VK_ERROR_OUT_OF_HOST_MEMORY or VK_SUCCESS. */
VkResult maar_plan_find_clash(const struct maar_plan_problem* problem, int64_t* offsets, bool drop,
                              struct maar_host_stack* stack, struct maar_plan_clash* clash);

#endif
