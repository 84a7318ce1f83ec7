/*
 * The exact search: do all items fit below a capacity?
 *
 * The search looks for the solution with the least sum of offsets. In this solution each item lies
 * at 0, at its fixed offset, or on top of an item that it conflicts with. So the search decides
 * from below, for one item after another, whether the item lies at its least offset, on top of the
 * placed items. The next item to decide on is one below which no item that conflicts with it can
 * lie any more. If the item lies at its least offset, the items that conflict with it rise.
 * Otherwise the item is skipped, and another item has to lift it (maar_exact_lift).
 * maar_exact_bound checks each node. When no remaining item connects two parts of time any more,
 * each part is searched alone. Of equal items only the first one that is not placed is tried. An
 * item that raises no other item is placed without an alternative.
 *
 * After Moffitt, "MiniMalloc" (ASPLOS 2023): canonical placements from below, sections,
 * decomposition. Additions: the bound by release dates, lifting, decisions in the tightest place,
 * restarts, and learning where a walk fails (after the weighted degree of Boussemart et al.,
 * "Boosting Systematic Search by Weighting Constraints", ECAI 2004).
 *
 * A search belongs to one thread. A walk allocates no memory.
 */
#include "core/plan/exact/exact_walk.h"

#include "core/check.h"
#include "core/plan/exact/exact_bound.h"

#include <string.h>

/* The number of nodes between two readings of the clock. They take at most a millisecond, mostly
 * far less. */
enum { NODES_PER_LOOK = 128 };

enum step { STEP_ENTER, STEP_FAIL, STEP_SOLVED };

/* Sorts the raised entries and merges them into the entries of a child. */
static uint32_t merge_raised(struct maar_exact_search* search, struct maar_exact_entry* entries,
                             uint32_t count, uint32_t raised_count)
{
    struct maar_exact_entry* raised = search->raised;
    maar_exact_sort_entries(raised, raised_count);
    uint32_t left = count;
    uint32_t right = raised_count;
    uint32_t at = count + raised_count;
    while (right > 0) {
        const bool take_left =
            left > 0 && maar_exact_entry_less(&raised[right - 1], &entries[left - 1]);
        entries[--at] = take_left ? entries[--left] : raised[--right];
    }
    return count + raised_count;
}

/*
 * Makes the child in which the candidate lies at its least offset. The child's entries stand behind
 * those of the node. Returns false when no solution lies below the child. *raised_count receives
 * the number of raised items.
 */
static bool make_child(struct maar_exact_search* search, const struct maar_exact_node* node,
                       uint32_t candidate, struct maar_exact_node* child, uint32_t* raised_count)
{
    const struct maar_exact_entry* entries = search->entries + node->begin;
    struct maar_exact_entry* out = search->entries + node->free;
    const struct maar_exact_entry placed = entries[candidate];
    struct maar_exact_range changed = maar_exact_no_range;
    maar_exact_widen_by(search, &changed, placed.item);
    uint32_t count = 0;
    uint32_t raised = 0;
    for (uint32_t i = 0; i < node->count; ++i) {
        struct maar_exact_entry entry = entries[i];
        if (i == candidate) {
            continue;
        }
        if (maar_exact_ranks_conflict(search, placed.item, entry.item)) {
            const int64_t top = maar_exact_rank_top(search, placed.item, placed.least, entry.item);
            if (top > entry.least) {
                if (top > search->highest[entry.item] || maar_exact_is_fixed(search, entry.item)) {
                    return false;
                }
                entry.least = top;
                entry.release = top;
                entry.skipped = false;
                search->raised[raised++] = entry;
                maar_exact_widen_by(search, &changed, entry.item);
                continue;
            }
        }
        out[count++] = entry;
    }
    *raised_count = raised;
    *child = (struct maar_exact_node){
        .begin = node->free,
        .low = node->low,
        .high = node->high,
        .trail = search->trail_count,
        .changed = changed,
    };
    child->count = merge_raised(search, out, count, raised);
    child->free = child->begin + child->count;
    return raised == 0 ||
           maar_exact_lift(search, out, child->count, &child->changed) != MAAR_EXACT_LIFT_FAILS;
}

