/*
 * Steps: runs that empty page blocks, and the batches that move pages.
 */
#include "tests/fault/fault_steps.h"

enum { BLOCK_PAGES = 8 };
#define PAGE (64 * KIB)

static MaarReservation reserve_block(struct fault_context* c)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(BLOCK_PAGES * PAGE);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = c->pool;
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pBufferInfo = &buffer,
        .pMemoryInfo = &how,
    };
    const MaarPageRange all = {0, BLOCK_PAGES * PAGE};
    MaarReservation reservation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(c->rig.allocator, &info, &reservation), VK_SUCCESS);
    assert_int_equal(maarCommitPages(c->rig.allocator, reservation, 1, &all), VK_SUCCESS);
    return reservation;
}

/* Two page blocks: one keeps 2 pages, and the other one 4. */
static void prepare_page_blocks(struct fault_context* c)
{
    maarSimulatedSetFlags(c->rig.physical, MAAR_SIMULATED_ALLOW_ALIASING_BIT);
    fault_warm_paging(c);
    const MaarPoolPagingInfo paging = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
        .stitch = VK_TRUE,
        .pageBlockSize = BLOCK_PAGES * PAGE,
    };
    const MaarPoolCreateInfo info = {.pNext = &paging};
    c->pool = rig_create_pool(&c->rig, &info);
    c->reservation = reserve_block(c);
    c->source = reserve_block(c);
    assert_int_equal(maarSubmitBinds(c->rig.allocator, 0, NULL, NULL), VK_SUCCESS);
    const MaarPageRange first = {2 * PAGE, (BLOCK_PAGES - 2) * PAGE};
    const MaarPageRange second = {4 * PAGE, (BLOCK_PAGES - 4) * PAGE};
    assert_int_equal(maarDecommitPages(c->rig.allocator, c->reservation, 1, &first), VK_SUCCESS);
    assert_int_equal(maarDecommitPages(c->rig.allocator, c->source, 1, &second), VK_SUCCESS);
    assert_int_equal(maarSubmitBinds(c->rig.allocator, 0, NULL, NULL), VK_SUCCESS);
}

static void cancel_page_batch(struct fault_context* c)
{
    assert_int_equal(maarCancelMoves(c->rig.allocator, c->batch, 0, NULL), VK_SUCCESS);
    c->batch = VK_NULL_HANDLE;
}

static void end_page_run(struct fault_context* c)
{
    maarEndDefragmentation(c->rig.allocator, c->run);
    c->run = VK_NULL_HANDLE;
}

static void finish_page_blocks(struct fault_context* c)
{
    cancel_page_batch(c);
    end_page_run(c);
    (void)maarWaitPending(c->rig.allocator, UINT64_MAX);
    maarDestroyReservation(c->rig.allocator, c->reservation);
    maarDestroyReservation(c->rig.allocator, c->source);
    maarDestroyPool(c->rig.allocator, c->pool);
}

static VkResult run_begin_pages(struct fault_context* c)
{
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = c->pool,
        .goal = MAAR_DEFRAGMENTATION_GOAL_PAGES,
    };
    c->run = (MaarDefragmentation)(uintptr_t)1;
    const VkResult result = maarBeginDefragmentation(c->rig.allocator, &info, &c->run);
    assert_true((result == VK_SUCCESS) == (c->run != VK_NULL_HANDLE));
    return result;
}

static void prepare_page_run(struct fault_context* c)
{
    prepare_page_blocks(c);
    assert_int_equal(run_begin_pages(c), VK_SUCCESS);
}

static VkResult run_step_pages(struct fault_context* c)
{
    c->batch = (MaarMoveBatch)(uintptr_t)1;
    const VkResult result = maarStepDefragmentation(c->rig.allocator, c->run, NULL, &c->batch);
    assert_true((result == VK_SUCCESS) == (c->batch != VK_NULL_HANDLE));
    return result;
}

static void prepare_page_batch(struct fault_context* c)
{
    prepare_page_run(c);
    assert_int_equal(run_step_pages(c), VK_SUCCESS);
}

