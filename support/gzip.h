/*
 * Gzip in memory. A stream must be complete: missing and trailing bytes are errors. Several members
 * in sequence form one stream. No globals; safe from any thread.
 */
#ifndef MAAR_SUPPORT_GZIP_H
#define MAAR_SUPPORT_GZIP_H

#include "readfile.h"

/* Returns whether data begin like a gzip stream. */
bool support_is_gzip(const void* data, size_t size);

/*
 * Expands a gzip stream. A zero byte follows the result, which *out_size does not count. The caller
 * frees *out with free(). A result above `max_size` bytes is an error; 0 means no limit. Messages
 * contain `name`.
 */
bool support_gunzip(const char* name, const void* data, size_t size, size_t max_size, char** out,
                    size_t* out_size, struct support_error* error);

#endif
