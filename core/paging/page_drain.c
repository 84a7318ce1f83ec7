/*
 * Empties page blocks: see page_drain.h.
 */
#include "core/paging/page_drain.h"

#include "core/memory/slot_home.h"
#include "core/paging/page_entry.h"
#include "core/paging/page_pool.h"
#include "core/paging/paging_state.h"

enum {
    /* Leaves that are read under one lock, and places for leaves that do not exist: a few
     * microseconds each. */
    LEAVES_AT_A_TIME = 4,
    PLACES_AT_A_TIME = 4096,
    /* Blocks that are looked at under one lock. */
    PAGE_LOOKS_AT_A_TIME = 64,
    /* Pages that are added to a batch under one lock. */
    PAGES_A_PART = 128,
    /* Most pages that move as one run. */
    MOST_RUN = 64
};

/* ---- walks ---- */

void maar_page_drain_stop(struct maar_page_drain* drain)
{
    maar_mutex_lock(&drain->paging->lock);
    maar_page_cursor_end(drain->paging, &drain->cursor);
    maar_mutex_unlock(&drain->paging->lock);
}

/* Asks the program whether the pages of a table may move. Called under the paging lock, which it
 * releases meanwhile. */
static void ask_about_table(struct maar_page_drain* drain)
{
    struct maar_paging* paging = drain->paging;
    MaarAllocator allocator = paging->allocator;
    struct maar_page_cursor* cursor = &drain->cursor;
    const uint64_t step = cursor->step;
    const uint64_t allocation = cursor->table->allocation;
    void* user_data = cursor->table->memory.pUserData;
    uint32_t index = 0;
    maar_mutex_unlock(&paging->lock);
    maar_lock_rank_expect_none();
    const struct maar_slot* slot =
        allocation != 0 ? maar_slot_resolve(&allocator->slots, allocation, &index) : NULL;
    if (slot != NULL) {
        user_data = maar_slot_user_data(slot, index);
    }
    const bool may = drain->may_move(drain->user_data, MAAR_FROM_BITS(MaarAllocation, allocation),
                                     user_data) != VK_FALSE;
    maar_mutex_lock(&paging->lock);
    if (cursor->step == step) {
        cursor->is_known = true;
        cursor->may_move = may;
    }
}

/* Whether the pages of the table where a walk is can move: those of buffers. The contents of images
 * with optimal tiling cannot be moved as bytes. */
static bool is_table_movable(const struct maar_page_drain* drain)
{
    const struct maar_page_table* table = drain->cursor.table;
    return table->target == MAAR_PAGES_BUFFER && !table->mapped && !table->sealed &&
           table->committed > 0 && maar_page_table_owner(table) == drain->owner;
}

/* Finds the next leaf of a table whose pages may move. Returns NULL at the end, or when enough
 * places have been looked at. */
static struct maar_page_leaf* find_leaf(struct maar_page_drain* drain, uint32_t* places)
{
    struct maar_page_cursor* cursor = &drain->cursor;
    while (cursor->table != NULL && *places > 0) {
        --*places;
        if (!is_table_movable(drain) || cursor->leaf == maar_leaf_count(cursor->table) ||
            (cursor->is_known && !cursor->may_move)) {
            maar_page_cursor_enter(cursor, cursor->table->next);
        } else if (!cursor->is_known && drain->may_move != NULL) {
            ask_about_table(drain);
        } else if (cursor->table->leaves[cursor->leaf] == NULL) {
            ++cursor->leaf;
        } else {
            return cursor->table->leaves[cursor->leaf];
        }
    }
    return NULL;
}

/* Locks for a part of a walk, which may be the first. */
static void begin_part(struct maar_page_drain* drain)
{
    maar_mutex_lock(&drain->paging->lock);
    if (!drain->cursor.is_walking) {
        maar_page_cursor_begin(drain->paging, &drain->cursor);
    }
}

/* Unlocks. Returns whether the walk is at its end. */
static bool end_part(struct maar_page_drain* drain)
{
    const bool is_end = drain->cursor.table == NULL;
    if (is_end) {
        maar_page_cursor_end(drain->paging, &drain->cursor);
    }
    maar_mutex_unlock(&drain->paging->lock);
    return is_end;
}

/* ---- the survey ---- */

void maar_page_drain_begin(struct maar_page_drain* drain, struct maar_paging* paging)
{
    drain->paging = paging;
    maar_mutex_lock(&paging->lock);
    drain->number = ++paging->drain_count;
    maar_mutex_unlock(&paging->lock);
}

