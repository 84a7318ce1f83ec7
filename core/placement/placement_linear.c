/*
 * Linear: ranges in the order of their allocation; both ends of that order can
 * be taken back.
 *
 * Three runs of nodes, each by age: two that grow upward, the older one and,
 * when the space below it has become free, a younger one from offset 0
 * (together a ring); and one that grows downward from the end (together a
 * double stack). A freed range inside a run stays as a dead node, joined with
 * dead neighbours, until an end of its run reaches it; so the ends of a run are
 * live.
 *
 *   0 | younger > ... free ... | older > ... free ... < upper | size
 */
#include "core/placement/placement_nodes.h"

static uint32_t linear_older(const struct maar_placement* placement)
{
    return placement->first_sequence;
}

static uint32_t linear_younger(const struct maar_placement* placement)
{
    return placement->first_sequence ^ 1u;
}

static uint32_t linear_oldest(const struct maar_placement* placement, uint32_t sequence)
{
    return placement->sequences[sequence].oldest;
}

static uint32_t linear_newest(const struct maar_placement* placement, uint32_t sequence)
{
    return placement->sequences[sequence].newest;
}

/* Where an upward run ends; 0 for an empty one. */
static VkDeviceSize linear_head(const struct maar_placement* placement, uint32_t sequence)
{
    const uint32_t slot = linear_newest(placement, sequence);
    if (slot == PLACEMENT_NONE) {
        return 0;
    }
    const struct placement_node* node = &placement->nodes[slot];
    return placement_offset(node) + placement_size(node);
}

/* Where the older run begins; 0 if it is empty. */
static VkDeviceSize linear_tail(const struct maar_placement* placement)
{
    const uint32_t slot = linear_oldest(placement, linear_older(placement));
    return slot != PLACEMENT_NONE ? placement_offset(&placement->nodes[slot]) : 0;
}

/* Where the upper run begins, seen from below. */
static VkDeviceSize linear_ceiling(const struct maar_placement* placement)
{
    const uint32_t slot = linear_newest(placement, PLACEMENT_SEQUENCE_UPPER);
    return slot != PLACEMENT_NONE ? placement_offset(&placement->nodes[slot]) : placement->size;
}

void maar_linear_reset(struct maar_placement* placement)
{
    placement->first_sequence = 0;
    for (uint32_t i = 0; i < PLACEMENT_SEQUENCES; ++i) {
        placement->sequences[i] =
            (struct placement_sequence){.oldest = PLACEMENT_NONE, .newest = PLACEMENT_NONE};
    }
}

uint32_t maar_linear_lower(const struct maar_placement* placement, uint32_t slot)
{
    const struct placement_node* node = &placement->nodes[slot];
    const uint32_t sequence = placement_tag(node);
    if (sequence == PLACEMENT_SEQUENCE_UPPER) {
        return node->next != PLACEMENT_NONE ? node->next
                                            : linear_newest(placement, linear_older(placement));
    }
    if (node->prev == PLACEMENT_NONE && sequence == linear_older(placement)) {
        return linear_newest(placement, linear_younger(placement));
    }
    return node->prev;
}

uint32_t maar_linear_higher(const struct maar_placement* placement, uint32_t slot)
{
    const struct placement_node* node = &placement->nodes[slot];
    const uint32_t sequence = placement_tag(node);
    if (sequence == PLACEMENT_SEQUENCE_UPPER) {
        return node->prev;
    }
    if (node->next != PLACEMENT_NONE) {
        return node->next;
    }
    return sequence == linear_older(placement) ? linear_newest(placement, PLACEMENT_SEQUENCE_UPPER)
                                               : linear_oldest(placement, linear_older(placement));
}

/* The upper run's place: as high as possible under the ceiling. */
static VkDeviceSize linear_fit_upper(const struct maar_placement* placement,
                                     const struct maar_placement_request* request)
{
    const uint32_t below = linear_newest(placement, linear_older(placement));
    const uint32_t above = linear_newest(placement, PLACEMENT_SEQUENCE_UPPER);
    const VkDeviceSize floor = linear_head(placement, linear_older(placement));
    VkDeviceSize ceiling = linear_ceiling(placement);
    for (uint32_t attempt = 0; attempt < 2; ++attempt) {
        if (!placement_fits(floor, request->size, ceiling)) {
            return UINT64_MAX;
        }
        VkDeviceSize offset = ceiling - request->size;
        offset -= offset % request->alignment;
        if (offset < floor) {
            return UINT64_MAX;
        }
        const VkDeviceSize end = offset + request->size;
        if (!placement_minds_kind(placement, request->kind)) {
            return offset;
        }
        if (maar_placement_clear_above(placement, above, request->kind, end)) {
            return maar_placement_clear_below(placement, below, request->kind, offset) == offset
                       ? offset
                       : UINT64_MAX;
        }
        ceiling = (end - 1) & ~(placement->granularity - 1);
    }
    return UINT64_MAX;
}

