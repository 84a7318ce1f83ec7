/*
 * The state of paging, one for each allocator that uses it. For this room alone; paging_open.h
 * makes it.
 *
 * The paging lock guards page pools, tables and what is recorded. It is held neither across a call
 * of the driver nor across a host allocation. One thread at a time submits.
 */
#ifndef MAAR_CORE_PAGING_PAGING_STATE_H
#define MAAR_CORE_PAGING_PAGING_STATE_H

#include <stdbool.h>

#include "core/memory/allocator_state.h"
#include "core/paging/bind_batch.h"
#include "core/paging/copy_queue.h"
#include "core/paging/page_pool.h"
#include "core/paging/paged_object.h"

/* The state. */
struct maar_paging {
    MaarAllocator allocator;
    uint32_t bind_queue; /* index into the allocator's queues; UINT32_MAX for none */
    uint32_t copy_queue;
    VkSemaphore timeline;
    maar_atomic64 space;     /* bytes of address space in use */
    maar_atomic64 submitted; /* the timeline's value of the last submission */
    maar_atomic64 completed; /* the timeline's value when it was last read */
    /* The thread that submits owns these. */
    bool has_bound;  /* a submission to bind_queue was made */
    bool has_copied; /* a submission to copy_queue was made */
    struct maar_bind_batch batch;
    struct maar_copy_queue copies;

    struct maar_mutex lock;        /* guards the members below, all pools and tables */
    struct maar_condition changed; /* signalled when `submitting` of this or of a table, or a
                                      leaving_count, changes */
    bool submitting;               /* a thread submits */
    struct maar_page_pool* pools;
    struct maar_page_block** blocks; /* of all pools, by number; NULL for numbers not in use */
    uint32_t block_capacity;
    uint32_t block_end; /* numbers in use are below this */
    uint32_t block_count;
    uint64_t blocks_made; /* number of blocks ever made */
    struct maar_page_table* tables;
    struct maar_page_cursor* cursors; /* of walks over the tables: see page_drain.h */
    struct maar_page_moves* moves;    /* that have not ended: see page_move.h */
    uint64_t waiting_queues; /* bit i % 64: copies of moves on queue i waited for the timeline */
    uint64_t drain_count;    /* number of runs ever begun that empty blocks */
    struct maar_page_table* first_dirty;
    struct maar_page_table* last_dirty;
    struct maar_paged_object* objects; /* live ones that a program destroys itself */
    MaarPoint delays[MAAR_MAX_POINTS]; /* what the next submission waits for */
    uint32_t delay_count;
    uint64_t recorded_value; /* of the next submission */
    uint64_t recorded_pages;
    uint32_t unsettled; /* pages dropped since the last submission that the device may still have */
    uint64_t counts[MAAR_PAGED_COUNTS];
    uint64_t pages_bound;
    uint64_t pages_unbound;
    uint64_t bind_count;
    uint64_t submission_count;
    VkDeviceSize block_bytes;
    VkDeviceSize peak_block_bytes;
};

/* Returns the state, or NULL while paging is not open. */
static inline struct maar_paging* maar_paging_of(MaarAllocator allocator)
{
    return maar_atomic_pointer_load(&allocator->paging.state);
}

#endif
