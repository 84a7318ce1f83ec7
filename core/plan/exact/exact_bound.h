/*
 * Bounds of a node, and the choice of the next item.
 */
#ifndef MAAR_CORE_PLAN_EXACT_EXACT_BOUND_H
#define MAAR_CORE_PLAN_EXACT_EXACT_BOUND_H

#include "core/plan/exact/exact_search.h"

/* Sorts entries that are nearly sorted. */
void maar_exact_sort_entries(struct maar_exact_entry* entries, uint32_t count);
/* Fills load and floor for a node. Returns false when an item does not fit. */
bool maar_exact_bound(struct maar_exact_search* search, const struct maar_exact_node* node);
enum maar_exact_lift { MAAR_EXACT_LIFT_FAILS, MAAR_EXACT_LIFT_SAME, MAAR_EXACT_LIFT_MOVED };

/* Raises the releases of skipped items. Fails when no item can lift one of them, or only above the
 * capacity. One pass uses the releases from before it, so the next pass may raise more. */
enum maar_exact_lift maar_exact_lift(struct maar_exact_search* search,
                                     struct maar_exact_entry* entries, uint32_t count);
/* Returns the entry to decide on next, after maar_exact_bound. */
uint32_t maar_exact_choose(const struct maar_exact_search* search,
                           const struct maar_exact_node* node);

#endif
