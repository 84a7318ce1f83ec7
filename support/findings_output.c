/*
 * Findings as text and as JSON.
 */
#include "support/findings.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "support/findings_internal.h"
#include "support/json_text.h"

static void object_label(const struct support_history* history,
                         const struct support_finding* finding, uint32_t index, char label[192])
{
    if (!finding->objects_are_memories) {
        support_history_label(history, index, label, 192);
        return;
    }
    const struct support_history_memory* const memory = &history->memories.items[index];
    char caller[96];
    support_history_caller(history, memory->caller, caller, sizeof caller);
    if (memory->name != 0) {
        (void)snprintf(label, 192, "%s", support_history_text(history, memory->name));
    } else {
        (void)snprintf(label, 192, "memory %" PRIu32 " of type %" PRIu32 "%s%s", index,
                       memory->type, caller[0] != 0 ? " by " : "", caller);
    }
}

/* What a mended program would hold less, in words. */
static void write_saving(const struct support_finding* finding, char text[96])
{
    char least[32];
    char most[32];
    findings_bytes(finding->least, least);
    findings_bytes(finding->most, most);
    if (finding->most == 0 && finding->calls > 0) {
        (void)snprintf(text, 96, "%" PRIu64 " calls, %.3f ms", finding->calls,
                       (double)finding->time_ns * 1e-6);
    } else if (finding->most == 0) {
        (void)snprintf(text, 96, "time, no bytes");
    } else if (finding->verdict == SUPPORT_VERDICT_PROVED) {
        (void)snprintf(text, 96, "%s", most);
    } else {
        (void)snprintf(text, 96, "%s to %s", least, most);
    }
}

/* Writes a text of the program without control characters, which a terminal would obey. */
static void write_name(const char* name, FILE* file)
{
    for (const unsigned char* at = (const unsigned char*)name; *at != 0; ++at) {
        (void)fputc(*at < 32 || *at == 127 ? '?' : *at, file);
    }
}

void support_findings_write(const struct support_history* history,
                            const struct support_findings* findings, size_t names, FILE* file)
{
    for (size_t i = 0; i < findings->count; ++i) {
        const struct support_finding* const finding = &findings->items[i];
        const struct support_finding_text* const text = support_finding_text(finding->kind);
        char saving[96];
        write_saving(finding, saving);
        (void)fprintf(file, "%s%s: %s\n", i > 0 ? "\n" : "", support_verdict_word(finding->verdict),
                      text->title);
        (void)fprintf(file, "  [%s] %s\n", text->word, saving);
        if (history->devices.count > 1) {
            (void)fprintf(file, "  on device %" PRIu32 ", ",
                          history->devices.items[finding->device].facts.device);
            write_name(support_history_text(history, history->devices.items[finding->device].name),
                       file);
            (void)fputc('\n', file);
        }
        (void)fprintf(file, "  %s.\n", finding->arithmetic);
        for (size_t k = 0; k < finding->object_count && k < names; ++k) {
            char label[192];
            char bytes[32];
            char part[32];
            object_label(history, finding, finding->objects[k], label);
            findings_bytes(findings_object_size(history, finding, finding->objects[k]), bytes);
            if (finding->wasted != NULL) {
                findings_bytes(finding->wasted[k], part);
                (void)fprintf(file, "    %10s of %s  ", part, bytes);
            } else {
                (void)fprintf(file, "    %10s  ", bytes);
            }
            write_name(label, file);
            (void)fputc('\n', file);
        }
        if (finding->object_count > names && names > 0) {
            (void)fprintf(file, "    and %zu more\n", finding->object_count - names);
        }
        (void)fprintf(file, "  Remedy: %s\n", text->remedy);
    }
}

static json_t* objects_value(const struct support_history* history,
                             const struct support_finding* finding)
{
    enum { MOST_OBJECTS = 1000 };
    json_t* const list = json_array();
    for (size_t i = 0; i < finding->object_count && i < MOST_OBJECTS; ++i) {
        char label[192];
        object_label(history, finding, finding->objects[i], label);
        json_t* const value =
            json_pack("{s:o, s:I}", "name", support_json_text(label), "bytes",
                      (json_int_t)findings_object_size(history, finding, finding->objects[i]));
        if (value != NULL && finding->wasted != NULL) {
            (void)json_object_set_new(value, "wastedBytes",
                                      json_integer((json_int_t)finding->wasted[i]));
        }
        (void)json_array_append_new(list, value);
    }
    return list;
}

