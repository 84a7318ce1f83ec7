/*
 * Shortens names; see short_label.h.
 *
 * A shortened name keeps a head and a tail. The longest head without a tail is tried first, then
 * longer and longer tails.
 */
#include "support/short_label.h"

#include "support/svg.h"

#include <stdio.h>
#include <string.h>

#define ELLIPSIS "\xE2\x80\xA6"

/* The longest name that is shortened. */
#define LONGEST_NAME 120u

/* The fewest bytes of a name that are worth showing. */
#define FEWEST_BYTES 2u

static bool is_inside_character(char byte)
{
    return ((unsigned char)byte & 0xC0u) == 0x80;
}

/* Returns whether another name has the same head and tail. */
static bool is_ambiguous(const char* name, size_t head, size_t tail, support_name_of name_of,
                         const void* context, size_t count)
{
    const char* const end = name + strlen(name) - tail;
    for (size_t i = 0; i < count; ++i) {
        const char* const other = name_of(context, i);
        const size_t length = strlen(other);
        if (length >= head + tail && strncmp(other, name, head) == 0 &&
            strcmp(other + length - tail, end) == 0 && strcmp(other, name) != 0) {
            return true;
        }
    }
    return false;
}

/* Writes a head and a tail with an ellipsis, which is as wide as the font is high. Returns whether
 * this is at most `room` wide and fits the buffer. */
static bool write_label(const char* name, size_t head, size_t tail, double room, double font_size,
                        char* out, size_t size)
{
    const char* const end = name + strlen(name) - tail;
    if (is_inside_character(name[head]) || is_inside_character(*end) ||
        snprintf(out, size, "%.*s%s", (int)head, name, end) < 0 ||
        support_svg_text_width(out, font_size, false) + font_size > room) {
        return false;
    }
    const int written = snprintf(out, size, "%.*s" ELLIPSIS "%s", (int)head, name, end);
    return written > 0 && (size_t)written < size;
}

bool support_shorten_label(const char* name, double room, double font_size, support_name_of name_of,
                           const void* context, size_t count, char* out, size_t size)
{
    const size_t length = strlen(name);
    if (length < size && support_svg_text_width(name, font_size, false) <= room) {
        memcpy(out, name, length + 1);
        return true;
    }
    for (size_t tail = 0; tail < length && tail < LONGEST_NAME; ++tail) {
        size_t head = length - tail - 1;
        head = head < LONGEST_NAME ? head : LONGEST_NAME;
        while (head != 0 && !write_label(name, head, tail, room, font_size, out, size)) {
            --head;
        }
        /* A shorter head would be ambiguous too. */
        if (head + tail >= FEWEST_BYTES &&
            write_label(name, head, tail, room, font_size, out, size) &&
            !is_ambiguous(name, head, tail, name_of, context, count)) {
            return true;
        }
    }
    out[0] = '\0';
    return false;
}
