/*
 * Shared by the tests of moves of pages: a pool with small page blocks, of which most are nearly
 * empty, and short calls. The device has pages of 64 KiB and executes nothing until it is waited
 * for, where a case holds submissions.
 */
#ifndef MAAR_TESTS_UNIT_PAGE_MOVES_FIXTURE_H
#define MAAR_TESTS_UNIT_PAGE_MOVES_FIXTURE_H

#include "tests/unit/reservation/reservation_fixture.h"

#define PAGE (64 * KIB)

enum { BLOCK_PAGES = 8, PLACES = 4, MOST_MOVES = 64 };

static struct rig* rig;
static MaarPool pool;
static MaarReservation places[PLACES]; /* one block's pages each */

static const MaarSimulatedFlags executes = MAAR_SIMULATED_EXECUTE_BIT |
                                           MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT |
                                           MAAR_SIMULATED_ALLOW_ALIASING_BIT;

static inline void hold(bool holds)
{
    maarSimulatedSetFlags(rig->physical,
                          executes | (holds ? MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT : 0U));
}

static inline MaarPool make_pool(uint32_t type)
{
    const MaarPoolPagingInfo paging = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
        .stitch = VK_TRUE,
        .threshold = 1,
        .pageBlockSize = BLOCK_PAGES * PAGE,
    };
    const MaarPoolCreateInfo info = {.pNext = &paging, .memoryTypeIndex = type};
    return rig_create_pool(rig, &info);
}

static inline void open_rig(void)
{
    const struct rig_setup setup = {.flags = executes, .count_host = true};
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, &setup);
    pool = make_pool(0);
}

static inline MaarReservation reserve(uint32_t pages, MaarReservationCreateFlags flags,
                                      void* user_data)
{
    VkBufferCreateInfo buffer = fixture_buffer(pages * PAGE);
    MaarAllocationCreateInfo memory = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    memory.pool = pool;
    memory.pUserData = user_data;
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .flags = flags,
        .pBufferInfo = &buffer,
        .pMemoryInfo = &memory,
    };
    MaarReservation reservation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &reservation), VK_SUCCESS);
    return reservation;
}

static inline void give_back(uint32_t place, uint32_t first, uint32_t count)
{
    assert_int_equal(fixture_decommit(rig, places[place], first * PAGE, count * PAGE), VK_SUCCESS);
}

static inline void take(uint32_t place, uint32_t first, uint32_t count)
{
    assert_int_equal(fixture_commit(rig, places[place], first * PAGE, count * PAGE), VK_SUCCESS);
}

/* Four blocks, of which the reservations keep the first 1, 2, 3 and 5 pages. */
static const uint32_t kept[PLACES] = {1, 2, 3, 5};
static inline void make_cheese(void)
{
    open_rig();
    for (uint32_t i = 0; i < PLACES; ++i) {
        places[i] = reserve(BLOCK_PAGES, 0, &places[i]);
        take(i, 0, BLOCK_PAGES);
    }
    (void)fixture_submit(rig);
    assert_int_equal(fixture_statistics(rig).blockCount, PLACES);
    for (uint32_t i = 0; i < PLACES; ++i) {
        give_back(i, kept[i], BLOCK_PAGES - kept[i]);
    }
    (void)fixture_submit(rig);
    rig_forget_messages(rig);
}

static inline void destroy_places(void)
{
    for (uint32_t i = 0; i < PLACES; ++i) {
        maarDestroyReservation(rig->allocator, places[i]);
        places[i] = VK_NULL_HANDLE;
    }
}

static inline MaarDefragmentationBeginInfo run_info(void)
{
    return (MaarDefragmentationBeginInfo){
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = pool,
        .goal = MAAR_DEFRAGMENTATION_GOAL_PAGES,
    };
}

static inline MaarDefragmentation begin(const MaarDefragmentationBeginInfo* info)
{
    const MaarDefragmentationBeginInfo plain = run_info();
    return rig_begin_run(rig, info != NULL ? info : &plain);
}

static inline MaarDefragmentationInfo info_of(MaarDefragmentation run)
{
    MaarDefragmentationInfo info = {.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO};
    assert_int_equal(maarGetDefragmentationInfo(rig->allocator, run, &info), VK_SUCCESS);
    return info;
}

static inline MaarMoveBatch step(MaarDefragmentation run)
{
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(maarStepDefragmentation(rig->allocator, run, NULL, &batch), VK_SUCCESS);
    rig_check(rig);
    return batch;
}

static inline uint32_t list(MaarMoveBatch batch, MaarPageMove* moves)
{
    uint32_t count = MOST_MOVES;
    for (uint32_t i = 0; i < MOST_MOVES; ++i) {
        moves[i] = (MaarPageMove){.sType = MAAR_STRUCTURE_TYPE_PAGE_MOVE};
    }
    assert_int_equal(maarGetPageMoves(rig->allocator, batch, &count, moves), VK_SUCCESS);
    return count;
}

static inline void copy(MaarMoveBatch batch)
{
    const MaarMoveSubmitInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO,
        .queueIndex = rig->create_info.queueCount - 1,
    };
    assert_int_equal(maarSubmitMoves(rig->allocator, batch, &info, NULL), VK_SUCCESS);
}

static inline uint32_t commit(MaarMoveBatch batch)
{
    uint32_t moved = 0;
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, &moved), VK_SUCCESS);
    rig_check(rig);
    return moved;
}

/* Passes the binds on, waits for them, and collects. */
static inline void settle(void)
{
    (void)fixture_submit(rig);
    assert_int_equal(maarWaitPending(rig->allocator, 1000000000), VK_SUCCESS);
    rig_check(rig);
}

/* Carries a run out, and returns how many pages have moved. */
static inline uint32_t carry_out(MaarDefragmentation run)
{
    uint32_t moved = 0;
    for (MaarMoveBatch batch = step(run); batch != VK_NULL_HANDLE; batch = step(run)) {
        copy(batch);
        moved += commit(batch);
        (void)fixture_submit(rig);
    }
    return moved;
}

#endif
