/*
 * Moves of pages: see page_move.h.
 */
#include "core/paging/page_move.h"

#include <stdio.h>

#include "core/memory/block.h"
#include "core/memory/pool.h"
#include "core/memory/slot_home.h"
#include "core/paging/page_entry.h"
#include "core/paging/page_pool.h"
#include "core/paging/paging_state.h"
#include "core/paging/paging_timeline.h"
#include "core/time/retire_collect.h"

enum {
    /* Pages whose entries change, or whose references end, under one lock: a few microseconds. */
    PAGES_AT_A_TIME = 128
};

/* ---- making ---- */

struct maar_page_moves* maar_page_moves_make(struct maar_paging* paging, struct maar_pool* owner,
                                             uint32_t capacity)
{
    struct maar_page_moves* moves = maar_host_calloc(
        paging->allocator->callbacks, 1, sizeof *moves + (size_t)capacity * sizeof moves->moves[0]);
    if (moves == NULL) {
        return NULL;
    }
    moves->paging = paging;
    moves->owner = owner;
    moves->capacity = capacity;
    maar_mutex_lock(&paging->lock);
    moves->next = paging->moves;
    if (moves->next != NULL) {
        moves->next->previous = moves;
    }
    paging->moves = moves;
    maar_mutex_unlock(&paging->lock);
    return moves;
}

/* Takes a batch off the list of all batches. */
static void unlist_page_moves(struct maar_page_moves* moves)
{
    struct maar_paging* paging = moves->paging;
    maar_assert_held(&paging->lock);
    if (moves->previous != NULL) {
        moves->previous->next = moves->next;
    } else {
        paging->moves = moves->next;
    }
    if (moves->next != NULL) {
        moves->next->previous = moves->previous;
    }
    moves->next = NULL;
    moves->previous = NULL;
}

/* Adds the move of adjacent pages to free pages of a pool, which has some. The batch has room.
 * Returns how many pages it could add. */
static uint32_t add_one_run(struct maar_page_moves* moves, struct maar_page_table* table,
                            uint64_t first, uint32_t count, struct maar_page_pool* pool)
{
    const uint64_t entry = *maar_page_entry(table, first);
    struct maar_page_block* from = maar_entry_block(table, entry);
    struct maar_page_move* move = &moves->moves[moves->count++];
    *move = (struct maar_page_move){
        .table = table,
        .first = first,
        .from = from,
        .from_first = maar_entry_page(entry),
    };
    move->count = maar_page_pool_take(pool, count, &move->to, &move->to_first);
    for (uint32_t i = 0; i < move->count; ++i) {
        maar_page_hold(move->to, move->to_first + i, true);
        *maar_page_entry(table, move->first + i) |= MAAR_ENTRY_LEAVING;
    }
    maar_page_keep(from, move->from_first, move->count);
    from->moving_count += move->count;
    maar_page_move_link(move);
    moves->page_count += move->count;
    moves->bytes += move->count * pool->page_size;
    moves->ready_value = maar_atomic64_load(&moves->paging->submitted);
    return move->count;
}

uint32_t maar_page_moves_add(struct maar_page_moves* moves, struct maar_page_table* table,
                             uint64_t first, uint32_t count)
{
    struct maar_page_block* from = maar_entry_block(table, *maar_page_entry(table, first));
    struct maar_page_pool* pool = from->pool;
    uint32_t done = 0;
    maar_assert_held(pool->lock);
    while (done < count && moves->count < moves->capacity && from->promised > 0) {
        const uint32_t wanted = count - done < from->promised ? count - done : from->promised;
        from->promised -= wanted;
        pool->free_count += wanted;
        const uint32_t added = add_one_run(moves, table, first + done, wanted, pool);
        from->promised += wanted - added;
        pool->free_count -= wanted - added;
        done += added;
    }
    return done;
}

uint32_t maar_page_moves_add_to(struct maar_page_moves* moves, struct maar_page_table* table,
                                uint64_t first, uint32_t count, struct maar_page_pool* pool)
{
    uint32_t done = 0;
    maar_assert_held(pool->lock);
    while (done < count && moves->count < moves->capacity && pool->free_count > 0) {
        const uint32_t wanted =
            count - done < pool->free_count ? count - done : (uint32_t)pool->free_count;
        done += add_one_run(moves, table, first + done, wanted, pool);
    }
    return done;
}

/* ---- questions ---- */

