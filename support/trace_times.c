/*
 * Rows of maar-trace/2 about time: semaphores, submissions and what the host saw.
 */
#include "support/trace_internal.h"

#include "maar/capture_file.h"

bool trace_read_semaphore(struct trace_reader* reader)
{
    static const char* const kinds[] = {"binary", "timeline", NULL};
    struct support_trace* const trace = reader->trace;
    uint64_t id = 0;
    uint32_t kind = 0;
    if (!trace_decimal(reader, COLUMN_ID, UINT64_MAX, &id)) {
        return false;
    }
    if (id != trace->semaphore_count) {
        return trace_fail(reader, COLUMN_ID, "does not follow: semaphores count from 0 on");
    }
    if (!trace_push(reader, &trace->semaphores, &trace->semaphore_count, ARRAY_SEMAPHORES,
                    sizeof(*trace->semaphores))) {
        return false;
    }
    reader->step.index = (uint32_t)id;
    struct support_trace_semaphore* const semaphore = &trace->semaphores[id];
    semaphore->begin_step = (uint32_t)trace->step_count;
    semaphore->end_step = SUPPORT_TRACE_NONE;
    if (!trace_word(reader, COLUMN_KIND, kinds, "is not binary or timeline", &kind) ||
        !trace_device(reader, true, &semaphore->device)) {
        return false;
    }
    semaphore->is_timeline = kind == 1;
    return reader->fields[COLUMN_VALUE].size == 0 ||
           trace_decimal(reader, COLUMN_VALUE, UINT64_MAX, &semaphore->value);
}

bool trace_read_semaphore_end(struct trace_reader* reader)
{
    struct support_trace* const trace = reader->trace;
    uint64_t id = 0;
    if (!trace_decimal(reader, COLUMN_ID, UINT64_MAX, &id)) {
        return false;
    }
    if (id >= trace->semaphore_count || trace->semaphores[id].end_step != SUPPORT_TRACE_NONE) {
        return trace_fail(reader, COLUMN_ID, "is no semaphore that lives");
    }
    reader->step.index = (uint32_t)id;
    trace->semaphores[id].end_step = (uint32_t)trace->step_count;
    return true;
}

bool trace_read_submit(struct trace_reader* reader)
{
    static const char* const kinds[] = {"commands", "binds", "present", NULL};
    struct support_trace* const trace = reader->trace;
    uint64_t id = 0;
    uint64_t facts[3] = {SUPPORT_TRACE_NONE, 0, 0};
    uint32_t seen = 0;
    uint32_t kind = 0;
    const struct trace_note_key keys[] = {
        {"fence", NOTE_DECIMAL, UINT32_MAX - 1, &facts[0]},
        {"buffers", NOTE_DECIMAL, UINT32_MAX, &facts[1]},
        {"error", NOTE_DECIMAL, UINT32_MAX, &facts[2]},
    };
    if (!trace_decimal(reader, COLUMN_ID, UINT64_MAX, &id)) {
        return false;
    }
    if (id != trace->submit_count) {
        return trace_fail(reader, COLUMN_ID, "does not follow: submissions count from 0 on");
    }
    if (!trace_push(reader, &trace->submits, &trace->submit_count, ARRAY_SUBMITS,
                    sizeof(*trace->submits))) {
        return false;
    }
    reader->step.index = (uint32_t)id;
    struct support_trace_submit* const submit = &trace->submits[id];
    submit->step = (uint32_t)trace->step_count;
    submit->last_point = SUPPORT_TRACE_NONE;
    if (!trace_word(reader, COLUMN_KIND, kinds, "is not commands, binds or present", &kind) ||
        !trace_device(reader, true, &submit->device) ||
        !trace_decimal_or(reader, COLUMN_OBJECT, UINT32_MAX, SUPPORT_TRACE_NONE, &submit->queue) ||
        !trace_note(reader, keys, 3, &seen)) {
        return false;
    }
    if (submit->queue != SUPPORT_TRACE_NONE && submit->queue >= trace->queue_count) {
        return trace_fail(reader, COLUMN_OBJECT, "is no queue");
    }
    submit->kind = (uint8_t)kind;
    submit->fence = (uint32_t)facts[0];
    submit->buffers = (uint32_t)facts[1];
    submit->error = (uint32_t)facts[2];
    return true;
}

/* Reads the id of a submission. */
static bool trace_submit_id(struct trace_reader* reader, uint32_t* submit)
{
    uint64_t id = 0;
    if (!trace_decimal(reader, COLUMN_ID, UINT64_MAX, &id)) {
        return false;
    }
    *submit = (uint32_t)id;
    return id < reader->trace->submit_count || trace_fail(reader, COLUMN_ID, "is no submission");
}

