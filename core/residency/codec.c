/*
 * Packing and unpacking: see codec.h.
 *
 * Packed bytes are a head of 8 bytes, and for each chunk a word (kind in the low 8 bits, bytes of
 * contents in the others) and the contents. A chunk in a form has for each plane a word (its size
 * here) and its bytes: as they are if the size is the plane's, one byte that fills the plane if the
 * size is 1, else compressed. Behind the planes of a form with several stand the last bytes that
 * fill no word of 4. Words are in the byte order of the machine.
 */
#include "core/residency/codec.h"

#include "core/bits.h"
#include "core/check.h"
#include "core/residency/codec_planes.h"

#include <string.h>

enum chunk_kind {
    /* 0 .. MAAR_CODEC_FORMS - 1: a form */
    CHUNK_ZERO = 16,
    CHUNK_REPEATED = 17, /* a word of 8 bytes, again and again */
    CHUNK_RAW = 18,
    /* A bit beside a form or CHUNK_RAW, for a whole chunk: its contents begin with a word whose
     * bits are the pages that are zero and left out. */
    CHUNK_PAGED = 128
};

enum {
    HEAD_SIZE = 8,
    WORD_SIZE = 4,
    REPEATED_SIZE = 8,
    LEAST_SIZE = 64,
    ZERO_PAGE = 4096,
    ZERO_PAGES = MAAR_CODEC_CHUNK / ZERO_PAGE,
    SCRATCH_ALIGNMENT = 16
};

#define PACKED_MAGIC 0x314B504Du /* MPK1 */

/* ---- codecs and scratch memory ---- */

bool maar_codec_init(struct maar_codec* codec, const MaarCompressor* compressor)
{
    *codec = (struct maar_codec){.name_hash = 0};
    if (compressor == NULL) {
        return true;
    }
    if (compressor->pfnCompress == NULL || compressor->pfnDecompress == NULL ||
        compressor->pName == NULL) {
        return false;
    }
    codec->compressor = *compressor;
    codec->name_hash = 0x811C9DC5u; /* FNV-1a */
    for (const char* at = compressor->pName; *at != '\0'; ++at) {
        codec->name_hash = (codec->name_hash ^ (uint8_t)*at) * 0x01000193u;
    }
    return true;
}

static uint8_t* scratch_planes(void* scratch)
{
    return (uint8_t*)scratch + maar_align_up(MAAR_CODEC_COUNTS_SIZE, SCRATCH_ALIGNMENT);
}

/* Memory for a chunk without its pages of zeros. */
static uint8_t* scratch_chunk(void* scratch)
{
    return scratch_planes(scratch) + MAAR_CODEC_CHUNK;
}

static void* scratch_workspace(const struct maar_codec* codec, void* scratch)
{
    return codec->compressor.workspaceSize == 0 ? NULL : scratch_chunk(scratch) + MAAR_CODEC_CHUNK;
}

size_t maar_codec_scratch_size(const struct maar_codec* codec)
{
    return (size_t)maar_align_up(MAAR_CODEC_COUNTS_SIZE, SCRATCH_ALIGNMENT) +
           (size_t)2 * MAAR_CODEC_CHUNK + codec->compressor.workspaceSize;
}

size_t maar_codec_bound(size_t size)
{
    return size < LEAST_SIZE ? 0 : size - size / MAAR_CODEC_LEAST_PART;
}

/* ---- packing ---- */

/* Where packed bytes go. */
struct sink {
    uint8_t* at;
    size_t left;
};

static bool put_bytes(struct sink* sink, const void* bytes, size_t size)
{
    if (size > sink->left) {
        return false;
    }
    memcpy(sink->at, bytes, size);
    sink->at += size;
    sink->left -= size;
    return true;
}

static bool put_word(struct sink* sink, uint32_t word)
{
    return put_bytes(sink, &word, sizeof word);
}

/* Whether bytes repeat after a period. */
static bool is_filled(const uint8_t* bytes, uint32_t size, uint32_t period)
{
    return memcmp(bytes, bytes + period, size - period) == 0;
}

/* A chunk, or what is left of it. */
struct codec_part {
    const uint8_t* bytes;
    uint32_t size;
    uint32_t zero_pages; /* that are left out */
    bool is_repeated;    /* one word of 8 bytes, again and again */
};

