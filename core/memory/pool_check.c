/*
 * The heavy check of a pool: walks every block of every arena.
 */
#include "core/memory/pool_check.h"

#include "core/memory/slot_home.h"

/* The sums over the blocks of one arena. */
struct arena_sums {
    uint32_t pending;
    uint32_t dedicated;
    uint32_t empty;
    bool has_pages;
    VkDeviceSize live;
    VkDeviceSize bytes;
    VkDeviceSize dedicated_bytes;
    VkDeviceSize empty_bytes;
};

static const char* check_block(const struct maar_block* block)
{
    struct maar_placement_totals totals;
    const char* broken = maar_placement_check(block->placement);
    if (broken != NULL) {
        return broken;
    }
    maar_placement_totals(block->placement, &totals);
    if (totals.used_size + totals.padding_size + totals.free_size != block->size) {
        return "used, padding and free bytes do not add up to the block";
    }
    if (totals.range_count != block->range_count) {
        return "live and pending allocations are not those placed in the block";
    }
    if (block->pending_count > block->range_count || block->pending_bytes > totals.used_size ||
        (block->pending_count == 0 && block->pending_bytes != 0)) {
        return "more is pending in a block than is placed in it";
    }
    return NULL;
}

/* Whether the shape index lets every request try an empty block that is small enough for it. */
static bool shapes_know_empty(const struct maar_shape_index* shapes, const struct maar_block* block)
{
    const VkDeviceSize room = maar_placement_largest_free_bound(block->placement);
    for (uint32_t column = 1; column <= shapes->count; ++column) {
        if (maar_shape_index_bound(shapes, block->at, column) < maar_shape_bound(room)) {
            return false;
        }
    }
    return true;
}

/* Checks that the rows of the shape index are those of the blocks. Called under the arena's lock.
 */
static const char* check_shapes(const struct maar_arena* arena)
{
    const struct maar_shape_index* shapes = arena->shapes;
    for (uint32_t at = 0; at < shapes->capacity; ++at) {
        const struct maar_block* block = at < arena->block_end ? arena->blocks[at] : NULL;
        if (block == NULL) {
            for (uint32_t column = 1; column <= shapes->count; ++column) {
                if (maar_shape_index_bound(shapes, at, column) != 0) {
                    return "the shape index of an arena finds a block that is gone";
                }
            }
        } else if (shapes->count > 0 && block->least_bound != maar_shape_index_least(shapes, at)) {
            return "a block does not know its least bound in the shape index";
        } else if (block->range_count == 0 && !block->draining &&
                   !shapes_know_empty(shapes, block)) {
            return "the shape index of an arena excludes an empty block";
        }
    }
    return maar_shape_index_check(shapes);
}

/* Checks what finds the blocks of an arena. Called under the arena's lock. */
static const char* check_indices(const struct maar_arena* arena)
{
    const char* broken =
        maar_block_index_check(&arena->block_index, arena->blocks, arena->block_end);
    if (broken == NULL) {
        broken = maar_idle_blocks_check(&arena->idle);
    }
    if (broken == NULL && arena->shapes != NULL) {
        broken = check_shapes(arena);
    }
    return broken;
}

/* Checks the blocks that share allocations. Called under the arena's lock. */
static const char* check_shared_blocks(const struct maar_arena* arena, struct arena_sums* sums)
{
    const struct maar_block* last = NULL;
    uint32_t idle = 0;
    for (uint32_t i = 0; i < arena->block_end; ++i) {
        const struct maar_block* block = arena->blocks[i];
        if (block == NULL) {
            continue;
        }
        const char* broken = check_block(block);
        if (broken != NULL) {
            return broken;
        }
        if (maar_block_arena(block) != arena) {
            return "a block stands in an arena that is not its own";
        }
        if (last != NULL && !maar_block_is_behind(block, last)) {
            return "blocks are not in their order";
        }
        last = block;
        sums->pending += block->pending_count;
        sums->live += maar_block_live_bytes(block);
        sums->bytes += block->size;
        if (block->range_count == 0) {
            ++sums->empty;
            sums->empty_bytes += block->size;
        }
        idle += maar_block_is_idle(block) ? 1 : 0;
    }
    if (idle != arena->idle.count) {
        return "an arena does not know its idle blocks";
    }
    uint32_t listed = 0;
    const char* unlisted = maar_empty_blocks_check(&arena->empty, &listed);
    if (unlisted != NULL || listed != sums->empty) {
        return unlisted != NULL ? unlisted : "an arena does not know its empty blocks";
    }
    return check_indices(arena);
}

