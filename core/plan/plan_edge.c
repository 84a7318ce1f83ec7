/*
 * Aliasing edges: which resource takes over bytes of which other. A walk over the addresses of the
 * class keeps the set of items that use the bytes at the present address. An edge joins two items
 * of the set of which one comes before the other with no item of the set in between. Such pairs
 * appear only where an item begins or ends, so only the neighbours of that item in time are looked
 * at.
 *
 * Items that share a byte follow one another, so each item has at most one neighbour on each side,
 * and n items have less than 3 n edges. Where kinds are mixed, items share granules instead of
 * bytes. Items of one granule may live at the same time, and have several neighbours.
 */
#include "core/plan/plan_edge.h"

#include "core/plan/problem/plan_rank.h"
#include "core/plan/problem/plan_rank_set.h"

#include <string.h>

static bool keeps_contents(const struct maar_plan_problem* problem, uint32_t item)
{
    const MaarPlanResource* resource = &problem->graph->info->pResources[problem->resource[item]];
    return (resource->flags & MAAR_PLAN_RESOURCE_NO_ALIASING_BIT) != 0;
}

/* Returns whether use k of a resource is a last use: no other use comes after it. If `last` is
 * false, returns whether use k is a first use: no other use comes before it. */
static bool is_outer_use(const struct maar_plan_graph* graph, const MaarPlanResource* resource,
                         uint32_t k, bool last)
{
    const uint32_t pass = resource->pUses[k];
    for (uint32_t other = 0; other < resource->useCount; ++other) {
        const uint32_t from = last ? pass : resource->pUses[other];
        const uint32_t to = last ? resource->pUses[other] : pass;
        if (graph->clock != NULL && maar_plan_pass_follows(graph, from, to)) {
            return false;
        }
    }
    return true;
}

bool maar_plan_crosses_queues(const struct maar_plan_graph* graph, uint32_t before, uint32_t after)
{
    if (graph->queue == NULL) {
        return false;
    }
    const MaarPlanResource* a = &graph->info->pResources[before];
    const MaarPlanResource* b = &graph->info->pResources[after];
    const uint32_t* queues = graph->info->pPassQueues;
    for (uint32_t i = 0; i < a->useCount; ++i) {
        if (!is_outer_use(graph, a, i, true)) {
            continue;
        }
        for (uint32_t k = 0; k < b->useCount; ++k) {
            if (queues[a->pUses[i]] != queues[b->pUses[k]] && is_outer_use(graph, b, k, false)) {
                return true;
            }
        }
    }
    return false;
}

static VkResult add_edge(const struct maar_plan_problem* problem, uint32_t before, uint32_t after,
                         struct maar_host_stack* stack, struct maar_plan_edges* edges)
{
    if (edges->count == edges->room) {
        MaarPlanEdge* list = maar_stack_grow(stack, edges->list, &edges->room, 128, sizeof *list);
        if (list == NULL) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        edges->list = list;
    }
    const bool cross = maar_plan_crosses_queues(problem->graph, problem->resource[before],
                                                problem->resource[after]);
    edges->list[edges->count++] = (MaarPlanEdge){
        .before = problem->resource[before],
        .after = problem->resource[after],
        .crossQueue = cross ? VK_TRUE : VK_FALSE,
    };
    edges->cross_count += cross;
    return VK_SUCCESS;
}

/* A walk over the addresses of a class. Items have two ranks: by their begin in time and by their
 * end. With a partial order, only the order by begin is used, which agrees with the partial order.
 */
struct walk {
    const struct maar_plan_problem* problem;
    struct maar_plan_key* events; /* by address: where items begin and end in memory */
    uint32_t event_count;
    uint32_t* by_begin; /* items in the order of their begin in time */
    uint32_t* by_end;
    uint32_t* begin_rank; /* per item */
    uint32_t* end_rank;
    struct maar_plan_rank_set begins; /* ranks of the items at the present address */
    struct maar_plan_rank_set ends;
    uint32_t* found; /* neighbours of one item */
    uint32_t* others;
    /* UINT32_MAX less the item after, and less the item before; not sorted yet, with repetitions */
    struct maar_plan_key* pairs;
    uint32_t pair_count;
    uint32_t pair_room;
    bool wrap;   /* edges to the next frame: items that keep their contents have none */
    bool failed; /* host memory was short */
};

