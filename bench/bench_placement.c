/*
 * Placement benchmark: random churn, growth to the first failure, fill from empty, and ordered
 * workloads, at the level of offsets. JSON lines on standard output, a table on standard error.
 * docs/placement.md says what each workload is and what it measured.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "bench/placement_peer.h"

enum { ALIGNMENT = 256, MEAN_DRAWS = 200000, MAX_RUNS = 64 };

struct bench_options {
    const char* workload;
    const char* peer;
    uint32_t live;
    uint32_t runs;       /* 0: as the workload has it */
    uint32_t operations; /* of a run; 0: as the workload has it */
    uint32_t warm_up;    /* operations per slot; 0: as the workload has it */
    bool raw;
};

struct bench_slot {
    uint64_t handle; /* 0: empty */
    uint64_t offset;
    uint64_t size;
};

struct bench_operation {
    uint32_t slot;
    uint32_t size;
};

struct bench {
    const struct bench_options* options;
    const struct placement_peer* peer;
    void* block;
    uint64_t capacity;
    struct bench_slot* slots;
    uint64_t state; /* of the random numbers */
    uint64_t failures;
    double host_bytes;
};

static const struct placement_peer* const peers[] = {
    &placement_peer_tlsf,
    &placement_peer_buddy,
    &placement_peer_linear,
};

