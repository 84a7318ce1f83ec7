/*
 * The pages of maar top; see tool_top.h.
 */
#include "tool_text.h"
#include "tool_top.h"

#include <inttypes.h>
#include <string.h>

enum { WHOLE = 4096, LEAST_RESOURCES = 3, ONCE_RESOURCES = 8 };

/* A place on the page. */
struct draw_place {
    struct tool_canvas* canvas;
    size_t row;
};

static void put(struct draw_place* place, size_t column, size_t room, enum tool_style style,
                const char* text)
{
    (void)tool_canvas_put(place->canvas, place->row, column, room, style, text);
}

static void put_right(struct draw_place* place, size_t end, enum tool_style style, const char* text)
{
    tool_canvas_put_right(place->canvas, place->row, end, 10, style, text);
}

static void put_size(struct draw_place* place, size_t end, enum tool_style style, uint64_t bytes)
{
    char text[32];
    put_right(place, end, style, tool_format_size(bytes, text, sizeof text));
}

static void put_count(struct draw_place* place, size_t end, uint64_t count)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%" PRIu64, count);
    put_right(place, end, TOOL_STYLE_PLAIN, text);
}

static void put_rate(struct draw_place* place, size_t end, double rate)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%.0f", rate);
    put_right(place, end, rate > 0 ? TOOL_STYLE_PLAIN : TOOL_STYLE_DIM, text);
}

/* ---- the list of captures ---- */

/* Where the columns of the list end. The name takes what is left. */
struct list_columns {
    size_t process, name, state, held, bound, frames, allocations, resources;
};

static struct list_columns find_columns(size_t width)
{
    const size_t end = width > 80 ? (width < 120 ? width : 120) : 80;
    return (struct list_columns){
        .process = 7,
        .name = 9,
        .state = end - 56,
        .held = end - 36,
        .bound = end - 26,
        .frames = end - 17,
        .allocations = end - 9,
        .resources = end,
    };
}

static void draw_list_head(const struct tool_top* top, struct draw_place* place)
{
    const struct list_columns columns = find_columns(place->canvas->width);
    const struct {
        size_t at;
        enum tool_top_sort sort;
        const char* text;
        bool is_left;
    } heads[] = {
        {columns.process, TOOL_TOP_SORT_COUNT, "PID", false},
        {columns.name, TOOL_TOP_BY_NAME, "PROGRAM", true},
        {columns.state, TOOL_TOP_SORT_COUNT, "STATE", true},
        {columns.held, TOOL_TOP_BY_HELD, "HELD", false},
        {columns.bound, TOOL_TOP_BY_BOUND, "BOUND", false},
        {columns.frames, TOOL_TOP_BY_FRAMES, "FRAME/S", false},
        {columns.allocations, TOOL_TOP_BY_ALLOCATIONS, "ALLOC/S", false},
        {columns.resources, TOOL_TOP_BY_RESOURCES, "RESOURCE", false},
    };
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; ++i) {
        const enum tool_style style =
            heads[i].sort == top->sort ? TOOL_STYLE_CHOSEN_HEAD : TOOL_STYLE_HEAD;
        if (heads[i].is_left) {
            put(place, heads[i].at, 16, style, heads[i].text);
        } else {
            put_right(place, heads[i].at, style, heads[i].text);
        }
    }
    place->row += 1;
}

static enum tool_style state_style(enum tool_follow_state state)
{
    return state == TOOL_FOLLOW_RUNNING ? TOOL_STYLE_GOOD
           : state == TOOL_FOLLOW_ENDED ? TOOL_STYLE_DIM
           : state == TOOL_FOLLOW_WRONG ? TOOL_STYLE_BAD
                                        : TOOL_STYLE_WARNING;
}

/* Writes a time as 5 s, 3:07 or 1:02:03. */
static void write_time(uint64_t time_ns, char* text, size_t size)
{
    const uint64_t seconds = time_ns / 1000000000;
    if (seconds < 60) {
        (void)snprintf(text, size, "%" PRIu64 " s", seconds);
    } else if (seconds < 3600) {
        (void)snprintf(text, size, "%" PRIu64 ":%02" PRIu64, seconds / 60, seconds % 60);
    } else {
        (void)snprintf(text, size, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, seconds / 3600,
                       seconds / 60 % 60, seconds % 60);
    }
}

