/*
 * Command pools and command buffers: their states.
 */
#include "backends/simulated/sim_command.h"

#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_entries.h"
#include "backends/simulated/sim_record.h"

void sim_command_release(struct sim_command_buffer* buffer)
{
    sim_recording_release(buffer->object.device, buffer->recording);
    maar_host_free(buffer->object.device->callbacks, buffer->uses);
    sim_object_release(&buffer->object);
}

static VKAPI_ATTR VkResult VKAPI_CALL
sim_create_command_pool(VkDevice device, const VkCommandPoolCreateInfo* pCreateInfo,
                        const VkAllocationCallbacks* pAllocator, VkCommandPool* pCommandPool)
{
    struct sim_device* d = SIM_DEVICE(device);
    (void)pCreateInfo;
    *pCommandPool = VK_NULL_HANDLE;
    const VkResult result = sim_enter(d->gpu, d, SIM_FN_vkCreateCommandPool);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct sim_object* pool =
        sim_object_create(d, SIM_KIND_COMMAND_POOL, sizeof(struct sim_object), pAllocator);
    if (pool == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *pCommandPool = (VkCommandPool)pool->handle;
    return VK_SUCCESS;
}

/* Removes one command buffer of a pool from the table. Returns NULL when none is left. Lock
 * held. */
static struct sim_command_buffer* sim_pool_pop(struct sim_device* device, uint64_t pool)
{
    for (uint32_t i = 0; i < device->slot_count; i++) {
        struct sim_object* object = device->slots[i].object;
        if (object == NULL || object->kind != SIM_KIND_COMMAND_BUFFER) {
            continue;
        }
        struct sim_command_buffer* buffer = (struct sim_command_buffer*)object;
        if (buffer->pool == pool) {
            sim_record_empty(buffer, SIM_FN_vkDestroyCommandPool);
            sim_object_remove(object);
            return buffer;
        }
    }
    return NULL;
}

static VKAPI_ATTR void VKAPI_CALL sim_destroy_command_pool(VkDevice device,
                                                           VkCommandPool commandPool,
                                                           const VkAllocationCallbacks* pAllocator)
{
    struct sim_device* d = SIM_DEVICE(device);
    sim_enter(d->gpu, d, SIM_FN_vkDestroyCommandPool);
    sim_lock_gpu(d->gpu);
    struct sim_object* pool = sim_object_retire(
        d, SIM_FN_vkDestroyCommandPool, SIM_HANDLE(commandPool), SIM_KIND_COMMAND_POOL, pAllocator);
    sim_unlock_gpu(d->gpu);
    while (pool != NULL) {
        sim_lock_gpu(d->gpu);
        struct sim_command_buffer* buffer = sim_pool_pop(d, SIM_HANDLE(commandPool));
        sim_unlock_gpu(d->gpu);
        if (buffer == NULL) {
            break;
        }
        sim_command_release(buffer);
    }
    sim_object_release(pool);
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_reset_command_pool(VkDevice device,
                                                             VkCommandPool commandPool,
                                                             VkCommandPoolResetFlags flags)
{
    struct sim_device* d = SIM_DEVICE(device);
    (void)flags;
    const VkResult result = sim_enter(d->gpu, d, SIM_FN_vkResetCommandPool);
    if (result != VK_SUCCESS) {
        return result;
    }
    sim_lock_gpu(d->gpu);
    sim_object_get(d, SIM_FN_vkResetCommandPool, SIM_HANDLE(commandPool), SIM_KIND_COMMAND_POOL);
    for (uint32_t i = 0; i < d->slot_count; i++) {
        struct sim_object* object = d->slots[i].object;
        if (object != NULL && object->kind == SIM_KIND_COMMAND_BUFFER) {
            struct sim_command_buffer* buffer = (struct sim_command_buffer*)object;
            if (buffer->pool == SIM_HANDLE(commandPool)) {
                buffer->state = SIM_COMMAND_INITIAL;
                buffer->use_count = 0;
                sim_record_empty(buffer, SIM_FN_vkResetCommandPool);
            }
        }
    }
    sim_unlock_gpu(d->gpu);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL sim_trim_command_pool(VkDevice device, VkCommandPool commandPool,
                                                        VkCommandPoolTrimFlags flags)
{
    struct sim_device* d = SIM_DEVICE(device);
    (void)flags;
    sim_enter(d->gpu, d, SIM_FN_vkTrimCommandPool);
    sim_lock_gpu(d->gpu);
    sim_object_get(d, SIM_FN_vkTrimCommandPool, SIM_HANDLE(commandPool), SIM_KIND_COMMAND_POOL);
    sim_unlock_gpu(d->gpu);
}

static void sim_free_buffers(struct sim_device* d, uint32_t count, const VkCommandBuffer* buffers)
{
    for (uint32_t i = 0; i < count; i++) {
        struct sim_command_buffer* buffer = (struct sim_command_buffer*)(void*)buffers[i];
        if (buffer != NULL) {
            sim_lock_gpu(d->gpu);
            sim_record_empty(buffer, SIM_FN_vkFreeCommandBuffers);
            sim_object_remove(&buffer->object);
            sim_unlock_gpu(d->gpu);
            sim_command_release(buffer);
        }
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL
sim_allocate_command_buffers(VkDevice device, const VkCommandBufferAllocateInfo* pAllocateInfo,
                             VkCommandBuffer* pCommandBuffers)
{
    struct sim_device* d = SIM_DEVICE(device);
    for (uint32_t i = 0; i < pAllocateInfo->commandBufferCount; i++) {
        pCommandBuffers[i] = VK_NULL_HANDLE;
    }
    const VkResult result = sim_enter(d->gpu, d, SIM_FN_vkAllocateCommandBuffers);
    if (result != VK_SUCCESS) {
        return result;
    }
    for (uint32_t i = 0; i < pAllocateInfo->commandBufferCount; i++) {
        struct sim_command_buffer* buffer =
            sim_object_create(d, SIM_KIND_COMMAND_BUFFER, sizeof(struct sim_command_buffer), NULL);
        if (buffer == NULL) {
            sim_free_buffers(d, i, pCommandBuffers);
            for (uint32_t k = 0; k < i; k++) {
                pCommandBuffers[k] = VK_NULL_HANDLE;
            }
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        sim_lock_gpu(d->gpu); /* another thread may look for the buffers of a pool of its own */
        buffer->pool = SIM_HANDLE(pAllocateInfo->commandPool);
        buffer->secondary = pAllocateInfo->level == VK_COMMAND_BUFFER_LEVEL_SECONDARY;
        sim_unlock_gpu(d->gpu);
        pCommandBuffers[i] = (VkCommandBuffer)(void*)buffer;
    }
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL sim_free_command_buffers(VkDevice device,
                                                           VkCommandPool commandPool,
                                                           uint32_t commandBufferCount,
                                                           const VkCommandBuffer* pCommandBuffers)
{
    struct sim_device* d = SIM_DEVICE(device);
    (void)commandPool;
    sim_enter(d->gpu, d, SIM_FN_vkFreeCommandBuffers);
    sim_free_buffers(d, commandBufferCount, pCommandBuffers);
}

struct sim_recording* sim_command_submit(struct sim_device* device, enum sim_function function,
                                         VkCommandBuffer buffer)
{
    struct sim_command_buffer* self = (struct sim_command_buffer*)(void*)buffer;
    if (self->state != SIM_COMMAND_EXECUTABLE) {
        sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "a command buffer was not ended");
    }
    if (self->recording == NULL) {
        return NULL;
    }
    if (self->secondary || (self->once && self->submitted)) {
        sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "a command buffer is %s",
                    self->secondary ? "secondary" : "for one submission, and had been submitted");
    }
    if (!self->simultaneous && self->recording->references > 1 && !device->lost) {
        sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_IN_USE,
                    "a submission that has not been executed uses the command buffer");
    }
    self->submitted = true;
    return sim_recording_share(self->recording);
}

/* Moves a command buffer to a new state, and checks its old state where the rules name one. */
static VkResult sim_command_move(VkCommandBuffer commandBuffer, enum sim_function function,
                                 bool must_record, enum sim_command_state to)
{
    struct sim_command_buffer* self = (struct sim_command_buffer*)(void*)commandBuffer;
    struct sim_device* d = self->object.device;
    const VkResult result = sim_enter(d->gpu, d, function);
    if (result != VK_SUCCESS) {
        return result;
    }
    sim_lock_gpu(d->gpu);
    if (must_record != (self->state == SIM_COMMAND_RECORDING)) {
        sim_violate(d->gpu, function, MAAR_SIMULATED_VIOLATION_ARGUMENT, "the command buffer is %s",
                    must_record ? "not recording" : "recording");
    }
    self->state = to;
    self->use_count = must_record ? self->use_count : 0;
    if (!must_record) {
        self->records = (d->gpu->flags & MAAR_SIMULATED_EXECUTE_BIT) != 0;
        sim_record_empty(self, function);
    }
    sim_unlock_gpu(d->gpu);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
sim_begin_command_buffer(VkCommandBuffer commandBuffer, const VkCommandBufferBeginInfo* pBeginInfo)
{
    struct sim_command_buffer* self = (struct sim_command_buffer*)(void*)commandBuffer;
    const VkResult result =
        sim_command_move(commandBuffer, SIM_FN_vkBeginCommandBuffer, false, SIM_COMMAND_RECORDING);
    if (result == VK_SUCCESS) {
        self->once = (pBeginInfo->flags & VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT) != 0;
        self->simultaneous =
            (pBeginInfo->flags & VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT) != 0;
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_end_command_buffer(VkCommandBuffer commandBuffer)
{
    const struct sim_command_buffer* self = (const struct sim_command_buffer*)(void*)commandBuffer;
    const VkResult result =
        sim_command_move(commandBuffer, SIM_FN_vkEndCommandBuffer, true, SIM_COMMAND_EXECUTABLE);
    return result == VK_SUCCESS && self->record_failed ? VK_ERROR_OUT_OF_HOST_MEMORY : result;
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_reset_command_buffer(VkCommandBuffer commandBuffer,
                                                               VkCommandBufferResetFlags flags)
{
    (void)flags;
    struct sim_command_buffer* self = (struct sim_command_buffer*)(void*)commandBuffer;
    struct sim_device* d = self->object.device;
    const VkResult result = sim_enter(d->gpu, d, SIM_FN_vkResetCommandBuffer);
    if (result == VK_SUCCESS) {
        sim_lock_gpu(d->gpu);
        self->state = SIM_COMMAND_INITIAL;
        self->use_count = 0;
        sim_record_empty(self, SIM_FN_vkResetCommandBuffer);
        sim_unlock_gpu(d->gpu);
    }
    return result;
}

const struct sim_entry sim_command_entries[] = {
    SIM_ENTRY(vkCreateCommandPool, sim_create_command_pool),
    SIM_ENTRY(vkDestroyCommandPool, sim_destroy_command_pool),
    SIM_ENTRY(vkResetCommandPool, sim_reset_command_pool),
    SIM_ENTRY(vkTrimCommandPool, sim_trim_command_pool),
    SIM_ENTRY(vkAllocateCommandBuffers, sim_allocate_command_buffers),
    SIM_ENTRY(vkFreeCommandBuffers, sim_free_command_buffers),
    SIM_ENTRY(vkBeginCommandBuffer, sim_begin_command_buffer),
    SIM_ENTRY(vkEndCommandBuffer, sim_end_command_buffer),
    SIM_ENTRY(vkResetCommandBuffer, sim_reset_command_buffer),
    {SIM_FN_COUNT, NULL},
};
