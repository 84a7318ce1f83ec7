/*
 * What the tests of the simulated driver share: a small profile, a device on it with everything
 * enabled that the profile offers, and the functions that they call, fetched as a program would.
 */
#ifndef MAAR_TESTS_UNIT_SIMULATED_FIXTURE_H
#define MAAR_TESTS_UNIT_SIMULATED_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "maar/simulated.h"

#define FIXTURE_FUNCTIONS(X)                                                                       \
    X(vkDestroyDevice)                                                                             \
    X(vkGetDeviceQueue)                                                                            \
    X(vkQueueSubmit)                                                                               \
    X(vkQueueBindSparse)                                                                           \
    X(vkDeviceWaitIdle)                                                                            \
    X(vkAllocateMemory)                                                                            \
    X(vkFreeMemory)                                                                                \
    X(vkMapMemory)                                                                                 \
    X(vkUnmapMemory)                                                                               \
    X(vkFlushMappedMemoryRanges)                                                                   \
    X(vkCreateBuffer)                                                                              \
    X(vkDestroyBuffer)                                                                             \
    X(vkCreateImage)                                                                               \
    X(vkDestroyImage)                                                                              \
    X(vkGetBufferMemoryRequirements)                                                               \
    X(vkGetBufferMemoryRequirements2)                                                              \
    X(vkGetImageMemoryRequirements)                                                                \
    X(vkGetImageMemoryRequirements2)                                                               \
    X(vkGetDeviceBufferMemoryRequirements)                                                         \
    X(vkGetDeviceImageMemoryRequirements)                                                          \
    X(vkBindBufferMemory)                                                                          \
    X(vkBindImageMemory)                                                                           \
    X(vkBindImageMemory2)                                                                          \
    X(vkGetBufferDeviceAddress)                                                                    \
    X(vkGetImageSubresourceLayout)                                                                 \
    X(vkGetImageSparseMemoryRequirements)                                                          \
    X(vkGetImageSparseMemoryRequirements2)                                                         \
    X(vkGetDeviceImageSparseMemoryRequirements)                                                    \
    X(vkCmdCopyBufferToImage)                                                                      \
    X(vkQueueSubmit2)                                                                              \
    X(vkQueueWaitIdle)                                                                             \
    X(vkCreateSemaphore)                                                                           \
    X(vkDestroySemaphore)                                                                          \
    X(vkGetSemaphoreCounterValue)                                                                  \
    X(vkSignalSemaphore)                                                                           \
    X(vkWaitSemaphores)                                                                            \
    X(vkCreateFence)                                                                               \
    X(vkDestroyFence)                                                                              \
    X(vkWaitForFences)                                                                             \
    X(vkGetFenceStatus)                                                                            \
    X(vkCreateCommandPool)                                                                         \
    X(vkDestroyCommandPool)                                                                        \
    X(vkAllocateCommandBuffers)                                                                    \
    X(vkBeginCommandBuffer)                                                                        \
    X(vkEndCommandBuffer)                                                                          \
    X(vkFreeCommandBuffers)                                                                        \
    X(vkResetCommandBuffer)                                                                        \
    X(vkCmdExecuteCommands)                                                                        \
    X(vkCmdUpdateBuffer)                                                                           \
    X(vkCmdCopyBuffer)                                                                             \
    X(vkCmdCopyImage)                                                                              \
    X(vkCmdCopyImageToBuffer)                                                                      \
    X(vkCmdClearColorImage)                                                                        \
    X(vkCmdClearDepthStencilImage)                                                                 \
    X(vkCmdPipelineBarrier)                                                                        \
    X(vkCmdPipelineBarrier2)                                                                       \
    X(vkResetFences)                                                                               \
    X(vkCreateQueryPool)                                                                           \
    X(vkDestroyQueryPool)                                                                          \
    X(vkGetQueryPoolResults)                                                                       \
    X(vkCmdWriteTimestamp)                                                                         \
    X(vkCmdCopyBuffer2)                                                                            \
    X(vkCmdCopyImage2)                                                                             \
    X(vkCmdCopyBufferToImage2)                                                                     \
    X(vkCmdCopyImageToBuffer2)                                                                     \
    X(vkCmdFillBuffer)

