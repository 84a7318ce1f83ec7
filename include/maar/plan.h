/** @file
 * maar/plan.h: the transient planner. It gives resources that live for a part of a frame offsets at
 * which they share bytes, and proves how good these offsets are.
 *
 * The planner needs no device. It takes lifetimes and returns offsets, bounds and aliasing edges.
 * maar/transient.h makes buffers and images from a plan. A program with a frame graph of its own
 * may use the plan alone.
 *
 * On failure handles are null, and other outputs are unchanged. A null pointer where none is
 * allowed, or a wrong sType, makes the call fail without a message, since the structure's contents
 * cannot be trusted.
 */
#ifndef MAAR_PLAN_H
#define MAAR_PLAN_H

#include "maar/base.h"
#include "maar/message.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A placement of resources; immutable. */
VK_DEFINE_HANDLE(MaarPlan)
/** A store of recent plans, so that an unchanged graph is planned once. */
VK_DEFINE_HANDLE(MaarPlanCache)

/** Most resources of a plan. */
#define MAAR_PLAN_MAX_RESOURCES 65536u
/** Most passes of a plan. */
#define MAAR_PLAN_MAX_PASSES 65536u
/** Largest sum of the sizes of a plan's resources, bytes: 2^60. Each counts rounded up to its
 * alignment and, where kinds differ, to the granularity. */
#define MAAR_PLAN_MAX_SIZE ((VkDeviceSize)1 << 60)
/** Most nodes that a search visits when the caller gives no limit. Such a search takes tenths of a
 * second for a frame's resources, and seconds for hundreds of long-lived ones. With n resources
 * above 4,096 the default is 4,096 / n of this number. */
#define MAAR_PLAN_DEFAULT_NODE_LIMIT 500000u

