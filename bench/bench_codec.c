/*
 * Packing of copies: how much smaller bytes become and how fast, beside LZ4 and zstd alone on the
 * same bytes. Without a device, on one thread.
 */
#include "bench_common.h"
#include "bench_options.h"
#include "bench_row.h"
#include "codec_store.h"
#include "support/sample_bytes.h"

#include "core/residency/checksum.h"
#include "core/residency/codec.h"

#include <stdlib.h>

#if defined(MAAR_HAVE_ZSTD)
#include <zstd.h>
#endif
#if defined(MAAR_HAVE_LZ4)
#include <lz4.h>
#endif

/* One way to compress. Returns 0 if it refuses. */
struct codec_way {
    const char* name;
    size_t (*compress)(const struct codec_way* way, const uint8_t* bytes, size_t size,
                       uint8_t* packed, size_t room);
    void (*decompress)(const struct codec_way* way, const uint8_t* packed, size_t packed_size,
                       uint8_t* bytes, size_t size);
    struct maar_codec codec; /* of Maar's ways */
    void* scratch;
};

static size_t pack_maar(const struct codec_way* way, const uint8_t* bytes, size_t size,
                        uint8_t* packed, size_t room)
{
    return maar_codec_pack(&way->codec, way->scratch, bytes, size, packed, room);
}

static void unpack_maar(const struct codec_way* way, const uint8_t* packed, size_t packed_size,
                        uint8_t* bytes, size_t size)
{
    if (!maar_codec_unpack(&way->codec, way->scratch, packed, packed_size, bytes, size)) {
        bench_die(BENCH_EXIT_FAILED, "packed bytes are wrong");
    }
}

#if defined(MAAR_HAVE_LZ4)
static size_t pack_lz4(const struct codec_way* way, const uint8_t* bytes, size_t size,
                       uint8_t* packed, size_t room)
{
    (void)way;
    return (size_t)LZ4_compress_default((const char*)bytes, (char*)packed, (int)size, (int)room);
}

static void unpack_lz4(const struct codec_way* way, const uint8_t* packed, size_t packed_size,
                       uint8_t* bytes, size_t size)
{
    (void)way;
    (void)LZ4_decompress_safe((const char*)packed, (char*)bytes, (int)packed_size, (int)size);
}
#endif

#if defined(MAAR_HAVE_ZSTD)
static size_t pack_zstd(const struct codec_way* way, const uint8_t* bytes, size_t size,
                        uint8_t* packed, size_t room)
{
    (void)way;
    const size_t result = ZSTD_compress(packed, room, bytes, size, 1);
    return ZSTD_isError(result) ? 0 : result;
}

static void unpack_zstd(const struct codec_way* way, const uint8_t* packed, size_t packed_size,
                        uint8_t* bytes, size_t size)
{
    (void)way;
    (void)ZSTD_decompress(bytes, size, packed, packed_size);
}
#endif

/* Memory of a run: the bytes, what they become, and what comes back. */
struct codec_memory {
    size_t size;
    size_t room;
    uint8_t* bytes;
    uint8_t* packed;
    uint8_t* back;
    uint32_t rounds;
};

static double to_gb_per_second(size_t bytes, double ns)
{
    return ns > 0 ? (double)bytes / ns : 0;
}

/* Measures a way: the fastest of the rounds. */
static void measure_way(const struct codec_way* way, const char* data,
                        const struct codec_memory* memory, struct bench_table* table)
{
    double best_pack = 1e30;
    double best_unpack = 1e30;
    size_t packed = 0;
    for (uint32_t round = 0; round < memory->rounds; ++round) {
        double start = bench_thread_ns();
        packed = way->compress(way, memory->bytes, memory->size, memory->packed, memory->room);
        double end = bench_thread_ns();
        best_pack = end - start < best_pack ? end - start : best_pack;
        if (packed != 0) {
            start = bench_thread_ns();
            way->decompress(way, memory->packed, packed, memory->back, memory->size);
            end = bench_thread_ns();
            best_unpack = end - start < best_unpack ? end - start : best_unpack;
        }
    }
    if (packed != 0 && memcmp(memory->bytes, memory->back, memory->size) != 0) {
        bench_die(BENCH_EXIT_FAILED, "bytes did not come back");
    }
    struct bench_row row;
    bench_row_begin(&row, "codec");
    bench_row_name(&row, "data", data);
    bench_row_name(&row, "way", way->name);
    bench_row_text(&row, "refused", packed == 0 ? "yes" : "no");
    bench_row_number(&row, "ratio", packed != 0 ? (double)memory->size / (double)packed : 1.0, 3);
    bench_row_number(&row, "pack_gbps", to_gb_per_second(memory->size, best_pack), 2);
    if (packed != 0) {
        bench_row_number(&row, "unpack_gbps", to_gb_per_second(memory->size, best_unpack), 2);
    } else {
        bench_row_none(&row, "unpack_gbps");
    }
    bench_row_end(&row, table);
}

