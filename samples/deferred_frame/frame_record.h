/*
 * Records a step of a frame: Maar's barriers before and after it, and its work in between.
 */
#ifndef MAAR_SAMPLE_FRAME_RECORD_H
#define MAAR_SAMPLE_FRAME_RECORD_H

#include "frame_target.h"

struct frame_walk;

struct frame_recording {
    struct sample_device* device;
    const struct frame_options* options;
    const struct frame_scene* scene;
    const struct frame_pipelines* pipelines;
    const struct frame_assets* assets;
    const struct frame_target* target;
    struct frame_walk* walk; /* receives each use; may be NULL */
    VkCommandBuffer commands;
    uint32_t frame;
};

/* Records a step into a command buffer that has begun. */
void frame_record_step(const struct frame_recording* recording, uint32_t step,
                       const MaarTransientPassBarriers* barriers);

#endif
