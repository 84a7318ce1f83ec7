/*
 * Prints what an input needs and where it fits, for people and for machines; see tool_fit.h.
 */
#include "support/json_text.h"
#include "tool_fit.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#define SIZE_TEXT 32
#define NAME_TEXT 320
#define LINE_LENGTH 96u

static const char* const purpose_keys[TOOL_FIT_PURPOSE_COUNT] = {
    [TOOL_FIT_WEIGHTS] = "weights",         [TOOL_FIT_KV_CACHE] = "kv_cache",
    [TOOL_FIT_GRADIENTS] = "gradients",     [TOOL_FIT_OPTIMIZER] = "optimizer",
    [TOOL_FIT_ACTIVATIONS] = "activations", [TOOL_FIT_TRANSIENTS] = "transients",
    [TOOL_FIT_BUFFERS] = "buffers",         [TOOL_FIT_STAGING] = "staging_buffers",
    [TOOL_FIT_IMAGES] = "images",           [TOOL_FIT_TARGETS] = "render_targets",
    [TOOL_FIT_RESERVE] = "reserve",
};

static const char* const kind_keys[] = {
    [TOOL_FIT_FROM_TRACE] = "trace",
    [TOOL_FIT_FROM_FRAME] = "frame graph",
    [TOOL_FIT_FROM_GGUF] = "gguf",
    [TOOL_FIT_FROM_FORMULA] = "training",
};

/* Prints a sentence as a paragraph. */
static void print_wrapped(const char* text)
{
    size_t column = 0;
    while (*text != '\0') {
        const size_t length = strcspn(text, " ");
        const bool is_first = column == 0 || column + 1 + length > LINE_LENGTH;
        printf("%s%.*s", !is_first ? " " : column == 0 ? "  " : "\n  ", (int)length, text);
        column = is_first ? 2 + length : column + 1 + length;
        text += length;
        text += strspn(text, " ");
    }
    printf("\n");
}

/* Prints what the captured program itself held. */
static void print_program(const struct tool_fit_program* program)
{
    char held[SIZE_TEXT];
    char swapchain[SIZE_TEXT];
    if (!program->is_known) {
        return;
    }
    printf("  program itself held %s in %" PRIu64 " memor%s at its peak, ",
           tool_format_size(program->held_bytes, held, sizeof(held)), program->memory_count,
           program->memory_count == 1 ? "y" : "ies");
    if (program->swapchain_bytes == 0) {
        printf("and had no swapchain\n\n");
    } else {
        printf("swapchain about %s beside\n\n",
               tool_format_size(program->swapchain_bytes, swapchain, sizeof(swapchain)));
    }
}

void tool_fit_print_needs(const struct tool_fit_demand* demand)
{
    char name[4 * TOOL_NAME_SIZE + 1];
    char size[SIZE_TEXT];
    char largest_size[SIZE_TEXT];
    char item[NAME_TEXT];
    char printable[4 * NAME_TEXT + 1];
    printf("%s: %s\n\n", tool_printable(demand->name, name, sizeof(name)), demand->facts);
    printf("  %-16s %10s  %9s  %s\n", "needed at once", "size", "resources", "largest resource");
    for (size_t i = 0; i < TOOL_FIT_PURPOSE_COUNT; ++i) {
        const struct tool_fit_total* const total = &demand->totals[i];
        if (total->largest == UINT32_MAX) {
            continue;
        }
        tool_fit_name(&demand->items[total->largest], item, sizeof(item));
        printf("  %-16s %10s  %9" PRIu64 "  %s (%s)\n", tool_fit_purpose_names[i],
               tool_format_size(total->bytes, size, sizeof(size)), total->count,
               tool_printable(item, printable, sizeof(printable)),
               tool_format_size(total->largest_bytes, largest_size, sizeof(largest_size)));
    }
    printf("  %-16s %10s  %9" PRIu64 "\n\n", "total",
           tool_format_size(demand->peak_bytes, size, sizeof(size)), demand->peak_count);
    print_program(&demand->program);
    for (size_t i = 0; i < demand->note_count; ++i) {
        print_wrapped(demand->notes[i]);
    }
    printf("%s", demand->note_count != 0 ? "\n" : "");
}

