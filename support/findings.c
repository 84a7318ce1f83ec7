/*
 * Finds what a program wastes; see findings.h. The detectors are in findings_memory.c and
 * findings_resources.c.
 */
#include "support/findings.h"
#include "support/findings_internal.h"

#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan_core.h>

static const struct support_finding_text finding_texts[SUPPORT_FINDING_KIND_COUNT] = {
    [SUPPORT_FINDING_WRONG_HEAP] = {"wrong-heap",
                                    "Resources of the device lie in system memory, although the "
                                    "card had room",
                                    "Choose a memory type with DEVICE_LOCAL among those of "
                                    "memoryTypeBits. Reads over the bus are several times slower."},
    [SUPPORT_FINDING_BAR] = {"small-bar",
                             "Memory that nobody maps lies in the small mappable heap of the card",
                             "Choose a DEVICE_LOCAL type without HOST_VISIBLE: the small heap is "
                             "for what the host writes and the device reads."},
    [SUPPORT_FINDING_NEVER_BOUND] = {"never-bound", "Bytes that no resource ever had",
                                     "Make blocks smaller (VulkanMemoryAllocator: "
                                     "preferredLargeHeapBlockSize), or let them grow; free blocks "
                                     "that serve nobody."},
    [SUPPORT_FINDING_NOT_FREED] = {"not-freed", "Alive when the device was destroyed",
                                   "Destroy the objects and free the memory before the device."},
    [SUPPORT_FINDING_GROWTH_BY_COPY] = {"growth-by-copy",
                                        "The old and the new of a growing resource are alive at "
                                        "the same time",
                                        "Reserve the largest size once and let pages come "
                                        "(a growing array), or grow in place."},
    [SUPPORT_FINDING_OWN_MEMORY] = {"own-memory", "Small resources have a memory each",
                                    "Take many resources out of one block: the driver neither "
                                    "requires nor prefers memory of their own here."},
    [SUPPORT_FINDING_OVER_BUDGET] = {"over-budget", "More is used than the system allows",
                                     "Keep below the budget: beyond it, the system moves memory "
                                     "behind the program's back."},
    [SUPPORT_FINDING_REFUSED] = {"refused", "The driver refused allocations",
                                 "Ask for less at once, or free something before."},
    [SUPPORT_FINDING_ALIASING] = {"aliasing", "Render targets whose uses do not meet",
                                  "Let targets that are never in use at the same time share "
                                  "bytes."},
    [SUPPORT_FINDING_LAZY] = {"lazy", "Transient attachments outside lazily allocated memory",
                              "Bind them to a LAZILY_ALLOCATED type: on a tiler they may need no "
                              "memory at all."},
    [SUPPORT_FINDING_TINY] = {"tiny-buffers", "Many tiny buffers",
                              "Take slices out of one large buffer."},
    [SUPPORT_FINDING_LEAK] =
        {"leak", "A group of equal resources that only grows",
         "Look at who makes them, and when they should end. A program that loads "
         "all the time looks the same: capture it longer."},
    [SUPPORT_FINDING_READBACK] = {"readback", "The host reads through uncached memory",
                                  "Choose a type with HOST_CACHED for what the host reads."},
    [SUPPORT_FINDING_CHURN] = {"churn", "Memory is freed, and as much allocated again soon",
                               "Keep the block: a free and an allocation cost the driver's time."},
};

const struct support_finding_text* support_finding_text(enum support_finding_kind kind)
{
    return &finding_texts[kind];
}

const char* support_verdict_word(enum support_verdict verdict)
{
    static const char* const words[] = {"proved", "bounded", "suspected"};
    return words[verdict];
}

void findings_list_add(struct findings_work* work, struct findings_list* list, uint32_t index)
{
    if (list->count == list->capacity) {
        const size_t larger = list->capacity == 0 ? 16 : list->capacity * 2;
        uint32_t* const grown = realloc(list->items, larger * sizeof *grown);
        if (grown == NULL) {
            work->no_memory = true;
            return;
        }
        list->items = grown;
        list->capacity = larger;
    }
    list->items[list->count++] = index;
}

struct support_finding* findings_add(struct findings_work* work, enum support_finding_kind kind,
                                     enum support_verdict verdict, uint32_t device, uint32_t heap,
                                     struct findings_list* objects, bool are_memories)
{
    struct support_findings* const all = work->findings;
    if (all->count == all->capacity) {
        const size_t larger = all->capacity == 0 ? 16 : all->capacity * 2;
        struct support_finding* const grown = realloc(all->items, larger * sizeof *grown);
        if (grown == NULL) {
            work->no_memory = true;
            free(objects->items);
            return NULL;
        }
        all->items = grown;
        all->capacity = larger;
    }
    struct support_finding* const finding = &all->items[all->count++];
    *finding = (struct support_finding){
        .kind = kind,
        .verdict = verdict,
        .device = device,
        .heap = heap,
        .event = heap != NONE ? findings_peak_event(work, device, heap) : NONE,
        .objects = objects->items,
        .object_count = objects->count,
        .objects_are_memories = are_memories,
    };
    return finding;
}

