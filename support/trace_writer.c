/*
 * Traces of captures: goes through the events of a history and writes their rows.
 */
#include "support/trace_writer.h"
#include "support/history_internal.h"
#include "support/trace_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WRITER_MOST_BYTES ((uint64_t)1 << 52)

enum writer_state {
    WRITER_NOT_THERE = 0, /* no row yet, or ended */
    WRITER_ALLOCATED,
    WRITER_RESERVED,
};

struct writer {
    const struct support_history* history;
    struct trace_text text;
    struct trace_text_row row;
    uint8_t* states;                     /* of resources: enum writer_state */
    struct support_history_map* threads; /* numbers of streams */
    uint32_t thread_count;
    uint32_t last_thread, last_stream;
    const struct support_history_event* event;
    uint32_t event_index;
};

static void begin_row(struct writer* writer, const char* op)
{
    trace_text_clear(&writer->row, op, writer->last_stream, writer->event->time_ns);
}

static void end_row(struct writer* writer)
{
    trace_text_add(&writer->text, &writer->row);
}

/* A row that has an id alone. */
static void write_id(struct writer* writer, const char* op, uint64_t id)
{
    begin_row(writer, op);
    writer->row.id = id;
    end_row(writer);
}

/* Gives the event's thread a stream. Returns false when out of memory. */
static bool find_stream(struct writer* writer)
{
    enum { MOST_STREAMS = 65535 };
    const uint32_t thread = writer->event->thread;
    if (writer->thread_count != 0 && thread == writer->last_thread) {
        return true;
    }
    uint32_t stream = history_map_find(writer->threads, 0, 0, thread);
    if (stream == SUPPORT_HISTORY_NONE) {
        stream = writer->thread_count < MOST_STREAMS ? writer->thread_count : MOST_STREAMS;
        writer->thread_count += 1;
        if (!history_map_set(writer->threads, 0, 0, thread, stream)) {
            return false;
        }
    }
    writer->last_thread = thread;
    writer->last_stream = stream;
    return true;
}

/* ---- devices and memory ---- */

static void write_device(struct writer* writer, uint32_t device)
{
    static const char* const kinds[] = {"other", "integrated", "discrete", "virtual", "cpu"};
    struct support_card card;
    support_history_card(writer->history, device, &card);
    begin_row(writer, "device");
    writer->row.id = device;
    writer->row.kind = kinds[card.device_type];
    writer->row.name =
        support_history_text(writer->history, writer->history->devices.items[device].name);
    const int used = snprintf(writer->row.note, sizeof writer->row.note,
                              "vendor=0x%x id=0x%x driver=0x%x api=0x%x granularity=%" PRIu64
                              " memories=%" PRIu64 " atom=%" PRIu64 " largest=%" PRIu64,
                              card.vendor, card.id, card.driver, card.api, card.granularity,
                              card.most_memories, card.atom, card.largest);
    if (writer->history->devices.items[device].has_uses) {
        (void)snprintf(writer->row.note + used, sizeof writer->row.note - (size_t)used,
                       " uses=0x%x", writer->history->devices.items[device].uses_flags);
    }
    end_row(writer);
    for (uint32_t i = 0; i < card.heap_count; ++i) {
        begin_row(writer, "heap");
        writer->row.id = i;
        writer->row.device = device;
        writer->row.size = card.heaps[i].size != UINT64_MAX ? card.heaps[i].size : UINT64_MAX - 1;
        writer->row.flags = card.heaps[i].flags;
        end_row(writer);
    }
    for (uint32_t i = 0; card.heap_count != 0 && i < card.type_count; ++i) {
        begin_row(writer, "type");
        writer->row.id = i;
        writer->row.device = device;
        writer->row.object = card.types[i].heap;
        writer->row.flags = card.types[i].flags;
        end_row(writer);
    }
}

static uint32_t queue_device(const struct support_history* history, const MaarCaptureQueue* queue)
{
    uint32_t device = 0;
    while (history->devices.items[device].facts.device != queue->device) {
        ++device; /* it exists: the history has looked it up, and numbers are unique */
    }
    return device;
}

static void write_queue(struct writer* writer, uint32_t index)
{
    const MaarCaptureQueue* const queue = &writer->history->queues.items[index];
    begin_row(writer, "queue");
    writer->row.id = index;
    writer->row.device = queue_device(writer->history, queue);
    writer->row.flags = queue->flags;
    (void)snprintf(writer->row.note, sizeof writer->row.note, "family=%u index=%u", queue->family,
                   queue->index);
    end_row(writer);
}

