/*
 * Headers of GGUF files in memory, in both byte orders: numbers of every type, nested arrays, the
 * shapes and bytes of tensors, and mistakes with their byte. tests/tool/test_fit.py has more.
 */
#include "support/gguf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A header under construction. */
static unsigned char header[4096];
static size_t used;
static bool big;

static void put_number(uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        header[used + (big ? size - 1 - i : i)] = (unsigned char)(i < 8 ? value >> (8 * i) : 0);
    }
    used += size;
}

/* Without the final zero. */
static void put_text(const char* text)
{
    for (; *text != '\0'; ++text) {
        header[used++] = (unsigned char)*text;
    }
}

static void put_string(const char* text)
{
    put_number(strlen(text), 8);
    put_text(text);
}

static void begin(bool big_endian, uint64_t tensors, uint64_t keys)
{
    used = 0;
    big = big_endian;
    put_text("GGUF");
    put_number(3, 4);
    put_number(tensors, 8);
    put_number(keys, 8);
}

static void put_key(const char* key, uint32_t type, uint64_t value, size_t size)
{
    put_string(key);
    put_number(type, 4);
    put_number(value, size);
}

static void put_tensor(const char* name, uint64_t rows, uint32_t type, uint64_t offset)
{
    put_string(name);
    put_number(2, 4);
    put_number(256, 8);
    put_number(rows, 8);
    put_number(type, 4);
    put_number(offset, 8);
}

/* Parses a copy of exactly its size, so that a sanitizer sees a read beyond the end. */
static bool parse(struct support_gguf* gguf, struct support_error* error)
{
    unsigned char* const copy = malloc(used);
    assert_non_null(copy);
    memcpy(copy, header, used);
    const bool good = support_gguf_parse("made", copy, used, gguf, error);
    free(copy);
    return good;
}

static void require_number(const struct support_gguf* gguf, const char* key, int64_t number)
{
    const struct support_gguf_value* const value = support_gguf_find(gguf, key);
    assert_non_null(value);
    assert_int_equal(value->count, 1);
    assert_true(value->numbers[0] == number);
}

static void header_in_either_order_is_read(void** state)
{
    (void)state;
    for (int order = 0; order < 2; ++order) {
        struct support_gguf gguf;
        struct support_error error = {.text = ""};
        begin(order == 1, 2, 3);
        put_key("general.architecture", 8, 4, 8);
        put_text("some");
        put_key("some.block_count", 4, 7, 4);
        put_key("general.alignment", 4, 64, 4);
        put_tensor("first", 3, 8, 0);
        put_tensor("second", 5, 14, 832);
        assert_true(parse(&gguf, &error));
        assert_int_equal(gguf.big_endian, order == 1);
        assert_string_equal(gguf.architecture, "some");
        require_number(&gguf, ".block_count", 7);
        require_number(&gguf, "some.block_count", 7);
        assert_null(support_gguf_find(&gguf, "block_count"));
        assert_null(support_gguf_find(&gguf, "general.architecture"));
        assert_int_equal(gguf.alignment, 64);
        assert_int_equal(gguf.data_at % 64, 0);
        assert_int_equal(gguf.tensors[0].bytes, 3 * 256 / 32 * 34);
        assert_int_equal(gguf.tensors[1].bytes, 5 * 210);
        assert_int_equal(gguf.tensor_bytes, 816 + 1050);
        assert_int_equal(gguf.data_bytes, 832 + 1050);
        assert_int_equal(gguf.parameters, 8 * 256);
        support_gguf_release(&gguf);
        assert_null(gguf.tensors);
    }
}

