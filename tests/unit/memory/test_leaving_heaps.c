/*
 * A request that is about to fail waits for a second at most in all, and only for memory that
 * helps: of its own heaps, and of its pool if the limit of the pool is the reason.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/rig/rig.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>

#include "core/port_time.h"
#include "maar/paging.h"

static const VkDeviceSize slot_size = 65536;
static const uint32_t device_type = 0; /* each of another heap */
static const uint32_t host_type = 1;

static struct rig* rig;
static const char* stuck_in; /* a function of the driver; the first call waits at the gate */
static sem_t gate;
static _Atomic bool is_stuck;
static _Atomic bool churns; /* each call of vkAllocateMemory frees something in another heap */
static _Atomic uint32_t observed;
static uint64_t host_value;
static MaarPool doomed;

static MaarAllocationCreateInfo in_type(uint32_t type)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.dedicated = MAAR_DEDICATED_NEVER;
    how.memoryTypeBits = 1u << type;
    how.flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    return how;
}

/* Frees an allocation in host memory, whose block stays. */
static void churn(void)
{
    const MaarAllocationCreateInfo how = in_type(host_type);
    const MaarPoint point = {VK_NULL_HANDLE, ++host_value};
    MaarAllocation memory = rig_allocate(rig, 256, &how);
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, memory, 1, &point), VK_SUCCESS);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, host_value), VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
}

static void on_call(void* data, const char* function)
{
    (void)data;
    if (strcmp(function, "vkAllocateMemory") == 0 && atomic_load(&churns)) {
        churn();
    }
    if (stuck_in != NULL && strcmp(function, stuck_in) == 0 && !atomic_exchange(&is_stuck, true)) {
        (void)sem_wait(&gate);
    }
}

static VkBool32 VKAPI_PTR ask_again(void* data, const MaarOutOfMemoryInfo* info)
{
    (void)data;
    (void)info;
    (void)atomic_fetch_add(&observed, 1);
    return VK_TRUE;
}

/* limit: of the heap of host memory, in slots. */
static void open_rig(const struct rig_setup* setup, uint32_t limit)
{
    const VkDeviceSize limits[3] = {0, limit * slot_size, 0};
    stuck_in = NULL;
    host_value = 0;
    atomic_store(&is_stuck, false);
    atomic_store(&churns, false);
    atomic_store(&observed, 0);
    rig = rig_new();
    rig_open(rig, setup);
    rig->call = on_call;
    rig->create_info.heapSizeLimitCount = 3;
    rig->create_info.pHeapSizeLimits = limits;
    rig->create_info.preferredBlockSize = 16 * slot_size;
    rig->create_info.pfnOutOfMemory = ask_again;
    rig_make_allocator(rig);
}

static void* trim_elsewhere(void* data)
{
    (void)data;
    (void)maarTrim(rig->allocator, VK_NULL_HANDLE, NULL);
    return NULL;
}

static void* destroy_elsewhere(void* data)
{
    (void)data;
    maarDestroyPool(rig->allocator, doomed);
    return NULL;
}

/* Starts a thread that is stuck in the driver when the function returns. */
static pthread_t start(void* (*function)(void*), const char* where)
{
    pthread_t thread;
    stuck_in = where;
    assert_int_equal(sem_init(&gate, 0, 0), 0);
    assert_int_equal(pthread_create(&thread, NULL, function, NULL), 0);
    while (!atomic_load(&is_stuck)) {
        (void)sched_yield();
    }
    return thread;
}

static void finish(pthread_t thread)
{
    assert_int_equal(sem_post(&gate), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    stuck_in = NULL;
}

/* Opens the gate when the main thread has had time to begin to wait. */
static void* open_gate_later(void* data)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    (void)data;
    (void)nanosleep(&pause, NULL);
    (void)sem_post(&gate);
    return NULL;
}

