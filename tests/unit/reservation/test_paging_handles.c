/*
 * Handles of reservations, arrays, sparse images, tile caches and buffer caches: each call that
 * takes one refuses a null handle, a stale one, one of another kind, one of another allocator and a
 * forged one, and reports which. A stale handle stays refused when a new object has its slot.
 */
#include "core/handle.h"
#include "tests/tiles/simulated_tiles.h"
#include "tests/unit/reservation/reservation_fixture.h"

static struct rig* rig;

/* A call that takes a handle, with otherwise valid arguments. */
typedef VkResult (*handle_call)(MaarAllocator allocator, uint64_t handle);

#define CALL(name, type, expression)                                                               \
    static VkResult name(MaarAllocator allocator, uint64_t bits)                                   \
    {                                                                                              \
        const type handle = MAAR_FROM_BITS(type, bits);                                            \
        return expression;                                                                         \
    }
/* A call without a result. */
#define SILENT_CALL(name, type, expression)                                                        \
    CALL(name, type, ((void)(expression), VK_ERROR_VALIDATION_FAILED_EXT))

static const MaarPageRange page_range = {.size = 65536};
static const MaarTileRegion tile_region = {.extent = {1, 1, 1}};
static const MaarTileCacheUpdate no_update = {.sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_UPDATE};
static const MaarPoint no_point = {.value = 1};
static MaarNewPages new_pages = {.sType = MAAR_STRUCTURE_TYPE_NEW_PAGES};
static MaarReservation source; /* a live reservation */
static uint32_t count;
static uint64_t first;
#define INFO(type, value) (&(type){.sType = MAAR_STRUCTURE_TYPE_##value##_INFO})

SILENT_CALL(destroy_reservation, MaarReservation, maarDestroyReservation(allocator, handle))
CALL(destroy_reservation_after, MaarReservation,
     maarDestroyReservationAfter(allocator, handle, 0, NULL))
CALL(read_reservation, MaarReservation,
     maarGetReservationInfo(allocator, handle, INFO(MaarReservationInfo, RESERVATION)))
CALL(commit_pages, MaarReservation, maarCommitPages(allocator, handle, 1, &page_range))
CALL(commit_new_pages, MaarReservation,
     maarCommitNewPages(allocator, handle, 1, &page_range, &new_pages))
CALL(record_zeros, MaarReservation,
     maarRecordZeroPages(allocator, handle, 1, &page_range, (VkCommandBuffer)(void*)&first))
CALL(list_host_pages, MaarReservation,
     maarGetHostPages(allocator, handle, &page_range, &count, NULL))
CALL(flush_pages, MaarReservation, maarFlushPages(allocator, handle, 1, &page_range))
CALL(invalidate_pages, MaarReservation, maarInvalidatePages(allocator, handle, 1, &page_range))
CALL(decommit_pages, MaarReservation, maarDecommitPages(allocator, handle, 1, &page_range))
CALL(alias_pages, MaarReservation, maarAliasPages(allocator, handle, 0, 0, handle, 0))
CALL(enumerate_pages, MaarReservation,
     maarEnumerateReservationPages(allocator, handle, &count, NULL))

CALL(enumerate_touched, MaarReservation, maarEnumerateTouchedRuns(allocator, handle, &count, NULL))

CALL(set_priority, MaarReservation,
     maarSetPagePriority(allocator, handle, 1, &page_range,
                         &(MaarPagePriority){.sType = MAAR_STRUCTURE_TYPE_PAGE_PRIORITY}))

static VkResult touch_pages(MaarAllocator allocator, uint64_t handle)
{
    const MaarReservationRange range = {MAAR_FROM_BITS(MaarReservation, handle), 0, 65536};
    const MaarTouchInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TOUCH_INFO, .rangeCount = 1, .pRanges = &range};
    return maarTouchPages(allocator, &info, NULL);
}

static VkResult trim_pages(MaarAllocator allocator, uint64_t handle)
{
    const MaarReservation reservation = MAAR_FROM_BITS(MaarReservation, handle);
    const MaarPageTrimInfo info = {.sType = MAAR_STRUCTURE_TYPE_PAGE_TRIM_INFO,
                                   .reservationCount = 1,
                                   .pReservations = &reservation};
    return maarTrimPages(allocator, &info, NULL);
}