/* The checksum that copies in files have, as the limit of what a thread can check. */
static void measure_checksum(const struct codec_memory* memory, struct bench_table* table)
{
    double best = 1e30;
    uint64_t sum = 0;
    for (uint32_t round = 0; round < memory->rounds; ++round) {
        const double start = bench_thread_ns();
        sum ^= maar_checksum(memory->bytes, memory->size);
        const double end = bench_thread_ns();
        best = end - start < best ? end - start : best;
    }
    struct bench_row row;
    bench_row_begin(&row, "checksum");
    bench_row_count(&row, ".sum", sum);
    bench_row_number(&row, "gbps", to_gb_per_second(memory->size, best), 2);
    bench_row_end(&row, table);
}

enum { MOST_WAYS = 5 };

static uint32_t list_ways(struct codec_way ways[MOST_WAYS])
{
    static const char* const names[] = {"maar", "maar zstd", "maar lz4"};
    static const MaarCompression kinds[] = {MAAR_COMPRESSION_DEFAULT, MAAR_COMPRESSION_ZSTD,
                                            MAAR_COMPRESSION_LZ4};
    uint32_t count = 0;
    for (uint32_t i = 0; i < 3; ++i) {
        MaarCompressor compressor = {.sType = MAAR_STRUCTURE_TYPE_COMPRESSOR};
        struct codec_way* way = &ways[count];
        if (i != 0 && maarGetCompressor(kinds[i], &compressor) != VK_SUCCESS) {
            continue;
        }
        *way =
            (struct codec_way){.name = names[i], .compress = pack_maar, .decompress = unpack_maar};
        (void)maar_codec_init(&way->codec, i != 0 ? &compressor : NULL);
        way->scratch = malloc(maar_codec_scratch_size(&way->codec));
        if (way->scratch == NULL) {
            bench_die(BENCH_EXIT_FAILED, "no host memory");
        }
        ++count;
    }
#if defined(MAAR_HAVE_ZSTD)
    ways[count++] =
        (struct codec_way){.name = "zstd alone", .compress = pack_zstd, .decompress = unpack_zstd};
#endif
#if defined(MAAR_HAVE_LZ4)
    ways[count++] =
        (struct codec_way){.name = "lz4 alone", .compress = pack_lz4, .decompress = unpack_lz4};
#endif
    return count;
}

int main(int argc, char** argv)
{
    static const struct {
        const char* name;
        enum sample_kind kind;
    } data[] = {
        {"bf16 weights", SAMPLE_BF16},      {"fp32 weights", SAMPLE_FP32},
        {"4-bit weights", SAMPLE_Q4},       {"random", SAMPLE_RANDOM},
        {"zero-rich", SAMPLE_PAGES},        {"text", SAMPLE_TEXT},
        {"vertex indices", SAMPLE_INDICES},
    };
    struct bench_table table = {{0}};
    struct bench_table second_table = {{0}};
    struct codec_memory memory = {.rounds = 5};
    uint64_t size = (uint64_t)16 << 20;
    const char* store = NULL;
    const struct bench_option options[] = {
        {"--store", "FILE", BENCH_OPTION_TEXT, &store,
         "instead: copies of 4 MiB to a new file and back, --size together"},
        {"--size", "BYTES", BENCH_OPTION_SIZE, &size, "bytes of each kind (16MiB)"},
        {"--rounds", "N", BENCH_OPTION_COUNT, &memory.rounds, "the fastest of N (5)"},
    };
    const struct bench_command command = {
        .name = "bench_codec",
        .summary = "How copies of objects shrink, beside compressors alone.",
        .options = options,
        .option_count = sizeof(options) / sizeof(options[0]),
    };
    (void)bench_parse_options(&command, argc, argv);
    if (size == 0 || size > (uint64_t)1 << 30) {
        bench_die(BENCH_EXIT_USAGE, "--size is at most 1GiB");
    }
    if (store != NULL) {
        if (size < (uint64_t)64 << 20 || memory.rounds > BENCH_MAX_RUNS) {
            bench_die(BENCH_EXIT_USAGE, "--store needs a --size of 64MiB at least");
        }
        bench_codec_store(store, size, memory.rounds);
        return 0;
    }
    memory.size = (size_t)size;
    memory.room = memory.size + memory.size / 128 + 1024;
    memory.bytes = malloc(memory.size);
    memory.packed = malloc(memory.room);
    memory.back = malloc(memory.size);
    if (memory.bytes == NULL || memory.packed == NULL || memory.back == NULL) {
        bench_die(BENCH_EXIT_FAILED, "no host memory");
    }
    memset(memory.packed, 1, memory.room);
    memset(memory.back, 1, memory.size);
    struct codec_way ways[MOST_WAYS];
    const uint32_t way_count = list_ways(ways);
    for (uint32_t i = 0; i < sizeof data / sizeof data[0]; ++i) {
        sample_fill(data[i].kind, BENCH_SEED, memory.bytes, memory.size);
        for (uint32_t k = 0; k < way_count; ++k) {
            measure_way(&ways[k], data[i].name, &memory, &table);
        }
    }
    measure_checksum(&memory, &second_table);
    for (uint32_t k = 0; k < way_count; ++k) {
        free(ways[k].scratch);
    }
    free(memory.bytes);
    free(memory.packed);
    free(memory.back);
    return 0;
}
