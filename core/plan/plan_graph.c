/*
 * Which resources may share bytes. With one queue, each resource lives through an interval of
 * passes. With several queues, passes are ordered by their queues and by dependencies. Resource a
 * comes before resource b when every use of a comes before every use of b, which is a strict
 * partial order.
 */
#include "core/plan/plan_graph.h"

#include "core/plan/plan_input.h"

#include <string.h>

static uint32_t count_passes(const MaarPlanCreateInfo* info)
{
    if (info->passCount != 0) {
        return info->passCount;
    }
    uint32_t count = 1;
    for (uint32_t i = 0; i < info->resourceCount; ++i) {
        const MaarPlanResource* resource = &info->pResources[i];
        if ((resource->flags & MAAR_PLAN_RESOURCE_NO_ALIASING_BIT) != 0) {
            continue;
        }
        if (resource->useCount == 0 && resource->lastPass >= count) {
            count = resource->lastPass + 1;
        }
        for (uint32_t k = 0; k < resource->useCount; ++k) {
            count = resource->pUses[k] >= count ? resource->pUses[k] + 1 : count;
        }
    }
    for (uint32_t i = 0; i < info->dependencyCount; ++i) {
        const MaarPlanDependency* edge = &info->pDependencies[i];
        const uint32_t larger = edge->before > edge->after ? edge->before : edge->after;
        count = larger >= count ? larger + 1 : count;
    }
    return count;
}

static bool has_one_queue(const MaarPlanCreateInfo* info)
{
    for (uint32_t i = 1; info->pPassQueues != NULL && i < info->passCount; ++i) {
        if (info->pPassQueues[i] != info->pPassQueues[0]) {
            return false;
        }
    }
    return true;
}

static VkResult build_intervals(const MaarPlanCreateInfo* info, struct maar_host_stack* stack,
                                struct maar_plan_graph* graph)
{
    for (uint32_t i = 0; i < info->dependencyCount; ++i) {
        const MaarPlanDependency* edge = &info->pDependencies[i];
        if (edge->before > edge->after) {
            return maar_plan_reject(info,
                                    "maarCreatePlan: pDependencies[%u] puts pass %u before pass "
                                    "%u, but the queue runs them in the other order",
                                    i, edge->before, edge->after);
        }
    }
    graph->first = maar_stack_grab(stack, graph->count, sizeof *graph->first);
    graph->last = maar_stack_grab(stack, graph->count, sizeof *graph->last);
    if (graph->first == NULL || graph->last == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < graph->count; ++i) {
        const MaarPlanResource* resource = &info->pResources[i];
        uint32_t first = resource->firstPass;
        uint32_t last = resource->lastPass;
        if ((resource->flags & MAAR_PLAN_RESOURCE_NO_ALIASING_BIT) != 0) {
            first = 0;
            last = graph->pass_count - 1;
        } else if (resource->useCount != 0) {
            first = UINT32_MAX;
            last = 0;
            for (uint32_t k = 0; k < resource->useCount; ++k) {
                first = resource->pUses[k] < first ? resource->pUses[k] : first;
                last = resource->pUses[k] > last ? resource->pUses[k] : last;
            }
        }
        graph->first[i] = first;
        graph->last[i] = last;
    }
    graph->begin_rank = graph->first;
    return VK_SUCCESS;
}

/* For each pass, a list of the passes that must come after it: the next pass of its queue, and
 * those that dependencies name. */
struct pass_edges {
    uint32_t* begin; /* list of pass p: after[begin[p]] to after[begin[p + 1] - 1] */
    uint32_t* after;
};

