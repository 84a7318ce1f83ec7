/*
 * Findings about resources: growth by copies, targets that might share bytes, lazily allocated
 * memory, tiny buffers, leaks, and reading through uncached memory.
 */
#include "support/findings_internal.h"

#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan_core.h>

/* A resource that is replaced by a larger one is alive beside it for at most this long. */
#define GROWTH_OVERLAP_NS ((uint64_t)2000000000)
enum { LEAST_GROWTH_STEPS = 3 };
#define LEAST_GROWTH ((uint64_t)1 << 20)
/* Fewer render targets, or a smaller saving, are not worth sharing. */
enum { LEAST_TARGETS = 4 };
#define LEAST_TARGET_SAVING ((uint64_t)32 << 20)
/* A buffer below this is tiny: slices of 256 bytes fit sixteen times. */
enum { TINY_BUFFER = 4096, LEAST_TINY = 512 };
#define LEAST_TINY_BYTES ((uint64_t)1 << 14)
/* A group of equal resources is suspected when so many came, in at least three quarters of the
 * time, and none ever ended. */
enum { LEAST_LEAKS = 32, LEAK_QUARTERS = 3 };

static const VkImageUsageFlags target_usage =
    VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;

static bool alive_at(const struct support_history_resource* resource, uint32_t event)
{
    return event != NONE &&
           support_history_is_alive(resource->begin_event, resource->end_event, event);
}

/* Whether a resource lies in a heap of a device at the peak of that heap. */
static bool lies_at_peak(const struct findings_work* work,
                         const struct support_history_resource* resource, uint32_t device,
                         uint32_t heap)
{
    return resource->device == device && resource->memory != NONE &&
           support_history_heap(work->history, resource->memory) == heap &&
           alive_at(resource, findings_peak_event(work, device, heap));
}

/* ---- one heap at its peak ---- */

/* Whether other resources have bytes of the same place at the same time. */
static bool shares_bytes(const struct support_history* history, const struct findings_list* list,
                         size_t which)
{
    const struct support_history_resource* const one =
        &history->resources.items[list->items[which]];
    for (size_t i = 0; i < list->count; ++i) {
        const struct support_history_resource* const other =
            &history->resources.items[list->items[i]];
        if (i != which && other->memory == one->memory &&
            one->offset < other->offset + other->size && other->offset < one->offset + one->size) {
            return true;
        }
    }
    return false;
}

/* How many images of a device shaders sample, if all of them can be attachments; else 0. */
static size_t count_sampled_targets(const struct support_history* history, uint32_t device)
{
    size_t count = 0;
    for (size_t i = 0; i < history->resources.count; ++i) {
        const struct support_history_resource* const resource = &history->resources.items[i];
        if (resource->device == device && resource->kind == SUPPORT_HISTORY_IMAGE &&
            (resource->usage & VK_IMAGE_USAGE_SAMPLED_BIT) != 0) {
            if ((resource->usage & target_usage) == 0) {
                return 0;
            }
            count += 1;
        }
    }
    return count;
}

static void explain_aliasing(const struct findings_work* work, struct support_finding* finding,
                             uint64_t sum, uint64_t largest)
{
    char bytes[32];
    char needed[32];
    char enough[32];
    char rest[96] = "the capture does not say which are used together";
    char note[128] = "";
    findings_bytes(sum, bytes);
    findings_bytes(sum - finding->most, needed);
    findings_bytes(sum - finding->least, enough);
    if (finding->least > 0) {
        (void)snprintf(rest, sizeof rest, "%s are enough by the submissions that use them", enough);
    } else if (findings_device(work, finding->device)->has_uses) {
        (void)snprintf(rest, sizeof rest, "by their submissions, all may be used together");
    }
    const size_t sampled = count_sampled_targets(work->history, finding->device);
    if (sampled >= LEAST_TARGETS) {
        (void)snprintf(note, sizeof note,
                       ". All %zu images that shaders sample can be attachments, as textures of "
                       "Mesa's zink can: they count, too",
                       sampled);
    }
    (void)snprintf(finding->arithmetic, sizeof finding->arithmetic,
                   "%zu images that can be attachments, of %s, have bytes of their own; at least "
                   "%s%s, %s needed at a time; %s%s",
                   finding->object_count, bytes,
                   sum - finding->most == largest ? "the largest, of " : "", needed,
                   sum - finding->most == largest ? "is" : "by their uses, are", rest, note);
}

