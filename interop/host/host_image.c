/*
 * Images on memory of the host. The image begins at the caller's first byte, and its rows lie as
 * the driver lays them out: a program that has other rows learns it before the device reads. There
 * is no copy.
 */
#include "core/device_calls.h"
#include "core/memory/allocation_free.h"
#include "core/memory/allocation_handle.h"
#include "core/objects/captured_object.h"
#include "core/objects/image_planes.h"
#include "core/objects/shared_object.h"
#include "interop/host/host_pages.h"
#include "maar/share.h"

static VkResult check_host_import(MaarAllocator allocator, const char* call,
                                  const MaarHostImportInfo* info)
{
    const VkResult result = maar_check_structure(allocator, call, "pImportInfo", info,
                                                 MAAR_STRUCTURE_TYPE_HOST_IMPORT_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_rule rules[] = {
        {info->pMemory == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pImportInfo->pMemory is NULL"},
        {info->size == 0, MAAR_MESSAGE_ID_ZERO_SIZE, "pImportInfo->size is 0"},
        {0},
    };
    const VkResult wrong = maar_check_rules(allocator, call, rules);
    return wrong != VK_SUCCESS || maar_host_range_fits(allocator, info->pMemory, info->size)
               ? wrong
               : maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                           call,
                           "pImportInfo->pMemory, %p, and size, %s, reach beyond the address space",
                           info->pMemory, maar_show_bytes(info->size).text);
}

/* Reports memory that the driver, or Vulkan, does not let an image have. */
static VkResult refuse_host_image(MaarAllocator allocator, const char* call, VkResult result,
                                  const char* reason)
{
    return maar_fail(allocator, result, MAAR_MESSAGE_ID_NOT_IMPORTABLE, call,
                     "pImportInfo->pMemory: %s (%s)", reason, maarGetResultName(result));
}

/* Compares the rows of the caller with those of the driver. */
static VkResult compare_rows(MaarAllocator allocator, const char* call, VkImage image,
                             const VkImageCreateInfo* info, VkDeviceSize wanted)
{
    const struct maar_device* device = &allocator->device;
    if (wanted == 0) {
        return VK_SUCCESS;
    }
    const VkResult known = maar_require_functions(allocator, device, call, MAAR_FUNCTIONS_LAYOUTS);
    if (known != VK_SUCCESS) {
        return known;
    }
    struct maar_image_plane planes[MAAR_MOST_PLANES];
    (void)maar_image_planes(info->format, planes);
    /* the lowest aspect: a question about a layout names one */
    const VkImageSubresource first = {.aspectMask = planes[0].aspects & (~planes[0].aspects + 1)};
    VkSubresourceLayout layout = {0};
    maar_lock_rank_expect_none();
    device->vkGetImageSubresourceLayout(device->handle, image, &first, &layout);
    return layout.rowPitch == wanted && layout.offset == 0
               ? VK_SUCCESS
               : maar_fail(
                     allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT,
                     call,
                     "pImportInfo->rowPitch is %llu, and the rows of the driver's image are %s "
                     "apart, from byte %llu on",
                     (unsigned long long)wanted, maar_show_bytes(layout.rowPitch).text,
                     (unsigned long long)layout.offset);
}

/* Checks that the image fits onto the caller's bytes. */
static VkResult check_host_fit(MaarAllocator allocator, const char* call,
                               const struct maar_host_pages* pages,
                               const VkMemoryRequirements* needs, bool dedicated)
{
    if (needs->size > pages->bytes) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                         MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT, call,
                         "the image needs %s, and pImportInfo->size is %s",
                         maar_show_bytes(needs->size).text, maar_show_bytes(pages->bytes).text);
    }
    if (pages->offset % needs->alignment != 0 || (dedicated && pages->offset != 0)) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                         MAAR_MESSAGE_ID_INVALID_ALIGNMENT, call,
                         "pImportInfo->pMemory begins %s after the first imported byte; the "
                         "image needs a multiple of %llu%s",
                         maar_show_bytes(pages->offset).text, (unsigned long long)needs->alignment,
                         dedicated ? ", and the driver requires 0" : "");
    }
    return VK_SUCCESS;
}

