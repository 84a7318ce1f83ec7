/*
 * What was used, in order: a ring of uses, and where each pair of submissions that follow each
 * other has occurred last. From that comes a prediction: an object is used again after as many uses
 * as when the same submissions came the last time. Each step takes constant time and no host
 * memory.
 *
 * A time is a number of uses since the beginning.
 */
#ifndef MAAR_CORE_RESIDENCY_USE_LOG_H
#define MAAR_CORE_RESIDENCY_USE_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

/* No time. */
#define MAAR_NEVER_USED UINT64_MAX

struct maar_use_entry {
    uint32_t object;
    uint32_t gap; /* uses until the next one of the object; 0: there was none so far */
};

/* Where a submission that begins with an object has followed one that begins with another. */
struct maar_use_pair {
    uint64_t key; /* of both objects; 0: none */
    uint64_t at;
};

struct maar_use_log {
    struct maar_use_entry* entries; /* a ring; the number is a power of two */
    struct maar_use_pair* pairs;
    uint64_t entry_count;
    uint64_t now;
    /* Of the present submission: its first object plus one, where it begins, and where the one
     * begins that it repeats (MAAR_NEVER_USED: none). */
    uint64_t first;
    uint64_t begin;
    uint64_t model;
};

/* Ensures that a log has at least so many entries; it keeps its contents. Returns false, and
 * changes nothing, if there is no host memory. The log is zero at first. */
bool maar_use_log_reserve(struct maar_use_log* log, const VkAllocationCallbacks* callbacks,
                          uint64_t entry_count);
void maar_use_log_close(struct maar_use_log* log, const VkAllocationCallbacks* callbacks);
/* Begins a submission whose first use is that of an object. */
void maar_use_log_begin(struct maar_use_log* log, uint32_t object);
/* Adds a use. last: when the object was used last, or MAAR_NEVER_USED. Returns after how many uses
 * it is used again, or 0 if there is no prediction. */
uint64_t maar_use_log_add(struct maar_use_log* log, uint32_t object, uint64_t last);

#endif
