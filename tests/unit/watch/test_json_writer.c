/*
 * The JSON emitter: what it writes is read back with another library.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/watch/json_writer.h"

typedef void (*write_text)(struct maar_json* json, const void* input);

/* Counts, then writes into memory of exactly that size, then parses. */
static json_t* write_and_read(write_text write, const void* input)
{
    struct maar_json json;
    maar_json_begin(&json, NULL, 0);
    write(&json, input);
    size_t size = maar_json_end(&json);
    assert_int_not_equal(size, 0);
    char* text = malloc(size);
    assert_non_null(text);
    maar_json_begin(&json, text, size);
    write(&json, input);
    assert_int_equal(maar_json_end(&json), size);
    assert_int_equal(text[size - 1], 0);
    assert_int_equal(strlen(text), size - 1);
    json_error_t error;
    json_t* root = json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (root == NULL) {
        fail_msg("%s in %s", error.text, text);
    }
    free(text);
    return root;
}

static void write_string_value(struct maar_json* json, const void* input)
{
    maar_json_string(json, input);
}

/* What a text reads back as. */
static void expect_read_back(const char* input, const char* wanted)
{
    json_t* root = write_and_read(write_string_value, input);
    assert_string_equal(json_string_value(root), wanted);
    json_decref(root);
}

static void string_with_nasty_characters_reads_back(void** state)
{
    (void)state;
    static const char* const texts[] = {
        "",
        "plain",
        "quote \" backslash \\ slash /",
        "\b\f\n\r\t",
        "\x01\x02\x1b\x1f\x7f",
        "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8c\x8b \xf4\x8f\xbf\xbf",
        "\xc2\x80 \xe0\xa0\x80 \xf0\x90\x80\x80 \xed\x9f\xbf \xee\x80\x80",
        "</script><!-- {\"a\": [1, 2]}",
        "\xe2\x80\xa8\xe2\x80\xa9",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        expect_read_back(texts[i], texts[i]);
    }
    expect_read_back(NULL, "");
    for (int i = 1; i < 0x80; ++i) {
        const char one[2] = {(char)i, '\0'};
        expect_read_back(one, one);
    }
}

#define BAD "\xef\xbf\xbd"

static void string_that_is_not_utf8_is_replaced(void** state)
{
    (void)state;
    static const struct {
        const char* input;
        const char* wanted;
    } cases[] = {
        {"a\xff"
         "b",
         "a" BAD "b"},
        {"\x80", BAD},                            /* a lone continuation */
        {"\xc0\xaf", BAD BAD},                    /* overlong */
        {"\xe0\x80\xaf", BAD BAD BAD},            /* overlong */
        {"\xf0\x80\x80\xaf", BAD BAD BAD BAD},    /* overlong */
        {"\xed\xa0\x80", BAD BAD BAD},            /* a surrogate */
        {"\xf4\x90\x80\x80", BAD BAD BAD BAD},    /* above U+10FFFF */
        {"\xf5\x80", BAD BAD},                    /* likewise */
        {"\xc3", BAD},                            /* cut off */
        {"\xe2\x82", BAD},                        /* cut off: one character, one mark */
        {"\xf0\x9f\x8c", BAD},                    /* cut off */
        {"\xe2\x82z", BAD "z"},                   /* cut off, then more */
        {"\xf0\x9f\xc3\xa9", BAD "\xc3\xa9"},     /* cut off, then a whole one */
        {"\xe2\x82\xac\xe2", "\xe2\x82\xac" BAD}, /* whole, then cut off */
        {"\xc3\"", BAD "\""},                     /* the quote is not swallowed */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        expect_read_back(cases[i].input, cases[i].wanted);
    }
}

/* Every pair of bytes becomes text that can be read. */
static void string_of_any_two_bytes_is_readable(void** state)
{
    (void)state;
    for (int i = 1; i < 256; ++i) {
        for (int j = 1; j < 256; ++j) {
            const char text[3] = {(char)i, (char)j, '\0'};
            json_decref(write_and_read(write_string_value, text));
        }
    }
}

static void write_uint_value(struct maar_json* json, const void* input)
{
    maar_json_uint(json, *(const uint64_t*)input);
}

static void write_real_value(struct maar_json* json, const void* input)
{
    maar_json_real(json, *(const double*)input);
}

