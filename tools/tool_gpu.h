/*
 * Verification by the device itself. The device fills every allocation with a pattern whose seed is
 * the allocation's id. Before the allocation is freed, the device counts the bytes that still hold
 * the pattern.
 *
 * Storage buffers that alias the allocator's whole blocks reach the bytes, in windows of at most
 * maxStorageBufferRange. Where the driver binds no such buffer, copies of the resource reach them.
 * Jobs are recorded in the order of the calls and run in batches, each after a barrier. One mutex
 * makes the verifier internally synchronized. The mutex may be taken inside the allocator's
 * device-memory callback, but is never held across a call of the allocator.
 */
#ifndef MAAR_TOOL_GPU_H
#define MAAR_TOOL_GPU_H

#include "tool_checker.h"
#include "tool_resource.h"

struct tool_gpu;

/* The totals of a verifier. */
struct tool_gpu_totals {
    uint64_t
        verified_bytes;    /* found right; all bytes of a copied image when its texels were right */
    uint64_t copied_bytes; /* part of verified_bytes: by copies */
    uint64_t unverified_bytes; /* bytes that neither aliases nor copies reach */
    uint32_t mismatches;       /* allocations with wrong bytes */
};

/*
 * Creates the verifier and probes whether the device executes commands. On success `*executes` is
 * the answer; the verifier is useless on a device that executes nothing.
 */
VkResult tool_gpu_create(struct tool_device* tool, struct tool_gpu** out, bool* executes);

/* Destroys the verifier. Everything that was filled must have been verified. `gpu` may be NULL. */
void tool_gpu_destroy(struct tool_gpu* gpu);

/* Returns the memory types to which the windows can be bound. */
uint32_t tool_gpu_type_bits(const struct tool_gpu* gpu);

/* Self-test: omits barriers from now on, so that the validation layer must report a hazard. */
void tool_gpu_omit_barriers(struct tool_gpu* gpu);

/* One allocation in the verifier's view. */
struct tool_gpu_subject {
    uint64_t label;                        /* its id in the trace, which is also the seed */
    const struct tool_resource_plan* plan; /* may be NULL for TOOL_ACCESS_ALIAS */
    enum tool_access access;
    VkBuffer buffer; /* for TOOL_ACCESS_COPY */
    VkImage image;   /* for TOOL_ACCESS_COPY */
    struct tool_place place;
};

/* Returns whether copies of the subject reach its bytes. */
bool tool_gpu_can_copy(struct tool_gpu* gpu, const struct tool_gpu_subject* subject);

/* Makes all later work wait for a point, after which pages are bound. */
void tool_gpu_wait_for(struct tool_gpu* gpu, MaarPoint point);

/* Writes the subject's pattern. */
VkResult tool_gpu_fill(struct tool_gpu* gpu, const struct tool_gpu_subject* subject);

/* Counts the bytes that hold the pattern. The totals include the result after the next flush. */
VkResult tool_gpu_verify(struct tool_gpu* gpu, const struct tool_gpu_subject* subject);

/* Runs all recorded work and reads the results. */
VkResult tool_gpu_flush(struct tool_gpu* gpu);

/* Waits for all work that uses a VkDeviceMemory and forgets the memory, which the caller then
 * frees. */
VkResult tool_gpu_forget(struct tool_gpu* gpu, VkDeviceMemory memory);

struct tool_gpu_totals tool_gpu_read_totals(struct tool_gpu* gpu);

#endif
