/*
 * The implementation unit of consumer_vma, if it is not linked with the names.
 */
#ifdef CONSUMER_VMA_NAMES
#include <maar/vma.h>
#else
#define VMA_IMPLEMENTATION
#endif
#include "consumer_vma.h"

#include "consumer_device.h"

int free_through_maar(VmaAllocator allocator, VkBuffer buffer, VmaAllocation allocation)
{
    const MaarAllocator maar = maarVmaGetMaarAllocator(allocator);
    const MaarAllocation own = maarVmaGetMaarAllocation(allocator, allocation);
    const int same = maarVmaFromMaarAllocation(allocator, own) == allocation;
    maarDestroyBuffer(maar, buffer, own);
    return same ? 0 : consumer_fail("the handle comes back as another one");
}

int notice_stale(VmaAllocator allocator, VmaAllocation stale)
{
    void* mapped = NULL;
    return vmaMapMemory(allocator, stale, &mapped) != VK_SUCCESS && mapped == NULL
               ? 0
               : consumer_fail("an allocation that was freed can be mapped");
}
