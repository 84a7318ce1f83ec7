/*
 * A request that is about to fail waits for what other threads are freeing at that moment: the
 * bytes of objects that they destroy, and blocks that they release.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/rig/rig.h"

#include <pthread.h>
#include <sched.h>

#include "core/memory/allocator_state.h"
#include "core/memory/object_handle.h"
#include "core/memory/pool.h"
#include "core/port_time.h"

static const VkDeviceSize slot_size = 65536;
static const uint32_t host_type = 1;

/* One thread that frees, and lingers in foreign code meanwhile. */
struct scene {
    struct rig* rig;
    pthread_t thread;
    VkResult (*free_something)(MaarAllocator allocator);
    const char* lingers_in; /* a function of the driver */
    pthread_mutex_t* lock;  /* of the program, which the foreign code takes; may be NULL */
    _Atomic bool lingering;
    _Atomic uint32_t observed;
    bool calls_back; /* the callback for device memory allocates, which it must not do */
    VkResult inner;
    bool waited; /* for somebody, before that failed */
    struct maar_pool* pool;
};

static void linger(struct scene* scene)
{
    const uint64_t deadline = maar_deadline_ns(50000000);
    atomic_store(&scene->lingering, true);
    while (maar_time_left_ns(deadline) > 0) {
        (void)sched_yield();
    }
}

static void linger_in_driver(void* data, const char* function)
{
    struct scene* scene = data;
    if (scene->lingers_in == NULL || strcmp(function, scene->lingers_in) != 0) {
        return;
    }
    if (scene->lock == NULL) {
        linger(scene);
        return;
    }
    if (atomic_exchange(&scene->lingering, true)) {
        return; /* the other thread is here already */
    }
    (void)pthread_mutex_lock(scene->lock);
    (void)pthread_mutex_unlock(scene->lock);
}

static VkBool32 VKAPI_PTR observe(void* data, const MaarOutOfMemoryInfo* info)
{
    struct scene* scene = data;
    (void)info;
    (void)atomic_fetch_add(&scene->observed, 1);
    return VK_FALSE;
}

static MaarAllocationCreateInfo how_to(MaarPool pool)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pool = pool;
    how.dedicated = MAAR_DEDICATED_NEVER;
    how.memoryTypeBits = 1u << host_type;
    how.flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    return how;
}

static void VKAPI_PTR allocate_in_callback(void* data, uint32_t type, VkDeviceMemory memory,
                                           VkDeviceSize size)
{
    struct scene* scene = data;
    (void)type;
    (void)memory;
    (void)size;
    if (scene->calls_back) {
        const MaarAllocationCreateInfo how = how_to(VK_NULL_HANDLE);
        MaarAllocation allocation = VK_NULL_HANDLE;
        const uint64_t deadline = maar_deadline_ns(900000000);
        scene->inner = rig_try(scene->rig, slot_size, &how, &allocation);
        scene->waited = maar_time_left_ns(deadline) == 0;
    }
}

/* limit: of the heap of host memory, in slots; 0: none. */
static void open_scene(struct scene* scene, uint32_t limit)
{
    VkDeviceSize limits[3] = {0, limit * slot_size, 0};
    memset(scene, 0, sizeof *scene);
    scene->rig = rig_new();
    rig_open(scene->rig, NULL);
    scene->rig->call = linger_in_driver;
    scene->rig->call_data = scene;
    scene->rig->create_info.heapSizeLimitCount = 3;
    scene->rig->create_info.pHeapSizeLimits = limits;
    scene->rig->create_info.preferredBlockSize = 16 * slot_size;
    scene->rig->create_info.pfnOutOfMemory = observe;
    scene->rig->create_info.pOutOfMemoryUserData = scene;
    scene->rig->create_info.pfnDeviceAllocate = NULL;
    scene->rig->create_info.pfnDeviceFree = allocate_in_callback;
    scene->rig->create_info.pDeviceMemoryUserData = scene;
    rig_make_allocator(scene->rig);
}

static void* free_elsewhere(void* data)
{
    struct scene* scene = data;
    (void)scene->free_something(scene->rig->allocator);
    return NULL;
}

/* Starts the other thread and returns when it is in the driver. */
static void start_freeing(struct scene* scene, VkResult (*free_something)(MaarAllocator))
{
    scene->free_something = free_something;
    assert_int_equal(pthread_create(&scene->thread, NULL, free_elsewhere, scene), 0);
    while (!atomic_load(&scene->lingering)) {
        (void)sched_yield();
    }
}

