/*
 * What the policy of residency restores, beside simple rules and the optimum. Without a device: the
 * policy is a room of its own, and objects of one size come and go in numbers alone.
 */
#include "bench_common.h"
#include "bench_options.h"
#include "bench_row.h"
#include "residency_rule.h"
#include "residency_workload.h"

#include "core/residency/policy.h"

#include <stdlib.h>

enum { OBJECT_BYTES = 65536 };

struct policy_run {
    struct maar_policy* policy;
    bool* is_in;
    uint32_t count;
    uint32_t capacity;
    uint64_t restored;
};

static void restore(struct policy_run* run, uint32_t object)
{
    ++run->restored;
    if (run->count == run->capacity) {
        const uint32_t victim = maar_policy_victim(run->policy);
        if (victim == MAAR_NO_OBJECT) {
            bench_die(BENCH_EXIT_FAILED, "no victim");
        }
        maar_policy_set_resident(run->policy, victim, false);
        run->is_in[victim] = false;
        --run->count;
    }
    maar_policy_set_resident(run->policy, object, true);
    run->is_in[object] = true;
    ++run->count;
}

/* Returns how many objects Maar's policy restores; *ns: the CPU time of a use. */
static uint64_t play_policy(const struct residency_workload* workload, uint32_t capacity,
                            double* ns)
{
    const struct maar_policy_info info = {.capacity = (VkDeviceSize)capacity * OBJECT_BYTES};
    struct policy_run run = {.policy = maar_policy_create(&info),
                             .is_in = bench_allocate(workload->object_count, sizeof(bool)),
                             .capacity = capacity};
    for (uint32_t i = 0; i < workload->object_count; ++i) {
        if (run.policy == NULL || maar_policy_add(run.policy, OBJECT_BYTES, 0) != i) {
            bench_die(BENCH_EXIT_FAILED, "no host memory");
        }
    }
    const double begin_ns = bench_thread_ns();
    for (uint32_t submission = 0; submission < workload->submission_count; ++submission) {
        const uint32_t* uses = &workload->uses[workload->begins[submission]];
        const uint32_t count = workload->begins[submission + 1] - workload->begins[submission];
        maar_policy_use(run.policy, count, uses);
        for (uint32_t i = 0; i < count; ++i) {
            maar_policy_pin(run.policy, uses[i]);
        }
        for (uint32_t i = 0; i < count; ++i) {
            if (!run.is_in[uses[i]]) {
                restore(&run, uses[i]);
            }
        }
        for (uint32_t i = 0; i < count; ++i) {
            maar_policy_unpin(run.policy, uses[i]);
        }
    }
    *ns = (bench_thread_ns() - begin_ns) / workload->begins[workload->submission_count];
    maar_policy_destroy(run.policy);
    free(run.is_in);
    return run.restored;
}

static void run_workload(uint32_t number, uint32_t perturbed, uint32_t percent,
                         struct bench_table* table)
{
    static const char* const names[RESIDENCY_RULES] = {"optimum", "oldest", "newest", "clock",
                                                       "grace"};
    struct residency_workload workload;
    residency_workload_make(&workload, number, perturbed);
    uint32_t capacity = (uint32_t)((uint64_t)workload.used_count * percent / 100);
    capacity = capacity > workload.most_uses ? capacity : workload.most_uses + 1;
    const uint64_t optimum = residency_play(&workload, RESIDENCY_OPTIMUM, capacity);
    double ns = 0;
    const uint64_t restored = play_policy(&workload, capacity, &ns);
    struct bench_row row;
    bench_row_begin(&row, "residency");
    bench_row_name(&row, "workload", workload.name);
    bench_row_text(&row, "tuned_on", number < RESIDENCY_TUNED ? "yes" : "no");
    bench_row_count(&row, "perturbed", perturbed);
    bench_row_count(&row, "capacity", percent);
    bench_row_count(&row, "objects", workload.used_count);
    bench_row_count(&row, "uses", workload.begins[workload.submission_count]);
    bench_row_count(&row, "optimum", optimum);
    bench_row_number(&row, "maar", (double)restored / (double)optimum, 2);
    double best = 1e30;
    for (uint32_t rule = RESIDENCY_OLDEST; rule < RESIDENCY_RULES; ++rule) {
        const double ratio =
            (double)residency_play(&workload, (enum residency_rule)rule, capacity) /
            (double)optimum;
        best = ratio < best ? ratio : best;
        bench_row_number(&row, names[rule], ratio, 2);
    }
    bench_row_number(&row, "maar_to_best", (double)restored / (double)optimum / best, 2);
    bench_row_number(&row, "maar_use_ns", ns, 0);
    bench_row_end(&row, table);
    residency_workload_release(&workload);
}

int main(int argc, char** argv)
{
    struct bench_table table = {{0}};
    uint32_t perturbed = 0;
    const struct bench_option options[] = {
        {"--perturbed", "PERCENT", BENCH_OPTION_COUNT, &perturbed,
         "part of the uses that is of other objects (0)"},
    };
    const struct bench_command command = {
        .name = "bench_residency",
        .summary = "Restored objects, by what is evicted; divided by the optimum.",
        .options = options,
        .option_count = sizeof(options) / sizeof(options[0]),
    };
    (void)bench_parse_options(&command, argc, argv);
    for (uint32_t number = 0; number < RESIDENCY_WORKLOADS; ++number) {
        run_workload(number, perturbed, 50, &table);
        run_workload(number, perturbed, 90, &table);
    }
    return 0;
}
