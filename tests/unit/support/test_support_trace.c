/*
 * The reader of maar-trace/1: what it understands, what it refuses and how it says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>
#include <cmocka.h>

#include "support/gzip.h"
#include "support/trace.h"

#define HEADER "op,id,kind,size,alignment,types,stream,time_ns,usage,note\n"

static bool parse(const char* text, struct support_trace* trace, struct support_error* error)
{
    return support_trace_parse("unit.csv", text, strlen(text), trace, error);
}

/* The text is refused with exactly this message. */
static void refused(const char* text, const char* message)
{
    struct support_trace trace;
    struct support_error error = {"no message"};
    assert_false(parse(text, &trace, &error));
    assert_string_equal(error.text, message);
    assert_null(trace.events);
    assert_int_equal(trace.event_count, 0);
}

static void trace_is_read_whole(void** state)
{
    (void)state;
    struct support_trace trace;
    struct support_error error = {""};
    const char* text =
        HEADER "alloc,7,image_optimal,512000,64,0x1,2,100,0x20,format=124 extent=500x400x1 mips=3 "
               "layers=6 samples=4\n"
               "alloc,18446744073709551615,buffer,1000,256,,0,150,,\r\n"
               "frame,,,,,,0,160,,\n"
               "free,7,,,,,1,200,,\n"
               "alloc,3,image_linear,300,1,0xff,0,250,0x4,";
    assert_true(support_trace_parse("a/b/unit.csv.gz", text, strlen(text), &trace, &error));
    assert_string_equal(trace.name, "unit");
    assert_int_equal(trace.event_count, 5);
    assert_int_equal(trace.resource_count, 3);
    assert_int_equal(trace.image_count, 1);
    assert_int_equal(trace.frame_count, 1);
    assert_int_equal(trace.stream_count, 3);
    assert_int_equal(trace.peak_live_bytes, 513000);
    assert_int_equal(trace.peak_live_count, 2);
    assert_int_equal(trace.peak_event, 1);
    const struct support_trace_resource* first = &trace.resources[0];
    assert_int_equal(first->id, 7);
    assert_int_equal(first->kind, SUPPORT_TRACE_IMAGE_OPTIMAL);
    assert_int_equal(first->usage, 0x20);
    assert_int_equal(first->type_bits, 1);
    assert_int_equal(first->alloc_event, 0);
    assert_int_equal(first->free_event, 3);
    assert_int_equal(first->free_time_ns, 200);
    const struct support_trace_image* image = &trace.images[first->image];
    assert_int_equal(image->format, 124);
    assert_int_equal(image->width, 500);
    assert_int_equal(image->height, 400);
    assert_int_equal(image->depth, 1);
    assert_int_equal(image->mips, 3);
    assert_int_equal(image->layers, 6);
    assert_int_equal(image->samples, 4);
    assert_true(trace.resources[1].id == UINT64_MAX);
    assert_int_equal(trace.resources[1].type_bits, UINT32_MAX);
    assert_int_equal(trace.resources[1].free_event, UINT32_MAX);
    assert_int_equal(trace.resources[1].image, UINT32_MAX);
    assert_int_equal(trace.resources[2].kind, SUPPORT_TRACE_IMAGE_LINEAR);
    assert_int_equal(trace.resources[2].image, UINT32_MAX);
    assert_int_equal(trace.events[2].op, SUPPORT_TRACE_FRAME);
    assert_int_equal(trace.events[2].resource, UINT32_MAX);
    assert_int_equal(trace.events[3].op, SUPPORT_TRACE_FREE);
    assert_int_equal(trace.events[3].resource, 0);
    assert_int_equal(trace.events[3].stream, 1);
    support_trace_release(&trace);
    assert_null(trace.events);
}

static void header_alone_is_an_empty_trace(void** state)
{
    (void)state;
    struct support_trace trace;
    struct support_error error = {""};
    assert_true(parse(HEADER, &trace, &error));
    assert_int_equal(trace.event_count, 0);
    assert_int_equal(trace.peak_live_bytes, 0);
    support_trace_release(&trace);
}

