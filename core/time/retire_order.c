/*
 * The places of items in the retire queue: see retire_order.h.
 */
#include "core/time/retire_order.h"

/* The numbers of timelines. The host timeline has the first number. Another timeline gets the
 * lowest free number when an item first waits for it. So the order in which a collection ends items
 * does not depend on the handles of semaphores. Timelines beyond the limit share the last number;
 * only their order depends on the handles. */
enum { ORDER_HOST = 0, ORDER_OTHERS = MAAR_RETIRE_TIMELINES };

bool maar_retire_next_point(const struct maar_retire* retire, struct maar_retire_item* item)
{
    bool found = false;
    maar_assert_held(&retire->lock);
    if (maar_atomic32_load(&retire->lost) != 0) {
        return false;
    }
    for (uint32_t i = item->at; i < item->point_count && !found; ++i) {
        const MaarPoint point = item->points[i];
        if (point.semaphore == VK_NULL_HANDLE) {
            item->points[i] = item->points[item->at];
            item->points[item->at] = point;
            found = !maar_retire_is_host_passed(retire, &point);
            item->at = (uint8_t)(item->at + (found ? 0 : 1));
        }
    }
    return item->at < item->point_count;
}

static uint32_t find_order(const struct maar_retire* retire, VkSemaphore semaphore)
{
    uint32_t order = ORDER_HOST + 1;
    if (semaphore == VK_NULL_HANDLE) {
        return ORDER_HOST;
    }
    while (order < ORDER_OTHERS && (retire->timelines[order].semaphore != semaphore ||
                                    retire->timelines[order].item_count == 0)) {
        ++order;
    }
    return order;
}

/* Returns the number of a timeline. A timeline without a number gets a free number, if there is
 * one, and otherwise the shared number. */
static uint32_t take_order(struct maar_retire* retire, VkSemaphore semaphore)
{
    const struct maar_retire_timeline* recent = &retire->timelines[retire->recent];
    if (recent->semaphore == semaphore && recent->item_count > 0) {
        return retire->recent;
    }
    uint32_t order = find_order(retire, semaphore);
    for (uint32_t i = ORDER_HOST + 1; order == ORDER_OTHERS && i < ORDER_OTHERS; ++i) {
        order = retire->timelines[i].item_count == 0 ? i : order;
    }
    if (order < ORDER_OTHERS) {
        retire->timelines[order].semaphore = semaphore;
        retire->recent = order;
    }
    return order;
}

static void enter_pool(struct maar_retire_item* item)
{
    if (item->pool != NULL) {
        struct maar_retire_item** link =
            &item->pool
                 ->lists[item->order == ORDER_HOST ? MAAR_RETIRE_OF_HOST : MAAR_RETIRE_OF_DEVICE];
        item->pool_next = *link;
        item->pool_link = link;
        *link = item;
        if (item->pool_next != NULL) {
            item->pool_next->pool_link = &item->pool_next;
        }
    }
}

static void leave_pool(struct maar_retire_item* item)
{
    if (item->pool != NULL) {
        *item->pool_link = item->pool_next;
        if (item->pool_next != NULL) {
            item->pool_next->pool_link = item->pool_link;
        }
        item->pool_link = NULL;
    }
}

void maar_retire_enter(struct maar_retire* retire, struct maar_retire_item* item)
{
    const MaarPoint* point = &item->points[item->at];
    maar_assert_held(&retire->lock);
    const uint32_t order = take_order(retire, point->semaphore);
    item->is_queued = true;
    item->order = (uint8_t)order;
    enter_pool(item);
    if (order == ORDER_OTHERS) {
        maar_retire_tree_add(&retire->root, item);
        return;
    }
    struct maar_retire_timeline* timeline = &retire->timelines[order];
    struct maar_retire_item* last = timeline->last;
    if (last != NULL && last->points[last->at].value == point->value) {
        maar_retire_tree_join(last, item);
    } else if (last != NULL && last->points[last->at].value < point->value) {
        maar_retire_tree_add_last(&retire->root, last, item);
        timeline->last = item;
    } else {
        maar_retire_tree_add(&retire->root, item);
        timeline->last = timeline->item_count == 0 ? item : last;
    }
    ++timeline->item_count;
}

void maar_retire_leave(struct maar_retire* retire, struct maar_retire_item* first, uint32_t most)
{
    struct maar_retire_item* last = first;
    uint32_t count = 1;
    maar_assert_held(&retire->lock);
    leave_pool(first);
    for (; count < most && !last->next->is_first; ++count) {
        last = last->next;
        leave_pool(last);
    }
    if (first->order < ORDER_OTHERS) {
        struct maar_retire_timeline* timeline = &retire->timelines[first->order];
        timeline->item_count -= count;
        if (timeline->last == first) {
            timeline->last = last->next != first ? last->next : NULL;
        }
    }
    maar_retire_tree_remove(&retire->root, first, last);
    last->next = NULL;
}

struct maar_retire_item* maar_retire_any(const struct maar_retire* retire,
                                         const struct maar_retire_pool* pool)
{
    maar_assert_held(&retire->lock);
    struct maar_retire_item* item = pool == NULL ? retire->root : NULL;
    for (uint32_t i = 0; pool != NULL && i < MAAR_RETIRE_LISTS && item == NULL; ++i) {
        item = pool->lists[i];
    }
    return item;
}

const char* maar_retire_check(struct maar_retire* retire)
{
    uint64_t count = 0;
    uint64_t waiting = 0;
    maar_mutex_lock(&retire->lock);
    const char* sentence = maar_retire_tree_check(retire->root, &count);
    for (uint32_t i = 0; i < MAAR_RETIRE_TIMELINES && sentence == NULL; ++i) {
        const struct maar_retire_timeline* timeline = &retire->timelines[i];
        const struct maar_retire_item* last = timeline->item_count > 0 ? timeline->last : NULL;
        waiting += timeline->item_count;
        if (last != NULL && (!last->is_first || last->order != i)) {
            sentence = "the last group of a timeline belongs to another timeline";
        }
    }
    if (sentence == NULL && (waiting > count || count > maar_atomic64_load(&retire->item_count))) {
        sentence = "the counts of pending items disagree";
    }
    maar_mutex_unlock(&retire->lock);
    return sentence;
}