static bool trace_read_point(struct trace_reader* reader, bool is_signal)
{
    struct support_trace* const trace = reader->trace;
    if (!trace_push(reader, &trace->points, &trace->point_count, ARRAY_POINTS,
                    sizeof(*trace->points))) {
        return false;
    }
    reader->step.index = (uint32_t)(trace->point_count - 1);
    struct support_trace_point* const point = &trace->points[reader->step.index];
    point->is_signal = is_signal;
    if (!trace_submit_id(reader, &point->submit) ||
        !trace_decimal_or(reader, COLUMN_OBJECT, UINT32_MAX, SUPPORT_TRACE_NONE,
                          &point->semaphore)) {
        return false;
    }
    if (point->semaphore != SUPPORT_TRACE_NONE && point->semaphore >= trace->semaphore_count) {
        return trace_fail(reader, COLUMN_OBJECT, "is no semaphore");
    }
    point->next = trace->submits[point->submit].last_point;
    trace->submits[point->submit].last_point = reader->step.index;
    return reader->fields[COLUMN_VALUE].size == 0 ||
           trace_decimal(reader, COLUMN_VALUE, UINT64_MAX, &point->value);
}

bool trace_read_wait(struct trace_reader* reader)
{
    return trace_read_point(reader, false);
}

bool trace_read_signal(struct trace_reader* reader)
{
    return trace_read_point(reader, true);
}

bool trace_read_use(struct trace_reader* reader)
{
    struct support_trace* const trace = reader->trace;
    if (!trace_push(reader, &trace->uses, &trace->use_count, ARRAY_USES, sizeof(*trace->uses))) {
        return false;
    }
    reader->step.index = (uint32_t)(trace->use_count - 1);
    struct support_trace_use* const use = &trace->uses[reader->step.index];
    const uint32_t known =
        MAAR_CAPTURE_USE_READ_BIT | MAAR_CAPTURE_USE_WRITE_BIT | MAAR_CAPTURE_USE_DISCARD_BIT;
    if (!trace_submit_id(reader, &use->submit) ||
        !trace_find_resource(reader, COLUMN_OBJECT, &use->resource, &use->is_reserved) ||
        !trace_hex32(reader, COLUMN_FLAGS, 0, &use->flags)) {
        return false;
    }
    return (use->flags & ~known) == 0 ||
           trace_fail(reader, COLUMN_FLAGS, "has bits above 0x7: read, write and discard");
}

/* Reads which object was waited for. */
static bool trace_reached_object(struct trace_reader* reader, struct support_trace_reached* reached)
{
    const struct support_trace* const trace = reader->trace;
    uint64_t id = 0;
    if (!trace_decimal(reader, COLUMN_ID, UINT32_MAX - 1, &id)) {
        return false;
    }
    reached->object = (uint32_t)id;
    switch (reached->kind) {
    case SUPPORT_TRACE_WAITED_SEMAPHORE:
        return id < trace->semaphore_count || trace_fail(reader, COLUMN_ID, "is no semaphore");
    case SUPPORT_TRACE_WAITED_QUEUE:
        return id < trace->queue_count || trace_fail(reader, COLUMN_ID, "is no queue");
    case SUPPORT_TRACE_WAITED_DEVICE:
        return id < trace->device_count || trace_fail(reader, COLUMN_ID, "is no device");
    default:
        return true;
    }
}

bool trace_read_reached(struct trace_reader* reader)
{
    static const char* const kinds[] = {"semaphore", "fence", "queue", "device", NULL};
    struct support_trace* const trace = reader->trace;
    uint32_t seen = 0;
    uint32_t kind = 0;
    uint32_t flags = 0;
    if (!trace_push(reader, &trace->reached, &trace->reached_count, ARRAY_REACHED,
                    sizeof(*trace->reached))) {
        return false;
    }
    reader->step.index = (uint32_t)(trace->reached_count - 1);
    struct support_trace_reached* const reached = &trace->reached[reader->step.index];
    const struct trace_note_key keys[] = {
        {"waited", NOTE_DECIMAL, UINT64_MAX, &reached->waited_ns}};
    if (!trace_device(reader, true, &reached->device) ||
        !trace_word(reader, COLUMN_KIND, kinds, "is not semaphore, fence, queue or device",
                    &kind) ||
        !trace_hex32(reader, COLUMN_FLAGS, 0, &flags) || !trace_note(reader, keys, 1, &seen)) {
        return false;
    }
    if (flags > 1) {
        return trace_fail(reader, COLUMN_FLAGS, "is not 0x0 or 0x1");
    }
    reached->kind = (uint8_t)kind;
    reached->is_signal = flags == 1;
    return trace_reached_object(reader, reached) &&
           (reader->fields[COLUMN_VALUE].size == 0 ||
            trace_decimal(reader, COLUMN_VALUE, UINT64_MAX, &reached->value));
}
