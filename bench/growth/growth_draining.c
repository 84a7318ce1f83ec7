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

/* A run that has planned all, and has emptied one block. */
static void begin_planned_run(struct growth* growth)
{
    const MaarDefragmentationStepInfo limits = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO, .maxMoves = 1};
    MaarMoveBatch batch = VK_NULL_HANDLE;
    begin_run(growth);
    GROWTH_EXPECT(maarStepDefragmentation(growth->allocator, *run_of(growth), &limits, &batch));
    GROWTH_EXPECT(maarCommitMoves(growth->allocator, batch, 0, NULL, NULL));
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

/* One block, in which every other one of 2 n allocations lives, and a run that has made room in one
 * half of it. */
static void open_comb_pool(struct growth* growth)
{
    growth_create_state(growth, 1, sizeof(MaarDefragmentation));
    growth->pool = growth_create_pool(growth, DRAINED_SIZE * 2 * growth->n, 0);
}

static void make_room(struct growth* growth)
{
    const MaarMemoryRequest request = growth_request(DRAINED_SIZE, 256);
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = growth->pool,
        .goal = MAAR_DEFRAGMENTATION_GOAL_ROOM,
        .roomSize = DRAINED_SIZE * growth->n,
    };
    growth_fill(growth, 2 * growth->n, &request, 0, MAAR_DEDICATED_NEVER);
    for (uint32_t i = 0; i < 2 * growth->n; i += 2) {
        maarFreeMemory(growth->allocator, growth->memory[i]);
        growth->memory[i] = VK_NULL_HANDLE;
    }
    GROWTH_EXPECT(maarBeginDefragmentation(growth->allocator, &info, run_of(growth)));
    do_steps(growth, 0);
}

static void do_take(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(
        maarTakeDefragmentationRoom(growth->allocator, *run_of(growth), NULL, &growth->memory[0]));
}

static void end_room(struct growth* growth)
{
    do_end(growth, 0);
    growth_empty(growth, 2 * growth->n);
    free(growth->memory);
    growth->memory = NULL;
}

const struct growth_case growth_draining_cases[] = {
    {
        .name = "take-defragmentation-room",
        .functions = "maarTakeDefragmentationRoom",
        .dimension = "allocations and free ranges where the room is",
        .kind = GROWTH_OVER,
        .n = 1000,
        .open = open_comb_pool,
        .prepare = make_room,
        .operation = do_take,
        .tidy = end_room,
        .close = close_pool,
    },
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
        .prepare = begin_planned_run,
        .operation = do_end,
        .tidy = eat_cheese,
        .close = close_pool,
    },
    {.name = NULL},
};
