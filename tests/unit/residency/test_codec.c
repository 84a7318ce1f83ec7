/*
 * Packing: every kind of bytes comes back, what does not shrink is refused, and nothing outside is
 * touched whatever is unpacked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/residency/codec.h"
#include "core/residency/codec_planes.h"
#include "support/sample_bytes.h"

enum { MOST = 5 * MAAR_CODEC_CHUNK + 4096, GUARD = 64 };

/* A codec with one of the compressors, or none, and memory for all. */
struct bench {
    MaarCompressor compressor;
    struct maar_codec codec;
    void* scratch;
    uint8_t* bytes;
    uint8_t* packed;
    uint8_t* unpacked;
};

static struct bench bench;

/* A compressor of a program: bytes that are followed by themselves are left out. */
static size_t VKAPI_CALL compress_pairs(void* user, void* workspace, MaarCompressFlags flags,
                                        size_t size, const void* bytes, size_t capacity,
                                        void* compressed)
{
    const uint8_t* from = bytes;
    uint8_t* to = compressed;
    (void)flags;
    *(size_t*)user += 1;
    memset(workspace, 0xA5, 48);
    for (size_t i = 0; i < size; i += 2) {
        if (i + 1 >= size || from[i] != from[i + 1] || i / 2 >= capacity) {
            return 0;
        }
        to[i / 2] = from[i];
    }
    return size / 2;
}

static VkBool32 VKAPI_CALL decompress_pairs(void* user, void* workspace, size_t compressed_size,
                                            const void* compressed, size_t size, void* bytes)
{
    (void)user;
    memset(workspace, 0x5A, 48);
    for (size_t i = 0; i < size && compressed_size == size / 2; ++i) {
        ((uint8_t*)bytes)[i] = ((const uint8_t*)compressed)[i / 2];
    }
    return compressed_size == size / 2 ? VK_TRUE : VK_FALSE;
}

static size_t pair_calls;

static const MaarCompressor pairs = {
    .sType = MAAR_STRUCTURE_TYPE_COMPRESSOR,
    .pUserData = &pair_calls,
    .pName = "pairs",
    .workspaceSize = 48,
    .pfnCompress = compress_pairs,
    .pfnDecompress = decompress_pairs,
};

static void open_bench(const MaarCompressor* compressor)
{
    bench = (struct bench){.compressor = pairs};
    assert_true(maar_codec_init(&bench.codec, compressor));
    bench.scratch = malloc(maar_codec_scratch_size(&bench.codec));
    bench.bytes = malloc(MOST);
    bench.packed = malloc(MOST);
    bench.unpacked = malloc(MOST);
    assert_true(bench.scratch != NULL && bench.bytes != NULL && bench.packed != NULL &&
                bench.unpacked != NULL);
}

static void close_bench(void)
{
    free(bench.scratch);
    free(bench.bytes);
    free(bench.packed);
    free(bench.unpacked);
}

/* Opens a bench with the nth compressor that this library was built with. Returns false if it was
 * built without it. */
static bool open_with(uint32_t number)
{
    MaarCompressor compressor = {.sType = MAAR_STRUCTURE_TYPE_COMPRESSOR};
    if (number == 0) {
        open_bench(NULL);
        return true;
    }
    const VkResult result =
        maarGetCompressor(number == 1 ? MAAR_COMPRESSION_LZ4 : MAAR_COMPRESSION_ZSTD, &compressor);
    assert_true(result == VK_SUCCESS || result == VK_ERROR_FEATURE_NOT_PRESENT);
    if (result == VK_SUCCESS) {
        open_bench(&compressor);
    }
    return result == VK_SUCCESS;
}

/* Packs bytes of an array of just their size, so that a sanitizer sees what lies outside. Checks
 * that they come back, and returns the packed size. */