struct simulated_fixture {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue, second_queue; /* of the first family */
    bool has_other_family;
    VkQueue other_queue; /* of the second family, if there is one */
    PFN_vkDestroyInstance vkDestroyInstance;
    PFN_vkGetPhysicalDeviceMemoryProperties2 vkGetPhysicalDeviceMemoryProperties2;
#define FIXTURE_DECLARE(name) PFN_##name name;
    FIXTURE_FUNCTIONS(FIXTURE_DECLARE)
#undef FIXTURE_DECLARE
};

#define FIXTURE_MIB ((VkDeviceSize)1 << 20)

static inline void fixture_add_extension(MaarSimulatedProfile* p, const char* name)
{
    assert_true(p->extensionCount < MAAR_SIMULATED_MAX_EXTENSIONS);
    assert_true(strlen(name) < MAAR_SIMULATED_MAX_NAME);
    memcpy(p->extensions[p->extensionCount++], name, strlen(name) + 1);
}

/*
 * Heap 0: 256 MiB device-local; heap 1: 512 MiB of the host's. Types: 0 device-local, 1
 * host-visible and coherent, 2 host-visible and not coherent, 3 AMD's device-coherent, 4 lazily
 * allocated.
 */
static inline void fixture_profile(MaarSimulatedProfile* p)
{
    memset(p, 0, sizeof(*p));
    p->sType = MAAR_STRUCTURE_TYPE_SIMULATED_PROFILE;
    memcpy(p->name, "unit", 5);
    memcpy(p->deviceName, "Unit device", 12);
    p->apiVersion = VK_API_VERSION_1_3;
    p->limits.bufferImageGranularity = 1024;
    p->limits.nonCoherentAtomSize = 64;
    p->limits.maxMemoryAllocationCount = 8;
    p->limits.minMemoryMapAlignment = 4096;
    p->limits.maxMemoryAllocationSize = 128 * FIXTURE_MIB;
    p->limits.minUniformBufferOffsetAlignment = 256;
    p->limits.minStorageBufferOffsetAlignment = 32;
    p->limits.maxStorageBufferRange = UINT32_MAX;
    p->limits.sparseAddressSpaceSize = (VkDeviceSize)1 << 31;
    p->limits.maxBufferSize = (VkDeviceSize)1 << 31;
    p->heapCount = 2;
    p->heaps[0].size = 256 * FIXTURE_MIB;
    p->heaps[0].flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT;
    p->heaps[1].size = 512 * FIXTURE_MIB;
    p->typeCount = 5;
    p->types[0].flags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    p->types[1] = (MaarSimulatedType){1, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                             VK_MEMORY_PROPERTY_HOST_COHERENT_BIT};
    p->types[2] = (MaarSimulatedType){1, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                             VK_MEMORY_PROPERTY_HOST_CACHED_BIT};
    p->types[3].flags =
        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD;
    p->types[4].flags =
        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT;
    p->queueFamilyCount = 1;
    p->queueFamilies[0].count = 2;
    p->queueFamilies[0].flags = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT |
                                VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT;
    fixture_add_extension(p, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    fixture_add_extension(p, VK_AMD_DEVICE_COHERENT_MEMORY_EXTENSION_NAME);
    p->sparse.sparseBinding = VK_TRUE;
    p->sparse.residencyBuffer = VK_TRUE;
}

static inline VkResult fixture_make_instance(const MaarSimulatedProfile* profile, uint32_t count,
                                             uint32_t api_version, VkInstance* instance)
{
    const MaarSimulatedInstanceCreateInfo simulated = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_INSTANCE_CREATE_INFO,
        .profileCount = count,
        .pProfiles = profile,
    };
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = api_version};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pNext = &simulated,
                                       .pApplicationInfo = &application};
    const PFN_vkCreateInstance create =
        (PFN_vkCreateInstance)maarSimulatedGetInstanceProcAddr(NULL, "vkCreateInstance");
    assert_non_null(create);
    return create(&info, NULL, instance);
}

