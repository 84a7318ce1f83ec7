/*
 * The walk: barriers and submissions as they were really recorded, and each step's uses where it
 * was recorded, for the checker of support/hazards. It listens in volk's table, so that nothing
 * that is recorded passes it by.
 */
#ifndef MAAR_SAMPLE_FRAME_WALK_H
#define MAAR_SAMPLE_FRAME_WALK_H

#include "frame_target.h"

struct frame_walk;

/* Listens from here on until frame_walk_stop; one walk at a time. NULL when memory runs out. */
struct frame_walk* frame_walk_start(const struct sample_device* device,
                                    const struct frame_target* target,
                                    const struct frame_assets* assets);

void frame_walk_stop(struct frame_walk* walk);

void frame_walk_destroy(struct frame_walk* walk);

/* Told where the recording has come to, then of the step's uses, then of what it does to the
 * picture; walk may be NULL. */
void frame_walk_begin_step(struct frame_walk* walk, uint32_t frame, uint32_t step);
void frame_walk_use(struct frame_walk* walk, VkCommandBuffer commands);
void frame_walk_picture(struct frame_walk* walk, VkCommandBuffer commands,
                        VkPipelineStageFlags2 stages, VkAccessFlags2 access);

struct frame_walk_result {
    uint32_t findings;        /* of the walk as it was */
    uint64_t pairs;           /* of accesses that were compared */
    uint32_t barriers, waits; /* of the first frames: each was left out in turn; */
    uint32_t unnoticed;       /* without so many of them there was nothing to find */
};

/* Walks; complains of findings, and of barriers and waits that nobody missed. */
void frame_walk_check(const struct frame_walk* walk, struct frame_walk_result* result);

#endif
