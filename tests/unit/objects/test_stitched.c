/*
 * Pools that stitch: large objects out of whatever pages are free, small ones as ever; what such an
 * allocation says of itself, what it refuses, when it goes, and that totals add up meanwhile.
 */
#include "tests/rig/rig.h"

#define PAGE (64 * KIB)

struct stitch_rig {
    struct rig* rig;
    MaarPool pool;
};

static const MaarPoolPagingInfo default_paging = {
    .sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
    .stitch = VK_TRUE,
};

static MaarPool make_pool(struct rig* rig, const MaarPoolPagingInfo* paging, const char* name)
{
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .pNext = paging,
        .memoryTypeIndex = 0,
        .pName = name,
    };
    return rig_create_pool(rig, &info);
}

/* The discrete card with sparse binding, of pages of 64 KiB. */
static const MaarSimulatedProfile* sparse_profile(VkDeviceSize address_space)
{
    static MaarSimulatedProfile profile;
    profile = *rig_profile_discrete();
    profile.sparse.sparseBinding = VK_TRUE;
    profile.limits.sparseAddressSpaceSize = address_space;
    for (uint32_t i = 0; i < profile.queueFamilyCount; ++i) {
        profile.queueFamilies[i].flags |= VK_QUEUE_SPARSE_BINDING_BIT;
    }
    return &profile;
}

static void start(struct stitch_rig* s)
{
    const struct rig_setup setup = {
        .paging = true,
        .count_host = true,
        .profile = sparse_profile(GIB),
    };
    s->rig = rig_begin(&setup);
    s->pool = make_pool(s->rig, &default_paging, "pages");
}

static void finish(struct stitch_rig* s)
{
    maarDestroyPool(s->rig->allocator, s->pool);
    rig_expect_silence(s->rig);
    rig_close(s->rig);
}

static MaarAllocationCreateInfo how_in(MaarPool pool)
{
    return (MaarAllocationCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pool = pool,
    };
}

struct object {
    VkBuffer buffer;
    VkImage image;
    MaarAllocation allocation;
};

static struct object make_buffer(struct stitch_rig* s, VkDeviceSize size)
{
    const VkBufferCreateInfo info = rig_buffer_info(size);
    const MaarAllocationCreateInfo how = how_in(s->pool);
    struct object object = {.buffer = VK_NULL_HANDLE};
    assert_int_equal(
        maarCreateBuffer(s->rig->allocator, &info, &how, &object.buffer, &object.allocation),
        VK_SUCCESS);
    return object;
}

static void end_buffer(struct stitch_rig* s, struct object* object)
{
    maarDestroyBuffer(s->rig->allocator, object->buffer, object->allocation);
    *object = (struct object){.buffer = VK_NULL_HANDLE};
}

static uint32_t run_count(struct stitch_rig* s, MaarAllocation allocation)
{
    uint32_t count = 0;
    assert_int_equal(maarEnumerateAllocationPages(s->rig->allocator, allocation, &count, NULL),
                     VK_SUCCESS);
    return count;
}

static MaarPagingStatistics paging_of(struct stitch_rig* s)
{
    MaarPagingStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    assert_int_equal(maarGetPagingStatistics(s->rig->allocator, &statistics), VK_SUCCESS);
    assert_true(statistics.committedBytes + statistics.heldBytes + statistics.freeBytes ==
                statistics.blockBytes);
    return statistics;
}

static void submit(struct stitch_rig* s)
{
    assert_int_equal(maarSubmitBinds(s->rig->allocator, 0, NULL, NULL), VK_SUCCESS);
}

