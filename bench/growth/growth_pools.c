/*
 * Pools and blocks.
 */
#include "growth_cases.h"
#include "growth_steps.h"

#include <stdlib.h>

static void churn(struct growth* growth, MaarPool pool, VkDeviceSize size)
{
    const MaarMemoryRequest request = growth_request(size, 256);
    MaarAllocationCreateInfo how = growth_how(growth);
    MaarAllocation memory = VK_NULL_HANDLE;
    how.pool = pool;
    GROWTH_EXPECT(maarAllocateMemory(growth->allocator, &request, &how, &memory));
    maarFreeMemory(growth->allocator, memory);
}

/* ---- beside pools ---- */

static void open_nothing(struct growth* growth)
{
    (void)growth_create_state(growth, growth->n + growth->count, sizeof(MaarPool));
}

static void create_pools(struct growth* growth)
{
    MaarPool* pools = growth->state;
    for (uint32_t i = 0; i < growth->n; ++i) {
        pools[i] = growth_create_pool(growth, GROWTH_MIB, 0);
    }
    growth_shuffle(growth, pools, growth->n);
}

static void open_pools(struct growth* growth)
{
    open_nothing(growth);
    create_pools(growth);
}

static void do_create_pool(struct growth* growth, uint32_t index)
{
    MaarPool* pools = growth->state;
    pools[growth->n + index] = growth_create_pool(growth, GROWTH_MIB, 0);
}

static void do_destroy_more(struct growth* growth, uint32_t index)
{
    const MaarPool* pools = growth->state;
    maarDestroyPool(growth->allocator, pools[growth->n + index]);
}

static void create_more(struct growth* growth)
{
    growth_repeat(growth, growth->count, do_create_pool);
}

static void destroy_more(struct growth* growth)
{
    growth_repeat(growth, growth->count, do_destroy_more);
}

static void do_destroy_pool(struct growth* growth, uint32_t index)
{
    const MaarPool* pools = growth->state;
    maarDestroyPool(growth->allocator, pools[index]);
}

static void do_trim_pool(struct growth* growth, uint32_t index)
{
    const MaarPool* pools = growth->state;
    (void)index;
    GROWTH_EXPECT(maarTrim(growth->allocator, pools[growth_pick(growth)], NULL));
}

static void do_trim_all(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarTrim(growth->allocator, VK_NULL_HANDLE, NULL));
}

static void do_set_priority(struct growth* growth, uint32_t index)
{
    const MaarPool* pools = growth->state;
    GROWTH_EXPECT(maarSetPoolPriority(growth->allocator, pools[growth_pick(growth)],
                                      index % 2 == 0 ? 0.25f : 0.75f));
}

static void do_rename(struct growth* growth, uint32_t index)
{
    const MaarPool* pools = growth->state;
    GROWTH_EXPECT(maarSetPoolName(growth->allocator, pools[growth_pick(growth)],
                                  index % 2 == 0 ? "even" : "odd"));
}

static void open_used_pools(struct growth* growth)
{
    open_pools(growth);
    for (uint32_t i = 0; i < growth->n; ++i) {
        churn(growth, ((MaarPool*)growth->state)[i], 4 * GROWTH_KIB);
    }
}

static void do_allocate_in_pool(struct growth* growth, uint32_t index)
{
    const MaarPool* pools = growth->state;
    (void)index;
    churn(growth, pools[growth_pick(growth)], 4 * GROWTH_KIB);
}

/* ---- blocks of one pool ---- */

static void open_pool(struct growth* growth)
{
    growth_create_allocator(growth);
    growth->pool = growth_create_pool(growth, GROWTH_MIB, 0);
}

static void fill_blocks(struct growth* growth)
{
    const MaarMemoryRequest request = growth_request(GROWTH_MIB, 256);
    free(growth->memory);
    growth_fill(growth, growth->n, &request, 0, MAAR_DEDICATED_AUTO);
}

static void open_blocks(struct growth* growth)
{
    open_pool(growth);
    fill_blocks(growth);
}

static void empty_blocks(struct growth* growth)
{
    fill_blocks(growth);
    growth_empty(growth, growth->n);
}

static void open_emptied(struct growth* growth)
{
    open_pool(growth);
    empty_blocks(growth);
}

static void do_churn(struct growth* growth, uint32_t index)
{
    (void)index;
    churn(growth, growth->pool, GROWTH_MIB);
}

static void do_trim(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarTrim(growth->allocator, growth->pool, NULL));
}

/* n empty blocks that are not old yet. */
static void open_young(struct growth* growth)
{
    open_emptied(growth);
    GROWTH_EXPECT(maarTrimAged(growth->allocator, growth->pool, 1, 100, NULL));
}

static void do_trim_young(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarTrimAged(growth->allocator, growth->pool, 2, 100, NULL));
}

/* A pool, and the program's time. */
static void open_timed(struct growth* growth)
{
    uint64_t* time = growth_create_state(growth, 1, sizeof *time);
    *time = 0;
    growth->pool = growth_create_pool(growth, GROWTH_MIB, 0);
    GROWTH_EXPECT(maarTrimAged(growth->allocator, growth->pool, *time, 1, NULL));
}

static void do_trim_aged(struct growth* growth, uint32_t index)
{
    uint64_t* time = growth->state;
    (void)index;
    GROWTH_EXPECT(maarTrimAged(growth->allocator, growth->pool, ++*time, 1, NULL));
}

