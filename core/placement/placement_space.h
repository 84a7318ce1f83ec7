/*
 * The space of a placement: its segments of nodes, and the links between neighbours.
 *
 * Nodes are in segments, which are added and never move. Segments are filled one after another, so
 * slots in the order of first use are ascending numbers.
 *
 * Node 0 is the border. It stands before the first range, behind the last range, and at the end of
 * every list. So code can write to a neighbour without first testing that there is a neighbour. The
 * border is never live and never free.
 *
 * placement_slots.h takes and drops nodes. Internal to core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_SPACE_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_SPACE_H

#include <stddef.h>

#include "core/placement/placement_node.h"

enum {
    /* The second level of TLSF has 2^6 bins an octave; docs/design/placement.md gives the
     * reason. */
    PLACEMENT_BIN_BITS = 6,
    /* One word an octave. Sizes are 1 .. 2^48. */
    PLACEMENT_BIN_WORDS = 49,
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

/* What stands before the nodes of a segment, in the place of a node. */
struct placement_segment {
    void* memory; /* as the owner gave it */
    uint32_t count;
};

/* The members that the fast path reads come first, so that they lie in few cache lines. */
struct maar_placement {
    /* the first node of each bin; a bit of bin_words is set where that is not PLACEMENT_NONE */
    uint32_t* bins;
    /* TLSF: the size; else 0. So one comparison sends oversized requests, and all requests to
     * other strategies, to the slow path */
    VkDeviceSize fast_size;
    /* TLSF: ranges begin and end at multiples of unit, a power of two. */
    VkDeviceSize unit;
    VkDeviceSize unit_mask; /* unit - 1 */
    uint64_t unit_is_one;   /* 1 if so, else 0: then alignment 0 means the unit, too */
    uint64_t fast_kind;     /* the highest kind for which neighbours need no check */
    uint64_t fast_meta;     /* added to the `where` of a free node, gives that of a live node */
    /* free bytes, shifted as in an extent; linear placements compute them instead */
    uint64_t free_extent;
    VkDeviceSize used_size;
    uint64_t bin_summary;
    uint32_t range_count;
    uint32_t free_slot;  /* top of the stack of unused nodes */
    uint32_t fresh_slot; /* nodes from this slot on were not used since the last reset */
    MaarPlacementStrategy strategy;
    uint64_t bin_words[PLACEMENT_BIN_WORDS];
    VkDeviceSize size;
    uint32_t fresh_end;   /* the end of the segment of fresh_slot */
    uint32_t fresh_left;  /* the number of fresh nodes that are not retired */
    uint32_t touched_end; /* nodes below this slot have a generation */
    uint32_t capacity;    /* the number of nodes */
    uint32_t segments;    /* the number of segments, and the most that there can be */
    uint32_t segment_limit;
    uint32_t retired_slots; /* nodes that were retired at the last reset; fresh_left lacks them */
    bool has_old;           /* since the last reset, a node has begun an era */
    uint32_t bin_count;
    VkDeviceSize granularity;
    uint32_t wanted_capacity;
    uint32_t wanted_bins;
    uint32_t older_run; /* linear: 0 or 1, the older of the two upward runs */
    struct placement_run runs[PLACEMENT_RUNS];
    /* For each segment, with TLSF the end of the slots that were used since the last reset, else 0.
     * So one comparison finds out whether a number is the slot of a node that may be live and that
     * the fast path frees. The table is few_ends, or the owner's. */
    uint32_t* fast_ends;
    uint32_t few_ends[PLACEMENT_FEW_SEGMENTS];
    /* The address of the segment's node 0, less 8 times its slot: see placement_at. The last
     * member: the memory of a placement ends after segment_limit of them. */
    uintptr_t bases[PLACEMENT_SEGMENTS];
};

/* Returns the bytes of a placement with so short a table of segments. */
static inline size_t placement_bytes(uint32_t segment_limit)
{
    return offsetof(struct maar_placement, bases) + segment_limit * sizeof(uintptr_t);
}

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

