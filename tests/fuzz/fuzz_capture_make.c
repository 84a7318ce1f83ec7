/*
 * Captures made from the fuzzer's bytes. The bytes of an entry are its kind, how much later it is,
 * its thread, and a byte for each 32 bits of its structure: small numbers, so that entries refer to
 * one another's objects; from 0xF0 on, the bits themselves follow.
 */
#include "tests/fuzz/fuzz_capture_make.h"

#include <maar/capture_file.h>

enum {
    MAKE_MOST_ENTRIES = 512,
    MAKE_MOST_RECORDS = 8, /* of an entry */
    MAKE_MOST_TEXT = 96,
    MAKE_PAYLOAD = 384,
};

static const uint16_t make_sizes[] = {
    [MAAR_CAPTURE_KIND_INSTANCE] = sizeof(MaarCaptureInstance),
    [MAAR_CAPTURE_KIND_DEVICE] = sizeof(MaarCaptureDevice),
    [MAAR_CAPTURE_KIND_HEAP] = sizeof(MaarCaptureHeap),
    [MAAR_CAPTURE_KIND_TYPE] = sizeof(MaarCaptureType),
    [MAAR_CAPTURE_KIND_QUEUE] = sizeof(MaarCaptureQueue),
    [MAAR_CAPTURE_KIND_DEVICE_END] = sizeof(MaarCaptureEnd),
    [MAAR_CAPTURE_KIND_MEMORY] = sizeof(MaarCaptureMemory),
    [MAAR_CAPTURE_KIND_MEMORY_FAILED] = sizeof(MaarCaptureMemory),
    [MAAR_CAPTURE_KIND_MEMORY_END] = sizeof(MaarCaptureEnd),
    [MAAR_CAPTURE_KIND_MAP] = sizeof(MaarCaptureMap),
    [MAAR_CAPTURE_KIND_UNMAP] = sizeof(MaarCaptureEnd),
    [MAAR_CAPTURE_KIND_PRIORITY] = sizeof(MaarCapturePriority),
    [MAAR_CAPTURE_KIND_BUFFER] = sizeof(MaarCaptureBuffer),
    [MAAR_CAPTURE_KIND_BUFFER_END] = sizeof(MaarCaptureEnd),
    [MAAR_CAPTURE_KIND_IMAGE] = sizeof(MaarCaptureImage),
    [MAAR_CAPTURE_KIND_IMAGE_END] = sizeof(MaarCaptureEnd),
    [MAAR_CAPTURE_KIND_BIND] = sizeof(MaarCaptureBind),
    [MAAR_CAPTURE_KIND_RANGE] = sizeof(MaarCaptureRange),
    [MAAR_CAPTURE_KIND_RANGE_END] = sizeof(MaarCaptureEnd),
    [MAAR_CAPTURE_KIND_SPARSE_BIND] = sizeof(MaarCaptureSparseBind),
    [MAAR_CAPTURE_KIND_STRUCTURE] = sizeof(MaarCaptureStructure),
    [MAAR_CAPTURE_KIND_STRUCTURE_END] = sizeof(MaarCaptureEnd),
    [MAAR_CAPTURE_KIND_SWAPCHAIN] = sizeof(MaarCaptureSwapchain),
    [MAAR_CAPTURE_KIND_SWAPCHAIN_IMAGE] = sizeof(MaarCaptureSwapchainImage),
    [MAAR_CAPTURE_KIND_SWAPCHAIN_END] = sizeof(MaarCaptureEnd),
    [MAAR_CAPTURE_KIND_OTHER] = sizeof(MaarCaptureOther),
    [MAAR_CAPTURE_KIND_OTHER_END] = sizeof(MaarCaptureEnd),
    [MAAR_CAPTURE_KIND_FRAME] = sizeof(MaarCaptureFrame),
    [MAAR_CAPTURE_KIND_SUBMIT] = sizeof(MaarCaptureSubmit),
    [MAAR_CAPTURE_KIND_SUBMIT_WAIT] = sizeof(MaarCapturePoint),
    [MAAR_CAPTURE_KIND_SUBMIT_SIGNAL] = sizeof(MaarCapturePoint),
    [MAAR_CAPTURE_KIND_SEMAPHORE] = sizeof(MaarCaptureSemaphore),
    [MAAR_CAPTURE_KIND_SEMAPHORE_END] = sizeof(MaarCaptureEnd),
    [MAAR_CAPTURE_KIND_REACHED] = sizeof(MaarCaptureReached),
    [MAAR_CAPTURE_KIND_USE] = sizeof(MaarCaptureUse),
    [MAAR_CAPTURE_KIND_BUDGET] = sizeof(MaarCaptureBudget),
    [MAAR_CAPTURE_KIND_NAME] = sizeof(MaarCaptureName),
    [MAAR_CAPTURE_KIND_MODULE] = sizeof(MaarCaptureModule),
    [MAAR_CAPTURE_KIND_MARK] = sizeof(MaarCaptureMark),
    [MAAR_CAPTURE_KIND_REPORT] = sizeof(MaarCaptureReport),
    [MAAR_CAPTURE_KIND_END] = 0,
};

