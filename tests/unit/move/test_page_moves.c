/*
 * Runs that empty page blocks: which pages move, and what is refused.
 */
#include "tests/unit/move/page_moves_fixture.h"

/* ---- what moves ---- */

static void run_gives_back_the_blocks_with_the_fewest_pages(void** state)
{
    (void)state;
    make_cheese();
    const MaarReservationInfo before = fixture_info(rig, places[0]);
    const VkDeviceSize committed = fixture_statistics(rig).committedBytes;
    const MaarDefragmentation run = begin(NULL);
    /* 11 pages are in use. The blocks with 3 and 5 have room for those of the other two. */
    assert_int_equal(carry_out(run), 1 + 2);
    settle();
    const MaarDefragmentationInfo info = info_of(run);
    assert_int_equal(info.blockCount, 2);
    assert_int_equal(info.blockBytes, 2 * BLOCK_PAGES * PAGE);
    assert_int_equal(info.moveCount, 3);
    assert_int_equal(info.moveBytes, 3 * PAGE);
    assert_int_equal(info.batchedCount, 3);
    assert_int_equal(info.batchedBytes, 3 * PAGE);
    assert_int_equal(info.abandonedCount, 0);
    assert_int_equal(info.releasedCount, 2);
    assert_int_equal(info.releasedBytes, 2 * BLOCK_PAGES * PAGE);
    maarEndDefragmentation(rig->allocator, run);
    const MaarPagingStatistics after = fixture_statistics(rig);
    assert_int_equal(after.blockCount, 2);
    assert_int_equal(after.committedBytes, committed);
    assert_int_equal(after.heldBytes, 0);
    assert_int_equal(after.freeBytes, (2 * BLOCK_PAGES - 11) * PAGE);
    assert_true(fixture_info(rig, places[0]).buffer == before.buffer);
    assert_true(fixture_info(rig, places[0]).address == before.address);
    destroy_places();
}

static void dry_run_says_what_it_would_move(void** state)
{
    (void)state;
    make_cheese();
    MaarDefragmentationBeginInfo how = run_info();
    how.flags = MAAR_DEFRAGMENTATION_DRY_RUN_BIT;
    const MaarDefragmentation run = begin(&how);
    assert_true(step(run) == VK_NULL_HANDLE);
    const MaarDefragmentationInfo info = info_of(run);
    assert_int_equal(info.blockCount, 2);
    assert_int_equal(info.blockBytes, 2 * BLOCK_PAGES * PAGE);
    assert_int_equal(info.moveCount, 3);
    assert_int_equal(info.moveBytes, 3 * PAGE);
    assert_int_equal(info.batchedCount, 0);
    maarEndDefragmentation(rig->allocator, run);
    rig_check(rig);
    /* Nothing drains any more: the free pages serve a request. */
    const VkDeviceSize free_bytes = fixture_statistics(rig).freeBytes;
    assert_int_equal(free_bytes, (PLACES * BLOCK_PAGES - 11) * PAGE);
    take(0, 1, 7);
    take(1, 2, 6);
    take(2, 3, 5);
    assert_int_equal(fixture_statistics(rig).blockCount, PLACES);
    destroy_places();
}

static void list_names_buffers_and_places(void** state)
{
    (void)state;
    make_cheese();
    MaarPageMove moves[MOST_MOVES];
    MaarPageRun runs[64];
    const MaarDefragmentation run = begin(NULL);
    const MaarMoveBatch batch = step(run);
    assert_int_equal(list(batch, moves), 2);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t at = moves[i].pUserData == &places[0] ? 0 : 1;
        seen |= 1u << at;
        assert_ptr_equal(moves[i].pUserData, &places[at]);
        assert_true(moves[i].buffer == fixture_info(rig, places[at]).buffer);
        assert_true(moves[i].allocation == VK_NULL_HANDLE);
        assert_int_equal(moves[i].obstacle, MAAR_MOVE_OBSTACLE_NONE);
        assert_int_equal(moves[i].offset, 0);
        assert_int_equal(moves[i].size, kept[at] * PAGE);
        assert_int_equal(fixture_runs(rig, places[at], runs), 1);
        assert_true(runs[0].memory == moves[i].sourceMemory);
        assert_int_equal(runs[0].memoryOffset, moves[i].sourceOffset);
    }
    assert_int_equal(seen, 3);
    copy(batch);
    assert_int_equal(commit(batch), 3);
    for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t at = moves[i].pUserData == &places[0] ? 0 : 1;
        assert_int_equal(fixture_runs(rig, places[at], runs), 1);
        assert_true(runs[0].memory == moves[i].targetMemory);
        assert_int_equal(runs[0].memoryOffset, moves[i].targetOffset);
    }
    settle();
    maarEndDefragmentation(rig->allocator, run);
    destroy_places();
}

