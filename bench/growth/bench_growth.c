/*
 * Times one growth case at one n, or lists the cases: see growth.h.
 */
#include "growth.h"
#include "growth_device.h"

#include "bench_options.h"

#include <stdio.h>
#include <string.h>

static const struct growth_case* const case_lists[] = {growth_memory_cases, growth_pool_cases,
                                                       growth_pending_cases};
enum { LISTS = sizeof case_lists / sizeof case_lists[0] };

/* A profiler names this function. */
static BENCH_NOINLINE void growth_timed(const struct growth_case* found, struct growth* growth)
{
    found->run(growth);
}

static const struct growth_case* find_case(const char* name)
{
    for (uint32_t i = 0; i < LISTS; ++i) {
        for (const struct growth_case* at = case_lists[i]; at->name != NULL; ++at) {
            if (strcmp(at->name, name) == 0) {
                return at;
            }
        }
    }
    bench_die(BENCH_EXIT_USAGE, "--case %s: no such case; --list prints all", name);
}

static void list_cases(void)
{
    for (uint32_t i = 0; i < LISTS; ++i) {
        for (const struct growth_case* at = case_lists[i]; at->name != NULL; ++at) {
            printf("%s\t%u\t%s\t%s\t%s\n", at->name, at->n, at->each ? "each" : "all",
                   at->functions, at->dimension);
        }
    }
}

static double time_case(const struct growth_case* found, struct growth* growth, uint32_t runs)
{
    double least = 0;
    for (uint32_t i = 0; i < runs; ++i) {
        if (found->prepare != NULL) {
            found->prepare(growth);
        }
        const double start = bench_thread_ns();
        growth_timed(found, growth);
        const double ns = bench_thread_ns() - start;
        least = i == 0 || ns < least ? ns : least;
        if (found->tidy != NULL) {
            found->tidy(growth);
        }
    }
    return least;
}

int main(int argc, char** argv)
{
    const char* name = NULL;
    uint32_t n = 0;
    uint32_t runs = 3;
    bool list = false;
    const struct bench_option options[] = {
        {"--case", "NAME", BENCH_OPTION_TEXT, &name, "the case"},
        {"--n", "N", BENCH_OPTION_COUNT, &n, "how many things the operation runs beside"},
        {"--runs", "N", BENCH_OPTION_COUNT, &runs, "number of runs, of which the fastest counts"},
        {"--list", NULL, BENCH_OPTION_FLAG, &list, "list the cases: name, least n, functions"},
    };
    const struct bench_command command = {
        .name = "bench_growth",
        .summary = "Times an operation of Maar beside n things, on a simulated device.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
    };
    if (bench_parse_options(&command, argc, argv) != argc) {
        bench_die(BENCH_EXIT_USAGE, "bench_growth takes no operands");
    }
    if (list) {
        list_cases();
        return 0;
    }
    if (name == NULL) {
        bench_die(BENCH_EXIT_USAGE, "--case is missing; --list prints all");
    }
    const struct growth_case* found = find_case(name);
    struct growth growth = {.n = n != 0 ? n : found->n};
    growth.count = found->count != 0 ? found->count : 1;
    growth_open(&growth);
    found->open(&growth);
    const double ns = time_case(found, &growth, runs);
    if (found->close != NULL) {
        found->close(&growth);
    }
    growth_close(&growth);
    const double operations = found->each ? growth.n : growth.count;
    printf("{\"case\":\"%s\",\"n\":%u,\"operations\":%.0f,\"ns\":%.6g}\n", name, growth.n,
           operations, ns / operations);
    return 0;
}
