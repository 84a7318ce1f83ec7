/*
 * Ends allocations that are made of pages. core/memory calls these functions through struct
 * maar_extension.
 */
#ifndef MAAR_CORE_PAGING_PAGE_ALLOCATION_H
#define MAAR_CORE_PAGING_PAGE_ALLOCATION_H

#include "core/memory/allocator_state.h"

/* Implement maar_extension::seal and maar_extension::release_pages. */
bool maar_stitched_seal(MaarAllocator allocator, const struct maar_slot* slot, uint32_t index,
                        MaarPoint* point);
void maar_stitched_release_pages(MaarAllocator allocator, struct maar_block* block);

#endif
