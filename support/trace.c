/*
 * Reads traces in one pass over the text, which grows the arrays. A hash table maps the file's ids
 * to resources during the pass. A file is read block by block, so the first wrong line ends the
 * reading.
 */
#include "support/gzip.h"
#include "support/source.h"
#include "support/trace_internal.h"

#include <stdlib.h>
#include <string.h>

/* The largest file: 4 GiB of text hold 40 M events. A gzip stream may expand to 1 GiB; the traces
 * of real programs expand to a fifteenfold. */
static const struct support_source_limits trace_limits = {
    .plain = (uint64_t)4 << 30,
    .expanded = (uint64_t)1 << 30,
};

static const char trace_header_1[] = "op,id,kind,size,alignment,types,stream,time_ns,usage,note";
static const char trace_header_2[] = "op,id,kind,size,alignment,types,stream,time_ns,usage,note,"
                                     "device,object,offset,flags,value,name";

/* Divides a line into its columns. */
static bool trace_split(struct trace_reader* reader, const char* line, size_t size)
{
    size_t column = 0;
    const char* const end = line + size;
    for (;;) {
        const char* comma = memchr(line, ',', (size_t)(end - line));
        const char* const stop = comma != NULL ? comma : end;
        if (column < reader->columns) {
            reader->fields[column] = (struct trace_field){line, (size_t)(stop - line)};
        }
        column++;
        if (comma == NULL) {
            break;
        }
        line = comma + 1;
    }
    if (column != reader->columns) {
        support_error_set(reader->error, reader->name, reader->line, "%zu columns, not %zu", column,
                          reader->columns);
        return false;
    }
    return true;
}

/* The header row decides the version. */
static bool trace_read_header(struct trace_reader* reader, const char* line, size_t size)
{
    const bool first = size == sizeof trace_header_1 - 1 && memcmp(line, trace_header_1, size) == 0;
    const bool second =
        size == sizeof trace_header_2 - 1 && memcmp(line, trace_header_2, size) == 0;
    if (!first && !second) {
        support_error_set(reader->error, reader->name, 1, "the header is not '%s'", trace_header_1);
        return false;
    }
    reader->columns = first ? TRACE_COLUMNS_1 : TRACE_COLUMNS_2;
    reader->trace->version = first ? 1 : 2;
    return true;
}

static bool trace_read_row(struct trace_reader* reader, const char* line, size_t size)
{
    return trace_split(reader, line, size) &&
           (reader->columns == TRACE_COLUMNS_1 ? trace_read_row_1(reader)
                                               : trace_read_row_2(reader));
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
            if (!trace_read_header(reader, line, length)) {
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
    free(trace->reserved);
    free(trace->devices);
    free(trace->queues);
    free(trace->memories);
    free(trace->failures);
    free(trace->binds);
    free(trace->semaphores);
    free(trace->submits);
    free(trace->points);
    free(trace->uses);
    free(trace->reached);
    free(trace->budgets);
    free(trace->steps);
    free(trace->texts);
    memset(trace, 0, sizeof(*trace));
}

const char* support_trace_text(const struct support_trace* trace, uint32_t text)
{
    return text < trace->text_size ? trace->texts + text : "";
}

uint32_t support_trace_main_device(const struct support_trace* trace)
{
    uint32_t best = SUPPORT_TRACE_NONE;
    for (uint32_t i = 0; i < trace->device_count; i++) {
        if (best == SUPPORT_TRACE_NONE ||
            trace->devices[i].row_count > trace->devices[best].row_count) {
            best = i;
        }
    }
    return best;
}
