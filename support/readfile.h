/*
 * Reads whole files into memory and writes them from memory. No globals; safe from any thread.
 */
#ifndef MAAR_SUPPORT_READFILE_H
#define MAAR_SUPPORT_READFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A message of the support library: one sentence of the form "file:line: reason", or without the
 * line. */
struct support_error {
    char text[512];
};

/* Fills in an error. With line 0 the form is "file: reason". `error` may be NULL. */
#if defined(__MINGW_PRINTF_FORMAT) /* supports %zu, unlike the system's own format */
__attribute__((format(__MINGW_PRINTF_FORMAT, 4, 5)))
#elif defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void support_error_set(struct support_error* error, const char* file, size_t line,
                       const char* format, ...);

/*
 * Reads the whole file at `path`. A zero byte follows the data, which *size does not count. The
 * caller frees *data with free(). A file above `max_size` bytes is an error; 0 means no limit. On
 * failure *data is NULL.
 */
bool support_read_file(const char* path, size_t max_size, char** data, size_t* size,
                       struct support_error* error);

/* Looks at the first bytes of a file, at least 4,096 if the file has so many. Returns NULL, or what
 * is wrong with them. */
typedef const char* (*support_check_head)(const char* head, size_t size);

/* Reads a whole file, and stops after the first bytes if these are wrong. */
bool support_read_checked_file(const char* path, size_t max_size, support_check_head check,
                               char** data, size_t* size, struct support_error* error);

#if !defined(_WIN32)
/* Returns the absolute path, without links, of a file that exists or could be made: the target of a
 * symbolic link even if the target does not exist. The caller frees it. Returns NULL if there is no
 * such folder, or out of memory. */
char* support_resolve_path(const char* path);
#endif

/* Writes a whole file. A plain file is written under another name and then renamed: on failure the
 * old file stays. A symbolic link stays a link, and its target is written. What is no plain file,
 * for example a device, is written in place. */
bool support_write_file(const char* path, const void* data, size_t size,
                        struct support_error* error);

#endif
