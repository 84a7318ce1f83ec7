/*
 * A pool with room for one block, and threads in two arenas of it: while one makes the block, or
 * holds the arena that has it, the other must wait rather than fail.
 */
#define _POSIX_C_SOURCE 200809L
#include "core/memory/object_handle.h"
#include "core/memory/pool.h"
#include "tests/rig/rig.h"

#include <pthread.h>
#include <time.h>

struct scene {
    struct rig* rig;
    MaarPool pool;
    _Atomic int meeting, in_driver, slow, done;
    VkResult results[2];
    MaarAllocation memories[2];
};

static void nap(long ms)
{
    const struct timespec time = {.tv_nsec = ms * 1000000};
    nanosleep(&time, NULL);
}

static void on_call(void* data, const char* function)
{
    struct scene* scene = data;
    if (atomic_load(&scene->slow) && strcmp(function, "vkAllocateMemory") == 0) {
        atomic_store(&scene->in_driver, 1);
        nap(200);
    }
}

static MaarAllocation allocate(struct scene* scene, VkResult* result)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pool = scene->pool;
    const MaarMemoryRequest request = rig_request(4096, 16, 2, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation memory = VK_NULL_HANDLE;
    *result = maarAllocateMemory(scene->rig->allocator, &request, &how, &memory);
    return memory;
}

struct actor {
    struct scene* scene;
    int number;
};

static void* act(void* argument)
{
    struct actor* actor = argument;
    struct scene* scene = actor->scene;
    VkResult result;
    /* Until the threads have met, and have an arena each. */
    while (atomic_load(&scene->meeting)) {
        MaarAllocation memory = allocate(scene, &result);
        maarFreeMemory(scene->rig->allocator, memory);
    }
    (void)atomic_fetch_add(&scene->done, 1);
    while (actor->number == 0 ? !atomic_load(&scene->slow) : !atomic_load(&scene->in_driver)) {
        nap(1);
    }
    scene->memories[actor->number] = allocate(scene, &scene->results[actor->number]);
    return NULL;
}

static void run(bool limited)
{
    static struct scene scene;
    static const VkDeviceSize limits[3] = {0, 65536, 0};
    memset(&scene, 0, sizeof scene);
    scene.rig = rig_new();
    rig_open(scene.rig, NULL);
    if (limited) {
        scene.rig->create_info.heapSizeLimitCount = 3;
        scene.rig->create_info.pHeapSizeLimits = limits;
    }
    rig_make_allocator(scene.rig);
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = 1,
        .blockSize = MIB,
        .maxBlockCount = 1,
    };
    if (limited) {
        MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
        how.memoryTypeBits = 2;
        maarFreeMemory(scene.rig->allocator, rig_allocate(scene.rig, 4096, &how));
    } else {
        scene.pool = rig_create_pool(scene.rig, &info);
    }
    struct maar_pool* pool =
        limited ? scene.rig->allocator->pools : maar_pool_of(scene.rig->allocator, scene.pool);
    atomic_store(&scene.meeting, 1);
    pthread_t threads[2];
    struct actor actors[2] = {{&scene, 0}, {&scene, 1}};
    for (int i = 0; i < 2; ++i) {
        pthread_create(&threads[i], NULL, act, &actors[i]);
    }
    while (maar_atomic32_load(&scene.rig->allocator->threads.count) < 2 ||
           maar_atomic32_load(&pool->arenas.count) < 2) {
        nap(1);
    }
    atomic_store(&scene.meeting, 0);
    while (atomic_load(&scene.done) < 2) {
        nap(1);
    }
    assert_int_equal(maarTrim(scene.rig->allocator, scene.pool, NULL), VK_SUCCESS);
    assert_int_equal(rig_statistics(scene.rig, scene.pool).blockCount, 0);
    scene.rig->call = on_call;
    scene.rig->call_data = &scene;
    atomic_store(&scene.slow, 1);
    for (int i = 0; i < 2; ++i) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(scene.results[0], VK_SUCCESS);
    assert_int_equal(scene.results[1], VK_SUCCESS);
    maarFreeMemories(scene.rig->allocator, 2, scene.memories);
    maarDestroyPool(scene.rig->allocator, scene.pool);
    rig_close(scene.rig);
}

