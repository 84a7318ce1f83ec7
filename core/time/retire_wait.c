/*
 * Waits for pending items. A waiting thread takes no items out of the queue: it copies the points
 * of one item and waits for the copied points, so that other threads can collect in the meantime.
 */
#include "core/time/retire_collect.h"

#include <stdio.h>

#include "core/handle.h"
#include "core/port_time.h"
#include "core/report.h"
#include "core/time/retire_order.h"

/* The length of a slice in ns. A wait is cut into slices, so that the thread notices items that
 * other threads finish. */
#define WAIT_SLICE_NS ((uint64_t)10000000)

/* Returns whether the program must do something before a point can pass: advance the host timeline,
 * or submit what Maar has recorded. No driver call waits for that. */
static bool is_up_to_program(const struct maar_retire* retire, const MaarPoint* point)
{
    const maar_atomic64* submitted = maar_atomic_pointer_load(&retire->submitted_value);
    return point->semaphore == VK_NULL_HANDLE ||
           (submitted != NULL && point->semaphore == retire->submissions &&
            point->value > maar_atomic64_load(submitted));
}

/* Copies the points that an item still waits for, and that a driver call can wait for. */
static void list_points(const struct maar_retire* retire, const struct maar_retire_item* item,
                        struct maar_retire_points* points)
{
    for (uint32_t i = item->at; i < item->point_count; ++i) {
        if (!is_up_to_program(retire, &item->points[i])) {
            points->semaphores[points->count] = item->points[i].semaphore;
            points->values[points->count++] = item->points[i].value;
        }
    }
}

/* Returns whether an unfinished batch has an item of a pool or, if pool is NULL, whether there is
 * an unfinished batch. */
static bool is_in_hand(const struct maar_retire* retire, const struct maar_retire_pool* pool)
{
    maar_assert_held(&retire->lock);
    for (const struct maar_retire_batch* batch = retire->batches; batch != NULL;
         batch = batch->next) {
        const struct maar_retire_item* item = batch->first;
        while (pool != NULL && item != NULL && item->pool != pool) {
            item = item->next;
        }
        if (item != NULL) {
            return true;
        }
    }
    return false;
}

enum pending {
    NOTHING_PENDING,
    PENDING_ON_DEVICE, /* the points of one item were copied */
    PENDING_ON_PROGRAM,
    PENDING_IN_HAND
};

/* Returns the first item of the timeline behind this one. */
static const struct maar_retire_item* next_timeline(const struct maar_retire* retire,
                                                    const struct maar_retire_item* item)
{
    const struct maar_retire_key last = {
        .order = item->order,
        .semaphore = item->points[item->at].semaphore,
        .value = UINT64_MAX,
    };
    return maar_retire_tree_find(retire->root, &last, true);
}

/* Copies the points of one item if there is an item that a driver call can wait for, and returns
 * the item. Otherwise sets the number of points to 0, and returns NULL. */
static const struct maar_retire_item* find_points(const struct maar_retire* retire,
                                                  const struct maar_retire_pool* pool,
                                                  struct maar_retire_points* points)
{
    const struct maar_retire_key host = {.value = UINT64_MAX};
    const struct maar_retire_item* found = NULL;
    const struct maar_retire_item* item = pool != NULL
                                              ? pool->lists[MAAR_RETIRE_OF_DEVICE]
                                              : maar_retire_tree_find(retire->root, &host, true);
    for (points->count = 0; item != NULL && points->count == 0;) {
        list_points(retire, item, points);
        found = points->count > 0 ? item : NULL;
        item = pool != NULL ? item->pool_next : next_timeline(retire, item);
    }
    return found;
}

/* Returns what the caller has to wait for, and copies points as find_points does. */
static enum pending look(const struct maar_retire* retire, const struct maar_retire_pool* pool,
                         struct maar_retire_points* points)
{
    maar_assert_held(&retire->lock);
    if (find_points(retire, pool, points) != NULL) {
        return PENDING_ON_DEVICE;
    }
    if (is_in_hand(retire, pool)) {
        return PENDING_IN_HAND;
    }
    return maar_retire_any(retire, pool) != NULL ? PENDING_ON_PROGRAM : NOTHING_PENDING;
}

/* Waits for copied points. Notes a lost device and returns VK_SUCCESS then; the next collection
 * reports the loss. */
