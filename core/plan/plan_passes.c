/*
 * Orders the passes of several queues: see plan_passes.h.
 */
#include "core/plan/plan_passes.h"

#include "core/plan/plan_input.h"
#include "core/plan/problem/plan_rank.h"

#include <string.h>

/* The most entries of all clocks: 16 MiB, ten milliseconds. An input with more passes times queues
 * has no clocks. */
enum { MOST_CLOCK_ENTRIES = 1 << 22 };

/* For each pass, a list of the passes that must come after it: the next pass of its queue, and
 * those that dependencies name. */
struct pass_edges {
    uint32_t* begin; /* list of pass p: after[begin[p]] to after[begin[p + 1] - 1] */
    uint32_t* after;
};

/* Numbers the queues and the passes of each queue. *next receives for each pass the next pass of
 * its queue, or UINT32_MAX. */
static VkResult number_queues(const MaarPlanCreateInfo* info, struct maar_host_stack* stack,
                              struct maar_plan_graph* graph, uint32_t** next)
{
    const uint32_t count = graph->pass_count;
    struct maar_plan_key* keys = maar_stack_grab(stack, count, sizeof *keys);
    struct maar_plan_key* other = maar_stack_grab(stack, count, sizeof *other);
    *next = maar_stack_grab(stack, count, sizeof **next);
    graph->queue = maar_stack_grab(stack, count, sizeof *graph->queue);
    graph->place = maar_stack_grab(stack, count, sizeof *graph->place);
    if (keys == NULL || other == NULL || *next == NULL || graph->queue == NULL ||
        graph->place == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t p = 0; p < count; ++p) {
        keys[p] = (struct maar_plan_key){.first = info->pPassQueues[p], .item = p};
    }
    maar_plan_sort_keys(keys, other, count);
    graph->queue_count = 0;
    for (uint32_t k = 0; k < count; ++k) {
        const uint32_t pass = keys[k].item;
        const bool begins = k == 0 || keys[k].first != keys[k - 1].first;
        const bool ends = k + 1 == count || keys[k].first != keys[k + 1].first;
        graph->queue_count += begins ? 1 : 0;
        graph->queue[pass] = graph->queue_count - 1;
        graph->place[pass] = begins ? 0 : graph->place[keys[k - 1].item] + 1;
        (*next)[pass] = ends ? UINT32_MAX : keys[k + 1].item;
    }
    return VK_SUCCESS;
}