static void large_buffer_is_made_of_pages(void** state)
{
    (void)state;
    struct stitch_rig s;
    start(&s);
    struct object object = make_buffer(&s, 3 * MIB + 100);
    const MaarAllocationInfo info = rig_info(s.rig, object.allocation);
    assert_true(info.memory == VK_NULL_HANDLE);
    assert_true(info.offset == 0 && info.blockSize == 0 && info.blockId == 0);
    assert_true(info.size >= 3 * MIB + 100 && info.size <= 3 * MIB + PAGE);
    assert_int_equal(info.dedicated, VK_FALSE);
    assert_true(info.pool == s.pool);
    assert_int_equal(info.kind, MAAR_RESOURCE_KIND_LINEAR);
    assert_int_equal(rig_calls(s.rig, "vkBindBufferMemory2"), 0);

    uint32_t count = 4;
    MaarPageRun runs[4];
    assert_int_equal(
        maarEnumerateAllocationPages(s.rig->allocator, object.allocation, &count, runs),
        VK_SUCCESS);
    assert_int_equal(count, 1);
    assert_true(runs[0].offset == 0 && runs[0].size == 3 * MIB + PAGE);
    assert_true(runs[0].memory != VK_NULL_HANDLE);
    count = 0;
    assert_int_equal(
        maarEnumerateAllocationPages(s.rig->allocator, object.allocation, &count, runs),
        VK_INCOMPLETE);
    assert_int_equal(count, 0);

    MaarStatistics statistics = rig_statistics(s.rig, s.pool);
    assert_int_equal(statistics.allocationCount, 1);
    assert_true(statistics.allocationBytes == 3 * MIB + PAGE);
    assert_int_equal(statistics.blockCount, 1);
    assert_int_equal(statistics.dedicatedCount, 0);
    assert_true(statistics.dedicatedBytes == 0);
    assert_true(statistics.blockBytes >= 16 * MIB);
    submit(&s);
    MaarPagingStatistics paging = paging_of(&s);
    assert_int_equal(paging.stitchedCount, 1);
    assert_int_equal(paging.stitchedMade, 0);
    assert_true(paging.bindCount == 1 && paging.pagesBound == 49);
    rig_check(s.rig);
    end_buffer(&s, &object);
    statistics = rig_statistics(s.rig, s.pool);
    assert_int_equal(statistics.allocationCount, 0);
    assert_int_equal(statistics.pendingCount, 0);
    assert_true(statistics.allocationBytes == 0);
    assert_true(rig_statistics(s.rig, VK_NULL_HANDLE).peakAllocationBytes >= 3 * MIB);
    assert_true(paging_of(&s).reservedBytes == 0);
    finish(&s);
}

/* The pages in use are live, and not the blocks that they are of. */
/* Pages stay where they were bound, whatever comes and goes beside them. */
static void pages_of_an_object_stay(void** state)
{
    enum { OTHERS = 8, MOST_RUNS = 64 };
    struct stitch_rig s;
    struct object others[OTHERS];
    MaarPageRun before[MOST_RUNS];
    MaarPageRun after[MOST_RUNS];
    uint32_t count = MOST_RUNS;
    (void)state;
    start(&s);
    for (uint32_t i = 0; i < OTHERS; ++i) {
        others[i] = make_buffer(&s, 2 * MIB);
    }
    submit(&s);
    for (uint32_t i = 0; i < OTHERS; i += 2) {
        end_buffer(&s, &others[i]);
    }
    submit(&s);
    struct object kept = make_buffer(&s, 6 * MIB);
    submit(&s);
    assert_int_equal(
        maarEnumerateAllocationPages(s.rig->allocator, kept.allocation, &count, before),
        VK_SUCCESS);
    for (uint32_t i = 1; i < OTHERS; i += 2) {
        end_buffer(&s, &others[i]);
    }
    submit(&s);
    assert_int_equal(maarTrim(s.rig->allocator, s.pool, NULL), VK_SUCCESS);
    struct object late = make_buffer(&s, 9 * MIB);
    submit(&s);
    uint32_t now = MOST_RUNS;
    assert_int_equal(maarEnumerateAllocationPages(s.rig->allocator, kept.allocation, &now, after),
                     VK_SUCCESS);
    assert_int_equal(now, count);
    for (uint32_t i = 0; i < count; ++i) {
        assert_true(after[i].memory == before[i].memory && after[i].offset == before[i].offset);
        assert_true(after[i].memoryOffset == before[i].memoryOffset);
    }
    end_buffer(&s, &late);
    end_buffer(&s, &kept);
    submit(&s);
    finish(&s);
}

static void peak_is_of_pages_in_use(void** state)
{
    (void)state;
    struct stitch_rig s;
    start(&s);
    struct object object = make_buffer(&s, 3 * MIB);
    submit(&s);
    end_buffer(&s, &object);
    const MaarStatistics statistics = rig_statistics(s.rig, VK_NULL_HANDLE);
    assert_true(statistics.peakBlockBytes > 8 * MIB);
    assert_true(statistics.peakAllocationBytes >= 3 * MIB);
    assert_true(statistics.peakAllocationBytes < 6 * MIB);
    finish(&s);
}

