/*
 * Everything that trace.h promises of a trace that was read, found out once more.
 */
#include "tests/fuzz/fuzz_trace_require.h"
#include "tests/fuzz/fuzz_input.h"

#define NONE SUPPORT_TRACE_NONE

static void require_text(const struct support_trace* trace, uint32_t text)
{
    const char* const found = support_trace_text(trace, text);
    fuzz_require(found != NULL);
    fuzz_require(text == 0 || text + strlen(found) < trace->text_size);
}

/* What alloc and reserve rows have in common. */
static void require_facts(const struct support_trace* trace,
                          const struct support_trace_resource* resource)
{
    fuzz_require(resource->size != 0 && resource->kind <= SUPPORT_TRACE_SWAPCHAIN);
    fuzz_require(resource->alignment != 0 &&
                 (resource->alignment & (resource->alignment - 1)) == 0);
    fuzz_require(resource->image == UINT32_MAX || resource->image < trace->image_count);
    fuzz_require(resource->device == NONE || resource->device < trace->device_count);
    fuzz_require(resource->memory == NONE || resource->memory < trace->memory_count);
    require_text(trace, resource->name);
    if (resource->image != UINT32_MAX) {
        const struct support_trace_image* image = &trace->images[resource->image];
        fuzz_require(image->format != 0 && image->dimensions >= 1 && image->dimensions <= 3);
    }
}

static void require_resource(const struct support_trace* trace, size_t index)
{
    const struct support_trace_resource* resource = &trace->resources[index];
    fuzz_require(resource->alloc_event < trace->event_count);
    const struct support_trace_event* made = &trace->events[resource->alloc_event];
    fuzz_require(made->op == SUPPORT_TRACE_ALLOC && made->resource == index);
    fuzz_require(made->time_ns == resource->alloc_time_ns);
    fuzz_require(resource->kind != SUPPORT_TRACE_SWAPCHAIN);
    fuzz_require(index == 0 || resource[-1].alloc_event < resource->alloc_event);
    require_facts(trace, resource);
    if (resource->free_event == UINT32_MAX) {
        fuzz_require(resource->free_time_ns == UINT64_MAX);
        return;
    }
    fuzz_require(resource->free_event < trace->event_count);
    fuzz_require(resource->free_event > resource->alloc_event);
    fuzz_require(trace->events[resource->free_event].op == SUPPORT_TRACE_FREE);
    fuzz_require(trace->events[resource->free_event].resource == index);
    fuzz_require(trace->events[resource->free_event].time_ns == resource->free_time_ns);
}

static void require_devices(const struct support_trace* trace)
{
    for (size_t i = 0; i < trace->device_count; ++i) {
        const struct support_card* card = &trace->devices[i].card;
        fuzz_require(card->device_type <= 4);
        fuzz_require(card->heap_count <= SUPPORT_CARD_MOST_HEAPS);
        fuzz_require(card->type_count <= SUPPORT_CARD_MOST_TYPES);
        for (uint32_t j = 0; j < card->type_count; ++j) {
            fuzz_require(card->types[j].heap < card->heap_count);
        }
        require_text(trace, trace->devices[i].name);
    }
    for (size_t i = 0; i < trace->queue_count; ++i) {
        fuzz_require(trace->queues[i].device < trace->device_count);
    }
    for (size_t i = 0; i < trace->memory_count; ++i) {
        const struct support_trace_memory* memory = &trace->memories[i];
        fuzz_require(memory->device < trace->device_count);
        fuzz_require(memory->type < trace->devices[memory->device].card.type_count);
        fuzz_require(trace->steps[memory->begin_step].index == i);
        fuzz_require(memory->end_step == NONE || memory->end_step > memory->begin_step);
        fuzz_require(memory->priority == NONE || memory->priority <= 1000);
        require_text(trace, memory->name);
    }
    for (size_t i = 0; i < trace->failure_count; ++i) {
        fuzz_require(trace->failures[i].device < trace->device_count);
    }
    for (size_t i = 0; i < trace->budget_count; ++i) {
        const struct support_trace_budget* budget = &trace->budgets[i];
        fuzz_require(budget->device < trace->device_count);
        fuzz_require(budget->heap < trace->devices[budget->device].card.heap_count);
    }
}

