/*
 * The device-level benchmark: random churn of memory and of buffers by Maar, by
 * VulkanMemoryAllocator and by the driver alone, on one device in one process. Run k of every
 * contestant precedes run k + 1 of any, so that a disturbance of the machine affects all of them
 * equally.
 */
#include "bench/allocator_fill.h"
#include "bench/allocator_peer.h"
#include "bench/allocator_shared.h"
#include "bench/bench_common.h"
#include "bench/bench_row.h"
#include "bench/bench_team.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_CONTESTANTS = 16,
    LARGE = 100000,
    OPERATIONS = 20000,       /* of a run */
    DRIVER_OPERATIONS = 5000, /* of a run that calls vkAllocateMemory, which is slow */
    LEAD = 10,                /* one in LEAD operations of a run precedes the timed ones */
    LEAST_LEAD = 2000,        /* the least number of these operations */
    FILL_RUNS = 5,            /* of a first fill, by default */
    WARM_UP_RUNS = 2,         /* untimed runs before the timed ones, by default */
    DRIVER_MAX_LIVE = 10000,  /* VkDeviceMemory objects: a process has 65,530 mappings */
    DRIVER_COUNT_RESERVE =
        256, /* VkDeviceMemory objects kept for other contestants if the device limits them */
};

/* The largest part of a run by which a thread may be late in a quiet run. */
#define MOST_SKEW 0.05

struct allocator_bench {
    const char* workload;
    const char* peers;
    const char* sync;
    const char* cases;
    const char* device_name;
    struct bench_heaps heaps;
    uint64_t block_size;
    uint32_t live;
    uint32_t threads;
    uint32_t runs;       /* 0: chosen by the number of live allocations */
    uint32_t operations; /* of a run, for each thread; 0: likewise */
    uint32_t warm_up;    /* operations per slot; 0: two untimed runs */
    struct bench_device device;
    struct bench_team* alone;
    struct bench_team* together;
    struct bench_table table;
};

/* The work of one thread of a contestant. */
struct worker {
    struct allocator_item* items;
    uint32_t* sizes;
    uint32_t slot_count;
    struct bench_operation* operations;
    uint32_t lead; /* operations before the timed ones */
    uint32_t operation_count;
    uint64_t state; /* of the random numbers */
    uint64_t failures;
    double start, end;  /* of the last run, wall clock, ns */
    double cpu_ns;      /* of the last run */
    uint64_t preempted; /* the number of preemptions in the last run */
};

/* An allocator that one or more threads use. */
struct contestant {
    const struct allocator_bench* bench;
    const struct allocator_peer* peer;
    bool external;
    bool buffers;
    uint32_t threads;
    uint32_t live;
    struct bench_team* team;
    void* allocator;
    struct allocator_tally tally;
    struct worker* workers;
    uint64_t fill_calls;
    double host_bytes;
    double wall[BENCH_MAX_RUNS], cpu[BENCH_MAX_RUNS], parallel[BENCH_MAX_RUNS];
    double quiet[BENCH_MAX_RUNS]; /* wall-clock times of runs without preemption */
    uint32_t quiet_count;
};

static void churn_memory(const struct contestant* contestant, struct worker* worker,
                         const struct bench_operation* operations, uint32_t count)
{
    const struct allocator_peer* const peer = contestant->peer;
    void* const allocator = contestant->allocator;
    for (uint32_t i = 0; i < count; ++i) {
        const struct bench_operation* const operation = &operations[i];
        struct allocator_item* const item = &worker->items[operation->slot];
        if (item->allocation.number != 0) {
            peer->free(allocator, item);
        }
        worker->sizes[operation->slot] = operation->size;
        if (!peer->allocate(allocator, operation->size, BENCH_ALIGNMENT, item)) {
            item->allocation.number = 0;
            worker->failures += 1;
        }
    }
}

static void churn_buffers(const struct contestant* contestant, struct worker* worker,
                          const struct bench_operation* operations, uint32_t count)
{
    const struct allocator_peer* const peer = contestant->peer;
    void* const allocator = contestant->allocator;
    for (uint32_t i = 0; i < count; ++i) {
        const struct bench_operation* const operation = &operations[i];
        struct allocator_item* const item = &worker->items[operation->slot];
        if (item->allocation.number != 0) {
            peer->destroy_buffer(allocator, item);
        }
        worker->sizes[operation->slot] = operation->size;
        if (!peer->create_buffer(allocator, operation->size, item)) {
            item->allocation.number = 0;
            worker->failures += 1;
        }
    }
}

