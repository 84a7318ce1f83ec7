"""What the package uses of Vulkan and of libmaar, as C: structures, functions, constants.

The text is C that a compiler could read, and one does: tests/python/test_layout.py compares every
size, offset, field type, prototype and constant here with the headers. _abi.py makes ctypes of it.
"""

STRUCTURES = """
struct VkApplicationInfo {
    VkStructureType sType;
    const void* pNext;
    const char* pApplicationName;
    uint32_t applicationVersion;
    const char* pEngineName;
    uint32_t engineVersion;
    uint32_t apiVersion;
};
struct VkInstanceCreateInfo {
    VkStructureType sType;
    const void* pNext;
    VkInstanceCreateFlags flags;
    const VkApplicationInfo* pApplicationInfo;
    uint32_t enabledLayerCount;
    const char* const* ppEnabledLayerNames;
    uint32_t enabledExtensionCount;
    const char* const* ppEnabledExtensionNames;
};
struct VkExtensionProperties {
    char extensionName[256];
    uint32_t specVersion;
};
struct VkPhysicalDeviceLimits {
    uint64_t opaque[63];
};
struct VkPhysicalDeviceSparseProperties {
    uint32_t opaque[5];
};
struct VkPhysicalDeviceProperties {
    uint32_t apiVersion;
    uint32_t driverVersion;
    uint32_t vendorID;
    uint32_t deviceID;
    VkPhysicalDeviceType deviceType;
    char deviceName[256];
    uint8_t pipelineCacheUUID[16];
    VkPhysicalDeviceLimits limits;
    VkPhysicalDeviceSparseProperties sparseProperties;
};
struct VkPhysicalDeviceProperties2 {
    VkStructureType sType;
    void* pNext;
    VkPhysicalDeviceProperties properties;
};
struct VkPhysicalDeviceIDProperties {
    VkStructureType sType;
    void* pNext;
    uint8_t deviceUUID[16];
    uint8_t driverUUID[16];
    uint8_t deviceLUID[8];
    uint32_t deviceNodeMask;
    VkBool32 deviceLUIDValid;
};
struct VkPhysicalDeviceFeatures {
    uint32_t opaque[55];
};
struct VkPhysicalDeviceFeatures2 {
    VkStructureType sType;
    void* pNext;
    VkPhysicalDeviceFeatures features;
};
struct VkPhysicalDeviceBufferDeviceAddressFeatures {
    VkStructureType sType;
    void* pNext;
    VkBool32 bufferDeviceAddress;
    VkBool32 bufferDeviceAddressCaptureReplay;
    VkBool32 bufferDeviceAddressMultiDevice;
};
struct VkPhysicalDeviceTimelineSemaphoreFeatures {
    VkStructureType sType;
    void* pNext;
    VkBool32 timelineSemaphore;
};
struct VkPhysicalDeviceSynchronization2Features {
    VkStructureType sType;
    void* pNext;
    VkBool32 synchronization2;
};
struct VkPhysicalDeviceMaintenance4Features {
    VkStructureType sType;
    void* pNext;
    VkBool32 maintenance4;
};
struct VkPhysicalDeviceMemoryPriorityFeaturesEXT {
    VkStructureType sType;
    void* pNext;
    VkBool32 memoryPriority;
};
struct VkPhysicalDevicePageableDeviceLocalMemoryFeaturesEXT {
    VkStructureType sType;
    void* pNext;
    VkBool32 pageableDeviceLocalMemory;
};
struct VkMemoryType {
    VkMemoryPropertyFlags propertyFlags;
    uint32_t heapIndex;
};
struct VkMemoryHeap {
    VkDeviceSize size;
    VkMemoryHeapFlags flags;
};
struct VkPhysicalDeviceMemoryProperties {
    uint32_t memoryTypeCount;
    VkMemoryType memoryTypes[32];
    uint32_t memoryHeapCount;
    VkMemoryHeap memoryHeaps[16];
};
struct VkDeviceQueueCreateInfo {
    VkStructureType sType;
    const void* pNext;
    VkDeviceQueueCreateFlags flags;
    uint32_t queueFamilyIndex;
    uint32_t queueCount;
    const float* pQueuePriorities;
};
struct VkDeviceCreateInfo {
    VkStructureType sType;
    const void* pNext;
    VkDeviceCreateFlags flags;
    uint32_t queueCreateInfoCount;
    const VkDeviceQueueCreateInfo* pQueueCreateInfos;
    uint32_t enabledLayerCount;
    const char* const* ppEnabledLayerNames;
    uint32_t enabledExtensionCount;
    const char* const* ppEnabledExtensionNames;
    const VkPhysicalDeviceFeatures* pEnabledFeatures;
};
struct VkBufferCreateInfo {
    VkStructureType sType;
    const void* pNext;
    VkBufferCreateFlags flags;
    VkDeviceSize size;
    VkBufferUsageFlags usage;
    VkSharingMode sharingMode;
    uint32_t queueFamilyIndexCount;
    const uint32_t* pQueueFamilyIndices;
};
struct VkSemaphoreTypeCreateInfo {
    VkStructureType sType;
    const void* pNext;
    VkSemaphoreType semaphoreType;
    uint64_t initialValue;
};
struct VkSemaphoreCreateInfo {
    VkStructureType sType;
    const void* pNext;
    VkSemaphoreCreateFlags flags;
};
struct VkSemaphoreWaitInfo {
    VkStructureType sType;
    const void* pNext;
    VkSemaphoreWaitFlags flags;
    uint32_t semaphoreCount;
    const VkSemaphore* pSemaphores;
    const uint64_t* pValues;
};
struct VkSemaphoreSignalInfo {
    VkStructureType sType;
    const void* pNext;
    VkSemaphore semaphore;
    uint64_t value;
};
struct VkTimelineSemaphoreSubmitInfo {
    VkStructureType sType;
    const void* pNext;
    uint32_t waitSemaphoreValueCount;
    const uint64_t* pWaitSemaphoreValues;
    uint32_t signalSemaphoreValueCount;
    const uint64_t* pSignalSemaphoreValues;
};
struct VkSubmitInfo {
    VkStructureType sType;
    const void* pNext;
    uint32_t waitSemaphoreCount;
    const VkSemaphore* pWaitSemaphores;
    const VkPipelineStageFlags* pWaitDstStageMask;
    uint32_t commandBufferCount;
    const VkCommandBuffer* pCommandBuffers;
    uint32_t signalSemaphoreCount;
    const VkSemaphore* pSignalSemaphores;
};
struct VkCommandPoolCreateInfo {
    VkStructureType sType;
    const void* pNext;
    VkCommandPoolCreateFlags flags;
    uint32_t queueFamilyIndex;
};
struct VkCommandBufferAllocateInfo {
    VkStructureType sType;
    const void* pNext;
    VkCommandPool commandPool;
    VkCommandBufferLevel level;
    uint32_t commandBufferCount;
};
struct VkCommandBufferBeginInfo {
    VkStructureType sType;
    const void* pNext;
    VkCommandBufferUsageFlags flags;
    const VkCommandBufferInheritanceInfo* pInheritanceInfo;
};
struct VkMemoryBarrier {
    VkStructureType sType;
    const void* pNext;
    VkAccessFlags srcAccessMask;
    VkAccessFlags dstAccessMask;
};
struct VkBufferCopy {
    VkDeviceSize srcOffset;
    VkDeviceSize dstOffset;
    VkDeviceSize size;
};
struct VkImageSubresourceRange {
    VkImageAspectFlags aspectMask;
    uint32_t baseMipLevel;
    uint32_t levelCount;
    uint32_t baseArrayLayer;
    uint32_t layerCount;
};

struct MaarDeviceRecommendation {
    MaarStructureType sType;
    void* pNext;
    uint32_t extensionCount;
    const char* ppExtensionNames[32];
    void* pFeatures;
    uint32_t mainQueueFamily;
    uint32_t sparseQueueFamily;
    uint32_t transferQueueFamily;
    VkPhysicalDeviceFeatures2 features;
    VkPhysicalDeviceBufferDeviceAddressFeatures bufferDeviceAddress;
    VkPhysicalDeviceTimelineSemaphoreFeatures timelineSemaphore;
    VkPhysicalDeviceSynchronization2Features synchronization2;
    VkPhysicalDeviceMaintenance4Features maintenance4;
    VkPhysicalDeviceMemoryPriorityFeaturesEXT memoryPriority;
    VkPhysicalDevicePageableDeviceLocalMemoryFeaturesEXT pageableDeviceLocalMemory;
};
struct MaarQueue {
    uint32_t familyIndex;
    uint32_t queueIndex;
    VkQueue queue;
    PFN_maarQueueLock pfnLock;
    PFN_maarQueueLock pfnUnlock;
    void* pUserData;
};
struct MaarMessage {
    MaarStructureType sType;
    const void* pNext;
    MaarMessageSeverity severity;
    MaarMessageId id;
    const char* pIdName;
    const char* pFunction;
    const char* pText;
};
struct MaarAllocatorCreateInfo {
    MaarStructureType sType;
    const void* pNext;
    MaarAllocatorCreateFlags flags;
    uint32_t apiVersion;
    VkInstance instance;
    VkPhysicalDevice physicalDevice;
    VkDevice device;
    PFN_vkGetInstanceProcAddr pfnGetInstanceProcAddr;
    PFN_vkGetDeviceProcAddr pfnGetDeviceProcAddr;
    uint32_t enabledExtensionCount;
    const char* const* ppEnabledExtensionNames;
    const void* pEnabledFeatures;
    uint32_t queueCount;
    const MaarQueue* pQueues;
    const VkAllocationCallbacks* pAllocationCallbacks;
    PFN_maarMessage pfnMessage;
    void* pMessageUserData;
    PFN_maarDeviceMemory pfnDeviceAllocate;
    PFN_maarDeviceMemory pfnDeviceFree;
    void* pDeviceMemoryUserData;
    PFN_maarOutOfMemory pfnOutOfMemory;
    void* pOutOfMemoryUserData;
    uint32_t heapSizeLimitCount;
    const VkDeviceSize* pHeapSizeLimits;
    MaarPlacementStrategy strategy;
    VkDeviceSize preferredBlockSize;
    VkDeviceSize retainedEmptySize;
};
struct MaarAllocatorInfo {
    MaarStructureType sType;
    void* pNext;
    VkPhysicalDeviceMemoryProperties memoryProperties;
    char deviceName[256];
    VkPhysicalDeviceType deviceType;
    uint32_t apiVersion;
    VkDeviceSize bufferImageGranularity;
    VkDeviceSize nonCoherentAtomSize;
    VkDeviceSize maxMemoryAllocationSize;
    uint32_t maxMemoryAllocationCount;
    uint32_t allocationCountLimit;
    uint32_t avoidedTypeBits;
    VkBool32 memoryBudget;
    VkBool32 memoryPriority;
    VkBool32 pageableDeviceLocalMemory;
    VkBool32 bufferDeviceAddress;
    VkBool32 maintenance4;
    VkBool32 timelineSemaphore;
};
struct MaarAllocationCreateInfo {
    MaarStructureType sType;
    const void* pNext;
    MaarAllocationCreateFlags flags;
    MaarMemoryUsage usage;
    MaarDedicated dedicated;
    VkMemoryPropertyFlags requiredFlags;
    VkMemoryPropertyFlags preferredFlags;
    uint32_t memoryTypeBits;
    VkDeviceSize minAlignment;
    float priority;
    MaarPool pool;
    void* pUserData;
    const char* pName;
};
struct MaarAllocationInfo {
    MaarStructureType sType;
    void* pNext;
    VkDeviceMemory memory;
    VkDeviceSize offset;
    VkDeviceSize size;
    VkDeviceSize blockSize;
    uint64_t blockId;
    uint32_t memoryTypeIndex;
    VkMemoryPropertyFlags propertyFlags;
    VkBool32 dedicated;
    VkBool32 fallback;
    void* pMappedData;
    void* pUserData;
    const char* pName;
    MaarPool pool;
    MaarResourceKind kind;
    uint32_t locationEpoch;
};
struct MaarPoint {
    VkSemaphore semaphore;
    uint64_t value;
};
struct MaarStatistics {
    MaarStructureType sType;
    void* pNext;
    uint32_t blockCount;
    uint32_t dedicatedCount;
    uint32_t allocationCount;
    uint32_t pendingCount;
    VkDeviceSize blockBytes;
    VkDeviceSize dedicatedBytes;
    VkDeviceSize allocationBytes;
    VkDeviceSize pendingBytes;
    VkDeviceSize paddingBytes;
    VkDeviceSize freeBytes;
    VkDeviceSize peakBlockBytes;
    VkDeviceSize peakAllocationBytes;
    uint32_t peakBlockCount;
    uint64_t deviceAllocationCalls;
    uint64_t deviceFreeCalls;
    uint64_t allocationsMade;
    uint64_t failureCount;
    uint64_t fallbackCount;
    uint64_t overBudgetCount;
    uint32_t sliceCount;
    uint32_t pendingSliceCount;
    VkDeviceSize sliceBytes;
    VkDeviceSize pendingSliceBytes;
    uint32_t sliceBufferCount;
    VkDeviceSize sliceBufferBytes;
};
struct MaarSharingQuery {
    MaarStructureType sType;
    const void* pNext;
    const VkBufferCreateInfo* pBufferInfo;
    const VkImageCreateInfo* pImageInfo;
    VkExternalMemoryHandleTypeFlagBits handleType;
};
struct MaarSharingSupport {
    MaarStructureType sType;
    void* pNext;
    VkBool32 exportable;
    VkBool32 importable;
    VkBool32 dedicatedOnly;
    VkExternalMemoryHandleTypeFlags compatibleTypes;
    VkExternalMemoryHandleTypeFlags exportFromImportedTypes;
    uint32_t memoryTypeBits;
};
struct MaarExportInfo {
    MaarStructureType sType;
    const void* pNext;
    VkExternalMemoryHandleTypeFlags handleTypes;
};
struct MaarHandoffResource {
    VkBuffer buffer;
    VkDeviceSize offset;
    VkDeviceSize size;
    VkImage image;
    VkImageSubresourceRange range;
    VkImageLayout oldLayout;
    VkImageLayout newLayout;
    VkPipelineStageFlags stages;
    VkAccessFlags access;
};
struct MaarCudaCreateInfo {
    MaarStructureType sType;
    const void* pNext;
    MaarCudaCreateFlags flags;
    const char* pLibraryPath;
    void* pContext;
};
struct MaarCudaInfo {
    MaarStructureType sType;
    void* pNext;
    char deviceName[256];
    int deviceOrdinal;
    int driverVersion;
    void* pContext;
    VkExternalMemoryHandleTypeFlagBits memoryHandleType;
    MaarHandoffMode handoffMode;
    VkBool32 timelineSemaphores;
    VkBool32 binarySemaphores;
    VkBool32 images;
    VkBool32 virtualMemory;
    uint32_t importedBlockCount;
    VkDeviceSize importedBytes;
};
struct MaarCudaMemory {
    MaarStructureType sType;
    void* pNext;
    uint64_t devicePointer;
    void* pDevice;
    VkDeviceSize size;
    uint64_t blockPointer;
    VkDeviceSize blockSize;
};
struct MaarCudaTimelineCreateInfo {
    MaarStructureType sType;
    const void* pNext;
    uint64_t initialValue;
    MaarHandoffMode mode;
};
struct MaarCudaTimelineInfo {
    MaarStructureType sType;
    void* pNext;
    MaarHandoffMode mode;
    VkSemaphore semaphore;
};
struct MaarCudaHandoffInfo {
    MaarStructureType sType;
    const void* pNext;
    uint64_t value;
    MaarCudaStream stream;
    uint32_t queue;
    uint32_t resourceCount;
    const MaarHandoffResource* pResources;
};
"""

