/*
 * What the header promises of a pool, in a pool of two arenas.
 */
#define _POSIX_C_SOURCE 200809L
#include "core/memory/object_handle.h"
#include "core/memory/pool.h"
#include "tests/rig/rig.h"

#include <pthread.h>
#include <time.h>

/* Two threads, each with arenas of its own, that do their steps one after another. */
struct hand {
    struct scene* scene;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t bell;
    void (*task)(struct hand* hand);
    bool ends;
    VkDeviceSize size;
    MaarAllocation memory;
    VkResult result;
};

struct scene {
    struct rig* rig;
    MaarPool pool;
    _Atomic int meeting, in_driver;
    struct hand hands[2];
    _Atomic uint32_t ready; /* spun on: the two must be within some 50 ns of each other */
};

static void nap(long ms)
{
    const struct timespec time = {.tv_nsec = ms * 1000000};
    nanosleep(&time, NULL);
}

static void allocate(struct hand* hand)
{
    struct scene* scene = hand->scene;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pool = scene->pool;
    how.dedicated = MAAR_DEDICATED_NEVER;
    const MaarMemoryRequest request = rig_request(hand->size, 16, 2, MAAR_RESOURCE_KIND_LINEAR);
    hand->result = maarAllocateMemory(scene->rig->allocator, &request, &how, &hand->memory);
}

static void release(struct hand* hand)
{
    maarFreeMemory(hand->scene->rig->allocator, hand->memory);
    hand->memory = VK_NULL_HANDLE;
}

static void meet(struct hand* hand)
{
    hand->size = 64;
    while (atomic_load(&hand->scene->meeting)) {
        allocate(hand);
        release(hand);
    }
}

static void* serve(void* argument)
{
    struct hand* hand = argument;
    pthread_mutex_lock(&hand->lock);
    for (;;) {
        while (hand->task == NULL && !hand->ends) {
            pthread_cond_wait(&hand->bell, &hand->lock);
        }
        if (hand->task == NULL) {
            break;
        }
        void (*task)(struct hand*) = hand->task;
        pthread_mutex_unlock(&hand->lock);
        task(hand);
        pthread_mutex_lock(&hand->lock);
        hand->task = NULL;
        pthread_cond_broadcast(&hand->bell);
    }
    pthread_mutex_unlock(&hand->lock);
    return NULL;
}

static void begin(struct hand* hand, void (*task)(struct hand*))
{
    pthread_mutex_lock(&hand->lock);
    hand->task = task;
    pthread_cond_broadcast(&hand->bell);
    pthread_mutex_unlock(&hand->lock);
}

static void finish(struct hand* hand)
{
    pthread_mutex_lock(&hand->lock);
    while (hand->task != NULL) {
        pthread_cond_wait(&hand->bell, &hand->lock);
    }
    pthread_mutex_unlock(&hand->lock);
}

static void assign(struct hand* hand, void (*task)(struct hand*))
{
    begin(hand, task);
    finish(hand);
}

static struct scene* open_scene_with(MaarPoolCreateInfo info, VkDeviceSize preferred)
{
    /* A test that fails leaves its threads behind. */
    static struct scene scenes[4];
    static int number = 0;
    struct scene* scene = &scenes[number++];
    scene->rig = rig_new();
    rig_start(scene->rig, &(struct rig_setup){.preferred_block = preferred});
    info.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO;
    info.memoryTypeIndex = 1;
    scene->pool = rig_create_pool(scene->rig, &info);
    atomic_store(&scene->meeting, 1);
    for (int i = 0; i < 2; ++i) {
        struct hand* hand = &scene->hands[i];
        hand->scene = scene;
        pthread_mutex_init(&hand->lock, NULL);
        pthread_cond_init(&hand->bell, NULL);
        pthread_create(&hand->thread, NULL, serve, hand);
        begin(hand, meet);
    }
    while (maar_atomic32_load(&scene->rig->allocator->threads.count) < 2 ||
           maar_atomic32_load(&maar_pool_of(scene->rig->allocator, scene->pool)->arenas.count) <
               2) {
        nap(1);
    }
    atomic_store(&scene->meeting, 0);
    finish(&scene->hands[0]);
    finish(&scene->hands[1]);
    assert_int_equal(maarTrim(scene->rig->allocator, scene->pool, NULL), VK_SUCCESS);
    return scene;
}

static void close_scene(struct scene* scene)
{
    for (int i = 0; i < 2; ++i) {
        struct hand* hand = &scene->hands[i];
        pthread_mutex_lock(&hand->lock);
        hand->ends = true;
        pthread_cond_broadcast(&hand->bell);
        pthread_mutex_unlock(&hand->lock);
        pthread_join(hand->thread, NULL);
        maarFreeMemory(scene->rig->allocator, hand->memory);
    }
    maarDestroyPool(scene->rig->allocator, scene->pool);
    rig_close(scene->rig);
}

static struct scene* open_scene(MaarPoolCreateInfo info)
{
    return open_scene_with(info, 0);
}

