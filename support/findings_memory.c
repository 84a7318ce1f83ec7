/*
 * Findings about memory: in the wrong heap, never bound, not freed, one for each resource, refused.
 */
#include "support/findings_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan_core.h>

/* Khronos's best-practice check warns of memory of its own below 1 MiB; fewer are no pattern. */
#define SMALL_MEMORY ((uint64_t)1 << 20)
enum { LEAST_OWN_MEMORIES = 16 };
/* Memory that comes again within this time might have been kept; fewer pairs are no pattern. */
#define CHURN_NS ((uint64_t)5000000000)
enum { LEAST_CHURN = 32 };
/* Bytes below this are not worth a person's time. */
#define LEAST_BYTES ((uint64_t)1 << 16)

static bool alive_at(const struct support_history_memory* memory, uint32_t event)
{
    return event != NONE && support_history_is_alive(memory->begin_event, memory->end_event, event);
}

/* Bytes of a memory, as long as it lives. */
static struct findings_part part_of(const struct support_history_memory* memory, uint32_t index,
                                    uint64_t bytes)
{
    return (struct findings_part){.bytes = bytes,
                                  .object = index,
                                  .begin_event = memory->begin_event,
                                  .end_event = memory->end_event};
}

/* ---- what was bound in each memory ---- */

struct bound_range {
    uint64_t begin, end;
    uint64_t alignment; /* of the resource */
    uint32_t memory, resource;
};

