/*
 * Semaphores, fences, queues and commands of the simulated driver; leaks, callbacks, and what it
 * sees of threads that get in each other's way.
 */
#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include "simulated_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static VkSemaphore make_timeline(const struct simulated_fixture* f, uint64_t value)
{
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                            .initialValue = value};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    VkSemaphore semaphore = VK_NULL_HANDLE;
    assert_int_equal(f->vkCreateSemaphore(f->device, &info, NULL, &semaphore), VK_SUCCESS);
    return semaphore;
}

static VkResult wait_for(const struct simulated_fixture* f, VkSemaphore semaphore, uint64_t value,
                         uint64_t timeout)
{
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &semaphore,
                                      .pValues = &value};
    return f->vkWaitSemaphores(f->device, &info, timeout);
}

static void signal_to(const struct simulated_fixture* f, VkSemaphore semaphore, uint64_t value)
{
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = semaphore, .value = value};
    assert_int_equal(f->vkSignalSemaphore(f->device, &info), VK_SUCCESS);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void timeline_counts_upwards(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkSemaphore semaphore = make_timeline(f, 5);
    uint64_t value = 0;
    assert_int_equal(f->vkGetSemaphoreCounterValue(f->device, semaphore, &value), VK_SUCCESS);
    assert_int_equal(value, 5);
    assert_int_equal(wait_for(f, semaphore, 5, 0), VK_SUCCESS);
    assert_int_equal(wait_for(f, semaphore, 6, 0), VK_TIMEOUT);
    signal_to(f, semaphore, 6);
    assert_int_equal(wait_for(f, semaphore, 6, 0), VK_SUCCESS);
    signal_to(f, semaphore, 6);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_SEMAPHORE, 1);
    f->vkDestroySemaphore(f->device, semaphore, NULL);
}

static void wait_ends_at_its_deadline(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkSemaphore semaphore = make_timeline(f, 0);
    const uint64_t before = now_ns();
    assert_int_equal(wait_for(f, semaphore, 1, 20000000), VK_TIMEOUT);
    const uint64_t took = now_ns() - before;
    assert_true(took >= 20000000);
    f->vkDestroySemaphore(f->device, semaphore, NULL);
}

struct late_signal {
    const struct simulated_fixture* f;
    VkSemaphore semaphore;
    VkResult result;
};

static void* wait_in_thread(void* data)
{
    struct late_signal* late = data;
    late->result = wait_for(late->f, late->semaphore, 1, UINT64_MAX);
    return NULL;
}

static void wait_wakes_on_signal_and_on_loss(void** state)
{
    const struct simulated_fixture* f = *state;
    for (int lost = 0; lost < 2; lost++) {
        struct late_signal late = {f, make_timeline(f, 0), VK_NOT_READY};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, wait_in_thread, &late), 0);
        if (lost) {
            const MaarSimulatedFault fault = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_FAULT,
                                              .pFunctionName = "vkDeviceWaitIdle"};
            assert_int_equal(maarSimulatedSetFault(f->physical, &fault), VK_SUCCESS);
            assert_int_equal(f->vkDeviceWaitIdle(f->device), VK_ERROR_DEVICE_LOST);
        } else {
            signal_to(f, late.semaphore, 1);
        }
        pthread_join(thread, NULL);
        assert_int_equal(late.result, lost ? VK_ERROR_DEVICE_LOST : VK_SUCCESS);
        f->vkDestroySemaphore(f->device, late.semaphore, NULL);
    }
}

static void submission_signals_at_once(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkSemaphore semaphore = make_timeline(f, 0);
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence = VK_NULL_HANDLE;
    assert_int_equal(f->vkCreateFence(f->device, &fence_info, NULL, &fence), VK_SUCCESS);
    assert_int_equal(f->vkGetFenceStatus(f->device, fence), VK_NOT_READY);
    const uint64_t value = 9;
    const VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value};
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .pNext = &timeline,
                                 .signalSemaphoreCount = 1,
                                 .pSignalSemaphores = &semaphore};
    assert_int_equal(f->vkQueueSubmit(f->queue, 1, &submit, fence), VK_SUCCESS);
    assert_int_equal(wait_for(f, semaphore, 9, 0), VK_SUCCESS);
    assert_int_equal(f->vkWaitForFences(f->device, 1, &fence, VK_TRUE, 0), VK_SUCCESS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_SEMAPHORE, 0);
    f->vkDestroyFence(f->device, fence, NULL);
    f->vkDestroySemaphore(f->device, semaphore, NULL);
}

