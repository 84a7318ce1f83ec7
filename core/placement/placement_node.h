/*
 * One node of a placement: 32 bytes that describe a live range, a free range or, in linear
 * placements, a dead range, which cannot be reused yet. All nodes are in one array, and a node is
 * named by its index.
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

enum placement_state {
    PLACEMENT_UNUSED = 0,
    PLACEMENT_LIVE = 1,
    PLACEMENT_FREE = 2,
    PLACEMENT_DEAD = 3, /* linear: freed, but not reusable yet. The border also has this state */
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
    /* The generation that the owner receives has the tag, kind and era of `where` above the
     * generation bits of `extent`. */
    PLACEMENT_NAME_SHIFT = PLACEMENT_SIZE_SHIFT,
    PLACEMENT_NAME_MASK = (1 << PLACEMENT_STATE_SHIFT) - 1,
};

/* The index of the border, which is no range. Where a node is expected, this index stands for no
 * node. */
#define PLACEMENT_NONE 0u
/* A flag of a link in a TLSF placement: the neighbour is free. */
#define PLACEMENT_LINK_FREE 0x80000000u

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
    return node->prev & ~PLACEMENT_LINK_FREE;
}

static inline uint32_t placement_next(const struct placement_node* node)
{
    return node->next & ~PLACEMENT_LINK_FREE;
}

/* Returns all parts of `where` except offset and era. */
static inline uint64_t placement_meta(enum placement_state state, uint32_t kind, uint32_t tag)
{
    return ((uint64_t)state << PLACEMENT_STATE_SHIFT) | ((uint64_t)kind << PLACEMENT_KIND_SHIFT) |
           tag;
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
 * number contains kind and tag as well, which do not change while the range lives. */
static inline uint32_t placement_node_generation(const struct placement_node* node)
{
    const uint32_t meta = (uint32_t)node->where & PLACEMENT_NAME_MASK;
    return meta << PLACEMENT_NAME_SHIFT | ((uint32_t)node->extent & PLACEMENT_GENERATION_MASK);
}

/* Returns whether a node is live and of this generation. */
static inline bool placement_is_named(const struct placement_node* node, uint64_t generation)
{
    const uint64_t meta = node->where & PLACEMENT_META_MASK;
    return (generation >> PLACEMENT_NAME_SHIFT) + placement_meta(PLACEMENT_LIVE, 0, 0) == meta &&
           ((generation ^ node->extent) & PLACEMENT_GENERATION_MASK) == 0;
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
