/*
 * Trims: what is cold goes first, what the present touch names stays, and what went is fresh when
 * it is touched again.
 */
#include "tests/unit/reservation/touch_fixture.h"

static MaarReservationRange gone[FRESH_ROOM];

static MaarPageTrimInfo trim_info(uint32_t count, const MaarReservation* reservations)
{
    return (MaarPageTrimInfo){.sType = MAAR_STRUCTURE_TYPE_PAGE_TRIM_INFO,
                              .reservationCount = count,
                              .pReservations = reservations};
}

static VkResult trim(const MaarPageTrimInfo* info, uint32_t room, MaarPageTrimResult* trimmed)
{
    *trimmed = (MaarPageTrimResult){
        .sType = MAAR_STRUCTURE_TYPE_PAGE_TRIM_RESULT, .rangeCapacity = room, .pRanges = gone};
    return maarTrimPages(rig->allocator, info, trimmed);
}

static void expect_gone(uint32_t index, MaarReservation reservation, VkDeviceSize first,
                        VkDeviceSize count)
{
    assert_true(gone[index].reservation == reservation);
    assert_int_equal(gone[index].offset, first * PAGE);
    assert_int_equal(gone[index].size, count * PAGE);
}

static void what_was_not_touched_for_long_goes(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 100 * PAGE, 0);
    for (uint32_t i = 0; i < 5; ++i) {
        (void)touch(it, 10 * i, 5);
    }
    const MaarTouchResult last = touch(it, 10, 5);
    assert_int_equal(fixture_commit(rig, it, 90 * PAGE, PAGE), VK_SUCCESS);
    (void)fixture_submit(rig);
    MaarPageTrimInfo info = trim_info(1, &it);
    MaarPageTrimResult trimmed;
    /* What the last three touches named stays: 30, 40 and 10. */
    info.touchedBefore = last.touch - 2;
    assert_int_equal(trim(&info, FRESH_ROOM, &trimmed), VK_SUCCESS);
    assert_int_equal(trimmed.rangeCount, 2);
    assert_int_equal(trimmed.size, 10 * PAGE);
    expect_gone(0, it, 0, 5);
    expect_gone(1, it, 20, 5);
    assert_int_equal(fixture_info(rig, it).committedSize, 16 * PAGE);
    assert_int_equal(fixture_statistics(rig).recordedPages, 10);
    rig_check(rig);
    /* All but the last touch, and what was never touched. */
    info.touchedBefore = 0;
    assert_int_equal(trim(&info, FRESH_ROOM, &trimmed), VK_SUCCESS);
    assert_int_equal(trimmed.rangeCount, 2);
    expect_gone(0, it, 30, 5);
    expect_gone(1, it, 40, 5);
    assert_int_equal(fixture_info(rig, it).committedSize, 6 * PAGE);
    assert_int_equal(trim(&info, FRESH_ROOM, &trimmed), VK_SUCCESS);
    assert_int_equal(trimmed.rangeCount, 0);
    assert_int_equal(trimmed.size, 0);
    (void)fixture_submit(rig);
    assert_int_equal(touch(it, 0, 50).freshSize, 45 * PAGE);
    maarDestroyReservation(rig->allocator, it);
}

/* What goes is cut from the end of the coldest run, in whole units. */
static void no_more_goes_than_was_asked_for(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 100 * PAGE - 1000, 0);
    (void)touch(it, 0, 20);
    const MaarReservationRange end = {it, 90 * PAGE, VK_WHOLE_SIZE};
    MaarTouchResult touched;
    assert_int_equal(touch_ranges(1, &end, &touched), VK_SUCCESS);
    (void)touch(it, 50, 10);
    (void)fixture_submit(rig);
    MaarPageTrimInfo info = trim_info(1, &it);
    MaarPageTrimResult trimmed;
    info.maxSize = 3 * PAGE + 1;
    assert_int_equal(trim(&info, FRESH_ROOM, &trimmed), VK_SUCCESS);
    assert_int_equal(trimmed.rangeCount, 1);
    assert_int_equal(trimmed.size, 4 * PAGE);
    expect_gone(0, it, 16, 4);
    info.maxSize = 0;
    info.keptSize = 17 * PAGE;
    assert_int_equal(trim(&info, FRESH_ROOM, &trimmed), VK_SUCCESS);
    assert_int_equal(trimmed.rangeCount, 2);
    assert_int_equal(trimmed.size, 19 * PAGE);
    expect_gone(0, it, 0, 16);
    /* The last page ends with the reservation. */
    assert_int_equal(gone[1].offset, 97 * PAGE);
    assert_int_equal(gone[1].size, 3 * PAGE - 1000);
    assert_int_equal(fixture_info(rig, it).committedSize, 17 * PAGE);
    info.keptSize = 0;
    info.maxSize = PAGE;
    assert_int_equal(trim(&info, FRESH_ROOM, &trimmed), VK_SUCCESS);
    expect_gone(0, it, 96, 1);
    maarDestroyReservation(rig->allocator, it);
}

