/*
 * Prints what a trace through a manager of residents cost; see tool_residents.h.
 */
#include "tool_residents.h"

#include "maar/capture_file.h"
#include "support/json_text.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

bool tool_budget_parse(const char* text, struct tool_budget* budget)
{
    const size_t length = strlen(text);
    char number[32];
    *budget = (struct tool_budget){.is_least = strcmp(text, "least") == 0};
    if (length > 1 && length < sizeof number && text[length - 1] == '%') {
        memcpy(number, text, length - 1);
        number[length - 1] = '\0';
        uint64_t percent = 0;
        (void)tool_read_number(number, 100, &percent);
        budget->percent = (uint32_t)percent;
    } else if (!budget->is_least) {
        (void)tool_read_size(text, &budget->bytes);
    }
    if (budget->percent == 0 && budget->bytes == 0 && !budget->is_least) {
        tool_complain(
            "--budget %s: expected bytes, as in 64MiB, or 1%% to 100%% of the most that is "
            "in use at a time, or least",
            text);
        return false;
    }
    return true;
}

static bool print_json(const struct tool_device* tool, const char* trace,
                       const struct tool_residents_outcome* outcome, uint32_t errors,
                       uint32_t messages)
{
    const struct {
        const char* key;
        uint64_t value;
    } rows[] = {
        {"budget_bytes", outcome->budget},
        {"host_budget_bytes", outcome->host_budget},
        {"trace_peak_used_bytes", outcome->trace_peak_bytes},
        {"residents", outcome->residents},
        {"resident_bytes", outcome->resident_bytes},
        {"stand_ins", outcome->stand_ins},
        {"too_large", outcome->too_large},
        {"submissions", outcome->submissions},
        {"uses", outcome->uses},
        {"unmet_submissions", outcome->unmet_submissions},
        {"missing_bytes", outcome->missing_bytes},
        {"restored_bytes", outcome->restored_bytes},
        {"restored_count", outcome->restored_count},
        {"written_bytes", outcome->written_bytes},
        {"written_count", outcome->written_count},
        {"evictions", outcome->evictions},
        {"peak_device_bytes", outcome->peak_bytes},
        {"allocator_errors", errors},
        {"validation_messages", messages},
    };
    json_t* const object = json_object();
    if (object == NULL) {
        return false;
    }
    json_object_set_new(object, "trace", support_json_text(trace));
    json_object_set_new(object, "device", support_json_text(tool->properties.deviceName));
    json_object_set_new(object, "driver", support_json_text(tool->driver));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        json_object_set_new(object, rows[i].key, json_integer((json_int_t)rows[i].value));
    }
    json_object_set_new(object, "ns_per_use", json_real(outcome->ns_per_use));
    json_object_set_new(object, "validated", json_boolean(tool->options.validate));
    return tool_print_json(object);
}

/* The columns: budget, held, restored, written, evictions, unmet submissions, time. */
#define ROW_FORMAT "%9s %9s %9s %9s %10s %12s %9s\n"

static void print_head(const struct tool_device* tool)
{
    printf("%s (%s)\n\n", tool->properties.deviceName, tool->driver);
    printf(ROW_FORMAT, "", "most", "", "", "", "submissions", "time per");
    printf(ROW_FORMAT, "budget", "held", "restored", "written", "evictions", "left out", "use");
}

static void print_row(const char* trace, const struct tool_residents_outcome* outcome)
{
    char name[4 * TOOL_NAME_SIZE + 1];
    char texts[4][32];
    char evictions[32];
    char unmet[32];
    char time[32];
    tool_format_size(outcome->budget, texts[0], sizeof(texts[0]));
    tool_format_size(outcome->peak_bytes, texts[1], sizeof(texts[1]));
    tool_format_size(outcome->restored_bytes, texts[2], sizeof(texts[2]));
    tool_format_size(outcome->written_bytes, texts[3], sizeof(texts[3]));
    snprintf(evictions, sizeof(evictions), "%" PRIu64, outcome->evictions);
    snprintf(unmet, sizeof(unmet), "%" PRIu64, outcome->unmet_submissions);
    snprintf(time, sizeof(time), "%.0f ns", outcome->ns_per_use);
    printf("\n%s: %" PRIu64 " submissions, %" PRIu64 " uses, %" PRIu64 " residents\n",
           tool_printable(trace, name, sizeof(name)), outcome->submissions, outcome->uses,
           outcome->residents);
    printf(ROW_FORMAT, texts[0], texts[1], texts[2], texts[3], evictions, unmet, time);
    if (outcome->unmet_submissions != 0) {
        printf("  a submission lacked up to %s\n",
               tool_format_size(outcome->missing_bytes, texts[0], sizeof(texts[0])));
    }
    if (outcome->too_large != 0) {
        printf("  resources larger than the budget, not played: %" PRIu64 "\n", outcome->too_large);
    }
    if (outcome->stand_ins != 0) {
        printf("  buffers in the place of what this device cannot move: %" PRIu64 "\n",
               outcome->stand_ins);
    }
    fflush(stdout);
}

