/*
 * Functions that all benchmarks share: the workloads' random numbers and sizes, clocks, the used
 * heap, medians, and the check that no two ranges overlap. bench/README.md describes the workloads.
 *
 * These functions have no shared state. The caller may share its own between threads.
 */
#ifndef MAAR_BENCH_COMMON_H
#define MAAR_BENCH_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BENCH_ALIGNMENT = 256,
    BENCH_MAX_RUNS = 1000,
    BENCH_EXIT_FAILED = 1, /* a range was placed wrongly, or an allocation failed */
    BENCH_EXIT_USAGE = 2,  /* wrong arguments, malformed input, no such device */
};

/* The seed of every workload. */
#define BENCH_SEED 88172645463325252u

/* Marks a timed loop. It is never inlined, so that a profiler can name it. */
#define BENCH_NOINLINE __attribute__((noinline))

/* Returns the next number of xorshift64 (13, 7, 17). */
uint64_t bench_random(uint64_t* state);

/* Rounds up to a multiple of BENCH_ALIGNMENT. */
uint32_t bench_round_up(uint32_t size);

/* Draws a log-uniform size from 256 B to 1 MiB, rounded unless `raw`. */
uint32_t bench_size(uint64_t* state, bool raw);

/* Returns the mean rounded size of 200,000 draws. */
double bench_mean_size(void);

/* One step of a churn: empties a slot and fills it with `size` bytes. */
struct bench_operation {
    uint32_t slot;
    uint32_t size;
};

/* Draws operations on slots chosen uniformly among slot_count. */
void bench_draw(uint64_t* state, uint32_t slot_count, bool raw, struct bench_operation* operations,
                uint32_t count);

/* Draws one operation for each slot, in order. */
void bench_draw_fill(uint64_t* state, uint32_t slot_count, bool raw,
                     struct bench_operation* operations);

/* Return the CPU time of this thread, and the wall-clock time, in nanoseconds. */
double bench_thread_ns(void);
double bench_wall_ns(void);

/* Returns the number of times that this thread lost its processor while it had work; 0 if the
 * system does not report it. */
uint64_t bench_preemptions(void);

/* Returns the used bytes of the C library's heap; 0 if the library does not report them. */
double bench_heap_bytes(void);

/* Returns the unused memory of the C library's heap to the system, where the library can. */
void bench_heap_trim(void);

/* Sorts values and returns their median. `count` is at least 1. */
double bench_median(double* values, uint32_t count);

/* Returns the median of values without changing them. `count` is at most BENCH_MAX_RUNS. */
double bench_median_of(const double* values, uint32_t count);
double bench_least_of(const double* values, uint32_t count);

/* Returns the median of a[i] / b[i]. */
double bench_median_ratio(const double* a, const double* b, uint32_t count);

/* Allocates zeroed memory. Ends the program on failure. */
void* bench_allocate(size_t count, size_t size);

/* Print "NAME: " and a line on standard error. The second also ends the program with the code. */
__attribute__((format(printf, 1, 2))) void bench_complain(const char* format, ...);
__attribute__((format(printf, 2, 3), noreturn)) void bench_die(int code, const char* format, ...);

/* The location of a range. */
struct bench_range {
    uint64_t space; /* ranges of different spaces never overlap */
    uint64_t space_size;
    uint64_t offset;
    uint64_t size;
    uint64_t alignment;
};

/*
 * Sorts the ranges. Ends the program with a message that contains `who` when two ranges overlap or
 * one is misaligned or out of bounds.
 */
void bench_check_ranges(const char* who, struct bench_range* ranges, size_t count);

/* Returns whether `name` is an item of a list like "a,b", or the list is "all". */
bool bench_is_listed(const char* list, const char* name);

/* Ends the program with a message that contains `option` when an item of the list is not one of the
 * names. */
void bench_check_list(const char* option, const char* list, const char* const* names,
                      uint32_t count);

/* Prints a message if the peers to compare with were not found. */
void bench_note_peers(void);

#endif
