/*
 * Buffers and images, with what the driver wants for them.
 */
#include "core/chain.h"
#include "layer/layer_capture.h"
#include "layer/layer_modules.h"
#include "layer/layer_needs.h"
#include "layer/layer_uses.h"

static uint32_t external_types(const void* chain, VkStructureType type)
{
    /* The structures of buffers and of images have the same layout. */
    const VkExternalMemoryBufferCreateInfo* const found = maar_chain_find(chain, (int)type);
    return found != NULL ? found->handleTypes : 0;
}

static void record_buffer(const struct layer_device* device, const VkBufferCreateInfo* info,
                          VkBuffer buffer, uint64_t caller)
{
    const struct layer_usage_flags2* const usage =
        maar_chain_find(info->pNext, LAYER_TYPE_BUFFER_USAGE_FLAGS_2);
    struct layer_needs needs = {0};
    MaarCaptureBuffer record = {
        .device = device->number,
        .createFlags = info->flags,
        .buffer = MAAR_TO_BITS(buffer),
        .size = info->size,
        .usage = usage != NULL ? usage->usage : info->usage,
        .handleTypes =
            external_types(info->pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO),
        .caller = caller,
    };
    if ((record.handleTypes & LAYER_HANDLE_TYPES_BOUND_FIRST) == 0) {
        maar_layer_buffer_needs(device, buffer, &needs);
    }
    record.needsSize = needs.size;
    record.needsAlignment = needs.alignment;
    record.typeBits = needs.type_bits;
    record.needsFlags = needs.flags;
    maar_layer_record_module(caller);
    maar_layer_write(device, MAAR_CAPTURE_KIND_BUFFER, &record, sizeof record);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo* info,
                                                    const VkAllocationCallbacks* callbacks,
                                                    VkBuffer* buffer)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    const VkResult result = state->next.CreateBuffer(device, info, callbacks, buffer);
    if (result == VK_SUCCESS && state->number != 0) {
        record_buffer(state, info, *buffer, LAYER_CALLER());
        maar_layer_use_buffer_begins(state, *buffer, info->size);
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_buffer(VkDevice device, VkBuffer buffer,
                                                 const VkAllocationCallbacks* callbacks)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    if (buffer != VK_NULL_HANDLE) {
        maar_layer_write_end(state, MAAR_CAPTURE_KIND_BUFFER_END, MAAR_TO_BITS(buffer));
        maar_layer_use_object_ends(state, MAAR_TO_BITS(buffer), false);
    }
    state->next.DestroyBuffer(device, buffer, callbacks);
}

static uint8_t tiling_of(VkImageTiling tiling)
{
    if (tiling == VK_IMAGE_TILING_OPTIMAL) {
        return 0;
    }
    return tiling == VK_IMAGE_TILING_LINEAR ? 1 : 2;
}

static uint16_t layout_of(VkImageLayout layout)
{
    return (uint32_t)layout <= UINT16_MAX ? (uint16_t)layout : UINT16_MAX;
}

static void record_image(const struct layer_device* device, const VkImageCreateInfo* info,
                         VkImage image, uint64_t caller)
{
    struct layer_needs needs = {0};
    MaarCaptureImage record = {
        .device = device->number,
        .createFlags = info->flags,
        .image = MAAR_TO_BITS(image),
        .format = (uint32_t)info->format,
        .usage = info->usage,
        .width = info->extent.width,
        .height = info->extent.height,
        .depth = info->extent.depth,
        .mipLevels = (uint16_t)info->mipLevels,
        .samples = (uint16_t)info->samples,
        .arrayLayers = info->arrayLayers,
        .imageType = (uint8_t)info->imageType,
        .tiling = tiling_of(info->tiling),
        .initialLayout = layout_of(info->initialLayout),
        .handleTypes =
            external_types(info->pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO) |
            external_types(info->pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO_NV),
        .caller = caller,
    };
    const VkImageSwapchainCreateInfoKHR* const swapchain =
        maar_chain_find(info->pNext, VK_STRUCTURE_TYPE_IMAGE_SWAPCHAIN_CREATE_INFO_KHR);
    if (swapchain != NULL && swapchain->swapchain != VK_NULL_HANDLE) {
        needs.flags = MAAR_CAPTURE_NEEDS_SWAPCHAIN_BIT;
    } else if ((record.handleTypes & LAYER_HANDLE_TYPES_BOUND_FIRST) == 0) {
        maar_layer_image_needs(device, info, image, &needs);
    }
    record.needsSize = needs.size;
    record.needsAlignment = needs.alignment;
    record.typeBits = needs.type_bits;
    record.needsFlags = needs.flags;
    maar_layer_record_module(caller);
    maar_layer_write(device, MAAR_CAPTURE_KIND_IMAGE, &record, sizeof record);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_image(VkDevice device, const VkImageCreateInfo* info,
                                                   const VkAllocationCallbacks* callbacks,
                                                   VkImage* image)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    const VkResult result = state->next.CreateImage(device, info, callbacks, image);
    if (result == VK_SUCCESS && state->number != 0) {
        record_image(state, info, *image, LAYER_CALLER());
        maar_layer_use_image_begins(state, *image, info);
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_image(VkDevice device, VkImage image,
                                                const VkAllocationCallbacks* callbacks)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    if (image != VK_NULL_HANDLE) {
        maar_layer_write_end(state, MAAR_CAPTURE_KIND_IMAGE_END, MAAR_TO_BITS(image));
        maar_layer_use_object_ends(state, MAAR_TO_BITS(image), true);
    }
    state->next.DestroyImage(device, image, callbacks);
}

const struct layer_hook maar_layer_object_hooks[] = {
    LAYER_HOOK(CreateBuffer, create_buffer),
    LAYER_HOOK(DestroyBuffer, destroy_buffer),
    LAYER_HOOK(CreateImage, create_image),
    LAYER_HOOK(DestroyImage, destroy_image),
    {NULL, NULL},
};
