/*
 * What the three strategies share: one flat array of 32-byte nodes, named by index, and lists of
 * them. A node is a live range, a free one, or (linear) a dead one that waits to be reused.
 *
 * Node 0 is the border: it stands before the first range and behind the last one, and at the end of
 * every list, so that a neighbour can be written without asking whether there is one. It is never
 * live and never free.
 *
 * A node that is in no use is on the stack of free slots or beyond used_slots. Generations outlive
 * that, so that a stale name of a range is told from a new one. Internal to core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_NODES_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_NODES_H

#include "core/bits.h"
#include "core/check.h"
#include "core/placement/placement.h"
#include "core/port_atomic.h"

enum placement_state {
    PLACEMENT_UNUSED = 0,
    PLACEMENT_LIVE = 1,
    PLACEMENT_FREE = 2,
    PLACEMENT_DEAD = 3, /* linear: freed, but not to be reused yet; and the border */
};

/* Bits of where, from below: tag 6 (buddy: order; linear: sequence; TLSF: of what multiple the
 * extent is), kind 5, era 3 (upper part of the generation), state 2, offset 48. Bits of extent:
 * generation 15, size 49. What is used most lies on top: a shift gets it, extents are compared
 * without one, and what is added to either leaves the rest alone. */
enum {
    PLACEMENT_TAG_MASK = 63,
    PLACEMENT_KIND_SHIFT = 6,
    PLACEMENT_KIND_MASK = 31,
    PLACEMENT_ERA_SHIFT = 11,
    PLACEMENT_ERA_MASK = 7 << PLACEMENT_ERA_SHIFT,
    PLACEMENT_STATE_SHIFT = 14,
    PLACEMENT_STATE_MASK = 3 << PLACEMENT_STATE_SHIFT,
    PLACEMENT_OFFSET_SHIFT = 16,
    PLACEMENT_META_MASK = (1 << PLACEMENT_OFFSET_SHIFT) - 1,
    PLACEMENT_OFFSET_BITS = 48,
    PLACEMENT_SIZE_SHIFT = 15,
    PLACEMENT_GENERATION_MASK = (1 << PLACEMENT_SIZE_SHIFT) - 1,
    /* In a generation as the owner sees it, where's lower part lies above extent's. */
    PLACEMENT_NAME_SHIFT = PLACEMENT_SIZE_SHIFT,
    PLACEMENT_NAME_MASK = (1 << PLACEMENT_STATE_SHIFT) - 1,
};

/* The border; so, no node. */
#define PLACEMENT_NONE 0u
/* In the list of neighbours of a TLSF placement: that neighbour is free. */
#define PLACEMENT_LINK_FREE 0x80000000u

enum {
    /* Second level of TLSF: 2^6 bins an octave. Measured in docs/design/placement.md. */
    PLACEMENT_BIN_BITS = 6,
    PLACEMENT_BIN_WORDS = 48,
    PLACEMENT_ORDERS = PLACEMENT_OFFSET_BITS + 1,
    /* How many neighbours of kind 0 inside one granule are looked past before a
     * conflict is assumed: bounds the time, costs at most a granule. */
    PLACEMENT_NEIGHBOURS = 8,
};

struct placement_node {
    uint64_t where;
    uint64_t extent;
    union {
        uint64_t user; /* live */
        struct {
            uint32_t next;
            uint32_t prev;
        } bin; /* free: neighbours in the list of its bin */
    } u;
    /* Neighbours in the space: lower and higher (linear: older and newer). */
    uint32_t prev;
    uint32_t next;
};

/* One end-to-end run of linear ranges, by age. */
struct placement_sequence {
    uint32_t oldest;
    uint32_t newest;
};

enum {
    /* Tags of linear nodes: the two runs that grow upward take turns in being the
       older one. */
    PLACEMENT_SEQUENCE_UPPER = 2,
    PLACEMENT_SEQUENCES = 3,
};

