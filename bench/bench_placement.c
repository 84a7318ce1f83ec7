/*
 * The placement benchmark: random churn, growth to the first failure, fill from empty, and ordered
 * workloads, at the level of offsets. Run k of every contestant precedes run k + 1 of any. All
 * contestants get the same sizes and slots.
 */
#include "bench/bench_common.h"
#include "bench/bench_options.h"
#include "bench/bench_row.h"
#include "bench/placement_peer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAD = 10, /* one in LEAD operations of a run precedes the timed ones */
    ORDERED_RUNS = 7,
    EQUAL_SIZE = 65536
};

struct placement_bench {
    const char* workload;
    const char* peers;
    uint32_t live;
    uint32_t runs;       /* 0: the workload's default */
    uint32_t operations; /* of a run; 0: the workload's default */
    uint32_t warm_up;    /* operations per slot; 0: the workload's default */
    bool raw;
    bool equal; /* first-fill: all sizes are EQUAL_SIZE */
    double mean;
    struct bench_table table;
};

struct bench_slot {
    uint64_t handle; /* 0: empty */
    uint64_t offset;
    uint64_t size;
};

/* A peer and its block. */
struct contestant {
    const struct placement_bench* bench;
    const struct placement_peer* peer;
    void* block;
    uint64_t capacity;
    struct bench_slot* slots;
    uint64_t failures;
    double host_bytes;
    double occupancy; /* NAN: not measured */
    double ns[BENCH_MAX_RUNS];
    double second_ns[BENCH_MAX_RUNS]; /* first-fill: the fills after a reset */
    bool has_second;
};

static void* create_nothing(uint64_t capacity)
{
    (void)capacity;
    static char nothing;
    return &nothing;
}

static void destroy_nothing(void* block)
{
    (void)block;
}

static bool allocate_nothing(void* block, uint64_t size, uint64_t alignment, uint64_t* handle,
                             uint64_t* offset)
{
    (void)block;
    (void)size;
    (void)alignment;
    *handle = 1;
    *offset = 0;
    return true;
}

static void free_nothing(void* block, uint64_t handle)
{
    (void)block;
    (void)handle;
}

/* The peer that places nothing, which shows the cost of the loop. */
static const struct placement_peer empty_peer = {
    .name = "empty",
    .is_control = true,
    .create = create_nothing,
    .destroy = destroy_nothing,
    .allocate = allocate_nothing,
    .free = free_nothing,
    .reset = destroy_nothing,
};

static const struct placement_peer* const all_peers[] = {
    &placement_peer_tlsf,
    &placement_peer_buddy,
    &placement_peer_linear,
#if MAAR_BENCH_VMA
    &placement_peer_vma,
    &placement_peer_vma_min_time,
    &placement_peer_vma_min_memory,
    &placement_peer_vma_linear,
#endif
#if MAAR_BENCH_MAAR_VMA
    &placement_peer_maar_vma,
    &placement_peer_maar_vma_linear,
#endif
    &empty_peer,
};

enum { PEER_COUNT = sizeof(all_peers) / sizeof(all_peers[0]) };

static void churn(struct contestant* contestant, const struct bench_operation* operations,
                  uint32_t count)
{
    const struct placement_peer* const peer = contestant->peer;
    void* const block = contestant->block;
    for (uint32_t i = 0; i < count; ++i) {
        struct bench_slot* const slot = &contestant->slots[operations[i].slot];
        if (slot->handle != 0) {
            peer->free(block, slot->handle);
        }
        slot->size = operations[i].size;
        if (!peer->allocate(block, slot->size, BENCH_ALIGNMENT, &slot->handle, &slot->offset)) {
            slot->handle = 0;
            contestant->failures += 1;
        }
    }
}

/* The measured loop. It is a separate function, so that profilers can name it. */
static BENCH_NOINLINE void bench_operations(struct contestant* contestant,
                                            const struct bench_operation* operations,
                                            uint32_t count)
{
    churn(contestant, operations, count);
}

