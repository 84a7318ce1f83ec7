/*
 * Residents make room for requests of others: what fails without an observer that calls
 * maarYieldResidency succeeds with it, contents stay, and nothing that is in use is touched.
 */
#include "tests/unit/residency/residency_fixture.h"

enum { BUFFERS = 8 };

static const uint64_t second = 1000000000;

static bool yields; /* whether the observer asks the manager */
static uint64_t patience;
static uint32_t observed;
static VkResult yield_result;
static VkDeviceSize released;

static VkBool32 VKAPI_PTR ask_manager(void* data, const MaarOutOfMemoryInfo* info)
{
    (void)data;
    ++observed;
    if (!yields) {
        return VK_FALSE;
    }
    yield_result = maarYieldResidency(rig->allocator, manager, 1u << info->memoryTypeIndex,
                                      info->size, patience, &released);
    return released > 0 ? VK_TRUE : VK_FALSE;
}

static VkResult read_word(void* data, VkDeviceSize size, void* bytes)
{
    const uint32_t word = (uint32_t)(uintptr_t)data;
    for (VkDeviceSize i = 0; i < size / sizeof word; ++i) {
        ((uint32_t*)bytes)[i] = word;
    }
    return VK_SUCCESS;
}

static void open_yielding_of(const MaarSimulatedProfile* profile)
{
    const MaarResidencyCreateInfo info = manager_info(BUFFERS * UNIT, 4 * BUFFERS * UNIT);
    observer = ask_manager;
    yields = true;
    patience = second;
    observed = 0;
    released = 0;
    open_device_of(profile);
    find_heap();
    open_manager(&info);
    observer = NULL;
}

static void open_yielding(void)
{
    open_yielding_of(NULL);
}

/* Fills the device with residents. Clean ones have a source. */
static void fill_device(MaarResident* all, bool is_clean)
{
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        all[i] = is_clean ? create_sourced(UNIT, read_word, (void*)(uintptr_t)(i + 1))
                          : create_buffer(UNIT, 0);
        if (is_clean) {
            expect_buffer(all[i], i + 1);
        } else {
            write_buffer(all[i], i + 1);
        }
    }
    leave(0);
}

/* Asks for memory that only the main heap has. */
static VkResult request(VkDeviceSize size, VkBuffer* buffer, MaarAllocation* memory)
{
    const VkBufferCreateInfo info = rig_buffer_info(size);
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT,
        .dedicated = MAAR_DEDICATED_ALWAYS,
    };
    return maarCreateBuffer(rig->allocator, &info, &how, buffer, memory);
}

static VkResult request_and_free(VkDeviceSize size)
{
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    const VkResult result = request(size, &buffer, &memory);
    maarDestroyBuffer(rig->allocator, buffer, memory);
    rig_forget_messages(rig);
    return result;
}

static VkResult yield_device(VkDeviceSize size, uint64_t timeout)
{
    return maarYieldResidency(rig->allocator, manager, 1u << memory_type, size, timeout, &released);
}

/* Often enough that a risen budget counts. */
static void update_often(void)
{
    for (uint32_t i = 0; i < 8; ++i) {
        update();
    }
}

static void expect_all(const MaarResident* all)
{
    leave(BUFFERS * UNIT);
    update_often();
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        expect_buffer(all[i], i + 1);
    }
}

/* ---- requests ---- */

