/*
 * The walk over the frames of a heap, which finds barriers and waits. transient_barrier_frames.c
 * walks; transient_barriers.c has the rules.
 */
#ifndef MAAR_CORE_TRANSIENT_TRANSIENT_WALK_H
#define MAAR_CORE_TRANSIENT_TRANSIENT_WALK_H

#include "core/transient/transient_barrier_log.h"

/* The walk, and its present pass. */
struct maar_walk {
    const struct maar_transient_graph* graph;
    struct maar_transient_state* state;
    struct maar_host_stack scratch;
    struct maar_transient_log* logs; /* by queue */
    uint64_t* clocks;                /* by frame modulo 2, then pass, then queue */
    uint32_t copies; /* the heap's copies: a frame and the next one in its copy are this number of
                        frames apart */
    bool aliasing_only;
    bool cautious; /* does not rely on barriers of earlier frames */
    uint64_t frame;
    uint32_t pass;
    uint32_t queue;  /* of the pass */
    uint64_t* clock; /* of the pass */
    struct maar_transient_record* record;
};

/* The resource whose last group comes before a resource's first group on the same bytes, and the
 * frame of that last group. */
struct maar_walk_predecessor_group {
    const struct maar_transient_resource* resource;
    uint64_t frame;
    bool foreign; /* another resource */
};

/* The accesses that a barrier must come after on its own queue. */
struct maar_walk_source {
    VkPipelineStageFlags2 stages;
    VkPipelineStageFlags2 write_stages;
    VkAccessFlags2 writes;
};

/* The commands that come after the barrier. */
struct maar_walk_target {
    VkPipelineStageFlags2 stages; /* 0: a barrier is recorded in any case */
    VkAccessFlags2 access;
};

/* ---- transient_waits.c ---- */

/* Returns the position of a pass on its queue, counted over frames. */
uint64_t maar_walk_position(const struct maar_walk* w, uint32_t pass, uint64_t frame);
/* Returns how many passes of each queue semaphores have ordered before a pass of this frame or the
 * last one. */
uint64_t* maar_walk_clock(const struct maar_walk* w, uint32_t pass, uint64_t frame);
const struct maar_transient_group*
maar_walk_last_group(const struct maar_transient_resource* resource);
/* Whether a use makes, or waits for, the barrier that orders its group on its queue. */
bool maar_walk_begins(const struct maar_transient_group* group,
                      const struct maar_transient_use* use, uint32_t index);
/* Whether a resource keeps its contents and is used in one way only. Its first change of layout was
 * then its last write. */
bool maar_walk_never_changes(const struct maar_transient_resource* resource);
/* Finds predecessor number `at` of a resource's first group. Returns false at the end. */
bool maar_walk_predecessor(const struct maar_walk* w, uint32_t resource, uint32_t at,
                           struct maar_walk_predecessor_group* found);
/* Whether a resource shares its bytes with no other, and a frame leaves it as the next one needs
 * it. Its contents then need not be discarded. */
bool maar_walk_stays(const struct maar_walk* w, uint32_t index);
/* Makes the waits of the pass, and its clock. */
void maar_walk_waits(struct maar_walk* w);

/* ---- transient_sources.c ---- */

/* Adds to a source the accesses of a group on the pass's queue that neither semaphores nor earlier
 * barriers order. */
void maar_walk_gather(const struct maar_walk* w, const struct maar_transient_resource* resource,
                      const struct maar_transient_group* group, uint64_t frame,
                      const struct maar_walk_target* target, struct maar_walk_source* source);
/* Adds to a source those gathered writes that are not available yet to a barrier with these source
 * stages. */
void maar_walk_gather_landing(const struct maar_walk* w,
                              const struct maar_walk_predecessor_group* before,
                              VkPipelineStageFlags2 src_stages, struct maar_walk_source* source);
/* Makes a global barrier come after a source, if the source has any stages. */
void maar_walk_order_after(struct maar_transient_global* global,
                           const struct maar_walk_source* source, VkPipelineStageFlags2 dst_stages,
                           VkAccessFlags2 dst_access);

#endif
