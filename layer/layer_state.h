/*
 * What the layer keeps of each instance and of each device: the functions of the next layer, and
 * what it knows. Found by the loader's dispatch key, which is the first word of every dispatchable
 * handle (an instance shares its key with its physical devices, a device with its queues).
 *
 * Everything here is written while the instance or the device is created, except what is atomic.
 */
#ifndef MAAR_LAYER_STATE_H
#define MAAR_LAYER_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan_core.h>

#include "core/handle.h"
#include "core/port_atomic.h"
#include "layer/layer_newer.h"

#define LAYER_INSTANCE_FUNCTIONS(X)                                                                \
    X(CreateDevice)                                                                                \
    X(DestroyInstance)                                                                             \
    X(EnumerateDeviceExtensionProperties)                                                          \
    X(GetPhysicalDeviceMemoryProperties)                                                           \
    X(GetPhysicalDeviceMemoryProperties2)                                                          \
    X(GetPhysicalDeviceMemoryProperties2KHR)                                                       \
    X(GetPhysicalDeviceProperties)                                                                 \
    X(GetPhysicalDeviceProperties2)                                                                \
    X(GetPhysicalDeviceQueueFamilyProperties)

#define LAYER_DEVICE_FUNCTIONS(X)                                                                  \
    X(AllocateMemory)                                                                              \
    X(BindAccelerationStructureMemoryNV)                                                           \
    X(BindBufferMemory)                                                                            \
    X(BindBufferMemory2)                                                                           \
    X(BindBufferMemory2KHR)                                                                        \
    X(BindImageMemory)                                                                             \
    X(BindImageMemory2)                                                                            \
    X(BindImageMemory2KHR)                                                                         \
    X(BindVideoSessionMemoryKHR)                                                                   \
    X(CreateAccelerationStructureKHR)                                                              \
    X(CreateAccelerationStructureNV)                                                               \
    X(CreateBuffer)                                                                                \
    X(CreateImage)                                                                                 \
    X(CreateSemaphore)                                                                             \
    X(CreateSharedSwapchainsKHR)                                                                   \
    X(CreateSwapchainKHR)                                                                          \
    X(CreateVideoSessionKHR)                                                                       \
    X(DebugMarkerSetObjectNameEXT)                                                                 \
    X(DestroyAccelerationStructureKHR)                                                             \
    X(DestroyAccelerationStructureNV)                                                              \
    X(DestroyBuffer)                                                                               \
    X(DestroyDevice)                                                                               \
    X(DestroyImage)                                                                                \
    X(DestroySemaphore)                                                                            \
    X(DestroySwapchainKHR)                                                                         \
    X(DestroyVideoSessionKHR)                                                                      \
    X(DeviceWaitIdle)                                                                              \
    X(FreeMemory)                                                                                  \
    X(GetAccelerationStructureMemoryRequirementsNV)                                                \
    X(GetBufferMemoryRequirements)                                                                 \
    X(GetBufferMemoryRequirements2)                                                                \
    X(GetBufferMemoryRequirements2KHR)                                                             \
    X(GetDeviceQueue)                                                                              \
    X(GetDeviceQueue2)                                                                             \
    X(GetFenceStatus)                                                                              \
    X(GetImageMemoryRequirements)                                                                  \
    X(GetImageMemoryRequirements2)                                                                 \
    X(GetImageMemoryRequirements2KHR)                                                              \
    X(GetImageSparseMemoryRequirements)                                                            \
    X(GetSemaphoreCounterValue)                                                                    \
    X(GetSemaphoreCounterValueKHR)                                                                 \
    X(GetSwapchainImagesKHR)                                                                       \
    X(GetVideoSessionMemoryRequirementsKHR)                                                        \
    X(MapMemory)                                                                                   \
    X(QueueBindSparse)                                                                             \
    X(QueuePresentKHR)                                                                             \
    X(QueueSubmit)                                                                                 \
    X(QueueSubmit2)                                                                                \
    X(QueueSubmit2KHR)                                                                             \
    X(QueueWaitIdle)                                                                               \
    X(SetDebugUtilsObjectNameEXT)                                                                  \
    X(SetDeviceMemoryPriorityEXT)                                                                  \
    X(SignalSemaphore)                                                                             \
    X(SignalSemaphoreKHR)                                                                          \
    X(UnmapMemory)                                                                                 \
    X(WaitForFences)                                                                               \
    X(WaitSemaphores)                                                                              \
    X(WaitSemaphoresKHR)

