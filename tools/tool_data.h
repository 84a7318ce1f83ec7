/*
 * Where the command finds profiles, traces and frame graphs by name: in $MAAR_DATA_DIR, beside the
 * program
 * (../share/maar), in the sources that it was built from, and where it was to be installed.
 * Single-threaded.
 */
#ifndef MAAR_TOOL_DATA_H
#define MAAR_TOOL_DATA_H

#include <stdbool.h>
#include <stddef.h>

/* What can be found by name. */
enum tool_data_kind {
    TOOL_DATA_PROFILES = 0,
    TOOL_DATA_TRACES = 1,
    TOOL_DATA_FRAMES = 2, /* frame graphs of one queue */
    TOOL_DATA_QUEUES = 3, /* the resources of those of several */
};

/* Tells where the program is, for systems that do not say it themselves. Must outlive all use. */
void tool_data_set_program(const char* argument);

/* The path of a file that is called so, or of data of that name. False when there is neither. */
bool tool_data_find(enum tool_data_kind kind, const char* name, char* out, size_t size);

/* Says that there is no data of that name, and where it was looked for. */
void tool_data_complain(enum tool_data_kind kind, const char* name);

/* Prints the names of all data of a kind, one a line; false when there is none. */
bool tool_data_print_names(enum tool_data_kind kind);

#endif
