/*
 * Reads maar-trace/1 in one pass over the text, which grows three arrays. A hash table maps the
 * file's ids to resources during the pass. A file is read block by block, so the first wrong line
 * ends the reading.
 */
#include "support/trace.h"
#include "support/gzip.h"
#include "support/source.h"

#include <stdlib.h>
#include <string.h>

enum {
    TRACE_COLUMNS = 10,
    TRACE_FIRST_ROWS = 1024,
    TRACE_MAX_STREAM = 65535,
};

/* The largest file: 4 GiB of text hold 40 M events. A gzip stream may expand to 1 GiB; the traces
 * of real programs expand to a fifteenfold. */
static const struct support_source_limits trace_limits = {
    .plain = (uint64_t)4 << 30,
    .expanded = (uint64_t)1 << 30,
};

/* The longest line. The longest of a valid trace has about 200 bytes. */
enum { TRACE_MAX_LINE = 65536 };

static const char trace_header[] = "op,id,kind,size,alignment,types,stream,time_ns,usage,note";

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
};

static const char* const trace_column_names[TRACE_COLUMNS] = {
    "op", "id", "kind", "size", "alignment", "types", "stream", "time_ns", "usage", "note",
};

struct trace_field {
    const char* text;
    size_t size;
};

struct trace_reader {
    struct support_trace* trace;
    struct support_error* error;
    const char* name;
    size_t line;
    struct trace_field fields[TRACE_COLUMNS];
    size_t event_capacity, resource_capacity, image_capacity;
    uint32_t* table; /* resource index + 1, by hash of the id; 0 is empty */
    size_t table_size;
    uint64_t live_bytes;
    size_t live_count;
};

/* Reads all of a field as an unsigned number. */
static bool trace_number(struct trace_field field, unsigned base, uint64_t* value)
{
    uint64_t sum = 0;
    if (field.size == 0) {
        return false;
    }
    for (size_t i = 0; i < field.size; i++) {
        const char c = field.text[i];
        unsigned digit = 99;
        if (c >= '0' && c <= '9') {
            digit = (unsigned)(c - '0');
        } else if (c >= 'a' && c <= 'f') {
            digit = (unsigned)(c - 'a') + 10u;
        } else if (c >= 'A' && c <= 'F') {
            digit = (unsigned)(c - 'A') + 10u;
        }
        if (digit >= base || sum > (UINT64_MAX - digit) / base) {
            return false;
        }
        sum = sum * base + digit;
    }
    *value = sum;
    return true;
}

static bool trace_is(struct trace_field field, const char* word)
{
    return strlen(word) == field.size && memcmp(field.text, word, field.size) == 0;
}

/* The length of a field in messages. */
static int trace_shown(struct trace_field field)
{
    return field.size < 40 ? (int)field.size : 40;
}

static bool trace_fail(struct trace_reader* reader, enum trace_column column, const char* reason)
{
    const struct trace_field field = reader->fields[column];
    support_error_set(reader->error, reader->name, reader->line, "%s '%.*s' %s",
                      trace_column_names[column], trace_shown(field), field.text, reason);
    return false;
}

static bool trace_decimal(struct trace_reader* reader, enum trace_column column, uint64_t max,
                          uint64_t* value)
{
    if (!trace_number(reader->fields[column], 10, value)) {
        return trace_fail(reader, column, "is not an unsigned number of 64 bits");
    }
    return *value <= max || trace_fail(reader, column, "is too large");
}

/* Reads a hexadecimal number of 32 bits, or the fallback when the column is empty. */
static bool trace_hex(struct trace_reader* reader, enum trace_column column, uint32_t fallback,
                      uint32_t* value)
{
    struct trace_field field = reader->fields[column];
    *value = fallback;
    if (field.size == 0) {
        return true;
    }
    uint64_t wide = 0;
    const bool prefixed =
        field.size > 2 && field.text[0] == '0' && (field.text[1] == 'x' || field.text[1] == 'X');
    field.text += prefixed ? 2 : 0;
    field.size -= prefixed ? 2 : 0;
    if (!prefixed || !trace_number(field, 16, &wide) || wide > UINT32_MAX) {
        return trace_fail(reader, column, "is not a hexadecimal number of 32 bits");
    }
    *value = (uint32_t)wide;
    return true;
}

