/*
 * Reservations whose pages the host accesses: where they lie, what is flushed, and what they
 * refuse.
 */
#include "tests/unit/reservation/reservation_fixture.h"

static struct rig* rig;

#define PAGE (64 * KIB)

enum { MAPPED = MAAR_RESERVATION_CREATE_MAPPED_BIT, ROOM = 8 };

static MaarHostRun listed[ROOM];

static VkResult list(MaarReservation reservation, VkDeviceSize offset, VkDeviceSize size,
                     uint32_t* count)
{
    const MaarPageRange range = {offset, size};
    *count = ROOM;
    return maarGetHostPages(rig->allocator, reservation, &range, count, listed);
}

static VkResult flush(MaarReservation reservation, VkDeviceSize offset, VkDeviceSize size)
{
    const MaarPageRange range = {offset, size};
    return maarFlushPages(rig->allocator, reservation, 1, &range);
}

static VkResult invalidate(MaarReservation reservation, VkDeviceSize offset, VkDeviceSize size)
{
    const MaarPageRange range = {offset, size};
    return maarInvalidatePages(rig->allocator, reservation, 1, &range);
}

/* The unified device with sparse buffers. Its host-visible types are 1, coherent, and 2, cached. */
static void start_unified(void)
{
    MaarSimulatedProfile profile = *rig_profile_noncoherent();
    const struct rig_setup setup = {.profile = &profile, .paging = true};
    profile.limits.sparseAddressSpaceSize = ADDRESS_SPACE;
    profile.requirements.sparseAlignment = PAGE;
    profile.sparse.sparseBinding = VK_TRUE;
    profile.sparse.residencyBuffer = VK_TRUE;
    profile.sparse.residencyAliased = VK_TRUE;
    rig = rig_new();
    rig_open(rig, &setup);
    rig_make_allocator(rig);
}

static MaarReservation reserve_in(uint32_t type, MaarReservationCreateFlags flags)
{
    const VkBufferCreateInfo buffer = fixture_buffer(64 * MIB);
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .usage = MAAR_MEMORY_USAGE_FLAGS_ONLY,
        .memoryTypeBits = 1u << type,
    };
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .flags = flags,
        .pBufferInfo = &buffer,
        .pMemoryInfo = &how,
    };
    MaarReservation reservation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &reservation), VK_SUCCESS);
    return reservation;
}

/* ---- places ---- */

static void the_host_finds_every_byte(void** state)
{
    (void)state;
    uint32_t count = 0;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 64 * MIB, MAPPED);
    /* The second range is committed first, so that the two are not adjacent in memory. */
    assert_int_equal(fixture_commit(rig, it, 4 * PAGE, 4 * PAGE), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, it, 0, 4 * PAGE), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(list(it, 100, 8 * PAGE - 200, &count), VK_SUCCESS);
    assert_int_equal(count, 2);
    assert_int_equal(listed[0].offset, 100);
    assert_int_equal(listed[0].size, 4 * PAGE - 100);
    assert_int_equal(listed[1].offset, 4 * PAGE);
    assert_int_equal(listed[1].size, 4 * PAGE - 100);
    MaarPageRun runs[64];
    assert_int_equal(fixture_runs(rig, it, runs), 2);
    const char* first = listed[0].pData;
    const char* second = listed[1].pData;
    assert_int_equal((first - 100) - second,
                     (ptrdiff_t)runs[0].memoryOffset - (ptrdiff_t)runs[1].memoryOffset);
    memset(listed[0].pData, 1, (size_t)listed[0].size);
    memset(listed[1].pData, 2, (size_t)listed[1].size);
    /* Counted, and listed as far as there is room. */
    const MaarPageRange all = {0, 8 * PAGE};
    count = 0;
    assert_int_equal(maarGetHostPages(rig->allocator, it, &all, &count, NULL), VK_SUCCESS);
    assert_int_equal(count, 2);
    count = 1;
    assert_int_equal(maarGetHostPages(rig->allocator, it, &all, &count, listed), VK_INCOMPLETE);
    assert_int_equal(count, 1);
    assert_int_equal(list(it, 5, 0, &count), VK_SUCCESS);
    assert_int_equal(count, 0);
    /* The place stays while other pages come and go. */
    assert_int_equal(fixture_decommit(rig, it, 0, 4 * PAGE), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(list(it, 4 * PAGE, PAGE, &count), VK_SUCCESS);
    assert_ptr_equal(listed[0].pData, second);
    rig_check(rig);
    maarDestroyReservation(rig->allocator, it);
}

