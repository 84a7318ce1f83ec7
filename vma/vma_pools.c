/*
 * Pools, and the totals of pools, heaps and everything.
 */
#include "vma/vma_layer.h"

/* Bounds a count of blocks to Maar's range. */
static uint32_t bound_count(size_t count)
{
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

/* Whether a chain says itself what memory is exported as. */
static bool names_exports(const void* chain)
{
    const VkBaseInStructure* link = chain;
    while (link != NULL && link->sType != VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO) {
        link = link->pNext;
    }
    return link != NULL;
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaCreatePool(VmaAllocator allocator,
                                                 const VmaPoolCreateInfo* pCreateInfo,
                                                 VmaPool* pPool)
{
    const VkDeviceSize alignment = pCreateInfo->minAllocationAlignment;
    const VmaPoolCreateFlags ignoring =
        (VmaPoolCreateFlags)VMA_POOL_CREATE_IGNORE_BUFFER_IMAGE_GRANULARITY_BIT;
    MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .pMemoryAllocateNext = pCreateInfo->pMemoryAllocateNext,
        .memoryTypeIndex = pCreateInfo->memoryTypeIndex,
        .strategy =
            (pCreateInfo->flags & (VmaPoolCreateFlags)VMA_POOL_CREATE_LINEAR_ALGORITHM_BIT) != 0
                ? MAAR_PLACEMENT_STRATEGY_LINEAR
                : MAAR_PLACEMENT_STRATEGY_TLSF,
        .blockSize = pCreateInfo->blockSize,
        .minBlockCount = bound_count(pCreateInfo->minBlockCount),
        .maxBlockCount = bound_count(pCreateInfo->maxBlockCount),
        .minAlignment = alignment > allocator->min_alignment ? alignment : allocator->min_alignment,
        .priority = pCreateInfo->priority,
        /* Where there is nothing to ignore, the pool may hold both kinds. */
        .singleKind = (pCreateInfo->flags & ignoring) != 0 &&
                      allocator->properties.limits.bufferImageGranularity > 1,
    };
    *pPool = VK_NULL_HANDLE;
    if (pCreateInfo->memoryTypeIndex >= allocator->memory.memoryTypeCount) {
        maar_vma_report(&allocator->listener, MAAR_MESSAGE_SEVERITY_ERROR,
                        MAAR_MESSAGE_ID_OUT_OF_RANGE,
                        "vmaCreatePool: memoryTypeIndex %u is not below %u",
                        pCreateInfo->memoryTypeIndex, allocator->memory.memoryTypeCount);
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    const MaarExportInfo exports = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = allocator->exports[info.memoryTypeIndex],
    };
    if (exports.handleTypes != 0 && !names_exports(info.pMemoryAllocateNext)) {
        info.pNext = &exports;
    }
    VmaPool made = maar_vma_host_allocate(allocator->callbacks, sizeof *made);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->type_index = pCreateInfo->memoryTypeIndex;
    made->max_block_count = info.maxBlockCount;
    made->linear = info.strategy == MAAR_PLACEMENT_STRATEGY_LINEAR;
    made->has_block_size = info.blockSize != 0;
    const VkResult result = maarCreatePool(allocator->maar, &info, &made->maar);
    if (result != VK_SUCCESS) {
        maar_vma_host_free(allocator->callbacks, made);
        return maar_vma_result(result);
    }
    *pPool = made;
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL maarVmaDestroyPool(VmaAllocator allocator, VmaPool pool)
{
    if (pool != VK_NULL_HANDLE) {
        const uint32_t leaks = atomic_load(&allocator->listener.leak_count);
        maarDestroyPool(allocator->maar, pool->maar);
        maar_vma_report_leaks(&allocator->listener, "vmaDestroyPool", leaks);
        maar_vma_host_free(allocator->callbacks, pool->name);
        maar_vma_host_free(allocator->callbacks, pool);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarVmaCheckPoolCorruption(VmaAllocator allocator, VmaPool pool)
{
    return maarCheckMargins(allocator->maar, pool->maar, UINT32_MAX);
}

VKAPI_ATTR void VKAPI_CALL maarVmaGetPoolName(VmaAllocator allocator, VmaPool pool,
                                              const char** ppName)
{
    (void)allocator;
    *ppName = pool->name;
}

VKAPI_ATTR void VKAPI_CALL maarVmaSetPoolName(VmaAllocator allocator, VmaPool pool,
                                              const char* pName)
{
    char* copy = pName != NULL ? maar_vma_host_copy(allocator->callbacks, pName) : NULL;
    maar_vma_host_free(allocator->callbacks, pool->name);
    pool->name = copy;
    (void)maarSetPoolName(allocator->maar, pool->maar, pName);
}

/* ---- totals ---- */

static VmaStatistics translate_totals(const MaarStatistics* from)
{
    return (VmaStatistics){
        .blockCount = from->blockCount,
        .allocationCount = from->allocationCount,
        .blockBytes = from->blockBytes,
        .allocationBytes = from->allocationBytes,
    };
}

static VmaDetailedStatistics translate_details(const MaarStatistics* totals,
                                               const MaarDetailedStatistics* from)
{
    const bool any = totals->allocationCount > 0;
    const bool free = from->freeRangeCount > 0;
    return (VmaDetailedStatistics){
        .statistics = translate_totals(totals),
        .unusedRangeCount = from->freeRangeCount,
        .allocationSizeMin = any ? from->allocationSizeMin : VK_WHOLE_SIZE,
        .allocationSizeMax = from->allocationSizeMax,
        .unusedRangeSizeMin = free ? from->freeRangeSizeMin : VK_WHOLE_SIZE,
        .unusedRangeSizeMax = from->freeRangeSizeMax,
    };
}

VKAPI_ATTR void VKAPI_CALL maarVmaGetPoolStatistics(VmaAllocator allocator, VmaPool pool,
                                                    VmaStatistics* pStatistics)
{
    MaarStatistics totals = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    (void)maarGetStatistics(allocator->maar, pool->maar, &totals);
    *pStatistics = translate_totals(&totals);
}

VKAPI_ATTR void VKAPI_CALL maarVmaCalculatePoolStatistics(VmaAllocator allocator, VmaPool pool,
                                                          VmaDetailedStatistics* pStatistics)
{
    MaarStatistics totals = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    MaarDetailedStatistics details = {.sType = MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS};
    (void)maarGetStatistics(allocator->maar, pool->maar, &totals);
    (void)maarGetDetailedStatistics(allocator->maar, pool->maar, &details);
    *pStatistics = translate_details(&totals, &details);
}

static void add_details(VmaDetailedStatistics* sum, const VmaDetailedStatistics* part)
{
    sum->statistics.blockCount += part->statistics.blockCount;
    sum->statistics.allocationCount += part->statistics.allocationCount;
    sum->statistics.blockBytes += part->statistics.blockBytes;
    sum->statistics.allocationBytes += part->statistics.allocationBytes;
    sum->unusedRangeCount += part->unusedRangeCount;
    if (part->allocationSizeMin < sum->allocationSizeMin) {
        sum->allocationSizeMin = part->allocationSizeMin;
    }
    if (part->allocationSizeMax > sum->allocationSizeMax) {
        sum->allocationSizeMax = part->allocationSizeMax;
    }
    if (part->unusedRangeSizeMin < sum->unusedRangeSizeMin) {
        sum->unusedRangeSizeMin = part->unusedRangeSizeMin;
    }
    if (part->unusedRangeSizeMax > sum->unusedRangeSizeMax) {
        sum->unusedRangeSizeMax = part->unusedRangeSizeMax;
    }
}

VKAPI_ATTR void VKAPI_CALL maarVmaCalculateStatistics(VmaAllocator allocator,
                                                      VmaTotalStatistics* pStatistics)
{
    static const VmaDetailedStatistics none = {.allocationSizeMin = VK_WHOLE_SIZE,
                                               .unusedRangeSizeMin = VK_WHOLE_SIZE};
    const VkPhysicalDeviceMemoryProperties* memory = &allocator->memory;
    pStatistics->total = none;
    for (uint32_t i = 0; i < VK_MAX_MEMORY_HEAPS; ++i) {
        pStatistics->memoryHeap[i] = none;
    }
    for (uint32_t i = 0; i < VK_MAX_MEMORY_TYPES; ++i) {
        pStatistics->memoryType[i] = none;
        if (i < memory->memoryTypeCount) {
            MaarStatistics totals = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
            MaarDetailedStatistics details = {.sType = MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS};
            (void)maarGetMemoryTypeStatistics(allocator->maar, i, &totals);
            (void)maarGetMemoryTypeDetailedStatistics(allocator->maar, i, &details);
            pStatistics->memoryType[i] = translate_details(&totals, &details);
            add_details(&pStatistics->memoryHeap[memory->memoryTypes[i].heapIndex],
                        &pStatistics->memoryType[i]);
            add_details(&pStatistics->total, &pStatistics->memoryType[i]);
        }
    }
}

VKAPI_ATTR void VKAPI_CALL maarVmaGetHeapBudgets(VmaAllocator allocator, VmaBudget* pBudgets)
{
    const VkPhysicalDeviceMemoryProperties* memory = &allocator->memory;
    MaarHeapBudget budgets[VK_MAX_MEMORY_HEAPS];
    uint32_t count = memory->memoryHeapCount;
    memset(budgets, 0, sizeof budgets);
    for (uint32_t i = 0; i < count; ++i) {
        budgets[i].sType = MAAR_STRUCTURE_TYPE_HEAP_BUDGET;
    }
    (void)maarGetHeapBudgets(allocator->maar, &count, budgets);
    for (uint32_t i = 0; i < count; ++i) {
        const VkDeviceSize size = memory->memoryHeaps[i].size; /* or the program's limit */
        const VkDeviceSize known = budgets[i].budget < size ? budgets[i].budget : size;
        pBudgets[i] = (VmaBudget){
            .statistics = {.blockCount = budgets[i].blockCount,
                           .blockBytes = budgets[i].blockBytes},
            .usage = budgets[i].usage,
            .budget = budgets[i].fromDriver == VK_TRUE ? known : size * 8 / 10,
        };
    }
    for (uint32_t i = 0; i < memory->memoryTypeCount; ++i) {
        MaarStatistics totals = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
        VmaStatistics* sum = &pBudgets[memory->memoryTypes[i].heapIndex].statistics;
        (void)maarGetMemoryTypeStatistics(allocator->maar, i, &totals);
        sum->allocationCount += totals.allocationCount;
        sum->allocationBytes += totals.allocationBytes;
    }
}
