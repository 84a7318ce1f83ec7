/*
 * What the policy of residency restores, beside simple rules and what no rule can do better than.
 * Without a device: the policy is a room of its own, and objects come and go in numbers alone.
 */
#include "bench_common.h"
#include "bench_options.h"
#include "bench_row.h"
#include "residency_rule.h"
#include "residency_trace.h"
#include "residency_workload.h"

#include "core/residency/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct policy_run {
    const struct residency_workload* workload;
    struct maar_policy* policy;
    uint32_t* slots;  /* the policy's number of each object, or MAAR_NO_OBJECT */
    uint32_t* owners; /* the other way round */
    bool* is_in;
    bool* is_dirty;
    uint64_t capacity;
    uint64_t bytes;
    struct residency_cost cost;
};

static void open_run(struct policy_run* run)
{
    const struct maar_policy_info info = {.capacity = run->capacity};
    const uint32_t count = run->workload->object_count;
    run->policy = maar_policy_create(&info);
    run->slots = bench_allocate(count, sizeof(uint32_t));
    run->owners = bench_allocate(count, sizeof(uint32_t));
    run->is_in = bench_allocate(count, sizeof(bool));
    run->is_dirty = bench_allocate(count, sizeof(bool));
    for (uint32_t i = 0; i < count; ++i) {
        run->slots[i] = MAAR_NO_OBJECT;
    }
}

static void close_run(struct policy_run* run)
{
    maar_policy_destroy(run->policy);
    free(run->slots);
    free(run->owners);
    free(run->is_in);
    free(run->is_dirty);
}

static void add_object(struct policy_run* run, uint32_t object)
{
    const uint64_t size = run->workload->objects[object].size;
    const uint32_t slot =
        run->policy != NULL ? maar_policy_add(run->policy, size, 0) : MAAR_NO_OBJECT;
    if (slot == MAAR_NO_OBJECT) {
        bench_die(BENCH_EXIT_FAILED, "no host memory");
    }
    run->slots[object] = slot;
    run->owners[slot] = object;
}

static void leave_memory(struct policy_run* run, uint32_t object)
{
    maar_policy_set_resident(run->policy, run->slots[object], false);
    maar_policy_set_dirty(run->policy, run->slots[object], false);
    run->is_in[object] = false;
    run->is_dirty[object] = false;
    run->bytes -= run->workload->objects[object].size;
}

static void remove_object(struct policy_run* run, uint32_t object)
{
    if (run->slots[object] != MAAR_NO_OBJECT) {
        if (run->is_in[object]) {
            leave_memory(run, object);
        }
        maar_policy_remove(run->policy, run->slots[object]);
        run->slots[object] = MAAR_NO_OBJECT;
    }
}

static void bring(struct policy_run* run, uint32_t use)
{
    const uint32_t object = run->workload->uses[use];
    const uint64_t size = run->workload->objects[object].size;
    const bool is_fresh = (run->workload->accesses[use] & RESIDENCY_FRESH) != 0;
    run->cost.restored += is_fresh ? 0 : size;
    while (run->bytes + size > run->capacity) {
        const uint32_t slot = maar_policy_victim(run->policy);
        if (slot == MAAR_NO_OBJECT) {
            bench_die(BENCH_EXIT_FAILED, "no victim");
        }
        const uint32_t victim = run->owners[slot];
        ++run->cost.evictions;
        run->cost.written += run->is_dirty[victim] ? run->workload->objects[victim].size : 0;
        leave_memory(run, victim);
    }
    maar_policy_set_resident(run->policy, run->slots[object], true);
    run->is_in[object] = true;
    run->bytes += size;
}

