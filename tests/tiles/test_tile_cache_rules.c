/*
 * What a tile cache promises, one promise at a time, on simulated devices: when a tile is visible,
 * what is done without staging memory, without device memory and after failures, and what is
 * refused.
 */
#include "tests/tiles/simulated_tiles.h"

enum { MOST = 64 };

static struct rig* rig;
static MaarSparseImage image;
static MaarTileCache cache;
static VkCommandPool pool;
static VkCommandBuffer commands;
static MaarTileUpload uploads[MOST];

static MaarTileCacheCreateInfo cache_info(VkDeviceSize budget)
{
    return (MaarTileCacheCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_CREATE_INFO,
        .image = image,
        .budget = budget,
    };
}

static void open_commands(void)
{
    const VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = rig->recommendation.mainQueueFamily,
    };
    assert_int_equal(vkCreateCommandPool(rig->device, &info, NULL, &pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(vkAllocateCommandBuffers(rig->device, &allocate, &commands), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
}

/* 1024x1024: tiles of level 0 are 8x8, and the levels that are not pinned 8x8, 4x4, 2x2 and, where
 * the tail begins later, 1. */
static void start(const struct tile_device* device, const MaarTileCacheCreateInfo* wanted)
{
    static const struct tile_device plain = {.page_size = 0};
    const struct rig_setup setup = {.count_host = true};
    rig = rig_new();
    tile_device_start(rig, device != NULL ? device : &plain, &setup,
                      MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT);
    image = tile_create_image(rig, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){1024, 1024, 1}, 1);
    MaarTileCacheCreateInfo info = wanted != NULL ? *wanted : cache_info(4 * MIB);
    info.image = image;
    assert_int_equal(maarCreateTileCache(rig->allocator, &info, &cache), VK_SUCCESS);
    open_commands();
}

static void stop(void)
{
    maarDestroyTileCache(rig->allocator, cache);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, UINT64_MAX), VK_SUCCESS);
    maarDestroySparseImage(rig->allocator, image);
    vkDestroyCommandPool(rig->device, pool, NULL);
    rig_close(rig);
}

static uint32_t update_some(uint32_t count, const uint32_t* requests, uint32_t most)
{
    const MaarTileCacheUpdate update = {
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE,
        .requestCount = count,
        .pRequests = requests,
    };
    assert_int_equal(maarUpdateTileCache(rig->allocator, cache, &update, &most, uploads),
                     VK_SUCCESS);
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_SUCCESS);
    return most;
}

static void record(uint32_t count, uint64_t value)
{
    const MaarPoint point = {.value = value};
    assert_int_equal(maarRecordTileUploads(rig->allocator, cache, commands, count, uploads),
                     VK_SUCCESS);
    assert_int_equal(maarEndTileUploads(rig->allocator, cache, &point), VK_SUCCESS);
}

static uint8_t level_at(uint32_t x, uint32_t y)
{
    uint8_t levels[64];
    uint32_t count = 64;
    assert_int_equal(maarGetTileCacheLevels(rig->allocator, cache, 0, &count, levels), VK_SUCCESS);
    assert_int_equal(count, 64);
    return levels[y * 8 + x];
}

static void advance(uint64_t value)
{
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, value), VK_SUCCESS);
}

/* Fills what is pinned; the next free value of the host timeline is 2. */
static void fill_pinned(void)
{
    uint32_t count = update_some(0, NULL, MOST);
    assert_true(count > 0);
    record(count, 1);
    advance(1);
    assert_int_equal(update_some(0, NULL, MOST), 0);
    assert_int_equal(level_at(0, 0), tile_cache(rig, cache).firstPinnedLevel);
}