/* Leaves out the pages of zeros of a whole chunk that has some, and not all. */
static struct codec_part without_zeros(void* scratch, const uint8_t* bytes)
{
    struct codec_part part = {.bytes = bytes};
    for (uint32_t i = 0; i < ZERO_PAGES; ++i) {
        const uint8_t* page = bytes + (size_t)i * ZERO_PAGE;
        if (page[0] == 0 && is_filled(page, ZERO_PAGE, 1)) {
            part.zero_pages |= 1u << i;
        }
    }
    if (part.zero_pages == 0) {
        part.size = MAAR_CODEC_CHUNK;
        return part;
    }
    part.bytes = scratch_chunk(scratch);
    for (uint32_t i = 0; i < ZERO_PAGES; ++i) {
        if ((part.zero_pages >> i & 1) == 0) {
            memcpy(scratch_chunk(scratch) + part.size, bytes + (size_t)i * ZERO_PAGE, ZERO_PAGE);
            part.size += ZERO_PAGE;
        }
    }
    return part;
}

/* Returns the chunk that begins at an offset. */
static struct codec_part part_at(void* scratch, const uint8_t* bytes, size_t size, size_t at)
{
    struct codec_part part = {.bytes = bytes + at, .size = MAAR_CODEC_CHUNK};
    part.size = size - at < MAAR_CODEC_CHUNK ? (uint32_t)(size - at) : part.size;
    part.is_repeated =
        part.size >= REPEATED_SIZE && is_filled(part.bytes, part.size, REPEATED_SIZE);
    return part.is_repeated || part.size != MAAR_CODEC_CHUNK ? part
                                                             : without_zeros(scratch, part.bytes);
}

/* Returns what a chunk will need. */
static struct maar_codec_guess guess_of(const struct maar_codec* codec, void* scratch,
                                        const struct codec_part* part)
{
    return codec->compressor.pfnCompress != NULL
               ? maar_codec_sample(scratch, part->bytes, part->size)
               : (struct maar_codec_guess){.size = part->size, .raw_planes = 1};
}

static bool is_raw(const struct maar_codec_guess* guess)
{
    return guess->raw_planes + 1 == 1u << maar_codec_plane_count(guess->form);
}

/* Whether the samples of all chunks together promise that the packed bytes fit. */
static bool promises_enough(const struct maar_codec* codec, void* scratch, const uint8_t* bytes,
                            size_t size, size_t capacity)
{
    size_t promised = HEAD_SIZE;
    for (size_t at = 0; at < size; at += MAAR_CODEC_CHUNK) {
        const struct codec_part part = part_at(scratch, bytes, size, at);
        promised += WORD_SIZE;
        promised += part.is_repeated ? REPEATED_SIZE : guess_of(codec, scratch, &part).size;
    }
    return promised <= capacity;
}

/* What a plane is, and whether it is compressed. */
enum plane_way { PLANE_RAW, PLANE_AS_IS, PLANE_DIVIDED };

/* Compresses a plane. Returns 0 if it does not fit into the room, or does not shrink. */
static size_t compress_plane(const struct maar_codec* codec, void* scratch, const uint8_t* plane,
                             uint32_t size, bool is_divided, uint8_t* target, size_t room)
{
    const MaarCompressor* table = &codec->compressor;
    const size_t capacity = room < size - 1 ? room : size - 1;
    /* Bytes as they are repeat at distances that a sample misses. */
    const bool by_frequency = is_divided && !maar_codec_repeats(scratch, plane, size);
    const MaarCompressFlags flags =
        by_frequency ? (MaarCompressFlags)MAAR_COMPRESS_FREQUENCIES_BIT : 0;
    const size_t compressed = table->pfnCompress(
        table->pUserData, scratch_workspace(codec, scratch), flags, size, plane, capacity, target);
    return compressed >= 2 && compressed <= capacity ? compressed : 0;
}

static bool put_plane(const struct maar_codec* codec, void* scratch, struct sink* sink,
                      const uint8_t* plane, uint32_t size, enum plane_way way)
{
    if (sink->left < WORD_SIZE) {
        return false;
    }
    if (is_filled(plane, size, 1)) {
        return put_word(sink, 1) && put_bytes(sink, plane, 1);
    }
    const size_t room = sink->left - WORD_SIZE;
    const size_t compressed =
        way == PLANE_RAW ? 0
                         : compress_plane(codec, scratch, plane, size, way == PLANE_DIVIDED,
                                          sink->at + WORD_SIZE, room);
    if (compressed == 0) {
        return put_word(sink, size) && put_bytes(sink, plane, size);
    }
    (void)put_word(sink, (uint32_t)compressed);
    sink->at += compressed;
    sink->left -= compressed;
    return true;
}

