/*
 * What is done to an allocation: queries, mapping, flushes and copies.
 */
#include "growth_cases.h"
#include "growth_steps.h"

#include <stdlib.h>

/* ---- queries and changes ---- */

static MaarAllocation pick(struct growth* growth)
{
    return growth->memory[growth_pick(growth)];
}

static void do_get_info(struct growth* growth, uint32_t index)
{
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetAllocationInfo(growth->allocator, pick(growth), &info));
}

static void do_set_user_data(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarSetAllocationUserData(growth->allocator, pick(growth), growth));
}

static void do_set_name(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarSetAllocationName(growth->allocator, pick(growth), "a name of some length"));
}

static void name_all(struct growth* growth)
{
    growth_open_live(growth);
    for (uint32_t i = 0; i < growth->n; ++i) {
        GROWTH_EXPECT(maarSetAllocationName(growth->allocator, growth->memory[i], "a name"));
    }
}

static void do_set_priority(struct growth* growth, uint32_t index)
{
    GROWTH_EXPECT(
        maarSetAllocationPriority(growth->allocator, pick(growth), index % 2 == 0 ? 0.25f : 0.75f));
}

static void do_choose_type(struct growth* growth, uint32_t index)
{
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO};
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    (void)index;
    GROWTH_EXPECT(maarChooseMemoryType(growth->allocator, UINT32_MAX, &how, &choice));
}

static void do_choose_with_reason(struct growth* growth, uint32_t index)
{
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .usage = MAAR_MEMORY_USAGE_UPLOAD};
    MaarMemoryTypeReason reason = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_REASON};
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE,
                                   .pNext = &reason};
    (void)index;
    GROWTH_EXPECT(maarChooseMemoryType(growth->allocator, UINT32_MAX, &how, &choice));
}

static void do_get_allocator_info(struct growth* growth, uint32_t index)
{
    MaarAllocatorInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetAllocatorInfo(growth->allocator, &info));
}

static void do_get_paging_info(struct growth* growth, uint32_t index)
{
    MaarPagingInfo info = {.sType = MAAR_STRUCTURE_TYPE_PAGING_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetPagingInfo(growth->allocator, &info));
}

/* ---- the host's view ---- */

enum { ALLOCATION_SIZE = 256 };

/* Allocations that the host sees, not mapped. */
static void open_visible(struct growth* growth)
{
    const MaarMemoryRequest request = growth_visible_request(ALLOCATION_SIZE);
    growth_create_allocator(growth);
    growth_fill(growth, growth->n, &request, 0, MAAR_DEDICATED_AUTO);
}

static void open_mapped(struct growth* growth)
{
    const MaarMemoryRequest request = growth_visible_request(ALLOCATION_SIZE);
    growth_create_allocator(growth);
    growth_fill(growth, growth->n, &request, MAAR_ALLOCATION_CREATE_MAPPED_BIT,
                MAAR_DEDICATED_AUTO);
}

/* One allocation of n KiB, and as many bytes of the host. */
static void open_large(struct growth* growth)
{
    const MaarMemoryRequest request = growth_visible_request(GROWTH_KIB * growth->n);
    growth_create_allocator(growth);
    growth_fill(growth, 1, &request, MAAR_ALLOCATION_CREATE_MAPPED_BIT, MAAR_DEDICATED_AUTO);
    growth->state = bench_allocate(growth->n, GROWTH_KIB);
}

static void close_large(struct growth* growth)
{
    growth_empty(growth, 1);
}

static void do_map(struct growth* growth, uint32_t index)
{
    const MaarAllocation memory = pick(growth);
    void* data = NULL;
    (void)index;
    GROWTH_EXPECT(maarMapMemory(growth->allocator, memory, &data));
    maarUnmapMemory(growth->allocator, memory);
}

static void do_get_mapped(struct growth* growth, uint32_t index)
{
    (void)index;
    if (maarGetMappedData(growth->allocator, pick(growth)) == NULL) {
        bench_die(BENCH_EXIT_FAILED, "a mapped allocation has no address");
    }
}

static void do_find(struct growth* growth, uint32_t index)
{
    const MaarAllocation memory = pick(growth);
    (void)index;
    if (maarFindAllocation(growth->allocator, (uint32_t)(uintptr_t)memory) != memory) {
        bench_die(BENCH_EXIT_FAILED, "a number finds another allocation");
    }
}

static void do_flush(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarFlushAllocation(growth->allocator, pick(growth), 0, VK_WHOLE_SIZE));
}

static void do_invalidate(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarInvalidateAllocation(growth->allocator, pick(growth), 0, VK_WHOLE_SIZE));
}

