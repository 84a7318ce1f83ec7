/*
 * One reservation with many pages, and objects made of pages.
 */
#include "growth_cases.h"
#include "growth_reservation.h"
#include "growth_steps.h"

#include <stdlib.h>

struct pages {
    MaarReservation reservation;
    MaarReservation other;
    MaarPageRange* ranges;
    MaarPageRange* listed; /* room for n */
    VkCommandPool command_pool;
    VkCommandBuffer commands;
    MaarPageRun* runs;
};

static void submit(struct growth* growth)
{
    GROWTH_EXPECT(maarSubmitBinds(growth->allocator, 0, NULL, NULL));
}

/* ---- worlds ---- */

/* Two empty reservations of 2 n pages. Each of n ranges has one page in the first. */
static void open_empty(struct growth* growth)
{
    struct pages* pages = growth_create_state(growth, 1, sizeof *pages);
    pages->reservation = growth_create_reservation(growth, 2 * growth->n);
    pages->other = growth_create_reservation(growth, 2 * growth->n);
    growth->spare =
        bench_allocate(growth->n, 2 * sizeof(struct MaarPageRange) + sizeof(struct MaarPageRun));
    pages->runs = growth->spare;
    pages->ranges = (MaarPageRange*)(void*)(pages->runs + growth->n);
    pages->listed = pages->ranges + growth->n;
    pages->command_pool = VK_NULL_HANDLE;
    for (uint32_t i = 0; i < growth->n; ++i) {
        pages->ranges[i] = (MaarPageRange){2 * GROWTH_PAGE * i, GROWTH_PAGE};
    }
}

static void commit_dense(struct growth* growth)
{
    const struct pages* pages = growth->state;
    growth_commit(growth, pages->reservation, 0, growth->n);
}

static void commit_scattered(struct growth* growth)
{
    const struct pages* pages = growth->state;
    GROWTH_EXPECT(maarCommitPages(growth->allocator, pages->reservation, growth->n, pages->ranges));
}

static void decommit_all(struct growth* growth)
{
    const struct pages* pages = growth->state;
    growth_decommit(growth, pages->reservation, 0, 2 * growth->n);
    submit(growth);
}

static void open_dense(struct growth* growth)
{
    open_empty(growth);
    commit_dense(growth);
    submit(growth);
}

static void open_scattered(struct growth* growth)
{
    open_empty(growth);
    commit_scattered(growth);
    submit(growth);
}

/* n blocks of one page, in a pool of their own. */
static void open_page_blocks(struct growth* growth)
{
    const MaarPoolPagingInfo paging = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
        .stitch = VK_TRUE,
        .pageBlockSize = GROWTH_PAGE,
    };
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .pNext = &paging,
    };
    const VkBufferCreateInfo buffer = growth_buffer(GROWTH_PAGE * growth->n);
    MaarAllocationCreateInfo memory = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .usage = MAAR_MEMORY_USAGE_FLAGS_ONLY,
    };
    const MaarReservationCreateInfo reservation = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .flags = MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT,
        .pBufferInfo = &buffer,
        .pMemoryInfo = &memory,
    };
    struct pages* pages = growth_create_state(growth, 1, sizeof *pages);
    GROWTH_EXPECT(maarCreatePool(growth->allocator, &info, &growth->pool));
    memory.pool = growth->pool;
    GROWTH_EXPECT(maarCreateReservation(growth->allocator, &reservation, &pages->reservation));
    for (uint32_t i = 0; i < growth->n; ++i) {
        growth_commit(growth, pages->reservation, i, 1);
    }
    submit(growth);
}

/* The same, beside one empty page block that is not old yet. */
static void open_young_page_block(struct growth* growth)
{
    open_page_blocks(growth);
    const struct pages* pages = growth->state;
    growth_decommit(growth, pages->reservation, growth->n / 2, 1);
    submit(growth);
    GROWTH_EXPECT(maarTrimAged(growth->allocator, growth->pool, 1, 100, NULL));
}

static void do_trim_young(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarTrimAged(growth->allocator, growth->pool, 2, 100, NULL));
}

