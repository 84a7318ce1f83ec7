/*
 * Reads a text file block by block, plain or gzip, so that a caller stops at the first wrong line
 * and never has the whole file in memory. A gzip stream must be complete. Several members in
 * sequence form one stream. No globals; safe from any thread.
 */
#ifndef MAAR_SUPPORT_SOURCE_H
#define MAAR_SUPPORT_SOURCE_H

#include <stdint.h>

#include "readfile.h"

/* The most bytes of text, 0 for no limit. */
struct support_source_limits {
    uint64_t plain;    /* of a plain file */
    uint64_t expanded; /* of an expanded gzip stream: a small file may expand to a thousandfold */
};

struct support_source;

/* Opens a file. Returns NULL and sets an error on failure. `path` must outlive the source. */
struct support_source* support_source_open(const char* path,
                                           const struct support_source_limits* limits,
                                           struct support_error* error);
/* Reads at most `room` bytes of text, which is above 0. *got is 0 only at the end. Returns false
 * and sets an error when the file cannot be read, is damaged or is too large. */
bool support_source_read(struct support_source* source, char* out, size_t room, size_t* got,
                         struct support_error* error);
/* Closes a source, which may be NULL. */
void support_source_close(struct support_source* source);

#endif
