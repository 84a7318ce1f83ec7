/*
 * Placement: where in a range. Integers in, offsets out; linear, buddy and TLSF
 * behind one small interface. Knows nothing of Vulkan objects.
 *
 * Not synchronized: the owner of a placement locks. No function here but
 * create, destroy and the storage helpers' callers touches host memory: a
 * placement that lacks room for metadata answers MAAR_PLACE_WANTS_STORAGE, and
 * its owner, having left its lock, brings a larger storage. So no lock is ever
 * held across a host allocation.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "maar/range.h"

struct maar_placement;

#define MAAR_PLACEMENT_NO_NODE UINT32_MAX

struct maar_placement_info {
    MaarPlacementStrategy strategy;
    VkDeviceSize size;        /* bytes managed, 1 .. 2^48 */
    VkDeviceSize granularity; /* 0 or 1: kinds do not matter; else a power of two:
                                 two ranges of different non-zero kinds never
                                 share a granule of this size */
};

struct maar_placement_request {
    VkDeviceSize size;      /* >= 1 */
    VkDeviceSize alignment; /* >= 1, any number, need not be a power of two */
    uint64_t user;          /* the owner's tag, given back by the walk */
    uint32_t kind;          /* 0: shares a granule with anything; at most MAAR_RANGE_MAX_KIND */
    bool upper;             /* linear: from the upper end; others ignore it */
};

struct maar_placement_range {
    VkDeviceSize offset;
    VkDeviceSize size;   /* as asked for */
    uint32_t node;       /* names the range in later calls */
    uint32_t generation; /* tells it from earlier ones of the same node: changes with every free,
                            repeats after 2^18 of them */
};

struct maar_placement_totals {
    VkDeviceSize used_size;    /* sum of sizes asked for */
    VkDeviceSize padding_size; /* lost to alignment, rounding, granularity; and, linear
                                  only, to freed ranges that cannot be reused yet */
    VkDeviceSize free_size;    /* used + padding + free = size of the range */
    uint32_t range_count;
};

/* VK_ERROR_OUT_OF_HOST_MEMORY or VK_SUCCESS. Starts with storage for a first
 * few ranges. */
VkResult maar_placement_create(const struct maar_placement_info* info,
                               const VkAllocationCallbacks* callbacks,
                               struct maar_placement** placement);
void maar_placement_destroy(struct maar_placement* placement,
                            const VkAllocationCallbacks* callbacks);

enum maar_place_outcome {
    MAAR_PLACED,
    MAAR_PLACE_NO_ROOM,       /* no free range fits */
    MAAR_PLACE_WANTS_STORAGE, /* nothing has changed: bring storage, then repeat the call */
};

enum maar_place_outcome maar_placement_allocate(struct maar_placement* placement,
                                                const struct maar_placement_request* request,
                                                struct maar_placement_range* range);
/* Has the processor fetch what freeing a live node will touch first. Alone of these it may be
 * called without the owner's lock. */
void maar_placement_prefetch(const struct maar_placement* placement, uint32_t node);
/* Never fails, never needs storage. Returns false if node names no live range
 * (nothing changes). */
bool maar_placement_free(struct maar_placement* placement, uint32_t node);
/* The same; tells how large the free range is, at most, that holds it now. */
bool maar_placement_free_into(struct maar_placement* placement, uint32_t node, VkDeviceSize* size);
/* Frees everything; keeps the storage. */
void maar_placement_reset(struct maar_placement* placement);
/* Grows the range at its end; size >= the present one. Returns false when it wants storage first,
 * as above. */
bool maar_placement_resize(struct maar_placement* placement, VkDeviceSize size);
/* Offset, size and user tag of a live node; false if it names none. */
bool maar_placement_get(const struct maar_placement* placement, uint32_t node,
                        struct maar_placement_range* range, uint64_t* user, uint32_t* kind);
/* The public handle of a node of a generation. */
static inline MaarRange maar_placement_handle(uint32_t node, uint32_t generation)
{
    const uint64_t value = (uint64_t)generation << 32 | ((uint64_t)node + 1);
#if VK_USE_64_BIT_PTR_DEFINES == 1
    return (MaarRange)(uintptr_t)value;
#else
    return (MaarRange)value;
#endif
}

/* Returns how many bytes of storage a placement wants. */
size_t maar_placement_storage_wanted(const struct maar_placement* placement);
/* Takes memory of that size (16-byte aligned, from the same callbacks); returns
 * memory that the caller is to free, possibly NULL, possibly the memory itself
 * if it came too late to be of use. */
void* maar_placement_storage_give(struct maar_placement* placement, void* memory, size_t size);

/* O(1). */
void maar_placement_totals(const struct maar_placement* placement,
                           struct maar_placement_totals* totals);
/* An upper bound of the largest free range, O(1): a request above it cannot
 * succeed. */
VkDeviceSize maar_placement_largest_free_bound(const struct maar_placement* placement);

/* Walks the range in order of offsets: live ranges and free ones, gap-free:
 * padding belongs to the live range before it (or is reported as its own
 * MAAR_RANGE_STATE_PADDING entry). Stops when visit returns false. */
typedef bool (*maar_placement_visit)(void* context, const MaarRangeInfo* info);
void maar_placement_walk(const struct maar_placement* placement, maar_placement_visit visit,
                         void* context);

/* Walks every structure; NULL, or a static sentence naming the first broken
 * invariant. */
const char* maar_placement_check(const struct maar_placement* placement);

#endif
