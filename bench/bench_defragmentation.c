/*
 * The benchmark of defragmentation. A trace is replayed until a number of resources lives, and a
 * part of them is freed. From the same layout, Maar and each algorithm of VulkanMemoryAllocator
 * then give blocks back by moving what is left. All blocks have one size. Nothing is copied. The
 * benchmark compares the bytes that would have to be copied for each number of blocks given back,
 * and the blocks in the end.
 */
#include "bench/bench_common.h"
#include "bench/bench_row.h"
#include "bench/defragmentation_room.h"
#include "bench/defragmentation_state.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_PEERS = 8, PASS_KINDS = 3 };

#define MIB(bytes) ((double)(bytes) / 1048576.0)

static const struct defragmentation_state states[] = {
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
    bool shows_each;
    bool shows_drop_in;
    bool makes_room;
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
#if MAAR_BENCH_MAAR_VMA
/* The passes of maar::vma, which has one algorithm. */
extern const struct defragmentation_peer defragmentation_peer_maar_vma_balanced;
#endif

const uint32_t defragmentation_peer_count =
    sizeof(defragmentation_peers) / sizeof(defragmentation_peers[0]);

/* One trace in one state. */
struct scene {
    struct defragmentation_bench* bench;
    const struct support_trace* trace;
    const struct trace_script* script;
    const struct defragmentation_state* state;
    struct defragmentation_layout layout;
    uint64_t* bounds;
};

static const char* const pass_names[PASS_KINDS] = {"bytes", "one move", "no limit"};

/* The limits of a kind of pass. */
static struct defragmentation_limits limits_of(const struct defragmentation_bench* bench,
                                               uint32_t kind)
{
    const struct defragmentation_limits all[PASS_KINDS] = {
        {.pass_bytes = bench->pass_bytes},
        {.pass_moves = 1},
        {0},
    };
    return all[kind];
}

/* Where a peer begins. On Maar the layout is rebuilt; the others make it themselves. */
static struct defragmentation_lives
begin_state(const struct scene* scene, const struct defragmentation_peer* peer, void* allocator)
{
    if (peer->rebuilds) {
        return defragmentation_rebuild(peer, allocator, &scene->layout);
    }
    return defragmentation_replay(peer, allocator, scene->layout.block_size, scene->trace,
                                  scene->script, scene->state);
}

/* Ends the program if a run has done what is not possible. */
static void check_run(const struct scene* scene, const struct defragmentation_peer* peer,
                      const struct defragmentation_layout* left,
                      const struct defragmentation_curve* curve)
{
    if (left->count != scene->layout.count ||
        left->block_count + defragmentation_end(curve).released != scene->layout.block_count) {
        bench_die(BENCH_EXIT_FAILED, "%s: %u of %u blocks left, but %u are said to be given back",
                  peer->name, left->block_count, scene->layout.block_count,
                  defragmentation_end(curve).released);
    }
    for (uint32_t i = 0; i < curve->count; ++i) {
        if (curve->points[i].moved_bytes < scene->bounds[curve->points[i].released]) {
            bench_die(BENCH_EXIT_FAILED, "%s: %u blocks given back for too few bytes", peer->name,
                      curve->points[i].released);
        }
    }
}

/* Runs a peer once, from the layout of the scene. */
static struct defragmentation_curve run_peer(const struct scene* scene,
                                             const struct defragmentation_peer* peer,
                                             const struct defragmentation_limits* limits)
{
    const struct allocator_options options = {.externally_synchronized = true};
    const uint64_t block_size = scene->layout.block_size;
    struct allocator_tally tally = {0};
    const struct defragmentation_heap heap = {.tally = &tally, .block_size = block_size};
    struct defragmentation_curve curve = {0};
    void* const allocator = peer->allocator->create(&scene->bench->device, &options, &tally);
    peer->create_pool(allocator, block_size);
    struct defragmentation_lives lives = begin_state(scene, peer, allocator);
    struct defragmentation_layout layout =
        defragmentation_read(peer, allocator, block_size, &lives);
    defragmentation_compare(peer->name, &scene->layout, &layout);
    defragmentation_layout_release(&layout);
    peer->run(allocator, &heap, limits, &curve);
    layout = defragmentation_read(peer, allocator, block_size, &lives);
    check_run(scene, peer, &layout, &curve);
    defragmentation_layout_release(&layout);
    defragmentation_free_lives(peer, allocator, &lives);
    peer->destroy_pool(allocator);
    peer->allocator->destroy(allocator);
    return curve;
}

/* Makes the layout of a scene. */
static void make_layout(struct scene* scene)
{
    const struct defragmentation_peer* const peer =
        defragmentation_peers[defragmentation_peer_count - 1];
    const struct allocator_options options = {.externally_synchronized = true};
    const uint64_t block_size = scene->bench->block_size;
    struct allocator_tally tally = {0};
    void* const allocator = peer->allocator->create(&scene->bench->device, &options, &tally);
    peer->create_pool(allocator, block_size);
    struct defragmentation_lives lives = defragmentation_replay(
        peer, allocator, block_size, scene->trace, scene->script, scene->state);
    scene->layout = defragmentation_read(peer, allocator, block_size, &lives);
    scene->bounds = defragmentation_bounds(&scene->layout);
    defragmentation_free_lives(peer, allocator, &lives);
    peer->destroy_pool(allocator);
    peer->allocator->destroy(allocator);
}

static void begin_row(const struct scene* scene, const char* workload, struct bench_row* row)
{
    bench_row_begin(row, "defragmentation");
    bench_row_text(row, ".device", scene->bench->device.properties.deviceName);
    bench_row_text(row, ".workload", workload);
    bench_row_name(row, "trace", scene->trace->name);
    bench_row_name(row, "state", scene->state->name);
}

static void end_row(const struct scene* scene, struct bench_row* row)
{
    bench_row_text(row, ".self_check", "passed");
    bench_row_end(row, &scene->bench->table);
}

/* Reports a whole run. */
static void report_run(const struct scene* scene, const struct defragmentation_peer* peer,
                       uint32_t kind, const struct defragmentation_curve* curve)
{
    const struct defragmentation_point end = defragmentation_end(curve);
    struct bench_row row;
    begin_row(scene, "run", &row);
    bench_row_name(&row, "peer", peer->name);
    bench_row_text(&row, "pass", pass_names[kind]);
    bench_row_count(&row, "live", scene->layout.count);
    bench_row_count(&row, "blocks", scene->layout.block_count);
    bench_row_count(&row, "released", end.released);
    bench_row_count(&row, "left", scene->layout.block_count - end.released);
    bench_row_count(&row, "moves", end.moves);
    bench_row_number(&row, "moved_mib", MIB(end.moved_bytes), 1);
    bench_row_number(&row, "extra_mib", MIB(curve->extra_bytes), 1);
    bench_row_number(&row, "reserved_mib", MIB(curve->reserved_bytes), 1);
    bench_row_number(&row, "cpu_us", curve->cpu_ns / 1000.0, 0);
    end_row(scene, &row);
}

/* The best of several curves, for a number of blocks. */
struct best {
    uint64_t bytes;
    uint32_t at; /* which curve */
};

static struct best best_of(const struct defragmentation_curve* curves, uint32_t count,
                           uint32_t released)
{
    struct best best = {.bytes = DEFRAGMENTATION_NEVER};
    for (uint32_t i = 0; i < count; ++i) {
        const uint64_t bytes = defragmentation_bytes(&curves[i], released);
        if (bytes < best.bytes) {
            best = (struct best){.bytes = bytes, .at = i};
        }
    }
    return best;
}

static uint32_t most_of(const struct defragmentation_curve* curves, uint32_t count)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t one = defragmentation_most(&curves[i]);
        most = one > most ? one : most;
    }
    return most;
}

