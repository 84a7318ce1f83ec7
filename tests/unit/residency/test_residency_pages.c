/*
 * Residents whose pages come and go: how many binds a use and an update submit, that nobody waits
 * for slow ones, and what happens when binds fail.
 */
#include "tests/unit/residency/residency_fixture.h"

enum { RANGES = 8, DEVICE_UNITS = 4, MOST_FAULTS = 40 };

static MaarReservation reservation;
static MaarResident ranges[RANGES];

static MaarReservation reserve(VkFlags flags)
{
    VkBufferCreateInfo buffer = rig_buffer_info(RANGES * UNIT);
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .flags = flags,
        .pBufferInfo = &buffer,
    };
    MaarReservation made = VK_NULL_HANDLE;
    buffer.usage |= VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &made), VK_SUCCESS);
    return made;
}

static MaarResidentCreateInfo range_info(MaarReservation of, uint32_t at)
{
    return (MaarResidentCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .reservation = of,
        .offset = at * UNIT,
        .size = UNIT,
    };
}

static void fill_range(uint32_t at, uint32_t word)
{
    const MaarUse use = begin_use(ranges[at], MAAR_ACCESS_OVERWRITE_BIT, 0);
    vkCmdFillBuffer(begin_commands(), object.buffer, at * UNIT, UNIT, word);
    end_use_at(use, submit_commands());
}

static void expect_range(uint32_t at, uint32_t word)
{
    static uint32_t words[UNIT / sizeof(uint32_t)];
    const VkBufferCopy region = {.srcOffset = at * UNIT, .size = UNIT};
    const MaarUse use = begin_use(ranges[at], MAAR_ACCESS_READ_BIT, 0);
    assert_int_equal(object.isFresh, VK_FALSE);
    vkCmdCopyBuffer(begin_commands(), object.buffer, readback, 1, &region);
    end_use_at(use, submit_commands());
    wait_for(submitted);
    assert_int_equal(maarCopyFromAllocation(rig->allocator, readback_memory, 0, UNIT, words),
                     VK_SUCCESS);
    for (size_t i = 0; i < UNIT / sizeof words[0]; ++i) {
        assert_int_equal(words[i], word);
    }
}

static void expect_ranges(void)
{
    for (uint32_t i = 0; i < RANGES; ++i) {
        expect_range(i, i + 1);
    }
}

/* Pages for four of the eight ranges, all of which have contents: the first four are in host
 * memory. */
static void open_ranges(void)
{
    const MaarResidencyCreateInfo info = manager_info(DEVICE_UNITS * UNIT, 16 * UNIT);
    open_device_of(rig_profile_sparse());
    open_manager(&info);
    reservation = reserve(MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT);
    for (uint32_t i = 0; i < RANGES; ++i) {
        const MaarResidentCreateInfo one = range_info(reservation, i);
        ranges[i] = create_resident(&one);
        fill_range(i, i + 1);
    }
    settle();
    for (uint32_t i = 0; i < RANGES; ++i) {
        assert_int_equal(is_in(ranges[i], MAAR_TIER_DEVICE), i >= RANGES - DEVICE_UNITS);
    }
}

static void close_ranges(void)
{
    for (uint32_t i = 0; i < RANGES; ++i) {
        destroy_resident(ranges[i]);
    }
    assert_int_equal(vkDeviceWaitIdle(rig->device), VK_SUCCESS);
    maarDestroyReservation(rig->allocator, reservation);
    close_scene();
}

/* ---- how many ---- */

/* Four ranges leave, and four come: two submissions of binds and two of copies, however many there
 * are. */
static void a_use_submits_twice(void** state)
{
    MaarResidentUse uses[DEVICE_UNITS];
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    open_ranges();
    for (uint32_t i = 0; i < DEVICE_UNITS; ++i) {
        uses[i] = (MaarResidentUse){.resident = ranges[i], .access = MAAR_ACCESS_READ_BIT};
    }
    const uint64_t binds = rig_calls(rig, "vkQueueBindSparse");
    const uint64_t copies = rig_calls(rig, "vkQueueSubmit");
    assert_int_equal(try_uses(DEVICE_UNITS, uses, 0, NULL, &use), VK_SUCCESS);
    assert_true(rig_calls(rig, "vkQueueBindSparse") <= binds + 2);
    assert_int_equal(rig_calls(rig, "vkQueueSubmit"), copies + 2);
    assert_int_equal(answer.restoredSize, DEVICE_UNITS * UNIT);
    cancel_use(use);
    expect_ranges();
    close_ranges();
}

