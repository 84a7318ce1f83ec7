/*
 * Allocations and frees beside live allocations, and allocations that fail.
 */
#include "growth_cases.h"
#include "growth_steps.h"

#include <stdlib.h>

/* ---- buffers and images mixed ---- */

static MaarAllocation allocate_mixed(struct growth* growth)
{
    const uint64_t draw = bench_random(&growth->random);
    MaarMemoryRequest request =
        growth_request(bench_size(&growth->random, true), (VkDeviceSize)1 << (draw % 9));
    request.kind = (draw >> 8 & 1) != 0 ? MAAR_RESOURCE_KIND_LINEAR : MAAR_RESOURCE_KIND_OPTIMAL;
    MaarAllocation memory = VK_NULL_HANDLE;
    GROWTH_EXPECT(maarAllocateMemory(growth->allocator, &request, NULL, &memory));
    return memory;
}

static void open_mixed(struct growth* growth)
{
    growth_create_allocator(growth);
    growth->memory = bench_allocate((size_t)growth->n + growth->count, sizeof *growth->memory);
    for (uint32_t i = 0; i < growth->n; ++i) {
        growth->memory[i] = allocate_mixed(growth);
    }
}

static void do_allocate_mixed(struct growth* growth, uint32_t index)
{
    growth->memory[growth->n + index] = allocate_mixed(growth);
}

static void free_more(struct growth* growth)
{
    for (uint32_t i = 0; i < growth->count; ++i) {
        maarFreeMemory(growth->allocator, growth->memory[growth->n + i]);
    }
}

static void refill(struct growth* growth)
{
    for (uint32_t i = 0; i < growth->n; ++i) {
        if (growth->memory[i] == VK_NULL_HANDLE) {
            growth->memory[i] = allocate_mixed(growth);
        }
    }
    growth_shuffle(growth, growth->memory, growth->n);
}

static void do_free(struct growth* growth, uint32_t index)
{
    maarFreeMemory(growth->allocator, growth->memory[index]);
    growth->memory[index] = VK_NULL_HANDLE;
}

/* ---- equal ones ---- */

static void do_allocate(struct growth* growth, uint32_t index)
{
    const MaarMemoryRequest request = growth_request(4 * GROWTH_KIB, 256);
    GROWTH_EXPECT(
        maarAllocateMemory(growth->allocator, &request, NULL, &growth->memory[growth->n + index]));
}

static void do_allocate_dedicated(struct growth* growth, uint32_t index)
{
    const MaarMemoryRequest request = growth_request(4 * GROWTH_KIB, 256);
    MaarAllocationCreateInfo how = growth_how(growth);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    GROWTH_EXPECT(
        maarAllocateMemory(growth->allocator, &request, &how, &growth->memory[growth->n + index]));
}

/* ---- many at a time ---- */

static void open_none(struct growth* growth)
{
    growth_create_allocator(growth);
    growth->memory = bench_allocate(growth->n, sizeof *growth->memory);
    MaarMemoryRequest* requests = bench_allocate(growth->n, sizeof *requests);
    for (uint32_t i = 0; i < growth->n; ++i) {
        requests[i] = growth_request(bench_size(&growth->random, true), 256);
    }
    growth->state = requests;
}

static void do_allocate_many(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(
        maarAllocateMemories(growth->allocator, growth->n, growth->state, NULL, growth->memory));
}

static void allocate_many_in_disorder(struct growth* growth)
{
    do_allocate_many(growth, 0);
    growth_shuffle(growth, growth->memory, growth->n);
}

static void do_free_many(struct growth* growth, uint32_t index)
{
    (void)index;
    maarFreeMemories(growth->allocator, growth->n, growth->memory);
}

/* ---- no block has room ---- */

