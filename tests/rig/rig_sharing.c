/*
 * What tests of shared memory need of any rig.
 */
#include "tests/rig/rig.h"

#include <dirent.h>

uint32_t rig_count_fds(void)
{
    DIR* folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    uint32_t count = 0;
    while (readdir(folder) != NULL) {
        ++count;
    }
    assert_int_equal(closedir(folder), 0);
    return count;
}

MaarExportedMemory rig_export(struct rig* rig, MaarAllocation allocation)
{
    MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    assert_int_equal(maarExportMemory(rig->allocator, allocation,
                                      VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, &exported),
                     VK_SUCCESS);
    return exported;
}

MaarAllocation rig_create_shared_buffer(struct rig* rig, VkDeviceSize size, VkBuffer* buffer)
{
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pNext = &export;
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    const VkBufferCreateInfo info = rig_buffer_info(size);
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, buffer, &allocation),
                     VK_SUCCESS);
    return allocation;
}
