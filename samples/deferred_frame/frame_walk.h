/*
 * A walk records the real barriers and submissions, and each step's uses at the place of their
 * recording, for the checker of support/hazards. A walk replaces functions in volk's table, so that
 * it receives every recorded command.
 */
#ifndef MAAR_SAMPLE_FRAME_WALK_H
#define MAAR_SAMPLE_FRAME_WALK_H

#include "frame_target.h"

struct frame_walk;

/* Starts a walk, which records until frame_walk_stop(). Only one walk may exist. Returns NULL when
 * out of memory. */
struct frame_walk* frame_walk_start(const struct sample_device* device,
                                    const struct frame_target* target,
                                    const struct frame_assets* assets);

void frame_walk_stop(struct frame_walk* walk);

void frame_walk_destroy(struct frame_walk* walk);

/* Report the place of the recording, then the step's uses, then its accesses to the picture. `walk`
 * may be NULL. */
void frame_walk_begin_step(struct frame_walk* walk, uint32_t frame, uint32_t step);
void frame_walk_use(struct frame_walk* walk, VkCommandBuffer commands);
void frame_walk_picture(struct frame_walk* walk, VkCommandBuffer commands,
                        VkPipelineStageFlags2 stages, VkAccessFlags2 access);

struct frame_walk_result {
    uint32_t findings;        /* of the complete walk */
    uint64_t pairs;           /* compared pairs of accesses */
    uint32_t barriers, waits; /* of the first frames; each was omitted in turn */
    uint32_t unnoticed;       /* the number of these whose omission the checker did not notice */
};

/* Checks the walk. Prints the findings, and the barriers and waits whose omission the checker does
 * not notice. */
void frame_walk_check(const struct frame_walk* walk, struct frame_walk_result* result);

#endif
