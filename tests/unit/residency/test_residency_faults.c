/*
 * Each host allocation and each driver call that can fail does, one after another: nothing is
 * pinned, nothing leaks, all contents are kept, and the same call succeeds afterwards. Besides,
 * what uses and updates promise at the driver's boundary: budgets, and no waits.
 */
#include "tests/unit/residency/residency_fixture.h"

enum { BUFFERS = 6, MOST_FAULTS = 200 };

static MaarResident all[BUFFERS];

/* More buffers than the device holds; each has its number as contents. */
static void make_buffers(void)
{
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        all[i] = create_buffer(UNIT, 0);
        write_buffer(all[i], i + 1);
    }
    settle();
}

static void expect_buffers(void)
{
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        expect_buffer(all[i], i + 1);
    }
}

static MaarResident find_evicted(void)
{
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        if (!is_in(all[i], MAAR_TIER_DEVICE)) {
            return all[i];
        }
    }
    fail();
    return VK_NULL_HANDLE;
}

/* ---- faults ---- */

/* Makes the nth step fail: a host allocation, or a driver call. */
static void arm(bool host, uint64_t nth, VkResult result)
{
    if (host) {
        rig->host.fail_at = rig->host.calls + nth;
    } else {
        rig_set_fault(rig, NULL, nth, 1, result);
    }
}

static void disarm(void)
{
    rig->host.fail_at = 0;
    rig_clear_faults(rig);
    rig_forget_messages(rig);
}

static MaarUse began;

static VkResult begin_evicted(void)
{
    const VkResult result = try_use(find_evicted(), MAAR_ACCESS_READ_BIT, 0, &began);
    if (result == VK_SUCCESS) {
        cancel_use(began);
    }
    return result;
}

static VkResult update_with_a_prefetch(void)
{
    const MaarResident next = find_evicted();
    assert_int_equal(maarPrefetchResidents(rig->allocator, manager, 1, &next), VK_SUCCESS);
    return maarUpdateResidency(rig->allocator, manager, NULL);
}

/* Fails each step of a call in turn, until a call comes through without meeting a fault. Returns
 * how many calls failed. */
static uint32_t fail_each(VkResult (*call)(void), bool host, VkResult code)
{
    uint32_t failed = 0;
    for (uint64_t nth = 1; nth < MOST_FAULTS; ++nth) {
        arm(host, nth, code);
        const VkResult result = call();
        const bool is_met = host ? rig->host.calls >= rig->host.fail_at : result != VK_SUCCESS;
        disarm();
        expect_no_pins();
        rig_check(rig);
        if (result == VK_SUCCESS && !is_met) {
            return failed;
        }
        failed += result != VK_SUCCESS ? 1 : 0;
        expect_buffers();
        settle();
    }
    fail();
    return failed;
}

static void begin_faults_keep_contents(void** state)
{
    (void)state;
    open_scene(8);
    make_buffers();
    assert_true(fail_each(begin_evicted, false, VK_ERROR_OUT_OF_DEVICE_MEMORY) > 3);
    expect_buffers();
    (void)fail_each(begin_evicted, true, VK_ERROR_OUT_OF_HOST_MEMORY);
    expect_buffers();
    close_scene();
}

