/*
 * What a buffer cache promises, one promise at a time, on a simulated device.
 */
#include "tests/unit/buffer_cache/buffer_cache_fixture.h"

enum { MOST_UPLOADS = 16 };

static MaarBufferUpload uploads[MOST_UPLOADS];

static uint32_t take_uploads(uint32_t most, VkResult expected)
{
    uint32_t count = most;
    assert_int_equal(maarTakeBufferUploads(rig->allocator, cache, &count, uploads), expected);
    return count;
}

static void expect_misuse(VkResult result, MaarMessageId id)
{
    assert_int_equal(result, VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, id);
}

/* ---- uses ---- */

static void missing_items_are_filled_and_hits_cost_nothing(void** state)
{
    (void)state;
    start(4, true);
    MaarBufferUseInfo info = use_items(0, 3);
    assert_int_equal(info.missCount, 3);
    assert_int_equal(info.hitCount, 0);
    assert_int_equal(info.uploadSize, 3 * ITEM);
    assert_true(info.mustWait);
    assert_int_equal(filled, 3);
    const uint64_t submissions = rig_calls(rig, "vkQueueSubmit");
    const uint64_t binds = rig_calls(rig, "vkQueueBindSparse");
    info = use_items(0, 3);
    assert_int_equal(info.hitCount, 3);
    assert_int_equal(info.uploadSize, 0);
    assert_true(info.mustWait);
    assert_int_equal(filled, 3);
    assert_int_equal(rig_calls(rig, "vkQueueSubmit"), submissions);
    assert_int_equal(rig_calls(rig, "vkQueueBindSparse"), binds);
    stop();
}

static void moves_of_a_use_are_one_submission(void** state)
{
    (void)state;
    start(4, true);
    (void)use_items(0, 4);
    const uint64_t submissions = rig_calls(rig, "vkQueueSubmit");
    const uint64_t binds = rig_calls(rig, "vkQueueBindSparse");
    const MaarBufferUseInfo info = use_items(8, 4);
    assert_int_equal(info.evictedSize, 4 * ITEM);
    assert_int_equal(rig_calls(rig, "vkQueueSubmit"), submissions + 1);
    assert_int_equal(rig_calls(rig, "vkQueueBindSparse"), binds + 1);
    assert_int_equal(info_of_cache().peakCommittedSize, 4 * ITEM);
    assert_false(info_of_item(0).committed);
    assert_true(info_of_item(8).resident);
    stop();
}

