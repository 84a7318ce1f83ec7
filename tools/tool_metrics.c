/*
 * Metrics; see tool_metrics.h. All samples of a metric stand together below its HELP and TYPE, and
 * each sample has the labels of its capture: `program`, `pid` and `capture`.
 */
#include "tool_metrics.h"

#include "support/utf8.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A text in the making. */
struct metrics_text {
    const struct tool_follow_set* set;
    enum tool_metrics_format format;
    char* data;
    size_t size, capacity;
    bool failed;
};

/* What a metric has a sample of. */
enum metrics_scope {
    METRICS_CAPTURE,
    METRICS_STATE,
    METRICS_DEVICE,
    METRICS_HEAP,
    METRICS_HEAP_KIND,
    METRICS_DEVICE_KIND,
};

/* Where a value is taken from. */
struct metrics_place {
    const struct tool_follow* follow;
    const struct support_history_device* device;
    const struct support_device_sums* sums;
    uint32_t heap;
    uint32_t kind; /* of a resource, or a state */
};

/* Returns false where there is no value. */
typedef bool (*metrics_value)(const struct metrics_place* place, double* value);

struct metrics_metric {
    const char* name; /* of a counter, without _total */
    const char* help;
    metrics_value take;
    enum metrics_scope scope;
    bool is_counter;
};