/* Returns the array, grown if it is full. Returns NULL and leaves the array unchanged when out of
 * memory. */
static void* trace_grow(struct trace_reader* reader, void* array, size_t* capacity, size_t count,
                        size_t element)
{
    if (count < *capacity) {
        return array;
    }
    const size_t larger = *capacity == 0 ? TRACE_FIRST_ROWS : *capacity * 2;
    void* grown = NULL;
    if (larger < UINT32_MAX && larger <= SIZE_MAX / element) {
        grown = realloc(array, larger * element);
    }
    if (grown == NULL) {
        support_error_set(reader->error, reader->name, reader->line,
                          "out of memory for this trace");
        return NULL;
    }
    *capacity = larger;
    return grown;
}

static size_t trace_slot(const struct trace_reader* reader, uint64_t id)
{
    const uint64_t hash = (id ^ id >> 29) * 0x9E3779B97F4A7C15u;
    size_t slot = (size_t)(hash >> 20) & (reader->table_size - 1);
    while (reader->table[slot] != 0 && reader->trace->resources[reader->table[slot] - 1].id != id) {
        slot = (slot + 1) & (reader->table_size - 1);
    }
    return slot;
}

/* Keeps the table at most half full. */
static bool trace_table_grow(struct trace_reader* reader)
{
    const size_t count = reader->trace->resource_count;
    if (reader->table_size / 2 > count) {
        return true;
    }
    const size_t size =
        reader->table_size == 0 ? (size_t)2 * TRACE_FIRST_ROWS : reader->table_size * 2;
    uint32_t* table = calloc(size, sizeof(*table));
    if (table == NULL) {
        support_error_set(reader->error, reader->name, reader->line,
                          "out of memory for this trace");
        return false;
    }
    free(reader->table);
    reader->table = table;
    reader->table_size = size;
    for (size_t i = 0; i < count; i++) {
        table[trace_slot(reader, reader->trace->resources[i].id)] = (uint32_t)i + 1;
    }
    return true;
}

bool support_trace_parse_note(const char* note, size_t size, struct support_trace_image* image)
{
    static const char* const keys[] = {"format=", "extent=", "mips=", "layers=", "samples="};
    uint32_t* const values[] = {&image->format, NULL, &image->mips, &image->layers,
                                &image->samples};
    unsigned seen = 0;
    memset(image, 0, sizeof(*image));
    for (size_t at = 0; at < size;) {
        size_t end = at;
        while (end < size && note[end] != ' ') {
            end++;
        }
        size_t key = 0;
        while (key < 5 && (end - at < strlen(keys[key]) ||
                           memcmp(note + at, keys[key], strlen(keys[key])) != 0)) {
            key++;
        }
        if (key == 5 || (seen >> key & 1u) != 0) {
            return false;
        }
        seen |= 1u << key;
        at += strlen(keys[key]);
        const size_t parts = key == 1 ? 3 : 1;
        uint32_t* const extent[3] = {&image->width, &image->height, &image->depth};
        for (size_t part = 0; part < parts; part++) {
            size_t stop = at;
            while (stop < end && note[stop] != 'x') {
                stop++;
            }
            uint64_t wide = 0;
            const struct trace_field field = {note + at, stop - at};
            if (!trace_number(field, 10, &wide) || wide == 0 || wide > UINT32_MAX ||
                (part + 1 < parts) != (stop < end)) {
                return false;
            }
            *(key == 1 ? extent[part] : values[key]) = (uint32_t)wide;
            at = stop + 1;
        }
        at = end + 1;
    }
    return seen == 0x1F;
}

