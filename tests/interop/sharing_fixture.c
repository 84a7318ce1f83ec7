/*
 * Rigs that share, and descriptors counted through /proc.
 */
#include "tests/interop/sharing_fixture.h"

#include <dirent.h>
#include <stdio.h>

const MaarSimulatedSharingInfo sharing_everything = {
    .sType = MAAR_STRUCTURE_TYPE_SIMULATED_SHARING_INFO,
    .opaqueBuffers =
        VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT,
    .opaqueImages =
        VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT,
    .dmaBufBuffers =
        VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT,
    .dmaBufImages =
        VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT,
    .opaqueBinary =
        VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT,
    .opaqueTimeline =
        VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT,
};

bool sharing_start(struct rig* rig, const struct rig_setup* setup)
{
    const bool simulated = rig_is("") || rig_is("none") || rig_is("simulated");
    struct rig_setup own = setup != NULL ? *setup : (struct rig_setup){0};
    if (!simulated) {
        if (!rig_open_vulkan(rig, &own, rig_is("lavapipe"))) {
            return false;
        }
        rig_make_allocator(rig);
        return true;
    }
    own.sharing = own.sharing != NULL ? own.sharing : &sharing_everything;
    rig_start(rig, &own);
    return true;
}

uint32_t sharing_count_fds(void)
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

MaarExportedMemory sharing_export(struct rig* rig, MaarAllocation allocation)
{
    MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    assert_int_equal(maarExportMemory(rig->allocator, allocation,
                                      VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, &exported),
                     VK_SUCCESS);
    return exported;
}

MaarAllocation sharing_make_buffer(struct rig* rig, VkDeviceSize size, VkBuffer* buffer)
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

MaarImportInfo sharing_import_info(const MaarExportedMemory* exported)
{
    return (MaarImportInfo){
        .sType = MAAR_STRUCTURE_TYPE_IMPORT_INFO,
        .handle = exported->handle,
        .handleType = exported->handleType,
        .blockSize = exported->blockSize,
        .offset = exported->offset,
        .memoryTypeIndex = exported->memoryTypeIndex,
        .dedicated = exported->dedicated,
    };
}

void sharing_finish(struct rig* rig)
{
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence = VK_NULL_HANDLE;
    assert_int_equal(vkCreateFence(rig->device, &info, NULL, &fence), VK_SUCCESS);
    assert_int_equal(vkQueueSubmit(rig->queue, 0, NULL, fence), VK_SUCCESS);
    assert_int_equal(vkWaitForFences(rig->device, 1, &fence, VK_TRUE, 20000000000u), VK_SUCCESS);
    vkDestroyFence(rig->device, fence, NULL);
}