static void list_of_pages_says_what_it_left_out(void** state)
{
    (void)state;
    make_cheese();
    const MaarDefragmentation run = begin(NULL);
    const MaarMoveBatch batch = step(run);
    uint32_t count = 0;
    assert_int_equal(maarGetPageMoves(rig->allocator, batch, &count, NULL), VK_SUCCESS);
    assert_int_equal(count, 2);
    MaarPageMove move = {.sType = MAAR_STRUCTURE_TYPE_PAGE_MOVE};
    count = 1;
    assert_int_equal(maarGetPageMoves(rig->allocator, batch, &count, &move), VK_INCOMPLETE);
    assert_int_equal(count, 1);
    move.sType = MAAR_STRUCTURE_TYPE_MOVE;
    assert_int_equal(maarGetPageMoves(rig->allocator, batch, &count, &move),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pMoves");
    assert_int_equal(maarGetPageMoves(rig->allocator, batch, NULL, &move),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pCount");
    assert_int_equal(maarGetMoves(rig->allocator, batch, &count, NULL), VK_SUCCESS);
    assert_int_equal(count, 0);
    assert_int_equal(maarCancelMoves(rig->allocator, batch, 0, NULL), VK_SUCCESS);
    maarEndDefragmentation(rig->allocator, run);
    destroy_places();
}

static void limits_bound_a_batch(void** state)
{
    (void)state;
    make_cheese();
    MaarDefragmentationBeginInfo how = run_info();
    how.maxBlockCount = 1;
    MaarDefragmentation run = begin(&how);
    assert_int_equal(carry_out(run), 1);
    settle();
    assert_int_equal(info_of(run).releasedCount, 1);
    maarEndDefragmentation(rig->allocator, run);
    /* 2 + 1, 3 and 5 pages are left: 3 move. */
    run = begin(NULL);
    MaarDefragmentationStepInfo limits = {.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO,
                                          .maxBytes = PAGE + 1};
    for (uint32_t i = 0; i < 3; ++i) {
        MaarMoveBatch batch = VK_NULL_HANDLE;
        VkResult result = VK_NOT_READY;
        for (uint32_t k = 0; k < 1000 && result == VK_NOT_READY; ++k) {
            result = maarStepDefragmentation(rig->allocator, run, &limits, &batch);
        }
        assert_int_equal(result, VK_SUCCESS);
        copy(batch);
        assert_int_equal(commit(batch), 1);
        limits.maxBytes = 0;
        limits.maxMoves = 1;
        limits.maxHostTime_ns = 1;
    }
    settle();
    assert_int_equal(info_of(run).releasedCount, 1);
    maarEndDefragmentation(rig->allocator, run);
    assert_int_equal(fixture_statistics(rig).blockCount, 2);
    destroy_places();
}

/* ---- what does not move ---- */

static uint32_t asked;
static VkBool32 VKAPI_PTR refuse_second(void* user_data, MaarAllocation allocation, void* owner)
{
    assert_ptr_equal(user_data, &asked);
    assert_true(allocation == VK_NULL_HANDLE);
    ++asked;
    return owner != &places[1] ? VK_TRUE : VK_FALSE;
}

static void program_keeps_what_it_says(void** state)
{
    (void)state;
    make_cheese();
    MaarPageRun before[64];
    MaarPageRun after[64];
    MaarDefragmentationBeginInfo how = run_info();
    how.pfnMayMove = refuse_second;
    how.pUserData = &asked;
    asked = 0;
    assert_int_equal(fixture_runs(rig, places[1], before), 1);
    const MaarDefragmentation run = begin(&how);
    /* The blocks with 1 and 3 pages go. */
    assert_int_equal(carry_out(run), 1 + 3);
    settle();
    assert_int_equal(info_of(run).releasedCount, 2);
    assert_true(asked >= PLACES);
    maarEndDefragmentation(rig->allocator, run);
    assert_int_equal(fixture_runs(rig, places[1], after), 1);
    fixture_expect_runs(after, before, 1);
    destroy_places();
}

static void shared_pages_stay(void** state)
{
    (void)state;
    open_rig();
    const MaarReservation from = reserve(BLOCK_PAGES, MAAR_RESERVATION_CREATE_ALIASED_BIT, NULL);
    const MaarReservation to = reserve(BLOCK_PAGES, MAAR_RESERVATION_CREATE_ALIASED_BIT, NULL);
    places[0] = reserve(BLOCK_PAGES, 0, NULL);
    assert_int_equal(fixture_commit(rig, from, 0, BLOCK_PAGES * PAGE), VK_SUCCESS);
    take(0, 0, BLOCK_PAGES);
    (void)fixture_submit(rig);
    const MaarPageRange range = {PAGE, (BLOCK_PAGES - 1) * PAGE};
    assert_int_equal(maarDecommitPages(rig->allocator, from, 1, &range), VK_SUCCESS);
    give_back(0, 2, BLOCK_PAGES - 2);
    (void)fixture_submit(rig);
    assert_int_equal(maarAliasPages(rig->allocator, to, 0, PAGE, from, 0), VK_SUCCESS);
    (void)fixture_submit(rig);
    MaarDefragmentation run = begin(NULL);
    assert_int_equal(carry_out(run), 2); /* of the other block, although it has more */
    settle();
    assert_int_equal(info_of(run).releasedCount, 1);
    maarEndDefragmentation(rig->allocator, run);
    maarDestroyReservation(rig->allocator, from);
    maarDestroyReservation(rig->allocator, to);
    maarDestroyReservation(rig->allocator, places[0]);
}

/* The host has their addresses. */
static void mapped_pages_stay(void** state)
{
    (void)state;
    open_rig();
    pool = make_pool(1); /* host-visible */
    for (uint32_t i = 0; i < PLACES; ++i) {
        places[i] = reserve(BLOCK_PAGES, i < 3 ? MAAR_RESERVATION_CREATE_MAPPED_BIT : 0, NULL);
        take(i, 0, BLOCK_PAGES);
    }
    (void)fixture_submit(rig);
    for (uint32_t i = 0; i < PLACES; ++i) {
        give_back(i, kept[i], BLOCK_PAGES - kept[i]);
    }
    (void)fixture_submit(rig);
    const MaarDefragmentation run = begin(NULL);
    assert_true(step(run) == VK_NULL_HANDLE);
    assert_int_equal(info_of(run).moveCount, 0);
    maarEndDefragmentation(rig->allocator, run);
    destroy_places();
}

static void page_that_gets_shared_stays(void** state)
{
    (void)state;
    open_rig();
    const MaarReservation from = reserve(BLOCK_PAGES, MAAR_RESERVATION_CREATE_ALIASED_BIT, NULL);
    const MaarReservation to = reserve(BLOCK_PAGES, MAAR_RESERVATION_CREATE_ALIASED_BIT, NULL);
    places[0] = reserve(BLOCK_PAGES, 0, NULL);
    assert_int_equal(fixture_commit(rig, from, 0, BLOCK_PAGES * PAGE), VK_SUCCESS);
    take(0, 0, BLOCK_PAGES);
    (void)fixture_submit(rig);
    const MaarPageRange range = {2 * PAGE, (BLOCK_PAGES - 2) * PAGE};
    assert_int_equal(maarDecommitPages(rig->allocator, from, 1, &range), VK_SUCCESS);
    give_back(0, 3, BLOCK_PAGES - 3);
    (void)fixture_submit(rig);
    const MaarDefragmentation run = begin(NULL);
    const MaarMoveBatch batch = step(run);
    copy(batch);
    assert_int_equal(maarAliasPages(rig->allocator, to, 0, PAGE, from, 0), VK_SUCCESS);
    assert_int_equal(commit(batch), 1);
    settle();
    MaarPageRun runs[2][64];
    assert_int_equal(fixture_runs(rig, to, runs[0]), 1);
    assert_int_equal(fixture_runs(rig, from, runs[1]), 2);
    assert_true(runs[0][0].memory == runs[1][0].memory);
    assert_int_equal(runs[0][0].memoryOffset, runs[1][0].memoryOffset);
    maarEndDefragmentation(rig->allocator, run);
    maarDestroyReservation(rig->allocator, from);
    maarDestroyReservation(rig->allocator, to);
    maarDestroyReservation(rig->allocator, places[0]);
}

static void stitched_buffers_move_and_images_stay(void** state)
{
    (void)state;
    MaarPageMove moves[MOST_MOVES];
    open_rig();
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    how.pUserData = &asked;
    const VkBufferCreateInfo large_info = fixture_buffer(6 * PAGE);
    const VkBufferCreateInfo small_info = fixture_buffer(2 * PAGE);
    VkImageCreateInfo image_info = rig_image_info(128, 128);
    VkBuffer buffers[2];
    MaarAllocation memory[2];
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation image_memory = VK_NULL_HANDLE;
    /* The first block has 6 + 2 pages of buffers; the second one those of an image and a buffer. */
    assert_int_equal(maarCreateBuffer(rig->allocator, &large_info, &how, &buffers[0], &memory[0]),
                     VK_SUCCESS);
    assert_int_equal(maarCreateBuffer(rig->allocator, &small_info, &how, &buffers[1], &memory[1]),
                     VK_SUCCESS);
    assert_int_equal(maarCreateImage(rig->allocator, &image_info, &how, &image, &image_memory),
                     VK_SUCCESS);
    (void)fixture_submit(rig);
    uint32_t image_pages = 0;
    assert_int_equal(maarEnumerateAllocationPages(rig->allocator, image_memory, &image_pages, NULL),
                     VK_SUCCESS);
    assert_true(image_pages > 0);
    assert_int_equal(fixture_statistics(rig).blockCount, 2);
    maarDestroyBuffer(rig->allocator, buffers[0], memory[0]);
    const MaarDefragmentation run = begin(NULL);
    const MaarMoveBatch batch = step(run);
    assert_int_equal(list(batch, moves), 1);
    assert_true(moves[0].buffer == buffers[1] && moves[0].allocation == memory[1]);
    assert_ptr_equal(moves[0].pUserData, &asked);
    copy(batch);
    assert_int_equal(commit(batch), 2);
    assert_true(step(run) == VK_NULL_HANDLE);
    settle();
    assert_int_equal(fixture_statistics(rig).blockCount, 1);
    maarEndDefragmentation(rig->allocator, run);
    maarDestroyBuffer(rig->allocator, buffers[1], memory[1]);
    maarDestroyImage(rig->allocator, image, image_memory);
}

/* Copies wait until the pages that they write to are no longer bound elsewhere. */ static void
recorded_copies_wait_for_earlier_binds(void** state)
{
    (void)state;
    open_rig();
    for (uint32_t i = 0; i < 2; ++i) {
        places[i] = reserve(BLOCK_PAGES, 0, NULL);
        take(i, 0, BLOCK_PAGES);
    }
    (void)fixture_submit(rig);
    assert_int_equal(maarWaitPending(rig->allocator, 1000000000), VK_SUCCESS);
    hold(true);
    give_back(0, 1, BLOCK_PAGES - 1);
    give_back(1, 2, BLOCK_PAGES - 2);
    (void)fixture_submit(rig);
    const MaarDefragmentation run = begin(NULL);
    const MaarMoveBatch batch = step(run);
    VkCommandPool command_pool = VK_NULL_HANDLE;
    const VkCommandBuffer commands = rig_open_commands(rig, &command_pool);
    assert_int_equal(maarRecordMoves(rig->allocator, batch, commands), VK_NOT_READY);
    hold(false);
    assert_int_equal(vkDeviceWaitIdle(rig->device), VK_SUCCESS);
    assert_int_equal(maarRecordMoves(rig->allocator, batch, commands), VK_SUCCESS);
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &commands};
    assert_int_equal(vkQueueSubmit(rig->queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(vkDeviceWaitIdle(rig->device), VK_SUCCESS);
    assert_int_equal(commit(batch), 1);
    settle();
    maarEndDefragmentation(rig->allocator, run);
    vkDestroyCommandPool(rig->device, command_pool, NULL);
    maarDestroyReservation(rig->allocator, places[0]);
    maarDestroyReservation(rig->allocator, places[1]);
}

/* ---- what is refused ---- */

static void commit_of_pages_is_checked(void** state)
{
    (void)state;
    make_cheese();
    const MaarDefragmentation run = begin(NULL);
    const MaarMoveBatch batch = step(run);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "batch");
    copy(batch);
    const MaarPoint future = {VK_NULL_HANDLE, 1000};
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 1, &future, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_POINT_NOT_USABLE);
    VkSemaphore timelines[MAAR_MAX_POINTS];
    MaarPoint points[MAAR_MAX_POINTS];
    for (uint32_t i = 0; i < MAAR_MAX_POINTS; ++i) {
        timelines[i] = rig_create_timeline(rig, 1);
        points[i] = (MaarPoint){timelines[i], 1};
    }
    /* With the point of the copies they are too many for one submission. */
    assert_int_equal(maarCommitMoves(rig->allocator, batch, MAAR_MAX_POINTS, points, NULL),
                     VK_ERROR_TOO_MANY_OBJECTS);
    rig_check(rig);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, MAAR_MAX_POINTS - 1, points, NULL),
                     VK_SUCCESS);
    settle();
    maarEndDefragmentation(rig->allocator, run);
    destroy_places();
    maarDestroyPool(rig->allocator, pool);
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    for (uint32_t i = 0; i < MAAR_MAX_POINTS; ++i) {
        vkDestroySemaphore(rig->device, timelines[i], NULL);
    }
}