static void find_aliasing(struct findings_work* work, uint32_t device, uint32_t heap)
{
    enum { MOST_TARGETS = 4096 };
    const struct support_history* const history = work->history;
    struct findings_list list = {0};
    uint64_t sum = 0;
    uint64_t largest = 0;
    bool shared = false;
    for (uint32_t i = 0; i < history->resources.count && list.count < MOST_TARGETS; ++i) {
        const struct support_history_resource* const resource = &history->resources.items[i];
        if (resource->kind == SUPPORT_HISTORY_IMAGE && (resource->usage & target_usage) != 0 &&
            lies_at_peak(work, resource, device, heap)) {
            sum += resource->size;
            largest = resource->size > largest ? resource->size : largest;
            findings_list_add(work, &list, i);
        }
    }
    for (size_t i = 0; i < list.count && !shared; ++i) {
        shared = shares_bytes(history, &list, i);
    }
    if (list.count < LEAST_TARGETS || sum - largest < LEAST_TARGET_SAVING || shared) {
        free(list.items);
        return;
    }
    uint64_t needed = 0;
    const uint64_t least = findings_saving_by_uses(work, device, &list, &needed);
    needed = needed > largest ? needed : largest;
    if (sum - needed < LEAST_TARGET_SAVING) {
        free(list.items);
        return;
    }
    struct support_finding* const finding = findings_add(
        work, SUPPORT_FINDING_ALIASING, SUPPORT_VERDICT_BOUNDED, device, heap, &list, false);
    if (finding != NULL) {
        finding->most = sum - needed;
        finding->least = least;
        explain_aliasing(work, finding, sum, largest);
    }
}

static bool allows_lazy(const struct findings_work* work,
                        const struct support_history_resource* resource)
{
    const struct support_history_device* const device = findings_device(work, resource->device);
    for (uint32_t i = 0; i < device->facts.typeCount; ++i) {
        if ((resource->type_bits >> i & 1) != 0 &&
            (device->types[i].flags & VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT) != 0) {
            return true;
        }
    }
    return false;
}

static void find_lazy(struct findings_work* work, uint32_t device, uint32_t heap)
{
    const struct support_history* const history = work->history;
    struct findings_list list = {0};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < history->resources.count; ++i) {
        const struct support_history_resource* const resource = &history->resources.items[i];
        if (resource->kind == SUPPORT_HISTORY_IMAGE &&
            (resource->usage & VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT) != 0 &&
            lies_at_peak(work, resource, device, heap) &&
            (findings_type_flags(work, device, history->memories.items[resource->memory].type) &
             VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT) == 0 &&
            allows_lazy(work, resource)) {
            sum += resource->size;
            findings_list_add(work, &list, i);
        }
    }
    if (sum == 0) {
        free(list.items);
        return;
    }
    struct support_finding* const finding = findings_add(
        work, SUPPORT_FINDING_LAZY, SUPPORT_VERDICT_BOUNDED, device, heap, &list, false);
    if (finding != NULL) {
        char bytes[32];
        findings_bytes(sum, bytes);
        finding->most = sum;
        (void)snprintf(finding->arithmetic, sizeof finding->arithmetic,
                       "%zu images with TRANSIENT_ATTACHMENT, of %s, are bound to memory that is "
                       "not LAZILY_ALLOCATED, which memoryTypeBits allows",
                       finding->object_count, bytes);
    }
}

