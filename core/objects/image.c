/*
 * The public calls on images that are not disjoint: create, allocate for, bind, destroy, and choose
 * a memory type. object.h has their steps.
 */
#include "core/memory/allocate.h"
#include "core/memory/allocation_check.h"
#include "core/memory/allocation_free.h"
#include "core/memory/export_types.h"
#include "core/objects/captured_object.h"
#include "core/objects/movable.h"
#include "core/objects/object.h"
#include "core/objects/shared_object.h"
#include "core/objects/stitched.h"

/* Creates an image whose create info is checked, and places it. dedicated: it requires dedicated
 * memory, whatever the driver says. */
static VkResult make_image(MaarAllocator allocator, const char* call,
                           const VkImageCreateInfo* image_info, bool dedicated,
                           const MaarAllocationCreateInfo* info, VkImage* image,
                           MaarAllocation* allocation)
{
    const struct maar_device* device = &allocator->device;
    struct maar_object object = {0};
    maar_lock_rank_expect_none();
    VkResult result =
        device->vkCreateImage(device->handle, image_info, device->callbacks, &object.image);
    if (result != VK_SUCCESS) {
        maar_report_no_object(allocator, call, "image", result);
        return result;
    }
    MaarMemoryRequest request;
    maar_image_request(allocator, object.image, maar_tiling_kind(image_info->tiling), 0, &request);
    maar_capture_image(allocator, object.image, image_info, &request);
    request.requiresDedicated |= dedicated ? VK_TRUE : VK_FALSE;
    result = maar_place_object(allocator, call, object, &request, info, NULL, allocation);
    if (result == VK_SUCCESS) {
        *image = object.image;
    }
    return result;
}

/* Creates an image whose memory may be exported. */
static VkResult create_shared_image(MaarAllocator allocator, const char* call,
                                    const VkImageCreateInfo* image_info,
                                    const MaarAllocationCreateInfo* info, VkImage* image,
                                    MaarAllocation* allocation)
{
    struct maar_shared_image shared;
    const VkResult result = maar_share_image(
        allocator, call, image_info, maar_export_types(allocator, info),
        (VkExternalMemoryFeatureFlags)VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT, &shared);
    return result != VK_SUCCESS
               ? result
               : make_image(allocator, call, shared.use, shared.dedicated, info, image, allocation);
}

/* Creates an image that Maar can create anew. */
static VkResult create_movable_image(MaarAllocator allocator, const char* call,
                                     const VkImageCreateInfo* image_info,
                                     const MaarAllocationCreateInfo* info, VkImage* image,
                                     MaarAllocation* allocation)
{
    struct maar_movable* movable = NULL;
    struct maar_object object = {0};
    VkResult result = maar_movable_prepare_image(allocator, call, image_info, info, &movable);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = make_image(allocator, call, &movable->image, false, info, &object.image, allocation);
    if (result != VK_SUCCESS) {
        maar_host_free(allocator->callbacks, movable);
        return result;
    }
    result = maar_movable_publish(allocator, movable, object, allocation);
    *image = result == VK_SUCCESS ? object.image : VK_NULL_HANDLE;
    return result;
}

