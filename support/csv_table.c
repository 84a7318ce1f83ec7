/*
 * Parses CSV into cells; see csv_table.h. One pass is enough. A cell and its terminating zero never
 * need more room than the cell and its separator in the file, so that the text is allocated once.
 */
#include "support/csv_table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_FIRST_CELLS = 1024, TABLE_FIRST_ROWS = 256, TABLE_MAX_COLUMNS = 1024 };

/* The byte order mark. */
static const char table_mark[] = "\xEF\xBB\xBF";

struct table_reader {
    struct support_table* table;
    struct support_error* error;
    const char* name;
    const char* at;
    const char* end;
    size_t line;
    char* write; /* the place of the next cell's text */
    size_t cell_count, cell_room;
    size_t line_count, line_room;
};

static bool table_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Returns whether a line ends here. A carriage return before the line end belongs to it. */
static bool table_at_end(const struct table_reader* reader)
{
    return reader->at == reader->end || *reader->at == '\n' ||
           (*reader->at == '\r' && (reader->at + 1 == reader->end || reader->at[1] == '\n'));
}

static void table_skip_end(struct table_reader* reader)
{
    if (reader->at != reader->end && *reader->at == '\r') {
        ++reader->at;
    }
    if (reader->at != reader->end) {
        ++reader->at;
        ++reader->line;
    }
}

static void table_skip_blanks(struct table_reader* reader)
{
    while (reader->at != reader->end && table_is_blank(*reader->at)) {
        ++reader->at;
    }
}

static bool table_out_of_memory(struct table_reader* reader)
{
    support_error_set(reader->error, reader->name, reader->line, "out of memory for this table");
    return false;
}

static bool table_add_cell(struct table_reader* reader, const char* text)
{
    struct support_table* const table = reader->table;
    if (reader->cell_count == reader->cell_room) {
        const size_t room = reader->cell_room == 0 ? TABLE_FIRST_CELLS : 2 * reader->cell_room;
        const char** const cells = realloc(table->cells, room * sizeof(*cells));
        if (cells == NULL) {
            return table_out_of_memory(reader);
        }
        table->cells = cells;
        reader->cell_room = room;
    }
    table->cells[reader->cell_count++] = text;
    return true;
}

static bool table_add_line(struct table_reader* reader)
{
    struct support_table* const table = reader->table;
    if (reader->line_count == reader->line_room) {
        const size_t room = reader->line_room == 0 ? TABLE_FIRST_ROWS : 2 * reader->line_room;
        size_t* const lines = realloc(table->lines, room * sizeof(*lines));
        if (lines == NULL) {
            return table_out_of_memory(reader);
        }
        table->lines = lines;
        reader->line_room = room;
    }
    table->lines[reader->line_count++] = reader->line;
    return true;
}

/* Reads a quoted cell. The reader moves from behind the opening quote to behind the closing one. */
static bool table_read_quoted(struct table_reader* reader)
{
    const size_t first_line = reader->line;
    for (;;) {
        if (reader->at == reader->end) {
            support_error_set(reader->error, reader->name, first_line, "a quote is not closed");
            return false;
        }
        const char c = *reader->at++;
        if (c == '"') {
            if (reader->at == reader->end || *reader->at != '"') {
                break;
            }
            ++reader->at;
        }
        reader->line += c == '\n' ? 1 : 0;
        *reader->write++ = c;
    }
    table_skip_blanks(reader);
    if (!table_at_end(reader) && *reader->at != ',') {
        support_error_set(reader->error, reader->name, reader->line,
                          "text follows a closing quote");
        return false;
    }
    return true;
}

static bool table_read_cell(struct table_reader* reader)
{
    char* const text = reader->write;
    table_skip_blanks(reader);
    if (reader->at != reader->end && *reader->at == '"') {
        ++reader->at;
        if (!table_read_quoted(reader)) {
            return false;
        }
    } else {
        while (!table_at_end(reader) && *reader->at != ',') {
            *reader->write++ = *reader->at++;
        }
        while (reader->write != text && table_is_blank(reader->write[-1])) {
            --reader->write;
        }
    }
    *reader->write++ = '\0';
    return table_add_cell(reader, text);
}

