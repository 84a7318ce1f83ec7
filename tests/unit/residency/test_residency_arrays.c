/*
 * Growable arrays and stitched buffers as residents: their pages come and go, their buffers and
 * addresses stay, and arrays grow while a use has pinned them.
 */
#include "core/memory/object_handle.h"
#include "tests/unit/residency/residency_fixture.h"

enum { ELEMENT = 256, PER_PAGE = UNIT / ELEMENT };

static MaarSimulatedProfile sparse;

/* A device whose pages are units. It has room for eight. */
static void open_pages(void)
{
    const MaarResidencyCreateInfo info = manager_info(8 * UNIT, 32 * UNIT);
    sparse = *rig_profile_discrete();
    sparse.limits.sparseAddressSpaceSize = (VkDeviceSize)1 << 40;
    sparse.requirements.sparseAlignment = UNIT;
    sparse.sparse.sparseBinding = VK_TRUE;
    sparse.sparse.residencyBuffer = VK_TRUE;
    open_device_of(&sparse);
    open_manager(&info);
}

static MaarArray create_array(VkDeviceSize most)
{
    VkBufferCreateInfo buffer = rig_buffer_info(most);
    buffer.usage |= VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    const MaarArrayCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO,
        .elementSize = ELEMENT,
        .reservation = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                        .flags = MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT,
                        .pBufferInfo = &buffer},
    };
    MaarArray array = VK_NULL_HANDLE;
    assert_int_equal(maarCreateArray(rig->allocator, &info, &array), VK_SUCCESS);
    return array;
}

static MaarResident adopt(MaarArray array, VkDeviceSize size)
{
    const MaarResidentCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .array = array,
        .size = size,
    };
    const MaarResident resident = create_resident(&info);
    assert_int_equal(
        maarAppendArray(rig->allocator, array, state_of(resident).contentSize / ELEMENT, NULL),
        VK_SUCCESS);
    return resident;
}

static MaarResident create_stitched(VkDeviceSize size)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(size);
    const MaarResidentCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .flags = MAAR_RESIDENT_CREATE_STITCHED_BIT,
        .pBufferInfo = &buffer,
    };
    return create_resident(&info);
}

static MaarArrayInfo info_of(MaarArray array)
{
    MaarArrayInfo info = {.sType = MAAR_STRUCTURE_TYPE_ARRAY_INFO};
    assert_int_equal(maarGetArrayInfo(rig->allocator, array, &info), VK_SUCCESS);
    return info;
}

/* Writes the bytes of a resident. */
static void write_pages(MaarResident resident, uint32_t word)
{
    const MaarUse use = begin_use(resident, MAAR_ACCESS_OVERWRITE_BIT, 0);
    vkCmdFillBuffer(begin_commands(), object.buffer, 0, state_of(resident).contentSize, word);
    end_use_at(use, submit_commands());
}

static VkResult resize(MaarResident resident, uint64_t count)
{
    MaarPoint wait = {VK_NULL_HANDLE, 7};
    const VkResult result = maarResizeResident(rig->allocator, manager, resident, count, &wait);
    if (result == VK_SUCCESS && wait.semaphore != VK_NULL_HANDLE) {
        assert_int_equal(maarWaitPoints(rig->allocator, 1, &wait, UINT64_MAX), VK_SUCCESS);
    }
    return result;
}

static void finish(void)
{
    assert_int_equal(vkDeviceWaitIdle(rig->device), VK_SUCCESS);
    close_scene();
}

/* ---- stitched buffers ---- */