struct maar_placement {
    maar_atomic_pointer nodes_now; /* nodes, for who may look without the lock */
    struct placement_node* nodes;  /* two in a cache line */
    uint32_t* bins;                /* heads; a bit of bin_words is set where one is not
                                      PLACEMENT_NONE */
    uint64_t bin_summary;
    VkDeviceSize size;
    VkDeviceSize plain_size; /* TLSF: size, so that one comparison tells what is too large and what
                                is not TLSF */
    /* TLSF: ranges begin and end at multiples of this power of two; the same shifted as in an
     * extent, what makes a free node's where a live one's, and the highest kind that needs no look
     * at neighbours. */
    VkDeviceSize unit;
    uint64_t unit_extent;
    uint64_t plain_meta;
    uint32_t plain_kind;
    VkDeviceSize used_size;
    uint32_t range_count;
    uint32_t free_slot;
    uint64_t free_extent; /* not linear, which derives it: free bytes, shifted as in an extent */
    uint32_t slots_left;  /* on the stack of free slots and beyond used_slots */
    uint32_t used_slots;  /* slots at and beyond it were not used since the last
                             reset */
    uint32_t capacity;
    uint32_t touched_slots; /* slots that have a generation */
    MaarPlacementStrategy strategy;
    uint32_t bin_count;
    VkDeviceSize granularity;
    uint32_t wanted_slots;
    uint32_t wanted_bins;
    uint32_t first_sequence; /* linear: 0 or 1, the older of the two upward runs */
    struct placement_sequence sequences[PLACEMENT_SEQUENCES];
    void* storage; /* nodes, then bins, behind up to a cache line of nothing */
    uint64_t bin_words[PLACEMENT_BIN_WORDS];
};

static inline VkDeviceSize placement_offset(const struct placement_node* node)
{
    return node->where >> PLACEMENT_OFFSET_SHIFT;
}

static inline VkDeviceSize placement_size(const struct placement_node* node)
{
    return node->extent >> PLACEMENT_SIZE_SHIFT;
}

static inline uint32_t placement_kind(const struct placement_node* node)
{
    return (uint32_t)(node->where >> PLACEMENT_KIND_SHIFT) & PLACEMENT_KIND_MASK;
}

static inline enum placement_state placement_state(const struct placement_node* node)
{
    return (enum placement_state)((node->where & PLACEMENT_STATE_MASK) >> PLACEMENT_STATE_SHIFT);
}

static inline uint32_t placement_tag(const struct placement_node* node)
{
    return (uint32_t)node->where & PLACEMENT_TAG_MASK;
}

/* Neighbours of a node, whether free or not. */
static inline uint32_t placement_prev(const struct placement_node* node)
{
    return node->prev & ~PLACEMENT_LINK_FREE;
}

static inline uint32_t placement_next(const struct placement_node* node)
{
    return node->next & ~PLACEMENT_LINK_FREE;
}

/* All of where but offset and era. */
static inline uint64_t placement_meta(enum placement_state state, uint32_t kind, uint32_t tag)
{
    return ((uint64_t)state << PLACEMENT_STATE_SHIFT) | ((uint64_t)kind << PLACEMENT_KIND_SHIFT) |
           tag;
}

/* Sets all but the generation. */
static inline void placement_set(struct placement_node* node, uint64_t meta, VkDeviceSize offset,
                                 VkDeviceSize size)
{
    node->where = (node->where & PLACEMENT_ERA_MASK) | meta | offset << PLACEMENT_OFFSET_SHIFT;
    node->extent = (node->extent & PLACEMENT_GENERATION_MASK) | size << PLACEMENT_SIZE_SHIFT;
}

/* What tells a live node from earlier ones of the same number. It holds kind and tag too, which
 * stay as they are while it lives. */
static inline uint32_t placement_node_generation(const struct placement_node* node)
{
    const uint32_t meta = (uint32_t)node->where & PLACEMENT_NAME_MASK;
    return meta << PLACEMENT_NAME_SHIFT | ((uint32_t)node->extent & PLACEMENT_GENERATION_MASK);
}

