/*
 * What each entry of a capture means for the history. A handler reads its structure, checks the
 * numbers that other code uses as indices, and changes the arrays. It returns NULL, or what is
 * wrong. The handlers stand in files by subject: history_devices.c, history_memory.c,
 * history_resources.c, history_binds.c, history_time.c; those of names stand here.
 */
#include "support/history_internal.h"

const char history_no_memory[] = "out of memory";

void history_take(const struct history_work* work, void* facts, size_t size)
{
    (void)support_capture_take(work->entry, facts, size, size);
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
    history_take(work, &facts, sizeof facts);
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
    history_take(work, &facts, sizeof facts);
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

struct history_kind {
    const char* (*take)(struct history_work* work);
    size_t size;     /* of the structure; 0: the entry may be shorter */
    bool has_device; /* the entry is wrong unless its device exists */
};

static const struct history_kind history_kinds[] = {
    [MAAR_CAPTURE_KIND_INSTANCE] = {history_take_instance, 0, false},
    [MAAR_CAPTURE_KIND_DEVICE] = {history_take_device, sizeof(MaarCaptureDevice), false},
    [MAAR_CAPTURE_KIND_HEAP] = {history_take_heap, sizeof(MaarCaptureHeap), true},
    [MAAR_CAPTURE_KIND_TYPE] = {history_take_type, sizeof(MaarCaptureType), true},
    [MAAR_CAPTURE_KIND_QUEUE] = {history_take_queue, sizeof(MaarCaptureQueue), true},
    [MAAR_CAPTURE_KIND_DEVICE_END] = {history_take_device_end, sizeof(MaarCaptureEnd), true},
    [MAAR_CAPTURE_KIND_MEMORY] = {history_take_memory, sizeof(MaarCaptureMemory), true},
    [MAAR_CAPTURE_KIND_MEMORY_FAILED] = {history_take_memory, sizeof(MaarCaptureMemory), true},
    [MAAR_CAPTURE_KIND_MEMORY_END] = {history_take_memory_end, sizeof(MaarCaptureEnd), false},
    [MAAR_CAPTURE_KIND_MAP] = {history_take_map, sizeof(MaarCaptureMap), false},
    [MAAR_CAPTURE_KIND_UNMAP] = {history_take_unmap, sizeof(MaarCaptureEnd), false},
    [MAAR_CAPTURE_KIND_PRIORITY] = {history_take_priority, sizeof(MaarCapturePriority), false},
    [MAAR_CAPTURE_KIND_BUFFER] = {history_take_buffer, sizeof(MaarCaptureBuffer), true},
    [MAAR_CAPTURE_KIND_BUFFER_END] = {history_take_resource_end, sizeof(MaarCaptureEnd), false},
    [MAAR_CAPTURE_KIND_IMAGE] = {history_take_image, sizeof(MaarCaptureImage), true},
    [MAAR_CAPTURE_KIND_IMAGE_END] = {history_take_resource_end, sizeof(MaarCaptureEnd), false},
    [MAAR_CAPTURE_KIND_BIND] = {history_take_bind, sizeof(MaarCaptureBind), false},
    [MAAR_CAPTURE_KIND_RANGE] = {history_take_range, sizeof(MaarCaptureRange), true},
    [MAAR_CAPTURE_KIND_RANGE_END] = {history_take_resource_end, sizeof(MaarCaptureEnd), false},
    [MAAR_CAPTURE_KIND_SPARSE_BIND] = {history_take_sparse_bind, sizeof(MaarCaptureSparseBind),
                                       false},
    [MAAR_CAPTURE_KIND_STRUCTURE] = {history_take_structure, sizeof(MaarCaptureStructure), false},
    [MAAR_CAPTURE_KIND_STRUCTURE_END] = {history_take_nothing, 0, false},
    [MAAR_CAPTURE_KIND_SWAPCHAIN] = {history_take_swapchain, sizeof(MaarCaptureSwapchain), true},
    [MAAR_CAPTURE_KIND_SWAPCHAIN_IMAGE] = {history_take_swapchain_image,
                                           sizeof(MaarCaptureSwapchainImage), false},
    [MAAR_CAPTURE_KIND_SWAPCHAIN_END] = {history_take_resource_end, sizeof(MaarCaptureEnd), false},
    [MAAR_CAPTURE_KIND_OTHER] = {history_take_other, sizeof(MaarCaptureOther), true},
    [MAAR_CAPTURE_KIND_OTHER_END] = {history_take_resource_end, sizeof(MaarCaptureEnd), false},
    [MAAR_CAPTURE_KIND_FRAME] = {history_take_frame, sizeof(MaarCaptureFrame), true},
    [MAAR_CAPTURE_KIND_SUBMIT] = {history_take_submit, sizeof(MaarCaptureSubmit), true},
    [MAAR_CAPTURE_KIND_SUBMIT_WAIT] = {history_take_point, sizeof(MaarCapturePoint), false},
    [MAAR_CAPTURE_KIND_SUBMIT_SIGNAL] = {history_take_point, sizeof(MaarCapturePoint), false},
    [MAAR_CAPTURE_KIND_SEMAPHORE] = {history_take_semaphore, sizeof(MaarCaptureSemaphore), true},
    [MAAR_CAPTURE_KIND_SEMAPHORE_END] = {history_take_semaphore_end, sizeof(MaarCaptureEnd), false},
    [MAAR_CAPTURE_KIND_REACHED] = {history_take_reached, sizeof(MaarCaptureReached), true},
    [MAAR_CAPTURE_KIND_USE] = {history_take_use, sizeof(MaarCaptureUse), false},
    [MAAR_CAPTURE_KIND_BUDGET] = {history_take_budget, sizeof(MaarCaptureBudget), true},
    [MAAR_CAPTURE_KIND_NAME] = {history_take_name, sizeof(MaarCaptureName), false},
    [MAAR_CAPTURE_KIND_MODULE] = {history_take_module, sizeof(MaarCaptureModule), false},
    [MAAR_CAPTURE_KIND_MARK] = {history_take_mark, 0, false},
    [MAAR_CAPTURE_KIND_REPORT] = {history_take_nothing, 0, false},
    [MAAR_CAPTURE_KIND_END] = {history_take_nothing, 0, false},
    [MAAR_CAPTURE_KIND_USES] = {history_take_uses, sizeof(MaarCaptureUses), true},
};

/* Checks what the handlers rely on. Returns NULL, or what is wrong. */
static const char* check_entry(struct history_work* work, const struct history_kind* kind)
{
    if (work->entry->size < kind->size) {
        return "the entry is shorter than its structure";
    }
    if (kind->has_device) {
        uint32_t number; /* the first member of every structure of an entry */
        history_take(work, &number, sizeof number);
        work->device = history_find_device(work->history, number);
        if (work->device == SUPPORT_HISTORY_NONE) {
            return "the entry names a device that does not exist";
        }
    }
    return NULL;
}

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
    if (entry->kind >= sizeof history_kinds / sizeof history_kinds[0] ||
        history_kinds[entry->kind].take == NULL) {
        history->unknown += 1;
        return NULL;
    }
    const struct history_kind* const kind = &history_kinds[entry->kind];
    const char* fault = check_entry(&work, kind);
    fault = fault == NULL ? kind->take(&work) : fault;
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