static void update_faults_keep_contents(void** state)
{
    (void)state;
    open_scene(8);
    make_buffers();
    assert_true(fail_each(update_with_a_prefetch, false, VK_ERROR_OUT_OF_HOST_MEMORY) > 0);
    (void)fail_each(update_with_a_prefetch, true, VK_ERROR_OUT_OF_HOST_MEMORY);
    expect_buffers();
    rig_set_fault(rig, "vkQueueSubmit", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    const VkResult result = maarUpdateResidency(rig->allocator, manager, NULL);
    assert_true(result == VK_SUCCESS || result == VK_ERROR_OUT_OF_DEVICE_MEMORY);
    disarm();
    expect_buffers();
    close_scene();
}

static void create_without_memory_leaves_nothing(void** state)
{
    (void)state;
    open_scene(4);
    MaarResidencyCreateInfo info = manager_info(4 * UNIT, 8 * UNIT);
    info.queueIndex = queue_index();
    const uint64_t live = rig->host.live;
    uint32_t failed = 0;
    for (uint64_t nth = 1; nth < MOST_FAULTS; ++nth) {
        MaarResidency made = (MaarResidency)(uintptr_t)1;
        arm(true, nth, VK_ERROR_OUT_OF_HOST_MEMORY);
        const VkResult result = maarCreateResidency(rig->allocator, &info, &made);
        disarm();
        if (result == VK_SUCCESS) {
            maarDestroyResidency(rig->allocator, made);
            break;
        }
        assert_int_equal(result, VK_ERROR_OUT_OF_HOST_MEMORY);
        assert_true(made == VK_NULL_HANDLE);
        assert_int_equal(rig->host.live, live);
        ++failed;
    }
    assert_true(failed > 2);
    MaarResidency made = VK_NULL_HANDLE;
    rig_set_fault(rig, "vkCreateCommandPool", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarCreateResidency(rig->allocator, &info, &made),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    disarm();
    close_scene();
}

static void create_resident_faults_leave_nothing(void** state)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(UNIT);
    const VkImageCreateInfo image = rig_image_info(8, 8);
    (void)state;
    open_scene(4);
    for (uint32_t kind = 0; kind < 2; ++kind) {
        const MaarResidentCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
            .pBufferInfo = kind == 0 ? &buffer : NULL,
            .pImageInfo = kind == 1 ? &image : NULL,
            .pName = "named",
        };
        MaarResident made = VK_NULL_HANDLE;
        uint32_t failed = 0;
        VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
        for (uint64_t nth = 1; nth < MOST_FAULTS && result != VK_SUCCESS; ++nth) {
            arm(true, nth, result);
            result = maarCreateResident(rig->allocator, manager, &info, &made);
            disarm();
            assert_true((result == VK_SUCCESS) == (made != VK_NULL_HANDLE));
            failed += result == VK_ERROR_OUT_OF_HOST_MEMORY ? 1 : 0;
            assert_int_equal(manager_state().residentCount, result == VK_SUCCESS ? 1 : 0);
        }
        assert_true(failed > 0);
        destroy_resident(made);
        const char* function = kind == 0 ? "vkCreateBuffer" : "vkCreateImage";
        rig_set_fault(rig, function, 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
        result = maarCreateResident(rig->allocator, manager, &info, &made);
        disarm();
        /* Drivers that give the requirements without an object are not asked for one. */
        assert_true(result == VK_SUCCESS || result == VK_ERROR_OUT_OF_DEVICE_MEMORY);
        destroy_resident(made);
    }
    close_scene();
}

/* The device is lost at each call in turn: everything ends, and nothing is pinned. */
static void device_lost_at_each_call_ends_well(void** state)
{
    bool is_met = true;
    (void)state;
    for (uint64_t nth = 1; is_met && nth < MOST_FAULTS; ++nth) {
        open_scene(8);
        make_buffers();
        arm(false, nth, VK_ERROR_DEVICE_LOST);
        is_met = begin_evicted() != VK_SUCCESS;
        expect_no_pins();
        rig_forget_messages(rig);
        maarDestroyResidency(rig->allocator, manager);
        disarm();
        (void)vkDeviceWaitIdle(rig->device);
        maarDestroyBuffer(rig->allocator, readback, readback_memory);
        vkDestroyCommandPool(rig->device, command_pool, NULL);
        vkDestroySemaphore(rig->device, timeline, NULL);
        (void)rig_end_case(state);
    }
    assert_false(is_met);
}

static VkResult VKAPI_PTR read_word(void* data, VkDeviceSize size, void* bytes)
{
    for (VkDeviceSize i = 0; i < size / sizeof(uint32_t); ++i) {
        ((uint32_t*)bytes)[i] = *(const uint32_t*)data;
    }
    return VK_SUCCESS;
}

/* What was read may be read again: a flush that fails says nothing about the source. */
static void flushes_that_fail_lose_nothing(void** state)
{
    static const VkResult codes[] = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY,
                                     VK_ERROR_UNKNOWN, VK_ERROR_VALIDATION_FAILED_EXT};
    static uint32_t word = 77;
    (void)state;
    const MaarResidencyCreateInfo info = manager_info(4 * UNIT, 4 * UNIT);
    open_device_of(rig_profile_noncoherent());
    open_manager(&info);
    for (uint32_t i = 0; i < sizeof codes / sizeof codes[0]; ++i) {
        const MaarResident resident = create_sourced(UNIT, read_word, &word);
        assert_int_equal(try_use(resident, MAAR_ACCESS_READ_BIT, 0, &began), VK_NOT_READY);
        do_work();
        rig_set_fault(rig, "vkFlushMappedMemoryRanges", 1, 1, codes[i]);
        const uint64_t flushes = rig_calls(rig, "vkFlushMappedMemoryRanges");
        (void)try_use(resident, MAAR_ACCESS_READ_BIT, 0, &began);
        assert_int_equal(rig_calls(rig, "vkFlushMappedMemoryRanges"), flushes + 1);
        disarm();
        expect_no_pins();
        assert_int_equal(manager_state().lostCount, 0);
        expect_buffer(resident, word);
        destroy_resident(resident);
    }
    close_scene();
}

