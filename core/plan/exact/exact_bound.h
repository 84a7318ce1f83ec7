/*
 * Bounds of a node, and the choice of the next item.
 */
#ifndef MAAR_CORE_PLAN_EXACT_EXACT_BOUND_H
#define MAAR_CORE_PLAN_EXACT_EXACT_BOUND_H

#include "core/plan/exact/exact_search.h"

/* Sorts entries by release, then by rank. Fast for entries that are nearly sorted. */
void maar_exact_sort_entries(struct maar_exact_entry* entries, uint32_t count);
/* Brings load, floor and lowest of the cliques of a node up to date. Returns false when no solution
 * lies below the node. */
bool maar_exact_bound(struct maar_exact_search* search, const struct maar_exact_node* node);
/* Returns whether load, floor and lowest of the cliques that are not out of date are those of the
 * node. Computes them from nothing, so it is slow. */
bool maar_exact_is_current(const struct maar_exact_search* search,
                           const struct maar_exact_node* node);
enum maar_exact_lift { MAAR_EXACT_LIFT_FAILS, MAAR_EXACT_LIFT_SAME, MAAR_EXACT_LIFT_MOVED };

/* Raises the releases of skipped items. Fails when no other item can lift a skipped item, or only
 * to an offset above the highest offset of the item. One pass reads the releases from before the
 * pass, so the next pass may raise more. Widens `changed` by the sections of raised items. */
enum maar_exact_lift maar_exact_lift(struct maar_exact_search* search,
                                     struct maar_exact_entry* entries, uint32_t count,
                                     struct maar_exact_range* changed);
/* Returns the index of the entry to decide on next. maar_exact_bound must have returned true for
 * the node. */
uint32_t maar_exact_choose(const struct maar_exact_search* search,
                           const struct maar_exact_node* node);

#endif