static void use_that_does_not_fit_names_the_missing_bytes(void** state)
{
    (void)state;
    MaarBufferUseInfo info;
    uint64_t use = 7;
    start(4, true);
    assert_int_equal(try_use(0, 6, &info, &use), VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_expect_message(rig, MAAR_MESSAGE_ID_ITEMS_TOO_LARGE);
    assert_int_equal(info.missingSize, 2 * ITEM);
    assert_int_equal(use, 0);
    assert_int_equal(info_of_cache().pinCount, 0);
    assert_int_equal(info_of_cache().committedSize, 0);
    /* What another use pins counts too. */
    const uint64_t other = begin_use(0, 2, &info);
    assert_int_equal(try_use(2, 3, &info, &use), VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_expect_message(rig, MAAR_MESSAGE_ID_ITEMS_TOO_LARGE);
    assert_int_equal(info.missingSize, ITEM);
    maarCancelBufferUse(rig->allocator, cache, other);
    assert_int_equal(info_of_cache().pinCount, 0);
    end_use(begin_use(2, 3, &info), true);
    stop();
}

static void pinned_and_locked_items_stay(void** state)
{
    (void)state;
    MaarBufferUseInfo info;
    const uint32_t locked = 1;
    start(4, true);
    const uint64_t use = begin_use(0, 1, &info);
    (void)use_items(1, 1);
    assert_int_equal(maarLockBufferItems(rig->allocator, cache, 1, &locked), VK_SUCCESS);
    for (uint32_t i = 2; i < ITEMS; i += 2) {
        (void)use_items(i, 2);
    }
    assert_true(info_of_item(0).resident);
    assert_true(info_of_item(1).resident);
    assert_int_equal(info_of_cache().pinnedSize, 2 * ITEM);
    end_use(use, true);
    assert_int_equal(maarUnlockBufferItems(rig->allocator, cache, 1, &locked), VK_SUCCESS);
    assert_int_equal(info_of_cache().pinnedSize, 0);
    (void)use_items(4, 4);
    assert_false(info_of_item(0).resident);
    assert_false(info_of_item(1).resident);
    stop();
}

static void failing_source_is_passed_on(void** state)
{
    (void)state;
    MaarBufferUseInfo info;
    uint64_t use = 7;
    start(4, true);
    fill_result = VK_ERROR_UNKNOWN;
    assert_int_equal(try_use(0, 2, &info, &use), VK_ERROR_UNKNOWN);
    assert_int_equal(use, 0);
    assert_int_equal(info_of_cache().pinCount, 0);
    assert_int_equal(info_of_cache().pinnedSize, 0);
    assert_int_equal(info_of_cache().usedStagingSize, 0);
    assert_int_equal(use_items(0, 2).missCount, 2);
    fill_result = VK_ERROR_UNKNOWN;
    assert_int_equal(prefetch_items(2, 1, 0, 0, &info), VK_ERROR_UNKNOWN);
    assert_int_equal(info_of_cache().pinnedSize, 0);
    stop();
}

/* ---- staging memory ---- */

static void full_staging_memory_is_reported_or_waited_for(void** state)
{
    (void)state;
    MaarBufferUseInfo info;
    uint64_t use = 0;
    const uint32_t items[] = {8, 9, 10, 11, 12, 13, 14, 15, 0, 1};
    start_rig(NULL);
    MaarBufferCacheCreateInfo create = cache_info(16 * ITEM, true);
    create.stagingSize = 4 * ITEM;
    start_with(&create);
    assert_int_equal(try_use(0, 5, &info, &use), VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_expect_message(rig, MAAR_MESSAGE_ID_ITEMS_TOO_LARGE);
    assert_int_equal(info.missingSize, ITEM);
    maarSimulatedSetFlags(rig->physical, MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT);
    end_use(begin_use(0, 4, &info), true);
    assert_int_equal(info_of_cache().usedStagingSize, 4 * ITEM);
    assert_int_equal(try_use(4, 1, &info, &use), VK_NOT_READY);
    maarSimulatedSetFlags(rig->physical, 0);
    end_use(begin_use(4, 1, &info), true);
    const MaarBufferUseBeginInfo begin = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_USE_BEGIN_INFO,
                                          .flags = MAAR_BUFFER_USE_WAIT_BIT,
                                          .itemCount = 10,
                                          .pItems = items};
    assert_int_equal(maarBeginBufferUse(rig->allocator, cache, &begin, NULL, &use), VK_SUCCESS);
    end_use(use, true);
    for (uint32_t i = 0; i < 10; ++i) {
        assert_true(info_of_item(items[i]).resident);
    }
    stop();
}

static void prefetches_keep_to_their_limits(void** state)
{
    (void)state;
    MaarBufferUseInfo info;
    start_rig(NULL);
    MaarBufferCacheCreateInfo create = cache_info(8 * ITEM, true);
    create.stagingSize = 4 * ITEM;
    start_with(&create);
    assert_int_equal(prefetch_items(0, 4, 0, 2 * ITEM, &info), VK_SUCCESS);
    assert_int_equal(info.uploadSize, 2 * ITEM);
    assert_int_equal(prefetch_items(2, 8, 2, 0, &info), VK_SUCCESS);
    assert_true(info.uploadSize > 0 && info.uploadSize <= 4 * ITEM); /* the staging memory */
    assert_int_equal(prefetch_items(2, 8, 2, 0, &info), VK_SUCCESS);
    assert_int_equal(prefetch_items(2, 8, 2, 0, &info), VK_SUCCESS);
    assert_int_equal(info_of_cache().committedSize, 8 * ITEM);
    /* Items that are needed sooner than others do not make room for them. */
    assert_int_equal(prefetch_items(0, 12, 0, 0, &info), VK_SUCCESS);
    assert_int_equal(info.evictedSize, 0);
    assert_int_equal(info.hitCount, 8);
    assert_int_equal(use_items(0, 4).hitCount, 4);
    assert_int_equal(info_of_cache().prefetchedSize, 8 * ITEM);
    stop();
}

/* ---- uploads by the program ---- */

static void program_fills_pieces_in_order(void** state)
{
    (void)state;
    MaarBufferUseInfo info;
    MaarPoint point;
    start_rig(NULL);
    MaarBufferCacheCreateInfo create = cache_info(4 * ITEM, false);
    create.uploadSize = PAGE;
    create.stagingSize = 4 * PAGE;
    start_with(&create);
    const uint64_t use = begin_use(2, 3, &info);
    assert_int_equal(info.pendingSize, 3 * ITEM);
    assert_false(info.mustWait);
    uint32_t count = 3;
    assert_int_equal(maarTakeBufferUploads(rig->allocator, cache, &count, uploads), VK_INCOMPLETE);
    assert_int_equal(count, 3);
    assert_int_equal(uploads[0].item, 2);
    assert_int_equal(uploads[1].item, 2);
    assert_int_equal(uploads[1].offset, PAGE);
    assert_int_equal(uploads[2].item, 3);
    assert_int_equal(maarSubmitBufferUploads(rig->allocator, cache, 3, uploads, &point),
                     VK_SUCCESS);
    assert_true(point.semaphore != VK_NULL_HANDLE && point.value == 1);
    assert_true(info_of_item(2).resident);
    assert_false(info_of_item(3).resident);
    assert_int_equal(take_uploads(3, VK_SUCCESS), 3);
    assert_int_equal(maarSubmitBufferUploads(rig->allocator, cache, 3, uploads, &point),
                     VK_SUCCESS);
    assert_int_equal(point.value, 2);
    end_use(use, true);
    assert_int_equal(info_of_item(4).ready.value, 2);
    stop();
}

static void uses_come_before_prefetches(void** state)
{
    (void)state;
    MaarBufferUseInfo info;
    start(8, false);
    assert_int_equal(prefetch_items(0, 2, 0, 0, &info), VK_SUCCESS);
    const uint64_t use = begin_use(4, 1, &info);
    const uint64_t second = begin_use(1, 1, &info);
    assert_int_equal(info.hitCount, 1);
    assert_int_equal(info.pendingSize, ITEM);
    assert_int_equal(take_uploads(MOST_UPLOADS, VK_SUCCESS), 3);
    assert_int_equal(uploads[0].item, 4);
    assert_int_equal(uploads[1].item, 1);
    assert_int_equal(uploads[2].item, 0);
    assert_int_equal(maarCancelBufferUploads(rig->allocator, cache, 3, uploads), VK_SUCCESS);
    maarCancelBufferUse(rig->allocator, cache, use);
    maarCancelBufferUse(rig->allocator, cache, second);
    stop();
}

static void cancelled_items_are_uploaded_from_the_start(void** state)
{
    (void)state;
    MaarBufferUseInfo info;
    uint64_t use = 0;
    start_rig(NULL);
    MaarBufferCacheCreateInfo create = cache_info(4 * ITEM, false);
    create.uploadSize = PAGE;
    start_with(&create);
    maarCancelBufferUse(rig->allocator, cache, begin_use(0, 1, &info));
    assert_int_equal(take_uploads(2, VK_SUCCESS), 2);
    assert_int_equal(maarCancelBufferUploads(rig->allocator, cache, 1, uploads), VK_SUCCESS);
    /* The other piece is still with the program. */
    assert_int_equal(try_use(0, 1, &info, &use), VK_NOT_READY);
    assert_int_equal(maarCancelBufferUploads(rig->allocator, cache, 1, uploads + 1), VK_SUCCESS);
    assert_true(info_of_item(0).committed);
    assert_int_equal(info_of_cache().pinnedSize, 0);
    maarCancelBufferUse(rig->allocator, cache, begin_use(0, 1, &info));
    assert_int_equal(take_uploads(2, VK_SUCCESS), 2);
    assert_int_equal(uploads[0].offset, 0);
    assert_int_equal(maarSubmitBufferUploads(rig->allocator, cache, 2, uploads, NULL), VK_SUCCESS);
    assert_true(info_of_item(0).resident);
    expect_misuse(maarSubmitBufferUploads(rig->allocator, cache, 1, uploads, NULL),
                  MAAR_MESSAGE_ID_STALE_UPLOAD);
    expect_misuse(maarCancelBufferUploads(rig->allocator, cache, 1, uploads),
                  MAAR_MESSAGE_ID_STALE_UPLOAD);
    stop();
}

/* ---- budgets and pages ---- */

static void smaller_budget_is_reached_at_once_or_after_pins(void** state)
{
    (void)state;
    MaarBufferUseInfo info;
    start(8, true);
    (void)use_items(0, 4);
    const uint64_t use = begin_use(4, 4, &info);
    assert_int_equal(maarSetBufferCacheBudget(rig->allocator, cache, 6 * ITEM), VK_SUCCESS);
    assert_int_equal(info_of_cache().committedSize, 6 * ITEM);
    assert_int_equal(maarSetBufferCacheBudget(rig->allocator, cache, 2 * ITEM), VK_SUCCESS);
    assert_int_equal(info_of_cache().committedSize, 4 * ITEM);
    end_use(use, true);
    (void)use_items(8, 1);
    assert_int_equal(info_of_cache().committedSize, 2 * ITEM);
    expect_misuse(maarSetBufferCacheBudget(rig->allocator, cache, PAGE - 1),
                  MAAR_MESSAGE_ID_OUT_OF_RANGE);
    stop();
}

/* Pages are unbound when the last use has ended, and not before. */
static void pages_leave_after_the_points_of_the_last_use(void** state)
{
    (void)state;
    MaarBufferUseInfo info;
    uint32_t count = 0;
    MaarReservationInfo reserved = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    const struct rig_setup setup = {
        .profile = rig_profile_sparse(), .flags = MAAR_SIMULATED_EXECUTE_BIT, .paging = true};
    start_rig(&setup);
    const MaarBufferCacheCreateInfo create = cache_info(4 * ITEM, true);
    start_with(&create);
    assert_int_equal(maarGetReservationInfo(rig->allocator, reservation, &reserved), VK_SUCCESS);
    end_use(begin_use(0, 4, &info), false);
    assert_int_equal(maarSetBufferCacheBudget(rig->allocator, cache, ITEM), VK_SUCCESS);
    MaarSimulatedPages pages[2 * ITEMS];
    VkDeviceSize bound[2] = {0, 0};
    for (uint32_t i = 0; i < 2; ++i) {
        count = 2 * ITEMS;
        assert_int_equal(maarSimulatedEnumeratePages(rig->device, VK_OBJECT_TYPE_BUFFER,
                                                     (uint64_t)(uintptr_t)reserved.buffer, &count,
                                                     pages),
                         VK_SUCCESS);
        for (uint32_t k = 0; k < count; ++k) {
            bound[i] += pages[k].size;
        }
        if (i == 0) {
            rig_signal(rig, work, work_value);
        }
    }
    assert_int_equal(bound[0], 4 * ITEM);
    assert_int_equal(bound[1], ITEM);
    stop();
}

static void short_device_makes_other_items_leave(void** state)
{
    (void)state;
    const VkDeviceSize limits[3] = {4 * MIB, 0, 0};
    const struct rig_setup setup = {.profile = rig_profile_sparse(), .paging = true};
    rig = rig_new();
    rig_open(rig, &setup);
    rig->create_info.heapSizeLimitCount = 3;
    rig->create_info.pHeapSizeLimits = limits;
    rig->create_info.preferredBlockSize = MIB;
    rig_make_allocator(rig);
    VkBufferCreateInfo buffer = rig_buffer_info(ITEMS * 8 * PAGE);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    const MaarReservationCreateInfo reserve = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pBufferInfo = &buffer,
        .pMemoryInfo = &how,
    };
    buffer.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    how.flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    assert_int_equal(maarCreateReservation(rig->allocator, &reserve, &reservation), VK_SUCCESS);
    work = rig_create_timeline(rig, 0);
    work_value = 0;
    MaarBufferCacheCreateInfo info = cache_info(64 * MIB, true);
    info.stagingSize = 2 * MIB;
    assert_int_equal(maarCreateBufferCache(rig->allocator, &info, &cache), VK_SUCCESS);
    for (uint32_t i = 0; i < ITEMS; ++i) {
        const MaarBufferItem item = {.offset = i * 8 * PAGE, .size = 8 * PAGE};
        assert_int_equal(maarAddBufferItems(rig->allocator, cache, 1, &item, NULL), VK_SUCCESS);
    }
    for (uint32_t i = 0; i < ITEMS; ++i) {
        assert_int_equal(use_items(i, 1).missCount, 1);
    }
    assert_true(info_of_cache().shortageCount > 0);
    assert_true(info_of_cache().evictionCount > 0);
    assert_true(info_of_cache().committedSize <= 4 * MIB);
    rig_forget_messages(rig);
    stop();
}

/* ---- items ---- */

static void items_are_checked_and_added_all_or_none(void** state)
{
    (void)state;
    start_rig(NULL);
    const MaarBufferCacheCreateInfo create = cache_info(4 * ITEM, true);
    assert_int_equal(maarCreateBufferCache(rig->allocator, &create, &cache), VK_SUCCESS);
    const MaarBufferItem wrong[] = {
        {.offset = 0, .size = 0},
        {.offset = 1, .size = PAGE},
        {.offset = ITEMS * ITEM, .size = 1},
        {.offset = PAGE, .size = ITEMS * ITEM},
        {.offset = 0, .size = PAGE, .priorityClass = 8},
        {.offset = 4 * PAGE, .size = PAGE},
    };
    static const MaarMessageId ids[] = {
        MAAR_MESSAGE_ID_ZERO_SIZE,    MAAR_MESSAGE_ID_INVALID_ALIGNMENT,
        MAAR_MESSAGE_ID_OUT_OF_RANGE, MAAR_MESSAGE_ID_OUT_OF_RANGE,
        MAAR_MESSAGE_ID_OUT_OF_RANGE, MAAR_MESSAGE_ID_ITEMS_OVERLAP,
    };
    for (uint32_t i = 0; i < 6; ++i) {
        const MaarBufferItem items[] = {{.offset = 4 * PAGE, .size = PAGE}, wrong[i]};
        expect_misuse(maarAddBufferItems(rig->allocator, cache, 2, items, NULL), ids[i]);
        assert_int_equal(info_of_cache().itemCount, 0);
    }
    add_items();
    const uint32_t gone = 3;
    (void)use_items(3, 1);
    assert_int_equal(maarRemoveBufferItems(rig->allocator, cache, 1, &gone), VK_SUCCESS);
    assert_int_equal(info_of_cache().committedSize, 0);
    MaarBufferUseInfo info;
    uint64_t use = 0;
    assert_int_equal(try_use(3, 1, &info, &use), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_UNKNOWN_ITEM);
    expect_misuse(maarRemoveBufferItems(rig->allocator, cache, 1, &gone),
                  MAAR_MESSAGE_ID_UNKNOWN_ITEM);
    stop();
}

static void items_in_use_are_not_removed(void** state)
{
    (void)state;
    MaarBufferUseInfo info;
    const uint32_t items[] = {0, 1};
    const uint32_t twice[] = {4, 4};
    start(4, true);
    const uint64_t use = begin_use(0, 1, &info);
    expect_misuse(maarRemoveBufferItems(rig->allocator, cache, 2, items),
                  MAAR_MESSAGE_ID_ITEM_IN_USE);
    expect_misuse(maarRemoveBufferItems(rig->allocator, cache, 2, twice),
                  MAAR_MESSAGE_ID_ITEM_IN_USE);
    assert_int_equal(info_of_cache().itemCount, ITEMS);
    end_use(use, true);
    assert_int_equal(maarRemoveBufferItems(rig->allocator, cache, 2, items), VK_SUCCESS);
    stop();
}

static void locks_are_counted(void** state)
{
    (void)state;
    const uint32_t items[] = {0, 1, 1};
    const uint32_t unknown = ITEMS;
    start(4, true);
    assert_int_equal(maarLockBufferItems(rig->allocator, cache, 3, items), VK_SUCCESS);
    assert_int_equal(info_of_item(1).lockCount, 2);
    const uint32_t too_often[] = {1, 0, 0};
    expect_misuse(maarUnlockBufferItems(rig->allocator, cache, 3, too_often),
                  MAAR_MESSAGE_ID_ITEM_NOT_LOCKED);
    assert_int_equal(info_of_item(1).lockCount, 2);
    assert_int_equal(info_of_item(0).lockCount, 1);
    expect_misuse(maarLockBufferItems(rig->allocator, cache, 1, &unknown),
                  MAAR_MESSAGE_ID_UNKNOWN_ITEM);
    assert_int_equal(maarUnlockBufferItems(rig->allocator, cache, 3, items), VK_SUCCESS);
    stop();
}

/* Of two items, the one of the lower class leaves, although it was used last. */
static void lower_classes_leave_first(void** state)
{
    (void)state;
    const MaarBufferItem items[] = {
        {.offset = 0, .size = ITEM, .priorityClass = 1},
        {.offset = ITEM, .size = ITEM},
        {.offset = 2 * ITEM, .size = ITEM, .priorityClass = 1},
    };
    start_rig(NULL);
    const MaarBufferCacheCreateInfo create = cache_info(2 * ITEM, true);
    assert_int_equal(maarCreateBufferCache(rig->allocator, &create, &cache), VK_SUCCESS);
    assert_int_equal(maarAddBufferItems(rig->allocator, cache, 3, items, NULL), VK_SUCCESS);
    (void)use_items(0, 2);
    (void)use_items(2, 1);
    assert_true(info_of_item(0).resident);
    assert_false(info_of_item(1).resident);
    stop();
}

/* ---- misuse ---- */

static void stale_uses_and_wrong_points_are_reported(void** state)
{
    (void)state;
    MaarBufferUseInfo info;
    const MaarPoint host = {.value = 1};
    start(4, true);
    const uint64_t use = begin_use(0, 1, &info);
    expect_misuse(maarEndBufferUse(rig->allocator, cache, use, 0, NULL), MAAR_MESSAGE_ID_ZERO_SIZE);
    expect_misuse(maarEndBufferUse(rig->allocator, cache, use, 1, &host),
                  MAAR_MESSAGE_ID_POINT_NOT_USABLE);
    assert_int_equal(info_of_cache().pinCount, 1);
    end_use(use, true);
    const MaarPoint point = {work, 1};
    expect_misuse(maarEndBufferUse(rig->allocator, cache, use, 1, &point),
                  MAAR_MESSAGE_ID_STALE_USE);
    maarCancelBufferUse(rig->allocator, cache, use);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_USE, "4294967296");
    maarCancelBufferUse(rig->allocator, cache, 0);
    rig_expect_silence(rig);
    stop();
}

