/*
 * Whole files, read into memory and written from it. No globals; safe from any thread.
 */
#ifndef MAAR_SUPPORT_READFILE_H
#define MAAR_SUPPORT_READFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A message of the support library: one sentence, "file:line: reason" where there is a line. */
struct support_error {
    char text[512];
};

/* Fills an error. line 0: "file: reason". error may be NULL. */
#if defined(__MINGW_PRINTF_FORMAT) /* which knows %zu, unlike the system's own */
__attribute__((format(__MINGW_PRINTF_FORMAT, 4, 5)))
#elif defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void support_error_set(struct support_error* error, const char* file, size_t line,
                       const char* format, ...);

/*
 * Reads path whole. A zero byte follows the data, not counted in *size. The caller frees *data with
 * free(). Files above max_size bytes are refused; 0 is no limit. On failure *data is NULL.
 */
bool support_read_file(const char* path, size_t max_size, char** data, size_t* size,
                       struct support_error* error);

/* Writes a file whole, or says why not and leaves none: what is no plain file, a device say, stays.
 */
bool support_write_file(const char* path, const void* data, size_t size,
                        struct support_error* error);

#endif
