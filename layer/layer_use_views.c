/*
 * Views of buffers and images, and framebuffers, which are lists of views.
 */
#include "core/host_memory.h"
#include "layer/layer_use_passes.h"

static struct layer_uses* uses_of(VkDevice device)
{
    return maar_layer_device_of(device)->uses;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_view(VkDevice device,
                                                  const VkImageViewCreateInfo* info,
                                                  const VkAllocationCallbacks* callbacks,
                                                  VkImageView* view)
{
    struct layer_uses* const uses = uses_of(device);
    const VkResult result = uses->next.CreateImageView(device, info, callbacks, view);
    struct layer_use_view* const value =
        result == VK_SUCCESS ? maar_host_calloc(NULL, 1, sizeof *value) : NULL;
    if (value == NULL) {
        return result;
    }
    const uint64_t image = MAAR_TO_BITS(info->image);
    (void)maar_layer_use_table_copy(&uses->images, image, &value->image, sizeof value->image);
    value->image.link.key = image;
    value->range = info->subresourceRange;
    if (value->range.levelCount == VK_REMAINING_MIP_LEVELS) {
        value->range.levelCount = value->image.mip_levels - value->range.baseMipLevel;
    }
    if (value->range.layerCount == VK_REMAINING_ARRAY_LAYERS) {
        value->range.layerCount = value->image.array_layers - value->range.baseArrayLayer;
    }
    maar_layer_use_table_add(&uses->views, MAAR_TO_BITS(*view), &value->link);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_view(VkDevice device, VkImageView view,
                                               const VkAllocationCallbacks* callbacks)
{
    struct layer_uses* const uses = uses_of(device);
    maar_layer_use_table_remove(&uses->views, MAAR_TO_BITS(view));
    uses->next.DestroyImageView(device, view, callbacks);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_buffer_view(VkDevice device,
                                                         const VkBufferViewCreateInfo* info,
                                                         const VkAllocationCallbacks* callbacks,
                                                         VkBufferView* view)
{
    struct layer_uses* const uses = uses_of(device);
    const VkResult result = uses->next.CreateBufferView(device, info, callbacks, view);
    struct layer_use_buffer_view* const value =
        result == VK_SUCCESS ? maar_host_calloc(NULL, 1, sizeof *value) : NULL;
    if (value != NULL) {
        value->buffer = info->buffer;
        maar_layer_use_table_add(&uses->buffer_views, MAAR_TO_BITS(*view), &value->link);
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_buffer_view(VkDevice device, VkBufferView view,
                                                      const VkAllocationCallbacks* callbacks)
{
    struct layer_uses* const uses = uses_of(device);
    maar_layer_use_table_remove(&uses->buffer_views, MAAR_TO_BITS(view));
    uses->next.DestroyBufferView(device, view, callbacks);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_framebuffer(VkDevice device,
                                                         const VkFramebufferCreateInfo* info,
                                                         const VkAllocationCallbacks* callbacks,
                                                         VkFramebuffer* framebuffer)
{
    struct layer_uses* const uses = uses_of(device);
    const VkResult result = uses->next.CreateFramebuffer(device, info, callbacks, framebuffer);
    const bool has_views = (info->flags & VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT) == 0;
    const uint32_t count = has_views ? info->attachmentCount : 0;
    struct layer_use_framebuffer* const value =
        result == VK_SUCCESS
            ? maar_host_calloc(NULL, 1, sizeof *value + count * sizeof value->views[0])
            : NULL;
    if (value == NULL) {
        return result;
    }
    value->layers = info->layers;
    value->view_count = count;
    for (uint32_t i = 0; i < count; ++i) {
        (void)maar_layer_use_table_copy(&uses->views, MAAR_TO_BITS(info->pAttachments[i]),
                                        &value->views[i], sizeof value->views[i]);
    }
    maar_layer_use_table_add(&uses->framebuffers, MAAR_TO_BITS(*framebuffer), &value->link);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_framebuffer(VkDevice device, VkFramebuffer framebuffer,
                                                      const VkAllocationCallbacks* callbacks)
{
    struct layer_uses* const uses = uses_of(device);
    maar_layer_use_table_remove(&uses->framebuffers, MAAR_TO_BITS(framebuffer));
    uses->next.DestroyFramebuffer(device, framebuffer, callbacks);
}

const struct layer_hook maar_layer_use_view_hooks[] = {
    LAYER_HOOK(CreateImageView, create_view),
    LAYER_HOOK(DestroyImageView, destroy_view),
    LAYER_HOOK(CreateBufferView, create_buffer_view),
    LAYER_HOOK(DestroyBufferView, destroy_buffer_view),
    LAYER_HOOK(CreateFramebuffer, create_framebuffer),
    LAYER_HOOK(DestroyFramebuffer, destroy_framebuffer),
    {NULL, NULL},
};