static size_t round_trip(size_t size)
{
    uint8_t* target = malloc(size != 0 ? size : 1);
    assert_non_null(target);
    const size_t bound = maar_codec_bound(size);
    assert_true(bound <= size);
    memset(bench.packed, 0xEE, MOST);
    const size_t packed =
        maar_codec_pack(&bench.codec, bench.scratch, bench.bytes, size, bench.packed, bound);
    assert_true(packed <= bound);
    for (size_t i = bound; i < bound + GUARD && i < MOST; ++i) {
        assert_int_equal(bench.packed[i], 0xEE);
    }
    if (packed != 0) {
        assert_true(
            maar_codec_unpack(&bench.codec, bench.scratch, bench.packed, packed, target, size));
        assert_memory_equal(target, bench.bytes, size);
        /* It needs no more room than it takes, and does not do with less. */
        assert_int_equal(maar_codec_pack(&bench.codec, bench.scratch, bench.bytes, size,
                                         bench.unpacked, packed - 1),
                         0);
    }
    free(target);
    return packed;
}

static void all_bytes_come_back(void** state)
{
    static const size_t sizes[] = {1,     3,     7,     8,     63,    64,     65,     100,
                                   257,   2047,  2048,  2056,  4095,  4096,   4097,   65535,
                                   65536, 65537, 65540, 65600, 70001, 131072, 196617, 5 * 65536};
    (void)state;
    uint32_t packed_count = 0;
    for (uint32_t number = 0; number < 3; ++number) {
        if (!open_with(number)) {
            continue;
        }
        for (uint32_t kind = 0; kind < SAMPLE_KINDS; ++kind) {
            sample_fill((enum sample_kind)kind, kind + 5, bench.bytes, MOST);
            for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
                packed_count += round_trip(sizes[i]) != 0 ? 1 : 0;
            }
        }
        close_bench();
    }
    assert_true(packed_count >= 60);
}

/* Chunks of different kinds side by side, at random, with pages of zeros and words that repeat. */
static void mixtures_come_back(void** state)
{
    (void)state;
    for (uint32_t number = 0; number < 3; ++number) {
        uint64_t random = number + 77;
        for (uint32_t turn = 0; turn < 40 && open_with(number); ++turn) {
            for (size_t at = 0; at < MOST;) {
                size_t part = sample_next(&random) % 3 == 0 ? 4096 : sample_next(&random) % 90000;
                part = part < MOST - at ? part : MOST - at;
                sample_fill((enum sample_kind)(sample_next(&random) % SAMPLE_KINDS),
                            sample_next(&random), bench.bytes + at, part);
                at += part;
            }
            (void)round_trip((size_t)(sample_next(&random) % MOST));
            (void)round_trip(MOST);
            close_bench();
        }
    }
}

static void zeros_and_patterns_need_no_compressor(void** state)
{
    (void)state;
    open_bench(NULL);
    sample_fill(SAMPLE_ZERO, 1, bench.bytes, MOST);
    assert_true(round_trip(MOST) <= 64);
    sample_fill(SAMPLE_PATTERN, 1, bench.bytes, MOST);
    assert_true(round_trip(MOST) <= 128);
    sample_fill(SAMPLE_PAGES, 1, bench.bytes, MOST);
    assert_true(round_trip((size_t)4 * MAAR_CODEC_CHUNK) <= MAAR_CODEC_CHUNK + 128);
    sample_fill(SAMPLE_TEXT, 1, bench.bytes, MOST);
    assert_int_equal(round_trip(MOST), 0);
    close_bench();
}

static void random_bytes_are_refused(void** state)
{
    (void)state;
    for (uint32_t number = 0; number < 3; ++number) {
        if (!open_with(number)) {
            continue;
        }
        sample_fill(SAMPLE_RANDOM, 3, bench.bytes, MOST);
        assert_int_equal(round_trip(MOST), 0);
        /* One chunk of zeros in six pays for the others. */
        memset(bench.bytes + MAAR_CODEC_CHUNK, 0, MAAR_CODEC_CHUNK);
        assert_true(round_trip(MOST) <= MOST - MAAR_CODEC_CHUNK + 64);
        close_bench();
    }
}

/* The compressor is not even asked, although one of the chunks would shrink a little. */
static void refusal_is_early(void** state)
{
    (void)state;
    open_bench(&pairs);
    sample_fill(SAMPLE_RANDOM, 9, bench.bytes, MOST);
    for (uint32_t i = 0; i < MAAR_CODEC_CHUNK; ++i) {
        bench.bytes[i] %= 100;
    }
    pair_calls = 0;
    assert_int_equal(round_trip(MOST), 0);
    assert_int_equal(pair_calls, 0);
    close_bench();
}