static void play_submission(struct policy_run* run, uint32_t submission, uint32_t* used)
{
    const struct residency_workload* workload = run->workload;
    const uint32_t begin = workload->begins[submission];
    const uint32_t end = workload->begins[submission + 1];
    for (uint32_t i = begin; i < end; ++i) {
        if (run->slots[workload->uses[i]] == MAAR_NO_OBJECT) {
            add_object(run, workload->uses[i]);
        }
        used[i - begin] = run->slots[workload->uses[i]];
    }
    maar_policy_use(run->policy, end - begin, used);
    for (uint32_t i = begin; i < end; ++i) {
        maar_policy_pin(run->policy, used[i - begin]);
    }
    for (uint32_t i = begin; i < end; ++i) {
        if (!run->is_in[workload->uses[i]]) {
            bring(run, i);
        }
    }
    for (uint32_t i = begin; i < end; ++i) {
        if ((workload->accesses[i] & RESIDENCY_WRITES) != 0) {
            run->is_dirty[workload->uses[i]] = true;
            maar_policy_set_dirty(run->policy, used[i - begin], true);
        }
        maar_policy_unpin(run->policy, used[i - begin]);
    }
}

/* Returns what Maar's policy costs; *ns: the CPU time of a use. */
static struct residency_cost play_policy(const struct residency_workload* workload,
                                         uint64_t capacity, double* ns)
{
    struct policy_run run = {.workload = workload, .capacity = capacity};
    uint32_t* used = bench_allocate(workload->most_uses, sizeof(uint32_t));
    uint32_t ended = 0;
    open_run(&run);
    for (uint32_t i = 0; workload->has_contents && i < workload->object_count; ++i) {
        add_object(&run, i);
    }
    const double begin_ns = bench_thread_ns();
    for (uint32_t submission = 0; submission < workload->submission_count; ++submission) {
        for (; ended < workload->ending_count && workload->endings[ended].end <= submission;
             ++ended) {
            remove_object(&run, workload->endings[ended].object);
        }
        play_submission(&run, submission, used);
    }
    *ns = (bench_thread_ns() - begin_ns) / workload->begins[workload->submission_count];
    close_run(&run);
    free(used);
    return run.cost;
}

struct residency_bench {
    uint32_t perturbed;
    bool is_unequal;
    const char* logs; /* a folder */
    struct bench_table table;
};

static double ratio_of(uint64_t bytes, uint64_t bound)
{
    return bytes == bound ? 1 : (double)bytes / (double)bound;
}

static void run_workload(struct residency_bench* bench, const struct residency_workload* workload,
                         const char* tuned_on, uint32_t percent)
{
    static const char* const names[RESIDENCY_RULES] = {"belady", "oldest", "newest", "clock",
                                                       "grace"};
    const uint64_t capacity = residency_capacity(workload, percent);
    const uint64_t bound = residency_bound(workload, capacity);
    double ns = 0;
    const struct residency_cost maar = play_policy(workload, capacity, &ns);
    struct bench_row row;
    bench_row_begin(&row, "residency");
    bench_row_name(&row, "workload", workload->name);
    bench_row_text(&row, "tuned_on", tuned_on);
    bench_row_count(&row, "perturbed", bench->perturbed);
    bench_row_count(&row, "capacity", percent);
    bench_row_count(&row, "objects", workload->used_count);
    bench_row_count(&row, "uses", workload->begins[workload->submission_count]);
    bench_row_number(&row, "memory_mib", (double)capacity / 1048576, 1);
    bench_row_number(&row, "bound_mib", (double)bound / 1048576, 1);
    bench_row_number(&row, "maar", ratio_of(maar.restored, bound), 2);
    double best = 1e30;
    double written = 0;
    double moved = 1e30;
    char key[32];
    for (uint32_t rule = RESIDENCY_OPTIMUM; rule < RESIDENCY_RULES; ++rule) {
        const struct residency_cost cost =
            residency_play(workload, (enum residency_rule)rule, capacity);
        const double ratio = ratio_of(cost.restored, bound);
        const double both = (double)(cost.restored + cost.written);
        if (rule != RESIDENCY_OPTIMUM && (double)cost.restored < best) {
            best = (double)cost.restored;
            written = (double)cost.written;
        }
        moved = rule != RESIDENCY_OPTIMUM && both < moved ? both : moved;
        bench_row_number(&row, names[rule], ratio, 2);
        (void)snprintf(key, sizeof key, ".%s_mib", names[rule]);
        bench_row_number(&row, key, (double)cost.restored / 1048576, 1);
    }
    bench_row_number(&row, "maar_to_best", ratio_of(maar.restored, (uint64_t)best), 2);
    bench_row_number(&row, "moved_to_best", ratio_of(maar.restored + maar.written, (uint64_t)moved),
                     2);
    bench_row_number(&row, "maar_mib", (double)maar.restored / 1048576, 1);
    bench_row_number(&row, "best_mib", best / 1048576, 1);
    bench_row_number(&row, "written_mib", (double)maar.written / 1048576, 1);
    bench_row_number(&row, "best_written_mib", written / 1048576, 1);
    bench_row_number(&row, "maar_use_ns", ns, 0);
    bench_row_end(&row, &bench->table);
}

