/*
 * Aliasing edges: who takes over whose bytes. Resources that share a byte follow one another, so
 * each byte has one most recent user. Items are laid down in the order in which they begin; a list
 * of segments knows the last and the first user of every byte.
 *
 * Where kinds are mixed the unit is the granule. Resources of one granule may live at the same
 * time, so there each pair that shares one is looked at.
 */
#include "core/plan/plan_internal.h"

#include "core/plan/plan_rank.h"

#include <string.h>

struct segment {
    uint64_t begin; /* bytes */
    uint64_t end;
    uint32_t first;
    uint32_t last;
};

struct layer {
    struct segment* segments; /* by offset; do not overlap */
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

/* Whether use k of a resource is a last one: no other use comes after it (or before, for firsts).
 */
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
                         struct maar_plan_arena* arena, struct maar_plan_edges* edges)
{
    if (edges->count == edges->room) {
        const uint32_t room = edges->room == 0 ? 128 : edges->room * 2;
        MaarPlanEdge* list = maar_plan_take(arena, room, sizeof *list);
        if (list == NULL) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        if (edges->count > 0) {
            memcpy(list, edges->list, edges->count * sizeof *list);
        }
        edges->list = list;
        edges->room = room;
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

/* The first segment that ends above `begin`. */
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

/* Replaces segments from index `at` on, up to byte `end`, by the spare ones. */
static void splice(struct layer* layer, uint32_t at, uint32_t until, uint32_t spare_count)
{
    memmove(layer->segments + at + spare_count, layer->segments + until,
            (layer->count - until) * sizeof *layer->segments);
    memcpy(layer->segments + at, layer->spare, spare_count * sizeof *layer->segments);
    layer->count = layer->count - (until - at) + spare_count;
}

/* Lays an item on top of what is there; tells whom it covers. */
static VkResult lay_item(const struct maar_plan_problem* problem, struct layer* layer,
                         uint32_t item, uint64_t begin, uint64_t end, struct maar_plan_arena* arena,
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
            result = add_edge(problem, old.last, item, arena, edges);
        }
        if (old.end > end) {
            layer->spare[spare++] = (struct segment){end, old.end, old.first, old.last};
        }
    }
    if (filled < end) {
        layer->spare[spare++] = (struct segment){filled, end, item, item};
    }
    splice(layer, at, until, spare);
    return result;
}

VkResult maar_plan_order_by_begin(const struct maar_plan_problem* problem,
                                  struct maar_plan_arena* arena, struct maar_plan_key** keys)
{
    *keys = maar_plan_take(arena, problem->count, sizeof **keys);
    struct maar_plan_key* other = maar_plan_take(arena, problem->count, sizeof *other);
    if (*keys == NULL || other == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < problem->count; ++i) {
        (*keys)[i] = (struct maar_plan_key){
            .first = UINT32_MAX - problem->graph->begin_rank[problem->resource[i]],
            .item = i,
        };
    }
    maar_plan_sort_keys(*keys, other, problem->count);
    return VK_SUCCESS;
}

/* From the last user of each byte to its first, each pair once. */
static VkResult wrap_segments(const struct maar_plan_problem* problem, const struct layer* layer,
                              struct maar_plan_arena* arena, struct maar_plan_edges* edges)
{
    struct maar_plan_key* keys = maar_plan_take(arena, layer->count, sizeof *keys);
    struct maar_plan_key* other = maar_plan_take(arena, layer->count, sizeof *other);
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
                add_edge(problem, (uint32_t)keys[s].second, (uint32_t)keys[s].first, arena, edges);
        }
    }
    return result;
}

static VkResult find_byte_edges(const struct maar_plan_problem* problem, const int64_t* offsets,
                                bool wrap, struct maar_plan_arena* arena,
                                struct maar_plan_edges* edges)
{
    const size_t room = (size_t)problem->count * 2 + 2;
    struct layer layer = {
        .segments = maar_plan_take(arena, room, sizeof(struct segment)),
        .spare = maar_plan_take(arena, 2 * room, sizeof(struct segment)),
        .seen = maar_plan_take_zeroed(arena, problem->count, sizeof(uint32_t)),
    };
    struct maar_plan_key* keys = NULL;
    VkResult result = maar_plan_order_by_begin(problem, arena, &keys);
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
        result = lay_item(problem, &layer, item, begin, begin + problem->bytes[item], arena,
                          wrap ? NULL : edges);
    }
    if (wrap && result == VK_SUCCESS) {
        result = wrap_segments(problem, &layer, arena, edges);
    }
    return result;
}

struct granules {
    uint64_t begin;
    uint64_t end;
};

static struct granules granules_of(const struct maar_plan_problem* problem, const int64_t* offsets,
                                   uint32_t item)
{
    const uint64_t begin = (uint64_t)offsets[item] * problem->unit;
    return (struct granules){begin / problem->granularity,
                             (begin + problem->bytes[item] - 1) / problem->granularity + 1};
}

/* Whether item c comes between a and b: within a frame, or around its end. */
static bool comes_between(const struct maar_plan_problem* problem, uint32_t a, uint32_t c,
                          uint32_t b, bool wrap)
{
    if (wrap) {
        return precedes(problem, a, c) || precedes(problem, c, b);
    }
    return precedes(problem, a, c) && precedes(problem, c, b);
}

/* Whether some granule goes from a to b with nobody in between. */
static bool hands_over(const struct maar_plan_problem* problem, const int64_t* offsets, uint32_t a,
                       uint32_t b, bool wrap)
{
    const struct granules of_a = granules_of(problem, offsets, a);
    const struct granules of_b = granules_of(problem, offsets, b);
    uint64_t at = of_a.begin > of_b.begin ? of_a.begin : of_b.begin;
    const uint64_t end = of_a.end < of_b.end ? of_a.end : of_b.end;
    while (at < end) {
        bool covered = false;
        for (uint32_t c = 0; c < problem->count && !covered; ++c) {
            const struct granules of_c = granules_of(problem, offsets, c);
            if (of_c.begin <= at && of_c.end > at && !keeps_contents(problem, c) &&
                comes_between(problem, a, c, b, wrap)) {
                at = of_c.end;
                covered = true;
            }
        }
        if (!covered) {
            return true;
        }
    }
    return false;
}

static VkResult find_granule_edges(const struct maar_plan_problem* problem, const int64_t* offsets,
                                   bool wrap, struct maar_plan_arena* arena,
                                   struct maar_plan_edges* edges)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t b = 0; b < problem->count; ++b) {
        for (uint32_t a = 0; a < problem->count && result == VK_SUCCESS; ++a) {
            const bool candidates = wrap
                                        ? !keeps_contents(problem, a) && !keeps_contents(problem, b)
                                        : precedes(problem, a, b);
            if (candidates && hands_over(problem, offsets, a, b, wrap)) {
                result = add_edge(problem, a, b, arena, edges);
            }
        }
    }
    return result;
}

VkResult maar_plan_find_edges(const struct maar_plan_problem* problem, const int64_t* offsets,
                              bool wrap, struct maar_plan_arena* arena,
                              struct maar_plan_edges* edges)
{
    if (problem->granularity > 1) {
        return find_granule_edges(problem, offsets, wrap, arena, edges);
    }
    return find_byte_edges(problem, offsets, wrap, arena, edges);
}
