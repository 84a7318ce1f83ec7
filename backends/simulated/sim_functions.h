/*
 * Every Vulkan function of the simulated driver, once.
 *
 * SIM_*_FUNCTIONS(X): X(name, since, extension, traits, usual)
 *   since      minor version of Vulkan 1 that made the function core; 99 when none did
 *   extension  SIM_EXT_* that provides the function where the version does not
 *   traits     SIM_CAN_FAIL: returns errors, so that faults apply; SIM_SEES_LOSS: returns
 *              VK_ERROR_DEVICE_LOST on a lost device; SIM_AFTER_LOSS: may be called on a lost one
 *   usual      the failure of a fault that names no result
 * SIM_ALIASES(A): A(alias, name, extension)
 */
#ifndef MAAR_SIM_FUNCTIONS_H
#define MAAR_SIM_FUNCTIONS_H

enum sim_function_traits {
    SIM_CAN_FAIL = 1,
    SIM_SEES_LOSS = 2,
    SIM_AFTER_LOSS = 4,
};

/* clang-format off */
#define SIM_GLOBAL_FUNCTIONS(X)                                                                    \
    X(vkEnumerateInstanceVersion, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                  \
    X(vkEnumerateInstanceExtensionProperties, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                      \
    X(vkEnumerateInstanceLayerProperties, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                          \
    X(vkCreateInstance, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                            \
    X(vkGetInstanceProcAddr, 0, SIM_EXT_NONE, 0, VK_SUCCESS)

#define SIM_INSTANCE_FUNCTIONS(X)                                                                  \
    X(vkDestroyInstance, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                           \
    X(vkEnumeratePhysicalDevices, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                  \
    X(vkGetPhysicalDeviceProperties, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                               \
    X(vkGetPhysicalDeviceFeatures, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                 \
    X(vkGetPhysicalDeviceMemoryProperties, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                         \
    X(vkGetPhysicalDeviceQueueFamilyProperties, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                    \
    X(vkGetPhysicalDeviceFormatProperties, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                         \
    X(vkGetPhysicalDeviceImageFormatProperties, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_FORMAT_NOT_SUPPORTED) \
    X(vkGetPhysicalDeviceSparseImageFormatProperties, 0, SIM_EXT_NONE, 0, VK_SUCCESS)              \
    X(vkGetPhysicalDeviceProperties2, 1, SIM_EXT_PROPERTIES2, 0, VK_SUCCESS)                       \
    X(vkGetPhysicalDeviceFeatures2, 1, SIM_EXT_PROPERTIES2, 0, VK_SUCCESS)                         \
    X(vkGetPhysicalDeviceMemoryProperties2, 1, SIM_EXT_PROPERTIES2, 0, VK_SUCCESS)                 \
    X(vkGetPhysicalDeviceQueueFamilyProperties2, 1, SIM_EXT_PROPERTIES2, 0, VK_SUCCESS)            \
    X(vkGetPhysicalDeviceFormatProperties2, 1, SIM_EXT_PROPERTIES2, 0, VK_SUCCESS)                 \
    X(vkGetPhysicalDeviceImageFormatProperties2, 1, SIM_EXT_PROPERTIES2, SIM_CAN_FAIL, VK_ERROR_FORMAT_NOT_SUPPORTED) \
    X(vkGetPhysicalDeviceSparseImageFormatProperties2, 1, SIM_EXT_PROPERTIES2, 0, VK_SUCCESS)      \
    X(vkGetPhysicalDeviceExternalBufferProperties, 1, SIM_EXT_EXTERNAL_CAPABILITIES, 0, VK_SUCCESS) \
    X(vkGetPhysicalDeviceExternalSemaphoreProperties, 1, SIM_EXT_SEMAPHORE_CAPABILITIES, 0, VK_SUCCESS) \
    X(vkEnumerateDeviceExtensionProperties, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_HOST_MEMORY) \
    X(vkEnumerateDeviceLayerProperties, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                            \
    X(vkCreateDevice, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_INITIALIZATION_FAILED)

#define SIM_DEVICE_FUNCTIONS(X)                                                                    \
    X(vkGetDeviceProcAddr, 0, SIM_EXT_NONE, SIM_AFTER_LOSS, VK_SUCCESS)                            \
    X(vkDestroyDevice, 0, SIM_EXT_NONE, SIM_AFTER_LOSS, VK_SUCCESS)                                \
    X(vkGetDeviceQueue, 0, SIM_EXT_NONE, SIM_AFTER_LOSS, VK_SUCCESS)                               \
    X(vkGetDeviceQueue2, 1, SIM_EXT_NONE, SIM_AFTER_LOSS, VK_SUCCESS)                              \
    X(vkDeviceWaitIdle, 0, SIM_EXT_NONE, SIM_CAN_FAIL | SIM_SEES_LOSS | SIM_AFTER_LOSS, VK_ERROR_DEVICE_LOST) \
    X(vkQueueWaitIdle, 0, SIM_EXT_NONE, SIM_CAN_FAIL | SIM_SEES_LOSS | SIM_AFTER_LOSS, VK_ERROR_DEVICE_LOST) \
    X(vkQueueSubmit, 0, SIM_EXT_NONE, SIM_CAN_FAIL | SIM_SEES_LOSS, VK_ERROR_DEVICE_LOST)          \
    X(vkQueueSubmit2, 3, SIM_EXT_SYNCHRONIZATION2, SIM_CAN_FAIL | SIM_SEES_LOSS, VK_ERROR_DEVICE_LOST) \
    X(vkQueueBindSparse, 0, SIM_EXT_NONE, SIM_CAN_FAIL | SIM_SEES_LOSS, VK_ERROR_DEVICE_LOST)      \
    X(vkAllocateMemory, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_DEVICE_MEMORY)              \
    X(vkFreeMemory, 0, SIM_EXT_NONE, SIM_AFTER_LOSS, VK_SUCCESS)                                   \
    X(vkMapMemory, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_MEMORY_MAP_FAILED)                      \
    X(vkUnmapMemory, 0, SIM_EXT_NONE, SIM_AFTER_LOSS, VK_SUCCESS)                                  \
    X(vkFlushMappedMemoryRanges, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_HOST_MEMORY)       \
    X(vkInvalidateMappedMemoryRanges, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_HOST_MEMORY)  \
    X(vkGetDeviceMemoryCommitment, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                 \
    X(vkSetDeviceMemoryPriorityEXT, 99, SIM_EXT_PAGEABLE_MEMORY, 0, VK_SUCCESS)                    \
    X(vkGetMemoryHostPointerPropertiesEXT, 99, SIM_EXT_MEMORY_HOST, SIM_CAN_FAIL, VK_ERROR_OUT_OF_HOST_MEMORY) \
    X(vkGetMemoryFdKHR, 99, SIM_EXT_MEMORY_FD, SIM_CAN_FAIL, VK_ERROR_TOO_MANY_OBJECTS)            \
    X(vkGetMemoryFdPropertiesKHR, 99, SIM_EXT_MEMORY_FD, SIM_CAN_FAIL, VK_ERROR_INVALID_EXTERNAL_HANDLE) \
    X(vkCreateBuffer, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_DEVICE_MEMORY)                \
    X(vkDestroyBuffer, 0, SIM_EXT_NONE, SIM_AFTER_LOSS, VK_SUCCESS)                                \
    X(vkCreateImage, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_DEVICE_MEMORY)                 \
    X(vkDestroyImage, 0, SIM_EXT_NONE, SIM_AFTER_LOSS, VK_SUCCESS)                                 \
    X(vkGetBufferMemoryRequirements, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                               \
    X(vkGetImageMemoryRequirements, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                \
    X(vkGetBufferMemoryRequirements2, 1, SIM_EXT_REQUIREMENTS2, 0, VK_SUCCESS)                     \
    X(vkGetImageMemoryRequirements2, 1, SIM_EXT_REQUIREMENTS2, 0, VK_SUCCESS)                      \
    X(vkGetDeviceBufferMemoryRequirements, 3, SIM_EXT_MAINTENANCE4, 0, VK_SUCCESS)                 \
    X(vkGetDeviceImageMemoryRequirements, 3, SIM_EXT_MAINTENANCE4, 0, VK_SUCCESS)                  \
    X(vkGetImageSparseMemoryRequirements, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                          \
    X(vkGetImageSparseMemoryRequirements2, 1, SIM_EXT_REQUIREMENTS2, 0, VK_SUCCESS)                \
    X(vkGetDeviceImageSparseMemoryRequirements, 3, SIM_EXT_MAINTENANCE4, 0, VK_SUCCESS)            \
    X(vkGetImageDrmFormatModifierPropertiesEXT, 99, SIM_EXT_DRM_MODIFIER, SIM_CAN_FAIL, VK_ERROR_OUT_OF_HOST_MEMORY) \
    X(vkGetImageSubresourceLayout, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                 \
    X(vkBindBufferMemory, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_DEVICE_MEMORY)            \
    X(vkBindImageMemory, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_DEVICE_MEMORY)             \
    X(vkBindBufferMemory2, 1, SIM_EXT_BIND_MEMORY2, SIM_CAN_FAIL, VK_ERROR_OUT_OF_DEVICE_MEMORY)   \
    X(vkBindImageMemory2, 1, SIM_EXT_BIND_MEMORY2, SIM_CAN_FAIL, VK_ERROR_OUT_OF_DEVICE_MEMORY)    \
    X(vkGetBufferDeviceAddress, 2, SIM_EXT_BUFFER_ADDRESS, 0, VK_SUCCESS)                          \
    X(vkGetBufferOpaqueCaptureAddress, 2, SIM_EXT_BUFFER_ADDRESS, 0, VK_SUCCESS)                   \
    X(vkGetDeviceMemoryOpaqueCaptureAddress, 2, SIM_EXT_BUFFER_ADDRESS, 0, VK_SUCCESS)             \
    X(vkCreateSemaphore, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_HOST_MEMORY)               \
    X(vkDestroySemaphore, 0, SIM_EXT_NONE, SIM_AFTER_LOSS, VK_SUCCESS)                             \
    X(vkGetSemaphoreFdKHR, 99, SIM_EXT_SEMAPHORE_FD, SIM_CAN_FAIL, VK_ERROR_TOO_MANY_OBJECTS)      \
    X(vkImportSemaphoreFdKHR, 99, SIM_EXT_SEMAPHORE_FD, SIM_CAN_FAIL, VK_ERROR_INVALID_EXTERNAL_HANDLE) \
    X(vkGetSemaphoreCounterValue, 2, SIM_EXT_TIMELINE, SIM_CAN_FAIL | SIM_SEES_LOSS | SIM_AFTER_LOSS, VK_ERROR_DEVICE_LOST) \
    X(vkWaitSemaphores, 2, SIM_EXT_TIMELINE, SIM_CAN_FAIL | SIM_SEES_LOSS | SIM_AFTER_LOSS, VK_ERROR_DEVICE_LOST) \
    X(vkSignalSemaphore, 2, SIM_EXT_TIMELINE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_HOST_MEMORY)           \
    X(vkCreateFence, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_HOST_MEMORY)                   \
    X(vkDestroyFence, 0, SIM_EXT_NONE, SIM_AFTER_LOSS, VK_SUCCESS)                                 \
    X(vkResetFences, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_DEVICE_MEMORY)                 \
    X(vkGetFenceStatus, 0, SIM_EXT_NONE, SIM_CAN_FAIL | SIM_SEES_LOSS | SIM_AFTER_LOSS, VK_ERROR_DEVICE_LOST) \
    X(vkWaitForFences, 0, SIM_EXT_NONE, SIM_CAN_FAIL | SIM_SEES_LOSS | SIM_AFTER_LOSS, VK_ERROR_DEVICE_LOST) \
    X(vkCreateCommandPool, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_HOST_MEMORY)             \
    X(vkDestroyCommandPool, 0, SIM_EXT_NONE, SIM_AFTER_LOSS, VK_SUCCESS)                           \
    X(vkResetCommandPool, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_DEVICE_MEMORY)            \
    X(vkTrimCommandPool, 1, SIM_EXT_NONE, 0, VK_SUCCESS)                                           \
    X(vkAllocateCommandBuffers, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_DEVICE_MEMORY)      \
    X(vkFreeCommandBuffers, 0, SIM_EXT_NONE, SIM_AFTER_LOSS, VK_SUCCESS)                           \
    X(vkBeginCommandBuffer, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_HOST_MEMORY)            \
    X(vkEndCommandBuffer, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_DEVICE_MEMORY)            \
    X(vkResetCommandBuffer, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_DEVICE_MEMORY)          \
    X(vkCmdFillBuffer, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                             \
    X(vkCmdUpdateBuffer, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                           \
    X(vkCmdCopyBuffer, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                             \
    X(vkCmdCopyBuffer2, 3, SIM_EXT_NONE, 0, VK_SUCCESS)                                            \
    X(vkCmdCopyImage, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                              \
    X(vkCmdCopyImage2, 3, SIM_EXT_NONE, 0, VK_SUCCESS)                                             \
    X(vkCmdCopyBufferToImage, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                      \
    X(vkCmdCopyBufferToImage2, 3, SIM_EXT_NONE, 0, VK_SUCCESS)                                     \
    X(vkCmdCopyImageToBuffer, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                      \
    X(vkCmdCopyImageToBuffer2, 3, SIM_EXT_NONE, 0, VK_SUCCESS)                                     \
    X(vkCmdClearColorImage, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                        \
    X(vkCmdClearDepthStencilImage, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                 \
    X(vkCmdPipelineBarrier, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                        \
    X(vkCmdPipelineBarrier2, 3, SIM_EXT_SYNCHRONIZATION2, 0, VK_SUCCESS)                           \
    X(vkCmdBindPipeline, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                           \
    X(vkCmdBindDescriptorSets, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                     \
    X(vkCmdPushConstants, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                          \
    X(vkCmdDispatch, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                               \
    X(vkCmdExecuteCommands, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                        \
    X(vkCmdResetQueryPool, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                         \
    X(vkCmdWriteTimestamp, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                         \
    X(vkCreateBufferView, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_HOST_MEMORY)              \
    X(vkDestroyBufferView, 0, SIM_EXT_NONE, SIM_AFTER_LOSS, VK_SUCCESS)                            \
    X(vkCreateImageView, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_HOST_MEMORY)               \
    X(vkDestroyImageView, 0, SIM_EXT_NONE, SIM_AFTER_LOSS, VK_SUCCESS)                             \
    X(vkCreateShaderModule, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_HOST_MEMORY)            \
    X(vkDestroyShaderModule, 0, SIM_EXT_NONE, SIM_AFTER_LOSS, VK_SUCCESS)                          \
    X(vkCreatePipelineLayout, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_HOST_MEMORY)          \
    X(vkDestroyPipelineLayout, 0, SIM_EXT_NONE, SIM_AFTER_LOSS, VK_SUCCESS)                        \
    X(vkCreateComputePipelines, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_DEVICE_MEMORY)      \
    X(vkDestroyPipeline, 0, SIM_EXT_NONE, SIM_AFTER_LOSS, VK_SUCCESS)                              \
    X(vkCreateDescriptorSetLayout, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_HOST_MEMORY)     \
    X(vkDestroyDescriptorSetLayout, 0, SIM_EXT_NONE, SIM_AFTER_LOSS, VK_SUCCESS)                   \
    X(vkCreateDescriptorPool, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_HOST_MEMORY)          \
    X(vkDestroyDescriptorPool, 0, SIM_EXT_NONE, SIM_AFTER_LOSS, VK_SUCCESS)                        \
    X(vkResetDescriptorPool, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                       \
    X(vkAllocateDescriptorSets, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_POOL_MEMORY)        \
    X(vkFreeDescriptorSets, 0, SIM_EXT_NONE, SIM_AFTER_LOSS, VK_SUCCESS)                           \
    X(vkUpdateDescriptorSets, 0, SIM_EXT_NONE, 0, VK_SUCCESS)                                      \
    X(vkCreateQueryPool, 0, SIM_EXT_NONE, SIM_CAN_FAIL, VK_ERROR_OUT_OF_HOST_MEMORY)               \
    X(vkDestroyQueryPool, 0, SIM_EXT_NONE, SIM_AFTER_LOSS, VK_SUCCESS)                             \
    X(vkGetQueryPoolResults, 0, SIM_EXT_NONE, SIM_CAN_FAIL | SIM_SEES_LOSS, VK_ERROR_DEVICE_LOST)

#define SIM_FUNCTIONS(X)                                                                           \
    SIM_GLOBAL_FUNCTIONS(X)                                                                        \
    SIM_INSTANCE_FUNCTIONS(X)                                                                      \
    SIM_DEVICE_FUNCTIONS(X)

#define SIM_ALIASES(A)                                                                             \
    A(vkGetPhysicalDeviceProperties2KHR, vkGetPhysicalDeviceProperties2, SIM_EXT_PROPERTIES2)      \
    A(vkGetPhysicalDeviceFeatures2KHR, vkGetPhysicalDeviceFeatures2, SIM_EXT_PROPERTIES2)          \
    A(vkGetPhysicalDeviceMemoryProperties2KHR, vkGetPhysicalDeviceMemoryProperties2, SIM_EXT_PROPERTIES2) \
    A(vkGetPhysicalDeviceQueueFamilyProperties2KHR, vkGetPhysicalDeviceQueueFamilyProperties2, SIM_EXT_PROPERTIES2) \
    A(vkGetPhysicalDeviceFormatProperties2KHR, vkGetPhysicalDeviceFormatProperties2, SIM_EXT_PROPERTIES2) \
    A(vkGetPhysicalDeviceImageFormatProperties2KHR, vkGetPhysicalDeviceImageFormatProperties2, SIM_EXT_PROPERTIES2) \
    A(vkGetPhysicalDeviceSparseImageFormatProperties2KHR, vkGetPhysicalDeviceSparseImageFormatProperties2, SIM_EXT_PROPERTIES2) \
    A(vkGetPhysicalDeviceExternalBufferPropertiesKHR, vkGetPhysicalDeviceExternalBufferProperties, SIM_EXT_EXTERNAL_CAPABILITIES) \
    A(vkGetPhysicalDeviceExternalSemaphorePropertiesKHR, vkGetPhysicalDeviceExternalSemaphoreProperties, SIM_EXT_SEMAPHORE_CAPABILITIES) \
    A(vkQueueSubmit2KHR, vkQueueSubmit2, SIM_EXT_SYNCHRONIZATION2)                                 \
    A(vkCmdPipelineBarrier2KHR, vkCmdPipelineBarrier2, SIM_EXT_SYNCHRONIZATION2)                   \
    A(vkGetBufferMemoryRequirements2KHR, vkGetBufferMemoryRequirements2, SIM_EXT_REQUIREMENTS2)    \
    A(vkGetImageMemoryRequirements2KHR, vkGetImageMemoryRequirements2, SIM_EXT_REQUIREMENTS2)      \
    A(vkGetImageSparseMemoryRequirements2KHR, vkGetImageSparseMemoryRequirements2, SIM_EXT_REQUIREMENTS2) \
    A(vkGetDeviceBufferMemoryRequirementsKHR, vkGetDeviceBufferMemoryRequirements, SIM_EXT_MAINTENANCE4) \
    A(vkGetDeviceImageMemoryRequirementsKHR, vkGetDeviceImageMemoryRequirements, SIM_EXT_MAINTENANCE4) \
    A(vkGetDeviceImageSparseMemoryRequirementsKHR, vkGetDeviceImageSparseMemoryRequirements, SIM_EXT_MAINTENANCE4) \
    A(vkBindBufferMemory2KHR, vkBindBufferMemory2, SIM_EXT_BIND_MEMORY2)                           \
    A(vkBindImageMemory2KHR, vkBindImageMemory2, SIM_EXT_BIND_MEMORY2)                             \
    A(vkGetBufferDeviceAddressKHR, vkGetBufferDeviceAddress, SIM_EXT_BUFFER_ADDRESS)               \
    A(vkGetBufferOpaqueCaptureAddressKHR, vkGetBufferOpaqueCaptureAddress, SIM_EXT_BUFFER_ADDRESS) \
    A(vkGetDeviceMemoryOpaqueCaptureAddressKHR, vkGetDeviceMemoryOpaqueCaptureAddress, SIM_EXT_BUFFER_ADDRESS) \
    A(vkGetSemaphoreCounterValueKHR, vkGetSemaphoreCounterValue, SIM_EXT_TIMELINE)                 \
    A(vkWaitSemaphoresKHR, vkWaitSemaphores, SIM_EXT_TIMELINE)                                     \
    A(vkSignalSemaphoreKHR, vkSignalSemaphore, SIM_EXT_TIMELINE)
/* clang-format on */

#endif
