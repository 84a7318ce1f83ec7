/*
 * Prints JSON lines and tables; see bench_row.h. Texts are escaped. Keys are constants that need no
 * escaping.
 */
#include "bench_row.h"

#include "bench_common.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER_WIDTH = 7, TEXT_WIDTH = 14, NAME_WIDTH = 28 };

__attribute__((format(printf, 2, 3))) static void append(char* text, const char* format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text + used, BENCH_ROW_TEXT - used, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= BENCH_ROW_TEXT - used) {
        bench_die(BENCH_EXIT_FAILED, "a result is too long to print");
    }
}

void bench_row_begin(struct bench_row* row, const char* bench)
{
    *row = (struct bench_row){0};
    append(row->json, "{\"bench\":\"%s\"", bench);
}

/* Writes the cell to the table. Texts are aligned left and numbers right. */
static void add_cell(struct bench_row* row, const char* key, const char* cell, int least)
{
    if (key[0] == '.') {
        return;
    }
    const int width = (int)strlen(key) > least ? (int)strlen(key) : least;
    append(row->header, least > NUMBER_WIDTH ? "%-*s " : "%*s ", width, key);
    append(row->cells, least > NUMBER_WIDTH ? "%-*s " : "%*s ", width, cell);
}

static const char* key_of(const char* key)
{
    return key[0] == '.' ? key + 1 : key;
}

static void add_text(struct bench_row* row, const char* key, const char* value, int width)
{
    append(row->json, ",\"%s\":\"", key_of(key));
    for (const char* c = value; *c != '\0'; ++c) {
        if (*c == '"' || *c == '\\') {
            append(row->json, "\\%c", *c);
        } else if ((unsigned char)*c < 0x20) {
            append(row->json, "\\u%04x", (unsigned)(unsigned char)*c);
        } else {
            append(row->json, "%c", *c);
        }
    }
    append(row->json, "\"");
    add_cell(row, key, value, width);
}

void bench_row_text(struct bench_row* row, const char* key, const char* value)
{
    add_text(row, key, value, TEXT_WIDTH);
}

void bench_row_name(struct bench_row* row, const char* key, const char* value)
{
    add_text(row, key, value, NAME_WIDTH);
}

void bench_row_count(struct bench_row* row, const char* key, uint64_t value)
{
    char cell[32];
    snprintf(cell, sizeof(cell), "%" PRIu64, value);
    append(row->json, ",\"%s\":%s", key_of(key), cell);
    add_cell(row, key, cell, NUMBER_WIDTH);
}

void bench_row_number(struct bench_row* row, const char* key, double value, int digits)
{
    if (!isfinite(value)) {
        bench_row_none(row, key);
        return;
    }
    char cell[64];
    append(row->json, ",\"%s\":%.6g", key_of(key), value);
    snprintf(cell, sizeof(cell), "%.*f", digits, value);
    add_cell(row, key, cell, NUMBER_WIDTH);
}

void bench_row_none(struct bench_row* row, const char* key)
{
    append(row->json, ",\"%s\":null", key_of(key));
    add_cell(row, key, "-", NUMBER_WIDTH);
}

void bench_row_end(struct bench_row* row, struct bench_table* table)
{
    printf("%s}\n", row->json);
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        bench_die(BENCH_EXIT_FAILED, "standard output cannot be written");
    }
    if (strcmp(table->header, row->header) != 0) {
        fprintf(stderr, "%s%s\n", table->header[0] != '\0' ? "\n" : "", row->header);
        memcpy(table->header, row->header, sizeof(table->header));
    }
    fprintf(stderr, "%s\n", row->cells);
}
