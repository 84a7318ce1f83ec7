/*
 * A list of pairs of items that grows on a stack. A pair may be added several times and is kept
 * once. While a list grows, nothing else may be taken from its stack and given back.
 */
#ifndef MAAR_CORE_PLAN_PLAN_PAIRS_H
#define MAAR_CORE_PLAN_PLAN_PAIRS_H

#include "core/host_stack.h"

/* The item before and the item after. */
struct maar_plan_pair {
    uint32_t before;
    uint32_t after;
};

struct maar_plan_pairs {
    struct maar_host_stack* stack;
    uint32_t bound; /* all items are below */
    struct maar_plan_pair* list;
    uint32_t count;
    uint32_t room;
    bool failed; /* host memory was short */
};

/* Adds a pair. After a failure it does nothing. */
void maar_plan_add_pair(struct maar_plan_pairs* pairs, uint32_t before, uint32_t after);
/* Sorts the pairs by `after`, then `before`, and removes repetitions. */
void maar_plan_settle_pairs(struct maar_plan_pairs* pairs);

#endif