static void uint_reads_back(void** state)
{
    (void)state;
    static const uint64_t numbers[] = {0, 1, 9, 10, 4294967295u, 4294967296u, INT64_MAX};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        json_t* root = write_and_read(write_uint_value, &numbers[i]);
        assert_true(json_is_integer(root));
        assert_true((uint64_t)json_integer_value(root) == numbers[i]);
        json_decref(root);
    }
    /* Beyond what the reader's integers hold. */
    char text[32];
    struct maar_json json;
    maar_json_begin(&json, text, sizeof text);
    maar_json_uint(&json, UINT64_MAX);
    assert_int_equal(maar_json_end(&json), 22);
    assert_string_equal(text, "18446744073709551615\n");
}

static void expect_same_real(double number)
{
    json_t* root = write_and_read(write_real_value, &number);
    double back = json_number_value(root);
    assert_true(json_is_number(root));
    assert_memory_equal(&back, &number, sizeof number);
    json_decref(root);
}

static void real_reads_back(void** state)
{
    (void)state;
    static const double numbers[] = {0.5,     0.1,     1.0 / 3.0, 0.985,    123456.789,
                                     -2.5e-7, DBL_MAX, DBL_MIN,   -DBL_MAX, 1e22,
                                     1e23,    5e-324,  0.25,      2.0 / 3.0};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        expect_same_real(numbers[i]);
    }
    static const double odd[] = {INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < 3; ++i) {
        json_t* root = write_and_read(write_real_value, &odd[i]);
        assert_true(json_is_null(root));
        json_decref(root);
    }
}

static void number_of_another_locale_gets_a_point(void** state)
{
    (void)state;
    static const struct {
        const char* printed;
        const char* wanted;
    } cases[] = {
        {"0.5", "0.5"},
        {"0,5", "0.5"},
        {"-1,25e-07", "-1.25e-07"},
        {"3\xd9\xab"
         "14",
         "3.14"}, /* two bytes for one point, as in Pashto */
        {"1e+22", "1e+22"},
        {"12", "12"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        char text[32];
        (void)snprintf(text, sizeof text, "%s", cases[i].printed);
        size_t length = maar_json_neutral_number(text);
        assert_int_equal(length, strlen(cases[i].wanted));
        assert_memory_equal(text, cases[i].wanted, length);
    }
}

static void real_in_another_locale_reads_back(void** state)
{
    (void)state;
    static const char* const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        if (setlocale(LC_ALL, names[i]) == NULL) {
            continue;
        }
        char text[32];
        struct maar_json json;
        maar_json_begin(&json, text, sizeof text);
        maar_json_real(&json, 0.5);
        (void)maar_json_end(&json);
        (void)setlocale(LC_ALL, "C");
        assert_string_equal(text, "0.5\n");
        return;
    }
    print_message("skipped: no locale with another decimal point is installed\n");
    skip();
}

static void write_everything(struct maar_json* json, const void* input)
{
    (void)input;
    maar_json_begin_object(json, false);
    maar_json_key(json, "empty object");
    maar_json_begin_object(json, false);
    maar_json_end_object(json);
    maar_json_key(json, "empty array");
    maar_json_begin_array(json, true);
    maar_json_end_array(json);
    maar_json_key_number(json, "Type ", 31);
    maar_json_begin_array(json, true);
    maar_json_bool(json, true);
    maar_json_bool(json, false);
    maar_json_begin_object(json, false);
    maar_json_key(json, "k\"\n");
    maar_json_numbered_string(json, 7, " - ", "a\"b");
    maar_json_end_object(json);
    maar_json_numbered_string(json, 0, " - ", NULL);
    maar_json_end_array(json);
    maar_json_key_number(json, "", UINT64_MAX);
    maar_json_hex_string(json, 0xdeadbeef);
    maar_json_key(json, "zero");
    maar_json_hex_string(json, 0);
    maar_json_end_object(json);
}

static void nested_values_read_back(void** state)
{
    (void)state;
    json_t* root = write_and_read(write_everything, NULL);
    assert_int_equal(json_object_size(root), 5);
    assert_int_equal(json_object_size(json_object_get(root, "empty object")), 0);
    assert_true(json_is_object(json_object_get(root, "empty object")));
    assert_true(json_is_array(json_object_get(root, "empty array")));
    const json_t* list = json_object_get(root, "Type 31");
    assert_int_equal(json_array_size(list), 4);
    assert_true(json_is_true(json_array_get(list, 0)));
    assert_true(json_is_false(json_array_get(list, 1)));
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 2), "k\"\n")),
                        "7 - a\"b");
    assert_string_equal(json_string_value(json_array_get(list, 3)), "0");
    assert_string_equal(json_string_value(json_object_get(root, "18446744073709551615")),
                        "0xdeadbeef");
    assert_string_equal(json_string_value(json_object_get(root, "zero")), "0x0");
    json_decref(root);
}

