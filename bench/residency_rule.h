/*
 * Rules of eviction for bench_residency, each over a memory of so many objects of one size: what
 * other managers do, and the optimum.
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

/* Returns how many objects a rule restores. */
uint64_t residency_play(const struct residency_workload* workload, enum residency_rule rule,
                        uint32_t capacity);

#endif
