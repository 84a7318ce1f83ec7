/*
 * Frees after points in time while several threads are at it: a pool that goes while another thread
 * collects, and a wait that stands in nobody's way.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/rig/rig.h"

#include <pthread.h>
#include <sched.h>

#include "core/memory/allocator_state.h"
#include "core/port_time.h"
#include "core/time/retire_collect.h"

#define MILLISECOND UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)

/* One other thread and what both sides report to each other. */
struct scene {
    struct rig* rig;
    pthread_t thread;
    VkSemaphore timeline;
    bool hold;            /* the first wait for semaphores lasts until go_on */
    _Atomic bool waiting; /* a driver call waits for semaphores */
    _Atomic bool freeing; /* device memory is about to go */
    _Atomic bool reading; /* a driver call reads a semaphore */
    _Atomic bool go_on;
    _Atomic int result;
    _Atomic uint32_t collected;
};

/* Until the flag is set; false when that took longer. */
static bool await(const _Atomic bool* flag, uint64_t timeout_ns)
{
    uint64_t deadline = maar_deadline_ns(timeout_ns);
    while (!atomic_load(flag)) {
        if (maar_time_left_ns(deadline) == 0) {
            return false;
        }
        (void)sched_yield();
    }
    return true;
}

static void start(struct scene* scene, void* (*run)(void*))
{
    assert_int_equal(pthread_create(&scene->thread, NULL, run, scene), 0);
}

static void join(struct scene* scene)
{
    assert_int_equal(pthread_join(scene->thread, NULL), 0);
}

static void free_at(struct scene* scene, MaarAllocation allocation, VkSemaphore semaphore)
{
    const MaarPoint point = {semaphore, 1};
    assert_int_equal(maarFreeMemoryAfter(scene->rig->allocator, allocation, 1, &point), VK_SUCCESS);
}

static MaarAllocation allocate_from(struct scene* scene, MaarPool pool, MaarDedicated dedicated)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = pool;
    how.dedicated = dedicated;
    return rig_allocate(scene->rig, 64 * KIB, &how);
}

static void note_wait(void* data, const char* function)
{
    struct scene* scene = data;
    if (strcmp(function, "vkWaitSemaphores") == 0 && !atomic_exchange(&scene->waiting, true) &&
        scene->hold) {
        (void)await(&scene->go_on, 20 * SECOND);
    }
}

static void open_scene(struct scene* scene)
{
    memset(scene, 0, sizeof *scene);
    scene->rig = rig_new();
    rig_start(scene->rig, NULL);
    scene->timeline = rig_create_timeline(scene->rig, 0);
    scene->rig->call_data = scene;
    scene->rig->call = note_wait;
}

static void close_scene(struct scene* scene)
{
    rig_check(scene->rig);
    vkDestroySemaphore(scene->rig->device, scene->timeline, NULL);
    rig_close(scene->rig);
}

/* ---- a pool goes while another thread frees what was in it ---- */

static void VKAPI_PTR linger_in_free(void* user, uint32_t type, VkDeviceMemory memory,
                                     VkDeviceSize size)
{
    struct scene* scene = user;
    (void)type;
    (void)memory;
    (void)size;
    if (!atomic_exchange(&scene->freeing, true)) {
        /* Whoever destroys the pool may as well wait for this free: then the time decides. */
        (void)await(&scene->go_on, 200 * MILLISECOND);
    }
}

static void* collect_elsewhere(void* data)
{
    struct scene* scene = data;
    uint32_t count = 0;
    atomic_store(&scene->result, maarCollect(scene->rig->allocator, &count));
    atomic_store(&scene->collected, count);
    return NULL;
}