# Structures of Vulkan that are passed through unread: of these the size alone is compared.
OPAQUE = ("VkPhysicalDeviceLimits", "VkPhysicalDeviceSparseProperties", "VkPhysicalDeviceFeatures")

VULKAN_FUNCTIONS = """
PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance, const char*);
VkResult vkEnumerateInstanceVersion(uint32_t*);
VkResult vkCreateInstance(const VkInstanceCreateInfo*, const VkAllocationCallbacks*, VkInstance*);
void vkDestroyInstance(VkInstance, const VkAllocationCallbacks*);
VkResult vkEnumeratePhysicalDevices(VkInstance, uint32_t*, VkPhysicalDevice*);
VkResult vkEnumerateDeviceExtensionProperties(VkPhysicalDevice, const char*, uint32_t*, VkExtensionProperties*);
void vkGetPhysicalDeviceProperties2(VkPhysicalDevice, VkPhysicalDeviceProperties2*);
VkResult vkCreateDevice(VkPhysicalDevice, const VkDeviceCreateInfo*, const VkAllocationCallbacks*, VkDevice*);
void vkDestroyDevice(VkDevice, const VkAllocationCallbacks*);
VkResult vkDeviceWaitIdle(VkDevice);
void vkGetDeviceQueue(VkDevice, uint32_t, uint32_t, VkQueue*);
VkResult vkQueueSubmit(VkQueue, uint32_t, const VkSubmitInfo*, VkFence);
VkResult vkCreateSemaphore(VkDevice, const VkSemaphoreCreateInfo*, const VkAllocationCallbacks*, VkSemaphore*);
void vkDestroySemaphore(VkDevice, VkSemaphore, const VkAllocationCallbacks*);
VkResult vkGetSemaphoreCounterValue(VkDevice, VkSemaphore, uint64_t*);
VkResult vkWaitSemaphores(VkDevice, const VkSemaphoreWaitInfo*, uint64_t);
VkResult vkSignalSemaphore(VkDevice, const VkSemaphoreSignalInfo*);
VkResult vkCreateCommandPool(VkDevice, const VkCommandPoolCreateInfo*, const VkAllocationCallbacks*, VkCommandPool*);
void vkDestroyCommandPool(VkDevice, VkCommandPool, const VkAllocationCallbacks*);
VkResult vkAllocateCommandBuffers(VkDevice, const VkCommandBufferAllocateInfo*, VkCommandBuffer*);
VkResult vkBeginCommandBuffer(VkCommandBuffer, const VkCommandBufferBeginInfo*);
VkResult vkEndCommandBuffer(VkCommandBuffer);
void vkCmdPipelineBarrier(VkCommandBuffer, VkPipelineStageFlags, VkPipelineStageFlags, VkDependencyFlags, uint32_t, const VkMemoryBarrier*, uint32_t, const VkBufferMemoryBarrier*, uint32_t, const VkImageMemoryBarrier*);
void vkCmdFillBuffer(VkCommandBuffer, VkBuffer, VkDeviceSize, VkDeviceSize, uint32_t);
void vkCmdUpdateBuffer(VkCommandBuffer, VkBuffer, VkDeviceSize, VkDeviceSize, const void*);
void vkCmdCopyBuffer(VkCommandBuffer, VkBuffer, VkBuffer, uint32_t, const VkBufferCopy*);
"""

