/*
 * The sparse strategy of a replay: one stitching pool for each memory type in use, a record of the
 * page runs, regular submissions of binds, and the sum of bytes for the results. Internally
 * synchronized.
 */
#ifndef MAAR_TOOL_SPARSE_H
#define MAAR_TOOL_SPARSE_H

#include "tool_checker.h"
#include "tool_player.h"

struct tool_sparse;

/* The pages of an allocation at its creation. */
struct tool_page_runs {
    uint32_t count; /* 0: the allocation is not made of pages */
    MaarPageRun* runs;
    uint32_t* nodes;      /* in the checker, or NULL */
    VkDeviceSize counted; /* its bytes in the page-rounded sum */
};

/* Returns whether a device, as opened, can stitch. */
bool tool_sparse_is_possible(const struct tool_device* tool);

struct tool_sparse* tool_sparse_create(MaarAllocator allocator);
/* Destroys the pools, in which nothing may be alive. `sparse` may be NULL. */
void tool_sparse_destroy(struct tool_sparse* sparse);

/* Returns the pool of a memory type. The first call for a type creates its pool. */
VkResult tool_sparse_pool(struct tool_sparse* sparse, uint32_t type, MaarPool* pool);

/* Submits the recorded binds: the first function always, the second when enough events have
 * passed. */
VkResult tool_sparse_submit(struct tool_sparse* sparse, MaarPoint* point);
VkResult tool_sparse_note_event(struct tool_sparse* sparse, bool is_frame);

/* Reads an allocation's page runs and adds the allocation to the sum. Returns false when out of
 * memory. */
bool tool_sparse_enter(struct tool_sparse* sparse, MaarAllocation allocation,
                       struct tool_page_runs* out);
/* Returns whether an allocation still has the same pages. */
bool tool_sparse_is_unmoved(struct tool_sparse* sparse, MaarAllocation allocation,
                            const struct tool_page_runs* runs);
/* Removes an allocation from the sum and frees the list of its runs. */
void tool_sparse_leave(struct tool_sparse* sparse, struct tool_page_runs* runs);

/* Returns the bytes of a page block; 0 when no block has the number. Slow. */
VkDeviceSize tool_sparse_block_size(struct tool_sparse* sparse, uint64_t block_id);

/* Fills in the results about pages. */
void tool_sparse_report(struct tool_sparse* sparse, struct tool_outcome* outcome);

#endif
