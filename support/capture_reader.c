/*
 * Reads captures; see capture_reader.h. A window of records moves over the file. An entry is copied
 * out of it, so that its payload lies in one piece.
 */
#if !defined(_WIN32) && !defined(_XOPEN_SOURCE)
#define _XOPEN_SOURCE 700 /* pread */
#endif

#include "support/capture_reader.h"
#include "support/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#if !defined(_WIN32)
#include <fcntl.h>
#include <unistd.h>
#endif

enum {
    WINDOW_RECORDS = 4096,
    WINDOW_SIZE = WINDOW_RECORDS * MAAR_CAPTURE_RECORD_SIZE,
    MOST_PAYLOAD =
        MAAR_CAPTURE_FIRST_PAYLOAD + MAAR_CAPTURE_MOST_CONTINUATIONS * MAAR_CAPTURE_NEXT_PAYLOAD,
    /* A live file: a record that is still empty when this many behind it are complete belongs to a
     * thread that was killed or stopped. */
    LIVE_PATIENCE = 2048,
};

/* 64 GiB are a thousand million records; a gzip stream may expand to 8 GiB. */
static const struct support_source_limits capture_limits = {
    .plain = (uint64_t)64 << 30,
    .expanded = (uint64_t)8 << 30,
};

struct support_capture_reader {
    char name[256];
    struct support_source* source; /* of a file that does not grow */
    int descriptor;                /* of a live file, or -1 */
    const uint8_t* memory;         /* of a capture in memory */
    size_t memory_size;
    bool live;
    MaarCaptureHeader header;
    uint64_t byte; /* of the window's first byte in the file */
    uint64_t unfinished;
    size_t used, filled; /* bytes of the window: consumed, and in all */
    uint8_t window[WINDOW_SIZE];
    uint8_t payload[MOST_PAYLOAD + 1];
};

bool support_is_capture(const void* data, size_t size)
{
    return size >= sizeof MAAR_CAPTURE_MAGIC &&
           memcmp(data, MAAR_CAPTURE_MAGIC, sizeof MAAR_CAPTURE_MAGIC) == 0;
}

/* Reads up to `room` bytes that follow the window. */
static bool read_more(struct support_capture_reader* reader, uint8_t* out, size_t room, size_t* got,
                      struct support_error* error)
{
    *got = 0;
    if (reader->source != NULL) {
        return support_source_read(reader->source, (char*)out, room, got, error);
    }
    const uint64_t at = reader->byte + reader->filled;
    if (reader->memory != NULL) {
        const size_t left = at < reader->memory_size ? reader->memory_size - (size_t)at : 0;
        *got = left < room ? left : room;
        memcpy(out, reader->memory + (left > 0 ? at : 0), *got);
        return true;
    }
#if !defined(_WIN32)
    const ssize_t size = pread(reader->descriptor, out, room, (off_t)at);
    if (size < 0) {
        support_error_set(error, reader->name, 0, "cannot be read: %s", strerror(errno));
        return false;
    }
    *got = (size_t)size;
#endif
    return true;
}

/* Moves the rest of the window to its start, and fills it. */
static bool fill_window(struct support_capture_reader* reader, struct support_error* error)
{
    memmove(reader->window, reader->window + reader->used, reader->filled - reader->used);
    reader->byte += reader->used;
    reader->filled -= reader->used;
    reader->used = 0;
    while (reader->filled < WINDOW_SIZE) {
        size_t got = 0;
        if (!read_more(reader, reader->window + reader->filled, WINDOW_SIZE - reader->filled, &got,
                       error)) {
            return false;
        }
        if (got == 0) {
            break;
        }
        reader->filled += got;
    }
    return true;
}

/* Forgets what a live window has read behind its consumed part: it may have changed. */
static bool read_again(struct support_capture_reader* reader, struct support_error* error)
{
    reader->byte += reader->used;
    reader->used = 0;
    reader->filled = 0;
    return fill_window(reader, error);
}