/* Writes the sentence about the first resource that found no place. */
static void describe_failure(const struct tool_fit_demand* demand,
                             const struct tool_fit_result* result, char* out, size_t room)
{
    const struct tool_fit_failure* const failure = &result->failure;
    char stem[NAME_TEXT];
    char name[4 * NAME_TEXT + 1];
    char bytes[SIZE_TEXT];
    char left[SIZE_TEXT];
    char limit[SIZE_TEXT];
    tool_fit_name(&demand->items[failure->item], stem, sizeof(stem));
    tool_printable(stem, name, sizeof(name));
    tool_format_size(failure->bytes, bytes, sizeof(bytes));
    tool_format_size(failure->free, left, sizeof(left));
    tool_format_size(failure->limit, limit, sizeof(limit));
    switch (failure->reason) {
    case TOOL_FIT_NO_REASON:
        out[0] = '\0';
        break;
    case TOOL_FIT_NO_TYPE:
        snprintf(out, room, "no memory type serves %s (%s)", name, bytes);
        break;
    case TOOL_FIT_ABOVE_BUFFER:
        snprintf(out, room, "%s needs a buffer of %s; maxBufferSize is %s", name, bytes, limit);
        break;
    case TOOL_FIT_ABOVE_MEMORY:
        snprintf(out, room, "%s needs %s at once; maxMemoryAllocationSize is %s", name, bytes,
                 limit);
        break;
    case TOOL_FIT_TOO_MANY:
        snprintf(out, room, "%s needs one more memory; maxMemoryAllocationCount is %" PRIu64, name,
                 failure->limit);
        break;
    case TOOL_FIT_ABOVE_HEAP:
        snprintf(out, room, "%s needs %s; all of heap %" PRIu32 " is %s", name, bytes,
                 failure->heap, limit);
        break;
    case TOOL_FIT_HEAP_FULL:
        snprintf(out, room,
                 "heap %" PRIu32 " is too small; the first without room is %s (%s; %s are left%s)",
                 failure->heap, name, bytes, left,
                 failure->bytes <= failure->free ? ", in pieces" : "");
        break;
    case TOOL_FIT_ABOVE_BUDGET:
        snprintf(out, room,
                 "the budget of heap %" PRIu32
                 " is too small; the first without room is %s (%s; %s of %s "
                 "are left)",
                 failure->heap, name, bytes, left, limit);
        break;
    case TOOL_FIT_ASSUMED_BUDGET:
        snprintf(out, room,
                 "no budget is known, so Maar keeps to 80 %% of heap %" PRIu32
                 "; the first without room is %s (%s; %s of %s are left)",
                 failure->heap, name, bytes, left, limit);
        break;
    case TOOL_FIT_HOLES:
        snprintf(out, room, "heap %" PRIu32 " has %s free, but not in one piece for %s (%s)",
                 failure->heap, left, name, bytes);
        break;
    case TOOL_FIT_DRIVER:
    default:
        snprintf(out, room, "%s (%s): %s", name, bytes, maarGetResultName(failure->result));
        break;
    }
}

static uint64_t missing_bytes(const struct tool_fit_result* result)
{
    return result->unplaced_peak + result->elsewhere_peak + result->over_budget_peak;
}

/* The bytes of a heap, or of its budget, that stay free at Maar's peak. */
static uint64_t left_of(const struct tool_fit_heap* heap)
{
    const uint64_t used = heap->held_peak + heap->usage;
    const uint64_t room =
        heap->budget != 0 && heap->budget < heap->size ? heap->budget : heap->size;
    return room > used ? room - used : 0;
}

/* The bytes that stay free for resources of the device. */
static uint64_t left_in_all(const struct tool_fit_result* result)
{
    uint64_t left = 0;
    for (uint32_t i = 0; i < result->heap_count; ++i) {
        left += result->is_integrated || i == result->main_heap ? left_of(&result->heaps[i]) : 0;
    }
    return left;
}

