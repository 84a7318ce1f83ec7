/*
 * Submitting: binds go to the device in one vkQueueBindSparse, copies in one vkQueueSubmit.
 *
 * Only semaphores order vkQueueBindSparse. Each submission waits for the one before it and for the
 * caller's points, and advances Maar's own timeline by one. One thread at a time submits. Only the
 * caller's queue lock is held across the driver's call.
 */
#include "core/paging/bind_submit.h"

#include "core/memory/capture_entry.h"
#include "core/paging/captured_binds.h"
#include "core/paging/page_pool.h"
#include "core/paging/paging_open.h"
#include "core/paging/paging_state.h"
#include "core/paging/paging_timeline.h"
#include "core/queue_submit.h"
#include "maar/paging.h"

#include <string.h>

/* The semaphores that a submission waits for, and their values. */
struct bind_waits {
    uint32_t count;
    VkSemaphore semaphores[MAAR_MOST_SUBMISSION_WAITS];
    uint64_t values[MAAR_MOST_SUBMISSION_WAITS];
};

static void add_bind_wait(struct bind_waits* waits, VkSemaphore semaphore, uint64_t value)
{
    uint32_t i = 0;
    while (i < waits->count && waits->semaphores[i] != semaphore) {
        ++i;
    }
    if (i == waits->count) {
        waits->semaphores[i] = semaphore;
        waits->values[waits->count++] = 0;
    }
    waits->values[i] = value > waits->values[i] ? value : waits->values[i];
}

static void list_waits(struct maar_paging* paging, uint32_t point_count, const MaarPoint* points,
                       struct bind_waits* waits)
{
    waits->count = 0;
    const uint64_t before = maar_atomic64_load(&paging->submitted);
    if (before > 0) {
        add_bind_wait(waits, paging->timeline, before);
    }
    for (uint32_t i = 0; i < point_count; ++i) {
        if (points[i].semaphore != VK_NULL_HANDLE) {
            add_bind_wait(waits, points[i].semaphore, points[i].value);
        }
    }
    maar_mutex_lock(&paging->lock);
    for (uint32_t i = 0; i < paging->delay_count; ++i) {
        add_bind_wait(waits, paging->delays[i].semaphore, paging->delays[i].value);
    }
    maar_mutex_unlock(&paging->lock);
}

/* Removes the delays that a submission waits for. Later submissions wait for that submission. */
static void forget_delays(struct maar_paging* paging, const struct bind_waits* waits)
{
    uint32_t kept = 0;
    maar_mutex_lock(&paging->lock);
    for (uint32_t i = 0; i < paging->delay_count; ++i) {
        const MaarPoint point = paging->delays[i];
        bool waited = false;
        for (uint32_t w = 0; w < waits->count && !waited; ++w) {
            waited = waits->semaphores[w] == point.semaphore && waits->values[w] >= point.value;
        }
        if (!waited) {
            paging->delays[kept++] = point;
        }
    }
    paging->delay_count = kept;
    maar_mutex_unlock(&paging->lock);
}

/* Describes the elements of a batch from one count to another. */
static VkBindSparseInfo describe_step(const struct maar_bind_batch* batch,
                                      const struct maar_bind_counts* from,
                                      const struct maar_bind_counts* to)
{
    const uint32_t opaques = to->opaques - from->opaques;
    return (VkBindSparseInfo){
        .sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
        .bufferBindCount = to->buffers - from->buffers,
        .pBufferBinds = batch->buffers + from->buffers,
        .imageOpaqueBindCount = opaques,
        .pImageOpaqueBinds = opaques > 0 ? batch->opaques + from->opaques : NULL,
        .imageBindCount = to->images - from->images,
        .pImageBinds = batch->images + from->images,
    };
}

/* Submits the batch, in two steps if it moves pages: the second step, which binds, waits until the
 * first one has unbound. Elements of one step have no order. */
static VkResult call_bind(struct maar_paging* paging, const struct bind_waits* waits)
{
    const struct maar_device* device = &paging->allocator->device;
    const struct maar_bind_batch* batch = &paging->batch;
    const MaarQueue* queue = &paging->allocator->queues[paging->bind_queue];
    const uint64_t first = maar_atomic64_load(&paging->submitted) + 1;
    const uint64_t last = first + (batch->moves ? 1 : 0);
    const struct maar_bind_counts none = {.spans = 0};
    const VkTimelineSemaphoreSubmitInfo timelines[2] = {
        {
            .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
            .waitSemaphoreValueCount = waits->count,
            .pWaitSemaphoreValues = waits->values,
            .signalSemaphoreValueCount = 1,
            .pSignalSemaphoreValues = &first,
        },
        {
            .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
            .waitSemaphoreValueCount = 1,
            .pWaitSemaphoreValues = &first,
            .signalSemaphoreValueCount = 1,
            .pSignalSemaphoreValues = &last,
        },
    };
    VkBindSparseInfo steps[2] = {
        describe_step(batch, &none, batch->moves ? &batch->step : &batch->taken),
        describe_step(batch, &batch->step, &batch->taken),
    };
    for (uint32_t i = 0; i < 2; ++i) {
        steps[i].pNext = &timelines[i];
        steps[i].waitSemaphoreCount = i == 0 ? waits->count : 1;
        steps[i].pWaitSemaphores = i == 0 ? waits->semaphores : &paging->timeline;
        steps[i].signalSemaphoreCount = 1;
        steps[i].pSignalSemaphores = &paging->timeline;
    }
    maar_queue_lock(queue);
    const VkResult result =
        device->vkQueueBindSparse(queue->queue, batch->moves ? 2 : 1, steps, VK_NULL_HANDLE);
    maar_queue_unlock(queue);
    if (result == VK_SUCCESS) {
        maar_atomic64_store(&paging->submitted, last);
        if (maar_may_capture(paging->allocator)) {
            maar_capture_binds(paging->allocator, queue->queue, batch->moves ? 2 : 1, steps);
        }
    }
    return result;
}