static bool trace_read_note(struct trace_reader* reader, struct support_trace_resource* resource)
{
    struct support_trace* trace = reader->trace;
    const struct trace_field note = reader->fields[COLUMN_NOTE];
    resource->image = UINT32_MAX;
    if (resource->kind == SUPPORT_TRACE_BUFFER || note.size == 0) {
        return true;
    }
    struct support_trace_image* images = trace_grow(reader, trace->images, &reader->image_capacity,
                                                    trace->image_count, sizeof(*images));
    if (images == NULL) {
        return false;
    }
    trace->images = images;
    if (!support_trace_parse_note(note.text, note.size, &trace->images[trace->image_count])) {
        return trace_fail(reader, COLUMN_NOTE,
                          "is not format=N extent=WxHxD mips=N layers=N samples=N");
    }
    resource->image = (uint32_t)trace->image_count++;
    return true;
}

static bool trace_read_kind(struct trace_reader* reader, uint8_t* kind)
{
    const struct trace_field field = reader->fields[COLUMN_KIND];
    if (trace_is(field, "buffer")) {
        *kind = SUPPORT_TRACE_BUFFER;
    } else if (trace_is(field, "image_linear")) {
        *kind = SUPPORT_TRACE_IMAGE_LINEAR;
    } else if (trace_is(field, "image_optimal")) {
        *kind = SUPPORT_TRACE_IMAGE_OPTIMAL;
    } else {
        return trace_fail(reader, COLUMN_KIND, "is not buffer, image_linear or image_optimal");
    }
    return true;
}

static bool trace_read_alloc(struct trace_reader* reader, struct support_trace_event* event)
{
    struct support_trace* trace = reader->trace;
    struct support_trace_resource* resources =
        trace_grow(reader, trace->resources, &reader->resource_capacity, trace->resource_count,
                   sizeof(*resources));
    if (resources == NULL) {
        return false;
    }
    trace->resources = resources;
    if (!trace_table_grow(reader)) {
        return false;
    }
    struct support_trace_resource* resource = &trace->resources[trace->resource_count];
    memset(resource, 0, sizeof(*resource));
    if (!trace_decimal(reader, COLUMN_ID, UINT64_MAX, &resource->id) ||
        !trace_read_kind(reader, &resource->kind) ||
        !trace_decimal(reader, COLUMN_SIZE, (uint64_t)1 << 48, &resource->size) ||
        !trace_decimal(reader, COLUMN_ALIGNMENT, (uint64_t)1 << 40, &resource->alignment) ||
        !trace_hex(reader, COLUMN_TYPES, UINT32_MAX, &resource->type_bits) ||
        !trace_hex(reader, COLUMN_USAGE, 0, &resource->usage) ||
        !trace_read_note(reader, resource)) {
        return false;
    }
    if (resource->size == 0) {
        return trace_fail(reader, COLUMN_SIZE, "is zero");
    }
    if (resource->alignment == 0 || (resource->alignment & (resource->alignment - 1)) != 0) {
        return trace_fail(reader, COLUMN_ALIGNMENT, "is not a power of two");
    }
    const size_t slot = trace_slot(reader, resource->id);
    if (reader->table[slot] != 0) {
        return trace_fail(reader, COLUMN_ID, "was used before");
    }
    if (reader->live_bytes > UINT64_MAX - resource->size) {
        return trace_fail(reader, COLUMN_SIZE, "overflows the sum of live bytes");
    }
    resource->alloc_time_ns = event->time_ns;
    resource->alloc_event = (uint32_t)trace->event_count;
    resource->free_time_ns = UINT64_MAX;
    resource->free_event = UINT32_MAX;
    event->resource = (uint32_t)trace->resource_count;
    reader->table[slot] = (uint32_t)++trace->resource_count;
    reader->live_bytes += resource->size;
    reader->live_count++;
    if (reader->live_bytes > trace->peak_live_bytes) {
        trace->peak_live_bytes = reader->live_bytes;
        trace->peak_event = trace->event_count;
    }
    if (reader->live_count > trace->peak_live_count) {
        trace->peak_live_count = reader->live_count;
    }
    return true;
}

