/*
 * maar top as JSON, of the schema maar-top/1; see tool_top.h.
 */
#include "support/json_text.h"
#include "tool_text.h"
#include "tool_top.h"

#include <jansson.h>
#include <time.h>

enum { JSON_RESOURCES = 20 };

/* A number, or null where it is not known. */
static json_t* number_or_null(bool is_known, uint64_t value)
{
    return is_known ? tool_json_number(value) : json_null();
}

static json_t* describe_heap(const struct support_history_device* device,
                             const struct support_device_sums* sums, uint32_t heap)
{
    const struct support_heap_sum* const sum = &sums->heaps[heap];
    const bool is_known = heap < sums->budget_heap_count;
    json_t* const kinds = json_object();
    for (int i = 0; i < SUPPORT_SUMS_KINDS; ++i) {
        json_object_set_new(kinds, support_sums_kind((enum support_history_kind)i),
                            tool_json_number(sum->bound[i]));
    }
    return json_pack(
        "{s:i, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "heap", (int)heap,
        "device_local", (int)(device->heaps[heap].flags & 1), "size_bytes",
        tool_json_number(device->heaps[heap].size), "budget_bytes",
        number_or_null(is_known, sums->budget[heap]), "usage_bytes",
        number_or_null(is_known, sums->usage[heap]), "held_bytes", tool_json_number(sum->held),
        "held_peak_bytes", tool_json_number(sum->held_peak), "bound_bytes",
        tool_json_number(support_sums_bound(sum)), "bound_bytes_by_kind", kinds, "imported_bytes",
        tool_json_number(sum->imported), "memories", tool_json_number(sum->memory_count),
        "allocations", tool_json_number(sum->allocation_count));
}

static json_t* describe_device(const struct tool_follow* follow, size_t index)
{
    const struct support_history* const history = &follow->history;
    const struct support_history_device* const device = &history->devices.items[index];
    const struct support_device_sums* const sums = &follow->sums.devices.items[index];
    json_t* const heaps = json_array();
    for (uint32_t i = 0; i < device->facts.heapCount; ++i) {
        json_array_append_new(heaps, describe_heap(device, sums, i));
    }
    json_t* const resources = json_object();
    for (int i = 0; i < SUPPORT_SUMS_KINDS; ++i) {
        json_object_set_new(resources, support_sums_kind((enum support_history_kind)i),
                            tool_json_number(sums->resource_count[i]));
    }
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
        support_json_text(support_history_text(history, device->name)), "driver",
        support_json_text(support_history_text(history, device->driver_name)), "frames",
        tool_json_number(sums->frame_count), "submissions", tool_json_number(sums->submit_count),
        "failures", tool_json_number(sums->failure_count), "swapchain_estimate_bytes",
        tool_json_number(sums->swapchain_bytes), "resources", resources, "heaps", heaps);
}

static json_t* describe_largest(const struct tool_follow* follow)
{
    uint32_t resources[JSON_RESOURCES];
    const size_t count = tool_follow_largest(follow, resources, JSON_RESOURCES);
    json_t* const list = json_array();
    for (size_t i = 0; i < count; ++i) {
        const struct support_history_resource* const resource =
            &follow->history.resources.items[resources[i]];
        char label[512];
        support_history_label(&follow->history, resources[i], label, sizeof label);
        json_array_append_new(
            list, json_pack("{s:o, s:s, s:o, s:i}", "name", support_json_text(label), "kind",
                            support_sums_kind((enum support_history_kind)resource->kind), "bytes",
                            tool_json_number(tool_follow_bytes(follow, resources[i])), "device",
                            (int)resource->device));
    }
    return list;
}

static json_t* describe_capture(const struct tool_top* top, const struct tool_follow* follow)
{
    const struct tool_follow_rates rates = tool_follow_rates(follow);
    const struct tool_kernel_use use =
        tool_kernel_find(&top->kernel, follow->history.header.process);
    const bool is_known = use.driver[0] != '\0' && follow->state == TOOL_FOLLOW_RUNNING;
    json_t* const devices = json_array();
    for (size_t i = 0; i < follow->sums.devices.count; ++i) {
        json_array_append_new(devices, describe_device(follow, i));
    }
    return json_pack("{s:o, s:o, s:o, s:s, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:o, s:o}", "file",
                     support_json_text(follow->path), "program",
                     support_json_text(follow->history.header.program), "process",
                     tool_json_number(follow->history.header.process), "state",
                     tool_follow_state_word(follow->state), "seconds", (double)follow->now_ns / 1e9,
                     "frames_per_second", rates.frames, "allocations_per_second", rates.allocations,
                     "resources_per_second", rates.resources, "submissions_per_second",
                     rates.submits, "kernel_device_bytes",
                     number_or_null(is_known, use.device_bytes), "kernel_host_bytes",
                     number_or_null(is_known, use.host_bytes), "devices", devices, "largest",
                     describe_largest(follow));
}

static json_t* describe_other(const struct tool_kernel_use* use)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "process", tool_json_number(use->process),
                     "program", support_json_text(use->name), "driver",
                     support_json_text(use->driver), "device", support_json_text(use->device),
                     "device_bytes", tool_json_number(use->device_bytes), "host_bytes",
                     tool_json_number(use->host_bytes));
}

bool tool_top_print_json(const struct tool_top* top)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    json_t* const captures = json_array();
    json_t* const kernel = json_array();
    for (size_t i = 0; i < top->order_count; ++i) {
        json_array_append_new(captures, describe_capture(top, top->order[i]));
    }
    for (size_t i = 0; i < top->kernel.count; ++i) {
        json_array_append_new(kernel, describe_other(&top->kernel.items[i]));
    }
    return tool_print_json(
        json_pack("{s:s, s:o, s:o, s:o}", "schema", "maar-top/1", "time_ns",
                  tool_json_number((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec),
                  "captures", captures, "kernel", kernel));
}
