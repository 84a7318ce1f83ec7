/*
 * Held pages in the place of free ones: an entry that lacks a page gets the page of an entry that
 * was given back and whose unbinding is recorded but not submitted. The submission unbinds the page
 * there before it binds it here. For this room alone. Every function is called under the paging
 * lock.
 */
#ifndef MAAR_CORE_PAGING_PAGE_REUSE_H
#define MAAR_CORE_PAGING_PAGE_REUSE_H

#include "core/paging/page_entry.h"

/* A walk over the held pages of a pool that may be reused. */
struct maar_held_walk {
    const struct maar_page_pool* pool;
    struct maar_page_table* table;
    struct maar_page_leaf* leaf;
    uint32_t at;
};

/* Begins a walk. It stays valid while entries change and no table gets or loses its last change. */
struct maar_held_walk maar_held_begin(const struct maar_paging* paging,
                                      const struct maar_page_pool* pool);
/* Returns whether a pool has at least `count` held pages that may be reused. */
bool maar_held_has(const struct maar_paging* paging, const struct maar_page_pool* pool,
                   uint64_t count);
/* Moves the next held page of a walk to an entry without a page. maar_held_has has found enough. */
void maar_held_move(struct maar_held_walk* walk, struct maar_page_table* to, uint64_t to_page);

#endif
