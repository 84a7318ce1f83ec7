/*
 * The JSON writer. Each level is indented by two spaces. An inline container is written on one
 * line.
 */
#include "core/watch/json_writer.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void json_put(struct maar_json* json, const char* bytes, size_t count)
{
    if (json->malformed) {
        return;
    }
    if (json->out != NULL && json->length < json->capacity) {
        size_t room = json->capacity - json->length;
        memcpy(json->out + json->length, bytes, count < room ? count : room);
    }
    json->length += count;
}

static void json_put_text(struct maar_json* json, const char* text)
{
    json_put(json, text, strlen(text));
}

static uint32_t json_depth_bit(const struct maar_json* json)
{
    return 1u << json->depth;
}

static void json_put_line_break(struct maar_json* json)
{
    if ((json->inline_bits & json_depth_bit(json)) != 0) {
        return;
    }
    json_put(json, "\n", 1);
    for (uint32_t i = 0; i < json->depth; ++i) {
        json_put(json, "  ", 2);
    }
}

/* Writes the comma and the white space before a key, or before a value in an array. */
static void json_put_separator(struct maar_json* json)
{
    bool is_first = (json->filled_bits & json_depth_bit(json)) == 0;
    json->filled_bits |= json_depth_bit(json);
    bool is_inline = (json->inline_bits & json_depth_bit(json)) != 0;
    if (!is_first) {
        json_put_text(json, is_inline ? ", " : ",");
    }
    json_put_line_break(json);
}

/* Writes the separator before a value. A value out of place marks the text as malformed. */
static void json_begin_value(struct maar_json* json)
{
    if (json->depth == 0) {
        json->malformed = json->malformed || json->done;
        return;
    }
    bool in_object = (json->object_bits & json_depth_bit(json)) != 0;
    if (in_object != json->has_key) {
        json->malformed = true;
        return;
    }
    if (!in_object) {
        json_put_separator(json);
    }
    json->has_key = false;
}

static void json_end_value(struct maar_json* json)
{
    json->done = json->depth == 0;
}

static void json_begin_container(struct maar_json* json, bool is_object, bool is_inline)
{
    json_begin_value(json);
    if (json->depth == MAAR_JSON_MAX_DEPTH) {
        json->malformed = true;
    }
    if (json->malformed) {
        return;
    }
    bool outer_inline = (json->inline_bits & json_depth_bit(json)) != 0;
    json_put(json, is_object ? "{" : "[", 1);
    ++json->depth;
    json->filled_bits &= ~json_depth_bit(json);
    json->object_bits &= ~json_depth_bit(json);
    json->inline_bits &= ~json_depth_bit(json);
    json->object_bits |= is_object ? json_depth_bit(json) : 0u;
    json->inline_bits |= is_inline || outer_inline ? json_depth_bit(json) : 0u;
}

static void json_end_container(struct maar_json* json, bool is_object)
{
    bool in_object = (json->object_bits & json_depth_bit(json)) != 0;
    if (json->depth == 0 || json->has_key || in_object != is_object) {
        json->malformed = true;
    }
    if (json->malformed) {
        return;
    }
    bool is_filled = (json->filled_bits & json_depth_bit(json)) != 0;
    bool is_inline = (json->inline_bits & json_depth_bit(json)) != 0;
    --json->depth;
    if (is_filled && !is_inline) {
        json_put_line_break(json);
    }
    json_put(json, is_object ? "}" : "]", 1);
    json_end_value(json);
}

/* Returns the number of bytes of the UTF-8 character at text, or 0 when the character is broken. In
 * that case *bad is the number of bytes that belong to the broken character, at least 1. Overlong
 * forms, surrogates and numbers above U+10FFFF are broken. */