static void verify(const struct contestant* contestant, const struct bench_slot* slots,
                   uint32_t count)
{
    if (contestant->peer->is_control) {
        return;
    }
    struct bench_range* const ranges = bench_allocate(count, sizeof(*ranges));
    size_t live = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (slots[i].handle != 0) {
            ranges[live++] = (struct bench_range){.space_size = contestant->capacity,
                                                  .offset = slots[i].offset,
                                                  .size = slots[i].size,
                                                  .alignment = BENCH_ALIGNMENT};
        }
    }
    bench_check_ranges(contestant->peer->name, ranges, live);
    free(ranges);
}

static void begin(struct contestant* contestant, double capacity, uint32_t slot_count)
{
    contestant->capacity = (uint64_t)capacity / BENCH_ALIGNMENT * BENCH_ALIGNMENT;
    contestant->slots = bench_allocate(slot_count, sizeof(*contestant->slots));
    contestant->occupancy = NAN;
    contestant->host_bytes = -bench_heap_bytes();
    contestant->block = contestant->peer->create(contestant->capacity);
    if (contestant->block == NULL) {
        bench_die(BENCH_EXIT_FAILED, "%s cannot be created", contestant->peer->name);
    }
}

static void end(struct contestant* contestant)
{
    contestant->peer->destroy(contestant->block);
    free(contestant->slots);
    contestant->slots = NULL;
    contestant->failures = 0;
}

static uint32_t warm_up_rounds(const struct placement_bench* bench)
{
    if (bench->warm_up != 0) {
        return bench->warm_up;
    }
    if (bench->live >= 1000000) {
        return 5;
    }
    return bench->raw && bench->live >= 100000 ? 4 : 10;
}

/* Fills the slots and warms them up by churn. Returns the state of the random numbers. */
static uint64_t warm_up(struct contestant* contestant)
{
    const struct placement_bench* const bench = contestant->bench;
    const uint32_t live = bench->live;
    uint64_t state = BENCH_SEED;
    struct bench_operation* const operations = bench_allocate(live, sizeof(*operations));
    bench_draw_fill(&state, live, bench->raw, operations);
    churn(contestant, operations, live);
    for (uint32_t round = 0; round < warm_up_rounds(bench); ++round) {
        bench_draw(&state, live, bench->raw, operations, live);
        churn(contestant, operations, live);
    }
    free(operations);
    contestant->host_bytes += bench_heap_bytes();
    return state;
}

static const struct contestant* find_rival(const struct contestant* all, uint32_t count,
                                           const struct contestant* contestant)
{
    for (uint32_t i = 0; i < count; ++i) {
        if (contestant->peer->rival != NULL &&
            strcmp(all[i].peer->name, contestant->peer->rival) == 0) {
            return &all[i];
        }
    }
    return NULL;
}

/* Prints a result. With `runs` 0 nothing was timed. */
static void report(struct placement_bench* bench, const char* workload,
                   const struct contestant* contestant, const struct contestant* rival,
                   uint32_t runs, uint32_t operations)
{
    struct bench_row row;
    bench_row_begin(&row, "placement");
    bench_row_text(&row, "workload", workload);
    bench_row_text(&row, "peer", contestant->peer->name);
    bench_row_text(&row, "sizes", bench->equal ? "equal" : bench->raw ? "raw" : "rounded");
    bench_row_count(&row, "live", bench->live);
    bench_row_number(&row, "ns", runs != 0 ? bench_median_of(contestant->ns, runs) : NAN, 1);
    bench_row_number(&row, "min", runs != 0 ? bench_least_of(contestant->ns, runs) : NAN, 1);
    bench_row_number(
        &row, "of_vma",
        runs != 0 && rival != NULL ? bench_median_ratio(contestant->ns, rival->ns, runs) : NAN, 3);
    bench_row_number(&row, "of_second",
                     contestant->has_second
                         ? bench_median_ratio(contestant->ns, contestant->second_ns, runs)
                         : NAN,
                     2);
    bench_row_number(&row, "occupancy", contestant->occupancy, 4);
    bench_row_number(&row, "host_b", contestant->host_bytes / bench->live, 1);
    bench_row_count(&row, "failures", contestant->failures);
    bench_row_count(&row, ".runs", runs);
    bench_row_count(&row, ".operations", operations);
    bench_row_text(&row, ".self_check", contestant->peer->is_control ? "none" : "passed");
    bench_row_end(&row, &bench->table);
}

