/*
 * Writes reports; see report_file.h. The page has places for the data, marked by @NAME@, each once.
 */
#include "support/report_file.h"
#include "support/format_name.h"
#include "support/json_text.h"
#include "support/memory_file.h"
#include "support/report_columns.h"
#include "support/report_page.h"

#include <stdlib.h>
#include <string.h>

static json_t* device_value(const struct support_history* history, uint32_t index)
{
    const struct support_history_device* const device = &history->devices.items[index];
    json_t* const heaps = json_array();
    json_t* const types = json_array();
    for (uint32_t i = 0; i < device->facts.heapCount; ++i) {
        uint32_t event = 0;
        uint64_t bytes = 0;
        support_history_peak(history, index, i, &event, &bytes);
        (void)json_array_append_new(
            heaps, json_pack("{s:f, s:i, s:f}", "size", (double)device->heaps[i].size, "flags",
                             (int)device->heaps[i].flags, "peak", (double)bytes));
    }
    for (uint32_t i = 0; i < device->facts.typeCount; ++i) {
        (void)json_array_append_new(types,
                                    json_pack("{s:i, s:i}", "heap", (int)device->types[i].heap,
                                              "flags", (int)(device->types[i].flags & 0xFFFF)));
    }
    return json_pack("{s:o, s:o, s:i, s:i, s:i, s:o, s:o}", "name",
                     support_json_text(support_history_text(history, device->name)), "driver",
                     support_json_text(support_history_text(history, device->driver_name)), "type",
                     (int)device->facts.deviceType, "frames", (int)device->frame_count, "submits",
                     (int)device->submit_count, "heaps", heaps, "types", types);
}

static json_t* formats_value(const struct support_history* history)
{
    json_t* const formats = json_object();
    for (size_t i = 0; i < history->images.count; ++i) {
        const char* const name = support_format_name(history->images.items[i].format);
        char number[16];
        (void)snprintf(number, sizeof number, "%u", history->images.items[i].format);
        if (name != NULL && json_object_get(formats, number) == NULL) {
            (void)json_object_set_new(formats, number, json_string(name));
        }
    }
    return formats;
}

static json_t* modules_value(const struct support_history* history)
{
    json_t* const modules = json_array();
    for (size_t i = 0; i < history->modules.count; ++i) {
        const struct support_history_module* const module = &history->modules.items[i];
        const char* const path = support_history_text(history, module->name);
        const char* const slash = strrchr(path, '/');
        (void)json_array_append_new(modules,
                                    json_pack("{s:f, s:f, s:o}", "begin", (double)module->begin,
                                              "end", (double)module->end, "name",
                                              support_json_text(slash != NULL ? slash + 1 : path)));
    }
    return modules;
}

static json_t* peers_value(const struct support_report_info* info)
{
    json_t* const peers = json_array();
    for (size_t i = 0; i < info->peer_count; ++i) {
        const struct support_report_peer* const peer = &info->peers[i];
        (void)json_array_append_new(
            peers, json_pack("{s:s, s:i, s:i, s:f, s:f}", "name", peer->name, "device",
                             (int)peer->device, "heap", (int)peer->heap, "peak",
                             (double)peer->peak_bytes, "calls", (double)peer->calls));
    }
    return peers;
}

/* The object that describes the columns. */
static json_t* meta_value(const struct support_report_info* info, json_t* columns, uint64_t tick_ns)
{
    const struct support_history* const history = info->history;
    json_t* const devices = json_array();
    for (uint32_t i = 0; i < history->devices.count; ++i) {
        (void)json_array_append_new(devices, device_value(history, i));
    }
    char* const findings = support_findings_json(history, info->findings, NULL, 0);
    json_t* found = findings != NULL ? json_loads(findings, 0, NULL) : NULL;
    free(findings);
    const char* const title = info->title != NULL ? info->title : history->header.program;
    json_t* const meta = json_pack(
        "{s:s, s:o, s:o, s:f, s:f, s:f, s:f, s:i, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:O, s:f}",
        "schema", "maar-report/1", "title",
        support_json_text(title[0] != 0 ? title : history->name), "capture",
        support_json_text(history->name), "tick_ns", (double)tick_ns, "length_ns",
        (double)history->last_ns, "from_ns", (double)info->from_ns, "to_ns",
        info->to_ns == UINT64_MAX ? (double)history->last_ns : (double)info->to_ns, "state",
        (int)history->header.state, "started_ms", (double)history->header.startSinceEpoch_ns * 1e-6,
        "process", (double)history->header.process, "devices", devices, "formats",
        formats_value(history), "modules", modules_value(history), "peers", peers_value(info),
        "findings", found != NULL ? json_incref(json_object_get(found, "findings")) : json_array(),
        "columns", columns, "events", (double)history->events.count);
    json_decref(found);
    return meta;
}

/* Writes JSON so that no text ends the element around it. */
static void write_json(const char* json, FILE* file)
{
    for (; *json != 0; ++json) {
        if (*json == '<') {
            (void)fputs("\\u003c", file);
        } else {
            (void)fputc(*json, file);
        }
    }
}

/* Writes the page, and the data at their places. */
static void write_page(const char* meta, const char* data, size_t data_size, FILE* file)
{
    static const char meta_mark[] = "@META@";
    static const char data_mark[] = "@DATA@";
    const char* const page = (const char*)support_report_page;
    const char* const first = strstr(page, meta_mark);
    const char* const second = strstr(page, data_mark);
    (void)fwrite(page, 1, (size_t)(first - page), file);
    write_json(meta, file);
    const char* const middle = first + sizeof meta_mark - 1;
    (void)fwrite(middle, 1, (size_t)(second - middle), file);
    (void)fwrite(data, 1, data_size, file);
    (void)fputs(second + sizeof data_mark - 1, file);
}

static bool write_file(const char* meta, const char* data, size_t data_size, const char* path,
                       struct support_error* error)
{
    struct support_memory_file out;
    if (!support_memory_file_open(&out)) {
        support_error_set(error, path, 0, "out of memory");
        return false;
    }
    write_page(meta, data, data_size, out.file);
    const bool whole = support_memory_file_close(&out);
    const bool good = whole && support_write_file(path, out.text, out.size, error);
    if (!whole) {
        support_error_set(error, path, 0, "out of memory");
    }
    free(out.text);
    return good;
}

bool support_report_write(const struct support_report_info* info, const char* path,
                          struct support_error* error)
{
    /* A tick is the least time for which all times of the capture fit 32 bits. */
    const uint64_t tick_ns = 1 + info->history->last_ns / (UINT32_MAX - 1);
    struct report_columns columns = {.list = json_array()};
    report_add_history(&columns, info, tick_ns);
    json_t* const meta = meta_value(info, columns.list, tick_ns);
    char* const text = meta != NULL ? json_dumps(meta, JSON_COMPACT) : NULL;
    size_t data_size = 0;
    char* const data = columns.no_memory ? NULL : report_pack(&columns, &data_size);
    bool good = text != NULL && data != NULL;
    if (good) {
        good = write_file(text, data, data_size, path, error);
    } else {
        support_error_set(error, path, 0, "out of memory");
    }
    free(data);
    free(text);
    json_decref(meta);
    json_decref(columns.list);
    free(columns.bytes);
    return good;
}
