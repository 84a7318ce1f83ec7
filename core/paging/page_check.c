/*
 * Checks the invariants of pages. Free runs end at the right pages and are listed. Each page is
 * free, or has as many references as entries name it. Every change is recorded. All counts are
 * right.
 *
 * The paging lock is held. The checks walk all structures.
 */
#include "core/paging/page_check.h"

#include "core/paging/page_entry.h"
#include "core/paging/page_move.h"

/* Checks one block: its pages from the first to the last, and its lists. */
static const char* check_page_block(const struct maar_page_block* block, uint64_t* free_pages)
{
    uint32_t used = 0;
    uint32_t live = 0;
    uint32_t runs = 0;
    bool after_free = false;
    for (uint32_t page = 0; page < block->page_count;) {
        const struct maar_page_mark* mark = &block->marks[page];
        if (mark->run == 0) {
            if (mark->refs == 0 || mark->live > mark->refs) {
                return "a page in use has no owner, or more live ones than owners";
            }
            ++used;
            live += mark->live != 0;
            ++page;
            after_free = false;
            continue;
        }
        if (mark->run > block->page_count - page ||
            block->marks[page + mark->run - 1].run != mark->run) {
            return "a run of free pages does not end where it should";
        }
        if (after_free) {
            return "two runs of free pages are adjacent";
        }
        ++runs;
        *free_pages += mark->run;
        page += mark->run;
        after_free = true;
    }
    if (used != block->used_count || live != block->live_count) {
        return "a page block counts its pages wrongly";
    }
    for (uint32_t class = 0; class < MAAR_PAGE_CLASSES; ++class) {
        const bool bit = (block->classes[class / 64] >> (class % 64) & 1) != 0;
        if (bit != (block->heads[class] != MAAR_PAGE_NONE)) {
            return "a page block's bits do not say which lists have runs";
        }
        uint32_t previous = MAAR_PAGE_NONE;
        for (uint32_t run = block->heads[class]; run != MAAR_PAGE_NONE && runs > 0;
             run = block->marks[run].next, --runs) {
            if (block->marks[run].previous != previous ||
                maar_page_class(block->marks[run].run) != class) {
                return "a run of free pages is in a wrong list";
            }
            previous = run;
        }
    }
    return runs != 0 ? "a run of free pages is in no list" : NULL;
}

const char* maar_page_pool_check(const struct maar_page_pool* pool)
{
    uint64_t pages = 0;
    uint64_t free_pages = 0;
    uint64_t unused = 0; /* free pages that serve no request */
    uint32_t empty = 0;
    uint32_t draining = 0;
    uint64_t emptied_from = UINT64_MAX;
    for (uint32_t i = 0; i < pool->block_count; ++i) {
        const struct maar_page_block* block = pool->blocks[i];
        if (block->place != i || block->pool != pool) {
            return "a page block is not where it should be";
        }
        if (pool->longest[i] != (block->drainer == 0 ? maar_page_longest_class(block) : 0)) {
            return "a page block's longest run is not the one noted";
        }
        const char* broken = check_page_block(block, &free_pages);
        if (broken != NULL) {
            return broken;
        }
        if (block->drainer != 0) {
            unused += (uint64_t)(block->page_count - block->used_count) + block->promised;
            ++draining;
        } else if (block->promised != 0 || block->is_emptied) {
            return "a page block that does not drain has pages promised";
        }
        pages += block->page_count;
        empty += block->used_count == 0;
        if (block->used_count == 0 && block->emptied_at < emptied_from) {
            emptied_from = block->emptied_at;
        }
    }
    if (empty > 0 && emptied_from < pool->emptied_from) {
        return "a page pool does not know how long its blocks have been empty";
    }
    if (pages != pool->page_count || free_pages != pool->free_count + unused ||
        empty != pool->empty_count || draining != pool->draining_count) {
        return "a page pool counts its pages wrongly";
    }
    return NULL;
}