static void destroy_pool_in_collection(MaarDedicated dedicated, VkFlags flags)
{
    static struct scene scene;
    memset(&scene, 0, sizeof scene);
    scene.rig = rig_new();
    rig_open(scene.rig, NULL);
    scene.rig->create_info.flags = flags;
    scene.rig->create_info.pfnDeviceFree = linger_in_free;
    scene.rig->create_info.pDeviceMemoryUserData = &scene;
    rig_make_allocator(scene.rig);
    const MaarPoolCreateInfo info = {.retainedEmptySize = 1};
    MaarPool pool = rig_create_pool(scene.rig, &info);
    free_at(&scene, allocate_from(&scene, pool, dedicated), VK_NULL_HANDLE);
    assert_int_equal(maarAdvanceHostTimeline(scene.rig->allocator, 1), VK_SUCCESS);
    start(&scene, collect_elsewhere);
    assert_true(await(&scene.freeing, 10 * SECOND));
    maarDestroyPool(scene.rig->allocator, pool);
    atomic_store(&scene.go_on, true);
    join(&scene);
    assert_int_equal(atomic_load(&scene.result), VK_SUCCESS);
    assert_int_equal(atomic_load(&scene.collected), 1);
    assert_int_equal(rig_statistics(scene.rig, VK_NULL_HANDLE).blockCount, 0);
    assert_int_equal(rig_statistics(scene.rig, VK_NULL_HANDLE).pendingCount, 0);
    rig_check(scene.rig);
    rig_expect_silence(scene.rig);
    rig_close(scene.rig);
}

static void pool_may_go_while_another_collects(void** state)
{
    (void)state;
    destroy_pool_in_collection(MAAR_DEDICATED_ALWAYS, 0);
    destroy_pool_in_collection(MAAR_DEDICATED_NEVER, 0);
    destroy_pool_in_collection(MAAR_DEDICATED_ALWAYS, MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT);
    destroy_pool_in_collection(MAAR_DEDICATED_NEVER, MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT);
}

/* ---- a wait stands in nobody's way ---- */

static void* wait_for_ever(void* data)
{
    struct scene* scene = data;
    atomic_store(&scene->result, maarWaitPending(scene->rig->allocator, UINT64_MAX));
    return NULL;
}

/* Starts a wait that stays in the driver until end_wait. */
static void begin_wait(struct scene* scene)
{
    scene->hold = true;
    free_at(scene, allocate_from(scene, VK_NULL_HANDLE, MAAR_DEDICATED_AUTO), scene->timeline);
    atomic_store(&scene->result, VK_INCOMPLETE);
    start(scene, wait_for_ever);
    assert_true(await(&scene->waiting, 10 * SECOND));
}

static void end_wait(struct scene* scene)
{
    assert_int_equal(atomic_load(&scene->result), VK_INCOMPLETE);
    atomic_store(&scene->go_on, true);
    rig_signal(scene->rig, scene->timeline, 1);
    join(scene);
    assert_int_equal(atomic_load(&scene->result), VK_SUCCESS);
    assert_int_equal(rig_statistics(scene->rig, VK_NULL_HANDLE).pendingCount, 0);
    rig_expect_silence(scene->rig);
}

static void collecting_goes_on_while_another_waits(void** state)
{
    (void)state;
    static struct scene scene;
    open_scene(&scene);
    MaarAllocation passed = allocate_from(&scene, VK_NULL_HANDLE, MAAR_DEDICATED_AUTO);
    free_at(&scene, passed, VK_NULL_HANDLE);
    begin_wait(&scene);
    assert_int_equal(maarAdvanceHostTimeline(scene.rig->allocator, 1), VK_SUCCESS);
    uint32_t count = 0;
    assert_int_equal(maarCollect(scene.rig->allocator, &count), VK_SUCCESS);
    assert_int_equal(count, 1);
    assert_int_equal(rig_statistics(scene.rig, VK_NULL_HANDLE).pendingCount, 1);
    end_wait(&scene);
    close_scene(&scene);
}

