/*
 * Walks over all page tables that stop in between: a table that ends meanwhile leaves the walks, so
 * that they go on with the next one. For this room alone. Every function is called under the paging
 * lock.
 */
#ifndef MAAR_CORE_PAGING_PAGE_WALK_H
#define MAAR_CORE_PAGING_PAGE_WALK_H

#include <stdbool.h>
#include <stdint.h>

struct maar_page_table;
struct maar_paging;

/* Where a walk over all tables is. */
struct maar_page_cursor {
    struct maar_page_cursor* next; /* of all walks */
    bool is_walking;
    struct maar_page_table* table; /* NULL at the end */
    uint64_t leaf;
    uint32_t at;   /* in the leaf */
    uint64_t step; /* grows with each table that the walk enters */
    bool is_known; /* `may_move` is that of the table */
    bool may_move;
};

/* Begins a walk at the first table. */
void maar_page_cursor_begin(struct maar_paging* paging, struct maar_page_cursor* cursor);
/* Goes on to a table, which is the next one; NULL at the end. */
void maar_page_cursor_enter(struct maar_page_cursor* cursor, struct maar_page_table* table);
/* Ends a walk, if one is under way. */
void maar_page_cursor_end(struct maar_paging* paging, struct maar_page_cursor* cursor);
/* Makes all walks leave a table that ends. */
void maar_page_cursors_leave(const struct maar_page_table* table);

#endif
