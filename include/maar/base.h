/** @file
 * maar/base.h: the base of every other header of Maar.
 *
 * This header has the version, the export macro and the structure types. It includes the Vulkan
 * headers and nothing else. It defines no Vulkan prototypes of its own.
 */
#ifndef MAAR_BASE_H
#define MAAR_BASE_H

#include <stddef.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of these headers: it rises when a promised behaviour or interface changes. */
#define MAAR_VERSION_MAJOR 0
/** Version of these headers: it rises when something is added; in 0.x, also when it changes. */
#define MAAR_VERSION_MINOR 2
/** Version of these headers: it rises when something is corrected. */
#define MAAR_VERSION_PATCH 0
/** Version of these headers as one number, comparable with maarGetVersion(). */
#define MAAR_VERSION                                                                               \
    (((uint32_t)MAAR_VERSION_MAJOR << 22) | ((uint32_t)MAAR_VERSION_MINOR << 12) |                 \
     (uint32_t)MAAR_VERSION_PATCH)

/** @def MAAR_API
 * Marks the functions of the library. MAAR_SHARED is set for users of the shared library, and
 * while it is compiled; MAAR_BUILDING is set while either library is compiled. What links the
 * static library, or compiles the library into itself, exports none of its functions. A program
 * may define MAAR_API otherwise. */
#if !defined(MAAR_API)
#if defined(_WIN32) && defined(MAAR_SHARED)
#if defined(MAAR_BUILDING)
#define MAAR_API __declspec(dllexport)
#else
#define MAAR_API __declspec(dllimport)
#endif
#elif defined(__GNUC__) && defined(MAAR_SHARED)
#define MAAR_API __attribute__((visibility("default")))
#elif defined(__GNUC__) && defined(MAAR_BUILDING) && !defined(_WIN32)
#define MAAR_API __attribute__((visibility("hidden")))
#else
#define MAAR_API
#endif
#endif

/**
 * Values of the sType field of Maar's structures. They lie outside Vulkan's range, so that one
 * pNext chain may carry structures of both.
 */
