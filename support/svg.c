/*
 * Writes SVG as text; see svg.h.
 */
#include "support/svg.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char* const support_svg_theme_names[SUPPORT_SVG_THEME_COUNT] = {"auto", "light", "dark"};

bool support_svg_find_theme(const char* name, enum support_svg_theme* theme)
{
    for (size_t i = 0; i < SUPPORT_SVG_THEME_COUNT; ++i) {
        if (strcmp(name, support_svg_theme_names[i]) == 0) {
            *theme = (enum support_svg_theme)i;
            return true;
        }
    }
    return false;
}

static bool make_room(struct support_svg* svg, size_t extra)
{
    if (svg->failed) {
        return false;
    }
    if (svg->room - svg->size > extra) {
        return true;
    }
    size_t room = svg->room == 0 ? 65536 : svg->room * 2;
    while (room - svg->size <= extra) {
        room *= 2;
    }
    char* const grown = realloc(svg->text, room);
    if (grown == NULL) {
        svg->failed = true;
        return false;
    }
    svg->text = grown;
    svg->room = room;
    return true;
}

void support_svg_raw(struct support_svg* svg, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length >= 0 && make_room(svg, (size_t)length + 1)) {
        vsnprintf(svg->text + svg->size, (size_t)length + 1, format, again);
        svg->size += (size_t)length;
    }
    va_end(again);
}

/* Returns the bytes of the first character of a text, at most `left`; 0 if the character is not
 * UTF-8 or XML forbids it. */
static size_t character_size(const char* text, size_t left)
{
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char lead = (unsigned char)text[0];
    size_t size = 1;
    for (unsigned char mark = 0xC0; lead >= 0xC0 && size < 4 && (lead & mark) == mark;
         mark = (unsigned char)(mark >> 1 | 0x80)) {
        ++size;
    }
    if (size == 1) {
        return lead >= 0x20 && lead < 0x80 ? 1 : 0;
    }
    uint32_t code = lead & (0x7Fu >> size);
    for (size_t i = 1; i < size; ++i) {
        if (i == left || ((unsigned char)text[i] & 0xC0u) != 0x80) {
            return 0;
        }
        code = code << 6 | ((unsigned char)text[i] & 0x3Fu);
    }
    const bool permitted =
        code < 0xD800 || (code >= 0xE000 && code < 0xFFFE) || (code > 0xFFFF && code < 0x110000);
    return lead < 0xF8 && permitted && code >= lowest[size] ? size : 0;
}

static void add_bytes(struct support_svg* svg, const char* bytes, size_t count)
{
    if (make_room(svg, count + 1)) {
        memcpy(svg->text + svg->size, bytes, count);
        svg->size += count;
        svg->text[svg->size] = '\0';
    }
}

/* Omits control characters. Other bytes that form no character become U+FFFD. */
static void add_escaped(struct support_svg* svg, const char* text, size_t length)
{
    for (size_t i = 0; i < length; ++i) {
        const size_t size = character_size(text + i, length - i);
        switch (text[i]) {
        case '&':
            support_svg_raw(svg, "&amp;");
            break;
        case '<':
            support_svg_raw(svg, "&lt;");
            break;
        case '>':
            support_svg_raw(svg, "&gt;");
            break;
        case '"':
            support_svg_raw(svg, "&quot;");
            break;
        default:
            if (size != 0) {
                add_bytes(svg, text + i, size);
                i += size - 1;
            } else if ((unsigned char)text[i] >= 0x80) {
                add_bytes(svg, "\xEF\xBF\xBD", 3);
            }
            break;
        }
    }
}

void support_svg_begin(struct support_svg* svg, double width, double height, const char* background)
{
    *svg = (struct support_svg){0};
    support_svg_raw(svg,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                    "viewBox=\"0 0 %.0f %.0f\" font-family=\"Helvetica, Arial, 'DejaVu Sans', "
                    "sans-serif\">\n",
                    width, height, width, height);
    support_svg_rectangle(svg, 0, 0, width, height, background, NULL);
}

static struct support_svg_pair* find_pair(const struct support_svg* svg, const char* light)
{
    for (size_t i = 0; i < svg->pair_count; ++i) {
        if (strncmp(svg->pairs[i].light, light, sizeof(svg->pairs[i].light) - 1) == 0) {
            return &svg->pairs[i];
        }
    }
    return NULL;
}

void support_svg_darken(struct support_svg* svg, const char* light, const char* dark)
{
    if (svg->failed || find_pair(svg, light) != NULL) {
        return;
    }
    if (svg->pair_count == svg->pair_room) {
        const size_t room = svg->pair_room == 0 ? 32 : 2 * svg->pair_room;
        struct support_svg_pair* const pairs = realloc(svg->pairs, room * sizeof(*pairs));
        if (pairs == NULL) {
            svg->failed = true;
            return;
        }
        svg->pairs = pairs;
        svg->pair_room = room;
    }
    struct support_svg_pair* const pair = &svg->pairs[svg->pair_count++];
    snprintf(pair->light, sizeof(pair->light), "%s", light);
    snprintf(pair->dark, sizeof(pair->dark), "%s", dark);
}

