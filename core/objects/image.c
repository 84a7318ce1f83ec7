/*
 * Images: create, allocate, bind, whole or plane by plane; undone in reverse when a step fails.
 */
#include "core/objects/requirements.h"
#include "core/objects/shared_object.h"
#include "core/objects/stitched.h"
#include "core/objects/vulkan_bits.h"

VkResult maar_check_image_info(MaarAllocator allocator, const char* call,
                               const VkImageCreateInfo* info, const char* disjoint)
{
    VkResult result = maar_check_structure(allocator, call, "pImageInfo", info,
                                           VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    if ((info->flags & VK_IMAGE_CREATE_DISJOINT_BIT) != 0) {
        return maar_misuse(allocator, call, disjoint);
    }
    if ((info->flags & VK_IMAGE_CREATE_SPARSE_BINDING_BIT) != 0) {
        return maar_misuse(allocator, call, "pImageInfo is sparse; sparse images are not bound so");
    }
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateImage(MaarAllocator allocator,
                                               const VkImageCreateInfo* pImageInfo,
                                               const MaarAllocationCreateInfo* pCreateInfo,
                                               VkImage* pImage, MaarAllocation* pAllocation)
{
    if (pImage != NULL) {
        *pImage = VK_NULL_HANDLE;
    }
    if (pAllocation != NULL) {
        *pAllocation = VK_NULL_HANDLE;
    }
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pImage == NULL || pAllocation == NULL) {
        return maar_misuse(allocator, __func__,
                           pImage == NULL ? "pImage is NULL" : "pAllocation is NULL");
    }
    result = maar_check_image_info(allocator, __func__, pImageInfo,
                                   "pImageInfo is disjoint; use maarCreateDisjointImage");
    if (result != VK_SUCCESS) {
        return result;
    }
    VkResult stitched = VK_INCOMPLETE;
    if (maar_may_stitch(pCreateInfo)) {
        stitched = maar_create_stitched_image(allocator, __func__, pImageInfo, pCreateInfo, pImage,
                                              pAllocation);
        if (stitched != VK_INCOMPLETE && stitched != VK_NOT_READY) {
            return stitched;
        }
    }
    const struct maar_device* device = &allocator->device;
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    struct maar_shared_image shared;
    result = maar_share_image(
        allocator, __func__, pImageInfo, maar_export_types(pCreateInfo),
        (VkExternalMemoryFeatureFlags)VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT, &shared);
    if (result != VK_SUCCESS) {
        return result;
    }
    maar_lock_rank_expect_none();
    result = device->vkCreateImage(device->handle, shared.use, device->callbacks, &image);
    if (result != VK_SUCCESS) {
        maar_report_no_object(allocator, __func__, "image", result);
        return result;
    }
    MaarMemoryRequest request;
    maar_image_request(allocator, image, maar_tiling_kind(pImageInfo->tiling), 0, &request);
    request.requiresDedicated |= shared.dedicated ? VK_TRUE : VK_FALSE;
    result = maar_allocate(allocator, __func__, &request, pCreateInfo, false, &allocation);
    if (result == VK_SUCCESS) {
        result = maarBindImage(allocator, allocation, 0, image, NULL);
    }
    if (result != VK_SUCCESS) {
        /* The object first: a failed bind may have left it bound. */
        device->vkDestroyImage(device->handle, image, device->callbacks);
        maar_undo_allocation(allocator, allocation);
        return result;
    }
    if (stitched == VK_NOT_READY) {
        maar_note_fallback(allocator, allocation);
    }
    *pImage = image;
    *pAllocation = allocation;
    return VK_SUCCESS;
}

static void destroy_image_bits(const struct maar_device* device, uint64_t image)
{
    device->vkDestroyImage(device->handle, MAAR_FROM_BITS(VkImage, image), device->callbacks);
}

static void destroy_pending_image(MaarAllocator allocator, const struct maar_retire_item* item)
{
    if (item->object != 0) {
        destroy_image_bits(&allocator->device, item->object);
    }
    if (item->slot_index != MAAR_SLOT_NONE) {
        maar_release_pending(allocator, (uint32_t)item->slot_index);
    }
}

static VkResult destroy_now(MaarAllocator allocator, const char* call, VkImage image,
                            MaarAllocation allocation)
{
    return maar_destroy_object(allocator, call, MAAR_TO_BITS(image), allocation, destroy_image_bits,
                               destroy_pending_image);
}

VKAPI_ATTR void VKAPI_CALL maarDestroyImage(MaarAllocator allocator, VkImage image,
                                            MaarAllocation allocation)
{
    if (maar_enter(allocator) == VK_SUCCESS) {
        (void)destroy_now(allocator, __func__, image, allocation);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarDestroyImageAfter(MaarAllocator allocator, VkImage image,
                                                     MaarAllocation allocation, uint32_t pointCount,
                                                     const MaarPoint* pPoints)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (image == VK_NULL_HANDLE && allocation == VK_NULL_HANDLE) {
        return VK_SUCCESS;
    }
    if (pointCount == 0) {
        return destroy_now(allocator, __func__, image, allocation);
    }
    return maar_free_after(allocator, __func__, MAAR_TO_BITS(image), allocation, pointCount,
                           pPoints, destroy_pending_image);
}

static const VkImageAspectFlagBits plane_aspects[MAAR_MAX_PLANES] = {
    VK_IMAGE_ASPECT_PLANE_0_BIT,
    VK_IMAGE_ASPECT_PLANE_1_BIT,
    VK_IMAGE_ASPECT_PLANE_2_BIT,
};

/* All planes in one call of the driver. */
static VkResult bind_planes(MaarAllocator allocator, VkImage image, uint32_t plane_count,
                            const MaarAllocation* allocations)
{
    const struct maar_device* device = &allocator->device;
    VkBindImagePlaneMemoryInfo planes[MAAR_MAX_PLANES];
    VkBindImageMemoryInfo binds[MAAR_MAX_PLANES];
    for (uint32_t i = 0; i < plane_count; ++i) {
        const struct maar_slot* slot =
            maar_resolve(allocator, "maarCreateDisjointImage", allocations[i], NULL);
        planes[i] = (VkBindImagePlaneMemoryInfo){
            .sType = VK_STRUCTURE_TYPE_BIND_IMAGE_PLANE_MEMORY_INFO,
            .planeAspect = plane_aspects[i],
        };
        binds[i] = (VkBindImageMemoryInfo){
            .sType = VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_INFO,
            .pNext = &planes[i],
            .image = image,
            .memory = slot->block->memory,
            .memoryOffset = maar_slot_offset(slot),
        };
    }
    return device->vkBindImageMemory2(device->handle, plane_count, binds);
}

static VkResult check_disjoint(MaarAllocator allocator, const char* call,
                               const VkImageCreateInfo* info, uint32_t plane_count)
{
    VkResult result = maar_check_structure(allocator, call, "pImageInfo", info,
                                           VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    if ((info->flags & VK_IMAGE_CREATE_DISJOINT_BIT) == 0) {
        return maar_misuse(allocator, call, "pImageInfo->flags lacks VK_IMAGE_CREATE_DISJOINT_BIT");
    }
    if ((info->flags & VK_IMAGE_CREATE_SPARSE_BINDING_BIT) != 0) {
        return maar_misuse(allocator, call, "pImageInfo is sparse; sparse images are not bound so");
    }
    if (plane_count < 2 || plane_count > MAAR_MAX_PLANES) {
        return maar_misuse(allocator, call, "planeCount is neither 2 nor 3");
    }
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateDisjointImage(MaarAllocator allocator,
                                                       const VkImageCreateInfo* pImageInfo,
                                                       const MaarAllocationCreateInfo* pCreateInfo,
                                                       uint32_t planeCount, VkImage* pImage,
                                                       MaarAllocation* pAllocations)
{
    if (pImage != NULL) {
        *pImage = VK_NULL_HANDLE;
    }
    for (uint32_t i = 0; pAllocations != NULL && i < planeCount && i < MAAR_MAX_PLANES; ++i) {
        pAllocations[i] = VK_NULL_HANDLE;
    }
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pImage == NULL || pAllocations == NULL) {
        return maar_misuse(allocator, __func__, "pImage or pAllocations is NULL");
    }
    result = check_disjoint(allocator, __func__, pImageInfo, planeCount);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (maar_export_types(pCreateInfo) != 0) {
        return maar_misuse(allocator, __func__,
                           "pCreateInfo asks for memory that can be exported; the planes of a "
                           "disjoint image are not shared");
    }
    const struct maar_device* device = &allocator->device;
    VkImage image = VK_NULL_HANDLE;
    uint32_t made = 0;
    maar_lock_rank_expect_none();
    result = device->vkCreateImage(device->handle, pImageInfo, device->callbacks, &image);
    if (result != VK_SUCCESS) {
        maar_report_no_object(allocator, __func__, "image", result);
        return result;
    }
    for (; made < planeCount; ++made) {
        MaarMemoryRequest request;
        maar_image_request(allocator, image, maar_tiling_kind(pImageInfo->tiling),
                           plane_aspects[made], &request);
        result =
            maar_allocate(allocator, __func__, &request, pCreateInfo, false, &pAllocations[made]);
        if (result != VK_SUCCESS) {
            goto undo;
        }
    }
    result = bind_planes(allocator, image, planeCount, pAllocations);
    if (result != VK_SUCCESS) {
        goto undo;
    }
    *pImage = image;
    return VK_SUCCESS;

undo:
    /* The object first: a failed bind may have left some of its planes bound. */
    device->vkDestroyImage(device->handle, image, device->callbacks);
    while (made > 0) {
        --made;
        maar_undo_allocation(allocator, pAllocations[made]);
        pAllocations[made] = VK_NULL_HANDLE;
    }
    return result;
}
