/*
 * Memory traffic from a trace of either version, or from a capture. Single-threaded.
 */
#ifndef MAAR_TOOL_TRAFFIC_H
#define MAAR_TOOL_TRAFFIC_H

#include "support/trace.h"

/* Loads a file; a capture becomes a trace of version 2. On failure the trace is empty. */
bool tool_traffic_load(const char* path, struct support_trace* trace, struct support_error* error);

#endif