static bool trace_read_free(struct trace_reader* reader, struct support_trace_event* event)
{
    uint64_t id = 0;
    if (!trace_decimal(reader, COLUMN_ID, UINT64_MAX, &id)) {
        return false;
    }
    const size_t slot = reader->table_size != 0 ? trace_slot(reader, id) : 0;
    if (reader->table_size == 0 || reader->table[slot] == 0) {
        return trace_fail(reader, COLUMN_ID, "was never allocated");
    }
    event->resource = reader->table[slot] - 1;
    struct support_trace_resource* resource = &reader->trace->resources[event->resource];
    if (resource->free_event != UINT32_MAX) {
        return trace_fail(reader, COLUMN_ID, "was freed before");
    }
    resource->free_time_ns = event->time_ns;
    resource->free_event = (uint32_t)reader->trace->event_count;
    reader->live_bytes -= resource->size;
    reader->live_count--;
    return true;
}

/* Divides a line into its columns. */
static bool trace_split(struct trace_reader* reader, const char* line, size_t size)
{
    size_t column = 0;
    const char* const end = line + size;
    for (;;) {
        const char* comma = memchr(line, ',', (size_t)(end - line));
        const char* const stop = comma != NULL ? comma : end;
        if (column < TRACE_COLUMNS) {
            reader->fields[column] = (struct trace_field){line, (size_t)(stop - line)};
        }
        column++;
        if (comma == NULL) {
            break;
        }
        line = comma + 1;
    }
    if (column != TRACE_COLUMNS) {
        support_error_set(reader->error, reader->name, reader->line, "%zu columns, not %d", column,
                          TRACE_COLUMNS);
        return false;
    }
    return true;
}

static bool trace_read_row(struct trace_reader* reader, const char* line, size_t size)
{
    struct support_trace* trace = reader->trace;
    if (!trace_split(reader, line, size)) {
        return false;
    }
    struct support_trace_event* events = trace_grow(reader, trace->events, &reader->event_capacity,
                                                    trace->event_count, sizeof(*events));
    if (events == NULL) {
        return false;
    }
    trace->events = events;
    struct support_trace_event event = {.resource = UINT32_MAX};
    uint64_t stream = 0;
    if (!trace_decimal(reader, COLUMN_STREAM, TRACE_MAX_STREAM, &stream) ||
        !trace_decimal(reader, COLUMN_TIME, UINT64_MAX, &event.time_ns)) {
        return false;
    }
    event.stream = (uint32_t)stream;
    if (trace_is(reader->fields[COLUMN_OP], "alloc")) {
        event.op = SUPPORT_TRACE_ALLOC;
        if (!trace_read_alloc(reader, &event)) {
            return false;
        }
    } else if (trace_is(reader->fields[COLUMN_OP], "free")) {
        event.op = SUPPORT_TRACE_FREE;
        if (!trace_read_free(reader, &event)) {
            return false;
        }
    } else if (trace_is(reader->fields[COLUMN_OP], "frame")) {
        event.op = SUPPORT_TRACE_FRAME;
        trace->frame_count++;
    } else {
        return trace_fail(reader, COLUMN_OP, "is not alloc, free or frame");
    }
    if (event.stream >= trace->stream_count) {
        trace->stream_count = event.stream + 1;
    }
    trace->events[trace->event_count++] = event;
    return true;
}

/* Reads the lines of a text, also the one behind the last line feed if is_last. *used receives the
 * number of bytes that were read. */
static bool trace_read_lines(struct trace_reader* reader, const char* text, size_t size,
                             bool is_last, size_t* used)
{
    const char* const end = text + size;
    const char* line = text;
    *used = 0;
    while (line < end) {
        const char* feed = memchr(line, '\n', (size_t)(end - line));
        if (feed == NULL && !is_last && (size_t)(end - line) <= TRACE_MAX_LINE) {
            break;
        }
        const char* stop = feed != NULL ? feed : end;
        size_t length = (size_t)(stop - line);
        if (length != 0 && line[length - 1] == '\r') {
            length--;
        }
        reader->line++;
        if (reader->line == 1) {
            if (length != sizeof(trace_header) - 1 || memcmp(line, trace_header, length) != 0) {
                support_error_set(reader->error, reader->name, 1, "the header is not '%s'",
                                  trace_header);
                return false;
            }
        } else if (length > TRACE_MAX_LINE) {
            support_error_set(reader->error, reader->name, reader->line,
                              "the line is longer than %d bytes", TRACE_MAX_LINE);
            return false;
        } else if (!trace_read_row(reader, line, length)) {
            return false;
        }
        line = feed != NULL ? feed + 1 : end;
        *used = (size_t)(line - text);
    }
    return true;
}

