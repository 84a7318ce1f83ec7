/*
 * Requirements, and the ranking of types for objects that do not exist yet.
 */
#include "core/objects/requirements.h"

/* What the driver answers to a question for requirements. */
struct requirement_answer {
    VkMemoryRequirements2 requirements;
    VkMemoryDedicatedRequirements dedicated;
};

/* The head of the chain, to be filled by the driver. */
static VkMemoryRequirements2* open_answer(struct requirement_answer* answer)
{
    *answer = (struct requirement_answer){
        .requirements = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2,
                         .pNext = &answer->dedicated},
        .dedicated = {.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS},
    };
    return &answer->requirements;
}

static void fill_request(const struct requirement_answer* answer, MaarResourceKind kind,
                         MaarMemoryRequest* request)
{
    *request = (MaarMemoryRequest){
        .sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST,
        .requirements = answer->requirements.memoryRequirements,
        .kind = kind,
        .prefersDedicated = answer->dedicated.prefersDedicatedAllocation,
        .requiresDedicated = answer->dedicated.requiresDedicatedAllocation,
    };
}

void maar_buffer_request(MaarAllocator allocator, VkBuffer buffer, MaarMemoryRequest* request)
{
    const struct maar_device* device = &allocator->device;
    const VkBufferMemoryRequirementsInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2,
        .buffer = buffer,
    };
    struct requirement_answer answer;
    maar_lock_rank_expect_none();
    device->vkGetBufferMemoryRequirements2(device->handle, &info, open_answer(&answer));
    fill_request(&answer, MAAR_RESOURCE_KIND_LINEAR, request);
    request->dedicatedBuffer = buffer;
}

void maar_image_request(MaarAllocator allocator, VkImage image, MaarResourceKind kind,
                        VkImageAspectFlagBits plane, MaarMemoryRequest* request)
{
    const struct maar_device* device = &allocator->device;
    const VkImagePlaneMemoryRequirementsInfo plane_info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_PLANE_MEMORY_REQUIREMENTS_INFO,
        .planeAspect = plane,
    };
    const VkImageMemoryRequirementsInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_REQUIREMENTS_INFO_2,
        .pNext = plane != 0 ? &plane_info : NULL,
        .image = image,
    };
    struct requirement_answer answer;
    maar_lock_rank_expect_none();
    device->vkGetImageMemoryRequirements2(device->handle, &info, open_answer(&answer));
    fill_request(&answer, kind, request);
    /* A disjoint image has no memory of its own that could be named. */
    request->dedicatedImage = plane != 0 ? VK_NULL_HANDLE : image;
}

VkResult maar_buffer_info_request(MaarAllocator allocator, const VkBufferCreateInfo* info,
                                  MaarMemoryRequest* request)
{
    const struct maar_device* device = &allocator->device;
    maar_lock_rank_expect_none();
    if (device->facts.maintenance4) {
        const VkDeviceBufferMemoryRequirements question = {
            .sType = VK_STRUCTURE_TYPE_DEVICE_BUFFER_MEMORY_REQUIREMENTS,
            .pCreateInfo = info,
        };
        struct requirement_answer answer;
        device->vkGetDeviceBufferMemoryRequirements(device->handle, &question,
                                                    open_answer(&answer));
        fill_request(&answer, MAAR_RESOURCE_KIND_LINEAR, request);
        return VK_SUCCESS;
    }
    VkBuffer buffer = VK_NULL_HANDLE;
    VkResult result = device->vkCreateBuffer(device->handle, info, device->callbacks, &buffer);
    if (result == VK_SUCCESS) {
        maar_buffer_request(allocator, buffer, request);
        request->dedicatedBuffer = VK_NULL_HANDLE;
        device->vkDestroyBuffer(device->handle, buffer, device->callbacks);
    }
    return result;
}

VkResult maar_image_info_request(MaarAllocator allocator, const VkImageCreateInfo* info,
                                 MaarMemoryRequest* request)
{
    const struct maar_device* device = &allocator->device;
    const MaarResourceKind kind = maar_tiling_kind(info->tiling);
    maar_lock_rank_expect_none();
    if (device->facts.maintenance4) {
        const VkDeviceImageMemoryRequirements question = {
            .sType = VK_STRUCTURE_TYPE_DEVICE_IMAGE_MEMORY_REQUIREMENTS,
            .pCreateInfo = info,
        };
        struct requirement_answer answer;
        device->vkGetDeviceImageMemoryRequirements(device->handle, &question, open_answer(&answer));
        fill_request(&answer, kind, request);
        return VK_SUCCESS;
    }
    VkImage image = VK_NULL_HANDLE;
    VkResult result = device->vkCreateImage(device->handle, info, device->callbacks, &image);
    if (result == VK_SUCCESS) {
        maar_image_request(allocator, image, kind, 0, request);
        request->dedicatedImage = VK_NULL_HANDLE;
        device->vkDestroyImage(device->handle, image, device->callbacks);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarChooseMemoryTypeForBuffer(
    MaarAllocator allocator, const VkBufferCreateInfo* pBufferInfo,
    const MaarAllocationCreateInfo* pCreateInfo, MaarMemoryTypeChoice* pChoice)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_check_structure(allocator, __func__, "pBufferInfo", pBufferInfo,
                                  VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarMemoryRequest request;
    result = maar_buffer_info_request(allocator, pBufferInfo, &request);
    if (result != VK_SUCCESS) {
        return result;
    }
    return maar_choose_memory_type(allocator, __func__, request.requirements.memoryTypeBits,
                                   pCreateInfo != NULL ? pCreateInfo : &maar_default_create_info,
                                   pChoice);
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
        return maar_misuse(allocator, __func__,
                           "pImageInfo is disjoint: its planes have types of their own");
    }
    MaarMemoryRequest request;
    result = maar_image_info_request(allocator, pImageInfo, &request);
    if (result != VK_SUCCESS) {
        return result;
    }
    return maar_choose_memory_type(allocator, __func__, request.requirements.memoryTypeBits,
                                   pCreateInfo != NULL ? pCreateInfo : &maar_default_create_info,
                                   pChoice);
}