static const char* find_header_fault(const MaarCaptureHeader* header, size_t size)
{
    if (!support_is_capture(header, size)) {
        return "is not a capture: it does not begin with maar-capture/1";
    }
    if (size < sizeof *header) {
        return "is shorter than a capture's header";
    }
    if (header->recordSize != MAAR_CAPTURE_RECORD_SIZE) {
        return header->recordSize == (uint32_t)MAAR_CAPTURE_RECORD_SIZE << 24
                   ? "was written by a machine of another byte order"
                   : "has records of another size than 64 bytes";
    }
    if (header->headerSize < sizeof *header || header->headerSize % MAAR_CAPTURE_RECORD_SIZE != 0 ||
        header->headerSize > (1u << 20)) {
        return "has a header of an impossible size";
    }
    if (header->origin != MAAR_CAPTURE_ORIGIN_LAYER &&
        header->origin != MAAR_CAPTURE_ORIGIN_ALLOCATOR) {
        return "has an unknown origin";
    }
    return NULL;
}

/* Consumes bytes of the file. */
static bool skip_bytes(struct support_capture_reader* reader, uint64_t count,
                       struct support_error* error)
{
    while (count > 0) {
        if (reader->used == reader->filled &&
            (!fill_window(reader, error) || reader->filled == 0)) {
            return false;
        }
        const uint64_t left = reader->filled - reader->used;
        const uint64_t step = count < left ? count : left;
        reader->used += (size_t)step;
        count -= step;
    }
    return true;
}

static bool read_header(struct support_capture_reader* reader, struct support_error* error)
{
    if (!fill_window(reader, error)) {
        return false;
    }
    const size_t size =
        reader->filled < sizeof reader->header ? reader->filled : sizeof reader->header;
    memcpy(&reader->header, reader->window, size);
    reader->header.program[sizeof reader->header.program - 1] = 0;
    reader->header.arguments[sizeof reader->header.arguments - 1] = 0;
    const char* const fault = find_header_fault(&reader->header, reader->filled);
    if (fault != NULL) {
        support_error_set(error, reader->name, 0, "byte 0: the file %s", fault);
        return false;
    }
    if (!skip_bytes(reader, reader->header.headerSize, error)) {
        support_error_set(error, reader->name, 0, "byte %zu: the file ends inside its header",
                          reader->filled);
        return false;
    }
    return true;
}

static struct support_capture_reader* make_reader(const char* name, struct support_error* error)
{
    struct support_capture_reader* const reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        support_error_set(error, name, 0, "out of memory");
        return NULL;
    }
    (void)snprintf(reader->name, sizeof reader->name, "%s", name);
    reader->descriptor = -1;
    return reader;
}

static struct support_capture_reader* begin_reading(struct support_capture_reader* reader,
                                                    struct support_error* error)
{
    if (!read_header(reader, error)) {
        support_capture_close(reader);
        return NULL;
    }
    return reader;
}

struct support_capture_reader* support_capture_open(const char* path, bool live,
                                                    struct support_error* error)
{
    struct support_capture_reader* const reader = make_reader(path, error);
    if (reader == NULL) {
        return NULL;
    }
#if !defined(_WIN32)
    if (live) {
        reader->live = true;
        reader->descriptor = open(path, O_RDONLY | O_CLOEXEC);
        if (reader->descriptor < 0) {
            support_error_set(error, path, 0, "%s", strerror(errno));
            support_capture_close(reader);
            return NULL;
        }
        return begin_reading(reader, error);
    }
#else
    (void)live;
#endif
    reader->source = support_source_open(reader->name, &capture_limits, error);
    if (reader->source == NULL) {
        support_capture_close(reader);
        return NULL;
    }
    return begin_reading(reader, error);
}

struct support_capture_reader* support_capture_open_memory(const char* name, const void* data,
                                                           size_t size, struct support_error* error)
{
    static const uint8_t nothing[1];
    struct support_capture_reader* const reader = make_reader(name, error);
    if (reader == NULL) {
        return NULL;
    }
    reader->memory = size > 0 ? data : nothing;
    reader->memory_size = size;
    return begin_reading(reader, error);
}

