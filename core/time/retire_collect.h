/*
 * Takes items out of the retire queue: by collecting, by waiting, or by ending all items.
 *
 * The functions are internally synchronized. The caller holds no lock.
 */
#ifndef MAAR_CORE_TIME_RETIRE_COLLECT_H
#define MAAR_CORE_TIME_RETIRE_COLLECT_H

#include "core/bits.h"
#include "core/time/retire.h"

/* The points of semaphores that one queued item waits for. */
struct maar_retire_points {
    uint32_t count;
    VkSemaphore semaphores[MAAR_MAX_POINTS + 1];
    uint64_t values[MAAR_MAX_POINTS + 1];
};

/* Items that a collector has taken out of the queue. The batch lies on the collector's stack. */
struct maar_retire_batch {
    struct maar_retire_batch* next; /* in the list of all unfinished batches */
    struct maar_retire_batch* previous;
    uint64_t number; /* batches are numbered in the order in which they were listed */
    uint64_t thread; /* the tag of the collector */
    bool returned;   /* its bytes are available again, except those of items with object_first */
    uint32_t heaps;  /* bits: where its items have memory; all if an item has no pool */
    uint32_t count;
    struct maar_retire_item* first;
    struct maar_retire_item* last;
};

/* ---- retire_collect.c ---- */

/* Ends all items whose points have passed, and sets *done_count to their number. done_count may be
 * NULL. Never waits for another thread's batch. */
VkResult maar_retire_collect(struct maar_retire* retire, uint32_t* done_count);
/* Does the same as maar_retire_collect, but takes the points of `known` as passed, and reports a
 * lost device even when the queue is empty. known may be NULL. Some drivers never report the value
 * that a wait has proved. */
VkResult maar_retire_collect_known(struct maar_retire* retire,
                                   const struct maar_retire_points* known, uint32_t* done_count);
/* Ends all items of one pool, or all items if pool is NULL, whether their points have passed or
 * not. Returns the number of these items. */
uint32_t maar_retire_flush(struct maar_retire* retire, const struct maar_retire_pool* pool);

/* Lowers the points of a timeline, of the items of one pool or of all items if pool is NULL, to a
 * value: nothing will be submitted any more that signals a later one. */
void maar_retire_settle(struct maar_retire* retire, const struct maar_retire_pool* pool,
                        VkSemaphore semaphore, uint64_t value);

/* Ends an item that was never queued. */
void maar_retire_run(struct maar_retire* retire, struct maar_retire_item* item);

/* ---- retire_wait.c ---- */

/* Collects and waits until no item of a pool is left, or no item at all if pool is NULL.
 * maarWaitPending describes the results. */
VkResult maar_retire_wait(struct maar_retire* retire, const struct maar_retire_pool* pool,
                          uint64_t timeout_ns);
/* Returns a pending item of a pool, or of all pools if pool is NULL, and a point for which it
 * waits: one of a semaphore if an item waits for one, or else one of the host timeline. Returns
 * NULL if nothing is pending. The lock is held, so that the item does not end. */
const struct maar_retire_item* maar_retire_find_blocker(const struct maar_retire* retire,
                                                        const struct maar_retire_pool* pool,
                                                        MaarPoint* point);
/* What a pending item waits for. */
struct maar_retire_blocker {
    MaarPoint point;
    bool any;       /* there is such an item */
    char what[160]; /* the item frees it */
};
/* Reports items that the end of their owner did before their points had passed. */
void maar_retire_report_flushed(const struct maar_retire* retire, const char* call, uint32_t count,
                                const struct maar_retire_blocker* blocker);
/* Waits for points, and collects. maarWaitPoints describes the results. */
VkResult maar_retire_wait_points(struct maar_retire* retire, uint32_t point_count,
                                 const MaarPoint* points, uint64_t timeout_ns);
/* Waits until no batch holds an item of a pool that is about to end. An object that is being
 * destroyed still lies in the pool. Returns at once if this thread holds a batch. */
void maar_retire_wait_for_pool(struct maar_retire* retire, const struct maar_retire_pool* pool);
/* Waits until the batches that collectors hold at this moment have returned their bytes. Foreign
 * code cannot delay this wait. */
void maar_retire_wait_for_bytes(struct maar_retire* retire);
/* Waits until the batches are finished that other collectors hold at this moment and that have
 * items in some heaps (bits). This includes the ends of objects, and so foreign code, which may
 * wait for a lock of the program that this thread holds. So the wait ends at the deadline at the
 * latest. Returns at once if this thread holds a batch: then it is in a callback, and the others
 * may wait for it. */
void maar_retire_wait_for_batches(struct maar_retire* retire, uint32_t heaps, uint64_t deadline_ns);
/* Returns how often batches have given something back in a heap. */
static inline uint64_t maar_retire_returned_in(const struct maar_retire* retire, uint32_t heap)
{
    return maar_atomic64_load(&retire->returned_in[heap]);
}
/* Returns how often batches have given something back in some heaps (bits). */
static inline uint64_t maar_retire_returned(const struct maar_retire* retire, uint32_t heaps)
{
    uint64_t count = 0;
    for (; heaps != 0; heaps &= heaps - 1) {
        const uint32_t heap = maar_low_bit(heaps);
        count += heap < VK_MAX_MEMORY_HEAPS ? maar_atomic64_load(&retire->returned_in[heap]) : 0;
    }
    return count;
}
/* Collects for a request that found no room. Then waits for the bytes that other collectors are
 * returning at this moment, and for nothing else. `seen` is what maar_retire_returned returned for
 * the heaps (bits) before the caller looked for room. Returns whether bytes of these heaps have
 * been returned since then. */
bool maar_retire_reclaim(struct maar_retire* retire, uint32_t heaps, uint64_t seen);

#endif
