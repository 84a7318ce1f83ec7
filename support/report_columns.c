/*
 * The columns of a report; see report_columns.h. Beginnings are differences to the row before,
 * which compress well; ends are lengths of lives.
 */
#include "support/report_columns.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* The life of something that does not end in the capture. */
#define FOREVER_TICKS UINT32_MAX

void* report_add_column(struct report_columns* columns, const char* name,
                        enum report_column_type type, size_t count)
{
    static const uint8_t sizes[] = {1, 4, 8};
    static const char* const words[] = {"u8", "u32", "f64"};
    const size_t offset = (columns->size + 7) & ~(size_t)7;
    const size_t size = count * sizes[type];
    if (offset + size + 8 > columns->capacity) {
        const size_t larger = (offset + size + 8) * 2;
        uint8_t* const grown = realloc(columns->bytes, larger);
        if (grown == NULL) {
            columns->no_memory = true;
            return NULL;
        }
        columns->bytes = grown;
        columns->capacity = larger;
    }
    memset(columns->bytes + columns->size, 0, offset + size - columns->size);
    columns->size = offset + size;
    (void)json_array_append_new(
        columns->list, json_pack("{s:s, s:s, s:I, s:I}", "name", name, "type", words[type], "count",
                                 (json_int_t)count, "offset", (json_int_t)offset));
    return columns->bytes + offset;
}

static uint32_t ticks_of(uint64_t time_ns, uint64_t tick_ns)
{
    const uint64_t ticks = time_ns / tick_ns;
    return ticks < FOREVER_TICKS ? (uint32_t)ticks : FOREVER_TICKS - 1;
}

static uint32_t life_of(uint64_t begin_ns, uint64_t end_ns, uint64_t tick_ns)
{
    return end_ns == SUPPORT_HISTORY_FOREVER
               ? FOREVER_TICKS
               : ticks_of(end_ns, tick_ns) - ticks_of(begin_ns, tick_ns);
}

/* What is in the range of time of the report. */
static bool is_wanted(const struct support_report_info* info, uint64_t begin_ns, uint64_t end_ns)
{
    return begin_ns <= info->to_ns && end_ns >= info->from_ns;
}

static void add_memories(struct report_columns* columns, const struct support_report_info* info,
                         uint64_t tick_ns, uint32_t* rows)
{
    const struct support_history* const history = info->history;
    size_t count = 0;
    for (size_t i = 0; i < history->memories.count; ++i) {
        const struct support_history_memory* const memory = &history->memories.items[i];
        rows[i] = is_wanted(info, memory->begin_ns, memory->end_ns) ? (uint32_t)count++
                                                                    : SUPPORT_HISTORY_NONE;
    }
#define FILL(name, type, kind, value)                                                              \
    do {                                                                                           \
        type* const column = report_add_column(columns, name, kind, count);                        \
        for (size_t i = 0; column != NULL && i < history->memories.count; ++i) {                   \
            const struct support_history_memory* const memory = &history->memories.items[i];       \
            if (rows[i] != SUPPORT_HISTORY_NONE) {                                                 \
                column[rows[i]] = (value);                                                         \
            }                                                                                      \
        }                                                                                          \
    } while (0)
    uint32_t last = 0;
    uint32_t* const begins = report_add_column(columns, "m_begin", REPORT_U32, count);
    for (size_t i = 0; begins != NULL && i < history->memories.count; ++i) {
        const uint32_t begin = ticks_of(history->memories.items[i].begin_ns, tick_ns);
        if (rows[i] != SUPPORT_HISTORY_NONE) {
            begins[rows[i]] = begin - last;
            last = begin;
        }
    }
    FILL("m_life", uint32_t, REPORT_U32, life_of(memory->begin_ns, memory->end_ns, tick_ns));
    FILL("m_size", double, REPORT_F64, (double)memory->size);
    FILL("m_device", uint8_t, REPORT_U8, (uint8_t)memory->device);
    FILL("m_type", uint8_t, REPORT_U8, (uint8_t)memory->type);
    FILL("m_flags", uint8_t, REPORT_U8, (uint8_t)memory->flags);
    FILL("m_mapped", uint8_t, REPORT_U8, (uint8_t)(memory->map_count > 0));
    FILL("m_name", uint32_t, REPORT_U32, memory->name);
#undef FILL
}

