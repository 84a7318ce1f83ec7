/*
 * Copies that a cache submits itself: see upload_queue.h.
 */
#include "core/staging/upload_queue.h"

#include "core/memory_order.h"
#include "core/queue_submit.h"
#include "core/time/timeline.h"

VkResult maar_upload_queue_open(struct maar_upload_queue* queue)
{
    const MaarAllocator allocator = queue->allocator;
    const struct maar_device* device = &allocator->device;
    const VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = (VkCommandPoolCreateFlags)VK_COMMAND_POOL_CREATE_TRANSIENT_BIT |
                 (VkCommandPoolCreateFlags)VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = allocator->queues[queue->queue_index].familyIndex,
    };
    maar_lock_rank_expect_none();
    VkResult result = maar_timeline_create(device, 0, &queue->timeline);
    if (result != VK_SUCCESS) {
        return result;
    }
    /* No host callbacks are passed: for command pools, lavapipe mixes them with the C library's
     * functions. */
    result = device->vkCreateCommandPool(device->handle, &info, NULL, &queue->pool);
    if (result != VK_SUCCESS) {
        queue->pool = VK_NULL_HANDLE;
    }
    return result;
}

void maar_upload_queue_close(struct maar_upload_queue* queue)
{
    const struct maar_device* device = &queue->allocator->device;
    maar_lock_rank_expect_none();
    if (queue->pool != VK_NULL_HANDLE) {
        device->vkDestroyCommandPool(device->handle, queue->pool, NULL);
    }
    if (queue->timeline != VK_NULL_HANDLE) {
        device->vkDestroySemaphore(device->handle, queue->timeline, device->callbacks);
    }
    maar_host_free(queue->allocator->callbacks, queue->commands);
}

VkResult maar_upload_queue_poll(struct maar_upload_queue* queue)
{
    const struct maar_device* device = &queue->allocator->device;
    VkResult result = VK_SUCCESS;
    if (queue->completed < queue->submitted) {
        maar_lock_rank_expect_none();
        result =
            device->vkGetSemaphoreCounterValue(device->handle, queue->timeline, &queue->completed);
        maar_note_loss(queue->allocator, result);
    }
    return result;
}

VkResult maar_upload_queue_wait(struct maar_upload_queue* queue, uint64_t value)
{
    VkResult result = VK_SUCCESS;
    if (queue->completed < value) {
        result = maar_timeline_wait(&queue->allocator->device, queue->timeline, value, UINT64_MAX);
        maar_note_loss(queue->allocator, result);
    }
    if (result == VK_SUCCESS && queue->completed < value) {
        queue->completed = value;
    }
    return result;
}

/* Returns a command buffer that the device does not use, or makes one. */
static VkResult find_upload_commands(struct maar_upload_queue* queue,
                                     struct maar_upload_commands** found)
{
    const struct maar_device* device = &queue->allocator->device;
    for (uint32_t i = 0; i < queue->command_count; ++i) {
        if (queue->commands[i].value <= queue->completed) {
            *found = &queue->commands[i];
            return VK_SUCCESS;
        }
    }
    struct maar_upload_commands* grown =
        maar_host_grow(queue->allocator->callbacks, queue->commands, &queue->command_capacity,
                       queue->command_count + 1, sizeof grown[0]);
    if (grown == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    queue->commands = grown;
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = queue->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    struct maar_upload_commands* made = &queue->commands[queue->command_count];
    made->value = 0;
    maar_lock_rank_expect_none();
    const VkResult result = device->vkAllocateCommandBuffers(device->handle, &info, &made->buffer);
    if (result == VK_SUCCESS) {
        ++queue->command_count;
        *found = made;
    }
    return result;
}

/* Frees a command buffer whose recording failed, since its state is unknown. */
static void discard_upload_commands(struct maar_upload_queue* queue,
                                    struct maar_upload_commands* commands)
{
    const struct maar_device* device = &queue->allocator->device;
    device->vkFreeCommandBuffers(device->handle, queue->pool, 1, &commands->buffer);
    *commands = queue->commands[--queue->command_count];
}

VkResult maar_upload_queue_begin(struct maar_upload_queue* queue,
                                 struct maar_upload_commands** commands)
{
    const struct maar_device* device = &queue->allocator->device;
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    VkResult result = maar_upload_queue_poll(queue);
    if (result == VK_SUCCESS) {
        result = find_upload_commands(queue, commands);
    }
    if (result == VK_SUCCESS) {
        result = device->vkBeginCommandBuffer((*commands)->buffer, &begin);
        if (result != VK_SUCCESS) {
            discard_upload_commands(queue, *commands);
        }
    }
    return result;
}

VkResult maar_upload_queue_submit(struct maar_upload_queue* queue,
                                  struct maar_upload_commands* commands, const MaarPoint* wait)
{
    const MaarAllocator allocator = queue->allocator;
    const struct maar_device* device = &allocator->device;
    const struct maar_submission submission = {
        .queue = &allocator->queues[queue->queue_index],
        .wait_count = wait->semaphore != VK_NULL_HANDLE ? 1 : 0,
        .waits = &wait->semaphore,
        .wait_values = &wait->value,
        .signal = queue->timeline,
        .signal_value = queue->submitted + 1,
    };
    maar_order_commands(device, commands->buffer, VK_PIPELINE_STAGE_TRANSFER_BIT,
                        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    VkResult result = device->vkEndCommandBuffer(commands->buffer);
    if (result != VK_SUCCESS) {
        discard_upload_commands(queue, commands);
        return result;
    }
    maar_queue_lock(submission.queue);
    result = maar_submit(device, &submission, commands->buffer);
    maar_queue_unlock(submission.queue);
    maar_note_loss(allocator, result);
    if (result == VK_SUCCESS) {
        commands->value = ++queue->submitted;
    }
    return result;
}
