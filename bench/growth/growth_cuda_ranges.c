/*
 * Ranges and mirrors of CUDA, by a stand-in for its driver.
 */
#include "growth_cases.h"
#include "growth_peer.h"
#include "growth_shared.h"
#include "growth_steps.h"

#include <stdlib.h>

#define BLOCK (2 * GROWTH_MIB)

struct cuda_ranges {
    MaarCuda cuda;
    MaarCudaRange* ranges;
    MaarCudaMirror* mirrors;
    MaarAllocation memory;
    VkBuffer buffer;
};

static struct cuda_ranges* open_cuda(struct growth* growth)
{
    const size_t count = (size_t)growth->n + growth->count;
    bench_raise_descriptors();
    struct cuda_ranges* all = growth_create_state(growth, 1, sizeof *all);
    growth->spare = bench_allocate(2 * count, sizeof(uint64_t));
    all->ranges = growth->spare;
    all->mirrors = (MaarCudaMirror*)(void*)(all->ranges + count);
    all->cuda = growth_create_cuda(growth);
    all->memory = growth_create_shared(growth, BLOCK, true, &all->buffer);
    return all;
}

static void close_cuda(struct growth* growth)
{
    const struct cuda_ranges* all = growth->state;
    maarDestroyBuffer(growth->allocator, all->buffer, all->memory);
    maarDestroyCuda(all->cuda);
}

/* ---- ranges ---- */

static void create_range(struct growth* growth, uint32_t at, uint32_t blocks)
{
    const struct cuda_ranges* all = growth->state;
    GROWTH_EXPECT(maarCreateCudaRange(all->cuda, BLOCK * blocks, &all->ranges[at]));
}

static void destroy_range(struct growth* growth, uint32_t at)
{
    const struct cuda_ranges* all = growth->state;
    maarDestroyCudaRange(all->cuda, all->ranges[at]);
}

static void append(struct growth* growth, uint32_t at)
{
    const struct cuda_ranges* all = growth->state;
    GROWTH_EXPECT(maarAppendToCudaRange(all->cuda, all->ranges[at], all->memory));
}

static void open_ranges(struct growth* growth)
{
    (void)open_cuda(growth);
    for (uint32_t i = 0; i < growth->n; ++i) {
        create_range(growth, i, 1);
        append(growth, i);
    }
}

static void close_ranges(struct growth* growth)
{
    for (uint32_t i = 0; i < growth->n; ++i) {
        destroy_range(growth, i);
    }
    close_cuda(growth);
}

static void do_create_range(struct growth* growth, uint32_t index)
{
    (void)index;
    create_range(growth, growth->n, 1);
    destroy_range(growth, growth->n);
}

static void do_get_range(struct growth* growth, uint32_t index)
{
    const struct cuda_ranges* all = growth->state;
    MaarCudaRangeInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_RANGE_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetCudaRangeInfo(all->cuda, all->ranges[growth_pick(growth)], &info));
}

/* One range of n blocks, and as many more as a run appends. */
static void create_long(struct growth* growth)
{
    create_range(growth, 0, growth->n + growth->count);
    for (uint32_t i = 0; i < growth->n; ++i) {
        append(growth, 0);
    }
}

static void open_long(struct growth* growth)
{
    (void)open_cuda(growth);
}

static void do_append(struct growth* growth, uint32_t index)
{
    (void)index;
    append(growth, 0);
}

static void do_destroy_long(struct growth* growth, uint32_t index)
{
    (void)index;
    destroy_range(growth, 0);
}

static void destroy_long(struct growth* growth)
{
    destroy_range(growth, 0);
}

/* ---- mirrors ---- */

static void create_mirror(struct growth* growth, uint32_t at, uint32_t blocks)
{
    const struct cuda_ranges* all = growth->state;
    const VkBufferCreateInfo buffer = growth_buffer(BLOCK * blocks);
    const MaarCudaMirrorCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_MIRROR_CREATE_INFO,
        .pBufferInfo = &buffer,
    };
    GROWTH_EXPECT(maarCreateCudaMirror(all->cuda, &info, &all->mirrors[at]));
}

