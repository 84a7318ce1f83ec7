/*
 * The barriers and waits of frames and passes. Creating or updating a transient heap calls these
 * functions.
 */
#ifndef MAAR_CORE_TRANSIENT_TRANSIENT_BARRIERS_H
#define MAAR_CORE_TRANSIENT_TRANSIENT_BARRIERS_H

#include "core/transient/transient_walk.h"

/* ---- transient_barrier_frames.c ---- */

/* Makes the barriers and waits of all passes of a state that has been planned. */
VkResult maar_transient_record(const struct maar_transient_heap* heap,
                               struct maar_transient_state* state);

/* ---- transient_barriers.c ---- */

/* Makes the waits and barriers of one pass of one frame. */
void maar_walk_pass(struct maar_walk* w);

#endif
