/*
 * Commits that find too few pages: what the message says about the size and the reason, what is
 * counted, and which pages serve in the end.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/unit/reservation/reservation_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#define PAGE (64 * KIB)

static struct rig* rig;

/* Opens a sparse device whose heap 0 may have `limit` bytes. */
static void begin_limited(VkDeviceSize limit)
{
    rig = rig_new();
    const VkDeviceSize limits[3] = {limit, 0, 0};
    MaarSimulatedProfile profile = *rig_profile_sparse();
    const struct rig_setup setup = {.profile = &profile, .paging = true};
    rig_open(rig, &setup);
    rig->create_info.heapSizeLimitCount = 3;
    rig->create_info.pHeapSizeLimits = limits;
    rig_make_allocator(rig);
}

static MaarReservation reserve_with(VkDeviceSize size, MaarAllocationCreateFlags flags)
{
    const VkBufferCreateInfo buffer = fixture_buffer(size);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.flags = flags;
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pBufferInfo = &buffer,
        .pMemoryInfo = &how,
    };
    MaarReservation made = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &made), VK_SUCCESS);
    return made;
}

/* Every second page of a reservation, as so many ranges. */
static VkResult commit_scattered(MaarReservation reservation, uint32_t count)
{
    MaarPageRange* ranges = calloc(count, sizeof *ranges);
    assert_non_null(ranges);
    for (uint32_t i = 0; i < count; ++i) {
        ranges[i] = (MaarPageRange){2 * i * PAGE, PAGE};
    }
    const VkResult result = maarCommitPages(rig->allocator, reservation, count, ranges);
    free(ranges);
    return result;
}

enum { SCATTERED = 1024 };

/* The last page is the one that the limit refuses; the call asked for all of them. */
static void scattered_pages_above_a_heap_limit_name_it(void** state)
{
    (void)state;
    begin_limited(32 * MIB);
    MaarReservation it = reserve_with(256 * MIB, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
    assert_int_equal(commit_scattered(it, SCATTERED), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_true(rig_message_names_number(rig, SCATTERED * PAGE));
    assert_true(rig_message_names_number(rig, 32 * MIB));
    assert_int_equal(rig->messages.total, 1);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_HEAP_LIMIT_REACHED, "pHeapSizeLimits");
    assert_int_equal(fixture_info(rig, it).committedSize, 0);
    assert_int_equal(rig_budget(rig, 0).blockBytes, 0);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).failureCount, 1);
    maarDestroyReservation(rig->allocator, it);
}

/* The same for a budget that the request may not exceed. */
static void scattered_pages_above_a_budget_name_it(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    assert_int_equal(maarSimulatedSetHeapBudget(rig->physical, 0, 32 * MIB, 0), VK_SUCCESS);
    MaarReservation it = reserve_with(256 * MIB, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT |
                                                     MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT);
    assert_int_equal(commit_scattered(it, SCATTERED), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_true(rig_message_names_number(rig, SCATTERED * PAGE));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_BUDGET_REACHED, "budget");
    maarDestroyReservation(rig->allocator, it);
}

/* A rejection by the driver is named as one, and more than a heap has is named as that. */
static void scattered_pages_refused_by_the_driver_say_so(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation it = reserve_with(16 * GIB, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
    rig_set_fault(rig, "vkAllocateMemory", 2, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(commit_scattered(it, SCATTERED), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_true(rig_message_names_number(rig, SCATTERED * PAGE));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_DEVICE_MEMORY,
                              "VK_ERROR_OUT_OF_DEVICE_MEMORY");
    rig_clear_faults(rig);
    assert_int_equal(fixture_commit(rig, it, 0, 9 * GIB), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_true(rig_message_names_number(rig, 9 * GIB));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_TOO_LARGE_FOR_HEAP, "8589934592");
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).failureCount, 2);
    maarDestroyReservation(rig->allocator, it);
}

