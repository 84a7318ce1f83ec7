/*
 * Verification by the device itself: it fills every allocation with a pattern seeded by its
 * identity and counts, before the allocation goes, the bytes that still hold it.
 *
 * The bytes are reached through storage buffers that alias the allocator's whole blocks, in windows
 * of at most maxStorageBufferRange, or, where that cannot be, by copies of the resource. Jobs are
 * recorded in the order of the calls and run in batches, each after a barrier. Internally
 * synchronized, by one mutex which may be taken inside the allocator's device-memory callback but
 * is never held across a call of the allocator.
 */
#ifndef MAAR_TOOL_GPU_H
#define MAAR_TOOL_GPU_H

#include "tool_checker.h"
#include "tool_resource.h"

struct tool_gpu;

/* What has been verified so far. */
struct tool_gpu_totals {
    uint64_t verified_bytes;   /* seen right; all of a copied image when its texels were right */
    uint64_t copied_bytes;     /* of these, by copies */
    uint64_t unverified_bytes; /* could be reached neither way */
    uint32_t mismatches;       /* allocations that were not right */
};

/*
 * Makes the pipelines and probes whether the device executes anything. On success *executes tells;
 * without it the verifier is of no use.
 */
VkResult tool_gpu_create(struct tool_device* tool, struct tool_gpu** out, bool* executes);

/* Everything that was filled must have been verified. Safe with NULL. */
void tool_gpu_destroy(struct tool_gpu* gpu);

/* Types of memory that the windows can be bound to. */
uint32_t tool_gpu_type_bits(const struct tool_gpu* gpu);

/* Self-test: no barriers from now on, so that the validation layer has something to say. */
void tool_gpu_omit_barriers(struct tool_gpu* gpu);

/* One allocation, as the verifier sees it. */
struct tool_gpu_subject {
    uint64_t label;                        /* its id in the trace; the seed */
    const struct tool_resource_plan* plan; /* may be NULL for TOOL_ACCESS_ALIAS */
    enum tool_access access;
    VkBuffer buffer; /* for TOOL_ACCESS_COPY */
    VkImage image;   /* for TOOL_ACCESS_COPY */
    struct tool_place place;
};

/* Whether copies of the subject reach its bytes. */
bool tool_gpu_can_copy(struct tool_gpu* gpu, const struct tool_gpu_subject* subject);

/* Everything from now on waits for a point, after which pages are bound. */
void tool_gpu_wait_for(struct tool_gpu* gpu, MaarPoint point);

/* Writes the subject's pattern. */
VkResult tool_gpu_fill(struct tool_gpu* gpu, const struct tool_gpu_subject* subject);

/* Counts the bytes that hold it; the result is in the totals after the next flush. */
VkResult tool_gpu_verify(struct tool_gpu* gpu, const struct tool_gpu_subject* subject);

/* Runs everything recorded and reads the results. */
VkResult tool_gpu_flush(struct tool_gpu* gpu);

/* Forgets a VkDeviceMemory that is about to go, waiting for what still uses it. */
VkResult tool_gpu_forget(struct tool_gpu* gpu, VkDeviceMemory memory);

struct tool_gpu_totals tool_gpu_read_totals(struct tool_gpu* gpu);

#endif
