/*
 * Shared by the tests of buffer caches: a device, a reservation of pages of 64 KiB, a cache of it
 * with items of two pages each, and short calls.
 */
#ifndef MAAR_TESTS_UNIT_BUFFER_CACHE_FIXTURE_H
#define MAAR_TESTS_UNIT_BUFFER_CACHE_FIXTURE_H

#include "tests/unit/reservation/reservation_fixture.h"

#define PAGE (64 * KIB)
#define ITEM (2 * PAGE)

enum { ITEMS = 16 };

static struct rig* rig;
static MaarReservation reservation;
static MaarBufferCache cache;
static VkSemaphore work;
static uint64_t work_value;
static uint32_t filled;      /* calls of fill_item */
static VkResult fill_result; /* of its next call */

static inline VkResult VKAPI_CALL fill_item(void* user, uint32_t item, void* item_user,
                                            VkDeviceSize offset, VkDeviceSize size, void* data)
{
    (void)user;
    (void)item;
    (void)item_user;
    (void)offset;
    memset(data, 1, (size_t)size);
    ++filled;
    const VkResult result = fill_result;
    fill_result = VK_SUCCESS;
    return result;
}

static inline MaarReservation cached_reservation(VkFlags flags, VkBufferUsageFlags usage)
{
    VkBufferCreateInfo buffer = rig_buffer_info(ITEMS * ITEM);
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .flags = flags,
        .pBufferInfo = &buffer,
    };
    MaarReservation made = VK_NULL_HANDLE;
    buffer.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | usage;
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &made), VK_SUCCESS);
    return made;
}

static inline MaarBufferCacheCreateInfo cache_info(VkDeviceSize budget, bool fills)
{
    return (MaarBufferCacheCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_BUFFER_CACHE_CREATE_INFO,
        .reservation = reservation,
        .budget = budget,
        .stagingSize = 8 * ITEM,
        .uploadSize = ITEM,
        .pfnFill = fills ? fill_item : NULL,
    };
}

/* Opens a device and a reservation. */
static inline void start_rig(const struct rig_setup* setup)
{
    const struct rig_setup usual = {.profile = rig_profile_sparse(), .paging = true};
    rig = rig_new();
    rig_open(rig, setup != NULL ? setup : &usual);
    rig->create_info.flags |= MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT;
    rig_make_allocator(rig);
    reservation = cached_reservation(0, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    work = rig_create_timeline(rig, 0);
    work_value = 0;
    filled = 0;
    fill_result = VK_SUCCESS;
}

/* Adds all items. */
static inline void add_items(void)
{
    MaarBufferItem items[ITEMS];
    uint32_t numbers[ITEMS];
    for (uint32_t i = 0; i < ITEMS; ++i) {
        items[i] = (MaarBufferItem){.offset = i * ITEM, .size = ITEM};
    }
    assert_int_equal(maarAddBufferItems(rig->allocator, cache, ITEMS, items, numbers), VK_SUCCESS);
    for (uint32_t i = 0; i < ITEMS; ++i) {
        assert_int_equal(numbers[i], i);
    }
}

/* Opens a cache with room for so many items. */
static inline void start_with(const MaarBufferCacheCreateInfo* info)
{
    assert_int_equal(maarCreateBufferCache(rig->allocator, info, &cache), VK_SUCCESS);
    add_items();
}

static inline void start(uint32_t room, bool fills)
{
    start_rig(NULL);
    const MaarBufferCacheCreateInfo info = cache_info(room * ITEM, fills);
    start_with(&info);
}

static inline void stop(void)
{
    maarDestroyBufferCache(rig->allocator, cache);
    maarDestroyReservation(rig->allocator, reservation);
    rig_forget_messages(rig); /* pages that were never submitted */
    vkDestroySemaphore(rig->device, work, NULL);
    rig_close(rig);
}

static inline MaarBufferCacheInfo info_of_cache(void)
{
    MaarBufferCacheInfo info = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_CACHE_INFO};
    assert_int_equal(maarGetBufferCacheInfo(rig->allocator, cache, &info), VK_SUCCESS);
    return info;
}

static inline MaarBufferItemInfo info_of_item(uint32_t item)
{
    MaarBufferItemInfo info = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_ITEM_INFO};
    assert_int_equal(maarGetBufferItemInfo(rig->allocator, cache, item, &info), VK_SUCCESS);
    return info;
}

static inline VkResult try_use(uint32_t first, uint32_t count, MaarBufferUseInfo* info,
                               uint64_t* use)
{
    uint32_t items[ITEMS];
    for (uint32_t i = 0; i < count; ++i) {
        items[i] = (first + i) % ITEMS;
    }
    const MaarBufferUseBeginInfo begin = {
        .sType = MAAR_STRUCTURE_TYPE_BUFFER_USE_BEGIN_INFO, .itemCount = count, .pItems = items};
    *info = (MaarBufferUseInfo){.sType = MAAR_STRUCTURE_TYPE_BUFFER_USE_INFO};
    return maarBeginBufferUse(rig->allocator, cache, &begin, info, use);
}

static inline uint64_t begin_use(uint32_t first, uint32_t count, MaarBufferUseInfo* info)
{
    uint64_t use = 0;
    assert_int_equal(try_use(first, count, info, &use), VK_SUCCESS);
    assert_true(use != 0);
    return use;
}

/* Ends a use by a point that has passed already, or will when the test signals it. */
static inline void end_use(uint64_t use, bool has_passed)
{
    const MaarPoint point = {work, ++work_value};
    if (has_passed) {
        rig_signal(rig, work, work_value);
    }
    assert_int_equal(maarEndBufferUse(rig->allocator, cache, use, 1, &point), VK_SUCCESS);
}

/* Uses items from begin to end. */
static inline MaarBufferUseInfo use_items(uint32_t first, uint32_t count)
{
    MaarBufferUseInfo info;
    end_use(begin_use(first, count, &info), true);
    return info;
}

static inline VkResult prefetch_items(uint32_t first, uint32_t count, uint64_t distance,
                                      VkDeviceSize most, MaarBufferUseInfo* info)
{
    uint32_t items[ITEMS];
    for (uint32_t i = 0; i < count; ++i) {
        items[i] = (first + i) % ITEMS;
    }
    const MaarBufferPrefetch prefetch = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_PREFETCH,
                                         .itemCount = count,
                                         .pItems = items,
                                         .distance = distance,
                                         .maxSize = most};
    *info = (MaarBufferUseInfo){.sType = MAAR_STRUCTURE_TYPE_BUFFER_USE_INFO};
    return maarPrefetchBufferItems(rig->allocator, cache, &prefetch, info);
}

#endif