/* A call is one failed request, or none if it found pages in the end, and one fallback. */
static void pages_of_another_type_are_counted_and_reported(void** state)
{
    (void)state;
    begin_limited(MIB);
    MaarReservation strict = reserve_with(16 * MIB, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
    assert_int_equal(fixture_commit(rig, strict, 0, 8 * MIB), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).failureCount, 1);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).fallbackCount, 0);
    rig_forget_messages(rig);
    MaarReservation it = reserve_with(256 * MIB, 0);
    assert_int_equal(commit_scattered(it, 64), VK_SUCCESS);
    assert_int_equal(rig->messages.total, 1);
    assert_int_equal(rig->messages.counts[MAAR_MESSAGE_SEVERITY_WARNING], 1);
    assert_int_equal(rig_message_number(rig, 0), 48 * PAGE);
    rig_expect_message(rig, MAAR_MESSAGE_ID_FALLBACK_TYPE);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).fallbackCount, 1);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).failureCount, 1);
    /* Pages that lie there already are no new fallback. */
    assert_int_equal(commit_scattered(it, 64), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).fallbackCount, 1);
    (void)fixture_submit(rig);
    maarDestroyReservation(rig->allocator, it);
    maarDestroyReservation(rig->allocator, strict);
}

/* What a decommit gives back serves a commit before the submission, when there is no other memory:
 * in another reservation, and in the same place again. */
static void pages_given_back_serve_at_once_in_a_full_heap(void** state)
{
    (void)state;
    begin_limited(16 * MIB);
    MaarReservation from = reserve_with(16 * MIB, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
    MaarReservation to = reserve_with(16 * MIB, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
    assert_int_equal(fixture_commit(rig, from, 0, 16 * MIB), VK_SUCCESS);
    const MaarPoint before = fixture_submit(rig);
    const uint64_t submissions = fixture_statistics(rig).submissionCount;
    assert_int_equal(fixture_decommit(rig, from, 4 * MIB, 8 * MIB), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, to, 0, 8 * MIB), VK_SUCCESS);
    rig_check(rig);
    assert_int_equal(fixture_statistics(rig).heldBytes, 0);
    assert_int_equal(fixture_commit(rig, to, 8 * MIB, PAGE), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_expect_message(rig, MAAR_MESSAGE_ID_HEAP_LIMIT_REACHED);
    const MaarPoint point = fixture_submit(rig);
    assert_int_equal(fixture_statistics(rig).submissionCount, submissions + 1);
    assert_int_equal(maarWaitPending(rig->allocator, 0), VK_SUCCESS);
    assert_int_equal(point.value, before.value + 2); /* it has unbound, and then bound */
    rig_check(rig);
    assert_int_equal(fixture_info(rig, from).committedSize, 8 * MIB);
    assert_int_equal(fixture_info(rig, to).committedSize, 8 * MIB);
    /* Each reservation takes over what the other one gives back, so places get other pages. */
    assert_int_equal(fixture_decommit(rig, from, 0, 4 * MIB), VK_SUCCESS);
    assert_int_equal(fixture_decommit(rig, to, 0, 8 * MIB), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, from, 4 * MIB, 8 * MIB), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, to, 0, 4 * MIB), VK_SUCCESS);
    rig_check(rig);
    (void)fixture_submit(rig);
    rig_check(rig);
    assert_int_equal(fixture_info(rig, from).committedSize, 12 * MIB);
    maarDestroyReservation(rig->allocator, from);
    maarDestroyReservation(rig->allocator, to);
    assert_int_equal(maarWaitPending(rig->allocator, 0), VK_SUCCESS);
    assert_int_equal(fixture_statistics(rig).committedBytes, 0);
}

/* A submission that fails records all of it again, and a call that fails gives back what it took.
 */
