/*
 * Writes messages in the wire format of Protocol Buffers into memory: numbers, bytes, and messages
 * within messages. Writes only. No globals; a writer is used by one thread at a time.
 */
#ifndef MAAR_SUPPORT_PROTOBUF_H
#define MAAR_SUPPORT_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message. Zero is an empty one. After a failed allocation nothing more is written, and `failed`
 * stays set. */
struct support_protobuf {
    uint8_t* data;
    size_t size, capacity;
    bool failed;
};

void support_protobuf_number(struct support_protobuf* message, uint32_t field, uint64_t value);
void support_protobuf_bytes(struct support_protobuf* message, uint32_t field, const void* data,
                            size_t size);
/* Writes a text. Bytes that are not UTF-8 become U+FFFD, since a reader may reject them. */
void support_protobuf_text(struct support_protobuf* message, uint32_t field, const char* text);
/* Writes a message as a field of another, and empties it. Its memory stays for the next one. */
void support_protobuf_message(struct support_protobuf* message, uint32_t field,
                              struct support_protobuf* inner);

void support_protobuf_release(struct support_protobuf* message);

#endif
