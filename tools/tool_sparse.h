/*
 * The sparse strategy of a replay: one pool that stitches for each memory type that is needed, the
 * book of page runs, binds submitted now and then, and the bytes that it is to be measured by.
 * Internally synchronized.
 */
#ifndef MAAR_TOOL_SPARSE_H
#define MAAR_TOOL_SPARSE_H

#include "tool_checker.h"
#include "tool_player.h"

struct tool_sparse;

/* Pages of one allocation, as they were when it came. */
struct tool_page_runs {
    uint32_t count; /* 0: not made of pages */
    MaarPageRun* runs;
    uint32_t* nodes;      /* in the book, or NULL */
    VkDeviceSize counted; /* bytes that it counts in the page-rounded sum */
};

/* Whether a device can stitch, as it was opened. */
bool tool_sparse_is_possible(const struct tool_device* tool);

struct tool_sparse* tool_sparse_create(MaarAllocator allocator);
/* Destroys its pools; nothing may live in them. Safe with NULL. */
void tool_sparse_destroy(struct tool_sparse* sparse);

/* The pool of a type, made when it is first asked for. */
VkResult tool_sparse_pool(struct tool_sparse* sparse, uint32_t type, MaarPool* pool);

/* Submits what is recorded: always, or when it is time after one event more. */
VkResult tool_sparse_submit(struct tool_sparse* sparse, MaarPoint* point);
VkResult tool_sparse_note_event(struct tool_sparse* sparse, bool is_frame);

/* Reads an allocation's runs and counts it; false when out of memory. */
bool tool_sparse_enter(struct tool_sparse* sparse, MaarAllocation allocation,
                       struct tool_page_runs* out);
/* The same pages are still there. */
bool tool_sparse_is_unmoved(struct tool_sparse* sparse, MaarAllocation allocation,
                            const struct tool_page_runs* runs);
/* Not counted any more; frees what it holds. */
void tool_sparse_leave(struct tool_sparse* sparse, struct tool_page_runs* runs);

/* Bytes of a page block; 0 when there is none of that number. Slow. */
VkDeviceSize tool_sparse_block_size(struct tool_sparse* sparse, uint64_t block_id);

/* Fills what the outcome says of pages. */
void tool_sparse_report(struct tool_sparse* sparse, struct tool_outcome* outcome);

#endif
