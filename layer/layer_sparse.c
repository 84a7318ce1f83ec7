/*
 * vkQueueBindSparse.
 */
#include "core/chain.h"
#include "layer/layer_capture.h"
#include "layer/layer_submit.h"
#include "layer/layer_sync.h"

enum { MOST_ASPECTS = 8 }; /* of a sparse image */

/* Writes a bind of bytes. What it leaves open of the record is 0. */
static void record_bytes(const struct layer_device* device, MaarCaptureSparseBind record,
                         const VkSparseMemoryBind* bind)
{
    record.device = device->number;
    record.memory = MAAR_TO_BITS(bind->memory);
    record.memoryOffset = bind->memoryOffset;
    record.offset = bind->resourceOffset;
    record.size = bind->size;
    record.form = (bind->flags & VK_SPARSE_MEMORY_BIND_METADATA_BIT) != 0
                      ? MAAR_CAPTURE_SPARSE_METADATA
                      : MAAR_CAPTURE_SPARSE_BYTES;
    maar_layer_write(device, MAAR_CAPTURE_KIND_SPARSE_BIND, &record, sizeof record);
}

/* The pages of a sparse image. */
struct sparse_pages {
    VkSparseImageMemoryRequirements aspects[MOST_ASPECTS];
    uint32_t aspect_count;
    VkDeviceSize size; /* of one page, in bytes */
};

static void ask_pages(const struct layer_device* device, VkImage image, struct sparse_pages* pages)
{
    VkMemoryRequirements requirements = {0};
    uint32_t count = 0;
    device->next.GetImageMemoryRequirements(device->handle, image, &requirements);
    device->next.GetImageSparseMemoryRequirements(device->handle, image, &count, NULL);
    pages->aspect_count = count < MOST_ASPECTS ? count : MOST_ASPECTS;
    device->next.GetImageSparseMemoryRequirements(device->handle, image, &pages->aspect_count,
                                                  pages->aspects);
    pages->size = requirements.alignment;
}

static uint64_t pages_along(uint32_t texels, uint32_t page)
{
    return page == 0 ? 0 : ((uint64_t)texels + page - 1) / page;
}

/* Returns the bytes of the pages of a box, or 0 if they are not known. */
static uint64_t bytes_of_box(const struct sparse_pages* pages, const VkSparseImageMemoryBind* bind)
{
    for (uint32_t i = 0; i < pages->aspect_count; ++i) {
        const VkSparseImageFormatProperties* const format = &pages->aspects[i].formatProperties;
        if ((format->aspectMask & bind->subresource.aspectMask) != 0) {
            const VkExtent3D page = format->imageGranularity;
            return pages_along(bind->extent.width, page.width) *
                   pages_along(bind->extent.height, page.height) *
                   pages_along(bind->extent.depth, page.depth) * pages->size;
        }
    }
    return 0;
}

static void record_texels(const struct layer_device* device,
                          const VkSparseImageMemoryBindInfo* info, uint64_t submission)
{
    struct sparse_pages pages;
    ask_pages(device, info->image, &pages);
    for (uint32_t i = 0; i < info->bindCount; ++i) {
        const VkSparseImageMemoryBind* const bind = &info->pBinds[i];
        const MaarCaptureSparseBind record = {
            .device = device->number,
            .objectKind = MAAR_CAPTURE_OBJECT_IMAGE,
            .object = MAAR_TO_BITS(info->image),
            .memory = MAAR_TO_BITS(bind->memory),
            .memoryOffset = bind->memoryOffset,
            .size = bytes_of_box(&pages, bind),
            .form = MAAR_CAPTURE_SPARSE_TEXELS,
            .mip = bind->subresource.mipLevel,
            .layer = bind->subresource.arrayLayer,
            .aspect = bind->subresource.aspectMask,
            .origin = {bind->offset.x, bind->offset.y, bind->offset.z},
            .extent = {bind->extent.width, bind->extent.height, bind->extent.depth},
            .submission = submission,
        };
        maar_layer_write(device, MAAR_CAPTURE_KIND_SPARSE_BIND, &record, sizeof record);
    }
}