static VkResult migrate_pages(MaarAllocator allocator, uint64_t handle)
{
    const MaarReservation reservation = MAAR_FROM_BITS(MaarReservation, handle);
    const MaarPageMigrationInfo info = {.sType = MAAR_STRUCTURE_TYPE_PAGE_MIGRATION_INFO,
                                        .reservationCount = 1,
                                        .pReservations = &reservation};
    MaarMoveBatch batch = VK_NULL_HANDLE;
    return maarBeginPageMigration(allocator, &info, &batch);
}

static VkResult resize_arrays(MaarAllocator allocator, uint64_t handle)
{
    const MaarArrayResize resize = {MAAR_FROM_BITS(MaarArray, handle), 1, VK_FALSE};
    return maarResizeArrays(allocator, 1, &resize, NULL);
}

SILENT_CALL(destroy_array, MaarArray, maarDestroyArray(allocator, handle))
CALL(destroy_array_after, MaarArray, maarDestroyArrayAfter(allocator, handle, 0, NULL))
CALL(read_array, MaarArray, maarGetArrayInfo(allocator, handle, INFO(MaarArrayInfo, ARRAY)))
CALL(reserve_array, MaarArray, maarReserveArray(allocator, handle, 1))
CALL(append_array, MaarArray, maarAppendArray(allocator, handle, 1, &first))
CALL(truncate_array, MaarArray, maarTruncateArray(allocator, handle, 0, VK_TRUE))

SILENT_CALL(destroy_image, MaarSparseImage, maarDestroySparseImage(allocator, handle))
CALL(destroy_image_after, MaarSparseImage, maarDestroySparseImageAfter(allocator, handle, 0, NULL))
CALL(read_image, MaarSparseImage,
     maarGetSparseImageInfo(allocator, handle, INFO(MaarSparseImageInfo, SPARSE_IMAGE)))
CALL(commit_tiles, MaarSparseImage, maarCommitTiles(allocator, handle, 1, &tile_region))
CALL(evict_tiles, MaarSparseImage, maarEvictTiles(allocator, handle, 1, &tile_region))
CALL(commit_tail, MaarSparseImage, maarCommitMipTail(allocator, handle, 0, 1))
CALL(evict_tail, MaarSparseImage, maarEvictMipTail(allocator, handle, 0, 1))
CALL(read_residency, MaarSparseImage, maarGetTileResidency(allocator, handle, 0, 0, &count, NULL))
CALL(read_image_levels, MaarSparseImage,
     maarGetMinResidentLevels(allocator, handle, 0, &count, NULL))

SILENT_CALL(destroy_cache, MaarTileCache, maarDestroyTileCache(allocator, handle))
CALL(update_cache, MaarTileCache,
     maarUpdateTileCache(allocator, handle, &no_update, (count = 0, &count), NULL))
CALL(record_uploads, MaarTileCache,
     maarRecordTileUploads(allocator, handle, (VkCommandBuffer)(void*)&first, 0, NULL))
CALL(end_uploads, MaarTileCache, maarEndTileUploads(allocator, handle, NULL))
CALL(cancel_uploads, MaarTileCache, maarCancelTileUploads(allocator, handle, 0, NULL))
CALL(read_cache_levels, MaarTileCache, maarGetTileCacheLevels(allocator, handle, 0, &count, NULL))
CALL(read_cache, MaarTileCache,
     maarGetTileCacheInfo(allocator, handle, INFO(MaarTileCacheInfo, TILE_CACHE)))

static MaarBufferUseInfo no_answer = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_USE_INFO};
static const uint32_t first_item;
static const MaarBufferUseBeginInfo one_item = {
    .sType = MAAR_STRUCTURE_TYPE_BUFFER_USE_BEGIN_INFO, .itemCount = 1, .pItems = &first_item};
static const MaarBufferPrefetch no_prefetch = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_PREFETCH};

SILENT_CALL(destroy_buffers, MaarBufferCache, maarDestroyBufferCache(allocator, handle))
CALL(read_buffers, MaarBufferCache,
     maarGetBufferCacheInfo(allocator, handle, INFO(MaarBufferCacheInfo, BUFFER_CACHE)))
CALL(set_buffers_budget, MaarBufferCache, maarSetBufferCacheBudget(allocator, handle, 1 << 20))
CALL(add_items, MaarBufferCache, maarAddBufferItems(allocator, handle, 0, NULL, NULL))
CALL(remove_items, MaarBufferCache, maarRemoveBufferItems(allocator, handle, 0, NULL))
CALL(read_item, MaarBufferCache,
     maarGetBufferItemInfo(allocator, handle, 0, INFO(MaarBufferItemInfo, BUFFER_ITEM)))