static void end_use_on(VkSemaphore timeline, uint64_t use)
{
    const MaarPoint point = {timeline, 1};
    assert_int_equal(maarEndBufferUse(rig->allocator, cache, use, 1, &point), VK_SUCCESS);
}

static void too_many_timelines_are_refused(void** state)
{
    (void)state;
    MaarBufferUseInfo info;
    VkSemaphore timelines[MAAR_BUFFER_CACHE_MAX_TIMELINES + 1];
    start(4, true);
    for (uint32_t i = 0; i <= MAAR_BUFFER_CACHE_MAX_TIMELINES; ++i) {
        timelines[i] = rig_create_timeline(rig, 1);
        const MaarPoint point = {timelines[i], 1};
        const uint64_t use = begin_use(0, 1, &info);
        const bool fits = i < MAAR_BUFFER_CACHE_MAX_TIMELINES;
        assert_int_equal(maarEndBufferUse(rig->allocator, cache, use, 1, &point),
                         fits ? VK_SUCCESS : VK_ERROR_TOO_MANY_OBJECTS);
        if (!fits) {
            rig_expect_message(rig, MAAR_MESSAGE_ID_TOO_MANY_TIMELINES);
            assert_int_equal(info_of_cache().pinCount, 1);
            maarCancelBufferUse(rig->allocator, cache, use);
        }
    }
    end_use_on(timelines[0], begin_use(4, 4, &info)); /* the binds wait for all of them */
    assert_int_equal(vkDeviceWaitIdle(rig->device), VK_SUCCESS);
    for (uint32_t i = 0; i <= MAAR_BUFFER_CACHE_MAX_TIMELINES; ++i) {
        vkDestroySemaphore(rig->device, timelines[i], NULL);
    }
    stop();
}

