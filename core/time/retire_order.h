/*
 * The places of items in the retire queue. A queued item waits for one of its points. The item is
 * in the tree of all queued items and, if it belongs to a pool, in a list of that pool.
 *
 * The caller of each function holds the lock of the queue.
 */
#ifndef MAAR_CORE_TIME_RETIRE_ORDER_H
#define MAAR_CORE_TIME_RETIRE_ORDER_H

#include "core/time/retire.h"

/* Returns whether a point of the host timeline has passed. */
static inline bool maar_retire_is_host_passed(const struct maar_retire* retire,
                                              const MaarPoint* point)
{
    return maar_atomic64_load(&retire->host_value) >= point->value;
}

/* Moves an item to the next point that is not known to have passed. Points of the host timeline
 * come first. So items that wait for the host can be distinguished from those that a driver call
 * can wait for. Returns false when all points have passed or the device is lost. */
bool maar_retire_next_point(const struct maar_retire* retire, struct maar_retire_item* item);
/* Queues an item at its current point. */
void maar_retire_enter(struct maar_retire* retire, struct maar_retire_item* item);
/* Takes an item and the items that follow it in its group out of the queue, at most `most` items in
 * all. Links these items by `next` into a list that ends with NULL. */
void maar_retire_leave(struct maar_retire* retire, struct maar_retire_item* first, uint32_t most);

/* Returns a queued item of a pool or, when pool is NULL, any queued item. Returns NULL when there
 * is no such item. */
struct maar_retire_item* maar_retire_any(const struct maar_retire* retire,
                                         const struct maar_retire_pool* pool);

#endif