/* Chooses the run and the offset; UINT64_MAX if there is no place. */
static VkDeviceSize linear_find(const struct maar_placement* placement,
                                const struct maar_placement_request* request, uint32_t* sequence)
{
    const uint32_t older = linear_older(placement);
    const uint32_t younger = linear_younger(placement);
    const uint32_t tail = linear_oldest(placement, older);
    const bool is_ring = linear_oldest(placement, younger) != PLACEMENT_NONE;
    VkDeviceSize offset = UINT64_MAX;
    if (request->upper) {
        *sequence = PLACEMENT_SEQUENCE_UPPER;
        return linear_fit_upper(placement, request);
    }
    if (is_ring) {
        *sequence = younger;
        offset = maar_placement_fit(placement, request, linear_newest(placement, younger), tail,
                                    linear_head(placement, younger), linear_tail(placement));
    }
    if (offset == UINT64_MAX) {
        *sequence = older;
        offset = maar_placement_fit(placement, request, linear_newest(placement, older),
                                    linear_newest(placement, PLACEMENT_SEQUENCE_UPPER),
                                    linear_head(placement, older), linear_ceiling(placement));
    }
    if (offset == UINT64_MAX && !is_ring && linear_tail(placement) != 0) {
        *sequence = younger;
        offset =
            maar_placement_fit(placement, request, PLACEMENT_NONE, tail, 0, linear_tail(placement));
    }
    return offset;
}

/* linear_find for what needs no look at neighbours: upward, kinds do not
 * matter. */
static inline VkDeviceSize linear_find_plain(const struct maar_placement* placement,
                                             VkDeviceSize size, VkDeviceSize alignment,
                                             uint32_t* sequence)
{
    const uint32_t older = linear_older(placement);
    const uint32_t younger = linear_younger(placement);
    const bool is_ring = linear_oldest(placement, younger) != PLACEMENT_NONE;
    const VkDeviceSize end = is_ring ? linear_tail(placement) : linear_ceiling(placement);
    *sequence = is_ring ? younger : older;
    const VkDeviceSize offset = placement_align_up(linear_head(placement, *sequence), alignment);
    return placement_fits(offset, size, end) ? offset : UINT64_MAX;
}

enum maar_place_outcome maar_linear_allocate(struct maar_placement* placement,
                                             const struct maar_placement_request* request,
                                             struct maar_placement_range* range)
{
    uint32_t tag = 0;
    VkDeviceSize offset = UINT64_MAX;
    if (!request->upper && !placement_minds_kind(placement, request->kind)) {
        offset = linear_find_plain(placement, request->size, request->alignment, &tag);
    }
    if (offset == UINT64_MAX) {
        offset = linear_find(placement, request, &tag);
    }
    if (offset == UINT64_MAX) {
        return MAAR_PLACE_NO_ROOM;
    }
    if (!placement_has_slots(placement, 1)) {
        return MAAR_PLACE_WANTS_STORAGE;
    }
    struct placement_sequence* sequence = &placement->sequences[tag];
    const uint32_t slot = placement_take_slot(placement);
    struct placement_node* nodes = placement->nodes;
    struct placement_node* taken = &nodes[slot];
    const uint32_t newest = sequence->newest;
    placement_set(taken, placement_meta(PLACEMENT_LIVE, request->kind, tag), offset, request->size);
    taken->prev = newest;
    taken->next = PLACEMENT_NONE;
    *(newest != PLACEMENT_NONE ? &nodes[newest].next : &sequence->oldest) = slot;
    sequence->newest = slot;
    placement->range_count += 1;
    placement->used_size += request->size;
    placement_tell_range(placement, slot, request, range);
    return MAAR_PLACED;
}

/* Takes a node out of its run. */
static void linear_remove(struct maar_placement* placement, uint32_t slot)
{
    const struct placement_node* node = &placement->nodes[slot];
    struct placement_sequence* sequence = &placement->sequences[placement_tag(node)];
    if (node->prev != PLACEMENT_NONE) {
        placement->nodes[node->prev].next = node->next;
    } else {
        sequence->oldest = node->next;
    }
    if (node->next != PLACEMENT_NONE) {
        placement->nodes[node->next].prev = node->prev;
    } else {
        sequence->newest = node->prev;
    }
    placement_drop_slot(placement, slot);
}

static bool linear_is_dead(const struct maar_placement* placement, uint32_t slot)
{
    return slot != PLACEMENT_NONE && placement_state(&placement->nodes[slot]) == PLACEMENT_DEAD;
}

VkDeviceSize maar_linear_free(struct maar_placement* placement, uint32_t slot)
{
    struct placement_node* node = &placement->nodes[slot];
    const uint32_t tag = placement_tag(node);
    placement->range_count -= 1;
    placement->used_size -= placement_size(node);
    /* Joined with its dead neighbours it is either an end of the run, which goes,
     * or the only dead node between two live ones. The extent of a dead node is
     * of no use: none is kept. */
    if (linear_is_dead(placement, node->prev)) {
        linear_remove(placement, node->prev);
    }
    if (linear_is_dead(placement, node->next)) {
        linear_remove(placement, node->next);
    }
    if (node->prev != PLACEMENT_NONE && node->next != PLACEMENT_NONE) {
        placement_set(node, placement_meta(PLACEMENT_DEAD, 0, tag), placement_offset(node), 0);
        return maar_linear_largest_free_bound(placement);
    }
    linear_remove(placement, slot);
    if (tag == linear_older(placement) && linear_oldest(placement, tag) == PLACEMENT_NONE) {
        placement->first_sequence ^= 1u;
    }
    return maar_linear_largest_free_bound(placement);
}

