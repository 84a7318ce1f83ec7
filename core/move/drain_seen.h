/*
 * The blocks that a run has seen: a heap, so that no part of the work sorts all of them. The caller
 * synchronizes the calls on one run.
 */
#ifndef MAAR_CORE_MOVE_DRAIN_SEEN_H
#define MAAR_CORE_MOVE_DRAIN_SEEN_H

#include "core/memory/allocator_state.h"
#include "core/move/drain_state.h"

/* Adds a block to those that were seen. Returns false if there is no host memory. */
bool maar_drain_push_seen(struct maar_drain_run* run, const struct maar_drain_block* block);
/* Takes the block of the lowest rank out of those that were seen. Returns false if there is none.
 */
bool maar_drain_pop_seen(struct maar_drain_run* run, struct maar_drain_block* block);

#endif
