/*
 * What each call of a run of defragmentation costs. Runs of one state make the same calls, so a
 * record keeps the least that each call has cost in several runs: what other programs on the
 * machine add differs from run to run. In builds with MAAR_LOCK_HOLDS it keeps the longest time for
 * which each call holds locks, too.
 */
#ifndef MAAR_BENCH_SLICES_RECORD_H
#define MAAR_BENCH_SLICES_RECORD_H

#include "bench/bench_row.h"

#include <stdbool.h>

struct slices_call;

struct slices_record {
    struct slices_call* calls;
    uint32_t count; /* of the first run */
    uint32_t capacity;
    uint32_t at;    /* the next call of this run */
    uint32_t runs;  /* that have made the same calls */
    bool is_astray; /* this run has made others */
    double start_ns;
};

/* What the calls of one function have cost. */
struct slices_cost {
    uint64_t count;
    double longest_ns;
    double total_ns;
    uint64_t over; /* calls above a number of nanoseconds */
};

/* Begins the next run. */
void slices_record_begin(struct slices_record* record);
/* Ends a run. One that has made other calls than the first does not count. */
void slices_record_end(struct slices_record* record);
/* Before and after each call. function: a name that lives as long as the record. */
void slices_record_start(struct slices_record* record);
void slices_record_stop(struct slices_record* record, const char* function);
/* Sums up the calls of a function. */
struct slices_cost slices_record_cost(const struct slices_record* record, const char* function,
                                      double over_ns);
/* Prints a row for each function and each kind of lock that it holds. Prints none in builds without
 * MAAR_LOCK_HOLDS. */
void slices_record_print_holds(const struct slices_record* record, const char* goal, uint32_t live,
                               struct bench_table* table);
void slices_record_free(struct slices_record* record);

#endif