static VkResult collect_pass_edges(const MaarPlanCreateInfo* info, struct maar_host_stack* stack,
                                   uint32_t pass_count, struct pass_edges* edges)
{
    const size_t room = (size_t)pass_count + info->dependencyCount;
    uint32_t* next = maar_stack_grab(stack, pass_count, sizeof *next);
    edges->begin = maar_stack_grab_zeroed(stack, (size_t)pass_count + 1, sizeof *edges->begin);
    edges->after = maar_stack_grab(stack, room, sizeof *edges->after);
    if (next == NULL || edges->begin == NULL || edges->after == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    /* Goes backward over the passes and finds for each pass the next one of its queue. heads has
     * the earliest pass seen so far of each queue. Queues are few and passes may be many, so a
     * search through heads is cheap. */
    uint32_t queue_count = 0;
    uint32_t* heads = maar_stack_grab(stack, pass_count, sizeof *heads);
    if (heads == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t p = pass_count; p-- > 0;) {
        uint32_t q = 0;
        while (q < queue_count && info->pPassQueues[heads[q]] != info->pPassQueues[p]) {
            ++q;
        }
        next[p] = q < queue_count ? heads[q] : UINT32_MAX;
        queue_count += q == queue_count;
        heads[q] = p;
        edges->begin[p + 1] = next[p] != UINT32_MAX;
    }
    for (uint32_t i = 0; i < info->dependencyCount; ++i) {
        edges->begin[info->pDependencies[i].before + 1] += 1;
    }
    for (uint32_t p = 0; p < pass_count; ++p) {
        edges->begin[p + 1] += edges->begin[p];
    }
    uint32_t* fill = heads;
    memcpy(fill, edges->begin, pass_count * sizeof *fill);
    for (uint32_t p = 0; p < pass_count; ++p) {
        if (next[p] != UINT32_MAX) {
            edges->after[fill[p]++] = next[p];
        }
    }
    for (uint32_t i = 0; i < info->dependencyCount; ++i) {
        edges->after[fill[info->pDependencies[i].before]++] = info->pDependencies[i].after;
    }
    return VK_SUCCESS;
}

/* Orders the passes by Kahn's algorithm. */
static VkResult order_passes(const MaarPlanCreateInfo* info, struct maar_host_stack* stack,
                             const struct pass_edges* edges, uint32_t pass_count, uint32_t* order)
{
    uint32_t* waits = maar_stack_grab_zeroed(stack, pass_count, sizeof *waits);
    if (waits == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t e = 0; e < edges->begin[pass_count]; ++e) {
        waits[edges->after[e]] += 1;
    }
    uint32_t done = 0;
    uint32_t ready = 0;
    for (uint32_t p = 0; p < pass_count; ++p) {
        if (waits[p] == 0) {
            order[ready++] = p;
        }
    }
    for (; done < ready; ++done) {
        const uint32_t p = order[done];
        for (uint32_t e = edges->begin[p]; e < edges->begin[p + 1]; ++e) {
            if (--waits[edges->after[e]] == 0) {
                order[ready++] = edges->after[e];
            }
        }
    }
    for (uint32_t p = 0; done < pass_count && p < pass_count; ++p) {
        if (waits[p] != 0) {
            return maar_plan_reject(info,
                                    "maarCreatePlan: pDependencies and the order of the queues "
                                    "form a cycle; pass %u is "
                                    "in it or waits for it",
                                    p);
        }
    }
    return VK_SUCCESS;
}

static VkResult build_reach(const MaarPlanCreateInfo* info, struct maar_host_stack* stack,
                            struct maar_plan_graph* graph)
{
    const uint32_t pass_count = graph->pass_count;
    struct pass_edges edges = {0};
    VkResult result = collect_pass_edges(info, stack, pass_count, &edges);
    uint32_t* order = maar_stack_grab(stack, pass_count, sizeof *order);
    graph->position = maar_stack_grab(stack, pass_count, sizeof *graph->position);
    graph->reach_words = maar_plan_words(pass_count);
    graph->reach =
        maar_stack_grab_zeroed(stack, pass_count, graph->reach_words * sizeof *graph->reach);
    if (result != VK_SUCCESS || order == NULL || graph->position == NULL || graph->reach == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    result = order_passes(info, stack, &edges, pass_count, order);
    if (result != VK_SUCCESS) {
        return result;
    }
    for (uint32_t k = pass_count; k-- > 0;) {
        const uint32_t p = order[k];
        graph->position[p] = k;
        uint64_t* row = graph->reach + p * graph->reach_words;
        for (uint32_t e = edges.begin[p]; e < edges.begin[p + 1]; ++e) {
            const uint32_t after = edges.after[e];
            const uint64_t* other = graph->reach + after * graph->reach_words;
            for (size_t w = 0; w < graph->reach_words; ++w) {
                row[w] |= other[w];
            }
            maar_plan_put(row, after);
        }
    }
    return VK_SUCCESS;
}

/* Marks the resources that come after resource i. common: the passes that come after every use of
 * i. All uses of a marked resource are in it. */
static void fill_before_row(const struct maar_plan_graph* graph, uint32_t i, const uint64_t* common)
{
    const MaarPlanResource* resources = graph->info->pResources;
    uint64_t* row = graph->before + i * graph->before_words;
    for (uint32_t j = 0; j < graph->count; ++j) {
        const MaarPlanResource* other = &resources[j];
        bool after = j != i && (other->flags & MAAR_PLAN_RESOURCE_NO_ALIASING_BIT) == 0;
        for (uint32_t k = 0; after && k < other->useCount; ++k) {
            after = maar_plan_has(common, other->pUses[k]);
        }
        if (after) {
            maar_plan_put(row, j);
        }
    }
}

static VkResult build_order(struct maar_host_stack* stack, struct maar_plan_graph* graph)
{
    const MaarPlanResource* resources = graph->info->pResources;
    graph->before_words = maar_plan_words(graph->count);
    graph->before =
        maar_stack_grab_zeroed(stack, graph->count, graph->before_words * sizeof *graph->before);
    graph->begin_rank = maar_stack_grab(stack, graph->count, sizeof *graph->begin_rank);
    uint64_t* common = maar_stack_grab(stack, graph->reach_words, sizeof *common);
    if (graph->before == NULL || graph->begin_rank == NULL || common == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < graph->count; ++i) {
        const MaarPlanResource* resource = &resources[i];
        graph->begin_rank[i] = 0;
        if ((resource->flags & MAAR_PLAN_RESOURCE_NO_ALIASING_BIT) != 0) {
            continue;
        }
        graph->begin_rank[i] = UINT32_MAX;
        memset(common, 0xFF, graph->reach_words * sizeof *common);
        for (uint32_t k = 0; k < resource->useCount; ++k) {
            const uint32_t pass = resource->pUses[k];
            const uint64_t* row = graph->reach + pass * graph->reach_words;
            for (size_t w = 0; w < graph->reach_words; ++w) {
                common[w] &= row[w];
            }
            if (graph->position[pass] < graph->begin_rank[i]) {
                graph->begin_rank[i] = graph->position[pass];
            }
        }
        fill_before_row(graph, i, common);
    }
    return VK_SUCCESS;
}

VkResult maar_plan_build_graph(const MaarPlanCreateInfo* info, struct maar_plan_budget* budget,
                               struct maar_host_stack* stack, struct maar_plan_graph* graph)
{
    *graph = (struct maar_plan_graph){.info = info, .budget = budget, .count = info->resourceCount};
    graph->pass_count = count_passes(info);
    if (has_one_queue(info)) {
        return build_intervals(info, stack, graph);
    }
    VkResult result = build_reach(info, stack, graph);
    if (result == VK_SUCCESS) {
        result = build_order(stack, graph);
    }
    return result;
}