/* Puts the planes of a form. Returns false if they do not fit. */
static bool put_form(const struct maar_codec* codec, void* scratch, struct sink* sink,
                     const struct maar_codec_guess* guess, const struct codec_part* part)
{
    const uint32_t count = maar_codec_plane_count(guess->form);
    const uint32_t tail = count == 1 ? 0 : part->size % 4;
    const uint32_t plane_size = (part->size - tail) / count;
    const uint8_t* planes = part->bytes;
    if (count != 1) {
        planes = scratch_planes(scratch);
        maar_codec_divide(guess->form, part->bytes, part->size - tail, scratch_planes(scratch));
    }
    for (uint32_t k = 0; k < count; ++k) {
        const enum plane_way way = (guess->raw_planes >> k & 1) != 0 ? PLANE_RAW
                                   : count == 1                      ? PLANE_AS_IS
                                                                     : PLANE_DIVIDED;
        if (!put_plane(codec, scratch, sink, planes + (size_t)k * plane_size, plane_size, way)) {
            return false;
        }
    }
    return put_bytes(sink, part->bytes + part->size - tail, tail);
}

/* Puts a chunk in the form that promises most, or as it is. */
static bool put_part(const struct maar_codec* codec, void* scratch, struct sink* sink,
                     const struct codec_part* part)
{
    const struct maar_codec_guess guess = guess_of(codec, scratch, part);
    const uint32_t paged = part->zero_pages != 0 ? CHUNK_PAGED : 0;
    uint8_t* const start = sink->at;
    uint32_t kind = CHUNK_RAW;
    if (!put_word(sink, 0) || (paged != 0 && !put_word(sink, part->zero_pages))) {
        return false;
    }
    const struct sink before = *sink;
    if (!is_raw(&guess) && put_form(codec, scratch, sink, &guess, part) &&
        before.left - sink->left < part->size) {
        kind = guess.form;
    } else {
        *sink = before;
        if (!put_bytes(sink, part->bytes, part->size)) {
            return false;
        }
    }
    const uint32_t word = kind | paged | (uint32_t)(sink->at - start - WORD_SIZE) << 8;
    memcpy(start, &word, sizeof word);
    return true;
}

static bool put_repeated(struct sink* sink, const uint8_t* bytes)
{
    static const uint8_t zero[REPEATED_SIZE] = {0};
    if (memcmp(bytes, zero, REPEATED_SIZE) == 0) {
        return put_word(sink, CHUNK_ZERO);
    }
    return put_word(sink, CHUNK_REPEATED | (uint32_t)REPEATED_SIZE << 8) &&
           put_bytes(sink, bytes, REPEATED_SIZE);
}

size_t maar_codec_pack(const struct maar_codec* codec, void* scratch, const void* bytes,
                       size_t size, void* packed, size_t capacity)
{
    const size_t bound = maar_codec_bound(size);
    capacity = capacity < bound ? capacity : bound;
    if (!promises_enough(codec, scratch, bytes, size, capacity)) {
        return 0;
    }
    struct sink sink = {.at = packed, .left = capacity};
    if (!put_word(&sink, PACKED_MAGIC) || !put_word(&sink, codec->name_hash)) {
        return 0;
    }
    for (size_t at = 0; at < size; at += MAAR_CODEC_CHUNK) {
        const struct codec_part part = part_at(scratch, bytes, size, at);
        if (!(part.is_repeated ? put_repeated(&sink, part.bytes)
                               : put_part(codec, scratch, &sink, &part))) {
            return 0;
        }
    }
    return capacity - sink.left;
}

/* ---- unpacking ---- */

/* Where packed bytes come from. */
struct origin {
    const uint8_t* at;
    size_t left;
};

/* Takes bytes. Returns NULL if there are not so many. */
static const uint8_t* take(struct origin* origin, size_t size)
{
    const uint8_t* taken = origin->at;
    if (size > origin->left) {
        return NULL;
    }
    origin->at += size;
    origin->left -= size;
    return taken;
}

static bool take_word(struct origin* origin, uint32_t* word)
{
    const uint8_t* taken = take(origin, WORD_SIZE);
    if (taken == NULL) {
        return false;
    }
    memcpy(word, taken, sizeof *word);
    return true;
}

static bool unpack_plane(const struct maar_codec* codec, void* scratch, struct origin* origin,
                         uint8_t* plane, uint32_t size)
{
    uint32_t packed_size = 0;
    if (!take_word(origin, &packed_size) || packed_size > size) {
        return false;
    }
    const uint8_t* taken = take(origin, packed_size);
    if (taken == NULL || packed_size == 0) {
        return false;
    }
    if (packed_size == size) {
        memcpy(plane, taken, size);
        return true;
    }
    if (packed_size == 1) {
        memset(plane, *taken, size);
        return true;
    }
    return codec->compressor.pfnDecompress != NULL &&
           codec->compressor.pfnDecompress(codec->compressor.pUserData,
                                           scratch_workspace(codec, scratch), packed_size, taken,
                                           size, plane) != VK_FALSE;
}