/* The next submission of binds waits for as many timelines as one may. */
static void full_list_of_delays_is_an_error(void** state)
{
    (void)state;
    MaarBufferUseInfo info;
    MaarPoint points[MAAR_MAX_POINTS];
    const uint32_t item = 0;
    uint64_t use = 0;
    start(4, true);
    (void)use_items(0, 4);
    for (uint32_t i = 0; i < MAAR_MAX_POINTS; ++i) {
        points[i] = (MaarPoint){rig_create_timeline(rig, 1), 1};
    }
    assert_int_equal(maarDelayBinds(rig->allocator, MAAR_MAX_POINTS, points), VK_SUCCESS);
    assert_int_equal(maarRemoveBufferItems(rig->allocator, cache, 1, &item),
                     VK_ERROR_TOO_MANY_OBJECTS);
    assert_int_equal(try_use(8, 2, &info, &use), VK_ERROR_TOO_MANY_OBJECTS);
    assert_int_equal(info_of_cache().pinCount, 0);
    assert_int_equal(prefetch_items(8, 1, 0, 0, &info), VK_ERROR_TOO_MANY_OBJECTS);
    assert_int_equal(maarSetBufferCacheBudget(rig->allocator, cache, ITEM),
                     VK_ERROR_TOO_MANY_OBJECTS);
    assert_int_equal(info_of_cache().budget, ITEM);
    assert_int_equal(info_of_cache().committedSize, 4 * ITEM);
    assert_int_equal(info_of_cache().itemCount, ITEMS);
    rig_forget_messages(rig);
    for (uint32_t i = 0; i < MAAR_MAX_POINTS; ++i) {
        vkDestroySemaphore(rig->device, points[i].semaphore, NULL);
    }
    stop();
}

