/*
 * Blocks on their way to the driver: unlisted, so that nothing is placed in them, and not destroyed
 * yet, so that heaps and limits still count their bytes. A request that is about to fail waits for
 * those that other threads have unlisted.
 *
 * Internally synchronized. A block is entered under its arena's lock.
 */
#ifndef MAAR_CORE_MEMORY_LEAVING_H
#define MAAR_CORE_MEMORY_LEAVING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/port_atomic.h"
#include "core/port_thread.h"

struct maar_block;

struct maar_leaving {
    maar_atomic64 ended_count; /* blocks that are gone; written under the lock */
    struct maar_mutex lock;    /* guards what follows */
    struct maar_condition ended;
    struct maar_block* first;
    uint64_t entered_count; /* the number of the newest block */
};

/* Initializes an empty list. Returns false when the system has no lock or condition. */
bool maar_leaving_init(struct maar_leaving* leaving, bool synchronized);
/* Destroys the list, which must be empty. */
void maar_leaving_destroy(struct maar_leaving* leaving);

/* Enters a block that is in no list of its arena any more. */
void maar_leaving_enter(struct maar_leaving* leaving, struct maar_block* block);
/* Removes a block, whose bytes nothing counts any more. Does nothing if it was never entered. */
void maar_leaving_end(struct maar_leaving* leaving, struct maar_block* block);
/* Waits until the blocks are gone that other threads are releasing at this moment, until the
 * deadline at the latest: the other threads are in foreign code. Returns at once if this thread is
 * releasing a block: then it is in a callback, and the others may wait for it. */
void maar_leaving_wait(struct maar_leaving* leaving, uint64_t deadline_ns);

#endif