static void churn(const struct contestant* contestant, struct worker* worker,
                  const struct bench_operation* operations, uint32_t count)
{
    if (contestant->buffers) {
        churn_buffers(contestant, worker, operations, count);
    } else {
        churn_memory(contestant, worker, operations, count);
    }
}

/* The measured loop. It is a separate function, so that profilers can name it. */
static BENCH_NOINLINE void bench_operations(const struct contestant* contestant,
                                            struct worker* worker)
{
    churn(contestant, worker, &worker->operations[worker->lead], worker->operation_count);
}

/* Runs the drawn operations on all threads at once. The lead brings this contestant into the
 * caches. */
static void play(const struct contestant* contestant, struct worker* worker)
{
    churn(contestant, worker, worker->operations, worker->lead);
    if (contestant->threads > 1) {
        bench_team_meet(contestant->team);
    }
    const uint64_t preempted = bench_preemptions();
    worker->start = bench_wall_ns();
    const double cpu = bench_thread_ns();
    bench_operations(contestant, worker);
    worker->cpu_ns = bench_thread_ns() - cpu;
    worker->end = bench_wall_ns();
    worker->preempted = bench_preemptions() - preempted;
}

static uint32_t run_operations(const struct contestant* contestant)
{
    if (contestant->bench->operations != 0) {
        return contestant->bench->operations;
    }
    const bool calls_driver = contestant->peer->is_control && !contestant->buffers;
    return calls_driver ? DRIVER_OPERATIONS : OPERATIONS;
}

static void fill_work(void* argument, uint32_t index)
{
    const struct contestant* const contestant = argument;
    struct worker* const worker = &contestant->workers[index];
    bench_draw_fill(&worker->state, worker->slot_count, false, worker->operations);
    churn(contestant, worker, worker->operations, worker->slot_count);
}

static void round_work(void* argument, uint32_t index)
{
    const struct contestant* const contestant = argument;
    struct worker* const worker = &contestant->workers[index];
    bench_draw(&worker->state, worker->slot_count, false, worker->operations, worker->slot_count);
    churn(contestant, worker, worker->operations, worker->slot_count);
}

static void run_work(void* argument, uint32_t index)
{
    const struct contestant* const contestant = argument;
    struct worker* const worker = &contestant->workers[index];
    bench_draw(&worker->state, worker->slot_count, false, worker->operations,
               worker->lead + worker->operation_count);
    play(contestant, worker);
}

static void clear_work(void* argument, uint32_t index)
{
    struct contestant* const contestant = argument;
    struct worker* const worker = &contestant->workers[index];
    for (uint32_t i = 0; i < worker->slot_count; ++i) {
        if (worker->items[i].allocation.number == 0) {
            continue;
        }
        if (contestant->buffers) {
            contestant->peer->destroy_buffer(contestant->allocator, &worker->items[i]);
        } else {
            contestant->peer->free(contestant->allocator, &worker->items[i]);
        }
    }
}

static void make_workers(struct contestant* contestant)
{
    contestant->workers = bench_allocate(contestant->threads, sizeof(*contestant->workers));
    for (uint32_t i = 0; i < contestant->threads; ++i) {
        struct worker* const worker = &contestant->workers[i];
        worker->slot_count = contestant->live / contestant->threads;
        worker->state = BENCH_SEED + (uint64_t)i * 0x9E3779B97F4A7C15u;
        worker->items = bench_allocate(worker->slot_count, sizeof(*worker->items));
        worker->sizes = bench_allocate(worker->slot_count, sizeof(*worker->sizes));
        worker->operation_count = run_operations(contestant);
        const uint32_t lead = worker->operation_count / LEAD;
        worker->lead = lead > LEAST_LEAD ? lead : LEAST_LEAD;
        const uint32_t most = worker->operation_count + worker->lead;
        worker->operations = bench_allocate(most > worker->slot_count ? most : worker->slot_count,
                                            sizeof(*worker->operations));
    }
}

