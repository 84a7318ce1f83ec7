/*
 * Threads that do the work of the host for a manager of residents, beside one thread that uses,
 * writes, destroys and creates residents. Every byte that a use reads is compared.
 *
 * The threads start and stop while pieces are queued, and read sources slowly, so that pieces are
 * forgotten at all stages. Other threads request memory that the residents have.
 */
#include "tests/unit/residency/residency_fixture.h"

#include <pthread.h>
#include <sched.h>

enum { WORKERS = 3, BUFFERS = 12, SOURCED = 4, STEPS = 400, REQUESTS = 20, MOST_STEPS = 20000 };

struct worker {
    pthread_t thread;
    MaarAllocator allocator;
    MaarResidency manager;
    uint32_t done;
};

static atomic_bool is_over;
static struct {
    MaarResident handle;
    uint32_t word;   /* contents */
    uint32_t source; /* what pfnRead gives */
} residents[BUFFERS];

static void* work(void* data)
{
    struct worker* worker = data;
    while (!atomic_load(&is_over)) {
        uint32_t done = 0;
        const VkResult result = maarWorkResidency(worker->allocator, worker->manager, 1, &done);
        if (result != VK_SUCCESS && result != VK_INCOMPLETE) {
            return worker;
        }
        worker->done += done;
        sched_yield();
    }
    return NULL;
}

static VkResult VKAPI_PTR read_slowly(void* data, VkDeviceSize size, void* bytes)
{
    const uint32_t word = *(const uint32_t*)data;
    for (VkDeviceSize i = 0; i < size / sizeof word; ++i) {
        ((uint32_t*)bytes)[i] = word;
        if (i % 1024 == 0) {
            sched_yield();
        }
    }
    return VK_SUCCESS;
}

static void make(uint32_t at, uint32_t word)
{
    residents[at].word = word;
    if (at < SOURCED) {
        residents[at].source = word;
        residents[at].handle = create_sourced(UNIT, read_slowly, &residents[at].source);
    } else {
        MaarUse use = VK_NULL_HANDLE;
        residents[at].handle = create_buffer(UNIT, 0);
        /* Threads that request memory may have all of it now. */
        while (try_use(residents[at].handle, MAAR_ACCESS_OVERWRITE_BIT, MAAR_USE_WAIT_BIT, &use) ==
               VK_ERROR_OUT_OF_DEVICE_MEMORY) {
            sched_yield();
        }
        assert_true(use != VK_NULL_HANDLE);
        fill_and_end(use, word);
    }
}

/* Uses one resident; without waiting, it may not be ready. */
static void step(struct rig_random* dice, uint32_t at, uint32_t number)
{
    const MaarUseFlags flags = rig_below(dice, 2) == 0 ? MAAR_USE_WAIT_BIT : 0;
    const uint32_t what = rig_below(dice, 8);
    const MaarResident resident = residents[at].handle;
    MaarUse use = VK_NULL_HANDLE;
    if (what == 0) {
        update();
    } else if (what == 1 && at >= SOURCED) {
        destroy_resident(resident);
        make(at, number);
    } else if (what < 4 && try_use(resident, MAAR_ACCESS_OVERWRITE_BIT,
                                   flags | MAAR_USE_MAY_DEMOTE_BIT, &use) == VK_SUCCESS) {
        fill_and_end(use, number);
        residents[at].word = number;
    } else if (what >= 4 && try_use(resident, MAAR_ACCESS_READ_BIT, flags | MAAR_USE_MAY_DEMOTE_BIT,
                                    &use) == VK_SUCCESS) {
        assert_int_equal(object.isFresh, VK_FALSE);
        compare_and_end(use, resident, residents[at].word);
    }
}

static void work_of_many_threads_keeps_contents(void** state)
{
    struct worker workers[WORKERS] = {{.done = 0}};
    struct rig_random dice = {rig_seed(11)};
    uint32_t done = 0;
    (void)state;
    MaarResidencyCreateInfo info = manager_info(4 * UNIT, 6 * UNIT);
    info.compressedBudget = 16 * UNIT;
    info.pfnEvent = NULL;
    open_device();
    open_manager(&info);
    atomic_store(&is_over, false);
    for (uint32_t i = 0; i < WORKERS; ++i) {
        workers[i].allocator = rig->allocator;
        workers[i].manager = manager;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        make(i, i + 1);
    }
    for (uint32_t i = 0; i < STEPS; ++i) {
        step(&dice, rig_below(&dice, BUFFERS), 100 + i);
        rig_forget_messages(rig);
    }
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        expect_buffer(residents[i].handle, residents[i].word);
    }
    expect_no_pins();
    atomic_store(&is_over, true);
    for (uint32_t i = 0; i < WORKERS; ++i) {
        void* result = NULL;
        assert_int_equal(pthread_join(workers[i].thread, &result), 0);
        assert_null(result);
        done += workers[i].done;
    }
    print_message("%u pieces of work on %d threads\n", done, (int)WORKERS);
    assert_true(done > 0);
    assert_int_equal(manager_state().lostCount, 0);
    close_scene();
}