bool maar_page_moves_wait_point(const struct maar_page_moves* moves, MaarPoint* point)
{
    struct maar_paging* paging = moves->paging;
    maar_paging_look(paging);
    *point = maar_paging_point(paging->allocator, moves->ready_value);
    return maar_atomic64_load(&paging->completed) < moves->ready_value;
}

void maar_page_moves_note_wait(const struct maar_page_moves* moves, uint32_t queue)
{
    struct maar_paging* paging = moves->paging;
    maar_mutex_lock(&paging->lock);
    paging->waiting_queues |= (uint64_t)1 << (queue % 64);
    maar_mutex_unlock(&paging->lock);
}

bool maar_page_moves_read(const struct maar_page_moves* moves, uint32_t at,
                          struct maar_page_places* places)
{
    const struct maar_page_move* move = &moves->moves[at];
    maar_mutex_lock(&moves->paging->lock);
    const bool is_there = move->table != NULL;
    const VkDeviceSize page_size = move->from->pool->page_size;
    *places = (struct maar_page_places){
        .from = move->from->block->memory,
        .to = move->to->block->memory,
        .from_size = move->from->block->size,
        .to_size = move->to->block->size,
        .from_type = move->from->pool->type_index,
        .to_type = move->to->pool->type_index,
        .from_offset = move->from_first * page_size,
        .to_offset = move->to_first * page_size,
        .size = move->count * page_size,
    };
    maar_mutex_unlock(&moves->paging->lock);
    return is_there;
}

/* Whether the entry of a page still has it, and alone. Called under the paging lock. */
static bool may_rebind(const struct maar_page_move* move, uint32_t at)
{
    const struct maar_page_mark* mark = &move->from->marks[move->from_first + at];
    const uint64_t* entry = maar_page_move_entry(move, at);
    return entry != NULL && (*entry & MAAR_ENTRY_LEAVING) != 0 && mark->live == 1 &&
           mark->refs == 2;
}

void maar_page_moves_describe(const struct maar_page_moves* moves, uint32_t at, MaarPageMove* out)
{
    const struct maar_page_move* move = &moves->moves[at];
    struct maar_page_places places;
    (void)maar_page_moves_read(moves, at, &places);
    out->allocation = VK_NULL_HANDLE;
    out->buffer = VK_NULL_HANDLE;
    out->pUserData = NULL;
    out->obstacle = MAAR_MOVE_OBSTACLE_FREED;
    out->offset = 0;
    out->size = places.size;
    out->sourceMemory = places.from;
    out->sourceOffset = places.from_offset;
    out->targetMemory = places.to;
    out->targetOffset = places.to_offset;
    maar_mutex_lock(&moves->paging->lock);
    const struct maar_page_table* table = move->table;
    if (table != NULL) {
        const VkDeviceSize rest = table->size - move->first * table->page_size;
        out->allocation = MAAR_FROM_BITS(MaarAllocation, table->allocation);
        out->buffer = table->buffer;
        out->pUserData = table->memory.pUserData;
        out->offset = move->first * table->page_size;
        out->size = places.size < rest ? places.size : rest;
    }
    for (uint32_t i = 0; table != NULL && i < move->count; ++i) {
        if (may_rebind(move, i)) {
            out->obstacle = MAAR_MOVE_OBSTACLE_NONE;
            break;
        }
    }
    maar_mutex_unlock(&moves->paging->lock);
    uint32_t index = 0;
    const struct maar_slot* slot = out->allocation != VK_NULL_HANDLE
                                       ? maar_slot_resolve(&moves->paging->allocator->slots,
                                                           MAAR_TO_BITS(out->allocation), &index)
                                       : NULL;
    if (slot != NULL) {
        out->pUserData = maar_slot_user_data(slot, index);
    }
}

bool maar_page_moves_are_of(const struct maar_page_moves* moves, const struct maar_pool* pool)
{
    return moves != NULL && (moves->owner == pool || moves->spill_owner == pool);
}

/* ---- the end ---- */

/* Counts pages that are about to change under the paging lock. Lets other threads have the lock
 * once in a while, and counts from 0 then. */
static uint32_t count_changed_pages(struct maar_paging* paging, uint32_t pages, uint32_t more)
{
    maar_assert_held(&paging->lock);
    if (pages > 0 && pages + more > PAGES_AT_A_TIME) {
        maar_mutex_unlock(&paging->lock);
        maar_mutex_lock(&paging->lock);
        pages = 0;
    }
    return pages + more;
}

