/*
 * CSV files whole in memory, every cell as text: a header row, and rows of as many cells.
 *
 * Cells may be quoted, with "" for a quote, and then hold commas and line ends; blanks around an
 * unquoted cell, blank lines, a byte order mark and CRLF are tolerated. Anything else that is not
 * as it should be is an error "file:line: reason". No globals; safe from any thread.
 */
#ifndef MAAR_SUPPORT_CSV_TABLE_H
#define MAAR_SUPPORT_CSV_TABLE_H

#include "readfile.h"

#include <stdio.h>

struct support_table {
    char* text;          /* all cells, one after another */
    const char** cells;  /* row by row, the header first; each ends with a zero */
    size_t* lines;       /* where each row begins, the header first */
    size_t column_count; /* at least 1 */
    size_t row_count;    /* without the header */
};

/* Reads a table. name is what messages call it. On failure the table is empty. */
bool support_table_parse(const char* name, const char* data, size_t size,
                         struct support_table* table, struct support_error* error);

/* Frees what a table holds and empties it. */
void support_table_release(struct support_table* table);

/* The column of that name; column_count when there is none. */
size_t support_table_find(const struct support_table* table, const char* column);

/* A cell of a row, which is counted from 0 after the header. */
const char* support_table_cell(const struct support_table* table, size_t row, size_t column);

/* The name of a column. */
const char* support_table_column(const struct support_table* table, size_t column);

/* The line of the file that a row begins on. */
size_t support_table_line(const struct support_table* table, size_t row);

/* Writes a cell, quoted where it must be. */
void support_table_write_cell(FILE* file, const char* text);

#endif
