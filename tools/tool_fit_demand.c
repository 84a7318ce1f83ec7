/*
 * What an input needs: resources, their lifetimes, and their sums; see tool_fit.h.
 */
#include "tool_fit.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

/* Every Vulkan device accepts memory and buffers of this size. */
#define MAX_PART ((uint64_t)1 << 30)

/* A group of tensors is divided into about this many parts: small enough to use the last bytes of a
 * heap, as real tensors do. */
#define PARTS 1024u
#define MIN_PART ((uint64_t)64 << 20)

/* The most bytes of a group. */
#define MAX_GROUP ((uint64_t)1 << 46)

const char* const tool_fit_purpose_names[TOOL_FIT_PURPOSE_COUNT] = {
    [TOOL_FIT_WEIGHTS] = "weights",         [TOOL_FIT_KV_CACHE] = "KV cache",
    [TOOL_FIT_GRADIENTS] = "gradients",     [TOOL_FIT_OPTIMIZER] = "optimizer",
    [TOOL_FIT_ACTIVATIONS] = "activations", [TOOL_FIT_TRANSIENTS] = "transients",
    [TOOL_FIT_BUFFERS] = "buffers",         [TOOL_FIT_STAGING] = "staging buffers",
    [TOOL_FIT_IMAGES] = "images",           [TOOL_FIT_TARGETS] = "render targets",
    [TOOL_FIT_RESERVE] = "reserve",
};

static bool grow(void** elements, size_t count, size_t size)
{
    if (count != 0 && (count < 64 || (count & (count - 1)) != 0)) {
        return true;
    }
    void* const larger = realloc(*elements, (count == 0 ? 64 : 2 * count) * size);
    *elements = larger != NULL ? larger : *elements;
    return larger != NULL;
}

static bool add_event(struct tool_fit_demand* demand, uint32_t item, bool begins)
{
    void* events = demand->events;
    const bool good = grow(&events, demand->event_count, sizeof(*demand->events));
    demand->events = events;
    if (good) {
        demand->events[demand->event_count++] = (struct tool_fit_event){item, begins};
    }
    return good;
}

uint32_t tool_fit_add(struct tool_fit_demand* demand, const struct tool_fit_item* item)
{
    void* items = demand->items;
    const bool good =
        demand->item_count < UINT32_MAX && grow(&items, demand->item_count, sizeof(*demand->items));
    demand->items = items;
    if (!good || !add_event(demand, (uint32_t)demand->item_count, true)) {
        tool_complain("out of memory");
        return UINT32_MAX;
    }
    demand->items[demand->item_count] = *item;
    return (uint32_t)demand->item_count++;
}

bool tool_fit_add_parts(struct tool_fit_demand* demand, const char* stem,
                        enum tool_fit_purpose purpose, uint64_t bytes)
{
    if (bytes > MAX_GROUP) {
        tool_complain("%s: %" PRIu64 " bytes are more than any device has",
                      tool_fit_purpose_names[purpose], bytes);
        return false;
    }
    uint64_t part = bytes / PARTS;
    part = part < MIN_PART ? MIN_PART : part > MAX_PART ? MAX_PART : part;
    for (uint64_t i = 0; bytes != 0; ++i) {
        const uint64_t size = bytes < part ? bytes : part;
        const struct tool_fit_item item = {
            .stem = stem,
            .number = i,
            .row = {.size = size,
                    .alignment = 1,
                    .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                    .kind = SUPPORT_TRACE_BUFFER,
                    .image = UINT32_MAX},
            .least_bytes = size,
            .purpose = purpose,
        };
        if (tool_fit_add(demand, &item) == UINT32_MAX) {
            return false;
        }
        bytes -= size;
    }
    return true;
}

bool tool_fit_end(struct tool_fit_demand* demand, uint32_t item)
{
    const bool good = add_event(demand, item, false);
    if (!good) {
        tool_complain("out of memory");
    }
    return good;
}

void tool_fit_note(struct tool_fit_demand* demand, const char* format, ...)
{
    if (demand->note_count < TOOL_FIT_MAX_NOTES) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(demand->notes[demand->note_count++], sizeof(demand->notes[0]), format, arguments);
        va_end(arguments);
    }
}

/* Finds the event after which the most bytes are alive. */
static bool find_peak(struct tool_fit_demand* demand, size_t* peak_event)
{
    uint64_t live = 0;
    for (size_t i = 0; i < demand->event_count; ++i) {
        const struct tool_fit_event* const event = &demand->events[i];
        const uint64_t size = demand->items[event->item].row.size;
        if (event->begins && size > UINT64_MAX - live) {
            tool_complain("%s: the bytes that live together do not fit 64 bits", demand->name);
            return false;
        }
        live = event->begins ? live + size : live - size;
        if (live > demand->peak_bytes) {
            demand->peak_bytes = live;
            *peak_event = i;
        }
    }
    return true;
}

bool tool_fit_sum(struct tool_fit_demand* demand)
{
    size_t peak_event = 0;
    demand->is_proved = true;
    if (!find_peak(demand, &peak_event)) {
        return false;
    }
    for (size_t i = 0; i < TOOL_FIT_PURPOSE_COUNT; ++i) {
        demand->totals[i].largest = UINT32_MAX;
    }
    for (size_t i = 0; i < demand->event_count; ++i) {
        const struct tool_fit_event* const event = &demand->events[i];
        const struct tool_fit_item* const item = &demand->items[event->item];
        struct tool_fit_total* const total = &demand->totals[item->purpose];
        if (i <= peak_event) {
            total->bytes += event->begins ? item->row.size : 0 - item->row.size;
            total->count += event->begins ? 1 : UINT64_MAX;
            demand->peak_count += event->begins ? 1 : UINT64_MAX;
        }
        if (item->row.size > total->largest_bytes) {
            total->largest_bytes = item->row.size;
            total->largest = event->item;
        }
        demand->is_proved = demand->is_proved && item->least_bytes == item->row.size;
    }
    return true;
}

const char* tool_fit_name(const struct tool_fit_item* item, char* buffer, size_t size)
{
    if (item->number == TOOL_FIT_NO_NUMBER) {
        snprintf(buffer, size, "%s", item->stem);
    } else {
        snprintf(buffer, size, "%s%" PRIu64, item->stem, item->number);
    }
    return buffer;
}

void tool_fit_release(struct tool_fit_demand* demand)
{
    free(demand->items);
    free(demand->events);
    *demand = (struct tool_fit_demand){.items = NULL};
}
