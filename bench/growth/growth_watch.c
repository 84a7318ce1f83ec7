/*
 * Statistics, budgets, lists, dumps and checks; allocators beside allocators.
 */
#include "growth_cases.h"
#include "growth_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- worlds ---- */

/* n blocks, each with one allocation. */
static void open_blocks(struct growth* growth)
{
    const MaarMemoryRequest request = growth_request(GROWTH_MIB, 256);
    growth_create_allocator(growth);
    growth->pool = growth_create_pool(growth, GROWTH_MIB, 0);
    growth_fill(growth, growth->n, &request, 0, MAAR_DEDICATED_AUTO);
}

static void close_pool(struct growth* growth)
{
    growth_empty(growth, growth->n);
    maarDestroyPool(growth->allocator, growth->pool);
}

/* n ranges of one block, every second of them free. */
static void open_ranges(struct growth* growth)
{
    const MaarMemoryRequest request = growth_request(4 * GROWTH_KIB, 256);
    growth_create_allocator(growth);
    growth->pool = growth_create_pool(growth, 4 * GROWTH_KIB * growth->n, 1);
    growth_fill(growth, growth->n, &request, 0, MAAR_DEDICATED_AUTO);
    for (uint32_t i = 0; i < growth->n; i += 2) {
        maarFreeMemory(growth->allocator, growth->memory[i]);
        growth->memory[i] = VK_NULL_HANDLE;
    }
}

/* Live allocations with margins, in memory that the host sees. */
static void open_margins(struct growth* growth)
{
    const MaarMarginInfo margins = {
        .sType = MAAR_STRUCTURE_TYPE_MARGIN_INFO, .marginSize = 16, .checksMargins = VK_TRUE};
    MaarMemoryRequest request = growth_request(4 * GROWTH_KIB, 256);
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .usage = MAAR_MEMORY_USAGE_UPLOAD};
    request.requirements.memoryTypeBits = UINT32_MAX;
    growth->allocator_info.pNext = &margins;
    growth_create_allocator(growth);
    growth->memory = bench_allocate(growth->n, sizeof *growth->memory);
    for (uint32_t i = 0; i < growth->n; ++i) {
        GROWTH_EXPECT(maarAllocateMemory(growth->allocator, &request, &how, &growth->memory[i]));
    }
}

static void open_pools(struct growth* growth)
{
    MaarPool* pools = growth_create_state(growth, growth->n, sizeof *pools);
    for (uint32_t i = 0; i < growth->n; ++i) {
        pools[i] = growth_create_pool(growth, GROWTH_MIB, 0);
    }
}

/* ---- statistics ---- */

static void do_statistics(struct growth* growth, uint32_t index)
{
    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    (void)index;
    GROWTH_EXPECT(maarGetStatistics(growth->allocator, VK_NULL_HANDLE, &statistics));
}

static void do_pool_statistics(struct growth* growth, uint32_t index)
{
    MaarPool* pools = growth->state;
    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    (void)index;
    GROWTH_EXPECT(maarGetStatistics(growth->allocator, pools[growth_pick(growth)], &statistics));
}

static void do_type_statistics(struct growth* growth, uint32_t index)
{
    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    (void)index;
    GROWTH_EXPECT(maarGetMemoryTypeStatistics(growth->allocator, 0, &statistics));
}

static void do_type_details(struct growth* growth, uint32_t index)
{
    MaarDetailedStatistics details = {.sType = MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS};
    (void)index;
    GROWTH_EXPECT(maarGetMemoryTypeDetailedStatistics(growth->allocator, 0, &details));
}

static void do_reset_peaks(struct growth* growth, uint32_t index)
{
    (void)index;
    maarResetPeaks(growth->allocator);
}

static void do_budgets(struct growth* growth, uint32_t index)
{
    MaarHeapBudget budgets[2] = {{.sType = MAAR_STRUCTURE_TYPE_HEAP_BUDGET},
                                 {.sType = MAAR_STRUCTURE_TYPE_HEAP_BUDGET}};
    uint32_t count = 2;
    (void)index;
    GROWTH_EXPECT(maarGetHeapBudgets(growth->allocator, &count, budgets));
}

