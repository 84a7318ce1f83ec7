/*
 * Touches of reservations: what gets memory, what is listed as fresh, what is noted, and what a
 * call that fails leaves behind.
 */
#include "tests/unit/reservation/touch_fixture.h"

static void a_touch_commits_what_it_names(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 100 * PAGE - 1000, 0);
    const MaarReservationRange ranges[] = {
        {it, 10 * PAGE + 1, 2 * PAGE}, {it, 98 * PAGE, VK_WHOLE_SIZE}, {it, 0, 0}};
    MaarTouchResult touched;
    assert_int_equal(touch_ranges(3, ranges, &touched), VK_SUCCESS);
    assert_int_equal(touched.freshCount, 2);
    assert_int_equal(touched.freshSize, 5 * PAGE - 1000);
    assert_int_equal(touched.missingSize, 0);
    assert_int_equal(touched.touch, 1);
    expect_fresh(0, it, 10 * PAGE, 3 * PAGE);
    expect_fresh(1, it, 98 * PAGE, 2 * PAGE - 1000);
    assert_int_equal(fixture_info(rig, it).committedSize, 5 * PAGE);
    assert_int_equal(fixture_statistics(rig).recordedPages, 5);
    (void)fixture_submit(rig);
    /* What is fresh is said once. */
    assert_int_equal(touch_ranges(3, ranges, &touched), VK_SUCCESS);
    assert_int_equal(touched.freshCount, 0);
    assert_int_equal(touched.freshSize, 0);
    assert_int_equal(touched.touch, 2);
    assert_int_equal(touch(it, 8, 6).freshCount, 2);
    expect_fresh(0, it, 8 * PAGE, 2 * PAGE);
    expect_fresh(1, it, 13 * PAGE, PAGE);
    maarDestroyReservation(rig->allocator, it);
}

static void one_touch_names_many_reservations(void** state)
{
    (void)state;
    enum { MANY = 20 };
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservationRange ranges[MANY];
    for (uint32_t i = 0; i < MANY; ++i) {
        ranges[i] = (MaarReservationRange){fixture_reserve(rig, 64 * PAGE, 0), i * PAGE, 2 * PAGE};
    }
    for (uint32_t round = 0; round < 3; ++round) {
        MaarTouchResult touched;
        assert_int_equal(touch_ranges(MANY, ranges, &touched), VK_SUCCESS);
        assert_int_equal(touched.touch, round + 1);
        assert_int_equal(touched.freshCount, round == 0 ? MANY : 0);
        for (uint32_t i = 0; i < MANY; ++i) {
            MaarTouchedRun run[64];
            if (round == 0) {
                expect_fresh(i, ranges[i].reservation, i * PAGE, 2 * PAGE);
            }
            assert_int_equal(touched_runs(ranges[i].reservation, run), 1);
            assert_int_equal(run[0].touch, round + 1);
            assert_int_equal(use_of(ranges[i].reservation).lastTouch, round + 1);
        }
    }
    for (uint32_t i = 0; i < MANY; ++i) {
        maarDestroyReservation(rig->allocator, ranges[i].reservation);
    }
}

static void ranges_that_overlap_are_fresh_once(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 100 * PAGE, 0);
    const MaarReservationRange ranges[] = {
        {it, 20 * PAGE, 4 * PAGE}, {it, 22 * PAGE, 4 * PAGE}, {it, 0, PAGE}, {it, 20 * PAGE, PAGE}};
    MaarTouchResult touched;
    assert_int_equal(touch_ranges(4, ranges, &touched), VK_SUCCESS);
    assert_int_equal(touched.freshCount, 2);
    expect_fresh(0, it, 20 * PAGE, 6 * PAGE);
    expect_fresh(1, it, 0, PAGE);
    assert_int_equal(touched.freshSize, 7 * PAGE);
    maarDestroyReservation(rig->allocator, it);
}

