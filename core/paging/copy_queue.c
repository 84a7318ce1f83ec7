/*
 * The copies of objects that grow without sparse binding: recorded in order, carried out together.
 * Command buffers are reused in the order of their submission, as soon as the oldest one has been
 * executed.
 */
#include "core/paging/copy_queue.h"

#include "core/memory_order.h"
#include "core/paging/paging_state.h"
#include "core/paging/paging_timeline.h"

/* A command buffer with the value of the submission that last used it. */
struct maar_copy_commands {
    struct maar_copy_commands* next;
    VkCommandBuffer buffer;
    uint64_t value;
};

void maar_copy_queue_init(struct maar_copy_queue* queue, struct maar_mutex* lock)
{
    *queue = (struct maar_copy_queue){.lock = lock};
}

void maar_copy_queue_destroy(struct maar_copy_queue* queue, MaarAllocator allocator)
{
    const struct maar_device* device = &allocator->device;
    for (struct maar_copy_commands *commands = queue->oldest, *next; commands != NULL;
         commands = next) {
        next = commands->next;
        maar_host_free(allocator->callbacks, commands);
    }
    if (queue->pool != VK_NULL_HANDLE) {
        maar_lock_rank_expect_none();
        device->vkDestroyCommandPool(device->handle, queue->pool, NULL);
    }
    *queue = (struct maar_copy_queue){.lock = queue->lock};
}

/* ---- recording ---- */

void maar_copy_record(MaarAllocator allocator, struct maar_page_copy* copy)
{
    struct maar_copy_queue* queue = &maar_paging_of(allocator)->copies;
    copy->next = NULL;
    copy->taken = false;
    maar_mutex_lock(queue->lock);
    copy->older = copy->owner->newest;
    copy->owner->newest = copy;
    if (queue->last != NULL) {
        queue->last->next = copy;
    } else {
        queue->first = copy;
    }
    queue->last = copy;
    maar_mutex_unlock(queue->lock);
}

/* Removes a copy from the record. */
static void forget_copy(struct maar_copy_queue* queue, const struct maar_page_copy* copy)
{
    struct maar_page_copy* before = NULL;
    maar_assert_held(queue->lock);
    for (struct maar_page_copy* at = queue->first; at != NULL && at != copy; at = at->next) {
        before = at;
    }
    if (before != NULL) {
        before->next = copy->next;
    } else {
        queue->first = copy->next;
    }
    if (queue->last == copy) {
        queue->last = before;
    }
}

struct maar_page_copy* maar_copy_take_back(MaarAllocator allocator, struct maar_copy_owner* owner)
{
    struct maar_copy_queue* queue = &maar_paging_of(allocator)->copies;
    maar_mutex_lock(queue->lock);
    struct maar_page_copy* copy = owner->newest;
    if (copy != NULL && copy->taken) {
        copy = NULL;
    }
    if (copy != NULL) {
        forget_copy(queue, copy);
        owner->newest = copy->older;
    }
    maar_mutex_unlock(queue->lock);
    return copy;
}

/* Removes all copies of an owner from the record. No submission has taken any of them. Called under
 * the lock. */
static void forget_all(struct maar_copy_queue* queue, const struct maar_copy_owner* owner)
{
    for (const struct maar_page_copy* copy = owner->newest; copy != NULL; copy = copy->older) {
        forget_copy(queue, copy);
    }
}

void maar_copy_owner_end(MaarAllocator allocator, struct maar_copy_owner* owner)
{
    struct maar_copy_queue* queue = &maar_paging_of(allocator)->copies;
    maar_mutex_lock(queue->lock);
    const bool later = owner->taken_count > 0;
    owner->retired = true;
    if (!later) {
        forget_all(queue, owner);
    }
    maar_mutex_unlock(queue->lock);
    if (!later) {
        owner->release(allocator, owner, owner->newest);
    }
}