/* The comparison of a number of blocks given back. */
struct comparison {
    uint32_t released;
    struct best vma;
    uint64_t run_bytes;   /* Maar's run that gives back all that it can */
    uint64_t asked_bytes; /* Maar's run that was asked for this number */
};

static double ratio_of(uint64_t bytes, uint64_t reference)
{
    if (bytes == DEFRAGMENTATION_NEVER || reference == DEFRAGMENTATION_NEVER) {
        return NAN;
    }
    return bytes == reference ? 1 : (double)bytes / (double)reference;
}

static double mib_or_none(uint64_t bytes)
{
    return bytes == DEFRAGMENTATION_NEVER ? NAN : MIB(bytes);
}

static void report_blocks(const struct scene* scene, const struct comparison* one)
{
    const bool has_vma = one->vma.bytes != DEFRAGMENTATION_NEVER;
    const uint32_t vma = 1 + one->vma.at / PASS_KINDS;
    struct bench_row row;
    begin_row(scene, "blocks", &row);
    bench_row_count(&row, "given_back", one->released);
    bench_row_number(&row, "least_mib", MIB(scene->bounds[one->released]), 2);
    bench_row_name(&row, "vma", has_vma ? defragmentation_peers[vma]->name : "-");
    bench_row_text(&row, "vma_pass", has_vma ? pass_names[one->vma.at % PASS_KINDS] : "-");
    bench_row_number(&row, "vma_mib", mib_or_none(one->vma.bytes), 2);
    bench_row_number(&row, "maar_mib", mib_or_none(one->run_bytes), 2);
    bench_row_number(&row, "of_vma", ratio_of(one->run_bytes, one->vma.bytes), 4);
    bench_row_number(&row, "asked_mib", mib_or_none(one->asked_bytes), 2);
    bench_row_number(&row, "asked_of_vma", ratio_of(one->asked_bytes, one->vma.bytes), 4);
    end_row(scene, &row);
}

