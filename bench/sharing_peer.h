/*
 * Ways to make many buffers of one device usable on another, for bench_sharing.
 */
#ifndef MAAR_BENCH_SHARING_PEER_H
#define MAAR_BENCH_SHARING_PEER_H

#include "bench/sharing_device.h"

#include <stdbool.h>

/* Where a buffer lies on one side. */
struct sharing_place {
    VkDeviceMemory memory;
    VkDeviceSize offset;
};

/* One buffer on one side. Zero is none. */
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
    /* A buffer that can be exported, bound, on the exporter's side. False, with nothing made, when
     * there is no memory for it. */
    bool (*create)(void* state, struct sharing_item* item);
    /* A buffer on the same bytes, on the importer's side. False, with nothing made, when there is
     * no descriptor or no memory. */
    bool (*hand_over)(void* state, struct sharing_item* item);
    /* Both ends, of which the second may not exist. */
    void (*destroy)(void* state, struct sharing_item* item);
    void (*close)(void* state); /* whatever memory is left goes too */
    void (*place)(void* state, const struct sharing_item* item,
                  struct sharing_place places[SHARING_SIDES]);
};

/* Each block imported once; each buffer's block imported anew, as one who knows of no blocks does.
 */
extern const struct sharing_peer sharing_peer_maar;
extern const struct sharing_peer sharing_peer_maar_each;
#if MAAR_BENCH_VMA
/* The same two, written around VMA. */
extern const struct sharing_peer sharing_peer_vma;
extern const struct sharing_peer sharing_peer_vma_each;
#endif
/* A VkDeviceMemory for each buffer, with Vulkan alone. */
extern const struct sharing_peer sharing_peer_single;

/* The importer's side without Maar: imports so many bytes as the handle of memory says, makes a
 * buffer and binds it. */
VkResult sharing_import_raw(const struct sharing_devices* devices, VkDeviceMemory memory,
                            VkDeviceSize size, VkDeviceMemory* imported);
VkResult sharing_bind_raw(const struct sharing_side* side, VkDeviceSize size, VkDeviceMemory memory,
                          VkDeviceSize offset, VkBuffer* buffer);

#endif
