/*
 * What the files of transient heaps share: a graph as it was copied, what the driver requires of
 * its resources and where they lie, the barriers of its passes, and the objects.
 *
 * Everything about one graph lives in the stack of a `maar_transient_state`; an update makes a new
 * one beside the old, so that a failure leaves the old one as it was. Externally synchronized.
 */
#ifndef MAAR_CORE_OBJECTS_TRANSIENT_INTERNAL_H
#define MAAR_CORE_OBJECTS_TRANSIENT_INTERNAL_H

#include "core/host_stack.h"
#include "core/memory/memory_internal.h"
#include "maar/transient.h"

/* Not a pass, a resource or a class. */
#define MAAR_TRANSIENT_NONE UINT32_MAX

/* One use of a resource, in the order of the frame. */
struct maar_transient_use {
    uint32_t pass;
    uint32_t group;
    VkImageLayout layout;
    VkPipelineStageFlags2 stages;
    VkAccessFlags2 access;
    VkAccessFlags2 writes; /* of `access` */
    bool first_on_queue;   /* of its group */
    /* Of all uses of its group on its queue. */
    VkPipelineStageFlags2 queue_stages;
    VkAccessFlags2 queue_access;
};

/*
 * Uses that need no order among each other: reads in one layout, owned by one family; or one use
 * that writes. Where a group begins with a change of layout or of owner, its first use makes that
 * change and leads: the others come after it.
 */
struct maar_transient_group {
    uint32_t first;
    uint32_t count;
    uint32_t family;
    VkImageLayout layout;
    bool write;
    bool led;
    bool acquired; /* from the family of the group before */
    bool released; /* to the family of the group behind */
};

struct maar_transient_resource {
    const void* key; /* its create info as bytes */
    size_t key_size;
    const void* view_key;
    size_t view_key_size;
    bool opaque;      /* its create info has a chain that cannot be compared */
    bool view_opaque; /* likewise, of its views */
    bool is_image;
    bool exclusive; /* one queue family owns it at a time */
    bool keep;
    bool no_aliasing;
    bool transient_attachment;
    VkImageAspectFlags aspects;
    uint32_t view_count;
    uint32_t use_count;
    struct maar_transient_use* uses;
    uint32_t group_count;
    struct maar_transient_group* groups;
    const char* name; /* never NULL */
    /* What the driver requires. */
    VkMemoryRequirements requirements;
    MaarResourceKind kind;
    bool needs_dedicated;
    bool lazy;          /* may live in lazily allocated memory, and there is some for it */
    uint32_t type_bits; /* types that its wish allows */
    /* Where it lies. */
    uint32_t class_index;
    VkDeviceSize offset;
};

struct maar_transient_pass {
    uint32_t queue;
    uint32_t position;  /* in its queue */
    uint32_t first_use; /* in maar_transient_graph::pass_uses */
    uint32_t use_count;
    uint32_t first_wait; /* in maar_transient_graph::waits: passes that it is ordered after */
    uint32_t wait_count;
};

/* A use by its pass. */
struct maar_transient_pass_use {
    uint32_t resource;
    uint32_t use;
};

/* A pass of another queue that a pass waits for. */
struct maar_transient_order {
    uint32_t pass;
    bool derived; /* not the program's: from the uses of a resource */
};

struct maar_transient_graph {
    const void* key; /* the whole graph as bytes */
    size_t key_size;
    bool opaque;
    uint32_t queue_count;
    uint32_t* families;
    uint32_t* queue_passes; /* how many passes each queue has */
    uint32_t pass_count;
    struct maar_transient_pass* passes;
    uint32_t* order; /* passes in an order that all others agree with */
    struct maar_transient_order* waits;
    uint32_t wait_count;
    /* For each pass and queue: how many passes of that queue are over when it begins. */
    uint32_t* clocks;
    uint32_t resource_count;
    struct maar_transient_resource* resources;
    struct maar_transient_pass_use* pass_uses;
};

/* What can live in one VkDeviceMemory. */
struct maar_transient_class {
    uint32_t type_bits;
    VkDeviceSize size;
    VkDeviceSize alignment;
    MaarResourceKind kind;
    bool lazy;
    uint32_t dedicated; /* the resource that the driver wants alone, or MAAR_TRANSIENT_NONE */
};

/* Resources whose bytes a resource takes over, as slices of one array. */
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
    bool carries; /* the first of a frame: contents of the graph before an update may be there */
};

/* A global barrier; none while src is 0. */
struct maar_transient_global {
    VkPipelineStageFlags2 src_stages;
    VkAccessFlags2 src_access;
    VkPipelineStageFlags2 dst_stages;
    VkAccessFlags2 dst_access;
};

/* What to do around a pass: images first, then buffers, as slices of arrays of the state. */
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

/* Frames that have no predecessor in their copy, and those that have. */
enum maar_transient_variant { MAAR_TRANSIENT_FIRST, MAAR_TRANSIENT_LATER, MAAR_TRANSIENT_VARIANTS };

struct maar_transient_records {
    struct maar_transient_record* records[MAAR_TRANSIENT_VARIANTS]; /* by pass */
    struct maar_transient_barrier* barriers;
    uint32_t barrier_count;
    uint32_t barrier_capacity;
    MaarTransientWait* waits;
    uint32_t wait_count;
    uint32_t wait_capacity;
    /* Room for what maarGetTransientPassBarriers returns. */
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
    bool views_kept;          /* its views came along */
    bool passed_on;           /* a newer state has it now */
    bool views_passed_on;     /* likewise, its views */
    bool has_contents;        /* of frames before this graph, which are to be kept */
    VkImageLayout old_layout; /* that they left it in */
    VkImageView* views;
};