static uint64_t bench_random(uint64_t* state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint32_t round_up(uint32_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Log-uniform, 256 B to 1 MiB. */
static uint32_t bench_size(uint64_t* state, bool raw)
{
    const double u = (double)(bench_random(state) >> 11) * 0x1.0p-53;
    const uint32_t size = (uint32_t)(256.0 * pow(4096.0, u));
    return raw ? size : round_up(size);
}

static double mean_size(void)
{
    uint64_t state = 88172645463325252u;
    double sum = 0;
    for (uint32_t i = 0; i < MEAN_DRAWS; ++i) {
        sum += bench_size(&state, false);
    }
    return sum / MEAN_DRAWS;
}

static double thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double heap_bytes(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    const struct mallinfo2 info = mallinfo2();
    return (double)(info.uordblks + info.hblkhd);
#else
    return 0;
#endif
}

static int compare_doubles(const void* a, const void* b)
{
    const double x = *(const double*)a;
    const double y = *(const double*)b;
    return (x > y) - (x < y);
}

static void* must_allocate(size_t count, size_t size)
{
    void* memory = calloc(count, size);
    if (memory == NULL) {
        fprintf(stderr, "bench_placement: out of memory\n");
        exit(1);
    }
    return memory;
}

/* The loop that is timed and counted; a function of its own, so that profilers can name it. */
static void __attribute__((noinline))
bench_operations(struct bench* bench, const struct bench_operation* operations, uint32_t count)
{
    const struct placement_peer* peer = bench->peer;
    for (uint32_t i = 0; i < count; ++i) {
        struct bench_slot* slot = &bench->slots[operations[i].slot];
        if (slot->handle != 0) {
            peer->free(bench->block, slot->handle);
        }
        slot->size = operations[i].size;
        if (!peer->allocate(bench->block, slot->size, ALIGNMENT, &slot->handle, &slot->offset)) {
            slot->handle = 0;
            bench->failures += 1;
        }
    }
}

static void draw_operations(struct bench* bench, struct bench_operation* operations, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        operations[i].slot = (uint32_t)(bench_random(&bench->state) % bench->options->live);
        operations[i].size = bench_size(&bench->state, bench->options->raw);
    }
}

static int compare_slots(const void* a, const void* b)
{
    const struct bench_slot* x = a;
    const struct bench_slot* y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Ends the program if ranges overlap, are misaligned or out of bounds. */
static void bench_verify(const struct bench* bench, const struct bench_slot* slots, uint32_t count)
{
    struct bench_slot* sorted = must_allocate(count + 1, sizeof(*sorted));
    uint32_t live = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (slots[i].handle != 0) {
            sorted[live++] = slots[i];
        }
    }
    qsort(sorted, live, sizeof(*sorted), compare_slots);
    uint64_t end = 0;
    for (uint32_t i = 0; i < live; ++i) {
        if (sorted[i].offset < end || sorted[i].offset % ALIGNMENT != 0 ||
            sorted[i].offset + sorted[i].size > bench->capacity) {
            fprintf(stderr, "bench_placement: %s placed a range wrongly\n", bench->peer->name);
            exit(1);
        }
        end = sorted[i].offset + sorted[i].size;
    }
    free(sorted);
}

static void bench_begin(struct bench* bench, double capacity, uint32_t slot_count)
{
    bench->state = 88172645463325252u;
    bench->failures = 0;
    bench->capacity = (uint64_t)capacity / ALIGNMENT * ALIGNMENT;
    bench->slots = must_allocate(slot_count, sizeof(*bench->slots));
    bench->host_bytes = -heap_bytes();
    bench->block = bench->peer->create(bench->capacity);
    if (bench->block == NULL) {
        fprintf(stderr, "bench_placement: %s cannot be created\n", bench->peer->name);
        exit(1);
    }
}

static void bench_end(struct bench* bench)
{
    bench->peer->destroy(bench->block);
    free(bench->slots);
}

/* Fills the slots and churns them warm. */
static void bench_warm_up(struct bench* bench, uint32_t rounds)
{
    const uint32_t live = bench->options->live;
    struct bench_operation* operations = must_allocate(live, sizeof(*operations));
    for (uint32_t i = 0; i < live; ++i) {
        operations[i].slot = i;
        operations[i].size = bench_size(&bench->state, bench->options->raw);
    }
    bench_operations(bench, operations, live);
    for (uint32_t round = 0; round < rounds; ++round) {
        draw_operations(bench, operations, live);
        bench_operations(bench, operations, live);
    }
    free(operations);
    bench->host_bytes += heap_bytes();
}

static uint32_t warm_up_rounds(const struct bench_options* options)
{
    if (options->warm_up != 0) {
        return options->warm_up;
    }
    if (options->live >= 1000000) {
        return 5;
    }
    return options->raw && options->live >= 100000 ? 4 : 10;
}

static void report(const struct bench* bench, const char* workload, const char* unit, double value,
                   double least)
{
    const struct bench_options* options = bench->options;
    printf("{\"bench\":\"placement\",\"peer\":\"%s\",\"workload\":\"%s\",\"live\":%u,"
           "\"sizes\":\"%s\",\"%s\":%.5g,\"min\":%.5g,\"failures\":%" PRIu64
           ",\"host_bytes_per_live\":%.4g}\n",
           bench->peer->name, workload, options->live, options->raw ? "raw" : "rounded", unit,
           value, least, bench->failures, bench->host_bytes / options->live);
    fprintf(stderr,
            "%-12s %-8s %8u %-8s %10.5g %-10s min %-8.5g failures %" PRIu64 ", host B/live %.1f\n",
            bench->peer->name, workload, options->live, options->raw ? "raw" : "rounded", value,
            unit, least, bench->failures, bench->host_bytes / options->live);
}

static void report_runs(const struct bench* bench, const char* workload, double* ns, uint32_t runs)
{
    qsort(ns, runs, sizeof(*ns), compare_doubles);
    report(bench, workload, "ns", ns[runs / 2], ns[0]);
}

/* From the churned state: free one, allocate two, until the first failure. */
static double bench_grow(struct bench* bench)
{
    const uint32_t live = bench->options->live;
    const uint32_t limit = live * 4;
    struct bench_slot* slots = must_allocate(limit, sizeof(*slots));
    uint32_t count = 0;
    double bytes = 0;
    for (uint32_t i = 0; i < live; ++i) {
        if (bench->slots[i].handle != 0) {
            slots[count++] = bench->slots[i];
            bytes += round_up((uint32_t)bench->slots[i].size);
        }
    }
    bool failed = false;
    while (!failed && count != 0 && count + 2 < limit) {
        const uint32_t victim = (uint32_t)(bench_random(&bench->state) % count);
        bench->peer->free(bench->block, slots[victim].handle);
        bytes -= round_up((uint32_t)slots[victim].size);
        slots[victim] = slots[--count];
        for (uint32_t i = 0; i < 2 && !failed; ++i) {
            struct bench_slot* slot = &slots[count];
            slot->size = bench_size(&bench->state, bench->options->raw);
            failed = !bench->peer->allocate(bench->block, slot->size, ALIGNMENT, &slot->handle,
                                            &slot->offset);
            if (!failed) {
                bytes += round_up((uint32_t)slot->size);
                count += 1;
            }
        }
    }
    bench_verify(bench, slots, count);
    free(slots);
    return bytes / (double)bench->capacity;
}

static void run_churn(struct bench* bench, double mean, bool grow)
{
    const struct bench_options* options = bench->options;
    const bool large = options->live >= 1000000;
    uint32_t runs = options->raw ? (options->live >= 100000 ? 7 : 11) : (large ? 7 : 21);
    uint32_t operations =
        options->raw && options->live >= 100000 ? 50000 : (large ? 500000 : 200000);
    runs = options->runs != 0 && options->runs <= MAX_RUNS ? options->runs : runs;
    operations = options->operations != 0 ? options->operations : operations;
    bench_begin(bench, 1.3 * options->live * mean, options->live);
    bench_warm_up(bench, warm_up_rounds(options));
    if (!grow) {
        struct bench_operation* list = must_allocate(operations, sizeof(*list));
        double ns[MAX_RUNS];
        for (uint32_t run = 0; run < runs; ++run) {
            draw_operations(bench, list, operations);
            const double start = thread_ns();
            bench_operations(bench, list, operations);
            ns[run] = (thread_ns() - start) / operations;
        }
        free(list);
        bench_verify(bench, bench->slots, options->live);
        report_runs(bench, "churn", ns, runs);
    } else {
        const double occupancy = bench_grow(bench);
        report(bench, "growth", "occupancy", occupancy, occupancy);
    }
    bench_end(bench);
}

static void run_fill(struct bench* bench, double mean)
{
    const uint32_t limit = bench->options->live * 2 + 64;
    bench_begin(bench, bench->options->live * mean, limit);
    double bytes = 0;
    uint32_t count = 0;
    while (count < limit) {
        struct bench_slot* slot = &bench->slots[count];
        slot->size = bench_size(&bench->state, bench->options->raw);
        if (!bench->peer->allocate(bench->block, slot->size, ALIGNMENT, &slot->handle,
                                   &slot->offset)) {
            slot->handle = 0;
            break;
        }
        bytes += round_up((uint32_t)slot->size);
        count += 1;
    }
    bench->host_bytes += heap_bytes();
    bench_verify(bench, bench->slots, count);
    report(bench, "fill", "occupancy", bytes / (double)bench->capacity,
           bytes / (double)bench->capacity);
    bench_end(bench);
}

/* FIFO: free the oldest, allocate the same size again, once for each. */
static double ordered_fifo(struct bench* bench)
{
    const uint32_t live = bench->options->live;
    const double start = thread_ns();
    for (uint32_t i = 0; i < live; ++i) {
        struct bench_slot* slot = &bench->slots[i];
        if (slot->handle != 0) {
            bench->peer->free(bench->block, slot->handle);
        }
        if (!bench->peer->allocate(bench->block, slot->size, ALIGNMENT, &slot->handle,
                                   &slot->offset)) {
            slot->handle = 0;
            bench->failures += 1;
        }
    }
    return (thread_ns() - start) / live;
}

static void ordered_fill(struct bench* bench)
{
    const uint32_t live = bench->options->live;
    for (uint32_t i = 0; i < live; ++i) {
        struct bench_slot* slot = &bench->slots[i];
        if (!bench->peer->allocate(bench->block, slot->size, ALIGNMENT, &slot->handle,
                                   &slot->offset)) {
            slot->handle = 0;
            bench->failures += 1;
        }
    }
}

/* LIFO: allocate all, free in reverse. */
static double ordered_lifo(struct bench* bench)
{
    const uint32_t live = bench->options->live;
    const double start = thread_ns();
    ordered_fill(bench);
    for (uint32_t i = live; i-- > 0;) {
        if (bench->slots[i].handle != 0) {
            bench->peer->free(bench->block, bench->slots[i].handle);
        }
    }
    return (thread_ns() - start) / live;
}

static double ordered_bump(struct bench* bench)
{
    const double start = thread_ns();
    ordered_fill(bench);
    bench->peer->reset(bench->block);
    return (thread_ns() - start) / bench->options->live;
}

static void run_ordered(struct bench* bench, double mean)
{
    static const struct {
        const char* name;
        double (*run)(struct bench* bench);
    } orders[] = {{"fifo", ordered_fifo}, {"lifo", ordered_lifo}, {"bump", ordered_bump}};
    const uint32_t runs =
        bench->options->runs != 0 && bench->options->runs <= MAX_RUNS ? bench->options->runs : 7;
    for (uint32_t order = 0; order < 3; ++order) {
        double ns[MAX_RUNS];
        bench_begin(bench, 1.3 * bench->options->live * mean, bench->options->live);
        for (uint32_t i = 0; i < bench->options->live; ++i) {
            bench->slots[i].size = bench_size(&bench->state, false);
        }
        ordered_fill(bench);
        bench->host_bytes += heap_bytes();
        if (order != 0) {
            bench->peer->reset(bench->block);
        }
        for (uint32_t run = 0; run < runs; ++run) {
            ns[run] = orders[order].run(bench);
        }
        if (order == 0) {
            bench_verify(bench, bench->slots, bench->options->live);
        }
        report_runs(bench, orders[order].name, ns, runs);
        bench_end(bench);
    }
}

static bool is_chosen(const char* choice, const char* name)
{
    return strcmp(choice, "all") == 0 || strcmp(choice, name) == 0;
}

static void run_peer(const struct bench_options* options, const struct placement_peer* peer,
                     double mean)
{
    struct bench bench = {.options = options, .peer = peer};
    if (is_chosen(options->workload, "churn") && !peer->is_ordered) {
        run_churn(&bench, mean, false);
    }
    if (is_chosen(options->workload, "growth") && !peer->is_ordered) {
        run_churn(&bench, mean, true);
    }
    if (is_chosen(options->workload, "fill")) {
        run_fill(&bench, mean);
    }
    if (is_chosen(options->workload, "ordered")) {
        run_ordered(&bench, mean);
    }
}

static bool parse_count(const char* text, uint32_t* number)
{
    char* end = NULL;
    const unsigned long value = strtoul(text, &end, 10);
    *number = (uint32_t)value;
    return *text != '\0' && *end == '\0' && value > 0 && value <= 100000000;
}

static bool parse_option(struct bench_options* options, const char* name, const char* value)
{
    if (strcmp(name, "--workload") == 0) {
        options->workload = value;
        return true;
    }
    if (strcmp(name, "--peer") == 0) {
        options->peer = value;
        return true;
    }
    if (strcmp(name, "--live") == 0) {
        return parse_count(value, &options->live);
    }
    if (strcmp(name, "--runs") == 0) {
        return parse_count(value, &options->runs);
    }
    if (strcmp(name, "--operations") == 0) {
        return parse_count(value, &options->operations);
    }
    if (strcmp(name, "--warm-up") == 0) {
        return parse_count(value, &options->warm_up);
    }
    return false;
}

int main(int argc, char** argv)
{
    struct bench_options options = {.workload = "all", .peer = "all", .live = 10000};
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--raw") == 0) {
            options.raw = true;
        } else if (i + 1 == argc || !parse_option(&options, argv[i], argv[i + 1])) {
            fprintf(stderr, "usage: bench_placement [--workload churn|growth|fill|ordered|all] "
                            "[--peer NAME|all] [--live N] [--raw] [--runs N] [--operations N] "
                            "[--warm-up ROUNDS]\n");
            return 2;
        } else {
            ++i;
        }
    }
    const double mean = mean_size();
    for (size_t i = 0; i < sizeof(peers) / sizeof(peers[0]); ++i) {
        if (is_chosen(options.peer, peers[i]->name)) {
            run_peer(&options, peers[i], mean);
        }
    }
    return 0;
}