/* ---- the driver's boundary ---- */

static VkDeviceSize most_bytes;

static void look_at_memory(void* data, const char* function)
{
    (void)data;
    (void)function;
    const VkDeviceSize bytes = rig_counters(rig).heapLive[0];
    most_bytes = bytes > most_bytes ? bytes : most_bytes;
}

/* Residents of many sizes come and go. Nothing else takes device memory. */
static void device_memory_stays_within_the_budget(void** state)
{
    enum { MANY = 24 };
    MaarResident many[MANY];
    struct rig_random dice = {rig_seed(5)};
    (void)state;
    const MaarResidencyCreateInfo info = manager_info(8 * UNIT, 32 * UNIT);
    open_device();
    open_manager(&info);
    most_bytes = 0;
    rig->call = look_at_memory;
    for (uint32_t i = 0; i < MANY; ++i) {
        many[i] = create_buffer(KIB * (1 + rig_below(&dice, 150)), 0);
        write_buffer(many[i], i + 1);
    }
    for (uint32_t i = 0; i < 200; ++i) {
        const uint32_t which = rig_below(&dice, MANY);
        expect_buffer(many[which], which + 1);
        if (i % 8 == 0) {
            update();
        }
    }
    rig->call = NULL;
    const MaarTierInfo device = manager_state().tiers[MAAR_TIER_DEVICE];
    assert_true(most_bytes > 4 * UNIT);
    assert_true(most_bytes <= info.deviceBudget);
    assert_int_equal(device.peakSize, most_bytes);
    assert_int_equal(device.size, rig_counters(rig).heapLive[0]);
    close_scene();
}

/* A smaller budget is reached by updates, and uses go on. */
static void smaller_budget_is_reached_by_updates(void** state)
{
    (void)state;
    open_scene(8);
    make_buffers();
    assert_int_equal(maarSetResidencyBudget(rig->allocator, manager, MAAR_TIER_DEVICE, 2 * UNIT),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < 4; ++i) {
        settle();
    }
    assert_true(rig_counters(rig).heapLive[0] <= 2 * UNIT);
    expect_buffers();
    assert_true(rig_counters(rig).heapLive[0] <= 2 * UNIT);
    close_scene();
}

/* What has a valid copy leaves without another one. */
static void clean_evictions_copy_nothing(void** state)
{
    MaarResidentUse uses[4];
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    open_scene(16);
    make_buffers();
    expect_buffers(); /* all have copies in host memory, but those that were never evicted */
    for (uint32_t i = 0; i < 4; ++i) {
        uses[i] = (MaarResidentUse){create_buffer(UNIT, 0), MAAR_ACCESS_OVERWRITE_BIT, 0};
    }
    uint32_t dirty = 0;
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        dirty += is_in(all[i], MAAR_TIER_DEVICE) && !is_in(all[i], MAAR_TIER_HOST) ? 1 : 0;
    }
    assert_true(dirty < 4);
    const uint64_t copies = rig_calls(rig, "vkCmdCopyBuffer");
    const uint64_t clean = manager_state().tiers[MAAR_TIER_DEVICE].cleanCount;
    assert_int_equal(try_uses(4, uses, 0, NULL, &use), VK_SUCCESS);
    assert_int_equal(answer.evictedSize, 4 * UNIT);
    assert_int_equal(answer.restoredSize, 0);
    assert_int_equal(rig_calls(rig, "vkCmdCopyBuffer"), copies + dirty);
    assert_int_equal(manager_state().tiers[MAAR_TIER_DEVICE].cleanCount, clean + 4 - dirty);
    cancel_use(use);
    expect_buffers();
    close_scene();
}

