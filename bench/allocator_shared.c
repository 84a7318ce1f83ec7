/*
 * Threads that work on what other threads have allocated; see bench/README.md. Each run has a new
 * allocator, so that each begins with a level that has just been loaded.
 */
#include "bench/allocator_shared.h"

#include "bench/bench_common.h"
#include "bench/bench_team.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum shared_case {
    CASE_OWN,      /* each thread has filled its slots itself */
    CASE_DISJOINT, /* another thread has filled the slots; a thread has slots in a row */
    CASE_MIXED,    /* likewise; a thread has every second slot, or every third of three threads */
    CASE_HANDOVER, /* one thread fills slots, another one empties them */
    CASE_COUNT
};

static const char* const case_names[CASE_COUNT] = {"own", "disjoint", "mixed", "handover"};

enum {
    MAX_PEERS = 8,
    HANDOVER_BATCH = 256, /* slots that a thread waits for, so that it seldom waits; at most a
                             quarter of all slots, so that one of the threads can go on */
};

struct shared_worker {
    struct bench_operation* operations;
    uint64_t state; /* of the random numbers */
    double cpu_ns;  /* of the last run */
};

/* One case with one peer. */
struct shared_contestant {
    const struct shared_options* options;
    const struct allocator_peer* peer;
    enum shared_case which;
    struct bench_team* team;
    void* allocator;
    struct allocator_tally tally;
    struct allocator_item* items;
    uint32_t* sizes;
    struct shared_worker* workers;
    atomic_uint_fast64_t filled, emptied; /* slots of a handover, in all */
    atomic_uint_fast64_t failures;
    uint64_t calls, blocks, bytes; /* at the end of the last run */
    double cpu[BENCH_MAX_RUNS];
};

static uint32_t share_of(const struct shared_contestant* contestant)
{
    return contestant->options->live / contestant->options->threads;
}

/* Returns the number of the slot that a thread calls slot `at`. */
static uint32_t slot_of(const struct shared_contestant* contestant, uint32_t thread, uint32_t at)
{
    return contestant->which == CASE_MIXED ? at * contestant->options->threads + thread
                                           : thread * share_of(contestant) + at;
}

static void empty_slot(struct shared_contestant* contestant, uint32_t slot)
{
    struct allocator_item* const item = &contestant->items[slot];
    if (item->allocation.number != 0) {
        contestant->peer->free(contestant->allocator, item);
        item->allocation.number = 0;
    }
}

static void fill_slot(struct shared_contestant* contestant, uint32_t slot, uint32_t size)
{
    struct allocator_item* const item = &contestant->items[slot];
    contestant->sizes[slot] = size;
    if (!contestant->peer->allocate(contestant->allocator, size, BENCH_ALIGNMENT, item)) {
        item->allocation.number = 0;
        atomic_fetch_add(&contestant->failures, 1);
    }
}

/* Fills the slots from one number up to another one. */
static void load(struct shared_contestant* contestant, uint32_t from, uint32_t to, uint64_t* state)
{
    for (uint32_t slot = from; slot < to; ++slot) {
        fill_slot(contestant, slot, bench_size(state, false));
    }
}

static void load_own(void* argument, uint32_t index)
{
    struct shared_contestant* const contestant = argument;
    const uint32_t share = share_of(contestant);
    load(contestant, index * share, (index + 1) * share, &contestant->workers[index].state);
}

/* The thread that fills slots in a handover begins with half of them. */
static void load_first(void* argument, uint32_t index)
{
    struct shared_contestant* const contestant = argument;
    if (index == 0) {
        load(contestant, 0, contestant->options->live / 2, &contestant->workers[0].state);
    }
}

static BENCH_NOINLINE void bench_operations(struct shared_contestant* contestant, uint32_t index)
{
    const struct bench_operation* const operations = contestant->workers[index].operations;
    for (uint32_t i = 0; i < contestant->options->operations; ++i) {
        const uint32_t slot = slot_of(contestant, index, operations[i].slot);
        empty_slot(contestant, slot);
        fill_slot(contestant, slot, operations[i].size);
    }
}

/* Waits until a count has reached a value. Returns the CPU time of the wait. */
static double wait_for(const atomic_uint_fast64_t* count, uint64_t value)
{
    if (atomic_load(count) >= value) {
        return 0;
    }
    const double begin = bench_thread_ns();
    while (atomic_load(count) < value) {
        sched_yield();
    }
    return bench_thread_ns() - begin;
}

