/*
 * Records that another room keeps for single allocations: what it knows of a movable object. They
 * are kept beside the handle table, in host memory that exists only where allocations have records.
 * The slots with records are among those that objects own (maar_slot::owned).
 *
 * The room that owns a record says which lock guards it.
 */
#ifndef MAAR_CORE_MEMORY_SLOT_RECORD_H
#define MAAR_CORE_MEMORY_SLOT_RECORD_H

#include "core/memory/slot_side.h"

/* The records of an allocator. */
struct maar_slot_records {
    struct maar_slot_side side;
};

/* Ensures that a slot can have a record. Returns VK_ERROR_OUT_OF_HOST_MEMORY or VK_SUCCESS. */
VkResult maar_slot_record_reserve(struct maar_slot_records* records,
                                  const VkAllocationCallbacks* callbacks, uint32_t index);
/* Gives a slot a record, which is host memory of its own, and says what keeps the allocation from
 * moving (a MaarMoveObstacle). The slot is reserved. */
void maar_slot_record_put(struct maar_slot_records* records, uint32_t index, void* record,
                          uint32_t obstacle);
/* Returns the record of a slot, or NULL. */
void* maar_slot_record_of(const struct maar_slot_records* records, uint32_t index);
/* Takes the record of a slot away, and returns it. */
void* maar_slot_record_take(struct maar_slot_records* records, uint32_t index);
/* Returns what keeps the allocation of a slot with a record from moving. Needs no lock. */
uint32_t maar_slot_record_obstacle(const struct maar_slot_records* records, uint32_t index);
/* Frees the table. The records are freed by their owners. */
void maar_slot_records_destroy(struct maar_slot_records* records,
                               const VkAllocationCallbacks* callbacks);

#endif
