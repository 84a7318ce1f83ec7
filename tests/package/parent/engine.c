/*
 * A library that uses Maar inside.
 */
#include "engine.h"

#include <maar/maar.h>

int engine_use(void)
{
    const MaarRangeAllocatorCreateInfo create_info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO,
        .size = 1024,
    };
    const MaarRangeAllocateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO,
        .size = 512,
    };
    MaarRangeAllocator allocator;
    int count = 0;
    if (maarCreateRangeAllocator(&create_info, &allocator) == VK_SUCCESS) {
        MaarRange ranges[3];
        VkDeviceSize offsets[3];
        while (count < 3 &&
               maarAllocateRange(allocator, &info, &ranges[count], &offsets[count]) == VK_SUCCESS) {
            ++count;
        }
        maarDestroyRangeAllocator(allocator);
    }
    return count;
}
