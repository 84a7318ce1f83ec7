/*
 * Reads the features that concern Maar from a VkDeviceCreateInfo::pNext chain, in any structure
 * that can hold them.
 */
#ifndef MAAR_BACKENDS_VULKAN_FEATURE_CHAIN_H
#define MAAR_BACKENDS_VULKAN_FEATURE_CHAIN_H

#include <stdbool.h>

struct maar_vulkan_features {
    bool buffer_device_address;
    bool timeline_semaphore;
    bool maintenance4;
    bool memory_priority;
    bool pageable_memory;
    bool device_coherent_amd;
    bool protected_memory;
    bool sparse_binding;
    bool sparse_buffers;
    bool sparse_images_2d;
    bool sparse_images_3d;
    bool sparse_aliased;
};

/* `chain` may be NULL: all features are off then. */
void maar_vulkan_features_read(const void* chain, struct maar_vulkan_features* features);

#endif
