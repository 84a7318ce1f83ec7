/*
 * The planner benchmark. Maar's planner and the heuristics of engines and runtimes place the same
 * transient resources. The benchmark also runs the hard instances of google/minimalloc, unchanged,
 * shuffled and mirrored.
 */
#include "bench/bench_common.h"
#include "bench/bench_options.h"
#include "bench/bench_row.h"
#include "bench/plan_dissection.h"
#include "bench/plan_hard.h"
#include "bench/plan_peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLAN_RUNS = 1000,
    HARD_CAPACITY = 1048576,
    HARD_SECONDS = 60,
    DISSECTION_SECONDS = 10,
    OPTIMISE_SECONDS = 10,
    MIN_PEER_RUNS = 5,
};

#define MIB 1048576.0

/* The longest time for the runs of a heuristic. */
#define PEER_BUDGET_NS 1e9

struct plan_bench {
    const char* workloads;
    const char* peers;
    const char* data;
    const char* minimalloc;
    uint32_t runs, seed, seeds, seconds;
    struct bench_table table;
};

/* The result of a contestant on an instance. */
struct plan_figures {
    double place_ns[BENCH_MAX_RUNS];
    uint32_t runs;
    double whole_ns, cached_ns;
    uint64_t peak, bound, nodes;
    uint32_t first_edges, edges, cross_edges;
    bool proved;
};

static MaarPlan make_plan(const MaarPlanCreateInfo* info, double* ns)
{
    MaarPlan plan = VK_NULL_HANDLE;
    const double start = bench_thread_ns();
    const VkResult result = maarCreatePlan(info, &plan);
    *ns = bench_thread_ns() - start;
    if (result != VK_SUCCESS) {
        bench_die(BENCH_EXIT_FAILED, "maarCreatePlan failed: %s", maarGetResultName(result));
    }
    return plan;
}

static MaarPlanInfo read_info(MaarPlan plan)
{
    MaarPlanInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
    maarGetPlanInfo(plan, &info);
    return info;
}

/* Checks a plan by the benchmark's own rules. All instances have one class. */
static void check_plan(const struct plan_scene* scene, MaarPlan plan, bool with_edges)
{
    uint32_t count = scene->count;
    MaarPlanPlacement* const placements = bench_allocate(count, sizeof(*placements));
    uint64_t* const offsets = bench_allocate(count, sizeof(*offsets));
    maarGetPlanPlacements(plan, &count, placements);
    for (uint32_t i = 0; i < count; ++i) {
        offsets[i] = placements[i].offset;
    }
    const MaarPlanInfo info = read_info(plan);
    if (plan_scene_check(scene, "maar", offsets) != info.peakSize ||
        (with_edges && plan_scene_count_edges(scene, offsets) != info.edgeCount)) {
        bench_die(BENCH_EXIT_FAILED, "maar: self-check failed: peak or edges");
    }
    free(offsets);
    free(placements);
}

/* Returns the same information for a graph without edges. */
static void check_graph_plan(const struct support_frame_graph* graph, MaarPlan plan)
{
    struct plan_scene scene;
    plan_scene_open(&scene, graph);
    check_plan(&scene, plan, false);
    plan_scene_close(&scene);
}

/* Returns the time of a call that finds its plan in the cache. */
static double time_cached(MaarPlanCreateInfo info)
{
    const MaarPlanCacheCreateInfo cache_info = {.sType =
                                                    MAAR_STRUCTURE_TYPE_PLAN_CACHE_CREATE_INFO};
    double ns[MIN_PEER_RUNS];
    double first = 0;
    if (maarCreatePlanCache(&cache_info, &info.cache) != VK_SUCCESS) {
        bench_die(BENCH_EXIT_FAILED, "out of memory");
    }
    maarDestroyPlan(make_plan(&info, &first));
    for (uint32_t i = 0; i < MIN_PEER_RUNS; ++i) {
        maarDestroyPlan(make_plan(&info, &ns[i]));
    }
    maarDestroyPlanCache(info.cache);
    return bench_median(ns, MIN_PEER_RUNS);
}