static void write_memory(struct writer* writer, uint32_t index)
{
    const struct support_history_memory* const memory = &writer->history->memories.items[index];
    begin_row(writer, "memory");
    writer->row.id = index;
    writer->row.size = memory->size;
    writer->row.device = memory->device;
    writer->row.object = memory->type;
    writer->row.flags = memory->flags;
    writer->row.name = support_history_text(writer->history, memory->name);
    int used =
        snprintf(writer->row.note, sizeof writer->row.note, "took=%" PRIu64, memory->duration_ns);
    if (memory->handle_types != 0) {
        used += snprintf(writer->row.note + used, 32, " handles=0x%x", memory->handle_types);
    }
    if ((memory->flags & MAAR_CAPTURE_MEMORY_PRIORITY_BIT) != 0 && memory->priority >= 0 &&
        memory->priority <= 1) {
        (void)snprintf(writer->row.note + used, 32, " priority=%u",
                       (unsigned)(memory->priority * 1000.0f + 0.5f));
    }
    end_row(writer);
}

static void write_failure(struct writer* writer, uint32_t index)
{
    const struct support_history_failure* const failure = &writer->history->failures.items[index];
    begin_row(writer, "memory_failed");
    writer->row.size = failure->size != UINT64_MAX ? failure->size : UINT64_MAX - 1;
    writer->row.device = failure->device;
    writer->row.object = failure->type;
    writer->row.value = failure->result < 0 ? (uint64_t)(-(int64_t)failure->result) : 0;
    end_row(writer);
}

static void write_budgets(struct writer* writer, uint32_t index)
{
    const struct support_history_budget* const budget = &writer->history->budgets.items[index];
    const uint32_t heaps = writer->history->devices.items[budget->device].facts.heapCount;
    for (uint32_t i = 0; i < budget->heap_count && i < heaps; ++i) {
        begin_row(writer, "budget");
        writer->row.id = i;
        writer->row.device = budget->device;
        writer->row.size = budget->budget[i] != UINT64_MAX ? budget->budget[i] : UINT64_MAX - 1;
        writer->row.value = budget->usage[i] != UINT64_MAX ? budget->usage[i] : UINT64_MAX - 1;
        end_row(writer);
    }
}

/* ---- resources ---- */

static const char* kind_of(const struct support_history_resource* resource)
{
    switch (resource->kind) {
    case SUPPORT_HISTORY_BUFFER:
        return "buffer";
    case SUPPORT_HISTORY_IMAGE:
        return resource->tiling_is_linear ? "image_linear" : "image_optimal";
    case SUPPORT_HISTORY_RANGE:
        return resource->tiling_is_linear ? "buffer" : "image_optimal";
    case SUPPORT_HISTORY_SWAPCHAIN:
        return "swapchain";
    default:
        return "other";
    }
}

static void write_resource_note(struct writer* writer,
                                const struct support_history_resource* resource)
{
    char* const note = writer->row.note;
    int used = snprintf(note, 64, "needs=0x%x", resource->needs_flags);
    if (resource->handle_types != 0) {
        used += snprintf(note + used, 64, " handles=0x%x", resource->handle_types);
    }
    if (resource->image == SUPPORT_HISTORY_NONE) {
        return;
    }
    const MaarCaptureImage* const image = &writer->history->images.items[resource->image];
    if (image->format == 0 || image->width == 0 || image->height == 0 || image->depth == 0 ||
        image->mipLevels == 0 || image->arrayLayers == 0 || image->samples == 0 ||
        image->imageType > 2) {
        return;
    }
    used += snprintf(note + used, 160,
                     " format=%u extent=%ux%ux%u mips=%u layers=%u samples=%u dimensions=%u",
                     image->format, image->width, image->height, image->depth, image->mipLevels,
                     image->arrayLayers, image->samples, image->imageType + 1u);
    if (image->tiling == 2) {
        (void)snprintf(note + used, 16, " modifier=1");
    }
}

static uint64_t alignment_of(const struct support_history_resource* resource)
{
    const uint64_t alignment = resource->alignment;
    const bool good =
        alignment != 0 && (alignment & (alignment - 1)) == 0 && alignment <= (uint64_t)1 << 40;
    return good ? alignment : 1;
}

