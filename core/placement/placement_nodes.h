/*
 * What the three strategies share: one flat array of 32-byte nodes, named by
 * index, and lists of them. A node is a live range, a free one, or (linear) a
 * dead one that waits to be reused.
 *
 * A node that is in no use is on the stack of free slots or beyond used_slots.
 * Generations outlive that, so that a stale name of a range is told from a new
 * one. Internal to core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_NODES_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_NODES_H

#include "core/placement/placement.h"

enum placement_state {
    PLACEMENT_UNUSED = 0,
    PLACEMENT_LIVE = 1,
    PLACEMENT_FREE = 2,
    PLACEMENT_DEAD = 3,
};

/* Bits of where: offset 48, kind 5, state 2, tag 6 (buddy: order; linear:
 * sequence), generation 3. Bits of extent: size 49, generation 15. */
enum {
    PLACEMENT_OFFSET_BITS = 48,
    PLACEMENT_KIND_SHIFT = 48,
    PLACEMENT_KIND_MASK = 31,
    PLACEMENT_STATE_SHIFT = 53,
    PLACEMENT_STATE_MASK = 3,
    PLACEMENT_TAG_SHIFT = 55,
    PLACEMENT_TAG_MASK = 63,
    PLACEMENT_ERA_SHIFT = 61,
    PLACEMENT_SIZE_BITS = 49,
    PLACEMENT_SIZE_GENERATIONS = 15,
};

#define PLACEMENT_NONE MAAR_PLACEMENT_NO_NODE

enum {
    /* Second level of TLSF: 2^6 bins an octave. Measured in docs/placement.md. */
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
    struct placement_node* nodes;
    uint32_t* bins; /* heads; a bit of bin_words is set where one is not
                       PLACEMENT_NONE */
    uint64_t bin_summary;
    VkDeviceSize unit; /* TLSF: ranges begin and end at multiples of this power of two */
    VkDeviceSize size;
    VkDeviceSize granularity;
    uint32_t capacity;
    uint32_t used_slots; /* slots at and beyond it were not used since the last
                            reset */
    uint32_t free_slot;
    uint32_t slots_left;    /* on the stack of free slots and beyond used_slots */
    uint32_t touched_slots; /* slots that have a generation */
    uint32_t first;         /* lowest and highest node of the space; not linear */
    uint32_t last;
    VkDeviceSize used_size;
    VkDeviceSize padding_size; /* not linear, which derives it */
    uint32_t range_count;
    uint32_t bin_count;
    MaarPlacementStrategy strategy;
    uint32_t wanted_slots;
    uint32_t wanted_bins;
    uint32_t first_sequence; /* linear: 0 or 1, the older of the two upward runs */
    struct placement_sequence sequences[PLACEMENT_SEQUENCES];
    size_t storage_size;
    uint64_t bin_words[PLACEMENT_BIN_WORDS];
};

static inline VkDeviceSize placement_offset(const struct placement_node* node)
{
    return node->where & (((uint64_t)1 << PLACEMENT_OFFSET_BITS) - 1);
}

static inline VkDeviceSize placement_size(const struct placement_node* node)
{
    return node->extent & (((uint64_t)1 << PLACEMENT_SIZE_BITS) - 1);
}

static inline uint32_t placement_kind(const struct placement_node* node)
{
    return (uint32_t)(node->where >> PLACEMENT_KIND_SHIFT) & PLACEMENT_KIND_MASK;
}

static inline enum placement_state placement_state(const struct placement_node* node)
{
    return (enum placement_state)((node->where >> PLACEMENT_STATE_SHIFT) & PLACEMENT_STATE_MASK);
}

static inline uint32_t placement_tag(const struct placement_node* node)
{
    return (uint32_t)(node->where >> PLACEMENT_TAG_SHIFT) & PLACEMENT_TAG_MASK;
}

/* Sets all but the generation. */
static inline void placement_set(struct placement_node* node, enum placement_state state,
                                 VkDeviceSize offset, VkDeviceSize size)
{
    node->where = (node->where & ~(((uint64_t)1 << PLACEMENT_ERA_SHIFT) - 1)) |
                  ((uint64_t)state << PLACEMENT_STATE_SHIFT) | offset;
    node->extent = (node->extent & ~(((uint64_t)1 << PLACEMENT_SIZE_BITS) - 1)) | size;
}

/* After placement_set. */
static inline void placement_set_kind(struct placement_node* node, uint32_t kind)
{
    node->where |= (uint64_t)(kind & PLACEMENT_KIND_MASK) << PLACEMENT_KIND_SHIFT;
}

