/** @file
 * maar/capture_file.h: the file format `maar-capture/1`, for programs that read captures.
 *
 * A capture is what a program did with device memory: the layer `VK_LAYER_MAAR_capture` writes it
 * for any Vulkan program, and maarBeginCapture for a program that uses Maar. One process writes one
 * file. docs/captures.md explains the format; this header is its definition.
 *
 * A file is a header of MAAR_CAPTURE_HEADER_SIZE bytes, and then records of
 * MAAR_CAPTURE_RECORD_SIZE bytes each, in the byte order of the machine that wrote it. Threads
 * reserve records one after another and fill them at the same time, so a record that a killed
 * process did not finish is empty (kind 0) between others. Records after the last one are empty
 * too. A reader skips empty records and ignores kinds that it does not know.
 *
 * An entry is a record and the continuation records that follow it. Its payload is the rest of the
 * record, and then the payload of each continuation. The payload begins with the structure of the
 * kind, which may be shorter in the file than here (missing bytes are 0) or longer (a reader
 * ignores the rest), then come the texts, in the order that the structure says, each ended by a
 * zero byte.
 *
 * Order: the entry of an object that ends stands before the driver's call, and the entry of an
 * object that begins after it. So the order of the entries in the file is a true order of handles:
 * a handle that is used again begins after it ended.
 *
 * Handles are those of Vulkan, as 64-bit numbers. `device` is the number of a MaarCaptureDevice of
 * this file. Times are nanoseconds of the clock of the header.
 */
#ifndef MAAR_CAPTURE_FILE_H
#define MAAR_CAPTURE_FILE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The first bytes of a file: this text, then zero bytes up to 16. */
#define MAAR_CAPTURE_MAGIC "maar-capture/1\n"
/** Size of the header, in bytes. */
#define MAAR_CAPTURE_HEADER_SIZE 65536
/** Size of a record, in bytes. */
#define MAAR_CAPTURE_RECORD_SIZE 64
/** Bytes of payload in the first record of an entry. */
#define MAAR_CAPTURE_FIRST_PAYLOAD 48
/** Bytes of payload in each further record of an entry. */
#define MAAR_CAPTURE_NEXT_PAYLOAD 56
/** Most continuation records of an entry. */
#define MAAR_CAPTURE_MOST_CONTINUATIONS 1024
/** Most heaps and memory types of a device, as Vulkan has. */
#define MAAR_CAPTURE_MOST_HEAPS 16

/** Who wrote a capture. */
typedef enum MaarCaptureOrigin {
    /** The layer: every object of the program. */
    MAAR_CAPTURE_ORIGIN_LAYER = 1,
    /** maarBeginCapture: the memory and the objects of one allocator. */
    MAAR_CAPTURE_ORIGIN_ALLOCATOR = 2,
    /** Reserves the enumeration's size. */
    MAAR_CAPTURE_ORIGIN_MAX_ENUM = 0x7FFFFFFF
} MaarCaptureOrigin;

/** How a capture stands. */
typedef enum MaarCaptureState {
    /** The program writes it, or was killed while it did. */
    MAAR_CAPTURE_STATE_OPEN = 0,
    /** The program ended it. */
    MAAR_CAPTURE_STATE_COMPLETE = 1,
    /** The disk was full: the program went on, the capture did not. */
    MAAR_CAPTURE_STATE_DISK_FULL = 2,
    /** The file reached the limit that its user had set. */
    MAAR_CAPTURE_STATE_LIMIT = 3,
    /** Reserves the enumeration's size. */
    MAAR_CAPTURE_STATE_MAX_ENUM = 0x7FFFFFFF
} MaarCaptureState;

/** The header of a file. The rest of its MAAR_CAPTURE_HEADER_SIZE bytes is zero. */
typedef struct MaarCaptureHeader {
    /** MAAR_CAPTURE_MAGIC */
    char magic[16];
    /** MAAR_CAPTURE_HEADER_SIZE */
    uint32_t headerSize;
    /** MAAR_CAPTURE_RECORD_SIZE */
    uint32_t recordSize;
    /** A MaarCaptureOrigin. */
    uint32_t origin;
    /** A MaarCaptureState. It changes while the program runs. */
    uint32_t state;
    /** Number of the process. */
    uint64_t process;
    /** Number of the parent of the process. */
    uint64_t parent;
    /** The time at which the capture began, by the clock of the records. */
    uint64_t start_ns;
    /** The same moment in nanoseconds since 1970-01-01 UTC. */
    uint64_t startSinceEpoch_ns;
    /** Bytes of a pointer in the process: 4 or 8. */
    uint32_t pointerSize;
    /** Version of Maar that wrote the file, as MAAR_VERSION. */
    uint32_t maarVersion;
    /** Records that were lost: a thread had been stopped in the middle of one for very long. */
    uint64_t lostRecords;
    /** 0 */
    uint64_t reserved[3];
    /** File name of the program, ended by a zero byte. */
    char program[256];
    /** Arguments of the program, each ended by a zero byte; cut off where they are longer. */
    char arguments[2048];
} MaarCaptureHeader;

