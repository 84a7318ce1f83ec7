/*
 * Reads features from a chain. A feature may be in its extension's structure or in the structure of
 * the core version that adopted it.
 */
#include "backends/vulkan/feature_chain.h"

#include <string.h>
#include <vulkan/vulkan_core.h>

void maar_vulkan_features_read(const void* chain, struct maar_vulkan_features* features)
{
    memset(features, 0, sizeof *features);
    for (const VkBaseInStructure* link = chain; link != NULL; link = link->pNext) {
        const void* any = link;
        switch ((int)link->sType) {
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2: {
            const VkPhysicalDeviceFeatures* core =
                &((const VkPhysicalDeviceFeatures2*)any)->features;
            features->sparse_binding |= core->sparseBinding == VK_TRUE;
            features->sparse_buffers |= core->sparseResidencyBuffer == VK_TRUE;
            features->sparse_images_2d |= core->sparseResidencyImage2D == VK_TRUE;
            features->sparse_images_3d |= core->sparseResidencyImage3D == VK_TRUE;
            features->sparse_aliased |= core->sparseResidencyAliased == VK_TRUE;
            break;
        }
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES: {
            const VkPhysicalDeviceVulkan11Features* core = any;
            features->protected_memory |= core->protectedMemory == VK_TRUE;
            break;
        }
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROTECTED_MEMORY_FEATURES: {
            const VkPhysicalDeviceProtectedMemoryFeatures* one = any;
            features->protected_memory |= one->protectedMemory == VK_TRUE;
            break;
        }
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES: {
            const VkPhysicalDeviceVulkan12Features* core = any;
            features->buffer_device_address |= core->bufferDeviceAddress == VK_TRUE;
            features->timeline_semaphore |= core->timelineSemaphore == VK_TRUE;
            break;
        }
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES: {
            const VkPhysicalDeviceVulkan13Features* core = any;
            features->maintenance4 |= core->maintenance4 == VK_TRUE;
            break;
        }
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES: {
            const VkPhysicalDeviceBufferDeviceAddressFeatures* one = any;
            features->buffer_device_address |= one->bufferDeviceAddress == VK_TRUE;
            break;
        }
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES: {
            const VkPhysicalDeviceTimelineSemaphoreFeatures* one = any;
            features->timeline_semaphore |= one->timelineSemaphore == VK_TRUE;
            break;
        }
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES: {
            const VkPhysicalDeviceMaintenance4Features* one = any;
            features->maintenance4 |= one->maintenance4 == VK_TRUE;
            break;
        }
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PRIORITY_FEATURES_EXT: {
            const VkPhysicalDeviceMemoryPriorityFeaturesEXT* one = any;
            features->memory_priority |= one->memoryPriority == VK_TRUE;
            break;
        }
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PAGEABLE_DEVICE_LOCAL_MEMORY_FEATURES_EXT: {
            const VkPhysicalDevicePageableDeviceLocalMemoryFeaturesEXT* one = any;
            features->pageable_memory |= one->pageableDeviceLocalMemory == VK_TRUE;
            break;
        }
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COHERENT_MEMORY_FEATURES_AMD: {
            const VkPhysicalDeviceCoherentMemoryFeaturesAMD* one = any;
            features->device_coherent_amd |= one->deviceCoherentMemory == VK_TRUE;
            break;
        }
        default:
            break;
        }
    }
}
