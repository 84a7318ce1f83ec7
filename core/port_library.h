/*
 * Libraries that are opened while the program runs, and the functions in them. One that was opened
 * stays in the process when it is closed: drivers start threads and leave handlers for the
 * program's end, and must not be taken from under them.
 */
#ifndef MAAR_CORE_PORT_LIBRARY_H
#define MAAR_CORE_PORT_LIBRARY_H

#include <stdbool.h>

/* Room for a reason, with its zero. */
enum { MAAR_LIBRARY_REASON_SIZE = 160 };

struct maar_library {
    void* handle; /* NULL: not open */
};

/* Any function; to be cast to what it is. */
typedef void (*maar_library_function)(void);

/* Resolves everything at once and shows its symbols to nobody else. path: UTF-8; the system looks
 * for one without a folder where it keeps libraries. False, with the reason, on failure. */
bool maar_library_open(const char* path, struct maar_library* library,
                       char reason[MAAR_LIBRARY_REASON_SIZE]);
void maar_library_close(struct maar_library* library);
/* NULL where there is none of that name. */
maar_library_function maar_library_find(const struct maar_library* library, const char* name);

#endif