/* Whether a node is live and of this generation. */
static inline bool placement_is_named(const struct placement_node* node, uint64_t generation)
{
    const uint64_t meta = node->where & PLACEMENT_META_MASK;
    return (generation >> PLACEMENT_NAME_SHIFT) + placement_meta(PLACEMENT_LIVE, 0, 0) == meta &&
           ((generation ^ node->extent) & PLACEMENT_GENERATION_MASK) == 0;
}

static inline uint64_t placement_next_era(uint64_t where)
{
    const uint64_t era = where + ((uint64_t)1 << PLACEMENT_ERA_SHIFT);
    return (where & ~(uint64_t)PLACEMENT_ERA_MASK) | (era & PLACEMENT_ERA_MASK);
}

/* Makes every name of this node stale. */
static inline void placement_next_generation(struct placement_node* node)
{
    if ((++node->extent & PLACEMENT_GENERATION_MASK) == 0) {
        node->extent -= (uint64_t)1 << PLACEMENT_SIZE_SHIFT;
        node->where = placement_next_era(node->where);
    }
}

/* Returns the lowest multiple of alignment at or above offset, which is below 2^49, or UINT64_MAX
 * if the multiple is above all ranges. */
static inline VkDeviceSize placement_align_up(VkDeviceSize offset, VkDeviceSize alignment)
{
    if (alignment > MAAR_RANGE_MAX_SIZE) {
        return offset == 0 ? 0 : UINT64_MAX;
    }
    return maar_align_up(offset, alignment);
}

/* Whether size fits at offset below end, whatever the numbers. */
static inline bool placement_fits(VkDeviceSize offset, VkDeviceSize size, VkDeviceSize end)
{
    return offset <= end && size <= end - offset;
}

static inline bool placement_minds_kind(const struct maar_placement* placement, uint32_t kind)
{
    return kind != 0 && placement->granularity > 1;
}

/* Whether count nodes can be taken; remembers the wish if not. */
static inline bool placement_has_slots(struct maar_placement* placement, uint32_t count)
{
    if (placement->slots_left >= count) {
        return true;
    }
    placement->wanted_slots = count;
    return false;
}

/* Takes a node that was not used since the last reset. */
static inline uint32_t placement_take_fresh_slot(struct maar_placement* placement)
{
    const uint32_t slot = placement->used_slots++;
    struct placement_node* node = &placement->nodes[slot];
    if (slot >= placement->touched_slots) {
        placement->touched_slots = slot + 1;
        node->where = 0;
        node->extent = 0;
    } else {
        placement_next_generation(node);
        node->where &= PLACEMENT_ERA_MASK;
        node->extent &= PLACEMENT_GENERATION_MASK;
    }
    return slot;
}

/* Takes a node; placement_has_slots said that there is one. It holds nothing but its generation,
 * and its neighbours are undefined. */
static inline uint32_t placement_take_slot(struct maar_placement* placement)
{
    const uint32_t slot = placement->free_slot;
    placement->slots_left -= 1;
    if (slot == PLACEMENT_NONE) {
        return placement_take_fresh_slot(placement);
    }
    placement->free_slot = placement->nodes[slot].next;
    return slot;
}

static inline void placement_drop_slot(struct maar_placement* placement, uint32_t slot)
{
    struct placement_node* node = &placement->nodes[slot];
    node->where &= PLACEMENT_ERA_MASK;
    node->extent &= PLACEMENT_GENERATION_MASK;
    node->next = placement->free_slot;
    placement->free_slot = slot;
    placement->slots_left += 1;
}

/* Inserts node into the space between two neighbours. */
static inline void placement_link(struct maar_placement* placement, uint32_t prev, uint32_t slot,
                                  uint32_t next)
{
    struct placement_node* nodes = placement->nodes;
    nodes[slot].prev = prev;
    nodes[slot].next = next;
    nodes[prev].next = slot;
    nodes[next].prev = slot;
}

