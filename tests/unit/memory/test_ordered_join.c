/*
 * Ordered requests that no single pending range serves: ranges side by side, with the free bytes
 * between and beside them.
 */
#include "tests/rig/rig.h"

enum { UNIT = 4096, UNITS = 16 };

static struct rig* rig;
static MaarPool pool;
static MaarAllocation all[UNITS]; /* of one unit each, side by side; null: freed */

static MaarPoint host_point(uint64_t value)
{
    return (MaarPoint){VK_NULL_HANDLE, value};
}

/* An allocation that is first used after a point of the host's timeline. 0: it is not ordered. */
static VkResult try_kind_after(MaarResourceKind kind, VkDeviceSize size, VkDeviceSize alignment,
                               uint64_t value, MaarAllocation* memory)
{
    const MaarPoint point = host_point(value);
    const MaarOrderedUseInfo use = {
        .sType = MAAR_STRUCTURE_TYPE_ORDERED_USE_INFO, .pointCount = 1, .pPoints = &point};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    how.flags = MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT;
    how.pNext = value != 0 ? &use : NULL;
    const MaarMemoryRequest request = rig_request(size, alignment, UINT32_MAX, kind);
    return maarAllocateMemory(rig->allocator, &request, &how, memory);
}

static VkResult try_after(VkDeviceSize size, VkDeviceSize alignment, uint64_t value,
                          MaarAllocation* memory)
{
    return try_kind_after(MAAR_RESOURCE_KIND_LINEAR, size, alignment, value, memory);
}

static MaarAllocation allocate_after(VkDeviceSize size, uint64_t value)
{
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(try_after(size, UNIT, value, &memory), VK_SUCCESS);
    return memory;
}

static void expect_no_room(VkDeviceSize size, VkDeviceSize alignment, uint64_t value)
{
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(try_after(size, alignment, value, &memory), VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_forget_messages(rig);
    rig_check(rig);
}

/* A block that is full of units. single_kind: whether the granularity, of 1024, does not matter. */
static void open_block_of(VkBool32 single_kind)
{
    const struct rig_setup setup = {.flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT, .count_host = true};
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 1,
                                     .singleKind = single_kind,
                                     .blockSize = (VkDeviceSize)UNITS * UNIT,
                                     .minBlockCount = 1,
                                     .maxBlockCount = 1};
    rig = rig_begin(&setup);
    pool = rig_create_pool(rig, &info);
    maarFreeMemory(rig->allocator, allocate_after(UNIT, 1)); /* turns ordered reuse on */
    for (uint32_t i = 0; i < UNITS; ++i) {
        all[i] = allocate_after(UNIT, 0);
        assert_int_equal(rig_info(rig, all[i]).offset, (VkDeviceSize)i * UNIT);
    }
}

static void open_block(void)
{
    open_block_of(VK_TRUE);
}

/* Frees a unit after a point, or at once for the value 0. */
static void free_unit(uint32_t at, uint64_t value)
{
    const MaarPoint point = host_point(value);
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, all[at], value != 0 ? 1 : 0, &point),
                     VK_SUCCESS);
    all[at] = VK_NULL_HANDLE;
}

static void pass(uint64_t value)
{
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, value), VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    rig_check(rig);
}

static MaarOrderedStatistics ordered_statistics(void)
{
    MaarOrderedStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_ORDERED_STATISTICS};
    assert_int_equal(maarGetOrderedStatistics(rig->allocator, &statistics), VK_SUCCESS);
    rig_check(rig);
    return statistics;
}

static void close_block(void)
{
    for (uint32_t i = 0; i < UNITS; ++i) {
        maarFreeMemory(rig->allocator, all[i]);
    }
    pass(100);
    const MaarStatistics statistics = rig_statistics(rig, pool);
    assert_int_equal(statistics.allocationCount, 0);
    assert_int_equal(statistics.pendingCount, 0);
    assert_int_equal(statistics.pendingBytes, 0);
    assert_int_equal(ordered_statistics().pendingCount, 0);
    assert_int_equal(ordered_statistics().inheritingCount, 0);
    /* All is one free range again. */
    maarFreeMemory(rig->allocator, allocate_after((VkDeviceSize)UNITS * UNIT, 0));
    maarDestroyPool(rig->allocator, pool);
    rig_expect_silence(rig);
}