static void begin(struct contestant* contestant)
{
    const struct allocator_bench* const bench = contestant->bench;
    make_workers(contestant);
    const struct allocator_options options = {.externally_synchronized = contestant->external,
                                              .block_size = bench->block_size};
    contestant->host_bytes = -bench_heap_bytes();
    contestant->allocator = contestant->peer->create(&bench->device, &options, &contestant->tally);
    bench_team_run(contestant->team, fill_work, contestant);
    contestant->fill_calls = atomic_load(&contestant->tally.calls);
    for (uint32_t i = 0; i < bench->warm_up; ++i) {
        bench_team_run(contestant->team, round_work, contestant);
    }
    for (uint32_t i = 0; bench->warm_up == 0 && i < WARM_UP_RUNS; ++i) {
        bench_team_run(contestant->team, run_work, contestant);
    }
    contestant->host_bytes += bench_heap_bytes();
}

/* The wall-clock time lasts from the first thread's start to the last thread's end. */
static void run(struct contestant* contestant, uint32_t index)
{
    bench_team_run(contestant->team, run_work, contestant);
    const struct worker* const workers = contestant->workers;
    double first = workers[0].start, last_start = first, last = workers[0].end, cpu_ns = 0;
    uint64_t preempted = 0;
    for (uint32_t i = 0; i < contestant->threads; ++i) {
        first = workers[i].start < first ? workers[i].start : first;
        last_start = workers[i].start > last_start ? workers[i].start : last_start;
        last = workers[i].end > last ? workers[i].end : last;
        cpu_ns += workers[i].cpu_ns / contestant->threads;
        preempted += workers[i].preempted;
    }
    contestant->wall[index] = (last - first) / workers[0].operation_count;
    contestant->cpu[index] = cpu_ns / workers[0].operation_count;
    contestant->parallel[index] = cpu_ns / (last - first);
    if (preempted == 0 && last_start - first <= MOST_SKEW * (last - first)) {
        contestant->quiet[contestant->quiet_count++] = contestant->wall[index];
    }
}

/* Checks the locations of all allocations. Returns the live bytes. */
static double check(const struct contestant* contestant)
{
    struct bench_range* const ranges = bench_allocate(contestant->live, sizeof(*ranges));
    size_t count = 0;
    double bytes = 0;
    for (uint32_t i = 0; i < contestant->threads; ++i) {
        const struct worker* const worker = &contestant->workers[i];
        for (uint32_t j = 0; j < worker->slot_count; ++j) {
            if (worker->items[j].allocation.number == 0 || contestant->peer->place == NULL) {
                continue;
            }
            struct allocator_place place;
            contestant->peer->place(contestant->allocator, &worker->items[j], &place);
            struct bench_range* const range = &ranges[count++];
            *range = (struct bench_range){
                .space_size = place.block_size, .offset = place.offset, .size = worker->sizes[j]};
            range->alignment = contestant->buffers ? 0 : BENCH_ALIGNMENT;
            memcpy(&range->space, &place.memory, sizeof(place.memory));
            bytes += worker->sizes[j];
        }
    }
    bench_check_ranges(contestant->peer->name, ranges, count);
    free(ranges);
    return bytes;
}

static void end(struct contestant* contestant)
{
    bench_team_run(contestant->team, clear_work, contestant);
    contestant->peer->destroy(contestant->allocator);
    for (uint32_t i = 0; i < contestant->threads; ++i) {
        free(contestant->workers[i].items);
        free(contestant->workers[i].sizes);
        free(contestant->workers[i].operations);
    }
    free(contestant->workers);
}

/* Returns another contestant with the same synchronization, or NULL. */
static const struct contestant* find_other(const struct contestant* all, uint32_t count,
                                           const struct contestant* contestant, const char* peer,
                                           uint32_t threads)
{
    for (uint32_t i = 0; i < count; ++i) {
        if (strcmp(all[i].peer->name, peer) == 0 && all[i].threads == threads &&
            all[i].external == contestant->external && &all[i] != contestant) {
            return &all[i];
        }
    }
    return NULL;
}