static void record_binds(const struct layer_device* device, const VkBindSparseInfo* info,
                         uint64_t submission)
{
    MaarCaptureSparseBind record = {.submission = submission};
    record.objectKind = MAAR_CAPTURE_OBJECT_BUFFER;
    for (uint32_t i = 0; i < info->bufferBindCount; ++i) {
        record.object = MAAR_TO_BITS(info->pBufferBinds[i].buffer);
        for (uint32_t j = 0; j < info->pBufferBinds[i].bindCount; ++j) {
            record_bytes(device, record, &info->pBufferBinds[i].pBinds[j]);
        }
    }
    record.objectKind = MAAR_CAPTURE_OBJECT_IMAGE;
    for (uint32_t i = 0; i < info->imageOpaqueBindCount; ++i) {
        record.object = MAAR_TO_BITS(info->pImageOpaqueBinds[i].image);
        for (uint32_t j = 0; j < info->pImageOpaqueBinds[i].bindCount; ++j) {
            record_bytes(device, record, &info->pImageOpaqueBinds[i].pBinds[j]);
        }
    }
    for (uint32_t i = 0; i < info->imageBindCount; ++i) {
        record_texels(device, &info->pImageBinds[i], submission);
    }
}

static void record_bind_batch(struct layer_device* device, VkQueue queue,
                              const VkBindSparseInfo* info, VkFence fence, VkResult result)
{
    const VkTimelineSemaphoreSubmitInfo none = {0};
    const VkTimelineSemaphoreSubmitInfo* values =
        maar_chain_find(info->pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    values = values != NULL ? values : &none;
    MaarCaptureSubmit record = {
        .kind = MAAR_CAPTURE_SUBMIT_BINDS,
        .fence = MAAR_TO_BITS(fence),
        .waitCount = info->waitSemaphoreCount,
        .signalCount = info->signalSemaphoreCount,
    };
    const uint64_t number = maar_layer_record_batch(device, &record, queue, result);
    maar_layer_record_points(device, MAAR_CAPTURE_KIND_SUBMIT_WAIT, number,
                             info->waitSemaphoreCount, info->pWaitSemaphores,
                             values->waitSemaphoreValueCount, values->pWaitSemaphoreValues);
    maar_layer_record_points(device, MAAR_CAPTURE_KIND_SUBMIT_SIGNAL, number,
                             info->signalSemaphoreCount, info->pSignalSemaphores,
                             values->signalSemaphoreValueCount, values->pSignalSemaphoreValues);
    if (result == VK_SUCCESS) {
        record_binds(device, info, number);
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_sparse(VkQueue queue, uint32_t count,
                                                  const VkBindSparseInfo* infos, VkFence fence)
{
    struct layer_device* const state = maar_layer_device_of(queue);
    maar_layer_forget_seen(state, MAAR_TO_BITS(fence));
    const VkResult result = state->next.QueueBindSparse(queue, count, infos, fence);
    if (state->number == 0) {
        return result;
    }
    for (uint32_t i = 0; i < count; ++i) {
        record_bind_batch(state, queue, &infos[i], i + 1 == count ? fence : VK_NULL_HANDLE, result);
    }
    if (count == 0 && fence != VK_NULL_HANDLE) {
        MaarCaptureSubmit record = {.kind = MAAR_CAPTURE_SUBMIT_BINDS,
                                    .fence = MAAR_TO_BITS(fence)};
        (void)maar_layer_record_batch(state, &record, queue, result);
    }
    return result;
}

const struct layer_hook maar_layer_sparse_hooks[] = {
    LAYER_HOOK(QueueBindSparse, bind_sparse),
    {NULL, NULL},
};