static VkResult wait_for_points(struct maar_retire* retire, const struct maar_retire_points* points,
                                uint64_t timeout_ns)
{
    const struct maar_device* device = retire->device;
    const VkSemaphoreWaitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = points->count,
        .pSemaphores = points->semaphores,
        .pValues = points->values,
    };
    maar_lock_rank_expect_none();
    const VkResult result = device->vkWaitSemaphores(device->handle, &wait, timeout_ns);
    if (result == VK_ERROR_DEVICE_LOST) {
        maar_atomic32_store(&retire->lost, 1);
        return VK_SUCCESS;
    }
    return result;
}

VkResult maar_retire_wait(struct maar_retire* retire, const struct maar_retire_pool* pool,
                          uint64_t timeout_ns)
{
    const uint64_t deadline = maar_deadline_ns(timeout_ns);
    struct maar_retire_points points = {.count = 0}; /* the points of a wait that succeeded */
    for (;;) {
        VkResult result = maar_retire_collect_known(retire, &points, NULL);
        if (result != VK_SUCCESS) {
            return result;
        }
        const uint64_t left = maar_time_left_ns(deadline);
        maar_mutex_lock(&retire->lock);
        const enum pending pending = look(retire, pool, &points);
        if (pending == PENDING_IN_HAND && left > 0) {
            (void)maar_condition_wait_for(&retire->finished, &retire->lock, left);
        }
        maar_mutex_unlock(&retire->lock);
        switch (pending) {
        case NOTHING_PENDING:
            return VK_SUCCESS;
        case PENDING_ON_PROGRAM:
            return VK_NOT_READY;
        case PENDING_IN_HAND:
            result = left == 0 ? VK_TIMEOUT : VK_SUCCESS;
            break;
        case PENDING_ON_DEVICE:
            result = wait_for_points(retire, &points, left < WAIT_SLICE_NS ? left : WAIT_SLICE_NS);
            if (result == VK_TIMEOUT && left > 0) {
                result = VK_SUCCESS;
                points.count = 0;
            }
            break;
        }
        if (result != VK_SUCCESS) {
            return result;
        }
    }
}

const struct maar_retire_item* maar_retire_find_blocker(const struct maar_retire* retire,
                                                        const struct maar_retire_pool* pool,
                                                        MaarPoint* point)
{
    struct maar_retire_points points = {.count = 0};
    maar_assert_held(&retire->lock);
    const struct maar_retire_item* item = find_points(retire, pool, &points);
    if (item != NULL) {
        *point = (MaarPoint){points.semaphores[0], points.values[0]};
        return item;
    }
    item = maar_retire_any(retire, pool);
    if (item == NULL || item->at >= item->point_count) {
        return NULL;
    }
    *point = item->points[item->at];
    return item;
}

/* Writes the value that a semaphore has reached. */
static void show_reached(const struct maar_retire* retire, VkSemaphore semaphore, char* text,
                         size_t size)
{
    const struct maar_device* device = retire->device;
    uint64_t reached = 0;
    maar_lock_rank_expect_none();
    const VkResult result = device->vkGetSemaphoreCounterValue(device->handle, semaphore, &reached);
    if (result == VK_SUCCESS) {
        (void)snprintf(text, size, "%llu", (unsigned long long)reached);
    } else {
        (void)snprintf(text, size, "an unknown value (%s)", maarGetResultName(result));
    }
}

void maar_retire_report_flushed(const struct maar_retire* retire, const char* call, uint32_t count,
                                const struct maar_retire_blocker* blocker)
{
    char reason[400] = "another thread has just begun it";
    char reached[80];
    if (blocker->any && blocker->point.semaphore == VK_NULL_HANDLE) {
        (void)snprintf(reason, sizeof reason,
                       "%s%s waits for %llu of the host timeline, which maarAdvanceHostTimeline "
                       "advances, and which is at %llu",
                       count == 1 ? "" : "the first one, of ", blocker->what,
                       (unsigned long long)blocker->point.value,
                       (unsigned long long)maar_atomic64_load(&retire->host_value));
    } else if (blocker->any) {
        show_reached(retire, blocker->point.semaphore, reached, sizeof reached);
        (void)snprintf(reason, sizeof reason,
                       "%s%s waits for %llu of semaphore 0x%llX, which has reached %s",
                       count == 1 ? "" : "the first one, of ", blocker->what,
                       (unsigned long long)blocker->point.value,
                       (unsigned long long)MAAR_TO_BITS(blocker->point.semaphore), reached);
    }
    maar_report(retire->allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_PENDING_AT_DESTROY,
                call, "%u free%s still pending and %s done before the points had passed: %s", count,
                count == 1 ? " was" : "s were", count == 1 ? "was" : "were", reason);
}

