/** @file
 * maar/vma_fill.h: VMA_DEBUG_INITIALIZE_ALLOCATIONS. maar/vma_unit.h includes this file where the
 * macro is set, and nobody else does. New memory that the host can see is filled with one pattern,
 * and freed memory with another, so that a program which reads either is noticed.
 */
#ifndef MAAR_VMA_FILL_H
#define MAAR_VMA_FILL_H

/* The patterns: of new memory, and of freed memory. */
#define MAAR_VMA_NEW_BYTE 0xDC
#define MAAR_VMA_FREED_BYTE 0xEF

static void maarVmaUnitFill(VmaAllocator allocator, VmaAllocation allocation, int byte)
{
    VkMemoryPropertyFlags flags = 0;
    VmaAllocationInfo info;
    void* data = NULL;
    if (allocation == VK_NULL_HANDLE) {
        return;
    }
    maarVmaGetAllocationMemoryProperties(allocator, allocation, &flags);
    maarVmaGetAllocationInfo(allocator, allocation, &info);
    if ((flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0 &&
        maarVmaMapMemory(allocator, allocation, &data) == VK_SUCCESS) {
        memset(data, byte, (size_t)info.size);
        (void)maarVmaFlushAllocation(allocator, allocation, 0, VK_WHOLE_SIZE);
        maarVmaUnmapMemory(allocator, allocation);
    }
}

/* Fills what a call has made, if it succeeded. Returns its result. */
static VkResult maarVmaUnitMade(VkResult result, VmaAllocator allocator, size_t count,
                                const VmaAllocation* pMade)
{
    size_t i = 0;
    for (i = 0; i < count && result == VK_SUCCESS; ++i) {
        maarVmaUnitFill(allocator, pMade[i], MAAR_VMA_NEW_BYTE);
    }
    return result;
}

static void maarVmaUnitFreeing(VmaAllocator allocator, size_t count, const VmaAllocation* pFreed)
{
    size_t i = 0;
    for (i = 0; i < count; ++i) {
        maarVmaUnitFill(allocator, pFreed[i], MAAR_VMA_FREED_BYTE);
    }
}

/* The functions of maar/vma.h that make and free memory, with fills around them. */
#define maarVmaAllocateMemory(a, needs, how, made, info)                                           \
    maarVmaUnitMade((maarVmaAllocateMemory)(a, needs, how, made, info), a, 1, made)
#define maarVmaAllocateDedicatedMemory(a, needs, how, next, made, info)                            \
    maarVmaUnitMade((maarVmaAllocateDedicatedMemory)(a, needs, how, next, made, info), a, 1, made)
#define maarVmaAllocateMemoryPages(a, needs, how, count, made, info)                               \
    maarVmaUnitMade((maarVmaAllocateMemoryPages)(a, needs, how, count, made, info), a, count, made)
#define maarVmaAllocateMemoryForBuffer(a, buffer, how, made, info)                                 \
    maarVmaUnitMade((maarVmaAllocateMemoryForBuffer)(a, buffer, how, made, info), a, 1, made)
#define maarVmaAllocateMemoryForImage(a, image, how, made, info)                                   \
    maarVmaUnitMade((maarVmaAllocateMemoryForImage)(a, image, how, made, info), a, 1, made)
#define maarVmaCreateBuffer(a, what, how, buffer, made, info)                                      \
    maarVmaUnitMade((maarVmaCreateBuffer)(a, what, how, buffer, made, info), a, 1, made)
#define maarVmaCreateBufferWithAlignment(a, what, how, alignment, buffer, made, info)              \
    maarVmaUnitMade(                                                                               \
        (maarVmaCreateBufferWithAlignment)(a, what, how, alignment, buffer, made, info), a, 1,     \
        made)
#define maarVmaCreateDedicatedBuffer(a, what, how, next, buffer, made, info)                       \
    maarVmaUnitMade((maarVmaCreateDedicatedBuffer)(a, what, how, next, buffer, made, info), a, 1,  \
                    made)
#define maarVmaCreateImage(a, what, how, image, made, info)                                        \
    maarVmaUnitMade((maarVmaCreateImage)(a, what, how, image, made, info), a, 1, made)
#define maarVmaCreateDedicatedImage(a, what, how, next, image, made, info)                         \
    maarVmaUnitMade((maarVmaCreateDedicatedImage)(a, what, how, next, image, made, info), a, 1,    \
                    made)
#define maarVmaFreeMemory(a, freed)                                                                \
    (maarVmaUnitFill(a, freed, MAAR_VMA_FREED_BYTE), (maarVmaFreeMemory)(a, freed))
#define maarVmaFreeMemoryPages(a, count, freed)                                                    \
    (maarVmaUnitFreeing(a, count, freed), (maarVmaFreeMemoryPages)(a, count, freed))
#define maarVmaDestroyBuffer(a, buffer, freed)                                                     \
    (maarVmaUnitFill(a, freed, MAAR_VMA_FREED_BYTE), (maarVmaDestroyBuffer)(a, buffer, freed))
#define maarVmaDestroyImage(a, image, freed)                                                       \
    (maarVmaUnitFill(a, freed, MAAR_VMA_FREED_BYTE), (maarVmaDestroyImage)(a, image, freed))

#endif