static void commands_need_memory_and_recording(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandPool pool = VK_NULL_HANDLE;
    assert_int_equal(f->vkCreateCommandPool(f->device, &pool_info, NULL, &pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = pool,
                                              .commandBufferCount = 1};
    VkCommandBuffer commands = NULL;
    assert_int_equal(f->vkAllocateCommandBuffers(f->device, &info, &commands), VK_SUCCESS);
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(f->vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    const VkBuffer buffer = fixture_buffer(f, 64, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    f->vkCmdFillBuffer(commands, buffer, 0, VK_WHOLE_SIZE, 0);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_UNBOUND, 1);
    const VkDeviceMemory memory = fixture_memory(f, 0, 4096);
    assert_int_equal(f->vkBindBufferMemory(f->device, buffer, memory, 0), VK_SUCCESS);
    f->vkCmdFillBuffer(commands, buffer, 0, VK_WHOLE_SIZE, 0);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_UNBOUND, 1);
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &commands};
    assert_int_equal(f->vkQueueSubmit(f->queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(fixture_counters(f).violations[MAAR_SIMULATED_VIOLATION_ARGUMENT], 1);
    assert_int_equal(f->vkEndCommandBuffer(commands), VK_SUCCESS);
    assert_int_equal(f->vkQueueSubmit(f->queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    f->vkFreeMemory(f->device, memory, NULL);
    assert_int_equal(fixture_counters(f).violationCount, 2);
    f->vkDestroyBuffer(f->device, buffer, NULL);
    f->vkDestroyCommandPool(f->device, pool, NULL);
    assert_int_equal(fixture_counters(f).liveCount[MAAR_SIMULATED_OBJECT_COMMAND_BUFFER], 0);
}

static void sparse_binds_are_checked(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT,
                                     .size = 100000,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    VkBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(f->vkCreateBuffer(f->device, &info, NULL, &buffer), VK_SUCCESS);
    VkMemoryRequirements requirements;
    f->vkGetBufferMemoryRequirements(f->device, buffer, &requirements);
    assert_int_equal(requirements.size, 131072);
    const VkDeviceMemory memory = fixture_memory(f, 0, 131072);
    VkSparseMemoryBind bind = {.resourceOffset = 65536, .size = 65536, .memory = memory};
    const VkSparseBufferMemoryBindInfo buffer_bind = {
        .buffer = buffer, .bindCount = 1, .pBinds = &bind};
    const VkBindSparseInfo sparse = {.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
                                     .bufferBindCount = 1,
                                     .pBufferBinds = &buffer_bind};
    assert_int_equal(f->vkQueueBindSparse(f->queue, 1, &sparse, VK_NULL_HANDLE), VK_SUCCESS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_BIND_RANGE, 0);
    bind.resourceOffset = 131072;
    assert_int_equal(f->vkQueueBindSparse(f->queue, 1, &sparse, VK_NULL_HANDLE), VK_SUCCESS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_BIND_RANGE, 1);
    assert_int_equal(f->vkBindBufferMemory(f->device, buffer, memory, 0),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    f->vkDestroyBuffer(f->device, buffer, NULL);
    f->vkFreeMemory(f->device, memory, NULL);
}

static void sparse_address_space_has_an_end(void** state)
{
    const struct simulated_fixture* f = *state;
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT,
                               .size = (VkDeviceSize)3 << 29,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    VkBuffer first = VK_NULL_HANDLE;
    VkBuffer second = VK_NULL_HANDLE;
    assert_int_equal(f->vkCreateBuffer(f->device, &info, NULL, &first), VK_SUCCESS);
    assert_int_equal(f->vkCreateBuffer(f->device, &info, NULL, &second),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_true(second == VK_NULL_HANDLE);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_ARGUMENT, 1);
    f->vkDestroyBuffer(f->device, first, NULL);
    assert_int_equal(f->vkCreateBuffer(f->device, &info, NULL, &second), VK_SUCCESS);
    f->vkDestroyBuffer(f->device, second, NULL);
    info.flags = 0;
    info.size = ((VkDeviceSize)1 << 31) + 1;
    assert_int_equal(f->vkCreateBuffer(f->device, &info, NULL, &first),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(fixture_counters(f).liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 0);
}

static void leaks_are_written_down_and_freed(void** state)
{
    struct simulated_fixture* f = *state;
    fixture_memory(f, 0, 4096);
    fixture_buffer(f, 64, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    fixture_buffer(f, 64, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    f->vkDestroyDevice(f->device, NULL);
    f->device = NULL;
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_LEAK, 2);
    const MaarSimulatedCounters counters = fixture_counters(f);
    assert_int_equal(counters.heapLive[0], 0);
    for (int i = 0; i < MAAR_SIMULATED_OBJECT_COUNT; i++) {
        assert_int_equal(counters.liveCount[i], 0);
    }
}

static void* VKAPI_PTR host_allocate(void* data, size_t size, size_t alignment,
                                     VkSystemAllocationScope scope)
{
    (void)alignment;
    (void)scope;
    int* live = data;
    if (*live < 0) {
        return NULL;
    }
    ++*live;
    return malloc(size);
}

static void VKAPI_PTR host_free(void* data, void* memory)
{
    if (memory != NULL) {
        --*(int*)data;
        free(memory);
    }
}

static void callbacks_are_used_and_must_match(void** state)
{
    const struct simulated_fixture* f = *state;
    int live = 0;
    const VkAllocationCallbacks callbacks = {
        .pUserData = &live, .pfnAllocation = host_allocate, .pfnFree = host_free};
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = 64,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(f->vkCreateBuffer(f->device, &info, &callbacks, &buffer), VK_SUCCESS);
    assert_int_equal(live, 1);
    f->vkDestroyBuffer(f->device, buffer, NULL);
    assert_int_equal(live, 0);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_CALLBACKS, 1);
    live = -1;
    assert_int_equal(f->vkCreateBuffer(f->device, &info, &callbacks, &buffer),
                     VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_null(buffer);
    assert_int_equal(fixture_counters(f).liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 0);
}

/* Threads collide when they like; far fewer rounds do as a rule. */
enum { RACE_ROUNDS = 5000000 };

struct racer {
    const struct simulated_fixture* f;
    VkQueue queue;
    atomic_bool seen;
};

static void VKAPI_PTR note_race(void* data, MaarSimulatedViolation violation, const char* text)
{
    struct racer* racer = data;
    (void)text;
    if (violation == MAAR_SIMULATED_VIOLATION_RACE) {
        atomic_store(&racer->seen, true);
    }
}

static void* submit_often(void* data)
{
    struct racer* racer = data;
    for (int i = 0; i < RACE_ROUNDS && !atomic_load(&racer->seen); i++) {
        racer->f->vkQueueSubmit(racer->queue, 0, NULL, VK_NULL_HANDLE);
    }
    return NULL;
}

static void queue_shared_without_a_lock_is_seen(void** state)
{
    const struct simulated_fixture* f = *state;
    struct racer racer = {.f = f, .queue = f->queue};
    pthread_t threads[2];
    maarSimulatedSetCallbacks(f->physical, NULL, note_race, &racer);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, submit_often, &racer), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    maarSimulatedSetCallbacks(f->physical, NULL, NULL, NULL);
    const MaarSimulatedCounters counters = fixture_counters(f);
    assert_true(counters.violations[MAAR_SIMULATED_VIOLATION_RACE] > 0);
    assert_int_equal(counters.violations[MAAR_SIMULATED_VIOLATION_RACE], counters.violationCount);
}

static void* allocate_often(void* data)
{
    const struct simulated_fixture* f = data;
    for (int i = 0; i < 2000; i++) {
        VkDeviceMemory memory = VK_NULL_HANDLE;
        void* mapped = NULL;
        const VkBuffer buffer = fixture_buffer(f, 64, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
        if (fixture_allocate(f, 1, 4096, NULL, &memory) == VK_SUCCESS &&
            f->vkBindBufferMemory(f->device, buffer, memory, 0) == VK_SUCCESS &&
            f->vkMapMemory(f->device, memory, 0, VK_WHOLE_SIZE, 0, &mapped) == VK_SUCCESS) {
            *(volatile int*)mapped = i;
            f->vkUnmapMemory(f->device, memory);
        }
        f->vkDestroyBuffer(f->device, buffer, NULL);
        f->vkFreeMemory(f->device, memory, NULL);
    }
    return NULL;
}

static void threads_with_their_own_objects_are_fine(void** state)
{
    struct simulated_fixture* f = *state;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, allocate_often, f), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    const MaarSimulatedCounters counters = fixture_counters(f);
    assert_int_equal(counters.violationCount, 0);
    assert_int_equal(counters.liveCount[MAAR_SIMULATED_OBJECT_MEMORY], 0);
    assert_int_equal(maarSimulatedGetCallCount(f->physical, "vkAllocateMemory"), 8000);
}

#define SYNC_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SYNC_TEST(timeline_counts_upwards),
        SYNC_TEST(wait_ends_at_its_deadline),
        SYNC_TEST(wait_wakes_on_signal_and_on_loss),
        SYNC_TEST(submission_signals_at_once),
        SYNC_TEST(commands_need_memory_and_recording),
        SYNC_TEST(sparse_binds_are_checked),
        SYNC_TEST(sparse_address_space_has_an_end),
        SYNC_TEST(leaks_are_written_down_and_freed),
        SYNC_TEST(callbacks_are_used_and_must_match),
        SYNC_TEST(queue_shared_without_a_lock_is_seen),
        SYNC_TEST(threads_with_their_own_objects_are_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
