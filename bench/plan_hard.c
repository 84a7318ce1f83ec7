/*
 * The hard instances and their published solver; see plan_hard.h.
 */
#include "bench/plan_hard.h"

#include "bench/bench_common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

const char* const plan_variant_names[PLAN_VARIANT_COUNT] = {"plain", "shuffled", "mirrored"};

static void shuffle(struct support_frame_graph* graph, uint64_t seed)
{
    uint64_t state = BENCH_SEED + seed;
    for (uint32_t i = graph->resource_count; i > 1; --i) {
        const uint32_t other = (uint32_t)(bench_random(&state) % i);
        const MaarPlanResource resource = graph->resources[i - 1];
        const struct support_frame_row row = graph->rows[i - 1];
        graph->resources[i - 1] = graph->resources[other];
        graph->resources[other] = resource;
        graph->rows[i - 1] = graph->rows[other];
        graph->rows[other] = row;
    }
}

static void mirror(struct support_frame_graph* graph)
{
    uint32_t last = 0;
    uint64_t end = 0;
    for (uint32_t i = 0; i < graph->resource_count; ++i) {
        const uint32_t pass = graph->resources[i].lastPass;
        last = pass > last ? pass : last;
        end = graph->rows[i].end > end ? graph->rows[i].end : end;
    }
    for (uint32_t i = 0; i < graph->resource_count; ++i) {
        MaarPlanResource* const resource = &graph->resources[i];
        const uint32_t first = last - resource->lastPass;
        resource->lastPass = last - resource->firstPass;
        resource->firstPass = first;
        struct support_frame_row* const row = &graph->rows[i];
        const uint64_t begin = end - row->end;
        row->end = end - row->begin;
        row->begin = begin;
    }
}

void plan_hard_vary(struct support_frame_graph* graph, enum plan_variant variant, uint64_t seed)
{
    if (variant == PLAN_VARIANT_SHUFFLED) {
        shuffle(graph, seed);
    } else if (variant == PLAN_VARIANT_MIRRORED) {
        mirror(graph);
    }
}

/* Creates a new temporary file. Ends the program on failure. */
static FILE* open_scratch(char* path)
{
    const int descriptor = mkstemp(path);
    FILE* const file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (file == NULL) {
        bench_die(BENCH_EXIT_FAILED, "%s cannot be created", path);
    }
    return file;
}

static void write_resources(const struct support_frame_graph* graph, FILE* file)
{
    fputs("id,lower,upper,size\n", file);
    for (uint32_t i = 0; i < graph->resource_count; ++i) {
        const MaarPlanResource* const resource = &graph->resources[i];
        fprintf(file, "%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64 "\n", i, resource->firstPass,
                resource->lastPass + 1, (uint64_t)resource->size);
    }
    if (fclose(file) != 0) {
        bench_die(BENCH_EXIT_FAILED, "a scratch file cannot be written");
    }
}

static double cpu_ms_of(const struct rusage* usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1e3 +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e3;
}

struct plan_hard_outcome plan_hard_run(const char* program, const struct support_frame_graph* graph,
                                       uint64_t capacity, uint32_t seconds)
{
    char input[] = "/tmp/maar_bench_in_XXXXXX";
    char output[] = "/tmp/maar_bench_out_XXXXXX";
    char options[4][96];
    struct rusage usage;
    int status = 0;
    write_resources(graph, open_scratch(input));
    fclose(open_scratch(output));
    snprintf(options[0], sizeof(options[0]), "--capacity=%" PRIu64, capacity);
    snprintf(options[1], sizeof(options[1]), "--input=%s", input);
    snprintf(options[2], sizeof(options[2]), "--output=%s", output);
    snprintf(options[3], sizeof(options[3]), "--timeout=%" PRIu32 "s", seconds);
    const pid_t child = fork();
    if (child == 0) {
        const char* const arguments[] = {program,    options[0], options[1],
                                         options[2], options[3], NULL};
        if (freopen("/dev/null", "w", stdout) != NULL &&
            freopen("/dev/null", "w", stderr) != NULL) {
            execv(program, (char* const*)(uintptr_t)arguments);
        }
        _exit(127);
    }
    const bool ran = child > 0 && wait4(child, &status, 0, &usage) == child;
    FILE* const written = fopen(output, "r");
    const bool fits = written != NULL && fgetc(written) != EOF;
    if (written != NULL) {
        fclose(written);
    }
    unlink(input);
    unlink(output);
    if (!ran || !WIFEXITED(status) || WEXITSTATUS(status) == 127) {
        bench_die(BENCH_EXIT_USAGE, "--minimalloc %s: cannot be run", program);
    }
    return (struct plan_hard_outcome){cpu_ms_of(&usage), fits && WEXITSTATUS(status) == 0};
}