static void join(struct scene* scene)
{
    assert_int_equal(pthread_join(scene->thread, NULL), 0);
    scene->lingers_in = NULL;
    assert_int_equal(atomic_load(&scene->observed), 0);
}

static VkResult trim(MaarAllocator allocator)
{
    return maarTrim(allocator, VK_NULL_HANDLE, NULL);
}

static VkResult collect(MaarAllocator allocator)
{
    return maarCollect(allocator, NULL);
}

static void request_waits_for_a_block_that_another_releases(void** state)
{
    (void)state;
    static struct scene scene;
    const MaarAllocationCreateInfo how = how_to(VK_NULL_HANDLE);
    open_scene(&scene, 1);
    maarFreeMemory(scene.rig->allocator, rig_allocate(scene.rig, slot_size, &how));
    scene.lingers_in = "vkFreeMemory";
    start_freeing(&scene, trim);
    MaarAllocation again = rig_allocate(scene.rig, slot_size, &how);
    join(&scene);
    maarFreeMemory(scene.rig->allocator, again);
}

static void request_waits_for_a_dedicated_block_that_another_frees(void** state)
{
    (void)state;
    static struct scene scene;
    MaarAllocationCreateInfo how = how_to(VK_NULL_HANDLE);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    open_scene(&scene, 1);
    const MaarPoint point = {VK_NULL_HANDLE, 1};
    MaarAllocation first = rig_allocate(scene.rig, slot_size, &how);
    assert_int_equal(maarFreeMemoryAfter(scene.rig->allocator, first, 1, &point), VK_SUCCESS);
    assert_int_equal(maarAdvanceHostTimeline(scene.rig->allocator, 1), VK_SUCCESS);
    scene.lingers_in = "vkFreeMemory";
    start_freeing(&scene, collect);
    MaarAllocation again = rig_allocate(scene.rig, slot_size, &how);
    join(&scene);
    maarFreeMemory(scene.rig->allocator, again);
}

