/*
 * The fields of a GGUF header; see gguf_reader.h.
 */
#include "gguf_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool gguf_fail(struct gguf_reader* reader, uint64_t at, const char* format, ...)
{
    if (!reader->failed) {
        char reason[384];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(reason, sizeof(reason), format, arguments);
        va_end(arguments);
        support_error_set(reader->error, reader->name, 0, "byte %" PRIu64 ": %s", at, reason);
        reader->failed = true;
    }
    return false;
}

bool gguf_read_bytes(struct gguf_reader* reader, void* out, size_t size)
{
    if (reader->failed) {
        return false;
    }
    if (size > GGUF_MAX_HEADER - reader->offset) {
        return gguf_fail(reader, reader->offset, "the header is longer than %" PRIu64 " bytes",
                         GGUF_MAX_HEADER);
    }
    size_t got = 0;
    if (reader->file != NULL) {
        got = fread(out, 1, size, reader->file);
        if (got < size && ferror(reader->file) != 0) {
            return gguf_fail(reader, reader->offset + got, "cannot be read: %s", strerror(errno));
        }
    } else {
        got = size < reader->size ? size : reader->size;
        if (got != 0) {
            memcpy(out, reader->data, got);
            reader->data += got;
            reader->size -= got;
        }
    }
    if (got < size) {
        return gguf_fail(reader, reader->offset + got, "the file ends within its header");
    }
    reader->offset += size;
    return true;
}

bool gguf_skip(struct gguf_reader* reader, uint64_t size)
{
    char skipped[1024];
    while (size != 0 && !reader->failed) {
        const size_t part = size < sizeof(skipped) ? (size_t)size : sizeof(skipped);
        gguf_read_bytes(reader, skipped, part);
        size -= part;
    }
    return !reader->failed;
}

uint64_t gguf_read_number(struct gguf_reader* reader, size_t size)
{
    unsigned char bytes[8] = {0};
    uint64_t number = 0;
    if (!gguf_read_bytes(reader, bytes, size)) {
        return 0;
    }
    for (size_t i = 0; i < size; ++i) {
        number = number << 8 | bytes[reader->big_endian ? i : size - 1 - i];
    }
    return number;
}

uint32_t gguf_read_u32(struct gguf_reader* reader)
{
    return (uint32_t)gguf_read_number(reader, 4);
}

uint64_t gguf_read_u64(struct gguf_reader* reader)
{
    return gguf_read_number(reader, 8);
}

char* gguf_read_string(struct gguf_reader* reader, uint64_t most, const char* what)
{
    const uint64_t at = reader->offset;
    const uint64_t length = gguf_read_u64(reader);
    if (reader->failed) {
        return NULL;
    }
    if (length == 0 || length > most) {
        gguf_fail(reader, at, "%s has %" PRIu64 " bytes; 1 to %" PRIu64 " are allowed", what,
                  length, most);
        return NULL;
    }
    char* const text = malloc((size_t)length + 1);
    if (text == NULL) {
        gguf_fail(reader, at, "out of memory");
        return NULL;
    }
    if (!gguf_read_bytes(reader, text, (size_t)length)) {
        free(text);
        return NULL;
    }
    text[length] = '\0';
    if (memchr(text, '\0', (size_t)length) != NULL) {
        gguf_fail(reader, at, "%s contains a zero byte", what);
        free(text);
        return NULL;
    }
    return text;
}
