/*
 * Which rule is best at present: some of the objects are kept in as many small memories as there
 * are rules, each with the same part of the capacity. Each rule evicts in its own memory, and pays
 * for what it has to restore. What was paid fades, so the answer follows a program that changes.
 *
 * Set dueling, after Qureshi et al., "Adaptive Insertion Policies for High Performance Caching"
 * (2007), on a sample that is chosen by a hash, after Waldspurger et al., "Efficient MRC
 * Construction with SHARDS" (2015).
 */
#ifndef MAAR_CORE_RESIDENCY_POLICY_SAMPLE_H
#define MAAR_CORE_RESIDENCY_POLICY_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

/* What to evict. */
enum maar_policy_rule {
    MAAR_POLICY_REPLAY, /* what is used again latest, as predicted */
    MAAR_POLICY_OLDEST, /* what was used longest ago */
    MAAR_POLICY_NEWEST, /* what was used last */
    MAAR_POLICY_RULES
};

enum { MAAR_SAMPLE_SIZE = 256 };

/* An object of the sample. Times as in use_log.h. */
struct maar_sample_item {
    uint64_t last; /* 0: not used yet */
    uint64_t expected;
    uint64_t member; /* of this submission */
    VkDeviceSize size;
    uint32_t object;
    bool is_in[MAAR_POLICY_RULES];
};

struct maar_policy_sample {
    struct maar_sample_item items[MAAR_SAMPLE_SIZE];
    uint32_t count;
    uint32_t mask; /* an object is in the sample if its hash has none of these bits */
    VkDeviceSize bytes;
    VkDeviceSize all_bytes; /* of all objects */
    VkDeviceSize capacity;  /* of the real memory */
    VkDeviceSize used[MAAR_POLICY_RULES];
    double paid[MAAR_POLICY_RULES];
    enum maar_policy_rule best;
};

/* Adds an object, if its hash says so. Returns its place in the sample, or UINT32_MAX. May remove
 * other objects from the sample: then sets *has_shrunk, and the places of all others are found with
 * maar_sample_find. */
uint32_t maar_sample_add(struct maar_policy_sample* sample, uint32_t object, VkDeviceSize size,
                         bool* has_shrunk);
/* Removes an object. at: its place, or UINT32_MAX. Returns the object that has this place now, or
 * UINT32_MAX. */
uint32_t maar_sample_remove(struct maar_policy_sample* sample, uint32_t at, VkDeviceSize size);
/* Gives an object another size. */
void maar_sample_resize(struct maar_policy_sample* sample, uint32_t at, VkDeviceSize old,
                        VkDeviceSize size);
/* Marks an object of a submission, before the uses of the submission are noted. */
void maar_sample_mark(struct maar_policy_sample* sample, uint32_t at, uint64_t submission);
/* Notes a use, and chooses the best rule. */
void maar_sample_use(struct maar_policy_sample* sample, uint32_t at, uint64_t now,
                     uint64_t expected);
/* Whether an object is overdue: it is late by a quarter of the time that was expected. */
static inline bool maar_is_overdue(uint64_t now, uint64_t last, uint64_t expected)
{
    return expected < now && now - expected > (expected - last) / 4;
}
/* Whether an overdue object is evicted before one whose next use is expected: it is expected to
 * stay away for as long again as it has been. */
static inline bool maar_is_overdue_first(uint64_t now, uint64_t overdue_last, uint64_t expected)
{
    return expected <= now || now - overdue_last > expected - now;
}

#endif
