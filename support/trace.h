/*
 * Reads memory traces of the schema maar-trace/1 (CSV, plain or gzip-compressed) into a compact
 * array of events.
 *
 * The reader is strict. The header must be exact. A missing column, a bad number, an id used twice,
 * or a free of an unknown or freed id is an error "file:line: reason". Ids are renumbered densely
 * in the order of their allocation, so that a replayer needs an array instead of a map. No globals;
 * safe from any thread.
 */
#ifndef MAAR_SUPPORT_TRACE_H
#define MAAR_SUPPORT_TRACE_H

#include "readfile.h"

#include <stdint.h>

enum support_trace_op {
    SUPPORT_TRACE_ALLOC = 0,
    SUPPORT_TRACE_FREE = 1,
    SUPPORT_TRACE_FRAME = 2,
};

enum support_trace_kind {
    SUPPORT_TRACE_BUFFER = 0,
    SUPPORT_TRACE_IMAGE_LINEAR = 1,
    SUPPORT_TRACE_IMAGE_OPTIMAL = 2,
};

/* The contents of the note of an image row. */
struct support_trace_image {
    uint32_t format; /* VkFormat; 0 when the row has no note */
    uint32_t width, height, depth;
    uint32_t mips, layers, samples;
};

/* One resource: the alloc row. */
struct support_trace_resource {
    uint64_t id; /* as in the file */
    uint64_t size, alignment;
    uint64_t alloc_time_ns, free_time_ns; /* free_time_ns is UINT64_MAX when never freed */
    uint32_t type_bits;                   /* all ones when the column is empty */
    uint32_t usage;                       /* 0 when unknown */
    uint32_t image;                       /* index into images, or UINT32_MAX */
    uint32_t alloc_event, free_event;     /* indices into events; UINT32_MAX when never freed */
    uint8_t kind;                         /* enum support_trace_kind */
};

/* One row. */
struct support_trace_event {
    uint64_t time_ns;
    uint32_t resource; /* index into resources; UINT32_MAX for a frame */
    uint32_t stream;
    uint8_t op; /* enum support_trace_op */
};

struct support_trace {
    char name[256]; /* the file's name without folder, .csv and .gz */
    struct support_trace_event* events;
    size_t event_count;
    struct support_trace_resource* resources;
    size_t resource_count;
    struct support_trace_image* images;
    size_t image_count;
    size_t frame_count;
    uint32_t stream_count;    /* one more than the highest stream */
    uint64_t peak_live_bytes; /* largest sum of sizes alive at a time */
    size_t peak_live_count;   /* most resources alive at a time */
    size_t peak_event;        /* the event after which the bytes peak first */
};

/* Loads a file. On failure the trace is empty, and the error says file, line and reason. */
bool support_trace_load(const char* path, struct support_trace* trace, struct support_error* error);

/* Loads a trace from memory, plain or gzip-compressed. Messages call it `name`. */
bool support_trace_parse(const char* name, const void* data, size_t size,
                         struct support_trace* trace, struct support_error* error);

/* Writes the name of a file's trace: the file's name without folder, .csv and .gz. */
void support_trace_take_name(const char* path, char name[256]);

/* Frees the contents of a trace and empties it. */
void support_trace_release(struct support_trace* trace);

/* Parses "format=N extent=WxHxD mips=N layers=N samples=N", all required, in any order. */
bool support_trace_parse_note(const char* note, size_t size, struct support_trace_image* image);

#endif
