/*
 * Reads cells of the tables of frame graphs; see frame_reader.h.
 */
#include "support/frame_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool graph_fail(const struct graph_reader* reader, size_t column, const char* reason)
{
    support_error_set(reader->error, reader->name, support_table_line(reader->table, reader->row),
                      "%s '%.40s' %s", support_table_column(reader->table, column),
                      support_table_cell(reader->table, reader->row, column), reason);
    return false;
}

const char* graph_digits(const char* text, unsigned base, uint64_t* value)
{
    static const char digits[] = "0123456789abcdef";
    const char* at = text;
    uint64_t sum = 0;
    for (; *at != '\0'; ++at) {
        const char c = (char)(*at >= 'A' && *at <= 'F' ? *at - 'A' + 'a' : *at);
        const char* const found = memchr(digits, c, base);
        if (found == NULL) {
            break;
        }
        const unsigned digit = (unsigned)(found - digits);
        if (sum > (UINT64_MAX - digit) / base) {
            return NULL;
        }
        sum = sum * base + digit;
    }
    *value = sum;
    return at != text ? at : NULL;
}

bool graph_optional(const struct graph_reader* reader, size_t column, uint64_t fallback,
                    uint64_t most, uint64_t* value)
{
    *value = fallback;
    if (column == reader->table->column_count) {
        return true;
    }
    const char* const text = support_table_cell(reader->table, reader->row, column);
    if (text[0] == '\0') {
        return true;
    }
    const char* const end = graph_digits(text, 10, value);
    if (end == NULL || *end != '\0') {
        return graph_fail(reader, column, "is not an unsigned number of 64 bits");
    }
    return *value <= most || graph_fail(reader, column, "is too large");
}

bool graph_number(const struct graph_reader* reader, size_t column, uint64_t most, uint64_t* value)
{
    if (support_table_cell(reader->table, reader->row, column)[0] == '\0') {
        return graph_fail(reader, column, "is empty");
    }
    return graph_optional(reader, column, 0, most, value);
}

bool graph_column(const struct graph_reader* reader, const char* column, size_t* index)
{
    *index = support_table_find(reader->table, column);
    if (*index == reader->table->column_count) {
        support_error_set(reader->error, reader->name, reader->table->lines[0],
                          "the header has no column %s", column);
        return false;
    }
    return true;
}

const char* graph_text(const struct graph_reader* reader, size_t column)
{
    return column == reader->table->column_count
               ? ""
               : support_table_cell(reader->table, reader->row, column);
}

bool graph_count(const struct graph_reader* reader, uint32_t most, const char* what,
                 uint32_t* count)
{
    if (reader->table->row_count > most) {
        support_error_set(reader->error, reader->name, support_table_line(reader->table, most),
                          "more than %" PRIu32 " %s", most, what);
        return false;
    }
    *count = (uint32_t)reader->table->row_count;
    return true;
}

void* graph_allocate(const struct graph_reader* reader, size_t count, size_t size)
{
    void* const memory = calloc(count != 0 ? count : 1, size);
    if (memory == NULL) {
        support_error_set(reader->error, reader->name, 0, "out of memory for this graph");
    }
    return memory;
}
