/*
 * The log of the barriers of one queue. For one access it shows which stages of later commands come
 * after the access, and for which of these stages its writes are available.
 */
#include "core/transient/transient_barrier_log.h"

#include <string.h>

/* The number of entries that are tried for one access. If there are more, a barrier is recorded
 * although it may not be needed. So frames of thousands of passes are not searched in full for each
 * access. */
enum { MOST_ENTRIES = 256 };

/* What the barriers behind an access have ordered so far. */
struct access_outcome {
    VkPipelineStageFlags2 after;  /* stages that come after it */
    VkPipelineStageFlags2 landed; /* of these, the stages for which its writes are available */
    VkPipelineStageFlags2 seen;   /* of these, the stages whose accesses of the wanted kind see the
                                     writes */
};

void maar_transient_log_add(struct maar_transient_log* log, uint64_t position,
                            const struct maar_transient_global* barrier, bool global)
{
    if (log->count == log->capacity) {
        struct maar_transient_log_entry* entries =
            maar_stack_grow(log->stack, log->entries, &log->capacity, 64, sizeof *entries);
        if (entries == NULL) {
            return;
        }
        log->entries = entries;
    }
    log->entries[log->count++] = (struct maar_transient_log_entry){
        .position = position, .call = log->call, .barrier = *barrier, .global = global};
}

static uint32_t first_from(const struct maar_transient_log* log, uint64_t position)
{
    uint32_t low = 0;
    for (uint32_t high = log->count; low < high;) {
        const uint32_t middle = low + (high - low) / 2;
        if (log->entries[middle].position < position) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void maar_transient_log_trim(struct maar_transient_log* log, uint64_t position)
{
    const uint32_t gone = first_from(log, position);
    if (gone > 0) {
        memmove(log->entries, log->entries + gone, (log->count - gone) * sizeof *log->entries);
        log->count -= gone;
    }
}

/* Adds what one barrier orders to what the calls before it have ordered. */
static void follow(const struct maar_transient_log_entry* entry,
                   const struct maar_transient_access* access, VkAccessFlags2 accesses,
                   const struct access_outcome* before, struct access_outcome* outcome)
{
    const struct maar_transient_global* b = &entry->barrier;
    const bool direct = access->stages != 0 && (access->stages & ~b->src_stages) == 0;
    const bool made = direct && (access->writes == 0 ||
                                 (entry->global && (access->writes & ~b->src_access) == 0));
    if (direct || (before->after & b->src_stages) != 0) {
        outcome->after |= b->dst_stages;
    }
    if (made || (before->landed & b->src_stages) != 0) {
        outcome->landed |= b->dst_stages;
        outcome->seen |= entry->global && (accesses & ~b->dst_access) == 0 ? b->dst_stages : 0;
    }
}

static bool run(const struct maar_transient_log* log, uint64_t from,
                const struct maar_transient_access* access, VkAccessFlags2 accesses,
                struct access_outcome* outcome)
{
    const uint64_t first = access->position + 1 > from ? access->position + 1 : from;
    const uint32_t start = first_from(log, first);
    *outcome = (struct access_outcome){.after = access->reached, .landed = access->reached};
    struct access_outcome before = *outcome;
    if (log->count - start > MOST_ENTRIES) {
        return false;
    }
    for (uint32_t i = start; i < log->count; ++i) {
        if (i > start && log->entries[i].call != log->entries[i - 1].call) {
            before = *outcome;
        }
        follow(&log->entries[i], access, accesses, &before, outcome);
    }
    return true;
}

bool maar_transient_log_orders(const struct maar_transient_log* log, uint64_t from,
                               const struct maar_transient_access* access,
                               VkPipelineStageFlags2 stages, VkAccessFlags2 accesses)
{
    struct access_outcome outcome;
    for (; accesses != 0; accesses &= accesses - 1) {
        if (!run(log, from, access, accesses & ~(accesses - 1), &outcome) ||
            (stages & ~(outcome.after & outcome.seen)) != 0) {
            return false;
        }
    }
    return true;
}

bool maar_transient_log_precedes(const struct maar_transient_log* log, uint64_t from,
                                 const struct maar_transient_access* access,
                                 VkPipelineStageFlags2 stages)
{
    struct access_outcome outcome;
    return run(log, from, access, 0, &outcome) && (stages & ~outcome.after) == 0;
}

bool maar_transient_log_lands(const struct maar_transient_log* log, uint64_t from,
                              const struct maar_transient_access* access,
                              VkPipelineStageFlags2 stages)
{
    struct access_outcome outcome;
    return run(log, from, access, 0, &outcome) && (outcome.landed & stages) != 0;
}