/* Writes a heap's size, with a star if no device reported it. */
static const char* format_heap(const struct tool_fit_heap* heap, char* out, size_t size)
{
    char text[SIZE_TEXT];
    snprintf(out, size, "%s%s", tool_format_size(heap->size, text, sizeof(text)),
             heap->is_unmeasured ? "*" : " ");
    return out;
}

static const char* format_budget(const struct tool_fit_heap* heap, char* out, size_t size)
{
    if (heap->budget == 0) {
        snprintf(out, size, "unknown");
        return out;
    }
    return tool_format_size(heap->budget, out, size);
}

static const char* const verdicts[] = {
    [TOOL_FIT_NO] = "no",
    [TOOL_FIT_YES] = "yes",
    [TOOL_FIT_UNDECIDED] = "unproved",
};

void tool_fit_print_head(void)
{
    printf("%-36s %-8s %4s %10s  %9s %10s  %s\n", "device profile", "fits", "heap", "heap size",
           "budget", "Maar holds", "left or missing");
}

/* Says so where two heaps of the card share what the first of them does not hold: the answer is
 * then about both. */
static void print_displaced(const struct tool_fit_result* result)
{
    char bytes[SIZE_TEXT];
    char size[SIZE_TEXT];
    char from[SIZE_TEXT];
    for (uint32_t i = 0; i < result->heap_count; ++i) {
        const struct tool_fit_heap* const heap = &result->heaps[i];
        if (heap->displaced_peak != 0) {
            printf("    heap %" PRIu32 " of %s does not hold the program alone: %s of what belongs "
                   "there lie in\n    heap %" PRIu32 " of %s, which the host can map. For a card "
                   "with less memory, give both:\n    --heap %" PRIu32 "=SIZE --heap %" PRIu32
                   "=SIZE\n",
                   heap->displaced_from,
                   tool_format_size(result->heaps[heap->displaced_from].size, from, sizeof(from)),
                   tool_format_size(heap->displaced_peak, bytes, sizeof(bytes)), i,
                   tool_format_size(heap->size, size, sizeof(size)), heap->displaced_from, i);
        }
    }
}

void tool_fit_print_row(const struct tool_fit_demand* demand, const struct tool_fit_result* result)
{
    const struct tool_fit_heap* const heap = &result->heaps[result->main_heap];
    const bool fits = result->verdict == TOOL_FIT_YES;
    char size[SIZE_TEXT];
    char budget[SIZE_TEXT];
    char held[SIZE_TEXT];
    char rest[SIZE_TEXT];
    char reason[2048];
    printf("%-36s %-8s %4" PRIu32 " %11s %9s %10s  %s %s\n", result->profile,
           verdicts[result->verdict], result->main_heap, format_heap(heap, size, sizeof(size)),
           format_budget(heap, budget, sizeof(budget)),
           tool_format_size(heap->held_peak, held, sizeof(held)),
           tool_format_size(fits ? left_in_all(result) : missing_bytes(result), rest, sizeof(rest)),
           fits ? "left" : "missing");
    if (!fits) {
        describe_failure(demand, result, reason, sizeof(reason));
        printf("    %s\n", reason);
    }
    print_displaced(result);
    fflush(stdout);
}

/* Prints a row of a device's limits: what is used of it. */
static void print_limit(const char* what, const char* used, const char* name, const char* limit)
{
    printf("  %-15s %10s  %s %s\n", what, used, name, limit);
}

static const char* format_limit(uint64_t limit, bool is_size, char* out, size_t size)
{
    if (limit == 0) {
        snprintf(out, size, "is not reported");
    } else if (!is_size && limit == UINT32_MAX) {
        snprintf(out, size, "is not limited");
    } else if (is_size) {
        char text[SIZE_TEXT];
        snprintf(out, size, "is %s", tool_format_size(limit, text, sizeof(text)));
    } else {
        snprintf(out, size, "is %" PRIu64, limit);
    }
    return out;
}

