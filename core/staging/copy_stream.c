/*
 * Copies that a room submits itself: see copy_stream.h.
 */
#include "core/staging/copy_stream.h"

#include "core/port_time.h"
#include "core/queue_submit.h"
#include "core/time/timeline.h"

VkResult maar_copy_stream_open(struct maar_copy_stream* stream)
{
    const MaarAllocator allocator = stream->allocator;
    const struct maar_device* device = &allocator->device;
    const VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = (VkCommandPoolCreateFlags)VK_COMMAND_POOL_CREATE_TRANSIENT_BIT |
                 (VkCommandPoolCreateFlags)VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = allocator->queues[stream->queue_index].familyIndex,
    };
    maar_lock_rank_expect_none();
    VkResult result = maar_timeline_create(device, 0, &stream->timeline);
    if (result != VK_SUCCESS) {
        return result;
    }
    /* No host callbacks are passed: for command pools, lavapipe mixes them with the C library's
     * functions. */
    result = device->vkCreateCommandPool(device->handle, &info, NULL, &stream->pool);
    if (result != VK_SUCCESS) {
        stream->pool = VK_NULL_HANDLE;
    }
    return result;
}

void maar_copy_stream_close(struct maar_copy_stream* stream)
{
    const struct maar_device* device = &stream->allocator->device;
    maar_lock_rank_expect_none();
    /* The copies have ended, and so have the submissions of the program that waited for them. */
    if (stream->submitted > 0 && maar_atomic32_load(&stream->allocator->retire.lost) == 0) {
        maar_note_loss(stream->allocator,
                       maar_timeline_let_go(device, &stream->allocator->queues[stream->queue_index],
                                            maar_deadline_ns(MAAR_DESTROY_TIMEOUT_NS)));
    }
    if (stream->pool != VK_NULL_HANDLE) {
        device->vkDestroyCommandPool(device->handle, stream->pool, NULL);
    }
    if (stream->timeline != VK_NULL_HANDLE) {
        device->vkDestroySemaphore(device->handle, stream->timeline, device->callbacks);
    }
    maar_host_free(stream->allocator->callbacks, stream->commands);
}

VkResult maar_copy_stream_poll(struct maar_copy_stream* stream)
{
    const struct maar_device* device = &stream->allocator->device;
    uint64_t value = 0;
    if (stream->completed == stream->submitted) {
        return VK_SUCCESS;
    }
    maar_lock_rank_expect_none();
    const VkResult result =
        device->vkGetSemaphoreCounterValue(device->handle, stream->timeline, &value);
    if (result == VK_SUCCESS) {
        stream->completed = value;
    }
    maar_note_loss(stream->allocator, result);
    return result;
}

VkResult maar_copy_stream_wait(struct maar_copy_stream* stream, uint64_t value)
{
    VkResult result = VK_SUCCESS;
    if (stream->completed < value) {
        result =
            maar_timeline_wait(&stream->allocator->device, stream->timeline, value, UINT64_MAX);
        maar_note_loss(stream->allocator, result);
    }
    if (result == VK_SUCCESS && stream->completed < value) {
        stream->completed = value;
    }
    return result;
}

/* Returns a command buffer that the device does not use, or makes one. */
static VkResult find_stream_commands(struct maar_copy_stream* stream,
                                     struct maar_stream_commands** found)
{
    const struct maar_device* device = &stream->allocator->device;
    for (uint32_t i = 0; i < stream->command_count; ++i) {
        if (stream->commands[i].value <= stream->completed) {
            *found = &stream->commands[i];
            return VK_SUCCESS;
        }
    }
    struct maar_stream_commands* grown =
        maar_host_grow(stream->allocator->callbacks, stream->commands, &stream->command_capacity,
                       stream->command_count + 1, sizeof grown[0]);
    if (grown == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    stream->commands = grown;
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = stream->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    struct maar_stream_commands* made = &stream->commands[stream->command_count];
    made->value = 0;
    maar_lock_rank_expect_none();
    const VkResult result = device->vkAllocateCommandBuffers(device->handle, &info, &made->buffer);
    if (result == VK_SUCCESS) {
        ++stream->command_count;
        *found = made;
    }
    return result;
}

/* Frees a command buffer whose recording failed, since its state is unknown. */
static void discard_stream_commands(struct maar_copy_stream* stream,
                                    struct maar_stream_commands* commands)
{
    const struct maar_device* device = &stream->allocator->device;
    device->vkFreeCommandBuffers(device->handle, stream->pool, 1, &commands->buffer);
    *commands = stream->commands[--stream->command_count];
}

VkResult maar_copy_stream_begin(struct maar_copy_stream* stream,
                                struct maar_stream_commands** commands)
{
    const struct maar_device* device = &stream->allocator->device;
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    VkResult result = maar_copy_stream_poll(stream);
    if (result == VK_SUCCESS) {
        result = find_stream_commands(stream, commands);
    }
    if (result == VK_SUCCESS) {
        result = device->vkBeginCommandBuffer((*commands)->buffer, &begin);
        if (result != VK_SUCCESS) {
            discard_stream_commands(stream, *commands);
        }
    }
    return result;
}

VkResult maar_copy_stream_submit(struct maar_copy_stream* stream,
                                 struct maar_stream_commands* commands, uint32_t wait_count,
                                 const MaarPoint* waits)
{
    const MaarAllocator allocator = stream->allocator;
    const struct maar_device* device = &allocator->device;
    VkSemaphore semaphores[MAAR_MOST_SUBMISSION_WAITS];
    uint64_t values[MAAR_MOST_SUBMISSION_WAITS];
    for (uint32_t i = 0; i < wait_count; ++i) {
        semaphores[i] = waits[i].semaphore;
        values[i] = waits[i].value;
    }
    const struct maar_submission submission = {
        .queue = &allocator->queues[stream->queue_index],
        .wait_count = wait_count,
        .waits = semaphores,
        .wait_values = values,
        .signal = stream->timeline,
        .signal_value = stream->submitted + 1,
    };
    VkResult result = device->vkEndCommandBuffer(commands->buffer);
    if (result != VK_SUCCESS) {
        discard_stream_commands(stream, commands);
        return result;
    }
    maar_queue_lock(submission.queue);
    result = maar_submit(device, &submission, commands->buffer);
    maar_queue_unlock(submission.queue);
    maar_note_loss(allocator, result);
    if (result == VK_SUCCESS) {
        commands->value = ++stream->submitted;
    }
    return result;
}