static void small_and_mapped_ones_are_placed_as_ever(void** state)
{
    (void)state;
    struct stitch_rig s;
    start(&s);
    struct object small = make_buffer(&s, 7 * PAGE);
    assert_true(rig_info(s.rig, small.allocation).memory != VK_NULL_HANDLE);
    assert_int_equal(run_count(&s, small.allocation), 0);
    struct object large = make_buffer(&s, 8 * PAGE);
    assert_true(rig_info(s.rig, large.allocation).memory == VK_NULL_HANDLE);
    const uint64_t created = rig_calls(s.rig, "vkCreateBuffer");
    struct object again = make_buffer(&s, 7 * PAGE); /* the page's size is known now */
    assert_int_equal(rig_calls(s.rig, "vkCreateBuffer"), created + 1);

    const VkBufferCreateInfo info = rig_buffer_info(MIB);
    MaarAllocationCreateInfo how = how_in(s.pool);
    struct object other[2];
    how.flags = MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT;
    assert_int_equal(
        maarCreateBuffer(s.rig->allocator, &info, &how, &other[0].buffer, &other[0].allocation),
        VK_SUCCESS);
    assert_true(rig_info(s.rig, other[0].allocation).memory != VK_NULL_HANDLE);
    how.flags = 0;
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    assert_int_equal(
        maarCreateBuffer(s.rig->allocator, &info, &how, &other[1].buffer, &other[1].allocation),
        VK_SUCCESS);
    assert_int_equal(rig_info(s.rig, other[1].allocation).dedicated, VK_TRUE);
    MaarAllocation plain = VK_NULL_HANDLE;
    const MaarMemoryRequest request = rig_request(4 * MIB, 256, 1, MAAR_RESOURCE_KIND_LINEAR);
    how.dedicated = MAAR_DEDICATED_AUTO;
    assert_int_equal(maarAllocateMemory(s.rig->allocator, &request, &how, &plain), VK_SUCCESS);
    assert_true(rig_info(s.rig, plain).memory != VK_NULL_HANDLE);
    assert_int_equal(rig_statistics(s.rig, s.pool).allocationCount, 6);
    rig_check(s.rig);
    submit(&s);
    maarFreeMemory(s.rig->allocator, plain);
    end_buffer(&s, &small);
    end_buffer(&s, &large);
    end_buffer(&s, &again);
    end_buffer(&s, &other[0]);
    end_buffer(&s, &other[1]);
    finish(&s);
}

static void threshold_is_what_was_asked_for(void** state)
{
    (void)state;
    struct stitch_rig s;
    start(&s);
    const MaarPoolPagingInfo paging = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
        .stitch = VK_TRUE,
        .threshold = 2 * MIB,
        .pageBlockSize = 32 * MIB,
    };
    const MaarPool before = s.pool;
    s.pool = make_pool(s.rig, &paging, NULL);
    struct object below = make_buffer(&s, 2 * MIB - 256);
    struct object from = make_buffer(&s, 2 * MIB);
    assert_true(rig_info(s.rig, below.allocation).memory != VK_NULL_HANDLE);
    assert_true(rig_info(s.rig, from.allocation).memory == VK_NULL_HANDLE);
    assert_true(paging_of(&s).blockBytes == 32 * MIB);
    submit(&s);
    end_buffer(&s, &below);
    end_buffer(&s, &from);
    maarDestroyPool(s.rig->allocator, s.pool);
    s.pool = before;
    finish(&s);
}

static void holes_serve_what_is_larger_than_any(void** state)
{
    (void)state;
    struct stitch_rig s;
    enum { COUNT = 16 };
    struct object objects[COUNT];
    start(&s);
    for (uint32_t i = 0; i < COUNT; ++i) {
        objects[i] = make_buffer(&s, MIB);
    }
    submit(&s);
    for (uint32_t i = 0; i < COUNT; i += 2) {
        end_buffer(&s, &objects[i]);
    }
    const MaarStatistics before = rig_statistics(s.rig, s.pool);
    struct object large = make_buffer(&s, 8 * MIB);
    const MaarStatistics after = rig_statistics(s.rig, s.pool);
    assert_true(after.blockBytes == before.blockBytes);
    assert_int_equal(run_count(&s, large.allocation), 8);
    submit(&s);
    MaarPagingStatistics paging = paging_of(&s);
    assert_int_equal(paging.stitchedMade, 1);
    assert_true(paging.bindCount == COUNT + 8);
    assert_true(paging.pagesBound == 16 * COUNT + 128);
    assert_int_equal(paging.submissionCount, 2);
    rig_check(s.rig);
    end_buffer(&s, &large);
    for (uint32_t i = 1; i < COUNT; i += 2) {
        end_buffer(&s, &objects[i]);
    }
    finish(&s);
}

