/*
 * Columns of a trace's row, the growing arrays of a trace, and the table of its ids.
 */
#include "support/trace_internal.h"

#include <stdlib.h>
#include <string.h>

enum { TRACE_FIRST_ROWS = 1024 };

static const char* const trace_column_names[TRACE_COLUMNS_2] = {
    "op",    "id",   "kind",   "size",   "alignment", "types", "stream", "time_ns",
    "usage", "note", "device", "object", "offset",    "flags", "value",  "name",
};

static int trace_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

bool trace_number(struct trace_field field, unsigned base, uint64_t* value)
{
    uint64_t sum = 0;
    if (field.size == 0) {
        return false;
    }
    for (size_t i = 0; i < field.size; i++) {
        const unsigned digit = (unsigned)trace_digit(field.text[i]);
        if (digit >= base || sum > (UINT64_MAX - digit) / base) {
            return false;
        }
        sum = sum * base + digit;
    }
    *value = sum;
    return true;
}

bool trace_is(struct trace_field field, const char* word)
{
    return strlen(word) == field.size && memcmp(field.text, word, field.size) == 0;
}

/* The length of a field in messages. */
static int trace_shown(struct trace_field field)
{
    return field.size < 40 ? (int)field.size : 40;
}

bool trace_fail(struct trace_reader* reader, enum trace_column column, const char* reason)
{
    const struct trace_field field = reader->fields[column];
    support_error_set(reader->error, reader->name, reader->line, "%s '%.*s' %s",
                      trace_column_names[column], trace_shown(field), field.text, reason);
    return false;
}

bool trace_decimal(struct trace_reader* reader, enum trace_column column, uint64_t max,
                   uint64_t* value)
{
    if (!trace_number(reader->fields[column], 10, value)) {
        return trace_fail(reader, column, "is not an unsigned number of 64 bits");
    }
    return *value <= max || trace_fail(reader, column, "is too large");
}

bool trace_decimal_or(struct trace_reader* reader, enum trace_column column, uint32_t max,
                      uint32_t fallback, uint32_t* value)
{
    uint64_t wide = fallback;
    if (reader->fields[column].size != 0 && !trace_decimal(reader, column, max, &wide)) {
        return false;
    }
    *value = (uint32_t)wide;
    return true;
}

bool trace_hex(struct trace_reader* reader, enum trace_column column, unsigned bits,
               uint64_t fallback, uint64_t* value)
{
    struct trace_field field = reader->fields[column];
    *value = fallback;
    if (field.size == 0) {
        return true;
    }
    const bool prefixed =
        field.size > 2 && field.text[0] == '0' && (field.text[1] == 'x' || field.text[1] == 'X');
    field.text += prefixed ? 2 : 0;
    field.size -= prefixed ? 2 : 0;
    if (!prefixed || !trace_number(field, 16, value) || (bits < 64 && *value >> bits != 0)) {
        return trace_fail(reader, column,
                          bits == 32 ? "is not a hexadecimal number of 32 bits"
                                     : "is not a hexadecimal number of 64 bits");
    }
    return true;
}

bool trace_hex32(struct trace_reader* reader, enum trace_column column, uint32_t fallback,
                 uint32_t* value)
{
    uint64_t wide = 0;
    if (!trace_hex(reader, column, 32, fallback, &wide)) {
        return false;
    }
    *value = (uint32_t)wide;
    return true;
}

bool trace_word(struct trace_reader* reader, enum trace_column column, const char* const* words,
                const char* reason, uint32_t* index)
{
    for (uint32_t i = 0; words[i] != NULL; i++) {
        if (trace_is(reader->fields[column], words[i])) {
            *index = i;
            return true;
        }
    }
    return trace_fail(reader, column, reason);
}

/* Makes room for more bytes of texts. */
static bool trace_text_grow(struct trace_reader* reader, size_t more)
{
    struct support_trace* const trace = reader->trace;
    const size_t wanted = trace->text_size + more;
    if (wanted <= reader->text_capacity) {
        return true;
    }
    size_t larger = reader->text_capacity == 0 ? TRACE_FIRST_ROWS : reader->text_capacity * 2;
    larger = larger < wanted ? wanted : larger;
    char* const grown = wanted < UINT32_MAX ? realloc(trace->texts, larger) : NULL;
    if (grown == NULL) {
        support_error_set(reader->error, reader->name, reader->line,
                          "out of memory for this trace");
        return false;
    }
    trace->texts = grown;
    reader->text_capacity = larger;
    return true;
}

