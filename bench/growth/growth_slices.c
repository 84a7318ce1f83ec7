/*
 * Slices of shared buffers.
 */
#include "growth_cases.h"
#include "growth_steps.h"

#include <stdlib.h>

/* Usages of buffers that Vulkan 1.1 knows; slices share a buffer only with those of one set. */
enum { USAGE_BITS = 9 };

static MaarSliceCreateInfo describe_slice(VkDeviceSize size, VkBufferUsageFlags usage)
{
    return (MaarSliceCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = size,
        .usage = usage,
    };
}

static void create_slice(struct growth* growth, uint32_t at)
{
    MaarSlice* slices = growth->state;
    const MaarSliceCreateInfo info = describe_slice(256 * (1 + bench_random(&growth->random) % 16),
                                                    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    GROWTH_EXPECT(maarCreateSlice(growth->allocator, &info, &slices[at]));
}

static void open_slices(struct growth* growth)
{
    (void)growth_create_state(growth, growth->n + growth->count, sizeof(MaarSlice));
    for (uint32_t i = 0; i < growth->n; ++i) {
        create_slice(growth, i);
    }
}

static void close_slices(struct growth* growth)
{
    const MaarSlice* slices = growth->state;
    for (uint32_t i = 0; i < growth->n; ++i) {
        maarDestroySlice(growth->allocator, slices[i]);
    }
}

static void do_create(struct growth* growth, uint32_t index)
{
    create_slice(growth, growth->n + index);
}

static void do_destroy(struct growth* growth, uint32_t index)
{
    const MaarSlice* slices = growth->state;
    maarDestroySlice(growth->allocator, slices[growth->n + index]);
}

static void create_more(struct growth* growth)
{
    growth_repeat(growth, growth->count, do_create);
}

static void destroy_more(struct growth* growth)
{
    growth_repeat(growth, growth->count, do_destroy);
}

static void do_get_info(struct growth* growth, uint32_t index)
{
    const MaarSlice* slices = growth->state;
    MaarSliceInfo info = {.sType = MAAR_STRUCTURE_TYPE_SLICE_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetSliceInfo(growth->allocator, slices[growth_pick(growth)], &info));
}

/* ---- pending ---- */

static void destroy_after(struct growth* growth, uint32_t at)
{
    const MaarSlice* slices = growth->state;
    const MaarPoint point = {.value = 1 + bench_random(&growth->random) % 1000};
    GROWTH_EXPECT(maarDestroySliceAfter(growth->allocator, slices[at], 1, &point));
}

static void open_pending(struct growth* growth)
{
    open_slices(growth);
    for (uint32_t i = 0; i < growth->n; ++i) {
        destroy_after(growth, i);
    }
}

static void close_pending(struct growth* growth)
{
    GROWTH_EXPECT(maarAdvanceHostTimeline(growth->allocator, UINT64_MAX));
}

static void do_destroy_after(struct growth* growth, uint32_t index)
{
    destroy_after(growth, growth->n + index);
}

/* ---- buffers ---- */

/* n slices of the largest size, a quarter of which fills a shared buffer. */
static void open_large(struct growth* growth)
{
    MaarSlice* slices = growth_create_state(growth, growth->n + growth->count, sizeof *slices);
    const MaarSliceCreateInfo info =
        describe_slice(MAAR_MAX_SLICE_SIZE, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    for (uint32_t i = 0; i < growth->n; ++i) {
        GROWTH_EXPECT(maarCreateSlice(growth->allocator, &info, &slices[i]));
    }
}

/* Frees any slice, and takes one of the same size, for which that buffer alone has room. */
static void do_churn_large(struct growth* growth, uint32_t index)
{
    MaarSlice* slices = growth->state;
    MaarSlice* const slice = &slices[growth_pick(growth)];
    const MaarSliceCreateInfo info =
        describe_slice(MAAR_MAX_SLICE_SIZE, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    (void)index;
    maarDestroySlice(growth->allocator, *slice);
    GROWTH_EXPECT(maarCreateSlice(growth->allocator, &info, slice));
}

/* One slice of each of n kinds: a set of usages and of queue families. */
static MaarSliceCreateInfo describe_kind(uint32_t kind)
{
    const VkBufferUsageFlags usage = 1 + kind % ((1u << USAGE_BITS) - 1);
    MaarSliceCreateInfo info = describe_slice(256, usage);
    info.allocationFlags = kind >> USAGE_BITS & 1
                               ? (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT
                               : 0;
    return info;
}

static void open_kinds(struct growth* growth)
{
    MaarSlice* slices = growth_create_state(growth, growth->n, sizeof *slices);
    for (uint32_t i = 0; i < growth->n; ++i) {
        const MaarSliceCreateInfo info = describe_kind(i);
        GROWTH_EXPECT(maarCreateSlice(growth->allocator, &info, &slices[i]));
    }
}

static void do_create_kind(struct growth* growth, uint32_t index)
{
    const MaarSliceCreateInfo info = describe_kind(growth_pick(growth));
    MaarSlice slice = VK_NULL_HANDLE;
    (void)index;
    GROWTH_EXPECT(maarCreateSlice(growth->allocator, &info, &slice));
    maarDestroySlice(growth->allocator, slice);
}

#define SLICES(case_name, function, least, text, world, before, does, after)                       \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = text, .n = least, .count = 1000,    \
        .open = open_##world, .prepare = before, .operation = does, .tidy = after,                 \
        .close = close_##world                                                                     \
    }
#define close_large close_slices
#define close_kinds close_slices

const struct growth_case growth_slice_cases[] = {
    SLICES("create-slice", "maarCreateSlice", 10000, "slices", slices, NULL, do_create,
           destroy_more),
    SLICES("destroy-slice", "maarDestroySlice", 10000, "slices", slices, create_more, do_destroy,
           NULL),
    SLICES("destroy-slice-after", "maarDestroySliceAfter", 10000,
           "slices whose destruction is pending", pending, create_more, do_destroy_after, NULL),
    SLICES("slice-info", "maarGetSliceInfo", 10000, "slices", slices, NULL, do_get_info, NULL),
    SLICES("create-slice-buffers", "maarCreateSlice", 1000, "slices that fill shared buffers",
           large, NULL, do_create, destroy_more),
    SLICES("churn-slice-buffers", "maarCreateSlice maarDestroySlice", 1000,
           "slices that fill shared buffers", large, NULL, do_churn_large, NULL),
    SLICES("create-slice-kinds", "maarCreateSlice maarDestroySlice", 64,
           "kinds of slices that share no buffers", kinds, NULL, do_create_kind, NULL),
    {.name = NULL},
};
