/*
 * Retired nodes that are free ranges still: another node takes over before such a range becomes
 * live. Internal to core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_RETIRED_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_RETIRED_H

#include "core/placement/placement_space.h"

/* Returns an unused node that takes the place of a retired one: its extent, its state and its
 * neighbours. placement_has_slots has returned true. */
uint32_t maar_placement_replace(struct maar_placement* placement, uint32_t slot);

#endif
