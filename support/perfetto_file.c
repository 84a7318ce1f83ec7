/*
 * Traces of Perfetto; see perfetto_file.h. The numbers of fields are those of the messages
 * TracePacket, TrackDescriptor and TrackEvent in Perfetto's sources.
 *
 * Each capture is a sequence of packets with its own table of interned names. A slice of memory
 * lies on a row that no other living memory has, because slices of one track must nest; rows of a
 * heap have the same name, and Perfetto draws them as one track.
 */
#include "support/perfetto_file.h"
#include "support/heap_sums.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Fields. */
enum {
    TRACE_PACKET = 1,
    PACKET_CLOCKS = 6,
    PACKET_TIME = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60,
    CLOCKS_CLOCK = 1,
    CLOCK_ID = 1,
    CLOCK_TIME = 2,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    PROCESS_PID = 1,
    PROCESS_COMMAND = 2,
    PROCESS_NAME = 6,
    COUNTER_UNIT = 3,
    EVENT_CATEGORY = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_VALUE = 30,
    ANNOTATION_NAME = 1,
    ANNOTATION_NUMBER = 3,
    INTERNED_CATEGORY = 1,
    INTERNED_NAME = 2,
    INTERNED_ANNOTATION = 3,
    INTERNED_ID = 1,
    INTERNED_TEXT = 2,
};
/* Values. */
enum {
    CLOCK_REALTIME_ID = 1,
    CLOCK_BOOTTIME_ID = 6, /* Perfetto's default */
    FLAG_CLEARED = 1,
    FLAG_NEEDED = 2,
    TYPE_SLICE_BEGIN = 1,
    TYPE_SLICE_END = 2,
    TYPE_INSTANT = 3,
    TYPE_COUNTER = 4,
    UNIT_BYTES = 3,
    CATEGORY_MEMORY = 1,
    ANNOTATION_BYTES = 1,
    ANNOTATION_TYPE = 2,
    ANNOTATION_FRAME = 3,
};

/* Counters of a heap. Those of kinds come first, in the order of enum support_history_kind. */
enum perfetto_counter {
    COUNTER_HELD = SUPPORT_SUMS_KINDS,
    COUNTER_BOUND,
    COUNTER_USAGE,
    COUNTER_BUDGET,
    COUNTER_COUNT,
};
/* Other tracks of a device. */
enum { TRACK_OF_FRAMES = 0x1000, TRACK_OF_MARKS = 0x2000, TRACK_OF_ROWS = 0x10000 };

struct perfetto_name {
    uint64_t hash;
    uint64_t id; /* 0: empty */
};

struct perfetto_heap {
    uint64_t shown[COUNTER_COUNT]; /* 1 more than what was written last, or 0 */
    SUPPORT_HISTORY_ARRAY(uint32_t) free_rows;
    uint32_t row_count;
};

struct perfetto_device {
    struct perfetto_heap heaps[MAAR_CAPTURE_MOST_HEAPS];
    uint64_t last_frame_ns; /* 1 more than the time, or 0 */
    uint64_t frame_count;
};

/* A capture in the work. */
struct perfetto_work {
    struct support_perfetto* perfetto;
    const struct support_history* history;
    struct support_sums sums;
    struct perfetto_device* devices;
    uint32_t* rows; /* of the living memories, by memory */
    struct perfetto_name* names;
    size_t name_count, name_capacity; /* a power of two */
    struct support_protobuf packet, event, part, interned;
    bool has_marks, failed;
};

static uint64_t mix(uint64_t value)
{
    value ^= value >> 30;
    value *= 0xBF58476D1CE4E5B9u;
    value ^= value >> 27;
    value *= 0x94D049BB133111EBu;
    return value ^ value >> 31;
}

/* A track's number that no other capture is likely to have. */
static uint64_t make_uuid(const struct perfetto_work* work, uint64_t device, uint64_t heap,
                          uint64_t track)
{
    const MaarCaptureHeader* const header = &work->history->header;
    const uint64_t capture = mix(header->process + mix(header->startSinceEpoch_ns));
    const uint64_t uuid = mix(capture + mix(device << 40 ^ heap << 32 ^ track));
    return uuid != 0 ? uuid : 1;
}

static uint64_t process_uuid(const struct perfetto_work* work)
{
    return make_uuid(work, UINT32_MAX, 0, 0);
}