/* The thread that releases the block waits for a lock that this one holds while it allocates. */
static void request_ends_although_the_driver_waits_for_its_lock(void** state)
{
    (void)state;
    static struct scene scene;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const MaarAllocationCreateInfo how = how_to(VK_NULL_HANDLE);
    MaarAllocation again = VK_NULL_HANDLE;
    open_scene(&scene, 1);
    maarFreeMemory(scene.rig->allocator, rig_allocate(scene.rig, slot_size, &how));
    scene.lingers_in = "vkFreeMemory";
    scene.lock = &lock;
    assert_int_equal(pthread_mutex_lock(&lock), 0);
    start_freeing(&scene, trim);
    assert_int_equal(rig_try(scene.rig, slot_size, &how, &again), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(pthread_mutex_unlock(&lock), 0);
    assert_true(atomic_exchange(&scene.observed, 0) > 0);
    join(&scene);
    rig_forget_messages(scene.rig);
    maarFreeMemory(scene.rig->allocator, rig_allocate(scene.rig, slot_size, &how));
}

static MaarAllocation made[2];
static _Atomic uint32_t made_count;

static VkResult allocate(MaarAllocator allocator)
{
    const MaarAllocationCreateInfo how = how_to(VK_NULL_HANDLE);
    const MaarMemoryRequest request =
        rig_request(4096, 256, 1u << host_type, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation memory = VK_NULL_HANDLE;
    const VkResult result = maarAllocateMemory(allocator, &request, &how, &memory);
    if (result == VK_SUCCESS) {
        made[atomic_fetch_add(&made_count, 1)] = memory;
    }
    return result;
}

/* The thread that makes a block waits for a lock that this one holds while it allocates from the
 * same pool. limit: 1 if the heap has no room for a second block. */
static void expect_the_end_of_a_request_beside_a_maker(uint32_t limit)
{
    static struct scene scene;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    open_scene(&scene, limit);
    atomic_store(&made_count, 0);
    scene.lingers_in = "vkAllocateMemory";
    scene.lock = &lock;
    assert_int_equal(pthread_mutex_lock(&lock), 0);
    start_freeing(&scene, allocate);
    assert_int_equal(allocate(scene.rig->allocator),
                     limit != 0 ? VK_ERROR_OUT_OF_DEVICE_MEMORY : VK_SUCCESS);
    assert_int_equal(pthread_mutex_unlock(&lock), 0);
    assert_true((atomic_exchange(&scene.observed, 0) > 0) == (limit != 0));
    join(&scene);
    const MaarStatistics statistics = rig_statistics(scene.rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.allocationCount, limit != 0 ? 1 : 2);
    assert_int_equal(statistics.blockCount, limit != 0 ? 1 : 2);
    rig_forget_messages(scene.rig);
    rig_check(scene.rig);
    maarFreeMemories(scene.rig->allocator, atomic_load(&made_count), made);
}

static void request_ends_although_the_maker_of_a_block_waits_for_its_lock(void** state)
{
    (void)state;
    expect_the_end_of_a_request_beside_a_maker(0);
}

static void request_ends_beside_the_maker_of_the_last_block(void** state)
{
    (void)state;
    expect_the_end_of_a_request_beside_a_maker(1);
}

static void* destroy_pool(void* data)
{
    struct scene* scene = data;
    maarDestroyPool(scene->rig->allocator, scene->pool->handle);
    return NULL;
}

/* The wait before the end of a pool fails, since the device is lost. Another thread is still
 * destroying a buffer in the pool. */
static void pool_of_a_lost_device_waits_for_what_is_in_hand(void** state)
{
    (void)state;
    static struct scene scene;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t ending;
    const MaarPoint point = {VK_NULL_HANDLE, 1};
    open_scene(&scene, 0);
    MaarAllocator allocator = scene.rig->allocator;
    const MaarPoolCreateInfo info = {.memoryTypeIndex = host_type, .blockSize = slot_size};
    const MaarPool pool = rig_create_pool(scene.rig, &info);
    const MaarAllocationCreateInfo how = how_to(pool);
    const MaarAllocationCreateInfo plain = how_to(VK_NULL_HANDLE);
    const VkBufferCreateInfo buffer_info = rig_buffer_info(slot_size);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(allocator, &buffer_info, &how, &buffer, &memory), VK_SUCCESS);
    assert_int_equal(maarDestroyBufferAfter(allocator, buffer, memory, 1, &point), VK_SUCCESS);
    assert_int_equal(maarAdvanceHostTimeline(allocator, 1), VK_SUCCESS);
    scene.pool = maar_pool_of(allocator, pool);
    scene.lingers_in = "vkDestroyBuffer";
    scene.lock = &lock;
    assert_int_equal(pthread_mutex_lock(&lock), 0);
    start_freeing(&scene, collect);
    rig_set_fault(scene.rig, "vkAllocateMemory", 1, 1, VK_ERROR_DEVICE_LOST);
    assert_int_equal(rig_try(scene.rig, slot_size, &plain, &memory), VK_ERROR_DEVICE_LOST);
    rig_clear_faults(scene.rig);
    assert_int_equal(pthread_create(&ending, NULL, destroy_pool, &scene), 0);
    linger(&scene); /* until that thread waits */
    assert_int_equal(pthread_mutex_unlock(&lock), 0);
    assert_int_equal(pthread_join(ending, NULL), 0);
    join(&scene);
    rig_forget_messages(scene.rig);
}

/* flags: of the second request. */
static void wait_for_a_buffer(MaarAllocationCreateFlags flags)
{
    static struct scene scene;
    open_scene(&scene, 0);
    MaarAllocator allocator = scene.rig->allocator;
    const MaarPoolCreateInfo info = {
        .memoryTypeIndex = host_type,
        .blockSize = slot_size,
        .maxBlockCount = 1,
    };
    MaarPool pool = rig_create_pool(scene.rig, &info);
    MaarAllocationCreateInfo how = how_to(pool);
    const VkBufferCreateInfo buffer_info = rig_buffer_info(slot_size);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(allocator, &buffer_info, &how, &buffer, &memory), VK_SUCCESS);
    const MaarPoint point = {VK_NULL_HANDLE, 1};
    assert_int_equal(maarDestroyBufferAfter(allocator, buffer, memory, 1, &point), VK_SUCCESS);
    assert_int_equal(maarAdvanceHostTimeline(allocator, 1), VK_SUCCESS);
    scene.lingers_in = "vkDestroyBuffer";
    start_freeing(&scene, collect);
    how.flags |= flags;
    MaarAllocation again = rig_allocate(scene.rig, slot_size, &how);
    join(&scene);
    maarFreeMemory(allocator, again);
    maarDestroyPool(allocator, pool);
}

