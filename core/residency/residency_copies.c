/*
 * Submissions of a manager: see residency_copies.h.
 */
#include "core/residency/residency_copies.h"

#include "core/memory/allocator_state.h"
#include "core/memory_order.h"
#include "core/queue_submit.h"
#include "core/time/timeline.h"
#include "maar/ordered.h"

VkResult maar_copies_open(struct maar_residency* it)
{
    const struct maar_device* device = &it->allocator->device;
    const VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = (VkCommandPoolCreateFlags)VK_COMMAND_POOL_CREATE_TRANSIENT_BIT |
                 (VkCommandPoolCreateFlags)VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = it->allocator->queues[it->queue].familyIndex,
    };
    VkResult result = maar_timeline_create(device, 0, &it->timeline);
    if (result != VK_SUCCESS) {
        return result;
    }
    /* No host callbacks are passed: for command pools, lavapipe mixes them with the C library's
     * functions. */
    maar_lock_rank_expect_none();
    result = device->vkCreateCommandPool(device->handle, &info, NULL, &it->pool);
    if (result != VK_SUCCESS) {
        it->pool = VK_NULL_HANDLE;
    }
    return result;
}

void maar_copies_close(struct maar_residency* it)
{
    const struct maar_device* device = &it->allocator->device;
    maar_lock_rank_expect_none();
    if (it->pool != VK_NULL_HANDLE) {
        device->vkDestroyCommandPool(device->handle, it->pool, NULL);
    }
    if (it->timeline != VK_NULL_HANDLE) {
        device->vkDestroySemaphore(device->handle, it->timeline, device->callbacks);
    }
    maar_host_free(it->allocator->callbacks, it->commands);
}

/* Reads a timeline, unless it has reached the last value already. */
static VkResult poll_timeline(const struct maar_device* device, VkSemaphore timeline, uint64_t last,
                              uint64_t* reached)
{
    uint64_t value = 0;
    if (*reached >= last) {
        return VK_SUCCESS;
    }
    const VkResult result = device->vkGetSemaphoreCounterValue(device->handle, timeline, &value);
    if (result == VK_SUCCESS) {
        *reached = value;
    }
    return result;
}

VkResult maar_copies_poll(struct maar_residency* it)
{
    const struct maar_device* device = &it->allocator->device;
    maar_lock_rank_expect_none();
    VkResult result = poll_timeline(device, it->timeline, it->submitted, &it->completed);
    for (uint32_t i = 0; i < it->timeline_count && result == VK_SUCCESS; ++i) {
        struct maar_residency_timeline* timeline = &it->timelines[i];
        result = poll_timeline(device, timeline->semaphore, timeline->latest, &timeline->passed);
    }
    maar_note_loss(it->allocator, result);
    return result;
}

VkResult maar_copies_wait(struct maar_residency* it)
{
    VkResult result = VK_SUCCESS;
    if (it->completed < it->submitted) {
        result =
            maar_timeline_wait(&it->allocator->device, it->timeline, it->submitted, UINT64_MAX);
        maar_note_loss(it->allocator, result);
    }
    if (result == VK_SUCCESS) {
        it->completed = it->submitted;
    }
    return result;
}

/* Returns a command buffer that the device does not use, or makes one. */
static VkResult find_commands(struct maar_residency* it, struct maar_residency_commands** found)
{
    const struct maar_device* device = &it->allocator->device;
    for (uint32_t i = 0; i < it->commands_count; ++i) {
        if (it->commands[i].value <= it->completed) {
            *found = &it->commands[i];
            return VK_SUCCESS;
        }
    }
    struct maar_residency_commands* grown =
        maar_host_grow(it->allocator->callbacks, it->commands, &it->commands_capacity,
                       it->commands_count + 1, sizeof grown[0]);
    if (grown == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    it->commands = grown;
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = it->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    struct maar_residency_commands* made = &it->commands[it->commands_count];
    made->value = 0;
    maar_lock_rank_expect_none();
    const VkResult result =
        device->vkAllocateCommandBuffers(device->handle, &info, &made->commands);
    if (result == VK_SUCCESS) {
        ++it->commands_count;
        *found = made;
    }
    return result;
}

VkResult maar_copies_begin(struct maar_residency* it, struct maar_residency_commands** commands)
{
    const struct maar_device* device = &it->allocator->device;
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    VkResult result = maar_copies_poll(it);
    if (result == VK_SUCCESS) {
        result = find_commands(it, commands);
    }
    if (result == VK_SUCCESS) {
        result = device->vkBeginCommandBuffer((*commands)->commands, &begin);
    }
    if (result == VK_SUCCESS) {
        maar_order_commands(device, (*commands)->commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                            VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    }
    return result;
}

/* Declares the last submission: memory that waits for it may serve other objects at once. */
static void declare(struct maar_residency* it, const struct maar_copy_waits* waits)
{
    const MaarPoint end = {it->timeline, it->submitted};
    const MaarSubmissionInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SUBMISSION_INFO,
        .waitCount = waits->count < MAAR_MAX_POINTS ? waits->count : MAAR_MAX_POINTS,
        .pWaits = waits->points,
        .signalCount = 1,
        .pSignals = &end,
    };
    /* What is not declared is reused later. */
    (void)maarDeclareSubmission(it->allocator, &info);
}

VkResult maar_copies_submit(struct maar_residency* it, struct maar_residency_commands* commands,
                            const struct maar_copy_waits* waits)
{
    const struct maar_device* device = &it->allocator->device;
    const MaarQueue* queue = &it->allocator->queues[it->queue];
    VkSemaphore semaphores[MAAR_MAX_POINTS + 1];
    uint64_t values[MAAR_MAX_POINTS + 1];
    for (uint32_t i = 0; i < waits->count; ++i) {
        semaphores[i] = waits->points[i].semaphore;
        values[i] = waits->points[i].value;
    }
    const struct maar_submission submission = {
        .queue = queue,
        .wait_count = waits->count,
        .waits = semaphores,
        .wait_values = values,
        .signal = it->timeline,
        .signal_value = it->submitted + 1,
    };
    /* The host may read memory that it sees after the end. */
    maar_order_commands(device, commands->commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT);
    VkResult result = device->vkEndCommandBuffer(commands->commands);
    if (result != VK_SUCCESS) {
        commands->value = UINT64_MAX; /* it may still be recording: it ends with its pool */
    }
    if (result == VK_SUCCESS) {
        maar_queue_lock(queue);
        result = maar_submit(device, &submission, commands->commands);
        maar_queue_unlock(queue);
        maar_note_loss(it->allocator, result);
    }
    if (result == VK_SUCCESS) {
        commands->value = ++it->submitted;
        ++it->info.submissionCount;
        declare(it, waits);
    }
    return result;
}

void maar_copies_add_wait(struct maar_copy_waits* waits, MaarPoint point)
{
    for (uint32_t i = 0; i < waits->count; ++i) {
        if (waits->points[i].semaphore == point.semaphore) {
            waits->points[i].value =
                point.value > waits->points[i].value ? point.value : waits->points[i].value;
            return;
        }
    }
    MAAR_DEBUG_ASSERT(waits->count < MAAR_MAX_POINTS + 1);
    waits->points[waits->count++] = point;
}
