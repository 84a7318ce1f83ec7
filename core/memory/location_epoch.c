/*
 * Location epochs: see location_epoch.h.
 */
#include "core/memory/location_epoch.h"

struct epoch {
    uint32_t key; /* of the use of the slot; 0 for none */
    uint32_t count;
};

/* Returns the epoch of a slot, or NULL if its segment has none. */
static struct epoch* epoch_at(const struct maar_epochs* epochs, uint64_t handle)
{
    return maar_slot_side_at(&epochs->side, (uint32_t)handle - 1u, sizeof(struct epoch));
}

VkResult maar_epoch_reserve(struct maar_epochs* epochs, const VkAllocationCallbacks* callbacks,
                            uint64_t handle)
{
    return maar_slot_side_reserve(&epochs->side, callbacks, (uint32_t)handle - 1u,
                                  sizeof(struct epoch));
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
    maar_slot_side_destroy(&epochs->side, callbacks);
}
