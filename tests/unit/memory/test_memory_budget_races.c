/*
 * Threads that ask at the same moment: no budget is passed by two that both saw room in it, and a
 * block that one of them is making serves the others too.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/rig/rig.h"

#include <pthread.h>
#include <sched.h>

#include "core/port_time.h"

enum { PAIR = 2, CROWD = 4, CROWD_ITEMS = 40 };

#define MILLISECOND UINT64_C(1000000)

/* A place where two threads meet; who is alone there goes on after a while. */
struct meeting {
    _Atomic bool armed;
    _Atomic uint32_t arrived;
};

struct asker {
    struct rig* rig;
    const MaarAllocationCreateInfo* how;
    VkDeviceSize size;
    pthread_t thread;
    VkResult result;
    MaarAllocation allocation;
};

static void meet(struct meeting* meeting)
{
    if (!atomic_load(&meeting->armed)) {
        return;
    }
    (void)atomic_fetch_add(&meeting->arrived, 1);
    uint64_t deadline = maar_deadline_ns(100 * MILLISECOND);
    while (atomic_load(&meeting->arrived) < PAIR && maar_time_left_ns(deadline) > 0) {
        (void)sched_yield();
    }
}

static void* ask(void* data)
{
    struct asker* asker = data;
    const MaarMemoryRequest request = rig_request(asker->size, 16, 1, MAAR_RESOURCE_KIND_LINEAR);
    asker->result =
        maarAllocateMemory(asker->rig->allocator, &request, asker->how, &asker->allocation);
    return NULL;
}

/* Both ask at once, or the second asks when the first has arrived at a meeting. */
static void ask_both(struct asker* askers, struct rig* rig, VkDeviceSize size,
                     const MaarAllocationCreateInfo* how, struct meeting* first)
{
    for (uint32_t i = 0; i < PAIR; ++i) {
        askers[i] = (struct asker){.rig = rig, .how = how, .size = size};
        assert_int_equal(pthread_create(&askers[i].thread, NULL, ask, &askers[i]), 0);
        while (first != NULL && i == 0 && atomic_load(&first->arrived) == 0) {
            (void)sched_yield();
        }
    }
    for (uint32_t i = 0; i < PAIR; ++i) {
        assert_int_equal(pthread_join(askers[i].thread, NULL), 0);
    }
}

/* ---- two threads, both past the look at the budget ---- */

static struct meeting host_meeting;

/* Between that look and the driver's call a block's record is allocated: there they meet. */
static void* VKAPI_PTR meet_and_allocate(void* user, size_t size, size_t alignment,
                                         VkSystemAllocationScope scope)
{
    (void)user;
    (void)scope;
    meet(&host_meeting);
    size_t unit = alignment < 16 ? 16 : alignment;
#if defined(_WIN32)
    return unit == 16 ? malloc(size) : NULL; /* which is aligned so */
#else
    return aligned_alloc(unit, (size + unit - 1) / unit * unit);
#endif
}

static void* VKAPI_PTR refuse_to_reallocate(void* user, void* original, size_t size,
                                            size_t alignment, VkSystemAllocationScope scope)
{
    (void)user;
    (void)original;
    (void)size;
    (void)alignment;
    (void)scope;
    return NULL;
}

static void VKAPI_PTR free_plainly(void* user, void* memory)
{
    (void)user;
    free(memory);
}

static void disarm_on_allocation(void* data, const char* function)
{
    (void)data;
    if (strcmp(function, "vkAllocateMemory") == 0) {
        atomic_store(&host_meeting.armed, false);
    }
}

/* Two requests of 60 MiB meet at a budget of 100. Within it one of them is refused; without the
 * flag it is served as a last resort, and reported. */
static void race_for_a_budget(MaarDedicated dedicated, bool within)
{
    const VkAllocationCallbacks callbacks = {
        .pfnAllocation = meet_and_allocate,
        .pfnReallocation = refuse_to_reallocate,
        .pfnFree = free_plainly,
    };
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.pAllocationCallbacks = &callbacks;
    rig_make_allocator(rig);
    assert_int_equal(maarSimulatedSetHeapBudget(rig->physical, 0, 100 * MIB, 0), VK_SUCCESS);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = dedicated;
    how.flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    how.flags |= within ? MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT : 0u;
    /* The slots are there afterwards, and no header of a block is left to be used again. */
    MaarAllocationCreateInfo alone = how;
    alone.dedicated = MAAR_DEDICATED_ALWAYS;
    const MaarAllocation first = rig_allocate(rig, 1000, &alone);

    struct asker askers[PAIR];
    atomic_store(&host_meeting.arrived, 0);
    atomic_store(&host_meeting.armed, true);
    rig->call = disarm_on_allocation;
    ask_both(askers, rig, 60 * MIB, &how, NULL);
    rig->call = NULL;
    uint32_t served = 0;
    for (uint32_t i = 0; i < PAIR; ++i) {
        served += askers[i].result == VK_SUCCESS;
        assert_true(askers[i].result == VK_SUCCESS ||
                    askers[i].result == VK_ERROR_OUT_OF_DEVICE_MEMORY);
        assert_int_equal(askers[i].allocation != VK_NULL_HANDLE, askers[i].result == VK_SUCCESS);
    }
    assert_int_equal(served, within ? 1 : 2);
    assert_int_equal(rig_counters(rig).heapPeak[0] <= 100 * MIB, within);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).overBudgetCount, within ? 0 : 1);
    rig_check(rig);
    if (within) {
        rig_expect_message(rig, MAAR_MESSAGE_ID_BUDGET_REACHED);
    } else {
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OVER_BUDGET, "0");
    }
    maarFreeMemory(rig->allocator, askers[0].allocation);
    maarFreeMemory(rig->allocator, askers[1].allocation);
    maarFreeMemory(rig->allocator, first);
    rig_close(rig);
}

