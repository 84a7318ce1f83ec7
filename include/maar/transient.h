/** @file
 * maar/transient.h: buffers and images that live for some passes of a frame and share memory, with
 * the barriers that this sharing requires.
 *
 * Declare the passes of a frame and the resources that they use. Maar plans the memory
 * (maar/plan.h), creates the resources in one allocation for each class, and states for each pass
 * what to wait for and which barriers to record. The general rules of maar/allocator.h apply here
 * too. The barriers are those of VK_KHR_synchronization2; the heap itself does not need this
 * feature.
 */
#ifndef MAAR_TRANSIENT_H
#define MAAR_TRANSIENT_H

#include "maar/allocator.h"
#include "maar/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The transients of a frame: memory, buffers, images, views and barriers. */
VK_DEFINE_NON_DISPATCHABLE_HANDLE(MaarTransientHeap)

/** A queue that passes run on. */
typedef struct MaarTransientQueue {
    /** The index of its family, below the device's number of families. Queues of one family need no
     * queue family transfers. */
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

/** A pass that waits for a pass of another queue. The program signals a semaphore after `before`
 * and waits for it ahead of `after`, both with VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT. */
typedef struct MaarTransientDependency {
    /** The pass that is over first. */
    uint32_t before;
    /** The pass that begins then. */
    uint32_t after;
} MaarTransientDependency;

/** How a pass uses a resource. Each pass has one entry for each resource that it uses. */
typedef struct MaarTransientUse {
    /** The pass. */
    uint32_t pass;
    /** Images: the layout during the pass, which the image's usage must allow. Buffers: ignored. */
    VkImageLayout layout;
    /** All stages of the pass that access the resource; not 0. */
    VkPipelineStageFlags2 stages;
    /** All accesses of these stages to the resource; not 0. */
    VkAccessFlags2 access;
} MaarTransientUse;

/** Options of a transient. */
typedef enum MaarTransientResourceFlagBits {
    /** The contents are kept from frame to frame (of one copy). The resource shares bytes with no
     * other, and its layout is carried over. In the first frame after its creation its contents are
     * undefined. An update that keeps the object keeps its contents too. The exception is a
     * resource whose owner changes from the last use of a frame to the first use of the next, in
     * the new graph or in the graph before. */
    MAAR_TRANSIENT_RESOURCE_KEEP_CONTENTS_BIT = 0x1,
    /** The resource shares bytes with no other. Its contents are still undefined at the first use
     * of a frame. */
    MAAR_TRANSIENT_RESOURCE_NO_ALIASING_BIT = 0x2,
    /** Reserves the enumeration's size. */
    MAAR_TRANSIENT_RESOURCE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarTransientResourceFlagBits;
/** Any of MaarTransientResourceFlagBits. */
typedef VkFlags MaarTransientResourceFlags;

/** A buffer or an image of a frame. */
typedef struct MaarTransientResource {
    /** A buffer: how to create it. Set either pBufferInfo or pImageInfo. */
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
    /** How to create them; the field `image` is ignored. */
    const VkImageViewCreateInfo* pViewInfos;
    /** For messages and captures; may be NULL. In dumps the memory that resources share has the
     * name of the heap. */
    const char* pName;
} MaarTransientResource;

/** The largest number of queues of a graph. */
#define MAAR_TRANSIENT_MAX_QUEUES 16u

/** A frame: passes, resources, and which pass uses which resource. Maar reads everything during the
 * call and keeps no pointer. */
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
    /** Orders between passes of different queues, without a cycle. Two passes of different queues
     * may use one resource in ways that need an order that neither these dependencies nor the
     * queues give. Then the pass of the lower index comes first, unless this pass must itself wait
     * for a pass of a higher index, and the second pass gets a wait for the first. */
    const MaarTransientDependency* pDependencies;
    /** How many resources. */
    uint32_t resourceCount;
    /** The resources. */
    const MaarTransientResource* pResources;
    /** For each resource, its index in the graph before, or UINT32_MAX for a new resource. NULL:
     * each resource has the index that it had before, and further resources are new. Objects that
     * keep their create info, offset and memory are not created again. */
    const uint32_t* pPreviousIndices;
} MaarTransientGraph;

/** Options of a heap. */
typedef enum MaarTransientHeapCreateFlagBits {
    /** No two resources share bytes. Everything else stays the same: for comparisons. */
    MAAR_TRANSIENT_HEAP_CREATE_NO_ALIASING_BIT = 0x1,
    /** Makes only the barriers for bytes that go from one resource to another: `aliasing` and its
     * waits. The program itself records the barriers between the uses of one resource. Its first
     * barrier of a resource in a frame goes from UNDEFINED, and its source has the stages of that
     * use and of the last uses in the frame before. */
    MAAR_TRANSIENT_HEAP_CREATE_ALIASING_BARRIERS_ONLY_BIT = 0x2,
    /** Plans and makes barriers, but creates no objects and allocates no memory. */
    MAAR_TRANSIENT_HEAP_CREATE_PLAN_ONLY_BIT = 0x4,
    /** Plans with MAAR_PLAN_CREATE_KEEP_EDGES_BIT: as little memory, but perhaps more barriers than
     * necessary. For updates that must be quick. */
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
    /** How many copies of everything exist, at most MAAR_TRANSIENT_MAX_COPIES; 0 means 1. With one
     * copy, frame N+1 waits on the device for frame N wherever it reuses the bytes of frame N. This
     * is best in most programs. With more copies, frame N uses copy N modulo the count, and waits
     * for the frame that used that copy before. */
    uint32_t copyCount;
    /** The first frame. */
    const MaarTransientGraph* pGraph;
    /** How to allocate: usage, flags, pool, priority, name. NULL: device-local memory, and lazily
     * allocated memory for images with TRANSIENT_ATTACHMENT usage where the device has some. Lazily
     * allocated memory is also used if `usage` here is device-local (which is 0) or transient, so
     * that a program may set only a name or a priority. Without a name, the memory is named
     * "transients". The memory must not be exportable. */
    const MaarAllocationCreateInfo* pAllocationInfo;
    /** See MaarPlanCreateInfo::nodeLimit; 0: MAAR_TRANSIENT_DEFAULT_NODE_LIMIT. */
    uint64_t planNodeLimit;
    /** See MaarPlanCreateInfo::timeLimit_ns. */
    uint64_t planTimeLimit_ns;
    /** NULL: the heap keeps a cache of its own. Must be destroyed after the heap. */
    MaarPlanCache planCache;
} MaarTransientHeapCreateInfo;

/** The most nodes that the search for a plan visits if the caller sets no limit. It is lower than
 * that of maarCreatePlan, since heaps are updated while a program runs. */
#define MAAR_TRANSIENT_DEFAULT_NODE_LIMIT 100000u
/** The largest number of copies of a heap. */
#define MAAR_TRANSIENT_MAX_COPIES 8u

/** Figures of a heap. Sizes are in bytes of one copy, as the driver requires them. */
typedef struct MaarTransientHeapInfo {
    /** MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_INFO */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** Copies. */
    uint32_t copyCount;
    /** The plan. It belongs to the heap and is valid until the next update. Its resources are those
     * of the graph, without the ones for which the driver requires a dedicated allocation. */
    MaarPlan plan;
    /** The sum of the sizes of all resources: what the frame would take without aliasing. */
    VkDeviceSize totalSize;
    /** What the frame would take if whole objects were reused: each pass takes free objects of the
     * same create info, or creates new ones. */
    VkDeviceSize objectReuseSize;
    /** What the frame takes. */
    VkDeviceSize peakSize;
    /** What the frame takes at least: see MaarPlanInfo::lowerBound. */
    VkDeviceSize lowerBound;
    /** VK_TRUE if no placement takes less. */
    VkBool32 provedOptimal;
    /** Of peakSize, the bytes that lie in lazily allocated memory as long as its heap has room. */
    VkDeviceSize lazySize;
    /** Objects and views created by the last creation or update. */
    uint32_t createdCount;
    /** Objects that the last update kept. */
    uint32_t keptCount;
    /** Grows by one with each update that created an object. */
    uint64_t generation;
} MaarTransientHeapInfo;

/** A resource as it was created. */
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
    /** The views, in the order of pViewInfos. They belong to the heap; the array is valid until the
     * next update. */
    const VkImageView* pViews;
    /** The heap's generation when these objects were created. They are new to a program that last
     * read an earlier generation. */
    uint64_t generation;
    /** The memory of its class. */
    MaarAllocation allocation;
    /** Where the resource lies in `allocation`, bytes. */
    VkDeviceSize offset;
    /** The bytes that the driver requires. */
    VkDeviceSize size;
    /** Its class in the plan. The classes behind those of the plan belong to resources with a
     * dedicated allocation. */
    uint32_t classIndex;
} MaarTransientResourceInfo;