static bool unpack_form(const struct maar_codec* codec, void* scratch, struct origin* origin,
                        enum maar_codec_form form, uint8_t* bytes, uint32_t size)
{
    const uint32_t count = maar_codec_plane_count(form);
    const uint32_t tail = count == 1 ? 0 : size % 4;
    const uint32_t plane_size = (size - tail) / count;
    uint8_t* planes = count == 1 ? bytes : scratch_planes(scratch);
    for (uint32_t k = 0; plane_size != 0 && k < count; ++k) {
        if (!unpack_plane(codec, scratch, origin, planes + (size_t)k * plane_size, plane_size)) {
            return false;
        }
    }
    const uint8_t* rest = take(origin, tail);
    if (plane_size == 0 || rest == NULL) {
        return false;
    }
    if (count != 1) {
        maar_codec_join(form, planes, size - tail, bytes);
        memcpy(bytes + size - tail, rest, tail);
    }
    return true;
}

/* Unpacks the contents of a chunk. */
static bool unpack_contents(const struct maar_codec* codec, void* scratch, struct origin* origin,
                            uint32_t kind, uint8_t* bytes, uint32_t size)
{
    if (kind < MAAR_CODEC_FORMS) {
        return unpack_form(codec, scratch, origin, (enum maar_codec_form)kind, bytes, size);
    }
    if (kind == CHUNK_ZERO) {
        memset(bytes, 0, size);
        return true;
    }
    if (kind == CHUNK_REPEATED) {
        const uint8_t* word = take(origin, REPEATED_SIZE);
        for (uint32_t at = 0; word != NULL && at < size; at += REPEATED_SIZE) {
            memcpy(bytes + at, word, size - at < REPEATED_SIZE ? size - at : REPEATED_SIZE);
        }
        return word != NULL;
    }
    const uint8_t* raw = kind == CHUNK_RAW ? take(origin, size) : NULL;
    if (raw != NULL) {
        memcpy(bytes, raw, size);
    }
    return raw != NULL;
}

/* Moves the pages of a chunk from its beginning to their places, and fills the others with zeros.
 */
static void spread_pages(uint8_t* bytes, uint32_t zero_pages, uint32_t left)
{
    for (uint32_t i = ZERO_PAGES; i-- != 0;) {
        if ((zero_pages >> i & 1) == 0) {
            left -= ZERO_PAGE;
            memmove(bytes + (size_t)i * ZERO_PAGE, bytes + left, ZERO_PAGE);
        } else {
            /* What lies here has moved to a later page. */
            memset(bytes + (size_t)i * ZERO_PAGE, 0, ZERO_PAGE);
        }
    }
}

/* Unpacks a chunk with pages of zeros. */
static bool unpack_paged(const struct maar_codec* codec, void* scratch, struct origin* origin,
                         uint32_t kind, uint8_t* bytes, uint32_t size)
{
    uint32_t zero_pages = 0;
    uint32_t left = MAAR_CODEC_CHUNK;
    if (size != MAAR_CODEC_CHUNK || kind == CHUNK_ZERO || kind == CHUNK_REPEATED ||
        !take_word(origin, &zero_pages) || zero_pages >= (1u << ZERO_PAGES) - 1) {
        return false;
    }
    for (uint32_t i = 0; i < ZERO_PAGES; ++i) {
        left -= (zero_pages >> i & 1) != 0 ? ZERO_PAGE : 0;
    }
    if (!unpack_contents(codec, scratch, origin, kind, bytes, left)) {
        return false;
    }
    spread_pages(bytes, zero_pages, left);
    return true;
}

static bool unpack_chunk(const struct maar_codec* codec, void* scratch, struct origin* origin,
                         uint32_t kind, uint8_t* bytes, uint32_t size)
{
    return (kind & CHUNK_PAGED) != 0
               ? unpack_paged(codec, scratch, origin, kind & ~(uint32_t)CHUNK_PAGED, bytes, size)
               : unpack_contents(codec, scratch, origin, kind, bytes, size);
}

bool maar_codec_unpack(const struct maar_codec* codec, void* scratch, const void* packed,
                       size_t packed_size, void* bytes, size_t size)
{
    struct origin origin = {.at = packed, .left = packed_size};
    uint32_t word = 0;
    if (!take_word(&origin, &word) || word != PACKED_MAGIC || !take_word(&origin, &word) ||
        word != codec->name_hash) {
        return false;
    }
    for (size_t at = 0; at < size; at += MAAR_CODEC_CHUNK) {
        const uint32_t part =
            (uint32_t)(size - at < MAAR_CODEC_CHUNK ? size - at : MAAR_CODEC_CHUNK);
        if (!take_word(&origin, &word)) {
            return false;
        }
        struct origin contents = {.left = word >> 8};
        contents.at = take(&origin, contents.left);
        if (contents.at == NULL ||
            !unpack_chunk(codec, scratch, &contents, word & 0xFF, (uint8_t*)bytes + at, part) ||
            contents.left != 0) {
            return false;
        }
    }
    return origin.left == 0;
}
