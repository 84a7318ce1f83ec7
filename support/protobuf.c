/*
 * The wire format of Protocol Buffers; see protobuf.h.
 */
#include "support/protobuf.h"
#include "support/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { WIRE_NUMBER = 0, WIRE_BYTES = 2, MOST_VARINT = 10 };

static bool make_room(struct support_protobuf* message, size_t size)
{
    if (message->failed) {
        return false;
    }
    if (message->capacity - message->size < size) {
        size_t larger = message->capacity < 128 ? 256 : message->capacity * 2;
        larger = larger < message->size + size ? message->size + size : larger;
        uint8_t* const grown = realloc(message->data, larger);
        if (grown == NULL) {
            message->failed = true;
            return false;
        }
        message->data = grown;
        message->capacity = larger;
    }
    return true;
}

static void put_varint(struct support_protobuf* message, uint64_t value)
{
    if (!make_room(message, MOST_VARINT)) {
        return;
    }
    while (value >= 0x80) {
        message->data[message->size++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    message->data[message->size++] = (uint8_t)value;
}

static void put_raw(struct support_protobuf* message, const void* data, size_t size)
{
    if (size > 0 && make_room(message, size)) {
        memcpy(message->data + message->size, data, size);
        message->size += size;
    }
}

void support_protobuf_number(struct support_protobuf* message, uint32_t field, uint64_t value)
{
    put_varint(message, (uint64_t)field << 3 | WIRE_NUMBER);
    put_varint(message, value);
}

void support_protobuf_bytes(struct support_protobuf* message, uint32_t field, const void* data,
                            size_t size)
{
    put_varint(message, (uint64_t)field << 3 | WIRE_BYTES);
    put_varint(message, size);
    put_raw(message, data, size);
}

void support_protobuf_text(struct support_protobuf* message, uint32_t field, const char* text)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    size_t size = 0;
    for (const char* at = text; *at != 0;) {
        const size_t length = support_utf8_length(at);
        size += length != 0 ? length : 3;
        at += length != 0 ? length : 1;
    }
    put_varint(message, (uint64_t)field << 3 | WIRE_BYTES);
    put_varint(message, size);
    for (const char* at = text; *at != 0;) {
        const size_t length = support_utf8_length(at);
        put_raw(message, length != 0 ? at : replacement, length != 0 ? length : 3);
        at += length != 0 ? length : 1;
    }
}

void support_protobuf_message(struct support_protobuf* message, uint32_t field,
                              struct support_protobuf* inner)
{
    message->failed = message->failed || inner->failed;
    support_protobuf_bytes(message, field, inner->data, inner->size);
    inner->size = 0;
}

void support_protobuf_release(struct support_protobuf* message)
{
    free(message->data);
    memset(message, 0, sizeof *message);
}
