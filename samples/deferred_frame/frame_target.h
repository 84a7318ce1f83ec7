/*
 * The transients of one way to render, with or without aliasing: Maar's heap for the frame's graph,
 * and the descriptors of its resources.
 */
#ifndef MAAR_SAMPLE_FRAME_TARGET_H
#define MAAR_SAMPLE_FRAME_TARGET_H

#include "frame_assets.h"
#include "frame_pipelines.h"
#include "frame_steps.h"

struct frame_target {
    struct frame_graph graph;
    MaarTransientHeap heap;
    MaarTransientHeapInfo info;
    MaarTransientResourceInfo resources[FRAME_RESOURCE_COUNT];
    VkDescriptorPool pool;
    VkDescriptorSet frame_set;
    VkDescriptorSet sets[FRAME_MAX_PASSES];
};

/* Plans a heap and creates the objects that the flags allow. Prints an error on failure. The caller
 * destroys the target in every case. A target is large and points into itself: it must not be moved
 * and should not lie on the stack. */
bool frame_target_create(struct frame_target* target, struct sample_device* device,
                         const struct frame_options* options, MaarTransientHeapCreateFlags flags);

/* Creates the descriptors of all resources that the passes use. */
bool frame_target_describe(struct frame_target* target, struct sample_device* device,
                           const struct frame_pipelines* pipelines,
                           const struct frame_assets* assets);

void frame_target_destroy(struct frame_target* target, struct sample_device* device);

#endif
