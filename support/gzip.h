/*
 * Gzip in memory. A stream must be whole: truncated or trailing bytes are errors, several members
 * after each other are one stream. No globals; safe from any thread.
 */
#ifndef MAAR_SUPPORT_GZIP_H
#define MAAR_SUPPORT_GZIP_H

#include "readfile.h"

/* Whether the data begin as gzip does. */
bool support_is_gzip(const void* data, size_t size);

/*
 * Expands a gzip stream. A zero byte follows the result, not counted in *out_size; the caller frees
 * *out with free(). Results above max_size bytes are refused; 0 is no limit. name is for messages.
 */
bool support_gunzip(const char* name, const void* data, size_t size, size_t max_size, char** out,
                    size_t* out_size, struct support_error* error);

#endif