/* ---- threads that need memory ---- */

static atomic_uint yielded;
static atomic_uint met;
static atomic_uint refused;

static VkBool32 VKAPI_PTR ask_manager(void* data, const MaarOutOfMemoryInfo* info)
{
    VkDeviceSize released = 0;
    (void)data;
    const VkResult result = maarYieldResidency(rig->allocator, manager, 1u << info->memoryTypeIndex,
                                               info->size, 100000000, &released);
    if (result == VK_SUCCESS || result == VK_INCOMPLETE) {
        atomic_fetch_add(&yielded, released > 0 ? 1 : 0);
        return released > 0 ? VK_TRUE : VK_FALSE;
    }
    return VK_FALSE;
}

static pthread_mutex_t queue_mutex = PTHREAD_MUTEX_INITIALIZER;

static void VKAPI_PTR take_queue(void* data, VkQueue queue)
{
    (void)data;
    (void)queue;
    (void)pthread_mutex_lock(&queue_mutex);
}

static void VKAPI_PTR leave_queue(void* data, VkQueue queue)
{
    (void)data;
    (void)queue;
    (void)pthread_mutex_unlock(&queue_mutex);
}

static void* request_memory(void* data)
{
    struct worker* worker = data;
    const VkBufferCreateInfo info = rig_buffer_info(3 * UNIT);
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT,
        .dedicated = MAAR_DEDICATED_ALWAYS,
    };
    while (!atomic_load(&is_over)) {
        VkBuffer buffer = VK_NULL_HANDLE;
        MaarAllocation memory = VK_NULL_HANDLE;
        const VkResult result = maarCreateBuffer(worker->allocator, &info, &how, &buffer, &memory);
        if (result != VK_SUCCESS && result != VK_ERROR_OUT_OF_DEVICE_MEMORY) {
            return worker;
        }
        atomic_fetch_add(result == VK_SUCCESS ? &met : &refused, 1);
        for (uint32_t i = 0; i < 10; ++i) {
            sched_yield();
        }
        maarDestroyBuffer(worker->allocator, buffer, memory);
    }
    return NULL;
}

static void requests_of_other_threads_get_memory_of_residents(void** state)
{
    struct worker workers[WORKERS] = {{.done = 0}};
    struct rig_random dice = {rig_seed(12)};
    (void)state;
    MaarResidencyCreateInfo info = manager_info(8 * UNIT, 6 * UNIT);
    info.compressedBudget = 16 * UNIT;
    info.pfnEvent = NULL;
    observer = ask_manager;
    lock_queue = take_queue;
    unlock_queue = leave_queue;
    open_device();
    find_heap();
    leave(8 * UNIT);
    open_manager(&info);
    atomic_store(&is_over, false);
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        make(i, i + 1);
    }
    for (uint32_t i = 0; i < WORKERS; ++i) {
        workers[i].allocator = rig->allocator;
        workers[i].manager = manager;
        assert_int_equal(
            pthread_create(&workers[i].thread, NULL, i == 0 ? work : request_memory, &workers[i]),
            0);
    }
    for (uint32_t i = 0; i < STEPS || (atomic_load(&yielded) < REQUESTS && i < MOST_STEPS); ++i) {
        if (i % 16 == 0) {
            /* The manager wants back what it has given up. */
            assert_int_equal(
                maarSetResidencyBudget(rig->allocator, manager, MAAR_TIER_DEVICE, 8 * UNIT),
                VK_SUCCESS);
        }
        step(&dice, rig_below(&dice, BUFFERS), 100 + i);
        rig_forget_messages(rig);
        sched_yield();
    }
    atomic_store(&is_over, true);
    for (uint32_t i = 0; i < WORKERS; ++i) {
        void* result = NULL;
        assert_int_equal(pthread_join(workers[i].thread, &result), 0);
        assert_null(result);
    }
    update();
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        expect_buffer(residents[i].handle, residents[i].word);
    }
    expect_no_pins();
    print_message("%u requests met, %u refused; residents made room for %u\n", atomic_load(&met),
                  atomic_load(&refused), atomic_load(&yielded));
    assert_true(atomic_load(&yielded) > 0);
    assert_true(atomic_load(&met) > 0);
    assert_int_equal(manager_state().lostCount, 0);
    rig_forget_messages(rig);
    close_scene();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(work_of_many_threads_keeps_contents),
        rig_unit_test(requests_of_other_threads_get_memory_of_residents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
