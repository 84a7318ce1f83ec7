/*
 * The linear strategy: ranges lie in the order of their allocation. Space becomes free when the
 * oldest or the newest ranges are freed.
 *
 * There are three runs of nodes, each ordered by age. Two runs grow upward: the older one and, once
 * the space below it is free, a younger one from offset 0. Together they form a ring. The third run
 * grows downward from the end of the space, and forms a double stack with the others. A range that
 * is freed inside a run becomes a dead node, which is joined with dead neighbours. A dead node is
 * removed when it would become an end of its run. So both ends of every run are live.
 *
 *   0 | younger > ... free ... | older > ... free ... < upper | size
 */
#include "core/placement/placement_linear.h"

#include "core/placement/placement_granules.h"
#include "core/placement/placement_runs.h"
#include "core/placement/placement_slots.h"

/* Returns the offset at which an upward run ends, or 0 if the run is empty. */
static VkDeviceSize linear_head(const struct maar_placement* placement, uint32_t run)
{
    const uint32_t slot = placement_linear_newest(placement, run);
    if (slot == PLACEMENT_NONE) {
        return 0;
    }
    const struct placement_node* node = placement_at(placement, slot);
    return placement_offset(node) + placement_size(node);
}

/* Returns the offset at which the older run begins, or 0 if that run is empty. */
static VkDeviceSize linear_tail(const struct maar_placement* placement)
{
    const uint32_t slot = placement_linear_oldest(placement, placement_linear_older(placement));
    return slot != PLACEMENT_NONE ? placement_offset(placement_at(placement, slot)) : 0;
}

/* Returns the offset at which the upper run begins. Ranges of the other runs must end at or below
 * it. */
static VkDeviceSize linear_ceiling(const struct maar_placement* placement)
{
    const uint32_t slot = placement_linear_newest(placement, PLACEMENT_RUN_UPPER);
    return slot != PLACEMENT_NONE ? placement_offset(placement_at(placement, slot))
                                  : placement->size;
}

void maar_linear_reset(struct maar_placement* placement)
{
    placement->older_run = 0;
    for (uint32_t i = 0; i < PLACEMENT_RUNS; ++i) {
        placement->runs[i] =
            (struct placement_run){.oldest = PLACEMENT_NONE, .newest = PLACEMENT_NONE};
    }
}

/* Returns the highest offset for a request below the upper run, or UINT64_MAX if the request does
 * not fit. */
