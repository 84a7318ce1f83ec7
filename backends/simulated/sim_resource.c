/*
 * Buffers and images: creation, destruction, addresses and layouts.
 */
#include "backends/simulated/sim_resource.h"

#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_entries.h"
#include "backends/simulated/sim_forget.h"
#include "backends/simulated/sim_format.h"
#include "backends/simulated/sim_layout.h"
#include "backends/simulated/sim_memory.h"
#include "backends/simulated/sim_submission.h"

#include <string.h>

/* Reserves address space for a new sparse resource. Lock held. */
static VkResult sim_take_address_space(struct sim_device* device, enum sim_function function,
                                       const struct sim_resource* resource)
{
    const VkDeviceSize most =
        sim_or(device->gpu->profile.limits.sparseAddressSpaceSize, UINT64_MAX);
    const VkDeviceSize size = resource->requirements[0].size;
    if (!resource->sparse) {
        return VK_SUCCESS;
    }
    if (size > most || device->sparse_bytes > most - size) {
        sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "sparse resources would exceed sparseAddressSpaceSize %llu",
                    (unsigned long long)most);
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    device->sparse_bytes += size;
    return VK_SUCCESS;
}

static VkResult sim_check_buffer_info(struct sim_device* device, const VkBufferCreateInfo* info)
{
    const MaarSimulatedLimits* limits = &device->gpu->profile.limits;
    const VkDeviceSize largest = sim_or(limits->maxBufferSize, UINT64_MAX);
    if (info->size == 0 || info->usage == 0 || info->size > largest) {
        sim_violate(device->gpu, SIM_FN_vkCreateBuffer, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "size %llu, usage 0x%x, with maxBufferSize %llu",
                    (unsigned long long)info->size, info->usage, (unsigned long long)largest);
    }
    sim_sparse_check_features(device, SIM_FN_vkCreateBuffer, info->flags, NULL);
    if ((info->usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0) {
        sim_need_feature(device, SIM_FN_vkCreateBuffer, SIM_FEATURE_BUFFER_ADDRESS,
                         "bufferDeviceAddress");
    }
    return info->size > largest ? VK_ERROR_OUT_OF_DEVICE_MEMORY : VK_SUCCESS;
}

/* Ends a creation: unlocks the gpu, and releases the resource if the creation failed. Returns the
 * handle, or 0. */
static uint64_t sim_finish_resource(struct sim_resource* resource, VkResult result)
{
    struct sim_gpu* gpu = resource->object.device->gpu;
    const uint64_t handle = result == VK_SUCCESS ? resource->object.handle : 0;
    if (result != VK_SUCCESS) {
        sim_object_remove(&resource->object);
    }
    sim_unlock_gpu(gpu);
    if (result != VK_SUCCESS) {
        sim_object_release(&resource->object);
    }
    return handle;
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_create_buffer(VkDevice device,
                                                        const VkBufferCreateInfo* pCreateInfo,
                                                        const VkAllocationCallbacks* pAllocator,
                                                        VkBuffer* pBuffer)
{
    struct sim_device* d = SIM_DEVICE(device);
    *pBuffer = VK_NULL_HANDLE;
    VkResult result = sim_enter(d->gpu, d, SIM_FN_vkCreateBuffer);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkDeviceSize largest = (VkDeviceSize)1 << 60;
    if (pCreateInfo->size > largest) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    struct sim_resource* resource =
        sim_object_create(d, SIM_KIND_BUFFER, sizeof(struct sim_resource), pAllocator);
    if (resource == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    sim_lock_gpu(d->gpu);
    result = sim_check_buffer_info(d, pCreateInfo);
    resource->linear = true;
    resource->sparse = (pCreateInfo->flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT) != 0;
    resource->needs_address = (pCreateInfo->usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0;
    resource->size = pCreateInfo->size;
    resource->exclusive = pCreateInfo->sharingMode == VK_SHARING_MODE_EXCLUSIVE;
    resource->plane_count = 1;
    resource->external_types = sim_external_types(d, false, pCreateInfo->flags, pCreateInfo->pNext);
    sim_requirements_of_buffer(d->gpu, pCreateInfo, &resource->requirements[0]);
    if (resource->sparse) {
        const VkDeviceSize space = (VkDeviceSize)1 << 20;
        resource->pages.page = resource->requirements[0].alignment;
        resource->pages.residency =
            (pCreateInfo->flags & VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT) != 0;
        resource->pages.aliased = (pCreateInfo->flags & VK_BUFFER_CREATE_SPARSE_ALIASED_BIT) != 0;
        resource->address = d->gpu->next_address;
        d->gpu->next_address += maar_align_up(resource->requirements[0].size, space) + space;
    }
    if (result == VK_SUCCESS) {
        result = sim_take_address_space(d, SIM_FN_vkCreateBuffer, resource);
    }
    *pBuffer = (VkBuffer)sim_finish_resource(resource, result);
    return result;
}

static void sim_check_image_info(struct sim_device* device, const VkImageCreateInfo* info)
{
    const uint32_t longest =
        info->extent.width > info->extent.height ? info->extent.width : info->extent.height;
    const uint32_t side = longest > info->extent.depth ? longest : info->extent.depth;
    if (info->usage == 0 || (info->mipLevels > 1 && side >> (info->mipLevels - 1u) == 0)) {
        sim_violate(device->gpu, SIM_FN_vkCreateImage, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "usage 0x%x, %u levels for an extent of %u", info->usage, info->mipLevels,
                    side);
    }
    sim_sparse_check_features(device, SIM_FN_vkCreateImage, info->flags, info);
    if (sim_chain_find(info->pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO) != NULL &&
        info->initialLayout != VK_IMAGE_LAYOUT_UNDEFINED) {
        sim_violate(
            device->gpu, SIM_FN_vkCreateImage, MAAR_SIMULATED_VIOLATION_SHARING,
            "the initial layout of an image with shared memory must be VK_IMAGE_LAYOUT_UNDEFINED");
    }
    if ((info->flags & VK_IMAGE_CREATE_DISJOINT_BIT) != 0 &&
        sim_format_of(info->format).plane_count < 2) {
        sim_violate(device->gpu, SIM_FN_vkCreateImage, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "only multi-planar images can be disjoint");
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_create_image(VkDevice device,
                                                       const VkImageCreateInfo* pCreateInfo,
                                                       const VkAllocationCallbacks* pAllocator,
                                                       VkImage* pImage)
{
    struct sim_device* d = SIM_DEVICE(device);
    *pImage = VK_NULL_HANDLE;
    VkResult result = sim_enter(d->gpu, d, SIM_FN_vkCreateImage);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (!sim_image_is_possible(d->gpu, pCreateInfo)) {
        sim_lock_gpu(d->gpu);
        sim_violate(d->gpu, SIM_FN_vkCreateImage, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "vkGetPhysicalDeviceImageFormatProperties does not allow format %d, extent "
                    "%ux%ux%u, %u levels, %u layers, %u samples, usage 0x%x",
                    (int)pCreateInfo->format, pCreateInfo->extent.width, pCreateInfo->extent.height,
                    pCreateInfo->extent.depth, pCreateInfo->mipLevels, pCreateInfo->arrayLayers,
                    (unsigned)pCreateInfo->samples, pCreateInfo->usage);
        sim_unlock_gpu(d->gpu);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct sim_resource* resource =
        sim_object_create(d, SIM_KIND_IMAGE, sizeof(struct sim_resource), pAllocator);
    if (resource == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    sim_lock_gpu(d->gpu);
    sim_check_image_info(d, pCreateInfo);
    resource->linear = sim_tiling_is_linear(pCreateInfo->tiling);
    resource->has_modifier = pCreateInfo->tiling == VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT;
    const struct sim_format format = sim_format_of(pCreateInfo->format);
    resource->row_pitch = sim_modifier_row_pitch(pCreateInfo, &format.planes[0]);
    resource->sparse = (pCreateInfo->flags & VK_IMAGE_CREATE_SPARSE_BINDING_BIT) != 0;
    resource->aliased = (pCreateInfo->flags & VK_IMAGE_CREATE_ALIAS_BIT) != 0;
    resource->format = pCreateInfo->format;
    resource->type = pCreateInfo->imageType;
    resource->extent = pCreateInfo->extent;
    resource->mips = pCreateInfo->mipLevels;
    resource->layers = pCreateInfo->arrayLayers;
    resource->samples = (uint32_t)pCreateInfo->samples;
    resource->initial_layout = pCreateInfo->initialLayout;
    resource->exclusive = pCreateInfo->sharingMode == VK_SHARING_MODE_EXCLUSIVE;
    resource->external_types = sim_external_types(d, true, pCreateInfo->flags, pCreateInfo->pNext);
    resource->plane_count = sim_requirements_of_image(d->gpu, pCreateInfo, resource->requirements);
    if (resource->sparse) {
        sim_sparse_describe(d->gpu, pCreateInfo, &resource->pages, &resource->requirements[0]);
    }
    result = sim_modifier_check(d, pCreateInfo);
    if (result == VK_SUCCESS) {
        result = sim_take_address_space(d, SIM_FN_vkCreateImage, resource);
    }
    *pImage = (VkImage)sim_finish_resource(resource, result);
    return result;
}

static void sim_destroy_resource(VkDevice device, enum sim_function function, uint64_t handle,
                                 enum sim_kind kind, const VkAllocationCallbacks* callbacks)
{
    struct sim_device* d = SIM_DEVICE(device);
    sim_enter(d->gpu, d, function);
    sim_lock_gpu(d->gpu);
    struct sim_resource* resource = sim_object_retire(d, function, handle, kind, callbacks);
    if (resource != NULL) {
        sim_submissions_check_resource(resource, function);
        sim_forget_resource(resource);
        sim_bind_forget(resource);
        sim_pages_forget(resource);
        d->sparse_bytes -= resource->sparse ? resource->requirements[0].size : 0;
    }
    sim_unlock_gpu(d->gpu);
    if (resource != NULL) {
        sim_layout_release(resource);
        sim_tree_release(d->callbacks, &resource->pages.runs);
        sim_object_release(&resource->object);
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_destroy_buffer(VkDevice device, VkBuffer buffer,
                                                     const VkAllocationCallbacks* pAllocator)
{
    sim_destroy_resource(device, SIM_FN_vkDestroyBuffer, SIM_HANDLE(buffer), SIM_KIND_BUFFER,
                         pAllocator);
}

static VKAPI_ATTR void VKAPI_CALL sim_destroy_image(VkDevice device, VkImage image,
                                                    const VkAllocationCallbacks* pAllocator)
{
    sim_destroy_resource(device, SIM_FN_vkDestroyImage, SIM_HANDLE(image), SIM_KIND_IMAGE,
                         pAllocator);
}

static VkDeviceAddress sim_address_of_buffer(VkDevice device, enum sim_function function,
                                             VkBuffer buffer)
{
    struct sim_device* d = SIM_DEVICE(device);
    VkDeviceAddress address = 0;
    sim_enter(d->gpu, d, function);
    sim_lock_gpu(d->gpu);
    sim_need_feature(d, function, SIM_FEATURE_BUFFER_ADDRESS, "bufferDeviceAddress");
    const struct sim_resource* resource =
        sim_object_get(d, function, SIM_HANDLE(buffer), SIM_KIND_BUFFER);
    if (resource != NULL && !resource->needs_address) {
        sim_violate(d->gpu, function, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "the buffer lacks VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT");
    }
    if (resource != NULL && resource->sparse) {
        address = resource->address;
    } else if (resource != NULL) {
        const struct sim_memory* memory = sim_object_peek(d, resource->memory[0], SIM_KIND_MEMORY);
        if (memory == NULL) {
            sim_violate(d->gpu, function, MAAR_SIMULATED_VIOLATION_UNBOUND,
                        "the buffer is not bound to memory");
        } else {
            address = memory->address + resource->offset[0];
        }
    }
    sim_unlock_gpu(d->gpu);
    return address;
}

static VKAPI_ATTR VkDeviceAddress VKAPI_CALL
sim_get_buffer_address(VkDevice device, const VkBufferDeviceAddressInfo* pInfo)
{
    return sim_address_of_buffer(device, SIM_FN_vkGetBufferDeviceAddress, pInfo->buffer);
}

static VKAPI_ATTR uint64_t VKAPI_CALL
sim_get_buffer_capture_address(VkDevice device, const VkBufferDeviceAddressInfo* pInfo)
{
    return sim_address_of_buffer(device, SIM_FN_vkGetBufferOpaqueCaptureAddress, pInfo->buffer);
}

static VKAPI_ATTR uint64_t VKAPI_CALL
sim_get_memory_capture_address(VkDevice device, const VkDeviceMemoryOpaqueCaptureAddressInfo* pInfo)
{
    struct sim_device* d = SIM_DEVICE(device);
    sim_enter(d->gpu, d, SIM_FN_vkGetDeviceMemoryOpaqueCaptureAddress);
    sim_lock_gpu(d->gpu);
    const struct sim_memory* memory =
        sim_object_get(d, SIM_FN_vkGetDeviceMemoryOpaqueCaptureAddress, SIM_HANDLE(pInfo->memory),
                       SIM_KIND_MEMORY);
    const uint64_t address = memory != NULL && memory->addressable ? memory->address : 0;
    sim_unlock_gpu(d->gpu);
    return address;
}

VkSubresourceLayout sim_linear_layout(const struct sim_resource* resource,
                                      const struct sim_format* format, uint32_t index)
{
    VkSubresourceLayout layout = {0};
    for (uint32_t i = 0; i <= index; i++) {
        const struct sim_format_plane* plane = &format->planes[i];
        const VkDeviceSize texel_rows =
            (resource->extent.height + plane->divide_y - 1u) / plane->divide_y;
        const VkDeviceSize rows = (texel_rows + plane->block_height - 1u) / plane->block_height;
        layout.offset += resource->plane_count == 1 ? layout.arrayPitch * resource->layers : 0;
        layout.rowPitch =
            i == 0 ? resource->row_pitch : sim_row_pitch(plane, resource->extent.width);
        layout.depthPitch = layout.rowPitch * rows;
        layout.arrayPitch = layout.depthPitch * resource->extent.depth;
        layout.size = layout.arrayPitch;
    }
    return layout;
}

static VKAPI_ATTR void VKAPI_CALL sim_get_subresource_layout(VkDevice device, VkImage image,
                                                             const VkImageSubresource* pSubresource,
                                                             VkSubresourceLayout* pLayout)
{
    struct sim_device* d = SIM_DEVICE(device);
    memset(pLayout, 0, sizeof(*pLayout));
    sim_enter(d->gpu, d, SIM_FN_vkGetImageSubresourceLayout);
    sim_lock_gpu(d->gpu);
    const struct sim_resource* resource =
        sim_object_get(d, SIM_FN_vkGetImageSubresourceLayout, SIM_HANDLE(image), SIM_KIND_IMAGE);
    const struct sim_format format =
        sim_format_of(resource != NULL ? resource->format : VK_FORMAT_UNDEFINED);
    const uint32_t plane =
        format.plane_count > 1 ? sim_plane_of_aspect(pSubresource->aspectMask) : 0;
    if (resource != NULL &&
        (!resource->linear || pSubresource->mipLevel >= resource->mips ||
         pSubresource->arrayLayer >= resource->layers || plane >= format.plane_count)) {
        sim_violate(d->gpu, SIM_FN_vkGetImageSubresourceLayout, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "the image is not linear, or does not have this level, layer or plane");
    } else if (resource != NULL) {
        *pLayout = sim_linear_layout(resource, &format, plane);
        pLayout->offset += pLayout->arrayPitch * pSubresource->arrayLayer;
    }
    sim_unlock_gpu(d->gpu);
}

const struct sim_entry sim_resource_entries[] = {
    SIM_ENTRY(vkCreateBuffer, sim_create_buffer),
    SIM_ENTRY(vkDestroyBuffer, sim_destroy_buffer),
    SIM_ENTRY(vkCreateImage, sim_create_image),
    SIM_ENTRY(vkDestroyImage, sim_destroy_image),
    SIM_ENTRY(vkGetBufferDeviceAddress, sim_get_buffer_address),
    SIM_ENTRY(vkGetBufferOpaqueCaptureAddress, sim_get_buffer_capture_address),
    SIM_ENTRY(vkGetDeviceMemoryOpaqueCaptureAddress, sim_get_memory_capture_address),
    SIM_ENTRY(vkGetImageSubresourceLayout, sim_get_subresource_layout),
    {SIM_FN_COUNT, NULL},
};