/** Kinds of entries. The comment names the structure of the payload. */
typedef enum MaarCaptureKind {
    /** No record. */
    MAAR_CAPTURE_KIND_EMPTY = 0,
    /** The continuation of the entry before it. */
    MAAR_CAPTURE_KIND_CONTINUATION = 1,
    /** MaarCaptureInstance; texts: application, engine */
    MAAR_CAPTURE_KIND_INSTANCE = 2,
    /** MaarCaptureDevice; texts: device name, driver name, driver information */
    MAAR_CAPTURE_KIND_DEVICE = 3,
    /** MaarCaptureHeap */
    MAAR_CAPTURE_KIND_HEAP = 4,
    /** MaarCaptureType */
    MAAR_CAPTURE_KIND_TYPE = 5,
    /** MaarCaptureQueue */
    MAAR_CAPTURE_KIND_QUEUE = 6,
    /** MaarCaptureEnd of a device, by its number; what was not destroyed before is a leak. */
    MAAR_CAPTURE_KIND_DEVICE_END = 7,
    /** MaarCaptureMemory */
    MAAR_CAPTURE_KIND_MEMORY = 8,
    /** MaarCaptureMemory with a result below 0 and handle 0 */
    MAAR_CAPTURE_KIND_MEMORY_FAILED = 9,
    /** MaarCaptureEnd of device memory */
    MAAR_CAPTURE_KIND_MEMORY_END = 10,
    /** MaarCaptureMap */
    MAAR_CAPTURE_KIND_MAP = 11,
    /** MaarCaptureEnd of the mapping of memory */
    MAAR_CAPTURE_KIND_UNMAP = 12,
    /** MaarCapturePriority */
    MAAR_CAPTURE_KIND_PRIORITY = 13,
    /** MaarCaptureBuffer */
    MAAR_CAPTURE_KIND_BUFFER = 16,
    /** MaarCaptureEnd of a buffer */
    MAAR_CAPTURE_KIND_BUFFER_END = 17,
    /** MaarCaptureImage */
    MAAR_CAPTURE_KIND_IMAGE = 18,
    /** MaarCaptureEnd of an image */
    MAAR_CAPTURE_KIND_IMAGE_END = 19,
    /** MaarCaptureBind */
    MAAR_CAPTURE_KIND_BIND = 20,
    /** MaarCaptureRange: an allocation without an object (MAAR_CAPTURE_ORIGIN_ALLOCATOR) */
    MAAR_CAPTURE_KIND_RANGE = 21,
    /** MaarCaptureEnd of a range */
    MAAR_CAPTURE_KIND_RANGE_END = 22,
    /** MaarCaptureSparseBind */
    MAAR_CAPTURE_KIND_SPARSE_BIND = 23,
    /** MaarCaptureStructure: an acceleration structure in a buffer */
    MAAR_CAPTURE_KIND_STRUCTURE = 24,
    /** MaarCaptureEnd of an acceleration structure */
    MAAR_CAPTURE_KIND_STRUCTURE_END = 25,
    /** MaarCaptureSwapchain */
    MAAR_CAPTURE_KIND_SWAPCHAIN = 26,
    /** MaarCaptureSwapchainImage */
    MAAR_CAPTURE_KIND_SWAPCHAIN_IMAGE = 27,
    /** MaarCaptureEnd of a swapchain */
    MAAR_CAPTURE_KIND_SWAPCHAIN_END = 28,
    /** MaarCaptureOther: an object of another kind that takes device memory */
    MAAR_CAPTURE_KIND_OTHER = 29,
    /** MaarCaptureEnd of such an object */
    MAAR_CAPTURE_KIND_OTHER_END = 30,
    /** MaarCaptureFrame: a frame was presented */
    MAAR_CAPTURE_KIND_FRAME = 32,
    /** MaarCaptureSubmit; its waits and signals follow as entries of their own */
    MAAR_CAPTURE_KIND_SUBMIT = 33,
    /** MaarCapturePoint: the submission of that number waits for the point */
    MAAR_CAPTURE_KIND_SUBMIT_WAIT = 34,
    /** MaarCapturePoint: the submission of that number signals the point */
    MAAR_CAPTURE_KIND_SUBMIT_SIGNAL = 35,
    /** MaarCaptureSemaphore */
    MAAR_CAPTURE_KIND_SEMAPHORE = 36,
    /** MaarCaptureEnd of a semaphore */
    MAAR_CAPTURE_KIND_SEMAPHORE_END = 37,
    /** MaarCaptureReached: the host saw that a point was reached, or reached it itself */
    MAAR_CAPTURE_KIND_REACHED = 38,
    /** MaarCaptureUse: a submission uses a buffer, an image or a range */
    MAAR_CAPTURE_KIND_USE = 39,
    /** MaarCaptureBudget */
    MAAR_CAPTURE_KIND_BUDGET = 40,
    /** MaarCaptureName; text: the name, empty for none */
    MAAR_CAPTURE_KIND_NAME = 41,
    /** MaarCaptureModule; text: file name of the program or library */
    MAAR_CAPTURE_KIND_MODULE = 42,
    /** MaarCaptureMark; text: what the program says */
    MAAR_CAPTURE_KIND_MARK = 43,
    /** MaarCaptureReport: what VK_EXT_device_memory_report says */
    MAAR_CAPTURE_KIND_REPORT = 44,
    /** No payload: the last entry of a complete capture */
    MAAR_CAPTURE_KIND_END = 45,
    /** MaarCaptureUses: the uses of a device are recorded, from its beginning on */
    MAAR_CAPTURE_KIND_USES = 46,
    /** Reserves the enumeration's size. */
    MAAR_CAPTURE_KIND_MAX_ENUM = 0x7FFFFFFF
} MaarCaptureKind;

