/*
 * make_capture FILE EVENTS [hostile] [slow] [swapchain] [empty] [doubling]: writes a capture of
 * about that many events, as a program like a game would cause: textures and buffers that come and
 * go, render targets that stay, frames, budgets and names. With "hostile", names are what an HTML
 * page must not run. With "slow", there are a hundred frames a second, and the program never ends
 * the capture. With "swapchain", it has one of 24 MiB. With "empty", it has no device if EVENTS is
 * 0, and else a device without memory. With "doubling", the program has blocks of 16, 32 and 64
 * MiB, and buffers of 72 MiB in them.
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "core/capture/capture_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAKER_MIB ((uint64_t)1 << 20)
enum { MAKER_SLOTS = 4096, MAKER_BLOCKS = 64, SLOT_SIZE = 1 << 18 };

struct maker {
    struct maar_capture_writer writer;
    uint64_t random;
    uint64_t events;
    bool hostile, slow, has_swapchain, is_empty, doubles;
    bool alive[MAKER_SLOTS];
};

static uint64_t next_random(struct maker* maker)
{
    maker->random = maker->random * 6364136223846793005u + 1442695040888963407u;
    return maker->random >> 33;
}

static void put(struct maker* maker, MaarCaptureKind kind, const void* facts, size_t size)
{
    maar_capture_write(&maker->writer, kind, facts, size);
    maker->events += 1;
}

static void put_device(struct maker* maker)
{
    static const uint32_t heap_flags[] = {1, 0};
    static const uint32_t type_flags[] = {1, 6, 14};
    const char* const names[] = {"A made-up card", "make_capture", "no driver"};
    const MaarCaptureDevice device = {
        .device = 1, .deviceType = 2, .heapCount = 2, .typeCount = 3, .apiVersion = 1u << 22};
    maar_capture_write_texts(&maker->writer, MAAR_CAPTURE_KIND_DEVICE, &device, sizeof device,
                             names, 3);
    for (uint32_t i = 0; i < 2; ++i) {
        const MaarCaptureHeap heap = {
            .device = 1, .heap = i, .size = 4096 * MAKER_MIB * (i + 1), .flags = heap_flags[i]};
        put(maker, MAAR_CAPTURE_KIND_HEAP, &heap, sizeof heap);
    }
    for (uint32_t i = 0; i < 3; ++i) {
        const MaarCaptureType type = {
            .device = 1, .type = i, .heap = i == 0 ? 0 : 1, .flags = type_flags[i]};
        put(maker, MAAR_CAPTURE_KIND_TYPE, &type, sizeof type);
    }
    for (uint64_t i = 0; i < MAKER_BLOCKS && !maker->is_empty && !maker->doubles; ++i) {
        const MaarCaptureMemory memory = {.device = 1,
                                          .type = i % 8 == 7 ? 1 : 0,
                                          .memory = 0x1000 + i,
                                          .size = MAKER_SLOTS / MAKER_BLOCKS * (uint64_t)SLOT_SIZE,
                                          .duration_ns = 5000};
        put(maker, MAAR_CAPTURE_KIND_MEMORY, &memory, sizeof memory);
    }
}

static const char* make_name(struct maker* maker, uint64_t slot, char text[128])
{
    static const char* const hostile[] = {
        "<img src=x onerror=\"window.broken=1\">",
        "</script><script>window.broken=1</script>",
        "\"'><svg onload=window.broken=1>",
        "${window.broken=1}`;window.broken=1//",
        "\xff\xfe not text \x80",
        "@DATA@ @META@ @JS@",
        "javascript:window.broken=1",
        "<!--<script>",
    };
    if (maker->hostile) {
        return hostile[slot % 8];
    }
    (void)snprintf(text, 128, "rock_%" PRIu64 ".ktx2", slot);
    return text;
}

static void begin_resource(struct maker* maker, uint64_t slot)
{
    const uint64_t handle = 0x100000 + slot;
    const uint64_t size = 4096 * (1 + next_random(maker) % (SLOT_SIZE / 4096));
    const bool is_image = slot % 3 != 0;
    if (is_image) {
        const MaarCaptureImage image = {.device = 1,
                                        .image = handle,
                                        .format = slot % 5 == 0 ? 145 : 37,
                                        .usage = slot % 31 == 0 ? 0x14 : 0x6,
                                        .width = 64u << slot % 5,
                                        .height = 64u << slot % 5,
                                        .depth = 1,
                                        .mipLevels = 1,
                                        .samples = 1,
                                        .arrayLayers = 1,
                                        .imageType = 1,
                                        .needsSize = size,
                                        .needsAlignment = 4096,
                                        .typeBits = 1,
                                        .needsFlags = 1};
        put(maker, MAAR_CAPTURE_KIND_IMAGE, &image, sizeof image);
    } else {
        const MaarCaptureBuffer buffer = {.device = 1,
                                          .buffer = handle,
                                          .size = size,
                                          .usage = slot % 2 == 0 ? 0x80 : 0x20,
                                          .needsSize = size,
                                          .needsAlignment = 256,
                                          .typeBits = 7,
                                          .needsFlags = 1};
        put(maker, MAAR_CAPTURE_KIND_BUFFER, &buffer, sizeof buffer);
    }
    const uint32_t kind = is_image ? MAAR_CAPTURE_OBJECT_IMAGE : MAAR_CAPTURE_OBJECT_BUFFER;
    const MaarCaptureBind bind = {
        .device = 1,
        .objectKind = kind,
        .object = handle,
        .memory = 0x1000 + slot % MAKER_BLOCKS,
        .offset = slot / MAKER_BLOCKS * (uint64_t)SLOT_SIZE,
    };
    put(maker, MAAR_CAPTURE_KIND_BIND, &bind, sizeof bind);
    if (slot % 4 == 1) {
        char text[128];
        const char* const name = make_name(maker, slot / 4, text);
        const MaarCaptureName facts = {.device = 1, .objectKind = kind, .object = handle};
        maar_capture_write_texts(&maker->writer, MAAR_CAPTURE_KIND_NAME, &facts, sizeof facts,
                                 &name, 1);
        maker->events += 1;
    }
}

static void end_resource(struct maker* maker, uint64_t slot)
{
    const MaarCaptureEnd end = {.device = 1, .handle = 0x100000 + slot};
    put(maker, slot % 3 != 0 ? MAAR_CAPTURE_KIND_IMAGE_END : MAAR_CAPTURE_KIND_BUFFER_END, &end,
        sizeof end);
}

static void put_frame(struct maker* maker, uint64_t frame)
{
    const MaarCaptureFrame facts = {.device = 1, .frame = frame};
    put(maker, MAAR_CAPTURE_KIND_FRAME, &facts, sizeof facts);
    if (frame % 16 == 0) {
        const MaarCaptureBudget budget = {.device = 1,
                                          .heapCount = 2,
                                          .budget = {1200 * MAKER_MIB, 6000 * MAKER_MIB},
                                          .usage = {900 * MAKER_MIB, 300 * MAKER_MIB}};
        put(maker, MAAR_CAPTURE_KIND_BUDGET, &budget, sizeof budget);
    }
}

/* Waits for the next frame. */
static void pause_frame(const struct maker* maker)
{
    const struct timespec frame = {.tv_nsec = 10000000};
    if (maker->slow) {
        (void)nanosleep(&frame, NULL);
    }
}