static void put_raw(struct metrics_text* text, const char* data, size_t size)
{
    if (!text->failed && text->capacity - text->size < size + 1) {
        size_t larger = text->capacity < 4096 ? 8192 : text->capacity * 2;
        larger = larger < text->size + size + 1 ? text->size + size + 1 : larger;
        char* const grown = realloc(text->data, larger);
        text->failed = grown == NULL;
        text->data = grown != NULL ? grown : text->data;
        text->capacity = grown != NULL ? larger : text->capacity;
    }
    if (!text->failed) {
        memcpy(text->data + text->size, data, size);
        text->size += size;
        text->data[text->size] = '\0';
    }
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
put(struct metrics_text* text, const char* format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    put_raw(text, line, strlen(line));
}

/* Writes a label. Backslash, quote and line break are escaped; bytes that are not UTF-8 become
 * U+FFFD. */
static void put_label(struct metrics_text* text, const char* name, const char* value)
{
    put(text, "%s=\"", name);
    while (*value != '\0') {
        const size_t length = support_utf8_length(value);
        if (*value == '\\' || *value == '"') {
            put_raw(text, "\\", 1);
            put_raw(text, value, 1);
        } else if (*value == '\n') {
            put_raw(text, "\\n", 2);
        } else {
            put_raw(text, length != 0 ? value : "\xEF\xBF\xBD", length != 0 ? length : 3);
        }
        value += length != 0 ? length : 1;
    }
    put_raw(text, "\"", 1);
}

/* ---- values ---- */

static bool take_info(const struct metrics_place* place, double* value)
{
    (void)place;
    *value = 1;
    return true;
}

static bool take_running(const struct metrics_place* place, double* value)
{
    *value = place->follow->state == TOOL_FOLLOW_RUNNING ? 1 : 0;
    return true;
}

static bool take_state(const struct metrics_place* place, double* value)
{
    *value = (uint32_t)place->follow->state == place->kind ? 1 : 0;
    return true;
}

static bool take_seconds(const struct metrics_place* place, double* value)
{
    *value = (double)place->follow->now_ns / 1e9;
    return true;
}

static bool take_start(const struct metrics_place* place, double* value)
{
    *value = (double)place->follow->history.header.startSinceEpoch_ns / 1e9;
    return true;
}

static bool take_frames(const struct metrics_place* place, double* value)
{
    *value = (double)place->sums->frame_count;
    return true;
}

static bool take_submissions(const struct metrics_place* place, double* value)
{
    *value = (double)place->sums->submit_count;
    return true;
}

static bool take_failures(const struct metrics_place* place, double* value)
{
    *value = (double)place->sums->failure_count;
    return true;
}

static bool take_allocation_seconds(const struct metrics_place* place, double* value)
{
    *value = (double)place->sums->allocation_ns / 1e9;
    return true;
}

static bool take_created(const struct metrics_place* place, double* value)
{
    *value = (double)place->sums->resource_total;
    return true;
}

static bool take_swapchains(const struct metrics_place* place, double* value)
{
    *value = (double)place->sums->swapchain_bytes;
    return true;
}

static bool take_size(const struct metrics_place* place, double* value)
{
    *value = (double)place->device->heaps[place->heap].size;
    return true;
}

static bool take_budget(const struct metrics_place* place, double* value)
{
    *value = (double)place->sums->budget[place->heap];
    return place->heap < place->sums->budget_heap_count;
}

static bool take_usage(const struct metrics_place* place, double* value)
{
    *value = (double)place->sums->usage[place->heap];
    return place->heap < place->sums->budget_heap_count;
}

static bool take_held(const struct metrics_place* place, double* value)
{
    *value = (double)place->sums->heaps[place->heap].held;
    return true;
}

static bool take_peak(const struct metrics_place* place, double* value)
{
    *value = (double)place->sums->heaps[place->heap].held_peak;
    return true;
}

static bool take_imported(const struct metrics_place* place, double* value)
{
    *value = (double)place->sums->heaps[place->heap].imported;
    return true;
}

static bool take_memories(const struct metrics_place* place, double* value)
{
    *value = (double)place->sums->heaps[place->heap].memory_count;
    return true;
}

static bool take_allocations(const struct metrics_place* place, double* value)
{
    *value = (double)place->sums->heaps[place->heap].allocation_count;
    return true;
}

static bool take_bound(const struct metrics_place* place, double* value)
{
    *value = (double)place->sums->heaps[place->heap].bound[place->kind];
    return place->kind != SUPPORT_HISTORY_SWAPCHAIN;
}

static bool take_resources(const struct metrics_place* place, double* value)
{
    *value = (double)place->sums->resource_count[place->kind];
    return true;
}

static const struct metrics_metric metrics[] = {
    {"maar_capture_running", "Whether the program still writes its capture.", take_running,
     METRICS_CAPTURE, false},
    {"maar_capture_state", "1 for the state of the capture, 0 for the others.", take_state,
     METRICS_STATE, false},
    {"maar_capture_start_time_seconds", "When the capture began, since 1970.", take_start,
     METRICS_CAPTURE, false},
    {"maar_capture_duration_seconds", "How long the capture is.", take_seconds, METRICS_CAPTURE,
     false},
    {"maar_device_info", "Names of the devices; the value is 1.", take_info, METRICS_DEVICE, false},
    {"maar_device_frames", "Frames that were presented.", take_frames, METRICS_DEVICE, true},
    {"maar_device_submissions", "Batches that were submitted to queues.", take_submissions,
     METRICS_DEVICE, true},
    {"maar_device_allocation_failures", "Allocations that the driver refused.", take_failures,
     METRICS_DEVICE, true},
    {"maar_device_allocation_seconds", "Time that the driver spent on allocations.",
     take_allocation_seconds, METRICS_DEVICE, true},
    {"maar_device_resources_created", "Resources that were created.", take_created, METRICS_DEVICE,
     true},
    {"maar_device_resources", "Resources that exist.", take_resources, METRICS_DEVICE_KIND, false},
    {"maar_device_swapchain_bytes", "Bytes of the images of swapchains, an estimate.",
     take_swapchains, METRICS_DEVICE, false},
    {"maar_heap_size_bytes", "Size of the heap.", take_size, METRICS_HEAP, false},
    {"maar_heap_budget_bytes", "What the driver lets the process use of the heap.", take_budget,
     METRICS_HEAP, false},
    {"maar_heap_usage_bytes", "What the process uses of the heap, by the driver.", take_usage,
     METRICS_HEAP, false},
    {"maar_heap_held_bytes", "Memory that the program has allocated.", take_held, METRICS_HEAP,
     false},
    {"maar_heap_held_peak_bytes", "The most memory that the program has held.", take_peak,
     METRICS_HEAP, false},
    {"maar_heap_imported_bytes", "Memory that the program has imported.", take_imported,
     METRICS_HEAP, false},
    {"maar_heap_memories", "Memories that the program holds.", take_memories, METRICS_HEAP, false},
    {"maar_heap_allocations", "Memories that the program has allocated.", take_allocations,
     METRICS_HEAP, true},
    {"maar_heap_bound_bytes", "Bytes of the resources that are bound in the heap.", take_bound,
     METRICS_HEAP_KIND, false},
};

/* ---- samples ---- */

static void put_sample(struct metrics_text* text, const struct metrics_metric* metric,
                       const struct metrics_place* place)
{
    double value = 0;
    if (!metric->take(place, &value)) {
        return;
    }
    char number[32];
    put(text, "%s%s{", metric->name, metric->is_counter ? "_total" : "");
    put_label(text, "program", tool_follow_name(place->follow));
    (void)snprintf(number, sizeof number, "%" PRIu64, place->follow->history.header.process);
    put_raw(text, ",", 1);
    put_label(text, "pid", number);
    put_raw(text, ",", 1);
    put_label(text, "capture", place->follow->history.name);
    if (metric->scope == METRICS_STATE) {
        put_raw(text, ",", 1);
        put_label(text, "state", tool_follow_state_word((enum tool_follow_state)place->kind));
    } else if (metric->scope != METRICS_CAPTURE) {
        put(text, ",device=\"%u\"", place->device->facts.device);
    }
    if (metric->take == take_info) {
        put_raw(text, ",", 1);
        put_label(text, "name", support_history_text(&place->follow->history, place->device->name));
        put_raw(text, ",", 1);
        put_label(text, "driver",
                  support_history_text(&place->follow->history, place->device->driver_name));
    }
    if (metric->scope == METRICS_HEAP || metric->scope == METRICS_HEAP_KIND) {
        put(text, ",heap=\"%u\",location=\"%s\"", place->heap,
            (place->device->heaps[place->heap].flags & 1) != 0 ? "device" : "host");
    }
    if (metric->scope == METRICS_HEAP_KIND || metric->scope == METRICS_DEVICE_KIND) {
        put_raw(text, ",", 1);
        put_label(text, "kind", support_sums_kind((enum support_history_kind)place->kind));
    }
    put(text, "} %.17g\n", value);
}

static void put_heaps(struct metrics_text* text, const struct metrics_metric* metric,
                      struct metrics_place place)
{
    for (place.heap = 0; place.heap < place.device->facts.heapCount; ++place.heap) {
        const uint32_t kinds = metric->scope == METRICS_HEAP_KIND ? SUPPORT_SUMS_KINDS : 1;
        for (place.kind = 0; place.kind < kinds; ++place.kind) {
            put_sample(text, metric, &place);
        }
    }
}

static void put_devices(struct metrics_text* text, const struct metrics_metric* metric,
                        struct metrics_place place)
{
    for (size_t i = 0; i < place.follow->sums.devices.count; ++i) {
        place.device = &place.follow->history.devices.items[i];
        place.sums = &place.follow->sums.devices.items[i];
        if (metric->scope == METRICS_HEAP || metric->scope == METRICS_HEAP_KIND) {
            put_heaps(text, metric, place);
            continue;
        }
        const uint32_t kinds = metric->scope == METRICS_DEVICE_KIND ? SUPPORT_SUMS_KINDS : 1;
        for (place.kind = 0; place.kind < kinds; ++place.kind) {
            put_sample(text, metric, &place);
        }
    }
}

static void put_metric(struct metrics_text* text, const struct metrics_metric* metric)
{
    /* In the older format, the name of a counter has its ending everywhere. */
    const char* const ending =
        metric->is_counter && text->format == TOOL_METRICS_TEXT ? "_total" : "";
    put(text, "# HELP %s%s %s\n", metric->name, ending, metric->help);
    put(text, "# TYPE %s%s %s\n", metric->name, ending, metric->is_counter ? "counter" : "gauge");
    for (size_t i = 0; i < text->set->count; ++i) {
        struct metrics_place place = {.follow = text->set->items[i]};
        if (metric->scope == METRICS_STATE) {
            for (place.kind = 0; place.kind <= TOOL_FOLLOW_WRONG; ++place.kind) {
                put_sample(text, metric, &place);
            }
        } else if (metric->scope == METRICS_CAPTURE) {
            put_sample(text, metric, &place);
        } else {
            put_devices(text, metric, place);
        }
    }
}

char* tool_metrics_write(const struct tool_follow_set* set, enum tool_metrics_format format,
                         size_t* size)
{
    struct metrics_text text = {.set = set, .format = format};
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; ++i) {
        put_metric(&text, &metrics[i]);
    }
    if (format == TOOL_METRICS_OPENMETRICS) {
        put(&text, "# EOF\n");
    }
    if (text.failed) {
        free(text.data);
        return NULL;
    }
    *size = text.size;
    return text.data;
}

