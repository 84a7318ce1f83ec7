/*
 * Times a growth case at one n after another, or lists the cases: see growth.h.
 */
#include "growth_cases.h"
#include "growth_device.h"
#include "growth_peer.h"

#include "bench_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct growth_case* const case_lists[] = {
    growth_access_cases,    growth_array_cases,       growth_binding_cases,
    growth_cuda_cases,      growth_cuda_range_cases,  growth_draining_cases,
    growth_handle_cases,    growth_handoff_cases,     growth_hip_cases,
    growth_memory_cases,    growth_move_cases,        growth_object_cases,
    growth_ordered_cases,   growth_page_cases,        growth_pending_cases,
    growth_page_move_cases, growth_plan_cases,        growth_pool_cases,
    growth_range_cases,     growth_reservation_cases, growth_sharing_cases,
    growth_simulated_cases, growth_slice_cases,       growth_sparse_image_cases,
    growth_stitched_cases,  growth_tile_cache_cases,  growth_touch_cases,
    growth_transient_cases, growth_watch_cases,       growth_buffer_cache_cases,
    growth_resident_cases,
};
enum { LISTS = sizeof case_lists / sizeof case_lists[0] };

static const char* const kinds[] = {"beside", "each", "over"};

/* A profiler names this function. */
static BENCH_NOINLINE void growth_timed(const struct growth_case* found, struct growth* growth)
{
    for (uint32_t i = 0; i < growth->count; ++i) {
        found->operation(growth, i);
    }
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
            printf("%s\t%s\t%u\t%s\t%s\n", at->name, kinds[at->kind], at->n, at->functions,
                   at->dimension);
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

static uint32_t count_operations(const struct growth_case* found, uint32_t n)
{
    switch (found->kind) {
    case GROWTH_EACH:
        return n;
    case GROWTH_OVER:
        return 1;
    case GROWTH_BESIDE:
    default:
        return found->count != 0 ? found->count : GROWTH_COUNT;
    }
}

static void run_case(const struct growth_case* found, uint32_t n, uint32_t runs)
{
    struct growth growth = {.n = n, .count = count_operations(found, n)};
    growth_open(&growth);
    found->open(&growth);
    const double ns = time_case(found, &growth, runs);
    if (found->close != NULL) {
        found->close(&growth);
    }
    growth_close(&growth);
    const double figures = found->kind == GROWTH_OVER ? n : growth.count;
    printf("{\"case\":\"%s\",\"n\":%u,\"figures\":%.0f,\"ns\":%.6g}\n", found->name, n, figures,
           ns / figures);
    fflush(stdout);
}

static uint32_t read_n(const char* text)
{
    char* end = NULL;
    const unsigned long value = strtoul(text, &end, 10);
    if (*end != '\0' || value < 1 || value > 100000000) {
        bench_die(BENCH_EXIT_USAGE, "%s: expected a number from 1 to 100000000", text);
    }
    return (uint32_t)value;
}

int main(int argc, char** argv)
{
    const char* name = NULL;
    uint32_t runs = 3;
    bool list = false;
    const struct bench_option options[] = {
        {"--case", "NAME", BENCH_OPTION_TEXT, &name, "the case"},
        {"--runs", "N", BENCH_OPTION_COUNT, &runs, "number of runs, of which the fastest counts"},
        {"--cuda", "FILE", BENCH_OPTION_TEXT, &growth_cuda_library,
         "the stand-in for the CUDA driver"},
        {"--hip", "FILE", BENCH_OPTION_TEXT, &growth_hip_library,
         "the stand-in for the HIP runtime"},
        {"--list", NULL, BENCH_OPTION_FLAG, &list,
         "list the cases: name, kind, least n, functions, what there are n of"},
    };
    const struct bench_command command = {
        .name = "bench_growth",
        .summary = "Times an operation of Maar beside n things, on a simulated device.",
        .operands = "[n...]",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
    };
    const int first = bench_parse_options(&command, argc, argv);
    if (list) {
        list_cases();
        return 0;
    }
    if (name == NULL) {
        bench_die(BENCH_EXIT_USAGE, "--case is missing; --list prints all");
    }
    const struct growth_case* found = find_case(name);
    if (first == argc) {
        run_case(found, found->n, runs);
    }
    for (int i = first; i < argc; ++i) {
        run_case(found, read_n(argv[i]), runs);
    }
    return 0;
}
