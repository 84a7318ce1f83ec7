/*
 * Runs that empty blocks.
 */
#include "growth_cases.h"
#include "growth_steps.h"

#include <stdlib.h>

#define DRAINED_SIZE ((VkDeviceSize)4 * GROWTH_KIB)

/* Allocations that fill a block, of which one stays. */
enum { IN_BLOCK = 16 };

/* n blocks with one allocation each. */
static void make_cheese(struct growth* growth)
{
    const MaarMemoryRequest request = growth_request(DRAINED_SIZE, 256);
    growth_fill(growth, IN_BLOCK * growth->n, &request, 0, MAAR_DEDICATED_NEVER);
    for (uint32_t i = 0; i < IN_BLOCK * growth->n; ++i) {
        if (i % IN_BLOCK != 0) {
            maarFreeMemory(growth->allocator, growth->memory[i]);
            growth->memory[i] = VK_NULL_HANDLE;
        }
    }
}

static void eat_cheese(struct growth* growth)
{
    growth_empty(growth, IN_BLOCK * growth->n);
    free(growth->memory);
    growth->memory = NULL;
}

/* A pool, and the run of a step. */
static void open_pool(struct growth* growth)
{
    growth_create_state(growth, 1, sizeof(MaarDefragmentation));
    growth->pool = growth_create_pool(growth, DRAINED_SIZE * IN_BLOCK, 0);
}

static void close_pool(struct growth* growth)
{
    maarDestroyPool(growth->allocator, growth->pool);
}

static MaarDefragmentation* run_of(const struct growth* growth)
{
    return growth->state;
}

static void do_begin(struct growth* growth, uint32_t index)
{
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = growth->pool,
    };
    (void)index;
    GROWTH_EXPECT(maarBeginDefragmentation(growth->allocator, &info, run_of(growth)));
}

static void do_end(struct growth* growth, uint32_t index)
{
    (void)index;
    maarEndDefragmentation(growth->allocator, *run_of(growth));
}

static void begin_run(struct growth* growth)
{
    make_cheese(growth);
    do_begin(growth, 0);
}

static void end_run(struct growth* growth)
{
    do_end(growth, 0);
    eat_cheese(growth);
}

/* Carries the run out. */
static void do_steps(struct growth* growth, uint32_t index)
{
    MaarMoveBatch batch = VK_NULL_HANDLE;
    (void)index;
    do {
        GROWTH_EXPECT(maarStepDefragmentation(growth->allocator, *run_of(growth), NULL, &batch));
        GROWTH_EXPECT(maarCommitMoves(growth->allocator, batch, 0, NULL, NULL));
    } while (batch != VK_NULL_HANDLE);
}

static void open_run(struct growth* growth)
{
    open_pool(growth);
    begin_run(growth);
}

static void close_run(struct growth* growth)
{
    end_run(growth);
    close_pool(growth);
}

static void do_read(struct growth* growth, uint32_t index)
{
    MaarDefragmentationInfo info = {.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetDefragmentationInfo(growth->allocator, *run_of(growth), &info));
}

const struct growth_case growth_draining_cases[] = {
    {
        .name = "begin-defragmentation",
        .functions = "maarBeginDefragmentation",
        .dimension = "blocks of the pool, nearly empty",
        .kind = GROWTH_OVER,
        .n = 1000,
        .open = open_pool,
        .prepare = make_cheese,
        .operation = do_begin,
        .tidy = end_run,
        .close = close_pool,
    },
    {
        .name = "step-defragmentation",
        .functions = "maarStepDefragmentation",
        .dimension = "blocks that are emptied, with the commits",
        .kind = GROWTH_OVER,
        .n = 1000,
        .open = open_pool,
        .prepare = begin_run,
        .operation = do_steps,
        .tidy = end_run,
        .close = close_pool,
    },
    {
        .name = "defragmentation-info",
        .functions = "maarGetDefragmentationInfo",
        .dimension = "blocks that the run empties",
        .n = 1000,
        .open = open_run,
        .operation = do_read,
        .close = close_run,
    },
    {
        .name = "end-defragmentation",
        .functions = "maarEndDefragmentation",
        .dimension = "blocks that the run has not emptied",
        .kind = GROWTH_OVER,
        .n = 1000,
        .open = open_pool,
        .prepare = begin_run,
        .operation = do_end,
        .tidy = eat_cheese,
        .close = close_pool,
    },
    {.name = NULL},
};
