/*
 * What the tests of simulated sharing have in common: devices that share as a test says, the
 * functions for it, and a look at the descriptors of this process.
 */
#ifndef MAAR_TESTS_UNIT_SIMULATED_SHARING_H
#define MAAR_TESTS_UNIT_SIMULATED_SHARING_H

#include "tests/unit/simulated/simulated_fixture.h"

#if defined(__linux__)
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#define SHARING_OPAQUE VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
#define SHARING_DMA_BUF VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT
#define SHARING_BOTH_WAYS                                                                          \
    (VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT)

struct sharing_fixture {
    struct simulated_fixture f; /* first: may be given to what takes one */
    PFN_vkGetPhysicalDeviceExternalBufferProperties vkGetPhysicalDeviceExternalBufferProperties;
    PFN_vkGetPhysicalDeviceExternalSemaphoreProperties
        vkGetPhysicalDeviceExternalSemaphoreProperties;
    PFN_vkGetPhysicalDeviceImageFormatProperties2 vkGetPhysicalDeviceImageFormatProperties2;
    PFN_vkGetPhysicalDeviceFormatProperties2 vkGetPhysicalDeviceFormatProperties2;
    PFN_vkGetPhysicalDeviceProperties2 vkGetPhysicalDeviceProperties2;
    PFN_vkEnumerateDeviceExtensionProperties vkEnumerateDeviceExtensionProperties;
    PFN_vkGetMemoryFdKHR vkGetMemoryFdKHR;
    PFN_vkGetMemoryFdPropertiesKHR vkGetMemoryFdPropertiesKHR;
    PFN_vkGetImageDrmFormatModifierPropertiesEXT vkGetImageDrmFormatModifierPropertiesEXT;
    PFN_vkGetSemaphoreFdKHR vkGetSemaphoreFdKHR;
    PFN_vkImportSemaphoreFdKHR vkImportSemaphoreFdKHR;
};

/* Everything by opaque descriptors, buffers and images by dma-buf too. */
static inline MaarSimulatedSharingInfo sharing_info(void)
{
    return (MaarSimulatedSharingInfo){
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_SHARING_INFO,
        .opaqueBuffers = SHARING_BOTH_WAYS,
        .opaqueImages = SHARING_BOTH_WAYS,
        .dmaBufBuffers = SHARING_BOTH_WAYS,
        .dmaBufImages = SHARING_BOTH_WAYS,
        .opaqueBinary = VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT |
                        VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT,
        .opaqueTimeline = VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT |
                          VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT,
    };
}

