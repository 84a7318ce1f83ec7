/*
 * Finds profiles, traces and frame graphs by name. The command searches these folders:
 * $MAAR_DATA_DIR, ../share/maar beside the program, the sources from which the program was built,
 * and the folder of the installation. Single-threaded.
 */
#ifndef MAAR_TOOL_DATA_H
#define MAAR_TOOL_DATA_H

#include <stdbool.h>
#include <stddef.h>

/* The kinds of data that have names. */
enum tool_data_kind {
    TOOL_DATA_PROFILES = 0,
    TOOL_DATA_TRACES = 1,
    TOOL_DATA_FRAMES = 2, /* frame graphs with one queue */
    TOOL_DATA_QUEUES = 3, /* resources of frame graphs with several queues */
};

/* Sets the program's path, for systems that do not provide it. The string must outlive all use. */
void tool_data_set_program(const char* argument);

/* Finds the folder that contains the program. Returns false if it is not known. */
bool tool_data_program_folder(char* out, size_t size);

/* Finds the path of a file, or of the data with a name. Returns false when neither exists. */
bool tool_data_find(enum tool_data_kind kind, const char* name, char* out, size_t size);

struct tool_guess;

/* Offers the names of all data of a kind. */
void tool_data_guess(enum tool_data_kind kind, struct tool_guess* guess);

/* Prints that no data has the name, the folders that were searched, and the nearest name. */
void tool_data_complain(enum tool_data_kind kind, const char* name);

/* Prints the names of all data of a kind, one name on each line. Returns false when there are
 * none. */
bool tool_data_print_names(enum tool_data_kind kind);

/* Returns the file beside NAME.resources.csv whose name is NAME and a suffix, in `out`; NULL when
 * it does not exist. */
const char* tool_data_beside(const char* path, const char* suffix, char* out, size_t size);

/* Calls a function with each name of a kind, sorted, until it returns false. Prints an error and
 * returns false when there are no names; otherwise returns whether the function always returned
 * true. */
typedef bool (*tool_data_visit)(void* context, const char* name);
bool tool_data_for_each(enum tool_data_kind kind, tool_data_visit visit, void* context);

#endif
