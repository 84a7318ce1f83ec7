/*
 * Hands the ownership of shared bytes to another API and takes it back. Records the barriers with
 * an external queue family into the caller's command buffer, or records and submits them for a
 * caller without a command buffer.
 *
 * A submission needs its command buffer until the device is done with it. Each command buffer has a
 * pool and a timeline of its own, and each queue has a list of command buffers. A thread takes a
 * command buffer out of the list, records without a lock, and submits under the caller's lock of
 * the queue. The share lock guards the lists. A list is in the order of submissions, so the device
 * is done with its first entry first.
 */
#include "interop/share/handoff.h"

#include "core/bound_check.h"
#include "core/memory/queue_index.h"
#include "core/queue_lock.h"
#include "core/time/timeline.h"

/* The number of resources that are recorded together. Their barriers lie on the stack. */
enum { BARRIERS_AT_ONCE = 6 };

/* The command buffer of one submission, with its pool and timeline. */
struct handoff_commands {
    struct handoff_commands* next;
    VkCommandPool pool;
    VkCommandBuffer buffer;
    VkSemaphore timeline;
    uint64_t value; /* the timeline's value when the device is done with the commands */
};

struct handoff_queue {
    struct handoff_commands* oldest;
    struct handoff_commands* latest;
};

struct handoff_state {
    struct handoff_queue queues[1]; /* one for each queue of the allocator */
};

/* ---- what the caller says ---- */

static VkResult refuse_handed(MaarAllocator allocator, const char* call, uint32_t index,
                              MaarMessageId id, const char* sentence)
{
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, id, call, "pResources[%u] %s", index,
                sentence);
    return VK_ERROR_VALIDATION_FAILED_EXT;
}

static VkResult check_handed(MaarAllocator allocator, const char* call, uint32_t index,
                             const MaarHandoffResource* resource)
{
    const bool is_image = resource->image != VK_NULL_HANDLE;
    if (is_image == (resource->buffer != VK_NULL_HANDLE)) {
        return refuse_handed(
            allocator, call, index,
            is_image ? MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS : MAAR_MESSAGE_ID_NULL_HANDLE,
            is_image ? "has both a buffer and an image" : "has neither a buffer nor an image");
    }
    if (resource->sharingMode != VK_SHARING_MODE_EXCLUSIVE &&
        resource->sharingMode != VK_SHARING_MODE_CONCURRENT) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_INVALID_ENUM,
                         call, "pResources[%u].sharingMode is %d, and no VkSharingMode", index,
                         (int)resource->sharingMode);
    }
    if (is_image && (resource->newLayout == VK_IMAGE_LAYOUT_UNDEFINED ||
                     resource->newLayout == VK_IMAGE_LAYOUT_PREINITIALIZED)) {
        return refuse_handed(allocator, call, index, MAAR_MESSAGE_ID_INVALID_LAYOUT,
                             "is an image, and its newLayout is UNDEFINED or PREINITIALIZED");
    }
    return VK_SUCCESS;
}

static VkResult check_all_handed(MaarAllocator allocator, const char* call, MaarHandoffPeer peer,
                                 uint32_t count, const MaarHandoffResource* resources)
{
    if (peer != MAAR_HANDOFF_PEER_EXTERNAL && peer != MAAR_HANDOFF_PEER_FOREIGN) {
        return maar_refuse_enum(allocator, call, "peer", "MaarHandoffPeer", (int)peer);
    }
    if (peer == MAAR_HANDOFF_PEER_FOREIGN && !allocator->device.facts.foreign_family) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED,
                    call,
                    "a foreign peer needs VK_EXT_queue_family_foreign among "
                    "MaarAllocatorCreateInfo::ppEnabledExtensionNames; the device must have it "
                    "enabled");
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    if (count > 0 && resources == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, call, "pResources is NULL");
    }
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; ++i) {
        result = check_handed(allocator, call, i, &resources[i]);
    }
    return result;
}

/* ---- recording ---- */

/* One direction of one handoff. */
struct handoff_record {
    const struct maar_device* device;
    VkCommandBuffer buffer;
    MaarHandoffDirection direction;
    uint32_t family; /* the queue's */
    uint32_t peer_family;
};