static void measure_maar(const struct plan_bench* bench, const struct support_frame_graph* graph,
                         const struct plan_scene* scene, struct plan_figures* figures)
{
    MaarPlanCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO};
    double whole[MIN_PEER_RUNS];
    support_frame_graph_describe(graph, &info);
    for (uint32_t i = 0; i < MIN_PEER_RUNS; ++i) {
        MaarPlan plan = make_plan(&info, &whole[i]);
        if (i == 0) {
            const MaarPlanInfo made = read_info(plan);
            check_plan(scene, plan, true);
            figures->peak = made.peakSize;
            figures->bound = made.lowerBound;
            figures->proved = made.provedOptimal == VK_TRUE;
            figures->nodes = made.nodeCount;
            figures->first_edges = made.firstStageEdgeCount;
            figures->edges = made.edgeCount;
            figures->cross_edges = made.crossQueueEdgeCount;
        }
        maarDestroyPlan(plan);
    }
    figures->whole_ns = bench_median(whole, MIN_PEER_RUNS);
    figures->cached_ns = time_cached(info);
    info.flags = MAAR_PLAN_CREATE_KEEP_EDGES_BIT;
    figures->runs = bench->runs;
    for (uint32_t i = 0; i < bench->runs; ++i) {
        maarDestroyPlan(make_plan(&info, &figures->place_ns[i]));
    }
}

/* Ends the program if the file requests something that the other rules do not cover. */
static void require_plain(const struct support_frame_graph* graph, const char* path)
{
    for (uint32_t i = 0; i < graph->resource_count; ++i) {
        if ((graph->resources[i].flags & MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT) != 0) {
            bench_die(BENCH_EXIT_USAGE,
                      "%s: resource %s has a fixed_offset, which only Maar's planner supports",
                      path, graph->rows[i].id);
        }
        if (graph->resources[i].memoryTypeBits != graph->resources[0].memoryTypeBits) {
            bench_die(BENCH_EXIT_USAGE,
                      "%s: resource %s has other memory_types than resource %s, which only Maar's "
                      "planner supports",
                      path, graph->rows[i].id, graph->rows[0].id);
        }
    }
}

static BENCH_NOINLINE double time_peer(const struct plan_peer* peer, struct plan_scene* scene,
                                       uint64_t* offsets)
{
    const double start = bench_thread_ns();
    peer->place(scene, offsets);
    return bench_thread_ns() - start;
}

static void measure_peer(const struct plan_bench* bench, const struct plan_peer* peer,
                         struct plan_scene* scene, struct plan_figures* figures)
{
    uint64_t* const offsets = bench_allocate(scene->count, sizeof(*offsets));
    double spent = 0;
    *figures = (struct plan_figures){.bound = figures->bound};
    while (figures->runs < bench->runs &&
           (spent < PEER_BUDGET_NS || figures->runs < MIN_PEER_RUNS)) {
        figures->place_ns[figures->runs] = time_peer(peer, scene, offsets);
        spent += figures->place_ns[figures->runs++];
    }
    figures->peak = plan_scene_check(scene, peer->name, offsets);
    figures->edges = plan_scene_count_edges(scene, offsets);
    free(offsets);
}

static void begin_row(struct bench_row* row, const char* workload, const char* instance,
                      const char* peer, uint32_t resources)
{
    bench_row_begin(row, "plan");
    bench_row_text(row, ".workload", workload);
    bench_row_name(row, "instance", instance);
    bench_row_text(row, "peer", peer);
    bench_row_count(row, "resources", resources);
}

/* Returns the median of the runs. A heuristic's minimum and median come from the same list. */
static void report_figures(struct plan_bench* bench, const struct support_frame_graph* graph,
                           const char* peer, const struct plan_figures* figures, bool ours)
{
    struct bench_row row;
    const double place = bench_median_of(figures->place_ns, figures->runs);
    begin_row(&row, "frames", graph->name, peer, graph->resource_count);
    bench_row_number(&row, "place_us", place / 1e3, 1);
    bench_row_number(&row, "min_us", bench_least_of(figures->place_ns, figures->runs) / 1e3, 1);
    bench_row_number(&row, "edge_us", ours ? (figures->whole_ns - place) / 1e3 : NAN, 1);
    bench_row_number(&row, "cached_us", ours ? figures->cached_ns / 1e3 : NAN, 1);
    bench_row_number(&row, "peak_mib", (double)figures->peak / MIB, 2);
    bench_row_number(&row, "of_bound",
                     figures->bound != 0 ? (double)figures->peak / (double)figures->bound : 1.0, 3);
    bench_row_text(&row, ".proved", figures->proved ? "yes" : "no");
    if (ours) {
        bench_row_count(&row, "nodes", figures->nodes);
        bench_row_count(&row, "edges_1", figures->first_edges);
    } else {
        bench_row_none(&row, "nodes");
        bench_row_none(&row, "edges_1");
    }
    bench_row_count(&row, "edges", figures->edges);
    bench_row_count(&row, ".runs", figures->runs);
    bench_row_text(&row, ".self_check", "passed");
    bench_row_end(&row, &bench->table);
}