static int compare_ranges(const void* left, const void* right)
{
    const struct bound_range* const a = left;
    const struct bound_range* const b = right;
    if (a->memory != b->memory) {
        return a->memory < b->memory ? -1 : 1;
    }
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static uint64_t alignment_of(const struct support_history* history, uint32_t resource)
{
    const uint64_t alignment = resource != NONE ? history->resources.items[resource].alignment : 0;
    return alignment > 0 ? alignment : 1;
}

/* Returns all ranges that ever were bound, by memory and offset; NULL without memory. */
static struct bound_range* list_bound_ranges(struct findings_work* work, size_t* count)
{
    const struct support_history* const history = work->history;
    const size_t most = history->binds.count + history->sparse_binds.count;
    struct bound_range* const ranges = malloc((most + 1) * sizeof *ranges);
    *count = 0;
    if (ranges == NULL) {
        work->no_memory = true;
        return NULL;
    }
    for (size_t i = 0; i < history->binds.count; ++i) {
        const struct support_history_bind* const bind = &history->binds.items[i];
        if (bind->memory != NONE) {
            ranges[(*count)++] =
                (struct bound_range){.begin = bind->offset,
                                     .end = bind->offset + bind->size,
                                     .alignment = alignment_of(history, bind->resource),
                                     .memory = bind->memory,
                                     .resource = bind->resource};
        }
    }
    for (size_t i = 0; i < history->sparse_binds.count; ++i) {
        const struct support_history_sparse* const bind = &history->sparse_binds.items[i];
        if (bind->memory != NONE) {
            const uint64_t size = history->memories.items[bind->memory].size;
            const uint64_t begin = bind->facts.memoryOffset;
            /* Texels whose page size is unknown: all that follows counts as bound. */
            const uint64_t length = bind->facts.size != 0 ? bind->facts.size : size;
            ranges[(*count)++] = (struct bound_range){
                .begin = begin < size ? begin : size,
                .end = begin < size && length < size - begin ? begin + length : size,
                .alignment = alignment_of(history, bind->resource),
                .memory = bind->memory,
                .resource = bind->resource,
            };
        }
    }
    qsort(ranges, *count, sizeof *ranges, compare_ranges);
    return ranges;
}

/* ---- wrong heap, small BAR ---- */

/* A heap in which the resource might lie, on the device, or NONE. */
static uint32_t find_device_heap(const struct findings_work* work,
                                 const struct support_history_resource* resource)
{
    const struct support_history_device* const device = findings_device(work, resource->device);
    for (uint32_t i = 0; i < device->facts.typeCount; ++i) {
        if ((resource->type_bits >> i & 1) != 0 &&
            (device->types[i].flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0 &&
            (device->heaps[device->types[i].heap].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) {
            return device->types[i].heap;
        }
    }
    return NONE;
}

/* Whether the host has no business with the memory of a resource. */
static bool is_for_device_alone(const struct support_history_resource* resource,
                                const struct support_history_memory* memory)
{
    return memory->map_count == 0 ||
           (resource->kind == SUPPORT_HISTORY_IMAGE && resource->tiling_is_linear == 0);
}

/* Lists the resources of a heap that might lie in the card's heap `target`. */
static size_t list_movable(const struct findings_work* work, uint32_t device, uint32_t heap,
                           uint32_t target, struct findings_part* parts)
{
    const struct support_history* const history = work->history;
    size_t count = 0;
    for (uint32_t i = 0; i < history->resources.count; ++i) {
        const struct support_history_resource* const resource = &history->resources.items[i];
        if (resource->device != device || resource->memory == NONE ||
            resource->bind_event == NONE ||
            support_history_heap(history, resource->memory) != heap) {
            continue;
        }
        const struct support_history_memory* const memory =
            &history->memories.items[resource->memory];
        if (is_for_device_alone(resource, memory) && findings_is_own(memory) &&
            find_device_heap(work, resource) == target) {
            parts[count++] = (struct findings_part){
                .bytes = resource->size,
                .object = i,
                .begin_event = resource->bind_event,
                .end_event = resource->end_event < memory->end_event ? resource->end_event
                                                                     : memory->end_event,
            };
        }
    }
    return count;
}

static uint64_t sum_parts(const struct findings_part* parts, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; ++i) {
        sum += parts[i].bytes;
    }
    return sum;
}

/* Bytes of a memory that only movable resources ever have; others keep their bytes. */
static uint64_t count_movable(const struct bound_range* ranges, size_t count, const bool* moves)
{
    uint64_t all = 0;
    uint64_t kept = 0;
    uint64_t all_end = 0;
    uint64_t kept_end = 0;
    for (size_t i = 0; i < count; ++i) {
        const struct bound_range* const range = &ranges[i];
        all += range->end > all_end ? range->end - (range->begin > all_end ? range->begin : all_end)
                                    : 0;
        all_end = range->end > all_end ? range->end : all_end;
        if (range->resource == NONE || !moves[range->resource]) {
            kept += range->end > kept_end
                        ? range->end - (range->begin > kept_end ? range->begin : kept_end)
                        : 0;
            kept_end = range->end > kept_end ? range->end : kept_end;
        }
    }
    return all - kept;
}

/* Notes which resources of a heap fit into heaps of the card. Returns the last such heap or NONE,
 * and in *room what stays free there at the fullest moment. */
static uint32_t choose_movable(struct findings_work* work, uint32_t device, uint32_t heap,
                               bool* moves, uint64_t* room)
{
    uint32_t target = NONE;
    struct findings_part* const parts =
        malloc((work->history->resources.count + 1) * sizeof *parts);
    if (parts == NULL) {
        work->no_memory = true;
        return NONE;
    }
    for (uint32_t i = 0; i < findings_device(work, device)->facts.heapCount; ++i) {
        const size_t count = list_movable(work, device, heap, i, parts);
        const size_t kept =
            count > 0 ? findings_keep_fitting(work, device, i, parts, count, room) : 0;
        for (size_t k = 0; k < kept; ++k) {
            moves[parts[k].object] = true;
        }
        target = kept > 0 ? i : target;
    }
    free(parts);
    return target;
}

/* Whether parts, which are in the order of their objects, have one of a memory. */
static bool has_part(const struct findings_part* parts, size_t count, uint32_t memory)
{
    size_t first = 0;
    while (count > 0) {
        const size_t half = count / 2;
        if (parts[first + half].object < memory) {
            first += half + 1;
            count -= half + 1;
        } else if (parts[first + half].object == memory) {
            return true;
        } else {
            count = half;
        }
    }
    return false;
}

/* Lists the movable resources without which the peak of their heap is lower, and returns by how
 * much. */
static uint64_t list_wrong(struct findings_work* work, uint32_t device, uint32_t heap,
                           const bool* moves, struct findings_list* list)
{
    const struct support_history* const history = work->history;
    size_t range_count = 0;
    size_t count = 0;
    size_t at = 0;
    uint64_t saved = 0;
    struct bound_range* const ranges = list_bound_ranges(work, &range_count);
    struct findings_part* const parts = malloc((history->memories.count + 1) * sizeof *parts);
    if (ranges == NULL || parts == NULL) {
        work->no_memory = true;
        goto done;
    }
    for (uint32_t i = 0; i < history->memories.count; ++i) {
        const size_t first = at;
        while (at < range_count && ranges[at].memory == i) {
            at += 1;
        }
        const uint64_t bytes = count_movable(ranges + first, at - first, moves);
        if (bytes > 0) { /* movable ones lie in this heap alone */
            parts[count++] = part_of(&history->memories.items[i], i, bytes);
        }
    }
    saved = findings_lower_peak(work, device, heap, parts, &count);
    for (uint32_t i = 0; saved > 0 && i < history->resources.count; ++i) {
        if (moves[i] && has_part(parts, count, history->resources.items[i].memory)) {
            findings_list_add(work, list, i);
        }
    }
done:
    free(ranges);
    free(parts);
    return saved;
}

/* Resources in system memory that fit into a heap of the card, all at once and at all times. */
static void find_wrong_heap(struct findings_work* work, uint32_t device, uint32_t heap)
{
    const struct support_history* const history = work->history;
    const struct support_history_device* const facts = findings_device(work, device);
    struct findings_list list = {0};
    uint64_t room = UINT64_MAX;
    uint64_t saved = 0;
    uint64_t sum = 0;
    if ((facts->heaps[heap].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0 ||
        findings_peak_event(work, device, heap) == NONE || !findings_is_on_discrete(work, device)) {
        return;
    }
    bool* const moves = calloc(history->resources.count + 1, sizeof *moves);
    if (moves == NULL) {
        work->no_memory = true;
        return;
    }
    const uint32_t target = choose_movable(work, device, heap, moves, &room);
    if (target != NONE) {
        saved = list_wrong(work, device, heap, moves, &list);
    }
    free(moves);
    for (size_t i = 0; i < list.count; ++i) {
        sum += history->resources.items[list.items[i]].size;
    }
    if (saved == 0) {
        free(list.items);
        return;
    }
    struct support_finding* const finding = findings_add(
        work, SUPPORT_FINDING_WRONG_HEAP, SUPPORT_VERDICT_PROVED, device, heap, &list, false);
    if (finding != NULL) {
        char bytes[32];
        char left[32];
        findings_bytes(sum, bytes);
        findings_bytes(room, left);
        finding->least = finding->most = saved;
        (void)snprintf(finding->arithmetic, sizeof finding->arithmetic,
                       "%zu resources of %s in all, which the host never maps, lie in heap %u; "
                       "memoryTypeBits of each allows the card's heap %u, where at least another "
                       "%s were free at all times",
                       finding->object_count, bytes, heap, target, left);
    }
}

/* Whether a device-local heap is smaller than another, and every type in it can be mapped. */
static bool is_small_bar(const struct support_history_device* device, uint32_t heap)
{
    bool smaller = false;
    if ((device->heaps[heap].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) == 0) {
        return false;
    }
    for (uint32_t i = 0; i < device->facts.heapCount; ++i) {
        smaller |= (device->heaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0 &&
                   device->heaps[i].size > device->heaps[heap].size;
    }
    for (uint32_t i = 0; i < device->facts.typeCount; ++i) {
        if (device->types[i].heap == heap &&
            (device->types[i].flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) == 0) {
            return false;
        }
    }
    return smaller;
}

static void find_unmapped_bar(struct findings_work* work, uint32_t device, uint32_t heap)
{
    const struct support_history* const history = work->history;
    struct findings_list list = {0};
    size_t count = 0;
    if (!is_small_bar(findings_device(work, device), heap)) {
        return;
    }
    struct findings_part* const parts = malloc((history->memories.count + 1) * sizeof *parts);
    if (parts == NULL) {
        work->no_memory = true;
        return;
    }
    for (uint32_t i = 0; i < history->memories.count; ++i) {
        const struct support_history_memory* const memory = &history->memories.items[i];
        if (memory->device == device && support_history_heap(history, i) == heap &&
            memory->map_count == 0 && findings_is_own(memory)) {
            parts[count++] = part_of(memory, i, memory->size);
        }
    }
    const uint64_t saved = findings_lower_peak(work, device, heap, parts, &count);
    const uint64_t sum = sum_parts(parts, count);
    if (saved > 0) {
        findings_list_parts(work, parts, count, &list);
    }
    free(parts);
    if (saved == 0) {
        return;
    }
    struct support_finding* const finding =
        findings_add(work, SUPPORT_FINDING_BAR, SUPPORT_VERDICT_PROVED, device, heap, &list, true);
    if (finding != NULL) {
        char bytes[32];
        char size[32];
        findings_bytes(sum, bytes);
        findings_bytes(findings_device(work, device)->heaps[heap].size, size);
        finding->least = finding->most = saved;
        (void)snprintf(finding->arithmetic, sizeof finding->arithmetic,
                       "%zu memories of %s in all, in heap %u of %s, were never mapped",
                       finding->object_count, bytes, heap, size);
    }
}

void findings_of_heaps(struct findings_work* work)
{
    for (uint32_t device = 0; device < work->history->devices.count; ++device) {
        const uint32_t count = findings_device(work, device)->facts.heapCount;
        for (uint32_t heap = 0; heap < count; ++heap) {
            find_wrong_heap(work, device, heap);
            find_unmapped_bar(work, device, heap);
        }
    }
}

/* ---- never bound ---- */

/* Bytes by which a memory can be smaller, for the same resources in the same order. A hole shrinks
 * by multiples of the largest alignment, so that all resources behind it stay aligned; what is left
 * of it is padding. */
static uint64_t count_never_bound(uint64_t size, const struct bound_range* ranges, size_t count,
                                  uint64_t granularity)
{
    uint64_t never = 0;
    uint64_t reached = 0;
    uint64_t largest = granularity > 0 ? granularity : 1;
    for (size_t i = 0; i < count; ++i) {
        largest = ranges[i].alignment > largest ? ranges[i].alignment : largest;
    }
    for (size_t i = 0; i < count; ++i) {
        const uint64_t hole = ranges[i].begin > reached ? ranges[i].begin - reached : 0;
        never += hole - hole % largest;
        reached = ranges[i].end > reached ? ranges[i].end : reached;
    }
    return never + (size > reached ? size - reached : 0);
}

/* Writes how the bytes of a finding follow from those of its memories. */
static void explain_never_bound(struct support_finding* finding, uint64_t sum, uint64_t peak,
                                uint64_t at_peak)
{
    char bytes[32];
    char before[32];
    char after[32];
    findings_bytes(sum, bytes);
    findings_bytes(peak, before);
    findings_bytes(peak - finding->most, after);
    (void)snprintf(finding->arithmetic, sizeof finding->arithmetic,
                   "%s in %zu memor%s belonged to no resource at any time, besides what alignment "
                   "needs; without them heap %u would hold %s at its peak instead of %s%s",
                   bytes, finding->object_count, finding->object_count == 1 ? "y" : "ies",
                   finding->heap, after, before,
                   at_peak < sum ? ". The memories do not all live at the same time: it takes all "
                                   "of them, or another moment stays the peak"
                                 : "");
}

/* Adds the finding of one heap; never[] has the bytes of each memory. */
static void report_never_bound(struct findings_work* work, uint32_t device, uint32_t heap,
                               const uint64_t* never, struct findings_part* parts)
{
    const struct support_history* const history = work->history;
    const uint32_t event = findings_peak_event(work, device, heap);
    const size_t slot = device * (size_t)MAAR_CAPTURE_MOST_HEAPS + heap;
    uint64_t* const at_peak = &work->findings->never_at_peak[slot];
    struct findings_list list = {0};
    size_t count = 0;
    for (uint32_t i = 0; i < history->memories.count; ++i) {
        const struct support_history_memory* const memory = &history->memories.items[i];
        if (memory->device == device && support_history_heap(history, i) == heap &&
            findings_is_own(memory) && never[i] > 0) {
            parts[count++] = part_of(memory, i, never[i]);
            *at_peak += alive_at(memory, event) ? never[i] : 0;
        }
    }
    const uint64_t saved = count > 0 ? findings_lower_peak(work, device, heap, parts, &count) : 0;
    if (saved < LEAST_BYTES) {
        return;
    }
    findings_list_parts(work, parts, count, &list);
    struct support_finding* const finding = findings_add(
        work, SUPPORT_FINDING_NEVER_BOUND, SUPPORT_VERDICT_PROVED, device, heap, &list, true);
    if (finding != NULL) {
        finding->least = finding->most = saved;
        finding->wasted = malloc((finding->object_count + 1) * sizeof *finding->wasted);
        if (finding->wasted == NULL) {
            work->no_memory = true;
            return;
        }
        for (size_t i = 0; i < finding->object_count; ++i) {
            finding->wasted[i] = never[finding->objects[i]];
        }
        explain_never_bound(finding, sum_parts(parts, count), work->peak_bytes[slot], *at_peak);
    }
}

static void find_never_bound(struct findings_work* work)
{
    const struct support_history* const history = work->history;
    size_t count = 0;
    struct bound_range* const ranges = list_bound_ranges(work, &count);
    uint64_t* const never = calloc(history->memories.count + 1, sizeof *never);
    struct findings_part* const parts = malloc((history->memories.count + 1) * sizeof *parts);
    work->findings->never_at_peak = calloc(history->devices.count * MAAR_CAPTURE_MOST_HEAPS + 1,
                                           sizeof *work->findings->never_at_peak);
    if (ranges == NULL || never == NULL || parts == NULL || work->findings->never_at_peak == NULL) {
        work->no_memory = true;
        goto done;
    }
    size_t at = 0;
    for (uint32_t i = 0; i < history->memories.count; ++i) {
        const size_t first = at;
        while (at < count && ranges[at].memory == i) {
            at += 1;
        }
        const struct support_history_memory* const memory = &history->memories.items[i];
        never[i] =
            count_never_bound(memory->size, ranges + first, at - first,
                              findings_device(work, memory->device)->facts.bufferImageGranularity);
    }
    for (uint32_t device = 0; device < history->devices.count; ++device) {
        for (uint32_t heap = 0; heap < findings_device(work, device)->facts.heapCount; ++heap) {
            report_never_bound(work, device, heap, never, parts);
        }
    }
done:
    free(parts);
    free(never);
    free(ranges);
}

/* ---- not freed ---- */

static void find_not_freed(struct findings_work* work, uint32_t device)
{
    const struct support_history* const history = work->history;
    struct findings_list list = {0};
    uint64_t sum = 0;
    if (findings_device(work, device)->end_event == NONE) {
        return;
    }
    for (uint32_t i = 0; i < history->memories.count; ++i) {
        const struct support_history_memory* const memory = &history->memories.items[i];
        if (memory->device == device && memory->end_event == NONE) {
            sum += memory->size;
            findings_list_add(work, &list, i);
        }
    }
    if (list.count == 0) {
        return;
    }
    struct support_finding* const finding = findings_add(
        work, SUPPORT_FINDING_NOT_FREED, SUPPORT_VERDICT_PROVED, device, NONE, &list, true);
    if (finding != NULL) {
        char bytes[32];
        findings_bytes(sum, bytes);
        finding->least = finding->most = sum;
        finding->event = findings_device(work, device)->end_event;
        (void)snprintf(finding->arithmetic, sizeof finding->arithmetic,
                       "%zu memories of %s were not freed before vkDestroyDevice",
                       finding->object_count, bytes);
    }
}

/* ---- memory for each resource, and churn ---- */

/* Whether a memory serves one small resource, for which the driver wants none of its own. */
static bool is_needless(const struct findings_work* work,
                        const struct support_history_memory* memory,
                        const struct support_history_resource* resource)
{
    const uint32_t wants =
        MAAR_CAPTURE_NEEDS_PREFERS_DEDICATED_BIT | MAAR_CAPTURE_NEEDS_REQUIRES_DEDICATED_BIT;
    (void)work;
    return memory->bind_count == 1 && memory->size < SMALL_MEMORY && findings_is_own(memory) &&
           (memory->flags & MAAR_CAPTURE_MEMORY_EXPORT_BIT) == 0 &&
           (resource->needs_flags & wants) == 0 && resource->handle_types == 0;
}

static void find_own_memory(struct findings_work* work, uint32_t device)
{
    const struct support_history* const history = work->history;
    struct findings_list list = {0};
    uint64_t time_ns = 0;
    uint64_t blocks = 0; /* that a mended program has: one of each type */
    uint32_t types = 0;
    for (uint32_t i = 0; i < history->resources.count; ++i) {
        const struct support_history_resource* const resource = &history->resources.items[i];
        if (resource->device != device || resource->memory == NONE) {
            continue;
        }
        const struct support_history_memory* const memory =
            &history->memories.items[resource->memory];
        if (is_needless(work, memory, resource)) {
            blocks += (types >> memory->type & 1) == 0 ? 1 : 0;
            types |= 1u << memory->type;
            time_ns += memory->duration_ns;
            findings_list_add(work, &list, resource->memory);
        }
    }
    if (list.count < LEAST_OWN_MEMORIES) {
        free(list.items);
        return;
    }
    struct support_finding* const finding = findings_add(
        work, SUPPORT_FINDING_OWN_MEMORY, SUPPORT_VERDICT_PROVED, device, NONE, &list, true);
    if (finding != NULL) {
        finding->calls = finding->object_count - blocks;
        finding->time_ns = time_ns;
        (void)snprintf(finding->arithmetic, sizeof finding->arithmetic,
                       "%zu of %zu calls of vkAllocateMemory gave less than 1 MiB to a single "
                       "resource for which the driver wants no memory of its own, and took %.3f "
                       "ms; %" PRIu64 " would do, one for each type",
                       finding->object_count, history->memories.count, (double)time_ns * 1e-6,
                       blocks);
    }
}

/* Memory that is allocated soon after as much of the same type was freed. */
static void find_churn(struct findings_work* work, uint32_t device)
{
    const struct support_history* const history = work->history;
    struct findings_list list = {0};
    uint64_t time_ns = 0;
    uint32_t freed[SUPPORT_HISTORY_MOST_TYPES];
    memset(freed, 0xFF, sizeof freed);
    for (size_t i = 0; i < history->events.count; ++i) {
        const struct support_history_event* const event = &history->events.items[i];
        if (event->kind != MAAR_CAPTURE_KIND_MEMORY &&
            event->kind != MAAR_CAPTURE_KIND_MEMORY_END) {
            continue;
        }
        const struct support_history_memory* const memory = &history->memories.items[event->index];
        if (memory->device != device || !findings_is_own(memory)) {
            continue;
        }
        uint32_t* const last = &freed[memory->type];
        if (event->kind == MAAR_CAPTURE_KIND_MEMORY_END) {
            *last = event->index;
        } else if (*last != NONE) {
            const struct support_history_memory* const old = &history->memories.items[*last];
            if (old->size >= memory->size && old->size / 2 <= memory->size &&
                event->time_ns - old->end_ns < CHURN_NS) {
                time_ns += memory->duration_ns;
                findings_list_add(work, &list, event->index);
            }
            *last = NONE;
        }
    }
    if (list.count < LEAST_CHURN) {
        free(list.items);
        return;
    }
    struct support_finding* const finding = findings_add(
        work, SUPPORT_FINDING_CHURN, SUPPORT_VERDICT_SUSPECTED, device, NONE, &list, true);
    if (finding != NULL) {
        finding->calls = finding->object_count;
        finding->time_ns = time_ns;
        (void)snprintf(finding->arithmetic, sizeof finding->arithmetic,
                       "%zu times memory was allocated less than 5 s after memory of that type "
                       "and up to twice its size was freed; the allocations took %.3f ms",
                       finding->object_count, (double)time_ns * 1e-6);
    }
}

void findings_of_blocks(struct findings_work* work)
{
    find_never_bound(work);
    for (uint32_t device = 0; device < work->history->devices.count; ++device) {
        find_not_freed(work, device);
        find_own_memory(work, device);
        find_churn(work, device);
    }
}

/* ---- what the driver said ---- */

static void find_over_budget(struct findings_work* work, uint32_t device, uint32_t heap)
{
    const struct support_history* const history = work->history;
    struct findings_list list = {0};
    uint64_t most = 0;
    uint64_t time_ns = 0;
    size_t count = 0;
    for (size_t i = 0; i < history->budgets.count; ++i) {
        const struct support_history_budget* const budget = &history->budgets.items[i];
        if (budget->device != device || heap >= budget->heap_count || budget->budget[heap] == 0 ||
            budget->usage[heap] <= budget->budget[heap]) {
            continue;
        }
        count += 1;
        if (budget->usage[heap] - budget->budget[heap] > most) {
            most = budget->usage[heap] - budget->budget[heap];
            time_ns = budget->time_ns;
        }
    }
    if (count == 0) {
        return;
    }
    struct support_finding* const finding = findings_add(
        work, SUPPORT_FINDING_OVER_BUDGET, SUPPORT_VERDICT_PROVED, device, heap, &list, true);
    if (finding != NULL) {
        char bytes[32];
        findings_bytes(most, bytes);
        finding->least = finding->most = most;
        (void)snprintf(finding->arithmetic, sizeof finding->arithmetic,
                       "in %zu of %zu readings the use of heap %u was above its budget, by %s at "
                       "most (%.3f s after the start)",
                       count, history->budgets.count, heap, bytes, (double)time_ns * 1e-9);
    }
}

static void find_refused(struct findings_work* work, uint32_t device)
{
    const struct support_history* const history = work->history;
    struct findings_list list = {0};
    uint64_t largest = 0;
    size_t count = 0;
    for (size_t i = 0; i < history->failures.count; ++i) {
        const struct support_history_failure* const failure = &history->failures.items[i];
        if (failure->device == device) {
            count += 1;
            largest = failure->size > largest ? failure->size : largest;
        }
    }
    if (count == 0) {
        return;
    }
    struct support_finding* const finding = findings_add(
        work, SUPPORT_FINDING_REFUSED, SUPPORT_VERDICT_PROVED, device, NONE, &list, true);
    if (finding != NULL) {
        char bytes[32];
        findings_bytes(largest, bytes);
        finding->calls = count;
        (void)snprintf(finding->arithmetic, sizeof finding->arithmetic,
                       "%zu calls of vkAllocateMemory failed; the largest asked for %s", count,
                       bytes);
    }
}

void findings_of_driver(struct findings_work* work)
{
    for (uint32_t device = 0; device < work->history->devices.count; ++device) {
        for (uint32_t heap = 0; heap < findings_device(work, device)->facts.heapCount; ++heap) {
            find_over_budget(work, device, heap);
        }
        find_refused(work, device);
    }
}
