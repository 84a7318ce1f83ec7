/*
 * Allocates and frees memory, reads and maps allocations.
 */
#include "vma/vma_layer.h"

#include "vma/vma_fast.h"
#include "vma/vma_place.h"

void maar_vma_fill_info(const MaarAllocationInfo* from, VmaAllocationInfo* info)
{
    *info = (VmaAllocationInfo){
        .memoryType = from->memoryTypeIndex,
        .deviceMemory = from->memory,
        .offset = from->offset,
        .size = from->size,
        .pMappedData = from->pMappedData,
        .pUserData = from->pUserData,
        .pName = from->pName,
    };
}

/* Reads an allocation of Maar's. The structure is zero if the handle is stale. */
static MaarAllocationInfo read_info(VmaAllocator allocator, VmaAllocation allocation)
{
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    (void)maarGetAllocationInfo(allocator->maar, maar_vma_own(allocator, allocation), &info);
    return info;
}

void maar_vma_read(VmaAllocator allocator, VmaAllocation allocation, VmaAllocationInfo* info)
{
    const MaarAllocationInfo read = read_info(allocator, allocation);
    maar_vma_fill_info(&read, info);
}

/* ---- which memory ---- */

static VkResult take_choice(VkResult result, const MaarMemoryTypeChoice* choice, uint32_t* index)
{
    *index = result == VK_SUCCESS ? choice->memoryTypeIndex : UINT32_MAX;
    return maar_vma_result(result);
}