static void find_tiny(struct findings_work* work, uint32_t device, uint32_t heap)
{
    const struct support_history* const history = work->history;
    struct findings_list list = {0};
    uint64_t asked = 0;
    uint64_t taken = 0;
    for (uint32_t i = 0; i < history->resources.count; ++i) {
        const struct support_history_resource* const resource = &history->resources.items[i];
        if (resource->kind == SUPPORT_HISTORY_BUFFER && resource->asked < TINY_BUFFER &&
            lies_at_peak(work, resource, device, heap)) {
            const uint64_t step =
                resource->alignment > 0 && resource->alignment <= ((uint64_t)1 << 30)
                    ? resource->alignment
                    : 1;
            taken += (resource->size + step - 1) / step * step;
            asked += resource->asked;
            findings_list_add(work, &list, i);
        }
    }
    if (list.count < LEAST_TINY || taken - asked < LEAST_TINY_BYTES) {
        free(list.items);
        return;
    }
    struct support_finding* const finding = findings_add(
        work, SUPPORT_FINDING_TINY, SUPPORT_VERDICT_BOUNDED, device, heap, &list, false);
    if (finding != NULL) {
        char bytes[32];
        char all[32];
        findings_bytes(asked, bytes);
        findings_bytes(taken, all);
        finding->most = taken - asked;
        (void)snprintf(finding->arithmetic, sizeof finding->arithmetic,
                       "%zu buffers below 4 KiB ask for %s and take up to %s with their alignment",
                       finding->object_count, bytes, all);
    }
}

static bool allows_cached(const struct findings_work* work,
                          const struct support_history_resource* resource)
{
    const VkMemoryPropertyFlags cached =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    const struct support_history_device* const device = findings_device(work, resource->device);
    for (uint32_t i = 0; i < device->facts.typeCount; ++i) {
        if ((resource->type_bits >> i & 1) != 0 && (device->types[i].flags & cached) == cached) {
            return true;
        }
    }
    return false;
}

static void find_readback(struct findings_work* work, uint32_t device)
{
    const struct support_history* const history = work->history;
    struct findings_list list = {0};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < history->resources.count; ++i) {
        const struct support_history_resource* const resource = &history->resources.items[i];
        if (resource->device != device || resource->kind != SUPPORT_HISTORY_BUFFER ||
            resource->memory == NONE || resource->usage != VK_BUFFER_USAGE_TRANSFER_DST_BIT) {
            continue;
        }
        const struct support_history_memory* const memory =
            &history->memories.items[resource->memory];
        if (memory->map_count > 0 &&
            (findings_type_flags(work, device, memory->type) &
             VK_MEMORY_PROPERTY_HOST_CACHED_BIT) == 0 &&
            allows_cached(work, resource)) {
            sum += resource->size;
            findings_list_add(work, &list, i);
        }
    }
    if (list.count == 0) {
        return;
    }
    struct support_finding* const finding = findings_add(
        work, SUPPORT_FINDING_READBACK, SUPPORT_VERDICT_SUSPECTED, device, NONE, &list, false);
    if (finding != NULL) {
        char bytes[32];
        findings_bytes(sum, bytes);
        (void)snprintf(finding->arithmetic, sizeof finding->arithmetic,
                       "%zu buffers of %s, which only copies write, are mapped through a type "
                       "without HOST_CACHED; no bytes, but time",
                       finding->object_count, bytes);
    }
}

void findings_of_resources(struct findings_work* work)
{
    for (uint32_t device = 0; device < work->history->devices.count; ++device) {
        for (uint32_t heap = 0; heap < findings_device(work, device)->facts.heapCount; ++heap) {
            find_aliasing(work, device, heap);
            find_lazy(work, device, heap);
            find_tiny(work, device, heap);
        }
        find_readback(work, device);
    }
}

/* ---- groups of resources ---- */

/* What resources of a group have in common. */
struct group_key {
    uint64_t usage, caller, size;
    uint32_t device, format, create_flags;
    uint32_t kind;
};

struct group_item {
    struct group_key key;
    uint32_t index;
};

static int compare_items(const void* left, const void* right)
{
    const struct group_item* const a = left;
    const struct group_item* const b = right;
    const int order = memcmp(&a->key, &b->key, sizeof a->key);
    return order != 0 ? order : (a->index < b->index ? -1 : a->index > b->index);
}

/* Lists all resources by group, and in a group by their beginning. With `by_size`, resources of
 * another size are of another group. */