MAAR_FUNCTIONS = """
uint32_t maarGetVersion(void);
VkResult maarRecommendDevice(PFN_vkGetInstanceProcAddr, VkInstance, VkPhysicalDevice, const VkAllocationCallbacks*, MaarDeviceRecommendation*);
VkResult maarCreateAllocator(const MaarAllocatorCreateInfo*, MaarAllocator*);
void maarDestroyAllocator(MaarAllocator);
VkResult maarGetAllocatorInfo(MaarAllocator, MaarAllocatorInfo*);
VkResult maarCreateBuffer(MaarAllocator, const VkBufferCreateInfo*, const MaarAllocationCreateInfo*, VkBuffer*, MaarAllocation*);
void maarDestroyBuffer(MaarAllocator, VkBuffer, MaarAllocation);
VkResult maarDestroyBufferAfter(MaarAllocator, VkBuffer, MaarAllocation, uint32_t, const MaarPoint*);
VkResult maarGetBufferAddress(MaarAllocator, VkBuffer, VkDeviceAddress*);
VkResult maarGetAllocationInfo(MaarAllocator, MaarAllocation, MaarAllocationInfo*);
VkResult maarFlushAllocation(MaarAllocator, MaarAllocation, VkDeviceSize, VkDeviceSize);
VkResult maarInvalidateAllocation(MaarAllocator, MaarAllocation, VkDeviceSize, VkDeviceSize);
VkResult maarCollect(MaarAllocator, uint32_t*);
VkResult maarTrim(MaarAllocator, MaarPool, VkDeviceSize*);
VkResult maarGetStatistics(MaarAllocator, MaarPool, MaarStatistics*);
VkResult maarGetSharingSupport(MaarAllocator, const MaarSharingQuery*, MaarSharingSupport*);
VkResult maarCreateCuda(MaarAllocator, const MaarCudaCreateInfo*, MaarCuda*);
void maarDestroyCuda(MaarCuda);
VkResult maarGetCudaInfo(MaarCuda, MaarCudaInfo*);
VkResult maarGetCudaMemory(MaarCuda, MaarAllocation, MaarCudaMemory*);
VkResult maarCreateCudaTimeline(MaarCuda, const MaarCudaTimelineCreateInfo*, MaarCudaTimeline*);
void maarDestroyCudaTimeline(MaarCuda, MaarCudaTimeline);
VkResult maarGetCudaTimelineInfo(MaarCuda, MaarCudaTimeline, MaarCudaTimelineInfo*);
VkResult maarCudaWait(MaarCuda, MaarCudaTimeline, uint64_t, MaarCudaStream);
VkResult maarReleaseToCuda(MaarCuda, MaarCudaTimeline, const MaarCudaHandoffInfo*);
VkResult maarAcquireFromCuda(MaarCuda, MaarCudaTimeline, const MaarCudaHandoffInfo*);
"""

