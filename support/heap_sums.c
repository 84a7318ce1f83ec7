/*
 * Running sums of a history; see heap_sums.h.
 */
#include "support/heap_sums.h"

#include <stdlib.h>
#include <string.h>

#define NONE SUPPORT_HISTORY_NONE

/* Makes an array at least `count` items long; new ones are zero. */
static bool reach(void* items, size_t* count, size_t* capacity, size_t wanted, size_t size)
{
    void* old;
    memcpy(&old, items, sizeof old);
    if (wanted > *capacity) {
        size_t larger = *capacity < 32 ? 64 : *capacity * 2;
        larger = larger < wanted ? wanted : larger;
        void* const grown = realloc(old, larger * size);
        if (grown == NULL) {
            return false;
        }
        memcpy(items, &grown, sizeof grown);
        memset((char*)grown + *capacity * size, 0, (larger - *capacity) * size);
        *capacity = larger;
    }
    *count = *count < wanted ? wanted : *count;
    return true;
}

#define REACH(array, wanted)                                                                       \
    reach(&(array).items, &(array).count, &(array).capacity, (wanted), sizeof *(array).items)

/* An event in the work. */
struct sums_work {
    struct support_sums* sums;
    const struct support_history* history;
    struct support_device_sums* device;
    uint32_t device_index;
    uint32_t heaps;
};

static bool take_device(struct sums_work* work, uint32_t index)
{
    work->device_index = index;
    if (!REACH(work->sums->devices, (size_t)index + 1)) {
        return false;
    }
    work->device = &work->sums->devices.items[index];
    return true;
}

static uint64_t less(uint64_t value, uint64_t part)
{
    return value > part ? value - part : 0;
}

static bool begin_memory(struct sums_work* work, uint32_t index)
{
    const struct support_history_memory* const memory = &work->history->memories.items[index];
    if (!take_device(work, memory->device) || !REACH(work->sums->memories, (size_t)index + 1)) {
        return false;
    }
    const uint32_t heap = support_history_heap(work->history, index);
    struct support_heap_sum* const sum = &work->device->heaps[heap];
    work->sums->memories.items[index].alive = true;
    work->heaps |= 1u << heap;
    if ((memory->flags & MAAR_CAPTURE_MEMORY_IMPORT_BIT) != 0) {
        sum->imported += memory->size;
        return true;
    }
    work->device->allocation_ns += memory->duration_ns;
    sum->memory_count += 1;
    sum->allocation_count += 1;
    sum->held += memory->size;
    sum->held_peak = sum->held_peak > sum->held ? sum->held_peak : sum->held;
    return true;
}

static bool end_memory(struct sums_work* work, uint32_t index)
{
    const struct support_history_memory* const memory = &work->history->memories.items[index];
    if (!take_device(work, memory->device) || index >= work->sums->memories.count) {
        return index >= work->sums->memories.count;
    }
    const uint32_t heap = support_history_heap(work->history, index);
    struct support_heap_sum* const sum = &work->device->heaps[heap];
    struct support_memory_sum* const own = &work->sums->memories.items[index];
    own->alive = false;
    work->heaps |= 1u << heap;
    if ((memory->flags & MAAR_CAPTURE_MEMORY_IMPORT_BIT) != 0) {
        sum->imported -= memory->size;
        return true;
    }
    sum->held -= memory->size;
    sum->memory_count -= 1;
    for (size_t i = 0; i < SUPPORT_SUMS_KINDS; ++i) {
        sum->bound[i] -= own->bound[i];
        own->bound[i] = 0;
    }
    return true;
}

