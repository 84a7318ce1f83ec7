/*
 * Captures for tests; see capture_bench.h.
 */
#include "tests/rig/capture_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int capture_bench_begin(void** state)
{
    struct capture_bench* bench = calloc(1, sizeof *bench);
    char reason[MAAR_FILE_REASON_SIZE] = "";
    assert_non_null(bench);
    (void)snprintf(bench->path, sizeof bench->path, "/tmp/maar-capture-%d-%p", (int)getpid(),
                   (void*)bench);
    bench->writer = calloc(1, sizeof *bench->writer);
    const struct maar_capture_opening opening = {
        .path = bench->path,
        .origin = MAAR_CAPTURE_ORIGIN_LAYER,
        .program = "a program",
        .arguments = "a program\0--fast\0",
        .argument_size = 17,
    };
    assert_true(maar_capture_open(bench->writer, &opening, reason));
    *state = bench;
    return 0;
}

int capture_bench_end(void** state)
{
    struct capture_bench* bench = *state;
    if (bench->writer != NULL) {
        maar_capture_close(bench->writer);
        free(bench->writer);
    }
    (void)unlink(bench->path);
    free(bench);
    return 0;
}

void capture_bench_close(struct capture_bench* bench)
{
    maar_capture_close(bench->writer);
    free(bench->writer);
    bench->writer = NULL;
}

void capture_put(struct capture_bench* bench, MaarCaptureKind kind, const void* facts, size_t size)
{
    maar_capture_write(bench->writer, kind, facts, size);
}

/* A device of two heaps and two types. */
void capture_put_device(struct capture_bench* bench)
{
    const char* const names[] = {"A card", "A driver", ""};
    const MaarCaptureDevice device = {
        .device = 1, .deviceType = 2, .heapCount = 2, .typeCount = 2}; /* a discrete card */
    maar_capture_write_texts(bench->writer, MAAR_CAPTURE_KIND_DEVICE, &device, sizeof device, names,
                             3);
    for (uint32_t i = 0; i < 2; ++i) {
        const MaarCaptureHeap heap = {
            .device = 1, .heap = i, .size = (i + 1) * 1024 * MIB, .flags = i == 0 ? 1 : 0};
        const MaarCaptureType type = {.device = 1, .type = i, .heap = 1 - i, .flags = 2u >> i};
        capture_put(bench, MAAR_CAPTURE_KIND_HEAP, &heap, sizeof heap);
        capture_put(bench, MAAR_CAPTURE_KIND_TYPE, &type, sizeof type);
    }
}

void capture_put_memory(struct capture_bench* bench, uint64_t handle, uint64_t size, uint32_t type)
{
    const MaarCaptureMemory memory = {
        .device = 1, .type = type, .memory = handle, .size = size, .duration_ns = 7};
    capture_put(bench, MAAR_CAPTURE_KIND_MEMORY, &memory, sizeof memory);
}

void capture_put_buffer(struct capture_bench* bench, uint64_t handle, uint64_t size)
{
    const MaarCaptureBuffer buffer = {
        .device = 1,
        .buffer = handle,
        .size = size - 1,
        .needsSize = size,
        .needsAlignment = 256,
        .typeBits = 3,
        .needsFlags = MAAR_CAPTURE_NEEDS_KNOWN_BIT,
    };
    capture_put(bench, MAAR_CAPTURE_KIND_BUFFER, &buffer, sizeof buffer);
}

void capture_put_bind(struct capture_bench* bench, uint32_t kind, uint64_t object, uint64_t memory,
                      uint64_t offset)
{
    const MaarCaptureBind bind = {
        .device = 1, .objectKind = kind, .object = object, .memory = memory, .offset = offset};
    capture_put(bench, MAAR_CAPTURE_KIND_BIND, &bind, sizeof bind);
}

void capture_put_end(struct capture_bench* bench, MaarCaptureKind kind, uint64_t handle)
{
    const MaarCaptureEnd end = {.device = 1, .handle = handle};
    capture_put(bench, kind, &end, sizeof end);
}

void capture_put_name(struct capture_bench* bench, uint32_t kind, uint64_t object, const char* name)
{
    const MaarCaptureName facts = {.device = 1, .objectKind = kind, .object = object};
    maar_capture_write_texts(bench->writer, MAAR_CAPTURE_KIND_NAME, &facts, sizeof facts, &name, 1);
}
