/*
 * Earlier results; see tool_baseline.h.
 */
#include "tool_baseline.h"

#include "support/readfile.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct tool_baseline {
    json_t* runs; /* an array of objects */
};

/* Returns whether an object has what a comparison needs. */
static bool is_run(const json_t* run)
{
    return json_is_string(json_object_get(run, "trace")) &&
           json_is_string(json_object_get(run, "device")) &&
           json_is_string(json_object_get(run, "strategy")) &&
           json_is_integer(json_object_get(run, "threads")) &&
           json_is_integer(json_object_get(run, "peak_reserved_bytes")) &&
           json_is_integer(json_object_get(run, "device_allocation_calls")) &&
           json_is_integer(json_object_get(run, "failures")) &&
           json_is_number(json_object_get(run, "ns_per_event"));
}

/* Adds the runs of a text, one on each line. */
static bool read_runs(const char* path, const char* text, json_t* runs)
{
    size_t number = 1;
    for (const char* line = text; *line != '\0'; ++number) {
        const size_t length = strcspn(line, "\n");
        if (strspn(line, " \t\r") < length) {
            json_error_t error;
            json_t* const run = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);
            if (run == NULL || !is_run(run)) {
                tool_complain("--baseline %s:%zu: not a line of maar replay --json%s%s", path,
                              number, run == NULL ? ": " : "", run == NULL ? error.text : "");
                json_decref(run);
                return false;
            }
            json_array_append_new(runs, run);
        }
        line += length + (line[length] == '\n' ? 1 : 0);
    }
    if (json_array_size(runs) == 0) {
        tool_complain("--baseline %s: has no result of maar replay --json", path);
    }
    return json_array_size(runs) != 0;
}

struct tool_baseline* tool_baseline_open(const char* path)
{
    struct support_error error = {{0}};
    char* text = NULL;
    size_t size = 0;
    struct tool_baseline* const baseline = calloc(1, sizeof(*baseline));
    if (baseline == NULL) {
        tool_complain("out of memory");
        return NULL;
    }
    baseline->runs = json_array();
    bool good = support_read_file(path, 0, &text, &size, &error);
    if (!good) {
        tool_complain("--baseline %s", error.text);
    }
    good = good && read_runs(path, text, baseline->runs);
    free(text);
    if (!good) {
        tool_baseline_close(baseline);
        return NULL;
    }
    return baseline;
}

void tool_baseline_close(struct tool_baseline* baseline)
{
    if (baseline != NULL) {
        json_decref(baseline->runs);
        free(baseline);
    }
}

static bool has_text(const json_t* run, const char* key, const char* text)
{
    return strcmp(json_string_value(json_object_get(run, key)), text) == 0;
}

static const char* trace_of(const json_t* run)
{
    return json_string_value(json_object_get(run, "trace"));
}

/* Returns the length of the number with a dot before it at the end of a name, or 0. */
static size_t number_at_end(const char* name, size_t length)
{
    size_t digits = 0;
    while (digits < length && name[length - 1 - digits] >= '0' &&
           name[length - 1 - digits] <= '9') {
        digits += 1;
    }
    return digits > 0 && digits + 1 < length && name[length - 1 - digits] == '.' ? digits + 1 : 0;
}

/* Returns whether two names are of captures of one program: PREFIX.PROGRAM.PROCESS, and with .N
 * behind it the Nth of the process. */
static bool is_of_program(const char* left, const char* right)
{
    const char* const names[] = {left, right};
    size_t stems[2];
    const char* ends[2];
    for (size_t i = 0; i < 2; ++i) {
        const size_t length = strlen(names[i]);
        const size_t last = number_at_end(names[i], length);
        const size_t other = last != 0 ? number_at_end(names[i], length - last) : 0;
        if (last == 0) {
            return false;
        }
        stems[i] = length - last - other;
        ends[i] = other != 0 ? names[i] + length - last : "";
    }
    return stems[0] == stems[1] && memcmp(left, right, stems[0]) == 0 &&
           strcmp(ends[0], ends[1]) == 0;
}

/* Returns the name in the baseline that a report is to be compared with: its own, or that of one
 * other capture of the program. Returns NULL, with a message, if there is none or several. */
