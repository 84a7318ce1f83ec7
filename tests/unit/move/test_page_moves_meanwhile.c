/*
 * What may happen to pages while they move: they are given back, committed again or shared, their
 * resources end, the batch is canceled, binds fail; and when the old pages are free.
 */
#include "tests/unit/move/page_moves_fixture.h"

/* ---- what may happen meanwhile ---- */

static void request_revives_blocks_that_drain(void** state)
{
    (void)state;
    make_cheese();
    const MaarDefragmentation run = begin(NULL);
    const MaarMoveBatch batch = step(run);
    /* 32 pages: 11 in use, 3 of the moves. The other 18 serve, before a block is made. */
    take(0, 1, 7);
    take(1, 2, 6);
    take(2, 3, 5);
    assert_int_equal(fixture_statistics(rig).blockCount, PLACES);
    rig_check(rig);
    copy(batch);
    assert_int_equal(commit(batch), 3);
    settle();
    maarEndDefragmentation(rig->allocator, run);
    assert_int_equal(fixture_statistics(rig).blockCount, PLACES);
    destroy_places();
}

static void run_gives_up_blocks_that_were_revived(void** state)
{
    (void)state;
    make_cheese();
    const MaarDefragmentationStepInfo limits = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO, .maxMoves = 1};
    const MaarDefragmentation run = begin(NULL);
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(maarStepDefragmentation(rig->allocator, run, &limits, &batch), VK_SUCCESS);
    take(2, 3, 5);
    take(3, 5, 3);
    take(1, 2, 6);
    assert_true(step(run) == VK_NULL_HANDLE);
    const MaarDefragmentationInfo info = info_of(run);
    assert_int_equal(info.abandonedCount, 2);
    assert_int_equal(info.blockCount, 0);
    assert_int_equal(info.moveCount, 1);
    assert_int_equal(maarCancelMoves(rig->allocator, batch, 0, NULL), VK_SUCCESS);
    maarEndDefragmentation(rig->allocator, run);
    rig_check(rig);
    destroy_places();
}

static void page_that_is_given_back_does_not_move(void** state)
{
    (void)state;
    MaarPageMove moves[MOST_MOVES];
    make_cheese();
    const MaarDefragmentation run = begin(NULL);
    const MaarMoveBatch batch = step(run);
    copy(batch);
    give_back(0, 0, 1); /* before the commit: alone in its move */
    give_back(1, 0, 1);
    take(1, 0, 1); /* it is another page for the program */
    const uint32_t count = list(batch, moves);
    for (uint32_t i = 0; i < count; ++i) {
        assert_int_equal(moves[i].obstacle, moves[i].pUserData == &places[0]
                                                ? MAAR_MOVE_OBSTACLE_FREED
                                                : MAAR_MOVE_OBSTACLE_NONE);
    }
    assert_int_equal(commit(batch), 1);
    give_back(1, 1, 1); /* after the commit, before the binds */
    rig_check(rig);
    settle();
    maarEndDefragmentation(rig->allocator, run);
    const MaarPagingStatistics after = fixture_statistics(rig);
    assert_int_equal(after.committedBytes, (1 + 3 + 5) * PAGE);
    assert_int_equal(after.heldBytes, 0);
    destroy_places();
}

static void resource_may_end_while_it_moves(void** state)
{
    (void)state;
    for (uint32_t when = 0; when < 5; ++when) {
        make_cheese();
        const MaarDefragmentation run = begin(NULL);
        const MaarMoveBatch batch = step(run);
        const VkSemaphore work = rig_create_timeline(rig, 0);
        const MaarPoint point = {work, 1};
        if (when == 0) {
            maarDestroyReservation(rig->allocator, places[0]);
        }
        copy(batch);
        if (when == 1) {
            maarDestroyReservation(rig->allocator, places[0]);
        } else if (when == 2) {
            assert_int_equal(maarDestroyReservationAfter(rig->allocator, places[0], 1, &point),
                             VK_SUCCESS);
        }
        assert_int_equal(commit(batch), when < 3 ? 2 : 3);
        if (when == 3) {
            maarDestroyReservation(rig->allocator, places[0]);
        } else if (when == 4) {
            /* Work that uses it to its end finds its bytes: the pages are bound all the same. */
            assert_int_equal(maarDestroyReservationAfter(rig->allocator, places[0], 1, &point),
                             VK_SUCCESS);
        }
        rig_check(rig);
        const uint64_t bound = fixture_statistics(rig).pagesBound;
        (void)fixture_submit(rig);
        assert_int_equal(fixture_statistics(rig).pagesBound - bound, when < 3 ? 2 : 3);
        rig_signal(rig, work, 1);
        settle();
        places[0] = VK_NULL_HANDLE;
        assert_int_equal(fixture_statistics(rig).committedBytes, (2 + 3 + 5) * PAGE);
        assert_int_equal(fixture_statistics(rig).blockCount, 2);
        maarEndDefragmentation(rig->allocator, run);
        destroy_places();
        maarDestroyPool(rig->allocator, pool);
        maarDestroyAllocator(rig->allocator);
        rig->allocator = VK_NULL_HANDLE;
        vkDestroySemaphore(rig->device, work, NULL);
        rig_expect_silence(rig);
        (void)rig_end_case(NULL);
    }
}

