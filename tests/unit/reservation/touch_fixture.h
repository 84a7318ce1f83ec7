/*
 * Shared by the tests of touches: short calls.
 */
#ifndef MAAR_TESTS_UNIT_TOUCH_FIXTURE_H
#define MAAR_TESTS_UNIT_TOUCH_FIXTURE_H

#include "tests/unit/reservation/reservation_fixture.h"

#define PAGE (64 * KIB)

enum { FRESH_ROOM = 64 };

static struct rig* rig;
static MaarReservationRange fresh[FRESH_ROOM];

/* Touches ranges, and lists what is fresh in `fresh`. */
static inline VkResult touch_ranges(uint32_t count, const MaarReservationRange* ranges,
                                    MaarTouchResult* touched)
{
    const MaarTouchInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TOUCH_INFO, .rangeCount = count, .pRanges = ranges};
    *touched = (MaarTouchResult){
        .sType = MAAR_STRUCTURE_TYPE_TOUCH_RESULT, .freshCapacity = FRESH_ROOM, .pFresh = fresh};
    return maarTouchPages(rig->allocator, &info, touched);
}

/* Touches pages of a reservation; must succeed. */
static inline MaarTouchResult touch(MaarReservation reservation, VkDeviceSize first,
                                    VkDeviceSize count)
{
    const MaarReservationRange range = {reservation, first * PAGE, count * PAGE};
    MaarTouchResult touched;
    assert_int_equal(touch_ranges(1, &range, &touched), VK_SUCCESS);
    return touched;
}

static inline void expect_fresh(uint32_t index, MaarReservation reservation, VkDeviceSize offset,
                                VkDeviceSize size)
{
    assert_true(fresh[index].reservation == reservation);
    assert_int_equal(fresh[index].offset, offset);
    assert_int_equal(fresh[index].size, size);
}

static inline MaarReservationUseInfo use_of(MaarReservation reservation)
{
    MaarReservationUseInfo use = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_USE_INFO};
    MaarReservationInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO, .pNext = &use};
    assert_int_equal(maarGetReservationInfo(rig->allocator, reservation, &info), VK_SUCCESS);
    return use;
}

/* Lists at most 64 runs that were touched, and returns how many. */
static inline uint32_t touched_runs(MaarReservation reservation, MaarTouchedRun* runs)
{
    uint32_t count = 64;
    assert_int_equal(maarEnumerateTouchedRuns(rig->allocator, reservation, &count, runs),
                     VK_SUCCESS);
    return count;
}

/* Opens a sparse device whose heap 0 may have `limit` bytes. */
static inline void begin_short(VkDeviceSize limit)
{
    const VkDeviceSize limits[3] = {limit, 0, 0};
    const struct rig_setup setup = {.profile = rig_profile_sparse(), .paging = true};
    rig = rig_new();
    rig_open(rig, &setup);
    rig->create_info.heapSizeLimitCount = 3;
    rig->create_info.pHeapSizeLimits = limits;
    rig_make_allocator(rig);
}

/* A reservation of pages that has memory of one type alone. */
static inline MaarReservation reserve_strict(VkDeviceSize pages)
{
    const VkBufferCreateInfo buffer = fixture_buffer(pages * PAGE);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pBufferInfo = &buffer,
        .pMemoryInfo = &how,
    };
    MaarReservation made = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &made), VK_SUCCESS);
    return made;
}

static inline MaarArray make_array(VkDeviceSize pages)
{
    const VkBufferCreateInfo buffer = fixture_buffer(pages * PAGE);
    const MaarArrayCreateInfo create = {
        .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO,
        .elementSize = KIB,
        .growSize = PAGE,
        .reservation = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                        .pBufferInfo = &buffer},
    };
    MaarArray array = VK_NULL_HANDLE;
    assert_int_equal(maarCreateArray(rig->allocator, &create, &array), VK_SUCCESS);
    return array;
}

static inline MaarArrayInfo array_info(MaarArray array)
{
    MaarArrayInfo info = {.sType = MAAR_STRUCTURE_TYPE_ARRAY_INFO};
    assert_int_equal(maarGetArrayInfo(rig->allocator, array, &info), VK_SUCCESS);
    return info;
}

#endif
