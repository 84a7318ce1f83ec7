/*
 * What each entry of a capture means for the history. A handler reads its structure, checks the
 * numbers that other code uses as indices, and changes the arrays. It returns NULL, or what is
 * wrong.
 */
#include "support/history_internal.h"

#include <string.h>

enum { HISTORY_MOST_DEVICES = 1024 };

static const char no_memory[] = "out of memory";
static const char too_short[] = "the entry is shorter than its structure";
static const char no_device[] = "the entry names a device that does not exist";

#define NONE SUPPORT_HISTORY_NONE

/* An entry in the work. */
struct history_work {
    struct support_history* history;
    const struct support_capture_entry* entry;
    uint64_t time_ns;
    uint32_t index; /* of the event */
    bool no_event;
};

/* Reads the structure of an entry. All fields of version 1 must be there. */
static bool take(const struct history_work* work, void* facts, size_t size)
{
    return support_capture_take(work->entry, facts, size, size);
}

static uint32_t find_device(const struct support_history* history, uint32_t number)
{
    for (size_t i = history->devices.count; i > 0; --i) {
        if (history->devices.items[i - 1].facts.device == number) {
            return (uint32_t)(i - 1);
        }
    }
    return NONE;
}

static uint32_t find_live(const struct history_work* work, uint32_t device, uint32_t kind,
                          uint64_t handle)
{
    return history_map_find(work->history->live, device, kind, handle);
}

static void stray(struct history_work* work)
{
    work->history->strays += 1;
    work->no_event = true;
}

static uint64_t event_number(const struct support_history* history)
{
    return history->events.count;
}

/* ---- devices ---- */

static const char* take_instance(struct history_work* work)
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

