/** @file
 * maar/simulated.h: a Vulkan driver made from a profile, for tests and tools.
 *
 * A program reaches the driver through maarSimulatedGetInstanceProcAddr(), like any driver. The
 * driver answers with the profile's heaps, memory types, limits and requirements. Unless a flag
 * asks for more, it executes sparse binds only, and submissions signal their fences and semaphores
 * at once. With MAAR_SIMULATED_EXECUTE_BIT it executes copies, fills and clears on real bytes, in
 * the order that queues and semaphores allow. It enforces the limits that real drivers leave to the
 * program, and records every breach of Vulkan's rules that it sees. On request it shares memory and
 * semaphores with other devices and processes, and fails any call. The driver is a library of its
 * own (maar::simulated). Maar works without it.
 */
#ifndef MAAR_SIMULATED_H
#define MAAR_SIMULATED_H

#include "maar/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Room for extension names in a profile. */
#define MAAR_SIMULATED_MAX_EXTENSIONS 64
/** Room for queue families in a profile. */
#define MAAR_SIMULATED_MAX_QUEUE_FAMILIES 16
/** Room for one extension name, its final zero included. */
#define MAAR_SIMULATED_MAX_NAME 64
/** Room for the text of a violation, its final zero included. */
#define MAAR_SIMULATED_MAX_TEXT 240

/** The limits of a device, in bytes where no other unit is given. Zero is reported as zero. */
typedef struct MaarSimulatedLimits {
    /** VkPhysicalDeviceLimits::bufferImageGranularity; also checked at binds */
    VkDeviceSize bufferImageGranularity;
    /** VkPhysicalDeviceLimits::nonCoherentAtomSize; also checked at flushes */
    VkDeviceSize nonCoherentAtomSize;
    /** VkPhysicalDeviceLimits::maxMemoryAllocationCount; enforced, zero is no limit */
    uint32_t maxMemoryAllocationCount;
    /** VkPhysicalDeviceLimits::minMemoryMapAlignment; mappings are aligned so */
    VkDeviceSize minMemoryMapAlignment;
    /** VkPhysicalDeviceLimits::sparseAddressSpaceSize; enforced, zero is no limit */
    VkDeviceSize sparseAddressSpaceSize;
    /** VkPhysicalDeviceLimits::minUniformBufferOffsetAlignment */
    VkDeviceSize minUniformBufferOffsetAlignment;
    /** VkPhysicalDeviceLimits::minStorageBufferOffsetAlignment */
    VkDeviceSize minStorageBufferOffsetAlignment;
    /** VkPhysicalDeviceLimits::minTexelBufferOffsetAlignment */
    VkDeviceSize minTexelBufferOffsetAlignment;
    /** VkPhysicalDeviceLimits::optimalBufferCopyOffsetAlignment */
    VkDeviceSize optimalBufferCopyOffsetAlignment;
    /** VkPhysicalDeviceLimits::optimalBufferCopyRowPitchAlignment */
    VkDeviceSize optimalBufferCopyRowPitchAlignment;
    /** VkPhysicalDeviceLimits::maxStorageBufferRange */
    uint32_t maxStorageBufferRange;
    /** VkPhysicalDeviceMaintenance3Properties::maxMemoryAllocationSize; enforced, zero is none */
    VkDeviceSize maxMemoryAllocationSize;
    /** VkPhysicalDeviceMaintenance4Properties::maxBufferSize; enforced, zero is no limit */
    VkDeviceSize maxBufferSize;
    /** VkPhysicalDeviceExternalMemoryHostPropertiesEXT::minImportedHostPointerAlignment */
    VkDeviceSize minImportedHostPointerAlignment;
} MaarSimulatedLimits;

/** One memory heap. */
typedef struct MaarSimulatedHeap {
    /** bytes; enforced unless MAAR_SIMULATED_OVERCOMMIT_BIT */
    VkDeviceSize size;
    /** VkMemoryHeapFlagBits */
    VkMemoryHeapFlags flags;
    /** VK_TRUE: a budget of 0 is reported too, as some drivers do */
    VkBool32 budgetKnown;
    /** the budget that VK_EXT_memory_budget reports, also when it makes no sense; 0: the heap's
     * size, unless budgetKnown. Not enforced. A device with a budget offers the extension in any
     * case */
    VkDeviceSize budget;
    /** usage reported before this program has allocated anything */
    VkDeviceSize usage;
} MaarSimulatedHeap;

/** One memory type. */
typedef struct MaarSimulatedType {
    /** index of its heap */
    uint32_t heap;
    /** VkMemoryPropertyFlagBits */
    VkMemoryPropertyFlags flags;
} MaarSimulatedType;

/** One queue family. */
typedef struct MaarSimulatedQueueFamily {
    /** queues in it */
    uint32_t count;
    /** VkQueueFlagBits */
    VkQueueFlags flags;
} MaarSimulatedQueueFamily;

/** The device's support of sparse resources. Each VkBool32 is a feature of Vulkan's, named beside
 * it. */
typedef struct MaarSimulatedSparse {
    /** VkPhysicalDeviceFeatures::sparseBinding */
    VkBool32 sparseBinding;
    /** VkPhysicalDeviceFeatures::sparseResidencyBuffer */
    VkBool32 residencyBuffer;
    /** VkPhysicalDeviceFeatures::sparseResidencyImage2D */
    VkBool32 residencyImage2D;
    /** VkPhysicalDeviceFeatures::sparseResidencyImage3D */
    VkBool32 residencyImage3D;
    /** VkPhysicalDeviceFeatures::sparseResidency2Samples */
    VkBool32 residency2Samples;
    /** VkPhysicalDeviceFeatures::sparseResidency4Samples */
    VkBool32 residency4Samples;
    /** VkPhysicalDeviceFeatures::sparseResidency8Samples */
    VkBool32 residency8Samples;
    /** VkPhysicalDeviceFeatures::sparseResidency16Samples */
    VkBool32 residency16Samples;
    /** VkPhysicalDeviceFeatures::sparseResidencyAliased */
    VkBool32 residencyAliased;
    /** VkPhysicalDeviceSparseProperties */
    VkPhysicalDeviceSparseProperties properties;
} MaarSimulatedSparse;

