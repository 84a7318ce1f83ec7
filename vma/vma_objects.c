/*
 * Buffers and images: with memory, in memory that exists, and bound later.
 */
#include "vma/vma_fast.h"
#include "vma/vma_layer.h"
#include "vma/vma_place.h"
#include "vma/vma_usages.h"

static bool binds(const VmaAllocationCreateInfo* info)
{
    return (info->flags & (VmaAllocationCreateFlags)VMA_ALLOCATION_CREATE_DONT_BIND_BIT) == 0;
}

/* Reports a create info that no object can have. Returns the result of the call. */
MAAR_VMA_COLD static VkResult refuse_object(VmaAllocator allocator, MaarMessageId id,
                                            const char* sentence)
{
    maar_vma_report(&allocator->listener, MAAR_MESSAGE_SEVERITY_ERROR, id, "%s", sentence);
    return VK_ERROR_INITIALIZATION_FAILED;
}

/* Whether a buffer cannot be: it has no bytes, or an address, without the allocator's flag. */
static bool is_impossible_buffer(const struct VmaAllocator_T* allocator,
                                 const VkBufferCreateInfo* info)
{
    return info->size == 0 ||
           ((info->usage & (VkBufferUsageFlags)VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0 &&
            !allocator->has_addresses);
}

MAAR_VMA_COLD static VkResult refuse_buffer(VmaAllocator allocator, const VkBufferCreateInfo* info)
{
    return info->size == 0
               ? refuse_object(allocator, MAAR_MESSAGE_ID_ZERO_SIZE,
                               "VkBufferCreateInfo: size is 0")
               : refuse_object(allocator, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED,
                               "VkBufferCreateInfo: usage has "
                               "VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, and the allocator was "
                               "created without VMA_ALLOCATOR_CREATE_BUFFER_DEVICE_ADDRESS_BIT");
}

static bool is_impossible_image(const VkImageCreateInfo* info)
{
    return info->extent.width == 0 || info->extent.height == 0 || info->extent.depth == 0 ||
           info->mipLevels == 0 || info->arrayLayers == 0;
}

MAAR_VMA_COLD static VkResult refuse_image(VmaAllocator allocator)
{
    return refuse_object(allocator, MAAR_MESSAGE_ID_ZERO_SIZE,
                         "VkImageCreateInfo: an extent, mipLevels or arrayLayers is 0");
}

/* ---- buffers ---- */

/* Creates a buffer, and memory for it that is not bound. */
static VkResult create_unbound_buffer(VmaAllocator allocator, const VkBufferCreateInfo* info,
                                      const MaarAllocationCreateInfo* how, VkBuffer* buffer,
                                      MaarAllocation* made)
{
    VkResult result =
        allocator->create_buffer(allocator->info.device, info, allocator->callbacks, buffer);
    if (result == VK_SUCCESS) {
        result = maarAllocateMemoryForBuffer(allocator->maar, *buffer, how, made);
        if (result != VK_SUCCESS) {
            allocator->destroy_buffer(allocator->info.device, *buffer, allocator->callbacks);
        }
    }
    return result;
}

/* The common case. Maar's call returns nothing where it fails. */
static inline VkResult create_bound_buffer(VmaAllocator allocator, const VkBufferCreateInfo* info,
                                           const MaarAllocationCreateInfo* how, VkBuffer* buffer,
                                           VmaAllocation* allocation, VmaAllocationInfo* out)
{
    MaarAllocation made;
    const VkResult result = maarCreateBuffer(allocator->maar, info, how, buffer, &made);
    if (result != VK_SUCCESS) {
        return maar_vma_result(result);
    }
    maar_vma_keep_usage(allocator, made, info->usage);
    maar_vma_finish(allocator, made, allocation, out);
    return VK_SUCCESS;
}

static VkResult create_buffer(VmaAllocator allocator, const VkBufferCreateInfo* info,
                              const VmaAllocationCreateInfo* create_info,
                              const struct maar_vma_how* how, VkBuffer* buffer,
                              VmaAllocation* allocation, VmaAllocationInfo* out)
{
    MaarAllocation made = VK_NULL_HANDLE;
    VkResult result = binds(create_info)
                          ? maarCreateBuffer(allocator->maar, info, &how->info, buffer, &made)
                          : create_unbound_buffer(allocator, info, &how->info, buffer, &made);
    if (result != VK_SUCCESS) {
        *buffer = VK_NULL_HANDLE;
        return maar_vma_result(result);
    }
    maar_vma_keep_usage(allocator, made, maar_vma_buffer_usage(allocator, info));
    maar_vma_finish(allocator, made, allocation, out);
    return VK_SUCCESS;
}

MAAR_VMA_NOINLINE static VkResult create_buffer_slowly(VmaAllocator allocator,
                                                       const VkBufferCreateInfo* info,
                                                       const VmaAllocationCreateInfo* create_info,
                                                       VkBuffer* buffer, VmaAllocation* allocation,
                                                       VmaAllocationInfo* out)
{
    struct maar_vma_how how;
    const VkResult result =
        maar_vma_translate(allocator, create_info, maar_vma_of_buffer(allocator, info), &how);
    return result == VK_SUCCESS
               ? create_buffer(allocator, info, create_info, &how, buffer, allocation, out)
               : result;
}

/* With maintenance5, a chain may have the usages. */
static inline bool may_chain_usages(const struct VmaAllocator_T* allocator,
                                    const VkBufferCreateInfo* info)
{
    return info->pNext != NULL && allocator->maintenance5;
}

/* Creates a buffer whose create info is not Maar's default, or refuses it. A function of its own,
 * so that the most common case keeps few registers. */
MAAR_VMA_NOINLINE static VkResult create_other_buffer(VmaAllocator allocator,
                                                      const VkBufferCreateInfo* info,
                                                      const VmaAllocationCreateInfo* create_info,
                                                      VkBuffer* buffer, VmaAllocation* allocation,
                                                      VmaAllocationInfo* out)
{
    MaarAllocationCreateInfo how;
    if (is_impossible_buffer(allocator, info)) {
        return refuse_buffer(allocator, info);
    }
    return !may_chain_usages(allocator, info) &&
                   maar_vma_translate_simple(allocator, create_info, &how)
               ? create_bound_buffer(allocator, info, &how, buffer, allocation, out)
               : create_buffer_slowly(allocator, info, create_info, buffer, allocation, out);
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaCreateBuffer(VmaAllocator allocator,
                                                   const VkBufferCreateInfo* pBufferInfo,
                                                   const VmaAllocationCreateInfo* pCreateInfo,
                                                   VkBuffer* pBuffer, VmaAllocation* pAllocation,
                                                   VmaAllocationInfo* pInfo)
{
    *pBuffer = VK_NULL_HANDLE;
    *pAllocation = VK_NULL_HANDLE;
    return !is_impossible_buffer(allocator, pBufferInfo) &&
                   !may_chain_usages(allocator, pBufferInfo) &&
                   maar_vma_is_default(allocator, pCreateInfo)
               ? create_bound_buffer(allocator, pBufferInfo, NULL, pBuffer, pAllocation, pInfo)
               : create_other_buffer(allocator, pBufferInfo, pCreateInfo, pBuffer, pAllocation,
                                     pInfo);
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaCreateBufferWithAlignment(
    VmaAllocator allocator, const VkBufferCreateInfo* pBufferInfo,
    const VmaAllocationCreateInfo* pCreateInfo, VkDeviceSize minAlignment, VkBuffer* pBuffer,
    VmaAllocation* pAllocation, VmaAllocationInfo* pInfo)
{
    VmaAllocationCreateInfo aligned = *pCreateInfo;
    aligned.minAlignment =
        minAlignment > aligned.minAlignment ? minAlignment : aligned.minAlignment;
    return maarVmaCreateBuffer(allocator, pBufferInfo, &aligned, pBuffer, pAllocation, pInfo);
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaCreateDedicatedBuffer(
    VmaAllocator allocator, const VkBufferCreateInfo* pBufferInfo,
    const VmaAllocationCreateInfo* pCreateInfo, void* pAllocateNext, VkBuffer* pBuffer,
    VmaAllocation* pAllocation, VmaAllocationInfo* pInfo)
{
    VmaAllocationCreateInfo dedicated = *pCreateInfo;
    struct maar_vma_how how;
    *pBuffer = VK_NULL_HANDLE;
    *pAllocation = VK_NULL_HANDLE;
    if (is_impossible_buffer(allocator, pBufferInfo)) {
        return refuse_buffer(allocator, pBufferInfo);
    }
    dedicated.flags |= VMA_ALLOCATION_CREATE_DEDICATED_MEMORY_BIT;
    const VkResult result =
        maar_vma_translate(allocator, &dedicated, maar_vma_of_buffer(allocator, pBufferInfo), &how);
    if (result != VK_SUCCESS) {
        return result;
    }
    maar_vma_dedicate(&how, pAllocateNext);
    return create_buffer(allocator, pBufferInfo, &dedicated, &how, pBuffer, pAllocation, pInfo);
}

VKAPI_ATTR void VKAPI_CALL maarVmaDestroyBuffer(VmaAllocator allocator, VkBuffer buffer,
                                                VmaAllocation allocation)
{
    if (maar_vma_place_of(allocation) == NULL) {
        maarDestroyBuffer(allocator->maar, buffer, maar_vma_own(allocator, allocation));
    } else if (buffer != VK_NULL_HANDLE) {
        allocator->destroy_buffer(allocator->info.device, buffer, allocator->callbacks);
    }
}

/* Creates a buffer in a new place of a pass. */
static VkResult create_placed_buffer(VmaAllocator allocator, const struct maar_vma_place* place,
                                     VkDeviceSize offset, const VkBufferCreateInfo* info,
                                     VkBuffer* buffer)
{
    VkResult result =
        allocator->create_buffer(allocator->info.device, info, allocator->callbacks, buffer);
    if (result == VK_SUCCESS) {
        result = maarBindMovedBuffer(allocator->maar, place->batch, place->source, offset, *buffer,
                                     NULL);
        if (result != VK_SUCCESS) {
            allocator->destroy_buffer(allocator->info.device, *buffer, allocator->callbacks);
            *buffer = VK_NULL_HANDLE;
        }
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaCreateAliasingBuffer2(VmaAllocator allocator,
                                                            VmaAllocation allocation,
                                                            VkDeviceSize offset,
                                                            const VkBufferCreateInfo* pBufferInfo,
                                                            VkBuffer* pBuffer)
{
    *pBuffer = VK_NULL_HANDLE;
    if (is_impossible_buffer(allocator, pBufferInfo)) {
        return refuse_buffer(allocator, pBufferInfo);
    }
    const struct maar_vma_place* place = maar_vma_place_of(allocation);
    return maar_vma_result(
        place != NULL
            ? create_placed_buffer(allocator, place, offset, pBufferInfo, pBuffer)
            : maarCreateAliasingBuffer(allocator->maar, maar_vma_own(allocator, allocation), offset,
                                       pBufferInfo, pBuffer));
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaCreateAliasingBuffer(VmaAllocator allocator,
                                                           VmaAllocation allocation,
                                                           const VkBufferCreateInfo* pBufferInfo,
                                                           VkBuffer* pBuffer)
{
    return maarVmaCreateAliasingBuffer2(allocator, allocation, 0, pBufferInfo, pBuffer);
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaAllocateMemoryForBuffer(
    VmaAllocator allocator, VkBuffer buffer, const VmaAllocationCreateInfo* pCreateInfo,
    VmaAllocation* pAllocation, VmaAllocationInfo* pInfo)
{
    struct maar_vma_how how;
    MaarAllocation made = VK_NULL_HANDLE;
    *pAllocation = VK_NULL_HANDLE;
    VkResult result =
        maar_vma_translate(allocator, pCreateInfo, (struct maar_vma_subject){0}, &how);
    if (result == VK_SUCCESS) {
        result = maarAllocateMemoryForBuffer(allocator->maar, buffer, &how.info, &made);
    }
    if (result != VK_SUCCESS) {
        return maar_vma_result(result);
    }
    maar_vma_finish(allocator, made, pAllocation, pInfo);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaBindBufferMemory2(VmaAllocator allocator,
                                                        VmaAllocation allocation,
                                                        VkDeviceSize offset, VkBuffer buffer,
                                                        const void* pNext)
{
    const struct maar_vma_place* place = maar_vma_place_of(allocation);
    const VkResult result =
        place != NULL ? maarBindMovedBuffer(allocator->maar, place->batch, place->source, offset,
                                            buffer, pNext)
                      : maarBindBuffer(allocator->maar, maar_vma_own(allocator, allocation), offset,
                                       buffer, pNext);
    return maar_vma_result(result);
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaBindBufferMemory(VmaAllocator allocator,
                                                       VmaAllocation allocation, VkBuffer buffer)
{
    return maarVmaBindBufferMemory2(allocator, allocation, 0, buffer, NULL);
}

/* ---- images ---- */

static VkResult create_unbound_image(VmaAllocator allocator, const VkImageCreateInfo* info,
                                     const MaarAllocationCreateInfo* how, VkImage* image,
                                     MaarAllocation* made)
{
    VkResult result =
        allocator->create_image(allocator->info.device, info, allocator->callbacks, image);
    if (result == VK_SUCCESS) {
        result = maarAllocateMemoryForImage(allocator->maar, *image, info->tiling, how, made);
        if (result != VK_SUCCESS) {
            allocator->destroy_image(allocator->info.device, *image, allocator->callbacks);
        }
    }
    return result;
}

/* The common case. Maar's call returns nothing where it fails. */
static inline VkResult create_bound_image(VmaAllocator allocator, const VkImageCreateInfo* info,
                                          const MaarAllocationCreateInfo* how, VkImage* image,
                                          VmaAllocation* allocation, VmaAllocationInfo* out)
{
    MaarAllocation made;
    const VkResult result = maarCreateImage(allocator->maar, info, how, image, &made);
    if (result != VK_SUCCESS) {
        return maar_vma_result(result);
    }
    maar_vma_keep_usage(allocator, made, info->usage);
    maar_vma_finish(allocator, made, allocation, out);
    return VK_SUCCESS;
}

static VkResult create_image(VmaAllocator allocator, const VkImageCreateInfo* info,
                             const VmaAllocationCreateInfo* create_info,
                             const struct maar_vma_how* how, VkImage* image,
                             VmaAllocation* allocation, VmaAllocationInfo* out)
{
    MaarAllocation made = VK_NULL_HANDLE;
    VkResult result = binds(create_info)
                          ? maarCreateImage(allocator->maar, info, &how->info, image, &made)
                          : create_unbound_image(allocator, info, &how->info, image, &made);
    if (result != VK_SUCCESS) {
        *image = VK_NULL_HANDLE;
        return maar_vma_result(result);
    }
    maar_vma_keep_usage(allocator, made, info->usage);
    maar_vma_finish(allocator, made, allocation, out);
    return VK_SUCCESS;
}

MAAR_VMA_NOINLINE static VkResult create_image_slowly(VmaAllocator allocator,
                                                      const VkImageCreateInfo* info,
                                                      const VmaAllocationCreateInfo* create_info,
                                                      VkImage* image, VmaAllocation* allocation,
                                                      VmaAllocationInfo* out)
{
    struct maar_vma_how how;
    const VkResult result =
        maar_vma_translate(allocator, create_info, maar_vma_of_image(info), &how);
    return result == VK_SUCCESS
               ? create_image(allocator, info, create_info, &how, image, allocation, out)
               : result;
}

/* As create_other_buffer. */
MAAR_VMA_NOINLINE static VkResult create_other_image(VmaAllocator allocator,
                                                     const VkImageCreateInfo* info,
                                                     const VmaAllocationCreateInfo* create_info,
                                                     VkImage* image, VmaAllocation* allocation,
                                                     VmaAllocationInfo* out)
{
    MaarAllocationCreateInfo how;
    if (is_impossible_image(info)) {
        return refuse_image(allocator);
    }
    return maar_vma_translate_simple(allocator, create_info, &how)
               ? create_bound_image(allocator, info, &how, image, allocation, out)
               : create_image_slowly(allocator, info, create_info, image, allocation, out);
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaCreateImage(VmaAllocator allocator,
                                                  const VkImageCreateInfo* pImageInfo,
                                                  const VmaAllocationCreateInfo* pCreateInfo,
                                                  VkImage* pImage, VmaAllocation* pAllocation,
                                                  VmaAllocationInfo* pInfo)
{
    *pImage = VK_NULL_HANDLE;
    *pAllocation = VK_NULL_HANDLE;
    return !is_impossible_image(pImageInfo) && maar_vma_is_default(allocator, pCreateInfo)
               ? create_bound_image(allocator, pImageInfo, NULL, pImage, pAllocation, pInfo)
               : create_other_image(allocator, pImageInfo, pCreateInfo, pImage, pAllocation, pInfo);
}

VKAPI_ATTR VkResult VKAPI_CALL
maarVmaCreateDedicatedImage(VmaAllocator allocator, const VkImageCreateInfo* pImageInfo,
                            const VmaAllocationCreateInfo* pCreateInfo, void* pAllocateNext,
                            VkImage* pImage, VmaAllocation* pAllocation, VmaAllocationInfo* pInfo)
{
    VmaAllocationCreateInfo dedicated = *pCreateInfo;
    struct maar_vma_how how;
    *pImage = VK_NULL_HANDLE;
    *pAllocation = VK_NULL_HANDLE;
    if (is_impossible_image(pImageInfo)) {
        return refuse_image(allocator);
    }
    dedicated.flags |= VMA_ALLOCATION_CREATE_DEDICATED_MEMORY_BIT;
    const VkResult result =
        maar_vma_translate(allocator, &dedicated, maar_vma_of_image(pImageInfo), &how);
    if (result != VK_SUCCESS) {
        return result;
    }
    maar_vma_dedicate(&how, pAllocateNext);
    return create_image(allocator, pImageInfo, &dedicated, &how, pImage, pAllocation, pInfo);
}

VKAPI_ATTR void VKAPI_CALL maarVmaDestroyImage(VmaAllocator allocator, VkImage image,
                                               VmaAllocation allocation)
{
    if (maar_vma_place_of(allocation) == NULL) {
        maarDestroyImage(allocator->maar, image, maar_vma_own(allocator, allocation));
    } else if (image != VK_NULL_HANDLE) {
        allocator->destroy_image(allocator->info.device, image, allocator->callbacks);
    }
}

/* Creates an image in a new place of a pass. */
static VkResult create_placed_image(VmaAllocator allocator, const struct maar_vma_place* place,
                                    VkDeviceSize offset, const VkImageCreateInfo* info,
                                    VkImage* image)
{
    VkResult result =
        allocator->create_image(allocator->info.device, info, allocator->callbacks, image);
    if (result == VK_SUCCESS) {
        result =
            maarBindMovedImage(allocator->maar, place->batch, place->source, offset, *image, NULL);
        if (result != VK_SUCCESS) {
            allocator->destroy_image(allocator->info.device, *image, allocator->callbacks);
            *image = VK_NULL_HANDLE;
        }
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaCreateAliasingImage2(VmaAllocator allocator,
                                                           VmaAllocation allocation,
                                                           VkDeviceSize offset,
                                                           const VkImageCreateInfo* pImageInfo,
                                                           VkImage* pImage)
{
    *pImage = VK_NULL_HANDLE;
    if (is_impossible_image(pImageInfo)) {
        return refuse_image(allocator);
    }
    const struct maar_vma_place* place = maar_vma_place_of(allocation);
    return maar_vma_result(place != NULL
                               ? create_placed_image(allocator, place, offset, pImageInfo, pImage)
                               : maarCreateAliasingImage(allocator->maar,
                                                         maar_vma_own(allocator, allocation),
                                                         offset, pImageInfo, pImage));
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaCreateAliasingImage(VmaAllocator allocator,
                                                          VmaAllocation allocation,
                                                          const VkImageCreateInfo* pImageInfo,
                                                          VkImage* pImage)
{
    return maarVmaCreateAliasingImage2(allocator, allocation, 0, pImageInfo, pImage);
}

/* The tiling of an image cannot be asked for. Maar treats a tiling by modifiers as unknown, and
 * keeps such memory apart from both kinds. */
VKAPI_ATTR VkResult VKAPI_CALL maarVmaAllocateMemoryForImage(
    VmaAllocator allocator, VkImage image, const VmaAllocationCreateInfo* pCreateInfo,
    VmaAllocation* pAllocation, VmaAllocationInfo* pInfo)
{
    struct maar_vma_how how;
    MaarAllocation made = VK_NULL_HANDLE;
    *pAllocation = VK_NULL_HANDLE;
    VkResult result =
        maar_vma_translate(allocator, pCreateInfo, (struct maar_vma_subject){0}, &how);
    if (result == VK_SUCCESS) {
        result = maarAllocateMemoryForImage(
            allocator->maar, image, VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT, &how.info, &made);
    }
    if (result != VK_SUCCESS) {
        return maar_vma_result(result);
    }
    maar_vma_finish(allocator, made, pAllocation, pInfo);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaBindImageMemory2(VmaAllocator allocator,
                                                       VmaAllocation allocation,
                                                       VkDeviceSize offset, VkImage image,
                                                       const void* pNext)
{
    const struct maar_vma_place* place = maar_vma_place_of(allocation);
    const VkResult result =
        place != NULL
            ? maarBindMovedImage(allocator->maar, place->batch, place->source, offset, image, pNext)
            : maarBindImage(allocator->maar, maar_vma_own(allocator, allocation), offset, image,
                            pNext);
    return maar_vma_result(result);
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaBindImageMemory(VmaAllocator allocator,
                                                      VmaAllocation allocation, VkImage image)
{
    return maarVmaBindImageMemory2(allocator, allocation, 0, image, NULL);
}
