/*
 * The heavy check of a pool: walks every block of every lane.
 */
#include "core/memory/memory_internal.h"

/* What the blocks of one lane add up to. */
struct lane_sums {
    uint32_t pending;
    uint32_t dedicated;
    uint32_t empty;
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

/* Under the lock. */
static const char* check_shared_blocks(const struct maar_lane* lane, struct lane_sums* sums)
{
    for (uint32_t i = 0; i < lane->block_count; ++i) {
        const struct maar_block* block = lane->blocks[i];
        const char* broken = check_block(block);
        if (broken != NULL) {
            return broken;
        }
        if (block->lane != lane) {
            return "a block stands in a lane that is not its own";
        }
        if (i > 0 && lane->blocks[i - 1]->id >= block->id) {
            return "blocks are not in order of their numbers";
        }
        sums->pending += block->pending_count;
        sums->bytes += block->size;
        if (block->range_count == 0) {
            ++sums->empty;
            sums->empty_bytes += block->size;
        }
    }
    return maar_room_check(&lane->room, lane->blocks, lane->block_count);
}

/* Under the lock. */
static const char* check_dedicated_blocks(const struct maar_lane* lane, struct lane_sums* sums)
{
    for (const struct maar_block* block = lane->dedicated; block != NULL; block = block->next) {
        if (block->range_count != 1 || block->pending_count > 1) {
            return "a dedicated block does not hold exactly one allocation";
        }
        sums->pending += block->pending_count;
        sums->dedicated_bytes += block->size;
        ++sums->dedicated;
    }
    return NULL;
}

/* Under the lock. */
static const char* check_stitched(const struct maar_lane* lane, struct lane_sums* sums)
{
    uint32_t count = 0;
    uint32_t pending = 0;
    VkDeviceSize bytes = 0;
    for (const struct maar_block* block = lane->stitched; block != NULL; block = block->next) {
        if (block->range_count != 1 || block->pending_count > 1 || block->table == NULL) {
            return "pages in the list of what is stitched are not those of one allocation";
        }
        ++count;
        pending += block->pending_count;
        bytes += block->pending_count * block->size;
    }
    sums->pending += pending;
    if (count != lane->stitched_count || pending != lane->stitched_pending_count ||
        bytes != lane->stitched_pending_bytes) {
        return "a lane counts wrongly what is stitched";
    }
    return NULL;
}

/* Under the lock. */
static const char* check_lane(const struct maar_lane* lane, struct lane_sums* sums)
{
    const char* broken = check_shared_blocks(lane, sums);
    if (broken == NULL) {
        broken = check_dedicated_blocks(lane, sums);
    }
    if (broken != NULL) {
        return broken;
    }
    broken = check_stitched(lane, sums);
    if (broken != NULL) {
        return broken;
    }
    if (sums->pending != lane->pending_count) {
        return "what is pending in a lane is not the sum of its blocks";
    }
    if (sums->bytes != lane->block_bytes || sums->dedicated_bytes != lane->dedicated_bytes ||
        sums->dedicated != lane->dedicated_count) {
        return "a lane's bytes are not the sums of its blocks";
    }
    if (sums->empty > maar_atomic32_load(&lane->pool->empty_count) ||
        sums->empty_bytes > maar_atomic64_load(&lane->pool->empty_bytes)) {
        return "a lane has more empty blocks than its pool knows of";
    }
    return NULL;
}

const char* maar_pool_check(struct maar_pool* pool)
{
    const char* broken = NULL;
    for (struct maar_lane* lane = maar_pool_next_lane(pool, 0); lane != NULL && broken == NULL;
         lane = maar_pool_next_lane(pool, lane->number + 1)) {
        struct lane_sums sums = {0};
        maar_mutex_lock(&lane->lock);
        broken = check_lane(lane, &sums);
        maar_mutex_unlock(&lane->lock);
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
