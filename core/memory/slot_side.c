/*
 * Tables beside the handle table: see slot_side.h.
 */
#include "core/memory/slot_side.h"

#include "core/host_memory.h"

VkResult maar_slot_side_reserve(struct maar_slot_side* side, const VkAllocationCallbacks* callbacks,
                                uint32_t index, size_t size)
{
    if (maar_slot_side_at(side, index, size) != NULL) {
        return VK_SUCCESS;
    }
    const uint32_t segment = maar_slot_segment(index);
    void* made = maar_host_calloc(callbacks, maar_slot_segment_size(segment), size);
    void* none = NULL;
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    while (!maar_atomic_pointer_replace(&side->segments[segment], &none, made)) {
        if (none != NULL) {
            maar_host_free(callbacks, made);
            break;
        }
    }
    return VK_SUCCESS;
}

void maar_slot_side_destroy(struct maar_slot_side* side, const VkAllocationCallbacks* callbacks)
{
    for (uint32_t i = 0; i < MAAR_SLOT_SEGMENTS; ++i) {
        maar_host_free(callbacks, maar_atomic_pointer_load(&side->segments[i]));
    }
}
