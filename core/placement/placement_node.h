/*
 * One node of a placement: 32 bytes that describe a live range, a free range or, in linear
 * placements, a dead range, which cannot be reused yet. Nodes are in segments, and a node is named
 * by its slot: the number of its segment, and its index there. placement_space.h finds a node.
 *
 * A node that is not in use keeps its generation. So the name of a range that was freed differs
 * from later names of the same node. The last era is for nodes that are retired: such a node never
 * becomes live again, since its names would repeat. It costs 32 bytes for 196,608 uses or more.
 * Internal to core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_NODE_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_NODE_H

#include "core/bits.h"
#include "core/check.h"
#include "core/placement/placement.h"

/* A name has only zeros where the state is, so it equals that of a live node alone. An unused node
 * that takes the state of a free node is free: UNUSED | FREE = FREE. */
enum placement_state {
    PLACEMENT_LIVE = 0,
    PLACEMENT_UNUSED = 1,
    PLACEMENT_DEAD = 2, /* linear: freed, but not reusable yet. The border also has this state */
    PLACEMENT_FREE = 3,
    PLACEMENT_STATES = 4,
};

/* Bits of `where`, from the lowest: tag 6 (buddy: order; linear: run; TLSF: the power of two that
 * divides the extent), kind 5, era 3 (upper part of the generation), state 2, offset 48. Bits of
 * `extent`: generation 15, size 49. The most used part is in the highest bits. So one shift reads
 * this part, extents are compared without a shift, and an addition to this part leaves the other
 * parts unchanged. */
enum {
    PLACEMENT_TAG_MASK = 63,
    PLACEMENT_KIND_SHIFT = 6,
    PLACEMENT_KIND_MASK = 31,
    PLACEMENT_ERA_SHIFT = 11,
    PLACEMENT_ERA_MASK = 7 << PLACEMENT_ERA_SHIFT,
    /* The next reset retires nodes of this era. */
    PLACEMENT_OLD_ERA = 6 << PLACEMENT_ERA_SHIFT,
    PLACEMENT_STATE_SHIFT = 14,
    PLACEMENT_STATE_MASK = 3 << PLACEMENT_STATE_SHIFT,
    PLACEMENT_OFFSET_SHIFT = 16,
    PLACEMENT_META_MASK = (1 << PLACEMENT_OFFSET_SHIFT) - 1,
    PLACEMENT_OFFSET_BITS = 48,
    PLACEMENT_SIZE_SHIFT = 15,
    PLACEMENT_GENERATION_MASK = (1 << PLACEMENT_SIZE_SHIFT) - 1,
    /* The generation that the owner receives: the lowest bits of `where` without the state, and
     * below them the lowest bits of `extent`. */
    PLACEMENT_NAME_BITS = 16,
    /* A slot is a multiple of PLACEMENT_SLOT_STEP. So 8 times a slot is the distance of two nodes
     * in bytes, which a processor adds to an address in the instruction that reads the node. */
    PLACEMENT_SLOT_STEP = (int)MAAR_PLACEMENT_NODE_STEP,
    /* The highest byte of a slot is the number of the segment. */
    PLACEMENT_SEGMENT_SHIFT = 24,
    PLACEMENT_SEGMENTS = 256,
    /* The maximum number of segments of a placement that has few: see placement.c. */
    PLACEMENT_FEW_SEGMENTS = 64,
    /* The maximum number of nodes of a segment. A link still names the end of the segment. */
    PLACEMENT_SEGMENT_NODES = (1 << PLACEMENT_SEGMENT_SHIFT) / PLACEMENT_SLOT_STEP - 16,
};

/* The slot of the border, which is no range. Where a node is expected, this slot stands for no
 * node. */
#define PLACEMENT_NONE 0u
/* Flags of a link in a TLSF placement. Without its flags, a link is a slot. */
/* The neighbour is free. */
#define PLACEMENT_LINK_FREE 1u
/* In the next link of the last range: this range is odd, as placement_tlsf.c explains. The fast
 * path does not free it. */
#define PLACEMENT_LINK_ODD 2u
#define PLACEMENT_LINK_FLAGS (PLACEMENT_LINK_FREE | PLACEMENT_LINK_ODD)

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

/* The following functions return the parts of a node. */
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

/* Returns a neighbour of a node, whether that neighbour is free or not. */
static inline uint32_t placement_prev(const struct placement_node* node)
{
    return node->prev & ~PLACEMENT_LINK_FLAGS;
}

static inline uint32_t placement_next(const struct placement_node* node)
{
    return node->next & ~PLACEMENT_LINK_FLAGS;
}

/* Returns all parts of `where` except offset and era. */
static inline uint64_t placement_meta(enum placement_state state, uint32_t kind, uint32_t tag)
{
    return ((uint64_t)state << PLACEMENT_STATE_SHIFT) | ((uint64_t)kind << PLACEMENT_KIND_SHIFT) |
           tag;
}

/* Returns the `where` of a node that is not in use any more. */
static inline uint64_t placement_unused_where(uint64_t where)
{
    return (where & PLACEMENT_ERA_MASK) | placement_meta(PLACEMENT_UNUSED, 0, 0);
}

/* Sets everything except the generation. */
static inline void placement_set(struct placement_node* node, uint64_t meta, VkDeviceSize offset,
                                 VkDeviceSize size)
{
    MAAR_DEBUG_ASSERT((meta & PLACEMENT_ERA_MASK) == 0 && meta <= PLACEMENT_META_MASK);
    MAAR_DEBUG_ASSERT(offset <= MAAR_RANGE_MAX_SIZE && size <= MAAR_RANGE_MAX_SIZE);
    node->where = (node->where & PLACEMENT_ERA_MASK) | meta | offset << PLACEMENT_OFFSET_SHIFT;
    node->extent = (node->extent & PLACEMENT_GENERATION_MASK) | size << PLACEMENT_SIZE_SHIFT;
}

/* Returns the number that distinguishes a live range from earlier ranges of the same node. The
 * number also contains kind, tag and the lowest bit of the size, which do not change while the
 * range lives. It is below 2^MAAR_PLACEMENT_GENERATION_BITS. */
static inline uint32_t placement_node_generation(const struct placement_node* node)
{
    MAAR_DEBUG_ASSERT(placement_state(node) == PLACEMENT_LIVE);
    return (uint32_t)node->where << PLACEMENT_NAME_BITS | (uint16_t)node->extent;
}

/* Returns whether a node is live and has this generation, which is below
 * 2^MAAR_PLACEMENT_GENERATION_BITS. */
static inline bool placement_is_named(const struct placement_node* node, uint32_t generation)
{
    return (uint16_t)node->extent == (uint16_t)generation &&
           (uint16_t)node->where == (uint16_t)(generation >> PLACEMENT_NAME_BITS);
}

/* Returns the generation that follows that of a node. It is 0 when the next era begins. */
static inline uint64_t placement_following_generation(const struct placement_node* node)
{
    return (node->extent + 1) & PLACEMENT_GENERATION_MASK;
}

/* Returns `where` with the next era. It is not the last one: no retired node is used. */
static inline uint64_t placement_next_era(uint64_t where)
{
    MAAR_DEBUG_ASSERT((where & PLACEMENT_ERA_MASK) != PLACEMENT_ERA_MASK);
    return where + ((uint64_t)1 << PLACEMENT_ERA_SHIFT);
}

/* Whether a node is retired. It may be a free range still. */
static inline bool placement_is_retired(uint64_t where)
{
    return (where & PLACEMENT_ERA_MASK) == PLACEMENT_ERA_MASK;
}

#endif