/* Ends the references of a batch and frees it. */
static void end_references(struct maar_page_moves* moves)
{
    struct maar_paging* paging = moves->paging;
    MaarAllocator allocator = paging->allocator;
    maar_mutex_lock(&paging->lock);
    uint32_t pages = 0;
    for (uint32_t i = 0; i < moves->count; ++i) {
        struct maar_page_move* move = &moves->moves[i];
        pages = count_changed_pages(paging, pages, move->count);
        maar_page_drop(move->from, move->from_first, move->count, false);
        maar_page_drop(move->to, move->to_first, move->count, false);
        move->count = 0;
    }
    unlist_page_moves(moves);
    maar_mutex_unlock(&paging->lock);
    maar_host_free(allocator->callbacks, moves);
}

/* Ends a batch, and gives back the blocks that it has emptied. */
static void finish_moves(struct maar_page_moves* moves)
{
    struct maar_paging* paging = moves->paging;
    end_references(moves);
    (void)maar_page_pools_release(paging, NULL, UINT32_MAX, true);
}

static void finish_retired(MaarAllocator allocator, const struct maar_retire_item* item)
{
    (void)allocator;
    finish_moves((struct maar_page_moves*)(uintptr_t)item->object);
}

static void describe_page_moves(const struct maar_retire_item* item, char* text, size_t size)
{
    const struct maar_page_moves* moves = (const struct maar_page_moves*)(uintptr_t)item->object;
    (void)snprintf(text, size, "%llu pages that were moved", (unsigned long long)moves->page_count);
}

