/*
 * Aliasing edges: which resource takes over bytes of which other. A walk over the addresses of the
 * class keeps the set of items that use the byte at the present address. They follow one another in
 * time, so each item has at most one neighbour on each side. An edge joins two neighbours. Pairs of
 * neighbours appear only where an item begins or ends in memory, so n items have less than 3 n
 * edges.
 *
 * Where kinds are mixed, items of different kinds may not even share a granule at the same time.
 * plan_granule.h adds the edges between kinds, and the walk those within a run of one kind.
 */
#include "core/plan/plan_edge.h"

#include "core/plan/plan_granule.h"
#include "core/plan/plan_pairs.h"
#include "core/plan/plan_spans.h"
#include "core/plan/problem/plan_rank.h"
#include "core/plan/problem/plan_rank_set.h"

#include <string.h>

static bool keeps_contents(const struct maar_plan_problem* problem, uint32_t item)
{
    const MaarPlanResource* resource = &problem->graph->info->pResources[problem->resource[item]];
    return (resource->flags & MAAR_PLAN_RESOURCE_NO_ALIASING_BIT) != 0;
}

/* A walk over the addresses of a class. Items are ranked by their begin in time, which agrees with
 * the order of items that share a byte. */
struct walk {
    const struct maar_plan_problem* problem;
    struct maar_plan_key* events; /* by address: where items begin and end in memory */
    uint32_t event_count;
    uint32_t* by_begin;              /* items in the order of their begin in time */
    uint32_t* begin_rank;            /* per item */
    struct maar_plan_rank_set users; /* ranks of the items at the present address */
    struct maar_plan_granules granules;
    struct maar_plan_pairs pairs;
    bool wrap; /* edges to the next frame: items that keep their contents have none */
};

/* Adds a pair of ranks that is adjacent at the present byte. */
static void add_neighbours(struct walk* walk, uint32_t before, uint32_t after)
{
    const bool mixed = walk->problem->mixed;
    if (before != UINT32_MAX && after != UINT32_MAX &&
        (!mixed || maar_plan_in_one_run(&walk->granules, before, after))) {
        maar_plan_add_pair(&walk->pairs, walk->by_begin[before], walk->by_begin[after]);
    }
}

/* Adds the pairs that appear where an item begins to use the present address. */
static void pair_new(struct walk* walk, uint32_t rank)
{
    add_neighbours(walk, maar_plan_rank_set_before(&walk->users, rank), rank);
    add_neighbours(walk, rank, maar_plan_rank_set_next(&walk->users, rank + 1));
}

/* Adds the pair that appears where an item does not use the byte any more: it lay between them. */
static void pair_around(struct walk* walk, uint32_t rank)
{
    add_neighbours(walk, maar_plan_rank_set_before(&walk->users, rank),
                   maar_plan_rank_set_next(&walk->users, rank));
}

/* Adds the pair of the last user of the present address and its first user. `seen` has the pair of
 * the address below. */
