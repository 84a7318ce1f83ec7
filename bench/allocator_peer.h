/*
 * What the device-level benchmarks ask of an allocator that they measure: Maar,
 * VulkanMemoryAllocator (where it was found), and the bare driver as a control.
 */
#ifndef MAAR_BENCH_ALLOCATOR_PEER_H
#define MAAR_BENCH_ALLOCATOR_PEER_H

#include "bench/bench_device.h"

#include "maar/allocator.h"

#include <stdatomic.h>

/* One allocation. Zero is none. */
struct allocator_item {
    union {
        uint64_t number;
        MaarAllocation maar;
        void* pointer;
        VkDeviceMemory memory;
    } allocation;
    VkBuffer buffer;
};

/* What a peer took from the driver, as its callbacks tell. */
struct allocator_tally {
    atomic_uint_fast64_t calls; /* of vkAllocateMemory that succeeded */
    atomic_uint_fast64_t blocks;
    atomic_uint_fast64_t bytes;
    atomic_uint_fast64_t peak_bytes;
};

struct allocator_options {
    bool externally_synchronized;
    VkDeviceSize block_size; /* preferred; 0: the allocator's own */
};

/* Where an allocation lies. */
struct allocator_place {
    VkDeviceMemory memory;
    VkDeviceSize offset;
    VkDeviceSize block_size; /* UINT64_MAX when nobody knows */
};

struct allocator_peer {
    const char* name;
    bool is_control; /* a driver without an allocator: only what the workload says makes sense */
    /* Ends the program on failure. tally outlives the allocator. */
    void* (*create)(const struct bench_device* device, const struct allocator_options* options,
                    struct allocator_tally* tally);
    void (*destroy)(void* allocator);
    /* DEVICE_LOCAL memory of any type; false when there is none. */
    bool (*allocate)(void* allocator, VkDeviceSize size, VkDeviceSize alignment,
                     struct allocator_item* item);
    void (*free)(void* allocator, const struct allocator_item* item);
    /* A storage buffer in device-local memory. NULL: the peer has no such thing. */
    bool (*create_buffer)(void* allocator, VkDeviceSize size, struct allocator_item* item);
    void (*destroy_buffer)(void* allocator, const struct allocator_item* item);
    /* NULL: nothing is placed. */
    void (*place)(void* allocator, const struct allocator_item* item,
                  struct allocator_place* place);
};

extern const struct allocator_peer allocator_peer_maar;
#if MAAR_BENCH_VMA
extern const struct allocator_peer allocator_peer_vma;
#endif
/* vkAllocateMemory and vkFreeMemory. */
extern const struct allocator_peer allocator_peer_driver;
/* A buffer is created and bound, always to the same block, or created only. */
extern const struct allocator_peer allocator_peer_bind;
extern const struct allocator_peer allocator_peer_create;

/* The allocators to compare, the reference last; not the controls. */
extern const struct allocator_peer* const allocator_peers[];
extern const uint32_t allocator_peer_count;

/* For the peers' callbacks. */
void allocator_tally_add(struct allocator_tally* tally, VkDeviceSize size);
void allocator_tally_remove(struct allocator_tally* tally, VkDeviceSize size);

/* The buffer that all peers create. */
VkBufferCreateInfo allocator_buffer_info(VkDeviceSize size);

#endif
