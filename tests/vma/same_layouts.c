/*
 * The sizes of structures, the offsets of their members, and the values of enumerators.
 */
#include "tests/vma/same_program.h"

#include <stddef.h>

#define SIZE(type) same_say_bytes("size." #type, sizeof(type))
#define FIELD(type, member) same_say_bytes("offset." #type "." #member, offsetof(type, member))
#define VALUE(name) same_say_bytes("value." #name, (uint64_t)(name))

static void say_structures(void)
{
    SIZE(VmaDeviceMemoryCallbacks);
    FIELD(VmaDeviceMemoryCallbacks, pfnAllocate);
    FIELD(VmaDeviceMemoryCallbacks, pfnFree);
    FIELD(VmaDeviceMemoryCallbacks, pUserData);
    SIZE(VmaVulkanFunctions);
    FIELD(VmaVulkanFunctions, vkGetInstanceProcAddr);
    FIELD(VmaVulkanFunctions, vkGetDeviceProcAddr);
    FIELD(VmaVulkanFunctions, vkGetPhysicalDeviceProperties);
    FIELD(VmaVulkanFunctions, vkGetPhysicalDeviceMemoryProperties);
    FIELD(VmaVulkanFunctions, vkAllocateMemory);
    FIELD(VmaVulkanFunctions, vkFreeMemory);
    FIELD(VmaVulkanFunctions, vkMapMemory);
    FIELD(VmaVulkanFunctions, vkUnmapMemory);
    FIELD(VmaVulkanFunctions, vkFlushMappedMemoryRanges);
    FIELD(VmaVulkanFunctions, vkInvalidateMappedMemoryRanges);
    FIELD(VmaVulkanFunctions, vkBindBufferMemory);
    FIELD(VmaVulkanFunctions, vkBindImageMemory);
    FIELD(VmaVulkanFunctions, vkGetBufferMemoryRequirements);
    FIELD(VmaVulkanFunctions, vkGetImageMemoryRequirements);
    FIELD(VmaVulkanFunctions, vkCreateBuffer);
    FIELD(VmaVulkanFunctions, vkDestroyBuffer);
    FIELD(VmaVulkanFunctions, vkCreateImage);
    FIELD(VmaVulkanFunctions, vkDestroyImage);
    FIELD(VmaVulkanFunctions, vkCmdCopyBuffer);
    FIELD(VmaVulkanFunctions, vkGetBufferMemoryRequirements2KHR);
    FIELD(VmaVulkanFunctions, vkGetImageMemoryRequirements2KHR);
    FIELD(VmaVulkanFunctions, vkBindBufferMemory2KHR);
    FIELD(VmaVulkanFunctions, vkBindImageMemory2KHR);
    FIELD(VmaVulkanFunctions, vkGetPhysicalDeviceMemoryProperties2KHR);
    FIELD(VmaVulkanFunctions, vkGetDeviceBufferMemoryRequirements);
    FIELD(VmaVulkanFunctions, vkGetDeviceImageMemoryRequirements);
    FIELD(VmaVulkanFunctions, vkGetMemoryWin32HandleKHR);
    FIELD(VmaVulkanFunctions, vkGetPhysicalDeviceProperties2KHR);
    SIZE(VmaAllocatorCreateInfo);
    FIELD(VmaAllocatorCreateInfo, flags);
    FIELD(VmaAllocatorCreateInfo, physicalDevice);
    FIELD(VmaAllocatorCreateInfo, device);
    FIELD(VmaAllocatorCreateInfo, preferredLargeHeapBlockSize);
    FIELD(VmaAllocatorCreateInfo, pAllocationCallbacks);
    FIELD(VmaAllocatorCreateInfo, pDeviceMemoryCallbacks);
    FIELD(VmaAllocatorCreateInfo, pHeapSizeLimit);
    FIELD(VmaAllocatorCreateInfo, pVulkanFunctions);
    FIELD(VmaAllocatorCreateInfo, instance);
    FIELD(VmaAllocatorCreateInfo, vulkanApiVersion);
    FIELD(VmaAllocatorCreateInfo, pTypeExternalMemoryHandleTypes);
    SIZE(VmaAllocatorInfo);
    FIELD(VmaAllocatorInfo, instance);
    FIELD(VmaAllocatorInfo, physicalDevice);
    FIELD(VmaAllocatorInfo, device);
    SIZE(VmaStatistics);
    FIELD(VmaStatistics, blockCount);
    FIELD(VmaStatistics, allocationCount);
    FIELD(VmaStatistics, blockBytes);
    FIELD(VmaStatistics, allocationBytes);
    SIZE(VmaDetailedStatistics);
    FIELD(VmaDetailedStatistics, statistics);
    FIELD(VmaDetailedStatistics, unusedRangeCount);
    FIELD(VmaDetailedStatistics, allocationSizeMin);
    FIELD(VmaDetailedStatistics, allocationSizeMax);
    FIELD(VmaDetailedStatistics, unusedRangeSizeMin);
    FIELD(VmaDetailedStatistics, unusedRangeSizeMax);
    SIZE(VmaTotalStatistics);
    FIELD(VmaTotalStatistics, memoryType);
    FIELD(VmaTotalStatistics, memoryHeap);
    FIELD(VmaTotalStatistics, total);
    SIZE(VmaBudget);
    FIELD(VmaBudget, statistics);
    FIELD(VmaBudget, usage);
    FIELD(VmaBudget, budget);
}

