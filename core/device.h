/*
 * Access to a device: a table of the Vulkan functions that Maar calls, and the facts that Maar
 * queried. backends/vulkan fills both, and nothing else in the library looks up a Vulkan function.
 *
 * A pointer in the table does not prove a capability. `facts` lists the capabilities; a table
 * entry may be NULL when its capability is off. A device of Vulkan 1.0 lacks the functions whose
 * names end in 2: core/device_calls.h calls what the device has. The table does not change after
 * the device is opened, so it needs no lock.
 */
#ifndef MAAR_CORE_DEVICE_H
#define MAAR_CORE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

#include "core/device_win32.h"
#include "maar/allocator.h"

/* Functions for memory and objects, of Vulkan 1.0. Every device has them. */
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
    X(vkDestroyImage)

/* X(name, extension, old): functions of Vulkan 1.1 or of an extension of 1.0, and what a device
 * without both has instead. Of the two entries at least one is set; core/device_calls.h chooses. */
#define MAAR_NEWER_DEVICE_FUNCTIONS(X)                                                             \
    X(vkGetBufferMemoryRequirements2, VK_KHR_GET_MEMORY_REQUIREMENTS_2_EXTENSION_NAME,             \
      vkGetBufferMemoryRequirements)                                                               \
    X(vkGetImageMemoryRequirements2, VK_KHR_GET_MEMORY_REQUIREMENTS_2_EXTENSION_NAME,              \
      vkGetImageMemoryRequirements)                                                                \
    X(vkBindBufferMemory2, VK_KHR_BIND_MEMORY_2_EXTENSION_NAME, vkBindBufferMemory)                \
    X(vkBindImageMemory2, VK_KHR_BIND_MEMORY_2_EXTENSION_NAME, vkBindImageMemory)

/* X(name, group): functions beyond memory and objects. An entry is NULL if the program's table does
 * not have the function, and then facts.missing[group] names one. */
#define MAAR_GROUPED_DEVICE_FUNCTIONS(X)                                                           \
    X(vkCreateSemaphore, SEMAPHORES)                                                               \
    X(vkDestroySemaphore, SEMAPHORES)                                                              \
    X(vkCreateImageView, VIEWS)                                                                    \
    X(vkDestroyImageView, VIEWS)                                                                   \
    X(vkGetImageSubresourceLayout, LAYOUTS)                                                        \
    X(vkCmdCopyBuffer, COMMANDS)                                                                   \
    X(vkCmdCopyBufferToImage, COMMANDS)                                                            \
    X(vkCmdCopyImage, COMMANDS)                                                                    \
    X(vkCmdPipelineBarrier, COMMANDS)                                                              \
    X(vkCmdFillBuffer, FILLS)                                                                      \
    X(vkCmdCopyImageToBuffer, READBACKS)                                                           \
    X(vkQueueSubmit, SUBMISSIONS)                                                                  \
    X(vkCreateCommandPool, SUBMISSIONS)                                                            \
    X(vkDestroyCommandPool, SUBMISSIONS)                                                           \
    X(vkAllocateCommandBuffers, SUBMISSIONS)                                                       \
    X(vkFreeCommandBuffers, SUBMISSIONS)                                                           \
    X(vkBeginCommandBuffer, SUBMISSIONS)                                                           \
    X(vkEndCommandBuffer, SUBMISSIONS)                                                             \
    X(vkQueueBindSparse, SPARSE)                                                                   \
    X(vkGetImageSparseMemoryRequirements2, SPARSE)

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

/* X(name, old): functions of Vulkan 1.1 or of VK_KHR_get_physical_device_properties2, and what an
 * instance without both has instead. The old entries are always set. */