enum { KIND_COUNT = sizeof make_sizes / sizeof make_sizes[0] };

static bool has_texts(uint32_t kind)
{
    return kind == MAAR_CAPTURE_KIND_INSTANCE || kind == MAAR_CAPTURE_KIND_DEVICE ||
           kind == MAAR_CAPTURE_KIND_NAME || kind == MAAR_CAPTURE_KIND_MODULE ||
           kind == MAAR_CAPTURE_KIND_MARK;
}

static uint32_t make_word(struct fuzz_input* input)
{
    const uint8_t first = fuzz_byte(input);
    uint32_t word = first;
    for (int i = 0; first >= 0xF0 && i < 4; ++i) {
        word = word << 8 | fuzz_byte(input);
    }
    return word;
}

/* Writes an entry of a payload into records; returns the bytes of the records. */
static size_t write_entry(uint8_t* out, MaarCaptureRecord record, const uint8_t* payload,
                          size_t size)
{
    size_t at = size < MAAR_CAPTURE_FIRST_PAYLOAD ? size : MAAR_CAPTURE_FIRST_PAYLOAD;
    size_t used = sizeof record;
    uint16_t index = 0;
    memcpy(record.payload, payload, at);
    while (at < size) {
        MaarCaptureContinuation next = {.kind = MAAR_CAPTURE_KIND_CONTINUATION,
                                        .thread = record.thread};
        const size_t left = size - at;
        const size_t part = left < MAAR_CAPTURE_NEXT_PAYLOAD ? left : MAAR_CAPTURE_NEXT_PAYLOAD;
        index = (uint16_t)(index + 1);
        next.index = index;
        memcpy(next.payload, payload + at, part);
        memcpy(out + used, &next, sizeof next);
        used += sizeof next;
        at += part;
    }
    record.continuations = index;
    memcpy(out, &record, sizeof record);
    return used;
}

/* Draws an entry. */
static size_t make_entry(struct fuzz_input* input, uint64_t* time_ns, uint8_t* out)
{
    uint8_t payload[MAKE_PAYLOAD] = {0};
    const uint32_t kind = (uint32_t)fuzz_below(input, KIND_COUNT + 1);
    const uint8_t moment = fuzz_byte(input); /* thread and time */
    size_t size = kind < KIND_COUNT ? make_sizes[kind] : 8;
    for (size_t at = 0; at + 4 <= size; at += 4) {
        const uint32_t word = make_word(input);
        memcpy(payload + at, &word, sizeof word);
    }
    for (int i = 0; has_texts(kind) && i < 3; ++i) {
        char text[MAKE_MOST_TEXT / 3];
        const size_t length = strlen(fuzz_text(input, text, sizeof text)) + 1;
        memcpy(payload + size, text, length);
        size += length;
    }
    *time_ns += moment >> 2;
    const MaarCaptureRecord record = {
        .kind = (uint16_t)kind, .thread = moment & 3u, .time_ns = *time_ns};
    return write_entry(out, record, payload, size);
}

/* A capture of at most so many bytes of records, with its header. */
static uint8_t* make_file(struct fuzz_input* input, size_t room)
{
    uint8_t* const data = calloc(1, MAAR_CAPTURE_HEADER_SIZE + room);
    fuzz_require(data != NULL);
    MaarCaptureHeader header = {.magic = MAAR_CAPTURE_MAGIC,
                                .headerSize = MAAR_CAPTURE_HEADER_SIZE,
                                .recordSize = MAAR_CAPTURE_RECORD_SIZE,
                                .start_ns = 100,
                                .pointerSize = 8,
                                .program = "fuzz"};
    const uint8_t facts = fuzz_byte(input);
    header.origin = 1 + (facts & 1u);
    header.state = facts >> 1 & 3u;
    memcpy(data, &header, sizeof header);
    return data;
}

uint8_t* fuzz_make_entries(struct fuzz_input* input, size_t* size)
{
    const size_t most = (size_t)MAKE_MOST_ENTRIES * MAKE_MOST_RECORDS * MAAR_CAPTURE_RECORD_SIZE;
    uint8_t* const data = make_file(input, most);
    size_t at = MAAR_CAPTURE_HEADER_SIZE;
    uint64_t time_ns = 90;
    for (int i = 0; i < MAKE_MOST_ENTRIES && !fuzz_is_dry(input); ++i) {
        at += make_entry(input, &time_ns, data + at);
    }
    uint8_t* const exact = realloc(data, at);
    fuzz_require(exact != NULL);
    *size = at;
    return exact;
}

uint8_t* fuzz_make_records(struct fuzz_input* input, size_t* size)
{
    uint8_t* const data = make_file(input, input->left);
    memcpy(data + MAAR_CAPTURE_HEADER_SIZE, input->at, input->left);
    *size = MAAR_CAPTURE_HEADER_SIZE + input->left;
    input->left = 0;
    return data;
}
