/*
 * Batches of moves: see move_batch.h.
 */
#include "core/move/move_batch.h"

#include "core/memory/allocation_handle.h"
#include "core/memory/allocator_state.h"
#include "core/memory/mapping.h"
#include "core/memory/object_handle.h"
#include "core/memory/ordered_reuse.h"
#include "core/memory/pool.h"
#include "core/move/drain_run.h"
#include "core/move/move_copy.h"
#include "core/move/move_index.h"
#include "core/move/moved_object.h"
#include "core/paging/page_move.h"

/* ---- the state of the room ---- */

static void destroy_moves(MaarAllocator allocator, void* state)
{
    const struct maar_device* device = &allocator->device;
    struct maar_moves* moves = state;
    for (uint32_t i = 0; i < allocator->queue_count; ++i) {
        struct maar_move_timeline* timeline = maar_atomic_pointer_load(&moves->timelines[i]);
        if (timeline != NULL) {
            device->vkDestroySemaphore(device->handle, timeline->semaphore, device->callbacks);
            maar_host_free(allocator->callbacks, timeline);
        }
    }
    maar_host_free(allocator->callbacks, moves);
}

/* Whether a move of a batch has its bytes, old or new, in a pool. */
static bool is_in_pool(const struct maar_move_batch* batch, const struct maar_pool* pool)
{
    bool is_in = maar_page_moves_are_of(batch->pages, pool);
    for (uint32_t i = 0; i < batch->count && !is_in; ++i) {
        const struct maar_move* move = &batch->moves[i];
        is_in =
            maar_slot_block(batch->allocator, maar_move_slot(batch->allocator, move))->pool ==
                pool ||
            maar_slot_block(batch->allocator, maar_move_twin(batch->allocator, move))->pool == pool;
    }
    return is_in;
}

/* Takes a batch that concerns a pool, or any batch if pool is NULL, off the list. Returns NULL if
 * there is none. */
static struct maar_move_batch* take_batch_of(MaarAllocator allocator, struct maar_moves* moves,
                                             const struct maar_pool* pool)
{
    maar_mutex_lock(&allocator->list_lock);
    struct maar_move_batch* batch = moves->first;
    while (batch != NULL && ((pool != NULL && !is_in_pool(batch, pool)) ||
                             !maar_object_close_held(allocator, batch->handle))) {
        batch = batch->next;
    }
    maar_mutex_unlock(&allocator->list_lock);
    return batch;
}

/* Ends the batches of a pool, or all batches, before the pool or the allocator ends. */
static void end_batches(MaarAllocator allocator, struct maar_pool* pool, enum maar_end_step step)
{
    struct maar_moves* moves = maar_atomic_pointer_load(&allocator->moving.state);
    if (step != MAAR_END_RECORDED) {
        return;
    }
    maar_drain_end_runs(allocator, pool);
    for (;;) {
        struct maar_move_batch* batch = take_batch_of(allocator, moves, pool);
        if (batch == NULL) {
            return;
        }
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_LEAK, NULL,
                    "leak: a batch of %u moves was neither committed nor canceled before its %s "
                    "was destroyed",
                    batch->pages != NULL ? (uint32_t)batch->pages->page_count : batch->count,
                    pool != NULL ? "pool" : "allocator");
        /* The program says with the destruction that the device uses the memory no longer. */
        (void)maar_move_batch_end(batch, false, 0, NULL, NULL);
    }
}

struct maar_moves* maar_moves_open(MaarAllocator allocator)
{
    struct maar_moves* moves = maar_atomic_pointer_load(&allocator->moving.state);
    if (moves != NULL) {
        return moves;
    }
    struct maar_moves* made = maar_host_calloc(
        allocator->callbacks, 1, sizeof *made + allocator->queue_count * sizeof made->timelines[0]);
    if (made == NULL) {
        return NULL;
    }
    maar_mutex_lock(&allocator->list_lock);
    moves = maar_atomic_pointer_load(&allocator->moving.state);
    if (moves == NULL) {
        allocator->moving.destroy = destroy_moves;
        allocator->moving.end_pool = end_batches;
        maar_atomic_pointer_store(&allocator->moving.state, made);
        moves = made;
        made = NULL;
    }
    maar_mutex_unlock(&allocator->list_lock);
    maar_host_free(allocator->callbacks, made);
    return moves;
}

