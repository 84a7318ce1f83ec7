/*
 * The reader of traces of both versions. The first byte says what the rest is: a file as it is,
 * plain or gzip; or text, which must read the same when it is compressed; or text whose gzip stream
 * is damaged.
 */
#include "support/gzip.h"
#include "support/trace.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_trace_require.h"

#include <zlib.h>

enum { TRACE_MODES = 4 };

static void require_same(const struct support_trace* one, const struct support_trace* other)
{
    fuzz_require(one->event_count == other->event_count);
    fuzz_require(one->resource_count == other->resource_count);
    fuzz_require(one->image_count == other->image_count);
    fuzz_require(one->step_count == other->step_count);
    fuzz_require(one->text_size == other->text_size);
    fuzz_require(one->peak_live_bytes == other->peak_live_bytes);
    for (size_t i = 0; i < one->resource_count; ++i) {
        fuzz_require(one->resources[i].id == other->resources[i].id);
        fuzz_require(one->resources[i].size == other->resources[i].size);
    }
}

static bool read_trace(const void* data, size_t size, struct support_trace* trace)
{
    struct support_error error = {.text = ""};
    const bool good = support_trace_parse("folder/fuzz.csv.gz", data, size, trace, &error);
    if (good) {
        fuzz_require(strcmp(trace->name, "fuzz") == 0);
        fuzz_require_trace(trace);
    } else {
        fuzz_require(strncmp(error.text, "folder/fuzz.csv.gz:", 19) == 0);
        fuzz_require(trace->events == NULL && trace->resources == NULL && trace->images == NULL);
        fuzz_require(trace->steps == NULL && trace->texts == NULL);
        fuzz_require(trace->event_count == 0 && trace->name[0] == '\0');
    }
    return good;
}

/* One gzip member. The caller frees it. */
static uint8_t* compress_text(const uint8_t* text, size_t size, size_t* packed_size)
{
    z_stream stream;
    memset(&stream, 0, sizeof(stream));
    fuzz_require(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    const size_t room = deflateBound(&stream, (uLong)size);
    uint8_t* packed = malloc(room);
    fuzz_require(packed != NULL);
    stream.next_in = (unsigned char*)(uintptr_t)text;
    stream.avail_in = (uInt)size;
    stream.next_out = packed;
    stream.avail_out = (uInt)room;
    fuzz_require(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    *packed_size = room - stream.avail_out;
    fuzz_require(deflateEnd(&stream) == Z_OK);
    return packed;
}

/* Text, and the same text in two gzip members. */
static void try_compressed(const uint8_t* text, size_t size)
{
    struct support_trace plain;
    struct support_trace packed;
    size_t sizes[2];
    const size_t half = size / 2;
    uint8_t* first = compress_text(text, half, &sizes[0]);
    uint8_t* second = compress_text(text + half, size - half, &sizes[1]);
    uint8_t* both = malloc(sizes[0] + sizes[1]);
    fuzz_require(both != NULL);
    memcpy(both, first, sizes[0]);
    memcpy(both + sizes[0], second, sizes[1]);
    if (!support_is_gzip(text, size)) {
        const bool good = read_trace(text, size, &plain);
        fuzz_require(read_trace(both, sizes[0] + sizes[1], &packed) == good);
        require_same(&plain, &packed);
        support_trace_release(&plain);
        support_trace_release(&packed);
    }
    free(both);
    free(second);
    free(first);
}

/* A gzip stream with one byte changed and an end cut off: an error, or a trace all the same. */
static void try_damaged(struct fuzz_input* input)
{
    struct support_trace trace;
    size_t packed_size = 0;
    const uint64_t where = fuzz_below(input, 65536);
    const uint8_t change = fuzz_byte(input);
    const uint64_t cut = fuzz_byte(input);
    const size_t most = (size_t)fuzz_scaled(input, 22) + 1;
    uint8_t* packed = compress_text(input->at, input->left, &packed_size);
    packed[where % packed_size] ^= change;
    const size_t kept = packed_size - (size_t)(cut % packed_size);
    uint8_t* exact = malloc(kept);
    fuzz_require(exact != NULL);
    memcpy(exact, packed, kept);
    (void)read_trace(exact, kept, &trace);
    support_trace_release(&trace);
    char* expanded = NULL;
    size_t expanded_size = 0;
    if (support_gunzip("fuzz", exact, kept, most, &expanded, &expanded_size, NULL)) {
        fuzz_require(expanded_size <= most && expanded[expanded_size] == '\0');
    } else {
        fuzz_require(expanded == NULL && expanded_size == 0);
    }
    free(expanded);
    free(exact);
    free(packed);
}

static void try_note(const uint8_t* text, size_t size)
{
    struct support_trace_image image;
    if (support_trace_parse_note((const char*)text, size, &image)) {
        fuzz_require(image.format != 0 && image.width != 0 && image.height != 0);
        fuzz_require(image.depth != 0 && image.mips != 0 && image.layers != 0);
        fuzz_require(image.samples != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    struct fuzz_input input = {data, size};
    struct support_trace trace;
    switch (fuzz_byte(&input) % TRACE_MODES) {
    case 0:
        (void)read_trace(input.at, input.left, &trace);
        support_trace_release(&trace);
        break;
    case 1:
        try_compressed(input.at, input.left);
        break;
    case 2:
        try_damaged(&input);
        break;
    default:
        try_note(input.at, input.left);
        break;
    }
    return 0;
}
