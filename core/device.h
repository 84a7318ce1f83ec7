/*
 * Access to a device: a table of the Vulkan functions that Maar calls, and the facts that Maar
 * queried. backends/vulkan fills both, and nothing else in the library looks up a Vulkan function.
 *
 * A pointer in the table does not prove a capability. `facts` lists the capabilities; a table
 * entry may be NULL when its capability is off. The table does not change after the device is
 * opened, so it needs no lock.
 */
#ifndef MAAR_CORE_DEVICE_H
#define MAAR_CORE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

#include "core/device_win32.h"

/* Functions of Vulkan 1.1, which every device has. */
#define MAAR_DEVICE_FUNCTIONS(X)                                                                   \
    X(vkAllocateMemory)                                                                            \
    X(vkFreeMemory)                                                                                \
    X(vkMapMemory)                                                                                 \
    X(vkUnmapMemory)                                                                               \
    X(vkFlushMappedMemoryRanges)                                                                   \
    X(vkInvalidateMappedMemoryRanges)                                                              \
    X(vkCreateBuffer)                                                                              \
    X(vkDestroyBuffer)                                                                             \
    X(vkCreateImage)                                                                               \
    X(vkDestroyImage)                                                                              \
    X(vkCreateImageView)                                                                           \
    X(vkDestroyImageView)                                                                          \
    X(vkGetBufferMemoryRequirements2)                                                              \
    X(vkGetImageMemoryRequirements2)                                                               \
    X(vkBindBufferMemory2)                                                                         \
    X(vkBindImageMemory2)                                                                          \
    X(vkGetImageSparseMemoryRequirements2)                                                         \
    X(vkQueueBindSparse)                                                                           \
    X(vkQueueSubmit)                                                                               \
    X(vkCreateSemaphore)                                                                           \
    X(vkDestroySemaphore)                                                                          \
    X(vkCreateCommandPool)                                                                         \
    X(vkDestroyCommandPool)                                                                        \
    X(vkAllocateCommandBuffers)                                                                    \
    X(vkFreeCommandBuffers)                                                                        \
    X(vkBeginCommandBuffer)                                                                        \
    X(vkEndCommandBuffer)                                                                          \
    X(vkCmdCopyBuffer)                                                                             \
    X(vkCmdCopyBufferToImage)                                                                      \
    X(vkCmdCopyImage)                                                                              \
    X(vkCmdPipelineBarrier)

/* Functions of capabilities. An entry is NULL without its capability. */
#define MAAR_OPTIONAL_DEVICE_FUNCTIONS(X)                                                          \
    X(vkGetBufferDeviceAddress)                                                                    \
    X(vkGetDeviceBufferMemoryRequirements)                                                         \
    X(vkGetDeviceImageMemoryRequirements)                                                          \
    X(vkGetSemaphoreCounterValue)                                                                  \
    X(vkWaitSemaphores)                                                                            \
    X(vkSignalSemaphore)                                                                           \
    X(vkSetDeviceMemoryPriorityEXT)                                                                \
    X(vkGetMemoryFdKHR)                                                                            \
    X(vkGetMemoryFdPropertiesKHR)                                                                  \
    X(vkGetMemoryHostPointerPropertiesEXT)                                                         \
    X(vkGetSemaphoreFdKHR)                                                                         \
    X(vkImportSemaphoreFdKHR)

#define MAAR_INSTANCE_FUNCTIONS(X)                                                                 \
    X(vkGetPhysicalDeviceProperties2)                                                              \
    X(vkGetPhysicalDeviceMemoryProperties2)                                                        \
    X(vkGetPhysicalDeviceQueueFamilyProperties2)                                                   \
    X(vkGetPhysicalDeviceImageFormatProperties2)                                                   \
    X(vkGetPhysicalDeviceSparseImageFormatProperties2)

/* Functions of Vulkan 1.1 that only sharing uses. An entry is NULL if the driver lacks the
 * function. */
#define MAAR_OPTIONAL_INSTANCE_FUNCTIONS(X)                                                        \
    X(vkGetPhysicalDeviceExternalBufferProperties)                                                 \
    X(vkGetPhysicalDeviceExternalSemaphoreProperties)

