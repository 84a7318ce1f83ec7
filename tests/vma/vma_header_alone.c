/*
 * The header alone, in whichever language and configuration the test compiles it: both names of the
 * file, twice.
 */
#ifdef MAAR_HEADER_VOLK
#include <volk.h>
#endif
#include <vk_mem_alloc.h>

#include <vma/vk_mem_alloc.h>

int main(void);

int main(void)
{
    const VmaAllocationCreateInfo how = {
        0, VMA_MEMORY_USAGE_AUTO, 0, 0, 0, VK_NULL_HANDLE, NULL, 0.0f, 0};
    VmaAllocation allocation = VK_NULL_HANDLE;
    return how.flags == 0 && allocation == VK_NULL_HANDLE ? 0 : 1;
}
