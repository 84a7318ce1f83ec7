/*
 * A collection reads each timeline once. It repeats this pass when an item has moved to a timeline
 * that may have been read before, or when the device is lost. It takes the items whose points have
 * passed out of the queue in batches. All other items stay in the queue, cost nothing, and can be
 * found by other threads while the collector is in the driver.
 *
 * A batch returns its bytes first; this step calls no foreign code. Then the batch ends its objects
 * and releases emptied blocks and host memory. An item with `object_first` returns its bytes after
 * its object has ended.
 */
#include "core/time/retire_collect.h"

#include "core/host_memory.h"
#include "core/time/retire_order.h"

/* The maximum number of items in a batch. It bounds the bytes that are neither pending nor
 * available while a batch is being returned. */
enum { BATCH_MOST = 64 };

/* ---- batches ---- */

/* Returns the heaps (bits) where an item may give something back. */
static inline uint32_t heaps_of(const struct maar_retire_item* item)
{
    return item->pool != NULL ? 1u << item->pool->heap : UINT32_MAX;
}

/* Appends an item, which was taken out of the queue, to a batch. */
static inline void append(struct maar_retire_batch* batch, struct maar_retire_item* item)
{
    item->next = NULL;
    if (batch->count++ == 0) {
        batch->first = item;
    } else {
        batch->last->next = item;
    }
    batch->last = item;
    batch->heaps |= heaps_of(item);
}

static inline void return_bytes(const struct maar_retire* retire, struct maar_retire_item* item)
{
    if (item->range != MAAR_RETIRE_NO_RANGE) {
        retire->range_action(retire->allocator, item, MAAR_RETIRE_RETURN_BYTES);
    }
}

static void end_objects(const struct maar_retire* retire, const struct maar_retire_batch* batch)
{
    for (struct maar_retire_item* item = batch->first; item != NULL; item = item->next) {
        if (item->action != NULL) {
            item->action(retire->allocator, item);
        }
        if (item->object_first) {
            return_bytes(retire, item);
        }
    }
    for (struct maar_retire_item* item = batch->first; item != NULL; item = item->next) {
        if (item->rest_flags != 0) {
            retire->range_action(retire->allocator, item, MAAR_RETIRE_DO_REST);
        }
    }
}

static void list_batch(struct maar_retire* retire, struct maar_retire_batch* batch)
{
    maar_assert_held(&retire->lock);
    batch->number = retire->batch_count++;
    batch->thread = maar_thread_tag();
    batch->next = retire->batches;
    if (batch->next != NULL) {
        batch->next->previous = batch;
    }
    retire->batches = batch;
}

static void unlist_batch(struct maar_retire* retire, const struct maar_retire_batch* batch)
{
    maar_assert_held(&retire->lock);
    *(batch->previous != NULL ? &batch->previous->next : &retire->batches) = batch->next;
    if (batch->next != NULL) {
        batch->next->previous = batch->previous;
    }
}

/* Counts that a batch has given something back, so that a request that found no room looks again.
 */
static void count_return(struct maar_retire* retire, const struct maar_retire_batch* batch)
{
    maar_assert_held(&retire->lock);
    uint32_t heaps = batch->heaps & ((1u << VK_MAX_MEMORY_HEAPS) - 1);
    for (; heaps != 0; heaps &= heaps - 1) {
        maar_atomic64* count = &retire->returned_in[maar_low_bit(heaps)];
        maar_atomic64_store(count, maar_atomic64_load(count) + 1);
    }
}

/* Marks the bytes of a batch as returned and wakes the threads that wait for them. */
static void announce_bytes(struct maar_retire* retire, struct maar_retire_batch* batch)
{
    maar_mutex_lock(&retire->lock);
    batch->returned = true;
    count_return(retire, batch);
    maar_condition_wake(&retire->finished);
    maar_mutex_unlock(&retire->lock);
}

/* Gives back the bytes of a batch, except those of items with object_first. Returns whether these
 * bytes, objects or second steps remain. */
static bool return_batch(const struct maar_retire* retire, const struct maar_retire_batch* batch)
{
    bool remains = false;
    for (struct maar_retire_item* item = batch->first; item != NULL; item = item->next) {
        if (!item->object_first) {
            return_bytes(retire, item);
        }
        remains |= item->object_first || item->rest_flags != 0 || item->action != NULL;
    }
    return remains;
}

/* Ends the items of a batch and frees them. The caller holds the queue's lock, which is released in
 * the meantime. */
