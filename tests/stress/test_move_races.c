/*
 * Two threads that meet at the same allocations: one frees them while the other one commits their
 * moves. Whoever comes first, each byte is free once in the end, each object is destroyed once, and
 * the heavy check agrees.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/rig/rig.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

enum { MEETINGS = 4000, MOVES = 8, MOST_DELAY = 10000, PATIENCE = 1 << 18, SECONDS = 4 };

/* Both threads do each round at the same time. */
struct meeting {
    MaarAllocator allocator;
    MaarAllocation memories[MOVES];
    VkBuffer buffers[MOVES]; /* if movable buffers are destroyed; the free knows no later ones */
    bool has_buffers;
    struct rig_random random;
    _Atomic uint32_t begun; /* rounds */
    _Atomic uint32_t met;
    _Atomic uint32_t delay; /* of the free, in steps; follows the speed of the machine */
    _Atomic uint32_t ended;
};

/* Seldom gives up the processor: both threads shall run at once. */
static void wait_until(const _Atomic uint32_t* count, uint32_t round)
{
    for (uint32_t turn = 1; atomic_load(count) < round; ++turn) {
        if (turn % PATIENCE == 0) {
            (void)sched_yield();
        }
    }
}

/* Lets some time pass: so many steps, or up to a half more. */
static void tarry(struct meeting* meeting)
{
    const uint32_t least = atomic_load(&meeting->delay);
    _Atomic uint32_t left = least + rig_below(&meeting->random, 1 + least / 2);
    while (atomic_load(&left) > 0) {
        (void)atomic_fetch_sub(&left, 1);
    }
}

/* Frees the allocations of each round. */
static void* free_them(void* argument)
{
    struct meeting* const meeting = argument;
    for (uint32_t round = 1; round <= MEETINGS; ++round) {
        wait_until(&meeting->begun, round);
        if (atomic_load(&meeting->begun) == UINT32_MAX) {
            break;
        }
        atomic_store(&meeting->met, round);
        tarry(meeting);
        for (uint32_t i = 0; i < MOVES; ++i) {
            if (meeting->has_buffers) {
                maarDestroyBuffer(meeting->allocator, meeting->buffers[i], meeting->memories[i]);
            } else {
                maarFreeMemory(meeting->allocator, meeting->memories[i]);
            }
        }
        atomic_store(&meeting->ended, round);
    }
    return NULL;
}

/* Makes what moves: memory, or a movable buffer. */
static MaarAllocation make_mover(struct meeting* meeting, struct rig* rig, MaarPool pool,
                                 uint32_t at)
{
    static const MaarMovableInfo movable = {.sType = MAAR_STRUCTURE_TYPE_MOVABLE_INFO};
    const VkDeviceSize size = 64 * (1 + (VkDeviceSize)at);
    const VkBufferCreateInfo info = rig_buffer_info(size);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    MaarAllocation memory = VK_NULL_HANDLE;
    how.pool = pool;
    if (!meeting->has_buffers) {
        return rig_allocate(rig, size, &how);
    }
    how.pNext = &movable;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &meeting->buffers[at], &memory),
                     VK_SUCCESS);
    return memory;
}

/* Records the copies of a batch, which are never executed: nobody reads what is moved. */
static void record_copies(struct rig* rig, MaarMoveBatch batch)
{
    VkCommandPool command_pool = VK_NULL_HANDLE;
    const VkCommandBuffer commands = rig_open_commands(rig, &command_pool);
    assert_int_equal(maarRecordMoves(rig->allocator, batch, commands), VK_SUCCESS);
    vkDestroyCommandPool(rig->device, command_pool, NULL);
}

/* Returns how many moves came before the frees. */
static uint32_t meet(struct meeting* meeting, struct rig* rig, MaarPool pool, uint32_t round)
{
    MaarMoveRequest requests[MOVES];
    MaarMoveBatch batch = VK_NULL_HANDLE;
    uint32_t moved = 0;
    for (uint32_t i = 0; i < MOVES; ++i) {
        meeting->memories[i] = make_mover(meeting, rig, pool, i);
        requests[i] = (MaarMoveRequest){.allocation = meeting->memories[i]};
    }
    const MaarMoveBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO,
        .requestCount = MOVES,
        .pRequests = requests,
    };
    assert_int_equal(maarBeginMoves(rig->allocator, &info, &batch), VK_SUCCESS);
    assert_int_equal(maarCreateMovedObjects(rig->allocator, batch), VK_SUCCESS);
    if (meeting->has_buffers) {
        record_copies(rig, batch);
    }
    atomic_store(&meeting->begun, round);
    wait_until(&meeting->met, round);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, &moved), VK_SUCCESS);
    wait_until(&meeting->ended, round);
    const MaarStatistics left = rig_statistics(rig, pool);
    assert_int_equal(left.allocationCount + left.pendingCount, 0);
    assert_true(left.freeBytes == left.blockBytes);
    assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 0);
    rig_check(rig);
    return moved;
}

static void play(bool has_buffers)
{
    static struct meeting meeting;
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 1, .blockSize = 16 * KIB};
    pthread_t thread;
    uint32_t moved = 0;
    const time_t end = time(NULL) + SECONDS;
    struct rig* const rig = rig_begin(NULL);
    const MaarPool pool = rig_create_pool(rig, &info);
    meeting = (struct meeting){
        .allocator = rig->allocator, .has_buffers = has_buffers, .random = {rig_seed(9)}};
    assert_int_equal(pthread_create(&thread, NULL, free_them, &meeting), 0);
    for (uint32_t round = 1; round <= MEETINGS && time(NULL) < end; ++round) {
        const uint32_t now = meet(&meeting, rig, pool, round);
        const uint32_t delay = atomic_load(&meeting.delay);
        /* The frees begin when half of the moves are committed. */
        if (now > MOVES / 2) {
            atomic_store(&meeting.delay, delay - delay / 16 - (delay > 0 ? 1 : 0));
        } else if (delay < MOST_DELAY) {
            atomic_store(&meeting.delay, delay + delay / 16 + 1);
        }
        moved += now;
    }
    atomic_store(&meeting.begun, UINT32_MAX);
    assert_int_equal(pthread_join(thread, NULL), 0);
    print_message("%u moves came before the free\n", moved);
    maarDestroyPool(rig->allocator, pool);
    rig_expect_silence(rig);
}

static void frees_and_commits_meet(void** state)
{
    (void)state;
    play(false);
}

static void destructions_and_commits_meet(void** state)
{
    (void)state;
    play(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(frees_and_commits_meet),
        rig_unit_test(destructions_and_commits_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