static void draw_row(const struct tool_follow* follow, struct draw_place* place, bool is_chosen)
{
    const struct list_columns columns = find_columns(place->canvas->width);
    const struct tool_follow_rates rates = tool_follow_rates(follow);
    char text[64];
    (void)snprintf(text, sizeof text, "%" PRIu64, follow->history.header.process);
    put_right(place, columns.process, TOOL_STYLE_PLAIN, text);
    put(place, columns.name, columns.state - columns.name - 1, TOOL_STYLE_STRONG,
        tool_follow_name(follow));
    const char* const word = tool_follow_state_word(follow->state);
    put(place, columns.state, 9, state_style(follow->state), word);
    put_size(place, columns.held, TOOL_STYLE_PLAIN, tool_follow_held(follow));
    put_size(place, columns.bound, TOOL_STYLE_PLAIN, tool_follow_bound(follow));
    put_rate(place, columns.frames, rates.frames);
    put_rate(place, columns.allocations, rates.allocations);
    put_count(place, columns.resources, tool_follow_resources(follow));
    if (is_chosen) {
        tool_canvas_mark(place->canvas, place->row, TOOL_STYLE_CHOSEN);
    }
    place->row += 1;
}

/* ---- details of one capture ---- */

static void draw_heap_head(struct draw_place* place)
{
    static const char* const heads[] = {"HELD", "PEAK", "BOUND", "USAGE", "LIMIT"};
    put(place, 2, WHOLE, TOOL_STYLE_HEAD, "HEAP");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; ++i) {
        put_right(place, 21 + 10 * i, TOOL_STYLE_HEAD, heads[i]);
    }
    place->row += 1;
}

static void draw_heap(const struct support_history_device* device,
                      const struct support_device_sums* sums, uint32_t heap,
                      struct draw_place* place)
{
    const struct support_heap_sum* const sum = &sums->heaps[heap];
    const bool is_known = heap < sums->budget_heap_count;
    const uint64_t budget = is_known ? sums->budget[heap] : 0;
    const uint64_t limit = budget != 0 ? budget : device->heaps[heap].size;
    const enum tool_style style = sum->held > limit ? TOOL_STYLE_BAD : TOOL_STYLE_PLAIN;
    char text[32];
    (void)snprintf(text, sizeof text, "%u %s", heap,
                   (device->heaps[heap].flags & 1) != 0 ? "device" : "host");
    put(place, 2, 9, TOOL_STYLE_PLAIN, text);
    put_size(place, 21, style, sum->held);
    put_size(place, 31, TOOL_STYLE_PLAIN, sum->held_peak);
    put_size(place, 41, TOOL_STYLE_PLAIN, support_sums_bound(sum));
    if (is_known) {
        put_size(place, 51, TOOL_STYLE_PLAIN, sums->usage[heap]);
    } else {
        put_right(place, 51, TOOL_STYLE_DIM, "-");
    }
    put_size(place, 61, TOOL_STYLE_PLAIN, limit);
    size_t room = place->canvas->width > 80 ? place->canvas->width - 68 : 12;
    room = room < 40 ? room : 40;
    tool_canvas_put_bar(place->canvas, place->row, 63, room, support_sums_bound(sum), sum->held,
                        limit);
    const double percent = limit > 0 ? 100.0 * (double)sum->held / (double)limit : 0;
    (void)snprintf(text, sizeof text, percent < 1000 ? "%.0f%%" : ">999%%", percent);
    put_right(place, 63 + room + 5, style, text);
    place->row += 1;
}

/* One line of what is rarely different from nothing. */
static void draw_notes(const struct tool_top* top, const struct tool_follow* follow,
                       const struct support_device_sums* sums, struct draw_place* place)
{
    char size[32];
    char other[32];
    char text[256];
    size_t column = 2;
    const struct tool_follow_rates rates = tool_follow_rates(follow);
    uint64_t memories = 0;
    uint64_t imported = 0;
    for (size_t i = 0; i < MAAR_CAPTURE_MOST_HEAPS; ++i) {
        memories += sums->heaps[i].memory_count;
        imported += sums->heaps[i].imported;
    }
    (void)snprintf(text, sizeof text, "%" PRIu64 " memories; %.0f resources and %.0f submissions/s",
                   memories, rates.resources, rates.submits);
    column = tool_canvas_put(place->canvas, place->row, column, WHOLE, TOOL_STYLE_DIM, text);
    if (imported > 0) {
        (void)snprintf(text, sizeof text, "; %s imported",
                       tool_format_size(imported, size, sizeof size));
        column = tool_canvas_put(place->canvas, place->row, column, WHOLE, TOOL_STYLE_DIM, text);
    }
    if (sums->swapchain_bytes > 0) {
        (void)snprintf(text, sizeof text, "; swapchains about %s",
                       tool_format_size(sums->swapchain_bytes, size, sizeof size));
        column = tool_canvas_put(place->canvas, place->row, column, WHOLE, TOOL_STYLE_DIM, text);
    }
    if (sums->failure_count > 0) {
        (void)snprintf(text, sizeof text, "; %" PRIu64 " allocations refused", sums->failure_count);
        column = tool_canvas_put(place->canvas, place->row, column, WHOLE, TOOL_STYLE_BAD, text);
    }
    const struct tool_kernel_use use =
        tool_kernel_find(&top->kernel, follow->history.header.process);
    if (use.driver[0] != '\0' && follow->state == TOOL_FOLLOW_RUNNING) {
        (void)snprintf(text, sizeof text, "; kernel: %s device, %s host",
                       tool_format_size(use.device_bytes, size, sizeof size),
                       tool_format_size(use.host_bytes, other, sizeof other));
        (void)tool_canvas_put(place->canvas, place->row, column, WHOLE, TOOL_STYLE_DIM, text);
    }
    place->row += 1;
}

