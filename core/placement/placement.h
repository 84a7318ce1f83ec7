/*
 * Placement: where in a space a range lies. Integers in, offsets out: linear, buddy and TLSF
 * placement behind one small interface. The pools of core/memory, the slices and the public range
 * allocator use it. Placement knows no Vulkan objects.
 *
 * A placement is not synchronized: its owner's lock guards it. Only create and destroy allocate or
 * free host memory. A placement that needs more storage for its nodes returns
 * MAAR_PLACE_WANTS_STORAGE. The owner then leaves its lock, allocates, and gives the storage to the
 * placement. So no lock is held across a host allocation.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/placement/placement_handle.h"

struct maar_placement;

#define MAAR_PLACEMENT_NO_NODE UINT32_MAX

/* What a placement is created with. */
struct maar_placement_info {
    MaarPlacementStrategy strategy;
    VkDeviceSize size; /* bytes managed, 1 .. 2^48 */
    /* 0 or 1: kinds do not matter. Otherwise a power of two: ranges of two different kinds other
     * than 0 never share a granule of this size */
    VkDeviceSize granularity;
};

/* A request for a range. */
struct maar_placement_request {
    VkDeviceSize size;      /* >= 1 */
    VkDeviceSize alignment; /* >= 1, any number, need not be a power of two */
    /* the owner's tag, which maar_placement_walk and maar_placement_get return */
    uint64_t user;
    uint32_t kind; /* 0: shares a granule with every kind; at most MAAR_RANGE_MAX_KIND */
    /* linear: places the range at the upper end; other strategies ignore this field */
    bool upper;
};

/* A range that was placed. */
struct maar_placement_range {
    VkDeviceSize offset;
    VkDeviceSize size; /* as requested */
    uint32_t node;     /* names the range in later calls */
    /* distinguishes the range from earlier ranges of the same node; changes with every free; the
     * node is retired before it would repeat */
    uint32_t generation;
};

/* The bytes of a range. */
struct maar_span {
    VkDeviceSize offset;
    VkDeviceSize size; /* as requested */
};

/* What became of a range that was freed. */
struct maar_placement_freed {
    VkDeviceSize size; /* of the range, as requested */
    VkDeviceSize room; /* an upper bound of the size of the free range that now contains it */
};

/* The sums over a space. */
struct maar_placement_totals {
    VkDeviceSize used_size; /* sum of requested sizes */
    /* bytes lost to alignment, rounding and granularity and, in linear placements, to freed
     * ranges that cannot be reused yet */
    VkDeviceSize padding_size;
    VkDeviceSize free_size; /* used + padding + free = size of the space */
    uint32_t range_count;
};

/* Creates a placement with storage for a first few ranges. Returns VK_SUCCESS or
 * VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult maar_placement_create(const struct maar_placement_info* info,
                               const VkAllocationCallbacks* callbacks,
                               struct maar_placement** placement);
/* Frees a placement with its storage. The placement may be NULL. */
void maar_placement_destroy(struct maar_placement* placement,
                            const VkAllocationCallbacks* callbacks);

enum maar_place_outcome {
    MAAR_PLACED,
    MAAR_PLACE_NO_ROOM,       /* no free range fits */
    MAAR_PLACE_WANTS_STORAGE, /* nothing has changed: bring storage, then repeat the call */
};

/* Places a range. Returns the outcome, and fills *range on MAAR_PLACED. */
enum maar_place_outcome maar_placement_allocate(struct maar_placement* placement,
                                                const struct maar_placement_request* request,
                                                struct maar_placement_range* range);
/* Does the same at the lowest offset at which the range fits; placement_lowest.h says how long that
 * takes. Linear placements place it as usual. */
enum maar_place_outcome maar_placement_allocate_lowest(struct maar_placement* placement,
                                                       const struct maar_placement_request* request,
                                                       struct maar_placement_range* range);
/* Places a range in the free range that maar_placement_allocate would choose: at its end, if the
 * live range before it has at least `after` bytes and kinds allow that; 0: always, UINT64_MAX:
 * never. For TLSF placements; others place it as usual. */
enum maar_place_outcome maar_placement_allocate_last(struct maar_placement* placement,
                                                     const struct maar_placement_request* request,
                                                     VkDeviceSize after,
                                                     struct maar_placement_range* range);
/* Prefetches the node that a free will touch first. */
void maar_placement_prefetch(const struct maar_placement* placement, uint32_t node);
/* Frees a live node. A free never needs storage. Returns false, and changes nothing, if `node`
 * names no live range. */