static void two_never_share_the_same_room(void** state)
{
    (void)state;
    race_for_a_budget(MAAR_DEDICATED_ALWAYS, true);
    race_for_a_budget(MAAR_DEDICATED_NEVER, true);
}

static void room_lost_to_another_is_exceeded_as_a_last_resort(void** state)
{
    (void)state;
    race_for_a_budget(MAAR_DEDICATED_ALWAYS, false);
    race_for_a_budget(MAAR_DEDICATED_NEVER, false);
}

/* ---- a crowd, as it comes ---- */

struct keeper {
    struct rig* rig;
    pthread_t thread;
    struct rig_random random;
    uint32_t count;
    MaarAllocation made[CROWD_ITEMS];
};

static void* keep_memory(void* data)
{
    struct keeper* keeper = data;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.flags = MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT | MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    for (uint32_t i = 0; i < CROWD_ITEMS; ++i) {
        const MaarMemoryRequest request =
            rig_request(1 + rig_below(&keeper->random, 9000000), 16, 1, MAAR_RESOURCE_KIND_LINEAR);
        how.dedicated = i % 3 == 0 ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_AUTO;
        if (maarAllocateMemory(keeper->rig->allocator, &request, &how,
                               &keeper->made[keeper->count]) == VK_SUCCESS) {
            ++keeper->count;
        } else if (keeper->count > 0) {
            maarFreeMemory(keeper->rig->allocator, keeper->made[--keeper->count]);
        }
    }
    return NULL;
}

static void crowd_stays_within_the_budget(void** state)
{
    (void)state;
    static struct keeper crowd[CROWD];
    struct rig* const rig = rig_begin(NULL);
    assert_int_equal(maarSimulatedSetHeapBudget(rig->physical, 0, 100 * MIB, 0), VK_SUCCESS);
    uint64_t seed = rig_seed(7);
    for (uint32_t i = 0; i < CROWD; ++i) {
        crowd[i] = (struct keeper){.rig = rig, .random = {.state = seed + i}};
        assert_int_equal(pthread_create(&crowd[i].thread, NULL, keep_memory, &crowd[i]), 0);
    }
    for (uint32_t i = 0; i < CROWD; ++i) {
        assert_int_equal(pthread_join(crowd[i].thread, NULL), 0);
    }
    assert_true(rig_counters(rig).heapPeak[0] <= 100 * MIB);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).overBudgetCount, 0);
    assert_true(rig_statistics(rig, VK_NULL_HANDLE).allocationsMade > CROWD);
    assert_true(rig_statistics(rig, VK_NULL_HANDLE).failureCount > 0);
    rig_check(rig);
    for (uint32_t i = 0; i < CROWD; ++i) {
        maarFreeMemories(rig->allocator, crowd[i].count, crowd[i].made);
    }
}

/* ---- a block that another thread is making ---- */

static struct meeting driver_meeting;

static void VKAPI_PTR linger_in_allocation(void* user, uint32_t type, VkDeviceMemory memory,
                                           VkDeviceSize size)
{
    (void)user;
    (void)type;
    (void)memory;
    (void)size;
    meet(&driver_meeting);
}

/* One makes a block, and the other one finds no room meanwhile: it is served from that block. If
 * both begin at the same moment, the pool may give each of them an arena, and so a block. */
static void share_one_block(uint32_t max_block_count)
{
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.pfnDeviceAllocate = linger_in_allocation;
    rig_make_allocator(rig);
    const MaarPoolCreateInfo info = {.blockSize = MIB, .maxBlockCount = max_block_count};
    MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = pool;
    struct asker askers[PAIR];
    atomic_store(&driver_meeting.arrived, 0);
    atomic_store(&driver_meeting.armed, true);
    ask_both(askers, rig, 256, &how, max_block_count == 1 ? NULL : &driver_meeting);
    atomic_store(&driver_meeting.armed, false);
    assert_int_equal(askers[0].result, VK_SUCCESS);
    assert_int_equal(askers[1].result, VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, pool).blockCount, 1);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).failureCount, 0);
    rig_check(rig);
    maarFreeMemory(rig->allocator, askers[0].allocation);
    maarFreeMemory(rig->allocator, askers[1].allocation);
    maarDestroyPool(rig->allocator, pool);
    rig_close(rig);
}

static void last_block_serves_both(void** state)
{
    (void)state;
    share_one_block(1);
}

static void small_misses_share_a_block(void** state)
{
    (void)state;
    share_one_block(0);
}

/* Whoever waits for a block that cannot be made fails too, instead of waiting on. */
static void refused_block_is_waited_for_once(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {.blockSize = MIB, .maxBlockCount = 1};
    MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = pool;
    struct asker askers[PAIR];
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    ask_both(askers, rig, 256, &how, NULL);
    for (uint32_t i = 0; i < PAIR; ++i) {
        assert_int_equal(askers[i].result, VK_ERROR_OUT_OF_DEVICE_MEMORY);
        assert_true(askers[i].allocation == VK_NULL_HANDLE);
    }
    rig_clear_faults(rig);
    rig_check(rig);
    maarFreeMemory(rig->allocator, rig_allocate(rig, 256, &how));
    maarDestroyPool(rig->allocator, pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(two_never_share_the_same_room),
        rig_unit_test(room_lost_to_another_is_exceeded_as_a_last_resort),
        rig_unit_test(crowd_stays_within_the_budget),
        rig_unit_test(last_block_serves_both),
        rig_unit_test(small_misses_share_a_block),
        rig_unit_test(refused_block_is_waited_for_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
