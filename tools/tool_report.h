/*
 * Prints the result of a replay: a JSON object on one line, or a row of a table.
 */
#ifndef MAAR_TOOL_REPORT_H
#define MAAR_TOOL_REPORT_H

#include "tool_player.h"
#include "tool_vma.h"

/* The figures of the same run in a baseline. */
struct tool_difference {
    bool found;        /* otherwise all else is zero */
    const char* trace; /* the name there, of the baseline */
    bool worse;        /* the run is worse than these figures */
    uint64_t peak_reserved_bytes, device_allocation_calls, failures;
    double ns_per_event;
};

/* The parameters and the outcome of a replay. */
struct tool_report {
    const char* trace;
    const char* device;
    const char* driver;
    enum tool_strategy strategy;
    uint32_t threads;
    bool validated;
    bool simulated;
    uint64_t trace_peak_live_bytes;
    uint64_t block_size; /* that was asked for; 0 for the default */
    struct tool_outcome outcome;
    struct tool_vma_outcome vma;
    struct tool_difference difference;
};

/* Prints one line of JSON. Returns false when out of memory or when the line cannot be written. */
bool tool_report_print_json(const struct tool_report* report);

/* Print the table, at most 80 columns wide: the head once, a heading for each trace, a row for each
 * run with further lines if there is more to say, and the row of VulkanMemoryAllocator. */
void tool_report_print_head(const struct tool_report* report);
void tool_report_print_trace(const struct tool_report* report);
void tool_report_print_row(const struct tool_report* report);
void tool_report_print_vma(const struct tool_vma_outcome* vma);

#endif