static VkResult create_image(MaarAllocator allocator, const char* call,
                             const VkImageCreateInfo* image_info,
                             const MaarAllocationCreateInfo* info, VkImage* image,
                             MaarAllocation* allocation)
{
    enum maar_stitch_end stitched = MAAR_STITCH_OTHERWISE;
    VkResult result = VK_SUCCESS;
    if (maar_may_stitch(allocator, info)) {
        stitched = maar_create_stitched_image(allocator, call, image_info, info, &result, image,
                                              allocation);
        if (stitched == MAAR_STITCH_ENDED) {
            return result;
        }
    }
    if (maar_find_movable(info) != NULL) {
        result = create_movable_image(allocator, call, image_info, info, image, allocation);
    } else {
        result = create_shared_image(allocator, call, image_info, info, image, allocation);
    }
    if (result == VK_SUCCESS && stitched == MAAR_STITCH_NO_SPACE) {
        maar_note_fallback(allocator, *allocation);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateImage(MaarAllocator allocator,
                                               const VkImageCreateInfo* pImageInfo,
                                               const MaarAllocationCreateInfo* pCreateInfo,
                                               VkImage* pImage, MaarAllocation* pAllocation)
{
    const struct maar_output outputs[] = {
        {"pImage", pImage, sizeof *pImage},
        {"pAllocation", pAllocation, sizeof *pAllocation},
        {0},
    };
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_check_image_info(allocator, __func__, pImageInfo,
                                   "pImageInfo is disjoint; use maarCreateDisjointImage");
    if (result != VK_SUCCESS) {
        return result;
    }
    return create_image(allocator, __func__, pImageInfo, pCreateInfo, pImage, pAllocation);
}

VKAPI_ATTR VkResult VKAPI_CALL
maarAllocateMemoryForImage(MaarAllocator allocator, VkImage image, VkImageTiling tiling,
                           const MaarAllocationCreateInfo* pCreateInfo, MaarAllocation* pAllocation)
{
    const struct maar_object object = {.image = image};
    const struct maar_output outputs[] = {
        {"pAllocation", pAllocation, sizeof *pAllocation},
        {0},
    };
    VkResult result = maar_enter_with_object(allocator, __func__, "image", object, outputs);
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarMemoryRequest request;
    maar_image_request(allocator, image, maar_tiling_kind(tiling), 0, &request);
    return maar_allocate(allocator, __func__, &request, pCreateInfo, pAllocation);
}

VKAPI_ATTR VkResult VKAPI_CALL maarBindImage(MaarAllocator allocator, MaarAllocation allocation,
                                             VkDeviceSize offset, VkImage image, const void* pNext)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (image == VK_NULL_HANDLE) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_HANDLE, __func__,
                           "image is VK_NULL_HANDLE");
    }
    struct maar_span span;
    struct maar_slot* slot = maar_bind_target(allocator, __func__, allocation, offset, &span);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (pNext == NULL) { /* not a plane, whose requirements are its own, nor of a swapchain */
        MaarMemoryRequest request;
        maar_image_request(allocator, image, MAAR_RESOURCE_KIND_UNKNOWN, 0, &request);
        result = maar_check_place(allocator, __func__, slot, span, offset, &request.requirements);
        if (result != VK_SUCCESS) {
            return result;
        }
    }
    const struct maar_object object = {.image = image};
    return maar_bind_object(allocator, slot, span.offset + offset, object, pNext);
}

VKAPI_ATTR void VKAPI_CALL maarDestroyImage(MaarAllocator allocator, VkImage image,
                                            MaarAllocation allocation)
{
    const struct maar_object object = {.image = image};
    if (maar_enter(allocator) == VK_SUCCESS) {
        (void)maar_destroy_object(allocator, __func__, object, allocation, false);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarDestroyImageAfter(MaarAllocator allocator, VkImage image,
                                                     MaarAllocation allocation, uint32_t pointCount,
                                                     const MaarPoint* pPoints)
{
    const struct maar_object object = {.image = image};
    VkResult result = maar_enter(allocator);
    return result != VK_SUCCESS ? result
                                : maar_destroy_object_after(allocator, __func__, object, allocation,
                                                            pointCount, pPoints, false);
}

VKAPI_ATTR VkResult VKAPI_CALL maarChooseMemoryTypeForImage(
    MaarAllocator allocator, const VkImageCreateInfo* pImageInfo,
    const MaarAllocationCreateInfo* pCreateInfo, MaarMemoryTypeChoice* pChoice)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_check_structure(allocator, __func__, "pImageInfo", pImageInfo,
                                  VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    if ((pImageInfo->flags & VK_IMAGE_CREATE_DISJOINT_BIT) != 0) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_DISJOINT_IMAGE, __func__,
                           "pImageInfo is disjoint: each plane may need another memory type");
    }
    result = maar_refuse_impossible_image(allocator, __func__, pImageInfo);
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarMemoryRequest request;
    result = maar_image_info_request(allocator, pImageInfo, &request);
    if (result != VK_SUCCESS) {
        return result;
    }
    return maar_choose_memory_type(allocator, __func__, request.requirements.memoryTypeBits,
                                   pCreateInfo, pChoice);
}
