/*
 * Checks of graphs, and the names of resources and passes in messages.
 */
#ifndef MAAR_CORE_TRANSIENT_TRANSIENT_CHECK_H
#define MAAR_CORE_TRANSIENT_TRANSIENT_CHECK_H

#include "core/transient/transient_graph.h"

/* How messages name a resource or a pass: by its index, and by its name where it has one. */
struct maar_transient_label {
    char text[104];
};
struct maar_transient_label maar_transient_label_resource(uint32_t index, const char* name);
struct maar_transient_label maar_transient_label_pass(uint32_t index, const char* name);
VkResult maar_transient_check(MaarAllocator allocator, const char* call,
                              const MaarTransientGraph* info);
/* Warns of resources that are read before any pass has written them. */
void maar_transient_warn(MaarAllocator allocator, const char* call, const MaarTransientGraph* info,
                         const struct maar_transient_graph* graph);

#endif