/* ---- batches ---- */

VkResult maar_move_batch_enter(MaarAllocator allocator, const char* call, MaarMoveBatch batch,
                               struct maar_move_batch** own)
{
    void* object = NULL;
    const VkResult result = maar_object_enter(allocator, call, "batch", MAAR_OBJECT_MOVE_BATCH,
                                              MAAR_TO_BITS(batch), &object);
    *own = object;
    return result;
}

VkResult maar_move_batch_enter_list(MaarAllocator allocator, const char* call, MaarMoveBatch batch,
                                    const uint32_t* count, struct maar_move_batch** own)
{
    const VkResult result = maar_move_batch_enter(allocator, call, batch, own);
    return result == VK_SUCCESS && count == NULL
               ? maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, call, "pCount is NULL")
               : result;
}

VkResult maar_move_batch_open(struct maar_move_batch* batch)
{
    MaarAllocator allocator = batch->allocator;
    struct maar_moves* moves = maar_atomic_pointer_load(&allocator->moving.state);
    for (uint32_t i = 0; i < batch->count; ++i) {
        maar_move_index_add(batch, i);
    }
    const VkResult result =
        maar_object_open(allocator, MAAR_OBJECT_MOVE_BATCH, batch, &batch->handle);
    if (result != VK_SUCCESS) {
        return result;
    }
    maar_mutex_lock(&allocator->list_lock);
    batch->next = moves->first;
    if (batch->next != NULL) {
        batch->next->previous = batch;
    }
    moves->first = batch;
    maar_mutex_unlock(&allocator->list_lock);
    return VK_SUCCESS;
}

struct maar_move_batch* maar_move_batch_make(MaarAllocator allocator, uint32_t count)
{
    const size_t index_size = maar_move_index_size(count);
    const size_t size = count * sizeof(struct maar_move);
    struct maar_move_batch* batch = NULL;
    if (index_size != 0 && size / sizeof(struct maar_move) == count &&
        size < SIZE_MAX / 2 - index_size) {
        batch = maar_host_calloc(allocator->callbacks, 1, sizeof *batch + size + index_size);
    }
    if (batch != NULL) {
        batch->allocator = allocator;
        batch->count = count;
        maar_move_index_begin(batch, (uint32_t*)&batch->moves[count]);
    }
    return batch;
}

/* Takes a batch off the list. */
static void unlist_moves(struct maar_move_batch* batch)
{
    MaarAllocator allocator = batch->allocator;
    struct maar_moves* moves = maar_atomic_pointer_load(&allocator->moving.state);
    maar_mutex_lock(&allocator->list_lock);
    if (batch->previous != NULL) {
        batch->previous->next = batch->next;
    } else {
        moves->first = batch->next;
    }
    if (batch->next != NULL) {
        batch->next->previous = batch->previous;
    }
    maar_mutex_unlock(&allocator->list_lock);
}

