/*
 * What each entry of a capture means for the history. A handler reads its structure, checks the
 * numbers that other code uses as indices, and changes the arrays. It returns NULL, or what is
 * wrong. The handlers stand in files by subject: history_devices.c, history_memory.c,
 * history_resources.c, history_binds.c, history_time.c; those of names stand here.
 */
#include "support/history_internal.h"

const char history_no_memory[] = "out of memory";
const char history_too_short[] = "the entry is shorter than its structure";
const char history_no_device[] = "the entry names a device that does not exist";

bool history_take(const struct history_work* work, void* facts, size_t size)
{
    return support_capture_take(work->entry, facts, size, size);
}

uint32_t history_find_device(const struct support_history* history, uint32_t number)
{
    for (size_t i = history->devices.count; i > 0; --i) {
        if (history->devices.items[i - 1].facts.device == number) {
            return (uint32_t)(i - 1);
        }
    }
    return SUPPORT_HISTORY_NONE;
}

uint32_t history_find_live(const struct history_work* work, uint32_t device, uint32_t kind,
                           uint64_t handle)
{
    return history_map_find(work->history->live, device, kind, handle);
}

void history_stray(struct history_work* work)
{
    work->history->strays += 1;
    work->no_event = true;
}

uint32_t history_event_number(const struct support_history* history)
{
    return (uint32_t)history->events.count;
}

static const char* history_take_name(struct history_work* work)
{
    struct support_history* const history = work->history;
    MaarCaptureName facts;
    if (!history_take(work, &facts, sizeof facts)) {
        return history_too_short;
    }
    work->no_event = true;
    const uint32_t index = history_find_live(work, facts.device, facts.objectKind, facts.object);
    const char* const text = support_capture_text(work->entry, sizeof facts, 0);
    switch (facts.objectKind) {
    case MAAR_CAPTURE_OBJECT_MEMORY:
        if (index != SUPPORT_HISTORY_NONE) {
            history->memories.items[index].name = history_add_text(history, text);
        }
        break;
    case MAAR_CAPTURE_OBJECT_BUFFER:
    case MAAR_CAPTURE_OBJECT_IMAGE:
    case MAAR_CAPTURE_OBJECT_RANGE:
    case MAAR_CAPTURE_OBJECT_OTHER:
        if (index != SUPPORT_HISTORY_NONE &&
            history->resources.items[index].kind != SUPPORT_HISTORY_SWAPCHAIN) {
            history->resources.items[index].name = history_add_text(history, text);
        }
        break;
    default:
        break;
    }
    return NULL;
}

static const char* history_take_module(struct history_work* work)
{
    struct support_history* const history = work->history;
    MaarCaptureModule facts;
    if (!history_take(work, &facts, sizeof facts)) {
        return history_too_short;
    }
    work->no_event = true;
    uint32_t index = SUPPORT_HISTORY_NONE;
    HISTORY_PUSH(history->modules, index);
    if (index == SUPPORT_HISTORY_NONE) {
        return history_no_memory;
    }
    history->modules.items[index] = (struct support_history_module){
        .begin = facts.begin,
        .end = facts.end,
        .name = history_add_text(history, support_capture_text(work->entry, sizeof facts, 0)),
    };
    return NULL;
}

static const char* history_take_mark(struct history_work* work)
{
    HISTORY_PUSH(work->history->marks, work->index);
    if (work->index == SUPPORT_HISTORY_NONE) {
        return history_no_memory;
    }
    work->history->marks.items[work->index] = history_add_text(
        work->history, support_capture_text(work->entry, sizeof(MaarCaptureMark), 0));
    return NULL;
}

static const char* history_take_nothing(struct history_work* work)
{
    work->no_event = true;
    return NULL;
}

typedef const char* (*history_handler)(struct history_work* work);