static void run_frame(struct plan_bench* bench, const struct support_frame_graph* graph)
{
    struct plan_figures* const figures = bench_allocate(1, sizeof(*figures));
    struct plan_scene scene;
    plan_scene_open(&scene, graph);
    measure_maar(bench, graph, &scene, figures);
    if (bench_is_listed(bench->peers, "maar")) {
        report_figures(bench, graph, "maar", figures, true);
    }
    for (uint32_t i = 0; i < plan_peer_count; ++i) {
        if (bench_is_listed(bench->peers, plan_peers[i].name)) {
            measure_peer(bench, &plan_peers[i], &scene, figures);
            report_figures(bench, graph, plan_peers[i].name, figures, false);
        }
    }
    plan_scene_close(&scene);
    free(figures);
}

static void load(const char* path, const char* passes, const char* edges,
                 struct support_frame_graph* graph)
{
    struct support_error error = {{0}};
    if (!support_frame_graph_load(path, passes, edges, graph, &error)) {
        bench_die(BENCH_EXIT_USAGE, "%s", error.text);
    }
}

static void run_frames(struct plan_bench* bench)
{
    static const char* const names[] = {
        "deferred_1080p",    "deferred_4k",      "forwardplus_msaa4_1440p",
        "frostbite_like_4k", "taau_1440p_to_4k", "pathtracer_1080p_to_4k",
        "llm_8b_prefill512", "unet_sd15_512",
    };
    static const char* const queues[] = {"deferred_4k_async", "taau_1440p_to_4k_async"};
    struct support_frame_graph graph;
    char paths[3][4096];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        snprintf(paths[0], sizeof(paths[0]), MAAR_BENCH_DATA "/frames/%s.csv", names[i]);
        load(paths[0], NULL, NULL, &graph);
        run_frame(bench, &graph);
        support_frame_graph_release(&graph);
    }
    for (size_t i = 0; i < sizeof(queues) / sizeof(queues[0]); ++i) {
        static const char* const parts[] = {"resources", "passes", "edges"};
        for (size_t j = 0; j < 3; ++j) {
            snprintf(paths[j], sizeof(paths[j]), MAAR_BENCH_DATA "/frames/dag/%s.%s.csv", queues[i],
                     parts[j]);
        }
        load(paths[0], paths[1], paths[2], &graph);
        run_frame(bench, &graph);
        support_frame_graph_release(&graph);
    }
}

/* Loads one of the instances A to K. Prints a message and returns false if the file does not
 * exist. */
static bool load_hard(const struct plan_bench* bench, char letter,
                      struct support_frame_graph* graph)
{
    char path[4096];
    if (bench->data == NULL) {
        bench_complain("skipped: %c, since neither --data nor MAAR_SHARED_DATA names a folder",
                       letter);
        return false;
    }
    snprintf(path, sizeof(path), "%s/minimalloc/%c.1048576.csv", bench->data, letter);
    FILE* const file = fopen(path, "rb");
    if (file == NULL) {
        bench_complain("skipped: %s does not exist; see --data", path);
        return false;
    }
    fclose(file);
    load(path, NULL, NULL, graph);
    return true;
}

static const char* fit_name(MaarPlanFit fit)
{
    static const char* const names[] = {"not asked", "yes", "no", "undecided"};
    return names[fit];
}

/* The solver's placement itself is not checked. */
static void report_hard(struct plan_bench* bench, const char* instance, const char* variant,
                        const char* peer, uint32_t resources, double cpu_ms, const char* fits,
                        uint64_t nodes)
{
    struct bench_row row;
    begin_row(&row, "hard", instance, peer, resources);
    bench_row_text(&row, "variant", variant);
    bench_row_number(&row, "cpu_ms", cpu_ms, 1);
    bench_row_text(&row, "fits", fits);
    bench_row_count(&row, "nodes", nodes);
    bench_row_text(&row, ".self_check", strcmp(peer, "maar") == 0 ? "passed" : "none");
    bench_row_end(&row, &bench->table);
}