/** A record: the first one of an entry. */
typedef struct MaarCaptureRecord {
    /** A MaarCaptureKind. It is written last. */
    uint16_t kind;
    /** Number of continuation records that follow. */
    uint16_t continuations;
    /** Number of the thread, as the operating system counts. */
    uint32_t thread;
    /** When it happened. */
    uint64_t time_ns;
    /** The first bytes of the payload. */
    uint8_t payload[MAAR_CAPTURE_FIRST_PAYLOAD];
} MaarCaptureRecord;

/** A continuation record. */
typedef struct MaarCaptureContinuation {
    /** MAAR_CAPTURE_KIND_CONTINUATION. It is written last. */
    uint16_t kind;
    /** 1 for the first continuation of an entry, and so on. */
    uint16_t index;
    /** Number of the thread. */
    uint32_t thread;
    /** Further bytes of the payload. */
    uint8_t payload[MAAR_CAPTURE_NEXT_PAYLOAD];
} MaarCaptureContinuation;

/** An instance. */
typedef struct MaarCaptureInstance {
    /** VkApplicationInfo::apiVersion, or 0 */
    uint32_t apiVersion;
    /** VkApplicationInfo::applicationVersion, or 0 */
    uint32_t applicationVersion;
} MaarCaptureInstance;

/** A device. Heaps, memory types and queues follow as entries of their own. */
typedef struct MaarCaptureDevice {
    /** Number of the device in this file, from 1 on. */
    uint32_t device;
    /** VkPhysicalDeviceType */
    uint32_t deviceType;
    /** VkPhysicalDeviceProperties::vendorID */
    uint32_t vendorID;
    /** VkPhysicalDeviceProperties::deviceID */
    uint32_t deviceID;
    /** VkPhysicalDeviceProperties::driverVersion */
    uint32_t driverVersion;
    /** VkPhysicalDeviceProperties::apiVersion */
    uint32_t apiVersion;
    /** Number of heaps. */
    uint32_t heapCount;
    /** Number of memory types. */
    uint32_t typeCount;
    /** VkPhysicalDeviceLimits::bufferImageGranularity, bytes */
    uint64_t bufferImageGranularity;
    /** VkPhysicalDeviceLimits::maxMemoryAllocationCount */
    uint64_t maxMemoryAllocationCount;
    /** VkPhysicalDeviceLimits::nonCoherentAtomSize, bytes */
    uint64_t nonCoherentAtomSize;
    /** maxMemoryAllocationSize, bytes; 0 if it is not known */
    uint64_t maxMemoryAllocationSize;
    /** VkPhysicalDeviceIDProperties::deviceUUID; zero if it is not known */
    uint8_t deviceUUID[16];
} MaarCaptureDevice;

