/*
 * Rules of eviction for bench_residency, each over a memory of so many bytes: what other managers
 * do, and the rule that knows the future. And what no rule can do better than.
 */
#ifndef MAAR_BENCH_RESIDENCY_RULE_H
#define MAAR_BENCH_RESIDENCY_RULE_H

#include "residency_workload.h"

enum residency_rule {
    /* Belady's: what is used again latest, known from the future. With all objects of a submission
     * in memory at once, and objects of one size, no rule restores less. */
    RESIDENCY_OPTIMUM,
    RESIDENCY_OLDEST, /* least recently used */
    RESIDENCY_NEWEST, /* most recently used */
    RESIDENCY_CLOCK,  /* second chance */
    /* Least recently used; besides, what has not been used for a time that falls from 3,600 to 60
     * submissions as the memory fills from 70 to 100 % is evicted at once. */
    RESIDENCY_GRACE,
    RESIDENCY_RULES
};

struct residency_cost {
    uint64_t restored; /* bytes that uses need and that are not in memory */
    uint64_t written;  /* bytes that are evicted and have changed since they came */
    uint64_t evictions;
};

/* Returns what a rule costs. */
struct residency_cost residency_play(const struct residency_workload* workload,
                                     enum residency_rule rule, uint64_t capacity);

/*
 * Returns a number of bytes that every rule restores at least, also for objects of different sizes:
 * the optimum of the relaxation in which parts of objects may be kept.
 *
 * Each gap between two uses of an object is kept in part x, or paid for with (1 - x) * size. At
 * each submission, what is kept and what the submission uses fit into the memory. As a flow of
 * bytes along the submissions, with an arc for each gap, that has an optimum of whole bytes. So
 * each byte is an object of size one, and Belady's rule for those finds it: of the bytes in memory,
 * those are evicted that are needed latest.
 */
uint64_t residency_bound(const struct residency_workload* workload, uint64_t capacity);

#endif