static void pool_goes_at_once_while_another_waits(void** state)
{
    (void)state;
    static struct scene scene;
    open_scene(&scene);
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 0};
    MaarPool pool = rig_create_pool(scene.rig, &info);
    MaarAllocation passed = allocate_from(&scene, pool, MAAR_DEDICATED_AUTO);
    free_at(&scene, passed, VK_NULL_HANDLE);
    begin_wait(&scene);
    assert_int_equal(maarAdvanceHostTimeline(scene.rig->allocator, 1), VK_SUCCESS);
    uint64_t deadline = maar_deadline_ns(4 * SECOND); /* who waits for a pool does so for 5 */
    maarDestroyPool(scene.rig->allocator, pool);
    assert_true(maar_time_left_ns(deadline) > 0);
    assert_int_equal(rig_statistics(scene.rig, VK_NULL_HANDLE).pendingCount, 1);
    end_wait(&scene);
    close_scene(&scene);
}

/* ---- what another thread has in hand is not done ---- */

static void note_read(void* data, const char* function)
{
    struct scene* scene = data;
    if (strcmp(function, "vkGetSemaphoreCounterValue") == 0 &&
        !atomic_exchange(&scene->reading, true)) {
        (void)await(&scene->go_on, 20 * SECOND);
    }
}