static void the_coldest_of_all_reservations_goes(void** state)
{
    (void)state;
    enum { MANY = 24 };
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation all[MANY];
    for (uint32_t i = 0; i < MANY; ++i) {
        all[i] = fixture_reserve(rig, 16 * PAGE, 0);
    }
    /* Touches go round three times, by steps of 7: reservation 7 i % MANY has i, i + MANY, ... */
    for (uint32_t i = 0; i < 3 * MANY; ++i) {
        (void)touch(all[7 * i % MANY], 2 * (i / MANY), 2);
    }
    (void)fixture_submit(rig);
    MaarPageTrimInfo info = trim_info(MANY, all);
    MaarPageTrimResult trimmed;
    info.maxSize = 2 * PAGE * (MANY + 10);
    assert_int_equal(trim(&info, FRESH_ROOM, &trimmed), VK_SUCCESS);
    assert_int_equal(trimmed.rangeCount, MANY + 10);
    for (uint32_t i = 0; i < MANY + 10; ++i) {
        expect_gone(i, all[7 * i % MANY], 2 * (i / MANY), 2);
    }
    rig_check(rig);
    for (uint32_t i = 0; i < MANY; ++i) {
        maarDestroyReservation(rig->allocator, all[i]);
    }
}

static void a_full_list_is_gone_on_with(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 100 * PAGE, 0);
    for (uint32_t i = 0; i < 6; ++i) {
        (void)touch(it, 40 - 8 * i, 4);
    }
    (void)fixture_submit(rig);
    MaarPageTrimInfo info = trim_info(1, &it);
    MaarPageTrimResult trimmed;
    assert_int_equal(trim(&info, 0, &trimmed), VK_INCOMPLETE);
    assert_int_equal(trimmed.rangeCount, 0);
    assert_int_equal(fixture_info(rig, it).committedSize, 24 * PAGE);
    assert_int_equal(trim(&info, 3, &trimmed), VK_INCOMPLETE);
    assert_int_equal(trimmed.rangeCount, 3);
    assert_int_equal(trimmed.size, 12 * PAGE);
    expect_gone(2, it, 24, 4);
    assert_int_equal(trim(&info, 3, &trimmed), VK_SUCCESS);
    assert_int_equal(trimmed.rangeCount, 2);
    expect_gone(1, it, 8, 4);
    /* Runs that follow one another are one range; without a list they are counted. */
    (void)touch(it, 8, 4);
    (void)touch(it, 12, 4);
    (void)touch(it, 0, 4);
    assert_int_equal(trim(&info, 1, &trimmed), VK_SUCCESS);
    expect_gone(0, it, 8, 8);
    (void)touch(it, 20, 4);
    const MaarPageTrimInfo again = trim_info(1, &it);
    assert_int_equal(maarTrimPages(rig->allocator, &again, NULL), VK_SUCCESS);
    assert_int_equal(fixture_info(rig, it).committedSize, 4 * PAGE);
    maarDestroyReservation(rig->allocator, it);
}

/* The submission that unbinds waits for the points, if anything was given back. */
static void points_are_waited_for(void** state)
{
    (void)state;
    const struct rig_setup setup = {.flags = MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT |
                                             MAAR_SIMULATED_EXECUTE_BIT};
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, &setup);
    MaarReservation it = fixture_reserve(rig, 100 * PAGE, 0);
    VkSemaphore semaphore = rig_create_timeline(rig, 0);
    (void)touch(it, 0, 4);
    (void)touch(it, 4, 4);
    const MaarPoint bound = fixture_submit(rig);
    assert_int_equal(maarWaitPoints(rig->allocator, 1, &bound, UINT64_MAX), VK_SUCCESS);
    const MaarPoint used = {.semaphore = semaphore, .value = 5};
    MaarPageTrimInfo info = trim_info(1, &it);
    info.pointCount = 1;
    info.pPoints = &used;
    MaarPageTrimResult trimmed;
    assert_int_equal(trim(&info, FRESH_ROOM, &trimmed), VK_SUCCESS);
    assert_int_equal(trimmed.size, 4 * PAGE);
    const MaarPoint unbound = fixture_submit(rig);
    assert_int_equal(maarWaitPoints(rig->allocator, 1, &unbound, 1000), VK_TIMEOUT);
    rig_signal(rig, semaphore, 5);
    assert_int_equal(maarWaitPoints(rig->allocator, 1, &unbound, UINT64_MAX), VK_SUCCESS);
    /* Nothing goes, so nothing waits. */
    const MaarPoint later = {.semaphore = semaphore, .value = 9};
    info.pPoints = &later;
    assert_int_equal(trim(&info, FRESH_ROOM, &trimmed), VK_SUCCESS);
    assert_int_equal(trimmed.size, 0);
    (void)touch(it, 20, 4);
    const MaarPoint more = fixture_submit(rig);
    assert_int_equal(maarWaitPoints(rig->allocator, 1, &more, UINT64_MAX), VK_SUCCESS);
    maarDestroyReservation(rig->allocator, it);
    vkDestroySemaphore(rig->device, semaphore, NULL);
}

