/*
 * The retire queue: objects and memory that may be destroyed only after some points have passed.
 * Each item of the queue has points, and an object, a range of bytes, or both. The item ends when
 * all its points have passed or the device is lost: an action ends the object, and the range action
 * returns the bytes. The rooms that own objects and ranges define both actions.
 *
 * Internally synchronized. One lock guards the queue. It is never held while a semaphore is read,
 * bytes are returned or an action runs.
 */
#ifndef MAAR_CORE_TIME_RETIRE_H
#define MAAR_CORE_TIME_RETIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"
#include "core/port_atomic.h"
#include "core/port_thread.h"
#include "core/time/retire_tree.h"
#include "maar/allocator.h"

/* Ends the object of an item. Runs once, on any thread, with no lock held. */
typedef void (*maar_retire_action)(MaarAllocator allocator, const struct maar_retire_item* item);

/* Gives the range of an item back to its pool, in two steps. No lock is held. The first step makes
 * the bytes available. This step calls no foreign code, so threads that wait for the bytes do not
 * wait for foreign code. The first step writes the remaining work to the item's `rest` and
 * `rest_flags`. The second step does this work; it does not run when the flags are 0. */
enum maar_retire_step { MAAR_RETIRE_RETURN_BYTES, MAAR_RETIRE_DO_REST };
typedef void (*maar_retire_range_action)(MaarAllocator allocator, struct maar_retire_item* item,
                                         enum maar_retire_step step);

/* Writes what an item frees, for a message. The queue's lock is held. */
typedef void (*maar_retire_describe)(const struct maar_retire_item* item, char* text, size_t size);

/* The pending items of one pool. The owner of the pool keeps this structure, sets it to zero at
 * first and sets the heap; the queue's lock guards the lists. Items of the first list wait for the
 * host timeline. A driver call can wait only for items of the second list. */
enum { MAAR_RETIRE_OF_HOST, MAAR_RETIRE_OF_DEVICE, MAAR_RETIRE_LISTS };
struct maar_retire_pool {
    struct maar_retire_item* lists[MAAR_RETIRE_LISTS];
    uint32_t heap; /* of the pool's memory */
};

#define MAAR_RETIRE_NO_RANGE UINT32_MAX

/* An item is allocated with only the points that it needs. With one point it has 120 bytes on
 * 64-bit systems, and malloc is fast up to that size. Only core/time uses the fields above
 * `action`, except where a field says otherwise. Other rooms may also set pool and read
 * point_count. */
struct maar_retire_item {
    /* these three are used only in the first item of a group; see retire_tree.h */
    struct maar_retire_item* parent;
    struct maar_retire_item* left;
    struct maar_retire_item* right;
    struct maar_retire_item* next; /* in the ring of the group, or in a batch */
    struct maar_retire_item* previous;
    struct maar_retire_item* pool_next;
    /* the pointer in the pool's list that points to this item; NULL while it is in no list */
    struct maar_retire_item** pool_link;
    union {
        /* What the first step of the range action leaves to the second. Before that step, the first
         * one is for the maker of the item; NULL at first. */
        void* rest[2];
        /* Of an item without a range; NULL: it frees an object alone. Its maker sets it. */
        maar_retire_describe describe;
    };
    uint8_t order; /* number of the timeline of points[at]; see retire_order.c */
    uint8_t at;    /* the point that it waits for; those before have passed */
    uint8_t point_count;
    uint8_t is_queued : 1; /* set when the item is queued, and never cleared */
    uint8_t is_first : 1;
    uint8_t object_first : 1; /* set by its maker: the bytes go after the object, not before */
    uint8_t rest_flags : 4;   /* the range action sets them; 0 at first */
    uint32_t range;           /* for the range action; MAAR_RETIRE_NO_RANGE for none */

    /* the pool is not destroyed before the item has ended; NULL: no pool */
    struct maar_retire_pool* pool;
    maar_retire_action action; /* NULL: no object */
    uint64_t object;           /* a Vulkan handle, or any value that only the action understands */
    MaarPoint points[MAAR_MAX_POINTS + 1]; /* the caller's, and one of Maar's own */
};