static void all_types_are_host_visible(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 64 * MIB, MAPPED);
    MaarReservation other = fixture_reserve(rig, 64 * MIB, 0);
    assert_int_equal(fixture_commit(rig, it, 0, PAGE), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, other, 0, PAGE), VK_SUCCESS);
    MaarPageRun runs[2][64];
    (void)fixture_runs(rig, it, runs[0]);
    (void)fixture_runs(rig, other, runs[1]);
    assert_true(runs[0][0].memory != runs[1][0].memory);
    assert_int_equal(rig_calls(rig, "vkMapMemory"), 1); /* the other block is not mapped */
    uint32_t count = 0;
    assert_int_equal(list(other, 0, PAGE, &count), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NOT_MAPPABLE, "reservation");
    maarDestroyReservation(rig->allocator, it);
    maarDestroyReservation(rig->allocator, other);
}

static void a_type_that_the_host_does_not_see_is_refused(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    const VkBufferCreateInfo buffer = fixture_buffer(64 * MIB);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.memoryTypeBits = 1; /* device-local alone */
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .flags = MAPPED,
        .pBufferInfo = &buffer,
        .pMemoryInfo = &how,
    };
    MaarReservation it = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &it),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_NO_MEMORY_TYPE);
    const MaarPoolPagingInfo paging = {.sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
                                       .stitch = VK_TRUE};
    const MaarPoolCreateInfo pool_info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO, .pNext = &paging, .memoryTypeIndex = 0};
    how.memoryTypeBits = 0;
    how.pool = rig_create_pool(rig, &pool_info);
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &it),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_POOL_MISMATCH, "HOST_VISIBLE");
}

