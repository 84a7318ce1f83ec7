/*
 * What CUDA and HIP have in common: blocks of Maar that they have imported, and timelines that
 * their streams share with Vulkan's queues. A table of functions for each of them holds what
 * differs.
 *
 * A block is imported once, as an attachment, and mapped once; the address of an allocation is that
 * of the block plus an offset. No lock of Maar is held while the peer or the driver is called.
 * Signals that the host carries over arrive on threads of the peer. On these threads, Maar touches
 * only atomics and a gate, and calls only vkSignalSemaphore.
 */
#ifndef MAAR_INTEROP_PEER_PEER_H
#define MAAR_INTEROP_PEER_PEER_H

#include <stdbool.h>

#include "core/memory/attachment.h"
#include "core/memory/slot_table.h"
#include "core/port_handle.h"
#include "core/report.h"
#include "interop/peer/handoff_side.h"
#include "interop/peer/peer_object.h"
#include "maar/cuda.h"

struct maar_peer;

typedef void(VKAPI_PTR* maar_peer_host_fn)(void* data);

/* A block that is about to be imported by the peer. */
struct maar_peer_import {
    maar_port_handle handle; /* whose it is afterwards: maar_peer_driver::takes_descriptors */
    VkDeviceSize size;
    bool dedicated;
};

/*
 * A function that fails reports the peer's error in a message that begins with `call`, the public
 * function. All functions but `enter` and `leave` are called between `enter` and `leave`, on the
 * same thread.
 */
struct maar_peer_driver {
    const char* name; /* for messages */
    enum maar_object_kind timeline_kind;
    /* The peer owns a file descriptor that it has imported, as CUDA does. A peer that does not,
     * HIP, maps the memory and leaves the descriptor open: it is closed here. No peer owns NT
     * handles. */
    bool takes_descriptors;
    /* Makes the peer's device current; *previous is for `leave`. */
    VkResult (*enter)(struct maar_peer* peer, const char* call, int* previous);
    void (*leave)(struct maar_peer* peer, int previous);
    VkResult (*import_block)(struct maar_peer* peer, const char* call,
                             const struct maar_peer_import* import, void** memory);
    VkResult (*map_block)(struct maar_peer* peer, const char* call, void* memory, VkDeviceSize size,
                          uint64_t* pointer);
    void (*unmap_block)(struct maar_peer* peer, uint64_t pointer);
    void (*destroy_block)(struct maar_peer* peer, void* memory);
    /* The functions that follow, except call_host, may be NULL for a peer that shares no
     * semaphores. */
    VkResult (*import_semaphore)(struct maar_peer* peer, const char* call, maar_port_handle handle,
                                 bool timeline, void** semaphore);
    void (*destroy_semaphore)(struct maar_peer* peer, void* semaphore);
    VkResult (*wait)(struct maar_peer* peer, const char* call, void* semaphore, uint64_t value,
                     void* stream);
    VkResult (*signal)(struct maar_peer* peer, const char* call, void* semaphore, uint64_t value,
                       void* stream);
    /* Calls a function on the host when the stream reaches this place. */
    VkResult (*call_host)(struct maar_peer* peer, const char* call, void* stream,
                          maar_peer_host_fn function, void* data);
};

/* The first member of MaarCuda and MaarHip. */
struct maar_peer {
    MaarAllocator allocator;
    const struct maar_peer_driver* driver;
    VkExternalMemoryHandleTypeFlagBits memory_type;
    VkExternalSemaphoreHandleTypeFlagBits semaphore_type;
    bool shares_timelines;
    bool shares_binaries;
    bool calls_host;                /* call_host works, and the device has timeline semaphores */
    struct maar_attachment* blocks; /* guarded by the allocator's share lock */
    struct maar_gate imported;      /* counts the blocks that the peer has */
    maar_atomic64 block_bytes;
    /* objects that belong to the peer and must be destroyed before it */
    maar_atomic32 object_count;
    /* timelines that were destroyed while a signal was under way; guarded by the allocator's share
     * lock */
    struct maar_peer_timeline* kept;
};

/* ---- peer_block.c ---- */

/* A block that the peer has. */
struct maar_peer_block {
    struct maar_attachment attachment; /* first */
    struct maar_peer* peer;
    void* memory;          /* the imported memory; NULL for memory that CUDA made */
    maar_atomic64 pointer; /* the address of its first byte; 0 until it is mapped */
    VkDeviceSize size;
};

/* What to make of a block, and how to undo it. Both functions are called between `enter` and
 * `leave`. */
struct maar_peer_use {
    VkResult (*make)(const char* call, struct maar_peer_block* block, void* data);
    void (*undo)(struct maar_peer_block* block, void* data);
    void* data;
};

/* Makes something of the block of a live slot. Imports the block first if the peer does not have
 * it. If either step fails, neither leaves anything. Reports what is wrong. */
VkResult maar_peer_use_block(struct maar_peer* peer, const char* call, const struct maar_slot* slot,
                             const struct maar_peer_use* use, struct maar_peer_block** block);
/* Resolves an allocation and maps its whole block, unless the block is mapped already. */
VkResult maar_peer_map(struct maar_peer* peer, const char* call, MaarAllocation allocation,
                       struct maar_slot** slot, struct maar_peer_block** block);
/* For attachments of other kinds: these functions add a block to the counts and subtract it. The
 * subtraction must be the last use of the peer. */
void maar_peer_count_block(struct maar_peer* peer, VkDeviceSize size);
void maar_peer_discount_block(struct maar_peer* peer, VkDeviceSize size);
/* Releases everything that was imported. While objects that belong to the peer are alive, reports
 * that and returns false; the peer must then stay. */