/** A heap of a device. */
typedef struct MaarCaptureHeap {
    /** Number of the device. */
    uint32_t device;
    /** Index of the heap. */
    uint32_t heap;
    /** Bytes. */
    uint64_t size;
    /** VkMemoryHeapFlags */
    uint32_t flags;
    /** 0 */
    uint32_t reserved;
} MaarCaptureHeap;

/** A memory type of a device. */
typedef struct MaarCaptureType {
    /** Number of the device. */
    uint32_t device;
    /** Index of the memory type. */
    uint32_t type;
    /** Index of its heap. */
    uint32_t heap;
    /** VkMemoryPropertyFlags */
    uint32_t flags;
} MaarCaptureType;

/** A queue that the program has asked for. */
typedef struct MaarCaptureQueue {
    /** Number of the device. */
    uint32_t device;
    /** Queue family. */
    uint32_t family;
    /** Index in the family. */
    uint32_t index;
    /** VkQueueFlags of the family. */
    uint32_t flags;
    /** VkQueue */
    uint64_t queue;
} MaarCaptureQueue;

/** The end of an object. */
typedef struct MaarCaptureEnd {
    /** Number of the device. */
    uint32_t device;
    /** 0 */
    uint32_t reserved;
    /** Handle of the object; of a device, its number. */
    uint64_t handle;
} MaarCaptureEnd;

