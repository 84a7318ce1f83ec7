/*
 * Compares replays with an earlier output of maar replay --json. Single-threaded.
 */
#ifndef MAAR_TOOL_BASELINE_H
#define MAAR_TOOL_BASELINE_H

#include "tool_report.h"

struct tool_baseline;

/* Reads a file. Prints an error and returns NULL if this fails. */
struct tool_baseline* tool_baseline_open(const char* path);

void tool_baseline_close(struct tool_baseline* baseline);

/*
 * Finds the run of the same trace, device, strategy and number of threads, and fills in the
 * report's difference. A run is worse if it holds more bytes, calls vkAllocateMemory more often or
 * fails more often, by more than `tolerance` percent. Prints what is worse, or that there is no
 * such run. Returns whether the run was found and is not worse.
 */
bool tool_baseline_compare(const struct tool_baseline* baseline, double tolerance,
                           struct tool_report* report);

#endif
