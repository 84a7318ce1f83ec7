/*
 * Rows of a trace about resources, and the table of all operations of version 2.
 */
#include "support/trace_internal.h"

#include <string.h>

/* ---- both versions ---- */

static bool trace_read_kind(struct trace_reader* reader, bool reserved, uint8_t* kind)
{
    static const char* const words_1[] = {"buffer", "image_linear", "image_optimal", NULL};
    static const char* const words_2[] = {"buffer", "image_linear", "image_optimal",
                                          "other",  "swapchain",    NULL};
    uint32_t index = 0;
    const bool first = reader->columns == TRACE_COLUMNS_1;
    if (!trace_word(reader, COLUMN_KIND, first ? words_1 : words_2,
                    first ? "is not buffer, image_linear or image_optimal"
                          : "is not buffer, image_linear, image_optimal, other or swapchain",
                    &index)) {
        return false;
    }
    *kind = (uint8_t)index;
    return reserved || index != SUPPORT_TRACE_SWAPCHAIN ||
           trace_fail(reader, COLUMN_KIND, "has no memory of its own: reserve");
}

/* The columns that only version 2 has. */
static bool trace_read_more(struct trace_reader* reader, struct support_trace_resource* resource)
{
    resource->memory = SUPPORT_TRACE_NONE;
    resource->device = SUPPORT_TRACE_NONE;
    if (reader->columns == TRACE_COLUMNS_1) {
        return true;
    }
    uint64_t usage = 0;
    if (!trace_hex(reader, COLUMN_USAGE, 64, 0, &usage) ||
        !trace_device(reader, false, &resource->device) ||
        !trace_live_memory(reader, COLUMN_OBJECT, &resource->memory) ||
        !trace_hex32(reader, COLUMN_FLAGS, 0, &resource->create_flags) ||
        !trace_name(reader, &resource->name)) {
        return false;
    }
    resource->usage = (uint32_t)usage;
    resource->usage_above = (uint32_t)(usage >> 32);
    if (reader->fields[COLUMN_OFFSET].size != 0 &&
        !trace_decimal(reader, COLUMN_OFFSET, UINT64_MAX, &resource->offset)) {
        return false;
    }
    return reader->fields[COLUMN_VALUE].size == 0 ||
           trace_decimal(reader, COLUMN_VALUE, UINT64_MAX, &resource->asked);
}

/* Reads the columns of an alloc or reserve row into the last element of its array. */
static bool trace_read_resource(struct trace_reader* reader, bool reserved,
                                struct support_trace_resource* resource)
{
    const bool first = reader->columns == TRACE_COLUMNS_1;
    const uint64_t most = first ? (uint64_t)1 << 48 : TRACE_MOST_BYTES;
    if (!trace_decimal(reader, COLUMN_ID, UINT64_MAX, &resource->id) ||
        !trace_read_kind(reader, reserved, &resource->kind) ||
        !trace_decimal(reader, COLUMN_SIZE, most, &resource->size) ||
        !trace_decimal(reader, COLUMN_ALIGNMENT, (uint64_t)1 << 40, &resource->alignment) ||
        !trace_hex32(reader, COLUMN_TYPES, UINT32_MAX, &resource->type_bits) ||
        (first && !trace_hex32(reader, COLUMN_USAGE, 0, &resource->usage)) ||
        !trace_resource_note(reader, resource) || !trace_read_more(reader, resource)) {
        return false;
    }
    if (resource->size == 0) {
        return trace_fail(reader, COLUMN_SIZE, "is zero");
    }
    if (resource->alignment == 0 || (resource->alignment & (resource->alignment - 1)) != 0) {
        return trace_fail(reader, COLUMN_ALIGNMENT, "is not a power of two");
    }
    resource->alloc_time_ns = reader->time_ns;
    resource->free_time_ns = UINT64_MAX;
    resource->free_event = UINT32_MAX;
    return true;
}

/* Enters the id of a new resource into the table. */
static bool trace_enter_id(struct trace_reader* reader, uint64_t id, uint32_t entry)
{
    if (!trace_table_grow(reader)) {
        return false;
    }
    const size_t slot = trace_slot(reader, id);
    if (reader->table[slot] != 0) {
        return trace_fail(reader, COLUMN_ID, "was used before");
    }
    reader->table[slot] = entry;
    return true;
}

