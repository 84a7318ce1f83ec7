/*
 * Rows of maar-trace/2; see trace_text.h.
 */
#include "trace_text.h"

#include <stdlib.h>
#include <string.h>

/* Longer names are cut off, so that a line stays short. */
enum { TEXT_MOST_NAME = 1024, TEXT_MOST_ROW = 16 * 24 + TRACE_TEXT_NOTE + 3 * TEXT_MOST_NAME + 64 };

static const char text_header[] = "op,id,kind,size,alignment,types,stream,time_ns,usage,note,"
                                  "device,object,offset,flags,value,name\n";

/* Makes room. Returns NULL when out of memory. */
static char* text_room(struct trace_text* text, size_t room)
{
    if (text->failed) {
        return NULL;
    }
    if (text->size + room > text->capacity) {
        const size_t larger = text->capacity * 2 + room;
        char* const grown = realloc(text->data, larger);
        if (grown == NULL) {
            text->failed = true;
            return NULL;
        }
        text->data = grown;
        text->capacity = larger;
    }
    return text->data + text->size;
}

void trace_text_begin(struct trace_text* text)
{
    char* const at = text_room(text, sizeof text_header);
    if (at != NULL) {
        memcpy(at, text_header, sizeof text_header);
        text->size += sizeof text_header - 1;
    }
}

void trace_text_clear(struct trace_text_row* row, const char* op, uint32_t stream, uint64_t time_ns)
{
    row->op = op;
    row->kind = NULL;
    row->name = NULL;
    row->note[0] = 0;
    row->id = row->size = row->alignment = row->device = row->object = TRACE_TEXT_EMPTY;
    row->offset = row->value = TRACE_TEXT_EMPTY;
    row->types = row->usage = row->flags = TRACE_TEXT_EMPTY;
    row->time_ns = time_ns;
    row->stream = stream;
}

static char* text_put(char* at, const char* word)
{
    const size_t size = strlen(word);
    memcpy(at, word, size);
    return at + size;
}

static char* text_number(char* at, uint64_t value, unsigned base)
{
    char digits[24];
    size_t count = 0;
    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    while (count > 0) {
        *at++ = digits[--count];
    }
    return at;
}

static char* text_decimal(char* at, uint64_t value)
{
    *at++ = ',';
    return value != TRACE_TEXT_EMPTY ? text_number(at, value, 10) : at;
}

static char* text_hex(char* at, uint64_t value)
{
    *at++ = ',';
    return value != TRACE_TEXT_EMPTY ? text_number(text_put(at, "0x"), value, 16) : at;
}

/* Writes a name; what would end the column, or the line, as %XX. */
static char* text_name(char* at, const char* name)
{
    size_t size = strlen(name);
    if (size > TEXT_MOST_NAME) {
        size = TEXT_MOST_NAME;
        while (size > 0 && ((unsigned char)name[size] & 0xC0) == 0x80) {
            --size; /* not inside a character */
        }
    }
    for (size_t i = 0; i < size; ++i) {
        const unsigned char c = (unsigned char)name[i];
        if (c < 0x20 || c == ',' || c == '%' || c == 0x7F) {
            *at++ = '%';
            *at++ = "0123456789ABCDEF"[c >> 4];
            *at++ = "0123456789ABCDEF"[c & 15];
        } else {
            *at++ = (char)c;
        }
    }
    return at;
}

void trace_text_add(struct trace_text* text, const struct trace_text_row* row)
{
    char* at = text_room(text, TEXT_MOST_ROW);
    if (at == NULL) {
        return;
    }
    at = text_decimal(text_put(at, row->op), row->id);
    *at++ = ',';
    at = row->kind != NULL ? text_put(at, row->kind) : at;
    at = text_decimal(at, row->size);
    at = text_decimal(at, row->alignment);
    at = text_hex(at, row->types);
    at = text_decimal(at, row->stream);
    at = text_decimal(at, row->time_ns);
    at = text_hex(at, row->usage);
    *at++ = ',';
    at = text_put(at, row->note);
    at = text_decimal(at, row->device);
    at = text_decimal(at, row->object);
    at = text_decimal(at, row->offset);
    at = text_hex(at, row->flags);
    at = text_decimal(at, row->value);
    *at++ = ',';
    at = row->name != NULL ? text_name(at, row->name) : at;
    *at++ = '\n';
    text->size = (size_t)(at - text->data);
}