static void weights_shrink_in_planes(void** state)
{
    (void)state;
    if (!open_with(2)) {
        print_message("skipped: this library was built without zstd\n");
        skip();
    }
    sample_fill(SAMPLE_BF16, 4, bench.bytes, MOST);
    assert_true(round_trip(MOST) * 14 <= (size_t)MOST * 10);
    sample_fill(SAMPLE_FP32, 4, bench.bytes, MOST);
    assert_true(round_trip(MOST) * 115 <= (size_t)MOST * 100);
    sample_fill(SAMPLE_PERIOD, 4, bench.bytes, MOST);
    assert_true(round_trip(MOST) * 20 <= (size_t)MOST);
    close_bench();
}

static void compressor_of_a_program_is_used(void** state)
{
    (void)state;
    open_bench(&pairs);
    uint64_t random = 5;
    for (size_t i = 0; i < MOST; i += 2) {
        bench.bytes[i] = (uint8_t)(sample_next(&random) % 16);
        bench.bytes[i + 1] = bench.bytes[i];
    }
    pair_calls = 0;
    assert_true(round_trip(MOST) < MOST);
    assert_true(pair_calls > 0);
    close_bench();
}

static void bytes_of_another_compressor_are_refused(void** state)
{
    (void)state;
    open_bench(NULL);
    sample_fill(SAMPLE_ZERO, 1, bench.bytes, MOST);
    const size_t packed =
        maar_codec_pack(&bench.codec, bench.scratch, bench.bytes, MOST, bench.packed, MOST);
    assert_true(packed != 0);
    uint8_t* kept = malloc(packed);
    assert_non_null(kept);
    memcpy(kept, bench.packed, packed);
    close_bench();
    open_bench(&pairs);
    assert_false(
        maar_codec_unpack(&bench.codec, bench.scratch, kept, packed, bench.unpacked, MOST));
    close_bench();
    free(kept);
}

/* Packed bytes that are cut off anywhere, too long, or of another size. */
static void wrong_sizes_are_noticed(void** state)
{
    (void)state;
    for (uint32_t number = 0; number < 3; ++number) {
        if (!open_with(number)) {
            continue;
        }
        const size_t size = MAAR_CODEC_CHUNK + 4099;
        sample_fill(SAMPLE_PAGES, 8, bench.bytes, size);
        const size_t packed = round_trip(size);
        assert_true(packed != 0);
        for (size_t cut = 0; cut < packed; ++cut) {
            uint8_t* part = malloc(cut != 0 ? cut : 1);
            assert_non_null(part);
            memcpy(part, bench.packed, cut);
            assert_false(
                maar_codec_unpack(&bench.codec, bench.scratch, part, cut, bench.unpacked, size));
            free(part);
            cut += cut > 64 && cut + 64 < packed ? 37 : 0;
        }
        assert_false(maar_codec_unpack(&bench.codec, bench.scratch, bench.packed, packed + 1,
                                       bench.unpacked, size));
        assert_false(maar_codec_unpack(&bench.codec, bench.scratch, bench.packed, packed,
                                       bench.unpacked, size - 1));
        assert_false(maar_codec_unpack(&bench.codec, bench.scratch, bench.packed, packed,
                                       bench.unpacked, size + 65536));
        close_bench();
    }
}

/* Asked directly: results fit, and other sizes are noticed. */
static void compressors_keep_to_their_room(void** state)
{
    (void)state;
    for (uint32_t number = 1; number < 3; ++number) {
        if (!open_with(number)) {
            continue;
        }
        const MaarCompressor* table = &bench.codec.compressor;
        void* workspace = table->workspaceSize != 0 ? malloc(table->workspaceSize) : NULL;
        sample_fill(SAMPLE_TEXT, 8, bench.bytes, 20000);
        const size_t size = table->pfnCompress(table->pUserData, workspace, 0, 20000, bench.bytes,
                                               20000, bench.packed);
        assert_true(size > 2 && size < 20000);
        assert_int_equal(table->pfnCompress(table->pUserData, workspace, 0, 20000, bench.bytes,
                                            size / 2, bench.unpacked),
                         0);
        assert_true(table->pfnDecompress(table->pUserData, workspace, size, bench.packed, 20000,
                                         bench.unpacked) == VK_TRUE);
        assert_memory_equal(bench.unpacked, bench.bytes, 20000);
        assert_true(table->pfnDecompress(table->pUserData, workspace, size, bench.packed, 19999,
                                         bench.unpacked) == VK_FALSE);
        assert_true(table->pfnDecompress(table->pUserData, workspace, size, bench.packed, 20001,
                                         bench.unpacked) == VK_FALSE);
        assert_true(table->pfnDecompress(table->pUserData, workspace, size - 1, bench.packed, 20000,
                                         bench.unpacked) == VK_FALSE);
        free(workspace);
        close_bench();
    }
}

