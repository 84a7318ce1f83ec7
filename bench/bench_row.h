/*
 * Prints one result: a line of JSON on standard output and a row of a table on standard error.
 */
#ifndef MAAR_BENCH_ROW_H
#define MAAR_BENCH_ROW_H

#include <stdint.h>

enum { BENCH_ROW_TEXT = 2048, BENCH_ROW_CELLS = 32 };

/* A table. Its header is printed again when the columns change. The caller zeroes it before the
 * first row. */
struct bench_table {
    char header[BENCH_ROW_TEXT];
};

struct bench_row {
    char json[BENCH_ROW_TEXT];
    char header[BENCH_ROW_TEXT];
    char cells[BENCH_ROW_TEXT];
};

/* Begins a row of the named benchmark. */
void bench_row_begin(struct bench_row* row, const char* bench);

/* Adds a column. A key that begins with '.' is in the JSON (without the dot), but not in the
 * table. */
void bench_row_text(struct bench_row* row, const char* key, const char* value);
/* Adds a text in a wide column. */
void bench_row_name(struct bench_row* row, const char* key, const char* value);
void bench_row_count(struct bench_row* row, const char* key, uint64_t value);
/* Adds a number; the table shows `digits` digits after the point. A value that is not finite
 * becomes null and "-". */
void bench_row_number(struct bench_row* row, const char* key, double value, int digits);
/* Adds a column without a value in this row. */
void bench_row_none(struct bench_row* row, const char* key);

/* Prints the row. */
void bench_row_end(struct bench_row* row, struct bench_table* table);

#endif
