/*
 * Rows of maar-trace/2 in a growing text.
 */
#ifndef MAAR_SUPPORT_TRACE_TEXT_H
#define MAAR_SUPPORT_TRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_text {
    char* data;
    size_t size, capacity;
    bool failed; /* out of memory; further rows are dropped */
};

/* An empty number. */
#define TRACE_TEXT_EMPTY UINT64_MAX

enum { TRACE_TEXT_NOTE = 320 };

struct trace_text_row {
    const char* op;
    const char* kind; /* or NULL */
    const char* name; /* or NULL */
    char note[TRACE_TEXT_NOTE];
    uint64_t id, size, alignment, device, object, offset, value; /* decimal */
    uint64_t types, usage, flags;                                /* hexadecimal */
    uint64_t time_ns;
    uint32_t stream;
};

/* The header row. */
void trace_text_begin(struct trace_text* text);

/* Empties all columns but these. */
void trace_text_clear(struct trace_text_row* row, const char* op, uint32_t stream,
                      uint64_t time_ns);

void trace_text_add(struct trace_text* text, const struct trace_text_row* row);

#endif
