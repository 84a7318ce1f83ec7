/*
 * Rows of maar-trace/2 about devices, memory, and binds.
 */
#include "support/trace_internal.h"

/* Reads an id that must be the number of objects of its kind so far. */
static bool trace_next_id(struct trace_reader* reader, size_t count)
{
    uint64_t id = 0;
    return trace_decimal(reader, COLUMN_ID, UINT64_MAX, &id) &&
           (id == count ||
            trace_fail(reader, COLUMN_ID, "does not follow: such objects count from 0 on"));
}

/* Reads an index below a count. */
static bool trace_below(struct trace_reader* reader, enum trace_column column, size_t count,
                        uint32_t* index)
{
    uint64_t value = 0;
    if (!trace_decimal(reader, column, UINT64_MAX, &value)) {
        return false;
    }
    *index = (uint32_t)value;
    return value < count || trace_fail(reader, column, "does not exist");
}

bool trace_read_device(struct trace_reader* reader)
{
    static const char* const kinds[] = {"other", "integrated", "discrete", "virtual", "cpu", NULL};
    enum { MOST_DEVICES = 1024 };
    struct support_trace* const trace = reader->trace;
    enum { KEYS = 9, USES = 8 };
    uint64_t facts[KEYS] = {0};
    uint32_t seen = 0;
    const struct trace_note_key keys[KEYS] = {
        {"vendor", NOTE_HEX, UINT32_MAX, &facts[0]},
        {"id", NOTE_HEX, UINT32_MAX, &facts[1]},
        {"driver", NOTE_HEX, UINT32_MAX, &facts[2]},
        {"api", NOTE_HEX, UINT32_MAX, &facts[3]},
        {"granularity", NOTE_DECIMAL, UINT64_MAX, &facts[4]},
        {"memories", NOTE_DECIMAL, UINT64_MAX, &facts[5]},
        {"atom", NOTE_DECIMAL, UINT64_MAX, &facts[6]},
        {"largest", NOTE_DECIMAL, UINT64_MAX, &facts[7]},
        {"uses", NOTE_HEX, UINT32_MAX, &facts[USES]},
    };
    if (!trace_next_id(reader, trace->device_count)) {
        return false;
    }
    if (trace->device_count == MOST_DEVICES) {
        return trace_fail(reader, COLUMN_ID, "is one device too many");
    }
    if (!trace_push(reader, &trace->devices, &trace->device_count, ARRAY_DEVICES,
                    sizeof(*trace->devices))) {
        return false;
    }
    reader->step.index = (uint32_t)(trace->device_count - 1);
    struct support_trace_device* const device = &trace->devices[reader->step.index];
    device->end_step = SUPPORT_TRACE_NONE;
    if (!trace_word(reader, COLUMN_KIND, kinds,
                    "is not other, integrated, discrete, virtual or cpu",
                    &device->card.device_type) ||
        !trace_note(reader, keys, KEYS, &seen) || !trace_name(reader, &device->name)) {
        return false;
    }
    device->card.vendor = (uint32_t)facts[0];
    device->card.id = (uint32_t)facts[1];
    device->card.driver = (uint32_t)facts[2];
    device->card.api = (uint32_t)facts[3];
    device->card.granularity = facts[4];
    device->card.most_memories = facts[5];
    device->card.atom = facts[6];
    device->card.largest = facts[7];
    device->has_uses = (seen >> USES & 1u) != 0;
    device->uses_flags = (uint32_t)facts[USES];
    return true;
}

bool trace_read_heap(struct trace_reader* reader)
{
    if (!trace_device(reader, true, &reader->step.index)) {
        return false;
    }
    struct support_card* const card = &reader->trace->devices[reader->step.index].card;
    if (!trace_next_id(reader, card->heap_count)) {
        return false;
    }
    if (card->heap_count == SUPPORT_CARD_MOST_HEAPS) {
        return trace_fail(reader, COLUMN_ID, "is one heap too many");
    }
    struct support_card_heap* const heap = &card->heaps[card->heap_count];
    card->heap_count++;
    return trace_decimal(reader, COLUMN_SIZE, UINT64_MAX, &heap->size) &&
           trace_hex32(reader, COLUMN_FLAGS, 0, &heap->flags);
}

bool trace_read_type(struct trace_reader* reader)
{
    if (!trace_device(reader, true, &reader->step.index)) {
        return false;
    }
    struct support_card* const card = &reader->trace->devices[reader->step.index].card;
    if (!trace_next_id(reader, card->type_count)) {
        return false;
    }
    if (card->type_count == SUPPORT_CARD_MOST_TYPES) {
        return trace_fail(reader, COLUMN_ID, "is one memory type too many");
    }
    struct support_card_type* const type = &card->types[card->type_count];
    card->type_count++;
    return trace_below(reader, COLUMN_OBJECT, card->heap_count, &type->heap) &&
           trace_hex32(reader, COLUMN_FLAGS, 0, &type->flags);
}