/* Raises the limits of an item's cliques by a number of units. */
static void raise_limits(struct maar_exact_search* search, uint32_t rank, int64_t units)
{
    if (search->first != NULL) {
        for (uint32_t s = search->first[rank]; s <= search->last[rank]; ++s) {
            search->limit[s] += units;
        }
        return;
    }
    const struct maar_plan_problem* problem = search->problem;
    const uint32_t item = search->item[rank];
    for (uint32_t m = problem->member_begin[item]; m < problem->member_begin[item + 1]; ++m) {
        search->limit[problem->member[m]] += units;
    }
}

/* Records that an item is placed. Returns true when time falls into parts: two neighbouring
 * sections have no item in common any more. Before a split, every section of a node has an item in
 * common with the next. */
static bool put_down(struct maar_exact_search* search, uint32_t rank, int64_t offset)
{
    search->trail[search->trail_count++] = rank;
    search->placed[rank] = true;
    search->offset[rank] = offset;
    raise_limits(search, rank, search->size[rank]);
    if (search->first == NULL) {
        return false;
    }
    bool cut = false;
    for (uint32_t s = search->first[rank]; s < search->last[rank]; ++s) {
        search->crossing[s] -= 1;
        cut |= search->crossing[s] == 0;
    }
    return cut;
}

static void take_back(struct maar_exact_search* search, uint32_t trail)
{
    while (search->trail_count > trail) {
        const uint32_t rank = search->trail[--search->trail_count];
        search->placed[rank] = false;
        raise_limits(search, rank, -search->size[rank]);
        for (uint32_t s = search->first != NULL ? search->first[rank] : 0;
             search->first != NULL && s < search->last[rank]; ++s) {
            search->crossing[s] += 1;
        }
    }
}

/* Adds a part to a node: copies the entries of the items that lie within the sections from low to
 * high, in their order. */
static void add_part(struct maar_exact_search* search, struct maar_exact_node* node, uint32_t low,
                     uint32_t high)
{
    const struct maar_exact_entry* entries = search->entries + node->begin;
    struct maar_exact_part part = {.begin = node->free, .low = low, .high = high};
    for (uint32_t i = 0; i < node->count; ++i) {
        const uint32_t rank = entries[i].item;
        if (search->first[rank] >= low && search->last[rank] <= high) {
            search->entries[node->free++] = entries[i];
            ++part.count;
        }
    }
    if (part.count > 0) {
        /* The smallest part comes first. */
        uint32_t at = node->part_end++;
        for (; at > node->part && search->parts[at - 1].count > part.count; --at) {
            search->parts[at] = search->parts[at - 1];
        }
        search->parts[at] = part;
    }
}

/* Raises releases of skipped items of a node. */
static enum maar_exact_lift lift_node(struct maar_exact_search* search,
                                      struct maar_exact_node* node)
{
    const enum maar_exact_lift lift =
        maar_exact_lift(search, search->entries + node->begin, node->count, &node->changed);
    maar_exact_widen(&search->stale, node->changed);
    return lift;
}

/* Splits a node into parts of time that no remaining item connects, if there are several. */
static void split_node(struct maar_exact_search* search, struct maar_exact_node* node,
                       uint32_t part_count)
{
    uint32_t low = node->low;
    node->part = part_count;
    node->part_end = part_count;
    bool several = false;
    for (uint32_t s = node->low; s < node->high && !several; ++s) {
        several = search->crossing[s] == 0;
    }
    if (!several) {
        return;
    }
    for (uint32_t s = node->low; s <= node->high; ++s) {
        if (s == node->high || search->crossing[s] == 0) {
            add_part(search, node, low, s);
            low = s + 1;
        }
    }
    node->is_split = true;
    node->stale = search->stale;
}

/* Decides that the candidate does not lie at its least offset. Returns false when no solution is
 * left. */
static bool skip_candidate(struct maar_exact_search* search, struct maar_exact_node* node,
                           uint32_t candidate)
{
    struct maar_exact_entry* entries = search->entries + node->begin;
    if (maar_exact_is_fixed(search, entries[candidate].item)) {
        return false;
    }
    entries[candidate].skipped = true;
    return lift_node(search, node) != MAAR_EXACT_LIFT_FAILS;
}

