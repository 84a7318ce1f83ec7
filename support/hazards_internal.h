/*
 * What the files of the checker of barriers share.
 */
#ifndef MAAR_SUPPORT_HAZARDS_INTERNAL_H
#define MAAR_SUPPORT_HAZARDS_INTERNAL_H

#include <stddef.h>

#include "support/hazards.h"

enum {
    HAZARD_STAGE_BITS = 64,
    HAZARD_MOST_FINDINGS = 64,
    HAZARD_PLACE_SIZE = 64,
    HAZARD_MOST_SIGNALS = 512 /* the oldest is forgotten first */
};
#define HAZARD_NONE UINT32_MAX

/* A stage of no command: changes of layout and of ownership, which "all commands" takes in. */
#define HAZARD_STAGE_BARRIER ((VkPipelineStageFlags2)1 << 63)

/* What comes after an event on one queue, of all that is submitted from now on. */
struct hazard_reach {
    VkPipelineStageFlags2 after;
    VkPipelineStageFlags2 landed;              /* of these, after its writes became available */
    VkAccessFlags2 visible[HAZARD_STAGE_BITS]; /* by stage: accesses that see it */
};

/* One stage's part of an access, or a change of layout. */
struct hazard_event {
    uint64_t serial; /* 0: free */
    uint32_t segment_count;
    uint32_t resource;
    uint32_t queue;
    VkPipelineStageFlags2 stage; /* one bit */
    VkAccessFlags2 writes;       /* the accesses that write */
    bool write;                  /* also changes of layout, which have no access */
    bool available;
    bool pending_available;
    char place[HAZARD_PLACE_SIZE];
    struct hazard_reach* reach;  /* one for each queue */
    struct hazard_reach pending; /* what the barriers of the present call add on their queue */
};

/* Bytes that the same resources have. */
struct hazard_segment {
    uint64_t memory;
    VkDeviceSize low;
    VkDeviceSize high;
    uint32_t owner; /* whose contents it holds, HAZARD_NONE for nobody's */
    bool defined;   /* it was written since its owner got it */
    uint32_t event_count;
    uint32_t event_capacity;
    uint32_t* events;
};

struct hazard_known {
    struct hazard_resource info;
    char name[48];
    bool forgotten;
    VkImageLayout layout;
    uint32_t family; /* HAZARD_NONE: nobody's */
    bool released;   /* on its way to another family */
    uint32_t release_to;
    VkImageLayout release_old;
    VkImageLayout release_new;
};

struct hazard_mark {
    uint32_t event;
    uint64_t serial;
};

struct hazard_signal {
    uint64_t semaphore;
    uint64_t value;
    uint32_t count;
    struct hazard_mark* marks;
};

/* One recorded command. */
struct hazard_command {
    bool is_barrier;
    struct hazard_access access;
    VkDependencyInfo dependency; /* with arrays of its own */
    char place[HAZARD_PLACE_SIZE];
};

struct hazard_recording {
    VkCommandBuffer commands;
    uint32_t count;
    uint32_t capacity;
    struct hazard_command* list;
};

struct hazard_count {
    uint64_t semaphore;
    uint64_t signals;
    uint64_t waits;
};

struct hazards {
    uint32_t queue_count;
    uint32_t* families;
    VkDeviceSize granularity;
    uint64_t serial;
    uint64_t serial_before; /* the last one before the present call of barriers */
    uint64_t pair_count;
    char place[HAZARD_PLACE_SIZE];
    uint32_t resource_count;
    struct hazard_known* resources;
    uint32_t segment_count;
    struct hazard_segment* segments;
    uint32_t event_count;
    struct hazard_event* events;
    uint32_t signal_count;
    struct hazard_signal* signals;
    uint32_t recording_count;
    struct hazard_recording* recordings;
    uint32_t binary_count;
    struct hazard_count* binaries;
    uint32_t finding_count;
    char* findings[HAZARD_MOST_FINDINGS];
};

/* ---- hazards_masks.c ---- */

/* All single stages that a mask stands for, as the source (first) or the destination of a
 * dependency. */
VkPipelineStageFlags2 hazard_stages(VkPipelineStageFlags2 mask, bool first);
VkAccessFlags2 hazard_accesses(VkAccessFlags2 mask);
/* The writing ones, each by itself. */
VkAccessFlags2 hazard_writes(VkAccessFlags2 mask);

/* ---- hazards_bytes.c ---- */

void* hazard_resize(void* memory, size_t count, size_t size);
void hazard_copy_text(char* to, size_t size, const char* text);
/* Divides the memory at the resource's ends. */
void hazard_cover(struct hazards* h, uint32_t resource);
/* How a resource touches a segment: not; by its granules alone; with its bytes. */
enum hazard_touch { HAZARD_APART, HAZARD_GRANULE, HAZARD_BYTES };
enum hazard_touch hazard_touches(const struct hazards* h, uint32_t resource,
                                 const struct hazard_segment* segment);
uint32_t hazard_new_event(struct hazards* h, uint32_t resource, uint32_t queue,
                          VkPipelineStageFlags2 stage, VkAccessFlags2 writes, bool write);
void hazard_list_event(struct hazards* h, struct hazard_segment* segment, uint32_t event);
/* The last entry takes its place. */
void hazard_unlist_event(struct hazards* h, struct hazard_segment* segment, uint32_t at);

/* ---- hazards.c ---- */

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void hazard_report(struct hazards* h, const char* format, ...);

#endif