/* The comparison over all numbers of blocks of a state. */
struct summary {
    uint32_t vma_most;
    uint32_t missed;       /* numbers that VMA reaches and Maar's run does not */
    uint32_t missed_asked; /* the same of Maar's runs that are asked for the number */
    uint32_t worse;        /* numbers for which Maar, when asked, moves more */
    double worst;          /* ratio of the run that gives back all */
    uint32_t worst_at;
    double last; /* its ratio for the largest number that both reach */
    double worst_asked;
    uint32_t worst_asked_at;
    double worst_of_least; /* asked, of the fewest bytes that are possible */
};

static void note_comparison(const struct scene* scene, const struct comparison* one,
                            struct summary* all)
{
    const double ratio = ratio_of(one->run_bytes, one->vma.bytes);
    const double asked = ratio_of(one->asked_bytes, one->vma.bytes);
    const double of_least = ratio_of(one->asked_bytes, scene->bounds[one->released]);
    if (ratio > all->worst) {
        all->worst = ratio;
        all->worst_at = one->released;
    }
    all->last = isnan(ratio) ? all->last : ratio;
    if (asked > all->worst_asked) {
        all->worst_asked = asked;
        all->worst_asked_at = one->released;
    }
    if (of_least > all->worst_of_least) {
        all->worst_of_least = of_least;
    }
    all->worse += asked > 1;
    all->missed += one->run_bytes == DEFRAGMENTATION_NEVER;
    all->missed_asked += one->asked_bytes == DEFRAGMENTATION_NEVER;
}

static void report_state(const struct scene* scene, const struct defragmentation_curve* maar,
                         const struct summary* all)
{
    const struct defragmentation_point end = defragmentation_end(maar);
    const uint32_t blocks = scene->layout.block_count;
    const bool has_vma = defragmentation_peer_count > 1;
    struct bench_row row;
    begin_row(scene, "state", &row);
    bench_row_count(&row, "live", scene->layout.count);
    bench_row_number(&row, "live_mib", MIB(scene->layout.live_bytes), 1);
    bench_row_count(&row, "blocks", blocks);
    bench_row_count(&row, "left", blocks - end.released);
    bench_row_number(&row, "vma_left", has_vma ? (double)(blocks - all->vma_most) : NAN, 0);
    bench_row_number(&row, "worst", has_vma ? all->worst : NAN, 4);
    bench_row_count(&row, "at", all->worst_at);
    bench_row_number(&row, "last", has_vma ? all->last : NAN, 4);
    bench_row_number(&row, "worst_asked", has_vma ? all->worst_asked : NAN, 4);
    bench_row_count(&row, "asked_at", all->worst_asked_at);
    bench_row_number(&row, "of_least", all->worst_of_least, 4);
    bench_row_count(&row, "worse", all->worse);
    bench_row_count(&row, "missed", all->missed);
    bench_row_count(&row, "missed_asked", all->missed_asked);
    bench_row_count(&row, "moves", end.moves);
    bench_row_number(&row, "extra_mib", MIB(maar->extra_bytes), 1);
    end_row(scene, &row);
}