static void report_all(struct placement_bench* bench, const char* workload,
                       const struct contestant* all, uint32_t count, uint32_t runs,
                       uint32_t operations)
{
    for (uint32_t i = 0; i < count; ++i) {
        report(bench, workload, &all[i], find_rival(all, count, &all[i]), runs, operations);
    }
}

static uint32_t churn_runs(const struct placement_bench* bench)
{
    if (bench->runs != 0) {
        return bench->runs;
    }
    if (bench->raw) {
        return bench->live >= 100000 ? 7 : 11;
    }
    return bench->live >= 1000000 ? 7 : 21;
}

static uint32_t churn_operations(const struct placement_bench* bench)
{
    if (bench->operations != 0) {
        return bench->operations;
    }
    if (bench->raw && bench->live >= 100000) {
        return 50000;
    }
    return bench->live >= 1000000 ? 500000 : 200000;
}

static void run_churn(struct placement_bench* bench, struct contestant* all, uint32_t count)
{
    const uint32_t runs = churn_runs(bench);
    const uint32_t operations = churn_operations(bench);
    const uint32_t lead = operations / LEAD;
    uint64_t state = BENCH_SEED;
    for (uint32_t i = 0; i < count; ++i) {
        begin(&all[i], 1.3 * bench->live * bench->mean, bench->live);
        state = warm_up(&all[i]);
    }
    struct bench_operation* const list = bench_allocate(operations + lead, sizeof(*list));
    for (uint32_t run = 0; run < runs; ++run) {
        bench_draw(&state, bench->live, bench->raw, list, operations + lead);
        for (uint32_t i = 0; i < count; ++i) {
            churn(&all[i], list, lead);
            const double start = bench_thread_ns();
            bench_operations(&all[i], &list[lead], operations);
            all[i].ns[run] = (bench_thread_ns() - start) / operations;
        }
    }
    free(list);
    for (uint32_t i = 0; i < count; ++i) {
        verify(&all[i], all[i].slots, bench->live);
    }
    report_all(bench, "churn", all, count, runs, operations);
    for (uint32_t i = 0; i < count; ++i) {
        end(&all[i]);
    }
}

static bool grow_once(struct contestant* contestant, struct bench_slot* slot, uint64_t* state)
{
    slot->size = bench_size(state, contestant->bench->raw);
    return contestant->peer->allocate(contestant->block, slot->size, BENCH_ALIGNMENT, &slot->handle,
                                      &slot->offset);
}

/* Grows from the churned state: frees one, allocates two, until the first failure. */
static double grow(struct contestant* contestant, uint64_t state)
{
    const uint32_t live = contestant->bench->live;
    const uint32_t limit = live * 4;
    struct bench_slot* const slots = bench_allocate(limit, sizeof(*slots));
    uint32_t count = 0;
    double bytes = 0;
    for (uint32_t i = 0; i < live; ++i) {
        if (contestant->slots[i].handle != 0) {
            slots[count++] = contestant->slots[i];
            bytes += bench_round_up((uint32_t)contestant->slots[i].size);
        }
    }
    bool failed = false;
    while (!failed && count != 0 && count + 2 < limit) {
        const uint32_t victim = (uint32_t)(bench_random(&state) % count);
        contestant->peer->free(contestant->block, slots[victim].handle);
        bytes -= bench_round_up((uint32_t)slots[victim].size);
        slots[victim] = slots[--count];
        for (uint32_t i = 0; i < 2 && !failed; ++i) {
            failed = !grow_once(contestant, &slots[count], &state);
            if (!failed) {
                bytes += bench_round_up((uint32_t)slots[count].size);
                count += 1;
            }
        }
    }
    verify(contestant, slots, count);
    free(slots);
    return bytes / (double)contestant->capacity;
}