static void expect_place(MaarAllocation memory, uint32_t unit, VkDeviceSize size)
{
    const MaarAllocationInfo info = rig_info(rig, memory);
    assert_int_equal(info.offset, (VkDeviceSize)unit * UNIT);
    assert_int_equal(info.size, size);
}

static void neighbours_serve_what_none_serves_alone(void** state)
{
    (void)state;
    open_block();
    free_unit(3, 5);
    free_unit(4, 6);
    free_unit(5, 7);
    free_unit(9, 5);
    expect_no_room(2 * UNIT, UNIT, 5);
    expect_no_room(3 * UNIT, UNIT, 6);
    const MaarAllocation a = allocate_after(2 * UNIT, 6);
    expect_place(a, 3, 2 * UNIT);
    const MaarOrderedStatistics ordered = ordered_statistics();
    assert_int_equal(ordered.coveredCount, 1);
    assert_int_equal(ordered.joinedCount, 1);
    assert_int_equal(ordered.reusedBytes, 2 * UNIT);
    assert_int_equal(ordered.inheritingCount, 1);
    assert_int_equal(ordered.pendingCount, 2);
    assert_int_equal(rig_statistics(rig, pool).pendingCount, 2);
    assert_int_equal(rig_statistics(rig, pool).pendingBytes, 2 * UNIT);
    /* Freed again at once, it waits for both points. */
    maarFreeMemory(rig->allocator, a);
    pass(5);
    assert_int_equal(rig_statistics(rig, pool).pendingBytes, 3 * UNIT);
    expect_no_room(2 * UNIT, UNIT, 5);
    const MaarAllocation b = allocate_after(3 * UNIT, 7); /* joined with one more */
    expect_place(b, 3, 3 * UNIT);
    maarFreeMemory(rig->allocator, b);
    pass(6);
    assert_int_equal(rig_statistics(rig, pool).pendingBytes, 3 * UNIT);
    pass(7);
    assert_int_equal(rig_statistics(rig, pool).pendingBytes, 0);
    close_block();
}

static void neighbours_that_are_not_covered_are_no_part(void** state)
{
    (void)state;
    open_block();
    free_unit(2, 9);
    free_unit(3, 5);
    free_unit(4, 5);
    const MaarAllocation a = allocate_after(2 * UNIT, 5);
    expect_place(a, 3, 2 * UNIT);
    maarFreeMemory(rig->allocator, a);
    close_block();
}

/* Ranges that were placed with different alignments end at multiples of different powers of two. */
static void joined_ranges_end_where_the_last_one_does(void** state)
{
    (void)state;
    open_block();
    free_unit(3, 0);
    MaarAllocation parts[3];
    static const VkDeviceSize alignments[3] = {256, 4, 4};
    for (uint32_t i = 0; i < 3; ++i) {
        assert_int_equal(try_after(1000, alignments[i], 0, &parts[i]), VK_SUCCESS);
    }
    assert_int_equal(rig_info(rig, parts[2]).offset, 3 * UNIT + 2024);
    const MaarPoint point = host_point(5);
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(maarFreeMemoryAfter(rig->allocator, parts[i], 1, &point), VK_SUCCESS);
    }
    MaarAllocation a = VK_NULL_HANDLE;
    assert_int_equal(try_after(1500, 256, 5, &a), VK_SUCCESS);
    expect_place(a, 3, 1500);
    rig_check(rig);
    assert_int_equal(try_after(520, 4, 5, &parts[0]), VK_SUCCESS);
    assert_int_equal(rig_info(rig, parts[0]).offset, 3 * UNIT + 1500);
    rig_check(rig);
    maarFreeMemory(rig->allocator, a);
    maarFreeMemory(rig->allocator, parts[0]);
    maarFreeMemory(rig->allocator, parts[2]);
    close_block();
}

/* Fails to bind a buffer that is first used after the point 5. */
static void fail_to_bind(VkDeviceSize size)
{
    const MaarPoint point = host_point(5);
    const MaarOrderedUseInfo use = {
        .sType = MAAR_STRUCTURE_TYPE_ORDERED_USE_INFO, .pointCount = 1, .pPoints = &point};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    how.pNext = &use;
    const VkBufferCreateInfo info = rig_buffer_info(size);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    rig_set_fault(rig, "vkBindBufferMemory2", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffer, &memory),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_clear_faults(rig);
    rig_forget_messages(rig);
}

