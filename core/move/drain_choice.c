/*
 * The choice of blocks: those with the fewest live bytes, as long as the other blocks of their pool
 * have as many free bytes. To give back n blocks of one size, the bytes that live in the n emptiest
 * ones must move in any case.
 */
#include "core/memory/pool_list.h"
#include "core/move/drain_plan.h"
#include "core/move/drain_seen.h"
#include "core/move/room_shape.h"

enum {
    /* The number of blocks that are looked at under one lock: some eight microseconds where the
     * blocks are not in the cache. */
    BLOCKS_AT_A_TIME = 16,
    /* The number of blocks that one part of the work chooses. */
    CHOICES_AT_A_TIME = 16
};

/* Whether a run of either goal may use a block. An empty one has room, and nothing to move. */
static bool serves(const struct maar_drain_run* run, const struct maar_block* block)
{
    return run->room == NULL ? maar_drain_can(block)
                             : block->placement != NULL && block->shared_types == 0 &&
                                   !block->imported && !block->draining && !block->has_kept;
}

static struct maar_drain_pool* pool_at(const struct maar_drain_run* run, uint32_t at)
{
    return maar_drain_list_at(&run->pools, at, sizeof(struct maar_drain_pool));
}

/* ---- which blocks there are ---- */

bool maar_drain_takes_part(const struct maar_drain_run* run, const struct maar_pool* pool)
{
    if (run->pool != NULL) {
        return pool == run->pool;
    }
    return !pool->custom && pool->export_types == 0 &&
           (pool->strategy == MAAR_PLACEMENT_STRATEGY_TLSF ||
            (pool->strategy == MAAR_PLACEMENT_STRATEGY_BUDDY && run->room == NULL)) &&
           (run->type_bits >> pool->type_index & 1u) != 0;
}

/* Notes some blocks of an arena, which is locked for the time. Returns how many, and sets *more at
 * the end of its list to false. */
static uint32_t look_at_some(struct maar_drain_run* run, struct maar_arena* arena,
                             struct maar_drain_block* blocks, bool* more)
{
    struct maar_drain_collector* at = &run->collector;
    const uint32_t number = run->pools.count - 1;
    uint32_t count = 0;
    maar_mutex_lock(&arena->lock);
    struct maar_block* block = maar_arena_next_block(arena, at->from);
    for (uint32_t i = 0; i < BLOCKS_AT_A_TIME && block != NULL; ++i) {
        struct maar_placement_totals totals;
        maar_placement_totals(block->placement, &totals);
        if (serves(run, block)) {
            const VkDeviceSize live = totals.used_size - block->pending_bytes;
            blocks[count++] = (struct maar_drain_block){
                .id = block->id,
                .rank = live,
                .size = block->size,
                .live = live,
                .free = totals.free_size,
                .room = maar_placement_largest_free_bound(block->placement),
                .pool = block->pool,
                .pool_number = number,
                .map = MAAR_MAP_NONE,
            };
        }
        pool_at(run, number)->free += block->draining ? 0 : totals.free_size;
        at->from = block->at + 1;
        block = maar_arena_next_block(arena, at->from);
    }
    maar_mutex_unlock(&arena->lock);
    *more = block != NULL;
    return count;
}

void maar_drain_leave_collector(struct maar_drain_run* run)
{
    if (run->collector.pool != NULL) {
        maar_pool_leave(run->allocator, run->collector.pool);
    }
    run->collector.pool = NULL;
}

/* Forgets what was collected. */
static void stop_collecting(struct maar_drain_run* run)
{
    maar_drain_leave_collector(run);
    run->pools.count = 0;
    run->seen.count = 0;
}

