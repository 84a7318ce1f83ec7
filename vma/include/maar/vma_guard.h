/** @file
 * maar/vma_guard.h: what a unit does around the functions of maar/vma.h: it looks for misuse
 * (MAAR_VMA_CHECKS), and fills memory (VMA_DEBUG_INITIALIZE_ALLOCATIONS). maar/vma_unit.h includes
 * this file, and nobody else does. Where neither is set, nothing is done around any function.
 */
#ifndef MAAR_VMA_GUARD_H
#define MAAR_VMA_GUARD_H

#if defined(VMA_DEBUG_INITIALIZE_ALLOCATIONS) && VMA_DEBUG_INITIALIZE_ALLOCATIONS
#include "maar/vma_fill.h"
#define MAAR_VMA_FILLS 1
#else
#define MAAR_VMA_FILLS 0
#endif

#if MAAR_VMA_CHECKS
/* Looks at a request. */
#define MAAR_VMA_ASKED(allocator, how, buffer, image)                                              \
    maarVmaCheckRequest((allocator), __func__, (how), (buffer), (image))
/* Notes what the program does with an allocation. */
#define MAAR_VMA_USED(allocator, allocation, use) maarVmaCheckUse((allocator), (allocation), (use))

/* Notes what vmaMapMemory has returned. */
static VkResult maarVmaUnitMapped(VkResult result, VmaAllocator allocator, VmaAllocation allocation)
{
    maarVmaCheckUse(allocator, allocation,
                    result == VK_SUCCESS ? MAAR_VMA_USE_MAP : MAAR_VMA_USE_ACCESS);
    return result;
}
#define MAAR_VMA_MAPPED(result, allocator, allocation)                                             \
    maarVmaUnitMapped((result), (allocator), (allocation))
#else
#define MAAR_VMA_ASKED(allocator, how, buffer, image) ((void)0)
#define MAAR_VMA_USED(allocator, allocation, use) ((void)0)
#define MAAR_VMA_MAPPED(result, allocator, allocation) (result)
#endif

#if MAAR_VMA_CHECKS || MAAR_VMA_FILLS
/* Does what belongs to new allocations, if a call has succeeded. Returns its result. */
static VkResult maarVmaUnitMade(VkResult result, VmaAllocator allocator,
                                const VmaAllocationCreateInfo* pHow, size_t count,
                                const VmaAllocation* pMade)
{
    size_t i = 0;
    (void)pHow;
    for (i = 0; i < count && result == VK_SUCCESS; ++i) {
#if MAAR_VMA_FILLS
        maarVmaUnitFill(allocator, pMade[i], MAAR_VMA_NEW_BYTE);
#endif
#if MAAR_VMA_CHECKS
        maarVmaCheckMade(allocator, pMade[i], pHow);
#endif
    }
    return result;
}

/* Does what belongs to allocations that are about to be freed. */
static void maarVmaUnitFreeing(VmaAllocator allocator, size_t count, const VmaAllocation* pFreed)
{
    size_t i = 0;
    for (i = 0; i < count; ++i) {
#if MAAR_VMA_CHECKS
        maarVmaCheckUse(allocator, pFreed[i], MAAR_VMA_USE_FREE);
#endif
#if MAAR_VMA_FILLS
        maarVmaUnitFill(allocator, pFreed[i], MAAR_VMA_FREED_BYTE);
#endif
    }
}

#define MAAR_VMA_MADE(result, allocator, how, count, made)                                         \
    maarVmaUnitMade((result), (allocator), (how), (count), (made))
#define MAAR_VMA_FREEING(allocator, count, freed) maarVmaUnitFreeing((allocator), (count), (freed))
#else
#define MAAR_VMA_MADE(result, allocator, how, count, made) (result)
#define MAAR_VMA_FREEING(allocator, count, freed) ((void)0)
#endif

#endif
