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

/* ---- wrong heap, small BAR ---- */

static uint64_t heap_bytes_at(const struct findings_work* work, uint32_t device, uint32_t heap,
                              uint32_t event)
{
    const struct support_history* const history = work->history;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < history->memories.count; ++i) {
        const struct support_history_memory* const memory = &history->memories.items[i];
        if (memory->device == device && support_history_heap(history, i) == heap &&
            findings_is_own(memory) && alive_at(memory, event)) {
            sum += memory->size;
        }
    }
    return sum;
}

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

/* Resources in system memory that are alive at the peak of their heap, and would have fitted into
 * the card's heap then. */
static void find_wrong_heap(struct findings_work* work, uint32_t device, uint32_t heap)
{
    const struct support_history* const history = work->history;
    const struct support_history_device* const facts = findings_device(work, device);
    const uint32_t event = findings_peak_event(work, device, heap);
    struct findings_list list = {0};
    uint64_t sum = 0;
    uint32_t target = NONE;
    uint64_t room[MAAR_CAPTURE_MOST_HEAPS];
    if ((facts->heaps[heap].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0 || event == NONE ||
        !findings_is_on_discrete(work, device)) {
        return;
    }
    for (uint32_t i = 0; i < facts->facts.heapCount; ++i) {
        const uint64_t held = heap_bytes_at(work, device, i, event);
        room[i] = facts->heaps[i].size > held ? facts->heaps[i].size - held : 0;
    }
    for (uint32_t i = 0; i < history->resources.count; ++i) {
        const struct support_history_resource* const resource = &history->resources.items[i];
        if (resource->device != device || resource->memory == NONE ||
            support_history_heap(history, resource->memory) != heap ||
            !support_history_is_alive(resource->begin_event, resource->end_event, event) ||
            !is_for_device_alone(resource, &history->memories.items[resource->memory]) ||
            !findings_is_own(&history->memories.items[resource->memory])) {
            continue;
        }
        const uint32_t better = find_device_heap(work, resource);
        if (better != NONE && resource->size <= room[better]) {
            room[better] -= resource->size;
            sum += resource->size;
            target = better;
            findings_list_add(work, &list, i);
        }
    }
    if (sum == 0) {
        free(list.items);
        return;
    }
    struct support_finding* const finding = findings_add(
        work, SUPPORT_FINDING_WRONG_HEAP, SUPPORT_VERDICT_PROVED, device, heap, &list, false);
    if (finding != NULL) {
        char bytes[32];
        char held[32];
        findings_bytes(sum, bytes);
        findings_bytes(room[target], held);
        finding->least = finding->most = sum;
        (void)snprintf(finding->arithmetic, sizeof finding->arithmetic,
                       "%zu resources of %s, which the host never maps, lie in heap %u; "
                       "memoryTypeBits of each allows the card's heap %u, where another %s were "
                       "free",
                       finding->object_count, bytes, heap, target, held);
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
    const uint32_t event = findings_peak_event(work, device, heap);
    struct findings_list list = {0};
    uint64_t sum = 0;
    if (!is_small_bar(findings_device(work, device), heap)) {
        return;
    }
    for (uint32_t i = 0; i < history->memories.count; ++i) {
        const struct support_history_memory* const memory = &history->memories.items[i];
        if (memory->device == device && support_history_heap(history, i) == heap &&
            memory->map_count == 0 && findings_is_own(memory) && alive_at(memory, event)) {
            sum += memory->size;
            findings_list_add(work, &list, i);
        }
    }
    if (sum == 0) {
        free(list.items);
        return;
    }
    struct support_finding* const finding =
        findings_add(work, SUPPORT_FINDING_BAR, SUPPORT_VERDICT_PROVED, device, heap, &list, true);
    if (finding != NULL) {
        char bytes[32];
        char size[32];
        findings_bytes(sum, bytes);
        findings_bytes(findings_device(work, device)->heaps[heap].size, size);
        finding->least = finding->most = sum;
        (void)snprintf(finding->arithmetic, sizeof finding->arithmetic,
                       "%zu memories of %s in heap %u of %s were never mapped",
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

struct bound_range {
    uint64_t begin, end;
    uint64_t alignment; /* of the resource */
    uint32_t memory;
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
                                     .memory = bind->memory};
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
            };
        }
    }
    qsort(ranges, *count, sizeof *ranges, compare_ranges);
    return ranges;
}

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

/* Adds the finding of one heap; never[] has the bytes of each memory. */
static void report_never_bound(struct findings_work* work, uint32_t device, uint32_t heap,
                               const uint64_t* never)
{
    const struct support_history* const history = work->history;
    const uint32_t event = findings_peak_event(work, device, heap);
    struct findings_list list = {0};
    uint64_t sum = 0;
    uint64_t held = 0;
    for (uint32_t i = 0; i < history->memories.count; ++i) {
        const struct support_history_memory* const memory = &history->memories.items[i];
        if (memory->device == device && support_history_heap(history, i) == heap &&
            findings_is_own(memory) && alive_at(memory, event)) {
            held += memory->size;
            sum += never[i];
            if (never[i] > 0) {
                findings_list_add(work, &list, i);
            }
        }
    }
    if (sum < LEAST_BYTES) {
        free(list.items);
        return;
    }
    struct support_finding* const finding = findings_add(
        work, SUPPORT_FINDING_NEVER_BOUND, SUPPORT_VERDICT_PROVED, device, heap, &list, true);
    if (finding != NULL) {
        char bytes[32];
        char all[32];
        findings_bytes(sum, bytes);
        findings_bytes(held, all);
        finding->least = finding->most = sum;
        finding->wasted = malloc((finding->object_count + 1) * sizeof *finding->wasted);
        if (finding->wasted == NULL) {
            work->no_memory = true;
            return;
        }
        for (size_t i = 0; i < finding->object_count; ++i) {
            finding->wasted[i] = never[finding->objects[i]];
        }
        (void)snprintf(finding->arithmetic, sizeof finding->arithmetic,
                       "%s of the %s that heap %u holds at its peak belonged to no resource at "
                       "any time, besides what alignment needs; they lie in %zu memor%s",
                       bytes, all, heap, finding->object_count,
                       finding->object_count == 1 ? "y" : "ies");
    }
}

static void find_never_bound(struct findings_work* work)
{
    const struct support_history* const history = work->history;
    size_t count = 0;
    struct bound_range* const ranges = list_bound_ranges(work, &count);
    uint64_t* const never = calloc(history->memories.count + 1, sizeof *never);
    if (ranges == NULL || never == NULL) {
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
            report_never_bound(work, device, heap, never);
        }
    }
done:
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
