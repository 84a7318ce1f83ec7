/*
 * The columns of a report's data: arrays of numbers, one after another, each beginning at a
 * multiple of 8 bytes. The page reads them as typed arrays.
 */
#ifndef MAAR_SUPPORT_REPORT_COLUMNS_H
#define MAAR_SUPPORT_REPORT_COLUMNS_H

#include "report_file.h"

#include <jansson.h>

struct report_columns {
    uint8_t* bytes;
    size_t size, capacity;
    json_t* list; /* [{name, type, count, offset}] */
    bool no_memory;
};

enum report_column_type { REPORT_U8, REPORT_U32, REPORT_F64 };

/* Appends a column and returns its zeroed items; NULL without memory. */
void* report_add_column(struct report_columns* columns, const char* name,
                        enum report_column_type type, size_t count);

/* Appends all columns of a history. */
void report_add_history(struct report_columns* columns, const struct support_report_info* info,
                        uint64_t tick_ns);

/* Compresses the columns and returns them as base64 text, which the caller frees; NULL on failure.
 */
char* report_pack(const struct report_columns* columns, size_t* size);

#endif