static void say_other_structures(void)
{
    SIZE(VmaAllocationCreateInfo);
    FIELD(VmaAllocationCreateInfo, flags);
    FIELD(VmaAllocationCreateInfo, usage);
    FIELD(VmaAllocationCreateInfo, requiredFlags);
    FIELD(VmaAllocationCreateInfo, preferredFlags);
    FIELD(VmaAllocationCreateInfo, memoryTypeBits);
    FIELD(VmaAllocationCreateInfo, pool);
    FIELD(VmaAllocationCreateInfo, pUserData);
    FIELD(VmaAllocationCreateInfo, priority);
    FIELD(VmaAllocationCreateInfo, minAlignment);
    SIZE(VmaPoolCreateInfo);
    FIELD(VmaPoolCreateInfo, memoryTypeIndex);
    FIELD(VmaPoolCreateInfo, flags);
    FIELD(VmaPoolCreateInfo, blockSize);
    FIELD(VmaPoolCreateInfo, minBlockCount);
    FIELD(VmaPoolCreateInfo, maxBlockCount);
    FIELD(VmaPoolCreateInfo, priority);
    FIELD(VmaPoolCreateInfo, minAllocationAlignment);
    FIELD(VmaPoolCreateInfo, pMemoryAllocateNext);
    SIZE(VmaAllocationInfo);
    FIELD(VmaAllocationInfo, memoryType);
    FIELD(VmaAllocationInfo, deviceMemory);
    FIELD(VmaAllocationInfo, offset);
    FIELD(VmaAllocationInfo, size);
    FIELD(VmaAllocationInfo, pMappedData);
    FIELD(VmaAllocationInfo, pUserData);
    FIELD(VmaAllocationInfo, pName);
    SIZE(VmaAllocationInfo2);
    FIELD(VmaAllocationInfo2, allocationInfo);
    FIELD(VmaAllocationInfo2, blockSize);
    FIELD(VmaAllocationInfo2, dedicatedMemory);
    SIZE(VmaDefragmentationInfo);
    FIELD(VmaDefragmentationInfo, flags);
    FIELD(VmaDefragmentationInfo, pool);
    FIELD(VmaDefragmentationInfo, maxBytesPerPass);
    FIELD(VmaDefragmentationInfo, maxAllocationsPerPass);
    FIELD(VmaDefragmentationInfo, pfnBreakCallback);
    FIELD(VmaDefragmentationInfo, pBreakCallbackUserData);
    SIZE(VmaDefragmentationMove);
    FIELD(VmaDefragmentationMove, operation);
    FIELD(VmaDefragmentationMove, srcAllocation);
    FIELD(VmaDefragmentationMove, dstTmpAllocation);
    SIZE(VmaDefragmentationPassMoveInfo);
    FIELD(VmaDefragmentationPassMoveInfo, moveCount);
    FIELD(VmaDefragmentationPassMoveInfo, pMoves);
    SIZE(VmaDefragmentationStats);
    FIELD(VmaDefragmentationStats, bytesMoved);
    FIELD(VmaDefragmentationStats, bytesFreed);
    FIELD(VmaDefragmentationStats, allocationsMoved);
    FIELD(VmaDefragmentationStats, deviceMemoryBlocksFreed);
    SIZE(VmaVirtualBlockCreateInfo);
    FIELD(VmaVirtualBlockCreateInfo, size);
    FIELD(VmaVirtualBlockCreateInfo, flags);
    FIELD(VmaVirtualBlockCreateInfo, pAllocationCallbacks);
    SIZE(VmaVirtualAllocationCreateInfo);
    FIELD(VmaVirtualAllocationCreateInfo, size);
    FIELD(VmaVirtualAllocationCreateInfo, alignment);
    FIELD(VmaVirtualAllocationCreateInfo, flags);
    FIELD(VmaVirtualAllocationCreateInfo, pUserData);
    SIZE(VmaVirtualAllocationInfo);
    FIELD(VmaVirtualAllocationInfo, offset);
    FIELD(VmaVirtualAllocationInfo, size);
    FIELD(VmaVirtualAllocationInfo, pUserData);
}

