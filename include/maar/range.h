/** @file
 * maar/range.h: the range allocator, which places ranges in any space of numbers.
 *
 * The range allocator needs no device. The space may be the bytes of a big buffer, the slots of a
 * descriptor heap or anything else that is counted from zero. The range allocator never touches the
 * managed space.
 */
#ifndef MAAR_RANGE_H
#define MAAR_RANGE_H

#include "maar/base.h"
#include "maar/message.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A space of numbers from which ranges are allocated. A null handle names no space. */
VK_DEFINE_HANDLE(MaarRangeAllocator)

/** One live range of a MaarRangeAllocator. Calls notice a stale handle and do not follow it,
 * however many ranges were allocated since: an allocator never uses a handle twice. It stores a
 * live range in a node of 32 bytes, and gives up a node that was used 196,608 times or more. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarRange)

/** Largest size that a placement can manage: 2^48. */
#define MAAR_RANGE_MAX_SIZE ((VkDeviceSize)1 << 48)

/** Largest value of a kind. */
#define MAAR_RANGE_MAX_KIND 31u

/** How ranges are placed. */
typedef enum MaarPlacementStrategy {
    /** Two-level segregated fit: any order of frees, low fragmentation. The default. */
    MAAR_PLACEMENT_STRATEGY_TLSF = 0,
    /** Buddies: any order of frees, sizes rounded up to powers of two, aligned by themselves.
     * Default pools of an allocator keep buffers and images apart where bufferImageGranularity is
     * above 1. */
    MAAR_PLACEMENT_STRATEGY_BUDDY = 1,
    /**
     * Linear: a stack, a double stack, a ring, or bump and reset. The order of frees decides which.
     * This strategy is the cheapest. Bytes freed out of order are reused once an end of the live
     * ranges reaches them.
     */
    MAAR_PLACEMENT_STRATEGY_LINEAR = 2,
    /** Reserves the enumeration's size. */
    MAAR_PLACEMENT_STRATEGY_MAX_ENUM = 0x7FFFFFFF
} MaarPlacementStrategy;

/** State of a stretch of the space. */
typedef enum MaarRangeState {
    /** A live range owns it. */
    MAAR_RANGE_STATE_LIVE = 0,
    /** It can be allocated. */
    MAAR_RANGE_STATE_FREE = 1,
    /** Lost to alignment, rounding, granularity, or (linear) freed but not reusable yet. */
    MAAR_RANGE_STATE_PADDING = 2,
    /** Reserves the enumeration's size. */
    MAAR_RANGE_STATE_MAX_ENUM = 0x7FFFFFFF
} MaarRangeState;