/* Makes a child in which the candidate of a node is placed. Returns false when the child has no
 * solution. */
static bool push_child(struct maar_exact_search* search, uint32_t* depth, uint32_t candidate)
{
    struct maar_exact_node* node = &search->nodes[*depth];
    struct maar_exact_node* child = node + 1;
    const struct maar_exact_entry entry = search->entries[node->begin + candidate];
    uint32_t raised_count = 0;
    if (!make_child(search, node, candidate, child, &raised_count)) {
        return false;
    }
    node->trail = search->trail_count;
    node->candidate = candidate;
    node->forced = raised_count == 0;
    child->part = node->part_end;
    child->part_end = node->part_end;
    maar_exact_widen(&search->stale, child->changed);
    if (put_down(search, entry.item, entry.least)) {
        split_node(search, child, node->part_end);
    }
    ++*depth;
    return true;
}

/* Returns whether the size of an item is a multiple of the unit. */
static bool is_whole(const struct maar_exact_search* search, uint32_t rank)
{
    const struct maar_plan_problem* problem = search->problem;
    const uint32_t item = search->item[rank];
    return (uint64_t)problem->size[item] * problem->unit == problem->bytes[item];
}

/*
 * Returns the entry of an item that lives in all sections of a node where nothing is placed yet
 * above a level floor, or UINT32_MAX. In any solution this item can be taken out, all items above
 * it moved down by its size, all items moved up by its size, and the item put in at the floor. So
 * it needs no alternative. An item whose size is rounded up does not do: on top it ends lower.
 */
static uint32_t find_base(const struct maar_exact_search* search,
                          const struct maar_exact_node* node)
{
    const struct maar_exact_entry* entries = search->entries + node->begin;
    if (!search->plain || search->first == NULL ||
        entries[0].release != entries[node->count - 1].release) {
        return UINT32_MAX;
    }
    uint32_t base = UINT32_MAX;
    for (uint32_t i = 0; i < node->count; ++i) {
        const uint32_t rank = entries[i].item;
        if (entries[i].skipped) {
            return UINT32_MAX;
        }
        if (base == UINT32_MAX && search->first[rank] == node->low &&
            search->last[rank] == node->high && is_whole(search, rank)) {
            base = i;
        }
    }
    return base;
}

/* Decides on the next item of a node. Pushes a child, changes the node, or returns that the node
 * fails. */
static enum step decide(struct maar_exact_search* search, uint32_t* depth)
{
    struct maar_exact_node* node = &search->nodes[*depth];
    if (!maar_exact_bound(search, node)) {
        return STEP_FAIL;
    }
    const uint32_t base = find_base(search, node);
    if (base != UINT32_MAX) {
        if (!push_child(search, depth, base)) {
            return STEP_FAIL;
        }
        node->forced = true;
        return STEP_ENTER;
    }
    const uint32_t candidate = maar_exact_choose(search, node);
    MAAR_DEBUG_ASSERT(candidate < node->count);
    const struct maar_exact_entry* entry = &search->entries[node->begin + candidate];
    if (entry->skipped) {
        const enum maar_exact_lift lift = lift_node(search, node);
        MAAR_DEBUG_ASSERT(lift != MAAR_EXACT_LIFT_SAME);
        return lift == MAAR_EXACT_LIFT_MOVED ? STEP_ENTER : STEP_FAIL;
    }
    const uint32_t twin = search->twin[entry->item];
    if ((twin == UINT32_MAX || search->placed[twin]) && push_child(search, depth, candidate)) {
        return STEP_ENTER;
    }
    return skip_candidate(search, node, candidate) ? STEP_ENTER : STEP_FAIL;
}

/* Enters the next part of a split node. */
static enum step enter_part(struct maar_exact_search* search, uint32_t* depth)
{
    struct maar_exact_node* node = &search->nodes[*depth];
    if (node->candidate == node->part_end - node->part) {
        return STEP_SOLVED;
    }
    const struct maar_exact_part* part = &search->parts[node->part + node->candidate++];
    node[1] = (struct maar_exact_node){
        .begin = part->begin,
        .free = node->free,
        .count = part->count,
        .low = part->low,
        .high = part->high,
        .trail = search->trail_count,
        .part = node->part_end,
        .part_end = node->part_end,
        .changed = maar_exact_no_range,
    };
    search->stale = node->stale;
    ++*depth;
    return STEP_ENTER;
}