static void run_growth(struct placement_bench* bench, struct contestant* all, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        begin(&all[i], 1.3 * bench->live * bench->mean, bench->live);
        const uint64_t state = warm_up(&all[i]);
        all[i].occupancy = grow(&all[i], state);
        report(bench, "growth", &all[i], NULL, 0, 0);
        end(&all[i]);
    }
}

/* Fills an empty block until the first failure. */
static void fill(struct contestant* contestant, uint32_t limit)
{
    uint64_t state = BENCH_SEED;
    double bytes = 0;
    uint32_t count = 0;
    while (count < limit && grow_once(contestant, &contestant->slots[count], &state)) {
        bytes += bench_round_up((uint32_t)contestant->slots[count].size);
        count += 1;
    }
    contestant->host_bytes += bench_heap_bytes();
    contestant->occupancy = bytes / (double)contestant->capacity;
    verify(contestant, contestant->slots, count);
}

static void run_fill(struct placement_bench* bench, struct contestant* all, uint32_t count)
{
    const uint32_t limit = bench->live * 2 + 64;
    for (uint32_t i = 0; i < count; ++i) {
        begin(&all[i], bench->live * bench->mean, limit);
        fill(&all[i], limit);
        report(bench, "fill", &all[i], NULL, 0, 0);
        end(&all[i]);
    }
}

/* FIFO: frees the oldest and allocates the same size again, once for each. */
static void order_fifo(struct contestant* contestant)
{
    const struct placement_peer* const peer = contestant->peer;
    for (uint32_t i = 0; i < contestant->bench->live; ++i) {
        struct bench_slot* const slot = &contestant->slots[i];
        if (slot->handle != 0) {
            peer->free(contestant->block, slot->handle);
        }
        if (!peer->allocate(contestant->block, slot->size, BENCH_ALIGNMENT, &slot->handle,
                            &slot->offset)) {
            slot->handle = 0;
            contestant->failures += 1;
        }
    }
}

static void order_fill(struct contestant* contestant)
{
    const struct placement_peer* const peer = contestant->peer;
    for (uint32_t i = 0; i < contestant->bench->live; ++i) {
        struct bench_slot* const slot = &contestant->slots[i];
        if (!peer->allocate(contestant->block, slot->size, BENCH_ALIGNMENT, &slot->handle,
                            &slot->offset)) {
            slot->handle = 0;
            contestant->failures += 1;
        }
    }
}

/* LIFO: allocates all, then frees in reverse order. */
static void order_lifo(struct contestant* contestant)
{
    const struct placement_peer* const peer = contestant->peer;
    order_fill(contestant);
    for (uint32_t i = contestant->bench->live; i-- > 0;) {
        if (contestant->slots[i].handle != 0) {
            peer->free(contestant->block, contestant->slots[i].handle);
        }
    }
}

/* Bump: allocates all, then resets the block. */
static void order_bump(struct contestant* contestant)
{
    order_fill(contestant);
    contestant->peer->reset(contestant->block);
}

struct order {
    const char* name;
    void (*run)(struct contestant* contestant);
    bool starts_full;
};

static void begin_order(const struct order* order, struct contestant* contestant)
{
    const struct placement_bench* const bench = contestant->bench;
    uint64_t state = BENCH_SEED;
    begin(contestant, 1.3 * bench->live * bench->mean, bench->live);
    for (uint32_t i = 0; i < bench->live; ++i) {
        contestant->slots[i].size = bench_size(&state, bench->raw);
    }
    order_fill(contestant);
    contestant->host_bytes += bench_heap_bytes();
    verify(contestant, contestant->slots, bench->live);
    if (!order->starts_full) {
        contestant->peer->reset(contestant->block);
    }
}

