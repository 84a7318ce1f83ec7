/*
 * Command pools and buffers. The driver checks the handles of each command: they must be live and
 * bound to memory. It records only the resources that a command uses.
 */
#include "backends/simulated/sim_command.h"

#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_entries.h"
#include "backends/simulated/sim_format.h"
#include "backends/simulated/sim_resource.h"
#include "backends/simulated/sim_submission.h"

#include <string.h>

enum { SIM_FIRST_USES = 8 };

static const VkDeviceSize sim_all_bytes = UINT64_MAX;

void sim_command_release(struct sim_command_buffer* buffer)
{
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
        buffer->pool = SIM_HANDLE(pAllocateInfo->commandPool);
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

void sim_command_check_submit(struct sim_device* device, enum sim_function function,
                              VkCommandBuffer buffer)
{
    const struct sim_command_buffer* self = (const struct sim_command_buffer*)(void*)buffer;
    if (self->state != SIM_COMMAND_EXECUTABLE) {
        sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "a command buffer was not ended");
    }
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
    sim_unlock_gpu(d->gpu);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
sim_begin_command_buffer(VkCommandBuffer commandBuffer, const VkCommandBufferBeginInfo* pBeginInfo)
{
    (void)pBeginInfo;
    return sim_command_move(commandBuffer, SIM_FN_vkBeginCommandBuffer, false,
                            SIM_COMMAND_RECORDING);
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_end_command_buffer(VkCommandBuffer commandBuffer)
{
    return sim_command_move(commandBuffer, SIM_FN_vkEndCommandBuffer, true, SIM_COMMAND_EXECUTABLE);
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_reset_command_buffer(VkCommandBuffer commandBuffer,
                                                               VkCommandBufferResetFlags flags)
{
    (void)flags;
    struct sim_command_buffer* self = (struct sim_command_buffer*)(void*)commandBuffer;
    struct sim_device* d = self->object.device;
    const VkResult result = sim_enter(d->gpu, d, SIM_FN_vkResetCommandBuffer);
    if (result == VK_SUCCESS) {
        self->state = SIM_COMMAND_INITIAL;
        self->use_count = 0;
    }
    return result;
}

/* Checks that a resource which a command uses is live and bound to live memory. */
static void sim_command_check_use(struct sim_device* d, enum sim_function function, uint64_t handle,
                                  enum sim_kind kind)
{
    const struct sim_resource* resource = sim_object_get(d, function, handle, kind);
    for (uint32_t i = 0; resource != NULL && !resource->sparse && i < resource->plane_count; i++) {
        if (sim_object_peek(d, resource->memory[i], SIM_KIND_MEMORY) == NULL) {
            sim_violate(d->gpu, function, MAAR_SIMULATED_VIOLATION_UNBOUND, "the %s has no memory",
                        sim_kind_name(kind));
        }
    }
}

/* Makes room in a command buffer's list of uses. Returns false without host memory. */
static bool sim_command_grow(struct sim_command_buffer* self)
{
    const VkAllocationCallbacks* callbacks = self->object.device->callbacks;
    const uint32_t capacity = self->use_capacity == 0 ? SIM_FIRST_USES : self->use_capacity * 2;
    struct sim_use* uses = maar_host_calloc(callbacks, capacity, sizeof(*uses));
    if (uses == NULL) {
        return false;
    }
    if (self->uses != NULL) {
        memcpy(uses, self->uses, self->use_count * sizeof(*uses));
    }
    maar_host_free(callbacks, self->uses);
    self->uses = uses;
    self->use_capacity = capacity;
    return true;
}

/* Adds a use to the command buffer, for its submission. One thread at a time uses a command
 * buffer. */
static void sim_command_keep(struct sim_command_buffer* self, const struct sim_use* use)
{
    if (self->uses != NULL && self->use_count != 0) {
        const struct sim_use* last = &self->uses[self->use_count - 1];
        if (last->resource == use->resource && last->at == use->at && last->size == use->size) {
            return;
        }
    }
    if (self->uses == NULL || self->use_count == self->use_capacity) {
        if (!sim_command_grow(self)) {
            return;
        }
    }
    self->uses[self->use_count++] = *use;
}

/* Begins every command. */
static void sim_command(VkCommandBuffer commandBuffer, enum sim_function function)
{
    struct sim_command_buffer* self = (struct sim_command_buffer*)(void*)commandBuffer;
    struct sim_device* d = self->object.device;
    sim_enter(d->gpu, d, function);
    sim_lock_gpu(d->gpu);
    if (self->state != SIM_COMMAND_RECORDING) {
        sim_violate(d->gpu, function, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "the command buffer is not recording");
    }
    sim_unlock_gpu(d->gpu);
}

/* Records the ranges of a buffer that a command uses. */
static struct sim_command_buffer* sim_command_use(VkCommandBuffer commandBuffer,
                                                  enum sim_function function, uint64_t handle,
                                                  enum sim_kind kind)
{
    struct sim_command_buffer* self = (struct sim_command_buffer*)(void*)commandBuffer;
    struct sim_device* d = self->object.device;
    sim_lock_gpu(d->gpu);
    sim_command_check_use(d, function, handle, kind);
    sim_unlock_gpu(d->gpu);
    return self;
}

static void sim_command_use_buffer(VkCommandBuffer commandBuffer, enum sim_function function,
                                   VkBuffer buffer, VkDeviceSize at, VkDeviceSize size)
{
    const struct sim_use use = {SIM_HANDLE(buffer), at, size};
    struct sim_command_buffer* self =
        sim_command_use(commandBuffer, function, use.resource, SIM_KIND_BUFFER);
    sim_command_keep(self, &use);
}

static void sim_command_use_image(VkCommandBuffer commandBuffer, enum sim_function function,
                                  VkImage image)
{
    const struct sim_use use = {SIM_HANDLE(image), 0, sim_all_bytes};
    struct sim_command_buffer* self =
        sim_command_use(commandBuffer, function, use.resource, SIM_KIND_IMAGE);
    sim_command_keep(self, &use);
}

/* Records the tiles of one layer that hold the given texels, row by row. */
static void sim_command_keep_tiles(struct sim_command_buffer* self,
                                   const struct sim_resource* image, const struct sim_cut* cut,
                                   uint32_t layer, uint32_t mip_level, const VkOffset3D* offset,
                                   const VkExtent3D* extent)
{
    const VkExtent3D tile = cut->format.imageGranularity;
    const VkExtent3D level = sim_sparse_tiles(image, cut, mip_level);
    const VkDeviceSize base = sim_sparse_level_at(image, cut, layer, mip_level);
    const uint32_t x = (uint32_t)offset->x / tile.width;
    const uint32_t y = (uint32_t)offset->y / tile.height;
    const uint32_t z = (uint32_t)offset->z / tile.depth;
    const uint32_t width = ((uint32_t)offset->x + extent->width + tile.width - 1u) / tile.width - x;
    const uint32_t height =
        ((uint32_t)offset->y + extent->height + tile.height - 1u) / tile.height - y;
    const uint32_t depth = ((uint32_t)offset->z + extent->depth + tile.depth - 1u) / tile.depth - z;
    for (uint32_t row = 0; row < height * depth; row++) {
        const VkDeviceSize at_y = y + row % height;
        const VkDeviceSize at_z = z + row / height;
        const VkDeviceSize at =
            base + ((at_z * level.height + at_y) * level.width + x) * image->pages.page;
        sim_command_keep(self,
                         &(struct sim_use){image->object.handle, at, width * image->pages.page});
    }
}

/* Records the texels of an image that a command uses: the tiles that hold them, or the whole mip
 * tail. */
static void sim_command_use_texels(VkCommandBuffer commandBuffer, enum sim_function function,
                                   VkImage image, const VkImageSubresourceLayers* layers,
                                   const VkOffset3D* offset, const VkExtent3D* extent)
{
    const uint64_t handle = SIM_HANDLE(image);
    struct sim_command_buffer* self =
        sim_command_use(commandBuffer, function, handle, SIM_KIND_IMAGE);
    struct sim_device* d = self->object.device;
    sim_lock_gpu(d->gpu);
    const struct sim_resource* found = sim_object_peek(d, handle, SIM_KIND_IMAGE);
    sim_unlock_gpu(d->gpu);
    if (found == NULL || !found->pages.residency) {
        sim_command_keep(self, &(struct sim_use){handle, 0, sim_all_bytes});
        return;
    }
    for (uint32_t c = 0; c < found->pages.cut_count; c++) {
        const struct sim_cut* cut = &found->pages.cuts[c];
        const uint32_t first = layers->baseArrayLayer;
        for (uint32_t layer = first; (cut->format.aspectMask & layers->aspectMask) != 0 &&
                                     layer < found->layers && layer - first < layers->layerCount;
             layer++) {
            if (layers->mipLevel >= cut->tail_first) {
                const VkDeviceSize at = cut->tail.at + cut->tail.at_stride * layer;
                sim_command_keep(self, &(struct sim_use){handle, at, cut->tail.size});
            } else {
                sim_command_keep_tiles(self, found, cut, layer, layers->mipLevel, offset, extent);
            }
        }
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_fill_buffer(VkCommandBuffer commandBuffer,
                                                      VkBuffer dstBuffer, VkDeviceSize dstOffset,
                                                      VkDeviceSize size, uint32_t data)
{
    (void)data;
    sim_command(commandBuffer, SIM_FN_vkCmdFillBuffer);
    sim_command_use_buffer(commandBuffer, SIM_FN_vkCmdFillBuffer, dstBuffer, dstOffset, size);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_update_buffer(VkCommandBuffer commandBuffer,
                                                        VkBuffer dstBuffer, VkDeviceSize dstOffset,
                                                        VkDeviceSize dataSize, const void* pData)
{
    (void)pData;
    sim_command(commandBuffer, SIM_FN_vkCmdUpdateBuffer);
    sim_command_use_buffer(commandBuffer, SIM_FN_vkCmdUpdateBuffer, dstBuffer, dstOffset, dataSize);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_copy_buffer(VkCommandBuffer commandBuffer,
                                                      VkBuffer srcBuffer, VkBuffer dstBuffer,
                                                      uint32_t regionCount,
                                                      const VkBufferCopy* pRegions)
{
    sim_command(commandBuffer, SIM_FN_vkCmdCopyBuffer);
    for (uint32_t i = 0; i < regionCount; i++) {
        sim_command_use_buffer(commandBuffer, SIM_FN_vkCmdCopyBuffer, srcBuffer,
                               pRegions[i].srcOffset, pRegions[i].size);
        sim_command_use_buffer(commandBuffer, SIM_FN_vkCmdCopyBuffer, dstBuffer,
                               pRegions[i].dstOffset, pRegions[i].size);
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_copy_image(VkCommandBuffer commandBuffer,
                                                     VkImage srcImage, VkImageLayout srcLayout,
                                                     VkImage dstImage, VkImageLayout dstLayout,
                                                     uint32_t regionCount,
                                                     const VkImageCopy* pRegions)
{
    (void)srcLayout, (void)dstLayout;
    sim_command(commandBuffer, SIM_FN_vkCmdCopyImage);
    for (uint32_t i = 0; i < regionCount; i++) {
        const VkImageCopy* r = &pRegions[i];
        sim_command_use_texels(commandBuffer, SIM_FN_vkCmdCopyImage, srcImage, &r->srcSubresource,
                               &r->srcOffset, &r->extent);
        sim_command_use_texels(commandBuffer, SIM_FN_vkCmdCopyImage, dstImage, &r->dstSubresource,
                               &r->dstOffset, &r->extent);
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_copy_buffer_to_image(VkCommandBuffer commandBuffer,
                                                               VkBuffer srcBuffer, VkImage dstImage,
                                                               VkImageLayout dstLayout,
                                                               uint32_t regionCount,
                                                               const VkBufferImageCopy* pRegions)
{
    (void)dstLayout;
    sim_command(commandBuffer, SIM_FN_vkCmdCopyBufferToImage);
    for (uint32_t i = 0; i < regionCount; i++) {
        sim_command_use_buffer(commandBuffer, SIM_FN_vkCmdCopyBufferToImage, srcBuffer,
                               pRegions[i].bufferOffset, sim_all_bytes);
        sim_command_use_texels(commandBuffer, SIM_FN_vkCmdCopyBufferToImage, dstImage,
                               &pRegions[i].imageSubresource, &pRegions[i].imageOffset,
                               &pRegions[i].imageExtent);
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_copy_image_to_buffer(
    VkCommandBuffer commandBuffer, VkImage srcImage, VkImageLayout srcLayout, VkBuffer dstBuffer,
    uint32_t regionCount, const VkBufferImageCopy* pRegions)
{
    (void)srcLayout;
    sim_command(commandBuffer, SIM_FN_vkCmdCopyImageToBuffer);
    for (uint32_t i = 0; i < regionCount; i++) {
        sim_command_use_buffer(commandBuffer, SIM_FN_vkCmdCopyImageToBuffer, dstBuffer,
                               pRegions[i].bufferOffset, sim_all_bytes);
        sim_command_use_texels(commandBuffer, SIM_FN_vkCmdCopyImageToBuffer, srcImage,
                               &pRegions[i].imageSubresource, &pRegions[i].imageOffset,
                               &pRegions[i].imageExtent);
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_clear_color_image(VkCommandBuffer commandBuffer,
                                                            VkImage image, VkImageLayout layout,
                                                            const VkClearColorValue* pColor,
                                                            uint32_t rangeCount,
                                                            const VkImageSubresourceRange* pRanges)
{
    (void)layout, (void)pColor, (void)rangeCount, (void)pRanges;
    sim_command(commandBuffer, SIM_FN_vkCmdClearColorImage);
    sim_command_use_image(commandBuffer, SIM_FN_vkCmdClearColorImage, image);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_clear_depth_stencil_image(
    VkCommandBuffer commandBuffer, VkImage image, VkImageLayout layout,
    const VkClearDepthStencilValue* pDepthStencil, uint32_t rangeCount,
    const VkImageSubresourceRange* pRanges)
{
    (void)layout, (void)pDepthStencil, (void)rangeCount, (void)pRanges;
    sim_command(commandBuffer, SIM_FN_vkCmdClearDepthStencilImage);
    sim_command_use_image(commandBuffer, SIM_FN_vkCmdClearDepthStencilImage, image);
}

/* Checks a queue family that a barrier names: a family of the device, the ignored family, or an
 * external family if its extension is enabled. Lock held. */
static void sim_check_family(struct sim_device* device, enum sim_function function, uint32_t family)
{
    const bool external = family == VK_QUEUE_FAMILY_EXTERNAL;
    const bool foreign = family == VK_QUEUE_FAMILY_FOREIGN_EXT;
    const enum sim_extension extension = foreign ? SIM_EXT_QUEUE_FOREIGN : SIM_EXT_EXTERNAL_MEMORY;
    if (external || foreign) {
        if ((foreign || device->api_minor == 0) && (device->extensions >> extension & 1u) == 0) {
            sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_FEATURE,
                        "a queue family outside the device needs %s",
                        sim_extension_name(extension));
        }
    } else if (family != VK_QUEUE_FAMILY_IGNORED &&
               family >= device->gpu->profile.queueFamilyCount) {
        sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "there is no queue family %u", family);
    }
}

static void sim_check_families(struct sim_device* device, enum sim_function function, uint32_t src,
                               uint32_t dst)
{
    sim_check_family(device, function, src);
    sim_check_family(device, function, dst);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_pipeline_barrier(
    VkCommandBuffer commandBuffer, VkPipelineStageFlags srcStageMask,
    VkPipelineStageFlags dstStageMask, VkDependencyFlags dependencyFlags,
    uint32_t memoryBarrierCount, const VkMemoryBarrier* pMemoryBarriers,
    uint32_t bufferMemoryBarrierCount, const VkBufferMemoryBarrier* pBufferMemoryBarriers,
    uint32_t imageMemoryBarrierCount, const VkImageMemoryBarrier* pImageMemoryBarriers)
{
    const enum sim_function function = SIM_FN_vkCmdPipelineBarrier;
    struct sim_device* d = ((struct sim_command_buffer*)(void*)commandBuffer)->object.device;
    (void)srcStageMask, (void)dstStageMask, (void)dependencyFlags, (void)memoryBarrierCount;
    (void)pMemoryBarriers;
    sim_command(commandBuffer, function);
    sim_lock_gpu(d->gpu);
    for (uint32_t i = 0; i < bufferMemoryBarrierCount; i++) {
        sim_check_families(d, function, pBufferMemoryBarriers[i].srcQueueFamilyIndex,
                           pBufferMemoryBarriers[i].dstQueueFamilyIndex);
    }
    for (uint32_t i = 0; i < imageMemoryBarrierCount; i++) {
        sim_check_families(d, function, pImageMemoryBarriers[i].srcQueueFamilyIndex,
                           pImageMemoryBarriers[i].dstQueueFamilyIndex);
    }
    sim_unlock_gpu(d->gpu);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_pipeline_barrier2(VkCommandBuffer commandBuffer,
                                                            const VkDependencyInfo* pDependencyInfo)
{
    struct sim_command_buffer* self = (struct sim_command_buffer*)(void*)commandBuffer;
    struct sim_device* d = self->object.device;
    const enum sim_function function = SIM_FN_vkCmdPipelineBarrier2;
    sim_command(commandBuffer, function);
    sim_lock_gpu(d->gpu);
    sim_need_feature(d, function, SIM_FEATURE_SYNCHRONIZATION2, "synchronization2");
    for (uint32_t i = 0; i < pDependencyInfo->bufferMemoryBarrierCount; i++) {
        const VkBufferMemoryBarrier2* barrier = &pDependencyInfo->pBufferMemoryBarriers[i];
        sim_check_families(d, function, barrier->srcQueueFamilyIndex, barrier->dstQueueFamilyIndex);
    }
    for (uint32_t i = 0; i < pDependencyInfo->imageMemoryBarrierCount; i++) {
        const VkImageMemoryBarrier2* barrier = &pDependencyInfo->pImageMemoryBarriers[i];
        sim_check_families(d, function, barrier->srcQueueFamilyIndex, barrier->dstQueueFamilyIndex);
    }
    sim_unlock_gpu(d->gpu);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_bind_pipeline(VkCommandBuffer commandBuffer,
                                                        VkPipelineBindPoint bindPoint,
                                                        VkPipeline pipeline)
{
    (void)bindPoint, (void)pipeline;
    sim_command(commandBuffer, SIM_FN_vkCmdBindPipeline);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_bind_descriptor_sets(
    VkCommandBuffer commandBuffer, VkPipelineBindPoint bindPoint, VkPipelineLayout layout,
    uint32_t firstSet, uint32_t setCount, const VkDescriptorSet* pSets, uint32_t offsetCount,
    const uint32_t* pOffsets)
{
    (void)bindPoint, (void)layout, (void)firstSet, (void)setCount, (void)pSets;
    (void)offsetCount, (void)pOffsets;
    sim_command(commandBuffer, SIM_FN_vkCmdBindDescriptorSets);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_push_constants(VkCommandBuffer commandBuffer,
                                                         VkPipelineLayout layout,
                                                         VkShaderStageFlags stageFlags,
                                                         uint32_t offset, uint32_t size,
                                                         const void* pValues)
{
    (void)layout, (void)stageFlags, (void)offset, (void)size, (void)pValues;
    sim_command(commandBuffer, SIM_FN_vkCmdPushConstants);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_dispatch(VkCommandBuffer commandBuffer, uint32_t x,
                                                   uint32_t y, uint32_t z)
{
    (void)x, (void)y, (void)z;
    sim_command(commandBuffer, SIM_FN_vkCmdDispatch);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_reset_query_pool(VkCommandBuffer commandBuffer,
                                                           VkQueryPool queryPool,
                                                           uint32_t firstQuery, uint32_t queryCount)
{
    (void)queryPool, (void)firstQuery, (void)queryCount;
    sim_command(commandBuffer, SIM_FN_vkCmdResetQueryPool);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_write_timestamp(VkCommandBuffer commandBuffer,
                                                          VkPipelineStageFlagBits stage,
                                                          VkQueryPool queryPool, uint32_t query)
{
    (void)stage, (void)queryPool, (void)query;
    sim_command(commandBuffer, SIM_FN_vkCmdWriteTimestamp);
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
    SIM_ENTRY(vkCmdFillBuffer, sim_cmd_fill_buffer),
    SIM_ENTRY(vkCmdUpdateBuffer, sim_cmd_update_buffer),
    SIM_ENTRY(vkCmdCopyBuffer, sim_cmd_copy_buffer),
    SIM_ENTRY(vkCmdCopyImage, sim_cmd_copy_image),
    SIM_ENTRY(vkCmdCopyBufferToImage, sim_cmd_copy_buffer_to_image),
    SIM_ENTRY(vkCmdCopyImageToBuffer, sim_cmd_copy_image_to_buffer),
    SIM_ENTRY(vkCmdClearColorImage, sim_cmd_clear_color_image),
    SIM_ENTRY(vkCmdClearDepthStencilImage, sim_cmd_clear_depth_stencil_image),
    SIM_ENTRY(vkCmdPipelineBarrier, sim_cmd_pipeline_barrier),
    SIM_ENTRY(vkCmdPipelineBarrier2, sim_cmd_pipeline_barrier2),
    SIM_ENTRY(vkCmdBindPipeline, sim_cmd_bind_pipeline),
    SIM_ENTRY(vkCmdBindDescriptorSets, sim_cmd_bind_descriptor_sets),
    SIM_ENTRY(vkCmdPushConstants, sim_cmd_push_constants),
    SIM_ENTRY(vkCmdDispatch, sim_cmd_dispatch),
    SIM_ENTRY(vkCmdResetQueryPool, sim_cmd_reset_query_pool),
    SIM_ENTRY(vkCmdWriteTimestamp, sim_cmd_write_timestamp),
    {SIM_FN_COUNT, NULL},
};
