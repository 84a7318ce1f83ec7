/*
 * Visits of arenas: while a run of defragmentation works in the blocks of a pool, a thread that
 * finds its arena locked goes on in another one.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include "core/memory/object_handle.h"
#include "core/memory/pool.h"
#include "core/memory/slot_home.h"
#include "maar/move.h"
#include "tests/rig/rig.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { BYTES = 4096, IN_BLOCK = 256, BLOCKS = 2, LIVE = BLOCKS * IN_BLOCK - 8, LONG_MS = 500 };

struct visit_scene {
    struct rig* rig;
    MaarPool pool;
    struct maar_pool* own;
    MaarAllocation memories[LIVE];
    /* A thread that holds a lock until it shall let go, or for LONG_MS. */
    pthread_t holder;
    struct maar_arena* held;
    atomic_bool holds;
    atomic_bool lets_go;
    atomic_bool let_go_early; /* before the time was over */
};

static void nap(void)
{
    const struct timespec time = {.tv_nsec = 1000000};
    nanosleep(&time, NULL);
}

static MaarAllocation take_one(struct visit_scene* scene)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pool = scene->pool;
    how.dedicated = MAAR_DEDICATED_NEVER;
    return rig_allocate(scene->rig, BYTES, &how);
}

static void* hold(void* argument)
{
    struct visit_scene* scene = argument;
    maar_mutex_lock(&scene->held->lock);
    atomic_store(&scene->holds, true);
    for (uint32_t ms = 0; ms < LONG_MS && !atomic_load(&scene->lets_go); ++ms) {
        nap();
    }
    atomic_store(&scene->let_go_early, atomic_load(&scene->lets_go));
    maar_mutex_unlock(&scene->held->lock);
    return NULL;
}

/* Another thread holds an arena while this one allocates. Returns whether this thread waited until
 * that one let go by itself. */
static bool allocate_beside_holder(struct visit_scene* scene, struct maar_arena* arena,
                                   MaarAllocation* memory)
{
    scene->held = arena;
    atomic_store(&scene->holds, false);
    atomic_store(&scene->lets_go, false);
    assert_int_equal(pthread_create(&scene->holder, NULL, hold, scene), 0);
    while (!atomic_load(&scene->holds)) {
        nap();
    }
    *memory = take_one(scene);
    atomic_store(&scene->lets_go, true);
    assert_int_equal(pthread_join(scene->holder, NULL), 0);
    return !atomic_load(&scene->let_go_early);
}

static struct visit_scene* open_visit_scene(void)
{
    static struct visit_scene scene;
    memset(&scene, 0, sizeof scene);
    scene.rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = 1,
        .blockSize = (VkDeviceSize)BYTES * IN_BLOCK,
        .maxBlockCount = BLOCKS,
    };
    scene.pool = rig_create_pool(scene.rig, &info);
    scene.own = maar_pool_of(scene.rig->allocator, scene.pool);
    for (uint32_t i = 0; i < LIVE; ++i) {
        scene.memories[i] = take_one(&scene);
    }
    return &scene;
}

static void close_visit_scene(struct visit_scene* scene)
{
    maarFreeMemories(scene->rig->allocator, LIVE, scene->memories);
    maarDestroyPool(scene->rig->allocator, scene->pool);
    rig_expect_silence(scene->rig);
    rig_check(scene->rig);
}

static MaarDefragmentation begin_run(struct visit_scene* scene)
{
    const MaarDefragmentationBeginInfo begin = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = scene->pool,
        .goal = MAAR_DEFRAGMENTATION_GOAL_BLOCKS,
    };
    MaarDefragmentation run = VK_NULL_HANDLE;
    assert_int_equal(maarBeginDefragmentation(scene->rig->allocator, &begin, &run), VK_SUCCESS);
    return run;
}

static uint32_t own_number(struct visit_scene* scene)
{
    return maar_thread_arena(&scene->rig->allocator->threads);
}

/* The blocks are all in the first arena, which is this thread's. The pool may have no further
 * block, so what another arena gives is a place in one of them, adopted. */