/** Options of one range. */
typedef enum MaarRangeAllocateFlagBits {
    /** Linear: takes the range from the upper end, the other half of a double stack. Other
     * strategies ignore this flag. */
    MAAR_RANGE_ALLOCATE_UPPER_BIT = 0x00000001,
    /** TLSF and buddy: takes the lowest offset at which the range fits, which packs the space from
     * its beginning. The search looks at twice as many ranges as there are below that offset, or
     * twice as many free ranges as are large enough: at the smaller of both numbers. Linear
     * placements ignore this flag. */
    MAAR_RANGE_ALLOCATE_LOWEST_BIT = 0x00000002,
    /** Reserves the enumeration's size. */
    MAAR_RANGE_ALLOCATE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarRangeAllocateFlagBits;
/** A set of MaarRangeAllocateFlagBits. */
typedef VkFlags MaarRangeAllocateFlags;

/** Describes a range allocator. */
typedef struct MaarRangeAllocatorCreateInfo {
    /** MAAR_STRUCTURE_TYPE_RANGE_ALLOCATOR_CREATE_INFO */
    MaarStructureType sType;
    /** Null or a chain of extending structures. */
    const void* pNext;
    /** How ranges are placed. */
    MaarPlacementStrategy strategy;
    /** Size of the space, 1 to MAAR_RANGE_MAX_SIZE; need not be a power of two. */
    VkDeviceSize size;
    /**
     * 0 or 1: kinds have no effect. Else a power of two: two ranges of different non-zero kinds
     * never share an aligned stretch of this size.
     */
    VkDeviceSize granularity;
    /** Null (the C library's heap) or callbacks that stay valid until destruction; pfnAllocation
     * and pfnFree must be set. */
    const VkAllocationCallbacks* pAllocationCallbacks;
    /** Null or the receiver of messages about misuse. */
    PFN_maarMessage pfnMessage;
    /** Given to pfnMessage. */
    void* pMessageUserData;
} MaarRangeAllocatorCreateInfo;

/** Describes a range to allocate. */
typedef struct MaarRangeAllocateInfo {
    /** MAAR_STRUCTURE_TYPE_RANGE_ALLOCATE_INFO */
    MaarStructureType sType;
    /** Null or a chain of extending structures. */
    const void* pNext;
    /** Size, at least 1. */
    VkDeviceSize size;
    /** The offset is a multiple of this; any number, 0 means 1. */
    VkDeviceSize alignment;
    /** 0 to MAAR_RANGE_MAX_KIND; 0 shares a granule with every kind. */
    uint32_t kind;
    /** Options. */
    MaarRangeAllocateFlags flags;
    /** Kept with the range and given back by queries and walks. */
    uint64_t userData;
} MaarRangeAllocateInfo;

/** One stretch of the space, as queries and walks report it. */
typedef struct MaarRangeInfo {
    /** MAAR_STRUCTURE_TYPE_RANGE_INFO */
    MaarStructureType sType;
    /** Null or a chain of extending structures. */
    void* pNext;
    /** State of the stretch. */
    MaarRangeState state;
    /** The range's kind; 0 unless live. */
    uint32_t kind;
    /** Offset of its beginning. */
    VkDeviceSize offset;
    /** Length; for a live range the requested size. */
    VkDeviceSize size;
    /** The range's user data; 0 unless live. */
    uint64_t userData;
    /** The range's handle; VK_NULL_HANDLE unless live. */
    MaarRange range;
} MaarRangeInfo;

/** Totals of a range allocator: usedSize + paddingSize + freeSize = size. */
typedef struct MaarRangeStatistics {
    /** MAAR_STRUCTURE_TYPE_RANGE_STATISTICS */
    MaarStructureType sType;
    /** Null or a chain of extending structures. */
    void* pNext;
    /** Size of the space. */
    VkDeviceSize size;
    /** Sum of the requested sizes. */
    VkDeviceSize usedSize;
    /** Lost to alignment, rounding, granularity, or (linear) freed but not reusable yet. */
    VkDeviceSize paddingSize;
    /** Can be allocated. */
    VkDeviceSize freeSize;
    /** Upper bound of the largest free stretch. No request above it can succeed. */
    VkDeviceSize largestFreeBound;
    /** Number of live ranges. */
    uint32_t rangeCount;
} MaarRangeStatistics;

/**
 * Receives one stretch of a walk. It must not call functions of the same allocator.
 *
 * @param pUserData  the pointer given to maarWalkRanges
 * @param pInfo      the stretch; valid until the callback returns
 * @return VK_TRUE to go on, VK_FALSE to stop
 */
typedef VkBool32(VKAPI_PTR* PFN_maarVisitRange)(void* pUserData, const MaarRangeInfo* pInfo);

/**
 * Creates a range allocator. Allocates host memory; calls no driver.
 *
 * @param pCreateInfo  what to create
 * @param pAllocator   receives the handle; VK_NULL_HANDLE on failure
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT when pCreateInfo
 *         or pAllocator is null, or sType, strategy, size or granularity is out of its limits
 * @threadsafety internally synchronized
 * @lifetime the handle lives until maarDestroyRangeAllocator
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateRangeAllocator(
    const MaarRangeAllocatorCreateInfo* pCreateInfo, MaarRangeAllocator* pAllocator);

/**
 * Destroys a range allocator and all its ranges.
 *
 * @param allocator  the allocator, or VK_NULL_HANDLE
 * @threadsafety externally synchronized: allocator
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyRangeAllocator(MaarRangeAllocator allocator);

/**
 * Allocates a range. Allocates host memory only when there are more ranges than ever before.
 *
 * @param allocator  the allocator
 * @param pInfo      what to allocate
 * @param pRange     receives the handle; VK_NULL_HANDLE on failure
 * @param pOffset    receives the offset, 0 on failure; may be null
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_POOL_MEMORY when nothing free fits;
 *         VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT when a pointer is null or
 *         sType, size, kind or flags is out of its limits
 * @threadsafety externally synchronized: allocator
 * @lifetime the handle lives until maarFreeRange, maarResetRangeAllocator or destruction
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarAllocateRange(MaarRangeAllocator allocator,
                                               const MaarRangeAllocateInfo* pInfo,
                                               MaarRange* pRange, VkDeviceSize* pOffset);

/**
 * Frees a range. Never allocates host memory.
 *
 * @param allocator  the allocator
 * @param range      the range, or VK_NULL_HANDLE
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT when range is not a live range of allocator
 * @threadsafety externally synchronized: allocator
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarFreeRange(MaarRangeAllocator allocator, MaarRange range);

/**
 * Frees all ranges at once, in a time that does not depend on their number. Host memory is kept
 * for later ranges. A reset that gives up nodes, about one in 196,608, looks at all of them and may
 * allocate host memory.
 *
 * @param allocator  the allocator
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY, when nothing has changed;
 *         VK_ERROR_VALIDATION_FAILED_EXT when allocator is null
 * @threadsafety externally synchronized: allocator
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarResetRangeAllocator(MaarRangeAllocator allocator);

/**
 * Extends the space at its end. Live ranges stay where they are.
 *
 * @param allocator  the allocator
 * @param size       new size, from the current one to MAAR_RANGE_MAX_SIZE
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT when allocator is
 *         null or size is out of its limits
 * @threadsafety externally synchronized: allocator
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarResizeRangeAllocator(MaarRangeAllocator allocator,
                                                      VkDeviceSize size);

/**
 * Describes a live range.
 *
 * @param allocator  the allocator
 * @param range      the range
 * @param pInfo      sType and pNext are read, the rest is written (zeroed on failure)
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT when range is not a live range of allocator, a
 *         pointer is null or sType is wrong
 * @threadsafety externally synchronized: allocator
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetRangeInfo(MaarRangeAllocator allocator, MaarRange range,
                                              MaarRangeInfo* pInfo);

/**
 * Changes the user data of a live range. The time does not depend on the number of ranges.
 *
 * @param allocator  the allocator
 * @param range      the range
 * @param userData   any value
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT when range is not a live range of allocator
 * @threadsafety externally synchronized: allocator
 * @since 0.2.0
 */
MAAR_API VkResult VKAPI_CALL maarSetRangeUserData(MaarRangeAllocator allocator, MaarRange range,
                                                  uint64_t userData);

/**
 * Reads the totals. The time does not depend on the number of ranges.
 *
 * @param allocator    the allocator
 * @param pStatistics  sType and pNext are read, the rest is written
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT when a pointer is null or sType is wrong
 * @threadsafety externally synchronized: allocator
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetRangeStatistics(MaarRangeAllocator allocator,
                                                    MaarRangeStatistics* pStatistics);

/**
 * Visits the whole space in order of offsets, without gaps: live, free and padding stretches.
 *
 * @param allocator  the allocator
 * @param pfnVisit   called for each stretch
 * @param pUserData  given to pfnVisit
 * @return VK_SUCCESS, also when pfnVisit stopped the walk; VK_ERROR_VALIDATION_FAILED_EXT when
 *         allocator or pfnVisit is null
 * @threadsafety externally synchronized: allocator
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarWalkRanges(MaarRangeAllocator allocator,
                                            PFN_maarVisitRange pfnVisit, void* pUserData);

/**
 * Walks every structure of the allocator and checks its invariants. It is meant for tests and for
 * finding corruption. The time is proportional to the number of ranges.
 *
 * @param allocator  the allocator
 * @return null when every invariant holds, else a sentence that names the first broken one
 * @threadsafety externally synchronized: allocator
 * @lifetime the text is static
 * @since 0.1.0
 */
MAAR_API const char* VKAPI_CALL maarCheckRangeAllocator(MaarRangeAllocator allocator);

#ifdef __cplusplus
}
#endif

#endif