static void request_waits_a_second_in_all_though_the_observer_asks_again(void** state)
{
    (void)state;
    const MaarAllocationCreateInfo how = in_type(host_type);
    MaarAllocation memory = VK_NULL_HANDLE;
    open_rig(NULL, 1);
    maarFreeMemory(rig->allocator, rig_allocate(rig, slot_size, &how));
    const pthread_t thread = start(trim_elsewhere, "vkFreeMemory");
    const uint64_t deadline = maar_deadline_ns(4000000000);
    assert_int_equal(rig_try(rig, slot_size, &how, &memory), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_true(maar_time_left_ns(deadline) > 0);
    assert_int_equal(atomic_load(&observed), MAAR_MAX_OUT_OF_MEMORY_ATTEMPTS);
    finish(thread);
    rig_forget_messages(rig);
}

static void request_for_what_is_there_does_not_wait_for_a_block_that_leaves(void** state)
{
    (void)state;
    MaarAllocationCreateInfo how = in_type(host_type);
    MaarAllocation memory = VK_NULL_HANDLE;
    open_rig(NULL, 1);
    maarFreeMemory(rig->allocator, rig_allocate(rig, slot_size, &how));
    const pthread_t thread = start(trim_elsewhere, "vkFreeMemory");
    const uint64_t deadline = maar_deadline_ns(900000000);
    how.flags |= MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT;
    assert_int_equal(rig_try(rig, slot_size, &how, &memory), VK_ERROR_OUT_OF_POOL_MEMORY);
    assert_true(maar_time_left_ns(deadline) > 0);
    finish(thread);
}

static void request_does_not_wait_for_a_block_of_another_heap(void** state)
{
    (void)state;
    MaarAllocationCreateInfo how = in_type(host_type);
    MaarAllocation memory = VK_NULL_HANDLE;
    open_rig(NULL, 1);
    maarFreeMemory(rig->allocator, rig_allocate(rig, slot_size, &how));
    const pthread_t thread = start(trim_elsewhere, "vkFreeMemory");
    const uint64_t deadline = maar_deadline_ns(900000000);
    how = in_type(device_type);
    rig_set_fault(rig, "vkAllocateMemory", 1, 1000, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(rig_try(rig, slot_size, &how, &memory), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_true(maar_time_left_ns(deadline) > 0);
    rig_clear_faults(rig);
    finish(thread);
    rig_forget_messages(rig);
}

static void request_waits_for_the_blocks_of_a_pool_that_another_destroys(void** state)
{
    (void)state;
    MaarAllocationCreateInfo how = in_type(host_type);
    open_rig(NULL, 2);
    const MaarPoolCreateInfo info = {
        .memoryTypeIndex = host_type, .blockSize = slot_size, .retainedEmptySize = 2 * slot_size};
    doomed = rig_create_pool(rig, &info);
    how.pool = doomed;
    MaarAllocation memory[2] = {rig_allocate(rig, slot_size, &how),
                                rig_allocate(rig, slot_size, &how)};
    maarFreeMemories(rig->allocator, 2, memory);
    const pthread_t thread = start(destroy_elsewhere, "vkFreeMemory");
    pthread_t opener;
    how.pool = VK_NULL_HANDLE;
    assert_int_equal(pthread_create(&opener, NULL, open_gate_later, NULL), 0);
    memory[0] = rig_allocate(rig, 2 * slot_size, &how);
    assert_int_equal(pthread_join(opener, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(atomic_load(&observed), 0);
    maarFreeMemory(rig->allocator, memory[0]);
}

static void frees_in_another_heap_do_not_repeat_a_refused_request(void** state)
{
    (void)state;
    const MaarAllocationCreateInfo how = in_type(device_type);
    MaarAllocation memory = VK_NULL_HANDLE;
    uint64_t calls[2];
    open_rig(NULL, 0);
    const MaarAllocationCreateInfo kept = in_type(host_type);
    MaarAllocation keeper = rig_allocate(rig, 4096, &kept);
    for (uint32_t i = 0; i < 2; ++i) {
        atomic_store(&churns, i == 1);
        rig_set_fault(rig, "vkAllocateMemory", 1, 100000, VK_ERROR_OUT_OF_DEVICE_MEMORY);
        const uint64_t before = rig_calls(rig, "vkAllocateMemory");
        assert_int_equal(rig_try(rig, slot_size, &how, &memory), VK_ERROR_OUT_OF_DEVICE_MEMORY);
        calls[i] = rig_calls(rig, "vkAllocateMemory") - before;
        rig_clear_faults(rig);
        rig_forget_messages(rig);
    }
    assert_int_equal(calls[1], calls[0]);
    maarFreeMemory(rig->allocator, keeper);
}

/* Returns how often a program that commits and decommits in frames, and in each frame asks a full
 * pool, calls a function of the driver. */
static uint64_t count_in_frames(MaarReservation reservation, const MaarAllocationCreateInfo* probe)
{
    const MaarPageRange range = {.offset = 0, .size = 16 * MIB};
    const uint64_t before = rig_calls(rig, "vkFreeMemory");
    MaarAllocation memory = VK_NULL_HANDLE;
    for (uint32_t frame = 0; frame < 10; ++frame) {
        assert_int_equal(maarCommitPages(rig->allocator, reservation, 1, &range), VK_SUCCESS);
        assert_int_equal(maarDecommitPages(rig->allocator, reservation, 1, &range), VK_SUCCESS);
        assert_true(rig_try(rig, 4096, probe, &memory) < 0);
        rig_forget_messages(rig);
    }
    return rig_calls(rig, "vkFreeMemory") - before;
}

static void full_pool_or_heap_leaves_the_page_blocks_of_other_heaps_alone(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_sparse(), .paging = true};
    MaarAllocationCreateInfo pages = in_type(device_type);
    const VkBufferCreateInfo buffer = rig_buffer_info(64 * MIB);
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pBufferInfo = &buffer,
        .pMemoryInfo = &pages,
    };
    MaarReservation reservation = VK_NULL_HANDLE;
    open_rig(&setup, 1);
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &reservation), VK_SUCCESS);
    const MaarPoolCreateInfo pool_info = {
        .memoryTypeIndex = device_type, .blockSize = slot_size, .maxBlockCount = 1};
    const MaarPool pool = rig_create_pool(rig, &pool_info);
    MaarAllocationCreateInfo how = in_type(device_type);
    how.pool = pool;
    const MaarAllocation full = rig_allocate(rig, slot_size, &how);
    assert_int_equal(count_in_frames(reservation, &how), 0); /* the pool's limit is the reason */
    const MaarAllocationCreateInfo other = in_type(host_type);
    const MaarAllocation heap = rig_allocate(rig, slot_size, &other);
    assert_int_equal(count_in_frames(reservation, &other), 0);
    maarFreeMemory(rig->allocator, heap);
    maarFreeMemory(rig->allocator, full);
    maarDestroyPool(rig->allocator, pool);
    maarDestroyReservation(rig->allocator, reservation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(request_waits_a_second_in_all_though_the_observer_asks_again),
        rig_unit_test(request_for_what_is_there_does_not_wait_for_a_block_that_leaves),
        rig_unit_test(request_does_not_wait_for_a_block_of_another_heap),
        rig_unit_test(request_waits_for_the_blocks_of_a_pool_that_another_destroys),
        rig_unit_test(frees_in_another_heap_do_not_repeat_a_refused_request),
        rig_unit_test(full_pool_or_heap_leaves_the_page_blocks_of_other_heaps_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