static bool trace_read_alloc(struct trace_reader* reader)
{
    struct support_trace* const trace = reader->trace;
    if (!trace_push(reader, &trace->resources, &trace->resource_count, ARRAY_RESOURCES,
                    sizeof(*trace->resources))) {
        return false;
    }
    const uint32_t index = (uint32_t)(trace->resource_count - 1);
    struct support_trace_resource* const resource = &trace->resources[index];
    if (!trace_read_resource(reader, false, resource) ||
        !trace_enter_id(reader, resource->id, index + 1)) {
        return false;
    }
    if (reader->live_bytes > UINT64_MAX - resource->size) {
        return trace_fail(reader, COLUMN_SIZE, "overflows the sum of live bytes");
    }
    resource->alloc_event = (uint32_t)trace->event_count;
    reader->live_bytes += resource->size;
    reader->live_count++;
    if (reader->live_bytes > trace->peak_live_bytes) {
        trace->peak_live_bytes = reader->live_bytes;
        trace->peak_event = trace->event_count;
    }
    if (reader->live_count > trace->peak_live_count) {
        trace->peak_live_count = reader->live_count;
    }
    if (resource->device != SUPPORT_TRACE_NONE) {
        trace->devices[resource->device].row_count++;
    }
    reader->step.index = index;
    return true;
}

/* Finds the entry of the table for a row's id; 0 after an error. */
static uint32_t trace_entry(struct trace_reader* reader, enum trace_column column)
{
    uint64_t id = 0;
    if (!trace_decimal(reader, column, UINT64_MAX, &id)) {
        return 0;
    }
    const uint32_t entry = reader->table_size != 0 ? reader->table[trace_slot(reader, id)] : 0;
    if (entry == 0) {
        trace_fail(reader, column, "was never allocated");
    }
    return entry;
}

static bool trace_read_free(struct trace_reader* reader)
{
    const uint32_t entry = trace_entry(reader, COLUMN_ID);
    if (entry == 0) {
        return false;
    }
    if ((entry & TRACE_RESERVED_BIT) != 0) {
        return trace_fail(reader, COLUMN_ID, "was reserved, not allocated");
    }
    reader->step.index = entry - 1;
    struct support_trace_resource* const resource = &reader->trace->resources[entry - 1];
    if (resource->free_event != UINT32_MAX) {
        return trace_fail(reader, COLUMN_ID, "was freed before");
    }
    resource->free_time_ns = reader->time_ns;
    resource->free_event = (uint32_t)reader->trace->event_count;
    reader->live_bytes -= resource->size;
    reader->live_count--;
    return true;
}

static bool trace_add_event(struct trace_reader* reader, enum support_trace_op op)
{
    struct support_trace* const trace = reader->trace;
    if (!trace_push(reader, &trace->events, &trace->event_count, ARRAY_EVENTS,
                    sizeof(*trace->events))) {
        return false;
    }
    trace->events[trace->event_count - 1] = (struct support_trace_event){
        .time_ns = reader->time_ns,
        .resource = op == SUPPORT_TRACE_FRAME ? UINT32_MAX : reader->step.index,
        .stream = reader->stream,
        .op = (uint8_t)op,
    };
    trace->frame_count += op == SUPPORT_TRACE_FRAME ? 1 : 0;
    return true;
}

/* The columns of stream and time, which all rows have. */
static bool trace_read_moment(struct trace_reader* reader)
{
    enum { MAX_STREAM = 65535 };
    uint64_t stream = 0;
    if (!trace_decimal(reader, COLUMN_STREAM, MAX_STREAM, &stream) ||
        !trace_decimal(reader, COLUMN_TIME, UINT64_MAX, &reader->time_ns)) {
        return false;
    }
    reader->stream = (uint32_t)stream;
    return true;
}

static void trace_note_stream(struct trace_reader* reader)
{
    if (reader->stream >= reader->trace->stream_count) {
        reader->trace->stream_count = reader->stream + 1;
    }
}