static void touches_have_an_order(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 100 * PAGE, 0);
    (void)touch(it, 0, 10);
    (void)touch(it, 20, 10);
    (void)touch(it, 40, 10);
    (void)touch(it, 0, 10);
    (void)touch(it, 22, 2);
    static const MaarTouchedRun order[] = {
        {20 * PAGE, 2 * PAGE, 2, 0, VK_FALSE},  {24 * PAGE, 6 * PAGE, 2, 0, VK_FALSE},
        {40 * PAGE, 10 * PAGE, 3, 0, VK_FALSE}, {0, 10 * PAGE, 4, 0, VK_FALSE},
        {22 * PAGE, 2 * PAGE, 5, 0, VK_FALSE},
    };
    MaarTouchedRun runs[64];
    assert_int_equal(touched_runs(it, runs), 5);
    assert_memory_equal(runs, order, sizeof order);
    uint32_t count = 2;
    assert_int_equal(maarEnumerateTouchedRuns(rig->allocator, it, &count, runs), VK_INCOMPLETE);
    assert_int_equal(count, 2);
    assert_int_equal(maarEnumerateTouchedRuns(rig->allocator, it, &count, NULL), VK_SUCCESS);
    assert_int_equal(count, 5);
    assert_int_equal(maarEnumerateTouchedRuns(rig->allocator, it, NULL, runs),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pCount");
    maarDestroyReservation(rig->allocator, it);
}

static void a_touch_of_what_has_memory_takes_nothing(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, &setup);
    MaarReservation it = fixture_reserve(rig, 1000 * PAGE, 0);
    (void)touch(it, 0, 1000);
    (void)fixture_submit(rig);
    const uint64_t before = atomic_load(&rig->host.calls);
    for (uint32_t i = 0; i < 900; ++i) {
        assert_int_equal(touch(it, i, 1 + i % 100).freshCount, 0);
    }
    assert_int_equal(atomic_load(&rig->host.calls), before);
    assert_int_equal(fixture_statistics(rig).recordedPages, 0);
    maarDestroyReservation(rig->allocator, it);
}

static void what_was_given_back_is_fresh_again(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 100 * PAGE, 0);
    for (uint32_t i = 0; i < 2; ++i) {
        (void)touch(it, 0, 10);
        (void)fixture_submit(rig);
        assert_int_equal(fixture_decommit(rig, it, 4 * PAGE, 2 * PAGE), VK_SUCCESS);
        MaarTouchedRun runs[64];
        assert_int_equal(touched_runs(it, runs), 2);
        if (i == 1) {
            (void)fixture_submit(rig);
        }
        assert_int_equal(touch(it, 0, 10).freshCount, 1);
        expect_fresh(0, it, 4 * PAGE, 2 * PAGE);
    }
    maarDestroyReservation(rig->allocator, it);
}

/* Units of several pages: a page of one that is given back is the only fresh one, and the unit
 * keeps its place in the order. */
static void units_have_several_pages(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    const VkBufferCreateInfo buffer = fixture_buffer(101 * PAGE);
    const MaarReservationTouchInfo units = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_TOUCH_INFO,
                                            .unitSize = 3 * PAGE + 1};
    const MaarReservationCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                            .pNext = &units,
                                            .pBufferInfo = &buffer};
    MaarReservation it = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &it), VK_SUCCESS);
    assert_int_equal(use_of(it).unitSize, 4 * PAGE);
    assert_int_equal(use_of(it).noteSize, 0);
    assert_int_equal(use_of(it).lastTouch, 0);
    assert_int_equal(touch(it, 5, 1).freshCount, 1);
    expect_fresh(0, it, 4 * PAGE, 4 * PAGE);
    assert_true(use_of(it).noteSize >= 26 * 24);
    assert_true(use_of(it).noteSize < 26 * 24 + 256);
    (void)touch(it, 100, 1);
    expect_fresh(0, it, 100 * PAGE, PAGE);
    (void)fixture_submit(rig);
    assert_int_equal(fixture_decommit(rig, it, 5 * PAGE, PAGE), VK_SUCCESS);
    MaarTouchedRun runs[64];
    assert_int_equal(touched_runs(it, runs), 2);
    assert_int_equal(runs[0].offset, 4 * PAGE);
    assert_int_equal(touch(it, 4, 1).freshCount, 1);
    expect_fresh(0, it, 5 * PAGE, PAGE);
    /* A unit that is given back in two parts keeps its place, which costs nothing. */
    assert_int_equal(fixture_decommit(rig, it, 4 * PAGE, 4 * PAGE), VK_SUCCESS);
    assert_int_equal(fixture_decommit(rig, it, 100 * PAGE, VK_WHOLE_SIZE), VK_SUCCESS);
    assert_int_equal(touched_runs(it, runs), 0);
    maarDestroyReservation(rig->allocator, it);
}