/* "in order of their numbers within each pool" */
static void blocks_are_listed_in_order(void** state)
{
    (void)state;
    struct scene* scene = open_scene((MaarPoolCreateInfo){.blockSize = MIB});
    MaarAllocation memories[4];
    for (int i = 0; i < 4; ++i) {
        struct hand* hand = &scene->hands[i % 2];
        hand->size = MIB;
        assign(hand, allocate);
        assert_int_equal(hand->result, VK_SUCCESS);
        memories[i] = hand->memory;
        hand->memory = VK_NULL_HANDLE;
    }
    MaarBlockInfo blocks[8];
    for (int i = 0; i < 8; ++i) {
        blocks[i] = (MaarBlockInfo){.sType = MAAR_STRUCTURE_TYPE_BLOCK_INFO};
    }
    uint32_t count = 8;
    assert_int_equal(maarEnumerateBlocks(scene->rig->allocator, scene->pool, &count, blocks),
                     VK_SUCCESS);
    assert_int_equal(count, 4);
    for (uint32_t i = 1; i < count; ++i) {
        assert_true(blocks[i].blockId > blocks[i - 1].blockId);
    }
    maarFreeMemories(scene->rig->allocator, 4, memories);
    close_scene(scene);
}

/* retainedEmptySize: 0, with a preferred size: one empty block is kept. */
static void one_empty_block_is_kept_of_several_arenas(void** state)
{
    (void)state;
    struct scene* scene = open_scene_with((MaarPoolCreateInfo){.blockSize = 0}, 256 * MIB);
    VkDeviceSize least[2];
    scene->hands[0].size = 65536;
    scene->hands[1].size = 8 * MIB;
    for (int i = 0; i < 2; ++i) {
        assign(&scene->hands[i], allocate);
        assert_int_equal(scene->hands[i].result, VK_SUCCESS);
        MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
        assert_int_equal(
            maarGetAllocationInfo(scene->rig->allocator, scene->hands[i].memory, &info),
            VK_SUCCESS);
        least[i] = info.blockSize;
    }
    assert_true(least[1] > least[0]);
    assign(&scene->hands[0], release);
    assign(&scene->hands[1], release);
    const MaarStatistics left = rig_statistics(scene->rig, scene->pool);
    assert_int_equal(left.blockCount, 1);
    assert_true(left.blockBytes == least[0] || left.blockBytes == least[1]);
    close_scene(scene);
}

static void release_at_gate(struct hand* hand)
{
    (void)atomic_fetch_add(&hand->scene->ready, 1);
    while (atomic_load(&hand->scene->ready) % 2 != 0) {
    }
    release(hand);
}

/* The same: one is kept, however two threads meet. */
static void an_empty_block_is_kept(void** state)
{
    (void)state;
    struct scene* scene = open_scene((MaarPoolCreateInfo){.blockSize = MIB});
    uint32_t none = 0;
    const uint32_t rounds = 2000;
    for (uint32_t round = 0; round < rounds; ++round) {
        for (int i = 0; i < 2; ++i) {
            scene->hands[i].size = MIB;
            assign(&scene->hands[i], allocate);
        }
        begin(&scene->hands[0], release_at_gate);
        begin(&scene->hands[1], release_at_gate);
        finish(&scene->hands[0]);
        finish(&scene->hands[1]);
        none +=
            maar_atomic32_load(&maar_pool_of(scene->rig->allocator, scene->pool)->block_count) == 0
                ? 1
                : 0;
    }
    assert_int_equal(none, 0);
    close_scene(scene);
}

static void slow_failure(void* data, const char* function)
{
    struct scene* scene = data;
    if (strcmp(function, "vkAllocateMemory") == 0) {
        atomic_store(&scene->in_driver, 1);
        nap(100);
    }
}

/* minBlockCount: "Blocks made at once and never released" */
static void first_blocks_are_never_released(void** state)
{
    (void)state;
    struct scene* scene = open_scene((MaarPoolCreateInfo){.blockSize = MIB, .minBlockCount = 1});
    scene->hands[0].size = MIB;
    scene->hands[1].size = MIB;
    assign(&scene->hands[0], allocate);
    assert_int_equal(rig_statistics(scene->rig, scene->pool).blockCount, 1);
    rig_set_fault(scene->rig, "vkAllocateMemory", 1, 1000, VK_ERROR_OUT_OF_HOST_MEMORY);
    scene->rig->call = slow_failure;
    scene->rig->call_data = scene;
    begin(&scene->hands[1], allocate);
    while (!atomic_load(&scene->in_driver)) {
        nap(1);
    }
    assign(&scene->hands[0], release);
    VkDeviceSize released = 0;
    assert_int_equal(maarTrim(scene->rig->allocator, scene->pool, &released), VK_SUCCESS);
    finish(&scene->hands[1]);
    scene->rig->call = NULL;
    rig_clear_faults(scene->rig);
    const uint32_t left = rig_statistics(scene->rig, scene->pool).blockCount;
    assert_int_equal(left, 1);
    close_scene(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(blocks_are_listed_in_order),
        rig_unit_test(one_empty_block_is_kept_of_several_arenas),
        rig_unit_test(an_empty_block_is_kept),
        rig_unit_test(first_blocks_are_never_released),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
