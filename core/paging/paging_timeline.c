/*
 * Waits for submissions of binds and copies. A lost device executes nothing, so there is no wait
 * for it.
 */
#include "core/paging/paging_timeline.h"

#include "core/paging/paging_state.h"
#include "core/port_time.h"
#include "core/time/retire_collect.h"
#include "core/time/timeline.h"

#include <string.h>

MaarPoint maar_paging_point(MaarAllocator allocator, uint64_t value)
{
    return (MaarPoint){.semaphore = maar_paging_of(allocator)->timeline, .value = value};
}

VkResult maar_paging_wait(struct maar_paging* paging, uint64_t value, uint64_t timeout_ns)
{
    const struct maar_device* device = &paging->allocator->device;
    const VkResult result = maar_timeline_wait(device, paging->timeline, value, timeout_ns);
    if (result == VK_ERROR_DEVICE_LOST) {
        maar_atomic32_store(&paging->allocator->retire.lost, 1);
    }
    return result;
}

bool maar_paging_wait_executed(struct maar_paging* paging, uint64_t value, uint64_t deadline_ns)
{
    if (value == 0 || maar_atomic32_load(&paging->allocator->retire.lost) != 0) {
        return value == 0;
    }
    const VkResult result = maar_paging_wait(paging, value, maar_time_left_ns(deadline_ns));
    if (result != VK_SUCCESS && result != VK_ERROR_DEVICE_LOST) {
        maar_report(paging->allocator, MAAR_MESSAGE_SEVERITY_ERROR,
                    MAAR_MESSAGE_ID_BINDS_NOT_EXECUTED, NULL,
                    "pages are freed that a submission of binds may still name, since it was not "
                    "executed in five seconds; was what it waits for ever submitted?");
    }
    return result == VK_SUCCESS;
}

void maar_paging_look(struct maar_paging* paging)
{
    const struct maar_device* device = &paging->allocator->device;
    const uint64_t submitted = maar_atomic64_load(&paging->submitted);
    if (maar_atomic64_load(&paging->completed) == submitted) {
        return;
    }
    if (maar_atomic32_load(&paging->allocator->retire.lost) != 0) {
        maar_atomic64_max(&paging->completed, submitted);
        return;
    }
    /* A wait of no time comes first: some drivers never report a value. */
    uint64_t value = submitted;
    VkResult result = maar_paging_wait(paging, submitted, 0);
    if (result != VK_SUCCESS && result != VK_ERROR_DEVICE_LOST) {
        result = device->vkGetSemaphoreCounterValue(device->handle, paging->timeline, &value);
    }
    if (result == VK_ERROR_DEVICE_LOST) {
        maar_atomic32_store(&paging->allocator->retire.lost, 1);
        value = submitted; /* a lost device executes nothing more */
    }
    if (result == VK_SUCCESS || result == VK_ERROR_DEVICE_LOST) {
        maar_atomic64_max(&paging->completed, value < submitted ? value : submitted);
    }
}

VkResult maar_paging_check_waits(MaarAllocator allocator, const char* call, uint32_t point_count,
                                 const MaarPoint* points)
{
    VkResult result = maar_retire_check_points(&allocator->retire, call, point_count, points);
    for (uint32_t i = 0; i < point_count && result == VK_SUCCESS; ++i) {
        if (points[i].semaphore == VK_NULL_HANDLE &&
            points[i].value > maar_atomic64_load(&allocator->retire.host_value)) {
            result = maar_fail(
                allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_POINT_NOT_USABLE, call,
                "pPoints[%u] is %llu of the host timeline, which is at %llu; the device cannot "
                "wait for it",
                i, (unsigned long long)points[i].value,
                (unsigned long long)maar_atomic64_load(&allocator->retire.host_value));
        }
    }
    return result;
}

bool maar_paging_delay(struct maar_paging* paging, uint32_t point_count, const MaarPoint* points)
{
    MaarPoint merged[MAAR_MAX_POINTS];
    maar_mutex_lock(&paging->lock);
    uint32_t count = paging->delay_count;
    memcpy(merged, paging->delays, count * sizeof merged[0]);
    bool fits = true;
    for (uint32_t i = 0; i < point_count && fits; ++i) {
        uint32_t at = 0;
        while (at < count && merged[at].semaphore != points[i].semaphore) {
            ++at;
        }
        if (points[i].semaphore == VK_NULL_HANDLE) {
            continue; /* a point of the host timeline has passed already */
        }
        fits = at < MAAR_MAX_POINTS;
        if (at == count && fits) {
            merged[count++] = points[i];
        } else if (fits && merged[at].value < points[i].value) {
            merged[at].value = points[i].value;
        }
    }
    if (fits) {
        memcpy(paging->delays, merged, count * sizeof merged[0]);
        paging->delay_count = count;
    }
    maar_mutex_unlock(&paging->lock);
    return fits;
}
