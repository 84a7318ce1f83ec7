/*
 * Captures for tests, written entry by entry with the writer of the library. Handles are numbers of
 * the test's choice.
 */
#ifndef MAAR_TESTS_RIG_CAPTURE_BENCH_H
#define MAAR_TESTS_RIG_CAPTURE_BENCH_H

#include "core/capture/capture_writer.h"
#include "tests/rig/rig.h"

struct capture_bench {
    char path[64];
    struct maar_capture_writer* writer;
};

/* Setup and teardown of a case: a capture of the layer, in a file of its own. */
int capture_bench_begin(void** state);
int capture_bench_end(void** state);
/* Completes the file, which stays until the teardown. */
void capture_bench_close(struct capture_bench* bench);
void capture_put(struct capture_bench* bench, MaarCaptureKind kind, const void* facts, size_t size);

/* A discrete card: heaps of 1 and 2 GiB, type 0 in heap 1, type 1 in heap 0. */
void capture_put_device(struct capture_bench* bench);
void capture_put_memory(struct capture_bench* bench, uint64_t handle, uint64_t size, uint32_t type);
void capture_put_buffer(struct capture_bench* bench, uint64_t handle, uint64_t size);
void capture_put_bind(struct capture_bench* bench, uint32_t kind, uint64_t object, uint64_t memory,
                      uint64_t offset);
void capture_put_end(struct capture_bench* bench, MaarCaptureKind kind, uint64_t handle);
void capture_put_name(struct capture_bench* bench, uint32_t kind, uint64_t object,
                      const char* name);

#endif
