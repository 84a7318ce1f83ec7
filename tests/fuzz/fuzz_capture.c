/*
 * Captures: what history.h promises of a history, and the trace that it becomes. The first byte
 * says what the rest is: entries with small numbers, or records as they are.
 */
#include "support/history.h"
#include "support/trace_writer.h"
#include "tests/fuzz/fuzz_capture_make.h"
#include "tests/fuzz/fuzz_trace_require.h"

#define NONE SUPPORT_HISTORY_NONE

static bool is_index(uint32_t index, size_t count)
{
    return index == NONE || index < count;
}

/* A life is within the capture, and ends after it began. */
static void require_life(const struct support_history* history, uint32_t begin_event,
                         uint32_t end_event, uint64_t begin_ns, uint64_t end_ns)
{
    fuzz_require(begin_event < history->events.count && begin_ns <= end_ns);
    fuzz_require(begin_ns <= history->last_ns);
    fuzz_require((end_event == NONE) == (end_ns == SUPPORT_HISTORY_FOREVER));
    fuzz_require(end_event == NONE ||
                 (end_event > begin_event && end_event < history->events.count));
}

static void require_text(const struct support_history* history, uint32_t text)
{
    const char* const found = support_history_text(history, text);
    fuzz_require(text == 0 || text + strlen(found) < history->texts.count);
}

static void require_memories(const struct support_history* history)
{
    uint64_t* const bound = calloc(history->memories.count + 1, sizeof *bound);
    fuzz_require(bound != NULL);
    for (size_t i = 0; i < history->binds.count; ++i) {
        const struct support_history_bind* bind = &history->binds.items[i];
        fuzz_require(bind->resource < history->resources.count);
        fuzz_require(is_index(bind->memory, history->memories.count));
        fuzz_require(bind->next == NONE || bind->next < i);
        if (bind->memory == NONE) {
            continue;
        }
        const uint64_t size = history->memories.items[bind->memory].size;
        fuzz_require(bind->size == 0 || (bind->offset < size && bind->size <= size - bind->offset));
        if (history->resources.items[bind->resource].end_event == NONE) {
            bound[bind->memory] += bind->size;
        }
    }
    for (size_t i = 0; i < history->memories.count; ++i) {
        const struct support_history_memory* memory = &history->memories.items[i];
        fuzz_require(memory->device < history->devices.count);
        fuzz_require(memory->type < history->devices.items[memory->device].facts.typeCount);
        fuzz_require(support_history_heap(history, (uint32_t)i) <
                     history->devices.items[memory->device].facts.heapCount);
        fuzz_require(memory->bound == bound[i] && memory->bound_peak >= memory->bound);
        fuzz_require(is_index(memory->dedicated, history->resources.count));
        require_life(history, memory->begin_event, memory->end_event, memory->begin_ns,
                     memory->end_ns);
        require_text(history, memory->name);
    }
    free(bound);
}

static void require_resources(const struct support_history* history)
{
    char label[80];
    for (size_t i = 0; i < history->resources.count; ++i) {
        const struct support_history_resource* resource = &history->resources.items[i];
        fuzz_require(resource->device < history->devices.count);
        fuzz_require(resource->kind <= SUPPORT_HISTORY_OTHER);
        fuzz_require(is_index(resource->image, history->images.count));
        fuzz_require((resource->image != NONE) == (resource->kind == SUPPORT_HISTORY_IMAGE));
        fuzz_require(is_index(resource->memory, history->memories.count));
        fuzz_require(resource->sparse_bytes <= resource->sparse_peak);
        fuzz_require((resource->bind_event == NONE) == (resource->first_bind == NONE));
        for (uint32_t at = resource->first_bind; at != NONE; at = history->binds.items[at].next) {
            fuzz_require(at < history->binds.count && history->binds.items[at].resource == i);
        }
        require_life(history, resource->begin_event, resource->end_event, resource->begin_ns,
                     resource->end_ns);
        require_text(history, resource->name);
        support_history_label(history, (uint32_t)i, label, sizeof label);
    }
    for (size_t i = 0; i < history->sparse_binds.count; ++i) {
        const struct support_history_sparse* bind = &history->sparse_binds.items[i];
        fuzz_require(bind->resource < history->resources.count);
        fuzz_require(is_index(bind->memory, history->memories.count));
        fuzz_require(is_index(bind->submit, history->submits.count));
    }
}

static void require_submissions(const struct support_history* history)
{
    for (size_t i = 0; i < history->submits.count; ++i) {
        const struct support_history_submit* submit = &history->submits.items[i];
        fuzz_require(submit->device < history->devices.count);
        fuzz_require(is_index(submit->queue, history->queues.count));
        fuzz_require(is_index(submit->fence, history->fence_count));
        for (uint32_t at = submit->last_point; at != NONE; at = history->points.items[at].next) {
            fuzz_require(at < history->points.count && history->points.items[at].submit == i);
        }
    }
    for (size_t i = 0; i < history->points.count; ++i) {
        fuzz_require(is_index(history->points.items[i].semaphore, history->semaphores.count));
    }
    for (size_t i = 0; i < history->uses.count; ++i) {
        fuzz_require(history->uses.items[i].submit < history->submits.count);
        fuzz_require(history->uses.items[i].resource < history->resources.count);
    }
    for (size_t i = 0; i < history->reached.count; ++i) {
        const struct support_history_reached* reached = &history->reached.items[i];
        const bool is_device = reached->facts.objectKind == MAAR_CAPTURE_OBJECT_DEVICE;
        fuzz_require(reached->device < history->devices.count);
        fuzz_require((reached->object == NONE) == is_device);
    }
}

