/*
 * The invariants of pages. Each function returns the first broken invariant, or NULL.
 */
#ifndef MAAR_CORE_PAGING_PAGE_CHECK_H
#define MAAR_CORE_PAGING_PAGE_CHECK_H

#include "maar/allocator.h"

struct maar_page_pool;
struct maar_paging;

/* Checks all of paging, also for an allocator that never used it. No lock may be held. */
const char* maar_paging_check(MaarAllocator allocator);
/* Check one page pool, or all page tables, under the paging lock. */
const char* maar_page_pool_check(const struct maar_page_pool* pool);
const char* maar_page_tables_check(struct maar_paging* paging);

#endif
