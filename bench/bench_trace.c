/*
 * The trace benchmark. Maar and VulkanMemoryAllocator take turns in replaying the allocations and
 * frees of programs, at the level of memory, on one device in one process. A trace is replayed as
 * recorded, which shows the device memory and the time that it takes. Or enough overlapping copies
 * of it are replayed to keep a given number of resources alive.
 */
#include "bench/allocator_peer.h"
#include "bench/bench_common.h"
#include "bench/bench_row.h"
#include "bench/trace_script.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_PLAYERS = 6,
    RECORD_RUNS = 5,
    SCALE_RUNS = 21,
    SCALE_OPERATIONS = 20000,
};

#define GIB 1073741824.0

/* The share of a heap that may be live. Allocators assume a budget of 80 % of the heap if no
 * extension reports one.
 */
#define MOST_OF_HEAP 0.7

/* This differs from the default of both allocators, 256 MiB. */
#define SAME_BLOCK_SIZE (UINT64_C(64) << 20)

struct trace_bench {
    const char* device_name;
    struct bench_heaps heaps;
    const char* peers;
    const char* policies;
    uint64_t block_size;
    uint32_t runs;
    uint32_t operations;
    uint32_t scale; /* 0: as recorded */
    struct bench_device device;
    const struct support_trace* trace;
    struct trace_script script;
    struct bench_table table;
};

/* One peer with one policy. */
struct player {
    const struct trace_bench* bench;
    const struct allocator_peer* peer;
    const char* policy;
    struct allocator_options options;
    void* allocator;
    struct allocator_tally tally;
    struct allocator_item* items;
    uint64_t failures;
    uint64_t calls; /* of vkAllocateMemory, including failed calls */
    double host_bytes;
    double ns[BENCH_MAX_RUNS]; /* of an operation, without the driver's share */
    double driver_ns[BENCH_MAX_RUNS];
};

/* The measured loop. It is a separate function, so that profilers can name it. */
static BENCH_NOINLINE void bench_operations(struct player* player, const struct trace_step* steps,
                                            size_t count)
{
    const struct allocator_peer* const peer = player->peer;
    const struct support_trace_resource* const resources = player->bench->trace->resources;
    void* const allocator = player->allocator;
    for (size_t i = 0; i < count; ++i) {
        struct allocator_item* const item = &player->items[steps[i].slot];
        if (steps[i].is_free) {
            if (item->allocation.number != 0) {
                peer->free(allocator, item);
                item->allocation.number = 0;
            }
            continue;
        }
        const struct support_trace_resource* const resource = &resources[steps[i].resource];
        if (!peer->allocate(allocator, resource->size, trace_alignment(resource), item)) {
            item->allocation.number = 0;
            player->failures += 1;
        }
    }
}

/* Replays some steps and stores their time as that of a run. */
static void play(struct player* player, size_t first, size_t count, uint32_t run)
{
    const struct bench_driver_time driver = bench_device_driver_time();
    const double start = bench_thread_ns();
    bench_operations(player, &player->bench->script.steps[first], count);
    const double ns = bench_thread_ns() - start;
    const struct bench_driver_time now = bench_device_driver_time();
    player->driver_ns[run] = (now.ns - driver.ns) / (double)count;
    player->ns[run] = ns / (double)count - player->driver_ns[run];
    player->calls += now.allocate_calls - driver.allocate_calls;
}

/* Checks the locations of all allocations after the first steps of the script. */
static void check(const struct player* player, size_t count)
{
    const struct trace_script* const script = &player->bench->script;
    struct bench_range* const ranges = bench_allocate(script->peak_count, sizeof(*ranges));
    size_t live = 0;
    for (size_t i = 0; i < count; ++i) {
        const struct trace_step* const step = &script->steps[i];
        const struct allocator_item* const item = &player->items[step->slot];
        if (step->is_free || item->allocation.number == 0) {
            continue;
        }
        const struct support_trace_resource* const resource =
            &player->bench->trace->resources[step->resource];
        struct allocator_place place;
        player->peer->place(player->allocator, item, &place);
        struct bench_range* const range = &ranges[live++];
        *range = (struct bench_range){.space_size = place.block_size,
                                      .offset = place.offset,
                                      .size = resource->size,
                                      .alignment = resource->alignment};
        memcpy(&range->space, &place.memory, sizeof(place.memory));
    }
    bench_check_ranges(player->peer->name, ranges, live);
    free(ranges);
}

static void begin(struct player* player)
{
    player->tally = (struct allocator_tally){0};
    player->calls = 0;
    player->failures = 0;
    player->allocator =
        player->peer->create(&player->bench->device, &player->options, &player->tally);
}

static void end(struct player* player)
{
    for (uint32_t i = 0; i < player->bench->script.slot_count; ++i) {
        if (player->items[i].allocation.number != 0) {
            player->peer->free(player->allocator, &player->items[i]);
            player->items[i].allocation.number = 0;
        }
    }
    player->peer->destroy(player->allocator);
}