static void tile_is_visible_when_its_point_has_passed(void** state)
{
    (void)state;
    start(NULL, NULL);
    assert_int_equal(level_at(3, 3), 11); /* nothing yet */
    fill_pinned();
    const uint32_t pinned = tile_cache(rig, cache).firstPinnedLevel;
    const uint32_t wanted = MAAR_PACK_TILE_REQUEST(0u, 0u, 5u, 2u);
    const uint32_t count = update_some(1, &wanted, MOST);
    assert_int_equal(count, pinned); /* one of each level, the coarser first */
    for (uint32_t i = 0; i < count; ++i) {
        assert_int_equal(uploads[i].mipLevel, pinned - 1 - i);
        assert_int_equal(uploads[i].offset.x, (5u >> uploads[i].mipLevel) * 128);
        assert_int_equal(uploads[i].offset.y, (2u >> uploads[i].mipLevel) * 128);
        assert_int_equal(uploads[i].rowPitch, 512);
    }
    record(count, 7);
    advance(6);
    assert_int_equal(update_some(1, &wanted, MOST), 0);
    assert_int_equal(level_at(5, 2), pinned);
    advance(7);
    assert_int_equal(level_at(5, 2), pinned); /* not before an update has seen it */
    assert_int_equal(update_some(1, &wanted, MOST), 0);
    assert_int_equal(level_at(5, 2), 0);
    assert_int_equal(level_at(4, 2), 1);
    assert_int_equal(level_at(0, 7), pinned - 1); /* of which there is one tile */
    const MaarTileCacheInfo info = tile_cache(rig, cache);
    assert_int_equal(info.lastHitCount, 1);
    assert_int_equal(info.usedSlotCount, 0);
    stop();
}

static void full_budget_passes_pages_on(void** state)
{
    (void)state;
    MaarTileCacheCreateInfo info = cache_info(0);
    info.budget = 64 * KIB * 5;
    start(NULL, &info);
    const MaarTileCacheInfo before = tile_cache(rig, cache);
    fill_pinned();
    uint64_t value = 2;
    uint32_t evictions = 0;
    for (uint32_t i = 0; i < 64; ++i, ++value) {
        const uint32_t wanted = MAAR_PACK_TILE_REQUEST(2u, 0u, i % 2, i / 2 % 2);
        const uint32_t count = update_some(1, &wanted, MOST);
        assert_true(tile_cache(rig, cache).committedSize <= info.budget);
        evictions += tile_cache(rig, cache).lastEvictionCount;
        record(count, value);
        advance(value);
    }
    const MaarTileCacheInfo after = tile_cache(rig, cache);
    assert_int_equal(after.evictionCount, evictions);
    assert_true(after.peakCommittedSize <= info.budget);
    assert_true(before.pinnedSize < info.budget);
    MaarPagingStatistics totals = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    assert_int_equal(maarGetPagingStatistics(rig->allocator, &totals), VK_SUCCESS);
    assert_int_equal(totals.committedBytes, after.committedSize);
    stop();
}

static uint32_t update_recorded(const uint32_t* wanted, VkDeviceSize budget)
{
    uint32_t count = MOST;
    const MaarTileCacheUpdate update = {
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE,
        .requestCount = wanted != NULL ? 1 : 0,
        .pRequests = wanted,
        .budget = budget,
    };
    assert_int_equal(maarUpdateTileCache(rig->allocator, cache, &update, &count, uploads),
                     VK_SUCCESS);
    return count;
}

