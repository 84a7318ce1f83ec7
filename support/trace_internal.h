/*
 * What the files of the trace reader share: trace.c (files and lines), trace_fields.c (columns,
 * ids, arrays), trace_note.c (notes), trace_rows.c (resources), trace_things.c (other objects of
 * version 2).
 */
#ifndef MAAR_SUPPORT_TRACE_INTERNAL_H
#define MAAR_SUPPORT_TRACE_INTERNAL_H

#include "trace.h"

enum {
    TRACE_COLUMNS_1 = 10,
    TRACE_COLUMNS_2 = 16,
};

/* The longest line. */
enum { TRACE_MAX_LINE = 65536 };

/* The most bytes of an object in version 2, so that sums do not overflow soon. */
#define TRACE_MOST_BYTES ((uint64_t)1 << 52)

enum trace_column {
    COLUMN_OP,
    COLUMN_ID,
    COLUMN_KIND,
    COLUMN_SIZE,
    COLUMN_ALIGNMENT,
    COLUMN_TYPES,
    COLUMN_STREAM,
    COLUMN_TIME,
    COLUMN_USAGE,
    COLUMN_NOTE,
    COLUMN_DEVICE, /* version 2 from here on */
    COLUMN_OBJECT,
    COLUMN_OFFSET,
    COLUMN_FLAGS,
    COLUMN_VALUE,
    COLUMN_NAME,
};

struct trace_field {
    const char* text;
    size_t size;
};

/* The arrays of a trace, for their capacities. */
enum trace_array {
    ARRAY_EVENTS,
    ARRAY_RESOURCES,
    ARRAY_IMAGES,
    ARRAY_RESERVED,
    ARRAY_DEVICES,
    ARRAY_QUEUES,
    ARRAY_MEMORIES,
    ARRAY_FAILURES,
    ARRAY_BINDS,
    ARRAY_SEMAPHORES,
    ARRAY_SUBMITS,
    ARRAY_POINTS,
    ARRAY_USES,
    ARRAY_REACHED,
    ARRAY_BUDGETS,
    ARRAY_STEPS,
    ARRAY_COUNT,
};

struct trace_reader {
    struct support_trace* trace;
    struct support_error* error;
    const char* name;
    size_t line;
    size_t columns; /* TRACE_COLUMNS_1 or _2 */
    struct trace_field fields[TRACE_COLUMNS_2];
    size_t capacities[ARRAY_COUNT];
    size_t text_capacity;
    uint32_t* table; /* resources by hash of the id: 0, or index + 1, and TRACE_RESERVED_BIT */
    size_t table_size;
    uint64_t live_bytes;
    size_t live_count;
    uint64_t time_ns; /* of the row; in version 2, times do not fall */
    uint32_t stream;
    struct support_trace_step step; /* version 2: the row's */
};

/* Marks an entry of the table as an index into reserved resources. */
#define TRACE_RESERVED_BIT ((uint32_t)1 << 31)

/* ---- trace_fields.c ---- */

/* Reads all of a field as an unsigned number. */
bool trace_number(struct trace_field field, unsigned base, uint64_t* value);
bool trace_is(struct trace_field field, const char* word);

/* Sets the error "column 'text' reason" and returns false. */
bool trace_fail(struct trace_reader* reader, enum trace_column column, const char* reason);

bool trace_decimal(struct trace_reader* reader, enum trace_column column, uint64_t max,
                   uint64_t* value);
/* Reads a decimal number of 32 bits, or the fallback when the column is empty. */
bool trace_decimal_or(struct trace_reader* reader, enum trace_column column, uint32_t max,
                      uint32_t fallback, uint32_t* value);
/* Reads a hexadecimal number with 0x, or the fallback when the column is empty. */
bool trace_hex(struct trace_reader* reader, enum trace_column column, unsigned bits,
               uint64_t fallback, uint64_t* value);
bool trace_hex32(struct trace_reader* reader, enum trace_column column, uint32_t fallback,
                 uint32_t* value);
/* Reads the index of a word in a list that NULL ends. Names the words in `reason`. */
bool trace_word(struct trace_reader* reader, enum trace_column column, const char* const* words,
                const char* reason, uint32_t* index);
/* Reads a name, whose commas, percent signs and control characters are written as %XX. */
bool trace_name(struct trace_reader* reader, uint32_t* text);

/* Appends a zeroed element to the array at `items`. Returns false when out of memory. */
bool trace_push(struct trace_reader* reader, void* items, size_t* count, enum trace_array which,
                size_t element);

/* Finds an id's place in the table, which must not be empty. */
size_t trace_slot(const struct trace_reader* reader, uint64_t id);
/* Keeps the table at most half full. */
bool trace_table_grow(struct trace_reader* reader);

/* ---- trace_note.c ---- */

enum trace_note_form {
    NOTE_DECIMAL,
    NOTE_HEX,
    NOTE_BOX, /* AxBxC: three values */
};

struct trace_note_key {
    const char* key;
    enum trace_note_form form;
    uint64_t max;
    uint64_t* values;
};

/* Reads "key=value key=value", each key at most once. *seen receives a bit for each key. */
bool trace_note(struct trace_reader* reader, const struct trace_note_key* keys, size_t count,
                uint32_t* seen);

/* Reads the note of a resource's row. */
bool trace_resource_note(struct trace_reader* reader, struct support_trace_resource* resource);

/* ---- trace_rows.c ---- */

bool trace_read_row_1(struct trace_reader* reader);
bool trace_read_row_2(struct trace_reader* reader);

/* Finds the resource of a column with an id, for rows about living resources. */
bool trace_find_resource(struct trace_reader* reader, enum trace_column column, uint32_t* index,
                         bool* is_reserved);
/* Reads the device of a row. With `required`, the column must not be empty. */
bool trace_device(struct trace_reader* reader, bool required, uint32_t* device);
/* Reads the memory of a row, which must be alive; SUPPORT_TRACE_NONE for an empty column. */
bool trace_live_memory(struct trace_reader* reader, enum trace_column column, uint32_t* memory);

/* ---- trace_things.c ---- */

/* The readers of rows about other objects. Each sets reader->step.index. */
bool trace_read_device(struct trace_reader* reader);
bool trace_read_heap(struct trace_reader* reader);
bool trace_read_type(struct trace_reader* reader);
bool trace_read_queue(struct trace_reader* reader);
bool trace_read_device_end(struct trace_reader* reader);
bool trace_read_memory(struct trace_reader* reader);
bool trace_read_memory_failed(struct trace_reader* reader);
bool trace_read_memory_end(struct trace_reader* reader);
bool trace_read_map(struct trace_reader* reader);
bool trace_read_mark(struct trace_reader* reader);
bool trace_read_budget(struct trace_reader* reader);
bool trace_read_bind(struct trace_reader* reader);
bool trace_read_pages(struct trace_reader* reader);

/* ---- trace_times.c ---- */

/* The readers of rows about time. Each sets reader->step.index. */
bool trace_read_semaphore(struct trace_reader* reader);
bool trace_read_semaphore_end(struct trace_reader* reader);
bool trace_read_submit(struct trace_reader* reader);
bool trace_read_wait(struct trace_reader* reader);
bool trace_read_signal(struct trace_reader* reader);
bool trace_read_use(struct trace_reader* reader);
bool trace_read_reached(struct trace_reader* reader);

#endif