/* The place of a caller among the modules' addresses is a text of its own only once. */
static void add_resources(struct report_columns* columns, const struct support_report_info* info,
                          uint64_t tick_ns, const uint32_t* memory_rows)
{
    const struct support_history* const history = info->history;
    const size_t all = history->resources.count;
    size_t count = 0;
    for (size_t i = 0; i < all; ++i) {
        const struct support_history_resource* const resource = &history->resources.items[i];
        count += is_wanted(info, resource->begin_ns, resource->end_ns) ? 1 : 0;
    }
#define FILL(name, type, kind, value)                                                              \
    do {                                                                                           \
        type* const column = report_add_column(columns, name, kind, count);                        \
        size_t row = 0;                                                                            \
        for (size_t i = 0; column != NULL && i < all; ++i) {                                       \
            const struct support_history_resource* const resource = &history->resources.items[i];  \
            if (is_wanted(info, resource->begin_ns, resource->end_ns)) {                           \
                column[row++] = (value);                                                           \
            }                                                                                      \
        }                                                                                          \
    } while (0)
    uint32_t last = 0;
    size_t at = 0;
    uint32_t* const begins = report_add_column(columns, "r_begin", REPORT_U32, count);
    for (size_t i = 0; begins != NULL && i < all; ++i) {
        const struct support_history_resource* const resource = &history->resources.items[i];
        if (is_wanted(info, resource->begin_ns, resource->end_ns)) {
            const uint32_t begin = ticks_of(resource->begin_ns, tick_ns);
            begins[at++] = begin - last;
            last = begin;
        }
    }
    FILL("r_life", uint32_t, REPORT_U32, life_of(resource->begin_ns, resource->end_ns, tick_ns));
    FILL("r_bind", uint32_t, REPORT_U32, life_of(resource->begin_ns, resource->bind_ns, tick_ns));
    FILL("r_size", double, REPORT_F64, (double)resource->size);
    FILL("r_asked", double, REPORT_F64, (double)resource->asked);
    FILL("r_offset", double, REPORT_F64, (double)resource->offset);
    FILL("r_sparse", double, REPORT_F64, (double)resource->sparse_peak);
    FILL("r_kind", uint8_t, REPORT_U8, resource->kind);
    FILL("r_device", uint8_t, REPORT_U8, (uint8_t)resource->device);
    FILL("r_usage", uint32_t, REPORT_U32, (uint32_t)resource->usage);
    FILL("r_memory", uint32_t, REPORT_U32,
         resource->memory != SUPPORT_HISTORY_NONE ? memory_rows[resource->memory]
                                                  : SUPPORT_HISTORY_NONE);
    FILL("r_image", uint32_t, REPORT_U32, resource->image);
    FILL("r_name", uint32_t, REPORT_U32, resource->name);
    FILL("r_structures", uint8_t, REPORT_U8, (uint8_t)(resource->structure_count > 0));
    FILL("r_caller", double, REPORT_F64, (double)resource->caller);
#undef FILL
}

static void add_images(struct report_columns* columns, const struct support_history* history)
{
    const size_t count = history->images.count;
#define FILL(name, field)                                                                          \
    do {                                                                                           \
        uint32_t* const column = report_add_column(columns, name, REPORT_U32, count);              \
        for (size_t i = 0; column != NULL && i < count; ++i) {                                     \
            column[i] = history->images.items[i].field;                                            \
        }                                                                                          \
    } while (0)
    FILL("i_format", format);
    FILL("i_width", width);
    FILL("i_height", height);
    FILL("i_depth", depth);
    FILL("i_layers", arrayLayers);
    FILL("i_mips", mipLevels);
    FILL("i_samples", samples);
#undef FILL
}

