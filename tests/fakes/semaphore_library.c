/*
 * FAKES. semaphore_wrap.h as a library that programs load in place of the Vulkan loader: it opens
 * libvulkan.so.1 and puts the stand-in for external semaphores in front. The device then lists
 * VK_KHR_external_semaphore_fd, of which the driver below does not know.
 *
 * MAAR_FAKE_SEMAPHORES in the environment: all (as without it), timeline, binary or none.
 */
#include "tests/fakes/semaphore_wrap.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY_EXPORT __attribute__((visibility("default")))

static const char extension[] = VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME;

static PFN_vkGetInstanceProcAddr loader;
static PFN_vkEnumerateDeviceExtensionProperties enumerate_below;
static PFN_vkCreateDevice create_device_below;

LIBRARY_EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance,
                                                                              const char* pName);

__attribute__((constructor)) static void open_loader(void)
{
    void* library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    void* found = library != NULL ? dlsym(library, "vkGetInstanceProcAddr") : NULL;
    memcpy(&loader, &found, sizeof loader);
}

static uint32_t kinds_asked_for(void)
{
    const char* text = getenv("MAAR_FAKE_SEMAPHORES");
    if (text == NULL || strcmp(text, "all") == 0) {
        return SEMAPHORE_WRAP_ALL;
    }
    return strcmp(text, "timeline") == 0 ? SEMAPHORE_WRAP_TIMELINE
           : strcmp(text, "binary") == 0 ? SEMAPHORE_WRAP_BINARY
                                         : SEMAPHORE_WRAP_NONE;
}

static VKAPI_ATTR VkResult VKAPI_CALL library_create_instance(
    const VkInstanceCreateInfo* info, const VkAllocationCallbacks* callbacks, VkInstance* instance)
{
    const PFN_vkCreateInstance create = (PFN_vkCreateInstance)loader(NULL, "vkCreateInstance");
    const VkResult result = create(info, callbacks, instance);
    if (result == VK_SUCCESS) {
        semaphore_wrap_open(*instance, loader,
                            (PFN_vkGetDeviceProcAddr)loader(*instance, "vkGetDeviceProcAddr"),
                            kinds_asked_for());
        enumerate_below = (PFN_vkEnumerateDeviceExtensionProperties)loader(
            *instance, "vkEnumerateDeviceExtensionProperties");
        create_device_below = (PFN_vkCreateDevice)loader(*instance, "vkCreateDevice");
    }
    return result;
}

/* The driver's list and one more, which comes last. */
static VKAPI_ATTR VkResult VKAPI_CALL
library_enumerate_extensions(VkPhysicalDevice physical, const char* layer, uint32_t* count,
                             VkExtensionProperties* properties)
{
    const bool adds = layer == NULL && kinds_asked_for() != SEMAPHORE_WRAP_NONE;
    const uint32_t room = *count;
    VkResult result = enumerate_below(physical, layer, count, properties);
    if (!adds || result < VK_SUCCESS || result == VK_INCOMPLETE) {
        return result;
    }
    ++*count;
    if (properties == NULL) {
        return result;
    }
    if (*count > room) {
        --*count;
        return VK_INCOMPLETE;
    }
    properties[*count - 1] = (VkExtensionProperties){.specVersion = 1};
    memcpy(properties[*count - 1].extensionName, extension, sizeof extension);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL library_create_device(VkPhysicalDevice physical,
                                                            const VkDeviceCreateInfo* info,
                                                            const VkAllocationCallbacks* callbacks,
                                                            VkDevice* device)
{
    const char** names = calloc(info->enabledExtensionCount + 1, sizeof *names);
    VkDeviceCreateInfo copy = *info;
    if (names == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    copy.enabledExtensionCount = 0;
    copy.ppEnabledExtensionNames = names;
    for (uint32_t i = 0; i < info->enabledExtensionCount; ++i) {
        if (strcmp(info->ppEnabledExtensionNames[i], extension) != 0) {
            names[copy.enabledExtensionCount++] = info->ppEnabledExtensionNames[i];
        }
    }
    const VkResult result = create_device_below(physical, &copy, callbacks, device);
    free(names);
    return result;
}

PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance, const char* pName)
{
    if (loader == NULL) {
        return NULL;
    }
    if (strcmp(pName, "vkGetInstanceProcAddr") == 0) {
        return (PFN_vkVoidFunction)vkGetInstanceProcAddr;
    }
    if (strcmp(pName, "vkCreateInstance") == 0) {
        return (PFN_vkVoidFunction)library_create_instance;
    }
    if (instance == VK_NULL_HANDLE) {
        return loader(instance, pName);
    }
    if (strcmp(pName, "vkEnumerateDeviceExtensionProperties") == 0) {
        return (PFN_vkVoidFunction)library_enumerate_extensions;
    }
    if (strcmp(pName, "vkCreateDevice") == 0) {
        return (PFN_vkVoidFunction)library_create_device;
    }
    return semaphore_wrap_instance_function(instance, pName);
}
