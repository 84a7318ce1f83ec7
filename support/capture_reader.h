/*
 * Reads captures, the files of the schema maar-capture/1 (maar/capture_file.h), entry by entry,
 * plain or compressed with gzip. It never has the whole file in memory.
 *
 * The reader trusts nothing: a wrong header, a continuation without an entry in a complete capture,
 * a truncated gzip stream and the like are errors "file: byte N: reason". Records that a killed
 * process left unfinished are skipped and counted. No globals; safe from any thread.
 */
#ifndef MAAR_SUPPORT_CAPTURE_READER_H
#define MAAR_SUPPORT_CAPTURE_READER_H

#include "readfile.h"

#include <maar/capture_file.h>
#include <stdint.h>

/* An entry. The payload is valid until the next call. */
struct support_capture_entry {
    uint32_t kind; /* a MaarCaptureKind, or a number that this version does not know */
    uint32_t thread;
    uint64_t time_ns;
    uint64_t byte; /* where the entry begins in the (expanded) file */
    const uint8_t* payload;
    size_t size;
};

enum support_capture_step {
    SUPPORT_CAPTURE_ENTRY, /* there is an entry */
    SUPPORT_CAPTURE_END,   /* no further entry, or none so far in a file that still grows */
    SUPPORT_CAPTURE_WRONG, /* an error */
};

struct support_capture_reader;

/* Opens a capture. With `live`, the file may still grow: after SUPPORT_CAPTURE_END, a later call
 * may give another entry. Returns NULL and an error on failure. */
struct support_capture_reader* support_capture_open(const char* path, bool live,
                                                    struct support_error* error);

/* Opens a capture in memory, plain, which must outlive the reader. Messages call it `name`. */
struct support_capture_reader* support_capture_open_memory(const char* name, const void* data,
                                                           size_t size,
                                                           struct support_error* error);

/* Closes a reader, which may be NULL. */
void support_capture_close(struct support_capture_reader* reader);

/* Returns the header; its texts are ended. For a live capture, the state is that of now. */
const MaarCaptureHeader* support_capture_header(struct support_capture_reader* reader);

/* Reads the next entry. */
enum support_capture_step support_capture_next(struct support_capture_reader* reader,
                                               struct support_capture_entry* entry,
                                               struct support_error* error);

/* Returns how many records were skipped because they were not finished. */
uint64_t support_capture_unfinished(const struct support_capture_reader* reader);

/* Returns whether the file ended, as far as it was read, where no writer ends one: inside a record,
 * or, while the capture is open, inside the room that it reserved. A copy that broke off does. */
bool support_capture_is_truncated(const struct support_capture_reader* reader);

/* Copies the structure of an entry: `size` bytes, the missing ones as 0. Returns false when the
 * entry has fewer than `least` bytes. */
bool support_capture_take(const struct support_capture_entry* entry, void* to, size_t size,
                          size_t least);

/* Returns text number `index` behind a structure of `size` bytes. Never NULL: a missing text is
 * empty, and a text that does not end is cut off. */
const char* support_capture_text(const struct support_capture_entry* entry, size_t size,
                                 size_t index);

/* Returns whether the first bytes of a file are those of a capture. */
bool support_is_capture(const void* data, size_t size);

#endif
