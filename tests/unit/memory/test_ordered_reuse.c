/*
 * Ordered reuse: which pending memory an ordered allocation gets, what it inherits, and the books.
 */
#include "tests/rig/rig.h"

#include "core/handle.h"

static const VkDeviceSize SIZE = 64 * 1024;

/* An allocation that is first used after some points. */
struct ordered {
    MaarOrderedUseInfo use;
    MaarAllocationCreateInfo how;
    MaarPoint waits[4];
    uint32_t wait_count;
};

static struct ordered* ordered_after(struct ordered* ordered, uint32_t count,
                                     const MaarPoint* points)
{
    memset(ordered, 0, sizeof *ordered);
    ordered->use = (MaarOrderedUseInfo){
        .sType = MAAR_STRUCTURE_TYPE_ORDERED_USE_INFO,
        .pointCount = count,
        .pPoints = points,
        .waitCapacity = 4,
        .pWaits = ordered->waits,
        .pWaitCount = &ordered->wait_count,
    };
    ordered->how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    ordered->how.pNext = &ordered->use;
    return ordered;
}

static MaarAllocation allocate_after(struct rig* rig, VkDeviceSize size, uint32_t count,
                                     const MaarPoint* points)
{
    struct ordered ordered;
    return rig_allocate(rig, size, &ordered_after(&ordered, count, points)->how);
}

static MaarAllocation allocate_after_one(struct rig* rig, VkDeviceSize size, VkSemaphore semaphore,
                                         uint64_t value)
{
    const MaarPoint point = {semaphore, value};
    return allocate_after(rig, size, 1, &point);
}

static void free_after(struct rig* rig, MaarAllocation allocation, VkSemaphore semaphore,
                       uint64_t value)
{
    const MaarPoint point = {semaphore, value};
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, allocation, 1, &point), VK_SUCCESS);
}

static void declare(struct rig* rig, VkSemaphore wait, uint64_t wait_value, VkSemaphore signal,
                    uint64_t value)
{
    const MaarPoint waits[1] = {{wait, wait_value}};
    const MaarPoint signals[1] = {{signal, value}};
    const MaarSubmissionInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SUBMISSION_INFO,
        .waitCount = wait_value != 0 ? 1 : 0,
        .pWaits = waits,
        .signalCount = 1,
        .pSignals = signals,
    };
    assert_int_equal(maarDeclareSubmission(rig->allocator, &info), VK_SUCCESS);
}

static MaarOrderedStatistics ordered_statistics(struct rig* rig)
{
    MaarOrderedStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_ORDERED_STATISTICS};
    assert_int_equal(maarGetOrderedStatistics(rig->allocator, &statistics), VK_SUCCESS);
    rig_check(rig);
    return statistics;
}

/* A rig in which ordered reuse is on, with two timelines at 0. */
struct scene {
    struct rig* rig;
    VkSemaphore one;
    VkSemaphore two;
};

static struct scene begin_scene(void)
{
    /* Old and new objects share bytes until the old ones are destroyed. */
    const struct rig_setup setup = {.flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT};
    struct scene scene = {.rig = rig_begin(&setup)};
    scene.one = rig_create_timeline(scene.rig, 0);
    scene.two = rig_create_timeline(scene.rig, 0);
    /* The first ordered call. */
    maarFreeMemory(scene.rig->allocator, allocate_after(scene.rig, SIZE, 0, NULL));
    return scene;
}

/* Where the bytes of an allocation are. */
static VkDeviceSize place_of(struct rig* rig, MaarAllocation allocation)
{
    return rig_info(rig, allocation).offset;
}

static void end_scene(struct scene* scene, uint64_t value)
{
    struct rig* rig = scene->rig;
    rig_signal(rig, scene->one, value);
    rig_signal(rig, scene->two, value);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, value), VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    const MaarStatistics statistics = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.pendingCount, 0);
    assert_int_equal(statistics.pendingBytes, 0);
    const MaarOrderedStatistics ordered = ordered_statistics(rig);
    assert_int_equal(ordered.inheritingCount, 0);
    assert_int_equal(ordered.pendingCount, 0);
    assert_int_equal(ordered.pendingBytes, 0);
    vkDestroySemaphore(rig->device, scene->one, NULL);
    vkDestroySemaphore(rig->device, scene->two, NULL);
}

