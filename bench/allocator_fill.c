/*
 * The workload `first-fill` of bench_allocator. A new allocator is filled, emptied and filled again
 * with the same sizes. The time in vkAllocateMemory and vkFreeMemory does not count.
 */
#include "bench/allocator_fill.h"

#include "bench/bench_common.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILL_MOST_PEERS = 8, FILL_MOST_RUNS = 101 };

/* A peer and its results. */
struct filler {
    const struct allocator_peer* peer;
    double first[FILL_MOST_RUNS], second[FILL_MOST_RUNS]; /* ns for each allocation */
    double ratio[FILL_MOST_RUNS];
    double worst[FILL_MOST_RUNS];         /* the longest call of a first fill, us */
    uint64_t calls;                       /* of vkAllocateMemory in the last first fill */
    uint64_t first_faults, second_faults; /* page faults of the last fills */
};

/* What all peers fill with. */
struct contents {
    struct bench_operation* operations;
    struct allocator_item* items;
};

static double own_ns(void)
{
    return bench_thread_ns() - bench_device_driver_time().ns;
}

static uint64_t own_faults(void)
{
    return bench_page_faults() - bench_device_driver_time().page_faults;
}

static void fill_slot(const struct allocator_fill* fill, const struct allocator_peer* peer,
                      void* allocator, const struct contents* contents, uint32_t slot)
{
    const uint32_t size = contents->operations[slot].size;
    struct allocator_item* const item = &contents->items[slot];
    const bool made = fill->buffers ? peer->create_buffer(allocator, size, item)
                                    : peer->allocate(allocator, size, BENCH_ALIGNMENT, item);
    if (!made) {
        bench_die(BENCH_EXIT_FAILED, "%s: the device has no memory left", peer->name);
    }
}

/* Returns the time of an allocation, ns. A function of its own, so that profilers can name it. */
static BENCH_NOINLINE double bench_fill(const struct allocator_fill* fill,
                                        const struct allocator_peer* peer, void* allocator,
                                        const struct contents* contents)
{
    const double start = own_ns();
    for (uint32_t i = 0; i < fill->live; ++i) {
        fill_slot(fill, peer, allocator, contents, i);
    }
    return (own_ns() - start) / fill->live;
}

static void empty(const struct allocator_fill* fill, const struct allocator_peer* peer,
                  void* allocator, const struct contents* contents)
{
    for (uint32_t i = 0; i < fill->live; ++i) {
        if (fill->buffers) {
            peer->destroy_buffer(allocator, &contents->items[i]);
        } else {
            peer->free(allocator, &contents->items[i]);
        }
    }
}

static void* open_allocator(const struct allocator_fill* fill, const struct allocator_peer* peer,
                            struct allocator_tally* tally)
{
    const struct allocator_options options = {.block_size = fill->block_size};
    memset(tally, 0, sizeof(*tally));
    malloc_trim(0); /* the heap of an earlier allocator would make the first fill too quick */
    return peer->create(fill->device, &options, tally);
}

/* Times each call of a first fill. Returns the longest one, us. */
static double find_worst(const struct allocator_fill* fill, const struct allocator_peer* peer,
                         const struct contents* contents)
{
    struct allocator_tally tally;
    void* const allocator = open_allocator(fill, peer, &tally);
    double worst = 0;
    double last = own_ns();
    for (uint32_t i = 0; i < fill->live; ++i) {
        fill_slot(fill, peer, allocator, contents, i);
        const double now = own_ns();
        worst = now - last > worst ? now - last : worst;
        last = now;
    }
    empty(fill, peer, allocator, contents);
    peer->destroy(allocator);
    return worst / 1000.0;
}

/* Ends the program if two allocations overlap, or one is where it must not be. */
static void check_fill(const struct allocator_fill* fill, const struct allocator_peer* peer,
                       void* allocator, const struct contents* contents)
{
    struct bench_range* const ranges = bench_allocate(fill->live, sizeof(*ranges));
    for (uint32_t i = 0; i < fill->live; ++i) {
        struct allocator_place place;
        peer->place(allocator, &contents->items[i], &place);
        ranges[i] = (struct bench_range){.space_size = place.block_size,
                                         .offset = place.offset,
                                         .size = contents->operations[i].size,
                                         .alignment = fill->buffers ? 0 : BENCH_ALIGNMENT};
        memcpy(&ranges[i].space, &place.memory, sizeof(place.memory));
    }
    bench_check_ranges(peer->name, ranges, fill->live);
    free(ranges);
}