void findings_list_parts(struct findings_work* work, const struct findings_part* parts,
                         size_t count, struct findings_list* list)
{
    for (size_t i = 0; i < count; ++i) {
        findings_list_add(work, list, parts[i].object);
    }
}

const struct support_history_device* findings_device(const struct findings_work* work,
                                                     uint32_t device)
{
    return &work->history->devices.items[device];
}

uint32_t findings_type_flags(const struct findings_work* work, uint32_t device, uint32_t type)
{
    return findings_device(work, device)->types[type].flags;
}

bool findings_is_on_discrete(const struct findings_work* work, uint32_t device)
{
    return findings_device(work, device)->facts.deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
}

bool findings_is_own(const struct support_history_memory* memory)
{
    return (memory->flags & MAAR_CAPTURE_MEMORY_IMPORT_BIT) == 0;
}

void findings_bytes(uint64_t bytes, char text[32])
{
    static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && unit < 4) {
        value /= 1024;
        unit += 1;
    }
    (void)snprintf(text, 32,
                   unit == 0    ? "%.0f %s"
                   : value < 10 ? "%.2f %s"
                                : "%.1f %s",
                   value, units[unit]);
}

/* ---- peaks ---- */

/* What lives in one heap while the events are walked. */
struct heap_walk {
    uint64_t held, bound;
    uint64_t peak_bound; /* at the event that was kept */
};

static size_t heap_slot(const struct support_history* history, uint32_t memory)
{
    return history->memories.items[memory].device * (size_t)MAAR_CAPTURE_MOST_HEAPS +
           support_history_heap(history, memory);
}

/* Adds the bytes of a resource's binds to their heaps, or takes them away. */
static void count_binds(const struct support_history* history, struct heap_walk* heaps,
                        uint32_t resource, bool ends)
{
    uint32_t i = history->resources.items[resource].first_bind;
    for (; i != NONE; i = history->binds.items[i].next) {
        const struct support_history_bind* const bind = &history->binds.items[i];
        if (bind->memory != NONE) {
            struct heap_walk* const heap = &heaps[heap_slot(history, bind->memory)];
            heap->bound = ends ? heap->bound - bind->size : heap->bound + bind->size;
        }
    }
}

/* Applies an event. Returns the slot of the heap that it concerns, or SIZE_MAX. */
static size_t walk_event(const struct support_history* history, struct heap_walk* heaps,
                         const struct support_history_event* event)
{
    switch (event->kind) {
    case MAAR_CAPTURE_KIND_MEMORY:
    case MAAR_CAPTURE_KIND_MEMORY_END: {
        const struct support_history_memory* const memory = &history->memories.items[event->index];
        const size_t slot = heap_slot(history, event->index);
        const bool ends = event->kind == MAAR_CAPTURE_KIND_MEMORY_END;
        if (!findings_is_own(memory)) {
            return SIZE_MAX;
        }
        heaps[slot].held = ends ? heaps[slot].held - memory->size : heaps[slot].held + memory->size;
        return slot;
    }
    case MAAR_CAPTURE_KIND_BIND: {
        const struct support_history_bind* const bind = &history->binds.items[event->index];
        if (bind->memory == NONE) {
            return SIZE_MAX;
        }
        heaps[heap_slot(history, bind->memory)].bound += bind->size;
        return heap_slot(history, bind->memory);
    }
    case MAAR_CAPTURE_KIND_RANGE:
        count_binds(history, heaps, event->index, false);
        return history->resources.items[event->index].memory != NONE
                   ? heap_slot(history, history->resources.items[event->index].memory)
                   : SIZE_MAX;
    case MAAR_CAPTURE_KIND_BUFFER_END:
    case MAAR_CAPTURE_KIND_IMAGE_END:
    case MAAR_CAPTURE_KIND_RANGE_END:
    case MAAR_CAPTURE_KIND_OTHER_END:
        count_binds(history, heaps, event->index, true);
        return SIZE_MAX;
    default:
        return SIZE_MAX;
    }
}

/* Walks the events once, and keeps the most bytes that each heap held and, of the moments with so
 * many, that with the most bytes of resources. */
static void find_peaks(struct findings_work* work)
{
    const struct support_history* const history = work->history;
    struct heap_walk* const heaps =
        calloc(history->devices.count * MAAR_CAPTURE_MOST_HEAPS + 1, sizeof *heaps);
    if (heaps == NULL) {
        work->no_memory = true;
        return;
    }
    for (size_t i = 0; i < history->events.count; ++i) {
        const size_t slot = walk_event(history, heaps, &history->events.items[i]);
        if (slot == SIZE_MAX) {
            continue;
        }
        const bool higher = heaps[slot].held > work->peak_bytes[slot];
        const bool fuller = heaps[slot].held == work->peak_bytes[slot] && heaps[slot].held > 0 &&
                            heaps[slot].bound > heaps[slot].peak_bound;
        if (higher || fuller) {
            work->peak_bytes[slot] = heaps[slot].held;
            work->peak_events[slot] = (uint32_t)i;
            heaps[slot].peak_bound = heaps[slot].bound;
        }
    }
    free(heaps);
}