struct handoff_barriers {
    VkPipelineStageFlags stages;
    uint32_t buffer_count;
    uint32_t image_count;
    VkBufferMemoryBarrier buffers[BARRIERS_AT_ONCE];
    VkImageMemoryBarrier images[BARRIERS_AT_ONCE];
};

/* Both ends of a barrier. Accesses are given only at this queue's end; Vulkan ignores those at the
 * end of the other queue family. */
struct barrier_ends {
    VkAccessFlags before;
    VkAccessFlags after;
    uint32_t from;
    uint32_t to;
};

static struct barrier_ends ends_of(const struct handoff_record* record,
                                   const MaarHandoffResource* resource)
{
    const VkAccessFlags all =
        (VkAccessFlags)VK_ACCESS_MEMORY_READ_BIT | (VkAccessFlags)VK_ACCESS_MEMORY_WRITE_BIT;
    const VkAccessFlags access = resource->access != 0 ? resource->access : all;
    /* A concurrent resource belongs to all families that share it, not to one of them. */
    const uint32_t own = resource->sharingMode == VK_SHARING_MODE_CONCURRENT
                             ? VK_QUEUE_FAMILY_IGNORED
                             : record->family;
    if (record->direction == MAAR_HANDOFF_DIRECTION_RELEASE) {
        return (struct barrier_ends){.before = access, .from = own, .to = record->peer_family};
    }
    return (struct barrier_ends){.after = access, .from = record->peer_family, .to = own};
}

static VkBufferMemoryBarrier buffer_barrier(const MaarHandoffResource* resource,
                                            const struct barrier_ends* ends)
{
    return (VkBufferMemoryBarrier){
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
        .srcAccessMask = ends->before,
        .dstAccessMask = ends->after,
        .srcQueueFamilyIndex = ends->from,
        .dstQueueFamilyIndex = ends->to,
        .buffer = resource->buffer,
        .offset = resource->offset,
        .size = resource->size != 0 ? resource->size : VK_WHOLE_SIZE,
    };
}

static VkImageMemoryBarrier image_barrier(const MaarHandoffResource* resource,
                                          const struct barrier_ends* ends)
{
    VkImageSubresourceRange range = resource->range;
    if (range.aspectMask == 0) {
        range.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT;
    }
    if (range.levelCount == 0) {
        range.levelCount = VK_REMAINING_MIP_LEVELS;
    }
    if (range.layerCount == 0) {
        range.layerCount = VK_REMAINING_ARRAY_LAYERS;
    }
    return (VkImageMemoryBarrier){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = ends->before,
        .dstAccessMask = ends->after,
        .oldLayout = resource->oldLayout,
        .newLayout = resource->newLayout,
        .srcQueueFamilyIndex = ends->from,
        .dstQueueFamilyIndex = ends->to,
        .image = resource->image,
        .subresourceRange = range,
    };
}

static void add_handoff_barrier(const struct handoff_record* record,
                                const MaarHandoffResource* resource,
                                struct handoff_barriers* barriers)
{
    const struct barrier_ends ends = ends_of(record, resource);
    barriers->stages |= resource->stages != 0
                            ? resource->stages
                            : (VkPipelineStageFlags)VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    if (resource->image != VK_NULL_HANDLE) {
        barriers->images[barriers->image_count++] = image_barrier(resource, &ends);
    } else {
        barriers->buffers[barriers->buffer_count++] = buffer_barrier(resource, &ends);
    }
}

/* Records the barriers. After a release comes a signal that waits for all commands, so no later
 * stage of this queue has to wait for the release. An acquire begins in the stages that waited for
 * the semaphore. */
static void record_barriers(const struct handoff_record* record,
                            const struct handoff_barriers* barriers)
{
    const VkPipelineStageFlags after = record->direction == MAAR_HANDOFF_DIRECTION_RELEASE
                                           ? VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT
                                           : barriers->stages;
    record->device->vkCmdPipelineBarrier(record->buffer, barriers->stages, after, 0, 0, NULL,
                                         barriers->buffer_count, barriers->buffers,
                                         barriers->image_count, barriers->images);
}