/* Makes two nodes neighbours, whatever was between them. */
static inline void placement_join(struct maar_placement* placement, uint32_t prev, uint32_t next)
{
    placement->nodes[prev].next = next;
    placement->nodes[next].prev = prev;
}

static inline void placement_bin_mark_filled(struct maar_placement* placement, uint32_t bin)
{
    placement->bin_words[bin >> 6] |= (uint64_t)1 << (bin & 63);
    placement->bin_summary |= (uint64_t)1 << (bin >> 6);
}

static inline void placement_bin_mark_empty(struct maar_placement* placement, uint32_t bin)
{
    uint64_t* word = &placement->bin_words[bin >> 6];
    *word ^= (uint64_t)1 << (bin & 63);
    if (*word == 0) {
        placement->bin_summary ^= (uint64_t)1 << (bin >> 6);
    }
}

static inline void placement_bin_insert(struct maar_placement* placement, uint32_t bin,
                                        struct placement_node* node, uint32_t slot)
{
    const uint32_t next = placement->bins[bin];
    placement->bins[bin] = slot;
    node->u.bin.next = next;
    node->u.bin.prev = PLACEMENT_NONE;
    placement->nodes[next].u.bin.prev = slot;
    if (next == PLACEMENT_NONE) {
        placement_bin_mark_filled(placement, bin);
    }
}

/* Takes the first node out of its bin. */
static inline void placement_bin_pop(struct maar_placement* placement, uint32_t bin,
                                     const struct placement_node* node)
{
    const uint32_t next = node->u.bin.next;
    placement->bins[bin] = next;
    placement->nodes[next].u.bin.prev = PLACEMENT_NONE;
    if (next == PLACEMENT_NONE) {
        placement_bin_mark_empty(placement, bin);
    }
}

/* Takes any node out of its bin. */
static inline void placement_bin_remove(struct maar_placement* placement, uint32_t bin,
                                        const struct placement_node* node)
{
    const uint32_t prev = node->u.bin.prev;
    if (prev == PLACEMENT_NONE) {
        placement_bin_pop(placement, bin, node);
        return;
    }
    const uint32_t next = node->u.bin.next;
    placement->nodes[next].u.bin.prev = prev;
    placement->nodes[prev].u.bin.next = next;
}

/* First bin at or above bin, which is below 64 * PLACEMENT_BIN_WORDS, that holds anything, or
 * UINT32_MAX. */
static inline uint32_t placement_bin_next(const struct maar_placement* placement, uint32_t bin)
{
    const uint32_t word = bin >> 6;
    const uint64_t bits = placement->bin_words[word] >> (bin & 63);
    if (bits != 0) {
        return bin + maar_low_bit(bits);
    }
    const uint64_t words = placement->bin_summary & (UINT64_MAX << 1 << word);
    if (words == 0) {
        return UINT32_MAX;
    }
    const uint32_t next = maar_low_bit(words);
    return (next << 6) + maar_low_bit(placement->bin_words[next]);
}

