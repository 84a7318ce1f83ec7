/*
 * Which memory the pages of reservations come from, who binds them, how often they are shared, and
 * what holds when a submission fails or the device is lost.
 */
#include "tests/unit/reservation/reservation_fixture.h"

static struct rig* rig;

/* When the preferred type is full, pages come from another type, unless that was forbidden. */
static void pages_of_another_type_unless_forbidden(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    const VkBufferCreateInfo buffer = fixture_buffer(MIB);
    for (uint32_t i = 0; i < 2; ++i) {
        MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
        how.flags = i == 0 ? (VkFlags)MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT : 0;
        const MaarReservationCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
            .pBufferInfo = &buffer,
            .pMemoryInfo = &how,
        };
        MaarReservation it = VK_NULL_HANDLE;
        assert_int_equal(maarCreateReservation(rig->allocator, &info, &it), VK_SUCCESS);
        /* Other allocations take all of the heap. */
        assert_int_equal(maarSimulatedSetHeapBudget(rig->physical, 0, GIB, 8 * GIB), VK_SUCCESS);
        assert_int_equal(fixture_commit(rig, it, 0, MIB),
                         i == 0 ? VK_ERROR_OUT_OF_DEVICE_MEMORY : VK_SUCCESS);
        assert_int_equal(fixture_info(rig, it).committedSize, i == 0 ? 0 : MIB);
        rig_forget_messages(rig);
        (void)fixture_submit(rig);
        maarDestroyReservation(rig->allocator, it);
    }
    rig_close(rig);
}

/* Page blocks stay within the budget too if the caller says so. */
static void pages_within_a_budget(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    const VkBufferCreateInfo buffer = fixture_buffer(MIB);
    for (uint32_t i = 0; i < 2; ++i) {
        MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
        how.flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
        how.flags |= i == 0 ? (VkFlags)MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT : 0;
        const MaarReservationCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
            .pBufferInfo = &buffer,
            .pMemoryInfo = &how,
        };
        MaarReservation it = VK_NULL_HANDLE;
        assert_int_equal(maarCreateReservation(rig->allocator, &info, &it), VK_SUCCESS);
        assert_int_equal(maarSimulatedSetHeapBudget(rig->physical, 0, 64 * KIB, 0), VK_SUCCESS);
        const VkResult result = fixture_commit(rig, it, 0, MIB);
        assert_true((result == VK_SUCCESS) == (i == 1));
        assert_int_equal(fixture_info(rig, it).committedSize, i == 0 ? 0 : MIB);
        rig_forget_messages(rig);
        (void)fixture_submit(rig);
        maarDestroyReservation(rig->allocator, it);
    }
    rig_close(rig);
}

static void VKAPI_PTR no_lock(void* data, VkQueue queue)
{
    (void)data;
    (void)queue;
}

/* A queue that the program uses too is the second choice. */
static void queue_of_its_own_is_preferred(void** state)
{
    (void)state;
    for (uint32_t shared = 0; shared < 2; ++shared) {
        const struct rig_setup setup = {.profile = rig_profile_sparse(), .paging = true};
        rig = rig_new();
        rig_open(rig, &setup);
        MaarQueue queues[2] = {rig->paging_queues[0], rig->paging_queues[0]};
        queues[shared].pfnLock = no_lock;
        queues[shared].pfnUnlock = no_lock;
        rig->create_info.queueCount = 2;
        rig->create_info.pQueues = queues;
        rig_make_allocator(rig);
        MaarPagingInfo info = {.sType = MAAR_STRUCTURE_TYPE_PAGING_INFO};
        assert_int_equal(maarGetPagingInfo(rig->allocator, &info), VK_SUCCESS);
        assert_int_equal(info.queueIndex, 1 - shared);
        rig_close(rig);
    }
}

