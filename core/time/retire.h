/*
 * The retire queue: objects and memory that were freed "after" points in GPU time. Each item of the
 * queue has points, and an object, a range of bytes, or both. The item ends when all its points
 * have passed or the device is lost: an action ends the object, and the range action returns the
 * bytes. The rooms that own objects and ranges define both actions.
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

/* Returns the range of an item, in two steps with no lock held. The first step makes the bytes
 * available. It calls neither the driver nor the caller's code, so that threads that wait for the
 * bytes wait for neither. The first step writes the remaining work to the item's `rest` and
 * `rest_flags`. The second step does this work; it does not run when the flags are 0. */
enum maar_retire_step { MAAR_RETIRE_RETURN_BYTES, MAAR_RETIRE_DO_REST };
typedef void (*maar_retire_range_action)(MaarAllocator allocator, struct maar_retire_item* item,
                                         enum maar_retire_step step);

/* The pending items of one pool. The owner of the pool keeps this structure and sets it to zero at
 * first; the queue's lock guards it. Items of the first list wait for the host timeline. A driver
 * call can wait only for items of the second list. */
enum { MAAR_RETIRE_OF_HOST, MAAR_RETIRE_OF_DEVICE, MAAR_RETIRE_LISTS };
struct maar_retire_pool {
    struct maar_retire_item* lists[MAAR_RETIRE_LISTS];
};

#define MAAR_RETIRE_NO_RANGE UINT32_MAX

/* With one point, an item has 120 bytes where pointers have 64 bits: the C library has a fast path
 * up to that size. Only core/time uses the fields above `action`, except where a field says
 * otherwise. */
struct maar_retire_item {
    struct maar_retire_item* parent; /* these three of the first of a group; see retire_tree.h */
    struct maar_retire_item* left;
    struct maar_retire_item* right;
    struct maar_retire_item* next; /* in the ring of the group, or in a batch */
    struct maar_retire_item* previous;
    struct maar_retire_item* pool_next;
    struct maar_retire_item** pool_link; /* what points here in the list of the pool */
    void* rest[2]; /* what the first step of the range action leaves to the second */
    uint8_t order; /* of the timeline of points[at] */
    uint8_t at;    /* the point that it waits for; those before have passed */
    uint8_t point_count;
    uint8_t is_queued : 1; /* set when the item is queued, and never cleared */
    uint8_t is_first : 1;
    uint8_t object_first : 1; /* set by its maker: the bytes go after the object, not before */
    uint8_t rest_flags : 4;   /* of the range action's own, 0 at first */
    uint32_t range;           /* for the range action; MAAR_RETIRE_NO_RANGE for none */

    struct maar_retire_pool* pool; /* which waits for the item before it goes; NULL for none */
    maar_retire_action action;     /* NULL: no object */
    uint64_t object; /* for the action: a Vulkan handle, or a value of the action's own */
    MaarPoint points[MAAR_MAX_POINTS + 1]; /* the caller's, and one of Maar's own */
};

/* The number of timelines that have an entry of their own while items wait for them. The first
 * entry is the host timeline. */
enum { MAAR_RETIRE_TIMELINES = 32 };

struct maar_retire_timeline {
    VkSemaphore semaphore;
    uint64_t item_count; /* 0: unused */
    /* The group of the highest value, if that is known. */
    struct maar_retire_item* last;
};

struct maar_retire_batch;

struct maar_retire {
    MaarAllocator allocator; /* for actions and messages alone */
    const struct maar_device* device;
    maar_retire_range_action range_action;
    maar_atomic64 host_value;          /* the host timeline */
    maar_atomic32 lost;                /* a semaphore said that the device is lost */
    maar_atomic64 item_count;          /* queued or in hand */
    maar_atomic64 returned_count;      /* batches whose bytes have been returned, ever */
    struct maar_mutex lock;            /* guards what follows */
    struct maar_condition finished;    /* a batch has returned its bytes, or is finished */
    struct maar_retire_item* root;     /* all that is queued */
    uint32_t recent;                   /* number of the timeline that was added to last */
    struct maar_retire_batch* batches; /* in hand */
    uint64_t batch_count;              /* ever */
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

/* Returns the first broken invariant, or NULL. Takes the lock and walks the queue. */
const char* maar_retire_check(struct maar_retire* retire);

/* Returns whether nothing is queued or in hand; a hint while other threads work. */
static inline bool maar_retire_is_empty(const struct maar_retire* retire)
{
    return maar_atomic64_load(&retire->item_count) == 0;
}

#endif