static void request_waits_for_a_buffer_that_another_destroys(void** state)
{
    (void)state;
    wait_for_a_buffer(0);
}

static void request_for_what_is_there_waits_for_a_buffer_too(void** state)
{
    (void)state;
    wait_for_a_buffer(MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT);
}

static void* hold_arena(void* data)
{
    struct scene* scene = data;
    struct maar_pool* pool = scene->pool;
    /* The first thread that is numbered uses the first arena; the other one gets its own. */
    assert_int_equal(maar_thread_arena(&scene->rig->allocator->threads), 0);
    maar_mutex_lock(&pool->first_arena->lock);
    linger(scene);
    maar_mutex_unlock(&pool->first_arena->lock);
    return NULL;
}

static void pool_with_room_does_not_grow_while_another_reads_it(void** state)
{
    (void)state;
    static struct scene scene;
    open_scene(&scene, 0);
    MaarAllocator allocator = scene.rig->allocator;
    const MaarPoolCreateInfo info = {.memoryTypeIndex = host_type, .blockSize = 2 * slot_size};
    MaarPool pool = rig_create_pool(scene.rig, &info);
    const MaarAllocationCreateInfo how = how_to(pool);
    MaarAllocation memory[2] = {rig_allocate(scene.rig, slot_size, &how), VK_NULL_HANDLE};
    scene.pool = maar_pool_of(allocator, pool);
    assert_int_equal(pthread_create(&scene.thread, NULL, hold_arena, &scene), 0);
    while (!atomic_load(&scene.lingering)) {
        (void)sched_yield();
    }
    memory[1] = rig_allocate(scene.rig, slot_size, &how);
    join(&scene);
    assert_int_equal(rig_statistics(scene.rig, pool).blockCount, 1);
    maarFreeMemories(allocator, 2, memory);
    maarDestroyPool(allocator, pool);
}

/* It would wait for itself. */
static void callback_that_calls_all_the_same_is_survived(void** state)
{
    (void)state;
    static struct scene scene;
    const MaarAllocationCreateInfo how = how_to(VK_NULL_HANDLE);
    open_scene(&scene, 1);
    maarFreeMemory(scene.rig->allocator, rig_allocate(scene.rig, slot_size, &how));
    scene.calls_back = true;
    assert_int_equal(maarTrim(scene.rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(scene.inner, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_false(scene.waited);
    scene.calls_back = false;
    rig_forget_messages(scene.rig);
}

static void callback_of_a_collector_that_calls_all_the_same_is_survived(void** state)
{
    (void)state;
    static struct scene scene;
    MaarAllocationCreateInfo how = how_to(VK_NULL_HANDLE);
    how.dedicated = MAAR_DEDICATED_ALWAYS; /* its block goes with its item */
    open_scene(&scene, 1);
    const MaarPoint point = {VK_NULL_HANDLE, 1};
    MaarAllocation memory = rig_allocate(scene.rig, slot_size, &how);
    scene.calls_back = true;
    assert_int_equal(maarFreeMemoryAfter(scene.rig->allocator, memory, 1, &point), VK_SUCCESS);
    assert_int_equal(maarAdvanceHostTimeline(scene.rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(maarTrim(scene.rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(scene.inner, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_false(scene.waited);
    scene.calls_back = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(request_waits_for_a_block_that_another_releases),
        rig_unit_test(request_waits_for_a_dedicated_block_that_another_frees),
        rig_unit_test(request_ends_although_the_driver_waits_for_its_lock),
        rig_unit_test(request_ends_although_the_maker_of_a_block_waits_for_its_lock),
        rig_unit_test(request_ends_beside_the_maker_of_the_last_block),
        rig_unit_test(pool_of_a_lost_device_waits_for_what_is_in_hand),
        rig_unit_test(request_waits_for_a_buffer_that_another_destroys),
        rig_unit_test(request_for_what_is_there_waits_for_a_buffer_too),
        rig_unit_test(pool_with_room_does_not_grow_while_another_reads_it),
        rig_unit_test(callback_that_calls_all_the_same_is_survived),
        rig_unit_test(callback_of_a_collector_that_calls_all_the_same_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