static void draw_device(const struct tool_top* top, const struct tool_follow* follow, size_t index,
                        struct draw_place* place)
{
    const struct support_history_device* const device = &follow->history.devices.items[index];
    const struct support_device_sums* const sums = &follow->sums.devices.items[index];
    const char* const driver = support_history_text(&follow->history, device->driver_name);
    char text[640];
    char age[32];
    write_time(follow->now_ns, age, sizeof age);
    size_t column = tool_canvas_put(place->canvas, place->row, 0, 40, TOOL_STYLE_STRONG,
                                    tool_follow_name(follow));
    (void)snprintf(text, sizeof text, "  %s%s%s%s  %s",
                   support_history_text(&follow->history, device->name),
                   driver[0] != '\0' ? " (" : "", driver, driver[0] != '\0' ? ")" : "", age);
    (void)tool_canvas_put(place->canvas, place->row, column, WHOLE, TOOL_STYLE_PLAIN, text);
    place->row += 1;
    draw_heap_head(place);
    for (uint32_t heap = 0; heap < device->facts.heapCount; ++heap) {
        draw_heap(device, sums, heap, place);
    }
    draw_notes(top, follow, sums, place);
}

/* The heap of a resource's first bind, or none. */
static uint32_t heap_of(const struct tool_follow* follow, uint32_t resource)
{
    const struct support_history_resource* const found = &follow->history.resources.items[resource];
    if (found->memory != SUPPORT_HISTORY_NONE) {
        return support_history_heap(&follow->history, found->memory);
    }
    return resource < follow->sums.sparse.count && found->sparse_bytes > 0
               ? follow->sums.sparse.items[resource].heap
               : SUPPORT_HISTORY_NONE;
}

static void draw_resources(const struct tool_follow* follow, size_t most, struct draw_place* place)
{
    uint32_t resources[64];
    const size_t count = tool_follow_largest(follow, resources, most);
    if (count == 0) {
        return;
    }
    put_right(place, 11, TOOL_STYLE_HEAD, "SIZE");
    put_right(place, 21, TOOL_STYLE_HEAD, "AGE");
    put(place, 23, WHOLE, TOOL_STYLE_HEAD, "HEAP KIND        LARGEST RESOURCES");
    place->row += 1;
    for (size_t i = 0; i < count; ++i) {
        const struct support_history_resource* const resource =
            &follow->history.resources.items[resources[i]];
        const uint32_t heap = heap_of(follow, resources[i]);
        char text[512];
        put_size(place, 11, TOOL_STYLE_PLAIN, tool_follow_bytes(follow, resources[i]));
        write_time(follow->now_ns > resource->begin_ns ? follow->now_ns - resource->begin_ns : 0,
                   text, sizeof text);
        put_right(place, 21, TOOL_STYLE_PLAIN, text);
        (void)snprintf(text, sizeof text, "%u", heap);
        put(place, 23, 4, TOOL_STYLE_PLAIN, heap == SUPPORT_HISTORY_NONE ? "-" : text);
        put(place, 28, 11, TOOL_STYLE_PLAIN,
            support_sums_kind((enum support_history_kind)resource->kind));
        support_history_label(&follow->history, resources[i], text, sizeof text);
        put(place, 40, WHOLE, TOOL_STYLE_STRONG, text);
        place->row += 1;
    }
}

