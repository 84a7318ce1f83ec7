/*
 * Writes histories as a trace of Perfetto (ui.perfetto.dev): a process for each capture, counters
 * for each heap, slices for the lives of device memory and for frames, instants for marks and for
 * allocations that the driver refused. No globals; safe from any thread.
 */
#ifndef MAAR_SUPPORT_PERFETTO_FILE_H
#define MAAR_SUPPORT_PERFETTO_FILE_H

#include "history.h"
#include "protobuf.h"

/* A trace in the making. Zero is an empty one. */
struct support_perfetto {
    struct support_protobuf trace;
    uint32_t sequence; /* of the last capture */
    uint64_t packet_count;
};

/* Adds a capture. Returns false and an error without memory. */
bool support_perfetto_add(struct support_perfetto* perfetto, const struct support_history* history,
                          struct support_error* error);

/* Writes the trace to a file. */
bool support_perfetto_write(const struct support_perfetto* perfetto, const char* path,
                            struct support_error* error);

void support_perfetto_release(struct support_perfetto* perfetto);

#endif