static inline VkResult fixture_make_device_with(struct simulated_fixture* f,
                                                uint32_t extension_count,
                                                const char* const* extensions)
{
    VkPhysicalDeviceVulkan13Features v13 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        .synchronization2 = VK_TRUE,
        .maintenance4 = VK_TRUE,
    };
    VkPhysicalDeviceVulkan12Features v12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = &v13,
        .timelineSemaphore = VK_TRUE,
        .bufferDeviceAddress = VK_TRUE,
    };
    const PFN_vkGetPhysicalDeviceFeatures get_features =
        (PFN_vkGetPhysicalDeviceFeatures)maarSimulatedGetInstanceProcAddr(
            f->instance, "vkGetPhysicalDeviceFeatures");
    VkPhysicalDeviceFeatures core;
    get_features(f->physical, &core);
    const float priorities[] = {1.0F, 1.0F};
    const VkDeviceQueueCreateInfo queues[] = {
        {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
         .queueCount = 2,
         .pQueuePriorities = priorities},
        {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
         .queueFamilyIndex = 1,
         .queueCount = 1,
         .pQueuePriorities = priorities},
    };
    const PFN_vkGetPhysicalDeviceQueueFamilyProperties get_families =
        (PFN_vkGetPhysicalDeviceQueueFamilyProperties)maarSimulatedGetInstanceProcAddr(
            f->instance, "vkGetPhysicalDeviceQueueFamilyProperties");
    uint32_t family_count = 0;
    get_families(f->physical, &family_count, NULL);
    f->has_other_family = family_count > 1;
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &v12,
                                     .queueCreateInfoCount = f->has_other_family ? 2 : 1,
                                     .pQueueCreateInfos = queues,
                                     .enabledExtensionCount = extension_count,
                                     .ppEnabledExtensionNames = extensions,
                                     .pEnabledFeatures = &core};
    const PFN_vkCreateDevice create =
        (PFN_vkCreateDevice)maarSimulatedGetInstanceProcAddr(f->instance, "vkCreateDevice");
    return create(f->physical, &info, NULL, &f->device);
}

static inline VkResult fixture_make_device(struct simulated_fixture* f)
{
    return fixture_make_device_with(f, 0, NULL);
}