static void run_filler(const struct allocator_fill* fill, struct filler* filler,
                       const struct contents* contents, uint32_t run)
{
    struct allocator_tally tally;
    void* const allocator = open_allocator(fill, filler->peer, &tally);
    uint64_t faults = own_faults();
    filler->first[run] = bench_fill(fill, filler->peer, allocator, contents);
    filler->first_faults = own_faults() - faults;
    filler->calls = atomic_load(&tally.calls);
    empty(fill, filler->peer, allocator, contents);
    faults = own_faults();
    filler->second[run] = bench_fill(fill, filler->peer, allocator, contents);
    filler->second_faults = own_faults() - faults;
    filler->ratio[run] = filler->first[run] / filler->second[run];
    if (filler->peer->place != NULL && run == 0) {
        check_fill(fill, filler->peer, allocator, contents);
    }
    empty(fill, filler->peer, allocator, contents);
    filler->peer->destroy(allocator);
    filler->worst[run] = find_worst(fill, filler->peer, contents);
}

static void report_filler(const struct allocator_fill* fill, const struct filler* filler,
                          struct bench_table* table)
{
    struct bench_row row;
    bench_row_begin(&row, "allocator");
    bench_row_text(&row, ".device", fill->device->properties.deviceName);
    bench_row_text(&row, "workload", fill->buffers ? "first-fill-buffer" : "first-fill");
    bench_row_text(&row, "peer", filler->peer->name);
    bench_row_count(&row, "live", fill->live);
    bench_row_number(&row, "first_ns", bench_median_of(filler->first, fill->runs), 1);
    bench_row_number(&row, "second_ns", bench_median_of(filler->second, fill->runs), 1);
    bench_row_number(&row, "of_second", bench_median_of(filler->ratio, fill->runs), 2);
    bench_row_number(&row, "worst_us", bench_median_of(filler->worst, fill->runs), 1);
    bench_row_count(&row, "faults", filler->first_faults);
    bench_row_count(&row, "faults_2", filler->second_faults);
    bench_row_count(&row, "calls", filler->calls);
    bench_row_count(&row, ".runs", fill->runs);
    bench_row_text(&row, ".self_check", filler->peer->place != NULL ? "passed" : "none");
    bench_row_end(&row, table);
}

static uint32_t list_fillers(const struct allocator_fill* fill, struct filler* fillers)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i <= allocator_peer_count; ++i) {
        /* The control of the buffers shows the driver's part. */
        const struct allocator_peer* const peer =
            i < allocator_peer_count ? allocator_peers[i] : &allocator_peer_bind;
        const bool serves = fill->buffers || !peer->is_control;
        if (serves && allocator_peer_is_listed(peer, fill->peers)) {
            fillers[count++].peer = peer;
        }
    }
    return count;
}

void allocator_fill_compare(const struct allocator_fill* fill, struct bench_table* table)
{
    struct filler* const fillers = bench_allocate(FILL_MOST_PEERS, sizeof(*fillers));
    struct contents contents = {
        .operations = bench_allocate(fill->live, sizeof(*contents.operations)),
        .items = bench_allocate(fill->live, sizeof(*contents.items)),
    };
    uint64_t state = BENCH_SEED;
    if (fill->runs > FILL_MOST_RUNS) {
        bench_die(BENCH_EXIT_USAGE, "--runs: at most %d for a first fill", FILL_MOST_RUNS);
    }
    bench_draw_fill(&state, fill->live, false, contents.operations);
    /* Touches all pages before the clock starts. */
    memset(contents.items, 0xFF, fill->live * sizeof(*contents.items));
    const uint32_t count = list_fillers(fill, fillers);
    for (uint32_t run = 0; run < fill->runs; ++run) {
        for (uint32_t i = 0; i < count; ++i) {
            run_filler(fill, &fillers[i], &contents, run);
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        report_filler(fill, &fillers[i], table);
    }
    free(contents.items);
    free(contents.operations);
    free(fillers);
}