static void draw_details(const struct tool_top* top, const struct tool_follow* follow,
                         size_t resources, struct draw_place* place)
{
    if (follow->state == TOOL_FOLLOW_WRONG) {
        put(place, 0, WHOLE, TOOL_STYLE_BAD, follow->fault);
        place->row += 1;
    }
    for (size_t i = 0; i < follow->sums.devices.count; ++i) {
        draw_device(top, follow, i, place);
    }
    if (follow->sums.devices.count == 0) {
        put(place, 0, WHOLE, TOOL_STYLE_STRONG, tool_follow_name(follow));
        place->row += 1;
        put(place, 2, WHOLE, TOOL_STYLE_DIM, "has not created a device");
        place->row += 1;
    }
    if (resources > 0) {
        place->row += 1;
        draw_resources(follow, resources, place);
    }
}

/* ---- other processes ---- */

static bool is_captured(const struct tool_top* top, uint64_t process)
{
    for (size_t i = 0; i < top->set.count; ++i) {
        if (top->set.items[i]->history.header.process == process &&
            top->set.items[i]->state == TOOL_FOLLOW_RUNNING) {
            return true;
        }
    }
    return false;
}

static size_t count_others(const struct tool_top* top)
{
    size_t count = 0;
    for (size_t i = 0; i < top->kernel.count; ++i) {
        count += is_captured(top, top->kernel.items[i].process) ? 0u : 1u;
    }
    return count;
}

static void draw_others(const struct tool_top* top, size_t most, struct draw_place* place)
{
    const struct list_columns columns = find_columns(place->canvas->width);
    const size_t count = count_others(top);
    if (count == 0) {
        put(place, 0, WHOLE, TOOL_STYLE_DIM,
            "The kernel lists no other process with device memory.");
        place->row += 1;
        return;
    }
    put_right(place, columns.process, TOOL_STYLE_HEAD, "PID");
    put(place, columns.name, WHOLE, TOOL_STYLE_HEAD, "OTHER PROCESSES");
    put(place, columns.state, WHOLE, TOOL_STYLE_HEAD, "DRIVER");
    put_right(place, columns.held, TOOL_STYLE_HEAD, "DEVICE");
    put_right(place, columns.bound, TOOL_STYLE_HEAD, "HOST");
    put(place, columns.bound + 2, WHOLE, TOOL_STYLE_HEAD, "AT");
    place->row += 1;
    size_t shown = 0;
    for (size_t i = 0; i < top->kernel.count && shown < most; ++i) {
        const struct tool_kernel_use* const use = &top->kernel.items[i];
        if (is_captured(top, use->process)) {
            continue;
        }
        char text[64];
        (void)snprintf(text, sizeof text, "%" PRIu64, use->process);
        if (shown + 1 == most && shown + 1 < count) {
            (void)snprintf(text, sizeof text, "and %zu more", count - shown);
            put(place, columns.name, WHOLE, TOOL_STYLE_DIM, text);
        } else {
            put_right(place, columns.process, TOOL_STYLE_PLAIN, text);
            put(place, columns.name, columns.state - columns.name - 1, TOOL_STYLE_PLAIN, use->name);
            put(place, columns.state, 9, TOOL_STYLE_PLAIN, use->driver);
            put_size(place, columns.held, TOOL_STYLE_PLAIN, use->device_bytes);
            put_size(place, columns.bound, TOOL_STYLE_PLAIN, use->host_bytes);
            put(place, columns.bound + 2, WHOLE, TOOL_STYLE_DIM, use->device);
        }
        place->row += 1;
        shown += 1;
    }
}

/* ---- pages ---- */

static void draw_title(const struct tool_top* top, struct draw_place* place)
{
    char text[160];
    char size[32];
    size_t running = 0;
    uint64_t held = 0;
    for (size_t i = 0; i < top->set.count; ++i) {
        const bool runs = top->set.items[i]->state == TOOL_FOLLOW_RUNNING;
        running += runs ? 1u : 0u;
        held += runs ? tool_follow_held(top->set.items[i]) : 0;
    }
    put(place, 0, WHOLE, TOOL_STYLE_STRONG, "maar top");
    /* What ended holds nothing now, whatever its capture says at its end. */
    (void)snprintf(
        text, sizeof text, "%zu %s, %zu running%s%s%s", top->set.count,
        top->set.count == 1 ? "capture" : "captures", running, running > 0 ? " with " : "",
        running > 0 ? tool_format_size(held, size, sizeof size) : "", running > 0 ? " held" : "");
    put(place, 10, WHOLE, TOOL_STYLE_PLAIN, text);
    place->row += 2;
}