/* A page has at most 65,535 references. */
static void a_page_is_shared_so_often_and_no_more(void** state)
{
    (void)state;
    const VkDeviceSize page = 64 * KIB;
    const MaarReservationCreateFlags shared = MAAR_RESERVATION_CREATE_ALIASED_BIT;
    rig = fixture_begin(FIXTURE_SPARSE, page, NULL);
    MaarReservation from = fixture_reserve(rig, page, shared);
    MaarReservation to = fixture_reserve(rig, (UINT16_MAX + 1) * page, shared);
    assert_int_equal(fixture_commit(rig, from, 0, page), VK_SUCCESS);
    VkDeviceSize offset = 0;
    for (uint32_t i = 1; i < UINT16_MAX; ++i, offset += page) {
        assert_int_equal(maarAliasPages(rig->allocator, to, offset, page, from, 0), VK_SUCCESS);
    }
    assert_int_equal(maarAliasPages(rig->allocator, to, offset, page, from, 0),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_PAGES_NOT_SHAREABLE, "65,535");
    assert_int_equal(fixture_info(rig, to).committedSize, offset);
    assert_int_equal(fixture_statistics(rig).committedBytes, page);
    assert_int_equal(fixture_decommit(rig, to, 0, page), VK_SUCCESS);
    assert_int_equal(maarAliasPages(rig->allocator, to, offset, page, from, 0), VK_SUCCESS);
    /* Nothing is left to submit: the driver would take long. */
    assert_int_equal(fixture_decommit(rig, to, 0, VK_WHOLE_SIZE), VK_SUCCESS);
    (void)fixture_submit(rig);
    maarDestroyReservation(rig->allocator, to);
    maarDestroyReservation(rig->allocator, from);
    rig_close(rig);
}

/* A page that two ranges share, and that both have given back, is nobody's page twice. */
static void given_back_aliases_are_not_committed_together(void** state)
{
    (void)state;
    const VkDeviceSize page = 64 * KIB;
    rig = fixture_begin(FIXTURE_SPARSE, page, NULL);
    MaarReservation it = fixture_reserve(rig, 8 * page, MAAR_RESERVATION_CREATE_ALIASED_BIT);
    assert_int_equal(fixture_commit(rig, it, 0, page), VK_SUCCESS);
    assert_int_equal(maarAliasPages(rig->allocator, it, 4 * page, page, it, 0), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(fixture_decommit(rig, it, 0, VK_WHOLE_SIZE), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, it, 0, 8 * page), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_PAGES_NOT_SUBMITTED);
    assert_int_equal(fixture_statistics(rig).committedBytes, 0);
    rig_check(rig);
    /* One of them may come back by itself. */
    assert_int_equal(fixture_commit(rig, it, 0, 4 * page), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, it, 4 * page, page), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_PAGES_NOT_SUBMITTED);
    (void)fixture_submit(rig);
    assert_int_equal(fixture_commit(rig, it, 4 * page, 4 * page), VK_SUCCESS);
    assert_int_equal(fixture_statistics(rig).committedBytes, 8 * page);
    (void)fixture_submit(rig);
    maarDestroyReservation(rig->allocator, it);
    rig_close(rig);
}

/* Nobody waits for a submission that was not made. */
static void destruction_after_a_failed_submission_waits_for_nothing(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    MaarReservation it = fixture_reserve(rig, MIB, 0);
    assert_int_equal(fixture_commit(rig, it, 0, MIB), VK_SUCCESS);
    rig_set_fault(rig, "vkQueueBindSparse", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(fixture_statistics(rig).recordedPages, 16);
    maarDestroyReservation(rig->allocator, it);
    rig_forget_messages(rig); /* the warning that its pages were never handed to the device */
    assert_int_equal(maarWaitPending(rig->allocator, 0), VK_SUCCESS);
    assert_int_equal(fixture_statistics(rig).reservedBytes, 0);
    assert_int_equal(fixture_statistics(rig).committedBytes, 0);
    rig_close(rig);
}

/* Any call may notice first that the device is lost. All that is pending comes back. */
static void a_loss_at_a_submission_ends_all_waiting(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    MaarReservation it = fixture_reserve(rig, MIB, 0);
    const MaarPoint point = {.value = 5};
    MaarAllocation pending = rig_allocate(rig, 1000, NULL);
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, pending, 1, &point), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, it, 0, MIB), VK_SUCCESS);
    rig_set_fault(rig, "vkQueueBindSparse", 1, 1, VK_ERROR_DEVICE_LOST);
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_ERROR_DEVICE_LOST);
    uint32_t freed = 0;
    assert_int_equal(maarCollect(rig->allocator, &freed), VK_ERROR_DEVICE_LOST);
    assert_int_equal(freed, 1);
    maarDestroyReservation(rig->allocator, it);
    rig_forget_messages(rig);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(pages_of_another_type_unless_forbidden),
        rig_unit_test(pages_within_a_budget),
        rig_unit_test(queue_of_its_own_is_preferred),
        rig_unit_test(a_page_is_shared_so_often_and_no_more),
        rig_unit_test(given_back_aliases_are_not_committed_together),
        rig_unit_test(destruction_after_a_failed_submission_waits_for_nothing),
        rig_unit_test(a_loss_at_a_submission_ends_all_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
