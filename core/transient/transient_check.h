/*
 * Checks of graphs, and the names of resources and passes in messages.
 */
#ifndef MAAR_CORE_TRANSIENT_TRANSIENT_CHECK_H
#define MAAR_CORE_TRANSIENT_TRANSIENT_CHECK_H

#include "core/transient/transient_graph.h"

/* The text by which messages name a resource or a pass: its index, and its name where it has
 * one. */
struct maar_transient_label {
    char text[104];
};
/* Return the label of a resource, and of a pass. */
struct maar_transient_label maar_transient_label_resource(uint32_t index, const char* name);
struct maar_transient_label maar_transient_label_pass(uint32_t index, const char* name);
/* Returns VK_SUCCESS for a graph without misuse. Otherwise reports misuse and returns the error. */
VkResult maar_transient_check(MaarAllocator allocator, const char* call,
                              const MaarTransientGraph* info);
/* Warns of resources that are read before any pass has written them. */
void maar_transient_warn(MaarAllocator allocator, const char* call, const MaarTransientGraph* info,
                         const struct maar_transient_graph* graph);

#endif
