/*
 * Disjoint images: each plane has an allocation of its own. One call of the driver binds all
 * planes.
 */
#include "core/device_calls.h"
#include "core/memory/allocate.h"
#include "core/memory/allocation_free.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/export_types.h"
#include "core/memory/ordered_use.h"
#include "core/memory/slot_home.h"
#include "core/objects/captured_object.h"
#include "core/objects/movable.h"
#include "core/objects/object.h"

static const VkImageAspectFlagBits plane_aspects[MAAR_MAX_PLANES] = {
    VK_IMAGE_ASPECT_PLANE_0_BIT,
    VK_IMAGE_ASPECT_PLANE_1_BIT,
    VK_IMAGE_ASPECT_PLANE_2_BIT,
};

static VkResult bind_planes(MaarAllocator allocator, VkImage image, uint32_t plane_count,
                            const MaarAllocation* allocations)
{
    const struct maar_device* device = &allocator->device;
    VkBindImagePlaneMemoryInfo planes[MAAR_MAX_PLANES];
    VkBindImageMemoryInfo binds[MAAR_MAX_PLANES];
    for (uint32_t i = 0; i < plane_count; ++i) {
        const struct maar_slot* slot = maar_slot_of_own(allocator, allocations[i]);
        planes[i] = (VkBindImagePlaneMemoryInfo){
            .sType = VK_STRUCTURE_TYPE_BIND_IMAGE_PLANE_MEMORY_INFO,
            .planeAspect = plane_aspects[i],
        };
        binds[i] = (VkBindImageMemoryInfo){
            .sType = VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_INFO,
            .pNext = &planes[i],
            .image = image,
            .memory = maar_slot_block(allocator, slot)->memory,
            .memoryOffset = maar_slot_span(allocator, slot).offset,
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
    const struct maar_rule rules[] = {
        {(info->flags & VK_IMAGE_CREATE_DISJOINT_BIT) == 0, MAAR_MESSAGE_ID_DISJOINT_IMAGE,
         "pImageInfo->flags lacks VK_IMAGE_CREATE_DISJOINT_BIT"},
        {(info->flags & VK_IMAGE_CREATE_SPARSE_BINDING_BIT) != 0,
         MAAR_MESSAGE_ID_SPARSE_NOT_SUPPORTED, "pImageInfo is sparse; use maarCreateSparseImage"},
        {0},
    };
    const struct maar_bound bounds[] = {
        {plane_count < 2 || plane_count > MAAR_MAX_PLANES, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "planeCount is neither 2 nor 3", MAAR_SHOW_NUMBER(plane_count)},
        {0},
    };
    result = maar_check_rules_and_bounds(allocator, call, rules, bounds);
    if (result == VK_SUCCESS && (allocator->device.vkBindImageMemory2 == NULL ||
                                 allocator->device.vkGetImageMemoryRequirements2 == NULL)) {
        return maar_fail(allocator, VK_ERROR_FEATURE_NOT_PRESENT,
                         MAAR_MESSAGE_ID_MISSING_ENTRY_POINT, NULL,
                         "%s needs vkBindImageMemory2, which Vulkan 1.0 does not have", call);
    }
    return result == VK_SUCCESS ? maar_refuse_impossible_image(allocator, call, info) : result;
}

/* Frees the allocations of the first `made` planes. */
static void undo_planes(MaarAllocator allocator, uint32_t made, MaarAllocation* allocations)
{
    while (made > 0) {
        --made;
        maar_undo_allocation(allocator, allocations[made]);
        allocations[made] = VK_NULL_HANDLE;
    }
}

/* Adds what a plane wants to what the image wants, for captures. */
static void add_plane(MaarMemoryRequest* whole, const MaarMemoryRequest* plane)
{
    const VkMemoryRequirements* needs = &plane->requirements;
    whole->requirements.size += needs->size;
    whole->requirements.memoryTypeBits &= needs->memoryTypeBits;
    if (needs->alignment > whole->requirements.alignment) {
        whole->requirements.alignment = needs->alignment;
    }
}

/* Creates the image and the allocations of its planes, and binds them. After a failure nothing is
 * left of them. */
static VkResult create_planes(MaarAllocator allocator, const char* call,
                              const VkImageCreateInfo* image_info,
                              const MaarAllocationCreateInfo* info, uint32_t plane_count,
                              VkImage* image, MaarAllocation* allocations)
{
    const struct maar_device* device = &allocator->device;
    struct maar_object object = {0};
    uint32_t made = 0;
    const uint32_t wait_count = maar_ordered_count_waits(info);
    maar_lock_rank_expect_none();
    VkResult result =
        device->vkCreateImage(device->handle, image_info, device->callbacks, &object.image);
    if (result != VK_SUCCESS) {
        maar_report_no_object(allocator, call, "image", result);
        return result;
    }
    MaarMemoryRequest whole = {.requirements = {.memoryTypeBits = UINT32_MAX}};
    for (; made < plane_count; ++made) {
        MaarMemoryRequest request;
        maar_image_request(allocator, object.image, maar_tiling_kind(image_info->tiling),
                           plane_aspects[made], &request);
        add_plane(&whole, &request);
        result =
            maar_allocate_for_object(allocator, call, &request, info, &allocations[made], NULL);
        if (result != VK_SUCCESS) {
            goto undo;
        }
    }
    result = bind_planes(allocator, object.image, plane_count, allocations);
    if (result != VK_SUCCESS) {
        goto undo;
    }
    maar_capture_image(allocator, object.image, image_info, &whole);
    for (uint32_t i = 0; i < plane_count; ++i) {
        maar_capture_held(allocator, object, allocations[i], i);
    }
    *image = object.image;
    return VK_SUCCESS;

undo:
    /* The object is destroyed first, since a failed bind may have left some of its planes bound. */
    maar_discard_object(allocator, object);
    undo_planes(allocator, made, allocations);
    maar_ordered_restore_waits(info, wait_count);
    return result;
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
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__,
                           "pImage or pAllocations is NULL");
    }
    result = check_disjoint(allocator, __func__, pImageInfo, planeCount);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (maar_export_types(allocator, pCreateInfo) != 0) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NOT_EXPORTABLE, __func__,
                           "pCreateInfo asks for memory that can be exported; the planes of a "
                           "disjoint image are never exported");
    }
    if (maar_find_movable(pCreateInfo) != NULL) {
        return maar_fail(allocator, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_CANNOT_MOVE,
                         __func__,
                         "pImageInfo cannot be movable: the planes of a disjoint image are "
                         "allocations of their own");
    }
    return create_planes(allocator, __func__, pImageInfo, pCreateInfo, planeCount, pImage,
                         pAllocations);
}