/* Whatever stands in the packed bytes, nothing outside of the target changes. */
static void altered_bytes_harm_nothing(void** state)
{
    (void)state;
    for (uint32_t number = 0; number < 3; ++number) {
        if (!open_with(number)) {
            continue;
        }
        const size_t size = 2 * MAAR_CODEC_CHUNK + 77;
        uint8_t* target = malloc(size);
        uint64_t random = 3;
        assert_non_null(target);
        sample_fill(SAMPLE_PAGES, 8, bench.bytes, MAAR_CODEC_CHUNK);
        sample_fill(SAMPLE_BF16, 8, bench.bytes + MAAR_CODEC_CHUNK, MAAR_CODEC_CHUNK + 77);
        const size_t packed = round_trip(size);
        assert_true(packed != 0);
        for (uint32_t turn = 0; turn < 20000; ++turn) {
            const size_t at = (size_t)(sample_next(&random) % (turn % 2 == 0 ? 32 : packed));
            const uint8_t kept = bench.packed[at];
            bench.packed[at] = (uint8_t)sample_next(&random);
            (void)maar_codec_unpack(&bench.codec, bench.scratch, bench.packed, packed, target,
                                    size);
            bench.packed[at] = kept;
        }
        assert_true(
            maar_codec_unpack(&bench.codec, bench.scratch, bench.packed, packed, target, size));
        assert_memory_equal(target, bench.bytes, size);
        free(target);
        close_bench();
    }
}

static void planes_are_reversed(void** state)
{
    uint8_t bytes[256];
    uint8_t planes[256];
    uint8_t back[256];
    (void)state;
    sample_fill(SAMPLE_RANDOM, 2, bytes, sizeof bytes);
    for (uint32_t form = 1; form < MAAR_CODEC_FORMS; ++form) {
        for (uint32_t size = 4; size <= sizeof bytes; size += 4) {
            maar_codec_divide((enum maar_codec_form)form, bytes, size, planes);
            memset(back, 0, sizeof back);
            maar_codec_join((enum maar_codec_form)form, planes, size, back);
            assert_memory_equal(back, bytes, size);
        }
    }
}

/* The exponent of bf16 is the upper plane after the rotation, that of fp32 the highest of four. */
static void rotation_makes_exponents_whole(void** state)
{
    const float numbers[2] = {-1.0F, 4.0F}; /* exponents 127 and 129 */
    uint16_t halves[2];
    uint32_t words[2];
    uint8_t planes[8];
    (void)state;
    memcpy(words, numbers, sizeof words);
    halves[0] = (uint16_t)(words[0] >> 16);
    halves[1] = (uint16_t)(words[1] >> 16);
    maar_codec_divide(MAAR_CODEC_PLANES_2_ROTATED, (const uint8_t*)halves, 4, planes);
    assert_true(planes[2] == 127 && planes[3] == 129);
    maar_codec_divide(MAAR_CODEC_PLANES_4_ROTATED, (const uint8_t*)words, 8, planes);
    assert_true(planes[6] == 127 && planes[7] == 129);
}

static struct maar_codec_guess sample_of(enum sample_kind kind, uint32_t size)
{
    void* counts = malloc(MAAR_CODEC_COUNTS_SIZE);
    uint8_t* bytes = malloc(MAAR_CODEC_CHUNK);
    assert_true(counts != NULL && bytes != NULL);
    sample_fill(kind, 6, bytes, size);
    const struct maar_codec_guess guess = maar_codec_sample(counts, bytes, size);
    free(bytes);
    free(counts);
    return guess;
}

