/*
 * The space of a placement: its nodes, the stack of unused nodes, and the links between neighbours.
 *
 * Node 0 is the border. It stands before the first range, behind the last range, and at the end of
 * every list. So code can write to a neighbour without first testing that there is a neighbour. The
 * border is never live and never free.
 *
 * An unused node is on the stack of unused nodes, or its index is used_slots or higher. Internal to
 * core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_SPACE_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_SPACE_H

#include "core/placement/placement_node.h"
#include "core/port_atomic.h"

enum {
    /* The second level of TLSF has 2^6 bins an octave; docs/design/placement.md gives the
     * reason. */
    PLACEMENT_BIN_BITS = 6,
    PLACEMENT_BIN_WORDS = 48,
    PLACEMENT_ORDERS = PLACEMENT_OFFSET_BITS + 1,
    /* Tags of linear nodes. The two runs that grow upward have the tags 0 and 1; they take turns as
     * the older run. */
    PLACEMENT_RUN_UPPER = 2,
    PLACEMENT_RUNS = 3,
};

/* The oldest and the newest node of a run. */
struct placement_run {
    uint32_t oldest;
    uint32_t newest;
};

struct maar_placement {
    maar_atomic_pointer nodes_now; /* nodes, for readers without the lock */
    struct placement_node* nodes;  /* two nodes in a cache line */
    /* the first node of each bin; a bit of bin_words is set where that is not PLACEMENT_NONE */
    uint32_t* bins;
    uint64_t bin_summary;
    VkDeviceSize size;
    /* TLSF: the size; else 0. So one comparison sends oversized requests, and all requests to
     * other strategies, to the slow path */
    VkDeviceSize fast_size;
    /* TLSF: ranges begin and end at multiples of unit, a power of two. */
    VkDeviceSize unit;
    uint64_t unit_extent; /* unit, shifted as in an extent */
    uint64_t fast_meta;   /* added to the `where` of a free node, gives that of a live node */
    uint32_t fast_kind;   /* the highest kind for which neighbours need no check */
    VkDeviceSize used_size;
    uint32_t range_count;
    uint32_t free_slot; /* top of the stack of unused nodes */
    /* free bytes, shifted as in an extent; linear placements compute them instead */
    uint64_t free_extent;
    uint32_t slots_left; /* the number of unused nodes */
    uint32_t used_slots; /* nodes from this index on were not used since the last reset */
    uint32_t capacity;
    uint32_t touched_slots; /* the number of nodes that have a generation */
    uint32_t retired_slots; /* nodes that were retired at the last reset; slots_left lacks them */
    bool has_old;           /* since the last reset, a node has begun an era */
    MaarPlacementStrategy strategy;
    uint32_t bin_count;
    VkDeviceSize granularity;
    uint32_t wanted_slots;
    uint32_t wanted_bins;
    uint32_t older_run; /* linear: 0 or 1, the older of the two upward runs */
    struct placement_run runs[PLACEMENT_RUNS];
    void* storage; /* nodes, then bins, behind at most a cache line of padding */
    uint64_t bin_words[PLACEMENT_BIN_WORDS];
};

/* ---- offsets ---- */

/* Returns the lowest multiple of alignment at or above offset, or UINT64_MAX if alignment is so
 * large that this multiple is beyond every space. offset is below 2^49. */
static inline VkDeviceSize placement_align_up(VkDeviceSize offset, VkDeviceSize alignment)
{
    if (alignment > MAAR_RANGE_MAX_SIZE) {
        return offset == 0 ? 0 : UINT64_MAX;
    }
    return maar_align_up(offset, alignment);
}

/* Returns whether a range of this size at this offset ends at or below `end`. Works for all
 * numbers. */
static inline bool placement_fits(VkDeviceSize offset, VkDeviceSize size, VkDeviceSize end)
{
    return offset <= end && size <= end - offset;
}

/* ---- nodes ---- */

/* Returns whether `count` nodes can be taken. If not, keeps `count` for
 * maar_placement_storage_wanted. */
static inline bool placement_has_slots(struct maar_placement* placement, uint32_t count)
{
    if (placement->slots_left >= count) {
        return true;
    }
    placement->wanted_slots = count;
    return false;
}

/* Begins the next era of a node, whose generation is 0 again. */
static inline uint64_t placement_age(struct maar_placement* placement, uint64_t where)
{
    placement->has_old = true;
    return placement_next_era(where);
}