/* Joins the rest of a request's range with its neighbour while that request is under way. */
static void join_the_rest(void* data, const char* function)
{
    (void)data;
    if (strcmp(function, "vkBindBufferMemory2") == 0) {
        rig->call = NULL;
        const MaarAllocation other = allocate_after(2 * UNIT, 5);
        expect_place(other, 5, 2 * UNIT);
        maarFreeMemory(rig->allocator, other);
    }
}

static void undone_request_leaves_its_joined_rest_alone(void** state)
{
    (void)state;
    open_block();
    for (uint32_t i = 3; i < 6; ++i) {
        free_unit(i, 0);
    }
    all[3] = allocate_after(3 * UNIT, 0);
    free_unit(3, 5);
    free_unit(6, 5);
    rig->call = join_the_rest;
    fail_to_bind(2 * UNIT);
    assert_ptr_equal(rig->call, NULL);
    rig_check(rig);
    assert_int_equal(rig_statistics(rig, pool).pendingBytes, 4 * UNIT);
    const MaarAllocation memory = allocate_after(4 * UNIT, 5);
    expect_place(memory, 3, 4 * UNIT);
    maarFreeMemory(rig->allocator, memory);
    close_block();
}

static void free_bytes_beside_and_between_are_taken_too(void** state)
{
    (void)state;
    open_block();
    free_unit(1, 0);
    free_unit(2, 5);
    free_unit(3, 0);
    free_unit(4, 5);
    free_unit(5, 0);
    expect_no_room(3 * UNIT, UNIT, 4);
    MaarAllocation a = allocate_after(3 * UNIT, 5);
    expect_place(a, 2, 3 * UNIT); /* the fewest free bytes */
    maarFreeMemory(rig->allocator, a);
    a = allocate_after(4 * UNIT, 5);
    assert_true(rig_info(rig, a).offset <= 2 * UNIT);
    maarFreeMemory(rig->allocator, a);
    a = allocate_after(5 * UNIT, 5);
    expect_place(a, 1, 5 * UNIT);
    assert_int_equal(rig_statistics(rig, pool).allocationBytes, (UNITS - 5 + 5) * UNIT);
    maarFreeMemory(rig->allocator, a);
    assert_int_equal(rig_statistics(rig, pool).pendingBytes, 5 * UNIT);
    pass(5);
    assert_int_equal(rig_statistics(rig, pool).pendingBytes, 0);
    close_block();
}

static void live_neighbours_are_no_part(void** state)
{
    (void)state;
    open_block();
    free_unit(2, 5);
    free_unit(6, 5);
    free_unit(8, 5);
    expect_no_room(2 * UNIT, UNIT, 9);
    expect_no_room(UNIT + 1, 1, 9);
    free_unit(7, 5);
    const MaarAllocation a = allocate_after(3 * UNIT, 9);
    expect_place(a, 6, 3 * UNIT);
    /* What was just given is live. */
    expect_no_room(2 * UNIT, UNIT, 9);
    maarFreeMemory(rig->allocator, a);
    close_block();
}

static void rest_of_joined_ranges_stays_pending(void** state)
{
    (void)state;
    open_block();
    free_unit(8, 5);
    free_unit(9, 5);
    const MaarAllocation a = allocate_after(UNIT + UNIT / 2, 5);
    expect_place(a, 8, UNIT + UNIT / 2);
    assert_int_equal(ordered_statistics().pendingBytes, UNIT / 2);
    MaarAllocation b = VK_NULL_HANDLE;
    assert_int_equal(try_after(UNIT / 2, 1, 5, &b), VK_SUCCESS);
    assert_int_equal(rig_info(rig, b).offset, 9 * UNIT + UNIT / 2);
    expect_no_room(UNIT / 2, 1, 9);
    maarFreeMemory(rig->allocator, a);
    maarFreeMemory(rig->allocator, b);
    const MaarAllocation again = allocate_after(2 * UNIT, 5);
    expect_place(again, 8, 2 * UNIT);
    maarFreeMemory(rig->allocator, again);
    close_block();
}

static void alignment_holds_in_joined_ranges(void** state)
{
    (void)state;
    open_block();
    free_unit(3, 5);
    free_unit(4, 5);
    free_unit(5, 5);
    expect_no_room(2 * UNIT, 8 * UNIT, 5);
    MaarAllocation a = VK_NULL_HANDLE;
    assert_int_equal(try_after(2 * UNIT, 2 * UNIT, 5, &a), VK_SUCCESS);
    expect_place(a, 4, 2 * UNIT);
    maarFreeMemory(rig->allocator, a);
    /* In free bytes it begins where it must. */
    free_unit(6, 0);
    free_unit(7, 0);
    free_unit(10, 0);
    free_unit(11, 0);
    free_unit(12, 5);
    assert_int_equal(try_after(UNIT + UNIT / 2, 4 * UNIT, 5, &a), VK_SUCCESS);
    assert_int_equal(rig_info(rig, a).offset % (4 * UNIT), 0);
    maarFreeMemory(rig->allocator, a);
    close_block();
}

