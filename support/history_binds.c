/*
 * Binds in the history: resources, ranges and pages get memory.
 */
#include "support/history_internal.h"

/* Notes that a resource has bytes of a memory. Sizes are clamped to the memory. */
static const char* add_bind(struct history_work* work, uint32_t resource_index,
                            uint32_t memory_index, const MaarCaptureBind* facts)
{
    struct support_history* const history = work->history;
    struct support_history_resource* const resource = &history->resources.items[resource_index];
    uint32_t index = SUPPORT_HISTORY_NONE;
    HISTORY_PUSH(history->binds, index);
    if (index == SUPPORT_HISTORY_NONE) {
        return history_no_memory;
    }
    uint64_t size = facts->size != 0 ? facts->size : resource->size;
    if (memory_index != SUPPORT_HISTORY_NONE) {
        struct support_history_memory* const memory = &history->memories.items[memory_index];
        const uint64_t room = facts->offset < memory->size ? memory->size - facts->offset : 0;
        size = size < room ? size : room;
        memory->bound += size;
        memory->bound_peak =
            memory->bound_peak > memory->bound ? memory->bound_peak : memory->bound;
        memory->bind_count += 1;
    }
    size = size < HISTORY_MOST_BYTES ? size : HISTORY_MOST_BYTES;
    history->binds.items[index] = (struct support_history_bind){
        .offset = facts->offset,
        .size = size,
        .begin_ns = work->time_ns,
        .resource = resource_index,
        .memory = memory_index,
        .begin_event = history_event_number(history),
        .plane = facts->plane,
        .next = resource->first_bind,
    };
    if (resource->first_bind == SUPPORT_HISTORY_NONE) {
        resource->memory = memory_index;
        resource->offset = facts->offset;
        resource->bind_ns = work->time_ns;
        resource->bind_event = history_event_number(history);
    }
    resource->first_bind = index;
    work->index = index;
    return NULL;
}

const char* history_take_bind(struct history_work* work)
{
    MaarCaptureBind facts;
    history_take(work, &facts, sizeof facts);
    const uint32_t resource = history_find_live(work, facts.device, facts.objectKind, facts.object);
    const bool bindable = facts.objectKind == MAAR_CAPTURE_OBJECT_BUFFER ||
                          facts.objectKind == MAAR_CAPTURE_OBJECT_IMAGE ||
                          facts.objectKind == MAAR_CAPTURE_OBJECT_OTHER;
    if (!bindable) {
        return "only buffers, images and other resources can be bound";
    }
    const uint32_t memory =
        facts.memory != 0
            ? history_find_live(work, facts.device, MAAR_CAPTURE_OBJECT_MEMORY, facts.memory)
            : SUPPORT_HISTORY_NONE;
    if (resource == SUPPORT_HISTORY_NONE || (facts.memory != 0 && memory == SUPPORT_HISTORY_NONE) ||
        facts.result < 0 ||
        work->history->resources.items[resource].kind == SUPPORT_HISTORY_SWAPCHAIN) {
        history_stray(work);
        return NULL;
    }
    return add_bind(work, resource, memory, &facts);
}

const char* history_take_range(struct history_work* work)
{
    MaarCaptureRange facts;
    history_take(work, &facts, sizeof facts);
    const uint32_t device = work->device;
    if (facts.size > HISTORY_MOST_BYTES) {
        return "the range's size is impossible";
    }
    struct support_history_resource* const resource = history_add_resource(
        work, device, SUPPORT_HISTORY_RANGE, MAAR_CAPTURE_OBJECT_RANGE, facts.range);
    if (resource == NULL) {
        return history_no_memory;
    }
    resource->size = facts.size;
    resource->asked = facts.size;
    resource->alignment = facts.alignment;
    resource->type_bits = facts.typeBits;
    resource->detail = facts.resourceKind;
    resource->tiling_is_linear = facts.resourceKind == 1;
    const uint32_t range = work->index;
    const uint32_t memory =
        history_find_live(work, facts.device, MAAR_CAPTURE_OBJECT_MEMORY, facts.memory);
    const MaarCaptureBind bind = {.offset = facts.offset, .size = facts.size};
    const char* const fault =
        memory != SUPPORT_HISTORY_NONE ? add_bind(work, range, memory, &bind) : NULL;
    work->index = range;
    return fault;
}

const char* history_take_sparse_bind(struct history_work* work)
{
    struct support_history* const history = work->history;
    MaarCaptureSparseBind facts;
    history_take(work, &facts, sizeof facts);
    const uint32_t resource = history_find_live(work, facts.device, facts.objectKind, facts.object);
    const bool bindable = facts.objectKind == MAAR_CAPTURE_OBJECT_BUFFER ||
                          facts.objectKind == MAAR_CAPTURE_OBJECT_IMAGE;
    if (!bindable || facts.size > HISTORY_MOST_BYTES) {
        return "only buffers and images have sparse binds, of possible sizes";
    }
    if (resource == SUPPORT_HISTORY_NONE) {
        history_stray(work);
        return NULL;
    }
    HISTORY_PUSH(history->sparse_binds, work->index);
    if (work->index == SUPPORT_HISTORY_NONE) {
        return history_no_memory;
    }
    const uint32_t memory =
        history_find_live(work, facts.device, MAAR_CAPTURE_OBJECT_MEMORY, facts.memory);
    history->sparse_binds.items[work->index] = (struct support_history_sparse){
        .facts = facts,
        .time_ns = work->time_ns,
        .resource = resource,
        .memory = memory,
        .submit = history_find_live(work, facts.device, HISTORY_SUBMISSION, facts.submission),
    };
    struct support_history_resource* const owner = &history->resources.items[resource];
    if (memory != SUPPORT_HISTORY_NONE) {
        history->memories.items[memory].bind_count += 1;
        owner->sparse_bytes += facts.size;
    } else {
        owner->sparse_bytes -= facts.size < owner->sparse_bytes ? facts.size : owner->sparse_bytes;
    }
    owner->sparse_peak =
        owner->sparse_peak > owner->sparse_bytes ? owner->sparse_peak : owner->sparse_bytes;
    return NULL;
}

const char* history_take_structure(struct history_work* work)
{
    MaarCaptureStructure facts;
    history_take(work, &facts, sizeof facts);
    HISTORY_PUSH(work->history->structures, work->index);
    if (work->index == SUPPORT_HISTORY_NONE) {
        return history_no_memory;
    }
    work->history->structures.items[work->index] = facts;
    const uint32_t buffer =
        history_find_live(work, facts.device, MAAR_CAPTURE_OBJECT_BUFFER, facts.buffer);
    if (buffer != SUPPORT_HISTORY_NONE) {
        work->history->resources.items[buffer].structure_count += 1;
    }
    return NULL;
}