void support_capture_close(struct support_capture_reader* reader)
{
    if (reader == NULL) {
        return;
    }
    support_source_close(reader->source);
#if !defined(_WIN32)
    if (reader->descriptor >= 0) {
        (void)close(reader->descriptor);
    }
#endif
    free(reader);
}

const MaarCaptureHeader* support_capture_header(struct support_capture_reader* reader)
{
#if !defined(_WIN32)
    if (reader->live) {
        uint32_t state = 0;
        const off_t at = offsetof(MaarCaptureHeader, state);
        if (pread(reader->descriptor, &state, sizeof state, at) == (ssize_t)sizeof state) {
            reader->header.state = state;
        }
    }
#endif
    return &reader->header;
}

uint64_t support_capture_unfinished(const struct support_capture_reader* reader)
{
    return reader->unfinished;
}

bool support_capture_is_truncated(const struct support_capture_reader* reader)
{
    /* A writer reserves so many bytes at once, and cuts off what is left when it ends. */
    enum { RESERVED = 1 << 20 };
    const uint64_t records = reader->byte + reader->filled - reader->header.headerSize;
    return !reader->live &&
           records % (reader->header.state == MAAR_CAPTURE_STATE_OPEN ? RESERVED
                                                                      : MAAR_CAPTURE_RECORD_SIZE) !=
               0;
}

static uint16_t kind_at(const struct support_capture_reader* reader, size_t at)
{
    uint16_t kind;
    memcpy(&kind, reader->window + at, sizeof kind);
    return kind;
}

/* Whether many records behind an empty one are complete, so that nobody writes it any more. */
static bool is_abandoned(const struct support_capture_reader* reader, size_t at)
{
    const size_t far = at + (size_t)LIVE_PATIENCE * MAAR_CAPTURE_RECORD_SIZE;
    return far + MAAR_CAPTURE_RECORD_SIZE <= reader->filled &&
           kind_at(reader, far) != MAAR_CAPTURE_KIND_EMPTY;
}

/* Whether every entry was written to its end. */
static bool must_be_whole(const struct support_capture_reader* reader)
{
    return reader->header.state == MAAR_CAPTURE_STATE_COMPLETE && reader->header.lostRecords == 0;
}

/* Finds the first record of an entry. Leaves *found false at the end of what there is. */
static bool find_entry(struct support_capture_reader* reader, bool* found,
                       struct support_error* error)
{
    bool again = false;
    *found = false;
    for (;;) {
        if (reader->filled - reader->used < MAAR_CAPTURE_RECORD_SIZE) {
            if (!fill_window(reader, error)) {
                return false;
            }
            if (reader->filled < MAAR_CAPTURE_RECORD_SIZE) {
                return true;
            }
        }
        const uint16_t kind = kind_at(reader, reader->used);
        if (kind > MAAR_CAPTURE_KIND_CONTINUATION) {
            *found = true;
            return true;
        }
        if (kind == MAAR_CAPTURE_KIND_EMPTY && reader->live &&
            !is_abandoned(reader, reader->used)) {
            if (again) {
                return true;
            }
            again = true;
            if (!read_again(reader, error)) {
                return false;
            }
            continue;
        }
        if (kind == MAAR_CAPTURE_KIND_CONTINUATION) {
            if (must_be_whole(reader)) {
                support_error_set(error, reader->name, 0,
                                  "byte %" PRIu64 ": a continuation without an entry",
                                  reader->byte + reader->used);
                return false;
            }
            reader->unfinished += 1;
        }
        reader->used += MAAR_CAPTURE_RECORD_SIZE;
    }
}

