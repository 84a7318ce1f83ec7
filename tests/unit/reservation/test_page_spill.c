/*
 * Pages in two memory types: which ranges spill when the preferred type is full, which pages move
 * away and back, and in which order; contents stay.
 */
#include "core/handle.h"
#include "tests/unit/reservation/touch_fixture.h"

static const MaarSimulatedFlags executes = MAAR_SIMULATED_EXECUTE_BIT |
                                           MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT |
                                           MAAR_SIMULATED_ALLOW_ALIASING_BIT;

/* Opens a device that executes. Heap 0 may have so many pages. */
static void begin_small(VkDeviceSize pages)
{
    const VkDeviceSize limits[3] = {pages * PAGE, 0, 0};
    const struct rig_setup setup = {
        .profile = rig_profile_sparse(), .paging = true, .flags = executes, .count_host = true};
    rig = rig_new();
    rig_open(rig, &setup);
    rig->create_info.heapSizeLimitCount = 3;
    rig->create_info.pHeapSizeLimits = limits;
    rig_make_allocator(rig);
}

static MaarPool make_pool(uint32_t type)
{
    const MaarPoolPagingInfo paging = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
        .stitch = VK_TRUE,
        .pageBlockSize = 4 * PAGE,
    };
    const MaarPoolCreateInfo info = {.pNext = &paging, .memoryTypeIndex = type};
    return rig_create_pool(rig, &info);
}

static VkResult try_spilling(VkDeviceSize pages, MaarPool pool, MaarPool spill,
                             MaarReservation* made)
{
    VkBufferCreateInfo buffer = fixture_buffer(pages * PAGE);
    buffer.usage |= VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = pool;
    const MaarReservationSpillInfo spilling = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_SPILL_INFO,
                                               .pool = spill};
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pNext = &spilling,
        .pBufferInfo = &buffer,
        .pMemoryInfo = &how,
    };
    return maarCreateReservation(rig->allocator, &info, made);
}

static MaarReservation reserve_spilling(VkDeviceSize pages, MaarPool pool, MaarPool spill)
{
    MaarReservation made = VK_NULL_HANDLE;
    assert_int_equal(try_spilling(pages, pool, spill, &made), VK_SUCCESS);
    return made;
}

static void set_priority(MaarReservation reservation, VkDeviceSize first, VkDeviceSize count,
                         int32_t priority, VkBool32 never)
{
    const MaarPageRange range = {first * PAGE, count * PAGE};
    const MaarPagePriority how = {
        .sType = MAAR_STRUCTURE_TYPE_PAGE_PRIORITY, .priority = priority, .neverSpills = never};
    assert_int_equal(maarSetPagePriority(rig->allocator, reservation, 1, &range, &how), VK_SUCCESS);
}

static VkResult begin_migration(MaarPageMigration direction, uint32_t count,
                                const MaarReservation* reservations, VkDeviceSize bytes,
                                MaarMoveBatch* batch)
{
    const MaarPageMigrationInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_PAGE_MIGRATION_INFO,
        .direction = direction,
        .reservationCount = count,
        .pReservations = reservations,
        .maxBytes = bytes,
    };
    return maarBeginPageMigration(rig->allocator, &info, batch);
}

