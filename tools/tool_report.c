/*
 * Prints the results of replays for machines and for people; see tool_report.h.
 */
#include "tool_report.h"
#include "support/json_text.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

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

/* Adds the figures of VulkanMemoryAllocator and of the baseline, or null. */
static void set_comparisons(json_t* object, const struct tool_report* report)
{
    const struct tool_vma_outcome* const vma = &report->vma;
    const struct tool_difference* const before = &report->difference;
    json_t* const other = vma->measured ? json_object() : json_null();
    json_t* const baseline = before->found ? json_object() : json_null();
    if (vma->measured) {
        set_count(other, "peak_reserved_bytes", vma->peak_reserved_bytes);
        set_count(other, "peak_blocks", vma->peak_blocks);
        set_count(other, "device_allocation_calls", vma->device_allocation_calls);
        set_count(other, "failures", vma->failures);
    }
    if (before->found) {
        json_object_set_new(baseline, "trace", support_json_text(before->trace));
        set_count(baseline, "peak_reserved_bytes", before->peak_reserved_bytes);
        set_count(baseline, "device_allocation_calls", before->device_allocation_calls);
        set_count(baseline, "failures", before->failures);
        json_object_set_new(baseline, "ns_per_event", json_real(before->ns_per_event));
        json_object_set_new(baseline, "worse", json_boolean(before->worse));
    }
    json_object_set_new(object, "vma", other);
    json_object_set_new(object, "baseline", baseline);
}

bool tool_report_print_json(const struct tool_report* report)
{
    const struct tool_outcome* const outcome = &report->outcome;
    json_t* const object = json_object();
    if (object == NULL) {
        return false;
    }
    json_object_set_new(object, "trace", support_json_text(report->trace));
    json_object_set_new(object, "device", support_json_text(report->device));
    json_object_set_new(object, "driver", support_json_text(report->driver));
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
    set_count(object, "skipped_rows", outcome->skipped_rows);
    set_count(object, "freed_at_end", outcome->leftovers);
    set_count(object, "threads", report->threads);
    set_sparse(object, outcome);
    json_object_set_new(object, "validated", json_boolean(report->validated));
    set_count(object, "block_size_bytes", report->block_size);
    set_comparisons(object, report);
    return tool_print_json(object);
}

/* The columns: strategy, alive, reserved, unused, blocks, calls, failures, time. */
#define ROW_FORMAT "%-10s %9s %9s %7s %6s %11s %11s %9s\n"

void tool_report_print_head(const struct tool_report* report)
{
    printf("%s (%s)\n\n", report->device, report->driver);
    printf(ROW_FORMAT, "", "most", "most", "", "most", "vkAllocate-", "failed", "time per");
    printf(ROW_FORMAT, "strategy", "alive", "reserved", "unused", "blocks", "Memory", "allocations",
           "event");
}

void tool_report_print_trace(const struct tool_report* report)
{
    char name[4 * TOOL_NAME_SIZE + 1];
    printf("\n%s: %" PRIu64 " events, %" PRIu64 " allocations\n",
           tool_printable(report->trace, name, sizeof(name)), report->outcome.events,
           report->outcome.allocations + report->outcome.failures);
}

static void print_verification(const struct tool_outcome* outcome)
{
    char size[32];
    if (outcome->verification[0] == 'o') {
        return;
    }
    if (outcome->verified_bytes == outcome->allocated_bytes) {
        printf("  verified: all %s ever allocated (%s)\n",
               tool_format_size(outcome->verified_bytes, size, sizeof(size)),
               outcome->verification);
    } else {
        printf("  verified: %" PRIu64 " of %" PRIu64 " bytes (%s)\n", outcome->verified_bytes,
               outcome->allocated_bytes, outcome->verification);
    }
}

/* Prints what the table's columns do not say of pages. */
static void print_pages(const struct tool_outcome* outcome)
{
    char rounded[32];
    printf("  pages: the bytes alive, rounded up to whole pages, are at most %s;\n"
           "  pages bound: %" PRIu64 "; binds: %" PRIu64 "; allocations of several pieces: %" PRIu64
           "\n",
           tool_format_size(outcome->peak_page_rounded_live_bytes, rounded, sizeof(rounded)),
           outcome->pages_bound, outcome->binds, outcome->stitched_allocations);
}

static double change_of(double now, double before)
{
    return before > 0.0 ? 100.0 * (now - before) / before : 0.0;
}

static void print_difference(const struct tool_report* report)
{
    const struct tool_difference* const before = &report->difference;
    const struct tool_outcome* const now = &report->outcome;
    const bool is_other = strcmp(before->trace, report->trace) != 0;
    char name[4 * TOOL_NAME_SIZE + 1];
    char size[32];
    printf("  baseline%s%s: %s reserved (%+.1f %%), %" PRIu64 " calls (%+.1f %%), %" PRIu64
           " failed, %.0f ns (%+.1f %%)%s\n",
           is_other ? " " : "", is_other ? tool_printable(before->trace, name, sizeof(name)) : "",
           tool_format_size(before->peak_reserved_bytes, size, sizeof(size)),
           change_of((double)now->peak_reserved_bytes, (double)before->peak_reserved_bytes),
           before->device_allocation_calls,
           change_of((double)now->device_allocation_calls, (double)before->device_allocation_calls),
           before->failures, before->ns_per_event,
           change_of(now->ns_per_event, before->ns_per_event), before->worse ? ": worse" : "");
}

void tool_report_print_row(const struct tool_report* report)
{
    const struct tool_outcome* const outcome = &report->outcome;
    char texts[7][32];
    const double unused = outcome->peak_reserved_bytes == 0
                              ? 0.0
                              : 100.0 - 100.0 * (double)outcome->peak_live_bytes /
                                            (double)outcome->peak_reserved_bytes;
    tool_format_size(outcome->peak_live_bytes, texts[0], sizeof(texts[0]));
    tool_format_size(outcome->peak_reserved_bytes, texts[1], sizeof(texts[1]));
    snprintf(texts[2], sizeof(texts[2]), "%.1f %%", unused);
    snprintf(texts[3], sizeof(texts[3]), "%" PRIu32, outcome->peak_blocks);
    snprintf(texts[4], sizeof(texts[4]), "%" PRIu64, outcome->device_allocation_calls);
    snprintf(texts[5], sizeof(texts[5]), "%" PRIu64, outcome->failures);
    snprintf(texts[6], sizeof(texts[6]), "%.0f ns", outcome->ns_per_event);
    printf(ROW_FORMAT, tool_strategy_names[report->strategy], texts[0], texts[1], texts[2],
           texts[3], texts[4], texts[5], texts[6]);
    if (outcome->sparse) {
        print_pages(outcome);
    }
    print_verification(outcome);
    if (report->validated) {
        printf("  validated: %" PRIu32 " message%s\n", outcome->messages,
               outcome->messages == 1 ? "" : "s");
    }
    if (report->difference.found) {
        print_difference(report);
    }
    fflush(stdout);
}

void tool_report_print_vma(const struct tool_vma_outcome* vma)
{
    char texts[4][32];
    tool_format_size(vma->peak_reserved_bytes, texts[0], sizeof(texts[0]));
    snprintf(texts[1], sizeof(texts[1]), "%" PRIu32, vma->peak_blocks);
    snprintf(texts[2], sizeof(texts[2]), "%" PRIu64, vma->device_allocation_calls);
    snprintf(texts[3], sizeof(texts[3]), "%" PRIu64, vma->failures);
    printf(ROW_FORMAT, "VMA", "-", texts[0], "-", texts[1], texts[2], texts[3], "-");
    fflush(stdout);
}