static bool prepare(struct findings_work* work)
{
    const size_t slots = work->history->devices.count * MAAR_CAPTURE_MOST_HEAPS + 1;
    work->peak_events = malloc(slots * sizeof *work->peak_events);
    work->peak_bytes = calloc(slots, sizeof *work->peak_bytes);
    if (work->peak_events == NULL || work->peak_bytes == NULL) {
        work->no_memory = true;
        return false;
    }
    memset(work->peak_events, 0xFF, slots * sizeof *work->peak_events);
    find_peaks(work);
    return !work->no_memory;
}

uint32_t findings_peak_event(const struct findings_work* work, uint32_t device, uint32_t heap)
{
    return work->peak_events[device * (size_t)MAAR_CAPTURE_MOST_HEAPS + heap];
}

void support_history_peak(const struct support_history* history, uint32_t device, uint32_t heap,
                          uint32_t* event, uint64_t* bytes)
{
    struct findings_work work = {.history = history};
    *event = NONE;
    *bytes = 0;
    if (prepare(&work)) {
        *event = findings_peak_event(&work, device, heap);
        *bytes = work.peak_bytes[device * (size_t)MAAR_CAPTURE_MOST_HEAPS + heap];
    }
    free(work.peak_events);
    free(work.peak_bytes);
}

/* ---- order ---- */

static int compare_findings(const void* left, const void* right)
{
    const struct support_finding* const a = left;
    const struct support_finding* const b = right;
    if (a->verdict != b->verdict) {
        return a->verdict < b->verdict ? -1 : 1;
    }
    if (a->most != b->most) {
        return a->most > b->most ? -1 : 1;
    }
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    if (a->device != b->device) {
        return a->device < b->device ? -1 : 1;
    }
    return a->heap < b->heap ? -1 : a->heap > b->heap;
}

uint64_t findings_object_size(const struct support_history* history,
                              const struct support_finding* finding, uint32_t index)
{
    return finding->objects_are_memories ? history->memories.items[index].size
                                         : history->resources.items[index].size;
}

struct sized_object {
    uint64_t size, wasted;
    uint32_t index;
};

static int compare_sizes(const void* left, const void* right)
{
    const struct sized_object* const a = left;
    const struct sized_object* const b = right;
    if (a->wasted != b->wasted) {
        return a->wasted > b->wasted ? -1 : 1;
    }
    if (a->size != b->size) {
        return a->size > b->size ? -1 : 1;
    }
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Sorts the objects of a finding: those of the most bytes that count first. */
static bool sort_objects(const struct support_history* history, struct support_finding* finding)
{
    struct sized_object* const sized = malloc((finding->object_count + 1) * sizeof *sized);
    if (sized == NULL) {
        return false;
    }
    for (size_t i = 0; i < finding->object_count; ++i) {
        sized[i].index = finding->objects[i];
        sized[i].size = findings_object_size(history, finding, finding->objects[i]);
        sized[i].wasted = finding->wasted != NULL ? finding->wasted[i] : sized[i].size;
    }
    qsort(sized, finding->object_count, sizeof *sized, compare_sizes);
    for (size_t i = 0; i < finding->object_count; ++i) {
        finding->objects[i] = sized[i].index;
        if (finding->wasted != NULL) {
            finding->wasted[i] = sized[i].wasted;
        }
    }
    free(sized);
    return true;
}

bool support_findings_find(const struct support_history* history, struct support_findings* findings,
                           struct support_error* error)
{
    struct findings_work work = {.history = history, .findings = findings};
    memset(findings, 0, sizeof *findings);
    if (prepare(&work)) {
        findings_of_heaps(&work);
        findings_of_blocks(&work);
        findings_of_driver(&work);
        findings_of_resources(&work);
        findings_of_groups(&work);
    }
    for (size_t i = 0; i < findings->count && !work.no_memory; ++i) {
        work.no_memory = !sort_objects(history, &findings->items[i]);
    }
    if (findings->count > 0) {
        qsort(findings->items, findings->count, sizeof *findings->items, compare_findings);
    }
    free(work.peak_events);
    free(work.peak_bytes);
    if (work.no_memory) {
        support_error_set(error, history->name, 0, "out of memory");
        support_findings_release(findings);
    }
    return !work.no_memory;
}

void support_findings_release(struct support_findings* findings)
{
    for (size_t i = 0; i < findings->count; ++i) {
        free(findings->items[i].objects);
        free(findings->items[i].wasted);
    }
    free(findings->items);
    free(findings->never_at_peak);
    memset(findings, 0, sizeof *findings);
}