static void host_points_are_not_all_while_another_has_more(void** state)
{
    (void)state;
    static struct scene scene;
    open_scene(&scene);
    scene.rig->call = note_read;
    free_at(&scene, allocate_from(&scene, VK_NULL_HANDLE, MAAR_DEDICATED_AUTO), scene.timeline);
    start(&scene, collect_elsewhere);
    assert_true(await(&scene.reading, 10 * SECOND));
    free_at(&scene, allocate_from(&scene, VK_NULL_HANDLE, MAAR_DEDICATED_AUTO), VK_NULL_HANDLE);
    assert_int_equal(maarWaitPending(scene.rig->allocator, 0), VK_TIMEOUT);
    atomic_store(&scene.go_on, true);
    join(&scene);
    assert_int_equal(atomic_load(&scene.collected), 0);
    assert_int_equal(maarWaitPending(scene.rig->allocator, 0), VK_TIMEOUT);
    rig_signal(scene.rig, scene.timeline, 1);
    assert_int_equal(maarWaitPending(scene.rig->allocator, SECOND), VK_NOT_READY);
    assert_int_equal(maarAdvanceHostTimeline(scene.rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(maarWaitPending(scene.rig->allocator, SECOND), VK_SUCCESS);
    close_scene(&scene);
}

static void* collect_without_end(void* data)
{
    struct scene* scene = data;
    while (!atomic_load(&scene->go_on)) {
        (void)maarCollect(scene->rig->allocator, NULL);
    }
    return NULL;
}

/* Between taking items and putting them back the queue is empty; a wait must not fall for it. */
static void wait_is_not_over_while_another_collects(void** state)
{
    (void)state;
    static struct scene scene;
    VkResult result = VK_NOT_READY;
    open_scene(&scene);
    free_at(&scene, allocate_from(&scene, VK_NULL_HANDLE, MAAR_DEDICATED_AUTO), VK_NULL_HANDLE);
    start(&scene, collect_without_end);
    const uint64_t deadline = maar_deadline_ns(500 * MILLISECOND);
    while (maar_time_left_ns(deadline) > 0 && result != VK_SUCCESS) {
        result = maarWaitPending(scene.rig->allocator, 0);
    }
    atomic_store(&scene.go_on, true);
    join(&scene);
    assert_int_not_equal(result, VK_SUCCESS);
    assert_int_equal(maarWaitPending(scene.rig->allocator, 0), VK_NOT_READY);
    assert_int_equal(maarAdvanceHostTimeline(scene.rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(maarWaitPending(scene.rig->allocator, 0), VK_SUCCESS);
    close_scene(&scene);
}

/* ---- a pool waits for its own items alone ---- */

static void pool_does_not_wait_for_others(void** state)
{
    (void)state;
    static struct scene scene;
    open_scene(&scene);
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 0};
    MaarPool pool = rig_create_pool(scene.rig, &info);
    MaarPool other = rig_create_pool(scene.rig, &info);
    free_at(&scene, allocate_from(&scene, other, MAAR_DEDICATED_AUTO), scene.timeline);
    free_at(&scene, allocate_from(&scene, pool, MAAR_DEDICATED_AUTO), VK_NULL_HANDLE);
    assert_int_equal(maarAdvanceHostTimeline(scene.rig->allocator, 1), VK_SUCCESS);
    maarDestroyPool(scene.rig->allocator, pool);
    assert_int_equal(rig_calls(scene.rig, "vkWaitSemaphores"), 0);
    assert_int_equal(rig_statistics(scene.rig, other).pendingCount, 1);
    rig_expect_silence(scene.rig);
    rig_signal(scene.rig, scene.timeline, 1);
    maarDestroyPool(scene.rig->allocator, other);
    rig_expect_silence(scene.rig);
    close_scene(&scene);
}

static void* signal_a_waiting_pool(void* data)
{
    struct scene* scene = data;
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
        .semaphore = scene->timeline,
        .value = 1,
    };
    bool waited = await(&scene->waiting, 4 * SECOND);
    atomic_store(&scene->result,
                 waited ? vkSignalSemaphore(scene->rig->device, &info) : VK_TIMEOUT);
    return NULL;
}

static void pool_waits_for_its_own(void** state)
{
    (void)state;
    static struct scene scene;
    open_scene(&scene);
    VkSemaphore never = rig_create_timeline(scene.rig, 0);
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 0};
    MaarPool pool = rig_create_pool(scene.rig, &info);
    free_at(&scene, allocate_from(&scene, VK_NULL_HANDLE, MAAR_DEDICATED_AUTO), never);
    free_at(&scene, allocate_from(&scene, pool, MAAR_DEDICATED_AUTO), scene.timeline);
    start(&scene, signal_a_waiting_pool);
    maarDestroyPool(scene.rig->allocator, pool);
    join(&scene);
    assert_int_equal(atomic_load(&scene.result), VK_SUCCESS);
    rig_expect_silence(scene.rig); /* nothing was freed before its time */
    assert_int_equal(rig_statistics(scene.rig, VK_NULL_HANDLE).pendingCount, 1);
    rig_signal(scene.rig, never, 1);
    assert_int_equal(maarWaitPending(scene.rig->allocator, SECOND), VK_SUCCESS);
    vkDestroySemaphore(scene.rig->device, never, NULL);
    close_scene(&scene);
}

/* Items that run at once, on one thread, beside items that another one queues and collects. */
static void* run_items(void* data)
{
    struct scene* scene = data;
    struct maar_retire* retire = &scene->rig->allocator->retire;
    for (uint32_t i = 0; i < 300000; ++i) {
        struct maar_retire_item* item = maar_retire_prepare(retire, 0, NULL);
        if (item != NULL) {
            maar_retire_run(retire, item);
        }
    }
    return NULL;
}

static void items_of_two_threads_are_all_counted(void** state)
{
    (void)state;
    static struct scene scene;
    open_scene(&scene);
    struct maar_retire* retire = &scene.rig->allocator->retire;
    const MaarPoint passed = {VK_NULL_HANDLE, 0};
    start(&scene, run_items);
    for (uint32_t i = 0; i < 100000; ++i) {
        struct maar_retire_item* item = maar_retire_prepare(retire, 1, &passed);
        assert_non_null(item);
        maar_retire_queue(retire, item);
        assert_int_equal(maarCollect(scene.rig->allocator, NULL), VK_SUCCESS);
    }
    join(&scene);
    assert_int_equal(maar_atomic64_load(&retire->item_count), 0);
    close_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(pool_may_go_while_another_collects),
        rig_unit_test(collecting_goes_on_while_another_waits),
        rig_unit_test(pool_goes_at_once_while_another_waits),
        rig_unit_test(host_points_are_not_all_while_another_has_more),
        rig_unit_test(wait_is_not_over_while_another_collects),
        rig_unit_test(pool_does_not_wait_for_others),
        rig_unit_test(pool_waits_for_its_own),
        rig_unit_test(items_of_two_threads_are_all_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
