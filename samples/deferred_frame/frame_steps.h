/*
 * The frame's tables as a graph for Maar. The graph has one step for each pass. With poison,
 * another step precedes each pass that is the first to use a resource. Indices of resources are
 * those of enum frame_resource.
 */
#ifndef MAAR_SAMPLE_FRAME_STEPS_H
#define MAAR_SAMPLE_FRAME_STEPS_H

#include "frame_tables.h"
#include "maar/transient.h"
#include "sample_device.h"

#define FRAME_MAX_STEPS 96
#define FRAME_MAX_DEPENDENCIES 4

struct frame_step {
    uint32_t pass;
    uint32_t queue;
    /* The step fills those resources with garbage that the pass is the first to use. */
    bool poisons;
};

struct frame_graph {
    MaarTransientGraph graph;
    struct frame_step steps[FRAME_MAX_STEPS];
    uint32_t step_count;
    uint32_t first_pass[FRAME_RESOURCE_COUNT]; /* the first pass that uses each resource */
    MaarTransientQueue queues[SAMPLE_MAX_QUEUES];
    MaarTransientDependency dependencies[FRAME_MAX_DEPENDENCIES];
    MaarTransientPass passes[FRAME_MAX_STEPS];
    MaarTransientResource resources[FRAME_RESOURCE_COUNT];
    MaarTransientUse uses[FRAME_RESOURCE_COUNT][FRAME_MAX_STEPS];
    VkImageCreateInfo images[FRAME_RESOURCE_COUNT];
    VkImageViewCreateInfo views[FRAME_RESOURCE_COUNT];
    VkBufferCreateInfo buffers[FRAME_RESOURCE_COUNT];
};

/* Fills in a graph. A graph is large and points into itself: it must not be moved and should not
 * lie on the stack. */
void frame_graph_build(struct frame_graph* graph, uint32_t width, uint32_t height,
                       const struct sample_device* device, bool poison);

/* Returns whether a poisoning step poisons a resource. */
bool frame_step_poisons(const struct frame_graph* graph, const struct frame_step* step,
                        enum frame_resource resource);

/* Returns the stages of a use. */
VkPipelineStageFlags2 frame_use_stages(const struct frame_pass_info* pass,
                                       const struct frame_use* use);

VkImageAspectFlags frame_resource_aspect(enum frame_resource resource);

#endif