/* Checks the blocks of a single allocation each. Called under the arena's lock. */
static const char* check_dedicated_blocks(const struct maar_arena* arena, struct arena_sums* sums)
{
    for (const struct maar_block* block = arena->dedicated; block != NULL; block = block->next) {
        if (block->range_count != 1 || block->pending_count > 1) {
            return "a dedicated block does not hold exactly one allocation";
        }
        sums->pending += block->pending_count;
        sums->live += maar_block_live_bytes(block);
        sums->has_pages = sums->has_pages || maar_block_is_paged(block);
        sums->dedicated_bytes += block->size;
        ++sums->dedicated;
    }
    return NULL;
}

/* Checks the stitched allocations. Called under the arena's lock. */
static const char* check_stitched(const struct maar_arena* arena, struct arena_sums* sums)
{
    uint32_t count = 0;
    uint32_t pending = 0;
    VkDeviceSize bytes = 0;
    for (const struct maar_block* block = arena->stitched; block != NULL; block = block->next) {
        if (block->range_count != 1 || block->pending_count > 1 || block->table == NULL) {
            return "pages in the list of what is stitched are not those of one allocation";
        }
        ++count;
        pending += block->pending_count;
        bytes += block->pending_count * block->size;
    }
    sums->pending += pending;
    if (count != arena->stitched_count || pending != arena->stitched_pending_count ||
        bytes != arena->stitched_pending_bytes) {
        return "an arena counts wrongly what is stitched";
    }
    return NULL;
}

/* Checks one arena. Called under its lock. */
static const char* check_arena(const struct maar_arena* arena, struct arena_sums* sums)
{
    const char* broken = check_shared_blocks(arena, sums);
    if (broken == NULL) {
        broken = check_dedicated_blocks(arena, sums);
    }
    if (broken != NULL) {
        return broken;
    }
    broken = check_stitched(arena, sums);
    if (broken != NULL) {
        return broken;
    }
    if (sums->pending != arena->pending_count) {
        return "what is pending in an arena is not the sum of its blocks";
    }
    /* Pages change hands without the arena's lock. */
    if (!sums->has_pages && arena->stitched == NULL &&
        sums->live != maar_atomic64_load(&arena->live_bytes)) {
        return "what lives in an arena is not the sum of its blocks";
    }
    if (sums->bytes != arena->block_bytes || sums->dedicated_bytes != arena->dedicated_bytes ||
        sums->dedicated != arena->dedicated_count) {
        return "an arena's bytes are not the sums of its blocks";
    }
    if (sums->empty > maar_atomic32_load(&arena->pool->empty_count) ||
        sums->empty_bytes > maar_atomic64_load(&arena->pool->empty_bytes)) {
        return "an arena has more empty blocks than its pool knows of";
    }
    return NULL;
}

const char* maar_pool_check(struct maar_pool* pool)
{
    const char* broken = NULL;
    for (struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL && broken == NULL;
         arena = maar_pool_next_arena(pool, arena->number + 1)) {
        struct arena_sums sums = {0};
        maar_mutex_lock(&arena->lock);
        broken = check_arena(arena, &sums);
        maar_mutex_unlock(&arena->lock);
    }
    return broken;
}

void maar_pool_check_now(struct maar_pool* pool)
{
    const char* broken = maar_pool_check(pool);
    if (broken != NULL) {
        maar_broken(pool->allocator, broken);
    }
}