static void close_page_blocks(struct growth* growth)
{
    const struct pages* pages = growth->state;
    maarDestroyReservation(growth->allocator, pages->reservation);
    maarDestroyPool(growth->allocator, growth->pool);
}

/* A mapped reservation of 2 n pages, every second one committed. */
static void open_mapped(struct growth* growth)
{
    open_empty(growth);
    struct pages* pages = growth->state;
    const VkBufferCreateInfo buffer = growth_buffer(GROWTH_PAGE * 2 * growth->n);
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .flags = MAAR_RESERVATION_CREATE_MAPPED_BIT,
        .pBufferInfo = &buffer,
    };
    maarDestroyReservation(growth->allocator, pages->reservation);
    GROWTH_EXPECT(maarCreateReservation(growth->allocator, &info, &pages->reservation));
    /* From the end, so that no two pages are adjacent for the host. */
    for (uint32_t i = growth->n; i-- > 0;) {
        growth_commit(growth, pages->reservation, i, 1);
    }
    submit(growth);
}

static void do_list_host_pages(struct growth* growth, uint32_t index)
{
    const struct pages* pages = growth->state;
    const MaarPageRange all = {0, GROWTH_PAGE * growth->n};
    uint32_t count = 0;
    (void)index;
    GROWTH_EXPECT(maarGetHostPages(growth->allocator, pages->reservation, &all, &count, NULL));
}

static void do_find_host_page(struct growth* growth, uint32_t index)
{
    const struct pages* pages = growth->state;
    const MaarPageRange one = {GROWTH_PAGE * (index % growth->n), GROWTH_PAGE};
    MaarHostRun run;
    uint32_t count = 1;
    GROWTH_EXPECT(maarGetHostPages(growth->allocator, pages->reservation, &one, &count, &run));
}

static void do_flush_pages(struct growth* growth, uint32_t index)
{
    const struct pages* pages = growth->state;
    const MaarPageRange all = {0, GROWTH_PAGE * growth->n};
    (void)index;
    GROWTH_EXPECT(maarFlushPages(growth->allocator, pages->reservation, 1, &all));
}

static void do_invalidate_pages(struct growth* growth, uint32_t index)
{
    const struct pages* pages = growth->state;
    const MaarPageRange all = {0, GROWTH_PAGE * growth->n};
    (void)index;
    GROWTH_EXPECT(maarInvalidatePages(growth->allocator, pages->reservation, 1, &all));
}

/* The same as scattered, and a command buffer. */
static void open_zeros(struct growth* growth)
{
    open_scattered(growth);
    struct pages* pages = growth->state;
    pages->commands = growth_open_commands(growth, &pages->command_pool);
}

static void close_pages(struct growth* growth)
{
    const struct pages* pages = growth->state;
    vkDestroyCommandPool(growth->device, pages->command_pool, NULL);
    maarDestroyReservation(growth->allocator, pages->reservation);
    maarDestroyReservation(growth->allocator, pages->other);
}

/* ---- one page beside others ---- */

static void do_commit(struct growth* growth, uint32_t index)
{
    const struct pages* pages = growth->state;
    growth_commit(growth, pages->reservation, 2 * (index % growth->n) + 1, 1);
}

static void do_decommit(struct growth* growth, uint32_t index)
{
    const struct pages* pages = growth->state;
    growth_decommit(growth, pages->reservation, 2 * (index % growth->n) + 1, 1);
}

static void commit_more(struct growth* growth)
{
    for (uint32_t i = 0; i < growth->count; ++i) {
        do_commit(growth, i);
    }
    submit(growth);
}

static void decommit_more(struct growth* growth)
{
    submit(growth);
    for (uint32_t i = 0; i < growth->count; ++i) {
        do_decommit(growth, i);
    }
    submit(growth);
}

static void do_submit_one(struct growth* growth, uint32_t index)
{
    const struct pages* pages = growth->state;
    growth_decommit(growth, pages->reservation, 2 * (index % growth->n), 1);
    submit(growth);
    growth_commit(growth, pages->reservation, 2 * (index % growth->n), 1);
    submit(growth);
}

