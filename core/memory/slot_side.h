/*
 * Tables beside the handle table: one item for each slot, in host memory that exists only where a
 * slot has needed one. An item lies in a page of few items, so to reserve one costs the same in a
 * table of any size. Segments and pages are added without a lock. Who owns a table says which lock
 * guards its items.
 */
#ifndef MAAR_CORE_MEMORY_SLOT_SIDE_H
#define MAAR_CORE_MEMORY_SLOT_SIDE_H

#include "core/memory/slot_table.h"

/* A page has 2^8 items: 4 KiB of those of 16 bytes, which is a page of host memory. */
enum { MAAR_SLOT_SIDE_BITS = 8, MAAR_SLOT_SIDE_PAGE = 1 << MAAR_SLOT_SIDE_BITS };

/* A table in the segments of the handle table. */
struct maar_slot_side {
    /* Of each segment its pages, as an array of maar_atomic_pointer. NULL, like a page: no slot
     * there has needed an item. */
    maar_atomic_pointer segments[MAAR_SLOT_SEGMENTS];
};

/* Returns the item of a slot, or NULL if its page does not exist. size: of an item, bytes. */
static inline void* maar_slot_side_at(const struct maar_slot_side* side, uint32_t index,
                                      size_t size)
{
    const uint32_t segment = maar_slot_segment(index);
    const size_t place = maar_slot_place(index, segment);
    const maar_atomic_pointer* pages = maar_atomic_pointer_load(&side->segments[segment]);
    char* first =
        pages != NULL ? maar_atomic_pointer_load(&pages[place >> MAAR_SLOT_SIDE_BITS]) : NULL;
    return first != NULL ? first + place % MAAR_SLOT_SIDE_PAGE * size : NULL;
}

/* Ensures that a slot has an item, which is zero at first. Returns VK_ERROR_OUT_OF_HOST_MEMORY or
 * VK_SUCCESS. */
VkResult maar_slot_side_reserve(struct maar_slot_side* side, const VkAllocationCallbacks* callbacks,
                                uint32_t index, size_t size);
/* Frees the table. */
void maar_slot_side_destroy(struct maar_slot_side* side, const VkAllocationCallbacks* callbacks);

#endif
