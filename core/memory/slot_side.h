/*
 * Tables beside the handle table: one item for each slot, in host memory that exists only where a
 * slot has needed one. Segments are added without a lock. Who owns a table says which lock guards
 * its items.
 */
#ifndef MAAR_CORE_MEMORY_SLOT_SIDE_H
#define MAAR_CORE_MEMORY_SLOT_SIDE_H

#include "core/memory/slot_table.h"

/* A table in the segments of the handle table. */
struct maar_slot_side {
    maar_atomic_pointer segments[MAAR_SLOT_SEGMENTS]; /* NULL: no slot there has needed an item */
};

/* Returns the item of a slot, or NULL if its segment has none. size: of an item, bytes. */
static inline void* maar_slot_side_at(const struct maar_slot_side* side, uint32_t index,
                                      size_t size)
{
    const uint32_t segment = maar_slot_segment(index);
    char* first = maar_atomic_pointer_load(&side->segments[segment]);
    return first != NULL ? first + maar_slot_place(index, segment) * size : NULL;
}

/* Ensures that a slot has an item, which is zero at first. Returns VK_ERROR_OUT_OF_HOST_MEMORY or
 * VK_SUCCESS. */
VkResult maar_slot_side_reserve(struct maar_slot_side* side, const VkAllocationCallbacks* callbacks,
                                uint32_t index, size_t size);
/* Frees the table. */
void maar_slot_side_destroy(struct maar_slot_side* side, const VkAllocationCallbacks* callbacks);

#endif