# The sType of each structure that has one.
STRUCTURE_TYPES = {
    "VkApplicationInfo": ("VK_STRUCTURE_TYPE_APPLICATION_INFO", 0),
    "VkInstanceCreateInfo": ("VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO", 1),
    "VkDeviceQueueCreateInfo": ("VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO", 2),
    "VkDeviceCreateInfo": ("VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO", 3),
    "VkSubmitInfo": ("VK_STRUCTURE_TYPE_SUBMIT_INFO", 4),
    "VkSemaphoreCreateInfo": ("VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO", 9),
    "VkBufferCreateInfo": ("VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO", 12),
    "VkCommandPoolCreateInfo": ("VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO", 39),
    "VkCommandBufferAllocateInfo": ("VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO", 40),
    "VkCommandBufferBeginInfo": ("VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO", 42),
    "VkMemoryBarrier": ("VK_STRUCTURE_TYPE_MEMORY_BARRIER", 46),
    "VkPhysicalDeviceProperties2": ("VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2", 1000059001),
    "VkPhysicalDeviceIDProperties":
        ("VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES", 1000071004),
    "VkSemaphoreTypeCreateInfo": ("VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO", 1000207002),
    "VkTimelineSemaphoreSubmitInfo":
        ("VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO", 1000207003),
    "VkSemaphoreWaitInfo": ("VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO", 1000207004),
    "VkSemaphoreSignalInfo": ("VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO", 1000207005),
    "MaarMessage": ("MAAR_STRUCTURE_TYPE_MESSAGE", 0x4D410090),
    "MaarAllocatorCreateInfo": ("MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO", 0x4D410010),
    "MaarDeviceRecommendation": ("MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION", 0x4D410011),
    "MaarAllocationCreateInfo": ("MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO", 0x4D410012),
    "MaarAllocationInfo": ("MAAR_STRUCTURE_TYPE_ALLOCATION_INFO", 0x4D410013),
    "MaarStatistics": ("MAAR_STRUCTURE_TYPE_STATISTICS", 0x4D410015),
    "MaarAllocatorInfo": ("MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO", 0x4D41001A),
    "MaarSharingQuery": ("MAAR_STRUCTURE_TYPE_SHARING_QUERY", 0x4D410061),
    "MaarSharingSupport": ("MAAR_STRUCTURE_TYPE_SHARING_SUPPORT", 0x4D410062),
    "MaarExportInfo": ("MAAR_STRUCTURE_TYPE_EXPORT_INFO", 0x4D410063),
    "MaarCudaCreateInfo": ("MAAR_STRUCTURE_TYPE_CUDA_CREATE_INFO", 0x4D410070),
    "MaarCudaInfo": ("MAAR_STRUCTURE_TYPE_CUDA_INFO", 0x4D410071),
    "MaarCudaMemory": ("MAAR_STRUCTURE_TYPE_CUDA_MEMORY", 0x4D410072),
    "MaarCudaTimelineCreateInfo": ("MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_CREATE_INFO", 0x4D410074),
    "MaarCudaTimelineInfo": ("MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_INFO", 0x4D410075),
    "MaarCudaHandoffInfo": ("MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO", 0x4D410076),
}