static uint64_t size_of(const struct support_history_resource* resource)
{
    const uint64_t size = resource->size != 0 ? resource->size : resource->asked;
    return size == 0 ? 1 : size < WRITER_MOST_BYTES ? size : WRITER_MOST_BYTES;
}

/* The alloc or reserve row of a resource. */
static void write_resource(struct writer* writer, uint32_t index, enum writer_state state)
{
    const struct support_history_resource* const resource =
        &writer->history->resources.items[index];
    begin_row(writer, state == WRITER_ALLOCATED ? "alloc" : "reserve");
    struct trace_text_row* const row = &writer->row;
    row->id = index;
    row->kind = kind_of(resource);
    row->size = size_of(resource);
    row->alignment = alignment_of(resource);
    row->types = resource->type_bits != 0 ? resource->type_bits : TRACE_TEXT_EMPTY;
    row->usage =
        resource->usage != 0 && resource->usage != UINT64_MAX ? resource->usage : TRACE_TEXT_EMPTY;
    row->device = resource->device;
    if (state == WRITER_ALLOCATED && resource->memory != SUPPORT_HISTORY_NONE) {
        row->object = resource->memory;
        row->offset = resource->offset;
    }
    row->flags = resource->create_flags != 0 ? resource->create_flags : TRACE_TEXT_EMPTY;
    row->value = resource->kind == SUPPORT_HISTORY_BUFFER ? resource->asked : TRACE_TEXT_EMPTY;
    row->name = support_history_text(writer->history, resource->name);
    write_resource_note(writer, resource);
    end_row(writer);
    writer->states[index] = (uint8_t)state;
}

/* A sparse resource has its row when it begins, any other one when it is bound. */
static void write_creation(struct writer* writer, uint32_t index)
{
    const struct support_history_resource* const resource =
        &writer->history->resources.items[index];
    const bool is_range = resource->kind == SUPPORT_HISTORY_RANGE;
    const bool is_sparse = (resource->create_flags & 1u) != 0;
    if (is_range) {
        write_resource(writer, index, WRITER_ALLOCATED);
    } else if (is_sparse || resource->kind == SUPPORT_HISTORY_SWAPCHAIN) {
        write_resource(writer, index, WRITER_RESERVED);
    }
}

static void write_bind(struct writer* writer, uint32_t index)
{
    const struct support_history_bind* const bind = &writer->history->binds.items[index];
    if (writer->states[bind->resource] == WRITER_NOT_THERE) {
        /* The memory of a swapchain's image is not the program's. */
        write_resource(writer, bind->resource,
                       bind->memory != SUPPORT_HISTORY_NONE ? WRITER_ALLOCATED : WRITER_RESERVED);
        return;
    }
    begin_row(writer, "bind");
    writer->row.id = bind->resource;
    writer->row.object = bind->memory != SUPPORT_HISTORY_NONE ? bind->memory : TRACE_TEXT_EMPTY;
    writer->row.offset = bind->offset != UINT64_MAX ? bind->offset : UINT64_MAX - 1;
    writer->row.size = bind->size;
    writer->row.value = bind->plane;
    end_row(writer);
}

static void write_pages(struct writer* writer, uint32_t index)
{
    static const char* const kinds[] = {"bytes", "metadata", "texels"};
    const struct support_history_sparse* const pages = &writer->history->sparse_binds.items[index];
    const MaarCaptureSparseBind* const facts = &pages->facts;
    if (writer->states[pages->resource] == WRITER_NOT_THERE || facts->form > 2) {
        return;
    }
    begin_row(writer, "pages");
    struct trace_text_row* const row = &writer->row;
    row->id = pages->resource;
    row->kind = kinds[facts->form];
    row->object = pages->memory != SUPPORT_HISTORY_NONE ? pages->memory : TRACE_TEXT_EMPTY;
    row->offset = facts->memoryOffset != UINT64_MAX ? facts->memoryOffset : UINT64_MAX - 1;
    row->size = facts->size;
    row->value = facts->offset != UINT64_MAX ? facts->offset : UINT64_MAX - 1;
    int used = 0;
    if (pages->submit != SUPPORT_HISTORY_NONE) {
        used = snprintf(row->note, sizeof row->note, "submit=%u", pages->submit);
    }
    if (facts->form == MAAR_CAPTURE_SPARSE_TEXELS) {
        (void)snprintf(row->note + used, sizeof row->note - (size_t)used,
                       "%smip=%u layer=%u aspect=0x%x origin=%ux%ux%u extent=%ux%ux%u",
                       used != 0 ? " " : "", facts->mip, facts->layer, facts->aspect,
                       (uint32_t)facts->origin[0], (uint32_t)facts->origin[1],
                       (uint32_t)facts->origin[2], facts->extent[0], facts->extent[1],
                       facts->extent[2]);
    }
    end_row(writer);
}

