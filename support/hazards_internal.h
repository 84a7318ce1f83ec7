/*
 * Declarations that the files of the checker of barriers share.
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

/* The stage of changes of layout and ownership. No command has it, but "all commands"
 * includes it. */
#define HAZARD_STAGE_BARRIER ((VkPipelineStageFlags2)1 << 63)

/* The later submitted work of one queue that is ordered after an event. */
struct hazard_reach {
    VkPipelineStageFlags2 after;
    VkPipelineStageFlags2 landed; /* part of `after`: those after its writes became available */
    VkAccessFlags2
        visible[HAZARD_STAGE_BITS]; /* for each stage: the accesses that see its writes */
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
    struct hazard_reach pending; /* the additions of the present call's barriers on their queue */
};

/* A range of bytes that belong to the same resources. */
struct hazard_segment {
    uint64_t memory;
    VkDeviceSize low;
    VkDeviceSize high;
    uint32_t owner; /* the resource whose contents it holds, or HAZARD_NONE */
    bool defined;   /* written since its owner took it over */
    uint32_t event_count;
    uint32_t event_capacity;
    uint32_t* events;
};

struct hazard_known {
    struct hazard_resource info;
    char name[48];
    bool forgotten;
    VkImageLayout layout;
    uint32_t family; /* HAZARD_NONE: no owner */
    bool released;   /* released to another family and not yet acquired */
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
    VkDependencyInfo dependency; /* with its own copies of the arrays */
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
    uint64_t serial_before; /* the last serial before the present call of barriers */
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

/* Returns all single stages of a mask, as the source (first) or the destination of a dependency. */
VkPipelineStageFlags2 hazard_stages(VkPipelineStageFlags2 mask, bool first);
VkAccessFlags2 hazard_accesses(VkAccessFlags2 mask);
/* Returns the single writing accesses of a mask. */
VkAccessFlags2 hazard_writes(VkAccessFlags2 mask);

/* ---- hazards_bytes.c ---- */

void* hazard_resize(void* memory, size_t count, size_t size);
void hazard_copy_text(char* to, size_t size, const char* text);
/* Divides the memory at both ends of the resource. */
void hazard_cover(struct hazards* h, uint32_t resource);
/* The ways in which a resource touches a segment: not at all, only by its granules, or with its
 * bytes. */
enum hazard_touch { HAZARD_APART, HAZARD_GRANULE, HAZARD_BYTES };
enum hazard_touch hazard_touches(const struct hazards* h, uint32_t resource,
                                 const struct hazard_segment* segment);
uint32_t hazard_new_event(struct hazards* h, uint32_t resource, uint32_t queue,
                          VkPipelineStageFlags2 stage, VkAccessFlags2 writes, bool write);
void hazard_list_event(struct hazards* h, struct hazard_segment* segment, uint32_t event);
/* Removes an event. The last entry of the list takes its place. */
void hazard_unlist_event(struct hazards* h, struct hazard_segment* segment, uint32_t at);

/* ---- hazards.c ---- */

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void hazard_report(struct hazards* h, const char* format, ...);

#endif