/* Replays the whole trace from an empty allocator. */
static void play_record(struct player* player, uint32_t run)
{
    begin(player);
    play(player, 0, player->bench->script.count, run);
    end(player);
}

/* Replays up to the peak, untimed. Checks all locations and counts the used host memory. */
static void check_record(struct player* player)
{
    const size_t peak = player->bench->script.peak + 1;
    player->host_bytes = -bench_heap_bytes();
    begin(player);
    play(player, 0, peak, 0);
    player->host_bytes += bench_heap_bytes();
    check(player, peak);
    end(player);
}

static const struct player* find_vma(const struct player* all, uint32_t count,
                                     const struct player* player)
{
    for (uint32_t i = 0; i < count; ++i) {
        if (strcmp(all[i].peer->name, "vma") == 0 && all[i].policy == player->policy &&
            &all[i] != player) {
            return &all[i];
        }
    }
    return NULL;
}

static void report(struct trace_bench* bench, const struct player* player, const struct player* vma,
                   uint32_t runs)
{
    const double peak = (double)atomic_load(&((struct player*)player)->tally.peak_bytes);
    const double other =
        vma != NULL ? (double)atomic_load(&((struct player*)vma)->tally.peak_bytes) : NAN;
    struct bench_row row;
    bench_row_begin(&row, "trace");
    bench_row_text(&row, ".device", bench->device.properties.deviceName);
    bench_row_name(&row, "trace", bench->trace->name);
    bench_row_text(&row, "peer", player->peer->name);
    bench_row_text(&row, "policy", player->policy);
    bench_row_count(&row, "live", bench->script.peak_count);
    bench_row_number(&row, "live_mib", (double)bench->script.peak_bytes / 1048576.0, 1);
    bench_row_number(&row, "reserved_mib", peak / 1048576.0, 1);
    bench_row_number(&row, "reserved_per_live", peak / (double)bench->script.peak_bytes, 4);
    bench_row_number(&row, "reserved_of_vma", peak / other, 4);
    bench_row_count(&row, "calls", player->calls);
    bench_row_number(&row, "ns", bench_median_of(player->ns, runs), 1);
    bench_row_number(&row, "min", bench_least_of(player->ns, runs), 1);
    bench_row_number(&row, "driver_ns", bench_median_of(player->driver_ns, runs), 1);
    bench_row_number(&row, "of_vma",
                     vma != NULL ? bench_median_ratio(player->ns, vma->ns, runs) : NAN, 3);
    bench_row_number(&row, "host_b", player->host_bytes / bench->script.peak_count, 1);
    bench_row_count(&row, "failures", player->failures);
    bench_row_count(&row, ".copies", bench->script.copies);
    bench_row_count(&row, ".steps", bench->script.count);
    bench_row_count(&row, ".runs", runs);
    bench_row_text(&row, ".self_check", "passed");
    bench_row_end(&row, &bench->table);
}

static void report_all(struct trace_bench* bench, const struct player* all, uint32_t count,
                       uint32_t runs)
{
    for (uint32_t i = 0; i < count; ++i) {
        report(bench, &all[i], find_vma(all, count, &all[i]), runs);
    }
}

static void run_record(struct trace_bench* bench, struct player* all, uint32_t count)
{
    const uint32_t runs = bench->runs != 0 ? bench->runs : RECORD_RUNS;
    for (uint32_t i = 0; i < count; ++i) {
        check_record(&all[i]);
    }
    for (uint32_t run = 0; run < runs; ++run) {
        for (uint32_t i = 0; i < count; ++i) {
            play_record(&all[i], run);
        }
    }
    report_all(bench, all, count, runs);
}

