/*
 * The barriers that have been recorded on a queue. With this log, no second barrier is recorded for
 * an order that earlier barriers have made already.
 */
#ifndef MAAR_CORE_TRANSIENT_TRANSIENT_BARRIER_LOG_H
#define MAAR_CORE_TRANSIENT_TRANSIENT_BARRIER_LOG_H

#include "core/transient/transient_state.h"

/* One recorded barrier. */
struct maar_transient_log_entry {
    uint64_t position; /* of its pass on the queue, counted over frames */
    uint32_t call;     /* barriers of one call are not ordered among each other */
    struct maar_transient_global barrier;
    bool global; /* false: of one image; it orders all commands, but its accesses are only the
                    image's */
};

/* The barriers of one queue, by position. */
struct maar_transient_log {
    struct maar_host_stack* stack;
    uint32_t call; /* the number of the call that is being recorded; its writer changes it */
    uint32_t count;
    uint32_t capacity;
    struct maar_transient_log_entry* entries;
};

/* An access that later commands must come after. */
struct maar_transient_access {
    uint64_t position;
    VkPipelineStageFlags2 stages;  /* 0: a change of layout */
    VkAccessFlags2 writes;         /* 0: a read, which sees all writes before it */
    VkPipelineStageFlags2 reached; /* stages that come after it by its own barrier */
};

/* Adds a barrier of the pass at a position. */
void maar_transient_log_add(struct maar_transient_log* log, uint64_t position,
                            const struct maar_transient_global* barrier, bool global);
/* Forgets the barriers that were recorded before a position. */
void maar_transient_log_trim(struct maar_transient_log* log, uint64_t position);
/* Whether later accesses at all of these stages come after an access and see its writes. Barriers
 * before the position `from` do not count. */
bool maar_transient_log_orders(const struct maar_transient_log* log, uint64_t from,
                               const struct maar_transient_access* access,
                               VkPipelineStageFlags2 stages, VkAccessFlags2 accesses);
/* Whether later commands at all of these stages come after an access. What they see does not
 * matter. */
bool maar_transient_log_precedes(const struct maar_transient_log* log, uint64_t from,
                                 const struct maar_transient_access* access,
                                 VkPipelineStageFlags2 stages);
/* Whether the writes of an access are available to a barrier with these source stages. */
bool maar_transient_log_lands(const struct maar_transient_log* log, uint64_t from,
                              const struct maar_transient_access* access,
                              VkPipelineStageFlags2 stages);

#endif
