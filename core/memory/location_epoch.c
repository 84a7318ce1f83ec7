/*
 * Location epochs: see location_epoch.h.
 */
#include "core/memory/location_epoch.h"

#include "core/host_memory.h"

struct epoch {
    uint32_t key; /* of the use of the slot; 0 for none */
    uint32_t count;
};

/* Returns the epoch of a slot, or NULL if its segment has none. */
static struct epoch* epoch_at(const struct maar_epochs* epochs, uint64_t handle)
{
    const uint32_t index = (uint32_t)handle - 1u;
    const uint32_t segment = maar_slot_segment(index);
    struct epoch* first = maar_atomic_pointer_load(&epochs->segments[segment]);
    return first != NULL ? &first[maar_slot_place(index, segment)] : NULL;
}

VkResult maar_epoch_reserve(struct maar_epochs* epochs, const VkAllocationCallbacks* callbacks,
                            uint64_t handle)
{
    if (epoch_at(epochs, handle) != NULL) {
        return VK_SUCCESS;
    }
    const uint32_t segment = maar_slot_segment((uint32_t)handle - 1u);
    void* made = maar_host_calloc(callbacks, maar_slot_segment_size(segment), sizeof(struct epoch));
    void* none = NULL;
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    while (!maar_atomic_pointer_replace(&epochs->segments[segment], &none, made)) {
        if (none != NULL) {
            maar_host_free(callbacks, made);
            break;
        }
    }
    return VK_SUCCESS;
}

void maar_epoch_raise(struct maar_epochs* epochs, uint64_t handle)
{
    struct epoch* epoch = epoch_at(epochs, handle);
    const uint32_t key = (uint32_t)(handle >> 32);
    epoch->count = epoch->key == key ? epoch->count + 1u : 1u;
    epoch->key = key;
}

uint32_t maar_epoch_of(const struct maar_epochs* epochs, uint64_t handle)
{
    const struct epoch* epoch = epoch_at(epochs, handle);
    return epoch != NULL && epoch->key == (uint32_t)(handle >> 32) ? epoch->count : 0;
}

void maar_epochs_destroy(struct maar_epochs* epochs, const VkAllocationCallbacks* callbacks)
{
    for (uint32_t i = 0; i < MAAR_SLOT_SEGMENTS; ++i) {
        maar_host_free(callbacks, maar_atomic_pointer_load(&epochs->segments[i]));
    }
}