static double quiet_ns(const struct contestant* contestant)
{
    return contestant != NULL && contestant->quiet_count != 0
               ? bench_median_of(contestant->quiet, contestant->quiet_count)
               : NAN;
}

/* With one thread, compares CPU times of the same runs; with more, wall-clock times of quiet
 * runs. */
static double ratio_to_vma(const struct contestant* all, uint32_t count,
                           const struct contestant* contestant, uint32_t runs)
{
    const struct contestant* const vma =
        find_other(all, count, contestant, "vma", contestant->threads);
    if (vma == NULL || contestant->peer->is_control) {
        return NAN;
    }
    return contestant->threads == 1 ? bench_median_ratio(contestant->cpu, vma->cpu, runs)
                                    : quiet_ns(contestant) / quiet_ns(vma);
}

/* Returns the throughput of all threads together as a multiple of one thread's. */
static double speedup(const struct contestant* all, uint32_t count,
                      const struct contestant* contestant)
{
    if (contestant->threads == 1) {
        return NAN;
    }
    return contestant->threads *
           quiet_ns(find_other(all, count, contestant, contestant->peer->name, 1)) /
           quiet_ns(contestant);
}

static void add_blocks(struct bench_row* row, const struct contestant* contestant,
                       double live_bytes)
{
    struct allocator_tally* const tally = (struct allocator_tally*)&contestant->tally;
    if (contestant->peer->place == NULL) {
        static const char* const keys[] = {"calls_fill", "calls", "blocks", "block_mib", "used"};
        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); ++i) {
            bench_row_none(row, keys[i]);
        }
        return;
    }
    const double bytes = (double)atomic_load(&tally->bytes);
    bench_row_count(row, "calls_fill", contestant->fill_calls);
    bench_row_count(row, "calls", atomic_load(&tally->calls));
    bench_row_count(row, "blocks", atomic_load(&tally->blocks));
    bench_row_number(row, "block_mib", bytes / 1048576.0, 1);
    bench_row_number(row, "used", live_bytes / bytes, 4);
}

static void report(struct allocator_bench* bench, const struct contestant* all, uint32_t count,
                   const struct contestant* contestant, uint32_t runs)
{
    struct bench_row row;
    const double live_bytes = check(contestant);
    uint64_t failures = 0;
    for (uint32_t i = 0; i < contestant->threads; ++i) {
        failures += contestant->workers[i].failures;
    }
    bench_row_begin(&row, "allocator");
    bench_row_text(&row, ".device", bench->device.properties.deviceName);
    bench_row_text(&row, "workload", contestant->buffers ? "buffer" : "memory");
    bench_row_text(&row, "peer", contestant->peer->name);
    bench_row_text(&row, "sync", contestant->external ? "external" : "internal");
    bench_row_count(&row, "threads", contestant->threads);
    bench_row_count(&row, "live", contestant->live);
    bench_row_number(&row, "cpu_ns", bench_median_of(contestant->cpu, runs), 1);
    bench_row_number(&row, "cpu_min", bench_least_of(contestant->cpu, runs), 1);
    bench_row_number(&row, "wall_ns", bench_median_of(contestant->wall, runs), 1);
    bench_row_number(&row, "wall_min", bench_least_of(contestant->wall, runs), 1);
    bench_row_number(&row, "parallel", bench_median_of(contestant->parallel, runs), 2);
    bench_row_count(&row, "quiet", contestant->quiet_count);
    bench_row_number(&row, "quiet_ns", quiet_ns(contestant), 1);
    bench_row_number(&row, "of_vma", ratio_to_vma(all, count, contestant, runs), 3);
    bench_row_number(&row, "speedup", speedup(all, count, contestant), 2);
    add_blocks(&row, contestant, live_bytes);
    bench_row_number(&row, "host_b", contestant->host_bytes / contestant->live, 1);
    bench_row_count(&row, "failures", failures);
    bench_row_count(&row, ".runs", runs);
    bench_row_count(&row, ".operations", run_operations(contestant));
    bench_row_text(&row, ".self_check", contestant->peer->place != NULL ? "passed" : "none");
    bench_row_end(&row, &bench->table);
}

