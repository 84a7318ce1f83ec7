/*
 * Transient heaps: of many resources, and beside others.
 */
#include "growth_cases.h"
#include "growth_steps.h"

#include <stdlib.h>

/* Each resource is written in a pass and read in one of the next; a pass begins so many. */
enum { LIFETIME = 8, BEGIN = 4 };

/* A graph of n resources, and its heap. */
struct transients {
    MaarTransientGraph graph;
    MaarTransientQueue queue;
    MaarTransientHeapCreateInfo info;
    VkBufferCreateInfo* buffers;
    MaarTransientUse* uses;
    MaarTransientResource* resources;
    MaarTransientPass* passes;
    MaarTransientHeap heap;
};

/* ---- graphs ---- */

static void describe_resource(struct growth* growth, struct transients* all, uint32_t at)
{
    const uint32_t first = at / BEGIN;
    const uint32_t last = first + 1 + (uint32_t)(bench_random(&growth->random) % LIFETIME);
    MaarTransientUse* uses = &all->uses[2 * (size_t)at];
    uses[0] =
        (MaarTransientUse){first, VK_IMAGE_LAYOUT_GENERAL, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                           VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT};
    uses[1] =
        (MaarTransientUse){last, VK_IMAGE_LAYOUT_GENERAL, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                           VK_ACCESS_2_SHADER_STORAGE_READ_BIT};
    all->buffers[at] = growth_buffer(bench_size(&growth->random, false));
    all->resources[at] = (MaarTransientResource){
        .pBufferInfo = &all->buffers[at],
        .useCount = 2,
        .pUses = uses,
    };
}

static struct transients* describe(struct growth* growth, uint32_t count,
                                   MaarTransientHeapCreateFlags flags)
{
    struct transients* all = growth_create_state(growth, 1, sizeof *all);
    const uint32_t passes = count / BEGIN + LIFETIME + 2;
    growth->spare = bench_allocate(count, sizeof *all->buffers + 2 * sizeof *all->uses +
                                              sizeof *all->resources);
    all->buffers = growth->spare;
    all->uses = (MaarTransientUse*)(void*)(all->buffers + count);
    all->resources = (MaarTransientResource*)(void*)(all->uses + 2 * (size_t)count);
    all->passes = bench_allocate(passes, sizeof *all->passes);
    growth->memory = (MaarAllocation*)(void*)all->passes;
    for (uint32_t i = 0; i < count; ++i) {
        describe_resource(growth, all, i);
    }
    all->graph = (MaarTransientGraph){
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_GRAPH,
        .queueCount = 1,
        .pQueues = &all->queue,
        .passCount = passes,
        .pPasses = all->passes,
        .resourceCount = count,
        .pResources = all->resources,
    };
    all->info = (MaarTransientHeapCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO,
        .flags = flags,
        .pGraph = &all->graph,
        .planNodeLimit = 1000,
    };
    return all;
}

static MaarTransientHeap create_heap(struct growth* growth)
{
    struct transients* all = growth->state;
    MaarTransientHeap heap = VK_NULL_HANDLE;
    GROWTH_EXPECT(maarCreateTransientHeap(growth->allocator, &all->info, &heap));
    return heap;
}

/* ---- of n resources ---- */

static void open_graph(struct growth* growth)
{
    (void)describe(growth, growth->n, MAAR_TRANSIENT_HEAP_CREATE_KEEP_EDGES_BIT);
}

static void open_heap(struct growth* growth)
{
    open_graph(growth);
    ((struct transients*)growth->state)->heap = create_heap(growth);
}

static void close_heap(struct growth* growth)
{
    const struct transients* all = growth->state;
    maarDestroyTransientHeap(growth->allocator, all->heap);
    GROWTH_EXPECT(maarAdvanceHostTimeline(growth->allocator, UINT64_MAX));
}

static void do_create(struct growth* growth, uint32_t index)
{
    struct transients* all = growth->state;
    (void)index;
    all->heap = create_heap(growth);
}

