/*
 * Decides which blocks move to another arena: see arena_adopt.h.
 */
#include "core/memory/arena_adopt.h"

#include "core/memory/pool.h"
#include "core/memory/slot_home.h"

/* An arena is not in use if its own threads have placed nothing in it while other threads have
 * asked for its blocks this number of times. */
enum { IDLE_FROM = 4 };

/* Counts how often the arena is found as it was. Its own threads may still free there. */
static bool is_unused(struct maar_arena* arena)
{
    if (arena->seen_made_count != arena->made_count) {
        arena->seen_made_count = arena->made_count;
        arena->seen_idle_count = 0;
    }
    ++arena->seen_idle_count;
    return arena->seen_idle_count > IDLE_FROM;
}

void maar_arena_note_visit(struct maar_arena* arena)
{
    /* What other threads place does not count as use. */
    if (arena->seen_made_count + 1 == arena->made_count) {
        arena->seen_made_count = arena->made_count;
    }
}

/* Whether a block may leave an arena for another one. Both locks are held. */
static bool may_adopt(struct maar_arena* from, const struct maar_arena* to,
                      const struct maar_block* block)
{
    if (maar_block_arena(block) != from || block->at >= from->block_end ||
        from->blocks[block->at] != block || block->range_count == 0 || block->pin_count != 0) {
        return false;
    }
    /* A walk counts itself before it takes the first lock. So either its count is seen here, or it
     * sees the block at its new place. */
    return maar_atomic32_load(&from->pool->walk_count) == 0 && from->capture == to->capture &&
           (is_unused(from) || from->block_count > to->block_count + 1);
}

/* Moves a block if it may move and has room. Both locks are held. */
static bool move_with_room(struct maar_arena* from, struct maar_arena* to, struct maar_block* block,
                           VkDeviceSize size)
{
    if (!may_adopt(from, to, block)) {
        return false;
    }
    /* Then the block is in no list of the arena that it leaves, unless it is noted at this moment.
     */
    maar_arena_take_in(from);
    if (maar_block_room(block) < size || block->range_count == 0) {
        return false;
    }
    maar_arena_move_block(from, to, block);
    return true;
}

bool maar_arena_adopt(struct maar_arena* own, VkDeviceSize size)
{
    struct maar_block* block = maar_atomic_pointer_load(&own->far_block);
    if (block == NULL || maar_arena_reserve_list(own, 1) != VK_SUCCESS) {
        return false;
    }
    struct maar_arena* from = maar_block_arena(block);
    if (from == own) {
        maar_atomic_pointer_store(&own->far_block, NULL);
        return false;
    }
    maar_lock_rank_leave(MAAR_LOCK_ARENA); /* only this rank allows two locks at once */
    const bool locked = maar_mutex_try_lock(&from->lock);
    bool moved = false;
    if (locked) {
        /* A block that leaves is forgotten under its arena's lock. So if this block is not
         * forgotten, it is in use, in this arena or in another one. */
        moved = maar_atomic_pointer_load(&own->far_block) == block &&
                move_with_room(from, own, block, size);
        maar_mutex_unlock(&from->lock);
    }
    maar_lock_rank_enter(MAAR_LOCK_ARENA);
    return moved;
}
