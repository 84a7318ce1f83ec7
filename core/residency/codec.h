/*
 * Lossless packing of one copy of an object's bytes, for the compressed tier and for files.
 *
 * Bytes are packed in chunks of 64 KiB. A chunk that repeats one word of 8 bytes keeps that word
 * alone. Other chunks are sampled: what promises nothing is kept as it is, and the rest goes to a
 * compressor, as it is or divided into byte planes (codec_planes.h). If the samples of all chunks
 * together promise too little, nothing is packed at all. A codec without a compressor packs
 * repetitions alone.
 *
 * Functions are thread-safe as long as each thread has its own scratch memory.
 */
#ifndef MAAR_CORE_RESIDENCY_CODEC_H
#define MAAR_CORE_RESIDENCY_CODEC_H

#include "maar/stores.h"

#include <stdbool.h>

enum {
    MAAR_CODEC_CHUNK = 65536,
    /* Packed bytes are fewer than the bytes by one of so many parts, or they are refused: what
     * shrinks less is not worth the time that it takes to unpack. */
    MAAR_CODEC_LEAST_PART = 16
};

struct maar_codec {
    MaarCompressor compressor; /* its functions are NULL if there is none */
    uint32_t name_hash;
};

/* Initializes a codec. compressor may be NULL. Returns false if the table lacks a function or a
 * name. */
bool maar_codec_init(struct maar_codec* codec, const MaarCompressor* compressor);

/* Returns the bytes of scratch memory that one call needs, aligned to 16. */
size_t maar_codec_scratch_size(const struct maar_codec* codec);

/* Returns the most bytes that packing produces. It is below size, except that it is 0 for less than
 * 64 bytes, which are not packed. */
size_t maar_codec_bound(size_t size);

/* Packs bytes. Returns the size of the packed bytes, or 0 if they would not fit into capacity, and
 * always if the bytes do not shrink enough. No capacity above the bound is used. */
size_t maar_codec_pack(const struct maar_codec* codec, void* scratch, const void* bytes,
                       size_t size, void* packed, size_t capacity);

/* Unpacks bytes. Returns false if the packed bytes are not those of `size` bytes, or of another
 * compressor; the bytes are undefined then. Never reads or writes outside of what it is given, and
 * may be given anything. A checksum (store.h) notices packed bytes that were altered and still make
 * sense. */
bool maar_codec_unpack(const struct maar_codec* codec, void* scratch, const void* packed,
                       size_t packed_size, void* bytes, size_t size);

#endif
