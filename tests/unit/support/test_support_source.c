/*
 * Files read block by block: plain and gzip, whole, cut and damaged, within their limits and above.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

enum { TEXT = 200000 };

static char text[TEXT];
static unsigned char packed[TEXT];
static char path[] = "/tmp/maar_source_XXXXXX";

static const struct support_source_limits no_limits;

static size_t pack(const void* data, size_t size, unsigned char* out, size_t room)
{
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (unsigned char*)(uintptr_t)data;
    stream.avail_in = (uInt)size;
    stream.next_out = out;
    stream.avail_out = (uInt)room;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    const size_t used = room - stream.avail_out;
    (void)deflateEnd(&stream);
    return used;
}

static void store(const void* data, size_t size)
{
    FILE* const file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Reads the file by `step` bytes and compares it with the text. Returns the bytes before the end,
 * or SIZE_MAX for an error. */
static size_t read_all(const struct support_source_limits* limits, size_t step,
                       struct support_error* error)
{
    static char block[TEXT];
    size_t sum = 0;
    size_t got = 1;
    struct support_source* const source = support_source_open(path, limits, error);
    if (source == NULL) {
        return SIZE_MAX;
    }
    while (got != 0) {
        if (!support_source_read(source, block, step, &got, error)) {
            sum = SIZE_MAX;
            break;
        }
        assert_true(got <= step);
        assert_memory_equal(block, text + sum % TEXT, got < TEXT - sum % TEXT ? got : 0);
        sum += got;
    }
    support_source_close(source);
    return sum;
}

static int setup(void** state)
{
    (void)state;
    uint32_t random = 1;
    const int file = mkstemp(path);
    for (size_t i = 0; i < TEXT; ++i) {
        random = random * 1664525u + 1013904223u;
        text[i] = (char)('a' + (random >> 28));
    }
    return file >= 0 ? close(file) : -1;
}

static int teardown(void** state)
{
    (void)state;
    return unlink(path);
}

static void plain_and_gzip_give_the_text(void** state)
{
    (void)state;
    struct support_error error = {{0}};
    const size_t sizes[] = {0, 1, 65535, 65536, 65537, TEXT};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        store(text, sizes[i]);
        assert_int_equal(read_all(&no_limits, 1000, &error), sizes[i]);
        store(packed, pack(text, sizes[i], packed, sizeof packed));
        assert_int_equal(read_all(&no_limits, 1000, &error), sizes[i]);
        assert_int_equal(read_all(&no_limits, TEXT, &error), sizes[i]);
    }
    size_t size = pack(text, 5000, packed, sizeof packed);
    size += pack(text + 5000, 5000, packed + size, sizeof packed - size);
    store(packed, size);
    assert_int_equal(read_all(&no_limits, 777, &error), 10000); /* two members */
}

static void cut_and_damaged_streams_are_errors(void** state)
{
    (void)state;
    struct support_error error = {{0}};
    const size_t size = pack(text, TEXT, packed, sizeof packed);
    for (size_t cut = 2; cut < size; cut += 997) {
        store(packed, cut);
        assert_int_equal(read_all(&no_limits, 4096, &error), SIZE_MAX);
        assert_non_null(strstr(error.text, path));
    }
    packed[size] = 'x';
    store(packed, size + 1);
    assert_int_equal(read_all(&no_limits, 4096, &error), SIZE_MAX);
    packed[size - 5] ^= 0x55; /* of the checksum */
    store(packed, size);
    assert_int_equal(read_all(&no_limits, 4096, &error), SIZE_MAX);
    assert_null(support_source_open("/no/such/file", &no_limits, &error));
    assert_null(support_source_open("/tmp", &no_limits, &error));
}

static void limits_are_kept(void** state)
{
    (void)state;
    struct support_error error = {{0}};
    const struct support_source_limits exact = {.plain = 1000, .expanded = 2000};
    store(text, 1000);
    assert_int_equal(read_all(&exact, 64, &error), 1000);
    store(text, 1001);
    assert_int_equal(read_all(&exact, 64, &error), SIZE_MAX);
    assert_non_null(strstr(error.text, "1000"));
    store(packed, pack(text, 2000, packed, sizeof packed));
    assert_int_equal(read_all(&exact, 64, &error), 2000);
    store(packed, pack(text, 2001, packed, sizeof packed));
    assert_int_equal(read_all(&exact, 64, &error), SIZE_MAX);
    assert_non_null(strstr(error.text, "2000"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_and_gzip_give_the_text),
        cmocka_unit_test(cut_and_damaged_streams_are_errors),
        cmocka_unit_test(limits_are_kept),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