static void do_flush_many(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarFlushAllocations(growth->allocator, growth->n, growth->memory, NULL, NULL));
}

static void do_invalidate_many(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(
        maarInvalidateAllocations(growth->allocator, growth->n, growth->memory, NULL, NULL));
}

static void do_copy_to(struct growth* growth, uint32_t index)
{
    const char bytes[16] = {0};
    (void)index;
    GROWTH_EXPECT(maarCopyToAllocation(growth->allocator, pick(growth), 0, sizeof bytes, bytes));
}

static void do_copy_from(struct growth* growth, uint32_t index)
{
    char bytes[16];
    (void)index;
    GROWTH_EXPECT(maarCopyFromAllocation(growth->allocator, pick(growth), 0, sizeof bytes, bytes));
}

static void do_copy_bytes_to(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarCopyToAllocation(growth->allocator, growth->memory[0], 0,
                                       GROWTH_KIB * growth->n, growth->state));
}

static void do_copy_bytes_from(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarCopyFromAllocation(growth->allocator, growth->memory[0], 0,
                                         GROWTH_KIB * growth->n, growth->state));
}

#define BESIDE_LIVE(case_name, function, opens, dimension_text, does)                              \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = dimension_text, .n = 10000,         \
        .count = 2000, .open = opens, .operation = does, .close = growth_close_live                \
    }

const struct growth_case growth_access_cases[] = {
    BESIDE_LIVE("allocation-info", "maarGetAllocationInfo", growth_open_live, "live allocations",
                do_get_info),
    BESIDE_LIVE("set-user-data", "maarSetAllocationUserData", growth_open_live, "live allocations",
                do_set_user_data),
    BESIDE_LIVE("set-name", "maarSetAllocationName", name_all, "named allocations", do_set_name),
    BESIDE_LIVE("set-priority", "maarSetAllocationPriority", growth_open_dedicated,
                "dedicated allocations", do_set_priority),
    BESIDE_LIVE("choose-type", "maarChooseMemoryType", growth_open_live, "live allocations",
                do_choose_type),
    BESIDE_LIVE("choose-type-with-reason", "maarChooseMemoryType", growth_open_live,
                "live allocations", do_choose_with_reason),
    BESIDE_LIVE("allocator-info", "maarGetAllocatorInfo", growth_open_live, "live allocations",
                do_get_allocator_info),
    BESIDE_LIVE("paging-info", "maarGetPagingInfo", growth_open_live, "live allocations",
                do_get_paging_info),
    BESIDE_LIVE("map", "maarMapMemory maarUnmapMemory", open_visible,
                "live allocations that the host sees", do_map),
    BESIDE_LIVE("mapped-data", "maarGetMappedData", open_mapped, "mapped allocations",
                do_get_mapped),
    BESIDE_LIVE("find-allocation", "maarFindAllocation", growth_open_live, "live allocations",
                do_find),
    BESIDE_LIVE("flush", "maarFlushAllocation", open_mapped, "mapped allocations", do_flush),
    BESIDE_LIVE("invalidate", "maarInvalidateAllocation", open_mapped, "mapped allocations",
                do_invalidate),
    BESIDE_LIVE("copy-to", "maarCopyToAllocation", open_mapped, "mapped allocations", do_copy_to),
    BESIDE_LIVE("copy-from", "maarCopyFromAllocation", open_mapped, "mapped allocations",
                do_copy_from),
    {
        .name = "flush-many",
        .functions = "maarFlushAllocations",
        .dimension = "allocations of the call",
        .kind = GROWTH_OVER,
        .n = 10000,
        .open = open_mapped,
        .operation = do_flush_many,
        .close = growth_close_live,
    },
    {
        .name = "invalidate-many",
        .functions = "maarInvalidateAllocations",
        .dimension = "allocations of the call",
        .kind = GROWTH_OVER,
        .n = 10000,
        .open = open_mapped,
        .operation = do_invalidate_many,
        .close = growth_close_live,
    },
    {
        .name = "copy-bytes-to",
        .functions = "maarCopyToAllocation",
        .dimension = "KiB",
        .kind = GROWTH_OVER,
        .n = 1024,
        .open = open_large,
        .operation = do_copy_bytes_to,
        .close = close_large,
    },
    {
        .name = "copy-bytes-from",
        .functions = "maarCopyFromAllocation",
        .dimension = "KiB",
        .kind = GROWTH_OVER,
        .n = 1024,
        .open = open_large,
        .operation = do_copy_bytes_from,
        .close = close_large,
    },
    {.name = NULL},
};