static void survey_leaf(const struct maar_page_drain* drain, const struct maar_page_leaf* leaf)
{
    const struct maar_page_table* table = drain->cursor.table;
    const uint32_t size = maar_leaf_size(table, leaf->number);
    for (uint32_t i = 0; i < size; ++i) {
        if (!maar_entry_is_movable(table, leaf->entries[i])) {
            continue;
        }
        struct maar_page_block* block = maar_entry_block(table, leaf->entries[i]);
        if (block->surveyor != drain->number) {
            block->surveyor = drain->number;
            block->movable = 0;
        }
        ++block->movable;
    }
}

bool maar_page_drain_survey(struct maar_page_drain* drain)
{
    struct maar_page_cursor* cursor = &drain->cursor;
    uint32_t places = PLACES_AT_A_TIME;
    begin_part(drain);
    for (uint32_t i = 0; i < LEAVES_AT_A_TIME; ++i) {
        const struct maar_page_leaf* leaf = find_leaf(drain, &places);
        if (leaf == NULL) {
            break;
        }
        survey_leaf(drain, leaf);
        ++cursor->leaf;
    }
    return end_part(drain);
}

/* ---- the choice ---- */

static bool takes_pool_part(const struct maar_page_drain* drain, const struct maar_page_pool* pool)
{
    return pool->owner == drain->owner &&
           (drain->owner != NULL || (drain->type_bits >> pool->type_index & 1u) != 0);
}

/* Whether all pages of a block can move. An empty one has none; a growing pool needs it. */
static bool can_page_block_drain(const struct maar_page_drain* drain,
                                 const struct maar_page_block* block)
{
    const uint32_t movable = block->surveyor == drain->number ? block->movable : 0;
    return block->drainer == 0 && block->pool->growing_count == 0 && movable >= block->live_count;
}

uint32_t maar_page_drain_look(struct maar_page_drain* drain, uint32_t from, uint32_t capacity,
                              struct maar_page_candidate* candidates, uint32_t* count)
{
    struct maar_paging* paging = drain->paging;
    uint32_t at = from;
    *count = 0;
    maar_mutex_lock(&paging->lock);
    for (; at < paging->block_end && at - from < PAGE_LOOKS_AT_A_TIME && *count < capacity; ++at) {
        const struct maar_page_block* block = paging->blocks[at];
        if (block != NULL && takes_pool_part(drain, block->pool) &&
            can_page_block_drain(drain, block)) {
            candidates[(*count)++] = (struct maar_page_candidate){
                .number = at,
                .age = block->age,
                .live = block->live_count,
                .page_size = block->pool->page_size,
                .size = block->page_count * block->pool->page_size,
            };
        }
    }
    const bool is_end = at >= paging->block_end;
    maar_mutex_unlock(&paging->lock);
    return is_end ? UINT32_MAX : at;
}

/* Returns a block, or NULL if it has left. Called under the paging lock. */
static struct maar_page_block* find_page_block(const struct maar_page_drain* drain, uint32_t number,
                                               uint64_t age)
{
    const struct maar_paging* paging = drain->paging;
    maar_assert_held(&paging->lock);
    struct maar_page_block* block = number < paging->block_end ? paging->blocks[number] : NULL;
    return block != NULL && block->age == age ? block : NULL;
}

bool maar_page_drain_choose(struct maar_page_drain* drain, uint32_t number, uint64_t age,
                            uint32_t live)
{
    maar_mutex_lock(&drain->paging->lock);
    struct maar_page_block* block = find_page_block(drain, number, age);
    /* More live pages than were counted may be ones that cannot move. */
    const bool drains = block != NULL && can_page_block_drain(drain, block) &&
                        block->live_count <= live &&
                        block->pool->free_count >=
                            (uint64_t)(block->page_count - block->used_count) + block->live_count;
    if (drains) {
        maar_page_block_drain(block, drain->number);
    }
    maar_mutex_unlock(&drain->paging->lock);
    return drains;
}

/* ---- the moves ---- */

/* Returns a block that drains for this run, or NULL. Called under the paging lock. */
static struct maar_page_block* find_drained(const struct maar_page_drain* drain, uint32_t number,
                                            uint64_t age)
{
    struct maar_page_block* block = find_page_block(drain, number, age);
    return block != NULL && block->drainer == drain->number ? block : NULL;
}