/* The only block lies in an arena that somebody holds just now, and has room. */
static void others_wait_for_a_arena_in_use(void** state)
{
    (void)state;
    static struct scene scene;
    memset(&scene, 0, sizeof scene);
    scene.rig = rig_new();
    rig_start(scene.rig, NULL);
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = 1,
        .blockSize = MIB,
        .maxBlockCount = 1,
    };
    scene.pool = rig_create_pool(scene.rig, &info);
    struct maar_pool* pool = maar_pool_of(scene.rig->allocator, scene.pool);
    VkResult result = VK_NOT_READY;
    MaarAllocation first = allocate(&scene, &result);
    assert_int_equal(result, VK_SUCCESS);
    /* Both find it in use. It becomes the arena of one of them; the other gets one of its own, in
     * which nothing is. */
    maar_mutex_lock(&pool->first_arena->lock);
    atomic_store(&scene.slow, 1);
    atomic_store(&scene.in_driver, 1);
    pthread_t threads[2];
    struct actor actors[2] = {{&scene, 0}, {&scene, 1}};
    for (int i = 0; i < 2; ++i) {
        pthread_create(&threads[i], NULL, act, &actors[i]);
    }
    while (maar_atomic32_load(&pool->arenas.count) < 2) {
        nap(1);
    }
    nap(100);
    maar_mutex_unlock(&pool->first_arena->lock);
    for (int i = 0; i < 2; ++i) {
        pthread_join(threads[i], NULL);
        assert_int_equal(scene.results[i], VK_SUCCESS);
    }
    maarFreeMemories(scene.rig->allocator, 2, scene.memories);
    maarFreeMemory(scene.rig->allocator, first);
    maarDestroyPool(scene.rig->allocator, scene.pool);
    rig_close(scene.rig);
}

/* ---- what a wait costs ---- */

enum { SLEEPERS = 3 };

struct sleeper {
    struct scene* scene;
    VkResult result;
    MaarAllocation memory;
    uint64_t processor_ns;
};

static uint64_t own_processor_ns(void)
{
    struct timespec time = {0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void* allocate_meanwhile(void* argument)
{
    struct sleeper* sleeper = argument;
    while (!atomic_load(&sleeper->scene->in_driver)) {
        nap(1);
    }
    const uint64_t before = own_processor_ns();
    sleeper->memory = allocate(sleeper->scene, &sleeper->result);
    sleeper->processor_ns = own_processor_ns() - before;
    return NULL;
}

/* A thread of low priority may sleep in the driver for long: here for 200 ms. */
static void nobody_spins_while_a_thread_sleeps_in_the_driver(void** state)
{
    (void)state;
    static struct scene scene;
    memset(&scene, 0, sizeof scene);
    scene.rig = rig_new();
    rig_start(scene.rig, NULL);
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = 1,
        .blockSize = MIB,
        .maxBlockCount = 1,
    };
    scene.pool = rig_create_pool(scene.rig, &info);
    scene.rig->call = on_call;
    scene.rig->call_data = &scene;
    atomic_store(&scene.slow, 1);
    pthread_t threads[SLEEPERS];
    struct sleeper sleepers[SLEEPERS];
    for (int i = 0; i < SLEEPERS; ++i) {
        sleepers[i] = (struct sleeper){.scene = &scene};
        pthread_create(&threads[i], NULL, allocate_meanwhile, &sleepers[i]);
    }
    VkResult result = VK_NOT_READY;
    MaarAllocation first = allocate(&scene, &result);
    assert_int_equal(result, VK_SUCCESS);
    for (int i = 0; i < SLEEPERS; ++i) {
        pthread_join(threads[i], NULL);
        assert_int_equal(sleepers[i].result, VK_SUCCESS);
        assert_true(sleepers[i].processor_ns < 50 * 1000000u);
        maarFreeMemory(scene.rig->allocator, sleepers[i].memory);
    }
    maarFreeMemory(scene.rig->allocator, first);
    maarDestroyPool(scene.rig->allocator, scene.pool);
    rig_close(scene.rig);
}

static void others_wait_for_the_last_block(void** state)
{
    (void)state;
    run(false);
}

static void others_wait_for_the_last_room_of_a_heap(void** state)
{
    (void)state;
    run(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(others_wait_for_a_arena_in_use),
        rig_unit_test(others_wait_for_the_last_block),
        rig_unit_test(others_wait_for_the_last_room_of_a_heap),
        rig_unit_test(nobody_spins_while_a_thread_sleeps_in_the_driver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
