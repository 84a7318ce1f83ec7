/*
 * Walks over all page tables: see page_walk.h.
 */
#include "core/paging/page_walk.h"

#include "core/paging/page_entry.h"

void maar_page_cursor_enter(struct maar_page_cursor* cursor, struct maar_page_table* table)
{
    cursor->table = table;
    cursor->leaf = 0;
    cursor->at = 0;
    cursor->is_known = false;
    ++cursor->step;
}

void maar_page_cursor_begin(struct maar_paging* paging, struct maar_page_cursor* cursor)
{
    maar_assert_held(&paging->lock);
    cursor->next = paging->cursors;
    paging->cursors = cursor;
    cursor->is_walking = true;
    maar_page_cursor_enter(cursor, paging->tables);
}

void maar_page_cursor_end(struct maar_paging* paging, struct maar_page_cursor* cursor)
{
    maar_assert_held(&paging->lock);
    if (!cursor->is_walking) {
        return;
    }
    struct maar_page_cursor** link = &paging->cursors;
    while (*link != cursor) {
        link = &(*link)->next;
    }
    *link = cursor->next;
    cursor->is_walking = false;
}

void maar_page_cursors_leave(const struct maar_page_table* table)
{
    maar_assert_held(&table->paging->lock);
    for (struct maar_page_cursor* cursor = table->paging->cursors; cursor != NULL;
         cursor = cursor->next) {
        if (cursor->table == table) {
            maar_page_cursor_enter(cursor, table->next);
        }
    }
}
