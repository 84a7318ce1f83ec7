/*
 * Finds held pages and moves them: see page_reuse.h. All held pages that no submission under way
 * names are in dirty leaves.
 */
#include "core/paging/page_reuse.h"

struct maar_held_walk maar_held_begin(const struct maar_paging* paging,
                                      const struct maar_page_pool* pool)
{
    struct maar_page_table* table = paging->first_dirty;
    return (struct maar_held_walk){
        .pool = pool,
        .table = table,
        .leaf = table != NULL ? table->first_dirty : NULL,
    };
}

/* Whether an entry's page may be reused: it is held by this entry alone, and no submission under
 * way names it. */
static bool may_reuse(const struct maar_held_walk* walk, uint64_t entry)
{
    if ((entry & (MAAR_ENTRY_HELD | MAAR_ENTRY_INFLIGHT)) != MAAR_ENTRY_HELD) {
        return false;
    }
    const struct maar_page_block* block = maar_entry_block(walk->table, entry);
    return block->pool == walk->pool && block->marks[maar_entry_page(entry)].refs == 1;
}

/* Returns the entry of the next page that may be reused, or NULL. */
static uint64_t* next_held(struct maar_held_walk* walk)
{
    while (walk->table != NULL) {
        if (walk->leaf == NULL || walk->table->sealed) {
            walk->table = walk->table->next_dirty;
            walk->leaf = walk->table != NULL ? walk->table->first_dirty : NULL;
            walk->at = 0;
        } else if (walk->at == maar_leaf_size(walk->table, walk->leaf->number)) {
            walk->leaf = walk->leaf->next_dirty;
            walk->at = 0;
        } else if (may_reuse(walk, walk->leaf->entries[walk->at++])) {
            return &walk->leaf->entries[walk->at - 1];
        }
    }
    return NULL;
}

bool maar_held_has(const struct maar_paging* paging, const struct maar_page_pool* pool,
                   uint64_t count)
{
    maar_assert_held(&paging->lock);
    struct maar_held_walk walk = maar_held_begin(paging, pool);
    uint64_t found = 0;
    while (found < count && next_held(&walk) != NULL) {
        ++found;
    }
    return found == count;
}

void maar_held_move(struct maar_held_walk* walk, struct maar_page_table* to, uint64_t to_page)
{
    uint64_t* source = next_held(walk);
    uint64_t* target = maar_page_entry(to, to_page);
    MAAR_DEBUG_ASSERT(source != NULL && !maar_entry_has_page(*target));
    if (source == NULL) {
        return;
    }
    *target |= (*source & MAAR_ENTRY_PAGE) | MAAR_ENTRY_MOVED;
    maar_page_hold(maar_entry_block(to, *target), maar_entry_page(*target), false);
    maar_page_mark_dirty(to, to_page, target);
    maar_page_count(to, maar_page_leaf_of(to, to_page), *target, true);
    *source &= MAAR_ENTRY_FLAGS & ~(MAAR_ENTRY_HELD | MAAR_ENTRY_MOVED);
    if ((*source & MAAR_ENTRY_BOUND) == 0) {
        maar_page_mark_clean(walk->table, source);
    }
}