typedef enum MaarStructureType {
    /** MaarRangeAllocatorCreateInfo */
    MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO = 0x4D410001,
    /** MaarRangeAllocateInfo */
    MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO = 0x4D410002,
    /** MaarRangeStatistics */
    MAAR_STRUCTURE_TYPE_RANGE_STATISTICS = 0x4D410003,
    /** MaarRangeInfo */
    MAAR_STRUCTURE_TYPE_RANGE_INFO = 0x4D410004,
    /** MaarAllocatorCreateInfo */
    MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO = 0x4D410010,
    /** MaarDeviceRecommendation */
    MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION = 0x4D410011,
    /** MaarAllocationCreateInfo */
    MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO = 0x4D410012,
    /** MaarAllocationInfo */
    MAAR_STRUCTURE_TYPE_ALLOCATION_INFO = 0x4D410013,
    /** MaarPoolCreateInfo */
    MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO = 0x4D410014,
    /** MaarStatistics */
    MAAR_STRUCTURE_TYPE_STATISTICS = 0x4D410015,
    /** MaarDetailedStatistics */
    MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS = 0x4D410016,
    /** MaarHeapBudget */
    MAAR_STRUCTURE_TYPE_HEAP_BUDGET = 0x4D410017,
    /** MaarBlockInfo */
    MAAR_STRUCTURE_TYPE_BLOCK_INFO = 0x4D410018,
    /** MaarMemoryTypeChoice */
    MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE = 0x4D410019,
    /** MaarAllocatorInfo */
    MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO = 0x4D41001A,
    /** MaarMemoryRequest */
    MAAR_STRUCTURE_TYPE_MEMORY_REQUEST = 0x4D41001B,
    /** MaarDumpInfo */
    MAAR_STRUCTURE_TYPE_DUMP_INFO = 0x4D41001C,
    /** MaarOutOfMemoryInfo */
    MAAR_STRUCTURE_TYPE_OUT_OF_MEMORY_INFO = 0x4D41001D,
    /** MaarEntryPointsInfo */
    MAAR_STRUCTURE_TYPE_ENTRY_POINTS_INFO = 0x4D41001E,
    /** MaarMemoryAllocateNextInfo */
    MAAR_STRUCTURE_TYPE_MEMORY_ALLOCATE_NEXT_INFO = 0x4D41001F,
    /** MaarSliceCreateInfo */
    MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO = 0x4D410020,
    /** MaarSliceInfo */
    MAAR_STRUCTURE_TYPE_SLICE_INFO = 0x4D410021,
    /** MaarPageMove */
    MAAR_STRUCTURE_TYPE_PAGE_MOVE = 0x4D410027,
    /** MaarMemoryTypeReason */
    MAAR_STRUCTURE_TYPE_MEMORY_TYPE_REASON = 0x4D410026,
    /** MaarMoveBeginInfo */
    MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO = 0x4D410028,
    /** MaarMove */
    MAAR_STRUCTURE_TYPE_MOVE = 0x4D410029,
    /** MaarMoveSubmitInfo */
    MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO = 0x4D41002A,
    /** MaarDefragmentationBeginInfo */
    MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO = 0x4D41002B,
    /** MaarDefragmentationStepInfo */
    MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO = 0x4D41002C,
    /** MaarDefragmentationInfo */
    MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO = 0x4D41002D,
    /** MaarMovableInfo */
    MAAR_STRUCTURE_TYPE_MOVABLE_INFO = 0x4D41002E,
    /** MaarObjectSwap */
    MAAR_STRUCTURE_TYPE_OBJECT_SWAP = 0x4D41002F,
    /** MaarPlanCreateInfo */
    MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO = 0x4D410030,
    /** MaarPlanInfo */
    MAAR_STRUCTURE_TYPE_PLAN_INFO = 0x4D410031,
    /** MaarPlanCacheCreateInfo */
    MAAR_STRUCTURE_TYPE_PLAN_CACHE_CREATE_INFO = 0x4D410032,
    /** MaarPlanSeedInfo */
    MAAR_STRUCTURE_TYPE_PLAN_SEED_INFO = 0x4D410033,
    /** MaarTransientHeapCreateInfo */
    MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO = 0x4D410040,
    /** MaarTransientGraph */
    MAAR_STRUCTURE_TYPE_TRANSIENT_GRAPH = 0x4D410041,
    /** MaarTransientHeapInfo */
    MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_INFO = 0x4D410042,
    /** MaarTransientResourceInfo */
    MAAR_STRUCTURE_TYPE_TRANSIENT_RESOURCE_INFO = 0x4D410043,
    /** MaarTransientPassBarriers */
    MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS = 0x4D410044,
    /** MaarPagingInfo */
    MAAR_STRUCTURE_TYPE_PAGING_INFO = 0x4D410050,
    /** MaarPagingStatistics */
    MAAR_STRUCTURE_TYPE_PAGING_STATISTICS = 0x4D410051,
    /** MaarPoolPagingInfo */
    MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO = 0x4D410052,
    /** MaarReservationCreateInfo */
    MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO = 0x4D410053,
    /** MaarReservationInfo */
    MAAR_STRUCTURE_TYPE_RESERVATION_INFO = 0x4D410054,
    /** MaarArrayCreateInfo */
    MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO = 0x4D410055,
    /** MaarArrayInfo */
    MAAR_STRUCTURE_TYPE_ARRAY_INFO = 0x4D410056,
    /** MaarSparseImageCreateInfo */
    MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_CREATE_INFO = 0x4D410057,
    /** MaarSparseImageInfo */
    MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_INFO = 0x4D410058,
    /** MaarTileCacheCreateInfo */
    MAAR_STRUCTURE_TYPE_TILE_CACHE_CREATE_INFO = 0x4D410059,
    /** MaarTileCacheInfo */
    MAAR_STRUCTURE_TYPE_TILE_CACHE_INFO = 0x4D41005A,
    /** MaarTileCacheUpdate */
    MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE = 0x4D41005B,
    /** MaarNewPages */
    MAAR_STRUCTURE_TYPE_NEW_PAGES = 0x4D41005C,
    /** MaarSharingInfo */
    MAAR_STRUCTURE_TYPE_SHARING_INFO = 0x4D410060,
    /** MaarSharingQuery */
    MAAR_STRUCTURE_TYPE_SHARING_QUERY = 0x4D410061,
    /** MaarSharingSupport */
    MAAR_STRUCTURE_TYPE_SHARING_SUPPORT = 0x4D410062,
    /** MaarExportInfo */
    MAAR_STRUCTURE_TYPE_EXPORT_INFO = 0x4D410063,
    /** MaarExportedMemory */
    MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY = 0x4D410064,
    /** MaarImportInfo */
    MAAR_STRUCTURE_TYPE_IMPORT_INFO = 0x4D410065,
    /** MaarHostBufferCreateInfo */
    MAAR_STRUCTURE_TYPE_HOST_BUFFER_CREATE_INFO = 0x4D410066,
    /** MaarHostBufferInfo */
    MAAR_STRUCTURE_TYPE_HOST_BUFFER_INFO = 0x4D410067,
    /** MaarSharedSemaphoreCreateInfo */
    MAAR_STRUCTURE_TYPE_SHARED_SEMAPHORE_CREATE_INFO = 0x4D410068,
    /** MaarHandoffInfo */
    MAAR_STRUCTURE_TYPE_HANDOFF_INFO = 0x4D410069,
    /** MaarDescriptor */
    MAAR_STRUCTURE_TYPE_DESCRIPTOR = 0x4D41006A,
    /** MaarExternalHandleInfo */
    MAAR_STRUCTURE_TYPE_EXTERNAL_HANDLE_INFO = 0x4D41006B,
    /** MaarHostImportInfo */
    MAAR_STRUCTURE_TYPE_HOST_IMPORT_INFO = 0x4D41006C,
    /** MaarCudaCreateInfo */
    MAAR_STRUCTURE_TYPE_CUDA_CREATE_INFO = 0x4D410070,
    /** MaarCudaInfo */
    MAAR_STRUCTURE_TYPE_CUDA_INFO = 0x4D410071,
    /** MaarCudaMemory */
    MAAR_STRUCTURE_TYPE_CUDA_MEMORY = 0x4D410072,
    /** MaarCudaImageInfo */
    MAAR_STRUCTURE_TYPE_CUDA_IMAGE_INFO = 0x4D410073,
    /** MaarCudaTimelineCreateInfo */
    MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_CREATE_INFO = 0x4D410074,
    /** MaarCudaTimelineInfo */
    MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_INFO = 0x4D410075,
    /** MaarCudaHandoffInfo */
    MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO = 0x4D410076,
    /** MaarCudaRangeInfo */
    MAAR_STRUCTURE_TYPE_CUDA_RANGE_INFO = 0x4D410077,
    /** MaarHipCreateInfo */
    MAAR_STRUCTURE_TYPE_HIP_CREATE_INFO = 0x4D410078,
    /** MaarHipInfo */
    MAAR_STRUCTURE_TYPE_HIP_INFO = 0x4D410079,
    /** MaarHipMemory */
    MAAR_STRUCTURE_TYPE_HIP_MEMORY = 0x4D41007A,
    /** MaarHipHandoffInfo */
    MAAR_STRUCTURE_TYPE_HIP_HANDOFF_INFO = 0x4D41007B,
    /** MaarCudaMirrorCreateInfo */
    MAAR_STRUCTURE_TYPE_CUDA_MIRROR_CREATE_INFO = 0x4D41007C,
    /** MaarCudaMirrorInfo */
    MAAR_STRUCTURE_TYPE_CUDA_MIRROR_INFO = 0x4D41007D,
    /** MaarSimulatedInstanceCreateInfo */
    MAAR_STRUCTURE_TYPE_SIMULATED_INSTANCE_CREATE_INFO = 0x4D410080,
    /** MaarSimulatedProfile */
    MAAR_STRUCTURE_TYPE_SIMULATED_PROFILE = 0x4D410081,
    /** MaarSimulatedFault */
    MAAR_STRUCTURE_TYPE_SIMULATED_FAULT = 0x4D410082,
    /** MaarSimulatedCounters */
    MAAR_STRUCTURE_TYPE_SIMULATED_COUNTERS = 0x4D410083,
    /** MaarSimulatedSharingInfo */
    MAAR_STRUCTURE_TYPE_SIMULATED_SHARING_INFO = 0x4D410084,
    /** MaarSimulatedTimeInfo */
    MAAR_STRUCTURE_TYPE_SIMULATED_TIME_INFO = 0x4D410085,
    /** MaarSimulatedClocks */
    MAAR_STRUCTURE_TYPE_SIMULATED_CLOCKS = 0x4D410086,
    /** MaarMessage */
    MAAR_STRUCTURE_TYPE_MESSAGE = 0x4D410090,
    /** MaarCaptureBeginInfo */
    MAAR_STRUCTURE_TYPE_CAPTURE_BEGIN_INFO = 0x4D4100A0,
    /** MaarCaptureSubmitInfo */
    MAAR_STRUCTURE_TYPE_CAPTURE_SUBMIT_INFO = 0x4D4100A1,
    /** MaarOrderedUseInfo */
    MAAR_STRUCTURE_TYPE_ORDERED_USE_INFO = 0x4D4100B0,
    /** MaarSubmissionInfo */
    MAAR_STRUCTURE_TYPE_SUBMISSION_INFO = 0x4D4100B1,
    /** MaarOrderedStatistics */
    MAAR_STRUCTURE_TYPE_ORDERED_STATISTICS = 0x4D4100B2,
    /** MaarMemoryTypeOrderInfo */
    MAAR_STRUCTURE_TYPE_MEMORY_TYPE_ORDER_INFO = 0x4D4100C0,
    /** MaarDefaultExportInfo */
    MAAR_STRUCTURE_TYPE_DEFAULT_EXPORT_INFO = 0x4D4100C1,
    /** MaarDumpUsageInfo */
    MAAR_STRUCTURE_TYPE_DUMP_USAGE_INFO = 0x4D4100C2,
    /** MaarMarginInfo */
    MAAR_STRUCTURE_TYPE_MARGIN_INFO = 0x4D4100C3,
    /** MaarFeatureChainInfo */
    MAAR_STRUCTURE_TYPE_FEATURE_CHAIN_INFO = 0x4D4100C8,
    /** MaarReservationTouchInfo */
    MAAR_STRUCTURE_TYPE_RESERVATION_TOUCH_INFO = 0x4D4100F0,
    /** MaarReservationUseInfo */
    MAAR_STRUCTURE_TYPE_RESERVATION_USE_INFO = 0x4D4100F1,
    /** MaarTouchInfo */
    MAAR_STRUCTURE_TYPE_TOUCH_INFO = 0x4D4100F2,
    /** MaarTouchResult */
    MAAR_STRUCTURE_TYPE_TOUCH_RESULT = 0x4D4100F3,
    /** MaarPageTrimInfo */
    MAAR_STRUCTURE_TYPE_PAGE_TRIM_INFO = 0x4D4100F4,
    /** MaarPageTrimResult */
    MAAR_STRUCTURE_TYPE_PAGE_TRIM_RESULT = 0x4D4100F5,
    /** MaarReservationSpillInfo */
    MAAR_STRUCTURE_TYPE_RESERVATION_SPILL_INFO = 0x4D4100F6,
    /** MaarPagePriority */
    MAAR_STRUCTURE_TYPE_PAGE_PRIORITY = 0x4D4100F7,
    /** MaarPageMigrationInfo */
    MAAR_STRUCTURE_TYPE_PAGE_MIGRATION_INFO = 0x4D4100F8,
    /** MaarBufferCacheCreateInfo */
    MAAR_STRUCTURE_TYPE_BUFFER_CACHE_CREATE_INFO = 0x4D410100,
    /** MaarBufferCacheInfo */
    MAAR_STRUCTURE_TYPE_BUFFER_CACHE_INFO = 0x4D410101,
    /** MaarBufferItemInfo */
    MAAR_STRUCTURE_TYPE_BUFFER_ITEM_INFO = 0x4D410102,
    /** MaarBufferUseBeginInfo */
    MAAR_STRUCTURE_TYPE_BUFFER_USE_BEGIN_INFO = 0x4D410103,
    /** MaarBufferUseInfo */
    MAAR_STRUCTURE_TYPE_BUFFER_USE_INFO = 0x4D410104,
    /** MaarBufferPrefetch */
    MAAR_STRUCTURE_TYPE_BUFFER_PREFETCH = 0x4D410105,
    /** MaarResidencyCreateInfo */
    MAAR_STRUCTURE_TYPE_RESIDENCY_CREATE_INFO = 0x4D4100D0,
    /** MaarResidencyInfo */
    MAAR_STRUCTURE_TYPE_RESIDENCY_INFO = 0x4D4100D1,
    /** MaarResidentCreateInfo */
    MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO = 0x4D4100D2,
    /** MaarResidentInfo */
    MAAR_STRUCTURE_TYPE_RESIDENT_INFO = 0x4D4100D3,
    /** MaarUseBeginInfo */
    MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO = 0x4D4100D4,
    /** MaarUseInfo */
    MAAR_STRUCTURE_TYPE_USE_INFO = 0x4D4100D5,
    /** MaarResidencyUpdate */
    MAAR_STRUCTURE_TYPE_RESIDENCY_UPDATE = 0x4D4100D6,
    /** MaarCheckpointInfo */
    MAAR_STRUCTURE_TYPE_CHECKPOINT_INFO = 0x4D4100D7,
    /** MaarCheckpointOpenInfo */
    MAAR_STRUCTURE_TYPE_CHECKPOINT_OPEN_INFO = 0x4D4100D8,
    /** MaarResidencyPolicy */
    MAAR_STRUCTURE_TYPE_RESIDENCY_POLICY = 0x4D4100DA,
    /** MaarCompressor */
    MAAR_STRUCTURE_TYPE_COMPRESSOR = 0x4D4100E0,
    /** MaarFileStore */
    MAAR_STRUCTURE_TYPE_FILE_STORE = 0x4D4100E1,
    /** MaarFileStoreOpenInfo */
    MAAR_STRUCTURE_TYPE_FILE_STORE_OPEN_INFO = 0x4D4100E2,
    /** MaarFileSource */
    MAAR_STRUCTURE_TYPE_FILE_SOURCE = 0x4D4100E3,
    /** Reserves the enumeration's size. */
    MAAR_STRUCTURE_TYPE_MAX_ENUM = 0x7FFFFFFF
} MaarStructureType;

