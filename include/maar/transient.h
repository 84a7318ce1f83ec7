/** @file
 * maar/transient.h: buffers and images that live for some passes of a frame and share memory, with
 * the barriers that make it right.
 *
 * Declare the passes of a frame and the resources that they use; Maar plans (maar/plan.h), creates
 * the resources in one allocation for each class, and says for each pass what to wait for and which
 * barriers to record. The general rules of maar/allocator.h hold here too. Barriers are those of
 * VK_KHR_synchronization2; the heap itself needs no such feature.
 */
#ifndef MAAR_TRANSIENT_H
#define MAAR_TRANSIENT_H

#include "maar/allocator.h"
#include "maar/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The transients of a frame: memory, buffers, images, views and barriers. */
VK_DEFINE_HANDLE(MaarTransientHeap)

/** A queue that passes run on. */
typedef struct MaarTransientQueue {
    /** Its family's index, one of the device's. Queues of one family need no queue-family
     * transfers. */
    uint32_t familyIndex;
} MaarTransientQueue;

/** A pass of a frame. Passes of one queue are recorded and submitted in the order of their
 * indices. */
typedef struct MaarTransientPass {
    /** Index into MaarTransientGraph::pQueues. */
    uint32_t queueIndex;
    /** For messages; may be NULL. */
    const char* pName;
} MaarTransientPass;

/** A pass waits for another one of another queue, by a semaphore that the program signals after
 * `before` and waits for ahead of `after`, both with VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT. */
typedef struct MaarTransientDependency {
    /** This pass is over ... */
    uint32_t before;
    /** ... when this one begins. */
    uint32_t after;
} MaarTransientDependency;

/** How a pass uses a resource. One entry for each pass and resource. */
typedef struct MaarTransientUse {
    /** The pass. */
    uint32_t pass;
    /** Images: the layout during the pass. Buffers: not looked at. */
    VkImageLayout layout;
    /** All stages of the pass that touch it; not 0. */
    VkPipelineStageFlags2 stages;
    /** All accesses of the pass; not 0. */
    VkAccessFlags2 access;
} MaarTransientUse;