static void record_resources(const struct handoff_record* record, uint32_t count,
                             const MaarHandoffResource* resources)
{
    for (uint32_t first = 0; first < count; first += BARRIERS_AT_ONCE) {
        const uint32_t left = count - first;
        struct handoff_barriers barriers = {.stages = 0};
        for (uint32_t i = 0; i < left && i < BARRIERS_AT_ONCE; ++i) {
            add_handoff_barrier(record, &resources[first + i], &barriers);
        }
        record_barriers(record, &barriers);
    }
}

static uint32_t peer_family(MaarHandoffPeer peer)
{
    return peer == MAAR_HANDOFF_PEER_FOREIGN ? VK_QUEUE_FAMILY_FOREIGN_EXT
                                             : VK_QUEUE_FAMILY_EXTERNAL;
}

static VkResult record_for_caller(MaarAllocator allocator, const char* call,
                                  const struct handoff_record* record, MaarHandoffPeer peer,
                                  uint32_t count, const MaarHandoffResource* resources)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (record->buffer == VK_NULL_HANDLE) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_HANDLE, call,
                           "commandBuffer is VK_NULL_HANDLE");
    }
    if (record->family >= allocator->device.facts.queue_family_count) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                         call, "familyIndex is %u, and the device has %u queue families",
                         record->family, allocator->device.facts.queue_family_count);
    }
    result = check_all_handed(allocator, call, peer, count, resources);
    if (result == VK_SUCCESS) {
        struct handoff_record known = *record;
        known.device = &allocator->device;
        known.peer_family = peer_family(peer);
        record_resources(&known, count, resources);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCmdRelease(MaarAllocator allocator,
                                              VkCommandBuffer commandBuffer, uint32_t familyIndex,
                                              MaarHandoffPeer peer, uint32_t resourceCount,
                                              const MaarHandoffResource* pResources)
{
    const struct handoff_record record = {
        .buffer = commandBuffer,
        .direction = MAAR_HANDOFF_DIRECTION_RELEASE,
        .family = familyIndex,
    };
    return record_for_caller(allocator, __func__, &record, peer, resourceCount, pResources);
}

VKAPI_ATTR VkResult VKAPI_CALL maarCmdAcquire(MaarAllocator allocator,
                                              VkCommandBuffer commandBuffer, uint32_t familyIndex,
                                              MaarHandoffPeer peer, uint32_t resourceCount,
                                              const MaarHandoffResource* pResources)
{
    const struct handoff_record record = {
        .buffer = commandBuffer,
        .direction = MAAR_HANDOFF_DIRECTION_ACQUIRE,
        .family = familyIndex,
    };
    return record_for_caller(allocator, __func__, &record, peer, resourceCount, pResources);
}

/* ---- command buffers ---- */

/* Waits until the device is done with the commands. Returns VK_TIMEOUT if the device still uses
 * them after timeout_ns. A wait with a timeout of 0 replaces reading the timeline's value, because
 * some drivers never report a value. */
static VkResult wait_commands(MaarAllocator allocator, const struct handoff_commands* commands,
                              uint64_t timeout_ns)
{
    const struct maar_device* device = &allocator->device;
    const VkSemaphoreWaitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &commands->timeline,
        .pValues = &commands->value,
    };
    if (commands->value == 0) {
        return VK_SUCCESS;
    }
    maar_lock_rank_expect_none();
    const VkResult result = device->vkWaitSemaphores(device->handle, &wait, timeout_ns);
    maar_note_loss(allocator, result);
    return result;
}

static void destroy_commands(MaarAllocator allocator, struct handoff_commands* commands)
{
    const struct maar_device* device = &allocator->device;
    maar_lock_rank_expect_none();
    if (commands->pool != VK_NULL_HANDLE) {
        device->vkDestroyCommandPool(device->handle, commands->pool, NULL);
    }
    if (commands->timeline != VK_NULL_HANDLE) {
        device->vkDestroySemaphore(device->handle, commands->timeline, device->callbacks);
    }
    maar_host_free(allocator->callbacks, commands);
}

static VkResult make_command_buffer(MaarAllocator allocator, uint32_t family,
                                    struct handoff_commands* commands)
{
    const struct maar_device* device = &allocator->device;
    const VkCommandPoolCreateInfo pool_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = family,
    };
    /* Passes no callbacks, because lavapipe mixes them up with the C library's functions for
     * command pools. */
    VkResult result =
        device->vkCreateCommandPool(device->handle, &pool_info, NULL, &commands->pool);
    if (result != VK_SUCCESS) {
        commands->pool = VK_NULL_HANDLE;
        return result;
    }
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = commands->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    return device->vkAllocateCommandBuffers(device->handle, &info, &commands->buffer);
}

