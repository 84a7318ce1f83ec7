/*
 * A queue's own lock, which the program may have given with it: taken around each submission, and
 * with no lock of Maar's held.
 */
#ifndef MAAR_CORE_QUEUE_LOCK_H
#define MAAR_CORE_QUEUE_LOCK_H

#include "core/lock_rank.h"
#include "maar/allocator.h"

static inline void maar_queue_lock(const MaarQueue* queue)
{
    maar_lock_rank_expect_none();
    if (queue->pfnLock != NULL) {
        queue->pfnLock(queue->pUserData, queue->queue);
    }
}

static inline void maar_queue_unlock(const MaarQueue* queue)
{
    if (queue->pfnUnlock != NULL) {
        queue->pfnUnlock(queue->pUserData, queue->queue);
    }
}

#endif