CONSTANTS = {
    "MAAR_VERSION_MAJOR": 0,
    "MAAR_VERSION_MINOR": 2,
    "MAAR_ALLOCATION_CREATE_MAPPED_BIT": 0x1,
    "MAAR_MEMORY_USAGE_DEVICE_LOCAL": 0,
    "MAAR_MEMORY_USAGE_UPLOAD": 1,
    "MAAR_MEMORY_USAGE_READBACK": 2,
    "MAAR_MEMORY_USAGE_DEVICE_UPLOAD": 3,
    "MAAR_MESSAGE_SEVERITY_ERROR": 0,
    "MAAR_MESSAGE_SEVERITY_WARNING": 1,
    "MAAR_MESSAGE_SEVERITY_INFO": 2,
    "MAAR_MESSAGE_SEVERITY_FATAL": 3,
    "MAAR_HANDOFF_MODE_AUTO": 0,
    "MAAR_HANDOFF_MODE_TIMELINE": 1,
    "MAAR_HANDOFF_MODE_BINARY": 2,
    "MAAR_HANDOFF_MODE_HOST": 3,
    "VK_API_VERSION_1_1": 0x401000,
    "VK_API_VERSION_1_3": 0x403000,
    "VK_SUCCESS": 0,
    "VK_NOT_READY": 1,
    "VK_TIMEOUT": 2,
    "VK_INCOMPLETE": 5,
    "VK_ERROR_OUT_OF_HOST_MEMORY": -1,
    "VK_ERROR_OUT_OF_DEVICE_MEMORY": -2,
    "VK_ERROR_INITIALIZATION_FAILED": -3,
    "VK_ERROR_DEVICE_LOST": -4,
    "VK_ERROR_MEMORY_MAP_FAILED": -5,
    "VK_ERROR_LAYER_NOT_PRESENT": -6,
    "VK_ERROR_EXTENSION_NOT_PRESENT": -7,
    "VK_ERROR_FEATURE_NOT_PRESENT": -8,
    "VK_ERROR_INCOMPATIBLE_DRIVER": -9,
    "VK_ERROR_TOO_MANY_OBJECTS": -10,
    "VK_ERROR_UNKNOWN": -13,
    "VK_ERROR_OUT_OF_POOL_MEMORY": -1000069000,
    "VK_ERROR_INVALID_EXTERNAL_HANDLE": -1000072003,
    "VK_ERROR_VALIDATION_FAILED_EXT": -1000011001,
    "VK_PHYSICAL_DEVICE_TYPE_OTHER": 0,
    "VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU": 1,
    "VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU": 2,
    "VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU": 3,
    "VK_PHYSICAL_DEVICE_TYPE_CPU": 4,
    "VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT": 0x1,
    "VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT": 0x2,
    "VK_MEMORY_PROPERTY_HOST_COHERENT_BIT": 0x4,
    "VK_MEMORY_PROPERTY_HOST_CACHED_BIT": 0x8,
    "VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT": 0x10,
    "VK_MEMORY_PROPERTY_PROTECTED_BIT": 0x20,
    "VK_BUFFER_USAGE_TRANSFER_SRC_BIT": 0x1,
    "VK_BUFFER_USAGE_TRANSFER_DST_BIT": 0x2,
    "VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT": 0x10,
    "VK_BUFFER_USAGE_STORAGE_BUFFER_BIT": 0x20,
    "VK_BUFFER_USAGE_INDEX_BUFFER_BIT": 0x40,
    "VK_BUFFER_USAGE_VERTEX_BUFFER_BIT": 0x80,
    "VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT": 0x100,
    "VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT": 0x20000,
    "VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT": 0x1,
    "VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT": 0x2,
    "VK_SEMAPHORE_TYPE_TIMELINE": 1,
    "VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT": 0x2,
    "VK_COMMAND_BUFFER_LEVEL_PRIMARY": 0,
    "VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT": 0x1,
    "VK_PIPELINE_STAGE_TRANSFER_BIT": 0x1000,
    "VK_PIPELINE_STAGE_HOST_BIT": 0x4000,
    "VK_PIPELINE_STAGE_ALL_COMMANDS_BIT": 0x10000,
    "VK_ACCESS_TRANSFER_READ_BIT": 0x800,
    "VK_ACCESS_TRANSFER_WRITE_BIT": 0x1000,
    "VK_ACCESS_HOST_READ_BIT": 0x2000,
    "VK_ACCESS_HOST_WRITE_BIT": 0x4000,
    "VK_ACCESS_MEMORY_READ_BIT": 0x8000,
    "VK_ACCESS_MEMORY_WRITE_BIT": 0x10000,
}
