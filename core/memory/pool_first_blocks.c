/*
 * Makes the blocks that a pool always has: see pool_first_blocks.h.
 */
#include "core/memory/pool_first_blocks.h"

#include "core/memory/allocate.h"
#include "core/memory/allocation_failure.h"
#include "core/memory/allocator_state.h"
#include "core/memory/block_growth.h"

/* How often a block that a pool always has is tried. */
enum { MOST_FIRST_ATTEMPTS = 4 };

static void report_no_first_block(const struct maar_pool* pool, VkDeviceSize size, VkResult result)
{
    const struct maar_allocation_failure failure = {
        .call = "maarCreatePool",
        .reason = MAAR_FAILURE_REASONS,
        .name = pool->name,
        .size = size,
        .result = result,
        .type_index = pool->type_index,
    };
    if (result != VK_ERROR_OUT_OF_HOST_MEMORY && result != VK_ERROR_DEVICE_LOST) {
        maar_report_allocation_failure(pool->allocator, &failure);
    }
}

/* Makes one of the blocks that a pool always has. What is empty, or has passed, makes room for it.
 */
static VkResult make_first_block(struct maar_pool* pool, VkDeviceSize size,
                                 struct maar_patience* patience)
{
    for (uint32_t attempt = 1;; ++attempt) {
        struct maar_made made;
        const VkResult result = maar_pool_result(
            maar_pool_grow(pool, NULL, size, UINT64_MAX, NULL, true, &made), &made);
        const uint32_t heaps =
            result == VK_ERROR_TOO_MANY_OBJECTS ? UINT32_MAX : 1u << pool->heap_index;
        const bool is_short =
            maar_driver_had_no_memory(result) || result == VK_ERROR_TOO_MANY_OBJECTS;
        if (!is_short || attempt == MOST_FIRST_ATTEMPTS ||
            !maar_make_room(pool->allocator, heaps, patience)) {
            return result;
        }
    }
}

/* Makes the blocks that a pool always has. The caller asked for them, so a budget does not prevent
 * them; the excess is reported. */
VkResult maar_pool_make_first_blocks(struct maar_pool* pool)
{
    VkDeviceSize size = pool->fixed_size != 0 ? pool->fixed_size : pool->preferred_size;
    struct maar_patience patience = maar_patience_begin();
    uint32_t exceeding = 0;
    for (uint32_t i = 0; i < pool->min_block_count; ++i) {
        struct maar_budget budget = maar_budget_read(pool->allocator, pool->heap_index);
        const VkResult result = make_first_block(pool, size, &patience);
        if (result != VK_SUCCESS) {
            report_no_first_block(pool, size, result);
            return result;
        }
        exceeding += maar_budget_holds(&budget, size) ? 0 : 1;
    }
    /* The excess is reported only when all blocks exist: a call that fails has exceeded nothing. */
    for (; exceeding > 0; --exceeding) {
        maar_report_over_budget(pool->allocator, "maarCreatePool", pool->name, pool->heap_index,
                                size);
    }
    return VK_SUCCESS;
}
