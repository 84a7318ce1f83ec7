/*
 * The way through the frames of a heap on which barriers and waits are found;
 * transient_barrier_frames.c says how it goes, transient_barriers.c by which rules.
 */
#ifndef MAAR_CORE_TRANSIENT_TRANSIENT_WALK_H
#define MAAR_CORE_TRANSIENT_TRANSIENT_WALK_H

#include "core/transient/transient_barrier_log.h"

/* The way through the frames. */
struct maar_walk {
    const struct maar_transient_graph* graph;
    struct maar_transient_state* state;
    struct maar_host_stack scratch;
    struct maar_transient_log* logs; /* by queue */
    uint64_t* clocks;                /* by frame modulo 2, pass and queue */
    uint32_t copies;                 /* how many frames of the program lie between two of these */
    bool aliasing_only;
    bool cautious; /* barriers of earlier frames are not counted on */
    uint64_t frame;
    uint32_t pass;
    uint32_t queue;  /* of the pass */
    uint64_t* clock; /* of the pass */
    struct maar_transient_record* record;
};

/* Whose last group comes before a resource's first one, on its bytes, and in which frame. */
struct maar_walk_predecessor_group {
    const struct maar_transient_resource* resource;
    uint64_t frame;
    bool foreign; /* another resource */
};

/* What a barrier must come after, on its own queue. */
struct maar_walk_source {
    VkPipelineStageFlags2 stages;
    VkPipelineStageFlags2 write_stages;
    VkAccessFlags2 writes;
};

/* How what comes after will be recorded. */
struct maar_walk_target {
    VkPipelineStageFlags2 stages; /* 0: a barrier is recorded in any case */
    VkAccessFlags2 access;
};

/* ---- transient_waits.c ---- */

/* Where a pass is on its queue, counted over frames. */
uint64_t maar_walk_position(const struct maar_walk* w, uint32_t pass, uint64_t frame);
/* How many passes of each queue semaphores have ordered before a pass of this frame or the last. */
uint64_t* maar_walk_clock(const struct maar_walk* w, uint32_t pass, uint64_t frame);
const struct maar_transient_group*
maar_walk_last_group(const struct maar_transient_resource* resource);
/* Whether a use makes or waits for what orders its group on its queue. */
bool maar_walk_begins(const struct maar_transient_group* group,
                      const struct maar_transient_use* use, uint32_t index);
/* A resource whose contents are kept, used in one way only: what wrote it was its first layout. */
bool maar_walk_never_changes(const struct maar_transient_resource* resource);
/* Goes through the predecessors of a resource's first group: number `at` of them. */
bool maar_walk_predecessor(const struct maar_walk* w, uint32_t resource, uint32_t at,
                           struct maar_walk_predecessor_group* found);
/* Nobody else has its bytes, and a frame leaves it as the next one wants it: what was there need
 * not be thrown away. */
bool maar_walk_stays(const struct maar_walk* w, uint32_t index);
/* The waits of the pass, and its clock. */
void maar_walk_waits(struct maar_walk* w);

/* ---- transient_sources.c ---- */

/* Adds the accesses of a group on the pass's queue that neither semaphores nor earlier barriers
 * order. */
void maar_walk_gather(const struct maar_walk* w, const struct maar_transient_resource* resource,
                      const struct maar_transient_group* group, uint64_t frame,
                      const struct maar_walk_target* target, struct maar_walk_source* source);
/* Of writes that were gathered, those that have not landed for a barrier with these source stages.
 */
void maar_walk_gather_landing(const struct maar_walk* w,
                              const struct maar_walk_predecessor_group* before,
                              VkPipelineStageFlags2 src_stages, struct maar_walk_source* source);
/* Makes a global barrier come after what is owed. */
void maar_walk_order_after(struct maar_transient_global* global,
                           const struct maar_walk_source* source, VkPipelineStageFlags2 dst_stages,
                           VkAccessFlags2 dst_access);

#endif