static void images_are_made_of_pages_if_they_can_be(void** state)
{
    (void)state;
    struct stitch_rig s;
    start(&s);
    const MaarAllocationCreateInfo how = how_in(s.pool);
    VkImageCreateInfo info = rig_image_info(1024, 1024);
    struct object optimal = {.image = VK_NULL_HANDLE};
    assert_int_equal(
        maarCreateImage(s.rig->allocator, &info, &how, &optimal.image, &optimal.allocation),
        VK_SUCCESS);
    assert_true(rig_info(s.rig, optimal.allocation).memory == VK_NULL_HANDLE);
    assert_int_equal(rig_info(s.rig, optimal.allocation).kind, MAAR_RESOURCE_KIND_OPTIMAL);
    struct object small = {.image = VK_NULL_HANDLE};
    info = rig_image_info(64, 64);
    assert_int_equal(
        maarCreateImage(s.rig->allocator, &info, &how, &small.image, &small.allocation),
        VK_SUCCESS);
    assert_true(rig_info(s.rig, small.allocation).memory != VK_NULL_HANDLE);
    struct object linear = {.image = VK_NULL_HANDLE};
    info = rig_image_info(1024, 1024);
    info.tiling = VK_IMAGE_TILING_LINEAR;
    info.usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    assert_int_equal(
        maarCreateImage(s.rig->allocator, &info, &how, &linear.image, &linear.allocation),
        VK_SUCCESS);
    assert_true(rig_info(s.rig, linear.allocation).memory != VK_NULL_HANDLE);
    submit(&s);
    rig_check(s.rig);
    maarDestroyImage(s.rig->allocator, optimal.image, optimal.allocation);
    maarDestroyImage(s.rig->allocator, small.image, small.allocation);
    maarDestroyImage(s.rig->allocator, linear.image, linear.allocation);
    finish(&s);
}

static void pages_are_neither_mapped_nor_shared(void** state)
{
    (void)state;
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    struct stitch_rig s;
    start(&s);
    MaarAllocator allocator = s.rig->allocator;
    struct object object = make_buffer(&s, MIB);
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    const VkImageCreateInfo image_info = rig_image_info(16, 16);
    void* data = &object;
    VkBuffer buffer = VK_NULL_HANDLE;
    VkImage image = VK_NULL_HANDLE;
    assert_int_equal(maarMapMemory(allocator, object.allocation, &data), invalid);
    rig_expect_message(s.rig, MAAR_MESSAGE_ID_NOT_MAPPABLE);
    assert_null(data);
    assert_null(maarGetMappedData(allocator, object.allocation));
    assert_int_equal(maarCopyToAllocation(allocator, object.allocation, 0, 4, "abc"), invalid);
    rig_expect_message(s.rig, MAAR_MESSAGE_ID_NOT_MAPPABLE);
    assert_int_equal(maarFlushAllocation(allocator, object.allocation, 0, 4), invalid);
    rig_expect_message(s.rig, MAAR_MESSAGE_ID_NOT_MAPPED);
    assert_int_equal(maarCreateAliasingBuffer(allocator, object.allocation, 0, &info, &buffer),
                     invalid);
    rig_expect_message(s.rig, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT);
    assert_int_equal(maarCreateAliasingImage(allocator, object.allocation, 0, &image_info, &image),
                     invalid);
    rig_expect_message(s.rig, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT);
    assert_int_equal(maarBindBuffer(allocator, object.allocation, 0, object.buffer, NULL), invalid);
    rig_expect_message(s.rig, MAAR_MESSAGE_ID_OBJECT_DOES_NOT_FIT);
    assert_int_equal(maarSetAllocationPriority(allocator, object.allocation, 0.5F), invalid);
    rig_expect_message(s.rig, MAAR_MESSAGE_ID_NOT_DEDICATED);
    assert_int_equal(maarSetAllocationName(allocator, object.allocation, "renamed"), VK_SUCCESS);
    assert_string_equal(rig_info(s.rig, object.allocation).pName, "renamed");
    end_buffer(&s, &object); /* recorded, never submitted */
    rig_expect_message_naming(s.rig, MAAR_MESSAGE_ID_PAGES_NOT_SUBMITTED, "\"renamed\"");
    finish(&s);
}

static void external_objects_and_exporting_pools_are_refused(void** state)
{
    (void)state;
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    struct stitch_rig s;
    start(&s);
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    VkBufferCreateInfo info = rig_buffer_info(MIB);
    info.pNext = &external;
    const MaarAllocationCreateInfo how = how_in(s.pool);
    struct object object;
    assert_int_equal(
        maarCreateBuffer(s.rig->allocator, &info, &how, &object.buffer, &object.allocation),
        invalid);
    rig_expect_message(s.rig, MAAR_MESSAGE_ID_POOL_MISMATCH);
    const VkExportMemoryAllocateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    const MaarPoolCreateInfo pool_info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .pNext = &default_paging,
        .pMemoryAllocateNext = &export,
    };
    MaarPool pool = VK_NULL_HANDLE;
    assert_int_equal(maarCreatePool(s.rig->allocator, &pool_info, &pool), invalid);
    rig_expect_message(s.rig, MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED);
    assert_null(pool);
    finish(&s);
}

