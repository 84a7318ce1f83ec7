/*
 * What the tests of partially resident images on simulated devices share.
 */
#ifndef MAAR_TESTS_TILES_SIMULATED_TILES_H
#define MAAR_TESTS_TILES_SIMULATED_TILES_H

#include "tests/tiles/tile_images.h"

/* What sets one simulated device apart from another. */
struct tile_device {
    VkDeviceSize page_size; /* 0: 64 KiB */
    MaarSimulatedMipTail tail;
    VkDeviceSize tail_offset;
    VkDeviceSize metadata_size;
    VkDeviceSize device_heap;   /* 0: 8 GiB */
    VkDeviceSize address_space; /* 0: 1 TiB */
    VkDeviceSize granularity;   /* 0: 1 KiB */
    PFN_maarOutOfMemory observer;
    PFN_vkGetDeviceProcAddr addresses; /* NULL: the driver's */
    bool noncoherent;                  /* all that the host sees */
};

/* The discrete device with partially resident images; setup's profile does not matter. */
static inline void tile_device_start(struct rig* rig, const struct tile_device* device,
                                     const struct rig_setup* setup, VkFlags allocator_flags)
{
    MaarSimulatedProfile profile = *rig_profile_discrete();
    struct rig_setup mine = {.profile = NULL};
    if (setup != NULL) {
        mine = *setup;
    }
    profile.limits.sparseAddressSpaceSize =
        device->address_space != 0 ? device->address_space : (VkDeviceSize)1 << 40;
    profile.requirements.sparseAlignment = device->page_size;
    profile.requirements.sparseImageAlignment = device->page_size;
    profile.requirements.mipTail = device->tail;
    profile.requirements.mipTailOffset = device->tail_offset;
    profile.requirements.metadataSize = device->metadata_size;
    profile.sparse.sparseBinding = VK_TRUE;
    profile.sparse.residencyBuffer = VK_TRUE;
    profile.sparse.residencyImage2D = VK_TRUE;
    profile.sparse.residencyImage3D = VK_TRUE;
    if (device->granularity != 0) {
        profile.limits.bufferImageGranularity = device->granularity;
    }
    if (device->device_heap != 0) {
        profile.heaps[0].size = device->device_heap;
    }
    for (uint32_t i = 0; i < profile.typeCount && device->noncoherent; ++i) {
        profile.types[i].flags &= ~(VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    }
    mine.profile = &profile;
    mine.paging = true;
    rig_open(rig, &mine);
    if (device->addresses != NULL) {
        rig->create_info.pfnGetDeviceProcAddr = device->addresses;
    }
    rig->create_info.flags |= allocator_flags;
    rig->create_info.pfnOutOfMemory = device->observer;
    rig_make_allocator(rig);
}

#endif
