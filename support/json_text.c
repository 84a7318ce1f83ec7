/*
 * Texts of any bytes as JSON strings.
 */
#include "support/json_text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Returns the length of the UTF-8 sequence at a text, or 0 if the bytes are none. */
static size_t utf8_length(const char* text)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};
    const unsigned char first = (unsigned char)text[0];
    for (size_t extra = 0; extra < sizeof(forms) / sizeof(forms[0]); ++extra) {
        if ((first & forms[extra].mask) != forms[extra].lead) {
            continue;
        }
        uint32_t value = first & (unsigned char)~forms[extra].mask;
        for (size_t i = 1; i <= extra; ++i) {
            if (((unsigned char)text[i] & 0xC0u) != 0x80u) {
                return 0;
            }
            value = value << 6 | ((unsigned char)text[i] & 0x3Fu);
        }
        const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
        return value >= forms[extra].least && value <= 0x10FFFF && !surrogate ? extra + 1 : 0;
    }
    return 0;
}

json_t* support_json_text(const char* text)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    char* const clean = malloc(3 * strlen(text) + 1);
    if (clean == NULL) {
        return NULL;
    }
    char* to = clean;
    while (*text != '\0') {
        const size_t length = utf8_length(text);
        memcpy(to, length != 0 ? text : replacement, length != 0 ? length : 3);
        to += length != 0 ? length : 3;
        text += length != 0 ? length : 1;
    }
    *to = '\0';
    json_t* const string = json_string(clean);
    free(clean);
    return string;
}