static void pool_that_cannot_stitch_says_why(void** state)
{
    (void)state;
    const VkFlags off[] = {RIG_OFF_SPARSE, RIG_OFF_TIMELINE};
    const char* const features[] = {"sparseBinding", "timelineSemaphore"};
    for (uint32_t i = 0; i < 3; ++i) {
        const struct rig_setup setup = {
            .paging = i < 2,
            .off = i < 2 ? off[i] : 0,
            .profile = sparse_profile(GIB),
        };
        struct rig* const rig = rig_begin(&setup);
        const MaarPoolCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
            .pNext = &default_paging,
        };
        MaarPool pool = VK_NULL_HANDLE;
        assert_int_equal(maarCreatePool(rig->allocator, &info, &pool),
                         VK_ERROR_FEATURE_NOT_PRESENT);
        assert_null(pool);
        rig_expect_message_naming(
            rig, i < 2 ? MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED : MAAR_MESSAGE_ID_NO_QUEUE,
            i < 2 ? features[i] : "pQueues");
        rig_close(rig);
    }
}

static void destroyed_ones_wait_for_their_points(void** state)
{
    (void)state;
    struct stitch_rig s;
    start(&s);
    struct object never = make_buffer(&s, 2 * MIB);
    end_buffer(&s, &never); /* recorded, never submitted */
    rig_expect_message_naming(s.rig, MAAR_MESSAGE_ID_PAGES_NOT_SUBMITTED, "32");
    assert_int_equal(rig_statistics(s.rig, s.pool).allocationCount, 0);
    assert_true(paging_of(&s).recordedPages == 0);

    VkSemaphore timeline = rig_create_timeline(s.rig, 0);
    struct object object = make_buffer(&s, 2 * MIB);
    submit(&s);
    const MaarPoint point = {.semaphore = timeline, .value = 7};
    assert_int_equal(
        maarDestroyBufferAfter(s.rig->allocator, object.buffer, object.allocation, 1, &point),
        VK_SUCCESS);
    MaarStatistics statistics = rig_statistics(s.rig, s.pool);
    assert_int_equal(statistics.allocationCount, 0);
    assert_int_equal(statistics.pendingCount, 1);
    assert_true(statistics.allocationBytes == 0 && statistics.pendingBytes == 2 * MIB);
    rig_check(s.rig);
    rig_signal(s.rig, timeline, 7);
    uint32_t freed = 0;
    assert_int_equal(maarCollect(s.rig->allocator, &freed), VK_SUCCESS);
    assert_int_equal(freed, 1);
    statistics = rig_statistics(s.rig, s.pool);
    assert_int_equal(statistics.pendingCount, 0);
    assert_true(statistics.pendingBytes == 0 && statistics.freeBytes == statistics.blockBytes);

    /* No host memory is needed for it. */
    object = make_buffer(&s, 2 * MIB);
    submit(&s);
    const MaarPoint later = {.semaphore = timeline, .value = 8};
    atomic_store(&s.rig->host.fail_at, atomic_load(&s.rig->host.calls) + 1);
    assert_int_equal(
        maarDestroyBufferAfter(s.rig->allocator, object.buffer, object.allocation, 1, &later),
        VK_SUCCESS);
    atomic_store(&s.rig->host.fail_at, 0);
    rig_signal(s.rig, timeline, 8);
    vkDeviceWaitIdle(s.rig->device);
    assert_int_equal(maarWaitPending(s.rig->allocator, UINT64_MAX), VK_SUCCESS);
    vkDestroySemaphore(s.rig->device, timeline, NULL);
    finish(&s);
}