/* Moves a free node that stays free; the sum cannot leave its bits. */
static inline void placement_move(struct placement_node* node, VkDeviceSize offset,
                                  VkDeviceSize size)
{
    node->where += offset - placement_offset(node);
    node->extent += size - placement_size(node);
}

/* After placement_set. */
static inline void placement_set_tag(struct placement_node* node, uint32_t tag)
{
    node->where |= (uint64_t)(tag & PLACEMENT_TAG_MASK) << PLACEMENT_TAG_SHIFT;
}

static inline uint32_t placement_node_generation(const struct placement_node* node)
{
    return (uint32_t)(node->extent >> PLACEMENT_SIZE_BITS) |
           (uint32_t)(node->where >> PLACEMENT_ERA_SHIFT) << PLACEMENT_SIZE_GENERATIONS;
}

/* Makes every name of this node stale. */
static inline void placement_next_generation(struct placement_node* node)
{
    node->extent += (uint64_t)1 << PLACEMENT_SIZE_BITS;
    if (node->extent >> PLACEMENT_SIZE_BITS == 0) {
        node->where += (uint64_t)1 << PLACEMENT_ERA_SHIFT;
    }
}

/* Index of the highest bit; value is not 0. */
static inline uint32_t placement_log2(uint64_t value)
{
#if defined(__GNUC__)
    return 63u - (uint32_t)__builtin_clzll(value);
#else
    uint32_t bit = 0;
    for (uint32_t step = 32; step != 0; step >>= 1) {
        if (value >> step != 0) {
            value >>= step;
            bit += step;
        }
    }
    return bit;
#endif
}

/* Index of the lowest bit; value is not 0. */
static inline uint32_t placement_low_bit(uint64_t value)
{
#if defined(__GNUC__)
    return (uint32_t)__builtin_ctzll(value);
#else
    return placement_log2(value & (~value + 1));
#endif
}

static inline bool placement_is_power_of_two(uint64_t value)
{
    return (value & (value - 1)) == 0;
}

/* Lowest multiple of alignment at or above offset, which is below 2^49;
 * UINT64_MAX if none is. */
static inline VkDeviceSize placement_align_up(VkDeviceSize offset, VkDeviceSize alignment)
{
    if (alignment > MAAR_RANGE_MAX_SIZE) {
        return offset == 0 ? 0 : UINT64_MAX;
    }
    if (placement_is_power_of_two(alignment)) {
        return (offset + alignment - 1) & ~(alignment - 1);
    }
    const VkDeviceSize rest = offset % alignment;
    return rest == 0 ? offset : offset + (alignment - rest);
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
    }
    return slot;
}

/* Takes a node; placement_has_slots said that there is one. Its neighbours are
 * undefined. */
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
    node->where &= ~((uint64_t)PLACEMENT_STATE_MASK << PLACEMENT_STATE_SHIFT);
    node->next = placement->free_slot;
    placement->free_slot = slot;
    placement->slots_left += 1;
}

/* Inserts node into the space between two neighbours, either of which may be
 * PLACEMENT_NONE. */
static inline void placement_link(struct maar_placement* placement, uint32_t prev, uint32_t slot,
                                  uint32_t next)
{
    struct placement_node* nodes = placement->nodes;
    nodes[slot].prev = prev;
    nodes[slot].next = next;
    *(prev != PLACEMENT_NONE ? &nodes[prev].next : &placement->first) = slot;
    *(next != PLACEMENT_NONE ? &nodes[next].prev : &placement->last) = slot;
}

/* Makes two nodes neighbours, whatever was between them. */
static inline void placement_join(struct maar_placement* placement, uint32_t prev, uint32_t next)
{
    struct placement_node* nodes = placement->nodes;
    *(prev != PLACEMENT_NONE ? &nodes[prev].next : &placement->first) = next;
    *(next != PLACEMENT_NONE ? &nodes[next].prev : &placement->last) = prev;
}

static inline void placement_bin_insert(struct maar_placement* placement, uint32_t bin,
                                        uint32_t slot)
{
    struct placement_node* nodes = placement->nodes;
    uint32_t* head = &placement->bins[bin];
    const uint32_t next = *head;
    nodes[slot].u.bin.next = next;
    nodes[slot].u.bin.prev = PLACEMENT_NONE;
    *head = slot;
    if (next != PLACEMENT_NONE) {
        nodes[next].u.bin.prev = slot;
    } else {
        placement->bin_words[bin >> 6] |= (uint64_t)1 << (bin & 63);
        placement->bin_summary |= (uint64_t)1 << (bin >> 6);
    }
}