static size_t count_of(const struct support_trace* trace, bool is_reserved)
{
    return is_reserved ? trace->reserved_count : trace->resource_count;
}

static void require_uses(const struct support_trace* trace)
{
    for (size_t i = 0; i < trace->bind_count; ++i) {
        const struct support_trace_bind* bind = &trace->binds[i];
        fuzz_require(bind->resource < count_of(trace, bind->is_reserved));
        fuzz_require(bind->memory == NONE || bind->memory < trace->memory_count);
        fuzz_require(bind->submit == NONE || bind->submit < trace->submit_count);
    }
    for (size_t i = 0; i < trace->use_count; ++i) {
        const struct support_trace_use* use = &trace->uses[i];
        fuzz_require(use->submit < trace->submit_count);
        fuzz_require(use->resource < count_of(trace, use->is_reserved));
    }
}

static void require_times(const struct support_trace* trace)
{
    size_t points = 0;
    for (size_t i = 0; i < trace->semaphore_count; ++i) {
        fuzz_require(trace->semaphores[i].device < trace->device_count);
        fuzz_require(trace->steps[trace->semaphores[i].begin_step].index == i);
    }
    for (size_t i = 0; i < trace->submit_count; ++i) {
        const struct support_trace_submit* submit = &trace->submits[i];
        fuzz_require(submit->device < trace->device_count && submit->kind <= 2);
        fuzz_require(submit->queue == NONE || submit->queue < trace->queue_count);
        fuzz_require(trace->steps[submit->step].index == i);
        for (uint32_t at = submit->last_point; at != NONE; at = trace->points[at].next) {
            fuzz_require(at < trace->point_count && trace->points[at].submit == i);
            fuzz_require(trace->points[at].next == NONE || trace->points[at].next < at);
            points += 1;
        }
    }
    fuzz_require(points == trace->point_count);
    for (size_t i = 0; i < trace->point_count; ++i) {
        const uint32_t semaphore = trace->points[i].semaphore;
        fuzz_require(semaphore == NONE || semaphore < trace->semaphore_count);
    }
    for (size_t i = 0; i < trace->reached_count; ++i) {
        const struct support_trace_reached* reached = &trace->reached[i];
        const size_t counts[] = {trace->semaphore_count, UINT32_MAX, trace->queue_count,
                                 trace->device_count};
        fuzz_require(reached->kind <= SUPPORT_TRACE_WAITED_DEVICE);
        fuzz_require(reached->device < trace->device_count);
        fuzz_require(reached->object < counts[reached->kind]);
    }
}

