/*
 * Growable arrays, sparse and growing by copies, on simulated devices.
 */
#include "core/handle.h"
#include "tests/unit/reservation/reservation_fixture.h"

static struct rig* rig;

static VkResult try_array(VkDeviceSize element_size, VkDeviceSize size, VkDeviceSize grow_size,
                          MaarReservationCreateFlags flags, MaarArray* array)
{
    const VkBufferCreateInfo buffer = fixture_buffer(size);
    MaarAllocationCreateInfo memory = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    memory.pName = "keys";
    const MaarArrayCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO,
        .elementSize = element_size,
        .reservation = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                        .flags = flags,
                        .pBufferInfo = &buffer,
                        .pMemoryInfo = &memory},
        .growSize = grow_size,
    };
    return maarCreateArray(rig->allocator, &info, array);
}

static MaarArray create_array(VkDeviceSize element_size, VkDeviceSize size, VkDeviceSize grow_size,
                              MaarReservationCreateFlags flags)
{
    MaarArray array = VK_NULL_HANDLE;
    assert_int_equal(try_array(element_size, size, grow_size, flags, &array), VK_SUCCESS);
    return array;
}

static MaarArrayInfo array_info(MaarArray array)
{
    MaarArrayInfo info = {.sType = MAAR_STRUCTURE_TYPE_ARRAY_INFO};
    assert_int_equal(maarGetArrayInfo(rig->allocator, array, &info), VK_SUCCESS);
    return info;
}

static VkDeviceSize committed_bytes(MaarArray array)
{
    return fixture_info(rig, array_info(array).reservation).committedSize;
}

static void append(MaarArray array, uint64_t count)
{
    const uint64_t before = array_info(array).count;
    uint64_t first = UINT64_MAX;
    assert_int_equal(maarAppendArray(rig->allocator, array, count, &first), VK_SUCCESS);
    assert_int_equal(first, before);
    assert_int_equal(array_info(array).count, before + count);
}

/* RADV answers a full heap with VK_ERROR_UNKNOWN. A smaller step then serves the request. */
static void unknown_errors_are_shortages(void** state)
{
    (void)state;
    static const MaarReservationCreateFlags ways[] = {0, MAAR_RESERVATION_CREATE_COPYING_BIT};
    for (uint32_t i = 0; i < 2; ++i) {
        rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
        MaarArray array = create_array(16, 64 * MIB, 16 * MIB, ways[i]);
        uint64_t first = UINT64_MAX;
        rig_set_fault(rig, "vkAllocateMemory", 1, 1, VK_ERROR_UNKNOWN);
        assert_int_equal(maarAppendArray(rig->allocator, array, 16, &first), VK_SUCCESS);
        rig_clear_faults(rig);
        rig_forget_messages(rig);
        maarDestroyArray(rig->allocator, array);
        rig_close(rig);
    }
}

static void steps_grow_with_the_array(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    MaarArray array = create_array(16, 4 * GIB, 0, 0);
    const MaarReservationInfo before = fixture_info(rig, array_info(array).reservation);
    assert_int_equal(array_info(array).capacity, 0);
    assert_int_equal(array_info(array).maxCount, 4 * GIB / 16);
    append(array, 1);
    assert_int_equal(committed_bytes(array), MIB); /* the least step */
    assert_int_equal(array_info(array).capacity, MIB / 16);
    append(array, MIB / 16 - 1);
    assert_int_equal(committed_bytes(array), MIB);
    append(array, 1);
    assert_int_equal(committed_bytes(array), 2 * MIB);
    append(array, 63 * MIB / 16 - 1);
    assert_int_equal(committed_bytes(array), 64 * MIB); /* more than a step: exactly the request */
    append(array, 1);
    assert_int_equal(committed_bytes(array), 72 * MIB); /* an eighth */
    append(array, 2 * GIB / 16 - array_info(array).count + 1);
    append(array, (committed_bytes(array) - 2 * GIB) / 16);
    assert_int_equal(committed_bytes(array), 2 * GIB + 128 * KIB + 64 * MIB - 64 * KIB);
    const MaarReservationInfo after = fixture_info(rig, array_info(array).reservation);
    assert_true(after.buffer == before.buffer);
    assert_int_equal(after.address, before.address);
    (void)fixture_submit(rig);
    rig_check(rig);
    maarDestroyArray(rig->allocator, array);
    rig_expect_silence(rig);
    rig_close(rig);
}

