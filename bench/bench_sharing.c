/*
 * The cost of sharing. Many buffers are created on one device and used on another device of the
 * same driver: by Maar, by VMA with the missing parts written around it, and with one
 * VkDeviceMemory for each buffer. The program also times single calls: handoffs and messages.
 * bench/README.md describes the counts.
 */
#include "bench/bench_common.h"
#include "bench/bench_device.h"
#include "bench/bench_options.h"
#include "bench/bench_row.h"
#include "bench/sharing_calls.h"
#include "bench/sharing_peer.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_RUNS = 9, DEFAULT_LIVE = 1000 };

/* The reference, with a device memory for each buffer, is last. */
static const struct sharing_peer* const peers[] = {
    &sharing_peer_maar,     &sharing_peer_maar_each,
#if MAAR_BENCH_VMA
    &sharing_peer_vma,      &sharing_peer_vma_each,
#endif
#if MAAR_BENCH_MAAR_VMA
    &sharing_peer_maar_vma, &sharing_peer_maar_vma_each,
#endif
    &sharing_peer_single,
};
enum { PEER_COUNT = sizeof(peers) / sizeof(peers[0]), REFERENCE = PEER_COUNT - 1 };

struct sharing_bench {
    struct sharing_devices devices;
    const char* device_name;
    const char* workloads;
    uint32_t runs;
    uint32_t live;
    struct sharing_item* items;
    struct bench_table table;
};

/* The results of one contestant. Times are CPU nanoseconds for each buffer. */
struct buffer_figures {
    double create[BENCH_MAX_RUNS];
    double hand_over[BENCH_MAX_RUNS];
    double destroy[BENCH_MAX_RUNS];
    double all[BENCH_MAX_RUNS];
    struct sharing_counts counts; /* when all buffers were shared */
    uint32_t descriptors;         /* additional open descriptors at that time */
    uint32_t made;                /* created buffers */
    uint32_t shared;              /* those of them that reached the other side */
};

/* Returns the number of this process's descriptors; 0 if the system does not report it, or no
 * descriptor is left for the query. */
static uint32_t count_descriptors(DIR* folder)
{
    uint32_t count = 0;
    if (folder != NULL) {
        rewinddir(folder);
        while (readdir(folder) != NULL) {
            ++count;
        }
    }
    return count;
}

static void draw_items(struct sharing_bench* bench)
{
    uint64_t state = BENCH_SEED;
    bench->items = bench_allocate(bench->live, sizeof(*bench->items));
    for (uint32_t i = 0; i < bench->live; ++i) {
        bench->items[i].size = bench_size(&state, false);
    }
}

/* Writes a number at the beginning of a buffer, or reads it there. */
static void touch(const struct sharing_side* side, const struct sharing_place* place, bool writes,
                  uint64_t* number)
{
    void* mapped = NULL;
    bench_expect(side->table.vkMapMemory(side->handle, place->memory, 0, VK_WHOLE_SIZE, 0, &mapped),
                 "vkMapMemory");
    unsigned char* const bytes = (unsigned char*)mapped + place->offset;
    if (writes) {
        memcpy(bytes, number, sizeof(*number));
    } else {
        memcpy(number, bytes, sizeof(*number));
    }
    side->table.vkUnmapMemory(side->handle, place->memory);
}

/* Checks that the importer finds the exporter's number in each buffer. */
static void check_bytes(struct sharing_bench* bench, const struct sharing_peer* peer, void* state,
                        uint32_t count)
{
    struct sharing_place places[SHARING_SIDES];
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t number = BENCH_SEED + i;
        peer->place(state, &bench->items[i], places);
        touch(&bench->devices.sides[SHARING_EXPORTER], &places[SHARING_EXPORTER], true, &number);
    }
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t number = 0;
        peer->place(state, &bench->items[i], places);
        touch(&bench->devices.sides[SHARING_IMPORTER], &places[SHARING_IMPORTER], false, &number);
        if (number != BENCH_SEED + i) {
            bench_die(BENCH_EXIT_FAILED, "%s: buffer %u has other bytes on the importer's side",
                      peer->name, i);
        }
    }
}