/* ---- lists and dumps ---- */

static void list_blocks(struct growth* growth)
{
    uint32_t count = 0;
    GROWTH_EXPECT(maarEnumerateBlocks(growth->allocator, VK_NULL_HANDLE, &count, NULL));
    MaarBlockInfo* blocks = bench_allocate(count, sizeof *blocks);
    for (uint32_t i = 0; i < count; ++i) {
        blocks[i].sType = MAAR_STRUCTURE_TYPE_BLOCK_INFO;
    }
    GROWTH_EXPECT(maarEnumerateBlocks(growth->allocator, VK_NULL_HANDLE, &count, blocks));
    growth->state = blocks;
}

static void open_listed_blocks(struct growth* growth)
{
    open_blocks(growth);
    list_blocks(growth);
}

static void open_listed_ranges(struct growth* growth)
{
    open_ranges(growth);
    list_blocks(growth);
    growth->spare = bench_allocate(growth->n, sizeof(MaarBlockRange));
}

static void do_list_blocks(struct growth* growth, uint32_t index)
{
    uint32_t count = growth->n;
    (void)index;
    GROWTH_EXPECT(maarEnumerateBlocks(growth->allocator, growth->pool, &count, growth->state));
}

static void do_list_ranges(struct growth* growth, uint32_t index)
{
    const MaarBlockInfo* blocks = growth->state;
    uint32_t count = growth->n;
    (void)index;
    GROWTH_EXPECT(
        maarEnumerateBlockRanges(growth->allocator, blocks[0].blockId, &count, growth->spare));
}

static void do_list_block(struct growth* growth, uint32_t index)
{
    const MaarBlockInfo* blocks = growth->state;
    uint32_t count = 0;
    (void)index;
    GROWTH_EXPECT(maarEnumerateBlockRanges(growth->allocator, blocks[growth_pick(growth)].blockId,
                                           &count, NULL));
}

static void do_check_margins(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarCheckMargins(growth->allocator, VK_NULL_HANDLE, UINT32_MAX));
}

static void dump(struct growth* growth, MaarDumpFormat format, VkBool32 detailed)
{
    const MaarDumpInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DUMP_INFO, .format = format, .detailed = detailed};
    size_t size = 0;
    GROWTH_EXPECT(maarWriteDump(growth->allocator, &info, &size, NULL));
    free(growth->spare);
    growth->spare = bench_allocate(size, 1);
    GROWTH_EXPECT(maarWriteDump(growth->allocator, &info, &size, growth->spare));
}

static void do_dump(struct growth* growth, uint32_t index)
{
    (void)index;
    dump(growth, MAAR_DUMP_FORMAT_MAAR, VK_TRUE);
}

static void do_dump_vma(struct growth* growth, uint32_t index)
{
    (void)index;
    dump(growth, MAAR_DUMP_FORMAT_VMA, VK_TRUE);
}

static void do_dump_totals(struct growth* growth, uint32_t index)
{
    (void)index;
    dump(growth, MAAR_DUMP_FORMAT_MAAR, VK_FALSE);
}

static void do_check(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarCheckAllocator(growth->allocator, NULL));
}

/* ---- captures ---- */

enum { CAPTURE_PATH_SIZE = 64 };

static const char* name_capture(char path[CAPTURE_PATH_SIZE])
{
    (void)snprintf(path, CAPTURE_PATH_SIZE, "/tmp/maar-growth-%d.maarcap", (int)getpid());
    return path;
}

static void begin_capture(struct growth* growth)
{
    char path[CAPTURE_PATH_SIZE];
    const MaarCaptureBeginInfo info = {.sType = MAAR_STRUCTURE_TYPE_CAPTURE_BEGIN_INFO,
                                       .pPath = name_capture(path)};
    (void)remove(path);
    GROWTH_EXPECT(maarBeginCapture(growth->allocator, &info));
}

static void do_capture(struct growth* growth, uint32_t index)
{
    (void)index;
    begin_capture(growth);
    GROWTH_EXPECT(maarEndCapture(growth->allocator));
}

