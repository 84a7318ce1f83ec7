/*
 * Device memory and its binds: sim_memory.c and sim_bind.c.
 */
#ifndef MAAR_SIM_MEMORY_H
#define MAAR_SIM_MEMORY_H

#include "backends/simulated/sim_object.h"
#include "backends/simulated/sim_share.h"
#include "backends/simulated/sim_tree.h"

/* A live bind, in the tree of its memory by its bytes. */
struct sim_bind {
    struct sim_node node;
    uint64_t resource;
    VkDeviceSize at; /* place in a sparse resource; plane of any other */
    bool linear;
};

struct sim_memory {
    struct sim_object object;
    VkDeviceSize size;
    uint32_t type, heap;
    bool addressable; /* VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT */
    struct sim_share share;
    uint64_t dedicated; /* the handle of the only resource that it may hold, or 0 */
    uint64_t address;   /* its first device address */
    uint8_t* bytes;     /* NULL until first mapped */
    void* pages;        /* the mapped pages that hold `bytes` */
    size_t pages_size;
    uint8_t* states; /* which bytes have been written; NULL until a command reads or writes */
    struct sim_tree intervals; /* accesses, where they are checked */
    bool host_writes;          /* it has been mapped or imported, so the host may write it */
    bool demoted;              /* moves its bytes more slowly; see sim_time.c */
    bool mapped;
    VkDeviceSize map_offset, map_size;
    struct sim_tree binds; /* struct sim_bind */
};

/* Provides host pages for the bytes of a memory. Returns false where the host has none. Lock held.
 */
bool sim_memory_back(struct sim_memory* memory);
/* Frees a memory that has left the table, and all that it owns. Lock free. */
void sim_memory_release(struct sim_memory* memory);
/* Subtracts a memory from the heaps' totals. Lock held. */
void sim_memory_uncount(struct sim_memory* memory);

/* Removes a resource's binds from their memories. Lock held. */
void sim_bind_forget(struct sim_resource* resource);
/* Ensures room for two more binds. Lock held before and after, free during a host allocation, so
 * that the caller must look the memory up again. */
bool sim_bind_reserve(struct sim_device* device, uint64_t memory);
/* Adds a bind for which there is room; removes a bind. Lock held. */
void sim_bind_insert(struct sim_memory* memory, const struct sim_bind* new_bind);
/* Frees the binds of a memory, or the runs of a resource, which nothing uses any more. Lock free.
 */
void sim_tree_release(const VkAllocationCallbacks* callbacks, struct sim_tree* tree);
void sim_bind_remove(struct sim_memory* memory, uint64_t resource, VkDeviceSize at,
                     VkDeviceSize offset);
/* Compares a bind with the others of its memory. Lock held. */
void sim_bind_check_neighbours(const struct sim_memory* memory, enum sim_function function,
                               const struct sim_resource* resource,
                               const struct sim_bind* new_bind);
/* Returns the buffer or image of a handle; NULL when none has it. Lock held. */
struct sim_resource* sim_resource_peek(const struct sim_device* device, uint64_t handle);

#endif