static void request_succeeds_if_residents_make_room(bool is_clean, bool is_in_use, uint64_t wait)
{
    MaarResident all[BUFFERS];
    open_yielding();
    hold(is_in_use);
    fill_device(all, is_clean);
    yields = false;
    assert_int_equal(request_and_free(2 * UNIT), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(observed, 1);
    yields = true;
    patience = wait;
    assert_int_equal(request_and_free(2 * UNIT), VK_SUCCESS);
    assert_int_equal(observed, 2);
    assert_true(released >= 2 * UNIT && released <= 4 * UNIT);
    hold(false);
    expect_all(all);
    close_scene();
}

static void clean_residents_make_room_at_once(void** state)
{
    (void)state;
    request_succeeds_if_residents_make_room(true, false, 0);
}

static void residents_that_need_copies_make_room(void** state)
{
    (void)state;
    request_succeeds_if_residents_make_room(false, false, second);
}

static void residents_in_use_make_room_when_the_uses_have_passed(void** state)
{
    (void)state;
    request_succeeds_if_residents_make_room(true, true, second);
    request_succeeds_if_residents_make_room(false, true, second);
}

/* Without patience nothing that is in use, or needs a copy, is touched. */
static void nothing_leaves_without_patience(bool is_clean)
{
    MaarResident all[BUFFERS];
    MaarUse use = VK_NULL_HANDLE;
    open_yielding();
    fill_device(all, is_clean);
    settle();
    hold(true);
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        use = begin_use(all[i], MAAR_ACCESS_READ_BIT, 0);
        (void)begin_commands();
        end_use_at(use, submit_commands());
    }
    const uint64_t submissions = rig_calls(rig, "vkQueueSubmit");
    assert_int_equal(yield_device(UNIT, 0), VK_INCOMPLETE);
    assert_int_equal(released, 0);
    assert_int_equal(rig_calls(rig, "vkQueueSubmit"), submissions);
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        assert_true(is_in(all[i], MAAR_TIER_DEVICE));
    }
    hold(false);
    expect_all(all);
    close_scene();
}

static void call_without_patience_gives_only_what_is_clean_and_idle(void** state)
{
    (void)state;
    nothing_leaves_without_patience(false);
    nothing_leaves_without_patience(true);
}

static void clean_ones_go_before_those_that_need_copies(void** state)
{
    MaarResident all[BUFFERS];
    (void)state;
    open_yielding();
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        const bool is_dirty = i < BUFFERS / 2; /* a block of four each */
        all[i] = is_dirty ? create_buffer(UNIT, 0)
                          : create_sourced(UNIT, read_word, (void*)(uintptr_t)(i + 1));
        if (is_dirty) {
            write_buffer(all[i], i + 1);
        } else {
            expect_buffer(all[i], i + 1);
        }
    }
    settle();
    const uint64_t saved = manager_state().tiers[MAAR_TIER_HOST].savedCount;
    assert_int_equal(yield_device(BUFFERS / 2 * UNIT, second), VK_SUCCESS);
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        assert_true(is_in(all[i], MAAR_TIER_DEVICE) == (i < BUFFERS / 2));
    }
    assert_int_equal(manager_state().tiers[MAAR_TIER_HOST].savedCount, saved);
    expect_all(all);
    close_scene();
}

static void lower_classes_go_first(void** state)
{
    MaarResident all[BUFFERS];
    (void)state;
    open_yielding();
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        const VkBufferCreateInfo buffer = rig_buffer_info(UNIT);
        const MaarResidentCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
            .pBufferInfo = &buffer,
            .priorityClass = i < BUFFERS / 2 ? 5 : 0,
        };
        all[i] = create_resident(&info);
        write_buffer(all[i], i + 1);
    }
    assert_int_equal(yield_device(2 * UNIT, second), VK_SUCCESS);
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        assert_true(is_in(all[i], MAAR_TIER_DEVICE) == (i < BUFFERS / 2));
        expect_buffer(all[i], i + 1);
    }
    close_scene();
}

static void pinned_and_locked_residents_stay(void** state)
{
    MaarResident all[BUFFERS];
    MaarUse uses[BUFFERS];
    (void)state;
    open_yielding();
    fill_device(all, true);
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        uses[i] = VK_NULL_HANDLE;
        if (i % 2 == 0) {
            uses[i] = begin_use(all[i], MAAR_ACCESS_READ_BIT, 0);
        } else {
            assert_int_equal(maarLockResident(rig->allocator, manager, all[i]), VK_SUCCESS);
        }
    }
    assert_int_equal(request_and_free(UNIT), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(yield_result, VK_INCOMPLETE);
    assert_int_equal(released, 0);
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        cancel_use(uses[i]);
        if (i % 2 != 0) {
            assert_int_equal(maarUnlockResident(rig->allocator, manager, all[i]), VK_SUCCESS);
        }
    }
    assert_int_equal(request_and_free(UNIT), VK_SUCCESS);
    expect_all(all);
    close_scene();
}