static void write_resource_end(struct writer* writer, uint32_t index)
{
    if (writer->states[index] != WRITER_NOT_THERE) {
        write_id(writer, writer->states[index] == WRITER_ALLOCATED ? "free" : "unreserve", index);
        writer->states[index] = WRITER_NOT_THERE;
    }
}

/* ---- time ---- */

static void write_frame(struct writer* writer, uint32_t device)
{
    begin_row(writer, "frame");
    writer->row.device = device;
    end_row(writer);
}

static void write_semaphore(struct writer* writer, uint32_t index)
{
    const struct support_history_semaphore* const semaphore =
        &writer->history->semaphores.items[index];
    begin_row(writer, "semaphore");
    writer->row.id = index;
    writer->row.kind = semaphore->is_timeline ? "timeline" : "binary";
    writer->row.device = semaphore->device;
    writer->row.value = semaphore->is_timeline ? semaphore->value : TRACE_TEXT_EMPTY;
    end_row(writer);
}

static void write_submit(struct writer* writer, uint32_t index)
{
    static const char* const kinds[] = {"commands", "binds", "present"};
    const struct support_history_submit* const submit = &writer->history->submits.items[index];
    begin_row(writer, "submit");
    struct trace_text_row* const row = &writer->row;
    row->id = index;
    row->kind = kinds[submit->facts.kind <= 2 ? submit->facts.kind : 0];
    row->device = submit->device;
    row->object = submit->queue != SUPPORT_HISTORY_NONE ? submit->queue : TRACE_TEXT_EMPTY;
    int used =
        snprintf(row->note, sizeof row->note, "buffers=%u", submit->facts.commandBufferCount);
    if (submit->fence != SUPPORT_HISTORY_NONE) {
        used += snprintf(row->note + used, 32, " fence=%u", submit->fence);
    }
    if (submit->facts.result < 0) {
        (void)snprintf(row->note + used, 32, " error=%" PRIu64,
                       (uint64_t)(-(int64_t)submit->facts.result));
    }
    end_row(writer);
}

static void write_point(struct writer* writer, uint32_t index)
{
    const struct support_history_point* const point = &writer->history->points.items[index];
    begin_row(writer, point->is_signal ? "signal" : "wait");
    writer->row.id = point->submit;
    if (point->semaphore != SUPPORT_HISTORY_NONE) {
        writer->row.object = point->semaphore;
        if (writer->history->semaphores.items[point->semaphore].is_timeline) {
            writer->row.value = point->value;
        }
    }
    end_row(writer);
}

static void write_use(struct writer* writer, uint32_t index)
{
    const struct support_history_use* const use = &writer->history->uses.items[index];
    if (writer->states[use->resource] == WRITER_NOT_THERE) {
        return;
    }
    begin_row(writer, "use");
    writer->row.id = use->submit;
    writer->row.object = use->resource;
    writer->row.flags = use->facts.flags;
    end_row(writer);
}

static void write_reached(struct writer* writer, uint32_t index)
{
    const struct support_history_reached* const reached = &writer->history->reached.items[index];
    const uint32_t kind = reached->facts.objectKind;
    begin_row(writer, "reached");
    struct trace_text_row* const row = &writer->row;
    row->id = kind == MAAR_CAPTURE_OBJECT_DEVICE ? reached->device : reached->object;
    row->kind = kind == MAAR_CAPTURE_OBJECT_SEMAPHORE ? "semaphore"
                : kind == MAAR_CAPTURE_OBJECT_FENCE   ? "fence"
                : kind == MAAR_CAPTURE_OBJECT_QUEUE   ? "queue"
                                                      : "device";
    row->device = reached->device;
    row->flags = reached->facts.isSignal != 0 ? 1 : 0;
    row->value = kind == MAAR_CAPTURE_OBJECT_SEMAPHORE ? reached->facts.value : TRACE_TEXT_EMPTY;
    if (reached->facts.duration_ns != 0) {
        (void)snprintf(row->note, sizeof row->note, "waited=%" PRIu64, reached->facts.duration_ns);
    }
    end_row(writer);
}