/* Returns the node of a slot. */
static inline struct placement_node* placement_at(const struct maar_placement* placement,
                                                  uint32_t slot)
{
    const uintptr_t base = placement->bases[slot >> PLACEMENT_SEGMENT_SHIFT];
    MAAR_DEBUG_ASSERT((slot & PLACEMENT_LINK_FREE) == 0);
    return (struct placement_node*)(base + (uintptr_t)slot * 8);
}

/* Returns the number of the segment of a link in memory. A processor reads it as a byte, without a
 * shift. */
static inline uint32_t placement_link_segment(const uint32_t* link)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return ((const uint8_t*)link)[sizeof(*link) - 1];
#else
    return *link >> PLACEMENT_SEGMENT_SHIFT;
#endif
}

/* Returns the node of a link in memory that has no flag. */
static inline struct placement_node* placement_follow(const struct maar_placement* placement,
                                                      const uint32_t* link)
{
    const uintptr_t base = placement->bases[placement_link_segment(link)];
    MAAR_DEBUG_ASSERT((*link & PLACEMENT_LINK_FREE) == 0);
    return (struct placement_node*)(base + (uintptr_t)*link * 8);
}

/* Returns the node of a link that has the flag PLACEMENT_LINK_FREE. */
static inline struct placement_node* placement_at_free(const struct maar_placement* placement,
                                                       uint32_t link)
{
    const uintptr_t base = placement->bases[link >> PLACEMENT_SEGMENT_SHIFT];
    MAAR_DEBUG_ASSERT((link & PLACEMENT_LINK_FREE) != 0);
    return (struct placement_node*)(base + ((uintptr_t)link - PLACEMENT_LINK_FREE) * 8);
}

/* Returns the first slot of a segment. */
static inline uint32_t placement_segment_begin(uint32_t segment)
{
    return segment << PLACEMENT_SEGMENT_SHIFT;
}

/* Returns what stands before the nodes of a segment. */
static inline struct placement_segment* placement_segment(const struct maar_placement* placement,
                                                          uint32_t segment)
{
    MAAR_DEBUG_ASSERT(segment < placement->segments);
    return (void*)(placement_at(placement, placement_segment_begin(segment)) - 1);
}

/* Returns the end of the slots of a segment. */
static inline uint32_t placement_segment_end(const struct maar_placement* placement,
                                             uint32_t segment)
{
    return placement_segment_begin(segment) +
           placement_segment(placement, segment)->count * PLACEMENT_SLOT_STEP;
}

/* Returns the slot after a slot of an existing segment, across segments. */
static inline uint32_t placement_slot_after(const struct maar_placement* placement, uint32_t slot)
{
    const uint32_t segment = slot >> PLACEMENT_SEGMENT_SHIFT;
    const uint32_t next = slot + PLACEMENT_SLOT_STEP;
    return next == placement_segment_end(placement, segment) && segment + 1 < placement->segments
               ? placement_segment_begin(segment + 1)
               : next;
}

/* Returns whether any number is the slot of a node that was used since the last reset. */
static inline bool placement_is_used(const struct maar_placement* placement, uint32_t number)
{
    const uint32_t segment = number >> PLACEMENT_SEGMENT_SHIFT;
    return number % PLACEMENT_SLOT_STEP == 0 && number < placement->fresh_slot &&
           number < placement_segment_end(placement, segment);
}

/* Inserts a node into the space between two neighbours, which are given as slots. */
static inline void placement_link(struct maar_placement* placement, uint32_t prev, uint32_t slot,
                                  uint32_t next)
{
    struct placement_node* node = placement_at(placement, slot);
    node->prev = prev;
    node->next = next;
    placement_at(placement, prev)->next = slot;
    placement_at(placement, next)->prev = slot;
}

/* Makes two nodes neighbours and takes the nodes between them out of the list. */
static inline void placement_join(struct maar_placement* placement, uint32_t prev, uint32_t next)
{
    placement_at(placement, prev)->next = next;
    placement_at(placement, next)->prev = prev;
}

/* ---- results and totals ---- */

/* Reports a new live node to the caller of allocate, and keeps the owner's tag in the node. */
static inline void placement_report_range(struct maar_placement* placement, uint32_t slot,
                                          const struct maar_placement_request* request,
                                          struct maar_placement_range* range)
{
    struct placement_node* node = placement_at(placement, slot);
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