static void values_that_cannot_be_read_are_passed_on(void** state)
{
    (void)state;
    static const VkResult codes[] = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY,
                                     VK_ERROR_DEVICE_LOST};
    MaarBufferUseInfo info;
    start(4, false);
    const uint64_t use = begin_use(0, 1, &info);
    assert_int_equal(take_uploads(1, VK_SUCCESS), 1);
    maarSimulatedSetFlags(rig->physical, MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT);
    assert_int_equal(maarSubmitBufferUploads(rig->allocator, cache, 1, uploads, NULL), VK_SUCCESS);
    for (uint32_t i = 0; i < 3; ++i) {
        rig_set_fault(rig, "vkGetSemaphoreCounterValue", 1, 1, codes[i]);
        uint32_t count = 1;
        assert_int_equal(maarTakeBufferUploads(rig->allocator, cache, &count, uploads), codes[i]);
        assert_int_equal(count, 0);
    }
    rig_clear_faults(rig);
    maarSimulatedSetFlags(rig->physical, 0);
    maarCancelBufferUse(rig->allocator, cache, use);
    stop();
}

static void misuse_is_reported(void** state)
{
    (void)state;
    start(4, true);
    uint64_t use = 0;
    uint32_t count = 1;
    const uint32_t item = 0;
    MaarBufferUseBeginInfo begin = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_USE_BEGIN_INFO,
                                    .flags = 2,
                                    .itemCount = 1,
                                    .pItems = &item};
    expect_misuse(maarBeginBufferUse(rig->allocator, cache, &begin, NULL, &use),
                  MAAR_MESSAGE_ID_UNKNOWN_FLAGS);
    begin.flags = 0;
    begin.itemCount = 0;
    expect_misuse(maarBeginBufferUse(rig->allocator, cache, &begin, NULL, &use),
                  MAAR_MESSAGE_ID_ZERO_SIZE);
    begin.itemCount = 1;
    begin.pItems = NULL;
    expect_misuse(maarBeginBufferUse(rig->allocator, cache, &begin, NULL, &use),
                  MAAR_MESSAGE_ID_NULL_ARGUMENT);
    expect_misuse(maarAddBufferItems(rig->allocator, cache, 1, NULL, NULL),
                  MAAR_MESSAGE_ID_NULL_ARGUMENT);
    expect_misuse(maarTakeBufferUploads(rig->allocator, cache, &count, uploads),
                  MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS);
    const MaarBufferPrefetch prefetch = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_PREFETCH,
                                         .itemCount = 1};
    expect_misuse(maarPrefetchBufferItems(rig->allocator, cache, &prefetch, NULL),
                  MAAR_MESSAGE_ID_NULL_ARGUMENT);
    MaarBufferItemInfo info = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_ITEM_INFO};
    expect_misuse(maarGetBufferItemInfo(rig->allocator, cache, ITEMS, &info),
                  MAAR_MESSAGE_ID_UNKNOWN_ITEM);
    MaarBufferCacheInfo wrong = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_ITEM_INFO};
    assert_int_equal(maarGetBufferCacheInfo(rig->allocator, cache, &wrong),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_forget_messages(rig);
    stop();
}