static void do_destroy(struct growth* growth, uint32_t index)
{
    struct transients* all = growth->state;
    (void)index;
    maarDestroyTransientHeap(growth->allocator, all->heap);
    all->heap = VK_NULL_HANDLE;
}

static void create(struct growth* growth)
{
    do_create(growth, 0);
}

static void destroy(struct growth* growth)
{
    do_destroy(growth, 0);
}

static void update(struct growth* growth)
{
    const struct transients* all = growth->state;
    GROWTH_EXPECT(maarUpdateTransientHeap(growth->allocator, all->heap, &all->graph, 0, NULL));
}

static void do_update_same(struct growth* growth, uint32_t index)
{
    (void)index;
    update(growth);
}

/* Another size of one resource. */
static void do_update_changed(struct growth* growth, uint32_t index)
{
    struct transients* all = growth->state;
    (void)index;
    all->buffers[growth_pick(growth)].size = bench_size(&growth->random, false);
    update(growth);
}

static void do_get_info(struct growth* growth, uint32_t index)
{
    const struct transients* all = growth->state;
    MaarTransientHeapInfo info = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetTransientHeapInfo(growth->allocator, all->heap, &info));
}

static void do_get_resource(struct growth* growth, uint32_t index)
{
    const struct transients* all = growth->state;
    MaarTransientResourceInfo info = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_RESOURCE_INFO};
    (void)index;
    GROWTH_EXPECT(
        maarGetTransientResource(growth->allocator, all->heap, 0, growth_pick(growth), &info));
}

static void do_get_barriers(struct growth* growth, uint32_t index)
{
    const struct transients* all = growth->state;
    MaarTransientPassBarriers barriers = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS};
    (void)index;
    GROWTH_EXPECT(maarGetTransientPassBarriers(growth->allocator, all->heap, growth->serial,
                                               growth_pick(growth) / BEGIN, &barriers));
}

/* The passes of a frame, in order. */
static void do_get_all_barriers(struct growth* growth, uint32_t index)
{
    const struct transients* all = growth->state;
    (void)index;
    for (uint32_t i = 0; i < all->graph.passCount; ++i) {
        MaarTransientPassBarriers barriers = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS};
        GROWTH_EXPECT(maarGetTransientPassBarriers(growth->allocator, all->heap, growth->serial, i,
                                                   &barriers));
    }
    ++growth->serial;
}

/* ---- beside other heaps ---- */

enum { FEW = 8 };

struct heaps {
    struct transients shared; /* first */
    MaarTransientHeap* all;
};

static void open_heaps(struct growth* growth)
{
    struct transients* first = describe(growth, FEW, MAAR_TRANSIENT_HEAP_CREATE_KEEP_EDGES_BIT);
    struct heaps* heaps = bench_allocate(1, sizeof *heaps);
    heaps->shared = *first;
    heaps->shared.graph.pQueues = &heaps->shared.queue;
    heaps->shared.info.pGraph = &heaps->shared.graph;
    free(first);
    growth->state = heaps;
    heaps->all = bench_allocate(growth->n + growth->count, sizeof *heaps->all);
    for (uint32_t i = 0; i < growth->n; ++i) {
        heaps->all[i] = create_heap(growth);
    }
}

static void close_heaps(struct growth* growth)
{
    struct heaps* heaps = growth->state;
    for (uint32_t i = 0; i < growth->n; ++i) {
        maarDestroyTransientHeap(growth->allocator, heaps->all[i]);
    }
    GROWTH_EXPECT(maarAdvanceHostTimeline(growth->allocator, UINT64_MAX));
    free(heaps->all);
}

static void do_create_more(struct growth* growth, uint32_t index)
{
    struct heaps* heaps = growth->state;
    heaps->all[growth->n + index] = create_heap(growth);
}

