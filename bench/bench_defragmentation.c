/*
 * The benchmark of defragmentation. Maar and VulkanMemoryAllocator replay the same trace until a
 * number of resources lives, free a part of them, and then give blocks back by moving what is left.
 * All blocks have one size. Nothing is copied. The benchmark compares the bytes that would have to
 * be copied for each number of blocks given back, and the blocks in the end.
 */
#include "bench/bench_common.h"
#include "bench/bench_row.h"
#include "bench/defragmentation_peer.h"
#include "bench/trace_script.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PEERS = 8 };

/* Which resources a state frees. */
enum freed {
    FREED_RANDOM,  /* any, as at the end of a level that shares its memory with the next one */
    FREED_OLDEST,  /* those that were made first, as in streaming */
    FREED_CLUSTERS /* runs of neighbours in time, as requests that end together */
};

struct state {
    const char* name;
    enum freed freed;
    uint32_t percent; /* of the live resources that are freed */
};

static const struct state states[] = {
    {"half of a level", FREED_RANDOM, 50},
    {"most of a level", FREED_RANDOM, 80},
    {"oldest streamed out", FREED_OLDEST, 60},
    {"requests ended", FREED_CLUSTERS, 70},
};

struct defragmentation_bench {
    const char* device_name;
    struct bench_heaps heaps;
    uint64_t block_size;
    uint64_t pass_bytes;
    uint32_t live;
    struct bench_device device;
    struct bench_table table;
};

extern const struct defragmentation_peer defragmentation_peer_maar;
#if MAAR_BENCH_VMA
extern const struct defragmentation_peer defragmentation_peer_vma_fast;
extern const struct defragmentation_peer defragmentation_peer_vma_balanced;
extern const struct defragmentation_peer defragmentation_peer_vma_full;
#endif

const struct defragmentation_peer* const defragmentation_peers[] = {
    &defragmentation_peer_maar,
#if MAAR_BENCH_VMA
    &defragmentation_peer_vma_fast,
    &defragmentation_peer_vma_balanced,
    &defragmentation_peer_vma_full,
#endif
};
const uint32_t defragmentation_peer_count =
    sizeof(defragmentation_peers) / sizeof(defragmentation_peers[0]);

void defragmentation_note(struct defragmentation_curve* curve, struct defragmentation_point point)
{
    if (curve->count == curve->capacity) {
        curve->capacity = curve->capacity != 0 ? 2 * curve->capacity : 64;
        curve->points = realloc(curve->points, curve->capacity * sizeof(curve->points[0]));
        if (curve->points == NULL) {
            bench_die(BENCH_EXIT_FAILED, "out of memory");
        }
    }
    curve->points[curve->count++] = point;
}

/* Whether a state frees a live resource. number: of the resource in the order of allocation. */
static bool is_freed(const struct state* state, uint32_t number, uint32_t count, uint64_t* random)
{
    enum { CLUSTER = 32 };
    switch (state->freed) {
    case FREED_OLDEST:
        return (uint64_t)number * 100 < (uint64_t)count * state->percent;
    case FREED_CLUSTERS: {
        uint64_t seed = BENCH_SEED + number / CLUSTER * 977;
        (void)bench_random(&seed);
        return bench_random(&seed) % 100 < state->percent;
    }
    default:
        return bench_random(random) % 100 < state->percent;
    }
}

