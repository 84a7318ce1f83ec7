/*
 * The plan of a run that empties blocks: which blocks, and where each allocation goes. It is made
 * on a map (drain_map.h), before anything moves, so what does not fit is tried again at no cost.
 *
 * For each pool the blocks stand in the order of their live bytes. The first n of them are emptied
 * at level 0: all their allocations fit into gaps, the largest first, for the largest n that a
 * search finds. These blocks move the fewest bytes that are possible. Then one block after another
 * is tried whose allocations find no gap: a *window* of another block makes way, if all that lies
 * in it finds gaps. Of the blocks that can be emptied in this way the cheapest one is the next
 * level.
 *
 * All work consists of short parts. The caller synchronizes the calls on one run. No lock may be
 * held.
 */
#ifndef MAAR_CORE_MOVE_DRAIN_PLAN_H
#define MAAR_CORE_MOVE_DRAIN_PLAN_H

#include "core/move/drain_work.h"
#include "core/move/plan_state.h"

struct maar_drain_plan* maar_drain_plan_create(MaarAllocator allocator);
void maar_drain_plan_destroy(MaarAllocator allocator, struct maar_drain_plan* plan);
/* Frees some of its host memory, which the run needs no longer: at most *most pieces, which it
 * counts down. Returns whether none is left. */
bool maar_drain_plan_shrink(MaarAllocator allocator, struct maar_drain_plan* plan, uint32_t* most);
/* Ensures that a block can be added. Returns false if there is no host memory. */
bool maar_drain_plan_reserve(struct maar_drain_run* run);
/* Adds a block that the plan may empty, in the order of live bytes. */
void maar_drain_plan_add(struct maar_drain_run* run, const struct maar_drain_block* block);

/* Does a part of the work. */
enum maar_drain_result maar_drain_plan_work(struct maar_drain_run* run);

#endif