/** How a partially resident image stores the levels that are smaller than a tile. */
typedef enum MaarSimulatedMipTail {
    /** Each layer has a mip tail of its own. */
    MAAR_SIMULATED_MIP_TAIL_PER_LAYER = 0,
    /** All layers share one mip tail. */
    MAAR_SIMULATED_MIP_TAIL_SINGLE = 1,
    /** There is no mip tail: such levels take whole tiles. */
    MAAR_SIMULATED_MIP_TAIL_NONE = 2,
    /** Reserves the enumeration's size. */
    MAAR_SIMULATED_MIP_TAIL_MAX_ENUM = 0x7FFFFFFF
} MaarSimulatedMipTail;

/** The memory requirements that the device reports. */
typedef struct MaarSimulatedRequirements {
    /** memoryTypeBits of buffers; zero: every type but LAZILY_ALLOCATED and PROTECTED ones */
    uint32_t bufferTypeBits;
    /** memoryTypeBits of images; zero as above */
    uint32_t imageTypeBits;
    /** memoryTypeBits of TRANSIENT_ATTACHMENT images; zero: images' and all LAZILY_ALLOCATED ones
     */
    uint32_t transientTypeBits;
    /** alignment of plain buffers; zero: 16 */
    VkDeviceSize bufferAlignment;
    /** alignment of uniform buffers; zero: the larger of the above and the offset limit */
    VkDeviceSize uniformAlignment;
    /** alignment of storage buffers; zero: as for uniform buffers */
    VkDeviceSize storageAlignment;
    /** alignment of sparse buffers, which is their page; zero: 65536 */
    VkDeviceSize sparseAlignment;
    /** alignment of sparse images, which is the size of a tile; zero: as sparseAlignment. Tiles are
     * Vulkan's standard ones, twice as large or half as large in turn where this is not 65536. */
    VkDeviceSize sparseImageAlignment;
    /** mip tails of partially resident images */
    MaarSimulatedMipTail mipTail;
    /** where mip tails are bound; zero: behind the tiles. Need not lie in the image. */
    VkDeviceSize mipTailOffset;
    /** bytes of a metadata aspect that partially resident images have; zero: none */
    VkDeviceSize metadataSize;
    /** VK_TRUE: images of depth and stencil formats cannot be partially resident */
    VkBool32 sparseDepthUnsupported;
    /** buffer sizes are rounded up to this; zero: to their alignment; 1: not at all */
    VkDeviceSize bufferSizeRounding;
    /** alignment of linear images; zero: as for plain buffers */
    VkDeviceSize linearImageAlignment;
    /** alignment of optimal images below 64 KiB; zero: 4096 */
    VkDeviceSize smallImageAlignment;
    /** alignment of optimal colour images; zero: 65536 */
    VkDeviceSize imageAlignment;
    /** alignment of depth and stencil images; zero: as imageAlignment */
    VkDeviceSize depthImageAlignment;
    /** alignment of multisampled images; zero: as imageAlignment */
    VkDeviceSize multisampleImageAlignment;
    /** VK_TRUE: D24 formats are unsupported */
    VkBool32 depth24Unsupported;
} MaarSimulatedRequirements;

