/*
 * JSON with exact 64-bit integers. The underlying parser has signed integers, and budgets of 16 EiB
 * exist. Therefore an integer above the parser's range becomes a marked string before parsing.
 */
#include "support/profile_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The beginning of strings that stand for large integers. No string of a profile begins like
 * this. */
static const char profile_mark[] = "#u64:";

enum { PROFILE_MARK_SIZE = sizeof(profile_mark) - 1, PROFILE_SAFE_DIGITS = 18 };

/* Returns the length of the integer literal at `text`; 0 if the text does not begin with a plain
 * integer. */
static size_t profile_integer_length(const char* text, const char* end)
{
    size_t length = 0;
    while (text + length < end && text[length] >= '0' && text[length] <= '9') {
        length++;
    }
    const char next = text + length < end ? text[length] : 0;
    return next == '.' || next == 'e' || next == 'E' ? 0 : length;
}

/* Returns a copy of the text in which large integers are marked strings. The caller frees it. */
static char* profile_mark_integers(const char* text, size_t size, size_t* marked_size)
{
    const char* const end = text + size;
    /* The shortest large literal has 19 digits and grows by the mark and two quotes. */
    char* const marked = malloc(size + (size / PROFILE_SAFE_DIGITS + 1) * (PROFILE_MARK_SIZE + 2));
    if (marked == NULL) {
        return NULL;
    }
    char* to = marked;
    bool in_string = false;
    char before = 0;
    while (text < end) {
        const bool starts = !in_string && before != '-' && before != '.' && before != '+' &&
                            (before < '0' || before > '9') && before != 'e' && before != 'E';
        const size_t length = starts ? profile_integer_length(text, end) : 0;
        if (length > PROFILE_SAFE_DIGITS) {
            to += sprintf(to, "\"%s", profile_mark);
            memcpy(to, text, length);
            to += length;
            *to++ = '"';
            text += length;
            before = '0';
            continue;
        }
        if (in_string && *text == '\\' && text + 1 < end) {
            *to++ = *text++;
        } else if (*text == '"') {
            in_string = !in_string;
        }
        before = *text;
        *to++ = *text++;
    }
    *marked_size = (size_t)(to - marked);
    return marked;
}

json_t* profile_json_parse(struct profile_source* source, const char* text, size_t size)
{
    size_t marked_size = 0;
    char* marked = profile_mark_integers(text, size, &marked_size);
    if (marked == NULL) {
        support_error_set(source->error, source->name, 0, "out of memory for this profile");
        return NULL;
    }
    json_error_t wrong;
    json_t* root = json_loadb(marked, marked_size, JSON_REJECT_DUPLICATES, &wrong);
    free(marked);
    if (root == NULL) {
        support_error_set(source->error, source->name,
                          wrong.line > 0 ? (size_t)wrong.line : (size_t)1, "%s", wrong.text);
    }
    return root;
}

bool profile_fail(const struct profile_source* source, const char* path, const char* key,
                  const char* reason)
{
    support_error_set(source->error, source->name, 0, "%s%s%s %s", path, path[0] != 0 ? "." : "",
                      key, reason);
    return false;
}

static json_t* profile_member(const struct profile_source* source, const char* path,
                              const json_t* parent, const char* key, enum profile_presence presence,
                              bool* good)
{
    json_t* member = json_object_get(parent, key);
    if (member == NULL && presence == PROFILE_REQUIRED) {
        *good = profile_fail(source, path, key, "is missing");
    }
    return member;
}

json_t* profile_object(const struct profile_source* source, const char* path, const json_t* parent,
                       const char* key, enum profile_presence presence, bool* good)
{
    json_t* member = profile_member(source, path, parent, key, presence, good);
    if (member != NULL && !json_is_object(member)) {
        *good = profile_fail(source, path, key, "is not an object");
        return NULL;
    }
    return member;
}

json_t* profile_array(const struct profile_source* source, const char* path, const json_t* parent,
                      const char* key, enum profile_presence presence, bool* good)
{
    json_t* member = profile_member(source, path, parent, key, presence, good);
    if (member != NULL && !json_is_array(member)) {
        *good = profile_fail(source, path, key, "is not an array");
        return NULL;
    }
    return member;
}

/* Reads digits of base 10 or 16, and nothing else. */
static bool profile_digits(const char* text, unsigned base, uint64_t* value)
{
    uint64_t sum = 0;
    if (*text == 0) {
        return false;
    }
    for (; *text != 0; text++) {
        static const char all[] = "0123456789abcdef";
        const char lower = *text >= 'A' && *text <= 'F' ? (char)(*text + ('a' - 'A')) : *text;
        const char* digit = memchr(all, lower, base);
        if (digit == NULL || sum > (UINT64_MAX - (uint64_t)(digit - all)) / base) {
            return false;
        }
        sum = sum * base + (uint64_t)(digit - all);
    }
    *value = sum;
    return true;
}