/* n blocks of a pool, each filled by two allocations. */
static void fill_blocks(struct growth* growth, uint32_t most)
{
    const MaarMemoryRequest request = growth_request(GROWTH_MIB / 2, 256);
    growth_create_allocator(growth);
    growth->pool = growth_create_pool(growth, GROWTH_MIB, most);
    growth_fill(growth, 2 * growth->n, &request, 0, MAAR_DEDICATED_AUTO);
}

static void open_full_blocks(struct growth* growth)
{
    fill_blocks(growth, 0);
}

static void open_full_pool(struct growth* growth)
{
    fill_blocks(growth, growth->n);
}

static void close_full_blocks(struct growth* growth)
{
    growth_empty(growth, 2 * growth->n);
    maarDestroyPool(growth->allocator, growth->pool);
}

static void fail_to_allocate(struct growth* growth, MaarAllocationCreateFlags flags)
{
    const MaarMemoryRequest request = growth_request(GROWTH_MIB / 2, 256);
    MaarAllocationCreateInfo how = growth_how(growth);
    how.flags = flags;
    MaarAllocation memory = VK_NULL_HANDLE;
    if (maarAllocateMemory(growth->allocator, &request, &how, &memory) == VK_SUCCESS) {
        bench_die(BENCH_EXIT_FAILED, "an allocation has room in full blocks");
    }
}

static void do_existing_blocks(struct growth* growth, uint32_t index)
{
    (void)index;
    fail_to_allocate(growth, MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT);
}

static void do_full_pool(struct growth* growth, uint32_t index)
{
    (void)index;
    fail_to_allocate(growth, 0);
}

const struct growth_case growth_memory_cases[] = {
    {
        .name = "allocate-mixed",
        .functions = "maarAllocateMemory",
        .dimension = "live allocations, buffers and images, alignments 1 to 256",
        .n = 20000,
        .count = 2000,
        .open = open_mixed,
        .operation = do_allocate_mixed,
        .tidy = free_more,
        .close = growth_close_live,
    },
    {
        .name = "free-mixed",
        .functions = "maarFreeMemory",
        .dimension = "live allocations, buffers and images, alignments 1 to 256",
        .n = 20000,
        .count = 300,
        .open = open_mixed,
        .prepare = refill,
        .operation = do_free,
        .close = growth_close_live,
    },
    {
        .name = "allocate-equal",
        .functions = "maarAllocateMemory maarFreeMemory",
        .dimension = "live allocations of 4 KiB",
        .n = 20000,
        .count = 2000,
        .open = growth_open_live,
        .operation = do_allocate,
        .tidy = free_more,
        .close = growth_close_live,
    },
    {
        .name = "allocate-dedicated",
        .functions = "maarAllocateMemory",
        .dimension = "dedicated allocations",
        .n = 2000,
        .open = growth_open_dedicated,
        .operation = do_allocate_dedicated,
        .tidy = free_more,
        .close = growth_close_live,
    },
    {
        .name = "allocate-many",
        .functions = "maarAllocateMemories",
        .dimension = "allocations of the call",
        .kind = GROWTH_OVER,
        .n = 10000,
        .open = open_none,
        .operation = do_allocate_many,
        .tidy = growth_close_live,
    },
    {
        .name = "free-many",
        .functions = "maarFreeMemories",
        .dimension = "allocations of the call, in any order",
        .kind = GROWTH_OVER,
        .n = 10000,
        .open = open_none,
        .prepare = allocate_many_in_disorder,
        .operation = do_free_many,
    },
    {
        .name = "existing-blocks",
        .functions = "maarAllocateMemory",
        .dimension = "full blocks; only existing blocks may serve",
        .n = 2000,
        .open = open_full_blocks,
        .operation = do_existing_blocks,
        .close = close_full_blocks,
    },
    {
        .name = "full-pool",
        .functions = "maarAllocateMemory",
        .dimension = "full blocks of a pool that may have no more",
        .n = 2000,
        .open = open_full_pool,
        .operation = do_full_pool,
        .close = close_full_blocks,
    },
    {.name = NULL},
};