/* Copies the continuations of an entry. Returns false if one of them is missing. */
static bool take_continuations(struct support_capture_reader* reader, size_t count, size_t* size)
{
    for (size_t i = 1; i <= count; ++i) {
        MaarCaptureContinuation next;
        memcpy(&next, reader->window + reader->used + i * MAAR_CAPTURE_RECORD_SIZE, sizeof next);
        if (next.kind != MAAR_CAPTURE_KIND_CONTINUATION || next.index != i) {
            return false;
        }
        memcpy(reader->payload + *size, next.payload, sizeof next.payload);
        *size += sizeof next.payload;
    }
    return true;
}

/* Reads the entry that begins at the consumed part of the window. Sets *torn if it is not whole. */
static bool take_entry(struct support_capture_reader* reader, struct support_capture_entry* entry,
                       bool* torn, bool* more, struct support_error* error)
{
    MaarCaptureRecord first;
    memcpy(&first, reader->window + reader->used, sizeof first);
    const size_t count = first.continuations;
    const size_t whole = (count + 1) * MAAR_CAPTURE_RECORD_SIZE;
    *torn = false;
    *more = true;
    if (count > MAAR_CAPTURE_MOST_CONTINUATIONS) {
        support_error_set(error, reader->name, 0,
                          "byte %" PRIu64 ": an entry of %zu continuations; %d are the most",
                          reader->byte + reader->used, count, MAAR_CAPTURE_MOST_CONTINUATIONS);
        return false;
    }
    if (reader->filled - reader->used < whole && !fill_window(reader, error)) {
        return false;
    }
    const bool there = reader->filled - reader->used >= whole;
    size_t size = sizeof first.payload;
    memcpy(reader->payload, first.payload, size);
    if (!there || !take_continuations(reader, count, &size)) {
        if (must_be_whole(reader)) {
            support_error_set(error, reader->name, 0,
                              "byte %" PRIu64 ": an entry whose %zu continuations are not there",
                              reader->byte + reader->used, count);
            return false;
        }
        /* In a live file, another thread may just be writing the rest. */
        *more = !reader->live || is_abandoned(reader, reader->used);
        *torn = true;
        reader->used += *more ? MAAR_CAPTURE_RECORD_SIZE : 0;
        reader->unfinished += *more ? 1 : 0;
        return true;
    }
    reader->payload[size] = 0;
    *entry = (struct support_capture_entry){
        .kind = first.kind,
        .thread = first.thread,
        .time_ns = first.time_ns,
        .byte = reader->byte + reader->used,
        .payload = reader->payload,
        .size = size,
    };
    reader->used += whole;
    return true;
}

enum support_capture_step support_capture_next(struct support_capture_reader* reader,
                                               struct support_capture_entry* entry,
                                               struct support_error* error)
{
    bool read_twice = false;
    for (;;) {
        bool found = false;
        bool torn = false;
        bool more = false;
        if (!find_entry(reader, &found, error)) {
            return SUPPORT_CAPTURE_WRONG;
        }
        if (!found) {
            return SUPPORT_CAPTURE_END;
        }
        if (!take_entry(reader, entry, &torn, &more, error)) {
            return SUPPORT_CAPTURE_WRONG;
        }
        if (!torn) {
            return SUPPORT_CAPTURE_ENTRY;
        }
        if (!more) {
            if (read_twice) {
                return SUPPORT_CAPTURE_END;
            }
            read_twice = true;
            if (!read_again(reader, error)) {
                return SUPPORT_CAPTURE_WRONG;
            }
        }
    }
}

bool support_capture_take(const struct support_capture_entry* entry, void* to, size_t size,
                          size_t least)
{
    const size_t there = entry->size < size ? entry->size : size;
    memcpy(to, entry->payload, there);
    memset((uint8_t*)to + there, 0, size - there);
    return entry->size >= least;
}

const char* support_capture_text(const struct support_capture_entry* entry, size_t size,
                                 size_t index)
{
    const char* const begin = (const char*)entry->payload;
    size_t at = size;
    for (; at < entry->size && index > 0; --index) {
        at += strlen(begin + at) + 1;
    }
    return at < entry->size ? begin + at : "";
}
