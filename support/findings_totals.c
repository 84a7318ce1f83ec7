/*
 * What a program held, whatever was found: the totals of maar-findings/1. Two runs are compared by
 * them, and a capture's figures with those of the driver.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "support/findings_internal.h"
#include "support/json_text.h"

/* How far a heap's use by the driver's reading lies above what the capture says. */
struct heap_readings {
    uint64_t held; /* bytes that the program holds at the event */
    int64_t least, most;
    size_t count;
};

static size_t slot_of(uint32_t device, uint32_t heap)
{
    return device * (size_t)MAAR_CAPTURE_MOST_HEAPS + heap;
}

static void compare_budget(struct heap_readings* heaps, const struct support_history_budget* budget)
{
    for (uint32_t heap = 0; heap < budget->heap_count; ++heap) {
        struct heap_readings* const one = &heaps[slot_of(budget->device, heap)];
        const int64_t above = (int64_t)(budget->usage[heap] - one->held);
        one->least = one->count == 0 || above < one->least ? above : one->least;
        one->most = one->count == 0 || above > one->most ? above : one->most;
        one->count += 1;
    }
}

static void walk_readings(const struct support_history* history, struct heap_readings* heaps)
{
    for (size_t i = 0; i < history->events.count; ++i) {
        const struct support_history_event* const event = &history->events.items[i];
        if (event->kind == MAAR_CAPTURE_KIND_BUDGET) {
            compare_budget(heaps, &history->budgets.items[event->index]);
        } else if (event->kind == MAAR_CAPTURE_KIND_MEMORY ||
                   event->kind == MAAR_CAPTURE_KIND_MEMORY_END) {
            const struct support_history_memory* const memory =
                &history->memories.items[event->index];
            uint64_t* const held =
                &heaps[slot_of(memory->device, support_history_heap(history, event->index))].held;
            if (findings_is_own(memory)) {
                *held = event->kind == MAAR_CAPTURE_KIND_MEMORY ? *held + memory->size
                                                                : *held - memory->size;
            }
        }
    }
}

static json_t* heap_value(const struct support_history* history, uint32_t device, uint32_t heap,
                          const struct heap_readings* readings)
{
    uint32_t event = NONE;
    uint64_t bytes = 0;
    support_history_peak(history, device, heap, &event, &bytes);
    json_t* const value = json_pack("{s:I, s:I, s:I}", "device",
                                    (json_int_t)history->devices.items[device].facts.device, "heap",
                                    (json_int_t)heap, "peakBytes", (json_int_t)bytes);
    if (readings != NULL && readings->count > 0) {
        (void)json_object_set_new(value, "usageReadings",
                                  json_integer((json_int_t)readings->count));
        (void)json_object_set_new(value, "usageAboveLeast", json_integer(readings->least));
        (void)json_object_set_new(value, "usageAboveMost", json_integer(readings->most));
    }
    return value;
}

static json_t* heaps_value(const struct support_history* history)
{
    json_t* const list = json_array();
    struct heap_readings* const readings =
        calloc(history->devices.count * MAAR_CAPTURE_MOST_HEAPS + 1, sizeof *readings);
    if (readings != NULL) {
        walk_readings(history, readings);
    }
    for (uint32_t device = 0; device < history->devices.count; ++device) {
        for (uint32_t heap = 0; heap < history->devices.items[device].facts.heapCount; ++heap) {
            (void)json_array_append_new(
                list, heap_value(history, device, heap,
                                 readings != NULL ? &readings[slot_of(device, heap)] : NULL));
        }
    }
    free(readings);
    return list;
}

/* Whether a resource has no bytes at any time, although it is of a kind that needs some. */
static bool is_unbound(const struct support_history_resource* resource)
{
    return resource->kind != SUPPORT_HISTORY_SWAPCHAIN && resource->memory == NONE &&
           resource->first_bind == NONE && resource->sparse_peak == 0;
}

static json_t* devices_value(const struct support_history* history)
{
    json_t* const list = json_array();
    for (size_t i = 0; i < history->devices.count; ++i) {
        const struct support_history_device* const device = &history->devices.items[i];
        (void)json_array_append_new(
            list,
            json_pack("{s:I, s:o, s:o, s:o}", "device", (json_int_t)device->facts.device, "name",
                      support_json_text(support_history_text(history, device->name)), "driver",
                      support_json_text(support_history_text(history, device->driver_name)),
                      "driverInfo",
                      support_json_text(support_history_text(history, device->driver_info))));
    }
    return list;
}

json_t* findings_totals(const struct support_history* history)
{
    uint64_t at_end = 0;
    uint64_t frames = 0;
    size_t unbound = 0;
    for (size_t i = 0; i < history->memories.count; ++i) {
        at_end +=
            history->memories.items[i].end_event == NONE ? history->memories.items[i].size : 0;
    }
    for (size_t i = 0; i < history->resources.count; ++i) {
        unbound += is_unbound(&history->resources.items[i]) ? 1 : 0;
    }
    for (size_t i = 0; i < history->devices.count; ++i) {
        frames += history->devices.items[i].frame_count;
    }
    return json_pack(
        "{s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "devices",
        devices_value(history), "heaps", heaps_value(history), "allocations",
        (json_int_t)history->memories.count, "refused", (json_int_t)history->failures.count,
        "resources", (json_int_t)history->resources.count, "bytesAtEnd", (json_int_t)at_end,
        "events", (json_int_t)history->events.count, "frames", (json_int_t)frames, "unbound",
        (json_int_t)unbound, "strays", (json_int_t)history->strays, "unknown",
        (json_int_t)history->unknown, "unfinished", (json_int_t)history->unfinished);
}