static json_t* finding_value(const struct support_history* history,
                             const struct support_finding* finding)
{
    const struct support_finding_text* const text = support_finding_text(finding->kind);
    json_t* const value = json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:s, s:s, s:I, s:o}", "finding", text->word,
        "verdict", support_verdict_word(finding->verdict), "title", text->title, "device",
        (json_int_t)history->devices.items[finding->device].facts.device, "leastBytes",
        (json_int_t)finding->least, "mostBytes", (json_int_t)finding->most, "calls",
        (json_int_t)finding->calls, "driverTime_ns", (json_int_t)finding->time_ns, "arithmetic",
        finding->arithmetic, "remedy", text->remedy, "objectCount",
        (json_int_t)finding->object_count, "objects", objects_value(history, finding));
    if (value != NULL && finding->heap != NONE) {
        (void)json_object_set_new(value, "heap", json_integer((json_int_t)finding->heap));
    }
    return value;
}

/* What was bound in the second before a peak. */
static json_t* recent_value(const struct support_history* history,
                            const struct support_heap_peak* peak)
{
    json_t* const list = json_array();
    for (size_t i = 0; i < support_peak_recent_count(peak); ++i) {
        char label[192];
        support_history_label(history, peak->recent[i], label, sizeof label);
        (void)json_array_append_new(
            list, json_pack("{s:o, s:I}", "name", support_json_text(label), "bytes",
                            (json_int_t)history->resources.items[peak->recent[i]].size));
    }
    return json_pack("{s:I, s:I, s:o}", "bytes", (json_int_t)peak->recent_bytes, "resourceCount",
                     (json_int_t)peak->recent_count, "largest", list);
}

static json_t* peaks_value(const struct support_history* history,
                           const struct support_heap_peak* peaks, size_t count)
{
    json_t* const list = json_array();
    for (size_t i = 0; i < count; ++i) {
        const struct support_heap_peak* const peak = &peaks[i];
        json_t* const value = json_pack(
            "{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "device",
            (json_int_t)history->devices.items[peak->device].facts.device, "heap",
            (json_int_t)peak->heap, "time_ns", (json_int_t)peak->time_ns, "heldBytes",
            (json_int_t)peak->held, "boundBytes", (json_int_t)peak->bound, "idleBytes",
            (json_int_t)(peak->held - peak->bound), "neverBoundBytes", (json_int_t)peak->never);
        if (value != NULL && peak->maar != SUPPORT_PEAK_UNKNOWN) {
            (void)json_object_set_new(value, "maarBytes", json_integer((json_int_t)peak->maar));
        }
        json_t* const sizes = json_array();
        for (size_t k = 0; k < peak->size_count; ++k) {
            (void)json_array_append_new(
                sizes, json_pack("{s:I, s:I}", "blockBytes", (json_int_t)peak->sizes[k].block_size,
                                 "maarBytes", (json_int_t)peak->sizes[k].maar));
        }
        (void)json_object_set_new(value, "blockSizes", sizes);
        (void)json_object_set_new(value, "madeBefore", recent_value(history, peak));
        (void)json_array_append_new(list, value);
    }
    return list;
}

char* support_findings_json(const struct support_history* history,
                            const struct support_findings* findings,
                            const struct support_heap_peak* peaks, size_t peak_count)
{
    json_t* const list = json_array();
    const char* const cut = support_history_cut(history);
    json_t* const root = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "schema", "maar-findings/1",
                                   "capture", support_json_text(history->name), "cut",
                                   cut != NULL ? json_string(cut) : json_null(), "peaks",
                                   peaks_value(history, peaks, peak_count), "totals",
                                   findings_totals(history), "findings", list);
    for (size_t i = 0; i < findings->count && root != NULL; ++i) {
        (void)json_array_append_new(list, finding_value(history, &findings->items[i]));
    }
    char* const text = root != NULL ? json_dumps(root, JSON_INDENT(2)) : NULL;
    json_decref(root);
    return text;
}