/* Blocks of twice the size each, the last of which is needed for two buffers. */
static void put_doubling(struct maker* maker)
{
    uint64_t handle = 0x100000;
    for (uint64_t i = 0; i < 3; ++i) {
        const uint64_t size = 16 * MAKER_MIB << i;
        const MaarCaptureMemory memory = {
            .device = 1, .type = 0, .memory = 0x1000 + i, .size = size, .duration_ns = 5000};
        put(maker, MAAR_CAPTURE_KIND_MEMORY, &memory, sizeof memory);
        for (uint64_t at = 0; at < (i < 2 ? size : 24 * MAKER_MIB); at += 4 * MAKER_MIB) {
            const MaarCaptureBuffer buffer = {.device = 1,
                                              .buffer = ++handle,
                                              .size = 4 * MAKER_MIB,
                                              .usage = 0x20,
                                              .needsSize = 4 * MAKER_MIB,
                                              .needsAlignment = 256,
                                              .typeBits = 1,
                                              .needsFlags = 1};
            const MaarCaptureBind bind = {.device = 1,
                                          .objectKind = MAAR_CAPTURE_OBJECT_BUFFER,
                                          .object = handle,
                                          .memory = 0x1000 + i,
                                          .offset = at};
            put(maker, MAAR_CAPTURE_KIND_BUFFER, &buffer, sizeof buffer);
            put(maker, MAAR_CAPTURE_KIND_BIND, &bind, sizeof bind);
        }
    }
}

