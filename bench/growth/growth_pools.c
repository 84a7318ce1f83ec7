/*
 * Pools and blocks.
 */
#include "growth.h"

#include <stdlib.h>

/* ---- destroying pools ---- */

static void open_nothing(struct growth* growth)
{
    growth_create_allocator(growth);
    growth->state = bench_allocate(growth->n, sizeof(MaarPool));
}

static void create_pools(struct growth* growth)
{
    MaarPool* pools = growth->state;
    for (uint32_t i = 0; i < growth->n; ++i) {
        pools[i] = growth_create_pool(growth, GROWTH_MIB, 0);
    }
    for (uint32_t i = growth->n - 1; i > 0; --i) {
        const uint32_t other = (uint32_t)(bench_random(&growth->random) % (i + 1));
        const MaarPool pool = pools[i];
        pools[i] = pools[other];
        pools[other] = pool;
    }
}

static void run_destroy_pools(struct growth* growth)
{
    const MaarPool* pools = growth->state;
    for (uint32_t i = 0; i < growth->n; ++i) {
        maarDestroyPool(growth->allocator, pools[i]);
    }
}

static void free_state(struct growth* growth)
{
    free(growth->state);
}

/* ---- trimming ---- */

static void open_pool(struct growth* growth)
{
    growth_create_allocator(growth);
    growth->pool = growth_create_pool(growth, GROWTH_MIB, 0);
}

static void empty_blocks(struct growth* growth)
{
    growth_fill(growth, growth->n, GROWTH_MIB);
    maarFreeMemories(growth->allocator, growth->n, growth->memory);
    free(growth->memory);
    growth->memory = NULL;
}

static void run_trim(struct growth* growth)
{
    bench_expect(maarTrim(growth->allocator, growth->pool, NULL), "maarTrim");
}

static void close_pool(struct growth* growth)
{
    maarDestroyPool(growth->allocator, growth->pool);
}

const struct growth_case growth_pool_cases[] = {
    {
        .name = "destroy-pools",
        .functions = "maarDestroyPool",
        .dimension = "pools, destroyed in any order",
        .n = 2000,
        .each = true,
        .open = open_nothing,
        .prepare = create_pools,
        .run = run_destroy_pools,
        .close = free_state,
    },
    {
        .name = "trim",
        .functions = "maarTrim",
        .dimension = "empty blocks",
        .n = 2000,
        .each = true,
        .open = open_pool,
        .prepare = empty_blocks,
        .run = run_trim,
        .close = close_pool,
    },
    {.name = NULL},
};
