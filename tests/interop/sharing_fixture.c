/*
 * Rigs that share.
 */
#include "tests/interop/sharing_fixture.h"

#include <stdio.h>

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
    own.sharing = own.sharing != NULL ? own.sharing : rig_sharing_everything();
    rig_start(rig, &own);
    return true;
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