static void pool_without_page_blocks_is_refused(void** state)
{
    (void)state;
    open_rig();
    const MaarPoolCreateInfo info = {.blockSize = MIB};
    MaarDefragmentationBeginInfo how = run_info();
    MaarDefragmentation run = (MaarDefragmentation)(uintptr_t)1;
    how.pool = rig_create_pool(rig, &info);
    assert_int_equal(maarBeginDefragmentation(rig->allocator, &how, &run),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    assert_true(run == VK_NULL_HANDLE);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CANNOT_MOVE, "pBeginInfo");
    maarDestroyPool(rig->allocator, how.pool);
}

static void run_without_pages_has_nothing_to_do(void** state)
{
    (void)state;
    rig = rig_begin(NULL);
    pool = VK_NULL_HANDLE;
    const MaarDefragmentation run = begin(NULL);
    assert_true(step(run) == VK_NULL_HANDLE);
    assert_int_equal(info_of(run).blockCount, 0);
    assert_int_equal(info_of(run).releasedCount, 0);
    maarEndDefragmentation(rig->allocator, run);
}

/* The page blocks of no MaarPool take part without a pool, those of a pool do not. */ static void
default_page_blocks_are_emptied_too(void** state)
{
    (void)state;
    const struct rig_setup setup = {.flags = executes};
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, &setup);
    pool = VK_NULL_HANDLE;
    const uint32_t pages = (uint32_t)(16 * MIB / PAGE);
    for (uint32_t i = 0; i < 2; ++i) {
        places[i] = reserve(pages, 0, NULL);
        take(i, 0, pages);
        (void)fixture_submit(rig);
    }
    assert_int_equal(fixture_statistics(rig).blockCount, 2);
    give_back(0, 0, pages - 10);
    give_back(1, 3, pages - 3);
    (void)fixture_submit(rig);
    MaarDefragmentationBeginInfo how = run_info();
    how.memoryTypeBits = 0x2;
    MaarDefragmentation run = begin(&how);
    assert_int_equal(carry_out(run), 0);
    maarEndDefragmentation(rig->allocator, run);
    run = begin(NULL);
    assert_int_equal(carry_out(run), 3);
    settle();
    maarEndDefragmentation(rig->allocator, run);
    assert_int_equal(fixture_statistics(rig).blockCount, 1);
    maarDestroyReservation(rig->allocator, places[0]);
    maarDestroyReservation(rig->allocator, places[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(run_gives_back_the_blocks_with_the_fewest_pages),
        rig_unit_test(dry_run_says_what_it_would_move),
        rig_unit_test(list_names_buffers_and_places),
        rig_unit_test(list_of_pages_says_what_it_left_out),
        rig_unit_test(limits_bound_a_batch),
        rig_unit_test(program_keeps_what_it_says),
        rig_unit_test(mapped_pages_stay),
        rig_unit_test(shared_pages_stay),
        rig_unit_test(page_that_gets_shared_stays),
        rig_unit_test(stitched_buffers_move_and_images_stay),
        rig_unit_test(recorded_copies_wait_for_earlier_binds),
        rig_unit_test(commit_of_pages_is_checked),
        rig_unit_test(pool_without_page_blocks_is_refused),
        rig_unit_test(run_without_pages_has_nothing_to_do),
        rig_unit_test(default_page_blocks_are_emptied_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
