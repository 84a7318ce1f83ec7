/*
 * Checks a placement: first the invariants of every strategy, then those of the placement's own
 * strategy, and last the sums over a walk.
 */
#include "core/placement/placement_buddy.h"
#include "core/placement/placement_linear.h"
#include "core/placement/placement_sums.h"
#include "core/placement/placement_tlsf.h"

/* Checks the segments: where the nodes end that are in use, and those that have a generation. */
static const char* check_segments(const struct maar_placement* placement)
{
    uint32_t capacity = 0;
    for (uint32_t segment = 0; segment < placement->segment_limit; ++segment) {
        const uint32_t begin = placement_segment_begin(segment);
        const bool exists = segment < placement->segments;
        const uint32_t end = exists ? placement_segment_end(placement, segment) : begin;
        uint32_t fast_end = placement->fresh_slot < end ? placement->fresh_slot : end;
        if (placement->fresh_slot <= begin || placement->strategy != MAAR_PLACEMENT_STRATEGY_TLSF) {
            fast_end = 0;
        }
        if (placement->fast_ends[segment] != fast_end) {
            return "the ends of the nodes in use are wrong";
        }
        capacity += (end - begin) / PLACEMENT_SLOT_STEP;
    }
    const uint32_t last = placement->segments - 1;
    if (capacity != placement->capacity || placement->fresh_slot % PLACEMENT_SLOT_STEP != 0 ||
        placement->touched_end > placement_segment_end(placement, last) ||
        placement->fresh_slot > placement->touched_end ||
        placement->fresh_slot > placement_segment_end(placement, last) ||
        placement->fresh_end !=
            placement_segment_end(placement, placement->fresh_slot >> PLACEMENT_SEGMENT_SHIFT)) {
        return "more nodes are in use than the storage holds";
    }
    return NULL;
}

/* What check_slots counts. */
struct slot_counts {
    uint32_t of_state[PLACEMENT_STATES]; /* nodes in use */
    uint32_t fresh;
    uint32_t retired; /* unused nodes that are retired */
    bool retired_live;
};

static struct slot_counts count_slots(const struct maar_placement* placement)
{
    struct slot_counts counts = {.fresh = placement->capacity - 1};
    uint32_t slot = PLACEMENT_SLOT_STEP;
    for (; slot < placement->touched_end; slot = placement_slot_after(placement, slot)) {
        const struct placement_node* node = placement_at(placement, slot);
        const bool is_used = slot < placement->fresh_slot;
        const bool is_retired = placement_is_retired(node->where);
        counts.of_state[placement_state(node)] += is_used;
        counts.fresh -= is_used || is_retired;
        counts.retired += is_retired && is_used && placement_state(node) == PLACEMENT_UNUSED;
        counts.retired_live = counts.retired_live ||
                              (is_retired && is_used && placement_state(node) == PLACEMENT_LIVE);
    }
    return counts;
}

static const char* check_slots(const struct maar_placement* placement)
{
    if (placement_state(placement_at(placement, PLACEMENT_NONE)) != PLACEMENT_DEAD) {
        return "the border has a wrong state";
    }
    const struct slot_counts counts = count_slots(placement);
    if (counts.retired_live) {
        return "a retired node is live";
    }
    uint32_t unused = 0;
    for (uint32_t slot = placement->free_slot; slot != PLACEMENT_NONE;) {
        if (!placement_is_used(placement, slot) || ++unused > placement->capacity) {
            return "the stack of unused nodes has a bad link";
        }
        const struct placement_node* node = placement_at(placement, slot);
        if (placement_state(node) != PLACEMENT_UNUSED ||
            node->where != placement_unused_where(node->where) || placement_size(node) != 0) {
            return "the stack of unused nodes has a bad link";
        }
        slot = node->next;
    }
    if (counts.of_state[PLACEMENT_UNUSED] != unused + counts.retired) {
        return "an unused node is not on the stack";
    }
    if (placement->fresh_left != counts.fresh) {
        return "the count of unused nodes is wrong";
    }
    if (counts.of_state[PLACEMENT_LIVE] != placement->range_count) {
        return "the count of live ranges is wrong";
    }
    return NULL;
}

/* Returns the link by which neighbours refer to a node. Only TLSF flags free nodes in links. */
static uint32_t check_link(const struct maar_placement* placement, uint32_t slot)
{
    const bool is_reported = placement->strategy == MAAR_PLACEMENT_STRATEGY_TLSF &&
                             placement_state(placement_at(placement, slot)) == PLACEMENT_FREE;
    return is_reported ? slot | PLACEMENT_LINK_FREE : slot;
}

/* Checks the list of neighbours, which linear placements do not have. */
static const char* check_neighbours(const struct maar_placement* placement)
{
    uint32_t prev = PLACEMENT_NONE;
    uint32_t seen = 0;
    uint32_t link = placement_at(placement, PLACEMENT_NONE)->next;
    for (uint32_t slot = link & ~PLACEMENT_LINK_FLAGS; slot != PLACEMENT_NONE;) {
        if (!placement_is_used(placement, slot) || ++seen > placement->capacity) {
            return "the list of neighbours has a bad link";
        }
        const struct placement_node* node = placement_at(placement, slot);
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
    const bool is_tlsf = placement->strategy == MAAR_PLACEMENT_STRATEGY_TLSF;
    if (link != PLACEMENT_NONE && (!is_tlsf || link != (PLACEMENT_NONE | PLACEMENT_LINK_ODD))) {
        return "the flag of a link does not match the state of the neighbour";
    }
    return placement_at(placement, PLACEMENT_NONE)->prev == check_link(placement, prev)
               ? NULL
               : "the border does not link to the last neighbour";
}

const char* maar_placement_check(const struct maar_placement* placement)
{
    const bool is_linear = placement->strategy == MAAR_PLACEMENT_STRATEGY_LINEAR;
    const char* broken = check_segments(placement);
    if (broken == NULL) {
        broken = check_slots(placement);
    }
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