static void do_set_pool_priority(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarSetPoolPriority(growth->allocator, growth->pool, 0.25f));
    GROWTH_EXPECT(maarSetPoolPriority(growth->allocator, growth->pool, 0.75f));
}

static void do_create_blocks(struct growth* growth, uint32_t index)
{
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .blockSize = GROWTH_MIB,
        .minBlockCount = growth->n,
    };
    (void)index;
    GROWTH_EXPECT(maarCreatePool(growth->allocator, &info, &growth->pool));
}

static void close_pool(struct growth* growth)
{
    maarDestroyPool(growth->allocator, growth->pool);
    growth->pool = VK_NULL_HANDLE;
}

static void do_destroy_blocks(struct growth* growth, uint32_t index)
{
    (void)index;
    close_pool(growth);
}

static void create_blocks(struct growth* growth)
{
    do_create_blocks(growth, 0);
}

static void close_blocks(struct growth* growth)
{
    growth_empty(growth, growth->n);
    close_pool(growth);
}

const struct growth_case growth_pool_cases[] = {
    {
        .name = "create-pool",
        .functions = "maarCreatePool",
        .dimension = "pools",
        .n = 500,
        .open = open_pools,
        .operation = do_create_pool,
        .tidy = destroy_more,
        .close = growth_destroy_pools,
    },
    {
        .name = "destroy-pool",
        .functions = "maarDestroyPool",
        .dimension = "pools; the newest is destroyed",
        .n = 500,
        .open = open_pools,
        .prepare = create_more,
        .operation = do_destroy_more,
        .close = growth_destroy_pools,
    },
    {
        .name = "destroy-pools",
        .functions = "maarDestroyPool",
        .dimension = "pools, destroyed in any order",
        .kind = GROWTH_EACH,
        .n = 1000,
        .open = open_nothing,
        .prepare = create_pools,
        .operation = do_destroy_pool,
    },
    {
        .name = "trim-pool-beside-pools",
        .functions = "maarTrim",
        .dimension = "other pools",
        .n = 500,
        .open = open_pools,
        .operation = do_trim_pool,
        .close = growth_destroy_pools,
    },
    {
        .name = "trim-pools",
        .functions = "maarTrim",
        .dimension = "empty pools, all trimmed",
        .kind = GROWTH_OVER,
        .n = 500,
        .open = open_pools,
        .operation = do_trim_all,
        .close = growth_destroy_pools,
    },
    {
        .name = "pool-priority-beside-pools",
        .functions = "maarSetPoolPriority",
        .dimension = "other pools",
        .n = 500,
        .open = open_pools,
        .operation = do_set_priority,
        .close = growth_destroy_pools,
    },
    {
        .name = "pool-name",
        .functions = "maarSetPoolName",
        .dimension = "other pools",
        .n = 500,
        .open = open_pools,
        .operation = do_rename,
        .close = growth_destroy_pools,
    },
    {
        .name = "allocate-in-pool",
        .functions = "maarAllocateMemory maarFreeMemory",
        .dimension = "pools",
        .n = 500,
        .count = 1000,
        .open = open_used_pools,
        .operation = do_allocate_in_pool,
        .close = growth_destroy_pools,
    },
    {
        .name = "trim",
        .functions = "maarTrim",
        .dimension = "empty blocks, all released",
        .kind = GROWTH_OVER,
        .n = 2000,
        .open = open_pool,
        .prepare = empty_blocks,
        .operation = do_trim,
        .close = close_pool,
    },
    {
        .name = "trim-aged",
        .functions = "maarTrimAged",
        .dimension = "empty blocks, all old enough",
        .kind = GROWTH_OVER,
        .n = 2000,
        .open = open_timed,
        .prepare = empty_blocks,
        .operation = do_trim_aged,
        .close = close_pool,
    },
    {
        .name = "trim-aged-beside-young-blocks",
        .functions = "maarTrimAged",
        .dimension = "empty blocks that are not old enough",
        .n = 2000,
        .open = open_young,
        .operation = do_trim_young,
        .close = close_pool,
    },
    {
        .name = "trim-full-blocks",
        .functions = "maarTrim",
        .dimension = "full blocks; nothing to release",
        .n = 2000,
        .open = open_blocks,
        .operation = do_trim,
        .close = close_blocks,
    },
    {
        .name = "allocate-beside-empty-blocks",
        .functions = "maarAllocateMemory maarFreeMemory",
        .dimension = "empty blocks that the pool keeps",
        .n = 2000,
        .open = open_emptied,
        .operation = do_churn,
        .close = close_pool,
    },
    {
        .name = "pool-priority",
        .functions = "maarSetPoolPriority",
        .dimension = "blocks of the pool",
        .kind = GROWTH_OVER,
        .n = 2000,
        .open = open_blocks,
        .operation = do_set_pool_priority,
        .close = close_blocks,
    },
    {
        .name = "create-pool-blocks",
        .functions = "maarCreatePool",
        .dimension = "first blocks of the pool",
        .kind = GROWTH_OVER,
        .n = 2000,
        .open = growth_create_allocator,
        .operation = do_create_blocks,
        .tidy = close_pool,
    },
    {
        .name = "destroy-pool-blocks",
        .functions = "maarDestroyPool",
        .dimension = "blocks of the pool",
        .kind = GROWTH_OVER,
        .n = 2000,
        .open = growth_create_allocator,
        .prepare = create_blocks,
        .operation = do_destroy_blocks,
    },
    {.name = NULL},
};