/* Ends a reading. Returns false if there was no line. */
static bool trace_read_end(struct trace_reader* reader)
{
    if (reader->line == 0) {
        support_error_set(reader->error, reader->name, 1, "the file is empty");
        return false;
    }
    return true;
}

void support_trace_take_name(const char* path, char name[256])
{
    const char* start = path;
    for (const char* c = path; *c != 0; c++) {
        start = *c == '/' || *c == '\\' ? c + 1 : start;
    }
    size_t length = strlen(start);
    static const char* const endings[] = {".gz", ".csv"};
    for (size_t i = 0; i < 2; i++) {
        const size_t cut = strlen(endings[i]);
        if (length > cut && memcmp(start + length - cut, endings[i], cut) == 0) {
            length -= cut;
        }
    }
    length = length < 255 ? length : 255;
    memcpy(name, start, length);
    name[length] = 0;
}

/* Releases what a reading needs, and the trace if the reading failed. */
static bool trace_finish(struct trace_reader* reader, bool good)
{
    free(reader->table);
    if (!good) {
        support_trace_release(reader->trace);
    }
    return good;
}

bool support_trace_parse(const char* name, const void* data, size_t size,
                         struct support_trace* trace, struct support_error* error)
{
    memset(trace, 0, sizeof(*trace));
    char* expanded = NULL;
    const char* text = data;
    if (support_is_gzip(data, size)) {
        if (!support_gunzip(name, data, size, (size_t)trace_limits.expanded, &expanded, &size,
                            error)) {
            return false;
        }
        text = expanded;
    }
    size_t used = 0;
    struct trace_reader reader = {.trace = trace, .error = error, .name = name};
    support_trace_take_name(name, trace->name);
    const bool good = trace_read_lines(&reader, text, size, true, &used) && trace_read_end(&reader);
    free(expanded);
    return trace_finish(&reader, good);
}

/* Reads a source to its end. The buffer holds `room` bytes, more than a line has. */
static bool trace_read_source(struct trace_reader* reader, struct support_source* source,
                              char* buffer, size_t room)
{
    size_t kept = 0; /* the beginning of a line whose end is not read yet */
    for (;;) {
        size_t got = 0;
        size_t used = 0;
        if (!support_source_read(source, buffer + kept, room - kept, &got, reader->error)) {
            return false;
        }
        kept += got;
        if (!trace_read_lines(reader, buffer, kept, got == 0, &used)) {
            return false;
        }
        if (got == 0) {
            return trace_read_end(reader);
        }
        kept -= used;
        memmove(buffer, buffer + used, kept);
    }
}

bool support_trace_load(const char* path, struct support_trace* trace, struct support_error* error)
{
    const size_t room = (size_t)2 * TRACE_MAX_LINE + 2;
    memset(trace, 0, sizeof(*trace));
    struct support_source* const source = support_source_open(path, &trace_limits, error);
    if (source == NULL) {
        return false;
    }
    struct trace_reader reader = {.trace = trace, .error = error, .name = path};
    char* const buffer = malloc(room);
    support_trace_take_name(path, trace->name);
    if (buffer == NULL) {
        support_error_set(error, path, 0, "out of memory");
    }
    const bool good = buffer != NULL && trace_read_source(&reader, source, buffer, room);
    free(buffer);
    support_source_close(source);
    return trace_finish(&reader, good);
}

void support_trace_release(struct support_trace* trace)
{
    free(trace->events);
    free(trace->resources);
    free(trace->images);
    memset(trace, 0, sizeof(*trace));
}
