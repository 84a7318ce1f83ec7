/*
 * Devices small enough that a test can say which type it expects.
 */
#include "tests/rig/rig.h"

#define DEVICE VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
#define VISIBLE VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT
#define COHERENT VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
#define CACHED VK_MEMORY_PROPERTY_HOST_CACHED_BIT
#define LAZY VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT

static const MaarSimulatedProfile discrete = {
    .sType = MAAR_STRUCTURE_TYPE_SIMULATED_PROFILE,
    .name = "discrete",
    .deviceName = "Simulated discrete device",
    .deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
    .apiVersion = VK_API_VERSION_1_3,
    .limits =
        {
            .bufferImageGranularity = 1024,
            .nonCoherentAtomSize = 64,
            .maxMemoryAllocationCount = 4096,
            .minMemoryMapAlignment = 64,
            .minUniformBufferOffsetAlignment = 256,
            .minStorageBufferOffsetAlignment = 16,
            .minTexelBufferOffsetAlignment = 16,
            .maxStorageBufferRange = UINT32_MAX,
            .maxMemoryAllocationSize = (VkDeviceSize)4 << 30,
        },
    .heapCount = 3,
    .heaps =
        {
            {.size = (VkDeviceSize)8 << 30, .flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT},
            {.size = (VkDeviceSize)16 << 30},
            {.size = (VkDeviceSize)256 << 20, .flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT},
        },
    .typeCount = 4,
    .types =
        {
            {.heap = 0, .flags = DEVICE},
            {.heap = 1, .flags = VISIBLE | COHERENT},
            {.heap = 1, .flags = VISIBLE | COHERENT | CACHED},
            {.heap = 2, .flags = DEVICE | VISIBLE | COHERENT},
        },
    .extensionCount = 3,
    .extensions =
        {
            VK_EXT_MEMORY_BUDGET_EXTENSION_NAME,
            VK_EXT_MEMORY_PRIORITY_EXTENSION_NAME,
            VK_EXT_PAGEABLE_DEVICE_LOCAL_MEMORY_EXTENSION_NAME,
        },
};

static const MaarSimulatedProfile noncoherent = {
    .sType = MAAR_STRUCTURE_TYPE_SIMULATED_PROFILE,
    .name = "noncoherent",
    .deviceName = "Simulated device with incoherent caches",
    .deviceType = VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
    .apiVersion = VK_API_VERSION_1_3,
    .limits =
        {
            .bufferImageGranularity = 4096,
            .nonCoherentAtomSize = 256,
            .maxMemoryAllocationCount = 4096,
            .minMemoryMapAlignment = 64,
            .minUniformBufferOffsetAlignment = 64,
            .minStorageBufferOffsetAlignment = 16,
            .minTexelBufferOffsetAlignment = 16,
            .maxStorageBufferRange = UINT32_MAX,
            .maxMemoryAllocationSize = (VkDeviceSize)1 << 30,
        },
    .heapCount = 1,
    .heaps = {{.size = (VkDeviceSize)2 << 30, .flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}},
    .typeCount = 4,
    .types =
        {
            {.heap = 0, .flags = DEVICE},
            {.heap = 0, .flags = DEVICE | VISIBLE | COHERENT},
            {.heap = 0, .flags = DEVICE | VISIBLE | CACHED},
            {.heap = 0, .flags = DEVICE | LAZY},
        },
    .extensionCount = 1,
    .extensions = {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME},
};

static const MaarSimulatedProfile tiny = {
    .sType = MAAR_STRUCTURE_TYPE_SIMULATED_PROFILE,
    .name = "tiny",
    .deviceName = "Simulated device with next to nothing",
    .deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
    .apiVersion = VK_API_VERSION_1_3,
    .limits =
        {
            .bufferImageGranularity = 65536,
            .nonCoherentAtomSize = 64,
            .maxMemoryAllocationCount = 16,
            .minMemoryMapAlignment = 64,
            .minUniformBufferOffsetAlignment = 64,
            .minStorageBufferOffsetAlignment = 16,
            .minTexelBufferOffsetAlignment = 16,
            .maxStorageBufferRange = UINT32_MAX,
            .maxMemoryAllocationSize = (VkDeviceSize)16 << 20,
        },
    .heapCount = 2,
    .heaps =
        {
            {.size = (VkDeviceSize)64 << 20, .flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT},
            {.size = (VkDeviceSize)64 << 20},
        },
    .typeCount = 2,
    .types = {{.heap = 0, .flags = DEVICE}, {.heap = 1, .flags = VISIBLE | COHERENT}},
    .extensionCount = 1,
    .extensions = {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME},
};

static const MaarSimulatedSharingInfo everything = {
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

const MaarSimulatedProfile* rig_profile_discrete(void)
{
    return &discrete;
}

const MaarSimulatedProfile* rig_profile_noncoherent(void)
{
    return &noncoherent;
}

const MaarSimulatedSharingInfo* rig_sharing_everything(void)
{
    return &everything;
}

const MaarSimulatedSharingInfo* rig_sharing_sparse(void)
{
    static MaarSimulatedSharingInfo sharing;
    sharing = everything;
    sharing.sparseBuffers = VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT;
    return &sharing;
}

const MaarSimulatedProfile* rig_profile_sparse(void)
{
    static MaarSimulatedProfile profile;
    profile = discrete;
    profile.limits.sparseAddressSpaceSize = 64 * GIB;
    profile.requirements.sparseAlignment = 64 * KIB;
    profile.sparse.sparseBinding = VK_TRUE;
    profile.sparse.residencyBuffer = VK_TRUE;
    return &profile;
}

const MaarSimulatedProfile* rig_profile_tiny(void)
{
    return &tiny;
}