static VkResult collect_pass_edges(const MaarPlanCreateInfo* info, struct maar_host_stack* stack,
                                   const uint32_t* next, uint32_t pass_count,
                                   struct pass_edges* edges)
{
    const size_t room = (size_t)pass_count + info->dependencyCount;
    uint32_t* fill = maar_stack_grab(stack, pass_count, sizeof *fill);
    edges->begin = maar_stack_grab_zeroed(stack, (size_t)pass_count + 1, sizeof *edges->begin);
    edges->after = maar_stack_grab(stack, room, sizeof *edges->after);
    if (fill == NULL || edges->begin == NULL || edges->after == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t p = 0; p < pass_count; ++p) {
        edges->begin[p + 1] = next[p] != UINT32_MAX;
    }
    for (uint32_t i = 0; i < info->dependencyCount; ++i) {
        edges->begin[info->pDependencies[i].before + 1] += 1;
    }
    for (uint32_t p = 0; p < pass_count; ++p) {
        edges->begin[p + 1] += edges->begin[p];
    }
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
static VkResult sort_passes_by_order(const MaarPlanCreateInfo* info, struct maar_host_stack* stack,
                                     const struct pass_edges* edges, uint32_t pass_count,
                                     uint32_t* order)
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

/* Computes the clocks, from the last pass backward. */
static VkResult set_clocks(struct maar_host_stack* stack, const struct pass_edges* edges,
                           const uint32_t* order, struct maar_plan_graph* graph)
{
    const uint32_t queues = graph->queue_count;
    if ((uint64_t)graph->pass_count * queues > MOST_CLOCK_ENTRIES) {
        return VK_SUCCESS;
    }
    graph->clock = maar_stack_grab(stack, graph->pass_count, queues * sizeof *graph->clock);
    if (graph->clock == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t k = graph->pass_count; k-- > 0;) {
        const uint32_t pass = order[k];
        uint32_t* clock = graph->clock + (size_t)pass * queues;
        memset(clock, 0xFF, queues * sizeof *clock);
        for (uint32_t e = edges->begin[pass]; e < edges->begin[pass + 1]; ++e) {
            const uint32_t after = edges->after[e];
            const uint32_t* other = graph->clock + (size_t)after * queues;
            for (uint32_t q = 0; q < queues; ++q) {
                clock[q] = other[q] < clock[q] ? other[q] : clock[q];
            }
            uint32_t* own = &clock[graph->queue[after]];
            *own = graph->place[after] < *own ? graph->place[after] : *own;
        }
    }
    return VK_SUCCESS;
}

/* Finds a longest path, and the position of each pass along it. */
static VkResult find_chain(struct maar_host_stack* stack, const struct pass_edges* edges,
                           const uint32_t* order, uint32_t pass_count,
                           struct maar_plan_chain* chain)
{
    chain->after = maar_stack_grab_zeroed(stack, pass_count, sizeof *chain->after);
    chain->before = maar_stack_grab(stack, pass_count, sizeof *chain->before);
    /* The length of the longest path from each pass on, and the next pass of that path. */
    uint32_t* length = maar_stack_grab_zeroed(stack, pass_count, sizeof *length);
    uint32_t* next = maar_stack_grab(stack, pass_count, sizeof *next);
    if (chain->after == NULL || chain->before == NULL || length == NULL || next == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    uint32_t head = 0;
    for (uint32_t k = pass_count; k-- > 0;) {
        const uint32_t pass = order[k];
        length[pass] = 1;
        next[pass] = UINT32_MAX;
        for (uint32_t e = edges->begin[pass]; e < edges->begin[pass + 1]; ++e) {
            const uint32_t after = edges->after[e];
            if (length[after] >= length[pass]) {
                length[pass] = length[after] + 1;
                next[pass] = after;
            }
        }
        head = length[pass] > length[head] ? pass : head;
    }
    chain->end = 2 * length[head];
    for (uint32_t p = 0; p < pass_count; ++p) {
        chain->before[p] = chain->end;
    }
    uint32_t number = 0;
    for (uint32_t pass = head; pass != UINT32_MAX; pass = next[pass]) {
        chain->after[pass] = 2 * number + 1;
        chain->before[pass] = 2 * number + 1;
        ++number;
    }
    /* What follows pass i of the chain is at 2 i + 2 or later; what precedes it, at 2 i. */
    for (uint32_t k = 0; k < pass_count; ++k) {
        const uint32_t pass = order[k];
        const uint32_t least = chain->after[pass] + chain->after[pass] % 2;
        for (uint32_t e = edges->begin[pass]; e < edges->begin[pass + 1]; ++e) {
            uint32_t* after = &chain->after[edges->after[e]];
            *after = least > *after ? least : *after;
        }
    }
    for (uint32_t k = pass_count; k-- > 0;) {
        const uint32_t pass = order[k];
        for (uint32_t e = edges->begin[pass]; e < edges->begin[pass + 1]; ++e) {
            const uint32_t after = chain->before[edges->after[e]];
            const uint32_t most = after - after % 2;
            chain->before[pass] = most < chain->before[pass] ? most : chain->before[pass];
        }
    }
    return VK_SUCCESS;
}

VkResult maar_plan_order_passes(const MaarPlanCreateInfo* info, struct maar_host_stack* stack,
                                struct maar_plan_graph* graph, struct maar_plan_chain* chain)
{
    struct pass_edges edges = {0};
    uint32_t* next = NULL;
    uint32_t* order = maar_stack_grab(stack, graph->pass_count, sizeof *order);
    graph->position = maar_stack_grab(stack, graph->pass_count, sizeof *graph->position);
    if (order == NULL || graph->position == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    VkResult result = number_queues(info, stack, graph, &next);
    if (result == VK_SUCCESS) {
        result = collect_pass_edges(info, stack, next, graph->pass_count, &edges);
    }
    if (result == VK_SUCCESS) {
        result = sort_passes_by_order(info, stack, &edges, graph->pass_count, order);
    }
    if (result == VK_SUCCESS) {
        result = set_clocks(stack, &edges, order, graph);
    }
    if (result == VK_SUCCESS) {
        result = find_chain(stack, &edges, order, graph->pass_count, chain);
    }
    for (uint32_t k = 0; k < graph->pass_count && result == VK_SUCCESS; ++k) {
        graph->position[order[k]] = k;
    }
    return result;
}