/* Divides the steps after which the given number of resources lives into runs. */
static void run_scaled(struct trace_bench* bench, struct player* all, uint32_t count)
{
    const uint32_t runs = bench->runs != 0 ? bench->runs : SCALE_RUNS;
    const struct trace_script* const script = &bench->script;
    const size_t length = (script->count - script->steady) / runs;
    const size_t played = script->steady + runs * length;
    for (uint32_t i = 0; i < count; ++i) {
        all[i].host_bytes = -bench_heap_bytes();
        begin(&all[i]);
        play(&all[i], 0, script->steady, 0);
        all[i].host_bytes += bench_heap_bytes();
    }
    for (uint32_t run = 0; run < runs; ++run) {
        for (uint32_t i = 0; i < count; ++i) {
            play(&all[i], script->steady + run * length, length, run);
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        check(&all[i], played);
    }
    report_all(bench, all, count, runs);
    for (uint32_t i = 0; i < count; ++i) {
        end(&all[i]);
    }
}

static uint32_t list_players(const struct trace_bench* bench, struct player* all)
{
    static const char* const policies[] = {"default", "same"};
    uint32_t count = 0;
    for (uint32_t policy = 0; policy < 2; ++policy) {
        for (uint32_t i = 0; i < allocator_peer_count; ++i) {
            if (!bench_is_listed(bench->policies, policies[policy]) ||
                !allocator_peer_is_listed(allocator_peers[i], bench->peers)) {
                continue;
            }
            all[count++] = (struct player){
                .bench = bench,
                .peer = allocator_peers[i],
                .policy = policies[policy],
                .options = {.block_size = policy == 0 ? 0 : bench->block_size},
                .items = bench_allocate(bench->script.slot_count, sizeof(struct allocator_item)),
            };
        }
    }
    return count;
}

/* Returns whether a heap is large enough. Near the end of a heap, allocators do other work than
 * allocation and are not compared. */
static bool fits(const struct trace_bench* bench)
{
    const double heap = (double)bench->device.heap_size;
    const double peak = (double)bench->script.peak_bytes;
    if (peak <= heap * MOST_OF_HEAP) {
        return true;
    }
    bench_complain("skipped: %s: %.1f GiB live, but the heap of %s has %.1f GiB; --heap makes a "
                   "simulated heap larger",
                   bench->trace->name, peak / GIB, bench->device.properties.deviceName, heap / GIB);
    return false;
}

static void play_all(struct trace_bench* bench)
{
    struct player* const all = bench_allocate(MAX_PLAYERS, sizeof(*all));
    const uint32_t count = list_players(bench, all);
    if (bench->scale == 0) {
        run_record(bench, all, count);
    } else {
        run_scaled(bench, all, count);
    }
    for (uint32_t i = 0; i < count; ++i) {
        free(all[i].items);
    }
    free(all);
}

static void run_trace(struct trace_bench* bench, const char* path)
{
    struct support_trace trace;
    struct support_error error = {{0}};
    if (!support_trace_load(path, &trace, &error)) {
        bench_die(BENCH_EXIT_USAGE, "%s", error.text);
    }
    bench->trace = &trace;
    if (bench->scale == 0) {
        trace_script_record(&trace, &bench->script);
    } else {
        const size_t runs = bench->runs != 0 ? bench->runs : SCALE_RUNS;
        trace_script_scale(&trace, bench->scale, runs * bench->operations, &bench->script);
    }
    if (bench->script.peak_bytes == 0) {
        bench_die(BENCH_EXIT_USAGE, "%s: the trace allocates nothing", path);
    }
    if (fits(bench)) {
        play_all(bench);
    }
    trace_script_release(&bench->script);
    support_trace_release(&trace);
}

static int parse(struct trace_bench* bench, int argc, char** argv)
{
    const struct bench_option options[] = {
        {"--device", "DEVICE", BENCH_OPTION_TEXT, &bench->device_name,
         "auto (default), vulkan:N, or simulated:PROFILE"},
        {"--heap", "N=SIZE", BENCH_OPTION_HEAP, &bench->heaps, "size of a simulated heap"},
        {"--peer", "LIST", BENCH_OPTION_TEXT, &bench->peers, "maar, maar-vma, vma, or all"},
        {"--policy", "LIST", BENCH_OPTION_TEXT, &bench->policies,
         "block sizes: default (each allocator's own), same, or all"},
        {"--block-size", "SIZE", BENCH_OPTION_SIZE, &bench->block_size,
         "preferred block size of policy same (64MiB)"},
        {"--scale", "N", BENCH_OPTION_COUNT, &bench->scale,
         "replay overlapping copies until N resources are alive"},
        {"--runs", "N", BENCH_OPTION_COUNT, &bench->runs, "timed runs (5; 21 with --scale)"},
        {"--operations", "N", BENCH_OPTION_COUNT, &bench->operations,
         "allocations and frees of a run with --scale (20000)"},
    };
    const struct bench_command command = {
        .name = "bench_trace",
        .summary = "Replays traces (maar-trace/1, plain or gzip) with the allocators.",
        .operands = "TRACE...",
        .options = options,
        .option_count = sizeof(options) / sizeof(options[0]),
    };
    static const char* const peers[] = {"maar", "maar-vma", "vma"};
    static const char* const policies[] = {"default", "same"};
    const int first = bench_parse_options(&command, argc, argv);
    bench_check_list("--peer", bench->peers, peers, 3);
    bench_check_list("--policy", bench->policies, policies, 2);
    if (bench->runs > BENCH_MAX_RUNS) {
        bench_die(BENCH_EXIT_USAGE, "--runs: at most %d", BENCH_MAX_RUNS);
    }
    if (first == argc) {
        bench_die(BENCH_EXIT_USAGE, "no trace given; see bench_trace --help");
    }
    return first;
}

int main(int argc, char** argv)
{
    struct trace_bench bench = {
        .device_name = "auto",
        .peers = "all",
        .policies = "all",
        .block_size = SAME_BLOCK_SIZE,
        .operations = SCALE_OPERATIONS,
    };
    const int first = parse(&bench, argc, argv);
    bench_note_peers();
    bench_device_open(&bench.device, bench.device_name, &bench.heaps);
    for (int i = first; i < argc; ++i) {
        run_trace(&bench, argv[i]);
    }
    bench_device_close(&bench.device);
    return 0;
}