static inline void placement_bin_remove(struct maar_placement* placement, uint32_t bin,
                                        uint32_t slot)
{
    struct placement_node* nodes = placement->nodes;
    const uint32_t next = nodes[slot].u.bin.next;
    const uint32_t prev = nodes[slot].u.bin.prev;
    if (next != PLACEMENT_NONE) {
        nodes[next].u.bin.prev = prev;
    }
    if (prev != PLACEMENT_NONE) {
        nodes[prev].u.bin.next = next;
        return;
    }
    placement->bins[bin] = next;
    if (next == PLACEMENT_NONE) {
        uint64_t* word = &placement->bin_words[bin >> 6];
        *word &= ~((uint64_t)1 << (bin & 63));
        if (*word == 0) {
            placement->bin_summary &= ~((uint64_t)1 << (bin >> 6));
        }
    }
}

/* First bin at or above bin that holds anything, or PLACEMENT_NONE. */
static inline uint32_t placement_bin_next(const struct maar_placement* placement, uint32_t bin)
{
    uint32_t word = bin >> 6;
    if (word >= PLACEMENT_BIN_WORDS) {
        return PLACEMENT_NONE;
    }
    const uint64_t bits = placement->bin_words[word] & (UINT64_MAX << (bin & 63));
    if (bits != 0) {
        return (word << 6) + placement_low_bit(bits);
    }
    const uint64_t words = placement->bin_summary & (UINT64_MAX << 1 << word);
    if (words == 0) {
        return PLACEMENT_NONE;
    }
    word = placement_low_bit(words);
    return (word << 6) + placement_low_bit(placement->bin_words[word]);
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
    placement->padding_size += extent - size;
}

static inline void placement_count_out(struct maar_placement* placement, VkDeviceSize size,
                                       VkDeviceSize extent)
{
    placement->range_count -= 1;
    placement->used_size -= size;
    placement->padding_size -= extent - size;
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
VkResult maar_tlsf_allocate(struct maar_placement* placement,
                            const struct maar_placement_request* request,
                            struct maar_placement_range* range);
void maar_tlsf_free(struct maar_placement* placement, uint32_t slot);
VkResult maar_tlsf_resize(struct maar_placement* placement, VkDeviceSize size);
VkDeviceSize maar_tlsf_largest_free_bound(const struct maar_placement* placement);
const char* maar_tlsf_check(const struct maar_placement* placement);

void maar_buddy_reset(struct maar_placement* placement);
VkResult maar_buddy_allocate(struct maar_placement* placement,
                             const struct maar_placement_request* request,
                             struct maar_placement_range* range);
void maar_buddy_free(struct maar_placement* placement, uint32_t slot);
VkResult maar_buddy_resize(struct maar_placement* placement, VkDeviceSize size);
VkDeviceSize maar_buddy_largest_free_bound(const struct maar_placement* placement);
const char* maar_buddy_check(const struct maar_placement* placement);

void maar_linear_reset(struct maar_placement* placement);
VkResult maar_linear_allocate(struct maar_placement* placement,
                              const struct maar_placement_request* request,
                              struct maar_placement_range* range);
void maar_linear_free(struct maar_placement* placement, uint32_t slot);
VkDeviceSize maar_linear_free_size(const struct maar_placement* placement);
VkDeviceSize maar_linear_largest_free_bound(const struct maar_placement* placement);
uint32_t maar_linear_lower(const struct maar_placement* placement, uint32_t slot);
uint32_t maar_linear_higher(const struct maar_placement* placement, uint32_t slot);
void maar_linear_walk(const struct maar_placement* placement, struct placement_walk* walk);
const char* maar_linear_check(const struct maar_placement* placement);

/* Frees a node that is known to be live. */
static inline void placement_free_live(struct maar_placement* placement, uint32_t slot)
{
    placement_next_generation(&placement->nodes[slot]);
    switch (placement->strategy) {
    case MAAR_PLACEMENT_STRATEGY_BUDDY:
        maar_buddy_free(placement, slot);
        break;
    case MAAR_PLACEMENT_STRATEGY_LINEAR:
        maar_linear_free(placement, slot);
        break;
    default:
        maar_tlsf_free(placement, slot);
        break;
    }
}

#endif