static void destroy_mirror(struct growth* growth, uint32_t at)
{
    const struct cuda_ranges* all = growth->state;
    maarDestroyCudaMirror(all->cuda, all->mirrors[at]);
}

static void open_mirrors(struct growth* growth)
{
    (void)open_cuda(growth);
    for (uint32_t i = 0; i < growth->n; ++i) {
        create_mirror(growth, i, 1);
    }
}

static void close_mirrors(struct growth* growth)
{
    for (uint32_t i = 0; i < growth->n; ++i) {
        destroy_mirror(growth, i);
    }
    close_cuda(growth);
}

static void do_create_mirror(struct growth* growth, uint32_t index)
{
    (void)index;
    create_mirror(growth, growth->n, 1);
    destroy_mirror(growth, growth->n);
}

static void do_get_mirror(struct growth* growth, uint32_t index)
{
    const struct cuda_ranges* all = growth->state;
    MaarCudaMirrorInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MIRROR_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetCudaMirrorInfo(all->cuda, all->mirrors[growth_pick(growth)], &info));
}

static void grow(struct growth* growth, uint32_t blocks)
{
    const struct cuda_ranges* all = growth->state;
    GROWTH_EXPECT(maarGrowCudaMirror(all->cuda, all->mirrors[0], BLOCK * blocks));
}

static void create_long_mirror(struct growth* growth)
{
    create_mirror(growth, 0, growth->n + growth->count);
    for (uint32_t i = 1; i <= growth->n; ++i) {
        grow(growth, i);
    }
}

static void do_grow(struct growth* growth, uint32_t index)
{
    grow(growth, growth->n + index + 1);
}

static void do_destroy_long_mirror(struct growth* growth, uint32_t index)
{
    (void)index;
    destroy_mirror(growth, 0);
}

static void destroy_long_mirror(struct growth* growth)
{
    destroy_mirror(growth, 0);
}

#define CUDA(case_name, function, how, text, world, before, does, after)                           \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = text, .kind = how, .n = 32,         \
        .count = 16, .open = open_##world, .prepare = before, .operation = does, .tidy = after,    \
        .close = close_##world                                                                     \
    }
#define close_long close_cuda

const struct growth_case growth_cuda_range_cases[] = {
    CUDA("create-cuda-range", "maarCreateCudaRange maarDestroyCudaRange", GROWTH_BESIDE,
         "other ranges", ranges, NULL, do_create_range, NULL),
    CUDA("cuda-range-info", "maarGetCudaRangeInfo", GROWTH_BESIDE, "other ranges", ranges, NULL,
         do_get_range, NULL),
    CUDA("append-to-cuda-range", "maarAppendToCudaRange", GROWTH_BESIDE, "blocks of the range",
         long, create_long, do_append, destroy_long),
    CUDA("destroy-cuda-range", "maarDestroyCudaRange", GROWTH_OVER, "blocks of the range", long,
         create_long, do_destroy_long, NULL),
    CUDA("create-cuda-mirror", "maarCreateCudaMirror maarDestroyCudaMirror", GROWTH_BESIDE,
         "other mirrors", mirrors, NULL, do_create_mirror, NULL),
    CUDA("cuda-mirror-info", "maarGetCudaMirrorInfo", GROWTH_BESIDE, "other mirrors", mirrors, NULL,
         do_get_mirror, NULL),
    CUDA("grow-cuda-mirror", "maarGrowCudaMirror", GROWTH_BESIDE, "blocks of the mirror", long,
         create_long_mirror, do_grow, destroy_long_mirror),
    CUDA("destroy-cuda-mirror", "maarDestroyCudaMirror", GROWTH_OVER, "blocks of the mirror", long,
         create_long_mirror, do_destroy_long_mirror, NULL),
    {.name = NULL},
};