/* Pages whose binding the device has yet to carry out are nobody else's. */
static void destroyed_ones_wait_for_their_submission(void** state)
{
    (void)state;
    struct stitch_rig s;
    start(&s);
    maarSimulatedSetFlags(s.rig->physical, MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT);
    struct object object = make_buffer(&s, 2 * MIB);
    submit(&s);
    end_buffer(&s, &object);
    assert_int_equal(maarCollect(s.rig->allocator, NULL), VK_SUCCESS);
    MaarStatistics statistics = rig_statistics(s.rig, s.pool);
    assert_int_equal(statistics.allocationCount, 0);
    assert_int_equal(statistics.pendingCount, 1);
    assert_int_equal(maarSimulatedExecuteSubmissions(s.rig->physical, 1), 1);
    assert_int_equal(maarCollect(s.rig->allocator, NULL), VK_SUCCESS);
    statistics = rig_statistics(s.rig, s.pool);
    assert_int_equal(statistics.pendingCount, 0);
    maarSimulatedSetFlags(s.rig->physical, 0);
    finish(&s);
}

static void memory_may_be_freed_apart_from_its_buffer(void** state)
{
    (void)state;
    struct stitch_rig s;
    start(&s);
    struct object object = make_buffer(&s, 2 * MIB);
    submit(&s);
    vkDestroyBuffer(s.rig->device, object.buffer, &s.rig->host_callbacks);
    maarFreeMemory(s.rig->allocator, object.allocation);
    maarFreeMemory(s.rig->allocator, object.allocation);
    rig_expect_message(s.rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    assert_int_equal(rig_statistics(s.rig, s.pool).allocationCount, 0);
    finish(&s);
}

static void leaks_are_reported_and_end_with_the_pool(void** state)
{
    (void)state;
    struct stitch_rig s;
    start(&s);
    struct object object = make_buffer(&s, 2 * MIB);
    submit(&s);
    assert_int_equal(maarSetAllocationName(s.rig->allocator, object.allocation, "forgotten"),
                     VK_SUCCESS);
    maarDestroyPool(s.rig->allocator, s.pool);
    rig_expect_message_naming(s.rig, MAAR_MESSAGE_ID_LEAK, "forgotten");
    assert_true(rig_statistics(s.rig, VK_NULL_HANDLE).blockBytes == 0);
    vkDestroyBuffer(s.rig->device, object.buffer, &s.rig->host_callbacks);
    s.pool = make_pool(s.rig, &default_paging, "second");
    object = make_buffer(&s, 2 * MIB); /* not even submitted */
    maarDestroyAllocator(s.rig->allocator);
    rig_expect_message_naming(s.rig, MAAR_MESSAGE_ID_LEAK, "second");
    vkDestroyBuffer(s.rig->device, object.buffer, &s.rig->host_callbacks);
    s.rig->allocator = VK_NULL_HANDLE;
    rig_close(s.rig);
}

static void lists_show_pages_in_use(void** state)
{
    (void)state;
    struct stitch_rig s;
    start(&s);
    struct object first = make_buffer(&s, 2 * MIB);
    struct object second = make_buffer(&s, MIB);
    submit(&s);
    end_buffer(&s, &first);
    MaarBlockInfo block = {.sType = MAAR_STRUCTURE_TYPE_BLOCK_INFO};
    uint32_t count = 1;
    assert_int_equal(maarEnumerateBlocks(s.rig->allocator, s.pool, &count, &block), VK_SUCCESS);
    assert_int_equal(count, 1);
    assert_int_equal(block.dedicated, VK_FALSE);
    assert_int_equal(block.allocationCount, 0);
    assert_true(block.allocationBytes == MIB && block.pendingBytes == 0);
    MaarBlockRange ranges[4];
    count = 4;
    assert_int_equal(maarEnumerateBlockRanges(s.rig->allocator, block.blockId, &count, ranges),
                     VK_SUCCESS);
    assert_int_equal(count, 3);
    assert_int_equal(ranges[0].state, MAAR_BLOCK_RANGE_STATE_FREE);
    assert_int_equal(ranges[1].state, MAAR_BLOCK_RANGE_STATE_LIVE);
    assert_true(ranges[1].offset == 2 * MIB && ranges[1].size == MIB);
    assert_int_equal(ranges[2].state, MAAR_BLOCK_RANGE_STATE_FREE);
    MaarDetailedStatistics detailed = {.sType = MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS};
    assert_int_equal(maarGetDetailedStatistics(s.rig->allocator, s.pool, &detailed), VK_SUCCESS);
    assert_int_equal(detailed.freeRangeCount, 2);
    assert_true(detailed.allocationSizeMin == MIB && detailed.allocationSizeMax == MIB);
    const MaarDumpInfo dump = {.sType = MAAR_STRUCTURE_TYPE_DUMP_INFO, .detailed = VK_TRUE};
    size_t size = 0;
    assert_int_equal(maarWriteDump(s.rig->allocator, &dump, &size, NULL), VK_SUCCESS);
    char* text = malloc(size);
    assert_non_null(text);
    assert_int_equal(maarWriteDump(s.rig->allocator, &dump, &size, text), VK_SUCCESS);
    assert_non_null(strstr(text, "\"allocationCount\": 1"));
    assert_non_null(strstr(text, "\"allocationBytes\": 1048576"));
    free(text);
    end_buffer(&s, &second);
    finish(&s);
}

/* What a failed call must leave as it was. */
struct balance {
    MaarStatistics statistics;
    MaarPagingStatistics paging;
    uint64_t host_live;
    MaarSimulatedCounters counters;
};

static struct balance weigh(struct stitch_rig* s)
{
    return (struct balance){
        .statistics = rig_statistics(s->rig, VK_NULL_HANDLE),
        .paging = paging_of(s),
        .host_live = atomic_load(&s->rig->host.live),
        .counters = rig_counters(s->rig),
    };
}

static void expect_balance(struct stitch_rig* s, const struct balance* before)
{
    const struct balance now = weigh(s);
    assert_int_equal(now.statistics.allocationCount, before->statistics.allocationCount);
    assert_int_equal(now.statistics.blockCount, before->statistics.blockCount);
    assert_true(now.statistics.blockBytes == before->statistics.blockBytes);
    assert_true(now.statistics.allocationBytes == before->statistics.allocationBytes);
    assert_true(now.statistics.allocationsMade == before->statistics.allocationsMade);
    assert_true(now.paging.reservedBytes == before->paging.reservedBytes);
    assert_true(now.paging.committedBytes == before->paging.committedBytes);
    assert_true(now.paging.recordedPages == before->paging.recordedPages);
    assert_int_equal(now.paging.stitchedCount, before->paging.stitchedCount);
    assert_true(now.paging.stitchedMade == before->paging.stitchedMade);
    for (uint32_t i = 0; i < MAAR_SIMULATED_OBJECT_COUNT; ++i) {
        assert_int_equal(now.counters.liveCount[i], before->counters.liveCount[i]);
    }
    rig_check(s->rig);
}

/* Fails the nth host allocation or call of the driver, for every n until creating succeeds; in a
 * pool that has nothing yet, and in one with too few pages free. */
static void fail_everything(struct stitch_rig* s, bool host, bool image)
{
    const VkBufferCreateInfo info = rig_buffer_info(24 * MIB);
    const VkImageCreateInfo image_info = rig_image_info(2048, 2048);
    MaarAllocationCreateInfo how = how_in(s->pool);
    how.pName = "may fail";
    VkResult result = VK_INCOMPLETE;
    for (uint64_t nth = 1; result != VK_SUCCESS; ++nth) {
        struct object object;
        assert_true(nth < 100);
        const struct balance before = weigh(s);
        if (host) {
            atomic_store(&s->rig->host.fail_at, atomic_load(&s->rig->host.calls) + nth);
        } else {
            rig_set_fault(s->rig, NULL, nth, 1000, VK_ERROR_OUT_OF_DEVICE_MEMORY);
        }
        result = image ? maarCreateImage(s->rig->allocator, &image_info, &how, &object.image,
                                         &object.allocation)
                       : maarCreateBuffer(s->rig->allocator, &info, &how, &object.buffer,
                                          &object.allocation);
        atomic_store(&s->rig->host.fail_at, 0);
        rig_clear_faults(s->rig);
        if (result == VK_SUCCESS) {
            if (image) {
                maarDestroyImage(s->rig->allocator, object.image, object.allocation);
            } else {
                end_buffer(s, &object);
            }
            return;
        }
        assert_true(image ? object.image == VK_NULL_HANDLE : object.buffer == VK_NULL_HANDLE);
        assert_true(object.allocation == VK_NULL_HANDLE);
        expect_balance(s, &before);
    }
}

static void failing_calls_change_nothing(void** state)
{
    (void)state;
    for (int host = 0; host < 2; ++host) {
        for (int image = 0; image < 2; ++image) {
            struct stitch_rig s;
            start(&s);
            fail_everything(&s, host != 0, image != 0);
            assert_int_equal(maarTrim(s.rig->allocator, s.pool, NULL), VK_SUCCESS);
            struct object other = make_buffer(&s, 10 * MIB);
            submit(&s);
            fail_everything(&s, host != 0, image != 0);
            end_buffer(&s, &other);
            maarDestroyPool(s.rig->allocator, s.pool);
            rig_forget_messages(s.rig);
            rig_close(s.rig);
        }
    }
}

/* In 8 MiB of address space, of which 6 are taken. */
static struct object start_in_little_space(struct stitch_rig* s)
{
    const struct rig_setup setup = {.paging = true, .profile = sparse_profile(8 * MIB)};
    s->rig = rig_begin(&setup);
    s->pool = make_pool(s->rig, &default_paging, NULL);
    return make_buffer(s, 6 * MIB);
}

static void expect_placed(struct stitch_rig* s, MaarAllocation allocation, uint64_t fallbacks)
{
    rig_expect_message(s->rig, MAAR_MESSAGE_ID_ADDRESS_SPACE_EXHAUSTED);
    const MaarAllocationInfo info = rig_info(s->rig, allocation);
    assert_true(info.memory != VK_NULL_HANDLE);
    assert_int_equal(info.fallback, VK_TRUE);
    assert_true(info.pool == s->pool);
    assert_int_equal(run_count(s, allocation), 0);
    assert_int_equal(rig_statistics(s->rig, VK_NULL_HANDLE).fallbackCount, fallbacks);
    rig_check(s->rig);
}

static void object_without_address_space_is_placed(void** state)
{
    (void)state;
    struct stitch_rig s;
    struct object first = start_in_little_space(&s);
    struct object second = make_buffer(&s, 3 * MIB);
    expect_placed(&s, second.allocation, 1);
    rig_forget_messages(s.rig);
    const VkImageCreateInfo image_info = rig_image_info(1024, 1024);
    const MaarAllocationCreateInfo how = how_in(s.pool);
    struct object third = {.buffer = VK_NULL_HANDLE};
    assert_int_equal(
        maarCreateImage(s.rig->allocator, &image_info, &how, &third.image, &third.allocation),
        VK_SUCCESS);
    expect_placed(&s, third.allocation, 2);
    assert_true(paging_of(&s).reservedBytes == 6 * MIB);
    rig_forget_messages(s.rig);
    maarDestroyImage(s.rig->allocator, third.image, third.allocation);
    submit(&s);
    end_buffer(&s, &second);
    end_buffer(&s, &first);
    second = make_buffer(&s, 8 * MIB);
    assert_int_equal(run_count(&s, second.allocation), 1);
    submit(&s);
    end_buffer(&s, &second);
    finish(&s);
}

static void object_without_address_space_fails_if_it_must_not_be_placed(void** state)
{
    (void)state;
    struct stitch_rig s;
    struct object first = start_in_little_space(&s);
    const VkBufferCreateInfo info = rig_buffer_info(3 * MIB);
    const VkImageCreateInfo image_info = rig_image_info(1024, 1024);
    MaarAllocationCreateInfo how = how_in(s.pool);
    how.flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    struct object second;
    assert_int_equal(
        maarCreateBuffer(s.rig->allocator, &info, &how, &second.buffer, &second.allocation),
        VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(
        maarCreateImage(s.rig->allocator, &image_info, &how, &second.image, &second.allocation),
        VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(s.rig->messages.counts[MAAR_MESSAGE_SEVERITY_ERROR], 2);
    rig_expect_message(s.rig, MAAR_MESSAGE_ID_ADDRESS_SPACE_EXHAUSTED);
    assert_int_equal(rig_statistics(s.rig, VK_NULL_HANDLE).fallbackCount, 0);
    assert_true(paging_of(&s).reservedBytes == 6 * MIB);
    rig_forget_messages(s.rig);
    submit(&s);
    end_buffer(&s, &first);
    finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(large_buffer_is_made_of_pages),
        rig_unit_test(small_and_mapped_ones_are_placed_as_ever),
        rig_unit_test(threshold_is_what_was_asked_for),
        rig_unit_test(holes_serve_what_is_larger_than_any),
        rig_unit_test(images_are_made_of_pages_if_they_can_be),
        rig_unit_test(pages_are_neither_mapped_nor_shared),
        rig_unit_test(external_objects_and_exporting_pools_are_refused),
        rig_unit_test(pool_that_cannot_stitch_says_why),
        rig_unit_test(destroyed_ones_wait_for_their_points),
        rig_unit_test(destroyed_ones_wait_for_their_submission),
        rig_unit_test(memory_may_be_freed_apart_from_its_buffer),
        rig_unit_test(leaks_are_reported_and_end_with_the_pool),
        rig_unit_test(lists_show_pages_in_use),
        rig_unit_test(failing_calls_change_nothing),
        rig_unit_test(object_without_address_space_is_placed),
        rig_unit_test(object_without_address_space_fails_if_it_must_not_be_placed),
        rig_unit_test(pages_of_an_object_stay),
        rig_unit_test(peak_is_of_pages_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