bool trace_read_row_1(struct trace_reader* reader)
{
    static const char* const ops[] = {"alloc", "free", "frame", NULL};
    uint32_t op = 0;
    if (!trace_read_moment(reader) ||
        !trace_word(reader, COLUMN_OP, ops, "is not alloc, free or frame", &op) ||
        (op == SUPPORT_TRACE_ALLOC && !trace_read_alloc(reader)) ||
        (op == SUPPORT_TRACE_FREE && !trace_read_free(reader)) ||
        !trace_add_event(reader, (enum support_trace_op)op)) {
        return false;
    }
    trace_note_stream(reader);
    return true;
}

/* ---- version 2 ---- */

bool trace_find_resource(struct trace_reader* reader, enum trace_column column, uint32_t* index,
                         bool* is_reserved)
{
    const uint32_t entry = trace_entry(reader, column);
    if (entry == 0) {
        return false;
    }
    *is_reserved = (entry & TRACE_RESERVED_BIT) != 0;
    *index = (entry & ~TRACE_RESERVED_BIT) - 1;
    const struct support_trace_resource* const resource =
        *is_reserved ? &reader->trace->reserved[*index] : &reader->trace->resources[*index];
    return resource->free_time_ns == UINT64_MAX || trace_fail(reader, column, "was freed before");
}

bool trace_device(struct trace_reader* reader, bool required, uint32_t* device)
{
    uint64_t value = SUPPORT_TRACE_NONE;
    if (!required && reader->fields[COLUMN_DEVICE].size == 0) {
        *device = SUPPORT_TRACE_NONE;
        return true;
    }
    if (!trace_decimal(reader, COLUMN_DEVICE, UINT64_MAX, &value)) {
        return false;
    }
    *device = (uint32_t)value;
    return value < reader->trace->device_count ||
           trace_fail(reader, COLUMN_DEVICE, "does not exist");
}

bool trace_live_memory(struct trace_reader* reader, enum trace_column column, uint32_t* memory)
{
    uint64_t value = 0;
    *memory = SUPPORT_TRACE_NONE;
    if (reader->fields[column].size == 0) {
        return true;
    }
    if (!trace_decimal(reader, column, UINT64_MAX, &value)) {
        return false;
    }
    *memory = (uint32_t)value;
    return (value < reader->trace->memory_count &&
            reader->trace->memories[value].end_step == SUPPORT_TRACE_NONE) ||
           trace_fail(reader, column, "is no memory that lives");
}

static bool trace_read_reserve(struct trace_reader* reader)
{
    struct support_trace* const trace = reader->trace;
    if (!trace_push(reader, &trace->reserved, &trace->reserved_count, ARRAY_RESERVED,
                    sizeof(*trace->reserved))) {
        return false;
    }
    const uint32_t index = (uint32_t)(trace->reserved_count - 1);
    struct support_trace_resource* const resource = &trace->reserved[index];
    if (!trace_read_resource(reader, true, resource) ||
        !trace_enter_id(reader, resource->id, (index + 1) | TRACE_RESERVED_BIT)) {
        return false;
    }
    resource->alloc_event = UINT32_MAX;
    reader->step.index = index;
    return true;
}

static bool trace_read_unreserve(struct trace_reader* reader)
{
    bool is_reserved = false;
    if (!trace_find_resource(reader, COLUMN_ID, &reader->step.index, &is_reserved)) {
        return false;
    }
    if (!is_reserved) {
        return trace_fail(reader, COLUMN_ID, "was allocated, not reserved");
    }
    reader->trace->reserved[reader->step.index].free_time_ns = reader->time_ns;
    return true;
}

static bool trace_read_frame(struct trace_reader* reader)
{
    return trace_device(reader, false, &reader->step.index);
}

struct trace_rule {
    const char* word;
    bool (*read)(struct trace_reader* reader);
    uint32_t columns; /* beside op, stream and time */
};

#define COLUMN_BIT(column) (1u << COLUMN_##column)

