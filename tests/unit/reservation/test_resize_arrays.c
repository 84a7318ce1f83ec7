/*
 * Many arrays that are resized by one call: all or none.
 */
#include "tests/unit/reservation/touch_fixture.h"

enum { MANY = 24, ELEMENTS = 64 }; /* elements of a page */

static MaarArray arrays[MANY];
static MaarArrayResize resizes[MANY];

static void make_arrays(uint32_t count, VkDeviceSize pages)
{
    for (uint32_t i = 0; i < count; ++i) {
        arrays[i] = make_array(pages);
        resizes[i] = (MaarArrayResize){.array = arrays[i]};
    }
}

static void destroy_arrays(uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        maarDestroyArray(rig->allocator, arrays[i]);
    }
    rig_forget_messages(rig);
}

static VkResult resize(uint32_t count, VkDeviceSize* missing)
{
    return maarResizeArrays(rig->allocator, count, resizes, missing);
}

static void expect_counts(uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const MaarArrayInfo info = array_info(arrays[i]);
        assert_int_equal(info.count, resizes[i].count);
        assert_true(info.capacity >= info.count);
    }
}

static void many_arrays_grow_in_one_recording(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    make_arrays(MANY, 64);
    const MaarPagingStatistics before = fixture_statistics(rig);
    for (uint32_t i = 0; i < MANY; ++i) {
        resizes[i].count = (1 + i) * ELEMENTS;
    }
    VkDeviceSize missing = 1;
    assert_int_equal(resize(MANY, &missing), VK_SUCCESS);
    assert_int_equal(missing, 0);
    expect_counts(MANY);
    (void)fixture_submit(rig);
    assert_int_equal(fixture_statistics(rig).submissionCount, before.submissionCount + 1);
    rig_check(rig);
    /* Up to the capacity nothing is recorded. */
    const VkDeviceSize committed = fixture_statistics(rig).committedBytes;
    for (uint32_t i = 0; i < MANY; ++i) {
        resizes[i].count = array_info(arrays[i]).capacity;
    }
    assert_int_equal(resize(MANY, NULL), VK_SUCCESS);
    expect_counts(MANY);
    assert_int_equal(fixture_statistics(rig).recordedPages, 0);
    assert_int_equal(fixture_statistics(rig).committedBytes, committed);
    /* Some shrink, and give back what they do not need; others keep it. */
    for (uint32_t i = 0; i < MANY; ++i) {
        resizes[i].count = i % 3 == 0 ? resizes[i].count + 1 : ELEMENTS / 2;
        resizes[i].release = i % 3 == 1 ? VK_TRUE : VK_FALSE;
    }
    assert_int_equal(resize(MANY, NULL), VK_SUCCESS);
    expect_counts(MANY);
    for (uint32_t i = 0; i < MANY; ++i) {
        const VkDeviceSize pages =
            fixture_info(rig, array_info(arrays[i]).reservation).committedSize / PAGE;
        assert_int_equal(pages, i % 3 == 0 ? i + 2 : i % 3 == 1 ? 1 : i + 1);
    }
    (void)fixture_submit(rig);
    rig_check(rig);
    assert_int_equal(resize(0, NULL), VK_SUCCESS);
    destroy_arrays(MANY);
}

static void without_memory_no_array_changes(void** state)
{
    (void)state;
    begin_short(16 * MIB);
    for (uint32_t i = 0; i < 3; ++i) {
        const VkBufferCreateInfo buffer = fixture_buffer(512 * PAGE);
        MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
        how.flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
        const MaarArrayCreateInfo create = {
            .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO,
            .elementSize = KIB,
            .growSize = 100 * PAGE,
            .reservation = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                            .pBufferInfo = &buffer,
                            .pMemoryInfo = &how},
        };
        assert_int_equal(maarCreateArray(rig->allocator, &create, &arrays[i]), VK_SUCCESS);
        resizes[i] = (MaarArrayResize){.array = arrays[i], .count = 40 * ELEMENTS};
    }
    /* 256 pages: three times 100 are too many, so each takes what it needs. */
    assert_int_equal(resize(3, NULL), VK_SUCCESS);
    rig_expect_silence(rig);
    assert_int_equal(fixture_statistics(rig).committedBytes, 120 * PAGE);
    (void)fixture_submit(rig);
    const MaarArrayResize kept[] = {resizes[0], resizes[1], resizes[2]};
    resizes[0].count = 60 * ELEMENTS;
    resizes[1].count = 10 * ELEMENTS;
    resizes[1].release = VK_TRUE;
    resizes[2].count = 300 * ELEMENTS;
    VkDeviceSize missing = 0;
    assert_int_equal(resize(3, &missing), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_HEAP_LIMIT_REACHED, "maarResizeArrays");
    assert_true(missing >= 144 * PAGE && missing <= 260 * PAGE);
    assert_int_equal(fixture_statistics(rig).committedBytes, 120 * PAGE);
    assert_int_equal(fixture_statistics(rig).recordedPages, 0);
    memcpy(resizes, kept, sizeof kept);
    expect_counts(3);
    rig_check(rig);
    /* The call can be repeated. */
    resizes[0].count = 60 * ELEMENTS;
    assert_int_equal(resize(3, &missing), VK_SUCCESS);
    assert_int_equal(missing, 0);
    expect_counts(3);
    destroy_arrays(3);
}

