/*
 * Reservations with pages, on simulated devices whose pages have 16 and 64 KiB.
 */
#include "core/handle.h"
#include "tests/unit/reservation/reservation_fixture.h"

static struct rig* rig;

static const VkDeviceSize page_sizes[] = {16 << 10, 64 << 10};
enum { PAGE_SIZES = 2 };

static void reservation_is_one_buffer_for_life(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < PAGE_SIZES; ++i) {
        const VkDeviceSize page = page_sizes[i];
        rig = fixture_begin(FIXTURE_SPARSE, page, NULL);
        MaarReservation it = fixture_reserve(rig, 64 * MIB, 0);
        const MaarReservationInfo before = fixture_info(rig, it);
        assert_int_equal(before.sparse, VK_TRUE);
        assert_int_equal(before.pageSize, page);
        assert_int_equal(before.size, 64 * MIB);
        assert_int_equal(before.committedSize, 0);
        assert_int_not_equal(before.address, 0);
        assert_int_equal(fixture_statistics(rig).reservedBytes, 64 * MIB);
        assert_int_equal(fixture_statistics(rig).reservationCount, 1);
        for (VkDeviceSize size = page; size <= 64 * MIB; size *= 4) {
            assert_int_equal(fixture_commit(rig, it, 0, size), VK_SUCCESS);
            (void)fixture_submit(rig);
            const MaarReservationInfo now = fixture_info(rig, it);
            assert_true(now.buffer == before.buffer);
            assert_int_equal(now.address, before.address);
            assert_int_equal(now.moveCount, 0);
            assert_int_equal(now.committedSize, size);
        }
        rig_check(rig);
        maarDestroyReservation(rig->allocator, it);
        const MaarPagingStatistics after = fixture_statistics(rig);
        assert_int_equal(after.reservedBytes, 0);
        assert_int_equal(after.committedBytes, 0);
        assert_int_equal(after.reservationCount, 0);
        assert_int_equal(after.copiedBytes, 0);
        rig_expect_silence(rig);
        rig_close(rig);
    }
}

static void ranges_are_rounded_outward_and_inward(void** state)
{
    (void)state;
    const VkDeviceSize page = 64 * KIB;
    rig = fixture_begin(FIXTURE_SPARSE, page, NULL);
    MaarReservation it = fixture_reserve(rig, 10 * page, 0);
    assert_int_equal(fixture_commit(rig, it, page / 2, page), VK_SUCCESS); /* pages 0 and 1 */
    assert_int_equal(fixture_info(rig, it).committedSize, 2 * page);
    assert_int_equal(fixture_commit(rig, it, 3 * page, 1), VK_SUCCESS);
    assert_int_equal(fixture_info(rig, it).committedSize, 3 * page);
    assert_int_equal(fixture_commit(rig, it, 5 * page, 0), VK_SUCCESS); /* nothing */
    assert_int_equal(fixture_info(rig, it).committedSize, 3 * page);
    assert_int_equal(fixture_decommit(rig, it, 1, 2 * page), VK_SUCCESS); /* page 1 alone */
    assert_int_equal(fixture_info(rig, it).committedSize, 2 * page);
    assert_int_equal(fixture_decommit(rig, it, 3 * page + 1, page - 2), VK_SUCCESS); /* none */
    assert_int_equal(fixture_info(rig, it).committedSize, 2 * page);
    MaarPageRun runs[64];
    assert_int_equal(fixture_runs(rig, it, runs), 2);
    assert_int_equal(runs[0].offset, 0);
    assert_int_equal(runs[0].size, page);
    assert_int_equal(runs[1].offset, 3 * page);
    assert_true(runs[1].memory != VK_NULL_HANDLE);
    assert_int_equal(fixture_commit(rig, it, 9 * page, VK_WHOLE_SIZE), VK_SUCCESS);
    assert_int_equal(fixture_info(rig, it).committedSize, 3 * page);
    assert_int_equal(fixture_decommit(rig, it, 0, VK_WHOLE_SIZE), VK_SUCCESS);
    assert_int_equal(fixture_info(rig, it).committedSize, 0);
    (void)fixture_submit(rig);
    rig_check(rig);
    maarDestroyReservation(rig->allocator, it);
    rig_close(rig);
}

