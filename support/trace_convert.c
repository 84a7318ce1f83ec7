/*
 * Conversions between captures, traces and cards; see trace_writer.h.
 */
#include "support/trace_writer.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

void support_history_card(const struct support_history* history, uint32_t device,
                          struct support_card* card)
{
    const struct support_history_device* const from = &history->devices.items[device];
    *card = (struct support_card){
        .device_type = from->facts.deviceType <= 4 ? from->facts.deviceType : 0,
        .vendor = from->facts.vendorID,
        .id = from->facts.deviceID,
        .driver = from->facts.driverVersion,
        .api = from->facts.apiVersion,
        .heap_count = from->facts.heapCount,
        .type_count = from->facts.typeCount,
        .granularity = from->facts.bufferImageGranularity,
        .most_memories = from->facts.maxMemoryAllocationCount,
        .atom = from->facts.nonCoherentAtomSize,
        .largest = from->facts.maxMemoryAllocationSize,
    };
    for (uint32_t i = 0; i < card->heap_count; ++i) {
        card->heaps[i].size = from->heaps[i].size;
        card->heaps[i].flags = from->heaps[i].flags;
    }
    for (uint32_t i = 0; i < card->type_count; ++i) {
        card->types[i].heap = from->types[i].heap;
        card->types[i].flags = from->types[i].flags;
    }
}

bool support_trace_save(const char* path, const char* text, size_t size,
                        struct support_error* error)
{
    const size_t length = strlen(path);
    const bool packed = length > 3 && strcmp(path + length - 3, ".gz") == 0;
    gzFile const file = gzopen(path, packed ? "wb9" : "wbT");
    if (file == NULL) {
        support_error_set(error, path, 0, "cannot be written");
        return false;
    }
    bool good = true;
    for (size_t at = 0; at < size && good;) {
        const size_t part = size - at < (size_t)1 << 20 ? size - at : (size_t)1 << 20;
        good = gzwrite(file, text + at, (unsigned)part) == (int)part;
        at += part;
    }
    good = gzclose(file) == Z_OK && good;
    if (!good) {
        support_error_set(error, path, 0, "cannot be written");
    }
    return good;
}

bool support_trace_convert(const struct support_history* history, struct support_trace* trace,
                           struct support_error* error)
{
    char* text = NULL;
    size_t size = 0;
    memset(trace, 0, sizeof *trace);
    const bool good = support_trace_write(history, &text, &size, error) &&
                      support_trace_parse(history->name, text, size, trace, error);
    free(text);
    return good;
}