static struct maar_page_copy* take_recorded(struct maar_copy_queue* queue)
{
    maar_mutex_lock(queue->lock);
    struct maar_page_copy* copies = queue->first;
    queue->first = NULL;
    queue->last = NULL;
    for (struct maar_page_copy* copy = copies; copy != NULL; copy = copy->next) {
        copy->taken = true;
        ++copy->owner->taken_count;
    }
    maar_mutex_unlock(queue->lock);
    return copies;
}

/* Ends the taking of a copy. Collects the copy's owner if the owner has ended meanwhile. Called
 * under the lock. */
static void end_taking(struct maar_page_copy* copy, struct maar_copy_owner** retired)
{
    struct maar_copy_owner* owner = copy->owner;
    copy->taken = false;
    if (--owner->taken_count == 0 && owner->retired) {
        owner->next_retired = *retired;
        *retired = owner;
    }
}

/* Removes a submitted copy from its owner's list. Called under the lock. */
static void disown(struct maar_page_copy* copy, uint64_t value)
{
    struct maar_page_copy** link = &copy->owner->newest;
    while (*link != copy) {
        link = &(*link)->older;
    }
    *link = copy->older;
    copy->owner->value = value;
}

/* Records copies again, before those that were recorded meanwhile. Called under the lock. */
static void put_back_copies(struct maar_copy_queue* queue, struct maar_page_copy* copies)
{
    struct maar_page_copy* last = copies;
    while (last != NULL && last->next != NULL) {
        last = last->next;
    }
    if (last != NULL) {
        last->next = queue->first;
        queue->first = copies;
        queue->last = queue->last != NULL ? queue->last : last;
    }
}

/* Queues or records again the taken copies, once their submission was made or has failed. */
static void resolve_copies(struct maar_copy_queue* queue, MaarAllocator allocator,
                           struct maar_page_copy* copies, const struct maar_submission* submission,
                           bool submitted)
{
    struct maar_copy_owner* retired = NULL;
    maar_mutex_lock(queue->lock);
    for (struct maar_page_copy* copy = copies; copy != NULL; copy = copy->next) {
        if (submitted) {
            disown(copy, submission->signal_value);
            queue->copied_bytes += copy->size;
        }
        end_taking(copy, &retired);
    }
    if (!submitted) {
        put_back_copies(queue, copies);
    }
    for (const struct maar_copy_owner* owner = retired; owner != NULL;
         owner = owner->next_retired) {
        forget_all(queue, owner);
    }
    maar_mutex_unlock(queue->lock);

    for (struct maar_page_copy *copy = submitted ? copies : NULL, *next; copy != NULL;
         copy = next) {
        next = copy->next;
        /* The submission waits for the caller's points, so they have passed when it has ended. */
        maar_retire_add_point(copy->item,
                              (MaarPoint){submission->signal, submission->signal_value});
        maar_retire_queue(&allocator->retire, copy->item);
    }
    for (struct maar_copy_owner* next; retired != NULL; retired = next) {
        next = retired->next_retired;
        retired->release(allocator, retired, retired->newest);
    }
}

/* ---- carrying out ---- */

/* Returns the oldest command buffer if it has been executed, else a new one. It is in no list. */
static VkResult open_commands(struct maar_copy_queue* queue, MaarAllocator allocator,
                              const struct maar_submission* submission,
                              struct maar_copy_commands** out)
{
    const struct maar_device* device = &allocator->device;
    struct maar_copy_commands* commands = queue->oldest;
    if (commands != NULL &&
        maar_paging_wait(maar_paging_of(allocator), commands->value, 0) == VK_SUCCESS) {
        queue->oldest = commands->next;
        queue->latest = queue->oldest != NULL ? queue->latest : NULL;
        *out = commands;
        return VK_SUCCESS;
    }
    if (queue->pool == VK_NULL_HANDLE) {
        const VkCommandPoolCreateInfo pool_info = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
            .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
            .queueFamilyIndex = submission->queue->familyIndex,
        };
        /* No host callbacks are passed: for command pools, lavapipe mixes them with the C library's
         * functions. */
        const VkResult result =
            device->vkCreateCommandPool(device->handle, &pool_info, NULL, &queue->pool);
        if (result != VK_SUCCESS) {
            queue->pool = VK_NULL_HANDLE;
            return result;
        }
    }
    commands = maar_host_calloc(allocator->callbacks, 1, sizeof *commands);
    if (commands == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = queue->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkResult result =
        device->vkAllocateCommandBuffers(device->handle, &info, &commands->buffer);
    if (result != VK_SUCCESS) {
        maar_host_free(allocator->callbacks, commands);
        return result;
    }
    *out = commands;
    return VK_SUCCESS;
}