static void last_page_may_be_cut(void** state)
{
    (void)state;
    const VkDeviceSize page = 64 * KIB;
    rig = fixture_begin(FIXTURE_SPARSE, page, NULL);
    const VkDeviceSize size = 3 * page + 1000;
    MaarReservation it = fixture_reserve(rig, size, 0);
    assert_int_equal(fixture_statistics(rig).reservedBytes, 4 * page); /* as the driver counts */
    assert_int_equal(fixture_commit(rig, it, size - 1, 1), VK_SUCCESS);
    assert_int_equal(fixture_info(rig, it).committedSize, page);
    (void)fixture_submit(rig);
    assert_int_equal(fixture_decommit(rig, it, 3 * page, 1000), VK_SUCCESS);
    assert_int_equal(fixture_info(rig, it).committedSize, 0);
    assert_int_equal(fixture_commit(rig, it, 0, VK_WHOLE_SIZE), VK_SUCCESS);
    assert_int_equal(fixture_info(rig, it).committedSize, 4 * page);
    (void)fixture_submit(rig);
    rig_check(rig);
    maarDestroyReservation(rig->allocator, it);
    rig_close(rig);
}

enum { SCATTERED = 1000 };

static void thousand_scattered_pages_are_one_submission(void** state)
{
    (void)state;
    static MaarPageRange ranges[SCATTERED];
    for (uint32_t i = 0; i < PAGE_SIZES; ++i) {
        const VkDeviceSize page = page_sizes[i];
        rig = fixture_begin(FIXTURE_SPARSE, page, NULL);
        MaarReservation it = fixture_reserve(rig, (VkDeviceSize)4 * SCATTERED * page, 0);
        for (uint32_t at = 0; at < SCATTERED; ++at) {
            ranges[at] = (MaarPageRange){4 * (VkDeviceSize)(SCATTERED - 1 - at) * page, page};
        }
        assert_int_equal(maarCommitPages(rig->allocator, it, SCATTERED, ranges), VK_SUCCESS);
        assert_int_equal(fixture_statistics(rig).recordedPages, SCATTERED);
        const MaarPoint point = fixture_submit(rig);
        assert_true(point.semaphore != VK_NULL_HANDLE && point.value > 0);
        const MaarPagingStatistics after = fixture_statistics(rig);
        assert_int_equal(after.submissionCount, 1);
        assert_int_equal(after.pagesBound, SCATTERED);
        assert_int_equal(after.recordedPages, 0);
        assert_int_equal(rig_calls(rig, "vkQueueBindSparse"), 1);
        /* Without a record nothing is submitted, and the point stays the same. */
        assert_int_equal(fixture_submit(rig).value, point.value);
        assert_int_equal(rig_calls(rig, "vkQueueBindSparse"), 1);
        assert_int_equal(maarDecommitPages(rig->allocator, it, SCATTERED, ranges), VK_SUCCESS);
        assert_int_equal(fixture_info(rig, it).committedSize, 0);
        (void)fixture_submit(rig);
        assert_int_equal(fixture_statistics(rig).pagesUnbound, SCATTERED);
        maarDestroyReservation(rig->allocator, it);
        rig_close(rig);
    }
}

static void what_is_recorded_goes_with_the_reservation(void** state)
{
    (void)state;
    const MaarPoint late = {.value = 5};
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    MaarReservation it = fixture_reserve(rig, 16 * MIB, 0);
    assert_int_equal(fixture_commit(rig, it, 0, MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(fixture_commit(rig, it, MIB, MIB), VK_SUCCESS);
    assert_int_equal(fixture_decommit(rig, it, 0, MIB), VK_SUCCESS);
    assert_int_equal(fixture_statistics(rig).recordedPages, 32);
    assert_int_equal(maarDestroyReservationAfter(rig->allocator, it, 1, &late), VK_SUCCESS);
    assert_int_equal(fixture_statistics(rig).recordedPages, 0);
    rig_check(rig);
    (void)fixture_submit(rig);
    assert_int_equal(fixture_statistics(rig).submissionCount, 1);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 5), VK_SUCCESS);
    rig_close(rig);
}

/* ---- misuse ---- */