VkResult maar_retire_wait_points(struct maar_retire* retire, uint32_t point_count,
                                 const MaarPoint* points, uint64_t timeout_ns)
{
    struct maar_retire_points known = {.count = 0};
    bool is_ready = true;
    for (uint32_t i = 0; i < point_count; ++i) {
        if (!is_up_to_program(retire, &points[i])) {
            known.semaphores[known.count] = points[i].semaphore;
            known.values[known.count++] = points[i].value;
        } else if (points[i].semaphore != VK_NULL_HANDLE ||
                   points[i].value > maar_atomic64_load(&retire->host_value)) {
            is_ready = false;
        }
    }
    VkResult result = is_ready ? VK_SUCCESS : VK_NOT_READY;
    if (is_ready && known.count > 0) {
        result = wait_for_points(retire, &known, timeout_ns);
    }
    if (result < VK_SUCCESS) {
        return result;
    }
    if (result != VK_SUCCESS) {
        known.count = 0; /* none of the points is known to have passed */
    }
    const VkResult collected = maar_retire_collect_known(retire, &known, NULL);
    return collected != VK_SUCCESS ? collected : result;
}

void maar_retire_wait_for_bytes(struct maar_retire* retire)
{
    maar_mutex_lock(&retire->lock);
    const uint64_t number = retire->batch_count;
    const struct maar_retire_batch* batch = retire->batches;
    while (batch != NULL) {
        if (batch->number < number && !batch->returned) {
            maar_condition_wait(&retire->finished, &retire->lock);
            batch = retire->batches;
        } else {
            batch = batch->next;
        }
    }
    maar_mutex_unlock(&retire->lock);
}

static bool holds_batch(const struct maar_retire* retire)
{
    const uint64_t thread = maar_thread_tag();
    const struct maar_retire_batch* batch = retire->batches;
    maar_assert_held(&retire->lock);
    while (batch != NULL && batch->thread != thread) {
        batch = batch->next;
    }
    return batch != NULL;
}

void maar_retire_wait_for_pool(struct maar_retire* retire, const struct maar_retire_pool* pool)
{
    maar_mutex_lock(&retire->lock);
    while (is_in_hand(retire, pool) && !holds_batch(retire)) {
        maar_condition_wait(&retire->finished, &retire->lock);
    }
    maar_mutex_unlock(&retire->lock);
}

/* Whether another thread holds a batch with items in some heaps (bits) that is older than `number`,
 * and this thread holds none. */
static bool has_older_batch(const struct maar_retire* retire, uint32_t heaps, uint64_t number)
{
    const uint64_t thread = maar_thread_tag();
    bool found = false;
    maar_assert_held(&retire->lock);
    for (const struct maar_retire_batch* batch = retire->batches; batch != NULL;
         batch = batch->next) {
        if (batch->thread == thread) {
            return false;
        }
        found |= batch->number < number && (batch->heaps & heaps) != 0;
    }
    return found;
}

void maar_retire_wait_for_batches(struct maar_retire* retire, uint32_t heaps, uint64_t deadline_ns)
{
    maar_mutex_lock(&retire->lock);
    const uint64_t number = retire->batch_count;
    while (has_older_batch(retire, heaps, number)) {
        const uint64_t left = maar_time_left_ns(deadline_ns);
        if (left == 0 || !maar_condition_wait_for(&retire->finished, &retire->lock, left)) {
            break;
        }
    }
    maar_mutex_unlock(&retire->lock);
}

bool maar_retire_reclaim(struct maar_retire* retire, uint32_t heaps, uint64_t seen)
{
    if (!maar_retire_is_empty(retire)) {
        (void)maar_retire_collect(retire, NULL);
        maar_retire_wait_for_bytes(retire);
    }
    return maar_retire_returned(retire, heaps) != seen;
}
