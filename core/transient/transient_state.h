/*
 * A heap, and its state. The state has everything about one graph: the copied graph, the driver's
 * requirements of the resources, their places, the barriers of the passes, and the objects.
 *
 * A state is in a stack of host memory of its own. An update makes a new state beside the old one,
 * so that a failure leaves the old one unchanged. A heap is externally synchronized.
 */
#ifndef MAAR_CORE_TRANSIENT_TRANSIENT_STATE_H
#define MAAR_CORE_TRANSIENT_TRANSIENT_STATE_H

#include "core/memory/object_handle.h"
#include "core/transient/transient_graph.h"

/* Resources that can be in one VkDeviceMemory. */
struct maar_transient_class {
    uint32_t type_bits;
    VkDeviceSize size;
    VkDeviceSize alignment;
    MaarResourceKind kind;
    bool lazy;
    uint32_t
        dedicated; /* the one resource that requires dedicated memory, or MAAR_TRANSIENT_NONE */
};

/* The resources whose bytes each resource takes over, as slices of one array. */
struct maar_transient_edges {
    uint32_t* first; /* for each resource, and one more */
    uint32_t* before;
};

/* A change of layout or owner. */
struct maar_transient_barrier {
    uint32_t resource;
    uint32_t src_family;
    uint32_t dst_family;
    VkImageLayout old_layout;
    VkImageLayout new_layout;
    VkPipelineStageFlags2 src_stages;
    VkAccessFlags2 src_access;
    VkPipelineStageFlags2 dst_stages;
    VkAccessFlags2 dst_access;
    bool carries; /* the first of a frame, where contents from before an update may be kept */
};

/* A global barrier; there is none if src_stages is 0. */
struct maar_transient_global {
    VkPipelineStageFlags2 src_stages;
    VkAccessFlags2 src_access;
    VkPipelineStageFlags2 dst_stages;
    VkAccessFlags2 dst_access;
};

/* The barriers and waits around a pass: slices of the arrays of the state, with images before
 * buffers. */
struct maar_transient_record {
    struct maar_transient_global aliasing;
    struct maar_transient_global before;
    uint32_t first_before;
    uint32_t before_images;
    uint32_t before_buffers;
    uint32_t first_after;
    uint32_t after_images;
    uint32_t after_buffers;
    uint32_t first_wait;
    uint32_t wait_count;
};

/* Frames without a predecessor in their copy, and frames with one. */
enum maar_transient_variant { MAAR_TRANSIENT_FIRST, MAAR_TRANSIENT_LATER, MAAR_TRANSIENT_VARIANTS };

/* The barriers and waits of all passes. */
struct maar_transient_records {
    struct maar_transient_record* records[MAAR_TRANSIENT_VARIANTS]; /* by pass */
    struct maar_transient_barrier* barriers;
    uint32_t barrier_count;
    uint32_t barrier_capacity;
    MaarTransientWait* waits;
    uint32_t wait_count;
    uint32_t wait_capacity;
    /* Storage for the results of maarGetTransientPassBarriers. */
    VkMemoryBarrier2 globals[2];
    VkImageMemoryBarrier2* images;
    VkBufferMemoryBarrier2* buffers;
    uint32_t* image_resources;
    uint32_t* buffer_resources;
};

/* One object of one copy. */
struct maar_transient_object {
    uint64_t handle; /* a buffer's or an image's, as bits; 0: none */
    uint64_t generation;
    uint32_t kept_from;       /* resource of the old state, or MAAR_TRANSIENT_NONE */
    bool views_kept;          /* its views were kept, too */
    bool passed_on;           /* a newer state has it now */
    bool views_passed_on;     /* a newer state has its views now */
    bool has_contents;        /* contents of frames before this graph, which are to be kept */
    VkImageLayout old_layout; /* the layout in which those frames left it */
    VkImageView* views;
};

/* The memory of one class and copy. */
struct maar_transient_memory {
    MaarAllocation allocation;
    uint32_t kept_from; /* class of the old state, or MAAR_TRANSIENT_NONE */
    bool passed_on;
};

/* Sums over all resources or all classes of one copy. */
struct maar_transient_sizes {
    VkDeviceSize resources; /* as if each had bytes of its own */
    VkDeviceSize classes;
    VkDeviceSize lazy;      /* classes in lazily allocated memory */
    VkDeviceSize dedicated; /* classes that the plan does not know */
};

/* The state of one graph. */
struct maar_transient_state {
    struct maar_host_stack stack;
    struct maar_transient_graph graph;
    MaarPlan plan;
    uint32_t* plan_indices; /* index of each resource in the plan, or MAAR_TRANSIENT_NONE */
    MaarPlanInfo plan_info;
    uint32_t class_count;
    struct maar_transient_class* classes;
    struct maar_transient_edges edges;
    struct maar_transient_edges wrap_edges;
    struct maar_transient_records records;
    struct maar_transient_sizes sizes;
    VkDeviceSize object_reuse_size;
    uint32_t copy_count;
    struct maar_transient_object* objects;  /* by copy, then resource */
    struct maar_transient_memory* memories; /* by copy, then class */
    uint32_t created_count;
    uint32_t kept_count;
    /* How often the program has asked about each pass of a first frame. */
    uint8_t* asked;
    bool number_reported; /* that the numbers of frames do not rise */
};

/* After so many questions about a pass of a first frame, the program's numbers do not rise. A
 * program may ask a few times, for example once for each eye. */
enum { MAAR_TRANSIENT_MOST_ASKED = 64 };

/* A heap. */
struct maar_transient_heap {
    MaarAllocator allocator;
    uint64_t handle;
    MaarTransientHeapCreateFlags flags;
    uint32_t copy_count;
    MaarAllocationCreateInfo how;
    char* name;
    uint64_t node_limit;
    uint64_t time_limit_ns;
    MaarPlanCache cache;
    bool own_cache;
    bool updated; /* frames of an earlier graph may still be executing */
    uint64_t generation;
    /* Frames of the present graph: */
    bool counting;        /* the program has asked about a frame */
    uint64_t first_frame; /* the number of that frame */
    uint32_t copies_used; /* bits of the copies that the program asked about */
    struct maar_transient_state* state;
};

static inline struct maar_transient_object*
maar_transient_object_at(const struct maar_transient_state* state, uint32_t copy, uint32_t resource)
{
    return &state->objects[(size_t)copy * state->graph.resource_count + resource];
}

static inline struct maar_transient_memory*
maar_transient_memory_at(const struct maar_transient_state* state, uint32_t copy, uint32_t index)
{
    return &state->memories[(size_t)copy * state->class_count + index];
}

/* Finds the heap of a handle, as maar_object_enter does. */
static inline VkResult maar_transient_enter(MaarAllocator allocator, const char* call,
                                            MaarTransientHeap heap,
                                            struct maar_transient_heap** found)
{
    void* object = NULL;
    const VkResult result = maar_object_enter(allocator, call, "heap", MAAR_OBJECT_TRANSIENT_HEAP,
                                              MAAR_TO_BITS(heap), &object);
    *found = object;
    return result;
}

#endif