static void canceled_moves_leave_everything(void** state)
{
    (void)state;
    MaarPageRun before[64];
    MaarPageRun after[64];
    make_cheese();
    const uint32_t count = fixture_runs(rig, places[1], before);
    const MaarDefragmentation run = begin(NULL);
    const MaarMoveBatch batch = step(run);
    hold(true);
    copy(batch);
    assert_int_equal(maarCancelMoves(rig->allocator, batch, 0, NULL), VK_SUCCESS);
    rig_check(rig);
    /* The device still writes to the new pages. */
    assert_int_equal(fixture_statistics(rig).heldBytes, 3 * PAGE);
    hold(false);
    settle();
    assert_int_equal(fixture_statistics(rig).heldBytes, 0);
    maarEndDefragmentation(rig->allocator, run);
    assert_int_equal(fixture_runs(rig, places[1], after), count);
    fixture_expect_runs(after, before, count);
    destroy_places();
}

static void run_ends_between_its_batches(void** state)
{
    (void)state;
    make_cheese();
    const MaarDefragmentationStepInfo limits = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO, .maxMoves = 1};
    const MaarDefragmentation run = begin(NULL);
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(maarStepDefragmentation(rig->allocator, run, &limits, &batch), VK_SUCCESS);
    maarEndDefragmentation(rig->allocator, run);
    rig_check(rig);
    copy(batch);
    assert_int_equal(commit(batch), 1);
    settle();
    destroy_places();
}

/* Returns how many blocks a run would give back. It chooses none that drains already. */
static uint32_t count_blocks(void)
{
    MaarDefragmentationBeginInfo info = run_info();
    info.flags = MAAR_DEFRAGMENTATION_DRY_RUN_BIT;
    const MaarDefragmentation run = begin(&info);
    assert_true(step(run) == VK_NULL_HANDLE);
    const uint32_t count = info_of(run).blockCount;
    maarEndDefragmentation(rig->allocator, run);
    return count;
}

/* A run gives up before any of its parts, and when it has handed a move out. */
static void run_is_given_up_in_parts(void** state)
{
    (void)state;
    uint32_t handed_count = 0;
    for (uint32_t parts = 0; handed_count < 2; ++parts) {
        MaarDefragmentationStepInfo limits = {
            .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO,
            .maxMoves = 1,
            .maxHostTime_ns = 1,
        };
        MaarMoveBatch batch = VK_NULL_HANDLE;
        assert_true(parts < 200);
        make_cheese();
        const uint32_t block_count = count_blocks();
        const MaarDefragmentation run = begin(NULL);
        for (uint32_t i = 0; i < parts && batch == VK_NULL_HANDLE; ++i) {
            assert_true(maarStepDefragmentation(rig->allocator, run, &limits, &batch) >=
                        VK_SUCCESS);
        }
        handed_count += batch != VK_NULL_HANDLE ? 1 : 0;
        limits.givesUp = VK_TRUE;
        MaarMoveBatch none = VK_NULL_HANDLE;
        while (maarStepDefragmentation(rig->allocator, run, &limits, &none) == VK_NOT_READY) {
            rig_check(rig);
        }
        assert_true(none == VK_NULL_HANDLE);
        const MaarDefragmentationInfo info = info_of(run);
        assert_int_equal(info.moveCount, info.batchedCount);
        assert_int_equal(info.moveBytes, info.batchedBytes);
        assert_true(info.blockCount <= 1);
        if (batch != VK_NULL_HANDLE) {
            copy(batch);
            assert_int_equal(commit(batch), 1);
            settle();
        } else {
            assert_int_equal(count_blocks(), block_count);
        }
        maarEndDefragmentation(rig->allocator, run);
        destroy_places();
        rig_check(rig);
        (void)rig_end_case(NULL);
    }
}

