/*
 * What comes out of the retire queue: collecting, waiting, and ending all of it.
 *
 * Internally synchronized; no lock may be held.
 */
#ifndef MAAR_CORE_TIME_RETIRE_COLLECT_H
#define MAAR_CORE_TIME_RETIRE_COLLECT_H

#include "core/time/retire.h"

/* Points of semaphores: what one queued item waits for. */
struct maar_retire_points {
    uint32_t count;
    VkSemaphore semaphores[MAAR_MAX_POINTS + 1];
    uint64_t values[MAAR_MAX_POINTS + 1];
};

/* Items that a collector has taken out of the queue; it lies on the collector's stack. */
struct maar_retire_batch {
    struct maar_retire_batch* next; /* list of all in hand */
    struct maar_retire_batch* previous;
    uint64_t number; /* of all batches ever */
    bool returned;   /* its bytes are available again */
    uint32_t count;
    struct maar_retire_item* first;
    struct maar_retire_item* last;
};

/* ---- retire_collect.c ---- */

/* Ends all items whose points have passed. *done_count is their number; done_count may be NULL.
 * Never waits for another thread. */
VkResult maar_retire_collect(struct maar_retire* retire, uint32_t* done_count);
/* Does the same as maar_retire_collect, and takes the points of `known` as passed; known may be
 * NULL. Some drivers never report the value that a wait has proved. */
VkResult maar_retire_collect_known(struct maar_retire* retire,
                                   const struct maar_retire_points* known, uint32_t* done_count);
/* Ends all items of one pool, or (NULL) of all, whether their points have passed or not. Returns
 * their number. */
uint32_t maar_retire_flush(struct maar_retire* retire, const struct maar_retire_pool* pool);

/* Ends an item that was never queued. */
void maar_retire_run(struct maar_retire* retire, struct maar_retire_item* item);

/* ---- retire_wait.c ---- */

/* Collects until nothing of a pool, or (NULL) nothing at all, is left; see maarWaitPending. */
VkResult maar_retire_wait(struct maar_retire* retire, const struct maar_retire_pool* pool,
                          uint64_t timeout_ns);
/* Waits until the batches that collectors hold at this moment have returned their bytes. Foreign
 * code cannot delay this. */
void maar_retire_wait_for_bytes(struct maar_retire* retire);
/* Collects for a request that found no room. Then waits for the bytes that other collectors are
 * returning at this moment, and for nothing else. seen: the returned_count before the caller looked
 * for room. Returns whether bytes were returned since then. */
bool maar_retire_reclaim(struct maar_retire* retire, uint64_t seen);

#endif