bool trace_name(struct trace_reader* reader, uint32_t* text)
{
    struct support_trace* const trace = reader->trace;
    const struct trace_field field = reader->fields[COLUMN_NAME];
    *text = 0;
    if (!trace_text_grow(reader, field.size + 2)) {
        return false;
    }
    if (trace->text_size == 0) {
        trace->texts[trace->text_size++] = 0;
    }
    if (field.size == 0) {
        return true;
    }
    *text = (uint32_t)trace->text_size;
    for (size_t i = 0; i < field.size; i++) {
        char c = field.text[i];
        if (c == '%') {
            const int high = i + 2 < field.size ? trace_digit(field.text[i + 1]) : 99;
            const int low = i + 2 < field.size ? trace_digit(field.text[i + 2]) : 99;
            if (high > 15 || low > 15 || (high == 0 && low == 0)) {
                return trace_fail(reader, COLUMN_NAME, "has a % that no byte in hex follows");
            }
            c = (char)(high * 16 + low);
            i += 2;
        } else if (c == 0) {
            return trace_fail(reader, COLUMN_NAME, "contains a zero byte");
        }
        trace->texts[trace->text_size++] = c;
    }
    trace->texts[trace->text_size++] = 0;
    return true;
}

bool trace_push(struct trace_reader* reader, void* items, size_t* count, enum trace_array which,
                size_t element)
{
    size_t* const capacity = &reader->capacities[which];
    void* array;
    memcpy(&array, items, sizeof array);
    if (*count == *capacity) {
        const size_t larger = *capacity == 0 ? TRACE_FIRST_ROWS : *capacity * 2;
        void* grown = NULL;
        if (larger < TRACE_RESERVED_BIT && larger <= SIZE_MAX / element) {
            grown = realloc(array, larger * element);
        }
        if (grown == NULL) {
            support_error_set(reader->error, reader->name, reader->line,
                              "out of memory for this trace");
            return false;
        }
        memcpy(items, &grown, sizeof grown);
        array = grown;
        *capacity = larger;
    }
    memset((char*)array + *count * element, 0, element);
    *count += 1;
    return true;
}

/* The id of an entry of the table. */
static uint64_t trace_entry_id(const struct trace_reader* reader, uint32_t entry)
{
    const uint32_t index = (entry & ~TRACE_RESERVED_BIT) - 1;
    return (entry & TRACE_RESERVED_BIT) != 0 ? reader->trace->reserved[index].id
                                             : reader->trace->resources[index].id;
}

size_t trace_slot(const struct trace_reader* reader, uint64_t id)
{
    const uint64_t hash = (id ^ id >> 29) * 0x9E3779B97F4A7C15u;
    size_t slot = (size_t)(hash >> 20) & (reader->table_size - 1);
    while (reader->table[slot] != 0 && trace_entry_id(reader, reader->table[slot]) != id) {
        slot = (slot + 1) & (reader->table_size - 1);
    }
    return slot;
}

bool trace_table_grow(struct trace_reader* reader)
{
    const struct support_trace* const trace = reader->trace;
    if (reader->table_size / 2 > trace->resource_count + trace->reserved_count) {
        return true;
    }
    const size_t old_size = reader->table_size;
    uint32_t* const old = reader->table;
    const size_t size = old_size == 0 ? (size_t)2 * TRACE_FIRST_ROWS : old_size * 2;
    uint32_t* const table = calloc(size, sizeof(*table));
    if (table == NULL) {
        support_error_set(reader->error, reader->name, reader->line,
                          "out of memory for this trace");
        return false;
    }
    reader->table = table;
    reader->table_size = size;
    for (size_t i = 0; i < old_size; i++) {
        if (old[i] != 0) {
            table[trace_slot(reader, trace_entry_id(reader, old[i]))] = old[i];
        }
    }
    free(old);
    return true;
}