static uint64_t largest_buffer(const struct tool_fit_demand* demand)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < demand->item_count; ++i) {
        const struct support_trace_resource* const row = &demand->items[i].row;
        largest = row->kind == SUPPORT_TRACE_BUFFER && row->size > largest ? row->size : largest;
    }
    return largest;
}

void tool_fit_print_heaps(const struct tool_fit_demand* demand,
                          const struct tool_fit_result* result)
{
    char size[SIZE_TEXT];
    char budget[SIZE_TEXT];
    char held[SIZE_TEXT];
    char live[SIZE_TEXT];
    char left[SIZE_TEXT];
    char limit[64];
    printf("\n%s (%s)\n\n", result->profile, result->device);
    printf("  %4s  %-6s %10s  %9s %10s %10s %10s\n", "heap", "memory", "size", "budget",
           "Maar holds", "in use", "left");
    for (uint32_t i = 0; i < result->heap_count; ++i) {
        const struct tool_fit_heap* const heap = &result->heaps[i];
        printf("  %4" PRIu32 "  %-6s %11s %9s %10s %10s %10s\n", i,
               heap->is_device_local ? "device" : "host", format_heap(heap, size, sizeof(size)),
               format_budget(heap, budget, sizeof(budget)),
               tool_format_size(heap->held_peak, held, sizeof(held)),
               tool_format_size(heap->live_peak, live, sizeof(live)),
               tool_format_size(left_of(heap), left, sizeof(left)));
    }
    printf("\n");
    if (result->has_least && result->least_heap != 0) {
        printf("  It fits into %s of heap %" PRIu32 ", and not into 1 MiB less.\n\n",
               tool_format_size(result->least_heap, size, sizeof(size)), result->main_heap);
    } else if (result->has_least) {
        printf("  It fits into no size of heap %" PRIu32 ".\n\n", result->main_heap);
    }
    if (largest_buffer(demand) != 0) {
        print_limit("largest buffer", tool_format_size(largest_buffer(demand), size, sizeof(size)),
                    "maxBufferSize",
                    format_limit(result->max_buffer_size, true, limit, sizeof(limit)));
    }
    print_limit("largest memory", tool_format_size(result->largest_memory, size, sizeof(size)),
                "maxMemoryAllocationSize",
                format_limit(result->max_memory_size, true, limit, sizeof(limit)));
    snprintf(size, sizeof(size), "%" PRIu64, result->memory_count_peak);
    print_limit("memories", size, "maxMemoryAllocationCount",
                format_limit(result->max_memory_count, false, limit, sizeof(limit)));
    if (result->elsewhere_peak != 0) {
        printf("\n  %s of the device's resources lie in host memory.\n",
               tool_format_size(result->elsewhere_peak, size, sizeof(size)));
    }
    if (result->unplaced_peak != 0) {
        printf("\n  %s find no memory at all.\n",
               tool_format_size(result->unplaced_peak, size, sizeof(size)));
    }
}

static void add(json_t* object, const char* key, json_t* value)
{
    json_object_set_new(object, key, value);
}

static void add_number(json_t* object, const char* key, uint64_t value)
{
    add(object, key, tool_json_number(value));
}

/* Adds a limit, or null for none. */
static void add_limit(json_t* object, const char* key, uint64_t value)
{
    add(object, key, value != 0 ? tool_json_number(value) : json_null());
}

static json_t* name_of(const struct tool_fit_demand* demand, uint32_t item)
{
    char name[NAME_TEXT];
    return support_json_text(tool_fit_name(&demand->items[item], name, sizeof(name)));
}

static json_t* list_needs(const struct tool_fit_demand* demand)
{
    json_t* const needs = json_object();
    add_number(needs, "bytes", demand->peak_bytes);
    add_number(needs, "resources", demand->peak_count);
    add(needs, "proved", json_boolean(demand->is_proved));
    for (size_t i = 0; i < TOOL_FIT_PURPOSE_COUNT; ++i) {
        const struct tool_fit_total* const total = &demand->totals[i];
        if (total->largest != UINT32_MAX) {
            json_t* const object = json_object();
            add_number(object, "bytes", total->bytes);
            add_number(object, "resources", total->count);
            add_number(object, "largest_bytes", total->largest_bytes);
            add(object, "largest", name_of(demand, total->largest));
            add(needs, purpose_keys[i], object);
        }
    }
    return needs;
}