/* Does one run. The first run is not timed and compares bytes instead. */
static void share_all(struct sharing_bench* bench, const struct sharing_peer* peer, int run,
                      struct buffer_figures* figures)
{
    DIR* const folder = opendir("/proc/self/fd");
    const uint32_t before = count_descriptors(folder);
    uint32_t made = 0;
    uint32_t shared = 0;
    sharing_reset_counts();
    void* const state = peer->open(&bench->devices);
    const double start = bench_thread_ns();
    while (made < bench->live && peer->create(state, &bench->items[made])) {
        ++made;
    }
    const double created = bench_thread_ns();
    while (shared < made && peer->hand_over(state, &bench->items[shared])) {
        ++shared;
    }
    const double handed = bench_thread_ns();
    figures->counts = sharing_get_counts();
    figures->descriptors = count_descriptors(folder) - before;
    figures->made = made;
    figures->shared = shared;
    if (run < 0) {
        check_bytes(bench, peer, state, shared);
    }
    const double between = bench_thread_ns();
    for (uint32_t i = 0; i < made; ++i) {
        peer->destroy(state, &bench->items[i]);
    }
    peer->close(state);
    const double end = bench_thread_ns();
    for (uint32_t i = 0; i < made; ++i) {
        memset(bench->items[i].ends, 0, sizeof(bench->items[i].ends));
    }
    if (count_descriptors(folder) != before) {
        bench_die(BENCH_EXIT_FAILED, "%s: descriptors were left open", peer->name);
    }
    if (folder != NULL) {
        closedir(folder);
    }
    if (run >= 0 && shared > 0) {
        figures->create[run] = (created - start) / made;
        figures->hand_over[run] = (handed - created) / shared;
        figures->destroy[run] = (end - between) / made;
        figures->all[run] = figures->create[run] + figures->hand_over[run] + figures->destroy[run];
    }
}

/* Returns the bytes of the first `count` buffers. */
static double bytes_of(const struct sharing_bench* bench, uint32_t count)
{
    double bytes = 0;
    for (uint32_t i = 0; i < count; ++i) {
        bytes += (double)bench->items[i].size;
    }
    return bytes;
}

/* Prints the times of a buffer in microseconds, if at least one buffer was shared. */
static void add_times(struct sharing_bench* bench, struct bench_row* row,
                      const struct buffer_figures* figures, const struct buffer_figures* reference)
{
    static const char* const keys[] = {"create_us", "over_us", "destroy_us",
                                       "us",        "min_us",  "of_single"};
    for (size_t i = 0; figures->shared == 0 && i < sizeof(keys) / sizeof(keys[0]); ++i) {
        bench_row_none(row, keys[i]);
    }
    if (figures->shared == 0) {
        return;
    }
    bench_row_number(row, keys[0], bench_median_of(figures->create, bench->runs) / 1e3, 2);
    bench_row_number(row, keys[1], bench_median_of(figures->hand_over, bench->runs) / 1e3, 2);
    bench_row_number(row, keys[2], bench_median_of(figures->destroy, bench->runs) / 1e3, 2);
    bench_row_number(row, keys[3], bench_median_of(figures->all, bench->runs) / 1e3, 2);
    bench_row_number(row, keys[4], bench_least_of(figures->all, bench->runs) / 1e3, 2);
    bench_row_number(row, keys[5], bench_median_ratio(figures->all, reference->all, bench->runs),
                     3);
}

static void report_buffers(struct sharing_bench* bench, uint32_t peer,
                           const struct buffer_figures* all)
{
    const struct buffer_figures* const figures = &all[peer];
    const struct sharing_counts* const counts = &figures->counts;
    const double mib = 1024.0 * 1024.0;
    const double live_bytes = bytes_of(bench, figures->made);
    struct bench_row row;
    bench_row_begin(&row, "sharing");
    bench_row_text(&row, ".device", bench->devices.base.properties.deviceName);
    bench_row_text(&row, "workload", "buffers");
    bench_row_name(&row, "peer", peers[peer]->name);
    bench_row_count(&row, "live", bench->live);
    bench_row_count(&row, "shared", figures->shared);
    add_times(bench, &row, figures, &all[REFERENCE]);
    bench_row_count(&row, "memories", counts->allocations);
    bench_row_count(&row, "exports", counts->exports);
    bench_row_count(&row, "imports", counts->imports);
    bench_row_count(&row, "fds", figures->descriptors);
    bench_row_number(&row, ".live_mib", live_bytes / mib, 1);
    bench_row_number(&row, "reserved_mib", (double)counts->reserved / mib, 1);
    bench_row_number(&row, "of_live", (double)counts->reserved / live_bytes, 3);
    bench_row_number(&row, "imported_mib", (double)counts->imported / mib, 1);
    bench_row_count(&row, ".runs", bench->runs);
    bench_row_text(&row, ".self_check", figures->shared != 0 ? "passed" : "none");
    bench_row_end(&row, &bench->table);
}