/* An update brings no more than its limit, and submits binds for these alone. */
static void an_update_binds_within_its_limit(void** state)
{
    const MaarResidencyUpdate one = {.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_UPDATE,
                                     .maxCopyCount = 1};
    (void)state;
    open_ranges();
    for (uint32_t i = RANGES - DEVICE_UNITS; i < RANGES; ++i) {
        destroy_resident(ranges[i]);
    }
    settle();
    assert_int_equal(maarPrefetchResidents(rig->allocator, manager, DEVICE_UNITS, ranges),
                     VK_SUCCESS);
    for (uint32_t brought = 1; brought <= DEVICE_UNITS; ++brought) {
        const uint64_t binds = rig_calls(rig, "vkQueueBindSparse");
        assert_int_equal(maarUpdateResidency(rig->allocator, manager, &one), VK_SUCCESS);
        assert_int_equal(manager_state().tiers[MAAR_TIER_DEVICE].residentCount, brought);
        assert_true(rig_calls(rig, "vkQueueBindSparse") <= binds + 1);
    }
    for (uint32_t i = 0; i < RANGES - DEVICE_UNITS; ++i) {
        expect_range(i, i + 1);
    }
    for (uint32_t i = RANGES - DEVICE_UNITS; i < RANGES; ++i) {
        ranges[i] = VK_NULL_HANDLE;
    }
    close_ranges();
}

/* ---- slow binds ---- */

/* The device executes no bind: uses and updates go on all the same, and wait for nothing. */
static void nobody_waits_for_slow_binds(void** state)
{
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    open_ranges();
    hold(true);
    const uint64_t waits = rig_calls(rig, "vkWaitSemaphores");
    assert_int_equal(try_use(ranges[0], MAAR_ACCESS_READ_BIT, 0, &use), VK_SUCCESS);
    assert_int_equal(answer.mustWait, VK_TRUE);
    cancel_use(use);
    update();
    assert_int_equal(rig_calls(rig, "vkWaitSemaphores"), waits);
    expect_range(0, 1);
    hold(false);
    expect_ranges();
    close_ranges();
}

/* ---- broken binds ---- */

/* Each submission of binds fails in turn: nothing is pinned, contents are kept, and the next use
 * brings them. */
static void binds_that_fail_keep_contents(void** state)
{
    uint32_t failed = 0;
    (void)state;
    open_ranges();
    for (uint32_t nth = 1; nth < MOST_FAULTS; ++nth) {
        const uint32_t at = nth % RANGES;
        MaarUse use = VK_NULL_HANDLE;
        rig_set_fault(rig, "vkQueueBindSparse", 1 + nth % 3, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
        const VkResult result = try_use(ranges[at], MAAR_ACCESS_READ_BIT, 0, &use);
        if (result == VK_SUCCESS) {
            cancel_use(use);
        } else {
            ++failed;
        }
        rig_clear_faults(rig);
        rig_forget_messages(rig);
        expect_no_pins();
        rig_check(rig);
        expect_range(at, at + 1);
        settle();
    }
    assert_true(failed > 4);
    expect_ranges();
    close_ranges();
}

/* ---- a device without sparse binding ---- */

/* A reservation that grows by copies has no pages that could go: a program uses buffers instead. */
static void ranges_without_pages_are_refused(void** state)
{
    MaarResident resident = (MaarResident)(uintptr_t)1;
    (void)state;
    open_scene(8);
    const MaarReservation copied = reserve(MAAR_RESERVATION_CREATE_COPYING_BIT);
    const MaarResidentCreateInfo info = range_info(copied, 0);
    assert_int_equal(maarCreateResident(rig->allocator, manager, &info, &resident),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_SPARSE_NOT_SUPPORTED,
                              "pCreateInfo->reservation");
    assert_true(resident == VK_NULL_HANDLE);
    maarDestroyReservation(rig->allocator, copied);
    const MaarResident plain = create_buffer(UNIT, 0);
    write_buffer(plain, 3);
    expect_buffer(plain, 3);
    close_scene();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(a_use_submits_twice),
        rig_unit_test(an_update_binds_within_its_limit),
        rig_unit_test(nobody_waits_for_slow_binds),
        rig_unit_test(binds_that_fail_keep_contents),
        rig_unit_test(ranges_without_pages_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