static void large_reservations_have_larger_units(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 65536 * PAGE, 0);
    assert_int_equal(use_of(it).unitSize, PAGE);
    MaarReservation larger = fixture_reserve(rig, 65536 * PAGE + 1, 0);
    assert_int_equal(use_of(larger).unitSize, 2 * PAGE);
    (void)touch(larger, 0, 1);
    assert_true(use_of(larger).noteSize < 1600000);
    const VkBufferCreateInfo buffer = fixture_buffer(512 * GIB);
    MaarReservationTouchInfo units = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_TOUCH_INFO,
                                      .unitSize = 1};
    const MaarReservationCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                            .pNext = &units,
                                            .pBufferInfo = &buffer};
    MaarReservation largest = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &largest), VK_SUCCESS);
    assert_int_equal(use_of(largest).unitSize, PAGE);
    maarDestroyReservation(rig->allocator, largest);
    units.unitSize = UINT64_MAX;
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &largest), VK_SUCCESS);
    assert_int_equal(use_of(largest).unitSize, 512 * GIB);
    maarDestroyReservation(rig->allocator, largest);
    maarDestroyReservation(rig->allocator, larger);
    maarDestroyReservation(rig->allocator, it);
}

/* ---- shortage ---- */

static void a_shortage_names_the_missing_bytes(void** state)
{
    (void)state;
    begin_short(64 * MIB);
    MaarReservation other = reserve_strict(1024);
    MaarReservation it = reserve_strict(1024);
    (void)touch(other, 0, 600);
    (void)touch(it, 0, 100);
    (void)fixture_submit(rig);
    MaarTouchedRun before[64];
    MaarTouchedRun after[64];
    assert_int_equal(touched_runs(it, before), 1);
    const MaarPagingStatistics were = fixture_statistics(rig);
    const MaarReservationRange ranges[] = {
        {it, 0, 100 * PAGE}, {it, 200 * PAGE, 300 * PAGE}, {it, 600 * PAGE, 200 * PAGE}};
    MaarTouchResult touched;
    assert_int_equal(touch_ranges(3, ranges, &touched), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_forget_messages(rig);
    /* 64 MiB are 1,024 pages: 700 are in use, and 500 are wanted. */
    assert_true(touched.missingSize >= 176 * PAGE);
    assert_true(touched.missingSize <= 500 * PAGE);
    assert_int_equal(touched.freshCount, 0);
    assert_int_equal(touched.freshSize, 0);
    assert_int_equal(touched.touch, 0);
    assert_int_equal(touched_runs(it, after), 1);
    assert_memory_equal(&before[0], &after[0], sizeof before[0]);
    const MaarPagingStatistics are = fixture_statistics(rig);
    assert_int_equal(are.committedBytes, were.committedBytes);
    assert_int_equal(are.recordedPages, 0);
    rig_check(rig);
    /* So many bytes are enough. */
    assert_int_equal(fixture_decommit(rig, other, 0, touched.missingSize), VK_SUCCESS);
    assert_int_equal(touch_ranges(3, ranges, &touched), VK_SUCCESS);
    assert_int_equal(touched.freshSize, 500 * PAGE);
    assert_int_equal(touched.touch, 3);
    maarDestroyReservation(rig->allocator, it);
    maarDestroyReservation(rig->allocator, other);
    rig_forget_messages(rig);
}

static void without_room_nothing_is_touched(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 100 * PAGE, 0);
    for (uint32_t i = 0; i < 5; ++i) {
        (void)touch(it, 10 + 2 * i, 1);
    }
    (void)fixture_submit(rig);
    const MaarPagingStatistics before = fixture_statistics(rig);
    const MaarReservationRange range = {it, 0, 50 * PAGE};
    const MaarTouchInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TOUCH_INFO, .rangeCount = 1, .pRanges = &range};
    MaarTouchedRun runs[64];
    for (uint32_t room = 0; room < 6; ++room) {
        MaarTouchResult touched = {
            .sType = MAAR_STRUCTURE_TYPE_TOUCH_RESULT, .freshCapacity = room, .pFresh = fresh};
        assert_int_equal(maarTouchPages(rig->allocator, &info, &touched), VK_INCOMPLETE);
        assert_int_equal(touched.freshCount, 6);
        assert_int_equal(touched.freshSize, 0);
        assert_int_equal(touched.touch, 0);
        assert_int_equal(touched_runs(it, runs), 5);
        const MaarPagingStatistics after = fixture_statistics(rig);
        assert_memory_equal(&before, &after, offsetof(MaarPagingStatistics, peakBlockBytes));
        assert_int_equal(after.recordedPages, 0);
        rig_check(rig);
    }
    rig_expect_silence(rig);
    /* Without an array they are counted; without a result nobody knows. */
    MaarTouchResult touched = {.sType = MAAR_STRUCTURE_TYPE_TOUCH_RESULT};
    assert_int_equal(maarTouchPages(rig->allocator, &info, &touched), VK_SUCCESS);
    assert_int_equal(touched.freshCount, 6);
    assert_int_equal(touched.freshSize, 45 * PAGE);
    assert_int_equal(fixture_decommit(rig, it, 0, PAGE), VK_SUCCESS);
    assert_int_equal(maarTouchPages(rig->allocator, &info, NULL), VK_SUCCESS);
    assert_int_equal(maarTouchPages(rig->allocator, &info, NULL), VK_SUCCESS);
    assert_int_equal(fixture_info(rig, it).committedSize, 50 * PAGE);
    maarDestroyReservation(rig->allocator, it);
}

