/*
 * Until when: the one queue of what was freed "after" points in GPU time. An item of it has points
 * and two parts that share them: an object, which an action ends, and a range of bytes. Both go
 * when all points have passed or the device is lost. What an object and a range are is known to the
 * rooms that own them.
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
 * available. It calls neither the driver nor the caller's code, so that nobody has to wait for
 * either. What it leaves to do it writes to the item's `rest` and `rest_flags`. The second step
 * does that; it is left out when the flags are 0. */
enum maar_retire_step { MAAR_RETIRE_RETURN_BYTES, MAAR_RETIRE_DO_REST };
typedef void (*maar_retire_range_action)(MaarAllocator allocator, struct maar_retire_item* item,
                                         enum maar_retire_step step);

/* What is pending in one pool. The owner of the pool keeps it, zero at first; the queue's lock
 * guards it. A driver call can wait for the items of the second list, but not for the host. */
enum { MAAR_RETIRE_OF_HOST, MAAR_RETIRE_OF_DEVICE, MAAR_RETIRE_LISTS };
struct maar_retire_pool {
    struct maar_retire_item* lists[MAAR_RETIRE_LISTS];
};

#define MAAR_RETIRE_NO_RANGE UINT32_MAX

/* 120 bytes with one point, where pointers have 64 bits: the C library has a fast path up to that
 * size. Fields above `action` are for core/time alone, but for what is said there. */
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
    uint8_t is_queued : 1; /* or was */
    uint8_t is_first : 1;
    uint8_t object_first : 1; /* set by its maker: the bytes go after the object, not before */
    uint8_t rest_flags : 4;   /* of the range action's own, 0 at first */
    uint32_t range;           /* for the range action; MAAR_RETIRE_NO_RANGE for none */

    struct maar_retire_pool* pool; /* which waits for the item before it goes; NULL for none */
    maar_retire_action action;     /* NULL: no object */
    uint64_t object;               /* for the action: a Vulkan handle, or whatever it likes */
    MaarPoint points[MAAR_MAX_POINTS + 1]; /* the caller's, and one of Maar's own */
};

/* Timelines that have a number of their own while something waits for them. The first one is the
 * host's. */
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

bool maar_retire_init(struct maar_retire* retire, MaarAllocator allocator,
                      const struct maar_device* device, maar_retire_range_action range_action,
                      bool synchronized);
/* Nothing may be pending any more. */
void maar_retire_destroy(struct maar_retire* retire);

/* Returns whether the points can be waited for on this device, and reports why not. */
VkResult maar_retire_check_points(const struct maar_retire* retire, const char* call,
                                  uint32_t point_count, const MaarPoint* points);
/* Makes an item that is not queued yet, so that everything that can fail is behind the caller.
 * Takes up to MAAR_MAX_POINTS + 1 points; NULL points leave room for that many, to be set before
 * the item is queued. Returns NULL when host memory is short. */
struct maar_retire_item* maar_retire_prepare(const struct maar_retire* retire, uint32_t point_count,
                                             const MaarPoint* points);
void maar_retire_set_points(struct maar_retire_item* item, uint32_t point_count,
                            const MaarPoint* points);
void maar_retire_add_point(struct maar_retire_item* item, MaarPoint point);
/* Frees an item that was never queued. */
void maar_retire_discard(const struct maar_retire* retire, struct maar_retire_item* item);
void maar_retire_queue(struct maar_retire* retire, struct maar_retire_item* item);

/* Returns the first broken invariant, or NULL. Takes the lock and walks the queue. */
const char* maar_retire_check(struct maar_retire* retire);

/* Returns whether nothing is queued or in hand; a hint while other threads work. */
static inline bool maar_retire_is_empty(const struct maar_retire* retire)
{
    return maar_atomic64_load(&retire->item_count) == 0;
}

#endif
