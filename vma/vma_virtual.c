/*
 * Virtual blocks. Externally synchronized, as Maar's range allocators are.
 */
#include "vma/vma_virtual.h"

#include <stdio.h>

#define FLAG(name) ((VmaVirtualAllocationCreateFlags)VMA_VIRTUAL_ALLOCATION_CREATE_##name##_BIT)

static MaarRange range_of(VmaVirtualAllocation allocation)
{
    MaarRange range;
    _Static_assert(sizeof range == sizeof allocation, "handles of ranges have 64 bits");
    memcpy(&range, &allocation, sizeof range);
    return range;
}

static void VKAPI_PTR forward_of_block(void* user, const MaarMessage* message)
{
    maar_vma_forward(user, message);
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaCreateReportingVirtualBlock(
    const VmaVirtualBlockCreateInfo* pCreateInfo, PFN_maarVmaMessage pfnMessage,
    void* pMessageUserData, uint32_t options, VmaVirtualBlock* pBlock)
{
    *pBlock = VK_NULL_HANDLE;
    VmaVirtualBlock made = maar_vma_host_allocate(pCreateInfo->pAllocationCallbacks, sizeof *made);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (pCreateInfo->pAllocationCallbacks != NULL) {
        made->callback_storage = *pCreateInfo->pAllocationCallbacks;
        made->callbacks = &made->callback_storage;
    }
    maar_vma_listen(&made->listener, pfnMessage, pMessageUserData, options);
    const MaarRangeAllocatorCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO,
        .strategy = (pCreateInfo->flags &
                     (VmaVirtualBlockCreateFlags)VMA_VIRTUAL_BLOCK_CREATE_LINEAR_ALGORITHM_BIT) != 0
                        ? MAAR_PLACEMENT_STRATEGY_LINEAR
                        : MAAR_PLACEMENT_STRATEGY_TLSF,
        .size = pCreateInfo->size,
        .pAllocationCallbacks = made->callbacks,
        .pfnMessage = forward_of_block,
        .pMessageUserData = &made->listener,
    };
    const VkResult result = maarCreateRangeAllocator(&info, &made->ranges);
    if (result != VK_SUCCESS) {
        maar_vma_host_free(pCreateInfo->pAllocationCallbacks, made);
        return maar_vma_result(result);
    }
    *pBlock = made;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL
maarVmaCreateVirtualBlock(const VmaVirtualBlockCreateInfo* pCreateInfo, VmaVirtualBlock* pBlock)
{
    return maarVmaCreateReportingVirtualBlock(pCreateInfo, NULL, NULL, 0, pBlock);
}

/* Reports ranges that were never freed, as VulkanMemoryAllocator does. */
static void report_stretch(void* context, const struct maar_vma_stretch* stretch)
{
    VmaVirtualBlock block = context;
    if (stretch->live) {
        char text[160];
        (void)snprintf(
            text, sizeof text,
            "leak: a virtual allocation of size %llu at offset %llu, user data 0x%llx, was "
            "never freed",
            (unsigned long long)stretch->size, (unsigned long long)stretch->offset,
            (unsigned long long)stretch->user_data);
        const MaarMessage message = {.sType = MAAR_STRUCTURE_TYPE_MESSAGE,
                                     .severity = MAAR_MESSAGE_SEVERITY_WARNING,
                                     .id = MAAR_MESSAGE_ID_LEAK,
                                     .pText = text};
        maar_vma_forward(&block->listener, &message);
    }
}

VKAPI_ATTR void VKAPI_CALL maarVmaDestroyVirtualBlock(VmaVirtualBlock block)
{
    if (block != VK_NULL_HANDLE) {
        if (block->listener.message != NULL) {
            maar_vma_walk(block, report_stretch, block);
        }
        maar_vma_report_leaks(&block->listener, "vmaDestroyVirtualBlock", 0);
        const VkAllocationCallbacks storage = block->callback_storage;
        const bool has_callbacks = block->callbacks != NULL;
        maarDestroyRangeAllocator(block->ranges);
        maar_vma_host_free(has_callbacks ? &storage : NULL, block);
    }
}

static MaarRangeStatistics read_totals(VmaVirtualBlock block)
{
    MaarRangeStatistics totals = {.sType = MAAR_STRUCTURE_TYPE_RANGE_STATISTICS};
    (void)maarGetRangeStatistics(block->ranges, &totals);
    return totals;
}

VKAPI_ATTR VkBool32 VKAPI_CALL maarVmaIsVirtualBlockEmpty(VmaVirtualBlock block)
{
    return read_totals(block).rangeCount == 0 ? VK_TRUE : VK_FALSE;
}

VKAPI_ATTR void VKAPI_CALL maarVmaGetVirtualAllocationInfo(VmaVirtualBlock block,
                                                           VmaVirtualAllocation allocation,
                                                           VmaVirtualAllocationInfo* pInfo)
{
    MaarRangeInfo info = {.sType = MAAR_STRUCTURE_TYPE_RANGE_INFO};
    (void)maarGetRangeInfo(block->ranges, range_of(allocation), &info);
    *pInfo = (VmaVirtualAllocationInfo){
        .offset = info.offset, .size = info.size, .pUserData = (void*)(uintptr_t)info.userData};
}

/* One strategy serves MIN_TIME and MIN_MEMORY: its time does not grow with the number of ranges,
 * and it takes a free range that is at most a 64th larger than the smallest one that fits. */
static MaarRangeAllocateFlags translate_flags_of_range(VmaVirtualAllocationCreateFlags flags)
{
    MaarRangeAllocateFlags to = 0;
    to |= (flags & FLAG(UPPER_ADDRESS)) != 0 ? MAAR_RANGE_ALLOCATE_UPPER_BIT : 0u;
    to |= (flags & FLAG(STRATEGY_MIN_OFFSET)) != 0 ? MAAR_RANGE_ALLOCATE_LOWEST_BIT : 0u;
    return to;
}

/* Reports what the interface does not allow; range allocators take any alignment. */
static void report_alignment(VmaVirtualBlock block, VkDeviceSize alignment)
{
    maar_vma_report(&block->listener, MAAR_MESSAGE_SEVERITY_WARNING,
                    MAAR_MESSAGE_ID_INVALID_ALIGNMENT,
                    "vmaVirtualAllocate: pCreateInfo->alignment is %llu, not a power of two; the "
                    "offset is a multiple of it",
                    (unsigned long long)alignment);
}

VKAPI_ATTR VkResult VKAPI_CALL
maarVmaVirtualAllocate(VmaVirtualBlock block, const VmaVirtualAllocationCreateInfo* pCreateInfo,
                       VmaVirtualAllocation* pAllocation, VkDeviceSize* pOffset)
{
    const MaarRangeAllocateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO,
        .size = pCreateInfo->size,
        .alignment = pCreateInfo->alignment,
        .flags = translate_flags_of_range(pCreateInfo->flags),
        .userData = (uint64_t)(uintptr_t)pCreateInfo->pUserData,
    };
    MaarRange range = VK_NULL_HANDLE;
    VkDeviceSize offset = 0;
    if ((info.alignment & (info.alignment - 1)) != 0) {
        report_alignment(block, info.alignment);
    }
    const VkResult result = maarAllocateRange(block->ranges, &info, &range, &offset);
    memcpy(pAllocation, &range, sizeof range);
    if (pOffset != NULL) {
        *pOffset = result == VK_SUCCESS ? offset : VK_WHOLE_SIZE;
    }
    return maar_vma_result(result);
}