static VkResult make_commands(MaarAllocator allocator, uint32_t family,
                              struct handoff_commands** out)
{
    struct handoff_commands* made = maar_host_calloc(allocator->callbacks, 1, sizeof *made);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    VkResult result = maar_timeline_create(&allocator->device, 0, &made->timeline);
    if (result == VK_SUCCESS) {
        result = make_command_buffer(allocator, family, made);
    }
    if (result != VK_SUCCESS) {
        destroy_commands(allocator, made);
        return result;
    }
    *out = made;
    return VK_SUCCESS;
}

static struct handoff_commands* take_oldest(MaarAllocator allocator, struct handoff_queue* queue)
{
    maar_mutex_lock(&allocator->share_lock);
    struct handoff_commands* commands = queue->oldest;
    if (commands != NULL) {
        queue->oldest = commands->next;
        queue->latest = queue->oldest != NULL ? queue->latest : NULL;
    }
    maar_mutex_unlock(&allocator->share_lock);
    return commands;
}

/* Puts commands back into the list: at the end if they were just submitted, else at the front,
 * where the next call looks first. */
static void put_commands(MaarAllocator allocator, struct handoff_queue* queue,
                         struct handoff_commands* commands, bool submitted)
{
    maar_mutex_lock(&allocator->share_lock);
    commands->next = submitted ? NULL : queue->oldest;
    if (submitted && queue->latest != NULL) {
        queue->latest->next = commands;
    } else {
        queue->oldest = commands;
    }
    if (submitted || queue->latest == NULL) {
        queue->latest = commands;
    }
    maar_mutex_unlock(&allocator->share_lock);
}

/* Takes the oldest commands of a queue out of its list if the device is done with them, or makes
 * new ones. */
static VkResult open_handoff(MaarAllocator allocator, struct handoff_queue* queue, uint32_t family,
                             struct handoff_commands** commands)
{
    struct handoff_commands* oldest = take_oldest(allocator, queue);
    if (oldest != NULL) {
        const VkResult result = wait_commands(allocator, oldest, 0);
        if (result == VK_SUCCESS) {
            *commands = oldest;
            return VK_SUCCESS;
        }
        put_commands(allocator, queue, oldest, false);
        if (result != VK_TIMEOUT) {
            return result;
        }
    }
    return make_commands(allocator, family, commands);
}

/* ---- the state ---- */

static void destroy_handoffs(MaarAllocator allocator, void* opaque)
{
    struct handoff_state* state = opaque;
    VkResult waited = VK_SUCCESS;
    for (uint32_t i = 0; i < allocator->queue_count; ++i) {
        struct handoff_commands* commands = take_oldest(allocator, &state->queues[i]);
        for (; commands != NULL; commands = take_oldest(allocator, &state->queues[i])) {
            const bool lost = maar_atomic32_load(&allocator->retire.lost) != 0;
            if (!lost && waited == VK_SUCCESS) {
                waited = wait_commands(allocator, commands, MAAR_DESTROY_TIMEOUT_NS);
            }
            destroy_commands(allocator, commands);
        }
    }
    if (waited != VK_SUCCESS && waited != VK_TIMEOUT && waited != VK_ERROR_DEVICE_LOST) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_HANDOFF_INCOMPLETE,
                    NULL,
                    "waiting for a handoff failed (%s); its command buffer is destroyed, "
                    "whether it was executed or not",
                    maarGetResultName(waited));
    }
    if (waited == VK_TIMEOUT) {
        maar_report(
            allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_HANDOFF_INCOMPLETE, NULL,
            "a handoff was not executed in five seconds, and its command buffer is destroyed all "
            "the same; was what it waits for ever submitted?");
    }
    maar_host_free(allocator->callbacks, state);
}