static void open_captured(struct growth* growth)
{
    growth_open_live(growth);
    begin_capture(growth);
}

static void close_captured(struct growth* growth)
{
    char path[CAPTURE_PATH_SIZE];
    GROWTH_EXPECT(maarEndCapture(growth->allocator));
    (void)remove(name_capture(path));
    growth_close_live(growth);
}

static void do_capture_calls(struct growth* growth, uint32_t index)
{
    const MaarCaptureAccess access = {.allocation = growth->memory[index % growth->n]};
    const MaarCaptureSubmitInfo submit = {
        .sType = MAAR_STRUCTURE_TYPE_CAPTURE_SUBMIT_INFO, .accessCount = 1, .pAccesses = &access};
    GROWTH_EXPECT(maarCaptureFrame(growth->allocator, growth->queue));
    GROWTH_EXPECT(maarCaptureMark(growth->allocator, "a mark"));
    GROWTH_EXPECT(maarCaptureSubmit(growth->allocator, &submit));
}

/* ---- allocators ---- */

static void open_allocators(struct growth* growth)
{
    MaarAllocator* all = growth_create_state(growth, growth->n + growth->count, sizeof *all);
    for (uint32_t i = 0; i < growth->n; ++i) {
        GROWTH_EXPECT(maarCreateAllocator(&growth->allocator_info, &all[i]));
    }
}

static void do_create_allocator(struct growth* growth, uint32_t index)
{
    MaarAllocator* all = growth->state;
    (void)index;
    GROWTH_EXPECT(maarCreateAllocator(&growth->allocator_info, &all[growth->n]));
    maarDestroyAllocator(all[growth->n]);
}

static void close_allocators(struct growth* growth)
{
    const MaarAllocator* all = growth->state;
    for (uint32_t i = 0; i < growth->n; ++i) {
        maarDestroyAllocator(all[i]);
    }
}

/* Destroys an allocator that keeps n empty blocks, or that the program left n allocations in. */
static void do_destroy_allocator(struct growth* growth, uint32_t index)
{
    (void)index;
    maarDestroyAllocator(growth->allocator);
    growth->allocator = NULL;
}

static void fill_allocator(struct growth* growth)
{
    free(growth->memory);
    growth_open_live(growth);
}

static void keep_blocks(struct growth* growth)
{
    free(growth->memory);
    open_blocks(growth);
    growth_empty(growth, growth->n);
}

static void open_bare(struct growth* growth)
{
    growth->allocator = NULL;
}

#define WATCH(case_name, function, how, least, does, world, text)                                  \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = text, .kind = how, .n = least,      \
        .count = 100, .open = open_##world, .operation = does, .close = close_##world              \
    }
#define open_live growth_open_live
#define close_live growth_close_live
#define close_pools growth_destroy_pools
#define close_blocks close_pool
#define close_ranges close_pool
#define close_margins growth_close_live
#define close_listed_blocks close_pool
#define close_listed_ranges close_pool