static void pair_wrap(struct walk* walk, uint32_t seen[2])
{
    const uint32_t last = maar_plan_rank_set_before(&walk->users, UINT32_MAX);
    const uint32_t first = maar_plan_rank_set_next(&walk->users, 0);
    const bool is_new = last != seen[0] || first != seen[1];
    seen[0] = last;
    seen[1] = first;
    if (last != UINT32_MAX && is_new &&
        (!walk->problem->mixed || maar_plan_wraps_alone(&walk->granules, last, first))) {
        maar_plan_add_pair(&walk->pairs, walk->by_begin[last], walk->by_begin[first]);
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

/* Adds and removes users at the events from `at` to `end`. Returns whether any item begins. */
static bool change_users(struct walk* walk, uint32_t at, uint32_t end)
{
    bool begins = false;
    for (uint32_t k = at; k < end; ++k) {
        const struct maar_plan_key* event = &walk->events[k];
        const uint32_t rank = walk->begin_rank[event->item];
        if (walk->wrap && keeps_contents(walk->problem, event->item)) {
            continue;
        }
        if (event->second != 0) {
            maar_plan_rank_set_remove(&walk->users, rank);
        } else {
            maar_plan_rank_set_add(&walk->users, rank);
            begins = true;
        }
    }
    return begins;
}

/* Adds the pairs of all neighbours that appear at the events from `at` to `end`. Where kinds are
 * mixed, items around one that ends are left out: a path leads from the one to the other by way of
 * the item that ends. */
static void pair_events(struct walk* walk, uint32_t at, uint32_t end)
{
    for (uint32_t k = at; k < end; ++k) {
        const uint32_t rank = walk->begin_rank[walk->events[k].item];
        if (walk->events[k].second == 0) {
            pair_new(walk, rank);
        } else if (!walk->problem->mixed) {
            pair_around(walk, rank);
        }
    }
}

/* Collects the pairs, within a frame or to the next one. */
static void collect_pairs(struct walk* walk)
{
    const struct maar_plan_problem* problem = walk->problem;
    uint32_t seen[2] = {UINT32_MAX, UINT32_MAX};
    if (problem->mixed) {
        maar_plan_restart_granules(&walk->granules, walk->wrap);
    }
    for (uint32_t at = 0; at < walk->event_count && !walk->pairs.failed;) {
        const uint32_t end = end_of_address(walk, at);
        const bool begins = change_users(walk, at, end);
        if (problem->mixed && begins) {
            const uint64_t address = UINT64_MAX - walk->events[at].first;
            maar_plan_enter_granule(&walk->granules, address / problem->granularity, &walk->pairs);
        }
        if (!walk->wrap) {
            pair_events(walk, at, end);
        } else if (begins || !problem->mixed) {
            pair_wrap(walk, seen);
        }
        at = end;
    }
}

/* Sorts where items begin and end in memory. At one address, ends come before begins. Where all
 * items begin at granules, granules take the place of bytes. */
static void list_events(struct walk* walk, const int64_t* offsets, struct maar_plan_key* other)
{
    const struct maar_plan_problem* problem = walk->problem;
    const uint64_t step = problem->mixed ? 1 : problem->granularity;
    for (uint32_t i = 0; i < problem->count; ++i) {
        const uint64_t begin = (uint64_t)offsets[i] * problem->unit;
        const uint64_t end = begin + problem->bytes[i];
        walk->events[walk->event_count++] =
            (struct maar_plan_key){.first = UINT64_MAX - begin / step, .item = i};
        walk->events[walk->event_count++] = (struct maar_plan_key){
            .first = UINT64_MAX - ((end - 1) / step + 1), .second = 1, .item = i};
    }
    maar_plan_sort_keys(walk->events, other, walk->event_count);
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
    for (uint32_t k = 0; k < count; ++k) {
        walk->by_begin[k] = keys[k].item;
        walk->begin_rank[keys[k].item] = k;
    }
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
        .begin_rank = maar_stack_grab(stack, count, sizeof(uint32_t)),
        .pairs = {.stack = stack, .bound = count},
    };
    if (other == NULL || walk->events == NULL || walk->by_begin == NULL ||
        walk->begin_rank == NULL || !maar_plan_rank_set_init(&walk->users, count, stack)) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    order_items(walk, walk->events, other);
    list_events(walk, offsets, other);
    const bool opened =
        !problem->mixed || maar_plan_open_granules(problem, offsets, walk->by_begin,
                                                   walk->begin_rank, stack, &walk->granules);
    return opened ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

/* Makes room for more edges. */
static bool reserve_edges(struct maar_plan_edges* edges, uint32_t more,
                          struct maar_host_stack* stack)
{
    if (more <= edges->room - edges->count) {
        return true;
    }
    const size_t room = (size_t)edges->count + more;
    MaarPlanEdge* list = room <= UINT32_MAX ? maar_stack_grab(stack, room, sizeof *list) : NULL;
    if (list == NULL) {
        return false;
    }
    if (edges->count > 0) {
        memcpy(list, edges->list, edges->count * sizeof *list);
    }
    edges->list = list;
    edges->room = (uint32_t)room;
    return true;
}

/* Adds an edge for each pair, ordered by `after`, then `before`. */
static VkResult add_edges(struct walk* walk, struct maar_host_stack* stack,
                          struct maar_plan_edges* edges)
{
    const struct maar_plan_problem* problem = walk->problem;
    struct maar_plan_pairs* pairs = &walk->pairs;
    maar_plan_settle_pairs(pairs);
    if (pairs->failed || !reserve_edges(edges, pairs->count, stack)) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t k = 0; k < pairs->count; ++k) {
        const uint32_t before = problem->resource[pairs->list[k].before];
        const uint32_t after = problem->resource[pairs->list[k].after];
        const bool cross = maar_plan_crosses_queues(problem->graph, before, after);
        edges->list[edges->count++] = (MaarPlanEdge){
            .before = before,
            .after = after,
            .crossQueue = cross ? VK_TRUE : VK_FALSE,
        };
        edges->cross_count += cross;
    }
    pairs->count = 0;
    return VK_SUCCESS;
}

VkResult maar_plan_find_edges(const struct maar_plan_problem* problem, const int64_t* offsets,
                              struct maar_host_stack* stack, struct maar_plan_edges* edges,
                              struct maar_plan_edges* wrap_edges)
{
    struct walk walk;
    VkResult result = create_walk(problem, offsets, stack, &walk);
    if (result == VK_SUCCESS && edges != NULL) {
        collect_pairs(&walk);
        result = add_edges(&walk, stack, edges);
    }
    if (result == VK_SUCCESS && wrap_edges != NULL) {
        walk.wrap = true;
        collect_pairs(&walk);
        result = add_edges(&walk, stack, wrap_edges);
    }
    return result;
}