static void range_serves_a_request_after_its_own_point(void** state)
{
    (void)state;
    struct scene s = begin_scene();
    const MaarAllocation a = rig_allocate(s.rig, SIZE, NULL);
    const VkDeviceSize place = place_of(s.rig, a);
    free_after(s.rig, a, s.one, 5);
    const MaarAllocation b = allocate_after_one(s.rig, SIZE, s.one, 5);
    assert_int_equal(place_of(s.rig, b), place);
    assert_true(a != b);
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    assert_int_equal(maarGetAllocationInfo(s.rig->allocator, a, &info),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(s.rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    const MaarOrderedStatistics ordered = ordered_statistics(s.rig);
    assert_int_equal(ordered.coveredCount, 1);
    assert_int_equal(ordered.reusedBytes, SIZE);
    assert_int_equal(ordered.inheritingCount, 1);
    /* Pending and live at once: the books count the bytes once, as live. */
    const MaarStatistics statistics = rig_statistics(s.rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.allocationBytes, SIZE);
    assert_int_equal(statistics.pendingBytes, 0);
    maarFreeMemory(s.rig->allocator, b);
    end_scene(&s, 5);
}

static void range_serves_a_request_after_a_later_value(void** state)
{
    (void)state;
    struct scene s = begin_scene();
    const MaarAllocation a = rig_allocate(s.rig, SIZE, NULL);
    const VkDeviceSize place = place_of(s.rig, a);
    free_after(s.rig, a, s.one, 5);
    const MaarAllocation early = allocate_after_one(s.rig, SIZE, s.one, 4);
    assert_true(place_of(s.rig, early) != place);
    const MaarAllocation other = allocate_after_one(s.rig, SIZE, s.two, 9);
    assert_true(place_of(s.rig, other) != place);
    const MaarAllocation unordered = rig_allocate(s.rig, SIZE, NULL);
    assert_true(place_of(s.rig, unordered) != place);
    const MaarAllocation late = allocate_after_one(s.rig, SIZE, s.one, 6);
    assert_int_equal(place_of(s.rig, late), place);
    maarFreeMemory(s.rig->allocator, early);
    maarFreeMemory(s.rig->allocator, other);
    maarFreeMemory(s.rig->allocator, unordered);
    maarFreeMemory(s.rig->allocator, late);
    end_scene(&s, 9);
}

static void ordered_allocation_freed_unused_still_waits(void** state)
{
    (void)state;
    struct scene s = begin_scene();
    const MaarAllocation a = rig_allocate(s.rig, SIZE, NULL);
    const VkDeviceSize place = place_of(s.rig, a);
    free_after(s.rig, a, s.one, 5);
    const MaarAllocation b = allocate_after_one(s.rig, SIZE, s.one, 5);
    maarFreeMemory(s.rig->allocator, b);
    const MaarStatistics statistics = rig_statistics(s.rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.allocationCount, 0);
    assert_int_equal(statistics.pendingCount, 1);
    assert_int_equal(statistics.pendingBytes, SIZE);
    assert_int_equal(maarCollect(s.rig->allocator, NULL), VK_SUCCESS);
    VkDeviceSize released = 1;
    assert_int_equal(maarTrim(s.rig->allocator, VK_NULL_HANDLE, &released), VK_SUCCESS);
    assert_int_equal(released, 0); /* the block does not go */
    const MaarAllocation c = rig_allocate(s.rig, SIZE, NULL);
    assert_true(place_of(s.rig, c) != place);
    const MaarAllocation d = allocate_after_one(s.rig, SIZE, s.one, 5);
    assert_int_equal(place_of(s.rig, d), place);
    maarFreeMemory(s.rig->allocator, c);
    maarFreeMemory(s.rig->allocator, d);
    end_scene(&s, 5);
}

static void inherited_points_outlast_those_of_the_new_owner(void** state)
{
    (void)state;
    struct scene s = begin_scene();
    const MaarAllocation a = rig_allocate(s.rig, SIZE, NULL);
    const VkDeviceSize place = place_of(s.rig, a);
    free_after(s.rig, a, s.one, 5);
    const MaarAllocation b = allocate_after_one(s.rig, SIZE, s.one, 5);
    free_after(s.rig, b, s.two, 1); /* before it was used */
    rig_signal(s.rig, s.two, 1);
    uint32_t freed = 0;
    assert_int_equal(maarCollect(s.rig->allocator, &freed), VK_SUCCESS);
    assert_int_equal(freed, 1);
    assert_int_equal(rig_statistics(s.rig, VK_NULL_HANDLE).pendingBytes, SIZE);
    const MaarAllocation c = allocate_after_one(s.rig, SIZE, s.two, 1);
    assert_true(place_of(s.rig, c) != place);
    const MaarPoint both[2] = {{s.two, 1}, {s.one, 5}};
    const MaarAllocation d = allocate_after(s.rig, SIZE, 2, both);
    assert_int_equal(place_of(s.rig, d), place);
    maarFreeMemory(s.rig->allocator, c);
    maarFreeMemory(s.rig->allocator, d);
    end_scene(&s, 5);
}

static void range_with_many_points_needs_all(void** state)
{
    (void)state;
    struct scene s = begin_scene();
    const MaarAllocation a = rig_allocate(s.rig, SIZE, NULL);
    const VkDeviceSize place = place_of(s.rig, a);
    const MaarPoint points[3] = {{s.one, 5}, {s.two, 7}, {VK_NULL_HANDLE, 2}};
    assert_int_equal(maarFreeMemoryAfter(s.rig->allocator, a, 3, points), VK_SUCCESS);
    for (uint32_t i = 0; i < 3; ++i) {
        const MaarPoint two[2] = {points[(i + 1) % 3], points[(i + 2) % 3]};
        const MaarAllocation b = allocate_after(s.rig, SIZE, 2, two);
        assert_true(place_of(s.rig, b) != place);
        maarFreeMemory(s.rig->allocator, b);
    }
    /* What the host timeline has reached is covered for everybody. */
    assert_int_equal(maarAdvanceHostTimeline(s.rig->allocator, 2), VK_SUCCESS);
    const MaarAllocation c = allocate_after(s.rig, SIZE, 2, points);
    assert_int_equal(place_of(s.rig, c), place);
    maarFreeMemory(s.rig->allocator, c);
    end_scene(&s, 7);
}

static void larger_range_is_divided(void** state)
{
    (void)state;
    struct scene s = begin_scene();
    const MaarAllocation a = rig_allocate(s.rig, 4 * SIZE, NULL);
    const VkDeviceSize place = place_of(s.rig, a);
    free_after(s.rig, a, s.one, 5);
    const MaarAllocation b = allocate_after_one(s.rig, SIZE, s.one, 5);
    assert_int_equal(place_of(s.rig, b), place);
    assert_int_equal(rig_info(s.rig, b).size, SIZE);
    MaarStatistics statistics = rig_statistics(s.rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.allocationBytes, SIZE);
    assert_int_equal(statistics.pendingBytes, 3 * SIZE);
    assert_int_equal(statistics.pendingCount, 1);
    assert_int_equal(ordered_statistics(s.rig).pendingBytes, 3 * SIZE);
    const MaarAllocation unordered = rig_allocate(s.rig, SIZE, NULL);
    assert_true(place_of(s.rig, unordered) >= place + 4 * SIZE);
    const MaarAllocation c = allocate_after_one(s.rig, 3 * SIZE, s.one, 5);
    assert_int_equal(place_of(s.rig, c), place + SIZE);
    maarFreeMemory(s.rig->allocator, b);
    assert_int_equal(rig_statistics(s.rig, VK_NULL_HANDLE).pendingBytes, SIZE);
    rig_signal(s.rig, s.one, 5);
    assert_int_equal(maarCollect(s.rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(rig_statistics(s.rig, VK_NULL_HANDLE).pendingBytes, 0);
    const MaarAllocation d = rig_allocate(s.rig, SIZE, NULL);
    assert_int_equal(place_of(s.rig, d), place);
    maarFreeMemory(s.rig->allocator, c);
    maarFreeMemory(s.rig->allocator, d);
    maarFreeMemory(s.rig->allocator, unordered);
    end_scene(&s, 6);
}

static void smallest_range_that_fits_is_taken(void** state)
{
    (void)state;
    struct scene s = begin_scene();
    MaarAllocation all[8];
    VkDeviceSize places[8];
    for (uint32_t i = 0; i < 8; ++i) {
        all[i] = rig_allocate(s.rig, (8 - i) * SIZE, NULL);
        places[i] = place_of(s.rig, all[i]);
    }
    for (uint32_t i = 0; i < 8; ++i) {
        free_after(s.rig, all[i], s.one, 10 - i);
    }
    /* 3 * SIZE of value 5 is the tightest. Of lower values there are its rest and the two smaller
     * ones, side by side. */
    const MaarAllocation b = allocate_after_one(s.rig, 2 * SIZE + 1, s.one, 10);
    assert_int_equal(place_of(s.rig, b), places[5]);
    const MaarAllocation c = allocate_after_one(s.rig, 2 * SIZE + 1, s.one, 5);
    assert_true(place_of(s.rig, c) > places[5] && place_of(s.rig, c) <= places[6]);
    const MaarAllocation d = allocate_after_one(s.rig, 2 * SIZE + 1, s.one, 8);
    assert_int_equal(place_of(s.rig, d), places[4]);
    maarFreeMemory(s.rig->allocator, b);
    maarFreeMemory(s.rig->allocator, c);
    maarFreeMemory(s.rig->allocator, d);
    end_scene(&s, 10);
}

static void covered_range_is_found_behind_many_others(void** state)
{
    (void)state;
    struct scene s = begin_scene();
    MaarAllocation all[40];
    for (uint32_t i = 0; i < 40; ++i) {
        all[i] = rig_allocate(s.rig, SIZE + 1024 * i, NULL);
    }
    const VkDeviceSize place = place_of(s.rig, all[39]);
    for (uint32_t i = 0; i < 40; ++i) {
        free_after(s.rig, all[i], s.one, i < 39 ? 9 : 5);
    }
    const MaarAllocation b = allocate_after_one(s.rig, SIZE, s.one, 5);
    assert_int_equal(place_of(s.rig, b), place);
    assert_int_equal(ordered_statistics(s.rig).joinedCount, 0);
    maarFreeMemory(s.rig->allocator, b);
    end_scene(&s, 9);
}

static void declared_submissions_cover_what_they_wait_for(void** state)
{
    (void)state;
    struct scene s = begin_scene();
    const MaarAllocation a = rig_allocate(s.rig, SIZE, NULL);
    const VkDeviceSize place = place_of(s.rig, a);
    declare(s.rig, VK_NULL_HANDLE, 0, s.one, 5);
    free_after(s.rig, a, s.one, 5);
    const MaarAllocation b = allocate_after_one(s.rig, SIZE, s.two, 3);
    assert_true(place_of(s.rig, b) != place);
    declare(s.rig, s.one, 4, s.two, 1); /* not enough */
    const MaarAllocation c = allocate_after_one(s.rig, SIZE, s.two, 3);
    assert_true(place_of(s.rig, c) != place);
    declare(s.rig, s.one, 5, s.two, 3);
    const MaarAllocation d = allocate_after_one(s.rig, SIZE, s.two, 2);
    assert_true(place_of(s.rig, d) != place);
    const MaarAllocation e = allocate_after_one(s.rig, SIZE, s.two, 4);
    assert_int_equal(place_of(s.rig, e), place);
    maarFreeMemory(s.rig->allocator, b);
    maarFreeMemory(s.rig->allocator, c);
    maarFreeMemory(s.rig->allocator, d);
    maarFreeMemory(s.rig->allocator, e);
    end_scene(&s, 5);
}

static void forgotten_timeline_covers_nothing(void** state)
{
    (void)state;
    struct scene s = begin_scene();
    const MaarAllocation a = rig_allocate(s.rig, SIZE, NULL);
    const VkDeviceSize place = place_of(s.rig, a);
    free_after(s.rig, a, s.one, 5);
    declare(s.rig, s.one, 5, s.two, 3);
    assert_int_equal(maarForgetTimeline(s.rig->allocator, s.two), VK_SUCCESS);
    const MaarAllocation b = allocate_after_one(s.rig, SIZE, s.two, 3);
    assert_true(place_of(s.rig, b) != place);
    assert_int_equal(maarForgetTimeline(s.rig->allocator, s.one), VK_SUCCESS);
    /* As if it were another semaphore with the same handle. */
    const MaarAllocation c = allocate_after_one(s.rig, SIZE, s.one, 5);
    assert_true(place_of(s.rig, c) != place);
    maarFreeMemory(s.rig->allocator, b);
    maarFreeMemory(s.rig->allocator, c);
    end_scene(&s, 5);
}

static void waits_are_added_for_declared_points_alone(void** state)
{
    (void)state;
    struct scene s = begin_scene();
    const MaarPoolCreateInfo pool_info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .blockSize = 2 * SIZE,
        .maxBlockCount = 1,
    };
    const MaarPool pool = rig_create_pool(s.rig, &pool_info);
    struct ordered ordered;
    ordered_after(&ordered, 0, NULL);
    ordered.use.flags = MAAR_ORDERED_USE_MAY_ADD_WAITS_BIT;
    ordered.how.pool = pool;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = pool;
    const MaarAllocation a = rig_allocate(s.rig, SIZE, &how);
    const MaarAllocation b = rig_allocate(s.rig, SIZE, &how);
    const VkDeviceSize place = place_of(s.rig, b);
    const MaarPoint points[2] = {{s.one, 5}, {s.two, 2}};
    assert_int_equal(maarFreeMemoryAfter(s.rig->allocator, b, 2, points), VK_SUCCESS);
    MaarAllocation c = VK_NULL_HANDLE;
    declare(s.rig, VK_NULL_HANDLE, 0, s.one, 4);
    declare(s.rig, VK_NULL_HANDLE, 0, s.two, 1);
    assert_int_equal(rig_try(s.rig, SIZE, &ordered.how, &c), VK_ERROR_OUT_OF_POOL_MEMORY);
    declare(s.rig, VK_NULL_HANDLE, 0, s.one, 6);
    assert_int_equal(rig_try(s.rig, SIZE, &ordered.how, &c), VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_forget_messages(s.rig);
    assert_int_equal(ordered.wait_count, 0);
    declare(s.rig, VK_NULL_HANDLE, 0, s.two, 2);
    const MaarPoint covered[1] = {{s.two, 2}};
    ordered.use.pointCount = 1;
    ordered.use.pPoints = covered;
    assert_int_equal(rig_try(s.rig, SIZE, &ordered.how, &c), VK_SUCCESS);
    assert_int_equal(place_of(s.rig, c), place);
    assert_int_equal(ordered.wait_count, 1); /* the other point is covered */
    assert_true(ordered.waits[0].semaphore == s.one);
    assert_int_equal(ordered.waits[0].value, 5);
    assert_int_equal(ordered_statistics(s.rig).waitedCount, 1);
    /* The waits cover what is allocated for the same submission. */
    free_after(s.rig, a, s.one, 4);
    MaarAllocation d = VK_NULL_HANDLE;
    assert_int_equal(rig_try(s.rig, SIZE, &ordered.how, &d), VK_SUCCESS);
    assert_int_equal(ordered.wait_count, 1);
    assert_int_equal(ordered_statistics(s.rig).coveredCount, 1);
    maarFreeMemory(s.rig->allocator, c);
    maarFreeMemory(s.rig->allocator, d);
    end_scene(&s, 6);
    maarDestroyPool(s.rig->allocator, pool);
}

static void objects_end_at_their_points_without_their_bytes(void** state)
{
    (void)state;
    struct scene s = begin_scene();
    const VkBufferCreateInfo buffer_info = rig_buffer_info(SIZE);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    VkBuffer old = VK_NULL_HANDLE;
    MaarAllocation a = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(s.rig->allocator, &buffer_info, &how, &old, &a), VK_SUCCESS);
    const VkDeviceSize place = place_of(s.rig, a);
    const MaarPoint point = {s.one, 5};
    assert_int_equal(maarDestroyBufferAfter(s.rig->allocator, old, a, 1, &point), VK_SUCCESS);
    struct ordered ordered;
    ordered_after(&ordered, 1, &point);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation b = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(s.rig->allocator, &buffer_info, &ordered.how, &buffer, &b),
                     VK_SUCCESS);
    assert_int_equal(place_of(s.rig, b), place);
    const uint64_t destroyed = rig_calls(s.rig, "vkDestroyBuffer");
    rig_signal(s.rig, s.one, 5);
    assert_int_equal(maarCollect(s.rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(rig_calls(s.rig, "vkDestroyBuffer"), destroyed + 1);
    assert_int_equal(place_of(s.rig, b), place);
    assert_int_equal(rig_statistics(s.rig, VK_NULL_HANDLE).allocationBytes, SIZE);
    assert_int_equal(ordered_statistics(s.rig).inheritingCount, 0);
    maarDestroyBuffer(s.rig->allocator, buffer, b);
    end_scene(&s, 6);
}

static void failing_call_gives_its_bytes_back_as_they_were(void** state)
{
    (void)state;
    struct scene s = begin_scene();
    const VkBufferCreateInfo buffer_info = rig_buffer_info(SIZE);
    for (uint32_t larger = 0; larger < 2; ++larger) {
        const MaarPoint point = {s.one, 5};
        const MaarAllocation a = rig_allocate(s.rig, SIZE << larger, NULL);
        const VkDeviceSize place = place_of(s.rig, a);
        free_after(s.rig, a, s.one, 5);
        const MaarStatistics before = rig_statistics(s.rig, VK_NULL_HANDLE);
        const MaarOrderedStatistics ordered_before = ordered_statistics(s.rig);
        struct ordered ordered;
        ordered_after(&ordered, 1, &point);
        VkBuffer buffer = VK_NULL_HANDLE;
        MaarAllocation b = VK_NULL_HANDLE;
        rig_set_fault(s.rig, "vkBindBufferMemory2", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
        assert_int_equal(
            maarCreateBuffer(s.rig->allocator, &buffer_info, &ordered.how, &buffer, &b),
            VK_ERROR_OUT_OF_DEVICE_MEMORY);
        rig_clear_faults(s.rig);
        rig_forget_messages(s.rig);
        const MaarStatistics after = rig_statistics(s.rig, VK_NULL_HANDLE);
        const MaarOrderedStatistics ordered_after_failure = ordered_statistics(s.rig);
        assert_int_equal(after.pendingCount, before.pendingCount);
        assert_int_equal(after.pendingBytes, before.pendingBytes);
        assert_int_equal(after.allocationCount, before.allocationCount);
        assert_int_equal(ordered_after_failure.inheritingCount, 0);
        assert_int_equal(ordered_after_failure.pendingCount, ordered_before.pendingCount);
        assert_int_equal(ordered_after_failure.pendingBytes, ordered_before.pendingBytes);
        const MaarAllocation c = allocate_after_one(s.rig, SIZE << larger, s.one, 5);
        assert_int_equal(place_of(s.rig, c), place);
        rig_signal(s.rig, s.one, 5);
        assert_int_equal(maarCollect(s.rig->allocator, NULL), VK_SUCCESS);
        maarFreeMemory(s.rig->allocator, c);
        vkDestroySemaphore(s.rig->device, s.one, NULL);
        s.one = rig_create_timeline(s.rig, 0);
    }
    end_scene(&s, 6);
}

static void inheriting_allocation_does_not_move(void** state)
{
    (void)state;
    struct scene s = begin_scene();
    const MaarAllocation a = rig_allocate(s.rig, SIZE, NULL);
    free_after(s.rig, a, s.one, 5);
    const MaarAllocation b = allocate_after_one(s.rig, SIZE, s.one, 5);
    MaarMoveObstacle obstacle = MAAR_MOVE_OBSTACLE_NONE;
    assert_int_equal(maarGetMoveObstacle(s.rig->allocator, b, &obstacle), VK_SUCCESS);
    assert_int_equal(obstacle, MAAR_MOVE_OBSTACLE_PENDING);
    rig_signal(s.rig, s.one, 5);
    assert_int_equal(maarCollect(s.rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(maarGetMoveObstacle(s.rig->allocator, b, &obstacle), VK_SUCCESS);
    assert_int_equal(obstacle, MAAR_MOVE_OBSTACLE_NONE);
    maarFreeMemory(s.rig->allocator, b);
    end_scene(&s, 6);
}

static void misuse_is_reported(void** state)
{
    (void)state;
    struct scene s = begin_scene();
    const MaarAllocator allocator = s.rig->allocator;
    MaarPoint points[MAAR_MAX_POINTS + 1] = {{VK_NULL_HANDLE, 1}};
    MaarSubmissionInfo info = {.sType = MAAR_STRUCTURE_TYPE_SUBMISSION_INFO,
                               .waitCount = MAAR_MAX_POINTS + 1,
                               .pWaits = points};
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    assert_int_equal(maarDeclareSubmission(allocator, NULL), invalid);
    rig_expect_message_naming(s.rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pInfo");
    assert_int_equal(maarDeclareSubmission(allocator, &info), invalid);
    rig_expect_message_naming(s.rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "waitCount");
    info = (MaarSubmissionInfo){.sType = MAAR_STRUCTURE_TYPE_SUBMISSION_INFO, .signalCount = 1};
    assert_int_equal(maarDeclareSubmission(allocator, &info), invalid);
    rig_expect_message_naming(s.rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pSignals");
    info.signalCount = MAAR_MAX_POINTS + 1;
    info.pSignals = points;
    assert_int_equal(maarDeclareSubmission(allocator, &info), invalid);
    rig_expect_message_naming(s.rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "signalCount");
    info = (MaarSubmissionInfo){.sType = MAAR_STRUCTURE_TYPE_SUBMISSION_INFO, .waitCount = 1};
    assert_int_equal(maarDeclareSubmission(allocator, &info), invalid);
    rig_expect_message_naming(s.rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pWaits");
    assert_int_equal(maarGetOrderedStatistics(allocator, NULL), invalid);
    rig_expect_message_naming(s.rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pStatistics");
    assert_int_equal(maarForgetTimeline(NULL, s.one), invalid);
    assert_int_equal(maarForgetTimeline(allocator, s.one), VK_SUCCESS); /* never named */

    static const struct {
        MaarMessageId id;
        const char* member;
    } faults[] = {
        {MAAR_MESSAGE_ID_UNKNOWN_FLAGS, "flags"},
        {MAAR_MESSAGE_ID_OUT_OF_RANGE, "pointCount"},
        {MAAR_MESSAGE_ID_NULL_ARGUMENT, "pPoints"},
        {MAAR_MESSAGE_ID_ZERO_SIZE, "waitCapacity"},
        {MAAR_MESSAGE_ID_NULL_ARGUMENT, "pWaits"},
        {MAAR_MESSAGE_ID_NULL_ARGUMENT, "pWaitCount"},
        {MAAR_MESSAGE_ID_OUT_OF_RANGE, "pWaitCount"},
        {MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "MAAR_ORDERED_USE_PREFER_WAITS_BIT"},
    };
    for (uint32_t i = 0; i < sizeof faults / sizeof faults[0]; ++i) {
        struct ordered ordered;
        ordered_after(&ordered, 1, points);
        ordered.use.flags = i == 0   ? 0x80
                            : i == 7 ? MAAR_ORDERED_USE_PREFER_WAITS_BIT
                            : i > 2  ? MAAR_ORDERED_USE_MAY_ADD_WAITS_BIT
                                     : 0;
        ordered.use.pointCount = i == 1 ? MAAR_MAX_POINTS + 1 : 1;
        ordered.use.pPoints = i == 2 ? NULL : points;
        ordered.use.waitCapacity = i == 3 ? 0 : 4;
        ordered.use.pWaits = i == 4 ? NULL : ordered.waits;
        ordered.use.pWaitCount = i == 5 ? NULL : &ordered.wait_count;
        ordered.wait_count = i == 6 ? 5 : 0;
        MaarAllocation allocation = VK_NULL_HANDLE;
        assert_int_equal(rig_try(s.rig, SIZE, &ordered.how, &allocation), invalid);
        rig_expect_message_naming(s.rig, faults[i].id, faults[i].member);
    }
    end_scene(&s, 1);
}

static void semaphores_need_the_feature(void** state)
{
    (void)state;
    const struct rig_setup setup = {.off = RIG_OFF_TIMELINE};
    struct rig* const rig = rig_begin(&setup);
    const MaarPoint points[1] = {{MAAR_FROM_BITS(VkSemaphore, 1), 1}};
    const MaarSubmissionInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SUBMISSION_INFO, .waitCount = 1, .pWaits = points};
    assert_int_equal(maarDeclareSubmission(rig->allocator, &info), VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED);
    /* The host timeline serves without it. */
    maarFreeMemory(rig->allocator, allocate_after(rig, SIZE, 0, NULL));
    const MaarAllocation a = rig_allocate(rig, SIZE, NULL);
    const VkDeviceSize place = place_of(rig, a);
    free_after(rig, a, VK_NULL_HANDLE, 3);
    const MaarAllocation b = allocate_after_one(rig, SIZE, VK_NULL_HANDLE, 3);
    assert_int_equal(place_of(rig, b), place);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 3), VK_SUCCESS);
    maarFreeMemory(rig->allocator, b);
}

static void count_call(void* data, const char* function)
{
    (void)function;
    ++*(uint32_t*)data;
}

static void declaring_calls_no_driver(void** state)
{
    (void)state;
    struct scene s = begin_scene();
    uint32_t calls = 0;
    s.rig->call = count_call;
    s.rig->call_data = &calls;
    declare(s.rig, s.one, 1, s.two, 3);
    assert_int_equal(maarForgetTimeline(s.rig->allocator, s.two), VK_SUCCESS);
    assert_int_equal(calls, 0);
    s.rig->call = NULL;
    end_scene(&s, 3);
}

static void declaring_without_host_memory_declares_nothing(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    struct rig* const rig = rig_begin(&setup);
    const VkSemaphore semaphores[2] = {rig_create_timeline(rig, 0), rig_create_timeline(rig, 0)};
    const MaarPoint signals[2] = {{semaphores[0], 5}, {semaphores[1], 2}};
    const MaarSubmissionInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SUBMISSION_INFO, .signalCount = 2, .pSignals = signals};
    uint32_t failures = 0;
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    while (result != VK_SUCCESS) {
        rig->host.fail_at = rig->host.calls + ++failures;
        result = maarDeclareSubmission(rig->allocator, &info);
        rig->host.fail_at = 0;
        const MaarOrderedStatistics statistics = ordered_statistics(rig);
        assert_int_equal(statistics.timelineCount, result == VK_SUCCESS ? 2 : 0);
        assert_true(result == VK_SUCCESS || result == VK_ERROR_OUT_OF_HOST_MEMORY);
    }
    assert_int_equal(failures, 3); /* the state stays; then two histories */
    vkDestroySemaphore(rig->device, semaphores[0], NULL);
    vkDestroySemaphore(rig->device, semaphores[1], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(range_serves_a_request_after_its_own_point),
        rig_unit_test(range_serves_a_request_after_a_later_value),
        rig_unit_test(ordered_allocation_freed_unused_still_waits),
        rig_unit_test(inherited_points_outlast_those_of_the_new_owner),
        rig_unit_test(range_with_many_points_needs_all),
        rig_unit_test(larger_range_is_divided),
        rig_unit_test(smallest_range_that_fits_is_taken),
        rig_unit_test(covered_range_is_found_behind_many_others),
        rig_unit_test(declared_submissions_cover_what_they_wait_for),
        rig_unit_test(forgotten_timeline_covers_nothing),
        rig_unit_test(waits_are_added_for_declared_points_alone),
        rig_unit_test(objects_end_at_their_points_without_their_bytes),
        rig_unit_test(failing_call_gives_its_bytes_back_as_they_were),
        rig_unit_test(inheriting_allocation_does_not_move),
        rig_unit_test(misuse_is_reported),
        rig_unit_test(semaphores_need_the_feature),
        rig_unit_test(declaring_calls_no_driver),
        rig_unit_test(declaring_without_host_memory_declares_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