/* Ends the packet in the work. */
static void end_packet(struct perfetto_work* work)
{
    support_protobuf_number(&work->packet, PACKET_SEQUENCE, work->perfetto->sequence);
    support_protobuf_message(&work->perfetto->trace, TRACE_PACKET, &work->packet);
    work->perfetto->packet_count += 1;
}

static void put_track(struct perfetto_work* work, uint64_t uuid, const char* name, bool is_counter)
{
    support_protobuf_number(&work->event, TRACK_UUID, uuid);
    support_protobuf_text(&work->event, TRACK_NAME, name);
    support_protobuf_number(&work->event, TRACK_PARENT, process_uuid(work));
    if (is_counter) {
        support_protobuf_number(&work->part, COUNTER_UNIT, UNIT_BYTES);
        support_protobuf_message(&work->event, TRACK_COUNTER, &work->part);
    }
    support_protobuf_message(&work->packet, PACKET_TRACK, &work->event);
    end_packet(work);
}

/* The first packets: clocks, the texts that every event may name, and the process. */
static void put_interned(struct support_protobuf* to, struct support_protobuf* part, uint32_t field,
                         uint64_t id, const char* text)
{
    support_protobuf_number(part, INTERNED_ID, id);
    support_protobuf_text(part, INTERNED_TEXT, text);
    support_protobuf_message(to, field, part);
}

static void put_clock(struct perfetto_work* work, uint64_t id, uint64_t time_ns)
{
    support_protobuf_number(&work->part, CLOCK_ID, id);
    support_protobuf_number(&work->part, CLOCK_TIME, time_ns);
    support_protobuf_message(&work->event, CLOCKS_CLOCK, &work->part);
}

static void put_process(struct perfetto_work* work)
{
    const MaarCaptureHeader* const header = &work->history->header;
    put_clock(work, CLOCK_BOOTTIME_ID, header->start_ns);
    put_clock(work, CLOCK_REALTIME_ID, header->startSinceEpoch_ns);
    support_protobuf_message(&work->packet, PACKET_CLOCKS, &work->event);
    end_packet(work);

    put_interned(&work->interned, &work->part, INTERNED_CATEGORY, CATEGORY_MEMORY, "memory");
    put_interned(&work->interned, &work->part, INTERNED_ANNOTATION, ANNOTATION_BYTES, "bytes");
    put_interned(&work->interned, &work->part, INTERNED_ANNOTATION, ANNOTATION_TYPE, "memory type");
    put_interned(&work->interned, &work->part, INTERNED_ANNOTATION, ANNOTATION_FRAME, "frame");
    support_protobuf_message(&work->packet, PACKET_INTERNED, &work->interned);
    support_protobuf_number(&work->packet, PACKET_FLAGS, FLAG_CLEARED);
    support_protobuf_number(&work->part, PROCESS_PID, header->process & INT32_MAX);
    const char* const end = header->arguments + sizeof header->arguments;
    for (const char* at = header->arguments; at < end && *at != 0; at += strlen(at) + 1) {
        support_protobuf_text(&work->part, PROCESS_COMMAND, at);
    }
    support_protobuf_text(&work->part, PROCESS_NAME, header->program);
    support_protobuf_number(&work->event, TRACK_UUID, process_uuid(work));
    support_protobuf_message(&work->event, TRACK_PROCESS, &work->part);
    support_protobuf_message(&work->packet, PACKET_TRACK, &work->event);
    end_packet(work);
}

/* Makes room in the table of names. */
static bool grow_names(struct perfetto_work* work)
{
    const size_t larger = work->name_capacity == 0 ? 256 : work->name_capacity * 2;
    struct perfetto_name* const grown = calloc(larger, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    for (size_t i = 0; i < work->name_capacity; ++i) {
        if (work->names[i].id != 0) {
            size_t at = (size_t)work->names[i].hash & (larger - 1);
            while (grown[at].id != 0) {
                at = (at + 1) & (larger - 1);
            }
            grown[at] = work->names[i];
        }
    }
    free(work->names);
    work->names = grown;
    work->name_capacity = larger;
    return true;
}

/* Returns the number of a name. A new one is put into the packet in the work. Names are compared by
 * 64 bits of hash: two names that share one would be drawn as one. */
static uint64_t intern(struct perfetto_work* work, const char* text)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (const char* at = text; *at != 0; ++at) {
        hash = (hash ^ (uint8_t)*at) * 0x100000001B3u;
    }
    hash = mix(hash);
    if (work->name_count * 2 >= work->name_capacity && !grow_names(work)) {
        work->failed = true;
        return 0;
    }
    size_t at = (size_t)hash & (work->name_capacity - 1);
    while (work->names[at].id != 0 && work->names[at].hash != hash) {
        at = (at + 1) & (work->name_capacity - 1);
    }
    struct perfetto_name* const name = &work->names[at];
    if (name->id == 0) {
        work->name_count += 1;
        *name = (struct perfetto_name){.hash = hash, .id = work->name_count};
        put_interned(&work->interned, &work->part, INTERNED_NAME, name->id, text);
    }
    return name->id;
}

