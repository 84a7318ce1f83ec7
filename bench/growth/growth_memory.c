/*
 * Allocations beside live allocations, and allocations that fail.
 */
#include "growth.h"

#include <stdlib.h>

/* ---- buffers and images mixed ---- */

static MaarAllocation allocate_mixed(struct growth* growth)
{
    const uint64_t draw = bench_random(&growth->random);
    MaarMemoryRequest request =
        growth_request(bench_size(&growth->random, true), (VkDeviceSize)1 << (draw % 9));
    request.kind = (draw >> 8 & 1) != 0 ? MAAR_RESOURCE_KIND_LINEAR : MAAR_RESOURCE_KIND_OPTIMAL;
    MaarAllocation memory = VK_NULL_HANDLE;
    bench_expect(maarAllocateMemory(growth->allocator, &request, NULL, &memory),
                 "maarAllocateMemory");
    return memory;
}

static void open_mixed(struct growth* growth)
{
    growth_create_allocator(growth);
    growth->memory = bench_allocate(growth->n + growth->count, sizeof *growth->memory);
    for (uint32_t i = 0; i < growth->n; ++i) {
        growth->memory[i] = allocate_mixed(growth);
    }
}

static void run_mixed(struct growth* growth)
{
    for (uint32_t i = 0; i < growth->count; ++i) {
        growth->memory[growth->n + i] = allocate_mixed(growth);
    }
}

static void free_last(struct growth* growth)
{
    for (uint32_t i = 0; i < growth->count; ++i) {
        maarFreeMemory(growth->allocator, growth->memory[growth->n + i]);
    }
}

static void free_all(struct growth* growth)
{
    maarFreeMemories(growth->allocator, growth->n, growth->memory);
}

/* ---- no block has room ---- */

/* n blocks of a pool, each filled by two allocations. */
static void open_full_blocks(struct growth* growth)
{
    growth_create_allocator(growth);
    growth->pool = growth_create_pool(growth, GROWTH_MIB, 0);
    growth_fill(growth, 2 * growth->n, GROWTH_MIB / 2);
}

static void close_full_blocks(struct growth* growth)
{
    maarFreeMemories(growth->allocator, 2 * growth->n, growth->memory);
    maarDestroyPool(growth->allocator, growth->pool);
}

static void fail_to_allocate(struct growth* growth, MaarAllocationCreateFlags flags)
{
    const MaarMemoryRequest request = growth_request(GROWTH_MIB / 2, 256);
    const MaarAllocationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .flags = flags,
        .pool = growth->pool,
    };
    for (uint32_t i = 0; i < growth->count; ++i) {
        MaarAllocation memory = VK_NULL_HANDLE;
        if (maarAllocateMemory(growth->allocator, &request, &info, &memory) == VK_SUCCESS) {
            bench_die(BENCH_EXIT_FAILED, "an allocation has room in full blocks");
        }
    }
}

static void run_existing_blocks(struct growth* growth)
{
    fail_to_allocate(growth, MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT);
}

/* A pool with as many blocks as it may have. */
static void open_full_pool(struct growth* growth)
{
    growth_create_allocator(growth);
    growth->pool = growth_create_pool(growth, GROWTH_MIB, growth->n);
    growth_fill(growth, 2 * growth->n, GROWTH_MIB / 2);
}

static void run_full_pool(struct growth* growth)
{
    fail_to_allocate(growth, 0);
}

const struct growth_case growth_memory_cases[] = {
    {
        .name = "allocate-mixed",
        .functions = "maarAllocateMemory",
        .dimension = "live allocations, buffers and images, alignments 1 to 256",
        .n = 100000,
        .count = 2000,
        .open = open_mixed,
        .run = run_mixed,
        .tidy = free_last,
        .close = free_all,
    },
    {
        .name = "existing-blocks",
        .functions = "maarAllocateMemory",
        .dimension = "full blocks; only existing blocks may serve",
        .n = 2000,
        .count = 100,
        .open = open_full_blocks,
        .run = run_existing_blocks,
        .close = close_full_blocks,
    },
    {
        .name = "full-pool",
        .functions = "maarAllocateMemory",
        .dimension = "full blocks of a pool that may have no more",
        .n = 2000,
        .count = 100,
        .open = open_full_pool,
        .run = run_full_pool,
        .close = close_full_blocks,
    },
    {.name = NULL},
};