#define MAAR_INSTANCE_FUNCTIONS(X)                                                                 \
    X(vkGetPhysicalDeviceProperties2, vkGetPhysicalDeviceProperties)                               \
    X(vkGetPhysicalDeviceMemoryProperties2, vkGetPhysicalDeviceMemoryProperties)                   \
    X(vkGetPhysicalDeviceQueueFamilyProperties2, vkGetPhysicalDeviceQueueFamilyProperties)         \
    X(vkGetPhysicalDeviceImageFormatProperties2, vkGetPhysicalDeviceImageFormatProperties)         \
    X(vkGetPhysicalDeviceSparseImageFormatProperties2,                                             \
      vkGetPhysicalDeviceSparseImageFormatProperties)

/* Functions of Vulkan 1.1 that only sharing uses. An entry is NULL if the driver lacks the
 * function. */
#define MAAR_OPTIONAL_INSTANCE_FUNCTIONS(X)                                                        \
    X(vkGetPhysicalDeviceExternalBufferProperties)                                                 \
    X(vkGetPhysicalDeviceExternalSemaphoreProperties)

/* The functions beyond memory and objects, by what needs them. */
enum maar_function_group {
    MAAR_FUNCTIONS_SEMAPHORES,
    MAAR_FUNCTIONS_VIEWS,
    MAAR_FUNCTIONS_LAYOUTS,
    MAAR_FUNCTIONS_COMMANDS,
    MAAR_FUNCTIONS_FILLS,
    MAAR_FUNCTIONS_READBACKS,
    MAAR_FUNCTIONS_SUBMISSIONS,
    MAAR_FUNCTIONS_SPARSE,
    MAAR_FUNCTIONS_FORMATS,
    MAAR_FUNCTION_GROUPS
};

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
    /* A function of each group that was not found; NULL if the group is complete. */
    const char* missing[MAAR_FUNCTION_GROUPS];
    bool dedicated_allocation; /* structures about dedicated memory may be in chains */
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
#define MAAR_DECLARE_BOTH(name, extension, old)                                                    \
    PFN_##name name;                                                                               \
    PFN_##old old;
#define MAAR_DECLARE_PAIR(name, old)                                                               \
    PFN_##name name;                                                                               \
    PFN_##old old;
#define MAAR_DECLARE_GROUPED(name, group) PFN_##name name;
    MAAR_DEVICE_FUNCTIONS(MAAR_DECLARE)
    MAAR_NEWER_DEVICE_FUNCTIONS(MAAR_DECLARE_BOTH)
    MAAR_GROUPED_DEVICE_FUNCTIONS(MAAR_DECLARE_GROUPED)
    MAAR_OPTIONAL_DEVICE_FUNCTIONS(MAAR_DECLARE)
    MAAR_INSTANCE_FUNCTIONS(MAAR_DECLARE_PAIR)
    MAAR_OPTIONAL_INSTANCE_FUNCTIONS(MAAR_DECLARE)
#undef MAAR_DECLARE_GROUPED
#undef MAAR_DECLARE_PAIR
#undef MAAR_DECLARE_BOTH
#undef MAAR_DECLARE
    struct maar_win32_functions win32; /* NULL without their extensions */
};

/* Where the functions come from: the program's table, then its entry points. */
struct maar_function_source {
    PFN_vkGetInstanceProcAddr get_instance_proc_addr; /* may be NULL if there is a table */
    PFN_vkGetDeviceProcAddr get_device_proc_addr;     /* may be NULL */
    uint32_t function_count;
    const MaarNamedFunction* functions;
};

struct maar_device_open_info {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    struct maar_function_source source;
    uint32_t api_version; /* the version that the program uses; 0 for 1.1 */
    uint32_t instance_extension_count;
    const char* const* instance_extensions;
    uint32_t extension_count;
    const char* const* extensions;
    const void* features; /* a chain; may be NULL */
    const VkAllocationCallbacks* callbacks;
};

/* Fills the table and the facts. Returns VK_ERROR_INITIALIZATION_FAILED if a function is missing,
 * and sets *missing to its name. Returns VK_ERROR_INCOMPATIBLE_DRIVER below Vulkan 1.0.
 * backends/vulkan implements the function. */
VkResult maar_device_open(const struct maar_device_open_info* info, struct maar_device* device,
                          const char** missing);

#endif
