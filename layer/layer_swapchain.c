/*
 * Swapchains. The program allocates no memory for their images, so the layer estimates it: it
 * creates one image with the same properties, asks what the driver wants for it, and destroys it.
 */
#include "core/chain.h"
#include "core/host_memory.h"
#include "layer/layer_capture.h"
#include "layer/layer_needs.h"
#include "layer/layer_uses.h"

/* Returns the bytes of an image that is like those of the swapchain, or 0. */
static uint64_t size_of_twin(const struct layer_device* device,
                             const VkSwapchainCreateInfoKHR* info)
{
    const VkImageFormatListCreateInfo* const listed =
        maar_chain_find(info->pNext, VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO);
    VkImageFormatListCreateInfo formats = {0};
    VkImageCreateInfo twin = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = info->imageFormat,
        .extent = {info->imageExtent.width, info->imageExtent.height, 1},
        .mipLevels = 1,
        .arrayLayers = info->imageArrayLayers,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = info->imageUsage,
        .sharingMode = info->imageSharingMode,
        .queueFamilyIndexCount = info->queueFamilyIndexCount,
        .pQueueFamilyIndices = info->pQueueFamilyIndices,
        .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
    };
    if ((info->flags & VK_SWAPCHAIN_CREATE_MUTABLE_FORMAT_BIT_KHR) != 0) {
        twin.flags |= VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT;
    }
    if (listed != NULL) {
        formats = *listed;
        formats.pNext = NULL;
        twin.pNext = &formats;
    }
    VkImage image = VK_NULL_HANDLE;
    struct layer_needs needs = {0};
    if (device->next.CreateImage(device->handle, &twin, NULL, &image) != VK_SUCCESS) {
        return 0;
    }
    maar_layer_image_needs(device, &twin, image, &needs);
    device->next.DestroyImage(device->handle, image, NULL);
    return needs.size;
}

static void record_images(const struct layer_device* device, const VkSwapchainCreateInfoKHR* info,
                          VkSwapchainKHR swapchain, const VkImage* images, uint32_t count)
{
    const VkImageCreateInfo like = {
        .imageType = VK_IMAGE_TYPE_2D,
        .format = info->imageFormat,
        .extent = {info->imageExtent.width, info->imageExtent.height, 1},
        .mipLevels = 1,
        .arrayLayers = info->imageArrayLayers,
    };
    for (uint32_t i = 0; i < count; ++i) {
        const MaarCaptureSwapchainImage record = {
            .device = device->number,
            .index = i,
            .swapchain = MAAR_TO_BITS(swapchain),
            .image = MAAR_TO_BITS(images[i]),
        };
        maar_layer_write(device, MAAR_CAPTURE_KIND_SWAPCHAIN_IMAGE, &record, sizeof record);
        maar_layer_use_image_begins(device, images[i], &like);
    }
}

static void record_swapchain(const struct layer_device* device,
                             const VkSwapchainCreateInfoKHR* info, VkSwapchainKHR swapchain)
{
    const PFN_vkGetSwapchainImagesKHR list = device->next.GetSwapchainImagesKHR;
    uint32_t count = 0;
    VkImage* images = NULL;
    if (list(device->handle, swapchain, &count, NULL) != VK_SUCCESS) {
        count = 0;
    }
    if (count > 0) {
        images = maar_host_calloc(NULL, count, sizeof *images);
    }
    const MaarCaptureSwapchain record = {
        .device = device->number,
        .format = (uint32_t)info->imageFormat,
        .swapchain = MAAR_TO_BITS(swapchain),
        .width = info->imageExtent.width,
        .height = info->imageExtent.height,
        .usage = info->imageUsage,
        .imageCount = count,
        .estimatedSize = count * size_of_twin(device, info),
        .arrayLayers = info->imageArrayLayers,
        .presentMode = (uint32_t)info->presentMode,
    };
    maar_layer_write(device, MAAR_CAPTURE_KIND_SWAPCHAIN, &record, sizeof record);
    if (images != NULL && list(device->handle, swapchain, &count, images) == VK_SUCCESS) {
        record_images(device, info, swapchain, images, count);
    }
    maar_host_free(NULL, images);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_swapchain(VkDevice device,
                                                       const VkSwapchainCreateInfoKHR* info,
                                                       const VkAllocationCallbacks* callbacks,
                                                       VkSwapchainKHR* swapchain)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    const VkResult result = state->next.CreateSwapchainKHR(device, info, callbacks, swapchain);
    if (result == VK_SUCCESS && state->number != 0) {
        record_swapchain(state, info, *swapchain);
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL
create_shared_swapchains(VkDevice device, uint32_t count, const VkSwapchainCreateInfoKHR* infos,
                         const VkAllocationCallbacks* callbacks, VkSwapchainKHR* swapchains)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    const VkResult result =
        state->next.CreateSharedSwapchainsKHR(device, count, infos, callbacks, swapchains);
    for (uint32_t i = 0; i < count && result == VK_SUCCESS && state->number != 0; ++i) {
        record_swapchain(state, &infos[i], swapchains[i]);
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_swapchain(VkDevice device, VkSwapchainKHR swapchain,
                                                    const VkAllocationCallbacks* callbacks)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    if (swapchain != VK_NULL_HANDLE) {
        maar_layer_write_end(state, MAAR_CAPTURE_KIND_SWAPCHAIN_END, MAAR_TO_BITS(swapchain));
    }
    state->next.DestroySwapchainKHR(device, swapchain, callbacks);
}

const struct layer_hook maar_layer_swapchain_hooks[] = {
    LAYER_HOOK(CreateSwapchainKHR, create_swapchain),
    LAYER_HOOK(CreateSharedSwapchainsKHR, create_shared_swapchains),
    LAYER_HOOK(DestroySwapchainKHR, destroy_swapchain),
    {NULL, NULL},
};
