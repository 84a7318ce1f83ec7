/*
 * The result of a replay on standard output: a JSON object on a line, or a row of a table.
 */
#ifndef MAAR_TOOL_REPORT_H
#define MAAR_TOOL_REPORT_H

#include "tool_player.h"

/* What a replay was. */
struct tool_report {
    const char* trace;
    const char* device;
    const char* driver;
    enum tool_strategy strategy;
    uint32_t threads;
    bool validated;
    bool simulated;
    uint64_t trace_peak_live_bytes;
    struct tool_outcome outcome;
};

/* One line of JSON; false when out of memory or when it cannot be written. */
bool tool_report_print_json(const struct tool_report* report);

/* A row of the table, and before the first one its head. */
void tool_report_print_head(const struct tool_report* report);
void tool_report_print_row(const struct tool_report* report);

#endif
