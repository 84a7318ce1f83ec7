/*
 * Functions that all benchmarks share; see bench_common.h.
 */
#include "bench_common.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

enum { MEAN_DRAWS = 200000 };

uint64_t bench_random(uint64_t* state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

uint32_t bench_round_up(uint32_t size)
{
    return (size + BENCH_ALIGNMENT - 1) / BENCH_ALIGNMENT * BENCH_ALIGNMENT;
}

uint32_t bench_size(uint64_t* state, bool raw)
{
    const double u = (double)(bench_random(state) >> 11) * 0x1.0p-53;
    const uint32_t size = (uint32_t)(256.0 * pow(4096.0, u));
    return raw ? size : bench_round_up(size);
}

double bench_mean_size(void)
{
    uint64_t state = BENCH_SEED;
    double sum = 0;
    for (uint32_t i = 0; i < MEAN_DRAWS; ++i) {
        sum += bench_size(&state, false);
    }
    return sum / MEAN_DRAWS;
}

void bench_draw(uint64_t* state, uint32_t slot_count, bool raw, struct bench_operation* operations,
                uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        operations[i].slot = (uint32_t)(bench_random(state) % slot_count);
        operations[i].size = bench_size(state, raw);
    }
}

void bench_draw_fill(uint64_t* state, uint32_t slot_count, bool raw,
                     struct bench_operation* operations)
{
    for (uint32_t i = 0; i < slot_count; ++i) {
        operations[i].slot = i;
        operations[i].size = bench_size(state, raw);
    }
}

static double clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

double bench_thread_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

double bench_wall_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

uint64_t bench_preemptions(void)
{
#if defined(RUSAGE_THREAD)
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_nivcsw : 0;
#else
    return 0;
#endif
}

double bench_heap_bytes(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    const struct mallinfo2 info = mallinfo2();
    return (double)(info.uordblks + info.hblkhd);
#else
    return 0;
#endif
}

void bench_heap_trim(void)
{
#if defined(__GLIBC__)
    (void)malloc_trim(0);
#endif
}

static int compare_doubles(const void* a, const void* b)
{
    const double x = *(const double*)a;
    const double y = *(const double*)b;
    return (x > y) - (x < y);
}

double bench_median(double* values, uint32_t count)
{
    qsort(values, count, sizeof(*values), compare_doubles);
    return values[count / 2];
}

double bench_median_of(const double* values, uint32_t count)
{
    double sorted[BENCH_MAX_RUNS];
    memcpy(sorted, values, count * sizeof(*values));
    return bench_median(sorted, count);
}

double bench_least_of(const double* values, uint32_t count)
{
    double least = values[0];
    for (uint32_t i = 1; i < count; ++i) {
        least = values[i] < least ? values[i] : least;
    }
    return least;
}

double bench_median_ratio(const double* a, const double* b, uint32_t count)
{
    double ratios[BENCH_MAX_RUNS];
    for (uint32_t i = 0; i < count; ++i) {
        ratios[i] = a[i] / b[i];
    }
    return bench_median(ratios, count);
}

static void complain(const char* format, va_list arguments)
{
    fflush(stdout);
    fprintf(stderr, "bench: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
}

void bench_complain(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
}

void bench_die(int code, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(format, arguments);
    va_end(arguments);
    exit(code);
}

void* bench_allocate(size_t count, size_t size)
{
    void* const memory = calloc(count != 0 ? count : 1, size);
    if (memory == NULL) {
        bench_die(BENCH_EXIT_FAILED, "out of memory");
    }
    return memory;
}

static int compare_ranges(const void* a, const void* b)
{
    const struct bench_range* const x = a;
    const struct bench_range* const y = b;
    if (x->space != y->space) {
        return x->space > y->space ? 1 : -1;
    }
    return (x->offset > y->offset) - (x->offset < y->offset);
}

void bench_check_ranges(const char* who, struct bench_range* ranges, size_t count)
{
    qsort(ranges, count, sizeof(*ranges), compare_ranges);
    for (size_t i = 0; i < count; ++i) {
        const struct bench_range* const range = &ranges[i];
        const bool alone = i == 0 || ranges[i - 1].space != range->space;
        const char* problem = NULL;
        if (!alone && ranges[i - 1].offset + ranges[i - 1].size > range->offset) {
            problem = "overlaps another range";
        } else if (range->alignment != 0 && range->offset % range->alignment != 0) {
            problem = "is misaligned";
        } else if (range->size > range->space_size ||
                   range->offset > range->space_size - range->size) {
            problem = "is out of bounds";
        }
        if (problem != NULL) {
            bench_die(BENCH_EXIT_FAILED, "%s: self-check failed: a range %s", who, problem);
        }
    }
}

/* Returns the next item of a comma-separated list, or NULL. */
static const char* next_item(const char** list, size_t* length)
{
    const char* const item = *list;
    if (item == NULL) {
        return NULL;
    }
    *length = strcspn(item, ",");
    *list = item[*length] == ',' ? item + *length + 1 : NULL;
    return item;
}

bool bench_is_listed(const char* list, const char* name)
{
    size_t length = 0;
    for (const char* item = NULL; (item = next_item(&list, &length)) != NULL;) {
        if ((length == 3 && memcmp(item, "all", 3) == 0) ||
            (length == strlen(name) && memcmp(item, name, length) == 0)) {
            return true;
        }
    }
    return false;
}

void bench_check_list(const char* option, const char* list, const char* const* names,
                      uint32_t count)
{
    size_t length = 0;
    for (const char* item = NULL; (item = next_item(&list, &length)) != NULL;) {
        bool known = length == 3 && memcmp(item, "all", 3) == 0;
        for (uint32_t i = 0; i < count; ++i) {
            known = known || (strlen(names[i]) == length && memcmp(item, names[i], length) == 0);
        }
        if (known) {
            continue;
        }
        char choices[512] = "all";
        for (uint32_t i = 0; i < count; ++i) {
            const size_t used = strlen(choices);
            snprintf(choices + used, sizeof(choices) - used, ", %s", names[i]);
        }
        bench_die(BENCH_EXIT_USAGE, "%s %.*s: expected a list of: %s", option, (int)length, item,
                  choices);
    }
}

void bench_note_peers(void)
{
#if !MAAR_BENCH_VMA
    bench_complain("skipped: VulkanMemoryAllocator was not found when this program was built "
                   "(MAAR_VMA_INCLUDE_DIR)");
#endif
}
