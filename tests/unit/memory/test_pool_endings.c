/*
 * Pools that go while reservations still have something of them: these are waited for or ended, and
 * nobody else is.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "tests/unit/reservation/reservation_fixture.h"

static struct rig* rig;

/* What the driver received, in order, as far as it matters here. */
struct endings {
    uint32_t buffers;      /* destroyed, */
    uint32_t buffers_then; /* when the first memory went */
    uint32_t memories;
};

static void note_ending(void* data, const char* function)
{
    struct endings* endings = data;
    if (strcmp(function, "vkDestroyBuffer") == 0) {
        ++endings->buffers;
    } else if (strcmp(function, "vkFreeMemory") == 0) {
        endings->buffers_then = endings->memories == 0 ? endings->buffers : endings->buffers_then;
        ++endings->memories;
    }
}

static MaarPool make_pool(bool stitches)
{
    const MaarPoolPagingInfo paging = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
        .stitch = VK_TRUE,
    };
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .pNext = stitches ? &paging : NULL,
    };
    return rig_create_pool(rig, &info);
}

static MaarReservation reserve_in(MaarPool pool)
{
    const VkBufferCreateInfo buffer = fixture_buffer(16 * MIB);
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pool = pool,
    };
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pBufferInfo = &buffer,
        .pMemoryInfo = &how,
    };
    MaarReservation reservation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &reservation), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, reservation, 0, MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    return reservation;
}

static MaarPoint host_point(uint64_t value)
{
    return (MaarPoint){.value = value};
}

static void pool_that_goes_leaves_strangers_alone(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    MaarPool pool = make_pool(false);
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pool = pool,
    };
    /* The allocator's first allocation. */
    MaarAllocation allocation = rig_allocate(rig, MIB, &how);
    MaarReservation stranger = fixture_reserve(rig, MIB, 0);
    const MaarPoint late = host_point(100);
    const MaarPoint early = host_point(50);
    assert_int_equal(maarDestroyReservationAfter(rig->allocator, stranger, 1, &late), VK_SUCCESS);
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, allocation, 1, &early), VK_SUCCESS);
    const uint64_t before = rig_calls(rig, "vkDestroyBuffer");
    maarDestroyPool(rig->allocator, pool);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_PENDING_AT_DESTROY, "1");
    assert_int_equal(rig_calls(rig, "vkDestroyBuffer"), before);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 100), VK_SUCCESS);
    rig_close(rig);
}

static void pool_that_goes_ends_retired_reservations_first(void** state)
{
    (void)state;
    static const enum fixture_way ways[] = {FIXTURE_SPARSE, FIXTURE_NO_SPARSE};
    for (uint32_t i = 0; i < 2; ++i) {
        struct endings endings = {.buffers = 0};
        rig = fixture_begin(ways[i], 64 * KIB, NULL);
        MaarPool pool = make_pool(ways[i] == FIXTURE_SPARSE);
        MaarReservation it = reserve_in(pool);
        const MaarPoint never = host_point(50);
        assert_int_equal(maarDestroyReservationAfter(rig->allocator, it, 1, &never), VK_SUCCESS);
        rig->call = note_ending;
        rig->call_data = &endings;
        maarDestroyPool(rig->allocator, pool);
        rig->call = NULL;
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_PENDING_AT_DESTROY, "1");
        assert_int_equal(endings.buffers, 1);
        assert_int_equal(endings.buffers_then, 1);
        assert_true(endings.memories > 0);
        rig_close(rig);
    }
}

/* The point passes while somebody waits for it, and not before. */
static void pass_point(void* data, const char* function)
{
    MaarPoint* soon = data;
    if (strcmp(function, "vkWaitSemaphores") == 0 && soon->value != 0) {
        rig_signal(rig, soon->semaphore, soon->value);
        soon->value = 0;
    }
}

static void pool_that_goes_waits_for_retired_reservations(void** state)
{
    (void)state;
    static const enum fixture_way ways[] = {FIXTURE_SPARSE, FIXTURE_NO_SPARSE};
    for (uint32_t i = 0; i < 2; ++i) {
        rig = fixture_begin(ways[i], 64 * KIB, NULL);
        MaarPool pool = make_pool(ways[i] == FIXTURE_SPARSE);
        MaarReservation it = reserve_in(pool);
        MaarPoint soon = {rig_create_timeline(rig, 0), 1};
        assert_int_equal(maarDestroyReservationAfter(rig->allocator, it, 1, &soon), VK_SUCCESS);
        rig->call_data = &soon;
        rig->call = pass_point;
        maarDestroyPool(rig->allocator, pool);
        rig->call = NULL;
        assert_int_equal(soon.value, 0); /* it was waited for */
        rig_expect_silence(rig);
        assert_int_equal(fixture_statistics(rig).blockBytes, 0);
        vkDestroySemaphore(rig->device, soon.semaphore, rig->create_info.pAllocationCallbacks);
        rig_close(rig);
    }
}

static void pool_that_goes_waits_for_outgrown_buffers(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_NO_SPARSE, 64 * KIB, NULL);
    MaarPool pool = make_pool(false);
    MaarReservation it = reserve_in(pool);
    assert_int_equal(fixture_commit(rig, it, 0, 4 * MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    maarDestroyReservation(rig->allocator, it);
    maarDestroyPool(rig->allocator, pool);
    rig_expect_silence(rig);
    rig_close(rig);
}

/* ---- beside other threads ---- */

struct meanwhile {
    MaarPool pool;
    pthread_t thread;
    bool started;
    _Atomic bool gone;
    bool gone_too_early;
};

static void* end_pool(void* data)
{
    struct meanwhile* meanwhile = data;
    maarDestroyPool(rig->allocator, meanwhile->pool);
    meanwhile->gone = true;
    return NULL;
}

/* While one thread frees a page block of the pool, another one destroys the pool. */
static void end_pool_meanwhile(void* data, const char* function)
{
    struct meanwhile* meanwhile = data;
    const struct timespec pause = {.tv_nsec = 100000000};
    if (!meanwhile->started && strcmp(function, "vkFreeMemory") == 0) {
        meanwhile->started = true;
        assert_int_equal(pthread_create(&meanwhile->thread, NULL, end_pool, meanwhile), 0);
        (void)nanosleep(&pause, NULL);
        meanwhile->gone_too_early = meanwhile->gone;
    }
}

static void pool_that_goes_waits_for_who_frees_its_blocks(void** state)
{
    (void)state;
    struct meanwhile meanwhile = {.started = false};
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    meanwhile.pool = make_pool(true);
    MaarReservation it = reserve_in(meanwhile.pool);
    maarDestroyReservation(rig->allocator, it);
    assert_int_equal(fixture_statistics(rig).blockCount, 1);
    rig->call_data = &meanwhile;
    rig->call = end_pool_meanwhile;
    assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_true(meanwhile.started);
    assert_int_equal(pthread_join(meanwhile.thread, NULL), 0);
    rig->call = NULL;
    assert_false(meanwhile.gone_too_early);
    assert_int_equal(fixture_statistics(rig).blockBytes, 0);
    rig_expect_silence(rig);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(pool_that_goes_leaves_strangers_alone),
        rig_unit_test(pool_that_goes_ends_retired_reservations_first),
        rig_unit_test(pool_that_goes_waits_for_retired_reservations),
        rig_unit_test(pool_that_goes_waits_for_outgrown_buffers),
        rig_unit_test(pool_that_goes_waits_for_who_frees_its_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
