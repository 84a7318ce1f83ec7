/*
 * The copied graph of a heap: passes, resources, their uses, and the groups of uses that barriers
 * lie between. One host stack has everything.
 */
#ifndef MAAR_CORE_TRANSIENT_TRANSIENT_GRAPH_H
#define MAAR_CORE_TRANSIENT_TRANSIENT_GRAPH_H

#include <stdbool.h>
#include <string.h>

#include "core/host_stack.h"
#include "maar/transient.h"

/* Stands for no pass, resource or class. */
#define MAAR_TRANSIENT_NONE UINT32_MAX

/* One use of a resource, in the order of the frame. */
struct maar_transient_use {
    uint32_t pass;
    uint32_t group;
    VkImageLayout layout;
    VkPipelineStageFlags2 stages;
    VkAccessFlags2 access;
    VkAccessFlags2 writes; /* of `access` */
    bool first_on_queue;   /* the first use of its group on its queue */
    /* The sums over all uses of the group on the queue. */
    VkPipelineStageFlags2 queue_stages;
    VkAccessFlags2 queue_access;
};

/*
 * Uses that need no order among each other: reads in one layout, owned by one family; or one use
 * that writes. Where a group begins with a change of layout or of owner, its first use makes that
 * change and leads the group: the others come after it.
 */
struct maar_transient_group {
    uint32_t first;
    uint32_t count;
    uint32_t family;
    VkImageLayout layout;
    bool write;
    bool led;
    bool acquired; /* from the family of the group before */
    bool released; /* to the family of the next group */
};

/* A resource of the graph. */
struct maar_transient_resource {
    const void* key; /* its create info as bytes */
    size_t key_size;
    const void* view_key;
    size_t view_key_size;
    bool opaque;      /* its create info has a chain that cannot be compared */
    bool view_opaque; /* the create infos of its views have one */
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
    /* The driver's requirements. */
    VkMemoryRequirements requirements;
    MaarResourceKind kind;
    bool needs_dedicated;
    bool lazy; /* may be in lazily allocated memory, and the device has such memory for it */
    uint32_t type_bits;      /* memory types that the heap's create info allows */
    uint32_t best_type_bits; /* of these, the types that are as good as the preferred type */
    /* The place of the resource. */
    uint32_t class_index;
    VkDeviceSize offset;
};

/* A pass of the graph. */
struct maar_transient_pass {
    uint32_t queue;
    uint32_t position;  /* in its queue */
    uint32_t first_use; /* in maar_transient_graph::pass_uses */
    uint32_t use_count;
    uint32_t first_wait; /* in maar_transient_graph::waits: passes that it is ordered after */
    uint32_t wait_count;
};

/* A use in the list of a pass's uses. */
struct maar_transient_pass_use {
    uint32_t resource;
    uint32_t use;
};

/* A pass of another queue that a pass waits for. */
struct maar_transient_order {
    uint32_t pass;
    bool derived; /* follows from the uses of a resource, not from the program's dependencies */
};

/* The graph. */
struct maar_transient_graph {
    const void* key; /* the whole graph as bytes */
    size_t key_size;
    bool opaque;
    uint32_t queue_count;
    uint32_t* families;
    uint32_t* queue_passes; /* how many passes each queue has */
    uint32_t pass_count;
    struct maar_transient_pass* passes;
    uint32_t* order; /* passes in an order that agrees with all queues and dependencies */
    struct maar_transient_order* waits;
    uint32_t wait_count;
    /* For each pass and queue: how many passes of that queue have ended when it begins. */
    uint32_t* clocks;
    uint32_t resource_count;
    struct maar_transient_resource* resources;
    struct maar_transient_pass_use* pass_uses;
};

/* Returns the queue family of a pass. */
static inline uint32_t maar_transient_family(const struct maar_transient_graph* graph,
                                             uint32_t pass)
{
    return graph->families[graph->passes[pass].queue];
}

/* Whether two resources have the same create info, as far as create infos can be compared. */
static inline bool maar_transient_same_key(const struct maar_transient_resource* a,
                                           const struct maar_transient_resource* b)
{
    return !a->opaque && !b->opaque && a->key_size == b->key_size &&
           memcmp(a->key, b->key, a->key_size) == 0;
}

/* ---- transient_graph.c ---- */

/* Returns the bits of `access` that write. */
VkAccessFlags2 maar_transient_writes(VkAccessFlags2 access);
/* Copies a graph that was checked. Its passes and uses have no order yet. */
VkResult maar_transient_copy(const MaarTransientGraph* info, struct maar_host_stack* stack,
                             struct maar_transient_graph* graph);

/* ---- transient_graph_key.c ---- */

/* Writes the graph, its resources' create infos and views as bytes that can be compared. */
void maar_transient_make_keys(struct maar_host_stack* stack, const MaarTransientGraph* info,
                              struct maar_transient_graph* graph);

#endif