/* The number of objects that events of a kind may refer to. */
static size_t count_of(const struct support_history* history, uint32_t kind)
{
    switch (kind) {
    case MAAR_CAPTURE_KIND_DEVICE:
    case MAAR_CAPTURE_KIND_DEVICE_END:
    case MAAR_CAPTURE_KIND_FRAME:
        return history->devices.count;
    case MAAR_CAPTURE_KIND_QUEUE:
        return history->queues.count;
    case MAAR_CAPTURE_KIND_MEMORY:
    case MAAR_CAPTURE_KIND_MEMORY_END:
    case MAAR_CAPTURE_KIND_MAP:
    case MAAR_CAPTURE_KIND_UNMAP:
    case MAAR_CAPTURE_KIND_PRIORITY:
        return history->memories.count;
    case MAAR_CAPTURE_KIND_MEMORY_FAILED:
        return history->failures.count;
    case MAAR_CAPTURE_KIND_BIND:
        return history->binds.count;
    case MAAR_CAPTURE_KIND_SPARSE_BIND:
        return history->sparse_binds.count;
    case MAAR_CAPTURE_KIND_STRUCTURE:
        return history->structures.count;
    case MAAR_CAPTURE_KIND_SUBMIT:
        return history->submits.count;
    case MAAR_CAPTURE_KIND_SUBMIT_WAIT:
    case MAAR_CAPTURE_KIND_SUBMIT_SIGNAL:
        return history->points.count;
    case MAAR_CAPTURE_KIND_SEMAPHORE:
    case MAAR_CAPTURE_KIND_SEMAPHORE_END:
        return history->semaphores.count;
    case MAAR_CAPTURE_KIND_REACHED:
        return history->reached.count;
    case MAAR_CAPTURE_KIND_USE:
        return history->uses.count;
    case MAAR_CAPTURE_KIND_BUDGET:
        return history->budgets.count;
    case MAAR_CAPTURE_KIND_MARK:
        return history->marks.count;
    case MAAR_CAPTURE_KIND_INSTANCE:
        return SIZE_MAX; /* none */
    default:
        return history->resources.count;
    }
}

static void require_history(const struct support_history* history)
{
    for (size_t i = 0; i < history->events.count; ++i) {
        const struct support_history_event* event = &history->events.items[i];
        fuzz_require(event->index < count_of(history, event->kind));
        fuzz_require(event->time_ns <= history->last_ns);
        fuzz_require(i == 0 || event->time_ns >= event[-1].time_ns);
    }
    for (size_t i = 0; i < history->devices.count; ++i) {
        const struct support_history_device* device = &history->devices.items[i];
        fuzz_require(device->facts.heapCount <= MAAR_CAPTURE_MOST_HEAPS);
        fuzz_require(device->facts.typeCount <= SUPPORT_HISTORY_MOST_TYPES);
        require_life(history, device->begin_event, device->end_event, device->begin_ns,
                     device->end_ns);
        require_text(history, device->name);
    }
    require_memories(history);
    require_resources(history);
    require_submissions(history);
}

/* The trace has the memories, and the lives of the bound resources. */
static void require_conversion(const struct support_history* history)
{
    struct support_trace trace;
    struct support_error error = {.text = ""};
    if (!support_trace_convert(history, &trace, &error)) {
        (void)fprintf(stderr, "%s\n", error.text);
        fuzz_require(strstr(error.text, "overflows the sum of live bytes") != NULL);
        return;
    }
    fuzz_require_trace(&trace);
    fuzz_require(trace.version == 2 && trace.memory_count == history->memories.count);
    fuzz_require(trace.submit_count == history->submits.count);
    fuzz_require(trace.point_count == history->points.count);
    fuzz_require(trace.semaphore_count == history->semaphores.count);
    fuzz_require(trace.reached_count == history->reached.count);
    for (size_t i = 0; i < trace.memory_count; ++i) {
        fuzz_require(trace.memories[i].size == history->memories.items[i].size);
        fuzz_require((trace.memories[i].end_step == SUPPORT_TRACE_NONE) ==
                     (history->memories.items[i].end_event == NONE));
    }
    for (size_t i = 0; i < trace.resource_count; ++i) {
        const struct support_trace_resource* row = &trace.resources[i];
        fuzz_require(row->id < history->resources.count);
        const struct support_history_resource* was = &history->resources.items[row->id];
        fuzz_require(row->memory == was->memory && row->free_time_ns == was->end_ns);
        fuzz_require(was->size == 0 || row->size == was->size);
    }
    support_trace_release(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    struct fuzz_input input = {data, size};
    struct support_error error = {.text = ""};
    struct support_history history = {.name = ""};
    size_t made = 0;
    uint8_t* const capture = fuzz_byte(&input) % 4 != 3 ? fuzz_make_entries(&input, &made)
                                                        : fuzz_make_records(&input, &made);
    struct support_capture_reader* const reader =
        support_capture_open_memory("fuzz", capture, made, &error);
    const bool good = reader != NULL && support_history_begin(&history, "fuzz", &error) &&
                      support_history_add(&history, reader, &error);
    if (good) {
        require_conversion(&history);
    } else {
        fuzz_require(strncmp(error.text, "fuzz: ", 6) == 0);
        fuzz_require(strstr(error.text, "byte ") != NULL);
    }
    require_history(&history); /* what was read before an error is whole, too */
    support_capture_close(reader);
    support_history_release(&history);
    free(capture);
    return 0;
}
