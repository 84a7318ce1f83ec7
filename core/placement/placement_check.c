/*
 * Checks a placement: first the invariants of every strategy, then those of the placement's own
 * strategy, and last the sums over a walk.
 */
#include "core/placement/placement_buddy.h"
#include "core/placement/placement_linear.h"
#include "core/placement/placement_sums.h"
#include "core/placement/placement_tlsf.h"

static const char* check_slots(const struct maar_placement* placement)
{
    uint32_t counts[PLACEMENT_DEAD + 1] = {0};
    uint32_t unused = 0;
    if (placement_state(&placement->nodes[PLACEMENT_NONE]) != PLACEMENT_DEAD) {
        return "the border has a wrong state";
    }
    if (placement->used_slots > placement->touched_slots ||
        placement->touched_slots > placement->capacity) {
        return "more nodes are in use than the storage holds";
    }
    uint32_t retired = 0;       /* unused nodes that are retired */
    uint32_t retired_above = 0; /* of these, behind the nodes in use */
    for (uint32_t slot = 1; slot < placement->touched_slots; ++slot) {
        const struct placement_node* node = &placement->nodes[slot];
        const bool is_used = slot < placement->used_slots;
        counts[placement_state(node)] += is_used;
        if (placement_is_retired(node->where)) {
            if (is_used && placement_state(node) == PLACEMENT_LIVE) {
                return "a retired node is live";
            }
            retired += is_used && placement_state(node) == PLACEMENT_UNUSED;
            retired_above += !is_used;
        }
    }
    for (uint32_t slot = placement->free_slot; slot != PLACEMENT_NONE;) {
        if (slot >= placement->used_slots || ++unused > placement->used_slots ||
            placement_state(&placement->nodes[slot]) != PLACEMENT_UNUSED ||
            (placement->nodes[slot].where & ~(uint64_t)PLACEMENT_ERA_MASK) != 0 ||
            placement_size(&placement->nodes[slot]) != 0) {
            return "the stack of unused nodes has a bad link";
        }
        slot = placement->nodes[slot].next;
    }
    if (counts[PLACEMENT_UNUSED] != unused + retired) {
        return "an unused node is not on the stack";
    }
    if (placement->slots_left !=
        placement->capacity - placement->used_slots + unused - retired_above) {
        return "the count of unused nodes is wrong";
    }
    if (counts[PLACEMENT_LIVE] != placement->range_count) {
        return "the count of live ranges is wrong";
    }
    return NULL;
}

/* Returns the link by which neighbours refer to a node. Only TLSF flags free nodes in links. */
static uint32_t check_link(const struct maar_placement* placement, uint32_t slot)
{
    const bool is_reported = placement->strategy == MAAR_PLACEMENT_STRATEGY_TLSF &&
                             placement_state(&placement->nodes[slot]) == PLACEMENT_FREE;
    return is_reported ? slot | PLACEMENT_LINK_FREE : slot;
}

/* Checks the list of neighbours, which linear placements do not have. */
static const char* check_neighbours(const struct maar_placement* placement)
{
    uint32_t prev = PLACEMENT_NONE;
    uint32_t seen = 0;
    uint32_t link = placement->nodes[PLACEMENT_NONE].next;
    for (uint32_t slot = link & ~PLACEMENT_LINK_FREE; slot != PLACEMENT_NONE;) {
        if (slot >= placement->used_slots || ++seen > placement->used_slots) {
            return "the list of neighbours has a bad link";
        }
        const struct placement_node* node = &placement->nodes[slot];
        if (node->prev != check_link(placement, prev)) {
            return "the list of neighbours has a wrong backward link";
        }
        if (placement_state(node) != PLACEMENT_LIVE && placement_state(node) != PLACEMENT_FREE) {
            return "an unused node is among the neighbours";
        }
        if (link != check_link(placement, slot)) {
            return "the flag of a link does not match the state of the neighbour";
        }
        prev = slot;
        link = node->next;
        slot = placement_next(node);
    }
    return placement->nodes[PLACEMENT_NONE].prev == check_link(placement, prev)
               ? NULL
               : "the border does not link to the last neighbour";
}

const char* maar_placement_check(const struct maar_placement* placement)
{
    const bool is_linear = placement->strategy == MAAR_PLACEMENT_STRATEGY_LINEAR;
    const char* broken = check_slots(placement);
    if (broken == NULL && !is_linear) {
        broken = check_neighbours(placement);
    }
    if (broken == NULL) {
        switch (placement->strategy) {
        case MAAR_PLACEMENT_STRATEGY_BUDDY:
            broken = maar_buddy_check(placement);
            break;
        case MAAR_PLACEMENT_STRATEGY_LINEAR:
            broken = maar_linear_check(placement);
            break;
        default:
            broken = maar_tlsf_check(placement);
            break;
        }
    }
    if (broken != NULL) {
        return broken;
    }
    struct placement_sums sums = {.placement = placement};
    maar_placement_walk(placement, maar_placement_sum_up, &sums);
    struct maar_placement_totals totals;
    maar_placement_totals(placement, &totals);
    if (sums.broken != NULL) {
        return sums.broken;
    }
    if (sums.cursor != placement->size) {
        return "the entries of a walk do not cover the space";
    }
    if (sums.range_count != totals.range_count || sums.used_size != totals.used_size ||
        sums.free_size != totals.free_size ||
        totals.used_size + totals.padding_size + totals.free_size != placement->size) {
        return "the totals are not the sums of the ranges";
    }
    return NULL;
}
