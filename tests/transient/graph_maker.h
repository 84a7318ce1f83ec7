/*
 * Graphs of transients for tests: built by hand, with one call for each pass or use, or at random.
 */
#ifndef MAAR_TESTS_TRANSIENT_GRAPH_MAKER_H
#define MAAR_TESTS_TRANSIENT_GRAPH_MAKER_H

#include "tests/rig/rig.h"

enum {
    GRAPH_PASSES = 32,
    GRAPH_RESOURCES = 32,
    GRAPH_USES = 16,
    GRAPH_DEPENDENCIES = 64,
    GRAPH_QUEUES = 4
};

/* How a pass uses a resource. */
enum graph_use {
    GRAPH_COMPUTE_WRITE,
    GRAPH_COMPUTE_READ,
    GRAPH_COMPUTE_UPDATE, /* reads and writes */
    GRAPH_FRAGMENT_READ,
    GRAPH_COPY_FROM,
    GRAPH_COPY_TO,
    GRAPH_TRANSFER_WRITE, /* by any transfer command */
    GRAPH_TRANSFER_READ,
    GRAPH_COLOR_WRITE,
    GRAPH_DEPTH_UPDATE, /* early and late tests */
    GRAPH_SHADERS_READ, /* vertex, fragment and compute */
    GRAPH_USE_KINDS
};

/* Must not move once something was added, since the graph points into it. */
struct graph_maker {
    MaarTransientGraph graph;
    MaarTransientQueue queues[GRAPH_QUEUES];
    MaarTransientPass passes[GRAPH_PASSES];
    MaarTransientDependency dependencies[GRAPH_DEPENDENCIES];
    MaarTransientResource resources[GRAPH_RESOURCES];
    VkBufferCreateInfo buffers[GRAPH_RESOURCES];
    VkImageCreateInfo images[GRAPH_RESOURCES];
    VkImageViewCreateInfo views[GRAPH_RESOURCES];
    MaarTransientUse uses[GRAPH_RESOURCES][GRAPH_USES];
    char names[GRAPH_RESOURCES][16];
    uint32_t previous[GRAPH_RESOURCES];
    uint32_t families[2];
};

/* Returns the profile with at least two queue families, which random graphs need. Valid until the
 * next call. */
const MaarSimulatedProfile* graph_profile(const MaarSimulatedProfile* profile);

/* Makes an empty graph with queues of these families. */
void graph_init(struct graph_maker* g, uint32_t queue_count, const uint32_t* families);
uint32_t graph_pass(struct graph_maker* g, uint32_t queue);
void graph_depend(struct graph_maker* g, uint32_t before, uint32_t after);
uint32_t graph_buffer(struct graph_maker* g, VkDeviceSize size);
/* Adds an RGBA8 image, with one view of all of it. */
uint32_t graph_image(struct graph_maker* g, uint32_t width, uint32_t height);
void graph_use(struct graph_maker* g, uint32_t resource, uint32_t pass, enum graph_use use);
/* Returns the passes in an order that queues and dependencies allow, the lowest index first where
 * there is a choice. Returns false if they make a circle. */
bool graph_order(const struct graph_maker* g, uint32_t* order);
/* Lets the families of all queues use a resource at the same time. */
void graph_share(struct graph_maker* g, uint32_t resource);

/* Makes a random graph with at most these numbers of passes and resources. Each resource is written
 * before it is read. */
void graph_randomize(struct graph_maker* g, struct rig_random* random, uint32_t queues,
                     uint32_t families, uint32_t passes, uint32_t resources);

#endif