/* Copies, commits and submits; returns how many pages have moved. */
static uint32_t end_migration(MaarMoveBatch batch)
{
    const MaarMoveSubmitInfo info = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO,
                                     .queueIndex = rig->create_info.queueCount - 1};
    uint32_t moved = 0;
    MaarPoint copied;
    MaarPoint bound;
    rig_check(rig);
    assert_int_equal(maarSubmitMoves(rig->allocator, batch, &info, &copied), VK_SUCCESS);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 1, &copied, &moved), VK_SUCCESS);
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, &bound), VK_SUCCESS);
    assert_int_equal(maarWaitPoints(rig->allocator, 1, &bound, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    rig_check(rig);
    return moved;
}

static uint32_t migrate(MaarPageMigration direction, MaarReservation reservation,
                        VkDeviceSize pages)
{
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(begin_migration(direction, 1, &reservation, pages * PAGE, &batch), VK_SUCCESS);
    return batch != VK_NULL_HANDLE ? end_migration(batch) : 0;
}

/* Whether a page lies in the preferred heap; it must be committed. */
static bool is_home(MaarReservation reservation, VkDeviceSize page)
{
    MaarPageRun runs[64];
    const uint32_t count = fixture_runs(rig, reservation, runs);
    uint32_t i = 0;
    while (i < count && runs[i].offset + runs[i].size <= page * PAGE) {
        ++i;
    }
    assert_true(i < count && runs[i].offset <= page * PAGE);
    return runs[i].memoryTypeIndex == 0;
}

static void expect_home(MaarReservation reservation, VkDeviceSize first, VkDeviceSize count,
                        bool home)
{
    for (VkDeviceSize page = first; page < first + count; ++page) {
        assert_int_equal(is_home(reservation, page), home);
    }
}

/* ---- bytes ---- */

static VkCommandPool command_pool;

static void run_commands(VkCommandBuffer commands, const MaarPoint* after)
{
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &after->value,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &after->semaphore,
        .pWaitDstStageMask = &stage,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
    };
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    assert_int_equal(vkQueueSubmit(rig->queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(vkQueueWaitIdle(rig->queue), VK_SUCCESS);
    vkDestroyCommandPool(rig->device, command_pool, NULL);
}

/* Fills each page with its number and a seed. */
static void fill_pages(MaarReservation reservation, VkDeviceSize first, VkDeviceSize count,
                       uint32_t seed)
{
    const MaarPoint bound = fixture_submit(rig);
    const VkBuffer buffer = fixture_info(rig, reservation).buffer;
    VkCommandBuffer commands = rig_open_commands(rig, &command_pool);
    for (VkDeviceSize page = first; page < first + count; ++page) {
        vkCmdFillBuffer(commands, buffer, page * PAGE, PAGE, seed + (uint32_t)page);
    }
    run_commands(commands, &bound);
}

static void expect_pages(MaarReservation reservation, VkDeviceSize first, VkDeviceSize count,
                         uint32_t seed)
{
    const MaarPoint bound = fixture_submit(rig);
    VkBufferCreateInfo info = rig_buffer_info(count * PAGE);
    info.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    VkBuffer readback = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &readback, &memory), VK_SUCCESS);
    VkCommandBuffer commands = rig_open_commands(rig, &command_pool);
    const VkBufferCopy region = {.srcOffset = first * PAGE, .size = count * PAGE};
    vkCmdCopyBuffer(commands, fixture_info(rig, reservation).buffer, readback, 1, &region);
    run_commands(commands, &bound);
    const uint32_t* words = rig_info(rig, memory).pMappedData;
    for (VkDeviceSize word = 0; word < count * PAGE / 4; ++word) {
        assert_int_equal(words[word], seed + (uint32_t)(first + word / (PAGE / 4)));
    }
    maarDestroyBuffer(rig->allocator, readback, memory);
}

/* ---- cases ---- */

static void runs_name_their_memory_type(void** state)
{
    (void)state;
    begin_small(32);
    MaarReservation it = reserve_spilling(64, VK_NULL_HANDLE, VK_NULL_HANDLE);
    (void)touch(it, 0, 32);
    MaarPageRun runs[64];
    uint32_t count = fixture_runs(rig, it, runs);
    for (uint32_t i = 0; i < count; ++i) {
        assert_int_equal(runs[i].memoryTypeIndex, 0);
    }
    assert_int_equal(use_of(it).spilledSize, 0);
    (void)touch(it, 32, 16);
    rig_forget_messages(rig);
    count = fixture_runs(rig, it, runs);
    assert_int_not_equal(runs[count - 1].memoryTypeIndex, 0);
    assert_int_equal(use_of(it).spilledSize, 16 * PAGE);
    (void)fixture_submit(rig);
    maarDestroyReservation(rig->allocator, it);
}

