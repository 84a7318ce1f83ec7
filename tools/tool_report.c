/*
 * Prints the results of replays for machines and for people; see tool_report.h.
 */
#include "tool_report.h"

#include <inttypes.h>
#include <jansson.h>

static void set_count(json_t* object, const char* key, uint64_t value)
{
    json_object_set_new(object, key, json_integer((json_int_t)value));
}

/* Returns the key's value, or null if the strategy makes nothing of pages. */
static void set_sparse(json_t* object, const struct tool_outcome* outcome)
{
    const struct {
        const char* key;
        uint64_t value;
    } rows[] = {
        {"peak_page_rounded_live_bytes", outcome->peak_page_rounded_live_bytes},
        {"stitched_allocations", outcome->stitched_allocations},
        {"pages_bound", outcome->pages_bound},
        {"binds", outcome->binds},
        {"bind_submissions", outcome->bind_submissions},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        json_object_set_new(object, rows[i].key,
                            outcome->sparse ? json_integer((json_int_t)rows[i].value)
                                            : json_null());
    }
}

bool tool_report_print_json(const struct tool_report* report)
{
    const struct tool_outcome* const outcome = &report->outcome;
    json_t* const object = json_object();
    if (object == NULL) {
        return false;
    }
    json_object_set_new(object, "trace", tool_json_text(report->trace));
    json_object_set_new(object, "device", tool_json_text(report->device));
    json_object_set_new(object, "driver", tool_json_text(report->driver));
    json_object_set_new(object, "strategy", json_string(tool_strategy_names[report->strategy]));
    set_count(object, "events", outcome->events);
    set_count(object, "allocations", outcome->allocations);
    set_count(object, "failures", outcome->failures);
    set_count(object, "peak_live_bytes", outcome->peak_live_bytes);
    set_count(object, "trace_peak_live_bytes", report->trace_peak_live_bytes);
    set_count(object, "peak_reserved_bytes", outcome->peak_reserved_bytes);
    set_count(object, "peak_blocks", outcome->peak_blocks);
    set_count(object, "device_allocation_calls", outcome->device_allocation_calls);
    json_object_set_new(object, "ns_per_event", json_real(outcome->ns_per_event));
    json_object_set_new(object, "verification", json_string(outcome->verification));
    set_count(object, "verified_bytes", outcome->verified_bytes);
    set_count(object, "validation_messages", outcome->messages);
    set_count(object, "allocated_bytes", outcome->allocated_bytes);
    set_count(object, "unverified_bytes", outcome->unverified_bytes);
    set_count(object, "copy_verified_bytes", outcome->copied_bytes);
    set_count(object, "mismatches", outcome->mismatches);
    set_count(object, "allocator_errors", outcome->allocator_errors);
    set_count(object, "fallbacks", outcome->fallbacks);
    set_count(object, "real_buffers", outcome->real_buffers);
    set_count(object, "real_images", outcome->real_images);
    set_count(object, "plain_rows", outcome->plain_rows);
    set_count(object, "unsupported_rows", outcome->unsupported_rows);
    set_count(object, "freed_at_end", outcome->leftovers);
    set_count(object, "threads", report->threads);
    set_sparse(object, outcome);
    json_object_set_new(object, "validated", json_boolean(report->validated));
    return tool_print_json(object);
}

void tool_report_print_head(const struct tool_report* report)
{
    printf("%s (%s)\n\n", report->device, report->driver);
    printf("%-30s %-9s %8s %8s %7s %10s %10s %6s %6s %7s %8s  %s\n", "trace", "strategy", "events",
           "allocs", "failed", "live peak", "reserved", "unused", "blocks", "calls", "ns/event",
           "verified");
}

void tool_report_print_row(const struct tool_report* report)
{
    const struct tool_outcome* const outcome = &report->outcome;
    char live[32];
    char reserved[32];
    char verified[64];
    char name[4 * TOOL_NAME_SIZE + 1];
    const double unused = outcome->peak_reserved_bytes == 0
                              ? 0.0
                              : 100.0 - 100.0 * (double)outcome->peak_live_bytes /
                                            (double)outcome->peak_reserved_bytes;
    tool_format_size(outcome->peak_live_bytes, live, sizeof(live));
    tool_format_size(outcome->peak_reserved_bytes, reserved, sizeof(reserved));
    if (outcome->verification[0] == 'o') {
        snprintf(verified, sizeof(verified), "off");
    } else if (outcome->verified_bytes == outcome->allocated_bytes) {
        char size[32];
        snprintf(verified, sizeof(verified), "all %s (%s)",
                 tool_format_size(outcome->verified_bytes, size, sizeof(size)),
                 outcome->verification);
    } else {
        snprintf(verified, sizeof(verified), "%" PRIu64 " of %" PRIu64 " bytes (%s)",
                 outcome->verified_bytes, outcome->allocated_bytes, outcome->verification);
    }
    printf("%-30s %-9s %8" PRIu64 " %8" PRIu64 " %7" PRIu64 " %10s %10s %4.1f %% %6u %7" PRIu64
           " %8.0f  %s",
           tool_printable(report->trace, name, sizeof(name)), tool_strategy_names[report->strategy],
           outcome->events, outcome->allocations, outcome->failures, live, reserved, unused,
           outcome->peak_blocks, outcome->device_allocation_calls, outcome->ns_per_event, verified);
    if (outcome->sparse) {
        printf("; %" PRIu64 " pages in %" PRIu64 " binds, %" PRIu64 " stitched",
               outcome->pages_bound, outcome->binds, outcome->stitched_allocations);
    }
    if (report->validated) {
        printf(", %u messages", outcome->messages);
    }
    putchar('\n');
    fflush(stdout);
}