/* Adds a bind to its memory and heap, or takes it away. */
static void change_bind(struct sums_work* work, uint32_t index, bool is_end)
{
    const struct support_history_bind* const bind = &work->history->binds.items[index];
    if (bind->memory == NONE || bind->memory >= work->sums->memories.count) {
        return;
    }
    const struct support_history_memory* const memory =
        &work->history->memories.items[bind->memory];
    struct support_memory_sum* const own = &work->sums->memories.items[bind->memory];
    if (!own->alive || (memory->flags & MAAR_CAPTURE_MEMORY_IMPORT_BIT) != 0) {
        return;
    }
    const uint8_t kind = work->history->resources.items[bind->resource].kind;
    const uint32_t heap = support_history_heap(work->history, bind->memory);
    struct support_heap_sum* const sum = &work->device->heaps[heap];
    own->bound[kind] = is_end ? own->bound[kind] - bind->size : own->bound[kind] + bind->size;
    sum->bound[kind] = is_end ? sum->bound[kind] - bind->size : sum->bound[kind] + bind->size;
    work->heaps |= 1u << heap;
}

static bool begin_bind(struct sums_work* work, uint32_t index)
{
    const struct support_history_bind* const bind = &work->history->binds.items[index];
    if (!take_device(work, work->history->resources.items[bind->resource].device)) {
        return false;
    }
    change_bind(work, index, false);
    return true;
}

static bool begin_resource(struct sums_work* work, uint32_t index)
{
    const struct support_history_resource* const resource = &work->history->resources.items[index];
    if (!take_device(work, resource->device)) {
        return false;
    }
    work->device->resource_count[resource->kind] += 1;
    work->device->resource_total += 1;
    if (resource->kind == SUPPORT_HISTORY_SWAPCHAIN) {
        work->device->swapchain_bytes += resource->size;
    }
    if (resource->kind == SUPPORT_HISTORY_RANGE && resource->first_bind != NONE) {
        change_bind(work, resource->first_bind, false);
    }
    return true;
}

/* Takes bytes of pages from a sparse resource. */
static void end_pages(struct sums_work* work, uint32_t index, uint64_t bytes)
{
    if (index >= work->sums->sparse.count) {
        return;
    }
    struct support_sparse_sum* const own = &work->sums->sparse.items[index];
    const uint64_t gone = bytes < own->bytes ? bytes : own->bytes;
    const uint8_t kind = work->history->resources.items[index].kind;
    uint64_t* const bound = &work->device->heaps[own->heap].bound[kind];
    own->bytes -= gone;
    *bound = less(*bound, gone);
    work->heaps |= gone > 0 ? 1u << own->heap : 0u;
}

static bool end_resource(struct sums_work* work, uint32_t index)
{
    const struct support_history_resource* const resource = &work->history->resources.items[index];
    if (!take_device(work, resource->device)) {
        return false;
    }
    work->device->resource_count[resource->kind] -= 1;
    if (resource->kind == SUPPORT_HISTORY_SWAPCHAIN) {
        work->device->swapchain_bytes -= resource->size;
    }
    for (uint32_t i = resource->first_bind; i != NONE; i = work->history->binds.items[i].next) {
        change_bind(work, i, true);
    }
    end_pages(work, index, UINT64_MAX);
    return true;
}

static bool bind_pages(struct sums_work* work, uint32_t index)
{
    const struct support_history_sparse* const bind = &work->history->sparse_binds.items[index];
    const uint32_t resource = bind->resource;
    const uint32_t device = work->history->resources.items[resource].device;
    if (!take_device(work, device) || !REACH(work->sums->sparse, (size_t)resource + 1)) {
        return false;
    }
    if (bind->memory == NONE) {
        end_pages(work, resource, bind->facts.size);
        return true;
    }
    struct support_sparse_sum* const own = &work->sums->sparse.items[resource];
    const uint32_t heap = support_history_heap(work->history, bind->memory);
    const uint64_t moved = heap == own->heap ? 0 : own->bytes;
    if (moved > 0) {
        end_pages(work, resource, moved);
    }
    own->heap = heap;
    own->bytes += moved + bind->facts.size;
    work->device->heaps[heap].bound[work->history->resources.items[resource].kind] +=
        moved + bind->facts.size;
    work->heaps |= 1u << heap;
    return true;
}