bool trace_read_queue(struct trace_reader* reader)
{
    struct support_trace* const trace = reader->trace;
    uint64_t family = 0;
    uint64_t index = 0;
    uint32_t seen = 0;
    const struct trace_note_key keys[] = {
        {"family", NOTE_DECIMAL, UINT32_MAX, &family},
        {"index", NOTE_DECIMAL, UINT32_MAX, &index},
    };
    if (!trace_next_id(reader, trace->queue_count) ||
        !trace_push(reader, &trace->queues, &trace->queue_count, ARRAY_QUEUES,
                    sizeof(*trace->queues))) {
        return false;
    }
    reader->step.index = (uint32_t)(trace->queue_count - 1);
    struct support_trace_queue* const queue = &trace->queues[reader->step.index];
    if (!trace_device(reader, true, &queue->device) ||
        !trace_hex32(reader, COLUMN_FLAGS, 0, &queue->flags) ||
        !trace_note(reader, keys, 2, &seen)) {
        return false;
    }
    queue->family = (uint32_t)family;
    queue->index = (uint32_t)index;
    return true;
}

bool trace_read_device_end(struct trace_reader* reader)
{
    if (!trace_below(reader, COLUMN_ID, reader->trace->device_count, &reader->step.index)) {
        return false;
    }
    struct support_trace_device* const device = &reader->trace->devices[reader->step.index];
    if (device->end_step != SUPPORT_TRACE_NONE) {
        return trace_fail(reader, COLUMN_ID, "has ended before");
    }
    device->end_step = (uint32_t)reader->trace->step_count;
    return true;
}

bool trace_read_memory(struct trace_reader* reader)
{
    struct support_trace* const trace = reader->trace;
    uint64_t took = 0;
    uint64_t handles = 0;
    uint64_t priority = SUPPORT_TRACE_NONE;
    uint32_t seen = 0;
    const struct trace_note_key keys[] = {
        {"took", NOTE_DECIMAL, UINT64_MAX, &took},
        {"handles", NOTE_HEX, UINT32_MAX, &handles},
        {"priority", NOTE_DECIMAL, 1000, &priority},
    };
    if (!trace_next_id(reader, trace->memory_count) ||
        !trace_push(reader, &trace->memories, &trace->memory_count, ARRAY_MEMORIES,
                    sizeof(*trace->memories))) {
        return false;
    }
    reader->step.index = (uint32_t)(trace->memory_count - 1);
    struct support_trace_memory* const memory = &trace->memories[reader->step.index];
    memory->begin_step = (uint32_t)trace->step_count;
    memory->end_step = SUPPORT_TRACE_NONE;
    if (!trace_device(reader, true, &memory->device) ||
        !trace_decimal(reader, COLUMN_SIZE, TRACE_MOST_BYTES, &memory->size) ||
        !trace_below(reader, COLUMN_OBJECT, trace->devices[memory->device].card.type_count,
                     &memory->type) ||
        !trace_hex32(reader, COLUMN_FLAGS, 0, &memory->flags) ||
        !trace_note(reader, keys, 3, &seen) || !trace_name(reader, &memory->name)) {
        return false;
    }
    memory->took_ns = took;
    memory->handle_types = (uint32_t)handles;
    memory->priority = (uint32_t)priority;
    return true;
}

bool trace_read_memory_failed(struct trace_reader* reader)
{
    struct support_trace* const trace = reader->trace;
    uint64_t type = 0;
    uint64_t error = 0;
    if (!trace_push(reader, &trace->failures, &trace->failure_count, ARRAY_FAILURES,
                    sizeof(*trace->failures))) {
        return false;
    }
    reader->step.index = (uint32_t)(trace->failure_count - 1);
    struct support_trace_failure* const failure = &trace->failures[reader->step.index];
    if (!trace_device(reader, true, &failure->device) ||
        !trace_decimal(reader, COLUMN_SIZE, UINT64_MAX, &failure->size) ||
        !trace_decimal(reader, COLUMN_OBJECT, UINT32_MAX, &type) ||
        !trace_decimal(reader, COLUMN_VALUE, UINT32_MAX, &error)) {
        return false;
    }
    failure->type = (uint32_t)type;
    failure->error = (uint32_t)error;
    return true;
}

/* Reads the id of a memory that lives. */
static bool trace_memory_id(struct trace_reader* reader)
{
    return trace_live_memory(reader, COLUMN_ID, &reader->step.index) &&
           (reader->step.index != SUPPORT_TRACE_NONE ||
            trace_fail(reader, COLUMN_ID, "is no memory that lives"));
}