static size_t utf8_character_size(const unsigned char* text, size_t* bad)
{
    size_t size = 0;
    unsigned char low = 0x80; /* bounds of the second byte */
    unsigned char high = 0xBF;
    *bad = 1;
    if (text[0] < 0x80) {
        return 1;
    }
    if (text[0] >= 0xC2 && text[0] <= 0xDF) {
        size = 2;
    } else if (text[0] >= 0xE0 && text[0] <= 0xEF) {
        size = 3;
        low = text[0] == 0xE0 ? 0xA0 : low;
        high = text[0] == 0xED ? 0x9F : high;
    } else if (text[0] >= 0xF0 && text[0] <= 0xF4) {
        size = 4;
        low = text[0] == 0xF0 ? 0x90 : low;
        high = text[0] == 0xF4 ? 0x8F : high;
    } else {
        return 0;
    }
    if (text[1] < low || text[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < size; ++i) {
        *bad = i;
        if ((text[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return size;
}

/* Writes one character below 0x80. */
static void json_put_ascii(struct maar_json* json, unsigned char character)
{
    static const char shorts[] = "\b\f\n\r\t\"\\";
    static const char letters[] = "bfnrt\"\\";
    const char* found = character != 0 ? strchr(shorts, character) : NULL;
    if (found != NULL) {
        json_put(json, "\\", 1);
        json_put(json, &letters[found - shorts], 1);
    } else if (character < 0x20 || character == 0x7F) {
        static const char digits[] = "0123456789abcdef";
        const char escape[6] = {
            '\\', 'u', '0', '0', digits[character >> 4], digits[character & 15]};
        json_put(json, escape, sizeof escape);
    } else {
        const char plain = (char)character;
        json_put(json, &plain, 1);
    }
}

static void json_put_escaped(struct maar_json* json, const char* text)
{
    const unsigned char* at = (const unsigned char*)text;
    while (*at != 0) {
        size_t bad = 0;
        size_t size = utf8_character_size(at, &bad);
        if (size == 1) {
            json_put_ascii(json, *at);
        } else if (size == 0) {
            json_put_text(json, "\xEF\xBF\xBD");
        } else {
            json_put(json, (const char*)at, size);
        }
        at += size != 0 ? size : bad;
    }
}

static void json_put_uint(struct maar_json* json, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + (int)(number % 10));
        number /= 10;
    } while (number != 0);
    json_put(json, digits + at, sizeof digits - at);
}

void maar_json_begin(struct maar_json* json, char* out, size_t capacity)
{
    memset(json, 0, sizeof *json);
    json->out = out;
    json->capacity = capacity;
}

size_t maar_json_end(struct maar_json* json)
{
    if (json->malformed || json->depth != 0 || !json->done) {
        return 0;
    }
    json_put(json, "\n", 2); /* with the terminating zero byte */
    return json->length;
}

void maar_json_begin_object(struct maar_json* json, bool is_inline)
{
    json_begin_container(json, true, is_inline);
}

void maar_json_end_object(struct maar_json* json)
{
    json_end_container(json, true);
}

void maar_json_begin_array(struct maar_json* json, bool is_inline)
{
    json_begin_container(json, false, is_inline);
}

void maar_json_end_array(struct maar_json* json)
{
    json_end_container(json, false);
}

/* Writes the separator before a key. A key out of place marks the text as malformed. */
static void json_begin_key(struct maar_json* json)
{
    bool in_object = json->depth > 0 && (json->object_bits & json_depth_bit(json)) != 0;
    if (!in_object || json->has_key) {
        json->malformed = true;
        return;
    }
    json_put_separator(json);
    json->has_key = true;
}

void maar_json_key(struct maar_json* json, const char* key)
{
    json_begin_key(json);
    json_put(json, "\"", 1);
    json_put_escaped(json, key);
    json_put(json, "\": ", 3);
}

void maar_json_key_number(struct maar_json* json, const char* prefix, uint64_t number)
{
    json_begin_key(json);
    json_put(json, "\"", 1);
    json_put_escaped(json, prefix);
    json_put_uint(json, number);
    json_put(json, "\": ", 3);
}

void maar_json_string(struct maar_json* json, const char* text)
{
    json_begin_value(json);
    json_put(json, "\"", 1);
    json_put_escaped(json, text != NULL ? text : "");
    json_put(json, "\"", 1);
    json_end_value(json);
}

void maar_json_numbered_string(struct maar_json* json, uint64_t number, const char* separator,
                               const char* text)
{
    json_begin_value(json);
    json_put(json, "\"", 1);
    json_put_uint(json, number);
    if (text != NULL) {
        json_put_escaped(json, separator);
        json_put_escaped(json, text);
    }
    json_put(json, "\"", 1);
    json_end_value(json);
}

void maar_json_hex_string(struct maar_json* json, uint64_t number)
{
    char digits[16];
    size_t at = sizeof digits;
    do {
        digits[--at] = "0123456789abcdef"[number % 16];
        number /= 16;
    } while (number != 0);
    json_begin_value(json);
    json_put(json, "\"0x", 3);
    json_put(json, digits + at, sizeof digits - at);
    json_put(json, "\"", 1);
    json_end_value(json);
}

void maar_json_uint(struct maar_json* json, uint64_t number)
{
    json_begin_value(json);
    json_put_uint(json, number);
    json_end_value(json);
}

size_t maar_json_neutral_number(char* text)
{
    size_t length = 0;
    bool had_point = false;
    for (const char* at = text; *at != '\0'; ++at) {
        if (strchr("0123456789+-e", *at) != NULL) {
            text[length++] = *at;
        } else if (!had_point) {
            text[length++] = '.';
            had_point = true;
        }
    }
    return length;
}

void maar_json_real(struct maar_json* json, double number)
{
    json_begin_value(json);
    if (!(number >= -DBL_MAX && number <= DBL_MAX)) {
        json_put_text(json, "null");
        json_end_value(json);
        return;
    }
    char text[64];
    for (int precision = 1; precision <= 17; ++precision) {
        (void)snprintf(text, sizeof text, "%.*g", precision, number);
        /* strtod reads the text in the same locale in which snprintf wrote the text. */
        double back = strtod(text, NULL);
        if (back == number) {
            break;
        }
    }
    json_put(json, text, maar_json_neutral_number(text));
    json_end_value(json);
}

void maar_json_bool(struct maar_json* json, bool truth)
{
    json_begin_value(json);
    json_put_text(json, truth ? "true" : "false");
    json_end_value(json);
}
