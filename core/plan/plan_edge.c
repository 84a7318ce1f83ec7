/*
 * Aliasing edges: which resource takes over bytes of which other. Resources that share a byte
 * follow one another, so each byte has one most recent user. Items are placed in the order in which
 * they begin. A list of segments has the first and the last user of every byte.
 *
 * Where kinds are mixed, resources share granules instead of bytes. Resources of one granule may
 * live at the same time, so each pair that shares a granule is checked.
 */
#include "core/plan/plan_edge.h"

#include "core/plan/problem/plan_rank.h"

#include <string.h>

struct segment {
    uint64_t begin; /* bytes */
    uint64_t end;
    uint32_t first;
    uint32_t last;
};

struct layer {
    struct segment* segments; /* sorted by offset, without overlap */
    struct segment* spare;
    uint32_t count;
    uint32_t* seen; /* per item: the item that it was last found below, plus one */
};

static bool precedes(const struct maar_plan_problem* problem, uint32_t a, uint32_t b)
{
    if (problem->conflict == NULL) {
        return problem->last[a] < problem->first[b];
    }
    const struct maar_plan_graph* graph = problem->graph;
    return maar_plan_has(graph->before + problem->resource[a] * graph->before_words,
                         problem->resource[b]);
}

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
        if (maar_plan_has(graph->reach + from * graph->reach_words, to)) {
            return false;
        }
    }
    return true;
}