static const char* check_entry(const struct maar_page_table* table, uint64_t entry,
                               uint64_t* committed, uint64_t* dirty)
{
    *dirty += (entry & MAAR_ENTRY_DIRTY) != 0;
    if ((entry & MAAR_ENTRY_LEAVING) != 0 &&
        (entry & MAAR_ENTRY_FLAGS) != (MAAR_ENTRY_LEAVING | MAAR_ENTRY_BOUND)) {
        return "a page moves although it was given back";
    }
    if ((entry & MAAR_ENTRY_FRESH) != 0 && !table->committing) {
        return "a page is marked as committed by a call that is over";
    }
    if (!maar_entry_has_page(entry)) {
        return (entry & MAAR_ENTRY_HELD) != 0 ? "a page is held that is none" : NULL;
    }
    const uint64_t number = (entry & MAAR_ENTRY_PAGE) >> MAAR_ENTRY_BLOCK_SHIFT;
    struct maar_page_block* block =
        number <= table->paging->block_end ? maar_entry_block(table, entry) : NULL;
    const uint32_t page = maar_entry_page(entry);
    if (block == NULL || page >= block->page_count || block->marks[page].run != 0) {
        return "a page of a table is free, or in no block";
    }
    if (block->pool->page_size != table->page_size) {
        return "a page of a table has another size";
    }
    /* References of moves were counted before. */
    if (block->marks[page].refs - block->marks[page].seen > 1 && !table->may_alias) {
        return "a page is mapped twice in a table that may not alias";
    }
    if ((entry & MAAR_ENTRY_HELD) == 0) {
        ++*committed;
    } else if ((entry & (MAAR_ENTRY_BOUND | MAAR_ENTRY_INFLIGHT | MAAR_ENTRY_MOVED)) == 0) {
        return "a page is held that the device does not have";
    }
    if (!table->sealed && (entry & (MAAR_ENTRY_DIRTY | MAAR_ENTRY_INFLIGHT)) == 0 &&
        ((entry & MAAR_ENTRY_BOUND) == 0 || (entry & MAAR_ENTRY_HELD) != 0)) {
        return "a page has a change that is not recorded";
    }
    ++block->marks[page].seen;
    return NULL;
}

/* Checks the counts of a leaf, and adds them to those of the table. */
static const char* check_leaf(const struct maar_page_table* table,
                              const struct maar_page_leaf* leaf, uint64_t* committed,
                              uint64_t* away, uint64_t* dirty)
{
    uint64_t live = 0;
    uint64_t far_pages = 0;
    for (uint32_t i = 0; i < maar_leaf_size(table, leaf->number); ++i) {
        const uint64_t before = *dirty;
        const uint64_t entry = leaf->entries[i];
        const char* broken = check_entry(table, entry, &live, dirty);
        if (broken != NULL) {
            return broken;
        }
        if (*dirty != before && !table->sealed && (!leaf->dirty || !table->dirty)) {
            return "a change of a page is in no list";
        }
        far_pages += maar_entry_has_page(entry) && (entry & MAAR_ENTRY_HELD) == 0 &&
                     maar_entry_is_away(table, entry);
    }
    *committed += live;
    *away += far_pages;
    return live != leaf->live || far_pages != leaf->away ? "a leaf counts its pages wrongly" : NULL;
}

static const char* check_table(const struct maar_page_table* table, uint64_t* dirty)
{
    uint64_t committed = 0;
    uint64_t away = 0;
    for (uint64_t number = 0; number < maar_leaf_count(table); ++number) {
        const struct maar_page_leaf* leaf = table->leaves[number];
        const char* broken =
            leaf != NULL ? check_leaf(table, leaf, &committed, &away, dirty) : NULL;
        if (broken != NULL) {
            return broken;
        }
    }
    return committed != table->committed || away != table->away ? "a table counts its pages wrongly"
                                                                : NULL;
}

/* Sets the counts of check_entry to zero, or compares them with the references. */
static const char* check_references(struct maar_paging* paging, bool compare)
{
    for (uint32_t i = 0; i < paging->block_end; ++i) {
        struct maar_page_block* block = paging->blocks[i];
        for (uint32_t page = 0; block != NULL && page < block->page_count; ++page) {
            struct maar_page_mark* mark = &block->marks[page];
            if (mark->run != 0) {
                page += mark->run - 1;
            } else if (!compare) {
                mark->seen = 0;
            } else if (mark->seen != mark->refs) {
                return "a page is not in as many tables as it has references";
            }
        }
    }
    return NULL;
}

/* Counts the references of moves. */
static void see_moves(struct maar_paging* paging)
{
    for (const struct maar_page_moves* moves = paging->moves; moves != NULL; moves = moves->next) {
        for (uint32_t i = 0; i < moves->count; ++i) {
            const struct maar_page_move* move = &moves->moves[i];
            for (uint32_t page = 0; page < move->count; ++page) {
                ++move->from->marks[move->from_first + page].seen;
                ++move->to->marks[move->to_first + page].seen;
            }
        }
    }
}

const char* maar_page_tables_check(struct maar_paging* paging)
{
    uint64_t dirty = 0;
    const char* broken = check_references(paging, false);
    see_moves(paging);
    for (const struct maar_page_table* table = paging->tables; table != NULL && broken == NULL;
         table = table->next) {
        broken = check_table(table, &dirty);
    }
    if (broken == NULL && dirty != paging->recorded_pages) {
        broken = "the changes of pages are counted wrongly";
    }
    return broken != NULL ? broken : check_references(paging, true);
}

const char* maar_paging_check(MaarAllocator allocator)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    if (paging == NULL) {
        return NULL;
    }
    maar_mutex_lock(&paging->lock);
    const char* broken = NULL;
    for (const struct maar_page_pool* pool = paging->pools; pool != NULL && broken == NULL;
         pool = pool->next) {
        broken = maar_page_pool_check(pool);
    }
    if (broken == NULL) {
        broken = maar_page_tables_check(paging);
    }
    maar_mutex_unlock(&paging->lock);
    return broken;
}