bool profile_u64(const struct profile_source* source, const char* path, const json_t* parent,
                 const char* key, enum profile_presence presence, uint64_t max, uint64_t* value,
                 bool* found)
{
    bool good = true;
    const json_t* member = profile_member(source, path, parent, key, presence, &good);
    if (found != NULL) {
        *found = member != NULL;
    }
    if (member == NULL) {
        return good;
    }
    uint64_t number = 0;
    const char* const string = json_string_value(member);
    if (string != NULL && strncmp(string, profile_mark, PROFILE_MARK_SIZE) == 0) {
        if (!profile_digits(string + PROFILE_MARK_SIZE, 10, &number)) {
            return profile_fail(source, path, key, "is larger than 64 bits");
        }
    } else if (json_is_integer(member)) {
        if (json_integer_value(member) < 0) {
            return profile_fail(source, path, key, "is negative");
        }
        number = (uint64_t)json_integer_value(member);
    } else {
        return profile_fail(source, path, key, "is not an integer");
    }
    if (number > max) {
        return profile_fail(source, path, key, "is too large");
    }
    *value = number;
    return true;
}

bool profile_power(const struct profile_source* source, const char* path, const json_t* parent,
                   const char* key, uint64_t max, uint64_t* value)
{
    uint64_t number = *value;
    if (!profile_u64(source, path, parent, key, PROFILE_OPTIONAL, max, &number, NULL)) {
        return false;
    }
    if ((number & (number - 1)) != 0) {
        return profile_fail(source, path, key, "is not a power of two");
    }
    *value = number;
    return true;
}

bool profile_u32(const struct profile_source* source, const char* path, const json_t* parent,
                 const char* key, enum profile_presence presence, uint32_t* value)
{
    uint64_t number = *value;
    if (!profile_u64(source, path, parent, key, presence, UINT32_MAX, &number, NULL)) {
        return false;
    }
    *value = (uint32_t)number;
    return true;
}

bool profile_hex(const struct profile_source* source, const char* path, const json_t* parent,
                 const char* key, uint32_t* value)
{
    const json_t* member = json_object_get(parent, key);
    const char* const text = json_string_value(member);
    uint64_t number = 0;
    if (member == NULL) {
        return true;
    }
    if (text == NULL || text[0] != '0' || text[1] != 'x' ||
        !profile_digits(text + 2, 16, &number) || number > UINT32_MAX) {
        return profile_fail(source, path, key, "is not a string like \"0x1002\"");
    }
    *value = (uint32_t)number;
    return true;
}

bool profile_bool(const struct profile_source* source, const char* path, const json_t* parent,
                  const char* key, uint32_t* value)
{
    const json_t* member = json_object_get(parent, key);
    if (member == NULL) {
        return true;
    }
    if (json_is_boolean(member)) {
        *value = json_is_true(member) ? 1 : 0;
        return true;
    }
    if (!json_is_integer(member) || json_integer_value(member) < 0 ||
        json_integer_value(member) > 1) {
        return profile_fail(source, path, key, "is not 0, 1, true or false");
    }
    *value = (uint32_t)json_integer_value(member);
    return true;
}

bool profile_string(const struct profile_source* source, const char* path, const json_t* parent,
                    const char* key, enum profile_presence presence, char* value, size_t room)
{
    bool good = true;
    const json_t* member = profile_member(source, path, parent, key, presence, &good);
    if (member == NULL) {
        return good;
    }
    if (!json_is_string(member)) {
        return profile_fail(source, path, key, "is not a string");
    }
    const size_t length = json_string_length(member);
    if (length >= room || strlen(json_string_value(member)) != length) {
        return profile_fail(source, path, key, "is too long, or contains a zero byte");
    }
    memcpy(value, json_string_value(member), length + 1);
    return true;
}

bool profile_flags(const struct profile_source* source, const char* path, const json_t* parent,
                   const char* key, const struct profile_word* words, size_t word_count,
                   uint32_t* value)
{
    bool good = true;
    const json_t* array = profile_array(source, path, parent, key, PROFILE_REQUIRED, &good);
    if (array == NULL) {
        return false;
    }
    uint32_t sum = 0;
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char* const word = json_string_value(json_array_get(array, i));
        size_t at = 0;
        while (at < word_count && (word == NULL || strcmp(words[at].word, word) != 0)) {
            at++;
        }
        if (at == word_count) {
            return profile_fail(source, path, key, "contains an unknown word");
        }
        sum |= words[at].value;
    }
    *value = sum;
    return true;
}