enum {
    TRACE_RESOURCE_COLUMNS = COLUMN_BIT(ID) | COLUMN_BIT(KIND) | COLUMN_BIT(SIZE) |
                             COLUMN_BIT(ALIGNMENT) | COLUMN_BIT(TYPES) | COLUMN_BIT(USAGE) |
                             COLUMN_BIT(NOTE) | COLUMN_BIT(DEVICE) | COLUMN_BIT(FLAGS) |
                             COLUMN_BIT(VALUE) | COLUMN_BIT(NAME),
};

static const struct trace_rule trace_rules[SUPPORT_TRACE_OP_COUNT] = {
    [SUPPORT_TRACE_ALLOC] = {"alloc", trace_read_alloc,
                             TRACE_RESOURCE_COLUMNS | COLUMN_BIT(OBJECT) | COLUMN_BIT(OFFSET)},
    [SUPPORT_TRACE_FREE] = {"free", trace_read_free, COLUMN_BIT(ID)},
    [SUPPORT_TRACE_FRAME] = {"frame", trace_read_frame, COLUMN_BIT(DEVICE)},
    [SUPPORT_TRACE_RESERVE] = {"reserve", trace_read_reserve, TRACE_RESOURCE_COLUMNS},
    [SUPPORT_TRACE_UNRESERVE] = {"unreserve", trace_read_unreserve, COLUMN_BIT(ID)},
    [SUPPORT_TRACE_DEVICE] = {"device", trace_read_device,
                              COLUMN_BIT(ID) | COLUMN_BIT(KIND) | COLUMN_BIT(NOTE) |
                                  COLUMN_BIT(NAME)},
    [SUPPORT_TRACE_HEAP] = {"heap", trace_read_heap,
                            COLUMN_BIT(ID) | COLUMN_BIT(SIZE) | COLUMN_BIT(DEVICE) |
                                COLUMN_BIT(FLAGS)},
    [SUPPORT_TRACE_TYPE] = {"type", trace_read_type,
                            COLUMN_BIT(ID) | COLUMN_BIT(DEVICE) | COLUMN_BIT(OBJECT) |
                                COLUMN_BIT(FLAGS)},
    [SUPPORT_TRACE_QUEUE] = {"queue", trace_read_queue,
                             COLUMN_BIT(ID) | COLUMN_BIT(NOTE) | COLUMN_BIT(DEVICE) |
                                 COLUMN_BIT(FLAGS)},
    [SUPPORT_TRACE_DEVICE_END] = {"device_end", trace_read_device_end, COLUMN_BIT(ID)},
    [SUPPORT_TRACE_MEMORY] = {"memory", trace_read_memory,
                              COLUMN_BIT(ID) | COLUMN_BIT(SIZE) | COLUMN_BIT(NOTE) |
                                  COLUMN_BIT(DEVICE) | COLUMN_BIT(OBJECT) | COLUMN_BIT(FLAGS) |
                                  COLUMN_BIT(NAME)},
    [SUPPORT_TRACE_MEMORY_FAILED] = {"memory_failed", trace_read_memory_failed,
                                     COLUMN_BIT(SIZE) | COLUMN_BIT(DEVICE) | COLUMN_BIT(OBJECT) |
                                         COLUMN_BIT(VALUE)},
    [SUPPORT_TRACE_MEMORY_END] = {"memory_end", trace_read_memory_end, COLUMN_BIT(ID)},
    [SUPPORT_TRACE_MAP] = {"map", trace_read_map, COLUMN_BIT(ID)},
    [SUPPORT_TRACE_UNMAP] = {"unmap", trace_read_map, COLUMN_BIT(ID)},
    [SUPPORT_TRACE_BIND] = {"bind", trace_read_bind,
                            COLUMN_BIT(ID) | COLUMN_BIT(SIZE) | COLUMN_BIT(OBJECT) |
                                COLUMN_BIT(OFFSET) | COLUMN_BIT(VALUE)},
    [SUPPORT_TRACE_PAGES] = {"pages", trace_read_pages,
                             COLUMN_BIT(ID) | COLUMN_BIT(KIND) | COLUMN_BIT(SIZE) |
                                 COLUMN_BIT(NOTE) | COLUMN_BIT(OBJECT) | COLUMN_BIT(OFFSET) |
                                 COLUMN_BIT(VALUE)},
    [SUPPORT_TRACE_SEMAPHORE] = {"semaphore", trace_read_semaphore,
                                 COLUMN_BIT(ID) | COLUMN_BIT(KIND) | COLUMN_BIT(DEVICE) |
                                     COLUMN_BIT(VALUE)},
    [SUPPORT_TRACE_SEMAPHORE_END] = {"semaphore_end", trace_read_semaphore_end, COLUMN_BIT(ID)},
    [SUPPORT_TRACE_SUBMIT] = {"submit", trace_read_submit,
                              COLUMN_BIT(ID) | COLUMN_BIT(KIND) | COLUMN_BIT(NOTE) |
                                  COLUMN_BIT(DEVICE) | COLUMN_BIT(OBJECT)},
    [SUPPORT_TRACE_WAIT] = {"wait", trace_read_wait,
                            COLUMN_BIT(ID) | COLUMN_BIT(OBJECT) | COLUMN_BIT(VALUE)},
    [SUPPORT_TRACE_SIGNAL] = {"signal", trace_read_signal,
                              COLUMN_BIT(ID) | COLUMN_BIT(OBJECT) | COLUMN_BIT(VALUE)},
    [SUPPORT_TRACE_USE] = {"use", trace_read_use,
                           COLUMN_BIT(ID) | COLUMN_BIT(OBJECT) | COLUMN_BIT(FLAGS)},
    [SUPPORT_TRACE_REACHED] = {"reached", trace_read_reached,
                               COLUMN_BIT(ID) | COLUMN_BIT(KIND) | COLUMN_BIT(NOTE) |
                                   COLUMN_BIT(DEVICE) | COLUMN_BIT(FLAGS) | COLUMN_BIT(VALUE)},
    [SUPPORT_TRACE_BUDGET] = {"budget", trace_read_budget,
                              COLUMN_BIT(ID) | COLUMN_BIT(SIZE) | COLUMN_BIT(DEVICE) |
                                  COLUMN_BIT(VALUE)},
    [SUPPORT_TRACE_MARK] = {"mark", trace_read_mark, COLUMN_BIT(NAME)},
};

