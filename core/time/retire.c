/*
 * Creates the retire queue, prepares items, and adds them to the queue: see retire.h.
 * retire_order.h gives each item its place in the queue.
 */
#include "core/time/retire.h"

#include <stddef.h>
#include <string.h>

#include "core/host_memory.h"
#include "core/report.h"
#include "core/time/retire_order.h"

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
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                         call, "pointCount is %u, above MAAR_MAX_POINTS (%u)", point_count,
                         (unsigned)MAAR_MAX_POINTS);
    }
    if (point_count > 0 && points == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, call, "pPoints is NULL");
    }
    for (uint32_t i = 0; i < point_count; ++i) {
        if (points[i].semaphore != VK_NULL_HANDLE && !retire->device->facts.timeline_semaphore) {
            maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED,
                        call,
                        "pPoints[%u] names a semaphore, but the allocator was created without "
                        "timelineSemaphore in its features: if the device has it enabled, name it "
                        "in MaarAllocatorCreateInfo::pEnabledFeatures, else use the host timeline",
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
    item->order = 0;
    item->at = 0;
    item->point_count = 0;
    item->is_queued = false;
    item->is_first = false;
    item->object_first = false;
    item->rest_flags = 0;
    item->rest[0] = NULL;
    item->describe = NULL;
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
    MAAR_DEBUG_ASSERT(!item->is_queued);
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

void maar_retire_queue(struct maar_retire* retire, struct maar_retire_item* item)
{
    MAAR_DEBUG_ASSERT(!item->is_queued && item->at == 0 && item->point_count > 0);
    maar_mutex_lock(&retire->lock);
    maar_atomic64_store(&retire->item_count, maar_atomic64_load(&retire->item_count) + 1);
    if (item->point_count > 1 && !maar_retire_next_point(retire, item) &&
        item->at == item->point_count) {
        --item->at;
    }
    maar_retire_enter(retire, item);
    maar_mutex_unlock(&retire->lock);
}

bool maar_retire_withdraw(struct maar_retire* retire, struct maar_retire_item* item)
{
    maar_mutex_lock(&retire->lock);
    const bool is_there = item->pool_link != NULL;
    if (is_there) {
        maar_retire_leave(retire, item, 1);
        maar_atomic64_store(&retire->item_count, maar_atomic64_load(&retire->item_count) - 1);
    }
    maar_mutex_unlock(&retire->lock);
    return is_there;
}

void maar_retire_discard(const struct maar_retire* retire, struct maar_retire_item* item)
{
    maar_host_free(retire->device->callbacks, item);
}