static void stitched_buffers_come_and_go_under_their_handles(void** state)
{
    MaarResident all[12];
    VkBuffer buffers[12];
    (void)state;
    open_pages();
    for (uint32_t i = 0; i < 12; ++i) {
        all[i] = create_stitched((1 + i % 3) * UNIT);
        write_pages(all[i], i + 1);
        buffers[i] = object.buffer;
        assert_true(manager_state().tiers[MAAR_TIER_DEVICE].size <= 8 * UNIT);
    }
    for (uint32_t round = 0; round < 2; ++round) {
        for (uint32_t i = 0; i < 12; ++i) {
            expect_buffer(all[i], i + 1);
            assert_true(object.buffer == buffers[i]);
            assert_int_equal(object.epoch, 1);
        }
    }
    assert_true(manager_state().tiers[MAAR_TIER_DEVICE].restoredCount > 12);
    for (uint32_t i = 0; i < 12; i += 2) {
        destroy_resident(all[i]);
    }
    for (uint32_t i = 1; i < 12; i += 2) {
        expect_buffer(all[i], i + 1);
    }
    finish();
}

static void stitched_needs_a_buffer(void** state)
{
    const VkImageCreateInfo image = rig_image_info(16, 16);
    const MaarResidentCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .flags = MAAR_RESIDENT_CREATE_STITCHED_BIT,
        .pImageInfo = &image,
    };
    MaarResident resident = VK_NULL_HANDLE;
    (void)state;
    open_pages();
    assert_int_equal(maarCreateResident(rig->allocator, manager, &info, &resident),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "pCreateInfo->flags");
    finish();
}

static void stitched_needs_sparse_buffers(void** state)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(UNIT);
    const MaarResidentCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .flags = MAAR_RESIDENT_CREATE_STITCHED_BIT,
        .pBufferInfo = &buffer,
    };
    MaarResident resident = VK_NULL_HANDLE;
    (void)state;
    open_scene(8);
    assert_int_equal(maarCreateResident(rig->allocator, manager, &info, &resident),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_forget_messages(rig);
    close_scene();
}

/* ---- arrays ---- */

static void arrays_come_and_go(void** state)
{
    MaarArray arrays[6];
    MaarResident all[6];
    (void)state;
    open_pages();
    for (uint32_t i = 0; i < 6; ++i) {
        arrays[i] = create_array(16 * UNIT);
        all[i] = adopt(arrays[i], 2 * UNIT);
        assert_int_equal(info_of(arrays[i]).capacity, 2 * PER_PAGE);
        write_pages(all[i], i + 1);
        assert_true(object.buffer == info_of(arrays[i]).buffer);
    }
    for (uint32_t i = 0; i < 6; ++i) {
        expect_buffer(all[i], i + 1);
    }
    assert_true(manager_state().tiers[MAAR_TIER_DEVICE].restoredCount > 0);
    assert_true(manager_state().tiers[MAAR_TIER_DEVICE].peakSize <= 8 * UNIT);
    for (uint32_t i = 0; i < 6; ++i) {
        destroy_resident(all[i]);
        assert_int_equal(info_of(arrays[i]).capacity, 0);
    }
    settle();
    for (uint32_t i = 0; i < 6; ++i) {
        maarDestroyArray(rig->allocator, arrays[i]);
    }
    finish();
}

/* An array grows in a use, others make room, and its first part keeps its contents. */
static void array_grows_in_a_use(void** state)
{
    MaarResident others[6];
    (void)state;
    open_pages();
    const MaarArray array = create_array(16 * UNIT);
    const MaarResident resident = adopt(array, 1);
    write_pages(resident, 1);
    for (uint32_t i = 0; i < 6; ++i) {
        others[i] = create_stitched(UNIT);
        write_pages(others[i], 100 + i);
    }
    for (uint32_t pages = 2; pages <= 6; ++pages) {
        const MaarUse use = begin_use(resident, MAAR_ACCESS_WRITE_BIT, 0);
        const VkDeviceSize old = state_of(resident).contentSize;
        assert_int_equal(resize(resident, (uint64_t)pages * PER_PAGE), VK_SUCCESS);
        const VkDeviceSize now = state_of(resident).contentSize;
        assert_true(now >= (VkDeviceSize)pages * UNIT);
        assert_int_equal(info_of(array).count, (uint64_t)pages * PER_PAGE);
        if (now > old) {
            vkCmdFillBuffer(begin_commands(), object.buffer, old, now - old, 1);
        } else {
            (void)begin_commands();
        }
        end_use_at(use, submit_commands());
        assert_true(manager_state().tiers[MAAR_TIER_DEVICE].size <= 8 * UNIT);
        for (uint32_t i = 0; i < 6; ++i) {
            expect_buffer(others[i], 100 + i);
        }
        expect_buffer(resident, 1);
    }
    assert_true(state_of(resident).contentSize <= 7 * UNIT);
    assert_true(manager_state().tiers[MAAR_TIER_DEVICE].peakSize <= 8 * UNIT);
    destroy_resident(resident);
    settle();
    maarDestroyArray(rig->allocator, array);
    finish();
}