/* Reports what passes of the other library's interface do on Maar. */
static void run_drop_in(const struct scene* scene)
{
#if MAAR_BENCH_MAAR_VMA
    for (uint32_t kind = 0; kind < PASS_KINDS && scene->bench->shows_drop_in; ++kind) {
        const struct defragmentation_limits limits = limits_of(scene->bench, kind);
        struct defragmentation_curve curve =
            run_peer(scene, &defragmentation_peer_maar_vma_balanced, &limits);
        report_run(scene, &defragmentation_peer_maar_vma_balanced, kind, &curve);
        defragmentation_release(&curve);
    }
#else
    (void)scene;
#endif
}

static void run_scene(struct scene* scene)
{
    struct defragmentation_curve curves[MOST_PEERS * PASS_KINDS];
    const uint32_t vma_count = (defragmentation_peer_count - 1) * PASS_KINDS;
    const struct defragmentation_curve* const vma = &curves[PASS_KINDS];
    make_layout(scene);
    for (uint32_t i = 0; i < defragmentation_peer_count * PASS_KINDS; ++i) {
        const struct defragmentation_limits limits = limits_of(scene->bench, i % PASS_KINDS);
        curves[i] = run_peer(scene, defragmentation_peers[i / PASS_KINDS], &limits);
        if (scene->bench->shows_each || i % PASS_KINDS == 0) {
            report_run(scene, defragmentation_peers[i / PASS_KINDS], i % PASS_KINDS, &curves[i]);
        }
    }
    run_drop_in(scene);
    struct summary summary = {.vma_most = most_of(vma, vma_count)};
    const uint32_t most =
        vma_count != 0 ? summary.vma_most : defragmentation_end(&curves[0]).released;
    for (uint32_t k = 1; k <= most; ++k) {
        const struct defragmentation_limits asked = {.blocks = k};
        struct defragmentation_curve curve = run_peer(scene, defragmentation_peers[0], &asked);
        const struct comparison one = {
            .released = k,
            .vma = best_of(vma, vma_count, k),
            .run_bytes = best_of(curves, PASS_KINDS, k).bytes,
            .asked_bytes = defragmentation_bytes(&curve, k),
        };
        note_comparison(scene, &one, &summary);
        if (scene->bench->shows_each) {
            report_blocks(scene, &one);
        }
        defragmentation_release(&curve);
    }
    report_state(scene, &curves[0], &summary);
    for (uint32_t i = 0; i < defragmentation_peer_count * PASS_KINDS; ++i) {
        defragmentation_release(&curves[i]);
    }
    defragmentation_layout_release(&scene->layout);
    free(scene->bounds);
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
    if (script.copies <= 2) { /* one copy has as many live resources, and one follows it */
        trace_script_release(&script);
        trace_script_record(&trace, &script);
    }
    for (size_t s = 0; s < sizeof(states) / sizeof(states[0]); ++s) {
        struct scene scene = {
            .bench = bench, .trace = &trace, .script = &script, .state = &states[s]};
        run_scene(&scene);
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
        {"--maar-vma", NULL, BENCH_OPTION_FLAG, &bench.shows_drop_in,
         "also the passes of maar::vma"},
        {"--each", NULL, BENCH_OPTION_FLAG, &bench.shows_each,
         "a row for each number of blocks and each kind of pass"},
        {"--room", NULL, BENCH_OPTION_FLAG, &bench.makes_room,
         "what must move to make room for one request, without a trace"},
    };
    const struct bench_command command = {
        .name = "bench_defragmentation",
        .summary = "Gives back blocks after a part of a trace's resources was freed.",
        .operands = "[TRACE...]",
        .options = options,
        .option_count = sizeof(options) / sizeof(options[0]),
    };
    const int first = bench_parse_options(&command, argc, argv);
    if ((first == argc) != bench.makes_room) {
        bench_die(BENCH_EXIT_USAGE, bench.makes_room ? "--room needs no trace" : "no trace");
    }
    bench_note_peers();
    bench_device_open(&bench.device, bench.device_name, &bench.heaps);
    if (bench.makes_room) {
        const struct defragmentation_room room = {
            .device = &bench.device,
            .table = &bench.table,
            .block_size = bench.block_size,
            .pass_bytes = bench.pass_bytes,
            .live = bench.live,
        };
        defragmentation_report_room(&room);
    }
    for (int i = first; i < argc; ++i) {
        run_trace(&bench, argv[i]);
    }
    bench_device_close(&bench.device);
    return 0;
}