static void grow_size_is_kept_to(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    MaarArray array = create_array(1000, 10 * MIB, 3 * MIB, 0);
    append(array, 1);
    assert_int_equal(committed_bytes(array), 3 * MIB);
    append(array, 3 * MIB / 1000);
    assert_int_equal(committed_bytes(array), 6 * MIB);
    append(array, 6 * MIB / 1000 + 1000);
    assert_int_equal(committed_bytes(array), 10 * MIB); /* never more than the reservation */
    maarDestroyArray(rig->allocator, array);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_PAGES_NOT_SUBMITTED, "\"keys\"");
    rig_close(rig);
}

static void reserving_is_exact(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    MaarArray array = create_array(12, 64 * MIB, 0, 0);
    assert_int_equal(maarReserveArray(rig->allocator, array, 100000), VK_SUCCESS);
    assert_int_equal(committed_bytes(array), 1216 * KIB); /* 1,200,000 bytes */
    assert_int_equal(array_info(array).count, 0);
    assert_true(array_info(array).capacity >= 100000);
    const uint64_t recorded = fixture_statistics(rig).recordedPages;
    append(array, 100000);
    assert_int_equal(fixture_statistics(rig).recordedPages, recorded);
    assert_int_equal(maarReserveArray(rig->allocator, array, 5), VK_SUCCESS);
    assert_int_equal(committed_bytes(array), 1216 * KIB);
    maarDestroyArray(rig->allocator, array);
    rig_close(rig);
}

static void array_that_is_full_stays_as_it_was(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    MaarArray array = create_array(24, MIB, 0, 0);
    const uint64_t most = MIB / 24;
    assert_int_equal(array_info(array).maxCount, most);
    append(array, most - 1);
    uint64_t first = 7;
    static const uint64_t counts[] = {2, UINT64_MAX, UINT64_MAX / 24, UINT64_MAX / 24 + 1};
    for (uint32_t i = 0; i < 4; ++i) {
        assert_int_equal(maarAppendArray(rig->allocator, array, counts[i], &first),
                         VK_ERROR_OUT_OF_POOL_MEMORY);
        assert_int_equal(first, 0);
        assert_true(rig_message_names(rig, "maarAppendArray") &&
                    rig_message_names(rig, "\"keys\""));
        assert_true(counts[i] != 2 || rig_message_names_number(rig, most + 1));
        assert_true(rig_message_names_number(rig, MIB) && rig_message_names_number(rig, 24));
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_ARRAY_FULL, "43690");
        assert_int_equal(
            maarReserveArray(rig->allocator, array, counts[i] < most ? most + 1 : counts[i]),
            VK_ERROR_OUT_OF_POOL_MEMORY);
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_ARRAY_FULL, "\"keys\"");
    }
    assert_int_equal(array_info(array).count, most - 1);
    append(array, 1);
    append(array, 0);
    assert_int_equal(committed_bytes(array), MIB);
    maarDestroyArray(rig->allocator, array);
    rig_close(rig);
}

static void truncating_gives_back_only_when_asked(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    MaarArray array = create_array(1000, 64 * MIB, 0, 0);
    append(array, 10000);
    (void)fixture_submit(rig);
    const VkDeviceSize committed = committed_bytes(array);
    assert_int_equal(maarTruncateArray(rig->allocator, array, 100, VK_FALSE), VK_SUCCESS);
    assert_int_equal(committed_bytes(array), committed);
    assert_int_equal(maarTruncateArray(rig->allocator, array, 101, VK_FALSE),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "count");
    assert_int_equal(maarTruncateArray(rig->allocator, array, 100, VK_TRUE), VK_SUCCESS);
    assert_int_equal(committed_bytes(array), 128 * KIB);
    assert_int_equal(array_info(array).capacity, 128 * KIB / 1000);
    append(array, 10000); /* before the submission that unbinds */
    assert_true(committed_bytes(array) >= 10100000);
    (void)fixture_submit(rig);
    rig_check(rig);
    assert_int_equal(maarTruncateArray(rig->allocator, array, 0, VK_TRUE), VK_SUCCESS);
    assert_int_equal(committed_bytes(array), 0);
    append(array, 1);
    (void)fixture_submit(rig);
    rig_check(rig);
    maarDestroyArray(rig->allocator, array);
    rig_close(rig);
}