/* Goes on to the next pool that takes part. Returns false if there is none, or no host memory. */
static enum maar_drain_result next_pool(struct maar_drain_run* run)
{
    struct maar_drain_collector* at = &run->collector;
    do {
        at->pool = maar_pool_next(run->allocator, at->pool);
    } while (at->pool != NULL && !maar_drain_takes_part(run, at->pool));
    at->arena_number = 0;
    at->from = 0;
    if (at->pool == NULL) {
        return MAAR_DRAIN_FINISHED;
    }
    if (!maar_drain_list_reserve(run->allocator->callbacks, &run->pools, 1,
                                 sizeof(struct maar_drain_pool))) {
        stop_collecting(run);
        return MAAR_DRAIN_NO_HOST_MEMORY;
    }
    *pool_at(run, run->pools.count++) = (struct maar_drain_pool){0};
    return MAAR_DRAIN_MORE;
}

/* Without host memory it begins anew. */
enum maar_drain_result maar_drain_collect(struct maar_drain_run* run)
{
    struct maar_drain_collector* at = &run->collector;
    struct maar_drain_block blocks[BLOCKS_AT_A_TIME];
    bool more = true;
    struct maar_arena* arena =
        at->pool != NULL ? maar_pool_next_arena(at->pool, at->arena_number) : NULL;
    if (arena == NULL) {
        return next_pool(run);
    }
    const uint32_t count = look_at_some(run, arena, blocks, &more);
    at->arena_number = arena->number;
    if (!more) {
        at->arena_number = arena->number + 1;
        at->from = 0;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const bool is_wanted = run->room == NULL || maar_room_rank(run->room, &blocks[i]);
        if (is_wanted && !maar_drain_push_seen(run, &blocks[i])) {
            stop_collecting(run);
            return MAAR_DRAIN_NO_HOST_MEMORY;
        }
    }
    return MAAR_DRAIN_MORE;
}

/* ---- which of them drain ---- */

/* Makes a block drain if the pool has room for what lives there. */
static bool choose_block(struct maar_drain_run* run, const struct maar_drain_block* block)
{
    struct maar_drain_pool* room = pool_at(run, block->pool_number);
    if (run->chosen_count >= run->most_blocks ||
        room->live + block->live > room->free - block->free ||
        !maar_drain_close(run->allocator, block->id)) {
        return false;
    }
    room->live += block->live;
    room->free -= block->free;
    ++run->chosen_count;
    return true;
}

enum maar_drain_result maar_drain_choose(struct maar_drain_run* run)
{
    if (!maar_drain_list_reserve(run->allocator->callbacks, &run->blocks, CHOICES_AT_A_TIME,
                                 sizeof(struct maar_drain_block))) {
        return MAAR_DRAIN_NO_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < CHOICES_AT_A_TIME; ++i) {
        struct maar_drain_block block;
        if (run->seen.count == 0) {
            return MAAR_DRAIN_FINISHED;
        }
        const bool has_plan =
            maar_drain_block_at(&run->seen, 0)->pool->strategy == MAAR_PLACEMENT_STRATEGY_TLSF;
        if (has_plan && !maar_drain_plan_reserve(run)) {
            return MAAR_DRAIN_NO_HOST_MEMORY;
        }
        (void)maar_drain_pop_seen(run, &block);
        block.drains = choose_block(run, &block);
        if (has_plan) {
            maar_drain_plan_add(run, &block);
        } else if (block.drains) {
            *maar_drain_block_at(&run->blocks, run->blocks.count++) = block;
        }
    }
    return MAAR_DRAIN_MORE;
}

void maar_drain_count_released(const struct maar_drain_run* run, uint32_t* count, uint64_t* bytes)
{
    *count = 0;
    *bytes = 0;
    for (struct maar_pool* pool = maar_pool_next(run->allocator, NULL); pool != NULL;
         pool = maar_pool_next(run->allocator, pool)) {
        if (maar_drain_takes_part(run, pool)) {
            *count += maar_atomic32_load(&pool->drained_count);
            *bytes += maar_atomic64_load(&pool->drained_bytes);
        }
    }
}