/* Frames and budgets. */
static void add_times(struct report_columns* columns, const struct support_report_info* info,
                      uint64_t tick_ns)
{
    const struct support_history* const history = info->history;
    size_t frames = 0;
    for (size_t i = 0; i < history->events.count; ++i) {
        frames += history->events.items[i].kind == MAAR_CAPTURE_KIND_FRAME ? 1 : 0;
    }
    uint32_t* const times = report_add_column(columns, "f_time", REPORT_U32, frames);
    uint32_t last = 0;
    size_t row = 0;
    for (size_t i = 0; times != NULL && i < history->events.count; ++i) {
        if (history->events.items[i].kind == MAAR_CAPTURE_KIND_FRAME) {
            const uint32_t time = ticks_of(history->events.items[i].time_ns, tick_ns);
            times[row++] = time - last;
            last = time;
        }
    }
    const size_t count = history->budgets.count;
    uint32_t* const budget_times = report_add_column(columns, "b_time", REPORT_U32, count);
    for (size_t i = 0; budget_times != NULL && i < count; ++i) {
        budget_times[i] = ticks_of(history->budgets.items[i].time_ns, tick_ns);
    }
    uint8_t* const devices = report_add_column(columns, "b_device", REPORT_U8, count);
    for (size_t i = 0; devices != NULL && i < count; ++i) {
        devices[i] = (uint8_t)history->budgets.items[i].device;
    }
    double* const budgets =
        report_add_column(columns, "b_budget", REPORT_F64, count * MAAR_CAPTURE_MOST_HEAPS);
    for (size_t i = 0; budgets != NULL && i < count * MAAR_CAPTURE_MOST_HEAPS; ++i) {
        const struct support_history_budget* const budget =
            &history->budgets.items[i / MAAR_CAPTURE_MOST_HEAPS];
        budgets[i] = (double)budget->budget[i % MAAR_CAPTURE_MOST_HEAPS];
    }
    double* const usages =
        report_add_column(columns, "b_usage", REPORT_F64, count * MAAR_CAPTURE_MOST_HEAPS);
    for (size_t i = 0; usages != NULL && i < count * MAAR_CAPTURE_MOST_HEAPS; ++i) {
        const struct support_history_budget* const budget =
            &history->budgets.items[i / MAAR_CAPTURE_MOST_HEAPS];
        usages[i] = (double)budget->usage[i % MAAR_CAPTURE_MOST_HEAPS];
    }
}

static void add_texts(struct report_columns* columns, const struct support_history* history)
{
    uint8_t* const texts = report_add_column(columns, "texts", REPORT_U8, history->texts.count);
    if (texts != NULL) {
        memcpy(texts, history->texts.items, history->texts.count);
    }
}

void report_add_history(struct report_columns* columns, const struct support_report_info* info,
                        uint64_t tick_ns)
{
    uint32_t* const rows = malloc((info->history->memories.count + 1) * sizeof *rows);
    if (rows == NULL) {
        columns->no_memory = true;
        return;
    }
    add_memories(columns, info, tick_ns, rows);
    add_resources(columns, info, tick_ns, rows);
    add_images(columns, info->history);
    add_times(columns, info, tick_ns);
    add_texts(columns, info->history);
    free(rows);
}

static void encode_base64(const uint8_t* from, size_t size, char* to)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t at = 0;
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const uint32_t three = (uint32_t)from[i] << 16 |
                               (left > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
                               (left > 2 ? (uint32_t)from[i + 2] : 0);
        to[at++] = digits[three >> 18];
        to[at++] = digits[three >> 12 & 63];
        to[at++] = left > 1 ? digits[three >> 6 & 63] : '=';
        to[at++] = left > 2 ? digits[three & 63] : '=';
    }
    to[at] = 0;
}

char* report_pack(const struct report_columns* columns, size_t* size)
{
    enum { REPORT_LEVEL = 3 }; /* a third of the time of level 6, for a twentieth more bytes */
    uLongf packed_size = compressBound((uLong)columns->size);
    uint8_t* const packed = malloc(packed_size);
    char* text = NULL;
    if (packed != NULL && compress2(packed, &packed_size, columns->bytes, (uLong)columns->size,
                                    REPORT_LEVEL) == Z_OK) {
        *size = (packed_size + 2) / 3 * 4;
        text = malloc(*size + 1);
        if (text != NULL) {
            encode_base64(packed, packed_size, text);
        }
    }
    free(packed);
    return text;
}
