/*
 * What a capture records of calls of the driver that concern memory: failures, mappings and
 * budgets. Each function returns at once if no capture goes on.
 */
#ifndef MAAR_CORE_MEMORY_CAPTURED_DRIVER_H
#define MAAR_CORE_MEMORY_CAPTURED_DRIVER_H

#include "core/memory/block.h"
#include "core/memory/capture_entry.h"
#include "core/memory/device_memory.h"

/* Records that vkAllocateMemory failed. No lock may be held. */
void maar_capture_failure(MaarAllocator allocator, const struct maar_device_memory_info* info,
                          VkResult result, uint64_t duration_ns);
/* Records the budgets of the driver, if they are due. No lock may be held. */
void maar_capture_budgets(MaarAllocator allocator);
/* Records that a block was mapped, or will be unmapped. The map lock is held. */
void maar_capture_mapping(MaarAllocator allocator, struct maar_block* block, bool mapped);

#endif
