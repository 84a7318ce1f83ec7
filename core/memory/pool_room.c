/*
 * The room in a pool: see pool_room.h.
 */
#include "core/memory/pool_room.h"

static void add_room(struct maar_arena* arena, struct maar_pool_room* room)
{
    maar_mutex_lock(&arena->lock);
    for (const struct maar_block* block = maar_arena_next_block(arena, 0); block != NULL;
         block = maar_arena_next_block(arena, block->at + 1)) {
        struct maar_placement_totals totals;
        maar_placement_totals(block->placement, &totals);
        room->size += block->size;
        room->free += totals.free_size;
        room->pending += block->pending_bytes;
    }
    /* Blocks that are cut into pages are in the list of dedicated ones. */
    for (const struct maar_block* block = arena->dedicated; block != NULL; block = block->next) {
        if (maar_block_is_paged(block)) {
            const VkDeviceSize pending = maar_atomic64_load(&block->paged_pending);
            const VkDeviceSize used = pending + maar_atomic64_load(&block->paged_live);
            room->size += block->size;
            room->free += used < block->size ? block->size - used : 0;
            room->pending += pending;
        }
    }
    room->pending += arena->stitched_pending_bytes;
    maar_mutex_unlock(&arena->lock);
}

struct maar_pool_room maar_pool_find_room(const struct maar_pool* pool)
{
    struct maar_pool_room room = {.size = 0};
    struct maar_arena* arena = maar_pool_next_arena(pool, 0);
    struct maar_pool* own = arena != NULL ? arena->pool : NULL;
    if (own == NULL) {
        return room;
    }
    maar_pool_begin_walk(own);
    for (; arena != NULL; arena = maar_pool_next_arena(own, arena->number + 1)) {
        add_room(arena, &room);
    }
    maar_pool_end_walk(own);
    return room;
}