static void malformed_lines_are_named(void** state)
{
    (void)state;
    refused("", "unit.csv:1: the file is empty");
    refused("op,id\n", "unit.csv:1: the header is not "
                       "'op,id,kind,size,alignment,types,stream,time_ns,usage,note'");
    refused(HEADER "alloc,1,buffer\n", "unit.csv:2: 3 columns, not 10");
    refused(HEADER "\n", "unit.csv:2: 1 columns, not 10");
    refused(HEADER "alloc,1,buffer,1,1,,0,0,,,\n", "unit.csv:2: 11 columns, not 10");
    refused(HEADER "grow,1,buffer,1,1,,0,0,,\n",
            "unit.csv:2: op 'grow' is not alloc, free or frame");
    refused(HEADER "alloc,1,texture,1,1,,0,0,,\n",
            "unit.csv:2: kind 'texture' is not buffer, image_linear or image_optimal");
    refused(HEADER "alloc,-1,buffer,1,1,,0,0,,\n",
            "unit.csv:2: id '-1' is not an unsigned number of 64 bits");
    refused(HEADER "alloc,1,buffer,0,1,,0,0,,\n", "unit.csv:2: size '0' is zero");
    refused(HEADER "alloc,1,buffer,18446744073709551616,1,,0,0,,\n",
            "unit.csv:2: size '18446744073709551616' is not an unsigned number of 64 bits");
    refused(HEADER "alloc,1,buffer,999999999999999999,1,,0,0,,\n",
            "unit.csv:2: size '999999999999999999' is too large");
    refused(HEADER "alloc,1,buffer,8,24,,0,0,,\n",
            "unit.csv:2: alignment '24' is not a power of two");
    refused(HEADER "alloc,1,buffer,8,8,7,0,0,,\n",
            "unit.csv:2: types '7' is not a hexadecimal number of 32 bits");
    refused(HEADER "alloc,1,buffer,8,8,0x100000000,0,0,,\n",
            "unit.csv:2: types '0x100000000' is not a hexadecimal number of 32 bits");
    refused(HEADER "alloc,1,buffer,8,8,,70000,0,,\n", "unit.csv:2: stream '70000' is too large");
    refused(HEADER "alloc,1,buffer,8,8,,0,x,,\n",
            "unit.csv:2: time_ns 'x' is not an unsigned number of 64 bits");
    refused(HEADER "alloc,1,image_optimal,8,8,,0,0,0x4,format=37\n",
            "unit.csv:2: note 'format=37' is not format=N extent=WxHxD mips=N layers=N samples=N");
}

static void ids_are_followed(void** state)
{
    (void)state;
    refused(HEADER "free,1,,,,,0,0,,\n", "unit.csv:2: id '1' was never allocated");
    refused(HEADER "alloc,1,buffer,8,8,,0,0,,\nfree,2,,,,,0,0,,\n",
            "unit.csv:3: id '2' was never allocated");
    refused(HEADER "alloc,1,buffer,8,8,,0,0,,\nfree,1,,,,,0,0,,\nfree,1,,,,,0,0,,\n",
            "unit.csv:4: id '1' was freed before");
    refused(HEADER "alloc,1,buffer,8,8,,0,0,,\nfree,1,,,,,0,0,,\nalloc,1,buffer,8,8,,0,0,,\n",
            "unit.csv:4: id '1' was used before");
}

static void note_needs_each_key_once(void** state)
{
    (void)state;
    static const char* const bad[] = {
        "",
        "format=1 extent=2x3x4 mips=1 layers=1",
        "format=1 extent=2x3 mips=1 layers=1 samples=1",
        "format=1 extent=2x3x4x5 mips=1 layers=1 samples=1",
        "format=1 extent=2x3x4 mips=1 mips=1 layers=1 samples=1",
        "format=1 extent=2x3x4 mips=0 layers=1 samples=1",
        "format=1 extent=2x3x4 mips=1x2 layers=1 samples=1",
        "format= extent=2x3x4 mips=1 layers=1 samples=1",
        "format=4294967296 extent=2x3x4 mips=1 layers=1 samples=1",
        "format=1  extent=2x3x4 mips=1 layers=1 samples=1",
        "format=1 extent=2x3x4 mips=1 layers=1 samples=1 colour=2",
    };
    struct support_trace_image image;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(support_trace_parse_note(bad[i], strlen(bad[i]), &image));
    }
    const char* const good = "samples=2 layers=3 mips=4 extent=5x6x7 format=8";
    assert_true(support_trace_parse_note(good, strlen(good), &image));
    assert_int_equal(image.samples, 2);
    assert_int_equal(image.layers, 3);
    assert_int_equal(image.mips, 4);
    assert_int_equal(image.width, 5);
    assert_int_equal(image.height, 6);
    assert_int_equal(image.depth, 7);
    assert_int_equal(image.format, 8);
}

/* A gzip member of the text; the caller frees it. */
static unsigned char* compress_text(const char* text, size_t* size)
{
    z_stream stream;
    memset(&stream, 0, sizeof(stream));
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    const uLong bound = deflateBound(&stream, (uLong)strlen(text));
    unsigned char* out = malloc(bound);
    assert_non_null(out);
    /* zlib's interface lacks a const here; deflate does not write to its input. */
    stream.next_in = (unsigned char*)(uintptr_t)text;
    stream.avail_in = (uInt)strlen(text);
    stream.next_out = out;
    stream.avail_out = (uInt)bound;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    *size = stream.total_out;
    deflateEnd(&stream);
    return out;
}