VKAPI_ATTR VkResult VKAPI_CALL
maarVmaFindMemoryTypeIndex(VmaAllocator allocator, uint32_t memoryTypeBits,
                           const VmaAllocationCreateInfo* pCreateInfo, uint32_t* pIndex)
{
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    struct maar_vma_how how;
    VkResult result =
        maar_vma_translate(allocator, pCreateInfo, (struct maar_vma_subject){0}, &how);
    if (result == VK_SUCCESS) {
        result = maarChooseMemoryType(allocator->maar, memoryTypeBits, &how.info, &choice);
    }
    return take_choice(result, &choice, pIndex);
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaFindMemoryTypeIndexForBufferInfo(
    VmaAllocator allocator, const VkBufferCreateInfo* pBufferInfo,
    const VmaAllocationCreateInfo* pCreateInfo, uint32_t* pIndex)
{
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    struct maar_vma_how how;
    VkResult result = maar_vma_translate(allocator, pCreateInfo,
                                         maar_vma_of_buffer(allocator, pBufferInfo), &how);
    if (result == VK_SUCCESS) {
        result = maarChooseMemoryTypeForBuffer(allocator->maar, pBufferInfo, &how.info, &choice);
    }
    return take_choice(result, &choice, pIndex);
}

VKAPI_ATTR VkResult VKAPI_CALL
maarVmaFindMemoryTypeIndexForImageInfo(VmaAllocator allocator, const VkImageCreateInfo* pImageInfo,
                                       const VmaAllocationCreateInfo* pCreateInfo, uint32_t* pIndex)
{
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    struct maar_vma_how how;
    VkResult result =
        maar_vma_translate(allocator, pCreateInfo, maar_vma_of_image(pImageInfo), &how);
    if (result == VK_SUCCESS) {
        result = maarChooseMemoryTypeForImage(allocator->maar, pImageInfo, &how.info, &choice);
    }
    return take_choice(result, &choice, pIndex);
}

/* ---- allocate and free ---- */

static inline VkResult allocate(VmaAllocator allocator, const VkMemoryRequirements* needs,
                                const MaarAllocationCreateInfo* how, VmaAllocation* allocation,
                                VmaAllocationInfo* info)
{
    const MaarMemoryRequest request = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST,
                                       .requirements = *needs,
                                       .kind = MAAR_RESOURCE_KIND_UNKNOWN};
    MaarAllocation made = VK_NULL_HANDLE;
    if (needs->size == 0) {
        maar_vma_report(&allocator->listener, MAAR_MESSAGE_SEVERITY_ERROR,
                        MAAR_MESSAGE_ID_ZERO_SIZE, "VkMemoryRequirements: size is 0");
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    const VkResult result = maarAllocateMemory(allocator->maar, &request, how, &made);
    if (result != VK_SUCCESS) {
        return maar_vma_result(result);
    }
    maar_vma_finish(allocator, made, allocation, info);
    return VK_SUCCESS;
}

MAAR_VMA_NOINLINE static VkResult allocate_slowly(VmaAllocator allocator,
                                                  const VkMemoryRequirements* needs,
                                                  const VmaAllocationCreateInfo* create_info,
                                                  VmaAllocation* allocation,
                                                  VmaAllocationInfo* info)
{
    struct maar_vma_how how;
    const VkResult result =
        maar_vma_translate(allocator, create_info, (struct maar_vma_subject){0}, &how);
    return result == VK_SUCCESS ? allocate(allocator, needs, &how.info, allocation, info) : result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaAllocateMemory(VmaAllocator allocator,
                                                     const VkMemoryRequirements* pRequirements,
                                                     const VmaAllocationCreateInfo* pCreateInfo,
                                                     VmaAllocation* pAllocation,
                                                     VmaAllocationInfo* pInfo)
{
    MaarAllocationCreateInfo how;
    *pAllocation = VK_NULL_HANDLE;
    return maar_vma_translate_simple(allocator, pCreateInfo, &how)
               ? allocate(allocator, pRequirements, &how, pAllocation, pInfo)
               : allocate_slowly(allocator, pRequirements, pCreateInfo, pAllocation, pInfo);
}

VKAPI_ATTR VkResult VKAPI_CALL
maarVmaAllocateDedicatedMemory(VmaAllocator allocator, const VkMemoryRequirements* pRequirements,
                               const VmaAllocationCreateInfo* pCreateInfo, void* pAllocateNext,
                               VmaAllocation* pAllocation, VmaAllocationInfo* pInfo)
{
    VmaAllocationCreateInfo dedicated = *pCreateInfo;
    struct maar_vma_how how;
    *pAllocation = VK_NULL_HANDLE;
    dedicated.flags |= VMA_ALLOCATION_CREATE_DEDICATED_MEMORY_BIT;
    const VkResult result =
        maar_vma_translate(allocator, &dedicated, (struct maar_vma_subject){0}, &how);
    if (result != VK_SUCCESS) {
        return result;
    }
    maar_vma_dedicate(&how, pAllocateNext);
    return allocate(allocator, pRequirements, &how.info, pAllocation, pInfo);
}

VKAPI_ATTR void VKAPI_CALL maarVmaFreeMemory(VmaAllocator allocator, VmaAllocation allocation)
{
    if (allocation == VK_NULL_HANDLE) {
        return;
    }
    if (maar_vma_place_of(allocation) == NULL) {
        maarFreeMemory(allocator->maar, maar_vma_own(allocator, allocation));
    }
}

VKAPI_ATTR void VKAPI_CALL maarVmaFreeMemoryPages(VmaAllocator allocator, size_t allocationCount,
                                                  const VmaAllocation* pAllocations)
{
    for (size_t i = 0; i < allocationCount; ++i) {
        maarVmaFreeMemory(allocator, pAllocations[i]);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL
maarVmaAllocateMemoryPages(VmaAllocator allocator, const VkMemoryRequirements* pRequirements,
                           const VmaAllocationCreateInfo* pCreateInfo, size_t allocationCount,
                           VmaAllocation* pAllocations, VmaAllocationInfo* pInfo)
{
    VkResult result = VK_SUCCESS;
    for (size_t i = 0; i < allocationCount; ++i) {
        pAllocations[i] = VK_NULL_HANDLE;
    }
    /* As in the library, the first element of both counts for all: programs pass one alone. */
    for (size_t i = 0; i < allocationCount && result == VK_SUCCESS; ++i) {
        result = maarVmaAllocateMemory(allocator, pRequirements, pCreateInfo, &pAllocations[i],
                                       pInfo != NULL ? &pInfo[i] : NULL);
    }
    if (result != VK_SUCCESS) {
        maarVmaFreeMemoryPages(allocator, allocationCount, pAllocations);
        for (size_t i = 0; i < allocationCount; ++i) {
            pAllocations[i] = VK_NULL_HANDLE;
        }
    }
    return result;
}

/* ---- read and name ---- */

VKAPI_ATTR void VKAPI_CALL maarVmaGetAllocationInfo(VmaAllocator allocator,
                                                    VmaAllocation allocation,
                                                    VmaAllocationInfo* pInfo)
{
    const struct maar_vma_place* place = maar_vma_place_of(allocation);
    if (place != NULL) {
        maar_vma_place_info(place, pInfo);
    } else {
        const MaarAllocationInfo info = read_info(allocator, allocation);
        maar_vma_fill_info(&info, pInfo);
    }
}

VKAPI_ATTR void VKAPI_CALL maarVmaGetAllocationInfo2(VmaAllocator allocator,
                                                     VmaAllocation allocation,
                                                     VmaAllocationInfo2* pInfo)
{
    const struct maar_vma_place* place = maar_vma_place_of(allocation);
    *pInfo = (VmaAllocationInfo2){.dedicatedMemory = VK_FALSE};
    if (place != NULL) {
        maar_vma_place_info(place, &pInfo->allocationInfo);
    } else {
        const MaarAllocationInfo info = read_info(allocator, allocation);
        maar_vma_fill_info(&info, &pInfo->allocationInfo);
        pInfo->blockSize = info.blockSize;
        pInfo->dedicatedMemory = info.dedicated;
    }
}

VKAPI_ATTR void VKAPI_CALL maarVmaSetAllocationUserData(VmaAllocator allocator,
                                                        VmaAllocation allocation, void* pUserData)
{
    struct maar_vma_place* place = maar_vma_place_of(allocation);
    if (place != NULL) {
        atomic_store(&place->user_data, pUserData);
    } else {
        (void)maarSetAllocationUserData(allocator->maar, maar_vma_own(allocator, allocation),
                                        pUserData);
    }
}

VKAPI_ATTR void VKAPI_CALL maarVmaSetAllocationName(VmaAllocator allocator,
                                                    VmaAllocation allocation, const char* pName)
{
    struct maar_vma_place* place = maar_vma_place_of(allocation);
    if (place != NULL) {
        maar_vma_place_name(allocator, place, pName);
    } else {
        (void)maarSetAllocationName(allocator->maar, maar_vma_own(allocator, allocation), pName);
    }
}

VKAPI_ATTR void VKAPI_CALL maarVmaGetAllocationMemoryProperties(VmaAllocator allocator,
                                                                VmaAllocation allocation,
                                                                VkMemoryPropertyFlags* pFlags)
{
    VmaAllocationInfo info;
    maarVmaGetAllocationInfo(allocator, allocation, &info);
    *pFlags = allocator->memory.memoryTypes[info.memoryType].propertyFlags;
}

VKAPI_ATTR VkResult VKAPI_CALL
maarVmaGetMemoryWin32Handle(VmaAllocator allocator, VmaAllocation allocation,
                            VkExternalMemoryHandleTypeFlagBits handleType, void** pHandle)
{
    MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    *pHandle = NULL;
    VkResult result = maarExportMemory(allocator->maar, maar_vma_own(allocator, allocation),
                                       handleType, &exported);
    if (result == VK_SUCCESS) {
        result = maarTakeWin32Handle(allocator->maar, exported.handle, pHandle);
        maarDestroyExternalHandle(allocator->maar, exported.handle);
    }
    return result;
}

/* ---- the host's view ---- */

VKAPI_ATTR VkResult VKAPI_CALL maarVmaMapMemory(VmaAllocator allocator, VmaAllocation allocation,
                                                void** ppData)
{
    struct maar_vma_place* place = maar_vma_place_of(allocation);
    *ppData = NULL;
    return place != NULL
               ? maar_vma_place_map(allocator, place, ppData)
               : maarMapMemory(allocator->maar, maar_vma_own(allocator, allocation), ppData);
}

VKAPI_ATTR void VKAPI_CALL maarVmaUnmapMemory(VmaAllocator allocator, VmaAllocation allocation)
{
    struct maar_vma_place* place = maar_vma_place_of(allocation);
    if (place != NULL) {
        maar_vma_place_unmap(allocator, place);
    } else {
        maarUnmapMemory(allocator->maar, maar_vma_own(allocator, allocation));
    }
}

/* Whether an allocation's memory needs no flush: it is coherent, or the host cannot see it. Memory
 * that needs none may be flushed without being mapped. */
static bool needs_no_flush(VmaAllocator allocator, VmaAllocation allocation)
{
    const VkMemoryPropertyFlags both = (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                       (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkMemoryPropertyFlags flags = 0;
    maarVmaGetAllocationMemoryProperties(allocator, allocation, &flags);
    return (flags & both) != VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaFlushAllocation(VmaAllocator allocator,
                                                      VmaAllocation allocation, VkDeviceSize offset,
                                                      VkDeviceSize size)
{
    const struct maar_vma_place* place = maar_vma_place_of(allocation);
    if (needs_no_flush(allocator, allocation)) {
        return VK_SUCCESS;
    }
    return place != NULL ? maar_vma_place_sync(allocator, place, offset, size, true)
                         : maarFlushAllocation(allocator->maar, maar_vma_own(allocator, allocation),
                                               offset, size);
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaInvalidateAllocation(VmaAllocator allocator,
                                                           VmaAllocation allocation,
                                                           VkDeviceSize offset, VkDeviceSize size)
{
    const struct maar_vma_place* place = maar_vma_place_of(allocation);
    if (needs_no_flush(allocator, allocation)) {
        return VK_SUCCESS;
    }
    return place != NULL ? maar_vma_place_sync(allocator, place, offset, size, false)
                         : maarInvalidateAllocation(
                               allocator->maar, maar_vma_own(allocator, allocation), offset, size);
}

/* Calls a function for each element that needs it. */
static VkResult for_each(VmaAllocator allocator, uint32_t count, const VmaAllocation* allocations,
                         const VkDeviceSize* offsets, const VkDeviceSize* sizes, bool flushes)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; ++i) {
        const VkDeviceSize offset = offsets != NULL ? offsets[i] : 0;
        const VkDeviceSize size = sizes != NULL ? sizes[i] : VK_WHOLE_SIZE;
        result = flushes ? maarVmaFlushAllocation(allocator, allocations[i], offset, size)
                         : maarVmaInvalidateAllocation(allocator, allocations[i], offset, size);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaFlushAllocations(VmaAllocator allocator,
                                                       uint32_t allocationCount,
                                                       const VmaAllocation* pAllocations,
                                                       const VkDeviceSize* pOffsets,
                                                       const VkDeviceSize* pSizes)
{
    return for_each(allocator, allocationCount, pAllocations, pOffsets, pSizes, true);
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaInvalidateAllocations(VmaAllocator allocator,
                                                            uint32_t allocationCount,
                                                            const VmaAllocation* pAllocations,
                                                            const VkDeviceSize* pOffsets,
                                                            const VkDeviceSize* pSizes)
{
    return for_each(allocator, allocationCount, pAllocations, pOffsets, pSizes, false);
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaCopyMemoryToAllocation(VmaAllocator allocator,
                                                             const void* pSource,
                                                             VmaAllocation allocation,
                                                             VkDeviceSize offset, VkDeviceSize size)
{
    struct maar_vma_place* place = maar_vma_place_of(allocation);
    if (size == 0) {
        return VK_SUCCESS;
    }
    return place != NULL
               ? maar_vma_place_write(allocator, place, offset, size, pSource)
               : maarCopyToAllocation(allocator->maar, maar_vma_own(allocator, allocation), offset,
                                      size, pSource);
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaCopyAllocationToMemory(VmaAllocator allocator,
                                                             VmaAllocation allocation,
                                                             VkDeviceSize offset,
                                                             void* pDestination, VkDeviceSize size)
{
    struct maar_vma_place* place = maar_vma_place_of(allocation);
    if (size == 0) {
        return VK_SUCCESS;
    }
    return place != NULL
               ? maar_vma_place_read(allocator, place, offset, size, pDestination)
               : maarCopyFromAllocation(allocator->maar, maar_vma_own(allocator, allocation),
                                        offset, size, pDestination);
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaCheckCorruption(VmaAllocator allocator,
                                                      uint32_t memoryTypeBits)
{
    return maarCheckMargins(allocator->maar, VK_NULL_HANDLE, memoryTypeBits);
}
