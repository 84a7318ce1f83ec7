/*
 * What paging can do on a device, and on which queue.
 */
#ifndef MAAR_CORE_PAGING_PAGING_INFO_H
#define MAAR_CORE_PAGING_PAGING_INFO_H

#include "maar/paging.h"

/* Answers maarGetPagingInfo. */
void maar_paging_capabilities(MaarAllocator allocator, MaarPagingInfo* info);
/* Return the index of the allocator's queue that binds, and of the one that copies, or UINT32_MAX.
 * The first queue that Maar has for itself is preferred. */
uint32_t maar_pick_bind_queue(MaarAllocator allocator);
uint32_t maar_pick_copy_queue(MaarAllocator allocator);

#endif
