/*
 * Divides live ranges of TLSF placements, undoes that, joins neighbours, and changes their kinds. A
 * range begins and ends at multiples of its own unit, so both parts keep this unit, and no free
 * range is touched.
 */
#include "core/placement/placement_divide.h"

#include "core/placement/placement_granules.h"
#include "core/placement/placement_joins.h"
#include "core/placement/placement_slots.h"

enum maar_place_outcome maar_placement_divide(struct maar_placement* placement, uint32_t slot,
                                              VkDeviceSize size, uint64_t user,
                                              struct maar_placement_range* rest)
{
    struct placement_node* node = placement_at(placement, slot);
    rest->node = MAAR_PLACEMENT_NO_NODE;
    const VkDeviceSize whole = placement_size(node);
    MAAR_DEBUG_ASSERT(placement_state(node) == PLACEMENT_LIVE && size != 0 && size <= whole);
    VkDeviceSize cut = whole;
    if (placement->strategy == MAAR_PLACEMENT_STRATEGY_TLSF) {
        const VkDeviceSize unit = (VkDeviceSize)1 << (placement_tag(node) - PLACEMENT_SIZE_SHIFT);
        cut = (size + unit - 1) & (0 - unit);
    }
    if (cut >= whole) {
        node->extent -= (whole - size) << PLACEMENT_SIZE_SHIFT;
        placement->used_size -= whole - size;
        return MAAR_PLACE_NO_ROOM;
    }
    if (!placement_has_slots(placement, 1)) {
        return MAAR_PLACE_WANTS_STORAGE;
    }
    const VkDeviceSize offset = placement_offset(node);
    const uint64_t meta = node->where & PLACEMENT_META_MASK & ~(uint64_t)PLACEMENT_ERA_MASK;
    const uint32_t part = placement_take_slot(placement);
    struct placement_node* behind = placement_at(placement, part);
    placement_set(behind, meta, offset + cut, whole - cut);
    behind->u.user = user;
    behind->prev = slot;
    behind->next = node->next; /* with its flags: the part is the neighbour of what follows */
    placement_at(placement, placement_next(node))->prev = part;
    node->next = part;
    placement_set(node, meta, offset, size);
    placement->range_count += 1;
    placement->used_size -= cut - size;
    rest->offset = offset + cut;
    rest->size = whole - cut;
    rest->node = part;
    rest->generation = placement_node_generation(behind);
    return MAAR_PLACED;
}

/* Removes the live range behind a node, and leaves its bytes to the node. */
static void absorb_live(struct maar_placement* placement, struct placement_node* node,
                        uint32_t slot, uint32_t rest)
{
    struct placement_node* behind = placement_at(placement, rest);
    MAAR_DEBUG_ASSERT(node->next == rest && placement_state(behind) == PLACEMENT_LIVE);
    placement->range_count -= 1;
    placement->used_size -= placement_size(behind);
    node->next = behind->next;
    placement_at(placement, placement_next(behind))->prev = slot;
    const uint64_t generation = placement_following_generation(behind);
    if (generation == 0) {
        behind->where = placement_age(placement, behind->where);
    }
    if (placement_is_retired(behind->where)) {
        placement_retire(behind);
        return;
    }
    placement_tlsf_clear(behind, generation);
    placement_tlsf_stack(placement, behind, rest);
}

void maar_placement_reunite(struct maar_placement* placement, uint32_t slot, uint32_t rest,
                            VkDeviceSize size)
{
    struct placement_node* node = placement_at(placement, slot);
    MAAR_DEBUG_ASSERT(size >= placement_size(node));
    if (rest != MAAR_PLACEMENT_NO_NODE) {
        absorb_live(placement, node, slot, rest);
    }
    const VkDeviceSize more = size - placement_size(node);
    node->extent += more << PLACEMENT_SIZE_SHIFT;
    placement->used_size += more;
}

void maar_placement_join(struct maar_placement* placement, uint32_t slot, uint32_t next)
{
    struct placement_node* node = placement_at(placement, slot);
    const struct placement_node* behind = placement_at(placement, next);
    MAAR_DEBUG_ASSERT(placement_state(node) == PLACEMENT_LIVE && slot != next);
    const VkDeviceSize size =
        placement_offset(behind) + placement_size(behind) - placement_offset(node);
    /* The whole range begins and ends at multiples of the lesser unit. */
    const uint64_t tag =
        placement_tag(behind) < placement_tag(node) ? placement_tag(behind) : placement_tag(node);
    node->where = (node->where & ~(uint64_t)PLACEMENT_TAG_MASK) | tag;
    maar_placement_reunite(placement, slot, next, size);
}

/* Returns the slot that stands for a node where a neighbour is expected. */
static uint32_t neighbour_slot(uint32_t node)
{
    return node != MAAR_PLACEMENT_NO_NODE ? node : PLACEMENT_NONE;
}

bool maar_placement_kind_fits(const struct maar_placement* placement, uint32_t kind,
                              const struct maar_placement_hull* hull)
{
    return !placement_minds_kind(placement, kind) ||
           (maar_placement_clear_below(placement, neighbour_slot(hull->below), kind, hull->begin) ==
                hull->begin &&
            maar_placement_clear_above(placement, neighbour_slot(hull->above), kind, hull->end));
}

void maar_placement_set_kind(struct maar_placement* placement, uint32_t slot, uint32_t kind)
{
    struct placement_node* node = placement_at(placement, slot);
    MAAR_DEBUG_ASSERT(placement_state(node) == PLACEMENT_LIVE && kind <= PLACEMENT_KIND_MASK);
    node->where = (node->where & ~((uint64_t)PLACEMENT_KIND_MASK << PLACEMENT_KIND_SHIFT)) |
                  (uint64_t)kind << PLACEMENT_KIND_SHIFT;
}