/* Returns whether the row fills in none but its operation's columns. */
static bool trace_check_columns(struct trace_reader* reader, uint32_t columns)
{
    columns |= COLUMN_BIT(OP) | COLUMN_BIT(STREAM) | COLUMN_BIT(TIME);
    for (uint32_t i = 0; i < TRACE_COLUMNS_2; i++) {
        if ((columns >> i & 1u) == 0 && reader->fields[i].size != 0) {
            return trace_fail(reader, (enum trace_column)i, "does not belong to such a row");
        }
    }
    return true;
}

bool trace_read_row_2(struct trace_reader* reader)
{
    struct support_trace* const trace = reader->trace;
    const uint64_t before_ns = reader->time_ns;
    uint32_t op = 0;
    while (op < SUPPORT_TRACE_OP_COUNT &&
           !trace_is(reader->fields[COLUMN_OP], trace_rules[op].word)) {
        op++;
    }
    if (op == SUPPORT_TRACE_OP_COUNT) {
        return trace_fail(reader, COLUMN_OP, "is no operation of maar-trace/2");
    }
    if (!trace_check_columns(reader, trace_rules[op].columns) || !trace_read_moment(reader)) {
        return false;
    }
    if (reader->time_ns < before_ns) {
        return trace_fail(reader, COLUMN_TIME, "is before the time of the row above");
    }
    reader->step = (struct support_trace_step){.time_ns = reader->time_ns,
                                               .index = SUPPORT_TRACE_NONE,
                                               .stream = reader->stream,
                                               .op = (uint8_t)op};
    if (!trace_rules[op].read(reader) ||
        (op <= SUPPORT_TRACE_FRAME && !trace_add_event(reader, (enum support_trace_op)op)) ||
        !trace_push(reader, &trace->steps, &trace->step_count, ARRAY_STEPS,
                    sizeof(*trace->steps))) {
        return false;
    }
    trace->steps[trace->step_count - 1] = reader->step;
    trace_note_stream(reader);
    return true;
}
