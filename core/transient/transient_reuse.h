/*
 * What a frame would take without aliasing of bytes: a figure to compare with.
 */
#ifndef MAAR_CORE_TRANSIENT_TRANSIENT_REUSE_H
#define MAAR_CORE_TRANSIENT_TRANSIENT_REUSE_H

#include "core/transient/transient_graph.h"

/* Bytes that whole objects would take, each reused for the same create info. */
VkDeviceSize maar_transient_reuse(struct maar_host_stack* stack,
                                  const struct maar_transient_graph* graph);

#endif