/** Kinds of resources that bufferImageGranularity keeps apart. */
typedef enum MaarResourceKind {
    /** The kind is not known. Such a resource is kept apart from both other kinds, and not from
     * other unknown ones. */
    MAAR_RESOURCE_KIND_UNKNOWN = 0,
    /** Buffers and images with linear tiling. */
    MAAR_RESOURCE_KIND_LINEAR = 1,
    /** Images with optimal tiling. */
    MAAR_RESOURCE_KIND_OPTIMAL = 2,
    /** Reserves the enumeration's size. */
    MAAR_RESOURCE_KIND_MAX_ENUM = 0x7FFFFFFF
} MaarResourceKind;

/**
 * Returns the version of the library in use, packed as MAAR_VERSION. Never blocks.
 *
 * @return the packed version
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API uint32_t VKAPI_CALL maarGetVersion(void);

/**
 * Returns the name of a result, as Maar's messages and tools print it.
 *
 * @param result  any value
 * @return its name in vulkan_core.h, for example "VK_ERROR_DEVICE_LOST"; "an unknown VkResult" for
 * a value that Maar does not know
 * @threadsafety internally synchronized
 * @lifetime a constant
 * @since 0.2.0
 */
MAAR_API const char* VKAPI_CALL maarGetResultName(VkResult result);

#ifdef __cplusplus
}
#endif

#endif
