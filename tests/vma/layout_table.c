/*
 * The layouts of all structures, for each version of the interface from 3.0 to 3.4, where a pointer
 * has 64 bits and on i386, where a number of 64 bits is aligned to 4. Compiled against Maar's
 * header, and against VulkanMemoryAllocator's own where it is given. Nothing runs.
 */
#include <vk_mem_alloc.h>

#include <stddef.h>

#ifndef MAAR_VMA_VERSION
#define MAAR_VMA_VERSION 3004000
#endif

#define EXPECTED(lp64, ilp32) (sizeof(void*) == 8 ? (lp64) : (ilp32))
#define SIZE(type, lp64, ilp32) _Static_assert(sizeof(type) == EXPECTED(lp64, ilp32), #type)
#define FIELD(type, member, lp64, ilp32)                                                           \
    _Static_assert(offsetof(type, member) == EXPECTED(lp64, ilp32), #type "::" #member)

#ifdef MAAR_LAYOUT_FIRST

/* With nothing but Vulkan 1.0. */
SIZE(VmaVulkanFunctions, 160, 80);
SIZE(VmaAllocatorCreateInfo, 80, 44);

#else

SIZE(VmaDeviceMemoryCallbacks, 24, 12);
FIELD(VmaDeviceMemoryCallbacks, pfnAllocate, 0, 0);
FIELD(VmaDeviceMemoryCallbacks, pfnFree, 8, 4);
FIELD(VmaDeviceMemoryCallbacks, pUserData, 16, 8);

#if MAAR_VMA_VERSION < 3002000
SIZE(VmaVulkanFunctions, 208, 104);
#elif MAAR_VMA_VERSION < 3004000
SIZE(VmaVulkanFunctions, 216, 108);
#else
SIZE(VmaVulkanFunctions, 224, 112);
#endif
FIELD(VmaVulkanFunctions, vkGetInstanceProcAddr, 0, 0);
FIELD(VmaVulkanFunctions, vkGetDeviceProcAddr, 8, 4);
FIELD(VmaVulkanFunctions, vkGetPhysicalDeviceProperties, 16, 8);
FIELD(VmaVulkanFunctions, vkGetPhysicalDeviceMemoryProperties, 24, 12);
FIELD(VmaVulkanFunctions, vkAllocateMemory, 32, 16);
FIELD(VmaVulkanFunctions, vkFreeMemory, 40, 20);
FIELD(VmaVulkanFunctions, vkMapMemory, 48, 24);
FIELD(VmaVulkanFunctions, vkUnmapMemory, 56, 28);
FIELD(VmaVulkanFunctions, vkFlushMappedMemoryRanges, 64, 32);
FIELD(VmaVulkanFunctions, vkInvalidateMappedMemoryRanges, 72, 36);
FIELD(VmaVulkanFunctions, vkBindBufferMemory, 80, 40);
FIELD(VmaVulkanFunctions, vkBindImageMemory, 88, 44);
FIELD(VmaVulkanFunctions, vkGetBufferMemoryRequirements, 96, 48);
FIELD(VmaVulkanFunctions, vkGetImageMemoryRequirements, 104, 52);
FIELD(VmaVulkanFunctions, vkCreateBuffer, 112, 56);
FIELD(VmaVulkanFunctions, vkDestroyBuffer, 120, 60);
FIELD(VmaVulkanFunctions, vkCreateImage, 128, 64);
FIELD(VmaVulkanFunctions, vkDestroyImage, 136, 68);
FIELD(VmaVulkanFunctions, vkCmdCopyBuffer, 144, 72);
FIELD(VmaVulkanFunctions, vkGetBufferMemoryRequirements2KHR, 152, 76);
FIELD(VmaVulkanFunctions, vkGetImageMemoryRequirements2KHR, 160, 80);
FIELD(VmaVulkanFunctions, vkBindBufferMemory2KHR, 168, 84);
FIELD(VmaVulkanFunctions, vkBindImageMemory2KHR, 176, 88);
FIELD(VmaVulkanFunctions, vkGetPhysicalDeviceMemoryProperties2KHR, 184, 92);
FIELD(VmaVulkanFunctions, vkGetDeviceBufferMemoryRequirements, 192, 96);
FIELD(VmaVulkanFunctions, vkGetDeviceImageMemoryRequirements, 200, 100);
#if MAAR_VMA_VERSION >= 3002000
FIELD(VmaVulkanFunctions, vkGetMemoryWin32HandleKHR, 208, 104);
#endif
#if MAAR_VMA_VERSION >= 3004000
FIELD(VmaVulkanFunctions, vkGetPhysicalDeviceProperties2KHR, 216, 108);
#endif
SIZE(VmaAllocatorCreateInfo, 88, 48);
FIELD(VmaAllocatorCreateInfo, flags, 0, 0);
FIELD(VmaAllocatorCreateInfo, physicalDevice, 8, 4);
FIELD(VmaAllocatorCreateInfo, device, 16, 8);
FIELD(VmaAllocatorCreateInfo, preferredLargeHeapBlockSize, 24, 12);
FIELD(VmaAllocatorCreateInfo, pAllocationCallbacks, 32, 20);
FIELD(VmaAllocatorCreateInfo, pDeviceMemoryCallbacks, 40, 24);
FIELD(VmaAllocatorCreateInfo, pHeapSizeLimit, 48, 28);
FIELD(VmaAllocatorCreateInfo, pVulkanFunctions, 56, 32);
FIELD(VmaAllocatorCreateInfo, instance, 64, 36);
FIELD(VmaAllocatorCreateInfo, vulkanApiVersion, 72, 40);
FIELD(VmaAllocatorCreateInfo, pTypeExternalMemoryHandleTypes, 80, 44);

SIZE(VmaAllocatorInfo, 24, 12);
FIELD(VmaAllocatorInfo, instance, 0, 0);
FIELD(VmaAllocatorInfo, physicalDevice, 8, 4);
FIELD(VmaAllocatorInfo, device, 16, 8);

SIZE(VmaStatistics, 24, 24);
FIELD(VmaStatistics, blockCount, 0, 0);
FIELD(VmaStatistics, allocationCount, 4, 4);
FIELD(VmaStatistics, blockBytes, 8, 8);
FIELD(VmaStatistics, allocationBytes, 16, 16);

SIZE(VmaDetailedStatistics, 64, 60);
FIELD(VmaDetailedStatistics, statistics, 0, 0);
FIELD(VmaDetailedStatistics, unusedRangeCount, 24, 24);
FIELD(VmaDetailedStatistics, allocationSizeMin, 32, 28);
FIELD(VmaDetailedStatistics, allocationSizeMax, 40, 36);
FIELD(VmaDetailedStatistics, unusedRangeSizeMin, 48, 44);
FIELD(VmaDetailedStatistics, unusedRangeSizeMax, 56, 52);

SIZE(VmaTotalStatistics, 3136, 2940);
FIELD(VmaTotalStatistics, memoryType, 0, 0);
FIELD(VmaTotalStatistics, memoryHeap, 2048, 1920);
FIELD(VmaTotalStatistics, total, 3072, 2880);

SIZE(VmaBudget, 40, 40);
FIELD(VmaBudget, statistics, 0, 0);
FIELD(VmaBudget, usage, 24, 24);
FIELD(VmaBudget, budget, 32, 32);

#if MAAR_VMA_VERSION < 3004000
SIZE(VmaAllocationCreateInfo, 48, 32);
#else
SIZE(VmaAllocationCreateInfo, 56, 40);
#endif
FIELD(VmaAllocationCreateInfo, flags, 0, 0);
FIELD(VmaAllocationCreateInfo, usage, 4, 4);
FIELD(VmaAllocationCreateInfo, requiredFlags, 8, 8);
FIELD(VmaAllocationCreateInfo, preferredFlags, 12, 12);
FIELD(VmaAllocationCreateInfo, memoryTypeBits, 16, 16);
FIELD(VmaAllocationCreateInfo, pool, 24, 20);
FIELD(VmaAllocationCreateInfo, pUserData, 32, 24);
FIELD(VmaAllocationCreateInfo, priority, 40, 28);
#if MAAR_VMA_VERSION >= 3004000
FIELD(VmaAllocationCreateInfo, minAlignment, 48, 32);
#endif
SIZE(VmaPoolCreateInfo, 56, 40);
FIELD(VmaPoolCreateInfo, memoryTypeIndex, 0, 0);
FIELD(VmaPoolCreateInfo, flags, 4, 4);
FIELD(VmaPoolCreateInfo, blockSize, 8, 8);
FIELD(VmaPoolCreateInfo, minBlockCount, 16, 16);
FIELD(VmaPoolCreateInfo, maxBlockCount, 24, 20);
FIELD(VmaPoolCreateInfo, priority, 32, 24);
FIELD(VmaPoolCreateInfo, minAllocationAlignment, 40, 28);
FIELD(VmaPoolCreateInfo, pMemoryAllocateNext, 48, 36);

SIZE(VmaAllocationInfo, 56, 40);
FIELD(VmaAllocationInfo, memoryType, 0, 0);
FIELD(VmaAllocationInfo, deviceMemory, 8, 4);
FIELD(VmaAllocationInfo, offset, 16, 12);
FIELD(VmaAllocationInfo, size, 24, 20);
FIELD(VmaAllocationInfo, pMappedData, 32, 28);
FIELD(VmaAllocationInfo, pUserData, 40, 32);
FIELD(VmaAllocationInfo, pName, 48, 36);

SIZE(VmaAllocationInfo2, 72, 52);
FIELD(VmaAllocationInfo2, allocationInfo, 0, 0);
FIELD(VmaAllocationInfo2, blockSize, 56, 40);
FIELD(VmaAllocationInfo2, dedicatedMemory, 64, 48);

#if MAAR_VMA_VERSION < 3001000
SIZE(VmaDefragmentationInfo, 32, 20);
#else
SIZE(VmaDefragmentationInfo, 48, 28);
#endif
FIELD(VmaDefragmentationInfo, flags, 0, 0);
FIELD(VmaDefragmentationInfo, pool, 8, 4);
FIELD(VmaDefragmentationInfo, maxBytesPerPass, 16, 8);
FIELD(VmaDefragmentationInfo, maxAllocationsPerPass, 24, 16);
#if MAAR_VMA_VERSION >= 3001000
FIELD(VmaDefragmentationInfo, pfnBreakCallback, 32, 20);
FIELD(VmaDefragmentationInfo, pBreakCallbackUserData, 40, 24);
#endif
SIZE(VmaDefragmentationMove, 24, 12);
FIELD(VmaDefragmentationMove, operation, 0, 0);
FIELD(VmaDefragmentationMove, srcAllocation, 8, 4);
FIELD(VmaDefragmentationMove, dstTmpAllocation, 16, 8);

SIZE(VmaDefragmentationPassMoveInfo, 16, 8);
FIELD(VmaDefragmentationPassMoveInfo, moveCount, 0, 0);
FIELD(VmaDefragmentationPassMoveInfo, pMoves, 8, 4);

SIZE(VmaDefragmentationStats, 24, 24);
FIELD(VmaDefragmentationStats, bytesMoved, 0, 0);
FIELD(VmaDefragmentationStats, bytesFreed, 8, 8);
FIELD(VmaDefragmentationStats, allocationsMoved, 16, 16);
FIELD(VmaDefragmentationStats, deviceMemoryBlocksFreed, 20, 20);

SIZE(VmaVirtualBlockCreateInfo, 24, 16);
FIELD(VmaVirtualBlockCreateInfo, size, 0, 0);
FIELD(VmaVirtualBlockCreateInfo, flags, 8, 8);
FIELD(VmaVirtualBlockCreateInfo, pAllocationCallbacks, 16, 12);

SIZE(VmaVirtualAllocationCreateInfo, 32, 24);
FIELD(VmaVirtualAllocationCreateInfo, size, 0, 0);
FIELD(VmaVirtualAllocationCreateInfo, alignment, 8, 8);
FIELD(VmaVirtualAllocationCreateInfo, flags, 16, 16);
FIELD(VmaVirtualAllocationCreateInfo, pUserData, 24, 20);

SIZE(VmaVirtualAllocationInfo, 24, 20);
FIELD(VmaVirtualAllocationInfo, offset, 0, 0);
FIELD(VmaVirtualAllocationInfo, size, 8, 8);
FIELD(VmaVirtualAllocationInfo, pUserData, 16, 16);

#endif
