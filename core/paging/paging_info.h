/*
 * What paging can do on a device, and the queues that it uses.
 */
#ifndef MAAR_CORE_PAGING_PAGING_INFO_H
#define MAAR_CORE_PAGING_PAGING_INFO_H

#include "maar/paging.h"

/* Fills the result of maarGetPagingInfo. */
void maar_paging_capabilities(MaarAllocator allocator, MaarPagingInfo* info);
/* Return the index of the allocator's queue for binds, and for copies, or UINT32_MAX. A queue that
 * only Maar uses is preferred. */
uint32_t maar_pick_bind_queue(MaarAllocator allocator);
uint32_t maar_pick_copy_queue(MaarAllocator allocator);

#endif