static void finish_batch(struct maar_retire* retire, struct maar_retire_batch* batch)
{
    list_batch(retire, batch);
    maar_mutex_unlock(&retire->lock);
    maar_lock_rank_expect_none();
    if (return_batch(retire, batch)) {
        announce_bytes(retire, batch);
        end_objects(retire, batch);
    }
    maar_mutex_lock(&retire->lock);
    unlist_batch(retire, batch);
    count_return(retire, batch);
    maar_atomic64_store(&retire->item_count,
                        maar_atomic64_load(&retire->item_count) - batch->count);
    maar_condition_wake(&retire->finished);
    maar_mutex_unlock(&retire->lock);
    for (struct maar_retire_item *item = batch->first, *next; item != NULL; item = next) {
        next = item->next;
        maar_host_free(retire->device->callbacks, item);
    }
    maar_mutex_lock(&retire->lock);
}

/* ---- collecting ---- */

static bool is_at(const struct maar_retire_item* item, const struct maar_retire_key* timeline)
{
    return item->order == timeline->order &&
           item->points[item->at].semaphore == timeline->semaphore;
}

/* Handles a list of items whose current points have passed. Queues each item that waits for another
 * point again, and appends the other items to the batch. Returns whether an item was queued. Sets
 * *again if an item was queued at another timeline that may have been read before. */
static bool take_list(struct maar_retire* retire, struct maar_retire_item* item,
                      const struct maar_retire_key* timeline, struct maar_retire_batch* batch,
                      bool* again)
{
    bool moved = false;
    for (struct maar_retire_item* next = NULL; item != NULL; item = next) {
        next = item->next;
        ++item->at;
        if (item->at < item->point_count && maar_retire_next_point(retire, item)) {
            maar_retire_enter(retire, item);
            *again |= item->order <= timeline->order && !is_at(item, timeline);
            moved = true;
        } else {
            append(batch, item);
        }
    }
    return moved;
}

/* Takes the items whose point on a timeline has passed out of the queue. Items that wait for
 * another point are queued again at that point. */
static void take_passed(struct maar_retire* retire, const struct maar_retire_key* timeline,
                        uint64_t value, struct maar_retire_batch* batch, bool* again)
{
    maar_assert_held(&retire->lock);
    struct maar_retire_item* item = maar_retire_tree_find(retire->root, timeline, false);
    while (batch->count < BATCH_MOST && item != NULL && is_at(item, timeline) &&
           item->points[item->at].value <= value) {
        struct maar_retire_item* next = maar_retire_tree_next(item->previous);
        maar_retire_leave(retire, item, BATCH_MOST - batch->count);
        if (take_list(retire, item, timeline, batch, again)) {
            next = maar_retire_tree_find(retire->root, timeline, false);
        }
        item = next;
    }
}

/* Reads the value of a timeline. When the device is lost, the value is UINT64_MAX, so that all
 * points count as passed. */
static VkResult read_value(struct maar_retire* retire, VkSemaphore semaphore, uint64_t* value)
{
    const struct maar_device* device = retire->device;
    *value = UINT64_MAX;
    if (maar_atomic32_load(&retire->lost) != 0) {
        return VK_SUCCESS;
    }
    if (semaphore == VK_NULL_HANDLE) {
        *value = maar_atomic64_load(&retire->host_value);
        return VK_SUCCESS;
    }
    maar_lock_rank_expect_none();
    const VkResult result = device->vkGetSemaphoreCounterValue(device->handle, semaphore, value);
    if (result == VK_ERROR_DEVICE_LOST) {
        maar_atomic32_store(&retire->lost, 1);
    }
    return result;
}

/* Ends the items whose points on one timeline have passed. Begins no further batch after as many
 * items as were pending at the start. So the function returns even if other threads keep adding
 * items. */
static uint32_t collect_timeline(struct maar_retire* retire, const struct maar_retire_key* timeline,
                                 uint64_t value, bool* again)
{
    const uint64_t most = maar_atomic64_load(&retire->item_count);
    uint32_t done = 0;
    for (bool full = true; full && done < most;) {
        struct maar_retire_batch batch = {.count = 0};
        take_passed(retire, timeline, value, &batch, again);
        if (batch.count > 0) {
            finish_batch(retire, &batch);
        }
        done += batch.count;
        full = batch.count == BATCH_MOST;
    }
    return done;
}

/* Returns the greater of a value that was read and the value that a wait has proved. */
static uint64_t later_value(const struct maar_retire_points* known, VkSemaphore semaphore,
                            uint64_t value)
{
    for (uint32_t i = 0; known != NULL && i < known->count; ++i) {
        if (known->semaphores[i] == semaphore && known->values[i] > value) {
            value = known->values[i];
        }
    }
    return value;
}

/* Reads each timeline once and ends the items whose points have passed. Sets *again if items have
 * moved to timelines that may have been read before, or if the device is lost. */