static void wrong_resizes_change_nothing(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    make_arrays(3, 8);
    for (uint32_t i = 0; i < 3; ++i) {
        resizes[i].count = 10;
    }
    resizes[2].count = 8 * ELEMENTS + 1;
    VkDeviceSize missing = 1;
    assert_int_equal(resize(3, &missing), VK_ERROR_OUT_OF_POOL_MEMORY);
    assert_int_equal(missing, 0);
    rig_expect_message(rig, MAAR_MESSAGE_ID_ARRAY_FULL);
    resizes[2] = resizes[0];
    assert_int_equal(resize(3, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "pResizes");
    assert_int_equal(maarResizeArrays(rig->allocator, 3, NULL, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pResizes");
    for (uint32_t i = 0; i < 3; ++i) {
        assert_int_equal(array_info(arrays[i]).count, 0);
    }
    assert_int_equal(fixture_statistics(rig).committedBytes, 0);
    /* None of them counts as named by a call that is over. */
    resizes[2].array = arrays[2];
    assert_int_equal(resize(3, NULL), VK_SUCCESS);
    expect_counts(3);
    destroy_arrays(3);
}

static void arrays_that_grow_by_copies_grow_together(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_NO_SPARSE, PAGE, NULL);
    make_arrays(3, 64);
    for (uint32_t i = 0; i < 3; ++i) {
        resizes[i].count = (2 + i) * ELEMENTS;
    }
    rig_set_fault(rig, "vkCreateBuffer", 3, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    VkDeviceSize missing = 0;
    assert_int_equal(resize(3, &missing), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_clear_faults(rig);
    rig_forget_messages(rig);
    assert_int_equal(missing, 4 * PAGE);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, 0);
    for (uint32_t i = 0; i < 3; ++i) {
        assert_int_equal(array_info(arrays[i]).moveCount, 0);
        assert_int_equal(array_info(arrays[i]).capacity, 0);
    }
    assert_int_equal(resize(3, NULL), VK_SUCCESS);
    expect_counts(3);
    (void)fixture_submit(rig);
    for (uint32_t i = 0; i < 3; ++i) {
        resizes[i] = (MaarArrayResize){arrays[i], i, VK_TRUE};
    }
    assert_int_equal(resize(3, NULL), VK_SUCCESS);
    expect_counts(3);
    destroy_arrays(3);
}

/* Beside the calls on single arrays, which do the same. */
static void resizes_are_those_of_single_calls(void** state)
{
    (void)state;
    struct rig_random random = {.state = rig_seed(21)};
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    make_arrays(MANY, 40);
    uint64_t counts[MANY] = {0};
    for (uint32_t step = 0; step < 1500; ++step) {
        const uint32_t some = 1 + rig_below(&random, MANY / 2);
        for (uint32_t i = 0; i < some; ++i) {
            const uint64_t next = counts[i] + rig_below(&random, 20);
            const bool shrinks = rig_below(&random, 30) == 0;
            const uint64_t most = 40 * ELEMENTS;
            resizes[i].count = shrinks ? rig_below(&random, 100) : next < most ? next : most;
            resizes[i].release = rig_below(&random, 2);
            counts[i] = resizes[i].count;
        }
        assert_int_equal(resize(some, NULL), VK_SUCCESS);
        /* The others go on by themselves. */
        const uint32_t single = MANY / 2 + rig_below(&random, MANY / 2);
        if (counts[single] < 39 * ELEMENTS) {
            assert_int_equal(maarAppendArray(rig->allocator, arrays[single], 10, NULL), VK_SUCCESS);
            counts[single] += 10;
        } else {
            counts[single] = 5;
            assert_int_equal(maarTruncateArray(rig->allocator, arrays[single], 5, VK_TRUE),
                             VK_SUCCESS);
        }
        for (uint32_t i = 0; i < MANY; ++i) {
            const MaarArrayInfo info = array_info(arrays[i]);
            const VkDeviceSize bytes = fixture_info(rig, info.reservation).committedSize;
            assert_int_equal(info.count, counts[i]);
            assert_int_equal(info.capacity, bytes / KIB);
            assert_true(info.capacity >= info.count);
        }
        if (rig_below(&random, 4) == 0) {
            (void)fixture_submit(rig);
            rig_check(rig);
        }
    }
    destroy_arrays(MANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(many_arrays_grow_in_one_recording),
        rig_unit_test(without_memory_no_array_changes),
        rig_unit_test(wrong_resizes_change_nothing),
        rig_unit_test(arrays_that_grow_by_copies_grow_together),
        rig_unit_test(resizes_are_those_of_single_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