/* Ends the event in the work, at a time of the capture. */
static void end_event(struct perfetto_work* work, uint64_t time_ns)
{
    support_protobuf_number(&work->packet, PACKET_TIME, work->history->header.start_ns + time_ns);
    support_protobuf_message(&work->packet, PACKET_EVENT, &work->event);
    if (work->interned.size > 0) {
        support_protobuf_message(&work->packet, PACKET_INTERNED, &work->interned);
    }
    support_protobuf_number(&work->packet, PACKET_FLAGS, FLAG_NEEDED);
    end_packet(work);
}

static void begin_event(struct perfetto_work* work, uint32_t type, uint64_t track)
{
    support_protobuf_number(&work->event, EVENT_TYPE, type);
    support_protobuf_number(&work->event, EVENT_TRACK, track);
}

static void put_annotation(struct perfetto_work* work, uint32_t name, uint64_t value)
{
    support_protobuf_number(&work->part, ANNOTATION_NAME, name);
    support_protobuf_number(&work->part, ANNOTATION_NUMBER, value);
    support_protobuf_message(&work->event, EVENT_ANNOTATION, &work->part);
}

/* Writes the name of a track: with the device, where there are several. */
static void name_track(const struct perfetto_work* work, uint32_t device, uint32_t heap,
                       const char* what, char* name, size_t size)
{
    const struct support_history_device* const found = &work->history->devices.items[device];
    char prefix[320] = "";
    if (work->history->devices.count > 1) {
        (void)snprintf(prefix, sizeof prefix, "device %u %.255s, ", device + 1,
                       support_history_text(work->history, found->name));
    }
    if (heap == UINT32_MAX) {
        (void)snprintf(name, size, "%s%s", prefix, what);
    } else {
        (void)snprintf(name, size, "%sheap %u (%s) %s", prefix, heap,
                       (found->heaps[heap].flags & 1) != 0 ? "device" : "host", what);
    }
}

static void put_counter(struct perfetto_work* work, uint64_t time_ns, uint32_t device,
                        uint32_t heap, uint32_t counter, uint64_t value)
{
    static const char* const words[COUNTER_COUNT] = {"bound: buffers",
                                                     "bound: images",
                                                     "bound: allocations",
                                                     "bound: swapchains",
                                                     "bound: others",
                                                     "held",
                                                     "bound",
                                                     "usage, says the driver",
                                                     "budget"};
    uint64_t* const shown = &work->devices[device].heaps[heap].shown[counter];
    const uint64_t uuid = make_uuid(work, device, heap, counter);
    if (*shown == value + 1 || (*shown == 0 && value == 0)) {
        return;
    }
    if (*shown == 0) {
        char name[512];
        name_track(work, device, heap, words[counter], name, sizeof name);
        put_track(work, uuid, name, true);
    }
    *shown = value + 1;
    begin_event(work, TYPE_COUNTER, uuid);
    support_protobuf_number(&work->event, EVENT_VALUE, value <= INT64_MAX ? value : INT64_MAX);
    end_event(work, time_ns);
}

static void put_counters(struct perfetto_work* work, uint64_t time_ns, uint32_t device,
                         uint32_t heap)
{
    const struct support_device_sums* const sums = &work->sums.devices.items[device];
    const struct support_heap_sum* const sum = &sums->heaps[heap];
    put_counter(work, time_ns, device, heap, COUNTER_HELD, sum->held);
    put_counter(work, time_ns, device, heap, COUNTER_BOUND, support_sums_bound(sum));
    for (uint32_t kind = 0; kind < SUPPORT_SUMS_KINDS; ++kind) {
        put_counter(work, time_ns, device, heap, kind, sum->bound[kind]);
    }
    if (heap < sums->budget_heap_count) {
        put_counter(work, time_ns, device, heap, COUNTER_USAGE, sums->usage[heap]);
        put_counter(work, time_ns, device, heap, COUNTER_BUDGET, sums->budget[heap]);
    }
}