static VkDeviceSize linear_fit_upper(const struct maar_placement* placement,
                                     const struct maar_placement_request* request)
{
    const uint32_t below = placement_linear_newest(placement, placement_linear_older(placement));
    const uint32_t above = placement_linear_newest(placement, PLACEMENT_RUN_UPPER);
    const VkDeviceSize floor = linear_head(placement, placement_linear_older(placement));
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

/* Chooses the run and the offset. Returns UINT64_MAX if no place fits. */
static VkDeviceSize linear_find(const struct maar_placement* placement,
                                const struct maar_placement_request* request, uint32_t* run)
{
    const uint32_t older = placement_linear_older(placement);
    const uint32_t younger = placement_linear_younger(placement);
    const uint32_t tail = placement_linear_oldest(placement, older);
    const bool is_ring = placement_linear_oldest(placement, younger) != PLACEMENT_NONE;
    VkDeviceSize offset = UINT64_MAX;
    if (request->upper) {
        *run = PLACEMENT_RUN_UPPER;
        return linear_fit_upper(placement, request);
    }
    if (is_ring) {
        *run = younger;
        offset = placement_fit(placement, request, placement_linear_newest(placement, younger),
                               tail, linear_head(placement, younger), linear_tail(placement));
    }
    if (offset == UINT64_MAX) {
        *run = older;
        offset = placement_fit(placement, request, placement_linear_newest(placement, older),
                               placement_linear_newest(placement, PLACEMENT_RUN_UPPER),
                               linear_head(placement, older), linear_ceiling(placement));
    }
    if (offset == UINT64_MAX && !is_ring && linear_tail(placement) != 0) {
        *run = younger;
        offset = placement_fit(placement, request, PLACEMENT_NONE, tail, 0, linear_tail(placement));
    }
    return offset;
}

/* The fast path of linear_find, for a range that goes upward and whose kind does not matter. So its
 * neighbours need no check. */
static inline VkDeviceSize linear_find_fast(const struct maar_placement* placement,
                                            VkDeviceSize size, VkDeviceSize alignment,
                                            uint32_t* run)
{
    const uint32_t older = placement_linear_older(placement);
    const uint32_t younger = placement_linear_younger(placement);
    const bool is_ring = placement_linear_oldest(placement, younger) != PLACEMENT_NONE;
    const VkDeviceSize end = is_ring ? linear_tail(placement) : linear_ceiling(placement);
    *run = is_ring ? younger : older;
    const VkDeviceSize offset = placement_align_up(linear_head(placement, *run), alignment);
    return placement_fits(offset, size, end) ? offset : UINT64_MAX;
}

enum maar_place_outcome maar_linear_allocate(struct maar_placement* placement,
                                             const struct maar_placement_request* request,
                                             struct maar_placement_range* range)
{
    uint32_t tag = 0;
    VkDeviceSize offset = UINT64_MAX;
    if (!request->upper && !placement_minds_kind(placement, request->kind)) {
        offset = linear_find_fast(placement, request->size, request->alignment, &tag);
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
    struct placement_run* run = &placement->runs[tag];
    const uint32_t slot = placement_take_slot(placement);
    struct placement_node* taken = placement_at(placement, slot);
    const uint32_t newest = run->newest;
    placement_set(taken, placement_meta(PLACEMENT_LIVE, request->kind, tag), offset, request->size);
    taken->prev = newest;
    taken->next = PLACEMENT_NONE;
    *(newest != PLACEMENT_NONE ? &placement_at(placement, newest)->next : &run->oldest) = slot;
    run->newest = slot;
    placement->range_count += 1;
    placement->used_size += request->size;
    placement_report_range(placement, slot, request, range);
    return MAAR_PLACED;
}

/* Takes a node out of its run. */
static void linear_remove(struct maar_placement* placement, uint32_t slot)
{
    const struct placement_node* node = placement_at(placement, slot);
    struct placement_run* run = &placement->runs[placement_tag(node)];
    if (node->prev != PLACEMENT_NONE) {
        placement_at(placement, node->prev)->next = node->next;
    } else {
        run->oldest = node->next;
    }
    if (node->next != PLACEMENT_NONE) {
        placement_at(placement, node->next)->prev = node->prev;
    } else {
        run->newest = node->prev;
    }
    placement_drop_slot(placement, slot);
}

static bool linear_is_dead(const struct maar_placement* placement, uint32_t slot)
{
    return slot != PLACEMENT_NONE &&
           placement_state(placement_at(placement, slot)) == PLACEMENT_DEAD;
}

VkDeviceSize maar_linear_free(struct maar_placement* placement, uint32_t slot)
{
    struct placement_node* node = placement_at(placement, slot);
    const uint32_t tag = placement_tag(node);
    placement->range_count -= 1;
    placement->used_size -= placement_size(node);
    /* The node is joined with its dead neighbours. After that, the node is either an end of its run
     * and is removed, or it is the only dead node between two live ones. A dead node has size 0,
     * since only its offset matters. */
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
    if (tag == placement_linear_older(placement) &&
        placement_linear_oldest(placement, tag) == PLACEMENT_NONE) {
        placement->older_run ^= 1u;
    }
    return maar_linear_largest_free_bound(placement);
}

VkDeviceSize maar_linear_free_size(const struct maar_placement* placement)
{
    const VkDeviceSize middle =
        linear_ceiling(placement) - linear_head(placement, placement_linear_older(placement));
    return middle + linear_tail(placement) -
           linear_head(placement, placement_linear_younger(placement));
}

VkDeviceSize maar_linear_largest_free_bound(const struct maar_placement* placement)
{
    const VkDeviceSize middle =
        linear_ceiling(placement) - linear_head(placement, placement_linear_older(placement));
    const VkDeviceSize low =
        linear_tail(placement) - linear_head(placement, placement_linear_younger(placement));
    return middle > low ? middle : low;
}

static void linear_walk_up(const struct maar_placement* placement, struct placement_walk* walk,
                           uint32_t run)
{
    for (uint32_t slot = placement_linear_oldest(placement, run);
         slot != PLACEMENT_NONE && !walk->stopped; slot = placement_at(placement, slot)->next) {
        if (placement_state(placement_at(placement, slot)) == PLACEMENT_LIVE) {
            maar_placement_walk_live(placement, walk, slot);
        }
    }
}

void maar_linear_walk(const struct maar_placement* placement, struct placement_walk* walk)
{
    const uint32_t older = placement_linear_older(placement);
    const uint32_t younger = placement_linear_younger(placement);
    linear_walk_up(placement, walk, younger);
    if (linear_tail(placement) != linear_head(placement, younger)) {
        maar_placement_walk_free(walk, linear_head(placement, younger), linear_tail(placement));
    }
    linear_walk_up(placement, walk, older);
    if (linear_ceiling(placement) != linear_head(placement, older)) {
        maar_placement_walk_free(walk, linear_head(placement, older), linear_ceiling(placement));
    }
    for (uint32_t slot = placement_linear_newest(placement, PLACEMENT_RUN_UPPER);
         slot != PLACEMENT_NONE && !walk->stopped; slot = placement_at(placement, slot)->prev) {
        if (placement_state(placement_at(placement, slot)) == PLACEMENT_LIVE) {
            maar_placement_walk_live(placement, walk, slot);
        }
    }
}

static const char* linear_check_run(const struct maar_placement* placement, uint32_t run)
{
    const bool is_upper = run == PLACEMENT_RUN_UPPER;
    uint32_t prev = PLACEMENT_NONE;
    uint32_t seen = 0;
    bool was_dead = true;
    VkDeviceSize border = is_upper ? placement->size : 0;
    for (uint32_t slot = placement_linear_oldest(placement, run); slot != PLACEMENT_NONE;) {
        if (!placement_is_used(placement, slot) || ++seen > placement->capacity) {
            return "linear: a run has a bad link";
        }
        const struct placement_node* node = placement_at(placement, slot);
        const VkDeviceSize offset = placement_offset(node);
        const bool is_dead = placement_state(node) == PLACEMENT_DEAD;
        if (placement_tag(node) != run || node->prev != prev) {
            return "linear: a range is in the wrong run";
        }
        if (is_dead && was_dead) {
            return "linear: a dead range was not joined or removed";
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
    if (prev != placement_linear_newest(placement, run)) {
        return "linear: a run does not end at its newest range";
    }
    return prev != PLACEMENT_NONE && was_dead ? "linear: a run ends in a dead range" : NULL;
}

const char* maar_linear_check(const struct maar_placement* placement)
{
    for (uint32_t run = 0; run < PLACEMENT_RUNS; ++run) {
        const char* broken = linear_check_run(placement, run);
        if (broken != NULL) {
            return broken;
        }
    }
    const uint32_t older = placement_linear_older(placement);
    const uint32_t younger = placement_linear_younger(placement);
    if (placement_linear_oldest(placement, older) == PLACEMENT_NONE &&
        placement_linear_oldest(placement, younger) != PLACEMENT_NONE) {
        return "linear: the older run is empty and the younger is not";
    }
    if (linear_head(placement, younger) > linear_tail(placement) ||
        linear_head(placement, older) > linear_ceiling(placement)) {
        return "linear: two runs overlap";
    }
    return NULL;
}
