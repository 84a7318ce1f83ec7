/*
 * Files block by block; see source.h.
 */
#include "support/source.h"
#include "support/gzip.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    SOURCE_BLOCK = 65536,
    /* windowBits of inflateInit2: the largest window, and a gzip header is required. */
    SOURCE_WINDOW = 15 + 16,
};

struct support_source {
    FILE* file;
    const char* path;
    struct support_source_limits limits;
    uint64_t total; /* bytes of text so far */
    unsigned char block[SOURCE_BLOCK];
    size_t used, filled; /* bytes of the block: read by the caller, and in all */
    bool at_end;         /* the block is the last one */
    bool is_gzip;
    bool in_member; /* a member has begun and not ended */
    z_stream stream;
};

static bool fill_block(struct support_source* source, struct support_error* error)
{
    if (source->used < source->filled || source->at_end) {
        return true;
    }
    source->used = 0;
    source->filled = fread(source->block, 1, SOURCE_BLOCK, source->file);
    source->at_end = source->filled < SOURCE_BLOCK;
    if (ferror(source->file) != 0) {
        support_error_set(error, source->path, 0, "cannot be read: %s", strerror(errno));
        return false;
    }
    return true;
}

struct support_source* support_source_open(const char* path,
                                           const struct support_source_limits* limits,
                                           struct support_error* error)
{
    struct support_source* const source = calloc(1, sizeof(*source));
    if (source == NULL) {
        support_error_set(error, path, 0, "out of memory");
        return NULL;
    }
    source->path = path;
    source->limits = *limits;
    source->file = fopen(path, "rb");
    if (source->file == NULL) {
        support_error_set(error, path, 0, "%s", strerror(errno));
        free(source);
        return NULL;
    }
    if (!fill_block(source, error)) {
        support_source_close(source);
        return NULL;
    }
    if (support_is_gzip(source->block, source->filled)) {
        if (inflateInit2(&source->stream, SOURCE_WINDOW) != Z_OK) {
            support_error_set(error, path, 0, "zlib cannot be initialised");
            support_source_close(source);
            return NULL;
        }
        source->is_gzip = true;
        source->in_member = true;
    }
    return source;
}

/* Expands some bytes of the block. Sets *ended at the end of the stream. Returns NULL, or a text
 * about the error. */
static const char* expand(struct support_source* source, char* out, size_t room, size_t* got,
                          bool* ended)
{
    z_stream* const stream = &source->stream;
    const bool no_input = source->used == source->filled && source->at_end;
    if (!source->in_member) {
        *ended = no_input;
        if (no_input) {
            return NULL;
        }
        if (inflateReset(stream) != Z_OK) {
            return "zlib cannot continue";
        }
        source->in_member = true;
    }
    stream->next_in = source->block + source->used;
    stream->avail_in = (uInt)(source->filled - source->used);
    stream->next_out = (unsigned char*)out;
    stream->avail_out = room < UINT_MAX ? (uInt)room : UINT_MAX;
    const uInt offered = stream->avail_out;
    const int status = inflate(stream, Z_NO_FLUSH);
    *got = offered - stream->avail_out;
    source->used = source->filled - stream->avail_in;
    source->in_member = status != Z_STREAM_END;
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
        return stream->msg != NULL ? stream->msg : "the gzip stream is damaged";
    }
    return source->in_member && no_input && *got == 0 ? "the gzip stream is truncated" : NULL;
}

static bool read_expanded(struct support_source* source, char* out, size_t room, size_t* got,
                          struct support_error* error)
{
    bool ended = false;
    while (*got == 0 && !ended) {
        if (!fill_block(source, error)) {
            return false;
        }
        const char* const wrong = expand(source, out, room, got, &ended);
        if (wrong != NULL) {
            support_error_set(error, source->path, 0, "%s", wrong);
            return false;
        }
    }
    return true;
}

bool support_source_read(struct support_source* source, char* out, size_t room, size_t* got,
                         struct support_error* error)
{
    const uint64_t most = source->is_gzip ? source->limits.expanded : source->limits.plain;
    *got = 0;
    if (source->is_gzip) {
        if (!read_expanded(source, out, room, got, error)) {
            return false;
        }
    } else {
        if (!fill_block(source, error)) {
            return false;
        }
        const size_t left = source->filled - source->used;
        *got = left < room ? left : room;
        memcpy(out, source->block + source->used, *got);
        source->used += *got;
    }
    source->total += *got;
    if (most != 0 && source->total > most) {
        support_error_set(error, source->path, 0,
                          source->is_gzip ? "expands to more than %" PRIu64
                                            " bytes; expand it first, and give the plain file"
                                          : "larger than %" PRIu64 " bytes",
                          most);
        return false;
    }
    return true;
}

void support_source_close(struct support_source* source)
{
    if (source == NULL) {
        return;
    }
    if (source->is_gzip) {
        (void)inflateEnd(&source->stream);
    }
    if (source->file != NULL) {
        (void)fclose(source->file);
    }
    free(source);
}