VkDeviceSize maar_linear_free_size(const struct maar_placement* placement)
{
    const VkDeviceSize middle =
        linear_ceiling(placement) - linear_head(placement, linear_older(placement));
    return middle + linear_tail(placement) - linear_head(placement, linear_younger(placement));
}

VkDeviceSize maar_linear_largest_free_bound(const struct maar_placement* placement)
{
    const VkDeviceSize middle =
        linear_ceiling(placement) - linear_head(placement, linear_older(placement));
    const VkDeviceSize low =
        linear_tail(placement) - linear_head(placement, linear_younger(placement));
    return middle > low ? middle : low;
}

static void linear_walk_up(const struct maar_placement* placement, struct placement_walk* walk,
                           uint32_t sequence)
{
    for (uint32_t slot = linear_oldest(placement, sequence);
         slot != PLACEMENT_NONE && !walk->stopped; slot = placement->nodes[slot].next) {
        if (placement_state(&placement->nodes[slot]) == PLACEMENT_LIVE) {
            maar_placement_tell_live(placement, walk, slot);
        }
    }
}

void maar_linear_walk(const struct maar_placement* placement, struct placement_walk* walk)
{
    const uint32_t older = linear_older(placement);
    const uint32_t younger = linear_younger(placement);
    linear_walk_up(placement, walk, younger);
    if (linear_tail(placement) != linear_head(placement, younger)) {
        maar_placement_tell_free(walk, linear_head(placement, younger), linear_tail(placement));
    }
    linear_walk_up(placement, walk, older);
    if (linear_ceiling(placement) != linear_head(placement, older)) {
        maar_placement_tell_free(walk, linear_head(placement, older), linear_ceiling(placement));
    }
    for (uint32_t slot = linear_newest(placement, PLACEMENT_SEQUENCE_UPPER);
         slot != PLACEMENT_NONE && !walk->stopped; slot = placement->nodes[slot].prev) {
        if (placement_state(&placement->nodes[slot]) == PLACEMENT_LIVE) {
            maar_placement_tell_live(placement, walk, slot);
        }
    }
}

static const char* linear_check_run(const struct maar_placement* placement, uint32_t sequence)
{
    const bool is_upper = sequence == PLACEMENT_SEQUENCE_UPPER;
    uint32_t prev = PLACEMENT_NONE;
    uint32_t seen = 0;
    bool was_dead = true;
    VkDeviceSize border = is_upper ? placement->size : 0;
    for (uint32_t slot = linear_oldest(placement, sequence); slot != PLACEMENT_NONE;) {
        if (slot >= placement->used_slots || ++seen > placement->used_slots) {
            return "linear: a run leads astray";
        }
        const struct placement_node* node = &placement->nodes[slot];
        const VkDeviceSize offset = placement_offset(node);
        const bool is_dead = placement_state(node) == PLACEMENT_DEAD;
        if (placement_tag(node) != sequence || node->prev != prev) {
            return "linear: a range is in the wrong run";
        }
        if (is_dead && was_dead) {
            return "linear: a dead range was not joined or taken back";
        }
        if (!is_dead && placement_state(node) != PLACEMENT_LIVE) {
            return "linear: a run holds a node that is not in use";
        }
        const bool is_clear =
            is_upper ? placement_fits(offset, placement_size(node), border) : offset >= border;
        if (!is_clear) {
            return "linear: ranges of a run overlap";
        }
        border = is_upper ? offset : offset + placement_size(node);
        was_dead = is_dead;
        prev = slot;
        slot = node->next;
    }
    if (prev != linear_newest(placement, sequence)) {
        return "linear: a run does not end at its newest range";
    }
    return prev != PLACEMENT_NONE && was_dead ? "linear: a run ends in a dead range" : NULL;
}

const char* maar_linear_check(const struct maar_placement* placement)
{
    for (uint32_t sequence = 0; sequence < PLACEMENT_SEQUENCES; ++sequence) {
        const char* broken = linear_check_run(placement, sequence);
        if (broken != NULL) {
            return broken;
        }
    }
    const uint32_t older = linear_older(placement);
    const uint32_t younger = linear_younger(placement);
    if (linear_oldest(placement, older) == PLACEMENT_NONE &&
        linear_oldest(placement, younger) != PLACEMENT_NONE) {
        return "linear: the older run is empty and the younger is not";
    }
    if (linear_head(placement, younger) > linear_tail(placement) ||
        linear_head(placement, older) > linear_ceiling(placement)) {
        return "linear: two runs overlap";
    }
    return NULL;
}