static struct group_item* list_groups(struct findings_work* work, bool by_size)
{
    const struct support_history* const history = work->history;
    struct group_item* const items = calloc(history->resources.count + 1, sizeof *items);
    if (items == NULL) {
        work->no_memory = true;
        return NULL;
    }
    for (uint32_t i = 0; i < history->resources.count; ++i) {
        const struct support_history_resource* const resource = &history->resources.items[i];
        items[i].index = i;
        items[i].key.usage = resource->usage;
        items[i].key.caller = resource->caller;
        items[i].key.size = by_size ? resource->asked : 0;
        items[i].key.device = resource->device;
        items[i].key.create_flags = resource->create_flags;
        items[i].key.kind = resource->kind;
        items[i].key.format = resource->image != NONE
                                  ? history->images.items[resource->image].format
                                  : resource->detail;
    }
    qsort(items, history->resources.count, sizeof *items, compare_items);
    return items;
}

static size_t end_of_group(const struct group_item* items, size_t first, size_t count)
{
    size_t end = first + 1;
    while (end < count && memcmp(&items[end].key, &items[first].key, sizeof items->key) == 0) {
        end += 1;
    }
    return end;
}

/* Whether `next` replaced `old`: larger, bound while the old one lived, which ended soon after. */
static bool is_replaced(const struct support_history_resource* old,
                        const struct support_history_resource* next)
{
    return old->memory != NONE && next->memory != NONE && next->asked > old->asked &&
           old->end_event != NONE && next->bind_event != NONE &&
           old->end_event > next->bind_event && old->end_ns - next->bind_ns < GROWTH_OVERLAP_NS;
}

/* Adds those of a group that were replaced, and returns the size of the largest. The group must be
 * one resource that only grows: a shrinking step, or a third one alive, says that its members are
 * independent, such as buffers for uploads, and larger ones came later by chance. */
static uint64_t list_replaced(struct findings_work* work, const struct group_item* items,
                              size_t first, size_t end, struct findings_list* list)
{
    const struct support_history_resource* const resources = work->history->resources.items;
    uint64_t most = 0;
    for (size_t i = first + 1; i < end; ++i) {
        const struct support_history_resource* const old = &resources[items[i - 1].index];
        const struct support_history_resource* const next = &resources[items[i].index];
        const bool has_third =
            i > first + 1 && resources[items[i - 2].index].end_event > next->bind_event;
        if (!is_replaced(old, next) || has_third) {
            list->count = 0;
            return 0;
        }
        most = old->size > most ? old->size : most;
        findings_list_add(work, list, items[i - 1].index);
    }
    return most;
}

/* Whether a resource has a memory for itself, which a mended program would not hold. */
static bool has_own_memory(const struct support_history* history, uint32_t memory)
{
    return memory != NONE && history->memories.items[memory].bind_count == 1 &&
           findings_is_own(&history->memories.items[memory]);
}

/* By how much the peak of a heap is lower if no old one is held beside its successor. What lies in
 * a block lowers nothing: the block stays as large. */
static uint64_t saving_of_growth(struct findings_work* work, const struct group_item* items,
                                 size_t first, size_t end)
{
    const struct support_history* const history = work->history;
    const struct support_history_resource* const resources = history->resources.items;
    const struct support_history_memory* const memories = history->memories.items;
    const struct support_history_resource* const last = &resources[items[end - 1].index];
    const uint32_t heap = support_history_heap(history, last->memory);
    size_t count = 0;
    struct findings_part* const parts = malloc((end - first) * sizeof *parts);
    if (parts == NULL) {
        work->no_memory = true;
        return 0;
    }
    for (size_t i = first + 1; i < end; ++i) {
        const struct support_history_resource* const old = &resources[items[i - 1].index];
        const struct support_history_resource* const next = &resources[items[i].index];
        if (has_own_memory(history, old->memory) &&
            support_history_heap(history, old->memory) == heap) {
            parts[count++] = (struct findings_part){
                .bytes = memories[old->memory].size,
                .object = items[i - 1].index,
                .begin_event = has_own_memory(history, next->memory)
                                   ? memories[next->memory].begin_event
                                   : next->bind_event,
                .end_event = memories[old->memory].end_event,
            };
        }
    }
    const uint64_t saved =
        count > 0 ? findings_lower_peak(work, items[first].key.device, heap, parts, &count) : 0;
    free(parts);
    return saved;
}