/* The first thread fills slots and the second one empties them, the oldest first. Half of all slots
 * are full on average. The other threads do nothing. Returns the CPU time that was spent waiting.
 */
static double hand_over(struct shared_contestant* contestant, uint32_t index)
{
    const struct bench_operation* const operations = contestant->workers[0].operations;
    const uint32_t live = share_of(contestant) * contestant->options->threads;
    const uint32_t count = contestant->options->operations;
    const uint32_t batch = live / 4 < HANDOVER_BATCH ? live / 4 : HANDOVER_BATCH;
    double waited = 0;
    for (uint32_t i = 0; i < count && index < 2; i += batch) {
        const uint32_t end = count - i < batch ? count : i + batch;
        const uint64_t least = end > live / 2 ? end - live / 2 : 0;
        waited += wait_for(index == 0 ? &contestant->emptied : &contestant->filled, least);
        for (uint32_t j = i; j < end; ++j) {
            if (index == 0) {
                fill_slot(contestant, (live / 2 + j) % live, operations[j].size);
            } else {
                empty_slot(contestant, j % live);
            }
        }
        atomic_store(index == 0 ? &contestant->filled : &contestant->emptied, end);
    }
    return waited;
}

static void run_shared(void* argument, uint32_t index)
{
    struct shared_contestant* const contestant = argument;
    struct shared_worker* const worker = &contestant->workers[index];
    bench_draw(&worker->state, share_of(contestant), false, worker->operations,
               contestant->options->operations);
    bench_team_meet(contestant->team);
    const double begin = bench_thread_ns();
    double waited = 0;
    if (contestant->which == CASE_HANDOVER) {
        waited = hand_over(contestant, index);
    } else {
        bench_operations(contestant, index);
    }
    worker->cpu_ns = bench_thread_ns() - begin - waited;
}

static void begin_shared(struct shared_contestant* contestant)
{
    const struct shared_options* const options = contestant->options;
    contestant->team = bench_team_create(options->threads);
    contestant->items = bench_allocate(options->live, sizeof(*contestant->items));
    contestant->sizes = bench_allocate(options->live, sizeof(*contestant->sizes));
    contestant->workers = bench_allocate(options->threads, sizeof(*contestant->workers));
    for (uint32_t i = 0; i < options->threads; ++i) {
        contestant->workers[i].state = BENCH_SEED + (uint64_t)i * 0x9E3779B97F4A7C15u;
        contestant->workers[i].operations =
            bench_allocate(options->operations, sizeof(struct bench_operation));
    }
}

static void check_shared(const struct shared_contestant* contestant)
{
    const uint32_t live = contestant->options->live;
    struct bench_range* const ranges = bench_allocate(live, sizeof(*ranges));
    size_t count = 0;
    for (uint32_t i = 0; i < live; ++i) {
        if (contestant->items[i].allocation.number != 0) {
            struct allocator_place place;
            contestant->peer->place(contestant->allocator, &contestant->items[i], &place);
            struct bench_range* const range = &ranges[count++];
            *range = (struct bench_range){.space_size = place.block_size,
                                          .offset = place.offset,
                                          .size = contestant->sizes[i],
                                          .alignment = BENCH_ALIGNMENT};
            memcpy(&range->space, &place.memory, sizeof(place.memory));
        }
    }
    bench_check_ranges(contestant->peer->name, ranges, count);
    free(ranges);
}

static void run_once(struct shared_contestant* contestant, uint32_t run)
{
    const struct shared_options* const options = contestant->options;
    const struct allocator_options settings = {.block_size = options->block_size};
    uint64_t state = BENCH_SEED + run;
    memset(&contestant->tally, 0, sizeof(contestant->tally));
    memset(contestant->items, 0, options->live * sizeof(*contestant->items));
    atomic_store(&contestant->filled, 0);
    atomic_store(&contestant->emptied, 0);
    contestant->allocator =
        contestant->peer->create(options->device, &settings, &contestant->tally);
    if (contestant->which == CASE_OWN) {
        bench_team_run(contestant->team, load_own, contestant);
    } else if (contestant->which == CASE_HANDOVER) {
        bench_team_run(contestant->team, load_first, contestant);
    } else {
        load(contestant, 0, share_of(contestant) * options->threads, &state);
    }
    bench_team_run(contestant->team, run_shared, contestant);
    double cpu_ns = 0;
    for (uint32_t i = 0; i < options->threads; ++i) {
        cpu_ns += contestant->workers[i].cpu_ns;
    }
    /* Each thread does pairs of its own, except that two threads share the pairs of a handover. */
    const uint32_t parts = contestant->which == CASE_HANDOVER ? 1 : options->threads;
    contestant->cpu[run] = cpu_ns / parts / options->operations;
    check_shared(contestant);
    contestant->calls = atomic_load(&contestant->tally.calls);
    contestant->blocks = atomic_load(&contestant->tally.blocks);
    contestant->bytes = atomic_load(&contestant->tally.bytes);
    for (uint32_t i = 0; i < options->live; ++i) {
        empty_slot(contestant, i);
    }
    contestant->peer->destroy(contestant->allocator);
}

