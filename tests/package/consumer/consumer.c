/*
 * The smallest user of Maar: two ranges of a space of 1024, which must not overlap, and, where the
 * simulated driver came along, its first function.
 */
#include <maar/maar.h>
#include <stdio.h>
#ifdef CONSUMER_SIMULATED
#include <maar/simulated.h>
#endif

int main(void)
{
    if (maarGetVersion() != MAAR_VERSION) {
        puts("headers and library differ in version");
        return 1;
    }
    const MaarRangeAllocatorCreateInfo create_info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO,
        .size = 1024,
    };
    MaarRangeAllocator allocator;
    if (maarCreateRangeAllocator(&create_info, &allocator) != VK_SUCCESS) {
        puts("no range allocator");
        return 1;
    }
    const MaarRangeAllocateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO,
        .size = 512,
    };
    MaarRange ranges[2];
    VkDeviceSize offsets[2] = {0, 0};
    const VkResult first = maarAllocateRange(allocator, &info, &ranges[0], &offsets[0]);
    const VkResult second = maarAllocateRange(allocator, &info, &ranges[1], &offsets[1]);
    maarDestroyRangeAllocator(allocator);
    if (first != VK_SUCCESS || second != VK_SUCCESS || offsets[0] + offsets[1] != 512) {
        puts("two halves do not fill the space");
        return 1;
    }
#ifdef CONSUMER_SIMULATED
    if (maarSimulatedGetInstanceProcAddr(VK_NULL_HANDLE, "vkCreateInstance") == NULL) {
        puts("the simulated driver has no vkCreateInstance");
        return 1;
    }
#endif
    return 0;
}