static void destroying_an_array_twice_is_reported(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    MaarArray array = create_array(16, MIB, 0, 0);
    append(array, 1);
    (void)fixture_submit(rig);
    maarDestroyReservation(rig->allocator, array_info(array).reservation);
    rig_expect_message(rig, MAAR_MESSAGE_ID_ARRAY_OWNS_RESERVATION);
    MaarReservation plain = fixture_reserve(rig, MIB, 0);
    maarDestroyArray(rig->allocator, MAAR_FROM_BITS(MaarArray, MAAR_TO_BITS(plain)));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FOREIGN_HANDLE, "array");
    maarDestroyReservation(rig->allocator, plain);
    maarDestroyArray(rig->allocator, array);
    rig_expect_silence(rig);
    maarDestroyArray(rig->allocator, array);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, "array");
    const VkResult wrong = VK_ERROR_VALIDATION_FAILED_EXT;
    assert_int_equal(maarDestroyArrayAfter(rig->allocator, array, 0, NULL), wrong);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    MaarArrayInfo info = {.sType = MAAR_STRUCTURE_TYPE_ARRAY_INFO};
    assert_int_equal(maarGetArrayInfo(rig->allocator, array, &info), wrong);
    assert_int_equal(maarReserveArray(rig->allocator, array, 1), wrong);
    assert_int_equal(maarTruncateArray(rig->allocator, array, 0, VK_FALSE), wrong);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    assert_int_equal(rig->messages.last_id, MAAR_MESSAGE_ID_STALE_HANDLE);
    rig_check(rig);
    rig_close(rig);
}

static void array_without_sparse_binding_grows_by_copies(void** state)
{
    (void)state;
    static const enum fixture_way ways[] = {FIXTURE_NO_SPARSE, FIXTURE_NO_RESIDENCY};
    for (uint32_t i = 0; i < 2; ++i) {
        rig = fixture_begin(ways[i], 64 * KIB, NULL);
        MaarArray array = create_array(16, 64 * MIB, 0, 0);
        while (array_info(array).count < 64 * MIB / 16) {
            append(array, MIB / 16);
            (void)fixture_submit(rig);
            const MaarArrayInfo info = array_info(array);
            assert_int_equal(info.capacity, committed_bytes(array) / 16);
            assert_true(info.capacity >= info.count);
        }
        assert_true(fixture_statistics(rig).copiedBytes < 192 * MIB);
        assert_true(fixture_info(rig, array_info(array).reservation).moveCount < 14);
        assert_int_equal(maarTruncateArray(rig->allocator, array, 3, VK_TRUE), VK_SUCCESS);
        assert_int_equal(committed_bytes(array), 64 * MIB);
        assert_int_equal(array_info(array).capacity, 64 * MIB / 16);
        maarDestroyArray(rig->allocator, array);
        rig_close(rig);
    }
}

static void scarce_memory_makes_steps_exact(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    /* No memory of the device holds the step; the request is small. */
    MaarArray array = create_array(16, 64 * GIB, 60 * GIB, 0);
    append(array, GIB / 16);
    assert_int_equal(committed_bytes(array), GIB);
    rig_expect_silence(rig); /* the request has all its memory */
    assert_int_equal(maarAppendArray(rig->allocator, array, 60 * GIB / 16, NULL),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(array_info(array).count, GIB / 16);
    assert_int_equal(committed_bytes(array), GIB);
    rig_check(rig);
    maarDestroyArray(rig->allocator, array);
    rig_close(rig);
}

static void misuse_is_reported(void** state)
{
    (void)state;
    const VkResult wrong = VK_ERROR_VALIDATION_FAILED_EXT;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    MaarArray array = VK_NULL_HANDLE;
    assert_int_equal(try_array(0, MIB, 0, 0, &array), wrong);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_ZERO_SIZE, "elementSize");
    assert_true(array == VK_NULL_HANDLE);
    array = create_array(16, MIB, 0, 0);
    MaarReservation reservation = array_info(array).reservation;
    assert_int_equal(fixture_commit(rig, reservation, 0, MIB), wrong);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_ARRAY_OWNS_RESERVATION, "maarAppendArray");
    assert_int_equal(fixture_decommit(rig, reservation, 0, MIB), wrong);
    assert_int_equal(maarDestroyReservationAfter(rig->allocator, reservation, 0, NULL), wrong);
    maarDestroyReservation(rig->allocator, reservation);
    rig_expect_message(rig, MAAR_MESSAGE_ID_ARRAY_OWNS_RESERVATION);
    assert_int_equal(array_info(array).count, 0);
    assert_int_equal(maarAppendArray(rig->allocator, VK_NULL_HANDLE, 1, NULL), wrong);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_HANDLE, "array");
    assert_int_equal(maarDestroyArrayAfter(rig->allocator, VK_NULL_HANDLE, 0, NULL), VK_SUCCESS);
    maarDestroyArray(rig->allocator, VK_NULL_HANDLE);
    assert_int_equal(maarDestroyArrayAfter(rig->allocator, array, 0, NULL), VK_SUCCESS);
    rig_close(rig);
}

