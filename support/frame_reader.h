/*
 * Functions that the files of the reader of frame graphs share: cells as numbers, and messages that
 * name the line. A separate file reads passes and edges.
 */
#ifndef MAAR_SUPPORT_FRAME_READER_H
#define MAAR_SUPPORT_FRAME_READER_H

#include "frame_graph.h"

/* A table that is being read, and the destination of its messages. */
struct graph_reader {
    struct support_frame_graph* graph;
    struct support_error* error;
    const char* name;
    const struct support_table* table;
    size_t row;
};

/* Sets an error about a cell of the row. Returns false. */
bool graph_fail(const struct graph_reader* reader, size_t column, const char* reason);

/* Reads digits. Returns their end, or NULL if no digit exists or the number exceeds 64 bits. */
const char* graph_digits(const char* text, unsigned base, uint64_t* value);

/* Reads the number of a cell, or the fallback if the column or the cell's text is missing. */
bool graph_optional(const struct graph_reader* reader, size_t column, uint64_t fallback,
                    uint64_t most, uint64_t* value);

/* Reads a number that must exist. */
bool graph_number(const struct graph_reader* reader, size_t column, uint64_t most, uint64_t* value);

/* Finds a column that must exist. */
bool graph_column(const struct graph_reader* reader, const char* column, size_t* index);

/* Returns a cell's text; an empty text if the column is missing. */
const char* graph_text(const struct graph_reader* reader, size_t column);

/* Reads the number of rows, which must not exceed the planner's limit. */
bool graph_count(const struct graph_reader* reader, uint32_t most, const char* what,
                 uint32_t* count);

/* Allocates zeroed elements, at least one. Sets an error when out of memory. */
void* graph_allocate(const struct graph_reader* reader, size_t count, size_t size);

/* Reads passes and their queues. */
bool graph_read_passes(struct graph_reader* reader);

/* Reads edges between the passes that were read before, and gives every pass its place. */
bool graph_read_edges(struct graph_reader* reader);

#endif
