/*
 * Shared by the tests of reservations and arrays: simulated devices with and without sparse
 * binding, and short calls.
 */
#ifndef MAAR_TESTS_UNIT_RESERVATION_FIXTURE_H
#define MAAR_TESTS_UNIT_RESERVATION_FIXTURE_H

#include "tests/rig/rig.h"

#define ADDRESS_SPACE ((VkDeviceSize)1 << 40)

/* What a device can do. */
enum fixture_way {
    FIXTURE_SPARSE,       /* everything, pages of `page_size` */
    FIXTURE_NO_RESIDENCY, /* sparse binding of whole resources alone */
    FIXTURE_NO_SPARSE
};

/* Opens the discrete device with sparse binding. setup may be NULL; its profile is ignored. The
 * driver's functions come from `addresses` unless that is NULL. */
static inline void fixture_open_with(struct rig* rig, enum fixture_way way, VkDeviceSize page_size,
                                     const struct rig_setup* setup,
                                     PFN_vkGetDeviceProcAddr addresses)
{
    MaarSimulatedProfile profile = *rig_profile_discrete();
    struct rig_setup mine = {.profile = NULL};
    if (setup != NULL) {
        mine = *setup;
    }
    profile.limits.sparseAddressSpaceSize = ADDRESS_SPACE;
    profile.requirements.sparseAlignment = page_size;
    profile.sparse.sparseBinding = way != FIXTURE_NO_SPARSE ? VK_TRUE : VK_FALSE;
    profile.sparse.residencyBuffer = way == FIXTURE_SPARSE ? VK_TRUE : VK_FALSE;
    profile.sparse.residencyAliased = way == FIXTURE_SPARSE ? VK_TRUE : VK_FALSE;
    if (way == FIXTURE_NO_SPARSE) {
        profile.limits.sparseAddressSpaceSize = 0;
        profile.queueFamilyCount = 1;
        profile.queueFamilies[0] = (MaarSimulatedQueueFamily){
            .count = 1, .flags = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT};
    }
    mine.profile = &profile;
    mine.paging = true;
    rig_open(rig, &mine);
    if (addresses != NULL) {
        rig->create_info.pfnGetDeviceProcAddr = addresses;
    }
    rig_make_allocator(rig);
}

static inline void fixture_open(struct rig* rig, enum fixture_way way, VkDeviceSize page_size,
                                const struct rig_setup* setup)
{
    fixture_open_with(rig, way, page_size, setup, NULL);
}

/* The same, on a rig that rig_end_case closes. */
static inline struct rig* fixture_begin(enum fixture_way way, VkDeviceSize page_size,
                                        const struct rig_setup* setup)
{
    struct rig* rig = rig_new();
    fixture_open(rig, way, page_size, setup);
    return rig;
}

static inline VkBufferCreateInfo fixture_buffer(VkDeviceSize size)
{
    VkBufferCreateInfo info = rig_buffer_info(size);
    info.usage |= VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                  VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    return info;
}

static inline VkResult fixture_try(struct rig* rig, VkDeviceSize size,
                                   MaarReservationCreateFlags flags, MaarReservation* reservation)
{
    const VkBufferCreateInfo buffer = fixture_buffer(size);
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .flags = flags,
        .pBufferInfo = &buffer,
    };
    return maarCreateReservation(rig->allocator, &info, reservation);
}

static inline MaarReservation fixture_reserve(struct rig* rig, VkDeviceSize size,
                                              MaarReservationCreateFlags flags)
{
    MaarReservation reservation = VK_NULL_HANDLE;
    const VkResult result = fixture_try(rig, size, flags, &reservation);
    if (result != VK_SUCCESS) {
        fail_msg("no reservation: %d, \"%s\"", (int)result, rig->messages.last);
    }
    return reservation;
}

static inline MaarReservationInfo fixture_info(struct rig* rig, MaarReservation reservation)
{
    MaarReservationInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    assert_int_equal(maarGetReservationInfo(rig->allocator, reservation, &info), VK_SUCCESS);
    return info;
}

static inline MaarPagingStatistics fixture_statistics(struct rig* rig)
{
    MaarPagingStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    assert_int_equal(maarGetPagingStatistics(rig->allocator, &statistics), VK_SUCCESS);
    return statistics;
}

static inline VkResult fixture_commit(struct rig* rig, MaarReservation reservation,
                                      VkDeviceSize offset, VkDeviceSize size)
{
    const MaarPageRange range = {offset, size};
    return maarCommitPages(rig->allocator, reservation, 1, &range);
}

static inline VkResult fixture_decommit(struct rig* rig, MaarReservation reservation,
                                        VkDeviceSize offset, VkDeviceSize size)
{
    const MaarPageRange range = {offset, size};
    return maarDecommitPages(rig->allocator, reservation, 1, &range);
}

static inline MaarPoint fixture_submit(struct rig* rig)
{
    MaarPoint point = {.value = 0};
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, &point), VK_SUCCESS);
    return point;
}

/* Lists at most 64 runs and returns how many. */
static inline uint32_t fixture_runs(struct rig* rig, MaarReservation reservation, MaarPageRun* runs)
{
    uint32_t count = 64;
    assert_int_equal(maarEnumerateReservationPages(rig->allocator, reservation, &count, runs),
                     VK_SUCCESS);
    return count;
}

/* Whether two lists of runs are the same. */
static inline void fixture_expect_runs(const MaarPageRun* runs, const MaarPageRun* expected,
                                       uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        assert_int_equal(runs[i].offset, expected[i].offset);
        assert_int_equal(runs[i].size, expected[i].size);
        assert_true(runs[i].memory == expected[i].memory);
        assert_int_equal(runs[i].memoryOffset, expected[i].memoryOffset);
        assert_int_equal(runs[i].blockId, expected[i].blockId);
        assert_int_equal(runs[i].memoryTypeIndex, expected[i].memoryTypeIndex);
    }
}

#endif
