/*
 * The host's own book of what lies where, kept apart from the allocator's: every live allocation as
 * an interval of its VkDeviceMemory, in one balanced tree. It sees overlaps, offsets that are
 * misaligned or outside the block, kinds that share a granularity page, and allocations that moved.
 * Internally synchronized.
 */
#ifndef MAAR_TOOL_CHECKER_H
#define MAAR_TOOL_CHECKER_H

#include "tool_device.h"

/* Where an allocation lies. */
struct tool_place {
    VkDeviceMemory memory;
    VkDeviceSize offset;
    VkDeviceSize size;
    VkDeviceSize block_size;
    MaarResourceKind kind;
    uint32_t memory_type;
};

struct tool_checker;

/* One node per possible allocation. NULL when out of memory. */
struct tool_checker* tool_checker_create(uint32_t node_count, VkDeviceSize granularity);
void tool_checker_destroy(struct tool_checker* checker);

/* Enters allocation `node`; label is its id in the trace. False, and a message, if it is wrong. */
bool tool_checker_insert(struct tool_checker* checker, uint32_t node, uint64_t label,
                         const struct tool_place* place, VkDeviceSize alignment);

/* Takes allocation `node` out; false, and a message, if it lies elsewhere now. */
bool tool_checker_remove(struct tool_checker* checker, uint32_t node,
                         const struct tool_place* place);

/* Nodes for runs of pages, beyond those of the allocations; false, and none, when out of memory. */
bool tool_checker_take_nodes(struct tool_checker* checker, uint32_t count, uint32_t* nodes);
/* They must have been taken out. */
void tool_checker_return_nodes(struct tool_checker* checker, uint32_t count, const uint32_t* nodes);
/* Counts a fault that the caller saw; always false. */
bool tool_checker_complain(struct tool_checker* checker, uint64_t label, const char* what);

/* How many faults were seen. */
uint32_t tool_checker_faults(const struct tool_checker* checker);

#endif