void support_svg_rectangle(struct support_svg* svg, double x, double y, double width, double height,
                           const char* fill, const char* title)
{
    support_svg_raw(svg, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"",
                    x, y, width, height, fill);
    if (title == NULL) {
        support_svg_raw(svg, "/>\n");
        return;
    }
    support_svg_raw(svg, "><title>");
    add_escaped(svg, title, strlen(title));
    support_svg_raw(svg, "</title></rect>\n");
}

void support_svg_frame(struct support_svg* svg, double x, double y, double width, double height,
                       const char* stroke, double thickness)
{
    support_svg_raw(svg,
                    "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"none\" "
                    "stroke=\"%s\" stroke-width=\"%.2f\"/>\n",
                    x, y, width, height, stroke, thickness);
}

/* The widths of DejaVu Sans, the widest of the usual fonts, in parts of the font's size. */
static double width_of(char character)
{
    if (strchr("ijl.,:;'|!", character) != NULL) {
        return 0.34;
    }
    if (strchr(" ()ft/r-", character) != NULL) {
        return 0.41;
    }
    if (strchr("mwMW%@", character) != NULL) {
        return 0.98;
    }
    if (character >= 'A' && character <= 'Z') {
        return 0.75;
    }
    return 0.64;
}

double support_svg_text_width(const char* text, double size, bool bold)
{
    double width = 0.0;
    for (const char* at = text; *at != '\0'; ++at) {
        width += width_of(*at);
    }
    return width * size * (bold ? 1.12 : 1.0);
}

void support_svg_text(struct support_svg* svg, const struct support_svg_text* style,
                      const char* text)
{
    size_t length = strlen(text);
    const char* ellipsis = "";
    if (style->max_width > 0.0 &&
        support_svg_text_width(text, style->size, style->bold) > style->max_width) {
        const double weight = style->bold ? 1.12 : 1.0;
        double width = style->size; /* the ellipsis */
        length = 0;
        while (text[length] != '\0' &&
               width + width_of(text[length]) * style->size * weight <= style->max_width) {
            width += width_of(text[length]) * style->size * weight;
            ++length;
        }
        while (length != 0 && ((unsigned char)text[length] & 0xC0u) == 0x80) {
            --length; /* never inside a character */
        }
        if (length == 0) {
            return;
        }
        ellipsis = "\xE2\x80\xA6";
    }
    support_svg_raw(svg, "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%.1f\" fill=\"%s\"", style->x,
                    style->y, style->size, style->fill);
    if (style->anchor != NULL && strcmp(style->anchor, "start") != 0) {
        support_svg_raw(svg, " text-anchor=\"%s\"", style->anchor);
    }
    support_svg_raw(svg, style->bold ? " font-weight=\"bold\">" : ">");
    add_escaped(svg, text, length);
    support_svg_raw(svg, "%s</text>\n", ellipsis);
}

/* Replaces the colours of light surroundings. A text holds no quote, so that only attributes
 * match. */
static void paint_dark(struct support_svg* svg)
{
    char* at = svg->failed ? NULL : svg->text;
    while (at != NULL && (at = strstr(at, "=\"#")) != NULL) {
        at += 2;
        const struct support_svg_pair* const pair =
            strcspn(at, "\"") == sizeof(pair->light) - 1 ? find_pair(svg, at) : NULL;
        if (pair != NULL) {
            memcpy(at, pair->dark, sizeof(pair->dark) - 1);
        }
    }
}

/* Adds rules, which have precedence over attributes, for viewers in dark surroundings. A viewer
 * without CSS shows the colours of light ones. */
static void add_dark_rules(struct support_svg* svg)
{
    support_svg_raw(svg, "<style>@media (prefers-color-scheme: dark) {\n");
    for (size_t i = 0; i < svg->pair_count; ++i) {
        const struct support_svg_pair* const pair = &svg->pairs[i];
        support_svg_raw(svg, "[fill=\"%s\"] { fill: %s } [stroke=\"%s\"] { stroke: %s }\n",
                        pair->light, pair->dark, pair->light, pair->dark);
    }
    support_svg_raw(svg, "}</style>\n");
}

bool support_svg_finish(struct support_svg* svg, const char* path, struct support_error* error)
{
    if (svg->theme == SUPPORT_SVG_THEME_DARK) {
        paint_dark(svg);
    } else if (svg->theme == SUPPORT_SVG_THEME_AUTO && svg->pair_count != 0) {
        add_dark_rules(svg);
    }
    support_svg_raw(svg, "</svg>\n");
    bool good = !svg->failed;
    if (good) {
        good = support_write_file(path, svg->text, svg->size, error);
    } else {
        support_error_set(error, path, 0, "out of memory");
    }
    free(svg->text);
    free(svg->pairs);
    *svg = (struct support_svg){0};
    return good;
}