/** Options of one resource. */
typedef enum MaarPlanResourceFlagBits {
    /** It lies at MaarPlanResource::fixedOffset. */
    MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT = 0x1,
    /** It shares bytes with no other resource and keeps its contents from frame to frame. Its
     * lifetime is ignored. */
    MAAR_PLAN_RESOURCE_NO_ALIASING_BIT = 0x2,
    /** Reserves the enumeration's size. */
    MAAR_PLAN_RESOURCE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarPlanResourceFlagBits;
/** Any of MaarPlanResourceFlagBits. */
typedef VkFlags MaarPlanResourceFlags;

/** A resource to place. */
typedef struct MaarPlanResource {
    /** Bytes, at least 1. */
    VkDeviceSize size;
    /** The offset is a multiple of this; any number up to 2^48, 0 means 1. */
    VkDeviceSize alignment;
    /** VkMemoryRequirements::memoryTypeBits; 0 for any type. */
    uint32_t memoryTypeBits;
    /** The kind that the granularity keeps apart from others. An unknown kind beside known kinds
     * costs granules. */
    MaarResourceKind kind;
    /** Options. */
    MaarPlanResourceFlags flags;
    /** First pass that uses it. Ignored where useCount is not 0. */
    uint32_t firstPass;
    /** Last pass that uses it, included; at least firstPass. */
    uint32_t lastPass;
    /** How many uses are listed; 0: the resource is in use from firstPass to lastPass, which needs
     * a plan of one queue. */
    uint32_t useCount;
    /** The passes that use it, in any order; a pass may be listed twice. */
    const uint32_t* pUses;
    /** With FIXED_OFFSET: the offset in its class, bytes, a multiple of the alignment, at most
     * 2^60. Resources with fixed offsets of one class that live at the same time must not overlap.
     */
    VkDeviceSize fixedOffset;
} MaarPlanResource;

/** An order between two passes of different queues, for example by a semaphore. */
typedef struct MaarPlanDependency {
    /** The pass that ends before `after` begins. */
    uint32_t before;
    /** The pass that begins after `before` has ended. */
    uint32_t after;
} MaarPlanDependency;

/** Called about every millisecond, apart from the steps that every plan needs. VK_TRUE ends all
 * steps that only improve the plan, and the plan takes the best placement found so far. What is
 * left takes up to 10 milliseconds, and about a microsecond for each resource, use, pass,
 * dependency and edge. */
typedef VkBool32(VKAPI_PTR* PFN_maarPlanCancel)(void* pUserData);

/** Options of a plan. */
typedef enum MaarPlanCreateFlagBits {
    /** The plan omits the second stage, which looks for fewer aliasing edges at the same peak. */
    MAAR_PLAN_CREATE_KEEP_EDGES_BIT = 0x1,
    /** The plan takes the best of the greedy orders and does not search for a better placement. */
    MAAR_PLAN_CREATE_GREEDY_BIT = 0x2,
    /** Reserves the enumeration's size. */
    MAAR_PLAN_CREATE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarPlanCreateFlagBits;
/** Any of MaarPlanCreateFlagBits. */
typedef VkFlags MaarPlanCreateFlags;

/**
 * The input of a plan. Zero is the default of every field but sType.
 *
 * Passes are numbered from 0. Passes of one queue run in the order of their numbers; passes of
 * different queues are ordered by dependencies alone. Two resources may share bytes only when every
 * use of one is before every use of the other. With one queue this means that their intervals from
 * the first to the last use do not overlap.
 */
typedef struct MaarPlanCreateInfo {
    /** MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Options. */
    MaarPlanCreateFlags flags;
    /** How many resources, 0 to MAAR_PLAN_MAX_RESOURCES. */
    uint32_t resourceCount;
    /** The resources. */
    const MaarPlanResource* pResources;
    /** How many passes, at most MAAR_PLAN_MAX_PASSES; 0: one queue, and any numbers below
     * UINT32_MAX name its passes. */
    uint32_t passCount;
    /** The queue of each pass, any numbers; NULL: one queue. Where passes times queues exceed four
     * millions, the planner knows fewer of the orders between queues, and may share less. */
    const uint32_t* pPassQueues;
    /** How many dependencies. */
    uint32_t dependencyCount;
    /** Orders between passes, without a cycle. Orders that follow from them by transitivity hold
     * too. */
    const MaarPlanDependency* pDependencies;
    /** bufferImageGranularity, a power of two; 0 or 1 for none. */
    VkDeviceSize granularity;
    /** 0: the planner makes the peak as small as possible. Else the planner finds out whether the
     * peak can be at most this size, bytes, and stops at the first such placement. */
    VkDeviceSize capacity;
    /** Most nodes that all searches of this plan visit; 0: MAAR_PLAN_DEFAULT_NODE_LIMIT;
     * UINT64_MAX: no limit. A node that takes much work counts as several. The same input under a
     * node limit gives the same plan everywhere, unless host memory runs out. */
    uint64_t nodeLimit;
    /** Nanoseconds after the beginning of the call at which all steps end that only improve the
     * plan; 0: no limit. What a plan needs is done in any case, and takes up to 20 milliseconds
     * more, and about a microsecond for each resource, use, pass, dependency and edge. The result
     * may differ from run to run. */
    uint64_t timeLimit_ns;
    /** Most bytes of host memory that the plan may hold at a time, its result included; 0: 1 GiB.
     * Where a search would need more, the plan takes the best greedy order. */
    size_t hostMemoryLimit;
    /** May end the call early: see PFN_maarPlanCancel. NULL for none. */
    PFN_maarPlanCancel pfnCancel;
    /** Given to pfnCancel. */
    void* pCancelUserData;
    /** NULL, or an earlier plan of nearly the same resources. A resource keeps its offset of that
     * plan where this costs no memory. */
    MaarPlan previous;
    /** How many pPreviousIndices there are: 0, or resourceCount. */
    uint32_t previousIndexCount;
    /** For each resource its index in `previous`, UINT32_MAX for a new one; NULL: the same
     * indices. */
    const uint32_t* pPreviousIndices;
    /** NULL, or a cache. The planner looks there for a plan of the same input first, and keeps the
     * result there. */
    MaarPlanCache cache;
    /** Host memory; NULL for the C library's. Must stay valid until the plan is destroyed;
     * pfnAllocation and pfnFree must be there. */
    const VkAllocationCallbacks* pAllocationCallbacks;
    /** Receives messages about wrong input; NULL for none. */
    PFN_maarMessage pfnMessage;
    /** Given to pfnMessage. */
    void* pMessageUserData;
} MaarPlanCreateInfo;

#if defined(MAAR_ENABLE_EXPERIMENTAL)

/**
 * Chained to MaarPlanCreateInfo::pNext: other random numbers for the search, to measure how much
 * its time depends on them. Experimental.
 */
typedef struct MaarPlanSeedInfo {
    /** MAAR_STRUCTURE_TYPE_PLAN_SEED_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Any number; 0: the seed of plans without this structure. */
    uint64_t seed;
} MaarPlanSeedInfo;

#endif /* MAAR_ENABLE_EXPERIMENTAL */

/** The reason why the search ended. */
typedef enum MaarPlanStop {
    /** Nothing is left to find: proved optimal, or the question of the capacity is answered. */
    MAAR_PLAN_STOP_DONE = 0,
    /** The node limit. */
    MAAR_PLAN_STOP_NODE_LIMIT = 1,
    /** The time limit. */
    MAAR_PLAN_STOP_TIME_LIMIT = 2,
    /** pfnCancel. */
    MAAR_PLAN_STOP_CANCELLED = 3,
    /** The limit of host memory, or no more host memory. */
    MAAR_PLAN_STOP_HOST_MEMORY = 4,
    /** MAAR_PLAN_CREATE_GREEDY_BIT; or several queues and too many resources or passes for an exact
     * search. */
    MAAR_PLAN_STOP_GREEDY = 5,
    /** Reserves the enumeration's size. */
    MAAR_PLAN_STOP_MAX_ENUM = 0x7FFFFFFF
} MaarPlanStop;

/** Whether the resources fit into the capacity. */
typedef enum MaarPlanFit {
    /** No capacity was given. */
    MAAR_PLAN_FIT_NOT_ASKED = 0,
    /** They fit, as placed. */
    MAAR_PLAN_FIT_YES = 1,
    /** It is proved that they do not fit. The plan holds the best placement found, which needs
     * more. */
    MAAR_PLAN_FIT_NO = 2,
    /** The search ended before an answer was found: see MaarPlanInfo::stop. */
    MAAR_PLAN_FIT_UNDECIDED = 3,
    /** Reserves the enumeration's size. */
    MAAR_PLAN_FIT_MAX_ENUM = 0x7FFFFFFF
} MaarPlanFit;

/** Figures of a plan. Sizes are bytes. */
typedef struct MaarPlanInfo {
    /** MAAR_STRUCTURE_TYPE_PLAN_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Resources. */
    uint32_t resourceCount;
    /** Classes: resources that can live in one VkDeviceMemory. */
    uint32_t classCount;
    /** Sum of the sizes of the classes. */
    VkDeviceSize peakSize;
    /** Largest sum of sizes alive at the same time, summed over the classes. No placement needs
     * less. With several queues it is the heaviest antichain, or a heavy one where time or host
     * memory does not suffice to find the heaviest, as with more than 4096 resources. */
    VkDeviceSize lowerBound;
    /** Size that every placement needs, as the search has proved; at least lowerBound. Equals
     * peakSize when the plan is proved optimal. */
    VkDeviceSize provedBound;
    /** Size that the best of the greedy orders needs; peakSize is never above it. */
    VkDeviceSize greedySize;
    /** Sum of the sizes of all resources. */
    VkDeviceSize totalSize;
    /** No placement has a smaller peak. */
    VkBool32 provedOptimal;
    /** Whether the resources fit into MaarPlanCreateInfo::capacity. */
    MaarPlanFit fit;
    /** The reason why the search ended. */
    MaarPlanStop stop;
    /** Nodes visited. */
    uint64_t nodeCount;
    /** Wall-clock time of the first stage (placement and proof), nanoseconds. */
    uint64_t placeTime_ns;
    /** Wall-clock time of the second stage (fewer edges), nanoseconds. */
    uint64_t edgeTime_ns;
    /** Aliasing edges within a frame: less than three for each resource, unless small
     * resources of different kinds share granules. May be above firstStageEdgeCount where the
     * additional edges saved an edge between queues, which weighs more than all others. */
    uint32_t edgeCount;
    /** Number of edges between queues among edgeCount. */
    uint32_t crossQueueEdgeCount;
    /** Aliasing edges after the first stage. */
    uint32_t firstStageEdgeCount;
    /** Edges from one frame to the next. */
    uint32_t wrapEdgeCount;
    /** Resources that kept their offset of the previous plan. */
    uint32_t keptCount;
    /** The plan came out of the cache. */
    VkBool32 cached;
} MaarPlanInfo;

/** Resources that can live in one VkDeviceMemory. */
typedef struct MaarPlanClass {
    /** Types that all of them allow: the AND of their memoryTypeBits; all bits where none of them
     * named any. */
    uint32_t memoryTypeBits;
    /** How many resources. */
    uint32_t resourceCount;
    /** Bytes: the end of the last one. */
    VkDeviceSize size;
    /** Bytes: the least common multiple of their alignments, at which the memory must begin; at
     * least the granularity where kinds are mixed. */
    VkDeviceSize alignment;
    /** Largest sum of sizes alive at the same time, bytes. */
    VkDeviceSize lowerBound;
    /** The size is proved to be the least possible. */
    VkBool32 provedOptimal;
    /** The kind of all of them; MAAR_RESOURCE_KIND_UNKNOWN where they differ. */
    MaarResourceKind kind;
} MaarPlanClass;

/** Place of a resource. */
typedef struct MaarPlanPlacement {
    /** Its class. */
    uint32_t classIndex;
    /** VK_TRUE: as in the previous plan. */
    VkBool32 kept;
    /** Bytes from the beginning of its class. */
    VkDeviceSize offset;
} MaarPlanPlacement;

/**
 * A transfer of bytes from one resource to another: every last use of `before` must be over, and
 * its writes available, when the first uses of `after` begin.
 *
 * There is an edge for each byte from its most recent user to the next, each pair once. Edges
 * through a third resource follow from these and are not listed. In a class of mixed kinds the same
 * holds for resources of different kinds that share a granule of the granularity that was given.
 * There, a path of edges may take the place of an edge, and may lead over resources that share no
 * byte with either.
 */
typedef struct MaarPlanEdge {
    /** The resource that dies. */
    uint32_t before;
    /** The resource that begins. */
    uint32_t after;
    /** A last use of `before` and a first use of `after` are on different queues. */
    VkBool32 crossQueue;
} MaarPlanEdge;

/**
 * Makes a plan. May take as long as the limits allow. Never calls a driver.
 *
 * Each class is placed by a depth-first search over placements in order of rising offsets, after
 * Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine Learning"
 * (ASPLOS 2023), with stronger bounds; docs/design/planner.md explains it. The lower bound for
 * several queues is a maximum-weight antichain by maximum flow (weighted Dilworth).
 *
 * @param pCreateInfo  not NULL
 * @param pPlan        receives the plan, also where the capacity is not met: see
 *                     MaarPlanInfo::fit
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY when not even a greedy order is possible within
 *         hostMemoryLimit; VK_ERROR_VALIDATION_FAILED_EXT for wrong input, which is reported to
 *         pfnMessage
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyPlan; arrays and structures of the input are read during the
 *           call only; pAllocationCallbacks must stay valid
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreatePlan(const MaarPlanCreateInfo* pCreateInfo, MaarPlan* pPlan);

/**
 * Destroys a plan. Never blocks.
 *
 * @param plan  may be VK_NULL_HANDLE
 * @threadsafety `plan` externally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyPlan(MaarPlan plan);

/**
 * Reads a plan's figures. Never blocks.
 *
 * @param plan   not null
 * @param pInfo  sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetPlanInfo(MaarPlan plan, MaarPlanInfo* pInfo);

/**
 * Reads a plan's classes. Never blocks.
 *
 * @param plan         not null
 * @param pClassCount  how many pClasses has room for, and then how many were written; with pClasses
 *                     NULL, receives how many there are
 * @param pClasses     NULL, or receives the classes
 * @return VK_SUCCESS; VK_INCOMPLETE when there was too little room; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetPlanClasses(MaarPlan plan, uint32_t* pClassCount,
                                                MaarPlanClass* pClasses);

/**
 * Reads where the resources lie, in the order in which they were given. Never blocks.
 *
 * @param plan             not null
 * @param pPlacementCount  as pClassCount of maarGetPlanClasses
 * @param pPlacements      NULL, or receives the placements
 * @return VK_SUCCESS; VK_INCOMPLETE when there was too little room; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetPlanPlacements(MaarPlan plan, uint32_t* pPlacementCount,
                                                   MaarPlanPlacement* pPlacements);

/**
 * Reads the aliasing edges within a frame, ordered by `after`, then `before`. Never blocks.
 *
 * @param plan        not null
 * @param pEdgeCount  as pClassCount of maarGetPlanClasses
 * @param pEdges      NULL, or receives the edges
 * @return VK_SUCCESS; VK_INCOMPLETE when there was too little room; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetPlanEdges(MaarPlan plan, uint32_t* pEdgeCount,
                                              MaarPlanEdge* pEdges);

/**
 * Reads the edges from one frame to the next: for each byte, from its last user in a frame to its
 * first in the following one, where frames use the same memory. Resources of different kinds that
 * share a granule count as MaarPlanEdge says. A resource alone on its bytes and granules has an
 * edge to itself; one with MAAR_PLAN_RESOURCE_NO_ALIASING_BIT has none. The edges are ordered as
 * those of maarGetPlanEdges. The given dependencies do not include an edge across queues: the next
 * frame's first use has to wait for the last uses of this frame. Never blocks.
 *
 * @param plan        not null
 * @param pEdgeCount  as pClassCount of maarGetPlanClasses
 * @param pEdges      NULL, or receives the edges
 * @return VK_SUCCESS; VK_INCOMPLETE when there was too little room; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetPlanWrapEdges(MaarPlan plan, uint32_t* pEdgeCount,
                                                  MaarPlanEdge* pEdges);

/** How a plan cache works. */
typedef struct MaarPlanCacheCreateInfo {
    /** MAAR_STRUCTURE_TYPE_PLAN_CACHE_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Most plans kept, at most 4096; 0: 16. The plan that was not requested for the longest time
     * is dropped first. */
    uint32_t maxPlanCount;
    /** Host memory; NULL for the C library's. Must stay valid until the cache is destroyed;
     * pfnAllocation and pfnFree must be there. */
    const VkAllocationCallbacks* pAllocationCallbacks;
} MaarPlanCacheCreateInfo;

/**
 * Creates an empty cache of plans. Two inputs count as the same when all that decides the result is
 * equal. An equal hash alone does not suffice. Plans cut short by time, cancellation or host memory
 * are not kept.
 *
 * @param pCreateInfo  not NULL
 * @param pCache       receives the cache
 * @return VK_SUCCESS; VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyPlanCache; plans from it may outlive it
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreatePlanCache(const MaarPlanCacheCreateInfo* pCreateInfo,
                                                 MaarPlanCache* pCache);

/**
 * Destroys a cache. Plans from the cache that were not destroyed stay valid.
 *
 * @param cache  may be VK_NULL_HANDLE
 * @threadsafety `cache` externally synchronized
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyPlanCache(MaarPlanCache cache);

#ifdef __cplusplus
}
#endif

#endif