static uint64_t row_uuid(const struct perfetto_work* work, uint32_t memory, uint32_t row)
{
    return make_uuid(work, work->history->memories.items[memory].device,
                     support_history_heap(work->history, memory), TRACK_OF_ROWS + row);
}

/* Takes a row for a memory. Returns false without memory of the host. */
static bool take_row(struct perfetto_work* work, uint32_t memory)
{
    const uint32_t device = work->history->memories.items[memory].device;
    const uint32_t heap_index = support_history_heap(work->history, memory);
    struct perfetto_heap* const heap = &work->devices[device].heaps[heap_index];
    if (heap->free_rows.count > 0) {
        work->rows[memory] = heap->free_rows.items[--heap->free_rows.count];
        return true;
    }
    /* Room for all rows, so that giving one back cannot fail. */
    if (heap->row_count == heap->free_rows.capacity) {
        const size_t larger = heap->row_count == 0 ? 64 : (size_t)heap->row_count * 2;
        uint32_t* const grown = realloc(heap->free_rows.items, larger * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        heap->free_rows.items = grown;
        heap->free_rows.capacity = larger;
    }
    char name[512];
    work->rows[memory] = heap->row_count++;
    name_track(work, device, heap_index, "memories", name, sizeof name);
    put_track(work, row_uuid(work, memory, work->rows[memory]), name, false);
    return true;
}

static void name_memory(const struct perfetto_work* work, uint32_t memory, char* name, size_t size)
{
    const struct support_history_memory* const found = &work->history->memories.items[memory];
    if (found->name != 0) {
        (void)snprintf(name, size, "%s", support_history_text(work->history, found->name));
    } else if (found->dedicated != SUPPORT_HISTORY_NONE) {
        support_history_label(work->history, found->dedicated, name, size);
    } else if ((found->flags & MAAR_CAPTURE_MEMORY_IMPORT_BIT) != 0) {
        (void)snprintf(name, size, "imported memory");
    } else {
        (void)snprintf(name, size, "memory");
    }
}

static void put_memory(struct perfetto_work* work, uint64_t time_ns, uint32_t memory)
{
    const struct support_history_memory* const found = &work->history->memories.items[memory];
    char name[512];
    if (!take_row(work, memory)) {
        work->failed = true;
        return;
    }
    name_memory(work, memory, name, sizeof name);
    begin_event(work, TYPE_SLICE_BEGIN, row_uuid(work, memory, work->rows[memory]));
    support_protobuf_number(&work->event, EVENT_CATEGORY, CATEGORY_MEMORY);
    support_protobuf_number(&work->event, EVENT_NAME, intern(work, name));
    put_annotation(work, ANNOTATION_BYTES, found->size);
    put_annotation(work, ANNOTATION_TYPE, found->type);
    end_event(work, time_ns);
}

static void end_memory(struct perfetto_work* work, uint64_t time_ns, uint32_t memory)
{
    const uint32_t device = work->history->memories.items[memory].device;
    struct perfetto_heap* const heap =
        &work->devices[device].heaps[support_history_heap(work->history, memory)];
    begin_event(work, TYPE_SLICE_END, row_uuid(work, memory, work->rows[memory]));
    end_event(work, time_ns);
    heap->free_rows.items[heap->free_rows.count++] = work->rows[memory];
}

/* A frame lasts from one present to the next. */
static void put_frame(struct perfetto_work* work, uint64_t time_ns, uint32_t device)
{
    struct perfetto_device* const own = &work->devices[device];
    const uint64_t uuid = make_uuid(work, device, 0, TRACK_OF_FRAMES);
    if (own->last_frame_ns == 0) {
        char name[512];
        name_track(work, device, UINT32_MAX, "frames", name, sizeof name);
        put_track(work, uuid, name, false);
    } else {
        begin_event(work, TYPE_SLICE_BEGIN, uuid);
        support_protobuf_number(&work->event, EVENT_NAME, intern(work, "frame"));
        put_annotation(work, ANNOTATION_FRAME, own->frame_count);
        end_event(work, own->last_frame_ns - 1);
        begin_event(work, TYPE_SLICE_END, uuid);
        end_event(work, time_ns);
    }
    own->last_frame_ns = time_ns + 1;
    own->frame_count += 1;
}

static void put_instant(struct perfetto_work* work, uint64_t time_ns, const char* text)
{
    const uint64_t uuid = make_uuid(work, UINT32_MAX, 0, TRACK_OF_MARKS);
    if (!work->has_marks) {
        work->has_marks = true;
        put_track(work, uuid, "marks", false);
    }
    begin_event(work, TYPE_INSTANT, uuid);
    support_protobuf_number(&work->event, EVENT_NAME, intern(work, text));
    end_event(work, time_ns);
}

static void put_failure(struct perfetto_work* work, uint64_t time_ns, uint32_t index)
{
    const struct support_history_failure* const found = &work->history->failures.items[index];
    char text[96];
    (void)snprintf(text, sizeof text, "the driver refused %" PRIu64 " bytes of type %u (%d)",
                   found->size, found->type, found->result);
    put_instant(work, time_ns, text);
}

static void put_event(struct perfetto_work* work, const struct support_history_event* event)
{
    uint32_t device = SUPPORT_HISTORY_NONE;
    uint32_t heaps = 0;
    if (!support_sums_apply(&work->sums, work->history, event, &device, &heaps)) {
        work->failed = true;
        return;
    }
    for (uint32_t heap = 0; heap < MAAR_CAPTURE_MOST_HEAPS && heaps >> heap != 0; ++heap) {
        if ((heaps >> heap & 1) != 0) {
            put_counters(work, event->time_ns, device, heap);
        }
    }
    if (event->index == SUPPORT_HISTORY_NONE) {
        return;
    }
    if (event->kind == MAAR_CAPTURE_KIND_MEMORY) {
        put_memory(work, event->time_ns, event->index);
    } else if (event->kind == MAAR_CAPTURE_KIND_MEMORY_END) {
        end_memory(work, event->time_ns, event->index);
    } else if (event->kind == MAAR_CAPTURE_KIND_FRAME) {
        put_frame(work, event->time_ns, event->index);
    } else if (event->kind == MAAR_CAPTURE_KIND_MEMORY_FAILED) {
        put_failure(work, event->time_ns, event->index);
    } else if (event->kind == MAAR_CAPTURE_KIND_MARK) {
        put_instant(work, event->time_ns,
                    support_history_text(work->history, work->history->marks.items[event->index]));
    }
}

static void release_work(struct perfetto_work* work)
{
    for (size_t i = 0; work->devices != NULL && i < work->history->devices.count; ++i) {
        for (size_t heap = 0; heap < MAAR_CAPTURE_MOST_HEAPS; ++heap) {
            free(work->devices[i].heaps[heap].free_rows.items);
        }
    }
    free(work->devices);
    free(work->rows);
    free(work->names);
    support_sums_release(&work->sums);
    support_protobuf_release(&work->packet);
    support_protobuf_release(&work->event);
    support_protobuf_release(&work->part);
    support_protobuf_release(&work->interned);
}

bool support_perfetto_add(struct support_perfetto* perfetto, const struct support_history* history,
                          struct support_error* error)
{
    struct perfetto_work work = {.perfetto = perfetto, .history = history};
    perfetto->sequence += 1;
    work.devices = calloc(history->devices.count + 1, sizeof *work.devices);
    work.rows = calloc(history->memories.count + 1, sizeof *work.rows);
    work.failed = work.devices == NULL || work.rows == NULL;
    if (!work.failed) {
        put_process(&work);
    }
    for (size_t i = 0; i < history->events.count && !work.failed && !perfetto->trace.failed; ++i) {
        put_event(&work, &history->events.items[i]);
    }
    release_work(&work);
    if (work.failed || perfetto->trace.failed) {
        support_error_set(error, history->name, 0, "out of memory");
        return false;
    }
    return true;
}

bool support_perfetto_write(const struct support_perfetto* perfetto, const char* path,
                            struct support_error* error)
{
    return support_write_file(path, perfetto->trace.data, perfetto->trace.size, error);
}

void support_perfetto_release(struct support_perfetto* perfetto)
{
    support_protobuf_release(&perfetto->trace);
    memset(perfetto, 0, sizeof *perfetto);
}