/* Whether an item of a partial order comes before another. */
static bool precedes(const struct maar_plan_problem* problem, uint32_t a, uint32_t b)
{
    const struct maar_plan_graph* graph = problem->graph;
    return maar_plan_has(graph->before + problem->resource[a] * graph->before_words,
                         problem->resource[b]);
}

static void add_pair(struct walk* walk, struct maar_host_stack* stack, uint32_t before,
                     uint32_t after)
{
    if (walk->pair_count == walk->pair_room) {
        struct maar_plan_key* pairs = maar_stack_grow(stack, walk->pairs, &walk->pair_room,
                                                      walk->problem->count + 256, sizeof *pairs);
        if (pairs == NULL) {
            walk->failed = true;
            return;
        }
        walk->pairs = pairs;
    }
    walk->pairs[walk->pair_count++] =
        (struct maar_plan_key){.first = UINT32_MAX - after, .second = UINT32_MAX - before};
}

/* ---- neighbours in time, among the items at the present address ---- */

/* Returns the number of items of a sorted list whose section is below `section`. */
static uint32_t count_below(const uint32_t* items, const uint32_t* sections, uint32_t count,
                            uint32_t section)
{
    uint32_t low = 0;
    while (count > 0) {
        const uint32_t half = count / 2;
        if (sections[items[low + half]] < section) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

/* Intervals: finds the items that end before section `end`, without those that end before another
 * such item begins. */
static uint32_t find_last_before(const struct walk* walk, uint32_t end, uint32_t* found)
{
    const struct maar_plan_problem* problem = walk->problem;
    uint32_t count = 0;
    uint32_t latest = 0; /* begin of the items found */
    uint32_t rank = count_below(walk->by_end, problem->last, problem->count, end);
    while ((rank = maar_plan_rank_set_before(&walk->ends, rank)) != UINT32_MAX) {
        const uint32_t item = walk->by_end[rank];
        if (count > 0 && problem->last[item] < latest) {
            break;
        }
        latest = problem->first[item] > latest ? problem->first[item] : latest;
        found[count++] = item;
    }
    return count;
}

/* Intervals: finds the items that begin at section `begin` or later, without those that begin after
 * another such item has ended. */
static uint32_t find_first_after(const struct walk* walk, uint32_t begin, uint32_t* found)
{
    const struct maar_plan_problem* problem = walk->problem;
    uint32_t count = 0;
    uint32_t earliest = UINT32_MAX; /* end of the items found */
    uint32_t rank = count_below(walk->by_begin, problem->first, problem->count, begin);
    while ((rank = maar_plan_rank_set_next(&walk->begins, rank)) != UINT32_MAX) {
        const uint32_t item = walk->by_begin[rank];
        if (problem->first[item] > earliest) {
            break;
        }
        earliest = problem->last[item] < earliest ? problem->last[item] : earliest;
        found[count++] = item;
        ++rank;
    }
    return count;
}

/* Whether an item of a partial order comes before (or after, if `forward`) some item of a list. */
static bool is_hidden(const struct maar_plan_problem* problem, uint32_t item, const uint32_t* list,
                      uint32_t count, bool forward)
{
    for (uint32_t k = 0; k < count; ++k) {
        if (forward ? precedes(problem, list[k], item) : precedes(problem, item, list[k])) {
            return true;
        }
    }
    return false;
}

/* Partial order: finds the nearest items before an item, or after it if `forward`. UINT32_MAX as
 * item: the last items of all, or the first. */
static uint32_t find_nearest(const struct walk* walk, uint32_t item, bool forward, uint32_t* found)
{
    const struct maar_plan_problem* problem = walk->problem;
    uint32_t count = 0;
    uint32_t rank = forward ? 0 : problem->count;
    if (item != UINT32_MAX) {
        rank = walk->begin_rank[item] + (forward ? 1 : 0);
    }
    for (;;) {
        rank = forward ? maar_plan_rank_set_next(&walk->begins, rank)
                       : maar_plan_rank_set_before(&walk->begins, rank);
        if (rank == UINT32_MAX) {
            break;
        }
        const uint32_t other = walk->by_begin[rank];
        const bool related = item == UINT32_MAX || (forward ? precedes(problem, item, other)
                                                            : precedes(problem, other, item));
        if (related && !is_hidden(problem, other, found, count, forward)) {
            found[count++] = other;
        }
        rank += forward ? 1 : 0;
    }
    return count;
}

/* Items that share bytes are a chain: each has one neighbour on each side. */
static bool is_chain(const struct walk* walk)
{
    return walk->problem->granularity <= 1;
}

/* Finds the last item that begins before rank `rank`, or the first one from there on. */
static uint32_t find_in_chain(const struct walk* walk, uint32_t rank, bool forward, uint32_t* found)
{
    rank = forward ? maar_plan_rank_set_next(&walk->begins, rank)
                   : maar_plan_rank_set_before(&walk->begins, rank);
    if (rank == UINT32_MAX) {
        return 0;
    }
    found[0] = walk->by_begin[rank];
    return 1;
}

static uint32_t find_before(const struct walk* walk, uint32_t item, uint32_t* found)
{
    if (is_chain(walk)) {
        return find_in_chain(walk, walk->begin_rank[item], false, found);
    }
    return walk->problem->conflict == NULL
               ? find_last_before(walk, walk->problem->first[item], found)
               : find_nearest(walk, item, false, found);
}

static uint32_t find_after(const struct walk* walk, uint32_t item, uint32_t* found)
{
    if (is_chain(walk)) {
        return find_in_chain(walk, walk->begin_rank[item] + 1, true, found);
    }
    return walk->problem->conflict == NULL
               ? find_first_after(walk, walk->problem->last[item] + 1, found)
               : find_nearest(walk, item, true, found);
}

/* Finds the last users of the present address. */
static uint32_t find_last(const struct walk* walk, uint32_t* found)
{
    if (is_chain(walk)) {
        return find_in_chain(walk, UINT32_MAX, false, found);
    }
    return walk->problem->conflict == NULL ? find_last_before(walk, UINT32_MAX, found)
                                           : find_nearest(walk, UINT32_MAX, false, found);
}

/* Finds its first users. */
static uint32_t find_first(const struct walk* walk, uint32_t* found)
{
    if (is_chain(walk)) {
        return find_in_chain(walk, 0, true, found);
    }
    return walk->problem->conflict == NULL ? find_first_after(walk, 0, found)
                                           : find_nearest(walk, UINT32_MAX, true, found);
}

/* ---- the walk ---- */

/* Adds the pairs that appear where an item begins to use the present address. */
static void pair_new(struct walk* walk, struct maar_host_stack* stack, uint32_t item)
{
    uint32_t count = find_before(walk, item, walk->found);
    for (uint32_t k = 0; k < count; ++k) {
        add_pair(walk, stack, walk->found[k], item);
    }
    count = find_after(walk, item, walk->found);
    for (uint32_t k = 0; k < count; ++k) {
        add_pair(walk, stack, item, walk->found[k]);
    }
}

/* Adds the pairs that appear where an item does not use the bytes any more: it lay between them. */
static void pair_around(struct walk* walk, struct maar_host_stack* stack, uint32_t item)
{
    const uint32_t count = find_before(walk, item, walk->found);
    for (uint32_t k = 0; k < count; ++k) {
        const uint32_t after_count = find_after(walk, walk->found[k], walk->others);
        for (uint32_t i = 0; i < after_count; ++i) {
            add_pair(walk, stack, walk->found[k], walk->others[i]);
        }
    }
}

/* Adds a pair for each last user and each first user of the present address, unless both were that
 * just below too. `seen` has, for each item, the addresses at which it was last found as the one
 * and as the other. */
static void pair_wrap(struct walk* walk, struct maar_host_stack* stack, uint32_t number,
                      uint32_t (*seen)[2])
{
    const uint32_t last_count = find_last(walk, walk->found);
    const uint32_t first_count = find_first(walk, walk->others);
    for (uint32_t i = 0; i < last_count; ++i) {
        for (uint32_t k = 0; k < first_count; ++k) {
            const uint32_t a = walk->found[i];
            const uint32_t b = walk->others[k];
            if (seen[a][0] + 1 != number || seen[b][1] + 1 != number) {
                add_pair(walk, stack, a, b);
            }
        }
    }
    for (uint32_t i = 0; i < last_count; ++i) {
        seen[walk->found[i]][0] = number;
    }
    for (uint32_t k = 0; k < first_count; ++k) {
        seen[walk->others[k]][1] = number;
    }
}

/* The end of the events at the address of event `at`. */
static uint32_t end_of_address(const struct walk* walk, uint32_t at)
{
    uint32_t end = at;
    while (end < walk->event_count && walk->events[end].first == walk->events[at].first) {
        ++end;
    }
    return end;
}

static void change_users(struct walk* walk, const struct maar_plan_key* event)
{
    if (walk->wrap && keeps_contents(walk->problem, event->item)) {
        return;
    }
    if (event->second != 0) {
        maar_plan_rank_set_remove(&walk->begins, walk->begin_rank[event->item]);
    } else {
        maar_plan_rank_set_add(&walk->begins, walk->begin_rank[event->item]);
    }
    if (is_chain(walk) || walk->problem->conflict != NULL) {
        return;
    }
    if (event->second != 0) {
        maar_plan_rank_set_remove(&walk->ends, walk->end_rank[event->item]);
    } else {
        maar_plan_rank_set_add(&walk->ends, walk->end_rank[event->item]);
    }
}

/* Collects the pairs. `seen` is NULL for the edges within a frame. */
static void collect_pairs(struct walk* walk, struct maar_host_stack* stack, uint32_t (*seen)[2])
{
    uint32_t number = 1; /* of the address; 0 stands for none */
    for (uint32_t at = 0; at < walk->event_count && !walk->failed;) {
        const uint32_t end = end_of_address(walk, at);
        for (uint32_t k = at; k < end; ++k) {
            change_users(walk, &walk->events[k]);
        }
        for (uint32_t k = at; k < end && seen == NULL; ++k) {
            if (walk->events[k].second != 0) {
                pair_around(walk, stack, walk->events[k].item);
            } else {
                pair_new(walk, stack, walk->events[k].item);
            }
        }
        if (seen != NULL) {
            pair_wrap(walk, stack, ++number, seen);
        }
        at = end;
    }
}

/* Sorts where items begin and end in memory: in bytes, or in granules where kinds are mixed. At one
 * address, ends come before begins. */
static void list_events(struct walk* walk, const int64_t* offsets, struct maar_plan_key* other)
{
    const struct maar_plan_problem* problem = walk->problem;
    const uint64_t granule = problem->granularity;
    for (uint32_t i = 0; i < problem->count; ++i) {
        const uint64_t begin = (uint64_t)offsets[i] * problem->unit;
        const uint64_t end = begin + problem->bytes[i];
        walk->events[walk->event_count++] =
            (struct maar_plan_key){.first = UINT64_MAX - begin / granule, .item = i};
        walk->events[walk->event_count++] = (struct maar_plan_key){
            .first = UINT64_MAX - ((end - 1) / granule + 1), .second = 1, .item = i};
    }
    maar_plan_sort_keys(walk->events, other, walk->event_count);
}

/* Fills in the ranks of all items by one order. */
static void note_ranks(const struct maar_plan_key* keys, uint32_t count, uint32_t* items,
                       uint32_t* ranks)
{
    for (uint32_t k = 0; k < count; ++k) {
        items[k] = keys[k].item;
        ranks[keys[k].item] = k;
    }
}

static void order_items(struct walk* walk, struct maar_plan_key* keys, struct maar_plan_key* other)
{
    const struct maar_plan_problem* problem = walk->problem;
    const uint32_t count = problem->count;
    const uint32_t* rank = problem->graph->begin_rank;
    for (uint32_t i = 0; i < count; ++i) {
        /* Fixed items may be in order although their intervals along the chain overlap. Then the
         * rank decides where they begin at one section. */
        const uint32_t begin = rank[problem->resource[i]];
        const uint32_t section = problem->conflict == NULL ? problem->first[i] : begin;
        keys[i] = (struct maar_plan_key){
            .first = UINT32_MAX - section, .second = UINT32_MAX - begin, .item = i};
    }
    maar_plan_sort_keys(keys, other, count);
    note_ranks(keys, count, walk->by_begin, walk->begin_rank);
    if (problem->conflict != NULL || is_chain(walk)) {
        return;
    }
    for (uint32_t i = 0; i < count; ++i) {
        keys[i] = (struct maar_plan_key){.first = UINT32_MAX - problem->last[i], .item = i};
    }
    maar_plan_sort_keys(keys, other, count);
    note_ranks(keys, count, walk->by_end, walk->end_rank);
}

static VkResult create_walk(const struct maar_plan_problem* problem, const int64_t* offsets,
                            struct maar_host_stack* stack, struct walk* walk)
{
    const uint32_t count = problem->count;
    struct maar_plan_key* other = maar_stack_grab(stack, count, 2 * sizeof *other);
    *walk = (struct walk){
        .problem = problem,
        .events = maar_stack_grab(stack, count, 2 * sizeof *walk->events),
        .by_begin = maar_stack_grab(stack, count, sizeof(uint32_t)),
        .by_end = maar_stack_grab(stack, count, sizeof(uint32_t)),
        .begin_rank = maar_stack_grab(stack, count, sizeof(uint32_t)),
        .end_rank = maar_stack_grab(stack, count, sizeof(uint32_t)),
        .found = maar_stack_grab(stack, count, sizeof(uint32_t)),
        .others = maar_stack_grab(stack, count, sizeof(uint32_t)),
    };
    if (other == NULL || walk->events == NULL || walk->by_begin == NULL || walk->by_end == NULL ||
        walk->begin_rank == NULL || walk->end_rank == NULL || walk->found == NULL ||
        walk->others == NULL || !maar_plan_rank_set_init(&walk->begins, count, stack) ||
        !maar_plan_rank_set_init(&walk->ends, count, stack)) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    order_items(walk, walk->events, other);
    list_events(walk, offsets, other);
    return VK_SUCCESS;
}

/* Adds one edge for each different pair, ordered by `after`, then `before`. */
static VkResult add_edges(const struct walk* walk, struct maar_host_stack* stack,
                          struct maar_plan_edges* edges)
{
    const struct maar_plan_problem* problem = walk->problem;
    struct maar_plan_key* other = maar_stack_grab(stack, walk->pair_count, sizeof *other);
    if (walk->failed || other == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    maar_plan_sort_keys(walk->pairs, other, walk->pair_count);
    VkResult result = VK_SUCCESS;
    for (uint32_t k = 0; k < walk->pair_count && result == VK_SUCCESS; ++k) {
        const struct maar_plan_key* pair = &walk->pairs[k];
        if (k == 0 || pair->first != pair[-1].first || pair->second != pair[-1].second) {
            result = add_edge(problem, UINT32_MAX - (uint32_t)pair->second,
                              UINT32_MAX - (uint32_t)pair->first, stack, edges);
        }
    }
    return result;
}

VkResult maar_plan_find_edges(const struct maar_plan_problem* problem, const int64_t* offsets,
                              struct maar_host_stack* stack, struct maar_plan_edges* edges,
                              struct maar_plan_edges* wrap_edges)
{
    struct walk walk;
    VkResult result = create_walk(problem, offsets, stack, &walk);
    if (result == VK_SUCCESS && edges != NULL) {
        collect_pairs(&walk, stack, NULL);
        result = add_edges(&walk, stack, edges);
    }
    if (result == VK_SUCCESS && wrap_edges != NULL) {
        uint32_t(*seen)[2] = maar_stack_grab_zeroed(stack, problem->count, sizeof *seen);
        walk.pair_count = 0;
        walk.wrap = true;
        if (seen == NULL) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        collect_pairs(&walk, stack, seen);
        result = add_edges(&walk, stack, wrap_edges);
    }
    return result;
}
