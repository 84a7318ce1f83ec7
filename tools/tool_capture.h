/*
 * The parts of maar capture: where the layer is, how the program runs, what files came of it.
 */
#ifndef MAAR_TOOL_CAPTURE_H
#define MAAR_TOOL_CAPTURE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOOL_CAPTURE_PATH_SIZE 4096

struct tool_capture {
    const char* prefix; /* of the files, as the user gave it */
    uint64_t limit;     /* bytes of a file, or 0 */
    bool driver_memory;
    bool uses;
    bool help;
    char** program;                    /* its name and its arguments, then NULL */
    char path[TOOL_CAPTURE_PATH_SIZE]; /* the same prefix from the root, of a file */
    char log[TOOL_CAPTURE_PATH_SIZE];  /* what the layer says */
    bool owns_log;                     /* the command made it, and deletes it */
};

/* Finds the folder of the layer's manifest. Prints an error if there is none. */
bool tool_capture_find_layer(char* folder, size_t size);

/* Sets the environment that lets the loader find the layer, and the layer its settings. Prints an
 * error on failure. */
bool tool_capture_set_environment(const struct tool_capture* settings);

/* Runs the program, and waits for it and for all processes that it leaves behind. Signals to this
 * process are passed on. Returns the exit code: the program's, 128 and the number of a signal that
 * ended it, 127 or 126 if it could not be started. */
int tool_capture_run(char** program);

struct tool_capture_files;

/* Lists the captures that the prefix has now. Returns NULL without host memory. */
struct tool_capture_files* tool_capture_list(const char* path);
void tool_capture_release(struct tool_capture_files* files);

/* Prints a line on standard error for each capture that was not there before. Returns the number of
 * them. */
size_t tool_capture_report(const char* path, const struct tool_capture_files* before);

#endif