static void wrong_ranges_are_refused(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 100 * PAGE, 0);
    static const MaarPageRange wrong[] = {{100 * PAGE, 1},
                                          {101 * PAGE, 0},
                                          {0, 101 * PAGE},
                                          {99 * PAGE, 1 + PAGE},
                                          {1, UINT64_MAX - 1}};
    MaarTouchResult touched;
    for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        const MaarReservationRange ranges[] = {{it, 0, PAGE}, {it, wrong[i].offset, wrong[i].size}};
        assert_int_equal(touch_ranges(2, ranges, &touched), VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pRanges");
        assert_int_equal(fixture_info(rig, it).committedSize, 0);
    }
    assert_int_equal(touch_ranges(1, NULL, &touched), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pRanges");
    assert_int_equal(maarTouchPages(rig->allocator, NULL, &touched),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pInfo");
    const MaarTouchInfo none = {.sType = MAAR_STRUCTURE_TYPE_TOUCH_INFO};
    touched.sType = MAAR_STRUCTURE_TYPE_TOUCH_INFO;
    assert_int_equal(maarTouchPages(rig->allocator, &none, &touched),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pResult");
    assert_int_equal(touch_ranges(0, NULL, &touched), VK_SUCCESS);
    assert_int_equal(touched.touch, 1);
    maarDestroyReservation(rig->allocator, it);
}

/* ---- arrays, and growth by copies ---- */

static void touches_of_an_array_note_its_use(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarArray array = make_array(100);
    assert_int_equal(maarReserveArray(rig->allocator, array, 640), VK_SUCCESS);
    MaarReservation it = array_info(array).reservation;
    assert_int_equal(touch(it, 2, 4).freshCount, 0);
    assert_int_equal(touch(it, 2, 4).touch, 2);
    assert_int_equal(touch(it, 0, 10).touch, 3);
    MaarTouchedRun runs[64];
    assert_int_equal(touched_runs(it, runs), 1);
    assert_int_equal(runs[0].size, 10 * PAGE);
    const MaarReservationRange beyond = {it, 0, 10 * PAGE + 1};
    MaarTouchResult touched;
    assert_int_equal(touch_ranges(1, &beyond, &touched), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pRanges");
    assert_int_equal(fixture_info(rig, it).committedSize, 10 * PAGE);
    /* What is truncated is touched no longer. */
    assert_int_equal(maarTruncateArray(rig->allocator, array, 0, VK_TRUE), VK_SUCCESS);
    assert_int_equal(touched_runs(it, runs), 0);
    const MaarReservationRange gone = {it, 0, PAGE};
    assert_int_equal(touch_ranges(1, &gone, &touched), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pRanges");
    maarDestroyArray(rig->allocator, array);
}

static void a_touch_enlarges_a_buffer_that_grows_by_copies(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_NO_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 64 * MIB, 0);
    MaarReservation other = fixture_reserve(rig, 64 * MIB, 0);
    const MaarReservationRange ranges[] = {{it, 0, MIB}, {other, MIB, MIB}, {it, 2 * MIB, MIB}};
    MaarTouchResult touched;
    /* All or nothing: the second buffer fails. */
    rig_set_fault(rig, "vkCreateBuffer", 2, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(touch_ranges(3, ranges, &touched), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_clear_faults(rig);
    rig_forget_messages(rig);
    assert_int_equal(touched.freshCount, 0);
    assert_int_equal(touched.missingSize, 2 * MIB);
    assert_true(fixture_info(rig, it).buffer == VK_NULL_HANDLE);
    assert_int_equal(fixture_info(rig, it).moveCount, 0);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, 0);
    assert_int_equal(touch_ranges(3, ranges, &touched), VK_SUCCESS);
    assert_int_equal(touched.freshCount, 2);
    expect_fresh(0, it, 0, 3 * MIB);
    expect_fresh(1, other, 0, 2 * MIB);
    assert_int_equal(fixture_info(rig, it).moveCount, 1);
    assert_int_equal(touch_ranges(3, ranges, &touched), VK_SUCCESS);
    assert_int_equal(touched.freshCount, 0);
    assert_int_equal(touched.touch, 2);
    assert_int_equal(use_of(it).unitSize, 0);
    assert_int_equal(use_of(it).lastTouch, 2);
    MaarTouchedRun runs[64];
    assert_int_equal(touched_runs(it, runs), 0);
    maarDestroyReservation(rig->allocator, it);
    maarDestroyReservation(rig->allocator, other);
}

/* ---- at random ---- */

enum { MODEL_PAGES = 200, MODEL_RESERVATIONS = 3, MODEL_STEPS = 4000 };

struct model {
    MaarReservation handle;
    uint64_t touch[MODEL_PAGES]; /* 0: not since it was given back */
    bool live[MODEL_PAGES];
    bool due[MODEL_PAGES]; /* to be listed as fresh */
};

static struct model models[MODEL_RESERVATIONS];

static struct model* model_of(MaarReservation handle)
{
    uint32_t i = 0;
    while (models[i].handle != handle) {
        ++i;
    }
    return &models[i];
}

static void expect_due(const MaarTouchResult* touched)
{
    VkDeviceSize size = 0;
    for (uint32_t i = 0; i < touched->freshCount; ++i) {
        struct model* model = model_of(fresh[i].reservation);
        for (VkDeviceSize at = 0; at < fresh[i].size; at += PAGE) {
            const VkDeviceSize page = (fresh[i].offset + at) / PAGE;
            assert_true(model->due[page]);
            model->due[page] = false;
        }
        size += fresh[i].size;
    }
    assert_int_equal(size, touched->freshSize);
    for (uint32_t i = 0; i < MODEL_RESERVATIONS; ++i) {
        for (uint32_t page = 0; page < MODEL_PAGES; ++page) {
            assert_false(models[i].due[page]);
        }
    }
}

/* The list of a reservation is that of the model: each page once, in order. */
static void expect_order(const struct model* model)
{
    MaarTouchedRun runs[MODEL_PAGES];
    uint32_t count = MODEL_PAGES;
    uint32_t pages = 0;
    assert_int_equal(maarEnumerateTouchedRuns(rig->allocator, model->handle, &count, runs),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < count; ++i) {
        assert_true(i == 0 || runs[i].touch >= runs[i - 1].touch);
        for (VkDeviceSize at = 0; at < runs[i].size; at += PAGE, ++pages) {
            assert_int_equal(model->touch[(runs[i].offset + at) / PAGE], runs[i].touch);
        }
    }
    for (uint32_t page = 0; page < MODEL_PAGES; ++page) {
        pages -= model->touch[page] != 0 ? 1 : 0;
    }
    assert_int_equal(pages, 0);
}

static void touches_are_those_of_a_model(void** state)
{
    (void)state;
    struct rig_random random = {.state = rig_seed(5)};
    memset(models, 0, sizeof models);
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    for (uint32_t i = 0; i < MODEL_RESERVATIONS; ++i) {
        models[i].handle = fixture_reserve(rig, MODEL_PAGES * PAGE, 0);
    }
    uint64_t number = 0;
    for (uint32_t step = 0; step < MODEL_STEPS; ++step) {
        MaarReservationRange ranges[4];
        const uint32_t what = rig_below(&random, 4);
        const uint32_t count = 1 + rig_below(&random, 4);
        number += what < 2 ? 1 : 0;
        for (uint32_t i = 0; i < count; ++i) {
            struct model* model = &models[rig_below(&random, MODEL_RESERVATIONS)];
            const uint32_t first = 10 * rig_below(&random, MODEL_PAGES / 10);
            const uint32_t pages = 1 + rig_below(&random, 10);
            ranges[i] = (MaarReservationRange){model->handle, first * PAGE, pages * PAGE};
            for (uint32_t page = first; page < first + pages; ++page) {
                model->due[page] = what < 2 && (model->due[page] || !model->live[page]);
                model->live[page] = what != 2;
                model->touch[page] = what < 2 ? number : what == 2 ? 0 : model->touch[page];
            }
            if (what == 2) {
                assert_int_equal(fixture_decommit(rig, model->handle, first * PAGE, pages * PAGE),
                                 VK_SUCCESS);
            } else if (what == 3) {
                assert_int_equal(fixture_commit(rig, model->handle, first * PAGE, pages * PAGE),
                                 VK_SUCCESS);
            }
        }
        MaarTouchResult touched = {.touch = 0};
        if (what < 2) {
            assert_int_equal(touch_ranges(count, ranges, &touched), VK_SUCCESS);
            assert_int_equal(touched.touch, number);
        }
        expect_due(&touched);
        expect_order(&models[step % MODEL_RESERVATIONS]);
        if (rig_below(&random, 5) == 0) {
            (void)fixture_submit(rig);
            rig_check(rig);
        }
    }
    for (uint32_t i = 0; i < MODEL_RESERVATIONS; ++i) {
        maarDestroyReservation(rig->allocator, models[i].handle);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(a_touch_commits_what_it_names),
        rig_unit_test(one_touch_names_many_reservations),
        rig_unit_test(ranges_that_overlap_are_fresh_once),
        rig_unit_test(touches_have_an_order),
        rig_unit_test(a_touch_of_what_has_memory_takes_nothing),
        rig_unit_test(what_was_given_back_is_fresh_again),
        rig_unit_test(units_have_several_pages),
        rig_unit_test(large_reservations_have_larger_units),
        rig_unit_test(a_shortage_names_the_missing_bytes),
        rig_unit_test(without_room_nothing_is_touched),
        rig_unit_test(wrong_ranges_are_refused),
        rig_unit_test(touches_of_an_array_note_its_use),
        rig_unit_test(a_touch_enlarges_a_buffer_that_grows_by_copies),
        rig_unit_test(touches_are_those_of_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
