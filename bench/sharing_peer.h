/*
 * The ways to make many buffers of one device usable on another, for bench_sharing.
 */
#ifndef MAAR_BENCH_SHARING_PEER_H
#define MAAR_BENCH_SHARING_PEER_H

#include "bench/sharing_device.h"

#include <stdbool.h>

/* The location of a buffer on one side. */
struct sharing_place {
    VkDeviceMemory memory;
    VkDeviceSize offset;
};

/* One buffer on one side. All zero means none. */
struct sharing_end {
    VkBuffer buffer;
    union {
        MaarAllocation maar;
        void* pointer;
        VkDeviceMemory memory; /* the buffer's own */
    } allocation;
};

struct sharing_item {
    VkDeviceSize size;
    struct sharing_end ends[SHARING_SIDES];
};

struct sharing_peer {
    const char* name;
    void* (*open)(const struct sharing_devices* devices);
    /* Creates and binds an exportable buffer on the exporter's side. Returns false and creates
     * nothing when an allocation fails. */
    bool (*create)(void* state, struct sharing_item* item);
    /* Creates a buffer on the same bytes on the importer's side. Returns false and creates nothing
     * without a descriptor or memory. */
    bool (*hand_over)(void* state, struct sharing_item* item);
    /* Destroys both sides' buffers, of which the second may not exist. */
    void (*destroy)(void* state, struct sharing_item* item);
    void (*close)(void* state); /* also frees all remaining memory */
    void (*place)(void* state, const struct sharing_item* item,
                  struct sharing_place places[SHARING_SIDES]);
};

/* Maar, with each block imported once; Maar, with the block imported again for each buffer, like a
 * program that does not know blocks.
 */
extern const struct sharing_peer sharing_peer_maar;
extern const struct sharing_peer sharing_peer_maar_each;
#if MAAR_BENCH_VMA
/* The same two ways with VMA, which misses a part that the benchmark adds. */
extern const struct sharing_peer sharing_peer_vma;
extern const struct sharing_peer sharing_peer_vma_each;
#endif
#if MAAR_BENCH_MAAR_VMA
/* The same file, on maar::vma. */
extern const struct sharing_peer sharing_peer_maar_vma;
extern const struct sharing_peer sharing_peer_maar_vma_each;
#endif
/* One VkDeviceMemory for each buffer, with Vulkan alone. */
extern const struct sharing_peer sharing_peer_single;

/* The importer's side without Maar: imports the bytes of a memory's handle, creates a buffer and
 * binds it. */
VkResult sharing_import_raw(const struct sharing_devices* devices, VkDeviceMemory memory,
                            VkDeviceSize size, VkDeviceMemory* imported);
VkResult sharing_bind_raw(const struct sharing_side* side, VkDeviceSize size, VkDeviceMemory memory,
                          VkDeviceSize offset, VkBuffer* buffer);

#endif