static void too_many_timelines_leave_all_as_it_was(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 100 * PAGE, 0);
    VkSemaphore semaphores[MAAR_MAX_POINTS + 1];
    MaarPoint points[MAAR_MAX_POINTS + 1];
    for (uint32_t i = 0; i < MAAR_MAX_POINTS + 1; ++i) {
        semaphores[i] = rig_create_timeline(rig, 1);
        points[i] = (MaarPoint){.semaphore = semaphores[i], .value = 1};
    }
    (void)touch(it, 0, 4);
    (void)touch(it, 4, 4);
    (void)fixture_submit(rig);
    assert_int_equal(maarDelayBinds(rig->allocator, MAAR_MAX_POINTS, points), VK_SUCCESS);
    MaarPageTrimInfo info = trim_info(1, &it);
    info.pointCount = 1;
    info.pPoints = &points[MAAR_MAX_POINTS];
    MaarPageTrimResult trimmed;
    assert_int_equal(trim(&info, FRESH_ROOM, &trimmed), VK_ERROR_TOO_MANY_OBJECTS);
    assert_int_equal(trimmed.rangeCount, 0);
    assert_int_equal(trimmed.size, 0);
    assert_int_equal(fixture_info(rig, it).committedSize, 8 * PAGE);
    assert_int_equal(fixture_statistics(rig).recordedPages, 0);
    info.pointCount = MAAR_MAX_POINTS + 1;
    info.pPoints = points;
    assert_int_equal(trim(&info, FRESH_ROOM, &trimmed), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_forget_messages(rig);
    (void)touch(it, 8, 1);
    (void)fixture_submit(rig);
    maarDestroyReservation(rig->allocator, it);
    for (uint32_t i = 0; i < MAAR_MAX_POINTS + 1; ++i) {
        vkDestroySemaphore(rig->device, semaphores[i], NULL);
    }
}

