/*
 * Plays a trace with uses (maar-trace/2) through a manager of residents whose device memory is
 * smaller than what lives. Single-threaded.
 */
#ifndef MAAR_TOOL_RESIDENTS_H
#define MAAR_TOOL_RESIDENTS_H

#include "tool_device.h"

#include "support/trace_uses.h"

/* Of a budget, one is 0. */
struct tool_budget {
    uint64_t bytes;
    uint32_t percent; /* of the trace's most bytes in use at a time */
    bool is_least;    /* the least that leaves no submission out is wanted */
};

/* The results. Bytes of residents are those of this device. */
struct tool_residents_outcome {
    uint64_t budget, host_budget;
    uint64_t trace_peak_bytes;          /* of the trace: in use at a time */
    uint64_t residents, resident_bytes; /* that were made */
    uint64_t stand_ins; /* of them, buffers in the place of what cannot be moved here */
    uint64_t too_large; /* resources larger than the budget, which have no resident */
    uint64_t submissions, uses;
    uint64_t unmet_submissions; /* that did not fit, and were left out */
    uint64_t missing_bytes;     /* the most that one of them lacked */
    uint64_t restored_bytes, restored_count;
    uint64_t written_bytes, written_count; /* from the device */
    uint64_t evictions;                    /* to make room, written ones and others */
    uint64_t peak_bytes;                   /* of device memory */
    double ns_per_use;                     /* of maarBeginUse and maarEndUse */
    bool broken;                           /* the run was broken off, and the reason printed */
};

/* Plays the uses of a device of the trace. tool is open, with `residents` among its options. */
void tool_residents_run(struct tool_device* tool, const struct support_trace* trace,
                        const struct tool_budget* budget, struct tool_residents_outcome* outcome);

/* ---- tool_residents_report.c ---- */

/* Parses the argument of --budget: bytes, percent, or least. Prints an error and returns false. */
bool tool_budget_parse(const char* text, struct tool_budget* budget);

/* Opens the device, plays the uses of a trace and prints the result: an object of JSON on one line,
 * or rows of a table, with a head if *has_head is not set yet. The least budget is found by playing
 * several. Returns an exit code. */
int tool_budget_replay(const struct tool_device_options* options, const struct support_trace* trace,
                       const struct tool_budget* budget, bool json, bool* has_head);

#endif