/* Functions that layer_newer.h declares: the name, and the type. */
#define LAYER_NEWER_FUNCTIONS(X)                                                                   \
    X(MapMemory2, layer_pfn_map_memory2)                                                           \
    X(MapMemory2KHR, layer_pfn_map_memory2)                                                        \
    X(UnmapMemory2, layer_pfn_unmap_memory2)                                                       \
    X(UnmapMemory2KHR, layer_pfn_unmap_memory2)

#define LAYER_MEMBER(name) PFN_vk##name name;
#define LAYER_NEWER_MEMBER(name, type) type name;

struct layer_instance_table {
    LAYER_INSTANCE_FUNCTIONS(LAYER_MEMBER)
};

struct layer_device_table {
    LAYER_DEVICE_FUNCTIONS(LAYER_MEMBER)
    LAYER_NEWER_FUNCTIONS(LAYER_NEWER_MEMBER)
};

struct layer_instance {
    VkInstance handle;
    PFN_vkGetInstanceProcAddr next_get;
    struct layer_instance_table next;
    uint32_t version;     /* the version that the program asked for */
    bool has_properties2; /* the extension is enabled, or the version has it */
};

enum { LAYER_MOST_FAMILIES = 32, LAYER_SEEN_SLOTS = 1024, LAYER_QUEUE_SLOTS = 64 };

struct layer_device {
    VkDevice handle;
    VkPhysicalDevice physical;
    const struct layer_instance* instance;
    PFN_vkGetDeviceProcAddr next_get;
    struct layer_device_table next;
    uint32_t number;  /* in the file, from 1 on; 0: nothing is recorded any more */
    uint32_t version; /* the lower one of the instance's and the physical device's */
    uint32_t heap_count;
    bool has_budget;
    bool has_dedicated_facts;
    uint32_t family_flags[LAYER_MOST_FAMILIES]; /* VkQueueFlags */
    maar_atomic64 frame_count;
    maar_atomic64 next_budget_ns;            /* when the budget may be recorded again */
    maar_atomic64 seen[LAYER_SEEN_SLOTS];    /* what the host saw last; see layer_sync.c */
    maar_atomic64 queues[LAYER_QUEUE_SLOTS]; /* the queues that are recorded */
    struct layer_uses* uses;                 /* or NULL; see layer_uses.h */
};

/* A function that the layer intercepts. */
struct layer_hook {
    const char* name;
    PFN_vkVoidFunction function;
};

#define LAYER_HOOK(name, function)                                                                 \
    {                                                                                              \
        "vk" #name, (PFN_vkVoidFunction)(function)                                                 \
    }

/* The hooks of each file, which end with one without a name. */
extern const struct layer_hook maar_layer_instance_hooks[];
extern const struct layer_hook maar_layer_device_hooks[];
extern const struct layer_hook maar_layer_memory_hooks[];
extern const struct layer_hook maar_layer_object_hooks[];
extern const struct layer_hook maar_layer_bind_hooks[];
extern const struct layer_hook maar_layer_sparse_hooks[];
extern const struct layer_hook maar_layer_swapchain_hooks[];
extern const struct layer_hook maar_layer_other_hooks[];
extern const struct layer_hook maar_layer_submit_hooks[];
extern const struct layer_hook maar_layer_sync_hooks[];
extern const struct layer_hook maar_layer_name_hooks[];

/* Returns what the layer keeps of the instance or device to which a handle belongs, or NULL. */
struct layer_instance* maar_layer_instance_of(const void* handle);
struct layer_device* maar_layer_device_of(const void* handle);

/* The address of the code that called the function of the layer. */
#define LAYER_CALLER() ((uint64_t)(uintptr_t)__builtin_return_address(0))

#endif