static void commit_of_far_too_much_keeps_no_host_memory(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    rig = fixture_begin(FIXTURE_SPARSE, 4 * KIB, &setup);
    MaarReservation it = fixture_reserve(rig, 64 * GIB, 0);
    assert_int_equal(fixture_commit(rig, it, 0, MIB), VK_SUCCESS);
    const uint64_t before = rig->host.live_bytes;
    VkDeviceSize all = 0;
    for (uint32_t i = 0; i < rig_profile_discrete()->heapCount; ++i) {
        all += rig_profile_discrete()->heaps[i].size;
    }
    assert_int_equal(fixture_commit(rig, it, 0, VK_WHOLE_SIZE), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_true(rig->host.live_bytes < before + MIB);
    /* The heaps could hold this much, were nothing else in them. */
    assert_int_equal(fixture_commit(rig, it, GIB, all), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_true(rig->host.live_bytes < before + MIB);
    assert_int_equal(fixture_commit(rig, it, GIB, MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    rig_check(rig);
    rig_forget_messages(rig);
    maarDestroyReservation(rig->allocator, it);
    rig_close(rig);
}

static void range_beyond_the_end_changes_nothing(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    MaarReservation it = fixture_reserve(rig, MIB, 0);
    const MaarPageRange ranges[] = {{0, 64 * KIB}, {MIB - 64 * KIB, 64 * KIB + 1}};
    const VkResult wrong = VK_ERROR_VALIDATION_FAILED_EXT;
    assert_int_equal(maarCommitPages(rig->allocator, it, 2, ranges), wrong);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pRanges[1]");
    assert_int_equal(maarDecommitPages(rig->allocator, it, 2, ranges), wrong);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pRanges[1]");
    assert_int_equal(fixture_commit(rig, it, MIB + 1, VK_WHOLE_SIZE), wrong);
    rig_expect_message(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE);
    assert_int_equal(fixture_commit(rig, it, 1, UINT64_MAX - 1), wrong);
    rig_expect_message(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE);
    assert_int_equal(maarCommitPages(rig->allocator, it, 1, NULL), wrong);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pRanges");
    assert_int_equal(fixture_commit(rig, it, MIB, VK_WHOLE_SIZE), VK_SUCCESS);
    assert_int_equal(fixture_info(rig, it).committedSize, 0);
    assert_int_equal(fixture_statistics(rig).recordedPages, 0);
    maarDestroyReservation(rig->allocator, it);
    rig_close(rig);
}

static void expect_rejection(const MaarReservationCreateInfo* info, MaarMessageId id,
                             const char* culprit)
{
    MaarReservation none = MAAR_FROM_BITS(MaarReservation, (uintptr_t)rig);
    assert_int_equal(maarCreateReservation(rig->allocator, info, &none),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(none == VK_NULL_HANDLE);
    rig_expect_message_naming(rig, id, culprit);
}

static void misuse_is_reported(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, &(struct rig_setup){.off = RIG_OFF_ADDRESS});
    VkBufferCreateInfo buffer = rig_buffer_info(MIB);
    MaarAllocationCreateInfo memory = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pBufferInfo = &buffer,
        .pMemoryInfo = &memory,
    };
    VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    buffer.pNext = &external;
    expect_rejection(&info, MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED, NULL);
    buffer.pNext = NULL;
    memory.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    expect_rejection(&info, MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED, NULL);
    memory.flags = 0;
    info.flags = 0x100;
    expect_rejection(&info, MAAR_MESSAGE_ID_UNKNOWN_FLAGS, NULL);
    info.flags = MAAR_RESERVATION_CREATE_COPYING_BIT | MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT;
    expect_rejection(&info, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, NULL);
    info.flags = 0;
    buffer.size = 0;
    expect_rejection(&info, MAAR_MESSAGE_ID_ZERO_SIZE, "size");
    buffer.size = MIB;
    buffer.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    expect_rejection(&info, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, "bufferDeviceAddress");
    buffer.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    buffer.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    expect_rejection(&info, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pBufferInfo");
    buffer.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.pBufferInfo = NULL;
    expect_rejection(&info, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pBufferInfo");
    expect_rejection(NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pCreateInfo");
    assert_int_equal(fixture_statistics(rig).reservedBytes, 0);
    rig_close(rig);
}

static void scarce_address_space_is_reported(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    MaarReservation first = fixture_reserve(rig, ADDRESS_SPACE / 4 * 3, 0);
    MaarReservation second = VK_NULL_HANDLE;
    assert_int_equal(fixture_try(rig, ADDRESS_SPACE / 2, 0, &second),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_ADDRESS_SPACE_EXHAUSTED,
                              "sparseAddressSpaceSize");
    maarDestroyReservation(rig->allocator, first);
    second = fixture_reserve(rig, ADDRESS_SPACE / 2, 0);
    maarDestroyReservation(rig->allocator, second);
    assert_int_equal(fixture_try(rig, (VkDeviceSize)1 << 60, 0, &second),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_BUFFER_TOO_LARGE, "maxBufferSize");
    rig_close(rig);
}

static void device_that_lacks_something_is_reported(void** state)
{
    (void)state;
    MaarReservation none = VK_NULL_HANDLE;
    rig = fixture_begin(FIXTURE_NO_RESIDENCY, 64 * KIB, NULL);
    assert_int_equal(fixture_try(rig, MIB, MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT, &none),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, "sparseResidencyBuffer");
    assert_int_equal(fixture_try(rig, MIB, MAAR_RESERVATION_CREATE_ALIASED_BIT, &none),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_close(rig);
    rig = fixture_begin(FIXTURE_NO_SPARSE, 64 * KIB, NULL);
    assert_int_equal(fixture_try(rig, MIB, MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT, &none),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_close(rig);
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, &(struct rig_setup){.off = RIG_OFF_TIMELINE});
    assert_int_equal(fixture_try(rig, MIB, 0, &none), VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, "pEnabledFeatures");
    rig_close(rig);
    const struct rig_setup queueless = {.profile = rig_profile_discrete()};
    rig = rig_begin(&queueless);
    assert_int_equal(fixture_try(rig, MIB, 0, &none), VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NO_QUEUE, "queue");
    rig_close(rig);
}

/* A program that gives Maar its main queue alone, on a card whose pages another family binds. */
static void forgotten_queue_that_binds_is_reported(void** state)
{
    (void)state;
    MaarSimulatedProfile profile = *rig_profile_sparse();
    profile.queueFamilyCount = 2;
    profile.queueFamilies[0] = (MaarSimulatedQueueFamily){
        .count = 1, .flags = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT};
    profile.queueFamilies[1] =
        (MaarSimulatedQueueFamily){.count = 1, .flags = VK_QUEUE_SPARSE_BINDING_BIT};
    const struct rig_setup setup = {.profile = &profile, .paging = true};
    rig = rig_new();
    rig_open(rig, &setup);
    const MaarQueue main_queue = {.familyIndex = 0, .queue = rig->queue};
    rig->create_info.queueCount = 1;
    rig->create_info.pQueues = &main_queue;
    rig_make_allocator(rig);
    MaarReservation copying = fixture_reserve(rig, MIB, MAAR_RESERVATION_CREATE_COPYING_BIT);
    rig_expect_silence(rig);
    MaarReservation surprised = fixture_reserve(rig, MIB, 0);
    assert_int_equal(fixture_info(rig, surprised).sparse, VK_FALSE);
    assert_int_equal(rig->messages.counts[MAAR_MESSAGE_SEVERITY_INFO], 1);
    assert_int_equal(rig_message_number(rig, 0), 1); /* the family */
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FEATURE_UNUSED, "maarCreateReservation");
    maarDestroyReservation(rig->allocator, copying);
    maarDestroyReservation(rig->allocator, surprised);
    rig_close(rig);
}

/* ---- sharing ---- */

static void aliased_ranges_share_pages(void** state)
{
    (void)state;
    const VkDeviceSize page = 64 * KIB;
    const MaarReservationCreateFlags aliased = MAAR_RESERVATION_CREATE_ALIASED_BIT;
    rig = fixture_begin(FIXTURE_SPARSE, page, NULL);
    MaarReservation first = fixture_reserve(rig, 8 * page, aliased);
    MaarReservation second = fixture_reserve(rig, 8 * page, aliased);
    assert_int_equal(fixture_commit(rig, first, 0, 4 * page), VK_SUCCESS);
    assert_int_equal(maarAliasPages(rig->allocator, second, 2 * page, 3 * page, first, page),
                     VK_SUCCESS);
    /* The first one also shows its beginning a second time. */
    assert_int_equal(maarAliasPages(rig->allocator, first, 4 * page, 2 * page, first, 0),
                     VK_SUCCESS);
    (void)fixture_submit(rig);
    MaarPageRun one[64];
    MaarPageRun other[64];
    assert_int_equal(fixture_runs(rig, second, other), 1);
    (void)fixture_runs(rig, first, one);
    assert_int_equal(other[0].offset, 2 * page);
    assert_int_equal(other[0].size, 3 * page);
    assert_true(other[0].memory == one[0].memory);
    assert_int_equal(other[0].memoryOffset, one[0].memoryOffset + page);
    assert_int_equal(fixture_info(rig, first).committedSize, 6 * page);
    assert_int_equal(fixture_statistics(rig).committedBytes, 4 * page); /* shared ones count once */
    rig_check(rig);
    /* The pages live on in the second one. */
    maarDestroyReservation(rig->allocator, first);
    assert_int_equal(fixture_statistics(rig).committedBytes, 3 * page);
    rig_check(rig);
    assert_int_equal(fixture_decommit(rig, second, 0, VK_WHOLE_SIZE), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(fixture_statistics(rig).committedBytes, 0);
    maarDestroyReservation(rig->allocator, second);
    rig_close(rig);
}

static void expect_no_alias(MaarReservation to, VkDeviceSize offset, VkDeviceSize size,
                            MaarReservation from, VkDeviceSize source, MaarMessageId id,
                            const char* culprit)
{
    assert_int_equal(maarAliasPages(rig->allocator, to, offset, size, from, source),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, id, culprit);
}

static void aliasing_that_cannot_be_is_refused(void** state)
{
    (void)state;
    const VkDeviceSize page = 64 * KIB;
    const MaarReservationCreateFlags aliased = MAAR_RESERVATION_CREATE_ALIASED_BIT;
    rig = fixture_begin(FIXTURE_SPARSE, page, NULL);
    MaarReservation plain = fixture_reserve(rig, 8 * page, 0);
    MaarReservation first = fixture_reserve(rig, 8 * page, aliased);
    MaarReservation second = fixture_reserve(rig, 8 * page, aliased);
    MaarReservation copying = fixture_reserve(rig, MIB, MAAR_RESERVATION_CREATE_COPYING_BIT);
    assert_int_equal(fixture_commit(rig, first, 0, 4 * page), VK_SUCCESS);
    expect_no_alias(plain, 0, page, first, 0, MAAR_MESSAGE_ID_PAGES_NOT_SHAREABLE,
                    "MAAR_RESERVATION_CREATE_ALIASED_BIT");
    expect_no_alias(second, 0, page, VK_NULL_HANDLE, 0, MAAR_MESSAGE_ID_NULL_HANDLE, "source");
    expect_no_alias(second, 1, page, first, 0, MAAR_MESSAGE_ID_INVALID_ALIGNMENT, NULL);
    expect_no_alias(second, 0, page / 2, first, 0, MAAR_MESSAGE_ID_INVALID_ALIGNMENT, NULL);
    expect_no_alias(second, 0, page, first, 100, MAAR_MESSAGE_ID_INVALID_ALIGNMENT, "sourceOffset");
    expect_no_alias(second, 7 * page, 2 * page, first, 0, MAAR_MESSAGE_ID_OUT_OF_RANGE, NULL);
    expect_no_alias(second, 0, 4 * page, first, 6 * page, MAAR_MESSAGE_ID_OUT_OF_RANGE, NULL);
    expect_no_alias(second, 0, 4 * page, first, page, MAAR_MESSAGE_ID_PAGES_NOT_SHAREABLE, NULL);
    expect_no_alias(first, page, page, first, 0, MAAR_MESSAGE_ID_PAGES_NOT_SHAREABLE, NULL);
    assert_int_equal(maarAliasPages(rig->allocator, copying, 0, page, first, 0),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    /* A page that was given back belongs to the target until the submission. */
    assert_int_equal(fixture_commit(rig, second, 0, page), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(fixture_decommit(rig, second, 0, page), VK_SUCCESS);
    assert_int_equal(maarAliasPages(rig->allocator, second, 0, page, first, 0),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    (void)fixture_submit(rig);
    assert_int_equal(maarAliasPages(rig->allocator, second, 0, page, first, 0), VK_SUCCESS);
    assert_int_equal(maarAliasPages(rig->allocator, second, 0, 0, first, 0), VK_SUCCESS);
    (void)fixture_submit(rig);
    rig_check(rig);
    maarDestroyReservation(rig->allocator, plain);
    maarDestroyReservation(rig->allocator, first);
    maarDestroyReservation(rig->allocator, second);
    maarDestroyReservation(rig->allocator, copying);
    rig_close(rig);
}

/* ---- the end ---- */

static void destruction_waits_for_its_points(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    VkSemaphore timeline = rig_create_timeline(rig, 0);
    MaarReservation it = fixture_reserve(rig, MIB, 0);
    assert_int_equal(fixture_commit(rig, it, 0, MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    const MaarPoint points[MAAR_MAX_POINTS + 1] = {{timeline, 7}};
    assert_int_equal(maarDestroyReservationAfter(rig->allocator, it, MAAR_MAX_POINTS + 1, points),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(maarDestroyReservationAfter(rig->allocator, it, MAAR_MAX_POINTS, points),
                     VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(fixture_statistics(rig).reservedBytes, MIB);
    assert_int_equal(fixture_statistics(rig).committedBytes, MIB);
    rig_signal(rig, timeline, 7);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(fixture_statistics(rig).reservedBytes, 0);
    assert_int_equal(fixture_statistics(rig).committedBytes, 0);
    assert_int_equal(maarDestroyReservationAfter(rig->allocator, VK_NULL_HANDLE, 0, NULL),
                     VK_SUCCESS);
    maarDestroyReservation(rig->allocator, VK_NULL_HANDLE);
    vkDestroySemaphore(rig->device, timeline, NULL);
    rig_close(rig);
}

/* The driver executes binds late, and reports when something is destroyed that they still name. */
static void destruction_waits_for_its_last_binds(void** state)
{
    (void)state;
    const struct rig_setup held = {.flags = MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT};
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, &held);
    struct rig_random random = {.state = rig_seed(12)};
    for (uint32_t round = 0; round < 60; ++round) {
        MaarReservation it = fixture_reserve(rig, 64 * MIB, 0);
        for (uint32_t step = rig_below(&random, 4); step > 0; --step) {
            const VkDeviceSize offset = rig_below(&random, 60) * MIB;
            assert_int_equal(fixture_commit(rig, it, offset, 2 * MIB), VK_SUCCESS);
            assert_int_equal(fixture_decommit(rig, it, offset + MIB / 2, MIB), VK_SUCCESS);
            if (rig_below(&random, 3) > 0) {
                (void)fixture_submit(rig);
            }
        }
        maarDestroyReservation(rig->allocator, it);
        (void)maarSimulatedExecuteSubmissions(rig->physical, rig_below(&random, 4));
        rig_check(rig);
    }
    (void)maarSimulatedExecuteSubmissions(rig->physical, UINT32_MAX);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(fixture_statistics(rig).committedBytes, 0);
    assert_int_equal(fixture_statistics(rig).reservedBytes, 0);
    rig_close(rig);
}

static void destroying_twice_is_reported(void** state)
{
    (void)state;
    static const MaarReservationCreateFlags ways[] = {0, MAAR_RESERVATION_CREATE_COPYING_BIT};
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    for (uint32_t i = 0; i < 2; ++i) {
        MaarReservation other = fixture_reserve(rig, MIB, 0);
        MaarReservation it = fixture_reserve(rig, MIB, ways[i]);
        assert_int_equal(fixture_commit(rig, it, 0, MIB), VK_SUCCESS);
        (void)fixture_submit(rig);
        maarDestroyReservation(rig->allocator, it);
        rig_expect_silence(rig);
        maarDestroyReservation(rig->allocator, it);
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, "reservation");
        const VkResult wrong = VK_ERROR_VALIDATION_FAILED_EXT;
        assert_int_equal(maarDestroyReservationAfter(rig->allocator, it, 0, NULL), wrong);
        rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
        assert_int_equal(fixture_commit(rig, it, 0, MIB), wrong);
        assert_int_equal(fixture_decommit(rig, it, 0, MIB), wrong);
        assert_int_equal(maarAliasPages(rig->allocator, other, 0, 0, it, 0), wrong);
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, "source");
        assert_int_equal(rig->messages.last_id, MAAR_MESSAGE_ID_STALE_HANDLE);
        assert_int_equal(fixture_statistics(rig).reservationCount, 1);
        maarDestroyReservation(rig->allocator, other);
        rig_expect_silence(rig);
    }
    rig_check(rig);
    rig_close(rig);
}

/* Each is found among many, in any order of destruction. */
static void many_reservations_are_distinguished(void** state)
{
    (void)state;
    enum { MANY = 1000 };
    static MaarReservation its[MANY];
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    for (uint32_t i = 0; i < MANY; ++i) {
        its[i] = fixture_reserve(rig, 64 * KIB, 0);
    }
    for (uint32_t i = 0; i < MANY; ++i) {
        maarDestroyReservation(rig->allocator, its[i * 7 % MANY]);
        rig_expect_silence(rig);
        assert_int_equal(maarDestroyReservationAfter(rig->allocator, its[i * 7 % MANY], 0, NULL),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    }
    assert_int_equal(fixture_statistics(rig).reservationCount, 0);
    rig_close(rig);
}

static void what_was_recorded_goes_with_it(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    MaarReservation it = fixture_reserve(rig, MIB, 0);
    assert_int_equal(fixture_commit(rig, it, 0, MIB), VK_SUCCESS);
    maarDestroyReservation(rig->allocator, it);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_PAGES_NOT_SUBMITTED, "16");
    assert_int_equal(fixture_statistics(rig).recordedPages, 0);
    (void)fixture_submit(rig);
    assert_int_equal(rig_calls(rig, "vkQueueBindSparse"), 0);
    assert_int_equal(fixture_statistics(rig).committedBytes, 0);
    it = fixture_reserve(rig, MIB, 0); /* nothing was recorded, or not any more */
    maarDestroyReservation(rig->allocator, it);
    it = fixture_reserve(rig, MIB, 0);
    assert_int_equal(fixture_commit(rig, it, 0, MIB), VK_SUCCESS);
    assert_int_equal(fixture_decommit(rig, it, 0, MIB), VK_SUCCESS);
    maarDestroyReservation(rig->allocator, it);
    rig_expect_silence(rig);
    rig_close(rig);
}

static void leaks_are_named_and_undone(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, &(struct rig_setup){.count_host = true});
    const VkBufferCreateInfo buffer = fixture_buffer(MIB);
    MaarAllocationCreateInfo memory = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    memory.pName = "particles";
    memory.pUserData = rig;
    MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pBufferInfo = &buffer,
        .pMemoryInfo = &memory,
    };
    MaarReservation it = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &it), VK_SUCCESS);
    assert_string_equal(fixture_info(rig, it).pName, "particles");
    assert_ptr_equal(fixture_info(rig, it).pUserData, rig);
    assert_int_equal(fixture_commit(rig, it, 0, MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(fixture_commit(rig, it, 0, MIB), VK_SUCCESS);
    assert_int_equal(fixture_decommit(rig, it, 0, 64 * KIB), VK_SUCCESS); /* recorded, no more */
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_LEAK, "\"particles\"");
    rig_close(rig);
}

static void pending_pages_at_the_end_are_named(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    const MaarPoint late = {VK_NULL_HANDLE, 5};
    const VkBufferCreateInfo buffer = fixture_buffer(MIB);
    MaarAllocationCreateInfo memory = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    memory.pName = "clouds";
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pBufferInfo = &buffer,
        .pMemoryInfo = &memory,
    };
    MaarReservation it = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &it), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, it, 0, MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(maarDestroyReservationAfter(rig->allocator, it, 1, &late), VK_SUCCESS);
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    assert_true(rig_message_names(rig, "reservation") && rig_message_names(rig, "pages"));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_PENDING_AT_DESTROY, "\"clouds\"");
    rig_close(rig);
}

/* ---- many of them ---- */

enum { MODEL_COUNT = 3, MODEL_PAGES = 700, MODEL_STEPS = 3000 };

static uint32_t count_committed(const bool* pages)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < MODEL_PAGES; ++i) {
        count += pages[i] ? 1 : 0;
    }
    return count;
}

static void change_range(MaarReservation it, VkDeviceSize page, struct rig_random* random,
                         bool* pages)
{
    const uint32_t first = rig_below(random, MODEL_PAGES);
    const uint32_t count = rig_below(random, MODEL_PAGES - first < 40 ? MODEL_PAGES - first : 40);
    const bool commit = rig_below(random, 100) < 55;
    const VkDeviceSize offset = first * page;
    assert_int_equal(commit ? fixture_commit(rig, it, offset, count * page)
                            : fixture_decommit(rig, it, offset, count * page),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < count; ++i) {
        pages[first + i] = commit;
    }
}

static void compare_runs(MaarReservation it, VkDeviceSize page, const bool* pages)
{
    static MaarPageRun runs[MODEL_PAGES];
    bool listed[MODEL_PAGES] = {false};
    uint32_t count = MODEL_PAGES;
    assert_int_equal(maarEnumerateReservationPages(rig->allocator, it, &count, runs), VK_SUCCESS);
    for (uint32_t i = 0; i < count; ++i) {
        for (VkDeviceSize at = 0; at < runs[i].size; at += page) {
            listed[(runs[i].offset + at) / page] = true;
        }
    }
    assert_memory_equal(listed, pages, sizeof listed);
    uint32_t few = 1;
    uint32_t all = 0;
    assert_int_equal(maarEnumerateReservationPages(rig->allocator, it, &all, NULL), VK_SUCCESS);
    assert_int_equal(all, count);
    assert_int_equal(maarEnumerateReservationPages(rig->allocator, it, &few, runs),
                     count > 1 ? VK_INCOMPLETE : VK_SUCCESS);
    assert_int_equal(few, count < 1 ? count : 1);
}

static void random_ranges_match_a_model(void** state)
{
    (void)state;
    static bool pages[MODEL_COUNT][MODEL_PAGES];
    struct rig_random random = {.state = rig_seed(11)};
    for (uint32_t way = 0; way < PAGE_SIZES; ++way) {
        const VkDeviceSize page = page_sizes[way];
        MaarReservation its[MODEL_COUNT];
        memset(pages, 0, sizeof pages);
        rig = fixture_begin(FIXTURE_SPARSE, page, NULL);
        for (uint32_t i = 0; i < MODEL_COUNT; ++i) {
            its[i] = fixture_reserve(rig, MODEL_PAGES * page, 0);
        }
        for (uint32_t step = 0; step < MODEL_STEPS; ++step) {
            const uint32_t i = rig_below(&random, MODEL_COUNT);
            change_range(its[i], page, &random, pages[i]);
            if (rig_below(&random, 10) == 0) {
                (void)fixture_submit(rig);
            }
            if (step % 100 == 0) {
                rig_check(rig);
                compare_runs(its[i], page, pages[i]);
            }
            assert_int_equal(fixture_info(rig, its[i]).committedSize,
                             count_committed(pages[i]) * page);
        }
        (void)fixture_submit(rig);
        rig_check(rig);
        for (uint32_t i = 0; i < MODEL_COUNT; ++i) {
            compare_runs(its[i], page, pages[i]);
            maarDestroyReservation(rig->allocator, its[i]);
        }
        assert_int_equal(fixture_statistics(rig).committedBytes, 0);
        rig_close(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(reservation_is_one_buffer_for_life),
        rig_unit_test(ranges_are_rounded_outward_and_inward),
        rig_unit_test(last_page_may_be_cut),
        rig_unit_test(thousand_scattered_pages_are_one_submission),
        rig_unit_test(what_is_recorded_goes_with_the_reservation),
        rig_unit_test(commit_of_far_too_much_keeps_no_host_memory),
        rig_unit_test(range_beyond_the_end_changes_nothing),
        rig_unit_test(misuse_is_reported),
        rig_unit_test(scarce_address_space_is_reported),
        rig_unit_test(device_that_lacks_something_is_reported),
        rig_unit_test(forgotten_queue_that_binds_is_reported),
        rig_unit_test(aliased_ranges_share_pages),
        rig_unit_test(aliasing_that_cannot_be_is_refused),
        rig_unit_test(destruction_waits_for_its_points),
        rig_unit_test(destruction_waits_for_its_last_binds),
        rig_unit_test(destroying_twice_is_reported),
        rig_unit_test(many_reservations_are_distinguished),
        rig_unit_test(what_was_recorded_goes_with_it),
        rig_unit_test(leaks_are_named_and_undone),
        rig_unit_test(pending_pages_at_the_end_are_named),
        rig_unit_test(random_ranges_match_a_model),
    };
    return cmocka_run_group_tests_name("reservations", tests, NULL, NULL);
}