CALL(lock_items, MaarBufferCache, maarLockBufferItems(allocator, handle, 0, NULL))
CALL(unlock_items, MaarBufferCache, maarUnlockBufferItems(allocator, handle, 0, NULL))
CALL(begin_item_use, MaarBufferCache,
     maarBeginBufferUse(allocator, handle, &one_item, &no_answer, &first))
CALL(end_item_use, MaarBufferCache, maarEndBufferUse(allocator, handle, first, 1, &no_point))
SILENT_CALL(cancel_item_use, MaarBufferCache, maarCancelBufferUse(allocator, handle, 1))
CALL(prefetch_items, MaarBufferCache,
     maarPrefetchBufferItems(allocator, handle, &no_prefetch, &no_answer))
CALL(take_item_uploads, MaarBufferCache,
     maarTakeBufferUploads(allocator, handle, (count = 0, &count), NULL))
CALL(submit_item_uploads, MaarBufferCache,
     maarSubmitBufferUploads(allocator, handle, 0, NULL, NULL))
CALL(cancel_item_uploads, MaarBufferCache, maarCancelBufferUploads(allocator, handle, 0, NULL))

static VkResult alias_source(MaarAllocator allocator, uint64_t handle)
{
    return maarAliasPages(allocator, source, 0, 0, MAAR_FROM_BITS(MaarReservation, handle), 0);
}

static VkResult create_cache(MaarAllocator allocator, uint64_t handle)
{
    const MaarTileCacheCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_CREATE_INFO,
        .image = MAAR_FROM_BITS(MaarSparseImage, handle),
        .budget = (VkDeviceSize)64 << 20,
    };
    MaarTileCache cache = VK_NULL_HANDLE;
    return maarCreateTileCache(allocator, &info, &cache);
}

static VkResult create_buffers(MaarAllocator allocator, uint64_t handle)
{
    const MaarBufferCacheCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_BUFFER_CACHE_CREATE_INFO,
        .reservation = MAAR_FROM_BITS(MaarReservation, handle),
        .budget = (VkDeviceSize)1 << 20,
    };
    MaarBufferCache cache = VK_NULL_HANDLE;
    return maarCreateBufferCache(allocator, &info, &cache);
}

enum { KINDS = 5, MOST_CALLS = 19 };

/* The calls of a kind, and the names of their arguments. The first ends the object and accepts a
 * null handle; the second does so too if it is marked. */
static const struct handle_kind {
    bool two_ends;
    const char* argument;
    handle_call calls[MOST_CALLS];
} kinds[KINDS] = {
    {true,
     "reservation",
     {destroy_reservation, destroy_reservation_after, read_reservation, commit_pages,
      commit_new_pages, record_zeros, list_host_pages, flush_pages, invalidate_pages,
      decommit_pages, alias_pages, enumerate_pages, enumerate_touched, set_priority, touch_pages,
      trim_pages, migrate_pages, create_buffers}},
    {true,
     "array",
     {destroy_array, destroy_array_after, read_array, reserve_array, append_array, truncate_array,
      resize_arrays}},
    {true,
     "image",
     {destroy_image, destroy_image_after, read_image, commit_tiles, evict_tiles, commit_tail,
      evict_tail, read_residency, read_image_levels, create_cache}},
    {false,
     "cache",
     {destroy_cache, update_cache, record_uploads, end_uploads, cancel_uploads, read_cache_levels,
      read_cache}},
    {false,
     "cache",
     {destroy_buffers, read_buffers, set_buffers_budget, add_items, remove_items, read_item,
      lock_items, unlock_items, begin_item_use, end_item_use, cancel_item_use, prefetch_items,
      take_item_uploads, submit_item_uploads, cancel_item_uploads}},
};