/* Finds out whether Maar's plan fits the capacity. Returns the CPU time. */
static double decide(struct plan_bench* bench, const struct support_frame_graph* graph,
                     const char* variant, uint64_t* nodes)
{
    MaarPlanCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
                               .flags = MAAR_PLAN_CREATE_KEEP_EDGES_BIT,
                               .capacity = HARD_CAPACITY,
                               .nodeLimit = UINT64_MAX,
                               .timeLimit_ns = (uint64_t)HARD_SECONDS * 1000000000u};
    double ns = 0;
    support_frame_graph_describe(graph, &info);
    MaarPlan plan = make_plan(&info, &ns);
    const MaarPlanInfo made = read_info(plan);
    check_graph_plan(graph, plan);
    maarDestroyPlan(plan);
    report_hard(bench, graph->name, variant, "maar", graph->resource_count, ns / 1e6,
                fit_name(made.fit), made.nodeCount);
    *nodes += made.nodeCount;
    return ns / 1e6;
}

static void run_variant(struct plan_bench* bench, enum plan_variant variant)
{
    double total[2] = {0, 0};
    uint64_t nodes = 0;
    uint32_t resources = 0;
    for (const char* letter = "ABCDEFGHIJK"; *letter != '\0'; ++letter) {
        struct support_frame_graph graph;
        if (!load_hard(bench, *letter, &graph)) {
            return;
        }
        plan_hard_vary(&graph, variant, bench->seed);
        total[0] += decide(bench, &graph, plan_variant_names[variant], &nodes);
        resources += graph.resource_count;
        if (bench->minimalloc != NULL) {
            const struct plan_hard_outcome outcome =
                plan_hard_run(bench->minimalloc, &graph, HARD_CAPACITY, HARD_SECONDS);
            report_hard(bench, graph.name, plan_variant_names[variant], "minimalloc",
                        graph.resource_count, outcome.cpu_ms, outcome.fits ? "yes" : "no", 0);
            total[1] += outcome.cpu_ms;
        }
        support_frame_graph_release(&graph);
    }
    report_hard(bench, "all", plan_variant_names[variant], "maar", resources, total[0], "-", nodes);
    if (bench->minimalloc != NULL) {
        report_hard(bench, "all", plan_variant_names[variant], "minimalloc", resources, total[1],
                    "-", 0);
    }
}

/* Plans with one seed of the search after another. */
struct seed_trial {
    double ms[BENCH_MAX_RUNS];
    uint64_t peaks[BENCH_MAX_RUNS];
    uint64_t nodes;
    uint32_t undecided;
};

/* Asks whether the resources fit into a capacity, or with capacity 0 for their least peak, with
 * each seed from 1 to bench->seeds, or with the built-in seed. */
static void try_seeds(const struct plan_bench* bench, const struct support_frame_graph* graph,
                      uint64_t capacity, uint32_t seconds, struct seed_trial* trial)
{
    *trial = (struct seed_trial){.nodes = 0};
    for (uint32_t i = 0; i < bench->seeds || i == 0; ++i) {
        const MaarPlanSeedInfo seed = {.sType = MAAR_STRUCTURE_TYPE_PLAN_SEED_INFO,
                                       .seed = bench->seeds > 0 ? i + 1 : 0};
        MaarPlanCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
                                   .pNext = &seed,
                                   .flags = MAAR_PLAN_CREATE_KEEP_EDGES_BIT,
                                   .capacity = capacity,
                                   .nodeLimit = UINT64_MAX,
                                   .timeLimit_ns = (uint64_t)seconds * 1000000000u};
        support_frame_graph_describe(graph, &info);
        MaarPlan plan = make_plan(&info, &trial->ms[i]);
        const MaarPlanInfo made = read_info(plan);
        check_graph_plan(graph, plan);
        maarDestroyPlan(plan);
        const bool decided = capacity != 0 ? made.fit == MAAR_PLAN_FIT_YES : made.provedOptimal;
        trial->ms[i] /= 1e6;
        trial->peaks[i] = made.peakSize;
        trial->nodes += made.nodeCount;
        trial->undecided += decided ? 0 : 1;
    }
}

