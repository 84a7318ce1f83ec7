/*
 * Packing, driven by bytes: contents put together from runs come back, and bytes of the fuzzer's,
 * behind a right head or not, are unpacked without harm.
 */
#include "core/residency/codec.h"
#include "tests/fuzz/fuzz_input.h"

enum { CODEC_MOST = 3 * MAAR_CODEC_CHUNK, CODEC_WAYS = 3 };

struct codec_world {
    struct maar_codec codec;
    void* scratch;
};

/* Opens a codec without a compressor, with LZ4 or with zstd. Both are optional. */
static struct codec_world open_world(uint32_t way)
{
    MaarCompressor compressor = {.sType = MAAR_STRUCTURE_TYPE_COMPRESSOR};
    struct codec_world world;
    const MaarCompression compression = way == 1 ? MAAR_COMPRESSION_LZ4 : MAAR_COMPRESSION_ZSTD;
    const bool has_one = way != 0 && maarGetCompressor(compression, &compressor) == VK_SUCCESS;
    fuzz_require(maar_codec_init(&world.codec, has_one ? &compressor : NULL));
    world.scratch = malloc(maar_codec_scratch_size(&world.codec));
    fuzz_require(world.scratch != NULL);
    return world;
}

/* Puts a run at an offset: one byte, a word, a copy of what is there, or pseudo-random bytes.
 * Returns its size. */
static size_t put_run(struct fuzz_input* input, uint8_t* bytes, size_t at, size_t size)
{
    const uint8_t way = fuzz_byte(input);
    size_t run = (size_t)fuzz_scaled(input, 17);
    run = run < size - at ? run : size - at;
    uint64_t word = fuzz_scaled(input, 32);
    for (size_t i = 0; i < run; ++i) {
        switch (way % 5) {
        case 0:
            bytes[at + i] = 0;
            break;
        case 1:
            bytes[at + i] = (uint8_t)(word >> i % 4 * 8);
            break;
        case 2:
            bytes[at + i] = at + i > word % 5000 ? bytes[at + i - word % 5000 - 1] : 1;
            break;
        case 3:
            word = word * 6364136223846793005u + 1442695040888963407u;
            bytes[at + i] = (uint8_t)(word >> 56);
            break;
        default: /* numbers whose upper bytes hardly change */
            word = word * 6364136223846793005u + 1442695040888963407u;
            bytes[at + i] = (uint8_t)(i % (2u << way / 5 % 2) == 1 ? word >> 61 : word >> 56);
            break;
        }
    }
    return run;
}

static void pack_runs(struct fuzz_input* input, const struct codec_world* world)
{
    size_t size = (size_t)fuzz_scaled(input, 18);
    size = size < CODEC_MOST ? size : CODEC_MOST;
    const size_t bound = maar_codec_bound(size);
    uint8_t* bytes = calloc(1, size + 1);
    uint8_t* packed = malloc(bound + 1);
    fuzz_require(bytes != NULL && packed != NULL && bound <= size);
    for (size_t at = 0; at < size && !fuzz_is_dry(input);) {
        at += put_run(input, bytes, at, size);
    }
    const size_t got = maar_codec_pack(&world->codec, world->scratch, bytes, size, packed, bound);
    fuzz_require(got <= bound);
    if (got != 0) {
        uint8_t* exact = malloc(got);
        uint8_t* back = malloc(size);
        fuzz_require(exact != NULL && back != NULL);
        memcpy(exact, packed, got);
        fuzz_require(maar_codec_unpack(&world->codec, world->scratch, exact, got, back, size));
        fuzz_require(memcmp(back, bytes, size) == 0);
        fuzz_require(!maar_codec_unpack(&world->codec, world->scratch, exact, got - 1, back, size));
        free(back);
        free(exact);
    }
    free(packed);
    free(bytes);
}

static void unpack_anything(struct fuzz_input* input, const struct codec_world* world)
{
    size_t size = (size_t)fuzz_scaled(input, 18);
    size = size < CODEC_MOST ? size : CODEC_MOST;
    const bool has_head = (fuzz_byte(input) & 1) != 0;
    const size_t head = has_head ? 8 : 0;
    uint8_t* packed = malloc(input->left + head + 1);
    uint8_t* bytes = malloc(size + 1);
    fuzz_require(packed != NULL && bytes != NULL);
    if (has_head) {
        memcpy(packed, "MPK1", 4);
        memcpy(packed + 4, &world->codec.name_hash, 4);
    }
    memcpy(packed + head, input->at, input->left);
    (void)maar_codec_unpack(&world->codec, world->scratch, packed, input->left + head, bytes, size);
    free(bytes);
    free(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    struct fuzz_input input = {.at = data, .left = size};
    const uint8_t way = fuzz_byte(&input);
    const struct codec_world world = open_world(way % CODEC_WAYS);
    if (way / CODEC_WAYS % 2 == 0) {
        pack_runs(&input, &world);
    } else {
        unpack_anything(&input, &world);
    }
    free(world.scratch);
    return 0;
}