static void text_longer_than_its_room_is_counted_and_cut(void** state)
{
    (void)state;
    struct maar_json json;
    maar_json_begin(&json, NULL, 0);
    write_everything(&json, NULL);
    size_t size = maar_json_end(&json);
    for (size_t room = 0; room < size; ++room) {
        char text[512];
        assert_true(size < sizeof text);
        memset(text, 0x7e, sizeof text);
        maar_json_begin(&json, text, room);
        write_everything(&json, NULL);
        assert_int_equal(maar_json_end(&json), size);
        for (size_t i = room; i < sizeof text; ++i) {
            assert_int_equal(text[i], 0x7e);
        }
    }
}

/* Each of these is a mistake of the caller, and none becomes text. */
static void write_mistake(struct maar_json* json, uint32_t which)
{
    switch (which) {
    case 0: /* nothing at all */
        break;
    case 1: /* not closed */
        maar_json_begin_array(json, false);
        break;
    case 2: /* closed twice */
        maar_json_begin_array(json, false);
        maar_json_end_array(json);
        maar_json_end_array(json);
        break;
    case 3: /* closed as something else */
        maar_json_begin_array(json, false);
        maar_json_end_object(json);
        break;
    case 4: /* a value without a key */
        maar_json_begin_object(json, false);
        maar_json_uint(json, 1);
        maar_json_end_object(json);
        break;
    case 5: /* a key without a value */
        maar_json_begin_object(json, false);
        maar_json_key(json, "k");
        maar_json_end_object(json);
        break;
    case 6: /* a key in an array */
        maar_json_begin_array(json, false);
        maar_json_key(json, "k");
        maar_json_end_array(json);
        break;
    case 7: /* two keys */
        maar_json_begin_object(json, false);
        maar_json_key(json, "k");
        maar_json_key(json, "l");
        maar_json_uint(json, 1);
        maar_json_end_object(json);
        break;
    case 8: /* two values */
        maar_json_uint(json, 1);
        maar_json_uint(json, 2);
        break;
    case 9: /* a key at the top */
        maar_json_key(json, "k");
        maar_json_uint(json, 1);
        break;
    default: /* too deep */
        for (uint32_t i = 0; i <= MAAR_JSON_MAX_DEPTH; ++i) {
            maar_json_begin_array(json, false);
        }
        for (uint32_t i = 0; i <= MAAR_JSON_MAX_DEPTH; ++i) {
            maar_json_end_array(json);
        }
        break;
    }
}

static void calls_out_of_order_yield_no_text(void** state)
{
    (void)state;
    for (uint32_t i = 0; i <= 10; ++i) {
        struct maar_json json;
        char text[256];
        maar_json_begin(&json, text, sizeof text);
        write_mistake(&json, i);
        assert_int_equal(maar_json_end(&json), 0);
    }
}

static void nesting_up_to_the_limit_is_text(void** state)
{
    (void)state;
    struct maar_json json;
    char text[2048];
    maar_json_begin(&json, text, sizeof text);
    for (uint32_t i = 0; i < MAAR_JSON_MAX_DEPTH; ++i) {
        maar_json_begin_array(&json, false);
    }
    for (uint32_t i = 0; i < MAAR_JSON_MAX_DEPTH; ++i) {
        maar_json_end_array(&json);
    }
    assert_int_not_equal(maar_json_end(&json), 0);
    json_t* root = json_loads(text, 0, NULL);
    assert_non_null(root);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(string_with_nasty_characters_reads_back),
        cmocka_unit_test(string_that_is_not_utf8_is_replaced),
        cmocka_unit_test(string_of_any_two_bytes_is_readable),
        cmocka_unit_test(uint_reads_back),
        cmocka_unit_test(real_reads_back),
        cmocka_unit_test(number_of_another_locale_gets_a_point),
        cmocka_unit_test(real_in_another_locale_reads_back),
        cmocka_unit_test(nested_values_read_back),
        cmocka_unit_test(text_longer_than_its_room_is_counted_and_cut),
        cmocka_unit_test(calls_out_of_order_yield_no_text),
        cmocka_unit_test(nesting_up_to_the_limit_is_text),
    };
    return cmocka_run_group_tests_name("json_writer", tests, NULL, NULL);
}