/* Lists commands: as the latest if they were submitted, else as the first to be reused. */
static void close_commands(struct maar_copy_queue* queue, struct maar_copy_commands* commands,
                           bool submitted)
{
    commands->next = submitted ? NULL : queue->oldest;
    if (submitted && queue->latest != NULL) {
        queue->latest->next = commands;
    } else {
        queue->oldest = commands;
    }
    if (submitted || queue->latest == NULL) {
        queue->latest = commands;
    }
}

/* Frees commands whose recording failed, since their state is unknown. */
static void discard_commands(const struct maar_copy_queue* queue, MaarAllocator allocator,
                             struct maar_copy_commands* commands)
{
    const struct maar_device* device = &allocator->device;
    device->vkFreeCommandBuffers(device->handle, queue->pool, 1, &commands->buffer);
    maar_host_free(allocator->callbacks, commands);
}

/* Records copies one after another. An owner can have several copies in one submission. A copy then
 * reads what the copy before it wrote. */
static VkResult record_commands(const struct maar_device* device, VkCommandBuffer buffer,
                                const struct maar_page_copy* copies)
{
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    VkResult result = device->vkBeginCommandBuffer(buffer, &begin);
    if (result != VK_SUCCESS) {
        return result;
    }
    VkPipelineStageFlags before = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    for (const struct maar_page_copy* copy = copies; copy != NULL; copy = copy->next) {
        const VkBufferCopy region = {.size = copy->size};
        maar_order_commands(device, buffer, before, VK_PIPELINE_STAGE_TRANSFER_BIT);
        device->vkCmdCopyBuffer(buffer, copy->from, copy->to, 1, &region);
        before = VK_PIPELINE_STAGE_TRANSFER_BIT;
    }
    maar_order_commands(device, buffer, before,
                        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT);
    return device->vkEndCommandBuffer(buffer);
}

static VkResult submit_commands(const struct maar_device* device, VkCommandBuffer buffer,
                                const struct maar_submission* submission)
{
    maar_queue_lock(submission->queue);
    const VkResult result = maar_submit(device, submission, buffer);
    maar_queue_unlock(submission->queue);
    return result;
}

VkResult maar_copy_queue_submit(struct maar_copy_queue* queue, MaarAllocator allocator,
                                const struct maar_submission* submission)
{
    const struct maar_device* device = &allocator->device;
    struct maar_copy_commands* commands = NULL;
    MAAR_DEBUG_ASSERT(maar_paging_of(allocator)->submitting);
    maar_lock_rank_expect_none();
    VkResult result = open_commands(queue, allocator, submission, &commands);
    if (result != VK_SUCCESS) {
        return result;
    }
    /* The submission signals even if all copies were taken back meanwhile. */
    struct maar_page_copy* copies = take_recorded(queue);
    bool submitted = false;
    result = record_commands(device, commands->buffer, copies);
    if (result == VK_SUCCESS) {
        result = submit_commands(device, commands->buffer, submission);
        submitted = result == VK_SUCCESS;
        commands->value = submitted ? submission->signal_value : 0;
        close_commands(queue, commands, submitted);
    } else {
        discard_commands(queue, allocator, commands);
    }
    resolve_copies(queue, allocator, copies, submission, submitted);
    return result;
}
