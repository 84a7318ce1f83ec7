/*
 * Tables beside the handle table: see slot_side.h.
 */
#include "core/memory/slot_side.h"

#include "core/host_memory.h"

/* Returns the number of pages of a segment. */
static size_t count_pages(uint32_t segment)
{
    return ((size_t)maar_slot_segment_size(segment) + MAAR_SLOT_SIDE_PAGE - 1) >>
           MAAR_SLOT_SIDE_BITS;
}

/* Returns what a pointer has, or else new memory of zeros, which it has from then on. Returns NULL
 * if host memory is short. */
static void* ensure_zeros(maar_atomic_pointer* pointer, const VkAllocationCallbacks* callbacks,
                          size_t count, size_t size)
{
    void* there = maar_atomic_pointer_load(pointer);
    if (there != NULL) {
        return there;
    }
    void* made = maar_host_calloc(callbacks, count, size);
    while (made != NULL && !maar_atomic_pointer_replace(pointer, &there, made)) {
        if (there != NULL) {
            maar_host_free(callbacks, made);
            return there;
        }
    }
    return made;
}

VkResult maar_slot_side_reserve(struct maar_slot_side* side, const VkAllocationCallbacks* callbacks,
                                uint32_t index, size_t size)
{
    const uint32_t segment = maar_slot_segment(index);
    const size_t page = maar_slot_place(index, segment) >> MAAR_SLOT_SIDE_BITS;
    maar_atomic_pointer* pages =
        ensure_zeros(&side->segments[segment], callbacks, count_pages(segment), sizeof pages[0]);
    return pages != NULL && ensure_zeros(&pages[page], callbacks, MAAR_SLOT_SIDE_PAGE, size) != NULL
               ? VK_SUCCESS
               : VK_ERROR_OUT_OF_HOST_MEMORY;
}

void maar_slot_side_destroy(struct maar_slot_side* side, const VkAllocationCallbacks* callbacks)
{
    for (uint32_t i = 0; i < MAAR_SLOT_SEGMENTS; ++i) {
        maar_atomic_pointer* pages = maar_atomic_pointer_load(&side->segments[i]);
        for (size_t k = 0; pages != NULL && k < count_pages(i); ++k) {
            maar_host_free(callbacks, maar_atomic_pointer_load(&pages[k]));
        }
        maar_host_free(callbacks, pages);
    }
}
