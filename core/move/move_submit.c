/*
 * Submits the copies of a batch to a queue of the allocator. Each such queue has a timeline of its
 * own here, so that submissions to different queues need no order.
 */
#include "core/bound_check.h"
#include "core/memory/allocator_state.h"
#include "core/memory/object_handle.h"
#include "core/memory/queue_index.h"
#include "core/move/move_copy.h"
#include "core/move/moved_object.h"
#include "core/paging/page_move.h"
#include "core/queue_submit.h"
#include "core/time/timeline.h"

/* Returns the timeline of a queue, which is made when it is first needed. */
static VkResult open_timeline(MaarAllocator allocator, uint32_t queue,
                              struct maar_move_timeline** timeline)
{
    const struct maar_device* device = &allocator->device;
    struct maar_moves* moves = maar_atomic_pointer_load(&allocator->moving.state);
    *timeline = maar_atomic_pointer_load(&moves->timelines[queue]);
    if (*timeline != NULL) {
        return VK_SUCCESS;
    }
    struct maar_move_timeline* made = maar_host_calloc(allocator->callbacks, 1, sizeof *made);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    const VkResult result = maar_timeline_create(device, 0, &made->semaphore);
    if (result != VK_SUCCESS) {
        maar_host_free(allocator->callbacks, made);
        return result;
    }
    maar_mutex_lock(&allocator->list_lock);
    *timeline = maar_atomic_pointer_load(&moves->timelines[queue]);
    const bool is_first = *timeline == NULL;
    if (is_first) {
        maar_atomic_pointer_store(&moves->timelines[queue], made);
        *timeline = made;
    }
    maar_mutex_unlock(&allocator->list_lock);
    if (!is_first) {
        device->vkDestroySemaphore(device->handle, made->semaphore, device->callbacks);
        maar_host_free(allocator->callbacks, made);
    }
    return VK_SUCCESS;
}

/* Records the copies into a command buffer of their own. */
static VkResult record_own(const struct maar_move_batch* batch, struct maar_move_copies* copies,
                           uint32_t family, VkCommandBuffer* commands)
{
    const struct maar_device* device = &batch->allocator->device;
    const VkCommandPoolCreateInfo pool_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
        .queueFamilyIndex = family,
    };
    /* No host callbacks are passed: for command pools, lavapipe mixes them with the C library's
     * functions. */
    VkResult result = device->vkCreateCommandPool(device->handle, &pool_info, NULL, &copies->pool);
    if (result != VK_SUCCESS) {
        copies->pool = VK_NULL_HANDLE;
        return result;
    }
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = copies->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    result = device->vkAllocateCommandBuffers(device->handle, &info, commands);
    if (result == VK_SUCCESS) {
        result = device->vkBeginCommandBuffer(*commands, &begin);
    }
    if (result == VK_SUCCESS) {
        maar_move_copies_record(batch, copies, *commands);
        result = device->vkEndCommandBuffer(*commands);
    }
    return result;
}

/* Submits commands, or nothing if commands is VK_NULL_HANDLE, and sets the point of their end. */
static VkResult submit(const struct maar_move_batch* batch, const MaarMoveSubmitInfo* info,
                       VkCommandBuffer commands, struct maar_move_timeline* timeline,
                       MaarPoint* point)
{
    MaarAllocator allocator = batch->allocator;
    const struct maar_device* device = &allocator->device;
    const MaarQueue* queue = &allocator->queues[info->queueIndex];
    VkSemaphore waits[MAAR_MAX_POINTS + 1];
    uint64_t values[MAAR_MAX_POINTS + 1];
    for (uint32_t i = 0; i < info->waitCount; ++i) {
        waits[i] = info->pWaits[i].semaphore;
        values[i] = info->pWaits[i].value;
    }
    struct maar_submission submission = {
        .queue = queue,
        .wait_count = info->waitCount,
        .waits = waits,
        .wait_values = values,
        .signal = timeline->semaphore,
    };
    MaarPoint ready;
    if (batch->pages != NULL && maar_page_moves_wait_point(batch->pages, &ready)) {
        waits[submission.wait_count] = ready.semaphore;
        values[submission.wait_count++] = ready.value;
        maar_page_moves_note_wait(batch->pages, info->queueIndex);
    }
    maar_queue_lock(queue);
    submission.signal_value = timeline->value + 1;
    const VkResult result = maar_submit(device, &submission, commands);
    if (result == VK_SUCCESS) {
        timeline->value = submission.signal_value;
        *point = (MaarPoint){timeline->semaphore, timeline->value};
    }
    maar_queue_unlock(queue);
    maar_note_loss(allocator, result);
    return result;
}

