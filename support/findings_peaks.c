/*
 * The peaks of heaps: what of them belongs to resources, and what is idle.
 */
#include "support/findings_internal.h"

#include <stdlib.h>

/* Bytes of a memory that a resource has. */
struct peak_range {
    uint64_t begin, end;
    uint32_t memory;
};

static int compare_ranges(const void* left, const void* right)
{
    const struct peak_range* const a = left;
    const struct peak_range* const b = right;
    if (a->memory != b->memory) {
        return a->memory < b->memory ? -1 : 1;
    }
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* Adds a range if its memory and its resource are alive and lie in the heap. */
static void add_range(const struct support_history* history, const struct support_heap_peak* peak,
                      uint32_t event, uint32_t resource, struct peak_range range,
                      struct peak_range* ranges, size_t* count)
{
    if (range.memory == NONE || resource == NONE) {
        return;
    }
    const struct support_history_memory* const memory = &history->memories.items[range.memory];
    const struct support_history_resource* const owner = &history->resources.items[resource];
    if (memory->device == peak->device &&
        support_history_heap(history, range.memory) == peak->heap && findings_is_own(memory) &&
        support_history_is_alive(memory->begin_event, memory->end_event, event) &&
        support_history_is_alive(owner->begin_event, owner->end_event, event)) {
        range.begin = range.begin < memory->size ? range.begin : memory->size;
        range.end = range.end < memory->size ? range.end : memory->size;
        ranges[(*count)++] = range;
    }
}

/* Counts the bytes that resources have after an event. */
static bool count_bound(const struct support_history* history, uint32_t event,
                        struct support_heap_peak* peak)
{
    const size_t most = history->binds.count + history->sparse_binds.count + 1;
    struct peak_range* const ranges = malloc(most * sizeof *ranges);
    size_t count = 0;
    if (ranges == NULL) {
        return false;
    }
    for (size_t i = 0; i < history->binds.count; ++i) {
        const struct support_history_bind* const bind = &history->binds.items[i];
        if (bind->begin_event <= event) {
            const struct peak_range range = {
                .begin = bind->offset, .end = bind->offset + bind->size, .memory = bind->memory};
            add_range(history, peak, event, bind->resource, range, ranges, &count);
        }
    }
    for (size_t i = 0; i < history->sparse_binds.count; ++i) {
        const struct support_history_sparse* const bind = &history->sparse_binds.items[i];
        if (bind->time_ns <= peak->time_ns) {
            const uint64_t begin = bind->facts.memoryOffset;
            const uint64_t size = bind->facts.size;
            const struct peak_range range = {
                .begin = begin,
                .end = size != 0 && size < UINT64_MAX - begin ? begin + size : UINT64_MAX,
                .memory = bind->memory};
            add_range(history, peak, event, bind->resource, range, ranges, &count);
        }
    }
    qsort(ranges, count, sizeof *ranges, compare_ranges);
    uint64_t reached = 0;
    for (size_t i = 0; i < count; ++i) {
        reached = i > 0 && ranges[i].memory == ranges[i - 1].memory ? reached : 0;
        const uint64_t begin = ranges[i].begin > reached ? ranges[i].begin : reached;
        if (ranges[i].end > begin) {
            peak->bound += ranges[i].end - begin;
            reached = ranges[i].end;
        }
    }
    free(ranges);
    return true;
}

/* Notes the resources that were bound in the second before the peak. */
static void find_recent(const struct support_history* history, uint32_t event,
                        struct support_heap_peak* peak)
{
    const uint64_t second = 1000000000;
    for (uint32_t i = 0; i < history->resources.count; ++i) {
        const struct support_history_resource* const resource = &history->resources.items[i];
        if (resource->device != peak->device || resource->memory == NONE ||
            resource->bind_event == NONE || resource->bind_event > event ||
            support_history_heap(history, resource->memory) != peak->heap ||
            !findings_is_own(&history->memories.items[resource->memory]) ||
            !support_history_is_alive(resource->begin_event, resource->end_event, event) ||
            peak->time_ns - resource->bind_ns >= second) {
            continue;
        }
        size_t at = support_peak_recent_count(peak);
        peak->recent_bytes += resource->size;
        peak->recent_count += 1;
        for (; at > 0 && history->resources.items[peak->recent[at - 1]].size < resource->size;
             --at) {
            if (at < SUPPORT_PEAK_RECENT) {
                peak->recent[at] = peak->recent[at - 1];
            }
        }
        if (at < SUPPORT_PEAK_RECENT) {
            peak->recent[at] = i;
        }
    }
}

static int compare_peaks(const void* left, const void* right)
{
    const struct support_heap_peak* const a = left;
    const struct support_heap_peak* const b = right;
    if (a->held != b->held) {
        return a->held > b->held ? -1 : 1;
    }
    if (a->device != b->device) {
        return a->device < b->device ? -1 : 1;
    }
    return a->heap < b->heap ? -1 : a->heap > b->heap;
}

struct support_heap_peak* support_findings_peaks(const struct support_history* history,
                                                 const struct support_findings* findings,
                                                 size_t* count)
{
    const size_t most = history->devices.count * MAAR_CAPTURE_MOST_HEAPS + 1;
    struct support_heap_peak* const peaks = calloc(most, sizeof *peaks);
    bool good = peaks != NULL;
    *count = 0;
    for (uint32_t device = 0; device < history->devices.count && good; ++device) {
        const uint32_t heaps = history->devices.items[device].facts.heapCount;
        for (uint32_t heap = 0; heap < heaps && good; ++heap) {
            uint32_t event = NONE;
            struct support_heap_peak peak = {
                .device = device, .heap = heap, .maar = SUPPORT_PEAK_UNKNOWN};
            support_history_peak(history, device, heap, &event, &peak.held);
            if (event == NONE || peak.held == 0) {
                continue;
            }
            peak.time_ns = history->events.items[event].time_ns;
            good = count_bound(history, event, &peak);
            find_recent(history, event, &peak);
            if (findings->never_at_peak != NULL) {
                peak.never =
                    findings->never_at_peak[device * (size_t)MAAR_CAPTURE_MOST_HEAPS + heap];
            }
            peaks[(*count)++] = peak;
        }
    }
    if (!good) {
        free(peaks);
        return NULL;
    }
    qsort(peaks, *count, sizeof *peaks, compare_peaks);
    return peaks;
}