/* Returns how much a request wants a type, 0 to 1, from its field Accept. */
static double find_quality(const char* accept, const char* type)
{
    double best = -1;
    const size_t length = strlen(type);
    while (*accept != '\0') {
        accept += strspn(accept, " \t,");
        const size_t size = strcspn(accept, ",");
        if (size >= length && strncmp(accept, type, length) == 0 &&
            (size == length || strchr(" ;\t", accept[length]) != NULL)) {
            double quality = 1;
            for (size_t i = length; i + 2 < size; ++i) {
                if (accept[i] == ';' && strspn(accept + i, "; \t") > 0 &&
                    strncmp(accept + i + strspn(accept + i, "; \t"), "q=", 2) == 0) {
                    quality = strtod(accept + i + strspn(accept + i, "; \t") + 2, NULL);
                }
            }
            best = quality > best ? quality : best;
        }
        accept += size;
    }
    return best;
}

enum tool_metrics_format tool_metrics_choose(const char* accept)
{
    if (accept == NULL) {
        return TOOL_METRICS_TEXT;
    }
    const double wanted = find_quality(accept, "application/openmetrics-text");
    const double text = find_quality(accept, "text/plain");
    return wanted > 0 && wanted >= text ? TOOL_METRICS_OPENMETRICS : TOOL_METRICS_TEXT;
}

const char* tool_metrics_content_type(enum tool_metrics_format format)
{
    return format == TOOL_METRICS_OPENMETRICS
               ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
               : "text/plain; version=0.0.4; charset=utf-8";
}