/** Facts of MaarCaptureMemory. */
typedef enum MaarCaptureMemoryFlagBits {
    /** The memory is dedicated to the buffer in `object`. */
    MAAR_CAPTURE_MEMORY_DEDICATED_BUFFER_BIT = 0x1,
    /** The memory is dedicated to the image in `object`. */
    MAAR_CAPTURE_MEMORY_DEDICATED_IMAGE_BIT = 0x2,
    /** It can be exported (`handleTypes`). */
    MAAR_CAPTURE_MEMORY_EXPORT_BIT = 0x4,
    /** It was imported (`handleTypes`): no new memory. */
    MAAR_CAPTURE_MEMORY_IMPORT_BIT = 0x8,
    /** It has a device address. */
    MAAR_CAPTURE_MEMORY_ADDRESS_BIT = 0x10,
    /** `priority` was given. */
    MAAR_CAPTURE_MEMORY_PRIORITY_BIT = 0x20,
    /** Maar sub-allocates it (a block). */
    MAAR_CAPTURE_MEMORY_BLOCK_BIT = 0x40,
    /** Reserves the enumeration's size. */
    MAAR_CAPTURE_MEMORY_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarCaptureMemoryFlagBits;

/** Device memory. */
typedef struct MaarCaptureMemory {
    /** Number of the device. */
    uint32_t device;
    /** Index of the memory type. */
    uint32_t type;
    /** VkDeviceMemory */
    uint64_t memory;
    /** Bytes. */
    uint64_t size;
    /** Nanoseconds that the driver took. */
    uint64_t duration_ns;
    /** VkResult */
    int32_t result;
    /** MaarCaptureMemoryFlagBits */
    uint32_t flags;
    /** The buffer or image to which the memory is dedicated, or 0. */
    uint64_t object;
    /** VkExternalMemoryHandleTypeFlags of an export or import, or 0. */
    uint32_t handleTypes;
    /** Priority, 0 to 1. */
    float priority;
    /** Address of the code that called, or 0. */
    uint64_t caller;
} MaarCaptureMemory;

/** A mapping. */
typedef struct MaarCaptureMap {
    /** Number of the device. */
    uint32_t device;
    /** 0 */
    uint32_t reserved;
    /** VkDeviceMemory */
    uint64_t memory;
    /** Bytes from the start of the memory. */
    uint64_t offset;
    /** Bytes; UINT64_MAX up to the end. */
    uint64_t size;
} MaarCaptureMap;

/** A change of priority. */
typedef struct MaarCapturePriority {
    /** Number of the device. */
    uint32_t device;
    /** Priority, 0 to 1. */
    float priority;
    /** VkDeviceMemory */
    uint64_t memory;
} MaarCapturePriority;

/** What the driver says of an object when it is created. */
typedef enum MaarCaptureNeedsFlagBits {
    /** size, alignment and typeBits are known. */
    MAAR_CAPTURE_NEEDS_KNOWN_BIT = 0x1,
    /** The driver prefers memory of its own. */
    MAAR_CAPTURE_NEEDS_PREFERS_DEDICATED_BIT = 0x2,
    /** The driver requires memory of its own. */
    MAAR_CAPTURE_NEEDS_REQUIRES_DEDICATED_BIT = 0x4,
    /** The object's memory belongs to a swapchain. */
    MAAR_CAPTURE_NEEDS_SWAPCHAIN_BIT = 0x8,
    /** An image whose planes are bound apart: size is the sum of the planes. */
    MAAR_CAPTURE_NEEDS_DISJOINT_BIT = 0x10,
    /** Reserves the enumeration's size. */
    MAAR_CAPTURE_NEEDS_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarCaptureNeedsFlagBits;

/** A buffer. */
typedef struct MaarCaptureBuffer {
    /** Number of the device. */
    uint32_t device;
    /** VkBufferCreateFlags */
    uint32_t createFlags;
    /** VkBuffer */
    uint64_t buffer;
    /** VkBufferCreateInfo::size, bytes */
    uint64_t size;
    /** VkBufferUsageFlags, or the 64-bit flags of maintenance5 */
    uint64_t usage;
    /** Bytes that the driver wants. */
    uint64_t needsSize;
    /** Alignment that the driver wants, bytes. */
    uint64_t needsAlignment;
    /** memoryTypeBits */
    uint32_t typeBits;
    /** MaarCaptureNeedsFlagBits */
    uint32_t needsFlags;
    /** VkExternalMemoryHandleTypeFlags, or 0 */
    uint32_t handleTypes;
    /** 0 */
    uint32_t reserved;
    /** Address of the code that called, or 0. */
    uint64_t caller;
} MaarCaptureBuffer;

/** An image. */
typedef struct MaarCaptureImage {
    /** Number of the device. */
    uint32_t device;
    /** VkImageCreateFlags */
    uint32_t createFlags;
    /** VkImage */
    uint64_t image;
    /** VkFormat */
    uint32_t format;
    /** VkImageUsageFlags */
    uint32_t usage;
    /** Texels. */
    uint32_t width;
    /** Texels. */
    uint32_t height;
    /** Texels. */
    uint32_t depth;
    /** Mip levels. */
    uint16_t mipLevels;
    /** VkSampleCountFlagBits */
    uint16_t samples;
    /** Array layers. */
    uint32_t arrayLayers;
    /** VkImageType */
    uint8_t imageType;
    /** 0: optimal, 1: linear, 2: a DRM format modifier */
    uint8_t tiling;
    /** VkImageLayout when it is created */
    uint16_t initialLayout;
    /** Bytes that the driver wants. */
    uint64_t needsSize;
    /** Alignment that the driver wants, bytes. */
    uint64_t needsAlignment;
    /** memoryTypeBits */
    uint32_t typeBits;
    /** MaarCaptureNeedsFlagBits */
    uint32_t needsFlags;
    /** VkExternalMemoryHandleTypeFlags, or 0 */
    uint32_t handleTypes;
    /** 0 */
    uint32_t reserved;
    /** Address of the code that called, or 0. */
    uint64_t caller;
} MaarCaptureImage;

/** Kinds of objects in MaarCaptureBind, MaarCaptureUse and MaarCaptureName. */
typedef enum MaarCaptureObject {
    /** None, or another kind. */
    MAAR_CAPTURE_OBJECT_NONE = 0,
    /** VkBuffer */
    MAAR_CAPTURE_OBJECT_BUFFER = 1,
    /** VkImage */
    MAAR_CAPTURE_OBJECT_IMAGE = 2,
    /** VkDeviceMemory */
    MAAR_CAPTURE_OBJECT_MEMORY = 3,
    /** An allocation of Maar's. */
    MAAR_CAPTURE_OBJECT_RANGE = 4,
    /** What MaarCaptureOther describes. */
    MAAR_CAPTURE_OBJECT_OTHER = 5,
    /** VkQueue */
    MAAR_CAPTURE_OBJECT_QUEUE = 6,
    /** VkSemaphore */
    MAAR_CAPTURE_OBJECT_SEMAPHORE = 7,
    /** VkFence */
    MAAR_CAPTURE_OBJECT_FENCE = 8,
    /** VkDevice, by its number */
    MAAR_CAPTURE_OBJECT_DEVICE = 9,
    /** VkAccelerationStructureKHR */
    MAAR_CAPTURE_OBJECT_STRUCTURE = 10,
    /** VkSwapchainKHR */
    MAAR_CAPTURE_OBJECT_SWAPCHAIN = 11,
    /** Reserves the enumeration's size. */
    MAAR_CAPTURE_OBJECT_MAX_ENUM = 0x7FFFFFFF
} MaarCaptureObject;

/** An object is bound to memory. */
typedef struct MaarCaptureBind {
    /** Number of the device. */
    uint32_t device;
    /** MaarCaptureObject */
    uint32_t objectKind;
    /** The object. */
    uint64_t object;
    /** VkDeviceMemory; 0 for an image of a swapchain */
    uint64_t memory;
    /** Bytes from the start of the memory. */
    uint64_t offset;
    /** Bytes that are bound; 0: those that the object needs. */
    uint64_t size;
    /** Plane of a disjoint image, or 0. */
    uint32_t plane;
    /** VkResult; below 0 nothing is bound */
    int32_t result;
} MaarCaptureBind;

/** An allocation of Maar's without an object. */
typedef struct MaarCaptureRange {
    /** Number of the device. */
    uint32_t device;
    /** MaarResourceKind */
    uint32_t resourceKind;
    /** MaarAllocation */
    uint64_t range;
    /** VkDeviceMemory */
    uint64_t memory;
    /** Bytes from the start of the memory. */
    uint64_t offset;
    /** Bytes. */
    uint64_t size;
    /** Bytes. */
    uint64_t alignment;
    /** memoryTypeBits of the request, or 0 */
    uint32_t typeBits;
    /** 0 */
    uint32_t reserved;
} MaarCaptureRange;

/** Forms of MaarCaptureSparseBind. */
typedef enum MaarCaptureSparseForm {
    /** Bytes of a buffer, or of an image without regard to its texels. */
    MAAR_CAPTURE_SPARSE_BYTES = 0,
    /** Metadata of an image (VK_SPARSE_MEMORY_BIND_METADATA_BIT). */
    MAAR_CAPTURE_SPARSE_METADATA = 1,
    /** A box of texels of one subresource. */
    MAAR_CAPTURE_SPARSE_TEXELS = 2,
    /** Reserves the enumeration's size. */
    MAAR_CAPTURE_SPARSE_MAX_ENUM = 0x7FFFFFFF
} MaarCaptureSparseForm;

/** One bind of vkQueueBindSparse. */
typedef struct MaarCaptureSparseBind {
    /** Number of the device. */
    uint32_t device;
    /** MaarCaptureObject */
    uint32_t objectKind;
    /** The object. */
    uint64_t object;
    /** VkDeviceMemory; 0: nothing is bound there any more */
    uint64_t memory;
    /** Bytes from the start of the memory. */
    uint64_t memoryOffset;
    /** Bytes from the start of the object; of texels, 0. */
    uint64_t offset;
    /** Bytes; of texels, an estimate from the page's size, or 0. */
    uint64_t size;
    /** MaarCaptureSparseForm */
    uint32_t form;
    /** Mip level of texels. */
    uint32_t mip;
    /** Array layer of texels. */
    uint32_t layer;
    /** VkImageAspectFlags of texels. */
    uint32_t aspect;
    /** First texel: x, y, z. */
    int32_t origin[3];
    /** Texels: width, height, depth. */
    uint32_t extent[3];
    /** Number of the submission. */
    uint64_t submission;
} MaarCaptureSparseBind;

/** An acceleration structure. */
typedef struct MaarCaptureStructure {
    /** Number of the device. */
    uint32_t device;
    /** VkAccelerationStructureTypeKHR */
    uint32_t type;
    /** VkAccelerationStructureKHR */
    uint64_t structure;
    /** VkBuffer */
    uint64_t buffer;
    /** Bytes from the start of the buffer. */
    uint64_t offset;
    /** Bytes. */
    uint64_t size;
} MaarCaptureStructure;

/** A swapchain. Its images have memory that the program does not allocate. */
typedef struct MaarCaptureSwapchain {
    /** Number of the device. */
    uint32_t device;
    /** VkFormat */
    uint32_t format;
    /** VkSwapchainKHR */
    uint64_t swapchain;
    /** Texels. */
    uint32_t width;
    /** Texels. */
    uint32_t height;
    /** VkImageUsageFlags */
    uint32_t usage;
    /** Number of images. */
    uint32_t imageCount;
    /** Estimate of the bytes of all images, from an image with the same create info, or 0. */
    uint64_t estimatedSize;
    /** Array layers. */
    uint32_t arrayLayers;
    /** VkPresentModeKHR */
    uint32_t presentMode;
} MaarCaptureSwapchain;

/** An image of a swapchain. It ends with the swapchain. */
typedef struct MaarCaptureSwapchainImage {
    /** Number of the device. */
    uint32_t device;
    /** Index in the swapchain. */
    uint32_t index;
    /** VkSwapchainKHR */
    uint64_t swapchain;
    /** VkImage */
    uint64_t image;
} MaarCaptureSwapchainImage;

/** An object of another kind, such as a video session. */
typedef struct MaarCaptureOther {
    /** Number of the device. */
    uint32_t device;
    /** VkObjectType */
    uint32_t objectType;
    /** The object. */
    uint64_t object;
    /** Bytes that it needs. */
    uint64_t size;
} MaarCaptureOther;

/** A frame was presented. */
typedef struct MaarCaptureFrame {
    /** Number of the device. */
    uint32_t device;
    /** Number of swapchains presented. */
    uint32_t swapchainCount;
    /** VkQueue, or 0 */
    uint64_t queue;
    /** VkSwapchainKHR of the first one, or 0 */
    uint64_t swapchain;
    /** Number of the frame on this device, from 0 on. */
    uint64_t frame;
} MaarCaptureFrame;

/** Kinds of submissions. */
typedef enum MaarCaptureSubmitKind {
    /** vkQueueSubmit, vkQueueSubmit2 */
    MAAR_CAPTURE_SUBMIT_COMMANDS = 0,
    /** vkQueueBindSparse */
    MAAR_CAPTURE_SUBMIT_BINDS = 1,
    /** vkQueuePresentKHR, for the semaphores that it waits for */
    MAAR_CAPTURE_SUBMIT_PRESENT = 2,
    /** Reserves the enumeration's size. */
    MAAR_CAPTURE_SUBMIT_MAX_ENUM = 0x7FFFFFFF
} MaarCaptureSubmitKind;

/** A batch of a submission. */
typedef struct MaarCaptureSubmit {
    /** Number of the device. */
    uint32_t device;
    /** MaarCaptureSubmitKind */
    uint32_t kind;
    /** Number of this batch in the file, from 1 on; rises in the order of each queue. */
    uint64_t submission;
    /** VkQueue */
    uint64_t queue;
    /** VkFence that the last batch of a call signals, or 0 */
    uint64_t fence;
    /** Command buffers. */
    uint32_t commandBufferCount;
    /** Waits that follow as entries. */
    uint32_t waitCount;
    /** Signals that follow as entries. */
    uint32_t signalCount;
    /** VkResult of the call */
    int32_t result;
} MaarCaptureSubmit;

/** A semaphore and, if it is a timeline, its value. */
typedef struct MaarCapturePoint {
    /** Number of the device. */
    uint32_t device;
    /** 0 */
    uint32_t reserved;
    /** Number of the batch. */
    uint64_t submission;
    /** VkSemaphore */
    uint64_t semaphore;
    /** Value of a timeline; without meaning for a binary semaphore. */
    uint64_t value;
} MaarCapturePoint;

/** A semaphore. */
typedef struct MaarCaptureSemaphore {
    /** Number of the device. */
    uint32_t device;
    /** 1 for a timeline, 0 for a binary semaphore */
    uint32_t isTimeline;
    /** VkSemaphore */
    uint64_t semaphore;
    /** First value of a timeline. */
    uint64_t value;
} MaarCaptureSemaphore;

/** The host saw a point in the device's time, or signalled it. */
typedef struct MaarCaptureReached {
    /** Number of the device. */
    uint32_t device;
    /** MaarCaptureObject: SEMAPHORE, FENCE, QUEUE (idle) or DEVICE (idle) */
    uint32_t objectKind;
    /** The object. */
    uint64_t object;
    /** Value of a timeline, or 0. */
    uint64_t value;
    /** 1: the host signalled it; 0: it saw it */
    uint32_t isSignal;
    /** 0 */
    uint32_t reserved;
    /** Nanoseconds that the call waited. */
    uint64_t duration_ns;
} MaarCaptureReached;

/** How a submission uses an object. */
typedef enum MaarCaptureUseFlagBits {
    /** It reads. */
    MAAR_CAPTURE_USE_READ_BIT = 0x1,
    /** It writes. */
    MAAR_CAPTURE_USE_WRITE_BIT = 0x2,
    /** Contents from before the batch are not needed: all of them are replaced before a command
     * reads them. */
    MAAR_CAPTURE_USE_DISCARD_BIT = 0x4,
    /** Reserves the enumeration's size. */
    MAAR_CAPTURE_USE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarCaptureUseFlagBits;

/** What the uses of a device may lack. */
typedef enum MaarCaptureUsesFlagBits {
    /** Commands may use buffers by their addresses. Those buffers have
     * VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT in their usage. */
    MAAR_CAPTURE_USES_WITHOUT_ADDRESSES_BIT = 0x1,
    /** The program enabled an extension by which commands may use any object without naming it. */
    MAAR_CAPTURE_USES_INCOMPLETE_BIT = 0x2,
    /** Reserves the enumeration's size. */
    MAAR_CAPTURE_USES_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarCaptureUsesFlagBits;

/** The uses of a device are recorded. Without this entry, nothing is known of its uses. */
typedef struct MaarCaptureUses {
    /** Number of the device. */
    uint32_t device;
    /** MaarCaptureUsesFlagBits */
    uint32_t flags;
} MaarCaptureUses;

/** A submission uses an object. A batch has one entry for each object; it stands behind the batch
 * and its waits and signals. An object of a descriptor set that is bound counts as used, whether or
 * not a shader reads it. */
typedef struct MaarCaptureUse {
    /** Number of the device. */
    uint32_t device;
    /** MaarCaptureObject */
    uint32_t objectKind;
    /** The object. */
    uint64_t object;
    /** Number of the batch. */
    uint64_t submission;
    /** MaarCaptureUseFlagBits */
    uint32_t flags;
    /** 0 */
    uint32_t reserved;
} MaarCaptureUse;

/** Budgets of all heaps, as the driver says. */
typedef struct MaarCaptureBudget {
    /** Number of the device. */
    uint32_t device;
    /** Number of heaps. */
    uint32_t heapCount;
    /** VkPhysicalDeviceMemoryBudgetPropertiesEXT::heapBudget, bytes */
    uint64_t budget[MAAR_CAPTURE_MOST_HEAPS];
    /** VkPhysicalDeviceMemoryBudgetPropertiesEXT::heapUsage, bytes */
    uint64_t usage[MAAR_CAPTURE_MOST_HEAPS];
} MaarCaptureBudget;

/** A name that the program gave. */
typedef struct MaarCaptureName {
    /** Number of the device. */
    uint32_t device;
    /** MaarCaptureObject */
    uint32_t objectKind;
    /** The object. */
    uint64_t object;
} MaarCaptureName;

/** A program or library, to which the addresses of callers belong. */
typedef struct MaarCaptureModule {
    /** Number of the device, or 0. */
    uint32_t device;
    /** 0 */
    uint32_t reserved;
    /** Address of its first byte. */
    uint64_t begin;
    /** Address behind its last byte. */
    uint64_t end;
} MaarCaptureModule;

/** A text that the program puts into the capture. */
typedef struct MaarCaptureMark {
    /** Number of the device, or 0. */
    uint32_t device;
    /** 0 */
    uint32_t reserved;
} MaarCaptureMark;

/** An event of VK_EXT_device_memory_report. */
typedef struct MaarCaptureReport {
    /** Number of the device. */
    uint32_t device;
    /** VkDeviceMemoryReportEventTypeEXT */
    uint32_t type;
    /** memoryObjectId */
    uint64_t memory;
    /** Bytes. */
    uint64_t size;
    /** VkObjectType */
    uint32_t objectType;
    /** Index of the heap. */
    uint32_t heap;
    /** The object. */
    uint64_t object;
} MaarCaptureReport;

#ifdef __cplusplus
}
#endif

#endif
