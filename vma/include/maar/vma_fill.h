/** @file
 * maar/vma_fill.h: VMA_DEBUG_INITIALIZE_ALLOCATIONS. maar/vma_guard.h includes this file where the
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

#endif