static void run_buffers(struct sharing_bench* bench)
{
    struct buffer_figures* const figures = bench_allocate(PEER_COUNT, sizeof(*figures));
    draw_items(bench);
    for (int run = -1; run < (int)bench->runs; ++run) {
        for (uint32_t peer = 0; peer < PEER_COUNT; ++peer) {
            share_all(bench, peers[peer], run, &figures[peer]);
        }
    }
    for (uint32_t peer = 0; peer < PEER_COUNT; ++peer) {
        report_buffers(bench, peer, figures);
    }
    free(bench->items);
    free(figures);
}

/* `reference` is the contestant for the comparison; may be NULL. */
static void report_calls(struct sharing_bench* bench, const struct sharing_times* times,
                         const struct sharing_times* reference)
{
    struct bench_row row;
    bench_row_begin(&row, "sharing");
    bench_row_text(&row, ".device", bench->devices.base.properties.deviceName);
    bench_row_text(&row, "workload", times->workload);
    bench_row_name(&row, "peer", times->peer);
    bench_row_number(&row, "ns", bench_median_of(times->cpu, bench->runs), 0);
    bench_row_number(&row, "min", bench_least_of(times->cpu, bench->runs), 0);
    bench_row_number(&row, "wall_ns", bench_median_of(times->wall, bench->runs), 0);
    if (reference != NULL) {
        bench_row_number(&row, "of_bare",
                         bench_median_ratio(times->cpu, reference->cpu, bench->runs), 3);
    } else {
        bench_row_none(&row, "of_bare");
    }
    bench_row_count(&row, ".runs", bench->runs);
    bench_row_text(&row, ".self_check", times->self_check);
    bench_row_end(&row, &bench->table);
}

static void run_handoffs(struct sharing_bench* bench)
{
    struct sharing_times* const times = bench_allocate(SHARING_HANDOFF_PEERS, sizeof(*times));
    for (uint32_t in_flight = 1; in_flight <= SHARING_MAX_IN_FLIGHT;
         in_flight += SHARING_MAX_IN_FLIGHT - 1) {
        sharing_time_handoffs(&bench->devices, bench->runs, in_flight, times);
        for (int i = 0; i < SHARING_HANDOFF_PEERS; ++i) {
            report_calls(bench, &times[i], &times[1]);
        }
    }
    free(times);
}

static void run_messages(struct sharing_bench* bench)
{
    struct sharing_times* const times = bench_allocate(SHARING_MESSAGE_PEERS, sizeof(*times));
    sharing_time_messages(&bench->devices, bench->runs, times);
    for (int i = 0; i < SHARING_MESSAGE_PEERS; ++i) {
        const bool compared = strcmp(times[i].workload, "message") == 0;
        report_calls(bench, &times[i], compared ? &times[SHARING_MESSAGE_SYSTEM] : NULL);
    }
    free(times);
}

int main(int argc, char** argv)
{
    static const struct {
        const char* name;
        void (*run)(struct sharing_bench*);
    } workloads[] = {
        {"buffers", run_buffers}, {"handoff", run_handoffs}, {"message", run_messages}};
    static const char* const names[] = {"buffers", "handoff", "message"};
    struct sharing_bench bench = {
        .device_name = "auto",
        .workloads = "all",
        .runs = DEFAULT_RUNS,
        .live = DEFAULT_LIVE,
    };
    const struct bench_option options[] = {
        {"--device", "DEVICE", BENCH_OPTION_TEXT, &bench.device_name,
         "auto (default), vulkan:N, or simulated:PROFILE"},
        {"--workload", "LIST", BENCH_OPTION_TEXT, &bench.workloads,
         "buffers, handoff, message; or all (default)"},
        {"--live", "N", BENCH_OPTION_COUNT, &bench.live, "buffers shared at once (1000)"},
        {"--runs", "N", BENCH_OPTION_COUNT, &bench.runs, "timed runs (9)"},
    };
    const struct bench_command command = {
        .name = "bench_sharing",
        .summary = "Shares buffers between two devices of one driver.",
        .options = options,
        .option_count = sizeof(options) / sizeof(options[0]),
    };
    bench_parse_options(&command, argc, argv);
    if (bench.runs > BENCH_MAX_RUNS) {
        bench_die(BENCH_EXIT_USAGE, "--runs: at most %d", BENCH_MAX_RUNS);
    }
    bench_check_list("--workload", bench.workloads, names, sizeof(names) / sizeof(names[0]));
    bench_note_peers();
    bench_raise_descriptors();
    sharing_open(&bench.devices, bench.device_name);
    for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); ++i) {
        if (bench_is_listed(bench.workloads, workloads[i].name)) {
            workloads[i].run(&bench);
        }
    }
    sharing_close(&bench.devices);
    return 0;
}