static VkResult run_list_pages(struct fault_context* c)
{
    MaarPageMove move = {.sType = MAAR_STRUCTURE_TYPE_PAGE_MOVE};
    uint32_t count = 1;
    return maarGetPageMoves(c->rig.allocator, c->batch, &count, &move);
}

static VkResult copy_pages(struct fault_context* c)
{
    const MaarMoveSubmitInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO,
        .queueIndex = c->rig.create_info.queueCount - 1,
    };
    return maarSubmitMoves(c->rig.allocator, c->batch, &info, NULL);
}

/* The run and the batch end when the call fails, since a lost device never submits anything. */
static VkResult run_submit_pages(struct fault_context* c)
{
    VkResult result = run_begin_pages(c);
    if (result == VK_SUCCESS) {
        result = run_step_pages(c);
    }
    if (result == VK_SUCCESS) {
        result = copy_pages(c);
    }
    if (result != VK_SUCCESS) {
        cancel_page_batch(c);
        end_page_run(c);
    }
    return result;
}

static void prepare_page_copies(struct fault_context* c)
{
    prepare_page_batch(c);
    assert_int_equal(copy_pages(c), VK_SUCCESS);
}

static VkResult run_commit_pages(struct fault_context* c)
{
    const VkResult result = maarCommitMoves(c->rig.allocator, c->batch, 0, NULL, NULL);
    c->batch = result == VK_SUCCESS ? VK_NULL_HANDLE : c->batch;
    return result;
}

static VkResult run_cancel_pages(struct fault_context* c)
{
    const VkResult result = maarCancelMoves(c->rig.allocator, c->batch, 0, NULL);
    c->batch = result == VK_SUCCESS ? VK_NULL_HANDLE : c->batch;
    return result;
}

static void prepare_page_commit(struct fault_context* c)
{
    prepare_page_copies(c);
    assert_int_equal(run_commit_pages(c), VK_SUCCESS);
}

static VkResult run_bind_moved(struct fault_context* c)
{
    MaarPoint point;
    return maarSubmitBinds(c->rig.allocator, 0, NULL, &point);
}

static VkResult run_end_pages(struct fault_context* c)
{
    end_page_run(c);
    return VK_SUCCESS;
}

static const struct fault_step steps[] = {
    {.function = "maarBeginDefragmentation",
     .variant = "pages",
     .prepare = prepare_page_blocks,
     .run = run_begin_pages,
     .finish = finish_page_blocks,
     FAULT_PAGED},
    {.function = "maarStepDefragmentation",
     .variant = "pages",
     .prepare = prepare_page_run,
     .run = run_step_pages,
     .finish = finish_page_blocks,
     .partial = true,
     FAULT_PAGED},
    {.function = "maarGetPageMoves",
     .never = "reads what is kept",
     .prepare = prepare_page_batch,
     .run = run_list_pages,
     .finish = finish_page_blocks,
     FAULT_PAGED},
    {.function = "maarSubmitMoves",
     .variant = "pages",
     .prepare = prepare_page_blocks,
     .run = run_submit_pages,
     .finish = finish_page_blocks,
     .keeps_warm = true,
     .session = true,
     .lost_is_done = true,
     FAULT_PAGED},
    {.function = "maarCommitMoves",
     .variant = "pages",
     .prepare = prepare_page_copies,
     .run = run_commit_pages,
     .finish = finish_page_blocks,
     FAULT_PAGED},
    {.function = "maarCancelMoves",
     .variant = "pages",
     .prepare = prepare_page_copies,
     .run = run_cancel_pages,
     .finish = finish_page_blocks,
     FAULT_PAGED},
    {.function = "maarSubmitBinds",
     .variant = "moved pages",
     .prepare = prepare_page_commit,
     .run = run_bind_moved,
     .finish = finish_page_blocks,
     .lost_is_done = true,
     FAULT_PAGED},
    {.function = "maarEndDefragmentation",
     .variant = "pages",
     .never = "gives back what is kept",
     .prepare = prepare_page_batch,
     .run = run_end_pages,
     .finish = finish_page_blocks,
     FAULT_PAGED},
};

const struct fault_table fault_page_move_steps = {steps, sizeof steps / sizeof steps[0]};