VKAPI_ATTR void VKAPI_CALL maarVmaVirtualFree(VmaVirtualBlock block,
                                              VmaVirtualAllocation allocation)
{
    (void)maarFreeRange(block->ranges, range_of(allocation));
}

VKAPI_ATTR void VKAPI_CALL maarVmaClearVirtualBlock(VmaVirtualBlock block)
{
    (void)maarResetRangeAllocator(block->ranges);
}

VKAPI_ATTR void VKAPI_CALL maarVmaSetVirtualAllocationUserData(VmaVirtualBlock block,
                                                               VmaVirtualAllocation allocation,
                                                               void* pUserData)
{
    (void)maarSetRangeUserData(block->ranges, range_of(allocation), (uint64_t)(uintptr_t)pUserData);
}

VKAPI_ATTR void VKAPI_CALL maarVmaGetVirtualBlockStatistics(VmaVirtualBlock block,
                                                            VmaStatistics* pStatistics)
{
    const MaarRangeStatistics totals = read_totals(block);
    *pStatistics = (VmaStatistics){.blockCount = 1,
                                   .allocationCount = totals.rangeCount,
                                   .blockBytes = totals.size,
                                   .allocationBytes = totals.usedSize};
}

/* A walk that joins what is not live. */
struct joining {
    maar_vma_visit visit;
    void* context;
    struct maar_vma_stretch hole; /* of size 0 where there is none */
};

static void end_hole(struct joining* walk)
{
    if (walk->hole.size > 0) {
        walk->visit(walk->context, &walk->hole);
        walk->hole.size = 0;
    }
}

static VkBool32 VKAPI_PTR join_range(void* user, const MaarRangeInfo* info)
{
    struct joining* walk = user;
    if (info->state != MAAR_RANGE_STATE_LIVE) {
        if (walk->hole.size == 0) {
            walk->hole.offset = info->offset;
        }
        walk->hole.size += info->size;
        return VK_TRUE;
    }
    const struct maar_vma_stretch live = {
        .live = true, .offset = info->offset, .size = info->size, .user_data = info->userData};
    end_hole(walk);
    walk->visit(walk->context, &live);
    return VK_TRUE;
}

void maar_vma_walk(VmaVirtualBlock block, maar_vma_visit visit, void* context)
{
    struct joining walk = {.visit = visit, .context = context};
    (void)maarWalkRanges(block->ranges, join_range, &walk);
    end_hole(&walk);
}

static void note_stretch(void* context, const struct maar_vma_stretch* stretch)
{
    VmaDetailedStatistics* sum = context;
    VkDeviceSize* least = stretch->live ? &sum->allocationSizeMin : &sum->unusedRangeSizeMin;
    VkDeviceSize* most = stretch->live ? &sum->allocationSizeMax : &sum->unusedRangeSizeMax;
    sum->unusedRangeCount += stretch->live ? 0 : 1;
    *least = stretch->size < *least ? stretch->size : *least;
    *most = stretch->size > *most ? stretch->size : *most;
}

VKAPI_ATTR void VKAPI_CALL
maarVmaCalculateVirtualBlockStatistics(VmaVirtualBlock block, VmaDetailedStatistics* pStatistics)
{
    *pStatistics = (VmaDetailedStatistics){.allocationSizeMin = VK_WHOLE_SIZE,
                                           .unusedRangeSizeMin = VK_WHOLE_SIZE};
    maarVmaGetVirtualBlockStatistics(block, &pStatistics->statistics);
    maar_vma_walk(block, note_stretch, pStatistics);
}