/* A commit that fails frees what a table kept for pages that it does not have. */
static void page_may_go_with_all_that_its_table_keeps(void** state)
{
    (void)state;
    for (uint32_t when = 0; when < 2; ++when) {
        make_cheese();
        const MaarReservation large = reserve(200, 0, NULL);
        assert_int_equal(fixture_commit(rig, large, 0, PAGE), VK_SUCCESS);
        (void)fixture_submit(rig);
        const MaarDefragmentation run = begin(NULL);
        const MaarMoveBatch batch = step(run);
        copy(batch);
        assert_int_equal(fixture_decommit(rig, large, 0, PAGE), VK_SUCCESS);
        (void)fixture_submit(rig);
        rig_set_fault(rig, "vkAllocateMemory", 1, 100, VK_ERROR_OUT_OF_DEVICE_MEMORY);
        assert_int_equal(fixture_commit(rig, large, 0, 200 * PAGE), VK_ERROR_OUT_OF_DEVICE_MEMORY);
        rig_clear_faults(rig);
        rig_forget_messages(rig);
        if (when == 0) {
            assert_int_equal(commit(batch), 1 + 2);
            settle();
        } else {
            maarDestroyReservation(rig->allocator, large);
            assert_int_equal(maarCancelMoves(rig->allocator, batch, 0, NULL), VK_SUCCESS);
        }
        maarEndDefragmentation(rig->allocator, run);
        destroy_places();
        maarDestroyReservation(rig->allocator, when == 0 ? large : VK_NULL_HANDLE);
        rig_check(rig);
        (void)rig_end_case(NULL);
    }
}

/* A walk over the tables goes on where the next one is, whichever ends. */
static void resources_may_end_during_the_walks(void** state)
{
    (void)state;
    enum { OTHERS = 24 };
    MaarReservation others[OTHERS];
    make_cheese();
    for (uint32_t i = 0; i < OTHERS; ++i) {
        others[i] = reserve(BLOCK_PAGES, 0, NULL);
        assert_int_equal(fixture_commit(rig, others[i], 0, PAGE), VK_SUCCESS);
    }
    (void)fixture_submit(rig);
    const MaarDefragmentationStepInfo limits = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO, .maxHostTime_ns = 1};
    const MaarDefragmentation run = begin(NULL);
    MaarMoveBatch batch = VK_NULL_HANDLE;
    VkResult result = VK_NOT_READY;
    uint32_t left = OTHERS;
    while (result == VK_NOT_READY) {
        result = maarStepDefragmentation(rig->allocator, run, &limits, &batch);
        for (uint32_t i = 0; i < 5 && left > 0; ++i) {
            /* The walk begins with the one that was made last. It has passed four of these. */
            maarDestroyReservation(rig->allocator, others[--left]);
        }
        rig_check(rig);
    }
    assert_int_equal(result, VK_SUCCESS);
    assert_true(batch != VK_NULL_HANDLE);
    copy(batch);
    assert_true(commit(batch) > 0);
    settle();
    maarEndDefragmentation(rig->allocator, run);
    while (left > 0) {
        maarDestroyReservation(rig->allocator, others[--left]);
    }
    destroy_places();
}

/* ---- when the old pages are free ---- */

static void old_pages_stay_until_the_binds_are_executed(void** state)
{
    (void)state;
    make_cheese();
    const MaarDefragmentation run = begin(NULL);
    const MaarMoveBatch batch = step(run);
    assert_true(step(run) == VK_NULL_HANDLE);
    hold(true);
    copy(batch);
    assert_int_equal(commit(batch), 3);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(fixture_statistics(rig).heldBytes, 3 * PAGE);
    (void)fixture_submit(rig);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(fixture_statistics(rig).heldBytes, 3 * PAGE);
    assert_int_equal(fixture_statistics(rig).blockCount, PLACES);
    rig_check(rig);
    hold(false);
    assert_int_equal(maarWaitPending(rig->allocator, 1000000000), VK_SUCCESS);
    assert_int_equal(fixture_statistics(rig).heldBytes, 0);
    assert_int_equal(fixture_statistics(rig).blockCount, 2);
    maarEndDefragmentation(rig->allocator, run);
    destroy_places();
}

