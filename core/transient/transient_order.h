/*
 * The order of a frame: the order of its passes, and of the uses of each resource.
 */
#ifndef MAAR_CORE_TRANSIENT_TRANSIENT_ORDER_H
#define MAAR_CORE_TRANSIENT_TRANSIENT_ORDER_H

#include "core/transient/transient_graph.h"

/* ---- transient_pass_order.c ---- */

/* Sorts passes and uses, makes groups, and adds waits where the program gave no order. */
VkResult maar_transient_sort(MaarAllocator allocator, const char* call,
                             const MaarTransientGraph* info, struct maar_host_stack* stack,
                             struct maar_transient_graph* graph);
/* Whether a pass has ended when another one begins. */
static inline bool maar_transient_precedes(const struct maar_transient_graph* graph,
                                           uint32_t before, uint32_t after)
{
    const struct maar_transient_pass* pass = &graph->passes[before];
    return graph->clocks[(size_t)after * graph->queue_count + pass->queue] > pass->position;
}

/* ---- transient_use_groups.c ---- */

/* Puts the uses of each resource into the order of the passes, lists them by pass, and makes
 * groups. Returns VK_ERROR_OUT_OF_HOST_MEMORY, or misuse for a pass that uses a resource twice. */
VkResult maar_transient_group_uses(MaarAllocator allocator, const char* call,
                                   const MaarTransientGraph* info, struct maar_host_stack* stack,
                                   struct maar_transient_graph* graph);

#endif