static void do_destroy_more(struct growth* growth, uint32_t index)
{
    const struct heaps* heaps = growth->state;
    maarDestroyTransientHeap(growth->allocator, heaps->all[growth->n + index]);
}

static void create_more(struct growth* growth)
{
    growth_repeat(growth, growth->count, do_create_more);
}

static void destroy_more(struct growth* growth)
{
    growth_repeat(growth, growth->count, do_destroy_more);
}

static void do_destroy_after(struct growth* growth, uint32_t index)
{
    const struct heaps* heaps = growth->state;
    const MaarPoint point = {.value = 1 + bench_random(&growth->random) % 1000};
    GROWTH_EXPECT(
        maarDestroyTransientHeapAfter(growth->allocator, heaps->all[growth->n + index], 1, &point));
}

static void do_get_info_of_any(struct growth* growth, uint32_t index)
{
    const struct heaps* heaps = growth->state;
    MaarTransientHeapInfo info = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_INFO};
    (void)index;
    GROWTH_EXPECT(
        maarGetTransientHeapInfo(growth->allocator, heaps->all[growth_pick(growth)], &info));
}

#define HEAPS(case_name, function, how, least, most, text, world, before, does, after, ends)       \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = text, .kind = how, .n = least,      \
        .count = most, .open = open_##world, .prepare = before, .operation = does, .tidy = after,  \
        .close = close_##ends                                                                      \
    }

const struct growth_case growth_transient_cases[] = {
    HEAPS("create-transient-heap-resources", "maarCreateTransientHeap", GROWTH_OVER, 128, 0,
          "resources, and a quarter as many passes", graph, NULL, do_create, destroy, heap),
    HEAPS("destroy-transient-heap-resources", "maarDestroyTransientHeap", GROWTH_OVER, 128, 0,
          "resources, and a quarter as many passes", graph, create, do_destroy, NULL, heap),
    HEAPS("update-transient-heap-same", "maarUpdateTransientHeap", GROWTH_OVER, 128, 0,
          "resources of an unchanged graph", heap, NULL, do_update_same, NULL, heap),
    HEAPS("update-transient-heap", "maarUpdateTransientHeap", GROWTH_OVER, 128, 0,
          "resources of a graph of which one has changed", heap, NULL, do_update_changed, NULL,
          heap),
    HEAPS("transient-heap-info-resources", "maarGetTransientHeapInfo", GROWTH_BESIDE, 128, 64,
          "resources", heap, NULL, do_get_info, NULL, heap),
    HEAPS("transient-resource", "maarGetTransientResource", GROWTH_BESIDE, 128, 64, "resources",
          heap, NULL, do_get_resource, NULL, heap),
    HEAPS("pass-barriers", "maarGetTransientPassBarriers", GROWTH_BESIDE, 128, 64,
          "resources; any pass", heap, NULL, do_get_barriers, NULL, heap),
    HEAPS("frame-barriers", "maarGetTransientPassBarriers", GROWTH_OVER, 128, 0,
          "resources; all passes of a frame", heap, NULL, do_get_all_barriers, NULL, heap),
    HEAPS("create-transient-heap", "maarCreateTransientHeap", GROWTH_BESIDE, 128, 64, "other heaps",
          heaps, NULL, do_create_more, destroy_more, heaps),
    HEAPS("destroy-transient-heap", "maarDestroyTransientHeap", GROWTH_BESIDE, 128, 64,
          "other heaps", heaps, create_more, do_destroy_more, NULL, heaps),
    HEAPS("destroy-transient-heap-after", "maarDestroyTransientHeapAfter", GROWTH_BESIDE, 128, 64,
          "other heaps", heaps, create_more, do_destroy_after, NULL, heaps),
    HEAPS("transient-heap-info", "maarGetTransientHeapInfo", GROWTH_BESIDE, 128, 64, "other heaps",
          heaps, NULL, do_get_info_of_any, NULL, heaps),
    {.name = NULL},
};
