/*
 * Which resources may share bytes. With one queue, each resource lives through an interval of
 * passes. With several queues, passes are ordered by their queues and by dependencies. Resource a
 * comes before resource b when every use of a comes before every use of b, which is a strict
 * partial order.
 *
 * The partial order of n resources takes n * n bits and steps. With many resources, or when time is
 * up, intervals along a longest chain of passes (plan_passes.h) take its place. Resources whose
 * intervals are apart are ordered, but not all ordered resources have intervals that are apart.
 */
#include "core/plan/plan_graph.h"

#include "core/plan/plan_input.h"
#include "core/plan/plan_passes.h"
#include "core/plan/plan_spans.h"

/* The most resources whose partial order is computed: 2 MiB, about 50 ms. */
enum { MAX_ORDERED = 4096 };

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

/* Several queues: places each resource along the chain of passes. `inner` are the positions at
 * which it lives in any case: it has a use there or earlier, and one there or later. */
static VkResult place_along_chain(const struct maar_plan_chain* chain,
                                  struct maar_host_stack* stack, struct maar_plan_graph* graph)
{
    graph->first = maar_stack_grab(stack, graph->count, sizeof *graph->first);
    graph->last = maar_stack_grab(stack, graph->count, sizeof *graph->last);
    graph->inner_first = maar_stack_grab(stack, graph->count, sizeof *graph->inner_first);
    graph->inner_last = maar_stack_grab(stack, graph->count, sizeof *graph->inner_last);
    graph->begin_rank = maar_stack_grab(stack, graph->count, sizeof *graph->begin_rank);
    if (graph->first == NULL || graph->last == NULL || graph->inner_first == NULL ||
        graph->inner_last == NULL || graph->begin_rank == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    graph->inner_end = chain->end;
    graph->chain_after = chain->after;
    graph->chain_before = chain->before;
    for (uint32_t i = 0; i < graph->count; ++i) {
        const MaarPlanResource* resource = &graph->info->pResources[i];
        const bool alone = (resource->flags & MAAR_PLAN_RESOURCE_NO_ALIASING_BIT) != 0;
        graph->first[i] = alone ? 0 : chain->end;
        graph->last[i] = alone ? chain->end : 0;
        graph->inner_first[i] = graph->first[i];
        graph->inner_last[i] = graph->last[i];
        graph->begin_rank[i] = alone ? 0 : UINT32_MAX;
        for (uint32_t k = 0; k < resource->useCount && !alone; ++k) {
            const uint32_t pass = resource->pUses[k];
            const uint32_t after = chain->after[pass];
            const uint32_t before = chain->before[pass];
            const uint32_t position = graph->position[pass];
            graph->first[i] = after < graph->first[i] ? after : graph->first[i];
            graph->last[i] = before > graph->last[i] ? before : graph->last[i];
            graph->inner_first[i] = before < graph->inner_first[i] ? before : graph->inner_first[i];
            graph->inner_last[i] = after > graph->inner_last[i] ? after : graph->inner_last[i];
            graph->begin_rank[i] =
                position < graph->begin_rank[i] ? position : graph->begin_rank[i];
        }
    }
    return VK_SUCCESS;
}

/* A place of a queue. */
struct queue_place {
    uint32_t queue;
    uint32_t place;
};

/* Whether a resource with these first uses comes after one with these ends. */
static bool begins_after(const struct queue_place* begins, size_t count, const uint32_t* ends)
{
    for (size_t k = 0; k < count; ++k) {
        if (begins[k].place < ends[begins[k].queue]) {
            return false;
        }
    }
    return true;
}

enum {
    /* The comparisons between two readings of the clock: half a millisecond. */
    ORDER_STEPS_PER_LOOK = 1 << 17,
    /* With fewer comparisons than this, the order is computed in any case. */
    FEW_STEPS = 1 << 22,
    /* With more, the order is left out: a second. */
    MOST_ORDER_STEPS = 1 << 30,
};

/* Fills in the partial order of all resources. Leaves it out when time is up, and where resources
 * use very many queues: the chain then shows which resources may share bytes, though not all of
 * them. */
static VkResult build_order(struct maar_host_stack* stack, struct maar_plan_graph* graph)
{
    const MaarPlanResource* resources = graph->info->pResources;
    const size_t* span_begin = graph->span_begin;
    const size_t span_count = span_begin[graph->count];
    const size_t words = maar_plan_words(graph->count);
    const uint64_t all_steps = (uint64_t)span_count * (graph->count + graph->queue_count);
    if (all_steps > MOST_ORDER_STEPS) {
        return VK_SUCCESS;
    }
    const bool looks = graph->count > MAAR_PLAN_SMALL || all_steps > FEW_STEPS;
    uint64_t* before = maar_stack_grab_zeroed(stack, graph->count, words * sizeof *before);
    struct queue_place* begins = maar_stack_grab(stack, span_count, sizeof *begins);
    uint32_t* ends = maar_stack_grab(stack, graph->queue_count, sizeof *ends);
    if (before == NULL || begins == NULL || ends == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (size_t k = 0; k < span_count; ++k) {
        begins[k] =
            (struct queue_place){graph->spans[k].queue, graph->place[graph->spans[k].first]};
    }
    uint64_t steps = ORDER_STEPS_PER_LOOK; /* since the clock was read */
    for (uint32_t i = 0; i < graph->count; ++i) {
        if (looks && steps >= ORDER_STEPS_PER_LOOK) {
            if (maar_plan_interrupted(graph->budget)) {
                graph->budget->cut_short = true;
                return VK_SUCCESS;
            }
            steps = 0;
        }
        if ((resources[i].flags & MAAR_PLAN_RESOURCE_NO_ALIASING_BIT) != 0) {
            continue;
        }
        steps += span_count + (span_begin[i + 1] - span_begin[i]) * graph->queue_count;
        maar_plan_list_ends(graph, i, ends);
        for (uint32_t k = 0; k < graph->count; ++k) {
            if (k != i && (resources[k].flags & MAAR_PLAN_RESOURCE_NO_ALIASING_BIT) == 0 &&
                begins_after(begins + span_begin[k], span_begin[k + 1] - span_begin[k], ends)) {
                maar_plan_put(before + i * words, k);
            }
        }
    }
    graph->before = before;
    graph->before_words = words;
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
    struct maar_plan_chain chain = {0};
    VkResult result = maar_plan_order_passes(info, stack, graph, &chain);
    if (result == VK_SUCCESS) {
        result = place_along_chain(&chain, stack, graph);
    }
    if (result == VK_SUCCESS) {
        result = maar_plan_list_spans(stack, graph);
    }
    if (result == VK_SUCCESS && graph->clock != NULL && graph->count <= MAX_ORDERED) {
        result = build_order(stack, graph);
    }
    return result;
}

bool maar_plan_resource_precedes(const struct maar_plan_graph* graph, uint32_t one, uint32_t other)
{
    if (graph->before != NULL) {
        return maar_plan_has(graph->before + one * graph->before_words, other);
    }
    const MaarPlanResource* resources = graph->info->pResources;
    const bool apart =
        ((resources[one].flags | resources[other].flags) & MAAR_PLAN_RESOURCE_NO_ALIASING_BIT) != 0;
    if (graph->last[one] < graph->first[other]) {
        return true;
    }
    return graph->spans != NULL && !apart && maar_plan_spans_precede(graph, one, other);
}
