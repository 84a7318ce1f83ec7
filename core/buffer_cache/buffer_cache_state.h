/*
 * Buffer caches: their state and common functions.
 *
 * An item has all of its pages or none. An item that is being uploaded, locked or in a use is
 * pinned: it makes no room. The policy (core/residency/policy.h) has an object for each item, whose
 * number is the item's. It orders the items that have pages and are not pinned.
 *
 * Pages pass from an evicted item to a missing one in one submission of binds, so that a full
 * budget needs no slack. Every call that gives pages back first delays the binds until the last
 * uses have ended. What was recorded and not submitted is submitted before more pages are taken.
 *
 * A cache belongs to one caller at a time.
 */
#ifndef MAAR_CORE_BUFFER_CACHE_BUFFER_CACHE_STATE_H
#define MAAR_CORE_BUFFER_CACHE_BUFFER_CACHE_STATE_H

#include <stdbool.h>

#include "core/reservation/reservation.h"
#include "core/residency/policy.h"
#include "core/staging/copy_stream.h"
#include "core/staging/upload_slots.h"
#include "maar/buffer_cache.h"

#define MAAR_NO_ITEM UINT32_MAX
/* The program's timelines, and the cache's own, which is the first. */
#define MAAR_ITEM_TIMELINES (MAAR_BUFFER_CACHE_MAX_TIMELINES + 1u)

enum maar_item_state {
    MAAR_ITEM_NONE,     /* no item has this number */
    MAAR_ITEM_ABSENT,   /* no pages */
    MAAR_ITEM_UNFILLED, /* pages without contents, and no upload */
    MAAR_ITEM_UPLOADING,
    MAAR_ITEM_RESIDENT /* contents, once `values` of the cache's own timeline has passed */
};

/* The items that wait for uploads. */
enum maar_item_queue { MAAR_QUEUE_OF_USES, MAAR_QUEUE_OF_PREFETCHES, MAAR_ITEM_QUEUES };

/* The state of one item. */
struct maar_cache_item {
    MaarBufferItem item;
    uint64_t first_page;
    uint64_t page_count;
    enum maar_item_state state;
    enum maar_item_state old_state; /* of a victim that may be put back */
    enum maar_item_queue queue;     /* while it is listed there */
    bool is_queued;                 /* some of its bytes have no upload yet */
    bool is_broken;                 /* an upload was cancelled */
    bool had_contents;              /* before */
    bool is_prefetched;             /* a prefetch started the upload */
    uint32_t use_count;             /* uses that pin it */
    uint32_t lock_count;            /* locks */
    uint32_t open_count;            /* uploads that are started and not submitted */
    uint32_t next;                  /* in its queue, or in a list of victims */
    uint32_t previous;              /* in its queue */
    uint64_t stamp;                 /* the call that last named it */
    uint64_t fresh_pages;           /* in a call: its first pages, which are not moved to it */
    VkDeviceSize begun;             /* bytes that have uploads */
    VkDeviceSize submitted;         /* bytes among these whose copies are submitted */
    uint64_t values[MAAR_ITEM_TIMELINES]; /* of the points of its last uses */
};

/* The items of one submission. */
struct maar_item_use {
    uint32_t generation; /* from 1 on */
    uint32_t next_free;
    uint32_t count; /* 0: no use */
    uint32_t capacity;
    uint32_t* items;
};

struct maar_item_list {
    uint32_t first;
    uint32_t last;
};

/* A buffer cache. */
struct maar_buffer_cache {
    struct maar_paged_object listed;
    MaarAllocator allocator;
    struct maar_reservation* reservation;
    struct maar_policy* policy;
    PFN_maarFillBufferItem fill;
    void* user_data;

    struct maar_cache_item* items; /* by number */
    uint32_t item_count;           /* numbers in use, with those that are free again */
    uint32_t item_capacity;
    uint64_t* taken_pages; /* a bit for each page of the reservation: an item has it */
    uint64_t budget_pages;
    uint64_t committed_pages;
    uint64_t pinned_pages;
    uint64_t held_pages; /* given back, and their unbinding is not submitted */
    uint64_t stamp;      /* of the present call */
    bool has_binds;      /* some may be recorded and not submitted */
    MaarPoint bound;     /* after the last submission of binds */

    struct maar_item_use* uses;
    uint32_t use_count; /* with those that are free */
    uint32_t use_capacity;
    uint32_t free_use;

    struct maar_item_list queues[MAAR_ITEM_QUEUES];
    struct maar_upload_slots staging;
    struct maar_copy_stream copies;
    uint32_t ending_slot; /* the list of slots whose copies are submitted, the newest first */
    uint32_t timeline_count;
    VkSemaphore timelines[MAAR_ITEM_TIMELINES]; /* the first is that of `copies` */
    MaarBufferCacheInfo info;                   /* the counts */
};

static inline bool maar_item_has_pages(const struct maar_cache_item* item)
{
    return item->state >= MAAR_ITEM_UNFILLED;
}

static inline bool maar_item_is_pinned(const struct maar_cache_item* item)
{
    return item->use_count > 0 || item->lock_count > 0 || item->state == MAAR_ITEM_UPLOADING;
}

/* Finds the cache of a handle, as maar_object_enter does. */
VkResult maar_check_buffer_cache(MaarAllocator allocator, const char* call, MaarBufferCache cache,
                                 struct maar_buffer_cache** found);
/* Checks the numbers of items: maar_fail if one of them names none. */
VkResult maar_check_items(const struct maar_buffer_cache* cache, const char* call, uint32_t count,
                          const uint32_t* numbers);
/* What the sums of the cache and the policy know of an item. */
struct maar_item_standing {
    bool has_pages;
    bool is_pinned;
};
/* Around each change of the state, the uses or the locks of an item: the second function keeps the
 * sums and the policy in step. */
struct maar_item_standing maar_item_before(const struct maar_cache_item* item);
void maar_item_after(struct maar_buffer_cache* cache, uint32_t number,
                     struct maar_item_standing before);
/* Sets the state of an item. */
void maar_item_set_state(struct maar_buffer_cache* cache, uint32_t number,
                         enum maar_item_state state);
/* Runs the heavy check after a call, where that is switched on. */
void maar_buffer_cache_verify(struct maar_buffer_cache* cache);

#endif