static void say_values(void)
{
    VALUE(VMA_ALLOCATOR_CREATE_EXTERNALLY_SYNCHRONIZED_BIT);
    VALUE(VMA_ALLOCATOR_CREATE_KHR_DEDICATED_ALLOCATION_BIT);
    VALUE(VMA_ALLOCATOR_CREATE_KHR_BIND_MEMORY2_BIT);
    VALUE(VMA_ALLOCATOR_CREATE_EXT_MEMORY_BUDGET_BIT);
    VALUE(VMA_ALLOCATOR_CREATE_AMD_DEVICE_COHERENT_MEMORY_BIT);
    VALUE(VMA_ALLOCATOR_CREATE_BUFFER_DEVICE_ADDRESS_BIT);
    VALUE(VMA_ALLOCATOR_CREATE_EXT_MEMORY_PRIORITY_BIT);
    VALUE(VMA_ALLOCATOR_CREATE_KHR_MAINTENANCE4_BIT);
    VALUE(VMA_ALLOCATOR_CREATE_KHR_MAINTENANCE5_BIT);
    VALUE(VMA_ALLOCATOR_CREATE_KHR_EXTERNAL_MEMORY_WIN32_BIT);
    VALUE(VMA_ALLOCATOR_CREATE_FLAG_BITS_MAX_ENUM);
    VALUE(VMA_MEMORY_USAGE_UNKNOWN);
    VALUE(VMA_MEMORY_USAGE_GPU_ONLY);
    VALUE(VMA_MEMORY_USAGE_CPU_ONLY);
    VALUE(VMA_MEMORY_USAGE_CPU_TO_GPU);
    VALUE(VMA_MEMORY_USAGE_GPU_TO_CPU);
    VALUE(VMA_MEMORY_USAGE_CPU_COPY);
    VALUE(VMA_MEMORY_USAGE_GPU_LAZILY_ALLOCATED);
    VALUE(VMA_MEMORY_USAGE_AUTO);
    VALUE(VMA_MEMORY_USAGE_AUTO_PREFER_DEVICE);
    VALUE(VMA_MEMORY_USAGE_AUTO_PREFER_HOST);
    VALUE(VMA_MEMORY_USAGE_MAX_ENUM);
    VALUE(VMA_ALLOCATION_CREATE_DEDICATED_MEMORY_BIT);
    VALUE(VMA_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT);
    VALUE(VMA_ALLOCATION_CREATE_MAPPED_BIT);
    VALUE(VMA_ALLOCATION_CREATE_USER_DATA_COPY_STRING_BIT);
    VALUE(VMA_ALLOCATION_CREATE_UPPER_ADDRESS_BIT);
    VALUE(VMA_ALLOCATION_CREATE_DONT_BIND_BIT);
    VALUE(VMA_ALLOCATION_CREATE_WITHIN_BUDGET_BIT);
    VALUE(VMA_ALLOCATION_CREATE_CAN_ALIAS_BIT);
    VALUE(VMA_ALLOCATION_CREATE_HOST_ACCESS_SEQUENTIAL_WRITE_BIT);
    VALUE(VMA_ALLOCATION_CREATE_HOST_ACCESS_RANDOM_BIT);
    VALUE(VMA_ALLOCATION_CREATE_HOST_ACCESS_ALLOW_TRANSFER_INSTEAD_BIT);
    VALUE(VMA_ALLOCATION_CREATE_STRATEGY_MIN_MEMORY_BIT);
    VALUE(VMA_ALLOCATION_CREATE_STRATEGY_MIN_TIME_BIT);
    VALUE(VMA_ALLOCATION_CREATE_STRATEGY_MIN_OFFSET_BIT);
    VALUE(VMA_ALLOCATION_CREATE_STRATEGY_BEST_FIT_BIT);
    VALUE(VMA_ALLOCATION_CREATE_STRATEGY_FIRST_FIT_BIT);
    VALUE(VMA_ALLOCATION_CREATE_STRATEGY_MASK);
    VALUE(VMA_ALLOCATION_CREATE_FLAG_BITS_MAX_ENUM);
    VALUE(VMA_POOL_CREATE_IGNORE_BUFFER_IMAGE_GRANULARITY_BIT);
    VALUE(VMA_POOL_CREATE_LINEAR_ALGORITHM_BIT);
    VALUE(VMA_POOL_CREATE_ALGORITHM_MASK);
    VALUE(VMA_POOL_CREATE_FLAG_BITS_MAX_ENUM);
    VALUE(VMA_DEFRAGMENTATION_FLAG_ALGORITHM_FAST_BIT);
    VALUE(VMA_DEFRAGMENTATION_FLAG_ALGORITHM_BALANCED_BIT);
    VALUE(VMA_DEFRAGMENTATION_FLAG_ALGORITHM_FULL_BIT);
    VALUE(VMA_DEFRAGMENTATION_FLAG_ALGORITHM_EXTENSIVE_BIT);
    VALUE(VMA_DEFRAGMENTATION_FLAG_ALGORITHM_MASK);
    VALUE(VMA_DEFRAGMENTATION_FLAG_BITS_MAX_ENUM);
    VALUE(VMA_DEFRAGMENTATION_MOVE_OPERATION_COPY);
    VALUE(VMA_DEFRAGMENTATION_MOVE_OPERATION_IGNORE);
    VALUE(VMA_DEFRAGMENTATION_MOVE_OPERATION_DESTROY);
    VALUE(VMA_VIRTUAL_BLOCK_CREATE_LINEAR_ALGORITHM_BIT);
    VALUE(VMA_VIRTUAL_BLOCK_CREATE_ALGORITHM_MASK);
    VALUE(VMA_VIRTUAL_BLOCK_CREATE_FLAG_BITS_MAX_ENUM);
    VALUE(VMA_VIRTUAL_ALLOCATION_CREATE_UPPER_ADDRESS_BIT);
    VALUE(VMA_VIRTUAL_ALLOCATION_CREATE_STRATEGY_MIN_MEMORY_BIT);
    VALUE(VMA_VIRTUAL_ALLOCATION_CREATE_STRATEGY_MIN_TIME_BIT);
    VALUE(VMA_VIRTUAL_ALLOCATION_CREATE_STRATEGY_MIN_OFFSET_BIT);
    VALUE(VMA_VIRTUAL_ALLOCATION_CREATE_STRATEGY_MASK);
    VALUE(VMA_VIRTUAL_ALLOCATION_CREATE_FLAG_BITS_MAX_ENUM);
}

void same_layouts(void)
{
    same_section("layout");
    same_say_bytes("version", VMA_VERSION);
    say_structures();
    say_other_structures();
    say_values();
}