bool maar_plan_crosses_queues(const struct maar_plan_graph* graph, uint32_t before, uint32_t after)
{
    if (graph->before == NULL) {
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

/* Returns the first segment that ends above `begin`. */
static uint32_t find_segment(const struct layer* layer, uint64_t begin)
{
    uint32_t low = 0;
    uint32_t count = layer->count;
    while (count > 0) {
        const uint32_t half = count / 2;
        if (layer->segments[low + half].end <= begin) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

/* Replaces the segments from `at` to before `until` by the spare segments. */
static void splice_layer(struct layer* layer, uint32_t at, uint32_t until, uint32_t spare_count)
{
    memmove(layer->segments + at + spare_count, layer->segments + until,
            (layer->count - until) * sizeof *layer->segments);
    memcpy(layer->segments + at, layer->spare, spare_count * sizeof *layer->segments);
    layer->count = layer->count - (until - at) + spare_count;
}

/* Puts an item on top of the segments, and adds an edge from each item that it covers. */
static VkResult lay_item(const struct maar_plan_problem* problem, struct layer* layer,
                         uint32_t item, uint64_t begin, uint64_t end, struct maar_host_stack* stack,
                         struct maar_plan_edges* edges)
{
    const uint32_t at = find_segment(layer, begin);
    uint32_t until = at;
    uint32_t spare = 0;
    uint64_t filled = begin;
    VkResult result = VK_SUCCESS;
    for (; until < layer->count && layer->segments[until].begin < end; ++until) {
        const struct segment old = layer->segments[until];
        const uint64_t from = old.begin > begin ? old.begin : begin;
        const uint64_t to = old.end < end ? old.end : end;
        if (old.begin < begin) {
            layer->spare[spare++] = (struct segment){old.begin, begin, old.first, old.last};
        }
        if (filled < from) {
            layer->spare[spare++] = (struct segment){filled, from, item, item};
        }
        layer->spare[spare++] = (struct segment){from, to, old.first, item};
        filled = to;
        if (edges != NULL && layer->seen[old.last] != item + 1 && result == VK_SUCCESS) {
            layer->seen[old.last] = item + 1;
            result = add_edge(problem, old.last, item, stack, edges);
        }
        if (old.end > end) {
            layer->spare[spare++] = (struct segment){end, old.end, old.first, old.last};
        }
    }
    if (filled < end) {
        layer->spare[spare++] = (struct segment){filled, end, item, item};
    }
    splice_layer(layer, at, until, spare);
    return result;
}

/* Adds an edge from the last user of each byte to its first user. Adds each pair once. */
static VkResult wrap_segments(const struct maar_plan_problem* problem, const struct layer* layer,
                              struct maar_host_stack* stack, struct maar_plan_edges* edges)
{
    struct maar_plan_key* keys = maar_stack_grab(stack, layer->count, sizeof *keys);
    struct maar_plan_key* other = maar_stack_grab(stack, layer->count, sizeof *other);
    if (keys == NULL || other == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t s = 0; s < layer->count; ++s) {
        keys[s] = (struct maar_plan_key){.first = layer->segments[s].first,
                                         .second = layer->segments[s].last};
    }
    maar_plan_sort_keys(keys, other, layer->count);
    VkResult result = VK_SUCCESS;
    for (uint32_t s = 0; s < layer->count && result == VK_SUCCESS; ++s) {
        if (s == 0 || keys[s].first != keys[s - 1].first || keys[s].second != keys[s - 1].second) {
            result =
                add_edge(problem, (uint32_t)keys[s].second, (uint32_t)keys[s].first, stack, edges);
        }
    }
    return result;
}

static VkResult find_byte_edges(const struct maar_plan_problem* problem, const int64_t* offsets,
                                bool wrap, struct maar_host_stack* stack,
                                struct maar_plan_edges* edges)
{
    const size_t room = (size_t)problem->count * 2 + 2;
    struct layer layer = {
        .segments = maar_stack_grab(stack, room, sizeof(struct segment)),
        .spare = maar_stack_grab(stack, 2 * room, sizeof(struct segment)),
        .seen = maar_stack_grab_zeroed(stack, problem->count, sizeof(uint32_t)),
    };
    struct maar_plan_key* keys = NULL;
    VkResult result = maar_plan_order_by_begin(problem, stack, &keys);
    if (result != VK_SUCCESS || layer.segments == NULL || layer.spare == NULL ||
        layer.seen == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t k = 0; k < problem->count && result == VK_SUCCESS; ++k) {
        const uint32_t item = keys[k].item;
        if (wrap && keeps_contents(problem, item)) {
            continue;
        }
        const uint64_t begin = (uint64_t)offsets[item] * problem->unit;
        result = lay_item(problem, &layer, item, begin, begin + problem->bytes[item], stack,
                          wrap ? NULL : edges);
    }
    if (wrap && result == VK_SUCCESS) {
        result = wrap_segments(problem, &layer, stack, edges);
    }
    return result;
}

/* Granules from begin to end; the end is excluded. */
struct granules {
    uint64_t begin;
    uint64_t end;
};

/* The users of a run of granules, in the order in which they begin, and the pairs of users. */
struct crowd {
    const struct maar_plan_problem* problem;
    struct granules* granules; /* per item */
    uint64_t* bounds;          /* granules at which a user begins or ends, sorted */
    uint32_t bound_count;
    uint32_t* users;
    uint32_t user_count;
    struct maar_plan_key* pairs; /* before and after, not sorted yet */
    uint32_t pair_count;
    uint32_t pair_room;
};

static VkResult add_pair(struct crowd* crowd, uint32_t before, uint32_t after,
                         struct maar_host_stack* stack)
{
    if (crowd->pair_count == crowd->pair_room) {
        struct maar_plan_key* pairs =
            maar_stack_grow(stack, crowd->pairs, &crowd->pair_room, 256, sizeof *pairs);
        if (pairs == NULL) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        crowd->pairs = pairs;
    }
    crowd->pairs[crowd->pair_count++] = (struct maar_plan_key){.first = before, .second = after};
    return VK_SUCCESS;
}

/* Returns whether some user comes after a and before b. UINT32_MAX as a or b leaves out the
 * condition on a or b. */
static bool is_hidden(const struct crowd* crowd, uint32_t a, uint32_t b)
{
    for (uint32_t k = 0; k < crowd->user_count; ++k) {
        const uint32_t c = crowd->users[k];
        if (c != a && c != b && (a == UINT32_MAX || precedes(crowd->problem, a, c)) &&
            (b == UINT32_MAX || precedes(crowd->problem, c, b))) {
            return true;
        }
    }
    return false;
}

/* Pairs each user of a run with the users that come after it, if no user lies in between. If `wrap`
 * is true, pairs each last user of the run with each first user. */
static VkResult pair_users(struct crowd* crowd, bool wrap, struct maar_host_stack* stack)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < crowd->user_count; ++i) {
        const uint32_t a = crowd->users[i];
        if (wrap && is_hidden(crowd, a, UINT32_MAX)) {
            continue;
        }
        uint32_t found = 0;
        for (uint32_t k = wrap ? 0 : i + 1; k < crowd->user_count && result == VK_SUCCESS; ++k) {
            const uint32_t b = crowd->users[k];
            if (wrap ? !is_hidden(crowd, UINT32_MAX, b)
                     : precedes(crowd->problem, a, b) && !is_hidden(crowd, a, b)) {
                result = add_pair(crowd, a, b, stack);
                ++found;
            } else if (found > 0 && crowd->problem->conflict == NULL) {
                /* On one queue, users that begin even later are hidden too. */
                break;
            }
        }
    }
    return result;
}

static VkResult gather_crowd(struct crowd* crowd, const int64_t* offsets,
                             struct maar_host_stack* stack)
{
    const struct maar_plan_problem* problem = crowd->problem;
    const uint32_t count = problem->count;
    crowd->granules = maar_stack_grab(stack, count, sizeof *crowd->granules);
    crowd->users = maar_stack_grab(stack, count, sizeof *crowd->users);
    struct maar_plan_key* keys = maar_stack_grab(stack, count, 2 * sizeof *keys);
    struct maar_plan_key* other = maar_stack_grab(stack, count, 2 * sizeof *other);
    crowd->bounds = maar_stack_grab(stack, count, 2 * sizeof *crowd->bounds);
    if (crowd->granules == NULL || crowd->users == NULL || keys == NULL || other == NULL ||
        crowd->bounds == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const uint64_t begin = (uint64_t)offsets[i] * problem->unit;
        crowd->granules[i] =
            (struct granules){begin / problem->granularity,
                              (begin + problem->bytes[i] - 1) / problem->granularity + 1};
        struct maar_plan_key* pair = &keys[(size_t)2 * i];
        pair[0] = (struct maar_plan_key){.first = UINT64_MAX - crowd->granules[i].begin};
        pair[1] = (struct maar_plan_key){.first = UINT64_MAX - crowd->granules[i].end};
    }
    maar_plan_sort_keys(keys, other, 2 * count);
    for (uint32_t k = 0; k < 2 * count; ++k) {
        const uint64_t bound = UINT64_MAX - keys[k].first;
        if (crowd->bound_count == 0 || crowd->bounds[crowd->bound_count - 1] != bound) {
            crowd->bounds[crowd->bound_count++] = bound;
        }
    }
    return VK_SUCCESS;
}

/* Adds one edge for each different pair. */
static VkResult add_pairs(const struct crowd* crowd, struct maar_host_stack* stack,
                          struct maar_plan_edges* edges)
{
    struct maar_plan_key* other = maar_stack_grab(stack, crowd->pair_count, sizeof *other);
    if (other == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    maar_plan_sort_keys(crowd->pairs, other, crowd->pair_count);
    VkResult result = VK_SUCCESS;
    for (uint32_t k = 0; k < crowd->pair_count && result == VK_SUCCESS; ++k) {
        const struct maar_plan_key* pair = &crowd->pairs[k];
        if (k == 0 || pair->first != pair[-1].first || pair->second != pair[-1].second) {
            result = add_edge(crowd->problem, (uint32_t)pair->first, (uint32_t)pair->second, stack,
                              edges);
        }
    }
    return result;
}

static VkResult find_granule_edges(const struct maar_plan_problem* problem, const int64_t* offsets,
                                   bool wrap, struct maar_host_stack* stack,
                                   struct maar_plan_edges* edges)
{
    struct crowd crowd = {.problem = problem};
    struct maar_plan_key* keys = NULL;
    VkResult result = gather_crowd(&crowd, offsets, stack);
    if (result == VK_SUCCESS) {
        result = maar_plan_order_by_begin(problem, stack, &keys);
    }
    for (uint32_t r = 0; r + 1 < crowd.bound_count && result == VK_SUCCESS; ++r) {
        crowd.user_count = 0;
        for (uint32_t k = 0; k < problem->count; ++k) {
            const uint32_t item = keys[k].item;
            if (crowd.granules[item].begin <= crowd.bounds[r] &&
                crowd.granules[item].end > crowd.bounds[r] &&
                !(wrap && keeps_contents(problem, item))) {
                crowd.users[crowd.user_count++] = item;
            }
        }
        result = pair_users(&crowd, wrap, stack);
    }
    return result == VK_SUCCESS ? add_pairs(&crowd, stack, edges) : result;
}

VkResult maar_plan_find_edges(const struct maar_plan_problem* problem, const int64_t* offsets,
                              bool wrap, struct maar_host_stack* stack,
                              struct maar_plan_edges* edges)
{
    if (problem->granularity > 1) {
        return find_granule_edges(problem, offsets, wrap, stack, edges);
    }
    return find_byte_edges(problem, offsets, wrap, stack, edges);
}