static void ranges_are_checked(void** state)
{
    (void)state;
    uint32_t count = 0;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 64 * MIB, MAPPED);
    assert_int_equal(fixture_commit(rig, it, 0, 2 * PAGE), VK_SUCCESS);
    assert_int_equal(list(it, PAGE, PAGE + 1, &count), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "committed");
    assert_int_equal(count, 0);
    assert_int_equal(list(it, 0, 65 * MIB, &count), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "beyond");
    assert_int_equal(flush(it, PAGE, 2 * PAGE), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pRanges");
    assert_int_equal(invalidate(it, 65 * MIB, 1), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pRanges");
    assert_int_equal(maarFlushPages(rig->allocator, it, 1, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pRanges");
    const MaarPageRange range = {0, PAGE};
    assert_int_equal(maarGetHostPages(rig->allocator, it, NULL, &count, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pRange");
    assert_int_equal(maarGetHostPages(rig->allocator, it, &range, NULL, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pCount");
    assert_int_equal(flush(it, 0, PAGE), VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkFlushMappedMemoryRanges"), 0); /* coherent memory */
    maarDestroyReservation(rig->allocator, it);
}

static void shown_pages_are_mapped_on_both_sides_or_neither(void** state)
{
    (void)state;
    uint32_t count = 0;
    start_unified();
    MaarReservation mapped = reserve_in(1, MAPPED | MAAR_RESERVATION_CREATE_ALIASED_BIT);
    MaarReservation other = reserve_in(1, MAPPED | MAAR_RESERVATION_CREATE_ALIASED_BIT);
    MaarReservation plain = reserve_in(1, MAAR_RESERVATION_CREATE_ALIASED_BIT);
    assert_int_equal(fixture_commit(rig, mapped, 0, PAGE), VK_SUCCESS);
    assert_int_equal(maarAliasPages(rig->allocator, plain, 0, PAGE, mapped, 0),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_PAGES_NOT_SHAREABLE, "source");
    assert_int_equal(maarAliasPages(rig->allocator, other, PAGE, PAGE, mapped, 0), VK_SUCCESS);
    assert_int_equal(list(mapped, 10, 1, &count), VK_SUCCESS);
    const char* place = listed[0].pData;
    assert_int_equal(list(other, PAGE + 10, 1, &count), VK_SUCCESS);
    assert_ptr_equal(listed[0].pData, place);
    (void)fixture_submit(rig);
    maarDestroyReservation(rig->allocator, mapped);
    maarDestroyReservation(rig->allocator, other);
    maarDestroyReservation(rig->allocator, plain);
}

/* ---- coherence ---- */

static VkMappedMemoryRange synced[64];
static uint32_t synced_count;
static PFN_vkFlushMappedMemoryRanges real_flush;
static PFN_vkInvalidateMappedMemoryRanges real_invalidate;

static void note_synced(uint32_t count, const VkMappedMemoryRange* ranges)
{
    for (uint32_t i = 0; i < count; ++i) {
        synced[synced_count++] = ranges[i];
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL noting_flush(VkDevice device, uint32_t count,
                                                   const VkMappedMemoryRange* ranges)
{
    note_synced(count, ranges);
    return real_flush(device, count, ranges);
}

static VKAPI_ATTR VkResult VKAPI_CALL noting_invalidate(VkDevice device, uint32_t count,
                                                        const VkMappedMemoryRange* ranges)
{
    note_synced(count, ranges);
    return real_invalidate(device, count, ranges);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_noting(VkDevice device, const char* name)
{
    if (strcmp(name, "vkFlushMappedMemoryRanges") == 0) {
        return (PFN_vkVoidFunction)noting_flush;
    }
    if (strcmp(name, "vkInvalidateMappedMemoryRanges") == 0) {
        return (PFN_vkVoidFunction)noting_invalidate;
    }
    return vkGetDeviceProcAddr(device, name);
}

static void flushes_take_whole_atoms_of_every_run(void** state)
{
    (void)state;
    start_unified();
    real_flush = vkFlushMappedMemoryRanges;
    real_invalidate = vkInvalidateMappedMemoryRanges;
    maarDestroyAllocator(rig->allocator);
    rig->create_info.pfnGetDeviceProcAddr = find_noting;
    rig_make_allocator(rig);
    MaarReservation it = reserve_in(2, MAPPED);
    /* Forty runs of one page, each before the one that was taken last. */
    for (uint32_t i = 40; i-- > 0;) {
        assert_int_equal(fixture_commit(rig, it, i * PAGE, PAGE), VK_SUCCESS);
    }
    (void)fixture_submit(rig);
    MaarPageRun runs[64];
    assert_int_equal(fixture_runs(rig, it, runs), 40);
    for (uint32_t way = 0; way < 2; ++way) {
        synced_count = 0;
        assert_int_equal(way == 0 ? flush(it, 300, 40 * PAGE - 1000)
                                  : invalidate(it, 300, 40 * PAGE - 1000),
                         VK_SUCCESS);
        assert_int_equal(synced_count, 40);
        for (uint32_t i = 0; i < 40; ++i) {
            const VkDeviceSize begin = i == 0 ? 256 : 0; /* atoms of 256 */
            const VkDeviceSize end = i == 39 ? PAGE - 512 : PAGE;
            assert_true(synced[i].memory == runs[i].memory);
            assert_int_equal(synced[i].offset, runs[i].memoryOffset + begin);
            assert_int_equal(synced[i].size, end - begin);
        }
    }
    const MaarPageRange two[] = {{0, 1}, {3 * PAGE, 1}};
    synced_count = 0;
    assert_int_equal(maarFlushPages(rig->allocator, it, 2, two), VK_SUCCESS);
    assert_int_equal(synced_count, 2);
    maarDestroyReservation(rig->allocator, it);
}

static void answers_of_the_driver_are_returned(void** state)
{
    (void)state;
    start_unified();
    MaarReservation it = reserve_in(2, MAPPED);
    assert_int_equal(fixture_commit(rig, it, 0, PAGE), VK_SUCCESS);
    rig_set_fault(rig, "vkFlushMappedMemoryRanges", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(flush(it, 0, PAGE), VK_ERROR_OUT_OF_HOST_MEMORY);
    rig_set_fault(rig, "vkInvalidateMappedMemoryRanges", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(invalidate(it, 0, PAGE), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_clear_faults(rig);
    maarDestroyReservation(rig->allocator, it);
}

static void a_block_that_is_not_mapped_is_no_page_block(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 64 * MIB, MAPPED);
    rig_set_fault(rig, "vkMapMemory", 1, UINT64_MAX, VK_ERROR_MEMORY_MAP_FAILED);
    assert_int_equal(fixture_commit(rig, it, 0, PAGE), VK_ERROR_MEMORY_MAP_FAILED);
    rig_clear_faults(rig);
    rig_forget_messages(rig);
    assert_int_equal(fixture_statistics(rig).blockCount, 0);
    assert_int_equal(fixture_commit(rig, it, 0, PAGE), VK_SUCCESS);
    rig_check(rig);
    maarDestroyReservation(rig->allocator, it);
}

/* ---- growth by copies ---- */

static void the_buffer_that_grows_by_copies_is_mapped(void** state)
{
    (void)state;
    uint32_t count = 0;
    rig = fixture_begin(FIXTURE_NO_SPARSE, PAGE, NULL);
    MaarReservation it = fixture_reserve(rig, 64 * MIB, MAPPED);
    assert_int_equal(list(it, 0, 1, &count), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE);
    assert_int_equal(fixture_commit(rig, it, 0, MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(list(it, 10, MIB - 10, &count), VK_SUCCESS);
    assert_int_equal(count, 1);
    assert_int_equal(listed[0].size, MIB - 10);
    memset(listed[0].pData, 1, (size_t)listed[0].size);
    const void* before = listed[0].pData;
    assert_int_equal(fixture_commit(rig, it, 0, 8 * MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(list(it, 10, 4 * MIB, &count), VK_SUCCESS);
    assert_ptr_not_equal(listed[0].pData, before);
    assert_int_equal(flush(it, 0, MIB), VK_SUCCESS);
    assert_int_equal(invalidate(it, 0, MIB), VK_SUCCESS);
    rig_set_fault(rig, "vkMapMemory", 1, UINT64_MAX, VK_ERROR_MEMORY_MAP_FAILED);
    assert_int_equal(fixture_commit(rig, it, 0, 40 * MIB), VK_ERROR_MEMORY_MAP_FAILED);
    rig_clear_faults(rig);
    rig_forget_messages(rig);
    rig_check(rig);
    maarDestroyReservation(rig->allocator, it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(the_host_finds_every_byte),
        rig_unit_test(all_types_are_host_visible),
        rig_unit_test(a_type_that_the_host_does_not_see_is_refused),
        rig_unit_test(ranges_are_checked),
        rig_unit_test(shown_pages_are_mapped_on_both_sides_or_neither),
        rig_unit_test(flushes_take_whole_atoms_of_every_run),
        rig_unit_test(answers_of_the_driver_are_returned),
        rig_unit_test(a_block_that_is_not_mapped_is_no_page_block),
        rig_unit_test(the_buffer_that_grows_by_copies_is_mapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