static const history_handler history_handlers[] = {
    [MAAR_CAPTURE_KIND_INSTANCE] = history_take_instance,
    [MAAR_CAPTURE_KIND_DEVICE] = history_take_device,
    [MAAR_CAPTURE_KIND_HEAP] = history_take_heap,
    [MAAR_CAPTURE_KIND_TYPE] = history_take_type,
    [MAAR_CAPTURE_KIND_QUEUE] = history_take_queue,
    [MAAR_CAPTURE_KIND_DEVICE_END] = history_take_device_end,
    [MAAR_CAPTURE_KIND_MEMORY] = history_take_memory,
    [MAAR_CAPTURE_KIND_MEMORY_FAILED] = history_take_memory,
    [MAAR_CAPTURE_KIND_MEMORY_END] = history_take_memory_end,
    [MAAR_CAPTURE_KIND_MAP] = history_take_map,
    [MAAR_CAPTURE_KIND_UNMAP] = history_take_unmap,
    [MAAR_CAPTURE_KIND_PRIORITY] = history_take_priority,
    [MAAR_CAPTURE_KIND_BUFFER] = history_take_buffer,
    [MAAR_CAPTURE_KIND_BUFFER_END] = history_take_resource_end,
    [MAAR_CAPTURE_KIND_IMAGE] = history_take_image,
    [MAAR_CAPTURE_KIND_IMAGE_END] = history_take_resource_end,
    [MAAR_CAPTURE_KIND_BIND] = history_take_bind,
    [MAAR_CAPTURE_KIND_RANGE] = history_take_range,
    [MAAR_CAPTURE_KIND_RANGE_END] = history_take_resource_end,
    [MAAR_CAPTURE_KIND_SPARSE_BIND] = history_take_sparse_bind,
    [MAAR_CAPTURE_KIND_STRUCTURE] = history_take_structure,
    [MAAR_CAPTURE_KIND_STRUCTURE_END] = history_take_nothing,
    [MAAR_CAPTURE_KIND_SWAPCHAIN] = history_take_swapchain,
    [MAAR_CAPTURE_KIND_SWAPCHAIN_IMAGE] = history_take_swapchain_image,
    [MAAR_CAPTURE_KIND_SWAPCHAIN_END] = history_take_resource_end,
    [MAAR_CAPTURE_KIND_OTHER] = history_take_other,
    [MAAR_CAPTURE_KIND_OTHER_END] = history_take_resource_end,
    [MAAR_CAPTURE_KIND_FRAME] = history_take_frame,
    [MAAR_CAPTURE_KIND_SUBMIT] = history_take_submit,
    [MAAR_CAPTURE_KIND_SUBMIT_WAIT] = history_take_point,
    [MAAR_CAPTURE_KIND_SUBMIT_SIGNAL] = history_take_point,
    [MAAR_CAPTURE_KIND_SEMAPHORE] = history_take_semaphore,
    [MAAR_CAPTURE_KIND_SEMAPHORE_END] = history_take_semaphore_end,
    [MAAR_CAPTURE_KIND_REACHED] = history_take_reached,
    [MAAR_CAPTURE_KIND_USE] = history_take_use,
    [MAAR_CAPTURE_KIND_BUDGET] = history_take_budget,
    [MAAR_CAPTURE_KIND_NAME] = history_take_name,
    [MAAR_CAPTURE_KIND_MODULE] = history_take_module,
    [MAAR_CAPTURE_KIND_MARK] = history_take_mark,
    [MAAR_CAPTURE_KIND_REPORT] = history_take_nothing,
    [MAAR_CAPTURE_KIND_END] = history_take_nothing,
    [MAAR_CAPTURE_KIND_USES] = history_take_uses,
};

const char* history_take_entry(struct support_history* history,
                               const struct support_capture_entry* entry)
{
    const uint64_t start = history->header.start_ns;
    uint64_t time_ns = entry->time_ns > start ? entry->time_ns - start : 0;
    /* Threads take a place in the order first, and the time then. */
    time_ns = time_ns > history->last_ns ? time_ns : history->last_ns;
    if (time_ns > INT64_MAX) {
        return "the time is impossible";
    }
    struct history_work work = {
        .history = history, .entry = entry, .time_ns = time_ns, .index = SUPPORT_HISTORY_NONE};
    if (entry->kind >= sizeof history_handlers / sizeof history_handlers[0] ||
        history_handlers[entry->kind] == NULL) {
        history->unknown += 1;
        return NULL;
    }
    const char* const fault = history_handlers[entry->kind](&work);
    if (fault != NULL) {
        return fault;
    }
    history->last_ns = time_ns;
    if (!work.no_event) {
        uint32_t event = SUPPORT_HISTORY_NONE;
        HISTORY_PUSH(history->events, event);
        if (event == SUPPORT_HISTORY_NONE) {
            return history_no_memory;
        }
        history->events.items[event] = (struct support_history_event){
            .time_ns = time_ns,
            .thread = entry->thread,
            .index = work.index,
            .kind = (uint16_t)entry->kind,
        };
    }
    return NULL;
}
