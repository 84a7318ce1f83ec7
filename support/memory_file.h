/*
 * A stream that collects what is printed to it, for text that is needed in memory.
 */
#ifndef MAAR_SUPPORT_MEMORY_FILE_H
#define MAAR_SUPPORT_MEMORY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct support_memory_file {
    FILE* file; /* to print to */
    char* text; /* after support_memory_file_close: a zero follows it; free it */
    size_t size;
};

/* Returns whether there is a stream; without one, out->file is NULL. */
bool support_memory_file_open(struct support_memory_file* out);

/* Closes the stream. Returns whether everything is in the text; without it, out->text is NULL. */
bool support_memory_file_close(struct support_memory_file* out);

#endif