static void too_many_points_are_not_joined(void** state)
{
    (void)state;
    enum { TIMELINES = 10 };
    open_block();
    VkSemaphore semaphores[TIMELINES];
    MaarPoint points[TIMELINES];
    for (uint32_t i = 0; i < TIMELINES; ++i) {
        semaphores[i] = rig_create_timeline(rig, 0);
        points[i] = (MaarPoint){semaphores[i], 1};
        assert_int_equal(maarFreeMemoryAfter(rig->allocator, all[i], 1, &points[i]), VK_SUCCESS);
        all[i] = VK_NULL_HANDLE;
    }
    MaarOrderedUseInfo use = {
        .sType = MAAR_STRUCTURE_TYPE_ORDERED_USE_INFO, .pointCount = TIMELINES, .pPoints = points};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    how.pNext = &use;
    MaarAllocation a = VK_NULL_HANDLE;
    assert_int_equal(rig_try(rig, 9 * UNIT, &how, &a), VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_forget_messages(rig);
    assert_int_equal(ordered_statistics().pendingCount, TIMELINES);
    assert_int_equal(rig_try(rig, 8 * UNIT, &how, &a), VK_SUCCESS);
    maarFreeMemory(rig->allocator, a);
    for (uint32_t i = 0; i < TIMELINES; ++i) {
        rig_signal(rig, semaphores[i], 1);
    }
    pass(1);
    for (uint32_t i = 0; i < TIMELINES; ++i) {
        vkDestroySemaphore(rig->device, semaphores[i], NULL);
    }
    close_block();
}

/* A call that fails behind the join leaves the bytes pending, as one range or as several. */
static void failing_call_gives_joined_bytes_back(void** state)
{
    (void)state;
    open_block();
    free_unit(3, 5);
    free_unit(4, 5);
    free_unit(5, 0);
    fail_to_bind(2 * UNIT + UNIT / 2);
    const MaarStatistics statistics = rig_statistics(rig, pool);
    assert_int_equal(statistics.allocationCount, UNITS - 3);
    assert_true(statistics.pendingBytes >= 2 * UNIT);
    assert_int_equal(ordered_statistics().inheritingCount, 0);
    const MaarAllocation memory = allocate_after(2 * UNIT + UNIT / 2, 5);
    expect_place(memory, 3, 2 * UNIT + UNIT / 2);
    maarFreeMemory(rig->allocator, memory);
    close_block();
}

static void waits_are_preferred_to_free_bytes_on_demand(void** state)
{
    (void)state;
    open_block();
    const VkSemaphore semaphore = rig_create_timeline(rig, 0);
    const MaarPoint point = {semaphore, 2};
    const MaarSubmissionInfo submission = {
        .sType = MAAR_STRUCTURE_TYPE_SUBMISSION_INFO, .signalCount = 1, .pSignals = &point};
    assert_int_equal(maarDeclareSubmission(rig->allocator, &submission), VK_SUCCESS);
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, all[9], 1, &point), VK_SUCCESS);
    all[9] = VK_NULL_HANDLE;
    free_unit(2, 0);
    for (uint32_t prefers = 0; prefers < 2; ++prefers) {
        MaarPoint waits[2];
        uint32_t wait_count = 0;
        MaarOrderedUseInfo use = {.sType = MAAR_STRUCTURE_TYPE_ORDERED_USE_INFO,
                                  .flags = MAAR_ORDERED_USE_MAY_ADD_WAITS_BIT,
                                  .waitCapacity = 2,
                                  .pWaits = waits,
                                  .pWaitCount = &wait_count};
        use.flags |= prefers != 0 ? MAAR_ORDERED_USE_PREFER_WAITS_BIT : 0;
        MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
        how.pool = pool;
        how.pNext = &use;
        const MaarAllocation a = rig_allocate(rig, UNIT, &how);
        expect_place(a, prefers != 0 ? 9 : 2, UNIT);
        assert_int_equal(wait_count, prefers);
        maarFreeMemory(rig->allocator, a);
    }
    rig_signal(rig, semaphore, 2);
    pass(1);
    vkDestroySemaphore(rig->device, semaphore, NULL);
    close_block();
}