bool maar_peer_end(struct maar_peer* peer, const char* call);

/* Returns a new MaarCuda or MaarHip of that size, which begins with its peer. Returns NULL on
 * failure. */
struct maar_peer* maar_peer_make(MaarAllocator allocator, size_t size,
                                 const struct maar_peer_driver* driver);
/* Frees what maar_peer_make made. */
void maar_peer_discard(struct maar_peer* peer);

/* Begins a public call that writes handles. peer may be NULL. */
static inline VkResult maar_peer_enter_outputs(const struct maar_peer* peer, const char* call,
                                               const struct maar_output* outputs)
{
    return maar_enter_outputs(peer != NULL ? peer->allocator : VK_NULL_HANDLE, call, outputs);
}

/* Begins a public call that takes a structure. peer may be NULL. */
static inline VkResult maar_peer_enter(const struct maar_peer* peer, const char* call,
                                       const char* name, const void* structure, int wanted)
{
    if (peer == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    VkResult result = maar_enter(peer->allocator);
    return result == VK_SUCCESS
               ? maar_check_structure(peer->allocator, call, name, structure, wanted)
               : result;
}

/* ---- peer_timeline.c ---- */

struct maar_carrier;

/* The object behind a MaarCudaTimeline or a MaarHipTimeline. */
struct maar_peer_timeline {
    struct maar_peer_object object; /* first */
    MaarHandoffMode mode;
    VkSemaphore semaphore; /* BINARY: the semaphore that Vulkan signals */
    VkSemaphore returning; /* BINARY: the semaphore that the peer signals */
    void* imported;        /* both semaphores as the peer imported them; NULL with HOST */
    void* imported_returning;
    struct maar_mutex lock; /* guards what follows */
    struct maar_handoff_side vulkan;
    struct maar_handoff_side other;
    struct maar_carrier* carriers; /* signals that the host carries over; used again */
    uint64_t carried;              /* the highest value that the host was to carry over */
    struct maar_gate carrying;     /* counts the signals that the host still has to carry over */
    maar_atomic32 carry_result;    /* not 0: the VkResult of a signal that failed */
    struct maar_peer_timeline* next_kept;
};

/* A handoff to or from any peer. */
struct maar_peer_handoff {
    uint64_t value;
    void* stream;
    uint32_t queue;
    uint32_t resource_count;
    const MaarHandoffResource* resources;
};

MaarHandoffMode maar_peer_best_mode(const struct maar_peer* peer);
/* Makes a timeline and its handle. On failure, *handle stays as it is. */
VkResult maar_peer_timeline_create(struct maar_peer* peer, const char* call, MaarHandoffMode mode,
                                   uint64_t initial, uint64_t* handle);
/* Begins a public call that uses a timeline, as maar_peer_object_enter does. */
VkResult maar_peer_timeline_enter(const struct maar_peer* peer, const char* call, uint64_t handle,
                                  struct maar_peer_timeline** timeline);
/* Destroys the timeline that a handle names. Accepts 0, and NULL as the peer. Waits for the signals
 * that the host still has to carry over. If one does not arrive in time, keeps the timeline, and
 * with it the peer. */
void maar_peer_timeline_destroy(const struct maar_peer* peer, const char* call, uint64_t handle);
/* Releases the kept timelines whose signals have all arrived. */
void maar_peer_timelines_end_kept(struct maar_peer* peer);
/* Check a value and return the point that Vulkan signals or waits for. From then on, the value
 * counts as signalled or waited for. */
VkResult maar_peer_point_to_signal(struct maar_peer_timeline* timeline, const char* call,
                                   uint64_t value, MaarPoint* point);
VkResult maar_peer_point_to_wait(struct maar_peer_timeline* timeline, const char* call,
                                 uint64_t value, MaarPoint* point);
VkResult maar_peer_wait(struct maar_peer_timeline* timeline, const char* call, uint64_t value,
                        void* stream);
VkResult maar_peer_signal(struct maar_peer_timeline* timeline, const char* call, uint64_t value,
                          void* stream);

/* The steps of handoffs. Every signal and every wait has a function that begins it and one that
 * ends it. The functions that begin a step report misuse. */
VkResult maar_peer_begin_signal(struct maar_peer_timeline* timeline, const char* call,
                                struct maar_handoff_side* side, uint64_t value,
                                struct maar_side_step* step);
void maar_peer_end_signal(struct maar_peer_timeline* timeline, struct maar_handoff_side* side,
                          const struct maar_side_step* step, bool success);
VkResult maar_peer_begin_wait(struct maar_peer_timeline* timeline, const char* call,
                              struct maar_handoff_side* side, uint64_t value);
void maar_peer_end_wait(struct maar_peer_timeline* timeline, struct maar_handoff_side* side,
                        bool success);
/* Return the points that Vulkan's queues signal and wait for. */
MaarPoint maar_peer_signal_point(const struct maar_peer_timeline* timeline, uint64_t value);
MaarPoint maar_peer_wait_point(const struct maar_peer_timeline* timeline, uint64_t value);

/* ---- peer_handoff.c ---- */

/* The type of the two functions that follow. */
typedef VkResult (*maar_peer_hand_fn)(struct maar_peer_timeline* timeline, const char* call,
                                      const struct maar_peer_handoff* handoff);

VkResult maar_peer_release(struct maar_peer_timeline* timeline, const char* call,
                           const struct maar_peer_handoff* handoff);
VkResult maar_peer_acquire(struct maar_peer_timeline* timeline, const char* call,
                           const struct maar_peer_handoff* handoff);

#endif