/* The most queue families that Maar reads. No known driver has half as many. */
enum { MAAR_MAX_QUEUE_FAMILIES = 16 };

struct maar_device_facts {
    uint32_t api_version;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory;
    VkDeviceSize granularity;         /* >= 1, a power of two */
    VkDeviceSize atom;                /* >= 1, a power of two */
    VkDeviceSize max_allocation_size; /* a default value where the driver reports 0 */
    uint32_t max_allocation_count;    /* a default value where the driver reports 0 */
    bool memory_budget;
    bool memory_priority;
    bool pageable_memory;
    bool buffer_device_address;
    bool maintenance4;
    bool timeline_semaphore;
    bool device_coherent_amd;
    bool protected_memory;
    bool sparse_binding; /* the features that were enabled */
    bool sparse_buffers;
    bool sparse_images_2d;
    bool sparse_images_3d;
    bool sparse_aliased;
    uint32_t queue_family_count;
    VkQueueFlags queue_flags[MAAR_MAX_QUEUE_FAMILIES];
    VkDeviceSize max_buffer_size; /* UINT64_MAX if the driver does not report it */
    uint8_t device_uuid[VK_UUID_SIZE];
    uint8_t driver_uuid[VK_UUID_SIZE];
    uint8_t device_luid[VK_LUID_SIZE];
    uint32_t device_node_mask;
    bool device_luid_valid;
    bool memory_fd; /* extensions that were enabled */
    bool memory_dma_buf;
    bool memory_win32;
    bool memory_host;
    bool semaphore_fd;
    bool semaphore_win32;
    bool image_modifiers;
    bool foreign_family;
    VkDeviceSize host_pointer_alignment; /* a power of two; 0 without memory_host */
    bool pci_address_known;
    uint32_t pci_domain, pci_bus, pci_device, pci_function; /* if VK_EXT_pci_bus_info is enabled */
    uint32_t dropped; /* enum maar_dropped: enabled features that have no effect */
};

/* Features in pEnabledFeatures that neither the API version nor an enabled extension permits. Maar
 * ignores them. */
enum maar_dropped {
    MAAR_DROPPED_BUFFER_DEVICE_ADDRESS = 0x1,
    MAAR_DROPPED_TIMELINE_SEMAPHORE = 0x2,
    MAAR_DROPPED_MAINTENANCE4 = 0x4,
    MAAR_DROPPED_MEMORY_PRIORITY = 0x8,
    MAAR_DROPPED_PAGEABLE_MEMORY = 0x10
};

struct maar_device {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice handle;
    const VkAllocationCallbacks* callbacks; /* may be NULL */
    struct maar_device_facts facts;
#define MAAR_DECLARE(name) PFN_##name name;
    MAAR_DEVICE_FUNCTIONS(MAAR_DECLARE)
    MAAR_OPTIONAL_DEVICE_FUNCTIONS(MAAR_DECLARE)
    MAAR_INSTANCE_FUNCTIONS(MAAR_DECLARE)
    MAAR_OPTIONAL_INSTANCE_FUNCTIONS(MAAR_DECLARE)
#undef MAAR_DECLARE
    struct maar_win32_functions win32; /* NULL without their extensions */
};

struct maar_device_open_info {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    PFN_vkGetInstanceProcAddr get_instance_proc_addr;
    PFN_vkGetDeviceProcAddr get_device_proc_addr; /* may be NULL */
    uint32_t api_version;                         /* the version that the program uses; 0 for 1.1 */
    uint32_t extension_count;
    const char* const* extensions;
    const void* features; /* a chain; may be NULL */
    const VkAllocationCallbacks* callbacks;
};

/* Fills the table and the facts. Returns VK_ERROR_INITIALIZATION_FAILED if a function is missing,
 * and sets *missing to its name. Returns VK_ERROR_INCOMPATIBLE_DRIVER below Vulkan 1.1.
 * backends/vulkan implements the function. */
VkResult maar_device_open(const struct maar_device_open_info* info, struct maar_device* device,
                          const char** missing);

#endif