/* The device still has it where it was, and frames may read it there. */
static void page_that_was_passed_on_is_held_when_given_back(void** state)
{
    (void)state;
    MaarTileCacheCreateInfo info = cache_info(0);
    info.budget = 64 * KIB * 5;
    start(NULL, &info);
    fill_pinned();
    uint64_t value = 2;
    uint32_t wanted = 0;
    for (uint32_t i = 0; i < 3; ++i, ++value) {
        wanted = MAAR_PACK_TILE_REQUEST(2u, 0u, i % 2, i / 2);
        record(update_some(1, &wanted, MOST), value);
        advance(value);
    }
    (void)update_some(0, NULL, MOST);
    assert_int_equal(tile_cache(rig, cache).committedSize, info.budget);
    wanted = MAAR_PACK_TILE_REQUEST(2u, 0u, 1u, 1u);
    const uint32_t count = update_recorded(&wanted, 0);
    assert_int_equal(tile_cache(rig, cache).lastEvictionCount, 1);
    assert_int_equal(maarCancelTileUploads(rig->allocator, cache, count, uploads), VK_SUCCESS);
    const VkDeviceSize pinned = tile_cache(rig, cache).pinnedSize;
    (void)update_recorded(NULL, pinned);
    assert_int_equal(tile_cache(rig, cache).committedSize, pinned);
    MaarPagingStatistics totals = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    assert_int_equal(maarGetPagingStatistics(rig->allocator, &totals), VK_SUCCESS);
    assert_int_equal(totals.heldBytes, info.budget - pinned);
    /* Wanted again, it is bound after all; or the submission fails, and it stays held. */
    const uint32_t again = update_recorded(&wanted, info.budget);
    assert_int_equal(maarCancelTileUploads(rig->allocator, cache, again, uploads), VK_SUCCESS);
    (void)update_recorded(NULL, pinned);
    rig_set_fault(rig, "vkQueueBindSparse", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarGetPagingStatistics(rig->allocator, &totals), VK_SUCCESS);
    assert_int_equal(totals.heldBytes, info.budget - pinned);
    record(update_recorded(&wanted, info.budget), value);
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_SUCCESS);
    assert_int_equal(maarGetPagingStatistics(rig->allocator, &totals), VK_SUCCESS);
    assert_int_equal(totals.heldBytes, 0);
    assert_int_equal(totals.recordedPages, 0);
    stop();
}

/* Two slots: uploads wait for one another, and nothing else does. */
static void staging_that_is_used_up_delays(void** state)
{
    (void)state;
    MaarTileCacheCreateInfo info = cache_info(4 * MIB);
    info.stagingSize = 2 * 64 * KIB;
    start(NULL, &info);
    uint32_t started = 0;
    uint64_t value = 1;
    const uint32_t wanted = MAAR_PACK_TILE_REQUEST(0u, 0u, 0u, 0u);
    for (uint32_t i = 0; i < 40; ++i, ++value) {
        const uint32_t count = update_some(1, &wanted, MOST);
        assert_true(count <= 2);
        assert_int_equal(tile_cache(rig, cache).usedSlotCount, count);
        assert_int_equal(update_some(1, &wanted, MOST), 0);
        record(count, value);
        advance(value);
        started += count;
    }
    assert_true(started > 4);
    assert_true(tile_cache(rig, cache).delayedCount > 0);
    assert_int_equal(level_at(0, 0), 0);
    stop();
}

/* The device refuses memory that the budget allows: that is no failure, others make room, and it is
 * asked again later. */
