/*
 * The oldest use makes room, as with most managers: a policy for MaarResidencyPolicy. A list from
 * the oldest use to the newest.
 */
#ifndef MAAR_BENCH_STALLS_OLDEST_H
#define MAAR_BENCH_STALLS_OLDEST_H

#include "maar/residency_policy.h"

#include <stdbool.h>

/* A resident. MaarResidentCreateInfo::pUserData points to it. */
struct stalls_oldest_item {
    MaarResident resident;
    struct stalls_oldest_item* older;
    struct stalls_oldest_item* newer;
    bool is_candidate;
};

/* The list begins after `ends` and ends before it. */
struct stalls_oldest {
    struct stalls_oldest_item ends;
};

/* Makes the table of an empty policy. */
MaarResidencyPolicy stalls_oldest_table(struct stalls_oldest* policy);

#endif
