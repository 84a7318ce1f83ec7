/*
 * Memory on its way to the driver: blocks that are unlisted, so that nothing is placed in them, and
 * not destroyed yet, so that heaps and limits still count their bytes. A request that is about to
 * fail waits for those that other threads have unlisted.
 *
 * Internally synchronized. Memory is entered under the lock that guards its list, so it is always
 * in one of the two lists.
 */
#ifndef MAAR_CORE_MEMORY_LEAVING_H
#define MAAR_CORE_MEMORY_LEAVING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"
#include "core/port_atomic.h"
#include "core/port_thread.h"

/* Memory that leaves, a member of what its owner keeps of it. All zero while it is not entered. */
struct maar_leaving_memory {
    struct maar_leaving_memory* next;
    struct maar_leaving_memory* previous;
    uint64_t number; /* 0: not entered */
    uint64_t thread; /* the tag of the thread that releases it */
    uint32_t heap;
};

struct maar_leaving {
    maar_atomic64 ended_in[VK_MAX_MEMORY_HEAPS]; /* what is gone; written under the lock */
    struct maar_mutex lock;                      /* guards what follows */
    struct maar_condition ended;
    struct maar_leaving_memory* first;
    uint64_t entered_count; /* the number of the newest */
};

/* Initializes an empty list. Returns false when the system has no lock or condition. */
bool maar_leaving_init(struct maar_leaving* leaving, bool synchronized);
/* Destroys the list, which must be empty. */
void maar_leaving_destroy(struct maar_leaving* leaving);

/* Enters memory of a heap that is in no list of its owner any more. */
void maar_leaving_enter(struct maar_leaving* leaving, struct maar_leaving_memory* memory,
                        uint32_t heap);
/* Removes memory, whose bytes nothing counts any more. Does nothing if it was never entered. */
void maar_leaving_end(struct maar_leaving* leaving, struct maar_leaving_memory* memory);
/* Waits until the memory of some heaps (bits) is gone that other threads are releasing at this
 * moment, until the deadline at the latest: the other threads are in foreign code. Returns at once
 * if this thread is releasing some: then it is in a callback, and the others may wait for it. */
void maar_leaving_wait(struct maar_leaving* leaving, uint32_t heaps, uint64_t deadline_ns);
/* Returns a count that rises when memory of a heap is gone. */
static inline uint64_t maar_leaving_ended(const struct maar_leaving* leaving, uint32_t heap)
{
    return maar_atomic64_load(&leaving->ended_in[heap]);
}

#endif