static void run_both(struct residency_bench* bench, struct residency_workload* workload,
                     const char* tuned_on)
{
    run_workload(bench, workload, tuned_on, 50);
    run_workload(bench, workload, tuned_on, 90);
    residency_workload_release(workload);
}

static void run_generated(struct residency_bench* bench)
{
    for (uint32_t number = 0; number < RESIDENCY_WORKLOADS; ++number) {
        struct residency_workload workload;
        residency_workload_make(&workload, number, bench->perturbed, bench->is_unequal);
        run_both(bench, &workload, number < RESIDENCY_TUNED ? "yes" : "no");
    }
}

static void run_logs(struct residency_bench* bench)
{
    static const struct {
        const char* name;
        enum residency_log kind;
    } logs[] = {
        {"real-azure-conv-paged", RESIDENCY_LOG_SERVING},
        {"real-azure-code-contig", RESIDENCY_LOG_SERVING},
        {"real-mooncake-prefix-lru", RESIDENCY_LOG_PREFIXES},
        {"real-somas-pangu2.6B", RESIDENCY_LOG_TRAINING},
        {"real-somas-resnet50", RESIDENCY_LOG_TRAINING},
    };
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; ++i) {
        struct residency_workload workload;
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/%s.csv.gz", bench->logs, logs[i].name);
        if (access(path, R_OK) != 0) {
            bench_complain("%s skipped: not in %s", logs[i].name, bench->logs);
            continue;
        }
        residency_load_log(&workload, path, logs[i].kind, bench->perturbed);
        run_both(bench, &workload, "no");
    }
}

int main(int argc, char** argv)
{
    struct residency_bench bench = {.perturbed = 0};
    const struct bench_option options[] = {
        {"--perturbed", "PERCENT", BENCH_OPTION_COUNT, &bench.perturbed,
         "part of the uses that is of other objects (0)"},
        {"--unequal", NULL, BENCH_OPTION_FLAG, &bench.is_unequal,
         "generated objects of 64 KiB to 4 MiB, instead of 64 KiB"},
        {"--logs", "FOLDER", BENCH_OPTION_TEXT, &bench.logs,
         "instead of the generated workloads, those of the logs real-*.csv.gz in a folder"},
    };
    const struct bench_command command = {
        .name = "bench_residency",
        .summary =
            "Restored bytes, by what is evicted; divided by what no rule can do better than.\n"
            "With traces that have uses (maar-trace/2): of those instead of generated ones.",
        .operands = "[TRACE...]",
        .options = options,
        .option_count = sizeof(options) / sizeof(options[0]),
    };
    const int first = bench_parse_options(&command, argc, argv);
    if (bench.logs != NULL) {
        run_logs(&bench);
    } else if (first == argc) {
        run_generated(&bench);
    }
    for (int i = first; i < argc; ++i) {
        struct residency_workload workload;
        residency_load_trace(&workload, argv[i], bench.perturbed);
        run_both(&bench, &workload, "no");
    }
    return 0;
}
