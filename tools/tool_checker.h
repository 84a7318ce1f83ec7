/*
 * The checker's own record of all live allocations, independent of the allocator. One balanced tree
 * holds each allocation as an interval of its VkDeviceMemory. The checker finds overlaps, offsets
 * that are misaligned or outside the block, kinds that share a granularity page, and allocations
 * that have moved. Internally synchronized.
 */
#ifndef MAAR_TOOL_CHECKER_H
#define MAAR_TOOL_CHECKER_H

#include "tool_device.h"

/* The location of an allocation. */
struct tool_place {
    VkDeviceMemory memory;
    VkDeviceSize offset;
    VkDeviceSize size;
    VkDeviceSize block_size;
    MaarResourceKind kind;
    uint32_t memory_type;
};

struct tool_checker;

/* Creates a checker with one node for each possible allocation. Returns NULL when out of memory. */
struct tool_checker* tool_checker_create(uint32_t node_count, VkDeviceSize granularity);
void tool_checker_destroy(struct tool_checker* checker);

/* Adds allocation `node`; `label` is its id in the trace. Prints a message and returns false if the
 * location is wrong. */
bool tool_checker_insert(struct tool_checker* checker, uint32_t node, uint64_t label,
                         const struct tool_place* place, VkDeviceSize alignment);

/* Removes allocation `node`. Prints a message and returns false if its location has changed. */
bool tool_checker_remove(struct tool_checker* checker, uint32_t node,
                         const struct tool_place* place);

/* Takes nodes for runs of pages. Returns false, and takes none, when out of memory. */
bool tool_checker_take_nodes(struct tool_checker* checker, uint32_t count, uint32_t* nodes);
/* Returns nodes, which must not be in the tree. */
void tool_checker_return_nodes(struct tool_checker* checker, uint32_t count, const uint32_t* nodes);
/* Prints and counts a fault that the caller found. Always returns false. */
bool tool_checker_complain(struct tool_checker* checker, uint64_t label, const char* what);

/* Returns the number of faults found. */
uint32_t tool_checker_faults(const struct tool_checker* checker);

#endif
