/*
 * A policy of the program's own: what was used longest ago leaves first. It is what most programs
 * have that manage their memory themselves, and the wrong choice for layers that are used in a
 * circle.
 */
#ifndef MAAR_SAMPLE_MODEL_LRU_H
#define MAAR_SAMPLE_MODEL_LRU_H

#include "model_shape.h"

#include "maar/residency_policy.h"

#include <stdbool.h>

/* What the policy knows of a resident. MaarResidentCreateInfo::pUserData points to it. */
struct model_lru_entry {
    MaarResident resident;
    uint64_t last_use;
    bool may_leave;
};

struct model_lru {
    uint32_t count;
    struct model_lru_entry* entries[MODEL_MOST_RESIDENTS];
    uint64_t use_count;
};

/* Returns the table of the policy, which points to `lru`. */
MaarResidencyPolicy model_lru_table(struct model_lru* lru);

#endif
