/*
 * Moves of pages: two page blocks of 2 n pages, each half full. The pages of one go to the other.
 */
#include "growth_cases.h"
#include "growth_reservation.h"
#include "growth_steps.h"

#include <stdlib.h>

struct page_moves {
    MaarReservation reservations[2];
    MaarDefragmentation run;
    MaarMoveBatch batch;
    MaarPageMove* moves;
    MaarPageRange* ranges; /* every other page */
};

static struct page_moves* page_moves_of(struct growth* growth)
{
    return growth->state;
}

static void submit_binds(struct growth* growth)
{
    GROWTH_EXPECT(maarSubmitBinds(growth->allocator, 0, NULL, NULL));
}

static void open_page_moves(struct growth* growth)
{
    struct page_moves* own = growth_create_state(growth, 1, sizeof *own);
    const MaarPoolPagingInfo paging = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
        .stitch = VK_TRUE,
        .pageBlockSize = 2 * growth->n * GROWTH_PAGE,
    };
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .pNext = &paging,
    };
    GROWTH_EXPECT(maarCreatePool(growth->allocator, &info, &growth->pool));
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pool = growth->pool,
    };
    const VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = 2 * growth->n * GROWTH_PAGE,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
    };
    const MaarReservationCreateInfo reservation = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pBufferInfo = &buffer,
        .pMemoryInfo = &how,
    };
    own->moves = bench_allocate(growth->n, sizeof *own->moves);
    own->ranges = bench_allocate(growth->n, sizeof *own->ranges);
    for (uint32_t i = 0; i < growth->n; ++i) {
        own->moves[i].sType = MAAR_STRUCTURE_TYPE_PAGE_MOVE;
        own->ranges[i] = (MaarPageRange){2 * i * GROWTH_PAGE, GROWTH_PAGE};
    }
    for (uint32_t i = 0; i < 2; ++i) {
        GROWTH_EXPECT(
            maarCreateReservation(growth->allocator, &reservation, &own->reservations[i]));
    }
}

static void close_page_moves(struct growth* growth)
{
    struct page_moves* own = page_moves_of(growth);
    for (uint32_t i = 0; i < 2; ++i) {
        maarDestroyReservation(growth->allocator, own->reservations[i]);
    }
    maarDestroyPool(growth->allocator, growth->pool);
    growth->pool = VK_NULL_HANDLE;
    free(own->moves);
    free(own->ranges);
}

/* Fills both blocks, empties a half of each, and begins a run. */
static void begin_page_run(struct growth* growth)
{
    struct page_moves* own = page_moves_of(growth);
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = growth->pool,
        .goal = MAAR_DEFRAGMENTATION_GOAL_PAGES,
    };
    for (uint32_t i = 0; i < 2; ++i) {
        growth_commit(growth, own->reservations[i], 0, 2 * growth->n);
    }
    submit_binds(growth);
    for (uint32_t i = 0; i < 2; ++i) {
        GROWTH_EXPECT(
            maarDecommitPages(growth->allocator, own->reservations[i], growth->n, own->ranges));
    }
    submit_binds(growth);
    GROWTH_EXPECT(maarBeginDefragmentation(growth->allocator, &info, &own->run));
}

static void end_page_run(struct growth* growth)
{
    struct page_moves* own = page_moves_of(growth);
    maarEndDefragmentation(growth->allocator, own->run);
    for (uint32_t i = 0; i < 2; ++i) {
        growth_decommit(growth, own->reservations[i], 0, 2 * growth->n);
    }
    submit_binds(growth);
    GROWTH_EXPECT(maarWaitPending(growth->allocator, UINT64_MAX));
    GROWTH_EXPECT(maarTrim(growth->allocator, growth->pool, NULL));
}

/* Carries the run out. */
static void do_move_pages(struct growth* growth, uint32_t index)
{
    struct page_moves* own = page_moves_of(growth);
    const MaarMoveSubmitInfo info = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO};
    (void)index;
    for (;;) {
        GROWTH_EXPECT(maarStepDefragmentation(growth->allocator, own->run, NULL, &own->batch));
        if (own->batch == VK_NULL_HANDLE) {
            break;
        }
        GROWTH_EXPECT(maarSubmitMoves(growth->allocator, own->batch, &info, NULL));
        GROWTH_EXPECT(maarCommitMoves(growth->allocator, own->batch, 0, NULL, NULL));
        submit_binds(growth);
    }
    GROWTH_EXPECT(maarWaitPending(growth->allocator, UINT64_MAX));
}

static void begin_page_batch(struct growth* growth)
{
    struct page_moves* own = page_moves_of(growth);
    begin_page_run(growth);
    GROWTH_EXPECT(maarStepDefragmentation(growth->allocator, own->run, NULL, &own->batch));
}

static void do_list_pages(struct growth* growth, uint32_t index)
{
    struct page_moves* own = page_moves_of(growth);
    uint32_t count = growth->n;
    (void)index;
    GROWTH_EXPECT(maarGetPageMoves(growth->allocator, own->batch, &count, own->moves));
}

static void cancel_page_batch(struct growth* growth)
{
    GROWTH_EXPECT(maarCancelMoves(growth->allocator, page_moves_of(growth)->batch, 0, NULL));
    end_page_run(growth);
}

const struct growth_case growth_page_move_cases[] = {
    {
        .name = "move-pages",
        .functions = "maarStepDefragmentation maarSubmitMoves maarCommitMoves maarSubmitBinds",
        .dimension = "pages of the block that is emptied",
        .kind = GROWTH_OVER,
        .n = 1024,
        .open = open_page_moves,
        .prepare = begin_page_run,
        .operation = do_move_pages,
        .tidy = end_page_run,
        .close = close_page_moves,
    },
    {
        .name = "page-moves",
        .functions = "maarGetPageMoves",
        .dimension = "moves of the batch",
        .kind = GROWTH_OVER,
        .n = 64,
        .open = open_page_moves,
        .prepare = begin_page_batch,
        .operation = do_list_pages,
        .tidy = cancel_page_batch,
        .close = close_page_moves,
    },
    {.name = NULL},
};