static void ranges_that_never_spill_fail_instead(void** state)
{
    (void)state;
    begin_small(32);
    MaarReservation it = reserve_spilling(64, VK_NULL_HANDLE, VK_NULL_HANDLE);
    set_priority(it, 40, 10, 0, VK_TRUE);
    (void)touch(it, 0, 28);
    const MaarReservationRange range = {it, 36 * PAGE, 10 * PAGE};
    MaarTouchResult touched;
    assert_int_equal(touch_ranges(1, &range, &touched), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_forget_messages(rig);
    assert_true(touched.missingSize >= 2 * PAGE && touched.missingSize <= 6 * PAGE);
    assert_int_equal(fixture_commit(rig, it, 38 * PAGE, 8 * PAGE), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_forget_messages(rig);
    assert_int_equal(fixture_info(rig, it).committedSize, 28 * PAGE);
    /* Where there is room, they get it; the others spill. */
    (void)touch(it, 40, 4);
    (void)touch(it, 50, 8);
    rig_forget_messages(rig);
    expect_home(it, 40, 4, true);
    expect_home(it, 50, 8, false);
    (void)fixture_submit(rig);
    assert_int_equal(migrate(MAAR_PAGE_MIGRATION_SPILL, it, 40), 28);
    expect_home(it, 0, 28, false);
    expect_home(it, 40, 4, true);
    maarDestroyReservation(rig->allocator, it);
}

static void the_lowest_priority_and_the_coldest_spill_first(void** state)
{
    (void)state;
    begin_small(64);
    MaarReservation it = reserve_spilling(64, VK_NULL_HANDLE, VK_NULL_HANDLE);
    set_priority(it, 8, 4, -2, VK_FALSE);
    set_priority(it, 16, 4, 1, VK_FALSE);
    assert_int_equal(fixture_commit(rig, it, 20 * PAGE, 4 * PAGE), VK_SUCCESS);
    for (uint32_t i = 0; i < 5; ++i) {
        (void)touch(it, 4 * i, 4);
    }
    (void)touch(it, 0, 4);
    (void)touch(it, 40, 4);
    fill_pages(it, 0, 24, 100);
    /* First 8, by its priority; then 20, which was never touched; then 4, 12, 0; then 16. What the
     * last touch named stays. */
    static const VkDeviceSize order[] = {8, 20, 4, 12, 0, 16};
    for (uint32_t i = 0; i < 6; ++i) {
        assert_int_equal(migrate(MAAR_PAGE_MIGRATION_SPILL, it, 3), 3);
        expect_home(it, order[i], 3, false);
        expect_home(it, order[i] + 3, 1, true);
        assert_int_equal(migrate(MAAR_PAGE_MIGRATION_SPILL, it, 1), 1);
        for (uint32_t other = 0; other < 6; ++other) {
            expect_home(it, order[other], 4, other > i);
        }
    }
    assert_int_equal(migrate(MAAR_PAGE_MIGRATION_SPILL, it, 8), 0);
    expect_home(it, 40, 4, true);
    assert_int_equal(use_of(it).spilledSize, 24 * PAGE);
    expect_pages(it, 0, 24, 100);
    /* And back: 16 by its priority; 0, 12 and 4 by their touches; 20; last 8. */
    static const VkDeviceSize back[] = {16, 0, 12, 4, 20, 8};
    for (uint32_t i = 0; i < 6; ++i) {
        assert_int_equal(migrate(MAAR_PAGE_MIGRATION_RETURN, it, 4), 4);
        for (uint32_t other = 0; other < 6; ++other) {
            expect_home(it, back[other], 4, other <= i);
        }
    }
    assert_int_equal(migrate(MAAR_PAGE_MIGRATION_RETURN, it, 4), 0);
    assert_int_equal(use_of(it).spilledSize, 0);
    expect_pages(it, 0, 24, 100);
    maarDestroyReservation(rig->allocator, it);
}

/* The order is that of all reservations of a call together. */
static void the_coldest_of_all_reservations_spills_first(void** state)
{
    (void)state;
    enum { BOTH = 3, ROUNDS = 3 };
    begin_small(64);
    MaarReservation all[BOTH];
    for (uint32_t i = 0; i < BOTH; ++i) {
        all[i] = reserve_spilling(32, VK_NULL_HANDLE, VK_NULL_HANDLE);
    }
    /* Touches 1, 2, 3 are of reservations 2, 0, 1; and so on. */
    for (uint32_t i = 0; i < BOTH * ROUNDS; ++i) {
        (void)touch(all[(i + 2) % BOTH], 4 * (i / BOTH), 4);
    }
    (void)touch(all[0], 28, 1);
    (void)fixture_submit(rig);
    for (uint32_t step = 0; step < 2 * BOTH * ROUNDS; ++step) {
        const bool back = step >= BOTH * ROUNDS;
        const uint32_t at = back ? 2 * BOTH * ROUNDS - 1 - step : step;
        MaarMoveBatch batch = VK_NULL_HANDLE;
        assert_int_equal(
            begin_migration(back ? MAAR_PAGE_MIGRATION_RETURN : MAAR_PAGE_MIGRATION_SPILL, BOTH,
                            all, 4 * PAGE, &batch),
            VK_SUCCESS);
        expect_home(all[(at + 2) % BOTH], 4 * (at / BOTH), 4, !back);
        assert_int_equal(end_migration(batch), 4);
        expect_home(all[(at + 2) % BOTH], 4 * (at / BOTH), 4, back);
    }
    for (uint32_t i = 0; i < BOTH; ++i) {
        assert_int_equal(use_of(all[i]).spilledSize, 0);
        maarDestroyReservation(rig->allocator, all[i]);
    }
}

/* What spilled for want of room returns when there is room again. */
static void pages_return_when_there_is_room(void** state)
{
    (void)state;
    begin_small(32);
    MaarReservation other = reserve_spilling(64, VK_NULL_HANDLE, VK_NULL_HANDLE);
    MaarReservation it = reserve_spilling(64, VK_NULL_HANDLE, VK_NULL_HANDLE);
    (void)touch(other, 0, 24);
    (void)touch(it, 0, 8);
    (void)touch(it, 8, 12);
    rig_forget_messages(rig);
    fill_pages(it, 0, 20, 7);
    assert_int_equal(use_of(it).spilledSize, 12 * PAGE);
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(begin_migration(MAAR_PAGE_MIGRATION_RETURN, 1, &it, 0, &batch),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_true(batch == VK_NULL_HANDLE);
    rig_check(rig);
    assert_int_equal(fixture_decommit(rig, other, 0, 5 * PAGE), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(migrate(MAAR_PAGE_MIGRATION_RETURN, it, 64), 5);
    assert_int_equal(use_of(it).spilledSize, 7 * PAGE);
    assert_int_equal(fixture_decommit(rig, other, 0, VK_WHOLE_SIZE), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(migrate(MAAR_PAGE_MIGRATION_RETURN, it, 64), 7);
    assert_int_equal(use_of(it).spilledSize, 0);
    expect_pages(it, 0, 20, 7);
    maarDestroyReservation(rig->allocator, it);
    maarDestroyReservation(rig->allocator, other);
    rig_forget_messages(rig);
}

static void pools_that_stitch_spill_to_another(void** state)
{
    (void)state;
    begin_small(32);
    MaarPool pool = make_pool(0);
    MaarPool spill = make_pool(1);
    MaarReservation it = reserve_spilling(64, pool, spill);
    MaarReservation strict = reserve_spilling(64, pool, VK_NULL_HANDLE);
    (void)touch(it, 0, 40);
    rig_forget_messages(rig);
    assert_true(use_of(it).spilledSize >= 8 * PAGE);
    assert_true(use_of(it).spilledSize <= 40 * PAGE);
    const MaarReservationRange range = {strict, 0, 33 * PAGE};
    MaarTouchResult touched;
    assert_int_equal(touch_ranges(1, &range, &touched), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_forget_messages(rig);
    fill_pages(it, 0, 40, 9);
    rig_check(rig);
    const VkDeviceSize spilled = use_of(it).spilledSize / PAGE;
    (void)touch(it, 60, 1);
    (void)fixture_submit(rig);
    const uint32_t home = 41 - (uint32_t)(use_of(it).spilledSize / PAGE);
    if (home > 1) {
        assert_true(migrate(MAAR_PAGE_MIGRATION_SPILL, it, 2) > 0);
    }
    assert_true(use_of(it).spilledSize / PAGE >= spilled);
    assert_true(migrate(MAAR_PAGE_MIGRATION_RETURN, it, 10) > 0);
    expect_pages(it, 0, 40, 9);
    const MaarReservation both[] = {it, strict};
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(begin_migration(MAAR_PAGE_MIGRATION_SPILL, 2, both, 0, &batch),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "pReservations");
    maarDestroyReservation(rig->allocator, it);
    maarDestroyReservation(rig->allocator, strict);
    rig_forget_messages(rig);
    maarDestroyPool(rig->allocator, pool);
    maarDestroyPool(rig->allocator, spill);
    rig_expect_silence(rig);
}

/* Without its pool nothing spills any more. What lay there is gone, and is fresh when touched. */
static void the_spill_pool_may_end(void** state)
{
    (void)state;
    begin_small(32);
    MaarPool pool = make_pool(0);
    MaarPool spill = make_pool(1);
    MaarReservation it = reserve_spilling(64, pool, spill);
    (void)touch(it, 0, 24);
    (void)touch(it, 24, 16);
    (void)fixture_submit(rig);
    rig_forget_messages(rig);
    const VkDeviceSize spilled = use_of(it).spilledSize;
    assert_true(spilled > 0);
    maarDestroyPool(rig->allocator, spill);
    rig_expect_message(rig, MAAR_MESSAGE_ID_LEAK);
    rig_check(rig);
    assert_int_equal(use_of(it).spilledSize, 0);
    assert_int_equal(fixture_info(rig, it).committedSize, 40 * PAGE - spilled);
    const MaarReservationRange range = {it, 24 * PAGE, 16 * PAGE};
    MaarTouchResult touched;
    assert_int_equal(touch_ranges(1, &range, &touched), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_forget_messages(rig);
    assert_int_equal(fixture_decommit(rig, it, 0, 24 * PAGE), VK_SUCCESS);
    assert_int_equal(touch_ranges(1, &range, &touched), VK_SUCCESS);
    assert_true(touched.freshSize > 0);
    (void)fixture_submit(rig);
    maarDestroyReservation(rig->allocator, it);
    maarDestroyPool(rig->allocator, pool);
    rig_forget_messages(rig);
}

static void wrong_spills_are_refused(void** state)
{
    (void)state;
    begin_small(32);
    MaarPool same = make_pool(0);
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 1};
    MaarPool plain = rig_create_pool(rig, &info);
    MaarReservation it = VK_NULL_HANDLE;
    assert_int_equal(try_spilling(8, VK_NULL_HANDLE, same, &it), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_POOL_MISMATCH);
    assert_int_equal(try_spilling(8, VK_NULL_HANDLE, plain, &it), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_POOL_MISMATCH);
    assert_int_equal(try_spilling(8, VK_NULL_HANDLE, MAAR_FROM_BITS(MaarPool, 77), &it),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    it = reserve_spilling(8, VK_NULL_HANDLE, VK_NULL_HANDLE);
    MaarPagePriority priority = {.sType = MAAR_STRUCTURE_TYPE_PAGE_PRIORITY, .priority = 4};
    const MaarPageRange range = {0, PAGE};
    const MaarPageRange beyond = {0, 9 * PAGE};
    assert_int_equal(maarSetPagePriority(rig->allocator, it, 1, &range, &priority),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pPriority");
    priority.priority = 3;
    assert_int_equal(maarSetPagePriority(rig->allocator, it, 1, &beyond, &priority),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pRanges");
    assert_int_equal(maarSetPagePriority(rig->allocator, it, 1, &range, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pPriority");
    atomic_store(&rig->host.fail_at, atomic_load(&rig->host.calls) + 1);
    assert_int_equal(maarSetPagePriority(rig->allocator, it, 1, &range, &priority),
                     VK_ERROR_OUT_OF_HOST_MEMORY);
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(begin_migration((MaarPageMigration)2, 1, &it, 0, &batch),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_INVALID_ENUM, "pInfo");
    assert_int_equal(begin_migration(MAAR_PAGE_MIGRATION_SPILL, 1, NULL, 0, &batch),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pReservations");
    assert_int_equal(begin_migration(MAAR_PAGE_MIGRATION_SPILL, 0, NULL, 0, &batch), VK_SUCCESS);
    assert_true(batch == VK_NULL_HANDLE);
    maarDestroyReservation(rig->allocator, it);
    maarDestroyPool(rig->allocator, plain);
    maarDestroyPool(rig->allocator, same);
}

/* Pages that are given back, or whose reservation ends, while they migrate. */
static void migrations_may_be_dropped(void** state)
{
    (void)state;
    begin_small(32);
    MaarReservation it = reserve_spilling(64, VK_NULL_HANDLE, VK_NULL_HANDLE);
    (void)touch(it, 0, 16);
    (void)touch(it, 20, 1);
    fill_pages(it, 0, 16, 3);
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(begin_migration(MAAR_PAGE_MIGRATION_SPILL, 1, &it, 0, &batch), VK_SUCCESS);
    assert_int_equal(maarCancelMoves(rig->allocator, batch, 0, NULL), VK_SUCCESS);
    rig_check(rig);
    expect_home(it, 0, 16, true);
    assert_int_equal(begin_migration(MAAR_PAGE_MIGRATION_SPILL, 1, &it, 0, &batch), VK_SUCCESS);
    assert_int_equal(fixture_decommit(rig, it, 4 * PAGE, 4 * PAGE), VK_SUCCESS);
    assert_int_equal(end_migration(batch), 12);
    assert_int_equal(use_of(it).spilledSize, 12 * PAGE);
    expect_pages(it, 0, 4, 3);
    expect_pages(it, 8, 8, 3);
    assert_int_equal(begin_migration(MAAR_PAGE_MIGRATION_RETURN, 1, &it, 0, &batch), VK_SUCCESS);
    maarDestroyReservation(rig->allocator, it);
    assert_int_equal(end_migration(batch), 0);
    rig_forget_messages(rig);
}

/* ---- at random ---- */

enum { MODEL_PAGES = 48, MODEL_STEPS = 400 };

static void bytes_stay_at_random(void** state)
{
    (void)state;
    static bool live[MODEL_PAGES];
    struct rig_random random = {.state = rig_seed(9)};
    memset(live, 0, sizeof live);
    begin_small(24);
    MaarReservation it = reserve_spilling(MODEL_PAGES, VK_NULL_HANDLE, VK_NULL_HANDLE);
    for (uint32_t step = 0; step < MODEL_STEPS; ++step) {
        const uint32_t first = rig_below(&random, MODEL_PAGES - 6);
        const uint32_t count = 1 + rig_below(&random, 6);
        switch (rig_below(&random, 5)) {
        case 0:
        case 1: {
            const MaarTouchResult touched = touch(it, first, count);
            for (uint32_t i = 0; i < touched.freshCount; ++i) {
                fill_pages(it, fresh[i].offset / PAGE, fresh[i].size / PAGE, 1000);
            }
            for (uint32_t page = first; page < first + count; ++page) {
                live[page] = true;
            }
            expect_pages(it, first, count, 1000);
            break;
        }
        case 2:
            assert_int_equal(fixture_decommit(rig, it, first * PAGE, count * PAGE), VK_SUCCESS);
            for (uint32_t page = first; page < first + count; ++page) {
                live[page] = false;
            }
            break;
        case 3:
            set_priority(it, first, count, (int32_t)rig_below(&random, 8) - 4, VK_FALSE);
            break;
        default: {
            MaarMoveBatch batch = VK_NULL_HANDLE;
            const VkResult result = begin_migration((MaarPageMigration)rig_below(&random, 2), 1,
                                                    &it, count * PAGE, &batch);
            assert_true(result == VK_SUCCESS || result == VK_ERROR_OUT_OF_DEVICE_MEMORY);
            if (batch != VK_NULL_HANDLE) {
                assert_true(end_migration(batch) <= count);
            }
            break;
        }
        }
        rig_forget_messages(rig);
        rig_check(rig);
        VkDeviceSize bytes = 0;
        for (uint32_t page = 0; page < MODEL_PAGES; ++page) {
            bytes += live[page] ? PAGE : 0;
        }
        assert_int_equal(fixture_info(rig, it).committedSize, bytes);
        MaarPageRun runs[64];
        const uint32_t run_count = fixture_runs(rig, it, runs);
        VkDeviceSize spilled = 0;
        for (uint32_t i = 0; i < run_count; ++i) {
            spilled += runs[i].memoryTypeIndex != 0 ? runs[i].size : 0;
        }
        assert_int_equal(use_of(it).spilledSize, spilled);
    }
    for (uint32_t page = 0; page < MODEL_PAGES; ++page) {
        if (live[page]) {
            expect_pages(it, page, 1, 1000);
        }
    }
    maarDestroyReservation(rig->allocator, it);
    rig_forget_messages(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(runs_name_their_memory_type),
        rig_unit_test(ranges_that_never_spill_fail_instead),
        rig_unit_test(the_lowest_priority_and_the_coldest_spill_first),
        rig_unit_test(the_coldest_of_all_reservations_spills_first),
        rig_unit_test(pages_return_when_there_is_room),
        rig_unit_test(pools_that_stitch_spill_to_another),
        rig_unit_test(the_spill_pool_may_end),
        rig_unit_test(wrong_spills_are_refused),
        rig_unit_test(migrations_may_be_dropped),
        rig_unit_test(bytes_stay_at_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