/* The memory of one class and copy. */
struct maar_transient_memory {
    MaarAllocation allocation;
    uint32_t kept_from; /* class of the old state, or MAAR_TRANSIENT_NONE */
    bool passed_on;
};

struct maar_transient_state {
    struct maar_host_stack stack;
    struct maar_transient_graph graph;
    MaarPlan plan;
    uint32_t* plan_indices; /* of each resource in the plan, or MAAR_TRANSIENT_NONE */
    MaarPlanInfo plan_info;
    uint32_t class_count;
    struct maar_transient_class* classes;
    struct maar_transient_edges edges;
    struct maar_transient_edges wrap_edges;
    struct maar_transient_records records;
    VkDeviceSize object_reuse_size;
    uint32_t copy_count;
    struct maar_transient_object* objects;  /* by copy, then resource */
    struct maar_transient_memory* memories; /* by copy, then class */
    uint32_t created_count;
    uint32_t kept_count;
};

struct maar_transient_heap {
    MaarAllocator allocator;
    MaarTransientHeapCreateFlags flags;
    uint32_t copy_count;
    MaarAllocationCreateInfo how;
    char* name;
    uint64_t node_limit;
    uint64_t time_limit_ns;
    MaarPlanCache cache;
    bool own_cache;
    bool updated; /* frames of an earlier graph may be on their way */
    uint64_t generation;
    /* Frames of the present graph: */
    bool counting;        /* one was asked about */
    uint64_t first_frame; /* its number, from then on */
    uint32_t copies_used; /* by bits: copies that were asked about */
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

static inline uint32_t maar_transient_family(const struct maar_transient_graph* graph,
                                             uint32_t pass)
{
    return graph->families[graph->passes[pass].queue];
}

/* ---- transient_check.c ---- */

/* What messages call a resource or a pass: its index, and its name where it has one. */
struct maar_transient_label {
    char text[104];
};
struct maar_transient_label maar_transient_label_resource(uint32_t index, const char* name);
struct maar_transient_label maar_transient_label_pass(uint32_t index, const char* name);
VkResult maar_transient_check(MaarAllocator allocator, const char* call,
                              const MaarTransientGraph* info);
/* Tells of resources that are read before anything wrote them. */
void maar_transient_warn(MaarAllocator allocator, const char* call, const MaarTransientGraph* info,
                         const struct maar_transient_graph* graph);

/* ---- transient_graph.c ---- */

/* The bits of `access` that write. */
VkAccessFlags2 maar_transient_writes(VkAccessFlags2 access);
/* Copies a graph that was checked. VK_ERROR_OUT_OF_HOST_MEMORY; misuse for a cycle. */
VkResult maar_transient_copy(MaarAllocator allocator, const char* call,
                             const MaarTransientGraph* info, struct maar_host_stack* stack,
                             struct maar_transient_graph* graph);

/* ---- transient_key.c ---- */

/* The graph, its resources' create infos and views as bytes that can be compared. */
void maar_transient_make_keys(struct maar_host_stack* stack, const MaarTransientGraph* info,
                              struct maar_transient_graph* graph);

/* ---- transient_order.c ---- */

/* Sorts passes and uses, makes groups, and orders what the program left without an order. */
VkResult maar_transient_sort(MaarAllocator allocator, const char* call,
                             const MaarTransientGraph* info, struct maar_host_stack* stack,
                             struct maar_transient_graph* graph);
/* Whether a pass is over when another one begins. */
static inline bool maar_transient_precedes(const struct maar_transient_graph* graph,
                                           uint32_t before, uint32_t after)
{
    const struct maar_transient_pass* pass = &graph->passes[before];
    return graph->clocks[(size_t)after * graph->queue_count + pass->queue] > pass->position;
}

/* ---- transient_plan.c ---- */

/* Asks the driver what the resources require, those of an old state excepted that are the same. */
VkResult maar_transient_require(const struct maar_transient_heap* heap,
                                const MaarTransientGraph* info, const uint32_t* previous,
                                struct maar_transient_state* state);
/* Plans, and makes classes and edges of the plan. */
VkResult maar_transient_place(const struct maar_transient_heap* heap, const char* call,
                              const uint32_t* previous, struct maar_transient_state* state);
/* How to allocate for a class or resource that may be lazy. */
MaarAllocationCreateInfo maar_transient_how(const struct maar_transient_heap* heap, bool lazy);

/* ---- transient_reuse.c ---- */

/* Bytes that whole objects would take, each reused for the same create info. */
VkDeviceSize maar_transient_reuse(struct maar_host_stack* stack,
                                  const struct maar_transient_graph* graph);

/* ---- transient_frames.c ---- */

VkResult maar_transient_record(const struct maar_transient_heap* heap,
                               struct maar_transient_state* state);

/* ---- transient_objects.c ---- */

/* Keeps what it can of the old state (NULL: there is none), allocates and creates the rest; undone
 * on failure. */
VkResult maar_transient_make_objects(const struct maar_transient_heap* heap, const char* call,
                                     const MaarTransientGraph* info, const uint32_t* previous,
                                     struct maar_transient_state* state);
void maar_transient_destroy_views(const struct maar_device* device,
                                  const struct maar_transient_resource* resource,
                                  const struct maar_transient_object* object);
void maar_transient_destroy_resource(const struct maar_device* device, bool image, uint64_t handle);
/* Destroys what make_objects created and did not keep. */
void maar_transient_undo_objects(MaarAllocator allocator, struct maar_transient_state* state);

/* ---- transient_retire.c ---- */

/* Ends what a state has and `next` (NULL: none) has not kept, after the points. On failure nothing
 * has happened. */
VkResult maar_transient_retire(MaarAllocator allocator, struct maar_transient_state* state,
                               const struct maar_transient_state* next, uint32_t point_count,
                               const MaarPoint* points);

#endif
