/*
 * The bytes that a frame would take without sharing of bytes: a figure to compare with.
 */
#ifndef MAAR_CORE_TRANSIENT_TRANSIENT_REUSE_H
#define MAAR_CORE_TRANSIENT_TRANSIENT_REUSE_H

#include "core/transient/transient_graph.h"

/* Returns the bytes that whole objects would take if each is reused for resources of the same
 * create info. */
VkDeviceSize maar_transient_reuse(struct maar_host_stack* stack,
                                  const struct maar_transient_graph* graph);

#endif