static VkResult collect_timelines(struct maar_retire* retire,
                                  const struct maar_retire_points* known, uint32_t* done_count,
                                  bool* again)
{
    struct maar_retire_key timeline = {.order = 0};
    VkResult result = VK_SUCCESS;
    maar_mutex_lock(&retire->lock);
    for (const struct maar_retire_item* item =
             maar_retire_tree_find(retire->root, &timeline, false);
         item != NULL; item = maar_retire_tree_find(retire->root, &timeline, true)) {
        uint64_t value = 0;
        timeline = (struct maar_retire_key){
            .order = item->order,
            .semaphore = item->points[item->at].semaphore,
        };
        maar_mutex_unlock(&retire->lock);
        const VkResult read = read_value(retire, timeline.semaphore, &value);
        maar_mutex_lock(&retire->lock);
        if (read == VK_ERROR_DEVICE_LOST) {
            *again = true;
            result = read;
            break;
        }
        if (read == VK_SUCCESS) {
            value = later_value(known, timeline.semaphore, value);
            *done_count += collect_timeline(retire, &timeline, value, again);
        } else if (result == VK_SUCCESS) {
            result = read;
        }
        timeline.value = UINT64_MAX;
    }
    maar_mutex_unlock(&retire->lock);
    return result;
}

/* Collects from a queue that is not empty, or was not a moment ago. */
static VkResult collect_queue(struct maar_retire* retire, const struct maar_retire_points* known,
                              uint32_t* done_count)
{
    VkResult result = VK_SUCCESS;
    uint32_t done = 0;
    for (bool again = true; again;) {
        again = false;
        const VkResult found = collect_timelines(retire, known, &done, &again);
        result = result == VK_SUCCESS || found == VK_ERROR_DEVICE_LOST ? found : result;
    }
    if (done_count != NULL) {
        *done_count = done;
    }
    return maar_atomic32_load(&retire->lost) != 0 ? VK_ERROR_DEVICE_LOST : result;
}

VkResult maar_retire_collect(struct maar_retire* retire, uint32_t* done_count)
{
    if (maar_retire_is_empty(retire)) {
        if (done_count != NULL) {
            *done_count = 0;
        }
        return VK_SUCCESS; /* even if the device is lost, since nothing is pending */
    }
    return collect_queue(retire, NULL, done_count);
}

VkResult maar_retire_collect_known(struct maar_retire* retire,
                                   const struct maar_retire_points* known, uint32_t* done_count)
{
    if (maar_retire_is_empty(retire)) {
        if (done_count != NULL) {
            *done_count = 0;
        }
        return maar_atomic32_load(&retire->lost) != 0 ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
    }
    return collect_queue(retire, known, done_count);
}

uint32_t maar_retire_flush(struct maar_retire* retire, const struct maar_retire_pool* pool)
{
    uint32_t done = 0;
    maar_mutex_lock(&retire->lock);
    for (struct maar_retire_item* item = maar_retire_any(retire, pool); item != NULL;) {
        struct maar_retire_batch batch = {.count = 0};
        for (; item != NULL && batch.count < BATCH_MOST; item = maar_retire_any(retire, pool)) {
            maar_retire_leave(retire, item, 1);
            append(&batch, item);
        }
        finish_batch(retire, &batch);
        done += batch.count;
        item = maar_retire_any(retire, pool);
    }
    maar_mutex_unlock(&retire->lock);
    return done;
}

static void settle_item(struct maar_retire* retire, struct maar_retire_item* item,
                        VkSemaphore semaphore, uint64_t value)
{
    bool moves = false;
    for (uint32_t i = item->at; i < item->point_count; ++i) {
        const bool is_later =
            item->points[i].semaphore == semaphore && item->points[i].value > value;
        if (is_later && i == item->at) {
            maar_retire_leave(retire, item, 1);
            moves = true;
        }
        item->points[i].value = is_later ? value : item->points[i].value;
    }
    if (moves) {
        maar_retire_enter(retire, item);
    }
}

void maar_retire_settle(struct maar_retire* retire, const struct maar_retire_pool* pool,
                        VkSemaphore semaphore, uint64_t value)
{
    const struct maar_retire_key first = {.order = 0};
    struct maar_retire_item* next = NULL;
    maar_mutex_lock(&retire->lock);
    for (uint32_t list = 0; list < (pool != NULL ? MAAR_RETIRE_LISTS : 1u); ++list) {
        struct maar_retire_item* item =
            pool != NULL ? pool->lists[list] : maar_retire_tree_find(retire->root, &first, false);
        for (; item != NULL; item = next) {
            next = pool != NULL ? item->pool_next : maar_retire_tree_next(item);
            settle_item(retire, item, semaphore, value);
        }
    }
    maar_mutex_unlock(&retire->lock);
}

void maar_retire_run(struct maar_retire* retire, struct maar_retire_item* item)
{
    struct maar_retire_batch batch = {.count = 0};
    append(&batch, item);
    maar_mutex_lock(&retire->lock);
    maar_atomic64_store(&retire->item_count, maar_atomic64_load(&retire->item_count) + 1);
    finish_batch(retire, &batch);
    maar_mutex_unlock(&retire->lock);
}