static uint32_t control_live(const struct allocator_bench* bench)
{
    const uint32_t limit = bench->device.properties.limits.maxMemoryAllocationCount;
    uint32_t live = bench->live < DRIVER_MAX_LIVE ? bench->live : DRIVER_MAX_LIVE;
    if (limit > DRIVER_COUNT_RESERVE && live > limit - DRIVER_COUNT_RESERVE) {
        live = limit - DRIVER_COUNT_RESERVE;
    }
    return live;
}

static uint32_t add_contestant(struct allocator_bench* bench, struct contestant* all,
                               uint32_t count, struct contestant wanted)
{
    const bool serves =
        wanted.buffers ? wanted.peer->create_buffer != NULL : wanted.peer->allocate != NULL;
    if (!serves || !allocator_peer_is_listed(wanted.peer, bench->peers) ||
        !bench_is_listed(bench->sync, wanted.external ? "external" : "internal")) {
        return count;
    }
    wanted.bench = bench;
    wanted.team = wanted.threads == 1 ? bench->alone : bench->together;
    wanted.live = wanted.peer->is_control && !wanted.buffers ? control_live(bench) : bench->live;
    all[count] = wanted;
    return count + 1;
}

static uint32_t list_contestants(struct allocator_bench* bench, bool buffers,
                                 struct contestant* all)
{
    static const struct allocator_peer* const controls[] = {
        &allocator_peer_driver, &allocator_peer_bind, &allocator_peer_create};
    uint32_t count = 0;
    for (uint32_t i = 0; i < allocator_peer_count + 3; ++i) {
        struct contestant one = {.peer = i < allocator_peer_count
                                             ? allocator_peers[i]
                                             : controls[i - allocator_peer_count],
                                 .buffers = buffers,
                                 .threads = 1};
        count = add_contestant(bench, all, count, one);
        if (!one.peer->is_control) {
            one.external = true;
            count = add_contestant(bench, all, count, one);
            one.external = false;
        }
        if (bench->threads > 1) {
            one.threads = bench->threads;
            count = add_contestant(bench, all, count, one);
        }
    }
    return count;
}