static VkResult require_handoffs(MaarAllocator allocator, struct handoff_state** state)
{
    *state = maar_atomic_pointer_load(&allocator->sharing.state);
    if (*state != NULL) {
        return VK_SUCCESS;
    }
    struct handoff_state* made = maar_host_calloc(
        allocator->callbacks, 1, sizeof *made + allocator->queue_count * sizeof made->queues[0]);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    maar_mutex_lock(&allocator->list_lock);
    *state = maar_atomic_pointer_load(&allocator->sharing.state);
    if (*state == NULL) {
        allocator->sharing.destroy = destroy_handoffs;
        maar_atomic_pointer_store(&allocator->sharing.state, made);
        *state = made;
        made = NULL;
    }
    maar_mutex_unlock(&allocator->list_lock);
    maar_host_free(allocator->callbacks, made); /* another thread was faster */
    return VK_SUCCESS;
}

/* ---- submitting ---- */

/* Points in the form that VkSubmitInfo requires. */
struct handoff_points {
    uint32_t count;
    VkSemaphore semaphores[MAAR_MAX_HANDOFF_POINTS + 1];
    uint64_t values[MAAR_MAX_HANDOFF_POINTS + 1];
};

static void add_point(struct handoff_points* points, VkSemaphore semaphore, uint64_t value)
{
    points->semaphores[points->count] = semaphore;
    points->values[points->count++] = value;
}

static void add_points(struct handoff_points* points, uint32_t count, const MaarPoint* from)
{
    for (uint32_t i = 0; i < count; ++i) {
        add_point(points, from[i].semaphore, from[i].value);
    }
}

static VkResult record_handoff(MaarAllocator allocator, const MaarHandoffInfo* info,
                               const struct handoff_commands* commands)
{
    const struct maar_device* device = &allocator->device;
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    const struct handoff_record record = {
        .device = device,
        .buffer = commands->buffer,
        .direction = info->direction,
        .family = allocator->queues[info->queue].familyIndex,
        .peer_family = peer_family(info->peer),
    };
    maar_lock_rank_expect_none();
    const VkResult result = device->vkBeginCommandBuffer(commands->buffer, &begin);
    if (result != VK_SUCCESS) {
        return result;
    }
    record_resources(&record, info->resourceCount, info->pResources);
    return device->vkEndCommandBuffer(commands->buffer);
}

static VkResult submit_handoff(MaarAllocator allocator, const MaarHandoffInfo* info,
                               struct handoff_commands* commands)
{
    static const VkPipelineStageFlags stages[MAAR_MAX_HANDOFF_POINTS] = {
        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
    };
    struct handoff_points waits = {.count = 0};
    struct handoff_points signals = {.count = 0};
    add_points(&waits, info->waitCount, info->pWaits);
    add_points(&signals, info->signalCount, info->pSignals);
    add_point(&signals, commands->timeline, commands->value + 1);
    /* Vulkan ignores the values of binary semaphores. */
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = waits.count,
        .pWaitSemaphoreValues = waits.values,
        .signalSemaphoreValueCount = signals.count,
        .pSignalSemaphoreValues = signals.values,
    };
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .waitSemaphoreCount = waits.count,
        .pWaitSemaphores = waits.semaphores,
        .pWaitDstStageMask = stages,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands->buffer,
        .signalSemaphoreCount = signals.count,
        .pSignalSemaphores = signals.semaphores,
    };
    const struct maar_device* device = &allocator->device;
    const MaarQueue* queue = &allocator->queues[info->queue];
    maar_queue_lock(queue);
    const VkResult result = device->vkQueueSubmit(queue->queue, 1, &submit, VK_NULL_HANDLE);
    maar_queue_unlock(queue);
    maar_note_loss(allocator, result);
    commands->value += result == VK_SUCCESS ? 1 : 0;
    return result;
}

static VkResult check_handoff_points(MaarAllocator allocator, const char* call, const char* name,
                                     uint32_t count, const MaarPoint* points)
{
    if (count > MAAR_MAX_HANDOFF_POINTS) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                         call, "%s has %u points, above MAAR_MAX_HANDOFF_POINTS (%u)", name, count,
                         (unsigned)MAAR_MAX_HANDOFF_POINTS);
    }
    if (count > 0 && points == NULL) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_NULL_ARGUMENT,
                         call, "%s is NULL", name);
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (points[i].semaphore == VK_NULL_HANDLE) {
            maar_report(
                allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_POINT_NOT_USABLE, call,
                "%s[%u] is a point of the host timeline, which no queue can wait for or signal",
                name, i);
            return VK_ERROR_VALIDATION_FAILED_EXT;
        }
    }
    return VK_SUCCESS;
}

