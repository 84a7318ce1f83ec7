/*
 * The host's view of allocations: one counted mapping for each block.
 */
#ifndef MAAR_CORE_MEMORY_MAPPING_H
#define MAAR_CORE_MEMORY_MAPPING_H

#include "core/memory/block.h"
#include "core/memory/slot_table.h"

/* Maps the block once more, for the slot. No lock may be held. */
VkResult maar_block_map(struct maar_block* block, struct maar_slot* slot, void** data);
/* Takes one mapping of the slot back; false when the slot is mapped no more than `keep` times. */
bool maar_block_unmap(struct maar_block* block, struct maar_slot* slot, uint32_t keep);
/* The address of a slot's first byte, or NULL while the slot is not mapped. */
void* maar_slot_address(struct maar_slot* slot);

#endif