static void compare(struct allocator_bench* bench, bool buffers)
{
    struct contestant* const all = bench_allocate(MAX_CONTESTANTS, sizeof(*all));
    const uint32_t count = list_contestants(bench, buffers, all);
    const uint32_t runs = bench->runs != 0 ? bench->runs : bench->live >= LARGE ? 11 : 21;
    for (uint32_t i = 0; i < count; ++i) {
        begin(&all[i]);
    }
    for (uint32_t i = 0; i < runs; ++i) {
        for (uint32_t j = 0; j < count; ++j) {
            run(&all[j], i);
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        report(bench, all, count, &all[i], runs);
    }
    for (uint32_t i = 0; i < count; ++i) {
        end(&all[i]);
    }
    free(all);
}

/* At least two threads take part. */
static void share(struct allocator_bench* bench)
{
    const struct shared_options options = {
        .device = &bench->device,
        .peers = bench->peers,
        .cases = bench->cases,
        .block_size = bench->block_size,
        .live = bench->live,
        .threads = bench->threads > 1 ? bench->threads : 2,
        .runs = bench->runs != 0 ? bench->runs : 21,
        .operations = bench->operations != 0 ? bench->operations : OPERATIONS,
    };
    bench_shared(&options, &bench->table);
}

/* The first fills take part only where they are named. */
static void compare_fills(struct allocator_bench* bench, bool buffers)
{
    if (strcmp(bench->workload, "all") == 0 ||
        !bench_is_listed(bench->workload, buffers ? "first-fill-buffer" : "first-fill")) {
        return;
    }
    const struct allocator_fill fill = {
        .device = &bench->device,
        .peers = bench->peers,
        .live = bench->live,
        .runs = bench->runs != 0 ? bench->runs : FILL_RUNS,
        .block_size = bench->block_size,
        .buffers = buffers,
    };
    allocator_fill_compare(&fill, &bench->table);
}

static void parse(struct allocator_bench* bench, int argc, char** argv)
{
    const struct bench_option options[] = {
        {"--device", "DEVICE", BENCH_OPTION_TEXT, &bench->device_name,
         "auto (default), vulkan:N, or simulated:PROFILE"},
        {"--heap", "N=SIZE", BENCH_OPTION_HEAP, &bench->heaps, "size of a simulated heap"},
        {"--workload", "LIST", BENCH_OPTION_TEXT, &bench->workload,
         "memory, buffer, shared, first-fill, first-fill-buffer; all: the first two"},
        {"--peer", "LIST", BENCH_OPTION_TEXT, &bench->peers,
         "maar, maar-vma, vma, driver, driver-bind, driver-create, or all"},
        {"--sync", "LIST", BENCH_OPTION_TEXT, &bench->sync, "internal, external, or all"},
        {"--case", "LIST", BENCH_OPTION_TEXT, &bench->cases,
         "of shared: own, disjoint, mixed, handover, or all"},
        {"--live", "N", BENCH_OPTION_COUNT, &bench->live, "allocations alive (10000)"},
        {"--threads", "N", BENCH_OPTION_COUNT, &bench->threads,
         "also with N threads on one allocator"},
        {"--runs", "N", BENCH_OPTION_COUNT, &bench->runs, "timed runs (21; 11 from 100000 live)"},
        {"--operations", "N", BENCH_OPTION_COUNT, &bench->operations,
         "pairs of a run, each thread (20000)"},
        {"--warm-up", "ROUNDS", BENCH_OPTION_COUNT, &bench->warm_up,
         "untimed pairs per slot, instead of two untimed runs"},
        {"--block-size", "SIZE", BENCH_OPTION_SIZE, &bench->block_size,
         "preferred block size of both, instead of their defaults"},
    };
    const struct bench_command command = {
        .name = "bench_allocator",
        .summary = "Times allocate + free and create + destroy pairs on a device.",
        .options = options,
        .option_count = sizeof(options) / sizeof(options[0]),
    };
    static const char* const peers[] = {"maar",   "maar-vma",    "vma",
                                        "driver", "driver-bind", "driver-create"};
    static const char* const workloads[] = {"memory", "buffer", "shared", "first-fill",
                                            "first-fill-buffer"};
    static const char* const cases[] = {"own", "disjoint", "mixed", "handover"};
    static const char* const syncs[] = {"internal", "external"};
    bench_parse_options(&command, argc, argv);
    bench_check_list("--peer", bench->peers, peers, 6);
    bench_check_list("--workload", bench->workload, workloads, 5);
    bench_check_list("--case", bench->cases, cases, 4);
    bench_check_list("--sync", bench->sync, syncs, 2);
    if (bench->live < 4 * (bench->threads > 2 ? bench->threads : 2) &&
        strcmp(bench->workload, "all") != 0 && bench_is_listed(bench->workload, "shared")) {
        bench_die(BENCH_EXIT_USAGE, "--live: at least 4 for each thread of shared");
    }
    if (bench->runs > BENCH_MAX_RUNS) {
        bench_die(BENCH_EXIT_USAGE, "--runs: at most %d", BENCH_MAX_RUNS);
    }
    if (bench->threads > 64 || bench->threads > bench->live) {
        bench_die(BENCH_EXIT_USAGE, "--threads: at most 64, and no more than --live");
    }
}

int main(int argc, char** argv)
{
    struct allocator_bench bench = {
        .workload = "all",
        .peers = "all",
        .sync = "all",
        .cases = "all",
        .device_name = "auto",
        .live = 10000,
        .threads = 1,
    };
    parse(&bench, argc, argv);
    bench_note_peers();
    bench_device_open(&bench.device, bench.device_name, &bench.heaps);
    bench.alone = bench_team_create(1);
    bench.together = bench_team_create(bench.threads);
    if (bench_is_listed(bench.workload, "memory")) {
        compare(&bench, false);
    }
    if (bench_is_listed(bench.workload, "buffer")) {
        compare(&bench, true);
    }
    if (strcmp(bench.workload, "all") != 0 && bench_is_listed(bench.workload, "shared")) {
        share(&bench);
    }
    compare_fills(&bench, false);
    compare_fills(&bench, true);
    bench_team_destroy(bench.together);
    bench_team_destroy(bench.alone);
    bench_device_close(&bench.device);
    return 0;
}
