/*
 * Copies that go to a file and come back: see codec_store.h.
 */
#include "codec_store.h"

#include "bench_common.h"
#include "bench_row.h"
#include "support/sample_bytes.h"

#include "core/residency/store_ring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COPY_SIZE = 4 << 20, MOST_UNDER_WAY = 16 };

struct store_memory {
    struct maar_store* store;
    uint8_t* bytes;
    uint8_t* back;
    struct maar_extent* extents;
    uint32_t count;
};

struct store_times {
    double wall[2][BENCH_MAX_RUNS]; /* of writing and of reading, ns */
    double own[2][BENCH_MAX_RUNS];  /* of this thread */
};

static struct maar_store_request* begin_copy(struct store_memory* memory, uint32_t at, bool reads)
{
    struct maar_store_request* request = NULL;
    const size_t place = (size_t)at * COPY_SIZE;
    if (reads) {
        (void)maar_store_begin_read(memory->store, &memory->extents[at], memory->back + place,
                                    &request);
    } else {
        (void)maar_store_begin_write(memory->store, at, memory->bytes + place, COPY_SIZE, &request);
    }
    if (request == NULL) {
        bench_die(BENCH_EXIT_FAILED, "a copy cannot be transferred");
    }
    return request;
}

/* Transfers all copies, with so many under way at once. */
static void transfer_copies(struct store_memory* memory, bool reads)
{
    struct maar_store_request* requests[MOST_UNDER_WAY];
    const uint32_t most = maar_store_has_ring(memory->store) ? MOST_UNDER_WAY : 1;
    for (uint32_t at = 0; at < memory->count + most; ++at) {
        struct maar_store_request** request = &requests[at % most];
        if (at >= most && maar_store_wait(memory->store, *request, &memory->extents[at - most]) !=
                              MAAR_STORE_DONE) {
            bench_die(BENCH_EXIT_FAILED, "a copy was not transferred");
        }
        if (at < memory->count) {
            *request = begin_copy(memory, at, reads);
            if (maar_store_start(memory->store, *request)) {
                maar_store_drive(memory->store);
            }
        }
    }
}

static void open_store(struct store_memory* memory, const char* path, bool by_threads,
                       MaarFileStore* table)
{
    const MaarFileStoreOpenInfo opening = {
        .sType = MAAR_STRUCTURE_TYPE_FILE_STORE_OPEN_INFO,
        .pPath = path,
        .flags = by_threads ? MAAR_FILE_STORE_OPEN_THREADS_BIT : 0,
        .size = (uint64_t)memory->count * (COPY_SIZE + 65536),
    };
    const struct maar_store_info info = {.file = table, .synchronized = true};
    *table = (MaarFileStore){.sType = MAAR_STRUCTURE_TYPE_FILE_STORE};
    if (maarOpenFileStore(&opening, table) != VK_SUCCESS ||
        maar_store_create(&info, &memory->store) != VK_SUCCESS) {
        bench_die(BENCH_EXIT_FAILED, "no file %s can be made", path);
    }
    if (!by_threads && !maar_store_has_ring(memory->store)) {
        bench_complain("the system makes no transfers here: both rows are of threads");
    }
}

static void measure_round(struct store_memory* memory, uint32_t round, struct store_times* times)
{
    memset(memory->back, 0, (size_t)memory->count * COPY_SIZE);
    for (uint32_t reads = 0; reads < 2; ++reads) {
        const double wall = bench_wall_ns();
        const double own = bench_thread_ns();
        transfer_copies(memory, reads == 1);
        times->wall[reads][round] = bench_wall_ns() - wall;
        times->own[reads][round] = bench_thread_ns() - own;
    }
    if (memcmp(memory->back, memory->bytes, (size_t)memory->count * COPY_SIZE) != 0) {
        bench_die(BENCH_EXIT_FAILED, "other bytes came back");
    }
    for (uint32_t at = 0; at < memory->count; ++at) {
        maar_store_free(memory->store, &memory->extents[at]);
    }
}

static void print_way(uint32_t way, const struct store_times* times,
                      const struct store_times* threads, uint32_t rounds, double size)
{
    static struct bench_table table;
    struct bench_row row;
    for (uint32_t reads = 0; reads < 2; ++reads) {
        bench_row_begin(&row, "codec");
        bench_row_name(&row, "transfers", way == 0 ? "by threads" : "by the system");
        bench_row_text(&row, "of", reads == 1 ? "restores" : "spills");
        bench_row_number(&row, "gb_s", size / bench_median_of(times->wall[reads], rounds), 2);
        bench_row_number(&row, "own_ms", bench_median_of(times->own[reads], rounds) / 1e6, 1);
        bench_row_number(&row, "time_to_threads",
                         bench_median_ratio(times->wall[reads], threads->wall[reads], rounds), 2);
        bench_row_number(&row, "own_to_threads",
                         bench_median_ratio(times->own[reads], threads->own[reads], rounds), 2);
        bench_row_end(&row, &table);
    }
}

void bench_codec_store(const char* path, uint64_t size, uint32_t rounds)
{
    struct store_memory memory = {.count = (uint32_t)(size / COPY_SIZE)};
    struct store_times* times = bench_allocate(2, sizeof *times);
    memory.bytes = bench_allocate(memory.count, COPY_SIZE);
    memory.back = bench_allocate(memory.count, COPY_SIZE);
    memory.extents = bench_allocate(memory.count, sizeof memory.extents[0]);
    sample_fill(SAMPLE_RANDOM, BENCH_SEED, memory.bytes, (size_t)memory.count * COPY_SIZE);
    for (uint32_t round = 0; round < rounds; ++round) {
        for (uint32_t way = 0; way < 2; ++way) {
            MaarFileStore table;
            open_store(&memory, path, way == 0, &table);
            measure_round(&memory, round, &times[way]);
            maar_store_destroy(memory.store);
            maarCloseFileStore(&table);
        }
    }
    for (uint32_t way = 0; way < 2; ++way) {
        print_way(way, &times[way], &times[0], rounds, (double)memory.count * COPY_SIZE);
    }
    free(memory.extents);
    free(memory.back);
    free(memory.bytes);
    free(times);
}