static VkResult check_submit_info(MaarAllocator allocator, const char* call,
                                  const struct maar_move_batch* batch,
                                  const MaarMoveSubmitInfo* info)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    VkResult result = maar_check_structure(allocator, call, "pSubmitInfo", info,
                                           MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_bound bounds[] = {
        {info->waitCount > MAAR_MAX_POINTS, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "pSubmitInfo->waitCount is above MAAR_MAX_POINTS",
         MAAR_SHOW_LIMIT(info->waitCount, MAAR_MAX_POINTS)},
        {0},
    };
    const struct maar_rule rules[] = {
        {info->waitCount > 0 && info->pWaits == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT,
         "pSubmitInfo->pWaits is NULL"},
        {batch->is_submitted, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "batch was submitted already"},
        {0},
    };
    result = maar_check_queue_index(allocator, call, "pSubmitInfo->queueIndex", info->queueIndex);
    if (result == VK_SUCCESS) {
        result = maar_check_bounds(allocator, call, bounds);
    }
    if (result == VK_SUCCESS) {
        result = maar_check_rules(allocator, call, rules);
    }
    if (result == VK_SUCCESS && !facts->timeline_semaphore) {
        return maar_fail(allocator, VK_ERROR_FEATURE_NOT_PRESENT,
                         MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, call,
                         "batch cannot be submitted: the allocator was created without "
                         "timelineSemaphore in its features; if the device has it enabled, name it "
                         "in MaarAllocatorCreateInfo::pEnabledFeatures, else record the copies by "
                         "maarRecordMoves");
    }
    for (uint32_t i = 0; result == VK_SUCCESS && i < info->waitCount; ++i) {
        if (info->pWaits[i].semaphore == VK_NULL_HANDLE) {
            return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                             MAAR_MESSAGE_ID_POINT_NOT_USABLE, call,
                             "pSubmitInfo->pWaits[%u] is a point of the host timeline, for which "
                             "no queue can wait",
                             i);
        }
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarSubmitMoves(MaarAllocator allocator, MaarMoveBatch batch,
                                               const MaarMoveSubmitInfo* pSubmitInfo,
                                               MaarPoint* pPoint)
{
    void* object = NULL;
    if (pPoint != NULL) {
        *pPoint = (MaarPoint){VK_NULL_HANDLE, 0};
    }
    VkResult result = maar_object_enter(allocator, __func__, "batch", MAAR_OBJECT_MOVE_BATCH,
                                        MAAR_TO_BITS(batch), &object);
    struct maar_move_batch* own = object;
    if (result == VK_SUCCESS) {
        own->has_failed_copy = true; /* until it is done */
        result = check_submit_info(allocator, __func__, own, pSubmitInfo);
    }
    if (result == VK_SUCCESS) {
        const uint32_t family = allocator->queues[pSubmitInfo->queueIndex].familyIndex;
        result = maar_moved_objects_check_copies(
            own, __func__,
            family < MAAR_MAX_QUEUE_FAMILIES ? allocator->device.facts.queue_flags[family] : 0);
    }
    struct maar_move_timeline* timeline = NULL;
    struct maar_move_copies* copies = NULL;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    if (result == VK_SUCCESS) {
        result = open_timeline(allocator, pSubmitInfo->queueIndex, &timeline);
    }
    if (result == VK_SUCCESS) {
        result = maar_move_copies_create(own, __func__, &copies);
    }
    if (result == VK_SUCCESS && copies != NULL) {
        const uint32_t family = allocator->queues[pSubmitInfo->queueIndex].familyIndex;
        result = record_own(own, copies, family, &commands);
    }
    if (result == VK_SUCCESS) {
        result = submit(own, pSubmitInfo, commands, timeline, &own->copied);
    }
    if (result != VK_SUCCESS) {
        /* The contents are lost with the device: nothing keeps the batch from ending. */
        if (own != NULL && result == VK_ERROR_DEVICE_LOST) {
            own->is_copied = true;
        }
        maar_move_copies_destroy(allocator, copies);
        return result;
    }
    own->is_submitted = true;
    own->is_copied = true;
    if (copies != NULL) {
        copies->next = own->copies;
        own->copies = copies;
    }
    if (pPoint != NULL) {
        *pPoint = own->copied;
    }
    return VK_SUCCESS;
}
