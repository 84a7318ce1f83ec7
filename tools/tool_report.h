/*
 * Prints the result of a replay: a JSON object on one line, or a row of a table.
 */
#ifndef MAAR_TOOL_REPORT_H
#define MAAR_TOOL_REPORT_H

#include "tool_player.h"

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
    struct tool_outcome outcome;
};

/* Prints one line of JSON. Returns false when out of memory or when the line cannot be written. */
bool tool_report_print_json(const struct tool_report* report);

/* Prints a row of the table, and before the first row the head. */
void tool_report_print_head(const struct tool_report* report);
void tool_report_print_row(const struct tool_report* report);

#endif
