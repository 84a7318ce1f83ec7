/*
 * Binds of buffers and images to memory.
 */
#include "core/chain.h"
#include "layer/layer_capture.h"

/* Of a bind, the result: its own if the program asked for one, else that of the whole call. */
static int32_t result_of_bind(const void* chain, VkResult result)
{
    const struct layer_bind_status* const status =
        maar_chain_find(chain, LAYER_TYPE_BIND_MEMORY_STATUS);
    return status != NULL && status->pResult != NULL ? *status->pResult : result;
}

static void record_buffer_bind(const struct layer_device* device, VkBuffer buffer,
                               VkDeviceMemory memory, VkDeviceSize offset, int32_t result)
{
    const MaarCaptureBind record = {
        .device = device->number,
        .objectKind = MAAR_CAPTURE_OBJECT_BUFFER,
        .object = MAAR_TO_BITS(buffer),
        .memory = MAAR_TO_BITS(memory),
        .offset = offset,
        .result = result,
    };
    maar_layer_write(device, MAAR_CAPTURE_KIND_BIND, &record, sizeof record);
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_buffer(VkDevice device, VkBuffer buffer,
                                                  VkDeviceMemory memory, VkDeviceSize offset)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    const VkResult result = state->next.BindBufferMemory(device, buffer, memory, offset);
    record_buffer_bind(state, buffer, memory, offset, result);
    return result;
}

static VkResult bind_buffers_by(const struct layer_device* device, PFN_vkBindBufferMemory2 next,
                                uint32_t count, const VkBindBufferMemoryInfo* infos)
{
    const VkResult result = next(device->handle, count, infos);
    for (uint32_t i = 0; i < count; ++i) {
        record_buffer_bind(device, infos[i].buffer, infos[i].memory, infos[i].memoryOffset,
                           result_of_bind(infos[i].pNext, result));
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_buffers(VkDevice device, uint32_t count,
                                                   const VkBindBufferMemoryInfo* infos)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    return bind_buffers_by(state, state->next.BindBufferMemory2, count, infos);
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_buffers_khr(VkDevice device, uint32_t count,
                                                       const VkBindBufferMemoryInfo* infos)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    return bind_buffers_by(state, state->next.BindBufferMemory2KHR, count, infos);
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_image(VkDevice device, VkImage image,
                                                 VkDeviceMemory memory, VkDeviceSize offset)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    const VkResult result = state->next.BindImageMemory(device, image, memory, offset);
    const MaarCaptureBind record = {
        .device = state->number,
        .objectKind = MAAR_CAPTURE_OBJECT_IMAGE,
        .object = MAAR_TO_BITS(image),
        .memory = MAAR_TO_BITS(memory),
        .offset = offset,
        .result = result,
    };
    maar_layer_write(state, MAAR_CAPTURE_KIND_BIND, &record, sizeof record);
    return result;
}

/* Returns the number of a plane, from its aspect; those of DRM format modifiers follow the others.
 */
static uint32_t plane_of(VkImageAspectFlagBits aspect)
{
    for (uint32_t i = 0; i < 3; ++i) {
        if ((uint32_t)aspect == (uint32_t)VK_IMAGE_ASPECT_PLANE_0_BIT << i) {
            return i;
        }
    }
    for (uint32_t i = 0; i < 4; ++i) {
        if ((uint32_t)aspect == (uint32_t)VK_IMAGE_ASPECT_MEMORY_PLANE_0_BIT_EXT << i) {
            return i;
        }
    }
    return 0;
}

static void record_image_bind(const struct layer_device* device, const VkBindImageMemoryInfo* info,
                              VkResult result)
{
    const VkBindImagePlaneMemoryInfo* const plane =
        maar_chain_find(info->pNext, VK_STRUCTURE_TYPE_BIND_IMAGE_PLANE_MEMORY_INFO);
    const VkBindImageMemorySwapchainInfoKHR* const swapchain =
        maar_chain_find(info->pNext, VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_SWAPCHAIN_INFO_KHR);
    const bool is_swapchain = swapchain != NULL && swapchain->swapchain != VK_NULL_HANDLE;
    const MaarCaptureBind record = {
        .device = device->number,
        .objectKind = MAAR_CAPTURE_OBJECT_IMAGE,
        .object = MAAR_TO_BITS(info->image),
        .memory = is_swapchain ? 0 : MAAR_TO_BITS(info->memory),
        .offset = is_swapchain ? 0 : info->memoryOffset,
        .plane = plane != NULL ? plane_of(plane->planeAspect) : 0,
        .result = result_of_bind(info->pNext, result),
    };
    maar_layer_write(device, MAAR_CAPTURE_KIND_BIND, &record, sizeof record);
}

static VkResult bind_images_by(const struct layer_device* device, PFN_vkBindImageMemory2 next,
                               uint32_t count, const VkBindImageMemoryInfo* infos)
{
    const VkResult result = next(device->handle, count, infos);
    for (uint32_t i = 0; i < count; ++i) {
        record_image_bind(device, &infos[i], result);
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_images(VkDevice device, uint32_t count,
                                                  const VkBindImageMemoryInfo* infos)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    return bind_images_by(state, state->next.BindImageMemory2, count, infos);
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_images_khr(VkDevice device, uint32_t count,
                                                      const VkBindImageMemoryInfo* infos)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    return bind_images_by(state, state->next.BindImageMemory2KHR, count, infos);
}

const struct layer_hook maar_layer_bind_hooks[] = {
    LAYER_HOOK(BindBufferMemory, bind_buffer),
    LAYER_HOOK(BindBufferMemory2, bind_buffers),
    LAYER_HOOK(BindBufferMemory2KHR, bind_buffers_khr),
    LAYER_HOOK(BindImageMemory, bind_image),
    LAYER_HOOK(BindImageMemory2, bind_images),
    LAYER_HOOK(BindImageMemory2KHR, bind_images_khr),
    {NULL, NULL},
};