/** A device, as one driver reports it. Everything is copied by vkCreateInstance. */
typedef struct MaarSimulatedProfile {
    /** MAAR_STRUCTURE_TYPE_SIMULATED_PROFILE */
    MaarStructureType sType;
    /** NULL, or a chain of structures; unknown ones are skipped */
    const void* pNext;
    /** the profile's own name, zero-terminated */
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    /** VkPhysicalDeviceProperties::deviceName */
    char deviceName[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    /** VkPhysicalDeviceProperties::deviceType */
    VkPhysicalDeviceType deviceType;
    /** VkPhysicalDeviceProperties::vendorID */
    uint32_t vendorID;
    /** VkPhysicalDeviceProperties::deviceID */
    uint32_t deviceID;
    /** VkPhysicalDeviceDriverProperties::driverID; zero is unknown and reported as it is */
    VkDriverId driverID;
    /** VkPhysicalDeviceDriverProperties::driverName */
    char driverName[VK_MAX_DRIVER_NAME_SIZE];
    /** VkPhysicalDeviceDriverProperties::driverInfo */
    char driverInfo[VK_MAX_DRIVER_INFO_SIZE];
    /** VkPhysicalDeviceProperties::apiVersion; zero: Vulkan 1.3 */
    uint32_t apiVersion;
    /** limits */
    MaarSimulatedLimits limits;
    /** heaps in use; 1 to VK_MAX_MEMORY_HEAPS */
    uint32_t heapCount;
    /** heaps */
    MaarSimulatedHeap heaps[VK_MAX_MEMORY_HEAPS];
    /** types in use; 1 to VK_MAX_MEMORY_TYPES */
    uint32_t typeCount;
    /** memory types */
    MaarSimulatedType types[VK_MAX_MEMORY_TYPES];
    /** queue families in use; zero: one of 16 queues that can do everything */
    uint32_t queueFamilyCount;
    /** queue families */
    MaarSimulatedQueueFamily queueFamilies[MAAR_SIMULATED_MAX_QUEUE_FAMILIES];
    /** extension names in use */
    uint32_t extensionCount;
    /** device extensions; only those that the simulation implements are reported, and
     * VK_EXT_memory_budget if a heap has a budget */
    char extensions[MAAR_SIMULATED_MAX_EXTENSIONS][MAAR_SIMULATED_MAX_NAME];
    /** sparse features and properties */
    MaarSimulatedSparse sparse;
    /** memory requirements */
    MaarSimulatedRequirements requirements;
} MaarSimulatedProfile;

/**
 * The sharing that a device offers to other devices, APIs and processes. Chain this structure to a
 * MaarSimulatedProfile, or to MaarSimulatedInstanceCreateInfo for all profiles that chain none.
 * Without it nothing can be exported, and only host pointers can be imported. With it the driver
 * reports the extensions for sharing, also when the profile does not list them:
 * VK_KHR_external_memory_fd, VK_EXT_external_memory_dma_buf, VK_EXT_image_drm_format_modifier,
 * VK_KHR_external_semaphore_fd, VK_EXT_queue_family_foreign, VK_EXT_pci_bus_info. On other systems
 * than Linux the device offers only the UUIDs and the PCI address.
 *
 * An export makes a file without a name (memfd_create) whose size is sealed. The file begins with
 * this head, in the byte order of the processor:
 *
 *   byte 0   8 bytes: "MAARSIM" and a zero
 *   byte 8   uint32: 1 memory, 2 a timeline semaphore, 3 a binary semaphore
 *   byte 12  uint32: handle types for which it was made, as bits of Vulkan's enumeration
 *   byte 16  uint64: memory: allocationSize; semaphores: 0
 *   byte 24  uint32: memory: memoryTypeIndex
 *   byte 28  uint32: memory: 1 if it is a dedicated allocation
 *   byte 32  16 bytes: deviceUUID
 *   byte 48  16 bytes: driverUUID
 *   byte 64  uint64: semaphores: the value, 0 or 1 for a binary one; changes while it lives
 *   byte 72  uint64: the VkDevice that exported first, as an integer of that process
 *   byte 80  uint64: semaphores: the VkSemaphore that exported first
 *
 * The bytes of memory begin at byte 4096, and the file is 4136 bytes larger than the allocation, as
 * lavapipe's files are. A semaphore's file has 4096 bytes. Two profiles with the same name have the
 * same UUIDs, so that another process, or another instance, may import.
 */
typedef struct MaarSimulatedSharingInfo {
    /** MAAR_STRUCTURE_TYPE_SIMULATED_SHARING_INFO */
    MaarStructureType sType;
    /** NULL, or the next structure of the chain */
    const void* pNext;
    /** buffers by VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT: VkExternalMemoryFeatureFlagBits */
    VkExternalMemoryFeatureFlags opaqueBuffers;
    /** images by the same */
    VkExternalMemoryFeatureFlags opaqueImages;
    /** sparse buffers by the same; where nothing is offered, sparse resources must not be bound to
     * memory that may be exported or was imported */
    VkExternalMemoryFeatureFlags sparseBuffers;
    /** buffers by VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT */
    VkExternalMemoryFeatureFlags dmaBufBuffers;
    /** images by the same */
    VkExternalMemoryFeatureFlags dmaBufImages;
    /** memory types that a dma-buf can be imported to; zero: every type but LAZILY_ALLOCATED and
     * PROTECTED ones */
    uint32_t dmaBufTypeBits;
    /** binary semaphores by VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT:
     * VkExternalSemaphoreFeatureFlagBits */
    VkExternalSemaphoreFeatureFlags opaqueBinary;
    /** timeline semaphores by the same */
    VkExternalSemaphoreFeatureFlags opaqueTimeline;
    /** VkPhysicalDeviceIDProperties::deviceUUID; all zero: made from the profile's name */
    uint8_t deviceUUID[VK_UUID_SIZE];
    /** VkPhysicalDeviceIDProperties::driverUUID; all zero: the same for all simulated devices */
    uint8_t driverUUID[VK_UUID_SIZE];
    /** VK_TRUE: VK_EXT_pci_bus_info is reported, with the four fields below */
    VkBool32 pciAddressKnown;
    /** VkPhysicalDevicePCIBusInfoPropertiesEXT::pciDomain */
    uint32_t pciDomain;
    /** VkPhysicalDevicePCIBusInfoPropertiesEXT::pciBus */
    uint32_t pciBus;
    /** VkPhysicalDevicePCIBusInfoPropertiesEXT::pciDevice */
    uint32_t pciDevice;
    /** VkPhysicalDevicePCIBusInfoPropertiesEXT::pciFunction */
    uint32_t pciFunction;
} MaarSimulatedSharingInfo;

/** How a simulated device behaves. May be changed at any time with maarSimulatedSetFlags(). */
typedef enum MaarSimulatedFlagBits {
    /** Allocations may exceed their heap, as several real drivers let them. */
    MAAR_SIMULATED_OVERCOMMIT_BIT = 0x1,
    /** Two live resources may share bytes and granularity pages: binds are not compared. Set it for
     * programs that use transient heaps. */
    MAAR_SIMULATED_ALLOW_ALIASING_BIT = 0x2,
    /** maxMemoryAllocationCount is reported, but not enforced. */
    MAAR_SIMULATED_UNLIMITED_COUNT_BIT = 0x4,
    /** Submissions are held. They execute when the flag is cleared, in
     * maarSimulatedExecuteSubmissions, or while a call waits with a timeout above zero. */
    MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT = 0x8,
    /** An import of a file descriptor that fails for any reason closes the descriptor nevertheless.
     * Vulkan forbids that; lavapipe was observed to do it. */
    MAAR_SIMULATED_CLOSE_FD_ON_FAILED_IMPORT_BIT = 0x10,
    /** Together with MAAR_SIMULATED_CLOSE_FD_ON_FAILED_IMPORT_BIT: the driver reuses the closed
     * descriptor's number at once, as another thread could. If the program closes the number a
     * second time, the driver records MAAR_SIMULATED_VIOLATION_SHARING at the next failing import
     * or when the instance is destroyed. MaarSimulatedCounters::fdsReused is 1 until then. */
    MAAR_SIMULATED_REUSE_CLOSED_FD_BIT = 0x20,
    /** An import of an opaque descriptor with another memory type than the exporter's answers
     * VK_ERROR_OUT_OF_DEVICE_MEMORY, as NVIDIA's driver was observed to do, and records nothing. */
    MAAR_SIMULATED_NO_MEMORY_FOR_WRONG_TYPE_BIT = 0x40,
    /** Commands are executed on real bytes: fills, updates, copies, clears and barriers, in primary
     * and secondary command buffers that are recorded while the flag is set. Submissions then wait
     * for their semaphores, also for signals that are submitted later. Dispatches do nothing. */
    MAAR_SIMULATED_EXECUTE_BIT = 0x80,
    /** With MAAR_SIMULATED_EXECUTE_BIT: a command that reads bytes which no command has written, or
     * which the device need not return because no memory is bound, is a violation. Vulkan allows
     * such reads. Memory that has been mapped, imported or made for export counts as written. */
    MAAR_SIMULATED_CHECK_CONTENTS_BIT = 0x100,
    /** With MAAR_SIMULATED_EXECUTE_BIT: bytes that a destroyed resource had, or that a sparse
     * resource gave up, count as unwritten, unless another sparse resource has them when the
     * batch ends. Vulkan keeps their contents in the memory; a program that relies on them must not
     * set the flag. */
    MAAR_SIMULATED_FORGET_UNBOUND_BIT = 0x200,
    /** With MAAR_SIMULATED_EXECUTE_BIT: accesses of executed commands must be ordered and made
     * visible by barriers, semaphores or waits of the host; images must have the layouts that
     * commands name; a resource that queue families do not share must be released and acquired, or
     * its contents are lost. Set it before the first resource is created. */
    MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT = 0x400,
    /** Reserves the enumeration's size. */
    MAAR_SIMULATED_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarSimulatedFlagBits;
/** Combination of MaarSimulatedFlagBits. */
typedef VkFlags MaarSimulatedFlags;

/** A rule that was broken. */
typedef enum MaarSimulatedViolation {
    /** A null, stale or foreign handle, or one of another kind. */
    MAAR_SIMULATED_VIOLATION_HANDLE = 0,
    /** An argument that Vulkan forbids. */
    MAAR_SIMULATED_VIOLATION_ARGUMENT = 1,
    /** A feature or extension was used that had not been enabled. */
    MAAR_SIMULATED_VIOLATION_FEATURE = 2,
    /** More allocations than maxMemoryAllocationCount. */
    MAAR_SIMULATED_VIOLATION_ALLOCATION_COUNT = 3,
    /** An allocation above maxMemoryAllocationSize, or larger than its heap. */
    MAAR_SIMULATED_VIOLATION_ALLOCATION_SIZE = 4,
    /** A resource was bound to a memory type outside its memoryTypeBits. */
    MAAR_SIMULATED_VIOLATION_BIND_TYPE = 5,
    /** A resource was bound at a misaligned offset. */
    MAAR_SIMULATED_VIOLATION_BIND_ALIGNMENT = 6,
    /** A resource was bound beyond the end of its memory. */
    MAAR_SIMULATED_VIOLATION_BIND_RANGE = 7,
    /** A resource was bound twice, or a part of a sparse one twice in a batch. */
    MAAR_SIMULATED_VIOLATION_BIND_TWICE = 8,
    /** Two live resources share bytes; sparse ones at the end of a batch of binds. */
    MAAR_SIMULATED_VIOLATION_OVERLAP = 9,
    /** A linear and an optimal resource share a bufferImageGranularity page. */
    MAAR_SIMULATED_VIOLATION_GRANULARITY = 10,
    /** A rule of dedicated allocations was broken. */
    MAAR_SIMULATED_VIOLATION_DEDICATED = 11,
    /** Memory was mapped twice, was unmapped while not mapped, or cannot be mapped. */
    MAAR_SIMULATED_VIOLATION_MAP = 12,
    /** A flushed or invalidated range is not whole atoms, or not inside the mapping. */
    MAAR_SIMULATED_VIOLATION_FLUSH = 13,
    /** Two threads used one externally synchronized object at a time. */
    MAAR_SIMULATED_VIOLATION_RACE = 14,
    /** An object outlived its device, or its device's instance. */
    MAAR_SIMULATED_VIOLATION_LEAK = 15,
    /** An object was created with allocation callbacks and destroyed without, or the reverse. */
    MAAR_SIMULATED_VIOLATION_CALLBACKS = 16,
    /** A resource was used without memory, or after its memory had been freed; a sparse one without
     * residency, while not all of it was bound. */
    MAAR_SIMULATED_VIOLATION_UNBOUND = 17,
    /** A semaphore's value went backwards, or the wrong kind of semaphore was used. */
    MAAR_SIMULATED_VIOLATION_SEMAPHORE = 18,
    /** The program destroyed, freed or bound elsewhere an object that a held submission still
     * uses. */
    MAAR_SIMULATED_VIOLATION_IN_USE = 19,
    /** A handle type that was not asked for or is not offered, an import of another size, memory
     * type or device, or a file descriptor that had been given away and was closed. */
    MAAR_SIMULATED_VIOLATION_SHARING = 20,
    /** A command read bytes that nothing had written: MAAR_SIMULATED_CHECK_CONTENTS_BIT. */
    MAAR_SIMULATED_VIOLATION_CONTENTS = 21,
    /** A command read, or wrote again, without a dependency on the accesses before it:
     * MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT, as for the next two. */
    MAAR_SIMULATED_VIOLATION_SYNCHRONIZATION = 22,
    /** An image did not have the layout that a command or a barrier named. */
    MAAR_SIMULATED_VIOLATION_LAYOUT = 23,
    /** A queue family read what another one owned, or acquired what had not been released. */
    MAAR_SIMULATED_VIOLATION_OWNERSHIP = 24,
    /** How many kinds there are. */
    MAAR_SIMULATED_VIOLATION_COUNT = 25,
    /** Reserves the enumeration's size. */
    MAAR_SIMULATED_VIOLATION_MAX_ENUM = 0x7FFFFFFF
} MaarSimulatedViolation;

/** Kinds of objects, for counting. */
typedef enum MaarSimulatedObject {
    /** VkDevice */
    MAAR_SIMULATED_OBJECT_DEVICE = 0,
    /** VkDeviceMemory */
    MAAR_SIMULATED_OBJECT_MEMORY = 1,
    /** VkBuffer */
    MAAR_SIMULATED_OBJECT_BUFFER = 2,
    /** VkImage */
    MAAR_SIMULATED_OBJECT_IMAGE = 3,
    /** VkSemaphore */
    MAAR_SIMULATED_OBJECT_SEMAPHORE = 4,
    /** VkFence */
    MAAR_SIMULATED_OBJECT_FENCE = 5,
    /** VkCommandPool */
    MAAR_SIMULATED_OBJECT_COMMAND_POOL = 6,
    /** VkCommandBuffer */
    MAAR_SIMULATED_OBJECT_COMMAND_BUFFER = 7,
    /** VkImageView, VkBufferView, VkShaderModule, VkPipeline, VkDescriptorPool and the like */
    MAAR_SIMULATED_OBJECT_OTHER = 8,
    /** How many kinds there are. */
    MAAR_SIMULATED_OBJECT_COUNT = 9,
    /** Reserves the enumeration's size. */
    MAAR_SIMULATED_OBJECT_MAX_ENUM = 0x7FFFFFFF
} MaarSimulatedObject;

/**
 * Called at the start of every driver call that belongs to a device, with no lock of the driver
 * held. A test can check here that its own locks are free. The callback must not call Vulkan.
 *
 * @param pUserData     the pointer given with the callback
 * @param pFunctionName Vulkan's name of the function, without the suffix of an alias
 */
typedef void(VKAPI_PTR* PFN_maarSimulatedCall)(void* pUserData, const char* pFunctionName);

/**
 * Receives each violation that is kept (the first 64 of a device) when it happens, with no lock of
 * the driver held. The callback must not call Vulkan.
 *
 * @param pUserData the pointer given with the callback
 * @param violation which rule
 * @param pText     one English sentence, starting with the function's name
 */
typedef void(VKAPI_PTR* PFN_maarSimulatedViolation)(void* pUserData,
                                                    MaarSimulatedViolation violation,
                                                    const char* pText);

/** Chained to VkInstanceCreateInfo::pNext. The structure is required, since each device needs a
 * profile. */
typedef struct MaarSimulatedInstanceCreateInfo {
    /** MAAR_STRUCTURE_TYPE_SIMULATED_INSTANCE_CREATE_INFO */
    MaarStructureType sType;
    /** NULL, or the next structure of the chain */
    const void* pNext;
    /** how all devices behave at first */
    MaarSimulatedFlags flags;
    /** physical devices to make; at least 1, at most 16 */
    uint32_t profileCount;
    /** a profile for each, copied */
    const MaarSimulatedProfile* pProfiles;
    /** NULL, or called before each call */
    PFN_maarSimulatedCall pfnCall;
    /** NULL, or receives violations */
    PFN_maarSimulatedViolation pfnViolation;
    /** given to both */
    void* pUserData;
} MaarSimulatedInstanceCreateInfo;

/** A planned failure. Several may wait at once. A call takes the first that fits it. */
typedef struct MaarSimulatedFault {
    /** MAAR_STRUCTURE_TYPE_SIMULATED_FAULT */
    MaarStructureType sType;
    /** NULL, or a chain of structures; unknown ones are skipped */
    const void* pNext;
    /** Vulkan's name of the function; NULL: any that can fail */
    const char* pFunctionName;
    /** number of the first call of the function that fails; 1 is the next call; zero means 1 */
    uint64_t nth;
    /** how many calls fail from then on; zero means 1, UINT64_MAX means all */
    uint64_t count;
    /** the failure; VK_SUCCESS: the usual failure of the function. After VK_ERROR_DEVICE_LOST the
     * device stays lost. */
    VkResult result;
} MaarSimulatedFault;

/** Counters of a physical device, over all its logical devices. */
typedef struct MaarSimulatedCounters {
    /** MAAR_STRUCTURE_TYPE_SIMULATED_COUNTERS */
    MaarStructureType sType;
    /** NULL, or a chain of structures; unknown ones are skipped */
    void* pNext;
    /** calls that belong to a device */
    uint64_t callCount;
    /** calls that return a VkResult and can fail: the range of MaarSimulatedFault::nth */
    uint64_t fallibleCallCount;
    /** faults that struck */
    uint64_t faultCount;
    /** objects alive, by MaarSimulatedObject */
    uint64_t liveCount[MAAR_SIMULATED_OBJECT_COUNT];
    /** most VkDeviceMemory alive at a time */
    uint64_t peakMemoryCount;
    /** bytes allocated from each heap */
    VkDeviceSize heapLive[VK_MAX_MEMORY_HEAPS];
    /** most bytes allocated from each heap at a time */
    VkDeviceSize heapPeak[VK_MAX_MEMORY_HEAPS];
    /** VkDeviceMemory that are mapped */
    uint64_t mappedCount;
    /** rules broken, by MaarSimulatedViolation */
    uint64_t violations[MAAR_SIMULATED_VIOLATION_COUNT];
    /** rules broken, in all */
    uint64_t violationCount;
    /** legal but worth knowing: memory freed while mapped */
    uint64_t freedWhileMappedCount;
    /** legal but worth knowing: memory freed before a resource bound to it was destroyed */
    uint64_t freedBeforeResourceCount;
    /** legal but worth knowing: calls other than to destroy, free, unmap or wait, after a loss */
    uint64_t callsAfterLossCount;
    /** legal but worth knowing: bytes of sparse resources whose memory was freed before they were
     * unbound or destroyed; the driver unbinds them */
    VkDeviceSize freedBoundBytes;
    /** legal but worth knowing: waits for a timeline's value that were not over when the waiting
     * submission was executed nevertheless */
    uint64_t earlyWaitCount;
    /** batches of binds that were executed */
    uint64_t sparseBatchCount;
    /** VkSparseMemoryBind and VkSparseImageMemoryBind that were executed */
    uint64_t sparseBindCount;
    /** bytes of sparse resources that lie in memory */
    VkDeviceSize sparseBoundBytes;
    /** most sparseBoundBytes at a time */
    VkDeviceSize sparseBoundPeak;
    /** file descriptors handed out: exports of memory and of semaphores */
    uint64_t fdsExported;
    /** file descriptors taken: imports that succeeded */
    uint64_t fdsImported;
    /** file descriptors closed by failing imports: MAAR_SIMULATED_CLOSE_FD_ON_FAILED_IMPORT_BIT */
    uint64_t fdsClosedByFailure;
    /** file descriptors that MAAR_SIMULATED_REUSE_CLOSED_FD_BIT keeps open now */
    uint64_t fdsReused;
    /** VkDeviceMemory alive that may be exported */
    uint64_t exportableLive;
    /** VkDeviceMemory alive that were imported, from file descriptors or host pointers */
    uint64_t importedLive;
    /** bytes of imported VkDeviceMemory alive, by heap; not part of heapLive */
    VkDeviceSize heapImported[VK_MAX_MEMORY_HEAPS];
    /** commands that were executed: MAAR_SIMULATED_EXECUTE_BIT */
    uint64_t executedCommandCount;
    /** legal but worth knowing: bytes that executed commands read and that nothing had written */
    VkDeviceSize unwrittenReadBytes;
    /** legal but worth knowing: bytes that executed commands read where no memory was bound, on a
     * device without residencyNonResidentStrict */
    VkDeviceSize unboundReadBytes;
} MaarSimulatedCounters;

/** The answers about dedicated allocations in the memory requirements of new resources. */
typedef struct MaarSimulatedDedicated {
    /** images prefer a dedicated allocation */
    VkBool32 imagesPrefer;
    /** images require one; a bind to other memory is a violation */
    VkBool32 imagesRequire;
    /** buffers prefer a dedicated allocation */
    VkBool32 buffersPrefer;
    /** buffers require one; a bind to other memory is a violation */
    VkBool32 buffersRequire;
} MaarSimulatedDedicated;

/** Bytes of a sparse resource that lie in memory. */
typedef struct MaarSimulatedPages {
    /** offset in the resource, bytes. In an image the aspects follow one another; in each aspect
     * its layers; in each layer its levels, in each level its tiles along x, y and z, then the
     * layer's mip tail. A mip tail for all layers follows. Metadata comes last. */
    VkDeviceSize offset;
    /** bytes */
    VkDeviceSize size;
    /** the memory */
    VkDeviceMemory memory;
    /** offset in `memory`, bytes */
    VkDeviceSize memoryOffset;
} MaarSimulatedPages;

/**
 * Finds the driver's functions, as vkGetInstanceProcAddr does: global functions for a null
 * instance, all others for an instance that this driver's vkCreateInstance made. Returns NULL for
 * names that the driver does not implement, and for names of a version or extension that is not
 * enabled. Never blocks.
 *
 * @param instance an instance of this driver, or null
 * @param pName    a function's name, zero-terminated; not null
 * @return the function, or NULL
 * @threadsafety internally synchronized
 * @lifetime valid for as long as the library is loaded
 * @since 0.1.0
 */
MAAR_API PFN_vkVoidFunction VKAPI_CALL maarSimulatedGetInstanceProcAddr(VkInstance instance,
                                                                        const char* pName);

/**
 * Returns the physical device from which a logical device was made. Never blocks.
 *
 * @param device a device of this driver; not null
 * @return its physical device
 * @threadsafety internally synchronized
 * @lifetime valid until the instance is destroyed
 * @since 0.1.0
 */
MAAR_API VkPhysicalDevice VKAPI_CALL maarSimulatedGetPhysicalDevice(VkDevice device);

/**
 * Replaces the behaviour flags of a device.
 *
 * @param physicalDevice a physical device of this driver; not null
 * @param flags          the new flags
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarSimulatedSetFlags(VkPhysicalDevice physicalDevice,
                                               MaarSimulatedFlags flags);

/**
 * Lists the parts of a sparse resource that lie in memory, in order. Adjacent runs may continue one
 * another.
 *
 * @param device a device of this driver; not null
 * @param type   VK_OBJECT_TYPE_BUFFER or VK_OBJECT_TYPE_IMAGE
 * @param object the handle, as an integer
 * @param pCount in: room in pPages; out: runs written, or their number if pPages is NULL; 0 when
 *               object is not a live sparse resource
 * @param pPages filled, or NULL
 * @return VK_SUCCESS; VK_INCOMPLETE
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarSimulatedEnumeratePages(VkDevice device, VkObjectType type,
                                                         uint64_t object, uint32_t* pCount,
                                                         MaarSimulatedPages* pPages);

/**
 * Executes submissions that are held. Executes binds as early as their waits allow, the newest
 * first. Executes other submissions in the order of their queue.
 *
 * @param physicalDevice a physical device of this driver; not null
 * @param count          most batches to execute; a fence counts as one
 * @return how many were executed; fewer than `count` when the others still wait
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API uint32_t VKAPI_CALL maarSimulatedExecuteSubmissions(VkPhysicalDevice physicalDevice,
                                                             uint32_t count);

/** Most steps of a script of budgets. */
#define MAAR_SIMULATED_MAX_BUDGET_STEPS 64

/** What commands and binds cost in virtual time. These are not the times of any hardware. In
 * nanoseconds, and in bytes of a second, where no other unit is given. */
typedef struct MaarSimulatedTimeInfo {
    /** MAAR_STRUCTURE_TYPE_SIMULATED_TIME_INFO */
    MaarStructureType sType;
    /** NULL, or a chain of structures; unknown ones are skipped */
    const void* pNext;
    /** what each command that moves bytes takes besides its bytes; zero: 2000 */
    uint64_t commandLatency;
    /** what each batch of binds takes; zero: 20000 */
    uint64_t bindLatency;
    /** what each VkSparseMemoryBind, and each row of tiles, takes besides; zero: 500 */
    uint64_t bindElement;
    /** bytes that one heap reads or writes in a second; zero: 400e9 for a device-local heap, 12e9
     * for another. A copy is as fast as the slower one of its two heaps. Copies that use one heap
     * follow one another, also those of different queues */
    uint64_t heapBandwidth[VK_MAX_MEMORY_HEAPS];
    /** VK_TRUE: while a device-local heap holds more than its budget, the VkDeviceMemory objects
     * that were allocated last, those beyond the budget, are demoted whole: their bytes move at
     * `demotedBandwidth` */
    VkBool32 demotes;
    /** bytes of a second; zero: as the first heap that is not device-local, or 12e9 */
    uint64_t demotedBandwidth;
} MaarSimulatedTimeInfo;

/** Virtual clocks of a device, in nanoseconds since the device was made. */
typedef struct MaarSimulatedClocks {
    /** MAAR_STRUCTURE_TYPE_SIMULATED_CLOCKS */
    MaarStructureType sType;
    /** NULL, or a chain of structures; unknown ones are skipped */
    void* pNext;
    /** the host's clock */
    uint64_t host;
    /** how much of it the host has waited for the device */
    uint64_t hostWaited;
    /** when the last executed submission of each queue ended; queues in the order of the queue
     * create infos of the device */
    uint64_t queues[16];
    /** how long each heap has moved bytes */
    uint64_t heapBusy[VK_MAX_MEMORY_HEAPS];
    /** bytes of each heap in VkDeviceMemory objects that are demoted now */
    VkDeviceSize demoted[VK_MAX_MEMORY_HEAPS];
} MaarSimulatedClocks;

/** What the steps of a script of budgets count. */
typedef enum MaarSimulatedBudgetUnit {
    /** queries of a budget by the program: 1 is the first query after the call */
    MAAR_SIMULATED_BUDGET_UNIT_QUERIES = 0,
    /** nanoseconds of the host's virtual clock */
    MAAR_SIMULATED_BUDGET_UNIT_VIRTUAL_NS = 1,
    /** Reserves the enumeration's size. */
    MAAR_SIMULATED_BUDGET_UNIT_MAX_ENUM = 0x7FFFFFFF
} MaarSimulatedBudgetUnit;

/** One step of a script of budgets. */
typedef struct MaarSimulatedBudgetStep {
    /** from this query, or this time, on */
    uint64_t from;
    /** as in maarSimulatedSetHeapBudget() */
    VkDeviceSize budget;
    /** as in maarSimulatedSetHeapBudget() */
    VkDeviceSize usageByOthers;
} MaarSimulatedBudgetStep;

/**
 * Starts or stops virtual time, which needs MAAR_SIMULATED_EXECUTE_BIT. A submission begins when
 * its queue, its waits and the host that submits it have come so far on their clocks; the host's
 * clock goes on in waits and by maarSimulatedAdvanceHostClock(). A wait takes the host's clock to
 * the signal. A look at a semaphore or fence, or a wait without a timeout, sees the signals that
 * the host's clock has reached, and takes 500 ns. Timestamps are virtual too.
 *
 * @param physicalDevice a physical device of this driver; not null
 * @param pTime          what things cost, copied; NULL: time stands still
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT for a wrong sType
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarSimulatedSetTime(VkPhysicalDevice physicalDevice,
                                                  const MaarSimulatedTimeInfo* pTime);

/**
 * Reads the virtual clocks of a device; all zero without virtual time.
 *
 * @param device  a device of this driver; not null
 * @param pClocks filled; its sType and pNext are the caller's; not null
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API void VKAPI_CALL maarSimulatedGetClocks(VkDevice device, MaarSimulatedClocks* pClocks);

/**
 * Lets the host's virtual clock go on, as if the program had worked for so long. Does nothing
 * without virtual time.
 *
 * @param device      a device of this driver; not null
 * @param nanoseconds how long
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API void VKAPI_CALL maarSimulatedAdvanceHostClock(VkDevice device, uint64_t nanoseconds);

/**
 * Records work that takes virtual time and does nothing, in place of dispatches and draws that this
 * driver does not execute.
 *
 * @param commandBuffer a command buffer of this driver that is being recorded; not null
 * @param nanoseconds   how long the work takes
 * @threadsafety externally synchronized with every call that uses the command buffer or its pool
 * @since 0.2.0
 */
MAAR_API void VKAPI_CALL maarSimulatedCmdWork(VkCommandBuffer commandBuffer, uint64_t nanoseconds);

/**
 * Records that shaders access bytes of a buffer, in place of dispatches that this driver does not
 * execute. The bytes keep their values, and those that are written count as written. The access
 * belongs to VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, and is checked like that of a copy:
 * MAAR_SIMULATED_CHECK_CONTENTS_BIT, MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT.
 *
 * @param commandBuffer a command buffer of this driver that is being recorded; not null
 * @param buffer        not null
 * @param offset        of the first byte
 * @param size          bytes; VK_WHOLE_SIZE: to the end of the buffer
 * @param accesses      VK_ACCESS_SHADER_READ_BIT, VK_ACCESS_SHADER_WRITE_BIT or both
 * @threadsafety externally synchronized with every call that uses the command buffer or its pool
 * @since 0.2.0
 */
MAAR_API void VKAPI_CALL maarSimulatedCmdAccess(VkCommandBuffer commandBuffer, VkBuffer buffer,
                                                VkDeviceSize offset, VkDeviceSize size,
                                                VkAccessFlags accesses);

/**
 * Says that the host accesses bytes of a memory now, which the driver does not see by itself. Under
 * MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT the host must have waited for the commands before that
 * have accessed the bytes, and what it reads must have been made visible to it by a barrier. It
 * must not write bytes that a submission may use which is still to be executed, unless that
 * submission waits for a signal of the host's. Does nothing without that flag.
 *
 * @param device a device of this driver; not null
 * @param memory not null
 * @param offset of the first byte
 * @param size   bytes
 * @param writes VK_TRUE: the host writes; VK_FALSE: it reads
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API void VKAPI_CALL maarSimulatedHostAccess(VkDevice device, VkDeviceMemory memory,
                                                 VkDeviceSize offset, VkDeviceSize size,
                                                 VkBool32 writes);

/**
 * Lets a heap's budget follow a script, as maarSimulatedSetHeapBudget() would change it by hand. A
 * query of the budget takes the last step that it has reached.
 *
 * @param physicalDevice a physical device of this driver; not null
 * @param heapIndex      a heap of it
 * @param unit           what the steps count
 * @param count          steps; 0 ends a script
 * @param pSteps         the steps, rising, copied
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT for a heap that does not exist, for more than
 *         MAAR_SIMULATED_MAX_BUDGET_STEPS and for steps that do not rise
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarSimulatedScriptBudget(VkPhysicalDevice physicalDevice,
                                                       uint32_t heapIndex,
                                                       MaarSimulatedBudgetUnit unit, uint32_t count,
                                                       const MaarSimulatedBudgetStep* pSteps);

/** The oldest submission that may begin is executed first. */
#define MAAR_SIMULATED_ORDER_OLDEST_FIRST 0
/** The newest submission that may begin is executed first. */
#define MAAR_SIMULATED_ORDER_NEWEST_FIRST UINT64_MAX

/**
 * Chooses the order in which submissions are executed under MAAR_SIMULATED_EXECUTE_BIT, where
 * queues and semaphores leave a choice. A seed always gives the same order for the same calls from
 * one thread.
 *
 * @param physicalDevice a physical device of this driver; not null
 * @param order          MAAR_SIMULATED_ORDER_OLDEST_FIRST, which holds at first;
 *                       MAAR_SIMULATED_ORDER_NEWEST_FIRST; or the seed of a random order
 * @threadsafety internally synchronized
 * @since 0.2.0
 */
MAAR_API void VKAPI_CALL maarSimulatedSetOrder(VkPhysicalDevice physicalDevice, uint64_t order);

/**
 * Replaces the callbacks of a device.
 *
 * @param physicalDevice a physical device of this driver; not null
 * @param pfnCall        NULL, or called before each call
 * @param pfnViolation   NULL, or receives violations
 * @param pUserData      given to both
 * @threadsafety externally synchronized with every call that uses the physical device or a device
 *               made from it
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarSimulatedSetCallbacks(VkPhysicalDevice physicalDevice,
                                                   PFN_maarSimulatedCall pfnCall,
                                                   PFN_maarSimulatedViolation pfnViolation,
                                                   void* pUserData);

/**
 * Adds a planned failure. With NULL, removes all that have not happened yet. At most 16 wait.
 *
 * @param physicalDevice a physical device of this driver; not null
 * @param pFault         the failure, copied; NULL to remove all
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT for a wrong sType, for a function that the
 *         driver does not know or that cannot fail; VK_ERROR_TOO_MANY_OBJECTS when 16 wait already
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarSimulatedSetFault(VkPhysicalDevice physicalDevice,
                                                   const MaarSimulatedFault* pFault);

/**
 * Changes a heap's budget, as when another program starts or stops using memory.
 *
 * @param physicalDevice a physical device of this driver; not null
 * @param heapIndex      a heap of it
 * @param budget         bytes reported as heapBudget from now on, also when they make no sense; not
 *                       enforced. A device without VK_EXT_memory_budget reports none
 * @param usageByOthers  bytes that other programs use. Allocations that exceed the heap's size less
 *                       these bytes fail, unless MAAR_SIMULATED_OVERCOMMIT_BIT is set
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT for a heap that does not exist
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarSimulatedSetHeapBudget(VkPhysicalDevice physicalDevice,
                                                        uint32_t heapIndex, VkDeviceSize budget,
                                                        VkDeviceSize usageByOthers);

/**
 * Changes the device's answers about dedicated allocations, for resources created from now on.
 *
 * @param physicalDevice a physical device of this driver; not null
 * @param pDedicated     the answers, copied; not null
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarSimulatedSetDedicated(VkPhysicalDevice physicalDevice,
                                                   const MaarSimulatedDedicated* pDedicated);

/**
 * Reads all counters at once.
 *
 * @param physicalDevice a physical device of this driver; not null
 * @param pCounters      filled; its sType and pNext are the caller's; not null
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarSimulatedGetCounters(VkPhysicalDevice physicalDevice,
                                                  MaarSimulatedCounters* pCounters);

/**
 * Returns how often a function was called.
 *
 * @param physicalDevice a physical device of this driver; not null
 * @param pFunctionName  Vulkan's name of the function; an alias counts as the function itself; not
 *                       null
 * @return calls so far; zero for a name that the driver does not know
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API uint64_t VKAPI_CALL maarSimulatedGetCallCount(VkPhysicalDevice physicalDevice,
                                                       const char* pFunctionName);

/**
 * Reads one violation. The driver keeps the first 64 and only counts the rest.
 *
 * @param physicalDevice a physical device of this driver; not null
 * @param index          number of the violation, in the order in which they happened
 * @param pViolation     NULL, or filled with the rule
 * @param textSize       bytes at pText; MAAR_SIMULATED_MAX_TEXT always suffice
 * @param pText          filled, zero-terminated, cut to textSize; may be NULL when that is zero
 * @return VK_TRUE; VK_FALSE, with an empty text, when there is no such violation
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkBool32 VKAPI_CALL maarSimulatedGetViolation(VkPhysicalDevice physicalDevice,
                                                       uint32_t index,
                                                       MaarSimulatedViolation* pViolation,
                                                       size_t textSize, char* pText);

#ifdef __cplusplus
}
#endif

#endif