static void shortage_of_device_memory_is_lived_with(void** state)
{
    (void)state;
    start(NULL, NULL);
    fill_pinned();
    const uint32_t first = MAAR_PACK_TILE_REQUEST(1u, 0u, 0u, 0u);
    uint32_t count = update_some(1, &first, MOST);
    record(count, 2);
    advance(2);
    uint32_t every[16];
    for (uint32_t i = 0; i < 16; ++i) {
        every[i] = MAAR_PACK_TILE_REQUEST(1u, 0u, i % 4, i / 4);
    }
    /* All free pages of the page block go to another image, so that a new block is needed. */
    MaarSparseImage other =
        tile_create_image(rig, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){8192, 8192, 1}, 1);
    rig_set_fault(rig, "vkAllocateMemory", 1, 100000, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    VkResult result = VK_SUCCESS;
    for (int32_t i = 0; i < 4096 && result == VK_SUCCESS; ++i) {
        const MaarTileRegion one = {0, 0, {i % 64 * 128, i / 64 * 128, 0}, {128, 128, 1}};
        result = maarCommitTiles(rig->allocator, other, 1, &one);
    }
    assert_int_equal(result, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    const MaarTileCacheInfo before = tile_cache(rig, cache);
    count = update_some(16, every, MOST);
    const MaarTileCacheInfo after = tile_cache(rig, cache);
    assert_int_equal(after.shortageCount, 1);
    assert_int_equal(after.committedSize, before.committedSize);
    assert_true(after.crowdedCount > before.crowdedCount);
    record(count, 3);
    advance(3);
    rig_clear_faults(rig);
    rig_forget_messages(rig);
    count = 0;
    for (uint32_t i = 0; i < 70 && count == 0; ++i) {
        count = update_some(16, every, MOST);
    }
    assert_true(count > 0);
    maarDestroySparseImage(rig->allocator, other);
    stop();
}

static uint32_t asked;

static VkBool32 VKAPI_PTR count_asked(void* user, const MaarOutOfMemoryInfo* info)
{
    (void)user;
    (void)info;
    ++asked;
    return VK_FALSE;
}

static VkDeviceSize free_page_bytes(void)
{
    MaarPagingStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    assert_int_equal(maarGetPagingStatistics(rig->allocator, &statistics), VK_SUCCESS);
    return statistics.freeBytes;
}

/* Within a frame a cache neither exceeds what the heaps may take nor has other things evicted; a
 * commitment by hand does both. */
static void update_stays_within_the_budget_of_heaps(void** state)
{
    (void)state;
    static const struct tile_device watched = {.observer = count_asked};
    start(&watched, NULL);
    fill_pinned();
    MaarSparseImage other =
        tile_create_image(rig, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){8192, 8192, 1}, 1);
    MaarTileRegion one = {0, 0, {0, 0, 0}, {128, 128, 1}};
    while (free_page_bytes() > 0) {
        assert_int_equal(maarCommitTiles(rig->allocator, other, 1, &one), VK_SUCCESS);
        one.offset.x += 128;
        if (one.offset.x == 8192) {
            one.offset = (VkOffset3D){0, one.offset.y + 128, 0};
        }
    }
    for (uint32_t heap = 0; heap < rig_profile_discrete()->heapCount; ++heap) {
        assert_int_equal(maarSimulatedSetHeapBudget(rig->physical, heap, 1, 0), VK_SUCCESS);
    }
    asked = 0;
    const uint32_t wanted = MAAR_PACK_TILE_REQUEST(1u, 0u, 0u, 0u);
    assert_int_equal(update_some(1, &wanted, MOST), 0);
    assert_int_equal(tile_cache(rig, cache).shortageCount, 1);
    assert_int_equal(asked, 0);
    assert_int_equal(free_page_bytes(), 0);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).overBudgetCount, 0);
    assert_int_equal(maarCommitTiles(rig->allocator, other, 1, &one), VK_SUCCESS);
    assert_true(asked > 0 || rig_statistics(rig, VK_NULL_HANDLE).overBudgetCount > 0);
    rig_forget_messages(rig);
    maarDestroySparseImage(rig->allocator, other);
    stop();
}

static void cancelled_upload_is_started_again(void** state)
{
    (void)state;
    start(NULL, NULL);
    fill_pinned();
    const uint32_t wanted = MAAR_PACK_TILE_REQUEST(2u, 0u, 1u, 1u);
    uint32_t count = update_some(1, &wanted, MOST);
    const MaarTileUpload kept = uploads[count - 1];
    assert_int_equal(maarCancelTileUploads(rig->allocator, cache, count, uploads), VK_SUCCESS);
    assert_int_equal(maarCancelTileUploads(rig->allocator, cache, 1, &kept),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_UPLOAD);
    assert_int_equal(update_some(1, &wanted, MOST), count);
    assert_true(uploads[count - 1].id != kept.id);
    assert_int_equal(maarRecordTileUploads(rig->allocator, cache, commands, 1, &kept),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_UPLOAD);
    const MaarTileUpload twice[2] = {uploads[0], uploads[0]};
    assert_int_equal(maarRecordTileUploads(rig->allocator, cache, commands, 2, twice),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_UPLOAD, "pUploads[1]");
    /* A command buffer that is thrown away. */
    assert_int_equal(maarRecordTileUploads(rig->allocator, cache, commands, count, uploads),
                     VK_SUCCESS);
    assert_int_equal(maarEndTileUploads(rig->allocator, cache, NULL), VK_SUCCESS);
    record(count, 2);
    advance(2);
    assert_int_equal(update_some(1, &wanted, MOST), 0);
    assert_int_equal(tile_cache(rig, cache).lastHitCount, 1);
    stop();
}

