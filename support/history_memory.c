/*
 * Device memory in the history: allocations, failures, mappings, priorities.
 */
#include "support/history_internal.h"

static const char* take_failure(struct history_work* work, const MaarCaptureMemory* facts,
                                uint32_t device)
{
    HISTORY_PUSH(work->history->failures, work->index);
    if (work->index == SUPPORT_HISTORY_NONE) {
        return history_no_memory;
    }
    work->history->failures.items[work->index] = (struct support_history_failure){
        .time_ns = work->time_ns,
        .size = facts->size,
        .device = device,
        .type = facts->type,
        .result = facts->result,
    };
    return NULL;
}

const char* history_take_memory(struct history_work* work)
{
    struct support_history* const history = work->history;
    MaarCaptureMemory facts;
    history_take(work, &facts, sizeof facts);
    const uint32_t device = work->device;
    if (work->entry->kind == MAAR_CAPTURE_KIND_MEMORY_FAILED) {
        return take_failure(work, &facts, device);
    }
    if (facts.type >= history->devices.items[device].facts.typeCount) {
        return "the memory type does not exist";
    }
    /* Some drivers promise any size; nobody can use more than the most. */
    facts.size = facts.size < HISTORY_MOST_BYTES ? facts.size : HISTORY_MOST_BYTES;
    HISTORY_PUSH(history->memories, work->index);
    if (work->index == SUPPORT_HISTORY_NONE ||
        !history_map_set(history->live, facts.device, MAAR_CAPTURE_OBJECT_MEMORY, facts.memory,
                         work->index)) {
        return history_no_memory;
    }
    uint32_t dedicated = SUPPORT_HISTORY_NONE;
    if ((facts.flags & MAAR_CAPTURE_MEMORY_DEDICATED_BUFFER_BIT) != 0) {
        dedicated = history_find_live(work, facts.device, MAAR_CAPTURE_OBJECT_BUFFER, facts.object);
    } else if ((facts.flags & MAAR_CAPTURE_MEMORY_DEDICATED_IMAGE_BIT) != 0) {
        dedicated = history_find_live(work, facts.device, MAAR_CAPTURE_OBJECT_IMAGE, facts.object);
    }
    history->memories.items[work->index] = (struct support_history_memory){
        .handle = facts.memory,
        .size = facts.size,
        .begin_ns = work->time_ns,
        .end_ns = SUPPORT_HISTORY_FOREVER,
        .duration_ns = facts.duration_ns,
        .caller = facts.caller,
        .device = device,
        .type = facts.type,
        .begin_event = history_event_number(history),
        .end_event = SUPPORT_HISTORY_NONE,
        .dedicated = dedicated,
        .flags = facts.flags,
        .handle_types = facts.handleTypes,
        .priority = facts.priority,
    };
    return NULL;
}

const char* history_take_memory_end(struct history_work* work)
{
    MaarCaptureEnd facts;
    history_take(work, &facts, sizeof facts);
    work->index = history_find_live(work, facts.device, MAAR_CAPTURE_OBJECT_MEMORY, facts.handle);
    if (work->index == SUPPORT_HISTORY_NONE) {
        history_stray(work);
        return NULL;
    }
    history_map_remove(work->history->live, facts.device, MAAR_CAPTURE_OBJECT_MEMORY, facts.handle);
    struct support_history_memory* const memory = &work->history->memories.items[work->index];
    memory->end_ns = work->time_ns;
    memory->end_event = history_event_number(work->history);
    return NULL;
}

const char* history_take_map(struct history_work* work)
{
    MaarCaptureMap facts;
    history_take(work, &facts, sizeof facts);
    work->index = history_find_live(work, facts.device, MAAR_CAPTURE_OBJECT_MEMORY, facts.memory);
    if (work->index == SUPPORT_HISTORY_NONE) {
        history_stray(work);
        return NULL;
    }
    work->history->memories.items[work->index].map_count += 1;
    return NULL;
}

const char* history_take_unmap(struct history_work* work)
{
    MaarCaptureEnd facts;
    history_take(work, &facts, sizeof facts);
    work->index = history_find_live(work, facts.device, MAAR_CAPTURE_OBJECT_MEMORY, facts.handle);
    if (work->index == SUPPORT_HISTORY_NONE) {
        history_stray(work);
    }
    return NULL;
}

const char* history_take_priority(struct history_work* work)
{
    MaarCapturePriority facts;
    history_take(work, &facts, sizeof facts);
    work->index = history_find_live(work, facts.device, MAAR_CAPTURE_OBJECT_MEMORY, facts.memory);
    if (work->index == SUPPORT_HISTORY_NONE) {
        history_stray(work);
        return NULL;
    }
    work->history->memories.items[work->index].priority = facts.priority;
    return NULL;
}