static const char* find_trace(const struct tool_baseline* baseline,
                              const struct tool_report* report)
{
    const char* found = NULL;
    const char* other = NULL;
    const char* first = NULL;
    const char* second = NULL;
    bool has_more = false;
    for (size_t i = 0; i < json_array_size(baseline->runs); ++i) {
        const char* const name = trace_of(json_array_get(baseline->runs, i));
        if (strcmp(name, report->trace) == 0) {
            return name;
        }
        if (is_of_program(name, report->trace)) {
            other = found != NULL && strcmp(found, name) != 0 ? name : other;
            found = found != NULL ? found : name;
        }
        if (first == NULL || strcmp(first, name) == 0) {
            first = name;
        } else if (second == NULL || strcmp(second, name) == 0) {
            second = name;
        } else {
            has_more = true;
        }
    }
    if (other != NULL) {
        tool_complain("%s: the baseline has several captures of this program: %s and %s",
                      report->trace, found, other);
        return NULL;
    }
    if (found == NULL) {
        tool_complain("%s: the baseline has no run of this trace; it has %s%s%s%s", report->trace,
                      first, second != NULL ? " and " : "", second != NULL ? second : "",
                      has_more ? " and more" : "");
    }
    return found;
}

/* Returns the run of the same device, strategy and threads; NULL, with a message, if there is none.
 */
static const json_t* find_run(const struct tool_baseline* baseline,
                              const struct tool_report* report)
{
    const char* const trace = find_trace(baseline, report);
    const char* device = NULL; /* of a run of the trace on another one */
    for (size_t i = 0; i < json_array_size(baseline->runs) && trace != NULL; ++i) {
        const json_t* const run = json_array_get(baseline->runs, i);
        if (!has_text(run, "trace", trace)) {
            continue;
        }
        if (has_text(run, "device", report->device) &&
            has_text(run, "strategy", tool_strategy_names[report->strategy]) &&
            json_integer_value(json_object_get(run, "threads")) == (json_int_t)report->threads) {
            return run;
        }
        if (has_text(run, "device", report->device)) {
            device = report->device;
        } else if (device == NULL) {
            device = json_string_value(json_object_get(run, "device"));
        }
    }
    if (trace != NULL && strcmp(device, report->device) != 0) {
        tool_complain("%s, strategy %s: the baseline has this trace on %s, not on %s",
                      report->trace, tool_strategy_names[report->strategy], device, report->device);
    } else if (trace != NULL) {
        tool_complain("%s, strategy %s: the baseline has no run on %s with %" PRIu32 " thread%s",
                      report->trace, tool_strategy_names[report->strategy], report->device,
                      report->threads, report->threads == 1 ? "" : "s");
    }
    return NULL;
}

static uint64_t count_in(const json_t* run, const char* key)
{
    const json_int_t value = json_integer_value(json_object_get(run, key));
    return value > 0 ? (uint64_t)value : 0;
}

/* Returns whether a count is within the tolerance, and prints an error if not. */
static bool is_within(const struct tool_report* report, const char* key, uint64_t before,
                      uint64_t now, double tolerance)
{
    if ((double)now <= (double)before * (1.0 + tolerance / 100.0)) {
        return true;
    }
    tool_complain("%s, strategy %s: worse than the baseline: %s was %" PRIu64 " and is %" PRIu64,
                  report->trace, tool_strategy_names[report->strategy], key, before, now);
    return false;
}

bool tool_baseline_compare(const struct tool_baseline* baseline, double tolerance,
                           struct tool_report* report)
{
    const struct tool_outcome* const outcome = &report->outcome;
    struct tool_difference* const difference = &report->difference;
    const json_t* const run = find_run(baseline, report);
    *difference = (struct tool_difference){.found = run != NULL};
    if (run == NULL) {
        return false;
    }
    difference->trace = trace_of(run);
    difference->peak_reserved_bytes = count_in(run, "peak_reserved_bytes");
    difference->device_allocation_calls = count_in(run, "device_allocation_calls");
    difference->failures = count_in(run, "failures");
    difference->ns_per_event = json_number_value(json_object_get(run, "ns_per_event"));
    const bool bytes = is_within(report, "peak_reserved_bytes", difference->peak_reserved_bytes,
                                 outcome->peak_reserved_bytes, tolerance);
    const bool calls =
        is_within(report, "device_allocation_calls", difference->device_allocation_calls,
                  outcome->device_allocation_calls, tolerance);
    const bool failures =
        is_within(report, "failures", difference->failures, outcome->failures, tolerance);
    difference->worse = !bytes || !calls || !failures;
    return !difference->worse;
}
