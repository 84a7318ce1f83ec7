/*
 * The host's view of allocations: one counted mapping for each block.
 */
#ifndef MAAR_CORE_MEMORY_MAPPING_H
#define MAAR_CORE_MEMORY_MAPPING_H

#include "core/memory/block.h"
#include "core/memory/slot_table.h"

/* Maps the slot's block once more, for the slot, or reports why not. No lock may be held. */
VkResult maar_slot_map(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                       void** data);
/* Takes one mapping of the slot back; false when the slot is mapped no more than `keep` times. */
bool maar_slot_unmap(struct maar_slot* slot, uint32_t keep);
/* The address of a slot's first byte, or NULL while the slot is not mapped. */
void* maar_slot_address(struct maar_slot* slot);

#endif