static double ratio(const struct shared_contestant* one, const struct shared_contestant* other)
{
    return other != NULL && one != other
               ? bench_median_ratio(one->cpu, other->cpu, one->options->runs)
               : NAN;
}

static void report_shared(const struct shared_contestant* contestant,
                          const struct shared_contestant* own, const struct shared_contestant* vma,
                          struct bench_table* table)
{
    const struct shared_options* const options = contestant->options;
    struct bench_row row;
    bench_row_begin(&row, "allocator");
    bench_row_text(&row, ".device", options->device->properties.deviceName);
    bench_row_text(&row, "workload", "shared");
    bench_row_text(&row, "case", case_names[contestant->which]);
    bench_row_text(&row, "peer", contestant->peer->name);
    bench_row_count(&row, "threads", options->threads);
    bench_row_count(&row, "live", options->live);
    bench_row_number(&row, "cpu_ns", bench_median_of(contestant->cpu, options->runs), 1);
    bench_row_number(&row, "cpu_min", bench_least_of(contestant->cpu, options->runs), 1);
    bench_row_number(&row, "of_own", ratio(contestant, own), 2);
    bench_row_number(&row, "of_vma", ratio(contestant, vma), 3);
    bench_row_count(&row, "calls", contestant->calls);
    bench_row_count(&row, "blocks", contestant->blocks);
    bench_row_number(&row, "block_mib", (double)contestant->bytes / 1048576.0, 1);
    bench_row_count(&row, "failures", atomic_load(&contestant->failures));
    bench_row_count(&row, ".runs", options->runs);
    bench_row_count(&row, ".operations", options->operations);
    bench_row_text(&row, ".self_check", "passed");
    bench_row_end(&row, table);
}

static void end_shared(struct shared_contestant* contestant)
{
    bench_team_destroy(contestant->team);
    for (uint32_t i = 0; i < contestant->options->threads; ++i) {
        free(contestant->workers[i].operations);
    }
    free(contestant->workers);
    free(contestant->sizes);
    free(contestant->items);
}

/* Returns the contestant of a peer and a case, or NULL. */
static const struct shared_contestant* find_shared(const struct shared_contestant* all,
                                                   uint32_t count, const char* peer,
                                                   enum shared_case which)
{
    for (uint32_t i = 0; i < count; ++i) {
        if (strcmp(all[i].peer->name, peer) == 0 && all[i].which == which) {
            return &all[i];
        }
    }
    return NULL;
}

void bench_shared(const struct shared_options* options, struct bench_table* table)
{
    struct shared_contestant* const all =
        bench_allocate((size_t)MAX_PEERS * CASE_COUNT, sizeof(*all));
    uint32_t count = 0;
    for (uint32_t i = 0; i < allocator_peer_count; ++i) {
        if (!allocator_peer_is_listed(allocator_peers[i], options->peers)) {
            continue;
        }
        for (uint32_t j = 0; j < CASE_COUNT; ++j) {
            if (!bench_is_listed(options->cases, case_names[j])) {
                continue;
            }
            struct shared_contestant* const contestant = &all[count++];
            contestant->options = options;
            contestant->peer = allocator_peers[i];
            contestant->which = (enum shared_case)j;
            begin_shared(contestant);
        }
    }
    for (uint32_t run = 0; run < options->runs; ++run) {
        for (uint32_t i = 0; i < count; ++i) {
            run_once(&all[i], run);
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        report_shared(&all[i], find_shared(all, count, all[i].peer->name, CASE_OWN),
                      find_shared(all, count, "vma", all[i].which), table);
    }
    for (uint32_t i = 0; i < count; ++i) {
        end_shared(&all[i]);
    }
    free(all);
}