static void array_that_shrinks_gives_pages_back(void** state)
{
    (void)state;
    open_pages();
    const MaarArray array = create_array(16 * UNIT);
    const MaarResident resident = adopt(array, 6 * UNIT);
    write_pages(resident, 5);
    const MaarUse use = begin_use(resident, MAAR_ACCESS_READ_BIT, 0);
    assert_int_equal(resize(resident, PER_PAGE + 1), VK_SUCCESS);
    assert_int_equal(state_of(resident).contentSize, 2 * UNIT);
    assert_int_equal(manager_state().tiers[MAAR_TIER_DEVICE].size, 2 * UNIT);
    compare_and_end(use, resident, 5);
    const MaarResident other = create_stitched(6 * UNIT);
    write_pages(other, 6);
    expect_buffer(resident, 5);
    destroy_resident(resident);
    settle();
    maarDestroyArray(rig->allocator, array);
    finish();
}

/* Whoever owns the memory changes it. */
static void array_of_a_resident_takes_no_memory_by_itself(void** state)
{
    uint64_t first = 0;
    (void)state;
    open_pages();
    const MaarArray array = create_array(16 * UNIT);
    const MaarResident resident = adopt(array, UNIT);
    const MaarArrayResize more = {array, 2 * PER_PAGE, VK_FALSE};
    assert_int_equal(maarAppendArray(rig->allocator, array, 1, &first),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_BUFFER_CACHE_OWNS_RESERVATION, "array");
    assert_int_equal(maarResizeArrays(rig->allocator, 1, &more, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_BUFFER_CACHE_OWNS_RESERVATION, "array");
    assert_int_equal(maarTruncateArray(rig->allocator, array, 0, VK_TRUE), VK_SUCCESS);
    assert_int_equal(info_of(array).capacity, PER_PAGE);
    maarDestroyArray(rig->allocator, array);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_BUFFER_CACHE_OWNS_RESERVATION, "array");
    assert_int_equal(maarDestroyArrayAfter(rig->allocator, array, 0, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_BUFFER_CACHE_OWNS_RESERVATION, "array");
    destroy_resident(resident);
    assert_int_equal(maarAppendArray(rig->allocator, array, 2 * PER_PAGE, &first), VK_SUCCESS);
    maarDestroyArray(rig->allocator, array);
    rig_forget_messages(rig);
    finish();
}

static void adopt_misuse_names_the_field(void** state)
{
    MaarResident resident = VK_NULL_HANDLE;
    (void)state;
    open_pages();
    const MaarArray array = create_array(4 * UNIT);
    const MaarArray filled = create_array(4 * UNIT);
    assert_int_equal(maarReserveArray(rig->allocator, filled, 1), VK_SUCCESS);
    const MaarResident taken = adopt(array, UNIT);
    const struct {
        MaarArray array;
        VkDeviceSize size;
        MaarMessageId id;
        const char* culprit;
    } cases[] = {
        {filled, UNIT, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "pCreateInfo->array"},
        {array, UNIT, MAAR_MESSAGE_ID_BUFFER_CACHE_OWNS_RESERVATION, "pCreateInfo->array"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const MaarResidentCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
            .array = cases[i].array,
            .size = cases[i].size,
        };
        assert_int_equal(maarCreateResident(rig->allocator, manager, &info, &resident),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(rig, cases[i].id, cases[i].culprit);
    }
    destroy_resident(taken);
    const MaarArray gone = create_array(4 * UNIT);
    maarDestroyArray(rig->allocator, gone);
    const struct {
        uint64_t handle;
        MaarMessageId id;
    } wrong[] = {{MAAR_TO_BITS(gone), MAAR_MESSAGE_ID_STALE_HANDLE},
                 {MAAR_TO_BITS(manager), MAAR_MESSAGE_ID_FOREIGN_HANDLE}};
    for (size_t i = 0; i < 2; ++i) {
        const MaarResidentCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
            .array = MAAR_FROM_BITS(MaarArray, wrong[i].handle),
            .size = UNIT,
        };
        assert_int_equal(maarCreateResident(rig->allocator, manager, &info, &resident),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(rig, wrong[i].id, "pCreateInfo->array");
    }
    for (VkDeviceSize size = 0; size <= 5 * UNIT; size += 5 * UNIT) {
        const MaarResidentCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
            .array = array,
            .size = size,
        };
        assert_int_equal(maarCreateResident(rig->allocator, manager, &info, &resident),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pCreateInfo->size");
    }
    const MaarResidentCreateInfo part = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .array = array,
        .offset = UNIT,
        .size = UNIT,
    };
    assert_int_equal(maarCreateResident(rig->allocator, manager, &part, &resident),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pCreateInfo->offset");
    maarDestroyArray(rig->allocator, array);
    maarDestroyArray(rig->allocator, filled);
    rig_forget_messages(rig);
    finish();
}

static void resize_misuse_names_the_argument(void** state)
{
    (void)state;
    open_pages();
    const MaarArray array = create_array(16 * UNIT);
    const MaarResident resident = adopt(array, UNIT);
    const MaarResident plain = create_buffer(UNIT, 0);
    assert_int_equal(resize(resident, 1), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NOT_LOCKED, "resident");
    MaarUse use = begin_use(plain, MAAR_ACCESS_OVERWRITE_BIT, 0);
    assert_int_equal(resize(plain, 1), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "resident");
    cancel_use(use);
    assert_int_equal(resize(VK_NULL_HANDLE, 1), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_HANDLE, "resident");
    assert_int_equal(maarResizeResident(rig->allocator, manager, resident, 1, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pWait");
    use = begin_use(resident, MAAR_ACCESS_OVERWRITE_BIT, 0);
    assert_int_equal(resize(resident, 17 * PER_PAGE), VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_ARRAY_FULL, "array");
    assert_int_equal(resize(resident, 9 * PER_PAGE), VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_TOO_MUCH_IN_USE, "resident");
    assert_int_equal(info_of(array).count, PER_PAGE);
    cancel_use(use);
    destroy_resident(resident);
    settle();
    maarDestroyArray(rig->allocator, array);
    finish();
}

static void faults_leave_the_array_as_it_was(void** state)
{
    const MaarSimulatedFault fault = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_FAULT,
        .pFunctionName = "vkQueueBindSparse",
        .result = VK_ERROR_OUT_OF_DEVICE_MEMORY,
    };
    (void)state;
    open_pages();
    const MaarArray array = create_array(1024 * UNIT);
    const MaarResident resident = adopt(array, UNIT);
    write_pages(resident, 3);
    MaarUse use = begin_use(resident, MAAR_ACCESS_WRITE_BIT, 0);
    assert_int_equal(maarSimulatedSetFault(rig->physical, &fault), VK_SUCCESS);
    assert_int_equal(resize(resident, 2 * PER_PAGE), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarSimulatedSetFault(rig->physical, NULL), VK_SUCCESS);
    rig_forget_messages(rig);
    assert_int_equal(info_of(array).count, PER_PAGE);
    assert_int_equal(resize(resident, 4 * PER_PAGE), VK_SUCCESS);
    vkCmdFillBuffer(begin_commands(), object.buffer, UNIT, state_of(resident).contentSize - UNIT,
                    3);
    end_use_at(use, submit_commands());
    expect_buffer(resident, 3);
    destroy_resident(resident);
    settle();
    maarDestroyArray(rig->allocator, array);
    finish();
}

/* The room that an array grows into is free when the copies have ended. */
static void growth_waits_for_copies(void** state)
{
    MaarResident others[4];
    (void)state;
    open_pages();
    const MaarArray array = create_array(16 * UNIT);
    const MaarResident resident = adopt(array, UNIT);
    write_pages(resident, 9);
    for (uint32_t i = 0; i < 4; ++i) {
        others[i] = create_buffer(UNIT, 0); /* in one block */
        write_buffer(others[i], i + 1);
    }
    settle();
    const MaarUse use = begin_use(resident, MAAR_ACCESS_READ_BIT, 0);
    hold(true);
    assert_int_equal(resize(resident, 6 * PER_PAGE), VK_NOT_READY);
    assert_int_equal(info_of(array).count, PER_PAGE);
    hold(false);
    settle();
    assert_int_equal(resize(resident, 6 * PER_PAGE), VK_SUCCESS);
    assert_int_equal(info_of(array).count, 6 * PER_PAGE);
    cancel_use(use);
    for (uint32_t i = 0; i < 4; ++i) {
        expect_buffer(others[i], i + 1);
    }
    destroy_resident(resident);
    settle();
    maarDestroyArray(rig->allocator, array);
    finish();
}

/* Others take all of the device. */
static void displace_all(void)
{
    const MaarResident other = create_stitched(8 * UNIT);
    write_pages(other, 77);
    destroy_resident(other);
    settle();
}

/* What an array has beyond its elements has never been written, and nobody reads it. */
static void capacity_beyond_the_elements_is_not_copied(void** state)
{
    (void)state;
    open_pages();
    const MaarArray array = create_array(16 * UNIT);
    const MaarResident resident = adopt(array, 4 * UNIT);
    assert_int_equal(maarTruncateArray(rig->allocator, array, PER_PAGE, VK_FALSE), VK_SUCCESS);
    MaarUse use = begin_use(resident, MAAR_ACCESS_OVERWRITE_BIT, 0);
    vkCmdFillBuffer(begin_commands(), object.buffer, 0, UNIT, 5);
    end_use_at(use, submit_commands());
    displace_all();
    assert_false(is_in(resident, MAAR_TIER_DEVICE));
    use = begin_use(resident, MAAR_ACCESS_READ_BIT, 0);
    const VkBufferCopy region = {.size = UNIT};
    vkCmdCopyBuffer(begin_commands(), object.buffer, readback, 1, &region);
    end_use_at(use, submit_commands());
    destroy_resident(resident);
    settle();
    maarDestroyArray(rig->allocator, array);
    finish();
}

static void array_of_another_size_has_no_copies_of_before(void** state)
{
    (void)state;
    open_pages();
    const MaarArray array = create_array(16 * UNIT);
    const MaarResident resident = adopt(array, UNIT);
    write_pages(resident, 5);
    displace_all();
    const MaarUse use = begin_use(resident, MAAR_ACCESS_READ_BIT, 0);
    assert_true(is_in(resident, MAAR_TIER_HOST));
    assert_int_equal(resize(resident, 3 * PER_PAGE), VK_SUCCESS);
    assert_false(is_in(resident, MAAR_TIER_HOST));
    (void)begin_commands();
    end_use_at(use, submit_commands());
    destroy_resident(resident);
    settle();
    maarDestroyArray(rig->allocator, array);
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(stitched_buffers_come_and_go_under_their_handles),
        rig_unit_test(stitched_needs_a_buffer),
        rig_unit_test(stitched_needs_sparse_buffers),
        rig_unit_test(arrays_come_and_go),
        rig_unit_test(array_grows_in_a_use),
        rig_unit_test(array_that_shrinks_gives_pages_back),
        rig_unit_test(array_of_a_resident_takes_no_memory_by_itself),
        rig_unit_test(adopt_misuse_names_the_field),
        rig_unit_test(resize_misuse_names_the_argument),
        rig_unit_test(faults_leave_the_array_as_it_was),
        rig_unit_test(growth_waits_for_copies),
        rig_unit_test(capacity_beyond_the_elements_is_not_copied),
        rig_unit_test(array_of_another_size_has_no_copies_of_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
