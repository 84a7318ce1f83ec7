/*
 * Builds histories from captures; see history.h. history_entries.c knows what each entry means.
 */
#include "support/history.h"
#include "support/format_name.h"
#include "support/history_internal.h"
#include "support/trace.h"

#include <inttypes.h>
#include <string.h>

enum { HISTORY_FIRST_ITEMS = 64 };

bool history_grow(void* items, size_t* count, size_t* capacity, size_t size)
{
    void* old;
    memcpy(&old, items, sizeof old);
    if (*count == *capacity) {
        const size_t larger = *capacity == 0 ? HISTORY_FIRST_ITEMS : *capacity * 2;
        void* const grown = larger < UINT32_MAX ? realloc(old, larger * size) : NULL;
        if (grown == NULL) {
            return false;
        }
        memcpy(items, &grown, sizeof grown);
        old = grown;
        *capacity = larger;
    }
    memset((char*)old + *count * size, 0, size);
    *count += 1;
    return true;
}

uint32_t history_add_text(struct support_history* history, const char* text)
{
    const size_t size = strlen(text) + 1;
    const size_t used = history->texts.count;
    if (size == 1 || used + size >= UINT32_MAX) {
        return 0;
    }
    if (used + size > history->texts.capacity) {
        size_t larger = history->texts.capacity * 2;
        larger = larger < used + size ? used + size : larger;
        char* const grown = realloc(history->texts.items, larger);
        if (grown == NULL) {
            return 0;
        }
        history->texts.items = grown;
        history->texts.capacity = larger;
    }
    memcpy(history->texts.items + used, text, size);
    history->texts.count += size;
    return (uint32_t)used;
}

const char* support_history_text(const struct support_history* history, uint32_t text)
{
    return text < history->texts.count ? history->texts.items + text : "";
}

bool support_history_begin(struct support_history* history, const char* name,
                           struct support_error* error)
{
    memset(history, 0, sizeof *history);
    (void)snprintf(history->name, sizeof history->name, "%s", name);
    history->live = history_map_create();
    history->texts.items = calloc(1, HISTORY_FIRST_ITEMS);
    history->texts.capacity = HISTORY_FIRST_ITEMS;
    history->texts.count = 1;
    if (history->live == NULL || history->texts.items == NULL) {
        support_error_set(error, name, 0, "out of memory");
        return false;
    }
    return true;
}

bool support_history_add(struct support_history* history, struct support_capture_reader* reader,
                         struct support_error* error)
{
    history->header = *support_capture_header(reader);
    for (;;) {
        struct support_capture_entry entry;
        const enum support_capture_step step = support_capture_next(reader, &entry, error);
        history->unfinished = support_capture_unfinished(reader);
        if (step != SUPPORT_CAPTURE_ENTRY) {
            history->is_truncated = support_capture_is_truncated(reader);
            return step == SUPPORT_CAPTURE_END;
        }
        const char* const fault = history_take_entry(history, &entry);
        if (fault != NULL) {
            support_error_set(error, history->name, 0, "byte %" PRIu64 ": %s", entry.byte, fault);
            return false;
        }
    }
}

/* Writes the capture's name: the file's without folder, .gz and .maarcap. */
static void take_name(const char* path, char name[256])
{
    static const char extension[] = ".maarcap";
    support_trace_take_name(path, name);
    const size_t size = strlen(name);
    const size_t cut = sizeof extension - 1;
    if (size > cut && strcmp(name + size - cut, extension) == 0) {
        name[size - cut] = 0;
    }
}

bool support_history_load(const char* path, struct support_history* history,
                          struct support_error* error)
{
    char name[256];
    take_name(path, name);
    memset(history, 0, sizeof *history);
    struct support_capture_reader* const reader = support_capture_open(path, false, error);
    bool good = reader != NULL && support_history_begin(history, name, error) &&
                support_history_add(history, reader, error);
    support_capture_close(reader);
    if (!good) {
        support_history_release(history);
    }
    return good;
}

const char* support_history_cut(const struct support_history* history)
{
    if (history->is_truncated) {
        return "the file is truncated: its end is missing";
    }
    switch (history->header.state) {
    case MAAR_CAPTURE_STATE_COMPLETE:
        return NULL;
    case MAAR_CAPTURE_STATE_DISK_FULL:
        return "ends early: the disk was full";
    case MAAR_CAPTURE_STATE_LIMIT:
        return "ends early: the limit was reached";
    default:
        return "the process was killed or still runs";
    }
}

void support_history_release(struct support_history* history)
{
    free(history->devices.items);
    free(history->memories.items);
    free(history->resources.items);
    free(history->images.items);
    free(history->binds.items);
    free(history->sparse_binds.items);
    free(history->structures.items);
    free(history->queues.items);
    free(history->submits.items);
    free(history->points.items);
    free(history->semaphores.items);
    free(history->reached.items);
    free(history->uses.items);
    free(history->budgets.items);
    free(history->modules.items);
    free(history->failures.items);
    free(history->marks.items);
    free(history->events.items);
    free(history->texts.items);
    history_map_destroy(history->live);
    memset(history, 0, sizeof *history);
}

uint32_t support_history_heap(const struct support_history* history, uint32_t memory)
{
    const struct support_history_memory* const found = &history->memories.items[memory];
    return history->devices.items[found->device].types[found->type].heap;
}

void support_history_caller(const struct support_history* history, uint64_t caller, char* text,
                            size_t size)
{
    text[0] = 0;
    for (size_t i = 0; caller != 0 && i < history->modules.count; ++i) {
        const struct support_history_module* const module = &history->modules.items[i];
        if (caller >= module->begin && caller < module->end) {
            const char* const path = support_history_text(history, module->name);
            const char* const slash = strrchr(path, '/');
            (void)snprintf(text, size, "%s+0x%" PRIx64, slash != NULL ? slash + 1 : path,
                           caller - module->begin);
        }
    }
}

/* Writes bytes with a unit, for labels. */
static void write_bytes(uint64_t bytes, char* text, size_t size)
{
    static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && unit < 5) {
        value /= 1024;
        unit += 1;
    }
    (void)snprintf(text, size, value < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

void support_history_label(const struct support_history* history, uint32_t resource, char* label,
                           size_t size)
{
    static const char* const words[] = {"buffer", "image", "allocation", "swapchain", "object"};
    const struct support_history_resource* const found = &history->resources.items[resource];
    if (found->name != 0) {
        (void)snprintf(label, size, "%s", support_history_text(history, found->name));
        return;
    }
    char caller[96];
    support_history_caller(history, found->caller, caller, sizeof caller);
    const char* const by = caller[0] != 0 ? " by " : "";
    if (found->image != SUPPORT_HISTORY_NONE) {
        const MaarCaptureImage* const image = &history->images.items[found->image];
        const uint32_t depth =
            image->depth > image->arrayLayers ? image->depth : image->arrayLayers;
        const char* const format = support_format_name(image->format);
        char number[32];
        (void)snprintf(number, sizeof number, "format %u", image->format);
        (void)snprintf(label, size, "%s %ux%ux%u %s%s%s", words[found->kind], image->width,
                       image->height, depth, format != NULL ? format : number, by, caller);
        return;
    }
    char bytes[32];
    write_bytes(found->asked, bytes, sizeof bytes);
    (void)snprintf(label, size, "%s of %s%s%s", words[found->kind], bytes, by, caller);
}
