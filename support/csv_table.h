/*
 * Reads whole CSV files into memory. A file has a header row, and every row has the same number of
 * cells. Each cell is text.
 *
 * A quoted cell may contain commas and line ends, and "" for a quote. The reader accepts blanks
 * around an unquoted cell, blank lines, a byte order mark and CRLF. Every other deviation is an
 * error "file:line: reason". No globals; safe from any thread.
 */
#ifndef MAAR_SUPPORT_CSV_TABLE_H
#define MAAR_SUPPORT_CSV_TABLE_H

#include "readfile.h"

#include <stdio.h>

struct support_table {
    char* text;          /* all cells in sequence */
    const char** cells;  /* row by row, the header first; each ends with a zero */
    size_t* lines;       /* the line on which each row begins, the header first */
    size_t column_count; /* at least 1 */
    size_t row_count;    /* without the header */
};

/* Reads a table. Messages call it `name`. On failure the table is empty. */
bool support_table_parse(const char* name, const char* data, size_t size,
                         struct support_table* table, struct support_error* error);

/* Frees the contents of a table and empties it. */
void support_table_release(struct support_table* table);

/* Returns the column with a name; column_count when no column has it. */
size_t support_table_find(const struct support_table* table, const char* column);

/* Returns a cell of a row. Row 0 is the first row after the header. */
const char* support_table_cell(const struct support_table* table, size_t row, size_t column);

/* Returns the name of a column. */
const char* support_table_column(const struct support_table* table, size_t column);

/* Returns the line of the file on which a row begins. */
size_t support_table_line(const struct support_table* table, size_t row);

/* Writes a cell, quoted if necessary. */
void support_table_write_cell(FILE* file, const char* text);

#endif