/* Imports the pages and binds the image. On failure the caller undoes the allocation. */
static VkResult import_and_bind_pages(MaarAllocator allocator, const char* call,
                                      const MaarHostImportInfo* info,
                                      const struct maar_host_pages* pages, VkImage image,
                                      const MaarMemoryRequest* request, bool dedicated,
                                      MaarAllocation* allocation)
{
    uint32_t type = 0;
    VkResult result = VK_SUCCESS;
    const char* reason = maar_host_type_choose(
        allocator, pages, request->requirements.memoryTypeBits, false, &type, &result);
    if (reason != NULL) {
        return refuse_host_image(allocator, call, result, reason);
    }
    const struct maar_object object = {.image = image};
    result = maar_host_pages_import(
        allocator, call, pages, dedicated ? object : (struct maar_object){.image = VK_NULL_HANDLE},
        type, info->pUserData, info->pName, allocation);
    if (result != VK_SUCCESS) {
        return refuse_host_image(allocator, call, result, maar_host_import_error(result));
    }
    const struct maar_slot* slot = maar_slot_of_own(allocator, *allocation);
    return maar_bind_object(allocator, slot, maar_slot_span(allocator, slot).offset + pages->offset,
                            object, NULL);
}

/* Makes the image of a create info with the external structure. */
static VkResult make_host_image(MaarAllocator allocator, const char* call,
                                const struct maar_shared_image* shared,
                                const MaarHostImportInfo* info, VkImage* image,
                                MaarAllocation* allocation)
{
    const struct maar_device* device = &allocator->device;
    struct maar_host_pages pages;
    const char* reason = maar_host_pages_find(allocator, info->pMemory, info->size, &pages);
    if (reason != NULL) {
        return refuse_host_image(allocator, call, VK_ERROR_INVALID_EXTERNAL_HANDLE, reason);
    }
    maar_lock_rank_expect_none();
    VkResult result = device->vkCreateImage(device->handle, shared->use, device->callbacks, image);
    if (result != VK_SUCCESS) {
        *image = VK_NULL_HANDLE;
        return result;
    }
    MaarMemoryRequest request;
    maar_image_request(allocator, *image, MAAR_RESOURCE_KIND_LINEAR, 0, &request);
    maar_capture_image(allocator, *image, shared->use, &request);
    const bool dedicated = shared->dedicated || request.requiresDedicated == VK_TRUE;
    result = compare_rows(allocator, call, *image, shared->use, info->rowPitch);
    if (result == VK_SUCCESS) {
        result = check_host_fit(allocator, call, &pages, &request.requirements, dedicated);
    }
    if (result == VK_SUCCESS) {
        result = import_and_bind_pages(allocator, call, info, &pages, *image, &request, dedicated,
                                       allocation);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarImportHostImage(MaarAllocator allocator,
                                                   const VkImageCreateInfo* pImageInfo,
                                                   const MaarHostImportInfo* pImportInfo,
                                                   VkImage* pImage, MaarAllocation* pAllocation)
{
    const struct maar_output outputs[] = {
        {"pImage", pImage, sizeof *pImage}, {"pAllocation", pAllocation, sizeof *pAllocation}, {0}};
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result == VK_SUCCESS) {
        result = maar_check_image_info(
            allocator, __func__, pImageInfo,
            "pImageInfo is disjoint; the planes of a disjoint image are not imported");
    }
    if (result == VK_SUCCESS) {
        result = check_host_import(allocator, __func__, pImportInfo);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pImageInfo->tiling != VK_IMAGE_TILING_LINEAR) {
        return maar_fail(
            allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_INVALID_ENUM, __func__,
            "pImageInfo->tiling is %d, not VK_IMAGE_TILING_LINEAR; only a linear image "
            "has its bytes where the host expects them",
            (int)pImageInfo->tiling);
    }
    if (!maar_host_import_is_enabled(allocator)) {
        return refuse_host_image(allocator, __func__, VK_ERROR_FEATURE_NOT_PRESENT,
                                 "VK_EXT_external_memory_host is not enabled");
    }
    struct maar_shared_image shared;
    result = maar_share_image(allocator, __func__, pImageInfo, MAAR_HOST_ALLOCATION,
                              VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT, &shared);
    if (result != VK_SUCCESS) {
        return result;
    }
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    result = make_host_image(allocator, __func__, &shared, pImportInfo, &image, &allocation);
    result =
        maar_finish_shared(allocator, result, (struct maar_object){.image = image}, allocation);
    if (result == VK_SUCCESS) {
        *pImage = image;
        *pAllocation = allocation;
    }
    return result;
}
