/*
 * The spans of resources: see plan_spans.h.
 */
#include "core/plan/plan_spans.h"

#include <string.h>

/* Stands for several queues. */
static const uint32_t several_queues = UINT32_MAX;

static bool uses_passes(const struct maar_plan_graph* graph, uint32_t i)
{
    return (graph->info->pResources[i].flags & MAAR_PLAN_RESOURCE_NO_ALIASING_BIT) == 0;
}

/* Adds the spans of one resource. `at` is UINT32_MAX for each queue, and is so again afterwards. */
static void add_spans(struct maar_plan_graph* graph, uint32_t i, uint32_t* at)
{
    const MaarPlanResource* resource = &graph->info->pResources[i];
    struct maar_plan_span* spans = graph->spans + graph->span_begin[i];
    uint32_t count = 0;
    for (uint32_t k = 0; k < resource->useCount && uses_passes(graph, i); ++k) {
        const uint32_t pass = resource->pUses[k];
        const uint32_t queue = graph->queue[pass];
        if (at[queue] == UINT32_MAX) {
            at[queue] = count;
            spans[count++] = (struct maar_plan_span){.queue = queue, .first = pass, .last = pass};
            continue;
        }
        struct maar_plan_span* span = &spans[at[queue]];
        span->first = graph->place[pass] < graph->place[span->first] ? pass : span->first;
        span->last = graph->place[pass] > graph->place[span->last] ? pass : span->last;
    }
    for (uint32_t k = 0; k < count; ++k) {
        at[spans[k].queue] = UINT32_MAX;
    }
    graph->span_begin[i + 1] = graph->span_begin[i] + count;
}

/* Finds the queue of a resource's last uses, or of its first uses; several_queues if there are
 * several. A use is a last one if no other use comes after it. One of them is the use with the
 * highest position, and it is the only one if all others come before it. */
static uint32_t find_outer_queue(const struct maar_plan_graph* graph, uint32_t i, bool last)
{
    const struct maar_plan_span* spans = graph->spans + graph->span_begin[i];
    const size_t count = graph->span_begin[i + 1] - graph->span_begin[i];
    size_t outer = 0;
    for (size_t k = 1; k < count; ++k) {
        const bool farther =
            last ? graph->position[spans[k].last] > graph->position[spans[outer].last]
                 : graph->position[spans[k].first] < graph->position[spans[outer].first];
        outer = farther ? k : outer;
    }
    for (size_t k = 0; k < count; ++k) {
        const bool hidden =
            k == outer ||
            (last ? maar_plan_pass_follows(graph, spans[k].last, spans[outer].last)
                  : maar_plan_pass_follows(graph, spans[outer].first, spans[k].first));
        if (!hidden) {
            return several_queues;
        }
    }
    return count > 0 ? spans[outer].queue : several_queues;
}

VkResult maar_plan_list_spans(struct maar_host_stack* stack, struct maar_plan_graph* graph)
{
    const uint32_t queues = graph->queue_count;
    size_t most = 0;
    for (uint32_t i = 0; i < graph->count; ++i) {
        const uint32_t uses = graph->info->pResources[i].useCount;
        most += uses < queues ? uses : queues;
    }
    uint32_t* at = maar_stack_grab(stack, queues, sizeof *at);
    graph->spans = maar_stack_grab(stack, most, sizeof *graph->spans);
    graph->span_begin = maar_stack_grab(stack, (size_t)graph->count + 1, sizeof(size_t));
    graph->first_queue = maar_stack_grab(stack, graph->count, sizeof *graph->first_queue);
    graph->last_queue = maar_stack_grab(stack, graph->count, sizeof *graph->last_queue);
    if (at == NULL || graph->spans == NULL || graph->span_begin == NULL ||
        graph->first_queue == NULL || graph->last_queue == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    memset(at, 0xFF, queues * sizeof *at);
    graph->span_begin[0] = 0;
    for (uint32_t i = 0; i < graph->count; ++i) {
        add_spans(graph, i, at);
        graph->first_queue[i] = find_outer_queue(graph, i, false);
        graph->last_queue[i] = find_outer_queue(graph, i, true);
    }
    return VK_SUCCESS;
}

void maar_plan_list_begins(const struct maar_plan_graph* graph, uint32_t i, uint32_t* begins)
{
    memset(begins, 0xFF, graph->queue_count * sizeof *begins);
    for (size_t k = graph->span_begin[i]; k < graph->span_begin[i + 1]; ++k) {
        begins[graph->spans[k].queue] = graph->place[graph->spans[k].first];
    }
}

void maar_plan_list_ends(const struct maar_plan_graph* graph, uint32_t i, uint32_t* ends)
{
    memset(ends, 0, graph->queue_count * sizeof *ends);
    for (size_t k = graph->span_begin[i]; k < graph->span_begin[i + 1]; ++k) {
        const uint32_t* clock = graph->clock + (size_t)graph->spans[k].last * graph->queue_count;
        for (uint32_t q = 0; q < graph->queue_count; ++q) {
            ends[q] = clock[q] > ends[q] ? clock[q] : ends[q];
        }
    }
}

bool maar_plan_spans_precede(const struct maar_plan_graph* graph, uint32_t one, uint32_t other)
{
    for (size_t i = graph->span_begin[one]; i < graph->span_begin[one + 1]; ++i) {
        for (size_t k = graph->span_begin[other]; k < graph->span_begin[other + 1]; ++k) {
            if (!maar_plan_pass_follows(graph, graph->spans[i].last, graph->spans[k].first)) {
                return false;
            }
        }
    }
    return true;
}

bool maar_plan_crosses_queues(const struct maar_plan_graph* graph, uint32_t before, uint32_t after)
{
    if (graph->spans == NULL) {
        return false;
    }
    const uint32_t last = graph->last_queue[before];
    return last == several_queues || last != graph->first_queue[after];
}
