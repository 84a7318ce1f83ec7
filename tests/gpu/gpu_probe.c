/*
 * Which Vulkan devices the loader finds, one a line, without opening one. Exit codes: 0 one of them
 * is a GPU, or any with --any; 77 none is, and why.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <volk.h>

enum { FOUND = 0, NONE = 77, MOST_DEVICES = 16 };

static int say_none(const char* what, VkResult result)
{
    printf("%s (%d)\n", what, (int)result);
    return NONE;
}

int main(int argc, char** argv)
{
    static const char* const kinds[] = {"other", "integrated GPU", "discrete GPU", "virtual GPU",
                                        "CPU"};
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    const bool any = argc > 1 && strcmp(argv[1], "--any") == 0;
    VkInstance instance = VK_NULL_HANDLE;
    VkPhysicalDevice devices[MOST_DEVICES];
    uint32_t count = MOST_DEVICES;
    uint32_t fitting = 0;
    VkResult result = volkInitialize();
    if (result != VK_SUCCESS) {
        return say_none("no Vulkan loader (libvulkan.so.1)", result);
    }
    result = vkCreateInstance(&info, NULL, &instance);
    if (result != VK_SUCCESS) {
        return say_none("vkCreateInstance fails", result);
    }
    volkLoadInstance(instance);
    result = vkEnumeratePhysicalDevices(instance, &count, devices);
    if (result < VK_SUCCESS || count == 0) {
        return say_none("vkEnumeratePhysicalDevices finds no device", result);
    }
    for (uint32_t i = 0; i < count; ++i) {
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(devices[i], &properties);
        const uint32_t kind = (uint32_t)properties.deviceType;
        const uint32_t version = properties.apiVersion;
        printf("%s, %s, Vulkan %u.%u.%u\n", properties.deviceName,
               kind < sizeof kinds / sizeof kinds[0] ? kinds[kind] : "unknown",
               VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version),
               VK_API_VERSION_PATCH(version));
        fitting += any || properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU ? 1 : 0;
    }
    vkDestroyInstance(instance, NULL);
    return fitting > 0 ? FOUND : NONE;
}