/* Brings a peer's allocator into a state. Returns the live bytes. */
static uint64_t enter_state(const struct defragmentation_bench* bench,
                            const struct defragmentation_peer* peer, void* allocator,
                            const struct support_trace* trace, const struct trace_script* script,
                            const struct state* state, struct allocator_item* items)
{
    uint32_t* const order = bench_allocate(script->slot_count, sizeof(*order));
    uint64_t* const sizes = bench_allocate(script->slot_count, sizeof(*sizes));
    uint32_t made = 0;
    for (size_t i = 0; i < script->steady; ++i) {
        const struct trace_step* const step = &script->steps[i];
        struct allocator_item* const item = &items[step->slot];
        if (step->is_free) {
            if (item->allocation.number != 0) {
                peer->allocator->free(allocator, item);
            }
            *item = (struct allocator_item){0};
            sizes[step->slot] = 0;
            continue;
        }
        const struct support_trace_resource* const resource = &trace->resources[step->resource];
        if (resource->size > bench->block_size) {
            continue; /* it would have a block of its own */
        }
        if (!peer->allocate(allocator, resource->size, trace_alignment(resource), item)) {
            bench_die(BENCH_EXIT_FAILED, "%s cannot allocate", peer->name);
        }
        sizes[step->slot] = resource->size;
        order[step->slot] = made++;
    }
    uint32_t live = 0;
    uint32_t* const slots = bench_allocate(script->slot_count, sizeof(*slots));
    uint32_t* const by_age = bench_allocate(made, sizeof(*by_age));
    for (uint32_t i = 0; i < script->slot_count; ++i) {
        if (sizes[i] != 0) {
            by_age[order[i]] = i + 1;
        }
    }
    for (uint32_t i = 0; i < made; ++i) {
        if (by_age[i] != 0) {
            slots[live++] = by_age[i] - 1;
        }
    }
    uint64_t random = BENCH_SEED;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < live; ++i) {
        if (is_freed(state, i, live, &random)) {
            peer->allocator->free(allocator, &items[slots[i]]);
            items[slots[i]] = (struct allocator_item){0};
        } else {
            bytes += sizes[slots[i]];
        }
    }
    free(by_age);
    free(slots);
    free(sizes);
    free(order);
    return bytes;
}

/* One peer's result. */
struct result {
    struct defragmentation_curve curve;
    uint64_t blocks_before;
    uint64_t bytes_before;
    uint64_t live_bytes;
};

/* Returns the bytes that a peer moves until so many blocks are given back, or UINT64_MAX if it does
 * not give back so many. */
static uint64_t bytes_until(const struct defragmentation_curve* curve, uint32_t released)
{
    for (uint32_t i = 0; i < curve->count; ++i) {
        if (curve->points[i].released >= released) {
            return curve->points[i].moved_bytes;
        }
    }
    return UINT64_MAX;
}

/* Returns the largest ratio of the bytes that Maar moves to those that another peer moves, over all
 * numbers of blocks that both give back. */
static double worst_ratio(const struct defragmentation_curve* maar,
                          const struct defragmentation_curve* other)
{
    double worst = 0;
    const uint32_t most = other->count != 0 ? other->points[other->count - 1].released : 0;
    for (uint32_t i = 1; i <= most; ++i) {
        const uint64_t own = bytes_until(maar, i);
        const uint64_t theirs = bytes_until(other, i);
        const double ratio = own == UINT64_MAX ? 0 : (double)own / (double)theirs;
        worst = ratio > worst ? ratio : worst;
    }
    return worst;
}

static struct result run_peer(const struct defragmentation_bench* bench,
                              const struct defragmentation_peer* peer,
                              const struct support_trace* trace, const struct trace_script* script,
                              const struct state* state)
{
    const struct allocator_options options = {.externally_synchronized = true};
    struct allocator_tally tally = {0};
    struct result result = {0};
    struct allocator_item* const items = bench_allocate(script->slot_count, sizeof(*items));
    void* const allocator = peer->allocator->create(&bench->device, &options, &tally);
    peer->create_pool(allocator, bench->block_size);
    result.live_bytes = enter_state(bench, peer, allocator, trace, script, state, items);
    result.blocks_before = atomic_load(&tally.blocks);
    result.bytes_before = atomic_load(&tally.bytes);
    peer->run(allocator, &tally, bench->pass_bytes, &result.curve);
    for (uint32_t i = 0; i < script->slot_count; ++i) {
        if (items[i].allocation.number != 0) {
            peer->allocator->free(allocator, &items[i]);
        }
    }
    peer->destroy_pool(allocator);
    peer->allocator->destroy(allocator);
    free(items);
    return result;
}