static void report_seeds(struct plan_bench* bench, const char* workload, const char* instance,
                         uint32_t resources, const struct seed_trial* trial)
{
    const uint32_t count = bench->seeds > 0 ? bench->seeds : 1;
    struct bench_row row;
    begin_row(&row, workload, instance, "maar", resources);
    bench_row_count(&row, "seeds", count);
    bench_row_number(&row, "median_ms", bench_median_of(trial->ms, count), 1);
    double worst = 0;
    for (uint32_t i = 0; i < count; ++i) {
        worst = trial->ms[i] > worst ? trial->ms[i] : worst;
    }
    bench_row_number(&row, "worst_ms", worst, 1);
    bench_row_count(&row, "undecided", trial->undecided);
    bench_row_count(&row, "nodes", trial->nodes / count);
    bench_row_text(&row, ".self_check", "passed");
    bench_row_end(&row, &bench->table);
}

/* Adds the times of an instance to those of all instances, seed by seed. */
static void add_trial(const struct plan_bench* bench, const struct seed_trial* trial,
                      struct seed_trial* all)
{
    for (uint32_t i = 0; i < bench->seeds || i == 0; ++i) {
        all->ms[i] += trial->ms[i];
    }
    all->nodes += trial->nodes;
    all->undecided += trial->undecided;
}

/* The instances A to K with many seeds. */
static void run_hard_seeds(struct plan_bench* bench)
{
    struct seed_trial* const trials = bench_allocate(2, sizeof(*trials));
    uint32_t resources = 0;
    trials[1] = (struct seed_trial){.nodes = 0};
    for (const char* letter = "ABCDEFGHIJK"; *letter != '\0'; ++letter) {
        struct support_frame_graph graph;
        if (!load_hard(bench, *letter, &graph)) {
            break;
        }
        try_seeds(bench, &graph, HARD_CAPACITY, HARD_SECONDS, &trials[0]);
        report_seeds(bench, "hard", graph.name, graph.resource_count, &trials[0]);
        add_trial(bench, &trials[0], &trials[1]);
        resources += graph.resource_count;
        support_frame_graph_release(&graph);
    }
    if (resources > 0) {
        report_seeds(bench, "hard", "all", resources, &trials[1]);
    }
    free(trials);
}

/* Rectangles that were cut into pieces: do the pieces fit into the rectangle again? */
static void run_dissections(struct plan_bench* bench)
{
    struct seed_trial* const trials = bench_allocate(2, sizeof(*trials));
    uint32_t resources = 0;
    trials[1] = (struct seed_trial){.nodes = 0};
    for (uint32_t i = 0; i < PLAN_DISSECTION_COUNT; ++i) {
        struct support_frame_graph graph;
        plan_dissection_make(i, &graph);
        try_seeds(bench, &graph, PLAN_DISSECTION_BYTES, DISSECTION_SECONDS, &trials[0]);
        report_seeds(bench, "dissections", graph.name, graph.resource_count, &trials[0]);
        add_trial(bench, &trials[0], &trials[1]);
        resources += graph.resource_count;
        support_frame_graph_release(&graph);
    }
    report_seeds(bench, "dissections", "all", resources, &trials[1]);
    free(trials);
}

/* C, D and J with many seeds. */
static void report_optimise_seeds(struct plan_bench* bench, const struct support_frame_graph* graph)
{
    struct seed_trial* const trial = bench_allocate(1, sizeof(*trial));
    try_seeds(bench, graph, 0, bench->seconds, trial);
    report_seeds(bench, "optimise", graph->name, graph->resource_count, trial);
    free(trial);
}

/* The instances whose customary capacity is not the least possible one. */
static void run_optimise(struct plan_bench* bench)
{
    static const char letters[] = {'C', 'D', 'J'};
    for (size_t i = 0; i < sizeof(letters); ++i) {
        struct support_frame_graph graph;
        struct bench_row row;
        double ns = 0;
        if (!load_hard(bench, letters[i], &graph)) {
            return;
        }
        if (bench->seeds > 0) {
            report_optimise_seeds(bench, &graph);
            support_frame_graph_release(&graph);
            continue;
        }
        MaarPlanCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
                                   .flags = MAAR_PLAN_CREATE_KEEP_EDGES_BIT,
                                   .nodeLimit = UINT64_MAX,
                                   .timeLimit_ns = (uint64_t)bench->seconds * 1000000000u};
        support_frame_graph_describe(&graph, &info);
        MaarPlan plan = make_plan(&info, &ns);
        const MaarPlanInfo made = read_info(plan);
        check_graph_plan(&graph, plan);
        maarDestroyPlan(plan);
        begin_row(&row, "optimise", graph.name, "maar", graph.resource_count);
        bench_row_number(&row, "cpu_ms", ns / 1e6, 1);
        bench_row_count(&row, "peak", made.peakSize);
        bench_row_count(&row, "proved_bound", made.provedBound);
        bench_row_count(&row, "lower_bound", made.lowerBound);
        bench_row_text(&row, "proved", made.provedOptimal ? "yes" : "no");
        bench_row_count(&row, "nodes", made.nodeCount);
        bench_row_text(&row, ".self_check", "passed");
        bench_row_end(&row, &bench->table);
        support_frame_graph_release(&graph);
    }
}

