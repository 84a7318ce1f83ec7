/*
 * The order of the passes of several queues: clocks, and the longest chain.
 *
 * The clock of a pass says where the first later pass of each queue is, so that one comparison
 * answers whether a pass comes after another one. The chain is a longest path through the order.
 * Each pass lies between two passes of the chain, or is one of them. Positions along the chain are
 * numbered 2 i + 1 for its pass i, and 2 i for what lies between the passes i - 1 and i.
 */
#ifndef MAAR_CORE_PLAN_PLAN_PASSES_H
#define MAAR_CORE_PLAN_PLAN_PASSES_H

#include "core/host_stack.h"
#include "core/plan/problem/plan_problem.h"

/* Where each pass lies along the chain. */
struct maar_plan_chain {
    uint32_t* after;  /* per pass: it is at this position or later */
    uint32_t* before; /* per pass: it is at this position or earlier */
    uint32_t end;     /* the last position */
};

/* Fills in the queues, the positions and the clocks of a graph, and the chain. Rejects an input
 * whose passes form a cycle. Costs O(passes * queues + dependencies * queues). */
VkResult maar_plan_order_passes(const MaarPlanCreateInfo* info, struct maar_host_stack* stack,
                                struct maar_plan_graph* graph, struct maar_plan_chain* chain);

#endif
