/*
 * The moves of the pages of a table, as the table knows them: a table that ends drops them. For
 * this room alone. Every function is called under the paging lock.
 */
#ifndef MAAR_CORE_PAGING_PAGE_MOVE_LIST_H
#define MAAR_CORE_PAGING_PAGE_MOVE_LIST_H

#include "core/paging/page_block.h"

struct maar_page_table;

/* A run of adjacent pages of a table that moves to adjacent pages. The paging lock guards it. */
struct maar_page_move {
    struct maar_page_table* table; /* NULL: the table has ended, or the move has */
    struct maar_page_move* next;   /* of the same table */
    struct maar_page_move* previous;
    uint64_t first; /* in the table */
    uint32_t count;
    uint32_t from_first;
    uint32_t to_first;
    struct maar_page_block* from;
    struct maar_page_block* to;
};

/* Returns the entry of a page of a move that has not ended, or NULL: a leaf without pages may go.
 */
uint64_t* maar_page_move_entry(const struct maar_page_move* move, uint32_t at);
/* Adds a move to the list of its table. */
void maar_page_move_link(struct maar_page_move* move);
/* Takes a move, which has ended, off the list. */
void maar_page_move_unlink(struct maar_page_move* move);
/* Drops all moves of a table that ends. */
void maar_page_moves_forget(struct maar_page_table* table);

#endif