/* ---- kinds: the units are linear, and hold four granules each ---- */

static const MaarResourceKind optimal = MAAR_RESOURCE_KIND_OPTIMAL;

static void expect_no_image_room(VkDeviceSize size, uint64_t value)
{
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(try_kind_after(optimal, size, 256, value, &memory),
                     VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_forget_messages(rig);
    rig_check(rig);
}

static void other_kind_gets_whole_granules(void** state)
{
    (void)state;
    open_block_of(VK_FALSE);
    free_unit(3, 5);
    free_unit(4, 5);
    expect_no_image_room(UNIT, 4);
    expect_no_image_room(2 * UNIT - 256, 5); /* what is left would share a granule */
    MaarAllocation a = VK_NULL_HANDLE;
    assert_int_equal(try_kind_after(optimal, UNIT, 256, 5, &a), VK_SUCCESS);
    expect_place(a, 3, UNIT);
    assert_int_equal(ordered_statistics().joinedCount, 0);
    /* Freed unused, its bytes are pending for both kinds. */
    maarFreeMemory(rig->allocator, a);
    const MaarAllocation b = allocate_after(2 * UNIT, 5);
    expect_place(b, 3, 2 * UNIT);
    maarFreeMemory(rig->allocator, b);
    assert_int_equal(try_kind_after(optimal, 2 * UNIT, 256, 5, &a), VK_SUCCESS);
    expect_place(a, 3, 2 * UNIT);
    maarFreeMemory(rig->allocator, a);
    pass(5);
    assert_int_equal(rig_statistics(rig, pool).pendingBytes, 0);
    close_block();
}

static void rest_stays_of_its_kind(void** state)
{
    (void)state;
    open_block_of(VK_FALSE);
    free_unit(3, 5);
    MaarAllocation a = VK_NULL_HANDLE;
    MaarAllocation b = VK_NULL_HANDLE;
    expect_no_image_room(UNIT - 512, 5);
    assert_int_equal(try_kind_after(optimal, UNIT - 1024, 256, 5, &a), VK_SUCCESS);
    expect_place(a, 3, UNIT - 1024);
    expect_no_image_room(512, 5);
    assert_int_equal(try_after(512, 256, 5, &b), VK_SUCCESS);
    assert_int_equal(rig_info(rig, b).offset, 4 * UNIT - 1024);
    rig_check(rig);
    maarFreeMemory(rig->allocator, a);
    maarFreeMemory(rig->allocator, b);
    close_block();
}

/* A neighbour's granule is not given away, whether the neighbour is live or was freed at once. */
static void edges_that_share_a_granule_are_kept(void** state)
{
    (void)state;
    for (uint32_t is_free = 0; is_free < 2; ++is_free) {
        MaarAllocation parts[2];
        MaarAllocation a = VK_NULL_HANDLE;
        open_block_of(VK_FALSE);
        free_unit(3, 0);
        for (uint32_t i = 0; i < 2; ++i) {
            assert_int_equal(try_after(UNIT / 2 - 512 + i * 1024, 256, 0, &parts[i]), VK_SUCCESS);
        }
        const MaarPoint point = host_point(5);
        assert_int_equal(maarFreeMemoryAfter(rig->allocator, parts[1], 1, &point), VK_SUCCESS);
        if (is_free != 0) {
            maarFreeMemory(rig->allocator, parts[0]);
        }
        /* The range begins in the middle of a granule. */
        expect_no_image_room(is_free != 0 ? UNIT / 2 + 256 : 1024, 5);
        assert_int_equal(try_after(1024, 256, 5, &a), VK_SUCCESS);
        maarFreeMemory(rig->allocator, a);
        if (is_free == 0) {
            maarFreeMemory(rig->allocator, parts[0]);
        }
        close_block();
    }
}

/* A request that fails behind the change of kinds leaves two pending ranges. */
static void failing_call_leaves_the_kinds(void** state)
{
    (void)state;
    open_block_of(VK_FALSE);
    free_unit(3, 0);
    MaarAllocation image = VK_NULL_HANDLE;
    MaarAllocation neighbour = VK_NULL_HANDLE; /* shares the last granule of the image */
    assert_int_equal(try_kind_after(optimal, UNIT - 512, 256, 0, &image), VK_SUCCESS);
    assert_int_equal(try_kind_after(optimal, 512, 256, 0, &neighbour), VK_SUCCESS);
    const MaarPoint point = host_point(5);
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, image, 1, &point), VK_SUCCESS);
    fail_to_bind(2048);
    rig_check(rig);
    assert_int_equal(rig_statistics(rig, pool).pendingBytes, UNIT - 512);
    assert_int_equal(try_kind_after(optimal, UNIT - 512, 256, 5, &image), VK_SUCCESS);
    expect_place(image, 3, UNIT - 512);
    maarFreeMemory(rig->allocator, image);
    maarFreeMemory(rig->allocator, neighbour);
    close_block();
}