static int parse(struct plan_bench* bench, int argc, char** argv)
{
    const struct bench_option options[] = {
        {"--workload", "LIST", BENCH_OPTION_TEXT, &bench->workloads,
         "frames, hard, optimise, dissections, or all; none with files"},
        {"--peer", "LIST", BENCH_OPTION_TEXT, &bench->peers,
         "of frames: maar, size-best, ... (see bench/README.md), or all"},
        {"--runs", "N", BENCH_OPTION_COUNT, &bench->runs, "timed runs of frames (1000)"},
        {"--seed", "N", BENCH_OPTION_COUNT, &bench->seed, "seed of the shuffled rows (1)"},
        {"--seeds", "N", BENCH_OPTION_COUNT, &bench->seeds,
         "of hard, optimise and dissections: seeds 1 to N of the search; 0: the built-in one (0)"},
        {"--seconds", "N", BENCH_OPTION_COUNT, &bench->seconds,
         "time limit of workload optimise (10)"},
        {"--data", "FOLDER", BENCH_OPTION_TEXT, &bench->data,
         "folder of minimalloc/A.1048576.csv ... ($MAAR_SHARED_DATA)"},
        {"--minimalloc", "PROGRAM", BENCH_OPTION_TEXT, &bench->minimalloc,
         "path of google/minimalloc's solver, a peer on the hard instances"},
    };
    const struct bench_command command = {
        .name = "bench_plan",
        .summary = "Places transient resources by Maar's planner and by other rules.",
        .operands = "[FILE.csv...]",
        .options = options,
        .option_count = sizeof(options) / sizeof(options[0]),
    };
    static const char* const workloads[] = {"frames", "hard", "optimise", "dissections"};
    const char* peers[16] = {"maar"};
    const int first = bench_parse_options(&command, argc, argv);
    for (uint32_t i = 0; i < plan_peer_count; ++i) {
        peers[i + 1] = plan_peers[i].name;
    }
    bench_check_list("--workload", bench->workloads, workloads, 4);
    bench_check_list("--peer", bench->peers, peers, plan_peer_count + 1);
    if (bench->runs > BENCH_MAX_RUNS || bench->seeds > BENCH_MAX_RUNS) {
        bench_die(BENCH_EXIT_USAGE, "--runs, --seeds: at most %d", BENCH_MAX_RUNS);
    }
    return first;
}

int main(int argc, char** argv)
{
    const char* const shared = getenv("MAAR_SHARED_DATA");
    struct plan_bench bench = {
        .workloads = "all",
        .peers = "all",
        .data = shared != NULL && shared[0] != '\0' ? shared : NULL,
        .runs = PLAN_RUNS,
        .seed = 1,
        .seconds = OPTIMISE_SECONDS,
    };
    const int first = parse(&bench, argc, argv);
    for (int i = first; i < argc; ++i) {
        struct support_frame_graph graph;
        load(argv[i], NULL, NULL, &graph);
        require_plain(&graph, argv[i]);
        run_frame(&bench, &graph);
        support_frame_graph_release(&graph);
    }
    if (first == argc && bench_is_listed(bench.workloads, "frames")) {
        run_frames(&bench);
    }
    if (first == argc && bench_is_listed(bench.workloads, "hard") && bench.seeds > 0) {
        run_hard_seeds(&bench);
    }
    for (int i = 0; i < PLAN_VARIANT_COUNT && first == argc && bench.seeds == 0; ++i) {
        if (bench_is_listed(bench.workloads, "hard")) {
            run_variant(&bench, (enum plan_variant)i);
        }
    }
    if (first == argc && bench_is_listed(bench.workloads, "dissections")) {
        run_dissections(&bench);
    }
    if (first == argc && bench_is_listed(bench.workloads, "optimise")) {
        run_optimise(&bench);
    }
    return 0;
}