static bool take_budget(struct sums_work* work, uint32_t index)
{
    const struct support_history_budget* const budget = &work->history->budgets.items[index];
    if (!take_device(work, budget->device)) {
        return false;
    }
    memcpy(work->device->budget, budget->budget, sizeof budget->budget);
    memcpy(work->device->usage, budget->usage, sizeof budget->usage);
    work->device->budget_heap_count = budget->heap_count;
    work->heaps |= (1u << budget->heap_count) - 1;
    return true;
}

static bool take_count(struct sums_work* work, const struct support_history_event* event)
{
    const struct support_history* const history = work->history;
    const uint32_t index = event->index;
    switch (event->kind) {
    case MAAR_CAPTURE_KIND_DEVICE:
        return take_device(work, index);
    case MAAR_CAPTURE_KIND_MEMORY_FAILED:
        if (!take_device(work, history->failures.items[index].device)) {
            return false;
        }
        work->device->failure_count += 1;
        return true;
    case MAAR_CAPTURE_KIND_FRAME:
        if (!take_device(work, index)) {
            return false;
        }
        work->device->frame_count += 1;
        return true;
    case MAAR_CAPTURE_KIND_SUBMIT:
        if (!take_device(work, history->submits.items[index].device)) {
            return false;
        }
        work->device->submit_count += 1;
        return true;
    default:
        return true;
    }
}

static bool apply(struct sums_work* work, const struct support_history_event* event)
{
    if (event->index == NONE) {
        return true;
    }
    switch (event->kind) {
    case MAAR_CAPTURE_KIND_MEMORY:
        return begin_memory(work, event->index);
    case MAAR_CAPTURE_KIND_MEMORY_END:
        return end_memory(work, event->index);
    case MAAR_CAPTURE_KIND_BUFFER:
    case MAAR_CAPTURE_KIND_IMAGE:
    case MAAR_CAPTURE_KIND_RANGE:
    case MAAR_CAPTURE_KIND_SWAPCHAIN:
    case MAAR_CAPTURE_KIND_OTHER:
        return begin_resource(work, event->index);
    case MAAR_CAPTURE_KIND_BUFFER_END:
    case MAAR_CAPTURE_KIND_IMAGE_END:
    case MAAR_CAPTURE_KIND_RANGE_END:
    case MAAR_CAPTURE_KIND_SWAPCHAIN_END:
    case MAAR_CAPTURE_KIND_OTHER_END:
        return end_resource(work, event->index);
    case MAAR_CAPTURE_KIND_BIND:
        return begin_bind(work, event->index);
    case MAAR_CAPTURE_KIND_SPARSE_BIND:
        return bind_pages(work, event->index);
    case MAAR_CAPTURE_KIND_BUDGET:
        return take_budget(work, event->index);
    default:
        return take_count(work, event);
    }
}

bool support_sums_apply(struct support_sums* sums, const struct support_history* history,
                        const struct support_history_event* event, uint32_t* device,
                        uint32_t* heaps)
{
    struct sums_work work = {.sums = sums, .history = history, .device_index = NONE};
    const bool good = apply(&work, event);
    *device = work.device_index;
    *heaps = work.heaps;
    return good;
}

uint64_t support_sums_bound(const struct support_heap_sum* sum)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < SUPPORT_SUMS_KINDS; ++i) {
        bytes += sum->bound[i];
    }
    return bytes;
}

void support_sums_release(struct support_sums* sums)
{
    free(sums->devices.items);
    free(sums->memories.items);
    free(sums->sparse.items);
    memset(sums, 0, sizeof *sums);
}

const char* support_sums_kind(enum support_history_kind kind)
{
    static const char* const words[] = {"buffer", "image", "allocation", "swapchain", "other"};
    return words[kind];
}