const struct growth_case growth_watch_cases[] = {
    WATCH("statistics", "maarGetStatistics", GROWTH_BESIDE, 10000, do_statistics, live,
          "live allocations"),
    WATCH("statistics-blocks", "maarGetStatistics", GROWTH_OVER, 1000, do_statistics, blocks,
          "blocks"),
    WATCH("statistics-pools", "maarGetStatistics", GROWTH_OVER, 500, do_statistics, pools, "pools"),
    WATCH("statistics-pool", "maarGetStatistics", GROWTH_BESIDE, 500, do_pool_statistics, pools,
          "other pools"),
    WATCH("type-statistics", "maarGetMemoryTypeStatistics", GROWTH_BESIDE, 10000,
          do_type_statistics, live, "live allocations"),
    WATCH("type-statistics-blocks", "maarGetMemoryTypeStatistics", GROWTH_OVER, 1000,
          do_type_statistics, blocks, "blocks"),
    WATCH("detailed-statistics", "maarGetDetailedStatistics", GROWTH_OVER, 10000,
          growth_read_details, ranges, "ranges"),
    WATCH("detailed-statistics-blocks", "maarGetDetailedStatistics", GROWTH_OVER, 1000,
          growth_read_details, blocks, "blocks"),
    WATCH("type-details", "maarGetMemoryTypeDetailedStatistics", GROWTH_OVER, 10000,
          do_type_details, ranges, "ranges"),
    WATCH("reset-peaks", "maarResetPeaks", GROWTH_BESIDE, 10000, do_reset_peaks, live,
          "live allocations"),
    WATCH("reset-peaks-blocks", "maarResetPeaks", GROWTH_BESIDE, 1000, do_reset_peaks, blocks,
          "blocks"),
    WATCH("reset-peaks-pools", "maarResetPeaks", GROWTH_OVER, 500, do_reset_peaks, pools, "pools"),
    WATCH("heap-budgets", "maarGetHeapBudgets", GROWTH_BESIDE, 10000, do_budgets, live,
          "live allocations"),
    WATCH("heap-budgets-blocks", "maarGetHeapBudgets", GROWTH_BESIDE, 1000, do_budgets, blocks,
          "blocks"),
    WATCH("list-blocks", "maarEnumerateBlocks", GROWTH_OVER, 1000, do_list_blocks, listed_blocks,
          "blocks"),
    WATCH("list-ranges", "maarEnumerateBlockRanges", GROWTH_OVER, 10000, do_list_ranges,
          listed_ranges, "ranges of the block"),
    WATCH("list-ranges-blocks", "maarEnumerateBlockRanges", GROWTH_BESIDE, 1000, do_list_block,
          listed_blocks, "other blocks"),
    WATCH("dump", "maarWriteDump", GROWTH_OVER, 2000, do_dump, ranges, "ranges"),
    WATCH("dump-vma", "maarWriteDump", GROWTH_OVER, 2000, do_dump_vma, ranges, "ranges"),
    WATCH("dump-blocks", "maarWriteDump", GROWTH_OVER, 1000, do_dump, blocks, "blocks"),
    WATCH("dump-pools", "maarWriteDump", GROWTH_OVER, 500, do_dump, pools, "pools"),
    WATCH("dump-totals", "maarWriteDump", GROWTH_OVER, 10000, do_dump_totals, live,
          "live allocations; totals alone"),
    WATCH("capture", "maarBeginCapture maarEndCapture", GROWTH_OVER, 10000, do_capture, live,
          "live allocations"),
    WATCH("capture-calls", "maarCaptureFrame maarCaptureMark maarCaptureSubmit", GROWTH_BESIDE,
          10000, do_capture_calls, captured, "live allocations"),
    WATCH("check", "maarCheckAllocator", GROWTH_OVER, 2000, do_check, ranges, "ranges"),
    WATCH("check-blocks", "maarCheckAllocator", GROWTH_OVER, 1000, do_check, blocks, "blocks"),
    WATCH("check-pools", "maarCheckAllocator", GROWTH_OVER, 500, do_check, pools, "pools"),
    WATCH("check-margins", "maarCheckMargins", GROWTH_OVER, 2000, do_check_margins, margins,
          "live allocations"),
    {
        .name = "create-allocator",
        .functions = "maarCreateAllocator maarDestroyAllocator",
        .dimension = "other allocators of the device",
        .n = 32,
        .count = 20,
        .open = open_allocators,
        .operation = do_create_allocator,
        .close = close_allocators,
    },
    {
        .name = "destroy-allocator-blocks",
        .functions = "maarDestroyAllocator",
        .dimension = "empty blocks that a pool kept, and the pool",
        .kind = GROWTH_OVER,
        .n = 1000,
        .open = open_bare,
        .prepare = keep_blocks,
        .operation = do_destroy_allocator,
    },
    {
        .name = "destroy-allocator-leaks",
        .functions = "maarDestroyAllocator",
        .dimension = "allocations that the program did not free",
        .kind = GROWTH_OVER,
        .n = 5000,
        .open = open_bare,
        .prepare = fill_allocator,
        .operation = do_destroy_allocator,
    },
    {.name = NULL},
};
