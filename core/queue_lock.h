/*
 * The lock of a queue, if the program gave one with the queue. Maar holds it around each
 * submission, and then holds no other lock.
 */
#ifndef MAAR_CORE_QUEUE_LOCK_H
#define MAAR_CORE_QUEUE_LOCK_H

#include "core/lock_rank.h"
#include "maar/allocator.h"

/* Takes the lock of a queue. */
static inline void maar_queue_lock(const MaarQueue* queue)
{
    maar_lock_rank_expect_none();
    if (queue->pfnLock != NULL) {
        queue->pfnLock(queue->pUserData, queue->queue);
    }
}

/* Releases the lock of a queue. */
static inline void maar_queue_unlock(const MaarQueue* queue)
{
    if (queue->pfnUnlock != NULL) {
        queue->pfnUnlock(queue->pUserData, queue->queue);
    }
}

#endif
