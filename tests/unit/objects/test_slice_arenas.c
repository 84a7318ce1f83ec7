/*
 * Slices of two threads that have met: two arenas, each with buffers of its own.
 */
#include "tests/rig/rig.h"

#include <pthread.h>

#include "core/objects/slice_arena.h"

/* The size of the first buffer of an arena, bytes. */
enum { WHOLE = 65536 };

struct scene {
    struct rig* rig;
    struct maar_slice_state* slices;
    MaarSlice other; /* made by the other thread */
    VkResult result;
    atomic_bool held;
    atomic_bool reached_driver;
};

static VkResult take(struct scene* scene, VkDeviceSize size, MaarSlice* slice)
{
    const MaarSliceCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = size,
        .usage = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
        .memoryUsage = MAAR_MEMORY_USAGE_UPLOAD,
    };
    return maarCreateSlice(scene->rig->allocator, &info, slice);
}

static VkBuffer buffer_of(struct scene* scene, MaarSlice slice)
{
    MaarSliceInfo info = {.sType = MAAR_STRUCTURE_TYPE_SLICE_INFO};
    assert_int_equal(maarGetSliceInfo(scene->rig->allocator, slice, &info), VK_SUCCESS);
    return info.buffer;
}

static uint64_t buffer_count(struct scene* scene)
{
    return rig_counters(scene->rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER];
}

static void* take_one(void* argument)
{
    struct scene* scene = argument;
    scene->result = take(scene, 256, &scene->other);
    return NULL;
}

/* This thread has a slice in the first arena. Another thread finds that arena locked and takes a
 * slice. */
static MaarSlice open_scene(struct scene* scene)
{
    const struct rig_setup setup = {.count_host = true};
    MaarSlice own = VK_NULL_HANDLE;
    pthread_t thread;
    memset(scene, 0, sizeof *scene);
    scene->rig = rig_new();
    rig_start(scene->rig, &setup);
    assert_int_equal(take(scene, 256, &own), VK_SUCCESS);
    scene->slices = maar_atomic_pointer_load(&scene->rig->allocator->slices.state);
    assert_int_equal(maar_thread_arena(&scene->rig->allocator->threads), 0);
    maar_mutex_lock(&scene->slices->first_arena.lock);
    assert_int_equal(pthread_create(&thread, NULL, take_one, scene), 0);
    pthread_join(thread, NULL);
    maar_mutex_unlock(&scene->slices->first_arena.lock);
    assert_int_equal(scene->result, VK_SUCCESS);
    assert_int_equal(maar_atomic32_load(&scene->slices->arenas.count), 2);
    return own;
}

static void threads_that_meet_part(void** state)
{
    (void)state;
    struct scene scene;
    MaarSlice own = open_scene(&scene);
    assert_true(buffer_of(&scene, own) != buffer_of(&scene, scene.other));
    assert_int_equal(buffer_count(&scene), 2);
    MaarStatistics statistics = rig_statistics(scene.rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.sliceCount, 2);
    assert_int_equal(statistics.sliceBytes, 512);
    const MaarPoint point = {.value = 1};
    assert_int_equal(maarDestroySliceAfter(scene.rig->allocator, scene.other, 1, &point),
                     VK_SUCCESS);
    statistics = rig_statistics(scene.rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.sliceCount, 1);
    assert_int_equal(statistics.pendingSliceCount, 1);
    assert_int_equal(statistics.pendingSliceBytes, 256);
    assert_int_equal(maarAdvanceHostTimeline(scene.rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(maarCollect(scene.rig->allocator, NULL), VK_SUCCESS);
    maarDestroySlice(scene.rig->allocator, own);
    assert_int_equal(buffer_count(&scene), 2); /* each arena keeps a buffer for its next slice */
    assert_int_equal(maarTrim(scene.rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(buffer_count(&scene), 0);
    rig_expect_silence(scene.rig);
    rig_close(scene.rig);
}

static void room_of_others_is_used_first(void** state)
{
    (void)state;
    struct scene scene;
    MaarSlice slices[3] = {open_scene(&scene)};
    VkBuffer free_buffer = buffer_of(&scene, scene.other);
    maarDestroySlice(scene.rig->allocator, scene.other);
    assert_int_equal(take(&scene, WHOLE, &slices[1]), VK_SUCCESS);
    assert_true(buffer_of(&scene, slices[1]) == free_buffer);
    assert_int_equal(buffer_count(&scene), 2);
    assert_int_equal(take(&scene, WHOLE, &slices[2]), VK_SUCCESS);
    assert_int_equal(buffer_count(&scene), 3);
    for (uint32_t i = 0; i < 3; ++i) {
        maarDestroySlice(scene.rig->allocator, slices[i]);
    }
    assert_int_equal(rig_statistics(scene.rig, VK_NULL_HANDLE).sliceCount, 0);
    rig_close(scene.rig);
}

static void note_call(void* data, const char* function)
{
    struct scene* scene = data;
    (void)function;
    atomic_store(&scene->reached_driver, true);
}

/* Holds the second arena's lock until the driver was asked for a buffer. */
static void* hold_arena(void* argument)
{
    struct scene* scene = argument;
    struct maar_slice_arena* arena = maar_arena_set_at(&scene->slices->arenas, 1);
    maar_mutex_lock(&arena->lock);
    atomic_store(&scene->held, true);
    while (!atomic_load(&scene->reached_driver)) {
    }
    maar_mutex_unlock(&arena->lock);
    return NULL;
}

static void arenas_in_use_are_waited_for_before_failing(void** state)
{
    (void)state;
    struct scene scene;
    MaarSlice own = open_scene(&scene);
    MaarSlice whole = VK_NULL_HANDLE;
    MaarSlice refused = (MaarSlice)(uintptr_t)1;
    pthread_t thread;
    VkBuffer free_buffer = buffer_of(&scene, scene.other);
    maarDestroySlice(scene.rig->allocator, scene.other);
    assert_int_equal(pthread_create(&thread, NULL, hold_arena, &scene), 0);
    while (!atomic_load(&scene.held)) {
    }
    rig_set_fault(scene.rig, "vkCreateBuffer", 1, 1000, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    scene.rig->call_data = &scene;
    scene.rig->call = note_call;
    VkResult result = take(&scene, WHOLE, &whole);
    scene.rig->call = NULL;
    pthread_join(thread, NULL);
    assert_int_equal(result, VK_SUCCESS);
    assert_true(buffer_of(&scene, whole) == free_buffer);
    assert_int_equal(take(&scene, WHOLE, &refused), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_true(refused == VK_NULL_HANDLE);
    assert_int_equal(rig_statistics(scene.rig, VK_NULL_HANDLE).sliceCount, 2);
    rig_clear_faults(scene.rig);
    maarDestroySlice(scene.rig->allocator, own);
    maarDestroySlice(scene.rig->allocator, whole);
    rig_close(scene.rig);
}

static void leaks_of_all_arenas_are_reported(void** state)
{
    (void)state;
    struct scene scene;
    (void)open_scene(&scene);
    maarDestroyAllocator(scene.rig->allocator);
    scene.rig->allocator = VK_NULL_HANDLE;
    assert_int_equal(scene.rig->messages.total, 1);
    rig_expect_message_naming(scene.rig, MAAR_MESSAGE_ID_LEAK, "2");
    rig_close(scene.rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(threads_that_meet_part),
        rig_unit_test(room_of_others_is_used_first),
        rig_unit_test(arenas_in_use_are_waited_for_before_failing),
        rig_unit_test(leaks_of_all_arenas_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
