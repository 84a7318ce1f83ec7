/*
 * Expands gzip data by zlib in one call.
 */
#include "support/gzip.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* windowBits of inflateInit2: the largest window, and a gzip header is required. */
enum { GZIP_WINDOW = 15 + 16 };

struct gzip_output {
    char* data;
    size_t size, capacity;
};

bool support_is_gzip(const void* data, size_t size)
{
    const unsigned char* bytes = data;
    return size >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
}

static bool gzip_grow(struct gzip_output* output, size_t hint)
{
    if (output->size + 1 < output->capacity) {
        return true;
    }
    const size_t larger = output->capacity == 0 ? hint + 1 : output->capacity * 2;
    char* grown = larger > output->capacity ? realloc(output->data, larger) : NULL;
    if (grown == NULL) {
        return false;
    }
    output->data = grown;
    output->capacity = larger;
    return true;
}

/* Expands one member. The stream then stands behind it. Returns NULL, or a text about the error. */
static const char* gzip_member(z_stream* stream, const unsigned char* end, size_t max_size,
                               struct gzip_output* output)
{
    const size_t hint = (size_t)(end - stream->next_in) * 4 + 1024;
    int status = Z_OK;
    while (status != Z_STREAM_END) {
        if (!gzip_grow(output, hint)) {
            return "out of memory for the expanded data";
        }
        const size_t left_in = (size_t)(end - stream->next_in);
        const size_t left_out = output->capacity - output->size - 1;
        stream->avail_in = left_in < UINT_MAX ? (uInt)left_in : UINT_MAX;
        stream->next_out = (unsigned char*)output->data + output->size;
        stream->avail_out = left_out < UINT_MAX ? (uInt)left_out : UINT_MAX;
        const uInt offered = stream->avail_out;
        status = inflate(stream, Z_NO_FLUSH);
        output->size += offered - stream->avail_out;
        if (max_size != 0 && output->size > max_size) {
            return "expands to more than the allowed size";
        }
        if (status == Z_BUF_ERROR && stream->next_in == end) {
            return "the gzip stream is truncated";
        }
        if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
            return stream->msg != NULL ? stream->msg : "the gzip stream is damaged";
        }
        if (status == Z_OK && stream->next_in == end && stream->avail_out != 0) {
            return "the gzip stream is truncated";
        }
    }
    return NULL;
}

bool support_gunzip(const char* name, const void* data, size_t size, size_t max_size, char** out,
                    size_t* out_size, struct support_error* error)
{
    *out = NULL;
    *out_size = 0;
    const unsigned char* const end = (const unsigned char*)data + size;
    struct gzip_output output = {0};
    z_stream stream;
    memset(&stream, 0, sizeof(stream));
    /* zlib's interface lacks a const here; inflate does not write to its input. */
    stream.next_in = (unsigned char*)(uintptr_t)data;
    if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK) {
        support_error_set(error, name, 0, "zlib cannot be initialised");
        return false;
    }
    const char* wrong = NULL;
    do {
        wrong = gzip_member(&stream, end, max_size, &output);
        if (wrong == NULL && inflateReset(&stream) != Z_OK) {
            wrong = "zlib cannot continue";
        }
    } while (wrong == NULL && stream.next_in != end);
    if (wrong != NULL) {
        support_error_set(error, name, 0, "%s", wrong);
    }
    inflateEnd(&stream);
    if (wrong != NULL) {
        free(output.data);
        return false;
    }
    output.data[output.size] = 0;
    *out = output.data;
    *out_size = output.size;
    return true;
}