static json_t* list_heaps(const struct tool_fit_result* result)
{
    json_t* const list = json_array();
    for (uint32_t i = 0; i < result->heap_count; ++i) {
        const struct tool_fit_heap* const heap = &result->heaps[i];
        json_t* const object = json_object();
        add_number(object, "size_bytes", heap->size);
        add_limit(object, "budget_bytes", heap->budget);
        add(object, "device_local", json_boolean(heap->is_device_local));
        add(object, "size_from_device", json_boolean(!heap->is_unmeasured));
        add_number(object, "held_bytes", heap->held_peak);
        add_number(object, "live_bytes", heap->live_peak);
        add_number(object, "displaced_bytes", heap->displaced_peak);
        add_number(object, "left_bytes", left_of(heap));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t* describe_reason(const struct tool_fit_demand* demand,
                               const struct tool_fit_result* result)
{
    const struct tool_fit_failure* const failure = &result->failure;
    char text[2048];
    if (failure->reason == TOOL_FIT_NO_REASON) {
        return json_null();
    }
    describe_failure(demand, result, text, sizeof(text));
    json_t* const object = json_object();
    add(object, "kind", json_string(tool_fit_reason_names[failure->reason]));
    add(object, "text", support_json_text(text));
    add(object, "resource", name_of(demand, failure->item));
    add_number(object, "resource_bytes", failure->bytes);
    add_number(object, "heap", failure->heap);
    add_number(object, "free", failure->free);
    add_number(object, "limit", failure->limit);
    return object;
}

/* What the captured program itself held, or null. */
static json_t* describe_program(const struct tool_fit_program* program)
{
    if (!program->is_known) {
        return json_null();
    }
    json_t* const object = json_object();
    add_number(object, "held_bytes", program->held_bytes);
    add_number(object, "memories", program->memory_count);
    add_number(object, "swapchain_bytes", program->swapchain_bytes);
    return object;
}

bool tool_fit_print_json(const struct tool_fit_demand* demand, const struct tool_fit_result* result)
{
    json_t* const object = json_object();
    if (object == NULL) {
        return false;
    }
    add(object, "input", support_json_text(demand->name));
    add(object, "kind", json_string(kind_keys[demand->kind]));
    add(object, "profile", support_json_text(result->profile));
    add(object, "device", support_json_text(result->device));
    add(object, "fits",
        result->verdict == TOOL_FIT_UNDECIDED ? json_null()
                                              : json_boolean(result->verdict == TOOL_FIT_YES));
    add(object, "reason", describe_reason(demand, result));
    add_number(object, "main_heap", result->main_heap);
    add(object, "integrated", json_boolean(result->is_integrated));
    add_number(object, "left_bytes", left_in_all(result));
    add_number(object, "missing_bytes", missing_bytes(result));
    add_number(object, "unplaced_bytes", result->unplaced_peak);
    add_number(object, "host_bytes", result->elsewhere_peak);
    add_number(object, "over_budget_bytes", result->over_budget_peak);
    add(object, "heaps", list_heaps(result));
    if (result->has_least) {
        add_limit(object, "least_heap_bytes", result->least_heap);
    }
    add_number(object, "memories", result->memory_count_peak);
    add_number(object, "largest_memory_bytes", result->largest_memory);
    add_limit(object, "maxMemoryAllocationCount", result->max_memory_count);
    add_limit(object, "maxMemoryAllocationSize", result->max_memory_size);
    add_limit(object, "maxBufferSize", result->max_buffer_size);
    add(object, "needs", list_needs(demand));
    add(object, "program", describe_program(&demand->program));
    json_t* const notes = json_array();
    for (size_t i = 0; i < demand->note_count; ++i) {
        json_array_append_new(notes, support_json_text(demand->notes[i]));
    }
    add(object, "notes", notes);
    return tool_print_json(object);
}