static VkResult check_handoff(MaarAllocator allocator, const char* call,
                              const MaarHandoffInfo* info)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    const VkQueueFlags any = (VkQueueFlags)VK_QUEUE_GRAPHICS_BIT |
                             (VkQueueFlags)VK_QUEUE_COMPUTE_BIT |
                             (VkQueueFlags)VK_QUEUE_TRANSFER_BIT;
    if (info->direction != MAAR_HANDOFF_DIRECTION_RELEASE &&
        info->direction != MAAR_HANDOFF_DIRECTION_ACQUIRE) {
        return maar_refuse_enum(allocator, call, "direction", "MaarHandoffDirection",
                                (int)info->direction);
    }
    if (info->queue >= allocator->queue_count) {
        return maar_refuse_queue_index(allocator, call, "queue", info->queue);
    }
    const uint32_t family = allocator->queues[info->queue].familyIndex;
    if (family >= facts->queue_family_count || (facts->queue_flags[family] & any) == 0) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NO_QUEUE, call,
                           "queue belongs to a family without graphics, compute and transfer");
    }
    VkResult result =
        check_handoff_points(allocator, call, "pWaits", info->waitCount, info->pWaits);
    if (result == VK_SUCCESS) {
        result =
            check_handoff_points(allocator, call, "pSignals", info->signalCount, info->pSignals);
    }
    if (result == VK_SUCCESS) {
        result =
            check_all_handed(allocator, call, info->peer, info->resourceCount, info->pResources);
    }
    if (result == VK_SUCCESS && !facts->timeline_semaphore) {
        maar_report(
            allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, NULL,
            "%s needs timelineSemaphore among MaarAllocatorCreateInfo::pEnabledFeatures; the "
            "device must have it enabled",
            call);
        result = VK_ERROR_FEATURE_NOT_PRESENT;
    }
    return result;
}

VkResult maar_handoff_prepare(MaarAllocator allocator, const char* call,
                              const MaarHandoffInfo* info, struct maar_handoff* handoff)
{
    struct handoff_state* state = NULL;
    struct handoff_commands* commands = NULL;
    VkResult result = check_handoff(allocator, call, info);
    if (result == VK_SUCCESS) {
        result = require_handoffs(allocator, &state);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct handoff_queue* queue = &state->queues[info->queue];
    result = open_handoff(allocator, queue, allocator->queues[info->queue].familyIndex, &commands);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = record_handoff(allocator, info, commands);
    if (result != VK_SUCCESS) {
        /* The state of the commands is unknown. */
        destroy_commands(allocator, commands);
        return result;
    }
    *handoff = (struct maar_handoff){.allocator = allocator, .info = info, .commands = commands};
    return VK_SUCCESS;
}

/* Puts the commands back into the list of their queue. */
static void end_handoff(struct maar_handoff* handoff, bool submitted)
{
    struct handoff_state* state = maar_atomic_pointer_load(&handoff->allocator->sharing.state);
    put_commands(handoff->allocator, &state->queues[handoff->info->queue], handoff->commands,
                 submitted);
    handoff->commands = NULL;
}

VkResult maar_handoff_commit(struct maar_handoff* handoff)
{
    const VkResult result = submit_handoff(handoff->allocator, handoff->info, handoff->commands);
    end_handoff(handoff, result == VK_SUCCESS);
    return result;
}

void maar_handoff_cancel(struct maar_handoff* handoff)
{
    end_handoff(handoff, false);
}

VkResult maar_handoff_submit(MaarAllocator allocator, const char* call, const MaarHandoffInfo* info)
{
    struct maar_handoff handoff;
    VkResult result = maar_handoff_prepare(allocator, call, info, &handoff);
    return result == VK_SUCCESS ? maar_handoff_commit(&handoff) : result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarSubmitHandoff(MaarAllocator allocator,
                                                 const MaarHandoffInfo* pInfo)
{
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_HANDOFF_INFO);
    }
    return result == VK_SUCCESS ? maar_handoff_submit(allocator, __func__, pInfo) : result;
}