static void report(struct defragmentation_bench* bench, const char* trace,
                   const struct state* state, const struct defragmentation_peer* peer,
                   const struct result* result, const struct result* maar)
{
    const struct defragmentation_point end = result->curve.count != 0
                                                 ? result->curve.points[result->curve.count - 1]
                                                 : (struct defragmentation_point){0};
    struct bench_row row;
    bench_row_begin(&row, "defragmentation");
    bench_row_text(&row, ".device", bench->device.properties.deviceName);
    bench_row_name(&row, "trace", trace);
    bench_row_name(&row, "state", state->name);
    bench_row_name(&row, "peer", peer->name);
    bench_row_number(&row, "live_mib", (double)result->live_bytes / 1048576.0, 1);
    bench_row_count(&row, "blocks", result->blocks_before);
    bench_row_number(&row, "held_mib", (double)result->bytes_before / 1048576.0, 1);
    bench_row_count(&row, "released", end.released);
    bench_row_number(&row, "released_mib", (double)end.released_bytes / 1048576.0, 1);
    bench_row_count(&row, "moves", end.moves);
    bench_row_number(&row, "moved_mib", (double)end.moved_bytes / 1048576.0, 1);
    bench_row_count(&row, "left", result->blocks_before - end.released);
    bench_row_number(&row, "maar_moves", worst_ratio(&maar->curve, &result->curve), 3);
    bench_row_number(&row, "cpu_us", result->curve.cpu_ns / 1000.0, 0);
    bench_row_number(&row, ".extra_mib", (double)result->curve.extra_bytes / 1048576.0, 1);
    bench_row_end(&row, &bench->table);
}

static void run_trace(struct defragmentation_bench* bench, const char* path)
{
    struct support_trace trace;
    struct support_error error = {{0}};
    struct trace_script script;
    if (!support_trace_load(path, &trace, &error)) {
        bench_die(BENCH_EXIT_USAGE, "%s", error.text);
    }
    trace_script_scale(&trace, bench->live, 1, &script);
    for (size_t s = 0; s < sizeof(states) / sizeof(states[0]); ++s) {
        struct result results[MOST_PEERS];
        for (uint32_t i = 0; i < defragmentation_peer_count; ++i) {
            results[i] = run_peer(bench, defragmentation_peers[i], &trace, &script, &states[s]);
            report(bench, trace.name, &states[s], defragmentation_peers[i], &results[i],
                   &results[0]);
        }
        for (uint32_t i = 0; i < defragmentation_peer_count; ++i) {
            free(results[i].curve.points);
        }
    }
    trace_script_release(&script);
    support_trace_release(&trace);
}

int main(int argc, char** argv)
{
    static struct defragmentation_bench bench = {
        .device_name = "simulated:amd-rx7900xtx-radv25.0",
        .block_size = UINT64_C(16) << 20,

        /* A pass of VulkanMemoryAllocator moves no larger resource than this. */
        .pass_bytes = UINT64_C(16) << 20,
        .live = 4000,
    };
    const struct bench_option options[] = {
        {"--device", "NAME", BENCH_OPTION_TEXT, &bench.device_name,
         "auto, vulkan:N or simulated:PROFILE; a card by default"},
        {"--heap", "N=SIZE", BENCH_OPTION_HEAP, &bench.heaps, "the size of a simulated heap"},
        {"--block-size", "SIZE", BENCH_OPTION_SIZE, &bench.block_size,
         "size of the blocks; 16MiB by default"},
        {"--pass", "SIZE", BENCH_OPTION_SIZE, &bench.pass_bytes,
         "most bytes of a pass; 16MiB by default"},
        {"--live", "N", BENCH_OPTION_COUNT, &bench.live,
         "resources that live before a part is freed; 4000 by default"},
    };
    const struct bench_command command = {
        .name = "bench_defragmentation",
        .summary = "Gives back blocks after a part of a trace's resources was freed.",
        .operands = "TRACE...",
        .options = options,
        .option_count = sizeof(options) / sizeof(options[0]),
    };
    const int first = bench_parse_options(&command, argc, argv);
    if (first == argc) {
        bench_die(BENCH_EXIT_USAGE, "no trace");
    }
    bench_device_open(&bench.device, bench.device_name, &bench.heaps);
    for (int i = first; i < argc; ++i) {
        run_trace(&bench, argv[i]);
    }
    bench_device_close(&bench.device);
    return 0;
}