static void binds_that_fail_are_tried_again(void** state)
{
    (void)state;
    make_cheese();
    const MaarDefragmentation run = begin(NULL);
    const MaarMoveBatch batch = step(run);
    copy(batch);
    assert_int_equal(commit(batch), 3);
    rig_set_fault(rig, "vkQueueBindSparse", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    MaarPoint point = {VK_NULL_HANDLE, 0};
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, &point), VK_ERROR_OUT_OF_HOST_MEMORY);
    rig_clear_faults(rig);
    rig_check(rig);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(fixture_statistics(rig).heldBytes, 3 * PAGE);
    maarDestroyReservation(rig->allocator, places[1]);
    places[1] = VK_NULL_HANDLE;
    settle();
    assert_int_equal(fixture_statistics(rig).heldBytes, 0);
    maarEndDefragmentation(rig->allocator, run);
    destroy_places();
}

static void give_back_during_the_call(void* data, const char* function)
{
    (void)data;
    if (strcmp(function, "vkQueueBindSparse") == 0) {
        rig->call = NULL;
        give_back(0, 0, 1);
    }
}

/* The device has the old page there, although the table had the new one twice. */
static void page_committed_again_is_still_rebound(void** state)
{
    (void)state;
    make_cheese();
    const MaarDefragmentation run = begin(NULL);
    const MaarMoveBatch batch = step(run);
    copy(batch);
    assert_int_equal(commit(batch), 3);
    rig->call = give_back_during_the_call;
    rig_set_fault(rig, "vkQueueBindSparse", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_ERROR_OUT_OF_HOST_MEMORY);
    rig_clear_faults(rig);
    rig_check(rig);
    take(0, 0, 1);
    rig_check(rig);
    assert_int_equal(fixture_statistics(rig).recordedPages, 3);
    settle();
    assert_int_equal(fixture_statistics(rig).heldBytes, 0);
    assert_int_equal(fixture_statistics(rig).committedBytes, (1 + 2 + 3 + 5) * PAGE);
    maarEndDefragmentation(rig->allocator, run);
    destroy_places();
}

/* ---- ends ---- */

static void pool_ends_with_moves_under_way(void** state)
{
    (void)state;
    for (uint32_t when = 0; when < 3; ++when) {
        make_cheese();
        const MaarDefragmentation run = begin(NULL);
        const MaarMoveBatch batch = step(run);
        if (when > 0) {
            copy(batch);
        }
        if (when == 2) {
            assert_int_equal(commit(batch), 3);
            maarEndDefragmentation(rig->allocator, run);
        }
        destroy_places();
        maarDestroyPool(rig->allocator, pool);
        if (when < 2) {
            rig_expect_message(rig, MAAR_MESSAGE_ID_LEAK);
        }
        rig_expect_silence(rig);
        rig_check(rig);
        assert_int_equal(fixture_statistics(rig).blockCount, 0);
        (void)rig_end_case(NULL);
    }
}

static void allocator_ends_with_moves_under_way(void** state)
{
    (void)state;
    for (uint32_t when = 0; when < 3; ++when) {
        make_cheese();
        const MaarDefragmentation run = begin(NULL);
        const MaarMoveBatch batch = step(run);
        if (when > 0) {
            copy(batch);
        }
        if (when == 2) {
            assert_int_equal(commit(batch), 3);
        }
        maarDestroyAllocator(rig->allocator);
        rig->allocator = VK_NULL_HANDLE;
        rig_expect_message(rig, MAAR_MESSAGE_ID_LEAK);
        rig_forget_messages(rig);
        (void)rig_end_case(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(request_revives_blocks_that_drain),
        rig_unit_test(run_gives_up_blocks_that_were_revived),
        rig_unit_test(page_that_is_given_back_does_not_move),
        rig_unit_test(resource_may_end_while_it_moves),
        rig_unit_test(canceled_moves_leave_everything),
        rig_unit_test(run_ends_between_its_batches),
        rig_unit_test(run_is_given_up_in_parts),
        rig_unit_test(page_may_go_with_all_that_its_table_keeps),
        rig_unit_test(resources_may_end_during_the_walks),
        rig_unit_test(page_committed_again_is_still_rebound),
        rig_unit_test(old_pages_stay_until_the_binds_are_executed),
        rig_unit_test(binds_that_fail_are_tried_again),
        rig_unit_test(pool_ends_with_moves_under_way),
        rig_unit_test(allocator_ends_with_moves_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