static void pages_make_room_too(void** state)
{
    MaarReservation reservation = VK_NULL_HANDLE;
    MaarResident all[2];
    MaarSimulatedProfile sparse = *rig_profile_discrete();
    (void)state;
    sparse.limits.sparseAddressSpaceSize = (VkDeviceSize)1 << 40;
    sparse.requirements.sparseAlignment = UNIT;
    sparse.sparse.sparseBinding = VK_TRUE;
    sparse.sparse.residencyBuffer = VK_TRUE;
    open_yielding_of(&sparse);
    VkBufferCreateInfo buffer = rig_buffer_info(BUFFERS * UNIT);
    buffer.usage |= VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    const MaarReservationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                           .flags = MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT,
                                           .pBufferInfo = &buffer};
    assert_int_equal(maarCreateReservation(rig->allocator, &how, &reservation), VK_SUCCESS);
    for (uint32_t i = 0; i < 2; ++i) {
        const MaarResidentCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
            .reservation = reservation,
            .offset = i * 4 * UNIT,
            .size = 4 * UNIT,
        };
        all[i] = create_resident(&info);
        const MaarUse use = begin_use(all[i], MAAR_ACCESS_OVERWRITE_BIT, 0);
        vkCmdFillBuffer(begin_commands(), object.buffer, info.offset, info.size, i + 1);
        end_use_at(use, submit_commands());
    }
    assert_int_equal(yield_device(UNIT, second), VK_SUCCESS);
    assert_true(released >= UNIT);
    assert_true(!is_in(all[0], MAAR_TIER_DEVICE) || !is_in(all[1], MAAR_TIER_DEVICE));
    for (uint32_t i = 0; i < 2; ++i) {
        destroy_resident(all[i]);
    }
    settle();
    maarDestroyReservation(rig->allocator, reservation);
    close_scene();
}

/* Memory of the host: copies go of which the device has another one. */
static void copies_in_host_memory_make_room(void** state)
{
    MaarResident all[4];
    (void)state;
    open_yielding();
    for (uint32_t i = 0; i < 4; ++i) {
        all[i] = create_buffer(UNIT, 0);
        write_buffer(all[i], i + 1);
    }
    settle();
    assert_int_equal(yield_device(4 * UNIT, second), VK_SUCCESS);
    update_often(); /* the heap has room again */
    for (uint32_t i = 0; i < 4; ++i) {
        expect_buffer(all[i], i + 1);
        assert_true(is_in(all[i], MAAR_TIER_HOST));
    }
    settle();
    VkPhysicalDeviceMemoryProperties memory;
    uint32_t others = 0;
    vkGetPhysicalDeviceMemoryProperties(rig->physical, &memory);
    for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
        others |= memory.memoryTypes[i].heapIndex != heap ? 1u << i : 0;
    }
    assert_int_equal(maarYieldResidency(rig->allocator, manager, others, 2 * UNIT, 0, &released),
                     VK_SUCCESS);
    assert_true(released >= 2 * UNIT);
    for (uint32_t i = 0; i < 4; ++i) {
        assert_true(is_in(all[i], MAAR_TIER_DEVICE));
        expect_buffer(all[i], i + 1);
    }
    close_scene();
}

/* ---- budgets ---- */

static void budget_stays_low_until_the_heap_has_room(void** state)
{
    MaarResident all[BUFFERS];
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    (void)state;
    open_yielding();
    fill_device(all, true);
    assert_int_equal(request(4 * UNIT, &buffer, &memory), VK_SUCCESS);
    const VkDeviceSize left = manager_state().tiers[MAAR_TIER_DEVICE].budget;
    assert_true(left <= 4 * UNIT);
    update();
    assert_int_equal(manager_state().tiers[MAAR_TIER_DEVICE].budget, left);
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        expect_buffer(all[i], i + 1); /* in turn, in what is left */
    }
    assert_int_equal(observed, 1); /* the manager's own requests ask nobody */
    maarDestroyBuffer(rig->allocator, buffer, memory);
    update_often();
    assert_int_equal(manager_state().tiers[MAAR_TIER_DEVICE].budget, BUFFERS * UNIT);
    expect_all(all);
    close_scene();
}