static void require_steps(const struct support_trace* trace)
{
    const size_t counts[SUPPORT_TRACE_OP_COUNT] = {
        [SUPPORT_TRACE_ALLOC] = trace->resource_count,
        [SUPPORT_TRACE_FREE] = trace->resource_count,
        [SUPPORT_TRACE_FRAME] = SIZE_MAX, /* a device or none */
        [SUPPORT_TRACE_RESERVE] = trace->reserved_count,
        [SUPPORT_TRACE_UNRESERVE] = trace->reserved_count,
        [SUPPORT_TRACE_DEVICE] = trace->device_count,
        [SUPPORT_TRACE_HEAP] = trace->device_count,
        [SUPPORT_TRACE_TYPE] = trace->device_count,
        [SUPPORT_TRACE_QUEUE] = trace->queue_count,
        [SUPPORT_TRACE_DEVICE_END] = trace->device_count,
        [SUPPORT_TRACE_MEMORY] = trace->memory_count,
        [SUPPORT_TRACE_MEMORY_FAILED] = trace->failure_count,
        [SUPPORT_TRACE_MEMORY_END] = trace->memory_count,
        [SUPPORT_TRACE_MAP] = trace->memory_count,
        [SUPPORT_TRACE_UNMAP] = trace->memory_count,
        [SUPPORT_TRACE_BIND] = trace->bind_count,
        [SUPPORT_TRACE_PAGES] = trace->bind_count,
        [SUPPORT_TRACE_SEMAPHORE] = trace->semaphore_count,
        [SUPPORT_TRACE_SEMAPHORE_END] = trace->semaphore_count,
        [SUPPORT_TRACE_SUBMIT] = trace->submit_count,
        [SUPPORT_TRACE_WAIT] = trace->point_count,
        [SUPPORT_TRACE_SIGNAL] = trace->point_count,
        [SUPPORT_TRACE_USE] = trace->use_count,
        [SUPPORT_TRACE_REACHED] = trace->reached_count,
        [SUPPORT_TRACE_BUDGET] = trace->budget_count,
        [SUPPORT_TRACE_MARK] = trace->text_size,
    };
    size_t events = 0;
    for (size_t i = 0; i < trace->step_count; ++i) {
        const struct support_trace_step* step = &trace->steps[i];
        fuzz_require(step->op < SUPPORT_TRACE_OP_COUNT && step->index < counts[step->op]);
        fuzz_require(i == 0 || step->time_ns >= step[-1].time_ns);
        if (step->op <= SUPPORT_TRACE_FRAME) {
            fuzz_require(trace->events[events].op == step->op);
            fuzz_require(trace->events[events].time_ns == step->time_ns);
            events += 1;
        }
    }
    fuzz_require(events == trace->event_count);
}

/* The sums over the events. */
static void require_sums(const struct support_trace* trace)
{
    uint64_t live_bytes = 0;
    uint64_t peak_bytes = 0;
    size_t live_count = 0;
    size_t peak_count = 0;
    size_t peak_event = 0;
    size_t frames = 0;
    uint32_t streams = 0;
    for (size_t i = 0; i < trace->event_count; ++i) {
        const struct support_trace_event* event = &trace->events[i];
        streams = event->stream >= streams ? event->stream + 1 : streams;
        fuzz_require(event->op <= SUPPORT_TRACE_FRAME);
        if (event->op == SUPPORT_TRACE_FRAME) {
            fuzz_require(event->resource == UINT32_MAX);
            frames += 1;
            continue;
        }
        fuzz_require(event->resource < trace->resource_count);
        const struct support_trace_resource* resource = &trace->resources[event->resource];
        const uint64_t size = resource->size;
        const bool made = event->op == SUPPORT_TRACE_ALLOC;
        fuzz_require((made ? resource->alloc_event : resource->free_event) == i);
        live_bytes = made ? live_bytes + size : live_bytes - size;
        live_count = made ? live_count + 1 : live_count - 1;
        peak_event = live_bytes > peak_bytes ? i : peak_event;
        peak_bytes = live_bytes > peak_bytes ? live_bytes : peak_bytes;
        peak_count = live_count > peak_count ? live_count : peak_count;
    }
    for (size_t i = 0; i < trace->step_count; ++i) {
        const uint32_t stream = trace->steps[i].stream;
        streams = stream >= streams ? stream + 1 : streams;
    }
    fuzz_require(trace->frame_count == frames && trace->stream_count == streams);
    fuzz_require(trace->peak_live_bytes == peak_bytes && trace->peak_live_count == peak_count);
    fuzz_require(trace->peak_event == peak_event);
}

void fuzz_require_trace(const struct support_trace* trace)
{
    require_sums(trace);
    for (size_t i = 0; i < trace->resource_count; ++i) {
        require_resource(trace, i);
    }
    fuzz_require(trace->version == 1 || trace->version == 2);
    if (trace->version == 1) {
        fuzz_require(trace->step_count == 0 && trace->device_count == 0);
        fuzz_require(trace->reserved_count == 0 && trace->text_size == 0);
        return;
    }
    for (size_t i = 0; i < trace->reserved_count; ++i) {
        require_facts(trace, &trace->reserved[i]);
        fuzz_require(trace->reserved[i].memory == NONE);
    }
    require_devices(trace);
    require_uses(trace);
    require_times(trace);
    require_steps(trace);
}