/* Changes the generation of a node, so that its earlier names are stale. */
static inline void placement_next_generation(struct maar_placement* placement,
                                             struct placement_node* node)
{
    if ((++node->extent & PLACEMENT_GENERATION_MASK) == 0) {
        node->extent -= (uint64_t)1 << PLACEMENT_SIZE_SHIFT;
        node->where = placement_age(placement, node->where);
    }
}

/* Makes a retired node one that is neither in use nor on the stack of unused nodes. */
static inline void placement_retire(struct placement_node* node)
{
    node->where = PLACEMENT_ERA_MASK;
    node->extent = 0;
}

/* Takes a node that was not used since the last reset. */
static inline uint32_t placement_take_fresh_slot(struct maar_placement* placement)
{
    while (placement->used_slots < placement->touched_slots &&
           placement_is_retired(placement->nodes[placement->used_slots].where)) {
        ++placement->used_slots; /* not counted in slots_left */
    }
    const uint32_t slot = placement->used_slots++;
    struct placement_node* node = &placement->nodes[slot];
    MAAR_DEBUG_ASSERT(slot < placement->capacity);
    if (slot >= placement->touched_slots) {
        placement->touched_slots = slot + 1;
        node->where = 0;
        node->extent = 1; /* the first generation */
    } else {
        placement_next_generation(placement, node);
        node->where &= PLACEMENT_ERA_MASK;
        node->extent &= PLACEMENT_GENERATION_MASK;
    }
    return slot;
}

/* Takes a node after placement_has_slots returned true. The node has only a generation; its
 * neighbours are undefined. */
static inline uint32_t placement_take_slot(struct maar_placement* placement)
{
    const uint32_t slot = placement->free_slot;
    MAAR_DEBUG_ASSERT(placement->slots_left != 0);
    placement->slots_left -= 1;
    if (slot == PLACEMENT_NONE) {
        return placement_take_fresh_slot(placement);
    }
    MAAR_DEBUG_ASSERT(placement_state(&placement->nodes[slot]) == PLACEMENT_UNUSED);
    placement->free_slot = placement->nodes[slot].next;
    return slot;
}

static inline void placement_drop_slot(struct maar_placement* placement, uint32_t slot)
{
    struct placement_node* node = &placement->nodes[slot];
    MAAR_DEBUG_ASSERT(slot != PLACEMENT_NONE && slot < placement->used_slots);
    const uint64_t era = node->where & PLACEMENT_ERA_MASK;
    if (era == PLACEMENT_ERA_MASK) {
        placement_retire(node);
        return;
    }
    node->where = era;
    node->extent &= PLACEMENT_GENERATION_MASK;
    node->next = placement->free_slot;
    placement->free_slot = slot;
    placement->slots_left += 1;
}

/* Inserts a node into the space between two neighbours. */
static inline void placement_link(struct maar_placement* placement, uint32_t prev, uint32_t slot,
                                  uint32_t next)
{
    struct placement_node* nodes = placement->nodes;
    nodes[slot].prev = prev;
    nodes[slot].next = next;
    nodes[prev].next = slot;
    nodes[next].prev = slot;
}

/* Makes two nodes neighbours and takes the nodes between them out of the list. */
static inline void placement_join(struct maar_placement* placement, uint32_t prev, uint32_t next)
{
    placement->nodes[prev].next = next;
    placement->nodes[next].prev = prev;
}

/* ---- results and totals ---- */

/* Reports a new live node to the caller of allocate, and keeps the owner's tag in the node. */
static inline void placement_report_range(struct maar_placement* placement, uint32_t slot,
                                          const struct maar_placement_request* request,
                                          struct maar_placement_range* range)
{
    struct placement_node* node = &placement->nodes[slot];
    node->u.user = request->user;
    range->offset = placement_offset(node);
    range->size = request->size;
    range->node = slot;
    range->generation = placement_node_generation(node);
}

/* Counts a new live range that occupies `extent` bytes. */
static inline void placement_count_in(struct maar_placement* placement, VkDeviceSize size,
                                      VkDeviceSize extent)
{
    MAAR_DEBUG_ASSERT(size <= extent);
    MAAR_DEBUG_ASSERT(extent <= placement->free_extent >> PLACEMENT_SIZE_SHIFT);
    placement->range_count += 1;
    placement->used_size += size;
    placement->free_extent -= extent << PLACEMENT_SIZE_SHIFT;
}

static inline void placement_count_out(struct maar_placement* placement, VkDeviceSize size,
                                       VkDeviceSize extent)
{
    MAAR_DEBUG_ASSERT(placement->range_count != 0 && size <= placement->used_size);
    placement->range_count -= 1;
    placement->used_size -= size;
    placement->free_extent += extent << PLACEMENT_SIZE_SHIFT;
}

#endif
