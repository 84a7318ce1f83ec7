/*
 * The interface of the allocators in the device-level benchmarks: Maar, VulkanMemoryAllocator (if
 * it was found), and the driver alone as a control.
 */
#ifndef MAAR_BENCH_ALLOCATOR_PEER_H
#define MAAR_BENCH_ALLOCATOR_PEER_H

#include "bench/bench_device.h"

#include "maar/allocator.h"

#include <stdatomic.h>

/* One allocation. All zero means none. */
struct allocator_item {
    union {
        uint64_t number;
        MaarAllocation maar;
        void* pointer;
        VkDeviceMemory memory;
    } allocation;
    VkBuffer buffer;
};

/* The device memory that a peer took, as its callbacks report. */
struct allocator_tally {
    atomic_uint_fast64_t calls; /* successful calls of vkAllocateMemory */
    atomic_uint_fast64_t blocks;
    atomic_uint_fast64_t bytes;
    atomic_uint_fast64_t peak_bytes;
};

struct allocator_options {
    bool externally_synchronized;
    VkDeviceSize block_size; /* the preferred size; 0: the allocator's default */
};

/* The location of an allocation. */
struct allocator_place {
    VkDeviceMemory memory;
    VkDeviceSize offset;
    VkDeviceSize block_size; /* UINT64_MAX if unknown */
};

struct allocator_peer {
    const char* name;
    bool is_control; /* the driver without an allocator: suitable only for the named workloads */
    bool on_request; /* takes part only where it is named */
    /* Creates the allocator. Ends the program on failure. `tally` outlives the allocator. */
    void* (*create)(const struct bench_device* device, const struct allocator_options* options,
                    struct allocator_tally* tally);
    void (*destroy)(void* allocator);
    /* Allocates DEVICE_LOCAL memory of any type. Returns false on failure. */
    bool (*allocate)(void* allocator, VkDeviceSize size, VkDeviceSize alignment,
                     struct allocator_item* item);
    void (*free)(void* allocator, const struct allocator_item* item);
    /* Creates a storage buffer in device-local memory. NULL: the peer does not support buffers. */
    bool (*create_buffer)(void* allocator, VkDeviceSize size, struct allocator_item* item);
    void (*destroy_buffer)(void* allocator, const struct allocator_item* item);
    /* Finds the location of an allocation. NULL: the peer places nothing. */
    void (*place)(void* allocator, const struct allocator_item* item,
                  struct allocator_place* place);
};

extern const struct allocator_peer allocator_peer_maar;
#if MAAR_BENCH_VMA
extern const struct allocator_peer allocator_peer_vma;
#endif
#if MAAR_BENCH_MAAR_VMA
/* The same file, on maar::vma. */
extern const struct allocator_peer allocator_peer_maar_vma;
#endif
/* The control that calls vkAllocateMemory and vkFreeMemory. */
extern const struct allocator_peer allocator_peer_driver;
/* The controls that create a buffer and bind it, always to the same block, or only create it. */
extern const struct allocator_peer allocator_peer_bind;
extern const struct allocator_peer allocator_peer_create;

/* The allocators to compare, without the controls. The reference is last. */
extern const struct allocator_peer* const allocator_peers[];
extern const uint32_t allocator_peer_count;

/* Whether a peer takes part, where a list of names is asked for. */
bool allocator_peer_is_listed(const struct allocator_peer* peer, const char* list);

/* Update a tally; for the peers' callbacks. */
void allocator_tally_add(struct allocator_tally* tally, VkDeviceSize size);
void allocator_tally_remove(struct allocator_tally* tally, VkDeviceSize size);

#endif
