/*
 * Objects made of pages, in a pool that stitches.
 */
#include "growth_cases.h"
#include "growth_reservation.h"
#include "growth_steps.h"

#include <stdlib.h>

/* Pages of an object that takes none of its own place. */
enum { PAGES = 8 };

struct stitched {
    VkBuffer* buffers;
    MaarAllocation* memory;
    MaarPageRun* runs;
};

static void create(struct growth* growth, uint32_t at, uint32_t page_count)
{
    struct stitched* all = growth->state;
    const VkBufferCreateInfo buffer = growth_buffer(GROWTH_PAGE * page_count);
    const MaarAllocationCreateInfo how = growth_how(growth);
    GROWTH_EXPECT(
        maarCreateBuffer(growth->allocator, &buffer, &how, &all->buffers[at], &all->memory[at]));
}

static void destroy(struct growth* growth, uint32_t at)
{
    struct stitched* all = growth->state;
    maarDestroyBuffer(growth->allocator, all->buffers[at], all->memory[at]);
    all->buffers[at] = VK_NULL_HANDLE;
    all->memory[at] = VK_NULL_HANDLE;
}

static void submit(struct growth* growth)
{
    GROWTH_EXPECT(maarSubmitBinds(growth->allocator, 0, NULL, NULL));
    GROWTH_EXPECT(maarCollect(growth->allocator, NULL));
}

static void open_pool(struct growth* growth, uint32_t count)
{
    const MaarPoolPagingInfo paging = {.sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
                                       .stitch = VK_TRUE};
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .pNext = &paging,
        .retainedEmptySize = UINT64_MAX,
    };
    struct stitched* all = growth_create_state(growth, 1, sizeof *all);
    GROWTH_EXPECT(maarCreatePool(growth->allocator, &info, &growth->pool));
    growth->memory = bench_allocate(count, sizeof *growth->memory);
    all->memory = growth->memory;
    growth->spare = bench_allocate(count, sizeof(VkBuffer) + sizeof(MaarPageRun));
    all->runs = growth->spare;
    all->buffers = (VkBuffer*)(void*)(all->runs + count);
}

static void open_objects(struct growth* growth)
{
    open_pool(growth, growth->n + growth->count);
    for (uint32_t i = 0; i < growth->n; ++i) {
        create(growth, i, PAGES);
    }
    submit(growth);
}

static void close_objects(struct growth* growth)
{
    for (uint32_t i = 0; i < growth->n; ++i) {
        destroy(growth, i);
    }
    submit(growth);
    maarDestroyPool(growth->allocator, growth->pool);
}

static void do_create(struct growth* growth, uint32_t index)
{
    create(growth, growth->n + index, PAGES);
}

static void do_destroy(struct growth* growth, uint32_t index)
{
    destroy(growth, growth->n + index);
}

static void create_more(struct growth* growth)
{
    for (uint32_t i = 0; i < growth->count; ++i) {
        do_create(growth, i);
    }
    submit(growth);
}

static void destroy_more(struct growth* growth)
{
    submit(growth);
    for (uint32_t i = 0; i < growth->count; ++i) {
        do_destroy(growth, i);
    }
    submit(growth);
}

/* ---- n runs ---- */

/* Free runs of eight pages, n of them, of which one object is made. */
static void open_runs(struct growth* growth)
{
    open_pool(growth, 2 * growth->n + 1);
    for (uint32_t i = 0; i < 2 * growth->n; ++i) {
        create(growth, i, PAGES);
    }
    submit(growth);
    for (uint32_t i = 1; i < 2 * growth->n; i += 2) {
        destroy(growth, i);
    }
    submit(growth);
}

static void do_create_of_runs(struct growth* growth, uint32_t index)
{
    (void)index;
    create(growth, 2 * growth->n, PAGES * growth->n);
}

static void destroy_of_runs(struct growth* growth)
{
    submit(growth);
    destroy(growth, 2 * growth->n);
    submit(growth);
}

static void open_one(struct growth* growth)
{
    open_runs(growth);
    create(growth, 2 * growth->n, PAGES * growth->n);
    submit(growth);
}

static void do_list_runs(struct growth* growth, uint32_t index)
{
    const struct stitched* all = growth->state;
    uint32_t count = 2 * growth->n;
    (void)index;
    GROWTH_EXPECT(maarEnumerateAllocationPages(growth->allocator, all->memory[2 * growth->n],
                                               &count, all->runs));
}

static void close_runs(struct growth* growth)
{
    const struct stitched* all = growth->state;
    for (uint32_t i = 0; i < 2 * growth->n; i += 2) {
        destroy(growth, i);
    }
    if (all->memory[2 * growth->n] != VK_NULL_HANDLE) {
        destroy(growth, 2 * growth->n);
    }
    submit(growth);
    maarDestroyPool(growth->allocator, growth->pool);
}

const struct growth_case growth_stitched_cases[] = {
    {
        .name = "create-stitched",
        .functions = "maarCreateBuffer",
        .dimension = "buffers made of pages",
        .n = 500,
        .open = open_objects,
        .operation = do_create,
        .tidy = destroy_more,
        .close = close_objects,
    },
    {
        .name = "destroy-stitched",
        .functions = "maarDestroyBuffer",
        .dimension = "buffers made of pages",
        .n = 500,
        .open = open_objects,
        .prepare = create_more,
        .operation = do_destroy,
        .close = close_objects,
    },
    {
        .name = "create-of-runs",
        .functions = "maarCreateBuffer",
        .dimension = "free runs of pages, of all of which the buffer is made",
        .kind = GROWTH_OVER,
        .n = 250,
        .open = open_runs,
        .operation = do_create_of_runs,
        .tidy = destroy_of_runs,
        .close = close_runs,
    },
    {
        .name = "list-allocation-pages",
        .functions = "maarEnumerateAllocationPages",
        .dimension = "runs of pages",
        .kind = GROWTH_OVER,
        .n = 250,
        .open = open_one,
        .operation = do_list_runs,
        .close = close_runs,
    },
    {.name = NULL},
};
