/*
 * The moves of the pages of a table: see page_move_list.h.
 */
#include "core/paging/page_move_list.h"

#include "core/paging/page_entry.h"

uint64_t* maar_page_move_entry(const struct maar_page_move* move, uint32_t at)
{
    const uint64_t page = move->first + at;
    struct maar_page_leaf* leaf = move->table->leaves[page / MAAR_LEAF_PAGES];
    return leaf != NULL ? &leaf->entries[page % MAAR_LEAF_PAGES] : NULL;
}

void maar_page_move_link(struct maar_page_move* move)
{
    struct maar_page_table* table = move->table;
    move->previous = NULL;
    move->next = table->moves;
    if (table->moves != NULL) {
        table->moves->previous = move;
    }
    table->moves = move;
}

void maar_page_move_unlink(struct maar_page_move* move)
{
    struct maar_page_table* table = move->table;
    if (move->previous != NULL) {
        move->previous->next = move->next;
    } else {
        table->moves = move->next;
    }
    if (move->next != NULL) {
        move->next->previous = move->previous;
    }
    move->table = NULL;
}

void maar_page_moves_forget(struct maar_page_table* table)
{
    maar_assert_held(&table->paging->lock);
    while (table->moves != NULL) {
        struct maar_page_move* move = table->moves;
        for (uint32_t i = 0; i < move->count; ++i) {
            uint64_t* entry = maar_page_move_entry(move, i);
            if (entry != NULL) {
                maar_page_stop_leaving(table, entry);
            }
        }
        maar_page_move_unlink(move);
    }
}
