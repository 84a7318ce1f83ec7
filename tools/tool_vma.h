/*
 * Replays a trace with VulkanMemoryAllocator, to compare. Only where the build found its header.
 * Single-threaded.
 */
#ifndef MAAR_TOOL_VMA_H
#define MAAR_TOOL_VMA_H

#include "tool_device.h"

#include "support/trace.h"

/* What VulkanMemoryAllocator takes for a trace. */
struct tool_vma_outcome {
    bool measured; /* otherwise all else is zero */
    uint64_t peak_reserved_bytes;
    uint32_t peak_blocks;
    uint64_t device_allocation_calls; /* of vkAllocateMemory, failed ones included */
    uint64_t failures;
};

/* Replays a trace on an open device, with the resources that a replay with Maar creates there.
 * Leaves the outcome unmeasured, and prints the reason, if the replay cannot be made; prints
 * nothing if the command was built without VulkanMemoryAllocator. `block_size` 0 is the default. */
void tool_vma_run(const struct tool_device* tool, const struct support_trace* trace,
                  VkDeviceSize block_size, struct tool_vma_outcome* outcome);

#endif