static inline void fixture_open_with(struct simulated_fixture* f,
                                     const MaarSimulatedProfile* profile, uint32_t extension_count,
                                     const char* const* extensions)
{
    memset(f, 0, sizeof(*f));
    assert_int_equal(fixture_make_instance(profile, 1, VK_API_VERSION_1_3, &f->instance),
                     VK_SUCCESS);
    const PFN_vkEnumeratePhysicalDevices enumerate =
        (PFN_vkEnumeratePhysicalDevices)maarSimulatedGetInstanceProcAddr(
            f->instance, "vkEnumeratePhysicalDevices");
    uint32_t count = 1;
    assert_int_equal(enumerate(f->instance, &count, &f->physical), VK_SUCCESS);
    f->vkDestroyInstance =
        (PFN_vkDestroyInstance)maarSimulatedGetInstanceProcAddr(f->instance, "vkDestroyInstance");
    f->vkGetPhysicalDeviceMemoryProperties2 =
        (PFN_vkGetPhysicalDeviceMemoryProperties2)maarSimulatedGetInstanceProcAddr(
            f->instance, "vkGetPhysicalDeviceMemoryProperties2");
    assert_int_equal(fixture_make_device_with(f, extension_count, extensions), VK_SUCCESS);
    const PFN_vkGetDeviceProcAddr get = (PFN_vkGetDeviceProcAddr)maarSimulatedGetInstanceProcAddr(
        f->instance, "vkGetDeviceProcAddr");
#define FIXTURE_FETCH(name)                                                                        \
    f->name = (PFN_##name)get(f->device, #name);                                                   \
    assert_non_null(f->name);
    FIXTURE_FUNCTIONS(FIXTURE_FETCH)
#undef FIXTURE_FETCH
    f->vkGetDeviceQueue(f->device, 0, 0, &f->queue);
    assert_non_null(f->queue);
    f->vkGetDeviceQueue(f->device, 0, 1, &f->second_queue);
    assert_non_null(f->second_queue);
    if (f->has_other_family) {
        f->vkGetDeviceQueue(f->device, 1, 0, &f->other_queue);
        assert_non_null(f->other_queue);
    }
}

static inline void fixture_open(struct simulated_fixture* f, const MaarSimulatedProfile* profile)
{
    fixture_open_with(f, profile, 0, NULL);
}

static inline int fixture_setup(void** state)
{
    struct simulated_fixture* f = calloc(1, sizeof(*f));
    MaarSimulatedProfile* profile = malloc(sizeof(*profile));
    assert_non_null(f);
    assert_non_null(profile);
    fixture_profile(profile);
    fixture_open(f, profile);
    free(profile);
    *state = f;
    return 0;
}

static inline int fixture_teardown(void** state)
{
    struct simulated_fixture* f = *state;
    if (f->device != NULL) {
        f->vkDestroyDevice(f->device, NULL);
    }
    f->vkDestroyInstance(f->instance, NULL);
    free(f);
    return 0;
}

static inline MaarSimulatedCounters fixture_counters(const struct simulated_fixture* f)
{
    MaarSimulatedCounters counters = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_COUNTERS};
    maarSimulatedGetCounters(f->physical, &counters);
    return counters;
}

/* Exactly these violations, of this kind, have happened since the device was made. */
static inline void fixture_expect(const struct simulated_fixture* f,
                                  MaarSimulatedViolation violation, uint64_t count)
{
    const MaarSimulatedCounters counters = fixture_counters(f);
    assert_int_equal(counters.violations[violation], count);
    assert_int_equal(counters.violationCount, count);
}

static inline VkResult fixture_allocate(const struct simulated_fixture* f, uint32_t type,
                                        VkDeviceSize size, const void* chain,
                                        VkDeviceMemory* memory)
{
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .pNext = chain,
                                       .allocationSize = size,
                                       .memoryTypeIndex = type};
    return f->vkAllocateMemory(f->device, &info, NULL, memory);
}

static inline VkDeviceMemory fixture_memory(const struct simulated_fixture* f, uint32_t type,
                                            VkDeviceSize size)
{
    VkDeviceMemory memory = VK_NULL_HANDLE;
    assert_int_equal(fixture_allocate(f, type, size, NULL, &memory), VK_SUCCESS);
    return memory;
}

static inline VkBuffer fixture_buffer(const struct simulated_fixture* f, VkDeviceSize size,
                                      VkBufferUsageFlags usage)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage};
    VkBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(f->vkCreateBuffer(f->device, &info, NULL, &buffer), VK_SUCCESS);
    return buffer;
}

static inline VkImageCreateInfo fixture_image_info(VkFormat format, uint32_t width, uint32_t height)
{
    return (VkImageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = format,
        .extent = {width, height, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_SAMPLED_BIT,
    };
}

static inline VkImage fixture_image(const struct simulated_fixture* f,
                                    const VkImageCreateInfo* info)
{
    VkImage image = VK_NULL_HANDLE;
    assert_int_equal(f->vkCreateImage(f->device, info, NULL, &image), VK_SUCCESS);
    return image;
}

#endif