VkResult maar_page_moves_prepare(struct maar_page_moves* moves, bool commits, uint32_t point_count,
                                 const MaarPoint* points)
{
    MaarAllocator allocator = moves->paging->allocator;
    if (!commits && point_count == 0) {
        return VK_SUCCESS;
    }
    struct maar_retire_item* item =
        maar_retire_prepare(&allocator->retire, MAAR_MAX_POINTS + 1, NULL);
    if (item == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (commits && !maar_paging_delay(moves->paging, point_count, points)) {
        maar_retire_discard(&allocator->retire, item);
        return VK_ERROR_TOO_MANY_OBJECTS;
    }
    maar_retire_set_points(item, point_count, points);
    item->action = finish_retired;
    item->describe = describe_page_moves;
    item->pool = maar_pool_pending(moves->owner);
    item->object = (uint64_t)(uintptr_t)moves;
    moves->item = item;
    return VK_SUCCESS;
}

/* Gives the entry of a page the new page. Called under the paging lock. */
static void rebind_page(const struct maar_page_move* move, uint32_t at)
{
    struct maar_page_table* table = move->table;
    uint64_t* entry = maar_page_entry(table, move->first + at);
    const uint64_t page =
        ((uint64_t)move->to->number + 1) << MAAR_ENTRY_BLOCK_SHIFT | (move->to_first + at);
    MAAR_DEBUG_ASSERT((*entry & MAAR_ENTRY_FLAGS) == (MAAR_ENTRY_LEAVING | MAAR_ENTRY_BOUND));
    maar_page_stop_leaving(table, entry);
    /* The batch's reference to the new page becomes the entry's, and the other way round. */
    maar_page_keep(move->to, move->to_first + at, 1);
    maar_page_hold(move->to, move->to_first + at, false);
    maar_page_drop(move->from, move->from_first + at, 1, true);
    struct maar_page_leaf* leaf = maar_page_leaf_of(table, move->first + at);
    maar_page_count(table, leaf, *entry, false);
    *entry = (*entry & MAAR_ENTRY_FLAGS) | page | MAAR_ENTRY_REBOUND;
    maar_page_count(table, leaf, *entry, true);
    maar_page_mark_dirty(table, move->first + at, entry);
}

/* Ends a move of a table that has not ended. Returns how many entries have got new pages. Called
 * under the paging lock. */
static uint32_t end_page_move(struct maar_page_move* move, bool commits)
{
    uint32_t rebound = 0;
    for (uint32_t i = 0; i < move->count; ++i) {
        uint64_t* entry = maar_page_move_entry(move, i);
        if (commits && may_rebind(move, i)) {
            rebind_page(move, i);
            ++rebound;
        } else if (entry != NULL) {
            maar_page_stop_leaving(move->table, entry);
        }
    }
    maar_page_move_unlink(move);
    return rebound;
}

/* Queues the item of a batch, or runs it if it has no point. */
static void end_item(struct maar_page_moves* moves)
{
    MaarAllocator allocator = moves->paging->allocator;
    if (moves->item == NULL) {
        finish_moves(moves);
    } else if (moves->item->point_count == 0) {
        maar_retire_run(&allocator->retire, moves->item);
    } else {
        maar_retire_queue(&allocator->retire, moves->item);
    }
}

/* Returns whether all that was recorded has been submitted. Called under the paging lock. */
static bool is_all_submitted(const struct maar_paging* paging)
{
    return !paging->submitting && paging->first_dirty == NULL;
}

uint32_t maar_page_moves_end(struct maar_page_moves* moves, bool commits)
{
    struct maar_paging* paging = moves->paging;
    uint32_t pages = 0;
    uint32_t rebound = 0;
    maar_mutex_lock(&paging->lock);
    for (uint32_t i = 0; i < moves->count; ++i) {
        struct maar_page_move* move = &moves->moves[i];
        pages = count_changed_pages(paging, pages, move->count);
        if (move->table != NULL) {
            rebound += end_page_move(move, commits);
        }
        if (!commits) {
            maar_page_block_revive(move->from);
        }
    }
    moves->is_recorded = rebound > 0 && !is_all_submitted(paging);
    const bool is_recorded = moves->is_recorded;
    maar_mutex_unlock(&paging->lock);
    if (rebound > 0 && !is_recorded) {
        /* A submission has taken the changes meanwhile. */
        maar_retire_set_points(moves->item, 0, NULL);
        maar_retire_add_point(
            moves->item,
            maar_paging_point(paging->allocator, maar_atomic64_load(&paging->submitted)));
    }
    if (!is_recorded) {
        end_item(moves);
    }
    return rebound;
}

void maar_page_moves_discard(struct maar_page_moves* moves)
{
    struct maar_paging* paging = moves->paging;
    maar_mutex_lock(&paging->lock);
    for (uint32_t i = 0; i < moves->count; ++i) {
        if (moves->moves[i].table != NULL) {
            (void)end_page_move(&moves->moves[i], false);
        }
        maar_page_block_revive(moves->moves[i].from);
    }
    maar_mutex_unlock(&paging->lock);
    end_references(moves);
}

/* ---- for tables and submissions ---- */

void maar_page_moves_take(struct maar_paging* paging)
{
    maar_assert_held(&paging->lock);
    for (struct maar_page_moves* moves = paging->moves; moves != NULL; moves = moves->next) {
        moves->is_taken = moves->is_recorded;
    }
}

struct maar_page_moves* maar_page_moves_resolve(struct maar_paging* paging, bool succeeded)
{
    const bool is_all = paging->first_dirty == NULL;
    struct maar_page_moves* ended = NULL;
    maar_assert_held(&paging->lock);
    for (struct maar_page_moves* moves = paging->moves; moves != NULL; moves = moves->next) {
        if (succeeded && moves->is_recorded && (moves->is_taken || is_all)) {
            moves->is_recorded = false;
            moves->next_ended = ended;
            ended = moves;
        }
        moves->is_taken = false;
    }
    return ended;
}

struct maar_page_moves* maar_page_moves_leave(struct maar_paging* paging,
                                              const struct maar_pool* owner)
{
    struct maar_page_moves* ended = NULL;
    maar_assert_held(&paging->lock);
    for (struct maar_page_moves* moves = paging->moves; moves != NULL; moves = moves->next) {
        if (moves->is_recorded &&
            (owner == NULL || moves->owner == owner || moves->spill_owner == owner)) {
            moves->is_recorded = false;
            moves->next_ended = ended;
            ended = moves;
        }
    }
    return ended;
}

void maar_page_moves_retire(MaarAllocator allocator, struct maar_page_moves* moves, uint64_t value)
{
    while (moves != NULL) {
        struct maar_page_moves* next = moves->next_ended;
        /* The submission has waited for the points of the commit. */
        maar_retire_set_points(moves->item, 0, NULL);
        maar_retire_add_point(moves->item, maar_paging_point(allocator, value));
        maar_retire_queue(&allocator->retire, moves->item);
        moves = next;
    }
}

void maar_page_moves_drop(struct maar_page_moves* moves)
{
    while (moves != NULL) {
        struct maar_page_moves* next = moves->next_ended;
        maar_retire_discard(&moves->paging->allocator->retire, moves->item);
        end_references(moves);
        moves = next;
    }
}
