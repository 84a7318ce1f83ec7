/*
 * Until when: the one queue of what was freed "after" points in GPU time. Other rooms hand in an
 * action and the points; the action runs once all of them have passed or the device is lost.
 *
 * Internally synchronized. The lock is held while the list is linked, never while a semaphore is
 * read or an action runs.
 */
#ifndef MAAR_CORE_TIME_RETIRE_H
#define MAAR_CORE_TIME_RETIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"
#include "core/port_atomic.h"
#include "core/port_thread.h"
#include "maar/allocator.h"

struct maar_retire_item;
/* Runs once, on any thread, with no lock held. */
typedef void (*maar_retire_action)(MaarAllocator allocator, const struct maar_retire_item* item);

struct maar_pool;

struct maar_retire_item {
    struct maar_retire_item* next;
    maar_retire_action action;
    uint64_t object;              /* for the action: a Vulkan handle, or whatever it likes */
    uint64_t slot_index;          /* a pending slot, or MAAR_SLOT_NONE */
    const struct maar_pool* pool; /* whose memory it gives back without a slot; NULL for none */
    uint32_t point_count;
    MaarPoint points[MAAR_MAX_POINTS + 1]; /* the caller's, and one of Maar's own */
};

struct maar_retire {
    const struct maar_device* device;
    maar_atomic64 host_value; /* the host timeline */
    maar_atomic32 lost;       /* a semaphore said that the device is lost */
    maar_atomic64 item_count; /* queued or in hand */
    maar_atomic32 sweepers;   /* threads that have items in hand */
    struct maar_mutex lock;   /* guards what follows */
    struct maar_retire_item* first;
    struct maar_retire_item* last;
};

bool maar_retire_init(struct maar_retire* retire, const struct maar_device* device,
                      bool synchronized);
/* Nothing may be pending any more. */
void maar_retire_destroy(struct maar_retire* retire);

/* Whether the points can be waited for on this device; tells the message callback if not. */
VkResult maar_retire_check_points(MaarAllocator allocator, const char* call, uint32_t point_count,
                                  const MaarPoint* points);
/* Makes an item that is not queued yet, so that everything that can fail is behind the caller. Up
 * to MAAR_MAX_POINTS + 1 points; NULL points leave room for so many, to be set before it is queued.
 */
struct maar_retire_item* maar_retire_prepare(MaarAllocator allocator, uint32_t point_count,
                                             const MaarPoint* points);
void maar_retire_discard(MaarAllocator allocator, struct maar_retire_item* item);
/* Runs the action of an item that was never queued, at once, and frees the item. */
void maar_retire_run(MaarAllocator allocator, struct maar_retire_item* item);
void maar_retire_queue(struct maar_retire* retire, struct maar_retire_item* item);

/* Runs the actions of all items whose points have passed. */
VkResult maar_retire_collect(MaarAllocator allocator, uint32_t* done_count);
/* What a wait or a flush is about; a NULL match is all items. Called for a wait with the queue
 * locked, for a flush with the item in hand. */
typedef bool (*maar_retire_match)(MaarAllocator allocator, const struct maar_retire_item* item,
                                  void* context);

/* Collects until nothing that matches is left; see maarWaitPending. */
VkResult maar_retire_wait(MaarAllocator allocator, maar_retire_match match, void* context,
                          uint64_t timeout_ns);
/* Runs the actions of all items that match, passed or not; returns how many. */
uint32_t maar_retire_flush(MaarAllocator allocator, maar_retire_match match, void* context);
/* Whether anything is queued; a hint. */
static inline bool maar_retire_is_empty(const struct maar_retire* retire)
{
    return maar_atomic64_load(&retire->item_count) == 0;
}

#endif