static void run_order(struct placement_bench* bench, const struct order* order,
                      struct contestant* all, uint32_t count)
{
    const uint32_t runs = bench->runs != 0 ? bench->runs : ORDERED_RUNS;
    for (uint32_t i = 0; i < count; ++i) {
        begin_order(order, &all[i]);
    }
    for (uint32_t run = 0; run < runs; ++run) {
        for (uint32_t i = 0; i < count; ++i) {
            const double start = bench_thread_ns();
            order->run(&all[i]);
            all[i].ns[run] = (bench_thread_ns() - start) / bench->live;
        }
    }
    for (uint32_t i = 0; i < count && order->starts_full; ++i) {
        verify(&all[i], all[i].slots, bench->live);
    }
    report_all(bench, order->name, all, count, runs, bench->live);
    for (uint32_t i = 0; i < count; ++i) {
        end(&all[i]);
    }
}

static void run_ordered(struct placement_bench* bench, struct contestant* all, uint32_t count)
{
    static const struct order orders[] = {
        {"fifo", order_fifo, true}, {"lifo", order_lifo, false}, {"bump", order_bump, false}};
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); ++i) {
        run_order(bench, &orders[i], all, count);
    }
}

/* Fills new blocks for the first time, as a program does that loads a level, and a second time
 * after a reset. The C library keeps no memory of the blocks before. */
static void fill_twice(struct contestant* contestant, uint32_t run)
{
    const uint32_t live = contestant->bench->live;
    contestant->block = contestant->peer->create(contestant->capacity);
    if (contestant->block == NULL) {
        bench_die(BENCH_EXIT_FAILED, "%s cannot be created", contestant->peer->name);
    }
    double start = bench_thread_ns();
    order_fill(contestant);
    contestant->ns[run] = (bench_thread_ns() - start) / live;
    verify(contestant, contestant->slots, live);
    contestant->peer->reset(contestant->block);
    start = bench_thread_ns();
    order_fill(contestant);
    contestant->second_ns[run] = (bench_thread_ns() - start) / live;
    verify(contestant, contestant->slots, live);
    contestant->host_bytes += run == 0 ? bench_heap_bytes() : 0;
    contestant->peer->destroy(contestant->block);
    contestant->block = NULL;
    bench_heap_trim();
}

static void run_first_fill(struct placement_bench* bench, struct contestant* all, uint32_t count)
{
    const uint32_t runs = bench->runs != 0 ? bench->runs : ORDERED_RUNS;
    const double mean = bench->equal ? EQUAL_SIZE : bench->mean;
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t state = BENCH_SEED;
        begin(&all[i], 1.3 * bench->live * mean, bench->live);
        for (uint32_t k = 0; k < bench->live; ++k) {
            all[i].slots[k].size = bench->equal ? EQUAL_SIZE : bench_size(&state, bench->raw);
        }
        all[i].peer->destroy(all[i].block);
        all[i].has_second = true;
        all[i].host_bytes = 0;
    }
    for (uint32_t run = 0; run < runs; ++run) {
        for (uint32_t i = 0; i < count; ++i) {
            all[i].host_bytes -= run == 0 ? bench_heap_bytes() : 0;
            fill_twice(&all[i], run);
        }
    }
    report_all(bench, "first-fill", all, count, runs, bench->live);
    for (uint32_t i = 0; i < count; ++i) {
        memcpy(all[i].ns, all[i].second_ns, sizeof(all[i].ns));
        all[i].has_second = false;
    }
    report_all(bench, "second-fill", all, count, runs, bench->live);
    for (uint32_t i = 0; i < count; ++i) {
        free(all[i].slots);
    }
}

