/*
 * What the files of the reader of frame graphs share: cells as numbers, and messages that name the
 * line. A file of its own reads passes and edges.
 */
#ifndef MAAR_SUPPORT_FRAME_READER_H
#define MAAR_SUPPORT_FRAME_READER_H

#include "frame_graph.h"

/* A table that is being read, and where the messages go. */
struct graph_reader {
    struct support_frame_graph* graph;
    struct support_error* error;
    const char* name;
    const struct support_table* table;
    size_t row;
};

/* Complains about a cell of the row; returns false. */
bool graph_fail(const struct graph_reader* reader, size_t column, const char* reason);

/* Reads digits; the end of them, or NULL when there are none or too many for 64 bits. */
const char* graph_digits(const char* text, unsigned base, uint64_t* value);

/* A number of a cell; fallback where the column or the cell's text is missing. */
bool graph_optional(const struct graph_reader* reader, size_t column, uint64_t fallback,
                    uint64_t most, uint64_t* value);

/* A number that must be there. */
bool graph_number(const struct graph_reader* reader, size_t column, uint64_t most, uint64_t* value);

/* Finds a column that must be there. */
bool graph_column(const struct graph_reader* reader, const char* column, size_t* index);

/* A cell's text, empty where the column is missing. */
const char* graph_text(const struct graph_reader* reader, size_t column);

/* How many rows there are, which the planner must be able to take. */
bool graph_count(const struct graph_reader* reader, uint32_t most, const char* what,
                 uint32_t* count);

/* Zeroed elements, at least one; complains when there is no memory. */
void* graph_allocate(const struct graph_reader* reader, size_t count, size_t size);

/* Passes and their queues. */
bool graph_read_passes(struct graph_reader* reader);

/* Edges between passes that were read before; gives every pass its place. */
bool graph_read_edges(struct graph_reader* reader);

#endif