static void numbers_keep_their_sign(void** state)
{
    (void)state;
    struct support_gguf gguf;
    struct support_error error = {.text = ""};
    begin(false, 0, 10);
    put_key("u8", 0, 0xFF, 1);
    put_key("i8", 1, 0xFF, 1);
    put_key("u16", 2, 0xFFFF, 2);
    put_key("i16", 3, 0x8000, 2);
    put_key("u32", 4, 0xFFFFFFFF, 4);
    put_key("i32", 5, 0x80000000, 4);
    put_key("bool", 7, 1, 1);
    put_key("u64", 10, UINT64_MAX, 8);
    put_key("i64", 11, UINT64_MAX, 8);
    put_key("least", 11, (uint64_t)1 << 63, 8);
    assert_true(parse(&gguf, &error));
    require_number(&gguf, "u8", 255);
    require_number(&gguf, "i8", -1);
    require_number(&gguf, "u16", 65535);
    require_number(&gguf, "i16", -32768);
    require_number(&gguf, "u32", 4294967295);
    require_number(&gguf, "i32", INT32_MIN);
    require_number(&gguf, "bool", 1);
    require_number(&gguf, "u64", INT64_MAX);
    require_number(&gguf, "i64", -1);
    require_number(&gguf, "least", INT64_MIN);
    support_gguf_release(&gguf);
}

/* Arrays of numbers keep them; arrays of arrays, of text and of fractions are skipped whole. */
static void arrays_are_kept_or_skipped(void** state)
{
    (void)state;
    struct support_gguf gguf;
    struct support_error error = {.text = ""};
    begin(false, 0, 4);
    put_key("numbers", 9, 5, 4);
    put_number(2, 8);
    put_number(0xFFFFFFFE, 4);
    put_number(9, 4);
    put_key("nested", 9, 9, 4);
    put_number(2, 8);
    put_number(8, 4);
    put_number(1, 8);
    put_string("text");
    put_number(6, 4);
    put_number(3, 8);
    put_number(0, 12);
    put_key("fraction", 12, 0, 8);
    put_key("last", 0, 1, 1);
    assert_true(parse(&gguf, &error));
    const struct support_gguf_value* const numbers = support_gguf_find(&gguf, "numbers");
    assert_non_null(numbers);
    assert_true(numbers->is_array && numbers->count == 2);
    assert_true(numbers->numbers[0] == -2 && numbers->numbers[1] == 9);
    assert_null(support_gguf_find(&gguf, "nested"));
    assert_null(support_gguf_find(&gguf, "fraction"));
    require_number(&gguf, "last", 1);
    support_gguf_release(&gguf);
}

static void every_cut_names_its_byte(void** state)
{
    (void)state;
    struct support_gguf gguf;
    begin(true, 1, 1);
    put_key("key", 10, 1, 8);
    put_tensor("tensor", 1, 0, 0);
    const size_t whole = used;
    for (used = 1; used < whole; ++used) {
        struct support_error error = {.text = ""};
        char expected[80];
        snprintf(expected, sizeof expected, "made: byte %zu: the file ends within its header",
                 used);
        assert_false(parse(&gguf, &error));
        assert_string_equal(error.text, expected);
        assert_true(gguf.tensors == NULL && gguf.values == NULL);
    }
    assert_true(parse(&gguf, NULL));
    support_gguf_release(&gguf);
}

static void missing_file_is_an_error(void** state)
{
    (void)state;
    struct support_gguf gguf;
    struct support_error error = {.text = ""};
    assert_false(support_gguf_load("no such folder/model.gguf", &gguf, &error));
    assert_non_null(strstr(error.text, "no such folder/model.gguf: cannot be opened: "));
    support_gguf_release(&gguf);
}

static void types_are_found_by_number_and_name(void** state)
{
    (void)state;
    assert_ptr_equal(support_gguf_type_by_name("q8_0"), support_gguf_type_by_id(8));
    assert_ptr_equal(support_gguf_type_by_name("MXFP4"), support_gguf_type_by_id(39));
    assert_null(support_gguf_type_by_name("q8"));
    assert_null(support_gguf_type_by_name("q8_00"));
    assert_null(support_gguf_type_by_name(""));
    assert_null(support_gguf_type_by_id(4));
    assert_null(support_gguf_type_by_id(9));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_in_either_order_is_read),
        cmocka_unit_test(numbers_keep_their_sign),
        cmocka_unit_test(arrays_are_kept_or_skipped),
        cmocka_unit_test(every_cut_names_its_byte),
        cmocka_unit_test(missing_file_is_an_error),
        cmocka_unit_test(types_are_found_by_number_and_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