static void draw_nothing(const struct tool_top* top, struct draw_place* place)
{
    put(place, 0, WHOLE, TOOL_STYLE_PLAIN,
        top->set.folder != NULL ? "The folder has no capture."
                                : "No program writes a capture that this user may read.");
    put(&(struct draw_place){place->canvas, place->row + 1}, 0, WHOLE, TOOL_STYLE_DIM,
        "\"maar capture -- PROGRAM\" runs one with the layer.");
    place->row += 2;
}

static void draw_help(struct draw_place* place)
{
    static const char* const lines[][2] = {
        {"up, down", "choose a program, whose details are shown below"},
        {"left, right", "sort by another column; its head is underlined"},
        {"h, ?", "show or hide this page"},
        {"q", "leave"},
        {"", ""},
        {"HELD", "device memory that the program allocated and did not free"},
        {"PEAK", "the most that it held"},
        {"BOUND", "bytes of its resources there; shared bytes count for each"},
        {"USAGE", "what the driver says the process uses, with its own memory"},
        {"LIMIT", "the budget, as the driver says, or else the heap's size"},
        {"ALLOC/S", "calls of vkAllocateMemory in the last second"},
        {"DEVICE, HOST", "what the kernel counts for a process (DRM fdinfo)"},
        {"", ""},
        {"a bar", "bound; held and not bound; free up to the limit"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; ++i) {
        put(place, 2, 14, TOOL_STYLE_STRONG, lines[i][0]);
        put(place, 18, WHOLE, TOOL_STYLE_PLAIN, lines[i][1]);
        place->row += 1;
    }
}

/* How many rows the details of a capture take, without its resources. */
static size_t detail_rows(const struct tool_follow* follow)
{
    size_t rows = follow->state == TOOL_FOLLOW_WRONG ? 1 : 0;
    for (size_t i = 0; i < follow->sums.devices.count; ++i) {
        rows += 3 + follow->history.devices.items[i].facts.heapCount;
    }
    return follow->sums.devices.count == 0 ? rows + 2 : rows;
}

static void draw_list(const struct tool_top* top, size_t most, struct draw_place* place)
{
    const size_t chosen = tool_top_chosen(top);
    const size_t first = chosen >= most ? chosen + 1 - most : 0;
    draw_list_head(top, place);
    for (size_t i = first; i < top->order_count && i < first + most; ++i) {
        draw_row(top->order[i], place, i == chosen);
    }
    place->row += 1;
}

static void draw_main(const struct tool_top* top, size_t height, struct draw_place* place)
{
    const size_t others = count_others(top);
    const size_t list = height / 4 > 3 ? height / 4 : 3;
    const size_t shown = others < height / 6 ? others : height / 6;
    if (top->order_count == 0) {
        draw_nothing(top, place);
        place->row += 1;
        draw_others(top, height > 8 ? height - 8 : 1, place);
        return;
    }
    draw_list(top, list, place);
    const struct tool_follow* const follow = top->order[tool_top_chosen(top)];
    /* Below: a blank row, the others with their head or one line, a blank row and the keys. */
    const size_t below = 3 + (shown > 0 ? shown + 1 : 1);
    const size_t used = place->row + detail_rows(follow) + 2 + below;
    const size_t resources = used < height ? height - used : 0;
    draw_details(top, follow, resources, place);
    place->row += 1;
    draw_others(top, shown, place);
}

void tool_top_draw(const struct tool_top* top, struct tool_canvas* canvas, size_t height)
{
    struct draw_place place = {.canvas = canvas};
    draw_title(top, &place);
    if (top->shows_help) {
        draw_help(&place);
    } else {
        draw_main(top, height, &place);
    }
    if (height > 0) {
        place.row = height - 1;
        put(&place, 0, WHOLE, TOOL_STYLE_DIM,
            canvas->is_utf8 ? "q leave   \xE2\x86\x91\xE2\x86\x93 choose   "
                              "\xE2\x86\x90\xE2\x86\x92 sort   ? help"
                            : "q leave   up/down choose   left/right sort   ? help");
    }
}

void tool_top_draw_all(const struct tool_top* top, struct tool_canvas* canvas)
{
    struct draw_place place = {.canvas = canvas};
    draw_title(top, &place);
    if (top->order_count == 0) {
        draw_nothing(top, &place);
        place.row += 1;
    } else {
        draw_list_head(top, &place);
        for (size_t i = 0; i < top->order_count; ++i) {
            draw_row(top->order[i], &place, false);
        }
        place.row += 1;
    }
    for (size_t i = 0; i < top->order_count; ++i) {
        draw_details(top, top->order[i], ONCE_RESOURCES, &place);
        place.row += 1;
    }
    draw_others(top, SIZE_MAX, &place);
}