static void large_ranges_have_granules_of_their_own(void** state)
{
    (void)state;
    const struct rig_setup setup = {.flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT};
    const MaarPoolCreateInfo info = {
        .memoryTypeIndex = 1, .blockSize = 1024 * KIB, .minBlockCount = 1, .maxBlockCount = 1};
    rig = rig_begin(&setup);
    pool = rig_create_pool(rig, &info);
    MaarAllocation sizes[4];
    assert_int_equal(try_after(256, 256, 1, &sizes[0]), VK_SUCCESS);
    assert_int_equal(try_after(64 * KIB + 256, 256, 1, &sizes[1]), VK_SUCCESS);
    assert_int_equal(rig_info(rig, sizes[1]).size, 65 * KIB);
    assert_int_equal(rig_info(rig, sizes[1]).offset % 1024, 0);
    /* Where that does not fit, it shares one. */
    assert_int_equal(try_after(1024 + 256, 256, 0, &sizes[2]), VK_SUCCESS);
    const VkDeviceSize end = rig_info(rig, sizes[2]).offset + 1024 + 256;
    const VkDeviceSize room = rig_info(rig, sizes[0]).offset - end;
    assert_int_equal(try_after(room, 256, 1, &sizes[3]), VK_SUCCESS);
    assert_int_equal(rig_info(rig, sizes[3]).size, room);
    rig_check(rig);
    for (uint32_t i = 0; i < 4; ++i) {
        maarFreeMemory(rig->allocator, sizes[i]);
    }
    maarDestroyPool(rig->allocator, pool);
}

/* A small request has a part of a large range only where nothing else is free. */
static void small_requests_leave_large_ranges_whole(void** state)
{
    (void)state;
    open_block();
    free_unit(3, 5);
    free_unit(9, 0);
    MaarAllocation small[2];
    assert_int_equal(try_after(32, 32, 5, &small[0]), VK_SUCCESS);
    assert_int_equal(rig_info(rig, small[0]).offset, 10 * UNIT - 32);
    const MaarAllocation rest = allocate_after(UNIT - 64, 5);
    expect_place(rest, 3, UNIT - 64);
    maarFreeMemory(rig->allocator, rest);
    maarFreeMemory(rig->allocator, small[0]);
    all[9] = allocate_after(UNIT, 0);
    assert_int_equal(try_after(32, 32, 5, &small[0]), VK_SUCCESS);
    assert_true(rig_info(rig, small[0]).offset / UNIT == 3);
    maarFreeMemory(rig->allocator, small[0]);
    close_block();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(neighbours_serve_what_none_serves_alone),
        rig_unit_test(neighbours_that_are_not_covered_are_no_part),
        rig_unit_test(joined_ranges_end_where_the_last_one_does),
        rig_unit_test(undone_request_leaves_its_joined_rest_alone),
        rig_unit_test(free_bytes_beside_and_between_are_taken_too),
        rig_unit_test(live_neighbours_are_no_part),
        rig_unit_test(rest_of_joined_ranges_stays_pending),
        rig_unit_test(alignment_holds_in_joined_ranges),
        rig_unit_test(too_many_points_are_not_joined),
        rig_unit_test(failing_call_gives_joined_bytes_back),
        rig_unit_test(waits_are_preferred_to_free_bytes_on_demand),
        rig_unit_test(other_kind_gets_whole_granules),
        rig_unit_test(rest_stays_of_its_kind),
        rig_unit_test(edges_that_share_a_granule_are_kept),
        rig_unit_test(failing_call_leaves_the_kinds),
        rig_unit_test(large_ranges_have_granules_of_their_own),
        rig_unit_test(small_requests_leave_large_ranges_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