/* Goes back to the last decision that has another alternative. Returns false at the root. */
static bool back_up(struct maar_exact_search* search, uint32_t* depth)
{
    while (*depth > 0) {
        struct maar_exact_node* node = &search->nodes[--*depth];
        maar_exact_widen(&search->stale, node[1].changed);
        if (node->is_split) {
            maar_exact_widen(&search->stale, (struct maar_exact_range){node->low, node->high});
            continue;
        }
        take_back(search, node->trail);
        if (!node->forced && skip_candidate(search, node, node->candidate)) {
            return true;
        }
    }
    return false;
}

/* Goes on to the next part after a part is solved. Returns false when nothing is left to do. */
static bool go_on(const struct maar_exact_search* search, uint32_t* depth)
{
    while (*depth > 0) {
        const struct maar_exact_node* node = &search->nodes[--*depth];
        if (node->is_split && node->candidate < node->part_end - node->part) {
            return true;
        }
    }
    return false;
}

static void start_walk(struct maar_exact_search* search)
{
    const struct maar_plan_problem* problem = search->problem;
    search->trail_count = 0;
    memset(search->placed, 0, search->count * sizeof *search->placed);
    for (uint32_t s = 0; s < problem->clique_count; ++s) {
        search->limit[s] = search->capacity;
    }
    for (uint32_t r = 0; r < search->count; ++r) {
        const int64_t fixed = problem->fixed[search->item[r]];
        search->entries[r] = (struct maar_exact_entry){
            .least = fixed > 0 ? fixed : 0, .release = fixed > 0 ? fixed : 0, .item = r};
        raise_limits(search, r, -search->size[r]);
    }
    maar_exact_sort_entries(search->entries, search->count);
    search->nodes[0] = (struct maar_exact_node){.count = search->count,
                                                .free = search->count,
                                                .high = problem->clique_count - 1,
                                                .changed = maar_exact_no_range};
    search->stale = (struct maar_exact_range){0, problem->clique_count - 1};
    if (search->first == NULL) {
        return;
    }
    memset(search->crossing, 0, problem->clique_count * sizeof *search->crossing);
    for (uint32_t r = 0; r < search->count; ++r) {
        for (uint32_t s = search->first[r]; s < search->last[r]; ++s) {
            search->crossing[s] += 1;
        }
    }
    split_node(search, &search->nodes[0], 0);
}

enum maar_exact_answer maar_exact_walk(struct maar_exact_search* search, uint64_t node_limit,
                                       struct maar_plan_budget* budget)
{
    uint32_t* depth = &search->depth;
    enum step step = STEP_ENTER;
    uint64_t since_look = 0;
    *depth = 0;
    start_walk(search);
    for (uint64_t visited = 0; visited < node_limit;) {
        const struct maar_exact_node* node = &search->nodes[*depth];
        if (step == STEP_FAIL) {
            if (!back_up(search, depth)) {
                return MAAR_EXACT_NO;
            }
            step = STEP_ENTER;
        } else if (step == STEP_SOLVED || node->count == 0) {
            if (!go_on(search, depth)) {
                return MAAR_EXACT_YES;
            }
            step = STEP_ENTER;
        } else if (node->is_split) {
            step = enter_part(search, depth);
        } else {
            const uint64_t price = 1 + search->work / MAAR_EXACT_NODE_STEPS;
            search->work %= MAAR_EXACT_NODE_STEPS;
            maar_plan_budget_spend(budget, price);
            visited += price;
            since_look += price;
            if (since_look >= NODES_PER_LOOK && maar_plan_interrupted(budget)) {
                return MAAR_EXACT_UNKNOWN;
            }
            since_look %= NODES_PER_LOOK;
            step = decide(search, depth);
        }
    }
    return MAAR_EXACT_UNKNOWN;
}