static bool play(struct tool_device* tool, const struct support_trace* trace,
                 const struct tool_budget* budget, bool json, bool* has_head)
{
    struct tool_residents_outcome outcome;
    tool_residents_run(tool, trace, budget, &outcome);
    tool_device_close_device(tool);
    const uint32_t errors = atomic_load(&tool->allocator_errors.count);
    const uint32_t messages = atomic_load(&tool->messages.count);
    bool printed = true;
    if (json) {
        printed = print_json(tool, trace->name, &outcome, errors, messages);
    } else {
        if (!*has_head) {
            print_head(tool);
        }
        *has_head = true;
        print_row(trace->name, &outcome);
    }
    return printed && !outcome.broken && errors == 0 && messages == 0;
}

/* Opens the device for residents. */
static int open_device(const struct tool_device_options* options, struct tool_device* tool)
{
    struct tool_device_options own = *options;
    own.residents = true;
    own.pages = false;
    const int code = tool_device_open_instance(tool, &own);
    return code == TOOL_EXIT_OK ? tool_device_open(tool, VK_NULL_HANDLE) : code;
}

/* Plays a budget and prints nothing of the result. */
static int try_budget(const struct tool_device_options* options, const struct support_trace* trace,
                      uint64_t bytes, struct tool_residents_outcome* outcome)
{
    const struct tool_budget budget = {.bytes = bytes, .percent = bytes == 0 ? 100 : 0};
    struct tool_device* const tool = calloc(1, sizeof(*tool));
    if (tool == NULL) {
        tool_complain("out of memory");
        return TOOL_EXIT_FAILED;
    }
    int code = open_device(options, tool);
    if (code == TOOL_EXIT_OK) {
        tool_residents_run(tool, trace, &budget, outcome);
        code = outcome->broken ? TOOL_EXIT_FAILED : TOOL_EXIT_OK;
        tool_device_close_device(tool);
    }
    tool_device_close(tool);
    free(tool);
    return code;
}

static bool is_enough(const struct tool_residents_outcome* outcome)
{
    return outcome->unmet_submissions == 0 && outcome->too_large == 0;
}

/* Finds the least budget, in steps of 1 MiB, that leaves nothing out. Returns an exit code. */
static int find_least(const struct tool_device_options* options, const struct support_trace* trace,
                      uint64_t* least)
{
    const uint64_t step = (uint64_t)1 << 20;
    const uint64_t limit = (uint64_t)1 << 44; /* no device has as much */
    struct tool_residents_outcome outcome = {0};
    int code = try_budget(options, trace, 0, &outcome);
    bool enough = code == TOOL_EXIT_OK && is_enough(&outcome);
    uint64_t much = (outcome.budget + step - 1) / step * step;
    uint64_t little = 0;
    while (code == TOOL_EXIT_OK && !enough && much < limit) {
        little = much;
        much *= 2;
        code = try_budget(options, trace, much, &outcome);
        enough = code == TOOL_EXIT_OK && is_enough(&outcome);
    }
    while (code == TOOL_EXIT_OK && enough && much - little > step) {
        const uint64_t middle = little + (much - little) / 2 / step * step;
        code = try_budget(options, trace, middle, &outcome);
        little = is_enough(&outcome) ? little : middle;
        much = is_enough(&outcome) ? middle : much;
    }
    if (code == TOOL_EXIT_OK && !enough) {
        tool_complain("%s: --budget least: submissions are left out with any budget", trace->name);
        code = TOOL_EXIT_FAILED;
    }
    *least = much;
    return code;
}

int tool_budget_replay(const struct tool_device_options* options, const struct support_trace* trace,
                       const struct tool_budget* budget, bool json, bool* has_head)
{
    struct tool_budget chosen = *budget;
    const uint32_t device = support_trace_main_device(trace);
    if (trace->use_count == 0) {
        tool_complain("%s: no uses of submissions, which --budget plays; maar capture --uses "
                      "records them",
                      trace->name);
        return TOOL_EXIT_USAGE;
    }
    if (device != SUPPORT_TRACE_NONE && trace->devices[device].has_uses &&
        (trace->devices[device].uses_flags & MAAR_CAPTURE_USES_INCOMPLETE_BIT) != 0) {
        tool_complain("%s: not all uses are known: the program uses objects without naming them",
                      trace->name);
    }
    struct tool_device* const tool = calloc(1, sizeof(*tool));
    if (tool == NULL) {
        tool_complain("out of memory");
        return TOOL_EXIT_FAILED;
    }
    int code = budget->is_least ? find_least(options, trace, &chosen.bytes) : TOOL_EXIT_OK;
    code = code == TOOL_EXIT_OK ? open_device(options, tool) : code;
    if (code == TOOL_EXIT_OK && !play(tool, trace, &chosen, json, has_head)) {
        code = TOOL_EXIT_FAILED;
    }
    tool_device_close(tool);
    free(tool);
    return code;
}
