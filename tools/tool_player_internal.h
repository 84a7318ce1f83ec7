/*
 * What a replay and its verification (tool_player_books.c) share.
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

/* One resource of the trace while it is replayed. */
struct player_entry {
    MaarAllocation allocation; /* null: not alive */
    VkBuffer buffer;
    VkImage image;
    struct tool_place place;
    struct tool_resource_plan* plan; /* kept for copies only */
    enum tool_access access;
    bool booked; /* the book had no complaint when it came */
    struct tool_page_runs runs;
};

struct player {
    struct tool_device* tool;
    const struct support_trace* trace;
    const struct tool_player_options* options;
    struct tool_resource_facts facts;
    MaarAllocator allocator;
    struct tool_sparse* sparse;   /* NULL unless that is the strategy */
    struct tool_gpu* gpu;         /* NULL unless the device verifies */
    struct tool_checker* checker; /* NULL unless verifying */
    struct player_entry* entries;
    pthread_barrier_t barrier; /* threads meet at the peak, when there is a picture */
    struct support_picture* picture;
    size_t picture_event; /* the picture shows what is alive before this event */
    uint64_t clock_ns;    /* what reading the clock twice costs */
    atomic_uint failures;
    atomic_uint fallbacks; /* of the sparse strategy: its pools have one type each */
    atomic_bool broken;
    atomic_uint planted;    /* the resource with the fault, PLAYER_NO_RESOURCE before */
    struct tool_place lure; /* where the planted overlap is taken to lie */
};

/* What one thread counts. */
struct player_thread {
    struct player* player;
    pthread_t thread;
    uint32_t index;
    uint64_t ns, timed_events;
    uint64_t allocations, allocated_bytes, verified_bytes;
    uint64_t real_buffers, real_images, plain_rows, unsupported_rows, leftovers;
    uint64_t progress_ns;
};

/* Says what went wrong and ends the replay; of several complaints the first one counts. */
void player_break_off(struct player* player, const char* what, VkResult result);

/* ---- tool_player_books.c ---- */

/* Where an allocation lies. False when that cannot be told: the replay is broken off then. */
bool player_read_place(struct player* player, MaarAllocation allocation, struct tool_place* place);

/* Makes the book and, where the device executes, its verifier; neither without --verify. */
bool player_set_up_books(struct player* player);

/* An allocation has come: books its place and has the device fill it. */
void player_enter_books(struct player_thread* thread, const struct tool_resource_plan* plan,
                        uint32_t resource);

/* It is about to go: takes it off the book and has the device verify it. False when the replay
 * broke off before. */
bool player_leave_books(struct player_thread* thread, uint32_t resource);

/* What was verified, and what was found. */
void player_close_books(struct player* player, struct tool_outcome* outcome);

#endif
