/*
 * The host's access to allocations: one counted mapping for each block. The public map functions
 * and copies call this file. A block's map lock guards its mapping; no lock may be held by the
 * caller.
 */
#ifndef MAAR_CORE_MEMORY_MAPPING_H
#define MAAR_CORE_MEMORY_MAPPING_H

#include "core/memory/block.h"
#include "core/memory/slot_table.h"
#include "maar/allocator.h"

/* Maps the block for a slot, or counts one more mapping, and returns the address of the slot's
 * first byte in *data. */
VkResult maar_slot_map(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                       void** data);
/* Does the same where no other thread can free or move the allocation: its slot is claimed, or not
 * published yet. */
VkResult maar_slot_map_own(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                           void** data);
/* Does the same for as long as the allocation exists: the program cannot end this mapping. The
 * handle of the allocation was not returned to the program yet. */
VkResult maar_slot_map_for_life(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                                void** data);
/* Map a pinned block of memory that the host sees, and end that mapping. *mapped receives its
 * address. */
VkResult maar_block_map(MaarAllocator allocator, struct maar_block* block, char** mapped);
void maar_block_unmap(MaarAllocator allocator, struct maar_block* block);
/* Ends one mapping of a slot. Returns false when the slot is mapped at most `keep` times. */
bool maar_slot_unmap(MaarAllocator allocator, struct maar_slot* slot, uint32_t keep);
/* Whether an allocation is mapped, which another thread may free meanwhile. No lock may be held. */
bool maar_slot_is_mapped(MaarAllocator allocator, const struct maar_slot* slot, uint64_t handle);
/* Returns the address of a slot's first byte, or NULL while the slot is not mapped. */
void* maar_slot_address(MaarAllocator allocator, const struct maar_slot* slot);

/*
 * Do the work of the public functions with similar names, for a live slot. They report under the
 * name of `call`.
 */
VkResult maar_slot_flush(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                         VkDeviceSize offset, VkDeviceSize size);
VkResult maar_slot_invalidate(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                              VkDeviceSize offset, VkDeviceSize size);
/* Flushes or invalidates where no other thread can free or move the allocation: see
 * maar_slot_map_own. */
VkResult maar_slot_sync_own(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                            VkDeviceSize offset, VkDeviceSize size, bool flushes);
VkResult maar_slot_copy_to(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                           VkDeviceSize offset, VkDeviceSize size, const void* source);
VkResult maar_slot_copy_from(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                             VkDeviceSize offset, VkDeviceSize size, void* destination);

#endif
