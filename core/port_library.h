/*
 * Libraries that are opened while the program runs, and the functions in them. A library
 * stays in the process when it is closed, because drivers start threads and leave handlers for the
 * end of the program.
 */
#ifndef MAAR_CORE_PORT_LIBRARY_H
#define MAAR_CORE_PORT_LIBRARY_H

#include <stdbool.h>

/* Size of the buffer for the reason of a failure, with the terminating zero byte. */
enum { MAAR_LIBRARY_REASON_SIZE = 160 };
/* Size of the buffer for the path of a library, with the terminating zero byte. */
enum { MAAR_LIBRARY_PATH_SIZE = 512 };

struct maar_library {
    void* handle; /* NULL: not open */
};

/* Any function; the caller casts it to its own type. */
typedef void (*maar_library_function)(void);

/* Opens a library, resolves all its symbols at once and hides them from other libraries. path is
 * UTF-8. If path has no folder, the system searches its own folders. On failure it returns false
 * and writes the reason. */
bool maar_library_open(const char* path, struct maar_library* library,
                       char reason[MAAR_LIBRARY_REASON_SIZE]);
/* Opens a library that the program has loaded already and whose file name begins with `start`, for
 * example a copy that another component has brought along. path receives the name of its file. A
 * library whose path does not fit counts as absent. Known for Linux and Windows; elsewhere it
 * returns false. */
bool maar_library_open_loaded(const char* start, struct maar_library* library,
                              char path[MAAR_LIBRARY_PATH_SIZE]);
/* Closes a library; its code stays in the process. */
void maar_library_close(struct maar_library* library);
/* Returns the function of that name, or NULL. */
maar_library_function maar_library_find(const struct maar_library* library, const char* name);

#endif
