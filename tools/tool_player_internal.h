/*
 * Declarations that a replay and its verification (tool_player_books.c) share.
 */
#ifndef MAAR_TOOL_PLAYER_INTERNAL_H
#define MAAR_TOOL_PLAYER_INTERNAL_H

#include "tool_player.h"

#include "tool_checker.h"
#include "tool_gpu.h"
#include "tool_resource.h"
#include "tool_sparse.h"

#include <pthread.h>

#define PLAYER_NO_RESOURCE UINT32_MAX

/* One resource of the trace during the replay. */
struct player_entry {
    MaarAllocation allocation; /* null: not alive */
    VkBuffer buffer;
    VkImage image;
    struct tool_place place;
    struct tool_resource_plan* plan; /* only for verification by copies */
    enum tool_access access;
    uint64_t bytes; /* that the device demands for it */
    bool booked;    /* the checker accepted it */
    struct tool_page_runs runs;
};

struct player {
    struct tool_device* tool;
    const struct support_trace* trace;
    const struct tool_player_options* options;
    struct tool_resource_facts facts;
    MaarAllocator allocator;
    struct tool_sparse* sparse;   /* NULL with any other strategy */
    struct tool_gpu* gpu;         /* NULL unless the device verifies */
    struct tool_checker* checker; /* NULL unless verifying */
    struct player_entry* entries;
    pthread_barrier_t barrier; /* threads meet at the peak if a picture is drawn */
    struct support_picture* picture;
    size_t picture_event; /* the picture shows the live allocations before this event */
    uint64_t clock_ns;    /* the cost of two readings of the clock */
    atomic_uint_fast64_t live_bytes, peak_live_bytes; /* what the device demands, unrounded */
    atomic_uint failures;
    atomic_uint
        fallbacks; /* fallbacks of the sparse strategy, each of whose pools has one memory type */
    atomic_bool broken;
    atomic_uint planted;    /* the resource with the planted fault, or PLAYER_NO_RESOURCE */
    struct tool_place lure; /* the place of the planted overlap */
};

/* The counters of one thread. */
struct player_thread {
    struct player* player;
    pthread_t thread;
    uint32_t index;
    uint64_t ns, timed_events;
    uint64_t allocations, allocated_bytes, verified_bytes;
    uint64_t real_buffers, real_images, plain_rows, unsupported_rows, skipped_rows, leftovers;
    uint64_t progress_ns;
};

/* Prints an error and ends the replay. Only the first call has an effect. */
void player_break_off(struct player* player, const char* what, VkResult result);

/* ---- tool_player_books.c ---- */

/* Finds the place of an allocation. On failure breaks the replay off and returns false. */
bool player_read_place(struct player* player, MaarAllocation allocation, struct tool_place* place);

/* Creates the checker and, on a device that executes commands, the verifier. Creates neither
 * without
 * --verify. */
bool player_set_up_books(struct player* player);

/* Adds a new allocation to the checker and fills it on the device. */
void player_enter_books(struct player_thread* thread, const struct tool_resource_plan* plan,
                        uint32_t resource);

/* Removes an allocation that is about to be freed from the checker and verifies it on the device.
 * Returns false if the replay had been broken off. */
bool player_leave_books(struct player_thread* thread, uint32_t resource);

/* Fills in the results of the verification. */
void player_close_books(struct player* player, struct tool_outcome* outcome);

#endif