/* Each upload has a point of its own, and the later ones pass first. */
static void uploads_end_in_any_order(void** state)
{
    enum { MANY = 4 };
    VkSemaphore timelines[MANY];
    (void)state;
    start(NULL, NULL);
    fill_pinned();
    const uint64_t filled = tile_cache(rig, cache).completedCount;
    const uint32_t wanted[MANY] = {
        MAAR_PACK_TILE_REQUEST(2u, 0u, 0u, 0u), MAAR_PACK_TILE_REQUEST(2u, 0u, 1u, 0u),
        MAAR_PACK_TILE_REQUEST(2u, 0u, 0u, 1u), MAAR_PACK_TILE_REQUEST(2u, 0u, 1u, 1u)};
    const uint32_t count = update_some(MANY, wanted, MOST);
    assert_true(count >= MANY);
    for (uint32_t i = 0; i < MANY; ++i) {
        timelines[i] = rig_create_timeline(rig, 0);
        const MaarPoint point = {timelines[i], 1};
        const uint32_t last = i + 1 == MANY ? count - i : 1;
        assert_int_equal(maarRecordTileUploads(rig->allocator, cache, commands, last, &uploads[i]),
                         VK_SUCCESS);
        assert_int_equal(maarEndTileUploads(rig->allocator, cache, &point), VK_SUCCESS);
    }
    for (uint32_t i = MANY; i-- > 0;) {
        rig_signal(rig, timelines[i], 1);
        assert_int_equal(update_some(0, NULL, MOST), 0);
        assert_int_equal(tile_cache(rig, cache).usedSlotCount, i);
        assert_int_equal(tile_cache(rig, cache).completedCount, filled + count - i);
        assert_int_equal(maarCheckAllocator(rig->allocator, NULL), VK_SUCCESS);
    }
    for (uint32_t i = 0; i < MANY; ++i) {
        vkDestroySemaphore(rig->device, timelines[i], NULL);
    }
    stop();
}

/* A lost device is reported, and nothing has changed. */
static void failing_timeline_changes_nothing(void** state)
{
    (void)state;
    start(NULL, NULL);
    VkSemaphore timeline = rig_create_timeline(rig, 0);
    const MaarPoint point = {timeline, 1};
    const uint32_t count = update_some(0, NULL, MOST);
    assert_int_equal(maarRecordTileUploads(rig->allocator, cache, commands, count, uploads),
                     VK_SUCCESS);
    assert_int_equal(maarEndTileUploads(rig->allocator, cache, &point), VK_SUCCESS);
    const MaarTileCacheInfo before = tile_cache(rig, cache);
    const MaarTileCacheUpdate update = {.sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE};
    uint32_t room = MOST;
    static const VkResult codes[] = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY};
    for (uint32_t i = 0; i < 2; ++i) {
        room = MOST;
        rig_set_fault(rig, "vkGetSemaphoreCounterValue", 1, 1, codes[i]);
        assert_int_equal(maarUpdateTileCache(rig->allocator, cache, &update, &room, uploads),
                         codes[i]);
        assert_int_equal(room, 0);
        rig_clear_faults(rig);
    }
    const MaarTileCacheInfo after = tile_cache(rig, cache);
    assert_memory_equal(&before, &after, sizeof before);
    rig_signal(rig, timeline, 1);
    assert_int_equal(update_some(0, NULL, MOST), 0);
    assert_int_equal(tile_cache(rig, cache).completedCount, count);
    vkDestroySemaphore(rig->device, timeline, NULL);
    stop();
}