static void do_get_info(struct growth* growth, uint32_t index)
{
    const struct pages* pages = growth->state;
    MaarReservationInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetReservationInfo(growth->allocator, pages->reservation, &info));
}

/* ---- all pages at once ---- */

static void do_commit_dense(struct growth* growth, uint32_t index)
{
    (void)index;
    commit_dense(growth);
}

static void do_commit_listed(struct growth* growth, uint32_t index)
{
    const struct pages* pages = growth->state;
    MaarNewPages taken = {.sType = MAAR_STRUCTURE_TYPE_NEW_PAGES,
                          .rangeCapacity = growth->n,
                          .pRanges = pages->listed};
    (void)index;
    GROWTH_EXPECT(maarCommitNewPages(growth->allocator, pages->reservation, growth->n,
                                     pages->ranges, &taken));
}

static void do_record_zeros(struct growth* growth, uint32_t index)
{
    const struct pages* pages = growth->state;
    (void)index;
    GROWTH_EXPECT(maarRecordZeroPages(growth->allocator, pages->reservation, growth->n,
                                      pages->ranges, pages->commands));
}

static void do_commit_scattered(struct growth* growth, uint32_t index)
{
    (void)index;
    commit_scattered(growth);
}

static void do_decommit_dense(struct growth* growth, uint32_t index)
{
    const struct pages* pages = growth->state;
    (void)index;
    growth_decommit(growth, pages->reservation, 0, growth->n);
}

static void do_decommit_scattered(struct growth* growth, uint32_t index)
{
    const struct pages* pages = growth->state;
    (void)index;
    GROWTH_EXPECT(
        maarDecommitPages(growth->allocator, pages->reservation, growth->n, pages->ranges));
}

static void commit_dense_again(struct growth* growth)
{
    submit(growth);
    commit_dense(growth);
    submit(growth);
}

static void commit_scattered_again(struct growth* growth)
{
    submit(growth);
    commit_scattered(growth);
    submit(growth);
}

static void submit_and_decommit(struct growth* growth)
{
    submit(growth);
    decommit_all(growth);
}

static void do_submit(struct growth* growth, uint32_t index)
{
    (void)index;
    submit(growth);
}

static void do_alias(struct growth* growth, uint32_t index)
{
    const struct pages* pages = growth->state;
    (void)index;
    GROWTH_EXPECT(maarAliasPages(growth->allocator, pages->other, 0, GROWTH_PAGE * growth->n,
                                 pages->reservation, 0));
}

static void do_alias_one(struct growth* growth, uint32_t index)
{
    const struct pages* pages = growth->state;
    const VkDeviceSize offset = GROWTH_PAGE * (index % growth->n);
    GROWTH_EXPECT(maarAliasPages(growth->allocator, pages->other, offset, GROWTH_PAGE,
                                 pages->reservation, offset));
}

static void forget_aliases(struct growth* growth)
{
    const struct pages* pages = growth->state;
    submit(growth);
    growth_decommit(growth, pages->other, 0, 2 * growth->n);
    submit(growth);
}

static void do_list_runs(struct growth* growth, uint32_t index)
{
    const struct pages* pages = growth->state;
    uint32_t count = growth->n;
    (void)index;
    GROWTH_EXPECT(
        maarEnumerateReservationPages(growth->allocator, pages->reservation, &count, pages->runs));
}

static void do_destroy(struct growth* growth, uint32_t index)
{
    struct pages* pages = growth->state;
    (void)index;
    maarDestroyReservation(growth->allocator, pages->reservation);
    pages->reservation = VK_NULL_HANDLE;
}

static void create_scattered(struct growth* growth)
{
    struct pages* pages = growth->state;
    pages->reservation = growth_create_reservation(growth, 2 * growth->n);
    commit_scattered(growth);
    submit(growth);
}

static void open_two(struct growth* growth)
{
    open_empty(growth);
    do_destroy(growth, 0);
}

#define PAGES(case_name, function, how, text, world, before, does, after)                          \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = text, .kind = how, .n = 1000,       \
        .count = 64, .open = open_##world, .prepare = before, .operation = does, .tidy = after,    \
        .close = close_pages                                                                       \
    }