static void wrong_arguments_are_refused(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, &setup);
    MaarArray array = make_array(100);
    const MaarReservation owned = array_info(array).reservation;
    MaarPageTrimResult trimmed;
    MaarPageTrimInfo info = trim_info(1, &owned);
    assert_int_equal(trim(&info, 1, &trimmed), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_ARRAY_OWNS_RESERVATION);
    info.pReservations = NULL;
    assert_int_equal(trim(&info, 1, &trimmed), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pReservations");
    assert_int_equal(maarTrimPages(rig->allocator, NULL, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pInfo");
    trimmed.sType = MAAR_STRUCTURE_TYPE_PAGE_TRIM_INFO;
    assert_int_equal(maarTrimPages(rig->allocator, &info, &trimmed),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pResult");
    info.reservationCount = 0;
    assert_int_equal(trim(&info, 1, &trimmed), VK_SUCCESS);
    /* A long list takes host memory, once. */
    MaarReservation it = fixture_reserve(rig, 100 * PAGE, 0);
    MaarReservation many[20];
    for (uint32_t i = 0; i < 20; ++i) {
        many[i] = it;
    }
    (void)touch(it, 0, 1);
    (void)touch(it, 1, 1);
    info = trim_info(20, many);
    atomic_store(&rig->host.fail_at, atomic_load(&rig->host.calls) + 1);
    assert_int_equal(trim(&info, 1, &trimmed), VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(trimmed.size, 0);
    assert_int_equal(fixture_info(rig, it).committedSize, 2 * PAGE);
    maarDestroyReservation(rig->allocator, it);
    maarDestroyArray(rig->allocator, array);
    rig_forget_messages(rig);
}

static void growth_by_copies_gives_nothing_back(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_NO_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 64 * MIB, 0);
    (void)touch(it, 0, 16);
    (void)touch(it, 0, 1);
    const MaarPageTrimInfo info = trim_info(1, &it);
    MaarPageTrimResult trimmed;
    assert_int_equal(trim(&info, FRESH_ROOM, &trimmed), VK_SUCCESS);
    assert_int_equal(trimmed.rangeCount, 0);
    assert_int_equal(fixture_info(rig, it).committedSize, 16 * PAGE);
    maarDestroyReservation(rig->allocator, it);
}

/* ---- at random ---- */

enum { MODEL_PAGES = 120, MODEL_RESERVATIONS = 4, MODEL_STEPS = 3000 };

/* The touch of each page; 0: it has no memory. */
static uint64_t model[MODEL_RESERVATIONS][MODEL_PAGES];

static uint32_t count_model(uint64_t before)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < MODEL_RESERVATIONS; ++i) {
        for (uint32_t page = 0; page < MODEL_PAGES; ++page) {
            count += model[i][page] != 0 && model[i][page] < before ? 1 : 0;
        }
    }
    return count;
}

/* Takes the listed ranges off the model. Each was live; returns the latest touch among them. */
static uint64_t take_gone(const MaarReservation* all, const MaarPageTrimResult* trimmed)
{
    uint64_t latest = 0;
    uint32_t pages = 0;
    for (uint32_t i = 0; i < trimmed->rangeCount; ++i) {
        uint32_t at = 0;
        while (all[at] != gone[i].reservation) {
            ++at;
        }
        for (VkDeviceSize byte = 0; byte < gone[i].size; byte += PAGE, ++pages) {
            uint64_t* page = &model[at][(gone[i].offset + byte) / PAGE];
            assert_true(*page != 0);
            latest = *page > latest ? *page : latest;
            *page = 0;
        }
    }
    assert_int_equal(trimmed->size, pages * PAGE);
    return latest;
}

static void trims_are_those_of_a_model(void** state)
{
    (void)state;
    struct rig_random random = {.state = rig_seed(3)};
    memset(model, 0, sizeof model);
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation all[MODEL_RESERVATIONS];
    for (uint32_t i = 0; i < MODEL_RESERVATIONS; ++i) {
        all[i] = fixture_reserve(rig, MODEL_PAGES * PAGE, 0);
    }
    uint64_t now = 0;
    for (uint32_t step = 0; step < MODEL_STEPS; ++step) {
        if (rig_below(&random, 3) != 0) {
            const uint32_t at = rig_below(&random, MODEL_RESERVATIONS);
            const uint32_t first = rig_below(&random, MODEL_PAGES - 12);
            const uint32_t pages = 1 + rig_below(&random, 12);
            VkDeviceSize lacking = 0;
            ++now;
            for (uint32_t page = first; page < first + pages; ++page) {
                lacking += model[at][page] == 0 ? PAGE : 0;
                model[at][page] = now;
            }
            assert_int_equal(touch(all[at], first, pages).freshSize, lacking);
        } else {
            MaarPageTrimInfo info = trim_info(MODEL_RESERVATIONS, all);
            info.touchedBefore = now > 20 ? now - rig_below(&random, 20) : 0;
            info.maxSize = rig_below(&random, 2) * (1 + rig_below(&random, 40)) * PAGE;
            info.keptSize = rig_below(&random, 2) * rig_below(&random, 400) * PAGE;
            const uint64_t before = info.touchedBefore != 0 ? info.touchedBefore : now;
            const VkDeviceSize live = count_model(UINT64_MAX) * PAGE;
            VkDeviceSize due = count_model(before) * PAGE;
            const VkDeviceSize above = live > info.keptSize ? live - info.keptSize : 0;
            due = above < due ? above : due;
            due = info.maxSize != 0 && info.maxSize < due ? info.maxSize : due;
            MaarPageTrimResult trimmed;
            const VkResult result = trim(&info, FRESH_ROOM, &trimmed);
            const uint64_t latest = take_gone(all, &trimmed);
            assert_true(latest < before || latest == 0);
            assert_true(result == VK_INCOMPLETE || trimmed.size == due);
            assert_int_equal(count_model(latest), 0); /* the coldest went first */
        }
        if (rig_below(&random, 4) == 0) {
            (void)fixture_submit(rig);
            rig_check(rig);
        }
    }
    for (uint32_t i = 0; i < MODEL_RESERVATIONS; ++i) {
        maarDestroyReservation(rig->allocator, all[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(what_was_not_touched_for_long_goes),
        rig_unit_test(no_more_goes_than_was_asked_for),
        rig_unit_test(the_coldest_of_all_reservations_goes),
        rig_unit_test(a_full_list_is_gone_on_with),
        rig_unit_test(points_are_waited_for),
        rig_unit_test(too_many_timelines_leave_all_as_it_was),
        rig_unit_test(wrong_arguments_are_refused),
        rig_unit_test(growth_by_copies_gives_nothing_back),
        rig_unit_test(trims_are_those_of_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