static void failing_creation_leaves_nothing_behind(void** state)
{
    (void)state;
    uint64_t failures = 0;
    for (uint64_t nth = 1, end = 2; nth < end; ++nth) {
        const struct tile_device device = {.tail = MAAR_SIMULATED_MIP_TAIL_PER_LAYER};
        const struct rig_setup setup = {.count_host = true};
        rig = rig_new();
        tile_device_start(rig, &device, &setup, MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT);
        image = tile_create_image(rig, VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){1024, 1024, 1}, 2);
        const VkDeviceSize before = tile_image(rig, image).committedSize;
        const MaarTileCacheCreateInfo info = cache_info(64 * MIB);
        const uint64_t at = atomic_load(&rig->host.calls) + nth;
        cache = VK_NULL_HANDLE;
        atomic_store(&rig->host.fail_at, at);
        const VkResult result = maarCreateTileCache(rig->allocator, &info, &cache);
        atomic_store(&rig->host.fail_at, 0);
        end = atomic_load(&rig->host.calls) >= at ? nth + 2 : nth;
        failures += result != VK_SUCCESS ? 1 : 0;
        assert_true(result == VK_SUCCESS || cache == VK_NULL_HANDLE);
        if (result != VK_SUCCESS) {
            assert_int_equal(tile_image(rig, image).committedSize, before);
        }
        rig_check(rig);
        maarDestroyTileCache(rig->allocator, cache);
        maarDestroySparseImage(rig->allocator, image);
        rig_close(rig);
        assert_true(nth < 1000);
    }
    print_message("%llu times a host allocation failed\n", (unsigned long long)failures);
    assert_true(failures > 10);
}

/* Host memory that fails while tiles come and go: fewer uploads, never a torn cache. */
static void failing_updates_keep_the_cache_whole(void** state)
{
    (void)state;
    struct rig_random random = {.state = rig_seed(21)};
    start(NULL, NULL);
    for (uint64_t value = 1; value < 300; ++value) {
        uint32_t requests[8];
        for (uint32_t i = 0; i < 8; ++i) {
            const uint32_t level = rig_below(&random, 4);
            requests[i] = MAAR_PACK_TILE_REQUEST(level, 0u, rig_below(&random, 8u >> level),
                                                 rig_below(&random, 8u >> level));
        }
        const MaarTileCacheUpdate update = {
            .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE,
            .requestCount = 8,
            .pRequests = requests,
        };
        uint32_t count = MOST;
        atomic_store(&rig->host.fail_at, atomic_load(&rig->host.calls) + 1 + rig_below(&random, 4));
        assert_int_equal(maarUpdateTileCache(rig->allocator, cache, &update, &count, uploads),
                         VK_SUCCESS);
        (void)maarSubmitBinds(rig->allocator, 0, NULL, NULL);
        atomic_store(&rig->host.fail_at, 0);
        assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_SUCCESS);
        record(count, value);
        advance(value);
        rig_check(rig);
    }
    assert_true(tile_cache(rig, cache).shortageCount > 0);
    rig_forget_messages(rig);
    stop();
}

static void lost_device_is_reported_by_an_update(void** state)
{
    (void)state;
    start(NULL, NULL);
    VkSemaphore timeline = rig_create_timeline(rig, 0);
    const MaarPoint point = {timeline, 1};
    const uint32_t count = update_some(0, NULL, MOST);
    assert_int_equal(maarRecordTileUploads(rig->allocator, cache, commands, count, uploads),
                     VK_SUCCESS);
    assert_int_equal(maarEndTileUploads(rig->allocator, cache, &point), VK_SUCCESS);
    const MaarTileCacheUpdate update = {.sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE};
    uint32_t room = MOST;
    rig_set_fault(rig, "vkGetSemaphoreCounterValue", 1, 1, VK_ERROR_DEVICE_LOST);
    assert_int_equal(maarUpdateTileCache(rig->allocator, cache, &update, &room, uploads),
                     VK_ERROR_DEVICE_LOST);
    assert_int_equal(room, 0);
    maarDestroyTileCache(rig->allocator, cache);
    maarDestroySparseImage(rig->allocator, image);
    vkDestroyCommandPool(rig->device, pool, NULL);
    vkDestroySemaphore(rig->device, timeline, NULL);
    rig_close(rig);
}

