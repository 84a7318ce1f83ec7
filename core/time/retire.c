/*
 * What goes into the retire queue: see retire.h. Where an item stands in it says retire_order.h.
 */
#include "core/time/retire.h"

#include <stddef.h>
#include <string.h>

#include "core/host_memory.h"
#include "core/report.h"
#include "core/time/retire_order.h"

/* A search for a range looks into the lists of its size class and of this many above it, at this
 * many ranges in all. Two powers of two: what is larger would be wasted on it. */
enum { SEARCH_CLASSES = 8, SEARCH_MOST = 16 };

bool maar_retire_init(struct maar_retire* retire, MaarAllocator allocator,
                      const struct maar_device* device, maar_retire_range_action range_action,
                      bool synchronized)
{
    memset(retire, 0, sizeof *retire);
    retire->allocator = allocator;
    retire->device = device;
    retire->range_action = range_action;
    if (!maar_condition_init(&retire->finished)) {
        return false;
    }
    if (!maar_mutex_init(&retire->lock, MAAR_LOCK_RETIRE, synchronized)) {
        maar_condition_destroy(&retire->finished);
        return false;
    }
    return true;
}

void maar_retire_destroy(struct maar_retire* retire)
{
    MAAR_DEBUG_ASSERT(maar_retire_is_empty(retire) && retire->root == NULL);
    maar_mutex_destroy(&retire->lock);
    maar_condition_destroy(&retire->finished);
}

VkResult maar_retire_check_points(const struct maar_retire* retire, const char* call,
                                  uint32_t point_count, const MaarPoint* points)
{
    const MaarAllocator allocator = retire->allocator;
    if (point_count > MAAR_MAX_POINTS) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_OUT_OF_RANGE, call,
                           "pointCount is above MAAR_MAX_POINTS");
    }
    if (point_count > 0 && points == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, call, "pPoints is NULL");
    }
    for (uint32_t i = 0; i < point_count; ++i) {
        if (points[i].semaphore != VK_NULL_HANDLE && !retire->device->facts.timeline_semaphore) {
            maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED,
                        call,
                        "pPoints[%u] names a semaphore, but the timelineSemaphore feature was not "
                        "enabled; use the host timeline instead",
                        i);
            return VK_ERROR_FEATURE_NOT_PRESENT;
        }
    }
    return VK_SUCCESS;
}

struct maar_retire_item* maar_retire_prepare(const struct maar_retire* retire, uint32_t point_count,
                                             const MaarPoint* points)
{
    MAAR_DEBUG_ASSERT(point_count <= MAAR_MAX_POINTS + 1);
    const size_t capacity = point_count > 0 ? point_count : 1;
    struct maar_retire_item* item =
        maar_host_alloc(retire->device->callbacks,
                        offsetof(struct maar_retire_item, points) + capacity * sizeof(MaarPoint));
    if (item == NULL) {
        return NULL;
    }
    item->kin = NULL;
    item->size = 0;
    item->at = 0;
    item->point_count = 0;
    item->state = MAAR_RETIRE_PREPARED;
    item->object_first = false;
    item->rest_flags = 0;
    item->range = MAAR_RETIRE_NO_RANGE;
    item->pool = NULL;
    item->action = NULL;
    item->object = 0;
    if (points != NULL) {
        maar_retire_set_points(item, point_count, points);
    }
    return item;
}

void maar_retire_set_points(struct maar_retire_item* item, uint32_t point_count,
                            const MaarPoint* points)
{
    MAAR_DEBUG_ASSERT(item->state == MAAR_RETIRE_PREPARED);
    for (uint32_t i = 0; i < point_count; ++i) {
        item->points[i] = points[i];
    }
    item->point_count = (uint8_t)point_count;
}

void maar_retire_add_point(struct maar_retire_item* item, MaarPoint point)
{
    MAAR_DEBUG_ASSERT(item->point_count <= MAAR_MAX_POINTS);
    item->points[item->point_count++] = point;
}

/* ---- queueing and handing on ---- */

/* Returns whether points that have all passed imply that an item has nothing left to wait for: each
 * of its points is among them, or an earlier value of the same timeline. */
static bool are_covered(const struct maar_retire* retire, uint32_t point_count,
                        const MaarPoint* points, const struct maar_retire_item* item)
{
    for (uint32_t i = item->at; i < item->point_count; ++i) {
        const MaarPoint* point = &item->points[i];
        bool covered =
            point->semaphore == VK_NULL_HANDLE && maar_retire_is_host_passed(retire, point);
        for (uint32_t k = 0; k < point_count && !covered; ++k) {
            covered = points[k].semaphore == point->semaphore && points[k].value >= point->value;
        }
        if (!covered) {
            return false;
        }
    }
    return true;
}

void maar_retire_queue(struct maar_retire* retire, struct maar_retire_item* item)
{
    MAAR_DEBUG_ASSERT(item->state == MAAR_RETIRE_PREPARED && item->at == 0);
    maar_mutex_lock(&retire->lock);
    maar_atomic64_store(&retire->item_count, maar_atomic64_load(&retire->item_count) + 1);
    if (item->kin != NULL && are_covered(retire, item->point_count, item->points, item->kin)) {
        maar_retire_unbind(item);
    }
    if (item->kin == NULL) {
        maar_retire_place(retire, item);
    } else {
        item->state = MAAR_RETIRE_PARKED;
        item->order = MAAR_RETIRE_TIMELINES;
        maar_retire_enter_pool(item);
    }
    maar_mutex_unlock(&retire->lock);
}

void maar_retire_discard(struct maar_retire* retire, struct maar_retire_item* item)
{
    if (item->kin != NULL) {
        maar_mutex_lock(&retire->lock);
        maar_retire_unbind(item);
        maar_mutex_unlock(&retire->lock);
    }
    maar_host_free(retire->device->callbacks, item);
}

/* Finds a range that a request may have: see maar_retire_hand_on. The lock is held. */
static struct maar_retire_item* find_range(const struct maar_retire* retire,
                                           struct maar_retire_pool* pool, VkDeviceSize size,
                                           const MaarPoint* covered)
{
    const uint32_t order = maar_retire_find_order(retire, covered->semaphore);
    const uint32_t least = maar_retire_class_of(size);
    uint32_t looks = 0;
    for (uint32_t i = 0; i < SEARCH_CLASSES; ++i) {
        struct maar_retire_item* item = *maar_retire_list_of(pool, order, least + i);
        for (; item != NULL && looks < SEARCH_MOST; item = item->pool_next, ++looks) {
            if (item->state == MAAR_RETIRE_QUEUED && item->range != MAAR_RETIRE_NO_RANGE &&
                item->size >= size && maar_retire_class_of(item->size) < least + SEARCH_CLASSES &&
                are_covered(retire, 1, covered, item)) {
                return item;
            }
        }
    }
    return NULL;
}

bool maar_retire_hand_on(struct maar_retire* retire, struct maar_retire_pool* pool,
                         VkDeviceSize size, const MaarPoint* covered, struct maar_retire_item* heir)
{
    MAAR_DEBUG_ASSERT(heir->state == MAAR_RETIRE_PREPARED && heir->kin == NULL);
    maar_mutex_lock(&retire->lock);
    struct maar_retire_item* former = find_range(retire, pool, size, covered);
    if (former != NULL) {
        maar_retire_leave_pool(former);
        heir->pool = pool;
        heir->size = former->size;
        heir->range = former->range;
        heir->kin = former;
        former->pool = NULL;
        former->range = MAAR_RETIRE_NO_RANGE;
        former->kin = heir;
    }
    maar_mutex_unlock(&retire->lock);
    return former != NULL;
}