/* Reads a row that is not empty. The reader stands at its first cell. */
static bool table_read_row(struct table_reader* reader)
{
    struct support_table* const table = reader->table;
    const size_t first = reader->cell_count;
    const size_t line = reader->line;
    if (!table_add_line(reader)) {
        return false;
    }
    for (;;) {
        if (!table_read_cell(reader)) {
            return false;
        }
        if (table_at_end(reader)) {
            break;
        }
        ++reader->at; /* the comma */
    }
    const size_t count = reader->cell_count - first;
    if (first == 0) {
        table->column_count = count;
    } else if (count != table->column_count) {
        support_error_set(reader->error, reader->name, line,
                          "%zu column%s, where the header has %zu", count, count == 1 ? "" : "s",
                          table->column_count);
        return false;
    }
    table_skip_end(reader);
    return true;
}

static bool table_check_header(struct table_reader* reader)
{
    const struct support_table* const table = reader->table;
    if (reader->line_count == 0) {
        support_error_set(reader->error, reader->name, 1, "the file has no header");
        return false;
    }
    if (table->column_count > TABLE_MAX_COLUMNS) {
        support_error_set(reader->error, reader->name, table->lines[0], "more than %d columns",
                          TABLE_MAX_COLUMNS);
        return false;
    }
    for (size_t i = 0; i < table->column_count; ++i) {
        if (support_table_find(table, table->cells[i]) != i) {
            support_error_set(reader->error, reader->name, table->lines[0],
                              "column '%.40s' occurs twice", table->cells[i]);
            return false;
        }
    }
    return true;
}

static bool table_read_rows(struct table_reader* reader)
{
    const char* const zero = memchr(reader->at, '\0', (size_t)(reader->end - reader->at));
    if (zero != NULL) {
        for (const char* at = reader->at; at < zero; ++at) {
            reader->line += *at == '\n' ? 1 : 0;
        }
        support_error_set(reader->error, reader->name, reader->line,
                          "the file contains a zero byte and so is not CSV");
        return false;
    }
    while (reader->at != reader->end) {
        table_skip_blanks(reader);
        if (table_at_end(reader)) {
            table_skip_end(reader);
        } else if (!table_read_row(reader)) {
            return false;
        }
    }
    return table_check_header(reader);
}

bool support_table_parse(const char* name, const char* data, size_t size,
                         struct support_table* table, struct support_error* error)
{
    *table = (struct support_table){0};
    struct table_reader reader = {
        .table = table, .error = error, .name = name, .at = data, .end = data + size, .line = 1};
    if (size >= 3 && memcmp(data, table_mark, 3) == 0) {
        reader.at += 3;
    }
    table->text = malloc(size + 1);
    reader.write = table->text;
    const bool good = table->text != NULL ? table_read_rows(&reader) : table_out_of_memory(&reader);
    table->row_count = reader.line_count != 0 ? reader.line_count - 1 : 0;
    if (!good) {
        support_table_release(table);
    }
    return good;
}

void support_table_release(struct support_table* table)
{
    free(table->text);
    free((void*)table->cells);
    free(table->lines);
    *table = (struct support_table){0};
}

size_t support_table_find(const struct support_table* table, const char* column)
{
    size_t i = 0;
    while (i < table->column_count && strcmp(table->cells[i], column) != 0) {
        ++i;
    }
    return i;
}

const char* support_table_cell(const struct support_table* table, size_t row, size_t column)
{
    return table->cells[(row + 1) * table->column_count + column];
}

const char* support_table_column(const struct support_table* table, size_t column)
{
    return table->cells[column];
}

size_t support_table_line(const struct support_table* table, size_t row)
{
    return table->lines[row + 1];
}

void support_table_write_cell(FILE* file, const char* text)
{
    const size_t length = strlen(text);
    const bool quoted =
        strpbrk(text, ",\"\r\n") != NULL || strncmp(text, table_mark, 3) == 0 ||
        (length != 0 && (table_is_blank(text[0]) || table_is_blank(text[length - 1])));
    if (!quoted) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text != '\0'; ++text) {
        if (*text == '"') {
            fputc('"', file);
        }
        fputc(*text, file);
    }
    fputc('"', file);
}