static void a_thread_leaves_its_arena_to_a_run(void** state)
{
    (void)state;
    struct visit_scene* scene = open_visit_scene();
    MaarAllocation memory[3] = {VK_NULL_HANDLE};
    assert_int_equal(own_number(scene), 0);
    MaarDefragmentation run = begin_run(scene);
    /* It needs a block, which it gets only when the holder lets go. Its number is another one at
     * once. */
    (void)allocate_beside_holder(scene, scene->own->first_arena, &memory[0]);
    const uint32_t number = own_number(scene);
    assert_int_not_equal(number, 0);
    assert_non_null(maar_arena_set_at(&scene->own->arenas, number));

    /* Frees from afar say which blocks this thread works on. It adopts one of them. */
    for (uint32_t i = 0; i < IN_BLOCK / 2; ++i) {
        maarFreeMemory(scene->rig->allocator, scene->memories[i]);
        scene->memories[i] = VK_NULL_HANDLE;
    }
    for (uint32_t i = 0; i < 4; ++i) {
        MaarAllocation one = take_one(scene);
        maarFreeMemory(scene->rig->allocator, one);
    }
    /* From now on a lock of the first arena is nothing to it. */
    assert_false(allocate_beside_holder(scene, scene->own->first_arena, &memory[1]));
    assert_int_equal(own_number(scene), number);
    maarEndDefragmentation(scene->rig->allocator, run);
    maarFreeMemories(scene->rig->allocator, 3, memory);
    close_visit_scene(scene);
}

static void a_thread_leaves_once_for_each_run(void** state)
{
    (void)state;
    struct visit_scene* scene = open_visit_scene();
    MaarAllocation memory[4] = {VK_NULL_HANDLE};
    assert_int_equal(own_number(scene), 0);
    MaarDefragmentation run = begin_run(scene);
    (void)allocate_beside_holder(scene, scene->own->first_arena, &memory[0]);
    const uint32_t number = own_number(scene);
    assert_int_not_equal(number, 0);
    (void)allocate_beside_holder(scene, maar_arena_set_at(&scene->own->arenas, number), &memory[1]);
    assert_int_equal(own_number(scene), number);
    maarEndDefragmentation(scene->rig->allocator, run);

    run = begin_run(scene);
    (void)allocate_beside_holder(scene, maar_arena_set_at(&scene->own->arenas, number), &memory[2]);
    assert_int_not_equal(own_number(scene), number);
    maarEndDefragmentation(scene->rig->allocator, run);
    maarFreeMemories(scene->rig->allocator, 4, memory);
    close_visit_scene(scene);
}

static void a_thread_keeps_its_arena_without_a_run(void** state)
{
    (void)state;
    struct visit_scene* scene = open_visit_scene();
    MaarAllocation memory[2] = {VK_NULL_HANDLE};
    assert_int_equal(own_number(scene), 0);
    (void)allocate_beside_holder(scene, scene->own->first_arena, &memory[0]);
    assert_int_equal(own_number(scene), 0);
    maarEndDefragmentation(scene->rig->allocator, begin_run(scene));
    (void)allocate_beside_holder(scene, scene->own->first_arena, &memory[1]);
    assert_int_equal(own_number(scene), 0);
    maarFreeMemories(scene->rig->allocator, 2, memory);
    close_visit_scene(scene);
}

/* The thread that begins a run has a number, so the first thread that it meets gets another one. */
static void the_thread_of_a_run_counts_as_one(void** state)
{
    (void)state;
    struct visit_scene* scene = open_visit_scene();
    assert_int_equal(maar_known_thread_arena(&scene->rig->allocator->threads), MAAR_ARENAS);
    maarEndDefragmentation(scene->rig->allocator, begin_run(scene));
    assert_int_equal(maar_known_thread_arena(&scene->rig->allocator->threads), 0);
    close_visit_scene(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(a_thread_leaves_its_arena_to_a_run),
        rig_unit_test(a_thread_leaves_once_for_each_run),
        rig_unit_test(a_thread_keeps_its_arena_without_a_run),
        rig_unit_test(the_thread_of_a_run_counts_as_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
