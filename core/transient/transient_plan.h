/*
 * The driver's requirements of the resources of a graph, and the places of the resources.
 */
#ifndef MAAR_CORE_TRANSIENT_TRANSIENT_PLAN_H
#define MAAR_CORE_TRANSIENT_TRANSIENT_PLAN_H

#include "core/transient/transient_state.h"

/* ---- transient_requirements.c ---- */

/* Asks the driver for the requirements of the resources. Those that are the same in an old state
 * are copied from there. */
VkResult maar_transient_require(const struct maar_transient_heap* heap,
                                const MaarTransientGraph* info, const uint32_t* previous,
                                struct maar_transient_state* state);
/* Returns the create info for the allocation of a class or resource. lazy: in lazily allocated
 * memory. */
MaarAllocationCreateInfo maar_transient_how(const struct maar_transient_heap* heap, bool lazy);

/* ---- transient_plan.c ---- */

/* Plans the graph, and makes the classes and edges of the plan. */
VkResult maar_transient_place(const struct maar_transient_heap* heap, const char* call,
                              const uint32_t* previous, struct maar_transient_state* state);

#endif
