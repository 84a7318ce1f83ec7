/*
 * Devices, heaps, memory types and queues in the history.
 */
#include "support/history_internal.h"

enum { HISTORY_MOST_DEVICES = 1024 };

const char* history_take_instance(struct history_work* work)
{
    struct support_history* const history = work->history;
    if (history->application == 0) {
        const size_t size = sizeof(MaarCaptureInstance);
        history->application =
            history_add_text(history, support_capture_text(work->entry, size, 0));
        history->engine = history_add_text(history, support_capture_text(work->entry, size, 1));
    }
    return NULL;
}

const char* history_take_device(struct history_work* work)
{
    struct support_history* const history = work->history;
    MaarCaptureDevice facts;
    history_take(work, &facts, sizeof facts);
    if (facts.heapCount > MAAR_CAPTURE_MOST_HEAPS || facts.typeCount > SUPPORT_HISTORY_MOST_TYPES) {
        return "the device has more heaps or memory types than Vulkan allows";
    }
    if (facts.heapCount == 0 && facts.typeCount != 0) {
        return "the device has memory types and no heap";
    }
    if (history_find_device(history, facts.device) != SUPPORT_HISTORY_NONE) {
        return "two devices have the same number";
    }
    if (history->devices.count >= HISTORY_MOST_DEVICES) {
        return "there are more than 1024 devices";
    }
    HISTORY_PUSH(history->devices, work->index);
    if (work->index == SUPPORT_HISTORY_NONE) {
        return history_no_memory;
    }
    struct support_history_device* const device = &history->devices.items[work->index];
    device->facts = facts;
    device->name = history_add_text(history, support_capture_text(work->entry, sizeof facts, 0));
    device->driver_name =
        history_add_text(history, support_capture_text(work->entry, sizeof facts, 1));
    device->driver_info =
        history_add_text(history, support_capture_text(work->entry, sizeof facts, 2));
    device->begin_ns = work->time_ns;
    device->end_ns = SUPPORT_HISTORY_FOREVER;
    device->begin_event = history_event_number(history);
    device->end_event = SUPPORT_HISTORY_NONE;
    return NULL;
}

const char* history_take_heap(struct history_work* work)
{
    MaarCaptureHeap facts;
    history_take(work, &facts, sizeof facts);
    const uint32_t device = work->device;
    if (facts.heap >= work->history->devices.items[device].facts.heapCount) {
        return "the heap does not exist";
    }
    work->history->devices.items[device].heaps[facts.heap] = facts;
    work->no_event = true;
    return NULL;
}

const char* history_take_type(struct history_work* work)
{
    MaarCaptureType facts;
    history_take(work, &facts, sizeof facts);
    const uint32_t device = work->device;
    const MaarCaptureDevice* const known = &work->history->devices.items[device].facts;
    if (facts.type >= known->typeCount || facts.heap >= known->heapCount) {
        return "the memory type, or its heap, does not exist";
    }
    work->history->devices.items[device].types[facts.type] = facts;
    work->no_event = true;
    return NULL;
}

const char* history_take_queue(struct history_work* work)
{
    MaarCaptureQueue facts;
    history_take(work, &facts, sizeof facts);
    HISTORY_PUSH(work->history->queues, work->index);
    if (work->index == SUPPORT_HISTORY_NONE) {
        return history_no_memory;
    }
    work->history->queues.items[work->index] = facts;
    return history_map_set(work->history->live, facts.device, MAAR_CAPTURE_OBJECT_QUEUE,
                           facts.queue, work->index)
               ? NULL
               : history_no_memory;
}

const char* history_take_device_end(struct history_work* work)
{
    MaarCaptureEnd facts;
    history_take(work, &facts, sizeof facts);
    work->index = work->device;
    struct support_history_device* const device = &work->history->devices.items[work->index];
    device->end_ns = work->time_ns;
    device->end_event = history_event_number(work->history);
    return NULL;
}