static VkResult submit_binds(struct maar_paging* paging, uint32_t point_count,
                             const MaarPoint* points)
{
    VkResult result = maar_bind_batch_take(paging);
    if (result == VK_SUCCESS && paging->batch.taken.spans > 0) {
        struct bind_waits waits;
        list_waits(paging, point_count, points, &waits);
        result = call_bind(paging, &waits);
        maar_bind_batch_end(paging, result == VK_SUCCESS);
        if (result == VK_SUCCESS) {
            paging->has_bound = true;
            forget_delays(paging, &waits);
        }
    }
    return result;
}

static VkResult submit_copies(struct maar_paging* paging, uint32_t point_count,
                              const MaarPoint* points)
{
    maar_mutex_lock(&paging->lock);
    const bool is_empty = maar_copy_queue_is_empty(&paging->copies);
    maar_mutex_unlock(&paging->lock);
    if (is_empty) {
        return VK_SUCCESS;
    }
    struct bind_waits waits;
    list_waits(paging, point_count, points, &waits);
    const struct maar_submission submission = {
        .queue = &paging->allocator->queues[paging->copy_queue],
        .wait_count = waits.count,
        .waits = waits.semaphores,
        .wait_values = waits.values,
        .signal = paging->timeline,
        .signal_value = maar_atomic64_load(&paging->submitted) + 1,
    };
    maar_mutex_lock(&paging->lock);
    ++paging->recorded_value;
    maar_mutex_unlock(&paging->lock);
    const VkResult result = maar_copy_queue_submit(&paging->copies, paging->allocator, &submission);
    if (result == VK_SUCCESS) {
        maar_atomic64_store(&paging->submitted, submission.signal_value);
        paging->has_copied = true;
        forget_delays(paging, &waits);
        return result;
    }
    maar_mutex_lock(&paging->lock);
    --paging->recorded_value;
    maar_mutex_unlock(&paging->lock);
    return result;
}

/* Waits until no other thread submits. */
static void begin_submission(struct maar_paging* paging)
{
    maar_mutex_lock(&paging->lock);
    while (paging->submitting) {
        maar_condition_wait(&paging->changed, &paging->lock);
    }
    paging->submitting = true;
    maar_mutex_unlock(&paging->lock);
}

static void end_submission(struct maar_paging* paging)
{
    maar_mutex_lock(&paging->lock);
    paging->submitting = false;
    maar_mutex_unlock(&paging->lock);
    maar_condition_wake(&paging->changed);
}

VkResult maar_binds_submit(MaarAllocator allocator, const char* call, uint32_t point_count,
                           const MaarPoint* points, MaarPoint* point)
{
    VkResult result = maar_paging_check_waits(allocator, call, point_count, points);
    if (result == VK_SUCCESS) {
        result = maar_paging_require(allocator, call, false);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_paging* paging = maar_paging_of(allocator);
    begin_submission(paging);
    result = submit_binds(paging, point_count, points);
    if (result == VK_SUCCESS) {
        result = submit_copies(paging, point_count, points);
    }
    const uint64_t value = maar_atomic64_load(&paging->submitted);
    end_submission(paging);
    if (result == VK_ERROR_DEVICE_LOST) {
        maar_atomic32_store(&allocator->retire.lost, 1);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    (void)maar_page_pools_release(paging, NULL, UINT32_MAX, true);
    if (point != NULL) {
        *point = maar_paging_point(allocator, value);
    }
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarSubmitBinds(MaarAllocator allocator, uint32_t pointCount,
                                               const MaarPoint* pPoints, MaarPoint* pPoint)
{
    if (pPoint != NULL) {
        *pPoint = (MaarPoint){.value = 0};
    }
    VkResult result = maar_enter(allocator);
    return result == VK_SUCCESS
               ? maar_binds_submit(allocator, __func__, pointCount, pPoints, pPoint)
               : result;
}

VkResult maar_binds_delay(MaarAllocator allocator, const char* call, uint32_t point_count,
                          const MaarPoint* points)
{
    VkResult result = maar_paging_check_waits(allocator, call, point_count, points);
    if (result == VK_SUCCESS) {
        result = maar_paging_require(allocator, call, false);
    }
    if (result == VK_SUCCESS &&
        !maar_paging_delay(maar_paging_of(allocator), point_count, points)) {
        result = VK_ERROR_TOO_MANY_OBJECTS;
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarDelayBinds(MaarAllocator allocator, uint32_t pointCount,
                                              const MaarPoint* pPoints)
{
    const VkResult result = maar_enter(allocator);
    return result == VK_SUCCESS ? maar_binds_delay(allocator, __func__, pointCount, pPoints)
                                : result;
}
