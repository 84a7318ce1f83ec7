/*
 * What core/watch reads of paging. The functions work for allocators that never used paging too.
 */
#ifndef MAAR_CORE_PAGING_PAGING_WATCH_H
#define MAAR_CORE_PAGING_PAGING_WATCH_H

#include <stdbool.h>

#include "maar/allocator.h"

struct maar_block;
struct maar_page_block;

/* A run of pages of a block, in one state. */
struct maar_page_walk {
    MaarAllocator allocator;
    const struct maar_page_block* block;
    uint32_t end; /* page after the run */
    MaarBlockRangeState state;
    VkDeviceSize offset;
    VkDeviceSize size;
};

/* Walk the runs of a page block in order: for (more = begin; more; more = next). The paging lock is
 * held from a begin that returns true until next returns false. The caller holds the lock of the
 * block's arena. */
bool maar_page_walk_begin(MaarAllocator allocator, const struct maar_block* block,
                          struct maar_page_walk* walk);
bool maar_page_walk_next(struct maar_page_walk* walk);
/* Sets the peak of page blocks to their present bytes. */
void maar_paging_reset_peak(MaarAllocator allocator);

#endif