static void play(struct maker* maker, uint64_t events)
{
    uint64_t frame = 0;
    if (maker->is_empty && events == 0) {
        return;
    }
    put_device(maker);
    if (maker->doubles) {
        put_doubling(maker);
    }
    if (maker->is_empty || maker->doubles) {
        return;
    }
    if (maker->has_swapchain) {
        const MaarCaptureSwapchain swapchain = {
            .device = 1, .swapchain = 0x5000, .imageCount = 3, .estimatedSize = 24 * MAKER_MIB};
        put(maker, MAAR_CAPTURE_KIND_SWAPCHAIN, &swapchain, sizeof swapchain);
    }
    while (maker->events < events) {
        /* The part of the slots that is in use swells and shrinks. */
        const uint64_t phase = maker->events * 8 / events;
        const uint64_t wanted = MAKER_SLOTS / 4 * (1 + (phase & 3));
        for (int i = 0; i < 32; ++i) {
            const uint64_t slot = next_random(maker) % MAKER_SLOTS;
            if (maker->alive[slot]) {
                end_resource(maker, slot);
            }
            maker->alive[slot] = slot < wanted;
            if (maker->alive[slot]) {
                begin_resource(maker, slot);
            }
        }
        put_frame(maker, frame++);
        pause_frame(maker);
    }
    while (maker->slow) {
        put_frame(maker, frame++);
        pause_frame(maker);
    }
}

int main(int argc, char** argv)
{
    char reason[MAAR_FILE_REASON_SIZE] = "";
    if (argc < 3) {
        fprintf(
            stderr,
            "usage: make_capture FILE EVENTS [hostile] [slow] [swapchain] [empty] [doubling]\n");
        return 2;
    }
    struct maker* const maker = calloc(1, sizeof *maker);
    if (maker == NULL) {
        return 1;
    }
    maker->random = 1;
    for (int i = 3; i < argc; ++i) {
        maker->hostile = maker->hostile || strcmp(argv[i], "hostile") == 0;
        maker->has_swapchain = maker->has_swapchain || strcmp(argv[i], "swapchain") == 0;
        maker->doubles = maker->doubles || strcmp(argv[i], "doubling") == 0;
        maker->is_empty = maker->is_empty || strcmp(argv[i], "empty") == 0;
        maker->slow = maker->slow || strcmp(argv[i], "slow") == 0;
    }
    const struct maar_capture_opening opening = {
        .path = argv[1],
        .origin = MAAR_CAPTURE_ORIGIN_LAYER,
        .program = maker->hostile ? "</title><script>window.broken=1</script>" : "a made-up game",
    };
    (void)remove(argv[1]);
    if (!maar_capture_open(&maker->writer, &opening, reason)) {
        fprintf(stderr, "make_capture: %s: %s\n", argv[1], reason);
        free(maker);
        return 1;
    }
    play(maker, strtoull(argv[2], NULL, 10));
    printf("%" PRIu64 " events\n", maker->events);
    maar_capture_close(&maker->writer);
    free(maker);
    return 0;
}