/* Nothing executes unless it is waited for, and no call of a program that has not ended waits. */
static void uses_and_updates_never_wait(void** state)
{
    (void)state;
    open_scene(8);
    make_buffers();
    hold(true);
    const uint64_t waits = rig_calls(rig, "vkWaitSemaphores");
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        if (try_use(all[i], MAAR_ACCESS_READ_BIT, 0, &began) == VK_SUCCESS) {
            cancel_use(began);
        }
        update();
    }
    assert_int_equal(rig_calls(rig, "vkWaitSemaphores"), waits);
    hold(false);
    expect_buffers();
    close_scene();
}

static void prefetch_of_more_than_fits_succeeds(void** state)
{
    (void)state;
    open_scene(8);
    make_buffers();
    assert_int_equal(maarPrefetchResidents(rig->allocator, manager, BUFFERS, all), VK_SUCCESS);
    for (uint32_t i = 0; i < 6; ++i) {
        settle();
    }
    for (uint32_t i = 0; i < 4; ++i) {
        assert_true(is_in(all[i], MAAR_TIER_DEVICE)); /* the first ones of the list */
    }
    expect_buffers();
    close_scene();
}

/* What is locked stays, as long as it is; what is not wanted goes first. */
static void locks_and_hints_choose_who_stays(void** state)
{
    (void)state;
    open_scene(8);
    make_buffers();
    expect_buffer(all[0], 1);
    expect_buffer(all[1], 2);
    assert_int_equal(maarLockResident(rig->allocator, manager, all[0]), VK_SUCCESS);
    assert_int_equal(maarLockResident(rig->allocator, manager, all[0]), VK_SUCCESS);
    assert_int_equal(maarEvictResident(rig->allocator, manager, all[1]), VK_SUCCESS);
    const MaarResident evicted = find_evicted();
    const MaarUse use = begin_use(evicted, MAAR_ACCESS_READ_BIT, 0);
    assert_false(is_in(all[1], MAAR_TIER_DEVICE));
    cancel_use(use);
    assert_int_equal(state_of(all[0]).pinCount, 2);
    expect_buffers();
    assert_true(is_in(all[0], MAAR_TIER_DEVICE));
    assert_int_equal(maarUnlockResident(rig->allocator, manager, all[0]), VK_SUCCESS);
    expect_buffers();
    assert_true(is_in(all[0], MAAR_TIER_DEVICE));
    assert_int_equal(maarUnlockResident(rig->allocator, manager, all[0]), VK_SUCCESS);
    expect_no_pins();
    close_scene();
}

/* Statistics are sums of the events. */
static void statistics_are_those_of_the_events(void** state)
{
    uint64_t restored = 0;
    uint64_t saved = 0;
    VkDeviceSize restored_size = 0;
    (void)state;
    open_scene(8);
    make_buffers();
    expect_buffers();
    expect_buffers();
    for (uint32_t i = 0; i < event_count; ++i) {
        const MaarResidencyEvent* event = &events[i];
        restored += event->to == MAAR_TIER_DEVICE && event->from == MAAR_TIER_HOST ? 1 : 0;
        restored_size += event->to == MAAR_TIER_DEVICE ? event->size : 0;
        saved += event->to == MAAR_TIER_HOST && event->size > 0 ? 1 : 0;
    }
    const MaarResidencyInfo info = manager_state();
    assert_true(restored > 0);
    assert_int_equal(info.tiers[MAAR_TIER_DEVICE].restoredCount, restored);
    assert_int_equal(info.tiers[MAAR_TIER_DEVICE].restoredSize, restored_size);
    assert_int_equal(info.tiers[MAAR_TIER_HOST].savedCount, saved);
    assert_int_equal(info.lostCount, 0);
    close_scene();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(begin_faults_keep_contents),
        rig_unit_test(update_faults_keep_contents),
        rig_unit_test(create_without_memory_leaves_nothing),
        rig_unit_test(create_resident_faults_leave_nothing),
        rig_unit_test(device_lost_at_each_call_ends_well),
        rig_unit_test(flushes_that_fail_lose_nothing),
        rig_unit_test(device_memory_stays_within_the_budget),
        rig_unit_test(smaller_budget_is_reached_by_updates),
        rig_unit_test(clean_evictions_copy_nothing),
        rig_unit_test(uses_and_updates_never_wait),
        rig_unit_test(prefetch_of_more_than_fits_succeeds),
        rig_unit_test(locks_and_hints_choose_who_stays),
        rig_unit_test(statistics_are_those_of_the_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