/* What allocate answers about a new live node; keeps the owner's tag in it. */
static inline void placement_tell_range(struct maar_placement* placement, uint32_t slot,
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

/* Books a new live range, which occupies extent bytes. */
static inline void placement_count_in(struct maar_placement* placement, VkDeviceSize size,
                                      VkDeviceSize extent)
{
    placement->range_count += 1;
    placement->used_size += size;
    placement->free_extent -= extent << PLACEMENT_SIZE_SHIFT;
}

static inline void placement_count_out(struct maar_placement* placement, VkDeviceSize size,
                                       VkDeviceSize extent)
{
    placement->range_count -= 1;
    placement->used_size -= size;
    placement->free_extent += extent << PLACEMENT_SIZE_SHIFT;
}

/* Neighbours by offset, across the runs of a linear placement. */
uint32_t maar_placement_lower(const struct maar_placement* placement, uint32_t slot);
uint32_t maar_placement_higher(const struct maar_placement* placement, uint32_t slot);
/* Lowest offset at or above offset where kind meets no other kind below; below
 * is the nearest node under offset. */
VkDeviceSize maar_placement_clear_below(const struct maar_placement* placement, uint32_t below,
                                        uint32_t kind, VkDeviceSize offset);
/* Whether a range of this kind may end at end; above is the nearest node over
 * it. */
bool maar_placement_clear_above(const struct maar_placement* placement, uint32_t above,
                                uint32_t kind, VkDeviceSize end);
/* Where a request lies if put as low as possible into [begin, end) between two
 * nodes; UINT64_MAX if it does not fit there. */
VkDeviceSize maar_placement_fit(const struct maar_placement* placement,
                                const struct maar_placement_request* request, uint32_t below,
                                uint32_t above, VkDeviceSize begin, VkDeviceSize end);

/* A walk in progress: live and free stretches are told in order, padding is
 * what lies between. */
struct placement_walk {
    maar_placement_visit visit;
    void* context;
    VkDeviceSize cursor;
    bool stopped;
};
void maar_placement_tell_live(const struct maar_placement* placement, struct placement_walk* walk,
                              uint32_t slot);
void maar_placement_tell_free(struct placement_walk* walk, VkDeviceSize offset, VkDeviceSize end);

/* The strategies. reset starts from an empty space; what may fail is as in
 * placement.h. */
uint32_t maar_tlsf_bin_count(VkDeviceSize size);
void maar_tlsf_reset(struct maar_placement* placement);
enum maar_place_outcome maar_tlsf_allocate(struct maar_placement* placement,
                                           const struct maar_placement_request* request,
                                           struct maar_placement_range* range);
/* Lets the free node on one side, or on both, take over the extent of a node, which is dropped.
 * Returns theirs. */
uint64_t maar_tlsf_absorb(struct maar_placement* placement, uint32_t slot, uint64_t extent);
/* Frees the live range that reaches the end of the space; the extent of what is free now. */
uint64_t maar_tlsf_free_last(struct maar_placement* placement, uint32_t slot);
bool maar_tlsf_resize(struct maar_placement* placement, VkDeviceSize size);
VkDeviceSize maar_tlsf_largest_free_bound(const struct maar_placement* placement);
const char* maar_tlsf_check(const struct maar_placement* placement);

void maar_buddy_reset(struct maar_placement* placement);
enum maar_place_outcome maar_buddy_allocate(struct maar_placement* placement,
                                            const struct maar_placement_request* request,
                                            struct maar_placement_range* range);
/* How large the free range is, at most, that holds the node now. */
VkDeviceSize maar_buddy_free(struct maar_placement* placement, uint32_t slot);
bool maar_buddy_resize(struct maar_placement* placement, VkDeviceSize size);
VkDeviceSize maar_buddy_largest_free_bound(const struct maar_placement* placement);
const char* maar_buddy_check(const struct maar_placement* placement);

void maar_linear_reset(struct maar_placement* placement);
enum maar_place_outcome maar_linear_allocate(struct maar_placement* placement,
                                             const struct maar_placement_request* request,
                                             struct maar_placement_range* range);
VkDeviceSize maar_linear_free(struct maar_placement* placement, uint32_t slot);
VkDeviceSize maar_linear_free_size(const struct maar_placement* placement);
VkDeviceSize maar_linear_largest_free_bound(const struct maar_placement* placement);
uint32_t maar_linear_lower(const struct maar_placement* placement, uint32_t slot);
uint32_t maar_linear_higher(const struct maar_placement* placement, uint32_t slot);
void maar_linear_walk(const struct maar_placement* placement, struct placement_walk* walk);
const char* maar_linear_check(const struct maar_placement* placement);

#endif
