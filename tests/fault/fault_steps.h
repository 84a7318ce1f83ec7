/*
 * The calls that are made to fail, at least one step for each public function: what must be there
 * before, the call itself, and how to take it back.
 */
#ifndef MAAR_TESTS_FAULT_FAULT_STEPS_H
#define MAAR_TESTS_FAULT_FAULT_STEPS_H

#include "maar/residency.h"
#include "maar/share.h"
#include "tests/fault/fault_host.h"

enum {
    FAULT_MANY = 3,
    FAULT_PLANES = 3,
    FAULT_UPLOADS = 16,
    FAULT_BUFFER_UPLOADS = 4,
    FAULT_CROWD = 200
};

/* What the steps make and use; zeroed before `prepare`. */
struct fault_context {
    struct rig rig;
    struct fault_host host; /* the allocator's host memory, over the rig's */
    MaarPool pool;
    VkBuffer buffer;
    VkImage image;
    MaarAllocation memory;
    MaarAllocation many[FAULT_MANY];
    MaarAllocation crowd[FAULT_CROWD];
    MaarSlice slice;
    MaarSlice slices[FAULT_CROWD];
    MaarTransientHeap heap;
    MaarPlan plan;
    MaarPlanCache plan_cache;
    MaarMoveBatch batch;
    MaarDefragmentation run;
    VkSemaphore timeline;
    MaarAllocator second;
    MaarRangeAllocator ranges;
    MaarRange range;
    MaarRange range_crowd[FAULT_CROWD];
    MaarPlacementStrategy strategy;
    MaarDeviceRecommendation recommendation;
    char* dump;
    MaarMemoryTypeChoice choice;
    MaarReservation reservation;
    MaarReservation source;
    MaarArray array;
    MaarSparseImage sparse_image;
    MaarTileCache tile_cache;
    MaarTileUpload uploads[FAULT_UPLOADS];
    uint32_t upload_count;
    MaarBufferCache buffer_cache;
    uint64_t buffer_use;
    MaarBufferUpload buffer_uploads[FAULT_BUFFER_UPLOADS];
    uint32_t buffer_upload_count;
    MaarResidency residency;
    MaarResident residents[4];
    MaarUse use;
    VkCommandPool command_pool;
    VkCommandBuffer commands;
    int fd;
    MaarExternalHandle handle;
    MaarExternalHandle copy;
    MaarExportedMemory exported;
    VkSemaphore semaphore;
    uint64_t next_value;
    VkSemaphore imported_semaphore;
    MaarAllocation imported;
    VkBuffer imported_buffer;
    VkImage imported_image;
};

/* Another library that steps call, and whose calls fail too. */
struct fault_peer {
    const char* const* functions; /* those whose failure means anything; ends with NULL */
    const char* entry;            /* one that never fails for good: nothing could be taken back */
    const int* codes;             /* how they fail; ends with 0 */
    /* The nth call from now on, and count - 1 more, fail; none if count is 0. */
    void (*set_fault)(const char* function, uint64_t nth, uint64_t count, int code);
    uint64_t (*calls)(const char* function);
    uint64_t (*alive)(void); /* objects, and whatever else a failing call must leave as it was */
};

struct fault_step {
    const char* function;                           /* the public function in question */
    const char* variant;                            /* NULL, or in what way it is called */
    const char* never;                              /* why it calls nothing that can fail */
    void (*prepare)(struct fault_context* context); /* may be NULL */
    /* Makes the call; checks by itself that outputs are null when it fails. */
    VkResult (*run)(struct fault_context* context);
    /* Takes back a call that succeeded; may be NULL. */
    void (*undo)(struct fault_context* context);
    /* Ends what prepare began; may be NULL. */
    void (*finish)(struct fault_context* context);
    const MaarSimulatedProfile* (*profile)(void);     /* NULL: the discrete one */
    const MaarSimulatedSharingInfo* (*sharing)(void); /* NULL: everything, if it shares */
    const struct fault_peer* peer;                    /* loaded by prepare; may be NULL */
    VkFlags off;
    bool shares;       /* its device does; and descriptors run out too */
    bool keeps_warm;   /* when it fails, what it keeps to submit with may come or go once */
    bool keeps_fds;    /* when it fails it may have got descriptors, but not each time */
    bool paging;       /* with queues; and binds are compared */
    bool session;      /* many calls: what the first ones left warm is not asked for again */
    bool partial;      /* it may get some of its work done before it fails */
    bool maps;         /* and unmaps, but a block that was mapped twice stays mapped */
    bool joins;        /* when it fails, pending ranges may be one, with free bytes beside them */
    bool lost_is_done; /* VK_ERROR_DEVICE_LOST says that everything was freed */
};

struct fault_table {
    const struct fault_step* steps;
    uint32_t count;
};

extern const struct fault_table fault_memory_steps;
extern const struct fault_table fault_object_steps;
extern const struct fault_table fault_later_steps;
extern const struct fault_table fault_move_steps;
extern const struct fault_table fault_page_move_steps;
extern const struct fault_table fault_touch_steps;
extern const struct fault_table fault_watch_steps;
extern const struct fault_table fault_ordered_steps;
extern const struct fault_table fault_plan_steps;
extern const struct fault_table fault_range_steps;
extern const struct fault_table fault_transient_steps;
extern const struct fault_table fault_paging_steps;
extern const struct fault_table fault_tile_steps;
extern const struct fault_table fault_buffer_steps;
extern const struct fault_table fault_resident_steps;
extern const struct fault_table fault_handle_steps;
extern const struct fault_table fault_export_steps;
extern const struct fault_table fault_import_steps;
extern const struct fault_table fault_semaphore_steps;
extern const struct fault_table fault_handoff_steps;
extern const struct fault_table fault_process_steps;
extern const struct fault_table fault_cuda_object_steps;
extern const struct fault_table fault_cuda_memory_steps;
extern const struct fault_table fault_cuda_timeline_steps;
extern const struct fault_table fault_cuda_handoff_steps;
extern const struct fault_table fault_hip_steps;
extern const struct fault_table fault_page_steps;
extern const struct fault_table fault_host_steps;
extern const struct fault_table fault_store_steps;

/* Made by fault_steps_memory.c and used by others. */
void fault_prepare_memory(struct fault_context* context); /* READBACK, may be aliased, named */
void fault_undo_memory(struct fault_context* context);

/* Made by fault_steps_later.c and used by others: a point of the host's, which has not passed. */
extern const MaarPoint fault_host_point;

/* Made by fault_steps_paging.c and used by others: a device with sparse resources of all kinds, and
 * paging that has its timeline and has submitted once. */
const MaarSimulatedProfile* fault_paging_profile(void);
void fault_warm_paging(struct fault_context* context);
#define FAULT_PAGED .paging = true, .profile = fault_paging_profile
/* fault_host_point passes, and what waited for it is collected: all that the device is past. */
void fault_pass_point(struct fault_context* context);
void fault_collect(struct fault_context* context);

#endif