/** Options of a transient. */
typedef enum MaarTransientResourceFlagBits {
    /** Its contents are kept from frame to frame (of one copy): it shares bytes with nothing, and
     * its layout is carried over. In the first frame after its creation its contents are undefined.
     * An update that keeps the object keeps them too, unless its owner changes from the last use of
     * a frame to the first of the next, or was to change in the graph before. */
    MAAR_TRANSIENT_RESOURCE_KEEP_CONTENTS_BIT = 0x1,
    /** It shares bytes with nothing, but its contents are undefined at the first use of a frame. */
    MAAR_TRANSIENT_RESOURCE_NO_ALIASING_BIT = 0x2,
    /** Reserves the enumeration's size. */
    MAAR_TRANSIENT_RESOURCE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarTransientResourceFlagBits;
/** Any of MaarTransientResourceFlagBits. */
typedef VkFlags MaarTransientResourceFlags;

/** A buffer or an image of a frame. */
typedef struct MaarTransientResource {
    /** A buffer: how to create it. Exactly one of pBufferInfo and pImageInfo is set. */
    const VkBufferCreateInfo* pBufferInfo;
    /** An image: how to create it; not sparse, not disjoint, initialLayout undefined. */
    const VkImageCreateInfo* pImageInfo;
    /** Options. */
    MaarTransientResourceFlags flags;
    /** How many uses, at least 1. */
    uint32_t useCount;
    /** The uses, in any order, each pass at most once. */
    const MaarTransientUse* pUses;
    /** How many views of the image to create. */
    uint32_t viewCount;
    /** How to create them; the field `image` is not looked at. */
    const VkImageViewCreateInfo* pViewInfos;
    /** For messages and dumps; may be NULL. */
    const char* pName;
} MaarTransientResource;

/** Most queues of a graph. */
#define MAAR_TRANSIENT_MAX_QUEUES 16u

/** A frame: passes, resources and who uses what. Everything is read during the call only. */
typedef struct MaarTransientGraph {
    /** MAAR_STRUCTURE_TYPE_TRANSIENT_GRAPH */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** How many queues, 1 to MAAR_TRANSIENT_MAX_QUEUES. */
    uint32_t queueCount;
    /** The queues. */
    const MaarTransientQueue* pQueues;
    /** How many passes, at least 1. */
    uint32_t passCount;
    /** The passes. */
    const MaarTransientPass* pPasses;
    /** How many dependencies. */
    uint32_t dependencyCount;
    /** Orders between passes of different queues, without a cycle. Where two passes of different
     * queues use one resource in ways that need an order, and neither these nor the queues give
     * one, the pass of the lower index comes first, unless it still has to wait for one of a
     * higher index itself, and the second has a wait for the first. */
    const MaarTransientDependency* pDependencies;
    /** How many resources. */
    uint32_t resourceCount;
    /** The resources. */
    const MaarTransientResource* pResources;
    /** NULL: all resources are new to this graph, or have the indices that they had. Else, for each
     * resource, its index in the graph before, UINT32_MAX for a new one. What has kept its create
     * info, offset and memory is not created again. */
    const uint32_t* pPreviousIndices;
} MaarTransientGraph;

/** Options of a heap. */
typedef enum MaarTransientHeapCreateFlagBits {
    /** No two resources share bytes; all else is the same. To compare with. */
    MAAR_TRANSIENT_HEAP_CREATE_NO_ALIASING_BIT = 0x1,
    /** Barriers for bytes that go from one resource to another alone: `aliasing` and its waits. The
     * program records those between the uses of one resource itself; its first barrier of a
     * resource in a frame goes from UNDEFINED and has the stages of that use, and of the last uses
     * in the frame before, as source. */
    MAAR_TRANSIENT_HEAP_CREATE_ALIASING_BARRIERS_ONLY_BIT = 0x2,
    /** Plan and work out barriers, but create no objects and allocate no memory. */
    MAAR_TRANSIENT_HEAP_CREATE_PLAN_ONLY_BIT = 0x4,
    /** Plan with MAAR_PLAN_CREATE_KEEP_EDGES_BIT: as little memory, but not as few barriers as it
     * may take. For updates that must be quick. */
    MAAR_TRANSIENT_HEAP_CREATE_KEEP_EDGES_BIT = 0x8,
    /** Reserves the enumeration's size. */
    MAAR_TRANSIENT_HEAP_CREATE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarTransientHeapCreateFlagBits;
/** Any of MaarTransientHeapCreateFlagBits. */
typedef VkFlags MaarTransientHeapCreateFlags;

/** How a heap works. Zero is the default of every field but sType and pGraph. */
typedef struct MaarTransientHeapCreateInfo {
    /** MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Options. */
    MaarTransientHeapCreateFlags flags;
    /** How often everything exists, at most MAAR_TRANSIENT_MAX_COPIES; 0 means 1. With 1, frame N+1
     * waits on the device for frame N wherever it reuses its bytes, which is mostly best. With
     * more, frame N uses copy N modulo the count and waits for the frame that used that copy
     * before. */
    uint32_t copyCount;
    /** The first frame. */
    const MaarTransientGraph* pGraph;
    /** How to allocate: usage, flags, pool, priority, name. NULL: device-local memory, and lazily
     * allocated memory for images with TRANSIENT_ATTACHMENT usage where the device has some. The
     * latter goes for usage device-local (which is 0) and transient here, too: a name or a priority
     * alone loses nothing. Without a name, the memory is named "transients". Nothing that can be
     * exported. */
    const MaarAllocationCreateInfo* pAllocationInfo;
    /** See MaarPlanCreateInfo::nodeLimit; 0: MAAR_TRANSIENT_DEFAULT_NODE_LIMIT. */
    uint64_t planNodeLimit;
    /** See MaarPlanCreateInfo::timeLimit_ns. */
    uint64_t planTimeLimit_ns;
    /** NULL: the heap keeps a cache of its own. */
    MaarPlanCache planCache;
} MaarTransientHeapCreateInfo;

/** Nodes that the search for a plan visits at most when the caller names no limit: fewer than in a
 * plan of its own, since heaps are updated while a program runs. */
#define MAAR_TRANSIENT_DEFAULT_NODE_LIMIT 100000u
/** Most copies of a heap. */
#define MAAR_TRANSIENT_MAX_COPIES 8u

/** Figures of a heap. Sizes are bytes of one copy, by the driver's requirements. */
typedef struct MaarTransientHeapInfo {
    /** MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Copies. */
    uint32_t copyCount;
    /** The plan; owned by the heap, valid until the next update. Its resources are the graph's,
     * those left out for which the driver requires memory of their own. */
    MaarPlan plan;
    /** Sum of the sizes of all resources: what it would take without aliasing. */
    VkDeviceSize totalSize;
    /** What it would take to reuse whole objects: each pass takes free ones of the same create
     * info, or makes new ones. */
    VkDeviceSize objectReuseSize;
    /** What it takes. */
    VkDeviceSize peakSize;
    /** What it takes at least: see MaarPlanInfo::lowerBound. */
    VkDeviceSize lowerBound;
    /** No placement takes less. */
    VkBool32 provedOptimal;
    /** Of peakSize, bytes that go to lazily allocated memory as long as its heap has room. */
    VkDeviceSize lazySize;
    /** Objects and views created by the last creation or update. */
    uint32_t createdCount;
    /** Objects that the last update kept. */
    uint32_t keptCount;
    /** Grows by one with each update that created something anew. */
    uint64_t generation;
} MaarTransientHeapInfo;

/** A resource as created. */
typedef struct MaarTransientResourceInfo {
    /** MAAR_STRUCTURE_TYPE_TRANSIENT_RESOURCE_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** The buffer, or VK_NULL_HANDLE. */
    VkBuffer buffer;
    /** The image, or VK_NULL_HANDLE. */
    VkImage image;
    /** How many views. */
    uint32_t viewCount;
    /** The views, in the order asked for; owned by the heap, valid until the next update. */
    const VkImageView* pViews;
    /** The heap's generation when these objects were created: they are new to a program that last
     * looked at an earlier one. */
    uint64_t generation;
    /** The memory of its class. */
    MaarAllocation allocation;
    /** Where in it, bytes. */
    VkDeviceSize offset;
    /** Bytes required. */
    VkDeviceSize size;
    /** Its class in the plan; classes behind those are of resources that are left out there. */
    uint32_t classIndex;
} MaarTransientResourceInfo;

/** A semaphore wait: the program must have ordered this pass after that one. */
typedef struct MaarTransientWait {
    /** The pass to wait for, of another queue. */
    uint32_t pass;
    /** 0: of the same frame; n: of the frame n earlier. Frames before the first need no wait. */
    uint32_t framesBack;
    /** Stages of the waiting pass, and of later ones of its queue, that must not begin earlier:
     * VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT. What follows from a wait is not asked for again. */
    VkPipelineStageFlags2 stages;
    /** Stages of the pass waited for, and of earlier ones of its queue, that must be over:
     * likewise.
     */
    VkPipelineStageFlags2 signalStages;
    /** VK_TRUE: bytes that change hands ask for it; VK_FALSE: only uses of one resource do. */
    VkBool32 aliasing;
} MaarTransientWait;

/**
 * What to do around a pass: let its submission wait for `pWaits`; record `aliasing` and then
 * `before` ahead of its commands and `after` behind them (vkCmdPipelineBarrier2), each where it has
 * barriers. `aliasing` is a call of its own, since barriers of one call are not ordered among each
 * other: a new layout must not be made before what was written into the bytes has landed.
 */
typedef struct MaarTransientPassBarriers {
    /** MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** At most one global barrier: for bytes that come from other resources, with the stages and
     * writes of all last uses of every predecessor. */
    VkDependencyInfo aliasing;
    /** At most one global barrier, for earlier uses of the same resources; image barriers: first
     * layouts (from UNDEFINED; after an update, of contents that were kept, from the layout that
     * they are in), changes of layout, acquisitions from other queue families; buffer barriers:
     * acquisitions. */
    VkDependencyInfo before;
    /** Releases to other queue families. */
    VkDependencyInfo after;
    /** The resource of each image barrier, those of `before` first, then those of `after`. */
    const uint32_t* pImageResources;
    /** The resource of each buffer barrier, likewise. */
    const uint32_t* pBufferResources;
    /** How many waits. */
    uint32_t waitCount;
    /** Passes of other queues to wait for, on top of what is ordered otherwise already by the
     * graph's dependencies. */
    const MaarTransientWait* pWaits;
} MaarTransientPassBarriers;

/**
 * Plans a frame, allocates its memory and creates its buffers, images and views.
 *
 * @param allocator    not null
 * @param pCreateInfo  not NULL
 * @param pHeap        receives the heap
 * @return as maarAllocateMemory and maarCreatePlan, and what vkCreateBuffer, vkCreateImage,
 *         vkCreateImageView and the binds return
 * @threadsafety internally synchronized
 * @lifetime destroy it with maarDestroyTransientHeap, before the allocator
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarCreateTransientHeap(MaarAllocator allocator,
                                                     const MaarTransientHeapCreateInfo* pCreateInfo,
                                                     MaarTransientHeap* pHeap);

/**
 * Destroys a heap with its objects and memory. The device must be done with them.
 *
 * @param allocator  not null
 * @param heap       may be VK_NULL_HANDLE
 * @threadsafety internally synchronized; `heap` externally
 * @since 0.1.0
 */
MAAR_API void VKAPI_CALL maarDestroyTransientHeap(MaarAllocator allocator, MaarTransientHeap heap);

/**
 * Destroys a heap once every point has passed. Never blocks.
 *
 * @param allocator   not null
 * @param heap        may be VK_NULL_HANDLE
 * @param pointCount  0 (now) to MAAR_MAX_POINTS
 * @param pPoints     the points
 * @return as maarFreeMemoryAfter; on failure the heap stays alive
 * @threadsafety internally synchronized; `heap` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarDestroyTransientHeapAfter(MaarAllocator allocator,
                                                           MaarTransientHeap heap,
                                                           uint32_t pointCount,
                                                           const MaarPoint* pPoints);

/**
 * Gives a heap another frame graph: a new size, a pass more or less. An unchanged graph costs a
 * comparison; another one is planned, of which the planner's second stage takes up to some
 * milliseconds here as at the creation: MAAR_TRANSIENT_HEAP_CREATE_KEEP_EDGES_BIT leaves it out.
 * Objects that keep their create info and place stay; the others are destroyed once every
 * point has passed, as is memory that no longer serves. The first frame of the new graph must run
 * after the last one of the old graph: on each queue, the barriers of its first pass see to that;
 * with several queues, the first submission to each must also wait for the points.
 *
 * @param allocator   not null
 * @param heap        not null
 * @param pGraph      not NULL
 * @param pointCount  0 (the device is done with all earlier frames) to MAAR_MAX_POINTS
 * @param pPoints     when the device is done with the frames submitted so far
 * @return as maarCreateTransientHeap and maarFreeMemoryAfter; on failure the heap is as before
 * @threadsafety internally synchronized; `heap` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarUpdateTransientHeap(MaarAllocator allocator,
                                                     MaarTransientHeap heap,
                                                     const MaarTransientGraph* pGraph,
                                                     uint32_t pointCount, const MaarPoint* pPoints);

/**
 * Reads a heap's figures. Never blocks.
 *
 * @param allocator  not null
 * @param heap       not null
 * @param pInfo      sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `heap` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetTransientHeapInfo(MaarAllocator allocator,
                                                      MaarTransientHeap heap,
                                                      MaarTransientHeapInfo* pInfo);

/**
 * Reads a resource. Never blocks.
 *
 * @param allocator      not null
 * @param heap           not null
 * @param copyIndex      below the heap's copyCount: the frame's number modulo that
 * @param resourceIndex  its index in the graph
 * @param pInfo          sType and pNext set by the caller; the rest is filled
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `heap` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetTransientResource(MaarAllocator allocator,
                                                      MaarTransientHeap heap, uint32_t copyIndex,
                                                      uint32_t resourceIndex,
                                                      MaarTransientResourceInfo* pInfo);

/**
 * Reads what to do around a pass. Never blocks.
 *
 * @param allocator    not null
 * @param heap         not null
 * @param frameNumber  the frame's number, one more with each frame; it never has to restart. It
 *                     decides the copy, and whether there is an earlier frame to wait for: the
 *                     first number asked about after the creation, or after an update that changed
 *                     something, is that of the graph's first frame (so starting again at 0 there
 *                     is right too; not after an update that changed nothing). Passes may be asked
 *                     about in any order, and again
 * @param passIndex    the pass
 * @param pBarriers    sType and pNext set by the caller; the rest is filled. What it points to is
 *                     the heap's, valid until the next call of this function or update
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `heap` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetTransientPassBarriers(MaarAllocator allocator,
                                                          MaarTransientHeap heap,
                                                          uint64_t frameNumber, uint32_t passIndex,
                                                          MaarTransientPassBarriers* pBarriers);

#ifdef __cplusplus
}
#endif

#endif