/* ---- calls in calls ---- */

static uint32_t asked_in_calls;

/* A program whose callback asks for memory, in the middle of a call on the manager. */
static void VKAPI_PTR ask_in_call(void* data, const MaarResidencyEvent* event)
{
    (void)data;
    (void)event;
    assert_int_equal(yield_device(UNIT, second), VK_NOT_READY);
    assert_int_equal(released, 0);
    ++asked_in_calls;
}

static void call_in_the_middle_of_a_call_gives_up_nothing(void** state)
{
    MaarResident all[6];
    MaarResidencyCreateInfo info = manager_info(4 * UNIT, 16 * UNIT);
    (void)state;
    info.pfnEvent = ask_in_call;
    asked_in_calls = 0;
    open_device();
    find_heap();
    open_manager(&info);
    for (uint32_t i = 0; i < 6; ++i) {
        all[i] = create_buffer(UNIT, 0);
        write_buffer(all[i], i + 1);
    }
    for (uint32_t i = 0; i < 6; ++i) {
        expect_buffer(all[i], i + 1);
    }
    assert_true(asked_in_calls > 0);
    close_scene();
}

/* ---- faults ---- */

static void faults_keep_contents(void** state)
{
    static const char* const functions[] = {"vkQueueSubmit", "vkCreateBuffer", "vkAllocateMemory",
                                            "vkBeginCommandBuffer", "vkGetSemaphoreCounterValue"};
    (void)state;
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; ++f) {
        MaarResident all[BUFFERS];
        const MaarSimulatedFault fault = {
            .sType = MAAR_STRUCTURE_TYPE_SIMULATED_FAULT,
            .pFunctionName = functions[f],
            .result = VK_ERROR_OUT_OF_HOST_MEMORY,
            .count = 1,
        };
        open_yielding();
        fill_device(all, false);
        settle();
        assert_int_equal(maarSimulatedSetFault(rig->physical, &fault), VK_SUCCESS);
        const VkResult result = yield_device(2 * UNIT, second);
        assert_true(result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_SUCCESS ||
                    result == VK_INCOMPLETE);
        assert_int_equal(maarSimulatedSetFault(rig->physical, NULL), VK_SUCCESS);
        rig_forget_messages(rig);
        expect_no_pins();
        assert_int_equal(yield_device(2 * UNIT, second), VK_SUCCESS);
        expect_all(all);
        close_scene();
    }
}

static void host_memory_that_is_short_gives_up_nothing(void** state)
{
    MaarResident all[BUFFERS];
    (void)state;
    open_yielding();
    fill_device(all, true);
    for (uint64_t at = 1; at <= 2; ++at) {
        rig->host.fail_at = rig->host.calls + at;
        assert_int_equal(yield_device(UNIT, 0), VK_ERROR_OUT_OF_HOST_MEMORY);
        assert_int_equal(released, 0);
    }
    rig->host.fail_at = 0;
    assert_int_equal(yield_device(UNIT, 0), VK_SUCCESS);
    expect_all(all);
    close_scene();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(clean_residents_make_room_at_once),
        rig_unit_test(residents_that_need_copies_make_room),
        rig_unit_test(residents_in_use_make_room_when_the_uses_have_passed),
        rig_unit_test(call_without_patience_gives_only_what_is_clean_and_idle),
        rig_unit_test(clean_ones_go_before_those_that_need_copies),
        rig_unit_test(lower_classes_go_first),
        rig_unit_test(pinned_and_locked_residents_stay),
        rig_unit_test(pages_make_room_too),
        rig_unit_test(copies_in_host_memory_make_room),
        rig_unit_test(budget_stays_low_until_the_heap_has_room),
        rig_unit_test(call_in_the_middle_of_a_call_gives_up_nothing),
        rig_unit_test(faults_keep_contents),
        rig_unit_test(host_memory_that_is_short_gives_up_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