static void gzip_is_read_and_every_cut_is_refused(void** state)
{
    (void)state;
    size_t size = 0;
    unsigned char* data =
        compress_text(HEADER "alloc,1,buffer,8,8,,0,0,,\nfree,1,,,,,0,0,,\n", &size);
    struct support_trace trace;
    struct support_error error = {""};
    assert_true(support_trace_parse("unit.csv.gz", data, size, &trace, &error));
    assert_int_equal(trace.event_count, 2);
    support_trace_release(&trace);
    for (size_t cut = 2; cut < size; cut++) {
        assert_false(support_trace_parse("unit.csv.gz", data, cut, &trace, &error));
        assert_string_equal(error.text, "unit.csv.gz: the gzip stream is truncated");
    }
    free(data);
}

static void gzip_of_two_members_is_one_text(void** state)
{
    (void)state;
    size_t size[2] = {0, 0};
    unsigned char* parts[2] = {compress_text("Maar ", &size[0]), compress_text("lake", &size[1])};
    unsigned char* both = malloc(size[0] + size[1] + 1);
    assert_non_null(both);
    memcpy(both, parts[0], size[0]);
    memcpy(both + size[0], parts[1], size[1]);
    char* out = NULL;
    size_t out_size = 0;
    struct support_error error = {""};
    assert_true(support_gunzip("unit", both, size[0] + size[1], 0, &out, &out_size, &error));
    assert_int_equal(out_size, 9);
    assert_string_equal(out, "Maar lake");
    free(out);
    assert_false(support_gunzip("unit", both, size[0] + size[1], 8, &out, &out_size, &error));
    assert_null(out);
    both[size[0] + size[1]] = 'x';
    assert_false(support_gunzip("unit", both, size[0] + size[1] + 1, 0, &out, &out_size, &error));
    both[20] ^= 0xFF;
    assert_false(support_gunzip("unit", both, size[0] + size[1], 0, &out, &out_size, &error));
    free(both);
    free(parts[0]);
    free(parts[1]);
}

static void missing_file_is_named(void** state)
{
    (void)state;
    struct support_trace trace;
    struct support_error error = {""};
    assert_false(support_trace_load("no/such/trace.csv", &trace, &error));
    assert_memory_equal(error.text, "no/such/trace.csv: ", 19);
}

/* The captured traces of the project, against the table that came with them. */
static void captured_traces_have_their_figures(void** state)
{
    (void)state;
    static const struct {
        const char* name;
        size_t events;
        uint64_t peak;
    } rows[] = {
        {"captured-supertuxkart", 2251, 70144424},
        {"captured-chromium", 1656, 10323988},
        {"captured-ggml-vulkan-softmax", 445, 23200540},
        {"captured-mpv-hq", 76, 57878528},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char path[512];
        struct support_trace trace;
        struct support_error error = {""};
        snprintf(path, sizeof(path), "%s/data/traces/%s.csv", MAAR_SOURCE_DIR, rows[i].name);
        if (!support_trace_load(path, &trace, &error)) {
            fail_msg("%s", error.text);
        }
        assert_string_equal(trace.name, rows[i].name);
        assert_int_equal(trace.event_count, rows[i].events);
        assert_int_equal(trace.peak_live_bytes, rows[i].peak);
        support_trace_release(&trace);
    }
}

/* Damages a good trace byte by byte: whatever happens, it is an answer and not a crash. */
static void damaged_text_never_crashes(void** state)
{
    (void)state;
    char text[] = HEADER "alloc,1,image_optimal,8,8,0x1,0,0,0x4,format=1 extent=2x3x4 mips=1 "
                         "layers=1 samples=1\nframe,,,,,,0,5,,\nfree,1,,,,,0,9,,\n";
    static const char damage[] = {',', '\n', '9', 0, 'x'};
    struct support_trace trace;
    struct support_error error;
    size_t good = 0;
    for (size_t at = 0; at < sizeof(text) - 1; at++) {
        const char kept = text[at];
        for (size_t i = 0; i < sizeof(damage); i++) {
            text[at] = damage[i];
            good += support_trace_parse("unit.csv", text, sizeof(text) - 1, &trace, &error);
            support_trace_release(&trace);
        }
        text[at] = kept;
    }
    assert_in_range(good, 1, (sizeof(text) - 1) * sizeof(damage) / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trace_is_read_whole),
        cmocka_unit_test(header_alone_is_an_empty_trace),
        cmocka_unit_test(malformed_lines_are_named),
        cmocka_unit_test(ids_are_followed),
        cmocka_unit_test(note_needs_each_key_once),
        cmocka_unit_test(gzip_is_read_and_every_cut_is_refused),
        cmocka_unit_test(gzip_of_two_members_is_one_text),
        cmocka_unit_test(missing_file_is_named),
        cmocka_unit_test(damaged_text_never_crashes),
        cmocka_unit_test(captured_traces_have_their_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
