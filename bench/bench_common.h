/*
 * What all benchmarks share: the workloads' random numbers and sizes, clocks, the heap in use,
 * medians, and the check that no two ranges overlap. docs of the workloads: bench/README.md.
 *
 * Nothing here is shared between threads but by the caller.
 */
#ifndef MAAR_BENCH_COMMON_H
#define MAAR_BENCH_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BENCH_ALIGNMENT = 256,
    BENCH_MAX_RUNS = 1000,
    BENCH_EXIT_FAILED = 1, /* a range was placed wrongly, or there was no memory */
    BENCH_EXIT_USAGE = 2,  /* wrong arguments, malformed input, no such device */
};

/* The seed of every workload. */
#define BENCH_SEED 88172645463325252u

/* The loop that is timed; never inlined, so that a profiler can name it. */
#define BENCH_NOINLINE __attribute__((noinline))

/* xorshift64 (13, 7, 17). */
uint64_t bench_random(uint64_t* state);

/* Rounds up to a multiple of BENCH_ALIGNMENT. */
uint32_t bench_round_up(uint32_t size);

/* Log-uniform, 256 B to 1 MiB; rounded unless raw. */
uint32_t bench_size(uint64_t* state, bool raw);

/* Mean rounded size of 200,000 draws. */
double bench_mean_size(void);

/* One step of a churn: the slot is emptied, and filled with so many bytes. */
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

/* CPU time of this thread, and time on the wall, nanoseconds. */
double bench_thread_ns(void);
double bench_wall_ns(void);

/* How often this thread lost its processor to others although it had work; 0 where nobody tells. */
uint64_t bench_preemptions(void);

/* Bytes in use of the C library's heap; 0 where it does not tell. */
double bench_heap_bytes(void);

/* Sorts values and returns the one in the middle. count is at least 1. */
double bench_median(double* values, uint32_t count);

/* The median of values, which stay as they are; count at most BENCH_MAX_RUNS. */
double bench_median_of(const double* values, uint32_t count);
double bench_least_of(const double* values, uint32_t count);

/* The median of a[i] / b[i]. */
double bench_median_ratio(const double* a, const double* b, uint32_t count);

/* Zeroed memory; ends the program when there is none. */
void* bench_allocate(size_t count, size_t size);

/* "NAME: " and a line to standard error; the second also ends the program with that code. */
__attribute__((format(printf, 1, 2))) void bench_complain(const char* format, ...);
__attribute__((format(printf, 2, 3), noreturn)) void bench_die(int code, const char* format, ...);

/* Where something lies. */
struct bench_range {
    uint64_t space; /* ranges of different spaces never overlap */
    uint64_t space_size;
    uint64_t offset;
    uint64_t size;
    uint64_t alignment;
};

/*
 * Sorts the ranges; ends the program when two overlap or one is misaligned or out of bounds. who is
 * named then.
 */
void bench_check_ranges(const char* who, struct bench_range* ranges, size_t count);

/* Whether name is an item of a list like "a,b" or the list is "all". */
bool bench_is_listed(const char* list, const char* name);

/* Ends the program when an item of the list is none of the names. option is named then. */
void bench_check_list(const char* option, const char* list, const char* const* names,
                      uint32_t count);

/* Says so where the peers to compare with were not found. */
void bench_note_peers(void);

#endif