const struct growth_case growth_page_cases[] = {
    PAGES("commit-page", "maarCommitPages", GROWTH_BESIDE, "committed pages, every second one",
          scattered, NULL, do_commit, decommit_more),
    PAGES("decommit-page", "maarDecommitPages", GROWTH_BESIDE, "committed pages, every second one",
          scattered, commit_more, do_decommit, NULL),
    PAGES("submit-page", "maarSubmitBinds maarCommitPages maarDecommitPages", GROWTH_BESIDE,
          "committed pages, every second one", scattered, NULL, do_submit_one, NULL),
    PAGES("reservation-info-pages", "maarGetReservationInfo", GROWTH_BESIDE,
          "committed pages, every second one", scattered, NULL, do_get_info, NULL),
    PAGES("commit-adjacent", "maarCommitPages", GROWTH_OVER, "adjacent pages of one range", empty,
          NULL, do_commit_dense, submit_and_decommit),
    PAGES("commit-ranges", "maarCommitPages", GROWTH_OVER, "ranges of one page each", empty, NULL,
          do_commit_scattered, submit_and_decommit),
    PAGES("commit-ranges-listed", "maarCommitNewPages", GROWTH_OVER, "ranges of one page each",
          empty, NULL, do_commit_listed, submit_and_decommit),
    PAGES("record-zeros", "maarRecordZeroPages", GROWTH_OVER, "ranges of one page each", zeros,
          NULL, do_record_zeros, NULL),
    PAGES("list-host-pages", "maarGetHostPages", GROWTH_OVER, "runs of one page", mapped, NULL,
          do_list_host_pages, NULL),
    PAGES("find-host-page", "maarGetHostPages", GROWTH_BESIDE, "committed pages", mapped, NULL,
          do_find_host_page, NULL),
    PAGES("flush-pages", "maarFlushPages", GROWTH_OVER, "runs of one page", mapped, NULL,
          do_flush_pages, NULL),
    PAGES("invalidate-pages", "maarInvalidatePages", GROWTH_OVER, "runs of one page", mapped, NULL,
          do_invalidate_pages, NULL),
    PAGES("decommit-adjacent", "maarDecommitPages", GROWTH_OVER, "adjacent pages of one range",
          dense, NULL, do_decommit_dense, commit_dense_again),
    PAGES("decommit-ranges", "maarDecommitPages", GROWTH_OVER, "ranges of one page each", scattered,
          NULL, do_decommit_scattered, commit_scattered_again),
    PAGES("submit-ranges", "maarSubmitBinds", GROWTH_OVER, "recorded ranges of one page each",
          empty, commit_scattered, do_submit, decommit_all),
    PAGES("alias-pages", "maarAliasPages", GROWTH_OVER, "pages of the range", dense, NULL, do_alias,
          forget_aliases),
    PAGES("alias-page", "maarAliasPages", GROWTH_BESIDE, "committed pages", dense, NULL,
          do_alias_one, forget_aliases),
    PAGES("list-reservation", "maarEnumerateReservationPages", GROWTH_OVER, "runs of one page",
          scattered, NULL, do_list_runs, NULL),
    PAGES("destroy-reservation-pages", "maarDestroyReservation", GROWTH_OVER,
          "committed pages, every second one", two, create_scattered, do_destroy, NULL),
    {
        .name = "trim-aged-beside-page-blocks",
        .functions = "maarTrimAged",
        .dimension = "blocks of pages, one of them empty and not old enough",
        .n = 200,
        .count = 64,
        .open = open_young_page_block,
        .operation = do_trim_young,
        .close = close_page_blocks,
    },
    {
        .name = "detailed-statistics-page-blocks",
        .functions = "maarGetDetailedStatistics",
        .dimension = "blocks of pages",
        .kind = GROWTH_OVER,
        .n = 200,
        .count = 64,
        .open = open_page_blocks,
        .operation = growth_read_details,
        .close = close_page_blocks,
    },
    {.name = NULL},
};