static void reservations_that_serve_not_are_refused(void** state)
{
    (void)state;
    const MaarPageRange page = {0, PAGE};
    start_rig(NULL);
    MaarBufferCacheCreateInfo info = cache_info(4 * ITEM, true);
    info.budget = PAGE - 1;
    expect_misuse(maarCreateBufferCache(rig->allocator, &info, &cache),
                  MAAR_MESSAGE_ID_OUT_OF_RANGE);
    info.budget = PAGE;
    info.queueIndex = 9;
    expect_misuse(maarCreateBufferCache(rig->allocator, &info, &cache),
                  MAAR_MESSAGE_ID_OUT_OF_RANGE);
    info.queueIndex = 0;
    info.reservation = cached_reservation(0, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
    expect_misuse(maarCreateBufferCache(rig->allocator, &info, &cache),
                  MAAR_MESSAGE_ID_RESERVATION_NOT_CACHEABLE);
    maarDestroyReservation(rig->allocator, info.reservation);
    info.reservation =
        cached_reservation(MAAR_RESERVATION_CREATE_COPYING_BIT, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    assert_int_equal(maarCreateBufferCache(rig->allocator, &info, &cache),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_RESERVATION_NOT_CACHEABLE);
    maarDestroyReservation(rig->allocator, info.reservation);
    info.reservation = cached_reservation(0, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    assert_int_equal(maarCommitPages(rig->allocator, info.reservation, 1, &page), VK_SUCCESS);
    expect_misuse(maarCreateBufferCache(rig->allocator, &info, &cache),
                  MAAR_MESSAGE_ID_RESERVATION_NOT_CACHEABLE);
    maarDestroyReservation(rig->allocator, info.reservation);
    rig_forget_messages(rig);
    info.reservation = reservation;
    start_with(&info);
    MaarBufferCache second = VK_NULL_HANDLE;
    expect_misuse(maarCreateBufferCache(rig->allocator, &info, &second),
                  MAAR_MESSAGE_ID_BUFFER_CACHE_OWNS_RESERVATION);
    expect_misuse(maarCommitPages(rig->allocator, reservation, 1, &page),
                  MAAR_MESSAGE_ID_BUFFER_CACHE_OWNS_RESERVATION);
    expect_misuse(maarDestroyReservationAfter(rig->allocator, reservation, 0, NULL),
                  MAAR_MESSAGE_ID_BUFFER_CACHE_OWNS_RESERVATION);
    stop();
}

static void forgotten_cache_is_reported_and_freed(void** state)
{
    (void)state;
    start(4, true);
    (void)use_items(0, 3);
    vkDestroySemaphore(rig->device, work, NULL);
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    rig_forget_messages(rig);
    rig_close(rig);
}

/* Items that made room wait for the cache's copies. What was recorded for that and not submitted
 * waits no more when the cache is gone. */
static void no_binds_wait_for_a_cache_that_was_destroyed(void** state)
{
    (void)state;
    start(4, true);
    maarSimulatedSetFlags(rig->physical, MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT);
    (void)use_items(0, 4);
    rig_set_fault(rig, "vkQueueBindSparse", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    (void)maarSetBufferCacheBudget(rig->allocator, cache, ITEM);
    rig_clear_faults(rig);
    rig_forget_messages(rig);
    maarDestroyBufferCache(rig->allocator, cache);
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_SUCCESS);
    maarSimulatedSetFlags(rig->physical, 0);
    cache = VK_NULL_HANDLE;
    stop();
}

static void cache_destroyed_with_a_use_says_so(void** state)
{
    (void)state;
    MaarBufferUseInfo info;
    start(4, true);
    (void)begin_use(0, 1, &info);
    (void)begin_use(1, 1, &info);
    maarDestroyBufferCache(rig->allocator, cache);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_USE_NOT_ENDED, "2");
    cache = VK_NULL_HANDLE;
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(missing_items_are_filled_and_hits_cost_nothing),
        rig_unit_test(moves_of_a_use_are_one_submission),
        rig_unit_test(use_that_does_not_fit_names_the_missing_bytes),
        rig_unit_test(pinned_and_locked_items_stay),
        rig_unit_test(failing_source_is_passed_on),
        rig_unit_test(full_staging_memory_is_reported_or_waited_for),
        rig_unit_test(prefetches_keep_to_their_limits),
        rig_unit_test(program_fills_pieces_in_order),
        rig_unit_test(uses_come_before_prefetches),
        rig_unit_test(cancelled_items_are_uploaded_from_the_start),
        rig_unit_test(smaller_budget_is_reached_at_once_or_after_pins),
        rig_unit_test(pages_leave_after_the_points_of_the_last_use),
        rig_unit_test(short_device_makes_other_items_leave),
        rig_unit_test(items_are_checked_and_added_all_or_none),
        rig_unit_test(items_in_use_are_not_removed),
        rig_unit_test(locks_are_counted),
        rig_unit_test(lower_classes_leave_first),
        rig_unit_test(stale_uses_and_wrong_points_are_reported),
        rig_unit_test(too_many_timelines_are_refused),
        rig_unit_test(full_list_of_delays_is_an_error),
        rig_unit_test(values_that_cannot_be_read_are_passed_on),
        rig_unit_test(misuse_is_reported),
        rig_unit_test(reservations_that_serve_not_are_refused),
        rig_unit_test(forgotten_cache_is_reported_and_freed),
        rig_unit_test(cache_destroyed_with_a_use_says_so),
        rig_unit_test(no_binds_wait_for_a_cache_that_was_destroyed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
