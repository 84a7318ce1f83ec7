/*
 * The frame's tables as a graph for Maar: one step for each pass, and with poison one more in front
 * of each pass that uses something first. Indices of resources are those of enum frame_resource.
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
    /* Fills what the pass uses first with garbage, instead of being the pass. */
    bool poisons;
};

struct frame_graph {
    MaarTransientGraph graph;
    struct frame_step steps[FRAME_MAX_STEPS];
    uint32_t step_count;
    uint32_t first_pass[FRAME_RESOURCE_COUNT]; /* which uses it first */
    MaarTransientQueue queues[SAMPLE_MAX_QUEUES];
    MaarTransientDependency dependencies[FRAME_MAX_DEPENDENCIES];
    MaarTransientPass passes[FRAME_MAX_STEPS];
    MaarTransientResource resources[FRAME_RESOURCE_COUNT];
    MaarTransientUse uses[FRAME_RESOURCE_COUNT][FRAME_MAX_STEPS];
    VkImageCreateInfo images[FRAME_RESOURCE_COUNT];
    VkImageViewCreateInfo views[FRAME_RESOURCE_COUNT];
    VkBufferCreateInfo buffers[FRAME_RESOURCE_COUNT];
};

/* Fills a graph, which is large and points into itself: keep it where it is, and off stacks. */
void frame_graph_build(struct frame_graph* graph, uint32_t width, uint32_t height,
                       const struct sample_device* device, bool poison);

/* Whether a step that poisons does so to a resource. */
bool frame_step_poisons(const struct frame_graph* graph, const struct frame_step* step,
                        enum frame_resource resource);

/* The stages of a use. */
VkPipelineStageFlags2 frame_use_stages(const struct frame_pass_info* pass,
                                       const struct frame_use* use);

VkImageAspectFlags frame_resource_aspect(enum frame_resource resource);

#endif