void maar_page_drain_enter(struct maar_page_drain* drain, uint32_t number, uint64_t age)
{
    maar_mutex_lock(&drain->paging->lock);
    struct maar_page_block* block = find_drained(drain, number, age);
    if (block != NULL) {
        block->is_emptied = true;
    }
    maar_mutex_unlock(&drain->paging->lock);
}

/* Whether a page can move, and its block is one of those that were entered. */
static bool is_collected(const struct maar_page_drain* drain, uint64_t entry)
{
    const struct maar_page_table* table = drain->cursor.table;
    return maar_entry_is_movable(table, entry) &&
           maar_entry_block(table, entry)->drainer == drain->number &&
           maar_entry_block(table, entry)->is_emptied;
}

/* Adds pages of a leaf to a batch. Returns whether the walk may leave the leaf. */
static bool collect_leaf(struct maar_page_drain* drain, const struct maar_page_leaf* leaf,
                         struct maar_page_moves* moves, uint64_t most)
{
    struct maar_page_cursor* cursor = &drain->cursor;
    struct maar_page_table* table = cursor->table;
    const uint32_t size = maar_leaf_size(table, leaf->number);
    while (cursor->at < size) {
        const uint64_t entry = leaf->entries[cursor->at];
        if (!is_collected(drain, entry)) {
            ++cursor->at;
            continue;
        }
        const uint64_t left = most - moves->page_count;
        if (left == 0) {
            return false;
        }
        uint32_t count = 1;
        while (count < MOST_RUN && count < left && cursor->at + count < size &&
               (leaf->entries[cursor->at + count] & MAAR_ENTRY_PAGE) ==
                   (entry & MAAR_ENTRY_PAGE) + count &&
               is_collected(drain, leaf->entries[cursor->at + count])) {
            ++count;
        }
        const uint64_t first = (uint64_t)leaf->number * MAAR_LEAF_PAGES + cursor->at;
        const uint32_t added = maar_page_moves_add(moves, table, first, count);
        if (added == 0 && moves->count == moves->capacity) {
            return false;
        }
        cursor->at += added != 0 ? added : 1;
    }
    cursor->at = 0;
    return true;
}

bool maar_page_drain_collect(struct maar_page_drain* drain, struct maar_page_moves* moves,
                             uint64_t most)
{
    struct maar_page_cursor* cursor = &drain->cursor;
    uint32_t places = PLACES_AT_A_TIME;
    const uint64_t part = moves->page_count + PAGES_A_PART;
    begin_part(drain);
    for (uint32_t i = 0; i < LEAVES_AT_A_TIME; ++i) {
        const struct maar_page_leaf* leaf = find_leaf(drain, &places);
        if (leaf == NULL || !collect_leaf(drain, leaf, moves, part < most ? part : most)) {
            break;
        }
        ++cursor->leaf;
    }
    return end_part(drain);
}

bool maar_page_drain_leave(struct maar_page_drain* drain, uint32_t number, uint64_t age)
{
    maar_mutex_lock(&drain->paging->lock);
    struct maar_page_block* block = find_drained(drain, number, age);
    const bool leaves = block != NULL && block->live_count == block->moving_count;
    if (block != NULL) {
        block->is_emptied = false;
        maar_page_block_unpromise(block);
    }
    if (block != NULL && !leaves) {
        maar_page_block_revive(block);
    }
    maar_mutex_unlock(&drain->paging->lock);
    return leaves;
}

void maar_page_drain_revive(struct maar_page_drain* drain, uint32_t number, uint64_t age)
{
    maar_mutex_lock(&drain->paging->lock);
    struct maar_page_block* block = find_drained(drain, number, age);
    if (block != NULL) {
        maar_page_block_revive(block);
    }
    maar_mutex_unlock(&drain->paging->lock);
}

void maar_page_drain_count(const struct maar_page_drain* drain, uint32_t* count, uint64_t* bytes)
{
    *count = 0;
    *bytes = 0;
    maar_mutex_lock(&drain->paging->lock);
    for (const struct maar_page_pool* pool = drain->paging->pools; pool != NULL;
         pool = pool->next) {
        if (takes_pool_part(drain, pool)) {
            *count += pool->drained_count;
            *bytes += pool->drained_bytes;
        }
    }
    maar_mutex_unlock(&drain->paging->lock);
}
