/*
 * Converts traces to lists of steps; see trace_script.h.
 */
#include "bench/trace_script.h"

#include "bench/bench_common.h"

#include <math.h>
#include <stdlib.h>

/* A step of a copy, before the copies are merged. */
struct timed_step {
    double time;
    uint32_t copy;
    uint32_t order; /* its position in its copy */
};

uint64_t trace_alignment(const struct support_trace_resource* resource)
{
    uint64_t alignment = 1;
    while (alignment < resource->alignment) {
        alignment *= 2;
    }
    return alignment;
}

/* Finds the peaks of a script with complete steps. */
static void find_peaks(const struct support_trace* trace, struct trace_script* script)
{
    uint64_t bytes = 0;
    uint32_t count = 0;
    for (size_t i = 0; i < script->count; ++i) {
        const struct trace_step* const step = &script->steps[i];
        const uint64_t size = trace->resources[step->resource].size;
        bytes = step->is_free ? bytes - size : bytes + size;
        count = step->is_free ? count - 1 : count + 1;
        script->peak_count = count > script->peak_count ? count : script->peak_count;
        if (bytes > script->peak_bytes) {
            script->peak_bytes = bytes;
            script->peak = i;
        }
    }
}

void trace_script_record(const struct support_trace* trace, struct trace_script* script)
{
    *script = (struct trace_script){.copies = 1};
    script->steps = bench_allocate(trace->event_count, sizeof(*script->steps));
    script->slot_count = (uint32_t)trace->resource_count;
    for (size_t i = 0; i < trace->event_count; ++i) {
        const struct support_trace_event* const event = &trace->events[i];
        if (event->op == SUPPORT_TRACE_FRAME) {
            continue;
        }
        script->steps[script->count++] = (struct trace_step){
            .slot = event->resource,
            .resource = event->resource,
            .is_free = event->op == SUPPORT_TRACE_FREE,
        };
    }
    find_peaks(trace, script);
}

/* One copy: the trace's events without frames, followed by the missing frees. */
struct original {
    struct trace_step* steps;
    double* times;
    uint32_t count;
    double length;
    double mean_live; /* over time */
};

static void add_original(struct original* original, uint32_t resource, bool is_free, double time)
{
    original->steps[original->count] =
        (struct trace_step){.resource = resource, .is_free = is_free};
    original->times[original->count++] = time;
}

static void make_original(const struct support_trace* trace, struct original* original)
{
    *original = (struct original){0};
    original->steps = bench_allocate(trace->resource_count * 2, sizeof(*original->steps));
    original->times = bench_allocate(trace->resource_count * 2, sizeof(*original->times));
    double first = INFINITY, last = 0, alive_ns = 0;
    for (size_t i = 0; i < trace->event_count; ++i) {
        const struct support_trace_event* const event = &trace->events[i];
        const double time = (double)event->time_ns;
        if (i != 0 && event->time_ns < trace->events[i - 1].time_ns) {
            bench_die(BENCH_EXIT_USAGE,
                      "%s: row %zu is earlier than the previous row, so the trace cannot be scaled",
                      trace->name, i + 2);
        }
        if (event->op != SUPPORT_TRACE_FRAME) {
            first = time < first ? time : first;
            last = time;
            add_original(original, event->resource, event->op == SUPPORT_TRACE_FREE, time);
        }
    }
    for (uint32_t i = 0; i < trace->resource_count; ++i) {
        const struct support_trace_resource* const resource = &trace->resources[i];
        const bool leaks = resource->free_time_ns == UINT64_MAX;
        if (leaks) {
            add_original(original, i, true, last);
        }
        alive_ns +=
            (leaks ? last : (double)resource->free_time_ns) - (double)resource->alloc_time_ns;
    }
    original->length = last - first;
    original->mean_live = original->length > 0 ? alive_ns / original->length : 0;
}

static int compare_timed(const void* a, const void* b)
{
    const struct timed_step* const x = a;
    const struct timed_step* const y = b;
    if (x->time != y->time) {
        return x->time > y->time ? 1 : -1;
    }
    if (x->copy != y->copy) {
        return x->copy > y->copy ? 1 : -1;
    }
    return (x->order > y->order) - (x->order < y->order);
}

/* Merges the copies, and omits all steps after the beginning of the last copy. */
static void merge(const struct support_trace* trace, const struct original* original,
                  uint32_t copies, double shift, struct trace_script* script)
{
    struct timed_step* const all = bench_allocate((size_t)copies * original->count, sizeof(*all));
    size_t count = 0;
    for (uint32_t copy = 0; copy < copies; ++copy) {
        for (uint32_t order = 0; order < original->count; ++order) {
            all[count++] = (struct timed_step){
                .time = original->times[order] + copy * shift, .copy = copy, .order = order};
        }
    }
    qsort(all, count, sizeof(*all), compare_timed);
    script->steps = bench_allocate(count, sizeof(*script->steps));
    const double begin = original->times[0];
    for (size_t i = 0; i < count; ++i) {
        if (all[i].time - begin >= copies * shift) {
            break;
        }
        script->steady = all[i].time - begin < original->length ? i + 1 : script->steady;
        struct trace_step* const step = &script->steps[script->count++];
        *step = original->steps[all[i].order];
        step->slot = all[i].copy * (uint32_t)trace->resource_count + step->resource;
    }
    free(all);
}

void trace_script_scale(const struct support_trace* trace, uint32_t live_count, size_t step_count,
                        struct trace_script* script)
{
    struct original original;
    make_original(trace, &original);
    if (original.mean_live <= 0) {
        bench_die(BENCH_EXIT_USAGE,
                  "%s: no resource of the trace lives for any time, so the trace cannot be scaled",
                  trace->name);
    }
    const double overlapping = ceil(live_count / original.mean_live);
    const double further = ceil((double)step_count / original.count);
    const double slots = (overlapping + further) * (double)trace->resource_count;
    if (slots > 200e6) {
        bench_die(BENCH_EXIT_USAGE, "%s: the trace is too large to scale to %u live", trace->name,
                  live_count);
    }
    *script = (struct trace_script){.copies = (uint32_t)(overlapping + further)};
    script->slot_count = (uint32_t)slots;
    merge(trace, &original, script->copies, original.length / overlapping, script);
    find_peaks(trace, script);
    free(original.steps);
    free(original.times);
}

void trace_script_release(struct trace_script* script)
{
    free(script->steps);
    *script = (struct trace_script){0};
}