MaarMoveObstacle maar_slot_obstacle(MaarAllocator allocator, const struct maar_slot* slot,
                                    uint64_t handle)
{
    const struct maar_block* block = maar_slot_enter(allocator, slot);
    MaarMoveObstacle obstacle = MAAR_MOVE_OBSTACLE_NONE;
    if (maar_key_read(&slot->key) != handle >> 32) {
        obstacle = MAAR_MOVE_OBSTACLE_FREED;
    } else if (slot->stitched || block->table != NULL) {
        obstacle = MAAR_MOVE_OBSTACLE_PAGES;
    } else if (maar_slot_has(slot, MAAR_SLOT_INTERNAL)) {
        obstacle = MAAR_MOVE_OBSTACLE_OWNED;
    } else if (block->shared_types != 0 || block->imported) {
        obstacle = MAAR_MOVE_OBSTACLE_SHARED;
    } else {
        obstacle = maar_slot_owner_obstacle(allocator, slot);
    }
    if (obstacle == MAAR_MOVE_OBSTACLE_NONE && maar_ordered_holds(allocator, slot)) {
        obstacle = MAAR_MOVE_OBSTACLE_PENDING;
    }
    maar_mutex_unlock(&maar_block_arena(block)->lock);
    return obstacle;
}

MaarMoveObstacle maar_move_obstacle(MaarAllocator allocator, const struct maar_move* move)
{
    struct maar_slot* slot = maar_move_slot(allocator, move);
    if (maar_key_read(&slot->key) != move->handle >> 32) {
        return MAAR_MOVE_OBSTACLE_FREED;
    }
    if (move->is_dropped) {
        return MAAR_MOVE_OBSTACLE_DROPPED;
    }
    return maar_slot_is_mapped(allocator, slot, move->handle) ? MAAR_MOVE_OBSTACLE_MAPPED
                                                              : MAAR_MOVE_OBSTACLE_NONE;
}

/* ---- the end of a batch ---- */

/* Settles an allocation that was freed while it moved, when its points have passed. */
static void settle_later(MaarAllocator allocator, const struct maar_retire_item* item)
{
    maar_slot_settle(allocator, (uint32_t)item->object);
}

/* The items of a batch: two for each move, one for its twin and one for an allocation that was
 * freed meanwhile, and one for what the device copies with. */
struct batch_items {
    uint32_t count;
    struct maar_retire_item* items[];
};

static void discard_items(MaarAllocator allocator, struct batch_items* items)
{
    for (uint32_t i = 0; items != NULL && i < items->count; ++i) {
        if (items->items[i] != NULL) {
            maar_retire_discard(&allocator->retire, items->items[i]);
        }
    }
    maar_host_free(allocator->callbacks, items);
}

/* Makes the items, so that nothing can fail later. Returns NULL if host memory is short. */
static struct batch_items* prepare_items(MaarAllocator allocator, uint32_t count,
                                         uint32_t point_count, const MaarPoint* points)
{
    struct batch_items* items = maar_host_calloc(
        allocator->callbacks, 1, sizeof *items + (size_t)count * sizeof items->items[0]);
    bool is_complete = items != NULL;
    for (uint32_t i = 0; i < count && is_complete; ++i) {
        items->items[i] = maar_retire_prepare(&allocator->retire, point_count, points);
        items->count = i + 1;
        is_complete = items->items[i] != NULL;
    }
    if (!is_complete) {
        discard_items(allocator, items);
        return NULL;
    }
    return items;
}

/* Takes an item out of the array and queues it. */
static void queue_item(MaarAllocator allocator, struct maar_retire_item** item)
{
    maar_retire_queue(&allocator->retire, *item);
    *item = NULL;
}

/* Ends the twin of a move and the object that is bound to it, now or after the points of its item.
 */
static void end_twin(MaarAllocator allocator, const struct maar_move* move,
                     struct maar_retire_item** item)
{
    const uint32_t twin = move->twin;
    if (item == NULL) {
        if (move->object != NULL) {
            maar_moved_object_destroy(allocator, move->object);
        }
        maar_twin_end(allocator, twin);
        return;
    }
    if (move->object != NULL) {
        maar_moved_object_retire(move->object, *item);
    }
    (*item)->pool =
        &maar_slot_block(allocator, maar_slot_at(&allocator->slots, twin))->pool->pending;
    (*item)->range = twin;
    queue_item(allocator, item);
}