bool maar_placement_free(struct maar_placement* placement, uint32_t node);
/* Frees a node as maar_placement_free does, and fills *freed, with zeros if it returns false. */
bool maar_placement_free_into(struct maar_placement* placement, uint32_t node,
                              struct maar_placement_freed* freed);
/* Frees all ranges and keeps the storage. */
void maar_placement_reset(struct maar_placement* placement);
/* Returns whether a reset leaves enough nodes. If not, the caller brings storage first, as for an
 * allocation. Almost always true: a reset retires nodes that were used very often. */
bool maar_placement_can_reset(struct maar_placement* placement);
/* Grows the space at its end. Does nothing if `size` is at or below the current size. Returns
 * false, and changes nothing, when the placement wants storage first. */
bool maar_placement_resize(struct maar_placement* placement, VkDeviceSize size);
/* Looks up offset, size, tag and kind of a live node. Returns false if `node` names no live
 * range. */
bool maar_placement_get(const struct maar_placement* placement, uint32_t node,
                        struct maar_placement_range* range, uint64_t* user, uint32_t* kind);
/* Returns the bytes of a live node. They do not change while the node lives, unless the space
 * grows. So the owner's lock is not needed if no other thread frees the node. */
struct maar_span maar_placement_span(const struct maar_placement* placement, uint32_t node);
/* Changes the tag of a live node. */
void maar_placement_set_user(struct maar_placement* placement, uint32_t node, uint64_t user);
/* Returns how many bytes of storage a placement wants. */
size_t maar_placement_storage_wanted(const struct maar_placement* placement);
/* Gives `size` bytes of memory to the placement, from the same callbacks. Returns memory that the
 * caller must free, or NULL: storage that the memory replaces, or the given memory if the placement
 * no longer needs it. */
void* maar_placement_storage_give(struct maar_placement* placement, void* memory, size_t size);

/* Writes the sums over the space, in O(1). */
void maar_placement_totals(const struct maar_placement* placement,
                           struct maar_placement_totals* totals);
/* Returns an upper bound of the size of the largest free range, in O(1). A larger request cannot
 * succeed. */
VkDeviceSize maar_placement_largest_free_bound(const struct maar_placement* placement);

/* Receives one entry of a walk: a live range, a free range, or padding (MAAR_RANGE_STATE_PADDING).
 * Returns false to stop the walk. */
typedef bool (*maar_placement_visit)(void* context, const MaarRangeInfo* info);
/* Walks the space in the order of offsets and without gaps. Calls visit with `context` for each
 * entry. */
void maar_placement_walk(const struct maar_placement* placement, maar_placement_visit visit,
                         void* context);

/* Looks for the next live range in the order of offsets: behind the live node *node, or from the
 * beginning if *node is MAAR_PLACEMENT_NO_NODE. On success sets *node, *range and *user, and
 * returns true. Looks at two ranges at most. Not for linear placements. */
bool maar_placement_next_live(const struct maar_placement* placement, uint32_t* node,
                              struct maar_placement_range* range, uint64_t* user);

/* The following functions are for TLSF placements alone. `before` is a live node, or
 * MAAR_PLACEMENT_NO_NODE for the beginning of the space. */

/* TLSF ranges begin and end at multiples of some power of two, at most so many bytes. */
#define MAAR_PLACEMENT_MOST_UNIT ((VkDeviceSize)256)
/* Returns the nearest live node before a live node, or MAAR_PLACEMENT_NO_NODE. */
uint32_t maar_placement_live_before(const struct maar_placement* placement, uint32_t node);
/* Returns where the bytes of a live node end, with those that are lost to rounding. */
VkDeviceSize maar_placement_extent_end(const struct maar_placement* placement, uint32_t node);
/* Returns whether so many nodes can be taken without storage. */
bool maar_placement_has_nodes(struct maar_placement* placement, uint32_t count);
/* Returns the free range directly behind a node, or an empty one. */
struct maar_span maar_placement_free_behind(const struct maar_placement* placement,
                                            uint32_t before);
/* Places a range at an offset in the free range directly behind a node. Returns MAAR_PLACE_NO_ROOM
 * if that range does not contain it. The offset is a multiple of the request's alignment or of
 * MAAR_PLACEMENT_MOST_UNIT, or it is the beginning of the free range. The caller knows that kinds
 * allow the place. A range that was freed a moment ago can be taken without storage. */
enum maar_place_outcome maar_placement_allocate_at(struct maar_placement* placement,
                                                   const struct maar_placement_request* request,
                                                   VkDeviceSize offset, uint32_t before,
                                                   struct maar_placement_range* range);

/* Walks every structure. Returns NULL, or a static sentence that names the first broken
 * invariant. */
const char* maar_placement_check(const struct maar_placement* placement);

#endif
