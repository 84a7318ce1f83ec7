/*
 * Location epochs: how often the bytes of an allocation have moved. They are kept beside the handle
 * table, in host memory that exists only where allocations have moved. An epoch belongs to one use
 * of its slot, by the key.
 *
 * An epoch is raised and read under the lock of its allocation's arena.
 */
#ifndef MAAR_CORE_MEMORY_LOCATION_EPOCH_H
#define MAAR_CORE_MEMORY_LOCATION_EPOCH_H

#include "core/memory/slot_side.h"

/* The epochs of an allocator. */
struct maar_epochs {
    struct maar_slot_side side;
};

/* Ensures that the epoch of an allocation can be raised. Returns VK_ERROR_OUT_OF_HOST_MEMORY or
 * VK_SUCCESS. */
VkResult maar_epoch_reserve(struct maar_epochs* epochs, const VkAllocationCallbacks* callbacks,
                            uint64_t handle);
/* Counts a move. */
void maar_epoch_raise(struct maar_epochs* epochs, uint64_t handle);
/* Returns how often an allocation has moved. */
uint32_t maar_epoch_of(const struct maar_epochs* epochs, uint64_t handle);
/* Frees all epochs. */
void maar_epochs_destroy(struct maar_epochs* epochs, const VkAllocationCallbacks* callbacks);

#endif