/* Settles an allocation that was freed, now or after the points of its item. */
static void settle_freed(MaarAllocator allocator, uint32_t index, struct maar_retire_item** item)
{
    if (item == NULL) {
        maar_slot_settle(allocator, index);
        return;
    }
    (*item)->pool =
        &maar_slot_block(allocator, maar_slot_at(&allocator->slots, index))->pool->pending;
    (*item)->action = settle_later;
    (*item)->object = index;
    queue_item(allocator, item);
}

/* Ends the move of an allocation. Returns MAAR_MOVE_MAPPED for one that stays for any reason. */
static enum maar_move_end end_move(MaarAllocator allocator, const struct maar_move* move,
                                   bool commits)
{
    if (move->object != NULL) {
        return maar_moved_object_end_move(allocator, move, commits);
    }
    if (commits && !move->is_dropped) {
        return maar_slot_end_move(allocator, move->handle, move->twin);
    }
    return maar_slot_abandon_move(maar_move_slot(allocator, move), move->handle) ? MAAR_MOVE_MAPPED
                                                                                 : MAAR_MOVE_FREED;
}

/* Ends what the program has left of its mappings of a twin. */
static void end_twin_mappings(MaarAllocator allocator, const struct maar_move* move)
{
    struct maar_slot* twin = maar_move_twin(allocator, move);
    while (twin->map_count > 0 && maar_slot_unmap(allocator, twin, 0)) {
    }
}

/* Ends all moves. items: NULL if there are no points. Returns how many allocations have changed
 * homes. */
static uint32_t end_moves(struct maar_move_batch* batch, bool commits, struct batch_items* items)
{
    MaarAllocator allocator = batch->allocator;
    uint32_t moved = 0;
    for (uint32_t i = 0; i < batch->count; ++i) {
        const struct maar_move* move = &batch->moves[i];
        struct maar_retire_item** own = items != NULL ? &items->items[2 * i] : NULL;
        end_twin_mappings(allocator, move);
        const enum maar_move_end end = end_move(allocator, move, commits);
        moved += end == MAAR_MOVE_DONE ? 1u : 0u;
        if (end == MAAR_MOVE_FREED) {
            settle_freed(allocator, (uint32_t)move->handle - 1u, own != NULL ? own + 1 : NULL);
        }
        end_twin(allocator, move, own);
    }
    return moved;
}

VkResult maar_move_batch_end(struct maar_move_batch* batch, bool commits, uint32_t point_count,
                             const MaarPoint* points, uint32_t* moved)
{
    MaarAllocator allocator = batch->allocator;
    MaarPoint all[MAAR_MAX_POINTS + 1];
    struct batch_items* items = NULL;
    MAAR_DEBUG_ASSERT(point_count <= MAAR_MAX_POINTS);
    for (uint32_t i = 0; i < point_count; ++i) {
        all[i] = points[i];
    }
    if (batch->is_submitted) {
        all[point_count++] = batch->copied;
    }
    if (point_count > 0) {
        items = prepare_items(allocator, 2 * batch->count + 1, point_count, all);
        if (items == NULL) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    if (batch->pages != NULL) {
        const VkResult result = maar_page_moves_prepare(batch->pages, commits, point_count, all);
        if (result != VK_SUCCESS) {
            discard_items(allocator, items);
            return result;
        }
    }
    unlist_moves(batch);
    uint32_t count = end_moves(batch, commits, items);
    if (batch->pages != NULL) {
        count += maar_page_moves_end(batch->pages, commits);
    }
    if (moved != NULL) {
        *moved = count;
    }
    if (batch->copies != NULL && items != NULL) {
        struct maar_retire_item** last = &items->items[items->count - 1];
        maar_move_copies_retire(batch->copies, *last);
        queue_item(allocator, last);
    } else {
        maar_move_copies_destroy(allocator, batch->copies);
    }
    discard_items(allocator, items);
    maar_host_free(allocator->callbacks, batch);
    return VK_SUCCESS;
}
