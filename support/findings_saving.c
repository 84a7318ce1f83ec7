/*
 * By how much the peak of a heap falls when objects are mended.
 *
 * Bytes that are taken away at the peak do not lower it alone: another moment may hold as much. So
 * the heap is followed over all events, with and without the bytes of all objects. An object is
 * needed for the lower peak if it lives at a moment at which the heap held more than that. With
 * those objects mended, and the others left as they are, the heap holds exactly the lower peak.
 */
#include "support/findings_internal.h"

#include <stdlib.h>
#include <string.h>

/* What the heap holds after each event. */
static void follow_heap(const struct findings_work* work, uint32_t device, uint32_t heap,
                        uint64_t* held)
{
    const struct support_history* const history = work->history;
    uint64_t sum = 0;
    for (size_t i = 0; i < history->events.count; ++i) {
        const struct support_history_event* const event = &history->events.items[i];
        if (event->kind == MAAR_CAPTURE_KIND_MEMORY ||
            event->kind == MAAR_CAPTURE_KIND_MEMORY_END) {
            const struct support_history_memory* const memory =
                &history->memories.items[event->index];
            const bool counts = memory->device == device && findings_is_own(memory) &&
                                support_history_heap(history, event->index) == heap;
            const uint64_t size = counts ? memory->size : 0;
            sum = event->kind == MAAR_CAPTURE_KIND_MEMORY ? sum + size : sum - size;
        }
        held[i] = sum;
    }
}

/* Keeps the parts that live after an event at which the heap held more than the lower peak. */
static size_t keep_needed(const uint64_t* held, uint64_t lower, size_t event_count,
                          uint32_t* above_count, struct findings_part* parts, size_t count)
{
    size_t kept = 0;
    above_count[0] = 0;
    for (size_t i = 0; i < event_count; ++i) {
        above_count[i + 1] = above_count[i] + (held[i] > lower ? 1 : 0);
    }
    for (size_t i = 0; i < count; ++i) {
        const size_t end = parts[i].end_event != NONE ? parts[i].end_event : event_count;
        if (end > parts[i].begin_event && above_count[end] > above_count[parts[i].begin_event]) {
            parts[kept++] = parts[i];
        }
    }
    return kept;
}

uint64_t findings_lower_peak(struct findings_work* work, uint32_t device, uint32_t heap,
                             struct findings_part* parts, size_t* count)
{
    const size_t event_count = work->history->events.count;
    uint64_t* const held = malloc((event_count + 1) * sizeof *held);
    uint64_t* const change = calloc(event_count + 1, sizeof *change); /* modulo 2^64 */
    uint32_t* const above_count = malloc((event_count + 1) * sizeof *above_count);
    uint64_t peak = 0;
    uint64_t lower = 0;
    uint64_t mended = 0;
    if (held == NULL || change == NULL || above_count == NULL) {
        work->no_memory = true;
        *count = 0;
        goto done;
    }
    follow_heap(work, device, heap, held);
    for (size_t i = 0; i < *count; ++i) {
        if (parts[i].end_event == NONE || parts[i].end_event > parts[i].begin_event) {
            change[parts[i].begin_event] += parts[i].bytes;
            change[parts[i].end_event != NONE ? parts[i].end_event : event_count] -= parts[i].bytes;
        }
    }
    for (size_t i = 0; i < event_count; ++i) {
        mended += change[i];
        const uint64_t rest = held[i] > mended ? held[i] - mended : 0;
        peak = held[i] > peak ? held[i] : peak;
        lower = rest > lower ? rest : lower;
    }
    *count = keep_needed(held, lower, event_count, above_count, parts, *count);
done:
    free(held);
    free(change);
    free(above_count);
    return peak - lower;
}

/* ---- room in another heap ---- */

/* The most of held[first, end), by a tree over the events: leaves at [count, 2 * count). */
static uint64_t most_within(const uint64_t* tree, size_t count, size_t first, size_t end)
{
    uint64_t most = 0;
    for (first += count, end += count; first < end; first /= 2, end /= 2) {
        if (first % 2 == 1) {
            most = tree[first] > most ? tree[first] : most;
            first += 1;
        }
        if (end % 2 == 1) {
            end -= 1;
            most = tree[end] > most ? tree[end] : most;
        }
    }
    return most;
}

static int compare_begins(const void* left, const void* right)
{
    const struct findings_part* const a = left;
    const struct findings_part* const b = right;
    if (a->begin_event != b->begin_event) {
        return a->begin_event < b->begin_event ? -1 : 1;
    }
    return a->object < b->object ? -1 : a->object > b->object;
}

/* Whoever of the living began last was let in with room for all that lived with it, as long as it
 * lives. So all that are let in have room at all times. */
size_t findings_keep_fitting(struct findings_work* work, uint32_t device, uint32_t heap,
                             struct findings_part* parts, size_t count, uint64_t* room)
{
    const size_t event_count = work->history->events.count;
    const uint64_t size = findings_device(work, device)->heaps[heap].size;
    uint64_t* const tree = calloc(2 * event_count + 2, sizeof *tree);
    uint64_t* const ending = calloc(event_count + 1, sizeof *ending);
    uint64_t moved = 0;
    size_t at = 0;
    size_t kept = 0;
    if (tree == NULL || ending == NULL) {
        work->no_memory = true;
        goto done;
    }
    follow_heap(work, device, heap, tree + event_count);
    for (size_t i = event_count; i-- > 1;) {
        tree[i] = tree[2 * i] > tree[2 * i + 1] ? tree[2 * i] : tree[2 * i + 1];
    }
    qsort(parts, count, sizeof *parts, compare_begins);
    for (size_t i = 0; i < count; ++i) {
        const size_t end = parts[i].end_event != NONE ? parts[i].end_event : event_count;
        for (; at <= parts[i].begin_event; ++at) {
            moved -= ending[at];
        }
        const uint64_t most = end > parts[i].begin_event
                                  ? most_within(tree, event_count, parts[i].begin_event, end)
                                  : size;
        const uint64_t left = size > most ? size - most : 0;
        if (left >= moved && parts[i].bytes <= left - moved) {
            moved += parts[i].bytes;
            ending[end] += parts[i].bytes;
            *room = left - moved < *room ? left - moved : *room;
            parts[kept++] = parts[i];
        }
    }
done:
    free(tree);
    free(ending);
    return kept;
}