static void find_growth(struct findings_work* work, const struct group_item* items, size_t first,
                        size_t end)
{
    struct findings_list list = {0};
    const uint64_t most = list_replaced(work, items, first, end, &list);
    if (list.count < LEAST_GROWTH_STEPS || most < LEAST_GROWTH) {
        free(list.items);
        return;
    }
    const uint32_t device = items[first].key.device;
    const uint64_t saved = saving_of_growth(work, items, first, end);
    struct support_finding* const finding =
        findings_add(work, SUPPORT_FINDING_GROWTH_BY_COPY,
                     saved >= most ? SUPPORT_VERDICT_PROVED : SUPPORT_VERDICT_BOUNDED, device, NONE,
                     &list, false);
    if (finding != NULL) {
        char bytes[32];
        findings_bytes(most, bytes);
        finding->least = saved;
        finding->most = saved > most ? saved : most;
        (void)snprintf(finding->arithmetic, sizeof finding->arithmetic,
                       "%zu times a larger one was bound before the old one ended; the largest old "
                       "one, of %s, was alive beside its successor%s",
                       finding->object_count, bytes,
                       saved >= most ? ""
                                     : ", but not when the heap held the most, or in a block that "
                                       "stays as large");
    }
}

static void find_leak(struct findings_work* work, const struct group_item* items, size_t first,
                      size_t end)
{
    const struct support_history* const history = work->history;
    const uint32_t device = items[first].key.device;
    struct findings_list list = {0};
    uint64_t sum = 0;
    unsigned quarters = 0;
    if (end - first < LEAST_LEAKS || items[first].key.kind == SUPPORT_HISTORY_SWAPCHAIN) {
        return;
    }
    const uint64_t begin = findings_device(work, device)->begin_ns;
    const uint64_t last = history->last_ns > begin ? history->last_ns - begin : 1;
    for (size_t i = first; i < end; ++i) {
        const struct support_history_resource* const resource =
            &history->resources.items[items[i].index];
        if (resource->end_event != NONE) {
            free(list.items);
            return;
        }
        const uint64_t age = resource->begin_ns > begin ? resource->begin_ns - begin : 0;
        const double share = (double)age / (double)last;
        quarters |= 1u << (share < 1 ? (unsigned)(share * 4) : 3u);
        sum += resource->size;
        findings_list_add(work, &list, items[i].index);
    }
    unsigned count = 0;
    for (unsigned i = 0; i < 4; ++i) {
        count += quarters >> i & 1;
    }
    if (count < LEAK_QUARTERS) {
        free(list.items);
        return;
    }
    struct support_finding* const finding = findings_add(
        work, SUPPORT_FINDING_LEAK, SUPPORT_VERDICT_SUSPECTED, device, NONE, &list, false);
    if (finding != NULL) {
        char bytes[32];
        findings_bytes(sum, bytes);
        finding->most = sum;
        (void)snprintf(finding->arithmetic, sizeof finding->arithmetic,
                       "%zu equal resources of %s in all came in %u of the four quarters of the "
                       "time, and none ever ended",
                       finding->object_count, bytes, count);
    }
}

void findings_of_groups(struct findings_work* work)
{
    const size_t count = work->history->resources.count;
    struct group_item* const kinds = list_groups(work, false);
    struct group_item* const equals = list_groups(work, true);
    if (kinds != NULL && equals != NULL) {
        for (size_t i = 0; i < count;) {
            const size_t end = end_of_group(kinds, i, count);
            find_growth(work, kinds, i, end);
            i = end;
        }
        for (size_t i = 0; i < count;) {
            const size_t end = end_of_group(equals, i, count);
            find_leak(work, equals, i, end);
            i = end;
        }
    }
    free(kinds);
    free(equals);
}
