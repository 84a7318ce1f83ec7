/*
 * UTF-8; see utf8.h.
 */
#include "support/utf8.h"

#include <stdbool.h>
#include <stdint.h>

size_t support_utf8_length(const char* text)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};
    const unsigned char first = (unsigned char)text[0];
    for (size_t extra = 0; extra < sizeof forms / sizeof forms[0]; ++extra) {
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