static inline void sharing_fetch(struct sharing_fixture* s)
{
    const PFN_vkGetDeviceProcAddr get = (PFN_vkGetDeviceProcAddr)maarSimulatedGetInstanceProcAddr(
        s->f.instance, "vkGetDeviceProcAddr");
#define SHARING_FETCH_INSTANCE(name)                                                               \
    s->name = (PFN_##name)maarSimulatedGetInstanceProcAddr(s->f.instance, #name);                  \
    assert_non_null(s->name)
    SHARING_FETCH_INSTANCE(vkGetPhysicalDeviceExternalBufferProperties);
    SHARING_FETCH_INSTANCE(vkGetPhysicalDeviceExternalSemaphoreProperties);
    SHARING_FETCH_INSTANCE(vkGetPhysicalDeviceImageFormatProperties2);
    SHARING_FETCH_INSTANCE(vkGetPhysicalDeviceFormatProperties2);
    SHARING_FETCH_INSTANCE(vkGetPhysicalDeviceProperties2);
    SHARING_FETCH_INSTANCE(vkEnumerateDeviceExtensionProperties);
#undef SHARING_FETCH_INSTANCE
    s->vkGetMemoryFdKHR = (PFN_vkGetMemoryFdKHR)get(s->f.device, "vkGetMemoryFdKHR");
    s->vkGetMemoryFdPropertiesKHR =
        (PFN_vkGetMemoryFdPropertiesKHR)get(s->f.device, "vkGetMemoryFdPropertiesKHR");
    s->vkGetImageDrmFormatModifierPropertiesEXT = (PFN_vkGetImageDrmFormatModifierPropertiesEXT)get(
        s->f.device, "vkGetImageDrmFormatModifierPropertiesEXT");
    s->vkGetSemaphoreFdKHR = (PFN_vkGetSemaphoreFdKHR)get(s->f.device, "vkGetSemaphoreFdKHR");
    s->vkImportSemaphoreFdKHR =
        (PFN_vkImportSemaphoreFdKHR)get(s->f.device, "vkImportSemaphoreFdKHR");
}

/* A device of the fixture's profile that shares so; with NULL it shares nothing. */
static inline void sharing_open(struct sharing_fixture* s, const MaarSimulatedSharingInfo* info)
{
    const char* extensions[4];
    uint32_t count = 0;
    MaarSimulatedProfile* profile = malloc(sizeof(*profile));
    assert_non_null(profile);
    memset(s, 0, sizeof(*s));
    fixture_profile(profile);
    profile->pNext = info;
    if (info != NULL && (info->opaqueBuffers | info->opaqueImages) != 0) {
        extensions[count++] = VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME;
    }
    if (info != NULL && (info->dmaBufBuffers | info->dmaBufImages) != 0) {
        extensions[count++] = VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME;
    }
    if (info != NULL && info->dmaBufImages != 0) {
        extensions[count++] = VK_EXT_IMAGE_DRM_FORMAT_MODIFIER_EXTENSION_NAME;
    }
    if (info != NULL && (info->opaqueBinary | info->opaqueTimeline) != 0) {
        extensions[count++] = VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME;
    }
    fixture_open_with(&s->f, profile, count, extensions);
    free(profile);
    sharing_fetch(s);
}

static inline void sharing_close(struct sharing_fixture* s)
{
    s->f.vkDestroyDevice(s->f.device, NULL);
    s->f.vkDestroyInstance(s->f.instance, NULL);
}

static inline int sharing_setup(void** state)
{
    struct sharing_fixture* s = calloc(1, sizeof(*s));
    const MaarSimulatedSharingInfo info = sharing_info();
    assert_non_null(s);
#if !defined(__linux__)
    (void)info;
    free(s);
    *state = NULL;
    print_message("skipped: only Linux has files without a name\n");
    return 0;
#else
    sharing_open(s, &info);
    *state = s;
    return 0;
#endif
}

static inline int sharing_teardown(void** state)
{
    struct sharing_fixture* s = *state;
    if (s != NULL) {
        sharing_close(s);
        free(s);
    }
    return 0;
}

/* The device of a test; skips where there is none. */
static inline struct sharing_fixture* sharing_of(void** state)
{
    if (*state == NULL) {
        skip();
    }
    return *state;
}

#if defined(__linux__)
/* Descriptors that are open in this process. */
static inline uint32_t sharing_open_fds(void)
{
    uint32_t count = 0;
    DIR* folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count;
}

static inline bool sharing_is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static inline VkDeviceMemory sharing_exportable(const struct sharing_fixture* s, uint32_t type,
                                                VkDeviceSize size,
                                                VkExternalMemoryHandleTypeFlags types)
{
    const VkExportMemoryAllocateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO, .handleTypes = types};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    assert_int_equal(fixture_allocate(&s->f, type, size, &export, &memory), VK_SUCCESS);
    return memory;
}

static inline VkResult sharing_get_fd(const struct sharing_fixture* s, VkDeviceMemory memory,
                                      VkExternalMemoryHandleTypeFlagBits type, int* fd)
{
    const VkMemoryGetFdInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR, .memory = memory, .handleType = type};
    return s->vkGetMemoryFdKHR(s->f.device, &info, fd);
}

static inline int sharing_fd(const struct sharing_fixture* s, VkDeviceMemory memory)
{
    int fd = -1;
    assert_int_equal(sharing_get_fd(s, memory, SHARING_OPAQUE, &fd), VK_SUCCESS);
    assert_true(fd >= 0);
    return fd;
}

static inline VkResult sharing_import(const struct sharing_fixture* s, uint32_t type,
                                      VkDeviceSize size,
                                      VkExternalMemoryHandleTypeFlagBits handle_type, int fd,
                                      VkDeviceMemory* memory)
{
    const VkImportMemoryFdInfoKHR import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR, .handleType = handle_type, .fd = fd};
    return fixture_allocate(&s->f, type, size, &import, memory);
}

static inline uint8_t* sharing_map(const struct sharing_fixture* s, VkDeviceMemory memory)
{
    void* bytes = NULL;
    assert_int_equal(s->f.vkMapMemory(s->f.device, memory, 0, VK_WHOLE_SIZE, 0, &bytes),
                     VK_SUCCESS);
    return bytes;
}

static inline void sharing_fault(const struct sharing_fixture* s, const char* function)
{
    const MaarSimulatedFault fault = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_FAULT,
                                      .pFunctionName = function};
    assert_int_equal(maarSimulatedSetFault(s->f.physical, &fault), VK_SUCCESS);
}
#endif

#endif