static const char* take_device(struct history_work* work)
{
    struct support_history* const history = work->history;
    MaarCaptureDevice facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    if (facts.heapCount > MAAR_CAPTURE_MOST_HEAPS || facts.typeCount > SUPPORT_HISTORY_MOST_TYPES) {
        return "the device has more heaps or memory types than Vulkan allows";
    }
    if (find_device(history, facts.device) != NONE) {
        return "two devices have the same number";
    }
    if (history->devices.count >= HISTORY_MOST_DEVICES) {
        return "there are more than 1024 devices";
    }
    HISTORY_PUSH(history->devices, work->index);
    if (work->index == NONE) {
        return no_memory;
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
    device->begin_event = (uint32_t)event_number(history);
    device->end_event = NONE;
    return NULL;
}

static const char* take_heap(struct history_work* work)
{
    MaarCaptureHeap facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    const uint32_t device = find_device(work->history, facts.device);
    if (device == NONE) {
        return no_device;
    }
    if (facts.heap >= work->history->devices.items[device].facts.heapCount) {
        return "the heap does not exist";
    }
    work->history->devices.items[device].heaps[facts.heap] = facts;
    work->no_event = true;
    return NULL;
}

static const char* take_type(struct history_work* work)
{
    MaarCaptureType facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    const uint32_t device = find_device(work->history, facts.device);
    if (device == NONE) {
        return no_device;
    }
    const MaarCaptureDevice* const known = &work->history->devices.items[device].facts;
    if (facts.type >= known->typeCount || facts.heap >= known->heapCount) {
        return "the memory type, or its heap, does not exist";
    }
    work->history->devices.items[device].types[facts.type] = facts;
    work->no_event = true;
    return NULL;
}

static const char* take_queue(struct history_work* work)
{
    MaarCaptureQueue facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    if (find_device(work->history, facts.device) == NONE) {
        return no_device;
    }
    HISTORY_PUSH(work->history->queues, work->index);
    if (work->index == NONE) {
        return no_memory;
    }
    work->history->queues.items[work->index] = facts;
    return NULL;
}

static const char* take_device_end(struct history_work* work)
{
    MaarCaptureEnd facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    work->index = find_device(work->history, facts.device);
    if (work->index == NONE) {
        return no_device;
    }
    struct support_history_device* const device = &work->history->devices.items[work->index];
    device->end_ns = work->time_ns;
    device->end_event = (uint32_t)event_number(work->history);
    return NULL;
}

/* ---- memory ---- */

static const char* take_failure(struct history_work* work, const MaarCaptureMemory* facts,
                                uint32_t device)
{
    HISTORY_PUSH(work->history->failures, work->index);
    if (work->index == NONE) {
        return no_memory;
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

static const char* take_memory(struct history_work* work)
{
    struct support_history* const history = work->history;
    MaarCaptureMemory facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    const uint32_t device = find_device(history, facts.device);
    if (device == NONE) {
        return no_device;
    }
    if (work->entry->kind == MAAR_CAPTURE_KIND_MEMORY_FAILED) {
        return take_failure(work, &facts, device);
    }
    if (facts.type >= history->devices.items[device].facts.typeCount) {
        return "the memory type does not exist";
    }
    if (facts.size > HISTORY_MOST_BYTES) {
        return "the memory's size is impossible";
    }
    HISTORY_PUSH(history->memories, work->index);
    if (work->index == NONE ||
        !history_map_set(history->live, facts.device, MAAR_CAPTURE_OBJECT_MEMORY, facts.memory,
                         work->index)) {
        return no_memory;
    }
    uint32_t dedicated = NONE;
    if ((facts.flags & MAAR_CAPTURE_MEMORY_DEDICATED_BUFFER_BIT) != 0) {
        dedicated = find_live(work, facts.device, MAAR_CAPTURE_OBJECT_BUFFER, facts.object);
    } else if ((facts.flags & MAAR_CAPTURE_MEMORY_DEDICATED_IMAGE_BIT) != 0) {
        dedicated = find_live(work, facts.device, MAAR_CAPTURE_OBJECT_IMAGE, facts.object);
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
        .begin_event = (uint32_t)event_number(history),
        .end_event = NONE,
        .dedicated = dedicated,
        .flags = facts.flags,
        .handle_types = facts.handleTypes,
        .priority = facts.priority,
    };
    return NULL;
}

static const char* take_memory_end(struct history_work* work)
{
    MaarCaptureEnd facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    work->index = find_live(work, facts.device, MAAR_CAPTURE_OBJECT_MEMORY, facts.handle);
    if (work->index == NONE) {
        stray(work);
        return NULL;
    }
    history_map_remove(work->history->live, facts.device, MAAR_CAPTURE_OBJECT_MEMORY, facts.handle);
    struct support_history_memory* const memory = &work->history->memories.items[work->index];
    memory->end_ns = work->time_ns;
    memory->end_event = (uint32_t)event_number(work->history);
    return NULL;
}

static const char* take_map(struct history_work* work)
{
    MaarCaptureMap facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    work->index = find_live(work, facts.device, MAAR_CAPTURE_OBJECT_MEMORY, facts.memory);
    if (work->index == NONE) {
        stray(work);
        return NULL;
    }
    work->history->memories.items[work->index].map_count += 1;
    return NULL;
}

static const char* take_unmap(struct history_work* work)
{
    MaarCaptureEnd facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    work->index = find_live(work, facts.device, MAAR_CAPTURE_OBJECT_MEMORY, facts.handle);
    if (work->index == NONE) {
        stray(work);
    }
    return NULL;
}

static const char* take_priority(struct history_work* work)
{
    MaarCapturePriority facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    work->index = find_live(work, facts.device, MAAR_CAPTURE_OBJECT_MEMORY, facts.memory);
    if (work->index == NONE) {
        stray(work);
        return NULL;
    }
    work->history->memories.items[work->index].priority = facts.priority;
    return NULL;
}

/* ---- resources ---- */

/* Appends a resource with what all kinds have, and sets work->index. Returns NULL without memory.
 */
static struct support_history_resource* add_resource(struct history_work* work, uint32_t device,
                                                     enum support_history_kind kind,
                                                     uint32_t object_kind, uint64_t handle)
{
    struct support_history* const history = work->history;
    HISTORY_PUSH(history->resources, work->index);
    if (work->index == NONE ||
        !history_map_set(history->live, history->devices.items[device].facts.device, object_kind,
                         handle, work->index)) {
        return NULL;
    }
    struct support_history_resource* const resource = &history->resources.items[work->index];
    *resource = (struct support_history_resource){
        .handle = handle,
        .begin_ns = work->time_ns,
        .end_ns = SUPPORT_HISTORY_FOREVER,
        .bind_ns = SUPPORT_HISTORY_FOREVER,
        .device = device,
        .memory = NONE,
        .begin_event = (uint32_t)event_number(history),
        .end_event = NONE,
        .bind_event = NONE,
        .first_bind = NONE,
        .image = NONE,
        .kind = (uint8_t)kind,
    };
    return resource;
}

static const char* take_buffer(struct history_work* work)
{
    MaarCaptureBuffer facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    const uint32_t device = find_device(work->history, facts.device);
    if (device == NONE) {
        return no_device;
    }
    if (facts.needsSize > HISTORY_MOST_BYTES) {
        return "the buffer's size is impossible";
    }
    struct support_history_resource* const resource = add_resource(
        work, device, SUPPORT_HISTORY_BUFFER, MAAR_CAPTURE_OBJECT_BUFFER, facts.buffer);
    if (resource == NULL) {
        return no_memory;
    }
    resource->size = facts.needsSize;
    resource->alignment = facts.needsAlignment;
    resource->asked = facts.size;
    resource->usage = facts.usage;
    resource->caller = facts.caller;
    resource->type_bits = facts.typeBits;
    resource->create_flags = facts.createFlags;
    resource->needs_flags = facts.needsFlags;
    resource->handle_types = facts.handleTypes;
    resource->tiling_is_linear = 1;
    return NULL;
}

static const char* take_image(struct history_work* work)
{
    struct support_history* const history = work->history;
    MaarCaptureImage facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    const uint32_t device = find_device(history, facts.device);
    if (device == NONE) {
        return no_device;
    }
    if (facts.needsSize > HISTORY_MOST_BYTES) {
        return "the image's size is impossible";
    }
    uint32_t image = NONE;
    HISTORY_PUSH(history->images, image);
    struct support_history_resource* const resource =
        image == NONE ? NULL
                      : add_resource(work, device, SUPPORT_HISTORY_IMAGE, MAAR_CAPTURE_OBJECT_IMAGE,
                                     facts.image);
    if (resource == NULL) {
        return no_memory;
    }
    history->images.items[image] = facts;
    resource->image = image;
    resource->size = facts.needsSize;
    resource->alignment = facts.needsAlignment;
    resource->asked = facts.needsSize;
    resource->usage = facts.usage;
    resource->caller = facts.caller;
    resource->type_bits = facts.typeBits;
    resource->create_flags = facts.createFlags;
    resource->needs_flags = facts.needsFlags;
    resource->handle_types = facts.handleTypes;
    resource->tiling_is_linear = facts.tiling == 1;
    return NULL;
}

static const char* take_swapchain(struct history_work* work)
{
    MaarCaptureSwapchain facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    const uint32_t device = find_device(work->history, facts.device);
    if (device == NONE) {
        return no_device;
    }
    if (facts.estimatedSize > HISTORY_MOST_BYTES) {
        return "the swapchain's size is impossible";
    }
    struct support_history_resource* const resource = add_resource(
        work, device, SUPPORT_HISTORY_SWAPCHAIN, MAAR_CAPTURE_OBJECT_SWAPCHAIN, facts.swapchain);
    if (resource == NULL) {
        return no_memory;
    }
    resource->size = facts.estimatedSize;
    resource->asked = facts.estimatedSize;
    resource->usage = facts.usage;
    resource->needs_flags = MAAR_CAPTURE_NEEDS_SWAPCHAIN_BIT;
    return NULL;
}

/* Names and binds of the image find the swapchain. */
static const char* take_swapchain_image(struct history_work* work)
{
    MaarCaptureSwapchainImage facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    work->index = find_live(work, facts.device, MAAR_CAPTURE_OBJECT_SWAPCHAIN, facts.swapchain);
    if (work->index == NONE) {
        stray(work);
        return NULL;
    }
    work->no_event = true;
    return history_map_set(work->history->live, facts.device, MAAR_CAPTURE_OBJECT_IMAGE,
                           facts.image, work->index)
               ? NULL
               : no_memory;
}

static const char* take_other(struct history_work* work)
{
    MaarCaptureOther facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    const uint32_t device = find_device(work->history, facts.device);
    if (device == NONE) {
        return no_device;
    }
    if (facts.size > HISTORY_MOST_BYTES) {
        return "the object's size is impossible";
    }
    struct support_history_resource* const resource =
        add_resource(work, device, SUPPORT_HISTORY_OTHER, MAAR_CAPTURE_OBJECT_OTHER, facts.object);
    if (resource == NULL) {
        return no_memory;
    }
    resource->size = facts.size;
    resource->asked = facts.size;
    resource->detail = facts.objectType;
    return NULL;
}

/* ---- binds ---- */

/* Notes that a resource has bytes of a memory. Sizes are clamped to the memory. */
static const char* add_bind(struct history_work* work, uint32_t resource_index,
                            uint32_t memory_index, const MaarCaptureBind* facts)
{
    struct support_history* const history = work->history;
    struct support_history_resource* const resource = &history->resources.items[resource_index];
    uint32_t index = NONE;
    HISTORY_PUSH(history->binds, index);
    if (index == NONE) {
        return no_memory;
    }
    uint64_t size = facts->size != 0 ? facts->size : resource->size;
    if (memory_index != NONE) {
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
        .begin_event = (uint32_t)event_number(history),
        .plane = facts->plane,
        .next = resource->first_bind,
    };
    if (resource->first_bind == NONE) {
        resource->memory = memory_index;
        resource->offset = facts->offset;
        resource->bind_ns = work->time_ns;
        resource->bind_event = (uint32_t)event_number(history);
    }
    resource->first_bind = index;
    work->index = index;
    return NULL;
}

static const char* take_bind(struct history_work* work)
{
    MaarCaptureBind facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    const uint32_t resource = find_live(work, facts.device, facts.objectKind, facts.object);
    const bool bindable = facts.objectKind == MAAR_CAPTURE_OBJECT_BUFFER ||
                          facts.objectKind == MAAR_CAPTURE_OBJECT_IMAGE ||
                          facts.objectKind == MAAR_CAPTURE_OBJECT_OTHER;
    if (!bindable) {
        return "only buffers, images and other resources can be bound";
    }
    const uint32_t memory =
        facts.memory != 0 ? find_live(work, facts.device, MAAR_CAPTURE_OBJECT_MEMORY, facts.memory)
                          : NONE;
    if (resource == NONE || (facts.memory != 0 && memory == NONE) || facts.result < 0 ||
        work->history->resources.items[resource].kind == SUPPORT_HISTORY_SWAPCHAIN) {
        stray(work);
        return NULL;
    }
    return add_bind(work, resource, memory, &facts);
}

static const char* take_range(struct history_work* work)
{
    MaarCaptureRange facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    const uint32_t device = find_device(work->history, facts.device);
    if (device == NONE) {
        return no_device;
    }
    if (facts.size > HISTORY_MOST_BYTES) {
        return "the range's size is impossible";
    }
    struct support_history_resource* const resource =
        add_resource(work, device, SUPPORT_HISTORY_RANGE, MAAR_CAPTURE_OBJECT_RANGE, facts.range);
    if (resource == NULL) {
        return no_memory;
    }
    resource->size = facts.size;
    resource->asked = facts.size;
    resource->alignment = facts.alignment;
    resource->type_bits = facts.typeBits;
    resource->detail = facts.resourceKind;
    resource->tiling_is_linear = facts.resourceKind == 1;
    const uint32_t range = work->index;
    const uint32_t memory = find_live(work, facts.device, MAAR_CAPTURE_OBJECT_MEMORY, facts.memory);
    const MaarCaptureBind bind = {.offset = facts.offset, .size = facts.size};
    const char* const fault = memory != NONE ? add_bind(work, range, memory, &bind) : NULL;
    work->index = range;
    return fault;
}

/* Takes back what a resource's binds have added to their memories. */
static void end_binds(struct support_history* history,
                      const struct support_history_resource* resource)
{
    for (uint32_t i = resource->first_bind; i != NONE; i = history->binds.items[i].next) {
        const struct support_history_bind* const bind = &history->binds.items[i];
        if (bind->memory != NONE) {
            history->memories.items[bind->memory].bound -= bind->size;
        }
    }
}

static const char* take_resource_end(struct history_work* work)
{
    static const uint8_t kinds[][2] = {
        {MAAR_CAPTURE_KIND_BUFFER_END, MAAR_CAPTURE_OBJECT_BUFFER},
        {MAAR_CAPTURE_KIND_IMAGE_END, MAAR_CAPTURE_OBJECT_IMAGE},
        {MAAR_CAPTURE_KIND_RANGE_END, MAAR_CAPTURE_OBJECT_RANGE},
        {MAAR_CAPTURE_KIND_SWAPCHAIN_END, MAAR_CAPTURE_OBJECT_SWAPCHAIN},
        {MAAR_CAPTURE_KIND_OTHER_END, MAAR_CAPTURE_OBJECT_OTHER},
    };
    MaarCaptureEnd facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    uint32_t object_kind = MAAR_CAPTURE_OBJECT_NONE;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
        object_kind = kinds[i][0] == work->entry->kind ? kinds[i][1] : object_kind;
    }
    work->index = find_live(work, facts.device, object_kind, facts.handle);
    if (work->index == NONE) {
        stray(work);
        return NULL;
    }
    history_map_remove(work->history->live, facts.device, object_kind, facts.handle);
    struct support_history_resource* const resource = &work->history->resources.items[work->index];
    resource->end_ns = work->time_ns;
    resource->end_event = (uint32_t)event_number(work->history);
    end_binds(work->history, resource);
    return NULL;
}

static const char* take_sparse_bind(struct history_work* work)
{
    struct support_history* const history = work->history;
    MaarCaptureSparseBind facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    const uint32_t resource = find_live(work, facts.device, facts.objectKind, facts.object);
    const bool bindable = facts.objectKind == MAAR_CAPTURE_OBJECT_BUFFER ||
                          facts.objectKind == MAAR_CAPTURE_OBJECT_IMAGE;
    if (!bindable || facts.size > HISTORY_MOST_BYTES) {
        return "only buffers and images have sparse binds, of possible sizes";
    }
    if (resource == NONE) {
        stray(work);
        return NULL;
    }
    HISTORY_PUSH(history->sparse_binds, work->index);
    if (work->index == NONE) {
        return no_memory;
    }
    const uint32_t memory = find_live(work, facts.device, MAAR_CAPTURE_OBJECT_MEMORY, facts.memory);
    history->sparse_binds.items[work->index] = (struct support_history_sparse){
        .facts = facts, .time_ns = work->time_ns, .resource = resource, .memory = memory};
    struct support_history_resource* const owner = &history->resources.items[resource];
    if (memory != NONE) {
        history->memories.items[memory].bind_count += 1;
        owner->sparse_bytes += facts.size;
    } else {
        owner->sparse_bytes -= facts.size < owner->sparse_bytes ? facts.size : owner->sparse_bytes;
    }
    owner->sparse_peak =
        owner->sparse_peak > owner->sparse_bytes ? owner->sparse_peak : owner->sparse_bytes;
    return NULL;
}

static const char* take_structure(struct history_work* work)
{
    MaarCaptureStructure facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    HISTORY_PUSH(work->history->structures, work->index);
    if (work->index == NONE) {
        return no_memory;
    }
    work->history->structures.items[work->index] = facts;
    const uint32_t buffer = find_live(work, facts.device, MAAR_CAPTURE_OBJECT_BUFFER, facts.buffer);
    if (buffer != NONE) {
        work->history->resources.items[buffer].structure_count += 1;
    }
    return NULL;
}

/* ---- time ---- */

static const char* take_frame(struct history_work* work)
{
    MaarCaptureFrame facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    work->index = find_device(work->history, facts.device);
    if (work->index == NONE) {
        return no_device;
    }
    work->history->devices.items[work->index].frame_count += 1;
    return NULL;
}

/* Submissions are found by their number, as the map's handle of a kind of their own. */
enum { SUBMISSION_KIND = 0x10000 };

static const char* take_submit(struct history_work* work)
{
    struct support_history* const history = work->history;
    MaarCaptureSubmit facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    const uint32_t device = find_device(history, facts.device);
    if (device == NONE) {
        return no_device;
    }
    HISTORY_PUSH(history->submits, work->index);
    if (work->index == NONE || !history_map_set(history->live, facts.device, SUBMISSION_KIND,
                                                facts.submission, work->index)) {
        return no_memory;
    }
    history->submits.items[work->index] = (struct support_history_submit){
        .facts = facts, .time_ns = work->time_ns, .device = device, .last_point = NONE};
    history->devices.items[device].submit_count += 1;
    return NULL;
}

static const char* take_point(struct history_work* work)
{
    struct support_history* const history = work->history;
    MaarCapturePoint facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    const uint32_t submit = find_live(work, facts.device, SUBMISSION_KIND, facts.submission);
    if (submit == NONE) {
        stray(work);
        return NULL;
    }
    HISTORY_PUSH(history->points, work->index);
    if (work->index == NONE) {
        return no_memory;
    }
    history->points.items[work->index] = (struct support_history_point){
        .semaphore_handle = facts.semaphore,
        .value = facts.value,
        .semaphore = find_live(work, facts.device, MAAR_CAPTURE_OBJECT_SEMAPHORE, facts.semaphore),
        .submit = submit,
        .next = history->submits.items[submit].last_point,
        .is_signal = work->entry->kind == MAAR_CAPTURE_KIND_SUBMIT_SIGNAL,
    };
    history->submits.items[submit].last_point = work->index;
    return NULL;
}

static const char* take_semaphore(struct history_work* work)
{
    struct support_history* const history = work->history;
    MaarCaptureSemaphore facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    const uint32_t device = find_device(history, facts.device);
    if (device == NONE) {
        return no_device;
    }
    HISTORY_PUSH(history->semaphores, work->index);
    if (work->index == NONE ||
        !history_map_set(history->live, facts.device, MAAR_CAPTURE_OBJECT_SEMAPHORE,
                         facts.semaphore, work->index)) {
        return no_memory;
    }
    history->semaphores.items[work->index] = (struct support_history_semaphore){
        .handle = facts.semaphore,
        .value = facts.value,
        .begin_ns = work->time_ns,
        .end_ns = SUPPORT_HISTORY_FOREVER,
        .device = device,
        .is_timeline = facts.isTimeline != 0,
    };
    return NULL;
}

static const char* take_semaphore_end(struct history_work* work)
{
    MaarCaptureEnd facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    work->index = find_live(work, facts.device, MAAR_CAPTURE_OBJECT_SEMAPHORE, facts.handle);
    if (work->index == NONE) {
        stray(work);
        return NULL;
    }
    history_map_remove(work->history->live, facts.device, MAAR_CAPTURE_OBJECT_SEMAPHORE,
                       facts.handle);
    work->history->semaphores.items[work->index].end_ns = work->time_ns;
    return NULL;
}

static const char* take_reached(struct history_work* work)
{
    MaarCaptureReached facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    HISTORY_PUSH(work->history->reached, work->index);
    if (work->index == NONE) {
        return no_memory;
    }
    work->history->reached.items[work->index] = facts;
    return NULL;
}

static const char* take_use(struct history_work* work)
{
    MaarCaptureUse facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    HISTORY_PUSH(work->history->uses, work->index);
    if (work->index == NONE) {
        return no_memory;
    }
    work->history->uses.items[work->index] = facts;
    return NULL;
}

static const char* take_budget(struct history_work* work)
{
    MaarCaptureBudget facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    const uint32_t device = find_device(work->history, facts.device);
    if (device == NONE) {
        return no_device;
    }
    if (facts.heapCount > MAAR_CAPTURE_MOST_HEAPS) {
        return "the budget has more heaps than Vulkan allows";
    }
    HISTORY_PUSH(work->history->budgets, work->index);
    if (work->index == NONE) {
        return no_memory;
    }
    struct support_history_budget* const budget = &work->history->budgets.items[work->index];
    budget->time_ns = work->time_ns;
    budget->device = device;
    budget->heap_count = facts.heapCount;
    memcpy(budget->budget, facts.budget, sizeof facts.budget);
    memcpy(budget->usage, facts.usage, sizeof facts.usage);
    return NULL;
}

/* ---- names ---- */

static const char* take_name(struct history_work* work)
{
    struct support_history* const history = work->history;
    MaarCaptureName facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    work->no_event = true;
    const uint32_t index = find_live(work, facts.device, facts.objectKind, facts.object);
    const char* const text = support_capture_text(work->entry, sizeof facts, 0);
    switch (facts.objectKind) {
    case MAAR_CAPTURE_OBJECT_MEMORY:
        if (index != NONE) {
            history->memories.items[index].name = history_add_text(history, text);
        }
        break;
    case MAAR_CAPTURE_OBJECT_BUFFER:
    case MAAR_CAPTURE_OBJECT_IMAGE:
    case MAAR_CAPTURE_OBJECT_RANGE:
    case MAAR_CAPTURE_OBJECT_OTHER:
        if (index != NONE && history->resources.items[index].kind != SUPPORT_HISTORY_SWAPCHAIN) {
            history->resources.items[index].name = history_add_text(history, text);
        }
        break;
    default:
        break;
    }
    return NULL;
}

static const char* take_module(struct history_work* work)
{
    struct support_history* const history = work->history;
    MaarCaptureModule facts;
    if (!take(work, &facts, sizeof facts)) {
        return too_short;
    }
    work->no_event = true;
    uint32_t index = NONE;
    HISTORY_PUSH(history->modules, index);
    if (index == NONE) {
        return no_memory;
    }
    history->modules.items[index] = (struct support_history_module){
        .begin = facts.begin,
        .end = facts.end,
        .name = history_add_text(history, support_capture_text(work->entry, sizeof facts, 0)),
    };
    return NULL;
}

static const char* take_mark(struct history_work* work)
{
    HISTORY_PUSH(work->history->marks, work->index);
    if (work->index == NONE) {
        return no_memory;
    }
    work->history->marks.items[work->index] = history_add_text(
        work->history, support_capture_text(work->entry, sizeof(MaarCaptureMark), 0));
    return NULL;
}

static const char* take_nothing(struct history_work* work)
{
    work->no_event = true;
    return NULL;
}

typedef const char* (*history_handler)(struct history_work* work);

static const history_handler handlers[] = {
    [MAAR_CAPTURE_KIND_INSTANCE] = take_instance,
    [MAAR_CAPTURE_KIND_DEVICE] = take_device,
    [MAAR_CAPTURE_KIND_HEAP] = take_heap,
    [MAAR_CAPTURE_KIND_TYPE] = take_type,
    [MAAR_CAPTURE_KIND_QUEUE] = take_queue,
    [MAAR_CAPTURE_KIND_DEVICE_END] = take_device_end,
    [MAAR_CAPTURE_KIND_MEMORY] = take_memory,
    [MAAR_CAPTURE_KIND_MEMORY_FAILED] = take_memory,
    [MAAR_CAPTURE_KIND_MEMORY_END] = take_memory_end,
    [MAAR_CAPTURE_KIND_MAP] = take_map,
    [MAAR_CAPTURE_KIND_UNMAP] = take_unmap,
    [MAAR_CAPTURE_KIND_PRIORITY] = take_priority,
    [MAAR_CAPTURE_KIND_BUFFER] = take_buffer,
    [MAAR_CAPTURE_KIND_BUFFER_END] = take_resource_end,
    [MAAR_CAPTURE_KIND_IMAGE] = take_image,
    [MAAR_CAPTURE_KIND_IMAGE_END] = take_resource_end,
    [MAAR_CAPTURE_KIND_BIND] = take_bind,
    [MAAR_CAPTURE_KIND_RANGE] = take_range,
    [MAAR_CAPTURE_KIND_RANGE_END] = take_resource_end,
    [MAAR_CAPTURE_KIND_SPARSE_BIND] = take_sparse_bind,
    [MAAR_CAPTURE_KIND_STRUCTURE] = take_structure,
    [MAAR_CAPTURE_KIND_STRUCTURE_END] = take_nothing,
    [MAAR_CAPTURE_KIND_SWAPCHAIN] = take_swapchain,
    [MAAR_CAPTURE_KIND_SWAPCHAIN_IMAGE] = take_swapchain_image,
    [MAAR_CAPTURE_KIND_SWAPCHAIN_END] = take_resource_end,
    [MAAR_CAPTURE_KIND_OTHER] = take_other,
    [MAAR_CAPTURE_KIND_OTHER_END] = take_resource_end,
    [MAAR_CAPTURE_KIND_FRAME] = take_frame,
    [MAAR_CAPTURE_KIND_SUBMIT] = take_submit,
    [MAAR_CAPTURE_KIND_SUBMIT_WAIT] = take_point,
    [MAAR_CAPTURE_KIND_SUBMIT_SIGNAL] = take_point,
    [MAAR_CAPTURE_KIND_SEMAPHORE] = take_semaphore,
    [MAAR_CAPTURE_KIND_SEMAPHORE_END] = take_semaphore_end,
    [MAAR_CAPTURE_KIND_REACHED] = take_reached,
    [MAAR_CAPTURE_KIND_USE] = take_use,
    [MAAR_CAPTURE_KIND_BUDGET] = take_budget,
    [MAAR_CAPTURE_KIND_NAME] = take_name,
    [MAAR_CAPTURE_KIND_MODULE] = take_module,
    [MAAR_CAPTURE_KIND_MARK] = take_mark,
    [MAAR_CAPTURE_KIND_REPORT] = take_nothing,
    [MAAR_CAPTURE_KIND_END] = take_nothing,
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
        .history = history, .entry = entry, .time_ns = time_ns, .index = NONE};
    if (entry->kind >= sizeof handlers / sizeof handlers[0] || handlers[entry->kind] == NULL) {
        history->unknown += 1;
        return NULL;
    }
    const char* const fault = handlers[entry->kind](&work);
    if (fault != NULL) {
        return fault;
    }
    history->last_ns = time_ns;
    if (!work.no_event) {
        uint32_t event = NONE;
        HISTORY_PUSH(history->events, event);
        if (event == NONE) {
            return no_memory;
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