/* The number of entries for timelines. More timelines than that share one number; see
 * retire_order.c. The first entry is the host timeline. */
enum { MAAR_RETIRE_TIMELINES = 32 };

struct maar_retire_timeline {
    VkSemaphore semaphore;
    uint64_t item_count; /* 0: unused */
    /* an item of the group with the highest value; NULL if unknown */
    struct maar_retire_item* last;
};

struct maar_retire_batch;

struct maar_retire {
    MaarAllocator allocator; /* used only for actions and messages */
    const struct maar_device* device;
    maar_retire_range_action range_action;
    maar_atomic64 host_value; /* the host timeline */
    /* the timeline of Maar's own submissions, and the value of the last one; NULL before the first.
     * Only the program can make further submissions, so no driver call waits for a later value. */
    maar_atomic_pointer submitted_value;
    VkSemaphore submissions;
    maar_atomic32 lost;       /* a semaphore said that the device is lost */
    maar_atomic64 item_count; /* queued, or in a batch that a collector has taken out */
    /* how often a batch has given something back in each heap: once when its bytes are free, and
     * once more at its end if objects, late bytes or second steps remained until then */
    maar_atomic64 returned_in[VK_MAX_MEMORY_HEAPS];
    struct maar_mutex lock;            /* guards what follows */
    struct maar_condition finished;    /* changes when a batch has returned bytes or is finished */
    struct maar_retire_item* root;     /* all that is queued */
    uint32_t recent;                   /* number of the timeline of the item that was queued last */
    struct maar_retire_batch* batches; /* taken out of the queue, not finished */
    uint64_t batch_count;              /* batches so far; the next one's number */
    struct maar_retire_timeline timelines[MAAR_RETIRE_TIMELINES];
};

/* Initializes an empty queue. Returns false when the system has no lock or condition. */
bool maar_retire_init(struct maar_retire* retire, MaarAllocator allocator,
                      const struct maar_device* device, maar_retire_range_action range_action,
                      bool synchronized);
/* Destroys the queue. The queue must be empty. */
void maar_retire_destroy(struct maar_retire* retire);

/* Returns whether the points can be waited for on this device, and reports why not. */
VkResult maar_retire_check_points(const struct maar_retire* retire, const char* call,
                                  uint32_t point_count, const MaarPoint* points);
/* Makes an item that is not queued yet. Queuing it later cannot fail. point_count is at most
 * MAAR_MAX_POINTS + 1. If points is NULL, the item has room for point_count points, which the
 * caller sets before it queues the item. Returns NULL when host memory is short. */
struct maar_retire_item* maar_retire_prepare(const struct maar_retire* retire, uint32_t point_count,
                                             const MaarPoint* points);
/* Sets the points of an item that is not queued. */
void maar_retire_set_points(struct maar_retire_item* item, uint32_t point_count,
                            const MaarPoint* points);
/* Adds a point to an item that is not queued. The item has room for it. */
void maar_retire_add_point(struct maar_retire_item* item, MaarPoint point);
/* Frees an item that was never queued. */
void maar_retire_discard(const struct maar_retire* retire, struct maar_retire_item* item);
/* Queues an item that has a point or more. The queue then owns the item. */
void maar_retire_queue(struct maar_retire* retire, struct maar_retire_item* item);
/* Takes an item that has a pool, and that has not ended, out of the queue again. Returns false if
 * its points have passed: then it ends soon. */
bool maar_retire_withdraw(struct maar_retire* retire, struct maar_retire_item* item);

/* Returns the first broken invariant, or NULL. Takes the lock and walks the queue. */
const char* maar_retire_check(struct maar_retire* retire);

/* Returns whether the queue has no items. Another thread may change this at any time. */
static inline bool maar_retire_is_empty(const struct maar_retire* retire)
{
    return maar_atomic64_load(&retire->item_count) == 0;
}

#endif
