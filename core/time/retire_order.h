/*
 * Where items of the retire queue stand. A queued item waits for one of its points and stands in
 * the tree of all items, and, if a pool waits for it, in a list of that pool.
 *
 * The caller of each function holds the lock of the queue.
 */
#ifndef MAAR_CORE_TIME_RETIRE_ORDER_H
#define MAAR_CORE_TIME_RETIRE_ORDER_H

#include "core/time/retire.h"

static inline bool maar_retire_is_host_passed(const struct maar_retire* retire,
                                              const MaarPoint* point)
{
    return maar_atomic64_load(&retire->host_value) >= point->value;
}

/* Moves an item to the next point that is not known to have passed: one of the host timeline if
 * there is any, so that items that wait for the host can be distinguished from those that a driver
 * call can wait for. Returns false when all have passed. */
bool maar_retire_next_point(const struct maar_retire* retire, struct maar_retire_item* item);
/* Queues an item at its present point. */
void maar_retire_enter(struct maar_retire* retire, struct maar_retire_item* item);
/* Takes out an item and those that follow it in its group, `most` items together at most. They form
 * a list. */
void maar_retire_leave(struct maar_retire* retire, struct maar_retire_item* first, uint32_t most);

/* Returns an item of a pool, or (NULL) a queued one of all; NULL when there is none. */
struct maar_retire_item* maar_retire_any(const struct maar_retire* retire,
                                         const struct maar_retire_pool* pool);

#endif