static void failing_flush_records_nothing(void** state)
{
    static const VkResult codes[] = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY};
    static const struct tile_device device = {.noncoherent = true};
    (void)state;
    start(&device, NULL);
    const uint32_t count = update_some(0, NULL, MOST);
    const uint64_t copies = rig_calls(rig, "vkCmdCopyBufferToImage");
    for (uint32_t i = 0; i < 2; ++i) {
        rig_set_fault(rig, "vkFlushMappedMemoryRanges", 1, 1, codes[i]);
        assert_int_equal(maarRecordTileUploads(rig->allocator, cache, commands, count, uploads),
                         codes[i]);
        rig_clear_faults(rig);
    }
    assert_true(rig_calls(rig, "vkCmdCopyBufferToImage") == copies);
    record(count, 1);
    stop();
}

static void uploads_end_on_few_timelines(void** state)
{
    VkSemaphore timelines[MAAR_MAX_POINTS + 1];
    (void)state;
    start(NULL, NULL);
    for (uint32_t i = 0; i <= MAAR_MAX_POINTS; ++i) {
        const MaarPoint point = {timelines[i] = rig_create_timeline(rig, 0), 1};
        const uint32_t wanted = MAAR_PACK_TILE_REQUEST(0u, 0u, i % 8, i / 8);
        assert_true(update_some(1, &wanted, 1) == 1);
        assert_int_equal(maarRecordTileUploads(rig->allocator, cache, commands, 1, uploads),
                         VK_SUCCESS);
        assert_int_equal(maarEndTileUploads(rig->allocator, cache, &point),
                         i < MAAR_MAX_POINTS ? VK_SUCCESS : VK_ERROR_TOO_MANY_OBJECTS);
    }
    rig_expect_message(rig, MAAR_MESSAGE_ID_TOO_MANY_TIMELINES);
    assert_int_equal(maarEndTileUploads(rig->allocator, cache, NULL), VK_SUCCESS);
    for (uint32_t i = 0; i <= MAAR_MAX_POINTS; ++i) {
        rig_signal(rig, timelines[i], 1);
    }
    assert_int_equal(update_some(0, NULL, 0), 0);
    for (uint32_t i = 0; i <= MAAR_MAX_POINTS; ++i) {
        vkDestroySemaphore(rig->device, timelines[i], NULL);
    }
    stop();
}

/* Uploads are under way on a timeline that does not move. */
static void nothing_waits_for_the_device(void** state)
{
    (void)state;
    start(NULL, NULL);
    VkSemaphore timeline = rig_create_timeline(rig, 0);
    const MaarPoint point = {timeline, 1};
    uint32_t count = update_some(0, NULL, MOST);
    assert_int_equal(maarRecordTileUploads(rig->allocator, cache, commands, count, uploads),
                     VK_SUCCESS);
    assert_int_equal(maarEndTileUploads(rig->allocator, cache, &point), VK_SUCCESS);
    const uint64_t waits = rig_calls(rig, "vkWaitSemaphores") + rig_calls(rig, "vkQueueWaitIdle");
    const MaarTileCacheUpdate update = {.sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE};
    count = MOST;
    assert_int_equal(maarUpdateTileCache(rig->allocator, cache, &update, &count, uploads),
                     VK_SUCCESS);
    maarDestroyTileCache(rig->allocator, cache);
    cache = VK_NULL_HANDLE;
    assert_true(rig_calls(rig, "vkWaitSemaphores") + rig_calls(rig, "vkQueueWaitIdle") == waits);
    assert_true(rig_statistics(rig, VK_NULL_HANDLE).pendingCount > 0); /* its staging memory */
    rig_signal(rig, timeline, 1);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 0);
    vkDestroySemaphore(rig->device, timeline, NULL);
    stop();
}

static void levels_in_too_little_room_are_incomplete(void** state)
{
    uint8_t levels[3] = {99, 99, 99};
    uint32_t count = 2;
    (void)state;
    start(NULL, NULL);
    assert_int_equal(maarGetTileCacheLevels(rig->allocator, cache, 0, &count, levels),
                     VK_INCOMPLETE);
    assert_int_equal(count, 2);
    assert_int_equal(levels[2], 99);
    stop();
}