/* Each structure is named by its place, and not as the one around it. */
static void structure_without_its_type_is_named(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    VkBufferCreateInfo buffer = fixture_buffer(MIB);
    MaarAllocationCreateInfo memory = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarArrayCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO,
        .elementSize = 16,
        .reservation = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                        .pBufferInfo = &buffer,
                        .pMemoryInfo = &memory},
    };
    const struct {
        void* structure;
        const char* names[2]; /* of an array's, of a reservation's */
    } cases[] = {
        {&info.reservation, {"pCreateInfo->reservation.sType", "pCreateInfo->sType"}},
        {&buffer,
         {"pCreateInfo->reservation.pBufferInfo->sType", "pCreateInfo->pBufferInfo->sType"}},
        {&memory,
         {"pCreateInfo->reservation.pMemoryInfo->sType", "pCreateInfo->pMemoryInfo->sType"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        uint32_t right = 0;
        const uint32_t none = 0;
        MaarArray array = VK_NULL_HANDLE;
        MaarReservation reservation = VK_NULL_HANDLE;
        memcpy(&right, cases[i].structure, sizeof right); /* sType comes first */
        memcpy(cases[i].structure, &none, sizeof none);
        assert_int_equal(maarCreateArray(rig->allocator, &info, &array),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, cases[i].names[0]);
        assert_int_equal(maarCreateReservation(rig->allocator, &info.reservation, &reservation),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, cases[i].names[1]);
        memcpy(cases[i].structure, &right, sizeof right);
    }
    rig_close(rig);
}

/* One call says which buffer holds the elements, whichever way the array grows. */
static void array_names_its_buffer(void** state)
{
    (void)state;
    static const MaarReservationCreateFlags ways[] = {0, MAAR_RESERVATION_CREATE_COPYING_BIT};
    for (uint32_t i = 0; i < 2; ++i) {
        rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
        VkBufferCreateInfo buffer = fixture_buffer(16 * MIB);
        buffer.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
        const MaarArrayCreateInfo create = {
            .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO,
            .elementSize = 4,
            .reservation = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                            .flags = ways[i],
                            .pBufferInfo = &buffer},
        };
        MaarArray array = VK_NULL_HANDLE;
        assert_int_equal(maarCreateArray(rig->allocator, &create, &array), VK_SUCCESS);
        for (uint32_t step = 0; step < 2; ++step) {
            append(array, MIB);
            assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_SUCCESS);
            const MaarArrayInfo info = array_info(array);
            const MaarReservationInfo reservation = fixture_info(rig, info.reservation);
            assert_true(info.buffer != VK_NULL_HANDLE && info.buffer == reservation.buffer);
            assert_true(info.address != 0 && info.address == reservation.address);
            assert_int_equal(info.moveCount, reservation.moveCount);
            assert_int_equal(info.moveCount, i * (step + 1));
        }
        maarDestroyArray(rig->allocator, array);
        rig_close(rig);
    }
}

/* The array has room for the element, so that nothing but the check of the handle can notice. */
static void append_to_a_destroyed_array_is_reported(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    MaarArray array = create_array(16, MIB, 0, 0);
    append(array, 1);
    (void)fixture_submit(rig);
    maarDestroyArray(rig->allocator, array);
    rig_expect_silence(rig);
    uint64_t first = 7;
    assert_int_equal(maarAppendArray(rig->allocator, array, 1, &first),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(first, 0);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, "maarAppendArray");
    rig_close(rig);
}

static void leak_is_named_an_array(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, &(struct rig_setup){.count_host = true});
    append(create_array(16, MIB, 0, 0), 100);
    (void)fixture_submit(rig);
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_LEAK, "\"keys\"");
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(unknown_errors_are_shortages),
        rig_unit_test(steps_grow_with_the_array),
        rig_unit_test(grow_size_is_kept_to),
        rig_unit_test(reserving_is_exact),
        rig_unit_test(array_that_is_full_stays_as_it_was),
        rig_unit_test(truncating_gives_back_only_when_asked),
        rig_unit_test(destroying_an_array_twice_is_reported),
        rig_unit_test(array_without_sparse_binding_grows_by_copies),
        rig_unit_test(scarce_memory_makes_steps_exact),
        rig_unit_test(misuse_is_reported),
        rig_unit_test(structure_without_its_type_is_named),
        rig_unit_test(array_names_its_buffer),
        rig_unit_test(append_to_a_destroyed_array_is_reported),
        rig_unit_test(leak_is_named_an_array),
    };
    return cmocka_run_group_tests_name("arrays", tests, NULL, NULL);
}