static void write_mark(struct writer* writer, uint32_t index)
{
    begin_row(writer, "mark");
    writer->row.name = support_history_text(writer->history, writer->history->marks.items[index]);
    end_row(writer);
}

/* ---- all ---- */

static void write_about_resource(struct writer* writer, uint32_t index)
{
    switch (writer->event->kind) {
    case MAAR_CAPTURE_KIND_BUFFER:
    case MAAR_CAPTURE_KIND_IMAGE:
    case MAAR_CAPTURE_KIND_RANGE:
    case MAAR_CAPTURE_KIND_SWAPCHAIN:
        write_creation(writer, index);
        break;
    case MAAR_CAPTURE_KIND_BUFFER_END:
    case MAAR_CAPTURE_KIND_IMAGE_END:
    case MAAR_CAPTURE_KIND_RANGE_END:
    case MAAR_CAPTURE_KIND_SWAPCHAIN_END:
    case MAAR_CAPTURE_KIND_OTHER_END:
        write_resource_end(writer, index);
        break;
    case MAAR_CAPTURE_KIND_BIND:
        write_bind(writer, index);
        break;
    case MAAR_CAPTURE_KIND_SPARSE_BIND:
        write_pages(writer, index);
        break;
    default:
        break;
    }
}

static void write_about_time(struct writer* writer, uint32_t index)
{
    switch (writer->event->kind) {
    case MAAR_CAPTURE_KIND_FRAME:
        write_frame(writer, index);
        break;
    case MAAR_CAPTURE_KIND_SUBMIT:
        write_submit(writer, index);
        break;
    case MAAR_CAPTURE_KIND_SUBMIT_WAIT:
    case MAAR_CAPTURE_KIND_SUBMIT_SIGNAL:
        write_point(writer, index);
        break;
    case MAAR_CAPTURE_KIND_SEMAPHORE:
        write_semaphore(writer, index);
        break;
    case MAAR_CAPTURE_KIND_SEMAPHORE_END:
        write_id(writer, "semaphore_end", index);
        break;
    case MAAR_CAPTURE_KIND_REACHED:
        write_reached(writer, index);
        break;
    case MAAR_CAPTURE_KIND_USE:
        write_use(writer, index);
        break;
    default:
        write_about_resource(writer, index);
        break;
    }
}

static void write_event(struct writer* writer)
{
    const uint32_t index = writer->event->index;
    switch (writer->event->kind) {
    case MAAR_CAPTURE_KIND_DEVICE:
        write_device(writer, index);
        break;
    case MAAR_CAPTURE_KIND_DEVICE_END:
        if (writer->history->devices.items[index].end_event == writer->event_index) {
            write_id(writer, "device_end", index);
        }
        break;
    case MAAR_CAPTURE_KIND_QUEUE:
        write_queue(writer, index);
        break;
    case MAAR_CAPTURE_KIND_MEMORY:
        write_memory(writer, index);
        break;
    case MAAR_CAPTURE_KIND_MEMORY_FAILED:
        write_failure(writer, index);
        break;
    case MAAR_CAPTURE_KIND_MEMORY_END:
        write_id(writer, "memory_end", index);
        break;
    case MAAR_CAPTURE_KIND_MAP:
        write_id(writer, "map", index);
        break;
    case MAAR_CAPTURE_KIND_UNMAP:
        write_id(writer, "unmap", index);
        break;
    case MAAR_CAPTURE_KIND_BUDGET:
        write_budgets(writer, index);
        break;
    case MAAR_CAPTURE_KIND_MARK:
        write_mark(writer, index);
        break;
    default:
        write_about_time(writer, index);
        break;
    }
}

bool support_trace_write(const struct support_history* history, char** text, size_t* size,
                         struct support_error* error)
{
    struct writer writer = {.history = history};
    writer.states = calloc(history->resources.count + 1, sizeof *writer.states);
    writer.threads = history_map_create();
    bool good = writer.states != NULL && writer.threads != NULL;
    trace_text_begin(&writer.text);
    for (size_t i = 0; good && i < history->events.count; ++i) {
        writer.event = &history->events.items[i];
        writer.event_index = (uint32_t)i;
        good = find_stream(&writer);
        if (good) {
            write_event(&writer);
        }
    }
    good = good && !writer.text.failed;
    history_map_destroy(writer.threads);
    free(writer.states);
    if (!good) {
        free(writer.text.data);
        support_error_set(error, history->name, 0, "out of memory");
        return false;
    }
    *text = writer.text.data;
    *size = writer.text.size;
    return true;
}