static void misuse_is_reported(void** state)
{
    (void)state;
    start(NULL, NULL);
    MaarTileCache another = VK_NULL_HANDLE;
    MaarTileCacheCreateInfo info = cache_info(MIB);
    assert_int_equal(maarCreateTileCache(rig->allocator, &info, &another),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_TILE_CACHE_OWNS_IMAGE);
    const MaarTileRegion region = {0, 0, {0, 0, 0}, {1, 1, 1}};
    assert_int_equal(maarCommitTiles(rig->allocator, image, 1, &region),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_TILE_CACHE_OWNS_IMAGE);
    maarDestroySparseImage(rig->allocator, image);
    rig_expect_message(rig, MAAR_MESSAGE_ID_TILE_CACHE_OWNS_IMAGE);
    uint32_t count = 1;
    MaarTileCacheUpdate update = {.sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE,
                                  .requestCount = 1};
    assert_int_equal(maarUpdateTileCache(rig->allocator, cache, &update, &count, uploads),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pRequests");
    update.requestCount = 0;
    count = 1;
    assert_int_equal(maarUpdateTileCache(rig->allocator, cache, &update, &count, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pUploads");
    update.budget = 1;
    count = 1;
    assert_int_equal(maarUpdateTileCache(rig->allocator, cache, &update, &count, uploads),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    MaarTileCacheInfo tiles = {.sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_INFO};
    assert_int_equal(maarGetTileCacheInfo(rig->allocator, cache, &tiles), VK_SUCCESS);
    assert_int_equal(rig_message_number(rig, 0), 1);
    assert_int_equal(rig_message_number(rig, 1), tiles.pinnedSize);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_TILE_BUDGET_TOO_SMALL, "budget");
    stop();
}

/* A cache that a program forgot is named and taken down, whatever is under way. */
static void destroying_a_cache_twice_is_reported(void** state)
{
    (void)state;
    start(NULL, NULL);
    fill_pinned();
    maarDestroyTileCache(rig->allocator, cache);
    rig_expect_silence(rig);
    maarDestroyTileCache(rig->allocator, cache);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, "cache");
    cache = VK_NULL_HANDLE;
    stop();
}

static void forgotten_cache_is_reported(void** state)
{
    (void)state;
    start(NULL, NULL);
    const uint32_t count = update_some(0, NULL, MOST);
    record(count, 1);
    advance(1);
    rig_forget_messages(rig);
    vkDestroyCommandPool(rig->device, pool, NULL);
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    assert_true(rig->messages.total >= 2);
    rig_forget_messages(rig);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(tile_is_visible_when_its_point_has_passed),
        rig_unit_test(full_budget_passes_pages_on),
        rig_unit_test(page_that_was_passed_on_is_held_when_given_back),
        rig_unit_test(staging_that_is_used_up_delays),
        rig_unit_test(shortage_of_device_memory_is_lived_with),
        rig_unit_test(update_stays_within_the_budget_of_heaps),
        rig_unit_test(cancelled_upload_is_started_again),
        rig_unit_test(uploads_end_in_any_order),
        rig_unit_test(failing_timeline_changes_nothing),
        rig_unit_test(failing_creation_leaves_nothing_behind),
        rig_unit_test(failing_updates_keep_the_cache_whole),
        rig_unit_test(lost_device_is_reported_by_an_update),
        rig_unit_test(failing_flush_records_nothing),
        rig_unit_test(uploads_end_on_few_timelines),
        rig_unit_test(nothing_waits_for_the_device),
        rig_unit_test(levels_in_too_little_room_are_incomplete),
        rig_unit_test(misuse_is_reported),
        rig_unit_test(destroying_a_cache_twice_is_reported),
        rig_unit_test(forgotten_cache_is_reported),
    };
    return cmocka_run_group_tests_name("tile_cache_rules", tests, NULL, NULL);
}