static void pages_taken_over_survive_failures(void** state)
{
    (void)state;
    begin_limited(MIB);
    MaarReservation from = reserve_with(MIB, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
    MaarReservation to = reserve_with(4 * MIB, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
    const MaarPageRange too_many[2] = {{0, MIB}, {2 * MIB, MIB}};
    assert_int_equal(fixture_commit(rig, from, 0, MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(fixture_decommit(rig, from, 0, MIB), VK_SUCCESS);
    assert_int_equal(maarCommitPages(rig->allocator, to, 2, too_many),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_forget_messages(rig);
    rig_check(rig);
    assert_int_equal(fixture_info(rig, to).committedSize, 0);
    assert_int_equal(fixture_commit(rig, from, 0, MIB), VK_SUCCESS);
    rig_check(rig);
    assert_int_equal(fixture_decommit(rig, from, 0, MIB), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, to, MIB, MIB), VK_SUCCESS);
    rig_set_fault(rig, "vkQueueBindSparse", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_check(rig);
    (void)fixture_submit(rig);
    rig_check(rig);
    assert_int_equal(fixture_info(rig, to).committedSize, MIB);
    assert_int_equal(fixture_info(rig, from).committedSize, 0);
    maarDestroyReservation(rig->allocator, from);
    maarDestroyReservation(rig->allocator, to);
}

/* The object still exists when the submission binds its page elsewhere, so the submission must
 * unbind the page first, also when the submission fails once. */
static void pages_of_an_ended_reservation_are_unbound_before_they_move(void** state)
{
    const MaarPoint later = {.value = 1};
    (void)state;
    begin_limited(16 * MIB);
    MaarReservation from = reserve_with(16 * MIB, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
    MaarReservation to = reserve_with(16 * MIB, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
    MaarReservation other = reserve_with(16 * MIB, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
    assert_int_equal(fixture_commit(rig, from, 0, 12 * MIB), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, other, 0, 4 * MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    /* The first half of what `from` gives back moves to `to`. In its place `from` gets what `other`
     * gives back. */
    assert_int_equal(fixture_decommit(rig, from, 0, 4 * MIB), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, to, 0, 4 * MIB), VK_SUCCESS);
    assert_int_equal(fixture_decommit(rig, other, 0, 4 * MIB), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, from, 0, 2 * MIB), VK_SUCCESS);
    rig_check(rig);
    assert_int_equal(maarDestroyReservationAfter(rig->allocator, from, 1, &later), VK_SUCCESS);
    rig_check(rig);
    rig_set_fault(rig, "vkQueueBindSparse", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    MaarPoint point;
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, &point), VK_ERROR_OUT_OF_HOST_MEMORY);
    rig_forget_messages(rig);
    rig_check(rig);
    (void)fixture_submit(rig); /* the driver would see that two buffers have one page */
    rig_check(rig);
    assert_int_equal(fixture_info(rig, to).committedSize, 4 * MIB);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(fixture_statistics(rig).committedBytes, 4 * MIB);
    assert_int_equal(fixture_statistics(rig).heldBytes, 0);
    maarDestroyReservation(rig->allocator, to);
    maarDestroyReservation(rig->allocator, other);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(fixture_statistics(rig).committedBytes, 0);
}

/* The place gets a page after its own has moved away, and gives that page back too. What the device
 * has there is the first one. */
static void pages_that_moved_twice_are_unbound_where_the_device_has_them(void** state)
{
    const MaarPoint later = {.value = 1};
    (void)state;
    begin_limited(4 * MIB);
    MaarReservation from = reserve_with(4 * MIB, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
    MaarReservation to = reserve_with(4 * MIB, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
    MaarReservation other = reserve_with(4 * MIB, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
    assert_int_equal(fixture_commit(rig, from, 0, 2 * MIB), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, other, 0, 2 * MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(fixture_decommit(rig, from, 0, 2 * MIB), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, to, 0, 2 * MIB), VK_SUCCESS);
    assert_int_equal(fixture_decommit(rig, other, 0, 2 * MIB), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, from, 0, 2 * MIB), VK_SUCCESS);
    assert_int_equal(fixture_decommit(rig, from, 0, 2 * MIB), VK_SUCCESS);
    rig_check(rig);
    assert_int_equal(maarDestroyReservationAfter(rig->allocator, from, 1, &later), VK_SUCCESS);
    (void)fixture_submit(rig); /* the driver would see that two buffers have one page */
    rig_check(rig);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(fixture_statistics(rig).committedBytes, 2 * MIB);
    assert_int_equal(fixture_statistics(rig).heldBytes, 0);
    maarDestroyReservation(rig->allocator, to);
    maarDestroyReservation(rig->allocator, other);
}

/* A reservation ends that has taken over pages, before they were unbound in the first one. They go
 * on to a third one. */
static void pages_go_on_when_their_second_owner_ends(void** state)
{
    (void)state;
    begin_limited(5 * MIB);
    MaarReservation from = reserve_with(8 * MIB, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
    assert_int_equal(fixture_commit(rig, from, 0, 4 * MIB), VK_SUCCESS);
    MaarPoint before = fixture_submit(rig);
    for (uint32_t fails = 0; fails < 2; ++fails) {
        MaarReservation to = reserve_with(4 * MIB, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
        MaarReservation last = reserve_with(8 * MIB, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
        /* Its changes come first in a submission. */
        assert_int_equal(fixture_commit(rig, last, 7 * MIB, MIB), VK_SUCCESS);
        assert_int_equal(fixture_decommit(rig, from, 0, 4 * MIB), VK_SUCCESS);
        assert_int_equal(fixture_commit(rig, to, 0, 4 * MIB), VK_SUCCESS);
        maarDestroyReservation(rig->allocator, to);
        assert_int_equal(fixture_commit(rig, last, 0, 4 * MIB), VK_SUCCESS);
        rig_check(rig);
        if (fails != 0) {
            rig_set_fault(rig, "vkQueueBindSparse", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
            assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL),
                             VK_ERROR_OUT_OF_HOST_MEMORY);
            rig_forget_messages(rig);
        }
        /* The submission unbinds, and then binds. */
        assert_int_equal(fixture_submit(rig).value, before.value + 2);
        rig_check(rig);
        maarDestroyReservation(rig->allocator, from);
        from = last;
        assert_int_equal(fixture_decommit(rig, from, 7 * MIB, MIB), VK_SUCCESS);
        before = fixture_submit(rig);
        assert_int_equal(fixture_statistics(rig).heldBytes, 0);
    }
    maarDestroyReservation(rig->allocator, from);
    assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(fixture_statistics(rig).blockBytes, 0);
}

/* No value of the timeline is skipped: everybody who waits for a submission would wait for ever. */
static void values_follow_one_another_when_nothing_is_left_to_bind(void** state)
{
    const MaarPoint later = {.value = 1};
    (void)state;
    begin_limited(4 * MIB);
    MaarReservation from = reserve_with(4 * MIB, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
    MaarReservation to = reserve_with(4 * MIB, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
    assert_int_equal(fixture_commit(rig, from, 0, 4 * MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(fixture_decommit(rig, from, 0, 4 * MIB), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, to, 0, 4 * MIB), VK_SUCCESS);
    assert_int_equal(maarDestroyReservationAfter(rig->allocator, to, 1, &later), VK_SUCCESS);
    const MaarPoint before = fixture_submit(rig);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    /* Recorded and taken back. */
    assert_int_equal(fixture_commit(rig, from, 0, MIB), VK_SUCCESS);
    assert_int_equal(fixture_decommit(rig, from, 0, MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(fixture_commit(rig, from, 0, MIB), VK_SUCCESS);
    const MaarPoint point = fixture_submit(rig);
    assert_in_range(point.value, before.value + 1, before.value + 2);
    maarDestroyReservation(rig->allocator, from);
    assert_int_equal(maarWaitPending(rig->allocator, (uint64_t)5000000000), VK_SUCCESS);
    assert_int_equal(fixture_statistics(rig).committedBytes, 0);
}

/* A submission that fails while another thread ends a reservation whose page has moved. */
struct failing_submission {
    MaarReservation ending;
    _Atomic bool in_driver;
    _Atomic bool may_go_on;
};

static void stay_in_driver(void* data, const char* function)
{
    struct failing_submission* scene = data;
    if (strcmp(function, "vkQueueBindSparse") == 0 && !atomic_exchange(&scene->in_driver, true)) {
        while (!atomic_load(&scene->may_go_on)) {
            (void)sched_yield();
        }
    }
}

static void* submit_in_vain(void* data)
{
    (void)data;
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_ERROR_OUT_OF_HOST_MEMORY);
    return NULL;
}

static void* end_later(void* data)
{
    const struct failing_submission* scene = data;
    const MaarPoint later = {.value = 1};
    assert_int_equal(maarDestroyReservationAfter(rig->allocator, scene->ending, 1, &later),
                     VK_SUCCESS);
    return NULL;
}

static void pages_move_although_a_submission_fails_while_their_owner_ends(void** state)
{
    (void)state;
    static struct failing_submission scene;
    pthread_t threads[2];
    const struct timespec pause = {.tv_nsec = 50000000};
    begin_limited(4 * MIB);
    memset(&scene, 0, sizeof scene);
    scene.ending = reserve_with(4 * MIB, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
    MaarReservation to = reserve_with(4 * MIB, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
    assert_int_equal(fixture_commit(rig, scene.ending, 0, 4 * MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(fixture_decommit(rig, scene.ending, 0, 4 * MIB), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, to, 0, 4 * MIB), VK_SUCCESS);
    rig_set_fault(rig, "vkQueueBindSparse", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    rig->call_data = &scene;
    rig->call = stay_in_driver;
    assert_int_equal(pthread_create(&threads[0], NULL, submit_in_vain, NULL), 0);
    while (!atomic_load(&scene.in_driver)) {
        (void)sched_yield();
    }
    assert_int_equal(pthread_create(&threads[1], NULL, end_later, &scene), 0);
    (void)nanosleep(&pause, NULL); /* until that thread waits for the submission */
    atomic_store(&scene.may_go_on, true);
    assert_int_equal(pthread_join(threads[0], NULL), 0);
    assert_int_equal(pthread_join(threads[1], NULL), 0);
    rig->call = NULL;
    rig_forget_messages(rig);
    (void)fixture_submit(rig); /* the driver would see that two buffers have one page */
    rig_check(rig);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(maarWaitPending(rig->allocator, (uint64_t)5000000000), VK_SUCCESS);
    assert_int_equal(fixture_statistics(rig).committedBytes, 4 * MIB);
    maarDestroyReservation(rig->allocator, to);
}

/* A plain request in a full heap gets the bytes of page blocks that are empty, also where it could
 * go to another memory type. */
static void empty_page_blocks_serve_plain_requests(void** state)
{
    (void)state;
    for (uint32_t strict = 0; strict < 2; ++strict) {
        MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
        how.flags = strict != 0 ? (VkFlags)MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT : 0;
        begin_limited(32 * MIB);
        MaarReservation it = reserve_with(64 * MIB, 0);
        assert_int_equal(fixture_commit(rig, it, 0, 32 * MIB), VK_SUCCESS);
        (void)fixture_submit(rig);
        assert_int_equal(fixture_decommit(rig, it, 0, 32 * MIB), VK_SUCCESS);
        (void)fixture_submit(rig);
        assert_true(fixture_statistics(rig).blockBytes > 0); /* one block is kept */
        MaarAllocation made = VK_NULL_HANDLE;
        assert_int_equal(rig_try(rig, 24 * MIB, &how, &made), VK_SUCCESS);
        assert_int_equal(rig_info(rig, made).memoryTypeIndex, 0);
        assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).fallbackCount, 0);
        rig_expect_silence(rig);
        assert_int_equal(fixture_statistics(rig).blockBytes, 0);
        maarFreeMemory(rig->allocator, made);
        maarDestroyReservation(rig->allocator, it);
        rig_close(rig);
    }
}

/* Pages that wander among three reservations, which want more than there is. Now and then one of
 * them ends, at once or later, and another one takes its place. */
static void pages_wander_in_a_full_heap(void** state)
{
    (void)state;
    enum { COUNT = 3, PAGES = 24, STEPS = 4000 };
    struct rig_random random = {.state = rig_seed(7)};
    MaarReservation all[COUNT];
    uint32_t done = 0;
    begin_limited(32 * PAGE);
    for (uint32_t i = 0; i < COUNT; ++i) {
        all[i] = reserve_with(PAGES * PAGE, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
    }
    for (uint32_t i = 0; i < STEPS; ++i) {
        const uint32_t which = rig_below(&random, COUNT);
        const MaarReservation it = all[which];
        const MaarPoint end = {.value = i + 1};
        const uint32_t first = rig_below(&random, PAGES);
        const VkDeviceSize size = (1 + rig_below(&random, PAGES - first)) * PAGE;
        switch (rig_below(&random, 18)) {
        case 0:
            (void)maarDestroyReservationAfter(rig->allocator, it, rig_below(&random, 2), &end);
            all[which] = reserve_with(PAGES * PAGE, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
            break;
        case 1:
            assert_int_equal(maarAdvanceHostTimeline(rig->allocator, i + 1), VK_SUCCESS);
            break;
        case 2:
        case 3:
        case 4:
        case 5:
        case 6:
        case 7:
            done += fixture_commit(rig, it, first * PAGE, size) == VK_SUCCESS ? 1 : 0;
            break;
        case 8:
        case 9:
        case 10:
        case 11:
        case 12:
        case 13:
            assert_int_equal(fixture_decommit(rig, it, first * PAGE, size), VK_SUCCESS);
            break;
        default:
            rig_set_fault(rig, "vkQueueBindSparse", 1, rig_below(&random, 4) == 0 ? 1 : 0,
                          VK_ERROR_OUT_OF_DEVICE_MEMORY);
            (void)maarSubmitBinds(rig->allocator, 0, NULL, NULL);
            rig_clear_faults(rig);
            break;
        }
        rig_forget_messages(rig);
        rig_check(rig);
    }
    assert_true(done > STEPS / 20);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, STEPS), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    VkDeviceSize committed = 0;
    for (uint32_t i = 0; i < COUNT; ++i) {
        committed += fixture_info(rig, all[i]).committedSize;
    }
    assert_int_equal(fixture_statistics(rig).committedBytes, committed);
    for (uint32_t i = 0; i < COUNT; ++i) {
        maarDestroyReservation(rig->allocator, all[i]);
    }
}

/* No heap has room for the whole range. */
static void range_takes_what_two_heaps_have(void** state)
{
    (void)state;
    const VkDeviceSize limits[3] = {64 * MIB, 64 * MIB, PAGE};
    MaarSimulatedProfile profile = *rig_profile_sparse();
    const struct rig_setup setup = {.profile = &profile, .paging = true};
    rig = rig_new();
    rig_open(rig, &setup);
    rig->create_info.heapSizeLimitCount = 3;
    rig->create_info.pHeapSizeLimits = limits;
    rig_make_allocator(rig);
    const MaarReservation strict = reserve_with(256 * MIB, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT);
    assert_int_equal(fixture_commit(rig, strict, 0, 100 * MIB), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_forget_messages(rig);
    const MaarReservation it = reserve_with(256 * MIB, 0);
    assert_int_equal(fixture_commit(rig, it, 0, 100 * MIB), VK_SUCCESS);
    assert_int_equal(fixture_info(rig, it).committedSize, 100 * MIB);
    rig_expect_message(rig, MAAR_MESSAGE_ID_FALLBACK_TYPE);
    assert_int_equal(fixture_commit(rig, it, 100 * MIB, 40 * MIB), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(fixture_info(rig, it).committedSize, 100 * MIB);
    rig_forget_messages(rig);
    assert_int_equal(fixture_commit(rig, it, 100 * MIB, 28 * MIB + PAGE), VK_SUCCESS);
    rig_forget_messages(rig);
    (void)fixture_submit(rig);
    maarDestroyReservation(rig->allocator, it);
    maarDestroyReservation(rig->allocator, strict);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(scattered_pages_above_a_heap_limit_name_it),
        rig_unit_test(scattered_pages_above_a_budget_name_it),
        rig_unit_test(scattered_pages_refused_by_the_driver_say_so),
        rig_unit_test(pages_of_another_type_are_counted_and_reported),
        rig_unit_test(pages_given_back_serve_at_once_in_a_full_heap),
        rig_unit_test(pages_taken_over_survive_failures),
        rig_unit_test(pages_of_an_ended_reservation_are_unbound_before_they_move),
        rig_unit_test(pages_that_moved_twice_are_unbound_where_the_device_has_them),
        rig_unit_test(pages_go_on_when_their_second_owner_ends),
        rig_unit_test(values_follow_one_another_when_nothing_is_left_to_bind),
        rig_unit_test(pages_move_although_a_submission_fails_while_their_owner_ends),
        rig_unit_test(empty_page_blocks_serve_plain_requests),
        rig_unit_test(pages_wander_in_a_full_heap),
        rig_unit_test(range_takes_what_two_heaps_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