/* Every call on a kind refuses the handle under this identifier. */
static void expect_refusals(const struct handle_kind* kind, uint64_t handle, MaarMessageId id)
{
    for (uint32_t i = 0; i < MOST_CALLS && kind->calls[i] != NULL; ++i) {
        const VkResult result = kind->calls[i](rig->allocator, handle);
        if (handle == 0 && (i == 0 || (i == 1 && kind->two_ends))) {
            rig_expect_silence(rig); /* destroying nothing is allowed */
            continue;
        }
        assert_int_equal(result, VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(rig, id, kind->argument);
    }
}

/* Makes one object of each kind; the caches have the image and the reservation. */
static void make_all(MaarAllocator allocator, uint64_t* handles)
{
    MaarReservation reservation = VK_NULL_HANDLE;
    MaarArray array = VK_NULL_HANDLE;
    MaarSparseImage image = VK_NULL_HANDLE;
    MaarTileCache cache = VK_NULL_HANDLE;
    const VkBufferCreateInfo buffer = fixture_buffer(1 << 20);
    const VkImageCreateInfo image_info =
        tile_image_info(VK_FORMAT_R8G8B8A8_UNORM, (VkExtent3D){512, 512, 1}, 1);
    const MaarReservationCreateInfo reserve = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                               .pBufferInfo = &buffer};
    const MaarArrayCreateInfo array_info = {
        .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO, .elementSize = 4, .reservation = reserve};
    const MaarSparseImageCreateInfo sparse = {.sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_CREATE_INFO,
                                              .pImageInfo = &image_info};
    assert_int_equal(maarCreateReservation(allocator, &reserve, &reservation), VK_SUCCESS);
    assert_int_equal(maarCreateArray(allocator, &array_info, &array), VK_SUCCESS);
    assert_int_equal(maarCreateSparseImage(allocator, &sparse, &image), VK_SUCCESS);
    const MaarTileCacheCreateInfo cache_info = {.sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_CREATE_INFO,
                                                .image = image,
                                                .budget = (VkDeviceSize)64 << 20};
    assert_int_equal(maarCreateTileCache(allocator, &cache_info, &cache), VK_SUCCESS);
    handles[0] = MAAR_TO_BITS(reservation);
    handles[1] = MAAR_TO_BITS(array);
    handles[2] = MAAR_TO_BITS(image);
    handles[3] = MAAR_TO_BITS(cache);
    const MaarBufferCacheCreateInfo buffers_info = {
        .sType = MAAR_STRUCTURE_TYPE_BUFFER_CACHE_CREATE_INFO,
        .reservation = reservation,
        .budget = (VkDeviceSize)1 << 20,
    };
    MaarBufferCache buffers = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBufferCache(allocator, &buffers_info, &buffers), VK_SUCCESS);
    handles[4] = MAAR_TO_BITS(buffers);
}

static void end_all(MaarAllocator allocator, const uint64_t* handles)
{
    for (uint32_t i = KINDS; i-- > 0;) {
        (void)kinds[i].calls[0](allocator, handles[i]);
    }
    rig_forget_messages(rig); /* pages that were never submitted */
}

static void start(void)
{
    const struct tile_device device = {.page_size = 65536};
    rig = rig_new();
    tile_device_start(rig, &device, NULL, 0);
    source = fixture_reserve(rig, 65536, 0);
}

static void stop(void)
{
    maarDestroyReservation(rig->allocator, source);
    rig_forget_messages(rig);
    rig_check(rig);
    rig_close(rig);
}