bool trace_read_memory_end(struct trace_reader* reader)
{
    if (!trace_memory_id(reader)) {
        return false;
    }
    reader->trace->memories[reader->step.index].end_step = (uint32_t)reader->trace->step_count;
    return true;
}

bool trace_read_map(struct trace_reader* reader)
{
    return trace_memory_id(reader);
}

bool trace_read_mark(struct trace_reader* reader)
{
    return trace_name(reader, &reader->step.index);
}

bool trace_read_budget(struct trace_reader* reader)
{
    struct support_trace* const trace = reader->trace;
    if (!trace_push(reader, &trace->budgets, &trace->budget_count, ARRAY_BUDGETS,
                    sizeof(*trace->budgets))) {
        return false;
    }
    reader->step.index = (uint32_t)(trace->budget_count - 1);
    struct support_trace_budget* const budget = &trace->budgets[reader->step.index];
    return trace_device(reader, true, &budget->device) &&
           trace_below(reader, COLUMN_ID, trace->devices[budget->device].card.heap_count,
                       &budget->heap) &&
           trace_decimal(reader, COLUMN_SIZE, UINT64_MAX, &budget->budget) &&
           trace_decimal(reader, COLUMN_VALUE, UINT64_MAX, &budget->usage);
}

/* Appends a bind and reads what binds of both kinds have. Returns NULL after an error. */
static struct support_trace_bind* trace_add_bind(struct trace_reader* reader)
{
    struct support_trace* const trace = reader->trace;
    if (!trace_push(reader, &trace->binds, &trace->bind_count, ARRAY_BINDS,
                    sizeof(*trace->binds))) {
        return NULL;
    }
    reader->step.index = (uint32_t)(trace->bind_count - 1);
    struct support_trace_bind* const bind = &trace->binds[reader->step.index];
    bind->submit = SUPPORT_TRACE_NONE;
    const bool good = trace_find_resource(reader, COLUMN_ID, &bind->resource, &bind->is_reserved) &&
                      trace_live_memory(reader, COLUMN_OBJECT, &bind->memory) &&
                      trace_decimal(reader, COLUMN_OFFSET, UINT64_MAX, &bind->memory_offset) &&
                      trace_decimal(reader, COLUMN_SIZE, TRACE_MOST_BYTES, &bind->size);
    return good ? bind : NULL;
}

bool trace_read_bind(struct trace_reader* reader)
{
    struct support_trace_bind* const bind = trace_add_bind(reader);
    return bind != NULL && trace_decimal_or(reader, COLUMN_VALUE, UINT32_MAX, 0, &bind->plane);
}

bool trace_read_pages(struct trace_reader* reader)
{
    static const char* const kinds[] = {"bytes", "metadata", "texels", NULL};
    uint64_t facts[10] = {SUPPORT_TRACE_NONE};
    uint32_t seen = 0;
    uint32_t kind = 0;
    const struct trace_note_key keys[] = {
        {"submit", NOTE_DECIMAL, UINT32_MAX, &facts[0]},
        {"mip", NOTE_DECIMAL, UINT32_MAX, &facts[1]},
        {"layer", NOTE_DECIMAL, UINT32_MAX, &facts[2]},
        {"aspect", NOTE_HEX, UINT32_MAX, &facts[3]},
        {"origin", NOTE_BOX, UINT32_MAX, &facts[4]},
        {"extent", NOTE_BOX, UINT32_MAX, &facts[7]},
    };
    struct support_trace_bind* const bind = trace_add_bind(reader);
    if (bind == NULL || !trace_decimal(reader, COLUMN_VALUE, UINT64_MAX, &bind->offset) ||
        !trace_word(reader, COLUMN_KIND, kinds, "is not bytes, metadata or texels", &kind) ||
        !trace_note(reader, keys, 6, &seen)) {
        return false;
    }
    bind->is_metadata = kind == 1;
    bind->is_texels = kind == 2;
    if (bind->is_texels != ((seen & 0x3E) == 0x3E) || (!bind->is_texels && (seen & 0x3E) != 0)) {
        return trace_fail(reader, COLUMN_NOTE,
                          "does not have mip, layer, aspect, origin and extent, which texels have");
    }
    if ((seen & 1) != 0 && facts[0] >= reader->trace->submit_count) {
        return trace_fail(reader, COLUMN_NOTE, "names a submission that does not exist");
    }
    bind->submit = (uint32_t)facts[0];
    bind->mip = (uint32_t)facts[1];
    bind->layer = (uint32_t)facts[2];
    bind->aspect = (uint32_t)facts[3];
    for (size_t i = 0; i < 3; i++) {
        bind->origin[i] = (uint32_t)facts[4 + i];
        bind->extent[i] = (uint32_t)facts[7 + i];
    }
    return true;
}