static void samples_choose_the_form(void** state)
{
    (void)state;
    struct maar_codec_guess guess = sample_of(SAMPLE_RANDOM, MAAR_CODEC_CHUNK);
    assert_true(guess.form == MAAR_CODEC_AS_IS && guess.raw_planes == 1);
    assert_int_equal(guess.size, MAAR_CODEC_CHUNK);
    guess = sample_of(SAMPLE_BF16, MAAR_CODEC_CHUNK);
    assert_int_equal(guess.form, MAAR_CODEC_PLANES_2_ROTATED);
    assert_int_equal(guess.raw_planes, 1); /* mantissa and sign */
    assert_in_range(guess.size, MAAR_CODEC_CHUNK * 60 / 100, MAAR_CODEC_CHUNK * 72 / 100);
    guess = sample_of(SAMPLE_FP32, MAAR_CODEC_CHUNK);
    assert_int_equal(guess.form, MAAR_CODEC_PLANES_4_ROTATED);
    assert_int_equal(guess.raw_planes, 7);
    guess = sample_of(SAMPLE_TEXT, MAAR_CODEC_CHUNK);
    assert_true(guess.form == MAAR_CODEC_AS_IS && guess.raw_planes == 0);
    guess = sample_of(SAMPLE_PERIOD, MAAR_CODEC_CHUNK);
    assert_true(guess.form == MAAR_CODEC_AS_IS && guess.raw_planes == 0);
    guess = sample_of(SAMPLE_RANDOM, 7);
    assert_true(guess.raw_planes == 1 && guess.size == 7);
}

static void compressors_are_named(void** state)
{
    MaarCompressor compressor = {.sType = MAAR_STRUCTURE_TYPE_COMPRESSOR, .pName = "old"};
    struct maar_codec codec;
    (void)state;
    assert_int_equal(maarGetCompressor(MAAR_COMPRESSION_DEFAULT, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(maarGetCompressor((MaarCompression)7, &compressor),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(compressor.pName == NULL && compressor.pfnCompress == NULL);
    compressor.sType = MAAR_STRUCTURE_TYPE_FILE_STORE;
    assert_int_equal(maarGetCompressor(MAAR_COMPRESSION_DEFAULT, &compressor),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    compressor.sType = MAAR_STRUCTURE_TYPE_COMPRESSOR;
    const bool has_zstd = maarGetCompressor(MAAR_COMPRESSION_ZSTD, &compressor) == VK_SUCCESS;
    assert_true(!has_zstd || strcmp(compressor.pName, "zstd") == 0);
    const bool has_lz4 = maarGetCompressor(MAAR_COMPRESSION_LZ4, &compressor) == VK_SUCCESS;
    assert_true(!has_lz4 || strcmp(compressor.pName, "lz4") == 0);
    const VkResult result = maarGetCompressor(MAAR_COMPRESSION_DEFAULT, &compressor);
    assert_int_equal(result, has_zstd || has_lz4 ? VK_SUCCESS : VK_ERROR_FEATURE_NOT_PRESENT);
    assert_true(result != VK_SUCCESS || strcmp(compressor.pName, has_zstd ? "zstd" : "lz4") == 0);
    assert_true(maar_codec_init(&codec, NULL));
    for (uint32_t missing = 0; missing < 3; ++missing) {
        MaarCompressor wrong = pairs;
        wrong.pName = missing == 0 ? NULL : wrong.pName;
        wrong.pfnCompress = missing == 1 ? NULL : wrong.pfnCompress;
        wrong.pfnDecompress = missing == 2 ? NULL : wrong.pfnDecompress;
        assert_false(maar_codec_init(&codec, &wrong));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_bytes_come_back),
        cmocka_unit_test(mixtures_come_back),
        cmocka_unit_test(zeros_and_patterns_need_no_compressor),
        cmocka_unit_test(random_bytes_are_refused),
        cmocka_unit_test(refusal_is_early),
        cmocka_unit_test(weights_shrink_in_planes),
        cmocka_unit_test(compressor_of_a_program_is_used),
        cmocka_unit_test(bytes_of_another_compressor_are_refused),
        cmocka_unit_test(wrong_sizes_are_noticed),
        cmocka_unit_test(compressors_keep_to_their_room),
        cmocka_unit_test(altered_bytes_harm_nothing),
        cmocka_unit_test(planes_are_reversed),
        cmocka_unit_test(rotation_makes_exponents_whole),
        cmocka_unit_test(samples_choose_the_form),
        cmocka_unit_test(compressors_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