struct workload {
    const char* name;
    void (*run)(struct placement_bench* bench, struct contestant* all, uint32_t count);
    bool is_ordered; /* linear peers can run it */
    bool wants_placement;
};

static void run_workload(struct placement_bench* bench, const struct workload* workload)
{
    struct contestant* const all = bench_allocate(PEER_COUNT, sizeof(*all));
    uint32_t count = 0;
    for (uint32_t i = 0; i < PEER_COUNT; ++i) {
        const struct placement_peer* const peer = all_peers[i];
        const bool named = strcmp(bench->peers, "all") != 0;
        if (bench_is_listed(bench->peers, peer->name) && (named || !peer->on_request) &&
            (workload->is_ordered || !peer->is_ordered) &&
            (!workload->wants_placement || !peer->is_control)) {
            all[count++] = (struct contestant){.bench = bench, .peer = peer};
        }
    }
    workload->run(bench, all, count);
    free(all);
}

static void parse(struct placement_bench* bench, int argc, char** argv)
{
    const struct bench_option options[] = {
        {"--workload", "LIST", BENCH_OPTION_TEXT, &bench->workload,
         "churn, growth, fill, ordered, first-fill, or all"},
        {"--peer", "LIST", BENCH_OPTION_TEXT, &bench->peers, "for example maar-tlsf,vma; or all"},
        {"--live", "N", BENCH_OPTION_COUNT, &bench->live, "allocations alive (10000)"},
        {"--raw", NULL, BENCH_OPTION_FLAG, &bench->raw, "use sizes as drawn, not multiples of 256"},
        {"--equal", NULL, BENCH_OPTION_FLAG, &bench->equal, "first-fill: all sizes are 64 KiB"},
        {"--runs", "N", BENCH_OPTION_COUNT, &bench->runs, "timed runs"},
        {"--operations", "N", BENCH_OPTION_COUNT, &bench->operations, "pairs of a run"},
        {"--warm-up", "ROUNDS", BENCH_OPTION_COUNT, &bench->warm_up, "untimed pairs per slot"},
    };
    const struct bench_command command = {
        .name = "bench_placement",
        .summary = "Times the placement of ranges in one block: integers in, offsets out.",
        .options = options,
        .option_count = sizeof(options) / sizeof(options[0]),
    };
    static const char* const peers[] = {
        "maar-tlsf",    "maar-buddy",     "maar-linear", "maar-vma", "vma",
        "vma-min-time", "vma-min-memory", "vma-linear",  "empty",    "maar-vma-linear"};
    static const char* const workloads[] = {"churn", "growth", "fill", "ordered", "first-fill"};
    bench_parse_options(&command, argc, argv);
    bench_check_list("--peer", bench->peers, peers, 10);
    bench_check_list("--workload", bench->workload, workloads, 5);
    if (bench->equal && strcmp(bench->workload, "first-fill") != 0) {
        bench_die(BENCH_EXIT_USAGE, "--equal: only with --workload first-fill");
    }
    if (bench->runs > BENCH_MAX_RUNS) {
        bench_die(BENCH_EXIT_USAGE, "--runs: at most %d", BENCH_MAX_RUNS);
    }
}

int main(int argc, char** argv)
{
    static const struct workload workloads[] = {
        {.name = "churn", .run = run_churn},
        {.name = "growth", .run = run_growth, .wants_placement = true},
        {.name = "fill", .run = run_fill, .is_ordered = true, .wants_placement = true},
        {.name = "ordered", .run = run_ordered, .is_ordered = true},
        {.name = "first-fill", .run = run_first_fill, .is_ordered = true},
    };
    struct placement_bench bench = {.workload = "all", .peers = "all", .live = 10000};
    parse(&bench, argc, argv);
    bench_note_peers();
    bench.mean = bench_mean_size();
    for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); ++i) {
        if (bench_is_listed(bench.workload, workloads[i].name)) {
            run_workload(&bench, &workloads[i]);
        }
    }
    return 0;
}