/** A semaphore wait: the program must order the pass that has this wait after `pass`. */
typedef struct MaarTransientWait {
    /** The pass to wait for, of another queue. */
    uint32_t pass;
    /** 0: that pass of the same frame; n: that pass of the frame n frames earlier. Frames before
     * the first need no wait. */
    uint32_t framesBack;
    /** The stages of the waiting pass, and of later passes of its queue, that must not begin
     * earlier: VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT. Orders that follow from a wait are not listed
     * again. */
    VkPipelineStageFlags2 stages;
    /** The stages of `pass`, and of earlier passes of its queue, that must be over:
     * VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT. */
    VkPipelineStageFlags2 signalStages;
    /** VK_TRUE: bytes that go from one resource to another require the wait; VK_FALSE: only uses of
     * one resource do. */
    VkBool32 aliasing;
} MaarTransientWait;

/**
 * What to do around a pass. Let its submission wait for `pWaits`. Record `aliasing` and then
 * `before` ahead of its commands, and `after` behind them, each with vkCmdPipelineBarrier2 if it
 * has barriers. `aliasing` is a call of its own, since the barriers of one call are not ordered
 * among each other: earlier writes to the bytes must be available before the layout changes.
 */
typedef struct MaarTransientPassBarriers {
    /** MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS */
    MaarStructureType sType;
    /** NULL or a chain. */
    void* pNext;
    /** At most one global barrier, for bytes that come from other resources. It has the stages and
     * writes of the last uses of every predecessor. */
    VkDependencyInfo aliasing;
    /** At most one global barrier, for earlier uses of the same resources. Image barriers are first
     * layouts, changes of layout and acquisitions from other queue families; buffer barriers are
     * acquisitions. A first layout goes from UNDEFINED. After an update that kept the contents it
     * goes from the layout that they are in. */
    VkDependencyInfo before;
    /** Releases to other queue families. */
    VkDependencyInfo after;
    /** Whether `aliasing` has a barrier. vkCmdPipelineBarrier2 need not be called otherwise. */
    VkBool32 hasAliasing;
    /** Whether `before` has a barrier. */
    VkBool32 hasBefore;
    /** Whether `after` has a barrier. */
    VkBool32 hasAfter;
    /** The resource of each image barrier: those of `before`, then those of `after`. */
    const uint32_t* pImageResources;
    /** The resource of each buffer barrier: those of `before`, then those of `after`. */
    const uint32_t* pBufferResources;
    /** How many waits. */
    uint32_t waitCount;
    /** The passes of other queues to wait for, in addition to the graph's dependencies. */
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
 * Destroys a heap with its objects and memory. The device must have finished with them.
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
 * Gives a heap another frame graph, for example with a new size or one more pass. An unchanged
 * graph costs a comparison. A changed graph is planned. The second stage of the planner takes up to
 * some milliseconds, here as at the creation; MAAR_TRANSIENT_HEAP_CREATE_KEEP_EDGES_BIT leaves it
 * out.
 *
 * Objects that keep their create info and place stay. The others are destroyed once every point has
 * passed, and so is memory that is not used again. The first frame of the new graph must run after
 * the last frame of the old one. On each queue, the barriers of the first pass ensure this. With
 * several queues, the first submission to each queue must also wait for the points.
 *
 * @param allocator   not null
 * @param heap        not null
 * @param pGraph      not NULL
 * @param pointCount  0 (the device has finished all earlier frames) to MAAR_MAX_POINTS
 * @param pPoints     pass when the device has finished the frames submitted so far
 * @return as maarCreateTransientHeap and maarFreeMemoryAfter; on failure the heap is unchanged
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
 * @param pInfo      the caller sets sType and pNext; the call fills in the rest
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
 * @param copyIndex      below the heap's copyCount: the frame's number modulo copyCount
 * @param resourceIndex  its index in the graph
 * @param pInfo          the caller sets sType and pNext; the call fills in the rest
 * @return VK_SUCCESS; VK_ERROR_VALIDATION_FAILED_EXT
 * @threadsafety internally synchronized; `heap` externally
 * @since 0.1.0
 */
MAAR_API VkResult VKAPI_CALL maarGetTransientResource(MaarAllocator allocator,
                                                      MaarTransientHeap heap, uint32_t copyIndex,
                                                      uint32_t resourceIndex,
                                                      MaarTransientResourceInfo* pInfo);

/**
 * Reads the barriers and waits of a pass. Never blocks.
 *
 * @param allocator    not null
 * @param heap         not null
 * @param frameNumber  the frame's number, one more with each frame; not the index of a frame in
 * flight. It selects the copy, and whether an earlier frame is to be waited for: the first number
 * that is asked about after the creation, or after an update that changed the graph, is the number
 * of the graph's first frame. There a program may start again at 0, but need not; after an update
 * that changed nothing it must not. The passes may be asked about in any order, and repeatedly.
 * A program that asks 64 times about a pass of a first frame gets a warning
 * @param passIndex    the pass
 * @param pBarriers    the caller sets sType and pNext; the call fills in the rest. The arrays
 * belong to the heap, and are valid until the next call of this function or update
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