static void null_and_forged_handles_are_refused(void** state)
{
    (void)state;
    start();
    uint64_t own[KINDS];
    make_all(rig->allocator, own);
    for (uint32_t i = 0; i < KINDS; ++i) {
        expect_refusals(&kinds[i], 0, MAAR_MESSAGE_ID_NULL_HANDLE);
        expect_refusals(&kinds[i], UINT64_MAX, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
        expect_refusals(&kinds[i], (uint64_t)(uintptr_t)rig, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
        expect_refusals(&kinds[i], own[i] + ((uint64_t)2 << 32), MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    }
    assert_int_equal(alias_source(rig->allocator, UINT64_MAX), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FOREIGN_HANDLE, "source");
    end_all(rig->allocator, own);
    stop();
}

static void handles_of_other_kinds_are_refused(void** state)
{
    (void)state;
    start();
    uint64_t own[KINDS];
    make_all(rig->allocator, own);
    const MaarPoolCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO};
    const MaarPool pool = rig_create_pool(rig, &info);
    for (uint32_t i = 0; i < KINDS; ++i) {
        for (uint32_t other = 0; other < KINDS; ++other) {
            if (other != i) {
                expect_refusals(&kinds[i], own[other], MAAR_MESSAGE_ID_FOREIGN_HANDLE);
            }
        }
        expect_refusals(&kinds[i], MAAR_TO_BITS(pool), MAAR_MESSAGE_ID_FOREIGN_HANDLE);
        maarDestroyPool(rig->allocator, MAAR_FROM_BITS(MaarPool, own[i]));
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FOREIGN_HANDLE, "pool");
    }
    maarDestroyPool(rig->allocator, pool);
    end_all(rig->allocator, own);
    stop();
}

static void handles_of_another_allocator_are_refused(void** state)
{
    (void)state;
    start();
    MaarAllocator other = VK_NULL_HANDLE;
    assert_int_equal(maarCreateAllocator(&rig->create_info, &other), VK_SUCCESS);
    uint64_t own[KINDS];
    uint64_t foreign[KINDS];
    make_all(rig->allocator, own);
    make_all(other, foreign);
    for (uint32_t i = 0; i < KINDS; ++i) {
        expect_refusals(&kinds[i], foreign[i], MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    }
    end_all(other, foreign);
    end_all(rig->allocator, own);
    maarDestroyAllocator(other);
    stop();
}

static void stale_handles_are_refused_when_their_slots_are_used_again(void** state)
{
    (void)state;
    start();
    uint64_t old[KINDS];
    uint64_t own[KINDS];
    make_all(rig->allocator, old);
    end_all(rig->allocator, old);
    for (uint32_t i = 0; i < KINDS; ++i) {
        expect_refusals(&kinds[i], old[i], MAAR_MESSAGE_ID_STALE_HANDLE);
    }
    uint32_t reused = 0;
    make_all(rig->allocator, own);
    for (uint32_t i = 0; i < KINDS; ++i) {
        for (uint32_t other = 0; other < KINDS; ++other) {
            reused += (uint32_t)own[i] == (uint32_t)old[other] ? 1 : 0;
            expect_refusals(&kinds[i], old[other], MAAR_MESSAGE_ID_STALE_HANDLE);
        }
    }
    assert_true(reused >= KINDS - 1); /* an array has two slots */
    assert_int_equal(alias_source(rig->allocator, old[0]), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, "source");
    assert_int_equal(create_cache(rig->allocator, old[2]), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, "pCreateInfo->image");
    end_all(rig->allocator, own);
    stop();
}

/* Destroys an image in the midst of the call of another thread, as it were. */
struct rival {
    MaarAllocator allocator;
    MaarSparseImage image; /* null: nothing to destroy */
};

static void* VKAPI_PTR allocate_and_destroy(void* user, size_t size, size_t alignment,
                                            VkSystemAllocationScope scope)
{
    (void)alignment;
    (void)scope;
    struct rival* rival = user;
    const MaarSparseImage image = rival->image;
    rival->image = VK_NULL_HANDLE;
    maarDestroySparseImage(rival->allocator, image);
    return malloc(size);
}

static void object_that_is_destroyed_meanwhile_ends_once(void** state)
{
    (void)state;
    start();
    struct rival rival = {.image = VK_NULL_HANDLE};
    const VkAllocationCallbacks callbacks = {
        .pUserData = &rival,
        .pfnAllocation = allocate_and_destroy,
        .pfnReallocation = rig_plain_reallocate,
        .pfnFree = rig_plain_free,
    };
    const MaarPoint point = {.value = 1};
    MaarPagingStatistics paging = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    uint64_t own[KINDS];
    rig->create_info.pAllocationCallbacks = &callbacks;
    assert_int_equal(maarCreateAllocator(&rig->create_info, &rival.allocator), VK_SUCCESS);
    make_all(rival.allocator, own);
    maarDestroyTileCache(rival.allocator, MAAR_FROM_BITS(MaarTileCache, own[3]));
    rig_forget_messages(rig);
    rival.image = MAAR_FROM_BITS(MaarSparseImage, own[2]);
    assert_int_equal(maarDestroySparseImageAfter(rival.allocator, rival.image, 1, &point),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FREED_CONCURRENTLY, "image");
    assert_int_equal(maarGetPagingStatistics(rival.allocator, &paging), VK_SUCCESS);
    assert_int_equal(paging.reservationCount, 2);
    end_all(rival.allocator, own);
    maarDestroyAllocator(rival.allocator);
    rig_expect_silence(rig); /* nothing leaks, nothing is pending */
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(null_and_forged_handles_are_refused),
        rig_unit_test(handles_of_other_kinds_are_refused),
        rig_unit_test(handles_of_another_allocator_are_refused),
        rig_unit_test(stale_handles_are_refused_when_their_slots_are_used_again),
        rig_unit_test(object_that_is_destroyed_meanwhile_ends_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
